"""Test that compiled loops agree with NumPy for any number of threads, and test their cache."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from effort import is_full

import graphla as gl
import semirings
from graphla.backends import Side
from graphla.backends.cpu import backend as cpu
from graphla.backends.cpu import dispatch, spgemm, spmspv, spmv
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.cpu.spgemm import SpgemmTuning
from graphla.backends.cpu.spmspv import SpmspvTuning
from graphla.backends.tuning import using
from graphla.compilers import machine_code, scratch, threads
from graphla.compilers import numba as compiled
from graphla.formats import BitmapVector, Csr, FullVector, MatrixMask, SparseVector, VectorMask
from graphla.settings import config
from semirings import binary, semiring, trace
from semirings.exceptions import GraphblasException

numba = pytest.importorskip("numba")

N = 70  # number of rows, more than the number of bits in a word of a bitmap
LARGE_PUSH = SpmspvTuning(parallel=16, small=0)


@pytest.fixture(autouse=True)
def small_parts() -> Iterator[None]:
    """Lower the thresholds so that small operands use several parts, threads and blocks."""
    with using(PartsTuning(parallel=16), LARGE_PUSH, SpgemmTuning(room=64, few_terms=0)):
        yield


# --- operands -----------------------------------------------------------------------------------


def values_of(rng: np.random.Generator, size: int, dtype: Any, iso: bool = False) -> np.ndarray:
    """Return small integers, whose float sums are exact."""
    if iso:
        return np.broadcast_to(np.ones(1, dtype), size)
    return rng.integers(0, 5, size).astype(dtype)


def a_matrix(rng: Any, nrows: int, ncols: int, dtype: Any, iso: bool, wide: bool = False) -> Csr:
    """Return a matrix with rows of very different lengths, including empty and full rows."""
    density = rng.choice([0, 0.02, 0.2, 1], size=(nrows, 1), p=[0.2, 0.4, 0.3, 0.1])
    present = rng.random((nrows, ncols)) < density
    counts = np.concatenate(([0], np.cumsum(present.sum(1))))
    columns = np.nonzero(present)[1].astype(np.int32)
    indptr = counts.astype(np.int64 if wide else np.int32)
    return Csr(nrows, ncols, indptr, columns, values_of(rng, columns.size, dtype, iso))


def a_vector(rng: Any, size: int, dtype: Any, kind: str, iso: bool) -> Any:
    values = values_of(rng, size, dtype, iso)
    if kind == "full":
        return FullVector(size, values)
    present = rng.random(size) < rng.choice([0.03, 0.3, 0.9])
    if kind == "bitmap":
        return BitmapVector(size, present, values, int(present.sum()))
    indices = np.flatnonzero(present).astype(np.int32)
    if kind == "unsorted":
        indices = rng.permutation(indices)
    return SparseVector(size, indices, values[: indices.size], kind == "sparse")


def vector_masks(rng: Any, size: int) -> list[VectorMask | None]:
    """Return every kind of mask: none, index list, bitmap or both, complemented or not."""
    present = rng.random(size) < 0.4
    listed = rng.permutation(np.flatnonzero(present)).astype(np.int32)
    few = present & (np.arange(size) % 16 == 0)
    return [
        None,
        *(
            VectorMask(size, flags, indices, complement, is_sorted)
            for complement in (False, True)
            for flags, indices, is_sorted in (
                (present, None, True),
                (None, listed, False),
                (few, np.flatnonzero(few).astype(np.int32), True),
            )
        ),
    ]


# --- comparing ----------------------------------------------------------------------------------


def entries_of(x: Any) -> tuple[np.ndarray, ...]:
    """Return the sorted positions of the entries, and their values."""
    if isinstance(x, Csr):
        assert x.indptr.size == x.nrows + 1 and x.indptr[-1] == x.indices.size == x.values.size
        rows = np.repeat(np.arange(x.nrows), np.diff(x.indptr))
        keys = rows * x.ncols + x.indices
        assert (np.diff(keys) > 0).all()
        return keys, x.values
    if isinstance(x, SparseVector):
        order = np.argsort(x.indices, kind="stable")
        if x.is_sorted:
            assert (np.diff(x.indices) > 0).all()
        return x.indices[order], x.values[order]
    if isinstance(x, BitmapVector):
        assert x.nvals == x.present.sum()
        return np.flatnonzero(x.present), x.values[x.present]
    return np.arange(x.size), x.values


def agree(got: Any, expected: Any) -> None:
    for mine, theirs in zip(entries_of(got), entries_of(expected), strict=True):
        assert mine.dtype.kind == theirs.dtype.kind
        assert np.array_equal(mine, theirs)
    assert got.values.dtype == expected.values.dtype


def both_ways(call: Callable[[], Any]) -> None:
    """Assert that NumPy and compiled loops with one and three threads agree."""
    with config.set(compiled=False):
        expected = call()
    for count in (1, 3):
        with config.set(compiled=True, threads=count):
            got = call()
        agree(got, expected)


def typed(name: str, dtype: str) -> Any:
    return semiring.from_string(name)[dtype]


# --- the loops ----------------------------------------------------------------------------------

SEMIRINGS = [
    ("plus_times", "FP32"),
    ("min_plus", "INT64"),
    ("max_second", "INT8"),
    ("lor_land", "BOOL"),
    ("plus_pair", "BOOL"),
    ("plus_pair", "FP32"),
    ("min_firstj", "UINT16"),
    ("times_minus", "UINT8"),
]


@pytest.mark.parametrize(("name", "dtype"), SEMIRINGS)
def test_products_with_a_vector_agree_with_numpy(name: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    s = typed(name, dtype)
    cases: list[tuple[Side, bool]] = [("mxv", False), ("vxm", False), ("vxm", True)]
    for side, iso in cases:
        a = a_matrix(rng, N, N + 9, s.type.np_type, iso)
        columns = cpu.transpose(a)
        for mask in vector_masks(rng, N):
            u = a_vector(rng, N + 9, s.type.np_type, "full" if side == "mxv" else "bitmap", iso)
            both_ways(lambda a=a, u=u, m=mask, side=side: cpu.pull(a, u, s, side, m))
            if side == "vxm":
                u = a_vector(rng, N + 9, s.type.np_type, "unsorted", iso)
                few = SparseVector(u.size, u.indices[:1], u.values[:1])
                for v, tuning in product((u, few), (LARGE_PUSH, SpmspvTuning())):
                    with using(tuning):
                        both_ways(lambda a=columns, v=v, m=mask: cpu.push(a, v, s, "vxm", m))


@pytest.mark.parametrize("name", ["any_secondi", "any_pair", "any_first"])
def test_the_any_monoid_returns_one_of_the_terms(name: str) -> None:
    rng = np.random.default_rng(2)
    s = typed(name, "INT64")
    low, high = (typed(f"{each}_{name[4:]}", "INT64") for each in ("min", "max"))
    a = a_matrix(rng, 700, N, np.int64, False)  # 700 rows are divided into several blocks
    columns = cpu.transpose(a)
    for mask in vector_masks(rng, 700):
        u = a_vector(rng, N, np.int64, "bitmap", False)
        sparse = cpu.to_sparse(u)
        with config.set(compiled=False):
            ends = [cpu.pull(a, u, each, "vxm", mask) for each in (low, high)]
        with config.set(compiled=True, threads=2):
            found = [cpu.pull(a, u, s, "vxm", mask), cpu.push(columns, sparse, s, "vxm", mask)]
            with using(SpmspvTuning()):
                found.append(cpu.push(columns, sparse, s, "vxm", mask))
            for got in found:
                places, values = entries_of(got)
                for (expected, bound), within in zip(
                    map(entries_of, ends), (np.less_equal, np.greater_equal), strict=True
                ):
                    assert np.array_equal(places, expected) and within(bound, values).all()


def test_products_with_64_bit_offsets_are_correct() -> None:
    rng = np.random.default_rng(3)
    s = typed("plus_times", "INT64")
    a = a_matrix(rng, N, 40, np.int64, False, wide=True)
    b = a_matrix(rng, 40, 90, np.int64, True, wide=True)
    pattern = a_matrix(rng, N, 90, np.bool_, True, wide=True)
    for mask in (None, MatrixMask(pattern, False), MatrixMask(pattern, True)):
        for columns in (None, cpu.transpose(b)):
            both_ways(lambda m=mask, bt=columns: cpu.mxm(a, b, s, m, bt))
    with using(SpgemmTuning(few_terms=a.nvals * b.nvals)):
        both_ways(lambda: cpu.mxm(a, b, s, None, None))


@pytest.mark.parametrize(
    ("dtype", "greatest", "terminal"), [("FP64", np.inf, None), ("INT64", 2**63 - 1, 0)]
)
def test_a_monoid_without_a_numpy_ufunc_folds_correctly(
    dtype: str, greatest: float, terminal: int | None
) -> None:
    rng = np.random.default_rng(5)
    least = binary.register_anonymous(lambda x, y: trace.where(x < y, x, y), "least")
    m = semirings.Monoid("least", least, greatest, terminal, is_anonymous=True)[dtype]
    assert m.ufunc is None
    a = a_matrix(rng, N, N, m.type.np_type, False)
    both_ways(lambda: cpu.reduce_rows(a, m))
    values = (1000 * rng.random(70_000)).astype(m.type.np_type)
    for some in (values, values[:1], values[:0], np.broadcast_to(values[:1], 9), values[::2]):
        with config.set(compiled=True):
            assert cpu.reduce(some, m) == (some.min() if some.size else greatest)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("plus", "FP32"), ("min", "INT64"), ("lor", "BOOL"), ("any", "INT8"), ("times", "UINT16")],
)
@pytest.mark.parametrize("iso", [False, True])
def test_row_reductions_agree_with_numpy(name: str, dtype: str, iso: bool) -> None:
    rng = np.random.default_rng(13)
    m = semirings.monoid.from_string(name)[dtype]
    for wide, lengths in product((False, True), (range(12), range(1, 12), (), (0, 0), (3,))):
        counts = rng.permutation(np.repeat(np.array(lengths, np.int64), 9))
        indptr = np.concatenate(([0], counts.cumsum())).astype(np.int64 if wide else np.int32)
        indices = np.concatenate([np.arange(0), *map(np.arange, counts)]).astype(np.int32)
        values = values_of(rng, indices.size, m.type.np_type, iso and indices.size > 0)
        a = Csr(counts.size, 12, indptr, indices, values)
        both_ways(lambda a=a: cpu.reduce_rows(a, m))


def test_the_sum_of_a_long_row_in_single_precision_does_not_lose_small_values() -> None:
    size = 1 << 16
    values = np.full(size, 2.0**-10, np.float32)
    values[0] = 1 << 14  # the sum of this value and 2^-10 is rounded to this value
    indptr = np.full(size + 1, size, np.int32)  # the other rows are empty
    indptr[0] = 0
    a = Csr(size, size, indptr, np.arange(size, dtype=np.int32), values)
    with config.set(compiled=True):
        total = cpu.reduce_rows(a, semirings.monoid.plus["FP32"]).values
    assert np.allclose(total, (1 << 14) + 64, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("minus", "FP32"), ("floordiv", "INT8"), ("firsti", "INT64")],
)
@pytest.mark.parametrize("iso", [False, True])
def test_unions_and_intersections_agree_with_numpy(name: str, dtype: str, iso: bool) -> None:
    rng = np.random.default_rng(14)
    op = binary.from_string(name)[dtype]
    # Each offset type needs a separate compilation.
    for wide in (False, True) if name == "minus" or is_full() else (False,):
        a = a_matrix(rng, N, 90, op.type.np_type, iso, wide=wide)
        for b in (
            a_matrix(rng, N, 90, op.type2.np_type, False, wide=wide),
            a_matrix(rng, N, 90, np.float64, iso, wide=wide),
            cpu.keep(a, rng.random(a.nvals) < 0.5),
            cpu.keep(a, np.zeros(a.nvals, bool)),
        ):
            for first, second in ((a, b), (b, a)):
                both_ways(lambda a=first, b=second: cpu.intersection(a, b, op))
                both_ways(lambda a=first, b=second: cpu.union(a, b, op))
    for _ in range(3):
        u, v = (a_vector(rng, 500, op.type.np_type, "sparse", iso) for _ in "uv")
        both_ways(lambda u=u, v=v: cpu.intersection(u, v, op))
        both_ways(lambda u=u, v=v: cpu.union(u, v, op))


@pytest.mark.parametrize("accum", [None, "plus", "first"])
@pytest.mark.parametrize("replace", [False, True])
def test_writing_into_a_bitmap_agrees_with_numpy(accum: str | None, replace: bool) -> None:
    rng = np.random.default_rng(7)
    size = 1001  # not a multiple of eight
    op = None if accum is None else binary.from_string(accum)["FP64"]
    for kind in ("bitmap", "full", "sparse"):
        t = a_vector(rng, size, np.float64, kind, False)
        structure = VectorMask(
            size, getattr(t, "present", None), getattr(t, "indices", None), False
        )
        masks = vector_masks(rng, size)
        if kind != "full":
            masks.append(structure)
        for mask in masks:
            for form, iso in (("bitmap", False), ("bitmap", True), ("unsorted", True)):
                c = a_vector(rng, size, np.int32, form, iso)
                both_ways(lambda c=c, t=t, m=mask: cpu.write_vector(c, t, m, op, replace, np.int32))
            c = a_vector(rng, size, np.int32, "bitmap", False)
            copies = [BitmapVector(size, c.present.copy(), c.values.copy(), c.nvals) for _ in "ab"]
            written = []
            for copy, is_compiled in zip(copies, (False, True), strict=True):
                with config.set(compiled=is_compiled):
                    written.append(
                        cpu.write_vector(copy, t, mask, op, replace, np.int32, in_place=True)
                    )
            agree(written[1], written[0])


def test_converting_a_bitmap_to_sparse_form_agrees_with_numpy() -> None:
    rng = np.random.default_rng(8)
    for size in (0, 1, 511, 512, 1500):
        v = a_vector(rng, size, np.int8, "bitmap", False)
        both_ways(lambda v=v: cpu.to_sparse(v))


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0), (4, 4)])
def test_operations_on_operands_without_entries_give_no_entries(shape: tuple[int, int]) -> None:
    nrows, ncols = shape
    s = typed("plus_times", "INT64")
    none = np.empty(0, np.int64)
    a = Csr(nrows, ncols, np.zeros(nrows + 1, np.int32), none.astype(np.int32), none)
    columns = Csr(ncols, nrows, np.zeros(ncols + 1, np.int32), a.indices, none)
    with config.set(compiled=True, threads=2):
        full = FullVector(ncols, np.ones(ncols, np.int64))
        assert cpu.pull(a, full, s, "mxv", None).nvals == 0
        empty = SparseVector(ncols, a.indices, none)
        assert cpu.push(columns, empty, s, "mxv", None).nvals == 0
        c = cpu.mxm(a, columns, s, None, None)
        assert c is not None and c.nvals == 0
        assert cpu.union(a, Csr(nrows, ncols, a.indptr, none, none), s.binaryop).nvals == 0


def test_an_operand_may_have_a_different_dtype_from_the_semiring() -> None:
    """The compiled loop casts the values of the operands one at a time."""
    s = typed("plus_times", "FP64")
    a = a_matrix(np.random.default_rng(10), N, N, np.int8, False)
    u = FullVector(N, np.arange(N, dtype=np.float32))
    both_ways(lambda: cpu.pull(a, u, s, "mxv", None))


WILD = [np.nan, np.inf, -np.inf, -1.0, -5.5, 3e9, 1e19, 2e19, -1e19, 1e300, 256.0, -129.0, 7.5]


@pytest.mark.parametrize("dtype", ["INT8", "INT64", "UINT8", "UINT32", "UINT64"])
def test_a_float_out_of_range_of_an_integer_dtype_is_cast_as_in_numpy(dtype: str) -> None:
    u = gl.Vector.from_dense(np.resize(WILD, N))
    few = gl.Vector.from_coo(range(0, N, 3), np.resize(WILD, (N + 2) // 3), size=N)
    A, some = few.diag(), gl.Vector.from_coo(range(0, N, 2), 1, dtype, size=N)
    plus, times = binary.plus[dtype], semiring.plus_times[dtype]

    def written(x: Any, accum: str | None, mask: bool) -> gl.Vector:
        w = some.dup()
        w(accum=accum, mask=few.S if mask else None) << x
        return w

    statements = [
        lambda: written(u, "second", False),
        lambda: written(u, "plus", True),
        lambda: written(u, None, True),
        lambda: written(few, "first", False),
        lambda: written(few, None, True),
        lambda: plus(u | few).new(),
        lambda: plus(few | some).new(),
        lambda: plus(few & some).new(),
        lambda: times(u @ A).new(),
        lambda: times(A @ few).new(),
        lambda: times(A @ A.T).new(),
    ]
    for k, statement in enumerate(statements):
        with config.set(compiled=False):
            expected = statement()
        for way in ("push", "pull"):
            with config.set(compiled=True), gl.direction(way):
                assert statement().isequal(expected, check_dtype=True), (k, way)


def test_a_float_sum_is_the_same_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(11)
    s = typed("plus_times", "FP64")
    a = a_matrix(rng, N, N, np.float64, False)
    a = Csr(N, N, a.indptr, a.indices, rng.random(a.nvals))
    sums = []
    for count in (1, 2, 5):
        with config.set(compiled=True, threads=count):
            u = FullVector(N, np.linspace(0, 1, N))
            sums.append(entries_of(cpu.pull(a, u, s, "mxv", None))[1].tobytes())
            sums.append(entries_of(cpu.push(a, cpu.to_sparse(u), s, "vxm", None))[1].tobytes())
    assert len(set(sums[::2])) == len(set(sums[1::2])) == 1


# --- tests of the choice between NumPy and compiled loops ---------------------------------------


def count_loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    loads: list[str] = []
    load = compiled.load

    def counting(name: str, *rest: Any) -> Any:
        loads.append(name)
        return load(name, *rest)

    for module in (spmv, spgemm):
        monkeypatch.setattr(module, "load", counting)
    return loads


def pulled(size: int = N, op: Any = None) -> Any:
    s = typed("plus_times", "INT64") if op is None else op
    a = a_matrix(np.random.default_rng(12), size, N, np.int64, False)
    return cpu.pull(a, FullVector(N, np.ones(N, np.int64)), s, "mxv", None)


def test_the_setting_auto_selects_compiled_loops_by_the_size_of_the_operands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loads = count_loads(monkeypatch)
    with config.set(compiled="auto", compile_threshold=10_000):
        pulled()
        assert not loads
    with config.set(compiled="auto", compile_threshold=N):
        pulled()
    assert loads


@pytest.mark.parametrize(
    ("few_terms", "room", "expected"),
    [
        (4000, 0, ["spgemm.multiply_rows"]),
        (3999, 4000, ["marks.weigh", "spgemm.multiply_rows"]),
        (3999, 3999, ["marks.weigh", "marks.reach", "spgemm.saxpy"]),
    ],
)
def test_a_product_is_computed_in_one_pass_only_if_the_product_has_few_terms(
    few_terms: int, room: int, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread would add up all terms, so with many terms Ctrl-C would have to wait."""
    loads, n = count_loads(monkeypatch), 1000
    indptr, ones = np.arange(3, dtype=np.int32) * n, np.ones(2 * n)
    a = Csr(2, n, indptr, np.tile(np.arange(n, dtype=np.int32), 2), ones)
    b = cpu.transpose(a)
    with using(SpgemmTuning(few_terms=few_terms, room=room)), config.set(compiled=True, threads=1):
        c = cpu.mxm(a, b, typed("plus_times", "FP64"), None, None)
    assert c is not None and c.values.tolist() == [n] * 4
    assert loads == expected


