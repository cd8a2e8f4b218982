"""Bars that show how far long work is; tqdm draws them, and without tqdm there are none.

Work that may take seconds is wrapped once, and calls `advance` as it goes:

    with progress(len(sources), "search", "closeness") as advance:
        for batch in batches:
            ...
            advance(len(batch))

A bar is shown where `config.progress` is True: the command line sets it if standard error is a
terminal. Elsewhere `advance` does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from graphla.settings import config

DELAY = 0.5
"""Seconds that work has to take before its bar is shown."""

_shown: list[str] = []  # the descriptions of the bars that are open


@contextmanager
def progress(total: int | None, unit: str, description: str) -> Iterator[Callable[[int], object]]:
    """Show a bar with the time left while the block runs; yield `advance(count)`, which moves it.

    Args:
        total: how many units the work has, or None if that is unknown.
        unit: what is counted, in the singular; "B" counts bytes.
        description: what is shown before the bar.

    >>> from graphla.progress import progress
    >>> with progress(3, "file", "reading") as advance:  # no bar, as config.progress is False
    ...     for _ in range(3):
    ...         advance(1)
    """
    if not config.progress:
        yield _ignore
        return
    from tqdm import tqdm  # config.progress is True only where tqdm is installed

    bar = tqdm(
        total=total,
        unit=unit if unit == "B" else f" {unit}",
        unit_scale=unit == "B",
        unit_divisor=1024,
        desc=description,
        delay=DELAY,
        leave=False,
        dynamic_ncols=True,
    )
    _shown.append(description)
    try:
        with bar:
            yield bar.update
    finally:
        _shown.remove(description)


def is_shown() -> bool:
    """Whether a bar is open, so that nothing else should write to the last line of the terminal."""
    return bool(_shown)


def _ignore(count: int) -> None:
    pass
