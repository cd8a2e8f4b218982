"""The base class of requests, the function `accelerated`, and helpers for all requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from graphla.formats import Array, FullVector
from graphla.stores import VectorStore
from semirings.dtypes import DataType

T = TypeVar("T")
Result = TypeVar("Result", covariant=True)


class Request(Protocol[Result]):
    """A loop that a device may offer, and the operands of the loop."""

    def run(self) -> Result | None:
        """Return the result of the device's loop, or None if the device has no such loop."""
        ...


def accelerated(request: Request[T], definition: Callable[[], T]) -> T:
    """Return the result of the device's loop; if there is no such loop, run the definition."""
    found = request.run()
    return definition() if found is None else found


def lift(A: Any, store: Any) -> Any:
    """Return the Vector or Matrix that holds a store; A provides the class. None gives None."""
    return None if store is None else A._lift(store)


def full(device: str, dtype: DataType, values: Array | None) -> VectorStore | None:
    """Return the store of a full vector with these values; None gives None."""
    return None if values is None else VectorStore(device, dtype, FullVector(values.size, values))
