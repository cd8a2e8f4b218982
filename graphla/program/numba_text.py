"""Print a program as a Python module that Numba compiles.

The module has one entry, `run`. Its state is an array of integers `w` and an array of floats `r`
(see `backends/cpu/loops/program`), so it can leave at any time and go on later. It leaves if a
statement has so much work that the caller should divide it among threads, if a stack needs more
memory, if a product needs another form of its matrix, or at an exit.

The statements of a block become *segments*: pieces of `run` that are selected by the number `at`.
The loop over the entries of a statement is a function of its own, called a *region*. The caller may
run any part of a region, by its number and a range.

Most statements are one region that changes its target in place. A product, and an expression that
reads other elements of the target, first go to a temporary slot. If they replace the whole target,
the two slots are then exchanged.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from graphla.backends.cpu.loops import program as words
from graphla.backends.cpu.program import Layout, Phase, Region
from graphla.compilers import numba_ops
from graphla.operations import values
from graphla.program import ir
from graphla.program.reasons import Reason, refuse
from semirings import printing, trace
from semirings.dtypes import BOOL, FP32, FP64, INT64, UINT64, DataType

LIBRARY = Path(words.__file__)


def print_program(program: ir.Program, offsets: Iterable[tuple[str, str]]) -> Layout:
    """Return the module.

    `offsets` holds the dtypes of `indptr` in the CSR and in the CSC form of each matrix.
    """
    return _Printer(program, list(offsets)).text


# --- names ----------------------------------------------------------------------------------------

_TAKEN = frozenset((*dir(words), *keyword.kwlist, *dir(builtins)))
_LOCAL = re.compile(
    r"^([a-z]\d*|(has|list|op|fold|loop|result|flags)_.*|.*_new|np|math|view|types"
    r"|njit|from_dtype|inlined|merged|compiled|carray|intrinsic|cgutils"
    r"|run|region|launch|at|status|first|last|part|(added|removed|grows|end|listed)\d*|found|total|dense|length_0)$"
)
"""Names with a meaning in the module, which the user's names must not have."""


class _Names:
    """Python names for the user's names, each used once."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def make(self, name: str) -> str:
        text = re.sub(r"\W", "_", name).lstrip("_") or "x"
        if text[0].isdigit():
            text = f"x{text}"
        if text in _TAKEN or _LOCAL.match(text):
            text += "_"
        base, number = text, 2
        while text.lower() in self.used:
            text, number = f"{base}_{number}", number + 1
        self.used.add(text.lower())
        return text


def _np(dtype: DataType) -> str:
    return "np.bool_" if dtype is BOOL else f"np.{dtype.np_type.name}"


def _literal(value: Any, dtype: DataType) -> str:
    """Return a value of a dtype as a Numba expression."""
    if dtype is BOOL:
        return str(bool(value))
    if dtype.is_float:
        number = float(value)
        text = "np.nan" if number != number else repr(number)
        if number in (float("inf"), float("-inf")):
            text = "np.inf" if number > 0 else "-np.inf"
        return text if dtype is FP64 else f"np.float32({text})"
    if dtype is INT64 and value == -(1 << 63):
        return "LEAST"
    return f"{_np(dtype)}({int(value)})"


class _Operators:
    """The operators of a program as functions of the module. Equal operators are printed once."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        self.names: dict[str, str] = {}

    def add(self, op: Any) -> str:
        """Return the name of the function of a typed operator."""
        return self._keep(op.name, op.source_numba)

    def cast(self, text: str, source: DataType, target: DataType) -> str:
        """Return an expression that casts the expression `text`."""
        if source is target:
            return text
        if target is BOOL:
            return f"({text} != 0)"
        if not (source.is_float and target.is_integer):
            return f"{_np(target)}({text})"
        node = trace.trace(lambda x: trace.cast(x, target), {"x": source})

        def write(name: str) -> str | None:
            return printing.numba_source(node, {"x": source}, name)

        return f"{self._keep('cast', write)}({text})"

    def call(self, op: Any, *arguments: tuple[str, DataType | None]) -> str:
        """Return a call of a typed operator; the arguments are cast to its parameters."""
        wanted = op.parameters.values()
        pairs = zip(arguments, wanted, strict=True)
        texts = [x if d is None else self.cast(x, d, dtype) for (x, d), dtype in pairs]
        return f"{self.add(op)}({', '.join(texts)})"

    def binary(
        self, op: Any, x: tuple[str, DataType], y: tuple[str, DataType], i: str = "i"
    ) -> str:
        """Return op(x, y), for two entries of vectors at index i."""
        if not op.is_positional:
            return self.call(op, x, y)
        return self.call(op, x, (i, None), ("0", None), y, (i, None), ("0", None))

    def _keep(self, name: str, write: Callable[[str], str | None]) -> str:
        body = write("OPERATOR")
        if body is None:
            refuse(Reason.OPERATOR, None, name=name, device="Numba")
        known = self.names.get(body)
        if known is None:
            known = self.names[body] = f"op_{len(self.names)}_{printing.identifier(name)}"
            self.sources.append(f"@inlined\n{body.replace('OPERATOR', known, 1).strip()}\n")
        return known


MOST_UPDATES = 8
"""The largest number of updates that run as one region."""

# --- the program ----------------------------------------------------------------------------------

_INFIX = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "&",
    "or": "|",
    "xor": "^",
}
_CHECKED = ("add", "sub", "mul", "floordiv", "mod", "pow", "neg", "abs", "lshift", "rshift")
_FLOATS = {"add": "({} + {})", "sub": "({} - {})", "mul": "({} * {})", "neg": "(-{})"}
_PREDICATES = {
    "math.isnan": "({0} != {0})",
    "math.isinf": "(abs({0}) == np.inf)",
    "math.isfinite": "({0} - {0} == 0)",
    "math.fabs": "abs({0})",
    "math.copysign": "math.copysign({0}, {1})",
    "math.nextafter": "np.nextafter({0}, {1})",
    "math.ldexp": "math.ldexp({0}, np.int32({1}))",
}
_FUNCTIONS = {"math.cbrt": "np.cbrt", "math.fmod": "np.fmod", "math.remainder": "remainder"}
"""The functions of module math that Numba has by another name."""


