"""Measure push and pull on a GPU at several densities of the vector and of the mask.

    python benchmarks/direction_gpu.py [SCALE]

The script first prints the constants of `graphla.backends.cuda.matvec.costs` for this GPU. For each
case it then prints the device time of both directions. The last column is the time of the direction
that the rule of `graphla.operations.direction` picks, relative to the faster direction. A ratio
above 1.3 is marked.
"""

from __future__ import annotations

import sys
from statistics import median
from typing import Any

import cupy
import graphs
from clock import Events, describe_card

import graphla as gl
from graphla import Vector, semiring
from graphla.backends import backend

SEMIRINGS = ("any_secondi", "lor_land", "min_plus", "plus_times")
DENSITIES = (0.0001, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
VISITED = (None, 0.1, 0.5, 0.9, 0.99)
LIMIT = 1.3


def milliseconds(call: Any, trials: int = 5, wall: bool = False) -> float:
    """Return the median device time of a call in ms, or its wall time if `wall` is true."""
    call()
    clock = Events()
    return median(clock.once(call)[wall] for _ in range(trials))


def frontier(n: int, share: float) -> Vector:
    """Return a random subset of the n vertices of size `n * share`, each with a random value."""
    rng = cupy.random.RandomState(3)
    chosen = cupy.sort(rng.permutation(n)[: max(1, int(n * share))]).astype(cupy.int32)
    return Vector.from_coo(chosen, rng.random_sample(chosen.size, dtype=cupy.float32), size=n)


def constants(A: Any) -> None:
    """Measure and print each constant of the direction rule.

    Each constant is printed in nanoseconds, and as a multiple of the cost of a gathered entry.
    """
    n, nvals = A.nrows, A.nvals
    values = cupy.random.RandomState(4).random_sample(n, dtype=cupy.float32)
    full, few = Vector.from_dense(values), frontier(n, 0.01)
    many = frontier(n, 0.1)
    edges = [
        backend("cuda").count_edges(A._read().csr, v._read().sparse().indices) for v in (few, many)
    ]
    tiny = gl.Matrix.from_coo([0, 1], [1, 0], 1.0, symmetric=True)
    one = Vector.from_coo([0], 1.0, size=2)

    def product(v: Vector, B: Any, name: str, towards: Any) -> Any:
        def call() -> Any:
            with gl.direction(towards):
                return getattr(semiring, name)(v @ B).new()

        return call

    entry = milliseconds(product(full, A, "plus_second", "pull")) / nvals
    pushes = [milliseconds(product(v, A, "plus_second", "push")) for v in (few, many)]
    found = {
        "one entry gathered by pull": entry,
        "push_entry": (pushes[1] - pushes[0]) / (edges[1] - edges[0]),
        "pull_row": milliseconds(product(full, A, "any_secondi", "pull")) / n,
        "push_start": milliseconds(product(one, tiny, "any_secondi", "push"), 50, wall=True),
        "pull_start": milliseconds(product(one, tiny, "any_secondi", "pull"), 50, wall=True),
        "transpose_entry": milliseconds(lambda: backend("cuda").transpose(A._read().csr)) / nvals,
    }
    print(f"kron: {n:,} rows, {nvals:,} entries; push starts from {edges[0]:,} edges")
    for name, each in found.items():
        print(f"  {name:<28}{1e6 * each:12.4f} ns{each / entry:14.2f} entries gathered")


def report(A: Any, name: str, share: float, visited: float | None) -> float:
    """Measure and print one case.

    Return the time of the direction that the rule chooses, divided by that of the faster direction.
    """
    n, u = A.nrows, frontier(A.nrows, share)
    if name == "lor_land":
        u = u.apply(gl.unary.one["BOOL"]).new() if hasattr(gl.unary, "one") else u
    mask = None
    if visited is not None:
        done = cupy.random.RandomState(5).random_sample(n) < visited
        mask = ~Vector.from_dense(done, missing_value=False).S
    call = getattr(semiring, name)

    def product() -> Any:
        return call(u @ A).new(mask=mask) if mask is not None else call(u @ A).new()

    times = {}
    for way in ("push", "pull"):
        with gl.direction(way):
            times[way] = milliseconds(product)
    with gl.Recorder() as recorder:
        product()
    choice = recorder.events[-1].direction
    loss = times[choice] / min(times.values())
    print(
        f"{name:12} u {share:<7} visited {visited or 0:<5} push {times['push']:8.3f} ms  "
        f"pull {times['pull']:8.3f} ms  {choice} {loss:5.2f}"
        + ("  <- slower" if loss > LIMIT else ""),
        flush=True,
    )
    return loss


def main() -> None:
    scale = int(sys.argv[1]) if len(sys.argv) > 1 else 22
    gl.config.device = "cuda"
    print(describe_card())
    A = graphs.kron(scale, dtype="FP32")
    constants(A)
    losses = [
        report(A, name, share, visited)
        for name in SEMIRINGS
        for share in DENSITIES
        for visited in VISITED
    ]
    beyond = sum(loss > LIMIT for loss in losses)
    print(f"{len(losses)} cases: {beyond} beyond {LIMIT}, the worst {max(losses):.2f}")


if __name__ == "__main__":
    main()
