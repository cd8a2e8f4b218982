"""Test that rare combinations of statements give the same results with and without `gl.jit`.

Each program runs in the interpreter, and in plain Python as the module generated for Numba.
"""

# pyright: reportPossiblyUnboundVariable=false
from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import graphla as gl
from graphla import Matrix, Vector, binary, monoid, replace, semiring
from graphla.backends.cpu.program import ProgramTuning
from graphla.backends.tuning import using
from graphla.exceptions import NotCompilable
from graphla.program import interpreter, running
from graphla.program.ir import Program
from graphla.program.reasons import Reason
from graphla.program.running import Arguments, Outcome

pytestmark = pytest.mark.cpu


class Printed:
    """An engine that runs the module generated for Numba in plain Python, with the given tuning."""

    def __init__(self, tuning: ProgramTuning):
        self.tuning = tuning

    def run(self, program: Program, arguments: Arguments) -> Outcome:
        with using(self.tuning):
            return cpu.run(program, arguments, plain_numba.load)


ENGINES: list[Any] = [interpreter]
if find_spec("numba") is not None:
    import plain_numba

    from graphla.program import cpu

    # The tunings make each statement visit lists of entries, or all indices.
    ENGINES += [Printed(ProgramTuning()), Printed(ProgramTuning(sparse=0, near=0, listed=0))]


def u() -> Vector:
    return Vector.from_dict({0: 1, 2: 5, 3: -2}, size=6)


def w() -> Vector:
    return Vector.from_dict({1: 7, 2: 3, 5: 4}, size=6)


def show(value: Any, seen: dict[int, int]) -> Any:
    """Return a comparable value. For a vector, it contains the index of the object in `seen`."""
    if isinstance(value, Vector):
        number = seen.setdefault(id(value), len(seen))
        return number, value.dtype, value.size, repr(value.to_dict())
    if isinstance(value, (tuple, list)):
        return type(value), [show(each, seen) for each in value]
    return type(value), repr(value)


def call(function: Callable[..., Any], args: list[Any]) -> Any:
    """Return the result or the exception of a call, and its arguments after the call."""
    seen: dict[int, int] = {}
    try:
        found = show(function(*args), seen)
    except NotCompilable:
        raise
    except Exception as error:
        found = type(error), str(error)
    return found, show(args, seen)


def check(function: Callable[..., Any], *calls: list[Callable[[], Any]]) -> None:
    """Compare calls of a function with calls of the same function under `gl.jit`."""
    for engine in ENGINES:
        with gl.config.set(device="cpu"), running.use(engine), warnings.catch_warnings():
            warnings.simplefilter("error")
            jitted = gl.jit(function)
            for makers in calls:
                expected = call(function, [make() for make in makers])
                assert call(jitted, [make() for make in makers]) == expected


def check_refusal(reason: Reason, function: Callable[..., Any], *makers: Callable[[], Any]) -> None:
    """Check that a loop is rejected for this reason, and runs as Python with `fallback=True`."""
    with gl.config.set(device="cpu"), running.use(interpreter):
        with pytest.raises(NotCompilable) as caught:
            gl.jit(function)(*(make() for make in makers))
        assert caught.value.code is reason
        expected = call(function, [make() for make in makers])
        with pytest.warns(UserWarning, match="runs as Python"):
            found = call(gl.jit(function, fallback=True), [make() for make in makers])
        assert found == expected


# --- variables without a value --------------------------------------------------------------------


def test_a_variable_that_the_loop_deletes_has_no_value_after_the_loop():
    def delete(u: Vector) -> Any:
        x = 3
        for i in range(3):
            u[i] = x
            if i == 2:
                del x
        return u, x

    check(delete, [u])


def test_a_new_name_for_an_argument_refers_to_the_same_object_after_the_loop():
    def rename(u: Vector) -> Any:
        for i in range(3):
            u[i] = i if i % 2 else -i
            v = u
        v[5] = 3
        return v is u, u, v

    check(rename, [u])


