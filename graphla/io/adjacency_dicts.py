"""Read the adjacency dictionaries of a NetworkX graph into arrays.

NetworkX stores `adjacency[u][v]`, the dict of attributes of the edge from u to v; in a multigraph
there is a dict `adjacency[u][v][key]` for each parallel edge. An *entry* is a pair (u, v); an
undirected edge between two nodes has two entries, which share one dict. *Dict order* is the order
in which these dictionaries list the entries.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, islice, pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from scipy.sparse import csr_array

PART = 1 << 12
"""Number of values that are converted at once."""

SLOTS = 4
"""Minimum number of hash-table slots per key."""

_MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd multiplier that spreads the low bits of a key to the high bits."""

EXACT = 1 << 53
"""Every integer up to this one is exactly representable as a float."""


@dataclass
class AdjacencyDicts:
    """The entries of a NetworkX graph in dict order, as compressed rows.

    Attributes:
        nodes: the nodes in NetworkX's order; `range(n)` if they are the numbers 0 to n - 1 in
            order.
        numbers: the number of each node, or None if each node is its own number.
        indptr: the entries of row i are those from indptr[i] to indptr[i + 1] - 1.
        columns: the column of each entry in dict order.
        directed: whether the graph is directed.
        multigraph: whether the graph may have parallel edges.
    """

    nodes: Sequence[Any]
    numbers: dict[Any, int] | None
    indptr: np.ndarray
    columns: np.ndarray
    directed: bool
    multigraph: bool
    _adjacency: Mapping[Any, Any]

    @cached_property
    def order(self) -> np.ndarray | None:
        """The order that sorts the columns in each row: order[k] is the dict position of entry k.

        It is None if the columns of each row are sorted in dict order already.
        """
        rises = self.columns[1:] > self.columns[:-1]
        starts = self.indptr[1:-1]
        rises[starts[(starts > 0) & (starts < self.columns.size)] - 1] = True
        if rises.all():
            return None
        n, places = len(self.nodes), np.arange(self.columns.size, dtype=np.int32)
        entries = (places, self.columns.copy(), self.indptr.astype(np.int32))
        rows = csr_array(entries, shape=(n, n))
        rows.sort_indices()
        return rows.data

    @cached_property
    def rows(self) -> np.ndarray:
        """The row of each entry in dict order."""
        return np.repeat(np.arange(len(self.nodes), dtype=np.int32), np.diff(self.indptr))

    @cached_property
    def counts(self) -> Any:
        """The number of parallel edges of each entry of a multigraph in dict order, else None."""
        if not self.multigraph:
            return None
        return np.fromiter(map(len, self._values()), np.int64, self.columns.size)

    @cached_property
    def keys(self) -> Any:
        """The keys of the parallel edges of all entries in dict order; None if not a multigraph."""
        return list(chain.from_iterable(self._values())) if self.multigraph else None

    def sort(self, entries: np.ndarray) -> np.ndarray:
        """Return `entries`, an array in dict order, rearranged into the order of sorted columns."""
        if self.order is None or entries.strides == (0,):
            return entries
        return entries[self.order]

    def data(self) -> Iterator[dict[Any, Any]]:
        """Return the attribute dicts of all entries, or of all parallel edges, in dict order."""
        if self.multigraph:
            return chain.from_iterable(edges.values() for edges in self._values())
        return self._values()

    def attribute(self, name: Hashable, default: Any) -> np.ndarray | list[Any]:
        """Return an attribute of each element of `data()`, as numbers if all of them are numbers.

        Args:
            name: the key of the attribute.
            default: the value of an edge that lacks the attribute.

        Returns:
            An array of BOOL, INT64 or FP64, or a list if they cannot represent a value.
        """
        if self.directed or self.multigraph:
            return _numbers(self.data, name, default)
        # Both entries of an edge share one dict. Read this dict only for the entry on or above the
        # diagonal.
        upper = self.columns >= self.rows
        values = _numbers(lambda: compress(self.data(), upper), name, default)
        return self._mirror(values, upper)

    @cached_property
    def upper_of(self) -> np.ndarray:
        """For each entry of an undirected graph in dict order, the position of its upper entry.

        The upper entry of (i, j) is (i, j) itself if i <= j, and otherwise (j, i). The positions
        are also in dict order.
        """
        n, m = len(self.nodes), self.columns.size
        # The k-th entry in CSC is (j, i) if the k-th entry in sorted CSR is (i, j).
        places = np.arange(m, dtype=np.int32)
        across = csr_array((places, self.columns, self.indptr.astype(np.int32)), shape=(n, n))
        mirror = across.tocsc().data
        opposite = mirror
        if self.order is not None:
            opposite = np.empty(m, np.int32)
            opposite[self.order] = mirror
        return np.where(self.columns >= self.rows, places, opposite)

    def select(self, nodes: np.ndarray, edges: np.ndarray) -> AdjacencyDicts:
        """Return some of the nodes and edges in the same order.

        Args:
            nodes: an array of booleans, one for each node.
            edges: an array of booleans, one for each element of `data()`. Edges of nodes that are
                not selected must not be selected.

        Returns:
            The selected entries.
        """
        counts = None if self.counts is None else _sums(edges, self.counts)
        kept = edges if counts is None else counts > 0
        position = np.cumsum(nodes, dtype=np.int32) - 1
        indptr = np.zeros(int(nodes.sum()) + 1, np.int64)
        rows = position[self.rows[kept]]
        np.cumsum(np.bincount(rows, minlength=indptr.size - 1), out=indptr[1:])
        names: Any = tuple(compress(self.nodes, nodes))
        numbers = None if are_range(names) else {name: k for k, name in enumerate(names)}
        columns = position[self.columns[kept]]
        chosen = AdjacencyDicts(
            range(len(names)) if numbers is None else names,
            numbers,
            indptr,
            columns,
            self.directed,
            self.multigraph,
            {},
        )
        if counts is not None:
            chosen.__dict__["counts"] = counts[kept]
            chosen.__dict__["keys"] = list(compress(self.keys, edges))
        return chosen

    def release(self) -> None:
        """Compute all arrays that need the graph's dictionaries, and drop the dictionaries."""
        _ = self.counts, self.keys
        self._adjacency = {}

    def _mirror(self, values: Any, upper: np.ndarray) -> Any:
        """Return the values of all entries of an undirected graph, given the upper entries."""
        if isinstance(values, np.ndarray) and values.size and _are_equal(values):
            return np.broadcast_to(values[0], (self.columns.size,))
        source = (np.cumsum(upper, dtype=np.int32) - 1)[self.upper_of]
        if isinstance(values, np.ndarray):
            return values[source]
        return [values[k] for k in source.tolist()]

    def _values(self) -> Iterator[Any]:
        return chain.from_iterable(neighbors.values() for neighbors in self._adjacency.values())


