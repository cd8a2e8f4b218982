"""Print the sweeps of a plan as CUDA code."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphla.program import ir
from graphla.program.barriers import only_adds
from graphla.program.cuda_code import Lines, both, choose, convert, either, zero
from graphla.program.fusion import only_erases
from graphla.program.patterns import is_replaced, nodes
from graphla.program.plan_steps import Check, Compare, Erase, Fold, Part, Store, Sweep
from semirings.dtypes import BOOL, DataType

if TYPE_CHECKING:
    from graphla.program.cuda_text import Printer


AHEAD = 4
"""Number of positions whose elements a thread loads at the same time. LARGE and SMALL define
exceptions."""
LARGE = 32
"""If the elements for one position take more bytes than this, a thread loads those for AHEAD / 2
positions at a time."""
SMALL = 12
"""If the elements for one position take at most this many bytes, each thread of a sweep over all
positions loads those for 2 AHEAD positions at a time."""

MOST_ADDED = 4  # `MOST_ADDED` in program_machine.cuh

Value = Callable[[], str]
"""A function that prints the code that a value needs, and returns a C++ expression for the
value."""


class SweepPrinter:
    """Prints a sweep.

    The parts run one after another at each position. `known` maps each slot that an earlier part
    has changed to two C++ expressions: whether the slot has an entry at this position, and the
    entry's value.
    """

    def __init__(self, printer: Printer, sweep: Sweep) -> None:
        self.printer, self.sweep = printer, sweep
        self.known: dict[ir.Slot, tuple[str, str]] = {}
        self.flags: dict[ir.Slot, None] = {}  # the slots whose flags are loaded
        # Maps each slot whose values are loaded to the condition under which they are loaded.
        self.values: dict[ir.Slot, str] = {}
        self.gathered: dict[ir.Gather, tuple[str, bool]] = {}
        self.run = Lines(3)
        self.before = Lines(printer.out.depth)  # lines with the scalars of the sweep
        self.folds = Lines(printer.out.depth)
        self.line = 0

    def print(self) -> None:
        """Print the sweep.

        Set `begin` to the index of the first line after the lines that compute scalars.
        `Printer._split` can move the lines from this index on to a function.
        """
        out, printer = self.printer.out, self.printer
        dim, over = self.sweep.domain.dim, self.sweep.domain.over
        for part in self.sweep.parts:
            self.part(part)
        counted = self._counted()
        for slot, how in counted.items():
            self._count(slot, how)
        for line in dict.fromkeys(_line_of_part(part) for part in self.sweep.parts):
            printer.comment(line)
        n = printer.size(dim)
        span = f"all_of({n})"
        if over is not None:
            counts = printer.seen.get(over, f"*{printer.name(over)}.counts")
            span = f"entries_or_all({printer.name(over)}, {counts}, {n})"
        out.add(self.before.lines)
        self.begin = len(out.lines)
        out(f"const Span span = {span};")
        out.add(self.folds.lines)
        self._print_row(out)
        for slot, how in counted.items():
            self._open_count(slot, how)
            if self._is_listed(slot, how):
                name, n = printer.name(slot), printer.size(slot.dim)
                out(f"Listed listed_{name}(old_{name}, {n});")
        for part in self.sweep.parts:
            self._open_growth(part, counted)
        if self.sweep.clears:
            for slot in counted:
                out(f"clear_flags({printer.name(slot)}.present, span);")
            return
        if only_erases(self.sweep) and all(map(self._identity, counted)):
            for slot in counted:
                out(f"reset_entries({printer.name(slot)}, span, {self._identity(slot)});")
            return
        listed = [slot for slot, how in counted.items() if self._is_listed(slot, how)]
        out.begin(f"sweep<Row, {self._ahead(len(listed))}>(span,")
        for lines in (self._load_flags(), self._load_values(), self._load_gathered()):
            out(f"[&](i32 i, Row &row) {{ {' '.join(lines)} }},")
        out("[&](i32 i, Row &row) {")
        shift = out.depth + 1 - 3
        out.add("  " * shift + line for line in self.run.lines)
        news = [f"u32({self.known[slot][0]}) << {k}" for k, slot in enumerate(listed)]
        out(f"  return {' | '.join(news) or '0u'};")
        out("},")
        calls = [f"{self._append(slot, k)}" for k, slot in enumerate(listed)]
        out(f"[&](u32 k, u32 bits) {{ {' '.join(calls)} }});" if calls else "NoList());")
        out.depth -= 1
        for slot in filter(self._copies_list, listed):
            out(f"listed_{printer.name(slot)}.finish_copy({printer.name(slot)}, span);")
        sums = []
        for slot, how in counted.items():
            name = printer.name(slot)
            if how in ("all", "change"):
                sums.append(f"&{name}.counts->entries, found_{name}")
            if slot in listed and slot in printer.plan.pushing:
                sums.append(f"&{name}.counts->edges, listed_{name}.edges")
        folds = [part for part in self.sweep.parts if isinstance(part, (Fold, Compare))]
        # Folds use the memory of postponed sums, and a function has no access to `Machine`.
        way = "add" if folds or printer.splits_sweeps else "postpone"
        if folds and not printer.splits_sweeps:
            out("machine.begin_fold();")
        for k in range(0, len(sums), MOST_ADDED):
            some = ", ".join(sums[k : k + MOST_ADDED])
            out(f"if (takes_part(span)) machine.{way}({some});")
        for part in folds:
            partials = f"machine.partials({part.number}, turn_{part.number}_)"
            out(f"put_fold({partials}, machine.scratch, fold_{part.number});")

    def _ahead(self, count: int) -> int:
        if self.printer.options.cluster > 1:
            return 1  # the vectors are so small that a thread visits at most one position
        loaded = [*self.values, *self.gathered]
        size = len(self.flags) + sum(each.dtype.bits // 8 for each in loaded)
        ahead = AHEAD if size <= LARGE else AHEAD // 2
        if self.sweep.domain.over is None and size <= SMALL:
            ahead = 2 * AHEAD
        while ahead * count > 32:
            ahead //= 2
        return ahead

    # --- loads ----------------------------------------------------------------------------------

    def _print_row(self, out: Lines) -> None:
        fields = [f"bool has_{self.printer.name(slot)};" for slot in self.flags]
        fields += [f"{s.dtype.c_type} {self.printer.name(s)};" for s in self.values]
        for x, (name, is_full) in self.gathered.items():
            fields += [f"{x.dtype.c_type} {name};", *([] if is_full else [f"bool has_{name};"])]
        out(f"struct Row {{ {' '.join(fields)} }};")

    def _load_flags(self) -> list[str]:
        names = map(self.printer.name, self.flags)
        return [f"row.has_{name} = {name}.present[i];" for name in names]

    def _load_values(self) -> list[str]:
        lines = []
        for slot, has in self.values.items():
            name = self.printer.name(slot)
            if self.sweep.domain.over is not None and has != "true" and slot.dtype is not BOOL:
                # Listed positions usually have entries, so the load does not wait for the flag.
                has = f"span.list || {has}"
            value = choose(has, f"{name}.values[i]", zero(slot.dtype))
            lines.append(f"row.{name} = {value};")
        return lines

    def _load_gathered(self) -> list[str]:
        lines = []
        for x, (name, is_full) in self.gathered.items():
            slot = self.printer.name(x.slot)
            index = f"row.{self.printer.name(x.indices)}"
            index = f"place_in({index}, {self.printer.size(x.slot.dim)})"
            if is_full:
                lines.append(f"row.{name} = {slot}.values[{index}];")
            else:
                lines.append(f"row.has_{name} = {slot}.present[{index}];")
                value = choose(f"row.has_{name}", f"{slot}.values[{index}]", zero(x.dtype))
                lines.append(f"row.{name} = {value};")
        return lines

    def has(self, slot: ir.Slot, full: frozenset[ir.Slot]) -> str:
        """Return a C++ expression for whether a slot has an entry at position i."""
        if slot in self.known:
            return self.known[slot][0]
        if slot in full:
            return "true"
        self.flags[slot] = None
        return f"row.has_{self.printer.name(slot)}"

    def value(self, slot: ir.Slot, full: frozenset[ir.Slot]) -> str:
        """Return a C++ expression for the value of a slot at position i."""
        if slot in self.known:
            return self.known[slot][1]
        self.values.setdefault(slot, self.has(slot, full))
        return f"row.{self.printer.name(slot)}"

    # --- counts ---------------------------------------------------------------------------------

    def _counted(self) -> dict[ir.Slot, str]:
        """Return how the sweep counts the entries of each slot whose number of entries changes."""
        kinds: dict[ir.Slot, list[str]] = {}
        for part in self.sweep.parts:
            if isinstance(part, Store) and part.counts != "same":
                kinds.setdefault(part.into, []).append(part.counts)
            elif isinstance(part, Erase):
                kinds.setdefault(part.slot, []).append("none")
        is_dense = self.sweep.domain.over is None
        return {
            slot: each[-1]
            if len(each) == 1 or each[-1] in ("none", "full")
            else ("all" if is_dense or each[0] == "all" else "change")
            for slot, each in kinds.items()
        }

    def _open_count(self, slot: ir.Slot, how: str) -> None:
        out, name = self.printer.out, self.printer.name(slot)
        out(f"const Counts *const old_{name} = renew({name}, {self.printer.place(slot)});")
        keeps_queue = self.sweep.domain.over == slot
        if how == "all" or (how == "change" and keeps_queue):
            out(f"i32 found_{name} = 0;")
        elif how == "change":
            out(f"i32 found_{name} = kept_count(old_{name});")
        if how == "change" and keeps_queue:
            out(f"keep_queue({name}, old_{name});")
        elif how == "full":
            out(f"set_count({name}, {self.printer.size(slot.dim)});")

    def _open_growth(self, part: Part, counted: dict[ir.Slot, str]) -> None:
        """Print code that records where a store adds entries. The masks of products before the next
        barrier then also test these positions."""
        over, printer = self.sweep.domain.over, self.printer
        if not isinstance(part, Store) or part.into not in printer.plan.growing:
            return
        if over is None or not only_adds(part, over):
            return
        name, also = printer.name(part.into), printer.also(part.into)
        counts = f"old_{name}" if part.into in counted else f"{name}.counts"
        size = f"i64({counts}->entries) + entries_of({printer.name(over)})"
        printer.out(f"{also}most = {size}, {also} = {printer.place(over)};")

    def _is_listed(self, slot: ir.Slot, how: str) -> bool:
        """Return whether the sweep lists the entries of a slot that it counts."""
        return how == "all" and slot in self.printer.plan.queued

    def _append(self, slot: ir.Slot, bit: int) -> str:
        """Return the C++ statement that lists position i."""
        name, degree = self.printer.name(slot), "0"
        if slot in self.printer.plan.pushing:
            indptr = self.printer.pushed_indptr(slot)
            degree = f"degree_of({indptr}, j)"
        lane = f"[&](i32 j) {{ return u64({degree}); }}"
        if self._copies_list(slot):
            return f"listed_{name}.copy({name}, span, k, bits >> {bit} & 1, {lane});"
        return f"listed_{name}.add({name}, span.at(k), bits >> {bit} & 1, {lane});"

    def _copies_list(self, slot: ir.Slot) -> bool:
        """Return whether a sweep over a list gives a slot entries at exactly the listed
        positions."""
        over = self.sweep.domain.over
        stores = [part for part in self.sweep.parts if isinstance(part, Store)]
        is_sparse = any(part.is_sparse and part.into == slot for part in stores)
        if over is None or over in self.known or not is_sparse:
            return False
        return self.known[slot][0] == self.has(over, frozenset())

    def _count(self, slot: ir.Slot, how: str) -> None:
        name = self.printer.name(slot)
        after = self.known[slot][0]
        if how == "all":
            self.run(f"found_{name} += {after};")
        elif how == "change":
            self.flags[slot] = None
            self.run(f"found_{name} += i32({after}) - i32(row.has_{name});")

    # --- expressions ----------------------------------------------------------------------------

    def expression(self, x: ir.VectorExpression, full: frozenset[ir.Slot]) -> tuple[str, Value]:
        """Return C++ expressions for whether a vector expression has an entry, and for its value.

        The value is only meaningful if there is an entry.
        """
        if isinstance(x, ir.Entry):
            return self.has(x.slot, full), lambda: self.value(x.slot, full)
        if isinstance(x, ir.Full):
            value = self.uniform(x.value, x.dtype)
            return "true", lambda: value
        if isinstance(x, ir.Empty):
            return "false", lambda: zero(x.dtype)
        if isinstance(x, ir.Gather):
            return self._gather(x, full)
        if isinstance(x, (ir.Union, ir.UnionDefaults, ir.Intersection)):
            return self._pair(x, full)
        if isinstance(x, ir.Select):
            return self._select(x, full)
        assert not isinstance(x, (ir.Product, ir.MatrixReduction))
        has, value = self.expression(x.x, full)
        if isinstance(x, ir.Restrict):
            mask = self.mask(x.mask, full)
            return self.keep(BOOL, both(has, mask)), value
        return has, lambda: self._apply(x, value)

    def _apply(self, x: Any, value: Value) -> str:
        inner, op = x.x.dtype, getattr(x, "op", None)
        if isinstance(x, ir.Cast):
            return convert(x.dtype, value(), inner)
        assert op is not None
        if isinstance(x, (ir.Apply, ir.ApplyIndex)):
            text = self._call_unary(op, x, value)
        elif isinstance(x, ir.ApplyLeft):
            scalar = self.uniform(x.scalar, op.type) if op.reads_x else zero(op.type)
            y = convert(op.type2, value(), inner) if op.reads_y else zero(op.type2)
            text = self._call_binary(op, scalar, y)
        else:
            scalar = self.uniform(x.scalar, op.type2) if op.reads_y else zero(op.type2)
            given = convert(op.type, value(), inner) if op.reads_x else zero(op.type)
            text = self._call_binary(op, given, scalar)
        return self.keep(x.dtype, convert(x.dtype, text, op.return_type))

    def _call_unary(self, op: Any, x: Any, value: Value) -> str:
        """Return the call of a unary, index-unary or select operator."""
        entry = convert(op.type, value(), x.x.dtype) if op.reads_x else zero(op.type)
        thunk = ""
        if "thunk" in op.parameters:
            thunk = self.uniform(x.thunk, op.parameters["thunk"])
        given = {"x": entry, "i": "i", "j": "0", "thunk": thunk}
        arguments = ", ".join(given[name] for name in op.parameters)
        return f"{self.printer.operators.function(op)}({arguments})"

    def _call_binary(self, op: Any, x: str, y: str) -> str:
        given = f"{x}, i, 0, {y}, i, 0" if op.is_positional else f"{x}, {y}"
        return f"{self.printer.operators.function(op)}({given})"

    def _select(self, x: ir.Select, full: frozenset[ir.Slot]) -> tuple[str, Value]:
        has, value = self.expression(x.x, full)
        test = self._call_unary(x.op, x, value)
        return self.keep(BOOL, both(has, convert(BOOL, test, x.op.return_type))), value

    def _gather(self, x: ir.Gather, full: frozenset[ir.Slot]) -> tuple[str, Value]:
        self.value(x.indices, full | {x.indices})
        if x not in self.gathered:
            name = self.printer.temporary("gathered")
            self.gathered[x] = name, x.slot in full
        name, is_full = self.gathered[x]
        return "true" if is_full else f"row.has_{name}", lambda: f"row.{name}"

    def _pair(self, x: Any, full: frozenset[ir.Slot]) -> tuple[str, Value]:
        op = x.op
        (has_x, value_x), (has_y, value_y) = (self.expression(each, full) for each in (x.x, x.y))

        def first() -> str:
            return convert(op.type, value_x(), x.x.dtype) if op.reads_x else zero(op.type)

        def second() -> str:
            return convert(op.type2, value_y(), x.y.dtype) if op.reads_y else zero(op.type2)

        def joined(a: str, b: str) -> str:
            return convert(x.dtype, self._call_binary(op, a, b), op.return_type)

        if isinstance(x, ir.Intersection):
            return self.keep(BOOL, both(has_x, has_y)), lambda: self.keep(
                x.dtype, joined(first(), second())
            )
        has = self.keep(BOOL, either(has_x, has_y))
        if isinstance(x, ir.UnionDefaults):
            left = self.uniform(x.left, op.type) if op.reads_x else zero(op.type)
            right = self.uniform(x.right, op.type2) if op.reads_y else zero(op.type2)

            def filled() -> str:
                a = choose(has_x, first(), left)
                return self.keep(x.dtype, joined(a, choose(has_y, second(), right)))

            return has, filled

        def united() -> str:
            a, b = convert(x.dtype, value_x(), x.x.dtype), convert(x.dtype, value_y(), x.y.dtype)
            alone = choose(has_x, a, b)
            return self.keep(x.dtype, choose(both(has_x, has_y), joined(first(), second()), alone))

        return has, united

    def mask(self, mask: ir.Mask, full: frozenset[ir.Slot]) -> str:
        """Return a C++ expression for whether a mask selects position i."""
        if isinstance(mask, ir.MaskOf):
            has = self.has(mask.slot, full)
            if not mask.by_value:
                return has
            return both(has, convert(BOOL, self.value(mask.slot, full), mask.slot.dtype))
        if isinstance(mask, ir.NotMask):
            inner = self.mask(mask.mask, full)
            return {"true": "false", "false": "true"}.get(inner, f"!{inner}")
        join = both if isinstance(mask, ir.AndMask) else either
        return join(self.mask(mask.left, full), self.mask(mask.right, full))

    def uniform(self, x: ir.Scalar, dtype: DataType) -> str:
        """Print the evaluation of a scalar, converted to a dtype, before the sweep. Return the name
        of the value."""
        name = self.printer.temporary("s")
        text, may_fault = self.printer.fit(x, dtype)
        self.before(f"const {dtype.c_type} {name} = {text};")
        if may_fault:
            self.before(f"if (machine.fault) {{ machine.line = {self.line}; goto failed; }}")
        return name

    def keep(self, dtype: DataType, text: str) -> str:
        """Print a C++ variable with this value, and return its name.

        A name or a constant is returned unchanged.
        """
        if re.fullmatch(r"[\w.]+", text):
            return text
        name = self.printer.temporary("x")
        self.run(f"const {dtype.c_type} {name} = {text};")
        return name

    # --- parts ----------------------------------------------------------------------------------

    def part(self, part: Part) -> None:
        """Print the code for a part at position i."""
        self.line = _line_of_part(part)
        if isinstance(part, Store):
            self._store(part)
        elif isinstance(part, Erase):
            name = self.printer.name(part.slot)
            if part.slot in self.printer.plan.presets:
                self._reset(part.slot, self.has(part.slot, frozenset()), "false")
            self.run(f"{name}.present[i] = false;")
            self.known[part.slot] = "false", zero(part.slot.dtype)
        elif isinstance(part, Fold):
            self._fold(part)
        elif isinstance(part, Compare):
            self._compare(part)
        else:
            self._check(part)

    def _fold(self, part: Fold) -> None:
        source = part.reduce.source
        op = self.printer.fold_struct(part.reduce)
        self.folds(f"Fold<{op}> fold_{part.number};")
        has, value = self.expression(source, part.full)
        reads = part.reduce.monoid
        self.run.begin(f"if ({has}) {{")
        text = convert(reads.type, value(), source.dtype)
        self.run(f"fold_{part.number}.append(Fold<{op}>({text}, true));")
        self.run.end()

    def _compare(self, part: Compare) -> None:
        left, right = part.equal.left, part.equal.right
        self.folds(f"Fold<Differs> fold_{part.number};")
        a, b = self.has(left, part.full), self.has(right, part.full)
        values = f"{self.value(left, part.full)} == {self.value(right, part.full)}"
        test = f"{a} != {b} || ({a} && !({values}))"
        self.run(f"if ({test}) fold_{part.number}.append(Fold<Differs>(true, true));")

    def _check(self, part: Check) -> None:
        printer = self.printer
        faults = zip(BAD_INDICES, (part.indices.dim, part.dim), strict=True)
        # If there are several faults, the program reports the one with the smallest number.
        missing, outside = (printer.fault(*fault, part.line, dim) for fault, dim in faults)
        self.before("++machine.turns;")
        has, index = self.has(part.indices, frozenset()), self.value(part.indices, frozenset())
        self.run(f"if (!{has}) machine.report_missing({missing});")
        self.run(f"else if (!is_place({index}, {printer.size(part.dim)}))")
        self.run(f"  machine.report({outside}, {index});")

    def _store(self, part: Store) -> None:
        write, full, printer = part.write, part.full, self.printer
        target, into = write.target, printer.name(part.into)
        is_in_place = part.into == target
        if is_replaced(write):
            self._overwrite(part, into)
            return
        accum = write.accum
        had = self.has(target, full)
        old = ""
        if not is_in_place or (accum is not None and accum.reads_x) or self._is_read_after(part):
            old = self.value(target, full)
        run, kind = self.run, target.dtype.c_type
        has, value = printer.temporary("has"), printer.temporary("x")
        run(f"bool {has} = {had};")
        run(f"{kind} {value} = {old or zero(target.dtype)};")
        if write.mask is not None:
            run.begin(f"if ({self.mask(write.mask, full)}) {{")
        there, source = self.expression(write.source, full)
        run.begin(f"if ({there}) {{")
        new = source()
        text = convert(target.dtype, new, write.source.dtype)
        if accum is not None:
            a = convert(accum.type, value, target.dtype) if accum.reads_x else zero(accum.type)
            b = convert(accum.type2, new, write.source.dtype)
            joined = convert(target.dtype, self._call_binary(accum, a, b), accum.return_type)
            text = choose(had, joined, text)
        run(f"{value} = {text};")
        run(f"{has} = true;")
        if is_in_place:
            run(f"{into}.values[i] = {value};")
        if accum is None:
            run.end(f"}} else {has} = false;")
        else:
            run.end()
        if write.mask is not None:
            run.end(f"}} else {has} = false;" if write.replace else "}")
        if not is_in_place:
            run(f"{into}.present[i] = {has};")
            run(f"if ({has}) {into}.values[i] = {value};")
        elif part.counts != "same" and part.into in printer.plan.growing:
            run(f"if ({has} != {had}) store_flag(&{into}.present[i], {has});")
        elif part.counts != "same":
            run(f"if ({has} != {had}) {into}.present[i] = {has};")
        if is_in_place:
            self._reset(part.into, had, has)
        self.known[part.into] = has, value
        if not is_in_place:
            self.known[target] = had, old

    def _overwrite(self, part: Store, into: str) -> None:
        """Print code for a write that replaces the whole target."""
        write, run = part.write, self.run
        there, source = self.expression(write.source, part.full)
        kind = part.into.dtype
        if write.mask is not None:
            there = both(self.mask(write.mask, part.full), there)
        there = self.keep(BOOL, there)
        if part.into in self.printer.plan.presets and not part.is_sparse and part.counts != "full":
            self._reset(part.into, self.has(part.into, part.full), there)
        if there == "false":
            run(f"{into}.present[i] = false;")
            self.known[part.into] = "false", zero(kind)
            return
        value = self.printer.temporary("x")
        run(f"{kind.c_type} {value} = {zero(kind)};")
        run.begin(f"if ({there}) {{")
        run(f"{value} = {convert(kind, source(), write.source.dtype)};")
        run(f"{into}.values[i] = {value};")
        run.end()
        if part.counts != "same":
            run(f"{into}.present[i] = {there};")
        self.known[part.into] = there, value

    def _reset(self, slot: ir.Slot, had: str, has: str) -> None:
        """Print code that resets a deleted entry's value to the identity, if the slot requires it.

        `had` and `has` are the conditions for an entry before and after the write.
        """
        identity = self._identity(slot)
        if identity and has not in (had, "true"):
            gone = {"false": had}.get(has, f"{had} && !{has}")
            self.run(f"if ({gone}) {self.printer.name(slot)}.values[i] = {identity};")

    def _identity(self, slot: ir.Slot) -> str | None:
        """Return the value that a slot stores at positions without an entry, or None if it may be
        any value."""
        monoid = self.printer.plan.presets.get(slot)
        return monoid and f"{self.printer.operators.monoid(monoid)}::identity()"

    def _is_read_after(self, part: Store) -> bool:
        """Return whether a later part of this sweep may read the value of a store's target."""
        later = self.sweep.parts[self.sweep.parts.index(part) + 1 :]
        return any(each == part.into for other in later for each in nodes(_read_by(other)))


def _read_by(part: Part) -> Any:
    if isinstance(part, Store):
        return part.write
    if isinstance(part, Fold):
        return part.reduce.source
    if isinstance(part, Compare):
        return (part.equal.left, part.equal.right)
    return part.indices if isinstance(part, Check) else ()


BAD_INDICES = (
    (
        "InvalidValue",
        "index must be a Vector with an entry at each position, but {missing} of its {size} "
        "positions {have} no entry",
    ),
    ("IndexOutOfBound", "index {index} is out of range: the size is {size}"),
)
"""The faults of a vector of indices: a missing entry, and an index out of range.

Each fault is described by its exception and the message.
"""


def _line_of_part(part: Part) -> int:
    if isinstance(part, Store):
        return part.write.line
    if isinstance(part, Fold):
        return part.reduce.line
    return part.equal.line if isinstance(part, Compare) else part.line
