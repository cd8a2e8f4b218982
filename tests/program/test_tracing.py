"""The tracer turns the loops of functions into programs with the library's dtypes and errors."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla import Matrix, Scalar, Vector, binary, monoid, replace, semiring, unary
from graphla.program import interpreter, ir, running
from graphla.program.checking import check
from graphla.program.flow import After, Loop, flatten
from graphla.program.reasons import NotCompilable, Reason
from graphla.program.running import Arguments, Binding, Outcome
from graphla.program.source import source_of
from graphla.program.tracing import trace
from graphla.semiring import any_secondi, plus_first
from semirings.dtypes import ALL, BOOL, FP64, INT64

pytestmark = pytest.mark.cpu

N = 5


@pytest.fixture(autouse=True)
def on_the_cpu() -> Any:
    with gl.config.set(device="cpu"):
        yield


def graph(dtype: Any = int) -> Matrix:
    """Return a graph with an edge to each vertex but the first."""
    values = np.asarray([1, 2, 3, 4], gl.dtypes.lookup_dtype(dtype).np_type)
    return Matrix.from_coo([0, 1, 1, 3], [1, 2, 3, 4], values, nrows=N, ncols=N)


def vector(dtype: Any = int) -> Vector:
    """Return a vector with two entries."""
    return Vector.from_coo([0, 2], [1, 1], dtype, size=N)


def loop_of(function: Callable[..., Any], names: dict[str, Any], always: frozenset[str]) -> Loop:
    """Return the steps of the first loop in a function."""
    node = next(
        each for each in ast.walk(source_of(function).node) if isinstance(each, ast.For | ast.While)
    )
    return flatten(node, function, names, After(always, frozenset(), False))


def traced(function: Callable[..., Any], *always: str, **names: Any) -> tuple[ir.Program, Binding]:
    """Trace the first loop of a function.

    `names` are the variables before the loop, and `always` the names that are read after it.
    """
    loop = loop_of(function, names, frozenset(always))
    outside = {name: home.find(names, [function]) for name, home in loop.outside.items()}
    program, binding = trace(loop, names | outside)
    check(program)
    return program, binding


def instructions(program: ir.Program, kind: Any = object) -> list[Any]:
    """Return the instructions of a class."""
    return [x for block in program.blocks for x in block.instructions if isinstance(x, kind)]


class Counting:
    """An interpreter that counts the programs that it runs."""

    runs = 0

    def run(self, program: ir.Program, arguments: Arguments) -> Outcome:
        check(program)
        self.runs += 1
        return interpreter.run(program, arguments)


def both(function: Callable[..., Any], *makers: Callable[[], Any], runs: int = 1) -> list[Any]:
    """Run a function in plain Python and with traced loops. Return the result if both agree.

    `runs` is the expected number of loops that run as programs.
    """
    results = []
    engine = Counting()
    for run in (function, gl.jit(function)):
        with running.use(engine):
            args = [make() for make in makers]
            try:
                found = shown(run(*args))
            except ArithmeticError as error:
                found = type(error)
            results.append([found, [shown(x) for x in args if isinstance(x, Vector)]])
    assert results[0] == results[1]
    assert engine.runs == runs
    return results[1][0]


def shown(value: Any) -> Any:
    if isinstance(value, Vector):
        return value.dtype.name, value.size, value.to_dict()
    if isinstance(value, tuple | list):
        return [shown(each) for each in value]
    return type(value), repr(value)


# --- programs -------------------------------------------------------------------------------------


def search(A: Matrix, parent: Vector, frontier: Vector) -> Vector:
    while frontier.nvals:
        frontier(~parent.S, replace) << any_secondi(frontier @ A)
        parent(frontier.S) << frontier
    return parent


def test_a_breadth_first_search_has_two_writes_per_round():
    program, _ = traced(search, A=graph(), parent=vector(), frontier=vector())
    product, record = instructions(program, ir.Write)
    assert product.replace
    assert product.source.semiring is any_secondi[INT64, INT64]
    assert product.mask == ir.NotMask(ir.MaskOf(record.target, False))
    assert record.source == ir.Entry(product.target)
    assert len(program.blocks) == 4


def powers(A: Matrix, x: Vector, y: Vector, rounds: int) -> Vector:
    for _ in range(rounds):
        x, y = y, x
        x << plus_first(y @ A)
    return x


def test_a_swap_of_two_vectors_becomes_one_move_between_their_slots():
    made = {"x": vector(float), "y": vector(float)}
    program, binding = traced(powers, "x", A=graph(float), **made, rounds=3)
    (move,) = instructions(program, ir.Move)
    assert set(move.targets) == set(program.inputs)
    assert len(binding.origins) == 2
    assert len(instructions(program, ir.Write)) == 1
    leaving = program.exits[0].names
    assert isinstance(leaving["x"], ir.Slot)
    assert {x for x in leaving.values() if isinstance(x, ir.Slot)} == set(program.inputs)


def steps(A: Matrix, rank: Vector, rounds: int) -> Vector:
    for _ in range(rounds):
        following = plus_first(rank @ A).new()
        rank = following
    return rank


def test_a_vector_created_in_each_round_needs_one_write_and_one_additional_slot():
    program, _ = traced(steps, "rank", A=graph(float), rank=vector(float), rounds=3)
    assert len(instructions(program, ir.Write)) == 1
    assert len(program.slots) == 2
    assert len(program.inputs) == 1


def growing(u: Vector, total: float, rounds: int) -> tuple[Vector, float]:
    for _ in range(rounds):
        total += 0.5
        u << u + 1
    return u, total


def test_a_round_that_turns_an_int_into_a_float_is_peeled_off_the_loop():
    program, _ = traced(growing, "total", u=vector(), total=1, rounds=3)
    assert len(instructions(program, ir.Write)) == 2
    dtypes = {leaving.names["total"].dtype for leaving in program.exits}
    assert dtypes == {INT64, FP64}
    assert both(growing, vector, lambda: 1, lambda: 0)[1] == (int, "1")
    assert both(growing, vector, lambda: 1, lambda: 3)[1] == (float, "2.5")


def layers(frontier: Vector, A: Matrix) -> list[Vector]:
    frontiers = []
    while frontier.nvals:
        frontiers.append(frontier.dup())
        frontier << any_secondi(frontier @ A)
    return frontiers


def test_a_list_of_vectors_becomes_a_stack():
    program, binding = traced(layers, "frontiers", frontier=vector(), A=graph(), frontiers=[])
    (stack,) = program.stacks
    assert (stack.name, stack.dtype) == ("frontiers", INT64)
    assert len(instructions(program, ir.Append)) == 1
    assert binding.stacks == (("frontiers",),)
    assert len(both(layers, vector, graph)) == 4


def backwards(u: Vector, levels: list[Vector]) -> Vector:
    for level in reversed(levels):
        u(binary.plus) << level
    for k in range(len(levels)):
        u(levels[k].S) << k
    while levels:
        u(binary.times) << levels.pop()
    return u


def test_a_loop_may_read_a_list_forwards_and_backwards_and_from_its_end():
    both(backwards, vector, lambda: [vector(), Vector.from_coo([1], [5], size=N)], runs=3)
    both(backwards, vector, list, runs=3)


def test_a_list_that_the_loop_creates_is_cleared_in_each_round():
    def many(u: Vector, rounds: int) -> Vector:
        for k in range(rounds):
            kept = []
            while len(kept) <= k:
                kept.append(u.dup())
                u << u + len(kept)
            u(binary.plus) << kept[-1]
        return u

    program, _ = traced(many, u=vector(), rounds=3)
    assert len(instructions(program, ir.ClearStack)) == 1
    both(many, vector, lambda: 3)


def halves(x: float, y: float) -> float:
    if y > 1:
        return x / y
    return x


def test_helper_functions_are_inlined():
    def shrink(u: Vector, y: float) -> Vector:
        for _ in range(2):
            u << halves(u.reduce().get(0), y)
        return u

    both(shrink, lambda: vector(float), lambda: 2.0)
    both(shrink, lambda: vector(float), lambda: 0.5)


def test_variables_keep_the_names_that_the_user_gave_them():
    program, _ = traced(growing, u=vector(), total=1, rounds=3)
    assert {"total", "total_float", "rounds"} <= {x.name for x in program.variables}
    assert {slot.name for slot in program.slots} == {"u"}
    assert all(x.line > 0 for x in instructions(program, ir.Write))


# --- aliases --------------------------------------------------------------------------------------


def test_two_names_of_a_vector_refer_to_the_same_slot():
    def alias(u: Vector, v: Vector) -> tuple[Vector, Vector, bool]:
        w = v
        for k in range(3):
            w << u + k
            w = u
        return u, v, w is u

    assert both(alias, vector, vector)[2] == (bool, "True")


def test_the_same_vector_may_be_passed_as_two_arguments():
    def add(u: Vector, v: Vector) -> Vector:
        for _ in range(2):
            u << u + v
        return v

    one = vector()
    with running.use(interpreter):
        assert gl.jit(add)(one, one).to_dict() == {0: 4, 2: 4}


def test_an_expression_uses_the_entries_that_its_operands_had_when_the_expression_was_created():
    def keep(u: Vector, v: Vector) -> tuple[Vector, Vector]:
        for k in range(3):
            before = u + k
            mask = ~u.S & ~v.S
            u << u * 2
            u[1] = 7
            v(mask) << 3
            v(u.S) << before
        return u, v

    both(keep, vector, lambda: Vector(int, N))


def test_a_mask_reflects_later_changes_of_its_vector():
    def view(u: Vector, v: Vector) -> Vector:
        for k in range(3):
            mask = ~u.S
            u[k] = k
            v(mask, binary.plus) << 1
        return v

    both(view, vector, vector)


def test_an_unnamed_vector_keeps_the_entries_written_to_it():
    def drop(u: Vector, v: Vector) -> Vector:
        for k in range(3):
            u << u + 1
            if k == 1:
                u = v.dup()
        return u

    both(drop, vector, vector)


# --- dtypes ---------------------------------------------------------------------------------------

DTYPES = st.sampled_from(ALL)
BINARY = st.sampled_from(
    [
        "plus",
        "minus",
        "times",
        "truediv",
        "floordiv",
        "min",
        "max",
        "first",
        "second",
        "pair",
        "eq",
        "lt",
        "ge",
        "lor",
        "land",
        "pow",
        "any",
    ]
)
UNARY = st.sampled_from(["abs", "ainv", "minv", "one", "identity", "lnot", "sqrt", "exp"])
SEMIRINGS = st.sampled_from(
    ["plus_times", "min_plus", "max_first", "any_secondi", "any_pair", "plus_pair", "lor_land"]
)
NUMBERS = st.sampled_from([True, 2, -1, 1.5, 300])


def agree(statement: Callable[[], Any], function: Callable[..., Any], **names: Any) -> None:
    """Check that the new vector w has the same dtype in a traced loop and in Python.

    If the statement fails in Python, tracing the loop must fail as well.
    """
    try:
        wanted = statement()
        wanted = wanted.dtype
    except (TypeError, ValueError, OverflowError) as error:
        with pytest.raises(NotCompilable) as caught:
            traced(function, **names)
        assert caught.value.code is Reason.FAILS
        assert type(error).__name__ in str(caught.value)
        return
    program, _ = traced(function, **names)
    assert [slot.dtype for slot in program.slots if slot.name == "w"] == [wanted]


@given(DTYPES, DTYPES, BINARY, st.booleans())
def test_elementwise_expressions_have_the_same_dtypes_as_in_the_library(
    x: Any, y: Any, name: str, on_union: bool
):
    op = getattr(binary, name)

    def union(u: Vector, v: Vector, op: Any) -> Vector:
        while True:
            w = op(u | v).new()
            w.clear()
            return w

    def intersection(u: Vector, v: Vector, op: Any) -> Vector:
        while True:
            w = op(u & v).new()
            w.clear()
            return w

    u, v = vector(x), vector(y)
    if on_union:
        agree(lambda: op(u | v), union, u=u, v=v, op=op)
    else:
        agree(lambda: op(u & v), intersection, u=u, v=v, op=op)


@given(DTYPES, NUMBERS, BINARY, st.booleans())
def test_apply_with_a_number_has_the_same_dtype_as_in_the_library(
    x: Any, k: Any, name: str, is_left: bool
):
    op = getattr(binary, name)

    def left(u: Vector, op: Any, k: Any) -> Vector:
        while True:
            w = op(k, u).new()
            w.clear()
            return w

    def right(u: Vector, op: Any, k: Any) -> Vector:
        while True:
            w = op(u, k).new()
            w.clear()
            return w

    u = vector(x)
    # The number is a variable of the program, so whether it fits is only known at run time.
    small: Any = type(k)(1)
    if is_left:
        agree(lambda: op(small, u), left, u=u, op=op, k=k)
    else:
        agree(lambda: op(u, small), right, u=u, op=op, k=k)


@given(DTYPES, UNARY)
def test_apply_has_the_same_dtype_as_in_the_library(x: Any, name: str):
    op = getattr(unary, name)

    def apply(u: Vector, op: Any) -> Vector:
        while True:
            w = op(u).new()
            w.clear()
            return w

    u = vector(x)
    agree(lambda: op(u), apply, u=u, op=op)


@given(DTYPES, DTYPES, SEMIRINGS, st.sampled_from(["u @ A", "A @ u", "A.T @ u", "u.vxm", "A.mxv"]))
def test_products_have_the_same_dtypes_as_in_the_library(x: Any, y: Any, name: str, how: str):
    op = getattr(semiring, name)

    def row(u: Vector, A: Matrix, op: Any) -> Vector:
        while True:
            w = op(u @ A).new()
            w.clear()
            return w

    def column(u: Vector, A: Matrix, op: Any) -> Vector:
        while True:
            w = op(A @ u).new()
            w.clear()
            return w

    def transposed(u: Vector, A: Matrix, op: Any) -> Vector:
        while True:
            w = op(A.T @ u).new()
            w.clear()
            return w

    def vxm(u: Vector, A: Matrix, op: Any) -> Vector:
        while True:
            w = u.vxm(A, op).new()
            w.clear()
            return w

    def mxv(u: Vector, A: Matrix, op: Any) -> Vector:
        while True:
            w = A.mxv(u, op).new()
            w.clear()
            return w

    u, A = vector(x), graph(y)
    plain: dict[str, tuple[Callable[[], Any], Callable[..., Any]]] = {
        "u @ A": (lambda: op(u @ A), row),
        "A @ u": (lambda: op(A @ u), column),
        "A.T @ u": (lambda: op(A.T @ u), transposed),
        "u.vxm": (lambda: u.vxm(A, op), vxm),
        "A.mxv": (lambda: A.mxv(u, op), mxv),
    }
    statement, function = plain[how]
    agree(statement, function, u=u, A=A, op=op)


@given(DTYPES, st.sampled_from(["plus", "times", "min", "max", "lor", "any"]))
def test_reductions_return_numbers_of_the_same_type_as_in_the_library(x: Any, name: str):
    def reduce(u: Vector, op: Any) -> Any:
        while True:
            s = u.reduce(op).value
            u.clear()
            return s

    op = getattr(monoid, name)
    try:
        value = vector(x).reduce(op).value
    except TypeError:
        return
    program, _ = traced(reduce, u=vector(x), op=op)
    (instruction,) = instructions(program, ir.Reduce)
    assert instruction.variable.dtype is {bool: BOOL, int: INT64, float: FP64}[type(value)]


# --- scalars --------------------------------------------------------------------------------------

EDGES = [0, 1, -1, 3, -7, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, True, False]
FLOATS = [0.0, -0.0, 0.5, -2.5, 3.0, 2.0**53, 2.0**63, -(2.0**63), math.inf, -math.inf, math.nan]


def compared(u: Vector, x: Any, y: Any) -> tuple[Any, ...]:
    a = b = c = d = e = f = False
    for _ in range(1):
        u[0] = 1
        a, b, c, d, e, f = x < y, x <= y, x == y, x != y, x > y, x >= y
    return a, b, c, d, e, f


@given(st.sampled_from([*EDGES, *FLOATS]), st.sampled_from([*EDGES, *FLOATS]))
def test_numbers_are_compared_exactly(x: Any, y: Any):
    both(compared, vector, lambda: x, lambda: y)


def calculated(u: Vector, x: Any, y: Any) -> tuple[Any, ...]:
    a = b = c = d = e = f = None
    for _ in range(1):
        u[0] = 1
        a, b, c, d = x + y, x - y, x * y, max(x, y)
        e, f = (x // y, x % y) if y else (x, y)
    return a, b, c, d, e, f


small = st.one_of(st.integers(-(2**30), 2**30), st.floats(-1e9, 1e9), st.booleans())


@given(small, small)
def test_arithmetic_follows_the_rules_of_python(x: Any, y: Any):
    both(calculated, vector, lambda: x, lambda: y)


def functions(u: Vector, x: Any, k: int) -> tuple[Any, ...]:
    while True:
        u[0] = 1
        a, b, c, d = int(x), round(x), abs(x), -x
        e, f, g = math.floor(x), math.sqrt(abs(x)), math.atan2(x, 2)
        h, i, j = x**2, 2**k, bool(x)
        return a, b, c, d, e, f, g, h, i, j


@given(small, st.integers(-3, 5))
def test_functions_of_numbers_return_the_same_values_as_in_python(x: Any, k: int):
    both(functions, vector, lambda: x, lambda: k)


def test_get_returns_none_for_a_missing_entry():
    def read(u: Vector) -> tuple[Any, ...]:
        x = y = z = None
        for k in range(2):
            x = u.get(1)
            y = u[k].value
            z = u.get(1) is None
        return x, y, z

    assert both(read, vector) == [(type(None), "None"), (type(None), "None"), (bool, "True")]


def test_the_default_of_get_may_have_a_different_type_from_the_entries():
    def least(u: Vector) -> Any:
        k = 0
        for _ in range(1):
            k = u.reduce(monoid.min).get(math.inf)
        return k

    assert both(least, vector) == (int, "1")
    assert both(least, lambda: Vector(int, N)) == (float, "inf")


def test_an_int_that_does_not_fit_in_the_dtype_raises_a_fault():
    def assign(u: Vector, k: int) -> Vector:
        for _ in range(1):
            u << u + k
        return u

    both(assign, lambda: vector("INT8"), lambda: 100)
    for function in (assign, gl.jit(assign)):
        with running.use(interpreter), pytest.raises(OverflowError, match="INT8"):
            function(vector("INT8"), 300)


# --- spellings ------------------------------------------------------------------------------------


def test_all_equivalent_forms_of_a_statement_give_the_same_results_as_in_plain_python():
    def every(A: Matrix, u: Vector, v: Vector, p: Vector) -> tuple[Any, ...]:
        n, count, s = A.nrows, 0, 0
        w = x = q = y = u
        for k in range(2):
            w = Vector(int, n)
            w[:] = k
            w(u.S, replace=True) << w + 1
            w(mask=v.V, accum="plus") << u
            w(binary.plus)[k] << 5
            w << w.ewise_add(u, "max")
            w << w.ewise_union(v, binary.minus, 0, k)
            w(~v.S & ~u.S) << unary.abs(-w)
            w << gl.select.value(w > -100)
            w << w.select(w < 100)
            w << w.select(u.S | v.S)
            w(binary.min) << A.mxv(u, "min_plus")
            x = binary.plus(u | v, left_default=k, right_default=1).new(dtype=float)
            x += 1
            x << x.apply("times", 2)
            q = p[p].new()
            q(binary.plus)[p] << u.dup(mask=u.S)
            y = (~u.S).new()
            del w[k]
            count += w.nvals + (1 in u) + int(u.isequal(v)) + w.size
            s += u.inner(v, semiring.plus_times).get(0) + A.reduce_rowwise("plus").nvals
            s += float(u.reduce(gl.agg.sum).get(0)) + w.reduce(gl.agg.count).value
            u, v = v, u
        return u, v, w, x, q, y, count, s

    indices = lambda: Vector.from_dense([1, 0, 3, 2, 1])  # noqa: E731
    both(every, graph, vector, lambda: Vector.from_coo([0, 1], [4, 5], size=N), indices)


def test_graphla_scalars_and_numpy_scalars_may_be_operands():
    def scale(u: Vector, s: Any, k: Any) -> Vector:
        for _ in range(2):
            u << u * s
            u(binary.plus) << k
            u << binary.minus(u, u.reduce())
        return u

    both(scale, lambda: vector(float), lambda: Scalar.from_value(2), lambda: np.int16(3))


# --- refusals -------------------------------------------------------------------------------------


def refused(function: Callable[..., Any], **names: Any) -> tuple[Any, str]:
    """Return why a loop is rejected, and the source text of the code that is at fault."""
    with pytest.raises(NotCompilable) as caught:
        traced(function, **names)
    return caught.value.code, ast.unparse(caught.value.node)


def test_the_error_about_a_rejected_loop_names_the_reason_and_the_place():
    def matrix_result(A: Matrix, u: Vector) -> None:
        for _ in range(2):
            u << (A @ A).reduce_rowwise()

    def matrix_mask(A: Matrix, u: Vector) -> None:
        for _ in range(2):
            u(A.S) << 1

    def attribute(A: Matrix, u: Vector) -> None:
        for _ in range(2):
            u << u.reposition(1)

    def dictionary(A: Matrix, u: Vector) -> None:
        for _ in range(2):
            u[0] = len({})

    def shared(A: Matrix, u: Vector) -> None:
        kept = []
        for _ in range(2):
            kept.append(u)
            u << u + 1

    def scalar(A: Matrix, u: Vector) -> None:
        for _ in range(2):
            u << u.reduce() + 1

    names: dict[str, Any] = {"A": graph(), "u": vector()}
    assert refused(matrix_result, **names) == (Reason.MATRIX_RESULT, "A @ A")
    assert refused(matrix_mask, **names) == (Reason.OPERATION, "A.S")
    assert refused(attribute, **names) == (Reason.OPERATION, "u.reposition(1)")
    assert refused(dictionary, **names) == (Reason.SYNTAX, "{}")
    assert refused(shared, **names, kept=[])[0] is Reason.SHARED
    assert refused(scalar, **names) == (Reason.OPERATION, "u.reduce() + 1")


def test_a_statement_that_always_fails_is_rejected_with_the_error_of_the_library():
    def sizes(u: Vector, v: Vector) -> None:
        for _ in range(2):
            u << u + v

    def comparison(u: Any, v: Vector) -> None:
        while u:
            u << u + 1

    names = {"u": vector(), "v": Vector(int, N + 1)}
    for function, text in ((sizes, "size 5"), (comparison, "neither true nor false")):
        with pytest.raises(NotCompilable, match=text) as caught:
            traced(function, **names)
        assert caught.value.code is Reason.FAILS


# --- variables without value ----------------------------------------------------------------------


def test_reading_a_variable_without_a_value_raises_a_fault():
    def unbound(u: Vector, rounds: int) -> Vector:
        for k in range(rounds):
            if k == 2:
                u[1] = found  # noqa: F821  # pyright: ignore[reportPossiblyUnboundVariable]
            if k == 3:
                found = 1  # noqa: F841
            u << u + 1
        return u

    both(unbound, vector, lambda: 2)
    u = vector()
    with running.use(interpreter), pytest.raises(UnboundLocalError, match="'found'"):
        gl.jit(unbound)(u, 3)
    assert u.to_dict() == {0: 3, 2: 3}


def test_a_loop_body_is_traced_once_if_each_variable_is_assigned_before_it_is_read():
    def last(u: Vector, rounds: int) -> tuple[Vector, Any, Any]:
        for k in range(rounds):
            before = u.dup()
            u << u + k
            change = u.reduce().get(0) - before.reduce().get(0)
        return before, change, k  # pyright: ignore[reportPossiblyUnboundVariable]

    names = {"u": vector(), "rounds": 3}
    program, _ = traced(last, "before", "change", "k", **names)
    assert len(instructions(program, ir.Write)) == 2
    both(last, vector, lambda: 3)
    for function in (last, gl.jit(last)):
        with running.use(interpreter), pytest.raises(UnboundLocalError, match="'before'"):
            function(vector(), 0)


def test_a_loop_with_too_many_combinations_of_dtypes_is_rejected():
    def mix(u: Vector) -> Vector:
        a = b = c = d = e = 1
        for k in range(9):
            if k == 1:
                a = 1.5
            if k == 2:
                b = 1.5
            if k == 3:
                c = 1.5
            if k == 4:
                d = 1.5
            if k == 5:
                e = 1.5
            u << u + a + b + c + d + e
        return u

    with pytest.raises(NotCompilable, match="dtype INT64 in one round") as caught:
        traced(mix, u=vector(), a=1, b=1, c=1, d=1, e=1)
    assert caught.value.code is Reason.DTYPE
