"""Test that a drawn function gives the same results in plain Python and with traced loops.

The interpreter runs the programs of most loops, or plain Python runs the modules generated for
Numba. A few programs are compiled.
"""

from __future__ import annotations

import re
import warnings
from types import SimpleNamespace
from typing import Any

import pytest
from devices import fewer
from hypothesis import given
from sources import PARAMETERS, Source, call, compare, has_large_number, sources

import graphla as gl
from graphla.program import interpreter, running
from graphla.program.checking import check
from graphla.program.ir import Program
from graphla.program.running import Arguments, Engine, Outcome

pytestmark = pytest.mark.cpu

REFUSALS = re.compile(
    "changes a vector that a list contains|in too many combinations|uses in a way other than append"
    "|in one round and"
)
"""The reasons for which a drawn loop may run as Python."""


class Checked:
    """An engine that checks each program before another engine runs it."""

    def __init__(self, engine: Any) -> None:
        self.engine, self.programs = engine, 0

    def run(self, program: Program, arguments: Arguments) -> Outcome:
        check(program)
        self.programs += 1
        return self.engine.run(program, arguments)


def check_source(source: Source, engine: Engine) -> None:
    """Compare a drawn function with the same function under `gl.jit`, run by an engine."""
    expected = call(source, source.function())
    if has_large_number(expected):
        return
    function = gl.jit(source.function(), fallback=True)
    with warnings.catch_warnings(record=True) as caught, running.use(engine):
        warnings.simplefilter("always")
        found = call(source, function)
    compare(found, expected)
    refused = [str(each.message) for each in caught if "runs as Python" in str(each.message)]
    assert all(map(REFUSALS.search, refused)), refused


def written(body: str) -> Source:
    """Return a function with these statements, which returns u, v, f, i, j and k."""
    lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n"))
    return Source(
        f"def drawn({', '.join(PARAMETERS)}):\n{lines}    return u, v, f, i, j, k, levels\n", 1
    )


WRITTEN = {
    "a variable that only dead code assigns": """
g = f
for i in range(3):
    while True:
        u[0] = i
        if u.nvals:
            break
    else:
        f = g
""",
    "a number of an array in two loops": """
xs = np.array([3, 1])
for e in xs:
    u[0] = int(e)
for e in xs:
    v[0] = int(e)
""",
    "a mask and an expression in two loops": """
for i in range(2):
    view, late = ~v.S, u + v
    u(view) << late
for j in range(2):
    view, late = u.S, u @ A
    v(view) << late
""",
    "a deleted variable": """
for i in range(3):
    late = u + v
    u << late
    del late
""",
    "an exception that the function handles": """
try:
    for i in range(5):
        k = i
        u, v = v, u
        levels.append(u.dup())
        u[0] = i
        if i == 3:
            u[99] = 1
            k = 77
except IndexError:
    j = 5
""",
    "an exception that a with statement handles": """
with contextlib.suppress(ZeroDivisionError):
    while True:
        k -= 1
        u << v + 1
        x = 1 / (k + 5)
        v = Vector(int, u.size)
""",
    "vectors that are exchanged before an exception": """
for i in range(4):
    u, v = v, u
    u[0] = i
    f[2 - i] = 1.0
    del v[i - 9]
""",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_hand_written_function_gives_the_same_results_in_python_and_in_the_interpreter(name: str):
    check_source(written(WRITTEN[name]), Checked(interpreter))


@given(sources())
def test_a_drawn_function_gives_the_same_results_in_python_and_in_the_interpreter(source: Source):
    check_source(source, Checked(interpreter))


@given(sources())
def test_a_drawn_function_gives_the_same_results_for_other_arguments_of_the_same_types(
    source: Source,
):
    function = gl.jit(source.function(), fallback=True)
    for each in (source, source.again(), source):
        expected = call(each, source.function())
        if has_large_number(expected):
            return
        with warnings.catch_warnings(), running.use(Checked(interpreter)):
            warnings.simplefilter("ignore")
            found = call(each, function)
        compare(found, expected)


@given(sources())
def test_a_drawn_function_gives_the_same_results_in_python_and_in_the_module_for_numba(
    source: Source,
):
    plain_numba = pytest.importorskip("plain_numba", exc_type=ImportError)
    from graphla.program import cpu

    load = plain_numba.load
    engine: Any = SimpleNamespace(run=lambda program, given: cpu.run(program, given, load))
    with gl.config.set(threads=2):
        check_source(source, Checked(engine))


@fewer(20)
@given(sources(statements=3))
def test_a_drawn_function_compiled_by_numba_gives_the_same_results_as_python(source: Source):
    cpu: Any = pytest.importorskip("graphla.program.cpu", exc_type=ImportError)
    with gl.config.set(threads=2):
        check_source(source, Checked(cpu))
