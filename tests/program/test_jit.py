"""Functions under `gl.jit` have the same results as without it, and the right loops are compiled.

The interpreter runs the programs, so nothing is compiled to machine code here.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import subprocess
import sys
import textwrap
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphla as gl
from graphla import Matrix, Vector, binary, monoid, replace, semiring
from graphla.exceptions import NotCompilable
from graphla.program import interpreter, running
from graphla.program.ir import Program
from graphla.program.reasons import Reason
from graphla.program.running import Arguments, Outcome
from graphla.program.source import source_of
from graphla.semiring import any_secondi, min_plus, plus_times

pytestmark = pytest.mark.cpu


class Counting:
    """The interpreter, with a list of the programs that it ran."""

    def __init__(self) -> None:
        self.programs: list[Program] = []

    def run(self, program: Program, arguments: Arguments) -> Outcome:
        self.programs.append(program)
        return interpreter.run(program, arguments)


@contextmanager
def compiling() -> Iterator[Counting]:
    engine = Counting()
    with gl.config.set(device="cpu"), running.use(engine):
        yield engine


@pytest.fixture
def engine() -> Iterator[Counting]:
    with compiling() as engine:
        yield engine


def path(n: int = 6) -> Matrix:
    """Return the path 0 -> 1 -> ... -> n - 1 with the weights 1, 2, ..."""
    with gl.config.set(device="cpu"):
        k = np.arange(n - 1)
        return Matrix.from_coo(k, k + 1, k + 1, nrows=n, ncols=n)


def ones(n: int = 6, dtype: Any = int) -> Vector:
    with gl.config.set(device="cpu"):
        return Vector.from_scalar(1, n, dtype)


def shown(value: Any) -> Any:
    """Return a value that can be compared: the entries of a vector, with its dtype and size."""
    if isinstance(value, Vector):
        return "vector", value.dtype, value.size, value.to_dict()
    if isinstance(value, (tuple, list)):
        return type(value), [shown(each) for each in value]
    return type(value), value


def check(function: Callable[..., Any], *makers: Callable[[], Any], runs: int = 1) -> None:
    """Check that a function has the same result and effects with and without `gl.jit`."""
    with gl.config.set(device="cpu"):
        args = [make() for make in makers]
        wanted = outcome(function, args)
    with compiling() as engine:
        given = [make() for make in makers]
        jitted = gl.jit(function)
        assert outcome(jitted, given) == wanted
        assert len(engine.programs) == runs


def outcome(function: Callable[..., Any], args: list[Any]) -> Any:
    try:
        return shown(function(*args)), [shown(x) for x in args if isinstance(x, Vector)]
    except (ValueError, IndexError, KeyError, OverflowError, AssertionError, ArithmeticError) as e:
        return type(e), str(e).partition("\n")[0], [shown(x) for x in args if isinstance(x, Vector)]


def bfs(A: Matrix, source: int) -> Vector:
    """Return a parent of each vertex."""
    n = A.nrows
    parent, frontier = Vector(int, n), Vector(int, n)
    parent[source] = frontier[source] = source
    while frontier.nvals:
        frontier(~parent.S, replace) << any_secondi(frontier @ A)
        parent(frontier.S) << frontier
    return parent


def test_a_loop_computes_the_same_as_in_python():
    check(bfs, path, lambda: 0)
    check(bfs, path, lambda: 3)


def test_calls_with_the_same_types_share_a_program(engine: Counting):
    search = gl.jit(bfs)
    search(path(), 0)
    search(path(9), 4)
    first, second = engine.programs
    assert first is second


def powers(u: Vector, rounds: int) -> Vector:
    """Append vectors to a new list in one loop, and remove them in another."""
    items, total = [], u.dup()
    for k in range(rounds):
        items.append(u.dup())
        u << binary.plus(u, k)
    while len(items) > 1:
        last = items.pop()
        total << binary.minus(last | total)
    return total


def test_calls_with_new_lists_share_the_programs(engine: Counting):
    jitted = gl.jit(powers)
    for rounds in (5, 3, 9):
        u = Vector.from_coo([0, 2], [1, 5], size=4)
        assert jitted(u.dup(), rounds).isequal(powers(u.dup(), rounds))
    first, second = engine.programs[:2]
    assert first is not second
    assert engine.programs == [first, second] * 3


def popped(items: list[Vector], total: Vector) -> Vector:
    while len(items) > 1:
        last = items.pop()
        total << binary.minus(last | total)
    return total


def append_to_both(u: Vector, one: list[Vector], other: list[Vector]) -> Vector:
    for k in range(3):
        one.append(u.dup())
        u << binary.plus(u, k)
        other.append(u.dup())
        u << binary.plus(u | one[0])
    return u


def test_a_program_for_two_lists_does_not_run_for_one_list_with_two_names():
    u, one = Vector.from_coo([0, 2], [1, 5], size=4), []
    jitted = gl.jit(append_to_both, fallback=True)
    with compiling(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jitted(u.dup(), [], [])
        found = jitted(u.dup(), one, one)
    wanted: list[Vector] = []
    assert found.isequal(append_to_both(u.dup(), wanted, wanted))
    assert [x.to_dict() for x in one] == [x.to_dict() for x in wanted]


def test_a_list_with_a_vector_twice_gives_what_python_gives():
    def make(order: tuple[int, ...]) -> list[Vector]:
        vectors = [Vector.from_coo([0, 2], [k, 3 * k], size=4) for k in range(1, 4)]
        return [vectors[k] for k in order]

    with compiling():
        jitted = gl.jit(popped)
        for order in ((0, 1, 2), (0, 1, 0, 2, 2), (1, 1, 1), (2, 0)):
            total = Vector.from_coo([0, 2], [7, 7], size=4)
            found = jitted(make(order), total.dup())
            assert found.isequal(popped(make(order), total.dup()))


def test_calls_with_other_types_get_another_program(engine: Counting):
    search = gl.jit(bfs)
    search(path(), 0)
    search(Matrix.from_coo([0, 1], [1, 0], 1.5, nrows=6, ncols=6), 0)
    first, second = engine.programs
    assert first is not second


# --- where loops are, and how they end -----------------------------------------------------------


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


def test_nested_loops_are_one_program():
    check(nested, ones)


@pytest.mark.parametrize("limit", [5, 1000])
@pytest.mark.parametrize("function", [breaks, returns, raises, asserts])
def test_a_loop_is_left_as_in_python(function: Callable[..., Any], limit: int):
    check(function, ones, lambda: limit)


def test_continue_starts_the_next_round():
    check(continues, ones)


def test_the_else_of_a_compiled_loop_may_continue_an_outer_loop():
    with pytest.warns(UserWarning, match="names"):
        check(continues_outer, ones, runs=3)


def test_an_assignment_expression_assigns():
    check(assigns_by_walrus, ones)


@pytest.mark.parametrize("limit", [0, 3, 9])
def test_conditions_evaluate_the_same_operands_as_in_python(limit: int):
    check(and_or, ones, lambda: limit)


def test_a_loop_without_statements_of_graphla_runs_as_python(engine: Counting):
    @gl.jit
    def sum_of(numbers: list[int]) -> int:
        total = 0
        for each in numbers:
            total += len(str(each))
        return total

    assert sum_of([1, 22, 333]) == 6
    assert not engine.programs


# --- what surrounds the loop ---------------------------------------------------------------------


def test_the_decorated_function_keeps_its_name_signature_and_text():
    search = gl.jit(bfs)
    assert search.__name__ == "bfs"
    assert search.__doc__ == bfs.__doc__
    assert search.__module__ == bfs.__module__
    assert inspect.signature(search) == inspect.signature(bfs)


def test_defaults_and_keyword_only_arguments_work(engine: Counting):
    @gl.jit
    def add(u: Vector, times: int = 2, *others: int, step: int = 3, **more: int) -> Vector:
        for _ in range(times):
            u << u.apply(binary.plus, right=step + more.get("extra", 0))
        return u

    with pytest.raises(NotCompilable, match="more"):
        add(ones())

    @gl.jit
    def plain(u: Vector, times: int = 2, /, *, step: int = 3) -> Vector:
        for _ in range(times):
            u << u.apply(binary.plus, right=step)
        return u

    assert plain(ones())[0].value == 7
    assert plain(ones(), 1, step=10)[0].value == 11


def test_jit_works_above_another_decorator(engine: Counting):
    calls: list[int] = []

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any) -> Any:
            calls.append(1)
            return function(*args)

        return wrapper

    @gl.jit
    @counted
    def above(u: Vector) -> Vector:
        for _ in range(2):
            u << u.apply(binary.plus, right=1)
        return u

    @counted
    @gl.jit
    def below(u: Vector) -> Vector:
        for _ in range(2):
            u << u.apply(binary.plus, right=1)
        return u

    assert above(ones())[0].value == below(ones())[0].value == 3
    assert len(calls) == len(engine.programs) == 2


def test_jit_refuses_a_decorator_whose_function_it_cannot_reach():
    def hidden(function: Callable[..., Any]) -> Callable[..., Any]:
        held = [function]

        @functools.wraps(function)
        def wrapper(*args: Any) -> Any:
            return held[0](*args)

        return wrapper

    with pytest.raises(TypeError, match="below the other decorator"):
        gl.jit(hidden(bfs))


class Base:
    def scale(self, u: Vector) -> Vector:
        return u


class Walk(Base):
    steps = 3

    def __init__(self) -> None:
        self.__factor = 2
        self.size = 6

    @gl.jit
    def scale(self, u: Vector) -> Vector:
        u = super().scale(u)
        for _ in range(self.steps):
            u << u.apply(binary.times, right=self.__factor)
        return u

    @gl.jit
    def fill(self) -> Vector:
        u = Vector(int, self.size)
        for k in range(self.size):
            u[k] = self.double(k)
        return u

    def double(self, k: int) -> int:
        return k * self.__factor

    @classmethod
    @gl.jit
    def of_class(cls, u: Vector) -> Vector:
        for _ in range(cls.steps):
            u << u.apply(binary.plus, right=1)
        return u

    @gl.jit
    @staticmethod
    def alone(u: Vector) -> Vector:
        for _ in range(2):
            u << u.apply(binary.plus, right=1)
        return u


def test_methods_are_compiled(engine: Counting):
    walk = Walk()
    assert walk.scale(ones())[0].value == 8
    walk.steps = 1
    assert walk.scale(ones())[0].value == 2
    assert walk.fill().to_dict() == {k: 2 * k for k in range(6)}
    assert Walk.of_class(ones())[0].value == 4
    assert Walk.alone(ones())[0].value == 3
    assert len(engine.programs) == 5


def test_closure_variables_are_read_at_each_call(engine: Counting):
    step, op = 1, binary.plus

    @gl.jit
    def add(u: Vector) -> Vector:
        for _ in range(2):
            u << u.apply(op, right=step)
        return u

    assert add(ones())[0].value == 3
    step = 10
    assert add(ones())[0].value == 21
    op = binary.times
    assert add(ones())[0].value == 100
    assert engine.programs[0] is engine.programs[1]


def test_a_function_made_in_the_function_is_inlined(engine: Counting):
    @gl.jit
    def add(u: Vector, step: int) -> Vector:
        def times(k: int) -> int:
            return k * step if k else 1

        for k in range(3):
            u << u.apply(binary.plus, right=times(k))
        return u

    assert add(ones(), 2)[0].value == 8
    assert add(ones(), 3)[0].value == 11
    assert engine.programs[0] is engine.programs[1]


def test_functions_inside_the_function_see_the_results(engine: Counting):
    @gl.jit
    def add(u: Vector) -> Callable[[], tuple[Any, ...]]:
        def read() -> tuple[Any, ...]:
            return u, k

        k = 0
        while k < 3:
            u = u.apply(binary.plus, right=1).new()
            k += 1
        return read

    u, k = add(ones())()
    assert (u[0].value, k) == (4, 3)


# --- globals -------------------------------------------------------------------------------------

STEP = 2
combine = semiring.register_anonymous("min", "plus")


def step_of(k: int) -> int:
    return k + STEP


def relax(A: Matrix, rounds: int) -> Vector:
    d = Vector(int, A.nrows)
    d[0] = 0
    for k in range(rounds):
        d(binary.min) << combine(d @ A)
        d[0] = step_of(k)
    return d


def test_globals_are_read_again_at_each_call(engine: Counting, monkeypatch: pytest.MonkeyPatch):
    jitted, here = gl.jit(relax), sys.modules[__name__]
    assert shown(jitted(path(), 3)) == shown(relax(path(), 3))
    monkeypatch.setattr(here, "STEP", 7)
    assert shown(jitted(path(), 3)) == shown(relax(path(), 3))
    monkeypatch.setattr(here, "combine", semiring.register_anonymous("max", "times"))
    assert shown(jitted(path(), 3)) == shown(relax(path(), 3))
    monkeypatch.setattr(here, "step_of", lambda k: k)
    with pytest.raises(NotCompilable):
        jitted(path(), 3)
    monkeypatch.setattr(here, "step_of", doubled)
    assert shown(jitted(path(), 3)) == shown(relax(path(), 3))


def doubled(k: int) -> int:
    return 2 * k


CHANGES: dict[str, Callable[[Any], None]] = {
    "a number": lambda x: x.options.update(step=5),
    "a number of another class": lambda x: x.options.update(step=2.0),
    "an operator": lambda x: x.options.update(op=binary.minus),
    "an item of an item": lambda x: x.options.update(pair=(9, 5)),
    "the length of a tuple": lambda x: setattr(x, "sizes", (1, 2, 3)),
    "an item of a list": lambda x: x.operators.__setitem__(1, binary.minus),
    "the length of a list": lambda x: x.operators.append(binary.plus),
    "a dict that was empty": lambda x: x.empty.update(y=1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_items_of_outer_objects_are_read_again_at_each_call(engine: Counting, name: str):
    options = {"step": 2, "op": binary.plus, "pair": (4, 5)}
    operators, empty = [binary.plus, binary.times], {}
    outer = types.SimpleNamespace(options=options, operators=operators, empty=empty, sizes=(1, 3))

    def read(u: Vector) -> float:
        k = 0
        for _ in range(2):
            k += options["step"] + options["pair"][0] + len(outer.sizes)
            u << u.apply(options["op"], right=k)
            for op in operators:
                u << u.apply(op, right=2)
            if empty:
                k += 100
        return k

    jitted = gl.jit(read)
    for _ in range(3):
        u, v = ones(dtype=float), ones(dtype=float)
        assert shown(jitted(u)) == shown(read(v))
        assert shown(u) == shown(v)
        if len(engine.programs) == 1:
            CHANGES[name](outer)
    assert len(engine.programs) == 3
    assert engine.programs[0] is not engine.programs[1]
    assert engine.programs[1] is engine.programs[2]


def test_equal_anonymous_operators_share_a_program(engine: Counting):
    @gl.jit
    def add(u: Vector, by: int) -> Vector:
        op = binary.register_anonymous(lambda x, y: x + 2 * y)
        for _ in range(2):
            u << u.apply(op, right=by)
        return u

    assert add(ones(), 1)[0].value == 5
    assert add(ones(), 2)[0].value == 9
    assert engine.programs[0] is engine.programs[1]


def test_a_number_in_an_operator_is_part_of_its_content(engine: Counting):
    @gl.jit
    def add(u: Vector, factor: int) -> Vector:
        op = binary.register_anonymous(lambda x, y: x + factor * y)
        for _ in range(2):
            u << u.apply(op, right=1)
        return u

    assert add(ones(), 1)[0].value == 3
    assert add(ones(), 2)[0].value == 5


def shift_powers(u: Vector, first: int) -> int:
    k = 0
    for i in range(first, 5):
        k = 2**i
        k = k << 2
        u[i] = k
    return k


def test_a_statement_that_fails_in_one_state_only_is_compiled():
    check(shift_powers, ones, lambda: 0)
    with compiling() as engine, pytest.raises(TypeError, match=r"<<: 'float' and 'int'"):
        gl.jit(shift_powers)(ones(), -1)
    assert len(engine.programs) == 1


@pytest.mark.parametrize("size", [3, 6, 7])
def test_a_new_vector_may_have_the_size_of_an_argument(size: int):
    def make(u: Vector, m: int, k: int) -> Vector:
        w = Vector(int, 2)
        for i in range(2):
            w = Vector(int, m)
            w[i] = Vector(int, k).size + u.nvals
        return w

    check(make, ones, lambda: size, lambda: 7)
    with compiling() as engine:
        jitted = gl.jit(make)
        for m, k in ((size, 7), (7, size), (8, 8), (8, 9)):
            assert shown(jitted(ones(), m, k)) == shown(make(ones(), m, k))
    assert len(engine.programs) == 4


@pytest.mark.parametrize("size", [-1, 2.0, 1 << 31])
def test_a_wrong_size_of_a_new_vector_raises_the_error_of_python(size: Any):
    def make(u: Vector, m: Any) -> Vector:
        for _ in range(2):
            u = Vector(int, m)
        return u

    for function in (make, gl.jit(make)):
        with running.use(interpreter), pytest.raises((TypeError, gl.exceptions.InvalidValue)):
            function(ones(), size)


# --- numbers that are an int or a float ----------------------------------------------------------


def sum_of(u: Vector) -> float:
    return u.reduce(monoid.plus).get(0)


def keep_sum(u: Vector, rounds: int) -> float:
    change = 1.5
    for _ in range(rounds):
        change = sum_of(u)
        u.clear()
    return change


def sums_of_sums(u: Vector, rounds: int) -> Any:
    first = second = third = fourth = 0
    for _ in range(rounds):
        first = 1 - sum_of(u)
        second = sum_of(u) + sum_of(u)
        third = 2 * sum_of(u) + 1
        fourth = sum_of(u) / 2
        u.clear()
    return first, second, third, fourth


def in_vectors(u: Vector, rounds: int) -> Vector:
    whole = Vector(int, u.size)
    whole << 7
    for _ in range(rounds):
        rest = 3 - sum_of(u)
        whole(binary.plus) << rest
        whole << (whole * (sum_of(u) + 1)).new()
        u.clear()
    return whole


def until_small(u: Vector, rounds: int) -> Any:
    change, k = float("inf"), 0
    while change > 0.5 and k < rounds:
        change = sum_of(u)
        u << u / 4
        if k == 3:
            u.clear()
        k += 1
    return change, k


def mixed_with_floats(u: Vector, rounds: int) -> Any:
    x = y = z = 0.0
    for _ in range(rounds):
        x = sum_of(u) * 0.5
        y += sum_of(u)
        z = max(sum_of(u), -1) if sum_of(u) else -sum_of(u)
        u.clear()
    return x, y, z, isinstance(sum_of(u), int)


@pytest.mark.parametrize("rounds", range(6))
@pytest.mark.parametrize(
    "function", [keep_sum, sums_of_sums, in_vectors, until_small, mixed_with_floats]
)
def test_a_default_keeps_its_class(function: Any, rounds: int):
    check(function, lambda: ones(dtype=float), lambda: rounds)
    check(function, lambda: Vector(float, 6), lambda: rounds)


# --- objects -------------------------------------------------------------------------------------


def swap(u: Vector, v: Vector, rounds: int) -> tuple[Vector, Vector]:
    for _ in range(rounds):
        u, v = v, u
        u << u.apply(binary.plus, right=10)
    return u, v


@pytest.mark.parametrize("rounds", range(5))
def test_names_refer_to_the_same_objects_as_in_python(engine: Counting, rounds: int):
    u, v = ones(), ones()
    x, y = gl.jit(swap)(u, v, rounds)
    a, b = ones(), ones()
    c, d = swap(a, b, rounds)
    assert ((x is u), (y is v)) == ((c is a), (d is b))
    assert ((x is v), (y is u)) == ((c is b), (d is a))
    assert shown([u, v]) == shown([a, b])


def test_two_names_of_one_vector_stay_names_of_one_vector(engine: Counting):
    @gl.jit
    def add(u: Vector, v: Vector) -> tuple[Vector, Vector]:
        for _ in range(2):
            u << u.apply(binary.plus, right=1)
        return u, v

    u = ones()
    x, y = add(u, u)
    assert x is y is u
    assert u[0].value == 3
    v = ones()
    assert [each[0].value for each in add(u, v)] == [5, 1]


def test_a_vector_made_in_the_loop_is_a_new_object(engine: Counting):
    @gl.jit
    def add(u: Vector) -> Vector:
        for _ in range(2):
            u = u.apply(binary.plus, right=1).new()
        return u

    u = ones()
    assert add(u) is not u
    assert (u[0].value, add(u)[0].value) == (1, 3)


def test_an_object_without_a_name_keeps_the_written_entries(engine: Counting):
    @gl.jit
    def add(u: Vector) -> Vector:
        for k in range(3):
            u << u.apply(binary.plus, right=1)
            if k == 1:
                u = Vector(int, u.size)
        return u

    u = ones()
    assert add(u).nvals == 0
    assert u[0].value == 3


def test_expressions_and_copies_made_before_the_loop_keep_their_values(engine: Counting):
    @gl.jit
    def add(u: Vector) -> None:
        for _ in range(2):
            u << u.apply(binary.plus, right=1)

    u = ones()
    waits, copy = binary.plus(u | u), u.dup()
    add(u)
    assert (u[0].value, waits.new()[0].value, copy[0].value) == (3, 2, 1)


def test_a_list_of_vectors_changes_in_place(engine: Counting):
    @gl.jit
    def walk(levels: list[Vector], A: Matrix) -> None:
        frontier = levels[0].dup()
        levels.pop()
        while frontier.nvals:
            levels.append(frontier.dup())
            frontier << any_secondi(frontier @ A)

    start = Vector.from_coo([2], [2], size=6)
    kept = Vector.from_coo([5], [5], size=6)
    levels = [start, kept]
    given = levels
    walk(levels, path())
    assert levels is given
    assert levels[0] is start
    assert [each.to_dict() for each in levels] == [{2: 2}, {2: 2}, {3: 2}, {4: 3}, {5: 4}]


def test_a_variable_that_python_leaves_without_a_value_has_no_value(engine: Counting):
    @gl.jit
    def last(u: Vector, rounds: int) -> int:
        for k in range(rounds):  # noqa: B007
            u << u.apply(binary.plus, right=1)
        return k  # pyright: ignore[reportPossiblyUnboundVariable]

    assert last(ones(), 3) == 2
    with pytest.raises(UnboundLocalError):
        last(ones(), 0)


def test_a_variable_may_have_no_value_before_the_loop(engine: Counting):
    @gl.jit
    def last(u: Vector, flag: bool) -> Any:
        if flag:
            found = 7
        for k in range(3):
            u << u.apply(binary.plus, right=1)
            if u[0].value == 100:
                found = k
        return found  # pyright: ignore[reportPossiblyUnboundVariable]

    assert last(ones(), True) == 7
    with pytest.raises(UnboundLocalError):
        last(ones(), False)


def test_a_variable_that_only_unreachable_statements_assign_keeps_its_value(engine: Counting):
    @gl.jit
    def add(u: Vector, k: int) -> tuple[Any, ...]:
        while u.nvals and not 6:
            u << u.apply(binary.plus, right=1)
            k += 1
        return u, k

    assert shown(add(ones(), 5)) == shown((ones(), 5))
    assert len(engine.programs) == 1


# --- errors --------------------------------------------------------------------------------------


def overflow(u: Vector) -> int:
    k = 1
    while True:
        u << u.apply(binary.plus, right=1)
        k = k * 2**20
        if u[0].value > 50:
            return k


def test_an_error_in_the_loop_names_the_users_line(engine: Counting):
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


def test_an_int_never_wraps(engine: Counting):
    with pytest.raises(OverflowError):
        gl.jit(overflow)(ones())


def check_positive(x: int) -> int:
    if x < 0:
        raise ValueError(f"{x} is negative")
    return x


def test_an_error_in_a_helper_is_raised_with_its_text(engine: Counting):
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


def test_a_statement_that_fails_raises_its_own_error(engine: Counting):
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


# --- refusals ------------------------------------------------------------------------------------


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
def test_a_refusal_names_the_place_and_the_reason(
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


def test_generators_and_coroutines_are_refused():
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


def test_a_generator_runs_as_python_with_fallback():
    def generator(u: Vector) -> Iterator[int]:
        for _ in range(3):
            u << u.apply(binary.plus, right=1)
            yield u[0].value

    with pytest.warns(UserWarning, match="generator"):
        jitted = gl.jit(generator, fallback=True)
    assert list(jitted(ones())) == [2, 3, 4]


def test_a_function_without_source_is_refused_by_name(engine: Counting):
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


def test_only_functions_are_accepted():
    with pytest.raises(TypeError, match="builtin_function"):
        gl.jit(len)


def test_without_an_engine_the_function_runs_as_python():
    with gl.config.set(device="cpu", compiled=False):
        u = ones()
        gl.jit(makes_a_dict)(u)
        assert u[0].value == 4


def test_an_outer_loop_in_python_has_one_warning(engine: Counting):
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


def test_fallback_runs_the_loop_as_python_and_warns_once(engine: Counting):
    jitted = gl.jit(makes_a_dict, fallback=True)
    u = ones()
    with pytest.warns(UserWarning, match="makes_a_dict") as caught:
        jitted(u)
    assert len(caught) == 1
    assert u[0].value == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jitted(u)


def test_a_refused_loop_is_refused_at_each_call(engine: Counting):
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


def test_a_loop_over_a_vector_of_an_object_is_refused(engine: Counting):
    with pytest.raises(NotCompilable, match=r"print\(self.u\)"):
        Holder().prints()


@pytest.mark.parametrize("x", [2**70, 0.5, True, 2**63 - 1, None])
def test_numbers_of_any_kind_pass_through_a_loop(engine: Counting, x: Any):
    def keep(u: Vector, x: Any) -> tuple[Any, ...]:
        for k in range(2):
            u << u.apply(binary.plus, right=k)
            if k > 5:
                x = 0
        return u, x

    assert shown(gl.jit(keep)(ones(), x)) == shown(keep(ones(), x))


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
def test_a_for_iterates_over_numbers(engine: Counting, items: Any):
    def add(u: Vector, items: Any) -> tuple[Any, ...]:
        total = 0.0
        for x in items:
            u << u.apply(binary.plus, right=1)
            total = total + float(x)
        return u, total

    assert shown(gl.jit(add)(ones(), items)) == shown(add(ones(), items))
    assert len(engine.programs) == 1


def test_a_loop_over_mixed_numbers_computes_the_same(engine: Counting):
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


def passes_an_expression(u: Vector, rounds: int) -> Any:
    for _ in range(rounds):
        late = u + u
        u << late
    try:
        for _ in range(rounds):
            late = u * 2
            u << late
        late = (u - 1).new()
        rounds = late.nvals
    except ValueError as error:
        return error
    return rounds


def test_a_variable_that_a_try_statement_assigns_first_is_not_live():
    check(passes_an_expression, ones, lambda: 2, runs=2)


# --- sources -------------------------------------------------------------------------------------

ENDINGS = {
    "a return": "    return 1\n",
    "statements that never run": "    return 1\n    x = 2\n    if x:\n        return 3\n",
    "a bracket at the left": "    return max(\n        1,\n        2,\n)\n",
    "a string at the left": '    return """\nleft\n"""\n',
    "a comment": "    return 1\n    # comment\n\n# another\n",
    "nothing": "    pass\n",
    "an inner function": "    def inner():\n        return 1\n\n        # comment\n",
    "a loop": "    while k:\n        k -= 1\n    else:\n        pass\n",
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("beginning", ["def f(k):\n", "@keep\ndef f(\n    k,\n):\n"])
@pytest.mark.parametrize("following", ["", "\nx = 1\n", "def g(k):\n    return 2\n"])
@pytest.mark.parametrize("depth", [0, 4])
def test_the_lines_of_a_function_are_found(
    tmp_path: Path, beginning: str, ending: str, following: str, depth: int
):
    text = textwrap.indent(beginning, " " * depth) + textwrap.indent(
        ENDINGS[ending], " " * depth, lambda line: line.startswith(" ")
    )
    text += textwrap.indent(following, " " * depth)
    file = tmp_path / "functions.py"
    before = "# first\ndef keep(f):\n    return f\n\n" + ("class C:\n" if depth else "")
    file.write_text(before + text)
    names: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    function = vars(names["C"])["f"] if depth else names["f"]
    found = source_of(function)
    wanted = inspect.getsource(function).rstrip("\n").splitlines()
    code = [line for line in found.lines if line.strip() and not line.lstrip().startswith("#")]
    assert code == [x for x in wanted if x.strip() and not x.lstrip().startswith("#")]
    assert found.first == inspect.getsourcelines(function)[1]
    lines = [x.lineno for x in ast.walk(found.node) if isinstance(x, ast.stmt)]
    assert min(lines) == found.first + beginning.startswith("@")


def test_a_function_whose_file_has_changed_is_refused(tmp_path: Path, engine: Counting):
    text = "def f(u):\n    k = 0\n    for _ in range(2):\n        k += u.nvals + 1\n    return k\n"
    functions = []
    for name in ("same.py", "changed.py"):
        file, names = tmp_path / name, {}
        file.write_text(text)
        exec(compile(text, str(file), "exec"), names)
        functions.append(gl.jit(names["f"]))
    file.write_text(text.replace("+ 1", "+ 20"))
    assert functions[0](ones()) == 14
    with pytest.raises(NotCompilable, match="whose file has changed since it was imported"):
        functions[1](ones())


# --- explanations --------------------------------------------------------------------------------


def test_explain_prints_the_program_and_changes_nothing(engine: Counting):
    u, v = ones(), ones()
    text = gl.jit(swap).explain(u, v, 3)  # pyright: ignore[reportFunctionMemberAccess]
    assert "swap" in text
    assert "u << u.apply(binary.plus, right=10)" in text
    assert "u, v = v, u (exchanged)" in text or "(exchanged)" in text
    assert shown([u, v]) == shown([ones(), ones()])


def test_explain_names_the_statement_for_which_a_loop_runs_as_python(engine: Counting):
    text = gl.jit(makes_a_dict).explain(ones())  # pyright: ignore[reportFunctionMemberAccess]
    assert 'found = {"k": k}' in text


def test_explain_shows_the_loops_on_a_cpu_and_how_vectors_are_stored():
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
def test_explain_works_where_loops_run_as_python(function: Callable[..., Any]):
    with gl.config.set(device="cpu", compiled=False):
        text = gl.jit(function).explain(ones())  # pyright: ignore[reportFunctionMemberAccess]
    assert "runs as Python" in text


def test_threads_may_call_one_function_at_the_same_time():
    search = gl.jit(bfs)

    def work(source: int) -> Any:
        with compiling():
            return [shown(search(path(n), source)) for n in range(4, 9)]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(4)))
    for source, results in enumerate(found):
        assert results == [shown(bfs(path(n), source)) for n in range(4, 9)]


def test_a_recorder_gets_the_rounds_of_the_loop(engine: Counting):
    search = gl.jit(bfs)
    with gl.Recorder() as recorder:
        search(path(), 0)
    assert any("bfs" in event.operation for event in recorder)


def test_import_graphla_does_not_import_the_compiler():
    text = "import sys, graphla; print(any('graphla.program' in name for name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_vectors_of_several_dtypes_and_scalars_pass_through(engine: Counting):
    def mixed(u: Vector, x: float, flag: bool, n: int) -> tuple[Any, ...]:
        for k in range(n):
            x = x * 2 + k
            flag = not flag
            u << u.apply(binary.plus, right=x)
        return u, x, flag, n, k  # pyright: ignore[reportPossiblyUnboundVariable]

    assert shown(gl.jit(mixed)(ones(6, float), 1.5, True, 3)) == shown(
        mixed(ones(6, float), 1.5, True, 3)
    )


def test_reductions_and_distances_agree(engine: Counting):
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


def test_a_chained_comparison_reads_an_operand_before_a_later_operand_assigns_it(engine: Counting):
    assert gl.jit(counts_chains)(ones(), 2) == counts_chains(ones(), 2) == 1


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
