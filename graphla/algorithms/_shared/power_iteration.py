"""What algorithms that iterate share: vectors to begin with, and the error where no end comes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from graphla.algorithms._shared import validation
from graphla.operations.moving import default_device
from graphla.operations.operation import refuse_mixed
from graphla.sparse import Vector
from semirings import binary, monoid, unary
from semirings.exceptions import DimensionMismatch, GraphblasException, InvalidValue


class ConvergenceError(GraphblasException, RuntimeError):
    """An iteration that did not come to rest in the rounds that it was given."""


def convergence_error(name: str, rounds: int, change: float, least: float) -> ConvergenceError:
    """The error of an iteration that still changed by `change`."""
    return ConvergenceError(
        f"max_iter is {rounds}, but {name} still changed by {change:.3g} in the last, not by less "
        f"than {least:.3g}: the tolerance times the number of vertices"
    )


def full(value: Any, n: int, dtype: Any = float) -> Vector:
    """The value, at each of n vertices."""
    vector = Vector(dtype, n)
    vector << value
    return vector


def as_vector(name: str, values: Any, n: int, dtype: Any = float) -> Vector:
    """What is given of some vertices, a Vector or a mapping; no entry at the others.

    With dtype None, of the dtype that it has.
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
    """The same, with 0 at the others."""
    start = full(0, n, dtype)
    # x⟨g⟩ = g
    some = as_vector(name, values, n, dtype)
    start(some.S) << some
    return start


def as_distribution(name: str, values: Any, n: int, dtype: Any = float) -> Vector:
    """x = g / Σ g, and 0 where nothing is given: a full vector that adds up to 1."""
    some = as_vector(name, values, n)
    total = some.reduce(monoid.plus).get(0)
    if not 0 < total < math.inf or some.select("<", 0).nvals:
        raise InvalidValue(f"{name} must be finite, nowhere below 0, and somewhere above")
    return as_full_vector(name, binary.truediv(some, total).new(dtype), n, dtype)


def norm(x: Vector) -> float:
    """Σ |x|."""
    return float(unary.abs(x).new().reduce(monoid.plus).get(0))


def normalize(x: Vector) -> Vector:
    """x / √Σ x², or 0."""
    length = math.sqrt(float(binary.times(x & x).new().reduce(monoid.plus).get(0)))
    if not 0 < length < math.inf:
        # squares that are too great, or too small, are those of parts of the greatest
        greatest = float(unary.abs(x).new().reduce(monoid.max).get(0)) if x.nvals else 0.0
        if 0 < greatest < math.inf:
            return normalize(x.apply(binary.truediv, right=greatest).new())
    return x.apply(binary.truediv, right=length or 1.0).new()


def distance(x: Vector, y: Vector) -> float:
    """Σ |x - y|, where both are full."""
    return norm(binary.minus(x & y).new())
