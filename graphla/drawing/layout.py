"""Compute vertex positions so that distances in the plane approximate distances in the graph.

Each component is laid out by minimizing the stress: the sum over all pairs of vertices of
(|p(i) - p(j)| - d(i, j))² / d(i, j)², where d is the number of edges on a shortest path. The
minimization starts from classical scaling and majorizes the stress in each step, so the same graph
always gives the same picture. The preparation takes O(n³) time, and each step takes O(n²) time.

E. Gansner, Y. Koren and S. North, "Graph Drawing by Stress Majorization", 2004.
"""

from __future__ import annotations

from typing import Any

import numpy as np

STEPS = 100
CHANGE = 1e-4
"""The minimization ends when a step decreases the stress by less than this fraction."""

SEPARATIONS = 20
"""The maximum number of rounds that move close vertices apart."""

GAP = 1.0
"""The distance between components, in edges."""


def place(adjacency: Any) -> np.ndarray:
    """Return an array of shape (n, 2) with the vertex positions for a square SciPy CSR matrix.

    Only the pattern of the matrix is used, and edge directions are ignored.
    """
    from scipy.sparse import csgraph

    n = adjacency.shape[0]
    # Use ones as values, because csgraph treats 0, NaN and infinity as missing edges.
    ones = np.ones(adjacency.nnz)
    adjacency = type(adjacency)((ones, adjacency.indices, adjacency.indptr), adjacency.shape)
    count, component = csgraph.connected_components(adjacency, directed=False)
    positions = np.zeros((n, 2))
    boxes: list[np.ndarray] = []  # the vertices of each component, largest component first
    sizes = np.bincount(component, minlength=count)
    for k in np.argsort(-sizes, kind="stable"):
        vertices = np.flatnonzero(component == k)
        part = adjacency[vertices][:, vertices]
        distances = csgraph.shortest_path(part, directed=False, unweighted=True)
        positions[vertices] = _level(_separate(minimize_stress(distances)))
        boxes.append(vertices)
    _pack(positions, boxes)
    return positions


def minimize_stress(distances: np.ndarray) -> np.ndarray:
    """Return positions of shape (n, 2) whose distances approximate a matrix of finite distances."""
    from scipy.linalg import cho_factor, cho_solve
    from scipy.spatial.distance import cdist

    n = len(distances)
    if n < 3:
        return np.column_stack([np.arange(n, dtype=float), np.zeros(n)])
    points = _scale_classically(distances)
    with np.errstate(divide="ignore"):
        weights = np.where(distances > 0, 1 / distances**2, 0.0)
    laplacian = np.diag(weights.sum(1)) - weights
    factor = cho_factor(laplacian + 1 / n)
    wanted = -weights * distances
    before = np.inf
    for _ in range(STEPS):
        apart = cdist(points, points)
        stress = float((weights * (apart - distances) ** 2).sum())
        if before - stress < CHANGE * stress:
            break
        before = stress
        pulls = wanted / np.maximum(apart, 1e-12)
        # The diagonal of `pulls` is still 0, so it does not affect the sums of the rows.
        pulls[np.diag_indices(n)] = -pulls.sum(1)
        points = cho_solve(factor, pulls @ points)
    return points


def _separate(points: np.ndarray) -> np.ndarray:
    """Move points apart if their dots would overlap, and return the new positions.

    The minimum distance is 0.3 times the length of an edge, or half of the mean spacing of the
    points if that is smaller.
    """
    from scipy.spatial import KDTree

    n = len(points)
    if n < 3:
        return points
    points = points.copy()
    least = min(0.3, 0.5 * float(np.prod(np.ptp(points, axis=0)) / n) ** 0.5)
    for _ in range(SEPARATIONS):
        i, j = KDTree(points).query_pairs(least, output_type="ndarray").T
        if not i.size:
            break
        across = points[j] - points[i]
        apart = np.maximum(np.hypot(*across.T), 1e-9)
        push = across * ((least - apart) / apart * 0.51)[:, None]
        np.add.at(points, j, push)
        np.subtract.at(points, i, push)
    return points


def _scale_classically(distances: np.ndarray) -> np.ndarray:
    """Return positions from classical scaling, with a little noise to keep all points distinct."""
    n = len(distances)
    squares = distances**2
    means = squares.mean(0)
    gram = (means[None] + means[:, None] - squares - squares.mean()) / 2
    values, vectors = np.linalg.eigh(gram)
    points = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    noise = np.random.default_rng(0).standard_normal((n, 2))
    return points[:, ::-1] + 0.05 * noise


def _level(points: np.ndarray) -> np.ndarray:
    """Return the points rotated so that their largest extent is horizontal."""
    centered = points - points.mean(0)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    return centered @ axes.T if len(points) > 2 else centered


def _pack(positions: np.ndarray, boxes: list[np.ndarray]) -> None:
    """Arrange the components in rows, one row below the other, the largest component first."""
    lows = [positions[vertices].min(0) for vertices in boxes]
    sizes = [positions[vertices].max(0) - low for vertices, low in zip(boxes, lows, strict=True)]
    area = sum(float(np.prod(size + GAP)) for size in sizes)
    limit = max([1.3 * area**0.5, *(float(size[0]) for size in sizes)])
    left, bottom, height = 0.0, 0.0, 0.0
    for vertices, low, (width, depth) in zip(boxes, lows, sizes, strict=True):
        if left and left + width > limit:
            left, bottom, height = 0.0, bottom - height - GAP, 0.0
        positions[vertices] += np.array([left, bottom - depth]) - low
        left += width + GAP
        height = max(height, depth)
