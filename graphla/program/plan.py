"""Plan a compiled loop for many threads: fuse statements, and place the barriers between them.

A plan divides each block of a program into steps. A *sweep* visits each position of a vector, and
runs all of its parts there. A *multiply* step computes a product. Between two barriers, threads run
the steps at their own speed. So a barrier must separate two steps if a thread may read or write an
element that another thread writes in the other step. Two sweeps with the same domain assign each
position to the same thread. So they need no barrier for elements that they access only at the
visited position.

A product may test a mask while a sweep is still adding entries to a vector that the mask reads.
Suppose that the sweep adds entries exactly at the positions where a vector m has entries. Then the
product tests m as well, and the result of the test is the same before and after the sweep adds an
entry.

A plan has *spare* slots, in addition to the program's slots. A product is computed in a spare slot,
because it may read its target at any position. If the product replaces the whole target, an
exchange of the two slots follows.

Invariant: a spare slot for products is empty, except between a multiply step and the part `Erase`
that follows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from graphla.program import ir
from graphla.program.barriers import find_barriers, separate
from graphla.program.domains import Queues, choose_domains, find_full
from graphla.program.fusion import fuse, only_erases
from graphla.program.lowering import Lowering
from graphla.program.plan_steps import Plan, PlannedBlock, Sweep, Terms
from graphla.program.value_order import find_terms, without_unread


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
    full, terms = frozenset(full_inputs), find_terms(program)
    needed = without_unread(program, terms)
    found = [_Planning(needed, terms, full, is_deterministic, rotates) for rotates in (False, True)]
    chosen = min(found, key=_Planning.count_barriers)  # the first one if the numbers are equal
    lines = [each.line for one in program.blocks for each in one.instructions]
    for one in needed.blocks:
        for each in one.instructions:
            lines.remove(each.line)
    return replace(chosen.plan(needed), unread=tuple(dict.fromkeys(lines)))


class _Planning:
    """The steps of a program, and where barriers must separate them."""

    def __init__(
        self,
        program: ir.Program,
        terms: Mapping[int, Terms],
        full_inputs: frozenset[ir.Slot],
        is_deterministic: bool,
        rotates: bool,
    ) -> None:
        self.lowered = Lowering(program, terms, rotates)
        blocks = [self.lowered.block(block) for block in program.blocks]
        self.slots = (*program.slots, *self.lowered.spares)
        self.queues = Queues(self.slots, blocks)
        before = find_full(blocks, program, full_inputs)
        self.blocks = []
        for steps, block, full in zip(blocks, program.blocks, before, strict=True):
            chosen = list(choose_domains(steps, full, self.queues.queued, is_deterministic))
            self.blocks.append(PlannedBlock(fuse(chosen), block.end))
        self.separated = separate(self.blocks)

    def count_barriers(self) -> int:
        """Return the number of barriers."""
        return sum(map(len, find_barriers(self.separated)))

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
            presets=self.lowered.presets,
            measured=self.lowered.measured,
            growing=frozenset(slot for each in self.separated for slot in each.growing),
        )

    def _choose_clears(self) -> None:
        """If a sweep only erases entries, let it clear whole vectors instead. Do this only if the
        barriers do not change.

        First try this for all such sweeps together, because that nearly always succeeds; if it
        fails, try it for each sweep separately.
        """
        sweeps = [
            step
            for block in self.blocks
            for step in block.steps
            if isinstance(step, Sweep)
            and only_erases(step)
            and self.lowered.presets.keys().isdisjoint(part.slot for part in step.parts)  # pyright: ignore[reportAttributeAccessIssue]
        ]
        places = find_barriers(self.separated)
        for some in [sweeps, *([each] for each in sweeps)] if sweeps else []:
            for each in some:
                each.clears = True
            separated = separate(self.blocks)
            if find_barriers(separated) == places:
                self.separated = separated
                if some is sweeps:
                    return
            else:
                for each in some:
                    each.clears = False
