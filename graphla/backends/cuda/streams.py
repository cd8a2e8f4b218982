"""Set the current GPU for an operation, and order the streams that share storage.

An operation allocates storage on the stream that is current while the operation runs. The storage
keeps a *stamp*: this stream, and the point that the stream had reached. Before an operation on
another stream reads the storage, `wait_for` makes that stream wait for the stamp. After the
operation, `make_owners_wait` makes the stream of the stamp wait for the operation, because once the
storage is freed, the memory pool may reuse its memory for later work on the stream of the stamp. If
the process uses a single stream, all of this costs one comparison.

Invariants:
- A stamp without an event gets one when another stream first needs it. The event is recorded on the
  stamp's stream at that time, so it marks the same point as the stamp or a later point.
- A thread cannot refer to the per-thread default stream of another thread, and so cannot record an
  event on it. So a stamp of such a stream gets its event when the stamp is created.
  `make_owners_wait` cannot make such a stream wait; the host waits instead.
- The GPU of the operands is current while an operation runs.

The host waits in two cases. If an operation has read storage of another thread's per-thread default
stream, the host waits until the operation is complete. If entries are copied from one GPU to
another, the host waits for the current streams of both GPUs.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from threading import Lock, get_ident
from typing import Any

import cupy as xp
from cupy.cuda import Event, get_current_stream, runtime

from graphla import cards
from graphla.compilers.faults import explain, refuse_after_fault, seen
from graphla.formats import is_iso
from semirings.exceptions import DeviceUnavailable

PER_THREAD = 2
"""The stream handle that CUDA reserves for the per-thread default stream of the calling thread."""

_recording = Lock()

_lock = Lock()
_only: Any = None
"""The stream of all stamps that this process has created. It is None before the first stamp, and
`_SEVERAL` if the stamps belong to several streams. While all stamps belong to one stream, no stream
needs to wait."""
_SEVERAL = object()

__all__ = ["explain"]


class Stamp:
    """A point in the work of a stream: by default, the end of the work issued to it so far."""

    __slots__ = ("event", "ptr", "stream", "thread")

    def __init__(self, stream: Any = None) -> None:
        if stream is None:
            stream = get_current_stream()
        if stream is not _only:
            _note_stream(stream)
        self.stream = stream
        self.ptr = stream.ptr
        self.event: Any = None
        self.thread = 0
        if self.ptr == PER_THREAD:
            self.seal()
            self.thread, self.stream = get_ident(), None

    def seal(self) -> Stamp:
        """Record the event of this stamp now, and return the stamp.

        A stream that waits for the stamp then does not wait for work that is issued to the stamp's
        stream later.
        """
        event = Event(disable_timing=True)
        event.record(self.stream)
        self.event = event
        return self

    def is_foreign_to(self, stream: Any) -> bool:
        """Return whether `stream` must wait explicitly so that its work runs after this stamp."""
        if self.ptr != stream.ptr:
            return True
        return self.ptr == PER_THREAD and self.thread != get_ident()

    def precede(self, stream: Any) -> None:
        """Make later work on `stream` wait for this stamp."""
        if self.event is None:
            with _recording:
                if self.event is None:
                    self.seal()
        stream.wait_event(self.event)


def _note_stream(stream: Any) -> None:
    """Update `_only` for a new stamp of this stream."""
    global _only
    with _lock:
        is_first = _only is None and stream.ptr != PER_THREAD
        _only = stream if is_first or stream is _only else _SEVERAL


def add_stamp(stamps: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
    """Return `stamps`, plus a stamp for arrays that the current stream has just added to the
    storage."""
    now = get_current_stream()
    if any(each.stream is now and each.event is None for each in stamps):
        # The existing stamp of this stream suffices. Its event will be recorded later than now, so
        # a stream that waits for this event also waits for the new arrays.
        return stamps
    made = Stamp(now)
    return (*stamps, made if made.event is not None else made.seal())


def merge_stamps(stamps: tuple[Stamp, ...], others: Iterable[Stamp]) -> tuple[Stamp, ...]:
    """Return `stamps`, and one stamp from `others` for each stream that does not occur in `stamps`.

    This is used if storage with the stamps `stamps` may share memory with storage that has the
    stamps `others`.
    """
    known = {(each.ptr, each.thread) for each in stamps}
    for each in others:
        if (each.ptr, each.thread) not in known:
            known.add((each.ptr, each.thread))
            stamps = (*stamps, each)
    return stamps


def wait_for(stamps: tuple[Stamp, ...]) -> bool:
    """Make the current stream wait until the work that these stamps mark has finished.

    A stamp marks the work that created some storage. Return whether any of this storage was created
    on another stream.
    """
    now, is_abroad = get_current_stream(), False
    if now is _only:
        return False
    for each in stamps:
        if each.stream is not now and each.is_foreign_to(now):
            each.precede(now)
            is_abroad = True
    return is_abroad


def make_owners_wait(stamps: Iterable[Stamp]) -> None:
    """Make the streams of the stamps wait for the current stream, which used the stamped arrays."""
    now, event = get_current_stream(), None
    seen: set[tuple[int, int]] = set()
    for each in stamps:
        if each.stream is now or not each.is_foreign_to(now) or (each.ptr, each.thread) in seen:
            continue
        seen.add((each.ptr, each.thread))
        if each.stream is None:
            now.synchronize()
            continue
        if event is None:
            event = Event(disable_timing=True)
            event.record(now)
        each.stream.wait_event(event)


def foreign_stamps(operands: Iterable[Any]) -> list[Stamp]:
    """Return those stamps of the operands for which the current stream must wait explicitly."""
    now, foreign = get_current_stream(), []
    if now is _only:
        return foreign
    for x in operands:  # a loop is faster than a comprehension
        for each in getattr(x, "stamps", ()):
            if each.stream is not now and each.is_foreign_to(now):
                foreign.append(each)
    return foreign


def wait() -> None:
    """Wait until the current stream has finished its work."""
    get_current_stream().synchronize()


def adopt(array: Any) -> Any:
    """Return an array from any GPU library as a CuPy array that shares its memory."""
    if isinstance(array, xp.ndarray):
        return array
    if hasattr(array, "__cuda_array_interface__"):
        return xp.asarray(array)
    return xp.from_dlpack(array)


def truths(array: Any) -> Any:
    """Return a copy of a boolean array in which each byte is 0 or 1. Return other arrays unchanged.

    A boolean view of an integer array may contain other bytes.
    """
    if array.dtype != bool:
        return array
    one = array[:1] if array.ndim == 1 and is_iso(array) else array
    clean = one.view("u1") != 0
    return clean if one is array else xp.broadcast_to(clean, array.shape)


def overlap(one: Any, other: Any) -> bool:
    """Return whether the arrays share an allocation or overlap."""
    a, b = adopt(one), adopt(other)
    if a.data.mem is b.data.mem:
        return True
    (low, high), (least, most) = _span(a), _span(b)
    return low < most and least < high


def _span(array: Any) -> tuple[int, int]:
    """Return the address of the array's first byte and the address after its last byte."""
    reach = sum((n - 1) * abs(step) for n, step in zip(array.shape, array.strides, strict=True))
    start = array.data.ptr
    return (start, start + reach + array.itemsize) if array.size else (start, start)


