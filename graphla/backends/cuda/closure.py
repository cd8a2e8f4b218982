"""Closures: the least x for which x = x ⊕ xA, computed by one launch of a persistent kernel.

Kernel: closure.cu. The host waits for the end of the closure. Once per matrix, it also waits for
the statistics of the matrix's values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.launch import INT32_END, csr, read
from graphla.backends.cuda.matvec import presence
from graphla.backends.cuda.reduce import reduce, reduce_rows
from graphla.backends.requests import Closure, ClosureResult, Level
from graphla.backends.tuning import current
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import load
from graphla.compilers.declarations import Packed, Struct, enumeration
from graphla.formats import (
    AnyVector,
    Array,
    BitmapVector,
    Csr,
    SparseVector,
    VectorMask,
    is_iso,
    remember,
)
from semirings import monoid as monoids
from semirings.dtypes import lookup_dtype
from semirings.overflow import overflowing
from semirings.printing import simple_ufunc
from semirings.structures import TypedSemiring


@dataclass(frozen=True, slots=True)
class ClosureTuning:
    """Tuning parameters, measured on an H200. The first three parameters are compiled into the
    kernel."""

    block: int = 768  # threads per block; one block runs on each multiprocessor
    light: int = 32  # maximum number of edges in a short row; longer rows are divided among warps
    held: int = 1024  # number of vertices that a block can hold in shared memory
    # Maximum number of vertices in a block's own list in a fused step. It is at most `held`, and is
    # not compiled into the kernel.
    held_most: int = 1024
    # Block 0 processes a step alone if the step has at most `alone_rows` short rows, and at most
    # `alone_edges` edges in long rows.
    alone_rows: int = 96
    alone_edges: int = 4096
    # A step is fused if it processes at most `fused_rows` short rows and at most `fused_edges`
    # edges of long rows. A fused step consists of at most `fused_rounds` rounds, which each block
    # runs without waiting for the other blocks.
    fused_rows: int = 1 << 16
    fused_edges: int = 1 << 18
    fused_rounds: int = 32
    # The width of a bucket (see `_width`) is f * mean weight / mean degree, where
    # f = spread + (few_edges / mean degree)^4. If degrees are high, most of the time is spent on
    # edges, and narrow buckets avoid reading an edge more than once. If degrees are low, most of
    # the time is spent on steps, and wide buckets need fewer steps. Good values of f are 4 to 16
    # for an R-MAT graph, 256 to 1,024 for a mesh, and 1,024 to 4,096 for a road network.
    spread: float = 4.0
    few_edges: float = 14.0
    # If values might improve forever around a cycle, the parents are examined to find such a cycle,
    # for the first time after max(first_rounds, turns / first_rounds^2) rounds. Here `turns` is the
    # limit on the number of rounds in the request.
    first_rounds: int = 8
    few: int = 64  # maximum number of start vertices whose values the host reads
    records: int = 1 << 16  # maximum number of steps that a trace records

    def limits(self, is_rounds: bool) -> Packed:
        """Return the limits of a step as a kernel argument.

        If `is_rounds` is True, the capacity of the blocks' own lists is set to 0, which disables
        fused steps.
        """
        return LIMITS(
            alone_rows=self.alone_rows,
            alone_edges=self.alone_edges,
            fused_rows=self.fused_rows,
            fused_edges=self.fused_edges,
            fused_rounds=self.fused_rounds,
            held=0 if is_rounds else self.held_most,
        )


TUNING = ClosureTuning()
LIMITS, WAITING = (Struct("closure_lists.cuh", name) for name in ("Limits", "Waiting"))
STARTS, MASK, STATE = (Struct("closure.cuh", name) for name in ("Starts", "Mask", "State"))
PLAN, RESULTS = (Struct("closure.cu", name) for name in ("Plan", "Results"))
RECORDS = Struct("persistent.cuh", "Records")
How = enumeration("closure_lists.cuh", "How")

MOST_TURNS = (1 << 32) - 1


def closure(request: Closure) -> ClosureResult:
    """Return the least fixpoint of x = x ⊕ xA.

    If `request.how` is "rounds", the closure ends after at most `request.limit` products.
    """
    problem, parents, turns = _Problem(request), request.parents, request.turns
    if request.how == "rounds":
        return problem.take_rounds(request.limit, turns, parents)
    may_improve = turns < INT32_END - 1
    first = current(TUNING).first_rounds
    rounds = max(first, turns // first**2)
    if may_improve:  # a closure that has not converged after n rounds never converges
        turns = min(turns, request.out.nrows + 1)
    closed, has_orphans = problem.improve(request.how == "near_far", parents or may_improve, turns)
    if may_improve and (has_orphans or not closed.settled):
        # Some cycle may improve values forever. Repeat the closure in rounds, because the parents
        # of each round show whether there is such a cycle. A vertex without a chain of parents to
        # a start vertex is also a sign: a cycle may have improved its value to a limit such as
        # infinity.
        return problem.take_rounds(request.limit, rounds, True)
    return closed if parents else replace(closed, parents=None)


@dataclass(frozen=True, slots=True)
class _Weights:
    """Statistics of the values of a matrix. If a value is NaN, a statistic may be NaN too."""

    least: float
    mean: float
    longest: float  # sum of all row maxima, which bounds the length of any simple path


def _weights_of(a: Csr) -> _Weights:
    """Return the statistics of a matrix's values. They are computed once per matrix."""
    return remember(a, "weights", lambda: _measure_weights(a))


