"""Measure how soon Ctrl-C stops each algorithm and each command; the limit is PROMISED seconds.

python benchmarks/interrupt.py [--only NAME ...] [--trials N] [--device cuda] [--no-compile]
python benchmarks/interrupt.py --commands [--only NAME ...] [--trials N]

Each algorithm that the command line offers runs in a separate process. It is called on one graph
after another, until a call takes long enough to be interrupted. The main process sends SIGINT at
random moments and measures the time until the separate process reports KeyboardInterrupt. The next
trial calls the function again on the same operands.

With --commands, `graphla NAME GRAPH` is interrupted at a random time, possibly while it imports
modules. The measured time lasts until the process ends. The process must print one line and exit
with status 130.
"""

from __future__ import annotations

import argparse
import os
import random
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from graphs import path

import graphla as gl
from graphla import generators
from graphla.cli.catalogue import ALGORITHMS, Algorithm

PROMISED = 1.0  # seconds
SOONEST, LATEST = 0.02, 3.0  # range of the seconds from a call's start to the signal
STARTING = 0.1  # seconds that Python needs to start, before it runs our code
PATIENCE = 30.0  # seconds after which the process is killed
LOADING = 300.0
ENDED, SILENT = "ended", "silent"
OURS = f"{os.sep}graphla{os.sep}"  # in the file name of every traceback frame in graphla
MESSAGE = "graphla: interrupted\n"

ROADS, ARCS, PATH, ODDS, LARGE = "road-NY", "arcs-20", "path", "odds", "rmat-20"
GRAPHS: dict[str, Callable[[], gl.Matrix]] = {
    ROADS: lambda: gl.datasets.load(ROADS),
    LARGE: lambda: generators.kronecker(20, 8, seed=1, weights=(1, 64)),
    ARCS: lambda: generators.kronecker(20, 8, seed=1, symmetric=False),
    PATH: lambda: path(5_000_000),
    ODDS: lambda: path(5_000_000).apply("minv").new(),
}
SLOW_ON: dict[str, tuple[str, ...]] = {
    "average_path_length": (ROADS,),
    "betweenness": (ROADS,),
    "closeness": (ROADS,),
    "edge_betweenness": (ROADS,),
    "harmonic": (ROADS,),
    "transitive_closure": (ROADS,),
    "all_pairs_lengths": (ROADS,),
    "bfs_levels": (ROADS,),
    "diameter": (ROADS,),
    "radius": (ROADS,),
    "center": (ROADS,),
    "periphery": (ROADS,),
    "bfs": (PATH,),
    "sssp": (PATH,),
    "layers": (PATH,),
    "neighborhood": (PATH,),
    "reachable": (PATH,),
    "widest_path": (PATH,),
    "minimax_path": (PATH,),
    "most_reliable_path": (ODDS,),
    "path_count": (PATH,),
    "shortest_path": (PATH,),
    "shortest_path_length": (PATH,),
    "strong_components": (ARCS,),
    "is_strongly_connected": (ARCS,),
}
"""For each algorithm, the names of the graphs to try, in this order. An algorithm that is not
listed is tried on LARGE and then on PATH."""
OPERATIONS: dict[str, Callable[[gl.Matrix], Any]] = {
    "sort, by <": lambda _: _values().sort(),
    "sort, by our own": lambda _: _values().sort(lambda x, y: abs(x) < abs(y)),
    "sort of rows": lambda A: A.sort(lambda x, y: abs(x) < abs(y)),
    "transpose": lambda A: [A.dup("FP32").T.new() for _ in range(10)],
    "build": lambda A: [_build_again(A) for _ in range(10)],
    "product": lambda A: gl.semiring.plus_times(A @ A).new(),
    "masked product": lambda A: gl.semiring.plus_times(A @ A).new(mask=A.S),
    "union": lambda A: [gl.binary.plus(A | A.T).new() for _ in range(10)],
}
"""Slow operations that are not algorithms. The keys are the names that `--only` accepts. An
operation that needs a graph runs on the graph LARGE."""
SIZES = {"bfs_levels": 1000, "all_pairs_lengths": 1000}  # number of sources that the algorithm gets


def _build_again(A: gl.Matrix) -> gl.Matrix:
    """Build a new Matrix, the transpose of A, from the entries of A in an unsorted order."""
    rows, columns, values = A.to_coo()
    return gl.Matrix.from_coo(columns, rows, values, nrows=A.nrows, ncols=A.nrows)


@cache
def _values() -> gl.Vector:
    """Return twelve million random values."""
    return gl.Vector.from_dense(np.random.default_rng(1).standard_normal(12_000_000))


