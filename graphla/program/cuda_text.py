"""Print a plan as a CUDA kernel, which includes backends/cuda/program.cuh.

All threads run the kernel's control flow, and each has its own copy of the scalar variables. The
kernel carries the user's lines as comments, and the user's names.

The kernel and the host exchange the state of a program by words of 8 bytes (`Words`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from graphla.compilers import cuda_ops, nvrtc
from graphla.program import ir
from graphla.program.plan import (
    Barrier,
    Check,
    Combine,
    Compare,
    Element,
    Enqueue,
    Erase,
    Exchange,
    Fold,
    Load,
    Multiply,
    Part,
    Plan,
    Save,
    ScatterInto,
    Step,
    Store,
    Sweep,
    Uniform,
    fits,
    has_fault,
    is_replaced,
    nodes,
    only_adds,
)
from semirings.dtypes import BOOL, FP64, INT64, DataType
from semirings.printing import cuda_constant

AHEAD = 4
"""Number of positions whose elements a thread loads at the same time, if they are not large."""
LARGE = 32
"""If the elements that a sweep loads for one position have more bytes than this, AHEAD / 2."""

KERNEL, LIBRARY = "run_loop", "program.cuh"

# --- the state of a program ---------------------------------------------------------------------

HEADER = 8
"""Number of words at the beginning of the state, of which `StateWord` in program.cuh tells the use.
"""

VECTOR = ("values", "present", "queue", "counts", "entries")
INPUT = ("indices", "present", "values", "step", "count")
STACK = ("indices", "values", "ends", "room", "items", "length", "top", "lowest")


@dataclass
class Words:
    """The index of each word of the state of a program."""

    dims: int
    arrays: int
    variables: dict[ir.Var, int]
    slots: dict[ir.Slot, int]
    inputs: dict[ir.Slot, int]
    stacks: dict[ir.Stack, int]
    size: int


def words_of(plan: Plan) -> Words:
    """Return the layout of the state of a program."""
    program = plan.program
    dims = HEADER
    arrays = dims + program.dims
    at = arrays + len(program.arrays)
    variables: dict[ir.Var, int] = {}
    for each in (*program.variables, *program.scalars):
        if each not in variables:
            variables[each], at = at, at + 1
    places: list[dict[Any, int]] = []
    given = (*program.inputs, *plan.reduction_slots)
    for items, fields in ((plan.slots, VECTOR), (given, INPUT), (program.stacks, STACK)):
        places.append({})
        for each in items:
            places[-1][each], at = at, at + len(fields)
    slots, inputs, stacks = places
    return Words(dims, arrays, variables, slots, inputs, stacks, at)


# --- what the kernel is specialized to ----------------------------------------------------------


FormKey = tuple[int, str, str]
"""A form of a matrix: the index of the matrix, "csr" or "csc", and "pull" or "push"."""


@dataclass(frozen=True)
class FormType:
    """The C++ types of one form of a matrix, and how its values are kept (`Kept`)."""

    offset: str
    values: str
    kept: int


@dataclass(frozen=True)
class Options:
    """What a kernel is specialized to, besides its plan.

    `forms` has the types of the forms of the matrices that products read (see `form_keys`).
    `direction` is "auto", "push" or "pull".
    """

    forms: dict[FormKey, FormType]
    direction: str
    is_deterministic: bool
    block: int
    hubs: frozenset[FormKey] = frozenset()  # the forms whose pulls are WITH_HUBS
    cluster: int = 1  # if it is above 1, the grid is one cluster of this many blocks


@dataclass
class Text:
    """A printed kernel. `faults` are the faults of the program: kind, text, and line."""

    text: str
    words: Words
    forms: list[FormKey]
    block: int
    faults: list[tuple[str, str, int]] = field(default_factory=list)


MOST_ADDED = 4  # `MOST_ADDED` in program.cuh
SCALAR_FAULTS = 16  # `SCALAR_FAULTS` in program_scalars.cuh

KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register reinterpret_cast return short
signed sizeof static static_assert static_cast struct switch template this thread_local throw true
try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
i k j row room span given machine work scratch words slots state frame launch status bits old
resume needed exit_number allowed queueing pushes is_true is_wrong has value scalar all item count
degree place stopped failed leave unix linux
"""
RESERVED = frozenset(KEYWORDS.split())
"""Names that the kernel itself uses."""


