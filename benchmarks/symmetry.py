"""Measure the cost and the benefit of detecting symmetry, on the CPU or on a GPU.

    python benchmarks/symmetry.py [--device cuda] [--scale 18]

The same symmetric R-MAT graph is searched with and without `symmetric=True`, each time as a new
matrix. The script prints the wall time of the first searches, the time and the bytes of the full
preparation, and the time of the symmetry check alone. The check runs on symmetric and on
nonsymmetric matrices, whose values are all equal or differ. The levels of both variants must agree.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from clock import describe_card, describe_host
from graphs import again, kron_on_default_device

import graphla as gl
from graphla.backends import backend, streams

SEARCHES = 8
TRIALS = 5
without_flag = partial(again, symmetric=False)


def time_call(call: Callable[[], Any], device: str) -> tuple[float, Any]:
    """Return the milliseconds from a call until the device is idle, and the result of the call."""
    synchronize(device)
    begin = perf_counter()
    result = call()
    synchronize(device)
    return 1e3 * (perf_counter() - begin), result


def synchronize(device: str) -> None:
    """Wait until the device is idle."""
    if device != "cpu":
        streams(device).wait()


def bytes_of(A: gl.Matrix) -> int:
    """Return the number of bytes of a matrix and of its preparation; count shared arrays once."""
    forms = A._store
    present = [forms.csr] if forms.has_csr else []
    present += [forms.csc] if forms.has_csc else []
    arrays = {id(x): x for form in present for x in (form.indptr, form.indices)}
    values = {id(form.values): form.values for form in present}
    bytes_of_values = sum(x[:1].nbytes if not x.strides[0] else x.nbytes for x in values.values())
    plan = A.preparation.nbytes if A.preparation else 0
    return sum(x.nbytes for x in arrays.values()) + bytes_of_values + plan


def search(A: gl.Matrix, source: int) -> Any:
    """Return the levels of a search."""
    return gl.algorithms.bfs(A, source, parents=False).levels


def searches(A: gl.Matrix, sources: list[int]) -> None:
    """Print times of the first searches of a new matrix, with and without the symmetry flag."""
    makers = {"symmetric=True": again, "not declared": without_flag}
    times: dict[str, list[list[float]]] = {name: [] for name in makers}
    plans: dict[str, list[float]] = {name: [] for name in makers}
    rest: dict[str, list[float]] = {name: [] for name in makers}
    light, full = {}, {}
    for trial in range(TRIALS + 1):  # the first trial may compile kernels and is not counted
        levels = {}
        for name, make in makers.items():
            B = make(A)
            runs = [time_call(lambda B=B, s=s: search(B, s), A.device) for s in sources[:SEARCHES]]
            light[name] = bytes_of(B)
            planned, _ = time_call(B.prepare, A.device)
            full[name] = bytes_of(B)
            later = [time_call(lambda B=B, s=s: search(B, s), A.device)[0] for s in sources]
            levels[name] = [found for _, found in runs]
            if trial:
                times[name].append([took for took, _ in runs])
                plans[name].append(planned)
                rest[name] += later
        assert all(x.isequal(y) for x, y in zip(*levels.values(), strict=True))
    print(f"\n{A.nrows:,} vertices, {A.nvals:,} entries; milliseconds (medians of {TRIALS} runs)")
    print(f"  {'searches':<18}" + "".join(f"{k:9d}" for k in range(1, SEARCHES + 1)))
    for name in makers:
        row = [median(each) for each in zip(*times[name], strict=True)]
        print(f"  {name:<18}" + "".join(f"{x:9.3f}" for x in row))
    print("  with a full plan:   making it    a search    MB with a light plan, with the full one")
    for name in makers:
        row = f"{median(plans[name]):9.3f}   {median(rest[name]):9.3f}"
        print(f"  {name:<18}{row}   {light[name] / 1e6:9.1f}   {full[name] / 1e6:9.1f}")


def passes(A: gl.Matrix) -> None:
    """Print the time of the symmetry check alone."""
    device, do = A.device, backend(A.device)
    indices = A._store.csr.indices
    rows = do.row_of_entry(A._store.csr)
    mirrored = np.minimum(rows, indices) % 1000 + np.maximum(rows, indices) % 1000
    print("\nThe pass alone, milliseconds (median of 5); the transposition for comparison")
    cases = {
        "equal values, symmetric": without_flag(A),
        "int32 values, symmetric": without_flag(A, mirrored.astype(np.int32)),
        "int32 values, symmetric pattern": without_flag(A, (rows % 1000).astype(np.int32)),
    }
    del mirrored
    keep = do.full(A.nvals, True, bool)
    keep[-1] = False
    cases["equal values, last entry removed"] = gl.Matrix._of(
        type(A._store)(device, A.dtype, do.keep(A._store.csr, keep))
    )
    cases["equal values, upper triangle"] = gl.select.triu(A).new()
    shifted = do.keep(A._store.csr, do.arange(A.nvals, np.int64) % 3 != 0)
    cases["equal values, two thirds of them"] = gl.Matrix._of(
        type(A._store)(device, A.dtype, shifted)
    )
    for name, B in cases.items():
        csr = B._store.csr
        do.find_symmetry(csr)
        runs = [time_call(lambda csr=csr: do.find_symmetry(csr), device) for _ in range(5)]
        print(f"  {name:<36}{median(t for t, _ in runs):9.3f}   {tuple(runs[0][1])}")
    took, _ = time_call(lambda: do.transpose(A._store.csr), device)
    print(f"  {'transposition':<36}{took:9.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument(
        "--scale",
        type=int,
        help="the graph has 2^SCALE vertices (default: 18 on the CPU, 24 on a GPU)",
    )
    options = parser.parse_args()
    gl.config.device = options.device
    scale = options.scale or (18 if options.device == "cpu" else 24)
    if options.device == "cpu":
        gl.config.compiled = True
        print(describe_host("NumPy", "SciPy", "Numba"))
    else:
        print(describe_card())
    warm = kron_on_default_device(12)
    for make in (again, without_flag):
        B = make(warm)
        for _ in range(3):
            search(B, 0)
        search(B.prepare(), 0)
    A = kron_on_default_device(scale)
    degrees = A.reduce_rowwise(gl.agg.count).new().to_dense(fill_value=0)
    candidates = np.flatnonzero(np.asarray(degrees) > 0)
    sources = np.random.default_rng(1).choice(candidates, 32).tolist()
    searches(A, sources)
    passes(A)


if __name__ == "__main__":
    main()
