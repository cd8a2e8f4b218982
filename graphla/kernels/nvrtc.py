"""CUDA C++ text made into machine code by NVRTC, for any card, with or without one at hand."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from semirings.exceptions import GraphblasException
from semirings.trace import cuda_prelude

HERE = Path(__file__).parent

OPTIONS = ("-std=c++17", "-ftz=false", "-fmad=false", "-default-device")
"""Subnormals stay, and a product is rounded before it is added: as NumPy computes."""


class CompilationFailed(GraphblasException):
    """NVRTC refused a kernel: its file, operator, dtype and NVRTC's own words."""


@cache
def headers() -> dict[str, str]:
    """Every file that a kernel may include, by name."""
    files = sorted((*HERE.glob("*.cuh"), *HERE.glob("*.cu")))
    texts = {file.name: f'#line 1 "{file.name}"\n{file.read_text()}' for file in files}
    return {**texts, "prelude.cuh": cuda_prelude}


@cache
def digest() -> str:
    """A digest of every header: part of the key under which machine code is kept."""
    text = "".join(f"{name}\0{body}\0" for name, body in headers().items())
    return hashlib.sha256(text.encode()).hexdigest()


def program(file: str, struct: str) -> str:
    """The text of one program: a kernel's file after the struct of its operators."""
    return (
        '#include "atomics.cuh"\nnamespace graphla {\n'
        f'#line 1 "operators of {file}"\n{struct}\n}}\n#include "{file}"\n'
    )


def compile_program(
    text: str, expression: str, architecture: str, what: str, *options: str
) -> tuple[bytes, str, str]:
    """The machine code of a program for e.g. "sm_90", the name in it of a template's instance,
    and the compiler's log.
    """
    from cupy.cuda import nvrtc

    known = headers()
    texts = [each.encode() for each in known.values()]
    handle = nvrtc.createProgram(text, "graphla.cu", texts, [name.encode() for name in known])
    try:
        nvrtc.addNameExpression(handle, expression)
        try:
            nvrtc.compileProgram(handle, [*OPTIONS, f"-arch={architecture}", *options])
        except nvrtc.NVRTCError as error:
            log = nvrtc.getProgramLog(handle)
            raise CompilationFailed(
                f"{what} could not be compiled for {architecture}:\n{log}"
            ) from error
        name = nvrtc.getLoweredName(handle, expression)
        return nvrtc.getCUBIN(handle), name, nvrtc.getProgramLog(handle)
    finally:
        nvrtc.destroyProgram(handle)
