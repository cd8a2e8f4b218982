"""Operations that all operands support: infix operators, ewise, apply, select and comparisons."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, overload

from graphla.backends import streams
from graphla.expression import Expression, Operand
from graphla.operations.operation import perform
from graphla.operations.values import dtype_of, fit, is_scalar
from graphla.sparse import expressions
from graphla.sparse.expressions import is_waiting, operand_forms
from graphla.sparse.mask import Mask
from graphla.stores import ScalarStore
from semirings import binary, monoid, unary
from semirings.dtypes import BOOL
from semirings.exceptions import InvalidValue

if TYPE_CHECKING:
    from typing import Self

    from graphla.sparse.matrix import MatrixExpression
    from graphla.sparse.readable_matrix import ReadableMatrix

Result = TypeVar("Result")
"""The type of expressions that have as many dimensions as the operand."""

Joined = TypeVar("Joined")
"""The result of an infix operator; it may have more dimensions than the left operand."""


class Arithmetic(Operand, Generic[Result, Joined]):
    """The infix operators of Python.

    `+ - ^ |` act on the union of the entries, all others on the intersection.
    """

    __slots__ = ()

    @overload
    def ewise_add(self, other: ReadableMatrix, op: Any = ...) -> MatrixExpression: ...
    @overload
    def ewise_add(self, other: Any, op: Any = ...) -> Result: ...
    def ewise_add(self, other: Any, op: Any = monoid.plus) -> Any:
        """C = op(A, B) where both have an entry; where only one has an entry, C takes that entry.

        Combine two operands over the union of their entries, in O(A.nvals + B.nvals) time.

        A Vector can be combined with a Matrix: on the left it is broadcast to every column, and on
        the right to every row.

        Args:
            other: B, an operand of the same shape, or a Vector or Matrix of matching size.
            op: a binary operator, a monoid, or the name of one.

        Returns:
            An expression of the same shape, or of the Matrix's shape.

        Raises:
            TypeError: `other` or `op` has the wrong type.
            DimensionMismatch: the shapes do not match.
            DomainMismatch: the operator is not defined on these dtypes.
            DeviceMismatch: the operands are on different devices.

        Examples:
            >>> from graphla import Vector
            >>> u, v = Vector.from_dict({0: 1, 1: 2}, size=3), Vector.from_dict({1: 5}, size=3)
            >>> u.ewise_add(v).new().to_dict()
            {0: 1, 1: 7}
        """
        return expressions.ewise_add(self._read(), self._other(other, "ewise_add"), op)

    @overload
    def ewise_mult(self, other: ReadableMatrix, op: Any = ...) -> MatrixExpression: ...
    @overload
    def ewise_mult(self, other: Any, op: Any = ...) -> Result: ...
    def ewise_mult(self, other: Any, op: Any = binary.times) -> Any:
        """C = op(A, B) where both have an entry.

        Combine two operands over the intersection of their entries.

        Args:
            other: B, an operand of the same shape, or a Vector or Matrix of matching size, as in
                `ewise_add`.
            op: a binary operator, a monoid, or the name of one.

        Returns:
            An expression of the same shape, or of the Matrix's shape.

        Raises:
            TypeError: `other` or `op` has the wrong type.
            DimensionMismatch: the shapes do not match.
            DomainMismatch: the operator is not defined on these dtypes.
            DeviceMismatch: the operands are on different devices.

        Examples:
            >>> from graphla import Vector
            >>> u, v = Vector.from_dict({0: 1, 1: 2}, size=3), Vector.from_dict({1: 5}, size=3)
            >>> u.ewise_mult(v).new().to_dict()
            {1: 10}
        """
        return expressions.ewise_mult(self._read(), self._other(other, "ewise_mult"), op)

    @overload
    def ewise_union(
        self, other: ReadableMatrix, op: Any, left_default: Any, right_default: Any
    ) -> MatrixExpression: ...
    @overload
    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> Result: ...
    def ewise_union(self, other: Any, op: Any, left_default: Any, right_default: Any) -> Any:
        """C = op(A, B) where either has an entry, with a default value for a missing entry.

        Combine two operands over the union of their entries, with default values.

        Args:
            other: B, an operand of the same shape, or a Vector or Matrix of matching size, as in
                `ewise_add`.
            op: a binary operator, a monoid, or the name of one.
            left_default: the scalar that replaces a missing entry of A.
            right_default: the scalar that replaces a missing entry of B.

        Returns:
            An expression of the same shape, or of the Matrix's shape.

        Raises:
            TypeError: `other`, `op` or a default has the wrong type.
            EmptyObject: a default is an empty Scalar.
            DimensionMismatch: the shapes do not match.
            DomainMismatch: the operator is not defined on these dtypes.
            DeviceMismatch: the operands are on different devices.

        Examples:
            >>> from graphla import Vector
            >>> u, v = Vector.from_dict({0: 1, 1: 2}, size=3), Vector.from_dict({1: 5}, size=3)
            >>> u.ewise_union(v, "minus", 0, 0).new().to_dict()
            {0: 1, 1: -3}
        """
        b = self._other(other, "ewise_union")
        return expressions.ewise_union(self._read(), b, op, left_default, right_default)

    def apply(self, op: Any, right: Any = None, *, left: Any = None) -> Result:
        """C(i, j) = op(A(i, j)), op(A(i, j), right) or op(left, A(i, j)).

        Apply an operator to each entry, in O(nvals) time.

        Args:
            op: a unary operator; a binary operator, with `right` or `left`; an index-unary
                operator, which also reads the position of the entry and takes `right` as its thunk;
                the name of an operator; or a Python function of one or two values, which is traced.
            right: the scalar on the right of a binary operator.
            left: the scalar on the left of a binary operator.

        Returns:
            An expression with the same shape and the same pattern.

        Raises:
            TypeError: both `left` and `right` are given, or an argument has the wrong type.
            DomainMismatch: the operator is not defined on this dtype.
            UdfParseError: a Python function cannot be traced.
            OverflowError: the scalar does not fit in the dtype.

        Examples:
            >>> from graphla import Vector
            >>> v = Vector.from_dict({1: 4, 2: 9}, size=3)
            >>> v.apply("sqrt").new().to_dict(), v.apply("minus", left=10).new().to_dict()
            ({1: 2.0, 2: 3.0}, {1: 6, 2: 1})
        """
        return expressions.apply(self._read(), op, left, right)

    def select(self, op: Any, thunk: Any = None) -> Result:
        """C(i, j) = A(i, j) where op(A(i, j), i, j, thunk) is true.

        Select entries by a predicate or by a mask, in O(nvals) time.

        Args:
            op: a select operator such as `select.tril`, or its name; a comparison such as "gt" or
                `A > 3`; a Python function of (x, i, j, thunk), which is traced; or a mask.
            thunk: the scalar that the operator reads; 0 by default.

        Returns:
            An expression with the same shape and dtype.

        Raises:
            TypeError: an argument has the wrong type, or a thunk is given for a mask.
            DomainMismatch: the operator does not return BOOL, or is not defined on this dtype.
            DimensionMismatch: a mask has a different shape.

        Examples:
            >>> from graphla import Matrix
            >>> A = Matrix.from_dense([[1, 2], [3, 4]])
            >>> A.select("triu", 1).new().to_dict(), A.select(">", 2).new().to_dict()
            ({(0, 1): 2}, {(1, 0): 3, (1, 1): 4})
        """
        return expressions.select(self._read(), op, thunk)

    def isequal(self, other: Any, *, check_dtype: bool = False) -> bool:
        """Return whether two operands have the same shape, the same pattern and equal values.

        Args:
            other: an operand with the same number of dimensions; for a Scalar, also a number or
                None.
            check_dtype: whether the dtypes must also be equal.

        Returns:
            True or False. NaN is not equal to NaN.

        Raises:
            TypeError: `other` has a different number of dimensions.
            DeviceMismatch: the operands are on different devices.
        """
        return expressions.compare(self._read(), self._same_kind(other), check_dtype, None)

    def isclose(
        self, other: Any, *, rel_tol: float = 1e-7, abs_tol: float = 0.0, check_dtype: bool = False
    ) -> bool:
        """Return whether two operands have the same shape, the same pattern and close values.

        Values x and y are close if |x - y| <= max(rel_tol * max(|x|, |y|), abs_tol).

        Args:
            other: an operand with the same number of dimensions; for a Scalar, also a number or
                None.
            rel_tol: the relative tolerance.
            abs_tol: the absolute tolerance.
            check_dtype: whether the dtypes must also be equal.

        Returns:
            True or False.

        Raises:
            TypeError: `other` has a different number of dimensions.
            InvalidValue: a tolerance is negative or not a number.
            DeviceMismatch: the operands are on different devices.
        """
        for name, value in (("rel_tol", rel_tol), ("abs_tol", abs_tol)):
            if not isinstance(value, Real) or not value >= 0:
                raise InvalidValue(f"{name} must be a number of at least 0, not {value!r}")
        tolerance = (rel_tol, abs_tol)
        return expressions.compare(self._read(), self._same_kind(other), check_dtype, tolerance)

    @property
    def nvals(self) -> int:
        """The number of stored entries; explicit zeros count."""
        forms = self._read()
        known = forms.known_nvals
        return perform("nvals", _count, forms) if known is None else known

    def wait(self, how: str = "materialize") -> Self:
        """Compute this operand if it is an expression, and wait for it.

        Args:
            how: "complete" returns once the work is queued on the device; "materialize" also waits
                until a GPU has finished the work, so that a failure of its kernels is raised here.

        Returns:
            This operand.

        Raises:
            InvalidValue: `how` is not one of the values above.
            DeviceFault: a kernel failed.
        """
        if how not in ("materialize", "complete"):
            raise InvalidValue(f"how must be 'materialize' or 'complete', not {how!r}")
        forms = self._read()
        if how == "materialize" and forms.device != "cpu":
            perform("wait", _wait_for_device, forms)
        return self

    def __apply_operator__(self, op: Any, *args: Any, **options: Any) -> Any:
        """Implement `op(A)`, `op(A, 1)`, `op(1, A)` and `op(A & B)`."""
        x, kind = args[0] if len(args) == 1 and not options else None, op.opclass
        if isinstance(x, Expression) and x._operation is None and kind in _of_two:
            return expressions.with_operator(x, op)
        return _call(op, kind, args, options)

    def __select_by__(self, what: str) -> Any:
        """Implement `select.value(A > 3)`, `select.row(A > 3)` and so on."""
        return expressions.select_by(self, what)

    def _other(self, x: Any, name: str) -> Any:
        """Return the storage of x, the second operand of an element-wise operation."""
        if isinstance(x, Operand) and (x.ndim > 0) == (self.ndim > 0):
            return x._read()
        if self.ndim == 0 and is_scalar(x):
            return as_scalar(x, self)
        raise TypeError(f"{name} needs another Matrix or Vector, not {_kind(x)}")

    def _same_kind(self, x: Any) -> Any:
        if isinstance(x, Operand) and x.ndim == self.ndim:
            return x._read()
        if self.ndim == 0 and (is_scalar(x) or x is None):
            return as_scalar(x, self)
        raise TypeError(f"a {_kind(self)} can be compared with another one, not with {_kind(x)}")

    def __add__(self, other: Any) -> Joined:
        return _union(self, other, monoid.plus)

    def __radd__(self, other: Any) -> Joined:
        return _union(other, self, monoid.plus)

    def __sub__(self, other: Any) -> Joined:
        return _difference(self, other)

    def __rsub__(self, other: Any) -> Joined:
        return _difference(other, self)

    def __mul__(self, other: Any) -> Joined:
        return _both(self, other, binary.times)

    def __rmul__(self, other: Any) -> Joined:
        return _both(other, self, binary.times)

    def __truediv__(self, other: Any) -> Joined:
        return _both(self, other, binary.truediv)

    def __rtruediv__(self, other: Any) -> Joined:
        return _both(other, self, binary.truediv)

    def __floordiv__(self, other: Any) -> Joined:
        return _both(self, other, binary.floordiv)

    def __rfloordiv__(self, other: Any) -> Joined:
        return _both(other, self, binary.floordiv)

    def __mod__(self, other: Any) -> Joined:
        return _both(self, other, binary.mod)

    def __rmod__(self, other: Any) -> Joined:
        return _both(other, self, binary.mod)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __pow__(self, other: Any) -> Joined:
        return _both(self, other, binary.pow)

    def __rpow__(self, other: Any) -> Joined:
        return _both(other, self, binary.pow)

    def __lt__(self, other: Any) -> Joined:
        return _both(self, other, binary.lt)

    def __le__(self, other: Any) -> Joined:
        return _both(self, other, binary.le)

    def __gt__(self, other: Any) -> Joined:
        return _both(self, other, binary.gt)

    def __ge__(self, other: Any) -> Joined:
        return _both(self, other, binary.ge)

    def __eq__(self, other: Any) -> Any:
        return _compare(self, other, binary.eq)

    def __ne__(self, other: Any) -> Any:
        return _compare(self, other, binary.ne)

    __hash__ = object.__hash__

    def __xor__(self, other: Any) -> Joined:
        _refuse_unless_bool("^", self, other)
        return _union(self, other, monoid.lxor)

    def __rxor__(self, other: Any) -> Joined:
        return self ^ other

    def __neg__(self) -> Result:
        return self.apply(unary.ainv)

    def __pos__(self) -> Result:
        return self.apply(unary.identity)

    def __abs__(self) -> Result:
        return self.apply(unary.abs)

    def __invert__(self) -> Result:
        if self.dtype is not BOOL:
            raise TypeError(
                f"~ is logical and needs BOOL, but the dtype is {self.dtype}; "
                "for bits there is unary.bnot"
            )
        return self.apply(unary.lnot)

    def __and__(self, other: Any) -> Joined:
        return _infix("&", self, other)

    def __rand__(self, other: Any) -> Joined:
        return _infix("&", other, self)

    def __or__(self, other: Any) -> Joined:
        return _infix("|", self, other)

    def __ror__(self, other: Any) -> Joined:
        return _infix("|", other, self)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Arithmetic) and self.ndim and other.ndim:
            a, b = self._store or operand_forms(self), other._store or operand_forms(other)
            return expressions.infix("@", a, b)
        return _infix("@", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _infix("@", other, self)


class Collection(Arithmetic[Result, Joined]):
    """The base class of Matrix and Vector; they cannot be used as truth values, lists or arrays."""

    __slots__ = ()

    def _output_mask(self, input_mask: Any) -> Mask:
        """Convert a mask on A to the corresponding mask on A[I, J]."""
        return expressions.output_mask(self, input_mask)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"a {_kind(self)} is neither true nor false: use .nvals, .isequal(other) or .reduce"
        )

    def __len__(self) -> NoReturn:
        raise TypeError(f"a {_kind(self)} has no length: use .shape or .nvals")

    def __iter__(self) -> NoReturn:
        raise TypeError(
            f"a {_kind(self)} is not iterable: read its entries by .to_coo() or "
            f"{'.to_dict()' if self.ndim == 1 else '.to_dicts()'}"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            f"a {_kind(self)} is not an array, because an absent entry is not a zero: "
            "write .to_dense(fill_value) or .to_coo()"
        )


def as_scalar(x: Any, beside: Operand) -> ScalarStore:
    """Return the storage of a Scalar with the value x, or of an empty Scalar if x is None.

    `beside` is the other operand. The Scalar is on its device. If x is None or a Python number, the
    Scalar also has the dtype of `beside`, with two exceptions: a float becomes FP64 if `beside` is
    BOOL or integer, and an int becomes INT64 if `beside` is BOOL.
    """
    if x is None:
        return ScalarStore(beside.device, beside.dtype)
    dtype = dtype_of(x, beside.dtype)
    return ScalarStore(beside.device, dtype, fit(x, dtype))


def _count(forms: Any) -> int:
    return forms.nvals


def _wait_for_device(forms: Any) -> None:
    streams(forms.device).wait()


def _union(a: Any, b: Any, op: Any) -> Any:
    if _is_bound(a, b):
        return _bind(a, b, op)
    return expressions.ewise_add(_store(a, b), _store(b, a), op)


def _difference(a: Any, b: Any) -> Any:
    if _is_bound(a, b):
        return _bind(a, b, binary.minus)
    return expressions.ewise_union(_store(a, b), _store(b, a), binary.minus, False, False)


def _both(a: Any, b: Any, op: Any) -> Any:
    if _is_bound(a, b):
        return _bind(a, b, op)
    return expressions.ewise_mult(_store(a, b), _store(b, a), op)


def _compare(a: Any, b: Any, op: Any) -> Any:
    """Return an expression that compares two operands entrywise, or a bool for two scalars."""
    if a.ndim == 0 and (is_scalar(b) or b is None or (isinstance(b, Operand) and b.ndim == 0)):
        return a.isequal(b) == (op is binary.eq)
    return _both(a, b, op)


def _is_bound(a: Any, b: Any) -> bool:
    """Return whether exactly one of the two operands is a Matrix or Vector."""
    a_ndim = a.ndim if isinstance(a, Operand) else 0
    b_ndim = b.ndim if isinstance(b, Operand) else 0
    return (a_ndim > 0) != (b_ndim > 0)


def _bind(a: Any, b: Any, op: Any) -> Any:
    if isinstance(a, Operand) and a.ndim:
        return expressions.apply(a._read(), op, None, _scalar_side(b))
    return expressions.apply(b._read(), op, _scalar_side(a), None)


def _scalar_side(x: Any) -> Any:
    if is_scalar(x) or isinstance(x, Operand):
        return x
    raise TypeError(f"the other operand must be a Matrix, Vector or scalar, not {_kind(x)}")


def _store(x: Any, beside: Any) -> Any:
    return x._read() if isinstance(x, Operand) else as_scalar(_scalar_side(x), beside)


def _refuse_unless_bool(symbol: str, a: Any, b: Any) -> None:
    for x in (a, b):
        dtype = x.dtype if isinstance(x, Operand) else BOOL if isinstance(x, bool) else type(x)
        if dtype is not BOOL:
            raise TypeError(f"{symbol} is logical and needs BOOL, but the dtype is {dtype}")


def _infix(symbol: str, a: Any, b: Any) -> Any:
    if symbol != "@" and (isinstance(a, Mask) or isinstance(b, Mask)):
        return NotImplemented  # Python then tries the reflected operator of the Mask
    are_operands = isinstance(a, Operand) and isinstance(b, Operand)
    if are_operands and ((a.ndim and b.ndim) or (symbol != "@" and a.ndim == b.ndim)):
        left, right = a._store or operand_forms(a), b._store or operand_forms(b)
        return expressions.infix(symbol, left, right)
    if symbol != "@":
        if isinstance(a, Operand) and not a.ndim and is_scalar(b):
            return expressions.infix(symbol, operand_forms(a), as_scalar(b, a))
        if isinstance(b, Operand) and not b.ndim and is_scalar(a):
            return expressions.infix(symbol, as_scalar(a, b), operand_forms(b))
        if _is_bound(a, b) and all(is_scalar(x) or isinstance(x, Operand) for x in (a, b)):
            return expressions.infix_with_scalar(symbol, a, b)
    other = b if isinstance(a, Operand) and a.ndim else a
    raise TypeError(
        f"A {symbol} B needs a Matrix or Vector on either side, not {_kind(other)}; "
        "write op(A, scalar) to apply an operator with a scalar"
    )


_of_two = ("Semiring", "BinaryOp", "Monoid")
"""The kinds of operators that may be applied to `A & B`, `A | B` or `A @ B`."""


def _call(op: Any, kind: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the expression that a call of an operator, `op(*args, **options)`, stands for.

    `kind` is the name of the operator's class, such as "UnaryOp".
    """
    if kind == "Semiring":
        raise TypeError(f"{op!r} is called on a product, as in {op.name}(A @ B)")
    if kind in ("BinaryOp", "Monoid"):
        return _call_binary(op, args, options)
    if kind == "UnaryOp":
        if len(args) == 1 and not options:
            return args[0].apply(op)
        raise TypeError(f"{op!r} takes one operand, as in {op.name}(A)")
    a, thunk = args[0], options.pop("thunk", args[1] if len(args) == 2 else None)
    if len(args) > 2 or options or not isinstance(a, Arithmetic):
        raise TypeError(f"{op!r} is called as {op.name}(A) or {op.name}(A, thunk)")
    if kind == "SelectOp":
        return a.select(op, thunk)
    return expressions.apply_index(a._read(), op, thunk)


