"""The notation, the constructors and exporters, the refusals, and what a user can hold on to."""

from __future__ import annotations

import operator
import pickle
import threading
from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import Table
from strategies import (
    DTYPES,
    INTEGERS,
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


# --- notation ---------------------------------------------------------------------------------
def test_bfs_in_the_notation_of_the_design():
    A = gl.Matrix.from_edgelist([(0, 1), (1, 2), (2, 0), (2, 3)], nrows=5, ncols=5)
    parent, frontier = gl.Vector(int, 5), gl.Vector(int, 5)
    parent[0] = frontier[0] = 0
    while frontier.nvals:
        frontier(~parent.S, gl.replace) << gl.semiring.any_secondi(frontier @ A)
        parent(frontier.S) << frontier
    assert parent.to_dict() == {0: 0, 1: 0, 2: 1, 3: 2}


def test_every_way_to_write_a_product_is_the_same_product():
    A, u = small(), line()
    plus_times = gl.semiring.plus_times
    for product in (
        A.mxm(A),
        A.mxm(A, plus_times),
        A.mxm(A, "plus_times"),
        plus_times(A @ A),
        A @ A,
        A.mxm(A, plus_times["INT64"]),
    ):
        same(product.new(), oracle.mxm(read(A), read(A), "plus_times"))
    for product in (A.mxv(u), A @ u, plus_times(A @ u), u.vxm(A.T), u @ A.T):
        same(product.new(), oracle.mxm(read(A), read(u), "plus_times"))
    assert u.inner(u).new() == (u @ u).new() == 26


def test_an_operator_is_taken_by_object_type_name_symbol_and_builtin():
    u, v = line(), line()
    for op in (gl.binary.plus, gl.monoid.plus, gl.op.plus, "plus", "+", "plus[INT64]"):
        assert u.ewise_add(v, op).new().to_dict() == {0: 10, 2: -2}
    assert u.apply(abs).new().to_dict() == {0: 5, 2: 1}
    assert u.apply("abs").new().to_dict() == {0: 5, 2: 1}
    assert u.ewise_mult(v, max).new().to_dict() == {0: 5, 2: -1}
    assert u.select(">", 0).new().to_dict() == {0: 5}
    assert u.select("valuegt", 0).new().to_dict() == {0: 5}
    assert u.reduce("max").new() == 5
    assert gl.unary.abs(u).new().to_dict() == {0: 5, 2: 1}
    assert gl.binary.plus(u, 2).new().to_dict() == {0: 7, 2: 1}
    assert gl.binary.minus(2, u).new().to_dict() == {0: -3, 2: 3}
    assert gl.select.tril(small(), -1).new().nvals == 1
    assert gl.indexunary.index(u, 1).new().to_dict() == {0: 1, 2: 3}
    assert gl.monoid.min(u | v).new().to_dict() == {0: 5, 2: -1}


def test_a_user_defined_operator_needs_no_registration():
    import semirings as sr

    twice = sr.unary.register_anonymous(lambda x: x + x)
    assert line().apply(twice).new().to_dict() == {0: 10, 2: -2}
    far = sr.binary.register_anonymous(lambda x, y: x * 100 + y)
    assert far(line() & line()).new().to_dict() == {0: 505, 2: -101}


@pytest.mark.parametrize("order", ["mask accum", "accum mask", "keywords", "strings"])
def test_mask_accum_and_replace_may_come_in_any_order(order):
    C, mask = small(), gl.Matrix.from_coo([0, 1], [1, 1], [True, False], nrows=3, ncols=3)
    expression = gl.unary.ainv(gl.Matrix.from_scalar(1, 3, 3))
    match order:
        case "mask accum":
            C(mask.S, gl.binary.plus, replace=True) << expression
        case "accum mask":
            C(gl.replace, gl.binary.plus, mask.S) << expression
        case "keywords":
            C(mask=mask.S, accum=gl.monoid.plus, replace=True) << expression
        case _:
            C("+", gl.replace, mask.S) << expression
    assert C.to_dicts() == {0: {1: 2}, 1: {1: -1}}


def test_a_boolean_noun_is_its_own_value_mask():
    mask = gl.Vector.from_coo([0, 1], [True, False], size=3)
    w = gl.Vector(int, 3)
    w(mask) << 4
    assert w.to_dict() == {0: 4}
    with pytest.raises(TypeError, match=r"(?i)mask"):
        w(line()) << 4


INFIX = {
    operator.add: ("ewise_add", "plus"),
    operator.sub: ("ewise_union", "minus"),
    operator.mul: ("ewise_mult", "times"),
    operator.truediv: ("ewise_mult", "truediv"),
    operator.floordiv: ("ewise_mult", "floordiv"),
    operator.mod: ("ewise_mult", "numpy.mod"),
    operator.pow: ("ewise_mult", "pow"),
    operator.lt: ("ewise_mult", "lt"),
    operator.le: ("ewise_mult", "le"),
    operator.gt: ("ewise_mult", "gt"),
    operator.ge: ("ewise_mult", "ge"),
    operator.eq: ("ewise_mult", "eq"),
    operator.ne: ("ewise_mult", "ne"),
}


@pytest.mark.parametrize("infix", INFIX, ids=lambda infix: infix.__name__)
def test_an_infix_operator_works_on_vectors_as_on_arrays_where_both_have_entries(infix):
    x, y = np.array([7, -7, 3, 9]), np.array([2, 1, 3, 4])
    u, v = gl.Vector.from_dense(x), gl.Vector.from_dense(y)
    assert (infix(u, v).new().to_dense() == infix(x, y)).all()
    assert (infix(u, 2).new().to_dense() == infix(x, 2)).all()
    assert (infix(2, v).new().to_dense() == infix(2, y)).all()
    A, X = gl.Matrix.from_dense(x.reshape(2, 2)), x.reshape(2, 2)
    assert (infix(A, 2).new().to_dense() == infix(X, 2)).all()
    assert (infix(A, A.T.new() * 0 + 2).new().to_dense() == infix(X, 2)).all()


def test_infix_plus_and_minus_work_on_the_union_and_the_others_on_the_intersection():
    u = gl.Vector.from_coo([0, 1], [5, 6], size=4)
    v = gl.Vector.from_coo([1, 2], [3, 4], size=4)
    assert (u + v).new().to_dict() == {0: 5, 1: 9, 2: 4}
    assert (u - v).new().to_dict() == {0: 5, 1: 3, 2: -4}
    assert (u * v).new().to_dict() == {1: 18}
    assert (u / v).new().to_dict() == {1: 2.0}
    assert (u == v).new().to_dict() == {1: False}
    assert (-u).new().to_dict() == {0: -5, 1: -6}
    assert abs(-u).new().to_dict() == {0: 5, 1: 6}


def test_infix_and_or_xor_invert_are_logical_on_booleans_and_refused_elsewhere():
    p = gl.Vector.from_coo([0, 1], [True, False], size=3)
    q = gl.Vector.from_coo([1, 2], [True, True], size=3)
    assert (p & q).new().to_dict() == {1: False}
    assert (p | q).new().to_dict() == {0: True, 1: True, 2: True}
    assert (p ^ q).new().to_dict() == {0: True, 1: True, 2: True}
    assert (~p).new().to_dict() == {0: False, 1: True}
    for refused in (lambda: (line() & line()).new(), lambda: (line() | line()).new()):
        with pytest.raises(TypeError, match="BOOL"):
            refused()
    with pytest.raises(TypeError):
        ~line()


def test_augmented_assignment_works_in_place():
    u = line()
    same_object = u
    u += line()
    u *= 2
    assert same_object is u and u.to_dict() == {0: 20, 2: -4}
    A = small()
    A @= A
    assert A.to_dicts() == {0: {0: 4}, 2: {1: 12, 2: 4}}


@given(data)
def test_an_infix_of_a_matrix_and_a_vector_broadcasts_the_vector(data):
    A = data.draw(tables(dtype=INT))
    u = data.draw(columns(A.shape[0], INT))
    v = data.draw(columns(A.shape[1], INT))
    down = Table(
        A.shape, INT, {(i, j): u.entries[i, 0] for i, j in A.entries if (i, 0) in u.entries}
    )
    along = Table(
        A.shape, INT, {(i, j): v.entries[j, 0] for i, j in A.entries if (j, 0) in v.entries}
    )
    times = gl.binary.times
    same(times(vector(u) & matrix(A)).new(), oracle.ewise_mult(down, A, "times"))
    same(times(matrix(A) & vector(v)).new(), oracle.ewise_mult(A, along, "times"))


def test_a_union_takes_its_defaults_in_the_call():
    u = gl.Vector.from_coo([0, 1], [5, 6], size=4)
    v = gl.Vector.from_coo([1, 2], [3, 4], size=4)
    got = gl.binary.minus(u | v, left_default=100, right_default=1).new()
    assert got.to_dict() == {0: 4, 1: 3, 2: 96}


def test_select_by_a_mask_keeps_what_the_mask_lets_through():
    A = small()
    kept = A.select(A.T.new().S).new()
    assert kept.to_dicts() == {0: {2: 1}, 2: {0: 4}}
    assert line().select(~line().S).new().nvals == 0


# --- expressions ------------------------------------------------------------------------------
def test_an_expression_computes_from_its_operands_as_they_were_when_written():
    A, u = small(), line()
    expected = read((A @ u).new())
    expression, twice, part = A @ u, gl.binary.plus(u | u), A[0, :]
    u[1] = 100
    A.clear()
    u.clear()
    same(expression.new(), expected)
    assert twice.new().to_dict() == {0: 10, 2: -2}
    assert part.new().to_dict() == {1: 3, 2: 1}


def test_a_mask_shows_its_noun_as_it_is_when_used():
    u, w = line(), gl.Vector(int, 3)
    mask = u.S
    u[1] = 7
    w(mask) << 1
    assert w.to_dict() == {0: 1, 1: 1, 2: 1}


def test_an_expression_knows_its_shape_and_dtype_and_serves_as_an_operand():
    A, u = small(), line()
    expression = A @ u
    assert expression.shape == (3,) and expression.dtype == "INT64"
    assert (expression + u).new().isequal((expression.new() + u).new())
    assert (A @ (A @ u)).new().isequal((A @ expression.new()).new())
    assert expression.nvals == expression.new().nvals
    assert (A @ A.T).shape == (3, 3)


def test_the_repr_of_each_noun_and_expression_shows_it():
    A, u = small(), line()
    for thing in (A, u, A.T, A @ u, A[0, :], u.S, ~u.V, gl.Scalar.from_value(3), gl.Vector(int, 0)):
        assert repr(thing)
    assert "INT64" in repr(A) and "3" in repr(A)


def test_len_iteration_truth_and_arrays_of_a_matrix_are_refused_with_the_way_to_do_it():
    for noun in (small(), line(), small() @ line()):
        with pytest.raises(TypeError):
            bool(noun)
        with pytest.raises(TypeError):
            len(noun)
        with pytest.raises(TypeError):
            iter(noun)
        with pytest.raises(TypeError, match="to_dense"):
            np.asarray(noun)


# --- aggregators ------------------------------------------------------------------------------
AGGREGATORS = {
    "sum": np.sum,
    "prod": np.prod,
    "min": np.min,
    "max": np.max,
    "mean": np.mean,
    "varp": np.var,
    "stdp": np.std,
    "vars": lambda x: np.var(x, ddof=1) if x.size > 1 else np.nan,
    "stds": lambda x: np.std(x, ddof=1) if x.size > 1 else np.nan,
    "count": np.size,
    "count_nonzero": np.count_nonzero,
    "count_zero": lambda x: np.sum(x == 0),
    "peak_to_peak": np.ptp,
    "first": lambda x: x[0] if x.size else None,
    "last": lambda x: x[-1] if x.size else None,
    "L1norm": lambda x: np.abs(x).sum(),
    "L2norm": lambda x: np.sqrt((x * 1.0**2 * x).sum()),
    "Linfnorm": lambda x: np.abs(x).max(),
    "sum_of_squares": lambda x: (x * x).sum(),
    "root_mean_square": lambda x: np.sqrt((x * 1.0 * x).mean()),
    "exists": lambda x: int(x.size > 0),
    "any": lambda x: (x != 0).any(),
    "all": lambda x: (x != 0).all(),
}


def close(got: Any, expected: Any) -> bool:
    return bool(np.isclose(got, expected, rtol=1e-9, atol=1e-12, equal_nan=True))


@pytest.mark.parametrize("name", AGGREGATORS)
@given(A=tables(dtype=INT, values=st.integers(-5, 5).map(np.int64)))
def test_an_aggregator_gives_what_numpy_gives_for_the_entries(name, A):
    aggregator, reference = getattr(gl.agg, name), AGGREGATORS[name]
    rows: dict[int, list] = {}
    for (i, _), x in sorted(A.entries.items()):
        rows.setdefault(i, []).append(x)
    got = matrix(A).reduce_rowwise(aggregator).new().to_dict()
    flipped = matrix(oracle.transpose(A)).reduce_columnwise(aggregator).new().to_dict()
    assert got.keys() == flipped.keys() == rows.keys()
    for i, values in rows.items():
        assert close(got[i], reference(np.array(values)))
        assert close(flipped[i], reference(np.array(values)))
    values = np.array([x for _, x in sorted(A.entries.items())])
    total = matrix(A).reduce_scalar(aggregator).new()
    if values.size:
        assert close(total.value, reference(values))
    elif not total.is_empty:
        assert total.value == reference(values)


@given(A=tables(dtype=INT, values=st.integers(-3, 3).map(np.int64)))
def test_argmin_and_argmax_give_a_place_of_the_extreme_and_first_index_the_first(A):
    C = matrix(A)
    low, high = (C.reduce_rowwise(a).new().to_dict() for a in (gl.agg.argmin, gl.agg.argmax))
    first = C.reduce_rowwise(gl.agg.first_index).new().to_dict()
    last = C.reduce_rowwise(gl.agg.last_index).new().to_dict()
    for i in {i for i, _ in A.entries}:
        row = {j: x for (k, j), x in A.entries.items() if k == i}
        assert row[low[i]] == min(row.values()) and row[high[i]] == max(row.values())
        assert first[i] == min(row) and last[i] == max(row)
    assert low.keys() == first.keys() == {i for i, _ in A.entries}


def test_an_aggregator_is_taken_by_name():
    assert line().reduce("mean").new() == 2.0
    assert line().reduce(gl.agg.argmin).new() == 2


# --- constructors and exporters ---------------------------------------------------------------
@given(data)
def test_coo_goes_in_and_comes_out_sorted(data):
    A = data.draw(tables())
    C = matrix(A, "backwards")
    rows, cols, values = C.to_coo()
    assert rows.dtype == cols.dtype == np.int64 and values.dtype == A.dtype
    assert list(zip(rows.tolist(), cols.tolist(), strict=True)) == sorted(A.entries)
    indices, _ = vector(data.draw(columns()), "backwards").to_coo()
    assert indices.dtype == np.int64 and (np.diff(indices) > 0).all()
    assert C.to_coo(values=False)[2] is None and C.to_coo(rows=False)[0] is None


@given(data)
def test_dense_arrays_go_in_and_come_out(data):
    A = data.draw(tables())
    dense = np.zeros(A.shape, A.dtype)
    for key, x in A.entries.items():
        dense[key] = x
    got = matrix(A).to_dense(fill_value=A.dtype.type(0))
    assert got.dtype == A.dtype and np.array_equal(got, dense, equal_nan=A.dtype.kind == "f")
    full = {key: x for key, x in np.ndenumerate(dense)}
    same(gl.Matrix.from_dense(dense), Table(A.shape, A.dtype, full))
    there = {key: x for key, x in full.items() if x != 0}
    same(gl.Matrix.from_dense(dense, missing_value=0), Table(A.shape, A.dtype, there))


def test_dense_needs_a_fill_value_where_entries_lack():
    with pytest.raises(TypeError, match="fill_value"):
        small().to_dense()
    with pytest.raises(TypeError, match="fill_value"):
        line().to_dense()


@given(data)
def test_dicts_and_edgelists_go_in_and_come_out(data):
    A = data.draw(tables(dtype=INT))
    C, shape = matrix(A), dict(zip(("nrows", "ncols"), A.shape, strict=True))
    same(gl.Matrix.from_dicts(C.to_dicts(), INT, **shape), A)
    columnwise = C.to_dicts(order="columnwise")
    same(gl.Matrix.from_dicts(columnwise, INT, order="columnwise", **shape), A)
    edges, values = C.to_edgelist()
    same(gl.Matrix.from_edgelist(edges, values, INT, **shape), A)
    triples = [(i, j, int(x)) for (i, j), x in A.entries.items()]
    if triples:
        same(gl.Matrix.from_edgelist(triples, **shape), A)
    u = data.draw(columns(dtype=INT))
    same(gl.Vector.from_dict(vector(u).to_dict(), INT, size=u.shape[0]), u)
    pairs = [(i, int(x)) for (i, _), x in u.entries.items()]
    same(gl.Vector.from_pairs(pairs, INT, size=u.shape[0]), u)


def test_sizes_are_inferred_from_the_largest_index():
    assert gl.Matrix.from_coo([0, 4], [7, 2], 1).shape == (5, 8)
    assert gl.Vector.from_coo([3], [1.5]).size == 4
    assert gl.Matrix.from_edgelist([(0, 3), (2, 1)]).shape == (3, 4)


def test_a_scalar_value_makes_an_iso_valued_matrix():
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], 2.5)
    assert A.dtype == "FP64" and A.to_coo()[2].tolist() == [2.5, 2.5, 2.5]
    assert gl.Matrix.from_coo([0], [1]).dtype == "FP64"
    assert gl.Vector.from_scalar(True, 3).to_dict() == {0: True, 1: True, 2: True}
    assert gl.Matrix.from_scalar(1, 2, 2, "INT8").nvals == 4