def read_adjacency(G: Any) -> AdjacencyDicts:
    """Read the nodes and entries of a NetworkX graph of any class.

    Args:
        G: the graph. Views and instances of subclasses are read through their public methods.

    Returns:
        The entries.
    """
    nodes, adjacency = list(G), _plain_dicts(G)
    if list(adjacency) != nodes:
        adjacency = {node: adjacency[node] for node in nodes}
    n, rows = len(nodes), adjacency.values()
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, n), out=indptr[1:])
    numbers = None if are_range(nodes) else dict(zip(nodes, range(n), strict=True))
    columns = _columns(nodes, numbers, rows, int(indptr[-1]))
    kept = range(n) if numbers is None else tuple(nodes)
    directed, multigraph = G.is_directed(), G.is_multigraph()
    return AdjacencyDicts(kept, numbers, indptr, columns, directed, multigraph, adjacency)


def read_predecessors(entries: AdjacencyDicts, predecessors: Mapping[Any, Any]) -> Any:
    """Read the predecessors of each node of a directed graph in dict order.

    Args:
        entries: the entries of the graph.
        predecessors: the dictionary of predecessors, which may have changed after the entries were
            read.

    Returns:
        (indptr, columns) as in `AdjacencyDicts`, or None if the nodes have changed.
    """
    nodes, rows = list(entries.nodes), predecessors.values()
    if list(predecessors) != nodes:
        return None
    indptr = np.zeros(len(nodes) + 1, entries.indptr.dtype)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(nodes)), out=indptr[1:])
    return indptr, _columns(nodes, entries.numbers, rows, int(indptr[-1]))


