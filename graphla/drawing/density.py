"""`spy`: a picture of where the entries of a matrix are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphla.drawing.axes import INK, given_or_new
from graphla.graph import Graph
from graphla.settings import config
from graphla.sparse import Matrix
from graphla.sparse.foreign import class_name, conversion
from graphla.sparse.readable_matrix import ReadableMatrix
from semirings.exceptions import InvalidValue
from semirings.semiring import plus_first, plus_pair

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENTRIES = 1 << 24
"""Number of entries that are binned per batch, which limits the extra memory."""

LABELS = 30
"""If a Graph has at most this many vertices, the axes show their labels."""


def spy(
    A: ReadableMatrix | Graph, *, bins: int = 300, cmap: Any = "viridis_r", ax: Any = None
) -> Axes:
    """image(r, c) = the number of entries of A in bin (r, c).

    Draw where the entries of a matrix are, as a density picture.

    Rows and columns are divided into at most `bins` bins of equal size; a small matrix has one bin
    per row and column. Sparse operations on the device of A compute the counts. Their time and
    memory are proportional to A.nrows + A.ncols + A.nvals. Batches of at most about 2^24 entries
    limit the memory for temporary arrays. Bins without entries stay white; the color scale is
    logarithmic.

    Args:
        A: a Matrix of any size, an expression that yields a Matrix, or a Graph.
        bins: the maximum number of bins along each axis, from 1 to 4096.
        cmap: the matplotlib colormap.
        ax: the matplotlib Axes to draw on; by default one in a new figure.

    Returns:
        The Axes. `ax.images[0].get_array()` holds the counts, masked where they are zero.

    Raises:
        TypeError: A is not a Matrix or Graph, or `ax` is not an Axes.
        InvalidValue: `bins` is out of range, or A has no rows or no columns.
        PackageMissing: matplotlib is not installed.

    Examples:
        >>> import graphla as gl
        >>> ax = gl.spy(gl.generators.path(1000), bins=10)
        >>> int(ax.images[0].get_array().sum())
        1998
    """
    graph = A if isinstance(A, Graph) else None
    if graph is not None:
        A = graph._matrix
    if not isinstance(A, ReadableMatrix):
        raise TypeError(
            f"A must be a graphla.Matrix or Graph, not a {class_name(A)}"
            f"{conversion('A', A, to_graph=False)}"
        )
    if isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= 4096:
        raise InvalidValue(f"bins must be an int from 1 to 4096, not {bins!r}")
    nrows, ncols = A.shape
    if not nrows or not ncols:
        raise InvalidValue(f"A is {nrows} x {ncols}, so there is nothing to draw")
    ax = given_or_new(ax, (6.0, 5.2))
    counts = count_in_bins(A, min(bins, nrows), min(bins, ncols))
    _draw(ax, counts, A, cmap)
    if graph is not None and graph.has_names and nrows <= LABELS:
        names = [str(label) for label in graph.labels]
        ax.set_xticks(range(ncols), names, rotation=90, size=8, parse_math=False)
        ax.set_yticks(range(nrows), names, size=8, parse_math=False)
    return ax


def count_in_bins(A: ReadableMatrix, rows: int, columns: int) -> np.ndarray:
    """Return the number of entries in each of rows x columns bins, as INT64.

    If A has n rows, bin k holds the rows from floor(k n / rows) to floor((k + 1) n / rows) - 1.
    Columns are divided in the same way.
    """
    nvals = A.nvals
    counts = np.zeros((rows, columns), np.int64)
    if not nvals:
        return counts
    row_edges, column_edges = _edges(A.nrows, rows), _edges(A.ncols, columns)
    with config.set(device=A.device, autocompute=True):
        into_columns = _membership(column_edges).T.new()  # Q(j, c) = true if column j is in bin c
        step = max(1, rows * ENTRIES // nvals)  # number of row bins per batch
        for first in range(0, rows, step):
            edges = row_edges[first : first + step + 1]
            is_all = first == 0 and step >= rows
            part = A if is_all else A[int(edges[0]) : int(edges[-1]), :].new()
            # counts = (P plus.pair A) plus.first Q, where P(r, i) = true if row i is in row bin r,
            # and Q(j, c) = true if column j is in column bin c
            in_rows = plus_pair["INT64"](_membership(edges - edges[0]) @ part).new()
            found = plus_first["INT64"](in_rows @ into_columns).new()
            counts[first : first + len(edges) - 1] = found.to_dense(0)
    return counts


def _edges(size: int, bins: int) -> np.ndarray:
    return np.arange(bins + 1, dtype=np.int64) * size // bins


def _membership(edges: np.ndarray) -> Matrix:
    """Return P, where P(k, i) = true if edges[k] <= i < edges[k + 1], that is, if i is in bin k."""
    size = int(edges[-1])
    return Matrix.from_csr(edges, np.arange(size, dtype=np.int32), True, ncols=size, copy=False)


def _draw(ax: Axes, counts: np.ndarray, A: ReadableMatrix, cmap: Any) -> None:
    from matplotlib.colors import ListedColormap, LogNorm

    nrows, ncols = A.shape
    most = int(counts.max())
    shown = np.ma.masked_equal(counts, 0)
    extent = (-0.5, ncols - 0.5, nrows - 0.5, -0.5)
    ratio = nrows / ncols
    options: dict[str, Any] = {
        "extent": extent,
        "interpolation": "nearest",
        "aspect": "equal" if 0.2 <= ratio <= 5 else "auto",
    }
    if most <= 1:
        ax.imshow(shown, cmap=ListedColormap([INK]), vmin=0, vmax=1, **options)
    else:
        image = ax.imshow(shown, cmap=cmap, norm=LogNorm(1, most), **options)
        rows, columns = (-(-n // k) for n, k in zip(A.shape, counts.shape, strict=True))
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, pad=0.02)
        bar.set_label(f"entries per {rows:,} x {columns:,} block", size=9)
        bar.outline.set_visible(False)
    ax.xaxis.tick_top()
    ax.tick_params(length=2, labelsize=8, colors=INK)
    entries = "1 entry" if A.nvals == 1 else f"{A.nvals:,} entries"
    ax.set_xlabel(f"{nrows:,} x {ncols:,}, {entries}", size=9, color=INK)
