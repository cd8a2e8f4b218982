"""Reductions with a monoid: of each row, of each column, or of all entries."""

from __future__ import annotations

from typing import Any

from graphla.backends import backend
from graphla.formats import BitmapVector
from graphla.operations.operation import Operation
from graphla.stores import MatrixStore, ScalarStore, VectorStore
from semirings.structures import TypedMonoid


def _reduce_rowwise(a: MatrixStore, monoid: TypedMonoid) -> VectorStore:
    """Compute w(i) = ⊕ over j of A(i, j); w has no entry at i if row i is empty."""
    w = backend(a.device).reduce_rows(a.csr, monoid)
    return VectorStore(a.device, monoid.return_type, w)


def _reduce_columnwise(a: MatrixStore, monoid: TypedMonoid) -> VectorStore:
    """Compute w(j) = ⊕ over i of A(i, j); w has no entry at j if column j is empty."""
    return _reduce_rowwise(a.T, monoid)


def _reduce_scalar(a: Any, monoid: TypedMonoid, allow_empty: bool) -> ScalarStore:
    """Reduce all entries to a scalar s with ⊕.

    If there are no entries, s is empty if `allow_empty` is set, otherwise the identity of ⊕.
    """
    dtype = monoid.return_type
    if not a.nvals:
        return ScalarStore(a.device, dtype, None if allow_empty else monoid.identity)
    do = backend(a.device)
    if isinstance(a, MatrixStore):
        return ScalarStore(a.device, dtype, do.reduce(values_of(a), monoid))
    v = a.any_form
    present = v.present if isinstance(v, BitmapVector) else None
    return ScalarStore(a.device, dtype, do.reduce(v.values, monoid, present))


def values_of(a: MatrixStore) -> Any:
    """Return the values of all entries, in any order."""
    return (a.csr if a.has_csr else a.csc).values


reduce_rowwise = Operation("reduce_rowwise", _reduce_rowwise)
reduce_columnwise = Operation("reduce_columnwise", _reduce_columnwise)
reduce_scalar = Operation("reduce", _reduce_scalar)
