"""What an algorithm asks of its arguments, each refused in one sentence where it does not hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import numpy as np

from graphla.forms import MatrixForms, VectorForms
from graphla.operations.operation import perform, refuse_mixed
from graphla.settings import config
from graphla.sparse import Matrix, MatrixExpression, Vector, VectorExpression
from semirings import select, unary
from semirings.dtypes import DataType, lookup_dtype
from semirings.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue

P = ParamSpec("P")
T = TypeVar("T")


def beside_its_graph(algorithm: Callable[P, T]) -> Callable[P, T]:
    """The algorithm, with its vectors on the device of its first argument."""

    @wraps(algorithm)
    def run(*args: P.args, **options: P.kwargs) -> T:
        device = getattr(args[0] if args else options.get("A"), "device", None)
        if device is None or device == config.device:
            return algorithm(*args, **options)
        with config.set(device=device):
            return algorithm(*args, **options)

    return run


def of_graph(
    *,
    vertices: tuple[str, ...] = (),
    keyed: tuple[str, ...] = (),
    gives: tuple[str, ...] = (),
    undirected: bool = False,
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """An algorithm whose first argument A is a graph: a square Matrix, what computes one, or a
    Graph; the algorithm itself gets a Matrix, and the device of A as that of its vectors.
    """

    def decorate(algorithm: Callable[P, T]) -> Callable[P, T]:
        @wraps(algorithm)
        def run(*args: P.args, **options: P.kwargs) -> T:
            given = args[0] if args else options.pop("A")
            A = adjacency(given)
            if undirected:
                symmetric(A)
            with config.set(device=A.device):
                return algorithm(A, *args[1:], **options)  # pyright: ignore[reportCallIssue]

        return run

    return decorate


def adjacency(A: Any) -> Matrix:
    """A, or what it computes, as the adjacency matrix of a graph, which is square."""
    if not isinstance(A, Matrix):
        if not isinstance(A, MatrixExpression):
            raise TypeError(f"A must be a graphla.Matrix, not a {type(A).__name__}")
        A = A.new()
    nrows, ncols = A.shape
    if nrows != ncols:
        raise DimensionMismatch(
            f"A has {nrows} rows and {ncols} columns, but an adjacency matrix is square"
        )
    return A


def vertex(source: Any, n: int) -> int:
    """`source` as one of the vertices 0..n-1."""
    if isinstance(source, bool) or not isinstance(source, Integral):
        raise TypeError(f"source must be an integer, not {source!r} ({type(source).__name__})")
    if n == 0:
        raise IndexOutOfBound(f"source is {source}, but the graph has no vertex")
    if not 0 <= int(source) < n:
        raise IndexOutOfBound(f"source is {source}, but the vertices are 0 to {n - 1}")
    return int(source)


def vertices(name: str, given: Any, n: int) -> np.ndarray:
    """`given` as a list of the vertices 0..n-1, int64; all of them for None."""
    if given is None:
        return np.arange(n)
    listed = np.asarray(given)
    if listed.ndim != 1 or (listed.size and listed.dtype.kind not in "iu"):
        raise TypeError(f"{name} must be a list of integers, not {given!r}")
    wrong = listed[(listed < 0) | (listed >= n)]
    if wrong.size:
        which = f"the vertices are 0 to {n - 1}" if n else "the graph has no vertex"
        raise IndexOutOfBound(f"{name} has {wrong[0]}, but {which}")
    return listed.astype(np.int64)


def one_of(name: str, value: Any, names: tuple[str, ...]) -> DataType:
    """`value` as one of a few dtypes."""
    dtype = lookup_dtype(value)
    if dtype.name not in names:
        raise InvalidValue(f"{name} is {dtype.name}, but must be {' or '.join(names)}")
    return dtype


def sources(source: Any, A: Matrix) -> tuple[Any, tuple[VectorForms, ...]]:
    """`source`, one vertex or several, as distinct int32, and the operands that these belong to.

    An array of NumPy's, or, of a Vector with an entry at each, of the device.
    """
    if type(source) is int:
        return np.array((vertex(source, A.nrows),), np.int32), ()
    if isinstance(source, VectorExpression):
        source = source.new()
    if isinstance(source, Vector):
        if source.size != A.nrows:
            raise DimensionMismatch(f"source has size {source.size}, but A has {A.nrows} vertices")
        if source.device != A.device:
            refuse_mixed(A.device, source.device, "A and source")
        listed = perform("sources", VectorForms.sparse, source._forms, False)
        return listed.indices, (source._forms,)
    if isinstance(source, (list, tuple, range, np.ndarray)) and np.ndim(source):
        return np.unique(vertices("source", source, A.nrows)).astype(np.int32), ()
    return np.array([vertex(source, A.nrows)], np.int32), ()


def starts(source: Any, A: Matrix, value: Any, dtype: Any) -> Vector:
    """x(s) = value, at each of the vertices that `source` says, beside A."""
    with config.set(device=A.device):
        if isinstance(source, (Vector, VectorExpression)):
            sources(source, A)
            x = Vector(dtype, A.nrows)
            x(source.S) << value
            return x
        return Vector.from_coo(sources(source, A)[0], value, dtype, size=A.nrows)


def count(name: str, value: Any, least: int) -> int:
    """`value` as an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, not {value!r} ({type(value).__name__})")
    if value < least:
        raise InvalidValue(f"{name} is {value}, but must be at least {least}")
    return int(value)


