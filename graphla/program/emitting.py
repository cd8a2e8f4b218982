"""Define the state of a trace, and emit the instructions of blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from graphla.program import ir
from graphla.program.reasons import Reason, refuse
from graphla.program.records import parts, record, transform
from graphla.program.values import List, VectorObject, constant
from semirings.dtypes import BOOL, FP64, INT64, DataType
from semirings.exceptions import GraphblasException


@record
class Object:
    """A Vector object.

    Attributes:
        slot: the slot that stores its entries.
        survives: whether the Vector exists before the program runs and may be changed by the loop.
            Its entries are then needed after the loop, even if no name refers to it.
        is_shared: whether a list may contain it. If so, the loop must not change it.
    """

    slot: ir.Slot
    survives: bool = False
    is_shared: bool = False


@dataclass(slots=True)
class State:
    """What the variables refer to, at one point of the program.

    Attributes:
        names: the value of each variable that the loop assigns or that refers to a vector.
        objects: maps numbers to Vector objects. No two objects have the same slot.
    """

    names: dict[str, Any]
    objects: dict[int, Object]

    def copy(self) -> State:
        """Return a copy. The values themselves never change."""
        return State(dict(self.names), dict(self.objects))

    def keep(self, names: Any) -> None:
        """Drop all names except these, and the objects that are no longer needed."""
        self.names = {name: value for name, value in self.names.items() if name in names}
        used = {each.number for each in parts(tuple(self.names.values()), VectorObject)}
        self.objects = {
            number: each for number, each in self.objects.items() if each.survives or number in used
        }

    def slots(self) -> set[ir.Slot]:
        """Return the slots whose entries are needed."""
        found = set(parts(tuple(self.names.values()), ir.Slot))
        return found | {each.slot for each in self.objects.values()}


class AlwaysFaults(Exception):
    """Raised if the statement always ends the program with a fault."""


class Fork(Exception):
    """Raised if the meaning of a statement depends on a condition. The tracer then adds two
    blocks."""

    def __init__(self, condition: ir.Scalar):
        super().__init__()
        self.condition = condition


class Emitter:
    """Emits the instructions for each statement, and creates slots and variables.

    A statement forks if its meaning depends on a condition that the program computes, such as the
    type of a number: `decide` raises `Fork`, and the caller executes the statement again in two
    blocks, one for each decision. The instructions before the fork are not emitted again, so a
    statement must emit the same instructions each time.
    """

    def __init__(self) -> None:
        self.slots: list[ir.Slot] = []
        self.variables: dict[tuple[str, DataType], ir.Var] = {}
        self.taken: set[str] = set()
        self.state = State({}, {})
        self.instructions: list[ir.Instruction] = []
        self.line = 0
        self.begin((), 0)

    def begin(self, decisions: tuple[bool, ...], skip: int) -> None:
        """Begin a statement. The first `skip` instructions were emitted before a fork."""
        self.decisions = decisions
        self.decided = 0
        self.skip = skip
        self.emitted = 0
        # The slots that this statement must not use for other vectors.
        self.pinned: set[ir.Slot] = self.state.slots()
        self.temporaries: dict[DataType, int] = {}
        # The name to which the current expression is assigned. New slots are given this name.
        self.hint: str | None = None

    def emit(self, instruction: ir.Instruction) -> None:
        """Append an instruction to the block."""
        self.emitted += 1
        if self.emitted > self.skip:
            self.instructions.append(instruction)

    def decide(self, condition: ir.Scalar) -> bool:
        """Return whether the condition is true in this block; raise `Fork` if that is not decided
        yet."""
        if isinstance(condition, ir.Constant):
            return bool(condition.value)
        if self.decided == len(self.decisions):
            raise Fork(condition)
        self.decided += 1
        return self.decisions[self.decided - 1]

    def fault(self, condition: ir.Scalar, kind: str, text: str) -> None:
        """Emit a fault, unless the condition is known to be false."""
        if not (isinstance(condition, ir.Constant) and not condition.value):
            self.emit(ir.Fault(condition, kind, text, self.line))

    def fails(self, node: Any, kind: str, text: str) -> NoReturn:
        """Reject a statement that raises an exception when it runs."""
        refuse(Reason.FAILS, node, kind=kind, text=text)

    @contextmanager
    def checks(self, node: Any) -> Iterator[None]:
        """Reject the statement if the body of `with checks(node):` raises a library error."""
        try:
            yield
        except (GraphblasException, TypeError, ValueError, ArithmeticError, LookupError) as error:
            if type(error).__name__ == "NotCompilable":
                raise
            self.fails(node, type(error).__name__, str(error))

    # --- variables --------------------------------------------------------------------------------

    def variable(self, owner: str, dtype: DataType) -> ir.Var:
        """Return the scalar variable of a name that the steps use, for values of this dtype."""
        known = self.variables.get((owner, dtype))
        if known is None:
            known = self.variables[owner, dtype] = ir.Var(self.free_name(owner, dtype), dtype)
        return known

    def free_name(self, owner: str, dtype: DataType) -> str:
        """Return an identifier that no other variable has."""
        plain = "".join(x if x.isascii() and x.isalnum() else "_" for x in owner.lstrip("."))
        name = plain = plain if plain[:1].isalpha() else f"t{plain}"
        kind = {BOOL: "bool", INT64: "int", FP64: "float"}[dtype]
        count = 1
        while name in self.taken:
            name = f"{plain}_{kind}{count if count > 1 else ''}"
            count += 1
        self.taken.add(name)
        return name

    def temporary(self, dtype: DataType) -> ir.Var:
        """Return a variable that only the current statement uses."""
        count = self.temporaries[dtype] = self.temporaries.get(dtype, 0) + 1
        kind = {BOOL: "flag", INT64: "whole", FP64: "real"}[dtype]
        return self.variable(f".{kind}_{count}", dtype)

    def leaf(self, scalar: ir.Scalar) -> ir.Scalar:
        """Return the scalar as a constant, a size or a variable, so that it is computed only
        once."""
        if not isinstance(scalar, ir.Call | ir.Element):
            return scalar
        variable = self.temporary(scalar.dtype)
        self.emit(ir.Let((variable,), (scalar,), self.line))
        return variable

    def origin(self, slot: ir.Slot) -> ir.Var:
        """Return the variable that records which vector argument's entries the slot stores.

        The variable is k for the argument `vectors[k]`, and -1 for a new Vector; see
        `Binding.origins`.
        """
        return self.variable(f"origin_{slot.index}", INT64)

    # --- slots and objects ------------------------------------------------------------------------

    def allocate(self, dtype: DataType, dim: ir.Dim, name: str | None = None) -> ir.Slot:
        """Return a slot whose entries are no longer needed, or a new slot.

        The slot is given this name. If the name is None or hidden, the slot is named "temporary".
        """
        used = self.state.slots() | self.pinned
        free = [
            each
            for each in self.slots
            if each.dtype is dtype and each.dim == dim and each not in used
        ]
        wanted = name if name is not None and not name.startswith(".") else "temporary"
        wanted = wanted.partition("@")[0]
        free = [each for each in free if each.name == wanted]
        if not free:
            free = [ir.Slot(len(self.slots), wanted, dtype, dim)]
            self.slots.extend(free)
        self.pinned.add(free[0])
        return free[0]

    def add_object(self, slot: ir.Slot, *, is_shared: bool = False) -> VectorObject:
        """Return a new Vector object whose entries are in the slot."""
        number = max(self.state.objects, default=-1) + 1
        self.state.objects[number] = Object(slot, is_shared=is_shared)
        self.emit(ir.Let((self.origin(slot),), (constant(-1),), self.line))
        return VectorObject(number)

    def slot_of(self, held: VectorObject) -> ir.Slot:
        """Return the slot of a Vector object."""
        return self.state.objects[held.number].slot

    def share(self, held: VectorObject) -> None:
        """Record that a list contains an object, so that the object must not change."""
        before = self.state.objects[held.number]
        self.state.objects[held.number] = Object(before.slot, before.survives, True)

    def materialize(self, term: ir.VectorExpression, dim: ir.Dim) -> ir.Slot:
        """Return a slot that stores the result of a term."""
        if isinstance(term, ir.Entry):
            return term.slot
        slot = self.allocate(term.dtype, dim)
        self.emit(ir.Write(slot, None, None, False, term, self.line))
        self.emit(ir.Let((self.origin(slot),), (constant(-1),), self.line))
        return slot

    def prepare_write(self, held: VectorObject, node: Any) -> ir.Slot:
        """Return the slot of an object that the statement changes.

        If expressions or masks refer to the current entries of the object, they get a copy of these
        entries in another slot.
        """
        known = self.state.objects[held.number]
        if known.is_shared:
            refuse(Reason.SHARED, node)
        slot = known.slot
        readers = {
            name: value for name, value in self.state.names.items() if slot in parts(value, ir.Slot)
        }
        if readers:
            copy = self.allocate(slot.dtype, slot.dim)
            self.emit(ir.Write(copy, None, None, False, ir.Entry(slot), self.line))
            for name, value in readers.items():
                self.state.names[name] = transform(value, lambda x: copy if x == slot else None)
        return slot


def lists_of(value: Any) -> set[int]:
    """Return the numbers of the lists to which a value refers."""
    return {each.number for each in parts(value, List)}
