"""A maximal matching: edges of which no two share a vertex, and to which none can be added.

Edges that are the dearest at both their ends are taken, and again among the vertices that are left:
R. Preis, *Linear Time 1/2-Approximation Algorithm for Maximum Weighted Matching in General Graphs*,
1999; in rounds, F. Manne and R. Bisseling, *A Parallel Approximation Algorithm for the Weighted
Maximum Matching Problem*, 2007. As all edges stand in one order, that of their weights and then of
chance, it is the matching of the greedy loop over that order, whichever way it is found.

Invariants of `definition`, at the head of each round:
- R(i, j) = R(j, i) is the place of edge {i, j} in the order, no two alike; R has no diagonal;
- free has the vertices without a mate that may yet have one.
"""

from __future__ import annotations

from typing import Any

from graphla.algorithms import arguments, chance
from graphla.backends import backend
from graphla.formats import Array, Csr
from graphla.graph.labels import called
from graphla.operations.operation import perform
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixForms
from semirings import binary
from semirings.exceptions import InvalidValue
from semirings.semiring import max_first


@arguments.of_graph(gives=("",), undirected=True)
def maximal_matching(A: Matrix, weight: Any = None, seed: Any = None) -> Vector:
    """m(i) = j and m(j) = i for the edges {i, j} of a maximal matching: the mates, if any.

    An edge is an entry of A; A must be symmetric, and self-loops do not count. With `weight` (True)
    the values of A, which must be symmetric too, are weights, and heavier edges are taken first:
    then no matching weighs more than twice as much, if none is below 0. Edges of one weight are
    taken by chance: by `seed`, of which None is 0.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import maximal_matching
    >>> path = Matrix.from_coo([0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2], [1, 1, 5, 5, 1, 1])
    >>> maximal_matching(path, weight=True).to_dict()
    {1: 2, 2: 1}
    """
    is_weighted = arguments.weighs("weight", weight)
    if is_weighted:
        _refuse_unequal(A)
    drawn = chance.seeded(seed)
    mates = perform("match", _matched, A._forms, is_weighted, drawn)
    if mates is None:
        return definition(A, is_weighted, drawn)
    mates = Vector.from_dense(mates, dtype="INT64", copy=False)
    return mates.select(">=", 0).new()


def definition(A: Matrix, weight: bool, seed: int) -> Vector:
    """The same by products with the places of the edges in their order."""
    n = A.nrows
    mates, free = Vector(int, n), Vector.from_scalar(True, n)
    i, j, place = perform("places", _places, A._forms, weight, seed)
    upper = Matrix.from_coo(i, j, place, nrows=n, ncols=n)
    R = binary.any(upper | upper.T).new()
    ends = Vector.from_coo(place, i + j, size=i.size)
    while free.nvals:
        # best⟨free⟩ = R max.first free: for each vertex the dearest edge to one that is free
        best = max_first(R @ free).new(mask=free.S)
        # other(i) = the other end of best(i)
        at, edge = best.to_coo(copy=False)
        other = ends[edge].new().to_dense(copy=False) - at
        # an edge that is the dearest at both its ends is taken
        both = best.to_dense(-1, copy=False)[other] == edge
        mates(binary.second) << Vector.from_coo(at[both], other[both], size=n)
        # free⟨best, ~mates⟩ = free
        free(best.S, replace=True) << free
        free(~mates.S, replace=True) << free
    return mates


def _places(a: MatrixForms, is_weighted: bool, seed: int) -> tuple[Array, Array, Array]:
    """Each edge i < j, and its place among all: that of its weight, then of chance."""
    do, csr = backend(a.device), a.csr
    xp, rows = do.xp, do.row_of_entry(csr)
    upper = xp.flatnonzero(rows < csr.indices)[::-1]  # of equal ones the first is the dearest
    i, j = rows[upper].astype(xp.int64), csr.indices[upper].astype(xp.int64)
    words = chance.words(xp, a.nrows, seed)
    order = xp.argsort(chance.finished(words[i] + words[j]), kind="stable")
    if is_weighted:
        order = order[xp.argsort(csr.values[upper][order], kind="stable")]
    place = xp.empty(i.size, xp.int64)
    place[order] = xp.arange(i.size, dtype=xp.int64)
    return i, j, place


def _matched(a: MatrixForms, is_weighted: bool, seed: int) -> Array | None:
    do = backend(a.device)
    csr = a.csr if is_weighted else _unweighted(do.xp, a.csr)
    return do.match(csr, chance.words(do.xp, a.nrows, seed))


def _unweighted(xp: Any, a: Csr) -> Csr:
    ones = xp.broadcast_to(xp.ones(1, xp.int8), a.indices.shape)
    return Csr(a.nrows, a.ncols, a.indptr, a.indices, ones)


def _refuse_unequal(A: Matrix) -> None:
    """Refuse an edge that weighs otherwise in the other direction, or nothing that is a number."""
    unlike = binary.ne(A & A.T).new().select("==", True).new()
    if unlike.nvals:
        rows, columns, _ = unlike.to_coo(values=False)
        i, j = int(rows[0]), int(columns[0])
        raise InvalidValue(
            f"A has weight {A[i, j].value} on edge {called(i)} -> {called(j)} and "
            f"{A[j, i].value} on {called(j)} -> {called(i)}, "
            "but the weights of an undirected graph must be symmetric, and numbers"
        )
