"""Time algorithms on a GPU: those with a time limit on large graphs, all others on small graphs.

Device time is measured between two events around the whole public call; wall time lasts until the
GPU is idle. A time is the median of a few calls, after one call that compiles. Before an
algorithm without a time limit is timed, its result on an R-MAT graph of scale 14 is compared with
that of the CPU. The results of algorithms with a time limit are verified on the large graph itself.
For some algorithms, the script recomputes the result with FP64 matrix products of CuPy; for others,
such as BFS, it checks a condition on every edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import mkdtemp
from time import perf_counter
from typing import Any

import cupy
import graphs
import numpy as np
from clock import Events, describe_card
from cupyx.scipy.sparse import csr_matrix

import graphla as gl
from graphla import algorithms as algo

# An algorithm is called at most CALLS times. Once its calls have taken ENOUGH seconds, no further
# call starts.
CALLS, ENOUGH = 9, 2.0
SMALL = 14  # the scale of the graphs on which GPU and CPU results are compared


@cache
def kron(scale: int) -> gl.Matrix:
    return graphs.kron(scale)


@cache
def weighted(scale: int) -> gl.Matrix:
    """Return the R-MAT graph of this scale with integer weights from 1 to 64. Both directions of an
    edge have the same weight."""
    return _with_weights(kron(scale))


def _with_weights(A: gl.Matrix) -> gl.Matrix:
    rows, columns, _ = A.to_coo(values=False, copy=False)
    low, high = cupy.minimum(rows, columns), cupy.maximum(rows, columns)
    lengths = 1 + (low.astype(cupy.int64) * 2654435761 + high * 40503 >> 9) % 64
    return gl.Matrix.from_coo(rows, columns, lengths, nrows=A.nrows, ncols=A.ncols, symmetric=True)


def sources(A: gl.Matrix) -> list[int]:
    """Return a few vertices that have an edge, drawn with a fixed seed."""
    degrees = cupy.diff(A.to_csr(copy=False)[0])
    live = cupy.flatnonzero(degrees)
    drawn = np.random.default_rng(1).integers(0, live.size, CALLS)
    return [int(live[int(place)]) for place in drawn]


# --- limited algorithms ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Bar:
    """An algorithm, the scale of its graph, its time limit (if any), and a check of its result."""

    name: str
    scale: int
    most: float | None  # milliseconds
    call: Callable[[gl.Matrix, int], Any]  # arguments: the graph and a source
    verify: Callable[[gl.Matrix, Any, int], str]
    planned: bool = False  # whether A.prepare() is called beforehand


def _pattern(A: gl.Matrix) -> Any:
    indptr, indices, _ = A.to_csr(copy=False)
    return csr_matrix((cupy.ones(A.nvals), indices, indptr), shape=A.shape)


def pagerank_rests(A: gl.Matrix, rank: gl.Vector, _: int) -> str:
    """Check that PageRank has converged: one more round, computed in FP64 with CuPy, must change
    the ranks by less than 1e-4 in total."""
    r = rank.to_dense(copy=False).astype(cupy.float64)
    P = _pattern(A)
    degree = cupy.diff(A.to_csr(copy=False)[0]).astype(cupy.float64)
    share = cupy.where(degree > 0, r / cupy.maximum(degree, 1), 0)
    dangling = float(r[degree == 0].sum())
    # Vertex v receives the sum of share[u] over its in-edges (u, v), which is (Pᵀ @ share)[v]. P,
    # the pattern of A, is symmetric like A, so Pᵀ = P.
    after = 0.85 * (P @ share) + (0.85 * dangling + 0.15) / A.nrows
    change, total = float(cupy.abs(after - r).sum()), float(r.sum())
    assert change < 1e-4, change
    assert abs(total - 1) < 1e-3, total
    return f"one more round changes the result by {change:.1e}"


def counted_twice(A: gl.Matrix, count: int, _: int) -> str:
    corners = algo.triangles(A)
    assert isinstance(corners, gl.Vector)
    by_corner = int(corners.to_dense(copy=False).sum())
    assert by_corner == 3 * count, (by_corner, count)
    return f"{count:,} triangles, a third of the corners"


def brandes(A: gl.Matrix, found: gl.Vector, source: int) -> str:
    """Check betweenness from one source: compare it with sums that CuPy computes level by level,
    with products in FP64."""
    n, P = A.nrows, _pattern(A)
    level = algo.bfs(A, source, parents=False).levels.to_dense(-1, copy=False)
    paths = cupy.zeros(n)
    paths[source] = 1
    deepest = int(level.max())
    for depth in range(1, deepest + 1):
        paths += cupy.where(level == depth, P @ cupy.where(level == depth - 1, paths, 0), 0)
    owed = cupy.zeros(n)
    for depth in range(deepest, 0, -1):
        given = cupy.where(level == depth, (1 + owed) / cupy.maximum(paths, 1), 0)
        owed += cupy.where(level == depth - 1, paths * (P @ given), 0)
    # NetworkX estimates the sum over the n - 1 possible sources from this one source, so it
    # multiplies by n - 1. It halves the sum over all sources, because this sum counts each pair of
    # vertices in both directions.
    wanted, got = owed * (n - 1) / 2, found.to_dense(copy=False).copy()
    # Paths from the source do not count for the source itself, so its value is not compared.
    wanted[source] = got[source] = 0
    wrong = float(cupy.abs(got - wanted).max() / wanted.max())
    assert wrong < 1e-6, wrong
    return f"within {wrong:.0e} of CuPy's result"


ONE_COMPONENT = cupy.ElementwiseKernel(
    "raw int64 label, raw P indptr, raw int32 indices",
    "bool wrong",
    """
    long long mine = label[i];
    wrong = mine > i || label[mine] != mine;
    for (long long k = indptr[i]; k < indptr[i + 1]; ++k) wrong |= label[indices[k]] != mine;
    """,
    "one_component",
)


def components_hold(A: gl.Matrix, labels: gl.Vector, _: int) -> str:
    """Check that no edge joins two components, that each label is the smallest vertex of its
    component, and that the largest component is connected."""
    label = labels.to_dense(copy=False).astype(cupy.int64)
    indptr, indices, _ = A.to_csr(copy=False)
    wrong = ONE_COMPONENT(label, indptr, indices, size=A.nrows)
    assert not bool(wrong.any())
    sizes = cupy.bincount(label)
    giant = int(sizes.argmax())
    reached = algo.bfs(A, giant, parents=False).levels.nvals
    assert reached == int(sizes[giant])
    return f"{int((sizes > 0).sum()):,} components, the greatest {reached:,}"


def _pagerank(dtype: str) -> Callable[[gl.Matrix, int], gl.Vector]:
    return lambda A, _: algo.pagerank(A, tol=1e-4 / A.nrows, dtype=dtype)


def _betweenness(A: gl.Matrix, source: int) -> gl.Vector:
    return algo.betweenness(A, sources=[source], normalized=False)


def _components(A: gl.Matrix, _: int) -> gl.Vector:
    return algo.connected_components(A)


def _triangles(A: gl.Matrix, _: int) -> int:
    return algo.triangle_count(A)


BARS = [
    Bar("PageRank, FP32", 22, 12, _pagerank("FP32"), pagerank_rests),
    Bar("PageRank, FP64", 22, 12, _pagerank("FP64"), pagerank_rests),
    Bar("betweenness, one source", 22, 15, _betweenness, brandes),
    Bar("connected components", 22, None, _components, components_hold),
    Bar("triangles", 18, None, _triangles, counted_twice),
    Bar("triangles", 20, 50, _triangles, counted_twice),
    Bar("PageRank, FP32", 24, 45, _pagerank("FP32"), pagerank_rests),
    Bar("PageRank, FP64", 24, 45, _pagerank("FP64"), pagerank_rests),
    Bar("betweenness, one source", 24, 70, _betweenness, brandes),
    Bar("connected components", 24, 5, _components, components_hold),
    Bar("PageRank, FP32, full plan", 24, None, _pagerank("FP32"), pagerank_rests, True),
    Bar("betweenness, full plan", 24, None, _betweenness, brandes, True),
]

# --- other algorithms -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Other:
    """An algorithm without a time limit, and the scale of its graph. If `same`, the results on the
    CPU and on the GPU must be equal."""

    name: str
    scale: int
    call: Callable[[gl.Matrix], Any]
    same: bool = True
    graph: Callable[[int], gl.Matrix] = kron


def _sixty_four(A: gl.Matrix) -> list[int]:
    return list(range(0, A.nrows, A.nrows // 64))


OTHERS = [
    Other("k_core, its numbers", 20, lambda A: algo.core_numbers(A)),
    Other("k_core, k = 16", 20, lambda A: algo.k_core(A, 16)),
    Other("k_truss, k = 8", 18, lambda A: algo.k_truss(A, 8)),
    Other(
        "label_propagation, 10 rounds",
        20,
        lambda A: algo.label_propagation(A, max_iter=10, synchronous=True),
    ),
    Other("louvain", 18, lambda A: algo.modularity(A, algo.louvain(A)), False),
    Other("strong_components", 20, lambda A: algo.strong_components(A)),
    Other("spanning_forest", 20, lambda A: algo.spanning_forest(A), graph=weighted),
    Other("bridges", 20, lambda A: algo.bridges(A)),
    Other("articulation_points", 20, lambda A: algo.articulation_points(A)),
    Other("biconnected_components", 20, lambda A: algo.biconnected_components(A)),
    Other("triangles, each corner", 18, lambda A: algo.triangles(A)),
    Other("clustering", 18, lambda A: algo.clustering(A)),
    Other("transitivity", 18, lambda A: algo.transitivity(A)),
    Other("square_clustering", 14, lambda A: algo.square_clustering(A)),
    Other("jaccard of the edges", 18, lambda A: algo.jaccard(A, A)),
    Other("greedy_color", 20, lambda A: algo.greedy_color(A)),
    Other("maximal_independent_set", 20, lambda A: algo.maximal_independent_set(A)),
    Other("maximal_matching", 20, lambda A: algo.maximal_matching(A)),
    Other("hits", 20, lambda A: algo.hits(A)),
    Other("katz, alpha = 1e-5", 20, lambda A: algo.katz(A, alpha=1e-5)),
    Other("eigenvector", 20, lambda A: algo.eigenvector(A)),
    Other("degree", 20, lambda A: algo.degree(A)),
    Other("closeness of 64", 18, lambda A: algo.closeness(A, _sixty_four(A))),
    Other("edge_betweenness, 16 sources", 18,
          lambda A: algo.edge_betweenness(A, sources=_sixty_four(A)[:16])),
    Other("bfs", 20, lambda A: algo.bfs(A, 1, parents="least")),
    Other("sssp", 20, lambda A: algo.sssp(A, 1), graph=weighted),
    Other("bellman_ford", 20, lambda A: algo.bellman_ford(A, 1), graph=weighted),
    Other("widest_path", 20, lambda A: algo.widest_path(A, 1), graph=weighted),
    Other("path_count", 20, lambda A: algo.path_count(A, 1)),
    Other("neighborhood, radius 2", 20, lambda A: algo.neighborhood(A, 1, 2)),
    Other("reachable", 20, lambda A: algo.reachable(A, 1)),
    Other("all_pairs_lengths of 64", 18, lambda A: algo.all_pairs_lengths(A, _sixty_four(A))),
]  # fmt: skip
BY_NAME = {each.name: each for each in OTHERS}


def on_the_cpu(name: str, path: str) -> Any:
    """Return the result on the CPU, computed in a separate process."""
    with gl.config.set(device="cpu"):
        return plain(BY_NAME[name].call(gl.io.read(path)))


def plain(found: Any) -> list[Any]:
    """Return a result as a list of host arrays."""
    if isinstance(found, gl.Vector | gl.Matrix):
        return [np.asarray(part) for part in found.to("cpu").to_coo()]
    if isinstance(found, tuple | list):
        return [part for each in found if each is not None for part in plain(each)]
    return [np.asarray(found)]


def compare(each: Other, mine: list[Any], cpus: list[Any]) -> str:
    if each.same:
        assert len(mine) == len(cpus), each.name
        for here, there in zip(mine, cpus, strict=True):
            assert here.shape == there.shape, (each.name, here.shape, there.shape)
            assert np.allclose(here, there, rtol=1e-5, atol=1e-9), each.name
        return "as on the CPU"
    return f"{float(mine[0]):.4g}, on the CPU {float(cpus[0]):.4g}"


# --- measuring ------------------------------------------------------------------------------------


def timed(calls: list[Callable[[], Any]]) -> tuple[float, float]:
    """Return the median device time and the median wall time of the calls, in milliseconds.

    Before the measurement, the first call runs once without being timed.
    """
    calls[0]()
    clock, figures, start = Events(), [], perf_counter()
    for call in calls:
        figures.append(clock.once(call))
        if perf_counter() - start > ENOUGH:
            break
    return median(device for device, _ in figures), median(wall for _, wall in figures)


def measure(only: Iterable[str] = (), seconds: float = 600) -> None:
    """Measure the algorithms whose names start with one of the prefixes in `only`, or all if it is
    empty.

    Print one row per algorithm. No further algorithm starts after `seconds` seconds.
    """
    chosen, end = tuple(only), perf_counter() + seconds
    bars = [each for each in BARS if not chosen or each.name.startswith(chosen)]
    others = [each for each in OTHERS if not chosen or each.name.startswith(chosen)]
    print(describe_card(), flush=True)
    with (
        gl.config.set(device="cuda"),
        ProcessPoolExecutor(8, mp_context=get_context("spawn")) as pool,
    ):
        answers = _start_on_cpu(others, pool)
        lines = [_line("algorithm", "graph", "device, ms", "wall, ms", "at most", "verified")]
        lines.append("|---|---|--:|--:|--:|---|")
        rows = [lambda bar=bar: _bar(bar) for bar in bars]
        rows += [lambda each=each: _other(each, answers[each.name]) for each in others]
        for row in rows:
            if perf_counter() > end:
                break
            lines.append(row())
            print(lines[-1], flush=True)
        pool.shutdown(wait=False, cancel_futures=True)
    print("\n" + "\n".join(lines))


def _start_on_cpu(others: list[Other], pool: ProcessPoolExecutor) -> dict[str, Future[Any]]:
    paths, folder = {}, Path(mkdtemp())
    for graph in {each.graph for each in others}:
        paths[graph] = str(folder / f"{graph.__name__}.npz")
        gl.io.write(paths[graph], graph(SMALL).to("cpu"))
    return {each.name: pool.submit(on_the_cpu, each.name, paths[each.graph]) for each in others}


def _bar(bar: Bar) -> str:
    A = kron(bar.scale)
    try:
        if bar.planned:
            A.prepare()
        starts = sources(A)
        word = bar.verify(A, bar.call(A, starts[0]), starts[0])
        device, wall = timed([lambda source=source: bar.call(A, source) for source in starts])
    except Exception as error:
        return _failure_line(bar.name, bar.scale, error)
    held = ""
    if bar.most is not None:
        held = f"{bar.most:g}: {'met' if device <= bar.most else '**missed**'}"
    return _line(bar.name, f"kron {bar.scale}", f"{device:.3f}", f"{wall:.3f}", held, word)


def _other(each: Other, answer: Future[Any]) -> str:
    try:
        word = compare(each, plain(each.call(each.graph(SMALL))), answer.result())
        A = each.graph(each.scale)
        device, wall = timed([lambda: each.call(A)] * CALLS)
    except Exception as error:
        return _failure_line(each.name, each.scale, error)
    return _line(each.name, f"kron {each.scale}", f"{device:.3f}", f"{wall:.3f}", "", word)


def _failure_line(name: str, scale: int, error: Exception) -> str:
    told = f"{type(error).__name__}: {error}".splitlines()[0][:120]
    return _line(name, f"kron {scale}", "", "", "", f"**{told}**")


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"
