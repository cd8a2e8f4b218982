"""Time traversals, compare the times with limits, and verify each result (performance/gpu.md).

    python benchmarks/bfs.py                        all measurements possible on this machine
    python benchmarks/bfs.py kron-24 grid           the graphs with these prefixes
    DATA=folder python benchmarks/bfs.py road       with the .npz files of real graphs
    python benchmarks/bfs.py --json out/bfs.json --trace kron-24

On a GPU, *device* is the time between two events around the whole public call: with a warm memory
pool, initialized outputs, and results in the user's numbering. The GPU is kept busy until the first
event, so that *device* excludes the time that Python needs to start the call. *wall* includes this
time: it lasts from the call until the GPU is idle. The preparation of the matrix is measured
separately. On the CPU, graphla and the libraries that it is compared with run alternately, and both
times are wall times.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import graphs
import numpy as np
import traversal_checks as checks
import traversal_peers as peers
from clock import (
    PAUSE,
    ROUNDS,
    Clock,
    KernelEvents,
    Times,
    Wall,
    describe_card,
    measure,
    take_turns,
)
from scipy.sparse import csgraph
from traversal_cases import ELSEWHERE, Bar, Case, cpu_cases, gpu_cases

import graphla as gl
from graphla import Matrix
from graphla.algorithms import bfs, sssp

MANY = 64
# other libraries, which run on the host, are timed only on graphs with at most this many entries
PEERS_UP_TO = 40_000_000


@dataclass
class Row:
    """A row of the table; times are in milliseconds."""

    name: str
    figure: float
    unit: str
    bar: Bar
    at_least: bool = False
    times: Times | None = None
    edges: int = 0
    depth: float = 0
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Which of its two targets the figure reaches: "aim", "met" or "MISSED".

        It is "aim" if the figure reaches the stricter target `bar.aim`, "met" if it reaches only
        the target `bar.at_most`, and "MISSED" if it reaches neither.
        """
        far = -1 if self.at_least else 1
        if far * self.figure <= far * self.bar.aim:
            return "aim"
        return "met" if far * self.figure <= far * self.bar.at_most else "MISSED"


# --- measured calls -------------------------------------------------------------------------------


def levels_alone(A: Matrix, source: int, dtype: str = "INT32") -> gl.Vector:
    """Run a breadth-first search that returns only levels. Most rows of the table measure this
    search."""
    return bfs(A, source, levels=dtype, parents=False).levels


def levels_and_parents(A: Matrix, source: int) -> tuple[gl.Vector, gl.Vector]:
    """Run a breadth-first search that returns levels and parents."""
    levels, parents = bfs(A, source)
    return levels, parents


def levels_of_many(A: Matrix, sources: list[int], dtype: str = "INT32") -> Any:
    """Run one search from many sources; return an array of levels with one row per source."""
    return gl.algorithms.bfs_levels(A, sources, dtype=dtype)


# --- rows -----------------------------------------------------------------------------------------


