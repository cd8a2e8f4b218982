"""Graphs for the GPU's benchmarks, drawn on the device by a fixed seed."""

from __future__ import annotations

from typing import Any

import cupy

import graphla as gl

CHUNK = 1 << 26


GRAPH500 = (0.57, 0.19, 0.19)


def kron_pairs(
    scale: int,
    edge_factor: int = 16,
    seed: int = 1,
    odds: tuple[float, float, float] = GRAPH500,
) -> tuple[Any, Any]:
    """Return the pairs of an R-MAT graph (A, B, C = `odds`), renumbered at random, as int32."""
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


def both_ways(u: Any, v: Any) -> tuple[Any, Any]:
    """Each pair, and each reversed, without self-loops."""
    keep = u != v
    u, v = u[keep], v[keep]
    return cupy.concatenate((u, v)), cupy.concatenate((v, u))


def kron(
    scale: int,
    edge_factor: int = 16,
    seed: int = 1,
    dtype: Any = bool,
    odds: tuple[float, float, float] = GRAPH500,
) -> Any:
    """The symmetric R-MAT graph as a Matrix on the GPU: no self-loops, duplicates joined, iso."""
    return _matrix(*both_ways(*kron_pairs(scale, edge_factor, seed, odds)), 1 << scale, dtype)


def directed_kron(scale: int, edge_factor: int = 16, seed: int = 1, dtype: Any = bool) -> Any:
    """Return the directed R-MAT graph as a Matrix on the GPU, without self-loops."""
    u, v = kron_pairs(scale, edge_factor, seed)
    keep = u != v
    return _matrix(u[keep], v[keep], 1 << scale, dtype, symmetric=False)


def uniform(scale: int, edge_factor: int = 16, seed: int = 1, dtype: Any = bool) -> Any:
    """2^scale vertices, edge_factor times as many pairs drawn evenly, both ways."""
    rng = cupy.random.RandomState(seed)
    n, m = 1 << scale, edge_factor << scale
    u, v = (rng.randint(0, n, m, dtype=cupy.int32) for _ in range(2))
    return _matrix(*both_ways(u, v), n, dtype)


def grid(rows: int, columns: int, drop: float = 0.0, seed: int = 1, dtype: Any = bool) -> Any:
    """The mesh, each edge dropped with that probability."""
    n = rows * columns
    places = cupy.arange(n, dtype=cupy.int32).reshape(rows, columns)
    u = cupy.concatenate((places[:, :-1].ravel(), places[:-1].ravel()))
    v = cupy.concatenate((places[:, 1:].ravel(), places[1:].ravel()))
    if drop:
        keep = cupy.random.RandomState(seed).random_sample(u.size) >= drop
        u, v = u[keep], v[keep]
    return _matrix(cupy.concatenate((u, v)), cupy.concatenate((v, u)), n, dtype)


def caterpillar(spine: int, leaves: int, dtype: Any = bool) -> Any:
    """Return the path 0, 1, ..., spine - 1 with `leaves` further neighbors for each vertex."""
    n = spine * (1 + leaves)
    v = cupy.arange(spine, dtype=cupy.int32)
    u = cupy.concatenate((v[:-1], cupy.repeat(v, leaves)))
    v = cupy.concatenate((v[1:], cupy.arange(spine, n, dtype=cupy.int32)))
    return _matrix(*both_ways(u, v), n, dtype)


def star_with_path(leaves: int, length: int, dtype: Any = bool) -> Any:
    """Return vertex 0 joined with 1, ..., leaves, and the head of a path of `length` vertices."""
    n = 1 + leaves + length
    v = cupy.arange(1, n, dtype=cupy.int32)
    u = cupy.where(v <= leaves + 1, 0, v - 1).astype(cupy.int32)
    return _matrix(*both_ways(u, v), n, dtype)


def renumber(A: Any, seed: int = 1) -> tuple[Any, Any]:
    """Return the symmetric A with its vertices renumbered at random, and the new numbers."""
    numbers = cupy.random.RandomState(seed).permutation(A.nrows).astype(cupy.int32)
    rows, columns, _ = A.to_coo(values=False, copy=False)
    return _matrix(numbers[rows], numbers[columns], A.nrows, bool), numbers


def _matrix(rows: Any, columns: Any, n: int, dtype: Any, symmetric: bool = True) -> Any:
    with gl.config.set(device="cuda"):
        return gl.Matrix.from_coo(
            rows,
            columns,
            1,
            dtype=dtype,
            nrows=n,
            ncols=n,
            dup_op=gl.binary.first,
            symmetric=symmetric,
        )
