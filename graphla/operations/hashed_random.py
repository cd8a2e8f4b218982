"""Random numbers that depend only on a seed and a vertex, so they are the same on every device.

Each number is computed by applying the finalizer of splitmix64 to a counter (G. Steele, D. Lea and
C. Flood, *Fast Splittable Pseudorandom Number Generators*, 2014). So all numbers can be computed in
parallel. Arrays are created on the device of the array `like`, or on the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.formats import Array, Csr, FullVector
from graphla.operations.ordering import rank_entries
from graphla.stores import MatrixStore, VectorStore
from semirings.dtypes import BOOL, INT64

GOLDEN = 0x9E3779B97F4A7C15
WORD = (1 << 64) - 1


def mix(x: int) -> int:
    """Apply the finalizer of splitmix64 to one number."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def first_counter(seed: int) -> int:
    """Return the counter that `stream` uses for vertex 0, which depends only on the seed."""
    return mix(seed ^ GOLDEN)


def words(n: int, seed: int, like: Any = None) -> Array:
    """Return, for each vertex 0..n-1, a hash of the seed and the vertex, as uint64."""
    return stream(n, first_counter(seed), like)


def stream(n: int, first: int, like: Any = None) -> Array:
    """Return the hash of first + v * GOLDEN (mod 2^64), as uint64, for each vertex v in 0..n-1."""
    counters = np.arange(n, dtype=np.uint64, like=like)
    return finalize(counters * np.uint64(GOLDEN) + np.uint64(first))


def finalize(x: Array) -> Array:
    """Apply the finalizer of splitmix64 to each word."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def ranks(n: int, seed: int, like: Any = None) -> Array:
    """Return distinct positive int64 numbers in random order, one per vertex."""
    high = (words(n, seed, like) >> np.uint64(33)).astype(np.int64) << 32
    return high + np.arange(1, n + 1, dtype=np.int64, like=like)


def priorities(a: MatrixStore, seed: int) -> VectorStore:
    """Return distinct positive random numbers, one for each vertex of A, as a full vector."""
    numbers = ranks(a.nrows, seed, like=_indptr(a))
    return VectorStore(a.device, INT64, FullVector(a.nrows, numbers))


def random_order(a: MatrixStore, seed: int) -> VectorStore:
    """Return a random permutation of the vertices of A as a full vector."""
    return rank_entries(priorities(a, seed), are_distinct=True)


def coins(a: MatrixStore, first: int) -> VectorStore:
    """Return one random BOOL value per vertex of A: the highest bit of the vertex's random word."""
    bits = stream(a.nrows, first, like=_indptr(a)) >> np.uint64(63) != 0
    return VectorStore(a.device, BOOL, FullVector(a.nrows, bits))


def edge_order(a: MatrixStore, is_weighted: bool, seed: int) -> MatrixStore:
    """Return the upper triangle of A, in which the value of each edge is its position in sorted
    order.

    If `is_weighted` is true, edges are sorted by weight, and edges of equal weight by a hash of the
    seed and both vertices. Otherwise all edges are sorted by this hash. If two edges are equal in
    weight and hash, the edge that comes later in A comes first.
    """
    do, csr = backend(a.device), a.csr
    flags = do.row_of_entry(csr) < csr.indices
    upper = do.keep(csr, flags)
    word = words(a.nrows, seed, like=csr.indptr)
    hashes = finalize(word[do.row_of_entry(upper)] + word[upper.indices])[::-1]
    order = np.argsort(hashes, kind="stable")
    if is_weighted:
        order = order[np.argsort(upper.values[::-1][order], kind="stable")]
    places = np.empty_like(order, np.int64)
    places[order] = np.arange(order.size, dtype=np.int64, like=order)
    found = Csr(upper.nrows, upper.ncols, upper.indptr, upper.indices, places[::-1].copy())
    return MatrixStore(a.device, INT64, found)


def _indptr(a: MatrixStore) -> Array:
    return (a.csr if a.has_csr else a.csc).indptr