def test_dtypes_are_inferred_as_numpy_does_and_may_be_named_in_many_ways():
    assert gl.Vector.from_coo([0], [1]).dtype == gl.dtypes.INT64
    assert gl.Vector.from_coo([0], [True]).dtype == bool
    for dtype in (gl.dtypes.FP32, "FP32", "float32", np.float32, np.dtype("f4")):
        assert gl.Vector(dtype, 3).dtype == gl.dtypes.FP32
    assert gl.Vector(float, 3).dtype == "FP64" and gl.Vector(int, 3).dtype == "INT64"
    with pytest.raises((TypeError, ValueError), match="dtype"):
        gl.Vector("complex128", 3)
    with pytest.raises((TypeError, ValueError)):
        gl.Vector.from_coo([0], [1j])


def test_the_first_duplicate_is_named():
    with pytest.raises(ValueError, match=r"1.*2") as caught:
        gl.Matrix.from_coo([0, 1, 1, 1], [0, 2, 3, 2], [1, 2, 3, 4])
    assert isinstance(caught.value, gl.exceptions.GraphblasException)
    with pytest.raises(ValueError, match="3"):
        gl.Vector.from_coo([3, 1, 3], [1, 2, 3])
    assert gl.Vector.from_coo([3, 1, 3], [1, 2, 3], dup_op="plus").to_dict() == {1: 2, 3: 4}
    assert gl.Vector.from_coo([3, 1, 3], 1, dup_op="plus").to_dict() == {1: 1, 3: 2}


