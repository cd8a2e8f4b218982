"""Time the installed alternatives to graphla, on graphs that are small enough for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse
from clock import Wall, measure
from scipy.sparse import csgraph

import graphla as gl

NETWORKX_UP_TO = 1 << 20  # entries


def host_csr(A: gl.Matrix) -> Any:
    """Return A as a SciPy CSR array with floating-point values, as csgraph requires."""
    return scipy.sparse.csr_array(gl.io.to_scipy_sparse(A).astype(np.float64))


def beside(A: gl.Matrix, sources: list[int]) -> dict[str, float]:
    """Return the median wall time of a breadth-first search for each library other than graphla.

    Times are in milliseconds.
    """
    return {name: _milliseconds(call, sources) for name, call in _searches(host_csr(A))}


def shortest_beside(A: gl.Matrix, sources: list[int]) -> dict[str, float]:
    """Return the median time to compute shortest paths in each other library.

    Times are wall times in milliseconds.
    """
    S = host_csr(A)
    return {
        "csgraph.dijkstra": _milliseconds(lambda s: csgraph.dijkstra(S, indices=s), sources),
    }


def _milliseconds(call: Callable[[int], Any], sources: list[int]) -> float:
    return median(measure(Wall(frees=True), call, sources, rounds=1).wall)


def _searches(S: Any) -> Iterator[tuple[str, Callable[[int], Any]]]:
    yield "csgraph.breadth_first_order", lambda s: csgraph.breadth_first_order(S, s)
    makers = {
        "networkx": _networkx,
        "graphblas": _graphblas,
        "igraph": _igraph,
        "networkit": _networkit,
        "cugraph": _cugraph,
    }
    for name, make in makers.items():
        if find_spec(name) and (name != "networkx" or S.nnz <= NETWORKX_UP_TO):
            yield name, make(import_module(name), S)


def _networkx(networkx: Any, S: Any) -> Callable[[int], Any]:
    G = networkx.from_scipy_sparse_array(S)
    return lambda s: networkx.single_source_shortest_path_length(G, s)


def _graphblas(graphblas: Any, S: Any) -> Callable[[int], Any]:
    """Return a BFS like the example in the documentation of python-graphblas."""
    A = graphblas.io.from_scipy_sparse(S)
    any_secondi, replace = graphblas.semiring.ss.any_secondi, graphblas.replace

    def search(source: int) -> Any:
        levels, parents, frontier = (graphblas.Vector(int, A.nrows) for _ in range(3))
        parents[source] = frontier[source] = source
        levels[source] = depth = 0
        while frontier.nvals:
            depth += 1
            frontier(~parents.S, replace) << any_secondi(frontier @ A)
            parents(frontier.S) << frontier
            levels(frontier.S) << depth
        return levels, parents

    return search


def _igraph(igraph: Any, S: Any) -> Callable[[int], Any]:
    upper = scipy.sparse.triu(S).tocoo()
    G = igraph.Graph(S.shape[0], np.stack((upper.row, upper.col), axis=1))
    return lambda s: G.bfs(s)


def _networkit(networkit: Any, S: Any) -> Callable[[int], Any]:
    upper = scipy.sparse.triu(S).tocoo()
    G = networkit.GraphFromCoo((upper.row, upper.col), n=S.shape[0])
    return lambda s: networkit.distance.BFS(G, s, storePaths=False).run()


def _cugraph(cugraph: Any, S: Any) -> Callable[[int], Any]:
    cudf, entries = import_module("cudf"), S.tocoo()
    edges = cudf.DataFrame({"source": entries.row, "destination": entries.col})
    G = cugraph.Graph(directed=True)
    G.from_cudf_edgelist(edges)
    return lambda s: cugraph.bfs(G, s)
