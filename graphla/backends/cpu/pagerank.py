"""PageRank: each round runs the compiled loop in `loops/pagerank`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles
from graphla.backends.cpu.loops.pagerank import Walk
from graphla.backends.cpu.operands import row_parts, values_of
from graphla.backends.requests import PageRank, Ranks
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import run
from graphla.settings import config


def pagerank(request: PageRank) -> Ranks | None:
    """Return the ranks after the last round, or None if no compiled loop is used."""
    into, dtype = request.into, request.share.dtype
    if not compiles(into.nvals, size=into.nrows):
        return None
    weights, step = np.ones(1, dtype), 0
    if request.is_weighted:
        values, step = values_of(into.values)
        weights = np.ascontiguousarray(values, dtype)
    share, rank = np.ascontiguousarray(request.share), np.array(request.rank, dtype)
    carried, ahead = rank * share, np.empty_like(share)
    (jump, jump_step), (fall, fall_step) = values_of(request.jump), values_of(request.fall)
    parts = [(k, *part) for k, part in enumerate(row_parts(into.indptr, config.threads))]
    sums, odds = np.zeros((max(len(parts), 1), 2)), np.array((1 - request.alpha, 0.0))
    walk = Walk(
        *(into.indptr, into.indices, weights, step, share, jump, jump_step),
        *(fall, fall_step, odds),
    )
    loop = load("pagerank.gather", (numba_ops.nothing,), (walk, carried, rank, ahead, sums))
    dangling, change = float(rank.sum(where=share == 0, dtype=np.float64)), 0.0
    for done in range(1, request.rounds + 1):
        odds[1] = request.alpha * dangling
        arrays = (*walk, carried, rank, ahead, sums)
        run(lambda *part, arrays=arrays: loop(*arrays, *part), parts, config.threads)
        change, dangling = sums.sum(axis=0).tolist()
        carried, ahead = ahead, carried
        if change < request.least:
            return Ranks(rank, done, change)
    return Ranks(rank, request.rounds, change)
