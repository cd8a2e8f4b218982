"""`graphla bench GRAPH`: time every algorithm of the command line on one graph, up to a limit.

The algorithms run in a separate process, which keeps the graph in memory. If an algorithm takes too
long or too much memory, the command ends that process, and a new one continues with the next
algorithm.
"""

from __future__ import annotations

import csv
import io
import multiprocessing
import os
import signal
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from inspect import Parameter
from types import ModuleType
from typing import Any

import numpy as np

from graphla import algorithms
from graphla.cli import graphs
from graphla.cli.answers import number
from graphla.cli.catalogue import ALGORITHMS, Algorithm
from graphla.cli.progress import Bar
from graphla.graph import Graph
from graphla.io.files import replacing
from graphla.settings import config
from semirings.exceptions import GraphblasException, InvalidValue

_WIDTH = 88  # maximum length of a result in the table, in characters
_PROBLEMS = (GraphblasException, OverflowError, MemoryError, ValueError)
_BYTES_PER_PAIR = 16
Row = tuple[str, float | None, str]


def run(options: Namespace, settings: dict[str, Any]) -> None:
    """Time the algorithms, print a table, and write it to `options.output` if it is given."""
    chosen = _choose(options.only)
    if options.output is not None and not options.output.lower().endswith(".csv"):
        raise InvalidValue(f"--output is {options.output!r}, but should end in .csv")
    width = max(len("algorithm"), *(len(each.name) for each in chosen))
    if options.graph == "-":
        raise InvalidValue("GRAPH is -, but bench reads it again in each process; use a file")
    worker, bar, rows = _Worker(options, settings), Bar(len(chosen)), list[Row]()
    try:
        with bar.step(f"reading {options.graph}", 0):
            size = worker.start()
        print(f"{options.graph}: {size}\n\n{'algorithm':<{width}}  {'seconds':>9}  found")
        for done, algorithm in enumerate(chosen):
            with bar.step(algorithm.name, done):
                seconds, line = worker.timed(algorithm.name)
            rows.append((algorithm.name, seconds, line))
            spent = "-" if seconds is None else f"{seconds:.3g}"
            print(f"{algorithm.name:<{width}}  {spent:>9}  {line[:_WIDTH]}", flush=True)
    finally:
        worker.end()
    if options.output is not None:
        _write(options.output, rows)


def _choose(only: str | None) -> list[Algorithm]:
    if only is None:
        return list(ALGORITHMS)
    table = {each.name: each for each in ALGORITHMS}
    for name in only.split(","):
        if name not in table:
            raise InvalidValue(f"--only lists {name!r}, which is not one of {', '.join(table)}")
    return [table[name] for name in only.split(",")]