def test_build_refuses_a_noun_with_entries_unless_told_to_clear():
    A, w = small(), line()
    with pytest.raises(gl.exceptions.OutputNotEmpty):
        A.build([0], [0], [1])
    with pytest.raises(gl.exceptions.OutputNotEmpty):
        w.build([0], [1])
    A.build([0], [1], [9], clear=True)
    w.build([1], [9], clear=True, size=2)
    assert A.to_dicts() == {0: {1: 9}} and w.to_dict() == {1: 9} and w.size == 2


@pytest.mark.parametrize("bad", [[-1], [3]])
def test_an_index_outside_is_refused_in_a_constructor(bad):
    with pytest.raises((IndexError, ValueError)):
        gl.Vector.from_coo(bad, [1], size=3)
    with pytest.raises((IndexError, ValueError)):
        gl.Matrix.from_coo(bad, [0], [1], nrows=3, ncols=3)
    with pytest.raises((IndexError, ValueError)):
        gl.Matrix.from_coo([0], bad, [1], nrows=3, ncols=3)
    with pytest.raises((IndexError, ValueError)):
        gl.Vector(int, 3).build(bad, [1])


def test_arrays_that_do_not_fit_each_other_are_refused():
    with pytest.raises(ValueError):
        gl.Matrix.from_coo([0, 1], [0], [1, 2])
    with pytest.raises(ValueError):
        gl.Matrix.from_coo([0, 1], [0, 1], [1, 2, 3])
    with pytest.raises(ValueError):
        gl.Vector.from_coo([0, 1], [1, 2, 3])
    with pytest.raises((TypeError, ValueError)):
        gl.Vector.from_coo([0.5], [1])
    with pytest.raises((TypeError, ValueError)):
        gl.Matrix.from_csr([0, 2, 1], [0, 1], [1, 2])
    with pytest.raises((IndexError, ValueError)):
        gl.Matrix.from_csr([0, 1], [5], [1], ncols=3)
    with pytest.raises((TypeError, ValueError)):
        gl.Matrix.from_csr([0, 3], [0, 1], [1, 2], ncols=3)


