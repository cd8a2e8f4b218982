"""Measure `gl.jit` on the programs in jit_programs.py, and verify each result.

    python benchmarks/jit.py                           all parts, on the default device
    python benchmarks/jit.py --rows bfs hits           the rows with these prefixes
    python benchmarks/jit.py --parts programs rounds   some of the parts
    python benchmarks/jit.py --device cpu --scale 12   small graphs, to try the script
    DATA=folder python benchmarks/jit.py               with the .npz files of real graphs

The part `programs` measures whole calls. The part `rounds` measures the time of one round on
email-Eu-core. The part `cpu` compares the compiled programs, on the CPU with two threads, with the
library's functions. The part `compile` measures a first call in a new process, with an empty cache
and with a filled cache on disk.

A time is the median wall time of the decorated call, measured until the device is idle. The first
call is not included. A time includes the allocation of the result. The table also has the times of
the same function without the decorator, and of the library's own function. If a program cannot be
compiled, raises an error, or returns a wrong result, its row ends with the reason, and the other
rows still run.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import graphs
import jit_programs
import numpy as np
import traversal_checks as checks
from clock import Wall, describe_card, describe_host, take_turns

import graphla as gl
from graphla import Matrix, Vector, agg, binary
from graphla import algorithms as algo

jit: Callable[[Any], Any] = getattr(gl, "jit", lambda function: function)

# A row makes at most CALLS timed calls, none of which starts after ENOUGH seconds. The function
# without the decorator is slow, so it is called at most FEW times.
CALLS, FEW, ENOUGH = 15, 3, 1.0
ALLOWANCE = 1.3  # a variant of a program may take this many times the limit of the program
ROUNDS = 100  # time of a round: (time of 2 ROUNDS rounds - time of ROUNDS rounds) / ROUNDS
GAP = 1e-4  # GAP's limit for the total change of the ranks in the last round of PageRank


# --- measuring ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bar:
    """A time limit and a stricter goal, in the unit of the row."""

    at_most: float
    aim: float

    def __mul__(self, factor: float) -> Bar:
        return Bar(self.at_most * factor, self.aim * factor)

    def verdict(self, figure: float) -> str:
        """Return "aim" if the figure meets the goal, "met" if it meets the limit, else "MISSED"."""
        return "aim" if figure <= self.aim else "met" if figure <= self.at_most else "MISSED"


@dataclass(frozen=True)
class Task:
    """A call of a program on a prepared graph, and a function that verifies its result."""

    args: tuple[Any, ...]
    verify: Callable[[Any], str]  # checks a result; returns a note to print
    hand: Callable[[], Any] | None = None  # the library's function for the same problem
    per: int = 0  # divide times by this number of levels; 0: do not divide
    exact: bool = True  # whether the program must return the same entries without `gl.jit`


@dataclass(frozen=True)
class Row:
    """A row of the table: a program, a graph, and a time limit.

    Limits are in milliseconds, or in microseconds per level if the task divides its time by levels.
    """

    program: str
    graph: str
    make: Callable[[Any], Task]
    bar: Bar | None = None

    @property
    def name(self) -> str:
        return f"{self.program}, {self.graph}"


@dataclass
class Figures:
    """The measurements of a row. Times are in milliseconds."""

    name: str
    bar: Bar | None
    per: int = 0
    jitted: float | None = None
    plain: float | None = None
    hand: float | None = None
    first: float | None = None  # time of the first call of the decorated function
    rounds: list[int] = field(default_factory=list)
    launches: int | None = None
    note: str = ""

    def line(self) -> str:
        """Return a line of the printed table."""
        limit = ""
        if self.bar is not None:
            limit = f"{self.bar.at_most:.3g} ({self.bar.aim:.3g})"
            if self.jitted is not None:
                limit += f" {self.bar.verdict(self.shown(self.jitted))}"
        each = ""
        if self.jitted is not None and sum(self.rounds):
            each = f"{1e3 * self.jitted / sum(self.rounds):.1f}"
        cells = [
            self.name,
            *(_cell(t if t is None else self.shown(t)) for t in (self.jitted,)),
            limit,
            *(_cell(t if t is None else self.shown(t)) for t in (self.plain, self.hand)),
            " + ".join(f"{count:,}" for count in self.rounds),
            each,
            "" if self.launches is None else str(self.launches),
            _cell(self.first),
            self.note,
        ]
        return f"| {' | '.join(cells)} |"

    def short_line(self) -> str:
        """Return a line of the short table at the end."""
        cells = [_cell(t if t is None else self.shown(t)) for t in (self.jitted, self.plain)]
        verdict, limit = "", ""
        if self.bar is not None:
            limit = f"{self.bar.at_most:.3g}"
            if self.jitted is not None:
                verdict = self.bar.verdict(self.shown(self.jitted))
        if "FAILED" in self.note or self.jitted is None:
            verdict = self.note[:60]
        return f"| {self.name} | {cells[0]} | {limit} | {cells[1]} | {verdict} |"

    def shown(self, milliseconds: float) -> float:
        return 1e3 * milliseconds / self.per if self.per else milliseconds


HEAD = (
    "| program | jitted | at most (aim) | plain | library's | rounds | us a round | launches "
    "| first call, ms | verified |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"
)


SHORT_HEAD = "| program | jitted | at most | plain | |\n|---|--:|--:|--:|---|"


def _cell(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3f}" if figure < 100 else f"{figure:,.0f}"


def wait() -> None:
    """Wait until the device is idle."""
    if gl.config.device.startswith("cuda"):
        import_module("cupy").cuda.Device().synchronize()


def finish_compiling() -> None:
    """Wait until all kernels are compiled as a whole. At first, a loop runs as a kernel that is
    linked from separately compiled parts."""
    if gl.config.device.startswith("cuda"):
        import_module("graphla.compilers.cuda").finish_compiling()


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the wall time of a call in milliseconds, and its result."""
    wait()
    start = perf_counter()
    found = call()
    wait()
    return 1e3 * (perf_counter() - start), found


