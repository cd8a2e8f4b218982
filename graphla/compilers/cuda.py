"""Specialize a kernel to its operators and dtypes, compile it once, cache it, and launch it.

A kernel is a template in a `.cu` file of a folder that was registered with `nvrtc.register`. Its
template arguments are the struct `Op`, which is generated from typed operators
(`graphla.compilers.cuda_ops`), followed by dtypes, numbers and flags. Machine code is cached on
disk; the key is a digest of the program and of all files that it includes. Loaded kernels are also
cached in memory, separately for each GPU.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

import cupy
from cupy.cuda import driver
from cupy.cuda import nvrtc as toolkit
from cupy.cuda.function import Module

from graphla.compilers import cuda_ops, nvrtc
from graphla.compilers.cache import cache_folder
from graphla.compilers.faults import culprit, seen
from graphla.settings import current

_loaded: dict[tuple[Any, ...], Kernel] = {}
_made: dict[tuple[Any, ...], Kernel] = {}
_constants: dict[int, Any] = {}
"""Maps id(x) to x for each object x that was passed to `load` as `constants`.

The `id` is part of a key of `_loaded`. The dict keeps the object alive, so that Python does not
give the same `id` to another object.
"""
_compiling: dict[tuple[Any, ...], _Code] = {}
"""The machine code of each kernel that threads are compiling, under the key that the kernel will
have in `_loaded`."""
_lock = RLock()

DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
WIDE_CLUSTERS = 14  # CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
CUBIN = 0  # CU_JIT_INPUT_CUBIN
FEW_PROCESSORS = 8
"""On a machine with fewer processors, programs are not divided into parts, because compiling the
parts takes more processor time in total."""

NOTHING = (cuda_ops.nothing,)
"""The operator specification of a kernel that reads only patterns."""


class Kernel:
    """One instance of a kernel template, loaded on one GPU. Call it with grid, block and arguments.

    Arguments are CuPy arrays, structs (`graphla.compilers.declarations`), and NumPy scalars of
    exactly the types of the parameters; an int stands for an int64.
    """

    __slots__ = ("_function", "_module", "_resident", "_shared", "what")

    def __init__(self, module: Any, function: Any, what: str):
        self._module = module  # this reference keeps the module loaded
        self._function = function
        self._resident: dict[tuple[int, int], int] = {}
        self._shared = 0  # the kernel's limit on dynamic shared memory, in bytes
        self.what = what

    def __call__(
        self, grid: int, block: int, *args: Any, shared: int = 0, cooperative: bool = False
    ) -> None:
        seen.launched = self.what
        # Launch `grid` blocks of `block` threads. Calling `_function` would have more overhead.
        self._function.linear_launch(grid * block, args, shared, block, None, cooperative)
        if current().debug:
            self._synchronize()

    def resident(self, block: int, shared: int = 0) -> int:
        """Return how many blocks of `block` threads can be resident on a multiprocessor.

        Each block uses `shared` bytes of dynamic shared memory. If the kernel's limit on dynamic
        shared memory is lower, it is raised.
        """
        found = self._resident.get((block, shared))
        if found is None:
            if shared > self._shared:
                driver.funcSetAttribute(self._function.ptr, DYNAMIC_SHARED, shared)
                self._shared = shared
            found = driver.occupancyMaxActiveBlocksPerMultiprocessor(
                self._function.ptr, block, shared
            )
            self._resident[block, shared] = found
        return found

    def widen(self) -> None:
        """Allow clusters of more than 8 blocks, if the GPU supports them."""
        driver.funcSetAttribute(self._function.ptr, WIDE_CLUSTERS, 1)

    def _synchronize(self) -> None:
        """Wait for the kernel, so that the message of an error can name this kernel."""
        try:
            cupy.cuda.get_current_stream().synchronize()
        except RuntimeError as error:
            raise culprit(error, self.what) from error

    def __repr__(self) -> str:
        return f"<kernel {self.what}>"


def load(
    file: str, entry: str, spec: tuple[Any, ...], *arguments: Any, constants: Any = None
) -> Kernel:
    """Return the kernel `entry` from `file`, specialized to operators and template arguments.

    `spec` describes the operators. It is a tuple of a function in `graphla.compilers.cuda_ops` and
    the arguments of this function, which returns the text of the struct `Op`. The function is
    called only when this text is first needed.

    `arguments` are the template arguments. Each is a NumPy dtype, an int, a bool, or C++ text.

    `constants` is a frozen dataclass of ints, floats and bools, or a tuple of such dataclasses. A
    kernel refers to each field by the names of the class and the field: `BfsTuning::long_row` is
    the field `long_row` of a `BfsTuning`.
    """
    device = cupy.cuda.runtime.getDevice()
    # Hashing the id is faster than hashing all fields of `constants`.
    key = (file, entry, spec, arguments, id(constants), device)
    kernel = _loaded.get(key)
    if kernel is None:
        with _lock:
            by_value = (file, entry, spec, arguments, constants, device)
            kernel = _made.get(by_value)
            if kernel is None:
                kernel = _made[by_value] = _make(file, entry, spec, arguments, constants)
            _loaded[key] = kernel
            _constants[id(constants)] = constants
    return kernel


def _make(
    file: str, entry: str, spec: tuple[Any, ...], arguments: tuple[Any, ...], constants: Any
) -> Kernel:
    write, *operators = spec
    text = nvrtc.program(file, write(*operators), constants)
    expression = nvrtc.instance(entry, arguments)
    types = ", ".join(map(nvrtc.written, arguments))
    what = f"{entry} of {file} for {cuda_ops.describe(spec)}" + (f" with {types}" if types else "")
    return _load_program(text, expression, what)


class Loading:
    """A kernel that is being loaded from the text of a whole program, which may include registered
    files. Call it to wait for the kernel and to get it.

    A thread compiles the program, while the caller does other work. NVRTC runs without the global
    interpreter lock. `expression` names an instance of a template in the program. `what` describes
    the kernel in error messages.

    If `parts` is above 0, the program is divided into part 0, which is the kernel, and parts 1 to
    `parts`. Threads compile all parts in parallel, and the driver links them. Part k is the program
    compiled with -DGRAPHLA_PART=k. A thread of the kernel may use at most `registers` registers.
    The machine code of parts is not stored on disk.
    """

    def __init__(
        self, text: str, expression: str, what: str, parts: int = 0, registers: int = 0
    ) -> None:
        self.what = what
        self.key = (text, expression, parts, cupy.cuda.runtime.getDevice())
        self.code: _Code | None = None
        with _lock:
            if self.key not in _loaded:
                self.code = _compiling.get(self.key)
                if self.code is None:
                    self.code = _Code(text, expression, what, parts, registers)
                    _compiling[self.key] = self.code

    def is_done(self) -> bool:
        """Return whether the kernel is ready, so that calling this object does not wait."""
        code = self.code
        return code is None or code.is_done()

    def __call__(self) -> Kernel:
        code = self.code
        if code is None:
            return _loaded[self.key]
        try:
            cubin, name = code.result()
        finally:
            if code.is_done():
                _compiling.pop(self.key, None)
        with _lock:
            if self.key not in _loaded:
                _loaded[self.key] = _load_code(cubin, name, self.what)
        self.code = None
        return _loaded[self.key]


def is_compiled(text: str, expression: str) -> bool:
    """Return whether the compiled kernel of a whole program is in memory or on disk."""
    key = (text, expression, 0, cupy.cuda.runtime.getDevice())
    code = _compiling.get(key)
    if key in _loaded or (code is not None and code.is_done()):
        return True
    return _path(text, expression, _architecture()).exists()


def finish_compiling() -> None:
    """Wait until no thread is compiling a program. From its next call on, each compiled loop then
    runs the kernel compiled from its whole program instead of the kernel linked from parts."""
    for code in [*_compiling.values()]:
        wait(code.compiled)


@cache
def may_link() -> bool:
    """Return whether the parts of a program may be compiled separately: the driver can link them,
    and there are enough processors to compile several parts at the same time."""
    driver_version = cupy.cuda.runtime.driverGetVersion()
    can_link = toolkit.getVersion() <= (driver_version // 1000, driver_version % 1000 // 10)
    return can_link and (os.cpu_count() or 1) >= FEW_PROCESSORS


def _load_program(text: str, expression: str, what: str) -> Kernel:
    return _load_code(*_machine_code(text, expression, what), what)


def _load_code(cubin: bytes, name: str, what: str) -> Kernel:
    module = Module()
    module.load(cubin)
    return Kernel(module, module.get_function(name), what)


def _architecture() -> str:
    return f"sm_{cupy.cuda.Device().compute_capability}"


# --- the cache on disk --------------------------------------------------------------------------


class _Code:
    """The machine code of a program. It is read from the cache on disk if the file is intact;
    otherwise threads compile the program."""

    def __init__(
        self, text: str, expression: str, what: str, parts: int = 0, registers: int = 0
    ) -> None:
        self.program = text, expression, _architecture(), what
        path = _path(*self.program[:3])
        self.found = None if parts else _read(path)
        self.compiled: list[Future[tuple[bytes, str]]] = []
        if self.found is not None:
            return
        threads = ThreadPoolExecutor(parts + 1)
        if not parts:
            self.compiled = [threads.submit(_compile, path, *self.program)]
        for k in range(parts + 1 if parts else 0):
            given = text, "" if k else expression, *self.program[2:], "-rdc=true"
            flags = f"-maxrregcount={registers}", f"-DGRAPHLA_PART={k}"
            self.compiled.append(threads.submit(_compile, None, *given, *flags))
        threads.shutdown(wait=False)

    def is_done(self) -> bool:
        """Return whether the code is compiled, so that `result` does not wait."""
        return all(each.done() for each in self.compiled)

    def result(self) -> tuple[bytes, str]:
        """Return the machine code and the kernel's name in it."""
        if self.found is None:
            (cubin, name), *others = (each.result() for each in self.compiled)
            if others:
                cubin = _link([cubin, *(each[0] for each in others)])
            self.found = cubin, name
        return self.found


