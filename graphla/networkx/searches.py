"""Searches that visit the nodes in the order of NetworkX.

On the CPU, the searches visit the neighbors of a node in the order of NetworkX's dictionaries, so
ties between paths and parents are resolved as in NetworkX. A graph on a GPU is searched on the GPU,
where nodes at the same distance are in node order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain, pairwise
from typing import Any

import networkx as nx
import numpy as np

from graphla import algorithms
from graphla.graph import Graph
from graphla.io.adjacency_dicts import as_numbers, read_predecessors
from graphla.networkx.graphs import (
    NetworkXGraph,
    entry_data,
    find,
    neighbor_lists,
    nodes_of,
    pause_collection,
    with_weights,
)
from graphla.operations.serial import run_serial

LONGEST = 1 << 62
"""Sums of integer weights must stay below this bound."""


class Tree:
    """The result of a search: the reached vertices in the order of the search.

    Args:
        G: the graph.
        order: the reached vertices.
        lengths: the distance of each element of `order`.
        parents: the parent of each element of `order`; a source is its own parent.
    """

    def __init__(self, G: Graph, order: np.ndarray, lengths: np.ndarray, parents: np.ndarray):
        self.G, self.order, self.lengths, self.parents = G, order, lengths, parents

    @property
    def nodes(self) -> list[Any]:
        """The reached nodes."""
        return nodes_of(self.G, self.order)

    def distances(self) -> dict[Any, Any]:
        """Return {node: distance}, beginning with the nearest node."""
        return dict(zip(self.nodes, self.lengths.tolist(), strict=True))

    def paths(self, *, reverse: bool = False) -> dict[Any, list[Any]]:
        """Return {node: path from its source}; with `reverse`, each path begins at the node."""
        paths: dict[Any, list[Any]] = {}
        parents = nodes_of(self.G, self.parents)
        with pause_collection():
            # A source comes before the other nodes of its tree.
            for node, parent in zip(self.nodes, parents, strict=True):
                if node is parent or node == parent:
                    paths[node] = [node]
                elif reverse:
                    paths[node] = [node, *paths[parent]]
                else:
                    paths[node] = [*paths[parent], node]
        return paths

    def path(self, target: int) -> list[Any]:
        """Return the path from a source to one reached vertex."""
        before = np.full(len(self.G), -1, np.int64)
        before[self.order] = self.parents
        path = [target]
        while before[path[-1]] != path[-1]:
            path.append(int(before[path[-1]]))
        return nodes_of(self.G, path[::-1])

    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the edges of the tree, as two arrays."""
        below = self.order != self.parents
        return self.parents[below], self.order[below]


