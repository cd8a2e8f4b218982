"""Common neighbors of pairs of vertices, and the triangles that they form.

A wedge is a pair of edges with a common end. A third edge closes it into a triangle, and two more
edges close it into a square. The number of wedges between u and v is the number of their common
neighbors, (N plus.pair Nᵀ)(u, v). In a masked product, the cost of this entry is proportional to
the degree of v. So the mask holds each pair once, with the vertex of larger degree as the row. The
total cost over all edges is then Σ min(degree(u), degree(v)), which is at most edges · sqrt(2 ·
edges) (N. Chiba and T. Nishizeki, *Arboricity and Subgraph Listing Algorithms*, 1985).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.graph import cached_properties
from graphla.operations.moving import send
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, select
from semirings.semiring import plus_pair, plus_second, plus_times

WEDGES = 1 << 24
"""Maximum number of wedges in a batch, not counting those of one vertex. A wedge takes at most 16
bytes.
"""


def drop_loops(A: Matrix) -> Matrix:
    """Return A without its self-loops."""
    return select.offdiag(A).new() if cached_properties.self_loops(A) else A


def pattern(A: Matrix, values: Any = True, *, symmetric: bool = False) -> Matrix:
    """Return A with its values replaced; with `symmetric` the caller asserts that A = Aᵀ."""
    indptr, columns, _ = A.to_csr(copy=False)
    shape: dict[str, Any] = {"ncols": A.ncols, "symmetric": symmetric, "copy": False}
    return Matrix.from_csr(indptr, columns, values, **shape)


def degrees(A: Matrix) -> Any:
    """Return the number of entries in each row, as an INT64 array on the device of A."""
    return cached_properties.degrees(A).to_dense(copy=False)


def orient_edges(N: Matrix, degree: Any) -> Matrix:
    """Return F, which holds each edge once, in the row of the vertex with the larger degree."""
    return _select_entries(N, _has_greater_degree(N, degree))


def orient_to_hubs(N: Matrix, degree: Any) -> Matrix:
    """Return L, which holds each edge in the row of smaller degree. Self-loops of N are dropped."""
    return _select_entries(N, ~_has_greater_degree(N, degree))


def orient_pairs(pairs: Matrix, degree: Any) -> Matrix:
    """Count (u, v) and (v, u) at F(u, v), where u is the vertex with the larger degree."""
    leads = _has_greater_degree(pairs, degree)
    return binary.plus["INT64"](
        _select_entries(pairs, leads) | _select_entries(pairs, ~leads).T
    ).new()


def _has_greater_degree(pairs: Matrix, degree: Any) -> Any:
    """Return for each entry whether its row has the larger degree, or the lower index in a tie."""
    rows, columns, _ = pairs.to_coo(values=False, copy=False)
    degree = degree.astype(np.int32)  # INT32 halves the number of bytes that `take` reads
    of_row, of_column = degree.take(rows), degree.take(columns)
    return (of_row > of_column) | ((of_row == of_column) & (rows <= columns))


def _select_entries(pairs: Matrix, kept: Any) -> Matrix:
    """Return a Matrix that is true at the entries whose flag in `kept` is set."""
    indptr, columns, _ = pairs.to_csr(copy=False)
    before = np.concatenate((np.zeros_like(indptr, shape=1), kept.cumsum(dtype=indptr.dtype)))
    return Matrix.from_csr(before[indptr], columns[kept], True, ncols=pairs.ncols, copy=False)


def row_batches(F: Matrix, N: Matrix) -> Iterator[slice]:
    """Yield slices of rows of F such that each slice of F N has about WEDGES wedges."""
    # wedges(u) = F plus.second degree
    ends = (plus_second["INT64"](F @ cached_properties.degrees(N))).new().to_dense(0).cumsum()
    total = int(ends[-1]) if ends.size else 0
    cuts = np.searchsorted(ends, np.arange(WEDGES, total, WEDGES), side="right")
    yield from map(slice, np.append(0, cuts), np.append(cuts, F.nrows))


def triangles_per_edge(N: Matrix, F: Matrix) -> Matrix:
    """Return T⟨F⟩ = N plus.pair N: the number of triangles on each edge, if there are any."""
    return plus_pair["INT64"](N @ N.T).new(mask=F.S)


def triangles_per_vertex(S: Matrix, chosen: Any, *, weighted: bool = False) -> Any:
    """Count the triangles at each vertex, or add up the products of their weights if `weighted`.

    The pattern and values of S must be symmetric and recorded as such in its store. S must not have
    self-loops.
    """
    R = S if chosen is None else S[chosen, :].new()
    M = orient_edges(S, degrees(S)) if chosen is None else R
    # T⟨M⟩ = S plus.pair S: the number of triangles on each edge. With weights, T⟨M⟩ = S ∘ (S
    # plus.times S): the sum of the products of their weights.
    if weighted:
        T = plus_times["FP64"](R @ S.T).new(mask=M.S)
        T = binary.times(T & R).new()
    else:
        T = plus_pair["INT64"](R @ S.T).new(mask=M.S)
    # Each corner of a triangle is on two of its edges.
    both_ends = dense(T.reduce_rowwise(monoid.plus))
    if chosen is None:
        both_ends = both_ends + dense(T.reduce_columnwise(monoid.plus))
    return both_ends / 2 if weighted else both_ends // 2


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
    """Return a scalar for a single vertex, otherwise a Vector for all vertices or for `chosen`."""
    if chosen is None:
        return Vector.from_dense(values, copy=False)
    return Vector.from_coo(chosen, values, size=n) if np.iterable(nodes) else values[0].item()
