"""Print a plan as a CUDA kernel, which includes backends/cuda/program.cuh.

All threads run the kernel's control flow, and each has its own copy of the scalar variables. The
kernel carries the user's lines as comments, and the user's names.

The kernel and the host exchange the state of a program in words of 8 bytes (`Words`).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from graphla.program import ir
from graphla.program.barriers import accesses
from graphla.program.cuda_code import (
    LIBRARY,
    Lines,
    Operators,
    c_type,
    call,
    choose,
    constant,
    convert,
    reserved_names,
    zero,
)
from graphla.program.cuda_layout import (
    KERNEL,
    SCALAR_FAULTS,
    FormKey,
    Options,
    Text,
    form_keys,
    words_of,
)
from graphla.program.cuda_products import print_product, product_of
from graphla.program.cuda_sweeps import SweepPrinter
from graphla.program.faults import fits, has_fault
from graphla.program.patterns import nodes
from graphla.program.plan_steps import (
    Barrier,
    Combine,
    CountItem,
    Element,
    Enqueue,
    Exchange,
    Load,
    Multiply,
    Plan,
    Save,
    ScatterInto,
    Step,
    Sweep,
    Uniform,
)
from semirings.dtypes import DataType

SWEEPS_PER_PART = 4
"""The maximum number of sweeps in a part."""


def print_kernel(plan: Plan, options: Options) -> Text:
    """Return the text of the kernel that runs a plan."""
    return Printer(plan, options).text()


class Printer:
    """Prints one kernel."""

    def __init__(self, plan: Plan, options: Options) -> None:
        self.plan, self.options, self.program = plan, options, plan.program
        self.words = words_of(plan)
        self.operators = Operators()
        self.faults: list[tuple[str, str, int, int]] = []
        self.forms: list[FormKey] = []
        self.out = Lines()
        self._names: dict[Any, str] = {}
        self._used = set(reserved_names())
        for each in (*plan.slots, *self.words.variables, *self.program.stacks):
            self._names[each] = self._unique(each.name)
        for each in self.program.matrices:
            self._names[each.index] = self._unique(each.name)
        self.temporaries = 0
        self._touched: dict[ir.Slot, None] = {}  # the slots that the current step uses
        # Maps slots to the C++ variables with their counts, which are loaded after a barrier.
        self.seen: dict[ir.Slot, str] = {}
        self._growing = sorted(plan.growing, key=lambda slot: slot.index)
        steps = [step for block in plan.blocks for step in block.steps]
        products = [product_of(self, step) for step in steps if isinstance(step, Multiply)]
        self.shared = {each for each, count in Counter(products).items() if count > 1}
        self.is_in_parts = options.sweeps_from is not None
        if self.is_in_parts:
            self.shared = set(products)
        self.product_parts: dict[str, None] = {}  # the products that are compiled as parts
        self._functions: list[list[str]] = []  # the text of each sweep that is compiled as a part
        sweeps = sum(isinstance(step, Sweep) and not step.clears for step in steps)
        is_long = options.sweeps_from is not None and sweeps >= options.sweeps_from
        self.splits_sweeps = is_long and not plan.growing

    def _unique(self, name: str) -> str:
        base = name = re.sub(r"\W", "_", name, flags=re.ASCII)
        if not re.match(r"[A-Za-z]", name):
            base = name = f"v{name}"
        count = 1
        while name in self._used or f"has_{name}" in self._used:
            count += 1
            name = f"{base}_{count}"
        self._used |= {name, f"has_{name}"}
        return name

    def name(self, x: ir.Slot | ir.Var | ir.Stack) -> str:
        """Return the C++ name of a slot, a variable or a stack.

        The name of a slot is the name of a C++ `Vector`. Each step that uses the slot declares this
        `Vector`.
        """
        if isinstance(x, ir.Slot):
            self._touched[x] = None
        return self._names[x]

    def place(self, slot: ir.Slot) -> str:
        """Return the C++ name of the variable that tells where the vector in a slot is stored."""
        return f"{self._names[slot]}_at_"

    def also(self, slot: ir.Slot) -> str:
        """Return the C++ name of the variable that tells where sweeps may add entries to a slot.

        The variable holds the place of a vector m. Sweeps may have added entries to the slot since
        the last barrier, but only at positions where m has entries. If no sweep has added entries,
        m is the vector in the slot itself. A second variable, whose name ends in "most", holds an
        upper bound on the number of entries in the slot after these sweeps, or -1.
        """
        return f"{self._names[slot]}_also_"

    def vector(self, slot: ir.Slot) -> str:
        """Return a C++ expression for the vector in a slot."""
        return f"vector_at<{slot.dtype.c_type}>(slots, {self.place(slot)})"

    def temporary(self, prefix: str) -> str:
        """Return a new name for an intermediate value."""
        self.temporaries += 1
        return f"{prefix}_t{self.temporaries}"

    def size(self, dim: ir.Dim) -> str:
        """Return the C++ name of a dimension."""
        return f"size_{dim.index}_"

    def fault(self, kind: str, text: str, line: int, dim: ir.Dim | None = None) -> int:
        """Return the number by which the kernel reports a fault.

        `dim` is the dimension that the message of a fault in a vector names.
        """
        fault = kind, text, line, -1 if dim is None else dim.index
        if fault not in self.faults:
            self.faults.append(fault)
        return SCALAR_FAULTS + self.faults.index(fault)

    def form(self, key: FormKey) -> str:
        """Return the C++ name of a form of a matrix."""
        if key not in self.forms:
            self.forms.append(key)
        index, name, way = key
        return f"{self._names[index]}_{name}_{way}_"

    def pushed_indptr(self, slot: ir.Slot) -> str:
        """Return a C++ expression for `indptr` of the form that a push of the slot reads."""
        return f"{self.form(form_keys(self.plan.pushing[slot])[1])}.indptr"

    # --- the kernel -----------------------------------------------------------------------------

    def text(self) -> Text:
        """Return the whole text."""
        body = self.out
        for number, block in enumerate(self.plan.blocks):
            body.lines.append(f"block_{number}:")
            line = 0
            self.seen.clear()
            for k, step in enumerate(block.steps):
                self.step(step)
                line = _line_of(step) or line
                # In a cluster, sweeps over small vectors visit all positions and need no counts.
                if isinstance(step, Barrier) and self.options.cluster == 1:
                    self._load_counts(_find_visited(block.steps[k + 1 :]))
            self.end(block.end, line)
        head, tail = Lines(), Lines()
        self._print_head(head)
        self._print_tail(tail)
        state = f"ARGUMENT State<{self.words.size}> given"
        parameters = ["ARGUMENT Launch launch", "ARGUMENT Frame frame", state]
        for key in self.forms:
            kind = self.options.forms[key]
            parameters.append(
                f"ARGUMENT ProductForm<{kind.offset}, {kind.values}> {self.form(key)}"
            )
        signature = ", ".join(parameters)
        cluster = "" if self.options.cluster == 1 else f"CLUSTER({self.options.cluster}) "
        lines = [
            *self._defines(),
            f'#include "{LIBRARY}"',
            "namespace graphla {",
            *self.operators.texts,
            *self._part_lines(),
            f"/// The loop in {self.program.name}.",
            "template <int>",
            f"__global__ void {cluster}__launch_bounds__({self.options.block}, 1)",
            f"{KERNEL}({signature}) {{",
            *head.lines,
            *body.lines,
            *tail.lines,
            "}",
            *(["#endif"] if self.parts else []),
            "}  // namespace graphla",
            "",
        ]
        text, block = "\n".join(lines), self.options.block
        return Text(text, self.words, self.forms, block, self.faults, self.parts)

    @property
    def parts(self) -> int:
        """The number of parts of the program, in addition to the kernel."""
        return len(self.product_parts) + -(-len(self._functions) // SWEEPS_PER_PART)

    def _part_lines(self) -> list[str]:
        """Return the lines of all parts except the kernel. The kernel, which is part 0, follows."""
        if not self.parts:
            return []
        lines = ["#ifdef GRAPHLA_PART"]
        for number, instance in enumerate(self.product_parts, 1):
            lines += [f"#if GRAPHLA_PART != {number}", "extern", "#endif", f"template {instance};"]
        lines.append("#endif")
        for k, (signature, *body) in enumerate(self._functions):
            number = 1 + len(self.product_parts) + k // SWEEPS_PER_PART
            lines += [f"{signature};", f"#if !defined(GRAPHLA_PART) || GRAPHLA_PART == {number}"]
            lines += [f"{signature} {{", *body, "}", "#endif"]
        return [*lines, "#if !defined(GRAPHLA_PART) || GRAPHLA_PART == 0"]

    def _defines(self) -> list[str]:
        """Return the macro definitions that the included CUDA files need."""
        lines = []
        if self.options.cluster > 1:
            lines.append(f"#define GRAPHLA_ONE_CLUSTER {self.options.cluster}")
        return lines

    def _print_head(self, out: Lines) -> None:
        words, program = self.words, self.program
        out(f"SHARED(u64, scratch, SCRATCH_SUMS + MOST_ADDED * {self.options.block // 32});")
        out(f"SHARED(u64, words, {words.size});")
        out(f"for (u32 k = threadIdx.x; k < {words.size}; k += blockDim.x)")
        out("  words[k] = given.words[k];")
        out("__syncthreads();")
        out("SHARED_BYTES(votes);")
        out("Machine machine(launch, frame, scratch, (u32 *)votes);")
        if self.forms:
            out("SHARED(ProductRoom, room, 1);")
            out("prepare_room(room);")
        out("u32 status = FINISHED, exit_number = 0, resume = 0;")
        out("u64 needed = 0;")
        out("machine.products = u32(words[STATE_PRODUCTS]);")
        for k in range(program.dims):
            out(f"const i64 {self.size(ir.Dim(k))} = i64(words[{words.dims + k}]);")
        for k, array in enumerate(program.arrays):
            kind = f"const {array.dtype.c_type} *"
            out(f"{kind}const array_{array.index}_ = ({kind})words[{words.arrays + k}];")
        for each, at in words.variables.items():
            kind = c_type(each.dtype)
            out(f"{kind} {self.name(each)} = as_bits<{kind}>(words[{at}]);")
        first = next(iter(words.slots.values()), 0)
        out(f"u64 *const slots = &words[{first}];")
        for k, slot in enumerate(words.slots):
            out(f"u32 {self.place(slot)} = place_of(slots, {k});")
        for stack, at in words.stacks.items():
            kind = stack.dtype.c_type
            out(f"Stack<{kind}> {self.name(stack)} = stack_at<{kind}>(&words[{at}]);")
        for slot in sorted(self.plan.measured, key=lambda slot: slot.index):
            out(f"i64 {self.measure_of(slot)} = 0;")
        for number in range(self.plan.folds):
            out(f"u32 turn_{number}_ = 0;")
        for k in range(MOST_SEEN if self.options.cluster == 1 else 0):
            out(f"Counts seen_{k}_;")
        for slot in self._growing:
            out(f"u32 {self.also(slot)} = {self.place(slot)};")
            out(f"i64 {self.also(slot)}most = -1;")
        saves = [
            step.number
            for block in self.plan.blocks
            for step in block.steps
            if isinstance(step, Save)
        ]
        out("clear_memory(frame, words[STATE_RESUME] == 0);")
        for slot, monoid in self.plan.presets.items():
            identity = f"{self.operators.monoid(monoid)}::identity()"
            given = f"{self.vector(slot)}.values, {identity}, {self.size(slot.dim)}"
            out(f"if (words[STATE_RESUME] == 0) fill({given});")
        out("if (machine.meet()) goto stopped;")
        for number in saves:
            out(f"if (words[STATE_RESUME] == {number + 1}) goto resume_{number};")
        for slot, at in words.inputs.items():
            word = f"typename uint_of<sizeof({slot.dtype.c_type})>::type"
            size = self.size(slot.dim)
            given = f"&words[{at}], slots, {self.place(slot)}, {size}"
            offsets = "(const i32 *)nullptr"
            if slot in self.plan.pushing and slot in self.plan.queued:
                offsets = self.pushed_indptr(slot)
            out(f"copy_input<{word}>({given}, {offsets}, scratch);")
        if words.inputs:
            out("if (machine.meet()) goto stopped;")

    def _print_tail(self, out: Lines) -> None:
        words = self.words
        out.lines.append("stopped:")
        out("status = machine.why();")
        out("goto leave;")
        if any("goto failed;" in line for line in self.out.lines):
            out.lines.append("failed:")
            out("status = FAULT;")
        out.lines.append("leave:")
        out("machine.add_postponed();")
        out.begin("if (is_last_block(machine.grid) && threadIdx.x == 0) {")
        out("u64 *const state = frame.state;")
        out("state[STATE_RESUME] = resume;")
        out("state[STATE_FAULT] = machine.fault;")
        out("state[STATE_LINE] = machine.line;")
        out("state[STATE_EXIT] = exit_number;")
        out("state[STATE_NEEDED] = needed;")
        out("state[STATE_PRODUCTS] = machine.finish();")
        if any(dim >= 0 for *_, dim in self.faults):
            out(f"if (machine.fault >= {SCALAR_FAULTS}) machine.describe_fault(state);")
        if words.variables:
            first, last = min(words.variables.values()), max(words.variables.values())
            out.lines.append("#pragma unroll 4")
            out(f"for (u32 k = {first}; k <= {last}; ++k) state[k] = words[k];")
        for slot, at in words.slots.items():
            out(f"put_vector({self.vector(slot)}, &state[{at}]);")
        for stack, at in words.stacks.items():
            out(f"put_stack({self.name(stack)}, &state[{at}]);")
        out("__threadfence_system();")
        out("tell_host(launch, HOST_STATUS, status);")
        out.end()

    def end(self, end: ir.End, line: int) -> None:
        """Print the jump or the exit at the end of a block."""
        if isinstance(end, ir.Exit):
            self.out(f"exit_number = {end.number};")
            self.out("goto leave;")
        elif isinstance(end, ir.Jump):
            self._jump(end.target)
        else:
            self.out.begin("{")
            self.out(f"const bool is_true = {self.scalar(end.condition)};")
            self._check_fault(end.condition, line)
            self.out.begin("if (is_true) {")
            self._jump(end.then)
            self.out.end("} else {")
            self.out.depth += 1
            self._jump(end.otherwise)
            self.out.end()
            self.out.end()

    def _jump(self, target: int) -> None:
        """Print a jump. In a backward jump, a thread sometimes tests whether the host has requested
        a stop."""
        if self._is_back(target):
            self.out("if (machine.idles()) goto stopped;")
        self.out(f"goto block_{target};")

    def _is_back(self, target: int) -> bool:
        """Return whether the block that is being printed comes after the target of a jump."""
        return f"block_{target}:" in self.out.lines

    # --- scalars --------------------------------------------------------------------------------

    def scalar(self, x: ir.Scalar) -> str:
        """Return a C++ expression for a scalar."""
        if isinstance(x, ir.Constant):
            return constant(x.value)
        if isinstance(x, ir.Size):
            return self.size(x.dim)
        if isinstance(x, ir.Var):
            return self.name(x)
        if isinstance(x, ir.Element):
            return f"python_number(array_{x.array.index}_[{self.scalar(x.index)}], machine.fault)"
        arguments = [self.scalar(each) for each in x.arguments]
        return call(x.function, arguments, [each.dtype for each in x.arguments])

    def fit(self, x: ir.Scalar, dtype: DataType) -> tuple[str, bool]:
        """Return a C++ expression for a scalar as an entry of a dtype, and whether it may fault."""
        text, may_fault = self.scalar(x), any(map(has_fault, nodes(x)))
        if fits(x, dtype):
            return convert(dtype, text, x.dtype), may_fault
        return f"fit<{dtype.c_type}>({text}, machine.fault)", True

    def _check_fault(self, x: Any, line: int) -> None:
        """Print a test for faults in the evaluation of the scalars in x."""
        if any(map(has_fault, nodes(x))):
            self.out(f"if (machine.fault) {{ machine.line = {line}; goto failed; }}")

    # --- steps ----------------------------------------------------------------------------------

    def step(self, step: Step) -> None:
        """Print a step."""
        if isinstance(step, Barrier):
            self.out(f"// barrier: {step.reason}")
            self.out("if (machine.meet()) goto stopped;")
            for slot in self._growing:
                self.out(f"{self.also(slot)} = {self.place(slot)}, {self.also(slot)}most = -1;")
            return
        if isinstance(step, Save):
            self.out.lines.append(f"resume_{step.number}:")
            self.seen.clear()
        outer, self.out = self.out, Lines(self.out.depth + 1)
        self._touched = {}
        if isinstance(step, Sweep):
            printer = SweepPrinter(self, step)
            printer.print()
            if self.splits_sweeps and not step.clears:
                self._split(printer.begin)
        else:
            self.comment(_line_of(step))
            _print[type(step)](self, step)
        inner, self.out = self.out, outer
        outer.begin("{")
        outer.add("  " * outer.depth + line for line in self._vectors())
        outer.add(inner.lines)
        outer.end()

    def _vectors(self) -> list[str]:
        """Return the declarations of the vectors that the current step uses."""
        return [
            f"Vector<{slot.dtype.c_type}> {self._names[slot]} = {self.vector(slot)};"
            for slot in self._touched
        ]

    def _split(self, begin: int) -> None:
        """Move the lines of a sweep, from index `begin` on, to a function, and print its call."""
        out = self.out
        text = "\n".join(out.lines[begin:])
        if re.search(r"machine\.(?!add\(|partials\(|scratch)", text):
            return
        del out.lines[begin:]
        given = {"slots": "const u64 *slots", "scratch": "u64 *scratch"}
        given |= {place: f"u32 {place}" for place in map(self.place, self._touched)}
        given |= {size: f"i64 {size}" for size in sorted(set(re.findall(r"\bsize_\d+_\b", text)))}
        given |= {name: f"Counts {name}" for name in sorted(set(re.findall(r"\bseen_\d+_", text)))}
        for kind, name in re.findall(r"const (.+) (s_t\d+) = ", "\n".join(out.lines)):
            given[name] = f"{kind} {name}"
        for key in self.forms:
            indptr = f"{self.form(key)}.indptr"
            if indptr in text:
                name = indptr.replace(".", "")
                given[indptr] = f"const {self.options.forms[key].offset} *{name}"
                text = text.replace(indptr, name)
        for found in re.finditer(r"machine\.partials\((\d+), turn_\d+_\)", text):
            given[found[0]] = f"u64 *partials_{found[1]}_"
            text = text.replace(found[0], f"partials_{found[1]}_")
        text = text.replace("machine.add(", "add_sums(scratch, ")
        text = text.replace("machine.scratch", "scratch")
        name = f"sweep_{len(self._functions)}_"
        signature = f"LINKED void {name}({', '.join(given.values())})"
        body = [f"  {line}" for line in self._vectors()]
        self._functions.append([signature, *body, *text.split("\n")])
        out(f"{name}({', '.join(given)});")
        for place in re.findall(r"= renew\(\w+, (\w+)\)", text):
            out(f"{place} = next_place({place});")
        self._touched = {}

    def _load_counts(self, slots: list[ir.Slot]) -> None:
        """Print loads of the counts of slots. The loads overlap, so they take as long as one
        load."""
        self.seen = {slot: f"seen_{k}_" for k, slot in enumerate(slots)}
        for slot, name in self.seen.items():
            self.out(f"{name} = *{self.vector(slot)}.counts;")

    def comment(self, line: int) -> None:
        """Print a line of the user's source as a comment."""
        if 0 < line <= len(self.program.source):
            text = self.program.source[line - 1].strip()
            text = text.encode("ascii", "backslashreplace").decode()
            # A backslash at the end of a comment would continue it on the next line.
            self.out(f"// {line}: {text.rstrip(chr(92))}")
        else:
            self.out(f"// line {line}")

    def exchange(self, step: Exchange) -> None:
        """Print code that exchanges the contents of slots."""
        for k, source in enumerate(step.sources):
            self.out(f"const u32 old_{k} = {self.place(source)};")
        for k, target in enumerate(step.targets):
            self.out(f"{self.place(target)} = old_{k};")
        moved = [self.seen.pop(source, None) for source in step.sources]
        self.seen |= {to: x for to, x in zip(step.targets, moved, strict=True) if x is not None}

    def uniform(self, step: Uniform) -> None:
        """Print code for a scalar instruction."""
        x, out = step.instruction, self.out
        if isinstance(x, ir.Let):
            for k, value in enumerate(x.values):
                out(f"const {c_type(value.dtype)} value_{k} = {self.scalar(value)};")
            self._check_fault(x.values, x.line)
            for k, variable in enumerate(x.variables):
                out(f"{self.name(variable)} = value_{k};")
            self._record(*x.variables)
        elif isinstance(x, ir.Count):
            count = self.measure_of(x.slot)
            if x.slot not in self.plan.measured:
                count = f"entries_of({self.name(x.slot)})"
            out(f"{self.name(x.variable)} = {count};")
            self._record(x.variable)
        elif isinstance(x, ir.Length):
            out(f"{self.name(x.variable)} = {self.name(x.stack)}.length;")
            self._record(x.variable)
        elif isinstance(x, ir.ClearStack):
            out(f"{self.name(x.stack)}.clear();")
        elif isinstance(x, ir.Fault):
            number = self.fault(x.kind, x.text, x.line)
            out(f"const bool is_wrong = {self.scalar(x.condition)};")
            self._check_fault(x.condition, x.line)
            out(f"if (is_wrong) {{ machine.fault = {number}; goto failed; }}")
        else:
            self._read_element(x)

    def _record(self, *variables: ir.Var) -> None:
        """Print code that copies variables to the program's state in memory.

        So the variables need not stay in registers until the program ends.
        """
        for each in variables:
            self.out(f"store_word(&words[{self.words.variables[each]}], {self.name(each)});")

    def _position(self, index: ir.Scalar, dim: ir.Dim, line: int) -> None:
        out, size = self.out, self.size(dim)
        out(f"const i64 index = {self.scalar(index)};")
        out(f"const i64 i = position_of(index, {size}, INDEX_OUT_OF_RANGE, machine.fault);")
        # The message contains the index and the size.
        out("if (machine.fault) {")
        out(f"  machine.line = {line}, needed = u64(index), exit_number = u32({size});")
        out("  goto failed;")
        out("}")

    def _read_element(self, x: ir.ReadElement) -> None:
        out, slot = self.out, self.name(x.slot)
        self._position(x.index, x.slot.dim, x.line)
        out(f"const bool has = load_relaxed(&{slot}.present[i]);")
        out(f"{self.name(x.is_present)} = has;")
        value = choose("has", f"load_relaxed(&{slot}.values[i])", zero(x.slot.dtype))
        out(f"{self.name(x.variable)} = python_number({value}, machine.fault);")
        out(f"if (machine.fault) {{ machine.line = {x.line}; goto failed; }}")
        self._record(x.is_present, x.variable)

    def combine(self, step: Combine) -> None:
        """Print code that combines the partial results of a fold or a comparison."""
        out, source, turn = self.out, step.source, f"turn_{step.number}_"
        op = self.fold_struct(source)
        partials = f"machine.partials({step.number}, {turn})"
        out("machine.begin_fold();")
        out(f"const Fold<{op}> all = get_fold<{op}>({partials}, machine.scratch);")
        out(f"++{turn};")
        if isinstance(source, ir.IsEqual):
            out(f"{self.name(source.variable)} = !all.sum;")
            self._record(source.variable)
            return
        out(f"{self.name(source.variable)} = python_number(all.sum, machine.fault);")
        out(f"if (machine.fault) {{ machine.line = {source.line}; goto failed; }}")
        self._record(source.variable)
        if source.is_present is not None:
            out(f"{self.name(source.is_present)} = all.has;")
            self._record(source.is_present)

    def fold_struct(self, source: ir.Reduce | ir.IsEqual) -> str:
        """Return the name of the struct of a fold."""
        is_equal = isinstance(source, ir.IsEqual)
        return "Differs" if is_equal else self.operators.monoid(source.monoid)

    def element(self, step: Element) -> None:
        """Print code that writes or deletes one element."""
        x, out = step.instruction, self.out
        target, kind = self.name(x.target), x.target.dtype.c_type
        self._position(x.index, x.target.dim, x.line)
        if isinstance(x, ir.DeleteElement):
            out(f"delete_element({target}, {self.place(x.target)}, i);")
            return
        text, may_fault = self.fit(x.value, x.target.dtype)
        out(f"const {kind} value = {text};")
        if may_fault:
            out(f"if (machine.fault) {{ machine.line = {x.line}; goto failed; }}")
        new = "value"
        if x.accum is not None:
            new = f"has ? {self.apply(x.accum, 'old', 'value', x.target.dtype)} : {new}"
        degree = "0"
        if x.target in self.plan.pushing:
            indptr = self.pushed_indptr(x.target)
            degree = f"degree_of({indptr}, i)"
        update = f"[&](bool has, {kind} old) {{ return {new}; }}"
        place = self.place(x.target)
        out(f"set_element({target}, {place}, i, {update}, [&] {{ return u64({degree}); }});")

    def apply(self, op: Any, x: str, y: str, dtype: DataType) -> str:
        """Return a C++ expression for op(x, y) at position i, converted to a dtype."""
        function = self.operators.function(op)
        first, second = convert(op.type, x), convert(op.type2, y)
        given = f"{first}, i, 0, {second}, i, 0" if op.is_positional else f"{first}, {second}"
        return convert(dtype, f"{function}({given})", op.return_type)

    # --- scatters -------------------------------------------------------------------------------

    def scatter(self, step: ScatterInto) -> None:
        """Print code for a scatter into an empty slot."""
        out, x = self.out, step.scatter
        n, indices, kind = self.size(x.indices.dim), self.name(x.indices), step.out.dtype.c_type
        if isinstance(x.source, ir.Slot):
            source = self.name(x.source)
            out(f"const auto has = [&](i64 i) {{ return {source}.present[i]; }};")
            value = convert(step.out.dtype, f"{source}.values[i]", x.source.dtype)
        else:
            out("const auto has = [](i64) { return true; };")
            text, may_fault = self.fit(x.source, step.out.dtype)
            out(f"const {kind} scalar = {text};")
            if may_fault:
                out(f"if (machine.fault) {{ machine.line = {x.line}; goto failed; }}")
            value = "scalar"
        out(f"const auto value = [&](i64 i) -> {kind} {{ return {value}; }};")
        size = self.size(step.out.dim)
        index = f"place_in({indices}.values[i], {size})"
        out(f"const auto place = [&](i64 i) -> i32 {{ return {index}; }};")
        given = f"machine, {n}, place, has, value, {self.name(step.out)}"
        if not step.joins:
            addressed = "nullptr" if step.addressed is None else f"&{self.name(step.addressed)}"
            kind, text = DUPLICATE
            number = self.fault(kind, text, x.line, step.out.dim)
            out("++machine.turns;")
            out(f"scatter_once({given}, (Vector<bool> *){addressed}, {number});")
            return
        op = self.operators.monoid(x.accum.monoid)
        is_ordered = self.options.is_deterministic and x.accum.return_type.is_float
        out(f"if (mark_positions<{op}>({given})) goto stopped;")
        out(f"fold_positions<{op}, {'true' if is_ordered else 'false'}>({given});")

    # --- stacks ---------------------------------------------------------------------------------

    def enqueue(self, step: Enqueue) -> None:
        """Print code that lists a vector's entries in its queue."""
        slot = self.name(step.slot)
        self.out(f"if (!is_listed({slot})) {{")
        place, n = self.place(step.slot), self.size(step.slot.dim)
        self.out(f"  list_entries({slot}, {place}, {n});")
        self.out("  if (machine.meet()) goto stopped;")
        self.out("}")

    def save(self, step: Save) -> None:
        """Print code that appends a vector to a stack."""
        out, stack, slot = self.out, self.name(step.stack), self.name(step.slot)
        out.begin(f"if ({stack}.lacks_room(entries_of({slot}))) {{")
        out("status = LACKS_ROOM;")
        out(f"resume = {step.number + 1};")
        out(f"needed = u64(entries_of({slot}));")
        out("goto leave;")
        out.end()
        out(f"{stack}.append({slot});")

    def load(self, step: Load) -> None:
        """Print code that copies an item of a stack."""
        out, stack, slot = self.out, self.name(step.stack), self.name(step.out)
        self._find_item(step)
        counts, degree = "false", "0"
        if step.out in self.plan.pushing:
            indptr = self.pushed_indptr(step.out)
            counts, degree = "true", f"degree_of({indptr}, i)"
        out(f"const auto degree = [&](i32 i) {{ return u64({degree}); }};")
        copy = f"{stack}.copy_item<{counts}>(machine, item, {slot}, degree)"
        out(f"const i64 count = {copy};")
        if step.index is None:
            out(f"{stack}.drop(count);")

    def count_item(self, step: CountItem) -> None:
        """Print code that finds the number of entries of an item of a stack."""
        out, stack, count = self.out, self.name(step.stack), self.measure_of(step.slot)
        self._find_item(step)
        out(f"{count} = {stack}.entries_of_item(item);")
        if step.index is None:
            out(f"{stack}.drop({count});")

    def measure_of(self, slot: ir.Slot) -> str:
        """Return the C++ name of the variable with the number of entries of a slot in
        `Plan.measured`."""
        return f"{self._names[slot]}_entries_"

    def _find_item(self, step: Load | CountItem) -> None:
        """Print code that finds the index of an item of a stack."""
        out, stack = self.out, self.name(step.stack)
        index = "-1" if step.index is None else self.scalar(step.index)
        kind = "POP_FROM_EMPTY_LIST" if step.index is None else "LIST_INDEX_OUT_OF_RANGE"
        out(f"const i64 item = position_of({index}, {stack}.length, {kind}, machine.fault);")
        out(f"if (machine.fault) {{ machine.line = {step.line}; goto failed; }}")


