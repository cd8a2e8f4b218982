"""Scalars in compiled loops follow the rules of Python on a GPU, or in the simulator."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from devices import has_cuda, use_cuda
from hypothesis import example, given
from hypothesis import strategies as st

if not has_cuda():
    pytest.skip("neither a card nor g++", allow_module_level=True)
use_cuda()

from scalar_loops import (  # noqa: E402
    LEAST,
    REAL,
    WHOLE,
    check_real,
    check_whole,
    real,
    real_numbers,
    whole,
    whole_numbers,
)

import graphla as gl  # noqa: E402
from graphla.backends.tuning import using  # noqa: E402
from graphla.program import cuda  # noqa: E402

SMALL = cuda.machine.ProgramTuning(block=64, cluster=4)
"""Small blocks, because a block of the simulator has one fiber per thread."""

WHOLE_BY_CUDA, REAL_BY_CUDA = gl.jit(whole), gl.jit(real)


@pytest.fixture(autouse=True)
def small_blocks() -> Iterator[None]:
    with gl.config.set(device="cuda"), using(SMALL):
        yield


@given(st.integers(0, WHOLE - 1), whole_numbers, whole_numbers)
@example(2, 1000003**3, 1000003)
@example(3, LEAST, -1)
@example(4, LEAST, -1)
@example(7, -1, 63)
@example(9, -2, 63)
def test_a_kernel_computes_with_ints_as_python_does(which: int, x: int, y: int):
    check_whole(WHOLE_BY_CUDA, which, x, y)


@given(st.integers(0, REAL - 1), real_numbers, real_numbers)
@example(51, 1.5, -1074.0)
@example(53, 5e-324, 0.0)
@example(52, math.nextafter(1, 0), 0.0)
def test_a_kernel_computes_with_floats_as_python_does(which: int, x: float, y: float):
    check_real(REAL_BY_CUDA, which, x, y)