@dataclass
class Bench:
    """A graph to benchmark, with the source vertices and the size of their component."""

    case: Case
    A: Matrix
    clock: Clock
    sources: list[int]
    rounds: int
    size: int
    edges: int
    depths: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, case: Case, clock: Clock, count: int, rounds: int) -> Bench:
        A = case.make()
        sources, inside = graphs.giant(A, count)
        edges = graphs.undirected_edges(A, inside)
        return cls(case, A, clock, sources, rounds, inside.size, edges)

    def rows(self) -> Iterator[Row]:
        case = self.case
        if case.light:
            yield self.light_row(case.light)
        if case.plan:
            yield self.plan_row(case.plan)
        prepare(self.A)
        self.verify_levels()
        if case.call:
            yield self.call_row(case.call)
        if case.levels:
            yield self.levels_row(case.name, case.levels)
        if case.a_level:
            yield self.levels_row(case.name, case.a_level, each_level=True)
        if case.both:
            yield self.both_row(case.both)
        if case.many:
            yield self.many_row(case.many, "INT32", "")
            yield self.many_row(case.many, "UINT8", ", a byte")
        if case.shortest:
            yield self.shortest_row(case.shortest)
        if case.beside_csgraph:
            yield self.beside_csgraph_row(case.beside_csgraph)
        if case.dijkstra:
            yield self.beside_dijkstra_row(case.dijkstra)

    def verify_levels(self) -> None:
        """Check the levels from every source, and whether each search reaches the whole
        component."""
        edges = checks.Edges.of(self.A)
        for source in self.sources:
            level = checks.check_levels(edges, source, levels_alone(self.A, source))
            self.depths[source] = int(level.max()) + 1
            self.reaches_all(level)

    def times(self, call: Callable[[Any], Any], rounds: int | None = None) -> Times:
        return measure(self.clock, call, self.sources, rounds or self.rounds)

    def reaches_all(self, found: Any) -> None:
        if int((found >= 0).sum()) != self.size:
            raise AssertionError(f"{int((found >= 0).sum()):,} reached of {self.size:,}")

    def levels_row(self, name: str, bar: Bar, each_level: bool = False) -> Row:
        times = self.times(partial(levels_alone, self.A))
        depth = median(self.depths.values())
        if not each_level:
            return Row(name, median(times.device), "ms", bar, False, times, self.edges, depth)
        depths = [self.depths[s] for s in times.inputs]
        a_level = [1e3 * t / d for t, d in zip(times.device, depths, strict=True)]
        return Row(name, median(a_level), "us a level", bar, False, times, self.edges, depth)

    def light_row(self, bar: Bar) -> Row:
        """Measure searches that use only a light plan.

        Each search runs on a new copy of the matrix, so that the full plan is never built.
        """
        found, edges = Times(), checks.Edges.of(self.A)
        for source in self.sources:
            fresh = graphs.again(self.A)
            self.reaches_all(checks.check_levels(edges, source, levels_alone(fresh, source)))
            found.add(*self.clock.once(partial(levels_alone, fresh, source)), source)
            if fresh.preparation is None or fresh.preparation.tier != "light":
                raise AssertionError(f"{fresh.preparation} where a light one was to be measured")
        name = f"{self.case.name}, light plan"
        return Row(name, median(found.device), "ms", bar, False, found, self.edges)

    def call_row(self, bar: Bar) -> Row:
        times = self.times(partial(levels_alone, self.A), 20)
        figure = 1e3 * median(times.wall)
        return Row(f"{self.case.name}, Python call", figure, "us wall", bar, False, times)

    def both_row(self, bar: Bar) -> Row:
        """Compare the time for levels and parents with the time for levels alone.

        The search trees are first checked with the rules of Graph500.
        """
        edges = checks.Edges.of(self.A)
        for source in self.sources[:8]:
            levels, parents = levels_and_parents(self.A, source)
            level = checks.check_levels(edges, source, levels)
            checks.check_parents(edges, source, level, parents)
        del edges
        alone = self.times(partial(levels_alone, self.A))
        times = self.times(partial(levels_and_parents, self.A))
        figure = median(times.device) / median(alone.device)
        name = f"{self.case.name}, levels and parents"
        return Row(name, figure, "x levels", bar, False, times, self.edges)

    def plan_row(self, bar: Bar) -> Row:
        """Measure the time of the full preparation of a matrix, until the GPU is idle."""
        seconds, fresh = [], self.A
        for _ in range(3):
            fresh = graphs.again(self.A)
            _, wall = self.clock.once(partial(prepare, fresh))
            seconds.append(wall / 1e3)
        notes = {"": fresh.preparation}
        return Row(f"{self.case.name}, plan", median(seconds), "s", bar, notes=notes)

    def many_row(self, bar: Bar, dtype: str, note: str) -> Row:
        """Compare the time of one call for 64 sources with that of 64 calls for one source each.

        Both must find the same levels.
        """
        sources, _ = graphs.giant(self.A, MANY, seed=2)
        together, alone = (
            partial(call, self.A, dtype=dtype) for call in (levels_of_many, levels_alone)
        )
        found: Any = together(sources)
        missing = np.array(checks.NOT_REACHED).astype(found.dtype).item()
        for k, source in enumerate(sources):
            wanted = checks.spread(alone(source), found.dtype, missing)
            if not bool((wanted == found[k]).all()):
                raise AssertionError(f"source {source} among many differs from {source} alone")
        del found
        times = measure(self.clock, together, [sources], 15)
        single = measure(self.clock, alone, sources, 1)
        figure = sum(single.device) / median(times.device)
        name = f"{self.case.name}, {MANY} sources{note}"
        return Row(name, figure, "x the rate", bar, True, times, MANY * self.edges)

    def shortest_row(self, bar: Bar) -> Row:
        """Measure shortest paths; verify them edge by edge, and on small graphs with csgraph."""
        weighted = self.A if self.case.own_weights else graphs.with_weights(self.A)
        self.verify_distances(weighted)
        times = self.times(partial(sssp, weighted))
        with gl.Recorder() as recorder:
            sssp(weighted, self.sources[0])
        name = f"SSSP {self.case.name}"
        notes = steps(recorder.events)
        return Row(name, median(times.device), "ms", bar, False, times, self.edges, notes=notes)

    def verify_distances(self, weighted: Matrix) -> None:
        edges = checks.Edges.of(weighted, weighted=True)
        for source in self.sources:
            distances = sssp(weighted, source).distances
            self.reaches_all(checks.check_distances(edges, source, distances))
        if weighted.nvals < 1 << 22:
            agrees_with_dijkstra(weighted, self.sources[0])

    def beside_csgraph_row(self, bar: Bar) -> Row:
        """Compare the speed of our search for levels and parents with csgraph's."""
        S = peers.host_csr(self.A)
        contenders = {
            "csgraph.breadth_first_order": lambda s: csgraph.breadth_first_order(S, s),
            "levels and parents": partial(levels_and_parents, self.A),
            "levels alone": partial(levels_alone, self.A),
        }
        return self.over(contenders, "levels and parents", self.case.name, bar)

    def beside_dijkstra_row(self, bar: Bar) -> Row:
        """Compare the speed of our `sssp` with csgraph's `dijkstra`."""
        self.verify_distances(self.A)
        S = peers.host_csr(self.A)
        contenders = {
            "csgraph.dijkstra": lambda s: csgraph.dijkstra(S, indices=s),
            "sssp": partial(sssp, self.A),
        }
        return self.over(contenders, "sssp", f"SSSP {self.case.name}", bar)

    def over(self, contenders: Any, ours: str, name: str, bar: Bar) -> Row:
        """Time all contenders; return a row with the speed of `ours` relative to the first one.

        `contenders` maps the name of each contender to a function that runs it from a source, and
        `ours` is the name of the contender that belongs to graphla.
        """
        found = take_turns(
            self.clock, contenders, self.sources, self.rounds, repeats=1, pause=PAUSE
        )
        for contender, times in found.items():
            print(f"    {contender:30}{median(times.wall):10.3f} ms{min(times.wall):10.3f} least")
        first = next(iter(found.values()))
        figure = median(first.wall) / median(found[ours].wall)
        return Row(name, figure, "x csgraph", bar, True, found[ours], self.edges)


