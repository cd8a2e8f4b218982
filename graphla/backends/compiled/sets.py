"""Colours and mates of vertices, taken one by one: the host side of `loops/sets`."""

from __future__ import annotations

import numpy as np

from graphla.backends.compiled.parts import values_of
from graphla.kernels import specialise
from graphla.kernels.compiled import load
from graphla.kernels.loops.sets import FREE, NONE
from graphla.kernels.threads import apart
from graphla.storage import Array, Csr


def coloured(a: Csr, numbers: Array) -> Array:
    """The least colour that no neighbour of a greater number has, int32."""
    order = np.argsort(-numbers).astype(np.int32)
    colours = np.full(a.nrows, -1, np.int32)
    marks = np.zeros(int(np.diff(a.indptr).max(initial=0)) + 2, np.int32)
    arrays = (a.indptr, a.indices, order, colours, marks)
    loop = load("sets.colour", (specialise.nothing,), arrays)
    apart(lambda: loop(*arrays), np.zeros(1, np.int64), 1)
    return colours


def matched(a: Csr, words: Array) -> Array:
    """The mate of each vertex, int32, or -1: dearest edges first."""
    n = a.nrows
    mates, wanted, path = np.full(n, FREE, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    values, step = values_of(a.values)
    if not a.nvals:
        return mates
    arrays = (a.indptr, a.indices, values, words, mates, wanted, path)
    loop = load("sets.match", (specialise.nothing,), arrays)
    apart(lambda: loop(*arrays, step), np.zeros(1, np.int64), 1)
    mates[mates == NONE] = -1
    return mates
