"""Measure SpMV, SpMSpV, BFS, small products and matrix construction on the GPU.

SpMV is compared with cuSPARSE, and BFS with a published time of cuGraph.

    python benchmarks/gpu_products.py [small first spmv spmspv bfs build]

The timed region is the whole public call with its output, with a warm memory pool and loaded
kernels. It excludes generating the random graph. Results are verified before timing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median
from time import perf_counter
from typing import Any

import cupy
import cupyx.scipy.sparse
import graphs
import numpy as np
from clock import Events, describe_card, report, take_turns

import graphla as gl
from graphla import Matrix, Vector, semiring
from graphla.algorithms import bfs


def csr_arrays(A: Matrix) -> tuple[Any, Any]:
    """Return the indptr and indices of A on the device."""
    csr = A._store.csr
    return csr.indptr, csr.indices


def with_values(A: Matrix, values: Any) -> Matrix:
    """Return a matrix with the pattern of A and the given values."""
    indptr, indices = csr_arrays(A)
    return Matrix.from_csr(indptr, indices, values, nrows=A.nrows, ncols=A.ncols)


# --- SpMV ---------------------------------------------------------------------------------------


def spmv() -> None:
    """Compare our FP32 product over plus_times with cuSPARSE's, and with our other semirings."""
    spmv_of("kron 22", graphs.kron(22))
    spmv_of("grid 4096 x 4096", graphs.grid(4096, 4096))


def spmv_of(name: str, A: Matrix) -> None:
    """Measure products of the adjacency matrix A and a vector, and print the times as a table."""
    rng = cupy.random.RandomState(2)
    indptr, indices = csr_arrays(A)
    values = rng.random_sample(indices.size, dtype=cupy.float32)
    x = rng.random_sample(A.ncols, dtype=cupy.float32)
    F, u = with_values(A, values), Vector.from_dense(x)
    B, b = with_values(A, values > 0.5), Vector.from_dense(x > 0.5)
    theirs = cupyx.scipy.sparse.csr_matrix((values, indices, indptr), shape=(A.nrows, A.ncols))
    half = Vector.from_dense(cupy.arange(A.nrows) % 2 == 0)
    w = semiring.plus_times(F @ u).new().to_dense(fill_value=0)
    wanted = theirs.get().astype(np.float64) @ x.get().astype(np.float64)
    assert np.allclose(np.asarray(w), wanted, rtol=1e-3), "SpMV is wrong"
    times = take_turns(
        Events(),
        {
            "cupyx (cuSPARSE) FP32": lambda _: theirs @ x,
            "plus_times FP32": lambda _: semiring.plus_times(F @ u).new(),
            "min_plus FP32": lambda _: semiring.min_plus(F @ u).new(),
            "lor_land BOOL": lambda _: semiring.lor_land(B @ b).new(),
            "any_secondi": lambda _: semiring.any_secondi(F @ u).new(),
            "plus_times, iso A": lambda _: semiring.plus_second(A @ u).new(),
            "plus_times, half masked": lambda _: semiring.plus_times(F @ u).new(mask=half.V),
            "lor_land, half masked": lambda _: semiring.lor_land(B @ b).new(mask=half.V),
            "any_secondi, half masked": lambda _: semiring.any_secondi(F @ u).new(mask=half.V),
        },
        [0],
    )
    report(f"SpMV, {name}: {A.nrows:,} rows, {A.nvals:,} entries", times, "entries", A.nvals)


# --- SpMSpV -------------------------------------------------------------------------------------


def spmspv() -> None:
    """Measure push, pull and the direction that graphla chooses, for frontiers of increasing
    size."""
    A = graphs.kron(22)
    rng = cupy.random.RandomState(3)
    F = with_values(A, rng.random_sample(A.nvals, dtype=cupy.float32))
    for share in (0.001, 0.01, 0.1):
        spmspv_of(A, F, share, rng)


