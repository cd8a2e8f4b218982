"""Triadic census: for each of the 16 possible types of triads, the number of such triads.

The names of the types are those of P. Holland and S. Leinhardt (1970): the numbers of mutual,
asymmetric and missing pairs, then U (up), D (down), T (transitive) or C (cyclic).

Let C hold the edges without an opposite edge, and M the edges with an opposite edge. Masked
products count the triads of each type that has no missing pair. Products of degrees count the
wedges: two joined pairs that have a common vertex. A wedge is part of either a triad without a
missing pair or a triad with one missing pair. The other triads have at most one joined pair.
"""

from __future__ import annotations

from typing import Any

from graphla.algorithms._shared import common_neighbors
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph.cached_properties import degrees
from graphla.sparse import Matrix
from semirings import binary, monoid
from semirings.semiring import plus_pair

TYPES = (
    "003", "012", "102", "021D", "021U", "021C", "111D", "111U",
    "030T", "030C", "201", "120D", "120U", "120C", "210", "300",
)  # fmt: skip


@graph_algorithm()
def triadic_census(A: Matrix) -> dict[str, int]:
    """``t(030C) = Σ (C plus.pair C)⟨Cᵀ⟩ / 3``, and similar sums for the other types.

    Count the groups of three vertices by the way in which they are joined.

    Self-loops are ignored. In an undirected graph, all pairs are mutual or missing. Takes at most
    O(m √m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.

    Returns:
        dict[str, int]: the number of triads of each of the 16 types. The digits of a type are the
            numbers of mutual, asymmetric and missing pairs.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import triadic_census
        >>> A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 3], 1, nrows=4, ncols=4)
        >>> census = triadic_census(A)
        >>> {name: count for name, count in census.items() if count}
        {'012': 1, '021D': 1, '021C': 1, '030C': 1}

    References:
        P. Holland and S. Leinhardt, *A Method for Detecting Structure in Sociometric Data*, 1970.
        V. Batagelj and A. Mrvar, *A Subquadratic Triad Census Algorithm for Large Sparse Networks
            with Small Maximum Degree*, 2001.
    """
    N = common_neighbors.pattern(common_neighbors.drop_loops(A))
    M = binary.pair["BOOL"](N & N.T).new()
    C = N.dup(mask=~M.S)
    B = C.T.new()
    t: dict[str, int] = dict.fromkeys(TYPES, 0)
    t["030T"] = _count_paths(C, C, C)
    t["030C"] = _count_paths(C, C, B) // 3
    t["120D"] = _count_paths(B, C, M) // 2
    t["120U"] = _count_paths(C, B, M) // 2
    t["120C"] = _count_paths(C, C, M)
    t["210"] = _count_paths(M, M, C)
    t["300"] = _count_paths(M, M, M) // 6
    out, back, both = (_host_degrees(X) for X in (C, B, M))
    t["021D"] = _total(out * (out - 1) // 2) - t["030T"] - t["120D"]
    t["021U"] = _total(back * (back - 1) // 2) - t["030T"] - t["120U"]
    t["021C"] = _total(out * back) - t["030T"] - 3 * t["030C"] - t["120C"]
    t["111D"] = _total(both * back) - 2 * t["120D"] - t["120C"] - t["210"]
    t["111U"] = _total(both * out) - 2 * t["120U"] - t["120C"] - t["210"]
    t["201"] = _total(both * (both - 1) // 2) - t["210"] - 3 * t["300"]
    # Each joined pair is part of n - 2 triads. Subtract the triads that have another joined pair.
    n, asymmetric, mutual = A.nrows, C.nvals, M.nvals // 2
    larger = [name for name in TYPES if name not in ("003", "012", "102")]
    t["012"] = asymmetric * (n - 2) - sum(int(name[1]) * t[name] for name in larger)
    t["102"] = mutual * (n - 2) - sum(int(name[0]) * t[name] for name in larger)
    t["003"] = n * (n - 1) * (n - 2) // 6 - sum(t.values())
    return t


def _count_paths(X: Matrix, Y: Matrix, mask: Matrix) -> int:
    """Return Σ (X plus.pair Y)⟨mask⟩.

    This is the number of paths from u to v that consist of an edge of X and an edge of Y, summed
    over the edges u -> v of the mask.
    """
    if not (X.nvals and Y.nvals and mask.nvals):
        return 0
    return int(plus_pair["INT64"](X @ Y).new(mask=mask.S).reduce_scalar(monoid.plus).get(0))


def _host_degrees(X: Matrix) -> Any:
    return degrees(X).to("cpu").to_dense()


def _total(counts: Any) -> int:
    return int(counts.sum())
