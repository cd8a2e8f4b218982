"""Moves of Louvain's method in plain Python, for small graphs and for machines without Numba."""

from __future__ import annotations

from collections import deque

import numpy as np

from graphla.backends.cpu.loops.communities import MARGIN
from graphla.formats import Array, Csr


def moved(links: Csr, out: Array, into: Array, factor: float, words: Array) -> Array:
    """Move vertices until no move increases the modularity; return the community of each vertex.

    The order of moves and of sums is the same as in `loops/communities.move`, so both give the same
    communities. Each move depends on the moves before it, so NumPy cannot vectorize the loop. Lists
    and a dictionary of the communities around one vertex are faster here than arrays.
    """
    indptr, indices, values = links.indptr.tolist(), links.indices, links.values
    community = list(range(links.nrows))
    outs, intos = out.tolist(), into.tolist()  # per vertex
    total_out, total_in = outs.copy(), intos.copy()  # per community
    queue = deque(np.argsort(words).tolist())
    waits = [True] * links.nrows
    while queue:
        v = queue.popleft()
        waits[v] = False
        row = slice(indptr[v], indptr[v + 1])
        neighbors = indices[row].tolist()
        linked: dict[int, float] = {}  # by community, in the order in which v meets them
        for j, weight in zip(neighbors, values[row].tolist(), strict=True):
            if j != v:
                c = community[j]
                linked[c] = linked.get(c, 0.0) + weight
        own, o, i = community[v], outs[v], intos[v]
        total_out[own] -= o
        total_in[own] -= i
        best = own
        most = linked.pop(own, 0.0) - factor * (o * total_in[own] + i * total_out[own])
        most += MARGIN * (o + i)
        for c, weight in linked.items():
            gain = weight - factor * (o * total_in[c] + i * total_out[c])
            if gain > most:
                best, most = c, gain
        total_out[best] += o
        total_in[best] += i
        if best == own:
            continue
        community[v] = best
        for j in neighbors:
            if community[j] != best and not waits[j]:
                waits[j] = True
                queue.append(j)
    return np.array(community, np.int32)
