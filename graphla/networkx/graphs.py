"""Graphs that hold everything that a NetworkX graph holds, and results in NetworkX's form."""

from __future__ import annotations

import gc
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import compress, pairwise, repeat
from typing import Any

import networkx as nx
import numpy as np

from graphla.formats import Csr
from graphla.graph import Graph
from graphla.graph.labels import Labels
from graphla.io.adjacency_dicts import (
    AdjacencyDicts,
    as_numbers,
    fill_adjacency,
    has_plain_dicts,
    read_adjacency,
)
from graphla.io.entries import by_rows, held_once
from graphla.settings import config
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixStore
from semirings.dtypes import INT64, lookup_dtype
from semirings.exceptions import InvalidValue

LARGEST_SUM = 1 << 62
"""The sum of the absolute values of integer weights must be below this bound."""

LARGEST_FLOAT_SUM = 1e150
"""The bound for floats; it keeps the square of a sum finite."""


@contextmanager
def pause_collection() -> Iterator[None]:
    """Disable garbage collection inside a `with` block or in a decorated function.

    A collection visits all existing lists, and creating many lists would start many collections.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


class NetworkXGraph(Graph):
    """A Graph whose matrix holds a 1 per pair of adjacent nodes, with separate edge attributes.

    `with_weights` returns the graph whose values are one of the edge attributes. Edge data are in
    dict order, which is the order of NetworkX's adjacency dictionaries; in a multigraph they have
    one element for each parallel edge.

    Args:
        entries: the pairs of adjacent nodes.
        attributes: edge attributes by name, each an array or a list in dict order.
        data: the attribute dict of each edge in dict order, or None if only `attributes` are known.
        nodes: the attribute dict of each node, or None if the nodes have none.
        graph: the attributes of the graph.
        device: the device of the matrices; None means the default device.
    """

    __slots__ = (
        "_attributes",
        "_data",
        "_device",
        "_entries",
        "_keys",
        "_nodes",
        "_searches",
        "_weighted",
        "graph",
        "source_nodes",
        "source_predecessors",
    )

    def __init__(
        self,
        entries: AdjacencyDicts,
        attributes: dict[Hashable, Any],
        data: list[dict[Any, Any]] | None,
        nodes: list[dict[Any, Any]] | None,
        graph: dict[Any, Any],
        device: str | None = None,
    ):
        self._labels = Labels.of_distinct(entries.nodes, entries.numbers)
        self._directed = entries.directed
        self._multigraph_weight = self._weight_name = None
        self._attributes, self._data, self._nodes, self.graph = attributes, data, nodes, graph
        entries.release()
        self._keys = entries.keys
        self._device, self._entries = device or config.device, entries
        self._weighted: dict[Any, Graph] = {}
        # The attribute dict of each node of the NetworkX graph. Some of NetworkX's functions keep
        # all node attributes in their result without asking the backend to preserve them.
        self.source_nodes: Mapping[Any, dict[Any, Any]] | None = None
        # The predecessors of each node in the NetworkX graph: the entries do not determine their
        # order.
        self.source_predecessors: Mapping[Any, Any] | None = None
        self._searches: dict[Any, Any] = {}  # see `searches.neighbors_of`
        wide = np.int32 if entries.columns.size < 1 << 31 else np.int64
        pattern = entries.indptr.astype(wide), entries.sort(entries.columns)
        self._matrix = self._with_values(
            np.broadcast_to(np.int64(1), entries.columns.shape), pattern
        )

    def is_multigraph(self) -> bool:
        """Return whether the graph may have parallel edges.

        Returns:
            True or False.
        """
        return self._entries.multigraph

    def attribute(self, name: Hashable, default: Any = 1) -> Any:
        """Return an edge attribute of each edge in dict order.

        Args:
            name: the name of the attribute.
            default: the value of an edge that lacks the attribute.

        Returns:
            An array, or a list if the values are not all numbers.
        """
        if name in self._attributes:
            return self._attributes[name]
        if self._data is not None:
            return as_numbers([each.get(name, default) for each in self._data])
        number = as_numbers([default])
        if isinstance(number, np.ndarray):
            return np.broadcast_to(number, self._edge_count())
        return number * self._edge_count()

    def node_attribute(self, name: Hashable, default: Any = None) -> list[Any]:
        """Return a node attribute of each node in node order.

        Args:
            name: the name of the attribute.
            default: the value of a node that lacks the attribute.

        Returns:
            A list.
        """
        if self._nodes is None:
            return [default] * len(self)
        return [each.get(name, default) for each in self._nodes]

    def to(self, device: str) -> NetworkXGraph:
        """Return the same graph on another device.

        Args:
            device: "cpu", "cuda", or one GPU such as "cuda:1".

        Returns:
            A NetworkXGraph with the same attributes.
        """
        kept = self._attributes, self._data, self._nodes, self.graph
        return NetworkXGraph(self._entries, *kept, device)

    def to_networkx(self, weight: str | bool | None = True) -> Any:
        """Return the NetworkX graph with the same nodes, edges and attributes.

        Args:
            weight: not used; all attributes are kept.

        Returns:
            A graph of one of NetworkX's four classes.
        """
        return to_networkx(self)

    def check_weight(self, name: str, weight: Any) -> None:
        """Raise an error if an edge attribute is requested by name, because the matrix holds none.

        Args:
            name: the name of the parameter, for the error message.
            weight: the argument; only a string is checked.

        Raises:
            InvalidValue: `weight` is a string.
        """
        if isinstance(weight, str):
            raise InvalidValue(
                f"{name} is {weight!r}, but the matrix of this graph holds no edge attribute; call "
                "the function of NetworkX, or graphla.networkx.graphs.with_weights(G, name)"
            )

    def __reduce__(self) -> Any:
        kept = self._attributes, self._data, self._nodes, self.graph, self._device
        return NetworkXGraph, (self._entries, *kept)

    def _edge_count(self) -> int:
        """Return the number of edges; an undirected edge counts twice, once per direction."""
        return self._entries.columns.size if self._keys is None else len(self._keys)

    def _with_values(self, values: np.ndarray, pattern: Any = None) -> Matrix:
        """Return the matrix with these values, which are given in dict order."""
        n = len(self._labels)
        if pattern is None:
            rows = by_rows(self._matrix)
            pattern = rows.indptr, rows.columns
        indptr, columns = pattern
        csr = Csr(n, n, indptr, columns, held_once(self._entries.sort(values)))
        dtype = lookup_dtype(values.dtype)
        A = Matrix._of(MatrixStore("cpu", dtype, csr, None if self.directed else csr))
        return A if self._device == "cpu" else A.to(self._device)

    def _combine(self, values: np.ndarray, parallel: str) -> np.ndarray:
        """Return one value for each entry of a multigraph: the least, the greatest or the sum."""
        counts = self._entries.counts
        if not values.size:
            return values
        starts = np.cumsum(counts) - counts
        if parallel != "sum":
            return {"min": np.minimum, "max": np.maximum}[parallel].reduceat(values, starts)
        return np.add.reduceat(values, starts)


def with_weights(
    G: Graph,
    weight: Any,
    default: Any = 1,
    *,
    parallel: str = "min",
    dtype: Any = None,
    infinite: bool = False,
) -> Graph:
    """Return the Graph whose values are those of an edge attribute.

    Args:
        G: a converted graph, or a Graph of the user. The latter has one attribute, named by its
            `weight_name` ("weight" if that is None).
        weight: the name of the attribute; None makes each value 1.
        default: the value of an edge that lacks the attribute.
        parallel: how to combine the values of parallel edges: "min", "max" or "sum".
        dtype: the dtype of the values; None means INT64 for integers and FP64 for floats.
        infinite: whether the values may be infinite.

    Returns:
        A Graph with the same labels. Later calls with the same arguments return the same Graph.

    Raises:
        NotImplementedError: a value is not a number, does not fit in 64 bits, is NaN or infinite
            although `infinite` is False, or is so large that sums of values might overflow.
    """
    if not isinstance(G, NetworkXGraph):
        return _weighted_by_user(G, weight, default, dtype)
    if weight is None and (parallel != "sum" or not G.is_multigraph()):
        return G if dtype is None else G._like(G._matrix.dup(dtype), G.directed)
    key = weight, repr(default), parallel, dtype, infinite
    if key not in G._weighted:
        values = _numbers(G, weight, default)
        refuse_large(values[np.isfinite(values)] if infinite else values)
        if G.is_multigraph():
            values = G._combine(values, parallel)
        if dtype is not None:
            values = values.astype(lookup_dtype(dtype).np_type)
        G._weighted[key] = G._like(G._with_values(values), G.directed)._with_weight_name(weight)
    return G._weighted[key]


def _numbers(G: NetworkXGraph, weight: Any, default: Any) -> np.ndarray:
    """Return the weights of all edges in dict order as INT64 or FP64."""
    if weight is None:
        return np.broadcast_to(np.int64(1), (G._edge_count(),))
    values = G.attribute(weight, default)
    if not isinstance(values, np.ndarray):
        odd = next(
            (x for x in values if not isinstance(x, int | float)), "an integer beyond 64 bits"
        )
        raise NotImplementedError(f"the edge attribute {weight!r} has a value that is {odd!r}")
    return values.astype(np.int64) if values.dtype == bool else values


def refuse_large(values: np.ndarray) -> None:
    """Raise an error for weights that are not finite, or whose sums might overflow.

    Args:
        values: an array of numbers.

    Raises:
        NotImplementedError: a weight is NaN or infinite, or the sum of all weights is too large.
    """
    total = float(np.abs(values, dtype=np.float64).sum()) if values.size else 0.0
    if not total < (LARGEST_FLOAT_SUM if values.dtype.kind == "f" else LARGEST_SUM):
        raise NotImplementedError("a weight is NaN or infinite, or sums of weights might overflow")


def _weighted_by_user(G: Graph, weight: Any, default: Any, dtype: Any) -> Graph:
    if weight is not None and weight == (G.weight_name or "weight"):
        wanted = INT64 if dtype is None and G._matrix.dtype == "BOOL" else dtype
        return G if wanted is None else G._like(G._matrix.dup(wanted), G.directed)
    rows, value = by_rows(G._matrix), as_numbers([1 if weight is None else default])
    if not isinstance(value, np.ndarray):
        raise NotImplementedError(f"the default weight {default!r} is not a number")
    wanted = lookup_dtype(value.dtype if dtype is None else dtype)
    value = np.broadcast_to(value.astype(wanted.np_type), rows.columns.shape)
    csr = Csr(len(G), len(G), rows.indptr, rows.columns, value)
    A = Matrix._of(MatrixStore("cpu", wanted, csr, None if G.directed else csr))
    return G._like(A.to(G.device), G.directed)._with_weight_name(weight)


def without_weights(G: Graph) -> Graph:
    """Return the Graph without weights.

    Args:
        G: the graph.

    Returns:
        A Graph, whose values have no meaning.
    """
    return G


def convert(
    G: Any,
    edge_attrs: Mapping[Any, Any] | None,
    node_attrs: Mapping[Any, Any] | None,
    preserve_edges: bool,
    preserve_nodes: bool,
    device: str | None,
) -> NetworkXGraph:
    """Convert a NetworkX graph.

    Args:
        G: the graph.
        edge_attrs: the names and defaults of the edge attributes to keep.
        node_attrs: the names and defaults of the node attributes to keep.
        preserve_edges: whether to keep all edge attributes.
        preserve_nodes: whether to keep all node attributes.
        device: the device of the matrices.

    Returns:
        The graph with its attributes.
    """
    entries = read_adjacency(G)
    data = list(entries.data()) if preserve_edges else None
    attributes = {}
    if not preserve_edges:
        attributes = {a: entries.attribute(a, value) for a, value in (edge_attrs or {}).items()}
    nodes = None
    if preserve_nodes:
        nodes = [dict(G._node[node]) for node in entries.nodes]
    elif node_attrs:
        nodes = [
            {a: data.get(a, value) for a, value in node_attrs.items()}
            for data in (G._node[node] for node in entries.nodes)
        ]
    made = NetworkXGraph(entries, attributes, data, nodes, dict(G.graph), device)
    made.source_nodes = G._node
    if entries.directed and has_plain_dicts(G):
        made.source_predecessors = G._pred
    return made


@pause_collection()
def to_networkx(G: Graph) -> Any:
    """Return the NetworkX graph with the same nodes, edges and attributes.

    Args:
        G: the graph.

    Returns:
        A graph of one of NetworkX's four classes.
    """
    if not isinstance(G, NetworkXGraph):
        return G.to_networkx(None if G._matrix.dtype == "BOOL" else True)
    kinds = (nx.Graph, nx.DiGraph), (nx.MultiGraph, nx.MultiDiGraph)
    H: Any = kinds[G.is_multigraph()][G.directed]()
    H.graph.update(G.graph)
    nodes = list(G.labels)
    H._node.update(
        zip(nodes, map(dict, G._nodes), strict=True)
        if G._nodes is not None
        else ((node, {}) for node in nodes)
    )
    fill_adjacency(H, G._entries, _new_edge_dicts(G))
    return H


def _new_edge_dicts(G: NetworkXGraph) -> list[Any]:
    """Return what `fill_adjacency` needs: new dicts with the edge attributes of G."""
    entries, data = G._entries, edge_dicts(G)
    kept: Any = slice(None) if G.directed else entries.columns >= entries.rows
    if G._keys is None:
        return list(map(dict, data if G.directed else compress(data, kept)))
    keys, counts = G._keys, entries.counts[kept]
    if not G.directed:
        all_kept = np.repeat(kept, entries.counts)
        keys, data = compress(keys, all_kept), compress(data, all_kept)
    pairs = list(zip(keys, map(dict, data), strict=True))
    return [dict(pairs[i:j]) for i, j in pairwise([0, *np.cumsum(counts).tolist()])]


def edge_dicts(G: NetworkXGraph) -> Iterable[dict[Any, Any]]:
    """Return the attribute dict of each edge in dict order.

    Args:
        G: the graph.

    Returns:
        The dicts, which must not be changed.
    """
    if G._data is not None:
        return G._data
    if not G._attributes:
        return repeat({}, G._edge_count())
    columns = [each if isinstance(each, list) else each.tolist() for each in G._attributes.values()]
    names = list(G._attributes)
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def entry_data(G: Graph) -> Iterable[Any]:
    """Return G[u][v] for each entry (u, v) in dict order: in a multigraph, a dict of dicts.

    Args:
        G: the graph.

    Returns:
        The dicts, which must not be changed.

    Raises:
        NotImplementedError: the graph does not hold all attributes of its edges.
    """
    if not isinstance(G, NetworkXGraph) or G._data is None:
        raise NotImplementedError("the graph does not hold all attributes of its edges")
    if G._keys is None:
        return G._data
    ends = np.cumsum(G._entries.counts).tolist()
    pairs = list(zip(G._keys, G._data, strict=True))
    return [dict(pairs[i:j]) for i, j in pairwise([0, *ends])]


# --- arguments ------------------------------------------------------------------------------------


def find(G: Graph, node: Any) -> int | None:
    """Return the number of a node, or None if the graph lacks it.

    Args:
        G: the graph.
        node: any object; as with dict keys, 1.0 and 1 denote the same node.

    Returns:
        An int from 0 to n - 1, or None.
    """
    if not G.has_names:
        if type(node) is not int:
            try:
                node = int(node) if int(node) == node else -1
            except (TypeError, ValueError, OverflowError):
                return None
        return node if 0 <= node < len(G) else None
    return G._labels.find(node)


def find_all(G: Graph, nodes: list[Any]) -> np.ndarray:
    """Return the numbers of many nodes.

    Args:
        G: the graph.
        nodes: any objects.

    Returns:
        An INT64 array, which has -1 for an object that is not a node.
    """
    if not G.has_names and nodes and set(map(type, nodes)) <= {int}:
        try:
            found = np.array(nodes, np.int64)
        except OverflowError:
            pass
        else:
            return np.where((found >= 0) & (found < len(G)), found, -1)
    listed = [find(G, node) for node in nodes]
    return np.array([-1 if k is None else k for k in listed], np.int64)


def number(G: Graph, node: Any, message: str = "Node {} is not in the graph.") -> int:
    """Return the number of a node.

    Args:
        G: the graph.
        node: the node.
        message: the message of the exception, with {} for the node.

    Returns:
        An int from 0 to n - 1.

    Raises:
        NodeNotFound: the graph lacks the node.
    """
    k = find(G, node)
    if k is None:
        raise nx.NodeNotFound(message.format(node))
    return k


def numbers(
    G: Graph, nodes: Iterable[Any], message: str = "Node {} is not in the graph."
) -> np.ndarray:
    """Return the numbers of nodes.

    Args:
        G: the graph.
        nodes: the nodes.
        message: the message of the exception, with {} for the node.

    Returns:
        An INT64 array.

    Raises:
        NodeNotFound: the graph lacks one of the nodes.
    """
    return np.array([number(G, node, message) for node in nodes], np.int64)


def neighbor_lists(G: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the adjacency in NetworkX's order.

    Args:
        G: the graph.

    Returns:
        (indptr, columns): the neighbors of i are columns[indptr[i]:indptr[i + 1]], in dict order.
    """
    if isinstance(G, NetworkXGraph):
        return G._entries.indptr, G._entries.columns
    rows = by_rows(G._matrix)
    return rows.indptr, rows.columns


