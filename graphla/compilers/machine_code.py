"""Store the machine code of compiled loops, and load it without Numba.

It takes 0.6 s to import Numba and to load the first function from its cache. The machine code
itself needs only a linker. LLVM has one, and llvmlite (the part of Numba that contains LLVM) is
imported in 20 ms.

Each loop has a file in the cache folder, with two objects in the format of the platform's linker:
the loop, and its wrapper (see `graphla.compilers.native`). A program of `gl.jit` consists of
several functions, so its file has several pairs of objects. The only undefined symbols of the
objects are functions of Python, of the C library and of its mathematical library. A loop that needs
another symbol, for example because it allocates memory through Numba's runtime, cannot be linked.
The file of such a loop is empty, and the loop is loaded from Numba's own cache.

The name of a file contains a digest of everything that its contents depend on: the text of the
loop, the processor, and the versions of Python, NumPy, Numba and llvmlite. The file begins with a
digest of the name and the contents. So a file that is damaged, or that was written for another
processor or by another version, is never used.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np

from graphla.compilers.cache import cache_folder

ENTRY = "call_loop"
"""The symbol of each wrapper."""

THREAD = "thread"
"""The name of the last parameter of a loop that several threads may call together."""

ARGUMENT_WORDS = 512
"""Length of an array for the arguments of such a loop."""

_DIGEST = 32  # bytes
_LENGTH = 8  # number of bytes that store the length of an object
_RENAMED = {
    "numba_gamma": "tgamma",
    "numba_ldexp": "ldexp",
    "numba_ldexpf": "ldexpf",
    "numba_nextafter": "nextafter",
    "numba_nextafterf": "nextafterf",
}
"""Maps functions of Numba to the functions of the C library that replace them. The results of
`tgamma` may differ from Numba's in the last bits; the results of the other functions are exact."""
_FASTCALL = 0x80  # METH_FASTCALL in CPython: the arguments are passed as an array

Loop = Callable[..., Any]


class _Method(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


@cache
def is_supported() -> bool:
    """Return whether this platform can load machine code. It has been tested only on Linux, on
    processors of the x86-64 family."""
    is_known = sys.platform == "linux" and os.uname().machine == "x86_64" and sys.maxsize > 1 << 32
    return is_known and sys.implementation.name == "cpython"


@cache
def processor() -> str:
    """Return the name and the features of the processor for which LLVM generates code."""
    if not is_supported():
        return ""
    from llvmlite import binding

    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


def load(name: str) -> list[int] | None:
    """Return the addresses of the wrappers in the file with this name, or None if the file contains
    no usable code."""
    contents = _read(name)
    return _link_all(name, contents) if contents else None


def is_refused(name: str) -> bool:
    """Return whether the loop cannot be linked, so that Numba must load it."""
    return not is_supported() or _read(name) == b""


def store(name: str, pairs: Sequence[tuple[bytes, bytes]]) -> list[int] | None:
    """Store pairs of objects; each pair consists of a wrapper and its loop. Return the addresses of
    the wrappers, or None if a loop cannot be linked."""
    contents = b"".join(len(code).to_bytes(_LENGTH, "little") + code for code in chain(*pairs))
    addresses = _link_all(name, contents)
    if addresses is None:
        contents = b""
    with suppress(OSError):  # for example because the disk is full
        write(_path(name), _digest(name, contents) + contents)
    return addresses


def make_function(name: str, address: int) -> Loop:
    """Return a Python function that calls the wrapper at this address."""
    method = _keep(_Method(name.encode(), address, _FASTCALL, None))
    return _make_function(ctypes.byref(method), None, None)


def write(path: Path, data: bytes, times: tuple[int, int] | None = None) -> None:
    """Write the file atomically. `times` are its times of last access and last modification. The
    default is the current time."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.stem}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.utime(temporary, times)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _path(name: str) -> Path:
    return cache_folder() / f"{name}.code"


def _digest(name: str, contents: bytes) -> bytes:
    return sha256(name.encode() + contents).digest()


def _read(name: str) -> bytes | None:
    """Return the contents of the file, or None if it does not exist or is damaged."""
    try:
        data = _path(name).read_bytes()
    except OSError:
        return None
    contents = data[_DIGEST:]
    return contents if data[:_DIGEST] == _digest(name, contents) else None


@cache
def _linker() -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.create_lljit_compiler(suppress_errors=True)


_names = count()


def _keep(needed: Any) -> Any:
    """Prevent linked code, or the definition of a method, from being freed, and return it.

    A Python function reads its pointer to such an object when the function itself is freed. At
    exit, the interpreter frees objects in any order. So the object gets an additional reference,
    which keeps it alive.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(needed))
    return needed


def _link_all(name: str, contents: bytes) -> list[int] | None:
    """Return the addresses of the wrappers, or None if a symbol is undefined."""
    objects, begin = [], 0
    while begin < len(contents):
        length = int.from_bytes(contents[begin : begin + _LENGTH], "little")
        objects.append(contents[begin + _LENGTH : begin + _LENGTH + length])
        begin += _LENGTH + length
    try:
        return [_link(name, *pair) for pair in zip(objects[::2], objects[1::2], strict=True)]
    except RuntimeError:
        return None


def _link(name: str, wrapper: bytes, loop: bytes) -> int:
    """Return the address of the wrapper."""
    from llvmlite import binding

    builder = binding.JITLibraryBuilder().add_current_process()
    builder.add_object_img(wrapper).add_object_img(loop)
    builder.import_symbol("ndarray", id(np.ndarray)).export_symbol(ENTRY)
    for name_in_numba, function in _RENAMED.items():
        address = binding.address_of_symbol(function)
        if address is not None:
            builder.import_symbol(name_in_numba, address)
    return _keep(builder.link(_linker(), f"{name}_{next(_names)}"))[ENTRY]


_make_function = ctypes.pythonapi.PyCFunction_NewEx
_make_function.restype = ctypes.py_object
_make_function.argtypes = [ctypes.POINTER(_Method), ctypes.c_void_p, ctypes.c_void_p]
