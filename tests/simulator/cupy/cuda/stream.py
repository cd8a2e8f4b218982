"""A stand-in for CuPy's streams and events that runs all work immediately and checks its order.

On a GPU, only events and host waits order the work of two streams. Each stream has a vector clock:
its own progress, and the progress of every other stream for which it has waited. A fault is
reported in two cases: a stream reads memory, but has not waited for the last write of another
stream to this memory; or a stream overwrites memory that another stream may still be reading.
"""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

from ...machine import SimulatorFault, local, lock, machine

_pointers = itertools.count(16)
Place = tuple[int, int]
"""A stream of a device: the index of the device and the pointer of the stream."""


class _Local(threading.local):
    stream: Any = None


_local = _Local()
_clocks: dict[Place, dict[Place, int]] = {}
_host: dict[Place, int] = {}  # for each stream, the clock value that the host has waited for
_apart: set[int] = set()  # pointers of streams that do not wait for the null stream


def _merge(into: dict[Place, int], other: dict[Place, int]) -> None:
    for place, when in other.items():
        if into.get(place, 0) < when:
            into[place] = when


def _place(stream: Any) -> Place:
    stream = get_current_stream() if stream is None else stream
    return (local.device, stream if isinstance(stream, int) else stream.ptr)


def _clock(place: Place) -> dict[Place, int]:
    """Return the vector clock of a stream, merged with the clocks of its implicit predecessors."""
    clock = _clocks.setdefault(place, {})
    _merge(clock, _host)
    device, pointer = place
    if pointer == 0:  # the null stream and blocking streams wait for each other
        for other, theirs in list(_clocks.items()):
            if other[0] == device and other[1] not in _apart:
                _merge(clock, theirs)
    elif pointer not in _apart and (device, 0) in _clocks:
        _merge(clock, _clocks[device, 0])
    return clock


class Event:
    """A point in the work of a stream."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ):
        self.ptr = next(_pointers)
        self.time = 0.0
        self._clock: dict[Place, int] = {}

    done = property(lambda self: True)

    def record(self, stream: Any = None) -> None:
        with lock:
            self.time = time.perf_counter()
            self._clock = dict(_clock(_place(stream)))

    def synchronize(self) -> None:
        """Make the host wait for the event."""
        with lock:
            _merge(_host, self._clock)
        machine.raise_faults()


class Stream:
    """A stream, which runs its work immediately."""

    null: Stream

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False):
        self.ptr = 0 if null else next(_pointers)
        self._before: list[Any] = []
        if non_blocking:
            _apart.add(self.ptr)

    done = property(lambda self: True)
    is_non_blocking = property(lambda self: self.ptr in _apart)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.ptr == self.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    def __repr__(self) -> str:
        return f"<Stream {self.ptr}>"

    def __enter__(self) -> Stream:
        self._before.append(_local.stream)
        _local.stream = self
        return self

    def __exit__(self, *args: Any) -> None:
        _local.stream = self._before.pop()

    def use(self) -> Stream:
        _local.stream = self
        return self

    def synchronize(self) -> None:
        host_waits(self)
        machine.raise_faults()

    def record(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        with lock:
            _merge(_clock(_place(self)), event._clock)


Stream.null = Stream(null=True)


def get_current_stream(device_id: int = -1) -> Stream:
    return _local.stream or Stream.null


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    return 1000 * (end_event.time - start_event.time)


# --- order checks -------------------------------------------------------------------------------


def host_waits(stream: Any) -> None:
    """Record that the host has waited for all work submitted to a stream so far."""
    with lock:
        _merge(_host, _clock(_place(stream)))


def host_waits_for_all() -> None:
    """Record that the host has waited for all streams of the current device."""
    with lock:
        for place in list(_clocks):
            if place[0] == local.device:
                _merge(_host, _clock(place))


def _refuse(what: str, memory: Any, by: Place, earlier: Place, done: str) -> None:
    raise SimulatorFault(
        f"stream race: {what} of stream {by[1]} on device {by[0]} touches {memory.size} bytes that "
        f"stream {earlier[1]} {done}, and has not waited for it"
    )


def reads(memory: Any, stream: Any = None, what: str = "work") -> None:
    """Record that a stream reads memory. Report a fault if the last write may be unfinished."""
    if memory is None or not machine.strict_streams:
        return
    with lock:
        place = _place(stream)
        clock = _clock(place)
        track = memory.track
        if track.writer is not None and clock.get(track.writer, 0) < track.written:
            _refuse(what, memory, place, track.writer, "wrote")
        clock[place] = track.readers[place] = clock.get(place, 0) + 1


def copies(memory: Any) -> None:
    """Record that the current stream copies from memory; check the order as `reads` does.

    If the current stream is a null stream and the memory is on another device, the current stream
    first waits for the null stream of that device.
    """
    place = _place(None)
    if memory is not None and memory.device_id != place[0] and place[1] == 0:
        with lock:
            _merge(_clock(place), _clock((memory.device_id, 0)))
    reads(memory)


def writes(memory: Any, stream: Any = None, what: str = "work") -> None:
    """Record that a stream writes memory. Report a fault if an earlier use may be unfinished."""
    if memory is None or not machine.strict_streams:
        return
    with lock:
        reads(memory, stream, what)
        place = _place(stream)
        clock = _clocks[place]
        track = memory.track
        for reader, when in track.readers.items():
            if clock.get(reader, 0) < when:
                _refuse(what, memory, place, reader, "reads")
        track.writer, track.written = place, clock[place]
        track.readers.clear()


def kernel_runs(pairs: Any, stream: Any, kernel: str) -> None:
    """Check the memory accesses of a kernel.

    The kernel only reads memory that it gets as a pointer to const. It may write all other memory.
    """
    with lock:
        for argument, parameter in pairs:
            memory = getattr(argument, "_memory", None) or getattr(argument, "mem", None)
            if hasattr(memory, "track"):
                touches = reads if parameter.reads_only else writes
                touches(memory, stream, f"kernel {kernel}")


def freed(track: Any) -> None:
    """Report a fault if memory is freed while another stream may still use it.

    Freed memory can be reused by the stream on which it was allocated.
    """
    with lock:
        clock = _clock(track.taken_on)
        users = dict(track.readers)
        if track.writer is not None:
            users[track.writer] = track.written
        for place, when in users.items():
            if clock.get(place, 0) < when:
                machine.faults.append(
                    f"stream race: memory taken on stream {track.taken_on[1]} was freed while "
                    f"stream {place[1]} may still use it"
                )
                return


def track_of_new_memory() -> Track:
    """Return a Track for memory that the current stream allocates."""
    return Track(_place(None))


class Track:
    """The stream that last wrote a block of memory, and the streams that have read it since."""

    __slots__ = ("readers", "taken_on", "writer", "written")

    def __init__(self, taken_on: Place):
        self.taken_on = taken_on
        self.writer: Place | None = None
        self.written = 0
        self.readers: dict[Place, int] = {}


machine.new_track, machine.freed = track_of_new_memory, freed
