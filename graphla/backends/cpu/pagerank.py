"""PageRank: each round runs the compiled loop in `loops/pagerank`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.pagerank import Walk
from graphla.backends.cpu.operands import row_parts, values_of
from graphla.backends.requests import PageRank, Ranks
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import run
from graphla.settings import config

SHORT = 8
"""If rows have fewer entries than this on average, `gather` divides its vertices into three ranges
and takes one vertex of each range in turn."""
ROUGH = 1e-5
"""If the tolerance is at least this, the loop stores the array `carried` in float32 instead of
float64, so that a larger part of the array fits in the caches.

The rounding changes the ranks by less than 1e-6 in total. If rows are short, `carried` stays
float64, because the conversions would cost more than they save.
"""


@try_loops
def pagerank(request: PageRank) -> Ranks | None:
    """Return the ranks after the last round, or None if no compiled loop is used.

    Unless `config.deterministic` is set, a round updates the ranks in place: it also reads ranks
    that it has already written, so fewer rounds are needed. Without random jumps (if alpha is 1),
    updates in place may not converge.
    """
    into, dtype = request.into, request.share.dtype
    if not compiles(into.nvals, size=into.nrows):
        return None
    weights, step = np.ones(1, dtype), 0
    if request.is_weighted and into.nvals:
        values, step = values_of(into.values)
        weights = np.ascontiguousarray(values, dtype)
    n, threads = into.nrows, config.threads
    share, first = (np.ascontiguousarray(x) for x in (request.share, request.rank))
    if not step and weights[0] != 1:
        share = share * weights[0]
    is_in_place = request.alpha < 1 and not config.deterministic
    ranges = 3 if into.nvals < SHORT * n else 1
    is_rough = is_in_place and not step and ranges == 1 and request.least >= ROUGH
    rank, carried = np.empty(n, dtype), np.empty(n, np.float32 if is_rough else dtype)
    ahead = carried if is_in_place else np.empty_like(carried)
    (jump, jump_step), (fall, fall_step) = values_of(request.jump), values_of(request.fall)
    parts = [(k, *part) for k, part in enumerate(row_parts(into.indptr, threads))]
    sums, odds = np.zeros((max(len(parts), 1), 3)), np.zeros(2)
    walk = Walk(
        *(into.indptr, into.indices, weights, step, share, jump, jump_step),
        *(fall, fall_step, odds),
    )
    loop = load("pagerank.gather", (numba_ops.ranging, ranges), (walk, carried, rank, ahead, sums))
    arrays = share, first, rank, carried, sums
    initialize = load("pagerank.initialize", (numba_ops.ranging, ranges), arrays)
    run(lambda *part: initialize(*arrays, *part), parts, threads)
    change, dangling, total = sums.sum(axis=0).tolist()
    change, done = np.inf, 0
    while done < request.rounds and not change < request.least:
        done += 1
        odds[:] = (1 - request.alpha) * (total if is_in_place else 1), request.alpha * dangling
        arrays = (*walk, carried, rank, ahead, sums)
        run(lambda *part, arrays=arrays: loop(*arrays, *part), parts, threads)
        change, dangling, total = sums.sum(axis=0).tolist()
        change /= total
        carried, ahead = ahead, carried
    divisor = np.array([total])
    normalize = load("pagerank.normalize", (numba_ops.ranging, ranges), (divisor, rank))
    run(lambda _, *part: normalize(divisor, rank, *part), parts, threads)
    return Ranks(rank, done, change)
