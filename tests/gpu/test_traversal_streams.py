"""Random traversals on several streams respect the stream order while memory is freed.

The simulated GPU reports memory that is read before it is written, or freed while it is read.
"""

from __future__ import annotations

import gc
import random
from typing import Any

import cupy
import numpy as np
import pytest
from devices import has_card

import graphla as gl
from graphla.algorithms import bfs, reachable, sssp, widest_path
from graphla.backends.cuda.launch import CounterTuning
from graphla.backends.tuning import using

N = 24


def graph(seed: int) -> gl.Matrix:
    i, j, x = np.random.default_rng(seed).integers(0, N, (3, 3 * N))
    return gl.Matrix.from_coo(i, j, x % 8 + 1, nrows=N, ncols=N, dup_op="min")


def traversals(seed: int, steps: int, streams: list[Any] | None) -> list[float]:
    """Run a random sequence of traversals and return the values of the results kept.

    Without streams the traversals run on the CPU.
    """
    rng = random.Random(seed)
    A, found = graph(seed), [gl.Vector.from_coo([1, 5], [0, 2], size=N)]
    for _ in range(steps):
        k, s = rng.randrange(8), rng.randrange(N)
        x = rng.choice(found)
        if streams:
            streams[(k + s) % len(streams)].use()
        if k == 0:
            found.append(bfs(A, s, parents=False).levels)
        elif k == 1:
            found += bfs(A, [s, (s + 1) % N], parents="least", mask=~x.S)
        elif k == 2:
            found.append(bfs(A, x, levels="UINT8", parents=False).levels)
        elif k == 3:
            found.append(gl.closure(x, A, "min_plus", mask=x.S if s % 2 else None).values)
        elif k == 4:
            found.append(sssp(A, s).distances.select("<", 20).new())
        elif k == 5:
            found.append(reachable(A, s, cutoff=3).dup(int))
        elif k == 6:
            found.append(gl.closure(x, A, "max_min", cutoff=2).values)
            A = A.T.new()
        else:
            found.append(widest_path(A, x).widths)
            A = graph(seed + s)
        if len(found) > 4:
            del found[rng.randrange(len(found))]
        del x
    return [value for v in found for value in v.to_dense(-1, "FP64").tolist()]


@pytest.mark.parametrize("seed", range(8))
def test_random_traversals_on_three_streams_give_the_same_results_as_on_the_cpu(seed: int):
    # With batch=1, each counter is a separate allocation. The simulator detects reads of freed
    # memory only for whole allocations.
    with gl.config.set(device="cpu", compiled=False):
        expected = traversals(seed, 10, None)
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(3)]
    try:
        with gl.config.set(device="cuda"), using(CounterTuning(batch=1)):
            got = traversals(seed, 10, streams)
    finally:
        cupy.cuda.Stream.null.use()
    assert got == expected
    gc.collect()
    if not has_card():
        from simulator import machine

        machine.raise_faults()
