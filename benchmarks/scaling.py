"""Measure how much faster algorithms are on the CPU with many threads than with one.

    python benchmarks/scaling.py                          all algorithms on R-MAT 20
    python benchmarks/scaling.py bfs sssp --scale 22      some algorithms on another graph
    python benchmarks/scaling.py --threads 1 4 16

A time is the minimum wall time of a public call. The measurement alternates between the numbers of
threads, so that a slow phase of the machine affects all of them. The first two calls with each
number of threads are not timed; they include preparations such as a transpose. All results are
compared with those for the first number of threads. Integers must be equal. For
PageRank and betweenness, the sum of the differences may be at most 1e-4 times the sum of the
values, and modularities of communities may differ by less than 0.01.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from clock import Wall, describe_host
from graphs import giant, with_weights

import graphla as gl
import graphla.algorithms as algo
from graphla import Matrix
from graphla.semiring import plus_pair

MANY = 256  # number of vertices whose closeness is computed


@dataclass
class Subject:
    """A graph, and the other inputs of the algorithms."""

    A: Matrix
    source: int

    @cached_property
    def weighted(self) -> Matrix:
        return with_weights(self.A)

    @cached_property
    def many(self) -> np.ndarray:
        """Return the start vertices for searches from many vertices."""
        return np.random.default_rng(1).choice(self.A.nrows, min(MANY, self.A.nrows), replace=False)

    @cached_property
    def lower(self) -> Matrix:
        return self.A.select("tril", -1).new()


def masked_product(g: Subject) -> Matrix:
    """Count, for each edge, the common neighbors of its ends."""
    L = g.lower
    C = Matrix(int, L.nrows, L.ncols)
    C(L.S) << plus_pair(L @ L.T)
    return C


CASES: dict[str, Callable[[Subject], Any]] = {
    "bfs": lambda g: algo.bfs(g.A, g.source).levels,
    "sssp": lambda g: algo.sssp(g.weighted, g.source).distances,
    "pagerank": lambda g: algo.pagerank(g.A, tol=1e-4 / g.A.nrows),
    "components": lambda g: algo.connected_components(g.A),
    "triangles": lambda g: algo.triangle_count(g.A),
    "betweenness": lambda g: algo.betweenness(g.A, sources=[g.source], normalized=False),
    "cores": lambda g: algo.core_numbers(g.A),
    "forest": lambda g: algo.spanning_forest(g.weighted, weight=True),
    "coloring": lambda g: algo.greedy_color(g.A),
    "matching": lambda g: algo.maximal_matching(g.weighted, weight=True),
    "closeness": lambda g: algo.closeness(g.A, g.many),
    "label propagation": lambda g: algo.label_propagation(g.A, seed=1),
    "louvain": lambda g: algo.modularity(g.A, algo.louvain(g.A, seed=1)),
    "masked product": masked_product,
}
APPROXIMATE = ("pagerank", "betweenness")


def same(name: str, x: Any, y: Any) -> bool:
    """Return whether two results agree."""
    if name == "louvain":
        return abs(x - y) < 0.01  # the modularity depends on the number of threads
    if name in APPROXIMATE:
        first, second = (np.nan_to_num(each.to_dense(fill_value=0)) for each in (x, y))
        return bool(np.abs(first - second).sum() <= 1e-4 * np.abs(first).sum())
    return bool(x.isequal(y)) if isinstance(x, (gl.Vector, Matrix)) else x == y


def measure(
    case: Callable[[Subject], Any], subject: Subject, numbers: list[int], rounds: int
) -> tuple[list[float], list[Any]]:
    """Return the minimum time in milliseconds and a result for each number of threads."""
    wall, results = Wall(frees=True), []
    times = [np.inf] * len(numbers)
    for turn in range(-2, rounds):
        for k, threads in enumerate(numbers):
            with gl.config.set(threads=threads):
                if turn < 0:
                    results[k:] = [case(subject)]
                else:
                    times[k] = min(times[k], wall.once(lambda: case(subject))[1])
    return times, results


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--scale", type=int, default=20, help="log2 of the number of vertices")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, gl.config.threads])
    parser.add_argument("--rounds", type=int, default=5, help="timed calls")
    options = parser.parse_args()
    names = options.cases or [*CASES]
    if unknown := set(names) - set(CASES):
        parser.error(f"unknown cases: {', '.join(unknown)}; known are {', '.join(CASES)}")
    print(describe_host("numpy", "numba"))
    with gl.config.set(device="cpu", compiled=True):
        A = gl.generators.kronecker(options.scale, 16, seed=1)
        subject = Subject(A, giant(A, 1)[0][0])
        print(f"R-MAT {options.scale}: {A.nrows:,} vertices, {A.nvals:,} entries\n")
        heads = [f"{count} threads, ms" for count in options.threads]
        print(f"| algorithm | {' | '.join(heads)} | speedup | results |")
        print(f"|---|{'--:|' * len(heads)}--:|---|")
        for name in names:
            times, results = measure(CASES[name], subject, options.threads, options.rounds)
            agrees = all(same(name, results[0], each) for each in results[1:])
            cells = " | ".join(f"{each:,.1f}" for each in times)
            gain = times[0] / times[-1]
            print(
                f"| {name} | {cells} | {gain:.2f} | {'equal' if agrees else 'DIFFER'} |", flush=True
            )


if __name__ == "__main__":
    main()
