"""Whether an operation runs in a compiled loop or in NumPy."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from graphla.compilers.numba import installed
from graphla.settings import current
from semirings.operators import TypedBinaryOp
from semirings.structures import TypedMonoid, TypedSemiring

TypedOp: TypeAlias = TypedBinaryOp | TypedMonoid | TypedSemiring
WIDE = 1 << 24
"""A size from which compiled loops, whose scratch grows with it, ask for entries in proportion."""


def compiles(entries: int, op: TypedOp | None = None, size: int = 0) -> bool:
    """Whether a compiled loop serves an operation on operands of so many entries, or of a size."""
    settings = current()
    wanted = settings.compiled
    if wanted is False:
        return False
    if wanted == "auto" and entries < settings.compile_threshold > size:
        return False
    if wanted is True and not installed():
        raise ImportError("config.compiled is True, but Numba is not there: pip install numba")
    if size > WIDE and size > 16 * entries:
        return False
    return installed() and (op is None or has_loop_form(op))


@lru_cache(maxsize=4096)
def has_loop_form(op: TypedOp) -> bool:
    """Whether an operator can be printed for Numba; one of raw C++ has NumPy alone."""
    if isinstance(op, TypedBinaryOp):
        return op.source_numba("f") is not None
    if isinstance(op, TypedMonoid):
        return has_loop_form(op.binaryop)
    return has_loop_form(op.binaryop) and has_loop_form(op.monoid)
