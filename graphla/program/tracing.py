"""Trace a loop: create a program from its steps and from the values of its variables.

The tracer executes the steps with abstract values (`graphla.program.values`): it knows what each
variable refers to, but not the numbers and entries. A step that can follow several steps is a
*merge point*. All states that reach a merge point with the same *form* share one basic block. The
form records which variables refer to the same vector, and the dtypes of numbers and vectors. At the
end of each preceding block, a `Move` exchanges the contents of slots, and a `Let` assigns the
scalars, as the shared block expects them. A state with another form gets another block. For
example, if a number is an int in the first round and a float afterwards, the program contains the
loop body twice.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from graphla.program import ir, steps
from graphla.program.calling import Caller
from graphla.program.emitting import AlwaysFaults, Fork, State
from graphla.program.evaluating import SYMBOLS, Unknown
from graphla.program.notation import MASKS, VECTORS
from graphla.program.reasons import NotCompilable, Reason, refuse
from graphla.program.records import FIELDS, parts, transform
from graphla.program.running import Binding
from graphla.program.simplifying import simplify
from graphla.program.values import (
    FALSE,
    SCALARS,
    TRUE,
    Infix,
    Items,
    Iterator,
    List,
    Maybe,
    Number,
    OptionalNumber,
    PendingVector,
    Static,
    Target,
    Uncertain,
    VectorObject,
    View,
    as_uncertain,
    constant,
)
from semirings.dtypes import FP64, DataType

VARIANTS = 24
"""The maximum number of copies of one step. A loop that needs more is rejected."""


def trace(loop: steps.Loop, names: Mapping[str, Any]) -> tuple[ir.Program, Binding]:
    """Return the program for a loop, and where its arguments are found.

    Args:
        loop: the steps of the loop.
        names: the values of the variables when the loop begins.

    Raises:
        NotCompilable: the loop contains something that a program cannot do.
    """
    known: dict[int, Any] = {}
    unbound: dict[str, Any] = {}
    uncertain = find_defaults(loop)
    while True:
        try:
            return Tracer(loop, names, known, unbound, uncertain).trace()
        except Unsettled as error:
            uncertain |= error.found
        except Unknown as unknown:
            known[unknown.number] = unknown.found
        except Unbound as error:
            unbound.update(error.found)


class Unbound(Exception):
    """Raised if two states differ only in variables that have no value in one of the states.

    Attributes:
        found: what these variables are in the other state; see `Entry.unbound`.
    """

    def __init__(self, found: dict[str, Any]):
        super().__init__()
        self.found = found


class Unsettled(Exception):
    """Raised if two states differ in variables that are floats in one state and uncertain in the
    other.

    Attributes:
        found: the names of these variables; see `Entry.uncertain`.
    """

    def __init__(self, found: dict[str, bool]):
        super().__init__()
        self.found = found


@dataclass(slots=True)
class Variant:
    """A block that begins at a merge point, and the state at its start.

    `slots` and `scalars` are the slots and variables of this state, in the order of the form.
    """

    form: Any
    block: int
    state: State
    slots: list[ir.Slot]
    scalars: list[ir.Var]


@dataclass(slots=True)
class Open:
    """A block whose instructions the tracer has yet to emit.

    The block begins with this step in this state. `decisions` and `skip` are the arguments of
    `Emitter.begin`. After a fork, the preceding block has executed the beginning of the step.
    """

    block: int
    step: int
    state: State
    decisions: tuple[bool, ...] = ()
    skip: int = 0


class Tracer(Caller):
    """Traces one loop.

    Attributes:
        blocks, exits: the blocks and exits of the program.
        variants: for each merge point, the blocks that begin with it.
        waiting: the blocks whose instructions the tracer has yet to emit.
        executed: the steps that were executed in at least one state.
        failures: maps each step that fails in at least one state to the error.
        deferred: None, or the exception that stopped the trace of a block because the block needs
            the dtype of a list to which no block has appended yet.
    """

    def __init__(
        self,
        loop: steps.Loop,
        names: Mapping[str, Any],
        known: dict[int, Any],
        unbound: dict[str, Any],
        uncertain: dict[str, bool],
    ):
        super().__init__(loop, names, known, unbound, uncertain)
        self.blocks: list[ir.Block] = []
        self.exits: list[ir.LoopExit] = []
        self.variants: dict[int, list[Variant]] = {}
        self.waiting: list[Open] = []
        self.deferred: Unknown | None = None
        self.executed: set[int] = set()
        self.failures: dict[int, NotCompilable] = {}

    # --- blocks -----------------------------------------------------------------------------------

    def trace(self) -> tuple[ir.Program, Binding]:
        """Return the program and its binding."""
        self.enter()
        self.stable = set(parts(tuple(self.constants.values()), ir.Var))
        self.blocks.append(ir.Block([], ir.Jump(0)))
        self.instructions = self.blocks[0].instructions
        self.blocks[0].end = self.go_to(0, self.state, self.instructions)
        while self.waiting:
            self.fill(self.waiting.pop())
        for step, error in self.failures.items():
            if step not in self.executed:
                raise error
        if self.deferred is not None:
            # No block appends to this list, and it is empty at the start, so its dtype does not
            # matter.
            self.deferred.found = FP64, ir.Dim(0)
            raise self.deferred
        return self.finish()

    def fill(self, open_block: Open) -> None:
        """Emit the instructions of a block."""
        self.state = open_block.state.copy()
        block = self.blocks[open_block.block]
        self.instructions = block.instructions
        number, decisions, skip = open_block.step, open_block.decisions, open_block.skip
        while True:
            step = self.loop.steps[number]
            self.state.keep(self.loop.live[number] | self.implicit(step))
            before = self.state.copy()
            self.line = step.line
            self.begin(decisions, skip)
            try:
                following = self.execute(step, number)
            except Fork as fork:
                block.end = self.fork(fork, number, before, decisions)
                return
            except AlwaysFaults:
                # A fault ends the program before it reaches this exit.
                self.exits.append(ir.LoopExit(0, {}))
                block.end = ir.Exit(len(self.exits) - 1)
                return
            except NotCompilable as error:
                if error.code is not Reason.FAILS:
                    raise
                self.failures.setdefault(number, error)
                self.fault(TRUE, ir.REPEAT, str(error))
                self.exits.append(ir.LoopExit(0, {}))
                block.end = ir.Exit(len(self.exits) - 1)
                return
            except Unknown as unknown:
                if unknown.found is not None:
                    raise
                self.deferred = unknown
                return
            self.executed.add(number)
            # If the statement has forked, its blocks join again after it.
            is_end, decisions, skip = bool(decisions), (), 0
            if not isinstance(following, int):
                block.end = following
                return
            if is_end or following in self.merges:
                block.end = self.go_to(following, self.state, self.instructions)
                return
            number = following

    def implicit(self, step: steps.Step) -> set[str]:
        """Return the names that a step needs in addition to the live names."""
        return self.outer | {step.iterator} if isinstance(step, steps.Next) else self.outer

    def fork(self, fork: Fork, number: int, before: State, decisions: tuple[bool, ...]) -> ir.End:
        """Add two blocks that execute a step again, one for each decision. Return the branch to
        them."""
        blocks = []
        for decision in (True, False):
            blocks.append(self.add_block())
            again = Open(blocks[-1], number, before, (*decisions, decision), self.emitted)
            self.waiting.append(again)
        return ir.Branch(fork.condition, *blocks)

    def add_block(self) -> int:
        """Add a block, and return its index."""
        self.blocks.append(ir.Block([], ir.Jump(0)))
        if len(self.blocks) > 5000:
            refuse(Reason.STATES, None)
        return len(self.blocks) - 1

    def branch(self, condition: ir.Scalar, then: int, otherwise: int) -> int | ir.End:
        """Return the step that follows a test, or a branch if the condition is not a constant."""
        if isinstance(condition, ir.Constant):
            return then if condition.value else otherwise
        state = self.state
        blocks = [self.successor(step, state) for step in (then, otherwise)]
        return ir.Branch(condition, *blocks)

    def successor(self, step: int, state: State) -> int:
        """Return the index of a block that begins with this step in this state."""
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

    # --- states -----------------------------------------------------------------------------------

    def go_to(self, step: int, state: State, instructions: list[ir.Instruction]) -> ir.Jump:
        """Return a jump to the block that begins with this step and the form of this state.

        Append to `instructions` the instructions that convert this state to the state at the start
        of the block.
        """
        state = state.copy()
        state.keep(self.loop.live[step] | self.implicit(self.loop.steps[step]))
        for name, value in state.names.items():
            if isinstance(value, Maybe) and value.bound is True:
                state.names[name] = Maybe(value.value, TRUE)
        form, slots, values = self.form_of(state)
        variants = self.variants.setdefault(step, [])
        for variant in variants:
            if variant.form == form:
                break
        else:
            self.look_for_unsettled(state, variants)
            self.look_for_unbound(state, variants)
            if len(variants) == VARIANTS:
                self.refuse_variants(step, variants)
            variant = self.add_variant(step, state, form, slots)
            variants.append(variant)
        self.move(slots, variant.slots, values, variant.scalars, instructions)
        return ir.Jump(variant.block)

    def look_for_unsettled(self, state: State, variants: list[Variant]) -> None:
        """Raise `Unsettled` if a variable is a float in one state and uncertain in another."""
        for variant in variants:
            found = {}
            for name in state.names.keys() & variant.state.names.keys():
                pair = [plain(each.names[name]) for each in (state, variant.state)]
                unsure = [each for each in pair if isinstance(each, Uncertain)]
                others = [each for each in pair if isinstance(each, Number)]
                if others and unsure and others[0].scalar.dtype is FP64:
                    found[name] = unsure[0].is_zero
                elif len({each.is_zero for each in unsure}) == 2:
                    found[name] = False
            if not found.items() <= self.uncertain.items():
                raise Unsettled(found)

    def look_for_unbound(self, state: State, variants: list[Variant]) -> None:
        """Raise `Unbound` if two states differ only in variables without a value in one of them."""
        for variant in variants:
            names = set(state.names) ^ set(variant.state.names)
            found = {}
            for name in names - set(self.unbound):
                owner = state if name in state.names else variant.state
                value = owner.names[name]
                if isinstance(value, Number | Uncertain):
                    found[name] = value.scalar.dtype, None
                elif isinstance(value, VectorObject):
                    slot = owner.objects[value.number].slot
                    found[name] = slot.dtype, slot.dim
            if not names or set(found) != names:
                continue
            pair = state.copy(), variant.state.copy()
            for each in pair:
                each.keep(set(each.names) - names)
            if self.form_of(pair[0])[0] == self.form_of(pair[1])[0]:
                raise Unbound(found)

    def add_variant(self, step: int, state: State, form: Any, slots: list[ir.Slot]) -> Variant:
        """Add a block for a step. In the block's state, variables of the program replace all other
        scalars."""
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
            if isinstance(x, VectorObject):
                known = state.objects[x.number]
                flags = known.survives, known.is_shared
                return ("held", place(known.slot), *flags)
            if isinstance(x, tuple):
                return tuple(describe(each) for each in x)
            if isinstance(x, Static):
                return ("static", id(x.value), x.path)
            if type(x) in FIELDS:
                return (type(x), *[describe(getattr(x, name)) for name in FIELDS[type(x)]])
            if x is None or isinstance(x, (str, int, bool, DataType)):
                return x
            return ("object", id(x))

        form = tuple((name, describe(state.names[name])) for name in sorted(state.names))
        rest = sorted(
            (each.slot for each in state.objects.values() if each.slot not in numbers),
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
        """Append the `Move` and the `Let` that copy the vectors and scalars of one state to another
        state."""
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
        """Reject a loop with too many states. Name a variable that changes its dtype, if any."""
        kinds: dict[str, list[str]] = {}
        for variant in variants:
            for name, value in variant.state.names.items():
                value = value.value if isinstance(value, Maybe) else value
                if isinstance(value, Number | VectorObject):
                    if isinstance(value, Number):
                        kind = f"a number of dtype {value.scalar.dtype}"
                    else:
                        kind = f"a vector of {variant.state.objects[value.number].slot.dtype}"
                    found = kinds.setdefault(name, [])
                    found += [] if kind in found else [kind]
        node = getattr(self.loop.steps[step], "node", None)
        for name, found in kinds.items():
            if len(found) > 1 and name.isidentifier():
                refuse(Reason.DTYPE, node, name=name, kind=found[0], other=found[1])
        refuse(Reason.STATES, node)

    # --- steps ------------------------------------------------------------------------------------

    def execute(self, step: steps.Step, number: int) -> int | ir.End:
        """Execute a step. Return the step that follows, or the end of the block."""
        if isinstance(step, steps.Do):
            self.do(step.node)
            return step.next
        if isinstance(step, steps.Jump):
            return step.next
        if isinstance(step, steps.Test):
            condition = self.truth(self.evaluate_any(step.node), step.node)
            return self.branch(condition, step.then, step.otherwise)
        if isinstance(step, steps.Begin):
            value = self.iterator(self.evaluate(step.node), step.node)
            self.store([(step.iterator, value)], step.node)
            return step.next
        if isinstance(step, steps.Next):
            return self.advance(step)
        return self.leave(step, number)

    def advance(self, step: steps.Next) -> int | ir.End:
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

    def take(self, step: steps.Next, iterator: Iterator) -> None:
        """Assign the next item to the target."""
        item, rest = self.next_of(iterator, step.target)
        pairs = self.unpack(step.target, item)
        self.store([*pairs, (step.iterator, rest)], step.target)

    def leave(self, step: steps.Leave, number: int) -> ir.End:
        """Add an exit of the program, and return the end of the block."""
        names: dict[str, Any] = {}
        used: set[ir.Slot] = set()
        for name in sorted(self.loop.live[number] & self.assigned):
            if name not in self.state.names:
                continue
            value = self.state.names[name]
            if isinstance(value, Maybe):
                if value.bound is not True and not self.decide(value.bound):
                    continue
                value = value.value
            names[name] = self.result(name, value)
            if isinstance(names[name], ir.Slot):
                used.add(names[name])
        for each in self.state.objects.values():
            if each.survives and each.slot not in used:
                names[f"slot {each.slot.index}"] = each.slot
                used.add(each.slot)
        for slot in sorted(used, key=lambda x: x.index):
            names[f"origin {slot.index}"] = self.origin(slot)
        self.exits.append(ir.LoopExit(step.place, names))
        return ir.Exit(len(self.exits) - 1)

    def result(self, name: str, value: Any) -> Any:
        """Return what a variable refers to after the loop."""
        node = ast.Name(name)
        value = self.settle(value)
        if isinstance(value, Number):
            variable = self.variable(name, value.scalar.dtype)
            if value.scalar != variable:
                self.emit(ir.Let((variable,), (value.scalar,), self.line))
            return variable
        if isinstance(value, VectorObject):
            known = self.state.objects[value.number]
            if known.is_shared:
                refuse(Reason.SHARED, node)
            return known.slot
        if isinstance(value, OptionalNumber):
            if self.decide(value.present):
                return self.result(name, Number(value.scalar))
            return ir.Same(None)
        if isinstance(value, Static):
            return ir.Same(value.value, value.path)
        if isinstance(value, List):
            return self.stack(value)
        if isinstance(value, View):
            for path, matrix in zip(self.paths["matrices"], self.matrices, strict=True):
                if matrix == value.matrix and not value.is_transposed and len(path) == 1:
                    return ir.Same(self.given[path[0]], path)
        if isinstance(value, (PendingVector, Infix, *MASKS)):
            kind = "an expression or a mask that is not computed"
            refuse(Reason.PYTHON_OBJECT, node, kind=kind)
        return refuse(Reason.PYTHON_OBJECT, node, kind=f"a {self.kind(value)}")

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
            self.evaluate(node.value)
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
                items.append(self.evaluate_any(part))
            found: Any = Items(tuple(items))
        else:
            found = self.evaluate_any(value)
        self.hint = None
        pairs: list[tuple[str, Any]] = []
        for target in targets:
            if isinstance(target, ast.Subscript):
                self.store(pairs, target)
                pairs = []
            pairs += self.unpack(target, found)
        self.store(pairs, value)

    def unpack(self, target: ast.expr, value: Any) -> list[tuple[str, Any]]:
        """Return the names that a target assigns, with their values.

        An assignment to a target such as `x[i]` is executed at once.
        """
        if isinstance(target, ast.Name):
            return [(target.id, value)]
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, Static) and isinstance(value.value, tuple | list):
                value = self.sequence(value, target)
            has_star = any(isinstance(each, ast.Starred) for each in target.elts)
            if has_star or not isinstance(value, Items):
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
        return refuse(Reason.SYNTAX, target, name="an assignment to this")

    def store(self, pairs: list[tuple[str, Any]], node: Any) -> None:
        """Assign values to names. All values are read before the first assignment."""
        lets: list[tuple[ir.Var, ir.Scalar]] = []
        stored = {}
        for name, value in pairs:
            if name in self.uncertain:
                value = as_uncertain(value, self.uncertain[name])
            count = [0]

            # A number that is assigned at several places always gets its own variable. Otherwise,
            # the states after these places would have different forms.
            is_number = isinstance(value, Number | Uncertain) and self.sites.get(name, 0) > 1

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
        self.exchange(stored)
        for name, value in stored.items():
            self.state.names[name] = Maybe(value, True) if name in self.unbound else value
        last = dict(lets)
        if last:
            self.emit(ir.Let(tuple(last), tuple(last.values()), self.line))

    def exchange(self, stored: dict[str, Any]) -> None:
        """Exchange the contents of slots if an assignment exchanges the vectors of its names.

        An example is `u, v = v, u`. Each name then keeps its slot.
        """
        wanted: dict[ir.Slot, ir.Slot] = {}
        moved: dict[int, ir.Slot] = {}
        for name, value in stored.items():
            before = self.state.names.get(name)
            before = before.value if isinstance(before, Maybe) else before
            if (
                isinstance(value, VectorObject)
                and isinstance(before, VectorObject)
                and value != before
            ):
                wanted[self.slot_of(before)] = self.slot_of(value)
                moved[value.number] = self.slot_of(before)
        kinds = {(slot.dtype, slot.dim) for slot in wanted}
        if not wanted or set(wanted) != set(wanted.values()) or len(kinds) > 1:
            return
        if len(moved) < len(wanted):
            return
        into, out = tuple(wanted), tuple(wanted.values())
        self.emit(ir.Move(into, out, self.line))
        origins = tuple(map(self.origin, into)), tuple(map(self.origin, out))
        self.emit(ir.Let(*origins, self.line))
        for number, slot in moved.items():
            before = self.state.objects[number]
            self.state.objects[number] = replace(before, slot=slot)
        places = {source: target for target, source in wanted.items()}
        for name, value in self.state.names.items():
            self.state.names[name] = transform(
                value, lambda x: places.get(x) if isinstance(x, ir.Slot) else None
            )

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
        value = self.evaluate_any(load)
        other = self.evaluate_any(node.value)
        if isinstance(value, VectorObject):
            made = other if symbol == "<<" else self.binary(symbol, value, other, node)
            self.write(Target(value, None, None, False), made, node)
            return
        self.store([(node.target.id, self.binary(symbol, value, other, node))], node)

    def set_item(self, node: ast.Subscript, value: Any) -> None:
        """Execute `node = value`."""
        target = self.target_of(node.value)
        if not isinstance(target, Target):
            refuse(Reason.PYTHON_OBJECT, node, kind="not a vector")
        self.write(self.at(target, node.slice), value, node)

    def delete(self, node: ast.expr) -> None:
        """Execute `del node`."""
        if isinstance(node, ast.Name):
            self.evaluate_name(node)
            value = self.state.names.pop(node.id)
            if isinstance(value, Maybe):
                self.state.names[node.id] = Maybe(value.value, FALSE)
            return
        if isinstance(node, ast.Subscript):
            target = self.target_of(node.value)
            if isinstance(target, Target):
                target = self.at(target, node.slice)
                target = Target(target.vector, target.mask, None, target.replace, target.index)
                if isinstance(target.index, VECTORS):
                    refuse(Reason.OPERATION, node, name="a deletion by a Vector of indices")
                self.write(target, None, node)
                return
        refuse(Reason.SYNTAX, node, name="this `del`")

    # --- the program ------------------------------------------------------------------------------

    def finish(self) -> tuple[ir.Program, Binding]:
        """Return the program and its binding."""
        stacks = [self.stack(List(number)) for number in range(len(self.list_names))]
        tracked = self.find_tracked()
        origins = {slot.index: self.origin(slot) for slot in self.slots}
        dropped = {variable for index, variable in origins.items() if index not in tracked}

        def settle(part: Any) -> Any:
            return stacks[part.index] if isinstance(part, ir.Stack) else None

        blocks = []
        for block in self.blocks:
            instructions = [
                transform(x, settle) if hasattr(x, "stack") else _without(x, dropped)
                for x in block.instructions
            ]
            kept = [x for x in instructions if x is not None]
            blocks.append(ir.Block(kept, block.end))
        exits = [
            ir.LoopExit(
                each.place,
                {
                    name: transform(value, settle)
                    for name, value in each.names.items()
                    if not (isinstance(value, ir.Var) and value in dropped)
                }
                | {f"list {stack.index}": stack for stack in stacks},
            )
            for each in self.exits
        ]
        if tracked:
            of = {slot.index: k for k, slot in enumerate(self.inputs)}
            pairs = [(origins[index], constant(of.get(index, -1))) for index in sorted(tracked)]
            blocks[0].instructions[:0] = [
                ir.Let(tuple(x for x, _ in pairs), tuple(value for _, value in pairs))
            ]
        kept_names = [origins[index].name for index in tracked]
        blocks, exits = simplify(blocks, exits, kept_names)
        used = find_variables(blocks, exits)
        slots = self.find_slots(blocks, exits)
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
        """Return the indices of the slots that may store the entries of a vector argument."""
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

    def find_slots(self, blocks: list[ir.Block], exits: list[ir.LoopExit]) -> tuple[ir.Slot, ...]:
        """Return the slots that the program uses."""
        used = set(self.inputs)
        for leaving in exits:
            used |= {each for each in leaving.names.values() if isinstance(each, ir.Slot)}
        for block in blocks:
            for instruction in block.instructions:
                used |= set(parts(instruction, ir.Slot))
        return tuple(slot for slot in self.slots if slot in used)


def find_defaults(loop: steps.Loop) -> dict[str, bool]:
    """Return the variables that a statement such as `x = u.reduce().get(0)` assigns.

    The dict maps each variable to whether its default is 0. These variables are uncertain from the
    start. Otherwise, the trace would often have to begin again because of one of them.
    """
    found: dict[str, bool] = {}
    for step in loop.steps:
        node = getattr(step, "node", None)
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        pairs = [(node.targets[0], node.value)]
        if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(node.targets[0].elts, node.value.elts, strict=False))
        for target, value in pairs:
            if not isinstance(target, ast.Name):
                continue
            if isinstance(value, ast.Name) and value.id in found:
                found[target.id] = found[value.id]
            elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                default = value.args[0] if value.args else None
                if value.func.attr == "get" and isinstance(default, ast.Constant):
                    found[target.id] = default.value == 0
    return found


def plain(value: Any) -> Any:
    """Return the value of a variable, without the `Maybe` around it."""
    return value.value if isinstance(value, Maybe) else value


def _without(x: ir.Instruction, dropped: set[ir.Var]) -> ir.Instruction | None:
    """Return an instruction without assignments to these variables."""
    if not isinstance(x, ir.Let) or not dropped.intersection(x.variables):
        return x
    pairs = [pair for pair in zip(x.variables, x.values, strict=True) if pair[0] not in dropped]
    if not pairs:
        return None
    return ir.Let(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs), x.line)


def find_variables(blocks: list[ir.Block], exits: list[ir.LoopExit]) -> set[ir.Var]:
    """Return the variables that the blocks and exits contain."""
    found = {x for leaving in exits for x in leaving.names.values() if isinstance(x, ir.Var)}
    for block in blocks:
        for instruction in block.instructions:
            found |= set(parts(instruction, ir.Var))
        found |= set(parts(block.end, ir.Var))
    return found
