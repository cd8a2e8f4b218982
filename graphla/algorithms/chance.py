"""Random numbers that are a function of a seed and a vertex: the same on every device.

They are counters put through the finaliser of splitmix64 (G. Steele, D. Lea and C. Flood, *Fast
Splittable Pseudorandom Number Generators*, 2014), so that no number waits for another.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.formats import Array
from graphla.operations.operation import perform
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixForms
from semirings.exceptions import InvalidValue

GOLDEN = 0x9E3779B97F4A7C15
WORD = (1 << 64) - 1


def seeded(seed: Any) -> int:
    """`seed` as a number below 2^64: 0 for None, and a drawn one for a numpy Generator."""
    if seed is None:
        return 0
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(1 << 63))
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise TypeError(
            f"seed must be None, an integer or a numpy Generator, not {seed!r} "
            f"({type(seed).__name__})"
        )
    if seed < 0:
        raise InvalidValue(f"seed is {seed}, but must be at least 0")
    return int(seed) & WORD


def words(xp: Any, n: int, seed: int) -> Array:
    """h(v) = the finaliser of seed and v: 64 bits for each of the vertices 0..n-1, uint64."""
    return stream(xp, n, beginning(seed))


def beginning(seed: int) -> int:
    """Where the counters of a seed begin."""
    return mixed(seed ^ GOLDEN)


def stream(xp: Any, n: int, begin: int) -> Array:
    """The words of the vertices 0..n-1 whose counters begin there, uint64."""
    return finished(xp.arange(n, dtype=np.uint64) * np.uint64(GOLDEN) + np.uint64(begin))


def finished(x: Array) -> Array:
    """The finaliser of each word."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def mixed(x: int) -> int:
    """The finaliser of one number."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def ranks(xp: Any, n: int, seed: int) -> Array:
    """A number above 0 for each vertex, int64, no two alike, in an order left to chance."""
    high = (words(xp, n, seed) >> np.uint64(33)).astype(np.int64) << 32
    return high + xp.arange(1, n + 1, dtype=np.int64)


def priorities(A: Matrix, seed: int) -> Vector:
    """The ranks of the vertices of A, as a full vector beside it."""

    def drawn(a: MatrixForms) -> Array:
        return ranks(backend(a.device).xp, a.nrows, seed)

    return Vector.from_dense(perform("priorities", drawn, A._forms), copy=False)