def _write(path: str, rows: list[Row]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([("algorithm", "seconds", "found"), *rows])
    with replacing(path) as out:
        out.write(text.getvalue().encode())


class _Worker:
    """The process that runs the algorithms one after another."""

    def __init__(self, options: Namespace, settings: dict[str, Any]) -> None:
        self._options, self._settings, self._limit = options, settings, options.limit
        self._process: Any = None
        self._pipe: Any = None

    def start(self) -> str:
        """Start the process, which reads the graph, and return the size of the graph."""
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        arguments = (self._options, self._settings, theirs)
        process = context.Process(target=_work, args=arguments, daemon=True)
        with _no_main(), _no_interrupt():
            process.start()
        self._process = process
        theirs.close()
        try:
            is_read, said = self._pipe.recv()
        except EOFError:
            is_read, said = (
                False,
                f"the process that read the graph ended ({self.end(is_over=True)})",
            )
        if not is_read:
            raise InvalidValue(said)
        return said

    def timed(self, name: str) -> tuple[float | None, str]:
        """Time an algorithm. Return its time in seconds and its result as text.

        If it could not be timed, return None and the reason.
        """
        if self._process is None:
            self.start()
        self._pipe.send(name)
        with suppress(EOFError):
            if self._pipe.poll(self._limit):
                return self._pipe.recv()
            self.end()
            return None, f"not finished in {self._limit:g} s"
        code = self.end(is_over=True)
        why = "probably out of memory" if code == -9 else f"exit code {code}"
        return None, f"the process that ran it ended ({why})"

    def end(self, *, is_over: bool = False) -> int | None:
        """End the process. Return its exit code, or None if it was still running and was killed.

        If `is_over` is True, the process is ending by itself, so wait up to 5 s before killing it.
        """
        process, self._process = self._process, None
        if process is None:
            return None
        if is_over:
            process.join(5)
        code = process.exitcode
        process.kill()
        process.join()
        self._pipe.close()
        return code


@contextmanager
def _no_main() -> Iterator[None]:
    """Hide the calling script while a process starts; otherwise the process would run it again."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Block SIGINT while a process starts. In the new process the signal is blocked too."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(options: Namespace, settings: dict[str, Any], pipe: Any) -> None:
    """Run in the child process: read the graph, then time each algorithm that the parent names."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    with config.set(**settings):
        try:
            graph = graphs.read(options)
        except (*_PROBLEMS, OSError) as error:
            pipe.send((False, " ".join(str(error).split())))
            return
        size = f"{number(graph.nvertices, 'vertex')}, {number(graph.matrix.nvals, 'entry')}"
        pipe.send((True, size))
        given, table = _Given(graph), {each.name: each for each in ALGORITHMS}
        with suppress(EOFError):
            while True:
                algorithm = table[pipe.recv()]
                try:
                    pipe.send(_time_algorithm(algorithm, given, options))
                except _PROBLEMS as error:
                    pipe.send((None, " ".join(str(error).split())))
                except Exception as error:  # a bug in one algorithm must not stop the others
                    pipe.send((None, f"{type(error).__name__}: {error}"))


def _time_algorithm(
    algorithm: Algorithm, given: _Given, options: Namespace
) -> tuple[float | None, str]:
    graph = given.undirected if algorithm.graph_options.undirected else given.graph
    arguments = given.arguments(algorithm)
    if arguments is None:
        return None, "the graph has no vertex"
    gigabytes = _needs(algorithm, graph) / 1e9
    if gigabytes > _memory() / 2e9:
        return None, f"its result would take {gigabytes:,.0f} GB"
    seconds, found = _run(algorithm, graph, arguments)
    if seconds < options.limit / 3:  # run again, because the first run may include compilation
        seconds = min(seconds, _run(algorithm, graph, arguments)[0])
    answer = algorithm.answer(graph, found, Namespace(top=1))
    line = "; ".join(f"{name} {text}" for name, text in answer.facts)
    if answer.top is not None and answer.top.rows:
        *which, value = answer.top.rows[0]
        line = f"{line}; {answer.top.header[-1]} {value} at {' -> '.join(which)}"
    return seconds, line


def _run(algorithm: Algorithm, graph: Graph, arguments: dict[str, Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = algorithm.run(graph, **arguments)
    if graph.device != "cpu":
        from cupy.cuda import runtime

        runtime.deviceSynchronize()
    return time.perf_counter() - start, found


def _needs(algorithm: Algorithm, graph: Graph) -> float:
    """Return the size of a large result in bytes; 0 if the result is not large.

    A result is large if it has an entry for each pair of vertices, or for each pair of neighbors of
    a vertex.
    """
    if algorithm.fills == "pairs":
        return float(graph.nvertices) ** 2 * _BYTES_PER_PAIR
    if algorithm.fills == "neighbors":
        degrees = graph.out_degrees.to_dense().astype(float)
        return float(degrees @ degrees) * _BYTES_PER_PAIR
    return 0.0


def _memory() -> float:
    """Return the memory of this machine in bytes, or 8 GB if the system does not report it."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return 8e9


class _Given:
    """A graph, and the arguments with which algorithms are called on this graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.undirected = graph.to_undirected()
        self._ends: tuple[Any, Any] | None = None
        self._parts: Any = None

    def arguments(self, algorithm: Algorithm) -> dict[str, Any] | None:
        """Return arguments for the algorithm; None if it needs a vertex and the graph has none."""
        arguments = algorithm.fixed | algorithm.bench
        for name, parameter in algorithm.parameters.items():
            if parameter.default is not Parameter.empty or name in arguments:
                continue
            if name in algorithm.graph_options.keyed:
                arguments[name] = self._components()
            elif not self.graph.nvertices:
                return None
            else:
                source, target = self._far_apart()
                one = target if name == "target" else source
                arguments[name] = [one] if name == "sources" else one
        return arguments

    def _far_apart(self) -> tuple[Any, Any]:
        """Return a vertex with the most out-edges, and a vertex that is farthest from it."""
        if self._ends is None:
            labels = self.graph.labels
            source = labels[int(np.argmax(self.graph.out_degrees.to_dense()))]
            vertices, levels = algorithms.bfs(self.graph, source).levels.to_coo()
            self._ends = source, labels[int(vertices[np.argmax(levels)])]
        return self._ends

    def _components(self) -> Any:
        if self._parts is None:
            self._parts = algorithms.connected_components(self.graph)
        return self._parts
