"""Tests of closures of a Matrix, in which each row has its own closure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from algorithms.graphs import graphs
from cases import Case, as_mask, cases, masks, ways
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla import backends
from graphla.traversal import rows
from semirings import semiring

pytestmark = pytest.mark.usefixtures("engine")
cutoffs = st.none() | st.integers(0, 4)


def stacked(starts: list[dict[int, Any]], op: Any, n: int) -> gl.Matrix:
    """Return a Matrix with `n` columns, given its rows as dicts from column to value."""
    places = [(i, j) for i, row in enumerate(starts) for j in row]
    values = [x for row in starts for x in row.values()]
    rows, columns = np.array(places, np.int64).reshape(-1, 2).T
    dtype = op.return_type.np_type
    shape: dict[str, Any] = {"nrows": len(starts), "ncols": n}
    return gl.Matrix.from_coo(rows, columns, np.array(values, dtype), **shape)


def outcome(call: Any) -> Any:
    """Return the result of a call, or the type of the error that it raises."""
    try:
        return call()
    except (OverflowError, gl.exceptions.InvalidValue) as error:
        return type(error)


def assert_row_by_row(X: gl.Matrix, case: Case, **options: Any) -> None:
    A = case.graph.matrix()
    each = [
        outcome(lambda i=i: gl.closure(X[i, :].new(), A, case.op, **options).values)
        for i in range(X.nrows)
    ]
    found = outcome(lambda: gl.closure(X, A, case.op, **options).values)
    if isinstance(found, type):
        assert found in each
        return
    assert found.shape == X.shape and found.dtype == case.op.return_type
    for i, row in enumerate(each):
        assert found[i, :].new().isequal(row, check_dtype=True)


@given(cases(), cutoffs, st.data())
def test_each_row_has_its_own_closure(case, cutoff, data):
    n = case.graph.n
    drawn = data.draw(st.lists(cases_of(case), max_size=4))
    mask = as_mask(data.draw(masks(n)), n, data.draw(ways))
    assert_row_by_row(stacked(drawn, case.op, n), case, cutoff=cutoff, mask=mask)


def cases_of(case: Case) -> st.SearchStrategy[dict[int, Any]]:
    """Return a strategy that draws the entries of another initial vector for `case`.

    Each value also occurs in `case.starts`, the initial vector of the case. If `case.starts` is
    empty, all values are 0.
    """
    values = st.sampled_from(sorted(set(case.starts.values())) or [0])
    return st.dictionaries(st.integers(0, case.graph.n - 1), values, max_size=3)


@given(cases(["min_plus", "lor_land", "max_min", "min_first"], iso=True), cutoffs, st.data())
def test_rows_with_one_start_vertex_each_have_the_same_closures_as_separate_vectors(
    case, cutoff, data
):
    n = case.graph.n
    value = next(iter(case.starts.values()), 0)
    sources = data.draw(st.lists(st.none() | st.integers(0, n - 1), max_size=70))
    starts = [{} if v is None else {v: value} for v in sources]
    mask = as_mask(data.draw(masks(n)), n, data.draw(ways))
    assert_row_by_row(stacked(starts, case.op, n), case, cutoff=cutoff, mask=mask)


def test_a_row_may_have_two_start_vertices_with_the_same_value():
    A = gl.Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 4], 1, nrows=5, ncols=5)
    X = gl.Matrix.from_coo([0, 0, 1], [0, 3, 1], 0, nrows=2, ncols=5)
    found = gl.closure(X, A, semiring.min_plus).values
    assert found.to_dense(-1).tolist() == [[0, 1, 2, 0, 1], [-1, 0, 1, 2, 3]]


def test_rows_with_one_start_vertex_each_are_searched_together(monkeypatch):
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 3], 1, nrows=5, ncols=5)
    X = gl.Matrix.from_coo([0, 2], [0, 2], 0, nrows=3, ncols=5)
    monkeypatch.setattr(rows, "evaluate", None)
    found = gl.closure(X, A, semiring.min_plus).values
    assert found.to_dicts() == {0: {0: 0, 1: 1, 2: 2, 3: 3}, 2: {2: 0, 3: 1}}


@given(cases(["min_plus", "max_min"]), st.data())
def test_parents_explain_the_values_of_each_row(case, data):
    n, A = case.graph.n, case.graph.matrix()
    drawn = data.draw(st.lists(cases_of(case), max_size=3))
    X = stacked(drawn, case.op, n)
    found = outcome(lambda: gl.closure(X, A, case.op, parents=True))
    if isinstance(found, type):
        return
    values, parents = found
    assert values.isequal(gl.closure(X, A, case.op).values)
    for i in range(X.nrows):
        row, by = values[i, :].new().to_dict(), parents[i, :].new().to_dict()
        assert row.keys() == by.keys()
        for v, parent in by.items():
            if parent == v and v in drawn[i]:
                continue
            term = case.op.binaryop(row[parent], A[parent, v].value)
            assert case.op.monoid(term, row[v]) == row[v] == term


def test_rows_of_the_wrong_length_are_rejected():
    A = gl.Matrix(int, 3, 3)
    with pytest.raises(gl.exceptions.DimensionMismatch, match="x has 4 columns, but A has 3 rows"):
        gl.closure(gl.Matrix(int, 2, 4), A, semiring.min_plus)


@given(graphs(), st.data())
def test_a_matrix_mask_is_rejected(graph, data):
    A = graph.matrix()
    if A.nvals:
        with pytest.raises(TypeError, match="must be that of a Vector"):
            gl.closure(A, A, semiring.min_plus, mask=A.S)


def test_the_fields_of_the_named_tuple_reach_are_in_the_expected_order():
    assert backends.Reach._fields == ("count", "total", "farthest")