@cache
def reserved_names() -> frozenset[str]:
    """Return the names that a variable of a kernel cannot have.

    They are keywords, names that the kernel itself uses, and the names of functions, types and
    constants in the library that the kernel includes.
    """
    names = r"\b([A-Za-z]\w*)\s*[(<{]|\b([A-Z]\w*)|(?:struct|enum|typedef.*?|constexpr \w+)\s+(\w+)"
    found = set(RESERVED)
    for text in nvrtc.included(f'#include "{LIBRARY}"').values():
        code = re.sub(r"//[^\n]*", "", text)
        found.update(name for each in re.findall(names, code) for name in each if name)
    return frozenset(found)


def form_keys(product: ir.Product) -> tuple[FormKey, FormKey]:
    """Return the forms of the matrix that a pull and a push of a product read."""
    is_flipped = product.is_transposed != (product.side == "vxm")
    pull, push = ("csc", "csr") if is_flipped else ("csr", "csc")
    return (product.matrix.index, pull, "pull"), (product.matrix.index, push, "push")


def print_kernel(plan: Plan, options: Options) -> Text:
    """Return the text of the kernel that runs a plan."""
    return _Printer(plan, options).text()


class _Lines:
    """Lines of C++ with their indentation."""

    def __init__(self, depth: int = 1) -> None:
        self.lines: list[str] = []
        self.depth = depth

    def __call__(self, text: str) -> None:
        self.lines.append("  " * self.depth + text if text else "")

    def begin(self, text: str) -> None:
        self(text)
        self.depth += 1

    def end(self, text: str = "}") -> None:
        self.depth -= 1
        self(text)

    def add(self, other: Iterable[str]) -> None:
        self.lines += other