def graphs_of(algorithm: Algorithm) -> tuple[str, ...]:
    return SLOW_ON.get(algorithm.function, (LARGE, PATH))


# --- interrupted process ----------------------------------------------------------------------


def serve(name: str, path: str) -> None:
    """Call the algorithm once per line of standard input, and report how each call ended."""
    call = OPERATIONS.get(name) or _algorithm(name)
    small = generators.kronecker(10, 16, seed=1, weights=(1, 64))
    with gl.config.set(compile_threshold=0), suppress(gl.exceptions.GraphblasException):
        call(small)  # compiles the loops of the algorithm
    A = gl.io.read(path)
    _say("ready")
    for _ in sys.stdin:
        try:
            begin = time.monotonic()
            _say("begun")
            call(A)
            _say(f"{ENDED} {time.monotonic() - begin}")
            time.sleep(LOADING)  # wait for the signal, in case the call ended first
        except KeyboardInterrupt:
            _say(f"heard {time.monotonic()}")


def _algorithm(name: str) -> Callable[[gl.Matrix], Any]:
    algorithm = {each.name: each for each in ALGORITHMS}[name]
    return lambda A: algorithm.run(A, **_given(algorithm, A))


def _given(algorithm: Algorithm, A: gl.Matrix) -> dict[str, Any]:
    """Return the arguments with which to call an algorithm on the graph A.

    Every parameter that has no default gets a value.
    """
    given = algorithm.fixed | algorithm.bench
    values: dict[str, Callable[[], Any]] = {
        "source": lambda: 0,
        "target": lambda: A.nrows - 1,
        "k": lambda: 4,
        "sources": lambda: range(min(SIZES.get(algorithm.function, 1), A.nrows)),
        "n": lambda: 0,
        "radius": lambda: A.nrows,
        "communities": lambda: gl.Vector.from_dense(np.arange(A.nrows) % 1000),
    }
    for name, parameter in algorithm.parameters.items():
        is_needed = parameter.default is parameter.empty and name not in given
        if is_needed or name == "radius" or (name == "sources" and algorithm.function in SIZES):
            given[name] = values[name]()
    return given


def _say(line: str) -> None:
    print(line, flush=True)


# --- signaling process ------------------------------------------------------------------------


class Child:
    """A process that runs one algorithm repeatedly."""

    def __init__(self, name: str, path: str, options: argparse.Namespace) -> None:
        words = [sys.executable, __file__, "--serve", name, path]
        words += ["--device", options.device] + ["--no-compile"] * options.no_compile
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lines: list[bytes] = []
        self._rest = b""
        self.is_ready = self._read(LOADING) == ["ready"]

    def _read(self, patience: float) -> list[str]:
        """Return the words of the next line, or an empty list if no line arrives in time."""
        assert self._process.stdout is not None
        while not self._lines:
            with selectors.DefaultSelector() as selector:
                selector.register(self._process.stdout, selectors.EVENT_READ)
                if not selector.select(patience):
                    return []
            more = os.read(self._process.stdout.fileno(), 4096)
            if not more:
                return []
            *self._lines, self._rest = (self._rest + more).split(b"\n")
        return self._lines.pop(0).decode().split()

    def interrupt(self, after: float) -> float | str:
        """Start a call, wait, and send a signal; return the seconds from signal to exception.

        The argument `after` is the time to wait, in seconds.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(b"go\n")
        self._process.stdin.flush()
        if self._read(PATIENCE) != ["begun"]:
            return SILENT
        time.sleep(after)
        sent = time.monotonic()
        self._process.send_signal(signal.SIGINT)
        answer = self._read(PATIENCE)
        if answer and answer[0] == ENDED:
            self._read(PATIENCE)  # the call ended first, so discard the report about the signal
            return ENDED
        return float(answer[1]) - sent if answer else SILENT

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


def interrupt_calls(
    name: str, graphs: tuple[str, ...], files: Files, options: argparse.Namespace
) -> tuple[str, list[float | str]]:
    """Interrupt calls of an algorithm. Return the name of a graph and the delays measured on it.

    The graph is the first one on which the call takes long enough to be interrupted. A delay is the
    time in seconds from the signal to the exception, or SILENT if the process did not answer.
    """
    draw, graph = random.Random(1), ""
    delays: list[float | str] = []
    for graph in graphs:
        child, latest = Child(name, files[graph], options), LATEST
        if not child.is_ready:
            delays.append(SILENT)
        while child.is_ready and len(delays) < options.trials:
            delay = child.interrupt(draw.uniform(SOONEST, latest))
            if delay == ENDED:
                latest /= 2
                if latest < 2 * SOONEST:
                    break
                continue
            delays.append(delay)
            if delay == SILENT:
                break
        child.end()
        if delays:
            break
    return graph, delays


def interrupt_commands(name: str, words: list[str], options: argparse.Namespace) -> list[Any]:
    """Interrupt a command several times. Return the delay of each trial, or a text if it failed.

    The delay is the time in seconds from the signal to the end of the process. The text is SILENT
    if the process did not end. If it ended in the wrong way, the text contains its exit status and
    the last line that it wrote to standard error.
    """
    draw, latest, delays = random.Random(1), LATEST, []
    while len(delays) < options.trials and latest > SOONEST:
        process = subprocess.Popen(
            [sys.executable, "-m", "graphla", name, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        time.sleep(STARTING + draw.uniform(0, latest))
        if process.poll() is not None:
            latest /= 2
            continue
        sent = time.monotonic()
        os.killpg(
            process.pid, signal.SIGINT
        )  # as in a terminal, child processes also receive the signal
        try:
            _, said = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            delays.append(SILENT)
            continue
        if process.returncode == 0:
            latest /= 2
        elif process.returncode == -signal.SIGINT and OURS not in said:
            continue  # the signal arrived before any code of graphla ran
        elif (process.returncode, said) == (128 + signal.SIGINT, MESSAGE):
            delays.append(time.monotonic() - sent)
        else:
            last = said.strip().splitlines()[-1:] or [""]
            delays.append(f"status {process.returncode}, {last[0]!r}")
    return delays


class Files(dict[str, str]):
    """A dict from graph names to files; a file is written when it is first needed."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def __missing__(self, name: str) -> str:
        path = self._folder / f"{name}.npz"
        if not path.exists():
            with gl.config.set(device="cpu"):
                gl.io.write(path, GRAPHS[name]())
        self[name] = str(path)
        return self[name]


