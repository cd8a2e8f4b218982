"""Sorting, transposing and building on the device match the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.storages import assert_same, dense_vectors, is_valid, matrices, sparse_vectors
from gpu.storages import to_device as moved
from gpu.storages import to_host as brought
from hypothesis import given
from hypothesis import strategies as st

from graphla.backends import backend
from graphla.backends.cuda import build
from graphla.backends.tuning import using
from graphla.formats import BitmapVector, SparseVector, is_iso
from semirings import binary
from semirings.exceptions import DuplicateEntry

cpu, cuda = backend("cpu"), backend("cuda")

SIZES = st.sampled_from((1, 5, 40, 1500))
SHAPES = st.sampled_from(((0, 3), (3, 0), (1, 1), (5, 7), (40, 30), (2, 1 << 20)))
DTYPES = tuple(map(np.dtype, ("i8", "f4")))
DUP_OPS = [getattr(binary, name)["FP32"] for name in ("plus", "first", "second", "minus", "max")]
FLAGS = st.booleans()


def array(x: Any) -> Any:
    """Copy an array to the device; if all entries share one value, store it once on the device."""
    there = cuda.asarray(x[:1].copy() if is_iso(x) else x)
    return np.broadcast_to(there, x.shape) if is_iso(x) else there


def random(data: Any) -> np.random.Generator:
    return np.random.default_rng(data.draw(st.integers(0, 1 << 16)))


@given(st.data())
def test_conversions_between_vector_forms_keep_all_entries(data):
    size = data.draw(SIZES)
    v = data.draw(st.one_of(dense_vectors(size, DTYPES), sparse_vectors(size, DTYPES)))
    there = moved(v)
    for form in (cuda.to_sparse(there), cuda.to_bitmap(there)):
        is_valid(brought(form))
        if (
            min(form.values.size, v.values.size) > 1
        ):  # CuPy does not preserve stride 0 if there is only one element
            assert is_iso(form.values) == is_iso(v.values)
        assert_same(form, v)
    assert isinstance(cuda.to_bitmap(there), BitmapVector)


@given(st.data())
def test_entries_are_sorted_by_index(data):
    v = data.draw(sparse_vectors(data.draw(SIZES), DTYPES))
    order = random(data).permutation(v.nvals)
    values = v.values if is_iso(v.values) else v.values[order]
    w = cuda.sort(moved(SparseVector(v.size, v.indices[order], values, False)))
    assert w.is_sorted
    is_valid(brought(w))
    assert_same(w, v)


@given(st.data())
def test_a_transpose_gives_the_same_result_as_on_the_cpu(data):
    nrows, ncols = data.draw(SHAPES.filter(lambda shape: shape[1] < 100))
    a = data.draw(matrices(nrows, ncols, DTYPES))
    t = cuda.transpose(moved(a))
    if a.nvals > 1:  # CuPy does not preserve stride 0 if there is only one element
        assert is_iso(t.values) == is_iso(a.values)
    assert_same(t, cpu.transpose(a))


@given(st.data())
def test_building_a_matrix_or_vector_from_entries_gives_the_same_result_as_on_the_cpu(data):
    nrows, ncols = data.draw(SHAPES)
    count = data.draw(st.sampled_from((0, 1, 7, 300, 2000))) if nrows * ncols else 0
    numbers, dtype = random(data), data.draw(st.sampled_from((np.int32, np.int64)))
    rows = numbers.integers(0, max(nrows, 1), count).astype(dtype)
    columns = numbers.integers(0, max(ncols, 1), count).astype(dtype)
    values = numbers.integers(0, 5, count).astype(np.float32)
    if count and data.draw(FLAGS):
        values = np.broadcast_to(values[:1].copy(), (count,))
    if data.draw(FLAGS):
        order = np.lexsort((columns, rows))
        rows, columns = rows[order], columns[order]
    dup_op = data.draw(st.sampled_from(DUP_OPS))
    with using(build.BuildTuning(large=data.draw(st.sampled_from((2, 1 << 20))))):
        a = cuda.build_matrix(nrows, ncols, array(rows), array(columns), array(values), dup_op)
        v = cuda.build_vector(max(ncols, 1), array(columns), array(values), dup_op)
    assert_same(a, cpu.build_matrix(nrows, ncols, rows, columns, values, dup_op))
    is_valid(brought(v))
    assert_same(v, cpu.build_vector(max(ncols, 1), columns, values, dup_op))


@pytest.mark.parametrize("op", DUP_OPS, ids=lambda op: op.name)
def test_many_duplicates_of_an_entry_are_combined_in_order(op):
    rows, columns = np.zeros(2000, np.int32), np.repeat([1, 0, 1], [500, 700, 800]).astype(np.int32)
    values = np.random.default_rng(3).integers(0, 9, 2000).astype(np.float32)
    a = cuda.build_matrix(1, 2, array(rows), array(columns), array(values), op)
    assert_same(a, cpu.build_matrix(1, 2, rows, columns, values, op))


def test_the_error_about_duplicate_entries_names_one_of_them():
    rows, columns, values = np.array([2, 0, 2]), np.array([4, 1, 4]), np.ones(3)
    with pytest.raises(DuplicateEntry, match=r"entry \(2, 4\) is given more than once"):
        cuda.build_matrix(3, 5, array(rows), array(columns), array(values), None)
    with pytest.raises(DuplicateEntry, match="entry 4 is given more than once"):
        cuda.build_vector(5, array(columns), array(values), None)
