"""How do networks fail? Compare a grid and a network with hubs under failures and attacks.

Vertices are removed, a few percent at a time, at random (failures) or by degree (attacks). The
measure is the fraction of the remaining vertices that are in the largest connected component. The
grid falls apart even under random failures, once about a third of its vertices are removed. The
network with hubs survives random failures, but breaks down when its hubs are removed (R. Albert, H.
Jeong and A.-L. Barabási, *Error and attack tolerance of complex networks*, 2000).

python examples/resilience.py
"""

import numpy as np
import picture

import graphla as gl
from graphla.algorithms import connected_components

SHARES = np.arange(0, 0.51, 0.05)


def largest_component(A: gl.Matrix) -> gl.Matrix:
    """Return the subgraph of the largest component of A."""
    labels = connected_components(A).to_dense()
    inside = np.flatnonzero(labels == np.bincount(labels).argmax())
    return A[inside, inside].new()


def giant(A: gl.Matrix, order: np.ndarray, share: float) -> float:
    """Return the fraction of the remaining vertices that are in the largest component.

    The fraction `share` of the vertices of A is removed: those that come first in `order`.
    """
    left = np.sort(order[int(share * order.size) :])
    sizes = np.bincount(connected_components(A[left, left].new()).to_dense())
    return sizes.max() / left.size


networks = {
    "grid": largest_component(gl.generators.grid(60, 60, drop=0.2, seed=3)),
    "R-MAT": largest_component(gl.generators.kronecker(12, edge_factor=2, seed=3)),
}
rng = np.random.default_rng(5)
lines = {}
for name, A in networks.items():
    degrees = np.diff(A.to_csr()[0])
    print(f"{name}: {A.nrows:,} vertices, {A.nvals // 2:,} edges, largest degree {degrees.max()}")
    for by, order in (
        ("random order", rng.permutation(A.nrows)),
        ("hubs first", np.argsort(-degrees, kind="stable")),
    ):
        lines[name, by] = [giant(A, order, share) for share in SHARES]

print(f"\n{'removed':>8}" + "".join(f"{name + ', ' + by:>25}" for name, by in lines))
for row, share in enumerate(SHARES):
    print(f"{share:8.0%}" + "".join(f"{line[row]:25.1%}" for line in lines.values()))


def draw(axes):
    for ((name, by), line), style in zip(lines.items(), ("-o", "--o", "-s", "--s"), strict=True):
        color = picture.COLORS[name == "R-MAT"]
        axes.plot(100 * SHARES, 100 * np.array(line), style, color=color, label=f"{name}, {by}")
    axes.set_xlabel("removed vertices, %")
    axes.set_ylabel("remaining vertices in the largest component, %")
    axes.set_title("Random failures and targeted attacks", color=picture.INK)
    axes.grid(color=picture.LIGHT)
    axes.legend()


picture.save("resilience", draw)
