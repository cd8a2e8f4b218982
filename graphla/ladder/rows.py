"""What was measured: a row for each strategy, and the rows as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, harmonic_mean
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """What a strategy took, search by search.

    Its speeds are in TEPS: edges traversed per second, each edge counted once however often a
    strategy reads it.
    """

    strategy: str
    edges: Sequence[int]
    """Of what each search reached."""
    seconds: Sequence[float]
    levels: Sequence[int]
    launches: Sequence[int]
    """Of kernels, or of whole-array operations on the CPU."""
    moved: Sequence[int] | None
    """Bytes that each search has to move at least; None where the strategy cannot say."""
    held: int
    """Bytes of what it reads and of its state."""
    preparing: float
    """Seconds to lay out what it reads, once for all searches."""
    watts: float | None = None
    """What the card draws while it searches; None where nobody tells, or the CPU searches."""

    @property
    def teps(self) -> list[float]:
        """Of each search."""
        return [edges / seconds for edges, seconds in zip(self.edges, self.seconds, strict=True)]

    @property
    def mean(self) -> float:
        """TEPS: sum(teps) / searches."""
        return fmean(self.teps)

    @property
    def minimum(self) -> float:
        """TEPS of the slowest search."""
        return min(self.teps)

    @property
    def maximum(self) -> float:
        """TEPS of the fastest search."""
        return max(self.teps)

    @property
    def harmonic_mean(self) -> float:
        """TEPS: searches / sum(1 / teps), the right mean of speeds over one and the same work."""
        return harmonic_mean(self.teps)

    @property
    def time(self) -> float:
        """Seconds of a search, on average."""
        return fmean(self.seconds)

    @property
    def bandwidth(self) -> float | None:
        """Bytes per second: the least that was to be moved, over the time it took."""
        return None if self.moved is None else sum(self.moved) / sum(self.seconds)

    @property
    def teps_per_watt(self) -> float | None:
        """Harmonic mean of TEPS over watts: edges per joule."""
        return None if not self.watts else self.harmonic_mean / self.watts

    def facts(self) -> dict[str, Any]:
        """Its row of a table, in SI units; None where something is not told."""
        return {
            "strategy": self.strategy,
            "searches": len(self.seconds),
            "harmonic_mean_teps": self.harmonic_mean,
            "mean_teps": self.mean,
            "min_teps": self.minimum,
            "max_teps": self.maximum,
            "mean_seconds": self.time,
            "mean_levels": fmean(self.levels),
            "mean_launches": fmean(self.launches),
            "preparing_seconds": self.preparing,
            "held_bytes": self.held,
            "mean_moved_bytes": None if self.moved is None else fmean(self.moved),
            "bytes_per_second": self.bandwidth,
            "watts": self.watts,
            "teps_per_watt": self.teps_per_watt,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Strategies side by side on one graph: every search of each found the levels of the others."""

    machine: str
    """Where they ran: a card by its name, or the CPU."""
    vertices: int
    entries: int
    symmetric: bool
    """Whether each edge leads both ways: then the two entries of one are one edge traversed."""
    sources: Sequence[int]
    rows: Sequence[Row]
    slow: Sequence[str] = ()
    """Strategies that were not done with one search when their time was over."""

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, strategy: str) -> Row:
        for row in self.rows:
            if row.strategy == strategy:
                return row
        timed = ", ".join(row.strategy for row in self.rows)
        raise KeyError(f"{strategy!r} has no row; those timed are {timed}")

    @property
    def fastest(self) -> Row:
        """The row of the greatest harmonic mean."""
        return max(self.rows, key=lambda row: row.harmonic_mean)

    @property
    def counted(self) -> str:
        """Which edges TEPS count."""
        if self.symmetric:
            return "undirected edges of the source's component, each once"
        return "edges out of the vertices that the source reaches"
