"""Breadth-first search as algebra: the graph is a matrix, and each step is a product under a mask.

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
        # `frontier @ A` follows every edge out of the frontier; any_secondi keeps one predecessor k
        # for each vertex reached; the mask excludes vertices that already have a parent.
        frontier(~parent.S, replace) << any_secondi(frontier @ A)  # f⟨¬p, r⟩ = f any.secondi A
        parent(frontier.S) << frontier  # p⟨f⟩ = f
        level += 1

print(f"{parent.nvals:,} of {n:,} crossings are reached from {source}, in {level} levels")
print(f"{len(record.events)} products ran; the first ones:")
print("\n".join(str(record).splitlines()[:6]))

# Follow the parents from a crossing back to the source.
way = [1000]
while way[-1] != source:
    way.append(parent[way[-1]].value)
print(f"from {way[0]} back to {source} it is {len(way) - 1} roads: {way[:4]} ... {way[-3:]}")
