"""Threads for compiled loops: `run` spreads parts over them, `apart` keeps Ctrl-C audible."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread, current_thread, main_thread
from time import sleep
from typing import Any

LARGE = 1 << 18
"""Entries from which a call is worth another thread: fewer are done in some milliseconds."""


def run(
    call: Callable[..., Any], parts: Sequence[tuple], threads: int, stop: Any = None
) -> list[Any]:
    """Return [call(*part) for part in parts], from this thread and at most threads - 1 others.

    Each free thread takes the next part. No part starts after one of them has failed, after the
    main thread has heard an interrupt, or once `stop[0]` is set, the flag of an enclosing `apart`.
    Then `run` waits for the parts that have begun, and raises the first exception.
    """
    helpers = min(threads, len(parts)) - 1
    if helpers <= 0:
        return [call(*part) for part in _until(stop, parts)]
    job = _Job(call, parts, stop)
    try:
        for _ in range(helpers):
            _crew.call(job, helpers)
        job.work()
        job.wait()
    except BaseException as error:
        job.cancel(error)
        raise
    return job.result()


def _until(stop: Any, parts: Sequence[tuple]) -> Iterator[tuple]:
    """Yield the parts; raise KeyboardInterrupt instead of the next one once a stop is wanted."""
    for part in parts:
        if stop is not None and stop[0]:
            raise KeyboardInterrupt
        yield part


def apart(call: Callable[[], Any], stop: Any, threads: int, work: int = LARGE) -> Any:
    """Return call(), from another thread, while the main thread waits and so hears Ctrl-C.

    Python runs the handlers of signals in the main thread alone, and not before a compiled loop
    returns. An interrupt sets stop[0], which `call` must read now and then; it is raised here once
    `call` has ended. `call` may `run` parts over so many threads. Threads other than the main one
    get no signals, and call it themselves; so does the main thread if `work`, a number of entries,
    is small.
    """
    if work < LARGE or current_thread() is not main_thread():
        return call()
    job = _Job(call, [()], stop)
    try:
        _crew.call(job, threads)
        job.wait()
    except BaseException as error:
        stop[0] = 1
        job.cancel(error)
        raise
    return job.result()[0]


def abandonable(call: Callable[[], Any], work: int) -> Any:
    """Return call(), from another thread, which an interrupt leaves to end by itself.

    This is for library routines that cannot be told to stop, such as a sort. `call` must write
    only to arrays that it made, and read only arrays that nothing changes. `work` is as in `apart`.
    """
    if work < LARGE or current_thread() is not main_thread():
        return call()
    job = _Job(call, [()], None)
    Thread(target=job.help, name="graphla", daemon=True).start()
    job.wait()
    return job.result()[0]


PATIENCE = 0.05
"""Seconds of one wait. Where a signal does not end a wait (Windows), it is heard after the wait."""


class _Job:
    """The parts of one call, which threads take one by one until none is left."""

    def __init__(self, call: Callable[..., Any], parts: Sequence[tuple], stop: Any) -> None:
        self._call: Callable[..., Any] | None = call
        self._parts = parts
        self._stop = stop
        self._size = len(parts)
        self._results: list[Any] = [None] * self._size
        self._error: BaseException | None = None
        self._ended = Lock()
        self._ended.acquire()
        self._is_over = False
        self._taken, self._done = count(), count(1)
        self._helpers: list[None] = []

    def work(self) -> None:
        """Do parts until none is left to take. `next` of a count is atomic."""
        while (part := next(self._taken)) < self._size:
            try:
                if self._may_start() and self._call is not None:
                    self._results[part] = self._call(*self._parts[part])
            except BaseException as error:
                self._error = self._error or error
            finally:
                if next(self._done) == self._size:
                    self._is_over = True
                    self._ended.release()

    def _may_start(self) -> bool:
        if self._error is None and self._stop is not None and self._stop[0]:
            self._error = KeyboardInterrupt()
        return self._error is None

    def help(self) -> None:
        """Do parts in a thread of the crew, which `cancel` waits for."""
        self._helpers.append(None)
        try:
            self.work()
        finally:
            self._helpers.pop()

    def wait(self) -> None:
        """Wait until every part has been done or passed over."""
        while not self._is_over:
            self._ended.acquire(timeout=PATIENCE)

    def cancel(self, error: BaseException) -> None:
        """Start no more parts, and wait for those that other threads have begun.

        An interrupt may strike between any two steps of this thread, so the count of parts done
        may be wrong; that of helpers, which get no interrupts, is right.
        """
        self._error = error
        while self._helpers:
            with suppress(KeyboardInterrupt):
                sleep(0.001)
        self._let_go()

    def result(self) -> list[Any]:
        """Return the results of all parts, or raise the first exception."""
        self._let_go()
        if self._error is not None:
            raise self._error
        return self._results

    def _let_go(self) -> None:
        """Drop all references to arrays: a thread may come late to a job that has ended."""
        self._call, self._parts = None, ()


class _Crew:
    """Threads that wait for jobs; started as they are needed, never ended."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._size, self._growing = 0, Lock()

    def call(self, job: _Job, size: int) -> None:
        if self._size < size:
            with self._growing:
                while self._size < size:
                    Thread(target=self._wait, name="graphla", daemon=True).start()
                    self._size += 1
        self._jobs.put(job)

    def _wait(self) -> None:
        while True:
            self._jobs.get().help()


_crew = _Crew()


def _start_afresh() -> None:
    """A forked child has none of its parent's threads."""
    global _crew
    _crew = _Crew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)
