"""Select entries by an operator or by flags."""

from __future__ import annotations

from typing import Any, TypeVar

from graphla.backends.cpu.apply import at_places, of_size
from graphla.backends.cpu.layout import compress, offsets
from graphla.formats import Array, Csr, SparseVector
from semirings.operators import TypedSelectOp

V = TypeVar("V", SparseVector, Csr)


def select(a: V, op: TypedSelectOp, thunk: Any) -> V:
    """Return the entries for which op(x, i, j, thunk) is true."""
    return keep(a, of_size(at_places(a, op, thunk), a.nvals))


def keep(a: V, flags: Array) -> V:
    """Return those entries of the storage `a` whose flags are true."""
    indices = a.indices.compress(flags)
    count = indices.size
    if count == flags.size:
        return a
    values = compress(a.values, flags, count)
    if isinstance(a, SparseVector):
        return SparseVector(a.size, indices, values, a.is_sorted)
    kept = offsets(flags)[a.indptr].astype(a.indptr.dtype, copy=False)
    return Csr(a.nrows, a.ncols, kept, indices, values)
