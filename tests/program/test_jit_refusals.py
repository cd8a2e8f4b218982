"""`gl.jit` gives the reason for a refusal, and explains which loops it compiled."""

from __future__ import annotations

import inspect
import re
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jitting import Counting, bfs, ones, path, shown, swap

import graphla as gl
from graphla import Matrix, Vector, binary, monoid, replace, semiring
from graphla.exceptions import NotCompilable
from graphla.program.reasons import Reason
from graphla.semiring import plus_times

pytestmark = pytest.mark.cpu


def prints(u: Vector) -> None:
    for k in range(3):
        u << u.apply(binary.plus, right=k)
        print(k)


def computes_a_matrix(A: Matrix) -> None:
    for _ in range(2):
        A = plus_times(A @ A).new()


def makes_a_dict(u: Vector) -> None:
    for k in range(3):
        u << u.apply(binary.plus, right=k)
        found = {"k": k}  # noqa: F841


def calls_an_algorithm(A: Matrix) -> None:
    u = Vector(int, 6)
    for k in range(3):
        u[k] = gl.algorithms.triangle_count(A)


def sorts(u: Vector) -> None:
    for _ in range(3):
        u << Vector.from_dense(np.sort(u.to_dense(0)))


def has_a_try(u: Vector) -> None:
    for k in range(3):
        try:
            u << u.apply(binary.plus, right=k)
        finally:
            k += 1


def has_a_comprehension(u: Vector) -> None:
    for _ in range(3):
        u << u.apply(binary.plus, right=sum([k for k in range(3)]))


def assigns_a_global(u: Vector) -> None:
    global STEP
    for k in range(3):
        u << u.apply(binary.plus, right=k)
        STEP = k


def factorial(k: int) -> int:
    return k * factorial(k - 1) if k else 1


def recurs(u: Vector) -> None:
    for k in range(3):
        u << u.apply(binary.plus, right=factorial(k))


def iterates_over_a_dict(u: Vector) -> None:
    d = {1: 2}
    for k in d:
        u << u.apply(binary.plus, right=k)


made = types.FunctionType(compile("def f(k): return k", "<text>", "exec").co_consts[0], {}, "made")


def calls_a_function_without_source(u: Vector) -> None:
    for k in range(3):
        u << u.apply(binary.plus, right=made(k))


def grows_a_list_of_numbers(u: Vector) -> None:
    found = []
    for k in range(3):
        u << u.apply(binary.plus, right=k)
        found.append(k)
    u[0] = len(found)


def changes_a_dtype(u: Vector) -> None:
    x = 1
    for k in range(30):
        u << u.apply(binary.plus, right=1)
        x = x / 2 if k % 3 else int(x)
    u[0] = x


REFUSED = [
    (prints, [Reason.INPUT_OUTPUT], "print(k)"),
    (computes_a_matrix, [Reason.MATRIX_RESULT], "A = plus_times(A @ A).new()"),
    (makes_a_dict, [Reason.PYTHON_OBJECT, Reason.SYNTAX], 'found = {"k": k}'),
    (calls_an_algorithm, [Reason.CALL], "u[k] = gl.algorithms.triangle_count(A)"),
    (sorts, [Reason.OPERATION, Reason.CALL, Reason.PYTHON_OBJECT], "u << "),
    (has_a_try, [Reason.SYNTAX], "try:"),
    (has_a_comprehension, [Reason.SYNTAX], "u << "),
    (assigns_a_global, [Reason.OUTER_NAME], "STEP = k"),
    (recurs, [Reason.RECURSION], "return k * factorial(k - 1) if k else 1"),
    (iterates_over_a_dict, [Reason.ITERABLE], "for k in d:"),
    (calls_a_function_without_source, [Reason.NO_SOURCE], "u << "),
    (grows_a_list_of_numbers, [Reason.STACK, Reason.PYTHON_OBJECT], "found.append(k)"),
]


@pytest.mark.parametrize(("function", "codes", "statement"), REFUSED)
def test_the_error_about_a_rejected_loop_names_the_place_and_the_reason(
    engine: Counting, function: Callable[..., Any], codes: list[Reason], statement: str
):
    argument = path() if "A" in inspect.signature(function).parameters else ones()
    with pytest.raises(NotCompilable) as caught:
        gl.jit(function)(argument)
    error = caught.value
    assert error.code in codes
    assert error.file == __file__
    assert error.statement is not None
    assert error.statement.startswith(statement)
    assert error.line is not None
    with open(__file__) as file:  # noqa: PTH123
        assert file.readlines()[error.line - 1].strip() == error.statement
    assert error.instead in str(error)
    assert not engine.programs


def test_generators_and_coroutines_are_rejected():
    def generator(u: Vector) -> Iterator[Vector]:
        for _ in range(3):
            u << u.apply(binary.plus, right=1)
            yield u

    async def coroutine(u: Vector) -> None:
        for _ in range(3):
            u << u.apply(binary.plus, right=1)

    for function in (generator, coroutine):
        with pytest.raises(NotCompilable, match=function.__name__) as caught:
            gl.jit(function)
        assert caught.value.code is Reason.GENERATOR


def test_a_generator_runs_as_python_if_fallback_is_set():
    def generator(u: Vector) -> Iterator[int]:
        for _ in range(3):
            u << u.apply(binary.plus, right=1)
            yield u[0].value

    with pytest.warns(UserWarning, match="generator"):
        jitted = gl.jit(generator, fallback=True)
    assert list(jitted(ones())) == [2, 3, 4]