def test_a_masked_product_uses_user_defined_operators_even_if_their_names_are_plus_and_pair() -> (
    None
):
    rng = np.random.default_rng(13)
    add = binary.register_anonymous(lambda x, y: x * y, "plus")
    term = binary.register_anonymous(lambda x, y: x + y, "pair")
    a, b = (a_matrix(rng, N, N, np.int64, False) for _ in "ab")
    pattern = Csr(
        N, N, np.arange(N + 1, dtype=np.int32), np.arange(N, dtype=np.int32), b.values[:N]
    )
    for plus in (semirings.monoid.plus, semirings.Monoid("plus", add, 1, is_anonymous=True)):
        for pair in (binary.pair, term):
            s = semirings.Semiring("plus_pair", plus, pair, is_anonymous=True)["INT64"]
            both_ways(lambda s=s: cpu.mxm(a, b, s, MatrixMask(pattern, False), cpu.transpose(b)))


def test_an_operator_without_a_numba_form_runs_on_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = count_loads(monkeypatch)
    twice = trace.raw("({0} + {0})", lambda x: x + x, dtype="INT64")
    times = binary.register_anonymous(lambda x, y: twice(x) * y, "twice")
    s = semirings.Semiring("plus_twice", semirings.monoid.plus, times, is_anonymous=True)["INT64"]
    with config.set(compiled=True):
        got = pulled(op=s)
        assert not loads
        assert np.array_equal(entries_of(got)[1], 2 * entries_of(pulled())[1])


