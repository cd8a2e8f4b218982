"""Compare graphla with other libraries for the CPU, graph by graph.

    python benchmarks/cpu_peers.py                              every case on every graph
    python benchmarks/cpu_peers.py triangles --graphs road-NY   one case on one graph

The peers are python-graphblas, networkit, igraph and SciPy, if they are installed, and the
programs of the GAP Benchmark Suite in the folder --gap. The contenders of a case alternate, so that
a slow phase of the machine affects all of them. The timed region is the whole public call,
including its outputs; GAP prints its own times. Building the graphs and the first call of each
contender are not timed. Results are compared if their form allows it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import sleep
from typing import Any

import numpy as np
import scipy.sparse
from clock import PAUSE, ROUNDS, Wall, describe_host, measure
from graphs import stored, with_weights
from scipy.sparse import csgraph

import graphla as gl
from graphla import Matrix, Vector
from graphla import algorithms as algo

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
SOURCES = 4
DELTAS = {"road-NY": 64, "grid 500": 64}  # bucket width of GAP's SSSP; 16 on other graphs
WALL = Wall(frees=True)


# --- graphs ---------------------------------------------------------------------------------------


@dataclass
class Subject:
    """A graph, and its copies in the formats of the other libraries."""

    name: str
    A: Matrix
    folder: Path  # the folder for files in GAP's format
    gap: Path | None  # the folder with the programs of GAP

    @cached_property
    def is_symmetric(self) -> bool:
        return bool(self.A.isequal(self.A.T.new()))

    @cached_property
    def weighted(self) -> Matrix:
        """Return the graph with integer weights from 1 to 64."""
        return with_weights(self.A)

    @cached_property
    def sources(self) -> list[int]:
        """Return a few vertices of the largest component."""
        labels = algo.connected_components(self.A).to_dense()
        largest = np.flatnonzero(labels == np.bincount(labels).argmax())
        return np.random.default_rng(1).choice(largest, SOURCES, replace=False).tolist()

    @cached_property
    def scipy(self) -> Any:
        return scipy.sparse.csr_array(gl.io.to_scipy_sparse(self.weighted).astype(np.float64))

    @cached_property
    def networkit(self) -> Any:
        return self._networkit(None)

    @cached_property
    def weighted_networkit(self) -> Any:
        return self._networkit(self.weighted)

    def _networkit(self, weights: Matrix | None) -> Any:
        rows, columns, values = self._edges(weights)
        ends = rows.astype(np.uint64), columns.astype(np.uint64)
        return nk.GraphFromCoo(
            (values.astype(np.float64), ends),
            n=self.A.nrows,
            weighted=weights is not None,
            directed=not self.is_symmetric,
        )

    @cached_property
    def igraph(self) -> Any:
        ig = import_module("igraph")
        rows, columns, values = self._edges(self.weighted)
        ends = np.stack([rows, columns], axis=1)
        G = ig.Graph(n=self.A.nrows, edges=ends, directed=not self.is_symmetric)
        G.es["weight"] = values.tolist()
        return G

    def _edges(self, weights: Matrix | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the edges; an undirected edge occurs once."""
        rows, columns, values = (self.A if weights is None else weights).to_coo()
        keep = rows <= columns if self.is_symmetric else slice(None)
        return rows[keep], columns[keep], values[keep]

    @cached_property
    def graphblas(self) -> Any:
        return self._graphblas(bool)

    @cached_property
    def graphblas_of_numbers(self) -> Any:
        return self._graphblas(float) if graphblas else None

    def _graphblas(self, dtype: type) -> Any:
        rows, columns, values = self.weighted.to_coo()
        n = self.A.nrows
        G = graphblas.Matrix.from_coo(rows, columns, values.astype(dtype), nrows=n, ncols=n)
        G.wait()
        return G

    def gap_file(self, is_weighted: bool) -> Path:
        """Return the path of a file in GAP's binary format; write it if it does not exist."""
        path = self.folder / f"{self.name.replace(' ', '-')}.{'wsg' if is_weighted else 'sg'}"
        if path.exists():
            return path
        A = self.weighted if is_weighted else self.A
        with path.open("wb") as file:
            file.write(np.bool_(not self.is_symmetric).tobytes())
            file.write(np.array([A.nvals, A.nrows], np.int64).tobytes())
            for each in (A,) if self.is_symmetric else (A, A.T.new()):
                indptr, indices, values = each.to_csr()
                columns = indices.astype(np.int32)
                if is_weighted:
                    columns = np.stack([columns, values.astype(np.int32)], axis=1)
                file.write(indptr.astype(np.int64).tobytes() + columns.tobytes())
        return path


