"""CUDA C++ text made into machine code by NVRTC, for any card, with or without one at hand."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from semirings.dtypes import lookup_dtype
from semirings.exceptions import GraphblasException
from semirings.trace import cuda_prelude

HERE = Path(__file__).parent.parent / "backends" / "cuda"
FOLDERS = (HERE, HERE.parent.parent / "ladder")
"""Where kernels lie: in the backend, and, each beside what launches it, those of the ladder."""

OPTIONS = ("-std=c++17", "-ftz=false", "-fmad=false", "-default-device")
"""Subnormals stay, and a product is rounded before it is added: as NumPy computes."""


class CompilationFailed(GraphblasException):
    """NVRTC refused a kernel: its file, operator, dtype and NVRTC's own words."""


@cache
def headers() -> dict[str, str]:
    """Every file that a kernel may include, by name."""
    files = [file for folder in FOLDERS for file in sorted(folder.glob("*.cu*"))]
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

    flags = (*OPTIONS, *options)
    cubin, names, log = compile_instances(nvrtc, text, (expression,), architecture, what, flags)
    return cubin, names[0], log


def compile_instances(
    toolkit: Any,
    text: str,
    expressions: Sequence[str],
    architecture: str,
    what: str,
    options: Sequence[str] = OPTIONS,
) -> tuple[bytes, list[str], str]:
    """As `compile_program`, for several instances at a time and any NVRTC: `toolkit` stands for
    `cupy.cuda.nvrtc`.
    """
    known = headers()
    texts = [each.encode() for each in known.values()]
    handle = toolkit.createProgram(text, "graphla.cu", texts, [name.encode() for name in known])
    try:
        for expression in expressions:
            toolkit.addNameExpression(handle, expression)
        try:
            toolkit.compileProgram(handle, [*options, f"-arch={architecture}"])
        except toolkit.NVRTCError as error:
            log = toolkit.getProgramLog(handle)
            raise CompilationFailed(
                f"{what} could not be compiled for {architecture}:\n{log}"
            ) from error
        names = [toolkit.getLoweredName(handle, expression) for expression in expressions]
        return toolkit.getCUBIN(handle), names, toolkit.getProgramLog(handle)
    finally:
        toolkit.destroyProgram(handle)


def instance(entry: str, arguments: tuple[Any, ...]) -> str:
    """The template's instance in C++: `graphla::pull<graphla::Op, float, 2>`."""
    return f"graphla::{entry}<{', '.join(('graphla::Op', *map(written, arguments)))}>"


def written(value: Any) -> str:
    """A template's argument in C++: a NumPy dtype, an int, a flag, or text as it is."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, np.dtype):
        return lookup_dtype(value).c_type
    return str(value)
