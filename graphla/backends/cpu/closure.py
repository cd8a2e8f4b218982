"""Compute closures with NumPy, or with the compiled loops of `loops/closure`.

A closure of a large matrix runs in another thread while the main thread waits, so that Ctrl-C
reaches the main thread. Ctrl-C sets a flag that the loops read every thousand entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from graphla.backends.cpu.closure_buckets import closure_by_buckets
from graphla.backends.cpu.convert import to_bitmap
from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.folding import flag_run_starts, fold_runs
from graphla.backends.cpu.layout import cast_values, ranges, sort_order
from graphla.backends.cpu.loops import closure as loops
from graphla.backends.cpu.masks import flag_allowed
from graphla.backends.cpu.operands import allowed_by, values_of
from graphla.backends.cpu.reduce import reduce_numpy
from graphla.backends.cpu.terms import multiply
from graphla.backends.requests import FOREVER, Closure, ClosureResult, EarlyStop, Level
from graphla.backends.tuning import current
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Array, BitmapVector, Csr
from graphla.settings import config
from semirings.overflow import overflowing
from semirings.structures import TypedSemiring


@dataclass(frozen=True, slots=True)
class ClosureTuning:
    """Parameters of closures, measured on two cores."""

    # If a matrix has fewer entries plus vertices than this, the closure runs in the calling thread.
    small: int = 1 << 14
    # Values within delta of the best pending value are propagated along the edges before all
    # others. Delta is initially the mean weight times max(edges_ahead / mean degree, least_ahead).
    edges_ahead: float = 8.0
    least_ahead: float = 0.25
    # The initial delta as a fraction of the best pending value, if ⊗ multiplies floats.
    relative: float = 0.5
    # Each time the loop has multiplied this many entries, it reads the stop flag and may change
    # delta.
    check: int = 1024
    # In NumPy, delta is the mean weight times this factor. Each round takes at least 100
    # microseconds, so a large delta keeps the number of rounds small.
    numpy_ahead: float = 16.0
    # After more than numpy_cycle_check * (n + nvals) products, NumPy looks for a cycle of parents,
    # and then counts the products again from 0.
    numpy_cycle_check: int = 4
    sample: int = 4096  # number of values that are sampled to estimate the mean weight of a matrix


TUNING = ClosureTuning()


@try_loops
def closure(request: Closure) -> ClosureResult:
    """Return the result of x = x ⊕ xA, repeated until x no longer changes.

    At most `request.limit` products are computed. The computation also ends once the values that
    `request.enough` describes are final.
    """
    if compiles(request.out.nvals, request.semiring, size=request.out.nrows):
        return closure_by_buckets(request, config.threads) or _Numba(request).run()
    return _closure_numpy(request)


# --- Numba ----------------------------------------------------------------------------------------


class _Numba:
    """The arguments and the state of a compiled closure."""

    def __init__(self, request: Closure) -> None:
        out, semiring = request.out, request.semiring
        self.request, self.n, self.dtype = request, out.nrows, semiring.return_type.np_type
        given = to_bitmap(request.x)
        self.present, self.values = given.present.copy(), np.array(given.values, self.dtype)
        starts = self.present.nonzero()[0]
        weights, step = values_of(
            out.values, semiring.binaryop.reads_y, wanted=semiring.binaryop.type2
        )
        allowed, mask_step, forbidden = allowed_by(request.mask)
        edges = loops.Edges(out.indptr, out.indices, weights, allowed, step, mask_step, forbidden)
        is_near_far = request.how == "near_far"
        parents = np.empty if is_near_far else np.arange
        self.parents: Array = parents(self.n, dtype=np.int32)
        self.parents[starts] = starts
        found = loops.Found(self.present, self.values, self.parents)
        self.state, self.stop = np.zeros(8, np.int64), np.zeros(1, np.int64)
        self.pile = np.empty(2 * self.n, np.int32)
        self.codes = np.zeros(self.n, np.uint8)
        self.steps = 1 if request.traced else FOREVER
        self.most = 0  # number of products after which the host looks for a cycle in the parents
        work = self._near_far(starts, weights) if is_near_far else self._rounds(starts)
        name, spec = (
            ("closure.near_far", numba_ops.near_far)
            if is_near_far
            else ("closure.rounds", numba_ops.closure)
        )
        self.loop = load(name, (spec, semiring), (edges, found, work))
        self.arguments = (*edges, *found, *work)

    def _near_far(self, starts: Array, weights: Array) -> loops.NearFar:
        request, n = self.request, self.n
        self.pile[: starts.size] = starts
        self.codes[starts] = loops.AWAY
        self.state[loops.FAR] = starts.size
        if request.enough is not None:
            self.steps = 1
        delta = request.delta
        if delta is None:
            delta = _first_delta(request.out, weights, request.semiring)
        width = np.array([_as_finite(delta, request.semiring)], self.dtype)
        ring = np.empty(n + 1, np.int32)
        return loops.NearFar(ring, self.pile, self.codes, width, self.state, self.stop)

    def _rounds(self, starts: Array) -> loops.Rounds:
        request, n = self.request, self.n
        self.pile[: starts.size] = starts
        self.state[loops.SIZE] = starts.size
        self.most = n + request.out.nvals if request.limit >= n else FOREVER
        read, marks = np.empty(n, self.dtype), np.zeros(n, bool)
        return loops.Rounds(self.pile, read, marks, self.state, self.stop)

    def run(self) -> ClosureResult:
        """Run the loop until the closure ends."""
        request, state = self.request, self.state
        trace: list[Level] = []
        is_small = self.n + request.out.nvals < current(TUNING).small
        call = lambda: self._settle(trace)  # noqa: E731
        settled = call() if is_small else apart(call, self.stop, config.threads)
        count = int(np.count_nonzero(self.present))
        values = BitmapVector(self.n, self.present, self.values, count)
        parents = self.parents if request.parents or not settled else None
        depth, overflowed = int(state[loops.DEPTH]), bool(state[loops.OVERFLOWED])
        return ClosureResult(values, parents, depth, trace, overflowed, settled)

    def _settle(self, trace: list[Level]) -> bool:
        """Call the compiled loop until the closure ends, and return whether it converged.

        The loop also returns if values may keep improving around a cycle. This function then looks
        for a cycle in the parents.
        """
        state = self.state
        while True:
            begin, before = perf_counter(), int(state[loops.DEPTH])
            status = self._call()
            if self.request.traced and state[loops.DEPTH] > before:
                seen = int(state[loops.FRONTIER]), int(state[loops.EDGES])
                trace.append(Level("push", *seen, perf_counter() - begin))
            if status == loops.SUSPECT and not has_cycle(self.parents):
                state[loops.MADE] = 0
                self.most *= 2
            elif status == loops.PAUSED and self._is_enough():
                # All values that the caller needs are final, so an overflow elsewhere does not
                # matter.
                state[loops.OVERFLOWED] = 0
                return True
            elif status != loops.PAUSED:
                return status == loops.FINISHED

    def _call(self) -> int:
        request = self.request
        if request.how == "near_far":
            adapts = int(request.delta is None)
            return self.loop(*self.arguments, adapts, current(TUNING).check, self.steps)
        return self.loop(*self.arguments, request.limit, request.turns, self.most, self.steps)

    def _is_enough(self) -> bool:
        """Return whether the values that the caller needs (`request.enough`) are already final.

        They are final if no pending value can improve them any more.
        """
        enough = self.request.enough
        if enough is None or self.request.how != "near_far":
            return False
        waiting = self.pile[: self.state[loops.FAR]]
        waiting = self.values[waiting[self.codes[waiting] & loops.AWAY != 0]]
        return _is_final(enough, self.present, self.values, waiting, self.request.semiring)


def _is_final(
    enough: EarlyStop, present: Array, values: Array, waiting: Array, semiring: TypedSemiring
) -> bool:
    monoid = semiring.monoid
    best = reduce_numpy(waiting, monoid)
    target, most = enough.target, enough.most
    if target is not None:
        return bool(present[target]) and monoid(values[target], best) == values[target]
    if waiting.dtype.kind in "iu":
        most = min(most, int(np.iinfo(waiting.dtype).max))
    return bool(best != most and monoid(best, most) == most)


def _first_delta(a: Csr, values: Array, semiring: TypedSemiring) -> float:
    """Return the initial delta: a small multiple of the mean weight.

    Values within delta of the best pending value are propagated along the edges before all others.
    The longer the rows, the smaller the multiple. On road networks, 4 to 8 mean weights are best.
    If ⊗ multiplies floats, delta is instead a fixed fraction of the best pending value. Later the
    loop adapts delta to the graph.
    """
    tuning = current(TUNING)
    if numba_ops.is_relative(semiring):
        return tuning.relative
    degree_part = tuning.edges_ahead * a.nrows / max(a.nvals, 1)
    return _mean_of(values) * max(degree_part, tuning.least_ahead)


def _as_finite(delta: float, semiring: TypedSemiring) -> Any:
    """Return delta as a finite value of the semiring's dtype."""
    dtype = semiring.return_type
    if dtype.kind == "b":
        return False
    if numba_ops.is_relative(semiring) and semiring.monoid.name == "max":
        return min(delta, numba_ops.MOST_RELATIVE)
    if dtype.kind == "f":
        return min(delta, 1e30)
    return int(min(max(delta, 0), float(np.iinfo(dtype.np_type).max // 2)))


# --- NumPy ----------------------------------------------------------------------------------------


def _closure_numpy(request: Closure) -> ClosureResult:
    """Compute a closure in rounds, each of which multiplies only entries of x that have changed.

    The terms of an entry that has not changed have already been added to x, and ⊕ is idempotent. So
    a round has the same result as a product with all entries of x, for any ⊗. If the method is
    "near_far", a round multiplies only the changed entries whose values are within delta of the
    best one. The result of the closure is the same, because this method is chosen only if the order
    of the products does not matter.
    """
    out, semiring, tuning = request.out, request.semiring, current(TUNING)
    n, monoid = out.nrows, semiring.monoid
    start = to_bitmap(request.x)
    present = start.present.copy()
    values = cast_values(start.values, monoid.type.np_type).copy()
    parent = np.arange(n, dtype=np.int32)
    open_to = None if request.mask is None else flag_allowed(request.mask)
    pending = present.nonzero()[0].astype(np.int32)
    delta = None
    if request.how == "near_far":
        delta = request.delta
        delta = tuning.numpy_ahead * _mean_of(out.values) if delta is None else delta
    most = tuning.numpy_cycle_check * (n + out.nvals)
    depth, made, trace, overflowed, settled = 0, 0, [], False, True
    while pending.size and depth < request.limit:
        if depth == request.turns or (made > most and has_cycle(parent)):
            settled = False
            break
        made = 0 if made > most else made
        begin = perf_counter()
        frontier, later = pending, pending[:0]
        if delta is not None:
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
        if request.traced:
            trace.append(Level("push", frontier.size, edges, perf_counter() - begin))
    result = BitmapVector(n, present, values, int(np.count_nonzero(present)))
    given = parent if request.parents or not settled else None
    return ClosureResult(result, given, depth, trace, overflowed, settled)


def _product(
    out: Csr, frontier: Array, values: Array, semiring: TypedSemiring, open_to: Array | None
) -> tuple[int, Array, Array, Array, bool]:
    """Multiply the entries of x at the vertices in `frontier` by A.

    Return the number of edges that were read, the vertices that these edges reach, the combined
    value and the parent of each of these vertices, and whether a term overflowed. Terms that
    overflow are omitted. The terms of a vertex are combined in the order of their sources. The
    parent of a vertex is the first source whose term equals the combined value, or any source if no
    term equals it.
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
    first = flag_run_starts(keys)
    runs = first.nonzero()[0]
    found = keys[runs].astype(np.int32)
    folded = fold_runs(terms, runs, semiring.monoid)
    # Several sources of a vertex may have a term that equals the vertex's value. If NumPy assigns
    # to an element several times, the last assignment counts. So assign the sources in reverse
    # order, to keep the first one.
    by = k[runs]
    run = np.cumsum(first) - 1
    fits = _same(terms, folded[run]).nonzero()[0][::-1]
    by[run[fits]] = k[fits]
    return edges, found, np.asarray(folded), by, over


def _mean_of(values: Array) -> float:
    """Return an estimate of the mean absolute value of the finite values."""
    sample = values[:: values.size // current(TUNING).sample + 1].astype(np.float64)
    finite = np.abs(sample[np.isfinite(sample)])
    return float(finite.mean()) if finite.size else 1.0


def _same(a: Array, b: Array) -> Array:
    """Return, for each pair of values, whether they are equal. NaN equals NaN."""
    equal = a == b
    return equal | ((a != a) & (b != b)) if a.dtype.kind == "f" else equal


def _near(values: Array, monoid: Any, delta: float) -> Array:
    """Return, for each value, whether it differs by at most delta from the best value.

    The best value is the one that ⊕ selects. If no value is near it, return true for all values.
    """
    with np.errstate(all="ignore"):
        best = reduce_numpy(values, monoid)
        near = np.abs(values.astype(np.float64) - float(best)) <= delta
    near |= _same(values, values.dtype.type(best))
    return near if near.any() else np.ones(values.size, bool)


def has_cycle(parent: Array) -> bool:
    """Return whether the parents contain a cycle of at least two vertices.

    The function uses pointer jumping: after log2(n) rounds it knows for each vertex an ancestor
    that is at least n steps above the vertex. This ancestor is a root (its own parent) or is on a
    cycle.
    """
    up = parent
    for _ in range(int(parent.size).bit_length()):
        up = up[up]
    return bool((parent[up] != up).any())
