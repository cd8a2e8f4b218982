"""Plan a compiled loop for many threads: fuse statements, and place the barriers between them.

A plan divides each block of a program into steps. A *sweep* visits each position of a vector, and
runs all of its parts there. A *multiply* step computes a product. Between two barriers, threads run
the steps at their own speed. So a barrier must separate two steps if a thread may read or write an
element that another thread writes in the other step. Two sweeps with the same domain divide the
positions in the same way. So they need no barrier for elements that they access at their own
position only.

A product may test a mask while a sweep is still adding entries to a vector of this mask. If the
sweep adds an entry wherever a vector m has one, the product also tests m, so that it finds the same
positions before and after the sweep has added them.

A plan has *spare* slots, in addition to the program's slots. A product is computed in a spare slot,
because it may read its target at any position. If the product replaces the whole target, an
exchange of the two slots follows.

Invariant: a spare slot for products is empty, except between a multiply step and the part `Erase`
that follows it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphla.program import ir
from semirings import binary
from semirings.dtypes import BOOL, FP64, UINT64, DataType

# --- the parts of a plan ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Domain:
    """The positions that a sweep visits: all positions of a dimension, or the entries of a vector.

    If `over` is given, only the entries of this vector matter. The sweep visits them if they are
    listed in the vector's queue, and all positions otherwise.
    """

    dim: ir.Dim
    over: ir.Slot | None = None


@dataclass(frozen=True, slots=True)
class Store:
    """Compute a write at each position. `into` is its target, or a spare slot for the result.

    `counts` says how the number of entries changes: "same" (no entry appears or vanishes), "all"
    (the sweep counts the entries), "change" (the sweep adds the change) or "full". `full` are the
    slots that have an entry at each position before the write.
    """

    write: ir.Write
    into: ir.Slot
    counts: str = "all"
    full: frozenset[ir.Slot] = frozenset()
    is_sparse: bool = False  # whether `into` is empty before, so that only entries need be visited


@dataclass(frozen=True, slots=True)
class Erase:
    """Delete all entries of a slot."""

    slot: ir.Slot
    line: int


@dataclass(frozen=True, slots=True)
class Fold:
    """Fold the entries of an expression. A `Combine` with the same number gives the result."""

    reduce: ir.Reduce
    number: int
    full: frozenset[ir.Slot] = frozenset()


@dataclass(frozen=True, slots=True)
class Compare:
    """Compare two slots. A `Combine` with the same number gives the result."""

    equal: ir.IsEqual
    number: int
    full: frozenset[ir.Slot] = frozenset()


@dataclass(frozen=True, slots=True)
class Check:
    """Fault if `indices` is not full, or if a value is not an index of `dim`.

    A negative index counts from the end.
    """

    indices: ir.Slot
    dim: ir.Dim
    line: int


Part = Store | Erase | Fold | Compare | Check


@dataclass(slots=True)
class Sweep:
    """Run the parts at each position of a domain.

    If `clears` is true, all parts are of the kind `Erase`, and the sweep clears the flags of whole
    vectors, unless it visits listed entries only. A thread may then clear flags at any position.
    """

    domain: Domain
    parts: list[Part]
    clears: bool = False


@dataclass(frozen=True, slots=True)
class Multiply:
    """Compute a product in the empty slot `out`, at the positions that the mask allows."""

    product: ir.Product
    mask: ir.Mask | None
    out: ir.Slot
    line: int
    number: int
    full: frozenset[ir.Slot] = frozenset()


@dataclass(frozen=True, slots=True)
class Exchange:
    """Exchange the contents of slots, as `ir.Move` does."""

    targets: tuple[ir.Slot, ...]
    sources: tuple[ir.Slot, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Uniform:
    """A scalar instruction, which each thread computes for itself."""

    instruction: ir.Let | ir.Count | ir.ReadElement | ir.Length | ir.ClearStack | ir.Fault


@dataclass(frozen=True, slots=True)
class Combine:
    """Combine the results that the blocks have found in a `Fold` or a `Compare`."""

    source: ir.Reduce | ir.IsEqual
    number: int


@dataclass(frozen=True, slots=True)
class Element:
    """Write or delete one element. One thread does this."""

    instruction: ir.SetElement | ir.DeleteElement


@dataclass(frozen=True, slots=True)
class ScatterInto:
    """Write the entries of a vector into the empty slot `out`, at the positions in `indices`.

    If `addressed` is given, it gets an entry at each position in `indices`. If `joins` is true, the
    accumulator joins the entries with equal indices. Otherwise equal indices are a fault.
    """

    scatter: ir.Scatter
    out: ir.Slot
    addressed: ir.Slot | None
    joins: bool


@dataclass(frozen=True, slots=True)
class Enqueue:
    """List the entries of a slot in its queue, unless they are listed already.

    If the sweep is necessary, a barrier follows it.
    """

    slot: ir.Slot
    line: int


@dataclass(frozen=True, slots=True)
class Save:
    """Append the listed entries of a slot to a stack. If the stack's memory is full, leave."""

    stack: ir.Stack
    slot: ir.Slot
    line: int
    number: int


@dataclass(frozen=True, slots=True)
class Load:
    """Copy a vector of a stack to the empty slot `out`: the last one, or the one at `index`."""

    stack: ir.Stack
    index: ir.Scalar | None
    out: ir.Slot
    line: int


@dataclass(frozen=True, slots=True)
class Barrier:
    """Wait for all threads. `reason` says what would go wrong without it."""

    reason: str


Step = (
    Sweep
    | Multiply
    | Exchange
    | Uniform
    | Combine
    | Element
    | ScatterInto
    | Enqueue
    | Save
    | Load
    | Barrier
)


@dataclass(slots=True)
class PlannedBlock:
    """The steps of a block, and its end."""

    steps: list[Step]
    end: ir.End


@dataclass(slots=True)
class Plan:
    """A plan of a program. `slots` are the program's slots and the spare slots."""

    program: ir.Program
    slots: tuple[ir.Slot, ...]
    blocks: list[PlannedBlock]
    reductions: tuple[ir.MatrixReduction, ...]
    """The reductions of matrices, which are computed before the program starts. Each has a slot,
    `reduction_slots`, that no step writes."""
    reduction_slots: tuple[ir.Slot, ...]
    queued: frozenset[ir.Slot]
    """The slots that have a queue: a list of their entries."""
    pushing: dict[ir.Slot, ir.Product]
    """For each slot that has a queue and is multiplied, a product that multiplies it."""
    folds: int
    growing: frozenset[ir.Slot] = frozenset()
    """The slots to which sweeps may still be adding entries while products test them in masks."""

    def __str__(self) -> str:
        return "\n".join(describe(self))


