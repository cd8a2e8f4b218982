"""Run operations.

An operation is a name and a function that computes T from stored operands. Every operation runs in
a `DeviceScope`. The scope requires all operands to be on one device, makes this device current,
makes streams wait for each other, and converts errors of the device to those of graphla.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Any, NoReturn, TypeVar

from graphla.backends import streams
from graphla.plans import drop_full_plans
from graphla.settings import Event, record, recorders
from graphla.stores import MatrixStore, ScalarStore, VectorStore
from semirings.exceptions import DeviceMismatch, OutOfMemory

T = TypeVar("T")
Collections = (VectorStore, MatrixStore)


class Operation:
    """A named operation, whose function `compute(*operands)` returns the result as a store.

    If `honors_mask` is True, `compute` takes the mask as an additional argument, and its result
    has entries only where the mask allows them.
    """

    __slots__ = ("compute", "honors_mask", "name", "records_itself")

    def __init__(
        self,
        name: str,
        compute: Callable[..., Any],
        *,
        honors_mask: bool = False,
        records_itself: bool = False,
    ):
        self.name = name
        self.compute = compute
        self.honors_mask = honors_mask
        self.records_itself = records_itself

    def record(self, *args: Any) -> Any:
        """Return compute(*args), and add an event to the active recorders."""
        if self.records_itself:
            return self.compute(*args)
        start = perf_counter()
        t = self.compute(*args)
        note(self.name, args, t.nvals, perf_counter() - start)
        return t

    def __repr__(self) -> str:
        return f"<operation {self.name}>"


class MemoryFreed(OutOfMemory):
    """Raised if memory ran out but some memory was freed, so that another attempt may succeed."""


def run(operation: Operation, args: tuple[Any, ...], device: str | None = None) -> Any:
    """Run an operation and return its result as a store.

    If memory runs out, full plans of matrices are dropped. If that frees memory, the operation runs
    a second time.
    """
    compute = operation.record if recorders() else operation.compute
    given = (*args, None) if operation.honors_mask else args
    try:
        with DeviceScope(operation.name, args, device) as running:
            return running.gives(compute(*given))
    except MemoryFreed:
        # The second attempt starts after this handler, because leaving the handler releases the
        # exception, and with it the memory to which the exception refers.
        pass
    with DeviceScope(operation.name, args, device) as running:
        return running.gives(compute(*given))


def perform(name: str, find: Callable[..., T], *args: Any) -> T:
    """Call find(*args) in a DeviceScope and return its result.

    This is for work that is not an Operation, such as an export.
    """
    try:
        with DeviceScope(name, args) as running:
            return running.gives(find(*args))
    except MemoryFreed:
        pass
    with DeviceScope(name, args) as running:
        return running.gives(find(*args))


def device_of(args: tuple[Any, ...]) -> str:
    """Return the device of the vectors and matrices; raise an error if their devices differ.

    Scalars are ignored: their values are on the host, so they can be used with any device.
    """
    device = ""
    for x in args:
        if isinstance(x, Collections) and x.device != device:
            if device:
                refuse_mixed(device, x.device)
            device = x.device
    return device or "cpu"


def refuse_mixed(one: str, other: str, what: str = "the operands") -> NoReturn:
    """Raise DeviceMismatch for operands on two different devices."""
    raise DeviceMismatch(
        f"{what} are on {one} and on {other}; move one of them, as in B.to({one!r})"
    )


class DeviceScope:
    """A context manager that makes a device current and converts the device's errors to our own.

    Usage: `with DeviceScope(name, operands) as scope:`. On a GPU, the current stream first waits
    for the streams that compute the operands' arrays. At the end of the `with` block, the streams
    that own these arrays wait for the current stream. A *stamp* of an array is the point in a
    stream at which the array is complete; every other stream must wait for this point before it
    uses the array. A result that shares memory with an operand takes over its stamps.
    """

    __slots__ = ("_away", "_before", "_device", "_name", "_order", "_owner", "_read", "_results")

    def __init__(self, name: str, operands: tuple[Any, ...], device: str | None = None):
        self._name = name
        self._device = device_of(operands) if device is None else device
        self._owner = None
        if self._device != "cpu":
            self._read = operands
            self._away: list[Any] = []
            self._results: list[Any] = []

    def __enter__(self) -> DeviceScope:
        if self._device != "cpu":
            self._order = streams(self._device)
            self._before = self._order.enter_device(self._device)
        return self

    def writes(self, owner: Any, t: Any = None) -> None:
        """Record that the store of `owner` will be replaced.

        If `t` is given, it is the result to write, and the operands are no longer needed. The scope
        then drops its references to the operands, so that their arrays can be overwritten in place.
        It keeps the references if some of the arrays belong to another stream. The memory of these
        arrays must not be freed before that stream waits for the current stream, at the end of the
        `with` block.
        """
        self._owner = owner
        if t is not None:
            self._name = "write"
        if self._device == "cpu":
            return
        if t is None:
            self._away = self._order.foreign_stamps((owner._store,))
        else:
            self._results.append(t)
            self._away = self._order.foreign_stamps((*self._read, t, owner._store))
            self._read = self._read if self._away else ()
        if self._away:
            self._read = (*self._read, owner._store)

    def gives(self, result: T) -> T:
        """Record a result, or a tuple of results, and return it."""
        if self._device != "cpu":
            self._results.extend(result if isinstance(result, tuple) else (result,))
        return result

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if self._device == "cpu":
            if isinstance(error, MemoryError) and not isinstance(error, OutOfMemory):
                raise OutOfMemory(f"{self._name} ran out of memory: {error}") from error
            return
        try:
            if error is not None:
                self._fail(error)
            elif self._read or self._away:
                self._depart()
        finally:
            if self._before is not None:
                self._order.leave_device(self._before)

    def _depart(self) -> None:
        away = self._away + self._order.foreign_stamps(self._read) if self._read else self._away
        if not away:
            return
        if self._owner is not None:
            self._results.append(self._owner._store)
        self._order.make_owners_wait(away)
        for result in self._results:
            if isinstance(result, Collections):
                result.owe_to(tuple(away))

    def _fail(self, error: BaseException) -> None:
        ours = self._order.explain(error, self._name, self._device)
        if isinstance(ours, OutOfMemory) and drop_full_plans(self._device):
            kind = MemoryFreed if self._owner is None else OutOfMemory
            ours = kind(f"{ours}; plans have been dropped for it: try again")
        if ours is not None:
            raise ours from error
        with suppress(RuntimeError):
            self._depart()


def note(
    name: str,
    args: tuple[Any, ...],
    nvals_out: int,
    seconds: float,
    direction: str = "",
    reason: str = "",
) -> None:
    """Add an event for an operation to the active recorders."""
    operator = next((str(x) for x in args if hasattr(x, "return_type")), "")
    nvals_in = sum(x.nvals for x in args if isinstance(x, (*Collections, ScalarStore)))
    record(Event(name, operator, direction, reason, nvals_in, nvals_out, seconds))