# --- lists of vectors -----------------------------------------------------------------------------


def test_a_loop_that_changes_a_vector_in_a_list_is_rejected():
    def change(u: Vector) -> Any:
        items = [u]
        for i in range(3):
            u[i] = items[0].nvals
        return items, u

    check_refusal(Reason.SHARED, change, u)


def test_a_loop_that_pops_a_vector_from_a_list_and_appends_it_again_is_rejected():
    def move(u: Vector, w: Vector) -> Any:
        items = [u, w]
        for _ in range(3):
            x = items.pop()
            items.append(x)
        return items, items[-1] is w

    check_refusal(Reason.SHARED, move, u, w)


def test_a_loop_that_changes_a_popped_vector_that_a_second_name_refers_to_is_rejected():
    def change(u: Vector) -> Any:
        items, found = [], 0
        for i in range(3):
            v = u.dup()
            items.append(v)
            x = items.pop()
            x[0] = i + 50
            found += v.get(0)  # pyright: ignore[reportOperatorIssue]
        return found

    check_refusal(Reason.SHARED, change, u)


def test_a_loop_that_appends_an_argument_to_a_list_is_rejected():
    def append(u: Vector) -> Any:
        items = []
        for _ in range(3):
            items.append(u)
        return items[0] is u, items

    check_refusal(Reason.SHARED, append, u)


def test_a_loop_that_appends_the_same_vector_twice_is_rejected():
    def append(u: Vector) -> Any:
        items = []
        for _ in range(3):
            v = u.dup()
            items.append(v)
            items.append(v)
        return items[0] is items[1], items

    check_refusal(Reason.SHARED, append, u)


def test_a_loop_that_compares_list_items_by_identity_is_rejected():
    def compare(u: Vector, w: Vector) -> Any:
        items, found = [u, w, u], 0
        for i in range(3):
            x, y = items[0], items[i]
            if x is y:
                found += 1
        return found

    check_refusal(Reason.OPERATION, compare, u, w)


# --- objects whose content changes between calls --------------------------------------------------


def constant(value: Any) -> Callable[[], Any]:
    return lambda: value


def first(u: Vector, items: Any) -> Any:
    for i in range(2):
        u[i] = items[0]
    return u


def test_each_call_reads_the_items_of_a_global_tuple_again():
    check(first, [u, constant((1, 2.5))], [u, constant((7, 2.5))], [u, constant((7.5, 2))])
    check(first, [u, constant((1, (2, 3)))], [u, constant((7, (2, 3)))])
    check(first, [u, constant((1, 2**70))], [u, constant((7, 2**70))])


@pytest.mark.parametrize(
    "items", [[1, 2.5], {0: 1, 1: 2.5}, [True, None], {0: 1, "a": [2]}], ids=str
)
def test_each_call_reads_the_content_of_an_object_again(items: Any):
    def total(u: Vector, items: Any) -> Any:
        for i in range(len(items)):
            u[i] = items[0]
        return u

    def is_filled(u: Vector, items: Any) -> Any:
        for i in range(2):
            if items:
                u[i] = 4
        return u

    for function in (total, is_filled):
        for engine in ENGINES:
            with gl.config.set(device="cpu"), running.use(engine):
                changed = items.copy()
                jitted = gl.jit(function)
                for value in (1, 4, 4.0, True):
                    changed[0] = value
                    assert call(jitted, [u(), changed]) == call(function, [u(), changed])
                changed.clear()
                assert call(jitted, [u(), changed]) == call(function, [u(), changed])


def test_each_call_reads_the_attributes_of_a_tuple_item_again():
    item = SimpleNamespace(n=3)

    def read(u: Vector, items: Any) -> Any:
        for i in range(2):
            u[i] = items[-2].n
        return u

    for engine in ENGINES:
        with gl.config.set(device="cpu"), running.use(engine):
            jitted = gl.jit(read)
            for item.n in (3, 5, 2.5):
                assert call(jitted, [u(), (item, 1)]) == call(read, [u(), (item, 1)])