class Neighbors:
    """The neighbors of each vertex in NetworkX's order; any number of searches can share them.

    Args:
        G: the graph.
        weight: the edge attribute for lengths; None makes each length 1. It may also be a function
            of two nodes and the data of their edge, which returns None for a hidden edge. Unlike in
            NetworkX, the function is called for all edges before any search.
        default: the length of an edge that lacks the attribute.
        parallel: the length of parallel edges: the smallest ("min") or the largest ("max").
        reverse: whether searches follow the edges of a directed graph backward.
        bellman_ford: whether the lengths are for the algorithm of Bellman and Ford and may
            therefore be negative.

    Raises:
        NotImplementedError: a weight is not a number, or it is negative but `bellman_ford` is not
            set, or it is so large that lengths might not fit in INT64.
    """

    def __init__(
        self,
        G: Graph,
        weight: Any = None,
        *,
        default: Any = 1,
        parallel: str = "min",
        reverse: bool = False,
        bellman_ford: bool = False,
    ):
        self.G, self.weight, self.n = G, weight, len(G)
        self.reverse = reverse and G.directed
        self.on_gpu = G.device != "cpu" and not callable(weight)
        self.indptr, self.columns = neighbor_lists(G)
        self.values: np.ndarray | None = None
        self._weighted: Graph | None = G
        if callable(weight):
            self._weighted = None
            self._evaluate(weight)
        elif weight is not None:
            self._weighted = with_weights(G, weight, default, parallel=parallel)
            self.values = _values_in_order(G, self._weighted)
        self.is_negative = False
        if self.values is not None and self.values.size:
            self._check(self.values, bellman_ford)
        if self.reverse:
            back = transpose_rows(self.indptr, self.columns, self.values)
            self.indptr, self.columns, self.values = _in_dict_order(G, *back)
        self._both_ways: Any = None

    @property
    def matrix(self) -> Any:
        """The Matrix whose values are the lengths, on the device of the graph."""
        if self._weighted is None:
            raise NotImplementedError("the weight is a function and returns a negative weight")
        A = self._weighted._matrix
        return A.T.new() if self.reverse else A

    def _evaluate(self, weight: Callable[[Any, Any, Any], Any]) -> None:
        """Compute the values with a function, and drop the hidden edges."""
        if self.reverse:
            raise NotImplementedError("the weight is a function, and the search runs backward")
        rows = np.repeat(np.arange(self.n), np.diff(self.indptr))
        ends = zip(nodes_of(self.G, rows), nodes_of(self.G, self.columns), strict=True)
        try:
            found = [
                weight(u, v, data) for (u, v), data in zip(ends, entry_data(self.G), strict=True)
            ]
        except Exception as error:
            raise NotImplementedError(f"the weight function failed: {error}") from error
        shown = np.array([each is not None for each in found], bool)
        values = as_numbers([each for each in found if each is not None])
        if not isinstance(values, np.ndarray):
            raise NotImplementedError("the weight function returns an object that is not a number")
        kind = np.float64 if values.dtype.kind == "f" else np.int64
        self.values, self.columns = values.astype(kind), self.columns[shown]
        counts = np.bincount(rows[shown], minlength=self.n)
        self.indptr = np.concatenate(([0], np.cumsum(counts))).astype(self.indptr.dtype)

    def _check(self, values: np.ndarray, bellman_ford: bool) -> None:
        least, most = values.min(), values.max()
        if least != least or most != most:
            raise NotImplementedError("a weight is NaN")
        self.is_negative = bool(least < 0)
        if self.is_negative and not bellman_ford:
            raise NotImplementedError("a weight is negative, but Dijkstra needs at least 0")
        if values.dtype.kind != "f" and max(-int(least), int(most)) * self.n >= LONGEST:
            raise NotImplementedError("lengths might not fit INT64")

    def step(self, u: int, v: int) -> Any:
        """Return the length of the edge between two vertices as a Python number."""
        first, last = self.indptr[u : u + 2]
        place = first + np.flatnonzero(self.columns[first:last] == v)[0]
        return 1 if self.values is None else self.values[place].item()

    def sort(self, sort_neighbors: Callable[[Any], Any], sources: Sequence[int]) -> None:
        """Apply a function to the neighbors of each vertex that a search from `sources` reaches.

        The function takes an iterator over the neighbors of a node and returns them in another
        order, as in NetworkX.
        """
        reached = self.search(sources).order
        columns, bounds = nodes_of(self.G, self.columns), self.indptr.tolist()
        lists: list[list[int]] = [[] for _ in range(self.n)]
        for v in reached.tolist():
            chosen = sort_neighbors(iter(columns[bounds[v] : bounds[v + 1]]))
            lists[v] = [node_number(self.G, node) for node in chosen]
        self.indptr = np.zeros(self.n + 1, np.int64)
        np.cumsum([len(each) for each in lists], out=self.indptr[1:])
        self.columns = np.array(list(chain.from_iterable(lists)), np.int32)
        self.on_gpu = False

    def search(
        self,
        sources: Sequence[int],
        cutoff: float | None = None,
        target: int | None = None,
    ) -> Tree:
        """Search from one or several vertices.

        Args:
            sources: distinct vertices.
            cutoff: the maximum distance; None means no limit.
            target: a vertex at which the search may stop.

        Returns:
            The tree of the search.
        """
        cutoff = math.inf if cutoff is None else cutoff
        if cutoff != cutoff:
            raise NotImplementedError("the cutoff is NaN")
        if self.on_gpu:
            return self._search_on_gpu(sources, cutoff)
        if self.values is None:
            return self._search_levels(sources, cutoff, target)
        return self._search_lengths(sources, cutoff, target)

    def find_path(self, source: int, target: int) -> tuple[Any, list[int]] | None:
        """Search from both ends as NetworkX does, and return the length and the path, or None."""
        n, (indptr, columns, values, shift) = self.n, self._rows_both_ways()
        parents, work = np.full(2 * n, -1, np.int32), n + columns.size
        if values is None:
            arrays: Any = indptr, columns, parents, np.empty(2 * n, np.int32)
            name = "serial_search.meet"
        else:
            room = 2 * (values.size + 1)
            heap = np.empty(room, values.dtype), np.empty(2 * room, np.int64)
            lengths = np.zeros(2 * n, values.dtype)
            arrays = indptr, columns, values, lengths, parents, *heap
            name = "serial_search.meet_nearest"
        meeting = run_serial(name, arrays, work, source, target, shift)
        if meeting < 0:
            return None
        parents = np.where(parents < -1, -2 - parents, parents)
        path = [meeting]
        while path[-1] != source:
            path.append(int(parents[path[-1]]))
        path.reverse()
        while path[-1] != target:
            path.append(int(parents[n + path[-1]]))
        length = len(path) - 1
        if values is not None:
            length = (arrays[3][meeting] + arrays[3][n + meeting]).item()
        return length, path

    def _rows_both_ways(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int]:
        """Return the rows of successors, followed by the rows of predecessors if these differ.

        The result is (indptr, columns, values, k), where row k holds the predecessors of vertex 0.
        """
        # A weight function may return different values for the two directions of an edge.
        if not self.G.directed and not callable(self.weight):
            return self.indptr, self.columns, self.values, 0
        if self._both_ways is None:
            bounds, rows, values = transpose_rows(self.indptr, self.columns, self.values)
            if self.values is not None and values is not None:
                values = np.concatenate((self.values, values))
            indptr = np.concatenate((self.indptr, self.indptr[-1] + bounds[1:]))
            self._both_ways = indptr, np.concatenate((self.columns, rows)), values, self.n
        return self._both_ways

    def _search_levels(self, sources: Sequence[int], cutoff: float, target: int | None) -> Tree:
        n, count = self.n, len(sources)
        order, parents = np.empty(n, np.int32), np.empty(n, np.int32)
        levels = np.full(n, -1, np.int32)
        order[:count] = parents[sources] = sources
        levels[sources] = 0
        limit = max(0, math.ceil(cutoff)) if cutoff < n else -1
        arrays = (self.indptr, self.columns, order, levels, parents)
        stop = -1 if target is None or target in sources else target
        work = n + self.columns.size
        count = run_serial("serial_search.breadth_first", arrays, work, count, limit, stop)
        reached = order[:count]
        return Tree(self.G, reached, levels[reached], parents[reached])

    def _search_lengths(self, sources: Sequence[int], cutoff: float, target: int | None) -> Tree:
        n, count, values = self.n, len(sources), self.values
        assert values is not None
        order, parents = np.empty(n, np.int32), np.full(n, -1, np.int32)
        lengths = np.zeros(n, values.dtype)
        order[:count] = parents[sources] = sources
        room = values.size + n
        heap = np.empty(room, values.dtype), np.empty(2 * room, np.int64)
        limit = np.array([cutoff])
        arrays = (self.indptr, self.columns, values, limit, order, lengths, parents, *heap)
        stop = -1 if target is None else target
        work = n + self.columns.size
        name = "serial_search.nearest_first"
        count = run_serial(name, arrays, work, count, stop, plain=_search_in_python)
        reached = order[:count]
        return Tree(self.G, reached, lengths[reached], parents[reached])

    def _search_on_gpu(self, sources: Sequence[int], cutoff: float) -> Tree:
        if self.values is None:
            limit = None if cutoff >= self.n else max(0, math.ceil(cutoff))
            found: Any = algorithms.bfs(self.matrix, list(sources), parents=True, cutoff=limit)
        else:
            bound = None if cutoff == math.inf else max(0, cutoff)
            found = algorithms.sssp(self.matrix, list(sources), parents=True, cutoff=bound)
        vertices, lengths = found[0].to_coo()
        order = np.argsort(lengths, kind="stable")
        parents = found[1].to_coo()[1][order]
        return Tree(self.G, vertices[order], lengths[order], parents)

    def tight_parents(self, tree: Tree) -> dict[Any, list[Any]]:
        """Return the parents of each reached node on all shortest paths.

        Args:
            tree: the result of a search without a target.

        Returns:
            {node: list of nodes} in the order of discovery, with an empty list for a source that no
            shortest path enters.
        """
        position = np.full(self.n, -1, np.int64)
        position[tree.order] = np.arange(tree.order.size)
        length = np.zeros(self.n, tree.lengths.dtype)
        length[tree.order] = tree.lengths
        starts, ends = self.indptr[tree.order], self.indptr[tree.order + 1]
        counts = ends - starts
        places = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        sources, targets = np.repeat(tree.order, counts), self.columns[places]
        steps = 1 if self.values is None else self.values[places]
        first = np.full(self.n, -1, np.int64)
        first[targets[::-1]] = np.arange(targets.size, 0, -1)
        first[tree.order[tree.order == tree.parents]] = 0
        tight = (position[targets] >= 0) & (length[sources] + steps == length[targets])
        sources, targets = sources[tight], position[targets[tight]]
        order = np.argsort(targets, kind="stable")
        parents = nodes_of(self.G, sources[order])
        bounds = np.searchsorted(targets[order], np.arange(tree.order.size + 1)).tolist()
        with pause_collection():
            lists = [parents[i:j] for i, j in pairwise(bounds)]
            # NetworkX lists the nodes in the order of their discovery.
            found = np.argsort(first[tree.order], kind="stable")
            nodes = nodes_of(self.G, tree.order[found])
            return dict(zip(nodes, map(lists.__getitem__, found.tolist()), strict=True))


