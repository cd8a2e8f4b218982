"""Conversions between arrays, tables and graphs without building dictionaries."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, compress, pairwise
from typing import Any

import networkx as nx
import numpy as np
from scipy import sparse

from graphla.graph import Graph
from graphla.graph.edges import from_table
from graphla.io.adjacency_dicts import AdjacencyDicts, are_range
from graphla.networkx.graphs import (
    NetworkXGraph,
    convert,
    edge_dicts,
    edges_of,
    find,
    nodes_of,
    refuse_large,
    to_networkx,
    with_attributes,
)

_REDUCE: dict[Any, Any] = {sum: np.add, min: np.minimum, max: np.maximum}


def from_scipy_sparse_array(
    A: Any, parallel_edges: bool = False, create_using: Any = None, edge_attribute: Any = "weight"
) -> Any:
    """Implement `networkx.from_scipy_sparse_array`."""
    directed, multigraph = _kind(create_using)
    _refuse_shape(A)
    values = _numbers(A.dtype)
    entries = A.tocoo()
    rows, columns = entries.row, entries.col
    counts = None
    if parallel_edges and multigraph and A.dtype.kind in "iu":
        counts = entries.data
    attributes = {edge_attribute: values(entries.data)}
    G = _graph(range(A.shape[0]), rows, columns, attributes, directed, multigraph, counts)
    return _fill_given(create_using, G)


def from_numpy_array(
    A: Any,
    parallel_edges: bool = False,
    create_using: Any = None,
    edge_attr: Any = "weight",
    *,
    nodelist: Any = None,
) -> Any:
    """Implement `networkx.from_numpy_array`."""
    directed, multigraph = _kind(create_using)
    if A.ndim != 2:
        raise nx.NetworkXError(f"Input array must be 2D, not {A.ndim}")
    _refuse_shape(A)
    if A.dtype.kind not in "fiubcSUV":
        raise TypeError(f"Unknown numpy data type: {A.dtype}")
    nodes: Any = range(A.shape[0]) if nodelist is None else list(nodelist)
    if len(nodes) != A.shape[0]:
        raise ValueError("nodelist must have the same length as A.shape[0]")
    if len(set(nodes)) < len(nodes):
        raise NotImplementedError("graphla does not accept a nodelist with duplicates")
    values = _numbers(A.dtype)
    rows, columns = A.nonzero()
    elements, counts = A[rows, columns], None
    if parallel_edges and multigraph and A.dtype.kind in "iu":
        counts = elements
    attributes = {} if edge_attr in (False, None) else {edge_attr: values(elements)}
    G = _graph(nodes, rows, columns, attributes, directed, multigraph, counts)
    return _fill_given(create_using, G)


def from_pandas_adjacency(df: Any, create_using: Any = None) -> Any:
    """Implement `networkx.from_pandas_adjacency`."""
    try:
        table = df[df.index]
    except Exception as error:
        missing = list(set(df.index).difference(set(df.columns)))
        raise nx.NetworkXError(
            "Columns must match Indices.", f"{missing} not in columns"
        ) from error
    return from_numpy_array(table.values, create_using=create_using, nodelist=table.columns)


def from_pandas_edgelist(
    df: Any,
    source: Any = "source",
    target: Any = "target",
    edge_attr: Any = None,
    create_using: Any = None,
    edge_key: Any = None,
) -> Any:
    """Implement `networkx.from_pandas_edgelist`."""
    directed, multigraph = _kind(create_using)
    if multigraph:
        from_pandas: Any = nx.from_pandas_edgelist
        G = from_pandas(df, source, target, edge_attr, create_using, edge_key, backend="networkx")
        return _convert_new(create_using, G)
    for column in (source, target):
        if column not in df.columns:
            raise KeyError(column)
    names = _columns_of(df, source, target, edge_attr)
    edges = from_table(df, source, target, None)
    attributes = {name: _column(df[name]) for name in names}
    i, j = edges.sources, edges.targets
    # The last of several rows with the same edge decides its attributes.
    low, high = (i, j) if directed else (np.minimum(i, j), np.maximum(i, j))
    pairs = low * np.int64(len(edges.labels)) + high
    last = pairs.size - 1 - np.unique(pairs[::-1], return_index=True)[1]
    kept = {name: _take(values, last) for name, values in attributes.items()}
    nodes = edges.labels
    build = _graph if directed else _assemble_undirected
    return _fill_given(create_using, build(nodes, i[last], j[last], kept, directed))


def from_dict_of_lists(d: Any, create_using: Any = None) -> Any:
    """Implement `networkx.from_dict_of_lists`."""
    directed, multigraph = _kind(create_using)
    if multigraph:
        from_lists: Any = nx.from_dict_of_lists
        return _convert_new(create_using, from_lists(d, create_using, backend="networkx"))
    lists = list(map(list, d.values()))
    neighbors = list(chain.from_iterable(lists))
    numbers = {node: k for k, node in enumerate(dict.fromkeys(chain(d, neighbors)))}
    if None in numbers:
        raise ValueError("None cannot be a node")
    i = np.repeat(np.arange(len(d)), list(map(len, lists)))
    j = np.array([numbers[node] for node in neighbors], np.int64)
    low, high = (i, j) if directed else (np.minimum(i, j), np.maximum(i, j))
    pairs = np.sort(low * len(numbers) + high)
    i, j = np.divmod(pairs[np.diff(pairs, prepend=-1) != 0], max(1, len(numbers)))
    build = _graph if directed else _assemble_undirected
    return _fill_given(create_using, build(list(numbers), i, j, {}, directed))


def to_numpy_array(
    G: Graph,
    nodelist: Any = None,
    dtype: Any = None,
    order: Any = None,
    multigraph_weight: Any = sum,
    weight: Any = "weight",
    nonedge: Any = 0.0,
) -> np.ndarray:
    """Implement `networkx.to_numpy_array`."""
    nodes = list(G) if nodelist is None else list(nodelist)
    known = set(nodes)
    if strange := {node for node in known if find(G, node) is None}:
        raise nx.NetworkXError(f"Nodes {strange} in nodelist is not in G")
    if len(known) < len(nodes):
        raise nx.NetworkXError("nodelist contains duplicates.")
    A: Any = np.full((len(nodes), len(nodes)), fill_value=nonedge, dtype=dtype, order=order)
    if not nodes or not G._matrix.nvals:
        return A
    if not A.dtype.names:
        rows, columns, values = _entries(G, nodelist, weight, multigraph_weight)
        A[rows, columns] = values
        return A
    if weight is not None:
        raise ValueError("Specifying `weight` not supported for structured dtypes")
    if G.is_multigraph():
        raise nx.NetworkXError("Structured arrays are not supported for MultiGraphs")
    for name in A.dtype.names:
        rows, columns, values = _entries(G, nodelist, name, sum)
        A[name][rows, columns] = values
    return A


def to_scipy_sparse_array(
    G: Graph, nodelist: Any = None, dtype: Any = None, weight: Any = "weight", format: str = "csr"
) -> Any:
    """Implement `networkx.to_scipy_sparse_array`."""
    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    nodes = list(G) if nodelist is None else list(nodelist)
    if not nodes:
        raise nx.NetworkXError("nodelist has no nodes")
    for node in nodes:
        if find(G, node) is None:
            raise nx.NetworkXError(f"Node {node} in nodelist is not in G")
    if len(set(nodes)) < len(nodes):
        raise nx.NetworkXError("nodelist contains duplicates.")
    rows, columns, values = _entries(G, nodelist, weight, sum)
    values = values if values.size else np.empty(0)
    A = sparse.coo_array((values, (rows, columns)), shape=(len(nodes), len(nodes)), dtype=dtype)
    try:
        return A.asformat(format)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse matrix format: {format}") from error


def to_pandas_adjacency(
    G: Graph,
    nodelist: Any = None,
    dtype: Any = None,
    order: Any = None,
    multigraph_weight: Any = sum,
    weight: Any = "weight",
    nonedge: Any = 0.0,
) -> Any:
    """Implement `networkx.to_pandas_adjacency`."""
    import pandas as pd

    M = to_numpy_array(G, nodelist, dtype, order, multigraph_weight, weight, nonedge)
    nodes = list(G) if nodelist is None else nodelist
    return pd.DataFrame(data=M, index=nodes, columns=nodes)


def to_pandas_edgelist(
    G: Graph,
    source: Any = "source",
    target: Any = "target",
    nodelist: Any = None,
    dtype: Any = None,
    edge_key: Any = None,
) -> Any:
    """Implement `networkx.to_pandas_edgelist`."""
    import pandas as pd

    if nodelist is not None:
        raise NotImplementedError("nodelist is given, but graphla lists the edges of all nodes")
    G = with_attributes(G)
    edges, data = edges_of(G, keys=True), list(_listed_data(G))
    names = dict.fromkeys(name for each in data for name in each)
    keys = {edge_key: 2} if G.is_multigraph() and edge_key is not None else {}
    for kind, name in {"Source": source, "Target": target, "Edge key": edge_key}.items():
        if name in names and (kind != "Edge key" or keys):
            raise nx.NetworkXError(f"{kind} name {name!r} is an edge attr name")
    ends = {source: 0, target: 1, **keys}
    table = {name: [edge[place] for edge in edges] for name, place in ends.items()}
    nan = float("nan")
    table |= {name: [each.get(name, nan) for each in data] for name in names}
    return pd.DataFrame(table, dtype=dtype)


def _listed_data(G: NetworkXGraph) -> Iterable[dict[Any, Any]]:
    """Return the attributes of the edges that `edges_of` lists."""
    entries = G._entries
    if G.directed:
        return edge_dicts(G)
    kept = entries.rows <= entries.columns
    return compress(edge_dicts(G), kept if G._keys is None else np.repeat(kept, entries.counts))


# --- degrees and self-loops -----------------------------------------------------------------------


def isolates(G: Graph) -> Iterable[Any]:
    """Implement `networkx.isolates`."""
    return iter(nodes_of(G, (_degrees(G) == 0).nonzero()[0]))


def number_of_isolates(G: Graph) -> int:
    """Implement `networkx.number_of_isolates`."""
    return int((_degrees(G) == 0).sum())


def is_isolate(G: Graph, n: Any) -> bool:
    """Implement `networkx.is_isolate`."""
    k = find(G, n)
    if k is None:
        if n is None or isinstance(n, Iterable):  # NetworkX treats this n as several nodes
            return False
        raise nx.NetworkXError(f"Node {n} is not in the graph.")
    return bool(_degrees(G)[k] == 0)


def number_of_selfloops(G: Graph) -> int:
    """Implement `networkx.number_of_selfloops`."""
    if not isinstance(G, NetworkXGraph) or not G.is_multigraph():
        return G.self_loops
    entries = G._entries
    return int(entries.counts[entries.rows == entries.columns].sum())


def is_empty(G: Graph) -> bool:
    """Implement `networkx.is_empty`."""
    return G._matrix.nvals == 0


# --- helpers --------------------------------------------------------------------------------------


def _degrees(G: Graph) -> np.ndarray:
    """Return the number of edges at each node, where a self-loop may count once or twice."""
    degrees = G.out_degrees.to_dense()
    return degrees + G.in_degrees.to_dense() if G.directed else degrees


def _kind(create_using: Any) -> tuple[bool, bool]:
    """Return whether a new graph is to be directed, and whether it is to be a multigraph."""
    if create_using is None:
        return False, False
    kind: Any = create_using() if isinstance(create_using, type) else create_using
    if type(kind) not in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph):
        raise NotImplementedError("create_using is not one of NetworkX's four classes")
    return kind.is_directed(), kind.is_multigraph()


def _fill_given(create_using: Any, G: NetworkXGraph) -> Any:
    """Return G, or `create_using` with the nodes and edges of G if `create_using` is a graph."""
    if create_using is None or isinstance(create_using, type):
        return G
    filled = to_networkx(G)
    create_using.clear()
    for name in ("_node", "_adj", "_pred") if G.directed else ("_node", "_adj"):
        getattr(create_using, name).update(getattr(filled, name))
    return create_using


def _convert_new(create_using: Any, G: Any) -> Any:
    """Convert a graph that NetworkX has built, unless it is the object `create_using`."""
    return G if G is create_using else convert(G, None, None, True, True, None)


def _refuse_shape(A: Any) -> None:
    if A.shape[0] != A.shape[1]:
        raise nx.NetworkXError(f"Adjacency matrix not square: nx,ny={A.shape}")


def _numbers(dtype: np.dtype[Any]) -> Any:
    """Return a function that casts an array to the dtype of attributes, or raise an error."""
    if dtype.kind == "b":
        return lambda values: values
    if dtype.kind == "f" and dtype.itemsize <= 8:
        return lambda values: values.astype(np.float64)
    if dtype.kind == "i" or (dtype.kind == "u" and dtype.itemsize < 8):
        return lambda values: values.astype(np.int64)
    if dtype.kind in "cU":
        return lambda values: values.tolist()
    raise NotImplementedError(f"graphla does not store edge attributes of dtype {dtype}")


def _graph(
    nodes: Any,
    rows: np.ndarray,
    columns: np.ndarray,
    attributes: dict[Any, Any],
    directed: bool,
    multigraph: bool = False,
    counts: np.ndarray | None = None,
) -> NetworkXGraph:
    """Build a graph from the entries of a matrix, row by row, as NetworkX does.

    In an undirected graph, the later of (i, j) and (j, i) replaces the earlier one; in an
    undirected multigraph, only the entries with i <= j count. `counts` gives the number of parallel
    edges of each entry.
    """
    places = rows.astype(np.int64) * len(nodes) + columns
    steps = np.diff(places)
    if (steps <= 0).any():
        order = np.argsort(places, kind="stable")
        rows, columns, steps = rows[order], columns[order], np.diff(places[order])
        attributes = {name: _take(values, order) for name, values in attributes.items()}
        counts = None if counts is None else counts[order]
    if (steps == 0).any():
        raise NotImplementedError("graphla does not read arrays with duplicate entries")
    if not directed:
        if _is_symmetric(len(nodes), rows, columns, [*attributes.values(), *_as_list(counts)]):
            return _assemble(nodes, rows, columns, attributes, False, multigraph, counts)
        if multigraph:
            kept = (rows <= columns).nonzero()[0]
        else:
            low, high = np.minimum(rows, columns), np.maximum(rows, columns)
            pairs = low * np.int64(len(nodes)) + high
            kept = pairs.size - 1 - np.unique(pairs[::-1], return_index=True)[1]
        attributes = {name: _take(values, kept) for name, values in attributes.items()}
        counts = None if counts is None else counts[kept]
        return _assemble_undirected(
            nodes, rows[kept], columns[kept], attributes, False, multigraph, counts
        )
    return _assemble(nodes, rows, columns, attributes, True, multigraph, counts)


def _as_list(counts: np.ndarray | None) -> list[np.ndarray]:
    return [] if counts is None else [counts]


def _is_symmetric(n: int, rows: np.ndarray, columns: np.ndarray, parts: list[Any]) -> bool:
    """Return whether the sorted entries, and their values in each of `parts`, are symmetric."""
    places = np.arange(rows.size, dtype=np.int32)
    indptr = np.searchsorted(rows, np.arange(n + 1))
    across: Any = sparse.csr_array((places, columns, indptr), shape=(n, n)).tocsc()
    if not (np.array_equal(across.indptr, indptr) and np.array_equal(across.indices, columns)):
        return False
    arrays: list[Any] = [np.asarray(part) for part in parts]
    return all(bool((each == each[across.data]).all()) for each in arrays)


def _assemble_undirected(
    nodes: Any,
    rows: np.ndarray,
    columns: np.ndarray,
    attributes: dict[Any, Any],
    directed: bool = False,
    multigraph: bool = False,
    counts: np.ndarray | None = None,
) -> NetworkXGraph:
    """Return the undirected graph of entries that list each edge once."""
    off = (rows != columns).nonzero()[0]
    source = np.concatenate([np.arange(rows.size), off])
    i, j = np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]])
    order = np.lexsort((j, i))
    source = source[order]
    attributes = {name: _take(values, source) for name, values in attributes.items()}
    counts = None if counts is None else counts[source]
    return _assemble(nodes, i[order], j[order], attributes, directed, multigraph, counts)


def _assemble(
    nodes: Any,
    rows: np.ndarray,
    columns: np.ndarray,
    attributes: dict[Any, Any],
    directed: bool,
    multigraph: bool,
    counts: np.ndarray | None,
) -> NetworkXGraph:
    """Return the graph of entries that are sorted by rows and columns."""
    if counts is not None:
        there = counts > 0
        rows, columns, counts = rows[there], columns[there], counts[there].astype(np.int64)
        attributes = {name: np.ones(counts.sum(), np.int64) for name in attributes}
    n = len(nodes)
    names: Any = range(n) if are_range(nodes) else tuple(nodes)
    numbers = None if isinstance(names, range) else {node: k for k, node in enumerate(names)}
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    columns = columns.astype(np.int32)
    entries = AdjacencyDicts(names, numbers, indptr, columns, directed, multigraph, {})
    if multigraph:
        counts = np.ones(columns.size, np.int64) if counts is None else counts
        entries.__dict__["counts"] = counts
        ends = np.cumsum(counts)
        keys = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
        entries.__dict__["keys"] = keys.tolist()
    return NetworkXGraph(entries, attributes, None, None, {})


def _take(values: Any, places: np.ndarray) -> Any:
    if isinstance(values, np.ndarray):
        return values[places]
    return [values[k] for k in places.tolist()]


def _columns_of(df: Any, source: Any, target: Any, edge_attr: Any) -> list[Any]:
    """Return the names of the columns that become edge attributes."""
    if edge_attr is None:
        return []
    if edge_attr is True:
        names = [column for column in df.columns if column not in (source, target)]
    else:
        names = list(edge_attr) if isinstance(edge_attr, list | tuple) else [edge_attr]
    if not names:
        message = f"Invalid edge_attr argument: No columns found with name: {names}"
        raise nx.NetworkXError(message)
    try:
        known = all(name in df.columns for name in names)
    except TypeError:
        known = False
    if not known:
        raise nx.NetworkXError(f"Invalid edge_attr argument: {edge_attr}")
    return names


def _column(column: Any) -> Any:
    values = column.to_numpy()
    if values.dtype.kind in "bif" and values.dtype.itemsize <= 8:
        return _numbers(values.dtype)(values)
    return list(column)


def _entries(
    G: Graph, nodelist: Any, weight: Any, reduce: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, columns and weights of the entries between the listed nodes.

    The nodes are numbered by their positions in the list. If the list is None, it contains all
    nodes.
    """
    G = with_attributes(G)
    values = np.ones(G._edge_count(), np.int64) if weight is None else G.attribute(weight)
    if not isinstance(values, np.ndarray) or values.dtype == bool:
        raise NotImplementedError(f"the edge attribute {weight!r} has values that are not numbers")
    entries = G._entries
    rows, columns = entries.rows, entries.columns
    if G.is_multigraph() and values.size:
        values = _reduce(values, entries.counts, reduce)
    if nodelist is None:
        return rows, columns, values
    position = np.full(len(G), -1)
    for k, node in enumerate(nodelist):
        position[find(G, node)] = k
    rows, columns = position[rows], position[columns]
    kept = (rows >= 0) & (columns >= 0)
    return rows[kept], columns[kept], values[kept]


def _reduce(values: np.ndarray, counts: np.ndarray, reduce: Any) -> np.ndarray:
    """Combine the values of parallel edges: return one value for each entry of a multigraph."""
    ends = np.cumsum(counts)
    if reduce in _REDUCE:
        refuse_large(values)
        return _REDUCE[reduce].reduceat(values, ends - counts)
    listed = values.tolist()
    return np.array([reduce(listed[i:j]) for i, j in pairwise([0, *ends.tolist()])])
