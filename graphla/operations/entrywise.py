"""Operations that process each entry separately: ewise operations, apply, select, and casts."""

from __future__ import annotations

from typing import Any, TypeVar

from graphla.backends import backend
from graphla.formats import AnyVector, SparseVector
from graphla.operations import scalars
from graphla.operations.operation import Operation
from graphla.operations.values import as_type
from graphla.stores import MatrixStore, ScalarStore, VectorStore
from semirings.dtypes import DataType
from semirings.operators import (
    TypedBinaryOp,
    TypedIndexUnaryOp,
    TypedSelectOp,
    TypedUnaryOp,
)

Forms = TypeVar("Forms", MatrixStore, VectorStore, ScalarStore)


def cast(forms: Forms, dtype: DataType) -> Forms:
    """Return the same entries with all values cast, as NumPy's `astype` casts them."""
    if forms.dtype is dtype:
        return forms
    if isinstance(forms, ScalarStore):
        value = None if forms.value is None else as_type(forms.value, dtype)
        return ScalarStore(forms.device, dtype, value)  # pyright: ignore[reportReturnType]
    do = backend(forms.device)
    if isinstance(forms, VectorStore):
        return VectorStore(forms.device, dtype, do.cast(forms.at_hand, dtype.np_type))
    if not forms.has_csr:
        return cast(forms.T, dtype).T
    csr = do.cast(forms.csr, dtype.np_type)
    return MatrixStore(forms.device, dtype, csr, csr if forms.is_symmetric else None)


def _ewise_add(a: Forms, b: Forms, op: TypedBinaryOp) -> Forms:
    """T(i, j) = op(A(i, j), B(i, j)) if both operands have an entry at (i, j).

    If only one operand has an entry there, T(i, j) is this entry.
    """
    return _join("union", a, b, op)


def _ewise_union(a: Forms, b: Forms, op: TypedBinaryOp, left: Any, right: Any) -> Forms:
    """T(i, j) = op(A(i, j), B(i, j)) if at least one operand has an entry at (i, j).

    `left` replaces a missing entry of A, and `right` a missing entry of B.
    """
    return _join("union", a, b, op, left, right)


def _ewise_mult(a: Forms, b: Forms, op: TypedBinaryOp) -> Forms:
    """T(i, j) = op(A(i, j), B(i, j)) if both operands have an entry at (i, j)."""
    return _join("intersection", a, b, op)


def _join(how: str, a: Any, b: Any, op: TypedBinaryOp, *defaults: Any) -> Any:
    if isinstance(a, ScalarStore):
        return scalars.join(how, a, b, op, defaults)
    if isinstance(a, VectorStore):
        return VectorStore(a.device, op.return_type, _join_vectors(how, a, b, op, *defaults))
    join = getattr(backend(a.device), how)
    if not a.has_csr and not b.has_csr and not op.is_positional:
        t = join(a.csc, b.csc, op, *defaults)
        return MatrixStore(a.device, op.return_type, None, t)
    t = join(a.csr, b.csr, op, *defaults)
    both_symmetric = a.is_symmetric and b.is_symmetric and not op.is_positional
    return MatrixStore(a.device, op.return_type, t, t if both_symmetric else None)


def _join_vectors(
    how: Any, a: VectorStore, b: VectorStore, op: TypedBinaryOp, *defaults: Any
) -> AnyVector:
    do = backend(a.device)
    v, w = a.at_hand, b.at_hand
    if not (isinstance(v, SparseVector) and isinstance(w, SparseVector)):
        combined = do.combine(v, w, op, how, *defaults)
        if combined is not None:
            return combined
    if how == "intersection":
        return do.intersection(_near(a, b), _near(b, a), op)
    return do.union(a.sparse(), b.sparse(), op, *defaults)


def _near(v: VectorStore, w: VectorStore) -> SparseVector:
    """Return the entries of v in sparse form, for an intersection with w.

    If v is dense and w has few entries, return only the entries of v at the indices where w has
    entries, because only they occur in the intersection.
    """
    if v.has_sparse or not w.has_sparse or w.nvals * 8 > v.size:
        return v.sparse()
    indices = w.sparse().indices
    found = backend(v.device).extract_vector(v.at_hand, indices)
    return SparseVector(v.size, indices[found.indices], found.values)


def _apply(a: Forms, op: TypedUnaryOp) -> Forms:
    """T(i, j) = op(A(i, j))."""
    if isinstance(a, ScalarStore):
        return scalars.apply(a, op)
    how = _by_place if op.is_positional else _map
    return how(a, op.return_type, backend(a.device).apply, op)


def _apply_left(a: Forms, op: TypedBinaryOp, scalar: Any) -> Forms:
    """T(i, j) = op(scalar, A(i, j))."""
    return _bind(a, op, scalar, "left")


def _apply_right(a: Forms, op: TypedBinaryOp, scalar: Any) -> Forms:
    """T(i, j) = op(A(i, j), scalar)."""
    return _bind(a, op, scalar, "right")


def _bind(a: Forms, op: TypedBinaryOp, scalar: Any, side: str) -> Forms:
    if isinstance(a, ScalarStore):
        return scalars.bind(a, op, scalar, side)
    do = backend(a.device)
    if op.is_positional:
        return _by_place(a, op.return_type, do.apply_bound, op, scalar, side)
    return _map(a, op.return_type, do.apply_bound, op, scalar, side)


def _apply_index(a: Forms, op: TypedIndexUnaryOp, thunk: Any) -> Forms:
    """T(i, j) = op(A(i, j), i, j, thunk)."""
    if isinstance(a, ScalarStore):
        return scalars.apply_index(a, op, thunk)
    return _by_place(a, op.return_type, backend(a.device).apply_index, op, thunk)


def _select(a: Forms, op: TypedSelectOp, thunk: Any) -> Forms:
    """Return the entries of A for which op(A(i, j), i, j, thunk) is true."""
    if isinstance(a, ScalarStore):
        return scalars.select(a, op, thunk)
    return _by_place(a, a.dtype, backend(a.device).select, op, thunk)


def _map(a: Any, dtype: DataType, compute: Any, *args: Any) -> Any:
    """Apply `compute` to all values, in a format that has already been built."""
    if isinstance(a, VectorStore):
        v = a.at_hand
        return VectorStore(a.device, dtype, compute(v, *args))
    if not a.has_csr:
        return _map(a.T, dtype, compute, *args).T
    t = compute(a.csr, *args)
    return MatrixStore(a.device, dtype, t, t if a.is_symmetric else None)


def _by_place(a: Any, dtype: DataType, compute: Any, *args: Any) -> Any:
    """Apply `compute` to all entries; its results also depend on the positions of the entries."""
    if isinstance(a, VectorStore):
        return VectorStore(a.device, dtype, compute(a.sparse(), *args))
    return MatrixStore(a.device, dtype, compute(a.csr, *args))


ewise_add = Operation("ewise_add", _ewise_add)
ewise_union = Operation("ewise_union", _ewise_union)
ewise_mult = Operation("ewise_mult", _ewise_mult)
apply = Operation("apply", _apply)
apply_left = Operation("apply", _apply_left)
apply_right = Operation("apply", _apply_right)
apply_index = Operation("apply", _apply_index)
select = Operation("select", _select)
