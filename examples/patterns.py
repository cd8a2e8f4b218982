"""What does a graph look like as a matrix? Plot the matrices of four graphs, and draw one graph.

`gl.spy` counts the entries of a matrix in bins with sparse operations, so it works for matrices of
any size. A mesh or a road network that was numbered region by region shows blocks near the
diagonal; a random graph is evenly gray; a few hubs appear as dark lines. For a small graph,
`gl.draw` draws the vertices and the edges.

python examples/patterns.py
"""

import numpy as np
import picture

import graphla as gl
from graphla.algorithms import louvain

MATRICES = {
    "roads of New York": gl.datasets.load("road-NY"),
    "airfoil mesh": gl.datasets.load("4elt"),
    "random (uniform)": gl.generators.uniform(50_000, 400_000, seed=1),
    "random with hubs (R-MAT)": gl.generators.kronecker(15, seed=1),
}

print(f"{'matrix':<26}{'vertices':>10}{'entries':>12}{'within 5 % of the diagonal':>29}")
for name, A in MATRICES.items():
    rows, columns, _ = A.to_coo(values=False)
    near = np.mean(abs(rows - columns) <= 0.05 * A.nrows)
    print(f"{name:<26}{A.nrows:>10,}{A.nvals:>12,}{near:>28.1%}")


def draw_matrices(axes):
    figure = axes.figure
    axes.remove()
    for k, (name, A) in enumerate(MATRICES.items()):
        gl.spy(A, bins=200, ax=figure.add_subplot(2, 2, k + 1)).set_title(name, size=11)


def draw_graph(axes):
    G = gl.Graph(gl.datasets.load("karate"))
    title = "Zachary's karate club. Color: Louvain's group"
    gl.draw(G, color=louvain(G, seed=1), categorical=True, title=title, ax=axes)


picture.save("patterns", draw_matrices, wide=9, high=8)
picture.save("karate", draw_graph)
