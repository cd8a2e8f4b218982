"""What one operation is: its name, how T is computed from forms, and its record when it runs."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from graphla.settings import Event, record, recorders
from semirings.exceptions import OutOfMemory


class Operation:
    """`compute(*operands)` gives T as forms; one that `honours_mask` takes the mask as well, and
    then T has entries only where the mask lets them through."""

    __slots__ = ("compute", "honours_mask", "name", "records_itself")

    def __init__(
        self,
        name: str,
        compute: Callable[..., Any],
        *,
        honours_mask: bool = False,
        records_itself: bool = False,
    ):
        self.name = name
        self.compute = compute
        self.honours_mask = honours_mask
        self.records_itself = records_itself

    def __repr__(self) -> str:
        return f"<operation {self.name}>"


def run(operation: Operation, args: tuple[Any, ...], mask: Any = None) -> Any:
    """T, the forms of the result (under the mask, for an operation that honours one)."""
    start = perf_counter() if recorders() and not operation.records_itself else None
    try:
        t = operation.compute(*args, mask) if operation.honours_mask else operation.compute(*args)
    except MemoryError as error:
        raise OutOfMemory(f"{operation.name} ran out of memory: {error}") from error
    if start is not None:
        note(operation.name, args, t.nvals, perf_counter() - start)
    return t


def note(
    name: str,
    args: tuple[Any, ...],
    nvals_out: int,
    seconds: float,
    direction: str = "",
    reason: str = "",
) -> None:
    """Tell the recorders that an operation ran."""
    operator = next((str(x) for x in args if hasattr(x, "return_type")), "")
    nvals_in = sum(x.nvals for x in args if hasattr(x, "nvals"))
    record(Event(name, operator, direction, reason, nvals_in, nvals_out, seconds))
