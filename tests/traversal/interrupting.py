"""Run a separate process that sends itself Ctrl-C during a traversal.

The process sends the interrupt when the loop or the kernel begins, and then checks that the
traversal stopped early. A stopped loop has not reached all vertices. A stopped kernel reports the
status STOPPED to the host. On a busy machine the interrupt may come too late, so the process makes
up to five attempts. If the traversal ignores interrupts, all five attempts fail.
benchmarks/interrupt.py measures how soon a traversal ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

PROGRAM = """
import os, signal, sys, threading
import numpy as np
import graphla as gl
from graphla.algorithms import bfs, sssp

device, length, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
gl.config.device = device
traverse = {
    "bfs": lambda A, s: bfs(A, s, parents=False).levels,
    "sssp": lambda A, s: sssp(A, s).distances,
}[name]

def path(n):
    "Return a path whose vertices are in random order, with several weights, and that order."
    order = np.random.default_rng(1).permutation(n)
    weights = 1 + np.arange(n - 1) % 3
    return gl.Matrix.from_coo(order[:-1], order[1:], weights, nrows=n, ncols=n), order

begun = threading.Event()
stopped = []  # whether the loop or kernel of this attempt stopped before its end

if device == "cpu":
    from graphla.backends.cpu import bfs as searches
    from graphla.backends.cpu import closure_buckets
    from graphla.backends.cpu.loops.bfs import REACHED

    def noting(load, reached):
        def loaded(*spec):
            loop = load(*spec)

            def noted(*arrays):
                begun.set()
                status = loop(*arrays)
                stopped.append(reached(arrays) < length)
                return status

            return noted

        return loaded

    searches.load = noting(searches.load, lambda arrays: arrays[12][REACHED])  # Work.state
    # The argument after the three of `Edges` has the distances.
    settled = lambda arrays: np.count_nonzero(arrays[3] != np.iinfo(arrays[3].dtype).max)
    closure_buckets.load = noting(closure_buckets.load, settled)
else:
    from graphla.backends.cuda import persistent

    wait = persistent._wait

    def waiting(view, *rest):
        begun.set()
        try:
            wait(view, *rest)
        except KeyboardInterrupt:
            view[persistent.STOP] = 1
            persistent.xp.cuda.get_current_stream().synchronize()
            stopped.append(view[persistent.STATUS] & 0xFFFFFFFF == persistent.STOPPED)
            raise

    persistent._wait = waiting

small, order = path(60_000)
traverse(small, order[0])  # compile the loop or kernel first
A, order = path(length)
traverse(A, order[-100])  # compute the cached data that a traversal of A needs
entries = A.nvals

def interrupt():
    begun.wait()
    os.kill(os.getpid(), signal.SIGINT)

for attempt in range(5):
    begun.clear()
    stopped.clear()
    thread = threading.Thread(target=interrupt, daemon=True)
    try:
        thread.start()
        traverse(A, order[0])
        threading.Event().wait(60)  # a late interrupt arrives here
    except KeyboardInterrupt:
        if any(stopped[-1:]):
            print("stopped")
            break
# the operands have not changed, and the next call works
assert A.nvals == entries
tail = traverse(A, order[-1000])
assert tail.nvals == 1000
distance = 999 if name == "bfs" else int((1 + np.arange(length - 1000, length - 1) % 3).sum())
assert tail[int(order[-1])].value == distance
assert traverse(small, path(60_000)[1][0]).nvals == 60_000
print("done")
"""


def run(device: str, length: int, name: str) -> str:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, device, str(length), name],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