# --- results --------------------------------------------------------------------------------------


def to_node_dict(
    G: Graph, vector: Vector | np.ndarray, fill: Any = None, *, ascending: bool = False
) -> dict[Any, Any]:
    """Return {node: value} with Python scalars.

    Args:
        G: the graph.
        vector: a Vector or an array of size n.
        fill: the value of nodes without an entry; None omits them.
        ascending: whether to order the nodes by value; otherwise they are in node order.

    Returns:
        A dict.
    """
    if isinstance(vector, np.ndarray):
        places, values = None, vector
    elif fill is not None:
        places, values = None, vector.to_dense(fill)
    elif vector.nvals == vector.size:
        places, values = None, vector.to_dense()
    else:
        places, values = vector.to_coo()
    if ascending:
        order = np.argsort(values, kind="stable")
        places, values = order if places is None else places[order], values[order]
    nodes = G.labels if places is None else nodes_of(G, places)
    return dict(zip(nodes, values.tolist(), strict=True))


def nodes_of(G: Graph, numbers: Any) -> list[Any]:
    """Return the nodes with the given numbers.

    Args:
        G: the graph.
        numbers: an array or a list of numbers.

    Returns:
        A list of nodes.
    """
    listed = numbers if isinstance(numbers, list) else numbers.tolist()
    return listed if not G.has_names else list(map(G.labels.__getitem__, listed))