def test_objects_that_define_their_own_truth_value_are_rejected():
    class Changing:
        count = 0

        def __bool__(self) -> bool:
            self.count += 1
            return self.count > 1

        def __repr__(self) -> str:
            return f"{self.count}"

    def test(u: Vector, x: Any) -> Any:
        for i in range(2):
            if x:
                u[i] = 4
        return u

    check_refusal(Reason.PYTHON_OBJECT, test, u, Changing)


def test_a_loop_that_reads_a_vector_from_a_tuple_is_rejected():
    def read(u: Vector, w: Vector) -> Any:
        both = (u, w)
        for _ in range(2):
            w << both[0] + both[1]
        return w

    check_refusal(Reason.PYTHON_OBJECT, read, u, w)


# --- masks created before the loop ---------------------------------------------------------------


def complement(u: Vector, w: Vector) -> Any:
    mask = ~u.S
    for i in range(3):
        w(mask) << i
        u[i] = i
    return u, w


def of_expression(u: Vector, w: Vector) -> Any:
    mask = (u + w).S
    for i in range(3):
        w(mask) << i
        u[i] = i
        mask = ~mask
    return u, w


def of_target(u: Vector, w: Vector) -> Any:
    mask, other = w.S, u.V
    for i in range(3):
        w(~mask & other) << i
        del w[i]
        mask, other = other, mask
    return u, w


@pytest.mark.parametrize("function", [complement, of_expression, of_target])
def test_a_mask_created_before_the_loop_selects_the_same_indices_as_in_python(
    function: Callable[..., Any],
):
    check(function, [u, w])


def test_a_mask_may_be_an_argument_of_a_compiled_function():
    def write(u: Vector, mask: Any) -> Any:
        for i in range(2):
            u(mask) << i
        return u

    x = w()
    masks = [x.S, x.V, ~x.S, x.S | ~x.V]
    check(write, *([u, constant(mask)] for mask in masks))


# --- casts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["INT8", "UINT16", "INT32", "INT64", "UINT64"])
def test_a_float_outside_the_range_of_an_integer_dtype_is_clipped(dtype: str):
    values = [float("nan"), float("inf"), -1.5, 1e300, -1e300, 70000.9, -0.0]

    def cast(x: Vector, y: Vector) -> Any:
        for _ in range(1):
            y(binary.plus) << x
            z = x.dup(dtype=y.dtype)
        return y, z

    def floats() -> Vector:
        return Vector.from_coo(range(7), values, size=7)

    def integers() -> Vector:
        return Vector(dtype, 7)

    check(cast, [floats, integers])
    limits = np.iinfo(integers().dtype.np_type)
    expected = [0 if x != x else int(min(max(x, limits.min), limits.max)) for x in values]
    with gl.config.set(device="cpu"):
        assert list(floats().dup(dtype=dtype).to_dict().values()) == expected
        for value, cast_value in zip(values, expected, strict=True):
            x = integers()
            x[2] << gl.Scalar.from_value(value)
            assert x[2].value == cast_value


# --- functions ------------------------------------------------------------------------------------


def countdown(u: Vector, k: int) -> Vector:
    for i in range(k):
        u[i] = k
    return countdown(u, k - 1) if k else u


class Base:
    count = 4

    def write(self, u: Vector) -> Any:
        return u


class Derived(Base):
    count = 3

    def write(self, u: Vector) -> Any:
        for i in range(Derived.count):
            u[i] = Derived.count
        return super().write(u)


def test_a_function_may_refer_to_itself_or_its_class():
    check(countdown, [u, lambda: 3])
    with gl.config.set(device="cpu"), running.use(interpreter):
        assert gl.jit(Derived.write)(Derived(), u()).to_dict() == Derived().write(u()).to_dict()


