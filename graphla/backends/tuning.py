"""Keep track of the current values of tuning constants.

Each family of kernels or loops has one frozen dataclass of constants, whose defaults are measured
values. The family reads the current value; a test may replace it inside a `with` block::

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
"""The values of all active `using` blocks, in the order in which the blocks were entered."""
_replaced: dict[type, Any] = {}
"""For each type, the value from the last `using` block that replaces it.

The dict is never modified: a new dict replaces it.
"""


def current(default: T) -> T:
    """Return the current value for the type of `default`.

    This is `default` itself, unless a `using` block replaces the value.
    """
    return _replaced.get(type(default), default)


def _replace() -> None:
    """Recompute `_replaced` from the values of all active `using` blocks.

    The caller must hold the lock.
    """
    global _replaced
    _replaced = {type(value): value for values in _blocks for value in values}


@contextmanager
def using(*values: Any) -> Iterator[None]:
    """Make each of `values` the current value of its type, in all threads, inside a `with` block.

    The value is not thread-local, because it must be visible to the threads that run kernels and
    loops. If blocks of several threads overlap, the block that was entered last takes precedence.
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
