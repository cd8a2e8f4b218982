"""The public function `closure`, and the checks of its arguments."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from graphla.backends import EarlyStop
from graphla.formats import BitmapVector
from graphla.operations.accelerate.searches import lower
from graphla.operations.entrywise import cast
from graphla.operations.operation import DeviceScope, refuse_mixed
from graphla.sparse import Matrix, MatrixExpression, Vector, VectorExpression
from graphla.sparse.foreign import class_name, conversion
from graphla.sparse.mask import as_mask
from graphla.sparse.operators import semiring_of
from graphla.stores import VectorStore
from graphla.traversal.evaluation import Task, evaluate
from graphla.traversal.laws import check_sum
from semirings import indexunary
from semirings.dtypes import INT32, DataType
from semirings.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from semirings.structures import TypedSemiring


def closure(
    x: Any,
    A: Any,
    semiring: Any,
    *,
    mask: Any = None,
    limit: int | None = None,
    parents: bool = False,
) -> Any:
    """x⟨m⟩ = x ⊕ xA ⊕ xA² ...: the least solution of x = x ⊕ xA above x, in one traversal.

    ⊕ picks one of its operands: min or max, or lor or land on BOOL. The result is a Vector of the
    semiring's dtype; of a Matrix x, a Matrix with the closure of each of its rows.

    - mask: vertices off it are neither reached nor expanded, but entries of x are kept and expanded
      even there;
    - limit: the number of products, which is the maximum number of edges of a path;
    - parents: returns (values, parents), where parents(v) is any vertex from which v has its value,
      or v itself if the entry of x is unchanged.

    An integer overflow raises OverflowError. A cycle that improves forever raises InvalidValue.

    >>> from graphla import Matrix, Vector, closure, semiring
    >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [1, 5, 2], nrows=4, ncols=4)
    >>> x = Vector.from_coo([0], [0], size=4)
    >>> closure(x, A, semiring.min_plus).to_dict()
    {0: 0, 1: 1, 2: 3}
    """
    return solve(x, A, semiring, mask=mask, limit=limit, parents=parents)


def solve(
    x: Any,
    A: Any,
    semiring: Any,
    *,
    mask: Any = None,
    limit: int | None = None,
    parents: bool = False,
    delta: float | None = None,
    target: int | None = None,
    most: Any = None,
) -> Any:
    """Compute `closure`, with options of the evaluation that its users do not see.

    Values within `delta` of the best one are near; by default the backend chooses it. If only the
    value at `target`, or only values that are no worse than `most`, are needed, the evaluation may
    end early; other values may then be missing, or not be the best.
    """
    x, A = _noun("x", x), _noun("A", A)
    if A.ndim != 2:
        raise TypeError("A must be a graphla.Matrix, not a Vector")
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"A has {A.nrows} rows and {A.ncols} columns, but must be square")
    op = _choose_types(semiring, x.dtype, A.dtype)
    check_sum(op.monoid)
    limit = _check_limit(limit)
    if not isinstance(parents, bool):
        raise TypeError(f"parents must be True or False, not {parents!r}")
    if x.ndim == 2:
        from graphla.traversal.rows import closure_of_rows

        return closure_of_rows(x, A, op, mask=mask, limit=limit, parents=parents)
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
        if not forms.nvals or not a.nvals or limit == 0:
            values = Vector._of(running.gives(forms))
            return (values, indexunary.index(values).new("INT32")) if parents else values
        enough = None if target is None and most is None else EarlyStop(target, most)
        task = Task(forms, a, op, lowered, limit, parents, delta, noun, enough)
        closed = evaluate(task)
        values = running.gives(VectorStore(a.device, op.return_type, closed.values))
        if not parents:
            return Vector._of(values)
        v = closed.values
        by = BitmapVector(v.size, v.present, closed.parents, v.count)
        return Vector._of(values), Vector._of(running.gives(VectorStore(a.device, INT32, by)))


def _noun(name: str, x: Any) -> Any:
    if isinstance(x, (MatrixExpression, VectorExpression)):
        return x.new()
    if isinstance(x, (Matrix, Vector)):
        return x
    wanted = "graphla.Matrix" if name == "A" else "graphla.Vector"
    hint = conversion(name, x, to_graph=False) if name == "A" else ""
    raise TypeError(f"{name} must be a {wanted}, not a {class_name(x)}{hint}")


def _check_limit(limit: Any) -> int | None:
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, Integral):
        raise TypeError(f"limit must be an integer or None, not {limit!r} ({type(limit).__name__})")
    if limit < 0:
        raise InvalidValue(f"limit is {limit}, but must be at least 0")
    return int(limit)


_OF_TRUTH = ("land", "lor", "lxor", "lxnor")


def _choose_types(semiring: Any, x: DataType, a: DataType) -> TypedSemiring:
    """Return the semiring typed for x and A; its results must have the type of its operand x."""
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