@pause_collection()
def groups(G: Graph, labels: np.ndarray) -> list[list[Any]]:
    """Return the nodes with equal labels as lists, ordered by their first nodes.

    Args:
        G: the graph.
        labels: an array with one integer for each node.

    Returns:
        A list of lists in node order.
    """
    if not labels.size:
        return []
    order = np.argsort(labels, kind="stable")
    changes = (np.diff(labels[order]) != 0).nonzero()[0] + 1
    bounds = [0, *changes.tolist(), labels.size]
    nodes = nodes_of(G, order)
    parts = [nodes[i:j] for i, j in pairwise(bounds)]
    first = np.argsort(order[bounds[:-1]])
    return [parts[k] for k in first.tolist()]


@pause_collection()
def node_sets(G: Graph, labels: np.ndarray) -> list[set[Any]]:
    """Return the nodes with equal labels as sets, ordered by their first nodes.

    Args:
        G: the graph.
        labels: an array with one integer for each node.

    Returns:
        A list of sets.
    """
    return list(map(set, groups(G, labels)))


@pause_collection()
def to_pair_dict(
    G: Graph, matrix: Matrix, *, ascending: bool = False, rows: Sequence[Any] | None = None
) -> dict[Any, dict[Any, Any]]:
    """Return {row node: {column node: value}} with Python scalars.

    Args:
        G: the graph, whose nodes name the columns.
        matrix: a Matrix with n columns.
        ascending: whether to order each inner dict by value; otherwise it is in node order.
        rows: the node of each row; None if the rows are the nodes of G.

    Returns:
        A dict with one inner dict for each row, which may be empty.
    """
    csr = by_rows(matrix)
    columns, values = csr.columns, csr.values
    if ascending:
        row = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
        order = np.lexsort((columns, values, row))
        columns, values = columns[order], values[order]
    targets, listed, bounds = nodes_of(G, columns), values.tolist(), csr.indptr.tolist()
    return {
        node: dict(zip(targets[i:j], listed[i:j], strict=True))
        for node, (i, j) in zip(G.labels if rows is None else rows, pairwise(bounds), strict=True)
    }


