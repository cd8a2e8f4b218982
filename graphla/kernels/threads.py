"""A few threads that stay, and `run`, which spreads over them a loop that needs no lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread
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
