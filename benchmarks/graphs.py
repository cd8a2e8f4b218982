"""Generate or load graphs for benchmarks; fixed seeds give the same graphs in every run.

The first functions generate graphs on a GPU and leave them there. All other functions work on any
device.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from traversal_checks import library

import graphla as gl
from graphla import Matrix, binary

CHUNK = 1 << 26  # number of vertex pairs generated per step
GRAPH500 = (0.57, 0.19, 0.19)
HEAVIEST = 64


# --- on a GPU ------------------------------------------------------------------------------------


def kron_pairs(
    scale: int,
    edge_factor: int = 16,
    seed: int = 1,
    odds: tuple[float, float, float] = GRAPH500,
) -> tuple[Any, Any]:
    """Return the edges of an R-MAT graph as two int32 arrays of vertices, on the GPU.

    `odds` are the probabilities A, B and C of the R-MAT generator. The vertices are randomly
    renumbered.
    """
    import cupy

    first_odds = odds[0], odds[0] + odds[1], sum(odds)
    is_00, is_upper, is_not_11 = (f"{odd:.9g}f" for odd in first_odds)
    rng = cupy.random.RandomState(seed)
    n, m = 1 << scale, edge_factor << scale
    u, v = cupy.zeros(m, cupy.int32), cupy.zeros(m, cupy.int32)
    draw = cupy.ElementwiseKernel(
        "float32 r",
        "int32 u, int32 v",
        f"bool a = r >= {is_upper}; u += u + a; v += v + (a ? r >= {is_not_11} : r >= {is_00})",
    )
    for first in range(0, m, CHUNK):
        part = slice(first, min(first + CHUNK, m))
        for _ in range(scale):
            draw(rng.random_sample(part.stop - part.start, dtype=cupy.float32), u[part], v[part])
    label = rng.permutation(n).astype(cupy.int32)
    return label[u], label[v]


def kron(
    scale: int,
    edge_factor: int = 16,
    seed: int = 1,
    dtype: Any = bool,
    odds: tuple[float, float, float] = GRAPH500,
) -> Matrix:
    """Return a symmetric R-MAT graph without self-loops. All edges share one stored value."""
    u, v = _both_ways(*kron_pairs(scale, edge_factor, seed, odds))
    return _on_card(u, v, 1 << scale, dtype)


def directed_kron(scale: int, edge_factor: int = 16, seed: int = 1, dtype: Any = bool) -> Matrix:
    """Return the directed R-MAT graph without self-loops."""
    u, v = kron_pairs(scale, edge_factor, seed)
    keep = u != v
    return _on_card(u[keep], v[keep], 1 << scale, dtype, symmetric=False)


def uniform(scale: int, edge_factor: int = 16, seed: int = 1, dtype: Any = bool) -> Matrix:
    """Return a symmetric graph with 2^scale vertices. It has edge_factor · 2^scale edges, drawn
    uniformly at random; duplicates and self-loops are dropped."""
    import cupy

    rng = cupy.random.RandomState(seed)
    n, m = 1 << scale, edge_factor << scale
    u, v = (rng.randint(0, n, m, dtype=cupy.int32) for _ in range(2))
    return _on_card(*_both_ways(u, v), n, dtype)


def grid(rows: int, columns: int, drop: float = 0.0, seed: int = 1, dtype: Any = bool) -> Matrix:
    """Return a grid graph with these numbers of rows and columns. Each edge is dropped with
    probability `drop`."""
    import cupy

    n = rows * columns
    places = cupy.arange(n, dtype=cupy.int32).reshape(rows, columns)
    u = cupy.concatenate((places[:, :-1].ravel(), places[:-1].ravel()))
    v = cupy.concatenate((places[:, 1:].ravel(), places[1:].ravel()))
    if drop:
        keep = cupy.random.RandomState(seed).random_sample(u.size) >= drop
        u, v = u[keep], v[keep]
    return _on_card(*_both_ways(u, v), n, dtype)


def caterpillar(spine: int, leaves: int, dtype: Any = bool) -> Matrix:
    """Return a path of `spine` vertices, with `leaves` leaves attached to each of them."""
    import cupy

    n = spine * (1 + leaves)
    v = cupy.arange(spine, dtype=cupy.int32)
    u = cupy.concatenate((v[:-1], cupy.repeat(v, leaves)))
    v = cupy.concatenate((v[1:], cupy.arange(spine, n, dtype=cupy.int32)))
    return _on_card(*_both_ways(u, v), n, dtype)


def star_with_path(leaves: int, length: int, dtype: Any = bool) -> Matrix:
    """Return a star with center 0 and `leaves` leaves. A path of `length` further vertices is
    joined to the center."""
    import cupy

    n = 1 + leaves + length
    v = cupy.arange(1, n, dtype=cupy.int32)
    u = cupy.where(v <= leaves + 1, 0, v - 1).astype(cupy.int32)
    return _on_card(*_both_ways(u, v), n, dtype)


def renumber(A: Matrix, seed: int = 1) -> tuple[Matrix, Any]:
    """Return the symmetric matrix A with its vertices randomly renumbered, and the new number of
    each vertex."""
    import cupy

    numbers = cupy.random.RandomState(seed).permutation(A.nrows).astype(cupy.int32)
    rows, columns, _ = A.to_coo(values=False, copy=False)
    return _on_card(numbers[rows], numbers[columns], A.nrows, bool), numbers


def _both_ways(u: Any, v: Any) -> tuple[Any, Any]:
    """Return each pair and its reverse, without self-loops."""
    import cupy

    keep = u != v
    u, v = u[keep], v[keep]
    return cupy.concatenate((u, v)), cupy.concatenate((v, u))


def _on_card(rows: Any, columns: Any, n: int, dtype: Any, symmetric: bool = True) -> Matrix:
    with gl.config.set(device="cuda"):
        return Matrix.from_coo(
            rows,
            columns,
            1,
            dtype=dtype,
            nrows=n,
            ncols=n,
            dup_op=binary.first,
            symmetric=symmetric,
        )


# --- any device ----------------------------------------------------------------------------------


def kron_on_default_device(scale: int) -> Matrix:
    """Return the symmetric R-MAT graph with edge factor 16 on the configured device."""
    if gl.config.device.startswith("cuda"):
        return kron(scale)
    return gl.generators.kronecker(scale, 16, seed=1)


def stored(folder: Path, name: str, weighted: bool = False) -> Matrix:
    """Return a data set, or a graph stored as .npz in `folder`, as a symmetric matrix. If the two
    directions of an edge have different weights, the smaller weight is used."""
    if name in gl.datasets.names() and not weighted:
        return gl.datasets.load(name)
    with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
        u, v, n = file["src"], file["dst"], int(file["n"])
        weights = file["weight"] if weighted else None
    keep = u != v
    u, v = u[keep], v[keep]
    values = True if weights is None else np.tile(weights[keep], 2)
    return Matrix.from_coo(
        np.concatenate((u, v)),
        np.concatenate((v, u)),
        values,
        nrows=n,
        ncols=n,
        dup_op=binary.min if weighted else binary.first,
        symmetric=True,
    )


def with_weights(A: Matrix) -> Matrix:
    """Return A with integer weights from 1 to 64. The weight of an edge is a hash of its two
    vertices."""
    xp = library(A)
    rows, columns, _ = A.to_coo(values=False, copy=False)
    low = xp.minimum(rows, columns).astype(np.uint32)
    high = xp.maximum(rows, columns).astype(np.uint32)
    mixed = low * np.uint32(0x9E3779B1) ^ high
    del low, high
    for factor in (0x85EBCA6B, 0xC2B2AE35):
        mixed ^= mixed >> np.uint32(15)
        mixed *= np.uint32(factor)
    weights = (mixed >> np.uint32(9)) % np.uint32(HEAVIEST) + np.uint32(1)
    return again(A, weights.astype(np.int32))


def again(A: Matrix, values: Any = True, symmetric: bool = True) -> Matrix:
    """Return a new matrix with the same pattern as A and the given values.

    It shares the CSR index arrays of A, but has no CSC form and no prepared data for searches.
    """
    indptr, indices, _ = A.to_csr(copy=False)
    return Matrix.from_csr(indptr, indices, values, ncols=A.ncols, symmetric=symmetric, copy=False)


def giant(A: Matrix, count: int, seed: int = 1) -> tuple[list[int], Any]:
    """Return `count` random vertices of the largest component, and an array of all its vertices.

    The function assumes that the largest component contains one of the eight vertices with the
    highest degrees, and compares only the components of these vertices.
    """
    xp = library(A)
    degrees = xp.diff(A.to_csr(copy=False)[0])
    inside = max(
        (_reach(A, int(s)) for s in xp.argsort(-degrees)[:8]), key=lambda reached: reached.size
    )
    chosen = np.random.default_rng(seed).choice(inside.size, min(count, inside.size), replace=False)
    return [int(inside[k]) for k in chosen], inside


def undirected_edges(A: Matrix, inside: Any) -> int:
    """Return the number of undirected edges in the component that contains the vertices `inside`.
    TEPS (traversed edges per second) are computed from this number."""
    degrees = library(A).diff(A.to_csr(copy=False)[0])
    return int(degrees[inside].sum(dtype=np.int64)) // 2


def _reach(A: Matrix, source: int) -> Any:
    return gl.algorithms.bfs(A, source).levels.to_coo(copy=False)[0]


def path(n: int) -> Matrix:
    """Return a directed path that starts at vertex 0 and visits all `n` vertices in a random order.
    The weights are 1, 2, 3, 1, 2, 3, ..."""
    order = np.random.default_rng(1).permutation(n)
    # rotate the order so that the path starts at vertex 0
    order = np.roll(order, -int(np.flatnonzero(order == 0)[0]))
    weights = 1.0 + np.arange(n - 1) % 3
    return Matrix.from_coo(order[:-1], order[1:], weights, nrows=n, ncols=n)


def roads() -> Matrix:
    """Return the roads of New York with random lengths from 1 to 64."""
    A = gl.datasets.load("road-NY")
    rows, columns, _ = A.to_coo(values=False)
    once = rows < columns
    lengths = np.random.default_rng(1).integers(1, 64, once.sum(), endpoint=True)
    R = Matrix.from_coo(rows[once], columns[once], lengths, nrows=A.nrows, ncols=A.nrows)
    return binary.any(R | R.T).new()


def largest_component(A: Matrix) -> Matrix:
    """Return the largest component with its vertices renumbered."""
    labels = gl.algorithms.connected_components(A).to_dense()
    inside = np.flatnonzero(labels == np.bincount(labels).argmax())
    return A[inside, inside].new()


BESIDE_NETWORKX: dict[str, tuple[Callable[[], Matrix], bool, str]] = {
    # name: (function that creates the graph, whether the graph is directed, description)
    "R-MAT": (
        lambda: largest_component(gl.generators.kronecker(14, edge_factor=8, seed=1)),
        False,
        "R-MAT, 2^14 vertices, edge factor 8: the largest component",
    ),
    "R-MAT arcs": (
        lambda: gl.generators.kronecker(14, edge_factor=8, seed=1, symmetric=False),
        True,
        "R-MAT, 2^14 vertices, edge factor 8, directed",
    ),
    "uniform": (
        lambda: gl.generators.uniform(2000, 100_000, seed=1),
        False,
        "2,000 vertices, 100,000 edges drawn evenly",
    ),
    "uniform arcs": (
        lambda: gl.generators.uniform(1000, 100_000, seed=1, symmetric=False),
        True,
        "1,000 vertices, 100,000 arcs drawn evenly",
    ),
    "road-NY": (roads, False, "the roads of New York, lengths from 1 to 64 made up"),
}