def plan(
    program: ir.Program,
    full_inputs: Iterable[ir.Slot] = (),
    *,
    is_deterministic: bool = False,
) -> Plan:
    """Return the plan of a program.

    `full_inputs` are the inputs that have an entry at each position when the program starts. If
    `is_deterministic`, floating-point sums visit the positions in a fixed order.
    """
    full = frozenset(full_inputs)
    found = [_Planning(program, full, is_deterministic, rotates) for rotates in (False, True)]
    chosen = min(found, key=_Planning.count_barriers)  # the first one if both have as many
    return chosen.plan(program)


class _Planning:
    """The steps of a program, and where barriers must separate them."""

    def __init__(
        self,
        program: ir.Program,
        full_inputs: frozenset[ir.Slot],
        is_deterministic: bool,
        rotates: bool,
    ) -> None:
        self.lowered = _Lowering(program, rotates)
        blocks = [self.lowered.block(block) for block in program.blocks]
        self.slots = (*program.slots, *self.lowered.spares)
        self.queues = _Queues(self.slots, blocks)
        before = _find_full(blocks, program, full_inputs)
        self.blocks = []
        for steps, block, full in zip(blocks, program.blocks, before, strict=True):
            chosen = list(_choose(steps, full, self.queues.queued, is_deterministic))
            self.blocks.append(PlannedBlock(_fuse(chosen), block.end))
        self.separated = _with_barriers(self.blocks)

    def count_barriers(self) -> int:
        """Return the number of barriers."""
        return sum(map(len, _barriers(self.separated)))

    def plan(self, program: ir.Program) -> Plan:
        """Return the plan."""
        self._choose_clears()
        return Plan(
            program=program,
            slots=self.slots,
            blocks=[
                PlannedBlock(separated.steps, block.end)
                for separated, block in zip(self.separated, self.blocks, strict=True)
            ],
            reductions=tuple(self.lowered.reductions),
            reduction_slots=tuple(self.lowered.reductions.values()),
            queued=self.queues.queued,
            pushing=self.queues.pushing,
            folds=self.lowered.folds,
            growing=frozenset(slot for each in self.separated for slot in each.growing),
        )

    def _choose_clears(self) -> None:
        """Let sweeps that only erase entries clear whole vectors, if this needs no other barriers.

        All of them are tried together first, because this nearly always succeeds.
        """
        sweeps = [
            step
            for block in self.blocks
            for step in block.steps
            if isinstance(step, Sweep) and _only_erases(step)
        ]
        places = _barriers(self.separated)
        for some in [sweeps, *([each] for each in sweeps)] if sweeps else []:
            for each in some:
                each.clears = True
            separated = _with_barriers(self.blocks)
            if _barriers(separated) == places:
                self.separated = separated
                if some is sweeps:
                    return
            else:
                for each in some:
                    each.clears = False


# --- expressions --------------------------------------------------------------------------------


def nodes(x: Any) -> Iterator[Any]:
    """Yield an instruction, an expression or a mask, and all its parts."""
    if isinstance(x, tuple):
        for each in x:
            yield from nodes(each)
    elif type(x).__module__ == ir.__name__:
        yield x
        if not isinstance(x, (ir.Slot, ir.Var, ir.Constant, ir.MatrixArgument)):
            for name in x.__dataclass_fields__:
                yield from nodes(getattr(x, name))


def variables(x: Any) -> set[ir.Var]:
    """Return the scalar variables in an instruction or an expression."""
    return {each for each in nodes(x) if isinstance(each, ir.Var)}


def gathers(x: Any) -> list[ir.Gather]:
    """Return the gathers in an instruction or an expression."""
    return [each for each in nodes(x) if isinstance(each, ir.Gather)]


def own_slots(x: Any) -> set[ir.Slot]:
    """Return the slots that an entry-wise expression or a mask reads at its own position."""
    found = set()
    for each in nodes(x):
        if isinstance(each, (ir.Entry, ir.MaskOf)):
            found.add(each.slot)
        elif isinstance(each, ir.Gather):
            found.add(each.indices)
    return found


def dim_of(x: ir.VectorExpression) -> ir.Dim:
    """Return the dimension of an expression that reads a slot."""
    return next(
        each.slot.dim if isinstance(each, ir.Entry) else each.indices.dim
        for each in nodes(x)
        if isinstance(each, (ir.Entry, ir.Gather))
    )


def within(x: ir.VectorExpression) -> set[ir.Slot]:
    """Return slots that have an entry wherever the expression has one."""
    if isinstance(x, ir.Entry):
        return {x.slot}
    if isinstance(x, ir.Intersection):
        return within(x.x) | within(x.y)
    if isinstance(x, (ir.Union, ir.UnionDefaults)):
        return within(x.x) & within(x.y)
    if isinstance(x, ir.Restrict):
        return within(x.x) | required(x.mask)
    if isinstance(x, (ir.Full, ir.Empty, ir.Gather)):
        return set()
    return within(x.x)  # pyright: ignore[reportAttributeAccessIssue]


def required(mask: ir.Mask | None) -> set[ir.Slot]:
    """Return slots that have an entry wherever the mask selects a position."""
    if isinstance(mask, ir.MaskOf):
        return {mask.slot}
    if isinstance(mask, ir.AndMask):
        return required(mask.left) | required(mask.right)
    if isinstance(mask, ir.OrMask):
        return required(mask.left) & required(mask.right)
    return set()


def is_full(x: ir.VectorExpression, full: frozenset[ir.Slot]) -> bool:
    """Return whether the expression has an entry at each position, if the slots `full` have."""
    if isinstance(x, (ir.Entry, ir.Gather)):
        return x.slot in full
    if isinstance(x, (ir.Union, ir.UnionDefaults)):
        return is_full(x.x, full) or is_full(x.y, full)
    if isinstance(x, ir.Intersection):
        return is_full(x.x, full) and is_full(x.y, full)
    if isinstance(x, ir.Full):
        return True
    if isinstance(x, (ir.Empty, ir.Select, ir.Restrict)):
        return False
    return is_full(x.x, full)  # pyright: ignore[reportAttributeAccessIssue]


def has_pattern_of(x: ir.VectorExpression, slot: ir.Slot) -> bool:
    """Return whether the expression has entries exactly where the slot has."""
    if isinstance(x, ir.Entry):
        return x.slot == slot
    if isinstance(x, (ir.Union, ir.UnionDefaults, ir.Intersection)):
        return has_pattern_of(x.x, slot) and has_pattern_of(x.y, slot)
    if isinstance(x, (ir.Cast, ir.Apply, ir.ApplyIndex, ir.ApplyLeft, ir.ApplyRight)):
        return has_pattern_of(x.x, slot)
    return False