def test_the_setting_auto_selects_numpy_if_numba_is_missing_and_the_setting_true_raises_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loads = count_loads(monkeypatch)
    monkeypatch.setattr(dispatch, "is_installed", lambda: False)
    with config.set(compiled="auto", compile_threshold=1):
        pulled()
    assert not loads
    with config.set(compiled=True), pytest.raises(ImportError, match="Numba is not there"):
        pulled()


def test_the_error_about_an_operator_that_does_not_compile_names_the_operator() -> None:
    wrong = trace.raw("{0}", lambda x: x, numba="{0}.there_is_no_such_thing", dtype="INT64")
    times = binary.register_anonymous(lambda x, y: wrong(x) * y, "wrong")
    s = semirings.Semiring("plus_wrong", semirings.monoid.plus, times, is_anonymous=True)["INT64"]
    with (
        config.set(compiled=True),
        pytest.raises(GraphblasException, match=r"spmv\.pull.*plus_wrong\[INT64\].*int32"),
    ):
        pulled(op=s)


# --- threads and scratch arrays of compiled loops -----------------------------------------------


@pytest.mark.parametrize("dtype", [np.bool_, np.int16, np.float32, np.int64, np.complex128])
@pytest.mark.parametrize("iso", [False, True])
def test_entries_selected_by_a_mask_or_by_flags_agree_with_numpy(dtype: Any, iso: bool) -> None:
    rng = np.random.default_rng(11)
    for wide in (False, True):
        a = a_matrix(rng, N, 90, dtype, iso, wide=wide)
        for pattern in (a_matrix(rng, N, 90, bool, True, wide=wide), a):
            for complement in (False, True):
                mask = MatrixMask(pattern, complement)
                both_ways(lambda a=a, m=mask: cpu.write_matrix(a, a, m, None, True, a.values.dtype))
        for flags in (rng.random(a.nvals) < 0.5, np.zeros(a.nvals, bool), np.ones(a.nvals, bool)):
            both_ways(lambda a=a, f=flags: cpu.keep(a, f))
            both_ways(lambda a=a: cpu.keep(a, np.broadcast_to(np.False_, a.nvals)))