def neighbors_of(
    G: Graph, weight: Any = None, *, reverse: bool = False, bellman_ford: bool = False
) -> Neighbors:
    """Return the `Neighbors` of a graph, which are cached for later searches.

    Args:
        G: the graph.
        weight: the edge attribute or function for lengths; None makes each length 1.
        reverse: whether searches follow the edges of a directed graph backward.
        bellman_ford: whether the lengths are for the algorithm of Bellman and Ford.

    Returns:
        The neighbors, which must not be changed.

    Raises:
        NotImplementedError: as for `Neighbors`.
    """
    if not isinstance(G, NetworkXGraph) or callable(weight):
        return Neighbors(G, weight, reverse=reverse, bellman_ford=bellman_ford)
    key = weight, reverse, bellman_ford
    found = G._searches.get(key)
    if found is None:
        found = G._searches[key] = Neighbors(G, weight, reverse=reverse, bellman_ford=bellman_ford)
    return found


def transpose_rows(
    indptr: np.ndarray, columns: np.ndarray, values: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the predecessors of each vertex in node order, in the form of `neighbor_lists`.

    Args:
        indptr: the bounds of the rows.
        columns: the successors of each vertex.
        values: the value of each entry, or None.

    Returns:
        The bounds of the rows, the predecessors and their values.
    """
    n = indptr.size - 1
    rows = np.repeat(np.arange(n, dtype=columns.dtype), np.diff(indptr))
    order = np.argsort(columns, kind="stable")
    counts = np.bincount(columns, minlength=n)
    back = np.concatenate(([0], np.cumsum(counts))).astype(indptr.dtype)
    return back, rows[order], None if values is None else values[order]


def _in_dict_order(
    G: Graph, indptr: np.ndarray, columns: np.ndarray, values: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return what `transpose_rows` returns, in NetworkX's order of predecessors if G knows it.

    G does not know this order if G is a Graph of the user or a view, or if the graph has changed
    since it was converted.
    """
    wanted = None
    if isinstance(G, NetworkXGraph) and G.source_predecessors is not None:
        wanted = read_predecessors(G._entries, G.source_predecessors)
    if wanted is None or not np.array_equal(wanted[0], indptr):
        return indptr, columns, values
    n, counts = len(G), np.diff(indptr)
    rows = np.repeat(np.arange(n), counts) * n
    keys, wanted_keys = rows + columns, rows + wanted[1]
    places = np.searchsorted(keys, wanted_keys)
    if places.size and not np.array_equal(keys[np.minimum(places, keys.size - 1)], wanted_keys):
        return indptr, columns, values
    return indptr, columns[places], None if values is None else values[places]


def _values_in_order(G: Graph, W: Graph) -> np.ndarray:
    """Return the weights of all entries as INT64 or FP64, in the order of `neighbor_lists`."""
    values = W._matrix.to("cpu").to_csr(copy=False)[2]
    kind = np.float64 if values.dtype.kind == "f" else np.int64
    order = G._entries.order if isinstance(G, NetworkXGraph) else None
    if order is None or values.strides == (0,):
        return np.ascontiguousarray(values, kind)
    unsorted = np.empty(values.size, kind)
    unsorted[order] = values
    return unsorted


def _search_in_python(
    indptr: list[int],
    columns: list[int],
    values: list[Any],
    cutoff: list[float],
    order: list[int],
    lengths: list[Any],
    parents: list[int],
    _keys: Any,
    _heap: Any,
    _stop: Any,
    count: int,
    target: int,
) -> int:
    """Run the same search as the compiled loop `nearest_first`, but with `heapq`."""
    heap = [(0, t, order[t]) for t in range(count)]
    mark, final, most = count, 0, cutoff[0]
    while heap:
        length, _, v = heappop(heap)
        if length > lengths[v]:
            continue
        order[final] = v
        final += 1
        if v == target:
            break
        for p in range(indptr[v], indptr[v + 1]):
            w = columns[p]
            reached = length + values[p]
            if reached <= most and (parents[w] < 0 or reached < lengths[w]):
                lengths[w], parents[w] = reached, v
                heappush(heap, (reached, mark, w))
                mark += 1
    return final


def depth_first(
    G: Graph, roots: Iterable[int], limit: int | None = None, sort_neighbors: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Search depth-first from each root that no earlier root reaches.

    Args:
        G: the graph.
        roots: the vertices to begin with.
        limit: the maximum number of edges below a root; None means no limit.
        sort_neighbors: a function that sorts an iterator over neighbors, as in NetworkX; None keeps
            their order.

    Returns:
        The reached vertices in the order of their discovery, the parent of each of them (a root is
        its own parent), and the reached vertices in the order in which the search leaves them.
    """
    indptr, columns = neighbor_lists(G)
    roots = list(roots)
    if sort_neighbors is not None:
        neighbors = Neighbors(G)
        neighbors.sort(sort_neighbors, roots)
        indptr, columns = neighbors.indptr, neighbors.columns
    n = len(G)
    order, finished, path = (np.empty(n, np.int32) for _ in range(3))
    parents, following = np.full(n, -1, np.int32), np.empty(n, np.int64)
    starts = np.array(roots, np.int32)
    arrays = (indptr, columns, starts, order, parents, finished, following, path)
    bound = n if limit is None else max(1, limit)
    count = run_serial("serial_search.depth_first", arrays, n + columns.size, bound)
    return order[:count], parents[order[:count]], finished[:count]


def node_number(G: Graph, node: Any) -> int:
    """Return the number of a node that a traversal starts from.

    Args:
        G: the graph.
        node: the node.

    Returns:
        An int from 0 to n - 1.

    Raises:
        NetworkXError: the graph lacks the node.
    """
    k = find(G, node)
    if k is None:
        kind = "digraph" if G.directed else "graph"
        raise nx.NetworkXError(f"The node {node} is not in the {kind}.")
    return k


def all_paths(source: Any, target: Any, parents: dict[Any, list[Any]]) -> Iterator[list[Any]]:
    """Yield all paths from `source` to `target` that follow the given parents.

    If the source has parents, because a cycle of weight 0 passes through it, some paths are
    repeated, as in NetworkX.

    Args:
        source: a node.
        target: a node.
        parents: {node: list of parents}.

    Yields:
        The nodes of a path.

    Raises:
        NetworkXNoPath: the target has no entry in `parents`.
    """
    if target not in parents:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    path, choices, on_path = [target], [iter(parents[target])], {target}
    while path:
        if path[-1] == source:
            yield path[::-1]
        for node in choices[-1]:
            if node not in on_path:
                path.append(node)
                on_path.add(node)
                choices.append(iter(parents[node]))
                break
            if path[-1] == source:
                yield path[::-1]
        else:
            choices.pop()
            on_path.discard(path.pop())
