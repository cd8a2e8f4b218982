"""Find out what expressions and masks read, and where they have entries."""

from __future__ import annotations

from typing import Any

from graphla.program import ir
from graphla.program.records import FIELDS, parts


def nodes(x: Any) -> list[Any]:
    """Return an instruction, an expression or a mask, with all its parts."""
    return parts(x, object)


def variables(x: Any) -> set[ir.Var]:
    """Return the scalar variables in an instruction or an expression."""
    return set(parts(x, ir.Var))


def gathers(x: Any) -> list[ir.Gather]:
    """Return the gathers in an instruction or an expression."""
    return parts(x, ir.Gather)


def own_slots(x: Any) -> set[ir.Slot]:
    """Return the slots that an entry-wise expression or a mask reads at its own position."""
    found = parts(x, (ir.Entry, ir.MaskOf, ir.Gather))
    return {each.indices if isinstance(each, ir.Gather) else each.slot for each in found}


def rename(x: Any, names: dict[ir.Slot, ir.Slot]) -> Any:
    """Return a copy of x, an expression, part or access, with slots replaced as `names` says."""
    if isinstance(x, ir.Slot):
        return names.get(x, x)
    if isinstance(x, (tuple, frozenset)):
        return type(x)([rename(each, names) for each in x])
    if type(x) not in FIELDS or isinstance(x, ir.Var):
        return x
    return type(x)(*[rename(getattr(x, name), names) for name in FIELDS[type(x)]])


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
    """Return whether the expression has an entry at each position, provided that the slots `full`
    have one at each position."""
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
    """Return whether the expression has entries at exactly the positions at which the slot has."""
    if isinstance(x, ir.Entry):
        return x.slot == slot
    if isinstance(x, (ir.Union, ir.UnionDefaults, ir.Intersection)):
        return has_pattern_of(x.x, slot) and has_pattern_of(x.y, slot)
    if isinstance(x, (ir.Cast, ir.Apply, ir.ApplyIndex, ir.ApplyLeft, ir.ApplyRight)):
        return has_pattern_of(x.x, slot)
    return False


def is_replaced(x: ir.Write) -> bool:
    """Return whether a write replaces its target, so that the target's old entries do not
    matter."""
    return x.accum is None and (x.mask is None or x.replace)


def reads_values(product: ir.Product) -> tuple[bool, bool]:
    """Return whether a product reads the values of the matrix, and whether it reads those of the
    vector."""
    op = product.semiring.binaryop
    return (op.reads_x, op.reads_y) if product.side == "mxv" else (op.reads_y, op.reads_x)