def median_of(call: Callable[[], Any], calls: int = CALLS, enough: float = ENOUGH) -> float:
    """Return the median wall time of up to `calls` calls, in milliseconds."""
    times: list[float] = []
    while len(times) < calls and sum(times) < 1e3 * enough:
        times.append(timed(call)[0])
    return median(times)


def count_rounds(program: Any, *args: Any) -> tuple[Any, list[int]]:
    """Run a program without `gl.jit`. Return its result and the number of iterations of each
    loop."""
    code, counts = program.__code__, {}
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(program)))):
        if isinstance(node, (ast.While, ast.For)):
            counts[code.co_firstlineno + node.body[0].lineno - 1] = 0

    def see_line(frame: Any, event: str, _: Any) -> Any:
        if event == "line" and frame.f_lineno in counts:
            counts[frame.f_lineno] += 1
        return see_line

    sys.settrace(lambda frame, *_: see_line if frame.f_code is code else None)
    try:
        found = program(*args)
    finally:
        sys.settrace(None)
    return found, [count for _, count in sorted(counts.items())]


def count_launches(call: Callable[[], Any]) -> int | None:
    """Return the number of kernels that a call launches on a GPU."""
    if not gl.config.device.startswith("cuda"):
        return None
    from graphla.compilers.cuda import Kernel

    launch, count = Kernel.__call__, 0

    def launch_and_count(kernel: Any, *args: Any, **options: Any) -> None:
        nonlocal count
        count += 1
        launch(kernel, *args, **options)

    patched: Any = Kernel
    patched.__call__ = launch_and_count
    try:
        call()
    finally:
        patched.__call__ = launch
    return count


def vectors_of(found: Any) -> list[Vector]:
    return list(found) if isinstance(found, tuple) else [found]


def compare(found: Any, plain: Any, exact: bool) -> str:
    """Compare the results of a program with and without `gl.jit`; return a note to print."""
    far = 0.0
    for k, (u, v) in enumerate(zip(vectors_of(found), vectors_of(plain), strict=True)):
        if u.dtype != v.dtype:
            raise AssertionError(f"result {k} is {u.dtype}, but plain it is {v.dtype}")
        (i, x), (j, y) = u.to_coo(copy=False), v.to_coo(copy=False)
        if i.size != j.size or not bool((i == j).all()):
            raise AssertionError(f"result {k} has other entries than plain")
        if not i.size:
            continue
        if np.dtype(u.dtype.np_type).kind == "f":
            far = max(far, float(abs(x - y).max() / max(float(abs(y).max()), 1e-300)))
        elif exact and not bool((x == y).all()):
            raise AssertionError(f"result {k} has other values than plain")
    return f", plain within {far:.0e}" if far else ""


