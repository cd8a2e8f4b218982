"""Which way the CPU takes: a compiled loop, or NumPy."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from graphla.compilers.numba import installed
from graphla.settings import config
from semirings.operators import TypedBinaryOp
from semirings.structures import TypedMonoid, TypedSemiring

TypedOp: TypeAlias = TypedBinaryOp | TypedMonoid | TypedSemiring

WIDE = 1 << 24
"""Size from which compiled loops, whose scratch memory grows with it, ask for enough entries."""

ready: set[tuple] = set()
"""Kinds of traversals, and the dtypes they met, whose loops are loaded."""


def compiles(entries: int, op: TypedOp | None = None, size: int = 0) -> bool:
    """Return whether a compiled loop serves operands of `entries` entries, or of size `size`."""
    wanted = config.compiled
    if wanted is False or (wanted == "auto" and max(entries, size) < config.compile_threshold):
        return False
    if wanted is True and not installed():
        raise ImportError("config.compiled is True, but Numba is not there: pip install numba")
    if size > WIDE and size > 16 * entries:
        return False
    return installed() and (op is None or _has_loop_form(op))


def compiles_traversal(entries: int, size: int, key: tuple, op: TypedOp | None = None) -> bool:
    """Return whether a compiled loop serves a traversal.

    A loop that is loaded (its `key` is in `ready`) is quicker than NumPy on the smallest matrix.
    """
    if compiles(entries, op, size):
        return True
    return config.compiled == "auto" and size <= WIDE and key in ready


@lru_cache(maxsize=4096)
def _has_loop_form(op: TypedOp) -> bool:
    """Return whether an operator can be printed for Numba; one of raw C++ has NumPy only."""
    if isinstance(op, TypedBinaryOp):
        return op.source_numba("f") is not None
    if isinstance(op, TypedMonoid):
        return _has_loop_form(op.binaryop)
    return _has_loop_form(op.binaryop) and _has_loop_form(op.monoid)
