"""Test that random control flow, names and objects give equal results with and without `gl.jit`.

The drawn functions contain few kinds of statements on vectors. But loops and conditions are nested
arbitrarily, loops end at arbitrary places, and variables are aliased and swapped. The interpreter
runs the traced programs.
"""

from __future__ import annotations

import itertools
import linecache
import re
import textwrap
import warnings
from typing import Any

import pytest
from effort import is_full
from hypothesis import given, note, settings
from hypothesis import strategies as st

import graphla as gl
from graphla import Vector, binary, replace
from graphla.exceptions import NotCompilable
from graphla.program import interpreter, running
from graphla.program.reasons import Reason

pytestmark = pytest.mark.cpu

SIZE = 4
INTS, VECTORS = ("a", "b", "c"), ("u", "v", "w")
number = itertools.count()


def helper(x: int, y: int = 2) -> int:
    for k in range(3):
        if x < y:
            return x * 3 + k
        x -= y
    return -x


def touch(x: Vector, k: int) -> Vector:
    if k % 2:
        x[k % SIZE] = k
        return x
    return x.dup()


@st.composite
def ints(draw: Any, depth: int = 2) -> str:
    simple = [
        st.integers(-3, 9).map(str),
        st.sampled_from(INTS),
        st.sampled_from(VECTORS).map("{}.nvals".format),
        st.sampled_from(VECTORS).map("{}.reduce().get(0)".format),
    ]
    if not depth:
        return draw(st.one_of(*simple))
    x, y = (ints(depth - 1) for _ in range(2))
    forms = st.one_of(
        *simple,
        st.tuples(x, st.sampled_from(["+", "-"]), y).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(x, y).map(lambda t: f"({t[0]} * {t[1]} % 11)"),
        st.tuples(x, y).map(lambda t: f"min({t[0]}, {t[1]})"),
        st.tuples(x, conditions(depth - 1), y).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(x, st.sampled_from(["and", "or"]), y).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        x.map(lambda t: f"helper({t})"),
        st.tuples(x, y).map(lambda t: f"helper({t[0]}, y={t[1]})"),
    )
    return draw(forms)


@st.composite
def conditions(draw: Any, depth: int = 2) -> str:
    x, y = draw(ints(0)), draw(ints(0))
    sign = draw(st.sampled_from(["<", "<=", "==", "!=", ">"]))
    if not depth:
        return draw(st.sampled_from([f"{x} {sign} {y}", f"{x} % 2", x]))
    one, two = draw(conditions(depth - 1)), draw(conditions(depth - 1))
    return draw(
        st.sampled_from(
            [
                f"{x} {sign} {y}",
                f"{x} <= {y} < {draw(ints(0))}",
                f"(not {one})",
                f"({one} and {two})",
                f"({one} or {two})",
                f"({one} if {two} else {x})",
            ]
        )
    )


@st.composite
def blocks(draw: Any, depth: int, is_in_loop: bool) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(statements(depth, is_in_loop))
    return lines


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@st.composite
def statements(draw: Any, depth: int, is_in_loop: bool) -> list[str]:
    kind = draw(
        st.sampled_from(["simple", "simple", "if", "loop", "exit"] if depth else ["simple"])
    )
    x, u, v = draw(ints()), draw(st.sampled_from(VECTORS)), draw(st.sampled_from(VECTORS))
    a, b = draw(st.sampled_from(INTS)), draw(st.sampled_from(INTS))
    if kind == "simple":
        simple = [
            f"{a} = {x} % 100",
            f"{a} += {x} % 7",
            f"{a}, {b} = {b}, {a}",
            f"{u}, {v} = {v}, {u}",
            f"{u} = {v}",
            f"{u} = {v}.dup()",
            f"{u} = touch({v}, {a})",
            f"{u} << {v}.apply(binary.plus, right={x} % 10)",
            f"{u}({v}.S) << {a} % 50",
            f"{u}(~{v}.S, replace) << {v}",
            f"{u}(binary.plus) << ({v} if {draw(conditions(1))} else {u})",
            f"{u}[{a} % SIZE] = {x} % 100",
            f"del {u}[{a} % SIZE]",
            f"{u}.clear()",
        ]
        return [draw(st.sampled_from(simple))]
    if kind == "if":
        lines = [f"if {draw(conditions())}:", *indented(draw(blocks(depth - 1, is_in_loop)))]
        if draw(st.booleans()):
            lines += ["else:", *indented(draw(blocks(depth - 1, is_in_loop)))]
        return lines
    if kind == "loop":
        return draw(loops(depth - 1))
    exits = [f"return {a}, {u}", f'raise ValueError(f"{{{a}}}")', f'assert {a} < 40, "large"']
    test = [f"if {draw(conditions(1))}:"]
    if is_in_loop:
        exits += ["break", "continue"]
    return [*test, f"    {draw(st.sampled_from(exits))}"]


