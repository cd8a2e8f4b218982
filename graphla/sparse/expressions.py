"""Build the expression for each operation, after choosing typed operators and checking shapes.

The functions compute nothing. Their expressions refer to the storage of the operands, so a later
change of an operand does not affect them.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from graphla import agg, aggregators
from graphla import operations as ops
from graphla.aggregators import Aggregator, TypedAggregator
from graphla.expression import Axis, Expression, Operand, classes, describe, expression
from graphla.operations.moving import on_device
from graphla.operations.operation import perform
from graphla.operations.values import dtype_of, fit, is_on_card, is_scalar
from graphla.sparse.mask import Mask, as_mask
from graphla.sparse.operators import (
    binary_of,
    bound_of,
    index_of,
    is_index_op,
    monoid_of,
    select_of,
    semiring_of,
    unary_of,
)
from graphla.stores import MatrixStore, VectorStore
from semirings import monoid
from semirings.binary import eq, ge, gt, land, le, lor, lt, ne
from semirings.dtypes import BOOL, DataType, unify
from semirings.exceptions import (
    DimensionMismatch,
    DomainMismatch,
    EmptyObject,
    InvalidValue,
)
from semirings.semiring import plus_times


def product(a: Any, b: Any, op: Any, infix: Any = None) -> Any:
    """C = A ⊕.⊗ B, w = A ⊕.⊗ u, w = u ⊕.⊗ A or s = u ⊕.⊗ v.

    `infix` is the expression `A @ B` if the user wrote the product in this way, otherwise None. The
    shapes and devices of its operands have been checked already.
    """
    semiring = semiring_of(op, a.dtype, b.dtype)
    if infix is None:
        shape, device = _product_shape(a.shape, b.shape), None
    else:
        shape, device = infix._shape, infix._device
    operation = _products[len(a.shape), len(b.shape)]
    args = (a, b, semiring)
    return classes[len(shape)](operation, args, shape, semiring.return_type, None, device)


_products = {(2, 2): ops.mxm, (2, 1): ops.mxv, (1, 2): ops.vxm, (1, 1): ops.inner}


def outer(u: VectorStore, v: VectorStore, op: Any) -> Any:
    """C(i, j) = op(u(i), v(j))."""
    typed = binary_of(op, u.dtype, v.dtype)
    return expression(ops.outer, (u, v, typed), (u.size, v.size), typed.return_type)


def kronecker(a: MatrixStore, b: MatrixStore, op: Any) -> Any:
    """C(i·m + k, j·n + l) = op(A(i, j), B(k, l)), where B is m x n."""
    typed = binary_of(op, a.dtype, b.dtype)
    nrows = dimension(a.nrows * b.nrows, "the number of rows of the product")
    shape = (nrows, dimension(a.ncols * b.ncols, "the number of columns of the product"))
    return expression(ops.kronecker, (a, b, typed), shape, typed.return_type)


def ewise_add(a: Any, b: Any, op: Any, infix: Any = None) -> Any:
    """C = op(A, B) where both have an entry; where only one has an entry, C gets that entry.

    `infix` is the expression `A | B` if the user wrote the operation in this way, otherwise None.
    """
    operation = ops.ewise_add if type(a) is type(b) else ops.broadcast_add
    return _ewise(operation, "ewise_add", a, b, op, infix)


def ewise_mult(a: Any, b: Any, op: Any, infix: Any = None) -> Any:
    """C = op(A, B) where both have an entry.

    `infix` is the expression `A & B` if the user wrote the operation in this way, otherwise None.
    """
    operation = ops.ewise_mult if type(a) is type(b) else ops.broadcast_mult
    return _ewise(operation, "ewise_mult", a, b, op, infix)


def _ewise(operation: Any, name: str, a: Any, b: Any, op: Any, infix: Any) -> Any:
    typed = binary_of(op, a.dtype, b.dtype)
    if infix is None:
        shape, device = _common_shape(a.shape, b.shape, name), None
    else:
        shape, device = infix._shape, infix._device
    return classes[len(shape)](operation, (a, b, typed), shape, typed.return_type, None, device)


def ewise_union(a: Any, b: Any, op: Any, left: Any, right: Any) -> Any:
    """C = op(A, B) at each position where A or B has an entry.

    A default value replaces a missing entry: `left` for A, and `right` for B.
    """
    left, left_dtype = bound(left, a.dtype, "left_default")
    right, right_dtype = bound(right, b.dtype, "right_default")
    typed = binary_of(op, unify(a.dtype, left_dtype), unify(b.dtype, right_dtype))
    shape = _common_shape(a.shape, b.shape, "ewise_union")
    operation = ops.ewise_union if type(a) is type(b) else ops.broadcast_union
    left, right = _left(left, typed, "left_default"), _right(right, typed, "right_default")
    args = (a, b, typed, left, right)
    return expression(operation, args, shape, typed.return_type)


def _left(value: Any, op: Any, name: str) -> Any:
    """Return `value` in the dtype of op's left operand, or 0 if op does not read this operand."""
    return fit(value, op.type, name) if op.reads_x else op.type.np_type.type(0)