def reason(error: BaseException) -> str:
    """Return the first line of an error message, for a cell of the table."""
    text = f"{type(error).__name__}: {error}".strip()
    return text.splitlines()[0][:240].replace("|", "/")


def measure(row: Row) -> Figures:
    """Verify and time a program with `gl.jit` and without it, and time the library's function."""
    figures = Figures(row.name, row.bar)
    program = getattr(jit_programs, row.program)
    try:
        task = row.make(row.graph)
    except Exception as error:
        figures.note = f"NOT RUN: {reason(error)}"
        return figures
    figures.per, found = task.per, None
    try:
        compiled = jit(program)
        figures.first, found = timed(lambda: compiled(*task.args))
        figures.note = task.verify(found)
        finish_compiling()
        figures.jitted = median_of(lambda: compiled(*task.args))
        figures.launches = count_launches(lambda: compiled(*task.args))
    except Exception as error:
        figures.note = f"FAILED: {reason(error)}"
    try:
        plain, figures.rounds = count_rounds(program, *task.args)
        figures.plain = median_of(lambda: program(*task.args), FEW)
        if found is not None:
            figures.note += compare(found, plain, task.exact)
        if task.hand is not None:
            task.hand()
            figures.hand = median_of(task.hand, FEW)
    except Exception as error:
        figures.note += f" PLAIN FAILED: {reason(error)}"
    return figures


# --- graphs ---------------------------------------------------------------------------------------


SIDE = 1000
HERE = Path(__file__).resolve()
# The .npz files are in the folder that DATA names, or in shared/data in the clone or next to it.
PLACES = [path / "shared" / "data" for path in HERE.parents[1:3]]
DATA = Path(os.environ.get("DATA") or next(filter(Path.is_dir, PLACES), PLACES[0]))


@cache
def graph(name: str) -> Matrix:
    """Return a graph on the configured device; it is cached until the current part ends."""
    kind, _, rest = name.partition(" ")
    if kind == "kron":
        return graphs.kron_on_default_device(int(rest))
    if kind == "grid":
        side = int(rest)
        if gl.config.device.startswith("cuda"):
            return graphs.grid(side, side, 0.15)
        return gl.generators.grid(side, side, drop=0.15, seed=1)
    if kind == "email-Eu-core":
        with np.load(DATA / "email-Eu-core.npz", allow_pickle=False) as file:
            u, v, n = file["src"], file["dst"], int(file["n"])
        return Matrix.from_coo(u, v, True, nrows=n, ncols=n)
    return gl.datasets.load(kind)


@cache
def weighted(name: str) -> Matrix:
    return graphs.with_weights(graph(name))


@cache
def source_of(name: str) -> int:
    """Return a random vertex of the largest component."""
    return graphs.giant(graph(name), 1)[0][0]


@cache
def edges_of(name: str) -> checks.Edges:
    return checks.Edges.of(graph(name))


@cache
def levels_of(name: str) -> Any:
    """Return the verified levels of the library's search from `source_of`, as a dense array."""
    found = algo.bfs(graph(name), source_of(name), parents=False).levels
    return checks.check_levels(edges_of(name), source_of(name), found)


@cache
def degrees_of(name: str) -> Vector:
    """Return the nonzero out-degrees."""
    return graph(name).reduce_rowwise(agg.count).new()


@cache
def full_degrees_of(name: str) -> Vector:
    """Return all out-degrees, including zeros."""
    degrees = Vector(int, graph(name).nrows)
    degrees << 0
    degrees(binary.plus) << degrees_of(name)
    return degrees


@cache
def start_of(name: str) -> Vector:
    """Return the ranks from which the library's PageRank starts."""
    A, module = graph(name), import_module("graphla.algorithms.pagerank")
    jump = Vector.from_scalar(1 / A.nrows, A.nrows)
    return module._first_ranks(A, module._share(A, 0.85, jump.dtype, False), jump, 0.85)


@cache
def priorities_of(name: str) -> Vector:
    return import_module("graphla.algorithms._shared.hashed_random").priorities(graph(name), 0)


