"""Compare operations on hundreds of entries with dense NumPy.

For operands of this size, the implementations use methods that they do not use for tiny operands.
They divide the rows into parts with many rows each, process long rows and short rows differently,
fill bitmaps and hash tables, and use several threads. In this file, a dense matrix is a pair of
arrays, `present` and `values`. Missing entries have the value 0 in `values`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import verify

import graphla as gl
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.cpu.spgemm import SpgemmTuning
from graphla.backends.cpu.spmspv import SpmspvTuning
from graphla.backends.tuning import using

pytestmark = pytest.mark.usefixtures("loops")
Dense = tuple[Any, Any]  # present, values


@pytest.fixture(autouse=True, scope="module")
def small_parts() -> Iterator[None]:
    """Lower the thresholds so that compiled loops split these operands into several parts."""
    with using(
        PartsTuning(parallel=16), SpmspvTuning(parallel=16), SpgemmTuning(room=64, few_terms=0)
    ):
        yield


INT64, LEAST = np.int64, np.iinfo(np.int32).min


def fold_by(ufunc: np.ufunc, identity: Any) -> Any:
    """Return a function that reduces an array of terms along its second axis.

    The function has two parameters: the terms, with axes (rows, k, columns), and an array of flags.
    Terms whose flags are false are skipped.
    """
    return lambda terms, there: ufunc.reduce(terms, axis=1, where=there, initial=identity)


# Maps the name of a semiring to a triple: its dtype, a function that reduces terms with ⊕ (see
# `fold_by`), and a function that computes ⊗.
SEMIRINGS: dict[str, tuple[Any, Any, Any]] = {
    "plus_times": (INT64, fold_by(np.add, 0), np.multiply),
    "min_plus": (np.float64, fold_by(np.minimum, np.inf), np.add),
    "lor_land": (np.bool_, fold_by(np.logical_or, False), np.logical_and),
    "max_second": (np.int32, fold_by(np.maximum, LEAST), lambda x, y: y + 0 * x),
    "plus_pair": (INT64, fold_by(np.add, 0), lambda x, y: 0 * (x + y) + 1),
    "circle_plus": (INT64, lambda x, there: np.prod(x + 1, 1, where=there) - 1, np.add),
}


def semiring_of(name: str) -> Any:
    """Return the semiring with this name; the ⊕ of `circle_plus` is user-defined: x + y + x y."""
    if name != "circle_plus":
        return getattr(gl.semiring, name)
    circle = gl.binary.register_anonymous(lambda x, y: x + y + x * y, "circle")
    return gl.semiring.register_anonymous(
        gl.monoid.register_anonymous(circle, 0), gl.binary.plus, "circle_plus"
    )


@st.composite
def generators(draw: st.DrawFn) -> np.random.Generator:
    return np.random.default_rng(draw(st.integers(0, 2**32)))


def draw_dense(rng: np.random.Generator, shape: Any, dtype: Any) -> Dense:
    """Draw a dense array whose rows have very different densities; some are empty or full."""
    density = rng.choice([0, 0.01, 0.1, 0.5, 1], size=shape[:1])
    present = rng.random(shape) < density.reshape(-1, *[1] * (len(shape) - 1))
    values = np.zeros(shape, dtype)
    values[present] = rng.integers(0, 5, int(present.sum())).astype(dtype)
    return present, values


def noun_of(dense: Dense) -> Any:
    present, values = dense
    if present.ndim == 1:
        (indices,) = np.nonzero(present)
        return gl.Vector.from_coo(indices, values[indices], size=present.size)
    rows, cols = np.nonzero(present)
    nrows, ncols = present.shape
    return gl.Matrix.from_coo(rows, cols, values[rows, cols], nrows=nrows, ncols=ncols)


def same(noun: Any, expected: Dense) -> None:
    verify(noun)
    present, values = expected
    *places, got = noun.to_coo()
    for mine, theirs in zip(places, np.nonzero(present), strict=True):
        assert np.array_equal(mine, theirs)
    assert got.dtype == values.dtype and np.array_equal(got, values[present])


def product(A: Dense, B: Dense, semiring: str) -> Dense:
    """Return all products as an array of shape (rows, k, columns)."""
    _, fold, mult = SEMIRINGS[semiring]
    (there, x), (here, y) = A, B
    both = there[:, :, None] & here[None, :, :]
    terms = mult(x[:, :, None], y[None, :, :])
    values = fold(terms, both).astype(x.dtype)
    present = both.any(axis=1)
    return present, np.where(present, values, 0).astype(x.dtype)


def write(C: Dense, T: Dense, mask: np.ndarray | None, accum: bool, replace: bool) -> Dense:
    """C⟨mask, replace⟩ = T, or C⟨mask, replace⟩ = C + T if `accum` is True."""
    (there, x), (here, y) = C, T
    present = there | here if accum else here
    values = np.where(there & here, x + y, np.where(there, x, y)) if accum else y
    if mask is not None:
        present = np.where(mask, present, there & (not replace))
        values = np.where(mask, values, x)
    return present, np.where(present, values, 0).astype(x.dtype)


def check(rng: np.random.Generator, make: Any, T: Dense) -> None:
    """Check that the expression that make() returns evaluates to the entries T.

    Also check writes of the expression with masks and accumulators.
    """
    same(make().new(), T)
    C, M = draw_dense(rng, T[0].shape, T[1].dtype), draw_dense(rng, T[0].shape, np.int8)
    truth = M[0] & (M[1] != 0)
    views = {".S": M[0], "~S": ~M[0], ".V": truth, "~V": ~truth}
    for kind, allowed in views.items():
        noun = noun_of(M)
        view = noun.S if kind[1] == "S" else noun.V
        view = ~view if kind[0] == "~" else view
        same(
            make().new(mask=view),
            write((T[0] & False, np.zeros_like(T[1])), T, allowed, False, True),
        )
        accum, replace = bool(rng.integers(2)), bool(rng.integers(2))
        D = noun_of(C)
        options = {"accum": gl.binary.plus} if accum else {}
        D(view, replace=replace, **options) << make()
        same(D, write(C, T, allowed, accum, replace))


few = settings(max_examples=5)


@pytest.mark.parametrize("semiring", SEMIRINGS)
@few
@given(generators())
def test_matrix_products_agree_with_numpy_on_dense_arrays(semiring, rng):
    n, k, m = (int(size) for size in rng.integers(1, 60, 3))
    A, B = (draw_dense(rng, shape, SEMIRINGS[semiring][0]) for shape in ((n, k), (k, m)))
    op, C, D = semiring_of(semiring), noun_of(A), noun_of(B)
    check(rng, lambda: op(C @ D), product(A, B, semiring))


@pytest.mark.parametrize("semiring", SEMIRINGS)
@few
@given(generators())
def test_matrix_products_of_long_rows_under_a_sparse_mask_agree_with_numpy_on_dense_arrays(
    semiring, rng
):
    n, k, m = (int(size) for size in rng.integers(20, 50, 3))
    dtype = SEMIRINGS[semiring][0]
    A, B = draw_dense(rng, (n, k), dtype), draw_dense(rng, (k, m), dtype)
    there = rng.random((n, m)) < rng.choice([0.002, 0.02])
    T = product(A, B, semiring)
    expected = there & T[0], np.where(there, T[1], 0).astype(dtype)
    op, C, D, mask = semiring_of(semiring), noun_of(A), noun_of(B), noun_of((there, there))
    same(op(C @ D).new(mask=mask.S), expected)
    by_columns = noun_of((B[0].T, B[1].T))
    same(op(C @ by_columns.T).new(mask=mask.S), expected)
    same(
        op(C @ by_columns.T).new(mask=~mask.V),
        (T[0] & ~there, np.where(there, 0, T[1]).astype(dtype)),
    )


@pytest.mark.parametrize("direction", ["push", "pull"])
@pytest.mark.parametrize("semiring", SEMIRINGS)
@few
@given(generators())
def test_mxv_and_vxm_agree_with_numpy_on_dense_arrays(semiring, direction, rng):
    n, k = (int(size) for size in rng.integers(1, 250, 2))
    dtype = SEMIRINGS[semiring][0]
    A, u = draw_dense(rng, (n, k), dtype), draw_dense(rng, (k,), dtype)
    op, C, v = semiring_of(semiring), noun_of(A), noun_of(u)
    column = u[0][:, None], u[1][:, None]
    present, values = product(A, column, semiring)
    flipped = noun_of((A[0].T, A[1].T))
    with gl.direction(direction):
        check(rng, lambda: op(C @ v), (present[:, 0], values[:, 0]))
        check(rng, lambda: op(flipped.T @ v), (present[:, 0], values[:, 0]))
        row = product((column[0].T, column[1].T), (A[0].T, A[1].T), semiring)
        check(rng, lambda: op(v @ flipped), (row[0][0], row[1][0]))
        check(rng, lambda: op(v @ C.T), (row[0][0], row[1][0]))


@few
@given(generators())
def test_entrywise_operations_and_reductions_and_indexing_agree_with_numpy_on_dense_arrays(rng):
    n, m = (int(size) for size in rng.integers(1, 120, 2))
    A, B = draw_dense(rng, (n, m), np.int64), draw_dense(rng, (n, m), np.int64)
    C, D = noun_of(A), noun_of(B)
    both, either = A[0] & B[0], A[0] | B[0]
    check(rng, lambda: gl.binary.times(C & D), (both, A[1] * B[1]))
    check(rng, lambda: gl.binary.plus(C | D), (either, A[1] + B[1]))
    x, y = (np.where(each[0], each[1], fill) for each, fill in ((A, 3), (B, 2)))
    check(rng, lambda: C.ewise_union(D, "minus", 3, 2), (either, np.where(either, x - y, 0)))
    column = np.broadcast_to(np.arange(m), (n, m))
    check(rng, lambda: gl.binary.firstj(C & D), (both, np.where(both, column, 0)))
    check(rng, lambda: C.T, (A[0].T, A[1].T))
    check(rng, lambda: C.reduce_rowwise("plus"), (A[0].any(1), A[1].sum(1)))
    check(rng, lambda: C.reduce_columnwise("plus"), (A[0].any(0), A[1].sum(0)))
    check(rng, lambda: C.apply("plus", 3), (A[0], np.where(A[0], A[1] + 3, 0)))
    kept = A[0] & (A[1] > 1)
    check(rng, lambda: C.select("valuegt", 1), (kept, np.where(kept, A[1], 0)))
    I, J = rng.integers(0, n, 2 * n), rng.integers(0, m, m)
    check(rng, lambda: C[I, J], (A[0][np.ix_(I, J)], A[1][np.ix_(I, J)]))
    total = C.reduce_scalar("plus").new()
    assert total.is_empty if not A[0].any() else total.value == A[1].sum()


@few
@given(generators())
def test_assigning_to_a_region_agrees_with_numpy_on_dense_arrays(rng):
    n, m = (int(size) for size in rng.integers(2, 80, 2))
    I = rng.permutation(n)[: int(rng.integers(1, n))]
    J = rng.permutation(m)[: int(rng.integers(1, m))]
    C, A = draw_dense(rng, (n, m), np.int64), draw_dense(rng, (I.size, J.size), np.int64)
    expected = C[0].copy(), C[1].copy()
    for whole, part in zip(expected, A, strict=True):
        whole[np.ix_(I, J)] = part
    D = noun_of(C)
    D[I, J] << noun_of(A)
    same(D, expected)
    D = noun_of(C)
    D(gl.binary.plus)[I, J] << noun_of(A)
    expected = C[0].copy(), C[1].copy()
    expected[0][np.ix_(I, J)] |= A[0]
    expected[1][np.ix_(I, J)] += A[1]
    same(D, expected)


@few
@given(generators(), st.booleans())
def test_values_assigned_to_equal_indices_are_combined_as_in_numpy(rng, is_full):
    n, count = (int(size) for size in rng.integers(1, 300, 2))
    w, u = draw_dense(rng, (n,), np.int64), draw_dense(rng, (count,), np.int64)
    if is_full:
        u = np.ones(count, bool), rng.integers(-9, 9, count)
    I = rng.integers(0, n, count)
    present, values = w[0].copy(), w[1].copy()
    present[I[u[0]]] = True
    np.add.at(values, I, u[1])
    for indices in (I, gl.Vector.from_dense(I)):
        v = noun_of(w)
        v(gl.binary.plus)[indices] << noun_of(u)
        same(v, (present, values))
        same(v[indices].new(), (present[I], values[I]))


@few
@given(generators())
def test_building_from_unsorted_entries_folds_duplicates(rng):
    n, m, count = (int(size) for size in rng.integers(1, 300, 3))
    rows, cols = rng.integers(0, n, count), rng.integers(0, m, count)
    values = rng.integers(-9, 9, count)
    expected = np.zeros((n, m), bool), np.zeros((n, m), np.int64)
    expected[0][rows, cols] = True
    np.add.at(expected[1], (rows, cols), values)
    same(gl.Matrix.from_coo(rows, cols, values, dup_op="plus", nrows=n, ncols=m), expected)


@few
@given(generators())
def test_elementwise_operations_of_a_bitmap_with_a_sparse_vector_agree_with_numpy(rng):
    n = int(rng.integers(100, 300))
    u, v = rng.random(n) < 0.6, np.zeros(n, bool)
    v[rng.choice(n, 5, replace=False)] = True
    x, y = (np.where(there, rng.integers(1, 9, n), 0) for there in (u, v))
    both = u & v
    by_index, few = noun_of((u, x)), noun_of((v, y))
    i = int(u.argmax())
    by_index[i] = int(x[i])  # assigning an entry converts the vector to a bitmap
    same(gl.binary.minus(by_index & few).new(), (both, np.where(both, x - y, 0)))
    same(gl.binary.minus(few & by_index).new(), (both, np.where(both, y - x, 0)))


@settings(max_examples=2)
@given(generators())
def test_operations_on_many_thousands_of_entries_agree_with_scipy(rng):
    sparse = pytest.importorskip("scipy.sparse")
    n, m, nvals = 2500, 3000, 40_000

    def draw() -> tuple[Any, Any]:
        rows, cols = rng.zipf(1.6, nvals) % n, rng.integers(0, m, nvals)
        values = rng.integers(1, 9, nvals)
        reference = sparse.coo_array((values, (rows, cols)), shape=(n, m)).tocsr()
        return gl.Matrix.from_coo(rows, cols, values, dup_op="plus", nrows=n, ncols=m), reference

    def agree(noun: Any, reference: Any) -> None:
        reference = reference.tocsr()
        reference.sort_indices()
        for mine, theirs in zip(noun.to_csr(), (reference.indptr, reference.indices), strict=False):
            assert np.array_equal(mine, theirs)
        assert np.array_equal(noun.to_csr()[2], reference.data)

    (A, X), (B, Y) = draw(), draw()
    agree(A, X)
    agree(A.T.new(), X.T)
    agree(gl.binary.plus(A | B).new(), X + Y)
    agree(gl.binary.times(A & B).new(), X * Y)
    agree(gl.semiring.plus_times(A @ B.T).new(), X @ Y.T)
    agree(
        gl.semiring.plus_times(A @ B.T).new(mask=gl.Vector.from_scalar(1, n).diag().S),
        (X @ Y.T) * sparse.eye_array(n, dtype=np.int64),
    )
    u = rng.integers(1, 9, m)
    v = rng.integers(1, 9, n)
    for direction in ("push", "pull"):
        with gl.direction(direction):
            w = (A @ gl.Vector.from_dense(u)).new()
            assert np.array_equal(w.to_dense(fill_value=0), X @ u)
            w = (gl.Vector.from_dense(v) @ A).new()
            assert np.array_equal(w.to_dense(fill_value=0), v @ X)
    assert np.array_equal(A.reduce_columnwise().new().to_dense(fill_value=0), X.sum(axis=0))
    assert A.reduce_scalar().new() == X.sum()


@few
@given(generators())
def test_writing_long_vectors_obeys_the_graphblas_write_rule(rng):
    n = int(rng.integers(20_000, 60_000))
    u, v = (rng.random(n) < rng.choice([0, 0.001, 0.3, 1]) for _ in range(2))
    x, y = (np.where(there, rng.integers(1, 9, n), 0) for there in (u, v))
    check(rng, lambda: noun_of((u, x)).apply("identity"), (u, x))
    both = u & v
    check(
        rng,
        lambda: gl.binary.plus(noun_of((u, x)) & noun_of((v, y))),
        (both, np.where(both, x + y, 0)),
    )
    check(rng, lambda: gl.binary.plus(noun_of((u, x)) | noun_of((v, y))), (u | v, x + y))
    w = noun_of((u, x))
    w << noun_of((v, y))
    same(w, (v, y))
    total = noun_of((u, x)).reduce("max").new()
    assert total.is_empty if not u.any() else total == x.max()
