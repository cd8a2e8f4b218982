"""Properties of an adjacency matrix that are computed once and cached with it.

All algorithms and Graphs that use the same Matrix share the cached values.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from graphla import memory
from graphla.backends import backend
from graphla.formats import is_iso
from graphla.operations.operation import perform
from graphla.settings import config
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixStore
from semirings import binary, unary

_BYTES_PER_ROW = 16
"""Number of bytes per row that `find_symmetry` needs on the CPU for a matrix that has fewer entries
than rows.
"""


def is_symmetric(A: Matrix) -> bool:
    """Return whether each edge i -> j has an opposite edge j -> i, with any weight."""
    if A.device == "cpu" and A.nvals < A.nrows and not A._store.is_symmetric:
        what = f"the comparison of {A.nrows:,} rows with the columns"
        memory.require(_BYTES_PER_ROW * A.nrows, what)
    return perform("symmetric", MatrixStore.find_symmetry, A._store)


def has_symmetric_values(A: Matrix) -> bool:
    """Return whether A is already known to equal its transpose, including the values."""
    return A._store.is_symmetric


def extent(A: Matrix) -> tuple[Any, Any]:
    """Return the smallest and the largest weight of A. A must have at least one edge."""
    return perform("extent", MatrixStore.extent, A._store, A.dtype)


def values_differ(A: Matrix) -> bool:
    """Return whether the weights of A may differ.

    The result is False only if A stores all weights as a single value that is finite and above 0.
    """
    if not is_iso(_values(A._store)):
        return True
    return not 0 < float(perform("weights", _first_value, A._store)) < math.inf


def are_multiples(A: Matrix, unit: float) -> bool:
    """Return whether each weight of A is a multiple of `unit`.

    The result is cached per matrix, so `unit` must always be computed from A in the same way.
    """
    return A._store.fact("multiples", lambda: perform("multiples", _are_multiples, A._store, unit))


def degrees(A: Matrix) -> Vector:
    """Return the number of entries in each row as a full INT64 vector."""
    return Vector._of(A._store.fact("degrees", lambda: _degrees(A)))


def loops(A: Matrix) -> Vector:
    """Return an INT64 vector that is 1 at every vertex with a self-loop."""
    return Vector._of(A._store.fact("loops", lambda: unary.one["INT64"](A.diag()).new()._store))


def self_loops(A: Matrix) -> int:
    """Return the number of self-loops."""
    return loops(A).nvals


def both_ways(A: Matrix) -> Matrix:
    """Return the symmetric matrix B with an entry wherever A or its transpose has one.

    B(i, j) is the smaller of A(i, j) and A(j, i). If only one of them exists, B(i, j) is that
    entry.
    """
    given = A._store
    with config.set(device=A.device):
        forms = binary.min(A | A.T).new()._store
        both, values = forms.csr, _values(given)
        if is_iso(values):
            both = replace(both, values=np.broadcast_to(values[:1], both.nvals))
        mirrored = MatrixStore(A.device, forms.dtype, both, both)
        mirrored.owe_to(forms.stamps)
        return Matrix._of(mirrored)


def _are_multiples(forms: MatrixStore, unit: float) -> bool:
    values = _values(forms)
    values = values[:1] if is_iso(values) else values
    return bool((values.astype(np.float64) % unit == 0).all())


def _first_value(forms: MatrixStore) -> Any:
    return backend(forms.device).to_host(_values(forms)[:1])[0]


def _values(forms: MatrixStore) -> Any:
    return (forms.csr if forms.has_csr else forms.csc).values


def _degrees(A: Matrix) -> Any:
    with config.set(device=A.device):
        return Vector.from_dense(np.diff(A.to_csr(copy=False)[0]), dtype="INT64")._store
