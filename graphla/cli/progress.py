"""Show a progress line on standard error once a step has run for a second.

The line is shown only if standard error is a terminal.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Event, Thread
from typing import Any

from graphla.progress import is_shown

_PATIENCE = 1.0  # seconds
_INTERVAL = 0.2
_BAR = 24  # columns


def shows_bars() -> bool:
    """Return whether progress bars can be shown.

    They require that standard error is a terminal and that tqdm is installed.
    """
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return is_terminal and find_spec("tqdm") is not None


@contextmanager
def progress(step: str, patience: float = _PATIENCE) -> Iterator[None]:
    """Show the text `step` and the elapsed seconds until the `with` block ends; then erase them."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    done = Event()
    clock = Thread(target=_show, args=(step, done, patience), daemon=True)
    clock.start()
    try:
        yield
    finally:
        done.set()
        clock.join()


class Bar:
    """A line with the number of finished steps, the current step, and the estimated time left."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._start = time.perf_counter()

    def step(self, name: str, done: int) -> Any:
        """Show that `done` steps are finished, while the step `name` runs."""
        full = _BAR * done // max(self._steps, 1)
        bar = "█" * full + "░" * (_BAR - full)
        return progress(f"{bar} {done} of {self._steps}{self._left(done)}: {name}", patience=0)

    def _left(self, done: int) -> str:
        """Return the estimated time left, from the mean duration of the finished steps."""
        if not done:
            return ""
        seconds = (time.perf_counter() - self._start) * (self._steps - done) / done
        left = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
        return f", about {left} left"


def _show(step: str, done: Event, patience: float) -> None:
    start = time.perf_counter()
    if done.wait(patience):
        return
    while not done.wait(_INTERVAL):
        if is_shown():  # the work itself shows a bar with more detail
            continue
        print(f"\r\033[K{step}: {time.perf_counter() - start:.0f} s", end="", file=sys.stderr)
        sys.stderr.flush()
    print("\r\033[K", end="", file=sys.stderr)
    sys.stderr.flush()
