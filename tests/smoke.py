"""Check an installed wheel with only NumPy and SciPy available; `make release` runs this."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import graphla as gl
from graphla import Graph, Matrix, Vector, closure
from graphla.algorithms import bfs, pagerank, shortest_path
from graphla.semiring import min_plus

HERE = Path(__file__).resolve().parent.parent
PACKAGE = Path(gl.__file__).resolve()

assert HERE not in PACKAGE.parents or "site-packages" in PACKAGE.parts, PACKAGE
for optional in ("numba", "networkx", "matplotlib", "cupy", "pandas"):
    assert find_spec(optional) is None, f"{optional} is installed"

A = gl.datasets.load("road-NY")
levels, parents = bfs(A, 0)
assert levels.nvals == parents.nvals == 264_346

B = Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], [4, 1, 1, 5], nrows=4, ncols=4)
start = Vector.from_coo([0], [0], size=4)
assert closure(start, B, min_plus).values.to_dict() == {0: 0, 1: 4, 2: 1, 3: 5}

G = Graph.from_edges([("ann", "bob"), ("bob", "eve")])
assert shortest_path(G, "ann", "eve") == ["ann", "bob", "eve"]
assert abs(sum(pagerank(G).to_dict().values()) - 1) < 1e-9

command = Path(sys.executable).with_name("graphla")
shown = subprocess.run([command, "bfs", "karate", "--source", "0"], capture_output=True, text=True)
assert shown.returncode == 0 and "34" in shown.stdout, shown.stderr

print(f"graphla {gl.__version__} works with NumPy and SciPy alone, from {PACKAGE.parent}")
