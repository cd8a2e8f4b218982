"""Views of the vertices and edges of a Graph, with the same interface as in NetworkX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from graphla.io.entries import by_rows

if TYPE_CHECKING:
    from graphla.graph.graph import Graph

PART = 1 << 16
"""Number of entries that are converted to Python objects in one step."""

SHOWN = 10
"""Maximum number of vertices or edges in the `repr` of a view."""


class _View(Set[Any]):
    """A read-only set backed by the graph; set operations on it return a `set`.

    Args:
        graph: the Graph.
    """

    __slots__ = ("_graph",)

    def __init__(self, graph: Graph):
        self._graph = graph

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        return set(it)

    def __repr__(self) -> str:
        first = list(islice(self, SHOWN))
        more = f", ... of {len(self)}" if len(self) > SHOWN else ""
        return f"{type(self).__name__}([{', '.join(map(repr, first))}{more}])"

    def _repr_html_(self) -> str:
        rows = [self._cells(each) for each in islice(self, SHOWN)]
        rows += [(f"... of {len(self)}",)] * (len(self) > SHOWN)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        return f"<div>{type(self).__name__} of {len(self)}<table>{body}</table></div>"

    def _cells(self, each: Any) -> tuple[Any, ...]:
        """Return the cells of one row of the HTML table."""
        return (each,)


class NodeView(_View):
    """The labels of the vertices, in the order of their numbers.

    Args:
        graph: the Graph.
    """

    __slots__ = ()

    def __call__(self) -> NodeView:
        """Return the view itself, so that `G.nodes()` works as in NetworkX."""
        return self

    def __len__(self) -> int:
        return len(self._graph)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._graph)

    def __contains__(self, label: object) -> bool:
        return label in self._graph


class EdgeView(_View):
    """The edges as pairs of labels (u, v). Call the view with `data` to add weights.

    The edges are in row order. An undirected edge is listed once, as (u, v) with weight A(u, v),
    where u has the smaller vertex number; `(v, u) in view` is also True.

    Args:
        graph: the Graph.
        data: whether and how to include the weights, as in `__call__`.
    """

    __slots__ = ("_data",)

    def __init__(self, graph: Graph, data: bool | str = False):
        super().__init__(graph)
        self._data = data

    def __call__(self, data: bool | str = False) -> EdgeView:
        """Return a view of the same edges, with or without their weights.

        Args:
            data: True yields (u, v, {"weight": w}); the key is the graph's `weight_name` if it is
                known. A name yields (u, v, w). False yields (u, v).

        Returns:
            A view.

        Raises:
            TypeError: `data` is neither a bool nor a name.
            InvalidValue: `data` is a name other than the graph's `weight_name`.
        """
        if not isinstance(data, bool | str):
            raise TypeError(f"data must be True, False or a name, not {data!r}")
        self._graph.check_weight("data", data)
        return EdgeView(self._graph, data)

    def __len__(self) -> int:
        return self._graph.nedges

    def __contains__(self, edge: object) -> bool:
        width = 2 if self._data is False else 3
        if not isinstance(edge, tuple) or len(edge) != width:
            return False
        value = self._graph._value(edge[0], edge[1])
        return value is not None and (width == 2 or edge[2] == self._shown(value))

    def __iter__(self) -> Iterator[Any]:
        graph = self._graph
        rows, labels = by_rows(graph._matrix), graph._labels
        for first in range(0, rows.columns.size, PART):
            part = slice(first, min(first + PART, rows.columns.size))
            u, v, values = rows.numbers(part), rows.columns[part], rows.values[part]
            if not graph.directed:
                once = u <= v
                u, v, values = u[once], v[once], values[once]
            ends = [
                end.tolist() if labels.are_numbers else labels.of(end.tolist()) for end in (u, v)
            ]
            if self._data is False:
                yield from zip(*ends, strict=True)
            else:
                yield from zip(*ends, map(self._shown, values.tolist()), strict=True)

    def _shown(self, value: Any) -> Any:
        name = self._graph.weight_name or "weight"
        return {name: value} if self._data is True else value

    def _cells(self, each: Any) -> tuple[Any, ...]:
        """Return the cells of one row of the HTML table.

        The cells hold the two ends of an edge, and the edge's weight if the view includes weights.
        """
        return each
