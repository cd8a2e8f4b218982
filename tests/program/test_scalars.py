"""Scalars in compiled loops follow the rules of Python, in the interpreter and with Numba."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scalar_loops import (
    LEAST,
    MOST,
    REAL,
    WHOLE,
    check_real,
    check_whole,
    real,
    real_numbers,
    whole,
    whole_numbers,
)

import graphla as gl
from graphla.program import interpreter, running

pytestmark = pytest.mark.cpu

WHOLE_BY_INTERPRETER, WHOLE_BY_NUMBA = gl.jit(whole), gl.jit(whole)
REAL_BY_INTERPRETER, REAL_BY_NUMBA = gl.jit(real), gl.jit(real)


@pytest.fixture(autouse=True)
def compiled() -> Iterator[None]:
    with gl.config.set(device="cpu", compiled=True):
        yield


@given(st.integers(0, WHOLE - 1), whole_numbers, whole_numbers)
def test_the_interpreter_computes_with_ints_as_python_does(which: int, x: int, y: int):
    with running.use(interpreter):
        check_whole(WHOLE_BY_INTERPRETER, which, x, y)


@given(st.integers(0, WHOLE - 1), whole_numbers, whole_numbers)
@example(2, 1000003**3, 1000003)
@example(0, MOST, 1)
@example(1, LEAST, 1)
@example(3, LEAST, -1)
@example(4, LEAST, -1)
@example(5, LEAST, 0)
@example(6, LEAST, 0)
@example(2, LEAST, -1)
@example(2, -1, LEAST)
@example(7, -1, 63)
@example(7, 1, 63)
@example(9, 2, 63)
@example(9, -2, 63)
@example(28, (1 << 60) + 1, 3)
@example(28, 1, (1 << 60) + 1)
def test_numba_computes_with_ints_as_python_does(which: int, x: int, y: int):
    pytest.importorskip("numba")
    check_whole(WHOLE_BY_NUMBA, which, x, y)


@given(st.integers(0, REAL - 1), real_numbers, real_numbers)
def test_the_interpreter_computes_with_floats_as_python_does(which: int, x: float, y: float):
    with running.use(interpreter):
        check_real(REAL_BY_INTERPRETER, which, x, y)


@given(st.integers(0, REAL - 1), real_numbers, real_numbers)
@example(51, 1.5, -1074.0)
@example(51, 2.0**-1000, 2000.0)
@example(52, 5e-324, 0.0)
@example(53, 5e-324, 0.0)
@example(52, math.nextafter(1, 0), 0.0)
@example(53, math.nextafter(2.0**60, 0), 0.0)
def test_numba_computes_with_floats_as_python_does(which: int, x: float, y: float):
    pytest.importorskip("numba")
    check_real(REAL_BY_NUMBA, which, x, y)
