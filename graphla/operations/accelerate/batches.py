"""Batches of sources, for loops that start from many vertices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from graphla.progress import progress
from graphla.settings import config

EDGES = 1 << 27
"""Number of entries that the searches of a batch read on the CPU; this takes about a second."""
WORD, SHARE, MOST = 64, 16, 4096
"""Sizes of a batch. Its minimum is WORD searches, which share a machine word; if searches run
alone, the minimum is SHARE searches per thread. Its maximum is MOST."""


def batches(
    A: Any, count: int, description: str, size: int | None = None, *, cost: int = 1
) -> Iterator[slice]:
    """Divide `count` sources into batches, and show the number of finished searches.

    A batch has at most `size` sources. By default the size is chosen so that a batch takes about a
    second if a source costs `cost` times as much as a search. The last batch then also takes the
    remaining sources, so that no batch is too small for a compiled loop to pay off. If there are no
    sources, there is one empty batch.
    """
    if size is not None:
        ends = list(range(size, count, size))
    else:
        many = MOST
        if A.device == "cpu":
            many = EDGES // (cost * (A.nrows + A.nvals + 1)) // WORD * WORD
            many = min(max(many, WORD if cost == 1 else SHARE * config.threads), MOST)
        ends = [many * k for k in range(1, count // many)]
    with progress(count, "search", description) as advance:
        for first, last in pairwise([0, *ends, count]):
            yield slice(first, last)
            advance(last - first)
