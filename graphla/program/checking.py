"""Check that a program obeys the rules of the intermediate representation.

Only the tests run these checks. The tracer's programs obey the rules by construction.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from graphla.program import ir
from graphla.program.records import FIELDS, parts
from semirings.dtypes import BOOL, FP64, INT64, DataType
from semirings.exceptions import Panic
from semirings.operators import TypedBinaryOp

SCALARS = (BOOL, INT64, FP64)
"""The dtypes of scalars."""

ENTRYWISE = (
    ir.Cast,
    ir.Apply,
    ir.ApplyIndex,
    ir.ApplyLeft,
    ir.ApplyRight,
    ir.Union,
    ir.UnionDefaults,
    ir.Intersection,
    ir.Select,
    ir.Restrict,
)
"""The classes of expressions that have an entry-wise expression `x` as operand."""

_NUMBERS = ((INT64, INT64), (FP64, FP64))
_SAME = (*_NUMBERS, (BOOL, BOOL))
_EACH = ((BOOL,), (INT64,), (FP64,))


def _arguments() -> dict[str, tuple[tuple[tuple[DataType, ...], DataType], ...]]:
    """For each scalar function, return its allowed argument dtypes and the dtype of the result."""
    found: dict[str, tuple[Any, ...]] = {}
    for name in ("add", "sub", "mul", "floordiv", "mod", "pow", "min", "max"):
        found[name] = tuple((pair, pair[0]) for pair in _NUMBERS)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        found[name] = tuple((pair, BOOL) for pair in _SAME)
    for name in ("and", "or", "xor"):
        found[name] = tuple(((dtype, dtype), dtype) for dtype in (BOOL, INT64))
    for name in ("lshift", "rshift"):
        found[name] = (((INT64, INT64), INT64),)
    for name in ("neg", "abs"):
        found[name] = tuple(((dtype,), dtype) for dtype in (INT64, FP64))
    for name, dtype in (("int", INT64), ("float", FP64), ("bool", BOOL)):
        found[name] = tuple((each, dtype) for each in _EACH)
    found["truediv"] = (((FP64, FP64), FP64),)
    found["invert"] = (((INT64,), INT64),)
    found["not"] = (((BOOL,), BOOL),)
    found["round"] = (((FP64,), INT64),)
    found["where"] = tuple(((BOOL, dtype, dtype), dtype) for dtype in SCALARS)
    found["math.ldexp"] = (((FP64, INT64), FP64),)
    for name in ir.SCALAR_FUNCTIONS.keys() - found.keys():
        if name in ir.OF_INTS:
            found[name] = (((INT64,) * ir.OF_INTS[name], INT64),)
        elif name.startswith("math."):
            result = BOOL if name.startswith("math.is") else FP64
            result = INT64 if name in ("math.floor", "math.ceil") else result
            found[name] = (((FP64,) * (1 + (name in ir.OF_TWO_FLOATS)), result),)
    return found


SIGNATURES = _arguments()
"""For each scalar function, the allowed pairs (dtypes of the arguments, dtype of the result)."""


def scalar_dtype(dtype: DataType) -> DataType:
    """Return the dtype of the scalar to which an element of this dtype is converted."""
    return BOOL if dtype is BOOL else FP64 if dtype.is_float else INT64


def check(program: ir.Program) -> None:
    """Raise Panic if the program breaks a rule of the intermediate representation."""
    _Checker(program).check()


class _Checker:
    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.place = "the header"
        self.slots = {slot.index: slot for slot in program.slots}
        self.variables = {each.name: each for each in (*program.variables, *program.scalars)}
        self.matrices = dict(enumerate(program.matrices))
        self.arrays = dict(enumerate(program.arrays))
        self.stacks = dict(enumerate(program.stacks))

    def fail(self, text: str) -> NoReturn:
        raise Panic(f"{self.program.name}, {self.place}: {text}")

    def require(self, condition: bool, text: str) -> None:
        if not condition:
            self.fail(text)

    def check(self) -> None:
        self.check_header()
        for number, block in enumerate(self.program.blocks):
            for instruction in block.instructions:
                self.place = f"block {number}, {instruction!r}"
                self.check_instruction(instruction)
            self.place = f"block {number}, {block.end!r}"
            self.check_end(block.end)
        for number, leaving in enumerate(self.program.exits):
            self.place = f"exit {number}"
            for name, value in leaving.names.items():
                if isinstance(value, ir.Slot):
                    self.check_slot(value)
                elif isinstance(value, ir.Var):
                    self.check_var(value)
                elif isinstance(value, ir.Stack):
                    self.check_stack(value)
                else:
                    self.require(isinstance(value, ir.Same), f"{name} is {value!r}")
        self.check_assignments()

    def check_header(self) -> None:
        program = self.program
        self.require(len(self.slots) == len(program.slots), "two slots have one index")
        names = [each.name for each in program.variables]
        self.require(len(set(names)) == len(names), "two variables have one name")
        self.require(len(set(program.inputs)) == len(program.inputs), "an input occurs twice")
        for slot in (*program.slots, *program.inputs):
            self.check_slot(slot)
            self.check_dim(slot.dim)
        for variable in (*program.variables, *program.scalars):
            self.check_var(variable)
            self.require(variable.dtype in SCALARS, f"{variable!r} has no dtype of scalars")
        for kind in (program.matrices, program.arrays, program.stacks):
            for number, each in enumerate(kind):
                self.require(each.index == number, f"{each!r} has number {number}")
        for matrix in program.matrices:
            self.check_dim(matrix.rows)
            self.check_dim(matrix.columns)
        for each in (*program.arrays, *program.stacks):
            self.check_dim(each.dim)
        self.require(bool(program.blocks), "there is no block")

    # --- names ----------------------------------------------------------------------------------

    def check_dim(self, dim: ir.Dim) -> None:
        self.require(0 <= dim.index < self.program.dims, f"there is no {dim!r}")

    def check_slot(self, slot: ir.Slot) -> None:
        self.require(self.slots.get(slot.index) == slot, f"{slot!r} is unknown")

    def check_var(self, variable: ir.Var, dtype: DataType | None = None) -> None:
        known = self.variables.get(variable.name)
        self.require(known == variable, f"{variable!r} is unknown")
        self.require(dtype is None or variable.dtype is dtype, f"{variable!r} must be {dtype}")

    def check_stack(self, stack: ir.Stack, slot: ir.Slot | None = None) -> None:
        self.require(self.stacks.get(stack.index) == stack, f"{stack!r} is unknown")
        if slot is not None:
            self.check_slot(slot)
            self.check_alike(stack, slot)

    def check_matrix(self, matrix: ir.MatrixArgument) -> None:
        self.require(self.matrices.get(matrix.index) == matrix, f"{matrix!r} is unknown")

    def check_alike(self, one: Any, other: Any) -> None:
        alike = one.dtype is other.dtype and one.dim == other.dim
        self.require(alike, f"{one!r} and {other!r} differ in dtype or dim")

    def check_same_dim(self, one: ir.Dim, other: ir.Dim) -> None:
        self.require(one == other, f"{one!r} and {other!r} must be the same")

    # --- expressions ----------------------------------------------------------------------------

    def check_scalar(self, x: ir.Scalar, dtype: DataType | None = None) -> None:
        self.require(dtype is None or x.dtype is dtype, f"{x!r} must be {dtype}")
        self.require(x.dtype in SCALARS, f"{x!r} has no dtype of scalars")
        if isinstance(x, ir.Constant):
            kind = {BOOL: bool, INT64: int, FP64: float}[x.dtype]
            self.require(type(x.value) is kind, f"{x!r} is not of its dtype")
        elif isinstance(x, ir.Size):
            self.check_dim(x.dim)
            self.require(x.dtype is INT64, f"{x!r} must be INT64")
        elif isinstance(x, ir.Var):
            self.check_var(x)
        elif isinstance(x, ir.Element):
            self.require(self.arrays.get(x.array.index) == x.array, f"{x.array!r} is unknown")
            self.check_scalar(x.index, INT64)
            self.require(x.dtype is scalar_dtype(x.array.dtype), f"{x!r} has a wrong dtype")
        else:
            self.require(isinstance(x, ir.Call), f"{x!r} is not a scalar")
            for argument in x.arguments:
                self.check_scalar(argument)
            given = tuple(argument.dtype for argument in x.arguments), x.dtype
            allowed = SIGNATURES.get(x.function, ())
            self.require(given in allowed, f"{x.function} does not take {given}")

    def check_mask(self, mask: ir.Mask | None, dim: ir.Dim) -> None:
        if isinstance(mask, ir.MaskOf):
            self.check_slot(mask.slot)
            self.check_same_dim(mask.slot.dim, dim)
        elif isinstance(mask, ir.NotMask):
            self.check_mask(mask.mask, dim)
        elif mask is not None:
            self.require(isinstance(mask, (ir.AndMask, ir.OrMask)), f"{mask!r} is not a mask")
            self.check_mask(mask.left, dim)
            self.check_mask(mask.right, dim)

    def check_root(self, x: ir.VectorExpression, dim: ir.Dim) -> None:
        """Check the source of a `Write`, which may be a product."""
        if not isinstance(x, (ir.Product, ir.MatrixReduction)):
            self.check_vector(x, dim)
            return
        self.check_matrix(x.matrix)
        rows, columns = x.matrix.rows, x.matrix.columns
        if x.is_transposed:
            rows, columns = columns, rows
        if isinstance(x, ir.MatrixReduction):
            self.check_same_dim(rows, dim)
            self.require(x.dtype is x.monoid.return_type, "the dtype is not the monoid's")
            return
        self.check_slot(x.u)
        self.require(x.side in ("vxm", "mxv"), f"the side is {x.side!r}")
        into, out = (rows, columns) if x.side == "vxm" else (columns, rows)
        self.check_same_dim(x.u.dim, into)
        self.check_same_dim(out, dim)
        self.require(x.dtype is x.semiring.return_type, "the dtype is not the semiring's")

    def check_vector(self, x: ir.VectorExpression, dim: ir.Dim | None) -> None:
        """Check an entry-wise expression. If `dim` is None, its size is not checked."""
        if isinstance(x, ir.Entry):
            self.check_slot(x.slot)
            self.require(dim in (None, x.slot.dim), f"{x.slot!r} must have {dim!r}")
        elif isinstance(x, ir.Gather):
            self.check_slot(x.slot)
            self.check_slot(x.indices)
            self.require(dim in (None, x.indices.dim), f"{x.indices!r} must have {dim!r}")
            self.require(x.indices.dtype.is_integer, f"{x.indices!r} must hold integers")
        elif isinstance(x, ir.Full):
            self.check_scalar(x.value)
        elif not isinstance(x, ir.Empty):
            self.check_operation(x, dim)

    def check_operation(self, x: Any, dim: ir.Dim | None) -> None:
        self.require(type(x) in ENTRYWISE, f"{type(x).__name__} is not entry-wise")
        for part in (x.x, getattr(x, "y", None)):
            if part is not None:
                self.check_vector(part, dim)
        for name in ("thunk", "scalar", "left", "right"):
            if hasattr(x, name):
                self.check_scalar(getattr(x, name))
        if isinstance(x, (ir.Select, ir.Restrict)):
            self.require(x.dtype is x.x.dtype, f"{x!r} must have the dtype of its operand")
            if isinstance(x, ir.Restrict):
                self.check_mask(x.mask, self.dim_of(x.x) if dim is None else dim)
            else:
                self.require(x.op.return_type is BOOL, f"{x.op!r} must return BOOL")
        elif not isinstance(x, ir.Cast):
            self.require(x.dtype is x.op.return_type, f"{x!r} must have the operator's dtype")

    def dim_of(self, x: ir.VectorExpression) -> ir.Dim:
        dim = find_dim(x)
        return self.fail(f"{x!r} reads no vector, so it has no size") if dim is None else dim

    # --- instructions ---------------------------------------------------------------------------

    def check_instruction(self, x: ir.Instruction) -> None:
        getattr(self, f"check_{type(x).__name__}")(x)

    def check_Let(self, x: ir.Let) -> None:
        self.require(len(set(x.variables)) == len(x.variables), "a variable occurs twice")
        for variable, value in zip(x.variables, x.values, strict=True):
            self.check_var(variable)
            self.check_scalar(value, variable.dtype)

    def check_Count(self, x: ir.Count) -> None:
        self.check_slot(x.slot)
        self.check_var(x.variable, INT64)

    def check_Reduce(self, x: ir.Reduce) -> None:
        self.check_vector(x.source, self.dim_of(x.source))
        self.check_var(x.variable, scalar_dtype(x.monoid.return_type))
        if x.is_present is not None:
            self.check_var(x.is_present, BOOL)
            self.require(x.is_present != x.variable, "both results are one variable")

    def check_ReadElement(self, x: ir.ReadElement) -> None:
        self.check_slot(x.slot)
        self.check_var(x.variable, scalar_dtype(x.slot.dtype))
        self.check_var(x.is_present, BOOL)
        self.require(x.is_present != x.variable, "both results are one variable")
        self.check_scalar(x.index, INT64)

    def check_IsEqual(self, x: ir.IsEqual) -> None:
        self.check_slot(x.left)
        self.check_slot(x.right)
        self.check_alike(x.left, x.right)
        self.check_var(x.variable, BOOL)

    def check_output(self, x: ir.Write | ir.Scatter) -> None:
        self.check_slot(x.target)
        self.check_mask(x.mask, x.target.dim)
        self.require(x.mask is not None or not x.replace, "replace needs a mask")
        self.check_accum(x.accum)

    def check_accum(self, accum: Any) -> None:
        is_binary = accum is None or isinstance(accum, TypedBinaryOp)
        self.require(is_binary, f"{accum!r} is not a typed binary operator")

    def check_Write(self, x: ir.Write) -> None:
        self.check_output(x)
        self.check_root(x.source, x.target.dim)

    def check_Scatter(self, x: ir.Scatter) -> None:
        self.check_output(x)
        self.check_slot(x.indices)
        self.require(x.indices.dtype.is_integer, f"{x.indices!r} must hold integers")
        if isinstance(x.source, ir.Slot):
            self.check_slot(x.source)
            self.check_same_dim(x.source.dim, x.indices.dim)
        else:
            self.check_scalar(x.source)

    def check_SetElement(self, x: ir.SetElement) -> None:
        self.check_slot(x.target)
        self.check_scalar(x.index, INT64)
        self.check_scalar(x.value)
        self.check_accum(x.accum)

    def check_DeleteElement(self, x: ir.DeleteElement) -> None:
        self.check_slot(x.target)
        self.check_scalar(x.index, INT64)

    def check_Clear(self, x: ir.Clear) -> None:
        self.check_slot(x.slot)

    def check_Move(self, x: ir.Move) -> None:
        is_permutation = set(x.targets) == set(x.sources) and len(set(x.targets)) == len(x.targets)
        self.require(is_permutation and len(x.sources) == len(x.targets), "not a permutation")
        for target, source in zip(x.targets, x.sources, strict=True):
            self.check_slot(target)
            self.check_alike(target, source)

    def check_Append(self, x: ir.Append) -> None:
        self.check_stack(x.stack, x.slot)

    def check_Pop(self, x: ir.Pop) -> None:
        self.check_stack(x.stack, x.slot)

    def check_Peek(self, x: ir.Peek) -> None:
        self.check_stack(x.stack, x.slot)
        self.check_scalar(x.index, INT64)

    def check_Length(self, x: ir.Length) -> None:
        self.check_stack(x.stack)
        self.check_var(x.variable, INT64)

    def check_ClearStack(self, x: ir.ClearStack) -> None:
        self.check_stack(x.stack)

    def check_Fault(self, x: ir.Fault) -> None:
        self.check_scalar(x.condition, BOOL)

    # --- control --------------------------------------------------------------------------------

    def check_end(self, end: ir.End) -> None:
        if isinstance(end, ir.Exit):
            exists = 0 <= end.number < len(self.program.exits)
            self.require(exists, f"there is no exit {end.number}")
            return
        if isinstance(end, ir.Branch):
            self.check_scalar(end.condition, BOOL)
        for target in next_blocks(end):
            self.require(0 <= target < len(self.program.blocks), f"there is no block {target}")

    def check_assignments(self) -> None:
        """Check that each variable is assigned before it is read, on every path."""
        blocks = self.program.blocks
        entry: dict[int, frozenset[str]] = {}
        pending = [(0, frozenset(variable.name for variable in self.program.scalars))]
        while pending:
            number, assigned = pending.pop()
            before = entry.get(number)
            assigned = assigned if before is None else assigned & before
            if assigned == before:
                continue
            entry[number] = assigned
            after = assigned.union(*map(names_assigned, blocks[number].instructions))
            pending.extend((target, after) for target in next_blocks(blocks[number].end))
        for number, assigned in entry.items():
            block = blocks[number]
            for instruction in block.instructions:
                self.place = f"block {number}, {instruction!r}"
                self.require_assigned((instruction,), assigned)
                assigned |= names_assigned(instruction)
            self.place = f"block {number}, {block.end!r}"
            if isinstance(block.end, ir.Branch):
                self.require_assigned((block.end.condition,), assigned)
            elif isinstance(block.end, ir.Exit):
                names = self.program.exits[block.end.number].names.values()
                held = [each for each in names if isinstance(each, ir.Var)]
                self.require_assigned(held, assigned)

    def require_assigned(self, readers: Iterable[Any], assigned: frozenset[str]) -> None:
        for each in readers:
            for name in names_read(each):
                self.require(name in assigned, f"{name} may be read before it is assigned")


def find_dim(x: ir.VectorExpression) -> ir.Dim | None:
    """Return the dimension of an entry-wise expression, or None if the expression reads no slot."""
    if isinstance(x, ir.Entry):
        return x.slot.dim
    if isinstance(x, ir.Gather):
        return x.indices.dim
    for part in (getattr(x, "x", None), getattr(x, "y", None)):
        dim = None if part is None else find_dim(part)
        if dim is not None:
            return dim
    return None


def next_blocks(end: ir.End) -> tuple[int, ...]:
    """Return the indices of the blocks to which the terminator `end` of a block may lead."""
    if isinstance(end, ir.Jump):
        return (end.target,)
    return (end.then, end.otherwise) if isinstance(end, ir.Branch) else ()


def names_assigned(x: ir.Instruction) -> frozenset[str]:
    """Return the names of the variables that the instruction assigns."""
    held = x.variables if isinstance(x, ir.Let) else ()
    held = (*held, getattr(x, "variable", None), getattr(x, "is_present", None))
    return frozenset(variable.name for variable in held if variable is not None)


def names_read(x: Any) -> set[str]:
    """Return the names of the variables that a scalar expression or an instruction reads."""
    if isinstance(x, ir.Scalar):
        return {each.name for each in parts(x, ir.Var)}
    outputs = ("variables", "variable", "is_present")
    inputs = [getattr(x, name) for name in FIELDS[type(x)] if name not in outputs]
    return {each.name for each in parts(tuple(inputs), ir.Var)}
