"""Compile, load and launch a kernel through the stand-in for CuPy."""

from __future__ import annotations

import numpy as np
import pytest

from . import SimulatorFault, cupy, machine
from .kernels import kernel, run

TURN_AND_SUM = """
namespace example {
template <class T> __global__ void turn(const T *x, T *turned, T *total, int n) {
  SHARED(T, block, 256);
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  T value = i < n ? x[i] : T(0);
  block[threadIdx.x] = value;
  __syncthreads();
  if (i < n) turned[i] = block[blockDim.x - 1 - threadIdx.x];
  for (int delta = 16; delta; delta /= 2) value += __shfl_down_sync(~0u, value, delta);
  if (threadIdx.x % 32 == 0) atomicAdd(total, value);
}
}
"""


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("dtype", "name"), [(np.int32, "int"), (np.float64, "double")])
def test_a_kernel_with_barriers_and_shuffles_and_atomics_gives_correct_results(seed, dtype, name):
    machine.seed = seed
    turn = kernel(TURN_AND_SUM, f"example::turn<{name}>")
    n = 5 * 256
    x = cupy.arange(n, dtype=dtype)
    turned, total = cupy.empty_like(x), cupy.zeros(1, dtype)
    run(turn, 5, 256, x, turned, total, np.int32(n))
    assert int(total[0]) == n * (n - 1) // 2
    assert (turned.get().reshape(5, 256) == np.arange(n).reshape(5, 256)[:, ::-1]).all()


def test_an_invalid_kernel_argument_is_rejected():
    turn = kernel(TURN_AND_SUM, "example::turn<int>")
    x = cupy.arange(8, dtype=np.int32)
    with pytest.raises(SimulatorFault, match="4 parameters, but 3"):
        run(turn, 1, 8, x, x, np.int32(8))
    with pytest.raises(SimulatorFault, match=r"argument 3 .* has 8 bytes"):
        run(turn, 1, 8, x, x, x, 8)
    with pytest.raises(SimulatorFault, match=r"argument 0 .* is an array of int64"):
        run(turn, 1, 8, cupy.arange(8), x, x, np.int32(8))
    with pytest.raises(SimulatorFault, match=r"argument 1 .* with strides \(8,\)"):
        run(turn, 1, 4, x, x[::2], x, np.int32(4))
    with pytest.raises(TypeError, match="Unsupported type"):
        run(turn, 1, 8, np.arange(8), x, x, np.int32(8))
