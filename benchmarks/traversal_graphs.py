"""The graphs that traversals are measured on: symmetric, without self-loops, by fixed seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from traversal_checks import library

import graphla as gl
from graphla import Matrix

HEAVIEST = 64


def kron(scale: int) -> Matrix:
    """R-MAT with edge factor 16 (A, B, C = .57, .19, .19), renumbered at random."""
    if gl.config.device.startswith("cuda"):
        import gpu_graphs

        return gpu_graphs.kron(scale)
    return gl.generators.kronecker(scale, 16, seed=1)


def uniform(scale: int) -> Matrix:
    """2^scale vertices and 16 times as many edges drawn evenly."""
    import gpu_graphs

    return gpu_graphs.uniform(scale)


def grid(side: int, drop: float) -> Matrix:
    """The square mesh, that part of its edges dropped."""
    import gpu_graphs

    return gpu_graphs.grid(side, side, drop)


def stored(folder: Path, name: str, weighted: bool = False) -> Matrix:
    """A graph of a folder of .npz files, made symmetric; of two weights the least."""
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
        dup_op=gl.binary.min if weighted else gl.binary.first,
        symmetric=True,
    )


def with_weights(A: Matrix) -> Matrix:
    """A with a whole weight from 1 to 64 on each edge, drawn from its two ends: equal both ways."""
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
    indptr, indices, _ = A.to_csr(copy=False)
    return Matrix.from_csr(
        indptr, indices, weights.astype(np.int32), ncols=A.ncols, symmetric=True, copy=False
    )


def giant(A: Matrix, count: int, seed: int = 1) -> tuple[list[int], Any]:
    """So many vertices of the largest component, by a fixed seed; and which vertices are in it.

    The largest is the one that most is reached in from one of the eight vertices of highest degree.
    """
    xp = library(A)
    degrees = xp.diff(A.to_csr(copy=False)[0])
    inside = max(
        (_reached(A, int(s)) for s in xp.argsort(-degrees)[:8]), key=lambda reached: reached.size
    )
    chosen = np.random.default_rng(seed).choice(inside.size, min(count, inside.size), replace=False)
    return [int(inside[k]) for k in chosen], inside


def undirected_edges(A: Matrix, inside: Any) -> int:
    """The edges that TEPS counts: those of the component, each once."""
    degrees = library(A).diff(A.to_csr(copy=False)[0])
    return int(degrees[inside].sum(dtype=np.int64)) // 2


def _reached(A: Matrix, source: int) -> Any:
    return gl.algorithms.bfs(A, source).levels.to_coo(copy=False)[0]