def spmspv_of(A: Matrix, F: Matrix, share: float, rng: Any) -> None:
    """Measure products with a frontier, and print the times as a table.

    The frontier contains the fraction `share` of all vertices.
    """
    chosen = cupy.sort(rng.permutation(A.nrows)[: int(share * A.nrows)]).astype(cupy.int32)
    u = Vector.from_coo(chosen, rng.random_sample(chosen.size, dtype=cupy.float32), size=A.nrows)
    seen = Vector.from_coo(chosen, True, size=A.nrows)
    for name, call in {
        "any_secondi": lambda: semiring.any_secondi(u @ A).new(),
        "any_secondi, not what is seen": lambda: semiring.any_secondi(u @ A).new(mask=~seen.S),
        "min_plus FP32": lambda: semiring.min_plus(u @ F).new(),
        "plus_times FP32": lambda: semiring.plus_times(u @ F).new(),
    }.items():

        def forced(towards: Any, call: Any = call) -> Any:
            with gl.direction(towards):
                return call()

        with gl.Recorder() as recorder:
            call()

        def settled(call: Any = call) -> Any:
            with gl.config.set(deterministic=True), gl.direction("push"):
                return call()

        ways = ("push", "pull", "auto")
        contenders: dict[str, Any] = {way: lambda _, way=way: forced(way) for way in ways}
        contenders["push, deterministic"] = lambda _: settled()
        times = take_turns(Events(), contenders, [0])
        title = f"SpMSpV, kron 22, {share:.1%} of the vertices, {name}; the rule: "
        report(title + recorder.events[-1].direction, times)


# --- BFS ----------------------------------------------------------------------------------------


def bfs_levels() -> None:
    """Measure a BFS that is written as a Python loop over products, and verify its results."""
    bfs_of("kron 22", graphs.kron(22), 16, 1.93)
    bfs_of("grid 1000 x 1000, 15 % dropped", graphs.grid(1000, 1000, 0.15), 4, 441.0)


def bfs_of(name: str, A: Matrix, count: int, reference: float) -> None:
    """Measure a BFS from `count` sources in the graph A, and print the times as a table."""
    sources = giant_sources(A, 16)
    for source in sources[:3]:
        verify(A, source, *parents_and_levels(A, source))
    times = take_turns(
        Events(),
        {
            "parents and levels": lambda s: parents_and_levels(A, s),
            "parents": lambda s: parents(A, s),
        },
        sources[:count],
        repeats=1,
    )
    report(f"BFS, {name} (cuGraph, as published in the comparison: {reference} ms)", times)
    with gl.Recorder() as recorder:
        parents(A, sources[0])
    products = [event for event in recorder.events if event.operation == "vxm"]
    print(
        f"  {len(products)} levels; the first: "
        + ", ".join(f"{e.direction} {e.nvals_out:,}" for e in products[:9])
    )


def parents(A: Matrix, source: int) -> Vector:
    """Compute the parents of a BFS in a loop of two GraphBLAS statements per level."""
    n = A.nrows
    parent, frontier = Vector(int, n), Vector(int, n)
    parent[source] = source
    frontier[source] = source
    while frontier.nvals:
        frontier(~parent.S, gl.replace) << semiring.any_secondi(frontier @ A)
        parent(frontier.S) << frontier
    return parent


def parents_and_levels(A: Matrix, source: int) -> tuple[Vector, Vector]:
    """Compute the levels and parents of a BFS in a loop of three GraphBLAS statements per level."""
    n = A.nrows
    levels, parent, frontier = Vector(int, n), Vector(int, n), Vector(int, n)
    frontier[source] = source
    depth = 0
    while frontier.nvals:
        parent(frontier.S) << frontier
        levels(frontier.S) << depth
        frontier(~parent.S, gl.replace) << semiring.any_secondi(frontier @ A)
        depth += 1
    return levels, parent


def giant_sources(A: Matrix, count: int) -> list[int]:
    """Return vertices of the largest component, drawn with a fixed seed."""
    levels, _ = bfs(A, int(cupy.diff(csr_arrays(A)[0]).argmax()))
    inside = np.asarray(levels.to_coo()[0])
    return [int(s) for s in np.random.default_rng(1).choice(inside, count, replace=False)]


