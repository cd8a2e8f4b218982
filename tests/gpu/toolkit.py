"""Call NVRTC through ctypes, with the same interface as `cupy.cuda.nvrtc`.

So the tests can compile every kernel for every architecture without CuPy and without a GPU. They
need only the NVRTC wheel.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

WHEELS = {12: "nvidia.cuda_nvrtc", 13: "nvidia.cu13"}
"""For each major version of CUDA, the Python package in which its wheel installs libraries."""


class NVRTCError(RuntimeError):
    """An error of NVRTC, with NVRTC's own message."""


class Nvrtc:
    """One version of NVRTC with the interface that CuPy offers."""

    NVRTCError = NVRTCError

    def __init__(self, path: Path):
        # Load this library first, because NVRTC looks for it by name only.
        for built_in in path.parent.glob("libnvrtc-builtins.so*"):
            ctypes.CDLL(str(built_in))
        self._library = ctypes.CDLL(str(path))
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def _call(self, name: str, *arguments: Any) -> None:
        status = self._library[name](*arguments)
        if status:
            raise NVRTCError(self._library.nvrtcGetErrorString(status).decode())

    def getVersion(self) -> tuple[int, int]:
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

    def createProgram(
        self, source: str, name: str, headers: list[bytes], include_names: list[bytes]
    ) -> ctypes.c_void_p:
        program = ctypes.c_void_p()
        count = len(headers)
        self._call(
            "nvrtcCreateProgram",
            ctypes.byref(program),
            source.encode(),
            name.encode(),
            count,
            (ctypes.c_char_p * count)(*headers),
            (ctypes.c_char_p * count)(*include_names),
        )
        return program

    def addNameExpression(self, program: ctypes.c_void_p, expression: str) -> None:
        self._call("nvrtcAddNameExpression", program, expression.encode())

    def compileProgram(self, program: ctypes.c_void_p, options: list[str]) -> None:
        given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        self._call("nvrtcCompileProgram", program, len(options), given)

    def getLoweredName(self, program: ctypes.c_void_p, expression: str) -> str:
        name = ctypes.c_char_p()
        self._call("nvrtcGetLoweredName", program, expression.encode(), ctypes.byref(name))
        return (name.value or b"").decode()

    def getCUBIN(self, program: ctypes.c_void_p) -> bytes:
        return self._read("CUBIN", program)

    def getProgramLog(self, program: ctypes.c_void_p) -> str:
        return self._read("ProgramLog", program).rstrip(b"\0").decode()

    def _read(self, what: str, program: ctypes.c_void_p) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(f"nvrtcGet{what}", program, buffer)
        return buffer.raw

    def destroyProgram(self, program: ctypes.c_void_p) -> None:
        self._call("nvrtcDestroyProgram", ctypes.byref(program))


@cache
def nvrtc(major: int) -> Nvrtc | None:
    """Return the NVRTC library of CUDA 12 or 13, or None if it is not installed."""
    for folder in _folders(major):
        for path in sorted(folder.glob(f"libnvrtc.so.{major}*")):
            return Nvrtc(path)
    return None


def _folders(major: int) -> Iterator[Path]:
    try:
        wheel = importlib.util.find_spec(WHEELS[major])
    except ModuleNotFoundError:
        wheel = None
    for place in (wheel and wheel.submodule_search_locations) or ():
        yield Path(place) / "lib"
    yield Path(os.environ.get("CUDA_PATH", "/usr/local/cuda")) / "lib64"
