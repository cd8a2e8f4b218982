"""Colours and mates of vertices, taken one by one: the host side of `loops/sets`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.loops.coloring import FREE, NONE
from graphla.backends.cpu.operands import values_of
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import abandonable, apart
from graphla.formats import Array, Csr


def coloured(a: Csr, numbers: Array) -> Array:
    """The least colour that no neighbour of a greater number has, int32."""
    order = abandonable(lambda: np.argsort(-numbers), a.nrows).astype(np.int32)
    colours = np.full(a.nrows, -1, np.int32)
    marks = np.zeros(int(np.diff(a.indptr).max(initial=0)) + 2, np.int32)
    stop = np.zeros(1, np.int64)
    arrays = (a.indptr, a.indices, order, colours, marks, stop)
    loop = load("coloring.colour", (numba_ops.nothing,), arrays)
    apart(lambda: loop(*arrays), stop, 1, a.nvals)
    return colours


def matched(a: Csr, words: Array) -> Array:
    """The mate of each vertex, int32, or -1: dearest edges first."""
    n = a.nrows
    mates, wanted, path = np.full(n, FREE, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    values, step = values_of(a.values)
    if not a.nvals:
        return mates
    stop = np.zeros(1, np.int64)
    arrays = (a.indptr, a.indices, values, words, mates, wanted, path, stop)
    loop = load("coloring.match", (numba_ops.nothing,), arrays)
    apart(lambda: loop(*arrays, step), stop, 1, a.nvals)
    mates[mates == NONE] = -1
    return mates