def real(name: str, value: Any, low: float, high: float = math.inf) -> float:
    """`value` as a number with low <= value <= high."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, not {value!r} ({type(value).__name__})")
    if not low <= float(value) <= high:
        raise InvalidValue(f"{name} is {value}, but must lie between {low:g} and {high:g}")
    return float(value)


def nonnegative(A: Matrix) -> None:
    """Refuse an edge whose weight is below zero, or not a number."""
    if A.dtype.name.startswith("U") or A.dtype == "BOOL" or not A.nvals:
        return
    if _extent(A)[0] >= 0:  # not where it is NaN
        return
    wrong = select.valuelt(A, 0).new()
    if not wrong.nvals and is_floating(A):
        wrong = select.valueeq(A.apply(unary.isnan), True).new()
    if wrong.nvals:
        i, j = _first_entry(wrong)
        raise InvalidValue(
            f"A has weight {A[i, j].value} on edge {i} -> {j}, but must have none below 0"
        )


def at_most(A: Matrix, most: int) -> None:
    """Refuse an edge of greater weight."""
    if not A.nvals or _extent(A)[1] <= most:
        return
    wrong = select.valuegt(A, most).new()
    if wrong.nvals:
        i, j = _first_entry(wrong)
        raise InvalidValue(
            f"A has weight {A[i, j].value} on edge {i} -> {j}, but at most {most} fits"
        )


def within_unit(A: Matrix) -> None:
    """Refuse an edge whose weight is not a probability."""
    nonnegative(A)
    at_most(A, 1)


def symmetric(A: Matrix) -> None:
    """Refuse an edge i -> j without its j -> i."""
    one_way = A.dup(mask=~A.T.new().S)
    if one_way.nvals:
        i, j = _first_entry(one_way)
        raise InvalidValue(
            f"A has an edge {i} -> {j} but none {j} -> {i}, and must be symmetric: "
            f"binary.any(A | A.T) forgets the directions"
        )


def is_floating(A: Matrix) -> bool:
    """Whether the weights of A are floating-point numbers."""
    return A.dtype.name.startswith("FP")


def _extent(A: Matrix) -> tuple[Any, Any]:
    """The least and the greatest weight, of which there is one."""
    return perform("extent", MatrixForms.extent, A._forms, A.dtype)


def _first_entry(A: Matrix) -> tuple[int, int]:
    rows, columns, _ = A.to_coo(values=False)
    return int(rows[0]), int(columns[0])
