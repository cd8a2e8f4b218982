"""Vertex degrees: sums over the in-edges, the out-edges or both, with or without weights."""

from __future__ import annotations

from typing import Any

from graphla.algorithms._shared import common_neighbors
from graphla.graph.cached_properties import is_symmetric
from graphla.sparse import Matrix
from semirings import binary, monoid
from semirings.exceptions import InvalidValue

DIRECTIONS = ("in", "out", "in+out")


def check_direction(name: str, direction: str, allowed: tuple[str, ...] = DIRECTIONS) -> None:
    """Raise an error unless `direction` is one of the allowed names."""
    if not isinstance(direction, str) or direction not in allowed:
        raise InvalidValue(f"{name} is {direction!r}, but must be {' or '.join(allowed)}")


def is_directed(A: Matrix, directed: bool | None) -> bool:
    """Return whether the graph is directed. None means: directed unless A is symmetric."""
    return not is_symmetric(A) if directed is None else bool(directed)


def weights_of(A: Matrix, weight: bool) -> Matrix:
    """Return the matrix of edge weights: the values of A in FP64 or INT64, or ones.

    Integers and booleans become INT64, so that sums of integers are exact.
    """
    if not weight:
        return common_neighbors.pattern(A, 1)
    return A.dup("FP64" if A.dtype.name.startswith("FP") else "INT64")


def sum_ends(W: Matrix, direction: str, directed: bool) -> Any:
    """Return each vertex's total edge weight, as an array on the device of W.

    In an undirected graph, a self-loop counts twice, and `direction` has no effect.
    """
    if not directed:
        total = binary.plus(W.reduce_rowwise(monoid.plus).new() | W.diag()).new()
    elif direction == "in+out":
        into = W.reduce_columnwise(monoid.plus).new()
        total = binary.plus(W.reduce_rowwise(monoid.plus).new() | into).new()
    elif direction == "out":
        total = W.reduce_rowwise(monoid.plus).new()
    else:
        total = W.reduce_columnwise(monoid.plus).new()
    return total.to_dense(0, copy=False)
