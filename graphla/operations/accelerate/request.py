"""The base class of requests, and functions to run them.

With a request, an algorithm asks the backend to run a whole loop natively.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from graphla.formats import Array, FullVector
from graphla.stores import VectorStore
from semirings.dtypes import DataType

T = TypeVar("T")
Result = TypeVar("Result", covariant=True)


class Request(Protocol[Result]):
    """The operands of a loop that some backends implement natively."""

    def run(self) -> Result | None:
        """Run the backend's loop and return its result, or None if the backend has no such loop."""
        ...


def accelerated(request: Request[T], definition: Callable[[], T]) -> T:
    """Run the native loop of the backend, and return its result.

    If the backend has no such loop, return the result of `definition` instead.
    """
    found = request.run()
    return definition() if found is None else found


def lift(A: Any, store: Any) -> Any:
    """Return a new Vector or Matrix that holds `store`, or None if `store` is None.

    The class of the result is derived from the class of A.
    """
    return None if store is None else A._lift(store)


def full(device: str, dtype: DataType, values: Array | None) -> VectorStore | None:
    """Return a store of the full vector with the given values, or None if `values` is None."""
    return None if values is None else VectorStore(device, dtype, FullVector(values.size, values))
