"""Measure how much memory algorithms need beyond their inputs.

    python benchmarks/memory.py [CASES ...] [--scale 20]

Each case runs in a new process, which first makes the same call for a small graph. Then it builds
the inputs from a graph by `generators.kronecker` with edge factor 16, and makes the call once. It
prints the peak of the resident memory during the call, minus the resident memory before it. The
peak includes the result. The script needs Linux, where it can reset the recorded peak before the
call.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import graphla as gl
from graphla import Matrix
from graphla import algorithms as algo


def from_coo(A: Matrix, is_shuffled: bool = False) -> Callable[[], Any]:
    """Return a call that builds a matrix with FP64 values."""
    rows, columns, _ = A.to_coo()
    rng = np.random.default_rng(1)
    order = rng.permutation(rows.size) if is_shuffled else slice(None)
    rows, columns, values = rows[order], columns[order], rng.random(rows.size)
    return lambda: Matrix.from_coo(rows, columns, values)


CASES: dict[str, Callable[[Matrix], Callable[[], Any]]] = {
    "from_coo, in order": from_coo,
    "from_coo, shuffled": lambda A: from_coo(A, is_shuffled=True),
    "triangles": lambda A: lambda: algo.triangle_count(A),
    "pagerank": lambda A: lambda: algo.pagerank(A),
    "forest": lambda A: lambda: algo.spanning_forest(A),
    "components": lambda A: lambda: algo.connected_components(A),
    "cores": lambda A: lambda: algo.core_numbers(A),
    "bfs": lambda A: lambda: algo.bfs(A, 0),
}


def resident(name: str) -> float:
    """Return the size with this name in /proc/self/status, in MB."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) / 1000 * 1.024 for line in status.splitlines() if name in line)


def measure(case: str, scale: int) -> float:
    """Return the peak memory of a call beyond its inputs, in MB."""
    for each in (12, scale):
        call = CASES[case](gl.generators.kronecker(each, 16, seed=1))
        ctypes.CDLL(None).malloc_trim(0)  # return freed memory to the system
        before = resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # reset the recorded peak memory
        result = call()
        peak = resident("VmHWM") - before
        del result
    return peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("cases", nargs="*", help=f"some of {', '.join(CASES)}")
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--here", action="store_true", help="measure one case in this process")
    options = parser.parse_args()
    if unknown := {*options.cases} - {*CASES}:
        parser.error(f"unknown: {', '.join(unknown)}")
    for case in options.cases or CASES:
        if options.here:
            print(f"{case:<20}{measure(case, options.scale):8.0f} MB")
            continue
        command = [sys.executable, __file__, case, "--here", "--scale", str(options.scale)]
        print(subprocess.run(command, check=True, text=True, capture_output=True).stdout, end="")


if __name__ == "__main__":
    main()
