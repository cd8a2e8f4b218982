"""Tests of the stand-in for NVRTC: headers, options, errors and the cache of compiled code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from . import cupy
from .cupy.cuda import driver, nvrtc
from .cupy.cuda.function import Module

TEXT = (
    '#include "number.cuh"\n'
    "template <int N> __global__ void fill(int *x) { x[threadIdx.x] = N + number(); }"
)
HEADER = "__device__ inline int number() { return NUMBER; }"


def compiled(
    text: str, expression: str, *options: str, headers: dict[str, str] | None = None
) -> tuple[bytes, str]:
    known = headers or {}
    texts, names = (
        [each.encode() for each in known.values()],
        [name.encode() for name in known],
    )
    program = nvrtc.createProgram(text, "test.cu", texts, names)
    nvrtc.addNameExpression(program, expression)
    try:
        nvrtc.compileProgram(program, options)
    except nvrtc.NVRTCError as error:
        error.add_note(nvrtc.getProgramLog(program))
        raise
    assert nvrtc.getProgramLog(program) == ""
    return nvrtc.getCUBIN(program), nvrtc.getLoweredName(program, expression)


def filled(image: bytes, name: str) -> list[int]:
    module = Module()
    module.load(image)
    x = cupy.zeros(3, np.int32)
    module.get_function(name)((1,), (3,), (x,))
    return x.tolist()


def test_a_program_may_use_header_texts_and_defined_macros():
    headers = {"number.cuh": HEADER}
    for number in (1, 2):
        image, name = compiled(TEXT, "fill<40>", f"-DNUMBER={number}", headers=headers)
        assert filled(image, name) == [40 + number] * 3


def test_headers_in_the_given_folders_are_found_and_are_part_of_the_cache_key(tmp_path: Path):
    for number in (5, 6):
        (tmp_path / "number.cuh").write_text(HEADER.replace("NUMBER", str(number)))
        assert filled(*compiled(TEXT, "fill<1>", f"-I{tmp_path}")) == [1 + number] * 3


def test_a_program_may_have_several_template_instances():
    text = "template <int N> __global__ void fill(int *x) { x[threadIdx.x] = N; }"
    program = nvrtc.createProgram(text, "test.cu", (), ())
    for number in (3, 4):
        nvrtc.addNameExpression(program, f"fill<{number}>")
    nvrtc.compileProgram(program, ("-std=c++17", "-arch=sm_90", "-default-device"))
    for number in (3, 4):
        name = nvrtc.getLoweredName(program, f"fill<{number}>")
        assert filled(nvrtc.getCUBIN(program), name) == [number] * 3


def test_a_compile_error_is_reported_with_its_line():
    with pytest.raises(nvrtc.NVRTCError, match="NVRTC_ERROR_COMPILATION") as caught:
        compiled("\ntemplate <int> __global__ void f() { nothing(); }", "f<0>")
    assert "test.cu:2" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    "body",
    [
        "__shared__ int x[3];",
        "__shfl_sync(~0u, (short)1, 0);",
        "long long x = 0; atomicAdd(&x, 1ll);",
        "float x = 0; atomicMin(&x, 1.f);",
        "surfaces();",
    ],
)
def test_cuda_code_with_unsupported_features_is_rejected(body):
    with pytest.raises(nvrtc.NVRTCError):
        compiled(f"template <int> __global__ void f() {{ {body} }}", "f<0>")


def test_an_unknown_option_is_rejected():
    with pytest.raises(nvrtc.NVRTCError, match="INVALID_OPTION") as caught:
        compiled("template <int> __global__ void f() {}", "f<0>", "--no-such-option")
    assert "unrecognized option --no-such-option" in caught.value.__notes__[0]


def test_loading_invalid_code_raises_an_error():
    for image in (b"nonsense", Path(sys.executable).read_bytes()):
        with pytest.raises(driver.CUDADriverError, match="CUDA_ERROR_INVALID_IMAGE"):
            Module().load(image)
    image, _ = compiled("template <int> __global__ void f() {}", "f<0>")
    module = Module()
    module.load(image)
    with pytest.raises(driver.CUDADriverError, match="CUDA_ERROR_NOT_FOUND"):
        module.get_function("g")


def test_launches_that_a_gpu_would_reject_raise_errors():
    text = "template <int> __global__ void f(int *x) { SHARED_BYTES(all); x[0] = all[0]; }"
    image, name = compiled(text, "f<0>")
    module = Module()
    module.load(image)
    f, x = module.get_function(name), cupy.zeros(1, np.int32)
    for grid, block, shared in (((0,), (1,), 0), ((1,), (1025,), 0), ((1, 70000), (1,), 0)):
        with pytest.raises(driver.CUDADriverError, match="CUDA_ERROR_INVALID_VALUE"):
            f(grid, block, (x,), shared)
    with pytest.raises(driver.CUDADriverError, match="CUDA_ERROR_INVALID_VALUE"):
        f((1,), (1,), (x,), 50000)
    driver.funcSetAttribute(f.ptr, 8, 60000)
    f((1,), (1,), (x,), 50000)
    with pytest.raises(driver.CUDADriverError, match="COOPERATIVE_LAUNCH_TOO_LARGE"):
        f((9,), (1024,), (x,), enable_cooperative_groups=True)


def test_compiled_code_is_cached_in_the_configured_folder(tmp_path: Path):
    code = (
        "from simulator.kernels import kernel, run; from simulator import cupy\n"
        "x = cupy.zeros(1)\n"
        "run(kernel('template <int> __global__ void f(double *x) { *x = 3; }', 'f<0>'), 1, 1, x)\n"
        "print(x)"
    )
    here = {"GRAPHLA_SIMULATOR_CACHE": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[1])}
    times = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **here},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "[3.]\n"
        times.append({file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.so")})
    assert times[0] == times[1]
    # There are three libraries: the runtime, the program, and the loaded copy of the program.
    assert len(times[0]) == 3
