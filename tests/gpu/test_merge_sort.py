"""Merge sort on the GPU gives the same result as Python's stable sort. It also terminates if the
comparison is not a valid order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cmp_to_key
from typing import Any

import cupy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphla.backends.cuda import sort
from graphla.backends.cuda.sort import sort_by
from graphla.backends.tuning import using
from semirings import binary
from semirings.dtypes import ALL, DataType

SMALL = sort.SortTuning(threads=64, items=1, wide_items=1)
"""Tiles so small that a few hundred keys need several merge levels."""

ORDERS = {"lt": binary.lt, "gt": binary.gt}
ORDERS["by magnitude"] = binary.register_anonymous(lambda x, y: x * x < y * y, "by_magnitude")
NO_ORDERS = {
    "always": lambda x, y: x == x,
    "unequal": lambda x, y: x != y,
    "circular": lambda x, y: (y - x) % 3 == 1,
    "random": lambda x, y: (x * 40503 + y * 30011) % 97 < 40,
    "rarely wrong": lambda x, y: (x < y) != ((x * 40503 + y * 30011) % 997 == 0),
}
NO_ORDER_SIZES = (*[None] * 12, [577], [32, 0, 700, 3, 40, 200, 90], *[[5, 400, 1, 999]] * 3)
disorderly = {name: binary.register_anonymous(f, name) for name, f in NO_ORDERS.items()}
segments = st.lists(
    st.one_of(st.just(0), st.integers(1, 9), st.integers(1, 90), st.integers(90, 900)),
    min_size=1,
    max_size=40,
)


@pytest.fixture
def small() -> Iterator[int]:
    """Sort in small tiles; yield the number of entries per tile."""
    with using(SMALL):
        yield SMALL.threads * SMALL.items


def in_order(values: np.ndarray, sizes: Any, before: Any) -> np.ndarray:
    """Return the stable sort order of each segment, with NaN last."""
    numbers = values.tolist()

    def compare(i: int, j: int) -> int:
        x, y = numbers[i], numbers[j]
        if x != x or y != y:
            return int(x != x) - int(y != y)
        return int(before(y, x)) - int(before(x, y))

    order: list[int] = []
    for n in sizes:
        order += sorted(range(len(order), len(order) + n), key=cmp_to_key(compare))
    return np.array(order, np.int64)


def sort_on_card(values: np.ndarray, sizes: Any, op: Any, offset: Any = np.int32) -> Any:
    """Sort each segment of the values on the GPU, and return the results on the host.

    `sizes` contains the number of values in each segment. If `sizes` is None, all values are one
    segment.
    """
    indptr = None if sizes is None else cupy.asarray(np.r_[0, np.cumsum(sizes)].astype(offset))
    typed = op[values.dtype.name] if isinstance(values.dtype, DataType) else op[values.dtype]
    found, places = sort_by(cupy.asarray(values), indptr, typed)
    assert found.dtype == values.dtype
    assert places.dtype == np.int32
    return found.get(), places.get()


def drawn(dtype: np.dtype, count: int, seed: int, of: int = 40) -> np.ndarray:
    """Return values with many duplicates; floating-point values include NaN."""
    values = np.random.default_rng(seed).integers(0, of, count)
    if dtype.kind == "f":
        return np.where(values < of // 8, np.nan, values - of // 2).astype(dtype)
    return values.astype(dtype)


def check(values: np.ndarray, sizes: Any, name: str, offset: Any = np.int32) -> None:
    python = {"lt": lambda x, y: x < y, "gt": lambda x, y: x > y}
    before = python.get(name, lambda x, y: x * x < y * y)
    found, places = sort_on_card(values, sizes, ORDERS[name], offset)
    expected = in_order(values, [values.size] if sizes is None else sizes, before)
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(found, values[expected])


@settings(max_examples=20)
@given(segments, st.sampled_from(sorted(ORDERS)), st.integers(0, 99))
@pytest.mark.usefixtures("small")
def test_rows_are_sorted_correctly_wherever_tiles_split_them(sizes, name, seed):
    check(drawn(np.dtype("f4"), sum(sizes), seed), sizes, name)


@settings(max_examples=20)
@given(st.integers(0, 2000), st.sampled_from(sorted(ORDERS)), st.integers(0, 99))
@pytest.mark.usefixtures("small")
def test_the_values_of_a_vector_are_sorted(count, name, seed):
    check(drawn(np.dtype("f4"), count, seed), None, name)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_values_of_every_dtype_are_sorted(small, dtype):
    for count in (1, small, 7 * small + 5):
        check(drawn(dtype.np_type, count, 1), None, "lt")
    check(drawn(dtype.np_type, 5 * small, 2), [small, 0, 3 * small, 1, small - 1], "lt", np.int64)


@pytest.mark.parametrize("tiles", [0, 1, 2])
def test_inputs_whose_size_is_near_a_multiple_of_the_tile_size_are_sorted(tiles):
    items = sort.TUNING.items
    for more in (-1, 0, 1, items + 1) if tiles else (0, 1, 2, items, items + 1):
        count = tiles * sort.TUNING.threads * items + more
        check(drawn(np.dtype("f4"), count, count, 1000), None, "gt")


def test_rows_about_as_long_as_a_tile_are_sorted():
    tile = sort.TUNING.threads * sort.TUNING.items
    slack = tile // sort.TUNING.slack
    for near in (slack, tile - slack, tile, 2 * tile):
        sizes = [near + more for more in (-1, 0, 1)]
        check(drawn(np.dtype("f4"), sum(sizes), near), sizes, "lt")
    check(drawn(np.dtype("f4"), 3 * tile, 7), [1] * (3 * tile), "lt")


def test_short_rows_are_sorted_in_one_pass(small, monkeypatch):
    """The rows are so short that no tile boundary divides them, wherever they begin."""
    seen = []
    monkeypatch.setattr(sort, "number", lambda x: seen.append(int(x)) or seen[-1])
    slack = small // sort.TUNING.slack
    sizes = np.random.default_rng(1).integers(0, slack + 1, 400).tolist()
    check(drawn(np.dtype("f4"), sum(sizes), 3), sizes, "lt")
    check(drawn(np.dtype("f4"), 10 * small, 3), [10 * small], "lt")
    assert seen == [0, 4]


@pytest.mark.parametrize("name", NO_ORDERS)
def test_sorting_with_an_invalid_comparison_function_returns_a_permutation(small, name):
    for seed, sizes in enumerate(NO_ORDER_SIZES):
        count = 17 * small if sizes is None else sum(sizes)
        values = np.random.default_rng(seed).integers(0, 1000, count, np.int32)
        found, places = sort_on_card(values, sizes, disorderly[name])
        np.testing.assert_array_equal(np.sort(places), np.arange(count))
        np.testing.assert_array_equal(found, values[places])
        row = np.repeat(np.arange(len(sizes or [0])), sizes or count)
        np.testing.assert_array_equal(row[places], row)


def test_the_tuning_constants_are_consistent():
    """Check the conditions that the kernels rely on.

    The number of threads must be a power of two, because the length of sorted runs doubles in each
    step. The number of items per thread must be odd, which avoids bank conflicts, and at most 32,
    because a 32-bit word has one bit per item.
    """
    tuning = sort.TUNING
    assert tuning.threads & (tuning.threads - 1) == 0
    assert all(items % 2 and items <= 32 for items in (tuning.items, tuning.wide_items))
    assert tuning.slack >= 2


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u1"])
def test_large_inputs_are_sorted_as_numpy_sorts_them(dtype):
    rng = np.random.default_rng(int(os.environ.get("GRAPHLA_SEED", "0")))
    for count in (1 << 20, 5_000_011):
        values = drawn(np.dtype(dtype), count, 5, 1 << 22)
        found, places = sort_on_card(values, None, binary.lt)
        expected = values.argsort(kind="stable")
        np.testing.assert_array_equal(places, expected)
        np.testing.assert_array_equal(found, values[expected])
        sizes = (rng.pareto(0.8, count) * 9).astype(np.int64)
        sizes = sizes[: np.searchsorted(sizes.cumsum(), count)]
        values = values[: sizes.sum()]
        _, places = sort_on_card(values, sizes, binary.lt, np.int64)
        row = np.arange(sizes.size).repeat(sizes)
        np.testing.assert_array_equal(places, np.lexsort((values, row)))


@pytest.mark.gpu
@pytest.mark.parametrize("name", NO_ORDERS)
def test_sorting_large_inputs_with_an_invalid_comparison_function_returns_a_permutation(name):
    values = np.random.default_rng(3).integers(0, 1 << 30, 3_000_001, np.int32)
    found, places = sort_on_card(values, None, disorderly[name])
    np.testing.assert_array_equal(np.sort(places), np.arange(values.size))
    np.testing.assert_array_equal(found, values[places])


@pytest.mark.gpu
def test_inputs_with_more_than_2_to_the_31_entries_are_sorted():
    count = (1 << 31) + 5
    values = (cupy.arange(count) & 255).astype(cupy.uint8)
    found, places = sort_by(values, None, binary.lt["UINT8"])
    assert places.dtype == np.int64
    assert bool((found[1:] >= found[:-1]).all())
    for place in (0, 1, 1 << 20, count - 1):
        assert int(values[places[place]]) == int(found[place])
    first = int((found == 0).sum())
    assert bool((places[:first] == cupy.arange(first) * 256).all())
