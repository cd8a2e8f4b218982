"""Test that kernels and their includes are found, and that constants and structs are passed."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cupy
import numpy as np
import pytest
from devices import has_card

import graphla as gl
import graphla.backends.cuda  # importing this package registers its kernels
from graphla.compilers import nvrtc
from graphla.compilers.cuda import NOTHING, Loading, _link, load
from graphla.compilers.declarations import Struct, enumeration, fields

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
SHIFT = """
#include "device.cuh"
namespace graphla {
template <class T> struct Pair {
  const T *__restrict__ x;  // two of them; and more
  i8 k;
  T shift = 0;
  static constexpr int COUNT = 2;
  DEVICE T sum() const { return x[k] + shift; }
};
/* struct Work { int wrong; }; */
template <class T> struct Work {
  typedef T Value;
  Pair<T> pair;
  bool is_shifted;
  T *out, *unused;
};
template <class Op, class T> __global__ void shift(Work<T> work, int n) {
  if (int(threadIdx.x) < n) work.out[threadIdx.x] = work.is_shifted ? work.pair.sum() : T(n);
}
struct Names { int *pack, *type, *room; i64 layout, state, begin, memory; };
template <class Op> __global__ void add(Names x) {
  x.type[0] = int(x.layout + x.state + x.begin + x.memory);
}
template <class Op, class T> __global__ void numbers(Pair<T> pair, T *out) { out[0] = pair.sum(); }
}
"""
STEPS = """
enum Step { FIRST, SECOND = 4, THIRD, /* 9 */ LAST = SECOND };  // = 4
enum class Mask : unsigned { NONE = 0, ALL = 0xffffffffu, };
"""


@dataclass(frozen=True)
class Numbers:
    """Constants for a kernel; no kernel reads `limit`."""

    factor: float = 0.5
    is_doubled: bool = False
    limit: int = 1 << 40


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Register a folder of kernels, one of which includes a shared header."""
    texts = {
        "shared_by_tests.cuh": SHARED,
        "scale.cu": SCALE,
        "alone.cu": ALONE,
        "shift.cu": SHIFT,
        "steps.cuh": STEPS,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    with monkeypatch.context() as patch, gl.config.set(device="cuda"):
        patch.setattr(nvrtc, "_folders", list(nvrtc._folders))
        nvrtc.register(tmp_path)
        yield tmp_path
    _forget()


def _forget() -> None:
    for function in (nvrtc.sources, nvrtc._included_by):
        function.cache_clear()
    nvrtc._digests.clear()


def scaled(constants: Any) -> list[float]:
    x = cupy.arange(4, dtype=np.float64)
    load("scale.cu", "scale", NOTHING, x.dtype, constants=constants)(1, 4, x)
    return x.tolist()


def test_a_kernel_uses_the_constants_that_it_is_loaded_with():
    assert scaled(Numbers()) == [0, 0.5, 1, 1.5]
    assert scaled(Numbers(factor=3)) == [0, 3, 6, 9]
    assert scaled((Numbers(is_doubled=True),)) == [0, 2, 4, 6]


def test_constants_that_no_kernel_reads_do_not_change_its_program():
    texts = {
        nvrtc.program("scale.cu", "struct Op {};", Numbers(limit=limit))
        for limit in (1, 2, 1 << 40)
    }
    assert len(texts) == 1 and "limit" not in texts.pop()
    assert nvrtc.program("alone.cu", "", Numbers()) == nvrtc.program("alone.cu", "")


def test_a_constant_must_be_an_int_or_a_float_or_a_bool():
    with pytest.raises(TypeError, match="constant factor is 'half'"):
        nvrtc.program("scale.cu", "", Numbers(factor="half"))  # pyright: ignore[reportArgumentType]


def test_editing_a_file_changes_only_the_kernels_that_include_it(folder: Path):
    files = ("scale.cu", "alone.cu", "spmspv.cu")
    before = [nvrtc.digest(nvrtc.program(file, "", Numbers())) for file in files]
    (folder / "shared_by_tests.cuh").write_text(SHARED.replace("2 * x", "x + x"))
    _forget()
    after = [nvrtc.digest(nvrtc.program(file, "", Numbers())) for file in files]
    assert [x != y for x, y in zip(before, after, strict=True)] == [True, False, False]


def test_includes_are_followed_recursively():
    names = nvrtc.included('#include "scale.cu"\n').keys()
    assert names == {"scale.cu", "shared_by_tests.cuh", "device.cuh", "prelude.cuh"}


def test_two_kernel_files_with_the_same_name_are_rejected(folder: Path):
    (folder / "spmspv.cu").write_text(ALONE)
    _forget()
    with pytest.raises(ValueError, match=r"two folders of kernels have a file spmspv\.cu"):
        nvrtc.sources()


def pair(x: Any, k: Any = 1, shift: Any = 0) -> Any:
    return Struct("shift.cu", "Pair")(x=x, k=k, shift=x.dtype.type(shift))


def work(x: Any, out: Any, is_shifted: bool = True) -> Any:
    return Struct("shift.cu", "Work")(
        pair=pair(x, 1, 10), is_shifted=is_shifted, out=out, unused=None
    )


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "f8", "u8"])
def test_a_kernel_takes_structs_by_value(dtype: str):
    x, out = cupy.array([3, 5], dtype), cupy.zeros(3, dtype)
    shift, numbers = (load("shift.cu", name, NOTHING, x.dtype) for name in ("shift", "numbers"))
    given = work(x, out)
    shift(1, 32, given, np.int32(2))
    assert out.tolist() == [15, 15, 0]
    shift(1, 32, given, np.int32(3))  # passes the same packed struct again
    assert out.tolist() == [15, 15, 15]
    shift(1, 32, work(x, out, False), np.int32(1))
    assert out.tolist() == [1, 15, 15]
    numbers(1, 1, pair(x, 0), out)
    assert out.tolist() == [3, 15, 15]