def _right(value: Any, op: Any, name: str) -> Any:
    """Return `value` in the dtype of op's right operand, or 0 if op does not read this operand."""
    return fit(value, op.type2, name) if op.reads_y else op.type2.np_type.type(0)


def apply(a: Any, op: Any, left: Any, right: Any) -> Any:
    """C = op(A), op(left, A) or op(A, right); an index-unary op also reads positions."""
    if left is not None and right is not None:
        raise TypeError("apply takes `left` or `right`, not both")
    shape = a.shape
    if left is None and right is None:
        typed = unary_of(op, a.dtype)
        if is_index_op(typed):
            return apply_index(a, typed, None)
        return expression(ops.apply, (a, typed), shape, typed.return_type)
    op = bound_of(op)
    if is_index_op(op):
        if left is not None:
            raise TypeError(f"{op!r} takes its thunk as `right`, not as `left`")
        return apply_index(a, op, right)
    if left is not None:
        left, dtype = bound(left, a.dtype, "left")
        typed = binary_of(op, dtype, a.dtype)
        args = (a, typed, _left(left, typed, "left"))
        made = expression(ops.apply_left, args, shape, typed.return_type)
        made._scalar = left
        return made
    right, dtype = bound(right, a.dtype, "right")
    typed = binary_of(op, a.dtype, dtype)
    args = (a, typed, _right(right, typed, "right"))
    made = expression(ops.apply_right, args, shape, typed.return_type)
    made._scalar = right
    return made


def select(a: Any, op: Any, thunk: Any) -> Any:
    """Select the entries of A for which op(A(i, j), i, j, thunk) is true.

    If `op` is a mask, select the entries of A at the positions that the mask allows.
    """
    shape = a.shape
    if isinstance(op, Mask) or (isinstance(op, Operand) and op.ndim):
        if thunk is not None:
            raise TypeError("select by a mask takes no thunk")
        if isinstance(op, Expression) and _comparison_of(op) and op._args[0] is a:
            # Select by the comparison operator, without computing its results.
            return select_by(op, "value")
        mask = as_mask(op)
        args = (a, mask._lower(shape, a.device), mask.parent._read())
        return expression(ops.restrict, args, shape, a.dtype)
    typed, thunk = _with_thunk(select_of(op), a.dtype, thunk)
    if typed.return_type is not BOOL:
        raise DomainMismatch(f"{typed!r} returns {typed.return_type}, but to select must be BOOL")
    return expression(ops.select, (a, typed, thunk), shape, a.dtype)


def select_by(x: Any, what: str) -> Any:
    """Select the entries of A whose value, row, column or index satisfies the comparison x.

    The comparison is an expression such as `A > k` that is not computed yet. `what` is "value",
    "row", "column" or "index": it names what is compared with k.
    """
    op = _comparison_of(x)
    if op is None:
        raise TypeError(
            f"select.{what} takes a comparison of A with a scalar that is not yet computed, as in "
            f"select.{what}(A > 3)"
        )
    a, k = x._args[0], x._scalar
    if what == "value":
        return select(a, f"value{op.name}", k)
    if op in (eq, ne):
        raise InvalidValue(f"select.{what} takes <, <=, > or >=, not {'==' if op is eq else '!='}")
    k = integer(k, f"the {what} to compare with")
    side = "col" if what == "column" else "row"
    return select(a, f"{side}{'le' if op in (lt, le) else 'gt'}", k - (op in (lt, ge)))


