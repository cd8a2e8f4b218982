"""Checks for the arguments of algorithms. The message of each error is one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from graphla.graph.cached_properties import extent, is_symmetric
from graphla.graph.labels import vertex_name
from graphla.operations import indexing
from graphla.operations.moving import on_host
from graphla.operations.operation import perform, refuse_mixed
from graphla.operations.values import exact_array, has_integers, is_on_card
from graphla.settings import config
from graphla.sparse import Matrix, MatrixExpression, Vector, VectorExpression
from graphla.sparse.foreign import class_name, conversion
from semirings import monoid, select, unary
from semirings.dtypes import DataType, lookup_dtype
from semirings.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue


def adjacency(A: Any) -> Matrix:
    """Return A, or the Matrix that an expression computes; raise an error unless it is square."""
    if not isinstance(A, Matrix):
        if not isinstance(A, MatrixExpression):
            raise TypeError(
                f"A must be a graphla.Matrix or Graph, not a {class_name(A)}"
                f"{conversion('A', A, to_graph=True)}"
            )
        A = A.new()
    nrows, ncols = A._store.shape
    if nrows != ncols:
        raise DimensionMismatch(
            f"A has {nrows} rows and {ncols} columns, but an adjacency matrix is square"
        )
    return A


PLAIN_TYPES = frozenset({type(None), bool, int, float, str})
"""The most common types of arguments that are neither collections nor arrays."""


def is_loose(given: Any) -> bool:
    """Return whether `given` is a GPU array, or a collection that cannot be indexed (a set)."""
    if type(given) in PLAIN_TYPES:
        return False
    has_no_places = isinstance(given, Iterable) and not hasattr(given, "__getitem__")
    return has_no_places or is_on_card(given)


def as_list(given: Any) -> Any:
    """Convert a set or generator to a list, and a GPU array to a NumPy array."""
    if not is_loose(given):
        return given
    if not is_on_card(given):
        return list(given)
    return on_host(given)


def vertex(source: Any, n: int, name: str = "source") -> int:
    """Return `source` as an int from 0 to n - 1."""
    # The test for an Integral is slow, so test for an int first.
    if type(source) is not int and (isinstance(source, bool) or not isinstance(source, Integral)):
        raise TypeError(f"{name} must be an integer, not {source!r} ({type(source).__name__})")
    if n == 0:
        raise IndexOutOfBound(f"{name} is {source}, but the graph has no vertex")
    if not 0 <= int(source) < n:
        raise IndexOutOfBound(f"{name} is {source}, but the vertices are 0 to {n - 1}")
    return int(source)


def vertices(name: str, given: Any, n: int) -> np.ndarray:
    """Return `given` as an INT64 array of vertices from 0 to n - 1; None means all vertices."""
    if given is None:
        return np.arange(n)
    try:
        places = exact_array(given)
    except (
        TypeError,
        ValueError,
    ):  # `given` cannot be converted, such as a Vector or lists of different lengths
        places = np.empty((0, 0))
    is_whole = places.dtype.kind in "iu" or not places.size or has_integers(places)
    if places.ndim != 1 or not is_whole:
        raise TypeError(f"{name} must be a list of integers, not {given!r}")
    wrong = places[(places < 0) | (places >= n)]
    if wrong.size:
        which = f"the vertices are 0 to {n - 1}" if n else "the graph has no vertex"
        raise IndexOutOfBound(f"{name} has {wrong[0]}, but {which}")
    return places.astype(np.int64)


def distinct(name: str, given: Any, n: int) -> np.ndarray:
    """Return `given` as a sorted INT64 array of distinct vertices; None means all vertices."""
    listed = vertices(name, given, n)
    return listed if given is None else np.unique(listed)


def one_of(name: str, value: Any, names: tuple[str, ...]) -> DataType:
    """Convert `value` to a dtype; raise an error unless it is one of the dtypes in `names`."""
    try:
        dtype = lookup_dtype(value)
    except (TypeError, ValueError):
        dtype = None
    if dtype is None or dtype.name not in names:
        raise InvalidValue(f"{name} is {dtype or repr(value)}, but must be {' or '.join(names)}")
    return dtype


def sources(source: Any, A: Matrix, name: str = "source") -> np.ndarray | Vector:
    """Return `source`, one vertex or several, as an array of distinct INT32 vertices.

    A Vector with entries at the sources is returned unchanged.
    """
    if type(source) is int and 0 <= source < A._store.nrows:  # the most common case first
        return np.array((source,), np.int32)
    if isinstance(source, VectorExpression):
        source = source.new()
    if isinstance(source, Vector):
        if source.size != A.nrows:
            raise DimensionMismatch(f"{name} has size {source.size}, but A has {A.nrows} vertices")
        if source.device != A.device:
            refuse_mixed(A.device, source.device, f"A and {name}")
        return source
    if isinstance(source, (list, tuple, range)) or (isinstance(source, np.ndarray) and source.ndim):
        return np.unique(vertices(name, source, A.nrows)).astype(np.int32)
    return np.array([vertex(source, A.nrows, name)], np.int32)


def start(source: int, A: Matrix, value: Any, dtype: Any) -> Vector:
    """Return a Vector whose only entry is `value` at the vertex `source`, on the device of A."""
    wanted = lookup_dtype(dtype)
    return Vector._of(perform("build", indexing.one_entry, A._read(), source, value, wanted))


def starts(source: Any, A: Matrix, value: Any, dtype: Any) -> Vector:
    """Return a Vector with `value` at each source, on the device of A."""
    if type(source) is int:
        return start(vertex(source, A.nrows), A, value, dtype)
    with config.set(device=A.device):
        chosen = sources(source, A)
        if isinstance(chosen, Vector):
            x = Vector(dtype, A.nrows)
            x(chosen.S) << value
            return x
        return Vector.from_coo(chosen, value, dtype, size=A.nrows)


def count(name: str, value: Any, least: int) -> int:
    """Return `value` as an int; raise an error if it is not an integer or is less than `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, not {value!r} ({type(value).__name__})")
    if value < least:
        raise InvalidValue(f"{name} is {value}, but must be at least {least}")
    return int(value)


def real(name: str, value: Any, low: float, high: float = math.inf) -> float:
    """Return `value` as a float; raise an error if it is not in the range [low, high]."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, not {value!r} ({type(value).__name__})")
    if not low <= float(value) <= high:
        raise InvalidValue(f"{name} is {value}, but must lie between {low:g} and {high:g}")
    return float(value)


def weighs(name: str, weight: bool | str | None) -> bool:
    """Return whether an algorithm uses the values of A as weights.

    It does if the argument `weight` is True or, as in NetworkX, the name of an edge attribute.
    """
    if weight is None or isinstance(weight, (bool, np.bool_)):
        return bool(weight)
    if isinstance(weight, str):
        return True
    raise TypeError(f"{name} must be True, False, None or a name, not {weight!r}")


def signed_weights(A: Matrix, weight: bool | str | None) -> Matrix:
    """Return the weights of the edges in a dtype that has negative numbers.

    The weights are 1 if the argument `weight` is None or False; see `weighs`.
    """
    if not weighs("weight", weight):
        return unary.one["INT64"](A).new()
    return A.dup("INT64") if A.dtype == "BOOL" or A.dtype.name.startswith("U") else A


def numbers(A: Matrix) -> None:
    """Check that all weights are numbers: raise an error if a weight is NaN."""
    if not A.nvals or not is_floating(A):
        return
    least = extent(A)[0]
    if least != least:
        i, j = first_entry(select.valueeq(A.apply(unary.isnan), True).new())
        raise InvalidValue(
            f"A has weight nan on edge {vertex_name(i)} -> {vertex_name(j)}, but must have numbers"
        )


def nonnegative(A: Matrix) -> None:
    """Raise an error if a weight is below 0 or NaN."""
    if A.dtype.name.startswith("U") or A.dtype == "BOOL" or not A.nvals:
        return
    # extent(A)[0] is the smallest weight, or NaN if a weight is NaN. NaN >= 0 is false.
    if extent(A)[0] >= 0:
        return
    wrong = select.valuelt(A, 0).new()
    if not wrong.nvals and is_floating(A):
        wrong = select.valueeq(A.apply(unary.isnan), True).new()
    if wrong.nvals:
        i, j = first_entry(wrong)
        raise InvalidValue(
            f"A has weight {A[i, j].value} on edge {vertex_name(i)} -> {vertex_name(j)}, "
            f"but must have none below 0"
        )


def positive(A: Matrix) -> None:
    """Raise an error if a weight is not above 0."""
    nonnegative(A)
    if not A.nvals or extent(A)[0] > 0:
        return
    i, j = first_entry(select.valueeq(A, 0).new())
    raise InvalidValue(
        f"A has weight 0 on edge {vertex_name(i)} -> {vertex_name(j)}, "
        "but must have weights above 0"
    )


def at_most(A: Matrix, most: int) -> None:
    """Raise an error if a weight exceeds `most`."""
    if not A.nvals or extent(A)[1] <= most:
        return
    wrong = select.valuegt(A, most).new()
    if wrong.nvals:
        i, j = first_entry(wrong)
        raise InvalidValue(
            f"A has weight {A[i, j].value} on edge {vertex_name(i)} -> {vertex_name(j)}, "
            f"but at most {most} fits"
        )


def finite_sum(A: Matrix) -> float:
    """Return the sum of the weights; raise an error if it is not finite."""
    with np.errstate(all="ignore"):
        total = float(A.reduce_scalar(monoid.plus).get(0.0))
    if not math.isfinite(total):
        raise InvalidValue(f"A has weights that add up to {total}, but their sum must be finite")
    return total


def within_unit(A: Matrix) -> None:
    """Raise an error if a weight is not a probability from 0 to 1."""
    nonnegative(A)
    at_most(A, 1)


def symmetric(A: Matrix) -> None:
    """Raise an error if there is an edge i -> j without the edge j -> i."""
    if is_symmetric(A):
        return
    i, j = first_entry(A.dup(mask=~A.T.new().S))
    raise InvalidValue(
        f"A has an edge {i} -> {j} but none {j} -> {i}, and must be symmetric: "
        f"binary.any(A | A.T) forgets the directions"
    )


def is_floating(A: Matrix) -> bool:
    """Return whether the weights of A are floating-point numbers."""
    return A.dtype.name.startswith("FP")


def first_entry(A: Matrix) -> tuple[int, int]:
    """Return the row and the column of the first entry of A, which must not be empty."""
    rows, columns, _ = A.to_coo(values=False)
    return int(rows[0]), int(columns[0])
