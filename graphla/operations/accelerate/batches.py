"""Batches of sources, for loops that start from many vertices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from graphla.backends.tuning import current
from graphla.progress import progress
from graphla.settings import config


@dataclass(frozen=True)
class BatchSizeTuning:
    """Parameters that determine the batch size."""

    edges: int = 1 << 27
    """Number of matrix entries that the searches of a batch read on the CPU.

    Reading them takes about a second.
    """
    word: int = 64
    """Minimum number of searches in a batch if each search uses one bit of a machine word."""
    share: int = 16
    """Minimum number of searches per thread in a batch whose searches run independently."""
    most: int = 4096
    """The maximum number of searches in a batch."""


TUNING = BatchSizeTuning()


def batches(
    A: Any, count: int, description: str, size: int | None = None, *, cost: int = 1
) -> Iterator[slice]:
    """Divide `count` sources into batches, and display the progress of the searches.

    Yield one slice of the sources per batch. If `size` is given, a batch has at most `size`
    sources. Otherwise the batch size is chosen so that a batch takes about a second on the CPU;
    `cost` is the time for one source, in units of the time of one search. The last batch then also
    includes the sources that do not fill a batch, because a compiled loop does not pay off for a
    very small batch. If there are no sources, there is one empty batch.
    """
    if size is not None:
        ends = list(range(size, count, size))
    else:
        tuning = current(TUNING)
        many, word = tuning.most, tuning.word
        if A.device == "cpu":
            many = tuning.edges // (cost * (A.nrows + A.nvals + 1)) // word * word
            many = max(many, word if cost == 1 else tuning.share * config.threads)
            many = min(many, tuning.most)
        ends = [many * k for k in range(1, count // many)]
    with progress(count, "search", description) as advance:
        for first, last in pairwise([0, *ends, count]):
            yield slice(first, last)
            advance(last - first)