class _Printer:
    def __init__(self, program: ir.Program, offsets: list[tuple[str, str]]) -> None:
        self.program, self.offsets = program, offsets
        self.text = text = Layout()
        self.names, self.operators = _Names(), _Operators()
        self.heads: list[str] = []  # the places of records, as constants of the module
        self.functions: list[str] = []
        self.calls: list[tuple[int, str]] = []  # the number and the name of each region
        self.known: dict[str, int] = {}  # the number of each region, by its text
        self.operand_places: tuple[list[int], list[int]] = ([], [])
        self.segments: list[list[str]] = []
        self.labels: dict[str, int] = {}
        self.may_fail = False  # whether a scalar was printed that may be a fault
        self.count = 0
        self.size, self.floats = words.FIRST_RECORD, 2
        text.dims = self.take(program.dims)
        self.slots = {slot.index: self.names.make(slot.name) for slot in program.slots}
        for slot in program.slots:
            text.slots[slot.index] = self.record(self.slots[slot.index], words.SLOT_FIELDS)
        self.temporaries: dict[tuple[str, int, str], ir.Slot] = {}
        self.matrices: list[str] = []
        for matrix in program.matrices:
            self.matrices.append(self.names.make(matrix.name))
            text.matrices.append(self.record(self.matrices[-1], words.MATRIX_FIELDS))
        self.stacks: dict[int, str] = {}
        for stack in program.stacks:
            name = self.stacks[stack.index] = self.names.make(stack.name)
            text.stacks[stack.index] = self.record(name, words.STACK_FIELDS)
        text.arrays = [self.take(1) for _ in program.arrays]
        self.variables: dict[str, str] = {}
        for variable in (*program.scalars, *program.variables):
            if variable.name not in self.variables:
                self.variables[variable.name] = self.names.make(variable.name)
                is_float = variable.dtype is FP64
                text.scalars[variable.name] = is_float, self.take(1, is_float)
        self.kinds = {v.name: v.dtype for v in (*program.scalars, *program.variables)}
        for number, block in enumerate(program.blocks):
            self.block = number
            self.labels[f"block{number}"] = len(self.segments)
            self.segments.append([])
            instructions = list(block.instructions)
            while instructions:
                updates = self.join_updates(instructions)
                for x in updates or instructions[:1]:
                    self.say(self.comment(x.line))
                if updates:
                    self.update(*updates)
                else:
                    x = instructions[0]
                    getattr(self, f"do_{type(x).__name__}")(x)
                del instructions[: max(len(updates), 1)]
            self.end(block.end)
        text.source, text.library = self.module(), library()
        text.size, text.floats = self.size, self.floats

    # --- places -----------------------------------------------------------------------------------

    def take(self, count: int, is_float: bool = False) -> int:
        """Return the place of `count` new integers or floats."""
        if is_float:
            self.floats += count
            return self.floats - count
        self.size += count
        return self.size - count

    def record(self, name: str, fields: int) -> int:
        place = self.take(fields)
        self.heads.append(f"{name.upper()}_AT = np.int64({place})")
        return place

    def operand_place(self, k: int, is_float: bool) -> int:
        """Return the place of operand k of a region. All regions use the same places."""
        if k == len(self.operand_places[is_float]):
            self.operand_places[is_float].append(self.take(1, is_float))
        return self.operand_places[is_float][k]

    def constant(self, values: list[int]) -> int:
        """Return the place of integers that never change."""
        place = self.take(len(values))
        self.text.constants |= {place + k: value for k, value in enumerate(values)}
        return place

    def place(self, slot: ir.Slot) -> str:
        return f"{self.slots[slot.index].upper()}_AT"

    def matrix(self, matrix: ir.MatrixArgument) -> str:
        return f"{self.matrices[matrix.index].upper()}_AT"

    def stack(self, stack: ir.Stack) -> str:
        return f"{self.stacks[stack.index].upper()}_AT"

    def dim(self, dim: ir.Dim) -> str:
        return f"w[{self.text.dims + dim.index}]"

    def values(self, slot: ir.Slot) -> str:
        """Return the array of a slot's values."""
        return f"view(w[{self.place(slot)} + VALUES], {self.dim(slot.dim)}, {_np(slot.dtype)})"

    def present(self, slot: ir.Slot) -> str:
        return f"view(w[{self.place(slot)} + PRESENT], {self.dim(slot.dim)}, np.bool_)"

    def temporary(self, dtype: DataType, dim: ir.Dim, use: str = "result") -> ir.Slot:
        """Return the slot for intermediate results of a dtype and size."""
        key = dtype.name, dim.index, use
        if key not in self.temporaries:
            index, name = -1 - len(self.temporaries), f"{use}_{dtype.name.lower()}_{dim.index}"
            self.temporaries[key] = ir.Slot(index, name, dtype, dim)
            self.slots[index] = name
            self.text.slots[index] = self.record(name, words.SLOT_FIELDS)
            self.text.temporaries.append((self.text.slots[index], dtype, dim.index))
        return self.temporaries[key]

    # --- segments -------------------------------------------------------------------------------

    def say(self, *lines: str) -> None:
        self.segments[-1] += lines

    def begin_segment(self, label: str = "") -> None:
        """Begin the next segment, and go on with it."""
        self.say(f"at = {len(self.segments)}")
        self.open_segment(label)

    def open_segment(self, label: str) -> None:
        """Begin a segment to which only jumps to its label lead."""
        if label:
            self.labels[label] = len(self.segments)
        self.segments.append([])

    def end(self, end: ir.End) -> None:
        if isinstance(end, ir.Exit):
            self.say(f"at, status = {end.number}, FINISHED", "break")
        elif isinstance(end, ir.Jump) or end.then == end.otherwise:
            target = end.target if isinstance(end, ir.Jump) else end.then
            self.say(f"at = LABEL[block{target}]")
        else:
            (condition,) = self.scalars([end.condition], self.line)
            self.say(f"at = LABEL[block{end.then}] if {condition} else LABEL[block{end.otherwise}]")

    def comment(self, line: int) -> str:
        self.line = line
        source = self.program.source
        text = source[line - 1].strip() if 0 < line <= len(source) else ""
        return f"# {line}: {text}" if text else f"# line {line}"

    line = block = 0

    def leave_if(self, condition: str, status: str, *before: str) -> None:
        before = (*before, f"status = {status}", "break")
        self.say(f"if {condition}:", *(f"    {line}" for line in before))

    def check_fault(self, line: int) -> None:
        self.leave_if("w[FAULT] != 0", "FAULTED", f"w[LINE] = {line}")

    def launch(self, number: int, size: str, work: str) -> None:
        """Run a region over `size` indices, or leave if the caller should divide it."""
        self.say(f"at = {len(self.segments)}")
        self.leave_if(f"divides(w, np.int64({number}), {size}, {work})", "SPREAD")
        self.say(f"number, last = {number}, w[SIZE]")
        self.segments.append([])

    # --- scalars --------------------------------------------------------------------------------

    def scalars(self, values: Iterable[ir.Scalar], line: int) -> list[str]:
        """Return expressions for scalars. If one of them may be a fault, evaluate them first."""
        self.may_fail = False
        texts = [self.scalar(value) for value in values]
        if not self.may_fail:
            return texts
        news = [self.fresh() for _ in texts]
        self.say(*(f"{new} = {text}" for new, text in zip(news, texts, strict=True)))
        self.check_fault(line)
        return news

    def fresh(self) -> str:
        """Return the name of a new local variable."""
        self.count += 1
        return f"t{self.count}_new"

    def scalar(self, x: ir.Scalar) -> str:
        """Return an expression for a scalar."""
        if isinstance(x, ir.Constant):
            return "LEAST" if x.dtype is INT64 and x.value == -(1 << 63) else self.number(x.value)
        if isinstance(x, ir.Size):
            return self.dim(x.dim)
        if isinstance(x, ir.Var):
            return self.variables[x.name]
        if isinstance(x, ir.Element):
            place = self.text.arrays[x.array.index]
            array = f"view(w[{place}], {self.dim(x.array.dim)}, {_np(x.array.dtype)})"
            return self.python(f"{array}[{self.scalar(x.index)}]", x.array.dtype)
        return self.function(x.function, [self.scalar(y) for y in x.arguments], x)

    @staticmethod
    def number(value: Any) -> str:
        if isinstance(value, float):
            return f"({_literal(value, FP64)})"
        return f"({value})" if value < 0 else str(value)

    def function(self, name: str, x: list[str], call: ir.Call) -> str:
        if name in _INFIX:
            return f"({x[0]} {_INFIX[name]} {x[1]})"
        if name == "not":
            return f"(not {x[0]})"
        if name == "where":
            return f"({x[1]} if {x[0]} else {x[2]})"
        if name == "invert":
            return f"(~{x[0]})"
        if name in ("min", "max"):
            return f"{'smaller' if name == 'min' else 'larger'}({x[0]}, {x[1]})"
        if name == "bool":
            return f"({x[0]} != 0)"
        if name == "float":
            return f"np.float64({x[0]})"
        if name in _PREDICATES:
            return _PREDICATES[name].format(*x)
        kind = call.arguments[0].dtype
        if name == "int" and not kind.is_float:
            return f"np.int64({x[0]})"
        if kind.is_float and name in _FLOATS:
            return _FLOATS[name].format(*x)
        if kind.is_float and name == "abs":
            return f"abs({x[0]})"
        self.may_fail = True
        x = [f"np.int64({each})" if each.strip("(-)").isdigit() else each for each in x]
        if not kind.is_float:
            name = name.removeprefix("math.")
            return x[0] if name == "round" else f"{name}_int(w, {', '.join(x)})"
        whole = {"int": "trunc", "round": "rint", "math.floor": "floor", "math.ceil": "ceil"}
        if name in whole:
            number = {"int": "TO_INT"}.get(name, name.removeprefix("math.").upper())
            return f"to_int(w, r, {number}, {x[0]}, np.{whole[name]}({x[0]}))"
        if name == "pow":
            return f"checked(w, r, POW_FLOAT, {x[0]}, {x[1]}, math.pow({x[0]}, {x[1]}))"
        if name in ("truediv", "floordiv", "mod"):
            function = name if name == "truediv" else f"{name}_float"
            return f"{function}(w, r, {x[0]}, {x[1]})"
        second = x[1] if len(x) > 1 else "0.0"
        number = words.MATH + words.MATH_NAMES.index(name.removeprefix("math."))
        value = f"{_FUNCTIONS.get(name, name)}({', '.join(x)})"
        return f"checked(w, r, np.int64({number}), {x[0]}, {second}, {value})"

    def python(self, text: str, dtype: DataType) -> str:
        """Return an entry of a dtype as a Python number."""
        if dtype is BOOL:
            return f"({text} != 0)"
        if dtype is UINT64:
            self.may_fail = True
            return f"signed(w, {text})"
        return f"np.float64({text})" if dtype.is_float else f"np.int64({text})"

    def fit(self, x: ir.Scalar, dtype: DataType) -> str:
        """Return an expression for a scalar cast to a dtype. If it does not fit, it is a fault."""
        if isinstance(x, ir.Constant):
            try:
                return _literal(values.fit(x.value, dtype), dtype)
            except (OverflowError, ValueError):
                pass
        text, source = self.scalar(x), x.dtype
        if dtype is BOOL:
            return text if source is BOOL else f"({text} != 0)"
        if source is BOOL or source is dtype or (source is INT64 and dtype.is_float):
            return text if source is dtype else f"{_np(dtype)}({text})"
        if dtype is FP64:
            return text
        self.may_fail = True
        if dtype is FP32:
            return f"np.float32(fit_fp32(w, r, {text}, np.int64({dtype.number})))"
        least, most = values.limits(dtype.np_type)
        if source is INT64:
            low, high = (_literal(x, INT64) for x in (least, min(most, (1 << 63) - 1)))
            call = f"fit_int(w, np.int64({text}), {low}, {high}, np.int64({dtype.number}))"
            return f"{_np(dtype)}({call})"
        call = (
            f"fit_float(w, r, {text}, {float(least)!r}, {float(most)!r}, np.int64({dtype.number}))"
        )
        return f"_to_uint64({call})" if dtype is UINT64 else f"{_np(dtype)}({call})"

    # --- instructions on scalars ----------------------------------------------------------------

    def do_Let(self, x: ir.Let) -> None:
        texts = self.scalars(x.values, x.line)
        self.say(f"{', '.join(self.variables[v.name] for v in x.variables)} = {', '.join(texts)}")

    def do_Count(self, x: ir.Count) -> None:
        self.say(f"{self.variables[x.variable.name]} = w[{self.place(x.slot)} + NVALS]")

    def do_Length(self, x: ir.Length) -> None:
        self.say(f"{self.variables[x.variable.name]} = w[{self.stack(x.stack)} + STACK_COUNT]")

    def do_Fault(self, x: ir.Fault) -> None:
        (condition,) = self.scalars([x.condition], x.line)
        self.text.faults.append((x.kind, x.text))
        code = words.FIRST_FAULT - len(self.text.faults) + 1
        self.leave_if(condition, "FAULTED", f"w[FAULT] = {code}", f"w[LINE] = {x.line}")

    # --- instructions on single entries -----------------------------------------------------------

    def index(self, slot: ir.Slot, index: ir.Scalar, line: int) -> None:
        """Set the variable `i` to a valid index."""
        (text,) = self.scalars([index], line)
        self.say(f"i = position(w, np.int64({text}), {self.dim(slot.dim)})")
        self.check_fault(line)

    def do_ReadElement(self, x: ir.ReadElement) -> None:
        self.index(x.slot, x.index, x.line)
        name = self.variables[x.variable.name]
        self.say(f"found = {self.present(x.slot)}[i]")
        self.may_fail = False
        value = self.python(f"{self.values(x.slot)}[i]", x.slot.dtype)
        zero = {"b": "False", "f": "0.0"}.get(x.slot.dtype.kind, "0")
        new = self.fresh()
        self.say(f"{new} = {value} if found else {zero}")
        if self.may_fail:
            self.check_fault(x.line)
        self.say(f"{name}, {self.variables[x.is_present.name]} = {new}, found")

    def do_SetElement(self, x: ir.SetElement) -> None:
        slot, dtype = x.target, x.target.dtype
        self.text.written.add(slot.index)
        self.may_fail = False
        operand = dtype if x.accum is None else x.accum.type2
        value, number = self.fit(x.value, operand), self.fresh()
        self.say(f"{number} = {value}")
        if self.may_fail:
            self.check_fault(x.line)
        self.index(slot, x.index, x.line)
        new = self.operators.cast(number, operand, dtype)
        if x.accum is not None:
            old = f"{self.values(slot)}[i]", dtype
            joined = self.operators.binary(x.accum, old, (number, operand))
            joined = self.operators.cast(joined, x.accum.return_type, dtype)
            new = f"{joined} if {self.present(slot)}[i] else {new}"
        self.say(f"{self.values(slot)}[i] = {new}")
        self.say(f"insert(w, {self.place(slot)}, i, {self.dim(slot.dim)})")

    def do_DeleteElement(self, x: ir.DeleteElement) -> None:
        self.text.written.add(x.target.index)
        self.index(x.target, x.index, x.line)
        self.say(f"remove(w, {self.place(x.target)}, i, {self.dim(x.target.dim)})")

    # --- instructions on whole vectors ------------------------------------------------------------

    def do_Clear(self, x: ir.Clear) -> None:
        self.text.written.add(x.slot.index)
        self.say(f"clear(w, {self.place(x.slot)}, {self.dim(x.slot.dim)})")

    def do_Move(self, x: ir.Move) -> None:
        """Exchange pairs of slots until each slot stores what it should."""
        stored = {slot.index: slot for slot in x.targets}  # whose former contents each slot stores
        for target, source in zip(x.targets, x.sources, strict=True):
            self.text.written.add(target.index)
            holder = next(slot for slot in x.targets if stored[slot.index].index == source.index)
            if holder.index != target.index:
                self.say(f"exchange(w, {self.place(target)}, {self.place(holder)})")
                stored[holder.index], stored[target.index] = stored[target.index], source

    def item_arrays(self, stack: ir.Stack, slot: ir.Slot) -> str:
        place = self.stack(stack)
        items = f"view(w[{place} + STACK_VALUES], w[{place} + ROOM], {_np(stack.dtype)})"
        return f"{self.dim(slot.dim)}, {self.values(slot)}, {items}"

    def do_Append(self, x: ir.Append) -> None:
        self.begin_segment()
        stack = self.stack(x.stack)
        call = f"append_item(w, {stack}, {self.place(x.slot)}, {self.item_arrays(x.stack, x.slot)})"
        self.leave_if(f"not {call}", "NEEDS_ROOM", f"w[REGION] = {stack}")

    def do_Pop(self, x: ir.Pop) -> None:
        self.read_item(x, "-1")
        self.say(f"remove_item(w, {self.stack(x.stack)}, item_new)")

    def do_ClearStack(self, x: ir.ClearStack) -> None:
        self.say(f"remove_item(w, {self.stack(x.stack)}, np.int64(0))")

    def do_Peek(self, x: ir.Peek) -> None:
        (index,) = self.scalars([x.index], x.line)
        self.read_item(x, index)

    def read_item(self, x: ir.Pop | ir.Peek, index: str) -> None:
        self.text.written.add(x.slot.index)
        stack = self.stack(x.stack)
        self.say(f"item_new = find_item(w, {stack}, np.int64({index}))")
        self.check_fault(x.line)
        arrays = self.item_arrays(x.stack, x.slot)
        self.say(f"read_item(w, {stack}, item_new, {self.place(x.slot)}, {arrays})")

    def do_IsEqual(self, x: ir.IsEqual) -> None:
        name, left, right = self.variables[x.variable.name], x.left, x.right
        region = _Region(self, "compare", x.line, left.dim, [frozenset((left.index,))])
        has_left, has_right = region.present(left), region.present(right)
        u, v = region.values(left), region.values(right)
        region.body = [
            f"if {has_left}[i] != {has_right}[i] or ({has_left}[i] and {u}[i] != {v}[i]):",
            "    added += 1",
            "    break",
        ]
        region.run()
        nvals = f"w[{self.place(left)} + NVALS] == w[{self.place(right)} + NVALS]"
        self.say(f"{name} = {nvals} and count_parts(w) == 0")

    def do_Reduce(self, x: ir.Reduce) -> None:
        self.check_gathers(x.source, x.line)
        monoid, dtype = x.monoid, x.monoid.type
        identity = 0 if monoid.is_any or monoid.identity is None else monoid.identity
        start = _literal(identity, dtype)
        region = _Region(self, "reduce", x.line, _dim(x.source), _cover(x.source), "stretches")
        has, value = region.emit(x.source)
        value = self.operators.cast(value, x.source.dtype, dtype)
        add = self.operators.call(monoid.binaryop, ("total", dtype), ("v", dtype))
        region.body += region.guard(
            has,
            [f"v = {value}", f"total = {add} if found else v", "found = True"],
        )
        if monoid.is_any:
            region.body += ["if found:", "    break"]
        elif monoid.terminal is not None and not dtype.is_float:
            stop = _literal(monoid.terminal, dtype)
            region.body += [f"if found and total == {stop}:", "    break"]
        region.totals = dtype, start
        number = region.run()
        fold = f"""@kept
def fold_{number}(w):
    count = (w[SIZE] + np.int64(STRETCH) - 1) // np.int64(STRETCH)
    totals = view(w[PARTIALS], count, {_np(dtype)})
    has_total = view(w[HAS_PARTIAL], count, np.bool_)
    found, total = False, {start}
    for s in range(count):
        if has_total[s]:
            v = totals[s]
            total = {add} if found else v
            found = True
    return found, total
"""
        if fold not in self.functions:
            self.functions.append(fold)
        self.say(f"found, total_{number}_new = fold_{number}(w)")
        self.may_fail = False
        value = self.python(f"total_{number}_new", dtype)
        if self.may_fail:
            self.say(f"signed_{number}_new = {value}")
            self.check_fault(x.line)
            value = f"signed_{number}_new"
        self.say(f"{self.variables[x.variable.name]} = {value}")
        if x.is_present is not None:
            self.say(f"{self.variables[x.is_present.name]} = found")

    def do_Scatter(self, x: ir.Scatter) -> None:
        target, indices, dtype = x.target, x.indices, x.target.dtype
        u = x.source if isinstance(x.source, ir.Slot) else None
        # As in `expression.assign`: if equal indices are not joined, they are a fault.
        joins = x.accum is not None and x.accum.type is dtype and x.accum.monoid is not None
        if not joins and x.accum is not None:
            dtype = x.accum.type2
        if not joins and u is not None:
            dtype = u.dtype
        self.check_indices(indices, target.dim, x.line)
        out = self.temporary(dtype, target.dim)
        cover = [frozenset((u.index,))] if u is not None and joins else []
        region = _Region(self, "scatter", x.line, indices.dim, cover, "")
        values, present = region.values(out), region.present(out)
        listed = region.list(out)
        if u is not None:
            has, value = region.emit(ir.Entry(u))
            value = self.operators.cast(value, u.dtype, dtype)
        else:
            scalar: Any = x.source
            has, value = "True", region.operand(scalar, dtype)
        region.body.append(f"o = wrap({region.values(indices)}[i], {self.dim(target.dim)})")
        new = [f"    {listed}[np.uint64(added)] = np.int32(o)", "    added += 1"]
        new += [f"    {present}[o] = True", f"    {values}[o] = {value}"]
        flags = None
        if joins and x.accum is not None:
            old = f"{values}[o]", dtype
            joined = self.operators.binary(x.accum, old, (value, dtype), "o")
            joined = self.operators.cast(joined, x.accum.return_type, dtype)
            lines = [f"if {present}[o]:", f"    {values}[o] = {joined}", "else:", *new]
        else:
            flags = self.temporary(BOOL, target.dim, "flags")
            has_flag, flag_list = region.present(flags), region.list(flags)
            region.body += [
                f"if {has_flag}[o]:",
                "    w[FAULT], w[FAULT_A] = -1 - DUPLICATE, np.int64(o)",
                "    break",
                f"{has_flag}[o] = True",
                f"{flag_list}[np.uint64(removed)] = np.int32(o)",
                "removed += 1",
            ]
            lines = ["if True:", *new]
            self.say(f"clear(w, {self.place(flags)}, {self.dim(target.dim)})")
        region.body += region.guard(has, lines)
        self.say(f"clear(w, {self.place(out)}, {self.dim(target.dim)})")
        region.run()
        self.say(f"finish_scatter(w, {self.place(out)}, np.int64(0))")
        source: Any = ir.Entry(out)
        if flags is not None:
            self.say(f"finish_scatter(w, {self.place(flags)}, np.int64(1))")
            self.check_fault(x.line)
            if x.accum is None:
                source = _Choose(flags, out, target, target.dtype)
        self.update(_Update(target, x.mask, x.accum, x.replace, source, x.line))

    def do_Write(self, x: ir.Write) -> None:
        target, source = x.target, x.source
        self.text.written.add(target.index)
        is_product = isinstance(source, (ir.Product, ir.MatrixReduction))
        if is_product or any(g.slot.index == target.index for g in _gathers(source)):
            out = self.temporary(source.dtype, target.dim)
            if isinstance(source, ir.Product):
                self.product(source, out, x.mask, x.line)
            else:
                self.evaluate(source, out, x.mask, x.line)
            is_whole = x.accum is None and (x.mask is None or x.replace)
            if is_whole and source.dtype is target.dtype:
                self.say(f"exchange(w, {self.place(target)}, {self.place(out)})")
                return
            source = ir.Entry(out)
        self.update(_Update(target, x.mask, x.accum, x.replace, source, x.line))

    # --- regions ----------------------------------------------------------------------------------

    def check_indices(self, indices: ir.Slot, dim: ir.Dim, line: int) -> None:
        place, size = self.place(indices), self.dim(indices.dim)
        array = self.values(indices)
        self.say(f"check_indices(w, {place}, {array}, {size}, {self.dim(dim)})")
        self.check_fault(line)

    def check_gathers(self, source: Any, line: int) -> None:
        for gather in _gathers(source):
            self.check_indices(gather.indices, gather.slot.dim, line)

    def update(self, *writes: _Update) -> None:
        """Write expressions into slots in place, one after another at each index.

        The expressions and masks read all slots at their own element only.
        """
        first = writes[0]
        for x in writes:
            self.text.written.add(x.target.index)
            self.check_gathers(x.source, x.line)
        if len(writes) == 1 and isinstance(first.source, ir.Empty) and first.mask is first.accum:
            self.say(f"clear(w, {self.place(first.target)}, {self.dim(first.target.dim)})")
            return
        cover = _covers_of_updates(writes) or []
        name = "_".join(dict.fromkeys(self.slots[x.target.index] for x in writes))
        region = _Region(self, name, first.line, first.target.dim, cover)
        region.comments = [self.comment(x.line) for x in writes]
        region.lines_read = [x.line for x in writes]
        region.targets = list({x.target.index: x.target for x in writes}.values())
        region.rewritten = {
            k
            for k, target in enumerate(region.targets)
            if [x.target for x in writes].count(target) > 1
        }
        if region.cover:
            # One update may remove an entry, and the next one may add it again.
            for k in sorted(region.rewritten):
                region.body.append(f"listed{k} = {region.present(region.targets[k])}[i]")
        for x in writes:
            region.body += self.update_lines(region, x, region.targets.index(x.target))
        region.run()
        for k, target in enumerate(region.targets):
            self.say(f"finish_update(w, {self.place(target)}, np.int64({2 * k}))")

    def update_lines(self, region: _Region, x: _Update, k: int) -> list[str]:
        """Return the lines of an update of the target number k of a region."""
        source, target, accum = x.source, x.target, x.accum
        values, present = region.values(target), region.present(target)
        has, value = region.emit(source)
        new = self.operators.cast(value, source.dtype, target.dtype)
        adds = [f"is_new = not {present}[i]", f"{values}[i] = {new}", f"{present}[i] = True"]
        if region.cover:
            is_unlisted = "is_new"
            if k in region.rewritten:
                is_unlisted = f"not listed{k}"
            adds += [f"if grows{k}:", f"    {region.list(target)}[end{k}] = np.int32(i)"]
            adds += [f"    end{k} += np.uint64({is_unlisted})"]
            if k in region.rewritten:
                adds.append(f"listed{k} = True")
        adds.append(f"added{k} += np.int64(is_new)")
        removes = [f"if {present}[i]:", f"    {present}[i] = False", f"    removed{k} += 1"]
        if accum is None:
            lines = region.guard(has, adds)
            if has != "True":
                lines = [*lines, "else:", *_indent(removes)] if has != "False" else removes
        else:
            old = f"{values}[i]", target.dtype
            joined = self.operators.binary(accum, old, (value, source.dtype))
            joined = self.operators.cast(joined, accum.return_type, target.dtype)
            lines = [f"if {present}[i]:", f"    {values}[i] = {joined}", "else:", *_indent(adds)]
            lines = region.guard(has, lines)
        if x.mask is not None:
            lines = [f"if {region.mask(x.mask, 'i')}:", *_indent(lines or ["pass"])]
            if x.replace:
                lines += ["else:", *_indent(removes)]
        return lines

    def join_updates(self, instructions: list[ir.Instruction]) -> list[_Update]:
        """Return the first instructions that can run as one region: see `update`.

        The result is empty if the first instruction is not an update. An operand that may be a
        fault is evaluated before the region, so only the first update may have one.
        """
        writes: list[_Update] = []
        for x in instructions[:MOST_UPDATES]:
            if not isinstance(x, ir.Write) or isinstance(
                x.source, (ir.Product, ir.MatrixReduction, ir.Empty)
            ):
                break
            update = _Update(x.target, x.mask, x.accum, x.replace, x.source, x.line)
            if _gathers(x.source):
                break
            if writes and (x.target.dim != writes[0].target.dim or self.has_fault(x.source)):
                break
            if writes:
                before, own = _covers_of_updates(writes), _covers_of_updates([update])
                joined = _covers_of_updates([*writes, update])
                # Do not visit all indices for a statement that needs only some.
                if joined is None or bool(joined) != bool(before) or bool(joined) != bool(own):
                    break
            writes.append(update)
        return writes

    def has_fault(self, x: Any) -> bool:
        """Return whether an operand of an expression may be a fault."""
        self.may_fail = False
        for scalar, dtype in _operands(x):
            self.fit(scalar, dtype)
        return self.may_fail

    def evaluate(self, source: Any, out: ir.Slot, mask: ir.Mask | None, line: int) -> None:
        """Write an expression into a temporary slot, where the mask allows it."""
        self.check_gathers(source, line)
        allowed = [] if mask is None else _cover_of_mask(mask)
        if isinstance(source, ir.MatrixReduction):
            form = words.FORM_FIELDS * source.is_transposed
            matrix = self.matrix(source.matrix)
            self.begin_segment()
            self.leave_if(
                f"w[{matrix} + {form} + HELD] == 0",
                "NEEDS_FORM",
                f"w[NEEDED] = {matrix} + {form}",
            )
            region = _Region(self, "rows", line, out.dim, allowed, "rows")
            region.form = self.text.matrices[source.matrix.index] + form
            region.work = f"w[{matrix} + ENTRIES]"
            has, value = self.fold_row(region, source, mask)
        else:
            region = _Region(self, "gather", line, out.dim, _cover(source) + allowed)
            has, value = region.emit(source)
            if mask is not None:
                has = _both(region.mask(mask, "i"), has)
        self.result(region, out, has, value)

    def result(self, region: _Region, out: ir.Slot, has: str, value: str) -> None:
        """Finish a region that writes all of a temporary slot."""
        values, present = region.values(out), region.present(out)
        lines = [f"{values}[i] = {value}"]
        if region.cover:
            lines += ["if is_listed:", f"    {region.list(out)}[np.uint64(added)] = np.int32(i)"]
            lines += [f"{present}[i] = True", "added += 1"]
            region.body += region.guard(has, lines)
            self.say(f"clear(w, {self.place(out)}, {self.dim(out.dim)})")
        else:
            region.body += [f"found = {has}", *region.guard("found", [*lines, "added += 1"])]
            region.body.append(f"{present}[i] = found")
        region.run()
        self.say(f"finish_result(w, {self.place(out)})")

    def fold_row(self, region: _Region, source: ir.MatrixReduction, mask: Any) -> tuple[str, str]:
        """Print the reduction of row i of a matrix."""
        monoid, dtype = source.monoid, source.monoid.type
        form = source.is_transposed
        region.matrix(source.matrix, form)
        value = self.operators.cast(region.weight(source.matrix), source.matrix.dtype, dtype)
        add = self.operators.call(monoid.binaryop, ("total", dtype), ("v", dtype))
        region.body += [f"found, total = False, {_literal(0, dtype)}"]
        lines = [
            "for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):",
            f"    v = {value}",
            f"    total = {add} if found else v",
            "    found = True",
        ]
        if monoid.is_any:
            lines.append("    break")
        region.body += lines if mask is None else [f"if {region.mask(mask, 'i')}:", *_indent(lines)]
        return "found", "total"

    # --- products ---------------------------------------------------------------------------------

    def product(self, x: ir.Product, out: ir.Slot, mask: ir.Mask | None, line: int) -> None:
        """Print a product into a temporary slot: the choice of the direction, a push and a pull."""
        # An output is a row of CSR (form 0) or of CSC (form 1).
        pull, push = (0, 1) if (x.side == "mxv") != x.is_transposed else (1, 0)
        by_rows, by_columns = pull * words.FORM_FIELDS, push * words.FORM_FIELDS
        matrix, u, monoid = self.matrix(x.matrix), x.u, x.semiring.monoid
        stops = monoid.is_any or (monoid.type.kind == "b" and monoid.terminal is not None)
        n, size = self.dim(u.dim), self.dim(out.dim)
        allowed = size if mask is None else self.count_allowed(mask, size)
        indptr = self.offsets[x.matrix.index][push]
        name = f"product{len(self.segments)}"
        self.begin_segment()
        self.say(
            f"direction_new = choose_direction(w, {self.place(u)}, {n}, {size}, {allowed}, "
            f"{matrix}, np.int64({by_columns}), np.int64({by_rows}), "
            f"view(w[{matrix} + {by_columns} + INDPTR], {n} + 1, np.{indptr}), "
            f"np.int64({stops}), np.int64({monoid.type.is_float}))"
        )
        self.leave_if("direction_new == 0", "NEEDS_FORM")
        self.say(f"at = LABEL[{name}_push] if direction_new == PUSH else LABEL[{name}_pull]")
        self.open_segment(f"{name}_push")
        self.push(x, push, out, mask, line)
        self.say(f"at = LABEL[{name}_end]")
        self.open_segment(f"{name}_pull")
        self.pull(x, pull, out, mask, line)
        self.begin_segment(f"{name}_end")
        self.say(f"at = {len(self.segments)}")
        self.leave_if("w[TRACED] != 0", "RECORDS")
        self.segments.append([])

    def count_allowed(self, mask: ir.Mask, size: str) -> str:
        """Return an expression for the number of indices that a mask allows, or an estimate."""
        if isinstance(mask, ir.MaskOf):
            return f"w[{self.place(mask.slot)} + NVALS]"
        if isinstance(mask, ir.NotMask):
            return f"({size} - {self.count_allowed(mask.mask, size)})"
        left, right = self.count_allowed(mask.left, size), self.count_allowed(mask.right, size)
        if isinstance(mask, ir.AndMask):
            return f"smaller({left}, {right})"
        return f"smaller({left} + {right}, {size})"

    def term(self, x: ir.Product, region: _Region, a: str, u: str, o: str) -> str:
        """Return an expression for the product of a matrix entry and an entry of u."""
        op = x.semiring.binaryop
        first, second = (a, x.matrix.dtype), (u, x.u.dtype)
        zero = ("0", None)
        if x.side == "mxv":
            places = ((o, None), ("k", None)), (("k", None), zero)
        else:
            first, second = second, first
            places = (zero, ("k", None)), (("k", None), (o, None))
        is_read = op.reads_x, op.reads_y
        (first, second) = (
            pair if reads else ("0", None)
            for pair, reads in zip((first, second), is_read, strict=True)
        )
        if op.is_positional:
            call = self.operators.call(op, first, *places[0], second, *places[1])
        else:
            call = self.operators.call(op, first, second)
        return self.operators.cast(call, op.return_type, x.semiring.monoid.type)

    def push(self, x: ir.Product, form: int, out: ir.Slot, mask: Any, line: int) -> None:
        """Add the products of each entry of u to the outputs."""
        u, monoid, dtype = x.u, x.semiring.monoid, x.semiring.monoid.type
        region = _Region(self, "push", line, out.dim, [], "outputs")
        region.form = self.text.matrices[x.matrix.index] + form * words.FORM_FIELDS
        region.u = self.text.slots[u.index]
        region.matrix(x.matrix, form)
        term = self.term(x, region, region.weight(x.matrix), "x", "o")
        values, present, listed = region.values(out), region.present(out), region.list(out)
        allowed = "True" if mask is None else region.mask(mask, "o")
        if monoid.is_any:
            # An output that is present may get another value, and one that the mask forbids may
            # get a value that nobody reads. So the loop needs no branch.
            lines = [
                f"allowed = {allowed}",
                f"is_new = allowed & (not {present}[o])",
                f"{values}[o] = {term}",
                f"{present}[o] |= allowed",
                f"{listed}[end if is_new else np.uint64(n)] = np.int32(o)",
                "end += np.uint64(is_new)",
            ]
            if mask is None:
                lines[0:2] = [f"is_new = not {present}[o]"]
                lines[2] = f"{present}[o] = True"
        else:
            add = self.operators.call(monoid.binaryop, (f"{values}[o]", dtype), ("v", dtype))
            lines = [
                f"v = {term}",
                f"if {present}[o]:",
                f"    {values}[o] = {add}",
                "else:",
                f"    {present}[o] = True",
                f"    {values}[o] = v",
                f"    {listed}[end] = np.int32(o)",
                "    end += ONE",
            ]
            if mask is not None:
                lines = [f"if {allowed}:", *_indent(lines)]
        region.whole_body = [
            "end = np.uint64(first)",
            f"for t in range(np.uint64(w[{self.place(u)} + LENGTH])):",
            f"    k = np.uint64({region.list(u)}[t])",
            f"    x = {region.values(u)}[k]",
            "    begin, stop = np.uint64(indptr[k]), np.uint64(indptr[k + ONE])",
            "    if first > 0:",
            "        begin = bisect(indices, begin, stop, np.uint64(first))",
            "    if last < n:",
            "        stop = bisect(indices, begin, stop, np.uint64(last))",
            "    for p in range(begin, stop):",
            "        o = np.uint64(indices[p])",
            *_indent(_indent(lines)),
            "added, removed = np.int64(end) - first, first",
        ]
        listing = "list_in_order" if dtype.is_float else "list_entries"
        self.say(f"{listing}(w, {self.place(u)}, {self.dim(u.dim)})")
        self.say(f"clear(w, {self.place(out)}, {self.dim(out.dim)})")
        region.work = "w[EDGES]"
        region.run()
        self.say(f"finish_push(w, {self.place(out)}, {self.dim(out.dim)})")

    def pull(self, x: ir.Product, form: int, out: ir.Slot, mask: Any, line: int) -> None:
        """Sum the products of each row of the matrix that the mask allows."""
        u, monoid, dtype = x.u, x.semiring.monoid, x.semiring.monoid.type
        cover = [] if mask is None else _cover_of_mask(mask)
        region = _Region(self, "pull", line, out.dim, cover, "rows")
        region.form = self.text.matrices[x.matrix.index] + form * words.FORM_FIELDS
        region.work = f"w[{self.matrix(x.matrix)} + ENTRIES]"
        region.matrix(x.matrix, form)
        has_u, values = region.present(u), region.values(u)
        term = self.term(x, region, region.weight(x.matrix), f"{values}[k]", "i")
        op = x.semiring.binaryop
        reads_matrix = op.reads_x if x.side == "mxv" else op.reads_y
        if monoid.is_any and not cover and (x.matrix.is_iso or not reads_matrix):
            self.text.firsts.add((x.matrix.index, form))
            allowed = "" if mask is None else f" & {region.mask(mask, 'i')}"
            self.pull_any(x, form, out, region, term, allowed)
            return
        region.head.append(f"full = w[{self.place(u)} + NVALS] == {self.dim(u.dim)}")
        identity = 0 if monoid.is_any or monoid.identity is None else monoid.identity
        has_identity = not monoid.is_any and monoid.identity is not None
        add = self.operators.call(monoid.binaryop, ("total", dtype), ("v", dtype))
        stop = None
        if monoid.terminal is not None and not monoid.is_any and not dtype.is_float:
            stop = f"if total == {_literal(monoid.terminal, dtype)}:"
        each = "for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):"
        inner = [f"v = {term}", f"total = {add}" if has_identity else "total = v"]
        ends = ["    break"] if monoid.is_any else [f"    {stop}", "        break"] if stop else []
        lines = [
            "if full:",
            f"    {each}",
            "        k = np.uint64(indices[p])",
            *_indent(_indent(inner)),
            "        found = True",
            *_indent(ends),
            "else:",
            f"    {each}",
            "        k = np.uint64(indices[p])",
            f"        if {has_u}[k]:",
            *_indent(_indent(_indent(inner))),
            "            found = True",
            *_indent(_indent(ends)),
        ]
        region.body += [f"found, total = False, {_literal(identity, dtype)}"]
        region.body += lines if mask is None else [f"if {region.mask(mask, 'i')}:", *_indent(lines)]
        self.result(region, out, "found", "total")

    def pull_any(
        self, x: ir.Product, form: int, out: ir.Slot, region: _Region, term: str, allowed: str
    ) -> None:
        """Print a pull that needs only one product for each output.

        The loop processes blocks of rows. First it lists the rows that the mask allows. Then it
        reads one column of each, which is enough for most rows. These steps have no branch, so
        that memory accesses overlap. At last it searches the other rows. The last element of a
        list is a place for indices that are not in the list.
        """
        place = f"{self.matrix(x.matrix)} + {form * words.FORM_FIELDS}"
        values, present, has_u = region.values(out), region.present(out), region.present(x.u)
        listed = region.list(out)
        region.head.append(f"firsts = view(w[{place} + FIRSTS], n, np.int32)")
        region.whole_body = [
            "rest, end, spare = rest_of(w, part), np.uint64(first), np.uint64(n)",
            "for begin in range(np.uint64(first), np.uint64(last), BLOCK):",
            "    stop = begin + BLOCK if begin + BLOCK < np.uint64(last) else np.uint64(last)",
            "    size, left = np.uint64(0), np.uint64(0)",
            "    for i in range(begin, stop):",
            "        rest[size] = np.int32(i)",
            f"        size += np.uint64((firsts[i] >= 0){allowed})",
            "    for t in range(size):",
            "        i = np.uint64(rest[t])",
            "        k = np.uint64(firsts[i])",
            f"        found = {has_u}[k]",
            f"        {values}[i] = {term}",
            f"        {present}[i] = found",
            f"        {listed}[end if found else spare] = np.int32(i)",
            "        end += np.uint64(found)",
            "        rest[left] = np.int32(i)",
            "        left += np.uint64(not found)",
            "    for t in range(left):",
            "        i = np.uint64(rest[t])",
            "        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):",
            "            k = np.uint64(indices[p])",
            f"            if {has_u}[k]:",
            f"                {values}[i] = {term}",
            f"                {present}[i] = True",
            f"                {listed}[end] = np.int32(i)",
            "                end += ONE",
            "                break",
            "added, removed = np.int64(end) - first, first",
        ]
        self.say(f"clear(w, {self.place(out)}, {self.dim(out.dim)})")
        region.kind, region.work = "indices", self.dim(out.dim)
        region.run()
        self.say(f"finish_push(w, {self.place(out)}, {self.dim(out.dim)})")

    # --- the module -------------------------------------------------------------------------------

    def module(self) -> str:
        loads, stores = [], []
        for name, (is_float, place) in self.text.scalars.items():
            local, array = self.variables[name], "r" if is_float else "w"
            test = " != 0" if self.kinds[name] is BOOL else ""
            loads.append(f"    {local} = {array}[{place}]{test}")
            stores.append(f"    {array}[{place}] = {local}")
        dispatch = [
            f"            {'el' if k else ''}if number == {number}:\n"
            f"                {name}(first, last, part, w, r)"
            for k, (number, name) in enumerate(self.calls)
        ]
        steps = []
        for number, segment in enumerate(self.segments):
            steps.append(f"        elif at == {number}:")
            steps += [f"            {line}" for line in segment]
            if all(line.startswith("#") for line in segment):
                steps.append("            pass")
        text = "\n".join(
            (
                numba_ops.head,
                "",
                "# The places of the user's vectors and matrices in w.",
                *self.heads,
                "",
                *self.operators.sources,
                *self.functions,
                "def run(what, first, last, part, w, r):",
                "    number, at, status = what, w[AT], STOPPED",
                *loads,
                "    while True:",
                "        if number >= 0:",
                *(dispatch or ["            pass"]),
                "            if what >= 0:",
                "                return",
                "            number = -1",
                "        elif w[STOP] != 0:",
                "            break",
                *steps,
                *stores,
                "    w[AT], w[STATUS] = at, status",
                "",
                "",
                "run = compiled((*(types.int64,) * 4, types.int64[::1], types.float64[::1]))(run)",
                "",
            )
        )
        return re.sub(r"LABEL\[(\w+)\]", lambda match: str(self.labels[match[1]]), text)


