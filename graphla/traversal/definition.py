"""The definition of a closure: a loop of masked products of matrices and vectors.

Property tests compare the evaluation (`graphla.traversal.closure`) with this definition. The loop
also evaluates closures that the kernels and loops of the backends do not support. ⊗ may be any
operator. Each round multiplies only the entries that the previous round changed. The terms of all
other entries are already in x. Adding these terms again would not change x, as ⊕ is idempotent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from graphla.expression import replace
from graphla.sparse import Matrix, Vector
from semirings import binary, indexunary, monoid, select, semiring
from semirings.operators import BinaryOp
from semirings.overflow import overflowing
from semirings.semiring import any_second, min_secondi
from semirings.structures import TypedSemiring

_is_same = binary.register_anonymous(lambda x, y: (x == y) | ((x != x) & (y != y)), "is_same")
"""Whether two values are equal or both NaN."""


class Fixpoint(NamedTuple):
    """The state of a closure after its last round."""

    values: Vector
    parents: Vector | None
    changed: Vector  # the entries that the last round changed; none if x has converged
    lost: Vector  # has an entry where a term overflowed its integer dtype and was omitted
    rounds: int


def closure(
    x: Vector,
    A: Matrix,
    op: TypedSemiring,
    *,
    mask: Any = None,
    limit: int | None = None,
    parents: bool = False,
    only_changed: bool = True,
) -> Fixpoint:
    """x⟨m⟩ = x ⊕ xA, until nothing changes or `limit` products have run.

    Each round computes a new vector from x. After r rounds, x combines the paths with at most r
    edges. The parent of a vertex v that keeps its initial value is v. When a round changes x(v),
    the parent of v becomes the smallest k for which x(k) ⊗ A(k, v) equals the new value.
    """
    x = x.dup(op.return_type)
    parent = indexunary.index(x).new() if parents else None
    changed, lost, rounds = x.dup(), Vector(bool, x.size), 0
    fits_not = overflowing(op.binaryop)
    while changed.nvals and rounds != limit:
        factor = changed.dup() if only_changed else x
        # t⟨m⟩ = x ⊕.⊗ A
        term, too_great = _product(factor, A, op, mask, fits_not)
        if too_great is not None:
            lost(too_great.S) << True
        # x' = x ⊕ t
        following = op.monoid(x | term).new()
        # c⟨¬(x' = x), r⟩ = x'
        same = select.valueeq(_is_same(following & x), True).new()
        changed(~same.S, replace) << following
        if parent is not None:
            # The parent of a vertex v that has changed is the smallest k with x(k) ⊗ A(k, v) =
            # x'(v).
            parent(changed.S) << _origins(factor, A, op, changed)
        x = following
        rounds += 1
    return Fixpoint(x, parent, changed, lost, rounds)


def _product(
    x: Vector, A: Matrix, op: TypedSemiring, mask: Any, fits_not: Any
) -> tuple[Vector, Vector | None]:
    """t⟨m⟩ = x ⊕.⊗ A, without the terms that overflow the dtype.

    Also return a vector with an entry at each index where a term overflows. The operator `fits_not`
    is true for terms that overflow. If no term can overflow, `fits_not` and the second result are
    None.
    """
    if fits_not is None:
        return op(x @ A).new(mask=mask), None
    # The matrix `too_great` marks the terms x(k) ⊗ A(k, v) that overflow. The matrix `terms` holds
    # all other terms.
    too_great = select.valueeq(_terms(x, A, op, fits_not.op), True).new()
    terms = _terms(x, A, op, op.binaryop.op).new(mask=~too_great.S)
    t = terms.reduce_columnwise(op.monoid).new(mask=mask)
    return t, too_great.reduce_columnwise(monoid.lor).new(mask=mask)


def _origins(x: Vector, A: Matrix, op: TypedSemiring, result: Vector) -> Vector:
    """p(v) = the smallest k with x(k) ⊗ A(k, v) = result(v)."""
    # R(k, v) = result(v), on A's pattern
    wanted = any_second(A @ result.diag())
    same = select.valueeq(_is_same(_terms(x, A, op, op.binaryop.op) & wanted), True).new()
    # p(v) = the index of the first row with an entry in column v
    return min_secondi(Vector.from_scalar(True, x.size, bool) @ same).new()


def _terms(x: Vector, A: Matrix, op: TypedSemiring, multiply: BinaryOp) -> Any:
    """T(k, v) = multiply(x(k), A(k, v))."""
    each = semiring.register_anonymous(monoid.any, multiply)
    return each[op.type, op.type2](x.diag() @ A)
