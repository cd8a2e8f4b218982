"""Compare GPU and CPU results for large random inputs, and test more than 2^32 entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphla as gl

pytestmark = pytest.mark.gpu

SEMIRINGS = (
    *(("plus_times", "INT64"), ("min_plus", "FP32"), ("lor_land", "BOOL"), ("max_second", "INT32")),
    *(("plus_pair", "INT64"), ("min_secondi", "INT32"), ("bxor_band", "UINT32")),
)


@pytest.fixture(scope="module", params=[0, 1])
def graph(request: pytest.FixtureRequest) -> Any:
    """Return rows, columns and integer values of a few million unevenly distributed entries."""
    rng = np.random.default_rng(request.param)
    n, entries = ((1 << 18) + 7, 5_000_000) if request.param else (3_000_017, 4_000_000)
    skewed = (n * rng.random((2, entries)) ** 4).astype(np.int64)
    even = rng.integers(0, n, (2, entries))
    return n, *np.where(rng.random(entries) < 0.5, skewed, even), rng.integers(1, 100, entries)


def pair(graph: Any, dtype: str) -> tuple[gl.Matrix, gl.Matrix]:
    """Return the graph as a matrix on the CPU and on the GPU."""
    n, rows, columns, values = graph
    kept = values.astype(gl.dtypes.lookup_dtype(dtype).np_type)
    made = []
    for device in ("cpu", "cuda"):
        with gl.config.set(device=device):
            made.append(gl.Matrix.from_coo(rows, columns, kept, nrows=n, ncols=n, dup_op="first"))
    return made[0], made[1]


def same(x: Any, y: Any) -> None:
    """Check that two matrices or vectors contain exactly the same entries."""
    for mine, theirs in zip(x.to_coo(), y.to("cpu").to_coo(), strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


def some(n: int, share: float, dtype: Any, seed: int = 7) -> tuple[gl.Vector, gl.Vector]:
    rng = np.random.default_rng(seed)
    places = np.flatnonzero(rng.random(n) < share)
    values = rng.integers(1, 100, places.size).astype(gl.dtypes.lookup_dtype(dtype).np_type)
    with gl.config.set(device="cpu"):
        u = gl.Vector.from_coo(places, values, size=n)
    return u, u.to("cuda")


@pytest.mark.parametrize(("name", "dtype"), SEMIRINGS)
def test_large_products_with_vectors_of_every_density_give_the_same_results_as_on_the_cpu(
    graph, name, dtype
):
    (A, B), op = pair(graph, dtype), getattr(gl.semiring, name)
    for share in (0.0001, 0.01, 0.7, 1):
        u, v = some(A.nrows, share, dtype)
        m, n = some(A.nrows, 0.3, "BOOL", 8)
        for towards in ("push", "pull"):
            with gl.direction(towards):
                same(op(A @ u).new(), op(B @ v).new())
                same(op(u @ A).new(mask=~m.S), op(v @ B).new(mask=~n.S))
                same(op(A @ u).new(mask=m.V), op(B @ v).new(mask=n.V))


def test_deterministic_sums_of_floats_are_bitwise_reproducible(graph):
    A, B = pair(graph, "FP32")
    _, v = some(A.nrows, 0.5, "FP32")
    with gl.config.set(deterministic=True):
        for towards in ("push", "pull"):
            with gl.direction(towards):
                first = gl.semiring.plus_times(B @ v).new()
                for _ in range(3):
                    same(first.to("cpu"), gl.semiring.plus_times(B @ v).new())


def test_large_elementwise_operations_give_the_same_results_as_on_the_cpu(graph):
    A, B = pair(graph, "INT64")
    C, D = A.T.new(), B.T.new()
    same(A.ewise_add(C, "plus").new(), B.ewise_add(D, "plus").new())
    same(A.ewise_mult(C, "times").new(), B.ewise_mult(D, "times").new())
    same(A.apply("ainv").new(), B.apply("ainv").new())
    same(A.select("tril", -5).new(), B.select("tril", -5).new())
    same(A.select("valuegt", 50).new(), B.select("valuegt", 50).new())
    for fold in ("plus", "min", "any"):
        if fold != "any":
            same(A.reduce_rowwise(fold).new(), B.reduce_rowwise(fold).new())
            assert A.reduce_scalar(fold).new().value == B.reduce_scalar(fold).new().value
        assert A.reduce_columnwise(fold).new().nvals == B.reduce_columnwise(fold).new().nvals


def test_large_extract_and_assign_operations_give_the_same_results_as_on_the_cpu(graph):
    A, B = pair(graph, "INT32")
    rng = np.random.default_rng(9)
    rows = rng.permutation(A.nrows)[:50_000]
    columns = np.sort(rng.permutation(A.nrows)[:90_000])
    same(A[rows, columns].new(), B[rows, columns].new())
    same(A[rows, :].new(), B[rows, :].new())
    M, N = A.select("valuegt", 40).new(), B.select("valuegt", 40).new()
    for X, Y, mask in ((A.dup(), B.dup(), False), (A.dup(), B.dup(), True)):
        X(~M.S if mask else M.V, "plus") << X.T.new()
        Y(~N.S if mask else N.V, "plus") << Y.T.new()
        same(X, Y)


def test_large_matrix_products_give_the_same_results_as_on_the_cpu():
    rng = np.random.default_rng(3)
    n, entries = 40_000, 400_000
    rows, columns = (n * rng.random((2, entries)) ** 1.5).astype(np.int64)
    graph = n, rows, columns, rng.integers(1, 9, entries)
    for name, dtype in (("plus_times", "INT64"), ("min_plus", "FP32"), ("plus_pair", "INT32")):
        (A, B), op = pair(graph, dtype), getattr(gl.semiring, name)
        same(op(A @ A).new(), op(B @ B).new())
        same(op(A @ A.T).new(mask=A.S), op(B @ B.T).new(mask=B.S))
        same(op(A @ A).new(mask=~A.S), op(B @ B).new(mask=~B.S))


@pytest.mark.parametrize("nvals", [(1 << 31) + 5, (1 << 32) + 5])
def test_matrices_with_more_than_2_to_the_32_entries_are_supported(nvals):
    """All rows have `width` entries of the same value, so the results are known in closed form."""
    import cupy

    width = 1 << 20
    nrows, rest = nvals // width + 1, nvals % width
    indptr = np.minimum(np.arange(nrows + 1, dtype=np.int64) * width, nvals)
    indices = cupy.empty(nvals, np.int32)
    indices[: nvals - rest].reshape(-1, width)[:] = cupy.arange(width, dtype=np.int32)
    indices[nvals - rest :] = cupy.arange(rest, dtype=np.int32)
    with gl.config.set(device="cuda"), gl.direction("pull"):
        A = gl.Matrix.from_csr(cupy.asarray(indptr), indices, 1, "INT64", ncols=width, copy=False)
        del indices
        assert A.nvals == nvals
        widths = np.full(nrows, width)
        widths[-1] = rest
        every = gl.Vector.from_scalar(1, width, "INT64")
        np.testing.assert_array_equal(dense(gl.semiring.plus_times(A @ every).new()), widths)
        np.testing.assert_array_equal(dense(A.reduce_rowwise("plus").new()), widths)
        assert A.reduce_scalar("plus").new().value == nvals
        assert A[nrows - 1, :].new().nvals == rest
        assert A.select("rowgt", nrows - 3).new().nvals == width + rest
    one = gl.Vector.from_coo([nrows - 1], [3], size=nrows).to("cuda")
    with gl.direction("push"):
        assert gl.semiring.plus_first(one @ A).new().nvals == rest


def dense(w: gl.Vector) -> Any:
    """Return the values of a vector that has an entry at every index."""
    indices, values = w.to_coo()
    np.testing.assert_array_equal(indices, np.arange(w.size))
    return values