def rmat(scale: int) -> Matrix:
    return gl.generators.kronecker(scale, 16, seed=1)


def star_and_path() -> Matrix:
    """Return a star with 100,000 leaves, whose center is joined to a path of 100,000 vertices."""
    v = np.arange(1, 200_001)
    u = np.where(v <= 100_001, 0, v - 1)
    ends = np.concatenate([u, v]), np.concatenate([v, u])
    return Matrix.from_coo(*ends, True, nrows=200_001, ncols=200_001, symmetric=True)


GRAPHS: dict[str, Callable[[Path], Matrix]] = {
    "R-MAT 16": lambda _: rmat(16),
    "R-MAT 18": lambda _: rmat(18),
    "R-MAT 20": lambda _: rmat(20),
    "uniform 18": lambda _: gl.generators.uniform(1 << 18, 16 << 18, seed=1),
    "road-NY": lambda _: gl.datasets.load("road-NY"),
    "grid 500": lambda _: gl.generators.grid(500, 500),
    "star and path": lambda _: star_and_path(),
    "ego-Twitter": lambda data: stored(data, "ego-Twitter"),
    "cnr-2000": lambda data: stored(data, "cnr-2000"),
}
STORED = ("ego-Twitter", "cnr-2000")


# --- contenders -----------------------------------------------------------------------------------


@dataclass
class Contender:
    """A call of a library.

    `read` converts its result to numbers, which must agree with those of the other calls.
    Without `read`, the result is not compared.
    """

    call: Callable[[Any], Any]
    read: Callable[[Any], Any] | None = None

    def times(self, inputs: list[Any]) -> list[float]:
        return measure(WALL, self.call, inputs, 1).wall


@dataclass
class GapProgram:
    """A program of the GAP Benchmark Suite with its arguments. It measures its own time."""

    command: tuple[Any, ...]
    takes_source: bool

    def times(self, inputs: list[Any]) -> list[float]:
        found: list[float] = []
        for each in inputs:
            command = [*self.command, "-n", 2]
            command += ["-r", each] if self.takes_source else []
            ran = subprocess.run(
                list(map(str, command)),
                capture_output=True,
                text=True,
                check=True,
                env={**os.environ, "OMP_NUM_THREADS": str(THREADS)},
            )
            assert "FAIL" not in ran.stdout, ran.stdout
            trials = re.findall(r"Trial Time:\s+([\d.]+)", ran.stdout)
            found += [1e3 * float(seconds) for seconds in trials[1:]]
        return found


Contenders = dict[str, Contender | GapProgram]

nk: Any = None  # networkit
graphblas: Any = None


def start_libraries() -> list[str]:
    """Import the peers that are installed, set their number of threads, and return their names."""
    global nk, graphblas
    if find_spec("networkit"):
        nk = import_module("networkit")
        nk.setNumberOfThreads(THREADS)
    if find_spec("graphblas"):
        graphblas = import_module("graphblas")
        graphblas.init("suitesparse", blocking=True)
        graphblas.ss.config["nthreads"] = THREADS
    names = {"networkit": "networkit", "graphblas": "python-graphblas", "igraph": "igraph"}
    return ["scipy", *(name for module, name in names.items() if find_spec(module))]


def known(found: dict[str, Any]) -> Contenders:
    """Return the contenders in `found` that are available: those that are not None and whose
    library is installed."""
    modules = {"networkit": "networkit", "igraph": "igraph", "python-graphblas": "graphblas"}
    return {
        name: each
        for name, each in found.items()
        if each is not None and (name not in modules or find_spec(modules[name]))
    }


def gap(g: Subject, program: str, *arguments: Any, source: bool = False) -> GapProgram | None:
    if g.gap is None or not (g.gap / program).exists():
        return None
    file = g.gap_file(is_weighted=program == "sssp")
    return GapProgram((g.gap / program, "-f", file, *arguments), source)


def dense(x: Vector) -> np.ndarray:
    return x.to_dense(dtype="FP64", fill_value=np.inf)


def finite(x: Any) -> np.ndarray:
    """Return distances as an array; replace the huge value of an unreached vertex with infinity."""
    found = np.array(x, dtype=float).ravel()
    found[found > 1e300] = np.inf
    return found


def count_parts(labels: Any) -> int:
    return np.unique(np.asarray(labels)).size


