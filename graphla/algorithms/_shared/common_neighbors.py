"""Wedges: two edges that meet. A third edge closes one to a triangle, two more to a square.

The wedges that join u and v are their common neighbours: (N plus.pair Nᵀ)(u, v), which costs the
degree of that one of the two which is not the row of the mask. So a mask names each pair once, in
the row of the greater degree. The cost of all edges is then Σ min(degree, degree), at most edges ·
sqrt(2 · edges) (N. Chiba and T. Nishizeki, *Arboricity and Subgraph Listing Algorithms*, 1985).
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
"""Wedges whose ends are listed at a time: at most 16 bytes each, beside those of one vertex."""


def drop_loops(A: Matrix) -> Matrix:
    """A without its self-loops."""
    return select.offdiag(A).new() if cached_properties.self_loops(A) else A


def pattern(A: Matrix, values: Any = True, *, symmetric: bool = False) -> Matrix:
    """`values`, or true, where A has an entry; `symmetric` vouches that Aᵀ has the same."""
    indptr, columns, _ = A.to_csr(copy=False)
    shape: dict[str, Any] = {"ncols": A.ncols, "symmetric": symmetric, "copy": False}
    return Matrix.from_csr(indptr, columns, values, **shape)


def degrees(A: Matrix) -> Any:
    """The number of entries in each row: an INT64 array of the device of A."""
    return cached_properties.degrees(A).to_dense(copy=False)


def orient_edges(N: Matrix, degree: Any) -> Matrix:
    """F: of a symmetric pattern the entries (u, v) in the row of the greater degree."""
    return _only(N, _leads(N, degree))


def orient_to_hubs(N: Matrix, degree: Any) -> Matrix:
    """L = Fᵀ, for an N that may have self-loops: each edge, in the row of the lesser degree."""
    return _only(N, ~_leads(N, degree))


def hub_first(pairs: Matrix, degree: Any) -> Matrix:
    """F(u, v) = how many of (u, v) and (v, u) are pairs, u being that of the greater degree."""
    leads = _leads(pairs, degree)
    return binary.plus["INT64"](_only(pairs, leads) | _only(pairs, ~leads).T).new()


def _leads(pairs: Matrix, degree: Any) -> Any:
    """Whether the row of each entry has the greater degree, or of equal ones the lesser number."""
    rows, columns, _ = pairs.to_coo(values=False, copy=False)
    degree = degree.astype(np.int32)  # half as much to gather
    of_row, of_column = degree.take(rows), degree.take(columns)
    return (of_row > of_column) | ((of_row == of_column) & (rows <= columns))


def _only(pairs: Matrix, kept: Any) -> Matrix:
    """True at the entries that are kept."""
    indptr, columns, _ = pairs.to_csr(copy=False)
    before = np.concatenate((np.zeros_like(indptr, shape=1), kept.cumsum(dtype=indptr.dtype)))
    return Matrix.from_csr(before[indptr], columns[kept], True, ncols=pairs.ncols, copy=False)


def row_batches(F: Matrix, N: Matrix) -> Iterator[slice]:
    """Rows of F, cut so that those of F N are made of about WEDGES wedges each."""
    # wedges(u) = F plus.second degree
    ends = (plus_second["INT64"](F @ cached_properties.degrees(N))).new().to_dense(0).cumsum()
    total = int(ends[-1]) if ends.size else 0
    cuts = np.searchsorted(ends, np.arange(WEDGES, total, WEDGES), side="right")
    yield from map(slice, np.append(0, cuts), np.append(cuts, F.nrows))


def triangles_per_edge(N: Matrix, F: Matrix) -> Matrix:
    """T⟨F⟩ = N plus.pair N: on how many triangles each edge lies, where it lies on any."""
    return plus_pair["INT64"](N @ N.T).new(mask=F.S)


def triangles_per_vertex(S: Matrix, chosen: Any, *, weighted: bool = False) -> Any:
    """t(v) = Σ over the triangles {v, j, k} of S(v, j) S(j, k) S(k, v), or of 1: an array.

    S is symmetric, in its values too, without self-loops, and known to be by its forms.
    """
    R = S if chosen is None else S[chosen, :].new()
    M = orient_edges(S, degrees(S)) if chosen is None else R
    # T⟨M⟩ = S plus.pair S, or S ∘ (S plus.times S): what there is on each edge
    if weighted:
        T = plus_times["FP64"](R @ S.T).new(mask=M.S)
        T = binary.times(T & R).new()
    else:
        T = plus_pair["INT64"](R @ S.T).new(mask=M.S)
    # A triangle lies on two edges of each of its corners
    both_ends = dense(T.reduce_rowwise(monoid.plus))
    if chosen is None:
        both_ends = both_ends + dense(T.reduce_columnwise(monoid.plus))
    return both_ends / 2 if weighted else both_ends // 2


def dense(v: Any) -> Any:
    """The values of a vector, 0 where there is none: an array of its device."""
    return v.new().to_dense(0, copy=False)


def vertex_list(nodes: Any, A: Matrix) -> Any:
    """The vertices that `nodes` names, one or several, in order and once each; None for None.

    An array of the device of A.
    """
    if nodes is None:
        return None
    listed = list(nodes) if np.iterable(nodes) else [nodes]
    return send(np.unique(validation.vertices("nodes", listed, A.nrows)), A.device)


def as_answer(values: Any, chosen: Any, nodes: Any, n: int) -> Any:
    """The value of one vertex; or a Vector, of all or with entries at those chosen."""
    if chosen is None:
        return Vector.from_dense(values, copy=False)
    return Vector.from_coo(chosen, values, size=n) if np.iterable(nodes) else values[0].item()
