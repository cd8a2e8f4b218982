"""Degree centrality: to what part of the other vertices a vertex has an edge (L. Freeman, 1978)."""

from __future__ import annotations

from graphla.algorithms import arguments, iterations
from graphla.sparse import Matrix, Vector
from semirings import binary, select
from semirings.semiring import any_second, plus_pair


@arguments.of_graph()
def degree(A: Matrix, *, directed: bool | None = None) -> Vector:
    """c(v) = deg(v) / (n - 1): edges in and out; of an undirected graph, which A is if symmetric,
    each edge once, but a self-loop twice.

    As in NetworkX, the one vertex of a graph has 1. `directed` says what A is, where it would pass
    for undirected and is not meant to.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import degree
    >>> A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    >>> degree(A).to_dict()
    {0: 0.5, 1: 1.0, 2: 0.5}
    """
    ends = _out(A)
    if not arguments.is_symmetric(A) if directed is None else directed:
        # deg = A plus.pair 1 + 1 plus.pair A
        ends(binary.plus) << _in(A)
    else:
        loops = select.diag(A).new()
        ones = iterations.full(1.0, A.nrows)
        ends(binary.plus) << any_second["FP64"](loops @ ones)
    return _share(ends)


@arguments.of_graph()
def in_degree(A: Matrix) -> Vector:
    """c(v) = Σ 1 / (n - 1) over the edges into v.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import in_degree
    >>> in_degree(Matrix.from_coo([0, 1], [2, 2], 1, nrows=3, ncols=3)).to_dict()
    {0: 0.0, 1: 0.0, 2: 1.0}
    """
    return _share(_in(A))


@arguments.of_graph()
def out_degree(A: Matrix) -> Vector:
    """c(v) = Σ 1 / (n - 1) over the edges out of v.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import out_degree
    >>> out_degree(Matrix.from_coo([0, 1], [2, 2], 1, nrows=3, ncols=3)).to_dict()
    {0: 0.5, 1: 0.5, 2: 0.0}
    """
    return _share(_out(A))


def _out(A: Matrix) -> Vector:
    """A plus.pair 1, and 0 where there is no edge."""
    ends = iterations.full(0.0, A.nrows)
    ends(binary.plus) << plus_pair["FP64"](A @ iterations.full(1.0, A.nrows))
    return ends


def _in(A: Matrix) -> Vector:
    """1 plus.pair A, and 0 where there is no edge."""
    ends = iterations.full(0.0, A.nrows)
    ends(binary.plus) << plus_pair["FP64"](iterations.full(1.0, A.nrows) @ A)
    return ends


def _share(ends: Vector) -> Vector:
    if ends.size < 2:
        return iterations.full(1.0, ends.size)
    return ends.apply(binary.truediv, right=ends.size - 1).new()
