"""Compare the times of NetworkX and of its backend graphla for each function.

    python benchmarks/networkx_backend.py [--edges N ...] [--only NAME ...] [--json FILE]
    python benchmarks/networkx_backend.py --dispatch      # small graphs, as a user calls them
    python benchmarks/networkx_backend.py --imports       # the import of NetworkX
    python benchmarks/networkx_backend.py --device cuda --alone --edges 10000000

The table has a row for each function and size. `NetworkX` is the time of plain NetworkX, which is
stopped after a limit. `convert` is the time to convert the graph. NetworkX keeps the
converted graph in a cache, so later calls do not repeat the conversion. `graphla` is the time of
the call on the converted graph. `objects` is the part of this time that graphla spends on building
Python objects for the result. All times are wall times in seconds; each is the minimum of at most
ROUNDS calls. With `--alone`, graphs come from arrays, NetworkX is not called, and the limit applies
to the second call of graphla. `first` is the time of the first call, which compiles code unless the
cache on disk holds it; it is stopped after LIMIT seconds.

The kind of graph is the first of KINDS that NetworkX accepts in the call: random and undirected,
random and directed, acyclic, bipartite, a tree, or connected. Arguments are chosen by their names.
"""

from __future__ import annotations

import argparse
import inspect
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import numpy as np
from clock import describe_card, describe_host
from networkx.utils import backends as nx_backends

import graphla as gl
from _graphla_networkx import FUNCTIONS
from graphla.networkx import backend, graphs

backends: Any = nx_backends
config: Any = nx.config

LIMIT = 60.0  # seconds
ROUNDS = 3
ENOUGH = 2.0  # seconds; slower calls are not repeated
LONG_ENOUGH = 0.02  # seconds of CPU time for all repetitions of a call on a small graph
SMALL = (3, 30, 300, 900)
SEED = 1
BUILDERS = (
    "to_node_dict",
    "to_pair_dict",
    "nodes_of",
    "groups",
    "edges_of",
    "new_graph",
    "subgraph",
)
"""The functions of `graphla.networkx.graphs` that build Python objects for results."""


# --- graphs and arguments -------------------------------------------------------------------------


