"""Progress bars for long computations. They need tqdm; without it, no bar is shown.

Code that may take seconds wraps its loop in `progress` and calls `advance` in each iteration:

    with progress(len(sources), "search", "closeness") as advance:
        for batch in batches:
            ...
            advance(len(batch))

A bar is shown if `config.progress` is True; otherwise `advance` does nothing. The command line sets
`config.progress` if standard error is a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from graphla.settings import config

DELAY = 0.5
"""Number of seconds before the bar appears."""

_shown: list[str] = []  # the descriptions of the bars that are open


@contextmanager
def progress(total: int | None, unit: str, description: str) -> Iterator[Callable[[int], object]]:
    """Show a progress bar while the block runs; yield `advance(count)`, which advances it.

    Args:
        total: the number of units of work, or None if it is unknown.
        unit: the name of one unit, in the singular; "B" counts bytes.
        description: the text before the bar.

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
    """Return whether a progress bar is shown. Nothing else should then write to its line."""
    return bool(_shown)


def _ignore(count: int) -> None:
    pass
