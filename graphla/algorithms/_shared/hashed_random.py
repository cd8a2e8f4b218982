"""Random numbers that depend only on a seed and a vertex, and are the same on every device."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from graphla.operations import hashed_random
from graphla.operations.hashed_random import WORD, first_counter, mix, stream
from graphla.operations.operation import perform
from graphla.sparse import Matrix, Vector
from semirings.exceptions import InvalidValue

__all__ = ["coins", "edge_order", "first_counter", "mix", "priorities", "seed_number", "stream"]


def seed_number(seed: int | np.random.Generator | None) -> int:
    """Return the seed as a number below 2^64: None gives 0, a Generator gives a random number."""
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


def priorities(A: Matrix, seed: int) -> Vector:
    """Return a Vector of distinct positive INT64 numbers in random order, one per vertex of A."""
    return Vector._of(perform("priorities", hashed_random.priorities, A._read(), seed))


def coins(A: Matrix, first: int) -> Vector:
    """Return a Vector with a random truth value (a coin toss) for each vertex of A.

    The truth value of vertex v is determined by the number `first` + v.
    """
    return Vector._of(perform("coins", hashed_random.coins, A._read(), first))


def edge_order(A: Matrix, is_weighted: bool, seed: int) -> Matrix:
    """Return R, where R(i, j), for i < j, is the position of edge {i, j} in an order of all edges.

    The edges are sorted by weight if `is_weighted` is set. Edges of equal weight, or all edges if
    weights are not used, are in random order. Self-loops have no position.
    """
    order = perform("edge_order", hashed_random.edge_order, A._read(), is_weighted, seed)
    return Matrix._of(order)
