"""Forces between vertices, with `loops/forces` or with NumPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.layout import row_of_entry
from graphla.backends.cpu.loops.forces import BLOCK, SCRATCH
from graphla.backends.requests import Forces
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart, run
from graphla.formats import Array

PAIRS = 1 << 20
"""Number of pairs of vertices that NumPy processes at once."""

CHEAP = 64
"""A loop over pairs of vertices is compiled only if there are at least CHEAP *
`config.compile_threshold` pairs."""

AXES = 3
"""The number of coordinates in the compiled loop; missing coordinates are 0."""


def forces(request: Forces) -> tuple[Array, Array]:
    """Return the attraction and the repulsion of each vertex, of shape (n, dim)."""
    return _attract(request), _repel(request)


def _attract(request: Forces) -> Array:
    """Return Σ A(i, j) (p(j) - p(i)).

    If `is_log` is set, each term is multiplied by log(1 + d) / d, where d is the distance between
    i and j.
    """
    links, points = request.links, request.points
    rows, columns = row_of_entry(links), links.indices
    differences = points[columns] - points[rows]
    weights = links.values
    if request.is_log:
        d = np.sqrt((differences * differences).sum(axis=1))
        weights = weights * np.divide(np.log1p(d), d, out=np.zeros_like(d), where=d > 0)
    differences *= weights[:, None]
    sums = [np.bincount(rows, x, len(points)) for x in differences.T]
    # Without edges, `sums` holds integers.
    return np.column_stack(sums).astype(float, copy=False)


@try_loops
def _repel(request: Forces) -> Array:
    """Return Σ m(i) m(j) (p(i) - p(j)) / d(i, j)² times the scaling."""
    n, dim = request.points.shape
    threads = compiles(n * n // CHEAP, size=n) if dim <= AXES else 0
    if not threads:
        return _repel_in_blocks(request)
    axes = np.zeros((AXES, n))
    axes[:dim] = request.points.T
    sums, stop = np.zeros((AXES, n)), np.zeros(1, np.int64)
    has_size = request.size is not None
    size = request.size if request.size is not None else np.zeros(n)
    count = max(1, min(4 * threads, n // int(BLOCK))) if threads > 1 else 1
    ends = [n * k // count for k in range(count + 1)]
    parts = [(k, *each, int(has_size)) for k, each in enumerate(pairwise(ends))]
    arrays = (axes.ravel(), request.mass, size, sums.ravel(), np.empty(count * int(SCRATCH)), stop)
    loop = load("forces.repel", (numba_ops.nothing,), arrays)

    def compute() -> None:
        run(lambda *part: loop(*arrays, *part), parts, threads, stop)

    apart(compute, stop, threads, n * n)
    return sums[:dim].T * (request.scaling * request.mass[:, None])


def _repel_in_blocks(request: Forces) -> Array:
    points, mass, size = request.points, request.mass, request.size
    n = len(points)
    sums, step = np.empty_like(points), max(1, PAIRS // max(n, 1))
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        differences = points[rows, None] - points[None]
        d2 = np.einsum("ijk,ijk->ij", differences, differences)
        if size is not None:
            d = np.sqrt(d2) - size[rows, None] - size
            d2 = d * d
        places = np.arange(rows.start, rows.stop)
        d2[places - first, places] = 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = mass / d2
            factors[places - first, places] = 0.0
            sums[rows] = np.einsum("ijk,ij->ik", differences, factors)
    return sums * (request.scaling * mass[:, None])
