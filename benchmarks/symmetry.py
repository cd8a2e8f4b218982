"""What it costs to find symmetry, and what it saves, on the CPU or on a GPU.

    python benchmarks/symmetry.py [--device cuda] [--scale 18]

The same symmetric R-MAT graph is searched with `symmetric=True` and without. Printed are the wall
time of the first searches, and time and bytes of the full plan; then the pass alone, on matrices
with equal weights, with other weights, and with one entry removed. Levels are compared.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import graphla as gl
from graphla.backends import backend

SEARCHES = 8


def timed(call: Callable[[], Any], device: str) -> tuple[float, Any]:
    """Return the milliseconds of a call until the device is idle, and its result."""
    synchronize(device)
    begin = perf_counter()
    result = call()
    synchronize(device)
    return 1e3 * (perf_counter() - begin), result


def synchronize(device: str) -> None:
    """Wait for the device."""
    if device != "cpu":
        backend(device).xp.cuda.Device().synchronize()


def held(A: gl.Matrix) -> int:
    """Return the bytes of the forms of a matrix and of its plan, each array counted once."""
    forms = A._forms
    present = [forms.csr] if forms.has_csr else []
    present += [forms.csc] if forms.has_csc else []
    arrays = {id(x): x for form in present for x in (form.indptr, form.indices)}
    values = {id(form.values): form.values for form in present}
    bytes_of_values = sum(x[:1].nbytes if not x.strides[0] else x.nbytes for x in values.values())
    plan = A.plan.nbytes if A.plan else 0
    return sum(x.nbytes for x in arrays.values()) + bytes_of_values + plan


def with_flag(A: gl.Matrix, values: Any = True) -> gl.Matrix:
    """Return a matrix of the same arrays that is declared symmetric."""
    indptr, indices, _ = A.to_csr(copy=False)
    return gl.Matrix.from_csr(indptr, indices, values, ncols=A.ncols, symmetric=True, copy=False)


def without_flag(A: gl.Matrix, values: Any = True) -> gl.Matrix:
    """Return a matrix of the same arrays whose symmetry is not declared."""
    indptr, indices, _ = A.to_csr(copy=False)
    return gl.Matrix.from_csr(indptr, indices, values, ncols=A.ncols, copy=False)


def graph(scale: int, device: str) -> gl.Matrix:
    """Return the symmetric R-MAT graph."""
    if device == "cpu":
        return gl.generators.kronecker(scale, 16, seed=1)
    from gpu_graphs import kron

    return kron(scale)


def search(A: gl.Matrix, source: int) -> Any:
    """Return the levels of a search."""
    return gl.algorithms.bfs(A, source, parents=False).levels


def searches(A: gl.Matrix, sources: list[int]) -> None:
    """Print the first searches, and the full plan, with and without the flag."""
    device = A.device
    print(f"\n{A.nrows:,} vertices, {A.nvals:,} entries; milliseconds of searches 1 to {SEARCHES}")
    found: dict[str, list[Any]] = {}
    for name, make in {"symmetric=True": with_flag, "not declared": without_flag}.items():
        B = make(A)
        times = []
        for source in sources[:SEARCHES]:
            took, levels = timed(lambda B=B, s=source: search(B, s), device)
            times.append(took)
            found.setdefault(name, []).append(levels)
        took, _ = timed(B.optimize, device)
        rest = [timed(lambda B=B, s=s: search(B, s), device)[0] for s in sources]
        words = " ".join(f"{x:8.3f}" for x in times)
        print(f"  {name:<16}{words}")
        print(
            f"  {'':<16}full plan {took:8.2f} ms, {held(B) / 1e6:10.1f} MB in all, "
            f"then {median(rest):8.3f} ms a search"
        )
    declared, undeclared = found.values()
    assert all(x.isequal(y) for x, y in zip(declared, undeclared, strict=True))


def passes(A: gl.Matrix) -> None:
    """Print what the pass alone takes."""
    device, do = A.device, backend(A.device)
    xp, indices = do.xp, A._forms.csr.indices
    rows = do.row_of_entry(A._forms.csr)
    mirrored = xp.minimum(rows, indices) % 1000 + xp.maximum(rows, indices) % 1000
    print("\nThe pass alone, milliseconds (median of 5); the transposition for comparison")
    cases = {
        "equal values, symmetric": without_flag(A),
        "int32 values, symmetric": without_flag(A, mirrored.astype(np.int32)),
        "int32 values, symmetric pattern": without_flag(A, (rows % 1000).astype(np.int32)),
    }
    del mirrored
    keep = xp.ones(A.nvals, bool)
    keep[-1] = False
    cases["equal values, last entry removed"] = gl.Matrix._of(
        type(A._forms)(device, A.dtype, do.keep(A._forms.csr, keep))
    )
    cases["equal values, upper triangle"] = gl.select.triu(A).new()
    shifted = do.keep(A._forms.csr, xp.arange(A.nvals) % 3 != 0)
    cases["equal values, two thirds of them"] = gl.Matrix._of(
        type(A._forms)(device, A.dtype, shifted)
    )
    for name, B in cases.items():
        csr = B._forms.csr
        do.find_symmetry(csr)
        runs = [timed(lambda csr=csr: do.find_symmetry(csr), device) for _ in range(5)]
        print(f"  {name:<36}{median(t for t, _ in runs):9.3f}   {tuple(runs[0][1])}")
    took, _ = timed(lambda: do.transpose(A._forms.csr), device)
    print(f"  {'transposition':<36}{took:9.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--scale", type=int, help="vertices: 2^scale (18 on the CPU, 24 on a GPU)")
    options = parser.parse_args()
    gl.config.device = options.device
    scale = options.scale or (18 if options.device == "cpu" else 24)
    if options.device == "cpu":
        from cpu_timing import machine

        gl.config.compiled = True
        print(machine("NumPy", "SciPy", "Numba"))
    else:
        from gpu_timing import machine

        print(machine())
    warm = graph(12, options.device)
    for make in (with_flag, without_flag):
        B = make(warm)
        for _ in range(3):
            search(B, 0)
        search(B.optimize(), 0)
    A = graph(scale, options.device)
    degrees = A.reduce_rowwise(gl.agg.count).new().to_dense(fill_value=0)
    candidates = np.flatnonzero(np.asarray(degrees) > 0)
    sources = np.random.default_rng(1).choice(candidates, 32).tolist()
    searches(A, sources)
    passes(A)


if __name__ == "__main__":
    main()