def test_a_struct_field_may_have_any_name():
    out = cupy.zeros(1, np.int32)
    names = Struct("shift.cu", "Names")
    given = names(pack=out, type=out, room=None, layout=1, state=20, begin=300, memory=4000)
    load("shift.cu", "add", NOTHING)(1, 1, given)
    assert out.tolist() == [4321]


def test_each_packed_struct_has_its_own_memory():
    x, out = cupy.arange(2.0), cupy.zeros(1)
    given = [pair(x, 1, shift) for shift in range(5000)]  # too many structs for one block of memory
    numbers = load("shift.cu", "numbers", NOTHING, x.dtype)
    for shift in (0, 2047, 2048, 4999):
        numbers(1, 1, given[shift], out)
        assert out.tolist() == [1 + shift]


def test_the_fields_of_a_struct_are_read_from_its_source():
    assert fields(SHIFT, "Pair") == {"x": "P", "k": "b", "shift": ""}
    assert fields(SHIFT, "Work") == {"pair": "", "is_shifted": "?", "out": "P", "unused": "P"}
    with pytest.raises(LookupError, match="no struct Task"):
        fields(SHIFT, "Task")
    with pytest.raises(ValueError, match=r"field that the host cannot read: int x\[3\]"):
        fields("struct Few { int x[3]; };", "Few")


def test_an_enumeration_is_read_from_its_source():
    steps, mask = enumeration("steps.cuh", "Step"), enumeration("steps.cuh", "Mask")
    assert vars(steps) == {"FIRST": 0, "SECOND": 4, "THIRD": 5, "LAST": 4}
    assert [*steps] == [0, 4, 5, 4] and steps["THIRD"] == 5 and type(steps.LAST) is int
    assert mask.ALL == 0xFFFFFFFF and nvrtc.written(steps.THIRD) == "5"
    with pytest.raises(LookupError, match=r"steps\.cuh has no enum Steps"):
        enumeration("steps.cuh", "Steps")