@pytest.mark.parametrize(
    ("name", "dtype", "thunk"),
    [("triu", "INT16", 3), ("tril", "FP64", -2), ("diag", "BOOL", 0), ("rowle", "FP32", 30)],
)
@pytest.mark.parametrize("iso", [False, True])
def test_entries_selected_by_position_agree_with_numpy(
    name: str, dtype: str, thunk: int, iso: bool
) -> None:
    rng = np.random.default_rng(16)
    op = semirings.select.from_string(name)[dtype]
    for wide in (False, True):
        a = a_matrix(rng, N, 90, op.type.np_type, iso, wide=wide)
        none = cpu.keep(a, np.zeros(a.nvals, bool))
        for given in (a, none):
            both_ways(lambda a=given: cpu.select(a, op, thunk))


@pytest.mark.parametrize("dtype", [np.bool_, np.int16, np.float64, np.complex128])
@pytest.mark.parametrize("iso", [False, True])
def test_extracted_rows_and_columns_agree_with_numpy(dtype: Any, iso: bool) -> None:
    rng = np.random.default_rng(12)
    for wide in (False, True):
        a = a_matrix(rng, N, 90, dtype, iso, wide=wide)
        some_rows = rng.integers(0, N, 50)
        some_columns = np.flatnonzero(rng.random(90) < 0.5)
        for rows, columns in product(
            (None, some_rows, some_rows[:0], np.arange(N)),
            (None, some_columns, some_columns[:0], some_columns[::-1].copy()),
        ):
            both_ways(lambda a=a, r=rows, c=columns: cpu.extract_matrix(a, r, c))


