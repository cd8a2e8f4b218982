"""PageRank: the host side of `loops/ranks`, a round after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.operands import row_parts, values_of
from graphla.backends.traversals import Ranks
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import run
from graphla.formats import Array, Csr

_one = np.ones(1)


def ranked(
    into: Csr,
    share: Array,
    rank: Array,
    jump: Array,
    fall: Array,
    *,
    alpha: float,
    least: float,
    rounds: int,
    is_weighted: bool,
    threads: int,
) -> Ranks:
    """Rounds until one changes less than `least`, or so many."""
    dtype = share.dtype
    weights, step = _one.astype(dtype), 0
    if is_weighted:
        values, step = values_of(into.values)
        weights = np.ascontiguousarray(values, dtype)
    share, rank = np.ascontiguousarray(share), np.array(rank, dtype)
    carried, ahead = rank * share, np.empty_like(share)
    (jump, jump_step), (fall, fall_step) = values_of(jump), values_of(fall)
    parts = [(k, *part) for k, part in enumerate(row_parts(into.indptr, threads))]
    sums, numbers = np.zeros((max(len(parts), 1), 2)), np.array((1 - alpha, 0.0))
    graph: tuple[Any, ...] = (into.indptr, into.indices, weights)
    rest = (share, jump, fall, numbers, rank)
    loop = load("pagerank.gather", (numba_ops.nothing,), (*graph, carried, *rest, ahead, sums))
    dangling, change = float(rank.sum(where=share == 0, dtype=np.float64)), 0.0
    for done in range(1, rounds + 1):
        numbers[1] = alpha * dangling
        arrays = (*graph, carried, *rest, ahead, sums, step, jump_step, fall_step)
        run(lambda *part, arrays=arrays: loop(*arrays, *part), parts, threads)
        change, dangling = sums.sum(axis=0).tolist()
        carried, ahead = ahead, carried
        if change < least:
            return Ranks(rank, done, change)
    return Ranks(rank, rounds, change)