def test_inner_functions_keep_their_qualified_names():
    def outer(u: Vector) -> Any:
        for i in range(2):
            u[i] = 1

        class Inner:
            pass

        def inner() -> None: ...

        return Inner.__qualname__, inner.__qualname__

    check(outer, [u])


def test_a_comparison_of_vector_sizes_is_evaluated_before_the_program_runs():
    def write(u: Vector, w: Vector) -> Vector:
        for _ in range(2):
            u << (w if u.size == w.size else u)
        return u

    check(write, [u, w], [u, lambda: Vector(int, 7)])


def test_a_loop_may_convert_a_constant_string_to_a_number():
    def write(u: Vector, least: Any) -> Any:
        best = float("inf")
        for i in range(3):
            best = min(best, u.get(i, float("inf")), float(least))
            u[i] = int("7")
        return u, best, float("nan")

    check(write, [u, lambda: "3.5"], [u, lambda: "-2"], [u, lambda: "inf"])


class Scaled:
    factor = 9

    def __init__(self, factor: int):
        self.factor = factor

    def scale(self, x: Vector) -> Any:
        return x * self.factor

    @classmethod
    def scale_by_class(cls, x: Vector) -> Any:
        return x * cls.factor


def test_a_bound_method_of_another_object_is_rejected():
    def call_it(u: Vector, scale: Any) -> Any:
        for _ in range(2):
            u << scale(u)
        return u

    def call_attribute(u: Vector, item: Any) -> Any:
        for _ in range(2):
            u << item.scale(u)
        return u

    def call_by_class(u: Vector, item: Any) -> Any:
        for _ in range(2):
            u << item.scale_by_class(u)
        return u

    other: Any = Scaled(2)
    other.scale = Scaled(3).scale
    check_refusal(Reason.CALL, call_it, u, lambda: Scaled.scale_by_class)
    check_refusal(
        Reason.CALL, call_attribute, u, lambda: SimpleNamespace(scale=Scaled.scale_by_class)
    )
    check_refusal(
        Reason.CALL, call_by_class, u, lambda: SimpleNamespace(scale_by_class=other.scale)
    )
    with gl.config.set(device="cpu"), running.use(interpreter):
        jitted = gl.jit(call_attribute)
        assert jitted(u(), Scaled(2)).isequal(call_attribute(u(), Scaled(2)))
        with pytest.raises(NotCompilable):
            jitted(u(), other)
        assert gl.jit(call_by_class)(u(), Scaled).isequal(call_by_class(u(), Scaled))


@pytest.mark.parametrize(
    "x", [np.float16(1.5), np.int8(-3), np.float32(0.1), np.bool_(True)], ids=repr
)
def test_a_loop_may_read_a_numpy_scalar(x: Any):
    def write(u: Vector, x: Any) -> Any:
        for i in range(2):
            u[i] = x
        return u, x

    check(write, [u, lambda: x])


def test_a_loop_may_compare_an_array_with_none():
    def write(u: Vector, x: Any) -> Any:
        while x is not None and u.nvals < 5:
            u[u.nvals + 1] = len(x)
        return u

    check(write, [u, lambda: np.ones((2, 2))], [u, lambda: [1, "a"]], [u, lambda: None])


# --- statements that share a loop -----------------------------------------------------------------


def test_statements_that_run_together_may_remove_an_entry_and_add_the_entry_again():
    def write(u: Vector, w: Vector) -> Any:
        found = 0
        for _ in range(3):
            u(~w.S, binary.max, replace) << w + u
            u(binary.min) << w
            found = found * 100 + u.reduce(monoid.plus).get(0) + u.nvals
        return u, found

    def write_again(u: Vector, w: Vector) -> Any:
        found = 0
        for _ in range(3):
            u(binary.plus) << w
            u(~w.S, replace) << u
            u(w.S) << w
            u(w.V, replace) << 5
            u(~w.S) << 1
            found = found * 100 + u.reduce(monoid.plus).get(0) + u.nvals
        return u, found

    check(write, [u, w], [w, u])
    check(write_again, [u, w], [w, u])


