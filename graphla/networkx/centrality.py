"""Centralities for NetworkX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np
from networkx.utils import PythonRandomInterface, PythonRandomViaNumpyBits

from graphla import algorithms
from graphla.algorithms.betweenness import sum_dependencies
from graphla.graph import Graph
from graphla.graph.cached_properties import extent
from graphla.networkx.graphs import (
    NetworkXGraph,
    edge_ends,
    edge_values,
    edges_of,
    find,
    number,
    to_edge_dict,
    to_node_dict,
    with_weights,
)
from graphla.networkx.selections import VERSION, bunch
from graphla.sparse import Matrix, Vector
from semirings import monoid

ABSENT = "Source {} is not in G"

Values = Mapping[Any, float] | None


# --- degrees --------------------------------------------------------------------------------------


def degree_centrality(G: Graph) -> dict[Any, float]:
    """Implement `networkx.degree_centrality`."""
    return _share(G, lambda: _degrees(G, out=True) + _degrees(G, out=False, loops=True))


def in_degree_centrality(G: Graph) -> dict[Any, float]:
    """Implement `networkx.in_degree_centrality`."""
    return _share(G, lambda: _degrees(G, out=False))


def out_degree_centrality(G: Graph) -> dict[Any, float]:
    """Implement `networkx.out_degree_centrality`."""
    return _share(G, lambda: _degrees(G, out=True))


def _share(G: Graph, degrees: Callable[[], np.ndarray]) -> dict[Any, float]:
    """Return the degrees divided by n - 1."""
    if len(G) <= 1:
        return dict.fromkeys(G.labels, 1)
    return to_node_dict(G, degrees() * (1.0 / (len(G) - 1.0)))


def _degrees(G: Graph, *, out: bool, loops: bool = False) -> np.ndarray:
    """Return the number of edges out of or into each node, with parallel edges.

    If `loops` is set and the graph is undirected, return the number of self-loops of each node
    instead. Self-loops count twice, so the caller adds this number.
    """
    A = with_weights(G, None, parallel="sum").matrix
    if loops and not G.directed:
        return A.diag().to("cpu").to_dense(0)
    sums = A.reduce_rowwise(monoid.plus) if out else A.reduce_columnwise(monoid.plus)
    return sums.new().to("cpu").to_dense(0)


# --- iterations -----------------------------------------------------------------------------------


def pagerank(
    G: Graph,
    alpha: float = 0.85,
    personalization: Values = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Values = None,
    weight: str | None = "weight",
    dangling: Values = None,
) -> dict[Any, float]:
    """Implement `networkx.pagerank`."""
    if len(G) == 0:
        return {}
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    if personalization is not None:
        personalization = _by_number(G, personalization)
        if sum(personalization.values()) == 0:
            raise ZeroDivisionError
    ranks = algorithms.pagerank(
        with_weights(G, weight, parallel="sum").matrix,
        alpha,
        personalization,
        max_iter,
        tol,
        None if nstart is None else _by_number(G, nstart),
        weight is not None or G.is_multigraph(),
        None if dangling is None else _by_number(G, dangling),
    )
    return to_node_dict(G, ranks)


def hits(
    G: Graph,
    max_iter: int = 100,
    tol: float = 1.0e-8,
    nstart: Values = None,
    normalized: bool = True,
) -> tuple[dict[Any, float], dict[Any, float]]:
    """Implement `networkx.hits`."""
    if len(G) == 0:
        return {}, {}
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    A = with_weights(G, "weight", parallel="sum").matrix
    if len(G) < 2 or not A.nvals:
        raise NotImplementedError("graphla needs a graph with at least two nodes and one edge")
    start = None if nstart is None else _start(G, nstart)
    found = algorithms.hits(A, max_iter, tol, start, normalized)
    return to_node_dict(G, found.hubs), to_node_dict(G, found.authorities)


def katz_centrality(
    G: Graph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: Values = None,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Any, float]:
    """Implement `networkx.katz_centrality`."""
    if len(G) == 0:
        return {}
    try:
        beta = float(beta)
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G.labels):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        beta = _by_number(G, beta)
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    start = None if nstart is None else _start(G, nstart)
    A = with_weights(G, weight).matrix
    options = max_iter, tol, start, normalized, weight is not None
    return to_node_dict(G, algorithms.katz(A, alpha, beta, *options))


def eigenvector_centrality(
    G: Graph,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Values = None,
    weight: str | None = None,
) -> dict[Any, float]:
    """Implement `networkx.eigenvector_centrality`."""
    _refuse_null_graph(G)
    start = None
    if nstart is not None:
        if all(value == 0 for value in nstart.values()):
            raise nx.NetworkXError("initial vector cannot have all zero values")
        total = sum(nstart.values())
        start = {v: value / total for v, value in _start(G, nstart).items()}
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    A = with_weights(G, weight or None).matrix
    return to_node_dict(G, algorithms.eigenvector(A, max_iter, tol, start, bool(weight)))


def eigenvector_centrality_numpy(
    G: Graph, weight: str | None = None, max_iter: int = 50, tol: float = 0
) -> dict[Any, float]:
    """Implement `networkx.eigenvector_centrality_numpy`."""
    from scipy.sparse import linalg

    _refuse_null_graph(G)
    A = with_weights(G, weight, parallel="sum", dtype="FP64").matrix
    is_connected = algorithms.is_strongly_connected if G.directed else algorithms.is_connected
    if not is_connected(A):
        raise nx.AmbiguousSolution(
            "the method does not give consistent results for disconnected graphs"
        )
    sparse: Any = linalg
    M = nx_array(A.T.new())
    # If no weight is negative, the eigenvector is positive, and starting from ones takes a quarter
    # fewer products than starting from a random vector.
    start = np.ones(len(G)) if not (M.data < 0).any() else None
    _, vectors = sparse.eigs(M, k=1, which="LR", v0=start, maxiter=max_iter, tol=tol)
    largest = vectors.ravel().real
    length = np.sign(largest.sum()) * np.linalg.norm(largest)
    return to_node_dict(G, largest / length)


def nx_array(A: Matrix) -> Any:
    """Return the entries of A as a sparse array of SciPy."""
    from graphla.io import to_scipy_sparse

    return to_scipy_sparse(A.to("cpu"))


def _refuse_null_graph(G: Graph) -> None:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no eigenvector")


def _by_number(G: Graph, values: Mapping[Any, float]) -> dict[int, float]:
    """Return {number of a node: value} without the keys that are not nodes."""
    numbers = ((find(G, node), value) for node, value in values.items())
    return {k: value for k, value in numbers if k is not None}


def _start(G: Graph, values: Mapping[Any, float]) -> dict[int, float]:
    """Return initial values by node number; reject them unless each node has a value."""
    found = _by_number(G, values)
    if len(found) != len(G) or len(values) != len(G):
        raise NotImplementedError("nstart must have a value for each node, and for no other key")
    return found


# --- distances ------------------------------------------------------------------------------------


def closeness_centrality(
    G: Graph, u: Any = None, distance: str | None = None, wf_improved: bool = True
) -> Any:
    """Implement `networkx.closeness_centrality`."""
    chosen = None if u is None else number(G, u, ABSENT)
    A = with_weights(G, distance).matrix
    found = algorithms.closeness(A, chosen, distance is not None, wf_improved)
    return to_node_dict(G, found) if isinstance(found, Vector) else found


def harmonic_centrality(
    G: Graph, nbunch: Any = None, distance: str | None = None, sources: Any = None
) -> dict[Any, float]:
    """Implement `networkx.harmonic_centrality`."""
    A = with_weights(G, distance).matrix
    _refuse_negative(A, distance)
    chosen, starts = (
        None if each is None else sorted(set(bunch(G, each))) for each in (nbunch, sources)
    )
    found = algorithms.harmonic(A, chosen, distance is not None, starts)
    return to_node_dict(G, found)


# --- betweenness ----------------------------------------------------------------------------------


def betweenness_centrality(
    G: Graph,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """Implement `networkx.betweenness_centrality`."""
    A = with_weights(G, weight).matrix
    options = {"normalized": normalized, "weight": weight is not None, "directed": G.directed}

    def compute(sources: list[int] | None) -> Any:
        return algorithms.betweenness(A, sources=sources, endpoints=endpoints, **options)

    return to_node_dict(G, _from_sample(G, A, weight, None if k == len(G) else k, seed, compute))


def edge_betweenness_centrality(
    G: Graph,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    seed: Any = None,
) -> dict[Any, float]:
    """Implement `networkx.edge_betweenness_centrality`."""
    A = with_weights(G, weight).matrix
    options = {"normalized": normalized, "weight": weight is not None, "directed": G.directed}

    def compute(sources: list[int] | None) -> Any:
        return algorithms.edge_betweenness(A, sources=sources, **options)

    return _edge_values(G, _from_sample(G, A, weight, k, seed, compute), weight)


def betweenness_centrality_subset(
    G: Graph,
    sources: Any,
    targets: Any,
    normalized: bool = False,
    weight: str | None = None,
) -> dict[Any, float]:
    """Implement `networkx.betweenness_centrality_subset`."""
    if isinstance(sources, Iterator) or isinstance(targets, Iterator):
        raise NotImplementedError(
            "sources or targets is an iterator, but graphla needs collections"
        )
    A = with_weights(G, weight).matrix
    _refuse_lengths(A, weight)
    starts = np.array([number(G, s, ABSENT) for s in sources], np.int64)
    if np.unique(starts).size < starts.size:
        raise NotImplementedError("sources has a node twice, but graphla counts each source once")
    ends = {k for t in targets if (k := find(G, t)) is not None}
    is_weighted, listed = weight is not None, np.array(sorted(ends), np.int64)
    sums = sum_dependencies(A, starts, is_weighted=is_weighted, targets=listed)
    others = len(G) - 1
    if others < 2:
        scale = 1.0
    elif normalized:
        scale = 1 / (others * (others - 1))
    else:
        scale = 1.0 if G.directed else 0.5
    return to_node_dict(G, sums.totals.to("cpu").to_dense(0.0) * scale)


def _from_sample(
    G: Graph, A: Matrix, weight: str | None, k: int | None, seed: Any, compute: Callable[..., Any]
) -> Any:
    """Return compute(sources) for k nodes that are sampled with `seed` as in NetworkX.

    If the call is rejected, the state of `seed` does not change.
    """
    _refuse_lengths(A, weight)
    if k is None:
        return compute(None)
    if not 1 <= k <= len(G):
        raise NotImplementedError(f"k is {k}, but graphla samples from 1 to {len(G)} nodes")
    if isinstance(seed, PythonRandomInterface | PythonRandomViaNumpyBits):
        raise NotImplementedError("the seed is a generator of NumPy")
    if VERSION < (3, 6):
        raise NotImplementedError("NetworkX before 3.6 scales some sums over samples differently")
    state = seed.getstate()
    try:
        return compute(seed.sample(range(len(G)), k))
    except Exception:
        seed.setstate(state)
        raise


def _refuse_negative(A: Matrix, weight: str | None) -> None:
    if weight is not None and A.nvals and not extent(A)[0] >= 0:
        raise NotImplementedError("a length is negative or NaN, but graphla needs at least 0")


def _refuse_lengths(A: Matrix, weight: str | None) -> None:
    if weight is not None and A.nvals and not extent(A)[0] > 0:
        raise NotImplementedError("a length is not above 0, but graphla needs positive lengths")


def _edge_values(G: Graph, B: Matrix, weight: str | None) -> dict[Any, float]:
    """Return {edge: value}. The shortest parallel edges each get an equal part of the value."""
    if not (isinstance(G, NetworkXGraph) and G.is_multigraph()):
        return to_edge_dict(G, B)
    rows, columns = edge_ends(G)
    values = edge_values(G, B)
    lengths = np.ones(rows.size) if weight is None else np.asarray(G.attribute(weight), float)
    starts = np.flatnonzero(np.r_[True, (np.diff(rows) != 0) | (np.diff(columns) != 0)])
    if rows.size:
        sizes = np.diff(np.r_[starts, rows.size])
        is_least = lengths == np.repeat(np.minimum.reduceat(lengths, starts), sizes)
        shares = np.repeat(np.add.reduceat(is_least.astype(float), starts), sizes)
        values = np.where(is_least, values / shares, 0.0)
    kept = slice(None) if G.directed else rows <= columns
    return dict(zip(edges_of(G, keys=True), values[kept].tolist(), strict=True))
