"""Breadth-first search on a road network or on your own graph, and a picture of its levels.

python examples/demo.py [GRAPH] [--source V] [--output FILE.png]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import graphla as gl
from graphla.algorithms import bfs

ROUNDS = 5  # number of timed runs; the script prints the median of their times
LANDMARKS = 8
MANY_LEVELS = 40  # graphs with fewer levels are drawn as concentric rings, others as maps
MOST_LINES = 1_000_000
NIGHT, GREY = "#0b0f1a", "#8a93a6"
COLORS = ("#fff7d6", "#ffd166", "#ff9b54", "#ef476f", "#9b3fb5", "#4f5bd5", "#2ec4e6", "#b8fff2")


def main() -> None:
    options = _options()
    A, name = _read(options.graph)
    symmetric = A.isequal(A.T.new())
    degrees = np.diff(A.to_csr()[0])
    if not A.nvals:
        sys.exit(f"demo: {name} has no edges: there is nothing to search")
    source = int(degrees.argmax()) if options.source is None else options.source

    start = time.perf_counter()
    levels, parents = bfs(A, source)
    first = time.perf_counter() - start
    seconds = median(_seconds(A, source) for _ in range(ROUNDS))

    vertices, level = levels.to_coo()
    edges = int(degrees[vertices].sum())
    if symmetric:
        edges //= 2
    counted = "undirected edges of the component, each once" if symmetric else "out-edges reached"
    farthest = int(vertices[level.argmax()])
    _print(
        graph=f"{name}: {A.nrows:,} vertices, {A.nvals // (1 + symmetric):,} edges",
        source=f"{source}"
        + ("" if options.source is not None else " (the vertex with the largest degree)"),
        reached=f"{vertices.size:,} vertices in {level.max() + 1:,} levels",
        farthest=f"vertex {farthest}, {level.max():,} edges away",
        time=f"{1000 * seconds:.4g} ms (median of {ROUNDS}; the first took {first:.2f} s)",
        speed=f"{edges / seconds / 1e6:.4g} MTEPS ({edges:,} {counted})",
    )
    picture = options.output or Path("out") / f"{Path(name).name.split('.')[0]}.png"
    _draw(A, levels, parents, name, picture)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Breadth-first search, and a picture of its levels."
    )
    parser.add_argument(
        "graph", nargs="?", default="road-NY", help="the graph: a file or a dataset"
    )
    parser.add_argument(
        "--source", type=int, help="the source (default: the vertex with the largest degree)"
    )
    parser.add_argument("--output", type=Path, help="the picture (default: out/GRAPH.png)")
    return parser.parse_args()


def _read(graph: str) -> tuple[gl.Matrix, str]:
    try:
        known = graph in gl.datasets.names() and not Path(graph).exists()
        A = gl.datasets.load(graph) if known else gl.io.read(graph)
    except (OSError, gl.exceptions.GraphblasException) as error:
        sys.exit(f"demo: {error}")
    if not isinstance(A, gl.Matrix) or A.nrows != A.ncols:
        sys.exit(f"demo: {graph} holds no square matrix")
    return A, graph


def _seconds(A: gl.Matrix, source: int) -> float:
    start = time.perf_counter()
    bfs(A, source)
    return time.perf_counter() - start


def _print(**facts: str) -> None:
    for name, fact in facts.items():
        print(f"{name:<9} {fact}")


# --- vertex layout --------------------------------------------------------------------------------


def map_of(A: gl.Matrix, levels: gl.Vector) -> Any:
    """Return a point for each reached vertex, such that near vertices have near points.

    Pivot MDS (U. Brandes and C. Pich, 2006) runs a BFS from each of a few vertices that are far
    from each other, and uses the two directions in which the squared distances vary most as axes.
    """
    vertices, nearest = levels.to_coo()
    distances = []
    for _ in range(LANDMARKS):
        landmark = int(vertices[nearest.argmax()])
        distance = bfs(A, landmark).levels.to_dense(A.nrows)[vertices]
        nearest = np.minimum(nearest, distance)
        distances.append(distance)
    squared = np.array(distances, dtype=float) ** 2
    centred = squared.mean(0) + squared.mean(1)[:, np.newaxis] - squared - squared.mean()
    _, axes = np.linalg.eigh(centred @ centred.T)
    points = centred.T @ axes[:, :-3:-1]
    # The axes have arbitrary signs: flip them so that the first landmark, which is farthest from
    # the source, is at the top left.
    return np.copysign(1, points[distances[0].argmin()] * (-1, 1)) * points


def rings_of(levels: gl.Vector, parents: gl.Vector) -> Any:
    """Return a point for each reached vertex, at a radius equal to its level.

    The sector of a vertex is divided among its children in proportion to their descendants.
    """
    vertices, level = levels.to_coo()
    parent = parents.to_coo()[1]
    n = levels.size
    size, start = np.zeros(n), np.zeros(n)
    by_level = [level == depth for depth in range(level.max() + 1)]
    size[vertices] = 1
    for ring in reversed(by_level[1:]):
        np.add.at(size, parent[ring], size[vertices[ring]])
    for ring in by_level[1:]:
        v, p = vertices[ring], parent[ring]
        order = np.argsort(p, kind="stable")
        v, p = v[order], p[order]
        before = np.cumsum(size[v]) - size[v]
        first = np.r_[True, p[1:] != p[:-1]]
        before -= np.maximum.accumulate(np.where(first, before, 0))
        start[v] = start[p] + before
    angle = 2 * np.pi * (start + size / 2)[vertices] / vertices.size
    return np.stack([level * np.cos(angle), level * np.sin(angle)], axis=1)


# --- the picture ----------------------------------------------------------------------------------


def _draw(A: gl.Matrix, levels: gl.Vector, parents: gl.Vector, name: str, path: Path) -> None:
    try:
        import matplotlib
    except ImportError:
        print("picture   none: it needs matplotlib (pip install graphla[plot])")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap

    vertices, level = levels.to_coo()
    rows, columns, points = _edges_to_draw(A, levels, parents)
    colors = LinearSegmentedColormap.from_list("levels", COLORS)
    shades = {"cmap": colors, "clim": (0, max(int(level.max()), 1))}

    figure = pyplot.figure(figsize=(12, 12), facecolor=NIGHT)
    above = figure.add_axes((0.02, 0.17, 0.96, 0.77))
    lines = np.stack([points[rows], points[columns]], axis=1)
    shade = np.maximum(level[rows], level[columns])
    order = np.argsort(-shade, kind="stable")  # draw vertices near the source last, on top
    width = float(np.clip(100 / np.sqrt(rows.size), 0.4, 2))
    drawn = LineCollection(list(lines[order]), array=shade[order], linewidths=width, **shades)
    above.add_collection(drawn)
    at_source = points[level.argmin()]
    above.plot(*at_source, "o", color="white", markersize=5)
    above.autoscale()
    above.set_aspect("equal")
    above.axis("off")

    below = figure.add_axes((0.06, 0.06, 0.88, 0.1), facecolor=NIGHT)
    counts = np.bincount(level)
    below.bar(np.arange(counts.size), counts, 1.0, color=colors(np.linspace(0, 1, counts.size)))
    below.set_xlim(-0.5, counts.size - 0.5)
    below.tick_params(colors=GREY, labelsize=9)
    for side, spine in below.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(GREY)
    below.set_yticks([])
    below.set_xlabel("level: edges from the source      height: vertices", color=GREY)
    title = f"{Path(name).name}: breadth-first search"
    figure.text(0.5, 0.955, title, color="white", size=18, ha="center")
    found = f"{vertices.size:,} vertices in {counts.size:,} levels around the white dot"
    figure.text(0.5, 0.928, found, color=GREY, size=11, ha="center")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=125, facecolor=NIGHT)
    print(f"picture   {path}")


def _edges_to_draw(A: gl.Matrix, levels: gl.Vector, parents: gl.Vector) -> tuple[Any, Any, Any]:
    """Return the first end point and the second end point of each line, and the coordinates.

    An end point is an index into the coordinates. A map shows the edges of the graph; a picture
    with rings shows the edges of the search tree.
    """
    vertices, level = levels.to_coo()
    place = np.full(A.nrows, -1)
    place[vertices] = np.arange(vertices.size)
    if level.max() < MANY_LEVELS:
        _, parent = parents.to_coo()
        return np.arange(vertices.size), place[parent], rings_of(levels, parents)
    both = A if A.isequal(A.T.new()) else gl.binary.pair(A | A.T).new(bool)
    rows, columns, _ = both.to_coo(values=False)
    kept = (rows < columns) & (place[rows] >= 0) & (place[columns] >= 0)
    kept[np.flatnonzero(kept)[MOST_LINES:]] = False
    return place[rows[kept]], place[columns[kept]], map_of(both, levels)


if __name__ == "__main__":
    main()
