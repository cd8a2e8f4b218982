"""Find out how the values of a vector are ordered by index, and which values no instruction reads.

A product combines the terms of an output in the order of the indices of its vector. If the terms
never decrease in this order, the first term is the smallest, and a pull that computes a minimum
stops there. If each value of the vector is its own index, the product need not read the values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import IntEnum
from typing import Any

import numpy as np

from graphla.compilers.cuda_ops import order_of
from graphla.program import ir
from graphla.program.faults import may_fault
from graphla.program.patterns import has_pattern_of, is_replaced, nodes, reads_values
from graphla.program.plan_steps import Terms, targets
from semirings.dtypes import BOOL, INT32, DataType
from semirings.primitives import Node


class Order(IntEnum):
    """How the values of an expression are ordered by an index."""

    UNKNOWN = 0
    NONDECREASING = 1  # the values never decrease
    INDEX = 2  # each value is the index
    CONSTANT = 3  # all values are equal
    ZERO = 4  # all values are 0
    EMPTY = 5  # there are no values


INDICES = {"i", "j", "ix", "jx", "iy", "jy"}
"""The names of those arguments of an operator that are indices. Indices fit in INT32."""

Known = dict[ir.Slot, Order]
"""How the values of some slots are ordered by index."""


def find_terms(program: ir.Program) -> dict[int, Terms]:
    """Return what is known about the product in each Write, by the `id` of the Write.

    If the same instruction occurs at several places, the result is valid at all these places.
    """
    before: list[Known | None] = [None] * len(program.blocks)
    # All slots except the inputs are empty at the start.
    others = set(program.slots) - set(program.inputs)
    before[0] = dict.fromkeys(others, Order.EMPTY)
    changed = [0]
    while changed:
        number = changed.pop()
        known = before[number]
        assert known is not None
        for each in program.blocks[number].instructions:
            known = _known_after(each, known)
        for target in targets(program.blocks[number].end):
            there = before[target]
            joined = known if there is None else _join(known, there)
            if joined != there:
                before[target] = joined
                changed.append(target)
    found: dict[int, Terms] = {}
    for block, start in zip(program.blocks, before, strict=True):
        known = start or {}
        for each in block.instructions:
            if isinstance(each, ir.Write) and isinstance(each.source, ir.Product):
                terms = _terms_of(each.source, known)
                other = found.get(id(each), terms)
                found[id(each)] = Terms(
                    terms.first_is_result and other.first_is_result,
                    terms.reads_index and other.reads_index,
                )
            known = _known_after(each, known)
    return found


def _join(one: Known, other: Known) -> Known:
    """Return what is known about each slot at a point where two paths meet. `one` and `other` are
    the orders on these paths."""
    return {slot: _either(one[slot], other[slot]) for slot in one.keys() & other.keys()}


def _either(one: Order, other: Order) -> Order:
    """Return the order of values that have either the order `one` or the order `other`."""
    if one is other:
        return one
    both = {one, other}
    if Order.EMPTY in both:
        return min(both)
    if both == {Order.CONSTANT, Order.ZERO}:
        return Order.CONSTANT
    return Order.UNKNOWN if Order.UNKNOWN in both else Order.NONDECREASING


def _terms_of(x: ir.Product, known: Known) -> Terms:
    ring: Any = x.semiring
    adds, op = ring.monoid, ring.binaryop
    value = known.get(x.u, Order.UNKNOWN)
    reads_index = value is Order.INDEX
    if adds.is_any or adds.type is BOOL or order_of(adds) == 0:
        return Terms(False, reads_index)
    # The terms of an output are ordered by column for "mxv", and by row for "vxm".
    given = {"jx": Order.INDEX, "iy": Order.INDEX}
    if x.side == "mxv":
        given |= {"y": _cast(value, x.u.dtype, op.type2), "ix": Order.CONSTANT, "jy": Order.ZERO}
    else:
        given |= {"x": _cast(value, x.u.dtype, op.type), "ix": Order.ZERO, "jy": Order.CONSTANT}
    order = _cast(_order_of_operator(op.expression, given), op.return_type, adds.type)
    first_is_result = order >= (Order.NONDECREASING if order_of(adds) == 1 else Order.CONSTANT)
    return Terms(first_is_result, reads_index)


def _known_after(x: ir.Instruction, known: Known) -> Known:
    """Return how the values of slots are ordered after an instruction."""
    if isinstance(x, ir.Write):
        found = Order.UNKNOWN
        if is_replaced(x):
            found = _order_of_entries(x.source, known, x.target.dtype)
        return {**known, x.target: found}
    if isinstance(x, ir.Clear):
        return {**known, x.slot: Order.EMPTY}
    if isinstance(x, ir.Move):
        pairs = zip(x.targets, x.sources, strict=True)
        return known | {target: known.get(source, Order.UNKNOWN) for target, source in pairs}
    if isinstance(x, (ir.Scatter, ir.SetElement)):
        return {**known, x.target: Order.UNKNOWN}
    if isinstance(x, (ir.Pop, ir.Peek)):
        return {**known, x.slot: Order.UNKNOWN}
    return known


def _order_of_entries(x: ir.VectorExpression, known: Known, dtype: DataType) -> Order:
    """Return the order of the entries of an expression that is converted to a dtype."""
    found = Order.UNKNOWN
    if isinstance(x, ir.Full):
        found = Order.CONSTANT
    elif isinstance(x, ir.Empty):
        found = Order.EMPTY
    elif isinstance(x, ir.Entry):
        return _cast(known.get(x.slot, Order.UNKNOWN), x.slot.dtype, dtype)
    elif isinstance(x, (ir.Restrict, ir.Select, ir.Cast)):
        found = _order_of_entries(x.x, known, x.dtype)
    elif isinstance(x, (ir.Apply, ir.ApplyIndex)):
        given = {"i": Order.INDEX, "j": Order.ZERO, "x": _order_of_entries(x.x, known, x.op.type)}
        thunk = getattr(x, "thunk", None)
        if isinstance(thunk, ir.Constant):
            given["thunk"] = Order.CONSTANT if thunk.value else Order.ZERO
        found = _cast(_order_of_operator(x.op.expression, given), x.op.return_type, x.dtype)
    return _cast(found, getattr(x, "dtype", dtype), dtype)


def _order_of_operator(x: Node, known: Mapping[str, Order]) -> Order:
    """Return the order of an operator's results, given the orders of its arguments."""
    name = getattr(x.operation, "name", x.operation)
    if name == "argument":
        return known.get(x.value, Order.UNKNOWN)
    if name == "constant":
        return Order.CONSTANT if x.value else Order.ZERO
    given = [_order_of_operator(each, known) for each in x.arguments]
    if all(each >= Order.CONSTANT for each in given):
        return Order.CONSTANT
    if name == "cast":
        return _cast(given[0], x.arguments[0].dtype, x.dtype)
    if name == "add" and Order.ZERO in given and x.dtype is not BOOL:
        return max(each for each in given if each is not Order.ZERO)
    return Order.UNKNOWN


