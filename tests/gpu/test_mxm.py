"""Matrix products and Kronecker products on CUDA match the CPU under every mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from devices import has_cuda, use_cuda
from hypothesis import given
from hypothesis import strategies as st

if not has_cuda():
    pytest.skip("neither a card nor g++", allow_module_level=True)
use_cuda()

from storages import assert_same, matrices, to_device, to_host  # noqa: E402

from graphla.backends import backend  # noqa: E402
from graphla.backends.cuda import spgemm, spgemm_masked  # noqa: E402
from graphla.backends.tuning import using  # noqa: E402
from graphla.formats import Csr, MatrixMask, is_iso  # noqa: E402
from semirings import semiring as catalog  # noqa: E402

SEMIRINGS = (
    "plus_times FP32",
    "min_plus INT64",
    "plus_pair INT8",
    "any_pair BOOL",
    "any_secondi INT64",
    "lor_land BOOL",
)
"""Few semirings, because the simulator compiles a program for each."""

SIZES = st.sampled_from((0, 1, 3, 8, 40))


def typed(name: str) -> Any:
    which, dtype = name.split()
    return getattr(catalog, which)[dtype]


def own(semiring: Any) -> tuple[np.dtype[Any], ...]:
    return (semiring.binaryop.type.np_type,)


def check(
    semiring: Any,
    a: Csr,
    b: Csr,
    mask: MatrixMask | None,
    with_columns: bool,
    with_rows: bool = True,
) -> Csr:
    """Check the product on CUDA against the CPU; for `any`, compare only the pattern."""
    bt = backend("cpu").transpose(b)
    wanted = backend("cpu").mxm(a, b, semiring, mask, bt)
    there = None
    if mask is not None:
        there = MatrixMask(to_device(mask.pattern), mask.complement)
    found = backend("cuda").mxm(
        to_device(a),
        to_device(b) if with_rows else None,
        semiring,
        there,
        to_device(bt) if with_columns else None,
    )
    if found is None:
        assert not with_rows
        return wanted  # pyright: ignore
    found = to_host(found)
    if semiring.monoid.is_any and not is_iso(found.values):
        np.testing.assert_array_equal(found.indptr, wanted.indptr)  # pyright: ignore
        np.testing.assert_array_equal(found.indices, wanted.indices)  # pyright: ignore
        return found
    assert_same(found, wanted)
    return found


@given(st.data(), SIZES, SIZES, SIZES, st.sampled_from(SEMIRINGS))
def test_a_random_matrix_product_gives_the_same_result_as_on_the_cpu(
    data: Any, m: int, k: int, n: int, name: str
) -> None:
    semiring = typed(name)
    a = data.draw(matrices(m, k, own(semiring)))
    b = data.draw(matrices(k, n, own(semiring)))
    kind = data.draw(st.sampled_from(("none", "inside", "outside")))
    pattern = data.draw(matrices(m, n, (np.dtype(bool),)))
    mask = None if kind == "none" else MatrixMask(pattern, kind == "outside")
    check(semiring, a, b, mask, data.draw(st.booleans()))


@given(
    st.data(), SIZES, SIZES, SIZES, st.sampled_from(SEMIRINGS), st.sampled_from(("dots", "rows"))
)
def test_masked_products_computed_by_rows_and_by_dot_products_match_the_cpu(
    data: Any, m: int, k: int, n: int, name: str, way: str
) -> None:
    semiring = typed(name)
    a = data.draw(matrices(m, k, own(semiring)))
    b = data.draw(matrices(k, n, own(semiring)))
    pattern = data.draw(matrices(m, n, (np.dtype(bool),)))
    if not (a.nvals and b.nvals and pattern.nvals):
        return
    wanted = backend("cpu").mxm(a, b, semiring, MatrixMask(pattern, False), None)
    right = backend("cpu").transpose(b) if way == "dots" else b
    found = to_host(
        spgemm_masked._at_pattern(way, to_device(a), to_device(right), semiring, to_device(pattern))
    )
    if semiring.monoid.is_any:
        np.testing.assert_array_equal(found.indptr, wanted.indptr)  # pyright: ignore
        np.testing.assert_array_equal(found.indices, wanted.indices)  # pyright: ignore
    else:
        assert_same(found, wanted)


def random_csr(
    rng: np.random.Generator, shape: tuple[int, int], sizes: Any, dtype: Any, iso: bool = False
) -> Csr:
    """Return a matrix with rows of the given sizes and random columns."""
    nrows, ncols = shape
    rows = [np.sort(rng.choice(ncols, size=s, replace=False)) for s in sizes]
    indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    indices = np.concatenate([*rows, np.empty(0, np.int64)]).astype(np.int32)
    values = rng.integers(1, 4, indices.size).astype(dtype)
    if iso:
        values = np.broadcast_to(values[:1].copy(), values.shape)
    return Csr(nrows, ncols, indptr, indices, values)


@pytest.mark.parametrize("name", ["plus_times FP32", "any_pair BOOL"])
@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("scratch", [0, spgemm.TUNING.scratch])
def test_rows_of_every_size_are_multiplied_correctly(
    name: str, outside: bool, scratch: int
) -> None:
    """Some rows of the product have no terms, and some have enough terms for several tiles."""
    semiring, rng = typed(name), np.random.default_rng(1)
    dtype = own(semiring)[0]
    b = random_csr(rng, (60, 5000), [40] * 50 + [1] * 10, dtype)
    a = random_csr(rng, (9, 60), [0, 1, 2, 3, 8, 9, 30, 50, 60], dtype)
    pattern = random_csr(rng, (9, 5000), [0, 5, 5, 5, 50, 500, 0, 1000, 5], bool)
    with using(spgemm.SpgemmTuning(scratch=scratch, few_rows=scratch)):
        check(semiring, a, b, MatrixMask(pattern, True) if outside else None, False)


@pytest.mark.parametrize("name", ["plus_times FP32", "any_pair BOOL"])
@pytest.mark.parametrize("outside", [False, True])
def test_long_rows_with_very_many_columns_are_multiplied_correctly(
    name: str, outside: bool
) -> None:
    """Products sort such rows in batches."""
    semiring, rng = typed(name), np.random.default_rng(2)
    dtype, n = own(semiring)[0], 2_000_000
    b = random_csr(rng, (60, n), [40] * 60, dtype)
    b.indices[:400].reshape(10, 40)[:] = b.indices[:40]
    a = random_csr(rng, (6, 60), [60, 50, 0, 55, 2, 60], dtype)
    pattern = random_csr(rng, (6, n), [0, 5, 5, 50, 50, 500], bool)
    pattern.indices[-40:] = b.indices[:40]
    pattern.indices[-500:].sort()
    unique = np.unique(pattern.indices[-500:])
    keep = np.concatenate((pattern.indices[:-500], unique))
    indptr = pattern.indptr.copy()
    indptr[-1] = keep.size
    pattern = Csr(6, n, indptr, keep, np.ones(keep.size, bool))
    with using(spgemm.SpgemmTuning(sorted=5000)):
        check(semiring, a, b, MatrixMask(pattern, True) if outside else None, False)


@pytest.mark.parametrize("with_rows", [False, True])
def test_masked_products_of_skewed_rows_are_correct(with_rows: bool) -> None:
    """The product has three kinds of rows, for which the kernel uses different methods.

    Some rows are too long for a hash table, some rows are computed by searching lists, and some
    rows are split among tiles.
    """
    semiring, rng = typed("plus_times FP32"), np.random.default_rng(3)
    a = random_csr(rng, (5, 3000), [2000, 3, 1000, 0, 40], np.float32)
    b = random_csr(rng, (3000, 700), rng.integers(0, 30, 3000), np.float32)
    pattern = random_csr(rng, (5, 700), [600, 700, 3, 5, 64], bool)
    check(semiring, a, b, MatrixMask(pattern, False), True, with_rows)


@pytest.mark.parametrize("name", ["plus_times FP32", "any_pair BOOL"])
def test_masked_products_search_long_rows_of_b_for_the_columns_of_the_mask(name: str) -> None:
    semiring, rng = typed(name), np.random.default_rng(6)
    dtype = own(semiring)[0]
    a = random_csr(rng, (4, 50), [50, 30, 0, 1], dtype)
    b = random_csr(rng, (50, 2000), [900, 3] * 25, dtype)
    pattern = random_csr(rng, (4, 2000), [3, 20, 5, 2], bool)
    wanted = backend("cpu").mxm(a, b, semiring, MatrixMask(pattern, False), None)
    found = spgemm_masked._at_pattern(
        "rows", to_device(a), to_device(b), semiring, to_device(pattern)
    )
    assert_same(to_host(found), wanted)


def test_a_masked_product_asks_its_caller_for_b_in_csr_form_if_dot_products_would_be_too_slow() -> (
    None
):
    semiring, rng = typed("plus_times FP32"), np.random.default_rng(4)
    a = random_csr(rng, (64, 64), [1] * 64, np.float32)
    full = random_csr(rng, (64, 64), [64] * 64, bool)
    mask = MatrixMask(to_device(full), False)
    assert backend("cuda").mxm(to_device(a), None, semiring, mask, to_device(a)) is None
    check(semiring, a, a, MatrixMask(full, False), True)


def skewed(rng: np.random.Generator, shape: tuple[int, int], count: int, dtype: Any) -> Csr:
    """Return a matrix in which few rows and few columns contain most of the entries."""
    nrows, ncols = shape
    rows = (nrows * rng.random(count) ** 3).astype(np.int64)
    columns = (ncols * rng.random(count) ** 3).astype(np.int64)
    keys = np.unique(rows * ncols + columns)
    indptr = keys.searchsorted(np.arange(nrows + 1) * ncols).astype(np.int32)
    values = rng.integers(0, 5, keys.size).astype(dtype)
    return Csr(nrows, ncols, indptr, (keys % ncols).astype(np.int32), values)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "name", ["plus_times INT32", "min_plus FP64", "any_pair BOOL", "max_first INT8"]
)
@pytest.mark.parametrize("shape", [(3000, 2000, 4000), (300, 20000, 3_000_000), (40000, 500, 900)])
def test_large_products_give_the_same_results_as_on_the_cpu(
    name: str, shape: tuple[int, int, int]
) -> None:
    """The products take every code path: each kind of mask, with and without a CSC form of B."""
    semiring, rng = typed(name), np.random.default_rng(sum(shape))
    m, k, n = shape
    dtype = own(semiring)[0]
    a = skewed(rng, (m, k), 60000, dtype)
    b = skewed(rng, (k, n), 60000, semiring.binaryop.type2.np_type)
    pattern = skewed(rng, (m, n), 80000, bool)
    check(semiring, a, b, None, False)
    check(semiring, a, b, MatrixMask(pattern, True), False)
    check(semiring, a, b, MatrixMask(pattern, False), False)
    check(semiring, a, b, MatrixMask(pattern, False), True)
    check(semiring, a, b, MatrixMask(pattern, False), True, with_rows=False)
    bt, wanted = backend("cpu").transpose(b), None
    for way, right in (("dots", bt), ("rows", b)):
        found = to_host(
            spgemm_masked._at_pattern(
                way, to_device(a), to_device(right), semiring, to_device(pattern)
            )
        )
        if wanted is not None and not semiring.monoid.is_any:
            assert_same(found, wanted)
        wanted = found


@pytest.mark.gpu
def test_the_results_of_a_repeated_product_are_bitwise_equal() -> None:
    semiring, rng = typed("plus_times FP32"), np.random.default_rng(5)
    a = skewed(rng, (3000, 3000), 60000, np.float32)
    a = to_device(Csr(a.nrows, a.ncols, a.indptr, a.indices, rng.random(a.nvals).astype("f4")))
    first = to_host(backend("cuda").mxm(a, a, semiring, None, None))
    for _ in range(5):
        again = to_host(backend("cuda").mxm(a, a, semiring, None, None))
        np.testing.assert_array_equal(again.values, first.values)
