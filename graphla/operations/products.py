"""Products of a matrix and a vector (by push or pull), of two matrices, or of two vectors."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from graphla.backends import Side, backend
from graphla.backends.values import repeat_value
from graphla.formats import DenseVector, FullVector, MatrixMask, SparseVector, VectorMask
from graphla.operations.direction import choose
from graphla.operations.entrywise import cast
from graphla.operations.indexing import (
    as_row,
    extract_matrix,
    from_diag,
    vector_element,
)
from graphla.operations.operation import Operation, note
from graphla.settings import recorders
from graphla.stores import MatrixStore, ScalarStore, VectorStore
from semirings.operators import TypedBinaryOp
from semirings.structures import TypedSemiring


def _matrix_vector(
    x: Any, y: Any, semiring: TypedSemiring, mask: VectorMask | None = None
) -> VectorStore:
    """Compute w⟨mask⟩ = A ⊕.⊗ u or w⟨mask⟩ = u ⊕.⊗ A, by push or by pull."""
    side: Side = "mxv"
    m, u = x, y
    if isinstance(x, VectorStore):
        m, u, side = y.T, x, "vxm"
    direction, reason, *numbers = choose(m, u, semiring, mask)
    start = perf_counter() if recorders() else None
    do = backend(m.device)
    if direction == "push":
        w = do.push(m.csc, u.sparse(sorted=False), semiring, side, mask)
    elif u.stays_sparse and not semiring.is_positional:
        v = u.sparse()
        narrow = extract_matrix.compute(m, None, v.indices)
        w = do.pull(narrow.csr, FullVector(v.nvals, v.values), semiring, side, mask)
    else:
        w = do.pull(m.csr, _spread(u, semiring, side), semiring, side, mask)
    t = VectorStore(m.device, semiring.return_type, w)
    if start is not None:
        seconds = perf_counter() - start
        note(side, (m, u, semiring), t.nvals, seconds, direction, reason.format(*numbers))
    return t


def _spread(u: VectorStore, semiring: TypedSemiring, side: Side) -> DenseVector:
    """Return u in dense form; if its values are not read, expand only its presence flags."""
    op = semiring.binaryop
    if u.has_dense or (op.reads_y if side == "mxv" else op.reads_x) or not u.nvals:
        return u.dense()
    do, v = backend(u.device), u.sparse(sorted=False)
    value = repeat_value(v.values[:1], v.nvals)
    return do.to_bitmap(SparseVector(v.size, v.indices, value, v.is_sorted))


def _mxm(
    a: MatrixStore, b: MatrixStore, semiring: TypedSemiring, mask: MatrixMask | None = None
) -> MatrixStore:
    """C⟨mask⟩ = A ⊕.⊗ B."""
    do, c = backend(a.device), None
    bt = b.csc if b.has_csc else None
    if mask is not None and not b.has_csr:
        c = do.mxm(a.csr, None, semiring, mask, bt)
    if c is None:
        c = do.mxm(a.csr, b.csr, semiring, mask, bt)
    return MatrixStore(a.device, semiring.return_type, c)  # pyright: ignore[reportArgumentType]


def _inner(u: VectorStore, v: VectorStore, semiring: TypedSemiring) -> ScalarStore:
    """Compute s = u ⊕.⊗ v as the product of u and a matrix whose only column is v."""
    if not (u.has_dense or v.has_dense or semiring.is_positional):
        return _sparse_inner(u, v, semiring)
    w = backend(u.device).pull(as_row(v).csr, u.dense(), semiring, "vxm", None)
    element = vector_element.compute(VectorStore(u.device, semiring.return_type, w), 0)
    return ScalarStore(u.device, semiring.return_type, element.value)


def _sparse_inner(u: VectorStore, v: VectorStore, semiring: TypedSemiring) -> ScalarStore:
    """Reduce the entries of u ⊗ v with ⊕, without a temporary dense array."""
    do, dtype = backend(u.device), semiring.return_type
    both = do.intersection(u.sparse(), v.sparse(), semiring.binaryop)
    values = do.cast(both, dtype.np_type).values
    return ScalarStore(u.device, dtype, do.reduce(values, semiring.monoid) if both.nvals else None)


def _power(a: MatrixStore, n: int, semiring: TypedSemiring, identity: Any) -> MatrixStore:
    """Compute C = Aⁿ over ⊕.⊗ by repeated squaring; A⁰ has `identity` on its diagonal."""
    if n == 0:
        one = backend(a.device).asarray([identity])
        ones = FullVector(a.nrows, repeat_value(one, a.nrows))
        return from_diag.compute(VectorStore(a.device, semiring.return_type, ones), 0)
    result, square = None, cast(a, semiring.return_type)
    while True:
        if n & 1:
            result = square if result is None else _mxm(result, square, semiring)
        n >>= 1
        if not n:
            return result  # pyright: ignore[reportReturnType]
        square = _mxm(square, square, semiring)


def _kronecker(a: MatrixStore, b: MatrixStore, op: TypedBinaryOp) -> MatrixStore:
    """C(i·m + k, j·n + l) = op(A(i, j), B(k, l)), where B is m x n."""
    return MatrixStore(a.device, op.return_type, backend(a.device).kronecker(a.csr, b.csr, op))


mxv = Operation("mxv", _matrix_vector, honors_mask=True, records_itself=True)
vxm = Operation("vxm", _matrix_vector, honors_mask=True, records_itself=True)
mxm = Operation("mxm", _mxm, honors_mask=True)
kronecker = Operation("kronecker", _kronecker)
inner = Operation("inner", _inner)
power = Operation("power", _power)