def is_replaced(x: ir.Write) -> bool:
    """Return whether the entries of the target before a write do not matter."""
    return x.accum is None and (x.mask is None or x.replace)


# --- faults -------------------------------------------------------------------------------------

LITTLE = 1 << 20
"""An addition of a constant of at most this size is treated as if it could not exceed 64 bits.

If it does, the program ends with the right fault, but vectors and variables may already have the
values that later statements of the block give them.
"""


def may_fault(x: ir.Instruction) -> bool:
    """Return whether an instruction may end the program."""
    if isinstance(x, (ir.Fault, ir.ReadElement, ir.Scatter, ir.SetElement, ir.DeleteElement)):
        return True
    if isinstance(x, (ir.Pop, ir.Peek)) or gathers(x) or has_misfit(x):
        return True
    if isinstance(x, ir.Reduce) and x.monoid.type is UINT64:
        return True
    return any(has_fault(each) and not _is_little_step(each) for each in nodes(x))


def has_fault(x: Any) -> bool:
    """Return whether the evaluation of this node of a scalar, without its parts, may fault."""
    if isinstance(x, ir.Element):
        return x.array.dtype is UINT64
    if not isinstance(x, ir.Call):
        return False
    if x.dtype is FP64 and x.function in ("add", "sub", "mul", "neg", "abs"):
        return False
    is_math = x.function.startswith("math.") and x.function not in TOTAL
    return is_math or x.function in FAULTING


def has_misfit(x: Any) -> bool:
    """Return whether a scalar in x may not fit into the dtype to which it is converted."""
    return any(not fits(*each) for node in nodes(x) for each in _conversions(node))


def _conversions(x: Any) -> Iterator[tuple[ir.Scalar, DataType]]:
    """Yield the scalars that a node of an expression converts, with the dtypes."""
    if isinstance(x, ir.Full):
        yield x.value, x.dtype
    elif isinstance(x, (ir.ApplyIndex, ir.Select)):
        yield x.thunk, x.op.thunk_type
    elif isinstance(x, ir.ApplyLeft) and x.op.reads_x:
        yield x.scalar, x.op.type
    elif isinstance(x, ir.ApplyRight) and x.op.reads_y:
        yield x.scalar, x.op.type2
    elif isinstance(x, ir.UnionDefaults):
        if x.op.reads_x:
            yield x.left, x.op.type
        if x.op.reads_y:
            yield x.right, x.op.type2


def fits(x: ir.Scalar, dtype: DataType) -> bool:
    """Return whether a scalar certainly fits into a dtype."""
    if x.dtype in (BOOL, dtype) or dtype in (BOOL, FP64):
        return True
    if isinstance(x, ir.Constant) and dtype.is_integer:
        limits = np.iinfo(dtype.np_type)
        is_number = isinstance(x.value, int) or math.isfinite(x.value)
        return is_number and limits.min <= int(x.value) <= limits.max
    return x.dtype is not FP64 and dtype.is_float


def _is_little_step(x: ir.Call | ir.Element) -> bool:
    if not isinstance(x, ir.Call) or x.function not in ("add", "sub"):
        return False
    return any(isinstance(y, ir.Constant) and abs(y.value) <= LITTLE for y in x.arguments)


FAULTING = {
    *("add", "sub", "mul", "neg", "abs", "pow", "lshift", "rshift"),
    *("truediv", "floordiv", "mod", "int", "round"),
}
TOTAL = {
    *("math.isnan", "math.isinf", "math.isfinite", "math.fabs", "math.copysign"),
    *("math.atan", "math.atan2", "math.tanh", "math.hypot"),
}
"""Functions of the module math that raise no exception."""


# --- lowering -----------------------------------------------------------------------------------

ALTERNATING = 2
"""Number of spare slots for products of one dtype and dimension. Products use them alternately, so
that a product need not wait until the previous product's slot is empty."""


