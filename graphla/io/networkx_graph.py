"""To and from the graphs of NetworkX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphla.io.entries import by_rows, has_symmetry, held_once
from graphla.sparse import Matrix
from semirings.dtypes import INT64, lookup_dtype
from semirings.exceptions import DimensionMismatch, DomainMismatch, InvalidValue


def from_networkx(
    G: Any,
    nodelist: Sequence[Any] | None = None,
    dtype: Any = None,
    weight: str | None = "weight",
    name: Any = None,
) -> Matrix:
    """A(i, j) = the weight of the edge from `nodelist[i]` to `nodelist[j]`.

    Args:
        G: a graph, directed or not; of parallel edges the weights are summed.
        nodelist: the nodes of the rows, in this order; by default all, in the order of G.
        dtype: of the values; by default what NumPy makes of the weights.
        weight: the attribute that holds the weight, 1 where an edge has none; None takes 1 for all.
        name: the name of the matrix.

    A self-loop is one entry on the diagonal. An undirected G gives a symmetric A.
    """
    import networkx as nx

    if not isinstance(G, nx.Graph):
        raise InvalidValue(f"G is a {type(G).__name__}, but should be a graph of networkx")
    np_type = None if dtype is None else lookup_dtype(dtype).np_type
    n = G.number_of_nodes() if nodelist is None else len(nodelist)
    if n == 0:
        return Matrix(INT64 if dtype is None else lookup_dtype(dtype), 0, 0, name=name)
    try:
        A = nx.to_scipy_sparse_array(G, nodelist, np_type, weight, format="csr")
    except nx.NetworkXError as error:
        raise InvalidValue(f"nodelist does not fit G: {error}") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidValue(
            f"weight {weight!r} of some edge does not fit {dtype}: {error}"
        ) from None
    if A.dtype.kind not in "biuf":
        raise DomainMismatch(f"weight {weight!r} of some edge is no number that a dtype here holds")
    entries = A.tocoo()
    return Matrix.from_coo(
        entries.row,
        entries.col,
        held_once(entries.data),
        lookup_dtype(A.dtype),
        nrows=n,
        ncols=n,
        symmetric=not G.is_directed(),
        name=name,
    )


def to_networkx(
    m: Any,
    edge_attribute: str | None = "weight",
    *,
    directed: bool = True,
    nodelist: Sequence[Any] | None = None,
) -> Any:
    """The graph with an edge from i to j, of attribute m(i, j), for each entry of a square matrix.

    Args:
        m: the matrix; each row is a node, with entries or without.
        edge_attribute: the name of the attribute; None leaves the values out.
        directed: False gives an `nx.Graph`, for a symmetric matrix, and True an `nx.DiGraph`.
        nodelist: the nodes that the rows become; by default 0, 1, 2, ...
    """
    import networkx as nx

    if m.nrows != m.ncols:
        raise DimensionMismatch(f"m is {m.nrows} x {m.ncols}, but should be square")
    nodes = range(m.nrows) if nodelist is None else list(nodelist)
    if len(set(nodes)) != m.nrows or len(nodes) != m.nrows:
        problem = f"nodelist has {len(set(nodes))} different nodes, but m has {m.nrows} rows"
        raise DimensionMismatch(problem)
    as_rows = by_rows(m)
    if not directed and not has_symmetry(as_rows, "symmetric"):
        raise InvalidValue("directed is False, but m is not symmetric")
    indptr, columns, values, _ = as_rows
    rows = np.repeat(np.arange(m.nrows), np.diff(indptr)).tolist()
    ends = [rows, columns.tolist()]
    if nodelist is not None:
        ends = [[nodes[k] for k in end] for end in ends]
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_nodes_from(nodes)
    if edge_attribute is None:
        G.add_edges_from(zip(*ends, strict=True))
    else:
        G.add_weighted_edges_from(zip(*ends, values.tolist(), strict=True), weight=edge_attribute)
    return G
