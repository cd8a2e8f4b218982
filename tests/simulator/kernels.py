"""Compile and run kernels from their source text, for the tests of the simulator."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from . import cupy
from .cupy.cuda import nvrtc
from .cupy.cuda.function import Function, Module


@cache
def kernel(text: str, expression: str, shown: str = "test.cu") -> Function:
    """Compile and load an instance of a template in a program, in the same way as graphla."""
    program = nvrtc.createProgram(text, shown, (), ())
    try:
        nvrtc.addNameExpression(program, expression)
        try:
            nvrtc.compileProgram(program, ("-std=c++17", "-arch=sm_90"))
        except nvrtc.NVRTCError:
            raise AssertionError(nvrtc.getProgramLog(program)) from None
        module = Module()
        module.load(nvrtc.getCUBIN(program))
        return module.get_function(nvrtc.getLoweredName(program, expression))
    finally:
        nvrtc.destroyProgram(program)


def run(function: Function, grid: int, block: int, *args: Any, **options: Any) -> None:
    """Launch a kernel."""
    function((grid,), (block,), args, **options)


def each_lane(
    body: str, inputs: list[np.ndarray], out: Any, *, threads: int | None = None, **options: Any
) -> np.ndarray:
    """Run the C++ statements `body` in each thread of a block, and return the output array.

    In `body`, t is the index of the thread. The variables a, b and c are element t of the first,
    second and third array in `inputs`. `out` is the output array.
    """
    names = "abc"[: len(inputs)]
    types = [c_type(each.dtype) for each in inputs]
    parameters = "".join(
        f"const {each} *{name}s, " for each, name in zip(types, names, strict=True)
    )
    reads = "".join(f"  [[maybe_unused]] const auto {name} = {name}s[t];\n" for name in names)
    text = (
        f"template <int> __global__ void each({parameters}{c_type(np.dtype(out))} *out) {{\n"
        f"  const unsigned t = threadIdx.x;\n{reads}  {body}\n}}\n"
    )
    count = threads or len(inputs[0])
    result = cupy.zeros(count, out)
    run(kernel(text, "each<0>"), 1, count, *map(cupy.asarray, inputs), result, **options)
    return result.get()


def c_type(dtype: np.dtype) -> str:
    """Return the C++ name of a dtype."""
    return {
        "int32": "int",
        "uint32": "unsigned",
        "int64": "long long",
        "uint64": "unsigned long long",
        "float32": "float",
        "float64": "double",
    }[dtype.name]
