"""Truss numbers, with `loops/truss`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.truss import ASYMMETRIC, STOPPED, Rows
from graphla.backends.cpu.operands import even_parts
from graphla.backends.cpu.select import keep
from graphla.backends.cpu.triangles import SPARSE, UNFIT, count_in_short_rows
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Array, Csr
from semirings.exceptions import InvalidValue

INT32_END = 1 << 31


@try_loops
def trusses(a: Csr, k: int | None) -> Array | None:
    """Return the truss number of the edge of each entry as int32, or None if no compiled loop is
    used.

    If `k` is not None, the result may be any number of at least k for an edge of the k-truss, and
    any number below k for another edge.
    """
    if not compiles(a.nvals, size=a.nrows) or a.nvals >= INT32_END:
        return None
    stop = np.zeros(1, np.int64)
    return apart(lambda: _find_trusses(a, k, stop), stop, 1, a.nvals)


def _find_trusses(a: Csr, k: int | None, stop: Array) -> Array:
    """Compute the result of `trusses`.

    If only the k-truss is requested and rows are short, first remove the edges that are in too few
    triangles.
    """
    if k is None or k < 3 or a.nvals > SPARSE * a.nrows:
        return _decompose(a, k, stop)
    flags = np.zeros(a.nvals, np.bool_)
    support = np.zeros(a.nvals, np.int32)
    if UNFIT in count_in_short_rows(a, support, even_parts(a.nrows, a.nvals, 1), 1, stop):
        return _decompose(a, k, stop)
    _call("flag_supported", stop, a.indptr, a.indices, support, flags, integers=(k - 2,))
    found = np.zeros(a.nvals, np.int32)
    if flags.any():
        found[flags] = _decompose(keep(a, flags), k, stop)
    return found


def _call(name: str, stop: Array, *arrays: Any, integers: tuple[int, ...] = ()) -> int:
    """Run a loop of `loops/truss` and return its status."""
    loop = load(f"truss.{name}", (numba_ops.nothing,), (*arrays, stop))
    flat = [x for each in arrays for x in (each if isinstance(each, tuple) else (each,))]
    status = loop(*flat, stop, *integers)
    if status == STOPPED:
        raise KeyboardInterrupt
    if status == ASYMMETRIC:
        raise InvalidValue("A was made with symmetric=True, but is not symmetric")
    return status


def _decompose(a: Csr, k: int | None, stop: Array) -> Array:
    edges = a.nvals // 2
    ids = np.empty(a.nvals, np.int32)
    sources, targets = np.empty((2, edges), np.int32)
    _call("number", stop, a.indptr, a.indices, a.indptr[:-1].copy(), ids, sources, targets)
    rows = Rows(a.indptr, a.indices, ids)
    begins, ends = np.empty((2, a.nrows), a.indptr.dtype)
    columns, numbers = np.empty((2, edges), np.int32)
    _call("orient", stop, rows, begins, ends, columns, numbers)
    support = np.zeros(edges, np.int32)
    _call("support", stop, begins, ends, columns, numbers, np.zeros(a.nrows, np.int32), support)
    # An edge of the k-truss is in at least k - 2 triangles, so this is an upper bound on k.
    most = int(support.max(initial=0)) + 2
    first, last = (3, most) if k is None else (min(k, most + 1),) * 2
    found, queue = np.zeros(edges, np.int32), columns  # the columns of L are no longer needed
    _call("peel", stop, rows, sources, targets, support, found, queue, integers=(first, last))
    return found[ids]
