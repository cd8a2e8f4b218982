"""Run a command line and return its exit code: 0 success, 1 invalid input, 2 wrong usage."""

from __future__ import annotations

import os
import signal
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from graphla import io, launch
from graphla.cli import about, answers, graphs
from graphla.cli.catalogue import Algorithm
from graphla.cli.options import arguments
from graphla.cli.parser import parser
from graphla.cli.progress import progress, shows_bars
from graphla.settings import Recorder, config
from semirings.exceptions import GraphblasException

# Exceptions that invalid input can cause. The command prints their messages without a traceback.
_PROBLEMS = (GraphblasException, OSError, OverflowError, MemoryError)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line `graphla WORDS`; by default, WORDS are the arguments of this process."""
    try:
        launch.listen()
        options = parser().parse_args(words)
        with config.set(**_settings(options), progress=shows_bars()):
            _COMMANDS[options.command](options)
        if sys.stdout:  # sys.stdout is None if the caller closed it
            sys.stdout.flush()
    except BrokenPipeError:  # the program that reads our output, such as `head`, has exited
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return launch.interrupted()
    except _PROBLEMS as error:
        print(f"graphla: {_one_line(error)}", file=sys.stderr)
        return 1
    return 0


def _run(options: Namespace) -> None:
    """Read the graph, run the algorithm, and print and save its result."""
    algorithm: Algorithm = options.algorithm
    if options.output is not None:
        answers.check_output(options.output)
    start = time.perf_counter()
    with progress(f"reading {options.graph}"):
        graph = graphs.read(options)
        if algorithm.graph_options.undirected:
            graph = graph.to_undirected()
    given = arguments(algorithm, graph, options)
    middle = time.perf_counter()
    with progress(f"{algorithm.name} on {options.graph}"), _recorder(options) as record:
        found = algorithm.run(graph, **given)
        answer = algorithm.answer(graph, found, options)
    end = time.perf_counter()
    if options.output is not None:
        with progress(f"writing {options.output}"):
            answers.save(answer, options.output)
    A = graph.matrix
    size = f"{answers.number(A.nrows, 'vertex')}, {answers.number(A.nvals, 'entry')}"
    took = f"{end - middle:.3g} s, after {middle - start:.3g} s to read the graph"
    if answer.edges is not None:
        took += f"; {answers.number(round(answer.edges / (end - middle)))} out-edges per second"
    facts = [
        ("graph", f"{options.graph}: {size}"),
        *_source_fact(given),
        *answer.facts,
        ("time", took),
    ]
    # If the result is written to standard output ("-"), nothing else is written there.
    answers.show(facts, answer.top, sys.stderr if options.output == "-" else sys.stdout)
    if record is not None:
        print(f"\n{record}", file=sys.stderr)


def _source_fact(given: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a list with the pair ("source", source vertex) to print.

    The list is empty if the algorithm has no source.
    """
    return [("source", str(given["source"]))] if "source" in given else []


def _bench(options: Namespace) -> None:
    from graphla.cli import bench  # imported here because only this command needs multiprocessing

    bench.run(options, _settings(options))


def _ladder(options: Namespace) -> None:
    from graphla.cli import ladder

    ladder.run(options)


def _convert(options: Namespace) -> None:
    with progress(f"reading {options.graph}"):
        A, labels = graphs.read_to_convert(options)
    named: dict[str, Any] = {"labels": labels} if labels and io.is_edgelist(options.target) else {}
    with progress(f"writing {options.target}"):
        io.write(options.target, A, **named)


def _info(options: Namespace) -> None:
    if options.graph is None:
        answers.show(about.installation(), None, sys.stdout)
        return
    with progress(f"reading {options.graph}"):
        graph = graphs.read(options)
    answers.show(about.graph(graph.matrix), None, sys.stdout)


def _recorder(options: Namespace) -> Any:
    return Recorder() if options.explain else nullcontext()


def _settings(options: Namespace) -> dict[str, Any]:
    """Return the settings that the options request."""
    given: dict[str, Any] = {}
    if getattr(options, "threads", None) is not None:
        given["threads"] = options.threads
    if getattr(options, "no_compile", False):
        given["compiled"] = False
    if getattr(options, "device", None) is not None:
        given["device"] = options.device
    return given


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError) and not str(error):
        return "out of memory"
    return " ".join(str(error).split())


_COMMANDS = {
    "algorithm": _run,
    "bench": _bench,
    "ladder": _ladder,
    "info": _info,
    "convert": _convert,
}
