"""A process of its own in which Ctrl-C comes in the midst of a traversal.

Nothing is timed: a path of so many levels takes far longer than the interrupt, and a watchdog ends
a process that goes on. How soon a traversal ends is measured by benchmarks/interrupt.py.
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
traverse = {"bfs": lambda A, s: bfs(A, s, parents=False).levels, "sssp": sssp}[name]

def path(n):
    "0 -> 1 -> 2 ... under names drawn at random, with different weights."
    order = np.random.default_rng(1).permutation(n)
    weights = 1 + np.arange(n - 1) % 3
    return gl.Matrix.from_coo(order[:-1], order[1:], weights, nrows=n, ncols=n), order

small, order = path(60_000)
traverse(small, order[0])  # compiles what is to be compiled
A, order = path(length)
traverse(A, order[-100])  # makes what a traversal needs beside A
entries = A.nvals

begun = threading.Event()

def interrupt():
    begun.wait()
    threading.Event().wait(0.05)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
try:
    begun.set()
    traverse(A, order[0])
    print("ended before it was interrupted")
except KeyboardInterrupt:
    print("interrupted")
# the operands are as they were, and the next call works
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
