"""Choose which positions sweeps visit, and how they count entries.

A slot is full if it has an entry at each position. Only some slots have a queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from graphla.program import ir
from graphla.program.patterns import has_pattern_of, is_full, required, within
from graphla.program.plan_steps import (
    Compare,
    Domain,
    Element,
    Enqueue,
    Erase,
    Exchange,
    Fold,
    Load,
    Multiply,
    Save,
    ScatterInto,
    Step,
    Store,
    Sweep,
    targets,
)


def group_slots(slots: Iterable[ir.Slot], steps: Iterable[Any]) -> dict[ir.Slot, ir.Slot]:
    """Return a representative for each slot. Slots that exchange their contents share a
    representative."""
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


class Queues:
    """Finds the slots that have a queue. If slots exchange their contents, either all of them have
    a queue, or none."""

    def __init__(self, slots: tuple[ir.Slot, ...], blocks: list[list[Step]]) -> None:
        steps = [step for block in blocks for step in block]
        group = group_slots(slots, steps)
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


def find_full(blocks: list[list[Step]], program: ir.Program, inputs: Full) -> list[list[Full]]:
    """Return, for each step of each block, the slots that are full before the step.

    The list for a block has an additional last item: the slots that are full after the last step.
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


def _full_after(step: Step, full: Full) -> Full:
    """Return the slots that are full after a step."""
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


def choose_domains(
    steps: list[Step], full: list[Full], queued: Full, is_deterministic: bool
) -> Iterator[Step]:
    """Yield the steps, after choosing the domain of each sweep and how the sweep counts entries."""
    for step, known in zip(steps, full, strict=False):
        if isinstance(step, Sweep):
            yield _choose_domain(step, known, queued, is_deterministic)
        elif isinstance(step, Multiply):
            yield replace(step, full=known)
        else:
            yield step


def _choose_domain(sweep: Sweep, full: Full, queued: Full, is_deterministic: bool) -> Sweep:
    """Return a sweep of one part that visits only the entries of a vector, if other positions do
    not matter."""
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
    """Return the slots that limit a write: at a position where one of them has no entry, the write
    changes nothing."""
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
