"""Verify that operators printed as C++ and as Numba functions compute what NumPy computes."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from printing import (
    Case,
    Library,
    cases,
    differences,
    numba_groups,
    numba_module,
    operands,
)

from semirings import binary, unary
from semirings.dtypes import ALL, BOOL, FP32, INT8, UINT64, DataType
from semirings.trace import raw

RANDOM_ROWS = 3000
SOME_DTYPES = (BOOL, INT8, UINT64, FP32)
SEEDS = range(20) if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else range(1)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_each_printed_cpp_function_matches_numpy_without_undefined_behavior(
    dtype: DataType, gxx: None, tmp_path: Path
):
    chosen = cases(dtype)
    library = Library(chosen, tmp_path)
    for seed in SEEDS:
        wrong = []
        for case in chosen:
            arrays = operands(case, seed, RANDOM_ROWS)
            expected = case.typed.numpy(*arrays)
            assert expected.dtype == case.typed.return_type.np_type, case.label
            wrong += differences(case, arrays, expected, library.run(case, *arrays))
            wrong += [f"{case.label}: undefined in {line}" for line in library.undefined()]
        assert not wrong, "\n".join(wrong)


@cache
def samples() -> dict[str, list[Case]]:
    """Return each operator at one of its dtypes, chosen so that every dtype has some operators."""
    found: dict[str, list[Case]] = {}
    for dtype in ALL:
        for case in cases(dtype):
            found.setdefault(case.symbol, []).append(case)
    chosen = [at[turn % len(at)] for turn, at in enumerate(found.values())]
    return {dtype.name: [case for case in chosen if case.typed.type == dtype] for dtype in ALL}


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_printed_numba_functions_in_the_sample_match_numpy(dtype: DataType, tmp_path: Path):
    _compare_numba(samples()[dtype.name], tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_every_printed_numba_function_matches_numpy(dtype: DataType, tmp_path: Path):
    _compare_numba(cases(dtype), tmp_path)


def _compare_numba(chosen: list[Case], folder: Path) -> None:
    pytest.importorskip("numba", reason="Numba is not installed")
    printed = [case for case in chosen if case.typed.source_numba(case.symbol) is not None]
    module = numba_module(printed, folder)
    wrong = []
    for k, group in enumerate(numba_groups(printed)):
        arrays = operands(group[0], 0, RANDOM_ROWS)
        outs = [np.zeros(len(arrays[0]), case.typed.return_type.np_type) for case in group]
        getattr(module, f"run_{k}")(*arrays, *outs)
        for case, out in zip(group, outs, strict=True):
            wrong += differences(case, arrays, case.typed.numpy(*arrays), out)
    assert not wrong, "\n".join(wrong)


def test_the_sample_for_numba_contains_every_operator_and_every_dtype():
    every = {case.symbol for dtype in ALL for case in cases(dtype)}
    assert {case.symbol for chosen in samples().values() for case in chosen} == every
    assert all(samples().values())


def test_printed_numba_functions_cast_arguments_to_their_own_dtypes(tmp_path: Path):
    """A kernel may pass entries of another dtype if their values fit."""
    pytest.importorskip("numba", reason="Numba is not installed")
    chosen = [
        Case(unary.identity[dtype], f"identity_{dtype}", {"x": dtype}) for dtype in SOME_DTYPES
    ]
    module = numba_module(chosen, tmp_path)
    for case in chosen:
        for source in SOME_DTYPES:
            x = np.array([0, 1, 2, 100]).astype(source.np_type)
            found = np.array([getattr(module, case.symbol)(value) for value in x])
            expected = x.astype(case.typed.type.np_type)
            assert found.tolist() == expected.tolist(), (case.symbol, source)


def test_the_test_library_detects_undefined_behavior(gxx: None, tmp_path: Path):
    overflow = raw("({0} + {1})", np.add)
    typed = binary.register_anonymous(lambda x, y: overflow(x, y), "overflow")["INT64"]
    case = Case(typed, "overflow", dict(typed.parameters))
    library = Library([case], tmp_path)
    library.run(case, np.array([1]), np.array([2]))
    assert library.undefined() == []
    library.run(case, np.array([2**63 - 1]), np.array([1]))
    assert ["+" in line for line in library.undefined()] == [True]
