"""Find out at which indices an expression has entries, and what an expression reads.

A cover of an expression is a set of at most two slots. Wherever the expression has an entry, at
least one of these slots has one. The functions `find_covers...` return lists of alternative covers.
An empty list means that no cover is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from graphla.program import ir
from semirings.dtypes import DataType


@dataclass(frozen=True, slots=True)
class Choose:
    """The entries of `chosen` at the indices where `flags` has entries, and those of `other` at all
    other indices."""

    flags: ir.Slot
    chosen: ir.Slot
    other: ir.Slot
    dtype: DataType


@dataclass(frozen=True, slots=True)
class Update:
    """A write that reads each slot only at the index that it writes: see `ir.Write`."""

    target: ir.Slot
    mask: ir.Mask | None
    accum: Any
    replace: bool
    source: Any
    line: int


def find_covers(x: Any) -> list[frozenset[int]]:
    """Return the covers of an expression."""
    if isinstance(x, ir.Entry):
        return [frozenset((x.slot.index,))]
    if isinstance(x, ir.Empty):
        return [frozenset()]
    if isinstance(x, (ir.Union, ir.UnionDefaults)):
        return _join(find_covers(x.x), find_covers(x.y))
    if isinstance(x, ir.Intersection):
        return find_covers(x.x) + find_covers(x.y)
    if isinstance(x, ir.Restrict):
        return find_covers(x.x) + find_covers_of_mask(x.mask)
    if isinstance(x, (ir.Full, ir.Gather, ir.Product, ir.MatrixReduction)):
        return []
    if isinstance(x, Choose):
        return [frozenset((x.flags.index, x.other.index))]
    return find_covers(x.x)


def find_covers_of_updates(writes: Iterable[Update]) -> list[frozenset[int]] | None:
    """Return the covers of the set of indices at which updates change their targets.

    Only covers in which at most one slot is a target of an update are returned. If each update has
    covers, but there is no such cover of all updates together, return None.
    """
    covers: list[frozenset[int]] | None = None
    targets = set()
    for x in writes:
        own = [frozenset((x.target.index,))]
        targets.add(x.target.index)
        allowed = [] if x.mask is None else find_covers_of_mask(x.mask)
        cover = find_covers(x.source) + allowed
        if x.accum is None:
            cover = _join(cover, own + allowed)
        if x.replace and x.mask is not None:
            cover = _join(cover, own)
        joined = cover if covers is None else _join(covers, cover)
        if covers and cover and not joined:
            return None
        covers = joined
    usable = [cover for cover in covers or [] if len(cover & targets) < 2]
    return None if covers and not usable else usable


def find_operands(x: Any) -> list[tuple[ir.Scalar, DataType]]:
    """Return the scalars in an expression, and the dtypes to which they are cast."""
    found = [
        pair for name in ("x", "y") if hasattr(x, name) for pair in find_operands(getattr(x, name))
    ]
    if isinstance(x, ir.Full):
        found.append((x.value, x.dtype))
    elif isinstance(x, (ir.ApplyIndex, ir.Select)):
        found.append((x.thunk, x.op.thunk_type))
    elif isinstance(x, ir.ApplyLeft):
        found.append((x.scalar, x.op.type))
    elif isinstance(x, ir.ApplyRight):
        found.append((x.scalar, x.op.type2))
    elif isinstance(x, ir.UnionDefaults):
        found += [(x.left, x.op.type), (x.right, x.op.type2)]
    return found


def find_covers_of_mask(mask: ir.Mask) -> list[frozenset[int]]:
    """Return the covers of the indices that a mask allows."""
    if isinstance(mask, ir.MaskOf):
        return [frozenset((mask.slot.index,))]
    if isinstance(mask, ir.NotMask):
        return []
    left, right = find_covers_of_mask(mask.left), find_covers_of_mask(mask.right)
    return left + right if isinstance(mask, ir.AndMask) else _join(left, right)


def _join(left: list[frozenset[int]], right: list[frozenset[int]]) -> list[frozenset[int]]:
    """Compute the covers of the union of two expressions from the covers of each expression."""
    return [x | y for x in left for y in right if len(x | y) <= 2]


def find_dim(x: Any) -> ir.Dim:
    """Return the dimension of an expression, which must contain a slot."""
    if isinstance(x, ir.Gather):
        return x.indices.dim
    if isinstance(x, ir.Entry):
        return x.slot.dim
    parts = [getattr(x, name) for name in ("x", "y") if hasattr(x, name)]
    return next(find_dim(part) for part in parts if not isinstance(part, (ir.Full, ir.Empty)))


def find_gathers(x: Any) -> list[ir.Gather]:
    """Return the gathers in an expression."""
    if isinstance(x, ir.Gather):
        return [x]
    return [g for name in ("x", "y") if hasattr(x, name) for g in find_gathers(getattr(x, name))]
