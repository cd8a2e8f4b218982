"""Run breadth-first searches from many start vertices, and return the levels that they find.

The backends run many searches in one launch or loop, with one bit per search (`multi_source_bfs`).
They read a matrix in CSR and CSC; the CSC is built only if there are enough searches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from graphla.backends import Level, MultiSearch, Reach, backend
from graphla.backends.tuning import current
from graphla.formats import Array, Csr, VectorMask
from graphla.operations.accelerate.batches import batches
from graphla.operations.accelerate.searches import lower, record_levels
from graphla.operations.operation import DeviceScope, perform
from graphla.settings import forced_direction, recorders
from graphla.sparse import Matrix
from graphla.sparse.mask import as_mask
from graphla.stores import MatrixStore
from semirings.dtypes import BOOL, lookup_dtype

T = TypeVar("T")


@dataclass(frozen=True)
class ManyTuning:
    """Parameters of searches from many start vertices."""

    pull: int = 8
    """With at least this many searches, it saves time to build the CSC form, which pulls need."""
    parts: int = 256
    """Number of parts into which a long column is divided to sum it."""
    table: int = 1 << 26
    """Maximum number of levels that a batch of searches in `pairs` stores."""
    sums: int = 1 << 22
    """Maximum number of levels that a batch of searches in `sum_reciprocals` stores.

    A batch has at least 64 searches, even if they have more levels.
    """


TUNING = ManyTuning()


def levels(
    A: Matrix, starts: np.ndarray, *, dtype: Any, mask: Any = None, limit: int | None = None
) -> Array:
    """L(i, v) = the number of edges on a shortest path from starts[i] to v.

    Return L as an array on the device, in which the levels of each vertex v are contiguous. If no
    path leads from starts[i] to v, L(i, v) is -1, or 255 if the dtype is uint8.
    """
    wanted = lookup_dtype(dtype).np_type

    def search(a: MatrixStore, out: Csr, into: Csr | None, lowered: VectorMask | None) -> Array:
        request = MultiSearch(
            out,
            into,
            _on_device(a, starts),
            lowered,
            _limit_levels(limit, a),
            wanted,
            None if into is None else a.plan_now(),
            traced=bool(recorders()),
        )
        found = backend(a.device).multi_source_bfs(request)
        trace.extend(found.trace)
        return found.levels

    trace: list[Level] = []

    return run("bfs_levels", A, starts.size, mask, search, trace)


def reach(A: Matrix, starts: np.ndarray, description: str) -> Reach:
    """Run a search from each start vertex, and return statistics of the levels of each search.

    The result has three arrays with one element per search: the number of vertices reached, the sum
    of their levels, and the maximum level. `description` is the text of the progress bar.
    """
    found = [_reach(A, starts[part]) for part in batches(A, starts.size, description)]
    return Reach(*map(np.concatenate, zip(*found, strict=True)))


def sum_reciprocals(
    A: Matrix, starts: np.ndarray, ends: np.ndarray, axis: int, description: str
) -> np.ndarray:
    """Return sums of 1 / d(i, v), where d(i, v) is the distance from start i to end v.

    With axis 1, the result contains, for each start i, the sum over all ends v. With axis 0, it
    contains, for each end v, the sum over all starts i. A pair (i, v) adds nothing if i = v, or if
    no path leads from i to v.
    `description` is the text of the progress bar.
    """
    size = _batch_size(A.nrows, current(TUNING).sums)
    parts = batches(A, starts.size, description, size)
    found = [_sum_reciprocals(A, starts[part], ends, axis) for part in parts]
    return np.concatenate(found) if axis == 1 else np.sum(found, axis=0)


def _batch_size(n: int, levels: int) -> int:
    """Return how many searches a batch over n vertices has: at most `levels` / n, at least 64."""
    return max(64, levels // max(n, 1) // 64 * 64)


def _sum_reciprocals(A: Matrix, starts: np.ndarray, ends: np.ndarray, axis: int) -> np.ndarray:
    """Compute `sum_reciprocals` for one batch of starts."""
    found = levels(A, starts, dtype="INT32")

    def add_up(a: MatrixStore) -> np.ndarray:
        do = backend(a.device)
        at = found if ends.size == a.nrows else found[:, do.asarray(ends)]
        # Looking up reciprocals in a table is faster than dividing by levels. A level of -1 (not
        # reached) selects the last element, which is 0.
        deepest = max(0, int(at.max())) if at.size else 0
        reciprocals = do.asarray([0.0, *(1.0 / np.arange(1, deepest + 1)), 0.0])
        near = reciprocals[at]
        return do.to_host(near.sum(axis=0) if axis == 0 else _sum_columns(near.T))

    return perform("harmonic", add_up, A._store)


def _sum_columns(table: Array) -> Array:
    """Return the sums of a few long columns; a GPU sums the parts of a column in parallel."""
    rows, columns = table.shape
    parts = current(TUNING).parts
    whole = rows // parts * parts
    cut = table[:whole].reshape(parts, whole // parts, columns)
    return cut.sum(axis=0).sum(axis=0) + table[whole:].sum(axis=0)


def _reach(A: Matrix, starts: np.ndarray) -> Reach:
    def search(a: MatrixStore, out: Csr, into: Csr | None, lowered: VectorMask | None) -> Reach:
        do = backend(a.device)
        plan = None if into is None else a.plan_now()
        request = MultiSearch(out, into, _on_device(a, starts), lowered, a.nrows, None, plan)
        reach = do.multi_source_bfs(request).reach
        assert reach is not None
        return Reach(*map(do.to_host, reach))

    return run("reach", A, starts.size, None, search, [])


def pairs(A: Matrix, sources: np.ndarray | None = None) -> Matrix:
    """Return the matrix R with R(i, j) = true if the i-th source reaches vertex j.

    It has no other entries. Every vertex reaches itself. By default all vertices are sources.
    """
    n = A.nrows
    starts = np.arange(n) if sources is None else sources
    size = _batch_size(n, current(TUNING).table)
    columns, counts = [], []
    for part in batches(A, starts.size, "transitive closure", size):
        reached = (levels(A, starts[part], dtype="INT32") >= 0).copy("C")
        columns.append(_columns(reached)[reached])
        counts.append(reached.sum(axis=1))
    indices = np.concatenate(columns)
    true = np.broadcast_to(np.ones_like(indices, bool, shape=1), indices.shape)
    csr = Csr(starts.size, n, _offsets(np.concatenate(counts)), indices, true)
    return Matrix._of(MatrixStore(A.device, BOOL, csr, None))


def as_matrix(
    found: Array, device: str, values: Callable[[Array], Array] | None = None, dtype: Any = "INT32"
) -> Matrix:
    """Return a Matrix with an entry L(i, v) for each vertex v that search i reaches.

    The int32 array `found` holds the level of each vertex in each search, with -1 for vertices that
    are not reached. The function `values` maps levels to the values of the entries; if it is None,
    the values are the levels.
    """
    count, n = found.shape
    if not found.flags.c_contiguous:
        found = found.copy("C")
    reached = found >= 0
    there = found[reached]
    csr = Csr(
        count,
        n,
        _offsets(reached.sum(axis=1)),
        _columns(reached)[reached],
        there if values is None else values(there),
    )
    return Matrix._of(MatrixStore(device, lookup_dtype(dtype), csr, None))


def _columns(flags: Array) -> Array:
    """Return an array with the shape of `flags` in which each element is its column number."""
    return np.broadcast_to(np.arange(flags.shape[1], dtype=np.int32, like=flags), flags.shape)


def _offsets(counts: Array) -> Array:
    """Return the row offsets (indptr) for rows with these numbers of entries."""
    ends = np.zeros_like(counts, np.int64, shape=counts.size + 1)
    np.cumsum(counts, dtype=np.int64, out=ends[1:])
    return ends.astype(np.int32 if int(ends[-1]) < 2**31 else np.int64)


def run(
    name: str,
    A: Matrix,
    count: int,
    mask: Any,
    search: Callable[[MatrixStore, Csr, Csr | None, VectorMask | None], T],
    trace: list[Level],
) -> T:
    """Call `search` with the patterns of A (CSR, and CSC if that saves time) and with the mask.

    Return its result. Record its duration and `trace` for the user's recorders.
    """
    a = A._read()
    noun = None if mask is None else as_mask(mask)
    lowered = None if noun is None else lower(noun, a.nrows, a.device)
    operands = (a,) if noun is None else (a, noun.parent._read())
    with DeviceScope(name, operands):
        a.find_symmetry()
        out, into = a.patterns()
        if into is None and _is_worth_columns(count):
            into = a.csc
        begin = perf_counter()
        found = search(a, out, into, lowered)
        seconds = perf_counter() - begin
        if into is not None:
            a.record_traversal(seconds)
    if recorders():
        record_levels(name, "any_secondi", f"{count} searches, level", trace, seconds)
    return found


def _is_worth_columns(count: int) -> bool:
    towards = forced_direction()
    return towards == "pull" or (towards == "auto" and count >= current(TUNING).pull)


def _on_device(a: MatrixStore, starts: np.ndarray) -> Array:
    return backend(a.device).asarray(starts, np.int32)


def _limit_levels(limit: int | None, a: MatrixStore) -> int:
    return a.nrows if limit is None else min(limit, a.nrows)
