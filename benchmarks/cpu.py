"""Measure the CPU times in docs/performance/cpu.md, for graphla and for alternative libraries.

    make bench                                      every section
    python benchmarks/cpu.py bfs sssp --data FOLDER two sections, with .npz road networks in FOLDER

Contenders alternate, so that a slow phase of the machine affects all of them. The timed region is
the whole public call, including its outputs. It excludes building the graph. The first call of each
function, which compiles, is not timed. The time to prepare a matrix for searches is shown
separately. The graphs are symmetric, so no matrix is transposed. The trees and distances of graphla
are verified for every source.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scipy
import scipy.sparse
from clock import PAUSE, ROUNDS, Wall, processor, take_turns
from graphs import stored, with_weights
from scipy.sparse import csgraph

import graphla as gl
from graphla import Matrix, Vector

graphblas: Any = None
if find_spec("graphblas"):
    graphblas = import_module("graphblas")
    graphblas.init("suitesparse", blocking=True)


# --- measuring --------------------------------------------------------------------------------


REPEATS = 4
WALL = Wall(frees=True)


def in_turns(contenders: dict[str, Callable[..., Any]], inputs: list) -> dict[str, list[float]]:
    """Return the times of each contender's calls, in milliseconds. The contenders are measured
    alternately, with a pause before each."""
    found = take_turns(WALL, contenders, inputs, ROUNDS, REPEATS, PAUSE)
    return {name: times.wall for name, times in found.items()}


def report(title: str, times: dict[str, list[float]], edges: float | None = None) -> None:
    """Print one line per contender: its median and minimum time, and the ratio of its median to
    that of the first contender. If `edges` is given, also print the throughput in millions of edges
    per second.
    """
    print(f"\n{title}")
    reference = median(next(iter(times.values())))
    for name, row in times.items():
        line = f"  {name:<44}{median(row):>10.3f} ms{min(row):>10.3f} min"
        line += f"{median(row) / reference:>8.2f} x"
        if edges:
            line += f"{edges / median(row) / 1e3:>10.1f} MTEPS"
        print(line)


def compiled(setting: bool, call: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        with gl.config.set(compiled=setting):
            return call(*args)

    return run


def one_thread(call: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        with gl.config.set(compiled=True, threads=1):
            return call(*args)

    return run


# --- graphs -----------------------------------------------------------------------------------


def giant_sources(A: Matrix, count: int, seed: int = 1) -> list[int]:
    graph = gl.io.to_scipy_sparse(A)
    _, label = csgraph.connected_components(graph, directed=False)
    giant = np.flatnonzero(label == np.bincount(label).argmax())
    return [int(s) for s in np.random.default_rng(seed).choice(giant, count, replace=False)]


def component_edges(A: Matrix, source: int) -> int:
    """Return the number of undirected edges in the source's component. TEPS (traversed edges per
    second) are computed from this number."""
    graph = gl.io.to_scipy_sparse(A)
    _, label = csgraph.connected_components(graph, directed=False)
    inside = label == label[source]
    return int(np.diff(graph.indptr)[inside].sum()) // 2


def verify(A: scipy.sparse.csr_array, source: int, levels: Any, parents: Any) -> None:
    """Check the levels and the parents of a breadth-first search: each parent is one level closer
    to the source, and is joined to the vertex by an edge. Compare the number of reached vertices
    with that of SciPy's csgraph."""
    index, parent = parents.to_coo()
    reached, level = levels.to_coo()
    assert np.array_equal(index, reached)
    of = np.full(levels.size, -1)
    of[reached] = level
    others = index != source
    assert of[source] == 0 and (of[index[others]] == of[parent[others]] + 1).all()
    tree = scipy.sparse.coo_array(
        (np.ones(others.sum(), bool), (parent[others], index[others])), shape=A.shape
    ).tocsr()
    assert (A.astype(bool).multiply(tree)).nnz == others.sum()
    order = csgraph.breadth_first_order(A, source, return_predecessors=False)
    assert len(order) == len(index)


# --- sections ---------------------------------------------------------------------------------


def bfs_in_graphblas(A: Any, source: int) -> Any:
    """Compute BFS levels and parents with python-graphblas, using the loop in its documentation."""
    levels, parents = graphblas.Vector(int, A.nrows), graphblas.Vector(int, A.nrows)
    frontier = graphblas.Vector(int, A.nrows)
    parents[source] = frontier[source] = source
    levels[source] = depth = 0
    any_secondi = graphblas.semiring.ss.any_secondi
    while frontier.nvals:
        depth += 1
        frontier(~parents.S, graphblas.replace) << any_secondi(frontier @ A)
        parents(frontier.S) << frontier
        levels(frontier.S) << depth
    return levels, parents


