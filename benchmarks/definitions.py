"""Compare definitions of algorithms, compiled by `gl.jit`, with the hand-written kernels.

    python benchmarks/definitions.py                            all rows, on the default device
    python benchmarks/definitions.py --rows pagerank "core numbers"   the rows with these prefixes
    python benchmarks/definitions.py --device cpu --scale 10    small graphs, to try the script

The table contains the rows of algorithms.py and corners.py whose algorithms have a hand-written
kernel, and rows for road-NY. The hand-written kernel and the compiled definition get the same
prepared arguments, and run alternately. A time is the median over several calls. On a GPU, it is
the time between two events before and after the call; on the CPU, it is the wall time. The script
verifies that the kernel and the definition return the same result. If a definition cannot be
compiled, raises an error, or returns another result, its row ends with the reason.

If the compiled definition of an algorithm takes at most LIMIT times as long as the hand-written
kernel on every row, the kernel may be deleted. The second table shows for each algorithm whether
this is so, and the number of lines of its kernel.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import graphs
import numpy as np
from clock import Events, Wall, describe_card, describe_host

import graphla as gl
from graphla import Matrix, Vector
from graphla.algorithms import (
    betweenness,
    bfs,
    coloring,
    components,
    cores,
    label_propagation,
    louvain,
    matching,
    pagerank,
    spanning_forest,
    strong_components,
)
from graphla.algorithms._shared import hashed_random, membership
from graphla.operations import accelerate
from graphla.traversal import closure, definition
from semirings.dtypes import INT32

LIMIT = 1.3
# On each row both versions are called at most CALLS times; no call starts after ENOUGH seconds.
CALLS, ENOUGH = 9, 0.4
SMALL = 12  # the scale of the graphs for definitions that contain products of matrices
CPU, CUDA = (Path(gl.__file__).parent / "backends" / name for name in ("cpu", "cuda"))
RANK_TOLERANCE, DAMPING = 1e-4, 0.85


# --- graphs ---------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def graph(name: str, scale: int | None) -> Matrix:
    """Return a graph on the configured device.

    If `scale` is given, the graph has at most about 2^scale vertices. Graphs with random edges
    differ between the CPU and a GPU.
    """
    kind, *numbers = name.split()
    sizes = [int(number) for number in numbers]
    if kind in ("kron", "arcs"):
        sizes[0] = min(sizes[0], scale or sizes[0])
    elif kind == "caterpillar":
        sizes[0] = min(sizes[0], max(2, (1 << scale) // sizes[1])) if scale else sizes[0]
    elif kind == "star-and-path":
        sizes = [min(size, 1 << scale) if scale else size for size in sizes]
    elif kind == "Watts-Strogatz":
        n = 1 << min(sizes[0], scale or sizes[0])
        return gl.generators.watts_strogatz(n, sizes[1], 0.01, seed=1).to(gl.config.device)
    elif kind == "road-NY":
        return gl.generators.grid(1 << scale // 2, 1 << scale // 2) if scale else roads()
    if gl.config.device.startswith("cuda"):
        make = {
            "kron": graphs.kron,
            "arcs": graphs.directed_kron,
            "caterpillar": graphs.caterpillar,
            "star-and-path": graphs.star_with_path,
        }[kind]
        return make(*sizes)
    return on_the_cpu(kind, sizes)


def roads() -> Matrix:
    return gl.datasets.load("road-NY")


def on_the_cpu(kind: str, sizes: list[int]) -> Matrix:
    if kind in ("kron", "arcs"):
        factor = sizes[1] if len(sizes) > 1 else 16
        return gl.generators.kronecker(sizes[0], factor, seed=1, symmetric=kind == "kron")
    if kind == "caterpillar":
        return gl.generators.caterpillar(*sizes)
    leaves, length = sizes
    v = np.arange(1, 1 + leaves + length)
    u = np.where(v <= leaves + 1, 0, v - 1)
    ends = np.concatenate((u, v)), np.concatenate((v, u))
    return Matrix.from_coo(*ends, True, nrows=v.size + 1, ncols=v.size + 1, symmetric=True)


def source_of(A: Matrix) -> int:
    """Return vertex 0 if it has an edge, otherwise a random vertex of the largest component."""
    return 0 if A[0, :].new().nvals else graphs.giant(A, 1)[0][0]


# --- algorithms -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """The hand-written version of a call, and the definition with its arguments."""

    by_hand: Callable[[], Any]
    definition: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Case:
    """An algorithm, its files with hand-written CUDA code, and the graphs of its rows.

    Attributes:
        name: the name in the table.
        files: the files that only the hand-written version needs.
        graphs: the graph of each row.
        make: prepares the arguments of both versions for a graph.
        read: returns the vectors of a result that are compared.
        tolerance: the largest allowed sum of the differences of floating-point values, relative to
            their sum.
        has_matrices: whether the definition multiplies matrices, and so cannot be compiled.
    """

    name: str
    files: tuple[str, ...]
    graphs: tuple[str, ...]
    make: Callable[[Matrix], Pair]
    read: Callable[[Any], list[Vector]] = lambda found: [found]
    tolerance: float = 1e-9
    has_matrices: bool = False


def rank(A: Matrix, dtype: str) -> Pair:
    n, prepare = A.nrows, module_of(pagerank)
    jump = Vector(dtype, n)
    jump << 1 / n
    share = prepare._share(A, DAMPING, jump.dtype, False)
    first = prepare._first_ranks(A, share, jump, DAMPING)
    request = accelerate.PageRank(A, share, first, jump, jump, DAMPING, False, RANK_TOLERANCE, 100)
    return Pair(request.run, prepare.definition, (request,))


def depend(A: Matrix) -> Pair:
    source = source_of(A)
    request = accelerate.Dependencies(A, np.array([source]))
    return Pair(request.run, module_of(betweenness).define_from_one, (A, source))


def connect(A: Matrix) -> Pair:
    return Pair(accelerate.Components(A).run, components.definition, (A,))


def peel(A: Matrix) -> Pair:
    request = accelerate.CoreNumbers(A, False)
    return Pair(request.run, cores.definition, (A,), (("directed", False),))


def color(A: Matrix) -> Pair:
    numbers = coloring.order_vertices(A, "largest_first", 0)
    return Pair(accelerate.GreedyColoring(A, numbers).run, coloring.definition, (A, numbers))


def match(A: Matrix) -> Pair:
    def by_hand() -> Any:
        found = accelerate.Matching(A, False, 0).run()
        return None if found is None else found.select(">=", 0).new()

    return Pair(by_hand, matching.definition, (A, False, 0))


def search(A: Matrix) -> Pair:
    source = source_of(A)
    request = accelerate.Search(A, np.array([source], np.int32), INT32, "any", None, None)
    return Pair(request.run, module_of(bfs).definition, (A, source))


def close(A: Matrix, semiring: str, dtype: str, start: float) -> Pair:
    """Return both versions of the closure from one source, with integer weights from 1 to 64."""
    W, op = graphs.with_weights(A).dup(dtype), gl.semiring.from_string(semiring)[dtype]
    x = Vector.from_coo([source_of(A)], [start], dtype, size=A.nrows)
    return Pair(partial(closure, x, W, op), definition.closure, (x, W, op))


def propagate(A: Matrix) -> Pair:
    W, _ = import_module("graphla.algorithms._shared.community_weights").edge_weights(A, False)
    labels = membership.vertex_numbers(A).dup("INT32")
    run = accelerate.LabelPropagation(W, labels, 10).run
    return Pair(run, module_of(label_propagation).propagate_at_once, (W, labels, 10))


def move(A: Matrix) -> Pair:
    found = module_of(louvain)
    L, out, into, total = found.links_and_degrees(A, False, None)
    factor, seed = 0.5 / total, hashed_random.mix(0)
    rounds = found._rounds(seed)
    request = accelerate.MoveCommunities(L, out, into, factor, found.MARGIN, seed, rounds)
    return Pair(request.run, found.move_in_rounds, (L, out, into, factor, seed))


def grow(A: Matrix) -> Pair:
    U = gl.select.triu(A, 1).new()
    return Pair(
        accelerate.SpanningForest(U, False).run, module_of(spanning_forest).definition, (U,)
    )


def label_strong(A: Matrix) -> Pair:
    return Pair(accelerate.StrongComponents(A).run, module_of(strong_components).definition, (A,))


def module_of(function: Any) -> Any:
    """Return the module of an algorithm. (In the package, its name is bound to the function.)"""
    return import_module(function.__module__)


FOREST, SPINES = "star-and-path 1000000 5000", "caterpillar 10000 200"
BFS_FILES = (
    *("bfs.cu", "bfs.cuh", "bfs_alone.cuh", "bfs_cluster.cuh", "bfs_deep.cu", "bfs_pull.cuh"),
    *("bfs_results.cuh", "bfs_small.cu", "bfs_small.cuh", "bfs.py"),
)
CLOSURE_FILES = (
    "closure.cu",
    "closure.cuh",
    "closure_cells.cuh",
    "closure_lists.cuh",
    "closure.py",
)

CASES = [
    Case(
        "PageRank, FP64",
        ("pagerank.cu", "pagerank.py"),
        ("kron 22", "kron 24", "road-NY"),
        partial(rank, dtype="FP64"),
        lambda found: [found[0]],
        tolerance=1e-4,
    ),
    Case(
        "PageRank, FP32",
        ("pagerank.cu", "pagerank.py"),
        ("kron 22", "kron 24", "road-NY"),
        partial(rank, dtype="FP32"),
        lambda found: [found[0]],
        tolerance=1e-4,
    ),
    Case(
        "betweenness, one source",
        ("betweenness.cu", "betweenness.py"),
        ("kron 22", "kron 24", SPINES, FOREST, "road-NY"),
        depend,
        lambda found: [found.totals],
    ),
    Case(
        "connected components",
        ("components.cu", "components.cuh", "components.py"),
        ("kron 22", "kron 24", "road-NY"),
        connect,
    ),
    Case(
        "core numbers",
        ("cores.cu", "cores.py"),
        ("kron 20", "Watts-Strogatz 20 8", "road-NY"),
        peel,
    ),
    Case(
        "greedy_color",
        ("coloring.cu", "coloring.py"),
        ("kron 20", "kron 20 64", "road-NY"),
        color,
    ),
    Case("maximal_matching", ("matching.cu", "matching.py"), ("kron 20", "road-NY"), match),
    Case(
        "bfs",
        BFS_FILES,
        ("kron 20", "kron 22", "caterpillar 3000 200", "caterpillar 3000 10", SPINES, "road-NY"),
        search,
    ),
    Case(
        "closure, min_plus FP64",
        CLOSURE_FILES,
        ("kron 20", "road-NY"),
        partial(close, semiring="min_plus", dtype="FP64", start=0),
        lambda found: [found.values],
    ),
    Case(
        "closure, max_min INT64",
        CLOSURE_FILES,
        ("kron 20", "road-NY"),
        partial(close, semiring="max_min", dtype="INT64", start=100),
        lambda found: [found.values],
    ),
    Case(
        "label_propagation",
        ("communities.cu", "communities.cuh", "communities.py"),
        ("kron 20",),
        propagate,
        has_matrices=True,
    ),
    Case(
        "louvain, the moves of one level",
        ("communities.cu", "communities.cuh", "communities.py"),
        ("kron 18",),
        move,
        has_matrices=True,
    ),
    Case(
        "spanning_forest",
        ("forest.cu", "forest.py"),
        ("kron 20",),
        grow,
        lambda found: [found.reduce_rowwise(gl.agg.count).new()],
        has_matrices=True,
    ),
    Case(
        "strong_components",
        ("strong_components.cu", "strong_components.py"),
        ("arcs 20",),
        label_strong,
        has_matrices=True,
    ),
]


# --- results --------------------------------------------------------------------------------------


def compare(case: Case, A: Matrix, found: Any, wanted: Any) -> str:
    """Compare the results of the compiled definition and of the hand-written version."""
    if case.name == "bfs":
        return compare_searches(A, found, wanted)
    far = 0.0
    for u, v in zip(case.read(found), case.read(wanted), strict=True):
        (i, x), (j, y) = u.to_coo(copy=False), v.to_coo(copy=False)
        if i.size != j.size or not bool((i == j).all()):
            raise AssertionError("the results have other entries")
        if np.dtype(y.dtype).kind != "f":
            if not bool((x == y).all()):
                raise AssertionError(f"{int((x != y).sum()):,} of {x.size:,} values differ")
        elif x.size:
            difference = abs(x.astype(np.float64) - y).sum() / max(float(abs(y).sum()), 1e-300)
            far = max(far, float(difference))
    if not far <= tolerance_of(case):
        raise AssertionError(f"the values differ by {far:.1e} in all")
    return f"within {far:.0e}" if far else "equal"


def tolerance_of(case: Case) -> float:
    """Return the largest allowed relative difference of the results of a case.

    On the CPU the hand-written loop of PageRank uses each new rank already in the round that
    computes the rank. Let t be RANK_TOLERANCE and d be DAMPING. Both versions stop when a round
    changes the ranks by at most t in total; each result then differs from the exact ranks by at
    most t * d / (1 - d).
    """
    if case.name.startswith("PageRank") and gl.config.device == "cpu":
        return 2 * RANK_TOLERANCE * DAMPING / (1 - DAMPING)
    return case.tolerance


def compare_searches(A: Matrix, found: Any, wanted: Any) -> str:
    """Compare the levels; check that each parent is on the previous level."""
    (levels, parents), (expected, _) = found, wanted
    if not levels.dup("INT64").isequal(expected.dup("INT64")):
        raise AssertionError("the levels differ")
    (at, parent), (there, level) = parents.to_coo(copy=False), levels.to_coo(copy=False)
    if at.size != there.size or not bool((at == there).all()):
        raise AssertionError("the parents have other entries than the levels")
    dense = levels.to_dense(-1, copy=False)
    is_valid = (dense[parent] == level - 1) | ((level == 0) & (parent == at))
    if not bool(is_valid.all()):
        raise AssertionError("a parent is not one level nearer to the source")
    return f"equal levels, {int(level.max()) + 1:,}"


# --- measuring ------------------------------------------------------------------------------------


@dataclass
class Figures:
    """The measurements of a row. Times are in milliseconds."""

    case: Case
    graph: str
    by_hand: float | None = None
    jitted: float | None = None
    first: float | None = None  # time of the first call of the compiled definition
    note: str = ""

    @property
    def ratio(self) -> float | None:
        if self.by_hand is None or self.jitted is None:
            return None
        return self.jitted / self.by_hand

    def line(self) -> str:
        times = (self.by_hand, self.jitted, self.ratio, self.first)
        return f"| {' | '.join((self.case.name, self.graph, *map(cell, times), self.note))} |"


HEAD = (
    "| algorithm | graph | hand-written, ms | jitted, ms | jitted / hand-written | first call, ms "
    "| results |\n|---|---|--:|--:|--:|--:|---|"
)


def cell(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.3g}" if figure < 1000 else f"{figure:,.0f}"


def reason(error: BaseException) -> str:
    """Return the first line of an error message, for a cell of the table."""
    text = f"{type(error).__name__}: {error}".strip()
    return text.splitlines()[0][:240].replace("|", "/")


def measure(case: Case, name: str, scale: int | None) -> Figures:
    """Verify and time both versions of a row."""
    figures = Figures(case, name)
    clock = Events() if gl.config.device.startswith("cuda") else Wall()
    try:
        A = graph(name, min(SMALL, scale or SMALL) if case.has_matrices else scale)
        pair = case.make(A)
        wanted = pair.by_hand()
        if wanted is None:
            figures.note = "there is no hand-written version for this device and configuration"
            return figures
    except Exception as error:
        figures.note = f"NOT RUN: {reason(error)}"
        return figures
    options = dict(pair.options)
    try:
        with warnings.catch_warnings():
            # A warning means that a loop runs as Python, so it counts as an error.
            warnings.simplefilter("error", UserWarning)
            compiled: Any = gl.jit(pair.definition)
            start = perf_counter()
            found = compiled(*pair.arguments, **options)
            figures.first = 1e3 * (perf_counter() - start)
            text = compiled.explain(*pair.arguments, **options)
            if "runs as Python" in text:
                raise RuntimeError(text)
            figures.note = compare(case, A, found, wanted)
            if gl.config.device.startswith("cuda"):
                import_module("graphla.compilers.cuda").finish_compiling()
            times: dict[Callable[[], Any], list[float]] = {
                pair.by_hand: [],
                partial(compiled, *pair.arguments, **options): [],
            }
            for _ in range(CALLS):
                for call, each in times.items():
                    if sum(each) < 1e3 * ENOUGH:
                        each.append(clock.once(call)[0])
            figures.by_hand, figures.jitted = map(median, times.values())
    except Exception as error:
        figures.note = f"FAILED: {reason(error)}"
    return figures


def lines_of(files: tuple[str, ...]) -> int:
    """Return the number of lines of these files or, if the device is the CPU, of the files with the
    same names in the CPU backend."""
    if gl.config.device.startswith("cuda"):
        paths = [CUDA / file for file in files]
    else:
        names = dict.fromkeys(Path(file).with_suffix(".py").name for file in files)
        paths = [folder / name for folder in (CPU, CPU / "loops") for name in names]
    return sum(len(p.read_text(encoding="utf-8").splitlines()) for p in paths if p.exists())


def summarize(figures: list[Figures]) -> None:
    """Print for each algorithm whether its hand-written version may be deleted."""
    print("\n| hand-written files | rows | largest ratio | may be deleted | lines |")
    print("|---|--:|--:|---|--:|")
    for files in dict.fromkeys(each.case.files for each in figures):
        rows = [each for each in figures if each.case.files == files]
        ratios = [each.ratio for each in rows if each.ratio is not None]
        count = sum(len(case.graphs) for case in CASES if case.files == files)
        if len(ratios) < len(rows):
            verdict = "no: a row has no ratio"
        elif max(ratios) > LIMIT:
            verdict = "no"
        else:
            verdict = "yes" if len(rows) == count else f"open: {len(rows)} of {count} rows ran"
        names = ", ".join(dict.fromkeys(each.case.name for each in rows))
        largest = cell(max(ratios, default=None))
        print(f"| {names} | {len(rows)} | {largest} | {verdict} | {lines_of(files):,} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Compare compiled definitions with hand-written kernels."
    )
    parser.add_argument("--device", help="the device (default: the configured device)")
    parser.add_argument(
        "--rows",
        nargs="*",
        default=[],
        help="measure only the rows whose names start with these prefixes",
    )
    parser.add_argument("--scale", type=int, help="use graphs with at most about 2^SCALE vertices")
    parser.add_argument(
        "--seconds", type=float, default=140, help="stop starting new rows after this many seconds"
    )
    options = parser.parse_args()
    if options.device:
        gl.config.device = options.device
    on_card = gl.config.device.startswith("cuda")
    if not on_card:
        gl.config.compiled = True  # compile loops also for small graphs
    print(describe_card() if on_card else describe_host("numpy", "numba"), flush=True)
    print(f"\n{HEAD}", flush=True)
    begin, figures = perf_counter(), []
    rows = [(case, name) for case in CASES for name in case.graphs]
    # Rows with the same graph run one after another, so that only one large graph is in memory.
    order = list(dict.fromkeys(name for _, name in rows))
    for case, name in sorted(rows, key=lambda row: order.index(row[1])):
        if options.rows and not f"{case.name}, {name}".startswith(tuple(options.rows)):
            continue
        if perf_counter() - begin > options.seconds:
            print(f"no more rows after {options.seconds:.0f} s: {case.name}, {name}", flush=True)
            continue
        figures.append(measure(case, name, options.scale))
        print(figures[-1].line(), flush=True)
    summarize(figures)


if __name__ == "__main__":
    main()
