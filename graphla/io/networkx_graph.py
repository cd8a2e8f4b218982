"""Convert to and from NetworkX graphs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphla.io.adjacency_dicts import (
    AdjacencyDicts,
    are_range,
    fill_adjacency,
    has_plain_dicts,
    read_adjacency,
)
from graphla.io.entries import assemble, by_rows, has_symmetry, held_once
from graphla.operations.values import array_of, exact_array, has_integers
from graphla.sparse import Matrix
from graphla.sparse.readable_matrix import ReadableMatrix
from semirings.dtypes import lookup_dtype
from semirings.exceptions import DimensionMismatch, DomainMismatch, InvalidValue

_JOINS = {"sum": "plus", "min": "min", "max": "max"}


def from_networkx(
    G: Any,
    nodelist: Sequence[Any] | None = None,
    dtype: Any = None,
    weight: str | None = "weight",
    name: Any = None,
    *,
    multigraph_weight: str = "sum",
) -> Matrix:
    """A(i, j) = the weight of the edge from `nodelist[i]` to `nodelist[j]`.

    Return the adjacency matrix of a NetworkX graph. A self-loop is one entry on the diagonal.

    Args:
        G: a NetworkX graph, directed or undirected, with or without parallel edges.
        nodelist: the node of each row; by default all nodes, in the order of G.
        dtype: the dtype of the values; by default, NumPy chooses it from the weights.
        weight: the edge attribute that becomes the value. The value is 1 if an edge lacks the
            attribute, or if `weight` is None. A name other than "weight" raises an error if no
            edge has this attribute.
        name: the name of the matrix.
        multigraph_weight: how to combine the weights of parallel edges: "sum", "min" or "max". Use
            "min" for shortest paths, because a sum is not the length of any edge.

    Returns:
        A square Matrix, symmetric if G is undirected.

    Raises:
        InvalidValue: G is not a NetworkX graph, `nodelist` contains duplicate or unknown nodes, no
            edge has the attribute `weight`, or `multigraph_weight` is unknown.
        DomainMismatch: a weight is not a number of the dtype.
    """
    import networkx as nx

    if not isinstance(G, nx.Graph):
        raise InvalidValue(f"G is a {type(G).__name__}, but should be a graph of networkx")
    dup_op = _JOINS.get(multigraph_weight)
    if dup_op is None:
        raise InvalidValue(
            f'multigraph_weight is {multigraph_weight!r}, but must be "sum", "min" or "max"'
        )
    if nodelist is None and has_plain_dicts(G) and not G.is_multigraph():
        A = _read_dicts(G, dtype, weight, name)
        if A is not None:
            return A
    nodes = list(G) if nodelist is None else list(nodelist)
    number = {node: k for k, node in enumerate(nodes)}
    if len(number) < len(nodes):
        raise InvalidValue(f"nodelist has {len(nodes) - len(number)} nodes more than once")
    if strange := [node for node in nodes if node not in G]:
        raise InvalidValue(f"nodelist has {strange[0]!r}, which is not a node of G")
    edges = G.edges(data=weight, default=1) if weight is not None else ((*e, 1) for e in G.edges())
    edges = [edge for edge in edges if edge[0] in number and edge[1] in number]
    if weight not in (None, "weight"):
        _refuse_unknown(G, weight)
    values = _weights(edges, dtype, weight)
    return assemble(
        np.fromiter((number[u] for u, _, _ in edges), np.int32, len(edges)),
        np.fromiter((number[v] for _, v, _ in edges), np.int32, len(edges)),
        values,
        lookup_dtype(values.dtype),
        (len(nodes), len(nodes)),
        symmetry="general" if G.is_directed() else "symmetric",
        dup_op=dup_op if G.is_multigraph() else None,
        name=name,
    )


def _read_dicts(G: Any, dtype: Any, weight: str | None, name: Any) -> Matrix | None:
    """Return the adjacency matrix, or None if a weight is not a number of the dtype."""
    entries = read_adjacency(G)
    if weight not in (None, "weight"):
        _refuse_unknown(G, weight)
    values: Any = np.broadcast_to(np.int64(1), entries.columns.shape)
    if weight is not None:
        values = entries.attribute(weight, 1)
    if not isinstance(values, np.ndarray):
        return None
    values = _numbers(values, None if dtype is None else lookup_dtype(dtype).np_type)
    if values is None:
        return None
    columns, values = entries.sort(entries.columns), held_once(entries.sort(values))
    n, symmetric = len(entries.nodes), not entries.directed
    options: dict[str, Any] = {"symmetric": symmetric, "copy": False, "name": name}
    return Matrix.from_csr(entries.indptr, columns, values, nrows=n, ncols=n, **options)


def _refuse_unknown(G: Any, weight: str) -> None:
    """Raise an error if no edge of G has an attribute named `weight`."""
    if not G.number_of_edges() or any(weight in data for *_, data in G.edges(data=True)):
        return
    known = dict.fromkeys(name for *_, data in G.edges(data=True) for name in data)
    listed = f"the edges have {', '.join(map(repr, known))}" if known else "None counts 1 per edge"
    raise InvalidValue(f"weight is {weight!r}, but no edge has this attribute: {listed}")


def _weights(edges: list[tuple[Any, Any, Any]], dtype: Any, weight: str | None) -> Any:
    np_type = None if dtype is None else lookup_dtype(dtype).np_type
    weights = [w for _, _, w in edges] or np.empty(0, np.int64)
    values = _numbers(weights, np_type)
    if values is not None:
        return values
    wanted = "a number of a dtype here" if dtype is None else lookup_dtype(dtype)
    for u, v, w in edges:
        if _numbers([w], np_type) is None:
            raise DomainMismatch(f"{weight} of edge ({u!r}, {v!r}) is {w!r}, not {wanted}")
    raise DomainMismatch(f"{weight} of the edges is not {wanted}")


def _numbers(weights: Any, np_type: Any) -> Any:
    """Return the weights as an array of `np_type`, or None if one of them is not a valid number."""
    try:
        given = exact_array(weights)
        if has_integers(given):
            return array_of(weights, np_type)[0]
        with warnings.catch_warnings():
            # Ignore warnings about values out of range. Such values are detected below.
            warnings.simplefilter("ignore")
            values = given if np_type is None else np.asarray(weights, np_type)
    except (TypeError, ValueError, OverflowError):
        return None
    if given.dtype.kind not in "biuf" or given.ndim != 1:
        return None
    # A cast to an integer dtype is checked for values out of range: NumPy 1 casts them silently,
    # and NumPy 2 does so for NumPy scalars.
    is_cast = values.dtype.kind in "iu" and values.dtype != given.dtype
    return None if is_cast and (values.astype(given.dtype) != np.trunc(given)).any() else values


def to_networkx(
    m: Any,
    edge_attribute: str | None = "weight",
    *,
    directed: bool = True,
    nodelist: Sequence[Any] | None = None,
) -> Any:
    """Return a NetworkX graph with an edge from i to j for each entry of a square matrix.

    Args:
        m: a square Matrix, or an expression that yields one; each row becomes a node.
        edge_attribute: the edge attribute that holds m(i, j); if None, values are omitted.
        directed: if True, return an `nx.DiGraph`; if False, an `nx.Graph`, for which the matrix
            must be symmetric.
        nodelist: the node of each row; by default 0, 1, 2, ...

    Returns:
        The graph.

    Raises:
        InvalidValue: `m` is not a Matrix, or `directed` is False and it is not symmetric.
        DimensionMismatch: `m` is not square, or `nodelist` does not have one node per row.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.io import to_networkx
        >>> list(to_networkx(Matrix.from_coo([0], [1], [5], nrows=2, ncols=2)).edges(data=True))
        [(0, 1, {'weight': 5})]
    """
    import networkx as nx

    if not isinstance(m, ReadableMatrix):
        raise InvalidValue(f"m is a {type(m).__name__}, but should be a Matrix")
    if m.nrows != m.ncols:
        raise DimensionMismatch(f"m is {m.nrows} x {m.ncols}, but should be square")
    nodes = range(m.nrows) if nodelist is None else list(nodelist)
    if len(set(nodes)) != m.nrows or len(nodes) != m.nrows:
        problem = f"nodelist has {len(set(nodes))} different nodes, but m has {m.nrows} rows"
        raise DimensionMismatch(problem)
    A = by_rows(m)
    if not directed and not has_symmetry(A, "symmetric"):
        raise InvalidValue("directed is False, but m is not symmetric")
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_nodes_from(nodes)
    names = range(m.nrows) if are_range(nodes) else tuple(nodes)
    numbers = None if isinstance(names, range) else dict(zip(names, range(m.nrows), strict=True))
    indptr = A.indptr.astype(np.int64)
    entries = AdjacencyDicts(names, numbers, indptr, A.columns, directed, False, {})
    values = A.values if directed else A.values[A.columns >= entries.rows]
    if edge_attribute is None:
        fill_adjacency(G, entries, [{} for _ in range(values.size)])
    else:
        fill_adjacency(G, entries, [{edge_attribute: value} for value in values.tolist()])
    return G
