"""Closures: the host side of `loops/closure`.

A closure of more than a small matrix is run by another thread, so that Ctrl-C reaches the one that
waits for it: it sets a flag that the loops read every thousand entries.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from graphla.backends.cpu.arrays.traversals import has_cycle, mean_of
from graphla.backends.cpu.bfs import FOREVER, ready
from graphla.backends.cpu.convert import to_bitmap
from graphla.backends.cpu.loops import closure as far
from graphla.backends.cpu.operands import allowed_by, values_of
from graphla.backends.cpu.reduce import reduce_numpy
from graphla.backends.requests import Level
from graphla.backends.traversals import Closed, Enough, How
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import AnyVector, Array, BitmapVector, Csr, VectorMask
from semirings.structures import TypedSemiring

SMALL = 1 << 14
"""Entries and vertices of a matrix from which a closure is run apart: its rounds are many."""
EDGES_AHEAD, LEAST_AHEAD = 8.0, 0.25
"""A delta in mean weights: EDGES_AHEAD over the mean degree, and LEAST_AHEAD at least."""
CHECK = 1024
"""Entries multiplied between two looks at how it goes, and whether to stop."""
RELATIVE = 0.5
"""The same for products, in parts of the best."""


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
    threads: int,
    enough: Enough | None = None,
) -> Closed:
    """x = x ⊕ x.A until nothing improves, what is found is enough, or `limit` products have run."""
    n, op, dtype = out.nrows, semiring.binaryop, semiring.return_type.np_type
    given = to_bitmap(x)
    present, values = given.present.copy(), np.array(given.values, dtype)
    starts = present.nonzero()[0]
    a, step = values_of(out.values, op.reads_y, wanted=op.type2)
    allowed, mask_step, forbidden = allowed_by(mask)
    is_near_far = how == "near_far"
    parent = np.empty(n, np.int32) if is_near_far else np.arange(n, dtype=np.int32)
    parent[starts] = starts
    found = (out.indptr, out.indices, a, allowed, present, values, parent)
    state, stop = np.zeros(8, np.int64), np.zeros(1, np.int64)
    steps = 1 if traced else FOREVER
    ends: Callable[[], bool] | None = None
    if is_near_far:
        ring, pile, codes = (
            np.empty(n + 1, np.int32),
            np.empty(2 * n, np.int32),
            np.zeros(n, np.uint8),
        )
        pile[: starts.size] = starts
        codes[starts] = far.AWAY
        state[far.FAR] = starts.size
        wanted = _delta(out, a, semiring) if delta is None else delta
        width = np.array([_finite(wanted, semiring)], dtype)
        arrays = (*found, ring, pile, codes, width, state, stop)
        rule = (step, mask_step, forbidden, int(delta is None), CHECK, steps)
        loop = load("closure.near_far", (numba_ops.near_far, semiring), arrays)
        if enough is not None:
            rule = (*rule[:-1], 1)

            def has_enough() -> bool:
                waiting = pile[: state[far.FAR]]
                waiting = waiting[codes[waiting] & far.AWAY != 0]
                return _is_final(enough, present, values, values[waiting], semiring)

            ends = has_enough

    else:
        queue, marked = np.empty(2 * n, np.int32), np.zeros(n, bool)
        queue[: starts.size] = starts
        state[far.SIZE] = starts.size
        most = n + out.nvals if limit >= n else FOREVER
        arrays = (*found, queue, np.empty(n, dtype), marked, state, stop)
        rule = (step, mask_step, forbidden, limit, turns, most, steps)
        loop = load("closure.rounds", (numba_ops.closing, semiring), arrays)
    trace: list[Level] = []

    def run_all() -> bool:
        """Whether it settled; a cycle is looked for after twice the products of the last look."""
        look = rule
        while True:
            begin = perf_counter()
            before = int(state[far.DEPTH])
            status = loop(*arrays, *look)
            if traced and state[far.DEPTH] > before:
                seen = int(state[far.FRONTIER]), int(state[far.EDGES])
                trace.append(Level("push", *seen, perf_counter() - begin))
            if status == far.SUSPECT and not has_cycle(parent):
                state[far.MADE] = 0
                look = (*rule[:-2], 2 * look[-2], rule[-1])
            elif status == far.PAUSED and ends is not None and ends():
                state[far.OVERFLOWED] = 0  # of what is not asked
                return True
            elif status != far.PAUSED:
                return status == far.FINISHED

    settled = apart(run_all, stop, threads) if n + out.nvals >= SMALL else run_all()
    ready.add(("closure", out.indptr.dtype, out.values.dtype, semiring, is_near_far))
    result = BitmapVector(n, present, values, int(np.count_nonzero(present)))
    by = parent if parents or not settled else None
    return Closed(result, by, int(state[far.DEPTH]), trace, bool(state[far.OVERFLOWED]), settled)


def _is_final(
    enough: Enough, present: Array, values: Array, waiting: Array, semiring: TypedSemiring
) -> bool:
    """Whether what is asked is no worse than the best of what waits, which nothing comes before."""
    monoid = semiring.monoid
    best = reduce_numpy(waiting, monoid)
    target, most = enough
    if target is not None:
        return bool(present[target]) and monoid(values[target], best) == values[target]
    if waiting.dtype.kind in "iu":
        most = min(most, int(np.iinfo(waiting.dtype).max))
    return bool(best != most and monoid(best, most) == most)


def _delta(a: Csr, values: Array, semiring: TypedSemiring) -> float:
    """A delta to begin with: the weight of a few edges, fewer where rows are long.

    On roads 4 to 8 mean weights are best; the loop finds by itself what suits a graph.
    """
    if numba_ops.is_relative(semiring):
        return RELATIVE
    mean = mean_of(values)
    return mean * max(EDGES_AHEAD * a.nrows / max(a.nvals, 1), LEAST_AHEAD)


def _finite(delta: float, semiring: TypedSemiring) -> Any:
    """A delta that the dtype holds."""
    dtype = semiring.return_type
    if dtype.kind == "b":
        return False
    if numba_ops.is_relative(semiring) and semiring.monoid.name == "max":
        return min(delta, numba_ops.MOST_RELATIVE)
    if dtype.kind == "f":
        return min(delta, 1e30)
    return int(min(max(delta, 0), float(np.iinfo(dtype.np_type).max // 2)))