KEPT = (
    *(graph, weighted, source_of, edges_of, levels_of, degrees_of, full_degrees_of, start_of),
    priorities_of,
)


def forget() -> None:
    """Free all graphs and the vectors that belong to them."""
    for each in KEPT:
        each.cache_clear()
    if gl.config.device.startswith("cuda"):
        import_module("cupy").get_default_memory_pool().free_all_blocks()


# --- tasks ----------------------------------------------------------------------------------------


def depth_of(name: str) -> int:
    """Return the number of BFS levels, used to compute a time per level.

    Return 0 for Kronecker graphs: they have so few levels that no time per level is shown.
    """
    return 0 if name.startswith("kron") else int(levels_of(name).max()) + 1


def same_levels(name: str, levels: Vector) -> str:
    assert bool((checks.spread(levels, np.int32) == levels_of(name)).all()), "other levels"
    return f"{int(levels_of(name).max()) + 1:,} levels"


def parents_task(name: str, position: int | None = None) -> Task:
    """Return the task of a program that returns parents, either alone or as an item of a tuple."""
    A, source = graph(name), source_of(name)

    def verify(found: Any) -> str:
        found = found if position is None else found[position]
        checks.check_parents(edges_of(name), source, levels_of(name), found)
        return "Graph500's rules"

    return Task((A, source), verify, lambda: algo.bfs(A, source), depth_of(name), exact=False)


def blocked_task(name: str) -> Task:
    """Return the task of a search in which one seventh of the vertices are blocked."""
    A, source = graph(name), source_of(name)
    xp = checks.library(A)
    places = xp.arange(0, A.nrows, 7)
    blocked = Vector.from_coo(places[places != source], True, size=A.nrows)

    def verify(found: Vector) -> str:
        reached, parent = found.to_coo(copy=False)
        inside = xp.zeros(A.nrows, bool)
        inside[reached] = True
        free = xp.ones(A.nrows, bool)
        free[blocked.to_coo(copy=False)[0]] = False
        assert bool(free[reached].all()), "a blocked vertex was entered"
        for u, v, _ in edges_of(name).parts():
            assert not bool((inside[u] & free[v] & ~inside[v]).any()), "a vertex is missing"
        assert bool(inside[parent].all()), "a parent was not reached"
        return f"{int(reached.size):,} reached, no blocked vertex"

    return Task((A, source, blocked), verify, lambda: algo.bfs(A, source), depth_of(name), False)


def levels_task(name: str, position: int | None = None) -> Task:
    A, source = graph(name), source_of(name)
    return Task(
        (A, source),
        lambda found: same_levels(name, found if position is None else found[position]),
        lambda: algo.bfs(A, source, parents=False).levels,
        depth_of(name),
    )


def distances_task(name: str) -> Task:
    A, source = weighted(name), source_of(name)

    def verify(found: Vector) -> str:
        checks.check_distances(checks.Edges.of(A, weighted=True), source, found)
        return "no edge improves a distance"

    return Task((A, source), verify, lambda: algo.sssp(A, source))


def near(found: Vector, wanted: Vector, most: float) -> str:
    """Check that two vectors differ by at most `most`, relative to the largest value."""
    x, y = found.to_dense(0, copy=False), wanted.to_dense(0, copy=False)
    wrong = float(abs(x - y).max() / abs(y).max())
    assert wrong <= most, f"differs from the library's by {wrong:.1e}"
    return f"within {wrong:.0e} of the library's"


def pagerank_task(name: str) -> Task:
    A, start, degree = graph(name), start_of(name), degrees_of(name)

    def verify(rank: Vector) -> str:
        after = jit_programs.pagerank_rounds(A, rank, degree, 1)
        change = float(abs(after.to_dense(copy=False) - rank.to_dense(copy=False)).sum())
        total = float(rank.to_dense(copy=False).sum())
        assert change < GAP, f"one more round changes the ranks by {change:.1e}"
        assert abs(total - 1) < 1e-9, f"the ranks add up to {total}"
        return f"one more round changes {change:.0e}"

    hand = partial(algo.pagerank, A, tol=GAP / A.nrows)
    return Task((A, start, degree, GAP), verify, hand, exact=False)


