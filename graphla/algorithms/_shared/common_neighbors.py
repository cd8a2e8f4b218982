"""Common neighbors of pairs of vertices, and the triangles that they form.

A wedge is a pair of edges with a common end. A third edge closes it into a triangle, and two more
edges close it into a square. The number of wedges between u and v is the number of their common
neighbors, (N plus.pair Nᵀ)(u, v). A masked product computes this number for each entry (u, v) of
the mask, at a cost proportional to the degree of v. The number is the same for (v, u). So the mask
contains each pair only once, with the vertex of larger degree as u. The total cost over all edges
is then Σ min(degree(u), degree(v)), which is at most edges · sqrt(2 · edges) (N. Chiba and T.
Nishizeki, *Arboricity and Subgraph Listing Algorithms*, 1985).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.graph import cached_properties
from graphla.operations.moving import send
from graphla.settings import config
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, select
from semirings.semiring import plus_pair, plus_second, plus_times

WEDGES = 1 << 24
"""The approximate number of wedges in a batch of rows. Because a batch consists of whole rows, it
may exceed this number by at most the wedges of one row. A wedge takes at most 16 bytes."""

TINY = 128
"""On the CPU, graphs with at most this many vertices are multiplied as dense arrays.

A few NumPy operations on such an array take less time than one product of sparse matrices.
"""

ONE_THREAD = 1 << 18
"""OpenBLAS uses one thread for a product of dense arrays with at most this many multiplications."""


def is_tiny(A: Matrix) -> bool:
    """Return whether A is so small that products are fastest with a dense NumPy array."""
    return A.nrows <= TINY and A.device == "cpu" and A.nvals < config.compile_threshold


def dense_array(A: Matrix, values: Any = 1.0) -> np.ndarray:
    """Return A as an FP64 array that has `values` at the entries of A, and 0 elsewhere.

    `values` is a scalar, or an array with one value per entry, row by row. Sums of counts in FP64
    are exact, because the matrix is tiny.
    """
    found = np.zeros(A.shape)
    rows, columns, _ = A.to_coo(values=False, copy=False)
    found[rows, columns] = values
    return found


def drop_loops(A: Matrix) -> Matrix:
    """Return A without its self-loops."""
    return select.offdiag(A).new() if cached_properties.self_loops(A) else A


def pattern(A: Matrix, values: Any = True, *, symmetric: bool = False) -> Matrix:
    """Return a matrix with the pattern of A and the given values, by default true.

    With `symmetric`, the caller asserts that this matrix is symmetric.
    """
    indptr, columns, _ = A.to_csr(copy=False)
    shape: dict[str, Any] = {"ncols": A.ncols, "symmetric": symmetric, "copy": False}
    return Matrix.from_csr(indptr, columns, values, **shape)


def degrees(A: Matrix) -> Any:
    """Return the number of entries in each row, as an INT64 array on the device of A."""
    return cached_properties.degrees(A).to_dense(copy=False)


def orient_edges(N: Matrix, degree: Any) -> Matrix:
    """Return F, a matrix with one entry for each edge of N.

    The entry is in the row of the endpoint with the larger degree.
    """
    return _select_entries(N, _has_greater_degree(N, degree))


def orient_to_hubs(N: Matrix, degree: Any) -> Matrix:
    """Return L, a matrix with one entry for each edge of N that is not a self-loop.

    The entry is in the row of the endpoint with the smaller degree, so each edge leads to the
    endpoint with the larger degree.
    """
    return _select_entries(N, ~_has_greater_degree(N, degree))


def orient_pairs(pairs: Matrix, degree: Any) -> Matrix:
    """Return F, where F(u, v) is the number of entries that `pairs` has at (u, v) and (v, u).

    F has entries only in the row of the vertex with the larger degree.
    """
    leads = _has_greater_degree(pairs, degree)
    return binary.plus["INT64"](
        _select_entries(pairs, leads) | _select_entries(pairs, ~leads).T
    ).new()


def _has_greater_degree(pairs: Matrix, degree: Any) -> Any:
    """Return, for each entry (u, v), whether u has a larger degree than v.

    If the degrees are equal, return whether u <= v.
    """
    rows, columns, _ = pairs.to_coo(values=False, copy=False)
    degree = degree.astype(np.int32)  # so that `take` reads 4 bytes per degree instead of 8
    of_row, of_column = degree.take(rows), degree.take(columns)
    return (of_row > of_column) | ((of_row == of_column) & (rows <= columns))


def _select_entries(pairs: Matrix, kept: Any) -> Matrix:
    """Return a Boolean Matrix with those entries of `pairs` for which `kept` is True."""
    indptr, columns, _ = pairs.to_csr(copy=False)
    before = np.concatenate((np.zeros_like(indptr, shape=1), kept.cumsum(dtype=indptr.dtype)))
    return Matrix.from_csr(before[indptr], columns[kept], True, ncols=pairs.ncols, copy=False)


def row_batches(F: Matrix, N: Matrix) -> Iterator[slice]:
    """Yield consecutive slices of the rows of F.

    The product of each slice and N has about WEDGES terms (wedges).
    """
    # F plus.second degree: the number of wedges in each row of F
    ends = (plus_second["INT64"](F @ cached_properties.degrees(N))).new().to_dense(0).cumsum()
    total = int(ends[-1]) if ends.size else 0
    cuts = np.searchsorted(ends, np.arange(WEDGES, total, WEDGES), side="right")
    yield from map(slice, np.append(0, cuts), np.append(cuts, F.nrows))


def triangles_per_edge(N: Matrix, F: Matrix) -> Matrix:
    """Return T⟨F⟩ = N plus.pair N: the number of triangles that contain each edge {u, v} of F.

    An edge without triangles has no entry.
    """
    return plus_pair["INT64"](N @ N.T).new(mask=F.S)


def triangles_per_vertex(S: Matrix, chosen: Any, *, weighted: bool = False) -> Any:
    """Return the number of triangles at each vertex.

    If `chosen` is not None, only the vertices in `chosen` are considered. If `weighted` is True,
    each triangle counts as the product of its three edge weights, not as 1. S must not have
    self-loops. The pattern and the values of S must be symmetric, and the store of S must record
    that they are.
    """
    R = S if chosen is None else S[chosen, :].new()
    M = orient_edges(S, degrees(S)) if chosen is None else R
    # T⟨M⟩ = S plus.pair S: for each edge, the number of triangles on it. With weights, T⟨M⟩ = S ∘
    # (S plus.times S): for each edge, the sum over these triangles of the product of their three
    # weights.
    if weighted:
        T = plus_times["FP64"](R @ S.T).new(mask=M.S)
        T = binary.times(T & R).new()
    else:
        T = plus_pair["INT64"](R @ S.T).new(mask=M.S)
    # Each corner of a triangle belongs to two of its edges, so the sums count each triangle twice.
    both_ends = dense(T.reduce_rowwise(monoid.plus))
    if chosen is None:
        both_ends = both_ends + dense(T.reduce_columnwise(monoid.plus))
    return both_ends / 2 if weighted else both_ends // 2


def closed_wedges(D: np.ndarray, chosen: Any) -> np.ndarray:
    """Return the row sums of (DDᵀ) ∘ D for a dense array D; only the rows in `chosen`, if given.

    For a symmetric pattern without self-loops, this is twice the number of triangles per vertex.
    """
    rows = D if chosen is None else D[chosen]
    return (multiply_densely(rows, D.T) * rows).sum(axis=1)


def multiply_densely(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return XY.

    The rows of X are divided into parts that are small enough for OpenBLAS to multiply them in this
    thread. Several threads of OpenBLAS would save little time, and would take much longer if other
    processes use the cores.
    """
    step = max(1, ONE_THREAD // max(Y.size, 1))
    found = np.empty((X.shape[0], Y.shape[1]))
    for first in range(0, X.shape[0], step):
        np.matmul(X[first : first + step], Y, out=found[first : first + step])
    return found


def dense(v: Any) -> Any:
    """Return the values of a vector as an array on its device, with 0 for missing entries."""
    return v.new().to_dense(0, copy=False)


def vertex_list(nodes: Any, A: Matrix) -> Any:
    """Return the vertex or vertices in `nodes` as a sorted array without duplicates.

    The array is on the device of A. If `nodes` is None, the result is None.
    """
    if nodes is None:
        return None
    listed = list(nodes) if np.iterable(nodes) else [nodes]
    return send(np.unique(validation.vertices("nodes", listed, A.nrows)), A.device)


def as_result(values: Any, chosen: Any, nodes: Any, n: int) -> Any:
    """Return the result of an algorithm in the form that the argument `nodes` requests.

    `chosen` is the sorted array of the vertices in `nodes`, and `values` holds one value for each
    of them. If `nodes` is None, `chosen` is also None, `values` holds a value for every vertex, and
    the result is a full Vector. If `nodes` is a collection of vertices, the result is a Vector with
    entries at these vertices. If it is a single vertex, the result is a scalar.
    """
    if chosen is None:
        return Vector.from_dense(values, copy=False)
    return Vector.from_coo(chosen, values, size=n) if np.iterable(nodes) else values[0].item()