@st.composite
def loops(draw: Any, depth: int) -> list[str]:
    k = f"k{depth}"
    body = draw(blocks(depth, is_in_loop=True))
    if draw(st.booleans()):
        lines = [f"for {k} in range({draw(ints(1))} % 4):", *indented(body)]
    else:
        head = [f"{k} = 0", f"while {k} < 4 and {draw(conditions(1))}:"]
        lines = [*head, f"    {k} += 1", *indented(body)]
    if draw(st.integers(0, 3)) == 0:
        lines += ["else:", *indented(draw(blocks(0, is_in_loop=False)))]
    return lines


@st.composite
def functions(draw: Any) -> str:
    before = draw(blocks(0, is_in_loop=False)) if draw(st.booleans()) else []
    body = [*before, *draw(loops(2)), "return a, b, c, u, v, w"]
    return "\n".join(["def f(u, v, w, a, b, c):", *indented(body)]) + "\n"


def make(text: str) -> Any:
    """Return the function with this source, which `inspect` finds."""
    name = f"<random function {next(number)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    known = {"helper": helper, "touch": touch, "binary": binary, "replace": replace, "SIZE": SIZE}
    exec(compile(text, name, "exec"), known)
    return known["f"]


def run(function: Any, entries: list[dict[int, int]], numbers: list[int], aliases: bool) -> Any:
    vectors = [Vector.from_dict(each, int, size=SIZE) for each in entries]
    if aliases:
        vectors[1] = vectors[0]
    known = {id(vector): k for k, vector in enumerate(vectors)}
    waiting = [binary.plus(x | x) for x in vectors]

    def shown(value: Any) -> Any:
        if isinstance(value, Vector):
            return known.setdefault(id(value), len(known)), value.dtype.name, value.to_dict()
        return type(value).__name__, value

    try:
        result = function(*vectors, *numbers)
        ended: Any = [shown(each) for each in result]
    except (ValueError, AssertionError, ArithmeticError, UnboundLocalError) as error:
        ended = type(error).__name__, str(error)
    return ended, [shown(x) for x in vectors], [x.new().to_dict() for x in waiting]


entries = st.dictionaries(st.integers(0, SIZE - 1), st.integers(-5, 20))
PRECISE = (Reason.STATES, Reason.SHARED)
"""The reasons for which a random function may be rejected."""
PRECISE_TEXTS = re.compile("in too many combinations|changes a vector that a list contains")


@settings(max_examples=400 if is_full() else 40)
@given(
    functions(),
    st.lists(entries, min_size=3, max_size=3),
    st.lists(st.integers(0, 9), min_size=3, max_size=3),
    st.booleans(),
)
def test_a_random_function_under_jit_returns_the_same_results_as_in_python(
    text: str, entries: list[dict[int, int]], numbers: list[int], aliases: bool
):
    note(textwrap.indent(text, "  "))
    with gl.config.set(device="cpu"):
        wanted = run(make(text), entries, numbers, aliases)
        with (
            running.use(interpreter),  # pyright: ignore[reportArgumentType]
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            try:
                assert run(gl.jit(make(text)), entries, numbers, aliases) == wanted
            except NotCompilable as error:
                assert error.code in PRECISE
    # If an outer loop is rejected, a warning says so, and its inner loops are compiled.
    assert all(PRECISE_TEXTS.search(str(each.message)) for each in caught)