def _comparison_of(x: Any) -> Any:
    """Return the operator of x if x is a comparison such as `A > k` that is not computed yet.

    `k < A` is treated as `A > k`. For any other x, return None.
    """
    if not isinstance(x, Expression) or x._operation not in _by_scalar or not x._args:
        return None
    op = x._args[1].op
    op = op.commutes_to if x._operation is ops.apply_left else op
    return op if op in _comparisons else None


_by_scalar = (ops.apply_left, ops.apply_right)
_comparisons = (eq, ne, lt, le, gt, ge)


def reduce_rowwise(a: MatrixStore, op: Any) -> Any:
    """w(i) = ⊕ over j of A(i, j)."""
    return _reduce_lines(a, op, ops.reduce_rowwise, aggregators.aggregate_rowwise, a.nrows)


def reduce_columnwise(a: MatrixStore, op: Any) -> Any:
    """w(j) = ⊕ over i of A(i, j)."""
    return _reduce_lines(a, op, ops.reduce_columnwise, aggregators.aggregate_columnwise, a.ncols)


def _reduce_lines(a: MatrixStore, op: Any, by_monoid: Any, by_aggregator: Any, size: int) -> Any:
    op = aggregator_or_monoid(op, a.dtype)
    operation = by_aggregator if isinstance(op, TypedAggregator) else by_monoid
    return expression(operation, (a, op), (size,), op.return_type)


def reduce_scalar(a: Any, op: Any, allow_empty: bool) -> Any:
    """Reduce all entries to a scalar with the monoid ⊕ or an aggregator.

    If there are no entries, the result is the identity of ⊕, or empty if `allow_empty` is True.
    """
    op = aggregator_or_monoid(op, a.dtype)
    if isinstance(op, TypedAggregator):
        if op.op.needs_place and isinstance(a, MatrixStore):
            raise InvalidValue(f"{op!r} gives an index, so it is for rows, columns or a Vector")
        if not allow_empty:
            if op.op.monoid is None:
                raise InvalidValue(f"{op!r} has no identity, so allow_empty must be True")
            identity = op.op.monoid[op.return_type].identity
            args = (a, op, identity)
            return expression(aggregators.aggregate_or_identity, args, (), op.return_type)
        return expression(aggregators.aggregate_scalar, (a, op), (), op.return_type)
    return expression(ops.reduce_scalar, (a, op, allow_empty), (), op.return_type)


def aggregator_or_monoid(op: Any, dtype: DataType) -> Any:
    """Return the typed aggregator or monoid for `op`.

    If a name belongs to both an aggregator and a monoid, it refers to the monoid.
    """
    if isinstance(op, str):
        named = agg.find(op)
        op = op if named is None or hasattr(monoid, named.name) else named
    if isinstance(op, Aggregator):
        return op[dtype]
    return op if isinstance(op, TypedAggregator) else monoid_of(op, dtype)


def extract(a: Any, axes: tuple[Axis, ...], target: Any) -> Any:
    """C = A(I, J). If I or J is an int, the result does not have that dimension."""
    region = None if target is None else (target, axes)
    axes = tuple([on_device(i, a.device) if is_on_card(i) else i for i in axes])
    if isinstance(a, VectorStore):
        (i,) = axes
        if isinstance(i, int):
            return expression(ops.vector_element, (a, i), (), a.dtype, region)
        return expression(ops.extract_vector, (a, i), (_length(i, a.size),), a.dtype, region)
    i, j = axes
    if isinstance(i, int):
        if isinstance(j, int):
            return expression(ops.matrix_element, (a, i, j), (), a.dtype, region)
        return expression(ops.extract_row, (a, i, j), (_length(j, a.ncols),), a.dtype, region)
    if isinstance(j, int):
        shape = (_length(i, a.nrows),)
        return expression(ops.extract_column, (a, i, j), shape, a.dtype, region)
    shape = (_length(i, a.nrows), _length(j, a.ncols))
    return expression(ops.extract_matrix, (a, i, j), shape, a.dtype, region)


