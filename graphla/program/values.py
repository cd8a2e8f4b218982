"""Define the abstract values of the tracer: what a variable of the user's function may refer to.

A *term* is a vector expression of the intermediate representation. Like an expression of the
library, it refers to the entries that its operands have when the user's function builds it.
"""

from __future__ import annotations

from typing import Any

from graphla.program import ir
from graphla.program.records import Opaque, record
from semirings.dtypes import BOOL, FP64, INT64, DataType


@record
class Number:
    """A Python bool, int or float. The dtype of the scalar determines which of them."""

    scalar: ir.Scalar


@record
class Uncertain:
    """A Python number that is a float or an int, such as the result of `x.reduce().get(0)`.

    `scalar` is an FP64 scalar with the value. `is_float` is a BOOL scalar. If the number is an int,
    it is 0 if `is_zero` is True, and otherwise far below 2^53 in absolute value. If the meaning of
    a statement depends on the type of the number, the tracer executes the statement twice, in two
    blocks; see `Notation.settle`.
    """

    scalar: ir.Scalar
    is_float: ir.Scalar
    is_zero: bool


@record
class OptionalNumber:
    """A Python number, or None if `present` is false: the result of `x.get(i)`."""

    scalar: ir.Scalar
    present: ir.Scalar


@record
class Typed:
    """A number with any dtype: a Scalar of graphla, or a NumPy number.

    `presence` is a BOOL scalar that is false if the Scalar is empty. If the Scalar cannot be empty,
    `presence` is the Python value True.
    """

    scalar: ir.Scalar
    presence: Any
    dtype: DataType
    is_numpy: bool

    @property
    def present(self) -> ir.Scalar:
        """Whether there is a value."""
        return TRUE if self.presence is True else self.presence


@record
class VectorObject:
    """A Vector object, by its number in `State.objects`."""

    number: int


@record
class PendingVector:
    """A vector expression that has not been stored in a Vector object.

    `scalar` is the scalar operand as the user wrote it, if the term is op(x, scalar).
    """

    term: ir.VectorExpression
    dim: ir.Dim
    scalar: Any = None


@record
class Infix:
    """`A @ B`, `u & v` or `u | v`, before an operator is applied to it."""

    symbol: str
    left: Any  # PendingVector, Infix, View or ScalarOperand
    right: Any
    dim: ir.Dim | None  # None for u @ v


@record
class ScalarOperand:
    """The scalar operand of `u & scalar` or `u | scalar`."""

    value: Any


@record
class View:
    """A matrix argument or its transpose."""

    matrix: ir.MatrixArgument
    is_transposed: bool

    @property
    def dims(self) -> tuple[ir.Dim, ir.Dim]:
        """The numbers of rows and columns."""
        rows, columns = self.matrix.rows, self.matrix.columns
        return (columns, rows) if self.is_transposed else (rows, columns)


@record
class MaskView:
    """A mask of a vector. A statement that uses the mask reads the entries that the vector has when
    the statement runs."""

    parent: VectorObject | PendingVector
    structure: bool
    complement: bool


@record
class JoinedMask:
    """A combination of masks with `&` or `|`. Later changes to the vectors do not affect it."""

    mask: ir.Mask
    dim: ir.Dim


@record
class Target:
    """The left side of `<<`: `w`, `w(...)`, `w[i]` or `w(...)[i]`."""

    vector: VectorObject
    mask: Any  # MaskView, JoinedMask or None
    accum: Any
    replace: bool
    index: Any = None  # the value of the subscript; None for the whole vector


@record
class List:
    """A Python list that is used as a stack of vectors. `number` is its index in `list_names`."""

    number: int


@record
class Array:
    """A list or a 1-d array of numbers that the loop reads."""

    array: ir.ArrayArgument
    is_numpy: bool


@record
class Items:
    """A tuple of values."""

    values: tuple[Any, ...]


@record
class Range:
    """A `range` of numbers.

    `stop` is None if the range is infinite. `step` is a Python int if it is known before the
    program runs.
    """

    start: ir.Scalar
    stop: ir.Scalar | None
    step: ir.Scalar | int


@record
class Iterator:
    """An iterator of a `for`.

    `source` is what it iterates over. For an Array or a List, `position` is the index of the next
    item; if `step` is -1, the iterator goes backward. For a Range, `source.start` is the next item.
    For Items, `source` contains the remaining items. For a zip, `source` is Items of Iterators, and
    `position` is "zip".
    """

    source: Any
    position: Any = None
    step: int = 1


@record
class Static:
    """A Python object that is known before the program runs, such as an operator.

    `path` is the path at which a call finds the object (see `running.Path`), or None.
    """

    value: Opaque
    path: tuple[str, ...] | None = None


def _is_same_object(self: Static, other: object) -> bool:
    return type(other) is Static and self.value is other.value and self.path == other.path


# `==` compares identities, because comparing an array with another object would not give a bool.
Static.__eq__ = _is_same_object
Static.__hash__ = lambda self: id(self.value)


@record
class Maybe:
    """The value of a variable that may have no value yet.

    `bound` is the Python value True if the variable certainly has a value. Otherwise, `bound` is a
    BOOL scalar that is true if the variable has a value when the program runs. So the first round,
    before which the variable has no value, can share its blocks with later rounds.
    """

    value: Any
    bound: Any


@record
class Method:
    """A bound method of a value."""

    value: Any
    name: str


NONE = Static(None)

SCALARS = (ir.Constant, ir.Size, ir.Var, ir.Call, ir.Element)

TRUE = ir.Constant(True, BOOL)
FALSE = ir.Constant(False, BOOL)
ZERO = ir.Constant(0, INT64)
ONE = ir.Constant(1, INT64)

KINDS = {bool: BOOL, int: INT64, float: FP64}
"""The dtype of each class of Python numbers."""

KINDS_OF: dict[DataType, Any] = {dtype: kind for kind, dtype in KINDS.items()}
"""The class of Python numbers for each dtype of scalars."""

LEAST, MOST = -(1 << 63), (1 << 63) - 1
"""The range of INT64."""


def constant(value: Any) -> ir.Constant:
    """Return a Python number as a scalar."""
    if type(value) is int and not LEAST <= value <= MOST:
        raise OverflowError(f"the integer {value} does not fit INT64")
    return ir.Constant(value, KINDS[type(value)])


def scalar_kind(dtype: DataType) -> DataType:
    """Return the dtype of the Python number to which an element of this dtype is converted."""
    return BOOL if dtype is BOOL else FP64 if dtype.is_float else INT64


def as_uncertain(value: Any, is_zero: bool) -> Any:
    """Return a float as an uncertain number. Return other values unchanged."""
    if isinstance(value, Number) and value.scalar.dtype is FP64:
        return Uncertain(value.scalar, TRUE, is_zero)
    if isinstance(value, Uncertain):
        return Uncertain(value.scalar, value.is_float, is_zero and value.is_zero)
    return value
