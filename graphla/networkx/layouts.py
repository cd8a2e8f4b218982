"""Positions of nodes for NetworkX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphla import algorithms
from graphla.graph import Graph
from graphla.networkx.graphs import edge_ends, find, with_weights
from graphla.sparse import Matrix, Vector


def forceatlas2_layout(
    G: Graph,
    pos: Mapping[Any, Any] | None = None,
    *,
    max_iter: int = 100,
    jitter_tolerance: float = 1.0,
    scaling_ratio: float = 2.0,
    gravity: float = 1.0,
    distributed_action: bool = False,
    strong_gravity: bool = False,
    node_mass: Mapping[Any, float] | None = None,
    node_size: Mapping[Any, float] | None = None,
    weight: str | None = None,
    dissuade_hubs: bool = False,
    linlog: bool = False,
    seed: Any = None,
    dim: int = 2,
    store_pos_as: str | None = None,
) -> dict[Any, np.ndarray]:
    """Implement `networkx.forceatlas2_layout`; only NetworkX 3.5 has `dissuade_hubs`."""
    if dissuade_hubs:
        raise NotImplementedError("dissuade_hubs is True")
    if len(G) == 0:
        return {}
    A = with_weights(G, weight, parallel="sum").matrix
    mass = 1.0 + _degrees(G)
    for node, value in (node_mass or {}).items():
        if (k := find(G, node)) is not None:
            mass[k] = value
    if not (mass > 0).all():
        raise NotImplementedError("node_mass has a mass that is not above 0")
    sizes = None
    if node_size is not None:
        known = ((find(G, node), value) for node, value in node_size.items())
        sizes = {k: value for k, value in known if k is not None}
    points = _positions(G, pos, dim, seed)
    axes = algorithms.forceatlas2_layout(
        A,
        [_vector(x, A) for x in points.T],
        max_iter=max(max_iter, 0),
        jitter_tolerance=jitter_tolerance,
        scaling_ratio=scaling_ratio,
        gravity=gravity,
        distributed_action=distributed_action,
        strong_gravity=strong_gravity,
        node_mass=_vector(mass, A),
        node_size=sizes,
        weight=True,
        linlog=linlog,
    )
    found = np.column_stack([x.to("cpu").to_dense() for x in axes])
    return dict(zip(G.labels, found, strict=True))


def _vector(values: np.ndarray, A: Matrix) -> Vector:
    """Return a full Vector on the device of A."""
    return Vector.from_dense(np.ascontiguousarray(values)).to(A.device)


def _degrees(G: Graph) -> np.ndarray:
    """Return the number of edges of each node; a self-loop of an undirected graph counts twice."""
    rows, columns = edge_ends(G)
    others = columns if G.directed else rows[rows == columns]
    n = len(G)
    return np.bincount(rows, minlength=n) + np.bincount(others, minlength=n)


def _positions(G: Graph, pos: Mapping[Any, Any] | None, dim: int, seed: Any) -> np.ndarray:
    """Return the initial positions that NetworkX uses."""
    if pos is None:
        return seed.rand(len(G), dim).astype(np.float32).astype(float)
    given = np.array(list(pos.values()))
    if given.dtype != float or given.ndim != 2:
        raise NotImplementedError("graphla needs positions that are arrays of Python floats")
    if len(pos) == len(G):
        numbers = [find(G, node) for node in pos]
        if None in numbers or len(set(numbers)) < len(numbers):
            raise NotImplementedError("graphla needs a position for each node")
        points = np.empty_like(given)
    else:
        numbers = [find(G, node) for node in pos]
        low, high = given.min(axis=0), given.max(axis=0)
        points = low + seed.rand(len(G), low.size) * (high - low)
    for k, value in zip(numbers, given, strict=True):
        if k is not None:
            points[k] = value
    return points