class _Lowering:
    """Divides instructions into steps. Each sweep has one part and visits all positions."""

    def __init__(self, program: ir.Program, rotates: bool) -> None:
        self.program = program
        self._rotates = rotates  # whether a product uses two spare slots
        self.spares: list[ir.Slot] = []
        self.reductions: dict[ir.MatrixReduction, ir.Slot] = {}
        self.folds = self.products = self.saves = 0
        self._kept: dict[Any, list[ir.Slot]] = defaultdict(list)
        self._turns: dict[Any, int] = defaultdict(int)
        self._groups = _groups(
            program.slots,
            (each for block in program.blocks for each in block.instructions),
        )
        self._listed = {self._groups[slot] for slot in _listed_slots(program)}
        self._steps: list[Step] = []
        self._checked: set[tuple[ir.Slot, ir.Dim]] = set()
        self._waiting: list[Combine] = []

    def block(self, block: ir.Block) -> list[Step]:
        """Return the steps of a block."""
        self._steps, self._waiting, self._checked = [], [], set()
        for each in block.instructions:
            self._flush(None if may_fault(each) else variables(each))
            _lower[type(each)](self, each)
        self._flush(None)
        return self._steps

    def _flush(self, used: set[ir.Var] | None) -> None:
        """Combine the results of folds, all of them or only those of certain variables."""
        for combine in tuple(self._waiting):
            if used is None or not used.isdisjoint(results(combine.source)):
                self._steps.append(combine)
                self._waiting.remove(combine)

    def _sweep(self, dim: ir.Dim, part: Any) -> None:
        self._steps.append(Sweep(Domain(dim), [part]))

    def _spare(self, name: str, dtype: DataType, dim: ir.Dim, purpose: Any) -> ir.Slot:
        """Return a spare slot. The slots of one dtype, dimension and purpose take turns."""
        key = dtype, dim, purpose
        kept = self._kept[key]
        turn = self._turns[key]
        self._turns[key] = (turn + 1) % ALTERNATING
        if turn == len(kept):
            index = len(self.program.slots) + len(self.spares)
            kept.append(ir.Slot(index, f"{name}_{index}", dtype, dim))
            self.spares.append(kept[-1])
        return kept[turn]

    # --- writes ---------------------------------------------------------------------------------

    def write(self, x: ir.Write) -> None:
        """Lower a write."""
        if isinstance(x.source, ir.MatrixReduction):
            self._entrywise(replace(x, source=ir.Entry(self._reduction(x.source, x.target.dim))))
        elif isinstance(x.source, ir.Product):
            self._product(x, x.source)
        else:
            self._entrywise(x)

    def _reduction(self, x: ir.MatrixReduction, dim: ir.Dim) -> ir.Slot:
        if x not in self.reductions:
            index = len(self.program.slots) + len(self.spares)
            self.reductions[x] = ir.Slot(index, f"{x.matrix.name}_reduced", x.dtype, dim)
            self.spares.append(self.reductions[x])
        return self.reductions[x]

    def _product(self, x: ir.Write, product: ir.Product) -> None:
        is_whole = is_replaced(x) and product.dtype is x.target.dtype
        purpose = self._groups[x.target] if is_whole else "T"
        out = self._spare("product", product.dtype, x.target.dim, purpose)
        self._steps.append(Multiply(product, x.mask, out, x.line, self.products))
        self.products += 1
        if is_whole and self._rotates:
            # The next product then need not wait until the old entries of the target are erased.
            old = self._spare("old", product.dtype, x.target.dim, purpose)
            slots = x.target, out, old
            self._steps.append(Exchange(slots, (out, old, x.target), x.line))
            self._change(x.target)
            out = old
        elif is_whole:
            self._steps.append(Exchange((x.target, out), (out, x.target), x.line))
            self._change(x.target)
        else:
            self._entrywise(replace(x, source=ir.Entry(out)))
        self._sweep(out.dim, Erase(out, x.line))

    def _entrywise(self, x: ir.Write) -> None:
        self._check(x, x.line)
        into = x.target
        if any(each.slot == x.target for each in gathers(x.source)):
            into = self._spare("next", x.target.dtype, x.target.dim, ("next", x.target))
        is_sparse = into == x.target and self._may_be_sparse(x)
        if is_sparse:
            into = self._spare("product", x.target.dtype, x.target.dim, self._groups[x.target])
        self._sweep(x.target.dim, Store(x, into, is_sparse=is_sparse))
        if into != x.target:
            self._steps.append(Exchange((x.target, into), (into, x.target), x.line))
        if is_sparse:
            self._sweep(into.dim, Erase(into, x.line))
        self._change(x.target)

    def _may_be_sparse(self, x: ir.Write) -> bool:
        """Return whether a write replaces its target by entries at the positions in a queue.

        The write then goes to an empty slot, and needs to visit only these positions.
        """
        if x.mask is None or not is_replaced(x):
            return False
        return any(self._groups[slot] in self._listed for slot in required(x.mask) - {x.target})

    def _check(self, x: Any, line: int) -> None:
        """Check the indices of all gathers in x, unless their slots have not changed since."""
        for each in gathers(x):
            self._check_indices(each.indices, each.slot.dim, line)

    def _check_indices(self, indices: ir.Slot, dim: ir.Dim, line: int) -> None:
        if (indices, dim) not in self._checked:
            self._checked.add((indices, dim))
            self._sweep(indices.dim, Check(indices, dim, line))

    def _change(self, *slots: ir.Slot) -> None:
        self._checked = {each for each in self._checked if each[0] not in slots}

    def clear(self, x: ir.Clear) -> None:
        """Lower a clear."""
        self._sweep(x.slot.dim, Erase(x.slot, x.line))
        self._change(x.slot)

    def scatter(self, x: ir.Scatter) -> None:
        """Lower a scatter: fold it into a spare slot, and write this slot into the target."""
        self._check_indices(x.indices, x.target.dim, x.line)
        dim = x.target.dim
        accum: Any = x.accum
        joins = accum is not None and accum.type is x.target.dtype and accum.monoid is not None
        dtype = x.target.dtype
        if isinstance(x.source, ir.Slot) and not joins:
            dtype = x.source.dtype
        out = self._spare("scattered", dtype, dim, "T")
        addressed = None
        if isinstance(x.source, ir.Slot) and not joins:
            addressed = self._spare("addressed", BOOL, dim, "addressed")
        self._steps.append(ScatterInto(x, out, addressed, joins))
        source: ir.VectorExpression = ir.Entry(out)
        if accum is None:
            dtype = x.target.dtype
            source = ir.Cast(source, dtype)
            if addressed is None:
                accum = binary.second[dtype]
            else:
                outside = ir.NotMask(ir.MaskOf(addressed, False))
                old = ir.Restrict(ir.Entry(x.target), outside, dtype)
                source = ir.Union(binary.second[dtype], old, source, dtype)
        self._entrywise(ir.Write(x.target, x.mask, accum, x.replace, source, x.line))
        self._sweep(dim, Erase(out, x.line))
        if addressed is not None:
            self._sweep(dim, Erase(addressed, x.line))

    # --- results --------------------------------------------------------------------------------

    def fold(self, x: ir.Reduce) -> None:
        """Lower a reduction."""
        self._check(x, x.line)
        self._sweep(dim_of(x.source), Fold(x, self.folds))
        self._waiting.append(Combine(x, self.folds))
        self.folds += 1

    def compare(self, x: ir.IsEqual) -> None:
        """Lower a comparison."""
        self._sweep(x.left.dim, Compare(x, self.folds))
        self._waiting.append(Combine(x, self.folds))
        self.folds += 1

    def uniform(self, x: Any) -> None:
        """Lower a scalar instruction."""
        self._steps.append(Uniform(x))

    # --- others ---------------------------------------------------------------------------------

    def element(self, x: ir.SetElement | ir.DeleteElement) -> None:
        """Lower a write of one element."""
        self._steps.append(Element(x))
        self._change(x.target)

    def move(self, x: ir.Move) -> None:
        """Lower an exchange."""
        self._steps.append(Exchange(x.targets, x.sources, x.line))
        self._change(*x.targets)

    def append(self, x: ir.Append) -> None:
        """Lower an append."""
        self._steps.append(Enqueue(x.slot, x.line))
        self._steps.append(Save(x.stack, x.slot, x.line, self.saves))
        self.saves += 1

    def load(self, x: ir.Pop | ir.Peek) -> None:
        """Lower a pop or a peek."""
        out = self._spare("popped", x.slot.dtype, x.slot.dim, self._groups[x.slot])
        index = x.index if isinstance(x, ir.Peek) else None
        self._steps.append(Load(x.stack, index, out, x.line))
        self._steps.append(Exchange((x.slot, out), (out, x.slot), x.line))
        self._sweep(out.dim, Erase(out, x.line))
        self._change(x.slot)


_lower: dict[type, Any] = {
    ir.Let: _Lowering.uniform,
    ir.Count: _Lowering.uniform,
    ir.ReadElement: _Lowering.uniform,
    ir.Length: _Lowering.uniform,
    ir.ClearStack: _Lowering.uniform,
    ir.Fault: _Lowering.uniform,
    ir.Reduce: _Lowering.fold,
    ir.IsEqual: _Lowering.compare,
    ir.Write: _Lowering.write,
    ir.Scatter: _Lowering.scatter,
    ir.SetElement: _Lowering.element,
    ir.DeleteElement: _Lowering.element,
    ir.Clear: _Lowering.clear,
    ir.Move: _Lowering.move,
    ir.Append: _Lowering.append,
    ir.Pop: _Lowering.load,
    ir.Peek: _Lowering.load,
}


