"""Test conversions to and from Awkward Array and PyData Sparse: round trips and errors."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import LAYOUTS, columns, matrix, same, tables, vector

import graphla as gl
from graphla import io

data = st.data()


# --- Awkward Array ------------------------------------------------------------------------------
@given(data, st.sampled_from(["csr", "csc", "hypercsr", "hypercsc"]))
def test_converting_a_matrix_to_an_awkward_array_and_back_keeps_every_entry(data, format):
    ak = pytest.importorskip("awkward")
    table = data.draw(tables())
    A = matrix(table, data.draw(LAYOUTS["matrix"]))
    array = io.to_awkward(A, format)
    assert isinstance(array, ak.Array)
    same(io.from_awkward(array), table)
    assert len(array.values) == len(getattr(A, "to_d" + format[-3:])()[0]) or format[0] != "h"
    if format == "csr":
        rows = {i: dict(zip(row.indices, row.values, strict=True)) for i, row in enumerate(array)}
        same(gl.Matrix.from_dicts(rows, A.dtype, nrows=A.nrows, ncols=A.ncols), table)


@given(data)
def test_converting_a_vector_to_an_awkward_array_and_back_keeps_every_entry(data):
    pytest.importorskip("awkward")
    table = data.draw(columns())
    v = vector(table, data.draw(LAYOUTS["vector"]))
    array = io.to_awkward(v)
    assert array.indices.to_list() == v.to_coo()[0].tolist()
    same(io.from_awkward(array), table)


@pytest.mark.parametrize("format", ["csr", "csc", "hypercsr", "hypercsc", None])
def test_awkward_arrays_are_compatible_with_python_graphblas(format):
    pytest.importorskip("awkward")
    gb = pytest.importorskip("graphblas")
    i, j, values = [0, 2, 2], [1, 0, 3], [1.5, 2.0, -3.0]
    ours, theirs = (lib.Matrix.from_coo(i, j, values, nrows=4, ncols=5) for lib in (gl, gb))
    assert io.from_awkward(gb.io.to_awkward(theirs, format)).isequal(ours)
    assert gb.io.from_awkward(io.to_awkward(ours, format)).isequal(theirs)
    ours, theirs = (lib.Vector.from_coo(i[1:], values[1:], dup_op="plus") for lib in (gl, gb))
    assert io.from_awkward(gb.io.to_awkward(theirs)).isequal(ours)
    assert gb.io.from_awkward(io.to_awkward(ours)).isequal(theirs)


def test_an_awkward_array_that_is_not_a_matrix_is_rejected():
    ak = pytest.importorskip("awkward")
    A = gl.Matrix.from_coo([0, 1], [1, 0], [3, 4])
    for wrong, error, problem in (
        (lambda: io.to_awkward(A, "coo"), ValueError, "format is 'coo', but should be one of csr,"),
        (lambda: io.to_awkward(A[0, :].new(), "csr"), ValueError, "should be one of vec"),
        (lambda: io.to_awkward(3), ValueError, "A is a int, but should be a Matrix or a Vector"),
        (lambda: io.from_awkward([1]), TypeError, "A is a list, but should be an awkward.Array"),
        (lambda: io.from_awkward(ak.Array([1])), ValueError, "A has no parameter 'format'"),
    ):
        with pytest.raises(error, match=problem):
            wrong()
    array = io.to_awkward(A)
    for key, value, problem in (
        ("format", "vec", "has format 'vec' and shape .2, 2., which do not fit"),
        ("format", "hypercsr", "has no field 'offset_labels', which hypercsr needs"),
        ("shape", [2], "do not fit each other"),
        ("shape", [2, 1], "should be from 0 to 0"),
        ("shape", [3, 2], "3 rows need 4"),
    ):
        with pytest.raises((ValueError, IndexError), match=problem):
            io.from_awkward(ak.with_parameter(array, key, value))


# --- PyData Sparse ------------------------------------------------------------------------------
@given(data, st.sampled_from(["coo", "gcxs", "dok"]), st.sampled_from(["matrix", "vector"]))
def test_a_pydata_sparse_round_trip_keeps_every_entry(data, format, kind):
    sparse = pytest.importorskip("sparse")
    table = data.draw(tables() if kind == "matrix" else columns())
    make: Any = matrix if kind == "matrix" else vector
    A = make(table, data.draw(LAYOUTS[kind]))
    found = io.to_pydata_sparse(A, format)
    assert isinstance(found, getattr(sparse, format.upper())) and found.shape == A.shape
    assert np.array_equal(found.todense(), A.to_dense(0), equal_nan=table.dtype.kind == "f")
    same(io.from_pydata_sparse(found), table)


def test_a_pydata_sparse_array_that_is_not_a_matrix_is_rejected():
    sparse = pytest.importorskip("sparse")
    A = gl.Matrix.from_coo([0, 1], [1, 0], [3, 4])
    for wrong, error, problem in (
        (lambda: io.to_pydata_sparse(A, "csr"), ValueError, "should be one of coo, dok, gcxs"),
        (lambda: io.to_pydata_sparse([1]), ValueError, "should be a Matrix or a Vector"),
        (lambda: io.from_pydata_sparse(np.eye(2)), TypeError, "s is a ndarray, but should be"),
        (lambda: io.from_pydata_sparse(sparse.zeros((1, 1, 1))), ValueError, "has 3 dimensions"),
        (lambda: io.from_pydata_sparse(sparse.ones((2, 2)) * 0 + 1), ValueError, "fill value 1"),
    ):
        with pytest.raises(error, match=problem):
            wrong()


@pytest.mark.parametrize("library", ["awkward", "sparse"])
def test_the_error_about_a_missing_library_names_the_library(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    A = gl.Matrix(int, 2, 2)
    functions = {
        "awkward": (io.to_awkward, io.from_awkward),
        "sparse": (io.to_pydata_sparse, io.from_pydata_sparse),
    }
    for function in functions[library]:
        with pytest.raises(ImportError, match=f"pip install {library}"):
            function(A)
