"""Greedy coloring: a number for each vertex, such that neighbors have different numbers.

The vertices are ordered, and each vertex takes the smallest color that none of its earlier
neighbors has (M. T. Jones and P. E. Plassmann, 1993). A vertex takes its color as soon as all its
earlier neighbors have colors, and many vertices are colored at once. The result equals that of the
sequential greedy loop over the same order.

Invariants of `definition`, at the start of each round:
- waiting has an entry for each vertex without a color. The value of the entry determines the
  position of the vertex in the order: vertices with larger values come first;
- for a vertex v of color c, words(v) is c div 64, and in bits(v) only bit c mod 64 is set.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from graphla.algorithms._shared import hashed_random
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import random_order
from graphla.graph.cached_properties import degrees
from graphla.operations.accelerate import GreedyColoring, accelerated
from graphla.sparse import Matrix, Vector
from semirings import binary, unary
from semirings.exceptions import InvalidValue
from semirings.semiring import bor_second, max_second

STRATEGIES = ("largest_first", "random_sequential")


@graph_algorithm(undirected=True)
def greedy_color(
    A: Matrix, strategy: str = "largest_first", *, seed: int | np.random.Generator | None = None
) -> Vector:
    """``c(i)`` is the smallest color that no neighbor j before i has.

    Color the vertices such that no edge joins two vertices of the same color.

    Self-loops are ignored. Takes O(n + m) time. The strategies of NetworkX that choose the vertices
    one by one are not available.

    Args:
        A: the undirected graph, with n vertices and m edges: a `Graph`, or a symmetric Matrix or
            Matrix expression with the entries A(i, j) and A(j, i) for each edge. If A is a Graph,
            arguments and results refer to vertices by their labels. The values of A are ignored.
        strategy: the order of the vertices: "largest_first" sorts them by descending degree, with
            equal degrees in random order; "random_sequential" uses a random order.
        seed: determines the random order: None (the same as 0), a non-negative integer, or a
            `numpy.random.Generator`. The same seed always gives the same result.

    Returns:
        Vector: the colors 0, 1, ..., a full Vector of size n and dtype INT64.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A is a directed Graph or is not symmetric, if `strategy` is not one of the
            names above, or if `seed` is negative.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import greedy_color
        >>> star = Matrix.from_coo([0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0], True)
        >>> greedy_color(star).to_dense().tolist()
        [0, 1, 1, 1]

    References:
        M. T. Jones and P. E. Plassmann, *A Parallel Graph Coloring Heuristic*, 1993.
    """
    if strategy not in STRATEGIES:
        raise InvalidValue(f"strategy is {strategy!r}, but must be {' or '.join(STRATEGIES)}")
    return color_in_order(A, order_vertices(A, strategy, hashed_random.seed_number(seed)))


def color_in_order(A: Matrix, numbers: Vector) -> Vector:
    """Color the vertices one after another, in descending order of their distinct numbers."""
    return accelerated(GreedyColoring(A, numbers), partial(definition, A, numbers))


def order_vertices(A: Matrix, strategy: str, seed: int) -> Vector:
    """Number the vertices with distinct INT64 numbers; vertices with larger numbers come first."""
    if strategy != "largest_first":
        return hashed_random.priorities(A, seed)
    # The lower 32 bits hold the position in the random order. The 31 bits above hold the degree.
    by_degree = binary.times(degrees(A), 1 << 32).new()
    return binary.plus(by_degree & random_order(A, seed)).new()


def definition(A: Matrix, numbers: Vector) -> Vector:
    """Compute the colors in rounds of masked matrix products."""
    n = A.nrows
    waiting, words, bits = numbers.dup(), Vector(int, n), Vector("UINT64", n)
    while waiting.nvals:
        # ready = w⟨w ≥ A max.second w⟩, where w contains the numbers of the vertices that have no
        # color. A vertex is ready if its number exceeds those of all neighbors without a color.
        greatest = max_second(A @ waiting).new(mask=waiting.S)
        held = binary.gt(greatest & waiting).new()
        ready = waiting.dup(mask=~held.V)
        waiting(held.V, replace=True) << waiting
        word = 0
        while ready.nvals:
            # used⟨ready⟩ = A bor.second b⟨words = word⟩: bit k of used(v) is set if a neighbor of v
            # has the color 64·word + k
            is_here = binary.eq(words, word).new()
            here = bits.dup(mask=is_here.V)
            used = Vector("UINT64", n)
            used(ready.S) << 0
            used(ready.S, binary.bor) << bor_second(A @ here)
            # least = ~used & (used + 1): the lowest bit that is not set
            free = unary.bnot(used).new()
            least = binary.band(free & binary.plus(used, 1).new()).new()
            some = least.select("!=", 0).new()
            bits(some.S) << some
            words(some.S) << word
            ready(~some.S, replace=True) << ready
            word += 1
    # c = 64·words + log₂ bits. The logarithm is rounded, because a GPU computes a value slightly
    # below 3 for log₂ 8.
    colors = unary.round(unary.log2["FP64"](bits).new()).new("INT64")
    colors(binary.plus) << binary.times(words, 64)
    return colors
