"""Measure edge-centric search and its variants on R-MAT graphs with mean degree 32, on a GPU.

    python benchmarks/edges_gpu.py [LARGEST]

The setup is that of published results (3.6 GTEPS on average, 4.2 at best, on a GTX Titan). The
scales are 14 to LARGEST (24 unless given), with 32 sources each. To compute GTEPS, the number of
undirected edges in the source's component is divided by the wall time of a whole search. At a few
scales the script then measures the optimizations in `edge-tuned` one by one, and compares shortest
paths with `graphla.algorithms.sssp`. The levels of every variant are compared with those of the
strategy edge-centric.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from statistics import fmean, harmonic_mean, median
from time import perf_counter
from typing import Any
from unittest.mock import patch

import cupy
import numpy as np
from clock import describe_card
from graphs import kron

from graphla import Matrix, ladder
from graphla.algorithms import sssp
from graphla.backends.cuda.launch import rows_of
from graphla.formats import Csr
from graphla.ladder import edge_tuned
from graphla.ladder.edge_centric import EdgeCentric
from graphla.ladder.rung import Rung
from graphla.stores import MatrixStore

SOURCES, SEED = 32, 1
NEVER = 1 << 60


def sources(A: Matrix) -> list[int]:
    """Return random vertices that have an edge, drawn with a fixed seed."""
    degrees = np.diff(cupy.asnumpy(A._store.csr.indptr))
    return np.random.default_rng(SEED).choice(np.flatnonzero(degrees), SOURCES).tolist()


def by_rows_alone(a: MatrixStore) -> MatrixStore:
    """Return storage for the same matrix, with the same arrays, that is not marked as symmetric."""
    r = a.csr
    return MatrixStore(a.device, a.dtype, r, Csr(r.nrows, r.ncols, r.indptr, r.indices, r.values))


class Words(edge_tuned.EdgeTuned):
    """A variant of EdgeTuned that stores each level in 32 bits.

    EdgeTuned itself uses 8 bits until a level does not fit.
    """

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a)
        self.narrow = cupy.empty(self.n, cupy.int32)
        self._keep(self.narrow)

    def _widen(self) -> None:
        pass


def with_constants(
    rung: type[Rung] = edge_tuned.EdgeTuned, halved: bool = True, **constants: Any
) -> Any:
    """Return a function that builds a strategy with the given values of constants of the module
    `edge_tuned`. If `halved` is False, the strategy gets a matrix that is not marked as symmetric,
    so it reads each undirected edge twice."""

    def make(a: MatrixStore) -> Rung:
        with ExitStack() as stack:
            for name, value in constants.items():
                stack.enter_context(patch.object(edge_tuned, name, value))
            return rung(a if halved else by_rows_alone(a))

    return make


IDEAS: dict[str, Callable[[MatrixStore], Rung]] = {
    "edge-centric": EdgeCentric,
    "one word of 64 bits, batches": with_constants(Words, False, LEAST=NEVER),
    "+ levels in bytes": with_constants(halved=False, LEAST=NEVER),
    "+ undirected edges once": with_constants(LEAST=NEVER),
    "+ squares: edge-tuned": with_constants(),
    "edge-tuned but bytes": with_constants(Words),
    "edge-tuned but edges once": with_constants(halved=False),
}


def seconds(rung: Rung, starts: list[int]) -> list[float]:
    """Return the seconds that a search takes from each start vertex, after one search that is not
    timed."""
    found = []
    for source in [starts[0], *starts]:
        begin = perf_counter()
        rung.search(source)
        found.append(perf_counter() - begin)
    return found[1:]


def levels(rung: Rung, source: int) -> Any:
    """Return the levels as int32, with -1 for unreached vertices."""
    search = rung.search(source)
    return cupy.where(search.reached(), search.levels.astype(cupy.int32), -1)


def row(name: str, rung: Rung, A: Matrix, starts: list[int], edges: list[int]) -> None:
    """Print the speeds and the memory of a strategy."""
    speeds = [e / s / 1e9 for e, s in zip(edges, seconds(rung, starts), strict=True)]
    mean, low, high = harmonic_mean(speeds), min(speeds), max(speeds)
    print(
        f"  {name:30} {mean:7.2f} GTEPS (mean {fmean(speeds):.2f}, {low:.2f} to {high:.2f})  "
        f"{rung.held / 1e6:8.1f} MB",
        flush=True,
    )


def count_edges(A: Matrix, starts: list[int]) -> list[int]:
    """Return the number of undirected edges in the component of each start vertex."""
    degrees, rung = cupy.diff(A._store.csr.indptr), EdgeCentric(A._store)
    return [int(degrees[levels(rung, s) >= 0].sum(dtype=cupy.int64)) // 2 for s in starts]


def paths(A: Matrix, starts: list[int]) -> None:
    """Compare the times of two algorithms for shortest paths: `ladder.Paths`, which uses the list
    of edges, and near-far search. The weights are from 1 to 255."""
    rows, columns = rows_of(A._store.csr), A._store.csr.indices
    least, most = cupy.minimum(rows, columns), cupy.maximum(rows, columns)
    weights = (least.astype(cupy.int64) * 7919 + most * 104729) % 255 + 1
    B = Matrix.from_coo(rows, columns, weights, nrows=A.nrows, ncols=A.nrows, symmetric=True)
    for dtype in ("INT32", "INT64"):
        ready = ladder.Paths(B, dtype=dtype)
        assert ready.sssp(starts[0]).isequal(sssp(B, starts[0]).distances)
        took = [seconds_until_idle(ready.sssp, s) for s in starts[:8]]
        print(f"  by edges, {dtype:20} {1e3 * median(took):8.3f} ms, {ready.rounds} rounds")
    took = [seconds_until_idle(lambda s: sssp(B, s), s) for s in starts[:8]]
    print(f"  graphla.algorithms.sssp        {1e3 * median(took):8.3f} ms", flush=True)


def seconds_until_idle(call: Callable[[int], Any], source: int) -> float:
    """Return the seconds from a call until the GPU is idle again."""
    begin = perf_counter()
    call(source)
    cupy.cuda.Device().synchronize()
    return perf_counter() - begin


def main() -> None:
    """Measure `edge-tuned` at all scales. At some scales, also measure its optimizations one by
    one. At scale 20, also time shortest paths."""
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    print(describe_card())
    for scale in range(14, largest + 1):
        A = kron(scale)
        starts = sources(A)
        edges = count_edges(A, starts)
        print(f"kron, scale {scale}: {A.nrows} vertices, {A.nvals} entries")
        row("edge-tuned", edge_tuned.EdgeTuned(A._store), A, starts, edges)
        if scale not in (16, 20, 22):
            continue
        expected = levels(EdgeCentric(A._store), starts[0])
        for name, make in IDEAS.items():
            rung = make(A._store)
            assert bool((levels(rung, starts[0]) == expected).all()), name
            row(name, rung, A, starts, edges)
        if scale == 20:
            paths(A, starts)


if __name__ == "__main__":
    main()