class _Operators:
    """The functions and structs that the printed kernel needs."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._names: dict[Any, str] = {}

    def function(self, op: Any) -> str:
        """Return the name of a C++ function that computes an operator."""
        return self._name(("function", op), "apply", lambda name: op.source_cuda(name))

    def monoid(self, monoid: Any) -> str:
        """Return the name of the struct of a monoid."""
        return self._struct(("monoid", monoid), lambda: cuda_ops.reduction(monoid))

    def product(self, product: ir.Product) -> str:
        """Return the name of the struct of a semiring."""
        ring: Any = product.semiring
        side: Any = product.side
        # plus_first(u @ A) and plus_second(A @ u) then have the same struct, and the same code.
        if side == "vxm" and ring.commutes_to is not None:
            ring, side = ring.commutes_to, "mxv"
        return self._struct((ring, side), lambda: cuda_ops.matrix_vector(ring, side))

    def mask(self, condition: str, fields: tuple[str, ...]) -> str:
        """Return the name of the struct of a mask: a function of a position, with pointers."""
        lines = [*(f"{field};" for field in fields)]
        lines.append(f"DEVICE bool operator()(i32 i) const {{ return {condition}; }}")
        body = "\n".join(lines)
        return self._name(("mask", body), "Mask", lambda name: f"struct {name} {{\n{body}\n}};\n")

    def _struct(self, key: Any, write: Callable[[], str]) -> str:
        return self._name(
            key, "Op", lambda name: write().replace("struct Op {", f"struct {name} {{", 1)
        )

    def _name(self, key: Any, prefix: str, write: Callable[[str], str]) -> str:
        if key not in self._names:
            self._names[key] = f"{prefix}_{len(self._names)}"
            self.texts.append(write(self._names[key]))
        return self._names[key]


@dataclass(frozen=True)
class _Product:
    """The C++ types of a product. Two products with equal types share their code."""

    op: str
    kept: str
    held: str
    u: str
    mask: str
    queueing: str
    forms: tuple[FormType, FormType]


class _Printer:
    """Prints one kernel."""

    def __init__(self, plan: Plan, options: Options) -> None:
        self.plan, self.options, self.program = plan, options, plan.program
        self.words = words_of(plan)
        self.operators = _Operators()
        self.faults: list[tuple[str, str, int]] = []
        self.forms: list[FormKey] = []
        self.out = _Lines()
        self._names: dict[Any, str] = {}
        self._used = set(reserved_names())
        for each in (*plan.slots, *self.words.variables, *self.program.stacks):
            self._names[each] = self._unique(each.name)
        for each in self.program.matrices:
            self._names[each.index] = self._unique(each.name)
        self.temporaries = 0
        self._touched: dict[ir.Slot, None] = {}  # the slots that the current step uses
        self._growing = sorted(plan.growing, key=lambda slot: slot.index)
        steps = [step for block in plan.blocks for step in block.steps]
        products = [self.product(step) for step in steps if isinstance(step, Multiply)]
        self.shared = {each for each, count in Counter(products).items() if count > 1}

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

        The name of a slot is that of its `Vector`, which each step that uses it declares.
        """
        if isinstance(x, ir.Slot):
            self._touched[x] = None
        return self._names[x]

    def place(self, slot: ir.Slot) -> str:
        """Return the C++ name of the variable that tells where the vector in a slot is stored."""
        return f"{self._names[slot]}_at_"

    def also(self, slot: ir.Slot) -> str:
        """Return the C++ name of the variable for a slot to which sweeps add entries.

        Since the last barrier, sweeps may have added entries where the vector at this place has
        entries. If there was no such sweep, it is the slot's own place. The variable with the
        suffix "most" has an upper bound on the number of entries after the sweep, or -1.
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

    def fault(self, kind: str, text: str, line: int) -> int:
        """Return the number of a fault."""
        fault = kind, text, line
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
        """Return a C++ expression for the offsets of the lines that a push of the slot reads."""
        return f"{self.form(form_keys(self.plan.pushing[slot])[1])}.indptr"

    # --- the kernel -----------------------------------------------------------------------------

    def text(self) -> Text:
        """Return the whole text."""
        body = self.out
        for number, block in enumerate(self.plan.blocks):
            body.lines.append(f"block_{number}:")
            line = 0
            for step in block.steps:
                self.step(step)
                line = _line_of(step) or line
            self.end(block.end, line)
        head, tail = _Lines(), _Lines()
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
            f"/// The loop in {self.program.name}.",
            "template <int>",
            f"__global__ void {cluster}__launch_bounds__({self.options.block}, 1)",
            f"{KERNEL}({signature}) {{",
            *head.lines,
            *body.lines,
            *tail.lines,
            "}",
            "}  // namespace graphla",
            "",
        ]
        return Text("\n".join(lines), self.words, self.forms, self.options.block, self.faults)

    def _defines(self) -> list[str]:
        """Return the macros that the files of the kernel read."""
        lines = []
        if self.options.cluster > 1:
            lines.append(f"#define GRAPHLA_ONE_CLUSTER {self.options.cluster}")
        return lines

    def _print_head(self, out: _Lines) -> None:
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
        for number in range(self.plan.folds):
            out(f"u32 turn_{number}_ = 0;")
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

    def _print_tail(self, out: _Lines) -> None:
        words = self.words
        out.lines.append("stopped:")
        out("status = machine.why();")
        out("goto leave;")
        if any("goto failed;" in line for line in self.out.lines):
            out.lines.append("failed:")
            out("status = FAULT;")
        out.lines.append("leave:")
        out.begin("if (is_last_block(machine.grid) && threadIdx.x == 0) {")
        out("u64 *const state = frame.state;")
        out("state[STATE_RESUME] = resume;")
        out("state[STATE_FAULT] = machine.fault;")
        out("state[STATE_LINE] = machine.line;")
        out("state[STATE_EXIT] = exit_number;")
        out("state[STATE_NEEDED] = needed;")
        out("state[STATE_PRODUCTS] = machine.finish();")
        for each, at in words.variables.items():
            out(f"state[{at}] = as_bits<u64>({self.name(each)});")
        for slot, at in words.slots.items():
            out(f"put_vector({self.vector(slot)}, &state[{at}]);")
        for stack, at in words.stacks.items():
            out(f"put_stack({self.name(stack)}, &state[{at}]);")
        out("__threadfence_system();")
        out("tell_host(launch, HOST_STATUS, status);")
        out.end()

    def end(self, end: ir.End, line: int) -> None:
        """Print the end of a block."""
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
        """Print a jump. A thread that jumps back tests sometimes whether the host asks to stop."""
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
        """Print a test for faults of the scalars in x."""
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
        outer, self.out = self.out, _Lines(self.out.depth + 1)
        self._touched = {}
        if isinstance(step, Sweep):
            _SweepPrinter(self, step).print()
        else:
            self.comment(_line_of(step))
            _print[type(step)](self, step)
        inner, self.out = self.out, outer
        outer.begin("{")
        for slot in self._touched:
            kind = slot.dtype.c_type
            outer(f"Vector<{kind}> {self._names[slot]} = {self.vector(slot)};")
        outer.add(inner.lines)
        outer.end()

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
        """Print an exchange of slots."""
        for k, source in enumerate(step.sources):
            self.out(f"const u32 old_{k} = {self.place(source)};")
        for k, target in enumerate(step.targets):
            self.out(f"{self.place(target)} = old_{k};")

    def uniform(self, step: Uniform) -> None:
        """Print a scalar instruction."""
        x, out = step.instruction, self.out
        if isinstance(x, ir.Let):
            for k, value in enumerate(x.values):
                out(f"const {c_type(value.dtype)} value_{k} = {self.scalar(value)};")
            self._check_fault(x.values, x.line)
            for k, variable in enumerate(x.variables):
                out(f"{self.name(variable)} = value_{k};")
        elif isinstance(x, ir.Count):
            out(f"{self.name(x.variable)} = entries_of({self.name(x.slot)});")
        elif isinstance(x, ir.Length):
            out(f"{self.name(x.variable)} = {self.name(x.stack)}.length;")
        elif isinstance(x, ir.ClearStack):
            out(f"{self.name(x.stack)}.clear();")
        elif isinstance(x, ir.Fault):
            number = self.fault(x.kind, x.text, x.line)
            out(f"const bool is_wrong = {self.scalar(x.condition)};")
            self._check_fault(x.condition, x.line)
            out(f"if (is_wrong) {{ machine.fault = {number}; goto failed; }}")
        else:
            self._read_element(x)

    def _position(self, index: ir.Scalar, dim: ir.Dim, line: int) -> None:
        kind = "INDEX_OUT_OF_RANGE"
        self.out(
            f"const i64 i = position_of({self.scalar(index)}, {self.size(dim)}, {kind}, "
            "machine.fault);"
        )
        self.out(f"if (machine.fault) {{ machine.line = {line}; goto failed; }}")

    def _read_element(self, x: ir.ReadElement) -> None:
        out, slot = self.out, self.name(x.slot)
        self._position(x.index, x.slot.dim, x.line)
        out(f"const bool has = load_relaxed(&{slot}.present[i]);")
        out(f"{self.name(x.is_present)} = has;")
        value = choose("has", f"load_relaxed(&{slot}.values[i])", zero(x.slot.dtype))
        out(f"{self.name(x.variable)} = python_number({value}, machine.fault);")
        out(f"if (machine.fault) {{ machine.line = {x.line}; goto failed; }}")

    def combine(self, step: Combine) -> None:
        """Print the end of a fold."""
        out, source, turn = self.out, step.source, f"turn_{step.number}_"
        op = self.fold_struct(source)
        partials = f"machine.partials({step.number}, {turn})"
        out(f"const Fold<{op}> all = get_fold<{op}>({partials}, machine.scratch);")
        out(f"++{turn};")
        if isinstance(source, ir.IsEqual):
            out(f"{self.name(source.variable)} = !all.sum;")
            return
        out(f"{self.name(source.variable)} = python_number(all.sum, machine.fault);")
        out(f"if (machine.fault) {{ machine.line = {source.line}; goto failed; }}")
        if source.is_present is not None:
            out(f"{self.name(source.is_present)} = all.has;")

    def fold_struct(self, source: ir.Reduce | ir.IsEqual) -> str:
        """Return the name of the struct of a fold."""
        is_equal = isinstance(source, ir.IsEqual)
        return "Differs" if is_equal else self.operators.monoid(source.monoid)

    def element(self, step: Element) -> None:
        """Print a write of one element."""
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

    # --- products -------------------------------------------------------------------------------

    def mask(self, mask: ir.Mask | None) -> tuple[str, tuple[str, ...], list[str]]:
        """Return a C++ expression for whether a mask selects position i, from memory.

        Also return the declarations of the fields that the expression reads, and their values.
        """
        if mask is None:
            return "true", (), []
        fields: list[str] = []
        values: list[str] = []

        def read(value: str, kind: str) -> str:
            if value not in values:
                fields.append(f"const {kind} *at_{len(fields)}")
                values.append(value)
            return f"at_{values.index(value)}[i]"

        def test(mask: ir.Mask) -> str:
            if isinstance(mask, ir.MaskOf):
                slot, dtype = self.name(mask.slot), mask.slot.dtype
                flag = read(f"{slot}.present", "bool")
                if mask.slot in self.plan.growing and not mask.by_value:
                    also = read(f"flags_at(slots, {self.also(mask.slot)})", "bool")
                    return f"(load_cached(&{flag}) | {also})"
                if not mask.by_value:
                    return flag
                return f"({flag} && {convert(BOOL, read(f'{slot}.values', dtype.c_type), dtype)})"
            if isinstance(mask, ir.NotMask):
                return f"!{test(mask.mask)}"
            sign = "&&" if isinstance(mask, ir.AndMask) else "||"
            return f"({test(mask.left)} {sign} {test(mask.right)})"

        only = mask.mask if isinstance(mask, ir.NotMask) else mask
        if not isinstance(only, ir.MaskOf) or only.by_value:
            return test(mask), tuple(fields), values
        # All masks of one slot and their complements have one struct, so that products can share
        # their code.
        condition = f"bool({test(only)}) != is_complement"
        if self.plan.growing and only.slot not in self.plan.growing:
            fields.append("const bool *at_1")
            values.append(values[0])
            condition = "bool((load_cached(&at_0[i]) | at_1[i])) != is_complement"
        is_complement = "true" if only is not mask else "false"
        return condition, (*fields, "bool is_complement"), [*values, is_complement]

    def most(self, mask: ir.Mask | None, n: str) -> str:
        """Return a C++ expression for an upper bound on the number of positions in a mask.

        If sweeps are still adding entries to a vector, the result is an estimate.
        """
        if isinstance(mask, ir.MaskOf):
            count = f"entries_of({self.name(mask.slot)})"
            if mask.slot in self.plan.growing:
                most = f"{self.also(mask.slot)}most"
                count = f"({most} < 0 ? {count} : least({n}, {most}))"
            return count
        if isinstance(mask, ir.NotMask):
            inner = mask.mask
            if isinstance(inner, ir.MaskOf) and not inner.by_value:
                return f"({n} - {self.most(inner, n)})"
            if isinstance(inner, ir.OrMask):
                left, right = ir.NotMask(inner.left), ir.NotMask(inner.right)
                return f"least({self.most(left, n)}, {self.most(right, n)})"
            return n
        if isinstance(mask, ir.AndMask):
            return f"least({self.most(mask.left, n)}, {self.most(mask.right, n)})"
        if isinstance(mask, ir.OrMask):
            return f"least({n}, {self.most(mask.left, n)} + {self.most(mask.right, n)})"
        return n

    def product(self, step: Multiply) -> _Product:
        """Return the C++ types of a product."""
        product = step.product
        rows, columns = (self.options.forms[key] for key in form_keys(product))
        reads_a, reads_u = _reads(product)
        held = "IN_FULL" if product.u in step.full else "IN_BITMAP"
        if form_keys(product)[0] in self.options.hubs:
            held = "WITH_HUBS"
        key = self._queue_form(step)
        return _Product(
            self.operators.product(product),
            f"{rows.kept if reads_a else 'UNREAD'}, {'EACH' if reads_u else 'UNREAD'}",
            held,
            product.u.dtype.c_type,
            self.operators.mask(*self.mask(step.mask)[:2]),
            f"WithQueue<{self.options.forms[key].offset}>" if key else "WithoutQueue",
            (rows, columns),
        )

    def multiply(self, step: Multiply) -> None:
        """Print a product."""
        out, product, kind = self.out, step.product, self.product(step)
        rows, columns = map(self.form, form_keys(product))
        u, n = self.name(product.u), self.size(step.out.dim)
        out(f"const {kind.mask} allowed{{{', '.join(self.mask(step.mask)[2])}}};")
        key = self._queue_form(step)
        out(f"const {kind.queueing} queueing{{{f'{self.form(key)}.indptr' if key else ''}}};")
        is_ordered = self.options.is_deterministic and product.semiring.monoid.type.is_float
        # A push of a full vector reads all entries, as a pull does, and needs atomics besides.
        is_whole = step.mask is None and product.u in step.full
        direction = self.options.direction
        if is_ordered or (is_whole and direction == "auto"):
            direction = "pull"
        choice = f"should_push<{kind.op}>({columns}, {u}, {n}, {self.most(step.mask, n)})"
        choice = {"auto": choice, "push": "true", "pull": "false"}[direction]
        out(f"const bool pushes = {choice};")
        out(f"machine.note(pushes, {u}, u64({rows}.entries));")
        given = f"slots, {self.place(product.u)}, {self.place(step.out)}, allowed, queueing"
        given += ", machine.product_call(room)"
        way = "called_" if kind in self.shared else ""
        how = f"{kind.op}, {kind.kept}"
        push = f"machine.follow({way}push<{how}, {kind.u}>(&{columns}, {given}));"
        pull = f"machine.follow({way}pull<{how}, {kind.held}, {kind.u}>(&{rows}, {given}));"
        if direction == "auto":
            out(f"if (pushes) {push}")
            out(f"else {pull}")
        else:
            out(push if direction == "push" else pull)

    def _queue_form(self, step: Multiply) -> FormKey | None:
        """Return the form with the degrees of a product's outputs, or None if it has no queue."""
        if step.out not in self.plan.queued:
            return None
        if step.out in self.plan.pushing:
            return form_keys(self.plan.pushing[step.out])[1]
        return form_keys(step.product)[0]  # its lines are the outputs

    # --- scatters -------------------------------------------------------------------------------

    def scatter(self, step: ScatterInto) -> None:
        """Print a scatter into an empty slot."""
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
            number = self.fault(kind, text, x.line)
            out("++machine.turns;")
            out(f"scatter_once({given}, (Vector<bool> *){addressed}, {number});")
            return
        op = self.operators.monoid(x.accum.monoid)
        is_ordered = self.options.is_deterministic and x.accum.return_type.is_float
        out(f"if (mark_positions<{op}>({given})) goto stopped;")
        out(f"fold_positions<{op}, {'true' if is_ordered else 'false'}>({given});")

    # --- stacks ---------------------------------------------------------------------------------

    def enqueue(self, step: Enqueue) -> None:
        """Print the listing of a vector's entries."""
        slot = self.name(step.slot)
        self.out(f"if (!is_listed({slot})) {{")
        place, n = self.place(step.slot), self.size(step.slot.dim)
        self.out(f"  list_entries({slot}, {place}, {n});")
        self.out("  if (machine.meet()) goto stopped;")
        self.out("}")

    def save(self, step: Save) -> None:
        """Print an append to a stack."""
        out, stack, slot = self.out, self.name(step.stack), self.name(step.slot)
        out.begin(f"if ({stack}.lacks_room(entries_of({slot}))) {{")
        out("status = LACKS_ROOM;")
        out(f"resume = {step.number + 1};")
        out(f"needed = u64(entries_of({slot}));")
        out("goto leave;")
        out.end()
        out(f"{stack}.append({slot});")

    def load(self, step: Load) -> None:
        """Print the copy of an item of a stack."""
        out, stack, slot = self.out, self.name(step.stack), self.name(step.out)
        index = "-1" if step.index is None else self.scalar(step.index)
        kind = "POP_FROM_EMPTY_LIST" if step.index is None else "LIST_INDEX_OUT_OF_RANGE"
        out(f"const i64 item = position_of({index}, {stack}.length, {kind}, machine.fault);")
        out(f"if (machine.fault) {{ machine.line = {step.line}; goto failed; }}")
        counts, degree = "false", "0"
        if step.out in self.plan.pushing:
            indptr = self.pushed_indptr(step.out)
            counts, degree = "true", f"degree_of({indptr}, i)"
        out(f"const auto degree = [&](i32 i) {{ return u64({degree}); }};")
        copy = f"{stack}.copy_item<{counts}>(machine, item, {slot}, degree)"
        out(f"const i64 count = {copy};")
        if step.index is None:
            out(f"{stack}.drop(count);")