def _cast(order: Order, before: DataType, after: DataType) -> Order:
    """Return the order of values that are converted to another dtype."""
    if order is Order.INDEX:
        before = INT32  # all indices fit into INT32
    if order in (Order.NONDECREASING, Order.INDEX):
        is_exact = np.can_cast(before.np_type, after.np_type, "safe")
        return order if is_exact else Order.UNKNOWN
    return order


# --- removing values that are not read ------------------------------------------------------------

Live = frozenset[ir.Slot]
"""The slots whose values an instruction may still read."""


def without_unread(program: ir.Program, terms: Mapping[int, Terms]) -> ir.Program:
    """Return the program without the writes that change nothing except values that no instruction
    reads.

    `terms` is the result of `find_terms`.
    """
    every = frozenset(program.slots)
    before: list[Live] = [frozenset()] * len(program.blocks)

    def live_after(block: ir.Block) -> Live:
        if isinstance(block.end, ir.Exit) or may_fault(block.end):  # pyright: ignore[reportArgumentType]
            return every
        return frozenset().union(*(before[target] for target in targets(block.end)))

    changed = True
    while changed:
        changed = False
        for number, block in enumerate(program.blocks):
            live = live_after(block)
            for each in reversed(block.instructions):
                live = _live_before(each, live, every, terms)
            if live != before[number]:
                before[number], changed = live, True
    blocks = []
    for block in program.blocks:
        live, kept = live_after(block), []
        for each in reversed(block.instructions):
            if not _is_unread(each, live):
                kept.append(each)
                live = _live_before(each, live, every, terms)
        blocks.append(ir.Block(kept[::-1], block.end))
    return replace(program, blocks=blocks)


def _is_unread(x: ir.Instruction, live: Live) -> bool:
    """Return whether a write changes only values that no instruction reads. Such a write neither
    adds nor deletes entries."""
    if not isinstance(x, ir.Write) or x.mask is not None or x.accum is not None:
        return False
    return x.target not in live and has_pattern_of(x.source, x.target) and not may_fault(x)


def _live_before(x: ir.Instruction, live: Live, every: Live, terms: Mapping[int, Terms]) -> Live:
    """Return the slots whose values this instruction or a later one reads.

    A program that ends with a fault returns all vectors.
    """
    if may_fault(x) or isinstance(x, ir.Append):
        return every
    if isinstance(x, ir.Count):
        return live
    if isinstance(x, ir.Clear):
        return live - {x.slot}
    if isinstance(x, ir.Move):
        names = dict(zip(x.targets, x.sources, strict=True))
        return frozenset(names.get(slot, slot) for slot in live)
    read = _values_read(x)
    if isinstance(x, ir.Write):
        if is_replaced(x):
            live -= {x.target}
        else:
            read.add(x.target)
        if isinstance(x.source, ir.Product) and (
            terms[id(x)].reads_index or not reads_values(x.source)[1]
        ):
            read = (read - {x.source.u}) | _values_read(x.mask)
    return live | read


def _values_read(x: Any) -> set[ir.Slot]:
    """Return the slots whose values may affect an instruction, an expression or a mask."""
    found: set[ir.Slot] = set()
    for each in nodes(x):
        if isinstance(each, (ir.Entry, ir.Product)):
            found.add(each.slot if isinstance(each, ir.Entry) else each.u)
        elif isinstance(each, ir.MaskOf) and each.by_value:
            found.add(each.slot)
        elif isinstance(each, ir.Gather):
            found |= {each.slot, each.indices}
        elif isinstance(each, ir.IsEqual):
            found |= {each.left, each.right}
    return found
