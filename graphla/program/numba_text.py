"""Print a program as a Python module that Numba compiles.

The state of a program is an array of integers `w` and an array of floats `r` (see
`backends/cpu/loops/program`), so the program can leave at any time and continue later. It leaves if
a statement has so much work that the caller should divide it among threads, if a stack needs more
memory, if a product needs a form of its matrix that does not exist yet, or at an exit.

The function `run` contains the control flow and the scalars. The blocks of the program become
*segments*: pieces of `run` that are selected by the number `at`. The work of each statement on
vectors is a function of its own, called a *region*. A record in `w` describes the statement, and
the function `launch` of the library runs it. So `run` contains only one call for each statement.
The caller may run a region for any range of indices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from graphla.backends.cpu.loops import program as words
from graphla.backends.cpu.program import Layout
from graphla.program import ir
from graphla.program import numba_statements as statements
from graphla.program.numba_library import library
from graphla.program.numba_operators import Names, Operators, indent, numpy_name
from graphla.program.numba_scalars import Scalars
from semirings.dtypes import FP64, DataType

CHAPTER = 16
"""The number of segments per function, if a program has more than MOST_SEGMENTS segments."""

MOST_SEGMENTS = 48
"""The maximum number of segments that are all in the function `run`."""


def print_program(program: ir.Program, offsets: Iterable[tuple[str, str]]) -> Layout:
    """Return the text of the module.

    `offsets` contains the dtypes of `indptr` in the CSR and in the CSC form of each matrix.
    """
    return Printer(program, list(offsets)).text


class Printer(Scalars):
    """Prints one program. The other modules `numba_...` print its parts."""

    def __init__(self, program: ir.Program, offsets: list[tuple[str, str]]) -> None:
        self.program, self.offsets = program, offsets
        self.text = text = Layout()
        self.names, self.operators = Names(), Operators()
        # Maps the names of the module's constants to their values: places in `w`, and integers.
        self.constants: dict[str, str] = {}
        self.regions: list[_Function] = []
        self.known: dict[str, int] = {}  # the number of each region, by its text
        self.segments: list[list[str]] = []
        self.labels: dict[str, int] = {}
        self.initial = dict.fromkeys(range(words.FIRST_RECORD), 0)  # values of the first words
        self.floats = words.FIRST_REAL
        text.dims = self.take(program.dims)
        self.slots = {slot.index: self.names.make(slot.name) for slot in program.slots}
        for slot in program.slots:
            text.slots[slot.index] = self.record(self.slots[slot.index], words.SLOT_FIELDS)
        self.temporaries: dict[tuple[str, int, str], ir.Slot] = {}
        for matrix in program.matrices:
            name = self.names.make(matrix.name)
            text.matrices.append(self.record(name, words.MATRIX_FIELDS))
        self.stacks: dict[int, str] = {}
        for stack in program.stacks:
            name = self.stacks[stack.index] = self.names.make(stack.name)
            text.stacks[stack.index] = self.record(name, words.STACK_FIELDS)
        text.arrays = [self.take(1) for _ in program.arrays]
        self.kinds, self.variables = {}, {}
        for variable in (*program.scalars, *program.variables):
            self.kinds[variable.name] = variable.dtype
            if variable.name not in self.variables:
                name, is_float = self.names.make(variable.name), variable.dtype is FP64
                self.variables[variable.name] = f"{name.upper()}_AT"
                place = self.record(name, 1, is_float)
                text.scalars[variable.name] = is_float, place
        for number, block in enumerate(program.blocks):
            self.block = number
            self.labels[f"block{number}"] = len(self.segments)
            self.segments.append([])
            instructions = list(block.instructions)
            while instructions:
                updates = statements.join_updates(self, instructions)
                for x in updates or instructions[:1]:
                    self.say(self.comment(x.line))
                if updates:
                    statements.print_updates(self, updates)
                else:
                    _PRINT[type(instructions[0])](self, instructions[0])
                del instructions[: max(len(updates), 1)]
            self.end(block.end)
        text.source, text.library = self.module(), library()
        text.initial, text.floats = np.array([*self.initial.values()]), self.floats

    # --- places -----------------------------------------------------------------------------------

    def take(self, count: int, is_float: bool = False) -> int:
        """Reserve `count` integers, which are initially 0, or floats. Return their place."""
        if is_float:
            self.floats += count
            return self.floats - count
        place = len(self.initial)
        self.initial |= dict.fromkeys(range(place, place + count), 0)
        return place

    def record(self, name: str, fields: int, is_float: bool = False) -> int:
        place = self.take(fields, is_float)
        self.constants[f"{name.upper()}_AT"] = f"np.int64({place})"
        return place

    def constant(self, values: Iterable[int]) -> int:
        """Return the place of new integers with these values."""
        values = list(values)
        place = self.take(len(values))
        self.initial |= {place + k: value for k, value in enumerate(values)}
        return place

    def place(self, slot: ir.Slot) -> str:
        return f"{self.slots[slot.index].upper()}_AT"

    def stack(self, stack: ir.Stack) -> str:
        return f"{self.stacks[stack.index].upper()}_AT"

    def values(self, slot: ir.Slot) -> str:
        """Return an expression for the array of a slot's values."""
        place = self.place(slot)
        return f"view(w[{place} + VALUES], {self.dim(slot.dim)}, {numpy_name(slot.dtype)})"

    def present(self, slot: ir.Slot) -> str:
        return f"view(w[{self.place(slot)} + PRESENT], {self.dim(slot.dim)}, np.bool_)"

    def count(self, slot: ir.Slot) -> str:
        return f"w[{self.place(slot)} + NVALS]"

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

    def begin_segment(self) -> None:
        """Begin a new segment, which runs after the current segment. Do nothing if the current
        segment contains only comments."""
        if any(not line.startswith("#") for line in self.segments[-1]):
            self.say(f"w[AT] = {len(self.segments)}")
            self.segments.append([])

    def call(self, function: str, record: int) -> None:
        """Print a call to a library function, with the place of a record as an argument.

        If the program must leave, it later continues at the beginning of this segment.
        """
        self.say(f"if start({function}, {record}, w, r) != GOES_ON:", "    break")

    def clear(self, slot: ir.Slot) -> None:
        self.say(f"call(w[CLEAR], {self.place(slot)}, {self.dim(slot.dim)}, 0, 0, w, r)")

    def end(self, end: ir.End) -> None:
        if isinstance(end, ir.Exit):
            self.say(f"w[AT], w[STATUS] = {end.number}, FINISHED", "break")
        elif isinstance(end, ir.Jump) or end.then == end.otherwise:
            target = end.target if isinstance(end, ir.Jump) else end.then
            self.say(f"w[AT] = LABEL[block{target}]")
        else:
            (condition,) = self.scalars([end.condition], self.line)
            then, otherwise = f"LABEL[block{end.then}]", f"LABEL[block{end.otherwise}]"
            self.say(f"w[AT] = {then} if {condition} else {otherwise}")

    def comment(self, line: int) -> str:
        self.line = line
        source = self.program.source
        text = source[line - 1].strip() if 0 < line <= len(source) else ""
        return f"# {line}: {text}" if text else f"# line {line}"

    line = block = 0

    # --- instructions on scalars ----------------------------------------------------------------

    def _print_let(self, x: ir.Let) -> None:
        texts = self.scalars(x.values, x.line)
        self.say(f"{', '.join(self.store(v) for v in x.variables)} = {', '.join(texts)}")

    def _print_count(self, x: ir.Count) -> None:
        self.say(f"{self.store(x.variable)} = {self.count(x.slot)}")

    def _print_length(self, x: ir.Length) -> None:
        self.say(f"{self.store(x.variable)} = w[{self.stack(x.stack)} + STACK_COUNT]")

    def _print_fault(self, x: ir.Fault) -> None:
        (condition,) = self.scalars([x.condition], x.line)
        self.text.faults.append((x.kind, x.text))
        code = words.FIRST_FAULT - len(self.text.faults) + 1
        self.say(f"if {condition}:", f"    w[FAULT], w[LINE] = {code}, {x.line}", "    break")

    # --- the module -------------------------------------------------------------------------------

    def add_function(
        self, name: str, lines: list[str], names: list[str], comments: list[str]
    ) -> int:
        """Return the index of the region with these lines. Equal regions are printed only once.

        The name of vector k replaces «k» in the lines.
        """
        key = "\n".join(lines)
        number = self.known.get(key)
        if number is None:
            number = self.known[key] = len(self.regions)
            self.regions.append(_Function(f"loop_{number}_{name}", lines, names))
        self.regions[number].comments |= dict.fromkeys(comments)
        return number

    def steps(self, first: int, last: int) -> list[str]:
        """Return the lines that run segment w[AT], which is at least `first` and below `last`."""
        lines = []
        for number, segment in enumerate(self.segments[first:last], first):
            lines.append(f"{'if' if number == first else 'elif'} at == {number}:")
            lines += indent(segment)
            if all(line.startswith("#") for line in segment):
                lines.append("    pass")
        return lines

    def chapters(self) -> tuple[list[str], list[str]]:
        """Return functions that each run some of the segments, and the lines that call them.

        Numba takes much longer to compile one long function than several short ones. A chapter
        returns 1 if execution continues in another chapter.
        """
        functions, calls = [], []
        for first in range(0, len(self.segments), CHAPTER):
            last = min(first + CHAPTER, len(self.segments))
            functions += (
                "@inlined",
                f"def chapter_{first}(w, r):",
                "    while w[STOP] == 0:",
                "        at = w[AT]",
                *indent(indent(self.steps(first, last))),
                "        else:",
                "            return 1",
                "    return 0",
                "",
                "",
            )
            calls += (
                f"{'elif' if calls else 'if'} at < {last}:",
                f"    if chapter_{first}(w, r) == 0:",
                "        break",
            )
        return functions, calls

    def module(self) -> str:
        chapters, steps = [], self.steps(0, len(self.segments))
        if len(self.segments) > MOST_SEGMENTS:
            chapters, steps = self.chapters()
        names = [*(region.name for region in self.regions), "run"]
        text = "\n".join(
            (
                "# The places of the user's variables in w and r.",
                *(f"{name} = {value}" for name, value in self.constants.items()),
                "",
                *self.operators.sources,
                *(region.text() for region in self.regions),
                *chapters,
                "def run(_a, _b, _c, _d, w, r):",
                "    w[STATUS] = GOES_ON",
                "    while w[STOP] == 0:",
                "        at = w[AT]",
                *indent(indent(steps)),
                "    if w[FAULT] != 0:",
                "        w[STATUS] = FAULTED",
                "    return 0",
                "",
                "",
                f"FUNCTIONS = [{', '.join(names)}]",
                "",
            )
        )
        return re.sub(r"LABEL\[(\w+)\]", lambda match: str(self.labels[match[1]]), text)


class _Function:
    """A region as a function of the module."""

    def __init__(self, name: str, lines: list[str], names: list[str]) -> None:
        self.name, self.lines = name, lines
        unique = Names()
        self.names = [unique.make(each) for each in names]
        self.comments: dict[str, None] = {}  # the statements that use the region

    def text(self) -> str:
        head = f"def {self.name}(first, last, part, statement, w, r):"
        text = "\n".join([head, *indent([*self.comments, *self.lines]), "", ""])
        return re.sub(r"«(\d+)»", lambda match: self.names[int(match[1])], text)


_PRINT: dict[type, Callable[[Printer, Any], None]] = {
    ir.Let: Printer._print_let,
    ir.Count: Printer._print_count,
    ir.Length: Printer._print_length,
    ir.Fault: Printer._print_fault,
    **statements.PRINT,
}
"""The function that prints each kind of instruction."""