def output_mask(x: Any, input_mask: Any) -> Mask:
    """Convert a mask on A to the corresponding mask on A[I, J].

    If A[I, J] is a row or a column, the mask may be a Vector.
    """
    mask = as_mask(input_mask)
    if not isinstance(x, Expression) or x._operation not in _parts or not x._args:
        raise TypeError(
            "input_mask is for a part of a Matrix or Vector that is not yet computed, as in A[I, J]"
        )
    a, *axes = x._args
    shape = a.shape
    if mask.ndim > len(shape):
        raise TypeError("input_mask is a Matrix, but a Vector needs a Vector as mask")
    if mask.ndim < len(shape):
        if len(x.shape) == 2:
            raise TypeError("input_mask is a Vector, but a submatrix needs a Matrix as mask")
        k = 0 if isinstance(axes[1], int) else 1
        axes, shape = axes[k : k + 1], shape[k : k + 1]
    if mask.shape != shape:
        raise DimensionMismatch(
            f"input_mask has {describe(mask.shape)}, but what it masks has {describe(shape)}"
        )
    part = extract(mask.parent._read(), tuple(axes), None).new()
    return Mask(part, structure=mask.structure, complement=mask.complement)


_parts = (ops.extract_vector, ops.extract_row, ops.extract_column, ops.extract_matrix)


def transpose(a: MatrixStore) -> Any:
    """C = Aᵀ, in O(1) time.

    The CSR form of A is the CSC form of C, and vice versa. A missing form is built when it is
    needed.
    """
    flipped = expression(ops.transpose, (a,), (a.ncols, a.nrows), a.dtype)
    flipped._compute()
    return flipped


def diag(a: MatrixStore, k: Any) -> Any:
    """Extract diagonal k: w(i) = A(i, i + k) if k >= 0, and w(i) = A(i - k, i) if k < 0."""
    k = integer(k, "k")
    size = max(0, min(a.nrows - max(0, -k), a.ncols - max(0, k)))
    return expression(ops.diag, (a, k), (size,), a.dtype)


def from_diag(v: VectorStore, k: Any) -> Any:
    """Build a square matrix with v on diagonal k.

    C(i, i + k) = v(i) if k >= 0, and C(i - k, i) = v(i) if k < 0.
    """
    k = integer(k, "k")
    size = dimension(v.size + abs(k), "the size of the matrix")
    return expression(ops.from_diag, (v, k), (size, size), v.dtype)


def reposition(a: Any, offsets: tuple[Any, ...], sizes: tuple[Any, ...]) -> Any:
    """C(i + down, j + right) = A(i, j). Entries whose new position is outside C are dropped."""
    offsets = tuple(integer(offset, "offset") for offset in offsets)
    given = zip(sizes, a.shape, strict=True)
    shape = tuple(old if size is None else dimension(size, "size") for size, old in given)
    if isinstance(a, VectorStore):
        return expression(ops.reposition_vector, (a, *offsets, *shape), shape, a.dtype)
    return expression(ops.reposition_matrix, (a, *offsets, shape), shape, a.dtype)


def power(a: MatrixStore, n: Any, op: Any) -> Any:
    """C = A ⊕.⊗ A ⊕.⊗ ... ⊕.⊗ A, with n factors. If n = 0, C is diagonal with the identity of ⊗."""
    n = integer(n, "n")
    if n < 0:
        raise InvalidValue(f"n is {n}, but it should be 0 or more")
    if a.nrows != a.ncols:
        raise DimensionMismatch(
            f"A must be square to be multiplied with itself, but is {a.nrows} x {a.ncols}"
        )
    semiring = semiring_of(op, a.dtype, a.dtype)
    identity = None
    if n == 0:
        monoid = semiring.binaryop.op.monoid
        if monoid is None:
            raise InvalidValue(
                f"the power 0 by {semiring!r} needs an identity of its multiply, which has none"
            )
        identity = monoid[semiring.return_type].identity
    return expression(ops.power, (a, n, semiring, identity), a.shape, semiring.return_type)


class ScalarOperand(NamedTuple):
    """A scalar operand of an infix expression."""

    scalar: Any


def infix(symbol: str, a: Any, b: Any) -> Any:
    """Return the unevaluated expression `A @ B`, `A & B` or `A | B`.

    Its semiring or operator is chosen later. Each of the operands a and b is either storage, or
    another expression of this kind that has no operator yet. The latter will get the same operator.
    """
    one, other = a.shape, b.shape
    if symbol == "@":
        shape = one[:-1] + other[1:] if one[-1] == other[0] else _product_shape(one, other)
    else:
        shape = one if one == other else _common_shape(one, other, symbol)
    device = None
    if one and not (isinstance(a, Expression) or isinstance(b, Expression)):
        device = a.device if a.device == b.device else None
    return classes[len(shape)](None, (symbol, a, b, _by_default), shape, None, None, device)


