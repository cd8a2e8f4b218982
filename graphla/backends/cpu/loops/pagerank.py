"""One round of PageRank: each vertex receives rank along its in-edges and from random jumps.

r'(v) = Σ carried(u) over edges u -> v, + (1 - alpha)·jump(v) + fallen·fall(v). carried(u) is
r(u)·alpha / degree(u), or 0 if u is dangling. `fallen` is alpha times the sum of the ranks of all
dangling vertices.
"""

from typing import Any, NamedTuple

import numpy as np

ONE = np.uint64(1)


class Walk(NamedTuple):
    """The parameters of the random walk. A step is 0 if all values before it are equal."""

    indptr: Any  # the matrix in CSC
    indices: Any
    weights: Any
    step: Any
    share: Any  # alpha divided by the total weight of the out-edges
    jump: Any
    jump_step: Any
    fall: Any
    fall_step: Any
    odds: Any  # 1 - alpha, and `fallen`


def gather(walk: Walk, carried, out_rank, out_carried, out_sums, part, first, last):
    """Compute the ranks of vertices first..last - 1.

    sums[part] receives the total change of these ranks, and the total rank of dangling vertices.
    """
    jumped, fallen = walk.odds[0], walk.odds[1]
    step = np.uint64(walk.step)
    jump_step, fall_step = np.uint64(walk.jump_step), np.uint64(walk.fall_step)
    change, dangling = 0.0, 0.0
    for v in range(np.uint64(first), np.uint64(last)):
        total = 0.0
        for p in range(np.uint64(walk.indptr[v]), np.uint64(walk.indptr[v + ONE])):
            total += carried[np.uint64(walk.indices[p])] * walk.weights[p * step]
        total += jumped * walk.jump[v * jump_step] + fallen * walk.fall[v * fall_step]
        change += abs(total - out_rank[v])
        out_rank[v] = total
        out_carried[v] = total * walk.share[v]
        if walk.share[v] == 0:
            dangling += total
    out_sums[part, 0] = change
    out_sums[part, 1] = dangling