_print: dict[type, Any] = {
    Exchange: _Printer.exchange,
    Uniform: _Printer.uniform,
    Combine: _Printer.combine,
    Element: _Printer.element,
    Multiply: _Printer.multiply,
    ScatterInto: _Printer.scatter,
    Enqueue: _Printer.enqueue,
    Save: _Printer.save,
    Load: _Printer.load,
}

DUPLICATE = ("DuplicateEntry", "an index occurs twice in what is assigned to")


def _line_of(step: Step) -> int:
    if isinstance(step, (Uniform, Element)):
        return step.instruction.line
    if isinstance(step, Combine):
        return step.source.line
    if isinstance(step, ScatterInto):
        return step.scatter.line
    return getattr(step, "line", 0)


def _reads(product: ir.Product) -> tuple[bool, bool]:
    """Return whether a product reads the values of the matrix, and those of the vector."""
    op = product.semiring.binaryop
    return (op.reads_x, op.reads_y) if product.side == "mxv" else (op.reads_y, op.reads_x)


# --- sweeps -------------------------------------------------------------------------------------

Value = Callable[[], str]
"""Prints what is needed for a value, and returns a C++ expression for it."""


class _SweepPrinter:
    """Prints a sweep.

    The parts run one after another at each position. `known` maps each slot that an earlier part
    has changed to C++ expressions for whether it has an entry, and for its value.
    """

    def __init__(self, printer: _Printer, sweep: Sweep) -> None:
        self.printer, self.sweep = printer, sweep
        self.known: dict[ir.Slot, tuple[str, str]] = {}
        self.flags: dict[ir.Slot, None] = {}  # the slots whose flags are loaded
        self.values: dict[ir.Slot, str] = {}  # the slots whose values are loaded, and when
        self.gathered: dict[ir.Gather, tuple[str, bool]] = {}
        self.run = _Lines(3)
        self.before = _Lines(printer.out.depth)
        self.line = 0

    def print(self) -> None:
        """Print the sweep."""
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
        span = f"all_of({n})" if over is None else f"entries_or_all({printer.name(over)}, {n})"
        out(f"const Span span = {span};")
        out.add(self.before.lines)
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
        out(f"[&](i32 i, u32 bits) {{ {' '.join(calls)} }});" if calls else "NoList());")
        out.depth -= 1
        sums = []
        for slot, how in counted.items():
            name = printer.name(slot)
            if how in ("all", "change"):
                sums.append(f"&{name}.counts->entries, found_{name}")
            if slot in listed and slot in printer.plan.pushing:
                sums.append(f"&{name}.counts->edges, listed_{name}.edges")
        for k in range(0, len(sums), MOST_ADDED):
            some = ", ".join(sums[k : k + MOST_ADDED])
            out(f"if (takes_part(span)) machine.add({some});")
        for part in self.sweep.parts:
            if isinstance(part, (Fold, Compare)):
                number = part.number
                partials = f"machine.partials({number}, turn_{number}_)"
                out(f"put_fold({partials}, machine.scratch, fold_{number});")

    def _ahead(self, count: int) -> int:
        loaded = [*self.values, *self.gathered]
        size = len(self.flags) + sum(each.dtype.bits // 8 for each in loaded)
        ahead = AHEAD if size <= LARGE else AHEAD // 2
        while ahead * count > 32:
            ahead //= 2
        return ahead

    # --- loads ----------------------------------------------------------------------------------

    def _print_row(self, out: _Lines) -> None:
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
        if how in ("all", "change"):
            out(f"i32 found_{name} = 0;")
        if how == "change":
            keep = "keep_queue" if self.sweep.domain.over == slot else "keep_count"
            out(f"{keep}({name}, old_{name});")
        elif how == "full":
            out(f"set_count({name}, {self.printer.size(slot.dim)});")

    def _open_growth(self, part: Part, counted: dict[ir.Slot, str]) -> None:
        """Record where a store adds entries, for the masks of products before the next barrier."""
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
        return f"listed_{name}.add({name}, i, bits >> {bit} & 1, {lane});"

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
        """Print the value of a scalar before the sweep, converted to a dtype; return its name."""
        name = self.printer.temporary("s")
        text, may_fault = self.printer.fit(x, dtype)
        self.before(f"const {dtype.c_type} {name} = {text};")
        if may_fault:
            self.before(f"if (machine.fault) {{ machine.line = {self.line}; goto failed; }}")
        return name

    def keep(self, dtype: DataType, text: str) -> str:
        """Print a value and return its name; a name or a constant is returned as it is."""
        if re.fullmatch(r"[\w.]+", text):
            return text
        name = self.printer.temporary("x")
        self.run(f"const {dtype.c_type} {name} = {text};")
        return name

    # --- parts ----------------------------------------------------------------------------------

    def part(self, part: Part) -> None:
        """Print what a part does at position i."""
        self.line = _line_of_part(part)
        if isinstance(part, Store):
            self._store(part)
        elif isinstance(part, Erase):
            self.run(f"{self.printer.name(part.slot)}.present[i] = false;")
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
        self.before(f"Fold<{op}> fold_{part.number};")
        has, value = self.expression(source, part.full)
        reads = part.reduce.monoid
        self.run.begin(f"if ({has}) {{")
        text = convert(reads.type, value(), source.dtype)
        self.run(f"fold_{part.number}.append(Fold<{op}>({text}, true));")
        self.run.end()

    def _compare(self, part: Compare) -> None:
        left, right = part.equal.left, part.equal.right
        self.before(f"Fold<Differs> fold_{part.number};")
        a, b = self.has(left, part.full), self.has(right, part.full)
        values = f"{self.value(left, part.full)} == {self.value(right, part.full)}"
        test = f"{a} != {b} || ({a} && !({values}))"
        self.run(f"if ({test}) fold_{part.number}.append(Fold<Differs>(true, true));")

    def _check(self, part: Check) -> None:
        printer = self.printer
        # If there are several faults, the one with the smaller number counts.
        missing, outside = (printer.fault(*fault, part.line) for fault in BAD_INDICES)
        self.before("++machine.turns;")
        has, index = self.has(part.indices, frozenset()), self.value(part.indices, frozenset())
        self.run(f"if (!{has}) machine.report({missing});")
        self.run(f"else if (!is_place({index}, {printer.size(part.dim)}))")
        self.run(f"  machine.report({outside});")

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
        self.known[part.into] = has, value
        if not is_in_place:
            self.known[target] = had, old

    def _overwrite(self, part: Store, into: str) -> None:
        """Print a write that replaces the whole target."""
        write, run = part.write, self.run
        there, source = self.expression(write.source, part.full)
        kind = part.into.dtype
        if write.mask is not None:
            there = both(self.mask(write.mask, part.full), there)
        there = self.keep(BOOL, there)
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
    ("InvalidValue", "a vector of indices lacks an entry"),
    ("IndexOutOfBound", "an index is out of range"),
)


