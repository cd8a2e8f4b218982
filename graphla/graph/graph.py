"""The Graph: an adjacency matrix, whether its edges have a direction, labels of its vertices."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from graphla import io
from graphla.graph import facts
from graphla.graph.labelled import LabelledVector, labelled
from graphla.graph.labels import Labels, listed, numbered
from graphla.io.entries import assemble
from graphla.sparse import Matrix
from graphla.sparse.matrix import ReadableMatrix
from semirings import binary
from semirings.dtypes import lookup_dtype
from semirings.exceptions import DimensionMismatch, InvalidValue


class Graph:
    """A square Matrix with an entry A(u, v) per edge u -> v; its vertices under your own names.

    - directed: False says that each edge leads both ways, which the structure of the Matrix must
      bear out; None finds it out;
    - labels: what the vertices are called, any hashable things; by default 0 to n - 1.

    Every algorithm takes a Graph for its first argument: then its other arguments name vertices by
    their labels, and what it gives has a `to_dict()` under the labels. A Graph never changes.

    >>> from graphla import Graph
    >>> from graphla.algorithms import bfs
    >>> G = Graph.from_edges([("ann", "bob"), ("bob", "eve"), ("joe", "eve")])
    >>> G.nvertices, G.nedges, G.directed
    (4, 3, False)
    >>> bfs(G, "ann").levels.to_dict()
    {'ann': 0, 'bob': 1, 'eve': 2, 'joe': 3}
    """

    __slots__ = ("_directed", "_labels", "_matrix")

    def __init__(
        self,
        matrix: Any,
        *,
        directed: bool | None = None,
        labels: Iterable[Hashable] | None = None,
    ):
        if not isinstance(matrix, ReadableMatrix):
            raise TypeError(f"matrix must be a graphla.Matrix, not a {type(matrix).__name__}")
        n = matrix.nrows
        if n != matrix.ncols:
            raise DimensionMismatch(
                f"matrix has {n} rows and {matrix.ncols} columns, but an adjacency matrix is square"
            )
        self._matrix = Matrix._of(matrix._read())
        self._labels = labels if isinstance(labels, Labels) else Labels(labels, n)
        if not directed and not facts.is_symmetric(self._matrix):
            if directed is not None:
                raise InvalidValue(
                    "directed is False, but some edge of the matrix lacks its opposite; "
                    "Graph(A).to_undirected() adds them"
                )
            directed = True
        self._directed = bool(directed)

    # --- from and to elsewhere --------------------------------------------------------------------

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
        """The graph of edges (u, v) or (u, v, weight) between labels u and v.

        Vertices are numbered as they first appear, after those of `labels`, which may have no edge.
        Of an edge that comes twice the last counts, as in NetworkX; another `dup_op` joins them.
        """
        edges, first = listed(edges), [] if labels is None else listed(labels)
        width = len(edges[0]) if edges else 2
        for k, edge in enumerate(edges):
            if len(edge) != width or width not in (2, 3):
                alike = f" as edge 0 has {width} parts" if width in (2, 3) else ""
                raise InvalidValue(
                    f"edge {k} is {edge!r}, but should be (u, v) or (u, v, weight){alike}"
                )
        names = numbered((*first, *(end for edge in edges for end in edge[:2])))
        n, symmetry = len(names), "general" if directed else "symmetric"
        order = range(n) if _are_vertices(names) else tuple(names)
        number = dict(zip(order, range(n), strict=True))
        i, j = (
            np.fromiter((number[edge[k]] for edge in edges), np.int32, len(edges)) for k in (0, 1)
        )
        values = np.asarray([edge[2] for edge in edges]) if width == 3 else np.True_
        wanted = lookup_dtype(values.dtype if dtype is None else dtype)
        values = values.astype(wanted.np_type)
        A = assemble(i, j, values, wanted, (n, n), symmetry=symmetry, dup_op=dup_op)
        return cls(A, directed=directed, labels=order)

    @classmethod
    def from_networkx(cls, G: Any, *, weight: str | None = "weight", dtype: Any = None) -> Graph:
        """The same vertices and edges; `weight` is the attribute that becomes the value of an edge.

        An edge without it weighs 1; of parallel edges the weights are summed.
        """
        A = io.from_networkx(G, dtype=dtype, weight=weight)
        return cls(A, directed=G.is_directed(), labels=G)

    def to_networkx(self, weight: str | None = "weight") -> Any:
        """The same vertices and edges as an `nx.DiGraph` or `nx.Graph`, the values as `weight`."""
        return io.to_networkx(self.matrix, weight, directed=self.directed, nodelist=self.labels)

    @classmethod
    def read(
        cls, path: Any, *, directed: bool | None = None, named: bool = False, **options: Any
    ) -> Graph:
        """The graph in a file that `graphla.io.read` reads, with its options.

        `named`: an edge list whose vertices are names, or any numbers: these are the labels. The
        nodes of a GraphML, GEXF, GML or JSON file always are.
        """
        format = options.get("format")
        if directed is not None and io.is_edgelist(path, format):
            options["directed"] = bool(directed)
        if named or io.has_labels(path, format):
            A, labels = io.read_labelled(path, **options)
            return cls(A, directed=directed, labels=labels)
        return cls(io.read(path, **options), directed=directed)

    # --- what it is -------------------------------------------------------------------------------

    @property
    def matrix(self) -> Matrix:
        """A(u, v) for each edge u -> v, by the numbers of the vertices: yours to change."""
        return self._matrix.dup()

    @property
    def directed(self) -> bool:
        """Whether an edge leads one way only."""
        return self._directed

    @property
    def labels(self) -> Sequence[Any]:
        """The label of each vertex: a tuple; range(n) where they have none."""
        return self._labels.names

    @property
    def has_names(self) -> bool:
        """Whether the labels are other than the numbers of the vertices."""
        return not self._labels.are_numbers

    @property
    def device(self) -> str:
        """Where its arrays are."""
        return self._matrix.device

    @property
    def nvertices(self) -> int:
        """The number of vertices."""
        return self._matrix.nrows

    @property
    def nedges(self) -> int:
        """The number of edges, each counted once, self-loops too."""
        entries = self._matrix.nvals
        return entries if self.directed else (entries + self.self_loops) // 2

    def vertex(self, label: Any) -> int:
        """The number of the vertex with this label."""
        return self._labels.number("label", label)

    def labelled(self, values: Any) -> Any:
        """A Vector or Matrix by vertices, as one whose dicts are under the labels."""
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

    # --- found once, and kept with the Matrix -----------------------------------------------------

    @property
    def out_degrees(self) -> LabelledVector:
        """How many edges leave each vertex."""
        return self.labelled(facts.degrees(self._matrix))

    @property
    def in_degrees(self) -> LabelledVector:
        """How many edges end at each vertex."""
        return self.labelled(facts.degrees(self._matrix.T.new()))

    @property
    def degrees(self) -> LabelledVector:
        """How many ends of edges lie at each vertex, as in NetworkX: of a self-loop both."""
        A = self._matrix
        other = facts.degrees(A.T.new()) if self.directed else facts.loops(A)
        return self.labelled(binary.plus(facts.degrees(A) | other).new())

    @property
    def self_loops(self) -> int:
        """The number of edges from a vertex to itself."""
        return facts.self_loops(self._matrix)

    @property
    def is_symmetric(self) -> bool:
        """Whether each edge has its opposite, whatever their weights."""
        return facts.is_symmetric(self._matrix)

    # --- other graphs -----------------------------------------------------------------------------

    @property
    def transpose(self) -> Graph:
        """Each edge the other way round: this costs nothing, and shares what is kept."""
        return self._like(self._matrix.T.new(), self.directed)

    def to_undirected(self) -> Graph:
        """Each edge leads both ways; of two weights for one edge the lesser."""
        if not self.directed:
            return self
        return self._like(facts.both_ways(self._matrix), False)

    def to(self, device: str) -> Graph:
        """The same graph on a device, as "cpu", "cuda" or "cuda:1"; no copy if it is there."""
        return self._like(self._matrix.to(device), self.directed)

    def _like(self, A: Matrix, directed: bool) -> Graph:
        graph = object.__new__(Graph)
        graph._matrix, graph._directed, graph._labels = A, directed, self._labels
        return graph

    def __reduce__(self) -> Any:
        names = None if self._labels.are_numbers else self.labels
        return _restored, (self._matrix, self._directed, names)


def _restored(matrix: Matrix, directed: bool, names: Any) -> Graph:
    return Graph(matrix, directed=directed, labels=names)


def _are_vertices(names: dict[Any, Any]) -> bool:
    """Whether the labels are the numbers 0 to n - 1 themselves, in whatever order."""
    return all(type(x) is int and 0 <= x < len(names) for x in names)
