"""Tables of measurements, with one row for each strategy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean, harmonic_mean
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """The measurements of a strategy, search by search.

    Speeds are in TEPS, traversed edges per second. Each edge counts once, even if the strategy
    reads it several times.

    Attributes:
        strategy: the name of the strategy.
        edges: the number of edges that each search reached.
        seconds: the duration of each search, in seconds.
        levels: the number of levels of each search.
        launches: the number of kernel launches of each search, or of whole-array operations on the
            CPU.
        moved: the minimum number of bytes that each search must move; None if it is unknown.
        held: the bytes of the data that the strategy reads, and of its state.
        preparing: the seconds that it took to lay out the strategy's data, once for all searches.
        watts: the power of the GPU during the searches, in watts; None if it is unknown or if the
            searches ran on the CPU.
    """

    strategy: str
    edges: Sequence[int]
    seconds: Sequence[float]
    levels: Sequence[int]
    launches: Sequence[int]
    moved: Sequence[int] | None
    held: int
    preparing: float
    watts: float | None = None

    @property
    def teps(self) -> list[float]:
        """TEPS of each search."""
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
        """The harmonic mean of the speeds of all searches, in TEPS.

        It is the number of searches divided by the sum of 1 / TEPS, which is the appropriate mean
        for equal amounts of work.
        """
        return harmonic_mean(self.teps)

    @property
    def speeds(self) -> tuple[float, float, float]:
        """The harmonic mean, the minimum and the maximum of the speeds of all searches, in TEPS."""
        return self.harmonic_mean, self.minimum, self.maximum

    @property
    def time(self) -> float:
        """Mean seconds per search."""
        return fmean(self.seconds)

    @property
    def bandwidth(self) -> float | None:
        """The minimum number of bytes to move, divided by the time in seconds."""
        return None if self.moved is None else sum(self.moved) / sum(self.seconds)

    @property
    def teps_per_watt(self) -> float | None:
        """The harmonic mean of TEPS divided by watts, that is, edges per joule."""
        return None if not self.watts else self.harmonic_mean / self.watts

    def facts(self) -> dict[str, Any]:
        """Return the values of the table's columns, in SI units; unknown values are None."""
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
    """A comparison of strategies on one graph. All their searches found the same levels.

    Attributes:
        machine: the machine on which the strategies ran: the name of a GPU, or the CPU.
        vertices: the number of vertices.
        entries: the number of entries of the adjacency matrix.
        symmetric: whether each edge has a reverse. If so, its two entries count as one edge.
        sources: the source of each search.
        rows: one row of measurements per strategy.
        slow: the names of the strategies that completed no search within the time limit.
    """

    machine: str
    vertices: int
    entries: int
    symmetric: bool
    sources: Sequence[int]
    rows: Sequence[Row]
    slow: Sequence[str] = ()

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
        """The row with the largest harmonic mean of TEPS."""
        return max(self.rows, key=lambda row: row.harmonic_mean)

    def _repr_html_(self) -> str:
        columns = ("strategy", "time, ms", "mega-TEPS, harmonic mean", "slowest", "fastest")
        cells = [
            (row.strategy, 1e3 * row.time, *(1e-6 * teps for teps in row.speeds)) for row in self
        ]
        lines = [
            "".join(f"<th>{name}</th>" for name in columns),
            *(
                f"<td>{escape(name)}</td>" + "".join(f"<td>{x:,.4g}</td>" for x in numbers)
                for name, *numbers in cells
            ),
        ]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        size = f"{self.vertices:,} vertices, {self.entries:,} entries"
        return f"<div>{size}; {escape(self.machine)}<table>{body}</table></div>"

    @property
    def counted(self) -> str:
        """A phrase that states which edges TEPS (traversed edges per second) counts."""
        if self.symmetric:
            return "undirected edges of the source's component, each once"
        return "edges out of the vertices that the source reaches"
