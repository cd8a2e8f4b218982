"""Compare the CPU and the GPU on your own file: the same calls on the same matrix.

python examples/cpu_and_gpu.py [FILE] [--rounds N]

FILE is a graph that graphla can read (Matrix Market, edge list or npz, possibly compressed as .gz).
Without a file the script generates a graph. Without a GPU it shows only the CPU column.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import graphla as gl
from graphla import algorithms, binary, monoid
from graphla.cards import count, find_problem

parser = argparse.ArgumentParser()
parser.add_argument("file", nargs="?", help="the graph (default: R-MAT with 2^14 vertices)")
parser.add_argument(
    "--rounds", type=int, default=3, help="number of runs of each call; the median time is shown"
)
options = parser.parse_args()


def number(x: Any) -> float:
    """Reduce a result to one number, so that the results of two devices can be compared."""
    return x if isinstance(x, (int, float)) else float(x.reduce(monoid.plus).value or 0)


def time_call(call: Callable[[gl.Matrix], Any], A: gl.Matrix) -> tuple[float, float]:
    found = number(call(A))  # the first call may compile code
    took = []
    for _ in range(options.rounds):
        start = time.perf_counter()
        number(call(A))  # `number` waits until the device has finished
        took.append(time.perf_counter() - start)
    return 1000 * median(took), found


with gl.config.set(device="cpu"):
    given = gl.io.read(options.file) if options.file else gl.generators.kronecker(14)
    assert isinstance(given, gl.Matrix)
    A = binary.pair(given | given.T).new(bool)  # each edge in both directions, with equal values
source = int(np.diff(A.to_csr()[0]).argmax())
calls: dict[str, Callable[[gl.Matrix], Any]] = {
    "bfs": lambda A: algorithms.bfs(A, source).levels,
    "sssp": lambda A: algorithms.sssp(A, source).distances,
    "pagerank": lambda A: algorithms.pagerank(A),
    "connected components": lambda A: algorithms.connected_components(A),
    "triangles": lambda A: algorithms.triangle_count(A),
}

devices = ["cpu", "cuda"] if count() and find_problem() is None else ["cpu"]
print(f"{A.nrows:,} vertices, {A.nvals // 2:,} edges; ms, medians of {options.rounds}")
print(f"{'':<22}" + "".join(f"{device:>12}" for device in devices))
there = {device: A.to(device) for device in devices}
for name, call in calls.items():
    times, found = zip(*(time_call(call, there[device]) for device in devices), strict=True)
    same = np.allclose(found, found[0], rtol=1e-6)
    row = "".join(f"{took:12.2f}" for took in times)
    print(f"{name:<22}{row}{f'{times[0] / times[-1]:8.1f} x' if len(devices) > 1 else ''}")
    assert same, f"{name} differs: {found}"