def _columns(
    nodes: list[Any], numbers: dict[Any, int] | None, rows: Iterable[Any], m: int
) -> np.ndarray:
    """Return the number of the neighbor in each of the m entries in dict order."""
    if numbers is None:
        return np.fromiter(chain.from_iterable(rows), np.int32, m)
    # Looking up a node would read its object and an entry of `numbers`, which are at distant places
    # in memory. The adjacency dict already holds the address of the object, and most dicts refer to
    # a node by the same object as `nodes`. Look up only the nodes whose objects differ.
    key: Any = int if set(map(type, nodes)) == {int} else id
    try:
        keys = np.fromiter(map(key, nodes), np.int64, len(nodes))
        columns = _places(keys, np.fromiter(map(key, chain.from_iterable(rows)), np.int64, m))
    except OverflowError:
        columns = np.full(m, -1, np.int32)
    unknown = columns < 0
    if unknown.any():
        others = compress(chain.from_iterable(rows), unknown)
        columns[unknown] = np.fromiter(map(numbers.__getitem__, others), np.int32)
    return columns


def _places(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the position of each requested integer in `keys`, or -1 if it is not in `keys`."""
    if not keys.size:
        return np.full(wanted.size, -1, np.int32)
    # A hash table with one key per slot finds most keys. The remaining keys share a slot with
    # another key.
    shift = np.uint64(64 - (SLOTS * keys.size).bit_length())
    slots, wanted_slots = ((x.view(np.uint64) * _MIX) >> shift for x in (keys, wanted))
    table = np.zeros(1 << (64 - int(shift)), np.int32)
    table[slots.view(np.int64)] = np.arange(keys.size, dtype=np.int32)
    found = table[wanted_slots.view(np.int64)]
    (missed,) = (keys[found] != wanted).nonzero()
    if missed.size:
        order = np.argsort(keys)
        at = order[np.searchsorted(keys, wanted[missed], sorter=order).clip(max=keys.size - 1)]
        found[missed] = np.where(keys[at] == wanted[missed], at, -1)
    return found


def are_range(nodes: Sequence[Any]) -> bool:
    """Return whether the nodes are the ints 0 to n - 1 in this order."""
    if not nodes:
        return True
    if type(nodes[0]) is not int or type(nodes[-1]) is not int or nodes[-1] != len(nodes) - 1:
        return False
    return set(map(type, nodes)) == {int} and list(nodes) == list(range(len(nodes)))


def as_numbers(values: list[Any]) -> np.ndarray | list[Any]:
    """Return a list of numbers as an array of BOOL, INT64 or FP64.

    Args:
        values: any objects.

    Returns:
        An array of the same numbers, or the list itself if these dtypes cannot represent it.
    """
    kinds = set(map(type, values))
    try:
        if kinds == {float}:
            return np.array(values, np.float64)
        if kinds == {bool}:
            return np.array(values, np.bool_)
        if kinds <= {int, bool}:
            return np.array(values, np.int64)
        if not all(map(_is_real, kinds)):
            return values
        whole = [value for value in values if isinstance(value, int | np.integer)]
        if len(whole) == len(values):
            return np.array([int(value) for value in whole], np.int64)
        if whole and max(map(abs, map(int, whole))) > EXACT:
            return values
        return np.array(values, np.float64)
    except OverflowError:
        return values


def _sums(edges: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return how many of the parallel edges of each entry are selected."""
    ends = np.cumsum(counts)
    sums = np.concatenate(([0], np.cumsum(edges)))
    return sums[ends] - sums[ends - counts]


def _is_real(kind: type) -> bool:
    if issubclass(kind, np.generic):
        dtype = np.dtype(kind)
        return dtype.kind in "biuf" and dtype.itemsize <= 8
    return issubclass(kind, (int, float))


def has_plain_dicts(G: Any) -> bool:
    """Return whether the class of G is one of NetworkX's own, and G holds its edges itself.

    A view may be of such a class as well, but reads the edges of another graph.
    """
    import networkx as nx

    own = type(G) in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
    return own and type(G._adj) is dict


def _plain_dicts(G: Any) -> Mapping[Any, Any]:
    """Return the adjacency of G as a dict of dicts."""
    if has_plain_dicts(G):
        return G._adj
    if G.is_multigraph():
        adjacency = {u: {v: dict(edges.items()) for v, edges in G[u].items()} for u in G}
    else:
        # Some subclasses yield sets of neighbors in `adjacency()`.
        adjacency = {u: dict(G[u].items()) for u in G}
    if not G.is_directed():
        _refuse_asymmetry(adjacency)
    return adjacency


def _refuse_asymmetry(adjacency: Mapping[Any, Any]) -> None:
    """Raise an error if an undirected view shows different data for the two ends of an edge.

    This can happen for an undirected view of a directed graph.
    """
    for u, neighbors in adjacency.items():
        for v, data in neighbors.items():
            if adjacency[v].get(u) != data:
                raise NotImplementedError(
                    f"the edge from {u!r} to {v!r} of the view has other data than its opposite"
                )


def _numbers(data: Callable[[], Iterator[Any]], name: Hashable, default: Any) -> Any:
    """Return the values of an attribute as an array if all are numbers, otherwise as a list."""
    try:
        return _convert(map(itemgetter(name), data()))
    except KeyError:
        return _convert(each.get(name, default) for each in data())


def _convert(values: Iterator[Any]) -> Any:
    """Return the values as an array if they are numbers, otherwise as a list.

    Values are converted in blocks, which are still in the processor's cache after their types have
    been checked.
    """
    parts: list[Any] = []
    while part := list(islice(values, PART)):
        parts.append(as_numbers(part))
    kinds = {part.dtype if isinstance(part, np.ndarray) else None for part in parts}
    if None not in kinds and len(kinds) <= 1:
        return np.concatenate(parts) if parts else np.empty(0, np.int64)
    return as_numbers(
        [x for part in parts for x in (part if type(part) is list else part.tolist())]
    )


def _are_equal(values: np.ndarray) -> bool:
    bits = values.view(f"u{values.itemsize}")
    return bool((bits == bits[0]).all())


def fill_adjacency(H: Any, entries: AdjacencyDicts, data: list[Any]) -> None:
    """Build the adjacency dictionaries of a NetworkX graph that has nodes but no edges yet.

    Args:
        H: the NetworkX graph, whose nodes are those of the entries.
        entries: the pairs of adjacent nodes.
        data: for each entry, its attribute dict or, in a multigraph, the dict of its parallel
            edges. For an undirected graph, `data` covers only the entries with row <= column; both
            entries of an undirected edge get the same dict.
    """
    nodes = entries.nodes
    if not entries.directed:
        source = np.cumsum(entries.columns >= entries.rows, dtype=np.int32) - 1
        shared: list[int] = source[entries.upper_of].tolist()
        data = [data[k] for k in shared]
    columns = entries.columns.tolist()
    _fill(H._adj, nodes, entries.indptr, _nodes_of(entries, columns), data)
    if entries.directed:
        n, m = len(nodes), entries.columns.size
        places = np.arange(m, dtype=np.int32)
        rows = csr_array((places, entries.columns, entries.indptr.astype(np.int32)), shape=(n, n))
        columnwise = rows.tocsc()
        sources = _nodes_of(entries, columnwise.indices.tolist())
        from_edges: Any = columnwise.data.tolist()
        _fill(H._pred, nodes, columnwise.indptr, sources, [data[k] for k in from_edges])


def _nodes_of(entries: AdjacencyDicts, numbers: list[int]) -> list[Any]:
    if entries.numbers is None:
        return numbers
    return list(map(entries.nodes.__getitem__, numbers))


def _fill(
    adjacency: dict[Any, Any], nodes: Sequence[Any], indptr: np.ndarray, ends: Any, data: Any
) -> None:
    bounds = pairwise(indptr.tolist())
    for node, (i, j) in zip(nodes, bounds, strict=True):
        adjacency[node] = dict(zip(ends[i:j], data[i:j], strict=True))