_print: dict[type, Any] = {
    Exchange: Printer.exchange,
    Uniform: Printer.uniform,
    Combine: Printer.combine,
    Element: Printer.element,
    Multiply: print_product,
    ScatterInto: Printer.scatter,
    Enqueue: Printer.enqueue,
    Save: Printer.save,
    Load: Printer.load,
    CountItem: Printer.count_item,
}

DUPLICATE = (
    "DuplicateEntry",
    "index {index} occurs twice in what is assigned to; the indices of an assign must differ, "
    "unless accum is a monoid such as plus",
)
"""The fault of a scatter with equal indices: the exception and its message."""


MOST_SEEN = 3
"""The maximum number of vectors whose counts are loaded together after a barrier."""


def _find_visited(steps: list[Step]) -> list[ir.Slot]:
    """Return up to MOST_SEEN slots whose entries are visited by a sweep before the next barrier.

    A slot is omitted if an earlier step changes its counts. Exchanges move vectors between slots;
    the result lists, for each vector, the slot that holds it before the first step in `steps`.
    """
    names: dict[ir.Slot, ir.Slot] = {}  # for each slot: the slot that held its vector at the start
    changed: set[Any] = set()
    found: list[ir.Slot] = []
    for step in steps:
        if isinstance(step, (Barrier, Enqueue, Save)):
            break
        if isinstance(step, Exchange):
            before = [names.get(source, source) for source in step.sources]
            names |= dict(zip(step.targets, before, strict=True))
            continue
        over = step.domain.over if isinstance(step, Sweep) else None
        if over is not None and names.get(over, over) not in (*changed, *found):
            found.append(names.get(over, over))
        changes = (each for each in accesses(step) if each.writes and each.resource[0] == "counts")
        changed |= {names.get(each.resource[1], each.resource[1]) for each in changes}
    return found[:MOST_SEEN]


def _line_of(step: Step) -> int:
    if isinstance(step, (Uniform, Element)):
        return step.instruction.line
    if isinstance(step, Combine):
        return step.source.line
    if isinstance(step, ScatterInto):
        return step.scatter.line
    return getattr(step, "line", 0)
