"""Define the steps of a plan, and describe them as text.

`plan` creates plans, and `cuda_text` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graphla.program import ir
from graphla.program.records import record


@record
class Domain:
    """The positions that a sweep visits: all positions of a dimension, or the entries of a vector.

    If `over` is given, only the entries of this vector matter. The sweep visits them if they are
    listed in the vector's queue, and all positions otherwise.
    """

    dim: ir.Dim
    over: ir.Slot | None = None


@record
class Store:
    """Perform a write at each position. `into` is its target, or a spare slot for the result.

    `counts` says how the number of entries changes: "same" (no entry appears or vanishes), "all"
    (the sweep counts the entries), "change" (the sweep adds the change) or "full". `full` contains
    the slots that have an entry at each position before the write.
    """

    write: ir.Write
    into: ir.Slot
    counts: str = "all"
    full: frozenset[ir.Slot] = frozenset()
    is_sparse: bool = False  # whether `into` is empty, so that only entries are visited


@record
class Erase:
    """Delete all entries of a slot."""

    slot: ir.Slot
    line: int


@record
class Fold:
    """Fold the entries of an expression. A `Combine` with the same number computes the result."""

    reduce: ir.Reduce
    number: int
    full: frozenset[ir.Slot] = frozenset()


@record
class Compare:
    """Compare two slots. A `Combine` with the same number computes the result."""

    equal: ir.IsEqual
    number: int
    full: frozenset[ir.Slot] = frozenset()


@record
class Check:
    """Report a fault if `indices` is not full, or if one of its values is not an index of `dim`.

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


@record
class Terms:
    """What is known about the terms of a product."""

    first_is_result: bool = False  # the result at each position is the first term there
    reads_index: bool = False  # each value of the vector equals its index


@record
class Multiply:
    """Compute a product in the empty slot `out`, at the positions that the mask allows."""

    product: ir.Product
    mask: ir.Mask | None
    out: ir.Slot
    line: int
    number: int
    full: frozenset[ir.Slot] = frozenset()
    terms: Terms = Terms()


@record
class Exchange:
    """Exchange the contents of slots, as `ir.Move` does."""

    targets: tuple[ir.Slot, ...]
    sources: tuple[ir.Slot, ...]
    line: int


@record
class Uniform:
    """A scalar instruction, which each thread computes for itself."""

    instruction: ir.Let | ir.Count | ir.ReadElement | ir.Length | ir.ClearStack | ir.Fault


@record
class Combine:
    """Combine the partial results of all thread blocks for a `Fold` or a `Compare`."""

    source: ir.Reduce | ir.IsEqual
    number: int


@record
class Element:
    """Write or delete one element. One thread does this."""

    instruction: ir.SetElement | ir.DeleteElement


@record
class ScatterInto:
    """Write the entries of a vector into the empty slot `out`, at the positions in `indices`.

    If `addressed` is given, this slot gets an entry at each position in `indices`. If `joins` is
    true, the accumulator combines the entries with equal indices. Otherwise equal indices cause a
    fault.
    """

    scatter: ir.Scatter
    out: ir.Slot
    addressed: ir.Slot | None
    joins: bool


@record
class Enqueue:
    """List the entries of a slot in its queue, unless they are listed already.

    If listing them requires a sweep, a barrier follows the sweep.
    """

    slot: ir.Slot
    line: int


@record
class Save:
    """Append the listed entries of a slot to a stack. If the stack's memory is full, leave the
    kernel, so that the host can enlarge this memory."""

    stack: ir.Stack
    slot: ir.Slot
    line: int
    number: int


@record
class Load:
    """Copy the vector at `index` of a stack to the empty slot `out`. If `index` is None, move the
    last vector."""

    stack: ir.Stack
    index: ir.Scalar | None
    out: ir.Slot
    line: int


@record
class CountItem:
    """Find the number of entries of the item at `index` of a stack.

    If `index` is None, count the entries of the last item, and remove this item from the stack.
    `slot` is the slot to which the program assigns the item. The item is not copied, because only
    its number of entries is used.
    """

    stack: ir.Stack
    index: ir.Scalar | None
    slot: ir.Slot
    line: int


@record
class Barrier:
    """Wait for all threads. `reason` says what would go wrong without this barrier."""

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
    | CountItem
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
    """For each slot with a queue, if products multiply the slot's vector: one of these products."""
    folds: int
    presets: dict[ir.Slot, Any]
    """Maps slots to monoids: where such a slot has no entry, its value is the identity of the
    monoid. A push into such a slot claims outputs and folds terms in one pass, without a barrier in
    between."""
    measured: frozenset[ir.Slot] = frozenset()
    """The slots for which only the number of entries is used; see `CountItem`."""
    unread: tuple[int, ...] = ()
    """The lines of the statements that are left out, because no other statement reads the values
    that they compute."""
    growing: frozenset[ir.Slot] = frozenset()
    """The slots to which sweeps may still be adding entries while products test them in masks."""

    def __str__(self) -> str:
        return "\n".join(describe(self))


def results(x: ir.Reduce | ir.IsEqual) -> set[ir.Var]:
    """Return the variables to which a fold or a comparison assigns results."""
    present = getattr(x, "is_present", None)
    return {x.variable} if present is None else {x.variable, present}


def targets(end: ir.End) -> tuple[int, ...]:
    """Return the indices of the blocks that may follow this end of a block."""
    if isinstance(end, ir.Branch):
        return (end.then, end.otherwise)
    return (end.target,) if isinstance(end, ir.Jump) else ()


# --- explanation --------------------------------------------------------------------------------


def describe(plan: Plan) -> Iterator[str]:
    """Yield the lines of a text that explains a plan."""
    for slot in plan.slots:
        yield f"{slot.name}: {slot.dtype}, {_representation(plan, slot)}"
    for slot in sorted(plan.growing, key=lambda slot: slot.index):
        yield f"{slot.name}: a mask also tests the entries that a sweep may still be adding to it"
    for line in plan.unread:
        yield f"line {line}: left out, because nothing reads the values that it computes"
    for number, block in enumerate(plan.blocks):
        yield f"block {number}:"
        for step in block.steps:
            yield f"  {describe_step(step)}"
        yield f"  {_describe_end(block.end)}"


def _representation(plan: Plan, slot: ir.Slot) -> str:
    if slot in plan.reduction_slots:
        return "a reduction of a matrix, computed before the loop"
    if slot in plan.measured:
        return "not stored, because only its number of entries is used"
    if slot not in plan.queued:
        return "a bitmap, because no step needs a list of its entries"
    text = "a bitmap with a queue of the entries that a product or a stack has listed"
    if slot in plan.pushing:
        text = "a bitmap with a queue, because a product can push its entries"
    if slot in plan.presets:
        text += "; its values are the identity where it has no entry"
    return text


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
        names = f"{step.product.u.name} into {step.out.name}"
        index = f"; the values of {step.product.u.name} are its indices"
        known = index if step.terms.reads_index else ""
        if step.terms.first_is_result:
            known += "; a pull stops at the first term, because the terms never decrease"
        return f"line {step.line}: push or pull {names}{mask}{known}"
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
    if isinstance(step, CountItem):
        return f"line {step.line}: find the number of entries of an item of {step.stack.name}"
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
