"""How kernels are found, what their programs include, and the constants that they are given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cupy
import numpy as np
import pytest

import graphla as gl
from graphla.kernels import nvrtc
from graphla.kernels.cuda import NOTHING, load

SHARED = """
#include "device.cuh"
namespace graphla {
DEVICE int doubled(int x) { return 2 * x; }
}
"""
SCALE = """
#include "shared_by_tests.cuh"
namespace graphla {
template <class Op, class T> __global__ void scale(T *x) {
  x[threadIdx.x] = Numbers::is_doubled ? doubled(x[threadIdx.x]) : x[threadIdx.x] * Numbers::factor;
}
}
"""
ALONE = """
#include "device.cuh"
namespace graphla {
template <class Op> __global__ void alone(int *x) { x[0] = 1; }
}
"""


@dataclass(frozen=True)
class Numbers:
    """`limit` is read by no kernel."""

    factor: float = 0.5
    is_doubled: bool = False
    limit: int = 1 << 40


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A registered folder with two kernels, of which one includes the header."""
    texts = {"shared_by_tests.cuh": SHARED, "scale.cu": SCALE, "alone.cu": ALONE}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    with monkeypatch.context() as patch, gl.config.set(device="cuda"):
        patch.setattr(nvrtc, "_folders", list(nvrtc._folders))
        nvrtc.register(tmp_path)
        yield tmp_path
    _forget()


def _forget() -> None:
    for function in (nvrtc.sources, nvrtc._included_by, nvrtc.digest):
        function.cache_clear()


def scaled(constants: Any) -> list[float]:
    x = cupy.arange(4, dtype=np.float64)
    load("scale.cu", "scale", NOTHING, x.dtype, constants=constants)(1, 4, x)
    return x.tolist()


def test_a_kernel_reads_the_constants_that_it_is_loaded_with():
    assert scaled(Numbers()) == [0, 0.5, 1, 1.5]
    assert scaled(Numbers(factor=3)) == [0, 3, 6, 9]
    assert scaled((Numbers(is_doubled=True),)) == [0, 2, 4, 6]


def test_constants_that_no_kernel_reads_are_not_in_its_program():
    texts = {
        nvrtc.program("scale.cu", "struct Op {};", Numbers(limit=limit))
        for limit in (1, 2, 1 << 40)
    }
    assert len(texts) == 1 and "limit" not in texts.pop()
    assert nvrtc.program("alone.cu", "", Numbers()) == nvrtc.program("alone.cu", "")


def test_a_constant_is_an_int_a_float_or_a_bool():
    with pytest.raises(TypeError, match="constant factor is 'half'"):
        nvrtc.program("scale.cu", "", Numbers(factor="half"))  # pyright: ignore[reportArgumentType]


def test_an_edit_of_a_file_concerns_the_kernels_that_include_it_and_no_others(folder: Path):
    files = ("scale.cu", "alone.cu", "push.cu")
    before = [nvrtc.digest(nvrtc.program(file, "", Numbers())) for file in files]
    (folder / "shared_by_tests.cuh").write_text(SHARED.replace("2 * x", "x + x"))
    _forget()
    after = [nvrtc.digest(nvrtc.program(file, "", Numbers())) for file in files]
    assert [x != y for x, y in zip(before, after, strict=True)] == [True, False, False]


def test_a_program_includes_what_its_includes_include():
    names = nvrtc.included('#include "scale.cu"\n').keys()
    assert names == {"scale.cu", "shared_by_tests.cuh", "device.cuh", "prelude.cuh"}


def test_two_files_of_one_name_are_refused(folder: Path):
    (folder / "push.cu").write_text(ALONE)
    _forget()
    with pytest.raises(ValueError, match=r"two folders of kernels have a file push\.cu"):
        nvrtc.sources()