def betweenness_task(name: str) -> Task:
    A, source = graph(name), source_of(name)

    def hand() -> Vector:
        return algo.betweenness(A, sources=[source], normalized=False)

    def verify(found: Vector) -> str:
        # On an undirected graph with one source, the library multiplies the dependencies by (n - 1)
        # / 2, as NetworkX does. Paths from the source do not count for the source.
        wanted = binary.times(hand(), 2 / (A.nrows - 1)).new()
        found = found.dup()
        found[source] = wanted[source] = 0
        return near(found, wanted, 1e-9)

    return Task((A, source), verify, hand, depth_of(name), exact=False)


def same_task(
    args: tuple[Any, ...], hand: Callable[[], Vector], position: int | None = None
) -> Task:
    """Return the task of a program whose result must equal that of the library's function."""

    def verify(found: Any) -> str:
        found = found if position is None else found[position]
        assert found.isequal(hand()), "differs from the library's result"
        return "equals the library's"

    return Task(args, verify, hand)


def components_task(name: str, position: int | None = None) -> Task:
    A = graph(name)
    return same_task((A,), lambda: algo.connected_components(A), position)


def cores_task(name: str, position: int | None = None) -> Task:
    A = graph(name)
    return same_task((A, full_degrees_of(name)), lambda: algo.core_numbers(A), position)


def set_task(name: str, position: int | None = None) -> Task:
    A, hand = graph(name), algo.maximal_independent_set
    return same_task((A, priorities_of(name)), lambda: hand(A), position)


def drawn_set_task(name: str) -> Task:
    A = graph(name)

    def verify(found: Vector) -> str:
        inside = checks.spread(found, bool, False)
        has_neighbor = inside.copy()
        for u, v, _ in edges_of(name).parts():
            assert not bool((inside[u] & inside[v] & (u != v)).any()), "an edge joins two vertices"
            has_neighbor[v[inside[u]]] = True
        assert bool(has_neighbor.all()), "a vertex can be added"
        return f"a maximal set of {int(inside.sum()):,}"

    return Task((A,), verify, lambda: algo.maximal_independent_set(A))


def hits_task(name: str) -> Task:
    A = graph(name)

    def verify(found: Any) -> str:
        return near(found[0], algo.hits(A).hubs, 1e-5)

    return Task((A, 1e-8, 100), verify, lambda: algo.hits(A), exact=False)


def eigenvector_task(name: str) -> Task:
    A = graph(name)

    def hand() -> Vector:
        return algo.eigenvector(A, max_iter=1000)

    def verify(found: Vector) -> str:
        return near(found, hand(), 1e-9)

    return Task((A, 1e-6 * A.nrows, 1000), verify, hand, exact=False)


def katz_task(name: str) -> Task:
    A = graph(name)

    def hand() -> Vector:
        return algo.katz(A, 0.1, normalized=False)

    def verify(found: Vector) -> str:
        return near(found, hand(), 1e-9)

    return Task((A, 0.1, 1e-6 * A.nrows, 1000), verify, hand, exact=False)


