"""Trace a loop: make a program from its steps and from the values of its variables.

The tracer executes the steps with abstract values (`graphla.program.values`): it knows what each
variable refers to, but not the numbers and entries. Where several steps lead to one step, the
states that have the same *form* share a block. The form says which variables refer to the same
vector, and the dtypes of numbers and vectors. Instructions at the end of the preceding block then
exchange the contents of slots (`Move`) and assign the scalars (`Let`). A state with another form
gets a block of its own. So if a number is an int in the first round and a float afterwards, the
program has two copies of the round.
"""

from __future__ import annotations

import ast
import builtins
import copy
import math
import operator
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphla.expression import Operand
from graphla.formats import is_iso
from graphla.operations.values import is_on_card
from graphla.program import flow, ir, scalars
from graphla.program.emitting import Fork, Object, State, lists_of
from graphla.program.notation import MASKS, NUMBERS, VECTORS, Notation
from graphla.program.reasons import Reason, refuse
from graphla.program.running import Binding
from graphla.program.simplifying import simplify
from graphla.program.values import (
    FALSE,
    KINDS,
    LEAST,
    MOST,
    NONE,
    ONE,
    SCALARS,
    TRUE,
    ZERO,
    Array,
    Held,
    Infix,
    Items,
    Iterator,
    JoinedMask,
    List,
    MaskView,
    Number,
    Pending,
    Perhaps,
    Range,
    Static,
    Target,
    Typed,
    View,
    constant,
    parts,
    scalar_kind,
    transform,
)
from graphla.sparse import Matrix, Scalar, Vector
from semirings import binary, monoid, unary
from semirings.dtypes import BOOL, FP64, INT64, DataType, lookup_dtype
from semirings.semiring import plus_times

Path = tuple[str, ...]

VARIANTS = 24
"""The number of copies of one step, above which a loop is refused."""

ITEMS = 64
"""The number of items of a tuple over which a loop iterates."""

SYMBOLS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


def trace(loop: flow.Loop, names: Mapping[str, Any]) -> tuple[ir.Program, Binding]:
    """Return the program for a loop, and where its arguments are found.

    Args:
        loop: the steps of the loop.
        names: the values of the variables when the loop begins.

    Raises:
        NotCompilable: the loop contains something that a program cannot do.
    """
    known: dict[int, Any] = {}
    while True:
        try:
            return Tracer(loop, names, known).trace()
        except Unknown as unknown:
            known[unknown.number] = unknown.found


def classify(value: Any, names: Any = None) -> str:
    """Return how the tracer passes a value to a program.

    Returns:
        "number", "numpy" (a NumPy number), "scalar" (a Scalar), "vector", "matrix", "list" (of
        vectors, or an empty one), "array" (of numbers), "range", or "static" (a known object).
    """
    if type(value) in KINDS:
        return "static" if type(value) is int and not LEAST <= value <= MOST else "number"
    if isinstance(value, np.generic):
        return "numpy" if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8 else "static"
    if isinstance(value, Operand):
        return ("scalar", "vector", "matrix")[value.ndim]
    if isinstance(value, list | tuple):
        kinds = {type(item) for item in value}
        if len(kinds) == 1 and kinds <= set(KINDS) and all(is_small(item) for item in value):
            return "array"
        if isinstance(value, list) and all(isinstance(item, Vector) for item in value):
            return "list"
        return "static"
    if isinstance(value, np.ndarray):
        is_array = value.ndim == 1 and value.dtype.kind in "biuf" and value.dtype.itemsize <= 8
        return "array" if is_array and value.dtype != np.float16 else "static"
    return "range" if isinstance(value, range) else "static"


def is_small(value: Any) -> bool:
    """Return whether a Python number is not an int outside INT64."""
    return type(value) is not int or LEAST <= value <= MOST


@dataclass(slots=True)
class Variant:
    """A block that begins with a step, and the state that it begins with."""

    form: Any
    block: int
    state: State
    slots: list[ir.Slot]
    scalars: list[ir.Var]


@dataclass(slots=True)
class Open:
    """A block whose instructions are not known yet."""

    block: int
    step: int
    state: State
    decisions: tuple[bool, ...] = ()
    skip: int = 0


