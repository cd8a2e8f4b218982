"""Divide the instructions of a block into steps: sweeps, products and others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from graphla.program import ir
from graphla.program.domains import group_slots
from graphla.program.faults import may_fault
from graphla.program.patterns import dim_of, gathers, is_replaced, required, variables
from graphla.program.plan_steps import (
    Check,
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
    Save,
    ScatterInto,
    Step,
    Store,
    Sweep,
    Terms,
    Uniform,
    results,
)
from graphla.program.records import parts
from semirings import binary, monoid
from semirings.dtypes import BOOL, DataType
from semirings.structures import TypedSemiring

ALTERNATING = 2
"""The number of spare slots for products with the same dtype and dimension. Products use them
alternately, so that a product need not wait until the slot of the previous product has been
emptied."""


class Lowering:
    """Divides instructions into steps. Each sweep has one part and visits all positions."""

    def __init__(self, program: ir.Program, terms: Mapping[int, Terms], rotates: bool) -> None:
        self.program = program
        self._rotates = rotates  # whether products alternate between two spare slots
        self.spares: list[ir.Slot] = []
        self.presets: dict[ir.Slot, Any] = {}  # see `Plan.presets`
        self.reductions: dict[ir.MatrixReduction, ir.Slot] = {}
        self.folds = self.products = self.saves = 0
        self._kept: dict[Any, list[ir.Slot]] = defaultdict(list)
        self._turns: dict[Any, int] = defaultdict(int)
        self._groups = group_slots(
            program.slots,
            (each for block in program.blocks for each in block.instructions),
        )
        self._listed = {self._groups[slot] for slot in _listed_slots(program)}
        # Maps a group of slots to a monoid. Where such a slot has no entry, its value is the
        # identity of the monoid.
        self._monoids = find_identities(program, self._groups)
        for slot, group in self._groups.items():
            if group in self._monoids:
                self.presets[slot] = self._monoids[group]
        self.measured = _measured_slots(program)
        self._terms = terms
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
        """Emit the steps that combine the partial results of folds. If `used` is given, emit them
        only for the folds that assign one of these variables."""
        for combine in tuple(self._waiting):
            if used is None or not used.isdisjoint(results(combine.source)):
                self._steps.append(combine)
                self._waiting.remove(combine)

    def _sweep(self, dim: ir.Dim, part: Any) -> None:
        self._steps.append(Sweep(Domain(dim), [part]))

    def _spare(self, name: str, dtype: DataType, dim: ir.Dim, purpose: Any) -> ir.Slot:
        """Return a spare slot. Slots with the same dtype, dimension and purpose are used
        round-robin."""
        key = dtype, dim, purpose
        kept = self._kept[key]
        turn = self._turns[key]
        self._turns[key] = (turn + 1) % ALTERNATING
        if turn == len(kept):
            index = len(self.program.slots) + len(self.spares)
            kept.append(ir.Slot(index, f"{name}_{index}", dtype, dim))
            self.spares.append(kept[-1])
            if purpose in self._monoids:
                self.presets[kept[-1]] = self._monoids[purpose]
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
        if is_replaced(x):
            product = _cast_terms(product, x.target.dtype)
        is_whole = is_replaced(x) and product.dtype is x.target.dtype
        adds = product.semiring.monoid
        # Without a mask, a product usually pulls, and preset values would save nothing.
        is_preset = not is_whole and x.mask is not None and not adds.is_any
        purpose = self._groups[x.target] if is_whole else ("T", adds) if is_preset else "T"
        out = self._spare("product", product.dtype, x.target.dim, purpose)
        if is_preset:
            self.presets[out] = adds
        terms = self._terms[id(x)]
        self._steps.append(Multiply(product, x.mask, out, x.line, self.products, terms=terms))
        self.products += 1
        if is_whole and self._rotates:
            # With a third slot, the next product need not wait until the old entries of the target
            # are erased.
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

        If so, the write goes to an empty slot, and needs to visit only these positions.
        """
        if x.mask is None or not is_replaced(x):
            return False
        return any(self._groups[slot] in self._listed for slot in required(x.mask) - {x.target})

    def _check(self, x: Any, line: int) -> None:
        """For each gather in x, check the slot of its indices, if it has changed since the last
        check."""
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
        """Lower a scatter: scatter the values into a spare slot, and write this slot into the
        target."""
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
        index = x.index if isinstance(x, ir.Peek) else None
        if x.slot in self.measured:
            self._steps.append(CountItem(x.stack, index, x.slot, x.line))
            return
        out = self._spare("popped", x.slot.dtype, x.slot.dim, self._groups[x.slot])
        self._steps.append(Load(x.stack, index, out, x.line))
        self._steps.append(Exchange((x.slot, out), (out, x.slot), x.line))
        self._sweep(out.dim, Erase(out, x.line))
        self._change(x.slot)