@pytest.mark.parametrize("dtype", [np.bool_, np.int16, np.float64, np.int64])
@pytest.mark.parametrize("iso", [False, True])
def test_a_matrix_built_from_entries_in_any_order_agrees_with_numpy(dtype: Any, iso: bool) -> None:
    rng = np.random.default_rng(15)
    for entries, index in ((5000, np.int64), (300, np.int32), (90, np.int64), (40, np.int32)):
        places = rng.integers(0, N * 90, entries)
        distinct = rng.permutation(np.unique(places))
        for keys in (distinct, np.sort(distinct), places, np.sort(places)):
            rows, columns = (each.astype(index) for each in divmod(keys, 90))
            values = values_of(rng, keys.size, dtype, iso)
            for op in (None, binary.second[dtype], binary.first[dtype]):
                if op is not None or keys.size == distinct.size:
                    both_ways(
                        lambda i=rows, j=columns, x=values, op=op: cpu.build_matrix(
                            N, 90, i, j, x, op
                        )
                    )
            if keys.size > distinct.size:
                with config.set(compiled=True), pytest.raises(GraphblasException):
                    cpu.build_matrix(N, 90, rows, columns, values, None)
    none = np.empty(0, np.int64)
    both_ways(lambda: cpu.build_matrix(0, 0, none, none, none, None))
    both_ways(lambda: cpu.build_matrix(3, 4, none, none, none, None))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("wide", [False, True])
