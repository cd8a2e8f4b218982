"""The public function `closure`, which checks its arguments."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

from graphla.backends import EarlyStop
from graphla.formats import BitmapVector
from graphla.operations.accelerate.searches import lower
from graphla.operations.entrywise import cast
from graphla.operations.operation import DeviceScope, refuse_mixed
from graphla.sparse import Matrix, MatrixExpression, Vector, VectorExpression
from graphla.sparse.foreign import class_name, conversion
from graphla.sparse.mask import Mask, as_mask
from graphla.sparse.operators import semiring_of
from graphla.sparse.readable_matrix import ReadableMatrix
from graphla.sparse.vector import ReadableVector
from graphla.stores import VectorStore
from graphla.traversal.evaluation import Task, evaluate
from graphla.traversal.laws import check_sum
from semirings import indexunary
from semirings.dtypes import INT32, DataType
from semirings.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from semirings.structures import Semiring, TypedSemiring

Values = TypeVar("Values")
Parents = TypeVar("Parents")
Noun = TypeVar("Noun", Vector, Matrix)


class Fixpoint(NamedTuple, Generic[Values, Parents]):
    """The result of `closure`.

    Attributes:
        values: the least solution y of ``y = x ⊕ yA``. It is a Vector if the argument x of
            `closure` is a Vector, otherwise a Matrix with the same shape as x. The dtype of
            `values` is the dtype of the semiring.
        parents: with `parents=True`, a Vector or Matrix of dtype INT32 with the same pattern as
            `values`; otherwise None.
    """

    values: Values
    parents: Parents


@overload
def closure(
    x: Noun,
    A: ReadableMatrix,
    semiring: Semiring | TypedSemiring | str,
    *,
    mask: Mask | ReadableVector | None = None,
    cutoff: int | None = None,
    parents: Literal[False] = False,
    limit: int | None = None,
) -> Fixpoint[Noun, None]: ...


@overload
def closure(
    x: Noun,
    A: ReadableMatrix,
    semiring: Semiring | TypedSemiring | str,
    *,
    mask: Mask | ReadableVector | None = None,
    cutoff: int | None = None,
    parents: Literal[True],
    limit: int | None = None,
) -> Fixpoint[Noun, Noun]: ...


@overload
def closure(
    x: ReadableVector | ReadableMatrix,
    A: ReadableMatrix,
    semiring: Semiring | TypedSemiring | str,
    *,
    mask: Mask | ReadableVector | None = None,
    cutoff: int | None = None,
    parents: bool = False,
    limit: int | None = None,
) -> Fixpoint[Any, Any]: ...


def closure(
    x: ReadableVector | ReadableMatrix,
    A: ReadableMatrix,
    semiring: Semiring | TypedSemiring | str,
    *,
    mask: Mask | ReadableVector | None = None,
    cutoff: int | None = None,
    parents: bool = False,
    limit: int | None = None,
) -> Fixpoint[Any, Any]:
    """``x⟨m⟩ = x ⊕ xA ⊕ xA² ...``: the least solution y of ``y = x ⊕ yA``.

    Run a whole traversal as one operation. ⊕ must always return one of its operands, as min and
    max do, and lor and land on BOOL.

    Args:
        x: a Vector of n starting values, or a Matrix with n columns. Each row of a Matrix is a
            separate vector of starting values.
        A: the Matrix to multiply by, or an expression that computes this Matrix. The shape is
            (n, n). The entry A(u, v) is an edge u -> v.
        semiring: a semiring, its name, or a typed semiring such as `semiring.min_plus["FP64"]`.
        mask: a mask of size n. Vertices that the mask forbids are neither reached nor expanded.
            But entries of x are kept even at forbidden vertices, and paths start from them.
        cutoff: the maximum number of products, and so the maximum number of edges of a path. None
            means that there is no maximum.
        parents: whether to return parents as well.
        limit: the former name of `cutoff`; it will be removed in the next release.

    Returns:
        Fixpoint: (values, parents). `values` has the dtype of the semiring. Without
        `parents=True`, `parents` is None. Otherwise, parents(v) is a vertex u such that the edge
        u -> v gave v its value. If v keeps its value from x, parents(v) is v.

    Raises:
        TypeError: If an argument has a wrong type.
        DimensionMismatch: If A is not square, or if the sizes of x, A and the mask differ.
        DeviceMismatch: If x, A and the mask are not on one device.
        DomainMismatch: If products do not have the dtype of the left operand of ⊗. (Products are
            multiplied by A again.)
        InvalidValue: If ⊕ does not always return one of its operands, if values keep improving
            around a cycle, or if `cutoff` is below 0.
        OverflowError: If an integer does not fit into the dtype.

    Examples:
        >>> from graphla import Matrix, Vector, closure, semiring
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, 2], nrows=4, ncols=4)
        >>> x = Vector.from_coo([0], [0], size=4)
        >>> closure(x, A, semiring.min_plus).values.to_dict()
        {0: 0, 1: 1, 2: 3}
        >>> values, parents = closure(x, A, semiring.min_plus, parents=True)
        >>> parents.to_dict()
        {0: 0, 1: 0, 2: 1}
    """
    if limit is not None:
        if cutoff is not None:
            raise TypeError("cutoff and limit are one argument; give cutoff alone")
        warnings.warn("limit is now called cutoff", FutureWarning, stacklevel=2)
        cutoff = limit
    return solve(x, A, semiring, mask=mask, cutoff=cutoff, parents=parents)


def solve(
    x: Any,
    A: Any,
    semiring: Any,
    *,
    mask: Any = None,
    cutoff: int | None = None,
    parents: bool = False,
    delta: float | None = None,
    target: int | None = None,
    most: Any = None,
) -> Fixpoint[Any, Any]:
    """Compute `closure`, with additional options for internal callers.

    The backend may use a method that multiplies near values before far ones. A value is near if it
    is within `delta` of the best value that is still to be multiplied. By default the backend
    chooses `delta`.

    With `target` or `most`, the evaluation may end early. `target` is a vertex, and only its value
    needs to be correct. With `most`, only the values that are no worse than `most` need to be
    correct. All other values may be missing, or worse than in the full result.
    """
    x, A = _noun("x", x), _noun("A", A)
    if A.ndim != 2:
        raise TypeError("A must be a graphla.Matrix, not a Vector")
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"A has {A.nrows} rows and {A.ncols} columns, but must be square")
    op = _choose_types(semiring, x.dtype, A.dtype)
    check_sum(op.monoid)
    cutoff = _check_cutoff(cutoff)
    if not isinstance(parents, bool):
        raise TypeError(f"parents must be True or False, not {parents!r}")
    if x.ndim == 2:
        from graphla.traversal.rows import closure_of_rows

        values, before = closure_of_rows(x, A, op, mask=mask, limit=cutoff, parents=parents)
        return Fixpoint(values, before)
    if x.size != A.nrows:
        raise DimensionMismatch(f"x has size {x.size}, but A has {A.nrows} rows")
    if x.device != A.device:
        refuse_mixed(x.device, A.device, "x and A")
    noun = None if mask is None else as_mask(mask)
    lowered = None if noun is None else lower(noun, x.size, x.device)
    forms, a = x._store, A._store
    read = (forms, a) if noun is None else (forms, a, noun.parent._read())
    with DeviceScope("closure", read) as running:
        forms = cast(forms, op.return_type)
        if not forms.nvals or not a.nvals or cutoff == 0:
            values = Vector._of(running.gives(forms))
            return Fixpoint(values, indexunary.index(values).new("INT32") if parents else None)
        enough = None if target is None and most is None else EarlyStop(target, most)
        task = Task(forms, a, op, lowered, cutoff, parents, delta, noun, enough)
        closed = evaluate(task)
        values = running.gives(VectorStore(a.device, op.return_type, closed.values))
        if not parents:
            return Fixpoint(Vector._of(values), None)
        v = closed.values
        by = BitmapVector(v.size, v.present, closed.parents, v.count)
        before = Vector._of(running.gives(VectorStore(a.device, INT32, by)))
        return Fixpoint(Vector._of(values), before)


def _noun(name: str, x: Any) -> Any:
    if isinstance(x, (MatrixExpression, VectorExpression)):
        return x.new()
    if isinstance(x, (Matrix, Vector)):
        return x
    wanted = "graphla.Matrix" if name == "A" else "graphla.Vector"
    hint = conversion(name, x, to_graph=False) if name == "A" else ""
    raise TypeError(f"{name} must be a {wanted}, not a {class_name(x)}{hint}")


def _check_cutoff(cutoff: Any) -> int | None:
    if cutoff is None:
        return None
    if isinstance(cutoff, bool) or not isinstance(cutoff, Integral):
        raise TypeError(
            f"cutoff must be an integer or None, not {cutoff!r} ({type(cutoff).__name__})"
        )
    if cutoff < 0:
        raise InvalidValue(f"cutoff is {cutoff}, but must be at least 0")
    return int(cutoff)


_OF_TRUTH = ("land", "lor", "lxor", "lxnor")


def _choose_types(semiring: Any, x: DataType, a: DataType) -> TypedSemiring:
    """Return the typed semiring for a vector of dtype `x` and a matrix of dtype `a`.

    A product must have the same dtype as the left operand of ⊗, because the results of a round are
    the left operands of the next round.
    """
    op = semiring_of(semiring, x, a)
    dtype = op.return_type
    if op.type is dtype or op.is_positional:
        return op
    # The results of a round are the operands of the next one, so x must have their type.
    again = op.semiring[dtype, op.type2]
    if again.type is not dtype and op.binaryop.name in _OF_TRUTH:
        again = op.semiring[dtype]
    if again.type is dtype is again.return_type:
        return again
    raise DomainMismatch(
        f"semiring is {op!r}, whose products are {dtype} but whose first operand is {op.type}: "
        "they cannot be multiplied again"
    )
