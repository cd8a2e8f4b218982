"""The GraphBLAS write rule on the device matches the CPU for every kind of output and mask."""

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
from graphla.formats import (
    BitmapVector,
    Counted,
    FullVector,
    MatrixMask,
    SparseVector,
    VectorMask,
    is_iso,
    known,
)
from semirings import binary

cpu, cuda = backend("cpu"), backend("cuda")

SIZES = st.sampled_from((0, 1, 5, 40, 300, 700))
DTYPES = tuple(map(np.dtype, ("i8", "f4")))
ACCUMS = (None, binary.plus["INT64"], binary.minus["FP32"], binary.second["BOOL"])
FLAGS = st.booleans()


@st.composite
def vectors(draw: Any, size: int) -> Any:
    """Draw a vector of any form, with sorted or unsorted entries."""
    v = draw(st.one_of(dense_vectors(size, DTYPES), sparse_vectors(size, DTYPES)))
    if isinstance(v, SparseVector) and draw(FLAGS):
        order = np.random.default_rng(draw(st.integers(0, 99))).permutation(v.nvals)
        values = v.values if is_iso(v.values) else v.values[order]
        return SparseVector(size, v.indices[order], values, False)
    return v


@st.composite
def masks(draw: Any, size: int, t: Any) -> VectorMask | None:
    """Draw None, or a mask for a vector of the given size.

    The mask is stored as flags, as a list of indices, or as both. The flags or the list may be the
    flags or the indices of the vector `t`, without a copy.
    """
    kind, complement = draw(st.sampled_from(("none", "flags", "list", "both", "same"))), draw(FLAGS)
    if kind == "none" or (kind == "same" and isinstance(t, FullVector)):
        return None
    if kind == "same":
        if isinstance(t, SparseVector):
            return VectorMask(size, None, t.indices, complement, t.is_sorted)
        return VectorMask(size, t.present, None, complement)
    v = draw(sparse_vectors(size, DTYPES))
    present = cpu.to_bitmap(v).present if kind != "list" else None
    indices = None if kind == "flags" else v.indices[:: draw(st.sampled_from((1, -1)))]
    return VectorMask(size, present, indices, complement, indices is v.indices, v.nvals)


def shared(storage: Any, *others: Any) -> list[Any]:
    """Copy storages to the device; arrays that are shared remain shared."""
    arrays: dict[int, Any] = {}
    result = []
    for each in (storage, *others):
        there = None if each is None else moved(each)
        for name in ("present", "indices"):
            here = getattr(each, name, None)
            if here is not None:
                array = arrays.setdefault(id(here), getattr(there, name))
                object.__setattr__(there, name, array)
        result.append(there)
    return result


@given(st.data())
def test_writing_a_vector_gives_the_same_result_as_on_the_cpu(data):
    size = data.draw(SIZES)
    c, t = data.draw(vectors(size)), data.draw(vectors(size))
    mask = data.draw(masks(size, t))
    accum, replace = data.draw(st.sampled_from(ACCUMS)), mask is not None and data.draw(FLAGS)
    dtype = c.values.dtype
    in_place = not isinstance(c, SparseVector) and not is_iso(c.values) and data.draw(FLAGS)
    expected = cpu.write_vector(c, t, mask, accum, replace, dtype)
    w = moved(c)
    if isinstance(w, BitmapVector) and data.draw(FLAGS):
        w = BitmapVector(size, w.present, w.values, Counted(cuda.asarray(np.int64(c.nvals))))
    there_t, there_mask = shared(t, mask)
    written = cuda.write_vector(w, there_t, there_mask, accum, replace, dtype, in_place=in_place)
    is_valid(brought(written))
    assert_same(written, expected)
    assert_same(there_t, t)
    if not in_place:
        assert_same(w, c)