# --- cases ----------------------------------------------------------------------------------------


def bfs(g: Subject) -> Contenders:
    return known({
        "graphla": Contender(lambda s: algo.bfs(g.A, s), lambda r: dense(r.levels)),
        "SciPy": Contender(lambda s: csgraph.breadth_first_order(g.scipy, s)),
        "networkit": Contender(
            lambda s: nk.distance.BFS(g.networkit, s, False).run(),
            lambda r: finite(r.getDistances()),
        ),
        "igraph": Contender(lambda s: g.igraph.bfs(s)),
        "GAP": gap(g, "bfs", source=True),
    })  # fmt: skip


def sssp(g: Subject) -> Contenders:
    delta = DELTAS.get(g.name, 16)
    return known({
        "graphla": Contender(lambda s: algo.sssp(g.weighted, s).distances, dense),
        "SciPy": Contender(lambda s: csgraph.dijkstra(g.scipy, indices=s), finite),
        "networkit": Contender(
            lambda s: nk.distance.Dijkstra(g.weighted_networkit, s, False).run(),
            lambda r: finite(r.getDistances()),
        ),
        "igraph": Contender(lambda s: g.igraph.distances(s, weights="weight"), finite),
        "GAP": gap(g, "sssp", "-d", delta, source=True),
    })  # fmt: skip


def pagerank(g: Subject) -> Contenders:
    """Stop when the sum of the absolute changes in a round is below 1e-4, as GAP does."""
    tolerance = 1e-4 / g.A.nrows  # per vertex

    def rank_with_networkit(_: Any) -> Any:
        ranks = nk.centrality.PageRank(g.networkit, 0.85, 1e-4)
        ranks.norm = nk.centrality.Norm.L1_NORM
        return ranks.run()

    return known({
        "graphla": Contender(lambda _: algo.pagerank(g.A, tol=tolerance), dense),
        "networkit": Contender(rank_with_networkit),
        "igraph": Contender(lambda _: g.igraph.pagerank()),
        "GAP": gap(g, "pr", "-i", 1000, "-t", 1e-4),
    })  # fmt: skip


def components(g: Subject) -> Contenders:
    return known({
        "graphla": Contender(
            lambda _: algo.connected_components(g.A), lambda r: count_parts(r.to_dense())
        ),
        "SciPy": Contender(
            lambda _: csgraph.connected_components(g.scipy, directed=False), lambda r: r[0]
        ),
        "networkit": Contender(
            lambda _: nk.components.ParallelConnectedComponents(g.networkit).run(),
            lambda r: r.numberOfComponents(),
        ),
        "igraph": Contender(lambda _: g.igraph.connected_components(mode="weak"), len),
        "GAP": gap(g, "cc"),
    })  # fmt: skip


def strong_components(g: Subject) -> Contenders:
    return known({
        "graphla": Contender(
            lambda _: algo.strong_components(g.A), lambda r: count_parts(r.to_dense())
        ),
        "SciPy": Contender(
            lambda _: csgraph.connected_components(g.scipy, connection="strong"), lambda r: r[0]
        ),
        "igraph": Contender(lambda _: g.igraph.connected_components(mode="strong"), len),
    })  # fmt: skip


def triangles(g: Subject) -> Contenders:
    def count_with_graphblas(_: Any) -> int:
        L = graphblas.select.tril(g.graphblas, -1).new()
        C = graphblas.semiring.plus_pair(L @ L.T).new(mask=L.S)
        return int(C.reduce_scalar().new(name="").value or 0)

    return known({
        "graphla": Contender(lambda _: algo.triangle_count(g.A), int),
        "python-graphblas": Contender(count_with_graphblas, int),
        "GAP": gap(g, "tc"),
    })  # fmt: skip


def k_truss(g: Subject) -> Contenders:
    """Compute the 4-truss. For python-graphblas, this is the loop of LAGraph."""

    def truss_with_graphblas(_: Any) -> int:
        C = g.graphblas
        while True:
            supports = graphblas.semiring.plus_pair(C @ C.T).new(mask=C.S)
            kept = graphblas.select.valuege(supports, 2).new()
            if kept.nvals == C.nvals:
                return kept.nvals
            C = kept

    return known({
        "graphla": Contender(lambda _: algo.k_truss(g.A, 4), lambda r: r.nvals),
        "python-graphblas": Contender(truss_with_graphblas, int),
    })  # fmt: skip