def report(name: str, graph: str, delays: list[Any]) -> None:
    times = [each for each in delays if isinstance(each, float)]
    faults = [each for each in delays if not isinstance(each, float)]
    told = f"{median(times):9.3f} {max(times):9.3f}" if times else f"{'-':>9} {'-':>9}"
    late = [f"more than {PATIENCE:g} s" if each == SILENT else each for each in faults]
    if times and max(times) > PROMISED:
        late.append(f"more than {PROMISED:g} s")
    note = "  MISSED: " + "; ".join(dict.fromkeys(late)) if late else ""
    note = note or ("" if times else "  too quick to interrupt")
    print(f"{name:24} {graph:10} {len(delays):6} {told}{note}", flush=True)


def commands(files: Files, folder: Path) -> dict[str, list[str]]:
    """Return the command-line arguments for each command."""
    values = {"target": "7", "k": "4", "n": "0", "communities": "communities.csv"}
    parts = folder / "communities.csv"
    found: dict[str, list[str]] = {}
    for algorithm in ALGORITHMS:
        words = [files[graphs_of(algorithm)[0]]]
        for name, parameter in algorithm.parameters.items():
            if parameter.default is parameter.empty and name in values:
                value = str(parts) if name == "communities" else values[name]
                words += [f"--{name.replace('_', '-')}", value]
        found[algorithm.name] = words
    found["bench"] = [files[ROADS]]
    found["ladder"] = [files[ROADS]]
    found["info"] = [files[LARGE]]
    found["convert"] = [files[LARGE], str(folder / "converted.mtx")]
    n = 1 << 20
    parts.write_text("".join(f"{v},{v % 1000}\n" for v in range(n)), encoding="utf-8")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Measure how soon Ctrl-C stops each algorithm or command."
    )
    parser.add_argument(
        "--only", nargs="*", default=[], help="run only these algorithms or commands"
    )
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--graphs", type=Path, help="write the graphs to this folder and keep them")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    gl.config.device = options.device
    if options.no_compile:
        gl.config.compiled = False
    if options.serve:
        serve(*options.serve)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.graphs or Path(temporary)
        files = Files(folder)
        print(f"{'':24} {'graph':10} {'trials':>6} {'median s':>9} {'most s':>9}", flush=True)
        if options.commands:
            for name, words in commands(files, folder).items():
                if not options.only or name in options.only:
                    graph = Path(words[0]).stem
                    report(name, graph, interrupt_commands(name, words, options))
            return
        graphs = {each.name: graphs_of(each) for each in ALGORITHMS}
        graphs |= dict.fromkeys(OPERATIONS, (LARGE,))
        for name, those in graphs.items():
            if not options.only or name in options.only:
                report(name, *interrupt_calls(name, those, files, options))


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main()