def _measure_weights(a: Csr) -> _Weights:
    if not a.nvals:
        return _Weights(0, 0, 0)
    values, dtype = a.values, lookup_dtype(a.values.dtype)
    sum_of = monoids.plus["FP64"]
    greatest = reduce_rows(a, monoids.max[dtype])
    assert isinstance(greatest, BitmapVector)
    longest = reduce(greatest.values, sum_of, greatest.present)
    return _Weights(
        float(reduce(values, monoids.min[dtype])),
        float(reduce(values, sum_of)) / a.nvals,
        float(longest),
    )


def _extremes(x: AnyVector) -> tuple[float, float]:
    """Return the minimum and the maximum value of x, or (0, 0) if x has no entries."""
    if not x.values.size:
        return 0.0, 0.0
    present = x.present if isinstance(x, BitmapVector) else None
    dtype = lookup_dtype(x.values.dtype)
    if isinstance(x, SparseVector) and x.nvals <= current(TUNING).few:
        values = xp.asnumpy(x.values)
        return float(values.min()), float(values.max())
    return tuple(float(reduce(x.values, m[dtype], present)) for m in (monoids.min, monoids.max))  # pyright: ignore[reportReturnType]


def _adds_lengths(semiring: TypedSemiring) -> bool:
    """Return whether the semiring is min_plus on one integer dtype, so that values are path
    lengths."""
    op, monoid = semiring.binaryop, semiring.monoid
    plain = not op.is_positional and simple_ufunc(op.expression, ("x", "y")) is np.add
    one = op.type is op.type2 is op.return_type is monoid.type
    return plain and one and monoid.ufunc is np.minimum and monoid.type.is_integer


