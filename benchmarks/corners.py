"""Measure GPU kernels on graph shapes for which they may be slow, and verify each result.

    python benchmarks/corners.py                          all rows
    python benchmarks/corners.py bfs louvain              the rows with these prefixes
    python benchmarks/corners.py --cnr cnr-2000.npz       also the row for this file
    python benchmarks/corners.py --kernels louvain        also the time of each kernel

Device time is the time between two events before and after the public call (clock.py); the table
shows the median over several calls. Kernels are already compiled, and the memory pool is warm. The
matrix has the user's numbering of the vertices, and was not prepared beforehand. The time excludes
generating the graph and verifying the result. Graphs are generated on the GPU from fixed seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import cupy
import graphs
import numpy as np
import traversal_checks as checks
from clock import KernelEvents, describe_card
from cupyx.scipy.sparse import csr_matrix
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

import graphla as gl
from graphla import Matrix, Vector, semiring
from graphla import algorithms as algo
from graphla.compilers.cuda import Kernel

# Each row of the table is measured in 2 to CALLS calls. From the third call on, a call starts only
# if fewer than ENOUGH seconds have passed.
CALLS, ENOUGH = 15, 2.0
SPINE, LEAVES = 10_000, 200
STAR, TAIL = 1_000_000, 5_000


@dataclass(frozen=True)
class Task:
    """A call on a prepared graph, and a function that verifies its result."""

    call: Callable[[], Any]
    verify: Callable[[Any], str]  # checks the result; returns a note to print
    per: int = 0  # divide the time by this number of levels; 0: do not divide
    peer: tuple[str, Callable[[], Any]] | None = None


@dataclass(frozen=True)
class Row:
    """A row of the printed table.

    `bar` is the time limit of the row: in microseconds per level if the task divides its time by
    levels, otherwise in milliseconds.
    """

    name: str
    bar: float | None
    make: Callable[[], Task]


# --- traversals -----------------------------------------------------------------------------------


def search(A: Matrix, source: int, depth: int = 0) -> Task:
    """Return a task that runs a breadth-first search, and verifies its levels edge by edge."""

    def verify(levels: Vector) -> str:
        checks.check_levels(checks.Edges.of(A), source, levels)
        return f"{int(checks.spread(levels).max()) + 1:,} levels, each edge checked"

    return Task(lambda: algo.bfs(A, source, parents=False).levels, verify, depth)


def search_caterpillar(spine: int, leaves: int) -> Task:
    return search(graphs.caterpillar(spine, leaves), 0, spine + 1)


def search_renumbered() -> Task:
    A, numbers = graphs.renumber(graphs.caterpillar(SPINE, LEAVES))
    return search(A, int(numbers[0]))


def search_file(file: Path) -> Task:
    A = graphs.stored(file.parent, file.stem).to("cuda")
    return search(A, graphs.giant(A, 1)[0][0])


def search_many() -> Task:
    A = graphs.kron(22)
    sources, _ = graphs.giant(A, 64, seed=2)

    def verify(found: Any) -> str:
        edges = checks.Edges.of(A)
        for k in range(0, 64, 21):
            alone = algo.bfs(A, sources[k], parents=False).levels
            checks.check_levels(edges, sources[k], alone)
            missing = np.array(checks.NOT_REACHED).astype(found.dtype).item()
            assert bool((checks.spread(alone, found.dtype, missing) == found[k]).all()), k
        return "4 of 64 as one by one"

    return Task(lambda: algo.bfs_levels(A, sources, dtype="INT32"), verify)


# --- betweenness ----------------------------------------------------------------------------------


def between(A: Matrix, below: Any) -> Task:
    """Return a task that computes the betweenness of a tree from one source, the root 0.

    `below[v]` is the number of descendants of vertex v.
    """

    def verify(found: Vector) -> str:
        # NetworkX estimates the sum over the n - 1 possible sources from this one source, so it
        # multiplies by n - 1. It halves the sum over all sources, because this sum counts each pair
        # of vertices in both directions.
        wanted = below.astype(cupy.float64) * (A.nrows - 1) / 2
        got = found.to_dense(copy=False).copy()
        got[0] = wanted[0] = 0
        wrong = float(cupy.abs(got - wanted).max() / wanted.max())
        assert wrong < 1e-12, wrong
        return f"within {wrong:.0e} of the sizes of subtrees"

    return Task(lambda: algo.betweenness(A, sources=[0], normalized=False), verify)


def between_caterpillar() -> Task:
    below = cupy.zeros(SPINE * (1 + LEAVES))
    below[:SPINE] = cupy.arange(SPINE - 1, -1, -1) * (1 + LEAVES) + LEAVES
    return between(graphs.caterpillar(SPINE, LEAVES), below)


def between_star() -> Task:
    below = cupy.zeros(1 + STAR + TAIL)
    below[STAR + 1 :] = cupy.arange(TAIL - 1, -1, -1)
    return between(graphs.star_with_path(STAR, TAIL), below)


# --- vertex labels --------------------------------------------------------------------------------


def strong() -> Task:
    A = graphs.directed_kron(22)

    def verify(found: Vector) -> str:
        labels = found.to_dense(copy=False)
        sizes = cupy.bincount(labels, minlength=A.nrows)
        giant = int(sizes.argmax())
        # The largest strong component consists of all vertices v with paths from `giant` to v and
        # from v to `giant`.
        there, back = (
            checks.spread(algo.bfs(B, giant, parents=False).levels) >= 0 for B in (A, A.T.new())
        )
        both = there & back
        assert bool(((labels == giant) == both).all())
        assert int(cupy.flatnonzero(both)[0]) == giant
        # Compare the components outside the largest one with the components that SciPy finds.
        rows, columns, _ = A.to_coo(values=False, copy=False)
        kept = ~(both[rows] | both[columns])
        number = cupy.cumsum(~both) - 1
        ends = [number[each[kept]].get() for each in (rows, columns)]
        rest = cupy.flatnonzero(~both)
        part = coo_matrix((np.ones(ends[0].size, bool), ends), shape=(rest.size, rest.size))
        count, theirs = connected_components(part.tocsr(), connection="strong")
        ours = labels[rest].get()
        pairs = np.unique(theirs.astype(np.int64) * A.nrows + ours).size
        assert pairs == count == np.unique(ours).size
        return f"{count + 1:,} components, the largest {int(sizes[giant]):,}, as SciPy's"

    return Task(lambda: algo.strong_components(A), verify)


WRONG_COLOR = cupy.ElementwiseKernel(
    "raw int64 color, raw P indptr, raw int32 indices",
    "bool wrong",
    """
    // No neighbor has a vertex's own color, and some neighbor has each of the lesser colors.
    const long long mine = color[i];
    wrong = false;
    for (long long base = 0; base <= mine; base += 64) {
        unsigned long long seen = 0;
        for (long long k = indptr[i]; k < indptr[i + 1]; ++k) {
            const long long place = color[indices[k]] - base;
            if (place >= 0 && place < 64) seen |= 1ull << place;
        }
        const long long last = mine - base;
        wrong |= last >= 64 ? ~seen != 0 : (seen & ((2ull << last) - 1)) != (1ull << last) - 1;
    }
    """,
    "wrong_color",
)


def color() -> Task:
    A = graphs.kron(20, 64)

    def verify(found: Vector) -> str:
        colors = found.to_dense(copy=False).astype(cupy.int64)
        indptr, indices, _ = A.to_csr(copy=False)
        wrong = WRONG_COLOR(colors, indptr, indices, size=A.nrows)
        assert not bool(wrong.any())
        return f"{int(colors.max()) + 1} colors, each the least that was free"

    return Task(lambda: algo.greedy_color(A), verify)


def propagate() -> Task:
    A = graphs.star_with_path(STAR, TAIL)

    def verify(found: Vector) -> str:
        # Simulate 100 rounds: `hub` is the label of the hub, `leaf` is the common label of all
        # leaves, and `tail` holds the labels of the vertices on the path.
        hub, leaf, tail = 0, -1, np.arange(STAR + 1, STAR + TAIL + 1)
        for step in range(100):
            left = np.concatenate([[hub], tail[:-1]])
            right = np.concatenate([tail[1:], tail[-2:-1]])  # the last vertex has one neighbor
            tail = np.minimum(left, right)
            hub, leaf = (1 if step == 0 else leaf), hub
        wanted = np.concatenate([[hub], np.full(STAR, leaf), tail])
        assert bool((found.to_dense(copy=False) == cupy.asarray(wanted)).all())
        return "as a simulation of 100 rounds"

    return Task(lambda: algo.label_propagation(A, max_iter=100, synchronous=True), verify)


def cores() -> Task:
    A = gl.generators.watts_strogatz(1 << 20, 8, 0.01, seed=1).to("cuda")

    def verify(found: Vector) -> str:
        wanted = peel(A)
        assert bool((found.to_dense(copy=False) == wanted).all())
        return f"cores up to {int(wanted.max())}, as by peeling with CuPy"

    return Task(lambda: algo.core_numbers(A), verify)


def peel(A: Matrix) -> Any:
    """Return core numbers; each round removes all vertices with degree at most k at once."""
    P = _pattern(A, cupy.float32)
    left = cupy.diff(A.to_csr(copy=False)[0]).astype(cupy.float32)
    core, k = cupy.full(A.nrows, -1, cupy.int64), 0
    while bool((core < 0).any()):
        going = (core < 0) & (left <= k)
        if not bool(going.any()):
            k = int(left[core < 0].min())
            continue
        core[going] = k
        left -= P @ going.astype(cupy.float32)
    return core


def communities() -> Task:
    A = graphs.kron(23, odds=(0.45, 0.22, 0.22))

    def verify(found: Vector) -> str:
        labels = found.to_dense(copy=False).astype(cupy.int64)
        least = cupy.full(A.nrows, A.nrows, cupy.int64)
        cupy.minimum.at(least, labels, cupy.arange(A.nrows))
        assert bool((least[labels] == labels).all())
        return f"modularity {modularity(A, labels):.5f} of {int((least < A.nrows).sum()):,}"

    return Task(lambda: algo.louvain(A), verify)


def modularity(A: Matrix, labels: Any) -> float:
    """Return the fraction of edges inside communities, minus the fraction expected by chance."""
    indptr, indices, _ = A.to_csr(copy=False)
    degrees = cupy.diff(indptr).astype(cupy.float64)
    inside = INSIDE(labels, indptr, indices, size=A.nrows).sum(dtype=cupy.int64)
    totals = cupy.bincount(labels, degrees, A.nrows)
    return float(inside / A.nvals - (totals**2).sum() / float(A.nvals) ** 2)


INSIDE = cupy.ElementwiseKernel(
    "raw int64 label, raw P indptr, raw int32 indices",
    "int32 count",
    "count = 0; for (long long k = indptr[i]; k < indptr[i + 1]; ++k)"
    " count += label[indices[k]] == label[i];",
    "inside",
)


# --- products and reductions ----------------------------------------------------------------------


def skewed_product() -> Task:
    """Return a task that multiplies a matrix with rows of very different lengths by a vector.

    The row index of each entry is drawn as n u^6, where u is uniform in [0, 1). So about a tenth of
    all drawn entries are in row 0.
    """
    n, rng = 1 << 20, cupy.random.RandomState(1)
    rows = (n * rng.random_sample(1 << 24) ** 6).astype(cupy.int32)
    columns = rng.randint(0, n, rows.size, dtype=cupy.int32)
    P = Matrix.from_coo(rows, columns, True, nrows=n, ncols=n, dup_op=gl.binary.first)
    indptr, indices, _ = P.to_csr(copy=False)
    values = rng.random_sample(P.nvals, dtype=cupy.float32)
    F = Matrix.from_csr(indptr, indices, values, nrows=n, ncols=n)
    x = rng.random_sample(n, dtype=cupy.float32)
    u, theirs = Vector.from_dense(x), csr_matrix((values, indices, indptr), shape=(n, n))

    def verify(found: Vector) -> str:
        wanted = theirs.get().astype(np.float64) @ x.get().astype(np.float64)
        w = cupy.asnumpy(found.to_dense(0, copy=False))
        wrong = float((np.abs(w - wanted) / np.maximum(wanted, 1)).max())
        assert wrong < 1e-4, wrong
        return f"{P.nvals:,} entries, the longest row {int(cupy.diff(indptr).max()):,}"

    return Task(lambda: semiring.plus_times(F @ u).new(), verify, 0, ("SpMV", lambda: theirs @ x))


def band_sums() -> Task:
    n, rng = 1 << 20, cupy.random.RandomState(1)
    first = cupy.clip(cupy.arange(n) - 16, 0, n - 32)
    indices = (first[:, None] + cupy.arange(32)).astype(cupy.int32).ravel()
    values = rng.random_sample(indices.size, dtype=cupy.float32)
    indptr = cupy.arange(0, indices.size + 1, 32, dtype=cupy.int32)
    A = Matrix.from_csr(indptr, indices, values, nrows=n, ncols=n)
    theirs = csr_matrix((values, indices, indptr), shape=(n, n))

    def verify(found: Vector) -> str:
        wanted = values.reshape(n, 32).astype(cupy.float64).sum(1)
        assert bool(cupy.allclose(found.to_dense(copy=False), wanted, rtol=1e-5))
        return "as in FP64"

    return Task(
        lambda: A.reduce_rowwise(gl.monoid.plus).new(),
        verify,
        0,
        ("sum", lambda: theirs.sum(axis=1)),
    )


def _pattern(A: Matrix, dtype: Any = cupy.float32) -> Any:
    indptr, indices, _ = A.to_csr(copy=False)
    return csr_matrix((cupy.ones(A.nvals, dtype), indices, indptr), shape=A.shape)


# --- the table ------------------------------------------------------------------------------------


def rows_of(cnr: Path | None) -> list[Row]:
    rows = [
        Row("bfs, caterpillar 3,000 x 200, us a level", 5, partial(search_caterpillar, 3000, 200)),
        Row("bfs, caterpillar 3,000 x 10, us a level", None, partial(search_caterpillar, 3000, 10)),
        Row("bfs, caterpillar 10,000 x 200, numbers permuted", 50, search_renumbered),
        Row("betweenness, one source, caterpillar 10,000 x 200", 80, between_caterpillar),
        Row("betweenness, one source, star and path", 35, between_star),
        Row("strong components, directed kron 22", 15, strong),
        Row("greedy_color, kron 20, edge factor 64", 25, color),
        Row("label_propagation, 100 rounds, star and path", 60, propagate),
        Row("core numbers, Watts-Strogatz 2^20, k = 8, p = 0.01", 6, cores),
        Row("louvain, R-MAT 23 (.45 .22 .22)", 700, communities),
        Row("64 sources, kron 22, INT32", 1.0, search_many),
        Row("spmv, plus_times FP32, rows drawn as n u^6", 0.19, skewed_product),
        Row("row sums, band of 32 x 2^20, FP32", 0.18, band_sums),
    ]
    if cnr is not None:
        rows.insert(3, Row("bfs, cnr-2000", 0.20, partial(search_file, cnr)))
    return rows


def median_of(call: Callable[[], Any]) -> tuple[float, float]:
    """Return the median device time and the median wall time, in milliseconds."""
    card, figures, start = KernelEvents(), [], perf_counter()
    while len(figures) < CALLS and (len(figures) < 2 or perf_counter() - start < ENOUGH):
        figures.append(card.once(call))
    return median(device for device, _ in figures), median(wall for _, wall in figures)


def peer_of(call: Callable[[], Any]) -> float:
    """Return the median time of a call that launches none of our kernels, in milliseconds."""
    card, times = KernelEvents(), []
    for _ in range(CALLS):
        card.idle()
        card.spin((1,), (1,), (cupy.int64(1_000_000),))
        card.begin.record()
        call()
        card.end.record()
        card.idle()
        times.append(card.elapsed())
    return median(times)


def kernels_of(call: Callable[[], Any]) -> None:
    """Measure one call, and print the number of launches and the total time of each kernel.

    Also print the time that the call spends outside of the kernels.
    """
    launch, marks = Kernel.__call__, []

    def recorded(kernel: Any, *args: Any, **options: Any) -> None:
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        launch(kernel, *args, **options)
        end.record()
        marks.append((kernel.what.split(" for ")[0], args[0], begin, end))

    patched: Any = Kernel
    patched.__call__ = recorded
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    try:
        cupy.cuda.Device().synchronize()
        begin.record()
        call()
        end.record()
    finally:
        patched.__call__ = launch
    cupy.cuda.Device().synchronize()
    total, found = cupy.cuda.get_elapsed_time(begin, end), {}
    for what, grid, before, after in marks:
        count, times, _ = found.get(what, (0, 0.0, 0))
        times += cupy.cuda.get_elapsed_time(before, after)
        found[what] = count + 1, times, grid
    for what, (count, times, grid) in sorted(found.items(), key=lambda each: -each[1][1]):
        print(f"    {times:10.3f} ms {count:6} launches, the last of {grid:6} blocks: {what}")
    rest = total - sum(times for _, times, _ in found.values())
    print(f"    {rest:10.3f} ms outside of them, of {total:.3f}", flush=True)


def measure(row: Row, with_kernels: bool) -> str:
    start = perf_counter()
    try:
        task = row.make()
        note = task.verify(task.call())
        device, wall = median_of(task.call)
        if with_kernels:
            kernels_of(task.call)
        if task.peer is not None:
            note += f"; CuPy's {task.peer[0]} {peer_of(task.peer[1]):.3f} ms"
    except Exception as error:
        first = f"{type(error).__name__}: {error}".splitlines()[0][:140]
        return f"| {row.name} | | | | FAILED: {first} |"
    figure = 1e3 * device / task.per if task.per else device
    missed = " MISSED" if row.bar is not None and figure > row.bar else ""
    bar = "" if row.bar is None else f"{row.bar:g}{missed}"
    if task.per:
        note += f"; {device:.1f} ms in all"
    note += f" ({perf_counter() - start:.0f} s to make, verify and time)"
    return f"| {row.name} | {figure:.3f} | {wall:.3f} | {bar} | {note} |"


def main() -> None:
    """Measure the rows named on the command line, or all rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # pyright: ignore[reportOptionalMemberAccess]
    parser.add_argument(
        "names",
        nargs="*",
        help="measure only the rows of the table whose names start with these prefixes",
    )
    parser.add_argument("--cnr", type=Path, help="path of the file cnr-2000.npz")
    parser.add_argument("--kernels", action="store_true", help="show the time of each kernel")
    parser.add_argument(
        "--seconds",
        type=float,
        default=600,
        help="stop starting new rows of the table after this many seconds",
    )
    options = parser.parse_args()
    end = perf_counter() + options.seconds
    lines = ["| corner | device, ms | wall, ms | at most | verified |", "|---|--:|--:|--:|---|"]
    print(describe_card(), flush=True)
    with gl.config.set(device="cuda"):
        for row in rows_of(options.cnr):
            if options.names and not row.name.startswith(tuple(options.names)):
                continue
            if perf_counter() > end:
                break
            lines.append(measure(row, options.kernels))
            print(lines[-1], flush=True)
            cupy.get_default_memory_pool().free_all_blocks()
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
