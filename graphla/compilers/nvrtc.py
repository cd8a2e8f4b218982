"""Compile CUDA C++ with NVRTC to machine code for any GPU. This does not require a GPU."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from semirings.dtypes import lookup_dtype
from semirings.exceptions import GraphblasException
from semirings.trace import cuda_prelude

OPTIONS = ("-std=c++17", "-ftz=false", "-fmad=false", "-default-device")
"""Options for the compiler. Two of them make kernels compute as NumPy does: with -ftz=false,
subnormals are kept, and with -fmad=false, a product is rounded before it is added."""


class CompilationFailed(GraphblasException):
    """Raised if NVRTC rejects a kernel. The message contains the file, the operator, the dtype and
    the compiler's log."""


_folders: list[Path] = []


def register(folder: Path) -> None:
    """Register a folder. Its files can then be compiled, and included by name."""
    if folder not in _folders:
        _folders.append(folder)
        for function in (sources, _included_by):
            function.cache_clear()
        _digests.clear()


@cache
def sources() -> dict[str, str]:
    """Return the text of every file in the registered folders, keyed by file name."""
    texts = {"prelude.cuh": cuda_prelude}
    for path in (path for folder in _folders for path in sorted(folder.glob("*.cu*"))):
        if path.name in texts:
            raise ValueError(f"two folders of kernels have a file {path.name}")
        texts[path.name] = f'#line 1 "{path.name}"\n{path.read_text()}'
    return texts


def included(text: str) -> dict[str, str]:
    """Return the files that a text includes, directly or indirectly."""
    names = {inner for name in _includes(text) for inner in _included_by(name)}
    return {name: sources()[name] for name in sorted(names)}


@cache
def _included_by(name: str) -> frozenset[str]:
    """Return the name of a file and of all files that it includes, directly or indirectly."""
    inner = _includes(sources().get(name, ""))
    return frozenset((name,)).union(*map(_included_by, inner)) & sources().keys()


def _includes(text: str) -> list[str]:
    return re.findall(r'^#include "([^"]*)"', text, re.MULTILINE)


def digest(text: str) -> str:
    """Return a digest of a program's text and of all files that it includes."""
    known = _digests.get(text)
    if known is None:
        parts = (text, *(f"{name}\0{body}" for name, body in included(text).items()))
        known = _digests[text] = hashlib.sha256("\0\0".join(parts).encode()).hexdigest()
    return known


_digests: dict[str, str] = {}


def set_digest(text: str, digest: str) -> None:
    """Set the digest of a program's text, which an earlier process has computed from the same
    files."""
    _digests.setdefault(text, digest)


def program(file: str, struct: str, constants: Any = None) -> str:
    """Return the text of a program: the constants, the struct `Op`, and the file of the kernel."""
    values = () if constants is None else constants
    values = values if isinstance(values, tuple) else (values,)
    numbers = "".join(map(partial(_print_constants, file), values))
    return (
        f'namespace graphla {{\n#line 1 "constants of {file}"\n{numbers}}}\n'
        '#include "atomics.cuh"\nnamespace graphla {\n'
        f'#line 1 "operators of {file}"\n{struct}\n}}\n#include "{file}"\n'
    )


def _print_constants(file: str, values: Any) -> str:
    """Return the C++ text of a struct for `values`, an object of a frozen dataclass. The struct has
    the name of the dataclass T, so that `T::x` in C++ is `values.x` in Python.

    The struct has only those fields that are read by the kernel's file, or by a file that it
    includes. So if a field that only the host reads is changed, the kernel is not recompiled.
    """
    kind = type(values).__name__
    text = "".join(included(f'#include "{file}"').values())
    read = sorted(set(re.findall(rf"\b{kind}::(\w+)", text)))
    lines = [f"  static constexpr {_constant(name, getattr(values, name))};\n" for name in read]
    return f"struct {kind} {{\n{''.join(lines)}}};\n" if lines else ""


def _constant(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"bool {name} = {written(value)}"
    if isinstance(value, int):
        return f"{'int' if -(1 << 31) < value < 1 << 31 else 'long long'} {name} = {value}"
    if isinstance(value, float):
        return f"double {name} = {value!r}"
    raise TypeError(f"the constant {name} is {value!r}, but a kernel reads ints, floats and bools")


def compile_program(
    text: str, expression: str, architecture: str, what: str, *options: str
) -> tuple[bytes, str, str]:
    """Return the machine code, the name of the instance in it, and the compiler's log.

    `architecture` is for example "sm_90". `expression` names an instance of a template. If the
    program is a part without a kernel, `expression` is empty, and so is the returned name.
    """
    from cupy.cuda import nvrtc

    flags = (*OPTIONS, *options)
    expressions = (expression,) if expression else ()
    cubin, names, log = compile_instances(nvrtc, text, expressions, architecture, what, flags)
    return cubin, "".join(names), log


def compile_instances(
    toolkit: Any,
    text: str,
    expressions: Sequence[str],
    architecture: str,
    what: str,
    options: Sequence[str] = OPTIONS,
) -> tuple[bytes, list[str], str]:
    """Compile several instances of templates. The parameters are as in `compile_program`.

    `toolkit` is `cupy.cuda.nvrtc`, or an object with the same functions that calls another version
    of NVRTC.
    """
    known = included(text)
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
    """Return the C++ name of a template instance, such as
    `graphla::pull<graphla::Op, float, 2>`."""
    return f"graphla::{entry}<{', '.join(('graphla::Op', *map(written, arguments)))}>"


def written(value: Any) -> str:
    """Return the C++ text of a template argument: a NumPy dtype, an int, a bool, or text."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, np.dtype):
        return lookup_dtype(value).c_type
    return str(value)
