"""`draw`: a picture of a small graph, with vertices as dots and edges as lines."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphla.drawing.axes import GRAY, INK, PALE, given_or_new
from graphla.drawing.layout import place
from graphla.graph import Graph, LabelledVector
from graphla.graph.cached_properties import values_differ
from graphla.io import to_scipy_sparse
from graphla.sparse.foreign import class_name, conversion
from graphla.sparse.readable_matrix import ReadableMatrix
from graphla.sparse.vector import ReadableVector
from semirings.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes


VERTICES, EDGES = 1000, 5000
"""The maximum numbers of vertices and edges of a graph that can be drawn."""

LABELS, WEIGHTS = 60, 40
"""By default, labels are shown if there are at most LABELS vertices, and weights if there are at
most WEIGHTS edges."""

COLORS = (
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1",
    "#edc948", "#76b7b2", "#ff9da7", "#9c755f", "#86bcb6",
)  # fmt: skip
"""The colors of categories; if there are more than ten, colors come from a color wheel."""

LEGEND = 12
"""A legend lists the categories if there are at most this many."""


def draw(
    G: Graph | ReadableMatrix,
    *,
    color: Any = None,
    positions: Any = None,
    labels: bool | None = None,
    weights: bool | None = None,
    categorical: bool | None = None,
    cmap: Any = "viridis",
    title: str | None = None,
    ax: Any = None,
) -> Axes:
    """Draw a small graph: at most 1,000 vertices and 5,000 edges.

    Without `positions`, the layout minimizes the difference between distances in the picture and
    in the graph. It is deterministic, and takes O(n³) time for n vertices.

    Args:
        G: a Graph or a square Matrix. The labels of the vertices of a Matrix are their numbers.
        color: the color of the vertices: a result of an algorithm (a Vector), a mapping from labels
            to values, a sequence with one value per vertex, or the name of one color. Vertices
            without a value are gray.
        positions: a mapping from labels to (x, y), or an array of shape (n, 2).
        labels: whether to show the labels; by default they are shown if there are at most 60
            vertices.
        weights: whether to show the values of edges; by default they are shown if they differ and
            there are at most 40 edges.
        categorical: whether values in `color` are categories with a legend, rather than numbers
            with a color bar. By default, text, BOOL values and vertices are categories.
        cmap: the matplotlib colormap for numbers.
        title: the title of the picture.
        ax: the matplotlib Axes to draw on; by default one in a new figure.

    Returns:
        The Axes. `ax.collections[-1]` is the collection of vertices.

    Raises:
        TypeError: G is not a Graph or Matrix, or an argument has the wrong type.
        InvalidValue: G is too large, or a color or position is not valid.
        DimensionMismatch: the length of `color` or `positions` is not the number of vertices of G.
        IndexOutOfBound: a mapping has a label that is not in G.
        PackageMissing: matplotlib is not installed.

    Examples:
        >>> import graphla as gl
        >>> G = gl.Graph.from_edges([("ann", "bob"), ("bob", "eve"), ("joe", "eve")])
        >>> ax = gl.draw(G, color=gl.algorithms.bfs(G, "ann").levels)
        >>> sorted(text.get_text() for text in ax.texts)
        ['ann', 'bob', 'eve', 'joe']

    References:
        E. Gansner, Y. Koren and S. North, "Graph Drawing by Stress Majorization", 2004.
    """
    graph = _graph(G)
    n, m = graph.nvertices, graph.nedges
    if n > VERTICES or m > EDGES:
        raise InvalidValue(
            f"G has {n:,} vertices and {m:,} edges, but draw shows at most {VERTICES:,} and "
            f"{EDGES:,}: draw a part, as in draw(G.subgraph(labels)), or the matrix by spy(G)"
        )
    for name, flag in (("labels", labels), ("weights", weights), ("categorical", categorical)):
        if flag is not None and not isinstance(flag, bool):
            raise TypeError(f"{name} must be True, False or None, not {flag!r}")
    shades = _shades(graph, color, categorical)
    points = _points(graph, positions)
    ax = given_or_new(ax, (7.0, 5.5))
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_axis_off()
    if title is not None:
        ax.set_title(title, size=11, color=INK)
    if not n:
        return ax
    area = float(np.clip(12_000 / n, 12, 240))  # the area of a dot, in points²
    rows, columns, values = graph._matrix.to("cpu").to_coo()
    if not graph.directed:
        once = rows <= columns
        rows, columns, values = rows[once], columns[once], values[once]
    _draw_edges(ax, points, rows, columns, graph.directed, area)
    if weights if weights is not None else m <= WEIGHTS and m > 0 and values_differ(graph._matrix):
        _draw_weights(ax, points, rows, columns, values, graph.directed)
    _draw_vertices(ax, points, shades, cmap, area)
    if labels if labels is not None else n <= LABELS:
        _draw_labels(ax, points, graph, area, _below(points, rows, columns))
    ax.margins(0.08)
    ax.autoscale_view()
    return ax


def _graph(G: Any) -> Graph:
    if isinstance(G, Graph):
        return G
    if isinstance(G, ReadableMatrix):
        return Graph(G)
    raise TypeError(
        f"G must be a graphla.Graph or Matrix, not a {class_name(G)}"
        f"{conversion('G', G, to_graph=True)}"
    )


def _points(graph: Graph, positions: Any) -> np.ndarray:
    """Return an array of shape (n, 2) with the position of each vertex."""
    n = graph.nvertices
    if positions is None:
        return place(to_scipy_sparse(graph._matrix)) if n else np.zeros((0, 2))
    if isinstance(positions, Mapping):
        missing = [label for label in graph.labels if label not in positions]
        if missing:
            raise InvalidValue(f"positions has no item for {missing[0]!r}")
        _refuse_strange("positions", positions, graph)
        positions = [positions[label] for label in graph.labels]
    try:
        points = np.asarray(positions, float)
    except (TypeError, ValueError):
        raise InvalidValue("positions must be pairs of numbers, one for each vertex") from None
    if points.shape != (n, 2) and (n or points.size):
        raise DimensionMismatch(
            f"positions has shape {points.shape}, but should have {(n, 2)} for {n} vertices"
        )
    if not np.isfinite(points).all():
        raise InvalidValue("positions holds a number that is not finite")
    return points.reshape(n, 2)


def _refuse_strange(name: str, given: Mapping[Any, Any], graph: Graph) -> None:
    for label in given:
        if label not in graph:
            raise IndexOutOfBound(f"{name} has {label!r}, which is not a label of the graph")


class _Shades(NamedTuple):
    """The values that determine the colors of the vertices.

    `values[k]` is the value of vertex `vertices[k]`. If `name` is given, it is the color of all
    vertices.
    """

    vertices: np.ndarray
    values: list[Any]
    is_categorical: bool
    name: Any = None  # the color of all vertices, if they have the same color


def _shades(graph: Graph, color: Any, categorical: bool | None) -> _Shades:
    n = graph.nvertices
    if color is None or isinstance(color, str):
        from matplotlib.colors import is_color_like

        name = COLORS[0] if color is None else color
        if not is_color_like(name):
            raise InvalidValue(f"color is {color!r}, which is not a color of matplotlib")
        return _Shades(np.arange(n), [], False, name)
    are_vertices = False
    if isinstance(color, ReadableVector):
        if color.size != n:
            raise DimensionMismatch(f"color has size {color.size}, but G has {n} vertices")
        indices, values = color.to_coo()
        are_vertices = isinstance(color, LabelledVector) and color.value_labels is not None
        listed = color._named(values) if isinstance(color, LabelledVector) else values.tolist()
        vertices = np.asarray(indices)
    elif isinstance(color, Mapping):
        _refuse_strange("color", color, graph)
        chosen = [k for k, label in enumerate(graph.labels) if color.get(label) is not None]
        vertices = np.array(chosen, np.int64)
        listed = [color[graph.labels[k]] for k in chosen]
    else:
        if not isinstance(color, Iterable) or getattr(color, "ndim", 1) != 1:
            raise TypeError(
                "color must be a Vector, a mapping, a sequence with one value per vertex or the "
                f"name of a color, not a {class_name(color)}"
            )
        to_list: Any = getattr(color, "tolist", None)
        listed = list(color) if to_list is None else to_list()
        if len(listed) != n:
            raise DimensionMismatch(f"color has {len(listed)} values, but G has {n} vertices")
        vertices = np.arange(n)
    listed = [x.item() if isinstance(x, np.generic) else x for x in listed]
    strange = [x for x in listed if not isinstance(x, Hashable)]
    if strange:
        raise InvalidValue(f"color holds {strange[0]!r}, which is neither a number nor hashable")
    are_numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in listed)
    if categorical is False and not are_numbers:
        raise InvalidValue("categorical is False, but color holds values that are not numbers")
    is_categorical = (are_vertices or not are_numbers) if categorical is None else categorical
    return _Shades(vertices, listed, is_categorical)


def _draw_vertices(ax: Axes, points: np.ndarray, shades: _Shades, cmap: Any, area: float) -> None:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize, to_rgba_array

    n = len(points)
    style: dict[str, Any] = {"s": area, "zorder": 3, "linewidths": 0.8, "edgecolors": "white"}
    faces = np.repeat(to_rgba_array(PALE), n, axis=0)
    if shades.name is not None:
        faces[:] = to_rgba_array(shades.name)
    elif shades.is_categorical:
        found = list(dict.fromkeys(shades.values))
        found.sort(key=lambda x: (str(type(x)), x if isinstance(x, int | float) else str(x)))
        palette = to_rgba_array(COLORS)
        if len(found) > len(COLORS):
            palette = colormaps["hsv"](np.arange(len(found)) / len(found))
        number = {value: k for k, value in enumerate(found)}
        faces[shades.vertices] = palette[[number[value] for value in shades.values]]
        if len(found) <= LEGEND:
            _add_legend(ax, found, palette)
    elif shades.values:
        values = np.asarray(shades.values, float)
        finite = values[np.isfinite(values)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
        mapping = ScalarMappable(Normalize(low, high if high > low else low + 1), cmap)
        faces[shades.vertices[np.isfinite(values)]] = mapping.to_rgba(finite)
        bar = ax.figure.colorbar(mapping, ax=ax, shrink=0.6, pad=0.02)
        bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
        bar.ax.tick_params(length=2, labelsize=8, colors=INK)
        if all(isinstance(x, int) for x in shades.values) and high - low <= 12:
            bar.set_ticks(list(range(int(low), int(max(high, low + 1)) + 1)))
    ax.scatter(points[:, 0], points[:, 1], c=faces, **style)


def _add_legend(ax: Axes, found: list[Any], palette: np.ndarray) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], marker="o", linestyle="", color=palette[k], label=str(value))
        for k, value in enumerate(found)
    ]
    place = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
    legend = ax.legend(handles=marks, frameon=False, fontsize=8, **place)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _draw_edges(
    ax: Axes, points: np.ndarray, rows: Any, columns: Any, directed: bool, area: float
) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Circle, FancyArrowPatch

    style = {"color": GRAY, "alpha": float(np.clip(400 / max(len(rows), 1), 0.4, 0.9)), "zorder": 1}
    loops = rows == columns
    radius = _loop_radius(points)
    for v in rows[loops].tolist():
        x, y = _loop_direction(points, v) * radius + points[v]
        ax.add_patch(Circle((float(x), float(y)), radius, fill=False, linewidth=1, **style))
    i, j = rows[~loops], columns[~loops]
    if not directed:
        ends = np.stack([points[i], points[j]], axis=1)
        ax.add_collection(LineCollection(list(ends), linewidths=1, **style))
        return
    known = set(zip(i.tolist(), j.tolist(), strict=True))
    shrink = area**0.5 / 2 + 1
    for u, v in zip(i.tolist(), j.tolist(), strict=True):
        bend = 0.15 if (v, u) in known else 0.0  # curve opposite edges, so that both are visible
        ax.add_patch(
            FancyArrowPatch(
                (points[u, 0], points[u, 1]),
                (points[v, 0], points[v, 1]),
                arrowstyle="-|>",
                mutation_scale=float(np.clip(area**0.5, 5, 11)),
                connectionstyle=f"arc3,rad={bend}",
                shrinkA=shrink,
                shrinkB=shrink,
                linewidth=1,
                **style,
            )
        )


def _loop_radius(points: np.ndarray) -> float:
    return 0.03 * max(float(np.ptp(points, axis=0).max()), 1.0)


def _loop_direction(points: np.ndarray, v: int) -> np.ndarray:
    """Return the direction of a self-loop at v: the unit vector from the picture's center to v.

    The vector never points upward, because labels are above the vertices.
    """
    x, y = points[v] - points.mean(0)
    direction = np.array([x, min(y, 0.0)])
    length = float(np.hypot(*direction))
    return direction / length if length > 1e-9 else np.array([0.0, -1.0])


def _draw_weights(
    ax: Axes, points: np.ndarray, rows: Any, columns: Any, values: Any, directed: bool
) -> None:
    # In a directed graph, write a value closer to the source of its edge than to the target, so
    # that the values of two opposite edges do not overlap.
    share = 0.4 if directed else 0.5
    for u, v, value in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
        x, y = points[u] + share * (points[v] - points[u])
        if u == v:
            x, y = points[u] + 2 * _loop_radius(points) * _loop_direction(points, u)
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        ax.text(
            x,
            y,
            text,
            size=7.5,
            color=INK,
            ha="center",
            va="center",
            zorder=2,
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.85},
        )


def _below(points: np.ndarray, rows: Any, columns: Any) -> np.ndarray:
    """Return, for each vertex, whether its label must go below it.

    A label above the vertex would hide the end of an edge that leads steeply up. So the label goes
    below the vertex if there is such an edge, but no self-loop and no edge that leads steeply down.
    """
    tail, head = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    across, up = np.abs(points[head, 0] - points[tail, 0]), points[head, 1] - points[tail, 1]
    is_above, is_below = np.zeros(len(points), bool), np.zeros(len(points), bool)
    is_above[tail[up > 2 * across]] = True
    is_below[tail[(-up > 2 * across) | (head == tail)]] = True
    return is_above & ~is_below


def _draw_labels(
    ax: Axes, points: np.ndarray, graph: Graph, area: float, is_lower: np.ndarray
) -> None:
    from matplotlib.patheffects import withStroke

    size = float(np.clip(area**0.5 / 1.6, 6, 9))
    offset = area**0.5 / 2 + 1.5
    for label, (x, y), lower in zip(graph.labels, points, is_lower, strict=True):
        ax.annotate(
            str(label),
            (x, y),
            (0, -offset if lower else offset),
            textcoords="offset points",
            size=size,
            color=INK,
            ha="center",
            va="top" if lower else "bottom",
            zorder=4,
            parse_math=False,  # a label may contain a $
            path_effects=[withStroke(linewidth=2.2, foreground="white")],
        )