def _line_of_part(part: Part) -> int:
    if isinstance(part, Store):
        return part.write.line
    if isinstance(part, Fold):
        return part.reduce.line
    return part.equal.line if isinstance(part, Compare) else part.line


# --- C++ expressions ----------------------------------------------------------------------------

C_TYPES = {BOOL: "bool", INT64: "i64", FP64: "double"}


def c_type(dtype: DataType) -> str:
    """Return the C++ type of a scalar."""
    return C_TYPES[dtype]


def zero(dtype: DataType) -> str:
    """Return a C++ expression for 0."""
    return f"(({dtype.c_type})0)"


def constant(value: Any) -> str:
    """Return a C++ expression for a Python number."""
    dtype = BOOL if isinstance(value, bool) else INT64 if isinstance(value, int) else FP64
    return f"({cuda_constant(dtype.np_type.type(value), dtype)})"


def convert(to: DataType, text: str, of: DataType | None = None) -> str:
    """Return a C++ expression for a value, converted from dtype `of` as `astype` does."""
    return text if to is of else f"convert<{to.c_type}>({text})"


def both(x: str, y: str) -> str:
    """Return the conjunction of two C++ expressions."""
    if "false" in (x, y):
        return "false"
    if x == "true" or x == y:
        return y
    return x if y == "true" else f"({x} && {y})"