def test_values_that_do_not_match_the_fields_of_a_struct_are_rejected():
    x, pack = cupy.zeros(2), Struct("shift.cu", "Pair")
    with pytest.raises(TypeError, match=r"Pair\(\) got an unexpected keyword argument 'y'"):
        pack(x=x, k=0, y=x, shift=x.dtype.type(0))
    with pytest.raises(TypeError, match=r"Pair\(\) missing 1 required .* 'k'"):
        pack(x=x, shift=x.dtype.type(0))
    with pytest.raises(TypeError, match="array of the host"):
        pair(np.zeros(2))
    with pytest.raises(struct.error, match="format requires"):
        pair(x, 128)


@pytest.mark.skipif(has_card(), reason="only the simulator compares arguments with parameters")
def test_the_simulator_rejects_structs_that_a_kernel_would_misread():
    from simulator import SimulatorFault

    x, pack = cupy.zeros(2), Struct("shift.cu", "Pair")
    numbers = load("shift.cu", "numbers", NOTHING, x.dtype)
    with pytest.raises(SimulatorFault, match=r"field 0 of argument 0 .* is an array of int32"):
        numbers(1, 1, pack(x=cupy.zeros(2, np.int32), k=1, shift=x.dtype.type(0)), x)
    with pytest.raises(
        SimulatorFault, match=r"argument 0 .* has 16 bytes, but the parameter has 24"
    ):
        numbers(1, 1, pack(x=x, k=1, shift=np.int32(1)), x)
    with pytest.raises(SimulatorFault, match=r"field 0 of argument 0 .* with strides \(16,\)"):
        numbers(1, 1, pair(cupy.zeros(4)[::2]), x)
    with pytest.raises(SimulatorFault, match=r"argument 0 .* has 48 bytes"):
        numbers(1, 1, work(x, x), x)


WHOLE = """
#include "device.cuh"
namespace graphla {
template <int N> __global__ void store_number(int *x) { x[0] = N WRONG; }
}
"""


def test_callers_that_load_a_program_at_the_same_time_get_the_same_kernel():
    given = WHOLE.replace("WRONG", ""), "graphla::store_number<7>", "a test"
    first, second = Loading(*given), Loading(*given)
    kernel, x = second(), cupy.zeros(1, np.int32)
    kernel(1, 1, x)
    assert x.tolist() == [7]
    assert first() is kernel is Loading(*given)()


def test_each_call_that_loads_a_faulty_program_reports_its_compilation_error():
    given = WHOLE, "graphla::store_number<7>", "a test"
    for _ in range(2):
        finish = Loading(*given)
        with pytest.raises(nvrtc.CompilationFailed, match="a test could not be compiled"):
            finish()


TWO_PARTS = """
#include "device.cuh"
namespace graphla {
LINKED int tripled(int x);
#if !defined(GRAPHLA_PART) || GRAPHLA_PART == 1
LINKED int tripled(int x) { return 3 * x; }
#endif
#if !defined(GRAPHLA_PART) || GRAPHLA_PART == 0
template <int N> __global__ void store_triple(int *x) { x[0] = tripled(N); }
#endif
}
"""


@pytest.mark.skipif(not has_card(), reason="only the driver of a card links parts")
def test_the_driver_links_the_parts_of_a_program():
    given, x = (TWO_PARTS, "graphla::store_triple<7>", "a test"), cupy.zeros(2, np.int32)
    in_parts, whole = Loading(*given, parts=1, registers=128), Loading(*given)
    assert in_parts.code is not None
    compiled = [each.result() for each in in_parts.code.compiled]
    linked = _link([cubin for cubin, _ in compiled])
    assert linked not in [cubin for cubin, _ in compiled]
    in_parts()(1, 1, x[:1])
    whole()(1, 1, x[1:])
    assert x.tolist() == [21, 21]
    assert in_parts.is_done() and whole.is_done()