class _Problem:
    """A closure with its operands and the dtype in which it is computed."""

    def __init__(self, request: Closure) -> None:
        self.out, self.x, self.mask = request.out, request.x, request.mask
        self.n, self.delta = request.out.nrows, request.delta
        self.semiring = semiring = request.semiring
        self.dtype = semiring.return_type.np_type
        self.order = cuda_ops.order_of(semiring.monoid)
        self.is_checked = overflowing(semiring.binaryop) is not None
        if self.is_checked and _adds_lengths(semiring):
            self._bound()
        self.tuning = tuning = current(TUNING)
        self.records: Any = xp.empty(4 * tuning.records, xp.uint64) if request.traced else None

    def _bound(self) -> None:
        """Omit overflow checks if a bound shows that no path length can overflow.

        If all path lengths fit in 32 bits, also compute the closure in INT32 instead of INT64.
        """
        weights = _weights_of(self.out)
        least, greatest = _extremes(self.x)
        longest = 1.0001 * (greatest + weights.longest)
        # These comparisons also fail for NaN, which a cast would turn into some integer.
        if not (least >= 0 and weights.least >= 0 and longest <= np.iinfo(self.dtype).max):
            return
        self.is_checked = False
        if self.dtype.itemsize == 8 and longest < INT32_END:
            self.semiring = self.semiring.semiring["INT32"]

    def improve(self, is_near_far: bool, parents: bool, turns: int) -> tuple[ClosureResult, bool]:
        """Compute the closure; each step multiplies only entries that have improved.

        If `is_near_far` is set, a step multiplies only those improved entries whose values are near
        the best value. Return the closure and a flag. The flag is True if `parents` is set and the
        chain of parents of some vertex does not lead to a start vertex.
        """
        width = self._width() if is_near_far and self.order else math.inf
        how = How.NEAR_FAR if math.isfinite(width) else How.IMPROVING
        # If outdated entries fill the far list, `_run` returns None. In this case run the kernel
        # again without a far list.
        return self._run(how, parents, width, turns) or self._take(How.IMPROVING, parents, turns)

    def take_rounds(self, limit: int, turns: int, parents: bool) -> ClosureResult:
        """Compute up to `limit` products, each from the values of the previous round."""
        closed, _ = self._take(How.ROUNDS, parents, min(limit, turns))
        return replace(closed, settled=closed.settled or limit <= turns)

    def _take(self, how: Any, parents: bool, turns: int) -> tuple[ClosureResult, bool]:
        """Launch the kernel with a method that uses no far list. Such a launch always has a result,
        because a launch fails only if its far list becomes full."""
        found = self._run(how, parents, math.inf, turns)
        assert found is not None
        return found

    def _run(
        self, how: Any, parents: bool, width: float, turns: int
    ) -> tuple[ClosureResult, bool] | None:
        """Launch the kernel. Return None if the far list became full."""
        out, n, tuning, is_rounds = self.out, self.n, self.tuning, how == How.ROUNDS
        a, a_type, a_kept = read(out.values, self.semiring.binaryop.reads_y)
        kernel = load(
            "closure.cu",
            "close_over",
            (cuda_ops.closure, self.semiring, self.is_checked),
            *(out.indptr.dtype, a_type, a_kept, self.dtype, how, parents, self.mask is not None),
            constants=tuning,
        )
        result, there = xp.empty(n, self.dtype), xp.empty(n, bool)
        parent = xp.empty(n, xp.int32) if parents else None
        records = RECORDS(at=self.records, room=0 if self.records is None else tuning.records)
        plan = PLAN(
            delta=width,
            turns=min(turns, MOST_TURNS),
            limits=tuning.limits(is_rounds),
            records=records,
        )
        status, reached, rounds, buckets, steps, overflowed, settled, orphans = persistent.run(
            kernel,
            persistent.grid(kernel, tuning.block, each=1),
            tuning.block,
            csr(out, a),
            _mask(self.mask),
            _starts(self.x),
            self._state(is_rounds, parent),
            self._waiting(),
            plan,
            RESULTS(values=result, present=there),
            results=7,
            as_struct=True,
        )
        if status == persistent.FAULT:
            return None
        found = BitmapVector(n, there, result, reached)
        depth = buckets if how == How.NEAR_FAR else rounds
        trace = self._trace(steps)
        closed = ClosureResult(found, parent, depth, trace, bool(overflowed), bool(settled))
        return closed, bool(orphans)

    def _state(self, is_rounds: bool, parents: Array | None) -> Packed:
        """Return memory for the state of the vertices.

        It has one word per vertex if keys have 32 bits, otherwise two.
        """
        n, itemsize = self.n, self.semiring.return_type.np_type.itemsize
        is_packed = self.order and itemsize <= 4
        key_size = 8 if itemsize == 8 else 4 if self.order else itemsize
        return STATE(
            cells=xp.empty(_words_needed(n, 8 if is_packed else itemsize), xp.uint64),
            codes=None if is_packed else xp.empty(n, xp.uint32),
            before=xp.empty(_words_needed(n, key_size), xp.uint64) if is_rounds else None,
            parents=parents,
        )

    def _waiting(self) -> Packed:
        """Allocate the lists of vertices whose rows wait to be multiplied."""
        out, n = self.out, self.n
        room = min(n, out.nvals // (self.tuning.light + 1)) + 1
        span = out.indptr.dtype.str.replace("i", "u")
        return WAITING(
            n=n,
            room=room,
            near_list=xp.empty(2 * n, xp.int32),
            long_list=xp.empty(2 * room, xp.int32),
            long_ends=xp.empty(2 * room, span),
            far_list=xp.empty(2 * n, xp.int32),
        )

    def _width(self) -> float:
        """Return the width of a bucket: the distance from the best entry of the far list to the new
        horizon of a turn. The width is infinite if no buckets are used."""
        if self.delta is not None:
            return float(self.delta)
        if self.dtype.kind == "b" or not self.out.nvals:
            return math.inf
        weights = _weights_of(self.out)
        degree = max(1.0, self.out.nvals / self.n)
        narrow, few = self.tuning.spread, self.tuning.few_edges
        width = (narrow + (few / degree) ** 4) * abs(weights.mean) / degree
        return width if width > 0 else math.inf

    def _trace(self, steps: int) -> list[Level]:
        if self.records is None:
            return []
        words = ("push", "push, block", "split", "split, block")
        rows = xp.asnumpy(self.records[: 4 * (steps + 1)]).reshape(-1, 4).tolist()
        return [
            Level(words[way], frontier, after[2] - edges, (after[3] - time) * 1e-9)
            for (way, frontier, edges, time), after in pairwise(rows)
        ]


def _words_needed(n: int, itemsize: int) -> int:
    return -(-n * itemsize // 8)


def _mask(mask: VectorMask | None) -> Packed:
    if mask is None:
        return MASK(flags=None, complement=False)
    return MASK(flags=presence(mask), complement=mask.complement)


def _starts(x: AnyVector) -> Packed:
    """Return x as a kernel argument: a list of entries if x is sparse, otherwise dense arrays."""
    indices = x.indices if isinstance(x, SparseVector) else None
    present = x.present if isinstance(x, BitmapVector) else None
    count = 0 if isinstance(x, BitmapVector) else x.nvals
    is_one = is_iso(x.values)
    return STARTS(count=count, indices=indices, present=present, values=x.values, is_iso=is_one)


def distances(a: Csr, x: Csr) -> Csr | None:
    """Return None: this backend has no kernel that computes many closures at once."""
    return None