class Tracer(Notation):
    """Traces one loop."""

    def __init__(self, loop: flow.Loop, names: Mapping[str, Any], known: dict[int, Any]):
        super().__init__()
        self.known_types = known
        self.deferred: Unknown | None = None
        self.loop = loop
        self.given = names
        self.blocks: list[ir.Block] = []
        self.exits: list[ir.Leaving] = []
        self.constants: dict[str, Any] = {}
        self.matrices: list[ir.MatrixArgument] = []
        self.arrays: list[ir.ArrayArgument] = []
        self.stacks: list[ir.Stack] = []
        self.inputs: list[ir.Slot] = []
        self.arguments: list[ir.Var] = []
        self.paths: dict[str, list[Path]] = {
            kind: []
            for kind in ("dims", "matrices", "arrays", "scalars", "vectors", "stacks", "fixed")
        }
        self.device: str | None = None
        self.element_types: dict[int, tuple[DataType, ir.Dim] | None] = {}
        self.input_stacks = 0
        self.list_names: list[str] = []
        self.filled: set[int] = set()  # the lists with vectors before the program runs
        self.pinned_lists: set[int] = set()  # the lists that the current statement has made
        self.matrix_stores: list[Any] = []
        self.variants: dict[int, list[Variant]] = {}
        self.waiting: list[Open] = []
        self.sites = self.count_assignments()
        self.assigned = frozenset(self.sites)
        self.merges = self.find_merges()

    # --- analysis of the steps --------------------------------------------------------------------

    def count_assignments(self) -> Counter[str]:
        """Return how often the names that the steps assign are assigned, also before the loop."""
        found: Counter[str] = Counter()
        for step in self.loop.steps:
            if isinstance(step, flow.Begin):
                found[step.iterator] += 1
            if isinstance(step, flow.Next):
                found.update({step.iterator, *_stored(step.target)})
            if isinstance(step, flow.Do):
                found.update(_stored(step.node))
        found.update(set(found) & set(self.given) & self.loop.live[0])
        return found

    def find_merges(self) -> frozenset[int]:
        """Return the steps that follow several steps, and step 0."""
        counts = [0] * len(self.loop.steps)
        counts[0] = 2
        for step in self.loop.steps:
            for following in _following(step):
                counts[following] += 1
        return frozenset(k for k, count in enumerate(counts) if count > 1)

    def find_written(self) -> set[str]:
        """Return the names that may refer to a vector that the loop changes.

        Names that are assigned to each other count as one.
        """
        leader: dict[str, str] = {}

        def find(name: str) -> str:
            while leader.setdefault(name, name) != name:
                name = leader[name]
            return name

        written: set[str] = set()
        for step in self.loop.steps:
            if isinstance(step, flow.Next):
                continue
            node = getattr(step, "node", None)
            if node is None:
                continue
            if isinstance(node, ast.Assign):
                pairs = [(target, node.value) for target in node.targets]
            elif isinstance(node, ast.AnnAssign):
                pairs = [(node.target, node.value)]
            else:
                pairs = []
            for target, value in pairs:
                for one in _names(target):
                    for other in _names(value):
                        leader[find(one)] = find(other)
            for part in ast.walk(node):
                if isinstance(part, ast.BinOp) and isinstance(part.op, ast.LShift):
                    written |= _names(part.left)
                elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                    if part.func.attr in ("clear", "update"):
                        written |= _names(part.func.value)
                elif isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load):
                    written |= _names(part.value)
                elif isinstance(part, ast.AugAssign):
                    written |= _names(part.target)
        leaders = {find(name) for name in written}
        return {name for name in leader if find(name) in leaders} | written

    # --- entry ------------------------------------------------------------------------------------

    def trace(self) -> tuple[ir.Program, Binding]:
        """Return the program and its binding."""
        self.enter()
        self.stable = set(parts(tuple(self.constants.values()), ir.Var))
        self.blocks.append(ir.Block([], ir.Jump(0)))
        self.instructions = self.blocks[0].instructions
        origins = [self.origin(slot) for slot in self.inputs]
        if origins:
            values = tuple(constant(k) for k in range(len(origins)))
            self.instructions.append(ir.Let(tuple(origins), values))
        self.blocks[0].end = self.go_to(0, self.state, self.instructions)
        while self.waiting:
            self.fill(self.waiting.pop())
        if self.deferred is not None:
            # The loop never appends to this list, which is empty, so any dtype will do.
            self.deferred.found = FP64, ir.Dim(0)
            raise self.deferred
        return self.finish()

    def used_names(self) -> list[str]:
        """Return the names that the loop may read and that have a value."""
        used = set(self.loop.live[0]) | set(self.loop.outside)
        return sorted(name for name in used if name in self.given)

    def enter(self) -> None:
        """Make the arguments of the program."""
        names = self.used_names()
        found = [(name, self.given[name], classify(self.given[name])) for name in names]
        for name, value, kind in found:
            if kind == "matrix":
                for k, size in enumerate(value.shape):
                    self.add_dim(size, (name, ("nrows", "ncols")[k]))
            elif kind == "vector":
                self.add_dim(value.size, (name, "size"))
        for name, value, kind in found:
            if kind == "list" and value:
                self.add_dim(value[0].size, (name, "0", "size"))
        for name, value, kind in found:
            if kind == "array":
                self.add_dim(len(value), (name, "len()"))
        written = self.find_written()
        objects: dict[int, tuple[Held, bool]] = {}
        for name, value, kind in found:
            entered = self.enter_value(name, value, kind, objects, written)
            is_variable = name in self.assigned or isinstance(entered, Held | Pending)
            (self.state.names if is_variable else self.constants)[name] = entered

    def add_dim(self, size: int, path: Path) -> None:
        """Add a dimension, unless there is one of this size."""
        if size not in self.sizes:
            self.sizes.append(size)
            self.paths["dims"].append(path)

    def on_device(self, value: Any, name: str) -> None:
        """Refuse operands on different devices."""
        if self.device is None:
            self.device = value.device
        elif self.device != value.device:
            text = f"the operands are on {self.device} and on {value.device}"
            self.fails(ast.Name(name), "DeviceMismatch", text)

    def enter_value(
        self, name: str, value: Any, kind: str, objects: dict[int, Any], written: set[str]
    ) -> Any:
        """Return the value of a variable at the beginning."""
        if kind == "number":
            if (
                type(value) is int
                and name not in self.assigned
                and value in self.sizes
            ):
                return Number(ir.Size(self.dim(value), INT64))
            return Number(self.argument(name, KINDS[type(value)], (name,)))
        if kind in ("numpy", "scalar"):
            dtype = lookup_dtype(value.dtype)
            if kind == "scalar" and value._read().value is None:
                return Static(value)
            path = (name,) if kind == "numpy" else (name, "value")
            return Typed(self.argument(name, scalar_kind(dtype), path), True, dtype, kind == "numpy")
        if kind == "vector":
            return self.enter_vector(name, value, objects, name in written)
        if kind == "matrix":
            return self.enter_matrix(name, value)
        if kind == "list":
            return self.enter_list(name, value)
        if kind == "array":
            is_numpy = isinstance(value, np.ndarray)
            dtype = lookup_dtype(value.dtype) if is_numpy else KINDS[type(value[0])]
            array = ir.ArrayArgument(len(self.arrays), name, dtype, self.dim(len(value)))
            self.arrays.append(array)
            self.paths["arrays"].append((name,))
            return Array(array, is_numpy)
        if kind == "range":
            bounds = [
                self.argument(f"{name}_{each}", INT64, (name, each))
                for each in ("start", "stop", "step")
            ]
            return Range(*bounds)
        return Static(value, (name,))

    def argument(self, name: str, dtype: DataType, path: Path) -> ir.Var:
        """Return the variable of a scalar argument."""
        variable = self.variable(name, dtype)
        self.arguments.append(variable)
        self.paths["scalars"].append(path)
        return variable

    def enter_vector(self, name: str, value: Any, objects: dict[int, Any], written: bool) -> Any:
        self.on_device(value, name)
        if id(value) in objects:
            held = objects[id(value)]
            if written and isinstance(held, Held):
                slot = self.slot_of(held)
                self.state.objects[held.number] = Object(slot, survives=True)
            return held
        if isinstance(value, Infix):
            raise AssertionError
        dtype = value.dtype
        slot = ir.Slot(len(self.slots), name.partition("@")[0], dtype, self.dim(value.size))
        self.slots.append(slot)
        self.inputs.append(slot)
        self.paths["vectors"].append((name,))
        if not isinstance(value, Vector):
            held = Pending(ir.Entry(slot), slot.dim)
        else:
            held = Held(len(self.state.objects))
            self.state.objects[held.number] = Object(slot, survives=written)
        objects[id(value)] = held
        return held

    def enter_matrix(self, name: str, value: Any) -> View:
        self.on_device(value, name)
        path: Path = (name,)
        is_transposed = False
        of, forms = getattr(value, "_origin", (None, None))
        if of is not None and of._read() is forms:
            value, path, is_transposed = of, (name, "T"), True
        store = value._read()
        for matrix, known in zip(self.matrices, self.matrix_stores, strict=True):
            if known is store:
                return View(matrix, is_transposed)
        rows, columns = (self.dim(size) for size in value.shape)
        csr = store.csr if store.has_csr else store.csc
        matrix = ir.MatrixArgument(
            len(self.matrices),
            name,
            value.dtype,
            rows,
            columns,
            is_iso(csr.values),
            bool(store.is_symmetric),
        )
        self.matrices.append(matrix)
        self.matrix_stores.append(store)
        self.paths["matrices"].append(path)
        return View(matrix, is_transposed)

    def enter_list(self, name: str, value: list[Any]) -> List:
        number = len(self.element_types)
        found = {(item.dtype, item.size) for item in value}
        if len(found) > 1:
            refuse(Reason.STACK, ast.Name(name))
        for item in value:
            self.on_device(item, name)
        self.element_types[number] = self.known_types.get(number)
        for dtype, size in found:
            self.element_types[number] = dtype, self.dim(size)
        self.list_names.append(name)
        self.input_stacks += 1
        self.paths["stacks"].append((name,))
        if value:
            self.filled.add(number)
        return List(number)

    # --- control ----------------------------------------------------------------------------------

    def live(self, step: int) -> frozenset[str]:
        """Return the names that are needed at a step."""
        return self.loop.live[step]

    def fill(self, open_block: Open) -> None:
        """Emit the instructions of a block."""
        self.state = open_block.state.copy()
        block = self.blocks[open_block.block]
        self.instructions = block.instructions
        number, decisions, skip = open_block.step, open_block.decisions, open_block.skip
        while True:
            step = self.loop.steps[number]
            self.state.keep(self.live(number) | self.implicit(step))
            before = self.state.copy()
            self.line = step.line
            self.begin(decisions, skip)
            try:
                following = self.execute(step, number)
            except Fork as fork:
                block.end = self.fork(fork, number, before, decisions)
                return
            except Unknown as unknown:
                if unknown.found is not None:
                    raise
                self.deferred = unknown
                return
            decisions, skip = (), 0
            if not isinstance(following, int):
                block.end = following
                return
            if following in self.merges:
                block.end = self.go_to(following, self.state, self.instructions)
                return
            number = following

    def implicit(self, step: flow.Step) -> set[str]:
        """Return the names that a step needs besides the live ones."""
        return {step.iterator} if isinstance(step, flow.Next) else set()

    def fork(
        self, fork: Fork, number: int, before: State, decisions: tuple[bool, ...]
    ) -> ir.End:
        """Continue a statement in two blocks."""
        blocks = []
        for decision in (True, False):
            blocks.append(self.add_block())
            again = Open(blocks[-1], number, before, (*decisions, decision), self.emitted)
            self.waiting.append(again)
        return ir.Branch(fork.condition, *blocks)

    def add_block(self) -> int:
        """Return the number of a new block."""
        self.blocks.append(ir.Block([], ir.Jump(0)))
        if len(self.blocks) > 5000:
            refuse(Reason.STATES, None)
        return len(self.blocks) - 1

    def execute(self, step: flow.Step, number: int) -> int | ir.End:
        """Execute a step. Return the step that follows, or the end of the block."""
        if isinstance(step, flow.Do):
            self.do(step.node)
            return step.next
        if isinstance(step, flow.Jump):
            return step.next
        if isinstance(step, flow.Test):
            condition = self.truth(self.evaluate(step.node), step.node)
            return self.branch(condition, step.then, step.otherwise)
        if isinstance(step, flow.Begin):
            value = self.iterator(self.evaluate(step.node), step.node)
            self.store([(step.iterator, value)], step.node)
            return step.next
        if isinstance(step, flow.Next):
            return self.advance(step)
        return self.leave(step, number)

    def branch(self, condition: ir.Scalar, then: int, otherwise: int) -> int | ir.End:
        """Go on with one of two steps."""
        if isinstance(condition, ir.Constant):
            return then if condition.value else otherwise
        state = self.state
        blocks = [self.successor(step, state) for step in (then, otherwise)]
        return ir.Branch(condition, *blocks)

    def successor(self, step: int, state: State) -> int:
        """Return a block that begins with a step, in a state."""
        if step not in self.merges:
            block = self.add_block()
            self.waiting.append(Open(block, step, state))
            return block
        instructions: list[ir.Instruction] = []
        end = self.go_to(step, state, instructions)
        if not instructions:
            return end.target
        block = self.add_block()
        self.blocks[block] = ir.Block(instructions, end)
        return block

    def go_to(self, step: int, state: State, instructions: list[ir.Instruction]) -> ir.Jump:
        """Return a jump to the block for this step and state.

        The instructions that make the state that of the block are appended to `instructions`.
        """
        state = state.copy()
        state.keep(self.live(step) | self.implicit(self.loop.steps[step]))
        form, slots, values = self.form_of(state)
        variants = self.variants.setdefault(step, [])
        for variant in variants:
            if variant.form == form:
                break
        else:
            if len(variants) == VARIANTS:
                self.refuse_variants(step, variants)
            variant = self.add_variant(step, state, form, slots)
            variants.append(variant)
        self.move(slots, variant.slots, values, variant.scalars, instructions)
        return ir.Jump(variant.block)

    def add_variant(self, step: int, state: State, form: Any, slots: list[ir.Slot]) -> Variant:
        """Add a block for a step, which begins with the given state."""
        taken: list[ir.Var] = []
        names = {}
        for name in sorted(state.names):
            count = [0]

            def take(part: Any, name: str = name, count: list[int] = count) -> Any:
                if not isinstance(part, SCALARS):
                    return None
                if self.is_stable(part):
                    return part
                owner = name if not count[0] else f"{name}_{count[0]}"
                count[0] += 1
                variable = self.variable(owner, part.dtype)
                taken.append(variable)
                return variable

            names[name] = transform(state.names[name], take)
        block = self.add_block()
        found = Variant(form, block, State(names, dict(state.objects)), slots, taken)
        self.waiting.append(Open(block, step, found.state))
        return found

    def is_stable(self, scalar: ir.Scalar) -> bool:
        """Return whether a scalar has the same value during the whole program."""
        return isinstance(scalar, ir.Size) or (
            isinstance(scalar, ir.Var) and scalar in self.stable
        )

    def form_of(self, state: State) -> tuple[Any, list[ir.Slot], list[ir.Scalar]]:
        """Return the form of a state, and its slots and scalars in the order of the form."""
        slots: list[ir.Slot] = []
        values: list[ir.Scalar] = []
        numbers: dict[ir.Slot, int] = {}

        def place(slot: ir.Slot) -> Any:
            if slot not in numbers:
                numbers[slot] = len(slots)
                slots.append(slot)
            return ("slot", numbers[slot], slot.dtype, slot.dim)

        def describe(x: Any) -> Any:
            if isinstance(x, ir.Slot):
                return place(x)
            if isinstance(x, SCALARS):
                if self.is_stable(x):
                    return ("known", x)
                values.append(x)
                return ("scalar", x.dtype)
            if isinstance(x, Held):
                known = state.objects[x.number]
                flags = known.survives, known.is_shared
                return ("held", place(known.slot), *flags)
            if isinstance(x, tuple):
                return tuple(describe(each) for each in x)
            if isinstance(x, Static):
                return ("static", id(x.value))
            if hasattr(x, "__dataclass_fields__") and not isinstance(x, type):
                found = (describe(getattr(x, name)) for name in x.__dataclass_fields__)
                return (type(x), *found)
            if x is None or isinstance(x, (str, int, bool, DataType)):
                return x
            return ("object", id(x))

        form = tuple((name, describe(state.names[name])) for name in sorted(state.names))
        rest = sorted(
            (
                each.slot
                for each in state.objects.values()
                if each.slot not in numbers
            ),
            key=lambda slot: (slot.dtype.name, slot.dim.index, slot.index),
        )
        hidden = tuple(place(slot) for slot in rest)
        return (form, hidden), slots, values

    def move(
        self,
        sources: list[ir.Slot],
        targets: list[ir.Slot],
        values: list[ir.Scalar],
        variables: list[ir.Var],
        instructions: list[ir.Instruction],
    ) -> None:
        """Emit the exchange of slots and the assignments on the way to a block."""
        found = [
            (variable, value)
            for variable, value in zip(variables, values, strict=True)
            if variable != value
        ]
        wanted = dict(zip(targets, sources, strict=True))
        spare = [slot for slot in sources if slot not in wanted]
        unused = [slot for slot in targets if slot not in set(sources)]
        for slot in spare:
            source = next(x for x in unused if (x.dtype, x.dim) == (slot.dtype, slot.dim))
            unused.remove(source)
            wanted[slot] = source
        moved = {target: source for target, source in wanted.items() if target != source}
        if moved:
            into, out = tuple(moved), tuple(moved.values())
            instructions.append(ir.Move(into, out, self.line))
            found += [(self.origin(a), self.origin(b)) for a, b in moved.items()]
        if found:
            into_all, out_all = zip(*found, strict=True)
            instructions.append(ir.Let(into_all, out_all, self.line))

    def refuse_variants(self, step: int, variants: list[Variant]) -> None:
        """Refuse a loop with too many states, and name a variable that changes its dtype."""
        kinds: dict[str, set[str]] = {}
        for variant in variants:
            for name, value in variant.state.names.items():
                if isinstance(value, Number):
                    kinds.setdefault(name, set()).add(value.scalar.dtype.name)
        node = getattr(self.loop.steps[step], "node", None)
        refuse(Reason.STATES, node)

    def leave(self, step: flow.Leave, number: int) -> ir.End:
        """Leave the loop."""
        names: dict[str, Any] = {}
        used: set[ir.Slot] = set()
        for name in sorted(self.live(number) & self.assigned):
            if name in self.state.names:
                names[name] = self.result(name, self.state.names[name])
                if isinstance(names[name], ir.Slot):
                    used.add(names[name])
        for each in self.state.objects.values():
            if each.survives and each.slot not in used:
                names[f"slot {each.slot.index}"] = each.slot
                used.add(each.slot)
        for slot in sorted(used, key=lambda x: x.index):
            names[f"origin {slot.index}"] = self.origin(slot)
        for number in range(self.input_stacks):
            names[f"list {number}"] = List(number)
        self.exits.append(ir.Leaving(step.place, names))
        return ir.Exit(len(self.exits) - 1)

    def result(self, name: str, value: Any) -> Any:
        """Return what a variable refers to after the loop."""
        node = ast.Name(name)
        if isinstance(value, Number):
            variable = self.variable(name, value.scalar.dtype)
            if value.scalar != variable:
                self.emit(ir.Let((variable,), (value.scalar,), self.line))
            return variable
        if isinstance(value, Held):
            known = self.state.objects[value.number]
            if known.is_shared:
                refuse(Reason.SHARED, node)
            return known.slot
        if isinstance(value, Perhaps):
            if self.decide(value.present):
                return self.result(name, Number(value.scalar))
            return ir.Same(None)
        if isinstance(value, Static):
            return ir.Same(value.value)
        if isinstance(value, List):
            return value
        if isinstance(value, View):
            for path, matrix in zip(self.paths["matrices"], self.matrices, strict=True):
                if matrix == value.matrix and not value.is_transposed and len(path) == 1:
                    return ir.Same(self.given[path[0]])
        if isinstance(value, (Pending, Infix, *MASKS)):
            kind = "an expression or a mask that is not computed"
            refuse(Reason.PYTHON_OBJECT, node, kind=kind)
        refuse(Reason.PYTHON_OBJECT, node, kind=f"a {self.kind(value)}")

    # --- iteration --------------------------------------------------------------------------------

    def iterator(self, value: Any, node: Any) -> Iterator:
        """Return iter(value)."""
        if isinstance(value, Iterator):
            return value
        if isinstance(value, Range):
            if not isinstance(value.step, int):
                zero = scalars.call("eq", BOOL, value.step, ZERO)
                self.fault(zero, "ValueError", "range() arg 3 must not be zero")
            return Iterator(value)
        if isinstance(value, Array | List):
            return Iterator(value, ZERO)
        if isinstance(value, Items):
            if len(value.values) > ITEMS:
                refuse(Reason.ITERABLE, node, kind=f"more than {ITEMS} items")
            return Iterator(value)
        if isinstance(value, Static) and isinstance(value.value, tuple | list):
            return self.iterator(self.sequence(value, node), node)
        refuse(Reason.ITERABLE, node, kind=f"a {self.kind(value)}")

    def sequence(self, value: Static, node: Any) -> Items:
        """Return the items of a list or a tuple of known objects."""
        if not all(classify(item) in ("static", "number") for item in value.value):
            refuse(Reason.ITERABLE, node, kind="a list or a tuple of such objects")
        if value.path is not None:
            self.fix(value.path)
        return Items(tuple(self.known(item) for item in value.value))

    def fix(self, path: Path) -> None:
        """Record an object whose value the program contains."""
        if path not in self.paths["fixed"]:
            self.paths["fixed"].append(path)

    def known(self, value: Any) -> Any:
        """Return a Python object that the program contains as a value."""
        return Number(constant(value)) if classify(value) == "number" else Static(value)

    def advance(self, step: flow.Next) -> int | ir.End:
        """Execute a `Next` step."""
        iterator = self.state.names[step.iterator]
        condition = self.has_next(iterator)
        if isinstance(condition, ir.Constant):
            if not condition.value:
                return step.done
            self.take(step, iterator)
            return step.body
        if self.decide(condition):
            self.take(step, iterator)
            return step.body
        return step.done

    def has_next(self, iterator: Iterator) -> ir.Scalar:
        """Return whether there is another item."""
        source = iterator.source
        if isinstance(source, Range):
            if source.stop is None:
                return TRUE
            up = scalars.call("lt", BOOL, source.start, source.stop)
            down = scalars.call("gt", BOOL, source.start, source.stop)
            if isinstance(source.step, int):
                return up if source.step > 0 else down
            positive = scalars.call("gt", BOOL, source.step, ZERO)
            return scalars.where(positive, up, down)
        if isinstance(source, Items):
            if iterator.position == "zip":
                found: ir.Scalar = TRUE
                for each in source.values:
                    found = scalars.both(found, self.has_next(each))
                return found
            return constant(bool(source.values))
        if iterator.step < 0:
            return scalars.call("ge", BOOL, iterator.position, ZERO)
        return scalars.call("lt", BOOL, iterator.position, self.length(source))

    def next_of(self, iterator: Iterator, node: Any) -> tuple[Any, Iterator]:
        """Return the next item, and the iterator after it."""
        source = iterator.source
        if isinstance(source, Range):
            step = constant(source.step) if isinstance(source.step, int) else source.step
            following = scalars.call("add", INT64, source.start, step)
            rest = Range(following, source.stop, source.step)
            return Number(source.start), Iterator(rest)
        if isinstance(source, Items):
            if iterator.position == "zip":
                pairs = [self.next_of(each, node) for each in source.values]
                items = Items(tuple(item for item, _ in pairs))
                return items, Iterator(Items(tuple(rest for _, rest in pairs)), "zip")
            return source.values[0], Iterator(Items(source.values[1:]))
        position = iterator.position
        following = scalars.call("add", INT64, position, constant(iterator.step))
        rest = Iterator(source, following, iterator.step)
        if isinstance(source, Array):
            return self.array_item(source, position), rest
        return self.peek(source, position, node), rest

    def take(self, step: flow.Next, iterator: Iterator) -> None:
        """Assign the next item to the target."""
        item, rest = self.next_of(iterator, step.target)
        pairs = self.unpack(step.target, item)
        self.store([*pairs, (step.iterator, rest)], step.target)

    def array_item(self, array: Array, index: ir.Scalar) -> Any:
        """Return an item of an array or a list of numbers."""
        of = array.array
        item = ir.Element(of, index, scalar_kind(of.dtype))
        return Typed(item, True, of.dtype, True) if array.is_numpy else Number(item)

    # --- lists of vectors -------------------------------------------------------------------------

    def length(self, value: Any) -> ir.Scalar:
        """Return len(value)."""
        if isinstance(value, Array):
            return ir.Size(value.array.dim, INT64)
        variable = self.temporary(INT64)
        self.emit(ir.Length(variable, value, self.line))  # type: ignore[arg-type]
        return variable

    def new_list(self) -> List:
        """Return a new list without items."""
        used = lists_of(tuple(self.state.names.values()))
        name = (self.hint or "list").partition("@")[0]
        for number in range(self.input_stacks, len(self.list_names)):
            if self.list_names[number] == name and number not in used | self.pinned_lists:
                break
        else:
            number = len(self.element_types)
            self.element_types[number] = self.known_types.get(number)
            self.list_names.append(name)
            self.paths["stacks"].append(())
        self.pinned_lists.add(number)
        self.emit(ir.ClearStack(List(number), self.line))  # type: ignore[arg-type]
        return List(number)

    def element_type(self, value: List, node: Any) -> tuple[DataType, ir.Dim]:
        """Return the dtype and the size of the vectors in a list."""
        found = self.element_types[value.number]
        if found is None:
            raise Unknown(value.number, node)
        return found

    def append(self, value: List, node: ast.Call) -> None:
        """Execute value.append(x)."""
        (argument,) = node.args
        vector = None
        if (
            isinstance(argument, ast.Call)
            and isinstance(argument.func, ast.Attribute)
            and argument.func.attr == "dup"
            and not argument.args
            and not argument.keywords
        ):
            vector = self.evaluate(argument.func.value)
            is_copy = isinstance(vector, Held)
        if not isinstance(vector, Held):
            vector = self.evaluate(argument)
            is_copy = False
        if not isinstance(vector, Held):
            refuse(Reason.STACK, node, name="the list")
        slot = self.slot_of(vector)
        known = self.element_types[value.number]
        if known is None:
            raise Unknown(value.number, node, (slot.dtype, slot.dim))
        if known != (slot.dtype, slot.dim):
            refuse(Reason.STACK, node, name="the list")
        if not is_copy:
            self.share(vector)
        self.emit(ir.Append(value, slot, self.line))  # type: ignore[arg-type]

    def pop(self, value: List, node: Any) -> Held:
        """Return value.pop()."""
        dtype, dim = self.element_type(value, node)
        slot = self.allocate(dtype, dim, self.hint)
        self.emit(ir.Pop(value, slot, self.line))  # type: ignore[arg-type]
        return self.add_object(slot, is_shared=value.number in self.filled)

    def peek(self, value: List, index: ir.Scalar, node: Any) -> Held:
        """Return value[index]."""
        dtype, dim = self.element_type(value, node)
        slot = self.allocate(dtype, dim, self.hint)
        self.emit(ir.Peek(value, index, slot, self.line))  # type: ignore[arg-type]
        return self.add_object(slot, is_shared=True)

    # --- statements -------------------------------------------------------------------------------

    def do(self, node: ast.stmt) -> None:
        """Execute a simple statement."""
        self.pinned_lists.clear()
        if isinstance(node, ast.Assign):
            self.assign_names(node.targets, node.value)
        elif isinstance(node, ast.AnnAssign):
            assert node.value is not None
            self.assign_names([node.target], node.value)
        elif isinstance(node, ast.AugAssign):
            self.augment(node)
        elif isinstance(node, ast.Expr):
            self.expression_statement(node.value)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self.delete(target)
        elif not isinstance(node, ast.Pass):
            refuse(Reason.SYNTAX, node, name=type(node).__name__)

    def assign_names(self, targets: list[ast.expr], value: ast.expr) -> None:
        """Execute `target = ... = value`."""
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            self.hint = targets[0].id
        if (
            len(targets) == 1
            and isinstance(targets[0], ast.Tuple | ast.List)
            and isinstance(value, ast.Tuple | ast.List)
            and len(value.elts) == len(targets[0].elts)
        ):
            items = []
            for target, part in zip(targets[0].elts, value.elts, strict=True):
                self.hint = target.id if isinstance(target, ast.Name) else None
                items.append(self.evaluate(part))
            found: Any = Items(tuple(items))
        else:
            found = self.evaluate(value)
        self.hint = None
        pairs: list[tuple[str, Any]] = []
        for target in targets:
            if isinstance(target, ast.Subscript):
                self.store(pairs, target)
                pairs = []
            pairs += self.unpack(target, found)
        self.store(pairs, value)

    def unpack(self, target: ast.expr, value: Any) -> list[tuple[str, Any]]:
        """Return which names a target assigns, or assign an element."""
        if isinstance(target, ast.Name):
            return [(target.id, value)]
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, Static) and isinstance(value.value, tuple | list):
                value = self.sequence(value, target)
            if not isinstance(value, Items):
                refuse(Reason.SYNTAX, target, name="this unpacking")
            if len(value.values) != len(target.elts):
                text = f"the number of values to unpack is not {len(target.elts)}"
                self.fails(target, "ValueError", text)
            found = []
            for part, item in zip(target.elts, value.values, strict=True):
                found += self.unpack(part, item)
            return found
        if isinstance(target, ast.Subscript):
            self.set_item(target, value)
            return []
        refuse(Reason.SYNTAX, target, name="an assignment to this")

    def store(self, pairs: list[tuple[str, Any]], node: Any) -> None:
        """Assign values to names, all at the same time."""
        lets: list[tuple[ir.Var, ir.Scalar]] = []
        stored = {}
        for name, value in pairs:
            count = [0]

            is_number = isinstance(value, Number) and self.sites.get(name, 0) > 1

            def take(
                part: Any,
                name: str = name,
                count: list[int] = count,
                is_number: bool = is_number,
            ) -> Any:
                if not isinstance(part, SCALARS):
                    return None
                if self.is_stable(part) and not is_number:
                    return part
                owner = name if not count[0] else f"{name}_{count[0]}"
                count[0] += 1
                variable = self.variable(owner, part.dtype)
                if variable != part:
                    lets.append((variable, part))
                return variable

            stored[name] = transform(value, take)
        self.state.names.update(stored)
        last = dict(lets)
        if last:
            self.emit(ir.Let(tuple(last), tuple(last.values()), self.line))

    def augment(self, node: ast.AugAssign) -> None:
        """Execute `target op= value`."""
        symbol = SYMBOLS[type(node.op)]
        if isinstance(node.target, ast.Subscript):
            refuse(
                Reason.OPERATION,
                node,
                name=f"`{ast.unparse(node.target)} {symbol}= ...`; for a vector write "
                "`x(op)[i] << value`",
            )
        if not isinstance(node.target, ast.Name):
            refuse(Reason.SYNTAX, node.target, name="an assignment to this")
        load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = self.evaluate(load)
        other = self.evaluate(node.value)
        if isinstance(value, Held):
            made = other if symbol == "<<" else self.binary(symbol, value, other, node)
            self.write(Target(value, None, None, False), made, node)
            return
        self.store([(node.target.id, self.binary(symbol, value, other, node))], node)

    def expression_statement(self, node: ast.expr) -> None:
        """Execute an expression whose value is not used."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift):
            target = self.target_of(node.left)
            if target is not None:
                self.write(target, self.evaluate(node.right), node)
                return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, of = node.func.attr, node.func.value
            if name == "update":
                target = self.target_of(of)
                if target is not None and len(node.args) == 1:
                    self.write(target, self.evaluate(node.args[0]), node)
                    return
            if name in ("clear", "append"):
                value = self.evaluate(of)
                if isinstance(value, Held) and name == "clear":
                    self.clear(value, node)
                    return
                if isinstance(value, List) and name == "append" and len(node.args) == 1:
                    self.append(value, node)
                    return
                if isinstance(value, List) and name == "clear":
                    self.emit(ir.ClearStack(value, self.line))  # type: ignore[arg-type]
                    return
        self.evaluate(node)

    def target_of(self, node: ast.expr) -> Target | None:
        """Return the left side of `<<`, or None if it is not a vector."""
        if isinstance(node, ast.Subscript):
            base = self.target_of(node.value)
            if base is not None and base.index is None:
                return self.at(base, node.slice)
            return None
        value = self.evaluate(node)
        if isinstance(value, Held):
            return Target(value, None, None, False)
        if isinstance(value, Target):
            return value
        if isinstance(value, VECTORS):
            text = "an expression cannot be assigned to; write `C << expression`"
            self.fails(node, "TypeError", text)
        return None

    def at(self, target: Target, node: ast.expr) -> Target:
        """Return `target[node]`; the index of the whole vector is None."""
        if isinstance(node, ast.Slice) and not (node.lower or node.upper or node.step):
            return target
        if isinstance(node, ast.Constant) and node.value is Ellipsis:
            return target
        if isinstance(node, ast.Slice):
            refuse(Reason.OPERATION, node, name="a slice of a vector")
        index = self.evaluate(node)
        if isinstance(index, Pending | Infix):
            found = self.term(index, node)
            index = Pending(ir.Entry(self.materialize(found.term, found.dim)), found.dim)
        return Target(target.vector, target.mask, target.accum, target.replace, index)

    def set_item(self, node: ast.Subscript, value: Any) -> None:
        """Execute `node = value`."""
        target = self.target_of(node.value)
        if target is None:
            refuse(Reason.SYNTAX, node, name="an assignment to this")
        self.write(self.at(target, node.slice), value, node)

    def delete(self, node: ast.expr) -> None:
        """Execute `del node`."""
        if isinstance(node, ast.Name):
            if node.id not in self.state.names:
                refuse(Reason.UNBOUND, node)
            del self.state.names[node.id]
            return
        if isinstance(node, ast.Subscript):
            target = self.target_of(node.value)
            if target is not None:
                target = self.at(target, node.slice)
                target = Target(target.vector, target.mask, None, target.replace, target.index)
                if isinstance(target.index, VECTORS):
                    refuse(Reason.OPERATION, node, name="a deletion by a Vector of indices")
                self.write(target, None, node)
                return
        refuse(Reason.SYNTAX, node, name="this `del`")

    # --- expressions ------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
        method = self.evaluators.get(type(node))
        if method is None:
            refuse(Reason.SYNTAX, node, name=f"`{ast.unparse(node)}`")
        return method(self, node)

    def evaluate_constant(self, node: ast.Constant) -> Any:
        if classify(node.value) == "number":
            return Number(constant(node.value))
        return Static(node.value)

    def evaluate_name(self, node: ast.Name) -> Any:
        if node.id in self.state.names:
            return self.state.names[node.id]
        if node.id in self.constants:
            return self.constants[node.id]
        if hasattr(builtins, node.id.partition("@")[0]) and node.id not in self.assigned:
            return Static(getattr(builtins, node.id.partition("@")[0]))
        refuse(Reason.UNBOUND, node)

    def evaluate_tuple(self, node: ast.Tuple) -> Items:
        return Items(tuple(self.evaluate(item) for item in node.elts))

    def evaluate_list(self, node: ast.List) -> Any:
        if node.elts:
            return self.evaluate_tuple(node)  # type: ignore[arg-type]
        return self.new_list()

    def evaluate_lambda(self, node: ast.Lambda) -> Static:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        own = {each.arg for each in every}
        found = {}
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id not in own:
                value = self.evaluate_name(ast.copy_location(ast.Name(part.id), node))
                found[part.id] = self.static(value, node)
        renamed = {name: f"free_{k}" for k, name in enumerate(sorted(found))}
        body = copy.deepcopy(node)
        for part in ast.walk(body):
            if isinstance(part, ast.Name):
                part.id = renamed.get(part.id, part.id)
        tree = ast.fix_missing_locations(ast.Expression(body))
        values = {renamed[name]: value for name, value in found.items()}
        return Static(eval(compile(tree, "<lambda>", "eval"), values))

    def evaluate_attribute(self, node: ast.Attribute) -> Any:
        value, name = self.evaluate(node.value), node.attr
        if isinstance(value, Static):
            return self.static_attribute(value, name, node)
        if isinstance(value, VECTORS):
            if name in ("S", "V"):
                return self.mask_view(value, name == "S", node)
            if name == "nvals":
                return self.count(value, node)
            if name == "size":
                return Number(ir.Size(self.dims_of(value, node)[0], INT64))
            if name == "value" and isinstance(value, Infix) and value.dim is None:
                return self.unwrap(self.by_default(value, node))
        if isinstance(value, View):
            if name in ("nrows", "ncols"):
                return Number(ir.Size(value.dims[name == "ncols"], INT64))
            if name == "T":
                return View(value.matrix, not value.is_transposed)
            if name in ("S", "V"):
                refuse(Reason.OPERATION, node, name="a mask that is a matrix")
        if isinstance(value, (*VECTORS, View)):
            if name == "shape":
                dims = self.dims_of(value, node)
                return Items(tuple(Number(ir.Size(dim, INT64)) for dim in dims))
            if name == "ndim":
                return Number(constant(2 if isinstance(value, View) else 1))
        if name == "dtype" and isinstance(value, (*VECTORS, View, Typed)):
            return Static(self.dtype_of(value, node))
        if name == "device" and isinstance(value, (*VECTORS, View)):
            return Static(self.device)
        if isinstance(value, Typed) and not value.is_numpy:
            if name == "value":
                return self.unwrap(value)
            if name == "is_empty":
                return Number(scalars.negation(value.present))
        refuse(Reason.OPERATION, node, name=f"`{ast.unparse(node)}`")

    def unwrap(self, value: Typed) -> Any:
        """Return the Python number of a Scalar, or None."""
        if value.presence is True:
            return Number(value.scalar)
        return Perhaps(value.scalar, value.present)

    def static_attribute(self, value: Static, name: str, node: Any) -> Any:
        """Return an attribute of a known object."""
        with self.checks(node):
            try:
                found = getattr(value.value, name)
            except AttributeError as error:
                raise TypeError(str(error)) from None
        path = None if value.path is None else (*value.path, name)
        kind = classify(found)
        if kind == "number":
            if path is not None and not _is_known_module(value.value):
                self.fix(path)
            return Number(constant(found))
        if kind not in ("static", "array"):
            refuse(Reason.PYTHON_OBJECT, node, kind="a part of another object")
        return Static(found, path)

    def evaluate_subscript(self, node: ast.Subscript) -> Any:
        value = self.evaluate(node.value)
        if isinstance(value, VECTORS):
            return self.item_of_vector(value, node)
        if isinstance(value, Target):
            return self.at(value, node.slice)
        if isinstance(value, View):
            refuse(Reason.OPERATION, node, name="a part of a matrix")
        index = self.evaluate(node.slice)
        if isinstance(value, Static):
            with self.checks(node):
                return self.known(value.value[self.static(index, node)])
        if isinstance(value, Items):
            with self.checks(node):
                return value.values[self.static(index, node)]
        if isinstance(value, List | Array):
            if not isinstance(index, Number) or index.scalar.dtype is FP64:
                self.fails(node, "TypeError", "list indices must be integers or slices")
            position = scalars.convert(index.scalar, INT64)
            if isinstance(value, List):
                return self.peek(value, position, node)
            position, count = self.leaf(position), self.length(value)
            outside = scalars.either(
                scalars.call("ge", BOOL, position, count),
                scalars.call("lt", BOOL, position, scalars.call("neg", INT64, count)),
            )
            self.fault(outside, "IndexError", "list index out of range")
            if not (isinstance(position, ir.Constant) and position.value >= 0):
                below = scalars.call("lt", BOOL, position, ZERO)
                end = scalars.call("add", INT64, position, count)
                position = self.leaf(scalars.where(below, end, position))
            return self.array_item(value, position)
        refuse(Reason.OPERATION, node, name=f"`{ast.unparse(node)}`")

    def item_of_vector(self, value: Any, node: ast.Subscript) -> Any:
        """Return x[i], x[q] or x[:]."""
        part = node.slice
        if isinstance(part, ast.Constant) and part.value is Ellipsis:
            return self.term(value, node)
        if isinstance(part, ast.Slice):
            if part.lower or part.upper or part.step:
                refuse(Reason.OPERATION, node, name="a slice of a vector")
            return self.term(value, node)
        index = self.evaluate(part)
        if isinstance(index, VECTORS):
            return self.gather(value, index, node)
        return self.element(value, index, node)

    def evaluate_unary(self, node: ast.UnaryOp) -> Any:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            return Number(scalars.negation(self.truth(value, node)))
        if isinstance(value, MASKS):
            if isinstance(node.op, ast.Invert):
                return self.invert_mask(value)
            self.fails(node, "TypeError", "bad operand type for a mask")
        if isinstance(value, (*VECTORS, View)):
            self.refuse_matrix(node, value)
            if isinstance(node.op, ast.USub):
                return self.negate(value, node)
            if isinstance(node.op, ast.Invert):
                return self.invert(value, node)
            return self.apply(value, unary.identity, None, None, node)
        scalar = self.number(value, node)
        with self.checks(node):
            if isinstance(node.op, ast.USub):
                return Number(scalars.negative(scalar))
            if isinstance(node.op, ast.UAdd):
                return Number(scalars.convert(scalar, INT64) if scalar.dtype is BOOL else scalar)
            if scalar.dtype is FP64:
                raise TypeError("bad operand type for unary ~: 'float'")
            return Number(scalars.call("invert", INT64, scalars.convert(scalar, INT64)))

    def evaluate_binary(self, node: ast.BinOp) -> Any:
        symbol = SYMBOLS[type(node.op)]
        if symbol == "<<" and self.target_names(node.left):
            refuse(Reason.SYNTAX, node, name="a `<<` statement inside an expression")
        left = self.evaluate(node.left)
        return self.binary(symbol, left, self.evaluate(node.right), node)

    def target_names(self, node: ast.expr) -> bool:
        """Return whether the left side of `<<` is a vector."""
        names = _names(node)
        return any(isinstance(self.state.names.get(name), Held | Target) for name in names)

    def binary(self, symbol: str, left: Any, right: Any, node: Any) -> Any:
        """Return `left symbol right`."""
        if isinstance(left, MASKS) or isinstance(right, MASKS):
            if symbol in ("&", "|"):
                return self.join_masks(symbol, left, right, node)
            self.fails(node, "TypeError", f"unsupported operand type(s) for {symbol}: 'Mask'")
        for x in (left, right):
            if isinstance(x, (*VECTORS, View)):
                if symbol in ("<<", ">>"):
                    self.fails(node, "TypeError", f"unsupported operand type(s) for {symbol}")
                return self.arithmetic(symbol, left, right, node)
        x, y = self.number(left, node), self.number(right, node)
        with self.checks(node):
            if symbol == "@":
                raise TypeError("unsupported operand type(s) for @: numbers")
            return Number(scalars.arithmetic(self, symbol, x, y))

    def evaluate_compare(self, node: ast.Compare) -> Any:
        (op,) = node.ops
        left, right = self.evaluate(node.left), self.evaluate(node.comparators[0])
        if isinstance(op, ast.Is | ast.IsNot):
            found = self.is_same(left, right, node)
            return Number(scalars.negation(found) if isinstance(op, ast.IsNot) else found)
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(right, VECTORS):
                refuse(Reason.OPERATION, node, name="`in`")
            found = self.element(right, left, node).present
            return Number(scalars.negation(found) if isinstance(op, ast.NotIn) else found)
        symbol = SYMBOLS[type(op)]
        if any(isinstance(x, (*VECTORS, View)) for x in (left, right)):
            return self.arithmetic(symbol, left, right, node)
        if any(isinstance(x, Static) for x in (left, right)):
            return self.compare_static(symbol, left, right, node)
        if symbol in ("==", "!=") and any(isinstance(x, Perhaps) for x in (left, right)):
            return self.compare_perhaps(symbol, left, right, node)
        x, y = self.number(left, node), self.number(right, node)
        with self.checks(node):
            return Number(scalars.compare(self, symbol, x, y))

    def compare_perhaps(self, symbol: str, left: Any, right: Any, node: Any) -> Number:
        """Return `left == right` or `left != right`, where None may be on either side."""
        sides = [x.present if isinstance(x, Perhaps) else TRUE for x in (left, right)]
        values = [x.scalar for x in (left, right)]
        equal = scalars.both(scalars.both(*sides), scalars.compare(self, "==", *values))
        none = scalars.both(*(scalars.negation(x) for x in sides))
        found = scalars.either(equal, none)
        return Number(found if symbol == "==" else scalars.negation(found))

    def compare_static(self, symbol: str, left: Any, right: Any, node: Any) -> Number:
        """Return the comparison of two known objects, or of a number with one."""
        if isinstance(left, Static) and isinstance(right, Static):
            compare = getattr(operator, scalars.COMPARISONS[symbol])
            with self.checks(node):
                return Number(constant(bool(compare(left.value, right.value))))
        if symbol in ("==", "!="):
            other, known = (left, right) if isinstance(right, Static) else (right, left)
            if known.value is None and isinstance(other, Perhaps):
                present = other.present
                return Number(scalars.negation(present) if symbol == "==" else present)
            if isinstance(other, Number | Held | List) and known.value is None:
                return Number(constant(symbol == "!="))
        refuse(Reason.OPERATION, node, name="a comparison with this object")

    def is_same(self, left: Any, right: Any, node: Any) -> ir.Scalar:
        """Return `left is right`."""
        for one, other in ((left, right), (right, left)):
            if one == NONE:
                if isinstance(other, Perhaps):
                    return scalars.negation(other.present)
                return constant(other == NONE)
        if isinstance(left, Static) and isinstance(right, Static):
            return constant(left.value is right.value)
        if isinstance(left, Held) and isinstance(right, Held):
            return constant(left == right)
        if isinstance(left, Number) and isinstance(right, Number):
            both = left.scalar.dtype, right.scalar.dtype
            if both == (BOOL, BOOL):
                return scalars.compare(self, "==", left.scalar, right.scalar)
            if BOOL in both:
                return FALSE
        refuse(Reason.OPERATION, node, name="`is` of such values")

    def truth(self, value: Any, node: Any) -> ir.Scalar:
        """Return bool(value)."""
        if isinstance(value, Number):
            return scalars.truth(value.scalar)
        if isinstance(value, Perhaps | Typed):
            return scalars.both(value.present, scalars.truth(value.scalar))
        if isinstance(value, List | Array):
            return scalars.call("ne", BOOL, self.length(value), ZERO)
        if isinstance(value, Items):
            return constant(bool(value.values))
        if isinstance(value, Infix) and value.dim is None:
            return self.truth(self.by_default(value, node), node)
        if isinstance(value, Static):
            with self.checks(node):
                return constant(bool(value.value))
        if isinstance(value, (*VECTORS, View)):
            text = (
                f"a {self.kind(value)} is neither true nor false: use .nvals, .isequal(other) or "
                ".reduce"
            )
            self.fails(node, "TypeError", text)
        if isinstance(value, MASKS):
            text = "a mask is neither true nor false; ask the matrix for its `.nvals`"
            self.fails(node, "TypeError", text)
        refuse(Reason.OPERATION, node, name="the truth value of this")

    def number(self, value: Any, node: Any) -> ir.Scalar:
        """Return the scalar of a Python number."""
        if isinstance(value, Number):
            return value.scalar
        if isinstance(value, Perhaps):
            missing = scalars.negation(value.present)
            self.fault(missing, "TypeError", "unsupported operand type: 'NoneType'")
            return value.scalar
        if isinstance(value, Typed) and value.is_numpy:
            hint = "arithmetic of NumPy numbers; convert them by int(x) or float(x) first"
            refuse(Reason.OPERATION, node, name=hint)
        if isinstance(value, Typed) or (isinstance(value, Infix) and value.dim is None):
            hint = "arithmetic of Scalars; write `.value` or `.get(0)` after the reduction"
            refuse(Reason.OPERATION, node, name=hint)
        refuse(Reason.PYTHON_OBJECT, node, kind=f"a {self.kind(value)} where a number is needed")

    # --- calls ------------------------------------------------------------------------------------

    def evaluate_call(self, node: ast.Call) -> Any:
        if any(isinstance(arg, ast.Starred) for arg in node.args) or any(
            keyword.arg is None for keyword in node.keywords
        ):
            refuse(Reason.SYNTAX, node, name="a call with * or **")
        if isinstance(node.func, ast.Attribute):
            value = self.evaluate(node.func.value)
            if not isinstance(value, Static):
                return self.call_method(value, node.func.attr, node)
            function = self.static_attribute(value, node.func.attr, node.func)
        else:
            function = self.evaluate(node.func)
        hint, self.hint = self.hint, None
        args = [self.evaluate(arg) for arg in node.args]
        options = {str(each.arg): self.evaluate(each.value) for each in node.keywords}
        self.hint = hint
        if isinstance(function, Held):
            return self.target(function, args, options, node)
        if isinstance(function, Static):
            return self.call(function.value, args, options, node)
        refuse(Reason.CALL, node.func)

    def call(self, function: Any, args: list[Any], options: dict[str, Any], node: Any) -> Any:
        """Return function(*args, **options), for a known function."""
        if hasattr(function, "opclass") and hasattr(function, "name"):
            every = [*args, *options.values()]
            if any(isinstance(x, (*VECTORS, View)) for x in every):
                return self.call_operator(function, args, options, node)
            return self.call_static(function, args, options, node)
        special = _CALLS.get(function) if _is_hashable(function) else None
        if special is not None:
            return special(self, args, options, node)
        if getattr(math, getattr(function, "__name__", ""), None) is function:
            given = [self.number(x, node) for x in args]
            if not options:
                with self.checks(node):
                    found = scalars.mathematical(self, function.__name__, given)
                if found is not None:
                    return Number(found)
            refuse(Reason.CALL, node.func)
        module = getattr(function, "__module__", None) or ""
        if module.partition(".")[0] in ("semirings", "graphla"):
            name = getattr(function, "__name__", "")
            if name in ("select", "value", "row", "column", "index") and len(args) == 1:
                if isinstance(args[0], VECTORS):
                    return self.select_by(args[0], name, node)
            return self.call_static(function, args, options, node)
        refuse(Reason.CALL, node.func)

    def call_static(self, function: Any, args: list[Any], options: dict[str, Any], node: Any) -> Any:
        """Call a function of the library with known objects."""
        given = [self.static(x, node) for x in args]
        named = {name: self.static(x, node) for name, x in options.items()}
        with self.checks(node):
            found = function(*given, **named)
        if isinstance(found, Operand):
            refuse(Reason.CALL, node.func)
        return self.known(found)

    def call_method(self, value: Any, name: str, node: ast.Call) -> Any:
        """Return value.name(...)."""
        if isinstance(value, List) and name == "pop" and not node.args and not node.keywords:
            return self.pop(value, node)
        hint, self.hint = self.hint, None
        args = [self.evaluate(arg) for arg in node.args]
        options = {str(each.arg): self.evaluate(each.value) for each in node.keywords}
        self.hint = hint
        if isinstance(value, VECTORS):
            if isinstance(value, Infix) and value.dim is None:
                value = self.by_default(value, node)
                return self.scalar_method(value, name, args, options, node)
            return self.vector_method(value, name, args, options, node)
        if isinstance(value, View):
            return self.matrix_method(value, name, args, options, node)
        if isinstance(value, MASKS) and name == "new":
            found = self.bind_arguments(
                ("dtype", "complement", "mask", "name"), args, options, node, keywords=1
            )
            dtype = self.optional_static(found["dtype"], node)
            complement = bool(self.optional_static(found["complement"], node))
            return self.new_of_mask(value, dtype, complement, found["mask"], node)
        if isinstance(value, Typed):
            return self.scalar_method(value, name, args, options, node)
        if isinstance(value, Number | Perhaps) and name == "is_integer" and not args:
            scalar = self.leaf(self.number(value, node))
            if scalar.dtype is not FP64:
                return Number(TRUE)
            finite = ir.Call("math.isfinite", (scalar,), BOOL)
            near = scalars.where(finite, scalar, constant(0.0))
            whole = ir.Call("float", (ir.Call("math.floor", (near,), INT64),), FP64)
            return Number(scalars.both(finite, ir.Call("eq", (scalar, whole), BOOL)))
        refuse(Reason.CALL, node.func)

    def bind_arguments(
        self,
        names: tuple[str, ...],
        args: list[Any],
        options: dict[str, Any],
        node: Any,
        keywords: int | None = None,
    ) -> dict[str, Any]:
        """Return the arguments of a call by name; a missing one, and None, is None.

        The arguments from number `keywords` on must be keywords.
        """
        limit = len(names) if keywords is None else keywords
        if len(args) > limit:
            self.fails(node, "TypeError", f"{limit} positional arguments are allowed")
        found = dict(zip(names, args, strict=False))
        for name, value in options.items():
            if name not in names or name in found:
                self.fails(node, "TypeError", f"unexpected argument {name!r}")
            found[name] = value
        return {name: None if found.get(name) == NONE else found.get(name) for name in names}

    def optional_static(self, value: Any, node: Any) -> Any:
        """Return the known object, or None if there is none."""
        return None if value is None else self.static(value, node)

    def vector_method(
        self, value: Any, name: str, args: list[Any], options: dict[str, Any], node: ast.Call
    ) -> Any:
        """Return a method of a vector or a vector expression."""
        bind = self.bind_arguments
        if name == "new" and not isinstance(value, Held):
            found = bind(("dtype", "mask", "input_mask", "name"), args, options, node, 1)
            if found["input_mask"] is not None:
                refuse(Reason.OPERATION, node, name="an input_mask")
            dtype = self.optional_static(found["dtype"], node)
            return self.new(value, dtype, found["mask"], node)
        if name == "dup":
            found = bind(("dtype", "clear", "mask", "name"), args, options, node, 1)
            dtype = self.optional_static(found["dtype"], node)
            if self.optional_static(found["clear"], node):
                wanted = self.dtype_of(value, node) if dtype is None else self.lookup(dtype, node)
                return self.new_vector(wanted, self.dims_of(value, node)[0])
            return self.new(value, dtype, found["mask"], node)
        if name in ("vxm", "inner"):
            found = bind(("other", "op"), args, options, node)
            wanted = View if name == "vxm" else VECTORS
            if not isinstance(found["other"], wanted):
                kind = "Matrix" if name == "vxm" else "Vector"
                text = f"{name} needs a {kind}, not a {self.kind(found['other'])}"
                self.fails(node, "TypeError", text)
            op = plus_times if found["op"] is None else self.static(found["op"], node)
            return self.product(value, found["other"], op, node)
        if name in ("ewise_add", "ewise_mult"):
            found = bind(("other", "op"), args, options, node)
            default = monoid.plus if name == "ewise_add" else binary.times
            op = default if found["op"] is None else self.static(found["op"], node)
            method = self.ewise_add if name == "ewise_add" else self.ewise_mult
            return method(value, found["other"], op, node)
        if name == "ewise_union":
            found = bind(("other", "op", "left_default", "right_default"), args, options, node)
            op = self.static(found["op"], node)
            sides = found["left_default"], found["right_default"]
            return self.ewise_union(value, found["other"], op, *sides, node)
        if name == "apply":
            found = bind(("op", "right", "left"), args, options, node, 2)
            op = self.static(found["op"], node)
            return self.apply(value, op, found["left"], found["right"], node)
        if name == "select":
            found = bind(("op", "thunk"), args, options, node)
            return self.select(value, found["op"], found["thunk"], node)
        if name == "reduce":
            found = bind(("op", "allow_empty"), args, options, node, 1)
            op = monoid.plus if found["op"] is None else self.static(found["op"], node)
            allowed = found["allow_empty"]
            is_allowed = True if allowed is None else bool(self.static(allowed, node))
            return self.reduce(value, op, is_allowed, node)
        if name == "isequal":
            found = bind(("other", "check_dtype"), args, options, node, 1)
            check = bool(self.optional_static(found["check_dtype"], node))
            return self.is_equal(value, found["other"], check, node)
        if name == "get":
            found = bind(("index", "default"), args, options, node)
            element = self.element(value, self.whole(found["index"]), node)
            return self.get(element, found["default"], node)
        if name == "wait":
            return value
        refuse(Reason.OPERATION, node, name=f"`.{name}(...)` of a vector")

    def whole(self, value: Any) -> Any:
        """Return an index as `operator.index` does: a bool becomes an int."""
        if isinstance(value, Number) and value.scalar.dtype is BOOL:
            return Number(scalars.convert(value.scalar, INT64))
        return value

    def get(self, value: Typed, default: Any, node: Any) -> Any:
        """Return the value of a Scalar, or a default if it is empty."""
        if value.presence is True:
            return Number(value.scalar)
        if default is None:
            return Perhaps(value.scalar, value.present)
        if not isinstance(default, Number):
            if self.decide(value.present):
                return Number(value.scalar)
            return default
        scalar, other = value.scalar, default.scalar
        if BOOL in (scalar.dtype, other.dtype) and isinstance(other, ir.Constant):
            if {scalar.dtype, other.dtype} == {BOOL, INT64}:
                scalar, other = scalars.convert(scalar, INT64), scalars.convert(other, INT64)
        return Number(scalars.choose(self, value.present, scalar, other))

    def scalar_method(
        self, value: Typed, name: str, args: list[Any], options: dict[str, Any], node: ast.Call
    ) -> Any:
        """Return a method of a Scalar."""
        if value.is_numpy:
            if name == "item" and not args:
                return Number(value.scalar)
            refuse(Reason.OPERATION, node, name=f"`.{name}(...)` of a NumPy number")
        if name == "get":
            found = self.bind_arguments(("default",), args, options, node)
            return self.get(value, found["default"], node)
        if name in ("new", "dup"):
            found = self.bind_arguments(
                ("dtype", "is_cscalar", "mask", "clear", "name"), args, options, node, 1
            )
            if any(found[each] is not None for each in ("dtype", "mask", "clear")):
                refuse(Reason.OPERATION, node, name=f"`.{name}` of a Scalar with these arguments")
            return value
        refuse(Reason.OPERATION, node, name=f"`.{name}(...)` of a Scalar")

    def matrix_method(
        self, value: View, name: str, args: list[Any], options: dict[str, Any], node: ast.Call
    ) -> Any:
        """Return a method of a matrix."""
        if name == "mxv":
            found = self.bind_arguments(("other", "op"), args, options, node)
            if not isinstance(found["other"], VECTORS):
                text = f"mxv needs a Vector, not a {self.kind(found['other'])}"
                self.fails(node, "TypeError", text)
            op = plus_times if found["op"] is None else self.static(found["op"], node)
            return self.product(value, found["other"], op, node)
        if name in ("reduce_rowwise", "reduce_columnwise"):
            found = self.bind_arguments(("op",), args, options, node)
            op = monoid.plus if found["op"] is None else self.static(found["op"], node)
            return self.reduce_lines(value, op, name == "reduce_columnwise", node)
        if name == "wait":
            return value
        refuse(Reason.MATRIX_RESULT, node)

    # --- built-in functions -----------------------------------------------------------------------

    def call_convert(self, dtype: DataType, args: list[Any], options: Any, node: Any) -> Number:
        """Return bool(x), int(x) or float(x)."""
        if options or len(args) != 1:
            refuse(Reason.CALL, node.func)
        (value,) = args
        if dtype is BOOL:
            return Number(self.truth(value, node))
        if isinstance(value, Infix) and value.dim is None:
            value = self.by_default(value, node)
        if isinstance(value, Typed):
            self.require_value(value, node)
            scalar = value.scalar
        else:
            scalar = self.number(value, node)
        with self.checks(node):
            return Number(scalars.convert(scalar, dtype))

    def call_extreme(self, name: str, args: list[Any], options: Any, node: Any) -> Number:
        """Return min(...) or max(...)."""
        if options or not args:
            refuse(Reason.CALL, node.func)
        if len(args) == 1:
            if not isinstance(args[0], Items) or not args[0].values:
                refuse(Reason.CALL, node.func)
            args = list(args[0].values)
        found, *others = (self.number(x, node) for x in args)
        for other in others:
            found = scalars.extreme(self, name, found, other)
        return Number(found)

    def call_abs(self, args: list[Any], options: Any, node: Any) -> Any:
        """Return abs(x)."""
        (value,) = args
        if isinstance(value, VECTORS):
            return self.apply(value, abs, None, None, node)
        with self.checks(node):
            return Number(scalars.absolute(self.number(value, node)))

    def call_round(self, args: list[Any], options: Any, node: Any) -> Number:
        """Return round(x)."""
        if len(args) != 1 or options:
            refuse(Reason.CALL, node.func)
        with self.checks(node):
            return Number(scalars.rounded(self.number(args[0], node)))

    def call_len(self, args: list[Any], options: Any, node: Any) -> Number:
        """Return len(x)."""
        (value,) = args
        if isinstance(value, List | Array):
            return Number(self.length(value))
        if isinstance(value, Items):
            return Number(constant(len(value.values)))
        if isinstance(value, Static):
            with self.checks(node):
                found = len(value.value)
            if value.path is not None:
                self.fix((*value.path, "len()"))
            return Number(constant(found))
        refuse(Reason.CALL, node.func)

    def call_range(self, args: list[Any], options: Any, node: Any) -> Range:
        """Return range(...)."""
        bounds = []
        for value in args:
            if isinstance(value, Typed) and value.dtype.is_integer:
                self.require_value(value, node)
                bounds.append(value.scalar)
                continue
            scalar = self.number(value, node)
            if scalar.dtype is FP64:
                text = "'float' object cannot be interpreted as an integer"
                self.fails(node, "TypeError", text)
            bounds.append(scalars.convert(scalar, INT64))
        if not 1 <= len(bounds) <= 3 or options:
            refuse(Reason.CALL, node.func)
        start, stop = (ZERO, bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else ONE
        if step == ZERO:
            self.fails(node, "ValueError", "range() arg 3 must not be zero")
        return Range(start, stop, step.value if isinstance(step, ir.Constant) else step)

    def call_pow(self, args: list[Any], options: Any, node: Any) -> Any:
        """Return pow(x, y)."""
        if len(args) != 2 or options:
            refuse(Reason.CALL, node.func)
        return self.binary("**", *args, node)

    def call_divmod(self, args: list[Any], options: Any, node: Any) -> Items:
        """Return divmod(x, y)."""
        return Items((self.binary("//", *args, node), self.binary("%", *args, node)))

    def call_reversed(self, args: list[Any], options: Any, node: Any) -> Iterator:
        """Return reversed(x)."""
        (value,) = args
        if isinstance(value, List | Array):
            last = scalars.call("sub", INT64, self.length(value), ONE)
            return Iterator(value, last, -1)
        if isinstance(value, Items):
            return Iterator(Items(value.values[::-1]))
        if isinstance(value, Range) and isinstance(value.step, int) and value.stop is not None:
            size, step = abs(value.step), constant(value.step)
            distance = scalars.call("sub", INT64, value.stop, value.start)
            if value.step < 0:
                distance = scalars.call("neg", INT64, distance)
            distance = scalars.call("sub", INT64, distance, ONE)
            turns = scalars.call("floordiv", INT64, distance, constant(size))
            last = scalars.call("mul", INT64, turns, step)
            last = scalars.call("add", INT64, value.start, last)
            stop = scalars.call("sub", INT64, value.start, step)
            # An empty range has turns = -1, so that `last` is `stop`.
            return Iterator(Range(self.leaf(last), self.leaf(stop), -value.step))
        refuse(Reason.ITERABLE, node, kind="such a reversed sequence")

    def call_enumerate(self, args: list[Any], options: Any, node: Any) -> Iterator:
        """Return enumerate(x)."""
        found = self.bind_arguments(("iterable", "start"), args, options, node)
        start = ZERO if found["start"] is None else self.number(found["start"], node)
        counter = Iterator(Range(start, None, 1))
        inner = self.iterator(found["iterable"], node)
        return Iterator(Items((counter, inner)), "zip")

    def call_zip(self, args: list[Any], options: Any, node: Any) -> Iterator:
        """Return zip(...)."""
        if options or not args:
            refuse(Reason.CALL, node.func)
        return Iterator(Items(tuple(self.iterator(x, node) for x in args)), "zip")

    def call_vector(self, args: list[Any], options: Any, node: Any) -> Held:
        """Return Vector(dtype, size)."""
        found = self.bind_arguments(("dtype", "size", "name"), args, options, node, 2)
        dtype = FP64 if found["dtype"] is None else self.lookup(
            self.static(found["dtype"], node), node
        )
        size = found["size"] or Number(ZERO)
        return self.new_vector(dtype, self.size_of(size, node))

    def call_from_scalar(self, args: list[Any], options: Any, node: Any) -> Held:
        """Return Vector.from_scalar(value, size)."""
        found = self.bind_arguments(("value", "size", "dtype", "name"), args, options, node)
        dim = self.size_of(found["size"], node)
        dtype = self.optional_static(found["dtype"], node)
        return self.from_scalar(found["value"], dim, dtype, node)

    def size_of(self, value: Any, node: Any) -> ir.Dim:
        """Return the dimension of a new vector."""
        scalar = value.scalar if isinstance(value, Number) else None
        if isinstance(scalar, ir.Size):
            return scalar.dim
        name = "a new vector whose size is not that of a vector or matrix of the loop"
        refuse(Reason.OPERATION, node, name=name)

    def call_isinstance(self, args: list[Any], options: Any, node: Any) -> Number:
        """Return isinstance(x, kinds)."""
        value, kinds = args
        examples = {BOOL: True, INT64: 1, FP64: 1.0}
        if isinstance(value, Number):
            example: Any = examples[value.scalar.dtype]
            return Number(constant(isinstance(example, self.static(kinds, node))))
        if isinstance(value, Held):
            kind = self.static(kinds, node)
            every = kind if isinstance(kind, tuple) else (kind,)
            return Number(constant(any(issubclass(Vector, each) for each in every)))
        if isinstance(value, Static):
            return Number(constant(isinstance(value.value, self.static(kinds, node))))
        refuse(Reason.CALL, node.func)

    evaluators: dict[type, Callable[[Tracer, Any], Any]] = {
        ast.Constant: evaluate_constant,
        ast.Name: evaluate_name,
        ast.Tuple: evaluate_tuple,
        ast.List: evaluate_list,
        ast.Lambda: evaluate_lambda,
        ast.Attribute: evaluate_attribute,
        ast.Subscript: evaluate_subscript,
        ast.UnaryOp: evaluate_unary,
        ast.BinOp: evaluate_binary,
        ast.Compare: evaluate_compare,
        ast.Call: evaluate_call,
    }

    # --- the end ----------------------------------------------------------------------------------

    def finish(self) -> tuple[ir.Program, Binding]:
        """Return the program and its binding."""
        stacks = [
            ir.Stack(number, name, *(self.element_types[number] or (FP64, ir.Dim(0))))
            for number, name in enumerate(self.list_names)
        ]
        tracked = self.find_tracked()
        origins = {slot.index: self.origin(slot) for slot in self.slots}
        dropped = {variable for index, variable in origins.items() if index not in tracked}

        def settle(part: Any) -> Any:
            return stacks[part.number] if isinstance(part, List) else None

        blocks = []
        for block in self.blocks:
            instructions = [
                transform(x, settle) if hasattr(x, "stack") else _without(x, dropped)
                for x in block.instructions
            ]
            kept = [x for x in instructions if x is not None]
            blocks.append(ir.Block(kept, block.end))
        exits = [
            ir.Leaving(
                each.place,
                {
                    name: transform(value, settle)
                    for name, value in each.names.items()
                    if not (isinstance(value, ir.Var) and value in dropped)
                },
            )
            for each in self.exits
        ]
        kept_names = [origins[index].name for index in tracked]
        blocks, exits = simplify(blocks, exits, kept_names)
        used = find_variables(blocks, exits)
        slots = self.find_slots(blocks)
        program = ir.Program(
            name=self.loop.name,
            dims=len(self.sizes),
            matrices=tuple(self.matrices),
            arrays=tuple(self.arrays),
            scalars=tuple(self.arguments),
            inputs=tuple(self.inputs),
            stacks=tuple(stacks),
            slots=slots,
            variables=tuple(x for x in self.variables.values() if x in used | set(self.arguments)),
            blocks=blocks,
            exits=exits,
            source=self.loop.source,
        )
        names = {index: origins[index].name for index in sorted(tracked)}
        paths = {kind: tuple(found) for kind, found in self.paths.items()}
        return program, Binding(**paths, origins=names)

    def find_tracked(self) -> set[int]:
        """Return the slots that may store the entries of an object from before the program."""
        found = {slot.index for slot in self.inputs}
        moves = [x for block in self.blocks for x in block.instructions if isinstance(x, ir.Move)]
        size = -1
        while size < len(found):
            size = len(found)
            for move in moves:
                for target, source in zip(move.targets, move.sources, strict=True):
                    if source.index in found:
                        found.add(target.index)
        return found

    def find_slots(self, blocks: list[ir.Block]) -> tuple[ir.Slot, ...]:
        """Return the slots that the program uses."""
        used = set(self.inputs)
        for block in blocks:
            for instruction in block.instructions:
                used |= set(parts(instruction, ir.Slot))
        return tuple(slot for slot in self.slots if slot in used)


def _without(x: ir.Instruction, dropped: set[ir.Var]) -> ir.Instruction | None:
    """Return an instruction without assignments to these variables."""
    if not isinstance(x, ir.Let) or not dropped.intersection(x.variables):
        return x
    pairs = [pair for pair in zip(x.variables, x.values, strict=True) if pair[0] not in dropped]
    return ir.Let(*zip(*pairs, strict=True), x.line) if pairs else None


def find_variables(blocks: list[ir.Block], exits: list[ir.Leaving]) -> set[ir.Var]:
    """Return the variables that the blocks and exits contain."""
    found = {x for leaving in exits for x in leaving.names.values() if isinstance(x, ir.Var)}
    for block in blocks:
        for instruction in block.instructions:
            found |= set(parts(instruction, ir.Var))
        found |= set(parts(block.end, ir.Var))
    return found


class Unknown(Exception):
    """The dtype of the vectors in a list is not known yet; or it has just become known."""

    def __init__(self, number: int, node: Any, found: Any = None):
        super().__init__()
        self.number = number
        self.node = node
        self.found = found


def _stored(node: ast.AST) -> set[str]:
    """Return the names that a part of the syntax tree assigns."""
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
    }


def _names(node: ast.AST | None) -> set[str]:
    """Return the names of the vectors to which the value of an expression may refer.

    A call of a method, such as `x.dup()`, gives a new vector, except `pop`.
    """
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Tuple | ast.List):
        return set().union(*map(_names, node.elts))
    if isinstance(node, ast.Subscript | ast.Starred):
        return _names(node.value)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return _names(node.func.value) if node.func.attr == "pop" else set()
        return _names(node.func)
    return set()


def _following(step: flow.Step) -> tuple[int, ...]:
    if isinstance(step, flow.Do | flow.Begin | flow.Jump):
        return (step.next,)
    if isinstance(step, flow.Test):
        return step.then, step.otherwise
    return (step.body, step.done) if isinstance(step, flow.Next) else ()


def _is_hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def _is_known_module(x: Any) -> bool:
    name = getattr(x, "__name__", "").partition(".")[0]
    return name in ("math", "numpy", "graphla", "semirings")


_CALLS: dict[Any, Callable[..., Any]] = {
    bool: lambda t, *rest: t.call_convert(BOOL, *rest),
    int: lambda t, *rest: t.call_convert(INT64, *rest),
    float: lambda t, *rest: t.call_convert(FP64, *rest),
    min: lambda t, *rest: t.call_extreme("min", *rest),
    max: lambda t, *rest: t.call_extreme("max", *rest),
    abs: Tracer.call_abs,
    round: Tracer.call_round,
    len: Tracer.call_len,
    range: Tracer.call_range,
    pow: Tracer.call_pow,
    divmod: Tracer.call_divmod,
    reversed: Tracer.call_reversed,
    enumerate: Tracer.call_enumerate,
    zip: Tracer.call_zip,
    isinstance: Tracer.call_isinstance,
    Vector: Tracer.call_vector,
    Vector.from_scalar: Tracer.call_from_scalar,
}
"""The functions that a program has instructions for."""
