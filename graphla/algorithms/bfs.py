"""Breadth-first search: the level of each vertex, and the vertex from which it was reached.

The loop in `definition` states the search as algebra. Each round multiplies the frontier by A under
a mask that hides the vertices already reached (see also `examples/bfs_as_algebra.py`):

    p⟨f⟩ = f;  l⟨f⟩ = depth;  f⟨¬p, r⟩ = f any.secondi A,  until f is empty

A backend runs all levels as one operation. Each level runs as a push or as a pull, whichever reads
fewer entries (Beamer, Asanović and Patterson, SC 2012).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import GraphLike, graph_algorithm
from graphla.expression import replace
from graphla.operations.accelerate import Search, accelerated
from graphla.sparse import Mask, Matrix, Vector
from graphla.sparse.mask import as_mask
from semirings import indexunary
from semirings.dtypes import INT32, UINT8, DataType, lookup_dtype
from semirings.exceptions import InvalidValue
from semirings.semiring import any_secondi

DTypeLike = str | type | np.dtype[Any] | DataType

Levels = TypeVar("Levels")
Parents = TypeVar("Parents")


class Traversal(NamedTuple, Generic[Levels, Parents]):
    """The result of `bfs`. Only reached vertices have entries.

    Attributes:
        levels: a Vector of dtype INT32 or UINT8 with the number of edges from the nearest source,
            or None if levels were not requested.
        parents: a Vector of dtype INT32 with the vertex from which each vertex was reached, or None
            if parents were not requested.
    """

    levels: Levels
    parents: Parents


@overload
def bfs(
    A: GraphLike,
    source: Any,
    *,
    levels: None,
    parents: Literal[False],
    cutoff: int | None = None,
    mask: Mask | Vector | None = None,
) -> Traversal[None, None]: ...


@overload
def bfs(
    A: GraphLike,
    source: Any,
    *,
    levels: None,
    parents: Literal[True, "least"] = True,
    cutoff: int | None = None,
    mask: Mask | Vector | None = None,
) -> Traversal[None, Vector]: ...


@overload
def bfs(
    A: GraphLike,
    source: Any,
    *,
    levels: DTypeLike = "INT32",
    parents: Literal[False],
    cutoff: int | None = None,
    mask: Mask | Vector | None = None,
) -> Traversal[Vector, None]: ...


@overload
def bfs(
    A: GraphLike,
    source: Any,
    *,
    levels: DTypeLike = "INT32",
    parents: Literal[True, "least"] = True,
    cutoff: int | None = None,
    mask: Mask | Vector | None = None,
) -> Traversal[Vector, Vector]: ...


@overload
def bfs(
    A: GraphLike,
    source: Any,
    *,
    levels: DTypeLike = "INT32",
    parents: bool | Literal["least"],
    cutoff: int | None = None,
    mask: Mask | Vector | None = None,
) -> Traversal[Any, Any]: ...


@graph_algorithm(vertices=("source",), gives=("parents",))
def bfs(
    A: Matrix,
    source: Any,
    *,
    levels: DTypeLike | None = "INT32",
    parents: bool | Literal["least"] = True,
    cutoff: int | None = None,
    mask: Mask | Vector | None = None,
) -> Traversal[Any, Any]:
    """``f⟨¬p, r⟩ = f any.secondi A``, until f is empty.

    Run a breadth-first search from one or several vertices, and return levels and parents.

    f is the frontier, p holds the parents found so far, and r stands for replace. The search takes
    O(n + m) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        source: one vertex; several vertices as a list, an array or a set; or a Vector with an entry
            at each source. A source has level 0 and is its own parent.
        levels: the dtype of the levels: "INT32", or "UINT8", which is faster but cannot hold a
            level above 254; None to omit the levels.
        parents: True for an arbitrary valid parent of each vertex, "least" for the smallest one,
            False for no parents.
        cutoff: the maximum level; vertices more than `cutoff` edges away are not reached. None
            means no limit.
        mask: a mask of size n, such as `~forbidden.S`, or a Vector of truth values. Apart from the
            sources, the search visits only vertices that the mask selects.

    Returns:
        Traversal: (levels, parents), two Vectors of size n with entries at the reached vertices.
            `levels` holds the number of edges from the nearest source, in the requested dtype.
            `parents`, of dtype INT32, holds the vertex from which each vertex was reached. A result
            that was not requested is None.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector or mask has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector or mask are not on the same device.
        InvalidValue: If `levels` or `parents` is not one of the values above, or `cutoff` is
            negative.
        OverflowError: If a level exceeds 254 and `levels` is "UINT8".

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import bfs
        >>> A = Matrix.from_coo([0, 0, 1, 2, 3], [1, 2, 3, 3, 0], 1, nrows=5, ncols=5)
        >>> levels, parents = bfs(A, 0)
        >>> levels.to_dict()
        {0: 0, 1: 1, 2: 1, 3: 2}
        >>> bfs(A, [1, 4], parents="least").parents.to_dict()
        {0: 3, 1: 1, 2: 0, 3: 1, 4: 4}

    References:
        S. Beamer, K. Asanović and D. Patterson, *Direction-Optimizing Breadth-First Search*, SC
            2012.
    """
    starts = validation.sources(source, A)
    cutoff = None if cutoff is None else validation.count("cutoff", cutoff, least=0)
    dtype = _dtype_of_levels(levels)
    if parents is not True and parents is not False and parents != "least":
        raise InvalidValue(f'parents must be True, "least" or False, not {parents!r}')
    which = None if parents is False else "least" if parents == "least" else "any"
    mask = None if mask is None else as_mask(mask)
    request = Search(A, starts, dtype, which, cutoff, mask)
    return Traversal(
        *accelerated(request, partial(definition, A, starts, mask=mask, cutoff=cutoff))
    )


def definition(
    A: Matrix, source: Any, *, mask: Any = None, cutoff: int | None = None
) -> tuple[Vector, Vector]:
    """Compute the levels and the parents by one masked matrix product per level, as LAGraph does.

    At the start of each round, `levels` and `parents` have entries at the vertices that are fewer
    than `depth` edges away from the source. The frontier has entries at the vertices that are
    exactly `depth` edges away. The value of an entry of the frontier is the parent of its vertex: a
    neighbor that is one edge nearer to the source. The parent of a source is the source itself.
    """
    n = A.nrows
    levels, parents, depth = Vector(int, n), Vector(int, n), 0
    frontier = indexunary.index(validation.starts(source, A, True, bool)).new()
    while frontier.nvals:
        # p⟨f⟩ = f
        parents(frontier.S) << frontier
        # l⟨f⟩ = depth
        levels(frontier.S) << depth
        if depth == cutoff:
            break
        # f⟨¬p ∧ m, r⟩ = f any.secondi A
        allowed = ~parents.S if mask is None else ~parents.S & mask
        frontier(allowed, replace) << any_secondi(frontier @ A)
        depth += 1
    return levels, parents


def _dtype_of_levels(levels: Any) -> DataType | None:
    """Return the dtype of the levels, or None for no levels; raise an error for other dtypes."""
    if levels is None:
        return None
    if isinstance(levels, str) and levels == "INT32":
        return INT32
    try:
        dtype = lookup_dtype(levels)
    except (TypeError, ValueError):
        dtype = None
    if dtype not in (INT32, UINT8):
        raise InvalidValue(f"levels must be INT32, UINT8 or None, not {dtype or repr(levels)}")
    return dtype
