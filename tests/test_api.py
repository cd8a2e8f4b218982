"""Test matrix, vector and scalar objects, error messages, recorders, settings and threads."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import oracle
import pytest
from devices import DEVICE
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    DTYPES,
    agrees,
    columns,
    dtypes,
    matrix,
    numbers,
    read,
    same,
    sizes,
    tables,
    vector,
)

import graphla as gl

data = st.data()
INT = np.dtype(np.int64)


def small() -> gl.Matrix:
    return gl.Matrix.from_coo([0, 0, 2], [1, 2, 0], [3, 1, 4], nrows=3, ncols=3)


def line() -> gl.Vector:
    return gl.Vector.from_coo([0, 2], [5, -1], size=3)


# --- error messages name the argument ----------------------------------------------------------
def test_the_error_about_mismatched_shapes_names_both_shapes():
    A, u = gl.Matrix(int, 3, 5), gl.Vector(int, 7)
    with pytest.raises(gl.exceptions.DimensionMismatch, match=r"5.*7"):
        A @ u
    with pytest.raises(ValueError, match=r"7.*3"):
        u @ A
    with pytest.raises(gl.exceptions.DimensionMismatch, match=r"5.*3"):
        A @ A
    with pytest.raises(gl.exceptions.DimensionMismatch):
        A.ewise_add(A.T)
    with pytest.raises(gl.exceptions.DimensionMismatch):
        u & gl.Vector(int, 6)
    w = gl.Vector(int, 2)
    with pytest.raises(gl.exceptions.DimensionMismatch):
        w << A.reduce_rowwise()
    with pytest.raises(gl.exceptions.DimensionMismatch, match=r"(?i)mask"):
        w(u.S) << 1
    with pytest.raises(gl.exceptions.DimensionMismatch, match=r"(?i)mask"):
        (A @ A.T).new(mask=A.S)


def test_operators_of_the_wrong_kind_are_rejected():
    A, u = small(), line()
    for refused in (
        lambda: A.mxm(A, gl.binary.plus),
        lambda: u.ewise_add(u, gl.semiring.plus_times),
        lambda: u.reduce(gl.binary.minus),
        lambda: u.apply(gl.monoid.plus),
        lambda: u.apply(gl.binary.plus),
        lambda: u(gl.semiring.plus_times) << u,
    ):
        with pytest.raises((TypeError, ValueError)):
            refused()
    with pytest.raises(ValueError, match="no_such"):
        A.mxm(A, "no_such")
    with pytest.raises(ValueError, match="'no_such' names no unary or indexunary or binary"):
        A.apply("no_such")
    with pytest.raises(TypeError, match="give `left=` or `right=`"):
        A.apply("plus")
    with pytest.raises(ValueError, match="dtype is 'FP31'"):
        A.apply("abs[FP31]")
    with pytest.raises(AttributeError):
        gl.binary.no_such_operator  # pyright: ignore


def test_a_numpy_string_is_accepted_as_the_name_of_an_operator():
    A = small()
    for name in np.array(["min_plus", "max_times"]):
        assert A.mxm(A, name).new().isequal(A.mxm(A, str(name)).new())
    assert A.apply(np.str_("abs")).new().isequal(A.apply("abs").new())


def test_an_operator_is_rejected_for_a_dtype_that_it_does_not_support():
    u = gl.Vector.from_coo([0], [1.5])
    with pytest.raises((TypeError, KeyError)):
        u.apply(gl.unary.bnot)
    with pytest.raises((TypeError, KeyError)):
        gl.binary.band(u & u)


def test_objects_that_are_not_operands_are_rejected():
    A, u = small(), line()
    with pytest.raises(TypeError):
        A @ 3
    with pytest.raises(TypeError):
        A.mxm(u)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError):
        A.mxv(A)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError):
        u << A
    with pytest.raises(TypeError):
        A << "text"
    with pytest.raises(TypeError):
        u(mask=3) << u
    with pytest.raises(TypeError):
        u(A.S) << u
    with pytest.raises(TypeError, match="replace"):
        u(gl.replace) << u
    with pytest.raises(TypeError):
        u(u.S, u.S) << u


def test_a_rejected_statement_writes_nothing():
    A = small()
    before = read(A)
    with pytest.raises(ValueError):
        A << gl.Matrix(int, 2, 2)
    with pytest.raises(ValueError):
        A(gl.Matrix(bool, 2, 2).S) << A
    same(A, before)


def test_the_error_about_an_unknown_device_or_setting_names_the_device_or_setting():
    assert small().device == ("cpu" if DEVICE == "cpu" else "cuda:0")
    assert line().to("cpu").device == "cpu" and line().to("cpu").isequal(line().to("cpu"))
    with pytest.raises(ValueError, match="abacus"):
        small().to("abacus")
    with pytest.raises(AttributeError, match="colour"):
        gl.config.colour = 1  # pyright: ignore
    with pytest.raises(ValueError, match="compiled"):
        gl.config.compiled = "maybe"  # pyright: ignore
    with pytest.raises(ValueError, match="sideways"), gl.direction("sideways"):  # pyright: ignore
        pass


# --- methods of matrices and vectors -----------------------------------------------------------
@given(data)
def test_the_method_isequal_compares_shapes_and_entries(data):
    A, B = data.draw(tables(wild=False)), data.draw(tables(wild=False))
    has_nan = any(x != x for x in A.entries.values())
    assert matrix(A).isequal(matrix(A, "transposed")) == (not has_nan)
    equal = A.shape == B.shape and A.entries.keys() == B.entries.keys()
    equal = equal and all(x == B.entries[key] for key, x in A.entries.items())
    assert matrix(A).isequal(matrix(B)) == equal
    assert matrix(A).isequal(matrix(B), check_dtype=True) == (equal and A.dtype == B.dtype)


def test_the_method_isclose_allows_a_tolerance():
    u = gl.Vector.from_coo([0, 2], [1.0, 2.0], size=3)
    v = gl.Vector.from_coo([0, 2], [1.0 + 1e-9, 2.0], size=3)
    assert u.isclose(v) and not u.isequal(v)
    assert not u.isclose(gl.Vector.from_coo([0, 1], [1.0, 2.0], size=3))
    assert u.isclose(gl.Vector.from_coo([0, 2], [1.1, 2.0], size=3), abs_tol=0.2)
    assert not u.isclose(gl.Vector.from_coo([0, 2], [1.1, 2.0], size=3))
    assert u.diag().isclose(v.diag())


def test_the_method_dup_returns_an_independent_copy_and_clear_keeps_the_shape_and_dtype():
    for noun in (small(), line()):
        copy = noun.dup()
        noun.clear()
        assert noun.nvals == 0 and copy.nvals > 0
        assert noun.shape == copy.shape and noun.dtype == copy.dtype


def test_get_returns_a_default_for_a_missing_entry_and_the_in_operator_tests_for_an_entry():
    A, u = small(), line()
    assert A.get(0, 1) == 3 and A.get(1, 1) is None and A.get(1, 1, "none") == "none"
    assert u.get(0) == 5 and u.get(-1) == -1 and u.get(1, 7) == 7
    assert (0, 1) in A and (1, 1) not in A and 2 in u and 1 not in u
    with pytest.raises(IndexError):
        A.get(3, 0)
    assert A.T.get(1, 0) == 3 and (1, 0) in A.T


def test_a_transposed_matrix_is_a_read_only_view():
    A = small()
    assert A.T.shape == A.shape[::-1] and A.T.nvals == A.nvals and A.T.dtype == A.dtype
    assert A.T.T.isequal(A) and A.T.new().to_dicts() == {0: {2: 4}, 1: {0: 3}, 2: {0: 1}}
    assert A.T.to_dicts() == A.T.new().to_dicts()
    with pytest.raises(TypeError):
        A.T[0, 0] = 1  # pyright: ignore[reportIndexIssue]


@given(data)
def test_pickling_preserves_matrices_and_vectors(data):
    A, u = data.draw(tables()), data.draw(columns())
    same(pickle.loads(pickle.dumps(matrix(A, "both"))), A)
    same(pickle.loads(pickle.dumps(vector(u, "assigned"))), u)
    s = gl.Scalar.from_value(3, "INT8")
    assert pickle.loads(pickle.dumps(s)).isequal(s, check_dtype=True)
    assert pickle.loads(pickle.dumps(gl.semiring.min_plus)) is gl.semiring.min_plus


def test_every_operation_accepts_empty_matrices_and_vectors():
    for shape in ((0, 0), (0, 3), (3, 0), (2, 2)):
        A = gl.Matrix(float, *shape)
        u, w = gl.Vector(float, shape[1]), gl.Vector(float, shape[0])
        assert (A @ u).new().nvals == 0 and (w @ A).new().nvals == 0
        assert (A @ A.T).new().shape == (shape[0], shape[0])
        assert A.reduce_scalar().new().is_empty and u.reduce().new().is_empty
        assert A.reduce_rowwise().new().size == shape[0]
        assert A.T.new().shape == shape[::-1] and A[:, :].new().shape == shape
        assert A.kronecker(A).new().shape == (shape[0] ** 2, shape[1] ** 2)
        assert A.to_coo()[0].size == 0 and A.to_dicts() == {} and u.to_dict() == {}
        assert A.select("tril").new().nvals == A.apply("abs").new().nvals == 0
        assert u.inner(u).new().is_empty and u.outer(w).new().shape == shape[::-1]
        A(A.S, gl.replace) << A
        assert A.nvals == 0


# --- scalars -----------------------------------------------------------------------------------
@given(data)
def test_a_scalar_contains_a_value_or_is_empty(data):
    dtype = data.draw(dtypes)
    s, x = gl.Scalar(dtype), data.draw(numbers(dtype))
    assert s.is_empty and s.value is None and s.nvals == 0 and s.get(4) == 4
    s << x
    assert not s.is_empty and s.nvals == 1 and agrees(s.value, x) and s.dtype == dtype
    s.value = None
    assert s.is_empty
    s.value = x
    s.clear()
    assert s.is_empty


def test_a_scalar_behaves_like_a_python_number():
    s = gl.Scalar.from_value(3)
    assert s.isequal(3) and int(s) == 3 and float(s) == 3.0 and bool(s) and list(range(5))[s] == 3
    assert np.asarray(s) == 3
    assert gl.Scalar.from_value(2.5).dtype == "FP64" and gl.Scalar.from_value(True).dtype == bool
    empty = gl.Scalar(int)
    assert not bool(empty)
    for convert in (int, float):
        with pytest.raises((TypeError, ValueError)):
            convert(empty)
    assert empty.isequal(gl.Scalar(int)) and not empty.isequal(s)
    t = s.dup()
    t << 4
    assert s.value == 3 and t.value == 4


def test_elements_and_reductions_can_be_written_to_a_scalar_with_or_without_an_accumulator():
    s = gl.Scalar(int)
    s << small()[2, 0]
    assert s.value == 4
    s << small()[1, 1]
    assert s.is_empty
    s << line().reduce(gl.monoid.plus)
    s(gl.binary.times) << line().reduce(gl.monoid.max)
    assert s.value == 20


# --- tests of recorders, settings and threads --------------------------------------------------
def test_the_recorder_lists_each_operation_with_its_direction_and_the_reason():
    A, u = small(), line()
    with gl.Recorder() as recorder:
        for direction in ("push", "pull"):
            with gl.direction(direction):
                gl.semiring.min_plus(u @ A).new()
        (A @ A).new()
    assert [event.direction for event in recorder.events[:2]] == ["push", "pull"]
    first = recorder.events[0]
    assert first.operation == "vxm" and "min_plus" in first.semiring and first.reason
    assert first.nvals_in == u.nvals + A.nvals or first.nvals_in > 0
    assert first.nvals_out == gl.semiring.min_plus(u @ A).new().nvals and first.seconds >= 0
    assert "mxm" in [event.operation for event in recorder.events]
    assert "min_plus" in str(recorder)
    count = len(recorder.events)
    (A @ u).new()
    assert len(recorder.events) == count
    recorder.start()
    (A @ u).new()
    recorder.stop()
    assert len(recorder.events) == count + 1


def test_settings_apply_only_inside_their_block():
    before = gl.config.compiled
    with gl.config.set(compiled=False):
        assert gl.config.compiled is False
        with gl.config.set(compiled="auto"):
            assert gl.config.compiled == "auto"
        assert gl.config.compiled is False
    assert gl.config.compiled == before


@given(data)
def test_several_threads_may_read_the_same_matrix_at_the_same_time(data):
    A = data.draw(tables(dtype=INT))
    C, u = matrix(A), gl.Vector.from_scalar(1, A.shape[1], INT)
    expected = oracle.mxm(A, read(u), "plus_times")
    columnwise = oracle.reduce_rowwise(oracle.transpose(A), "plus")
    failures = []

    def work() -> None:
        try:
            same((C @ u).new(), expected)
            same(C.reduce_columnwise().new(), columnwise)
            same(C.T.new(), oracle.transpose(A))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# --- various properties ------------------------------------------------------------------------
@given(data)
def test_operations_issue_no_numpy_warnings_for_any_values(data):
    u = data.draw(columns(dtype=data.draw(st.sampled_from(DTYPES))))
    v, w = vector(u), vector(u, "assigned")
    for name in ("plus", "times", "minus", "truediv", "min"):
        getattr(gl.binary, name)(v & w).new()
    for dtype in ("INT8", "UINT64", "FP32", "BOOL"):
        v.dup(dtype)
    for monoid in (gl.monoid.plus, gl.monoid.times, gl.monoid.max):
        v.reduce(monoid).new()
    v.diag().mxv(w).new()


@given(sizes, sizes)
def test_matrices_and_vectors_have_the_requested_shape(n, m):
    A, u = gl.Matrix(int, n, m), gl.Vector(int, n)
    assert A.shape == (A.nrows, A.ncols) == (n, m) and u.shape == (u.size,) == (n,)
    assert A.ndim == 2 and u.ndim == 1 and gl.Scalar(int).ndim == 0


@given(data)
def test_scalars_can_be_operands_of_entrywise_operations(data):
    x, y = (data.draw(st.none() | st.integers(-5, 5)) for _ in range(2))
    s, t = (gl.Scalar.from_value(v) if v is not None else gl.Scalar(int) for v in (x, y))
    plus, minus = gl.binary.plus, gl.binary.minus
    both = None if x is None or y is None else x - y
    assert s.ewise_mult(t, minus).new().value == both
    either = both if both is not None else x if x is not None else y
    assert s.ewise_add(t, minus).new().value == either
    filled = None if x is None and y is None else (1 if x is None else x) - (2 if y is None else y)
    assert s.ewise_union(t, minus, 1, 2).new().value == filled
    assert s.apply(gl.unary.ainv).new().value == (None if x is None else -x)
    assert s.apply(plus, right=3).new().value == (None if x is None else x + 3)
    assert s.apply(minus, left=3).new().value == (None if x is None else 3 - x)
    kept = x if x is not None and x > 0 else None
    assert s.select("valuegt", 0).new().value == kept
    s(accum=plus) << t
    assert s.value == (x if y is None else y if x is None else x + y)


def test_every_argument_that_accepts_a_number_also_accepts_a_scalar():
    two, u, A = gl.Scalar.from_value(2), line(), small()
    assert u.apply("plus", right=two).new().to_dict() == {0: 7, 2: 1}
    assert u.select("valuegt", two).new().to_dict() == {0: 5}
    assert A.ewise_union(A, "plus", two, two).new().isequal(gl.binary.plus(A | A).new())
    assert u.get(two) == -1 and u[two].new() == -1 and (u * two).new().to_dict() == {0: 10, 2: -2}
    u << two
    assert u.to_dict() == {0: 2, 1: 2, 2: 2}
    empty = gl.Scalar(int)
    with pytest.raises((TypeError, ValueError)):
        u.apply("plus", right=empty).new()


def test_a_format_specification_applies_to_the_value_of_a_scalar():
    assert (
        f"{gl.Scalar.from_value(2.5):.3f} {gl.Vector.from_dense([1, 2]).reduce():3d}" == "2.500   3"
    )


@pytest.mark.parametrize("tolerance", ["x", -1, float("nan")])
@pytest.mark.parametrize("name", ["rel_tol", "abs_tol"])
def test_an_invalid_tolerance_is_rejected(name, tolerance):
    u = gl.Vector.from_dense([1.0])
    with pytest.raises(gl.exceptions.InvalidValue, match=name):
        u.isclose(u, **{name: tolerance})