def test_explain_does_not_change_the_vectors_in_its_arguments():
    def write(x: Vector, items: list[Vector], both: tuple[Vector, int], names: Any) -> None:
        first, last = both[0], names["last"]
        for i in range(2):
            x[i] = 7
            first[i] = 8
            last << items[-1]
        both[0].clear()
        names["last"].clear()
        items.append(x)

    with gl.config.set(device="cpu"), running.use(interpreter):
        x, y, z = u(), w(), u()
        items, names = [y, x], {"last": z}
        jitted: Any = gl.jit(write)
        jitted.explain(x, items, both=(y, 1), names=names)
        assert x.isequal(u()) and y.isequal(w()) and z.isequal(u())
        assert items[0] is y and items[1] is x and len(items) == 2 and names["last"] is z


def test_an_assignment_with_a_starred_target_is_rejected():
    def write(u: Vector) -> Any:
        for i in range(2):
            u[i] = i
            first, *rest = 1, 2, 3
        return u, first, rest

    check_refusal(Reason.SYNTAX, write, u)


# --- globals --------------------------------------------------------------------------------------

shared: Any = None
kept: Any = None
selected: Any = None


def set_globals() -> Any:
    global shared, kept, selected
    shared, kept = u(), [w()]
    selected = ~shared.S
    return shared


def add_to_shared(x: Vector) -> Vector:
    shared(binary.plus) << x
    return shared


def write_shared(v: Vector) -> Any:
    for i in range(3):
        shared[i] = i
    return shared is v, v


def read_shared(v: Vector) -> Any:
    x = w()
    for i in range(3):
        x << x + shared
        v[i] = i
        if x.nvals > 5:
            kept.append(shared.dup())
    return x, shared, kept


def select_by_global(v: Vector) -> Any:
    x = w()
    for i in range(3):
        x(selected) << i
        shared[i + 1] = i
    return x, v


def call_helper(v: Vector) -> Any:
    x = w()
    for _ in range(3):
        x << add_to_shared(x)
    return x, v


def read_closure(v: Vector) -> Any:
    x, count = w(), 0

    def step() -> None:
        x(binary.plus) << v

    for count in range(3):
        step()
        v[count] = count
    return x, v, count


@pytest.mark.parametrize(
    "function", [write_shared, read_shared, select_by_global, call_helper, read_closure]
)
def test_a_loop_reads_and_writes_global_vectors(function: Callable[..., Any]):
    check(function, [set_globals], [set_globals])


# --- objects that pass through a loop -------------------------------------------------------------


def exchange(A: Any, B: Any, u: Vector) -> Any:
    for _ in range(3):
        A, B = B, A
        u << semiring.plus_times(A @ u)
    return A, B


def test_each_call_returns_the_very_matrices_that_were_passed_to_it():
    for engine in ENGINES:
        with gl.config.set(device="cpu"), running.use(engine):
            jitted = gl.jit(exchange)
            for k in range(3):
                A = Matrix.from_coo([0, k + 1], [1, 2], [3, 4], nrows=6, ncols=6)
                for B in (Matrix.from_coo([5], [0], [k], nrows=6, ncols=6), A.dup()):
                    one, other = jitted(A, B, u())
                    assert one is B and other is A


@pytest.mark.parametrize(
    "pair", [((1, 2.5), (7, 2.5)), ([1, 2.5], [7, 2.5]), (2**70, 2**71)], ids=str
)
def test_each_call_returns_the_very_objects_that_were_passed_to_it(pair: Any):
    def choose(u: Vector, x: Any) -> Any:
        for i in range(2):
            y = x
            u[i] = 1
        return y

    for engine in ENGINES:
        with gl.config.set(device="cpu"), running.use(engine):
            jitted = gl.jit(choose)
            assert all(jitted(u(), each) is each for each in pair)
