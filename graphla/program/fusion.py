"""Join neighboring sweeps, so that each position is visited once for several statements."""

from __future__ import annotations

from typing import Any

from graphla.program import ir
from graphla.program.barriers import RENEWED, Access, accesses, accesses_of_part
from graphla.program.faults import has_fault, has_misfit, may_fault
from graphla.program.patterns import nodes, rename, variables
from graphla.program.plan_steps import (
    Check,
    Combine,
    CountItem,
    Domain,
    Element,
    Erase,
    Exchange,
    Fold,
    Load,
    Part,
    Save,
    ScatterInto,
    Step,
    Store,
    Sweep,
    Uniform,
    results,
)
from semirings.dtypes import UINT64


def fuse(steps: list[Step]) -> list[Step]:
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
    """Find an earlier sweep that `sweep` can join. Return the earlier sweep and the only part of
    `sweep`, or None if there is no such sweep.

    If the part moves to a place before an exchange of slots, its slots are replaced by the slots
    that contain the same vectors at that place.
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
            sweep = Sweep(domain, [rename(part, names)])
        elif not _may_pass(step, accesses(sweep), used):
            return None
    return None


def _may_end(sweep: Sweep) -> bool:
    """Return whether the evaluation of the sweep's scalars may end the program."""
    scalars = [_scalars_of(part) for part in sweep.parts]
    return any(map(has_misfit, scalars)) or any(
        has_fault(x) for each in scalars for x in nodes(each)
    )


def only_erases(sweep: Sweep) -> bool:
    """Return whether all parts of a sweep erase entries."""
    return all(isinstance(part, Erase) for part in sweep.parts)


def _has_check(sweep: Sweep) -> bool:
    return any(isinstance(part, Check) for part in sweep.parts)


def _scalars_of(part: Part) -> Any:
    if isinstance(part, Store):
        return (part.write.source, part.write.mask)
    return part.reduce.source if isinstance(part, Fold) else ()


def _joint_domain(sweep: Sweep, other: Sweep) -> Domain | None:
    """Return the domain of one sweep with the parts of both sweeps, or None if they cannot be
    joined."""
    domain, there = sweep.domain, other.domain
    if domain.dim != there.dim:
        return None
    stores = (part for part in sweep.parts if isinstance(part, Store))
    if any(part.is_sparse and part.into == there.over for part in stores):
        there = domain  # `sweep` itself writes all entries of the slot `there.over`
    if domain != there:
        # A joint sweep over all positions costs less than a barrier between two sweeps. If one of
        # the sweeps visits all positions anyway, it also erases entries at a lower cost than a
        # separate sweep.
        is_dense = domain.over is None or there.over is None
        is_erased = domain.over is None and only_erases(other)
        pairs = ((a, b) for a in accesses(sweep) for b in accesses(other))
        if not is_dense or not (is_erased or any(a.conflicts(b) for a, b in pairs)):
            return None
        domain = Domain(domain.dim)
    # The joint sweep finds its positions before any part runs, and visits all remaining entries of
    # `domain.over`. So finding the positions of `other` needs no further memory accesses.
    before = accesses(Sweep(domain, sweep.parts))
    after = [each for part in other.parts for each in accesses_of_part(part, domain)]
    pairs = ((a, b) for a in before for b in after)
    is_wrong = any(a.conflicts(b) and not _is_harmless(a, b) for a, b in pairs)
    return None if is_wrong else domain


def _is_harmless(a: Access, b: Access) -> bool:
    """Return whether one sweep may contain both accesses, although different threads may access the
    same element."""
    # A sweep reads the counts of slots to choose its positions, before any part writes new counts.
    # If both accesses write the count of a slot, the sweep still writes this count only once.
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
    if isinstance(step, (Save, Load, CountItem, Element, ScatterInto)):
        return False
    if isinstance(step, Sweep) and (_has_check(step) or _may_end(step)):
        return False
    return _are_apart(accesses(step), ours)


def _are_apart(theirs: list[Access], ours: list[Access]) -> bool:
    pairs = ((a, b) for a in theirs for b in ours)
    return not any(a.resource == b.resource and (a.writes or b.writes) for a, b in pairs)
