"""Call a loop in several threads together.

Threads that wait for work in Python need the GIL, one after another, to enter and to leave the
loop. With 16 threads this takes longer than many searches. So the helper threads of this module
wait in compiled code (`loops/crew`), and call the loop without the GIL. They use its *entry*, a
function to which the wrapper of the loop returns the address (see `graphla.compilers.native`).
Where loops have no such wrapper, `graphla.compilers.threads.run` calls them instead.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from threading import Lock, Thread
from types import BuiltinFunctionType
from typing import Any

import numpy as np

from graphla.compilers import numba_ops
from graphla.compilers.machine_code import ARGUMENT_WORDS, is_supported
from graphla.compilers.numba import Loop, load
from graphla.compilers.threads import run

MAIL_WORDS = 64
MOST = 4
"""Maximum number of crews. If all of them are busy, a thread runs a loop alone."""


def run_together(loop: Loop, arguments: tuple, threads: int, stop: Any) -> int:
    """Return loop(*arguments, 0), computed by this thread with the help of others.

    Up to `threads` - 1 other threads call loop(*arguments, thread) with the numbers of the threads.
    The loop must not need them: they may call it late or not at all. The function waits until all
    calls have ended. `stop` is the stop flag, which the loop must read.
    """
    if threads == 1:
        return loop(*arguments, 0)
    if not is_supported() or not isinstance(loop, BuiltinFunctionType):
        parts = [(thread,) for thread in range(threads)]
        return run(lambda thread: loop(*arguments, thread), parts, threads, stop)[0]
    crew = _crews.take()
    if crew is None:
        return loop(*arguments, 0)
    try:
        return crew.run(loop, arguments, threads - 1)
    finally:
        _crews.give(crew)


class _Crew:
    """Threads that wait for jobs in compiled code. They are started on demand, never stopped."""

    def __init__(self) -> None:
        self.mail = _allocate(MAIL_WORDS)
        self.packed = _allocate(ARGUMENT_WORDS)
        self.address = self.packed.ctypes.data
        self.size = 0
        spec = (numba_ops.nothing,)
        self.lead = load("crew.lead", spec, (self.mail,))
        self.serve = load("crew.serve", spec, (self.mail,))

    def run(self, loop: Any, arguments: tuple, helpers: int) -> int:
        # The process may have too many threads, or be about to exit. The loop needs no helper.
        with suppress(RuntimeError):
            while self.size < helpers:
                Thread(target=self.serve, args=(self.mail,), name="graphla", daemon=True).start()
                self.size += 1
        entry = loop(*arguments, self.packed)
        return self.lead(self.mail, entry, self.address, helpers)


def _allocate(size: int) -> np.ndarray:
    """Return an array that is never freed, because threads use it until the process ends."""
    array = np.zeros(size, np.int64)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(array))
    return array


class _Crews:
    """The crews of this process."""

    def __init__(self) -> None:
        self._idle: list[_Crew] = []
        self._left, self._growing = MOST, Lock()

    def take(self) -> _Crew | None:
        """Return a crew that is idle, or a new one; return None if all are busy."""
        try:
            return self._idle.pop()
        except IndexError:
            pass
        with self._growing:
            if self._left == 0:
                return None
            crew = _Crew()
            self._left -= 1
        return crew

    def give(self, crew: _Crew) -> None:
        self._idle.append(crew)


_crews = _Crews()


def _start_afresh() -> None:
    """Forget all crews, because a forked child has none of its parent's threads."""
    global _crews
    _crews = _Crews()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)