def test_the_number_of_triangles_is_one_sixth_of_the_trace_of_the_cubed_matrix(
    seed: int, wide: bool
) -> None:
    a = a_matrix(np.random.default_rng(seed), N, N, bool, iso=True, wide=wide)
    dense = np.zeros((N, N), np.int64)
    dense[np.arange(N).repeat(np.diff(a.indptr)), a.indices] = 1
    dense |= dense.T  # the diagonal entries are ignored
    rows, columns = np.nonzero(dense)
    counts = np.concatenate(([0], np.cumsum(dense.sum(1)))).astype(a.indptr.dtype)
    symmetric = Csr(N, N, counts, columns.astype(np.int32), np.broadcast_to(True, rows.size))
    without_loops = dense - np.diag(dense.diagonal())
    expected = np.trace(np.linalg.matrix_power(without_loops, 3)) // 6
    for count in (1, 2, 5):
        with config.set(compiled=True, threads=count):
            assert cpu.count_triangles(symmetric) == expected


@pytest.mark.parametrize(
    ("nrows", "edges"), [(4500, 160_000), (300, 15_000), (3000, 9000), (3000, 2000), (50, 0)]
)
@pytest.mark.parametrize("hubs", [0, 3])
def test_the_number_of_triangles_agrees_with_scipy(nrows: int, edges: int, hubs: int) -> None:
    rng = np.random.default_rng(edges)
    ends = rng.integers(0, nrows, (2, edges))
    if hubs:
        around = rng.integers(0, nrows, (2, nrows))
        around[0] = rng.integers(0, nrows, hubs)[around[0] % hubs]
        ends = np.concatenate([ends, around], axis=1)

    def symmetric(ends: np.ndarray) -> Any:
        given = scipy.sparse.coo_array((np.ones(ends.shape[1], bool), ends), (nrows, nrows))
        return (given + given.T).tocsr()

    A = symmetric(ends)
    A.sort_indices()
    loopless = symmetric(ends[:, ends[0] != ends[1]]).astype(np.int32)
    expected = ((loopless @ loopless) * loopless).sum() // 6
    given = Csr(nrows, nrows, A.indptr, A.indices, np.broadcast_to(True, A.nnz))
    for count in (1, 2, 4):
        with config.set(compiled=True, threads=count):
            assert cpu.count_triangles(given) == expected


