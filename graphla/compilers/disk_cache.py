"""Keep plain values in the cache folder for later processes: numbers, strings, bytes and tuples.

The name of an entry is a digest of everything that its value depends on, except the sources of the
compiler. An entry begins with a digest of its name, its contents, and the sizes and times of these
sources (`signature`). So an entry that is damaged, or that another version of the compiler has
written, is never used, and the next process that needs it replaces it. Files are written
atomically, so several processes may write the same entry at the same time.

The contents have the format of Python's module `marshal`. Reading them creates only plain values
and, unlike reading a pickle, calls no functions. Neither this format nor the machine code in the
same folder is safe against forged files, so `cache_folder` makes sure that no other user can write
there.
"""

from __future__ import annotations

import marshal
import os
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from graphla.compilers.cache import cache_folder
from graphla.compilers.machine_code import write

_ROOT = Path(__file__).parents[2]

_SOURCES = (
    *("semirings", "graphla", "graphla/backends", "graphla/compilers", "graphla/operations"),
    *("graphla/program", "graphla/sparse", "graphla/stores"),
)
"""The folders with the sources of the compiler. Subfolders also count, except those of
`graphla`."""

_INSTALLATION = f"{_ROOT} {sys.version} {np.__version__}"

_DIGEST = 32  # bytes


def name_of(kind: str, *parts: Any) -> str:
    """Return the name of the entry whose value depends on these parts and on the compiler.

    The parts are plain values: equal parts have the same `repr`. Each installation has its own
    entries, so that two installations that are used alternately do not replace each other's
    entries.
    """
    text = f"{kind}{parts!r}{_INSTALLATION}"
    return f"{kind}_{sha256(text.encode()).hexdigest()[:32]}"


def load(name: str) -> Any:
    """Return the value of an entry, or None if it does not exist or is damaged."""
    with suppress(OSError, EOFError, ValueError, TypeError):
        data = _path(name).read_bytes()
        contents = data[_DIGEST:]
        if data[:_DIGEST] == _checksum(name, contents):
            return marshal.loads(contents)
    return None


def store(name: str, value: Any) -> None:
    """Store an entry. Errors are ignored, for example if the disk is full."""
    contents = marshal.dumps(value)
    with suppress(OSError):
        write(_path(name), _checksum(name, contents) + contents)


def _path(name: str) -> Path:
    return cache_folder() / f"{name}.entry"


def _checksum(name: str, contents: bytes) -> bytes:
    return sha256(f"{name}{signature()}".encode() + contents).digest()


@cache
def signature() -> str:
    """Return a digest that changes if a source file of the compiler changes.

    Like Python for its bytecode, it uses the times and sizes of the files, because reading the
    files would take longer than running most loops.
    """
    try:
        files = _list_sources()
    except OSError:  # for example because the package is in a zip file
        files = [os.urandom(16).hex()]
    return sha256("\n".join(files).encode()).hexdigest()


def _list_sources() -> list[str]:
    """Return a line for each source file, with its path, size and times."""
    found: list[str] = []
    waiting = [str(_ROOT / name) for name in _SOURCES]
    only_files = str(_ROOT / "graphla")
    while waiting:
        folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith((".py", ".cu", ".cuh")):
                    state = entry.stat()
                    times = state.st_mtime_ns, state.st_ctime_ns
                    found.append(f"{entry.path} {state.st_size} {times}")
                elif folder != only_files and name != "__pycache__" and entry.is_dir():
                    waiting.append(entry.path)
    return sorted(found)