def _listed_slots(program: ir.Program) -> Iterator[ir.Slot]:
    """Yield slots whose entries products or stacks list in queues."""
    for block in program.blocks:
        for each in block.instructions:
            if isinstance(each, (ir.Pop, ir.Peek)):
                yield each.slot
            if not isinstance(each, ir.Write):
                continue
            if isinstance(each.source, ir.Product) and is_replaced(each):
                yield each.target


def results(x: ir.Reduce | ir.IsEqual) -> set[ir.Var]:
    """Return the variables that get a result of a fold."""
    present = getattr(x, "is_present", None)
    return {x.variable} if present is None else {x.variable, present}


def _groups(slots: Iterable[ir.Slot], steps: Iterable[Any]) -> dict[ir.Slot, ir.Slot]:
    """Return a representative for each slot. Slots that exchange their contents have the same."""
    parent = {slot: slot for slot in slots}

    def find(slot: ir.Slot) -> ir.Slot:
        while parent[slot] != slot:
            slot = parent[slot]
        return slot

    for each in steps:
        if isinstance(each, (ir.Move, Exchange)):
            for slot in each.targets:
                parent[find(slot)] = find(each.targets[0])
    return {slot: find(slot) for slot in parent}


# --- representations ----------------------------------------------------------------------------


class _Queues:
    """Finds the slots that have a queue. If slots exchange their contents, all of them have one."""

    def __init__(self, slots: tuple[ir.Slot, ...], blocks: list[list[Step]]) -> None:
        steps = [step for block in blocks for step in block]
        group = _groups(slots, steps)
        products = [step for step in steps if isinstance(step, Multiply)]
        pushing: dict[ir.Slot, ir.Product] = {}
        for each in products:
            pushing.setdefault(group[each.product.u], each.product)
        queued = set(pushing) | {group[each.out] for each in products}
        queued |= {group[each.slot] for each in steps if isinstance(each, (Enqueue, Save))}
        queued |= {group[each.out] for each in steps if isinstance(each, Load)}
        self.queued = frozenset(slot for slot in slots if group[slot] in queued)
        self.pushing = {slot: pushing[group[slot]] for slot in slots if group[slot] in pushing}


Full = frozenset[ir.Slot]


def _find_full(blocks: list[list[Step]], program: ir.Program, inputs: Full) -> list[list[Full]]:
    """Return, for each step of each block, the slots that have all entries before the step.

    The list of a block has one more item than the block has steps: the slots after the last step.
    """
    found: list[Full | None] = [None] * len(blocks)
    found[0] = inputs
    changed = [0]
    while changed:
        number = changed.pop()
        after = found[number]
        assert after is not None
        for step in blocks[number]:
            after = _full_after(step, after)
        for target in targets(program.blocks[number].end):
            known = found[target]
            joined = after if known is None else known & after
            if joined != known:
                found[target] = joined
                changed.append(target)
    listed = []
    for block, full in zip(blocks, found, strict=True):
        before = [full or frozenset()]
        for step in block:
            before.append(_full_after(step, before[-1]))
        listed.append(before)
    return listed


def targets(end: ir.End) -> tuple[int, ...]:
    """Return the blocks that may follow."""
    if isinstance(end, ir.Branch):
        return (end.then, end.otherwise)
    return (end.target,) if isinstance(end, ir.Jump) else ()


def _full_after(step: Step, full: Full) -> Full:
    """Return the slots that have all entries after a step."""
    if isinstance(step, Sweep):
        for part in step.parts:
            if isinstance(part, Store):
                stays = _is_full_after(part.write, full)
                full = full | {part.into} if stays else full - {part.into}
            elif isinstance(part, Erase):
                full = full - {part.slot}
        return full
    if isinstance(step, (Multiply, Load)):
        return full - {step.out}
    if isinstance(step, ScatterInto):
        return full - {step.out, step.addressed}
    if isinstance(step, Element) and isinstance(step.instruction, ir.DeleteElement):
        return full - {step.instruction.target}
    if isinstance(step, Exchange):
        pairs = zip(step.targets, step.sources, strict=True)
        moved = {target for target, source in pairs if source in full}
        return (full - set(step.targets)) | moved
    return full


def _is_full_after(write: ir.Write, full: Full) -> bool:
    is_masked, has_source = write.mask is not None, is_full(write.source, full)
    if not is_masked and has_source:
        return True
    if write.target not in full or (is_masked and write.replace):
        return False
    return write.accum is not None or has_source


def _choose(
    steps: list[Step], full: list[Full], queued: Full, is_deterministic: bool
) -> Iterator[Step]:
    """Yield the steps with the domain of each sweep, and the way in which it counts entries."""
    for step, known in zip(steps, full, strict=False):
        if isinstance(step, Sweep):
            yield _choose_domain(step, known, queued, is_deterministic)
        elif isinstance(step, Multiply):
            yield replace(step, full=known)
        else:
            yield step


def _choose_domain(sweep: Sweep, full: Full, queued: Full, is_deterministic: bool) -> Sweep:
    """Let a sweep of one part visit only the entries of a vector, if no others matter."""
    (part,) = sweep.parts
    may: set[ir.Slot] = set()
    if isinstance(part, Erase):
        may = {part.slot}
    elif isinstance(part, Fold):
        is_sum = part.reduce.monoid.type.is_float
        may = set() if is_sum and is_deterministic else within(part.reduce.source)
        part = replace(part, full=full)
    elif isinstance(part, Compare):
        part = replace(part, full=full)
    elif isinstance(part, Store):
        may = set() if part.into != part.write.target else _relevant(part.write)
        if part.is_sparse:
            may = required(part.write.mask) - {part.into}
    over = min((may & queued) - full, key=lambda slot: -slot.index, default=None)
    if isinstance(part, Store):
        part = replace(part, full=full, counts=_counts_of(part, full, over))
    return Sweep(Domain(sweep.domain.dim, over), [part])


def _relevant(write: ir.Write) -> set[ir.Slot]:
    """Return slots outside of whose entries a write changes nothing."""
    source, mask = within(write.source), required(write.mask)
    if write.mask is None and write.accum is None:
        is_empty = isinstance(write.source, ir.Empty)
        return {write.target} if is_empty else {write.target} & source
    if write.mask is None:
        return source
    if write.replace:
        return {write.target} & (source | mask)
    return mask | source if write.accum is not None else mask


