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


@try_loops
def pagerank(request: PageRank) -> Ranks | None:
    """Return the ranks after the last round, or None if no compiled loop is used.

    Unless `config.deterministic` is set, the rounds are in place: they read ranks that have already
    been written in the same round, and fewer rounds are needed. Without random jumps (if alpha is
    1), rounds in place may not converge.
    """
    into, dtype = request.into, request.share.dtype
    if not compiles(into.nvals, size=into.nrows):
        return None
    weights, step = np.ones(1, dtype), 0
    if request.is_weighted and into.nvals:
        values, step = values_of(into.values)
        weights = np.ascontiguousarray(values, dtype)
    share, rank = np.ascontiguousarray(request.share), np.array(request.rank, dtype)
    if not step:
        share = share * weights[0]
    carried = rank * share
    is_in_place = request.alpha < 1 and not config.deterministic
    ahead = carried if is_in_place else np.empty_like(share)
    (jump, jump_step), (fall, fall_step) = values_of(request.jump), values_of(request.fall)
    parts = [(k, *part) for k, part in enumerate(row_parts(into.indptr, config.threads))]
    sums, odds = np.zeros((max(len(parts), 1), 3)), np.zeros(2)
    walk = Walk(
        *(into.indptr, into.indices, weights, step, share, jump, jump_step),
        *(fall, fall_step, odds),
    )
    loop = load("pagerank.gather", (numba_ops.nothing,), (walk, carried, rank, ahead, sums))
    dangling, total = (float(x.sum(dtype=np.float64)) for x in (rank[share == 0], rank))
    change, done = np.inf, 0
    while done < request.rounds and not change < request.least:
        done += 1
        odds[:] = (1 - request.alpha) * (total if is_in_place else 1), request.alpha * dangling
        arrays = (*walk, carried, rank, ahead, sums)
        run(lambda *part, arrays=arrays: loop(*arrays, *part), parts, config.threads)
        change, dangling, total = sums.sum(axis=0).tolist()
        change /= total
        carried, ahead = ahead, carried
    rank /= total
    return Ranks(rank, done, change)
