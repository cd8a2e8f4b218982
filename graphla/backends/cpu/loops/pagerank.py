"""One round of PageRank: each vertex receives rank along its in-edges and from random jumps.

The new rank of v is the sum of three terms:
- the sum of carried(u) times the weight of the edge, over all edges u -> v. carried(u) is alpha
  times the old rank of u, divided by the total weight of u's out-edges; it is 0 if u is dangling
  (has no out-edges). If all weights are equal, carried(u) already includes the weight as a factor;
- (1 - alpha)·jump(v), where jump(v) is the probability that a random jump leads to v;
- fallen·fall(v), where `fallen` is alpha times the sum of the ranks of all dangling vertices, and
  fall(v) is the probability that v is the next vertex after a dangling one.

If `carried` and `out_carried` are the same array, a round uses the new ranks of the vertices before
v. The ranks then converge in fewer rounds, but the sum of the ranks changes and takes many rounds
to return to 1. So these ranks are relative: their sum is arbitrary, and the probabilities of jumps
are multiplied by the sum of the ranks before the round.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.placeholder_ops import RANGES

ONE, TWO, FOUR = np.uint64(1), np.uint64(2), np.uint64(4)


class Walk(NamedTuple):
    """The parameters of the random walk.

    A field whose name ends in `step` belongs to the array in the field before it. The step is 0 if
    all elements of this array are equal and only one of them is stored; otherwise the step is 1.
    """

    indptr: Any  # the matrix in CSC: indptr, indices and weights
    indices: Any
    weights: Any
    step: Any
    share: Any  # per vertex: carried(u) divided by the rank of u; 0 for a dangling vertex
    jump: Any
    jump_step: Any
    fall: Any
    fall_step: Any
    # Two values: 1 - alpha (multiplied by the previous sum of the ranks if the round is in place),
    # and `fallen`.
    odds: Any


def initialize(share, first_rank, out_rank, out_carried, out_sums, part, first, last):
    """Copy the initial ranks of vertices first..last - 1, and compute their `carried`.

    out_sums[part] receives two sums over these vertices: of the ranks of dangling vertices, and of
    all ranks.
    """
    dangling, every = 0.0, 0.0
    for v in range(np.uint64(first), np.uint64(last)):
        rank = first_rank[v]
        out_rank[v] = rank
        out_carried[v] = rank * share[v]
        dangling += 0.0 if share[v] else rank
        every += rank
    out_sums[part, 1] = dangling
    out_sums[part, 2] = every


def normalize(total, out_rank, first, last):
    """Divide the ranks of vertices first..last - 1 by their sum, which is total[0]."""
    for v in range(np.uint64(first), np.uint64(last)):
        out_rank[v] /= total[0]


def gather(walk: Walk, carried, out_rank, out_carried, out_sums, part, first, last):
    """Compute the ranks of vertices first..last - 1.

    The vertices are divided into RANGES ranges of equal length, and the loop takes one vertex of
    each range in turn. In a mesh, most vertices are neighbors of the vertex before them, so with
    one range, a round in place would wait for each new rank before it computes the next one. If
    rows are long, one range is faster. out_sums[part] receives three sums over these vertices: of
    the changes of the ranks, of the ranks of dangling vertices, and of all ranks.
    """
    jumped, fallen = walk.odds[0], walk.odds[1]
    jump_step, fall_step = np.uint64(walk.jump_step), np.uint64(walk.fall_step)
    is_uneven = walk.jump_step or walk.fall_step
    jumps = jumped * walk.jump[0] + fallen * walk.fall[0]
    change, dangling, every = 0.0, 0.0, 0.0
    first, last, ranges = np.uint64(first), np.uint64(last), np.uint64(RANGES)
    length = (last - first + ranges - ONE) // ranges
    for k in range(length):
        for r in range(ranges):
            v = first + r * length + k
            if v >= last:
                break
            if is_uneven:
                jumps = jumped * walk.jump[v * jump_step] + fallen * walk.fall[v * fall_step]
            total = arrivals(walk, carried, v) + jumps
            old = out_rank[v]
            out_rank[v] = total
            # Use the rounded rank, so that the change can become 0.
            change += abs(out_rank[v] - old)
            every += total
            out_carried[v] = total * walk.share[v]
            if walk.share[v] == 0:
                dangling += total
    out_sums[part, 0] = change
    out_sums[part, 1] = dangling
    out_sums[part, 2] = every


def arrivals(walk, carried, v):
    """Return the rank that arrives at v along its in-edges."""
    p, end = np.uint64(walk.indptr[v]), np.uint64(walk.indptr[v + ONE])
    total = 0.0
    if walk.step:
        while p < end:
            total += carried[np.uint64(walk.indices[p])] * walk.weights[p]
            p += ONE
        return total
    while p + FOUR <= end:
        # Add each pair first: four additions, each of which waits for the one before, would take
        # longer than the four reads.
        pair = carried_by(walk, carried, p) + carried_by(walk, carried, p + ONE)
        p += TWO
        total += pair + (carried_by(walk, carried, p) + carried_by(walk, carried, p + ONE))
        p += TWO
    if p < end and p + TWO < np.uint64(walk.indices.size):
        # One to three entries are left. Read three entries without branches, because the processor
        # would often predict these branches wrongly.
        second, third = carried_by(walk, carried, p + ONE), carried_by(walk, carried, p + TWO)
        second = second if p + ONE < end else 0.0
        third = third if p + TWO < end else 0.0
        return total + (carried_by(walk, carried, p) + second + third)
    while p < end:
        total += carried_by(walk, carried, p)
        p += ONE
    return total


def carried_by(walk, carried, p):
    """Return the rank that arrives along the edge of entry p. All weights must be equal."""
    return carried[np.uint64(walk.indices[p])]