def random_ends(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of m different edges between n vertices, without self-loops."""
    generator = np.random.default_rng(SEED)
    i, j = generator.integers(0, n, (2, 2 * m + 16))
    kept = np.unique((np.minimum(i, j) * n + np.maximum(i, j))[i != j])
    kept = generator.permutation(kept)[:m]
    return kept // n, kept % n


def make_ends(kind: str, m: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the number of vertices and the ends of about m edges of a graph of this kind."""
    n = max(m // 5, 4)
    i, j = random_ends(n, m)
    if kind == "bipartite":
        i, j = i // 2, n // 2 + j // 2
    if kind in ("tree", "connected"):
        parents = np.random.default_rng(SEED).integers(0, np.arange(1, m + 1))
        tree = parents, np.arange(1, m + 1)
        i, j = tree if kind == "tree" else (np.r_[tree[0][: n - 1], i], np.r_[tree[1][: n - 1], j])
    if kind == "directed":
        turned = np.random.default_rng(SEED).random(i.size) < 0.5
        i, j = np.where(turned, j, i), np.where(turned, i, j)
    return (m + 1 if kind == "tree" else n), i, j


def make_graph(kind: str, m: int) -> Any:
    """Return a graph with about m weighted edges."""
    n, i, j = make_ends(kind, m)
    G = nx.DiGraph() if kind in DIRECTED else nx.Graph()
    G.add_nodes_from(range(n))
    weights = (np.arange(i.size) % 7 + 1).tolist()
    G.add_weighted_edges_from(zip(i.tolist(), j.tolist(), weights, strict=True))
    if kind == "bipartite":
        nx.set_node_attributes(G, {v: int(v >= n // 2) for v in G}, "bipartite")
    nx.set_node_attributes(G, {v: v % 3 for v in G}, "group")
    nx.set_node_attributes(G, {v: v % 3 for v in G}, "community")
    for _, _, data in G.edges(data=True):
        data["capacity"] = 3
    return G


@lru_cache(maxsize=1)
def make_ours(kind: str, m: int, device: str) -> Any:
    """Return a graph of this kind, built from arrays, in the form that NetworkX passes to the
    backend."""
    n, i, j = make_ends(kind, m)
    is_directed = kind in DIRECTED
    rows, columns = (i, j) if is_directed else (np.r_[i, j], np.r_[j, i])
    A = gl.Matrix.from_coo(rows, columns, 1, nrows=n, ncols=n, dup_op="first")
    return graphs.new_graph(gl.Graph(A, directed=is_directed).to(device))


DIRECTED = ("directed", "acyclic")
KINDS = ("undirected", "directed", "connected", "acyclic", "bipartite", "tree")


def arguments(name: str, G: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments for a call: a graph or vertices, chosen by the name of the parameter."""
    nodes = list(G)
    first, last = nodes[0], nodes[len(nodes) // 2]
    halves = [set(nodes[: len(nodes) // 2]), set(nodes[len(nodes) // 2 :])]
    some = nodes[:: max(1, len(nodes) // 10)][:10]
    known: dict[str, Any] = {"G": G, "D": G, "B": G, "source": first, "_s": first, "s": first}
    known |= {"target": last, "_t": last, "t": last, "u": first, "v": last, "n": first}
    known |= {"sources": some[:3], "subset": some, "communities": halves, "partition": halves}
    known |= {"targets": some[3:6], "nodes": halves[0], "nbunch": some, "S": some, "T": some[:2]}
    known |= {"node1": first, "node2": last, "attribute": "group", "node": first, "k": 2}
    known |= {"distance": 2, "top_nodes": halves[0], "flowG": G, "C": some, "group": some}
    known |= {"G1": G, "G2": G, "H": G, "flow_func": None, "pairs": None}
    function = backends._registered_algorithms[name].orig_func
    given: list[Any] = []
    signature = inspect.signature(function).parameters
    kwargs = {"seed": np.random.RandomState(SEED)} if "seed" in signature else {}
    if kwargs and name != "forceatlas2_layout":
        kwargs = {"seed": Random(SEED)}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not parameter.empty or parameter.kind is parameter.VAR_POSITIONAL:
            break
        given.append(known[parameter.name])
    return given, kwargs


def public(name: str) -> Any:
    """Return the function as users call it, including the decorators that prepare its arguments."""
    function = backends._registered_algorithms[name]
    return getattr(import_module(function.__module__), function.__name__)


def case_of(name: str) -> str | None:
    """Return the first kind of graph that NetworkX accepts in this call, or None."""
    for kind in KINDS:
        G = make_graph(kind, 40)
        try:
            args, kwargs = arguments(name, G)
            exhaust(public(name)(*args, backend="networkx", **kwargs))
        except Exception:
            continue
        return kind
    return None


def exhaust(result: Any) -> Any:
    """Read an iterator to its end, or its first 1,000,000 items."""
    return list(islice(result, 1_000_000)) if isinstance(result, Iterator) else result


# --- clocks ---------------------------------------------------------------------------------------


def least_time(call: Callable[[], Any]) -> float:
    """Return the shortest time of a few calls, in seconds."""
    best, spent = float("inf"), 0.0
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        exhaust(call())
        best = min(best, time.perf_counter() - begin)
        spent += best
        if spent > ENOUGH:
            break
    return best


def limited_time(call: Callable[[], Any], limit: float) -> float | None:
    """Return `least_time` of a call in another process, or None if it exceeds the limit."""
    context: Any = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(target=lambda: writer.send(least_time(call)))
    process.start()
    found = reader.recv() if reader.poll(limit) else None
    process.kill()
    process.join()
    return found


def interrupted_time(call: Callable[[], Any], limit: float) -> float | None:
    """Return the time of one call in this process, or None if it exceeds the limit."""
    timer = threading.Timer(limit, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.perf_counter()
    try:
        exhaust(call())
        return time.perf_counter() - begin
    except KeyboardInterrupt:
        return None
    finally:
        timer.cancel()


class ObjectClock:
    """A clock that adds up the time of the functions in BUILDERS."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.depth = 0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function, so that its time is added to this clock."""

        def call(*args: Any, **kwargs: Any) -> Any:
            self.depth += 1
            begin = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.depth -= 1
                if not self.depth:
                    self.seconds += time.perf_counter() - begin

        return call

    def install(self) -> None:
        """Replace the functions named in BUILDERS with timed versions, in all loaded modules of
        `graphla.networkx`."""
        for module in [each for key, each in sys.modules.items() if "graphla.networkx." in key]:
            for name in BUILDERS:
                here = vars(module).get(name)
                if callable(here) and not hasattr(here, "is_timed"):
                    replaced: Any = self.timed(here)
                    replaced.is_timed = True
                    setattr(module, name, replaced)


# --- the tables -----------------------------------------------------------------------------------


def measure(name: str, kind: str, m: int, clock: ObjectClock, limit: float) -> dict[str, Any]:
    """Measure one function on one graph."""
    G = make_graph(kind, m)
    args, kwargs = arguments(name, G)
    dispatched = backends._registered_algorithms[name].__wrapped__
    plain = limited_time(lambda: public(name)(*args, backend="networkx", **kwargs), limit)
    options: dict[str, Any] = {"use_cache": False, "mutations": None}
    begin = time.perf_counter()
    there, named = dispatched._convert_arguments("graphla", tuple(args), kwargs, **options)
    convert = time.perf_counter() - begin
    function = getattr(backend, name)
    exhaust(function(*there, **named))  # not timed, because it may compile code
    clock.install()
    clock.seconds = 0.0
    exhaust(function(*there, **named))
    objects = clock.seconds
    ours = least_time(lambda: function(*there, **named))
    row = {"name": name, "kind": kind, "edges": m, "networkx": plain, "convert": convert}
    row["limit"] = limit
    return row | {"graphla": ours, "objects": min(objects, ours)}


def measure_alone(name: str, kind: str, m: int, device: str, limit: float) -> dict[str, Any]:
    """Measure graphla without NetworkX on a graph that is built from arrays.

    The first call may compile code, and is reported apart. The limit applies to the second call. A
    time is None if a call exceeds its limit.
    """
    G = make_ours(kind, m, device)
    vertices = range(len(G))
    args, kwargs = arguments(name, vertices)
    args = [G if each is vertices else each for each in args]
    function = getattr(backend, name)

    def call() -> Any:
        return function(*args, **kwargs)

    first = interrupted_time(call, LIMIT)
    ours = None if first is None else interrupted_time(call, limit)
    if ours is not None:
        ours = min(ours, least_time(call))
    row = {"name": name, "kind": kind, "edges": m, "limit": limit}
    return row | {"first": first, "graphla": ours}


def show(row: dict[str, Any]) -> None:
    """Print one row of the table."""
    limit = row["limit"]
    if "networkx" in row:
        keys = ("networkx", "convert", "graphla", "objects")
        least = limit if row["networkx"] is None else row["networkx"]
        ratio = f" {least / row['graphla']:>8.1f}"
    else:
        keys, ratio = ("first", "graphla"), ""
    times = [f"> {limit:.0f} s" if row[key] is None else f"{row[key]:.4f}" for key in keys]
    cells = "".join(f"{each:>9}" for each in times)
    print(f"{row['name']:42} {row['kind']:10} {row['edges']:>9} {cells}{ratio}", flush=True)


def least_cpu_time(call: Callable[[], Any]) -> float:
    """Return the shortest CPU time of many calls, in seconds."""
    best, spent = float("inf"), 0.0
    while spent < LONG_ENOUGH:
        begin = time.process_time()
        exhaust(call())
        elapsed = time.process_time() - begin
        best, spent = min(best, elapsed), spent + max(elapsed, 1e-6)
    return best


def dispatch(names: list[str]) -> list[dict[str, Any]]:
    """Compare calls on small graphs with and without a priority for graphla.

    Print each call that graphla runs, if graphla takes more than twice as long as NetworkX and over
    50 us longer. Print each call that `should_run` declines, if the declined call takes over 10 %
    and over 20 us longer than a call of plain NetworkX.
    """
    print("CPU time of calls on small graphs that take too long under a priority for graphla")
    rows: list[dict[str, Any]] = []
    for name in names:
        kind = case_of(name)
        for m in SMALL if kind else ():
            G = make_graph(str(kind), m)
            args, kwargs = arguments(name, G)
            call = public(name)
            runs = backend.should_run(name, tuple(args), kwargs) is True

            def timed(call: Any = call, args: Any = args, kwargs: Any = kwargs) -> float:
                exhaust(call(*args, **kwargs))
                return least_cpu_time(lambda: call(*args, **kwargs))

            try:
                plain = timed()
                config.backend_priority.algos = ["graphla"]
                ours = timed()
            except Exception:
                continue
            finally:
                config.backend_priority.algos = []
            rows.append({"name": name, "edges": m, "networkx": plain, "ours": ours, "runs": runs})
            most = max(2 * plain, plain + 50e-6) if runs else plain + max(20e-6, plain / 10)
            if ours > most:
                text = "graphla" if runs else "declined"
                times = f"{1e6 * plain:10.0f} us {1e6 * ours:10.0f} us"
                print(f"{name:42} {m:5} {text:8} {times}", flush=True)
    declined = [1e6 * (row["ours"] - row["networkx"]) for row in rows if not row["runs"]]
    if declined:
        print(f"{len(rows)} calls; should_run takes {np.median(declined):.1f} us (median)")
    return rows


def imports() -> None:
    """Print how many milliseconds graphla's table of functions adds to the import of NetworkX."""
    program = (
        "import networkx, sys, time; b = time.perf_counter(); {}; print(time.perf_counter() - b)"
    )
    load = "import _graphla_networkx; _graphla_networkx.get_info()"
    load = "sys.modules.pop('_graphla_networkx', None); " + load
    command = [sys.executable, "-c", program.format(load)]
    times = [float(subprocess.check_output(command)) for _ in range(10)]
    print(f"importing the table and calling get_info takes {1e3 * min(times):.2f} ms")


def main() -> None:
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--only", nargs="*", default=list(FUNCTIONS))
    parser.add_argument(
        "--limit",
        type=float,
        default=LIMIT,
        help="time limit in seconds for a call of NetworkX or, with --alone, of graphla",
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--dispatch", action="store_true")
    parser.add_argument("--imports", action="store_true")
    parser.add_argument("--alone", action="store_true", help="measure graphla without NetworkX")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(describe_host("networkx", "numpy"))
    if options.device == "cuda":
        print(describe_card())
    if options.imports:
        return imports()
    if options.dispatch:
        rows = dispatch(options.only)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1) + "\n")
        return None
    config.backends.graphla.device = options.device
    clock, rows = ObjectClock(), []
    columns = f"{'NetworkX':>9}{'convert':>9}{'graphla':>9}{'objects':>9} {'ratio':>8}"
    if options.alone:
        columns = f"{'first':>9}{'graphla':>9}"
    print(f"{'function':42} {'graph':10} {'edges':>9} {columns}")
    cases = [(name, case_of(name)) for name in options.only]
    if options.alone:
        cases.sort(
            key=lambda case: str(case[1])
        )  # sorted by graph, so that each graph is built only once
    for name, kind in cases:
        for m in options.edges if kind else ():
            try:
                row = (
                    measure_alone(name, str(kind), m, options.device, options.limit)
                    if options.alone
                    else measure(name, str(kind), m, clock, options.limit)
                )
            except Exception as error:
                print(f"{name:42} {kind:10} {m:>9} {type(error).__name__}: {str(error)[:60]}")
                break
            rows.append(row)
            show(row)
            ours = row["graphla"]
            slow = None in (row.get("networkx", 0), ours) or ours > LIMIT / 10
            if slow and m >= 100_000:
                break
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1) + "\n")
    skipped = [name for name, kind in cases if kind is None]
    print("not measured, because their arguments need a choice:", ", ".join(skipped) or "none")
    return None


if __name__ == "__main__":
    main()