def bfs(options: Any) -> None:
    quick = options.quick
    graphs = {
        "R-MAT 18, edge factor 16": gl.generators.kronecker(14 if quick else 18, 16, seed=1),
        "road-NY": gl.datasets.load("road-NY"),
    }
    for title, A in graphs.items():
        S = scipy.sparse.csr_array(gl.io.to_scipy_sparse(A).astype(np.float64))
        sources = giant_sources(A, 4 if quick else 16)
        for source in sources:
            for setting in (True, False):
                verify(S, source, *compiled(setting, gl.algorithms.bfs)(A, source))
        contenders = {
            "scipy csgraph.breadth_first_order": lambda s, S=S: csgraph.breadth_first_order(S, s),
            "graphla.algorithms.bfs, Numba": compiled(True, lambda s, A=A: gl.algorithms.bfs(A, s)),
            "the same on one thread": one_thread(lambda s, A=A: gl.algorithms.bfs(A, s)),
            "graphla.algorithms.bfs, NumPy alone": compiled(
                False, lambda s, A=A: gl.algorithms.bfs(A, s)
            ),
        }
        if graphblas:
            G = graphblas.io.from_scipy_sparse(S)
            contenders["python-graphblas, a loop of products"] = lambda s, G=G: bfs_in_graphblas(
                G, s
            )
        times = in_turns(contenders, sources)
        report(
            f"BFS, levels + parents: {title} ({A.nrows:,} vertices, {A.nvals // 2:,} edges; "
            f"{len(sources)} sources)",
            times,
            component_edges(A, sources[0]),
        )
        print(f"  kept for searches: {A.preparation}")


def many(options: Any) -> None:
    A = gl.generators.kronecker(14 if options.quick else 18, 16, seed=1)
    sources = giant_sources(A, 64)

    def one_by_one(_: int) -> None:
        for source in sources:
            gl.algorithms.bfs(A, source, levels="UINT8", parents=False)

    contenders = {
        "one by one": compiled(True, one_by_one),
        "graphla.algorithms.bfs_levels": compiled(
            True, lambda _: gl.algorithms.bfs_levels(A, sources, dtype="UINT8")
        ),
    }
    together = compiled(True, lambda: gl.algorithms.bfs_levels(A, sources, dtype="UINT8"))()
    for row, source in zip(together, sources, strict=True):
        alone = gl.algorithms.bfs(A, source, levels="UINT8", parents=False).levels
        assert np.array_equal(row, alone.to_dense(fill_value=255))
    report(
        f"64 sources at once, levels of one byte: R-MAT 18 ({A.nvals:,} entries)",
        in_turns(contenders, [0]),
    )


def sssp(options: Any) -> None:
    graphs = {"road-NY, weights 1 to 64 made up": with_weights(gl.datasets.load("road-NY"))}
    if options.data:
        for name in ("road-porto-osm", "bremen_dist"):
            graphs[f"{name}, undirected, its own weights"] = stored(options.data, name, True)
    for title, A in graphs.items():
        S = scipy.sparse.csr_array(gl.io.to_scipy_sparse(A).astype(np.float64))
        sources = giant_sources(A, 2 if options.quick else 8)
        for source in sources:
            for setting in (True, False):
                ours = compiled(setting, gl.algorithms.sssp)(A, source)
                dense = ours.to_dense(dtype="FP64", fill_value=np.inf)
                assert np.array_equal(dense, csgraph.dijkstra(S, indices=source))
        F = A.apply(gl.unary.identity["FP64"]).new()
        contenders = {
            "scipy csgraph.dijkstra": lambda s, S=S: csgraph.dijkstra(S, indices=s),
            "graphla.algorithms.sssp, Numba, INT64": compiled(
                True, lambda s, A=A: gl.algorithms.sssp(A, s)
            ),
            "the same, FP64": compiled(True, lambda s, F=F: gl.algorithms.sssp(F, s)),
            "graphla.algorithms.sssp, NumPy alone": compiled(
                False, lambda s, A=A: gl.algorithms.sssp(A, s)
            ),
        }
        report(
            f"SSSP, distances: {title} ({A.nrows:,} vertices, {A.nvals // 2:,} edges; "
            f"{len(sources)} sources)",
            in_turns(contenders, sources),
        )


