"""Names in a loop under `gl.jit` have the same values as in Python."""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from jitting import Counting, check, compiling, ones, path, shown, swap

import graphla as gl
from graphla import Matrix, Vector, binary, monoid, semiring
from graphla.exceptions import NotCompilable
from graphla.program import interpreter, running
from graphla.semiring import any_secondi

pytestmark = pytest.mark.cpu


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


def test_global_variables_are_read_again_at_each_call(
    engine: Counting, monkeypatch: pytest.MonkeyPatch
):
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
def test_items_of_objects_outside_the_function_are_read_again_at_each_call(
    engine: Counting, name: str
):
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


def test_calls_with_equal_anonymous_operators_share_a_program(engine: Counting):
    @gl.jit
    def add(u: Vector, by: int) -> Vector:
        op = binary.register_anonymous(lambda x, y: x + 2 * y)
        for _ in range(2):
            u << u.apply(op, right=by)
        return u

    assert add(ones(), 1)[0].value == 5
    assert add(ones(), 2)[0].value == 9
    assert engine.programs[0] is engine.programs[1]


def test_operators_whose_functions_capture_different_numbers_are_distinguished(engine: Counting):
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


def test_a_loop_compiles_although_one_statement_fails_for_some_argument_values():
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
def test_an_invalid_size_of_a_new_vector_raises_the_same_error_as_in_python(size: Any):
    def make(u: Vector, m: Any) -> Vector:
        for _ in range(2):
            u = Vector(int, m)
        return u

    for function in (make, gl.jit(make)):
        with running.use(interpreter), pytest.raises((TypeError, gl.exceptions.InvalidValue)):
            function(ones(), size)


# --- numbers that may be an int or a float -------------------------------------------------------


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
def test_the_default_of_a_reduction_keeps_its_type(function: Any, rounds: int):
    check(function, lambda: ones(dtype=float), lambda: rounds)
    check(function, lambda: Vector(float, 6), lambda: rounds)


# --- objects -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", range(5))
def test_names_refer_to_the_same_objects_as_in_python(engine: Counting, rounds: int):
    u, v = ones(), ones()
    x, y = gl.jit(swap)(u, v, rounds)
    a, b = ones(), ones()
    c, d = swap(a, b, rounds)
    assert ((x is u), (y is v)) == ((c is a), (d is b))
    assert ((x is v), (y is u)) == ((c is b), (d is a))
    assert shown([u, v]) == shown([a, b])


def test_two_names_of_one_vector_still_refer_to_the_same_vector_after_the_loop(engine: Counting):
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


def test_a_vector_created_in_the_loop_is_a_new_object(engine: Counting):
    @gl.jit
    def add(u: Vector) -> Vector:
        for _ in range(2):
            u = u.apply(binary.plus, right=1).new()
        return u

    u = ones()
    assert add(u) is not u
    assert (u[0].value, add(u)[0].value) == (1, 3)


def test_an_unnamed_vector_keeps_the_entries_written_to_it(engine: Counting):
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


def test_expressions_and_copies_created_before_the_loop_keep_their_values(engine: Counting):
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


def test_a_variable_without_a_value_in_python_has_no_value_after_a_compiled_loop(engine: Counting):
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


@pytest.mark.parametrize("x", [2**70, 0.5, True, 2**63 - 1, None])
def test_numbers_of_any_type_pass_through_a_loop(engine: Counting, x: Any):
    def keep(u: Vector, x: Any) -> tuple[Any, ...]:
        for k in range(2):
            u << u.apply(binary.plus, right=k)
            if k > 5:
                x = 0
        return u, x

    assert shown(gl.jit(keep)(ones(), x)) == shown(keep(ones(), x))


def test_vectors_and_scalars_of_several_dtypes_pass_through_a_loop(engine: Counting):
    def mixed(u: Vector, x: float, flag: bool, n: int) -> tuple[Any, ...]:
        for k in range(n):
            x = x * 2 + k
            flag = not flag
            u << u.apply(binary.plus, right=x)
        return u, x, flag, n, k  # pyright: ignore[reportPossiblyUnboundVariable]

    assert shown(gl.jit(mixed)(ones(6, float), 1.5, True, 3)) == shown(
        mixed(ones(6, float), 1.5, True, 3)
    )


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


def test_a_variable_that_a_later_try_statement_assigns_before_reading_is_not_live_after_a_loop():
    check(passes_an_expression, ones, lambda: 2, runs=2)


# --- lists of vectors ----------------------------------------------------------------------------


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


def test_a_program_traced_for_two_lists_is_not_reused_if_both_arguments_are_the_same_list():
    u, one = Vector.from_coo([0, 2], [1, 5], size=4), []
    jitted = gl.jit(append_to_both, fallback=True)
    with compiling(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jitted(u.dup(), [], [])
        found = jitted(u.dup(), one, one)
    wanted: list[Vector] = []
    assert found.isequal(append_to_both(u.dup(), wanted, wanted))
    assert [x.to_dict() for x in one] == [x.to_dict() for x in wanted]


def test_a_list_that_contains_a_vector_twice_gives_the_same_result_as_in_python():
    def make(order: tuple[int, ...]) -> list[Vector]:
        vectors = [Vector.from_coo([0, 2], [k, 3 * k], size=4) for k in range(1, 4)]
        return [vectors[k] for k in order]

    with compiling():
        jitted = gl.jit(popped)
        for order in ((0, 1, 2), (0, 1, 0, 2, 2), (1, 1, 1), (2, 0)):
            total = Vector.from_coo([0, 2], [7, 7], size=4)
            found = jitted(make(order), total.dup())
            assert found.isequal(popped(make(order), total.dup()))
