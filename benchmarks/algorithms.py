"""Time every algorithm. Compare the times on the CPU with NetworkX, and on a GPU with time limits.

python benchmarks/algorithms.py [--only NAME ...] [--limit SECONDS] [--json FILE]
python benchmarks/algorithms.py --device cuda [--only NAME ...]

On the CPU, graphla runs in one process with its default settings (compiled by Numba). Each of our
calls gets a fresh Matrix that has only its CSR form. The reported time is the median of a few
calls, after a warm-up call, which compiles. NetworkX runs once, on a graph that is built
beforehand, in a separate process with a time limit. The script compares the results, and prints a
table in Markdown.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing as mp
import sys
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

from algorithm_cases import READERS, ROWS, Row, agree
from clock import describe_host
from graphs import BESIDE_NETWORKX

import graphla as gl

# Each algorithm of graphla is called at most CALLS times. Once these calls have taken more than
# ENOUGH seconds, there are no further calls.
CALLS, ENOUGH = 5, 2.0
FORK = mp.get_context("fork")  # forked, so that the NetworkX process inherits the graph


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Time every algorithm, on the CPU compared with NetworkX, or on a GPU."
    )
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument(
        "--only",
        nargs="*",
        default=[],
        help="run only the rows of the table whose names start with these prefixes",
    )
    parser.add_argument(
        "--limit", type=float, default=60, help="time limit in seconds for each NetworkX call"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=600,
        help="on a GPU, stop starting new rows of the table after this many seconds",
    )
    parser.add_argument("--json", type=Path, help="also write the times to this file")
    options = parser.parse_args()
    if options.device == "cuda":
        from algorithms_gpu import measure

        measure(options.only, options.seconds)
        return
    rows = [row for row in ROWS if not options.only or row.name.startswith(tuple(options.only))]
    print(describe_host("networkx", "numpy", "scipy", "numba"), "\n", flush=True)
    figures = []
    for graph in dict.fromkeys(row.graph for row in rows):
        figures += on_graph(graph, [row for row in rows if row.graph == graph], options.limit)
    print("\n" + table(figures))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def on_graph(name: str, rows: list[Row], limit: float) -> list[dict[str, Any]]:
    make, directed, about = BESIDE_NETWORKX[name]
    with gl.config.set(device="cpu"):
        A = make()
    start = time.perf_counter()
    G = gl.io.to_networkx(A, directed=directed)
    converting = time.perf_counter() - start
    print(f"{name}: {about}; {A.nrows:,} vertices, {A.nvals // (1 if directed else 2):,} edges")
    print(f"  conversion to NetworkX, in no figure below: {converting:.1f} s", flush=True)
    figures = []
    for row in rows:
        try:
            seconds, found = ours(row, A)
        except Exception as error:
            print(f"  {row.name}: {type(error).__name__}: {error}", flush=True)
            continue
        theirs, answer = in_its_process(row, G, A.nrows, limit)
        word = answer if isinstance(answer, str) else agree(row, found, answer, A.nrows)
        figures.append(
            {"name": row.name, "graph": name, "ours": seconds, "theirs": theirs, "agree": word}
        )
        print(f"  {row.name:<36}{1000 * seconds:12.2f} ms {theirs:9.3f} s  {word}", flush=True)
    return figures


def ours(row: Row, A: gl.Matrix) -> tuple[float, Any]:
    """Return the median time of graphla's calls in seconds, and the result of the last call.

    Each call gets a new Matrix, so that no call can use data that an earlier call has cached.
    """
    rows, columns, values = A.to_coo()
    if A.dtype == "BOOL":
        # Store one value for all entries, as the graph generators do.
        values = True
    symmetric = A._store.is_symmetric
    took: list[float] = []
    found = None
    for call in range(1 + CALLS):
        fresh = gl.Matrix.from_coo(
            rows, columns, values, nrows=A.nrows, ncols=A.ncols, symmetric=symmetric
        )
        start = time.perf_counter()
        found = row.ours(fresh)
        if call:
            took.append(time.perf_counter() - start)
        if sum(took) > ENOUGH:
            break
    return median(took), found


def in_its_process(row: Row, G: Any, n: int, limit: float) -> tuple[float, Any]:
    """Return NetworkX's time and result.

    If NetworkX does not finish within the time limit, return the limit and a text with the reason.
    """
    here, there = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_theirs, args=(row, G, n, there))
    process.start()
    there.close()
    try:
        if not here.poll(limit):
            return limit, f"NetworkX not done in {limit:.0f} s"
        return here.recv()
    except EOFError:
        return limit, "NetworkX's process ended"
    finally:
        process.kill()
        process.join()


def _theirs(row: Row, G: Any, n: int, pipe: Any) -> None:
    import networkx as nx

    warnings.simplefilter("ignore")
    try:
        start = time.perf_counter()
        found = row.theirs(nx, G)
        seconds = time.perf_counter() - start
        pipe.send((seconds, READERS[row.kind][1](found, n)))
    except Exception as error:
        pipe.send((0.0, f"NetworkX: {type(error).__name__}: {error}"))


def table(figures: list[dict[str, Any]]) -> str:
    lines = [
        "| algorithm | graph | graphla, ms | NetworkX, s | times as fast | results |",
        "|---|---|--:|--:|--:|---|",
    ]
    for each in figures:
        more = "> " if "not done" in each["agree"] else ""
        ratio = each["theirs"] / each["ours"]
        lines.append(
            f"| {each['name']} | {each['graph']} | {1000 * each['ours']:.3g} | {more}"
            f"{each['theirs']:.3g} | {more}{ratio:,.0f} | {each['agree']} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