def _compile(path: Path | None, *program: str) -> tuple[bytes, str]:
    """Compile a program. Return the machine code and the kernel's name in it. Also write both to
    `path`, unless `path` is None."""
    cubin, name, _ = nvrtc.compile_program(*program)
    if path is not None:
        _write(path, name.encode(), cubin)
    return cubin, name


def _link(parts: list[bytes]) -> bytes:
    """Return the machine code that the driver links from the parts. Raise a RuntimeError if it
    cannot link them."""
    state = driver.linkCreate()
    try:
        for k, each in enumerate(parts):
            driver.linkAddData(state, CUBIN, each, f"part {k}")
        return driver.linkComplete(state)
    finally:
        driver.linkDestroy(state)


def _machine_code(text: str, expression: str, what: str) -> tuple[bytes, str]:
    """Return machine code from the cache on disk if the file is intact; otherwise compile and store
    it."""
    architecture = _architecture()
    path = _path(text, expression, architecture)
    return _read(path) or _compile(path, text, expression, architecture, what)


def _path(text: str, expression: str, architecture: str) -> Path:
    version = ".".join(map(str, toolkit.getVersion()))
    parts = (nvrtc.digest(text), expression, architecture, version, *nvrtc.OPTIONS)
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    return cache_folder() / f"{key}.cubin"


def _read(path: Path) -> tuple[bytes, str] | None:
    """Return the machine code in a file and the kernel's name, or None if the file is not
    intact."""
    with suppress(OSError, ValueError):
        checksum, name, cubin = path.read_bytes().split(b"\n", 2)
        if checksum.decode() == _checksum(name, cubin):
            return cubin, name.decode()
    return None


def _checksum(name: bytes, cubin: bytes) -> str:
    return hashlib.sha256(name + cubin).hexdigest()


def _write(path: Path, name: bytes, cubin: bytes) -> None:
    """Write the file atomically. Ignore errors: the kernel also works if the file is missing."""
    with suppress(OSError):
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.stem}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(_checksum(name, cubin).encode() + b"\n" + name + b"\n" + cubin)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