def test_the_error_about_a_function_without_source_names_the_function(engine: Counting):
    names: dict[str, Any] = {}
    exec("def typed_in(u):\n    for k in range(3):\n        u[k] = k\n", names)
    with pytest.raises(NotCompilable, match="typed_in"):
        gl.jit(names["typed_in"])(ones())
    with pytest.warns(UserWarning, match="typed_in"):
        gl.jit(names["typed_in"], fallback=True)(ones())


def test_the_documentation_lists_every_reason():
    page = Path(__file__).parents[2] / "docs" / "reference" / "jit.md"
    listed = re.findall(r"^\| `([A-Z_]+)` \|", page.read_text(), re.MULTILINE)
    assert listed == [reason.name for reason in Reason]


def test_an_outer_loop_that_runs_as_python_gives_one_warning(engine: Counting):
    def rounds(u: Vector) -> dict[str, int]:
        found = {}
        for k in range(3):
            for _ in range(2):
                u << u.apply(binary.plus, right=1)
            found[str(k)] = u[0].value
        return found

    jitted = gl.jit(rounds)
    with pytest.warns(UserWarning, match=r"found\[str\(k\)\] = u\[0\].value") as caught:
        assert jitted(ones()) == rounds(ones())
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert len(engine.programs) == 3
    jitted(ones())
    assert len(engine.programs) == 6


def test_the_option_fallback_runs_the_loop_as_python_and_warns_once(engine: Counting):
    jitted = gl.jit(makes_a_dict, fallback=True)
    u = ones()
    with pytest.warns(UserWarning, match="makes_a_dict") as caught:
        jitted(u)
    assert len(caught) == 1
    assert u[0].value == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jitted(u)


def test_a_rejected_loop_is_rejected_at_each_call(engine: Counting):
    jitted = gl.jit(makes_a_dict)
    for _ in range(2):
        with pytest.raises(NotCompilable):
            jitted(ones())


class Holder:
    def __init__(self) -> None:
        self.u = ones()

    @gl.jit
    def prints(self) -> None:
        for _ in range(2):
            self.u << self.u.apply(binary.plus, right=1)
            print(self.u)


def test_the_error_about_a_loop_in_a_method_names_the_statement(engine: Counting):
    with pytest.raises(NotCompilable, match=r"print\(self.u\)"):
        Holder().prints()


def test_a_function_runs_as_python_if_no_engine_is_available():
    with gl.config.set(device="cpu", compiled=False):
        u = ones()
        gl.jit(makes_a_dict)(u)
        assert u[0].value == 4


# --- explanations --------------------------------------------------------------------------------


def test_explain_prints_the_program_and_changes_nothing(engine: Counting):
    u, v = ones(), ones()
    text = gl.jit(swap).explain(u, v, 3)  # pyright: ignore[reportFunctionMemberAccess]
    assert "swap" in text
    assert "u << u.apply(binary.plus, right=10)" in text
    assert "u, v = v, u (exchanged)" in text or "(exchanged)" in text
    assert shown([u, v]) == shown([ones(), ones()])


def test_explain_names_the_statement_that_makes_a_loop_run_as_python(engine: Counting):
    text = gl.jit(makes_a_dict).explain(ones())  # pyright: ignore[reportFunctionMemberAccess]
    assert 'found = {"k": k}' in text


def test_explain_shows_the_fused_loops_on_a_cpu_and_the_storage_of_each_vector():
    with gl.config.set(device="cpu"):
        text = gl.jit(core_numbers).explain(path(), ones())  # pyright: ignore[reportFunctionMemberAccess]
    assert "runs as Python, because its operands are small" in text
    assert "push or pull" in text
    fused = text.index("2 statements")
    assert text.index('# gone << left.select("<=", k)', fused) < text.index(
        "# core(gone.S) << k", fused
    )
    assert "vector gone: a bitmap with a list of its entries, because a product pushes them" in text
    assert "vector core: a bitmap, because no loop visits its entries only" in text


def core_numbers(A: Matrix, degree: Vector) -> Vector:
    n = A.nrows
    core, gone, left = Vector(int, n), Vector(int, n), degree.dup()
    k = 0
    while left.nvals:
        k = max(k, left.reduce(monoid.min).get(0))
        gone << left.select("<=", k)
        core(gone.S) << k
        left(~gone.S, replace) << left
        left(left.S, binary.minus) << semiring.plus_pair(gone @ A)
    return core


@pytest.mark.parametrize("function", [makes_a_dict, has_a_try])
def test_explain_describes_loops_that_run_as_python(function: Callable[..., Any]):
    with gl.config.set(device="cpu", compiled=False):
        text = gl.jit(function).explain(ones())  # pyright: ignore[reportFunctionMemberAccess]
    assert "runs as Python" in text


def test_a_recorder_receives_events_of_the_compiled_loop(engine: Counting):
    search = gl.jit(bfs)
    with gl.Recorder() as recorder:
        search(path(), 0)
    assert any("bfs" in event.operation for event in recorder)


def clears_a_list(A: Matrix) -> int:
    steps: list[Vector] = []
    u = Vector(int, A.nrows)
    for k in range(3):
        u[k] = k
        steps.append(u.dup())
        if len(steps) > 1:
            steps.clear()
    return len(steps)


def test_explain_shows_that_a_list_is_cleared(engine: Counting):
    A = gl.datasets.load("karate")
    jitted: Any = gl.jit(clears_a_list)
    assert jitted(A) == clears_a_list(A)
    assert "steps.clear()" in jitted.explain(A)
