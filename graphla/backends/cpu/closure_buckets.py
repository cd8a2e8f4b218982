"""Closures under min.plus by delta-stepping, with the compiled loops of `loops/closure_buckets`.

Integer closures are first computed in 32 bits. If a value is so large that its sum with a weight
might not fit in 32 bits, the closure is computed again in 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.convert import to_bitmap
from graphla.backends.cpu.loops import closure_buckets as loops
from graphla.backends.cpu.loops.team import TEAM_WORDS
from graphla.backends.cpu.masks import flag_allowed
from graphla.backends.cpu.operands import values_of
from graphla.backends.requests import FOREVER, Closure, ClosureResult, EarlyStop, Level
from graphla.backends.tuning import current
from graphla.compilers import numba_ops
from graphla.compilers.crew import run_together
from graphla.compilers.numba import Loop, load
from graphla.compilers.threads import apart
from graphla.formats import AnyVector, Array, BitmapVector, SparseVector, remember
from semirings import binary, monoid


@dataclass(frozen=True, slots=True)
class BucketTuning:
    """Parameters of delta-stepping, measured on two cores."""

    # The width of a bucket is the median weight times edges / mean degree.
    edges: float = 4.0
    # A round with at least this many edges is divided among the threads.
    shared: int = 1 << 15
    # The value of `shared` for later rounds of a closure, when its threads are already running.
    shared_together: int = 1 << 12


TUNING = BucketTuning()

SAMPLE = 4096  # number of weights that are sampled to estimate their median
SPARE = 2  # the blocks have room for SPARE * n vertices
DTYPES = {"INT64": (np.dtype(np.int32), np.dtype(np.int64)), "FP64": (np.dtype(np.float64),)}
"""For each dtype of a closure, the dtypes in which to compute it. If a sum might not fit in one of
them, the closure is computed again in the next one."""


class _Weights(NamedTuple):
    """The values of a matrix as arguments of a loop, and statistics of the matrix."""

    values: Array
    step: int  # 0 if `values` holds a single weight for all entries, otherwise 1
    typical: float  # the median of a sample of the weights, or their mean if the median is 0
    most: Any  # the largest weight
    longest: int  # number of entries of the longest row


def closure_by_buckets(request: Closure, threads: int) -> ClosureResult | None:
    """Return the closure, or None if delta-stepping cannot compute it.

    Delta-stepping requires the semiring min.plus, values that are finite and not negative, and a
    dtype that holds all sums.
    """
    semiring, dtypes = request.semiring, DTYPES.get(request.semiring.return_type.name)
    is_min_plus = semiring.monoid.monoid is monoid.min and semiring.binaryop.op is binary.plus
    if request.how != "near_far" or not is_min_plus or dtypes is None:
        return None
    starts, values = _entries(request.x)
    if not starts.size or not request.out.nvals:
        return None
    low, high = values.min().item(), values.max().item()
    # A start vertex that the mask forbids must keep its initial value. The loop ensures this only
    # if all initial values are equal, because then no path makes one of them smaller. So return
    # None if there is a mask and the initial values differ.
    if not 0 <= low <= high < np.inf or (request.mask is not None and low < high):
        return None
    weights = remember(request.out, ("weights", semiring.type2), lambda: _weights(request))
    for dtype in dtypes:
        if max(weights.most, high) < _largest(dtype) / 2:
            found = _Buckets(request, weights, starts, values, dtype, threads).run()
            if found is not None:
                return found
    return None


def _weights(request: Closure) -> _Weights:
    values, step = values_of(request.out.values, wanted=request.semiring.type2)
    sample = values[:: values.size // SAMPLE + 1].astype(np.float64)
    typical = float(np.median(sample) or sample.mean())
    longest = int(np.diff(request.out.indptr).max())
    return _Weights(values, step, typical, values.max().item(), longest)


def _largest(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).max if dtype.kind == "i" else float(np.finfo(dtype).max)


def _entries(x: AnyVector) -> tuple[Array, Array]:
    """Return the indices and the values of the entries of x, in ascending order of the indices."""
    if isinstance(x, SparseVector) and x.is_sorted:
        return x.indices, x.values
    dense = to_bitmap(x)
    starts = dense.present.nonzero()[0].astype(np.int32)
    return starts, dense.values[starts]


class _Buckets:
    """The arguments and the state of the loops."""

    def __init__(
        self,
        request: Closure,
        weights: _Weights,
        starts: Array,
        values: Array,
        dtype: np.dtype[Any],
        threads: int,
    ) -> None:
        # With several threads, writing a value together with its parent would need a lock.
        threads = 1 if request.parents else threads
        self.request, self.threads, self.weights = request, threads, weights
        out, n = request.out, request.out.nrows
        largest = _largest(dtype)
        self.infinite = largest if dtype.kind == "i" else np.inf
        x = np.full(n, self.infinite, dtype)
        self.forbidden, done = None, np.zeros(n, np.uint8)
        if request.mask is not None:
            # The value of a forbidden vertex is -1 during the loop. No sum is less than -1, so the
            # loop does not change it.
            self.forbidden = ~flag_allowed(request.mask)
            x[self.forbidden] = -1
            self.forbidden[starts] = False
            done[self.forbidden] = 1
        x[starts] = values
        parents = np.empty(n if request.parents else 1, np.int32)
        if request.parents:
            parents[starts] = starts
        chains = threads * loops.ROW
        links = np.empty(SPARE * n // loops.BLOCK + chains, np.int32)
        pool = np.empty(links.size * loops.BLOCK, np.int32)
        heads, (ends, counts) = np.full(chains, -1, np.int64), np.zeros((2, chains), np.int64)
        # At first all start vertices are in the last bucket. Then the loop sets the lower bound of
        # the first bucket to the smallest start value.
        blocks = -(-starts.size // loops.BLOCK)
        pool[: starts.size] = starts
        links[:blocks] = np.arange(-1, blocks - 1)
        heads[loops.FAR], ends[loops.FAR], counts[loops.FAR] = blocks - 1, starts.size, blocks
        state = np.zeros(7, np.int64)
        state[loops.CURRENT], state[loops.BLOCKS] = loops.FAR - 1, blocks
        enough = request.enough or EarlyStop()
        most = largest if enough.most is None else min(enough.most, largest)
        # two arguments of the loop: `target` (-1 stands for None), and whether `most` is given
        self.enough = -1 if enough.target is None else enough.target, int(enough.most is not None)
        width = _width(request, weights, dtype)
        ceiling = largest - weights.most - (dtype.kind == "i")
        limits = np.array([0, width, ceiling, most], dtype)
        round_ends = np.empty(threads, np.int64)
        lists = np.empty(n, np.int32), pool, links, heads, ends, counts, round_ends
        self.stop = np.zeros(1, np.int64)
        self.edges = loops.Edges(out.indptr, out.indices, weights.values)
        self.work = loops.Work(x, parents, done, *lists, limits, state, self.stop)
        self.loop = self._load("run", (self.edges, self.work), False)

    def _load(self, name: str, arguments: tuple, is_shared: bool) -> Loop:
        spec = numba_ops.buckets, self.work.values.dtype.name, is_shared, self.request.parents
        return load(f"closure_buckets.{name}", spec, arguments)

    def run(self) -> ClosureResult | None:
        """Run the loops until the closure ends. Return None if a sum might not fit in the dtype."""
        request, work, n = self.request, self.work, self.request.out.nrows
        trace: list[Level] = []
        size = n + request.out.nvals
        if apart(lambda: self._settle(trace), self.stop, self.threads, size) == loops.TOO_LARGE:
            return None
        present = work.values != self.infinite
        if self.forbidden is not None:
            present &= ~self.forbidden
        values = work.values.astype(request.semiring.return_type.np_type, copy=False)
        found = BitmapVector(n, present, values, int(np.count_nonzero(present)))
        parents = work.parents if request.parents else None
        return ClosureResult(found, parents, int(work.state[loops.DEPTH]), trace)

    def _settle(self, trace: list[Level]) -> int:
        """Call the loops until the closure ends, and return why the closure ended.

        If the request is traced, the loop returns before each bucket.
        """
        steps = 0 if self.request.traced else FOREVER
        state, threads, tuning = self.work.state, self.threads, current(TUNING)
        before, after = (self.weights.step, threads, self.weights.longest), (*self.enough, steps)
        alone = *before, tuning.shared, *after
        together = *before, tuning.shared_together, *after
        status, begin = loops.TO_RUN_ALONE, perf_counter()
        while True:
            if status == loops.TO_SHARE:
                team = np.zeros(TEAM_WORDS, np.int64)
                loop = self._load("run_together", (self.edges, self.work, team), True)
                arguments = (*self.edges, *self.work, team, *together)
                status = run_together(loop, arguments, threads, self.stop)
            else:
                status = self.loop(*self.edges, *self.work, *alone)
            if status in (loops.TO_SHARE, loops.TO_RUN_ALONE):
                continue
            if self.request.traced and state[loops.MULTIPLIED]:
                seen = int(state[loops.MULTIPLIED]), int(state[loops.EDGES])
                trace.append(Level("push", *seen, perf_counter() - begin))
                state[loops.MULTIPLIED] = state[loops.EDGES] = 0
                begin = perf_counter()
            if status != loops.PAUSED:
                return status


def _width(request: Closure, weights: _Weights, dtype: np.dtype[Any]) -> Any:
    """Return the width of a bucket, in the form that the loops use.

    For floats this is the reciprocal of the width. For integers it is the logarithm to base 2,
    rounded down.
    """
    width = request.delta
    if width is None:
        out = request.out
        width = weights.typical * current(TUNING).edges * out.nrows / max(out.nvals, 1)
    if dtype.kind == "f":
        return 1 / min(max(width, 1e-300), 1e300)
    return min(max(int(min(width, 1 << 62)), 1).bit_length(), 8 * dtype.itemsize - 1) - 1
