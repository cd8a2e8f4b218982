"""A look-alike of CuPy's streams and events: all is done at once, in order."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

_pointers = itertools.count(16)


class _Local(threading.local):
    stream: Any = None


_local = _Local()


class Event:
    """A point in a stream."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ):
        self.ptr = next(_pointers)
        self.time = 0.0

    done = property(lambda self: True)

    def record(self, stream: Any = None) -> None:
        self.time = time.perf_counter()

    def synchronize(self) -> None:
        """The host waits for it."""


class Stream:
    """A queue of work."""

    null: Stream

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False):
        self.ptr = 0 if null else next(_pointers)
        self._before: list[Any] = []

    done = property(lambda self: True)

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
        """The host waits for it."""
        from ...machine import machine

        machine.raise_faults()

    def record(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """What comes after waits for the event."""


Stream.null = Stream(null=True)


def get_current_stream(device_id: int = -1) -> Stream:
    return _local.stream or Stream.null


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    return 1000 * (end_event.time - start_event.time)


def reads(memory: Any, stream: Any = None) -> None:
    """Work of a stream reads memory."""


def writes(memory: Any, stream: Any = None) -> None:
    """Work of a stream writes memory."""


def host_waits(stream: Any) -> None:
    """The host has seen the end of what a stream has to do so far."""


def kernel_runs(args: Any, parameters: Any, stream: Any, kernel: str) -> None:
    """A kernel is launched."""