def _counts_of(part: Store, full: Full, over: ir.Slot | None) -> str:
    """Return how a store changes the number of entries of its target."""
    write, target = part.write, part.write.target
    if _is_full_after(write, full):
        return "same" if target in full and part.into == target else "full"
    if part.into != target:
        return "all"
    is_kept = write.mask is None or not write.replace
    if is_kept and has_pattern_of(write.source, target):
        return "same"
    may_add = target not in within(write.source) | required(write.mask)
    if is_kept and write.accum is not None and not may_add:
        return "same"
    if is_kept and target in required(write.mask) and is_full(write.source, full):
        return "same"
    return "all" if over is None else "change"


# --- accesses -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Access:
    """A read or a write of a resource between two barriers.

    `mapping` tells which thread accesses which element: two accesses with the same mapping access
    an element by the same thread. None stands for any other mapping.

    If `adds` is given, the write only adds entries to a slot, at the positions at which the slot
    `adds` has entries: those that the sweep visits.
    """

    resource: tuple[Any, ...]
    writes: bool
    mapping: Any
    line: int
    adds: ir.Slot | None = None

    def conflicts(self, other: Access) -> bool:
        """Return whether a barrier must separate two accesses."""
        if not (self.writes or other.writes) or self.resource != other.resource:
            return False
        return self.mapping is None or self.mapping != other.mapping


RENEWED = ("counts", "fold", "check")
"""Resources whose readers need not be awaited. A new value is written to other memory, and this
memory is reused only after another barrier."""


def accesses(step: Step) -> list[Access]:
    """Return the accesses of a step to memory that threads share."""
    if isinstance(step, Sweep):
        found = [each for part in step.parts for each in _accesses_of(part, step.domain)]
        if step.clears:
            found = [replace(each, mapping=None) for each in found]
        over = step.domain.over
        if over is not None:
            line = found[0].line if found else 0
            found += (Access((name, over), False, None, line) for name in ("counts", "queue"))
        return found
    return _accesses[type(step)](step)


def _accesses_of(part: Part, domain: Domain) -> Iterator[Access]:
    mapping = ("dim", domain.dim) if domain.over is None else ("over", domain.over)
    reads: Any = ()
    if isinstance(part, Store):
        write, target = part.write, part.write.target
        line, reads = write.line, (write.source, write.mask)
        if not is_replaced(write):
            yield Access(("elements", target), False, mapping, line)
        adds = domain.over if domain.over is not None and only_adds(part, domain.over) else None
        yield Access(("elements", part.into), True, mapping, line, adds)
        if part.counts != "same":
            yield Access(("counts", part.into), True, None, line, adds)
    elif isinstance(part, Erase):
        line = part.line
        yield Access(("elements", part.slot), True, mapping, line)
        yield Access(("counts", part.slot), True, None, line)
    elif isinstance(part, Fold):
        line, reads = part.reduce.line, part.reduce.source
        yield Access(("fold", part.number), True, None, line)
    elif isinstance(part, Compare):
        line = part.equal.line
        for slot in (part.equal.left, part.equal.right):
            yield Access(("elements", slot), False, mapping, line)
        yield Access(("fold", part.number), True, None, line)
    else:
        line = part.line
        yield Access(("elements", part.indices), False, mapping, line)
        yield Access(("check", part.indices), True, "check", line)
    for slot in own_slots(reads):
        yield Access(("elements", slot), False, mapping, line)
    for each in gathers(reads):
        yield Access(("elements", each.slot), False, None, line)
        yield Access(("check", each.indices), False, None, line)


def only_adds(part: Store, slot: ir.Slot) -> bool:
    """Return whether a store only adds entries to its target, wherever `slot` has an entry."""
    write = part.write
    if part.into != write.target or write.target == slot:
        return False
    is_there = has_pattern_of(write.source, slot)
    if write.mask is None:
        return write.accum is not None and is_there
    is_same = write.mask == ir.MaskOf(slot, False)
    return is_same and not write.replace and (is_there or is_full(write.source, part.full))


def _growing(step: Multiply, pending: Pending, moved: frozenset[ir.Slot]) -> dict[ir.Slot, ir.Slot]:
    """Return the slots of a product's mask to which sweeps may still be adding entries.

    The dict maps each slot to the slot at whose positions the sweeps add entries. It has only slots
    whose values the product does not read, and that are not in `moved`.
    """
    masks = [each for each in nodes(step.mask) if isinstance(each, ir.MaskOf)]
    valued = {each.slot for each in masks if each.by_value} | {step.product.u} | moved
    found = {}
    for slot in {each.slot for each in masks} - valued:
        adding = {
            each.adds
            for each in pending
            if each.writes and each.resource in (("elements", slot), ("counts", slot))
        }
        if len(adding) == 1 and None not in adding:
            found[slot] = adding.pop()
    return found


def _multiply_accesses(step: Multiply) -> list[Access]:
    read, line = own_slots(step.mask) | {step.product.u}, step.line
    return [
        *(
            Access((name, slot), False, None, line)
            for slot in read
            for name in ("elements", "counts")
        ),
        Access(("queue", step.product.u), False, None, line),
        Access(("work", None), True, None, line),
        *_whole(step.out, line),
    ]


def _whole(slot: ir.Slot, line: int) -> list[Access]:
    """Return the accesses of a step that may write any part of a slot."""
    return [Access((name, slot), True, None, line) for name in ("elements", "counts", "queue")]


def _uniform_accesses(step: Uniform) -> list[Access]:
    each = step.instruction
    if isinstance(each, ir.Count):
        return [Access(("counts", each.slot), False, None, each.line)]
    if isinstance(each, ir.ReadElement):
        return [Access(("elements", each.slot), False, None, each.line)]
    return []


def _scatter_accesses(step: ScatterInto) -> list[Access]:
    scatter = step.scatter
    line, mapping = scatter.line, ("dim", scatter.indices.dim)
    found = _whole(step.out, line)
    if step.addressed is not None:
        found += _whole(step.addressed, line)
    found.append(Access(("elements", scatter.indices), False, mapping, line))
    found.append(Access(("check", scatter.indices), False, None, line))
    if isinstance(scatter.source, ir.Slot):
        found.append(Access(("elements", scatter.source), False, mapping, line))
    return found


def _read_all(step: Enqueue | Save) -> list[Access]:
    names = ("elements", "counts", "queue")
    found = [Access((name, step.slot), False, None, step.line) for name in names]
    if isinstance(step, Save):
        found.append(Access(("stack", step.stack), True, None, step.line))
    return found