def either(x: str, y: str) -> str:
    """Return the disjunction of two C++ expressions."""
    if "true" in (x, y):
        return "true"
    if x == "false" or x == y:
        return y
    return x if y == "false" else f"({x} || {y})"


def choose(condition: str, x: str, y: str) -> str:
    """Return a C++ expression for x if the condition is true, otherwise y."""
    return {"true": x, "false": y}.get(condition, f"({condition} ? {x} : {y})")


OPERATORS = {
    **{"and": "&", "or": "|", "xor": "^"},
    **{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="},
}
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*"}
TO_INT = {
    "int": "truncate_to_int",
    "round": "round_to_int",
    "math.floor": "floor_to_int",
    "math.ceil": "ceil_to_int",
}
PLAIN = {
    "math.isnan": "semirings::is_nan",
    "math.isinf": "semirings::is_inf",
    "math.isfinite": "semirings::is_finite",
    "math.fabs": "fabs",
    "math.copysign": "copysign",
    "math.atan2": "atan2",
    "math.hypot": "hypot",
    "min": "python_min",
    "max": "python_max",
}


def call(function: str, arguments: list[str], dtypes: list[DataType]) -> str:
    """Return the C++ expression for a scalar function."""
    given = ", ".join(arguments)
    is_float = FP64 in dtypes
    if function in OPERATORS:
        text = f" {OPERATORS[function]} ".join(arguments)
        is_logical = function in ("and", "or", "xor") and dtypes[0] is BOOL
        return f"bool({text})" if is_logical else f"({text})"
    if function in ARITHMETIC and is_float:
        return f"({f' {ARITHMETIC[function]} '.join(arguments)})"
    if function in TO_INT:
        is_int = dtypes[0] is not FP64
        return f"i64({given})" if is_int else f"{TO_INT[function]}({given}, machine.fault)"
    if function in PLAIN:
        return f"{PLAIN[function]}({given})"
    simple = {
        "not": f"(!{given})",
        "invert": f"(~{given})",
        "float": f"double({given})",
        "bool": f"bool({given})",
    }
    if function in simple:
        return simple[function]
    if function == "where":
        return "({} ? {} : {})".format(*arguments)
    if function == "neg" and is_float:
        return f"(-{given})"
    if function == "abs" and is_float:
        return f"fabs({given})"
    if function.startswith("math."):
        return f"math_{function[5:]}({given}, machine.fault)"
    return f"{function}_{'float' if is_float else 'int'}({given}, machine.fault)"