def rows_of(scale: int) -> list[Row]:
    """Return the rows of the part `programs`; `scale` is that of the largest graph."""
    large, small = f"kron {scale}", f"kron {scale - 2}"
    grid, road = f"grid {SIDE if scale >= 20 else 50}", "road-NY"
    search, deep = Bar(0.5, 0.3), Bar(12, 5)
    rows = [
        Row("bfs", large, parents_task, search),
        Row("bfs", grid, parents_task, deep),
        Row("pagerank", large, pagerank_task, Bar(9.5, 8)),
        Row("betweenness", large, betweenness_task, Bar(9, 6)),
        Row("betweenness", road, betweenness_task, Bar(25, 12)),
        Row("components", large, components_task, Bar(10, 6)),
        Row("core_numbers", small, cores_task, Bar(18, 12)),
        Row("independent_set", small, set_task, Bar(3, 1.5)),
        Row("hits", road, hits_task, Bar(15, 8)),
        Row("eigenvector", road, eigenvector_task, Bar(5, 3)),
    ]
    for name, make in {
        "bfs_renamed": parents_task,
        "bfs_reordered": parents_task,
        "bfs_mxv": parents_task,
        "bfs_blocked": blocked_task,
        "bfs_own_semiring": parents_task,
        "bfs_with_levels": partial(parents_task, position=1),
        "bfs_with_visits": partial(parents_task, position=0),
        "bfs_with_waits": partial(parents_task, position=0),
        "bfs_levels": levels_task,
        "bfs_levels_own_semiring": levels_task,
    }.items():
        rows += [
            Row(name, large, make, search * ALLOWANCE),
            Row(name, grid, make, deep * ALLOWANCE),
        ]
    rows += [
        Row("bfs_with_paths", large, partial(levels_task, position=0)),
        Row("pagerank_with_new", large, pagerank_task, Bar(9.5, 8) * ALLOWANCE),
        Row("pagerank_mxv", large, pagerank_task, Bar(9.5, 8) * ALLOWANCE),
        Row("eigenvector_mxv", road, eigenvector_task, Bar(5, 3) * ALLOWANCE),
        Row("betweenness_mxv", large, betweenness_task, Bar(9, 6) * ALLOWANCE),
        Row("betweenness_mxv", road, betweenness_task, Bar(25, 12) * ALLOWANCE),
        Row("betweenness_by_levels", large, betweenness_task, Bar(9, 6) * ALLOWANCE),
        Row("betweenness_by_levels", road, betweenness_task, Bar(25, 12) * ALLOWANCE),
        Row("components_vxm", large, components_task, Bar(10, 6) * ALLOWANCE),
        Row("components_by_labels", large, partial(components_task, position=0)),
        Row("core_numbers_by_frontier", small, cores_task, Bar(18, 12) * ALLOWANCE),
        Row(
            "core_numbers_with_turns",
            small,
            partial(cores_task, position=0),
            Bar(18, 12) * ALLOWANCE,
        ),
        Row("independent_set_vxm", small, partial(set_task, position=0), Bar(3, 1.5) * ALLOWANCE),
        Row("independent_set_by_turns", small, drawn_set_task, Bar(3, 1.5) * ALLOWANCE),
        Row("katz", road, katz_task),
        Row("shortest_paths", small, distances_task),
        Row("shortest_paths_by_frontier", small, distances_task),
    ]
    return rows


# --- single rounds --------------------------------------------------------------------------------