def betweenness(g: Subject) -> Contenders:
    """Compute betweenness from four sources; GAP chooses its own four sources."""
    return known({
        "graphla": Contender(lambda _: algo.betweenness(g.A, sources=g.sources)),
        "GAP": gap(g, "bc", "-i", SOURCES),
    })  # fmt: skip


def cores(g: Subject) -> Contenders:
    return known({
        "graphla": Contender(lambda _: algo.core_numbers(g.A), dense),
        "networkit": Contender(
            lambda _: nk.centrality.CoreDecomposition(g.networkit).run(), lambda r: r.scores()
        ),
        "igraph": Contender(lambda _: g.igraph.coreness(), np.asarray),
    })  # fmt: skip


def forest(g: Subject) -> Contenders:
    return known({
        "graphla": Contender(
            lambda _: algo.spanning_forest(g.weighted),
            lambda r: float(r.to_coo()[2].sum(dtype=np.int64)) / 2,
        ),
        "SciPy": Contender(
            lambda _: csgraph.minimum_spanning_tree(g.scipy), lambda r: float(r.sum())
        ),
        "igraph": Contender(
            lambda _: g.igraph.spanning_tree(weights="weight"), lambda r: sum(r.es["weight"])
        ),
    })  # fmt: skip


def label_propagation(g: Subject) -> Contenders:
    return known({
        "graphla": Contender(lambda _: algo.label_propagation(g.A)),
        "networkit": Contender(lambda _: nk.community.PLP(g.networkit).run()),
    })  # fmt: skip


def louvain(g: Subject) -> Contenders:
    """Find communities. Their modularities are printed; they need not be equal."""
    return known({
        "graphla": Contender(lambda _: algo.louvain(g.A, seed=1)),
        "networkit": Contender(lambda _: nk.community.PLM(g.networkit, refine=False).run()),
        "igraph": Contender(lambda _: g.igraph.community_multilevel()),
    })  # fmt: skip


# --- GraphBLAS operations -------------------------------------------------------------------------


def masked_dup(g: Subject) -> Contenders:
    """Copy the weighted matrix under a mask that allows half of its entries."""
    A, C = g.weighted, g.weighted.select("<=", 32).new()
    G = g.graphblas_of_numbers
    K: Any = graphblas.select.valuele(G, 32).new() if graphblas else None
    return known({
        "graphla": Contender(lambda _: A.dup(mask=C.S), lambda r: r.nvals),
        "python-graphblas": Contender(lambda _: G.dup(mask=K.S), lambda r: r.nvals),
    })  # fmt: skip


def extract(g: Subject) -> Contenders:
    half = np.arange(0, g.A.nrows, 2)
    G = g.graphblas_of_numbers
    return known({
        "graphla": Contender(lambda _: g.weighted[half, half].new(), lambda r: r.nvals),
        "python-graphblas": Contender(lambda _: G[half, half].new(), lambda r: r.nvals),
    })  # fmt: skip


def ewise_mult(g: Subject) -> Contenders:
    """Multiply the weighted matrix entry-wise by the matrix of its entries that are at most 32."""
    A, C = g.weighted, g.weighted.select("<=", 32).new()
    G = g.graphblas_of_numbers
    K: Any = graphblas.select.valuele(G, 32).new() if graphblas else None
    return known({
        "graphla": Contender(lambda _: A.ewise_mult(C, gl.binary.times).new(), lambda r: r.nvals),
        "python-graphblas": Contender(
            lambda _: G.ewise_mult(K, graphblas.binary.times).new(), lambda r: r.nvals
        ),
    })  # fmt: skip


def row_sums(g: Subject) -> Contenders:
    A, G = g.weighted, g.graphblas_of_numbers
    return known({
        "graphla": Contender(
            lambda _: A.reduce_rowwise("plus").new(), lambda r: r.to_dense(fill_value=0)
        ),
        "python-graphblas": Contender(
            lambda _: G.reduce_rowwise(graphblas.monoid.plus).new(),
            lambda r: r.to_dense(fill_value=0),
        ),
    })  # fmt: skip