def test_indices_may_be_of_any_integer_dtype_and_are_not_kept():
    for dtype in INTEGERS:
        rows = np.array([0, 2], dtype)
        A = gl.Matrix.from_coo(rows, rows, np.array([1, 2]))
        rows[:] = 1
        assert A.to_dicts() == {0: {0: 1}, 2: {2: 2}}


def test_writing_into_an_array_given_or_taken_leaves_the_noun_as_it_was():
    values, indptr, indices = np.array([1.0, 2.0]), np.array([0, 1, 2]), np.array([0, 1])
    A, v = gl.Matrix.from_csr(indptr, indices, values), gl.Vector.from_dense(values)
    for array in (values, indptr, indices):
        array[:] = 7
    assert A.to_dicts() == {0: {0: 1.0}, 1: {1: 2.0}} and v.to_dict() == {0: 1.0, 1: 2.0}
    for array in (*A.to_csr(), *A.to_coo(), v.to_dense(), v.to_coo()[1]):
        if array.flags.writeable:
            array[:] = 9
    assert A.to_dicts() == {0: {0: 1.0}, 1: {1: 2.0}} and v.to_dict() == {0: 1.0, 1: 2.0}


# --- sizes and values that do not fit ---------------------------------------------------------
@pytest.mark.parametrize("size", [2**31, 2**40, -1])
def test_a_dimension_that_does_not_fit_is_refused_by_name(size):
    for make in (
        lambda: gl.Vector(int, size),
        lambda: gl.Vector.from_coo([0], [1], size=size),
        lambda: gl.Vector(int, 1).resize(size),
    ):
        with pytest.raises(ValueError, match="size"):
            make()
    for make in (
        lambda: gl.Matrix(int, size, 1),
        lambda: gl.Matrix.from_coo([0], [0], [1], nrows=size),
    ):
        with pytest.raises(ValueError, match="nrows"):
            make()
    with pytest.raises(ValueError, match="ncols"):
        gl.Matrix(int, 1, size)


