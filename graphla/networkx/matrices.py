"""Matrices of a graph, and their eigenvalues, for NetworkX."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from graphla import algorithms
from graphla.graph import Graph
from graphla.io import to_scipy_sparse
from graphla.networkx.graphs import edge_ends, find, with_attributes, with_weights
from graphla.sparse import Matrix

MISSING = "Node {} in nodelist is not in G"


# --- matrices -------------------------------------------------------------------------------------


def adjacency_matrix(
    G: Graph, nodelist: Any = None, dtype: Any = None, weight: str | None = "weight"
) -> Any:
    """Implement `networkx.adjacency_matrix`."""
    A = to_scipy_sparse(_adjacency(G, nodelist, weight))
    return A if dtype is None else A.astype(dtype)


def laplacian_matrix(G: Graph, nodelist: Any = None, weight: str | None = "weight") -> Any:
    """Implement `networkx.laplacian_matrix`."""
    return to_scipy_sparse(algorithms.laplacian_matrix(_adjacency(G, nodelist, weight)))


def normalized_laplacian_matrix(
    G: Graph, nodelist: Any = None, weight: str | None = "weight"
) -> Any:
    """Implement `networkx.normalized_laplacian_matrix`."""
    return to_scipy_sparse(algorithms.normalized_laplacian_matrix(_adjacency(G, nodelist, weight)))


def directed_laplacian_matrix(
    G: Graph,
    nodelist: Any = None,
    weight: str | None = "weight",
    walk_type: str | None = None,
    alpha: float = 0.95,
) -> np.ndarray:
    """Implement `networkx.directed_laplacian_matrix`."""
    A, alpha = _walk(G, nodelist, weight, walk_type, alpha)
    return algorithms.directed_laplacian_matrix(A, True, walk_type, alpha).to_dense(0.0)


def directed_combinatorial_laplacian_matrix(
    G: Graph,
    nodelist: Any = None,
    weight: str | None = "weight",
    walk_type: str | None = None,
    alpha: float = 0.95,
) -> np.ndarray:
    """Implement `networkx.directed_combinatorial_laplacian_matrix`."""
    A, alpha = _walk(G, nodelist, weight, walk_type, alpha)
    return algorithms.directed_combinatorial_laplacian_matrix(A, True, walk_type, alpha).to_dense(
        0.0
    )


def modularity_matrix(G: Graph, nodelist: Any = None, weight: str | None = None) -> np.ndarray:
    """Implement `networkx.modularity_matrix` and `networkx.directed_modularity_matrix`."""
    B = _adjacency(G, nodelist, weight).to_dense(0).astype(np.float64)
    total = B.sum()
    if not total or not np.isfinite(total):
        raise NotImplementedError(f"the sum of the weights is {total}")
    # `algorithms.modularity_matrix` computes the same as a Matrix, which takes longer to build.
    expected = np.outer(B.sum(axis=1), B.sum(axis=0))
    expected /= total
    B -= expected
    return B


def incidence_matrix(
    G: Graph,
    nodelist: Any = None,
    edgelist: Any = None,
    oriented: bool = False,
    weight: str | None = None,
    *,
    dtype: Any = None,
) -> Any:
    """Implement `networkx.incidence_matrix`."""
    from scipy.sparse import coo_array

    weights: Any = 1.0
    if edgelist is None:
        rows, columns = edge_ends(G)
        kept = np.ones(rows.size, bool) if G.directed else rows <= columns
        rows, columns = rows[kept], columns[kept]
        if weight is not None:
            weights = edge_attribute(G, weight)[kept]
    else:
        # The incidence matrix has an empty column for a self-loop. The node of the self-loop need
        # not be in the graph.
        ends = [
            (0, 0) if edge[0] == edge[1] else (_end(G, edge[0]), _end(G, edge[1]))
            for edge in edgelist
        ]
        rows, columns = np.array(ends, np.int64).reshape(-1, 2).T
        if weight is not None:
            weights = _weights_of(G, rows, columns, weight)
    count, kept = rows.size, rows != columns
    places, weights = np.flatnonzero(kept), np.broadcast_to(weights, rows.shape)[kept]
    rows, columns, n = rows[kept], columns[kept], len(G)
    if nodelist is not None:
        listed = [k for node in nodelist if (k := find(G, node)) is not None]
        if len(listed) < len(nodelist):
            raise NotImplementedError("nodelist contains a node that is not in the graph")
        position, n = np.full(n, -1, np.int64), len(listed)
        position[listed] = np.arange(n)
        rows, columns = position[rows], position[columns]
        if (rows < 0).any() or (columns < 0).any():
            raise nx.NetworkXError("an end of an edge is not in nodelist")
    values = np.concatenate([-weights if oriented else weights, weights])
    indices = np.concatenate([rows, columns]), np.concatenate([places, places])
    wanted = np.float64 if dtype is None else dtype
    return coo_array((values.astype(wanted), indices), shape=(n, count)).tocsc()


def _weights_of(G: Graph, rows: np.ndarray, columns: np.ndarray, weight: str) -> np.ndarray:
    """Return the weights of given edges; self-loops get the weight 0."""
    if G.is_multigraph():
        raise NotImplementedError("graphla does not look up the weights of parallel edges")
    values = edge_attribute(G, weight)
    sources, targets = edge_ends(G)
    n, order = len(G), np.lexsort((targets, sources))
    keys = sources[order].astype(np.int64) * n + targets[order]
    wanted, is_loop = rows * n + columns, rows == columns
    places = np.minimum(np.searchsorted(keys, wanted), keys.size - 1) if keys.size else wanted * 0
    if not keys.size or (keys[places] != wanted)[~is_loop].any():
        raise NotImplementedError(
            "edgelist has a pair of nodes that is not an edge, so it has no weight"
        )
    return np.where(is_loop, 0, values[order][places])


def edge_attribute(G: Graph, weight: str) -> np.ndarray:
    """Return the weight of each edge, in the order of `edge_ends`. Weights must be numbers."""
    values = with_attributes(G).attribute(weight)
    if not isinstance(values, np.ndarray):
        raise NotImplementedError(f"the edge attribute {weight!r} has a value that is not a number")
    return values


def _end(G: Graph, node: Any) -> int:
    k = find(G, node)
    if k is None:
        raise nx.NetworkXError(f"the node {node} of an edge is not in nodelist")
    return k


# --- eigenvalues ----------------------------------------------------------------------------------


def adjacency_spectrum(G: Graph, weight: str | None = "weight") -> np.ndarray:
    """Implement `networkx.adjacency_spectrum`."""
    from scipy.linalg import eigvals

    return np.asarray(eigvals(_adjacency(G, None, weight).to_dense(0).astype(np.float64)))


def laplacian_spectrum(G: Graph, weight: str | None = "weight") -> np.ndarray:
    """Implement `networkx.laplacian_spectrum`."""
    from scipy.linalg import eigvalsh

    return eigvalsh(laplacian_matrix(G, weight=weight).toarray().astype(np.float64))


def normalized_laplacian_spectrum(G: Graph, weight: str | None = "weight") -> np.ndarray:
    """Implement `networkx.normalized_laplacian_spectrum`."""
    from scipy.linalg import eigvalsh

    return eigvalsh(normalized_laplacian_matrix(G, weight=weight).toarray().astype(np.float64))


def modularity_spectrum(G: Graph) -> np.ndarray:
    """Implement `networkx.modularity_spectrum`."""
    from scipy.linalg import eigvals

    if G.is_multigraph():
        raise nx.NetworkXNotImplemented("not implemented for multigraph type")
    return np.asarray(eigvals(modularity_matrix(G)))


# --- arguments ------------------------------------------------------------------------------------


def _adjacency(G: Graph, nodelist: Any, weight: str | None, dtype: Any = None) -> Matrix:
    """Return the weights between some nodes, on the CPU; parallel edges are added."""
    if len(G) == 0:
        raise nx.NetworkXError("the graph has no nodes")
    A = with_weights(G, weight, parallel="sum", dtype=dtype).matrix.to("cpu")
    if nodelist is None:
        return _float_if_empty(A)
    if len(nodelist) == 0:
        raise nx.NetworkXError("nodelist has no nodes")
    listed = [find(G, node) for node in nodelist]
    if None in listed:
        raise nx.NetworkXError(MISSING.format(nodelist[listed.index(None)]))
    if len(set(listed)) < len(listed):
        raise nx.NetworkXError("nodelist contains a node twice")
    return _float_if_empty(A[listed, listed].new())


def _float_if_empty(A: Matrix) -> Matrix:
    """Return A, or a Matrix of floats if A has no entry."""
    return A if A.nvals else Matrix("FP64", A.nrows, A.ncols)


def _walk(
    G: Graph, nodelist: Any, weight: str | None, walk_type: str | None, alpha: float
) -> tuple[Matrix, float]:
    """Return the weights between some nodes, and the alpha of the walk (0.5 if it has none)."""
    if walk_type not in (None, "random", "lazy", "pagerank"):
        raise nx.NetworkXError("walk_type must be random, lazy, or pagerank")
    if walk_type is None and len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if not 0 < alpha < 1:
        if walk_type == "pagerank":
            raise nx.NetworkXError("alpha must be between 0 and 1")
        if walk_type is None:
            raise NotImplementedError("graphla needs an alpha above 0 and below 1")
        alpha = 0.5
    A = _adjacency(G, nodelist, weight, "FP64")
    if A.nrows < 3 or A.nrows < len(G):
        raise NotImplementedError("graphla needs all nodes of a graph with at least three nodes")
    return A, alpha
