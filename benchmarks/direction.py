"""Check the direction rule: measure push and pull at several densities of the vector and the mask.

    python benchmarks/direction.py [SCALE]

For each case the script prints the time of each direction, their ratio, and the ratio that the
rule of `graphla.operations.direction` expects. It marks each case in which the two ratios favor
different directions.
"""

from __future__ import annotations

import sys

import numpy as np
from clock import describe_host, least

import graphla as gl
from graphla.backends import backend
from graphla.operations import direction

SEMIRINGS = ("any_secondi", "min_plus", "plus_times")
DENSITIES = (0.001, 0.01, 0.1, 0.5, 1.0)
VISITED = (None, 0.1, 0.5, 0.9)
TRIALS = 7


def report(A: gl.Matrix, name: str, density: float, visited: float | None) -> None:
    n, rng, do = A.nrows, np.random.default_rng(0), backend("cpu")
    chosen = np.sort(rng.choice(n, max(1, int(n * density)), replace=False))
    u = gl.Vector.from_coo(chosen, np.ones(chosen.size, np.float32), size=n)._read()
    mask = None
    if visited is not None:
        done = gl.Vector.from_dense((rng.random(n) < visited).astype(np.int8), missing_value=0)
        done._read().bitmap()
        mask = done._read().mask(True, True)
    m, semiring = A._read(), getattr(gl.semiring, name)[u.dtype, A.dtype]
    sparse, dense = u.sparse(), u.dense()
    push = least(lambda: do.push(m.csc, sparse, semiring, "vxm", mask), TRIALS)
    pull = least(lambda: do.pull(m.csr, dense, semiring, "vxm", mask), TRIALS)
    reached, stops = do.count_edges(m.csc, sparse.indices), direction._stops_early(semiring)
    pull_price = direction._price_of_pull(do, do.costs, m, True, reached, stops, mask)
    expected = do.costs.push_entry * reached / pull_price
    wrong = "  <- disagree" if (push > pull) != (expected > 1) else ""
    print(
        f"{name:12} u {density:<6} visited {visited or 0:<4} push {push:9.3f} ms  "
        f"pull {pull:9.3f} ms  ratio {push / pull:8.2f}  rule {expected:8.2f}{wrong}"
    )


def main() -> None:
    scale = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    A = gl.generators.kronecker(scale)
    print(describe_host("numpy", "numba"))
    for compiled in (True, False):
        print(f"kronecker {scale}, {'compiled' if compiled else 'NumPy'}")
        with gl.config.set(compiled=compiled):
            for name in SEMIRINGS:
                for density in DENSITIES:
                    for visited in VISITED:
                        report(A, name, density, visited)
    m = A._read()
    transpose = least(lambda: backend("cpu").transpose(m.csr), 3)
    full = gl.Vector.from_scalar(1.0, A.nrows)._read()
    semiring = gl.semiring.plus_times[full.dtype, A.dtype]
    pull = least(lambda: backend("cpu").pull(m.csr, full.dense(), semiring, "mxv", None))
    print(f"one entry transposed costs {transpose / pull:.1f} entries pulled")


if __name__ == "__main__":
    main()
