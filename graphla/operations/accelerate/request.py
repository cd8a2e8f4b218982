"""The base class for requests, the function `accelerated`, and helpers for requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from graphla.formats import Array, FullVector
from graphla.stores import VectorStore
from semirings.dtypes import DataType

T = TypeVar("T")
Result = TypeVar("Result", covariant=True)


class Request(Protocol[Result]):
    """A loop that a backend may implement natively, with its operands."""

    def run(self) -> Result | None:
        """Return the result, or None if the backend has no such loop."""
        ...


def accelerated(request: Request[T], definition: Callable[[], T]) -> T:
    """Return the result of the backend's native loop; if there is none, run the definition."""
    found = request.run()
    return definition() if found is None else found


def lift(A: Any, store: Any) -> Any:
    """Wrap a store in a Vector or Matrix, using the classes of A; None yields None."""
    return None if store is None else A._lift(store)


def full(device: str, dtype: DataType, values: Array | None) -> VectorStore | None:
    """Return the store of a full vector with the given values; None yields None."""
    return None if values is None else VectorStore(device, dtype, FullVector(values.size, values))
