"""Core numbers, with `loops/cores`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphla.backends.cpu.dispatch import compiles, try_loops
from graphla.backends.cpu.loops.cores import STATE_SIZE, Rows, Work
from graphla.backends.cpu.loops.team import TEAM_WORDS
from graphla.backends.cpu.operands import threads_worth
from graphla.backends.tuning import current
from graphla.compilers import numba_ops
from graphla.compilers.crew import run_together
from graphla.compilers.numba import load
from graphla.compilers.threads import apart
from graphla.formats import Array, Csr


@dataclass(frozen=True, slots=True)
class CoresTuning:
    """Parameters of the loop for core numbers."""

    # Up to this number of vertices plus entries, one thread runs the loop. At this size, a second
    # thread saves only a few milliseconds, but the loop for several threads takes about 1 s more to
    # compile.
    alone: int = 1 << 20
    shared: int = 1 << 12  # all threads share a step with at least this many vertices or edges


TUNING = CoresTuning()


@try_loops
def cores(out: Csr, into: Csr | None) -> Array | None:
    """Return the core number of each vertex as int64[n], or None if no compiled loop is used."""
    n = out.nrows
    threads = compiles(out.nvals, size=n)
    if not threads:
        return None
    tuning = current(TUNING)
    threads = threads_worth(n + out.nvals, threads) if n + out.nvals > tuning.alone else 1
    degrees = np.diff(out.indptr).astype(np.int32, copy=False)
    if into is not None:
        degrees += np.diff(into.indptr).astype(np.int32, copy=False)
    left = np.empty(2 * n if threads > 1 else n, np.int32)
    left[:n] = np.arange(n, dtype=np.int32)
    state, team = np.zeros(STATE_SIZE, np.int64), np.zeros(TEAM_WORDS, np.int64)
    stop = np.zeros(1, np.int64)
    other = out if into is None else into
    pair = out.indptr, out.indices, other.indptr, other.indices
    rows = Rows(*pair, int(into is not None))
    work = Work(degrees, left, np.empty(n + 1, np.int32), state, team, stop)
    loop = load("cores.peel", (numba_ops.sharing, threads > 1), (rows, work))
    arguments = *rows, *work, tuning.shared
    apart(lambda: run_together(loop, arguments, threads, stop), stop, threads, n + out.nvals)
    return degrees.astype(np.int64)
