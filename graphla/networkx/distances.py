"""Eccentricities, centers and sums of distances for NetworkX."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np

from graphla import algorithms
from graphla.graph import Graph
from graphla.networkx.graphs import LARGEST_SUM, nodes_of, with_weights, without_weights
from graphla.networkx.searches import Neighbors
from graphla.networkx.selections import VERSION, bunch, degrees, entries, is_node
from graphla.sparse import Matrix
from graphla.traversal import many

HAS_TREE_CENTER = VERSION >= (3, 5)
HAS_TREE_CENTROID = VERSION >= (3, 6)
"""Whether this version of NetworkX handles trees separately, and rejects a graph without nodes."""

BATCH = 64
"""Number of nodes whose distances are in memory at the same time."""

# --- eccentricities -----------------------------------------------------------------------------


def eccentricity(G: Graph, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    """Implement `networkx.eccentricity`."""
    chosen = bunch(G, v)
    nodes = nodes_of(G, chosen)
    if sp is not None:
        values = [_farthest(G, sp, node) for node in nodes]
    else:
        values = _eccentricities(G, chosen, v is None, weight)
    return values[0] if v is not None and is_node(G, v) else dict(zip(nodes, values, strict=True))


def _eccentricities(G: Graph, chosen: list[int], is_all: bool, weight: Any) -> list[Any]:
    """Return the eccentricities of the chosen nodes; raise an error if one is infinite."""
    if not chosen:
        return []
    A, is_weighted = _lengths(G, weight)
    e: Any = algorithms.eccentricity(A, None if is_all else np.unique(chosen), weight=is_weighted)
    found = e.to_dict()
    if len(found) < len(set(chosen)):
        raise nx.NetworkXError(_infinite(G))
    return [found[k] for k in chosen]


def _farthest(G: Graph, sp: Any, node: Any) -> Any:
    """Return the largest of the given distances of a node."""
    try:
        lengths = sp[node]
        count = len(lengths)
    except TypeError as error:
        raise nx.NetworkXError('Format of "sp" is invalid.') from error
    if count != len(G):
        raise nx.NetworkXError(_infinite(G))
    return max(lengths.values())


def _infinite(G: Graph) -> str:
    if G.directed:
        return "Found infinite path length because the digraph is not strongly connected"
    return "Found infinite path length because the graph is not connected"


def diameter(
    G: Graph, e: Mapping[Any, Any] | None = None, usebounds: bool = False, weight: Any = None
) -> Any:
    """Implement `networkx.diameter`."""
    if e is not None:
        return max(e.values())
    return _extreme(G, weight, algorithms.diameter, max)


def radius(
    G: Graph, e: Mapping[Any, Any] | None = None, usebounds: bool = False, weight: Any = None
) -> Any:
    """Implement `networkx.radius`."""
    if e is not None:
        return min(e.values())
    return _extreme(G, weight, algorithms.radius, min)


def periphery(
    G: Graph, e: Mapping[Any, Any] | None = None, usebounds: bool = False, weight: Any = None
) -> list[Any]:
    """Implement `networkx.periphery`."""
    if e is not None:
        most = max(e.values())
        return [v for v in e if e[v] == most]
    return nodes_of(G, _extreme(G, weight, algorithms.periphery, max).to_coo()[0])


def center(
    G: Graph, e: Mapping[Any, Any] | None = None, usebounds: bool = False, weight: Any = None
) -> list[Any]:
    """Implement `networkx.center`."""
    if e is not None:
        least = min(e.values())
        return [v for v in e if e[v] == least]
    if HAS_TREE_CENTER and not (len(G) or G.directed or usebounds) and weight is None:
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    return nodes_of(G, _extreme(G, weight, algorithms.center, min).to_coo()[0])


def _extreme(G: Graph, weight: Any, measure: Callable[..., Any], extreme: Any) -> Any:
    """Return a measure of the eccentricities; raise NetworkX's errors if it is not defined."""
    if not len(G):
        return extreme(())  # raises NetworkX's ValueError
    A, is_weighted = _lengths(G, weight)
    joined = algorithms.is_strongly_connected(A) if callable(weight) else _is_connected(G)
    if not joined:
        raise nx.NetworkXError(_infinite(G))
    return measure(A, weight=is_weighted)


def _lengths(G: Graph, weight: Any) -> tuple[Matrix, bool]:
    """Return the matrix of lengths, and whether the graph has weights.

    If the weight is a function, the matrix lacks the edges that the function hides, and may be
    asymmetric.
    """
    if callable(weight):
        edges = Neighbors(G, weight)
        rows, n = np.repeat(np.arange(len(G)), np.diff(edges.indptr)), len(G)
        A = Matrix.from_coo(rows, edges.columns, edges.values, nrows=n, ncols=n)
        return A.to(G.device), True
    return with_weights(G, weight).matrix, weight is not None


def _is_connected(G: Graph) -> bool:
    """Return whether each node reaches all others."""
    A = without_weights(G).matrix
    return algorithms.is_strongly_connected(A) if G.directed else algorithms.is_connected(A)


# --- sums of distances --------------------------------------------------------------------------


