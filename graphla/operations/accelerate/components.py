"""Requests to a backend for components, cores, spanning forests, triangles or trusses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from graphla.backends import backend
from graphla.operations.accelerate.request import full, lift
from graphla.operations.operation import perform
from graphla.stores import MatrixStore, VectorStore
from semirings.dtypes import INT64


@dataclass(frozen=True, slots=True)
class Components:
    """A request for the weak components.

    The result f(i) is the smallest vertex in the component of vertex i.
    """

    A: Any

    def run(self) -> Any:
        """Return the component of each vertex as a full Vector."""
        return lift(self.A, perform("components", _find_components, self.A._read()))


@dataclass(frozen=True, slots=True)
class StrongComponents:
    """A request for the strong components.

    The result f(i) is the smallest vertex in the component of vertex i.
    """

    A: Any

    def run(self) -> Any:
        """Return the component of each vertex as a full Vector."""
        return lift(self.A, perform("strong_components", _find_strong, self.A._read()))


@dataclass(frozen=True, slots=True)
class CoreNumbers:
    """A request for the core numbers.

    In a directed graph, the degree of a vertex counts both in-edges and out-edges.
    """

    A: Any
    is_directed: bool

    def run(self) -> Any:
        """Return the core number of each vertex as a full Vector."""
        return lift(self.A, perform("cores", _find_cores, self.A._read(), self.is_directed))


@dataclass(frozen=True, slots=True)
class SpanningForest:
    """A request for a minimum or maximum spanning forest of an undirected graph.

    U is the upper triangle of the adjacency matrix.
    """

    U: Any
    is_maximum: bool

    def run(self) -> Any:
        """Return the edges of the forest as an upper triangular Matrix."""
        return lift(self.U, perform("least_forest", _find_forest, self.U._read(), self.is_maximum))


@dataclass(frozen=True, slots=True)
class TriangleCount:
    """A request for the number of triangles of an undirected graph."""

    A: Any

    def run(self) -> int | None:
        """Return the number of triangles."""
        return perform("triangle_count", _count_triangles, self.A._read())


@dataclass(frozen=True, slots=True)
class Truss:
    """A request for the k-truss of an undirected graph without self-loops."""

    A: Any
    k: int

    def run(self) -> Any:
        """Return the entries of A that are in the k-truss."""
        return lift(self.A, perform("k_truss", _find_truss, self.A._read(), self.k))


@dataclass(frozen=True, slots=True)
class TrussNumbers:
    """A request for the truss number of each edge of an undirected graph without self-loops."""

    A: Any

    def run(self) -> Any:
        """Return a Matrix with the pattern of A that holds the truss numbers."""
        return lift(self.A, perform("truss_numbers", _find_trusses, self.A._read()))


def _find_components(a: MatrixStore) -> VectorStore | None:
    a.find_symmetry()
    out, into = a.patterns() if a.has_csr else a.T.patterns()
    return full(a.device, INT64, backend(a.device).components(out, into))


def _find_strong(a: MatrixStore) -> VectorStore | None:
    do = backend(a.device)
    if a.is_symmetric:  # a symmetric matrix has equal strong and weak components
        return full(a.device, INT64, do.components(a.csr, a.csr))
    return full(a.device, INT64, do.strong_components(a.csr, lambda: a.csc))


def _find_cores(a: MatrixStore, is_directed: bool) -> VectorStore | None:
    numbers = backend(a.device).cores(a.csr, a.csc if is_directed else None)
    return full(a.device, INT64, numbers)


def _find_forest(u: MatrixStore, is_maximum: bool) -> MatrixStore | None:
    do = backend(u.device)
    flags = do.forest(u.csr, is_maximum)
    return None if flags is None else MatrixStore(u.device, u.dtype, do.keep(u.csr, flags))


def _count_triangles(a: MatrixStore) -> int | None:
    return backend(a.device).count_triangles(a.csr)


def _find_truss(a: MatrixStore, k: int) -> MatrixStore | None:
    do = backend(a.device)
    found = do.trusses(a.csr, k)
    return None if found is None else MatrixStore(a.device, a.dtype, do.keep(a.csr, found >= k))


def _find_trusses(a: MatrixStore) -> MatrixStore | None:
    found = backend(a.device).trusses(a.csr, None)
    if found is None:
        return None
    return MatrixStore(a.device, INT64, replace(a.csr, values=found.astype(INT64.np_type)))
