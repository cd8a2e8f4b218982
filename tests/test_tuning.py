"""Test that tuning values are replaced for the duration of a `with` block."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Thread

import pytest

from graphla.backends.tuning import current, using


@dataclass(frozen=True)
class Left:
    limit: int = 64


@dataclass(frozen=True)
class Right:
    limit: int = 8


DEFAULT = Left()


def test_the_default_tuning_applies_unless_another_tuning_replaces_the_default():
    assert current(DEFAULT) is DEFAULT
    with using(Left(2), Right(3)):
        assert current(DEFAULT) == Left(2) and current(Right()) == Right(3)
        with using(Left(5)):
            assert current(DEFAULT) == Left(5) and current(Right()) == Right(3)
        assert current(DEFAULT) == Left(2)
    assert current(DEFAULT) is DEFAULT


def test_an_error_inside_the_with_block_restores_the_default():
    with pytest.raises(KeyError), using(Left(2)):
        raise KeyError
    assert current(DEFAULT) is DEFAULT


def test_other_threads_see_the_value_that_replaces_the_default():
    seen = []
    with using(Left(2)):
        thread = Thread(target=lambda: seen.append(current(DEFAULT)))
        thread.start()
        thread.join()
    assert seen == [Left(2)]


def test_overlapping_with_blocks_restore_the_default_whatever_order_they_end_in():
    first, second = using(Left(2)), using(Left(3))
    first.__enter__()
    second.__enter__()
    assert current(DEFAULT) == Left(3)
    first.__exit__(None, None, None)
    assert current(DEFAULT) == Left(3)
    second.__exit__(None, None, None)
    assert current(DEFAULT) is DEFAULT


def test_a_with_block_that_ends_out_of_order_does_not_change_the_value_in_the_other_block():
    outer, inner = using(Left(2), Right(4)), using(Left(2))
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert current(DEFAULT) == Left(2) and current(Right()) == Right()
    inner.__exit__(None, None, None)
    assert current(DEFAULT) is DEFAULT
