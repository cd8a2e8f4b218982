"""Where is the center of a network? Find cores and trusses of a scale-free graph.

To find the k-core, remove members with fewer than k friends, again and again, until all remaining
members have at least k. A k-truss requires more: each friendship must be part of k - 2 triangles.
Both reduce a large graph to a small, dense center.

python examples/cores.py
"""

import numpy as np
import picture

import graphla as gl
from graphla.algorithms import core_numbers, k_core, k_truss, triangle_count

A = gl.generators.kronecker(12, edge_factor=8, seed=2)
core = core_numbers(A).to_dense()
print(f"{A.nrows:,} vertices, {A.nvals // 2:,} edges, {triangle_count(A):,} triangles\n")


def size(S: gl.Matrix) -> tuple[int, int]:
    """Return the number of edges, and the number of vertices with at least one edge."""
    rows, _, _ = S.to_coo(values=False)
    return np.unique(rows).size, S.nvals // 2


print(f"{'k':>4}{'k-core: vertices':>18}{'edges':>10}{'k-truss: vertices':>20}{'edges':>10}")
for k in range(2, int(core.max()) + 1, 6):
    inner, tight = size(k_core(A, k)), size(k_truss(A, k))
    print(f"{k:>4}{inner[0]:>18,}{inner[1]:>10,}{tight[0]:>20,}{tight[1]:>10,}")

deepest = np.flatnonzero(core == core.max())
inside = A[deepest, deepest].new()
full = deepest.size * (deepest.size - 1)
print(f"\nThe innermost core has {deepest.size} vertices, with core number {core.max()}.")
print(f"{inside.nvals / full:.0%} of the pairs of these vertices are adjacent.")


def draw(axes):
    degrees = np.diff(A.to_csr()[0])
    axes.loglog(degrees[degrees > 0], core[degrees > 0], ".", color=picture.COLORS[1], alpha=0.3)
    axes.set_xlabel("degree")
    axes.set_ylabel("core number")
    axes.set_title(
        "A core number is at most the degree; for hubs it is far less", color=picture.INK
    )
    axes.grid(color=picture.LIGHT)


picture.save("cores", draw)