def rounds_on_email(names: list[str]) -> list[Figures]:
    """Measure the time of one round on email-Eu-core, by comparing a long with a short call.

    PageRank and similar programs run a given number of rounds. Searches are repeated instead, and
    one of their rounds is one level. A round of `betweenness_of_many` is one level of both loops.
    """
    name = "email-Eu-core"
    A, source = graph(name), source_of(name)
    start, degree = start_of(name), degrees_of(name)
    levels = int(levels_of(name).max()) + 1
    repeats = -(-ROUNDS // levels)
    one, two = Bar(12, 6), Bar(25, 12)
    rows: list[tuple[str, Bar, int, Callable[[int], tuple[Any, ...]]]] = [
        ("pagerank_rounds", one, ROUNDS, lambda k: (A, start, degree, k * ROUNDS)),
        ("eigenvector", one, ROUNDS, lambda k: (A, 0.0, k * ROUNDS)),
        ("katz", one, ROUNDS, lambda k: (A, 0.01, 0.0, k * ROUNDS)),
        ("bfs_of_many", one, repeats * levels, lambda k: (A, [source] * (k * repeats))),
        ("hits_by_powers", two, ROUNDS, lambda k: (A, 0.0, k * ROUNDS)),
        ("betweenness_of_many", two, repeats * levels, lambda k: (A, [source] * (k * repeats))),
    ]
    lines = []
    for program, bar, rounds, args in rows:
        if not names or program.startswith(tuple(names)):
            figures = Figures(f"{program}, a round on {name}, us", bar, rounds)
            time_of_a_round(figures, getattr(jit_programs, program), args)
            lines.append(figures)
            print(figures.line(), flush=True)
    return lines


def time_of_a_round(figures: Figures, program: Any, args: Callable[[int], tuple[Any, ...]]) -> None:
    """Measure how much longer `program(*args(2))` takes than `program(*args(1))`.

    The difference is the time of the rounds that only `program(*args(2))` runs.
    """

    def difference(call: Callable[..., Any], calls: int = CALLS) -> float:
        for k in (1, 2):
            call(*args(k))
        short, long = (median_of(lambda k=k: call(*args(k)), calls) for k in (1, 2))
        return long - short

    try:
        plain = program(*args(1))
        figures.plain = difference(program, FEW)
        compiled = jit(program)
        figures.first, found = timed(lambda: compiled(*args(1)))
        figures.note = "as plain" + compare(found, plain, exact=True)
        compiled(*args(2))
        finish_compiling()
        figures.launches = count_launches(lambda: compiled(*args(2)))
        figures.jitted = difference(compiled)
    except Exception as error:
        figures.note = f"FAILED: {reason(error)}"


# --- the CPU --------------------------------------------------------------------------------------


def ratios_on_cpu(scale: int) -> list[str]:
    """Compare compiled loops with the library's own loops, on the CPU with two threads."""
    lines = ["| CPU, two threads | jitted, ms | library's, ms | ratio | at most | |"]
    lines.append("|---|--:|--:|--:|--:|---|")
    print("\n" + "\n".join(lines), flush=True)
    for name, program, most in (
        (f"kron {scale}", "bfs", 2.0),
        ("road-NY", "bfs", 2.5),
        (f"kron {scale}", "pagerank", 1.5),
    ):
        try:
            ours, theirs, note = compare_on_cpu(program, name)
            missed = "" if ours <= most * theirs else " MISSED"
            figures = f"{_cell(ours)} | {_cell(theirs)} | {ours / theirs:.2f} | {most}{missed}"
        except Exception as error:
            figures, note = f" | | | {most}", f"FAILED: {reason(error)}"
        lines.append(f"| {program}, {name} | {figures} | {note} |")
        print(lines[-1], flush=True)
    return lines


def compare_on_cpu(program: str, name: str) -> tuple[float, float, str]:
    """Return the median times of a compiled program and of the library's function, and a note.

    The two run alternately. Both versions of PageRank start from the same ranks, and neither
    version updates ranks in place.
    """
    A, compiled = graph(name), jit(getattr(jit_programs, program))
    if program == "bfs":
        task, sources = parents_task(name), graphs.giant(A, 4)[0]
        contenders = {"ours": partial(compiled, A), "theirs": partial(algo.bfs, A)}
    else:
        task, sources, start = pagerank_task(name), [0], start_of(name)

        def ranks(_: int) -> Any:
            with gl.config.set(deterministic=True):
                return algo.pagerank(A, tol=GAP / A.nrows, nstart=start)

        contenders = {"ours": lambda _: compiled(*task.args), "theirs": ranks}
    note = task.verify(compiled(*task.args))
    times = take_turns(Wall(frees=True), contenders, sources, repeats=2)
    return median(times["ours"].wall), median(times["theirs"].wall), note


# --- first calls ----------------------------------------------------------------------------------

FIRST = ("bfs", "betweenness", "core_numbers", "hits")
FIRST_ON_CPU = ("bfs",)


def first_calls(names: Iterable[str]) -> dict[str, Any]:
    """Return how many milliseconds longer the first call of each program takes than later calls.

    The programs first run without `gl.jit`, so that all kernels of single statements are loaded.
    The time of a later call is the shorter time of the second and the third call.
    """
    name, found = "email-Eu-core", {}
    A = graph(name)
    everything = {
        "core_numbers": (A, full_degrees_of(name)),
        "hits": (A, 1e-8, 100),
    }
    for each in names:
        function, args = getattr(jit_programs, each), everything.get(each, (A, 0))
        for _ in range(2):
            function(*args)
        compiled = jit(function)
        try:
            first = timed(lambda c=compiled, a=args: c(*a))[0]
            later = [timed(lambda c=compiled, a=args: c(*a))[0] for _ in range(2)]
            found[each] = first - min(later)
        except Exception as error:
            found[each] = reason(error)
    return found


def compilation(device: str) -> list[str]:
    """Measure first calls in new processes: with an empty cache, and with the cache on disk."""
    most = (1500, 20) if device == "cuda" else (5000, 150)
    lines = [f"| first call on {device}, ms | empty cache | at most | from disk | at most |"]
    lines.append("|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "GRAPHLA_CACHE_DIR": f"{folder}/graphla"}
        environment["CUPY_CACHE_DIR"] = f"{folder}/cupy"
        environment["NUMBA_CACHE_DIR"] = f"{folder}/numba"
        # The driver also caches what NVRTC compiles, and compiles a kernel in this cache in a
        # tenth of the time. So this cache must be empty too.
        environment["CUDA_CACHE_PATH"] = f"{folder}/cuda"
        # Let Python write bytecode, as for an installed package, so that no call compiles sources.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = f"{folder}/bytecode"
        others = {"cuda": ("host_info", "cuda_text", "plan"), "cpu": ("numba_text",)}
        modules = ("tracing", device, *others[device])
        engine = f"import {', '.join(f'graphla.program.{each}' for each in modules)}"
        subprocess.run([sys.executable, "-c", engine], capture_output=True, env=environment)
        Path(folder, "graphla").mkdir(mode=0o700)
        command = [sys.executable, __file__, "--serve-first", "--device", device]
        answers = []
        for _ in range(2):
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["no message"])[-1]
                lines.append(f"| FAILED: {last[:200]} | | | | |")
                break
            answers.append(json.loads(done.stdout.splitlines()[-1]))
        else:
            for each, empty in answers[0].items():
                cells = []
                for found, limit in zip((empty, answers[1][each]), most, strict=True):
                    if isinstance(found, str):
                        cells.append(f"FAILED: {found} | {limit:,}")
                    else:
                        missed = " MISSED" if found > limit else ""
                        cells.append(f"{found:,.0f} | {limit:,}{missed}")
                lines.append(f"| {each} | {' | '.join(cells)} |")
    print("\n" + "\n".join(lines), flush=True)
    return lines


# --- main program ---------------------------------------------------------------------------------

PARTS = ("programs", "rounds", "cpu", "compile")


def main() -> None:
    """Measure the parts named on the command line, or all parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # pyright: ignore[reportOptionalMemberAccess]
    parser.add_argument("--device", default=gl.config.device, choices=("cpu", "cuda"))
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument(
        "--rows",
        nargs="+",
        default=[],
        help="measure only programs whose names start with these prefixes",
    )
    parser.add_argument(
        "--graphs",
        nargs="+",
        default=[],
        help="measure only graphs whose names start with these prefixes",
    )
    parser.add_argument(
        "--scale",
        type=int,
        default=22,
        help="log2 of the number of vertices of the largest R-MAT graph",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=100,
        help="in the part `programs`, stop starting new rows after this many seconds",
    )
    parser.add_argument("--serve-first", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    gl.config.device = options.device
    on_card = options.device == "cuda"
    if options.serve_first:
        if not on_card:
            gl.config.compiled, gl.config.threads = True, 2
        print(json.dumps(first_calls(FIRST if on_card else FIRST_ON_CPU)))
        return
    begin = perf_counter()
    print(describe_card() if on_card else describe_host("numpy", "numba"))
    if not hasattr(gl, "jit"):
        print("graphla has no jit: the column `jitted` shows the plain functions")
    table: list[Figures] = []
    if "programs" in options.parts:
        print("\nms, or us a level on graphs with many levels\n" + HEAD, flush=True)
        for row in rows_of(options.scale):
            if options.rows and not row.program.startswith(tuple(options.rows)):
                continue
            if options.graphs and not row.graph.startswith(tuple(options.graphs)):
                continue
            if perf_counter() - begin > options.seconds:
                late = f"not run: {options.seconds:.0f} s are over"
                table.append(Figures(row.name, row.bar, note=late))
                continue
            table.append(measure(row))
            print(table[-1].line(), flush=True)
        forget()
    if "rounds" in options.parts:
        print(f"\n{HEAD}", flush=True)
        try:
            table += rounds_on_email(options.rows)
        except Exception as error:
            print(f"no rounds on email-Eu-core: {reason(error)}")
        forget()
    others: list[str] = []
    if "cpu" in options.parts and find_spec("numba"):
        with gl.config.set(device="cpu", compiled=True, threads=2):
            forget()
            others += ["", *ratios_on_cpu(min(18, options.scale))]
            forget()
    if "compile" in options.parts and hasattr(gl, "jit"):
        for device in ("cuda", "cpu") if on_card else ("cpu",):
            others += ["", *compilation(device)]
    lines = [each.short_line() for each in table]
    print(f"\n{SHORT_HEAD}\n" + "\n".join([*lines, *others]))
    print(f"\n{perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    main()
