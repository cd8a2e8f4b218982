"""Verify that random compositions of exact operations give equal bits in C++, Numba and NumPy."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from printing import Case, Library, differences, numba_groups, numba_module, operands

from semirings import binary
from semirings.dtypes import ALL, BOOL, FLOATS, DataType
from semirings.trace import cast, ceil, floor, isnan, maximum, minimum, sqrt, trunc, where

Function = Callable[[Any, Any], Any]

BINARY: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a // b,
    lambda a, b: a % b,
    lambda a, b: a / b,
    lambda a, b: a < b,
    lambda a, b: a == b,
    minimum,
    maximum,
]
BITS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a & b,
    lambda a, b: a | b,
    lambda a, b: a ^ b,
    lambda a, b: a << (b & 63),
    lambda a, b: a >> b,
]
UNARY: list[Callable[[Any], Any]] = [lambda a: -a, abs, floor, ceil, trunc, isnan]
CONSTANTS = (0, 1, 2, 3, 100)


def grow(rng: random.Random, depth: int) -> Function:
    """Return a random function of x and y. All operations in it have exactly defined results.

    C++, Numba and NumPy compute the same bits for these operations. `depth` limits the nesting.
    """
    if depth == 0:
        constant = rng.choice(CONSTANTS)
        return rng.choice([lambda x, y: x, lambda x, y: y, lambda x, y: x * 0 + constant])
    left, right = grow(rng, depth - 1), grow(rng, depth - 1)
    kind = rng.random()
    if kind < 0.45:
        step = rng.choice(BINARY)
        return lambda x, y: step(left(x, y), right(x, y))
    if kind < 0.6:
        bits = rng.choice(BITS)
        return lambda x, y: _on_bits(bits, left(x, y), right(x, y))
    if kind < 0.75:
        alone = rng.choice(UNARY)
        return lambda x, y: alone(_number(left(x, y)))
    if kind < 0.85:
        target = rng.choice(ALL)
        return lambda x, y: cast(left(x, y), target)
    return lambda x, y: where(left(x, y) > right(x, y), left(x, y), sqrt(_real(right(x, y))))


def _on_bits(bits: Function, a: Any, b: Any) -> Any:
    if a.dtype in FLOATS or a.dtype is BOOL:
        a = cast(a, "INT32")
    return bits(a, cast(b, a.dtype))


def _number(a: Any) -> Any:
    return cast(a, "INT8") if a.dtype is BOOL else a


def _real(a: Any) -> Any:
    return a if a.dtype in FLOATS else cast(a, "FP64")


def random_cases(dtype: DataType, seed: int, count: int) -> list[Case]:
    """Return test cases for `count` binary operators that compute random functions."""
    found = []
    for k in range(count):
        rng = random.Random(f"{dtype} {seed} {k}")
        op = binary.register_anonymous(grow(rng, 3), f"random_{k}")
        typed = op[dtype]
        found.append(Case(typed, f"random_{k}", dict(typed.parameters)))
    return found


def check_forms(chosen: list[Case], run: Callable[[Case, Any], Any]) -> None:
    wrong = []
    for case in chosen:
        arrays = operands(case, 0, 500)
        expected = case.typed.numpy(*arrays)
        for line in differences(case, arrays, expected, run(case, arrays)):
            wrong.append(f"{line}\n{case.typed.source_cuda(case.symbol)}")
    assert not wrong, "\n".join(wrong[:5])


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_random_expressions_give_the_same_bits_in_cpp_as_in_numpy(
    dtype: DataType, gxx: None, tmp_path: Path
):
    chosen = random_cases(dtype, 0, 60)
    library = Library(chosen, tmp_path)
    check_forms(chosen, lambda case, arrays: library.run(case, *arrays))
    assert library.undefined() == []


@pytest.mark.full
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_random_expressions_give_the_same_bits_in_numba_as_in_numpy(
    dtype: DataType, tmp_path: Path
):
    pytest.importorskip("numba", reason="Numba is not installed")
    import numpy as np

    chosen = random_cases(dtype, 1, 30)
    module = numba_module(chosen, tmp_path)
    found = {}
    for k, group in enumerate(numba_groups(chosen)):
        arrays = operands(group[0], 0, 500)
        outs = [np.zeros(len(arrays[0]), case.typed.return_type.np_type) for case in group]
        getattr(module, f"run_{k}")(*arrays, *outs)
        found |= dict(zip((case.symbol for case in group), outs, strict=True))
    check_forms(chosen, lambda case, arrays: found[case.symbol])