def verify(A: Matrix, source: int, levels: Vector, parents: Vector) -> None:
    """Check that the levels of neighbors differ by at most 1, and that the level of each parent is
    the level of its child minus 1."""
    indptr, indices = csr_arrays(A)
    where, found = (cupy.asarray(x) for x in levels.to_coo())
    level = cupy.full(A.nrows, -1, cupy.int64)
    level[where] = found
    rows = cupy.zeros(indices.size, cupy.int32)
    starts = indptr[1:-1][indptr[1:-1] < indices.size]
    cupy.add.at(rows, starts, 1)
    rows = cupy.cumsum(rows, dtype=cupy.int32)
    ahead = level[indices] - level[rows]
    assert int(level[source]) == 0 and int((level == 0).sum()) == 1
    assert bool((abs(ahead) <= 1).all()), "neighbors lie more than one level apart"
    child, parent = (cupy.asarray(x) for x in parents.to_coo())
    assert child.size == where.size and bool((child == where).all())
    others = child != source
    child, parent = child[others], parent[others]
    assert bool((level[child] == level[parent] + 1).all())
    edges = rows.astype(cupy.int64) * A.nrows + indices
    wanted = parent * A.nrows + child
    at = cupy.searchsorted(edges, wanted)
    assert bool((edges[cupy.minimum(at, edges.size - 1)] == wanted).all()), "no such edge"


# --- other measurements -------------------------------------------------------------------------


def small() -> None:
    """Time one masked product with n = 3, from the Python call until the result is ready."""
    A = Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 0], 1.0)
    u, m = Vector.from_coo([0, 1, 2], 1.0), Vector.from_coo([0, 2], True, size=3)
    for name, call in {
        "mxv under a mask, new": lambda _: semiring.min_plus(A @ u).new(mask=m.S),
        "vxm under a mask, new": lambda _: semiring.min_plus(u @ A).new(mask=~m.S),
    }.items():
        report(f"n = 3: {name}", take_turns(Events(), {name: call}, [0], repeats=300))


def build() -> None:
    """Measure the time and memory that Matrix.from_coo takes for the edges of kron 24.

    The input contains both directions of every edge, and it contains duplicate edges.
    """
    rows, columns = graphs.kron_pairs(24)
    rows, columns = cupy.concatenate((rows, columns)), cupy.concatenate((columns, rows))
    pool = cupy.get_default_memory_pool()
    for _ in range(3):
        pool.free_all_blocks()
        before = pool.used_bytes()
        start = perf_counter()
        A = Matrix.from_coo(rows, columns, 1, dup_op=gl.binary.first, nrows=1 << 24, ncols=1 << 24)
        cupy.cuda.Device().synchronize()
        seconds = perf_counter() - start
        peak, result = pool.total_bytes() - before, pool.used_bytes() - before
        print(
            f"\nfrom_coo, kron 24, {rows.size:,} given, {A.nvals:,} kept: {seconds:.3f} s; "
            f"peak {peak / result:.2f} times the result of {result / 1e9:.2f} GB"
        )
        indptr, indices = csr_arrays(A)
        assert int(indptr[-1]) == A.nvals
        del A, indptr, indices


FIRST = """
import time, graphla as gl
A = gl.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 0], 1.0)
u = gl.Vector.from_coo([0, 1, 2], 1.0)
gl.semiring.plus_times(A @ u).new(mask=u.S).nvals
start = time.perf_counter()
gl.semiring.max_plus(A @ u).new(mask=u.S).nvals
with gl.direction("push"):
    gl.semiring.max_plus(u @ A).new(mask=~u.S).nvals
print(time.perf_counter() - start)
"""


def first() -> None:
    """Time a pull and a push at the first use of a semiring, with and without cached kernels."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "GRAPHLA_CACHE_DIR": folder}
        seconds = [
            float(
                subprocess.run(
                    [sys.executable, "-c", FIRST],
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout
            )
            for _ in range(4)
        ]
    print(
        f"\nfirst use of max_plus, pull and push: {1e3 * seconds[0]:.0f} ms compiled, "
        f"{1e3 * median(seconds[1:]):.0f} ms from disk"
    )


SECTIONS = {
    "spmv": spmv,
    "spmspv": spmspv,
    "bfs": bfs_levels,
    "small": small,
    "build": build,
    "first": first,
}


def main() -> None:
    """Run the sections named on the command line, or all sections."""
    gl.config.device = "cuda"
    print(describe_card())
    for name in sys.argv[1:] or SECTIONS:
        SECTIONS[name]()
        cupy.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
