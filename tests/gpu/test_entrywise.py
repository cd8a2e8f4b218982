"""Elementwise operations on the GPU match the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from storages import (
    assert_same,
    dense_vectors,
    is_valid,
    matrices,
    sparse_vectors,
    to_device,
    to_host,
)

from graphla.backends import backend
from graphla.backends.cpu import ewise
from graphla.backends.tuning import using
from graphla.formats import BitmapVector, Csr, FullVector, SparseVector
from semirings import binary, unary
from semirings.dtypes import lookup_dtype

data = st.data()
SIZES = st.sampled_from((0, 1, 2, 33, 70, 3000))
SHAPES = st.sampled_from(((0, 0), (0, 3), (3, 0), (1, 1), (1, 70), (9, 7), (40, 2), (150, 60)))
FLOAT = (np.dtype("f4"),)
NUMBERS = (np.dtype("i8"), np.dtype("f4"))
JOINS = (binary.minus, binary.second, binary.pair, binary.eq, binary.secondi, binary.firstj)


def cuda() -> Any:
    return backend("cuda")


def cpu() -> Any:
    return backend("cpu")


def operands(draw: Any, dtypes: Any = NUMBERS, number: int = 1) -> list[Any]:
    """Draw `number` sorted vectors of the same size, or sorted matrices of the same shape."""
    if draw(st.booleans()):
        size = draw(SIZES)
        return [draw(sparse_vectors(size, dtypes)) for _ in range(number)]
    shape = draw(SHAPES)
    return [draw(matrices(shape[0], shape[1], dtypes)) for _ in range(number)]


def a_join(draw: Any, *, dtype: Any = "FP32") -> Any:
    return draw(st.sampled_from(JOINS))[lookup_dtype(dtype)]


@given(data)
def test_a_union_gives_the_same_result_as_on_the_cpu(data: Any) -> None:
    a, b = operands(data.draw, number=2)
    op = a_join(data.draw)
    fills = data.draw(st.sampled_from(((), (2, 3))))
    c = cuda().union(to_device(a), to_device(b), op, *fills)
    assert_same(c, cpu().union(a, b, op, *fills))
    # If the pattern of one operand contains that of the other, the result shares its index arrays.
    # Check only results with new arrays.
    if c.nvals > max(a.nvals, b.nvals):
        is_valid(to_host(c))


@pytest.mark.parametrize("kind", ["even", "skew", "few in a row", "all in a row", "unequal"])
def test_a_union_of_operands_that_span_many_tiles_gives_the_same_result_as_on_the_cpu(kind: str):
    rng = np.random.default_rng(len(kind))
    shape = {"all in a row": (3, 20_000), "few in a row": (9000, 7)}.get(kind, (400, 500))
    shares = [0.05, 0.001 if kind == "unequal" else 0.06]
    if kind == "few in a row":
        shares = [0.01, 0.2]
    both = []
    for share in shares:
        chance = np.full((shape[0], 1), share)
        if kind == "skew":
            chance[::7], chance[50:350], chance[200] = 0, 0, 1
        if kind == "all in a row":
            chance[:] = [[0], [0.3], [0]]
        both.append(csr_of(rng.random(shape) < chance, rng))
    a, b = both
    op = binary.minus["FP32"]
    for left, right in ((a, b), (as_vector(a), as_vector(b))):
        c = cuda().union(to_device(left), to_device(right), op)
        assert_same(c, cpu().union(left, right, op))
        is_valid(to_host(c))


def csr_of(present: Any, rng: Any) -> Csr:
    """Return a matrix with random values where `present` is true."""
    indptr = np.append(0, np.cumsum(present.sum(axis=1))).astype(np.int32)
    indices = np.nonzero(present)[1].astype(np.int32)
    nrows, ncols = present.shape
    values = rng.integers(1, 9, indices.size).astype("f4")
    return Csr(nrows, ncols, indptr, indices, values)


def as_vector(a: Csr) -> SparseVector:
    """Return the rows of a matrix concatenated into a vector."""
    rows = np.repeat(np.arange(a.nrows), np.diff(a.indptr))
    places = (rows * a.ncols + a.indices).astype(np.int32)
    return SparseVector(a.nrows * a.ncols, places, a.values)


@given(data)
def test_a_merge_casts_the_values_to_the_result_dtype(data: Any) -> None:
    a, b = operands(data.draw, number=2)
    op = data.draw(st.sampled_from((None, binary.minus["FP32"])))
    dtype = np.dtype(data.draw(st.sampled_from(("i4", "f8"))))
    c = cuda().merge(to_device(a), to_device(b), op, dtype)
    assert_same(c, ewise.merge(a, b, op, dtype))


@given(data)
def test_operands_with_the_same_index_array_share_the_array_with_the_result(data: Any) -> None:
    (a,) = operands(data.draw)
    op = a_join(data.draw)
    how = data.draw(st.sampled_from(("union", "intersection")))
    d = to_device(a)
    c = getattr(cuda(), how)(d, d, op)
    assert c.indices is d.indices
    assert_same(c, getattr(cpu(), how)(a, a, op))


@given(data)
def test_unions_and_intersections_of_dense_vectors_give_the_same_results_as_on_the_cpu(
    data: Any,
) -> None:
    size = data.draw(SIZES)
    v = data.draw(dense_vectors(size, NUMBERS))
    w = data.draw(st.one_of(dense_vectors(size, NUMBERS), sparse_vectors(size, NUMBERS)))
    v, w = data.draw(st.sampled_from(((v, w), (w, v))))
    op = a_join(data.draw)
    how = data.draw(st.sampled_from(("union", "intersection")))
    fills = data.draw(st.sampled_from(((), (2, 3)))) if how == "union" else ()
    x = cuda().combine(to_device(v), to_device(w), op, how, *fills)
    y = getattr(cpu(), how)(cpu().to_sparse(v), cpu().to_sparse(w), op, *fills)
    assert_same(x, y)


@pytest.mark.parametrize("how", ["union", "intersection"])
def test_unions_and_intersections_of_bitmaps_have_the_same_entries_as_on_the_cpu(how: str) -> None:
    numbers = np.random.default_rng(6)
    present = numbers.random((2, 300)) < 0.5
    v, w = (BitmapVector(300, p, numbers.integers(0, 9, 300), int(p.sum())) for p in present)
    op = binary.minus["INT64"]
    x = cuda().combine(to_device(v), to_device(w), op, how)
    y = getattr(cpu(), how)(cpu().to_sparse(v), cpu().to_sparse(w), op)
    assert_same(x, y)


@given(data)
def test_only_entries_with_a_true_flag_are_kept(data: Any) -> None:
    (a,) = operands(data.draw, (np.dtype("?"), np.dtype("i8")))
    flags = data.draw(dense_vectors(a.nvals, (np.dtype("?"),))).values
    kept = cuda().keep(to_device(a), to_device(FullVector(a.nvals, flags)).values)
    assert_same(kept, cpu().keep(a, flags))


def test_a_long_array_of_flags_is_scanned_with_cupy() -> None:
    from graphla.backends.cuda.select import SelectTuning

    numbers = np.random.default_rng(3)
    indices = numbers.choice(9000, 4000, replace=False)
    a = SparseVector(9000, np.sort(indices).astype(np.int32), np.arange(4000))
    flags = numbers.random(4000) < 0.3
    with using(SelectTuning(one_block=1)):
        kept = cuda().keep(to_device(a), cuda().asarray(flags))
    assert_same(kept, cpu().keep(a, flags))


@given(data)
def test_apply_keeps_the_form_of_a_dense_vector(data: Any) -> None:
    v = data.draw(dense_vectors(data.draw(SIZES), FLOAT))
    d = to_device(v)
    mapped = cuda().apply(d, unary.ainv["FP32"])
    assert type(mapped) is type(d)
    assert_same(mapped, cpu().apply(v, unary.ainv["FP32"]))


def test_casts_saturate_out_of_range_values() -> None:
    v = FullVector(4, np.array([1e9, -1e9, np.nan, np.inf], np.float32))
    values = cuda().to_host(cuda().cast(to_device(v), np.int8).values)
    assert values[0] == 127 and values[1] == -128 and values[3] == 127


@pytest.mark.parametrize("how", ["apply", "bound", "union", "intersection"])
def test_a_result_whose_values_are_all_equal_stores_this_value_once(how: str) -> None:
    two = np.broadcast_to(np.array([2], np.float32), (3,))
    a = to_device(SparseVector(9, np.array([1, 4, 8], np.int32), two))
    b = to_device(SparseVector(9, np.array([1, 5, 8], np.int32), two))
    plus = binary.plus["FP32"]
    if how == "apply":
        c = cuda().apply(a, unary.ainv["FP32"])
    elif how == "bound":
        c = cuda().apply_bound(a, plus, 1, "left")
    else:
        c = getattr(cuda(), how)(a, a if how == "union" else b, plus)
    assert c.values.strides[0] == 0 and c.values.size == c.nvals


def test_the_row_index_of_each_entry_is_correct_for_rows_of_any_length() -> None:
    indptr = np.array([0, 0, 2500, 2500, 2501, 2502, 2502, 4000], np.int32)
    a = Csr(7, 4000, indptr, np.arange(4000, dtype=np.int32), np.ones(4000, np.float32))
    rows = cuda().to_host(cuda().row_of_entry(to_device(a)))
    assert (rows == cpu().row_of_entry(a)).all()
