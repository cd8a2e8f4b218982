"""Choose between a compiled loop and NumPy."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from graphla.compilers.numba import is_installed
from graphla.settings import current
from semirings.operators import TypedBinaryOp, TypedSelectOp
from semirings.structures import TypedMonoid, TypedSemiring

TypedOp: TypeAlias = TypedBinaryOp | TypedSelectOp | TypedMonoid | TypedSemiring
WIDE = 1 << 24
"""If vectors are longer than this, a compiled loop is used only if it processes enough entries.

There must be at least one entry for every 16 elements of a vector, because the scratch memory of a
loop grows with the length of the vectors.
"""

SIMPLE = 8
"""Factor by which `config.compile_threshold` is multiplied if an operation is fast in NumPy."""

ready: set[tuple] = set()
"""The traversal loops that have been loaded. A key consists of a kind of traversal and dtypes."""


def compiles(entries: int, op: TypedOp | None = None, size: int = 0) -> int:
    """Return the number of threads for a compiled loop over `entries` entries, or 0 for NumPy."""
    settings = current()
    wanted = settings.compiled
    if wanted is False:
        return 0
    if wanted == "auto" and entries < settings.compile_threshold > size:
        return 0
    if wanted is True and not is_installed():
        raise ImportError("config.compiled is True, but Numba is not there: pip install numba")
    if size > WIDE and size > 16 * entries:
        return 0
    return settings.threads if is_installed() and (op is None or has_loop_form(op)) else 0


def compiles_traversal(entries: int, size: int, key: tuple, op: TypedOp | None = None) -> bool:
    """Return whether a traversal uses a compiled loop.

    If the loop is loaded (its `key` is in `ready`), it is faster than NumPy for matrices of any
    size.
    """
    if compiles(entries, op, size):
        return True
    return current().compiled == "auto" and size <= WIDE and key in ready


@lru_cache(maxsize=4096)
def has_loop_form(op: TypedOp) -> bool:
    """Return whether an operator can be translated for Numba; operators written in C++ cannot."""
    if isinstance(op, TypedBinaryOp | TypedSelectOp):
        return op.source_numba("f") is not None
    if isinstance(op, TypedMonoid):
        return has_loop_form(op.binaryop)
    return has_loop_form(op.binaryop) and has_loop_form(op.monoid)