@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("accum", ACCUMS[:2])
def test_writing_a_bitmap_under_a_bitmap_mask_gives_the_same_result_as_on_the_cpu(
    accum, replace, complement
):
    rng, size = np.random.default_rng(3), 300
    flags = rng.random((3, size)) < 0.5
    c, t = (
        BitmapVector(size, present, rng.integers(1, 9, size), int(present.sum()))
        for present in flags[:2]
    )
    mask = VectorMask(size, flags[2], None, complement)
    expected = cpu.write_vector(c, t, mask, accum, replace, c.values.dtype)
    w, there_t, there_mask = moved(c), *shared(t, mask)
    written = cuda.write_vector(w, there_t, there_mask, accum, replace, c.values.dtype)
    assert_same(written, expected)


@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_writing_a_bitmap_under_a_mask_of_indices_gives_the_same_result_as_on_the_cpu(
    is_sparse, complement
):
    rng, size = np.random.default_rng(5), 300
    flags = rng.random((3, size)) < 0.5
    c, t = (
        BitmapVector(size, present, rng.integers(1, 9, size), int(present.sum()))
        for present in flags[:2]
    )
    if is_sparse:
        t = cpu.to_sparse(t)
    mask = VectorMask(size, None, flags[2].nonzero()[0].astype(np.int32), complement)
    expected = cpu.write_vector(c, t, mask, None, True, c.values.dtype)
    there_t, there_mask = shared(t, mask)
    written = cuda.write_vector(moved(c), there_t, there_mask, None, True, c.values.dtype)
    assert_same(written, expected)


@pytest.mark.parametrize("is_dense", [False, True])
def test_a_frontier_is_written_into_a_bitmap_in_place_without_waiting_for_the_gpu(is_dense):
    n = 1000
    c = BitmapVector(n, cuda.full(n, False, bool), cuda.full(n, 0, np.int64), 0)
    present, values = c.present, c.values
    for step in range(1, 4):
        indices = cuda.asarray(np.arange(0, n, step, dtype=np.int32)[::-1].copy())
        t: Any = SparseVector(n, indices, cuda.full(indices.size, step, np.int64), False)
        mask = VectorMask(n, None, t.indices, False, False)
        if is_dense:
            t = cuda.to_bitmap(t)
            mask = VectorMask(n, t.present, None, False)
        c = cuda.write_vector(c, t, mask, None, False, np.int64, in_place=True)
        assert isinstance(c, BitmapVector)
        assert c.present is present and c.values is values
        assert known(c.count) is None
    assert c.nvals == n
    assert brought(c).values[:7].tolist() == [3, 1, 2, 3, 2, 1, 3]


@given(st.data())
def test_setting_one_element_gives_the_same_result_as_on_the_cpu(data):
    size = data.draw(st.sampled_from((1, 5, 40)))
    v = data.draw(dense_vectors(size, DTYPES).filter(lambda v: not is_iso(v.values)))
    i = data.draw(st.integers(0, size - 1))
    value = data.draw(st.sampled_from((None, v.values.dtype.type(7))))
    written = cuda.set_element(moved(v), i, value)
    assert_same(written, cpu.set_element(brought(moved(v)), i, value))


@given(st.data())
def test_writing_a_matrix_gives_the_same_result_as_on_the_cpu(data):
    nrows, ncols = data.draw(st.sampled_from(((0, 3), (1, 1), (5, 7), (20, 30))))
    c, t, m = (data.draw(matrices(nrows, ncols, DTYPES)) for _ in range(3))
    m = data.draw(st.sampled_from((m, t, c)))
    mask = data.draw(st.sampled_from((None, MatrixMask(m, False), MatrixMask(m, True))))
    accum, replace = data.draw(st.sampled_from(ACCUMS)), mask is not None and data.draw(FLAGS)
    dtype = c.values.dtype
    w, there_t, there_m = shared(c, t, m)
    there_mask = None if mask is None else MatrixMask(there_m, mask.complement)
    written = cuda.write_matrix(w, there_t, there_mask, accum, replace, dtype)
    assert_same(written, cpu.write_matrix(c, t, mask, accum, replace, dtype))
    assert_same(w, c)


def test_creating_a_vector_with_one_entry_gives_the_same_result_as_on_the_cpu():
    for value in (np.int64(-7), np.float32(2.5), np.bool_(True)):
        assert_same(cuda.one_entry(40, 7, value), cpu.one_entry(40, 7, value))
