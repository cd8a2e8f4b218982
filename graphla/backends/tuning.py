"""Tuning constants, which tests can replace.

Each family of kernels or loops has one frozen dataclass of constants, with measured values as its
defaults. The family asks for the current value, which a test replaces for the length of a block::

    TUNING = BfsTuning()
    long_row = current(TUNING).long_row

    with using(BfsTuning(long_row=2)):
        gl.algorithms.bfs(A, 0)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

_replaced: dict[type, Any] = {}


def current(default: T) -> T:
    """Return the current value of the type of `default`: `default` itself unless it is replaced."""
    return _replaced.get(type(default), default)


@contextmanager
def using(*values: Any) -> Iterator[None]:
    """Replace the current value of the type of each of `values`, in all threads."""
    global _replaced
    before = _replaced
    _replaced = {**before, **{type(value): value for value in values}}
    try:
        yield
    finally:
        _replaced = before