@pytest.mark.parametrize("has_hub", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_k_truss_has_the_edges_whose_truss_number_is_at_least_k(
    seed: int, has_hub: bool
) -> None:
    """If all rows are short, edges in too few triangles are removed first; a hub prevents this."""
    rng = np.random.default_rng(seed)
    n = 400
    u = rng.integers(0, n, 900)
    v = (u + rng.integers(1, 5, u.size)) % n  # close indices, so that triangles occur
    ends = np.stack([u, v])
    if has_hub:
        ends = np.concatenate([ends, [np.zeros(n - 1, np.int64), np.arange(1, n)]], axis=1)
    rows, columns = np.unique(np.concatenate([ends, ends[::-1]], axis=1), axis=1)
    indptr = np.searchsorted(rows, np.arange(n + 1)).astype(np.int32)
    a = Csr(n, n, indptr, columns.astype(np.int32), np.ones(columns.size, bool))
    with config.set(compiled=True):
        numbers = cpu.trusses(a, None)
        assert numbers is not None and numbers.max() > 3
        for k in range(2, 8):
            found = cpu.trusses(a, k)
            assert found is not None
            assert np.array_equal(found >= k, numbers >= k)


def test_results_of_parallel_calls_are_returned_in_order_and_the_first_error_is_raised() -> None:
    assert threads.run(lambda x: x * x, [(x,) for x in range(50)], 4) == [x * x for x in range(50)]
    assert threads.run(lambda x: x, [], 4) == []
    with pytest.raises(ZeroDivisionError):
        threads.run(lambda x: 1 // x, [(x,) for x in (3, 2, 0, 1)], 3)


def test_many_threads_may_call_compiled_loops_at_the_same_time() -> None:
    expected = entries_of(pulled())[1]

    def call(_: int) -> bool:
        with config.set(compiled=True, threads=2):
            return np.array_equal(entries_of(pulled())[1], expected)

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(call, range(60)))


def test_a_scratch_array_that_is_not_cleared_because_of_an_error_is_not_reused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(13)
    s = typed("plus_times", "INT64")
    a = a_matrix(rng, N, N, np.int64, False)
    u = a_vector(rng, N, np.int64, "sparse", False)

    def interrupted(name: str, *rest: Any) -> Any:
        if name == "marks.drain":
            raise KeyboardInterrupt
        return compiled.load(name, *rest)

    with config.set(compiled=True, threads=1), using(SpmspvTuning(sparse=0.001, small=0)):
        expected = cpu.push(a, u, s, "vxm", None)
        assert isinstance(expected, SparseVector)
        with monkeypatch.context() as patch:
            patch.setattr(spmspv, "load", interrupted)
            with pytest.raises(KeyboardInterrupt):
                cpu.push(a, u, s, "vxm", None)
        agree(cpu.push(a, u, s, "vxm", None), expected)


def test_a_large_scratch_array_is_not_kept_for_later_calls() -> None:
    size = scratch.MOST + 8
    scratch.give("test", np.zeros(size, np.uint8))
    assert scratch.take("test", 4, np.dtype(np.uint8)).size == 4


# --- shared cache ---------------------------------------------------------------------------------

PROGRAM = """
    import sys
    import numpy as np
    import graphla
    from graphla.backends import backend
    assert "numba" not in sys.modules and "scipy" not in sys.modules
    from graphla.compilers.numba import cache_folder
    from graphla.formats import Csr, FullVector
    from semirings.semiring import plus_times
    a = Csr(2, 2, np.array([0, 1, 3], np.int32), np.array([0, 0, 1], np.int32), np.ones(3))
    u = FullVector(2, np.array([1.5, 2.0]))
    with graphla.config.set(compiled=False):
        backend("cpu").pull(a, u, plus_times["FP64"], "mxv", None)
    assert "numba" not in sys.modules
    with graphla.config.set(compiled=True):
        w = backend("cpu").pull(a, u, plus_times["FP64"], "mxv", None)
    assert w.values.tolist() == [1.5, 3.5]
    print(cache_folder())
    print("numba" in sys.modules)
"""


def start(folder: Path | str, program: str = PROGRAM, **variables: str) -> subprocess.Popen:
    environment = {**os.environ, "GRAPHLA_CACHE_DIR": str(folder), **variables}
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent.parent,
    )


