"""Spanning forest: edges with minimum total weight, without cycles, that connect each component.

The algorithm is due to O. Borůvka (1926). In each round, every tree takes its outgoing edge with
the smallest number. Edges are numbered in order of weight, and edges of equal weight in order of
their vertices. All numbers are distinct, so no cycle can form.

Invariants, at the head of each round of the definition:
- the edges of F belong to the minimum spanning forest, and contain no cycle;
- label(i) is the smallest vertex of i's tree in F; S holds the edges between different trees.
"""

from __future__ import annotations

from functools import partial

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import number_values, rank_entries, selection
from graphla.algorithms.components import connected_components
from graphla.graph.labels import vertex_name
from graphla.operations.accelerate import SpanningForest, accelerated
from graphla.sparse import Matrix
from semirings import binary, monoid, select, unary
from semirings.exceptions import InvalidValue
from semirings.semiring import min_first, min_second


@graph_algorithm(undirected=True, lengths="weight")
def spanning_forest(
    A: Matrix, weight: bool | str | None = True, *, maximum: bool = False, ignore_nan: bool = False
) -> Matrix:
    """``F⟨T⟩ = A``, where T ⊆ A is the lightest acyclic set of edges with the components of A.

    Find a minimum spanning tree of each component.

    The graph is undirected: the weight of the edge {i, j} is the value of A above the diagonal.
    Edges with equal weights are taken in order of (i, j). Takes O(m log n) time.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A are used;
            if None or False, each edge counts as 1.
        maximum: whether to find maximum spanning trees instead.
        ignore_nan: whether to ignore edges whose weight is NaN, instead of raising an error.

    Returns:
        Matrix: a symmetric Matrix with the shape and dtype of A that holds the edges of the trees,
            with their values in A.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph or is not symmetric, if a weight is NaN and
            `ignore_nan` is False, or if weights are used and A is a Graph whose parallel edges were
            summed.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import spanning_forest
        >>> A = Matrix.from_coo([0, 0, 1], [1, 2, 2], [5, 1, 3], nrows=3, ncols=3)
        >>> spanning_forest(binary.any(A | A.T)).to_dicts()
        {0: {2: 1}, 1: {2: 3}, 2: {0: 1, 1: 3}}

    References:
        O. Borůvka, *O jistém problému minimálním*, 1926.
    """
    U = _upper_edges(A, ignore_nan)
    W = U if validation.weighs("weight", weight) else unary.one["BOOL"](U).new()
    T = find_forest(W, maximum=bool(maximum))
    # F = U⟨T⟩ ⊕ U⟨T⟩ᵀ; with weights, T already has the values of U
    F = T if W is U else U.dup(mask=T.S)
    return binary.any(F | F.T).new()


def find_forest(U: Matrix, *, maximum: bool = False) -> Matrix:
    """Return the entries of the upper triangular matrix U that are edges of a spanning forest."""
    return accelerated(SpanningForest(U, maximum), partial(definition, U, maximum=maximum))


def definition(U: Matrix, *, maximum: bool = False) -> Matrix:
    """Return the entries of U that are edges of the spanning forest.

    U is upper triangular, and has one entry for each edge of the undirected graph. Each round adds
    edges to the forest with matrix products.
    """
    n = U.nrows
    R = _number_edges(U, maximum)
    S, F = R, Matrix(bool, n, n)
    while S.nvals:
        P = selection(connected_components(F))
        # e = the row minima of S: the first edge of each vertex; c = e min.first P: the first edge
        # of each tree
        c = min_first(S.reduce_rowwise(monoid.min).new() @ P).new()
        # T contains the first edge of each tree: the positions where S(i, j) = (Pc)(i)
        T = binary.eq(min_second(P @ c).new() & S).new().select("==", True).new()
        # F = F ⊕ T ⊕ Tᵀ
        F = binary.any(F | binary.any(T | T.T).new()).new()
        # S = S⟨label(i) ≠ label(j)⟩
        label = connected_components(F)
        T = binary.ne(label & binary.second(S & label).new()).new().select("==", True).new()
        S = S.dup(mask=T.S)
    return U.dup(mask=F.S)


def _number_edges(U: Matrix, maximum: bool) -> Matrix:
    """Return a symmetric matrix that numbers the edges by weight, then by (i, j).

    With `maximum`, the heaviest edge comes first.
    """
    W, _ = number_values(U)  # INT64 ranks of the weights, which can be negated
    R = rank_entries(unary.ainv(W).new() if maximum else W)
    return binary.any(R | R.T).new()


def _upper_edges(A: Matrix, ignore_nan: bool) -> Matrix:
    """Return the edges above the diagonal; drop edges of weight NaN, or raise an error."""
    U = select.triu(A, 1).new()
    if not validation.is_floating(A) or not U.nvals:
        return U
    wrong = select.valueeq(U.apply(unary.isnan), True).new()
    if not wrong.nvals:
        return U
    if not ignore_nan:
        rows, columns, _ = wrong.to_coo(values=False)
        i, j = int(rows[0]), int(columns[0])
        raise InvalidValue(
            f"A has weight nan on edge {vertex_name(i)} -> {vertex_name(j)}, "
            "but must have numbers: ignore_nan=True leaves such edges out"
        )
    return U.dup(mask=~wrong.S)
