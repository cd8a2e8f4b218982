"""What a backend finds of the parts of a graph: components, cores, forests.

None where the backend knows nothing better than the algebra.
"""

from __future__ import annotations

from typing import Any

from graphla.backends import backend
from graphla.formats import Array, FullVector
from graphla.operations.operation import perform
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixForms, VectorForms
from semirings.dtypes import INT64


def components(A: Matrix) -> Vector | None:
    """The least vertex of each one's weak component."""

    def found(a: MatrixForms) -> VectorForms | None:
        a.find_symmetry()
        out, into = a.patterns() if a.has_csr else a.T.patterns()
        return _labels(a, backend(a.device).components(out, into))

    return _vector(perform("components", found, A._read()))


def strong_components(A: Matrix) -> Vector | None:
    """The least vertex of each one's strong component."""

    def found(a: MatrixForms) -> VectorForms | None:
        do = backend(a.device)
        if a.is_symmetric:  # each path has its reverse
            return _labels(a, do.components(a.csr, a.csr))
        return _labels(a, do.strong_components(a.csr, lambda: a.csc))

    return _vector(perform("strong_components", found, A._read()))


def cores(A: Matrix, directed: bool) -> Vector | None:
    """The core number of each vertex."""

    def found(a: MatrixForms) -> VectorForms | None:
        return _labels(a, backend(a.device).cores(a.csr, a.csc if directed else None))

    return _vector(perform("cores", found, A._read()))


def least_forest(U: Matrix, greatest: bool) -> Matrix | None:
    """The entries of an upper triangle that are edges of a spanning forest."""

    def found(u: MatrixForms) -> MatrixForms | None:
        do = backend(u.device)
        flags = do.forest(u.csr, greatest)
        return None if flags is None else MatrixForms(u.device, u.dtype, do.keep(u.csr, flags))

    forms = perform("least_forest", found, U._read())
    return None if forms is None else Matrix._of(forms)


def _labels(a: MatrixForms, labels: Array | None) -> VectorForms | None:
    if labels is None:
        return None
    return VectorForms(a.device, INT64, FullVector(a.nrows, labels))


def _vector(forms: Any) -> Vector | None:
    return None if forms is None else Vector._of(forms)
