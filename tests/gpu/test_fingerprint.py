"""Tests of a matrix's fingerprint on a GPU: the hash, the early exit and the use of streams."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import cupy
import numpy as np
import pytest
from devices import fewer, has_card
from gpu.patterns import on_host
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.backends import backend
from graphla.backends.cuda import symmetry
from graphla.backends.cuda.launch import counters, size
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Csr

cuda = backend("cuda")
WORD = (1 << 32) - 1


def philox(counter: tuple[int, ...], key: tuple[int, ...]) -> tuple[int, ...]:
    """Compute Philox4x32-10 as its authors define it."""
    a, b, c, d = counter
    k, other = key
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b = second >> 32 ^ b ^ k, second & WORD
        c, d = first >> 32 ^ d ^ other, first & WORD
        k, other = k + 0x9E3779B9 & WORD, other + 0xBB67AE85 & WORD
    return a, b, c, d


def test_the_reference_hash_gives_the_published_results():
    assert philox((0,) * 4, (0,) * 2) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    assert philox((WORD,) * 4, (WORD,) * 2) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
    assert philox(*pi) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


def matrix_of(entries: dict[tuple[int, int], int], n: int, dtype: Any) -> Csr:
    keys = sorted(entries)
    counts = np.bincount([i for i, _ in keys], minlength=n)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    indices = np.array([j for _, j in keys], np.int32)
    values = np.array([entries[key] for key in keys], dtype)
    return Csr(n, n, *map(cuda.asarray, (indptr, indices, values)))


@given(st.data())
def test_the_fingerprint_is_the_signed_sum_of_the_hashes(data):
    n, dtype = 12, np.dtype(data.draw(st.sampled_from(["u1", "u2", "u4", "u8"])))
    values = st.integers(0, int(np.iinfo(dtype).max))
    # The kernel stops early if one of 32 sampled entries differs from its counterpart. So the
    # changed values must not be at the sampled positions.
    looked_up = {divmod(n * n * lane // 32, n) for lane in range(32)}
    free = [(i, j) for i in range(n) for j in range(i) if not {(i, j), (j, i)} & looked_up]
    different = data.draw(st.dictionaries(st.sampled_from(free), values, max_size=12))
    entries = {(i, j): i + j for i in range(n) for j in range(n)}
    entries |= different | {(j, i): data.draw(values) for i, j in different}
    words = tuple(data.draw(st.integers(0, (1 << 64) - 1)) for _ in range(3))
    key, low, high = ((x & WORD, x >> 32) for x in words)
    expected = [0] * 2
    for (i, j), value in entries.items():
        counter = (min(i, j), max(i, j), value & WORD, value >> 32)
        x = philox(tuple(a ^ b for a, b in zip(counter, (*low, *high), strict=True)), key)
        sign = (i < j) - (i > j)
        expected[0] += sign * (x[1] << 32 | x[0])
        expected[1] += sign * (x[3] << 32 | x[2])
    a = matrix_of(entries, n, dtype)
    sums = counters(4)
    kernel = load("symmetry.cu", "compare_transposed", NOTHING, a.indptr.dtype, dtype, 2)
    no_nan, keys = (np.uint64(0), np.uint64(0)), [np.uint64(x) for x in words]
    for blocks in (1, 3):
        sums[:] = 0
        operands = (a.indptr, a.indices, a.values, size(n), size(a.nvals))
        kernel(blocks, 64, *operands, *no_nan, *keys, sums)
        found = [int(x) % (1 << 64) for x in on_host(sums)]
        assert found == [*(x % (1 << 64) for x in expected), 0, 0]


@fewer(4)
@given(seed=st.integers(0, 1 << 16), grid=st.sampled_from([1, 2, 5, 40]), data=st.data())
def test_the_symmetry_of_matrices_with_many_tiles_is_detected_with_any_grid_size(seed, grid, data):
    rng = np.random.default_rng(seed)
    n = data.draw(st.sampled_from([40, 400, 5000]))
    i, j = rng.integers(0, n, (2, 2500))
    both = {**dict.fromkeys(zip(i.tolist(), j.tolist(), strict=True), 1)}
    both |= {(y, x): 1 for x, y in both}
    change = data.draw(st.booleans())
    if change:
        del both[data.draw(st.sampled_from(sorted((x, y) for x, y in both if x != y)))]
    with patch.object(symmetry, "tiles", lambda entries: grid):
        found = cuda.find_symmetry(matrix_of(both, n, np.int16))
    assert tuple(found) == (not change, not change)


@pytest.mark.parametrize("pattern_alone", [False, True])
def test_the_symmetry_detection_does_not_free_arrays_that_another_stream_still_uses(pattern_alone):
    rng = np.random.default_rng(5)
    i, j = rng.integers(0, 50, (2, 400))
    i, j = np.concatenate([i, j]), np.concatenate([j, i])
    values = i if pattern_alone else i + j
    first, second = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
    try:
        with gl.config.set(device="cuda"), first:
            A = gl.Matrix.from_coo(i, j, values, nrows=50, ncols=50, dup_op="first")
            form = A._store.csc
            expected = form.indices.get().tolist()
        with second:
            form = A._store.csc
            found = form.indices + 1  # runs on `second`; `first` does not wait for it
            del form
        with first:
            assert A._store.find_symmetry()
            junk = [cupy.ones(1 << k, np.int32) for k in range(6, 14)]
            assert A._store.is_symmetric != pattern_alone
            first.wait_event(second.record())
        with second:
            assert (found - 1).get().tolist() == expected
        del A, junk
    finally:
        cupy.cuda.Stream.null.use()
    if not has_card():
        from simulator import machine

        machine.raise_faults()