def edges_of(G: Graph, *, keys: bool = False) -> list[tuple[Any, ...]]:
    """Return the edges in NetworkX's order.

    Args:
        G: the graph.
        keys: whether to return (u, v, key) for a multigraph.

    Returns:
        A list of (u, v) or (u, v, key); a multigraph lists each parallel edge.
    """
    rows, columns = edge_ends(G)
    kept = np.ones(columns.size, bool) if G.directed else rows <= columns
    ends = [nodes_of(G, each[kept]) for each in (rows, columns)]
    if keys and isinstance(G, NetworkXGraph) and G._keys is not None:
        return list(zip(*ends, compress(G._keys, kept), strict=True))
    return list(zip(*ends, strict=True))


def edge_ends(G: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the two end nodes of each element of edge data, in dict order.

    Args:
        G: the graph.

    Returns:
        (rows, columns), two arrays. An undirected edge appears in both directions. Each parallel
        edge appears separately.
    """
    indptr, columns = neighbor_lists(G)
    rows = np.repeat(np.arange(len(G), dtype=np.int32), np.diff(indptr))
    if isinstance(G, NetworkXGraph) and G._entries.counts is not None:
        return np.repeat(rows, G._entries.counts), np.repeat(columns, G._entries.counts)
    return rows, columns


def edge_values(G: Graph, matrix: Matrix) -> np.ndarray:
    """Return the value of a Matrix for each element of edge data, in dict order.

    Args:
        G: the graph.
        matrix: a Matrix with an entry for each pair of adjacent nodes.

    Returns:
        An array.
    """
    rows, columns = edge_ends(G)
    csr, n = by_rows(matrix), len(G)
    keys = np.repeat(np.arange(n), np.diff(csr.indptr)) * n + csr.columns
    return np.asarray(csr.values)[np.searchsorted(keys, rows.astype(np.int64) * n + columns)]


def to_edge_dict(G: Graph, matrix: Matrix) -> dict[tuple[Any, Any], Any]:
    """Return {(u, v): value} with Python scalars for a graph without parallel edges.

    Args:
        G: the graph.
        matrix: a Matrix with an entry for each pair of adjacent nodes.

    Returns:
        A dict in the order of NetworkX's edges.
    """
    rows, columns = edge_ends(G)
    values = edge_values(G, matrix)
    kept = slice(None) if G.directed else rows <= columns
    return dict(zip(edges_of(G), values[kept].tolist(), strict=True))


def with_attributes(G: Graph) -> NetworkXGraph:
    """Convert a Graph that the user has created to a NetworkXGraph.

    Args:
        G: the graph.

    Returns:
        G itself if it is a converted graph.
    """
    if isinstance(G, NetworkXGraph):
        return G
    return new_graph(G, weight=None if G._matrix.dtype == "BOOL" else G.weight_name or "weight")


def subgraph(
    G: Graph, *, nodes: np.ndarray | None = None, edges: np.ndarray | None = None
) -> NetworkXGraph:
    """Return some of the nodes and edges with all their attributes.

    Args:
        G: the graph.
        nodes: an array of booleans, one for each node; None selects all.
        edges: an array of booleans, one for each element of `NetworkXGraph.attribute`; both entries
            of an undirected edge have the same boolean. None selects all edges between selected
            nodes.

    Returns:
        A graph with the same order of nodes and edges.
    """
    G = with_attributes(G)
    entries = G._entries
    nodes = np.ones(len(G), bool) if nodes is None else nodes
    inside = nodes[entries.rows] & nodes[entries.columns]
    if entries.counts is not None:
        inside = np.repeat(inside, entries.counts)
    edges = inside if edges is None else inside & edges
    attributes = {
        name: values[edges] if isinstance(values, np.ndarray) else list(compress(values, edges))
        for name, values in G._attributes.items()
    }
    data = None if G._data is None else list(compress(G._data, edges))
    kept = None if G._nodes is None else list(compress(G._nodes, nodes))
    chosen = entries.select(nodes, edges)
    return NetworkXGraph(chosen, attributes, data, kept, dict(G.graph), G._device)


def new_graph(
    result: Graph,
    *,
    weight: Hashable | None = None,
    attributes: Mapping[Hashable, Any] | None = None,
    nodes: list[dict[Any, Any]] | None = None,
    graph: Mapping[Any, Any] | None = None,
) -> NetworkXGraph:
    """Wrap a Graph as a NetworkXGraph, which NetworkX can convert.

    Args:
        result: the Graph, whose labels are the nodes.
        weight: the edge attribute that holds the values of the Graph; None if the edges have no
            weights.
        attributes: further edge attributes: an array or a list in the order of the entries of the
            matrix, by rows.
        nodes: the attribute dict of each node.
        graph: the attributes of the graph.

    Returns:
        A NetworkXGraph.
    """
    rows, labels = by_rows(result._matrix), result._labels
    names = None if labels.are_numbers else dict(labels._numbers or {})
    entries = AdjacencyDicts(
        labels.names,
        names,
        rows.indptr.astype(np.int64),
        rows.columns,
        result.directed,
        False,
        {},
    )
    kept = dict(attributes or {})
    if weight is not None:
        kept[weight] = rows.values
    return NetworkXGraph(entries, kept, None, nodes, dict(graph or {}), result.device)
