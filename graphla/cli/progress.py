"""What takes its time, on a terminal: a line on standard error once a step has run for a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

_PATIENCE = 1.0  # seconds
_INTERVAL = 0.2


@contextmanager
def progress(step: str) -> Iterator[None]:
    """Show `step` and the seconds it has taken so far, until it is done; then the line goes."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    done = Event()
    clock = Thread(target=_show, args=(step, done), daemon=True)
    clock.start()
    try:
        yield
    finally:
        done.set()
        clock.join()


def _show(step: str, done: Event) -> None:
    start = time.perf_counter()
    if done.wait(_PATIENCE):
        return
    while not done.wait(_INTERVAL):
        print(f"\r\033[K{step}: {time.perf_counter() - start:.0f} s", end="", file=sys.stderr)
        sys.stderr.flush()
    print("\r\033[K", end="", file=sys.stderr)
    sys.stderr.flush()