def _load_accesses(step: Load) -> list[Access]:
    return [Access(("stack", step.stack), False, None, step.line), *_whole(step.out, step.line)]


def _element_accesses(step: Element) -> list[Access]:
    return _whole(step.instruction.target, step.instruction.line)


_accesses: dict[type, Any] = {
    Multiply: _multiply_accesses,
    Exchange: lambda step: [],
    Uniform: _uniform_accesses,
    Combine: lambda step: [Access(("fold", step.number), False, None, step.source.line)],
    Element: _element_accesses,
    ScatterInto: _scatter_accesses,
    Enqueue: _read_all,
    Save: _read_all,
    Load: _load_accesses,
    Barrier: lambda step: [],
}


# --- fusion -------------------------------------------------------------------------------------


def _fuse(steps: list[Step]) -> list[Step]:
    """Join each sweep with an earlier sweep of the same domain, if nothing prevents this."""
    fused: list[Step] = []
    for step in steps:
        if isinstance(step, Sweep):
            place = _find_place(fused, step)
            if place is not None:
                place[0].parts.append(place[1])
                continue
        fused.append(step)
    return fused


def _find_place(steps: list[Step], sweep: Sweep) -> tuple[Sweep, Part] | None:
    """Return the sweep that a later sweep of one part can join, and the part, or None.

    Before an exchange of slots, the part has to use the other names.
    """
    if _may_end(sweep):
        return None
    used = variables(_scalars_of(sweep.parts[0]))
    for step in reversed(steps):
        (part,) = sweep.parts
        if isinstance(step, Sweep) and (isinstance(part, Check) or not _has_check(step)):
            domain = _joint_domain(step, sweep)
            if domain is not None:
                step.domain = domain
                return step, part
        if isinstance(step, Exchange):
            names = dict(zip(step.targets, step.sources, strict=True))
            over = sweep.domain.over
            domain = Domain(sweep.domain.dim, over and names.get(over, over))
            sweep = Sweep(domain, [_rename(part, names)])
        elif not _may_pass(step, accesses(sweep), used):
            return None
    return None


def _rename(x: Any, names: dict[ir.Slot, ir.Slot]) -> Any:
    """Return a part, an expression or a mask with other slots."""
    if isinstance(x, ir.Slot):
        return names.get(x, x)
    if isinstance(x, (tuple, frozenset)):
        return type(x)(_rename(each, names) for each in x)
    if type(x).__module__ not in (ir.__name__, __name__) or isinstance(x, ir.Var):
        return x
    return replace(x, **{name: _rename(getattr(x, name), names) for name in x.__dataclass_fields__})


def _may_end(sweep: Sweep) -> bool:
    """Return whether a scalar of the sweep may end the program before the sweep begins."""
    scalars = [_scalars_of(part) for part in sweep.parts]
    return any(map(has_misfit, scalars)) or any(
        has_fault(x) for each in scalars for x in nodes(each)
    )


def _only_erases(sweep: Sweep) -> bool:
    return all(isinstance(part, Erase) for part in sweep.parts)


def _has_check(sweep: Sweep) -> bool:
    return any(isinstance(part, Check) for part in sweep.parts)


def _scalars_of(part: Part) -> Any:
    if isinstance(part, Store):
        return (part.write.source, part.write.mask)
    return part.reduce.source if isinstance(part, Fold) else ()


def _joint_domain(sweep: Sweep, other: Sweep) -> Domain | None:
    """Return the domain of a sweep with the parts of both sweeps, or None if it cannot exist."""
    domain, there = sweep.domain, other.domain
    if domain.dim != there.dim:
        return None
    stores = (part for part in sweep.parts if isinstance(part, Store))
    if any(part.is_sparse and part.into == there.over for part in stores):
        there = domain  # all entries of this slot are written by the sweep
    if domain != there:
        # A sweep over all positions is better than a barrier. If it is necessary anyway, it is also
        # better than another sweep that erases entries.
        is_dense = domain.over is None or there.over is None
        is_erased = domain.over is None and _only_erases(other)
        pairs = ((a, b) for a in accesses(sweep) for b in accesses(other))
        if not is_dense or not (is_erased or any(a.conflicts(b) for a, b in pairs)):
            return None
        domain = Domain(domain.dim)
    before, after = Sweep(domain, sweep.parts), Sweep(domain, other.parts)
    pairs = ((a, b) for a in accesses(before) for b in accesses(after))
    is_wrong = any(a.conflicts(b) and not _is_harmless(a, b) for a, b in pairs)
    return None if is_wrong else domain


def _is_harmless(a: Access, b: Access) -> bool:
    """Return whether one sweep may have both accesses, although different threads make them."""
    # A sweep chooses its positions before any part runs, and counts the entries of a slot once.
    return a.resource[0] in RENEWED and b.writes and (not a.writes or a.resource[0] == "counts")


def _may_pass(step: Step, ours: list[Access], used: set[ir.Var]) -> bool:
    """Return whether a sweep with these accesses and variables may run before an earlier step."""
    if isinstance(step, Uniform):
        each = step.instruction
        if isinstance(each, (ir.Fault, ir.ReadElement)) or may_fault(each):
            return False
        if isinstance(each, ir.Let):
            return used.isdisjoint(each.variables)
        if isinstance(each, ir.ClearStack):
            return True
        return used.isdisjoint((each.variable,)) and _are_apart(accesses(step), ours)
    if isinstance(step, Combine):
        may_exceed = isinstance(step.source, ir.Reduce) and step.source.monoid.type is UINT64
        return not may_exceed and used.isdisjoint(results(step.source))
    if isinstance(step, (Save, Load, Element, ScatterInto)):
        return False
    if isinstance(step, Sweep) and (_has_check(step) or _may_end(step)):
        return False
    return _are_apart(accesses(step), ours)


def _are_apart(theirs: list[Access], ours: list[Access]) -> bool:
    pairs = ((a, b) for a in theirs for b in ours)
    return not any(a.resource == b.resource and (a.writes or b.writes) for a, b in pairs)


# --- barriers -----------------------------------------------------------------------------------

Pending = frozenset[Access]
"""The accesses since the last barrier."""


@dataclass(slots=True)
class _Separated:
    """The steps of a block with barriers, and the accesses since the last barrier at its end."""

    steps: list[Step]
    pending: Pending
    growing: set[ir.Slot]


def _barriers(separated: list[_Separated]) -> list[list[int]]:
    """Return the places of the barriers in each block."""
    return [[k for k, x in enumerate(each.steps) if isinstance(x, Barrier)] for each in separated]


