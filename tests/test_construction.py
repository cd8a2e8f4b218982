"""Test round trips through constructors and exporters, and their error messages."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from devices import DEVICE
from hypothesis import given
from hypothesis import strategies as st
from oracle import Table
from strategies import (
    INTEGERS,
    columns,
    matrix,
    same,
    tables,
    vector,
)

import graphla as gl
from graphla.formats import is_iso

data = st.data()
INT = np.dtype(np.int64)


def small() -> gl.Matrix:
    return gl.Matrix.from_coo([0, 0, 2], [1, 2, 0], [3, 1, 4], nrows=3, ncols=3)


def line() -> gl.Vector:
    return gl.Vector.from_coo([0, 2], [5, -1], size=3)


# --- tests of constructors and exporters -------------------------------------------------------
@given(data)
def test_coordinates_are_read_in_any_order_and_returned_sorted(data):
    A = data.draw(tables())
    C = matrix(A, "backwards")
    rows, cols, values = C.to_coo()
    assert rows.dtype == cols.dtype == np.int64 and values.dtype == A.dtype
    assert list(zip(rows.tolist(), cols.tolist(), strict=True)) == sorted(A.entries)
    indices, _ = vector(data.draw(columns()), "backwards").to_coo()
    assert indices.dtype == np.int64 and (np.diff(indices) > 0).all()
    assert C.to_coo(values=False)[2] is None and C.to_coo(rows=False)[0] is None


@given(data)
def test_a_dense_array_round_trip_keeps_every_value(data):
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


def test_the_method_to_dense_requires_a_fill_value_if_entries_are_missing():
    with pytest.raises(TypeError, match="fill_value"):
        small().to_dense()
    with pytest.raises(TypeError, match="fill_value"):
        line().to_dense()


@given(data)
def test_dict_and_edge_list_round_trips_keep_every_entry(data):
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


def test_a_scalar_value_gives_an_iso_valued_matrix():
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], 2.5)
    assert A.dtype == "FP64" and A.to_coo()[2].tolist() == [2.5, 2.5, 2.5]
    assert gl.Matrix.from_coo([0], [1]).dtype == "FP64"
    assert gl.Vector.from_scalar(True, 3).to_dict() == {0: True, 1: True, 2: True}
    assert gl.Matrix.from_scalar(1, 2, 2, "INT8").nvals == 4


def test_dtypes_are_inferred_as_in_numpy_and_may_be_specified_in_many_ways():
    assert gl.Vector.from_coo([0], [1]).dtype == gl.dtypes.INT64
    assert gl.Vector.from_coo([0], [True]).dtype == bool
    for dtype in (gl.dtypes.FP32, "FP32", "float32", np.float32, np.dtype("f4")):
        assert gl.Vector(dtype, 3).dtype == gl.dtypes.FP32
    assert gl.Vector(float, 3).dtype == "FP64" and gl.Vector(int, 3).dtype == "INT64"
    with pytest.raises((TypeError, ValueError), match="dtype"):
        gl.Vector("complex128", 3)
    with pytest.raises((TypeError, ValueError)):
        gl.Vector.from_coo([0], [1j])


def test_the_error_about_duplicate_entries_names_the_first_duplicate():
    with pytest.raises(ValueError, match=r"1.*2") as caught:
        gl.Matrix.from_coo([0, 1, 1, 1], [0, 2, 3, 2], [1, 2, 3, 4])
    assert isinstance(caught.value, gl.exceptions.GraphblasException)
    with pytest.raises(ValueError, match="3"):
        gl.Vector.from_coo([3, 1, 3], [1, 2, 3])
    assert gl.Vector.from_coo([3, 1, 3], [1, 2, 3], dup_op="plus").to_dict() == {1: 2, 3: 4}
    assert gl.Vector.from_coo([3, 1, 3], 1, dup_op="plus").to_dict() == {1: 1, 3: 2}


def test_duplicate_entries_are_merged_if_all_entries_have_the_same_value():
    assert gl.Vector.from_coo([3, 1, 3], 5).to_dict() == {1: 5, 3: 5}
    assert gl.Matrix.from_coo([0, 0], [1, 1], 5, nrows=2, ncols=2).to_dict() == {(0, 1): 5}


@pytest.mark.cpu
@pytest.mark.parametrize("size", [4, 5000])
@pytest.mark.parametrize(
    ("op", "value", "is_kept"), [("min", 3, True), ("plus", 3, False), ("plus", 0, True)]
)
def test_a_matrix_built_from_one_value_stays_iso_valued_if_dup_op_does_not_change_the_value(
    op, value, is_kept, size
):
    rows, columns = np.divmod(np.arange(2 * size) % size, 100)
    A = gl.Matrix.from_coo(rows, columns, value, dup_op=op)
    assert A.isequal(gl.Matrix.from_coo(rows, columns, np.full(2 * size, value), dup_op=op))
    assert is_iso(A._store.csr.values) == is_kept


@pytest.mark.parametrize("name", ["first", "second"])
def test_duplicates_are_combined_with_a_user_operator_even_if_it_is_named_like_a_built_in_one(name):
    op = gl.binary.register_anonymous(lambda x, y: 2 * x + y, name)
    assert gl.Vector.from_coo([3, 1, 3, 3], [1, 2, 3, 4], dup_op=op).to_dict() == {1: 2, 3: 14}
    assert gl.Vector.from_coo([3, 1, 3], 1, dup_op=op).to_dict() == {1: 1, 3: 3}


def test_the_method_build_rejects_a_nonempty_matrix_or_vector_unless_clear_is_set():
    A, w = small(), line()
    with pytest.raises(gl.exceptions.OutputNotEmpty):
        A.build([0], [0], [1])
    with pytest.raises(gl.exceptions.OutputNotEmpty):
        w.build([0], [1])
    A.build([0], [1], [9], clear=True)
    w.build([1], [9], clear=True, size=2)
    assert A.to_dicts() == {0: {1: 9}} and w.to_dict() == {1: 9} and w.size == 2


@pytest.mark.parametrize("bad", [[-1], [3]])
def test_a_constructor_rejects_an_index_out_of_range(bad):
    with pytest.raises((IndexError, ValueError)):
        gl.Vector.from_coo(bad, [1], size=3)
    with pytest.raises((IndexError, ValueError)):
        gl.Matrix.from_coo(bad, [0], [1], nrows=3, ncols=3)
    with pytest.raises((IndexError, ValueError)):
        gl.Matrix.from_coo([0], bad, [1], nrows=3, ncols=3)
    with pytest.raises((IndexError, ValueError)):
        gl.Vector(int, 3).build(bad, [1])


def test_arrays_of_inconsistent_sizes_are_rejected():
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


@pytest.mark.parametrize("edges", [[(1,)], [(1, 2, 3, 4)], [(0, 1), (1, 2, 3)], np.zeros((2, 4))])
def test_an_edge_tuple_with_the_wrong_number_of_elements_is_rejected(edges):
    with pytest.raises(ValueError, match=r"2 (or 3 )?(parts|columns)"):
        gl.Matrix.from_edgelist(edges)


def test_indices_may_have_any_integer_dtype_and_are_copied():
    for dtype in INTEGERS:
        rows = np.array([0, 2], dtype)
        A = gl.Matrix.from_coo(rows, rows, np.array([1, 2]))
        rows[:] = 1
        assert A.to_dicts() == {0: {0: 1}, 2: {2: 2}}


def test_writing_into_an_imported_or_exported_array_does_not_change_the_matrix():
    values, indptr, indices = np.array([1.0, 2.0]), np.array([0, 1, 2]), np.array([0, 1])
    A, v = gl.Matrix.from_csr(indptr, indices, values), gl.Vector.from_dense(values)
    for array in (values, indptr, indices):
        array[:] = 7
    assert A.to_dicts() == {0: {0: 1.0}, 1: {1: 2.0}} and v.to_dict() == {0: 1.0, 1: 2.0}
    for array in (*A.to_csr(), *A.to_coo(), v.to_dense(), v.to_coo()[1]):
        if array.flags.writeable:
            array[:] = 9
    assert A.to_dicts() == {0: {0: 1.0}, 1: {1: 2.0}} and v.to_dict() == {0: 1.0, 1: 2.0}


# --- sizes that are out of range, and values that do not fit in the dtype -------------------------
@pytest.mark.parametrize("size", [2**31, 2**40, -1])
def test_the_error_about_a_dimension_out_of_range_names_the_dimension(size):
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


def test_a_huge_vector_with_few_entries_uses_little_memory():
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


def test_a_wide_matrix_with_few_entries_uses_little_memory():
    n = 2**31 - 1
    A = gl.Matrix.from_coo([0, 1], [n - 1, 3], [4, 5], nrows=2, ncols=n)
    assert A.reduce_rowwise().new().to_dict() == {0: 4, 1: 5}
    assert A[1, 3].new() == 5 and A.get(0, -1) == 4
    assert (A + A).new().nvals == 2 and A.select("col>", 3).new().nvals == 1
    u = gl.Vector.from_coo([3, n - 1], [10, 20], size=n)
    for _ in range(20):
        assert (A @ u).new().to_dict() == (u @ A.T).new().to_dict() == {0: 80, 1: 50}
    assert (A * u).new().to_dicts() == {0: {n - 1: 80}, 1: {3: 50}}
    assert A[:, 3].new().to_dict() == {1: 5} and A[[1, 0], -1].new().to_dict() == {1: 4}


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_a_python_int_that_does_not_fit_in_the_dtype_is_rejected(dtype):
    info = np.iinfo(dtype)
    for value in (int(info.max) + 1, int(info.min) - 1):
        w, A = gl.Vector(dtype, 3), gl.Matrix(dtype, 2, 2)
        for write in (
            lambda w=w, value=value: w.__setitem__(0, value),
            lambda w=w, value=value: w << value,
            lambda A=A, value=value: A.__setitem__((0, slice(None)), value),
            lambda value=value: gl.Vector.from_coo([0], [value], dtype),
            lambda value=value: gl.Scalar.from_value(value, dtype),
        ):
            with pytest.raises((OverflowError, ValueError)):
                write()
        assert w.nvals == 0 and A.nvals == 0
    w = gl.Vector(dtype, 1)
    w[0] = int(info.max)
    assert w[0].new() == int(info.max)


@pytest.mark.parametrize(
    "x", [10**39, -(10**39), 10**400, 1e39, np.float64(1e39)], ids=lambda x: f"{len(str(x))} digits"
)
def test_a_scalar_beyond_the_range_of_a_floating_dtype_is_rejected_instead_of_becoming_infinity(x):
    u = gl.Vector("FP32", 2)
    with pytest.raises(OverflowError, match="does not fit FP32"):
        u[0] = x
    u[0] = float("inf") if x > 0 else float("-inf")
    assert u.nvals == 1


def test_array_subclasses_are_accepted_except_masked_arrays():
    class Named(np.ndarray):
        """An array subclass with its own indexing, like np.matrix."""

        def __getitem__(self, key):
            raise RuntimeError

    given = np.array([[1, 0], [2, 3]])
    assert gl.Matrix.from_dense(given.view(Named), 0).to_dense(0).tolist() == given.tolist()
    assert gl.Vector.from_coo([0, 1], given[0].view(Named)).to_dense().tolist() == [1, 0]
    with pytest.raises(TypeError, match="values must not be a masked array"):
        gl.Vector.from_dense(np.ma.array([1, 2], mask=[False, True]))
    u = gl.Vector.from_dense([5, 6])
    assert u[np.array(1)].new() == 6


def test_a_list_of_dicts_gives_one_row_per_dict():
    assert gl.Matrix.from_dicts([{0: 1}, {}]).shape == (2, 1)
    assert gl.Matrix.from_dicts([{0: 1}, {}], order="columnwise").shape == (1, 2)
    assert gl.Matrix.from_dicts([{0: 1}, {}], nrows=3).shape == (3, 1)


def test_the_error_about_an_argument_that_a_constructor_cannot_read_names_the_argument():
    for name, refused in {
        "indices": lambda: gl.Vector.from_coo(0, 1),
        "but size is 0": lambda: gl.Vector.from_dict({-1: 2}),
        "missing_value": lambda: gl.Vector.from_dense([1, 0], missing_value="x"),
        "fill_value": lambda: gl.Vector.from_coo([0], 1, size=2).to_dense("x"),
        "falls after offset 1": lambda: gl.Matrix.from_dcsr([1, 3], [0, 2, 1], [0, 1], [1, 2]),
        "starts at 1": lambda: gl.Matrix.from_dcsc([1, 3], [1, 2, 3], [0, 1], [1, 2]),
        "item 0 is 4": lambda: gl.Matrix.from_edgelist([4, 5]),
    }.items():
        with pytest.raises((TypeError, ValueError, IndexError), match=name):
            refused()


def test_a_mapping_is_rejected_as_an_edge_list():
    with pytest.raises(TypeError, match=r"list\(d.values\(\)\)"):
        gl.Matrix.from_edgelist({(0, 1): 3})


@pytest.mark.parametrize("big", [1 << 63, (1 << 63) + 1, (1 << 64) - 1])
def test_large_64_bit_integers_get_a_dtype_that_represents_them_exactly(big):
    for make in (
        lambda x: gl.Vector.from_coo([0, 1], [big, x]),
        lambda x: gl.Vector.from_dense([big, x]),
        lambda x: gl.Vector.from_dict({0: big, 1: x}),
        lambda x: gl.Matrix.from_dense([[big, x]])[0, :].new(),
        lambda x: gl.Graph.from_edges([(0, 0, big), (0, 1, x)], directed=True).matrix[0, :].new(),
    ):
        v = make(1)
        assert (v.dtype, v[0].value, v[1].value) == ("UINT64", big, 1)
        with pytest.raises(OverflowError, match=f"hold {big} next to -1, which does not fit INT64"):
            make(-1)
    for dtype, x in (("INT64", big), ("UINT64", -1)):
        with pytest.raises(OverflowError, match=f"values is {x}, which does not fit {dtype}"):
            gl.Vector.from_coo([0, 1], [big, -1], dtype)


@pytest.mark.parametrize("big", [1 << 63, (1 << 64) - 1, 1 << 64])
def test_a_64_bit_index_is_reported_as_out_of_range_and_not_as_a_float(big):
    v, A = gl.Vector(int, 4), gl.Matrix(int, 4, 4)
    for use in (
        lambda: v[[big, 1]],
        lambda: v[[big, -1]],
        lambda: A[[0], [big, 1]],
        lambda: gl.Vector.from_coo([big, 1], [1, 2]),
        lambda: gl.Matrix.from_coo([0, 0], [big, -1], [1, 2]),
        lambda: gl.Matrix.from_dicts({0: {big: 1, 1: 2}}),
        lambda: gl.Matrix.from_csr([0, big], [0]),
        lambda: gl.algorithms.bfs(A, [big, 1]),
        lambda: gl.algorithms.jaccard(A, [(big, 1)]),
    ):
        with pytest.raises(IndexError, match=str(big)):
            use()


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("make", [gl.Matrix.from_csr, gl.Matrix.from_csc])
def test_strided_offsets_and_indices_are_accepted(make, copy):
    offsets, indices = np.array([[0, 1, 2, 3], [1, 2, 0, 9]], np.int32).T.copy().T
    assert not offsets.flags.c_contiguous and not indices.flags.c_contiguous
    A = make(offsets, indices[:3], np.array([1, 2, 3]), copy=copy)
    for compiled in (
        (False, "auto") if DEVICE == "cuda" or find_spec("numba") is None else (False, True)
    ):
        with gl.config.set(compiled=compiled):
            square = gl.semiring.plus_times(A @ A).new()
            assert sorted(square.to_coo()[2].tolist()) == [2, 3, 6]
            assert gl.algorithms.bfs(A, 0).levels.nvals == 3
