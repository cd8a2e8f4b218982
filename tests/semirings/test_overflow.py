from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semirings import binary, where
from semirings.overflow import overflowing

EXACT = {
    "plus": lambda x, y: x + y,
    "minus": lambda x, y: x - y,
    "rminus": lambda x, y: y - x,
    "times": lambda x, y: x * y,
}
INTEGERS = ["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]


def values(dtype: str) -> st.SearchStrategy[int]:
    info = np.iinfo(dtype.lower())
    low, high = int(info.min), int(info.max)
    edges = st.integers(0, 3).flatmap(lambda k: st.sampled_from([low + k, high - k]))
    root = int(high**0.5)
    return st.one_of(
        st.integers(low, high),
        edges,
        st.integers(max(low, -3), 3),
        st.integers(max(low, -root - 2), root + 2),
    )


@given(st.sampled_from(sorted(EXACT)), st.sampled_from(INTEGERS), st.data())
def test_the_overflow_predicate_is_exact(name, dtype, data):
    x, y = data.draw(values(dtype)), data.draw(values(dtype))
    predicate = overflowing(getattr(binary, name)[dtype])
    assert predicate is not None
    info = np.iinfo(dtype.lower())
    exact = EXACT[name](x, y)
    assert bool(predicate(x, y)) == (not int(info.min) <= exact <= int(info.max))


@given(values("INT64"), values("INT64"))
def test_only_the_argument_that_the_function_named_where_selects_can_overflow(x, y):
    most = int(np.iinfo(np.int64).max)
    capped = binary.register_anonymous(lambda x, y: where(x > most - y, most, x + y), "capped")
    predicate = overflowing(capped["INT64"])
    assert predicate is not None
    if y >= 0:
        assert not predicate(x, y) or x + y < -(2**63)


@pytest.mark.parametrize("name", ["min", "max", "first", "second", "pair", "band", "bor"])
def test_operators_that_return_an_operand_never_overflow(name):
    assert overflowing(getattr(binary, name)["INT32"]) is None


@pytest.mark.parametrize("name", ["plus", "times", "minus"])
@pytest.mark.parametrize("dtype", ["FP32", "FP64", "BOOL"])
def test_operators_on_floats_and_booleans_never_overflow(name, dtype):
    assert dtype not in getattr(binary, name) or overflowing(getattr(binary, name)[dtype]) is None


def test_a_user_defined_operator_has_an_overflow_predicate():
    op = binary.register_anonymous(lambda x, y: 2 * x + y, "twice")
    predicate = overflowing(op["INT8"])
    assert predicate is not None
    assert [bool(predicate(x, 0)) for x in (63, 64, -64, -65)] == [False, True, False, True]


def test_the_overflow_predicate_can_be_printed_for_numba_and_cuda():
    predicate = overflowing(binary.times["INT64"])
    assert predicate is not None
    assert "def f(" in (predicate.source_numba("f") or "")
    assert "bool f(" in predicate.source_cuda("f")