_lower: dict[type, Any] = {
    ir.Let: Lowering.uniform,
    ir.Count: Lowering.uniform,
    ir.ReadElement: Lowering.uniform,
    ir.Length: Lowering.uniform,
    ir.ClearStack: Lowering.uniform,
    ir.Fault: Lowering.uniform,
    ir.Reduce: Lowering.fold,
    ir.IsEqual: Lowering.compare,
    ir.Write: Lowering.write,
    ir.Scatter: Lowering.scatter,
    ir.SetElement: Lowering.element,
    ir.DeleteElement: Lowering.element,
    ir.Clear: Lowering.clear,
    ir.Move: Lowering.move,
    ir.Append: Lowering.append,
    ir.Pop: Lowering.load,
    ir.Peek: Lowering.load,
}


def _cast_terms(product: ir.Product, dtype: DataType) -> ir.Product:
    """Return the product with results of the given dtype, if this conversion changes no value;
    otherwise return the product unchanged.

    The monoid ANY takes one of the terms, so it does not matter whether terms or results are cast.
    """
    ring: Any = product.semiring
    if not ring.monoid.is_any or ring.binaryop.return_type is not ring.monoid.type:
        return product
    ring = TypedSemiring(ring.semiring, monoid.any[dtype], ring.binaryop)
    return replace(product, semiring=ring, dtype=dtype)


def find_identities(program: ir.Program, groups: dict[ir.Slot, ir.Slot]) -> dict[ir.Slot, Any]:
    """Return, for each group of slots, the monoid of the masked products that replace these slots.

    Slots that exchange their contents form a group, which is represented by its first slot. Where
    these slots have no entry, their values are the identity of the monoid (see `Plan.presets`). A
    group is left out if its products use two monoids, if one of these products has no mask, or if a
    statement may leave another value where there is no entry.
    """
    found: dict[ir.Slot, Any] = {}
    excluded: set[ir.Slot] = set()
    for each in (each for block in program.blocks for each in block.instructions):
        if isinstance(each, (ir.Scatter, ir.DeleteElement)):
            excluded.add(groups[each.target])
        if not isinstance(each, ir.Write):
            continue
        group, product = groups[each.target], each.source
        if any(groups[gather.slot] == group for gather in gathers(product)):
            excluded.add(group)
        if not isinstance(product, ir.Product) or not is_replaced(each):
            continue
        ring: Any = product.semiring
        if ring.monoid.is_any or product.dtype is not each.target.dtype:
            continue
        # Without a mask, a product usually pulls, and preset values would save nothing.
        if each.mask is None or found.setdefault(group, ring.monoid) is not ring.monoid:
            excluded.add(group)
    return {group: each for group, each in found.items() if group not in excluded}


def _measured_slots(program: ir.Program) -> frozenset[ir.Slot]:
    """Return the slots that receive only items of stacks, and of which the program uses only the
    number of entries.

    There must be no append between storing such an item and counting its entries, because the
    program may leave the kernel at an append.
    """
    found: set[ir.Slot] = set()
    others = set(program.inputs)
    for each in program.exits:
        others.update(parts(tuple(each.names.values()), ir.Slot))
    for block in program.blocks:
        items: set[ir.Slot] = set()  # the slots that received an item in this block
        for each in block.instructions:
            if isinstance(each, (ir.Pop, ir.Peek)):
                items.add(each.slot)
                found.add(each.slot)
            elif not isinstance(each, ir.Count) or each.slot not in items:
                others.update(parts(each, ir.Slot))
            if isinstance(each, ir.Append):
                items.clear()
    return frozenset(found - others)


def _listed_slots(program: ir.Program) -> Iterator[ir.Slot]:
    """Yield the slots that receive a queue of entries from a product or from an item of a stack."""
    for block in program.blocks:
        for each in block.instructions:
            if isinstance(each, (ir.Pop, ir.Peek)):
                yield each.slot
            if not isinstance(each, ir.Write):
                continue
            if isinstance(each.source, ir.Product) and is_replaced(each):
                yield each.target
