"""Random graph patterns on the device, with hubs, self-loops and vertices without edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from graphla.backends import backend
from graphla.formats import Csr

Pattern = tuple[Csr, Csr]
"""A pattern in CSR and in CSC format; both are the same object if the pattern is symmetric."""

cuda = backend("cuda")


def pattern(n: int, pairs: Any, symmetric: bool, wide: bool = False) -> Pattern:
    """Return the pattern of a graph with an edge i -> j for each pair (i, j). If `symmetric` is
    True, there is also an edge j -> i. `wide` selects 64-bit offsets."""
    pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
    pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]) if symmetric else pairs, axis=0)
    out = _rows(n, pairs, wide)
    return out, out if symmetric else _rows(n, pairs[np.lexsort(pairs.T)][:, ::-1], wide)


def _rows(n: int, pairs: np.ndarray, wide: bool) -> Csr:
    indptr = np.searchsorted(pairs[:, 0], np.arange(n + 1)).astype(np.int64 if wide else np.int32)
    indices = np.ascontiguousarray(pairs[:, 1]).astype(np.int32)
    there = cuda.full(len(pairs), True, bool)
    return Csr(n, n, cuda.asarray(indptr), cuda.asarray(indices), there)


SIZES = (1, 2, 31, 32, 33, 200, 1500, 3000)


@st.composite
def patterns(draw: Any, sizes: tuple[int, ...] = SIZES) -> Pattern:
    """Draw a graph of random edges and stars, possibly without edges or with isolated vertices."""
    n = draw(st.sampled_from(sizes))
    numbers = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    pairs = numbers.integers(0, n, (draw(st.sampled_from((0, 1, n, 6 * n))), 2))
    for hub in numbers.integers(0, n, draw(st.integers(0, 3))):
        star = numbers.choice(n, numbers.integers(0, n + 1), replace=False)
        pairs = np.concatenate([pairs, np.stack([np.full(star.size, hub), star], 1)])
    if draw(st.booleans()):
        pairs = pairs[(pairs % 3 != 0).all(1)]
    return pattern(n, pairs, draw(st.booleans()), draw(st.booleans()))


def on_host(array: Any) -> np.ndarray:
    return cuda.to_host(array)


def row_of_each_entry(a: Csr) -> np.ndarray:
    return np.repeat(np.arange(a.nrows), np.diff(on_host(a.indptr)))
