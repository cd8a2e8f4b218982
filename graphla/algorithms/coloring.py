"""Greedy colouring: a number for each vertex, so that no edge joins two of one colour.

M. T. Jones and P. E. Plassmann, *A Parallel Graph Coloring Heuristic*, 1993: each vertex takes the
least colour that none of its neighbours before it has, "before" in an order of all vertices. So the
colours are those of the greedy loop over that order, but whoever has no neighbour before it that
still waits may take its colour now.

Invariants of `definition`, at the head of each round:
- waiting has the vertices without a colour, each with its number; the greater comes before;
- a vertex of colour c has bit c mod 64 of bits[c div 64], and no entry in the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms import arguments, chance
from graphla.backends import backend
from graphla.formats import Array
from graphla.operations.operation import perform
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixForms
from semirings import binary, unary
from semirings.exceptions import InvalidValue
from semirings.semiring import bor_second, max_second

STRATEGIES = ("largest_first", "random_sequential")


@arguments.of_graph(undirected=True)
def greedy_color(A: Matrix, strategy: str = "largest_first", *, seed: Any = None) -> Vector:
    """c(i) = the least colour that no neighbour j before i has: a colour 0, 1, ... per vertex.

    An edge is an entry of A, whatever its value; A must be symmetric, and self-loops do not count.
    The order of the vertices is by falling degree ("largest_first"), equal ones left to chance, or
    left to chance altogether ("random_sequential"); by `seed`, of which None is 0. NetworkX's other
    strategies order vertices one by one, and are not offered.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import greedy_color
    >>> star = Matrix.from_coo([0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0], True)
    >>> greedy_color(star).to_dense().tolist()
    [0, 1, 1, 1]
    """
    if strategy not in STRATEGIES:
        raise InvalidValue(f"strategy is {strategy!r}, but must be {' or '.join(STRATEGIES)}")
    drawn = chance.seeded(seed)
    numbers = perform("order", _numbers, A._forms, strategy == "largest_first", drawn)
    colours = perform("colour", _coloured, A._forms, numbers)
    if colours is None:
        return definition(A, Vector.from_dense(numbers, copy=False))
    return Vector.from_dense(colours, dtype="INT64", copy=False)


def definition(A: Matrix, numbers: Vector) -> Vector:
    """The same by masked products, round by round."""
    n = A.nrows
    waiting, bits = numbers.dup(), [Vector("UINT64", n)]
    while waiting.nvals:
        # ready = w⟨w ≥ A max.second w⟩: whoever has no neighbour before it that waits
        greatest = max_second(A @ waiting).new(mask=waiting.S)
        held = binary.gt(greatest & waiting).new()
        ready = waiting.dup(mask=~held.V)
        waiting(held.V, replace=True) << waiting
        word = 0
        while ready.nvals:
            if word == len(bits):
                bits.append(Vector("UINT64", n))
            # used⟨ready⟩ = A bor.second b: of 64 colours, those that neighbours have
            used = Vector("UINT64", n)
            used(ready.S) << np.uint64(0)
            used(ready.S, binary.bor) << bor_second(A @ bits[word])
            # least = ~used & (used + 1): the lowest bit that is not set
            free = unary.bnot(used).new()
            least = binary.band(free & binary.plus(used, np.uint64(1)).new()).new()
            some = least.select("!=", np.uint64(0))
            bits[word](some.S) << some
            ready(~some.S, replace=True) << ready
            word += 1
    colours = Vector(int, n)
    for word, set_ in enumerate(bits):
        # c⟨b⟩ = 64·word + log₂ b, to the nearest: on a card log₂ 8 is somewhat less than 3
        place = unary.round(unary.log2["FP64"](set_).new()).new()
        colours(set_.S) << binary.plus(place, 64 * word)
    return colours


def _numbers(a: MatrixForms, by_degree: bool, seed: int) -> Array:
    """Of two vertices the one with the greater number comes before; int64, no two alike."""
    xp, n = backend(a.device).xp, a.nrows
    numbers = chance.ranks(xp, n, seed)
    if by_degree:
        # 31 bits of the degree, then 32 of the place that chance gives
        order = xp.argsort(numbers)
        places = xp.empty(n, xp.int64)
        places[order] = xp.arange(n, dtype=xp.int64)
        numbers = (xp.diff(a.csr.indptr).astype(xp.int64) << 32) + places
    return numbers


def _coloured(a: MatrixForms, numbers: Array) -> Array | None:
    return backend(a.device).color(a.csr, numbers)
