"""Loops whose statements index vectors, and calls of these loops with bad indices.

The error of a call must have the same message with and without `gl.jit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphla as gl
from graphla import Vector, binary


def read(x: Vector, i: int) -> float:
    total = 0.0
    for _ in range(1):
        total += x[i].get(0.0)
    return total


def read_value(x: Vector, i: int) -> float:
    total = 0.0
    for _ in range(1):
        total += x[i].value
    return total


def store(x: Vector, i: int) -> None:
    for _ in range(1):
        x[i] = 1.0


def delete(x: Vector, i: int) -> None:
    for _ in range(1):
        del x[i]


def gather(p: Vector, q: Vector) -> Vector:
    w = Vector(float, q.size)
    for _ in range(1):
        w << p[q]
    return w


def scatter(w: Vector, q: Vector, u: Any) -> None:
    for _ in range(1):
        w[q] << u


def scatter_sums(w: Vector, q: Vector, u: Any) -> None:
    for _ in range(1):
        w(binary.plus)[q] << u


def change_after(w: Vector, q: Vector) -> None:
    """Change the indices after the statement that reads them."""
    for _ in range(1):
        w(binary.plus)[q] << 1.0
        q << q.apply(binary.plus, right=100)


def change_before(w: Vector, q: Vector) -> None:
    """Read indices in two statements, both of which fail."""
    for _ in range(1):
        w(binary.plus)[q] << 1.0
        w(binary.plus)[q.apply(binary.plus, right=100).new()] << 1.0


SIZE = 3
INDICES: list[tuple[list[int | None], Any]] = [
    ([0, 5, 1], int),
    ([0, -4, 1], int),
    ([7, 9, -8], int),
    ([-8, -9, 0], int),
    ([0, 10**15, 1], int),
    ([0, 2**64 - 1, 5], np.uint64),
    ([-128, 0, 1], np.int8),
    ([0, None, 1], int),
    ([None, 7, None], int),
]


def vector(values: list[Any], dtype: Any = float) -> Vector:
    held = [i for i, value in enumerate(values) if value is not None]
    array = np.array([values[i] for i in held], np.dtype(dtype))
    return Vector.from_coo(held, array, size=len(values))


def calls() -> Iterator[tuple[Callable[..., Any], Callable[[], list[Any]]]]:
    """Yield loops and functions that return new arguments for them."""
    for i in (SIZE, -SIZE - 1, 10**12):
        for loop in (read, read_value, store, delete):
            yield loop, lambda i=i: [vector([1, 2, 3]), i]
    for values, dtype in INDICES:
        indices = lambda v=values, t=dtype: [vector([1, 2, 3]), vector(v, t)]  # noqa: E731
        yield gather, indices
        for loop in (scatter, scatter_sums):
            yield loop, lambda make=indices: [*make(), vector([1, None, 3])]
            yield loop, lambda make=indices: [*make(), 2.0]
    for loop in (change_after, change_before):
        yield loop, lambda: [vector([1, 2, 3]), vector([0, 5, 1], int)]
    yield scatter, lambda: [vector([1, 2, 3]), vector([1, 0, 1], int), vector([1, 2, 3])]
    yield scatter, lambda: [vector([1, 2, 3]), vector([1, 0, -2], int), 2.0]


def check_messages() -> None:
    """Check that the error of each call has the same message with and without `gl.jit`."""
    for loop, make in calls():
        messages = []
        for function in (loop, gl.jit(loop)):
            with pytest.raises((IndexError, ValueError)) as caught:
                function(*make())
            messages.append((type(caught.value), str(caught.value).partition("\n")[0]))
        assert messages[0] == messages[1], loop.__name__
