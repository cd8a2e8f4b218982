"""Measure the first call of each function in a new process, with the cache of machine code filled.

    python benchmarks/first_calls.py [NAMES...] [--repeats N] [--empty] [--cpu] [--against PATH]

Each function runs on a small-world graph with 1,000 vertices in N new processes (5 unless given).
The table shows the median times in ms: `import graphla`, the first call, and the second call. The
time of the first call includes the imports that it makes. The last column shows whether
Numba was imported. Before the measurement, one process fills the cache, which is a new folder. With
`--empty`, each function has a cache of its own, which its first process finds empty, and the table
also shows the time of the first call in this process.

`--cpu` measures CPU time instead, which depends less on other programs on the machine.
`--against` measures another checkout of graphla in the same run; the processes alternate, and the
columns of the other checkout come first.

The library functions that use `gl.jit`, such as `hits`, do not compile their loops on this graph
until their calls have taken some time. The process that fills the common cache compiles these loops
at once. With `--empty`, no process compiles them: they run as Python.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

CLOCK = time.process_time if "--cpu" in sys.argv else time.perf_counter
START = CLOCK()

CPU = ["--cpu"] * ("--cpu" in sys.argv)
MOST, MOST_JIT, MOST_EMPTY, MOST_JIT_EMPTY = 120, 150, 1500, 5000  # ms

ON_GRAPH = [
    "average_clustering",
    "average_path_length",
    "betweenness",
    "center",
    "closeness",
    "clustering",
    "component_count",
    "connected_components",
    "core_numbers",
    "diameter",
    "eccentricity",
    "edge_betweenness",
    "eigenvector",
    "greedy_color",
    "harmonic",
    "hits",
    "is_connected",
    "jaccard",
    "k_truss",
    "katz",
    "label_propagation",
    "louvain",
    "maximal_independent_set",
    "maximal_matching",
    "pagerank",
    "spanning_forest",
    "square_clustering",
    "strong_components",
    "transitive_closure",
    "transitivity",
    "triangle_count",
    "truss_numbers",
]
FROM_VERTEX = [
    "bfs",
    "bellman_ford",
    "reachable",
    "shortest_path",
    "sssp",
    "widest_path",
]


def functions(gl: Any, A: Any) -> dict[str, Callable[[], Any]]:
    """Return the functions to call, by name."""
    algorithms = gl.algorithms
    extra: dict[str, tuple] = {"k_truss": (4,), "shortest_path": (0, 20), "katz": (0.01,)}
    extra |= {name: (0,) for name in FROM_VERTEX if name not in extra}
    calls: dict[str, Callable[[], Any]] = {
        name: partial(getattr(algorithms, name), A, *extra.get(name, ()))
        for name in (*ON_GRAPH, *FROM_VERTEX)
    }
    ones = gl.Vector(float, A.nrows)
    ones << 1.0
    calls["A @ A"] = lambda: gl.semiring.plus_times(A @ A).new()
    calls["A @ u"] = lambda: gl.semiring.plus_times(A @ ones).new()
    calls["A + A.T"] = lambda: gl.monoid.plus(A | A.T).new()
    if hasattr(gl, "jit"):
        import jit_programs

        for name in ("bfs", "core_numbers", "shortest_paths"):
            jitted = gl.jit(getattr(jit_programs, name))
            source = A.reduce_rowwise().new() if name == "core_numbers" else 0
            calls[f"gl.jit: {name}"] = partial(jitted, A, source)
    return calls


def make_graph(gl: Any) -> Any:
    """Return a connected graph with 16,000 entries."""
    return gl.generators.watts_strogatz(1000, 16, 0.2, weights=(1.0, 2.0))


def serve(name: str, fills: bool) -> None:
    """Print the times of `import graphla` and of two calls, and whether Numba was imported.

    If `fills` is True, the library functions that use `gl.jit` compile their loops at once.
    """
    import graphla as gl

    imported = 1e3 * (CLOCK() - START)
    gl.config.compiled = False  # so that no loop is loaded before the measured first call
    A = make_graph(gl)
    call = functions(gl, A)[name]
    gl.config.compiled = True
    if fills:
        gl.config.compile_threshold = 0
    times = []
    for _ in range(2):
        begin = CLOCK()
        call()
        times.append(1e3 * (CLOCK() - begin))
    print(json.dumps([imported, *times, "numba" in sys.modules]))


def measure(name: str, cache: str, source: str, *, fills: bool = False) -> list[Any]:
    """Return what `serve` prints in a new process, for the graphla in the folder `source`."""
    Path(cache).mkdir(mode=0o700, exist_ok=True)
    environment = {**os.environ, "GRAPHLA_CACHE_DIR": cache, "PYTHONPATH": source}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, __file__, "--serve", name, *CPU, *["--fill"] * fills]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return json.loads(done.stdout.splitlines()[-1])


def mark(first: float, second: float, limit: int) -> str:
    """Return the time of a first call as text, marked if first - second exceeds `limit`."""
    return f"{first:,.0f}{' MISSED' if first - second > limit else ''}"


def row(name: str, sources: list[str], folder: str, repeats: int, is_empty: bool) -> str:
    """Return a row of the table, with the figures of each checkout."""
    cells = []
    is_jitted = name.startswith("gl.jit")
    caches = [f"{folder}/{k}{name if is_empty else ''}" for k in range(len(sources))]
    firsts = [
        measure(name, *each, fills=not is_empty)[1] for each in zip(caches, sources, strict=True)
    ]
    found: list[list[Any]] = [[] for _ in sources]
    for _ in range(repeats):
        for each, cache, source in zip(found, caches, sources, strict=True):
            each.append(measure(name, cache, source))
    for first, each in zip(firsts, found, strict=True):
        imported, from_disk, second, has_numba = zip(*each, strict=True)
        if is_empty:
            cells.append(mark(first, median(second), MOST_JIT_EMPTY if is_jitted else MOST_EMPTY))
        limit = MOST_JIT if is_jitted else MOST
        cells += [f"{median(imported):.0f}", mark(median(from_disk), median(second), limit)]
        cells += [f"{median(second):.2f}", "yes" if any(has_numba) else "no"]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # pyright: ignore[reportOptionalMemberAccess]
    parser.add_argument("names", nargs="*", help="measure only these functions")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--empty", action="store_true", help="time calls with an empty cache too")
    parser.add_argument("--cpu", action="store_true", help="measure CPU time")
    parser.add_argument("--against", help="a folder with another checkout of graphla")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--fill", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.fill)
        return
    from clock import describe_host

    import graphla as gl

    print(describe_host("numpy", "numba", "llvmlite"))
    sources = [str(Path(gl.__file__).parent.parent)]
    if options.against:
        sources.insert(0, options.against)
    head = ["import", "first call", "second call", "Numba"]
    head = (["empty cache", *head] if options.empty else head) * len(sources)
    print(f"| ms | {' | '.join(head)} |\n|---|{'--:|' * len(head)}")
    names = options.names or functions(gl, make_graph(gl))
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                print(row(name, sources, folder, options.repeats, options.empty), flush=True)
            except RuntimeError as error:
                print(f"| {name} | FAILED: {str(error)[:150]} |", flush=True)


if __name__ == "__main__":
    main()
