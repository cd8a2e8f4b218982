"""The Graph: an adjacency matrix, a `directed` flag and vertex labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from graphla import io
from graphla.graph import cached_properties
from graphla.graph.edges import Edges, from_table, from_tuples
from graphla.graph.labelled import LabelledMatrix, LabelledVector, labelled
from graphla.graph.labels import Labels, number_labels, to_list
from graphla.graph.views import EdgeView, NodeView
from graphla.io.entries import assemble
from graphla.settings import config
from graphla.sparse import Matrix, Vector
from graphla.sparse.foreign import class_name, conversion
from graphla.sparse.printing import html
from graphla.sparse.readable_matrix import ReadableMatrix
from semirings import binary
from semirings.dtypes import lookup_dtype, unify
from semirings.exceptions import DimensionMismatch, InvalidValue

if TYPE_CHECKING:
    import networkx as nx


class _BackendName(str):
    """The name of the backend, whose `repr` NetworkX prints in the error for a missing function."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"'{self}' (with nx.config.fallback_to_nx = True, NetworkX converts the Graph)"


class Graph:
    """An adjacency matrix with an entry A(u, v) for each edge u -> v, and labels for its vertices.

    Every algorithm accepts a Graph as its first argument. Other arguments then refer to vertices by
    their labels, and `to_dict()` of the results uses the labels. A Graph is immutable.

    Args:
        matrix: a square Matrix. Later changes to this Matrix do not affect the Graph.
        directed: whether the graph is directed. If False, each edge must have a reverse edge, and
            the constructor checks this. None makes the graph undirected if each edge has a reverse
            edge.
        labels: the label of each vertex: any hashable object except None. The default labels are 0
            to n - 1.

    Raises:
        TypeError: `matrix` is not a Matrix, or a label is not hashable.
        DimensionMismatch: the matrix is not square, or the number of labels differs from n.
        InvalidValue: `directed` is False but an edge lacks its opposite edge, or two vertices have
            the same label.

    Examples:
        >>> from graphla import Graph
        >>> from graphla.algorithms import bfs
        >>> G = Graph.from_edges([("ann", "bob"), ("bob", "eve"), ("joe", "eve")])
        >>> G.nvertices, G.nedges, G.directed
        (4, 3, False)
        >>> bfs(G, "ann").levels.to_dict()
        {'ann': 0, 'bob': 1, 'eve': 2, 'joe': 3}
    """

    __slots__ = ("_directed", "_labels", "_matrix", "_multigraph_weight", "_weight_name")

    __networkx_backend__ = _BackendName("graphla")
    """The attribute by which NetworkX's functions recognize a Graph, so that they call graphla."""

    def __init__(
        self,
        matrix: Any,
        *,
        directed: bool | None = None,
        labels: Iterable[Hashable] | None = None,
    ):
        if not isinstance(matrix, ReadableMatrix):
            raise TypeError(
                f"matrix must be a graphla.Matrix, not a {class_name(matrix)}"
                f"{conversion('matrix', matrix, to_graph=True)}"
            )
        n = matrix.nrows
        if n != matrix.ncols:
            raise DimensionMismatch(
                f"matrix has {n} rows and {matrix.ncols} columns, but an adjacency matrix is square"
            )
        self._matrix = Matrix._of(matrix._read())
        self._labels = labels if isinstance(labels, Labels) else Labels(labels, n)
        if not directed and not cached_properties.is_symmetric(self._matrix):
            if directed is not None:
                raise InvalidValue(
                    "directed is False, but some edge of the matrix lacks its opposite; "
                    "Graph(A).to_undirected() adds them"
                )
            directed = True
        self._directed = bool(directed)
        self._multigraph_weight: str | None = None
        self._weight_name: str | None = None

    # --- conversions and files --------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Any],
        *,
        directed: bool = False,
        labels: Iterable[Hashable] | None = None,
        dtype: Any = None,
        dup_op: Any = "second",
    ) -> Graph:
        """Build a graph from a list of edges between labels.

        Edges are undirected by default. In contrast, `Graph.read` reads each line of a text edge
        list as a directed edge unless `directed` is False.

        Args:
            edges: tuples (u, v) or (u, v, weight) of labels u and v, all of the same length.
            directed: whether each edge leads only from u to v. By default edges are undirected.
            labels: the labels of the first vertices, which may include vertices without edges.
                Further vertices are numbered as they first appear in `edges`.
            dtype: the dtype of the values; by default that of the weights, or BOOL without weights.
            dup_op: the operator that combines the weights of duplicate edges; by default the last
                weight is used, as in NetworkX.

        Returns:
            The Graph.

        Raises:
            InvalidValue: the tuples differ in length, or a label is None.
            TypeError: a label is not hashable.

        Examples:
            >>> from graphla import Graph
            >>> G = Graph.from_edges([("a", "b", 3), ("b", "c", 5)])
            >>> G.nvertices, G.nedges
            (3, 2)
        """
        return cls._from_edges(from_tuples(edges), directed, labels, dtype, dup_op)

    @classmethod
    def _from_edges(
        cls,
        edges: Edges,
        directed: bool,
        labels: Iterable[Hashable] | None,
        dtype: Any,
        dup_op: Any,
    ) -> Graph:
        names = number_labels((*([] if labels is None else to_list(labels)), *edges.labels))
        order, number = range(len(names)), int
        if not _are_vertices(names):
            order, number = tuple(names), names.__getitem__
        A = _assembled(edges, len(names), number, dtype, directed, dup_op)
        return cls(A, directed=directed, labels=order)

    def _with_weight_name(self, name: str | None) -> Graph:
        """Record the name of the weights of this new Graph."""
        self._weight_name = name
        return self

    @classmethod
    def from_pandas(
        cls,
        table: Any,
        source: Any = "source",
        target: Any = "target",
        weight: Any = None,
        *,
        directed: bool = False,
        labels: Iterable[Hashable] | None = None,
        dtype: Any = None,
        dup_op: Any = "second",
    ) -> Graph:
        """Build a graph from an edge table: a pandas DataFrame with one row per edge.

        The default column names are those of `networkx.from_pandas_edgelist`. Vertices are numbered
        in order of appearance: row by row, the source before the target.

        Args:
            table: the DataFrame.
            source: the column with the label of each edge's source.
            target: the column with the label of each edge's target.
            weight: the column of weights, whose name becomes the `weight_name` of the Graph; None
                builds a graph without weights.
            directed: whether each edge leads only from its source to its target. By default edges
                are undirected.
            labels: the labels of the first vertices, which may include vertices without edges.
            dtype: the dtype of the values; by default that of the column, or BOOL without weights.
            dup_op: the operator that combines the weights of duplicate edges; by default the last
                weight is used.

        Returns:
            The Graph.

        Raises:
            ImportError: pandas is not installed.
            InvalidValue: the table lacks a column, or a row lacks a label.
            DomainMismatch: the weights are not numbers.

        Examples:
            >>> import pandas as pd
            >>> from graphla import Graph
            >>> table = pd.DataFrame({"from": ["a", "b"], "to": ["b", "c"], "km": [3.5, 2.0]})
            >>> G = Graph.from_pandas(table, "from", "to", "km")
            >>> G.nvertices, G.nedges, G.directed
            (3, 2, False)
        """
        edges = from_table(table, source, target, weight)
        graph = cls._from_edges(edges, directed, labels, dtype, dup_op)
        return graph._with_weight_name(weight)

    @classmethod
    def from_numpy(
        cls,
        array: Any,
        *,
        directed: bool | None = None,
        labels: Iterable[Hashable] | None = None,
        dtype: Any = None,
        nonedge: Any = 0,
    ) -> Graph:
        """Build a graph from a dense adjacency matrix.

        Every element that differs from `nonedge` is an edge. So a NaN is an edge, as in
        `networkx.from_numpy_array`, unless `nonedge` is NaN. (In contrast, `Matrix.from_dense`
        without `missing_value` turns every element into an entry, including zeros.)

        Args:
            array: a square NumPy array, or a CuPy array for a graph on the GPU.
            directed: as in `Graph`.
            labels: the label of each row; by default 0 to n - 1.
            dtype: the dtype of the values; by default that of the array.
            nonedge: the value of the elements that are not edges.

        Returns:
            The Graph, whose weights are the array elements.

        Raises:
            InvalidValue: the array does not have two dimensions.
            DimensionMismatch: the array is not square.

        Examples:
            >>> import numpy as np
            >>> from graphla import Graph
            >>> G = Graph.from_numpy(np.array([[0, 5], [5, 0]]), labels=["a", "b"])
            >>> list(G.edges(data="weight"))
            [('a', 'b', 5)]
        """
        A = Matrix.from_dense(array, nonedge, dtype=dtype)
        return cls(A, directed=directed, labels=labels)

    @classmethod
    def from_scipy(
        cls,
        A: Any,
        *,
        directed: bool | None = None,
        labels: Iterable[Hashable] | None = None,
        dup_op: Any = None,
    ) -> Graph:
        """Build a graph from a `scipy.sparse` or `cupyx.scipy.sparse` adjacency matrix.

        Each stored entry is an edge, even if its value is zero. The entries are copied.

        Args:
            A: a square sparse array or matrix of any format.
            directed: as in `Graph`.
            labels: the label of each row; by default 0 to n - 1.
            dup_op: the operator that combines duplicate entries; without it, duplicates raise an
                error.

        Returns:
            The Graph, whose weights are the entries.

        Raises:
            InvalidValue: A is not a two-dimensional `scipy.sparse` array.
            DimensionMismatch: A is not square.
            DuplicateEntry: A has duplicate entries, and there is no `dup_op`.

        Examples:
            >>> from scipy.sparse import coo_array
            >>> from graphla import Graph
            >>> list(Graph.from_scipy(coo_array(([1, 0], ([0, 1], [1, 2])), shape=(3, 3))).edges)
            [(0, 1), (1, 2)]
        """
        if getattr(A, "ndim", 2) != 2:
            raise InvalidValue(f"A has {A.ndim} dimensions, but an adjacency matrix has two")
        if getattr(A, "format", None) in ("csr", "csc"):
            A = A.copy()  # without a copy, the graph would change with A
        return cls(io.from_scipy_sparse(A, dup_op=dup_op), directed=directed, labels=labels)

    @classmethod
    def from_networkx(
        cls,
        G: Any,
        *,
        weight: str | None = "weight",
        dtype: Any = None,
        multigraph_weight: str = "sum",
    ) -> Graph:
        """Convert a NetworkX graph to a Graph.

        Args:
            G: a NetworkX graph, directed or undirected, with or without parallel edges.
            weight: the edge attribute to use as weight; its name becomes the `weight_name` of the
                Graph. The weight is 1 if an edge lacks the attribute, or if `weight` is None. A
                name other than "weight" raises an error if no edge has it.
            dtype: the dtype of the values; by default the dtype that NumPy chooses for the weights.
            multigraph_weight: how to combine the weights of parallel edges: "sum", "min" or "max".
                Algorithms that add weights along a path raise an error if parallel edges were
                summed, because the sum is not the length of any edge. Use "min" for these
                algorithms.

        Returns:
            The Graph; its `multigraph_weight` records how parallel edges were combined.

        Raises:
            InvalidValue: G is not a NetworkX graph, no edge has the attribute `weight`, or
                `multigraph_weight` is not one of the values above.
            DomainMismatch: a weight is not a number of the dtype.

        Examples:
            >>> import networkx as nx
            >>> from graphla import Graph
            >>> from graphla.algorithms import sssp
            >>> roads = nx.MultiGraph([("a", "b", {"weight": 3}), ("a", "b", {"weight": 5})])
            >>> sssp(Graph.from_networkx(roads, multigraph_weight="min"), "a").distances.to_dict()
            {'a': 0, 'b': 3}
        """
        A = io.from_networkx(G, dtype=dtype, weight=weight, multigraph_weight=multigraph_weight)
        graph = cls(A, directed=G.is_directed(), labels=G)
        # Parallel BOOL edges are combined with "or", so they were not summed.
        if G.is_multigraph() and A.dtype != "BOOL" and graph.nedges < G.number_of_edges():
            graph._multigraph_weight = multigraph_weight
        return graph._with_weight_name(weight)

    def to_networkx(self, weight: str | bool | None = True) -> nx.Graph:
        """Return a NetworkX graph with the same vertices, edges and weights.

        Args:
            weight: the name of the edge attribute for the weights; True means `weight_name` or, if
                that is None, "weight"; None or False omits the weights.

        Returns:
            An `nx.DiGraph` if the Graph is directed, otherwise an `nx.Graph`.

        Raises:
            ImportError: NetworkX is not installed.

        Examples:
            >>> from graphla import Graph
            >>> G = Graph.from_edges([("a", "b", 3)])
            >>> list(G.to_networkx("length").edges(data=True))
            [('a', 'b', {'length': 3})]
        """
        name = (self._weight_name or "weight") if weight is True else weight or None
        return io.to_networkx(self.matrix, name, directed=self.directed, nodelist=self.labels)

    @classmethod
    def read(
        cls, path: Any, *, directed: bool | None = None, named: bool = False, **options: Any
    ) -> Graph:
        """Read a graph from a file in any format that `graphla.io.read` supports.

        Each line of a text edge list is a directed edge unless `directed` is False. In contrast,
        `from_edges` builds undirected edges unless its `directed` is True.

        Args:
            path: the path of the file.
            directed: True returns a directed Graph. False reads each line of an edge list as an
                undirected edge; for other formats, whose files define directions themselves, it
                raises an error if an edge lacks its opposite. None returns an undirected Graph if
                each edge has its opposite.
            named: True if the vertices of an edge list or edge table are names or arbitrary
                numbers. These become the labels. The node names in a GraphML, GEXF, GML or JSON
                file always become labels.
            **options: further arguments for `graphla.io.read` and the reader of the format.

        Returns:
            The Graph.

        Raises:
            ParseError: the file is not well formed.
            InvalidValue: the extension is unknown, or `directed` is False but the graph in the file
                is directed.
        """
        format = options.get("format")
        if directed is not None and io.is_edgelist(path, format):
            options["directed"] = bool(directed)
        if named or io.has_labels(path, format):
            A, labels = io.read_labelled(path, **options)
            graph = cls(A, directed=directed, labels=labels)
            # These formats, such as GraphML, store the weights as an edge attribute with a name.
            if io.has_labels(path, format):
                graph._weight_name = options.get("weight", "weight")
            return graph
        return cls(io.read(path, **options), directed=directed)

    # --- the matrix, the labels and the edges -----------------------------------------------------

    @property
    def matrix(self) -> Matrix:
        """A copy of the adjacency matrix, which is indexed by vertex numbers."""
        return self._matrix.dup()

    @property
    def directed(self) -> bool:
        """Whether the graph is directed. In an undirected graph each edge leads both ways."""
        return self._directed

    def is_directed(self) -> bool:
        """Return whether the graph is directed, like the property `directed`.

        NetworkX's functions call this method.

        Returns:
            True or False.
        """
        return self._directed

    def is_multigraph(self) -> bool:
        """Return False: a Graph has at most one edge from one vertex to another.

        NetworkX's functions call this method.

        Returns:
            False.
        """
        return False

    @property
    def multigraph_weight(self) -> str | None:
        """How `from_networkx` combined parallel edges; None if there were none.

        The Matrix does not record this, so algorithms accept `G.matrix` even if parallel edges were
        summed.
        """
        return self._multigraph_weight

    @property
    def weight_name(self) -> str | None:
        """The name of the weights, or None if it is unknown.

        It is set by `from_networkx` and `from_pandas`, and by `read` if the format has edge
        attributes. If the name is known, algorithms raise an error if a different name is passed as
        `weight` or `distance`.
        """
        return self._weight_name

    def check_weight(self, name: str, weight: Any) -> None:
        """Raise an error for an edge attribute other than `weight_name`, if that is known.

        Args:
            name: the name of the parameter, for the error message.
            weight: the argument; only a string is checked.

        Raises:
            InvalidValue: `weight` is a string other than the known name.
        """
        if isinstance(weight, str) and self._weight_name not in (None, weight):
            raise InvalidValue(
                f"{name} is {weight!r}, but the values of the graph are {self._weight_name!r}"
            )

    @property
    def labels(self) -> Sequence[Any]:
        """The label of each vertex: a tuple, or range(n) if the vertices have no labels."""
        return self._labels.names

    @property
    def has_names(self) -> bool:
        """Whether the labels differ from the vertex numbers 0 to n - 1."""
        return not self._labels.are_numbers

    @property
    def device(self) -> str:
        """The device that stores the graph: "cpu", or a GPU such as "cuda:0"."""
        return self._matrix.device

    @property
    def nvertices(self) -> int:
        """The number of vertices."""
        return self._matrix.nrows

    @property
    def nedges(self) -> int:
        """The number of edges. Each undirected edge and each self-loop is counted once."""
        entries = self._matrix.nvals
        return entries if self.directed else (entries + self.self_loops) // 2

    def vertex(self, label: Any) -> int:
        """Return the number of the vertex with the given label.

        Args:
            label: the label of a vertex.

        Returns:
            An int from 0 to n - 1, the row and column of the vertex in `matrix`.

        Raises:
            IndexOutOfBound: no vertex has this label.
        """
        return self._labels.number("label", label)

    @property
    def nodes(self) -> NodeView:
        """The labels of the vertices, as an ordered view that supports `len` and `in`.

        Examples:
            >>> from graphla import Graph
            >>> list(Graph.from_edges([("a", "b")]).nodes)
            ['a', 'b']
        """
        return NodeView(self)

    @property
    def edges(self) -> EdgeView:
        """The edges (u, v), each listed once, as an ordered view that supports `len` and `in`.

        `G.edges(data=True)` yields (u, v, {"weight": w}), with `weight_name` as the key if it is
        known, and `G.edges(data="weight")` yields (u, v, w).

        Examples:
            >>> from graphla import Graph
            >>> G = Graph.from_edges([("a", "b", 3), ("b", "c", 5)])
            >>> list(G.edges), ("b", "a") in G.edges
            ([('a', 'b'), ('b', 'c')], True)
            >>> list(G.edges(data="weight"))
            [('a', 'b', 3), ('b', 'c', 5)]
        """
        return EdgeView(self)

    def neighbors(self, label: Any) -> list[Any]:
        """Return the labels of the neighbors of a vertex (in a directed graph, of its successors).

        Args:
            label: the label of the vertex.

        Returns:
            A list of labels, in the order of the vertices.

        Raises:
            IndexOutOfBound: no vertex has this label.

        Examples:
            >>> from graphla import Graph
            >>> Graph.from_edges([("a", "b"), ("b", "c")]).neighbors("b")
            ['a', 'c']
        """
        row = self._matrix[self.vertex(label), :].new()
        return self._labels.of(row.to_coo(values=False)[0].tolist())

    def has_edge(self, u: Any, v: Any) -> bool:
        """Return whether an edge leads from u to v.

        Args:
            u: the label of the source.
            v: the label of the target.

        Returns:
            True or False; False if u or v is not a label of the graph.

        Examples:
            >>> from graphla import Graph
            >>> G = Graph.from_edges([("a", "b")], directed=True)
            >>> G.has_edge("a", "b"), G.has_edge("b", "a"), G.has_edge("a", "z")
            (True, False, False)
        """
        return self._value(u, v) is not None

    def _value(self, u: Any, v: Any) -> Any:
        """Return the weight of the edge between two labels, or None if there is no such edge."""
        i, j = self._labels.find(u), self._labels.find(v)
        return None if i is None or j is None else self._matrix.get(i, j)

    @overload
    def labelled(self, values: Vector) -> LabelledVector: ...
    @overload
    def labelled(self, values: Matrix) -> LabelledMatrix: ...
    def labelled(self, values: Vector | Matrix) -> LabelledVector | LabelledMatrix:
        """Attach the vertex labels to a Vector or Matrix, so that `to_dict` or `to_dicts` use them.

        Args:
            values: a Vector of size n, or an n x n Matrix.

        Returns:
            A LabelledVector or LabelledMatrix with the same entries. An object of another size is
            returned unchanged.
        """
        return labelled(values, self._labels)

    def __len__(self) -> int:
        return self.nvertices

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def __contains__(self, label: Any) -> bool:
        return self._labels.find(label) is not None

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        n, m, A = self.nvertices, self.nedges, self._matrix
        edges = f"{'' if self.directed else 'un'}directed edge{'' if m == 1 else 's'}"
        place = "" if A.device == "cpu" else f", on {A.device}"
        return f"Graph of {n} vert{'ex' if n == 1 else 'ices'}, {m} {edges}, {A.dtype}{place}"

    def _repr_html_(self) -> str:
        return html(self.labelled(self._matrix), repr(self))

    # --- properties that are computed once and cached with the Matrix -----------------------------

    @property
    def out_degrees(self) -> LabelledVector:
        """The number of edges that leave each vertex."""
        return self.labelled(cached_properties.degrees(self._matrix))

    @property
    def in_degrees(self) -> LabelledVector:
        """The number of edges that end at each vertex."""
        return self.labelled(cached_properties.degrees(self._matrix.T.new()))

    @property
    def degrees(self) -> LabelledVector:
        """The degree of each vertex, as in NetworkX: a self-loop counts twice."""
        A = self._matrix
        other = (
            cached_properties.degrees(A.T.new()) if self.directed else cached_properties.loops(A)
        )
        return self.labelled(binary.plus(cached_properties.degrees(A) | other).new())

    @property
    def self_loops(self) -> int:
        """The number of edges from a vertex to itself."""
        return cached_properties.self_loops(self._matrix)

    @property
    def is_symmetric(self) -> bool:
        """Whether each edge has its opposite edge, with any weight."""
        return cached_properties.is_symmetric(self._matrix)

    # --- graphs derived from this one -------------------------------------------------------------

    @property
    def transpose(self) -> Graph:
        """The Graph with all edges reversed, in O(1) time; it shares arrays and cached results."""
        return self._like(self._matrix.T.new(), self.directed)

    def to_undirected(self) -> Graph:
        """Return an undirected graph; opposite edges are merged and take the smaller weight.

        Returns:
            An undirected Graph; this Graph itself if it is already undirected.

        Examples:
            >>> from graphla import Graph
            >>> G = Graph.from_edges([("a", "b", 3), ("b", "a", 2)], directed=True)
            >>> list(G.to_undirected().edges(data="weight"))
            [('a', 'b', 2)]
        """
        if not self.directed:
            return self
        return self._like(cached_properties.both_ways(self._matrix), False)

    def to(self, device: str) -> Graph:
        """Return the same graph on another device.

        Args:
            device: "cpu", "cuda", or one GPU such as "cuda:1".

        Returns:
            A Graph, which shares the arrays of this Graph if they are already on the device.

        Raises:
            InvalidValue: `device` is not the name of a device.
            DeviceUnavailable: the machine has no such device, or CuPy is missing.
        """
        return self._like(self._matrix.to(device), self.directed)

    def subgraph(self, labels: Any) -> Graph:
        """Return the subgraph induced by the given vertices, with all edges between them.

        Args:
            labels: an iterable of labels, or one label; duplicates are allowed.

        Returns:
            A Graph whose vertices keep their labels and their order.

        Raises:
            IndexOutOfBound: one of the labels does not exist.

        Examples:
            >>> from graphla import Graph
            >>> G = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")])
            >>> list(G.subgraph(["d", "c", "b"]).edges)
            [('b', 'c'), ('c', 'd')]
        """
        wanted = [labels] if labels in self else to_list(labels)
        chosen = np.array(sorted({self._labels.number("labels", x) for x in wanted}), np.int64)
        kept = Labels(self._labels.of(chosen.tolist()), chosen.size)
        return self._like(self._matrix[chosen, chosen].new(), self.directed, kept)

    def add_edges(self, edges: Iterable[Any]) -> Graph:
        """Return a new Graph with the given edges added; this Graph does not change.

        Args:
            edges: tuples (u, v) or (u, v, weight) of labels. New labels become vertices after the
                vertices of this graph. If the graph is undirected, so are the new edges. An
                existing edge takes the new weight, or keeps its weight if none is given. A new edge
                without a weight gets weight 1.

        Returns:
            A Graph whose dtype can hold both the existing and the new weights.

        Raises:
            InvalidValue: the tuples differ in length, or a label is None.
            TypeError: a label is not hashable.

        Examples:
            >>> from graphla import Graph
            >>> G = Graph.from_edges([("a", "b", 3)])
            >>> list(G.add_edges([("b", "a", 5), ("b", "c", 1)]).edges(data="weight"))
            [('a', 'b', 5), ('b', 'c', 1)]
        """
        added = from_tuples(edges)
        new = [label for label in added.labels if self._labels.find(label) is None]
        labels = Labels((*self.labels, *new), len(self) + len(new)) if new else self._labels
        given = added.weights
        dtype = self._matrix.dtype if given is None else unify(self._matrix.dtype, given.dtype)
        join = binary.first if given is None else binary.second
        with config.set(device=self.device):
            A = self._matrix.dup(dtype)
            A.resize(len(labels), len(labels))
            B = _assembled(added, len(labels), labels.find, dtype, self.directed, "second")
            return self._like(join(A | B).new(), self.directed, labels)

    def remove_edges(self, edges: Iterable[Any]) -> Graph:
        """Return a new Graph with the given edges removed; this Graph does not change.

        Args:
            edges: tuples (u, v) of labels. An edge of an undirected graph may be given as (v, u). A
                third element of a tuple is ignored, as in NetworkX.

        Returns:
            A Graph with the same vertices.

        Raises:
            InvalidValue: an edge is not in the graph, or the tuples differ in length.

        Examples:
            >>> from graphla import Graph
            >>> G = Graph.from_edges([("a", "b"), ("b", "c")])
            >>> list(G.remove_edges([("b", "a")]).edges)
            [('b', 'c')]
        """
        removed = from_tuples(edges)
        for label in removed.labels:
            self._labels.number("edges", label)
        with config.set(device=self.device):
            removed, number = replace(removed, weights=None), self._labels.find
            B = _assembled(removed, len(self), number, None, self.directed, "any")
            absent = B.dup(mask=~self._matrix.S)
            if absent.nvals:
                rows, columns, _ = absent.to_coo(values=False)
                u, v = self._labels.of([int(rows[0]), int(columns[0])])
                raise InvalidValue(f"edges has ({u!r}, {v!r}), which is not an edge of the graph")
            return self._like(self._matrix.dup(mask=~B.S), self.directed)

    def _like(self, A: Matrix, directed: bool, labels: Labels | None = None) -> Graph:
        graph = object.__new__(Graph)
        graph._matrix, graph._directed = A, directed
        graph._labels = self._labels if labels is None else labels
        graph._multigraph_weight = self._multigraph_weight
        return graph._with_weight_name(self._weight_name)

    def __reduce__(self) -> Any:
        names = None if self._labels.are_numbers else self.labels
        known = self._multigraph_weight, self._weight_name
        return _restored, (self._matrix, self._directed, names, *known)


def _restored(
    matrix: Matrix,
    directed: bool,
    names: Any,
    multigraph_weight: str | None = None,
    weight_name: str | None = None,
) -> Graph:
    graph = Graph(matrix, directed=directed, labels=names)
    graph._multigraph_weight = multigraph_weight
    return graph._with_weight_name(weight_name)


def _assembled(
    edges: Edges, n: int, number: Callable[[Any], Any], dtype: Any, directed: bool, dup_op: Any
) -> Matrix:
    """Return the n x n adjacency Matrix of the edges; `number` maps a label to its vertex."""
    symmetry = "general" if directed else "symmetric"
    i, j = edges.places(number)
    values = np.True_ if edges.weights is None else edges.weights
    wanted = lookup_dtype(values.dtype if dtype is None else dtype)
    values = values.astype(wanted.np_type)
    return assemble(i, j, values, wanted, (n, n), symmetry=symmetry, dup_op=dup_op)


def _are_vertices(names: dict[Any, Any]) -> bool:
    """Return whether the labels are the numbers 0 to n - 1, in any order."""
    return all(type(x) is int and 0 <= x < len(names) for x in names)