def copy_to_current(array: Any) -> Any:
    """Copy an array from another GPU or from the host to the current GPU.

    If the array is on another GPU, the host waits for the current streams of both GPUs.
    """
    if not isinstance(array, xp.ndarray):
        return truths(xp.asarray(array))
    with array.device:
        get_current_stream().synchronize()
    copied = array.copy()
    get_current_stream().synchronize()
    return copied


# --- GPUs ---------------------------------------------------------------------------------------


def resolve_device(device: str) -> str:
    """Return the name of a device with its number. "cuda" becomes "cuda:1" if GPU 1 is current."""
    if device == "cuda":
        return _name(runtime.getDevice())
    return _name(int(device.partition(":")[2]))


@cache
def _name(number: int) -> str:
    """Return the name of a GPU, such as "cuda:0", after checking that it can be used."""
    count = runtime.getDeviceCount()
    if number >= count:
        there = "cuda:0" if count == 1 else f"cuda:0 to cuda:{count - 1}"
        raise DeviceUnavailable(f'the device "cuda:{number}" is not there, but {there}')
    capability = int(xp.cuda.Device(number).compute_capability)
    if capability < cards.LEAST:
        raise DeviceUnavailable(
            f'the device "cuda:{number}" has compute capability {capability / 10}, but '
            f"{cards.LEAST / 10} is needed"
        )
    return f"cuda:{number}"


@cache
def number_of(device: str) -> int:
    """Return the number of a device, for example 1 for "cuda:1"."""
    return int(resolve_device(device).partition(":")[2])


def require_device(device: str) -> None:
    """Raise an error if the given GPU cannot be used."""
    if seen.fault:
        refuse_after_fault()
    number_of(device)


def enter_device(device: str) -> int | None:
    """Make a GPU current. Return the number of the GPU that was current, or None if it is the same
    GPU."""
    if seen.fault:
        refuse_after_fault()
    number, before = number_of(device), runtime.getDevice()
    if number == before:
        return None
    runtime.setDevice(number)
    return before


def leave_device(before: int | None) -> None:
    """Make the GPU number `before` current again, unless `before` is None (see `enter_device`)."""
    if before is not None:
        runtime.setDevice(before)
