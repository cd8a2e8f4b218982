"""Closures under min.plus by delta-stepping, with the compiled loops of `loops/buckets`.

Integers are computed in 32 bits first. If a value that must be multiplied is so large that a sum
might not fit, the closure is computed again in 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from graphla.backends.cpu.convert import to_bitmap
from graphla.backends.cpu.loops import buckets as loops
from graphla.backends.cpu.masks import flag_allowed
from graphla.backends.cpu.operands import values_of
from graphla.backends.requests import Closure, ClosureResult, FOREVER, Level
from graphla.backends.tuning import current
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart, run
from graphla.formats import Array, BitmapVector, Csr, remember
from graphla.settings import config


@dataclass(frozen=True, slots=True)
class BucketTuning:
    """Parameters of delta-stepping, measured on two cores."""

    # The width of a bucket is the mean weight times edges / mean degree.
    edges: float = 4.0
    # A round with at least this many edges is divided among the threads.
    shared: int = 1 << 15
    spare: float = 2.0  # number of vertices that the blocks hold, as a multiple of n


TUNING = BucketTuning()

DTYPES = {"INT64": (np.dtype(np.int32), np.dtype(np.int64)), "FP64": (np.dtype(np.float64),)}
"""For each dtype of a closure, the dtypes in which it is computed, in the order of attempts."""


@dataclass(frozen=True, slots=True)
class _Weights:
    """The values of a matrix as arguments of a loop, and their mean and maximum."""

    values: Array
    step: int
    mean: float
    most: Any


def closure_by_buckets(request: Closure, threads: int) -> ClosureResult | None:
    """Return the closure, or None if it must be computed in another way.

    This is so if a value is negative or not finite, or if a sum does not fit in the dtype.
    """
    semiring = request.semiring
    if (
        request.how != "near_far"
        or semiring.name != "min_plus"
        or semiring.return_type.name not in DTYPES
    ):
        return None
    given = to_bitmap(request.x)
    starts = given.present.nonzero()[0].astype(np.int32)
    values = np.asarray(given.values[starts], semiring.return_type.np_type)
    weights = remember(request.out, ("weights", semiring.type2), lambda: _weights(request))
    low, high = values.min().item(), values.max().item()
    if not (low >= 0 and high < np.inf and weights.most < np.inf):
        return None
    if request.mask is not None and low < high:
        return None  # a vertex that the mask forbids may have a value that must not decrease
    for dtype in DTYPES[semiring.return_type.name]:
        if weights.most < _largest(dtype) // 2 and high < _largest(dtype) // 2:
            found = _Buckets(request, weights, starts, values, dtype, threads).run()
            if found is not None:
                return found
    return None


def _weights(request: Closure) -> _Weights:
    """Return the weights of the matrix. They are cached with it."""
    out, op = request.out, request.semiring.binaryop
    values, step = values_of(out.values, wanted=op.type2)
    most = values.max().item()
    return _Weights(values, step, float(values.mean(dtype=np.float64)), most)


def _largest(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).max if dtype.kind == "i" else float(np.finfo(dtype).max)


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
        self.request, self.threads = request, threads
        out, n = request.out, request.out.nrows
        infinite = np.iinfo(dtype).max if dtype.kind == "i" else np.inf
        x = np.full(n, infinite, dtype)
        self.closed = None
        if request.mask is not None:
            # No value is less than -1, so the loop does not change the forbidden entries.
            self.closed = ~flag_allowed(request.mask)
            x[self.closed] = -1
            self.closed[starts] = False
        x[starts] = values
        pending = np.zeros(n, np.uint8)
        pending[starts] = 1
        parents = np.empty(n if request.parents else 1, np.int32)
        if request.parents:
            parents[starts] = starts
        rows = threads * loops.ROW
        links = np.empty(int(current(TUNING).spare * n) // loops.BLOCK + rows, np.int32)
        pool = np.empty(links.size * loops.BLOCK, np.int32)
        heads, ends = np.full(rows, -1, np.int64), np.zeros(rows, np.int64)
        state = np.zeros(16, np.int64)
        listed = np.empty(n, np.int32)
        # All starts are in the last bucket. The loop makes the least of them the base.
        blocks = -(-starts.size // loops.BLOCK)
        pool[: starts.size] = starts
        links[:blocks] = np.arange(-1, blocks - 1)
        heads[loops.FAR], ends[loops.FAR] = blocks - 1, starts.size
        state[loops.CURRENT], state[loops.BLOCKS] = loops.FAR - 1, blocks
        enough = request.enough
        self.target, most = -1, None
        if enough is not None:
            self.target = -1 if enough.target is None else enough.target
            most = enough.most
        self.has_most = int(most is not None)
        top = _largest(dtype)
        limits = np.array(
            [values.min().item(), self._width(weights, dtype), top - 1 - weights.most, 0], dtype
        )
        if dtype.kind == "f":
            limits[2] = top - weights.most
        if most is not None:
            limits[3] = min(most, top)
        self.stop = np.zeros(1, np.int64)
        self.edges = loops.Edges(out.indptr, out.indices, weights.values)
        self.work = loops.Work(
            x, parents, pending, listed, pool, links, heads, ends, limits, state, self.stop
        )
        self.step = weights.step
        spec = numba_ops.buckets, dtype.name
        operands = self.edges, self.work
        self.loop = load("buckets.run", (*spec, False, bool(request.parents)), operands)
        self.share = load("buckets.share", (*spec, True, False), operands) if threads > 1 else None

    def _width(self, weights: _Weights, dtype: np.dtype[Any]) -> Any:
        """Return the width of a bucket, as the loops represent it."""
        request = self.request
        width = request.delta
        if width is None:
            degree = request.out.nvals / request.out.nrows
            width = weights.mean * current(TUNING).edges / degree
        if dtype.kind == "i":
            return min(max(int(width), 1).bit_length() - 1, 8 * dtype.itemsize - 2)
        return 1 / width if width > 0 else 1.0

    def run(self) -> ClosureResult | None:
        """Run the loops until the closure ends."""
        request, work = self.request, self.work
        state, n = work.state, request.out.nrows
        trace: list[Level] = []
        status = apart(lambda: self._settle(trace), self.stop, self.threads, n + request.out.nvals)
        if status == loops.TOO_LARGE:
            return None
        x = work.values
        present = x != (np.iinfo(x.dtype).max if x.dtype.kind == "i" else np.inf)
        if self.closed is not None:
            present &= ~self.closed
        count = int(np.count_nonzero(present))
        values = x.astype(request.semiring.return_type.np_type, copy=False)
        return ClosureResult(
            BitmapVector(n, present, values, count),
            work.parents if request.parents else None,
            int(state[loops.STEPS]) + 1,
            trace,
        )

    def _settle(self, trace: list[Level]) -> int:
        arguments = (*self.edges, *self.work)
        steps = 0 if self.request.traced else FOREVER
        least = current(TUNING).shared
        state = self.work.state
        while True:
            status = self.loop(
                *arguments,
                self.step,
                self.threads,
                least,
                self.target,
                self.has_most,
                steps,
            )
            if status == loops.TO_SHARE:
                parts = [(thread,) for thread in range(self.threads)]
                counts = run(
                    lambda thread: self.share(*arguments, self.step, thread),
                    parts,
                    self.threads,
                    self.stop,
                )
                if min(counts) < 0:
                    return loops.TOO_LARGE
                state[loops.EDGES] += sum(counts)
            elif status != loops.PAUSED:
                return status
