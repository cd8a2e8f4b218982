"""The number of triangles of a symmetric matrix, by `loops/triangles`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.operands import row_parts
from graphla.compilers import numba_ops, scratch
from graphla.compilers.numba import load
from graphla.compilers.threads import apart, run
from graphla.formats import Array, Csr


@try_loops
def count_triangles(a: Csr) -> int | None:
    """Return the number of triangles of a symmetric matrix, or None if no compiled loop runs.

    Entries on the diagonal are ignored.
    """
    threads = compiles(a.nvals, size=a.nrows)
    if not threads:
        return None
    stop = np.zeros(1, np.int64)
    return apart(lambda: _count(a, threads, stop), stop, threads, a.nvals)


def _count(a: Csr, threads: int, stop: Array) -> int:
    parts = row_parts(a.indptr, threads)
    # A part of `orient` writes its rows of L one after another, so about half of `columns` is never
    # touched and takes no memory.
    begins, ends = np.empty((2, a.nrows), a.indptr.dtype)
    columns = np.empty(a.nvals, np.int32)
    arrays = (a.indptr, a.indices, begins, ends, columns, stop)
    orient = load("triangles.orient", (numba_ops.nothing,), arrays)
    run(lambda *part: orient(*arrays, *part), parts, threads, stop)

    def count(*part: int) -> int:
        marks = scratch.take("marks", a.nrows, np.uint8)
        arrays = (begins, ends, columns, marks, stop)
        loop = load("triangles.count", (numba_ops.nothing,), arrays)
        found = loop(*arrays, *part)
        scratch.give("marks", marks)
        return found

    return sum(run(count, parts, threads, stop))
