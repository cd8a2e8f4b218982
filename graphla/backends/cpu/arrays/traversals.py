"""Whole traversals in NumPy: a loop of products, each over all that one level or round reaches.

For machines without Numba, for `config.compiled = False`, for semirings that have no loop form, and
as what the compiled loops (`backends/compiled/traversals`) are tested against.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from graphla.backends.cpu.bfs import bfs
from graphla.backends.cpu.convert import to_bitmap
from graphla.backends.cpu.folding import fold_runs
from graphla.backends.cpu.layout import cast_values, ranges, sort_order
from graphla.backends.cpu.masks import allowed_vertices
from graphla.backends.cpu.reduce import reduce_numpy
from graphla.backends.cpu.terms import multiply
from graphla.backends.requests import Level, Search
from graphla.backends.traversals import Closed, How
from graphla.formats import AnyVector, Array, BitmapVector, Csr, VectorMask
from semirings.overflow import overflowing
from semirings.structures import TypedSemiring

UNREACHED = {1: 255, 4: -1}
"""The level of what is not reached, by the bytes of a level."""
AHEAD = 16.0
"""Delta in mean weights: wide, as a round costs some 100 microseconds however few its entries."""
SAMPLE = 4096
"""Values of a matrix looked at to choose a delta."""
CYCLE_CHECK = 4
"""A cycle of parents is looked for each time so many times the matrix's entries were multiplied."""


def levels_of_many(
    out: Csr,
    into: Csr | None,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int,
    levels: np.dtype[Any],
) -> Array:
    """One row of levels for each start, -1 (255 in a byte) where it does not reach: one by one."""
    table = np.full((starts.size, out.nrows), UNREACHED[levels.itemsize], levels)
    for row, start in zip(table, starts.reshape(-1, 1), strict=True):
        tree = bfs(Search(out, into, start, mask=mask, limit=limit, levels=levels))
        row[tree.present] = tree.levels[tree.present]  # pyright: ignore[reportOptionalSubscript]
    return table


# --- closure ------------------------------------------------------------------------------------


def closure(
    out: Csr,
    x: AnyVector,
    semiring: TypedSemiring,
    *,
    how: How,
    mask: VectorMask | None,
    limit: int,
    parents: bool,
    delta: float | None,
    turns: int,
    traced: bool,
) -> Closed:
    """x = x ⊕ x.A until nothing changes: each round multiplies what changed in an earlier one.

    An entry that stays as it was gives a term that is in x already, and ⊕ is idempotent: so a round
    is the whole product's, whatever ⊗ is. Under `near_far` only the entries within delta of the
    best are multiplied, as their order does not matter there.
    """
    n, monoid = out.nrows, semiring.monoid
    start = to_bitmap(x)
    present = start.present.copy()
    values = cast_values(start.values, monoid.type.np_type).copy()
    parent = np.arange(n, dtype=np.int32)
    open_to = None if mask is None else allowed_vertices(mask)
    pending = present.nonzero()[0].astype(np.int32)
    if how == "near_far" and delta is None:
        delta = AHEAD * mean_of(out.values)
    depth, made, trace, overflowed, settled = 0, 0, [], False, True
    while pending.size and depth < limit:
        if depth == turns or (made > CYCLE_CHECK * (n + out.nvals) and has_cycle(parent)):
            settled = False
            break
        made = 0 if made > CYCLE_CHECK * (n + out.nvals) else made
        begin = perf_counter()
        frontier, later = pending, pending[:0]
        if how == "near_far" and delta is not None:
            near = _near(values[pending], monoid, delta)
            frontier, later = pending[near], pending[~near]
        edges, found, total, by, over = _product(out, frontier, values, semiring, open_to)
        overflowed |= over
        was = present[found]
        both = cast_values(monoid.binaryop.numpy(values[found], total), values.dtype)
        total = np.where(was, both, total)
        changed = ~was | ~_same(total, values[found])
        found = found[changed]
        values[found], present[found], parent[found] = total[changed], True, by[changed]
        pending = np.union1d(later, found).astype(np.int32) if later.size else found
        depth += 1
        made += edges
        if traced:
            trace.append(Level("push", frontier.size, edges, perf_counter() - begin))
    result = BitmapVector(n, present, values, int(np.count_nonzero(present)))
    given = parent if parents or not settled else None
    return Closed(result, given, depth, trace, overflowed, settled)


def _product(
    out: Csr, frontier: Array, values: Array, semiring: TypedSemiring, open_to: Array | None
) -> tuple[int, Array, Array, Array, bool]:
    """How many edges leave the frontier; which vertices they reach, with what, and from where.

    At last whether some term overflowed, which is then left out.

    The terms of a vertex are folded in order of their vertices, and `where` is the first of those
    whose term is the fold; where no term is, any of them.
    """
    starts = out.indptr[frontier]
    counts = out.indptr[frontier + 1] - starts
    edges = int(counts.sum())
    places = ranges(starts, counts, edges)
    outputs = out.indices[places]
    k = frontier.repeat(counts)
    if open_to is not None:
        kept = open_to[outputs]
        outputs, places, k = outputs[kept], places[kept], k[kept]
    keys, order = sort_order(outputs, out.ncols)
    places, k = places[order], k[order]
    u, a = values[k], out.values[places]
    terms = multiply(
        semiring,
        k.size,
        (u, lambda: u),
        (a, lambda: a),
        lambda: np.int64(0),
        lambda: k,
        lambda: keys,
    )
    fits_not = overflowing(semiring.binaryop)
    over = False
    if fits_not is not None and k.size:
        op = semiring.binaryop
        operands = cast_values(u, op.type.np_type), cast_values(a, op.type2.np_type)
        lost = np.broadcast_to(fits_not.numpy(*operands), k.shape)
        over = bool(lost.any())
        if over:
            kept = ~lost
            keys, k, terms = keys[kept], k[kept], np.asarray(terms)[kept]
    first = np.ones(keys.size, bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    runs = first.nonzero()[0]
    found = keys[runs].astype(np.int32)
    folded = fold_runs(terms, runs, semiring.monoid)
    # Written from last to first, so that the first that fits is what stays.
    by = k[runs]
    run = np.cumsum(first) - 1
    fits = _same(terms, folded[run]).nonzero()[0][::-1]
    by[run[fits]] = k[fits]
    return edges, found, np.asarray(folded), by, over


def mean_of(values: Array) -> float:
    """About the mean size of the values, those that are finite."""
    sample = values[:: values.size // SAMPLE + 1].astype(np.float64)
    finite = np.abs(sample[np.isfinite(sample)])
    return float(finite.mean()) if finite.size else 1.0


def _same(a: Array, b: Array) -> Array:
    """Where two values are one; all that is not a number is."""
    equal = a == b
    return equal | ((a != a) & (b != b)) if a.dtype.kind == "f" else equal


def _near(values: Array, monoid: Any, delta: float) -> Array:
    """Which values lie within delta of the best, which ⊕ selects."""
    with np.errstate(all="ignore"):
        best = reduce_numpy(values, monoid)
        near = np.abs(values.astype(np.float64) - float(best)) <= delta
    near |= _same(values, values.dtype.type(best))
    return near if near.any() else np.ones(values.size, bool)


def has_cycle(parent: Array) -> bool:
    """Whether parents lead around anywhere, so that no tree has them.

    By pointer jumping: after so many rounds each vertex knows who stands n steps or more above it:
    a root, which is its own parent, or somebody on a cycle.
    """
    up = parent
    for _ in range(int(parent.size).bit_length()):
        up = up[up]
    return bool((parent[up] != up).any())
