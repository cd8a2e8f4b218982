"""Compile programs with g++ instead of NVRTC, and cache the shared objects on disk."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent

MODES = {
    "plain": ("-O1",),
    "asan": (
        *("-O1", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined"),
        *("-fno-sanitize-recover=undefined", "-DSIMULATOR_ASAN"),
    ),
    "tsan": ("-O1", "-g1", "-fsanitize=thread", "-DSIMULATOR_TSAN"),
}
UNOPTIMIZED = "-O0"
"""In the mode `plain`, this option replaces -O1 for programs whose kernel has operators.

Such a kernel is compiled for many operators and dtypes, and each of these programs runs only for a
short time. So optimization would take longer than it saves.
"""
COMMON = (
    *("-std=c++17", "-fPIC", "-shared", "-pipe", "-w", "-fno-strict-aliasing", "-ffp-contract=off"),
    *("-fno-gnu-unique", "-fno-math-errno"),  # -fno-gnu-unique: programs share no symbols
)


class CompileError(Exception):
    """Raised if g++ cannot compile a program; contains the message of g++."""


def mode() -> str:
    """Return the mode `plain`, `asan` or `tsan` that GRAPHLA_SIMULATOR sets."""
    chosen = os.environ.get("GRAPHLA_SIMULATOR", "plain")
    if chosen not in MODES:
        raise ValueError(f"GRAPHLA_SIMULATOR is {chosen!r}; it may be {', '.join(MODES)}")
    return chosen


@cache
def compiler() -> str:
    """Return the path of the compiler, which is CXX if set and g++ otherwise."""
    path = shutil.which(os.environ.get("CXX", "g++"))
    if path is None:
        raise FileNotFoundError("the simulator needs g++")
    return path


@cache
def _version() -> str:
    return subprocess.run(
        [compiler(), "--version"], capture_output=True, text=True, check=True
    ).stdout


@cache
def digest() -> str:
    """Return a hash of the simulator's sources, the compiler version, and the compiler options.

    The hash is part of the path of the cache, so a change of sources, version or options creates a
    new cache.
    """
    texts = [(HERE / name).read_text() for name in ("simulator.h", "runtime.cpp")]
    parts = (*texts, _version(), mode(), *MODES[mode()], UNOPTIMIZED, *COMMON)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@cache
def folder() -> Path:
    """Return the cache folder: GRAPHLA_SIMULATOR_CACHE if set, else one per user in /tmp."""
    given = os.environ.get("GRAPHLA_SIMULATOR_CACHE")
    user = os.getuid()
    base = Path(given) if given else Path(tempfile.gettempdir()) / f"graphla-simulator-{user}"
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The code in the folder is executed, so the folder must belong to this user.
    if not given and base.stat().st_uid != user:
        base = Path(tempfile.mkdtemp(prefix="graphla-simulator-"))
    path = base / f"{mode()}-{digest()}"
    path.mkdir(exist_ok=True)
    return path.resolve()


def _put(path: Path, content: bytes) -> Path:
    """Write a file in one step, so that no process sees an incomplete file."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    return path


def _run(arguments: list[str]) -> None:
    done = subprocess.run([compiler(), *arguments], capture_output=True, text=True)
    if done.returncode:
        raise CompileError(done.stderr)


def _make(path: Path, *arguments: str) -> Path:
    """Compile a file unless it exists, and return its path."""
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=path.parent) as temporary:
            out = Path(temporary) / path.name
            _run([*arguments, "-o", str(out)])
            out.replace(path)
    return path


@cache
def runtime() -> Path:
    """Return the shared object that runs kernels. It is compiled only once."""
    sanitize = tuple(flag for flag in MODES[mode()] if "sanitize" not in flag)
    version = f"-DSIMULATOR_VERSION=simulator_version_{digest()}"
    flags = (*COMMON, *sanitize, "-O2", version, "-pthread")
    libraries = ("-Wl,--no-as-needed", "-lm")
    return _make(folder() / "runtime.so", *flags, str(HERE / "runtime.cpp"), *libraries)


def _flags(text: str) -> tuple[str, ...]:
    """Return the compiler flags for a program.

    These are the flags that MODES lists for the current mode, with one exception. In the mode
    `plain`, a program with GraphBLAS operators (a nonempty struct Op) has only the flag
    UNOPTIMIZED.
    """
    has_operators = re.search(r"struct Op \{\n\S|^run_loop\(", text, re.MULTILINE) is not None
    return (UNOPTIMIZED,) if mode() == "plain" and has_operators else MODES[mode()]


@cache
def _header(flags: tuple[str, ...]) -> Path:
    """Return the path of a copy of simulator.h.

    The same folder contains the header precompiled with the given flags. g++ uses the precompiled
    header instead of the copy.
    """
    header = _put(folder() / flags[0][1:] / "simulator.h", (HERE / "simulator.h").read_bytes())
    kept = [flag for flag in (*COMMON, *flags) if flag not in ("-shared", "-pipe")]
    _make(header.with_name("simulator.h.gch"), *kept, "-x", "c++-header", str(header))
    return header


def compile_program(text: str, headers: dict[str, str], folders: tuple[str, ...] = ()) -> bytes:
    """Return the shared object of a program that may include `headers` and files in `folders`."""
    included = "".join(f"{name}\0{body}\0" for name, body in sorted(headers.items()))
    found = "".join(
        f"{file.name}\0{file.read_text()}\0"
        for each in folders
        for file in sorted(Path(each).glob("*.*h"))
    )
    key = hashlib.sha256(f"{text}\0\0{included}\0\0{found}".encode()).hexdigest()[:32]
    path = folder() / f"{key}.so"
    if not path.exists():
        with_headers = folder() / f"headers-{hashlib.sha256(included.encode()).hexdigest()[:16]}"
        for name, body in headers.items():
            _put(with_headers / name, body.encode())
        source = _put(folder() / f"{key}.cpp", text.encode())
        directories = [f"-I{each}" for each in (with_headers, *folders)]
        optimized = _flags(text)
        flags = (*COMMON, *optimized, "-include", str(_header(optimized)))
        # The runtime has already loaded the other libraries, so linking them would only take time.
        _make(path, *flags, *directories, "-nostdlib", str(source), "-lgcc")
    return path.read_bytes()


def file_of(image: bytes) -> Path:
    """Write the bytes of a shared object to a file in the cache, and return its path."""
    return _put(folder() / f"loaded-{hashlib.sha256(image).hexdigest()[:32]}.so", image)


# --- sanitizer processes ------------------------------------------------------------------------


def environment(mode: str) -> dict[str, str]:
    """Return the environment variables that Python needs to load code compiled in this mode."""
    libraries = {"plain": [], "asan": ["libasan.so", "libubsan.so"], "tsan": ["libtsan.so"]}[mode]
    return {
        "GRAPHLA_SIMULATOR": mode,
        "LD_PRELOAD": ":".join(map(_library, libraries)),
        "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TSAN_OPTIONS": "halt_on_error=0:report_signal_unsafe=0",
    }


def _library(name: str) -> str:
    asked = [compiler(), f"-print-file-name={name}"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def command(mode: str, *words: str) -> list[str]:
    """Return the command for a mode; the thread sanitizer needs fixed memory addresses."""
    return ["setarch", "-R", *words] if mode == "tsan" else list(words)