def barycenter(G: Graph, weight: Any = None, attr: Any = None, sp: Any = None) -> list[Any]:
    """Implement `networkx.barycenter`."""
    if sp is not None:
        if weight is not None:
            raise ValueError("Cannot use both sp, weight arguments together")
        nodes = list(sp)
        if any(len(lengths) < len(G) for lengths in sp.values()):
            raise _disconnected()
        totals = np.array([sum(lengths.values()) for lengths in sp.values()])
        return [nodes[k] for k in (totals == totals.min()).nonzero()[0]] if nodes else []
    if not len(G):
        if HAS_TREE_CENTROID and weight is None and not G.directed:
            raise nx.NetworkXPointlessConcept("G has no nodes.")
        return []
    if not _is_connected(G):
        raise _disconnected()
    totals = _total_distances(G, weight)
    found = (totals == totals.min()).nonzero()[0]
    is_shortcut = HAS_TREE_CENTROID and weight is None and not G.directed
    if found.size == 2 and is_shortcut and _is_tree(G):
        # If a tree has two barycenters, NetworkX first lists the one that is nearer to node 0.
        levels = algorithms.bfs(without_weights(G).matrix, 0, parents=False).levels.to_dense()
        found = found[np.argsort(levels[found], kind="stable")]
    return nodes_of(G, found)


def _disconnected() -> Exception:
    return nx.NetworkXNoPath(
        "Input graph is disconnected, so every induced subgraph has infinite barycentricity."
    )


def _is_tree(G: Graph) -> bool:
    """Return whether a connected graph is a tree."""
    return int(entries(G)[2].sum()) == 2 * (len(G) - 1)


def _total_distances(G: Graph, weight: Any) -> np.ndarray:
    """Return the sum of the distances from each node to all others of a connected graph."""
    if weight is None:
        return many.reach(without_weights(G).matrix, np.arange(len(G)), "distances").total
    # NetworkX adds up the distances in ascending order.
    sums = [np.sort(D, axis=1).cumsum(axis=1)[:, -1] for D in _distances(G, weight)]
    return np.concatenate(sums)


def _distances(G: Graph, weight: Any, power: int = 1) -> Iterator[np.ndarray]:
    """Yield the distances from some nodes to all others of a connected graph, as dense arrays.

    Callers add up d(u, v)^power, possibly multiplied by the degrees of u and v. The distances are
    FP64 if such a sum might exceed INT64.
    """
    A, is_weighted = _lengths(G, weight)
    starts, size = np.arange(len(G)), max(len(G), int(degrees(G).sum()))
    for part in many.batches(A, len(G), "distances", BATCH):
        D = algorithms.all_pairs_lengths(A, starts[part], weight=is_weighted).to_dense(0)
        is_small = D.dtype.kind != "f" and int(D.max()) ** power * size**2 < LARGEST_SUM
        yield D.astype(np.int64 if is_small else np.float64, copy=False)


def harmonic_diameter(G: Graph, sp: Any = None, *, weight: Any = None) -> float:
    """Implement `networkx.harmonic_diameter`."""
    n = len(G)
    if sp is None:
        A, is_weighted = _lengths(G, weight)
        total = algorithms.harmonic(A, distance=is_weighted).to_dense(0.0).sum() if n else 0.0
    else:
        total = sum(
            1 / d for node in G.labels for d in _read_distances(sp, node).values() if d != 0
        )
    if total != 0:
        return float(n * (n - 1) / total)
    return math.inf if n > 1 else math.nan


def _read_distances(sp: Any, node: Any) -> Any:
    """Return sp[node], the distances from a node that the user has passed."""
    try:
        lengths = sp[node]
        len(lengths)
    except TypeError as error:
        raise nx.NetworkXError('Format of "sp" is invalid.') from error
    return lengths


def wiener_index(G: Graph, weight: Any = None) -> float:
    """Implement `networkx.wiener_index`."""
    if not _is_joined(G):
        return math.inf
    total = _total_distances(G, weight).sum().item()
    return total if G.directed else total / 2


def hyper_wiener_index(G: Graph, weight: Any = None) -> float:
    """Implement `networkx.hyper_wiener_index`."""
    if not _is_joined(G):
        return math.inf
    return sum((D + D * D).sum().item() for D in _distances(G, weight, 2)) / 2


def schultz_index(G: Graph, weight: Any = None) -> float:
    """Implement `networkx.schultz_index`."""
    if not _is_joined(G):
        return math.inf
    # Σ d(u, v) (degree(u) + degree(v)) / 2 = Σ degree(u) d(u, v), because d is symmetric
    total = (degrees(G) * _total_distances(G, weight)).sum().item()
    return float(total)


def gutman_index(G: Graph, weight: Any = None) -> float:
    """Implement `networkx.gutman_index`."""
    if not _is_joined(G):
        return math.inf
    degree = degrees(G)
    found = np.concatenate([D @ degree for D in _distances(G, weight)])
    return (degree * found).sum().item() / 2


def _is_joined(G: Graph) -> bool:
    """Return whether all nodes reach each other; raise NetworkX's error if there is no node."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _is_connected(G)
