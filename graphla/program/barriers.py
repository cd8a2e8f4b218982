"""Find out how each step accesses memory that threads share, and place barriers between conflicting
accesses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from graphla.program import ir
from graphla.program.patterns import (
    gathers,
    has_pattern_of,
    is_full,
    is_replaced,
    nodes,
    own_slots,
    rename,
)
from graphla.program.plan_steps import (
    Barrier,
    Combine,
    Compare,
    CountItem,
    Domain,
    Element,
    Enqueue,
    Erase,
    Exchange,
    Fold,
    Load,
    Multiply,
    Part,
    PlannedBlock,
    Save,
    ScatterInto,
    Step,
    Store,
    Sweep,
    Uniform,
    targets,
)
from graphla.program.records import record


@record
class Access:
    """A read or a write of a resource between two barriers.

    `mapping` determines which thread accesses which element: if two accesses have the same mapping,
    the same thread accesses an element in both. None means that the mapping is unknown.

    If `adds` is given, the access is a write that only adds entries. The sweep that writes visits
    exactly the positions at which the slot `adds` has entries.
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
"""The kinds of resources whose writes need not wait for readers of the old value. A new value is
written to other memory, and the old memory is reused only after another barrier."""


def accesses(step: Step) -> list[Access]:
    """Return the accesses of a step to memory that threads share."""
    if isinstance(step, Sweep):
        found = [each for part in step.parts for each in accesses_of_part(part, step.domain)]
        if step.clears:
            found = [replace(each, mapping=None) for each in found]
        over = step.domain.over
        if over is not None:
            line = found[0].line if found else 0
            found += (Access((name, over), False, None, line) for name in ("counts", "queue"))
        return found
    return _accesses[type(step)](step)


def accesses_of_part(part: Part, domain: Domain) -> Iterator[Access]:
    """Yield a part's accesses, except those by which the sweep finds the positions to visit."""
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
    """Return whether a store only adds entries to its target: one at each position where `slot` has
    an entry."""
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

    The dict maps each such slot to a slot m: the sweeps add entries only at the positions where m
    has entries. Slots whose values the product reads are omitted, and so are the slots in `moved`.
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
    """Return the accesses to a slot by a step that may write any part of the slot."""
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


def _count_item_accesses(step: CountItem) -> list[Access]:
    # Each thread knows where the last item begins and ends.
    is_last = isinstance(step.index, ir.Constant) and step.index.value == -1
    return [] if is_last else [Access(("stack", step.stack), False, None, step.line)]


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
    CountItem: _count_item_accesses,
    Barrier: lambda step: [],
}


# --- barriers -----------------------------------------------------------------------------------

Pending = frozenset[Access]
"""The accesses since the last barrier."""


@dataclass(slots=True)
class Separated:
    """The steps of a block with barriers between them, and the accesses after its last barrier."""

    steps: list[Step]
    pending: Pending
    growing: set[ir.Slot]


def find_barriers(separated: list[Separated]) -> list[list[int]]:
    """Return the places of the barriers in each block."""
    return [[k for k, x in enumerate(each.steps) if isinstance(x, Barrier)] for each in separated]


def separate(blocks: list[PlannedBlock]) -> list[Separated]:
    """Return the steps of each block with barriers between them.

    A block inherits the accesses since the last barrier from the ends of all blocks that precede
    it. When a block inherits more accesses than before, it may need other barriers, so it is
    processed again until nothing changes. The sets of inherited accesses only grow, so this
    terminates.
    """
    exchanges = (x for block in blocks for x in block.steps if isinstance(x, Exchange))
    moved = frozenset(slot for each in exchanges for slot in each.targets)
    accesses_of = [[(step, accesses(step)) for step in block.steps] for block in blocks]
    before: list[Pending] = [frozenset()] * len(blocks)
    found: dict[int, Separated] = {}
    changed = set(range(len(blocks)))
    while changed:
        number = changed.pop()
        block = blocks[number]
        found[number] = _separate_block(accesses_of[number], before[number], moved)
        for target in targets(block.end):
            if not found[number].pending <= before[target]:
                before[target] |= found[number].pending
                changed.add(target)
    return [found[number] for number in range(len(blocks))]


def _separate_block(
    steps: list[tuple[Step, list[Access]]], pending: Pending, moved: frozenset[ir.Slot]
) -> Separated:
    """Return the steps of a block with barriers, given the accesses since the last barrier.

    Each step is given together with its accesses.
    """
    found = Separated([], pending, set())
    for step, known in steps:
        if isinstance(step, Exchange):
            names = dict(zip(step.sources, step.targets, strict=True))
            found.pending = rename(found.pending, names)
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
    """Return a sort key for the reasons for a barrier. The simplest reason comes first: a step
    reads what an earlier step has written."""
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
