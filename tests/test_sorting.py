"""Compare sort, argsort and top_k with Python's stable `sorted` under the same comparison."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from heapq import nlargest, nsmallest
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from invariants import verify
from strategies import DTYPES, LAYOUTS, columns, numbers, tables, vector
from strategies import matrix as laid_out

import graphla as gl
from graphla import Matrix, Vector, binary
from semirings.exceptions import DomainMismatch, InvalidValue

pytestmark = pytest.mark.usefixtures("loops")
data = st.data()

KEYS = 0x3A91_07C3_E25B
"""A table of sort keys for the values 0 to 11, with four bits per key."""

# There are only a few orders, because compiling an operator takes a long time. Most operators
# compare only a part of each value, so two different values may compare as equal.
ORDERS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "by the upper bits": ("INT64", lambda x, y: x >> 8 < y >> 8),
    "by the remainder": ("INT32", lambda x, y: x % 7 > y % 7),
    "by a table": (
        "UINT64",
        lambda x, y: (KEYS >> 4 * (x % 12)) % 16 < (KEYS >> 4 * (y % 12)) % 16,
    ),
    "by the magnitude": ("FP64", lambda x, y: abs(x) < abs(y)),
    "rounded": ("FP32", lambda x, y: x // 1 < y // 1),
    "as fractions": ("INT16", lambda x, y: (x >> 4) * (y % 16 + 1) < (y >> 4) * (x % 16 + 1)),
    "true first": ("BOOL", lambda x, y: x & (x != y)),
}
NO_ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "always": lambda x, y: x == x,
    "unequal": lambda x, y: x != y,
    "circular": lambda x, y: (y - x) % 3 == 1,
    "random": lambda x, y: (x * 40503 + y * 30011) % 97 < 40,
}
names = st.sampled_from(sorted(ORDERS))
registered = {name: binary.register_anonymous(f, name) for name, (_, f) in ORDERS.items()}
disorderly = {name: binary.register_anonymous(f, name) for name, f in NO_ORDERS.items()}


def values_for(dtype: np.dtype) -> st.SearchStrategy[Any]:
    """Draw values such that many of them compare as equal in each of the tested orders."""
    if dtype.kind == "f":
        halves = st.integers(-12, 12).map(lambda k: k / 2)
        return st.one_of(halves, halves, st.just(float("nan"))).map(dtype.type)
    if dtype.kind == "b":
        return st.booleans().map(np.bool_)
    return st.integers(0 if dtype.kind == "u" else -1000, 1000).map(dtype.type)


def in_order(values: Any, before: Callable[[Any, Any], Any]) -> list[int]:
    """Return the permutation that sorts the values stably by `before`, with NaN last."""

    def compare(i: int, j: int) -> int:
        x, y = values[i].item(), values[j].item()
        if x != x or y != y:
            return int(x != x) - int(y != y)
        return int(before(y, x)) - int(before(x, y))

    return sorted(range(len(values)), key=cmp_to_key(compare))


def same(got: Any, expected: Any) -> None:
    """Assert that two arrays have the same dtype and values; NaN equals NaN."""
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def check_vector(w: Vector, p: Vector, indices: Any, values: Any, order: Any, size: int) -> None:
    """Assert that w has the sorted values and p their indices, both at positions 0, 1, 2, ..."""
    assert (w.size, p.size) == (size, size)
    for noun, expected in ((w, values[order]), (p, indices[order])):
        verify(noun)
        places, found = noun.to_coo()
        same(places, np.arange(len(order)))
        same(found, expected)


def random_values(rng: np.random.Generator, dtype: np.dtype, size: int) -> Any:
    """Return random numbers with some duplicates, and NaN among floats."""
    if dtype.kind == "b":
        return rng.random(size) < 0.5
    if dtype.kind == "f":
        values = (rng.integers(-500, 500, size) / 4).astype(dtype)
        values[rng.random(size) < 0.05] = np.nan
        return values
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -900), min(info.max, 900), size).astype(dtype)


# --- any comparison ---------------------------------------------------------------------------


@given(data, names)
def test_sorting_a_vector_is_stable(data, name):
    dtype, before = ORDERS[name]
    np_type = gl.dtypes.lookup_dtype(dtype).np_type
    size = data.draw(st.integers(0, 40))
    table = data.draw(columns(size, np_type, values=values_for(np_type)))
    v = vector(table, data.draw(LAYOUTS["vector"]))
    indices, values = v.to_coo()
    w, p = v.sort(registered[name])
    check_vector(w, p, indices, values, in_order(values, before), size)
    assert v.argsort(registered[name]).isequal(p, check_dtype=True)


@given(data, names, st.sampled_from(["rowwise", "columnwise"]))
def test_the_functions_sort_and_top_k_order_each_row_or_column(data, name, order):
    dtype, before = ORDERS[name]
    np_type = gl.dtypes.lookup_dtype(dtype).np_type
    table = data.draw(tables(None, np_type, values=values_for(np_type)))
    A = laid_out(table, data.draw(LAYOUTS["matrix"]))
    k = data.draw(st.integers(0, 7))
    for (C, P), most in (
        (A.sort(registered[name], order), 9),
        (A.top_k(k, registered[name], order), k),
    ):
        verify(C), verify(P)
        lines = [X if order == "rowwise" else X.T for X in (A, C, P)]
        assert lines[1].shape == lines[2].shape
        assert lines[1].shape == (lines[0].nrows, k if most == k else lines[0].ncols)
        assert (C.dtype, P.dtype) == (A.dtype, gl.dtypes.INT64)
        arrays = [X.to_csr() for X in lines]
        indptr, indices, values = arrays[0]
        for i, (begin, end) in enumerate(pairwise(indptr)):
            first = in_order(values[begin:end], before)[:most]
            for got, expected in zip(arrays[1:], (values, indices), strict=True):
                place = slice(got[0][i], got[0][i + 1])
                same(got[1][place], np.arange(len(first)))
                same(got[2][place], expected[begin:end][first])


@pytest.mark.parametrize("name", ["by the upper bits", "rounded", "true first"])
@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 255, 256, 257, 3001, 6001])
def test_sorting_longer_vectors_is_stable(name, size):
    dtype, before = ORDERS[name]
    values = random_values(np.random.default_rng(size), gl.dtypes.lookup_dtype(dtype).np_type, size)
    w, p = Vector.from_dense(values).sort(registered[name])
    check_vector(w, p, np.arange(size), values, in_order(values, before), size)


def test_long_and_short_rows_can_be_sorted_together():
    rng = np.random.default_rng(5)
    counts = np.array([0, 1, 2, 700, 0, 3, 33, 1500, 1, 0, 64, 6500, 0, 9])
    indptr = np.concatenate([[0], counts.cumsum()])
    indices = np.concatenate([np.sort(rng.choice(7000, count, False)) for count in counts])
    values = random_values(rng, np.dtype(np.int64), indices.size)
    A = Matrix.from_csr(indptr, indices, values, ncols=7000)
    C, P = A.sort(registered["by the upper bits"])
    expected = [
        begin + k
        for begin, end in pairwise(indptr)
        for k in in_order(values[begin:end], ORDERS["by the upper bits"][1])
    ]
    same(C.to_csr()[0], indptr)
    same(C.to_csr()[1], np.concatenate([np.arange(count) for count in counts]))
    same(C.to_csr()[2], values[expected])
    same(P.to_csr()[2], indices[expected])


@pytest.mark.cpu
@given(data)
def test_a_vector_can_be_sorted_by_an_arbitrary_order_of_a_few_keys(data):
    """A random table of keys defines the order.

    The comparison runs in NumPy, because compiling a function for each order would be slow.
    """
    keys = data.draw(st.integers(0, 2**48 - 1), label="keys")
    values = np.array(data.draw(st.lists(st.integers(0, 2**40), max_size=60)), np.uint64)

    def before(x, y):
        return (keys >> 4 * (x % 12)) % 16 < (keys >> 4 * (y % 12)) % 16

    with gl.config.set(compiled=False):
        w, p = Vector.from_dense(values).sort(before)
    check_vector(w, p, np.arange(values.size), values, in_order(values, before), values.size)


@pytest.mark.parametrize("name", sorted(NO_ORDERS))
@pytest.mark.parametrize("size", [2, 3, 17, 40, 300, 7600])
def test_sorting_with_an_inconsistent_comparison_function_returns_a_permutation(name, size):
    values = np.random.default_rng(size).integers(-99, 99, size)
    w, p = Vector.from_dense(values).sort(disorderly[name])
    assert sorted(p.to_dense().tolist()) == list(range(size))
    same(w.to_dense(), values[p.to_dense()])
    C, P = Matrix.from_csr(
        [0, size // 3, size], [*range(size // 3), *range(size - size // 3)], values
    ).sort(disorderly[name])
    begin, end = 0, size // 3
    for found, came in zip(
        np.split(C.to_csr()[2], [end]), np.split(P.to_csr()[2], [end]), strict=True
    ):
        assert sorted(came.tolist()) == list(range(found.size))
        same(found, values[begin:][came])
        begin = end


# --- built-in comparisons -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sorting_by_less_or_greater_equals_the_stable_sort_of_numpy(dtype):
    values = random_values(np.random.default_rng(3), dtype, 700)
    v = Vector.from_dense(values)
    rising = values.argsort(kind="stable")
    numbers_of = np.nan_to_num(values.astype(float), nan=-np.inf)
    falling = (-numbers_of).argsort(kind="stable")
    for op, order in ((binary.lt, rising), ("le", rising), (">", falling), (binary.ge, falling)):
        check_vector(*v.sort(op), np.arange(700), values, order, 700)
    C, P = Matrix.from_csr([0, 200, 200, 700], np.r_[0:200, 0:500], values).sort(">")
    parts = [falling[falling < 200], falling[falling >= 200]]
    same(C.to_csr()[2], values[np.concatenate(parts)])
    same(P.to_csr()[2], np.concatenate([parts[0], parts[1] - 200]))


@pytest.mark.parametrize("dtype", ["INT8", "FP64"])
def test_sorting_is_stable_with_a_comparison_that_is_true_for_equal_values(dtype):
    values = np.array([2, 1, 2, 3, 1, 1, 0], np.dtype(dtype.lower().replace("fp", "float")))
    v = Vector.from_dense(values)
    for op in (
        lambda x, y: y >= x,
        lambda x, y: ~(x > y),
        lambda x, y: (x < y) | (x == y),
        lambda x, y: x // 1 <= y // 1,
    ):
        assert v.argsort(op).to_dense().tolist() == [6, 1, 4, 5, 0, 2, 3]
    for op in (binary.eq, lambda x, y: True, lambda x, y: x == x):
        assert v.argsort(op).to_dense().tolist() == list(range(7))


@given(st.lists(numbers(np.dtype(np.float64)), max_size=30))
def test_infinities_and_signed_zeros_are_sorted_as_in_numpy(entries):
    values = np.array(entries, np.float64)
    w, p = Vector.from_dense(values).sort()
    order = values.argsort(kind="stable")
    check_vector(w, p, np.arange(values.size), values, order, values.size)
    same(np.signbit(w.to_dense()), np.signbit(values[order]))


def test_a_python_function_that_compares_two_values_can_define_the_order():
    v = Vector.from_dense([3.0, float("nan"), -1.0, 2.0])
    assert v.argsort(lambda x, y: x < y).to_dense().tolist() == [2, 3, 0, 1]
    assert v.argsort(lambda x, y: y < x).to_dense().tolist() == [0, 3, 2, 1]


@given(data, st.integers(0, 50), st.integers(0, 60))
def test_the_function_top_k_agrees_with_heapq(data, size, k):
    values = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=size, max_size=size)), int)
    indices = np.sort(np.random.default_rng(size).choice(90, size, False))
    v = Vector.from_coo(indices, values, dtype=int, size=90)
    for heap, options in ((nlargest, {}), (nsmallest, {"op": binary.lt})):
        w, p = v.top_k(k, **options)
        order = heap(k, range(size), key=values.tolist().__getitem__)
        check_vector(w, p, indices, values, order, k)


# --- special inputs -----------------------------------------------------------------------------


def test_the_permutation_restores_the_original_order():
    values = np.random.default_rng(1).integers(0, 20, 300)
    v = Vector.from_dense(values)
    w, p = v.sort(registered["by the upper bits"])
    origins = p.to_dense()
    assert v[origins].new().isequal(w)
    back = Vector(w.dtype, w.size)
    back[origins] << w
    assert back.isequal(v)


def test_inputs_with_no_entries_or_one_entry_or_equal_entries_are_sorted_correctly():
    for v in (Vector(int, 0), Vector(float, 5), Vector(bool, 2**31 - 1)):
        w, p = v.sort()
        assert (w.nvals, p.nvals, w.size, w.dtype) == (0, 0, v.size, v.dtype)
        w, p = v.top_k(3)
        assert (w.nvals, w.size, p.size) == (0, 3, 3)
    one = Vector.from_coo([2**30], [7.5], size=2**31 - 1)
    assert [x.to_dict() for x in one.sort()] == [{0: 7.5}, {0: 2**30}]
    few = Vector.from_coo([4, 2**30, 2**31 - 2], [1, 3, 2], size=2**31 - 1)
    assert [x.to_dict() for x in few.sort(">")] == [
        {0: 3, 1: 2, 2: 1},
        {0: 2**30, 1: 2**31 - 2, 2: 4},
    ]
    equal = Vector.from_coo([1, 4, 8], 2.5, size=9)
    assert [x.to_dict() for x in equal.sort(">")] == [{0: 2.5, 1: 2.5, 2: 2.5}, {0: 1, 1: 4, 2: 8}]
    assert [x.to_dict() for x in equal.top_k(2)] == [{0: 2.5, 1: 2.5}, {0: 1, 1: 4}]
    for A in (Matrix(int, 0, 0), Matrix(int, 0, 3), Matrix(int, 3, 0), Matrix(int, 2, 2**31 - 1)):
        C, P = A.sort()
        assert (C.shape, C.nvals, P.nvals) == (A.shape, 0, 0)
        assert A.top_k(2)[0].shape == (A.nrows, 2)
    A = gl.generators.grid(3, 3)
    C, P = A.sort(">")
    assert [row[0] for row in P.to_dicts().values()] == [1, 0, 1, 0, 1, 2, 3, 4, 5]
    assert C.reduce_rowwise("sum").new().isequal(A.reduce_rowwise("sum").new())


def test_symmetric_and_transposed_matrices_are_sorted_correctly():
    A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [5, 5, 3, 3], symmetric=True)
    by_rows, by_columns = A.sort(), A.sort(order="columnwise")
    for rows, cols in zip(by_rows, by_columns, strict=True):
        assert cols.T.new().isequal(rows)
    assert A.T.sort()[1].isequal(by_rows[1])
    assert by_rows[1].to_dicts() == {0: {0: 1}, 1: {0: 2, 1: 0}, 2: {0: 1}}


def test_sorting_an_expression_leaves_its_operands_unchanged():
    v = Vector.from_coo([0, 3, 4], [3, 1, 2], size=6)
    kept = v.dup()
    w, p = (v + v).sort()
    assert (w.to_dict(), p.to_dict()) == ({0: 2, 1: 4, 2: 6}, {0: 3, 1: 4, 2: 0})
    assert (v @ Matrix.from_coo([3, 4], [0, 1], [1, 1], nrows=6, ncols=2)).argsort(">").nvals == 2
    assert v.isequal(kept)


def test_an_output_that_is_not_requested_is_none():
    v, A = Vector.from_dense([2, 1]), Matrix.from_coo([0, 0], [0, 1], [2, 1])
    assert v.sort(permutation=False)[1] is None
    assert v.sort(values=False)[0] is None
    assert A.sort(permutation=False)[1] is None
    assert A.sort(values=False)[0] is None
    assert A.argsort().isequal(A.sort()[1])
    assert A.argsort(order="col").to_coo()[2].tolist() == [0, 0]


def test_an_operator_may_compare_in_another_dtype_without_changing_the_entries():
    v = Vector.from_dense(np.array([2**53 + 1, 2**53, 5], np.int64))
    w, p = v.sort(binary.lt["FP64"])
    assert w.dtype == gl.dtypes.INT64
    assert (w.to_dense().tolist(), p.to_dense().tolist()) == ([5, 2**53 + 1, 2**53], [2, 0, 1])


def test_sorting_a_labeled_result_gives_a_plain_vector():
    G = gl.Graph.from_edges([("a", "b"), ("b", "c"), ("b", "d")])
    w, p = gl.algorithms.degree(G).sort(">")
    assert type(w) is Vector
    assert (w.to_dict()[0], p.to_dict()[0]) == (1.0, 1)


def test_a_sort_appears_among_the_events_of_a_recorder():
    with gl.Recorder() as record:
        Vector.from_dense([3, 1, 2]).sort()
    assert [event.operation for event in record.events] == ["sort"]


# --- rejections -----------------------------------------------------------------------------------


def test_the_error_about_an_operator_that_is_not_a_comparison_names_the_operator():
    v: Any = Vector.from_dense([2.0, 1.0])
    A = Matrix.from_coo([0], [0], [1])
    with pytest.raises(DomainMismatch, match=r"op is binary.plus\[FP64\], which gives FP64, but"):
        v.sort(binary.plus)
    with pytest.raises(InvalidValue, match="compares values, not their places"):
        v.sort(binary.firsti)
    with pytest.raises(DomainMismatch, match="it should compare FP64: NaN is no INT64"):
        v.sort(binary.lt["INT64"])
    with pytest.raises(TypeError, match="op must be a binary operator"):
        v.sort(3)
    with pytest.raises(InvalidValue, match="'before' names no binary operator"):
        A.sort("before")
    with pytest.raises(InvalidValue, match="order must be 'rowwise' or 'columnwise'"):
        A.sort("<", "diagonal")
    with pytest.raises(InvalidValue, match="k is -1, but it should be 0 or more"):
        v.top_k(-1)
    with pytest.raises(InvalidValue, match="k is 2147483648, but it should be less than"):
        A.top_k(2**31)
    with pytest.raises(TypeError, match=r"k must be an integer, not 1\.5"):
        v.top_k(1.5)
