"""What the tests of the simulator share: a kernel from its text."""

from __future__ import annotations

from typing import Any

from .cupy.cuda import nvrtc
from .cupy.cuda.function import Function, Module


def kernel(text: str, expression: str, **headers: str) -> Function:
    """The instance of a template in a program's text, compiled and loaded as graphla does it."""
    program = nvrtc.createProgram(
        text, "test.cu", list(headers.values()), [f"{name}.cuh" for name in headers]
    )
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
    """Launches it."""
    function((grid,), (block,), args, **options)