def spmv(options: Any) -> None:
    A = gl.generators.kronecker(14 if options.quick else 18, 16, seed=1)
    random = np.random.default_rng(2)
    rows, columns, _ = A.to_coo()
    values = random.random(len(rows), dtype=np.float32)
    x = random.random(A.ncols, dtype=np.float32)
    W = Matrix.from_coo(rows, columns, values, nrows=A.nrows, ncols=A.ncols)
    u = Vector.from_dense(x)
    times: dict[str, list[float]] = {}
    for threads in (1, 2):
        contenders: dict[str, Callable[..., Any]] = {}
        G: Any = None
        g: Any = None
        if graphblas:
            G = graphblas.Matrix.from_coo(rows, columns, values, nrows=A.nrows, ncols=A.ncols)
            g = graphblas.Vector.from_dense(x)
            G.wait()
            graphblas.ss.config["nthreads"] = threads
            contenders[f"python-graphblas, {threads} threads"] = lambda _, G=G, g=g: (
                graphblas.semiring.min_plus(G @ g).new().wait()
            )

        def ours(_: int, threads: int = threads) -> Any:
            with gl.config.set(compiled=True, threads=threads):
                return gl.semiring.min_plus(W @ u).new()

        contenders[f"graphla, Numba, {threads} threads"] = ours
        times |= in_turns(contenders, list(range(5 if options.quick else 8)))
        if graphblas:
            theirs = graphblas.semiring.min_plus(G @ g).new().to_dense(fill_value=np.inf)
            assert np.array_equal(ours(0).to_dense(fill_value=np.inf), theirs)
    report(f"SpMV, min_plus float32, full vector: R-MAT 18 ({A.nvals:,} entries)", times)


def imports(options: Any) -> None:
    def fresh(statement: str) -> float:
        return WALL.once(lambda: subprocess.run([sys.executable, "-c", statement], check=True))[1]

    statements = {"import numpy": "import numpy", "import graphla": "import numpy, graphla"}
    times: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(3 if options.quick else 15):
        for name, statement in statements.items():
            times[name].append(fresh(statement))
    report("Importing, in a fresh process", times)
    added = median(times["import graphla"]) - median(times["import numpy"])
    print(f"  graphla adds {added:.0f} ms")


def latency(options: Any) -> None:
    calls = 200 if options.quick else 5000
    A = Matrix.from_coo([0, 0, 1, 2], [0, 1, 2, 0], [1.0, 2.0, 3.0, 4.0], nrows=3, ncols=3)
    u, m = Vector.from_dense([1.0, 2.0, 3.0]), Vector.from_coo([0, 2], [True, True], size=3)
    w = Vector(float, 3)
    min_plus, replace = gl.semiring.min_plus, gl.replace

    def masked() -> None:
        w(m.S, replace) << min_plus(A @ u)

    def method() -> None:
        w(~m.V) << A.mxv(u, min_plus)

    def plain() -> None:
        w << A.mxv(u, min_plus)

    print(f"\nOne call on a 3 x 3 matrix, microseconds (median of 9 runs of {calls} calls)")
    for name, call in {
        "w(m.S, replace) << min_plus(A @ u)": masked,
        "w(~m.V) << A.mxv(u, min_plus)": method,
        "w << A.mxv(u, min_plus)": plain,
    }.items():
        call()
        runs = [WALL.once(lambda call=call: [call() for _ in range(calls)])[1] for _ in range(9)]
        print(f"  {name:<44}{1e3 * median(runs) / calls:>10.1f} us")


def memory(options: Any) -> None:
    print("\nPeak memory of building from COO, beyond the inputs, over the size of the result")
    rng, n, nvals = np.random.default_rng(3), 1 << 20, (1 << 18 if options.quick else 1 << 23)
    rows, columns = rng.integers(0, n, (2, nvals), dtype=np.int64)
    for dtype in (np.float64, np.float32, np.bool_):
        values = rng.random(nvals).astype(dtype)
        for note, (i, j) in {
            "int64 indices": (rows, columns),
            "int32 indices": (rows.astype(np.int32), columns.astype(np.int32)),
        }.items():
            tracemalloc.start()
            A = Matrix.from_coo(i, j, values, nrows=n, ncols=n, dup_op=gl.binary.second)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            size = sum(array.nbytes for array in A.to_csr()[:1]) + A.nvals * (4 + values.itemsize)
            print(f"  {np.dtype(dtype).name:<9}{note:<16}{peak / size:>8.2f} x")


sections = {f.__name__: f for f in (imports, latency, bfs, many, sssp, spmv, memory)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("sections", nargs="*", help=f"some of {', '.join(sections)}")
    parser.add_argument("--quick", action="store_true", help="use small graphs, to test the script")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("DATA"),
        help="folder with the .npz files of real graphs",
    )
    options = parser.parse_args()
    if unknown := set(options.sections) - set(sections):
        parser.error(f"unknown section {', '.join(unknown)}: choose from {', '.join(sections)}")
    versions = {"Python": platform.python_version(), "NumPy": np.__version__}
    versions |= {"SciPy": scipy.__version__, "graphla": gl.__version__}
    if find_spec("numba"):
        versions["Numba"] = import_module("numba").__version__
    if graphblas:
        versions["python-graphblas"] = graphblas.__version__
    print(f"{processor()}, {os.cpu_count()} cores; {platform.system()} {platform.machine()}")
    print(", ".join(f"{name} {version}" for name, version in versions.items()))
    for name in options.sections or sections:
        sections[name](options)


if __name__ == "__main__":
    main()