def ended(process: subprocess.Popen) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and not err, err
    return out.strip()


def test_two_processes_share_the_cache_and_replace_damaged_or_foreign_code(
    tmp_path: Path,
) -> None:
    by_numba = not machine_code.is_supported()
    compiled, loaded = f"{tmp_path}\nTrue", f"{tmp_path}\n{by_numba}"
    assert {ended(each) for each in [start(tmp_path), start(tmp_path)]} <= {compiled, loaded}
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    stored = [file for file in files if file.suffix != ".pyc"]  # Python may write bytecode
    suffixes = {".py", ".nbi", ".nbc"} if by_numba else {".py", ".code"}
    assert {file.suffix for file in stored} == suffixes and len(stored) == len(suffixes)
    written = {file: file.stat().st_mtime_ns for file in stored}
    assert ended(start(tmp_path)) == loaded
    assert {file: file.stat().st_mtime_ns for file in stored} == written, "it was only read"

    for file in stored:
        if by_numba or file.suffix == ".code":
            whole = file.read_bytes()
            file.write_bytes(whole[:100])
            assert ended(start(tmp_path)) == compiled
            assert len(file.read_bytes()) > 100
    if by_numba:
        return
    (code,) = tmp_path.glob("*.code")
    other = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "-avx"}
    assert ended(start(tmp_path, **other)) == compiled
    (foreign,) = set(tmp_path.glob("*.code")) - {code}
    code.write_bytes(foreign.read_bytes())
    assert ended(start(tmp_path)) == compiled


INTERRUPTED = """
    import os, signal, sys, threading
    import graphla as gl

    def interrupt():  # as soon as there is a module to compile
        while not any(name.startswith("graphla_bfs") for name in list(sys.modules)):
            pass
        os.kill(os.getpid(), signal.SIGINT)

    A = gl.generators.grid(20, 20)
    gl.config.compiled = True
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        gl.algorithms.bfs(A, 0)
    except KeyboardInterrupt:
        print("interrupted")
    assert gl.algorithms.bfs(A, 0).levels.nvals == 400
"""


def test_an_interrupt_during_compilation_raises_keyboard_interrupt(tmp_path: Path) -> None:
    assert ended(start(tmp_path, INTERRUPTED)) == "interrupted"


def test_a_cache_folder_that_cannot_be_created_is_replaced_by_a_temporary_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    used, _ = ended(start(tmp_path / "file" / "folder")).split("\n")
    assert used != str(tmp_path) and not Path(used).exists(), "a folder of its own, gone by now"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_starts_its_own_threads() -> None:
    program = """
        import os, threading
        from graphla.compilers import threads
        parts = [(x,) for x in range(40)]
        barrier = threading.Barrier(2)
        def both(x):
            if x < 2:
                barrier.wait(20)
            return x
        assert threads.run(both, parts, 2) == list(range(40))
        child = os.fork()
        if not child:
            barrier = threading.Barrier(2)
            os._exit(threads.run(both, parts, 2) != list(range(40)))
        assert os.waitpid(child, 0)[1] == 0
    """
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        check=True,
        timeout=60,
        cwd=Path(__file__).parent.parent,
    )
