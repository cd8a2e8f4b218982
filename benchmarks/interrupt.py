"""How soon Ctrl-C ends a traversal: from the signal until KeyboardInterrupt has arrived.

python benchmarks/interrupt.py [LEVELS]
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from statistics import median
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Any

import numpy as np

import graphla as gl
from graphla.algorithms import bfs, sssp

TRIALS = 10
PROMISED = 0.1  # seconds
AFTER = 0.1  # seconds in which the traversal runs undisturbed


def path(n: int) -> tuple[gl.Matrix, int]:
    """0 -> 1 -> 2 ... under names drawn at random; and the first of them."""
    order = np.random.default_rng(1).permutation(n)
    weights = 1 + np.arange(n - 1) % 3
    A = gl.Matrix.from_coo(order[:-1], order[1:], weights, nrows=n, ncols=n)
    return A, int(order[0])


def delay(call: Callable[[], Any]) -> float | None:
    """Seconds from the signal to the exception; None where the call had ended before."""
    sent = [0.0]

    def interrupt() -> None:
        Event().wait(AFTER)
        sent[0] = perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    thread = Thread(target=interrupt)
    late = None
    try:
        thread.start()
        call()
        thread.join()
        sleep(1)  # where the signal arrives if the call has ended before
    except KeyboardInterrupt as interrupted:
        stopped = interrupted.__traceback__
        late = perf_counter() - sent[0]
        if stopped is not None and stopped.tb_next is None:  # not in the call
            late = None
    thread.join()
    return late


def main() -> None:
    levels = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
    small, start = path(20_000)
    bfs(small, start, parents=False), sssp(small, start)  # compiles
    A, source = path(levels)
    calls: dict[str, Callable[[], Any]] = {
        "bfs": lambda: bfs(A, source, parents=False),
        "sssp": lambda: sssp(A, source),
    }
    for name, call in calls.items():
        try:
            delay(call)  # makes the plan
            found = [late for _ in range(TRIALS) if (late := delay(call)) is not None]
        except KeyboardInterrupt:
            found = []
        if len(found) < TRIALS:
            sys.exit(f"{name} is too quick for this: a longer path, please")
        print(
            f"{name:6}{A.device:8}{levels:,} levels: interrupted after {1e3 * median(found):.1f} ms"
            f" (median), {1e3 * max(found):.1f} (the most of {TRIALS})"
            + ("  MISSED" if max(found) > PROMISED else "")
        )


if __name__ == "__main__":
    main()