def infix_with_scalar(symbol: str, left: Any, right: Any) -> Any:
    """Return the expression `A & x`, `x & A`, `A | x` or `x | A`, where x is a scalar."""
    is_left = isinstance(left, Operand) and left.ndim > 0
    noun = left if is_left else right
    sides = (
        (operand_forms(noun), ScalarOperand(right))
        if is_left
        else (ScalarOperand(left), operand_forms(noun))
    )
    return classes[noun.ndim](None, (symbol, *sides, _by_default), noun.shape, None)


def with_operator(waiting: Any, op: Any) -> Any:
    """Return the expression `op(A @ B)`, `op(A & B)` or `op(A | B)`."""
    symbol, a, b, _ = waiting._args
    infix = waiting
    if isinstance(a, Expression):
        a, infix = _settle(a, symbol, op), None
    if isinstance(b, Expression):
        b, infix = _settle(b, symbol, op), None
    if isinstance(a, ScalarOperand):
        return apply(b, op, a.scalar, None)
    if isinstance(b, ScalarOperand):
        return apply(a, op, None, b.scalar)
    if symbol == "@":
        return product(a, b, op, infix)
    return (ewise_mult if symbol == "&" else ewise_add)(a, b, op, infix)


def union_with_operator(waiting: Any, op: Any, left: Any, right: Any) -> Any:
    """Return the expression `op(A | B, left_default=..., right_default=...)`."""
    _, a, b, _ = waiting._args
    if isinstance(a, ScalarOperand) or isinstance(b, ScalarOperand):
        raise TypeError(
            f"{op.name}(A | scalar) applies {op.name} to the entries and has no defaults"
        )
    a = union_with_operator(a, op, left, right)._compute() if isinstance(a, Expression) else a
    b = union_with_operator(b, op, left, right)._compute() if isinstance(b, Expression) else b
    return ewise_union(a, b, op, left, right)


def vector(x: Any, name: str) -> VectorStore:
    """Return the storage of an operand that must be a Vector."""
    if isinstance(x, Operand) and x.ndim == 1:
        return x._read()
    raise TypeError(f"{name} needs a Vector, not a {_kind(x)}")


def matrix(x: Any, name: str) -> MatrixStore:
    """Return the storage of an operand that must be a Matrix."""
    if isinstance(x, Operand) and x.ndim == 2:
        return x._read()
    raise TypeError(f"{name} needs a Matrix, not a {_kind(x)}")


def _kind(x: Any) -> str:
    if isinstance(x, Operand):
        return ("Scalar", "Vector", "Matrix")[x.ndim]
    return type(x).__name__


def is_waiting(x: Any) -> bool:
    """Return whether x is `A @ B`, `A & B` or `A | B` without an operator."""
    return isinstance(x, Expression) and x._operation is None


def operand_forms(x: Any) -> Any:
    """Return the storage of an operand, or the operand itself if `is_waiting` is true for it."""
    return x if is_waiting(x) else x._read()


def _settle(x: Expression, symbol: str, op: Any) -> Any:
    """Compute x, an operand of an expression such as `op(x | y)`, and return the storage of x.

    `symbol` is the symbol of the outer expression, such as "|". If x has the same symbol and no
    operator yet, x is computed with the operator `op`. An example is `u | v` in `plus(u | v | w)`.
    """
    if x._operation is None and x._args[0] == symbol:
        return with_operator(x, op)._compute()
    return x._read()


def _by_default(symbol: str, left: Any, right: Any) -> Any:
    """Return the expression that `A @ B`, `A & B` or `A | B` means without an explicit operator."""
    if isinstance(left, ScalarOperand) or isinstance(right, ScalarOperand):
        raise TypeError(f"A {symbol} scalar needs an operator: write op(A {symbol} scalar)")
    a = left._read() if isinstance(left, Expression) else left
    b = right._read() if isinstance(right, Expression) else right
    if symbol == "@":
        return product(a, b, plus_times)
    if a.dtype is BOOL and b.dtype is BOOL:
        return ewise_mult(a, b, land) if symbol == "&" else ewise_add(a, b, lor)
    name = "ewise_mult" if symbol == "&" else "ewise_add"
    raise TypeError(
        f"A {symbol} B without an operator is logical and needs BOOL, but the dtypes are {a.dtype} "
        f"and {b.dtype}; write op(A {symbol} B), as in binary.plus(A {symbol} B), for {name}"
    )


