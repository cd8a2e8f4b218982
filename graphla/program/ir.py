"""The intermediate representation of a compiled loop: vectors, scalars, instructions and jumps.

A `Program` is a list of basic blocks. A block is a list of instructions and an `End` that names the
next block. `tracing` makes a program from the steps of a loop, `interpreter` runs it with the
library's own operations, and `printing` shows it as text. The backends compile it.

A *slot* stores one vector. Two slots never store the same vector: if two of the user's variables
refer to one vector, the program has one slot for both. If the loop exchanges two variables, a
`Move` exchanges the contents of their slots. So no instruction needs to test whether two slots
store the same vector.

A scalar is a Python bool, int or float: its dtype is BOOL, INT64 or FP64. Scalars follow Python's
rules: integer division floors, `/` returns a float, and an int that exceeds the range of INT64
raises OverflowError. If a vector operation needs a scalar in another dtype (a thunk, a scalar
operand that the operator reads, a value that is written), `operations.values.fit` converts the
scalar. If the value does not fit, the fault is OverflowError.

A *fault* ends the program. It stands for the exception that the statement raises in Python, and its
kind is the name of this exception. A statement with a fault changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphla.program.records import record
from semirings.dtypes import DataType

# --- names ------------------------------------------------------------------------------------


@record
class Dim:
    """A dimension: a number of rows, columns or elements, which is an argument of the program."""

    index: int


@record
class Slot:
    """A place that stores one vector.

    No two slots of a program have the same `index`. `name` is the user's name for the vector.
    """

    index: int
    name: str
    dtype: DataType
    dim: Dim

    def __hash__(self) -> int:
        return self.index


@record
class Var:
    """A scalar variable. No two variables of a program have the same `name`."""

    name: str
    dtype: DataType


@record
class MatrixArgument:
    """A matrix that the program reads. No instruction changes it."""

    index: int
    name: str
    dtype: DataType
    rows: Dim
    columns: Dim
    is_iso: bool
    is_symmetric: bool


@record
class ArrayArgument:
    """A list or a 1-d array of numbers that the loop reads, passed as a 1-d NumPy array."""

    index: int
    name: str
    dtype: DataType
    dim: Dim


@record
class Stack:
    """A Python list of vectors of one dtype and size, to which the loop appends."""

    index: int
    name: str
    dtype: DataType
    dim: Dim


# --- scalar expressions -------------------------------------------------------------------------


@record
class Constant:
    """A Python number that is part of the program."""

    value: Any  # a Python bool, int or float
    dtype: DataType


@record
class Size:
    """The size of a dimension, as an INT64."""

    dim: Dim
    dtype: DataType


@record
class Call:
    """A scalar function of scalars.

    `function` is one of the keys of `SCALAR_FUNCTIONS`. The arguments have been converted to the
    dtypes that the function needs.
    """

    function: str
    arguments: tuple[Scalar, ...]
    dtype: DataType


@record
class Element:
    """Element `index` of an array argument, as a Python number. The index is in range."""

    array: ArrayArgument
    index: Scalar
    dtype: DataType


Scalar = Constant | Size | Var | Call | Element

SCALAR_FUNCTIONS: dict[str, str] = {
    "add": "x + y",
    "sub": "x - y",
    "mul": "x * y",
    "truediv": "x / y",  # of two floats; ZeroDivisionError if y is 0
    "floordiv": "x // y",  # ZeroDivisionError if y is 0
    "mod": "x % y",  # ZeroDivisionError if y is 0
    "pow": "x ** y",  # of two ints with y >= 0, or of two floats
    "neg": "-x",
    "abs": "abs(x)",
    "invert": "~x",
    "and": "x & y",
    "or": "x | y",
    "xor": "x ^ y",
    "lshift": "x << y",  # ValueError if y is negative
    "rshift": "x >> y",  # ValueError if y is negative
    "eq": "x == y",
    "ne": "x != y",
    "lt": "x < y",
    "le": "x <= y",
    "gt": "x > y",
    "ge": "x >= y",
    "not": "not x",
    "min": "min(x, y)",  # as in Python: y if y < x else x
    "max": "max(x, y)",  # as in Python: y if y > x else x
    "int": "int(x)",  # of a float: truncates; ValueError for NaN, OverflowError for infinity
    "float": "float(x)",
    "bool": "bool(x)",
    "round": "round(x)",  # of a float; rounds half to even, and returns an int
    "where": "x if c else y",  # arguments c, x, y
    # functions of module math on floats; a domain error raises ValueError
    "math.sqrt": "math.sqrt(x)",
    "math.exp": "math.exp(x)",
    "math.log": "math.log(x)",
    "math.log2": "math.log2(x)",
    "math.log10": "math.log10(x)",
    "math.sin": "math.sin(x)",
    "math.cos": "math.cos(x)",
    "math.tan": "math.tan(x)",
    "math.asin": "math.asin(x)",
    "math.acos": "math.acos(x)",
    "math.atan": "math.atan(x)",
    "math.atan2": "math.atan2(x, y)",
    "math.sinh": "math.sinh(x)",
    "math.cosh": "math.cosh(x)",
    "math.tanh": "math.tanh(x)",
    "math.hypot": "math.hypot(x, y)",
    "math.floor": "math.floor(x)",  # gives an int
    "math.ceil": "math.ceil(x)",  # gives an int
    "math.isnan": "math.isnan(x)",
    "math.isinf": "math.isinf(x)",
    "math.isfinite": "math.isfinite(x)",
    "math.fabs": "math.fabs(x)",
    "math.copysign": "math.copysign(x, y)",
    "math.log1p": "math.log1p(x)",
    "math.expm1": "math.expm1(x)",
    "math.cbrt": "math.cbrt(x)",
    "math.erf": "math.erf(x)",
    "math.erfc": "math.erfc(x)",
    "math.gamma": "math.gamma(x)",
    "math.lgamma": "math.lgamma(x)",
    "math.asinh": "math.asinh(x)",
    "math.acosh": "math.acosh(x)",
    "math.atanh": "math.atanh(x)",
    "math.fmod": "math.fmod(x, y)",
    "math.remainder": "math.remainder(x, y)",
    "math.nextafter": "math.nextafter(x, y)",
    "math.ldexp": "math.ldexp(x, y)",  # of a float and an int in [-3000, 3000]; may return infinity
    # functions of module math on ints
    "math.gcd": "math.gcd(x, y)",
    "math.isqrt": "math.isqrt(x)",
    "math.comb": "math.comb(x, y)",
    "math.perm": "math.perm(x, y)",
}

OF_TWO_FLOATS = {
    f"math.{name}" for name in ("atan2", "hypot", "copysign", "fmod", "remainder", "nextafter")
}
"""The functions of module math that take two floats."""

OF_INTS = {"math.gcd": 2, "math.isqrt": 1, "math.comb": 2, "math.perm": 2}
"""The functions of module math that return an int, with the number of ints that they take."""

# --- masks --------------------------------------------------------------------------------------


@record
class MaskOf:
    """The positions at which a vector has an entry. If `by_value` is True, the entry must be
    true."""

    slot: Slot
    by_value: bool


@record
class NotMask:
    """The positions that `mask` does not select."""

    mask: Mask


@record
class AndMask:
    """The positions that both masks select."""

    left: Mask
    right: Mask


@record
class OrMask:
    """The positions that at least one of the masks selects."""

    left: Mask
    right: Mask


Mask = MaskOf | NotMask | AndMask | OrMask

# --- vector expressions -------------------------------------------------------------------------
# Each expression has a `dtype`. All operands of an entry-wise expression have the same dim.


@record
class Entry:
    """The vector in a slot."""

    slot: Slot

    @property
    def dtype(self) -> DataType:
        """The dtype of the entries."""
        return self.slot.dtype


@record
class Cast:
    """The entries of `x`, cast as in a write to a vector of this dtype."""

    x: VectorExpression
    dtype: DataType


@record
class Full:
    """A vector with the same value at each position: what `w << 3` writes."""

    value: Scalar
    dtype: DataType


@record
class Empty:
    """A vector without entries: what `del w[:]` writes."""

    dtype: DataType


@record
class Apply:
    """op(x), for a typed unary operator."""

    op: Any
    x: VectorExpression
    dtype: DataType


@record
class ApplyIndex:
    """op(x(i), i, 0, thunk), for a typed index-unary operator."""

    op: Any
    x: VectorExpression
    thunk: Scalar
    dtype: DataType


@record
class ApplyLeft:
    """op(scalar, x), for a typed binary operator."""

    op: Any
    scalar: Scalar
    x: VectorExpression
    dtype: DataType


@record
class ApplyRight:
    """op(x, scalar), for a typed binary operator."""

    op: Any
    x: VectorExpression
    scalar: Scalar
    dtype: DataType


@record
class Union:
    """op(x, y) where both have an entry; elsewhere the entry of x or y, cast to `dtype`."""

    op: Any
    x: VectorExpression
    y: VectorExpression
    dtype: DataType


@record
class UnionDefaults:
    """op(x, y) where x or y has an entry; `left` and `right` replace a missing entry."""

    op: Any
    x: VectorExpression
    y: VectorExpression
    left: Scalar
    right: Scalar
    dtype: DataType


@record
class Intersection:
    """op(x, y) where both have an entry."""

    op: Any
    x: VectorExpression
    y: VectorExpression
    dtype: DataType


@record
class Select:
    """The entries of x for which op(x(i), i, 0, thunk) is true."""

    op: Any
    x: VectorExpression
    thunk: Scalar
    dtype: DataType


@record
class Restrict:
    """The entries of x at the positions that the mask selects."""

    x: VectorExpression
    mask: Mask
    dtype: DataType


@record
class Gather:
    """p[q]: entry i is p(q(i)), and is missing where p has no entry at q(i).

    A negative index counts from the end. If the slot `indices` is not full, the fault is
    InvalidValue. If an index is out of range, the fault is IndexOutOfBound. `Scatter` has the same
    faults.
    """

    slot: Slot
    indices: Slot

    @property
    def dtype(self) -> DataType:
        """The dtype of the entries."""
        return self.slot.dtype


@record
class Product:
    """A matrix-vector product.

    If `side` is "vxm", T = u ⊕.⊗ M; if it is "mxv", T = M ⊕.⊗ u. M is the matrix, or its transpose
    if `is_transposed` is True. A product occurs only as the source of a `Write`.
    """

    u: Slot
    matrix: MatrixArgument
    is_transposed: bool
    semiring: Any
    side: str
    dtype: DataType


@record
class MatrixReduction:
    """T(i) = ⊕ over j of M(i, j).

    M is the matrix, or its transpose if `is_transposed` is True. A matrix reduction occurs only as
    the source of a `Write`.
    """

    matrix: MatrixArgument
    is_transposed: bool
    monoid: Any
    dtype: DataType


VectorExpression = (
    Entry
    | Cast
    | Full
    | Empty
    | Apply
    | ApplyIndex
    | ApplyLeft
    | ApplyRight
    | Union
    | UnionDefaults
    | Intersection
    | Select
    | Restrict
    | Gather
    | Product
    | MatrixReduction
)

# --- instructions -------------------------------------------------------------------------------
# `line` is the number of the user's source line, for comments and messages. Instructions that
# differ only in `line` are equal.


@record
class Let:
    """Assign scalars. All expressions are evaluated before the first assignment."""

    variables: tuple[Var, ...]
    values: tuple[Scalar, ...]
    line: int = field(default=0, compare=False)


@record
class Count:
    """variable = number of entries of the vector in the slot."""

    variable: Var
    slot: Slot
    line: int = field(default=0, compare=False)


@record
class Reduce:
    """Reduce the entries of an expression with a typed monoid.

    `variable` receives the result as a Python number. Without entries, the result is the monoid's
    identity, or 0 if the monoid has none. If `is_present` is not None, this variable receives
    whether there is an entry.
    """

    variable: Var
    is_present: Var | None
    monoid: Any
    source: VectorExpression
    line: int = field(default=0, compare=False)


@record
class ReadElement:
    """variable = slot[index] as a Python number, or 0 if there is no such entry.

    `is_present` receives whether the entry exists. A negative index counts from the end. If the
    index is out of range, the fault is IndexOutOfBound. `SetElement` and `DeleteElement` follow the
    same rules for indices.
    """

    variable: Var
    is_present: Var
    slot: Slot
    index: Scalar
    line: int = field(default=0, compare=False)


@record
class IsEqual:
    """variable = whether two vectors of the same dim and dtype have the same entries."""

    variable: Var
    left: Slot
    right: Slot
    line: int = field(default=0, compare=False)


@record
class Write:
    """target⟨mask, replace⟩ = accum(target, source), following the GraphBLAS write rule.

    `source` has the target's dim. `accum` is a typed binary operator or None. If the source or the
    mask reads the target, it reads the entries from before the statement.
    """

    target: Slot
    mask: Mask | None
    accum: Any
    replace: bool
    source: VectorExpression
    line: int = field(default=0, compare=False)


@record
class Scatter:
    """target⟨mask, replace⟩[indices] = accum(..., source), with a full vector of indices.

    `source` is a slot with the dim of `indices`, or a scalar. If `accum` is the operator of a
    monoid on the target's dtype, values with the same index are cast to this dtype and combined
    with `accum`. Otherwise, if two indices are equal, the fault is DuplicateEntry. If `accum` is
    None, the source replaces the target at the indices: where the source has no entry, the entry of
    the target is deleted.
    """

    target: Slot
    indices: Slot
    mask: Mask | None
    accum: Any
    replace: bool
    source: Slot | Scalar
    line: int = field(default=0, compare=False)


@record
class SetElement:
    """target[index] = value, or target(accum)[index] << value if `accum` is not None."""

    target: Slot
    index: Scalar
    value: Scalar
    accum: Any
    line: int = field(default=0, compare=False)


@record
class DeleteElement:
    """del target[index]."""

    target: Slot
    index: Scalar
    line: int = field(default=0, compare=False)


@record
class Clear:
    """Delete all entries of the slot: `u.clear()`, or `Vector(...)` in a slot that nothing uses."""

    slot: Slot
    line: int = field(default=0, compare=False)


@record
class Move:
    """Exchange the contents of slots: targets[k] receives the previous contents of sources[k].

    `sources` is a permutation of `targets`. The cost does not depend on the number of entries,
    because only references move.
    """

    targets: tuple[Slot, ...]
    sources: tuple[Slot, ...]
    line: int = field(default=0, compare=False)


@record
class Append:
    """Append a copy of the vector in the slot to the stack."""

    stack: Stack
    slot: Slot
    line: int = field(default=0, compare=False)


@record
class Pop:
    """Remove the last vector of the stack and store it in the slot.

    If the stack is empty, the fault is IndexError.
    """

    stack: Stack
    slot: Slot
    line: int = field(default=0, compare=False)


@record
class Peek:
    """Store a copy of item `index` of the stack in the slot.

    As in a Python list, a negative index counts from the end.
    """

    stack: Stack
    index: Scalar
    slot: Slot
    line: int = field(default=0, compare=False)


@record
class Length:
    """variable = number of vectors in the stack."""

    variable: Var
    stack: Stack
    line: int = field(default=0, compare=False)


@record
class ClearStack:
    """Remove all vectors of the stack: `frontiers = []` or `frontiers.clear()`."""

    stack: Stack
    line: int = field(default=0, compare=False)


@record
class Fault:
    """If `condition` is true, end the program with this fault.

    `kind` is the name of an exception, such as "TypeError", and `text` is its message. After a
    fault of the kind `REPEAT`, Python runs the loop again from its start.
    """

    condition: Scalar
    kind: str
    text: str
    line: int = field(default=0, compare=False)


REPEAT = "NotCompilable"
"""The kind of a fault after which Python runs the loop again from its start."""

Instruction = (
    Let
    | Count
    | Reduce
    | ReadElement
    | IsEqual
    | Write
    | Scatter
    | SetElement
    | DeleteElement
    | Clear
    | Move
    | Append
    | Pop
    | Peek
    | Length
    | ClearStack
    | Fault
)

# --- control ------------------------------------------------------------------------------------


@record
class Jump:
    """Continue with the block `target`."""

    target: int  # index of a block


@record
class Branch:
    """Continue with the block `then` if the condition is true, else with `otherwise`."""

    condition: Scalar  # BOOL
    then: int
    otherwise: int


@record
class Exit:
    """End the program. `number` is an index of `Program.exits`."""

    number: int


End = Jump | Branch | Exit


@dataclass(slots=True)
class Block:
    """Instructions that run in order, and the `End` that names the next block."""

    instructions: list[Instruction]
    end: End


@record
class LoopExit:
    """An exit: where Python continues, and what the user's variables refer to.

    `place` is an index of `Loop.places`: the end of the loop, or a `break`, `return` or `raise` in
    it. `names` maps each of the user's variables to a Slot, a Var or a Stack, or to `Same` if the
    variable refers to an object that is known before the program runs.
    """

    place: int
    names: dict[str, Any]


@record
class Same:
    """The value of a variable that is known before the program runs, such as an operator.

    `path` is where each call finds the value (see `running.Path`), or None if it is always `value`.
    """

    value: Any
    path: tuple[str, ...] | None = None


@dataclass(slots=True)
class Program:
    """A compiled loop. The program starts with block 0.

    `inputs` are the slots that store vectors when the program starts, in the order of the vector
    arguments; all other slots are empty. `stacks` start with the vectors of the Python lists.
    `scalars` are the scalar arguments.
    """

    name: str
    dims: int
    matrices: tuple[MatrixArgument, ...]
    arrays: tuple[ArrayArgument, ...]
    scalars: tuple[Var, ...]
    inputs: tuple[Slot, ...]
    stacks: tuple[Stack, ...]
    slots: tuple[Slot, ...]
    variables: tuple[Var, ...]
    blocks: list[Block]
    exits: list[LoopExit]
    source: tuple[str, ...] = ()  # the user's source lines; line numbers begin at 1
    key: str = ""  # identifies the program in the cache on disk; "" if it is not there


class LacksBlocks(Exception):
    """Raised if the blocks of a program are read, but only its `ProgramHeader` is available."""


class ProgramHeader(Program):
    """A program from the cache on disk, without its blocks and its source.

    An engine that has the compiled form of the program does not need the blocks and the source.
    """

    __slots__ = ()

    @property
    def blocks(self) -> Any:
        """Raise LacksBlocks."""
        raise LacksBlocks

    @blocks.setter
    def blocks(self, _: Any) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        pass