def test_the_largest_vector_holds_few_entries_cheaply():
    n = 2**31 - 1
    u = gl.Vector(int, n)
    u[n - 1] = 5
    u[0] = 1
    v = gl.Vector.from_coo([n - 1, 7], [2, 3], size=n)
    assert gl.binary.plus(u | v).new().to_dict() == {0: 1, 7: 3, n - 1: 7}
    assert gl.binary.plus(u & v).new().to_dict() == {n - 1: 7}
    assert u[n - 1].new() == 5 and (n - 1) in u and u.get(-1) == 5
    assert u.reduce().new() == 6 and u.inner(v).new() == 10
    w = u.dup()
    w(v.S, gl.replace) << gl.binary.times(u, 10)
    assert w.to_dict() == {n - 1: 50}
    w(~v.S) << u
    assert w.to_dict() == {0: 1, n - 1: 50}
    assert u[[0, n - 1, 5]].new().to_dict() == {0: 1, 1: 5}
    assert u.select("valuegt", 2).new().nvals == 1


def test_a_wide_matrix_holds_few_entries_cheaply():
    n = 2**31 - 1
    A = gl.Matrix.from_coo([0, 1], [n - 1, 3], [4, 5], nrows=2, ncols=n)
    assert A.reduce_rowwise().new().to_dict() == {0: 4, 1: 5}
    assert A[1, 3].new() == 5 and A.get(0, -1) == 4
    assert (A + A).new().nvals == 2 and A.select("col>", 3).new().nvals == 1


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_a_python_int_that_does_not_fit_the_dtype_is_refused(dtype):
    info = np.iinfo(dtype)
    for value in (int(info.max) + 1, int(info.min) - 1):
        w, A = gl.Vector(dtype, 3), gl.Matrix(dtype, 2, 2)
        for write in (
            lambda w=w, value=value: operator.setitem(w, 0, value),
            lambda w=w, value=value: w << value,
            lambda A=A, value=value: operator.setitem(A, (0, slice(None)), value),
            lambda value=value: gl.Vector.from_coo([0], [value], dtype),
            lambda value=value: gl.Scalar.from_value(value, dtype),
        ):
            with pytest.raises((OverflowError, ValueError)):
                write()
        assert w.nvals == 0 and A.nvals == 0
    w = gl.Vector(dtype, 1)
    w[0] = int(info.max)
    assert w[0].new() == int(info.max)