def compare(a: Any, b: Any, check_dtype: bool, tolerance: tuple[float, float] | None) -> bool:
    """Return whether two operands have the same shape and pattern, and the same values.

    If `check_dtype` is True, their dtypes must also be the same. If a tolerance (relative,
    absolute) is given, values need only be close.
    """
    if (check_dtype and a.dtype is not b.dtype) or a.shape != b.shape:
        return False
    return perform("compare", ops.same_entries, a, b, tolerance)


def bound(value: Any, beside: DataType, name: str) -> tuple[Any, DataType]:
    """Return the value and the dtype of a scalar, which may be a number or a Scalar.

    `beside` is the dtype of the other operand. A Python number gets this dtype if the dtype can
    represent numbers of its kind (Boolean, integer or float).
    """
    if is_scalar(value):
        return value, dtype_of(value, beside)
    if isinstance(value, Operand) and value.ndim == 0:
        forms = value._read()
        if forms.value is None:
            raise EmptyObject(f"{name} is an empty Scalar, but it must hold a value")
        return forms.value, forms.dtype
    raise TypeError(f"{name} must be a scalar, not {type(value).__name__}")


def integer(value: Any, name: str) -> int:
    """Return `value` as an int, or raise an error in which `name` is the name of the argument."""
    try:
        return value if type(value) is int else operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None


def dimension(value: Any, name: str) -> int:
    """Return `value` as a number of rows, columns or elements, from 0 to 2^31 - 1."""
    size = integer(value, name)
    if size < 0:
        raise InvalidValue(f"{name} is {size}, but it should be 0 or more")
    if size >= 1 << 31:
        raise InvalidValue(f"{name} is {size}, but it should be less than 2^31")
    return size


def apply_index(a: Any, op: Any, thunk: Any) -> Any:
    """C = op(A(i, j), i, j, thunk), entry by entry."""
    typed, thunk = _with_thunk(op, a.dtype, thunk)
    shape = a.shape
    return expression(ops.apply_index, (a, typed, thunk), shape, typed.return_type)


def _with_thunk(op: Any, dtype: DataType, thunk: Any) -> tuple[Any, Any]:
    """Return the typed index-unary or select operator, and its thunk, which is 0 by default."""
    if thunk is None:
        typed = index_of(op, dtype, None)
        return typed, typed.thunk_type.np_type.type(0)
    thunk, thunk_dtype = bound(thunk, dtype, "thunk")
    typed = index_of(op, dtype, thunk_dtype)
    return typed, fit(thunk, typed.thunk_type, "thunk")


def _length(place: Axis, size: int) -> int:
    return size if place is None else place.size  # pyright: ignore[reportAttributeAccessIssue]


def _common_shape(left: tuple[int, ...], right: tuple[int, ...], name: str) -> tuple[int, ...]:
    """Return the shape of the result of an element-wise operation on operands of these shapes.

    A Vector and a Matrix can be combined: the Vector is then repeated for each row or column.
    """
    if left == right:
        return left
    if len(left) == 1 and len(right) == 2:
        if left[0] == right[0]:
            return right
        raise DimensionMismatch(
            f"{name}: u on the left is repeated along columns, but has size {left[0]} "
            f"and B has {right[0]} rows"
        )
    if len(left) == 2 and len(right) == 1:
        if left[1] == right[0]:
            return left
        raise DimensionMismatch(
            f"{name}: v on the right is repeated along rows, but has size {right[0]} "
            f"and A has {left[1]} columns"
        )
    first, second = ("u", "v") if len(left) == 1 else ("A", "B")
    raise DimensionMismatch(
        f"{name}: {first} has {describe(left)}, but {second} has {describe(right)}"
    )


def _product_shape(left_shape: tuple[int, ...], right_shape: tuple[int, ...]) -> tuple[int, ...]:
    if left_shape[-1] != right_shape[0]:
        names = {(1, 1): ("u", "v"), (1, 2): ("u", "A"), (2, 1): ("A", "u"), (2, 2): ("A", "B")}
        first, second = names[len(left_shape), len(right_shape)]
        have = f"{left_shape[-1]} columns" if len(left_shape) == 2 else f"size {left_shape[0]}"
        needs = f"{right_shape[0]} rows" if len(right_shape) == 2 else f"size {right_shape[0]}"
        raise DimensionMismatch(f"{first} has {have}, but {second} has {needs}")
    return left_shape[:-1] + right_shape[1:]
