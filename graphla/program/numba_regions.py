"""Print regions: functions that do the work of a statement for a range of indices.

A region reads the places of the vectors that it needs from the record of its statement. So two
statements that differ only in their vectors share one region.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphla.backends.cpu.loops import program as words
from graphla.backends.cpu.program import Phase
from graphla.program import ir
from graphla.program.numba_covers import Choose
from graphla.program.numba_operators import both, either, guard, indent, literal, numpy_name
from semirings.dtypes import BOOL, FP64, INT64, DataType

if TYPE_CHECKING:
    from graphla.program.numba_text import Printer

MOST_COVERS = 4
"""The maximum number of covers from which a statement chooses when it runs."""


class Region:
    """A region, and the record of the statement that it is printed for.

    In the lines, «k» stands for the name of vector k. The printer replaces it with the user's name.
    `body` runs for each index i of the domain. If `whole_body` is given, it runs once instead, for
    the range first..last - 1.
    """

    def __init__(
        self,
        printer: Printer,
        name: str,
        line: int,
        dim: ir.Dim,
        cover: list[frozenset[int]],
        division: int = words.BY_INDICES,
    ) -> None:
        self.printer, self.operators = printer, printer.operators
        self.name, self.line, self.dim = name, line, dim
        self.cover = [c for c in dict.fromkeys(cover) if not any(d < c for d in cover)]
        self.cover = self.cover[:MOST_COVERS]
        self.head: list[str] = []  # definitions of local variables
        self.body: list[str] = []
        self.whole_body: list[str] | None = None
        self.ending: list[str] = []  # the last lines of the function
        self.read_lines = [line]  # the numbers of the user's lines
        self.targets: list[ir.Slot] = []  # the slots that the region changes in place
        self.rewritten: set[int] = set()  # the numbers of targets that several updates change
        self.pushed: int | None = None  # the index of the slot whose entries a push reads
        self.is_reduction = division == words.BY_STRETCHES
        self.totals: tuple[DataType, str] | None = None
        """The dtype of the totals of a reduction, and the total if there are no entries."""
        self.fields = dict.fromkeys(range(words.PLACES), -1)  # the record of the statement
        self.fields |= {words.DIVISION: division, words.FINISH: words.DONE, words.CLEARS: 0}
        self.counter = 0
        self.places: list[int] = []  # the places that the region reads, after the other fields
        self.names: list[str] = []  # the user's names of the vectors
        self.slots: dict[int, int] = {}  # the number of each vector, by the index of its slot
        self.dims = {dim.index: "n"}
        self.operands: list[tuple[str, int, str, bool]] = []
        """For each scalar operand: its array, its index there, its expression, and whether it may
        fault."""
        self.reals = 0  # number of operands that are floats
        self.defined: set[str] = set()

    # --- expressions for the lines of code ------------------------------------------------------

    def place(self, place: int) -> str:
        """Add a place to the record of the statement. Return an expression that reads the place
        from the record."""
        self.places.append(place)
        return f"w[statement + {words.PLACES + len(self.places) - 1}]"

    def define(self, local: str, text: str) -> str:
        """Define a local variable at the beginning of the function, unless it is defined already.
        Return its name."""
        if local not in self.defined:
            self.defined.add(local)
            self.head.append(f"{local} = {text}")
        return local

    def token(self, slot: ir.Slot) -> str:
        """Return the token that stands for the name of a vector."""
        if slot.index not in self.slots:
            number = self.slots[slot.index] = len(self.names)
            self.names.append(self.printer.slots[slot.index])
            self.define(f"at_«{number}»", self.place(self.printer.text.slots[slot.index]))
        return f"«{self.slots[slot.index]}»"

    def size(self, dim: ir.Dim) -> str:
        """Return the name of a local variable with the size of a dimension."""
        if dim.index not in self.dims:
            local = self.dims[dim.index] = f"size_{len(self.dims)}"
            self.define(local, f"w[{self.place(self.printer.text.dims + dim.index)}]")
        return self.dims[dim.index]

    def values(self, slot: ir.Slot) -> str:
        """Return the name of the array with a slot's values."""
        name, size = self.token(slot), self.size(slot.dim)
        return self.define(name, f"array(w, at_{name}, VALUES, {size}, {numpy_name(slot.dtype)})")

    def value(self, slot: ir.Slot, i: str) -> str:
        """Return an expression for the value of the entry at index i. A BOOL is stored as a
        byte."""
        text = f"{self.values(slot)}[{i}]"
        return f"({text} != 0)" if slot.dtype is BOOL else text

    def present(self, slot: ir.Slot) -> str:
        """Return the name of the array with a slot's flags."""
        name, size = self.token(slot), self.size(slot.dim)
        return self.define(f"has_{name}", f"array(w, at_{name}, PRESENT, {size}, np.bool_)")

    def list(self, slot: ir.Slot) -> str:
        """Return the name of the array with a slot's list."""
        name, size = self.token(slot), self.size(slot.dim)
        return self.define(f"list_{name}", f"array(w, at_{name}, LIST, {size} + 1, np.int32)")

    def matrix(self, matrix: ir.MatrixArgument, form: int) -> None:
        """Define `indptr` and `indices`. Form 0 is the CSR, form 1 the CSC."""
        size = self.size(matrix.columns if form else matrix.rows)
        place = self.printer.text.matrices[matrix.index] + form * words.FORM_FIELDS
        self.fields[words.FORM] = place
        offsets = self.printer.offsets[matrix.index][form]
        self.define("form", self.place(place))
        self.define("indptr", f"array(w, form, INDPTR, {size} + 1, np.{offsets})")
        self.define("entries", f"np.int64(indptr[{size}])")
        self.define("indices", "array(w, form, INDICES, entries, np.int32)")

    def weight(self, matrix: ir.MatrixArgument) -> str:
        """Return an expression for the value of matrix entry p. An iso-valued matrix stores only
        one value."""
        size, p = (1, "0") if matrix.is_iso else ("entries", "p")
        self.define("weights", f"array(w, form, WEIGHTS, {size}, {numpy_name(matrix.dtype)})")
        return f"(weights[{p}] != 0)" if matrix.dtype is BOOL else f"weights[{p}]"

    def operand(self, x: ir.Scalar, dtype: DataType) -> str:
        """Return the name of a local variable with the value of a scalar, cast to a dtype."""
        printer = self.printer
        printer.may_fail = False
        text = printer.fit(x, dtype)
        if isinstance(x, ir.Constant) and not printer.may_fail:
            return text
        local = f"s{self.number()}"
        if dtype.is_float:
            self.define("reals", "w[statement + REALS]")
            text = text if dtype is FP64 else f"np.float64({text})"
            self.operands.append(("r", self.reals, text, printer.may_fail))
            load = f"r[reals + {self.reals}]"
            self.reals += 1
        else:
            load = self.place(0)
            position = words.PLACES + len(self.places) - 1
            text = text if dtype is INT64 else f"np.int64({text})"
            self.operands.append(("w", position, text, printer.may_fail))
        return self.define(
            local, f"{load} != 0" if dtype is BOOL else f"{numpy_name(dtype)}({load})"
        )

    def number(self) -> int:
        """Return a new number, which makes the name of a local variable unique."""
        self.counter += 1
        return self.counter

    # --- vector expressions ---------------------------------------------------------------------

    def mask(self, mask: ir.Mask, i: str) -> str:
        """Return a branch-free expression that tests whether a mask allows index i."""
        if isinstance(mask, ir.MaskOf):
            has = f"{self.present(mask.slot)}[{i}]"
            return f"({has} & ({self.values(mask.slot)}[{i}] != 0))" if mask.by_value else has
        if isinstance(mask, ir.NotMask):
            return f"(not {self.mask(mask.mask, i)})"
        sign = "&" if isinstance(mask, ir.AndMask) else "|"
        return f"({self.mask(mask.left, i)} {sign} {self.mask(mask.right, i)})"

    def emit(self, x: Any) -> tuple[str, str]:
        """Print lines that compute a vector expression at index i.

        Return expressions for whether it has an entry, and for the value of this entry.
        """
        return getattr(self, f"emit_{type(x).__name__}")(x)

    def emit_Entry(self, x: ir.Entry) -> tuple[str, str]:
        if self.is_reduction:
            # Two occurrences of a slot count as two vectors, so that `x & x` shares the region of
            # `x & y`.
            self.slots.pop(x.slot.index, None)
        return f"{self.present(x.slot)}[i]", self.value(x.slot, "i")

    def emit_Cast(self, x: ir.Cast) -> tuple[str, str]:
        has, value = self.emit(x.x)
        return has, self.operators.cast(value, x.x.dtype, x.dtype)

    def emit_Full(self, x: ir.Full) -> tuple[str, str]:
        return "True", self.operand(x.value, x.dtype)

    def emit_Empty(self, x: ir.Empty) -> tuple[str, str]:
        return "False", literal(0, x.dtype)

    def cast_result(self, op: Any, has: str, text: str, dtype: DataType) -> tuple[str, str]:
        return has, self.operators.cast(text, op.return_type, dtype)

    def emit_Apply(self, x: ir.Apply) -> tuple[str, str]:
        has, value = self.emit(x.x)
        places = (("i", None), ("0", None)) if x.op.is_positional else ()
        call = self.operators.call(x.op, (value, x.x.dtype), *places)
        return self.cast_result(x.op, has, call, x.dtype)

    def by_index(self, x: ir.ApplyIndex | ir.Select, value: str) -> str:
        thunk = self.operand(x.thunk, x.op.thunk_type)
        value_of = (value, x.x.dtype)
        return self.operators.call(x.op, value_of, ("i", None), ("0", None), (thunk, None))

    def emit_ApplyIndex(self, x: ir.ApplyIndex) -> tuple[str, str]:
        has, value = self.emit(x.x)
        return self.cast_result(x.op, has, self.by_index(x, value), x.dtype)

    def emit_ApplyLeft(self, x: ir.ApplyLeft) -> tuple[str, str]:
        has, value = self.emit(x.x)
        left = self.operand(x.scalar, x.op.type), x.op.type
        call = self.operators.binary(x.op, left, (value, x.x.dtype))
        return self.cast_result(x.op, has, call, x.dtype)

    def emit_ApplyRight(self, x: ir.ApplyRight) -> tuple[str, str]:
        has, value = self.emit(x.x)
        right = self.operand(x.scalar, x.op.type2), x.op.type2
        call = self.operators.binary(x.op, (value, x.x.dtype), right)
        return self.cast_result(x.op, has, call, x.dtype)

    def emit_Union(self, x: ir.Union) -> tuple[str, str]:
        cast = self.operators.cast
        (has_x, u), (has_y, v) = self.emit(x.x), self.emit(x.y)
        k = self.number()
        both = self.operators.binary(x.op, (u, x.x.dtype), (v, x.y.dtype))
        both = cast(both, x.op.return_type, x.dtype)
        self.body += [
            f"p{k}, q{k} = {has_x}, {has_y}",
            f"v{k} = {literal(0, x.dtype)}",
            f"if p{k} and q{k}:",
            f"    v{k} = {both}",
            f"elif p{k}:",
            f"    v{k} = {cast(u, x.x.dtype, x.dtype)}",
            f"elif q{k}:",
            f"    v{k} = {cast(v, x.y.dtype, x.dtype)}",
        ]
        return either("True" if has_x == "True" else f"p{k}", f"q{k}"), f"v{k}"

    def emit_UnionDefaults(self, x: ir.UnionDefaults) -> tuple[str, str]:
        cast, op = self.operators.cast, x.op
        (has_x, u), (has_y, v) = self.emit(x.x), self.emit(x.y)
        left, right = self.operand(x.left, op.type), self.operand(x.right, op.type2)
        k = self.number()
        self.body += [
            f"p{k}, q{k} = {has_x}, {has_y}",
            f"u{k}, v{k} = {left}, {right}",
            *(f"if p{k}:", f"    u{k} = {cast(u, x.x.dtype, op.type)}"),
            *(f"if q{k}:", f"    v{k} = {cast(v, x.y.dtype, op.type2)}"),
        ]
        call = self.operators.binary(op, (f"u{k}", op.type), (f"v{k}", op.type2))
        return self.cast_result(op, either(f"p{k}", f"q{k}"), call, x.dtype)

    def emit_Intersection(self, x: ir.Intersection) -> tuple[str, str]:
        (has_x, u), (has_y, v) = self.emit(x.x), self.emit(x.y)
        call = self.operators.binary(x.op, (u, x.x.dtype), (v, x.y.dtype))
        return self.cast_result(x.op, both(has_x, has_y), call, x.dtype)

    def emit_Select(self, x: ir.Select) -> tuple[str, str]:
        has, value = self.emit(x.x)
        k = self.number()
        self.body += [
            f"p{k} = {has}",
            f"v{k} = {literal(0, x.x.dtype)}",
            f"if p{k}:",
            f"    v{k} = {value}",
            f"    p{k} = {self.by_index(x, f'v{k}')}",
        ]
        return f"p{k}", self.operators.cast(f"v{k}", x.x.dtype, x.dtype)

    def emit_Restrict(self, x: ir.Restrict) -> tuple[str, str]:
        has, value = self.emit(x.x)
        return both(self.mask(x.mask, "i"), has), value

    def emit_Gather(self, x: ir.Gather) -> tuple[str, str]:
        k, indices = self.number(), self.values(x.indices)
        self.body.append(f"j{k} = wrap({indices}[i], {self.size(x.slot.dim)})")
        return f"{self.present(x.slot)}[j{k}]", self.value(x.slot, f"j{k}")

    def emit_Choose(self, x: Choose) -> tuple[str, str]:
        cast, k = self.operators.cast, self.number()
        chosen, other = self.value(x.chosen, "i"), self.value(x.other, "i")
        self.body += [
            f"p{k} = {self.present(x.other)}[i]",
            f"v{k} = {literal(0, x.other.dtype)}",
            f"if {self.present(x.flags)}[i]:",
            f"    p{k} = {self.present(x.chosen)}[i]",
            f"    if p{k}:",
            f"        v{k} = {cast(chosen, x.chosen.dtype, x.other.dtype)}",
            f"elif p{k}:",
            f"    v{k} = {other}",
        ]
        return f"p{k}", f"v{k}"

    # --- print the function and its call --------------------------------------------------------

    def launch(self) -> None:
        """Print the function, the record of the statement, and the call that runs it."""
        printer = self.printer
        place = self.record()
        printer.begin_segment()
        for array, position, text, may_fail in self.operands:
            begin = place if array == "w" else self.fields[words.REALS]
            printer.say(f"{array}[{begin + position}] = {text}")
            if may_fail:
                printer.check_fault(self.line)
        printer.call("LAUNCH", place)

    def record(self) -> int:
        """Print the function. Return the place of the record of the statement."""
        printer = self.printer
        fields = self.fields
        lines = self.lines()
        comments = [printer.comment(line) for line in self.read_lines]
        number = printer.add_function(self.name, lines, self.names, comments)
        if fields[words.FINISH] != words.DONE:
            covers, own = tuple(self.cover), tuple(dict.fromkeys(self.read_lines))
            phase = Phase(printer.block, self.name, own, self.dim.index, covers, self.pushed)
            printer.text.phases.append(phase)
        fields[words.NUMBER], fields[words.SOURCE_LINE] = number, self.line
        fields[words.DIM] = printer.text.dims + self.dim.index
        is_float = self.totals is not None and self.totals[0].is_float
        fields[words.IN_ORDER] = int(is_float)
        fields[words.TARGETS] = printer.constant([len(self.targets), *map(self.at, self.targets)])
        targets = {slot.index for slot in self.targets}
        pairs: list[int] = []
        for slots in self.cover:
            # If one of the slots is a target, it comes second, because the flags of the first slot
            # must not change.
            ordered = sorted(slots, key=lambda index: (index in targets, index))
            pairs += [*(printer.text.slots[index] for index in ordered), -1, -1][:2]
        fields[words.OPTIONS] = printer.constant([len(self.cover), *pairs])
        if self.reals:
            fields[words.REALS] = printer.take(self.reals, True)
        place = printer.constant([*fields.values(), *self.places])
        printer.text.codes.append((place + words.REGION, number))
        if fields[words.FOLD] >= 0:
            printer.text.codes.append((place + words.FOLD, fields[words.FOLD]))
        return place

    def at(self, slot: ir.Slot) -> int:
        """Return the place of a slot."""
        return self.printer.text.slots[slot.index]

    def result(self, out: ir.Slot, has: str, value: str) -> None:
        """Finish a region that writes all of a temporary slot."""
        values, present = self.values(out), self.present(out)
        self.fields |= {words.FINISH: words.RESULT, words.OUT: self.at(out)}
        lines = [f"{values}[i] = {value}"]
        if self.cover:
            self.fields[words.CLEARS] = 1
            lines += [
                "if is_listed:",
                f"    {self.list(out)}[np.uint64(first + added)] = np.int32(i)",
            ]
            self.body += guard(has, [*lines, f"{present}[i] = True", "added += 1"])
        else:
            self.body += [] if has == "found" else [f"found = {has}"]
            self.body += guard("found", [*lines, "added += 1"])
            self.body.append(f"{present}[i] = found")

    def lines(self) -> list[str]:
        """Return the lines of the function."""
        head = ["n = w[w[statement + DIM]]", *self.head]
        if self.whole_body is not None:
            return [*head, *self.whole_body, "return GOES_ON"]
        counts = self.counts()
        loop = ["for i in range(np.uint64(first), np.uint64(last)):", *indent(self.body)]
        if self.cover:
            head += ["is_listed = w[DOMAIN] == IN_LISTS"]
            head += ["rest = rest_of(part, w)"]
            loop = [
                "for begin in range(np.uint64(first), np.uint64(last), BLOCK):",
                "    length = call(w[LIST_BLOCK], np.int64(begin), last, part, n, w, r)",
                "    for t in range(np.uint64(length)):",
                "        i = np.uint64(rest[t])",
                *indent(indent(self.body)),
            ]
        for k, target in enumerate(self.targets):
            head.append(f"added{k}, removed{k} = np.int64(0), np.int64(0)")
            if self.cover:
                at = f"at_{self.token(target)}"
                head.append(f"grows{k} = w[APPENDS] != 0 and w[{at} + LISTED] == EXACT")
                head.append(f"end{k} = np.uint64(w[{at} + LENGTH])")
                loop += [f"if grows{k}:", f"    w[{at} + LENGTH] = end{k}"]
        if self.totals is None:
            head += [] if self.targets else ["added = np.int64(0)"]
            return [*head, *loop, *counts, *self.ending, "return GOES_ON"]
        dtype, start = self.totals
        return [
            *head,
            "s, size = np.uint64(first) // STRETCH, last",
            f"totals = view(w[PARTIALS], last // np.int64(STRETCH) + 1, {numpy_name(dtype)})",
            "has_total = view(w[HAS_PARTIAL], last // np.int64(STRETCH) + 1, np.bool_)",
            "while s * STRETCH < np.uint64(size):",
            f"    found, total = False, {start}",
            "    first = np.int64(s * STRETCH)",
            "    last = first + np.int64(STRETCH)",
            "    last = last if last < size else size",
            *indent(loop),
            "    totals[s], has_total[s] = total, found",
            "    s += ONE",
            "return GOES_ON",
        ]

    def counts(self) -> list[str]:
        """Return the lines that store the counts of a part."""
        if self.totals is not None:
            return []
        if not self.targets:
            return [f"store_counts(part, {self.printer.integer('0')}, added, first, w)"]
        return [
            f"store_counts(part, {self.printer.integer(str(2 * k))}, added{k}, removed{k}, w)"
            for k in range(len(self.targets))
        ]
