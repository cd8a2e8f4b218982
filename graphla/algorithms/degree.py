"""Degree centrality: to what part of the other vertices a vertex has an edge (L. Freeman, 1978)."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms import arguments, iterations
from graphla.backends import backend
from graphla.formats import FullVector
from graphla.operations.operation import perform
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixForms, VectorForms
from semirings import binary, unary
from semirings.dtypes import FP64


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
    ends = edges_out(A)
    if not arguments.is_symmetric(A) if directed is None else directed:
        # deg = A plus.pair 1 + 1 plus.pair A
        ends(binary.plus) << edges_in(A)
    else:
        # deg = A plus.pair 1 + 1 where there is a loop
        ends(binary.plus) << A.diag().apply(unary.one).new(FP64)
    return _share(ends)


@arguments.of_graph()
def in_degree(A: Matrix) -> Vector:
    """c(v) = Σ 1 / (n - 1) over the edges into v.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import in_degree
    >>> in_degree(Matrix.from_coo([0, 1], [2, 2], 1, nrows=3, ncols=3)).to_dict()
    {0: 0.0, 1: 0.0, 2: 1.0}
    """
    return _share(edges_in(A))


@arguments.of_graph()
def out_degree(A: Matrix) -> Vector:
    """c(v) = Σ 1 / (n - 1) over the edges out of v.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import out_degree
    >>> out_degree(Matrix.from_coo([0, 1], [2, 2], 1, nrows=3, ncols=3)).to_dict()
    {0: 0.5, 1: 0.5, 2: 0.0}
    """
    return _share(edges_out(A))


def edges_out(A: Matrix) -> Vector:
    """deg = A plus.pair 1: how long rows are."""
    return Vector._of(perform("degree", _lengths, A._read(), False))


def edges_in(A: Matrix) -> Vector:
    """deg = 1 plus.pair A: how long columns are."""
    return Vector._of(perform("degree", _lengths, A._read(), True))


def _lengths(a: MatrixForms, by_columns: bool) -> Any:
    do = backend(a.device)
    if by_columns and not a.has_csc:
        counts = do.xp.bincount(a.csr.indices, minlength=a.ncols)
    else:
        counts = do.xp.diff((a.csc if by_columns else a.csr).indptr)
    return VectorForms(a.device, FP64, FullVector(a.nrows, counts.astype(np.float64)))


def _share(ends: Vector) -> Vector:
    if ends.size < 2:
        return iterations.full(1.0, ends.size)
    return ends.apply(binary.truediv, right=ends.size - 1).new()
