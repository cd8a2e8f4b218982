"""Functions for iterative algorithms: start vectors, norms, and the convergence error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.operations.moving import default_device
from graphla.operations.operation import refuse_mixed
from graphla.sparse import Vector
from semirings import binary, monoid, unary
from semirings.exceptions import DimensionMismatch, GraphblasException, InvalidValue


class ConvergenceError(GraphblasException, RuntimeError):
    """Raised if an iteration does not converge within its maximum number of rounds.

    Args:
        message: the error message.
        rounds: the number of rounds, which becomes an attribute.
    """

    def __init__(self, message: str, rounds: int | None = None):
        super().__init__(message)
        self.rounds = rounds


def convergence_error(name: str, rounds: int, change: float, least: float) -> ConvergenceError:
    """Return the error for an iteration that has not converged after `rounds` rounds.

    `change` is the change in the last round. The iteration converges if it is less than `least`.
    """
    return ConvergenceError(
        f"max_iter is {rounds}, but {name} still changed by {change:.3g} in the last, not by less "
        f"than {least:.3g}: the tolerance times the number of vertices",
        rounds,
    )


def full(value: Any, n: int, dtype: Any = float) -> Vector:
    """Return a full vector of size n with one value."""
    vector = Vector(dtype, n)
    vector << value
    return vector


def as_vector(name: str, values: Any, n: int, dtype: Any = float) -> Vector:
    """Convert `values`, which is a Vector or a mapping from vertex to value, to a Vector of size n.

    A vertex that is not in the mapping has no entry. If `dtype` is None, the dtype of the values is
    kept.
    """
    if isinstance(values, Vector):
        if values.size != n:
            raise DimensionMismatch(f"{name} has size {values.size}, but A has {n} vertices")
        if values.device != default_device():
            refuse_mixed(default_device(), values.device, f"A and {name}")
        return values.dup(dtype)
    if isinstance(values, Mapping):
        at = validation.vertices(name, list(values), n)
        return Vector.from_coo(at, list(values.values()), dtype, size=n)
    raise TypeError(
        f"{name} must be a Vector or a mapping from vertex to value, not a {type(values).__name__}"
    )


def as_full_vector(name: str, values: Any, n: int, dtype: Any = float) -> Vector:
    """Return `values`, a Vector or a mapping from vertex to value, as a full Vector of size n.

    Vertices without a value in `values` get the value 0.
    """
    start = full(0, n, dtype)
    # x⟨g⟩ = g
    some = as_vector(name, values, n, dtype)
    start(some.S) << some
    return start


def as_distribution(name: str, values: Any, n: int, dtype: Any = float) -> Vector:
    """Return g / Σ g as a full vector, where g holds the given values.

    The elements of the result add up to 1. An element is 0 if g has no entry there.
    """
    some = as_vector(name, values, n)
    total = some.reduce(monoid.plus).get(0)
    if not 0 < total < math.inf or some.select("<", 0).nvals:
        raise InvalidValue(f"{name} must be finite, nowhere below 0, and somewhere above")
    return as_full_vector(name, binary.truediv(some, total).new(dtype), n, dtype)


def norm(x: Vector) -> float:
    """Return Σ |x|."""
    return float(unary.abs(x).reduce(monoid.plus).get(0.0))


def normalize(x: Vector) -> Vector:
    """Return x / √Σ x², or 0 if x is 0."""
    values = x.to_dense(copy=False) if x.device == "cpu" and x.nvals == x.size else None
    if values is not None and values.dtype == np.float64:
        with np.errstate(all="ignore"):
            square = float(values @ values)
        if 0.0 < square < math.inf:
            return Vector.from_dense(values / math.sqrt(square), copy=False)
    x = x.dup()
    scale_to_length_1(x)
    return x


def scale_to_length_1(x: Vector) -> None:
    """Divide x by √Σ x² in place, unless x is 0; `normalize` returns a new vector instead."""
    length = math.sqrt(inner(x, x))
    if not 0.0 < length < math.inf:
        # The sum of squares has overflowed or underflowed. Dividing x by its largest absolute value
        # first prevents this.
        greatest = unary.abs(x).reduce(monoid.max).get(0.0)
        if 0.0 < greatest < math.inf:
            x << binary.truediv(x, greatest)
            length = math.sqrt(inner(x, x))
    if length > 0.0:
        x << binary.truediv(x, length)


def inner(x: Vector, y: Vector) -> float:
    """Return Σ x·y."""
    return float(binary.times(x & y).reduce(monoid.plus).get(0.0))


def distance(x: Vector, y: Vector) -> float:
    """Return Σ |x - y| for two full vectors."""
    return float(unary.abs(binary.minus(x & y)).reduce(monoid.plus).get(0.0))
