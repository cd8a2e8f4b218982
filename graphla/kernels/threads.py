"""A few threads that stay; `run` spreads over them a loop that needs no lock; `apart` waits."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread, current_thread, main_thread
from typing import Any


def run(call: Callable[..., Any], parts: Sequence[tuple], threads: int) -> list[Any]:
    """[call(*part) for part in parts], by the calling thread and up to threads - 1 others.

    Parts are taken in order by whoever is free. The first exception is raised once all have ended.
    """
    helpers = min(threads, len(parts)) - 1
    if helpers <= 0:
        return [call(*part) for part in parts]
    job = _Job(call, parts)
    for _ in range(helpers):
        _crew.call(job, helpers)
    job.work()
    job.ended.acquire()
    job.let_go()
    if job.error is not None:
        raise job.error
    return job.results


def apart(call: Callable[[], Any], stop: Any, threads: int) -> Any:
    """call(), by another thread while this one, the main one, waits and so hears of Ctrl-C.

    Then stop[0] becomes 1, at which `call` is to end soon, and the interrupt goes on once it has.
    Compiled loops let other threads run, but not the handlers of signals, which wait for the main
    thread to be back in Python. No other thread gets signals: there, it is a plain call. It may
    itself `run` something over so many threads.
    """
    if current_thread() is not main_thread():
        return call()
    job = _Job(call, [()])
    try:
        _crew.call(job, threads)
        while not job.is_over:
            job.ended.acquire(timeout=PATIENCE)
    except BaseException:
        stop[0] = 1
        _wait_for(job)
        raise
    result, error = job.results[0], job.error
    job.let_go()
    if error is not None:
        raise error
    return result


PATIENCE = 0.05
"""Seconds of one wait. Where signals do not end a wait (Windows), they are heard between two."""


def _wait_for(job: _Job) -> None:
    """Until a job has ended, whatever else comes; one that nobody has begun is done here."""
    with suppress(KeyboardInterrupt):
        job.work()
    while not job.is_over:
        with suppress(KeyboardInterrupt):
            job.ended.acquire(timeout=PATIENCE)


class _Job:
    """Parts of one call; the lock `ended` is free once every part has been done."""

    def __init__(self, call: Callable[..., Any], parts: Sequence[tuple]) -> None:
        self.call: Callable[..., Any] | None = call
        self.parts = parts
        self.size = len(parts)
        self.results: list[Any] = [None] * self.size
        self.error: BaseException | None = None
        self.ended = Lock()
        self.ended.acquire()
        self.is_over = False
        self._taken, self._done = count(), count(1)

    def work(self) -> None:
        """Do parts until none is left to take. `next` of a count is atomic."""
        while (part := next(self._taken)) < self.size:
            try:
                if self.call is not None and self.error is None:
                    self.results[part] = self.call(*self.parts[part])
            except BaseException as error:
                self.error = error
            finally:
                if next(self._done) == self.size:
                    self.is_over = True
                    self.ended.release()

    def let_go(self) -> None:
        """Hold no array longer: a thread may come late to a job that has ended."""
        self.call, self.parts = None, ()


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
            self._jobs.get().work()


_crew = _Crew()


def _start_afresh() -> None:
    """A forked child has none of its parent's threads."""
    global _crew
    _crew = _Crew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)
