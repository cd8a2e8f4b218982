"""The number of triangles of a symmetric matrix, computed with `loops/triangles`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.triangles import UNFIT, WORDS
from graphla.backends.cpu.operands import Parts, row_parts
from graphla.compilers import numba_ops, scratch
from graphla.compilers.numba import load
from graphla.compilers.threads import apart, run
from graphla.formats import Array, Csr

SPARSE = 8
"""Maximum average number of entries per row for which `count_in_short_rows` is used.

That function merges the rows of the matrix, without building L. It also requires that no row has
more than SHORT entries.
"""
SHORT = 32
"""Maximum number of entries of the longest row for which `count_in_short_rows` is used."""
LONG = 64
"""If the degree of a vertex exceeds this, some columns of its row of L are stored as a bitmap."""


@try_loops
def count_triangles(a: Csr) -> int | None:
    """Return the number of triangles of a symmetric matrix, or None if no compiled loop is used.

    Entries on the diagonal are ignored.
    """
    threads = compiles(a.nvals, size=a.nrows)
    if not threads:
        return None
    stop = np.zeros(1, np.int64)
    return apart(lambda: _count(a, threads, stop), stop, threads, a.nvals)


def _count(a: Csr, threads: int, stop: Array) -> int:
    parts = row_parts(a.indptr, threads)
    if a.nvals <= SPARSE * a.nrows:
        found = count_in_short_rows(a, None, parts, threads, stop)
        if UNFIT not in found:
            return sum(found)
    ranks = np.empty(a.nrows, np.int32)
    ordered = a.indptr, np.empty(a.nrows + 2, np.int32), ranks
    load("triangles.rank", (numba_ops.nothing,), ordered)(*ordered)
    # A part of `orient` writes its rows of L one after another, so about half of `columns` is never
    # touched and takes no memory.
    begins, middles, ends = np.empty((3, a.nrows), a.indptr.dtype)
    columns = np.empty(a.nvals, np.int32)
    bits = np.zeros(np.count_nonzero(np.diff(a.indptr) > LONG) * WORDS, np.uint64)
    rows = begins, middles, ends, columns, bits
    arrays = (a.indptr, a.indices, ranks, *rows, stop)
    orient = load("triangles.orient", (numba_ops.nothing,), arrays)
    run(lambda *part: orient(*arrays, *part), parts, threads, stop)

    def count(*part: int) -> int:
        marks = scratch.take("marks", a.nrows, np.uint8)
        arrays = (ranks, *rows, marks, stop)
        loop = load("triangles.count", (numba_ops.nothing,), arrays)
        found = loop(*arrays, *part)
        scratch.give("marks", marks)
        return found

    return sum(run(count, parts, threads, stop))


def count_in_short_rows(
    a: Csr, support: Array | None, parts: Parts, threads: int, stop: Array
) -> list[int]:
    """Return, for each part of the rows, the number of its triangles, or UNFIT if the part has a
    long row.

    If `support` is given, also store the number of triangles of each edge in it, at the edge's
    entry below the diagonal. The parts must then not run at the same time.
    """
    counts = np.empty(1, np.int32) if support is None else support
    given = a.indptr, a.indices, counts, stop
    spec = numba_ops.counting, support is not None
    loop = load("triangles.count_in_short_rows", spec, given)
    return run(lambda *part: loop(*given, SHORT, *part), parts, threads, stop)
