"""Run compiled loops in threads. `run` divides work among threads; `apart` runs work in another
thread, so that Ctrl-C can interrupt it."""

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
"""Work on at least this many entries runs in another thread, so that Ctrl-C can interrupt it.

Work on fewer entries takes only a few milliseconds, and runs in the calling thread.
"""


def run(
    call: Callable[..., Any], parts: Sequence[tuple], threads: int, stop: Any = None
) -> list[Any]:
    """Return [call(*part) for part in parts], computed by this thread and up to `threads` - 1
    others.

    Each free thread takes the next part. No further part starts once a part has failed, the main
    thread has received an interrupt, or `stop[0]` (the flag of an enclosing `apart`) is set. In
    these cases `run` sets `stop[0]` for the parts in progress, waits for them, and raises the first
    exception.
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
    """Yield the parts, but raise KeyboardInterrupt before the next part if `stop[0]` is set."""
    for part in parts:
        if stop is not None and stop[0]:
            raise KeyboardInterrupt
        yield part


def apart(call: Callable[[], Any], stop: Any, threads: int, work: int = LARGE) -> Any:
    """Return call(), computed by another thread so that Ctrl-C can interrupt the main thread.

    Python runs signal handlers only in the main thread, and only after a compiled loop returns. An
    interrupt sets stop[0], which `call` must read regularly. Once `call` has ended, `apart` raises
    KeyboardInterrupt. `call` may in turn use `run` with up to `threads` threads. Only the main
    thread receives signals, so any other calling thread runs `call` itself. So does the main thread
    if `work` (a number of entries) is below LARGE.
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
    """Return call(), computed by another thread. If an interrupt arrives, that thread is abandoned.

    Use this for library routines that cannot be stopped, such as a sort. `call` must write only to
    arrays that it owns, and read only arrays that no other code changes. `work` is the number of
    entries to process; if it is below LARGE, this thread computes call() itself.
    """
    if work < LARGE or current_thread() is not main_thread():
        return call()
    job = _Job(call, [()], None)
    Thread(target=job.help, name="graphla", daemon=True).start()
    job.wait()
    return job.result()[0]


PATIENCE = 0.05
"""A thread waits for a job in intervals of at most this many seconds. On Windows, a signal does not
interrupt a wait, so it is handled only after the current interval."""


class _Job:
    """The parts of one call. Threads take them one by one until none is left."""

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
        """Run the parts of this job that no thread has taken yet. Taking a part is thread-safe,
        because `next` on an `itertools.count` is atomic."""
        while (part := next(self._taken)) < self._size:
            try:
                if self._may_start() and self._call is not None:
                    self._results[part] = self._call(*self._parts[part])
            except BaseException as error:
                self._error = self._error or error
                self._request_stop()
            finally:
                if next(self._done) == self._size:
                    self._is_over = True
                    self._ended.release()

    def _may_start(self) -> bool:
        if self._error is None and self._stop is not None and self._stop[0]:
            self._error = KeyboardInterrupt()
        return self._error is None

    def _request_stop(self) -> None:
        """Set the stop flag. Otherwise a part in progress might wait forever for a part that has
        failed or will never start."""
        if self._stop is not None:
            self._stop[0] = 1

    def help(self) -> None:
        """Run parts in a helper thread; `cancel` waits until this method ends."""
        self._helpers.append(None)
        try:
            self.work()
        finally:
            self._helpers.pop()

    def wait(self) -> None:
        """Wait until every part has been done or skipped."""
        while not self._is_over:
            self._ended.acquire(timeout=PATIENCE)

    def cancel(self, error: BaseException) -> None:
        """Keep further parts from starting, and wait for the parts that helper threads are running.

        We wait until no helper thread is working on this job. We cannot wait for the count of
        finished parts instead: an interrupt may occur between any two steps of this thread, so this
        count may be wrong. Helpers receive no interrupts.
        """
        self._error = error
        self._request_stop()
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
        """Drop all references to arrays. Otherwise a job that has ended, but is still in the queue
        of the threads, would keep its arrays alive."""
        self._call, self._parts = None, ()


class _Crew:
    """Threads that wait for jobs. They are started on demand and never stopped."""

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
    """Forget all helper threads, because a forked child has none of its parent's threads."""
    global _crew
    _crew = _Crew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)
