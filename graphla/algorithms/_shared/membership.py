"""Convert vertex labels to a matrix, look up values by label, and renumber labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.operations import hashed_random, indexing, ordering
from graphla.operations.operation import perform
from graphla.sparse import Matrix, Vector
from semirings import indexunary


def selection(labels: Vector, ncols: int | None = None) -> Matrix:
    """Return S with S(i, labels(i)) = true.

    For a vector u, the product uS adds up, for each label c, the values u(i) with labels(i) = c.
    For a vector v, the product Sv looks up v(labels(i)) for each i. `labels` is a full Vector of
    integers from 0 to `ncols` - 1. By default `ncols` is the size of `labels`.
    """
    ncols = labels.size if ncols is None else ncols
    return Matrix._of(perform("selection", indexing.selection, labels._read(), ncols))


def vertex_numbers(A: Matrix) -> Vector:
    """Return the INT64 vector v(i) = i with one element per vertex of A."""
    if A.device == "cpu":
        return Vector.from_dense(np.arange(A.nrows), copy=False)
    return indexunary.rowindex(Vector.from_scalar(True, A.nrows)).new()


def lookup(labels: Vector, values: Vector) -> Vector:
    """Return w(i) = v(labels(i)), where both vectors are full."""
    return Vector._of(perform("lookup", indexing.lookup, labels._read(), values._read()))


def rank_entries(x: Any) -> Any:
    """Return the position of each entry in ascending order of value; equal values keep their order.

    `x` is a full Vector or a Matrix. The result has the same pattern as `x` and the dtype INT64.
    """
    return x._of(perform("rank", ordering.rank_entries, x._read()))


def random_order(A: Matrix, seed: int) -> Vector:
    """Return an INT64 Vector with the position of each vertex of A in a random order."""
    return Vector._of(perform("order", hashed_random.random_order, A._read(), seed))


def number_values(x: Any) -> tuple[Any, int]:
    """Return the rank of each value among the distinct values of x, and their number.

    `x` is a full Vector or a Matrix. The ranks start at 0, for the smallest value. They have the
    same pattern as `x` and the dtype INT64.
    """
    numbers, count = perform("number", ordering.number_values, x._read())
    return x._of(numbers), count


def renumber(labels: Vector) -> tuple[Vector, int]:
    """Replace the distinct labels by 0, 1, ... in ascending order; also return how many there are.

    `labels` is a full Vector. Its values are integers from 0 to its size - 1.
    """
    numbers, count = perform("number", indexing.renumber, labels._read())
    return Vector._of(numbers), count
