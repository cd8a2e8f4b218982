"""Measure the overhead of one statement on the host: its time on small operands.

    python benchmarks/statements.py [--device cpu|cuda] [--against PATH] [--repeats N]
                                    [--sizes N...] [--calls | --overhead]

There are two cases, unless other sizes are given: an INT64 matrix A with 1,000 rows, 8 entries per
row and a frontier of 50 entries; and a 3 x 3 matrix. Each statement runs N times (300 unless
given), and the table shows the median in microseconds. On a GPU a measurement ends when the
device is idle.

`--against` also measures another checkout of graphla in the same run. python-graphblas is measured
too if it is installed and the device is the CPU. Each library runs in a process of its own, and the
processes alternate every 30 statements. `--calls` counts the Python calls of one statement instead.
`--overhead` runs graphla with one thread on the CPU, and leaves out the time in compiled loops.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

TURN = 30
"""Number of runs that one process measures before the next process continues."""


class Library:
    """Either graphla or python-graphblas, with the operands of every statement."""

    def __init__(self, name: str, device: str, compiled: str, n: int) -> None:
        gb = import_module(name)
        rng = np.random.default_rng(1)
        self.idle: Callable[[], Any] = lambda: None
        if name == "graphla":
            gb.config.device = device
            gb.config.compiled = {"True": True, "False": False}.get(compiled, compiled)
            if device == "cuda":
                self.idle = import_module("cupy").cuda.Device().synchronize
        each = min(8, n - 1)
        rows = np.repeat(np.arange(n), each)
        columns = np.concatenate([rng.choice(n, each, replace=False) for _ in range(n)])
        values = rng.integers(1, 100, rows.size)
        chosen = np.sort(rng.choice(n, max(1, n // 20), replace=False))
        some = np.sort(rng.choice(n, max(1, n // 4), replace=False))

        Matrix, Vector = gb.Matrix, gb.Vector
        A = Matrix.from_coo(rows, columns, values, nrows=n, ncols=n)
        f = Vector.from_coo(chosen, chosen, size=n)
        u = Vector.from_coo(some, some + 1, size=n)
        v = Vector.from_coo(np.sort(rng.choice(n, some.size, replace=False)), some, size=n)
        p = Vector.from_coo(some, some, size=n)
        p << f  # record the parents of the frontier
        p[some.tolist()] << 7
        w, C = Vector(int, n), Matrix(int, n, n)
        visited, old = Vector(int, n), Vector(int, n)
        visited << p
        total = gb.Scalar(int)
        semirings = gb.semiring if name == "graphla" else gb.semiring.ss
        any_secondi, plus_times = semirings.any_secondi, gb.semiring.plus_times
        plus, times = gb.monoid.plus, gb.binary.times
        replace, i = gb.replace, int(some[0])
        indices = chosen.tolist()

        def product() -> None:
            w << any_secondi(f @ A)

        def masked_product() -> None:
            w(~p.S, replace) << any_secondi(f @ A)

        def masked_scalar() -> None:
            visited(f.S) << 5

        def select() -> None:
            w << u.select("valuegt", 500)

        def reduce() -> None:
            total << u.reduce(plus)
            total.value

        def element_read() -> None:
            u[i].value

        def element_write() -> None:
            old[i] = 3

        def square() -> None:
            C << plus_times(A @ A)

        def ewise_add() -> None:
            w << plus(u | v)

        def ewise_mult() -> None:
            w << times(u & v)

        def apply() -> None:
            w << u.apply(gb.unary.ainv)

        def extract() -> None:
            w[:] << u
            u[indices].new()

        self.statements: dict[str, Callable[[], None]] = {
            "w << any_secondi(f @ A)": product,
            "w(~p.S, replace) << any_secondi(f @ A)": masked_product,
            "v(f.S) << 5": masked_scalar,
            "w << u.select('valuegt', 500)": select,
            "(s << u.reduce(plus)).value": reduce,
            "u[i].value": element_read,
            "v[i] = 3": element_write,
            "w << plus(u | v)": ewise_add,
            "w << times(u & v)": ewise_mult,
            "w << u.apply(ainv)": apply,
            "w[:] << u; u[indices].new()": extract,
            "C << plus_times(A @ A)": square,
        }

    def microseconds(self, name: str, times: int) -> list[float]:
        """Run a statement `times` times, and return the microseconds of each run. Every
        measurement ends when the device is idle."""
        statement, idle, measured = self.statements[name], self.idle, []
        gc.disable()
        for _ in range(times):
            idle()
            start = perf_counter()
            statement()
            idle()
            measured.append(1e6 * (perf_counter() - start))
        gc.enable()
        return measured

    def overhead(self, name: str, times: int) -> list[float]:
        """Like `microseconds`, but without the time in compiled loops. The loops must run in this
        thread."""
        loaded, spent = import_module("graphla.compilers.numba")._loaded, 0.0

        def with_clock(loop: Callable[..., Any]) -> Callable[..., Any]:
            def run(*arguments: Any) -> Any:
                nonlocal spent
                start = perf_counter()
                result = loop(*arguments)
                spent += perf_counter() - start
                return result

            return run

        self.statements[name]()  # load the compiled loops
        loops, measured = dict(loaded), []
        loaded.update({key: with_clock(loop) for key, loop in loops.items()})
        for _ in range(times):
            spent = 0.0
            (total,) = self.microseconds(name, 1)
            measured.append(total - 1e6 * spent)
        loaded.update(loops)
        return measured

    def calls(self, name: str) -> int:
        """Return the number of Python calls that one run of a statement makes."""
        count = 0

        def see(frame: Any, event: str, argument: Any) -> None:
            nonlocal count
            count += event == "call"

        statement = self.statements[name]
        sys.setprofile(see)
        try:
            statement()
        finally:
            sys.setprofile(None)
        return count - 1  # do not count the call of the statement function itself


def serve(name: str, device: str, compiled: str, n: int, overhead: bool) -> None:
    """Answer requests from another process. Each line of standard input is a JSON list [statement,
    times], where `times` is the number of runs. Each answer is a line of JSON with the durations of
    the runs or, if `times` is 0, with the number of Python calls of one run."""
    library = Library(name, device, compiled, n)
    measure = library.overhead if overhead else library.microseconds
    if overhead:
        import_module(name).config.threads = 1
    print(json.dumps(list(library.statements)), flush=True)
    for line in sys.stdin:
        statement, times = json.loads(line)
        answer = measure(statement, times) if times else library.calls(statement)
        print(json.dumps(answer), flush=True)


class Contender:
    """A process that measures one library."""

    def __init__(self, title: str, name: str, path: str, arguments: argparse.Namespace, n: int):
        self.title = title
        environment = dict(os.environ, PYTHONPATH=path)
        command = [sys.executable, __file__, "--serve", name, "--sizes", str(n)]
        command += ["--device", arguments.device, "--compiled", arguments.compiled]
        command += ["--overhead"] * arguments.overhead
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.statements = self.answer()

    def answer(self) -> Any:
        """Read and return the next answer of the measuring process."""
        line = self.process.stdout.readline()  # pyright: ignore[reportOptionalMemberAccess]
        if not line:
            raise SystemExit(f"{self.title} ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, statement: str, times: int) -> Any:
        """Return a list with the microseconds of each of `times` runs of a statement. If `times` is
        0, return the number of Python calls that it makes."""
        pipe: Any = self.process.stdin
        print(json.dumps([statement, times]), file=pipe, flush=True)
        return self.answer()

    def close(self) -> None:
        """End the process."""
        self.process.stdin.close()  # pyright: ignore[reportOptionalMemberAccess]
        self.process.wait()


def compare(contenders: list[Contender], arguments: argparse.Namespace) -> None:
    """Print one row per statement and one column per contender."""
    unit = "Python calls" if arguments.calls else "microseconds"
    unit += " outside of loops" * arguments.overhead
    print(f"{unit:<42}" + "".join(f"{each.title:>12}" for each in contenders))
    for statement in contenders[0].statements:
        measured: list[list[float]] = [[] for _ in contenders]
        for each in contenders:
            each.ask(statement, TURN)
        if arguments.calls:
            measured = [[each.ask(statement, 0)] for each in contenders]
        else:
            order = list(zip(contenders, measured, strict=True))
            for _ in range(max(1, arguments.repeats // TURN)):
                for each, times in order:
                    times += each.ask(statement, TURN)
                order.reverse()
        row = "".join(f"{median(each):>12.{0 if arguments.calls else 1}f}" for each in measured)
        print(f"{statement:<42}{row}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--against", metavar="PATH")
    parser.add_argument("--repeats", type=int, default=300)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--calls", action="store_true")
    what.add_argument("--overhead", action="store_true")
    parser.add_argument("--compiled", default="True" if find_spec("numba") else "auto")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 3], metavar="N")
    arguments = parser.parse_args()
    if arguments.serve:
        n, overhead = arguments.sizes[0], arguments.overhead
        serve(arguments.serve, arguments.device, arguments.compiled, n, overhead)
        return
    here = str(Path(__file__).resolve().parents[1])
    for n in arguments.sizes:
        contenders = [Contender("graphla", "graphla", here, arguments, n)]
        if arguments.against:
            contenders.append(Contender("against", "graphla", arguments.against, arguments, n))
        has_graphblas = find_spec("graphblas") and not arguments.overhead
        if arguments.device == "cpu" and has_graphblas:
            contenders.append(Contender("graphblas", "graphblas", here, arguments, n))
        case = f"{n} x {n}, {min(8, n - 1)} entries per row"
        print(f"\n{case}, {arguments.device}, compiled={arguments.compiled}")
        compare(contenders, arguments)
        for each in contenders:
            each.close()


if __name__ == "__main__":
    main()
