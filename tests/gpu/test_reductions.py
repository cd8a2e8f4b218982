"""Reductions on the GPU match the CPU and are bitwise reproducible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from storages import assert_same, dense_vectors, to_device, to_host, values_of

from graphla.backends import backend
from graphla.formats import BitmapVector, Csr
from semirings import monoid
from semirings.dtypes import lookup_dtype

data = st.data()
MONOIDS = (monoid.plus, monoid.min, monoid.any, monoid.bxor)
WHOLE = (np.dtype("i8"), np.dtype("u1"))


def cuda() -> Any:
    return backend("cuda")


def cpu() -> Any:
    return backend("cpu")


@given(data)
def test_a_reduction_includes_the_value_of_every_entry(data: Any) -> None:
    v = data.draw(dense_vectors(data.draw(st.sampled_from((0, 1, 40, 3000))), WHOLE))
    op = data.draw(st.sampled_from(MONOIDS))["INT64"]
    d, present = to_device(v), getattr(v, "present", None)
    mine = cuda().reduce(d.values, op, getattr(d, "present", None))
    assert type(mine) is np.int64
    if op.is_any:
        there = v.values if present is None else v.values[present]
        assert mine in there or not there.size
    else:
        assert mine == cpu().reduce(v.values, op, present)


def skewed(dtype: Any) -> Csr:
    """Return a matrix with empty rows, short rows, and rows longer than a strip of 512 entries."""
    numbers = np.random.default_rng(7)
    sizes = np.concatenate(
        [[0, 511, 1, 512, 513, 0, 0, 40_000, 1], numbers.integers(0, 4, 900), [1024, 0, 9_000]]
    )
    indptr = np.concatenate([[0], sizes.cumsum()]).astype(np.int32)
    indices = np.concatenate([np.arange(size) for size in sizes]).astype(np.int32)
    held = values_of(indices.size, np.dtype(dtype), numbers)
    return Csr(sizes.size, 40_000, indptr, indices, held)


@pytest.mark.parametrize("name", ["plus", "min", "lxnor"])
def test_partial_results_of_rows_longer_than_a_strip_are_combined(name: str) -> None:
    a = skewed("?" if name == "lxnor" else "i8")
    op = getattr(monoid, name)[lookup_dtype(a.values.dtype)]
    assert_same(cuda().reduce_rows(to_device(a), op), cpu().reduce_rows(a, op))


STRIPS = {
    "rows of 32": [32] * 70,
    "rows of 33, which cross the ends of strips": [33] * 70,
    "short and long rows in one strip": [1, 200, 3, 31, 32, 34, 100, 0, 5] * 9,
    "empty rows between all others": [0, 7] * 200,
    "more empty rows than entries of a strip": [3, *[0] * 2000, 60, 3] * 3,
    "a strip that ends with its last row": [500, 12, 300, 212, 512, 2],
    "more rows than lanes, each of one entry": [1] * 1500,
}


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "i8"])
@pytest.mark.parametrize("shape", STRIPS)
def test_rows_are_reduced_correctly_wherever_a_boundary_between_strips_divides_them(
    shape: str, dtype: str
) -> None:
    sizes = np.array(STRIPS[shape])
    indptr = np.concatenate([[0], sizes.cumsum()]).astype(np.int32)
    indices = np.concatenate([np.arange(size) for size in sizes]).astype(np.int32)
    values = np.random.default_rng(3).integers(1, 100, indices.size).astype(dtype)
    a = Csr(sizes.size, 600, indptr, indices, values)
    op = monoid.plus[lookup_dtype(values.dtype)]
    # Sums of small integers are exact in any order.
    assert_same(cuda().reduce_rows(to_device(a), op), cpu().reduce_rows(a, op))


def test_a_reduction_of_floats_is_bitwise_reproducible() -> None:
    a = skewed("f4")
    a.values[:] = np.random.default_rng(1).random(a.nvals)
    plus, d = monoid.plus["FP32"], to_device(a)
    first, again = (to_host(cuda().reduce_rows(d, plus)) for _ in range(2))
    there = first.present
    np.testing.assert_array_equal(first.values[there], again.values[there])
    np.testing.assert_allclose(first.values[there], cpu().reduce_rows(a, plus).values, 1e-4)
    total = cuda().reduce(d.values, plus)
    assert total == cuda().reduce(d.values, plus)
    np.testing.assert_allclose(total, a.values.sum(), 1e-5)


def test_a_value_that_all_entries_share_is_counted_once_per_entry() -> None:
    ones = np.broadcast_to(np.ones(1, np.int64), (1000,))
    a = Csr(2, 1000, np.array([0, 0, 1000], np.int32), np.arange(1000, dtype=np.int32), ones)
    w = to_host(cuda().reduce_rows(to_device(a), monoid.plus["INT64"]))
    assert isinstance(w, BitmapVector) and w.nvals == 1 and w.values[1] == 1000
    assert cuda().reduce(to_device(a).values, monoid.plus["INT64"]) == 1000


def test_an_iso_valued_operand_without_entries_reduces_to_the_identity() -> None:
    values, absent = np.broadcast_to(cuda().asarray([2]), (3,)), cuda().full(3, False, bool)
    for op in MONOIDS:
        if not op.is_any:
            assert cuda().reduce(values, op["INT64"], absent) == op["INT64"].identity
