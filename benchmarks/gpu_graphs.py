"""Graphs for the GPU's benchmarks, drawn on the device by a fixed seed."""

from __future__ import annotations

from typing import Any

import cupy

import graphla as gl

CHUNK = 1 << 26


def kron_pairs(scale: int, edge_factor: int = 16, seed: int = 1) -> tuple[Any, Any]:
    """Graph500's R-MAT pairs (A, B, C = .57, .19, .19), vertices renumbered at random; int32."""
    rng = cupy.random.RandomState(seed)
    n, m = 1 << scale, edge_factor << scale
    u, v = cupy.zeros(m, cupy.int32), cupy.zeros(m, cupy.int32)
    draw = cupy.ElementwiseKernel(
        "float32 r",
        "int32 u, int32 v",
        "bool a = r >= .76f; u += u + a; v += v + (a ? r >= .95f : r >= .57f)",
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


def kron(scale: int, edge_factor: int = 16, seed: int = 1, dtype: Any = bool) -> Any:
    """The symmetric R-MAT graph as a Matrix on the GPU: no self-loops, duplicates joined, iso."""
    return _matrix(*both_ways(*kron_pairs(scale, edge_factor, seed)), 1 << scale, dtype)


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


def _matrix(rows: Any, columns: Any, n: int, dtype: Any) -> Any:
    with gl.config.set(device="cuda"):
        return gl.Matrix.from_coo(
            rows, columns, 1, dtype=dtype, nrows=n, ncols=n, dup_op=gl.binary.first, symmetric=True
        )
