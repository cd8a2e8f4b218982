"""Compare strategies on one graph: time them from the same sources, and compare their results.

The host's clock times a search from the call of `Prepared.search` until all levels are complete.
This includes resetting the state of the previous search, but neither preparation nor compilation:
an untimed search comes first. Each strategy gets its own matrix, which exists only in CSR form, so
that no strategy profits from data that another one has built.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import cycle
from math import inf
from operator import itemgetter
from typing import Any

import numpy as np

from graphla.algorithms._shared.graph_algorithm import GraphLike
from graphla.algorithms._shared.validation import adjacency, count, real
from graphla.backends import backend
from graphla.backends.values import repeat_value
from graphla.formats import Array
from graphla.graph import Graph
from graphla.graph.cached_properties import degrees, is_symmetric, loops
from graphla.ladder.energy import counter, watts
from graphla.ladder.prepared import Prepared, prepare
from graphla.ladder.rows import Comparison, Row
from graphla.ladder.rung import OutOfTime, Search
from graphla.ladder.sources import drawn
from graphla.ladder.strategies import STRATEGIES, lookup
from graphla.operations.operation import perform
from graphla.operations.values import is_on_card
from graphla.settings import config
from graphla.sparse import Matrix
from graphla.stores import MatrixStore
from semirings.dtypes import BOOL
from semirings.exceptions import DeviceUnavailable, InvalidValue, Panic

MOST = 1 << 20
"""Maximum number of sources in a comparison."""
LIMIT = 0.4
"""Default time limit for all searches of a strategy, in seconds."""
AGAIN = 0.25
"""If all searches of a strategy together take less than this many seconds, they are run a second
time. The shorter of the two times of each search counts."""


def compare(
    A: GraphLike,
    strategies: Sequence[str] | None = None,
    sources: int = 32,
    seed: int = 0,
    *,
    limit: float = LIMIT,
) -> Comparison:
    """``TEPS = edges reached by a search / duration of the search in seconds``.

    Time strategies of breadth-first search on one graph, and compare their results.

    All strategies search from the same sources. The levels of each search are compared with those
    of the first selected strategy that completed a search from the same source.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix (or an expression
            that yields one) with an entry A(i, j) for each edge i -> j. The values of A do not
            matter.
        strategies: a list of keys of `ladder.STRATEGIES`; None selects all that run on A's device.
        sources: the number of sources, at least 1 and at most 2^20. They are vertices with an
            out-edge, and are distinct if there are enough. Vertices that reach the vertex with the
            most out-edges come first.
        seed: an integer of at least 0, which determines the sources.
        limit: the time limit for all searches of a strategy, in seconds, at least 0. A strategy
            that exceeds it searches from fewer sources, as its row shows. A strategy that completes
            no search is listed as slow.

    Returns:
        Comparison: a `Row` for each strategy that completed a search, and a description of the
            graph. Speeds are in traversed edges per second (TEPS).

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has a wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If A has no edges, if a strategy does not exist, if `strategies` is empty, if
            a number is out of range, or if no strategy completes a search within the limit.
        DeviceUnavailable: If a strategy needs a GPU and A is on the CPU.
        Panic: If the levels of a search differ from those of an earlier strategy.

    Examples:
        >>> from graphla import generators, ladder
        >>> found = ladder.compare(generators.grid(30, 30), ["sequential", "closure"], sources=4)
        >>> [row.strategy for row in found], len(found["closure"].teps)
        (['sequential', 'closure'], 4)
    """
    contest = Contest(A, sources, seed)
    return contest.of([contest.row(name, limit) for name in contest.chosen(strategies)])


class Contest:
    """A graph, the sources of the searches, and for each source the result of the first
    strategy."""

    def __init__(self, A: GraphLike, sources: int, seed: int) -> None:
        self._A = A = adjacency(A.matrix if isinstance(A, Graph) else A)
        self._symmetric = is_symmetric(A)
        self._found: dict[int, _Found] = {}
        self._slow: list[str] = []
        how_many, seed = count("sources", sources, 1), count("seed", seed, 0)
        if how_many > MOST:
            raise InvalidValue(f"sources is {sources}, but must be at most {MOST}")
        if not A.nvals:
            raise InvalidValue("A has no edge, but speed is edges per second")
        self.sources = drawn(
            self._rows_alone(), perform("ladder", self._weigh, A._store), how_many, seed
        )

    def chosen(self, names: Sequence[str] | None) -> list[str]:
        """Return the named strategies, or all that run on A's device, in the order of the
        ladder."""
        device = self._A.device
        if names is None:
            return [name for name, each in STRATEGIES.items() if each.runs_on(device)]
        if isinstance(names, str):
            raise TypeError(f"strategies must be a list of names, not {names!r}")
        for name in names:
            if not lookup(name).runs_on(device):
                able = ", ".join(name for name, each in STRATEGIES.items() if each.runs_on(device))
                raise DeviceUnavailable(
                    f"{name} needs a GPU, and the graph is on {device} (A.to('cuda'), or --device "
                    f"cuda of the command, puts it there); those that run on {device} are {able}"
                )
        if not names:
            raise InvalidValue(f"strategies is empty, but the rungs are {', '.join(STRATEGIES)}")
        return [name for name in STRATEGIES if name in names]

    def row(self, name: str, limit: float = LIMIT) -> Row | None:
        """Time a strategy, and compare the levels of each search with those of the first strategy.

        Return None if no search ended within twice the limit.
        """
        limit = real("limit", limit, 0)
        ready = self._prepare(name, limit)
        try:
            if ready.warms_up:
                self._time(ready, 0)
            taken = self._round(ready, limit)
        except OutOfTime:
            self._slow.append(name)
            return None
        if len(taken) == self.sources.size and sum(each[0] for each in taken.values()) < AGAIN:
            again = self._round(ready, limit)
            taken = {k: min(taken[k], again.get(k, taken[k]), key=itemgetter(0)) for k in taken}
        return self._summary(ready, taken)

    def _summary(self, ready: Prepared, taken: dict[int, tuple[float, Search]]) -> Row:
        searches = [search for _, search in taken.values()]
        found = [self._found[k] for k in taken]
        asked = [ready.moves(each.vertices, each.entries, each.depth) for each in found]
        moved = [least for least in asked if least is not None]
        return Row(
            ready.strategy.name,
            edges=[each.edges for each in found],
            seconds=[seconds for seconds, _ in taken.values()],
            levels=[search.depth for search in searches],
            launches=[search.launches for search in searches],
            moved=moved if len(moved) == len(found) else None,
            held=ready.held,
            preparing=ready.seconds,
            watts=self._watts(ready, list(taken), is_on_card(searches[0].levels)),
        )

    def of(self, rows: Sequence[Row | None]) -> Comparison:
        """Return a `Comparison` that describes the graph, the machine and the strategies' results.

        Each row holds the results of one strategy. Rows that are None are omitted.
        """
        A, timed = self._A, [row for row in rows if row is not None]
        if not timed:
            raise InvalidValue(f"limit is too short: no search was done by {', '.join(self._slow)}")
        return Comparison(
            _machine(A.device),
            A.nrows,
            A.nvals,
            self._symmetric,
            self.sources.tolist(),
            timed,
            list(self._slow),
        )

    def _weigh(self, _: MatrixStore) -> np.ndarray:
        """Store the out-degree and the number of edge ends of each vertex.

        They serve to count edges: a search traverses half as many edges as its reached vertices
        have edge ends in total. If the graph is symmetric, a vertex has one end for each edge that
        joins it to another vertex, and two ends for a self-loop. If the graph is not symmetric, a
        vertex has two ends for each out-edge. Return the out-degrees as an array on the host.
        """
        out = degrees(self._A)._store.dense().values
        self._out = out
        self._ends = out + loops(self._A)._store.bitmap().present if self._symmetric else 2 * out
        return backend(self._A.device).to_host(out)

    def _prepare(self, name: str, limit: float) -> Prepared:
        ready = prepare(self._rows_alone(), name)
        if ready.seconds < 10 * limit:  # prepare again, so that the time excludes compilation
            del ready
            ready = prepare(self._rows_alone(), name)
        return ready

    def _rows_alone(self) -> Matrix:
        def alone(forms: MatrixStore) -> MatrixStore:
            rows, true = forms.csr, backend(forms.device).full(1, True, bool)
            rows = replace(rows, values=repeat_value(true, rows.nvals))
            return MatrixStore(forms.device, BOOL, rows, rows if self._symmetric else None)

        return Matrix._of(perform("ladder", alone, self._A._store))

    def _round(self, ready: Prepared, limit: float) -> dict[int, tuple[float, Search]]:
        """Search from one source after another until the time limit is reached.

        There is always a search from the first source. Return the seconds and the result of each
        search, by the index of its source.
        """
        taken, begin = {0: self._time(ready, 0, 2 * limit)}, time.perf_counter()
        for k in range(1, self.sources.size):
            left = limit - (time.perf_counter() - begin) - taken[0][0]
            if left < 0:
                break
            with suppress(OutOfTime):
                taken[k] = self._time(ready, k, left)
        return taken

    def _time(self, ready: Prepared, k: int, within: float = inf) -> tuple[float, Search]:
        source = int(self.sources[k])
        begin = time.perf_counter()
        search = ready.search(source, within)
        ready.wait()
        seconds = time.perf_counter() - begin
        perform("ladder", self._check, self._A._store, ready.strategy.name, k, search)
        return seconds, replace(search, levels=search.levels[:0], present=None)

    def _check(self, _: MatrixStore, name: str, k: int, search: Search) -> None:
        """Compare the result of a search with that of the first strategy from the same source.

        If no strategy has searched from this source yet, store the result for later comparisons.
        """
        do = backend(self._A.device)
        reached, levels = do.asarray(search.reached()), do.asarray(search.levels)
        levels = np.where(reached, levels.astype(np.int32), -1)
        known = self._found.get(k)
        if known is None:
            narrow = levels.astype(np.min_scalar_type(-search.depth))
            ends, entries = (
                int(np.where(reached, each, 0).sum()) for each in (self._ends, self._out)
            )
            vertices = int(reached.sum())
            self._found[k] = _Found(name, narrow, search.depth, ends // 2, vertices, entries)
            return
        wrong, source = levels != known.levels, self.sources[k]
        if bool(wrong.any()):
            v = int(wrong.argmax())
            raise Panic(
                f"{name} gives vertex {v} {_describe_level(levels[v])} from source {source}, but "
                f"{known.strategy} gives {_describe_level(known.levels[v])}; in all "
                f"{int(wrong.sum())} of {wrong.size} vertices differ"
            )
        if search.depth != known.depth:
            raise Panic(
                f"{name} counts {search.depth} levels from source {source}, but "
                f"{known.strategy} counts {known.depth}"
            )

    def _watts(self, ready: Prepared, ks: list[int], on_card: bool) -> float | None:
        if not on_card:
            return None
        turns = cycle(self.sources[ks].tolist())
        return watts(lambda: ready.search(next(turns)), counter(self._A.device))


@dataclass(frozen=True, slots=True)
class _Found:
    """The result of the first search from a source. Unreached vertices have level -1."""

    strategy: str
    levels: Array
    depth: int
    edges: int
    vertices: int
    entries: int
    """Total number of entries in the rows of the reached vertices."""


def _machine(device: str) -> str:
    if device == "cpu":
        return f"the CPU ({config.threads} thread{'s' * (config.threads > 1)})"
    from cupy.cuda import runtime

    card = runtime.getDeviceProperties(int(device.partition(":")[2]))
    return f"{card['name'].decode()} ({device})"


def _describe_level(level: Any) -> str:
    return "no level" if level < 0 else f"level {int(level)}"