def assign_half(g: Subject) -> Contenders:
    """Write a vector to a random half of the positions of another vector."""
    n = g.A.nrows
    half = np.sort(np.random.default_rng(1).permutation(n)[: n // 2])
    values = np.arange(half.size, dtype=float)
    u, v = Vector.from_scalar(1.0, n), Vector.from_dense(values)

    def ours(_: Any) -> Vector:
        u[half] << v
        return u

    theirs: Any = None
    if graphblas:
        w, x = graphblas.Vector.from_scalar(1.0, n), graphblas.Vector.from_dense(values)

        def assign(_: Any) -> Any:
            w[half] << x
            return w

        theirs = Contender(assign, lambda r: r.to_dense())
    return known({"graphla": Contender(ours, lambda r: r.to_dense()), "python-graphblas": theirs})


EVERYWHERE = tuple(GRAPHS)
FROM_SOURCES = ("bfs", "sssp")
UNDIRECTED = tuple(name for name in GRAPHS if name not in STORED)
CASES: dict[str, tuple[Callable[[Subject], Contenders], tuple[str, ...]]] = {
    "bfs": (bfs, EVERYWHERE),
    "sssp": (sssp, EVERYWHERE),
    "pagerank": (pagerank, EVERYWHERE),
    "components": (components, UNDIRECTED),
    "strong_components": (strong_components, STORED),
    "triangles": (triangles, UNDIRECTED),
    "k_truss": (k_truss, ("R-MAT 16", "road-NY", "grid 500")),
    "betweenness": (betweenness, ("R-MAT 18", "uniform 18", "road-NY")),
    "cores": (cores, UNDIRECTED),
    "forest": (forest, UNDIRECTED),
    "label_propagation": (label_propagation, ("R-MAT 18", "road-NY", "grid 500")),
    "louvain": (louvain, ("R-MAT 16", "road-NY", "grid 500")),
    "masked_dup": (masked_dup, ("R-MAT 18", "road-NY")),
    "extract": (extract, ("R-MAT 18", "road-NY")),
    "ewise_mult": (ewise_mult, ("R-MAT 18", "road-NY")),
    "row_sums": (row_sums, ("R-MAT 18", "road-NY")),
    "assign_half": (assign_half, ("R-MAT 18", "road-NY")),
}


# --- measuring ------------------------------------------------------------------------------------


def verify(contenders: Contenders, inputs: list[Any]) -> None:
    """Assert that the results that can be compared are equal up to rounding."""
    for each in inputs:
        results = {
            name: one.read(one.call(each))
            for name, one in contenders.items()
            if isinstance(one, Contender) and one.read is not None
        }
        names = list(results)
        for name in names[1:]:
            np.testing.assert_allclose(results[names[0]], results[name], 1e-6, err_msg=name)


def compare(contenders: Contenders, inputs: list[Any], rounds: int) -> dict[str, float]:
    """Return the median time of each contender in milliseconds. The contenders alternate."""
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, each in contenders.items():
            sleep(PAUSE)
            found[name] += each.times(inputs)
    return {name: median(times) for name, times in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("cases", nargs="*", help=f"some of {', '.join(CASES)}")
    parser.add_argument("--graphs", nargs="*", help=f"some of {', '.join(GRAPHS)}")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--gap", type=Path, help="folder with the programs of GAP")
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("DATA"),
        help="folder with the .npz files of real graphs",
    )
    options = parser.parse_args()
    if unknown := {*options.cases} - {*CASES} | {*(options.graphs or ())} - {*GRAPHS}:
        parser.error(f"unknown: {', '.join(unknown)}")
    gl.config.device = "cpu"
    print(describe_host(*start_libraries(), "numpy", "numba"))
    rows: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for graph, make in GRAPHS.items():
            chosen = [
                name
                for name, (_, graphs) in CASES.items()
                if graph in graphs and name in (options.cases or CASES)
            ]
            if not chosen or graph not in (options.graphs or GRAPHS):
                continue
            if graph in STORED and not options.data:
                print(f"{graph}: needs --data")
                continue
            g = Subject(graph, make(options.data), Path(folder), options.gap)
            for name in chosen:
                contenders = CASES[name][0](g)
                inputs = g.sources if name in FROM_SOURCES else [0]
                verify(contenders, inputs)
                times = compare(contenders, inputs, options.rounds)
                ours = times.pop("graphla")
                best = min(times.values(), default=float("nan"))
                others = ", ".join(f"{peer} {time:.3g}" for peer, time in times.items())
                row = f"{name:<18}{graph:<15}{ours:9.3g} ms{best / ours:9.2f}   {others}"
                rows.append((best / ours, row))
                print(row, flush=True)
    print("\ncase              graph            graphla  best/ours   peers, ms; losses first")
    for _, row in sorted(rows, key=lambda row: row[0]):
        print(row)


if __name__ == "__main__":
    main()