# --- refusals name the argument ---------------------------------------------------------------
def test_shapes_that_do_not_fit_are_refused_with_both_named():
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


def test_operators_of_the_wrong_kind_are_refused():
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
    with pytest.raises(AttributeError):
        gl.binary.no_such_operator


def test_an_operator_is_refused_on_a_dtype_it_is_not_defined_on():
    u = gl.Vector.from_coo([0], [1.5])
    with pytest.raises((TypeError, KeyError)):
        u.apply(gl.unary.bnot)
    with pytest.raises((TypeError, KeyError)):
        gl.binary.band(u & u)


def test_things_that_are_no_operands_are_refused():
    A, u = small(), line()
    with pytest.raises(TypeError):
        A @ 3
    with pytest.raises(TypeError):
        A.mxm(u)
    with pytest.raises(TypeError):
        A.mxv(A)
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


def test_nothing_is_written_when_a_statement_is_refused():
    A = small()
    before = read(A)
    with pytest.raises(ValueError):
        A << gl.Matrix(int, 2, 2)
    with pytest.raises(ValueError):
        A(gl.Matrix(bool, 2, 2).S) << A
    same(A, before)


def test_an_unknown_device_or_setting_is_refused_by_name():
    assert small().device == "cpu" and line().to("cpu").isequal(line())
    with pytest.raises(ValueError, match="abacus"):
        small().to("abacus")
    with pytest.raises(AttributeError, match="colour"):
        gl.config.colour = 1
    with pytest.raises(ValueError, match="compiled"):
        gl.config.compiled = "maybe"
    with pytest.raises(ValueError, match="sideways"), gl.direction("sideways"):
        pass


