"""Measure sorting on the CPU by `<` and by a user's comparison, and compare both with Python.

    python benchmarks/sort.py [ENTRIES]

The user's comparison orders fractions; a 64-bit word holds a numerator and a denominator. Python's
`sorted` uses the same function wrapped in `functools.cmp_to_key`, once as plain Python and once
compiled by Numba. `sorted` gets a tenth of the entries, and its time for all entries is
extrapolated as n log n. sort_gpu.py measures sorting on a GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cmp_to_key
from math import log
from typing import Any

import numpy as np
from clock import describe_host, least

import graphla as gl
from graphla import binary

LOW = (1 << 32) - 1


def less(x: Any, y: Any) -> Any:
    """Return whether the fraction x is less than y."""
    return (x >> 32) * (y & LOW) < (y >> 32) * (x & LOW)


fraction = binary.register_anonymous(less, "fraction")


def line(what: str, time: float) -> None:
    print(f"{what:<58}{time:>12,.1f} ms", flush=True)


def by_python(values: np.ndarray, before: Callable[[Any, Any], Any]) -> float:
    some = values[: values.size // 10].tolist()
    key = cmp_to_key(lambda x, y: -before(x, y))  # the lambda returns -1 if x comes before y
    share = values.size * log(values.size) / (len(some) * log(len(some)))
    return share * least(lambda: sorted(some, key=key), trials=1)


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rng = np.random.default_rng(0)
    values = rng.integers(0, 10_000, size) << 32 | rng.integers(1, 10_000, size)
    v = gl.Vector.from_dense(values)
    print(describe_host("numpy", "numba"))
    print(f"\na vector of {size:,} entries, INT64")
    line("np.argsort(kind='stable')", least(lambda: values.argsort(kind="stable")))
    line("v.sort()", least(v.sort))
    for threads in (1, gl.config.threads):
        with gl.config.set(threads=threads):
            what = f"v.sort(fraction), threads = {threads}"
            line(what, least(lambda: v.sort(fraction)))
    with gl.config.set(compiled=False):
        line("v.sort(fraction) in NumPy alone", least(lambda: v.sort(fraction), trials=1))
    line("v.top_k(10, fraction)", least(lambda: v.top_k(10, fraction)))
    line("sorted(..., key=cmp_to_key(...))", by_python(values, less))
    try:
        from numba import njit
    except ImportError:
        pass
    else:
        line("the same, the function compiled by Numba", by_python(values, njit(less)))

    A = gl.generators.kronecker(16, seed=1)
    weights = rng.integers(0, 10_000, A.nvals) << 32 | rng.integers(1, 10_000, A.nvals)
    indptr, indices, _ = A.to_csr()
    A = gl.Matrix.from_csr(indptr, indices, weights, ncols=A.ncols)
    longest = np.diff(indptr).max()
    print(f"\nthe {A.nrows:,} rows of a matrix of {A.nvals:,} entries, of up to {longest:,}")
    line("A.sort()", least(A.sort))
    line("A.sort(fraction)", least(lambda: A.sort(fraction)))
    line("A.top_k(10, fraction)", least(lambda: A.top_k(10, fraction)))
    A.T.new()
    line("A.sort(fraction, 'columnwise')", least(lambda: A.sort(fraction, "columnwise")))
    with gl.config.set(compiled=False):
        line("A.sort() in NumPy alone", least(A.sort, trials=2))
        line("A.sort(fraction) in NumPy alone", least(lambda: A.sort(fraction), trials=1))


if __name__ == "__main__":
    gl.config.device = "cpu"
    main()
