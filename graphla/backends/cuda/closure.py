"""Closures: the least x = x ⊕ xA, in one launch of a persistent kernel.

Kernel: closure.cu.
Waits: for the closure; once for each matrix, for facts about its values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import cupy as xp
import numpy as np

from graphla.backends import Closed, Enough, Level
from graphla.backends.cuda import persistent
from graphla.backends.cuda.launch import INT32_END, NULL, read, size
from graphla.backends.cuda.matvec import flags_of
from graphla.backends.cuda.reduce import reduce, reduce_rows
from graphla.backends.traversals import How
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import load
from graphla.formats import AnyVector, Array, BitmapVector, Csr, SparseVector, VectorMask, is_iso
from semirings import monoid as monoids
from semirings.dtypes import lookup_dtype
from semirings.overflow import overflowing
from semirings.printing import simple_ufunc
from semirings.structures import TypedSemiring

BLOCK = 768
"""Threads in a block, one on each multiprocessor: MOST_THREADS of closure_lists.cuh."""

LIGHT = 32
"""Edges of a row that is not cut, as in closure_lists.cuh."""

HELD = 1024
"""Entries that a block holds for itself in a fused step, at most as in closure_lists.cuh."""
ALONE_ROWS, ALONE_EDGES = 96, 4096
"""What block 0 works on alone: so many short rows, so many edges of long ones."""
FUSED_ROWS, FUSED_EDGES = 1 << 16, 1 << 18
"""What is near in all, up to which blocks go on by themselves."""
FUSED_ROUNDS = 32
"""Rounds that they go on for."""
SPREAD, FEW_EDGES = 4.0, 14.0
"""A bucket is SPREAD + (FEW_EDGES / degree)^4 times the mean weight, over the degree, wide. In a
graph of high degree edges cost, and narrow buckets look at few of them twice; where few edges leave
a vertex steps cost, and wide ones take fewer (R-MAT: 4 to 16 times, a mesh 256 to 1,024, a road
network 1,024 to 4,096)."""
FIRST_ROUNDS = 8
"""Rounds with parents that are first looked at where a cycle may improve: the square of it times
fewer than turns, and so many at least."""
FEW = 64
"""Starts of which the host looks at the values by itself."""

IMPROVING, NEAR_FAR, ROUNDS = range(3)  # as How in closure_lists.cuh

MOST_TURNS = (1 << 32) - 1
RECORDS = 1 << 16
"""Steps of a traced closure that are recorded."""


def closure(
    out: Csr,
    into: Csr | None,
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
    enough: Enough | None = None,
) -> Closed:
    """The least fixpoint of x = x ⊕ xA, or what `limit` products come to; whatever is enough."""
    problem = _Problem(out, x, semiring, mask, traced)
    if how == "rounds":
        return problem.take_rounds(limit, turns, parents)
    may_improve = turns < INT32_END - 1
    rounds = max(FIRST_ROUNDS, turns // FIRST_ROUNDS**2)
    if may_improve:  # what has no end does not settle in as many rounds as there are vertices
        turns = min(turns, out.nrows + 1)
    closed, has_orphans = problem.improve(how == "near_far", parents or may_improve, delta, turns)
    if may_improve and (has_orphans or not closed.settled):
        # Parents from round to round show whether a cycle improves; values that it has brought to
        # an end, such as infinity, come from no start.
        return problem.take_rounds(limit, rounds, True)
    return closed if parents else closed._replace(parents=None)


@dataclass(frozen=True, slots=True)
class _Weights:
    """What is known of a matrix's values; NaN where there is NaN."""

    least: float
    mean: float
    longest: (
        float  # the greatest of each row, added up: no path that leaves a vertex once is longer
    )


_weights: WeakKeyDictionary[Csr, _Weights] = WeakKeyDictionary()


def _weights_of(a: Csr) -> _Weights:
    """The facts, measured once for each matrix; of none, zeros."""
    known = _weights.get(a)
    if known is None:
        known = _weights[a] = _measured(a)
    return known


def _measured(a: Csr) -> _Weights:
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
    """The least and the greatest value of x; (0, 0) of none."""
    if not x.values.size:
        return 0.0, 0.0
    present = x.present if isinstance(x, BitmapVector) else None
    dtype = lookup_dtype(x.values.dtype)
    if isinstance(x, SparseVector) and x.nvals <= FEW:
        values = xp.asnumpy(x.values)
        return float(values.min()), float(values.max())
    return tuple(float(reduce(x.values, m[dtype], present)) for m in (monoids.min, monoids.max))  # pyright: ignore[reportReturnType]


def _adds_lengths(semiring: TypedSemiring) -> bool:
    """Whether it is min.+ on integers of one dtype: values are then lengths of paths."""
    op, monoid = semiring.binaryop, semiring.monoid
    plain = not op.is_positional and simple_ufunc(op.expression, ("x", "y")) is np.add
    one = op.type is op.type2 is op.return_type is monoid.type
    return plain and one and monoid.ufunc is np.minimum and monoid.type.is_integer