# --- nouns ------------------------------------------------------------------------------------
@given(data)
def test_isequal_is_equality_of_shape_and_entries(data):
    A, B = data.draw(tables(wild=False)), data.draw(tables(wild=False))
    has_nan = any(x != x for x in A.entries.values())
    assert matrix(A).isequal(matrix(A, "transposed")) == (not has_nan)
    equal = A.shape == B.shape and A.entries.keys() == B.entries.keys()
    equal = equal and all(x == B.entries[key] for key, x in A.entries.items())
    assert matrix(A).isequal(matrix(B)) == equal
    assert matrix(A).isequal(matrix(B), check_dtype=True) == (equal and A.dtype == B.dtype)


def test_isclose_allows_a_tolerance():
    u = gl.Vector.from_coo([0, 2], [1.0, 2.0], size=3)
    v = gl.Vector.from_coo([0, 2], [1.0 + 1e-9, 2.0], size=3)
    assert u.isclose(v) and not u.isequal(v)
    assert not u.isclose(gl.Vector.from_coo([0, 1], [1.0, 2.0], size=3))
    assert u.isclose(gl.Vector.from_coo([0, 2], [1.1, 2.0], size=3), abs_tol=0.2)
    assert not u.isclose(gl.Vector.from_coo([0, 2], [1.1, 2.0], size=3))
    assert u.diag().isclose(v.diag())


