"""Test that a loop under `gl.jit` ends as in plain Python, with the same result or error."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from jitting import Counting, bfs, check, ones, path, shown, swap

import graphla as gl
from graphla import Matrix, Vector, binary, monoid, replace
from graphla.program import interpreter, running
from graphla.program.ir import Program
from graphla.program.running import Arguments, Outcome
from graphla.semiring import min_plus

pytestmark = pytest.mark.cpu


def test_a_loop_gives_the_same_result_as_in_python():
    check(bfs, path, lambda: 0)
    check(bfs, path, lambda: 3)


def test_calls_with_arguments_of_the_same_types_share_a_program(engine: Counting):
    search = gl.jit(bfs)
    search(path(), 0)
    search(path(9), 4)
    first, second = engine.programs
    assert first is second


def test_arguments_of_different_types_require_different_programs(engine: Counting):
    search = gl.jit(bfs)
    search(path(), 0)
    search(Matrix.from_coo([0, 1], [1, 0], 1.5, nrows=6, ncols=6), 0)
    first, second = engine.programs
    assert first is not second


# --- the positions of loops, and how they end ----------------------------------------------------


def in_if(u: Vector, flag: bool) -> Vector:
    if flag:
        for _ in range(2):
            u << u.apply(binary.plus, right=1)
    else:
        for _ in range(3):
            u << u.apply(binary.plus, right=2)
    return u


def in_with(u: Vector) -> Vector:
    with gl.config.set(threads=1):
        for _ in range(2):
            u << u.apply(binary.plus, right=1)
    return u


def in_try(u: Vector) -> Any:
    try:
        while True:
            u << u.apply(binary.plus, right=1)
            if u[0].value > 4:
                raise KeyError("large")
    except KeyError as error:
        return str(error), u
    finally:
        u[1] = 100


def two_loops(u: Vector) -> Vector:
    for _ in range(2):
        u << u.apply(binary.plus, right=1)
    while u[0].value < 9:
        u << u.apply(binary.times, right=2)
    return u


def nested(u: Vector) -> tuple[Any, ...]:
    rounds = 0
    for i in range(3):
        for j in range(i):
            u << u.apply(binary.plus, right=j)
            rounds += 1
    return u, rounds, i, j  # pyright: ignore[reportPossiblyUnboundVariable]


def breaks(u: Vector, limit: int) -> tuple[Any, ...]:
    for k in range(10):
        u << u.apply(binary.plus, right=k)
        if u[0].value > limit:
            break
    else:
        k = -1
    return u, k


def continues(u: Vector) -> tuple[Any, ...]:
    skipped = 0
    for k in range(6):
        if k % 2:
            skipped += 1
            continue
        u << u.apply(binary.plus, right=k)
    return u, skipped


def returns(u: Vector, limit: int) -> Any:
    k = 0
    while k < 10:
        u << u.apply(binary.plus, right=k)
        if u[0].value > limit:
            return "large", k
        k += 1
    return "small", k


def raises(u: Vector, limit: int) -> Any:
    for k in range(10):
        u << u.apply(binary.plus, right=k)
        if u[0].value > limit:
            raise ValueError(f"{k} is too large")
    return u


def asserts(u: Vector, limit: int) -> Any:
    for k in range(10):
        u << u.apply(binary.plus, right=k)
        assert u[0].value <= limit, f"{k} is too large"
    return u


def continues_outer(u: Vector) -> tuple[Any, ...]:
    names = {}
    for k in range(3):
        names[k] = str(k)
        for _ in range(k):
            u << u.apply(binary.plus, right=1)
            if u[0].value > 2:
                break
        else:
            continue
        names["broken"] = k
        break
    return u, sorted(map(str, names))


def assigns_by_walrus(u: Vector) -> tuple[Any, ...]:
    while (n := u.nvals) > 2:
        u(u.S, replace) << (gl.select.valuelt(u, 0) if n < 0 else u)
        del u[n - 1]
    return u, n


def and_or(u: Vector, limit: int) -> tuple[Any, ...]:
    k = 0
    while u.nvals and not (k >= limit or u[0].value > 7) and 0 <= k < 5:
        u << u.apply(binary.plus, right=2 if k % 2 else 1)
        k += 1
    return u, k, k and 7, k or "none"


@pytest.mark.parametrize("flag", [True, False])
def test_a_loop_in_an_if_statement_is_compiled(flag: bool):
    check(in_if, ones, lambda: flag)


def test_a_loop_in_a_with_statement_is_compiled():
    check(in_with, ones)


def test_a_loop_in_a_try_statement_is_compiled():
    check(in_try, ones)


def test_each_of_several_loops_is_compiled():
    check(two_loops, ones, runs=2)


def test_nested_loops_become_one_program():
    check(nested, ones)


@pytest.mark.parametrize("limit", [5, 1000])
@pytest.mark.parametrize("function", [breaks, returns, raises, asserts])
def test_a_loop_ends_in_the_same_way_as_in_python(function: Callable[..., Any], limit: int):
    check(function, ones, lambda: limit)


def test_continue_starts_the_next_round():
    check(continues, ones)


def test_the_else_clause_of_a_compiled_loop_may_continue_an_outer_loop():
    with pytest.warns(UserWarning, match="names"):
        check(continues_outer, ones, runs=3)


def test_an_assignment_expression_assigns_its_variable():
    check(assigns_by_walrus, ones)


@pytest.mark.parametrize("limit", [0, 3, 9])
def test_conditions_evaluate_the_same_operands_as_in_python(limit: int):
    check(and_or, ones, lambda: limit)


def test_a_loop_without_graphla_statements_runs_as_python(engine: Counting):
    @gl.jit
    def sum_of(numbers: list[int]) -> int:
        total = 0
        for each in numbers:
            total += len(str(each))
        return total

    assert sum_of([1, 22, 333]) == 6
    assert not engine.programs


@pytest.mark.parametrize(
    "items",
    [
        [1, 2, 3],
        [0.5, 2.0],
        (4, 5),
        np.arange(8)[::2],
        np.array([1.5, 2.5]),
        np.array([True, False]),
        range(5, 0, -2),
        [True, False],
    ],
)
def test_a_for_loop_may_iterate_over_numbers(engine: Counting, items: Any):
    def add(u: Vector, items: Any) -> tuple[Any, ...]:
        total = 0.0
        for x in items:
            u << u.apply(binary.plus, right=1)
            total = total + float(x)
        return u, total

    assert shown(gl.jit(add)(ones(), items)) == shown(add(ones(), items))
    assert len(engine.programs) == 1


def test_a_loop_over_numbers_of_mixed_types_gives_the_same_result_as_in_python(engine: Counting):
    def add(u: Vector, items: Any) -> tuple[Any, ...]:
        total = 0.0
        for x in items:
            u << u.apply(binary.plus, right=1)
            total = total + x
        return u, total

    jitted = gl.jit(add, fallback=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert shown(jitted(ones(), [1, 2.5])) == shown(add(ones(), [1, 2.5]))


def test_a_loop_that_relaxes_distances_until_their_sum_is_constant_agrees_with_python(
    engine: Counting,
):
    def distances(A: Matrix) -> tuple[Any, ...]:
        d, total = Vector(float, A.nrows), -1.0
        d[0] = 0.0
        while True:
            before = total
            d(binary.min) << min_plus(d @ A)
            total = d.reduce(monoid.plus).get(0.0)
            if total == before:
                break
        return d, total

    assert shown(gl.jit(distances)(path())) == shown(distances(path()))


def counts_chains(u: Vector, rounds: int) -> int:
    a, b, count = 0, 1, 0
    for k in range(rounds):
        u[k] = k
        if a < b < (b := 3):
            count += 1
    return count


def test_a_chained_comparison_reads_a_variable_before_a_later_operand_assigns_the_variable(
    engine: Counting,
):
    assert gl.jit(counts_chains)(ones(), 2) == counts_chains(ones(), 2) == 1


# --- errors --------------------------------------------------------------------------------------


def overflow(u: Vector) -> int:
    k = 1
    while True:
        u << u.apply(binary.plus, right=1)
        k = k * 2**20
        if u[0].value > 50:
            return k


def test_an_error_in_the_loop_names_the_line_in_the_code_of_the_user(engine: Counting):
    @gl.jit
    def divide(u: Vector, x: int) -> int:
        for k in range(3):
            u << u.apply(binary.plus, right=1)
            x = x // (1 - k)
        return x

    u = ones()
    with pytest.raises(ZeroDivisionError) as caught:
        divide(u, 5)
    lines = [each.line for each in traceback.extract_tb(caught.tb)]
    assert lines[-1] == "x = x // (1 - k)"
    assert "for k in range(3):" in lines
    names = [each.name for each in traceback.extract_tb(caught.tb)]
    assert names[-2:] == ["divide", "divide"]
    assert u[0].value == 3


def test_an_int_raises_an_error_instead_of_wrapping_around(engine: Counting):
    with pytest.raises(OverflowError):
        gl.jit(overflow)(ones())


def check_positive(x: int) -> int:
    if x < 0:
        raise ValueError(f"{x} is negative")
    return x


def test_an_error_in_a_helper_function_keeps_its_message(engine: Counting):
    @gl.jit
    def descend(u: Vector) -> None:
        k = 2
        while True:
            u << u.apply(binary.plus, right=check_positive(k))
            k -= 1

    u = ones()
    with pytest.raises(ValueError, match="-1 is negative") as caught:
        descend(u)
    assert traceback.extract_tb(caught.tb)[-1].name == "check_positive"
    assert u[0].value == 4


def test_a_statement_that_fails_raises_the_same_error_as_in_python(engine: Counting):
    @gl.jit
    def add(u: Vector, v: Vector) -> None:
        for _ in range(2):
            u << binary.plus(u | v)

    with pytest.raises(gl.exceptions.DimensionMismatch):
        add(ones(3), ones(4))


class Failing:
    def run(self, program: Program, arguments: Arguments) -> Outcome:
        interpreter.run(program, arguments)
        raise KeyboardInterrupt


def test_an_interrupted_loop_leaves_the_operands_intact():
    u, v = ones(), ones()
    with (
        gl.config.set(device="cpu"),
        running.use(Failing()),
        pytest.raises(KeyboardInterrupt),
    ):
        gl.jit(swap)(u, v, 3)
    assert shown([u, v]) == shown([ones(), ones()])
