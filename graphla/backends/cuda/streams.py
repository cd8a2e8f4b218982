"""Cards made current, and streams that wait for one another, only where there is more than one.

Storage is made on the stream that is current then. Its forms keep a *stamp* of that: the stream,
and the moment. Whoever reads them on another stream *arrives*: its stream first waits for that
moment. When the operation is over it *departs*: the stream that the storage was made on waits for
the reader, since the pool hands freed memory out again in the order of the stream it was taken on.
With one stream all of this is one comparison.

Invariants:
- a stamp that has no event yet gets one, recorded on its stream, when another stream first asks:
  that is later than the moment, but never too early;
- a per-thread default stream can be named by its own thread alone: its stamps have their event from
  the start, and departing from its storage the host waits, as nobody can tell that stream to;
- the card of the operands is current while an operation runs.

Waits: at the end of an operation that read, on one stream, what was made on the per-thread default
stream of another thread; both streams, when entries move from one card to another.
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
"""What CUDA calls the default stream of the calling thread, whichever that is."""

_recording = Lock()

__all__ = ["explain"]


class Stamp:
    """A moment of a stream: by default the one that the current stream has come to."""

    __slots__ = ("event", "ptr", "stream", "thread")

    def __init__(self, stream: Any = None) -> None:
        if stream is None:
            stream = get_current_stream()
        self.stream = stream
        self.ptr = stream.ptr
        self.event: Any = None
        self.thread = 0
        if self.ptr == PER_THREAD:
            self.seal()
            self.thread, self.stream = get_ident(), None

    def seal(self) -> Stamp:
        """The moment is now, and what its stream does later does not count."""
        event = Event(disable_timing=True)
        event.record(self.stream)
        self.event = event
        return self

    def is_foreign_to(self, stream: Any) -> bool:
        """Whether work on that stream is not in order with this by itself."""
        if self.ptr != stream.ptr:
            return True
        return self.ptr == PER_THREAD and self.thread != get_ident()

    def precede(self, stream: Any) -> None:
        """That stream waits until this moment has come."""
        if self.event is None:
            with _recording:
                if self.event is None:
                    self.seal()
        stream.wait_event(self.event)


def add_stamp(stamps: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
    """The stamps, and this moment, of forms that have just got another form."""
    now = get_current_stream()
    if any(each.stream is now and each.event is None for each in stamps):
        return stamps  # whoever comes from elsewhere will wait for later than this
    made = Stamp(now)
    return (*stamps, made if made.event is not None else made.seal())


def merge_stamps(stamps: tuple[Stamp, ...], others: Iterable[Stamp]) -> tuple[Stamp, ...]:
    """Stamps for forms that may share memory with others: one more for each other stream."""
    known = {(each.ptr, each.thread) for each in stamps}
    for each in others:
        if (each.ptr, each.thread) not in known:
            known.add((each.ptr, each.thread))
            stamps = (*stamps, each)
    return stamps


def wait_for(stamps: tuple[Stamp, ...]) -> bool:
    """The current stream waits until storage with these stamps is made.

    Whether some of it is of another stream.
    """
    now, is_abroad = get_current_stream(), False
    for each in stamps:
        if each.stream is not now and each.is_foreign_to(now):
            each.precede(now)
            is_abroad = True
    return is_abroad


def make_owners_wait(stamps: Iterable[Stamp]) -> None:
    """Streams whose memory the current one has used wait for that."""
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
    """The stamps of these forms that are of other streams than the current one."""
    now, away = get_current_stream(), []
    for x in operands:  # comprehensions cost a call
        for each in getattr(x, "stamps", ()):
            if each.stream is not now and each.is_foreign_to(now):
                away.append(each)
    return away


def wait() -> None:
    """Wait until the current stream has done its work."""
    get_current_stream().synchronize()


def adopt(array: Any) -> Any:
    """An array of any library on a card as CuPy's, without a copy."""
    if isinstance(array, xp.ndarray):
        return array
    if hasattr(array, "__cuda_array_interface__"):
        return xp.asarray(array)
    return xp.from_dlpack(array)


def truths(array: Any) -> Any:
    """Truth values as bytes 0 and 1, in memory of their own: views of integers may hold others."""
    if array.dtype != bool:
        return array
    one = array[:1] if array.ndim == 1 and is_iso(array) else array
    clean = one.view("u1") != 0
    return clean if one is array else xp.broadcast_to(clean, array.shape)


def overlap(one: Any, other: Any) -> bool:
    """Whether they lie in one allocation, or over one another."""
    a, b = adopt(one), adopt(other)
    if a.data.mem is b.data.mem:
        return True
    (low, high), (least, most) = _span(a), _span(b)
    return low < most and least < high


def _span(array: Any) -> tuple[int, int]:
    """The first byte, and the one after the last."""
    reach = sum((n - 1) * abs(step) for n, step in zip(array.shape, array.strides, strict=True))
    start = array.data.ptr
    return (start, start + reach + array.itemsize) if array.size else (start, start)


def copy_to_current(array: Any) -> Any:
    """A copy on the card that is current, from another card (both are waited for) or the host."""
    if not isinstance(array, xp.ndarray):
        return truths(xp.asarray(array))
    with array.device:
        get_current_stream().synchronize()
    copied = array.copy()
    get_current_stream().synchronize()
    return copied


# --- cards --------------------------------------------------------------------------------------


def resolve_device(device: str) -> str:
    """ "cuda:1", for that or, with the card 1 current, for "cuda"."""
    number = device.partition(":")[2]
    return _name(int(number) if number else runtime.getDevice())


@cache
def _name(number: int) -> str:
    """The name of a card that can be used."""
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
    """Of "cuda:1", 1."""
    return int(resolve_device(device).partition(":")[2])


def enter_device(device: str) -> int | None:
    """Makes a card the current one; the number of the one before, if that is another."""
    if seen.fault:
        refuse_after_fault()
    number, before = number_of(device), runtime.getDevice()
    if number == before:
        return None
    runtime.setDevice(number)
    return before


def leave_device(before: int | None) -> None:
    """The card before is current again."""
    if before is not None:
        runtime.setDevice(before)