def test_dup_is_independent_and_clear_keeps_shape_and_dtype():
    for noun in (small(), line()):
        copy = noun.dup()
        noun.clear()
        assert noun.nvals == 0 and copy.nvals > 0
        assert noun.shape == copy.shape and noun.dtype == copy.dtype


def test_get_and_in_and_defaults():
    A, u = small(), line()
    assert A.get(0, 1) == 3 and A.get(1, 1) is None and A.get(1, 1, "none") == "none"
    assert u.get(0) == 5 and u.get(-1) == -1 and u.get(1, 7) == 7
    assert (0, 1) in A and (1, 1) not in A and 2 in u and 1 not in u
    with pytest.raises(IndexError):
        A.get(3, 0)
    assert A.T.get(1, 0) == 3 and (1, 0) in A.T


def test_a_transposed_matrix_is_a_view_to_read():
    A = small()
    assert A.T.shape == A.shape[::-1] and A.T.nvals == A.nvals and A.T.dtype == A.dtype
    assert A.T.T.isequal(A) and A.T.new().to_dicts() == {0: {2: 4}, 1: {0: 3}, 2: {0: 1}}
    assert A.T.to_dicts() == A.T.new().to_dicts()
    with pytest.raises(TypeError):
        A.T[0, 0] = 1


@given(data)
def test_pickling_keeps_the_noun(data):
    A, u = data.draw(tables()), data.draw(columns())
    same(pickle.loads(pickle.dumps(matrix(A, "both"))), A)
    same(pickle.loads(pickle.dumps(vector(u, "assigned"))), u)
    s = gl.Scalar.from_value(3, "INT8")
    assert pickle.loads(pickle.dumps(s)).isequal(s, check_dtype=True)
    assert pickle.loads(pickle.dumps(gl.semiring.min_plus)) is gl.semiring.min_plus


def test_empty_nouns_go_through_every_operation():
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


# --- scalars ----------------------------------------------------------------------------------
@given(data)
def test_a_scalar_holds_a_value_or_nothing(data):
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


def test_a_scalar_acts_as_a_python_number():
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


def test_a_scalar_takes_an_element_a_reduction_and_an_accumulation():
    s = gl.Scalar(int)
    s << small()[2, 0]
    assert s.value == 4
    s << small()[1, 1]
    assert s.is_empty
    s << line().reduce(gl.monoid.plus)
    s(gl.binary.times) << line().reduce(gl.monoid.max)
    assert s.value == 20


# --- direction, recorder, threads -------------------------------------------------------------
def test_the_recorder_lists_what_ran_in_which_direction_and_why():
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


def test_settings_hold_inside_their_block_only():
    before = gl.config.compiled
    with gl.config.set(compiled=False):
        assert gl.config.compiled is False
        with gl.config.set(compiled="auto"):
            assert gl.config.compiled == "auto"
        assert gl.config.compiled is False
    assert gl.config.compiled == before


@given(data)
def test_several_threads_may_read_one_matrix(data):
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


# --- warnings never escape --------------------------------------------------------------------
@given(data)
def test_no_value_makes_an_operation_warn(data):
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
def test_the_shape_of_a_noun_is_as_asked(n, m):
    A, u = gl.Matrix(int, n, m), gl.Vector(int, n)
    assert A.shape == (A.nrows, A.ncols) == (n, m) and u.shape == (u.size,) == (n,)
    assert A.ndim == 2 and u.ndim == 1 and gl.Scalar(int).ndim == 0
