"""Compare aggregators with NumPy on the entries of each row, each column or the whole matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    columns,
    mask_of,
    masks,
    matrix,
    read,
    same,
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
def test_each_aggregator_agrees_with_numpy_on_the_entries(name, A):
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
def test_aggregators_that_return_positions_return_the_correct_ones(A):
    C = matrix(A)
    low, high = (C.reduce_rowwise(a).new().to_dict() for a in (gl.agg.argmin, gl.agg.argmax))
    first = C.reduce_rowwise(gl.agg.first_index).new().to_dict()
    last = C.reduce_rowwise(gl.agg.last_index).new().to_dict()
    for i in {i for i, _ in A.entries}:
        row = {j: x for (k, j), x in A.entries.items() if k == i}
        assert row[low[i]] == min(row.values()) and row[high[i]] == max(row.values())
        assert first[i] == min(row) and last[i] == max(row)
    assert low.keys() == first.keys() == {i for i, _ in A.entries}


def test_an_aggregator_may_be_specified_by_its_name():
    assert line().reduce("mean").new() == 2.0
    assert line().reduce(gl.agg.argmin).new() == 2
    assert line().reduce("std").new() == line().reduce(gl.agg.stdp).new()


def test_a_name_shared_by_a_monoid_and_an_aggregator_means_the_monoid():
    u, none = line(), gl.Vector(int, 3)
    assert u.reduce("any").dtype == gl.dtypes.INT64
    assert u.reduce("any").new().value in u.to_dict().values()
    assert none.reduce("min", allow_empty=False).new() == np.iinfo(np.int64).max


@given(A=tables(dtype=INT, values=st.integers(1, 5).map(np.int64)))
def test_means_and_logarithms_of_positive_entries_agree_with_numpy(A):
    rows: dict[int, list] = {}
    for (i, _), x in sorted(A.entries.items()):
        rows.setdefault(i, []).append(float(x))
    references = {
        "geometric_mean": lambda x: np.exp(np.log(x).mean()),
        "harmonic_mean": lambda x: x.size / (1 / x).sum(),
        "logaddexp": lambda x: np.log(np.exp(x).sum()),
        "logaddexp2": lambda x: np.log2(np.exp2(x).sum()),
        "hypot": lambda x: np.sqrt((x * x).sum()),
        "sum_of_inverses": lambda x: (1 / x).sum(),
        "L0norm": lambda x: np.count_nonzero(x),
    }
    for name, reference in references.items():
        got = matrix(A).reduce_rowwise(getattr(gl.agg, name)).new().to_dict()
        assert got.keys() == rows.keys()
        assert all(close(got[i], reference(np.array(row))) for i, row in rows.items())


def test_an_aggregator_can_be_called_on_a_matrix_or_a_vector():
    A, u = small(), line()
    assert gl.agg.sum(u).new() == 4 and gl.agg.sum(A).new() == 8
    assert gl.agg.sum(A, rowwise=True).new().to_dict() == {0: 4, 2: 4}
    assert gl.agg.max(A, columnwise=True).new().to_dict() == {0: 4, 1: 3, 2: 1}
    with pytest.raises((TypeError, ValueError)):
        gl.agg.argmin(A).new()
    with pytest.raises((TypeError, ValueError)):
        gl.agg.sum(A, rowwise=True, columnwise=True)


@given(data)
def test_writing_an_aggregation_obeys_the_graphblas_write_rule(data):
    A = data.draw(tables(dtype=INT))
    w = data.draw(columns(A.shape[0], INT))
    C, mask = vector(w), data.draw(masks((A.shape[0], 1)))
    T = read(matrix(A).reduce_rowwise(gl.agg.sum_of_squares).new())
    expected = oracle.write(w, T, mask, "plus")
    view = {} if mask is None else {"mask": mask_of(mask, vector(mask.table))}
    C(accum=gl.binary.plus, **view) << matrix(A).reduce_rowwise(gl.agg.sum_of_squares)
    same(C, expected)


def test_an_aggregator_can_be_composed_of_other_aggregators():
    Aggregator = type(gl.agg.sum)
    v, A = (
        gl.Vector.from_coo([0, 2], [3, 9], size=4),
        gl.Matrix.from_coo([0, 0, 2], [0, 1, 1], [3, 9, 4]),
    )
    span = Aggregator("span", composite=[gl.agg.max, gl.agg.min], finalize=gl.binary.minus)
    root = Aggregator("root", composite=[gl.agg.sum_of_squares], finalize=gl.unary.sqrt)
    mean = Aggregator("m", composite=[gl.agg.sum, gl.agg.count], finalize=gl.binary.truediv)
    for op, known in ((span, gl.agg.peak_to_peak), (root, gl.agg.hypot), (mean, gl.agg.mean)):
        assert op(v).isclose(known(v).new(), check_dtype=True)
        assert op(A).isclose(known(A).new(), check_dtype=True)
        for way in ("rowwise", "columnwise"):
            assert op(A, **{way: True}).isclose(known(A, **{way: True}).new(), check_dtype=True)
    nested = Aggregator("n", composite=[mean, gl.agg.count], finalize=gl.binary.times)
    assert nested(v).value == 12.0
    top = Aggregator("top", monoid=gl.monoid.max)
    assert top(v).value == 9 and gl.Vector("INT8", 2).reduce(top, allow_empty=False) == -128
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, "needs monoid, composite, or compute with result"),
        ({"composite": []}, "composite must be a list of aggregators"),
        ({"composite": [gl.monoid.plus], "finalize": abs}, "composite must be a list"),
        ({"composite": [gl.agg.sum], "finalize": gl.binary.plus}, "finalize must be an operator"),
        ({"composite": [gl.agg.sum], "finalize": None}, "finalize must be an operator"),
    )
    for wrong, problem in refused:
        with pytest.raises(TypeError, match=problem):
            Aggregator("wrong", **wrong)
    some = Aggregator("s", composite=[gl.agg.sum], finalize=lambda x, opts: x.select(">", 5))
    with pytest.raises(ValueError, match="finalize must keep an entry for each row"):
        some(A, rowwise=True).new()


def test_an_operator_class_registers_operators_of_its_own_kind():
    halved = type(gl.unary.abs).register_anonymous(lambda x: x / 2)
    assert gl.Vector.from_dense([4]).apply(halved)[0].value == 2.0
    twice = type(gl.binary.plus).register_new("twice_and_more", lambda x, y: 2 * x + y)
    assert gl.binary.twice_and_more is twice  # pyright: ignore[reportAttributeAccessIssue]
    folded = type(gl.monoid.plus).register_new("folded_twice", "plus", 0)
    assert gl.monoid.folded_twice is folded  # pyright: ignore[reportAttributeAccessIssue]
    both = type(gl.semiring.plus_times).register_new("folded_more", "plus", twice)
    assert gl.semiring.folded_more is both  # pyright: ignore[reportAttributeAccessIssue]