class _Problem:
    """One closure: its operands, and the type it is computed in."""

    def __init__(
        self,
        out: Csr,
        x: AnyVector,
        semiring: TypedSemiring,
        mask: VectorMask | None,
        traced: bool,
    ) -> None:
        self.out, self.x, self.mask, self.n = out, x, mask, out.nrows
        self.semiring = semiring
        self.dtype = semiring.return_type.np_type
        self.order = cuda_ops.order_of(semiring.monoid)
        self.is_checked = overflowing(semiring.binaryop) is not None
        if self.is_checked and _adds_lengths(semiring):
            self._bound()
        self.records: Any = xp.empty(4 * RECORDS, xp.uint64) if traced else NULL

    def _bound(self) -> None:
        """Leave checks out where no path can be too long, and take 32 bits where they hold it."""
        weights = _weights_of(self.out)
        least, greatest = _extremes(self.x)
        longest = 1.0001 * (greatest + weights.longest)
        # NaN, which casts give some value, fails these too.
        if not (least >= 0 and weights.least >= 0 and longest <= np.iinfo(self.dtype).max):
            return
        self.is_checked = False
        if self.dtype.itemsize == 8 and longest < INT32_END:
            self.semiring = self.semiring.semiring["INT32"]

    def improve(
        self, is_near_far: bool, parents: bool, delta: float | None, turns: int
    ) -> tuple[Closed, bool]:
        """By entries that improved, the near ones first or all of them; and, if parents are asked
        for, whether some entry's lead to no start.
        """
        width = self._width(delta) if is_near_far and self.order else math.inf
        how = NEAR_FAR if math.isfinite(width) else IMPROVING
        # Where the far list is full of what was near since, do without one.
        return self._run(how, parents, width, turns) or self._take(IMPROVING, parents, turns)

    def take_rounds(self, limit: int, turns: int, parents: bool) -> Closed:
        """From one buffer into the other, `limit` times at most."""
        closed, _ = self._take(ROUNDS, parents, min(limit, turns))
        return closed._replace(settled=closed.settled or limit <= turns)

    def _take(self, how: int, parents: bool, turns: int) -> tuple[Closed, bool]:
        """Without a far list, which alone can fill up."""
        found = self._run(how, parents, math.inf, turns)
        assert found is not None
        return found

    def _run(self, how: int, parents: bool, width: float, turns: int) -> tuple[Closed, bool] | None:
        out, n = self.out, self.n
        a, a_type, a_kept = read(out.values, self.semiring.binaryop.reads_y)
        starts, indices, present, values = _starts(self.x)
        z = self.semiring.return_type.np_type
        kernel = load(
            "closure.cu",
            "close_over",
            (cuda_ops.closing, self.semiring, self.is_checked),
            *(out.indptr.dtype, a_type, a_kept, self.dtype, how, parents, self.mask is not None),
        )
        is_packed = self.order and z.itemsize <= 4
        width_of_key = 8 if z.itemsize == 8 else 4 if self.order else z.itemsize
        cells = xp.empty(_words(n, 8 if is_packed else z.itemsize), xp.uint64)
        codes = NULL if is_packed else xp.empty(n, xp.uint32)
        before = xp.empty(_words(n, width_of_key), xp.uint64) if how == ROUNDS else NULL
        room = min(n, out.nvals // (LIGHT + 1)) + 1
        near, far = xp.empty(2 * n, xp.int32), xp.empty(2 * n, xp.int32)
        span = out.indptr.dtype.str.replace("i", "u")
        long, ends = xp.empty(2 * room, xp.int32), xp.empty(2 * room, span)
        result, there = xp.empty(n, self.dtype), xp.empty(n, bool)
        parent = xp.empty(n, xp.int32) if parents else None
        held = 0 if how == ROUNDS else HELD
        status, reached, rounds, buckets, steps, overflowed, settled, orphans = persistent.run(
            kernel,
            persistent.grid(kernel, BLOCK, each=1),
            BLOCK,
            size(n),
            *(out.indptr, out.indices, a),
            *((NULL, np.bool_(False)) if self.mask is None else _flags(self.mask)),
            *(size(starts), indices, present, values, np.bool_(is_iso(values))),
            *(np.float64(width), np.uint32(min(turns, MOST_TURNS)), cells, codes, before),
            *(size(room), near, long, ends, far),
            *(
                np.uint32(k)
                for k in (ALONE_ROWS, ALONE_EDGES, FUSED_ROWS, FUSED_EDGES, FUSED_ROUNDS, held)
            ),
            *(result, there, NULL if parent is None else parent),
            *(self.records, size(0 if self.records is NULL else RECORDS)),
            results=7,
        )
        if status == persistent.FAULT:
            return None
        found = BitmapVector(n, there, result, reached)
        depth = buckets if how == NEAR_FAR else rounds
        trace = self._trace(steps)
        closed = Closed(found, parent, depth, trace, bool(overflowed), bool(settled))
        return closed, bool(orphans)

    def _width(self, delta: float | None) -> float:
        """How far a bucket reaches; infinite where there is nothing to order by."""
        if delta is not None:
            return float(delta)
        if self.dtype.kind == "b" or not self.out.nvals:
            return math.inf
        weights = _weights_of(self.out)
        degree = max(1.0, self.out.nvals / self.n)
        width = (SPREAD + (FEW_EDGES / degree) ** 4) * abs(weights.mean) / degree
        return width if width > 0 else math.inf

    def _trace(self, steps: int) -> list[Level]:
        if self.records is NULL:
            return []
        words = ("push", "push, block", "split", "split, block")
        rows = xp.asnumpy(self.records[: 4 * (steps + 1)]).reshape(-1, 4).tolist()
        return [
            Level(words[way], frontier, after[2] - edges, (after[3] - time) * 1e-9)
            for (way, frontier, edges, time), after in pairwise(rows)
        ]


def _words(n: int, itemsize: int) -> int:
    return -(-n * itemsize // 8)


def _flags(mask: VectorMask) -> tuple[Array, np.bool_]:
    return flags_of(mask), np.bool_(mask.complement)


def _starts(x: AnyVector) -> tuple[int, Any, Any, Array]:
    """How many places are listed, their indices, which are there, and their values."""
    if isinstance(x, SparseVector):
        return x.nvals, x.indices, NULL, x.values
    if isinstance(x, BitmapVector):
        return 0, NULL, x.present, x.values
    return x.size, NULL, NULL, x.values