def _with_barriers(blocks: list[PlannedBlock]) -> list[_Separated]:
    """Return the steps of each block with barriers between them.

    The accesses since the last barrier at the start of a block are those at the ends of all blocks
    that precede it. When more of them become known, the block gets other barriers, so it is
    repeated until nothing changes. The sets only grow, so this ends.
    """
    exchanges = (x for block in blocks for x in block.steps if isinstance(x, Exchange))
    moved = frozenset(slot for each in exchanges for slot in each.targets)
    accesses_of = [[(step, accesses(step)) for step in block.steps] for block in blocks]
    before: list[Pending] = [frozenset()] * len(blocks)
    found: dict[int, _Separated] = {}
    changed = set(range(len(blocks)))
    while changed:
        number = changed.pop()
        block = blocks[number]
        found[number] = _separate(accesses_of[number], before[number], moved)
        for target in targets(block.end):
            if not found[number].pending <= before[target]:
                before[target] |= found[number].pending
                changed.add(target)
    return [found[number] for number in range(len(blocks))]


def _separate(
    steps: list[tuple[Step, list[Access]]], pending: Pending, moved: frozenset[ir.Slot]
) -> _Separated:
    """Return the steps of a block with barriers, given the accesses since the last barrier.

    Each step comes with its accesses.
    """
    found = _Separated([], pending, set())
    for step, known in steps:
        if isinstance(step, Exchange):
            found.pending = _renamed(found.pending, step)
        growing, ours = {}, known
        if isinstance(step, Multiply):
            growing = _growing(step, found.pending, moved)
            tested = [Access(("elements", x), False, None, step.line) for x in growing.values()]
            ours = known + tested
        pairs = ((a, b) for a in found.pending for b in ours if a.conflicts(b))
        reasons = [(_rank(a, b), _reason(a, b)) for a, b in pairs if b.resource[1] not in growing]
        _, reason = min(reasons, default=(None, None))
        if reason is not None:
            found.steps.append(Barrier(reason))
            found.pending = frozenset()
        else:
            found.growing.update(growing)
        found.steps.append(step)
        kept = {each for each in ours if each.writes or each.resource[0] not in RENEWED}
        found.pending |= kept
    return found


def _rank(before: Access, after: Access) -> tuple[bool, ...]:
    """Return a key by which the plainest reason comes first: a step reads what another writes."""
    return not before.writes, after.writes, before.resource[0] != "elements"


def _reason(before: Access, after: Access) -> str:
    kind, what = before.resource[0], getattr(before.resource[1], "name", "")
    names = {"elements": what, "counts": f"the size of {what}", "queue": f"the queue of {what}"}
    names |= {"fold": "a reduction", "check": f"the check of {what}", "stack": what}
    names["work"] = "the memory that products share"
    verbs = ["reads", "writes"]
    return (
        f"line {before.line} {verbs[before.writes]} {names[kind]}, "
        f"line {after.line} {verbs[after.writes]} it"
    )


def _renamed(pending: Pending, step: Exchange) -> Pending:
    """Return the accesses with the names that their slots have after an exchange."""
    names = dict(zip(step.sources, step.targets, strict=True))

    def rename(x: Any) -> Any:
        if isinstance(x, tuple):
            return tuple(map(rename, x))
        return names.get(x, x) if isinstance(x, ir.Slot) else x

    return frozenset(
        Access(rename(x.resource), x.writes, rename(x.mapping), x.line, rename(x.adds))
        for x in pending
    )


# --- explanation --------------------------------------------------------------------------------


def describe(plan: Plan) -> Iterator[str]:
    """Yield the lines of a text that explains a plan."""
    for slot in plan.slots:
        yield f"{slot.name}: {slot.dtype}, {_representation(plan, slot)}"
    for slot in sorted(plan.growing, key=lambda slot: slot.index):
        yield f"{slot.name}: a mask also tests the entries that a sweep may still be adding to it"
    for number, block in enumerate(plan.blocks):
        yield f"block {number}:"
        for step in block.steps:
            yield f"  {describe_step(step)}"
        yield f"  {_describe_end(block.end)}"


def _representation(plan: Plan, slot: ir.Slot) -> str:
    if slot in plan.reduction_slots:
        return "a reduction of a matrix, computed before the loop"
    if slot not in plan.queued:
        return "a bitmap, because no step needs a list of its entries"
    if slot in plan.pushing:
        return "a bitmap with a queue, because a product can push its entries"
    return "a bitmap with a queue of the entries that a product or a stack has listed"


def describe_step(step: Step) -> str:
    """Return one line that describes a step."""
    if isinstance(step, Barrier):
        return f"barrier: {step.reason}"
    if isinstance(step, Sweep):
        over = step.domain.over
        where = "all positions" if over is None else f"the entries of {over.name}"
        return f"sweep over {where}: {'; '.join(map(_describe_part, step.parts))}"
    if isinstance(step, Multiply):
        mask = "" if step.mask is None else " where the mask allows it"
        return f"line {step.line}: push or pull {step.product.u.name} into {step.out.name}{mask}"
    if isinstance(step, Exchange):
        moves = zip(step.targets, step.sources, strict=True)
        return f"line {step.line}: " + ", ".join(f"{a.name} = {b.name}" for a, b in moves)
    if isinstance(step, Uniform):
        kind = type(step.instruction).__name__.lower()
        return f"line {step.instruction.line}: {kind}, computed by each thread"
    if isinstance(step, Combine):
        return f"line {step.source.line}: combine the blocks' results"
    if isinstance(step, Element):
        return f"line {step.instruction.line}: one thread writes one element"
    if isinstance(step, ScatterInto):
        return f"line {step.scatter.line}: scatter into {step.out.name}"
    if isinstance(step, Enqueue):
        return f"line {step.line}: list the entries of {step.slot.name} if that is worth it"
    if isinstance(step, Save):
        return f"line {step.line}: append {step.slot.name} to {step.stack.name}"
    return f"line {step.line}: copy an item of {step.stack.name} to {step.out.name}"


def _describe_part(part: Part) -> str:
    if isinstance(part, Store):
        return f"line {part.write.line} writes {part.into.name}"
    if isinstance(part, Erase):
        return f"line {part.line} clears {part.slot.name}"
    if isinstance(part, Fold):
        return f"line {part.reduce.line} reduces"
    if isinstance(part, Compare):
        return f"line {part.equal.line} compares"
    return f"line {part.line} checks the indices {part.indices.name}"


def _describe_end(end: ir.End) -> str:
    if isinstance(end, ir.Jump):
        return f"go on with block {end.target}"
    if isinstance(end, ir.Branch):
        return f"go on with block {end.then} or {end.otherwise}"
    return f"leave at exit {end.number}"
