"""One round of PageRank: each vertex gathers what its in-edges carry, and what lands by jumps.

r'(v) = sum of carried(u) over edges u -> v, + (1 - alpha) jump(v) + fallen fall(v), where carried
is r(u) alpha / degree(u), and fallen alpha times the ranks of dangling vertices, whose share is 0.
"""

import numpy as np

ONE = np.uint64(1)


def gather(
    indptr,
    indices,
    weights,
    carried,
    share,
    jump,
    fall,
    numbers,
    out_rank,
    out_carried,
    out_sums,
    step,
    jump_step,
    fall_step,
    part,
    first,
    last,
):
    """Rows first..last - 1; the change of ranks, and ranks of dangling vertices, in sums[part]."""
    jumped, fallen = numbers[0], numbers[1]
    step, jump_step, fall_step = np.uint64(step), np.uint64(jump_step), np.uint64(fall_step)
    change, dangling = 0.0, 0.0
    for v in range(np.uint64(first), np.uint64(last)):
        total = 0.0
        for p in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
            total += carried[np.uint64(indices[p])] * weights[p * step]
        total += jumped * jump[v * jump_step] + fallen * fall[v * fall_step]
        change += abs(total - out_rank[v])
        out_rank[v] = total
        out_carried[v] = total * share[v]
        if share[v] == 0:
            dangling += total
    out_sums[part, 0] = change
    out_sums[part, 1] = dangling