HEAD = """\
import math

import numpy as np
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def pointer(context, address):
    def generate(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


def kept(function, **options):
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(function, nogil=True, error_model="numpy", **options)


@kept
def view(address, size, dtype):
    return carray(pointer(address), (size,), dtype)


"""


@cache
def library() -> str:
    """Return the module of functions that all printed programs import.

    Numba stores each compiled function on disk, so that the next program need not compile it.
    """
    text = LIBRARY.read_text(encoding="utf-8")
    lines, parts, names = text.splitlines(), [HEAD], []
    for node in ast.parse(text).body:
        if isinstance(node, (ast.Assign, ast.FunctionDef)):
            parts.append("\n".join(lines[node.lineno - 1 : node.end_lineno]))
        if isinstance(node, ast.FunctionDef):
            names.append(node.name)
    return "\n\n".join((*parts, *(f"{name} = kept({name}, cache=True)" for name in names), ""))


def _indent(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _both(p: str, q: str) -> str:
    if "False" in (p, q):
        return "False"
    if p == "True" or q == "True":
        return q if p == "True" else p
    return f"({p} and {q})"


def _either(p: str, q: str) -> str:
    if "True" in (p, q):
        return "True"
    if p == "False" or q == "False":
        return q if p == "False" else p
    return f"({p} or {q})"


@dataclass(frozen=True, slots=True)
class _Choose:
    """The entries of `chosen` at the indices in `flags`, and elsewhere those of `other`."""

    flags: ir.Slot
    chosen: ir.Slot
    other: ir.Slot
    dtype: DataType


@dataclass(frozen=True, slots=True)
class _Update:
    """A write that reads all slots at its own element only: see `ir.Write`."""

    target: ir.Slot
    mask: ir.Mask | None
    accum: Any
    replace: bool
    source: Any
    line: int


class _Region:
    """A function that runs the same lines for each index of a domain."""

    def __init__(
        self,
        printer: _Printer,
        name: str,
        line: int,
        dim: ir.Dim,
        cover: list[frozenset[int]],
        kind: str = "indices",
    ) -> None:
        self.printer, self.dim, self.kind = printer, dim, kind
        self.name = name
        self.comment = printer.comment(line)
        self.line = line
        self.lines_read = [line]
        self.cover = [c for c in dict.fromkeys(cover) if not any(other < c for other in cover)][:4]
        self.head: list[str] = []
        self.body: list[str] = []
        self.whole_body: list[str] | None = None
        self.before: list[str] = []  # what the program does before it runs the region
        self.targets: list[ir.Slot] = []  # the slots that the region changes in place
        self.rewritten: set[int] = set()  # the targets that several updates change
        self.comments = [self.comment]
        self.totals: tuple[DataType, str] | None = None
        self.work = "np.int64(0)"
        self.form = self.u = -1
        self.counter = 0
        self.operands = [0, 0]  # number of operands that are integers, and of those that are floats
        self.seen: set[str] = set()

    def view(self, local: str, text: str) -> str:
        if local not in self.seen:
            self.seen.add(local)
            self.head.append(f"{local} = {text}")
        return local

    def values(self, slot: ir.Slot) -> str:
        return self.view(self.printer.slots[slot.index], self.printer.values(slot))

    def present(self, slot: ir.Slot) -> str:
        return self.view(f"has_{self.printer.slots[slot.index]}", self.printer.present(slot))

    def list(self, slot: ir.Slot) -> str:
        place, size = self.printer.place(slot), self.printer.dim(slot.dim)
        local = f"list_{self.printer.slots[slot.index]}"
        return self.view(local, f"view(w[{place} + LIST], {size} + 1, np.int32)")

    def matrix(self, matrix: ir.MatrixArgument, form: int) -> None:
        place = f"{self.printer.matrix(matrix)} + {form * words.FORM_FIELDS}"
        dim = matrix.columns if form else matrix.rows
        entries = f"w[{self.printer.matrix(matrix)} + ENTRIES]"
        dtype = self.printer.offsets[matrix.index][form]
        size = self.printer.dim(dim)
        self.head += [
            f"indptr = view(w[{place} + INDPTR], {size} + 1, np.{dtype})",
            f"indices = view(w[{place} + INDICES], {entries}, np.int32)",
            f"weights = view(w[{place} + WEIGHTS], {entries}, {_np(matrix.dtype)})",
        ]

    def weight(self, matrix: ir.MatrixArgument) -> str:
        """Return the value of matrix entry p. An iso-valued matrix stores one value."""
        return "weights[0]" if matrix.is_iso else "weights[p]"

    def operand(self, x: ir.Scalar, dtype: DataType) -> str:
        """Return a local variable with the value of a scalar, cast to a dtype."""
        printer = self.printer
        printer.may_fail = False
        text = printer.fit(x, dtype)
        if isinstance(x, ir.Constant) and not printer.may_fail:
            return text
        local = f"s{self.counter}"
        self.counter += 1
        is_float = dtype.is_float
        place = printer.operand_place(self.operands[is_float], is_float)
        self.operands[is_float] += 1
        array = "r" if is_float else "w"
        self.before.append(f"{array}[{place}] = np.{'float64' if is_float else 'int64'}({text})")
        if printer.may_fail:
            self.before += [
                "if w[FAULT] != 0:",
                f"    w[LINE], status = {self.line}, FAULTED",
                "    break",
            ]
        load = f"{array}[{place}]"
        self.head.append(
            f"{local} = {load} != 0" if dtype is BOOL else f"{local} = {_np(dtype)}({load})"
        )
        return local

    def new(self) -> int:
        self.counter += 1
        return self.counter

    def guard(self, has: str, lines: list[str]) -> list[str]:
        if has == "True":
            return lines
        return [] if has == "False" else [f"if {has}:", *_indent(lines)]

    def mask(self, mask: ir.Mask, i: str) -> str:
        """Return whether a mask allows index i, without a branch."""
        if isinstance(mask, ir.MaskOf):
            has = f"{self.present(mask.slot)}[{i}]"
            if not mask.by_value:
                return has
            value = f"{self.values(mask.slot)}[{i}]"
            return f"({has} & {value})" if mask.slot.dtype is BOOL else f"({has} & ({value} != 0))"
        if isinstance(mask, ir.NotMask):
            return f"(not {self.mask(mask.mask, i)})"
        sign = "&" if isinstance(mask, ir.AndMask) else "|"
        return f"({self.mask(mask.left, i)} {sign} {self.mask(mask.right, i)})"

    def emit(self, x: Any) -> tuple[str, str]:
        """Print what a vector expression needs at index i.

        Return expressions for whether it has an entry, and for the value of this entry.
        """
        return getattr(self, f"emit_{type(x).__name__}")(x)

    def emit_Entry(self, x: ir.Entry) -> tuple[str, str]:
        return f"{self.present(x.slot)}[i]", f"{self.values(x.slot)}[i]"

    def emit_Cast(self, x: ir.Cast) -> tuple[str, str]:
        has, value = self.emit(x.x)
        return has, self.printer.operators.cast(value, x.x.dtype, x.dtype)

    def emit_Full(self, x: ir.Full) -> tuple[str, str]:
        return "True", self.operand(x.value, x.dtype)

    def emit_Empty(self, x: ir.Empty) -> tuple[str, str]:
        return "False", _literal(0, x.dtype)

    def result(self, op: Any, has: str, text: str, dtype: DataType) -> tuple[str, str]:
        return has, self.printer.operators.cast(text, op.return_type, dtype)

    def emit_Apply(self, x: ir.Apply) -> tuple[str, str]:
        has, value = self.emit(x.x)
        places = (("i", None), ("0", None)) if x.op.is_positional else ()
        call = self.printer.operators.call(x.op, (value, x.x.dtype), *places)
        return self.result(x.op, has, call, x.dtype)

    def by_index(self, x: ir.ApplyIndex | ir.Select, value: str) -> str:
        thunk = self.operand(x.thunk, x.op.thunk_type)
        value_of = (value, x.x.dtype)
        return self.printer.operators.call(x.op, value_of, ("i", None), ("0", None), (thunk, None))

    def emit_ApplyIndex(self, x: ir.ApplyIndex) -> tuple[str, str]:
        has, value = self.emit(x.x)
        return self.result(x.op, has, self.by_index(x, value), x.dtype)

    def emit_ApplyLeft(self, x: ir.ApplyLeft) -> tuple[str, str]:
        has, value = self.emit(x.x)
        left = self.operand(x.scalar, x.op.type), x.op.type
        call = self.printer.operators.binary(x.op, left, (value, x.x.dtype))
        return self.result(x.op, has, call, x.dtype)

    def emit_ApplyRight(self, x: ir.ApplyRight) -> tuple[str, str]:
        has, value = self.emit(x.x)
        right = self.operand(x.scalar, x.op.type2), x.op.type2
        call = self.printer.operators.binary(x.op, (value, x.x.dtype), right)
        return self.result(x.op, has, call, x.dtype)

    def emit_Union(self, x: ir.Union) -> tuple[str, str]:
        cast = self.printer.operators.cast
        (has_x, u), (has_y, v) = self.emit(x.x), self.emit(x.y)
        k = self.new()
        both = self.printer.operators.binary(x.op, (u, x.x.dtype), (v, x.y.dtype))
        both = cast(both, x.op.return_type, x.dtype)
        self.body += [
            f"p{k}, q{k} = {has_x}, {has_y}",
            f"v{k} = {_literal(0, x.dtype)}",
            f"if p{k} and q{k}:",
            f"    v{k} = {both}",
            f"elif p{k}:",
            f"    v{k} = {cast(u, x.x.dtype, x.dtype)}",
            f"elif q{k}:",
            f"    v{k} = {cast(v, x.y.dtype, x.dtype)}",
        ]
        return _either("True" if has_x == "True" else f"p{k}", f"q{k}"), f"v{k}"

    def emit_UnionDefaults(self, x: ir.UnionDefaults) -> tuple[str, str]:
        cast, op = self.printer.operators.cast, x.op
        (has_x, u), (has_y, v) = self.emit(x.x), self.emit(x.y)
        left, right = self.operand(x.left, op.type), self.operand(x.right, op.type2)
        k = self.new()
        self.body += [
            f"p{k}, q{k} = {has_x}, {has_y}",
            f"u{k}, v{k} = {left}, {right}",
            *(f"if p{k}:", f"    u{k} = {cast(u, x.x.dtype, op.type)}"),
            *(f"if q{k}:", f"    v{k} = {cast(v, x.y.dtype, op.type2)}"),
        ]
        call = self.printer.operators.binary(op, (f"u{k}", op.type), (f"v{k}", op.type2))
        return self.result(op, _either(f"p{k}", f"q{k}"), call, x.dtype)

    def emit_Intersection(self, x: ir.Intersection) -> tuple[str, str]:
        (has_x, u), (has_y, v) = self.emit(x.x), self.emit(x.y)
        call = self.printer.operators.binary(x.op, (u, x.x.dtype), (v, x.y.dtype))
        return self.result(x.op, _both(has_x, has_y), call, x.dtype)

    def emit_Select(self, x: ir.Select) -> tuple[str, str]:
        has, value = self.emit(x.x)
        k = self.new()
        self.body += [
            f"p{k} = {has}",
            f"v{k} = {_literal(0, x.x.dtype)}",
            f"if p{k}:",
            f"    v{k} = {value}",
            f"    p{k} = {self.by_index(x, f'v{k}')}",
        ]
        return f"p{k}", self.printer.operators.cast(f"v{k}", x.x.dtype, x.dtype)

    def emit_Restrict(self, x: ir.Restrict) -> tuple[str, str]:
        has, value = self.emit(x.x)
        return _both(self.mask(x.mask, "i"), has), value

    def emit_Gather(self, x: ir.Gather) -> tuple[str, str]:
        k, indices = self.new(), self.values(x.indices)
        self.body.append(f"j{k} = wrap({indices}[i], {self.printer.dim(x.slot.dim)})")
        return f"{self.present(x.slot)}[j{k}]", f"{self.values(x.slot)}[j{k}]"

    def emit__Choose(self, x: _Choose) -> tuple[str, str]:
        cast, k = self.printer.operators.cast, self.new()
        chosen, other = self.values(x.chosen), self.values(x.other)
        self.body += [
            f"p{k} = {self.present(x.other)}[i]",
            f"v{k} = {_literal(0, x.other.dtype)}",
            f"if {self.present(x.flags)}[i]:",
            f"    p{k} = {self.present(x.chosen)}[i]",
            f"    if p{k}:",
            f"        v{k} = {cast(f'{chosen}[i]', x.chosen.dtype, x.other.dtype)}",
            f"elif p{k}:",
            f"    v{k} = {other}[i]",
        ]
        return f"p{k}", f"v{k}"

    # --- print the function and its call --------------------------------------------------------

    def run(self) -> int:
        """Print the function and what runs it; return its number."""
        printer, size = self.printer, self.printer.dim(self.dim)
        slots = {place: index for index, place in printer.text.slots.items()}
        lines, covers = tuple(dict.fromkeys(self.lines_read)), tuple(self.cover)
        phase = Phase(printer.block, self.name, lines, self.dim.index, covers, slots.get(self.u))
        printer.text.phases.append(phase)
        printer.say(*self.before)
        whole = self.whole_body is not None
        if self.cover:
            pairs = []
            targets = {slot.index for slot in self.targets}
            for slots in self.cover:
                # A target comes second, because the flags of the first slot must not change.
                ordered = sorted(slots, key=lambda index: (index in targets, index))
                places = [printer.text.slots[index] for index in ordered]
                pairs += [*places, -1, -1][:2]
            options = printer.constant(pairs)
            count = len(self.cover)
            printer.say(f"choose_domain(w, {size}, np.int64({options}), np.int64({count}))")
            if self.totals is not None and self.totals[0].is_float:
                printer.say(f"visit_in_order(w, {size})")
            for target in self.targets:
                printer.say(f"prepare(w, {printer.place(target)}, {size})")
        else:
            printer.say("w[DOMAIN] = ALL")
        work = self.work
        if not whole:
            work = f"w[SIZE] + {self.work}" if self.cover else f"{size} + {self.work}"
        if self.kind == "":
            work = "np.int64(0)"
        text = "\n".join(_indent(self.lines()))
        number = printer.known.get(text)
        if number is None:
            number = printer.known[text] = len(printer.calls)
            name = f"loop_{number}_{self.name}"
            comments = "\n".join(_indent(dict.fromkeys(self.comments)))
            head = f"@kept\ndef {name}(first, last, part, w, r):\n{comments}"
            printer.calls.append((number, name))
            printer.functions.append(f"{head}\n{text}\n")
            printer.text.regions[number] = Region(self.kind, self.form, self.u)
        printer.launch(number, "w[SIZE]" if self.cover else size, work)
        return number

    def lines(self) -> list[str]:
        size = self.printer.dim(self.dim)
        head = [f"n = {size}", *self.head]
        head += ["added, removed = np.int64(0), np.int64(0)"]
        if self.whole_body is not None:
            return [*head, *self.whole_body, *self.counts()]
        loop = ["for i in range(np.uint64(first), np.uint64(last)):", *_indent(self.body)]
        if self.cover:
            head += ["is_listed = w[DOMAIN] == IN_LISTS", "rest = rest_of(w, part)"]
            loop = [
                "for begin in range(np.uint64(first), np.uint64(last), BLOCK):",
                "    stop = begin + BLOCK if begin + BLOCK < np.uint64(last) else np.uint64(last)",
                "    for t in range(list_block(w, rest, np.int64(begin), np.int64(stop), n)):",
                "        i = np.uint64(rest[t])",
                *_indent(_indent(self.body)),
            ]
        for k, target in enumerate(self.targets):
            head.append(f"added{k}, removed{k} = np.int64(0), np.int64(0)")
            if self.cover:
                place = self.printer.place(target)
                head += [
                    f"grows{k} = is_listed and w[{place} + LISTED] == EXACT",
                    f"end{k} = np.uint64(w[{place} + LENGTH])",
                ]
                loop += [f"if grows{k}:", f"    w[{place} + LENGTH] = end{k}"]
        if self.totals is None:
            return [*head, *loop, *self.counts()]
        dtype, start = self.totals
        head += [
            "s, size = np.uint64(first) // STRETCH, last",
            f"totals = view(w[PARTIALS], last // np.int64(STRETCH) + 1, {_np(dtype)})",
            "has_total = view(w[HAS_PARTIAL], last // np.int64(STRETCH) + 1, np.bool_)",
            "while s * STRETCH < np.uint64(size):",
            f"    found, total = False, {start}",
            "    first = np.int64(s * STRETCH)",
            "    last = first + np.int64(STRETCH)",
            "    last = last if last < size else size",
            *_indent(loop),
            "    totals[s], has_total[s] = total, found",
            "    s += ONE",
        ]
        return head

    def counts(self) -> list[str]:
        lines = ["counts = view(w[COUNTS], WIDTH * (part + 1), np.int64)"]
        for k in range(max(len(self.targets), 1)):
            own = str(k) if self.targets else ""
            lines.append(f"counts[WIDTH * part + {2 * k}] = added{own}")
            lines.append(f"counts[WIDTH * part + {2 * k + 1}] = removed{own}")
        return lines


# --- covers ---------------------------------------------------------------------------------------
# A cover of an expression is a set of at most two slots such that the expression has no entry where
# none of these slots has one. These functions return a list of covers to choose from. An empty list
# means that no cover is known.


def _cover(x: Any) -> list[frozenset[int]]:
    if isinstance(x, ir.Entry):
        return [frozenset((x.slot.index,))]
    if isinstance(x, ir.Empty):
        return [frozenset()]
    if isinstance(x, (ir.Union, ir.UnionDefaults)):
        return _join(_cover(x.x), _cover(x.y))
    if isinstance(x, ir.Intersection):
        return _cover(x.x) + _cover(x.y)
    if isinstance(x, ir.Restrict):
        return _cover(x.x) + _cover_of_mask(x.mask)
    if isinstance(x, (ir.Full, ir.Gather, ir.Product, ir.MatrixReduction)):
        return []
    if isinstance(x, _Choose):
        return [frozenset((x.flags.index, x.other.index))]
    return _cover(x.x)


def _covers_of_updates(writes: Iterable[_Update]) -> list[frozenset[int]] | None:
    """Return the covers of the indices at which updates change their targets.

    The result is None if there are covers, but each has two slots that are targets.
    """
    covers: list[frozenset[int]] | None = None
    targets = set()
    for x in writes:
        own = [frozenset((x.target.index,))]
        targets.add(x.target.index)
        allowed = [] if x.mask is None else _cover_of_mask(x.mask)
        cover = _cover(x.source) + allowed
        if x.accum is None:
            cover = _join(cover, own + allowed)
        if x.replace and x.mask is not None:
            cover = _join(cover, own)
        joined = cover if covers is None else _join(covers, cover)
        if covers and cover and not joined:
            return None
        covers = joined
    usable = [cover for cover in covers or [] if len(cover & targets) < 2]
    return None if covers and not usable else usable


def _operands(x: Any) -> list[tuple[ir.Scalar, DataType]]:
    """Return the scalars in an expression, and the dtypes to which they are cast."""
    found = [
        pair for name in ("x", "y") if hasattr(x, name) for pair in _operands(getattr(x, name))
    ]
    if isinstance(x, ir.Full):
        found.append((x.value, x.dtype))
    elif isinstance(x, (ir.ApplyIndex, ir.Select)):
        found.append((x.thunk, x.op.thunk_type))
    elif isinstance(x, ir.ApplyLeft):
        found.append((x.scalar, x.op.type))
    elif isinstance(x, ir.ApplyRight):
        found.append((x.scalar, x.op.type2))
    elif isinstance(x, ir.UnionDefaults):
        found += [(x.left, x.op.type), (x.right, x.op.type2)]
    return found


def _cover_of_mask(mask: ir.Mask) -> list[frozenset[int]]:
    if isinstance(mask, ir.MaskOf):
        return [frozenset((mask.slot.index,))]
    if isinstance(mask, ir.NotMask):
        return []
    left, right = _cover_of_mask(mask.left), _cover_of_mask(mask.right)
    return left + right if isinstance(mask, ir.AndMask) else _join(left, right)


def _join(left: list[frozenset[int]], right: list[frozenset[int]]) -> list[frozenset[int]]:
    """Return the covers of an expression that has an entry where one of two expressions has one."""
    return [x | y for x in left for y in right if len(x | y) <= 2]


def _dim(x: Any) -> ir.Dim:
    """Return the dimension of an expression. It contains a slot."""
    if isinstance(x, ir.Gather):
        return x.indices.dim
    if isinstance(x, ir.Entry):
        return x.slot.dim
    parts = [getattr(x, name) for name in ("x", "y") if hasattr(x, name)]
    return next(_dim(part) for part in parts if not isinstance(part, (ir.Full, ir.Empty)))


def _gathers(x: Any) -> list[ir.Gather]:
    if isinstance(x, ir.Gather):
        return [x]
    return [g for name in ("x", "y") if hasattr(x, name) for g in _gathers(getattr(x, name))]
