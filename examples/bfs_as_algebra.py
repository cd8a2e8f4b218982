"""Breadth-first search as algebra: the graph is a matrix, and each level is a masked product.

python examples/bfs_as_algebra.py
"""

import graphla as gl
from graphla import Vector, replace
from graphla.semiring import any_secondi

A = gl.datasets.load("road-NY")  # A[i, j] is present if a road joins crossings i and j
n, source = A.nrows, 0

parent, frontier = Vector(int, n), Vector(int, n)
parent[source] = frontier[source] = source
level = 0
with gl.Recorder() as record:
    while frontier.nvals:
        # `frontier @ A` follows every edge out of the frontier; any_secondi keeps one predecessor
        # of each vertex reached; the mask excludes vertices that already have a parent.
        frontier(~parent.S, replace) << any_secondi(frontier @ A)  # f⟨¬p, r⟩ = f any.secondi A
        parent(frontier.S) << frontier  # p⟨f⟩ = f
        level += 1

print(f"{parent.nvals:,} of {n:,} crossings are reachable from {source}, in {level} levels")
print(f"{len(record.events)} products were computed. The first five:")
print("\n".join(str(record).splitlines()[:6]))

# Follow the parents from a crossing back to the source.
path = [1000]
while path[-1] != source:
    path.append(parent[path[-1]].value)
print(
    f"a shortest path from {path[0]} to {source}: {len(path) - 1} roads, {path[:4]} ... {path[-3:]}"
)
