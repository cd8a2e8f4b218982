"""What is found out about an adjacency matrix once, and kept beside its forms.

So it is there for whoever asks the same Matrix again, in an algorithm or through a Graph.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphla import memory
from graphla.backends import backend
from graphla.formats import is_iso
from graphla.operations.operation import perform
from graphla.settings import config
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixForms
from semirings import binary, unary

_BYTES_PER_ROW = 16
"""Bytes per row that find_symmetry takes on the CPU for a matrix with fewer entries than rows."""


def is_symmetric(A: Matrix) -> bool:
    """Whether each edge i -> j has its j -> i, whatever their weights."""
    if A.device == "cpu" and A.nvals < A.nrows and not A._forms.is_symmetric:
        what = f"the comparison of {A.nrows:,} rows with the columns"
        memory.require(_BYTES_PER_ROW * A.nrows, what)
    return perform("symmetric", MatrixForms.find_symmetry, A._forms)


def degrees(A: Matrix) -> Vector:
    """d(i) = the number of entries in row i, INT64, for every vertex."""
    return Vector._of(A._forms.fact("degrees", lambda: _degrees(A)))


def loops(A: Matrix) -> Vector:
    """l(i) = 1, INT64, for every vertex with an edge i -> i."""
    return Vector._of(A._forms.fact("loops", lambda: unary.one["INT64"](A.diag()).new()._forms))


def self_loops(A: Matrix) -> int:
    """The number of edges i -> i."""
    return loops(A).nvals


def both_ways(A: Matrix) -> Matrix:
    """A min Aᵀ, over the edges of either: held as its own transpose, and equal values once."""
    given = A._forms
    with config.set(device=A.device):
        forms = binary.min(A | A.T).new()._forms
        both, values = forms.csr, (given.csr if given.has_csr else given.csc).values
        if is_iso(values):
            both = replace(both, values=backend(A.device).xp.broadcast_to(values[:1], both.nvals))
        mirrored = MatrixForms(A.device, forms.dtype, both, both)
        mirrored.owe_to(forms.stamps)
        return Matrix._of(mirrored)


def _degrees(A: Matrix) -> Any:
    with config.set(device=A.device):
        return Vector.from_dense(np.diff(A.to_csr(copy=False)[0]), dtype="INT64")._forms