def steps(events: list[gl.settings.Event]) -> dict[str, Any]:
    """Return the number of rounds, the number of turns and the mean time per round.

    Near-far search processes the entries with distances up to a limit in rounds, and keeps all
    other entries in the far list. In a turn, it raises the limit, and the entries that are now
    within the limit leave the far list.
    """
    turns = sum(event.direction.startswith("split") for event in events)
    rounds = len(events) - turns
    each = 1e6 * sum(event.seconds for event in events) / max(rounds, 1)
    return {"steps": rounds, "turns": turns, "us a step": f"{each:.1f}"}


def prepare(A: Matrix) -> None:
    """Compute the full preparation of a matrix, or the light one if the full one saves no time."""
    A.prepare()


def agrees_with_dijkstra(A: Matrix, source: int) -> None:
    """Check that the distances from one source equal those of csgraph."""
    wanted = csgraph.dijkstra(peers.host_csr(A), indices=source)
    found = checks.spread(sssp(A, source).distances, np.float64, np.inf)
    assert np.array_equal(found if isinstance(found, np.ndarray) else found.get(), wanted)


# --- the table ------------------------------------------------------------------------------------


HEAD = (
    f"{'':30}{'figure':>10} {'':11}{'at most':>8}{'aim':>7}  {'':7}"
    f"{'median':>9}{'p95':>9}{'max':>9}{'wall':>9}{'GTEPS':>8}{'levels':>8}"
)


def line(row: Row) -> str:
    """Return a row of the table as text."""
    bar = f"{row.bar.at_most:8g}{row.bar.aim:7g}"
    text = f"{row.name:30}{row.figure:10.3f} {row.unit:11}{bar}  {row.verdict:7}"
    if row.times:
        t = row.times
        text += f"{median(t.device):9.3f}{np.percentile(t.device, 95):9.3f}{max(t.device):9.3f}"
        text += f"{median(t.wall):9.3f}"
        text += f"{row.edges / np.mean(t.device) / 1e6:8.3g}" if row.edges else f"{'':8}"
    if row.depth:
        text += f"{row.depth:8.0f}"
    for name, value in row.notes.items():
        text += f"  {name} {value}"
    return text


