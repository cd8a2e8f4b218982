"""Specialize a loop to its operators, compile it with Numba, and cache it on disk and in memory.

A loop is a function in a file of `graphla.backends.cpu.loops`. The text of its typed operators,
followed by the text of that file, becomes a module. The module is written into the cache folder,
under a name that contains a digest of everything it depends on. It is then entered in `sys.modules`
and compiled for one signature. `graphla.compilers.machine_code` stores the machine code next to the
module, so that a later process needs neither the module nor Numba. Where that is impossible, Numba
stores it.
"""

from __future__ import annotations

import ast
import ctypes
import gc
import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from threading import RLock, local
from types import ModuleType
from typing import Any

import numpy as np

from graphla.compilers import machine_code, numba_ops
from graphla.compilers.cache import cache_folder, private_folder
from graphla.compilers.machine_code import Loop
from semirings.exceptions import GraphblasException

_SETTINGS = (
    *("BOUNDSCHECK", "CPU_FEATURES", "CPU_NAME", "DEBUGINFO", "DISABLE_INTEL_SVML", "DISABLE_JIT"),
    *("ENABLE_AVX", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE"),
)
"""The environment variables that affect Numba's machine code, without their prefix NUMBA_."""

PROGRAM = "program"
"""The prefix of the file name of a program's machine code; a digest follows the prefix."""

_loaded: dict[tuple, Any] = {}
_absent: set[tuple] = set()
"""The keys of the loops whose machine code is not in the cache folder."""
_lock = RLock()
_dtype = attrgetter("dtype")
LOOPS = Path(__file__).parent.parent / "backends" / "cpu" / "loops"
_LOOPS_MODULE = "graphla.backends.cpu.loops."
_NATIVE = Path(__file__).parent / "native.py"


class NotReady(Exception):
    """Raised by `load` if a loop would have to be compiled, but `policy.may_compile` is False."""


class _Policy(local):
    """Each thread has its own value of `may_compile`."""

    may_compile = True


policy = _Policy()
"""`policy.may_compile` tells whether the current thread may compile a loop that is not in the
cache."""


@contextmanager
def without_compiling() -> Iterator[None]:
    """In a `with` block, raise NotReady instead of waiting for a compilation."""
    before, policy.may_compile = policy.may_compile, False
    try:
        yield
    finally:
        policy.may_compile = before


@cache
def is_installed() -> bool:
    """Return whether Numba can be imported, without importing it."""
    return find_spec("numba") is not None


def load(name: str, spec: tuple, arguments: Sequence[Any], types: tuple | None = None) -> Loop:
    """Return the loop `name` ("file.function"), compiled for the given operators and arguments.

    `spec` describes the operators. It is a tuple of a function in `graphla.compilers.numba_ops` and
    the arguments of this function, which returns the text of the operators. The function is called
    only when this text is first needed.

    `arguments` are the first arguments of the loop. Each is an array or, if the loop's file
    annotates the parameter with a NamedTuple, a NamedTuple of arrays and integers. All parameters
    that follow are integers. Call the returned loop with the fields of each NamedTuple instead of
    the tuple.

    `types`, if given, is used in the cache key instead of the dtypes of all arguments, which it
    must determine. This saves time, because reading the dtype of each field of a NamedTuple takes 4
    us.
    """
    kinds = types
    if kinds is None:
        try:
            kinds = tuple(map(_dtype, arguments))
        except AttributeError:  # one of the arguments is a NamedTuple, which has no dtype
            kinds = tuple([_kind(argument) for argument in _flat(arguments)])
    key = (name, spec, kinds)
    loop = _loaded.get(key)
    if loop is None:
        loop = _load_once(key, name.split(".")[0], lambda: _specialize(name, spec, arguments))
    return loop


def _load_once(key: tuple, file: str, make: Callable[[], Any]) -> Any:
    """Return the result of make(), which loads or compiles what `key` describes.

    `make` is called once for each key, and the result is kept. The file name of the machine code
    consists of `file` and a digest. In a thread that may not compile (`policy`), raise NotReady if
    the machine code is not in the cache, or if another thread is loading or compiling.
    """
    may_compile = policy.may_compile
    if not may_compile and (key in _absent or file not in _cached_files()):
        raise NotReady
    if not _lock.acquire(blocking=may_compile):
        raise NotReady
    try:
        if key not in _loaded:
            _loaded[key] = make()
        return _loaded[key]
    except NotReady:
        _absent.add(key)
        raise
    finally:
        _lock.release()


@cache
def _cached_files() -> set[str]:
    """Return the names of the files with machine code in the cache folder, without their digests.

    The folder is read only once. Loops that this process compiles later are in `_loaded`.
    """
    with suppress(OSError), os.scandir(cache_folder()) as entries:
        return {
            entry.name.removeprefix("graphla_").rpartition("_")[0]
            for entry in entries
            if entry.name.endswith(".code")
        }
    return set()


def _flat(arguments: Sequence[Any]) -> Iterator[Any]:
    """Yield the arguments, but replace each tuple by its fields."""
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from argument
        else:
            yield argument


def _kind(argument: Any) -> Any:
    """Return the dtype of an argument that is an array; for an integer, return None."""
    return argument.dtype if isinstance(argument, np.ndarray) else None


def _specialize(name: str, spec: tuple, arguments: Sequence[Any]) -> Loop:
    file, function = name.split(".")

    def describe() -> str:
        arrays = [argument for argument in _flat(arguments) if _kind(argument)]
        operators = numba_ops.describe(spec, arrays)
        return f"the loop {name!r} for {operators}; `config.compiled = False` computes in NumPy"

    return _compile(file, function, _text(file, function, spec, arguments), describe)


def _compile(file: str, function: str, text: str, describe: Callable[[], str]) -> Loop:
    """Return a function of the module with this text. Error messages contain the text
    describe()."""
    name = f"graphla_{file}_{_digest(text)}"

    def find() -> Loop:
        addresses = _load_addresses(name)
        if addresses is None:
            return getattr(_module(name, text), function)
        return machine_code.make_function(name, *addresses)

    return _explain(find, describe)


def _load_addresses(name: str) -> list[int] | None:
    """Return the addresses of the wrappers in the machine code with this name.

    If the machine code is not in the cache, return None, or raise NotReady if this thread may not
    compile.
    """
    addresses = machine_code.load(name)
    if addresses is None and not policy.may_compile:
        raise NotReady
    return addresses


def _explain(call: Callable[[], Any], describe: Callable[[], str]) -> Any:
    """Run call(), which compiles code, and return its result. Errors contain the text
    describe()."""
    is_enabled = gc.isenabled()
    gc.disable()  # a compilation creates many objects, which each collection would visit
    try:
        return call()
    except NotReady:
        raise
    except Exception as error:
        if _is_interrupt(error):
            raise KeyboardInterrupt from error
        from numba import __version__

        message = f"Numba {__version__} could not compile {describe()}"
        raise GraphblasException(message) from error
    finally:
        if is_enabled:
            gc.enable()


def load_program(name: str, text: str, library: str) -> tuple[list[Loop], list[int]]:
    """Return the functions in the lists FUNCTIONS of two modules, and their addresses.

    `text` and `library` are the texts of the modules; the first module uses names of the second.
    `name` is the name of the user's program, for error messages. Each function takes four integers
    and the addresses of an array of integers and of an array of floats, and returns an integer.
    """
    key = ("program", text, library)
    found = _loaded.get(key)
    if found is None:
        found = _load_once(key, PROGRAM, lambda: _load_all(name, text, library))
    return found


def may_load_program() -> bool:
    """Return whether this process has loaded a program, or the cache contains one."""
    return ("library",) in _loaded or PROGRAM in _cached_files()


def _load_all(name: str, text: str, library: str) -> tuple[list[Loop], list[int]]:
    """Return the functions of the library and of the program, followed by their addresses."""
    what = f"the program {name!r}; without @jit the function runs plainly"
    file = f"graphla_library_{_digest(library)}"
    before = _load_functions(file, library, what)
    _loaded["library",] = before
    text = f"from {file} import *\n{text}"
    program = f"graphla_{PROGRAM}_{_digest(text)}"
    after = _load_functions(program, text, what, (file, library))
    return before[0] + after[0], before[1] + after[1]


def _load_functions(
    name: str, text: str, what: str, imported: tuple[str, str] = ("", "")
) -> tuple[list[Loop], list[int]]:
    """Return the functions of the module with this name and text, and their addresses.

    `imported` are the name and the text of the module that this module imports.
    """
    key = ("functions", name)
    found = _loaded.get(key)
    if found is None:

        def find() -> list[int]:
            addresses = _load_addresses(name)
            if addresses is None:
                if imported[0] and imported[0] not in sys.modules:
                    _module(*imported)
                addresses = _compile_all(name, text)
            return addresses

        addresses = _explain(find, lambda: what)
        prototype = ctypes.CFUNCTYPE(ctypes.c_int64, *(ctypes.c_int64,) * 6)
        found = _loaded[key] = [prototype(address) for address in addresses], addresses
    return found


_COMPILED = """
from graphla.compilers.numba import compile_all
ADDRESSES, KEPT = compile_all(__name__, FUNCTIONS)
"""
"""The source lines that compile the functions of a program. They are appended to its module."""


def compile_all(name: str, functions: list[Callable]) -> tuple[list[int], list[Any]]:
    """Return the addresses of the compiled functions of a module, and objects that must be kept so
    that the addresses remain valid."""
    from numba import cfunc, types

    integers, floats = types.CPointer(types.int64), types.CPointer(types.float64)
    signature = types.int64(*(types.int64,) * 4, integers, floats)
    if not machine_code.is_refused(name):
        addresses = _store(name, [_compile_native(signature, each) for each in functions])
        if addresses is not None:
            return addresses, []
    compile_cached: Any = cfunc(signature, cache=True, nogil=True, error_model="numpy")
    kept = [compile_cached(function) for function in functions]
    return [function.address for function in kept], kept


def _compile_all(name: str, text: str) -> list[int]:
    module: Any = _module(name, text + _COMPILED)
    return module.ADDRESSES


def compiled(signature: tuple) -> Callable[[Callable], Loop]:
    """Return a decorator that compiles a function of a generated module for a signature."""
    from numba import njit
    from numba.core import config

    def compile_function(function: Callable) -> Loop:
        settings: Any = config
        name = function.__module__
        if settings.DISABLE_JIT:
            return function
        if not machine_code.is_refused(name):
            addresses = _store(name, [_compile_native(signature, function)])
            if addresses is not None:
                return machine_code.make_function(name, *addresses)
        compile_cached: Any = njit(signature, cache=True, nogil=True, error_model="numpy")
        return compile_cached(function)

    return compile_function


def _compile_native(signature: Any, function: Callable) -> Any:
    """Compile a function without a wrapper, so that it does not need Numba's runtime."""
    from numba import njit

    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    decorate: Any = njit(signature, nogil=True, error_model="numpy", **options)
    (native,) = decorate(function).overloads.values()
    return native


def _store(name: str, natives: list[Any]) -> list[int] | None:
    """Store functions that Numba has compiled, and return the addresses of their wrappers.

    Return None if they cannot be loaded without Numba.
    """
    from graphla.compilers.native import compile_wrapper

    pairs = [(compile_wrapper(each), each.library._get_compiled_object()) for each in natives]
    return machine_code.store(name, pairs)


def _digest(text: str) -> str:
    return hashlib.sha256((text + _versions()).encode()).hexdigest()[:24]


def _is_interrupt(error: BaseException | None) -> bool:
    """Return whether the error was caused by Ctrl-C, which Numba wraps in an error of its own."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


# --- generate the text of a module ------------------------------------------------------------


def _text(file: str, function: str, spec: tuple, arguments: Sequence[Any]) -> str:
    """Return the operators' text, the loop's text, and the lines that compile `function`."""
    loop = (LOOPS / f"{file}.py").read_text(encoding="utf-8")
    lines = loop.splitlines()
    endings: list[str] = []
    tuples: dict[str, list[str]] = {}
    entry: Any = None
    for node in ast.parse(loop).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_LOOPS_MODULE):
            end = node.end_lineno or node.lineno
            lines[node.lineno - 1 : end] = [""] * (end - node.lineno + 1)
            other = (node.module or "").removeprefix(_LOOPS_MODULE)
            if other != "placeholder_ops":
                lines[node.lineno - 1] = _definitions(other, [each.name for each in node.names])
        elif isinstance(node, ast.ClassDef):
            tuples[node.name] = [_name(f.target) for f in node.body if isinstance(f, ast.AnnAssign)]
        elif isinstance(node, ast.FunctionDef) and node.decorator_list:
            continue  # its decorator, `called`, compiles it
        elif isinstance(node, ast.FunctionDef) and node.name != function:
            wrapper = "inlined" if _takes_numbers(node) else "merged"
            endings.append(f"{node.name} = {wrapper}({node.name})")
        elif isinstance(node, ast.FunctionDef):
            entry = node
    flat, beginning = _entry(entry, tuples)
    lines[entry.lineno - 1 : entry.body[0].lineno - 1] = beginning
    endings.append(f"{function} = compiled({_signature(flat, list(_flat(arguments)))})({function})")
    write, *operators = spec
    return "\n".join((numba_ops.head, write(*operators), *lines, "", *endings, ""))


def _definitions(file: str, names: list[str]) -> str:
    """Return the text of functions and constants of another file of loops.

    They are the definitions of `names`, and all other definitions in the file that these need.
    """
    nodes: dict[str, ast.stmt] = {}
    for node in ast.parse((LOOPS / f"{file}.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            nodes[node.name] = node
        elif isinstance(node, ast.Assign):
            nodes[_name(node.targets[0])] = node
    wanted, left = set[str](), list(names)
    while left:
        name = left.pop()
        if name in nodes and name not in wanted:
            wanted.add(name)
            left += [each.id for each in ast.walk(nodes[name]) if isinstance(each, ast.Name)]
    found = []
    for name, node in nodes.items():
        if name in wanted:
            found.append(ast.unparse(node))
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                found.append(f"{name} = merged({name})")
    return "\n".join(found)


def _entry(node: ast.FunctionDef, tuples: dict[str, list[str]]) -> tuple[list[str], list[str]]:
    """Return the names of the compiled loop's parameters, and the first lines of its text.

    In the compiled loop, each parameter that is a NamedTuple is replaced by one parameter per
    field. The first lines of the loop combine these fields into the NamedTuple again. (Compiling a
    second function that calls the loop with tuples would take a third longer.) A loop may write to
    a field of a tuple if the tuple's parameter is named `out_*` or `kept_*`.
    """
    flat, packing = [], []
    for parameter in node.args.args:
        name, kind = parameter.arg, _name(parameter.annotation)
        fields = [f"{name}_{field}" for field in tuples.get(kind, ())]
        flat += fields or [name]
        if fields:
            packing.append(f"    {name} = {kind}({', '.join(fields)})")
    return flat, [f"def {node.name}({', '.join(flat)}):", *packing]


def _takes_numbers(node: ast.FunctionDef) -> bool:
    """Return whether a function has no loop, calls no other function, and takes only numbers.

    Numba compiles such a function once, and LLVM inlines it. This takes less time than inserting
    its statements at each call before type inference.
    """
    parameters = {parameter.arg for parameter in node.args.args}
    return not any(
        isinstance(each, (ast.Subscript, ast.For, ast.While))
        or (isinstance(each, ast.Call) and isinstance(each.func, ast.Name))
        or (isinstance(each, ast.Attribute) and _name(each.value) in parameters)
        for each in ast.walk(node)
    )


def _name(node: Any) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _signature(parameters: Sequence[str], arguments: Sequence[Any]) -> str:
    """Return the Numba types of the parameters. Arrays that the loop does not write to are
    read-only."""
    kinds = [
        "types.int64"
        if _kind(argument) is None
        else f"types.Array(from_dtype(np.dtype('{argument.dtype}')), {argument.ndim}, 'C', "
        f"readonly={not parameter.startswith(('out_', 'kept_'))})"
        for parameter, argument in zip(parameters, arguments, strict=False)
    ]
    kinds += ["types.int64"] * (len(parameters) - len(kinds))
    return "(" + ", ".join(kinds) + ",)"


@cache
def _versions() -> str:
    """Return everything that the machine code of a loop depends on, except the loop's text.

    We read the files in which Numba and llvmlite record their versions, because importing
    `importlib.metadata` takes 15 ms.
    """
    files = [_NATIVE]
    for name in ("numba", "llvmlite"):
        spec = find_spec(name)
        files += [Path(folder) / "_version.py" for folder in spec.submodule_search_locations or ()]  # pyright: ignore[reportOptionalMemberAccess]
    texts = [file.read_text(encoding="utf-8") for file in files]
    settings = {name: os.environ.get(f"NUMBA_{name}") for name in _SETTINGS}
    return "".join((*texts, np.__version__, sys.version, machine_code.processor(), f"{settings}"))


# --- modules in the cache folder ----------------------------------------------------------------


def _module(name: str, text: str) -> ModuleType:
    """Return the module with this text, imported from the cache folder.

    If the import fails, for example because the cached files are damaged or the disk is full,
    delete the files and compile the text again. If this also fails, use a private folder of this
    process.
    """
    from numba.core.errors import NumbaError

    for folder in (cache_folder(), cache_folder()):
        try:
            return _run(name, text, folder)
        except NumbaError:
            raise
        except Exception:
            for file in (folder / "__pycache__").glob(f"{name}.*"):
                with suppress(OSError):
                    file.unlink()
    return _run(name, text, private_folder())


def _run(name: str, text: str, folder: Path) -> ModuleType:
    path = folder / f"{name}.py"
    _write(path, text)
    loader = SourceFileLoader(name, str(path))  # it also caches the bytecode
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _write(path: Path, text: str) -> None:
    """Write the file atomically, with a fixed time stamp, because Numba checks the time stamp."""
    data = text.encode()
    with suppress(OSError):
        if path.read_bytes() == data and path.stat().st_mtime == 0:
            return
    machine_code.write(path, data, (0, 0))
