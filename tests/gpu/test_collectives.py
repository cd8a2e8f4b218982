"""Test that reductions, scans and searches by a warp or a block match NumPy."""

from __future__ import annotations

from functools import cache
from typing import Any

import cupy
import numpy as np
import pytest
from cupy.cuda.function import Module
from hypothesis import given
from hypothesis import strategies as st

import graphla.backends.cuda  # noqa: F401  (registers its kernels)
from graphla.compilers import nvrtc
from graphla.compilers.cuda import Kernel

THREADS = 96
TEXT = """
#include "collectives.cuh"
namespace graphla {
template <class T> __global__ void fold(const T *x, T *out, T *counters) {
  SHARED(T, scratch, WARP + 1);
  const T mine = x[threadIdx.x];
  T *at = out + threadIdx.x;
  T total;
  at[0] = warp_sum(mine), at[96] = warp_least(mine), at[2 * 96] = warp_greatest(mine);
  at[3 * 96] = block_sum(mine, scratch);
  at[4 * 96] = block_fold(mine, scratch, [](T a, T b) { return greatest(a, b); });
  at[5 * 96] = warp_inclusive_sum(mine), at[6 * 96] = warp_inclusive_greatest(mine);
  at[7 * 96] = block_exclusive_sum(mine, scratch, total);
  at[8 * 96] = total;
  at[9 * 96] = warp_fold(mine, [](T a, T b) { return T(a + b); }, 8);
  if constexpr (is_float<T>::value) return;
  else warp_add(counters, mine), block_add(counters + 1, mine, scratch);
}
template <class Place>
__global__ void find(const int *keys, Place begin, Place end, int key, Place *out) {
  out[threadIdx.x] = warp_lower_bound(keys, begin, end, key);
  out[32 + threadIdx.x] = warp_upper_bound(keys, begin, end, key);
  out[64 + threadIdx.x] = lower_bound(keys, begin, end, key);
  out[96 + threadIdx.x] = upper_bound(keys, begin, end, key);
}
template <class Count>
__global__ void split(const int *a, Count a_count, const int *b, Count b_count, Count at,
                      Count *out) {
  const auto b_first = [&](Count i, Count j) { return b[j] < a[i]; };
  out[threadIdx.x] = merge_split(a_count, b_count, at, b_first);
  out[32 + threadIdx.x] = warp_merge_split(a_count, b_count, at, b_first);
}
}
"""
NAMES = {
    "i4": "int",
    "u4": "unsigned",
    "i8": "long long",
    "u8": "unsigned long long",
    "f8": "double",
}


@cache
def made(name: str, dtype: str) -> Kernel:
    architecture = f"sm_{cupy.cuda.Device().compute_capability}"
    instance = f"graphla::{name}<{NAMES[dtype]}>"
    code, symbol, _ = nvrtc.compile_program(TEXT, instance, architecture, name)
    module = Module()
    module.load(code)
    return Kernel(module, module.get_function(symbol), name)


@pytest.mark.parametrize("dtype", NAMES)
@given(data=st.data())
def test_reductions_and_scans_match_numpy(dtype: str, data: st.DataObject):
    lowest = 0 if dtype[0] == "u" else -1000
    values = data.draw(st.lists(st.integers(lowest, 1000), min_size=THREADS, max_size=THREADS))
    x = np.array(values, dtype)
    out, counters = cupy.zeros((10, THREADS), dtype), cupy.zeros(2, dtype)
    made("fold", dtype)(1, THREADS, cupy.asarray(x), out, counters)
    warps = x.reshape(-1, 32)
    wide = [np.repeat(fold(warps, axis=1), 32) for fold in (np.sum, np.min, np.max)]
    scans = [np.cumsum(warps, axis=1).ravel(), np.maximum.accumulate(warps, axis=1).ravel()]
    block = [np.full(THREADS, x.sum()), np.full(THREADS, x.max())]
    before = np.concatenate([[0], np.cumsum(x)[:-1]])
    eights = np.repeat(x.reshape(-1, 8).sum(axis=1), 8)
    expected = np.array([*wide, *block, *scans, before, np.full(THREADS, x.sum()), eights], dtype)
    assert (out.get() == expected).all()
    assert dtype[0] == "f" or counters.tolist() == [x.sum(), x.sum()]


def same(out: Any) -> list[int]:
    """Return the result of each search; check that all 32 lanes got the same result."""
    rows = out.get().reshape(-1, 32)
    assert (rows == rows[:, :1]).all()
    return rows[:, 0].tolist()


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8"])
@given(data=st.data())
def test_lower_and_upper_bounds_match_numpy_searchsorted(dtype: str, data: st.DataObject):
    count = data.draw(st.integers(0, 3000))
    keys = np.sort(np.random.default_rng(count).integers(0, max(1, count // 2), count, np.int32))
    begin = data.draw(st.integers(0, count))
    end = data.draw(st.integers(begin, count))
    key = data.draw(st.integers(-1, count))
    out, place = cupy.zeros(128, dtype), np.dtype(dtype).type
    made("find", dtype)(
        1,
        32,
        cupy.asarray(np.append(keys, 0).astype(np.int32)),
        place(begin),
        place(end),
        np.int32(key),
        out,
    )
    left, right = (
        begin + int(np.searchsorted(keys[begin:end], key, side)) for side in ("left", "right")
    )
    assert same(out) == [left, right, left, right]


@pytest.mark.parametrize("dtype", ["i4", "i8"])
@given(data=st.data())
def test_the_split_points_of_a_merge_agree_with_a_stable_merge(dtype: str, data: st.DataObject):
    a, b = (
        np.sort(np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 50, count))
        for count in data.draw(st.tuples(st.integers(0, 200), st.integers(0, 1500)))
    )
    diagonal = data.draw(st.integers(0, len(a) + len(b)))
    out, count = cupy.zeros(64, dtype), np.dtype(dtype).type
    arrays = [cupy.asarray(np.append(run, 0).astype(np.int32)) for run in (a, b)]
    made("split", dtype)(
        1, 32, arrays[0], count(len(a)), arrays[1], count(len(b)), count(diagonal), out
    )
    order = np.argsort(np.concatenate([a, b]), kind="stable")
    from_a = int((order[:diagonal] < len(a)).sum())
    assert same(out) == [from_a, from_a]