MARKDOWN_HEAD = (
    "| row | figure | at most | aim for | | device median / p95 / most, ms | wall, ms "
    "| GTEPS, harmonic mean | others, ms |\n|---|--:|--:|--:|---|--:|--:|--:|---|"
)


def markdown(row: Row) -> str:
    """Return a row of the table as Markdown, for docs/performance/gpu.md."""
    cells = [row.name, f"**{row.figure:.3g}** {row.unit}"]
    cells += [f"{row.bar.at_most:g}", f"{row.bar.aim:g}"]
    cells.append({"aim": "met, and the aim", "met": "met", "MISSED": "**missed**"}[row.verdict])
    if row.times:
        t = row.times
        late = np.percentile(t.device, 95)
        cells += [f"{median(t.device):.3g} / {late:.3g} / {max(t.device):.3g}"]
        cells += [f"{median(t.wall):.3g}"]
        cells += [f"{row.edges / np.mean(t.device) / 1e6:.3g}" if row.edges else ""]
    else:
        cells += ["", "", ""]
    return f"| {' | '.join([*cells, ELSEWHERE.get(row.name, '')])} |"


def record(row: Row) -> dict[str, Any]:
    """Return a row as a dictionary that can be saved as JSON."""
    kept = asdict(row) | {"verdict": row.verdict}
    if row.times:
        kept["harmonic mean TEPS"] = row.edges / np.mean(row.times.device) * 1e3
    return kept


def trace(bench: Bench) -> dict[str, Any]:
    """Return the levels of the search with the median time, for `benchmarks/draw_levels.py`."""
    A = bench.A
    times = bench.times(partial(levels_alone, A), 9)
    taken = {s: median(times.device[k :: len(bench.sources)]) for k, s in enumerate(bench.sources)}
    source = sorted(taken, key=lambda s: taken[s])[len(taken) // 2]
    levels_alone(A, source)
    with gl.Recorder() as recorder:
        levels_alone(A, source)
    return {
        "graph": bench.case.name,
        "source": source,
        "seconds": taken[source] / 1e3,
        "levels": [asdict(each) for each in recorder.events],
    }


def run(case: Case, clock: Clock, options: argparse.Namespace) -> Iterator[Row]:
    """Yield the measurements of one graph; also print the times of other libraries if requested."""
    bench = Bench.of(case, clock, options.sources, options.rounds)
    for row in bench.rows():
        print(line(row), flush=True)
        yield row
    if options.trace == case.name:
        options.traced = trace(bench)
    if options.peers and bench.A.nvals <= PEERS_UP_TO:
        for name, ms in peers.beside(bench.A, bench.sources[:3]).items():
            print(f"    {name:26}{ms:10.3f} ms wall")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument(
        "graphs", nargs="*", help="measure only the graphs whose names start with these prefixes"
    )
    parser.add_argument("--sources", type=int, default=32, help="number of sources per graph")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="number of runs per source")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("DATA"),
        help="folder with the .npz files of real graphs",
    )
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="run graphla only")
    parser.add_argument("--markdown", action="store_true", help="also print the table as Markdown")
    parser.add_argument("--json", type=Path, help="write all times to this file")
    parser.add_argument(
        "--trace",
        metavar="GRAPH",
        help="write the levels of one traversal of this graph to the --json file",
    )
    options = parser.parse_args()
    options.traced = None
    data = Path(options.data) if options.data else None
    if gl.config.device.startswith("cuda"):
        print(describe_card())
        clock, cases = KernelEvents(), gpu_cases(data)
    else:
        print(f"{os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}")
        clock, cases = Wall(), cpu_cases(data)
    wanted = tuple(options.graphs) or ("",)
    print(HEAD)
    rows = [
        row for case in cases if case.name.startswith(wanted) for row in run(case, clock, options)
    ]
    print(f"{sum(row.verdict == 'MISSED' for row in rows)} of {len(rows)} bars missed")
    if options.markdown:
        print(MARKDOWN_HEAD, *map(markdown, rows), sep="\n")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        found = {"rows": [record(row) for row in rows], "trace": options.traced}
        options.json.write_text(json.dumps(found, indent=1, default=str))


if __name__ == "__main__":
    main()
