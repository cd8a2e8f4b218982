"""Tuning constants: keep track of the values that are in force.

Each family of kernels or loops has one frozen dataclass of constants, whose defaults are measured
values. The family reads the value in force; a test replaces it inside a `with` block::

    TUNING = BfsTuning()
    long_row = current(TUNING).long_row

    with using(BfsTuning(long_row=2)):
        gl.algorithms.bfs(A, 0)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")

_lock = Lock()
_blocks: list[list[Any]] = []
"""The values of each `using` block that is active, in the order in which the blocks began."""
_replaced: dict[type, Any] = {}
"""For each type, the value of the last block that replaces it. A change makes a new dictionary."""


def current(default: T) -> T:
    """Return the value in force for the type of `default`: `default` itself unless replaced."""
    return _replaced.get(type(default), default)


def _replace() -> None:
    """Compute the values in force. The caller holds the lock."""
    global _replaced
    _replaced = {type(value): value for values in _blocks for value in values}


@contextmanager
def using(*values: Any) -> Iterator[None]:
    """Replace the value in force for the type of each of `values`, in all threads.

    The threads that run kernels and loops must see the value, so it cannot belong to one thread.
    If blocks of several threads overlap, the block that began last decides.
    """
    block = list(values)
    with _lock:
        _blocks.append(block)
        _replace()
    try:
        yield
    finally:
        with _lock:
            _blocks[:] = [each for each in _blocks if each is not block]
            _replace()