def _call_binary(op: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    if len(args) == 1 and is_waiting(args[0]):
        if set(options) == {"left_default", "right_default"} and args[0]._args[0] == "|":
            return expressions.union_with_operator(args[0], op, **_defaults(options))
        raise TypeError(
            f"write {op.name}(A | B, left_default=x, right_default=y): both defaults, and a union"
        )
    sides = [*args, *(options[name] for name in ("left", "right") if name in options)]
    if "left" in options and args:
        sides = [options["left"], args[0]]
    if len(sides) != 2 or set(options) - {"left", "right"}:
        raise TypeError(
            f"{op!r} is called as {op.name}(A & B), {op.name}(A | B), {op.name}(A, scalar) or "
            f"{op.name}(scalar, A)"
        )
    a, b = sides
    if _is_bound(a, b):
        return _bind(a, b, op)
    if isinstance(a, Operand) and a.ndim and isinstance(b, Operand):
        raise TypeError(
            f"{op.name}(A, B) could mean two things: write {op.name}(A & B) where both have an "
            f"entry, or {op.name}(A | B) where either has"
        )
    return expressions.ewise_mult(_store(a, b), _store(b, a), op)


def _defaults(options: dict[str, Any]) -> dict[str, Any]:
    return {"left": options["left_default"], "right": options["right_default"]}


def _kind(x: Any) -> str:
    if isinstance(x, Operand):
        return ("Scalar", "Vector", "Matrix")[x.ndim]
    return type(x).__name__
