"""Find the source of a function: its syntax tree, and the names of its local variables."""

from __future__ import annotations
import __future__

import ast
import inspect
import linecache
import sys
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from time import time
from types import CodeType, FunctionType
from typing import Any

from graphla.program.reasons import Reason, refuse
from graphla.program.records import record

JITTED = "__graphla_jit__"
"""The attribute of a function under `gl.jit` that holds the original function."""


@record
class Source:
    """The source of a function.

    Attributes:
        name: the name of the function.
        node: the function's syntax tree, with the line numbers of the file.
        file: the name of the file.
        first: the number of the first line in the file, from 1.
        lines: the lines of the source, including its decorators.
        local: the names of the local variables and of the parameters.
        free: the names of the closure variables, in the order of the cells.
        shared: the local variables that nested functions read or assign.
        captured: whether the function uses the name `locals`, `vars`, `eval`, `exec` or `dir`, so
            that it may read any of its local variables.
    """

    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    file: str
    first: int
    lines: tuple[str, ...]
    local: frozenset[str]
    free: tuple[str, ...]
    shared: frozenset[str]
    captured: bool


def source_of(function: FunctionType) -> Source:
    """Return the source of a function, or raise NotCompilable if there is none."""
    code = function.__code__
    # Code objects of different files may be equal, so the file is part of the key.
    key = code, code.co_filename
    known = _sources.get(key)
    if known is None:
        if len(_sources) == MOST_SOURCES:
            _sources.clear()
        known = _sources[key] = _find_source(code, function.__globals__)
    return known


MOST_SOURCES = 1024
"""The maximum number of cached sources. When the cache is full, it is emptied."""

_sources: dict[tuple[CodeType, str], Source] = {}


def _find_source(code: CodeType, names: dict[str, Any]) -> Source:
    if code.co_name == "<lambda>":
        refuse(Reason.NO_SOURCE, None, name="a lambda function")
    file = code.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, names)[code.co_firstlineno - 1 :]
    lines = [line.rstrip("\n") for line in lines]
    node = None
    for count in _line_counts(lines, code):
        node = parse(lines[:count], code)
        if node is not None:
            lines = lines[:count]
            break
    if node is None or _parameters(node) != code.co_varnames[: _parameter_count(code)]:
        refuse(Reason.NO_SOURCE, None, name=code.co_qualname)
    if _has_changed(code, names):
        name = f"{code.co_qualname}, whose file has changed since it was imported,"
        refuse(Reason.NO_SOURCE, None, name=name)
    return Source(
        name=code.co_name,
        node=node,
        file=file,
        first=code.co_firstlineno,
        lines=tuple(lines),
        local=frozenset(code.co_varnames) | frozenset(code.co_cellvars),
        free=code.co_freevars,
        shared=frozenset(code.co_cellvars),
        captured=any(name in code.co_names for name in ("locals", "vars", "eval", "exec", "dir")),
    )


def _line_counts(lines: list[str], code: CodeType) -> Iterator[int]:
    """Yield two candidates for the number of lines of the function that begins at `lines[0]`.

    The first candidate includes the line of the last instruction and all following lines that are
    indented more than the `def`. It is too small if the last statement contains a line with less
    indentation: a closing bracket, or a line of a multi-line string. The second candidate is always
    right, but `inspect.getblock` is slow, because it splits the lines into tokens.
    """
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    end = last - code.co_firstlineno + 1
    depth = _depth(lines[0]) if lines else 0
    for k in range(end, len(lines)):
        text = lines[k].lstrip()
        if text and not text.startswith("#"):
            if _depth(lines[k]) <= depth:
                break
            end = k + 1
    yield end
    try:
        yield len(inspect.getblock([f"{line}\n" for line in lines]))
    except (IndexError, SyntaxError):
        return


def _depth(line: str) -> int:
    """Return the number of characters by which a line is indented."""
    return len(line) - len(line.lstrip())


def parse(lines: Sequence[str], code: CodeType) -> Any:
    """Return a new syntax tree of a function, or None if the lines are not its definition."""
    is_indented = bool(lines) and _depth(lines[0]) > 0
    above = ["if 1:"] if is_indented else []
    # The empty lines make the line numbers equal to those of the file.
    text = "\n".join([*[""] * (code.co_firstlineno - 1 - len(above)), *above, *lines])
    try:
        body: Any = ast.parse(text).body
    except SyntaxError:
        return None
    node = body[0].body[0] if is_indented else body[0] if body else None
    is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    if not is_function or node.name != code.co_name:
        return None
    if class_of(code):
        _mangle(node, class_of(code))
    return node


def compile_function(node: Any, code: CodeType, *more: str) -> CodeType:
    """Compile the syntax tree of a function, and return its code. This modifies the tree.

    Args:
        node: the syntax tree.
        code: the code of the original function. The new code can use the same closure variables.
        *more: the names of additional closure variables.
    """
    node.decorator_list = []
    node.returns = None
    _drop_values(node)
    outer = [name for name in code.co_freevars if name != "__class__"]
    # `super()` needs a class around the function.
    owner = class_of(code) if "__class__" in code.co_freevars else ""
    text = f"class {owner}: pass" if owner else "pass"
    module = ast.parse(f"def factory():\n {text}")
    factory: Any = module.body[0]
    factory.args.args = [ast.copy_location(ast.arg(name), factory) for name in (*more, *outer)]
    (factory.body[0] if owner else factory).body = [node]
    # The name of the function, or of the class around it, must not become a local variable here.
    defined = {node.name, owner or node.name}.difference(outer)
    if defined:
        factory.body.insert(0, ast.copy_location(ast.Global(sorted(defined)), factory))
    flags = code.co_flags & _FUTURE
    compiled = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    return next(
        each
        for each in _codes(compiled)
        if each.co_name == code.co_name and each.co_flags & inspect.CO_OPTIMIZED
    )


_FUTURE = reduce(or_, (getattr(__future__, x).compiler_flag for x in __future__.all_feature_names))
"""The bits of a code object's flags that `from __future__ import ...` sets."""


def _drop_values(node: Any) -> None:
    """Drop the annotations of a function's parameters, and replace their defaults by None."""
    args = node.args
    for each in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if each is not None:
            each.annotation = None
    none = ast.copy_location(ast.Constant(None), node)
    args.defaults = [none for _ in args.defaults]
    args.kw_defaults = [each and none for each in args.kw_defaults]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code objects in a code object, outer ones first."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _has_changed(code: CodeType, names: dict[str, Any]) -> bool:
    """Return whether the source of a function has changed since the function was compiled.

    The sources are compared only if the file has been written since this module was imported. The
    whole file is compiled, because the bytecode of a function depends on the imports above it.
    """
    try:
        if Path(code.co_filename).stat().st_mtime < _START:
            return False
    except (OSError, ValueError):  # not a file, such as a cell of a notebook
        return False
    text = "".join(linecache.getlines(code.co_filename, names))
    flags = code.co_flags & _FUTURE
    try:
        module = compile(text, code.co_filename, "exec", flags, dont_inherit=True)
    except SyntaxError:
        return True
    first = code.co_firstlineno
    return not any(each.co_firstlineno == first and _is_same(each, code) for each in _codes(module))


_START = time()


def _is_same(x: CodeType, y: CodeType) -> bool:
    """Return whether two code objects are equal, except for qualified names."""
    names = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars")
    if any(getattr(x, name) != getattr(y, name) for name in names):
        return False
    if len(x.co_consts) != len(y.co_consts):
        return False
    for a, b in zip(x.co_consts, y.co_consts, strict=True):
        if isinstance(a, CodeType) and isinstance(b, CodeType):
            if not _is_same(a, b):
                return False
        elif repr(a) != repr(b) and not (isinstance(a, str) and "<locals>" in a):
            return False
    return True


def class_of(code: CodeType) -> str:
    """Return the name of the class in which a method is defined, or "" for another function."""
    names = code.co_qualname.split(".")
    return names[-2] if len(names) > 1 and names[-2] != "<locals>" else ""


def _mangle(node: ast.AST, owner: str) -> None:
    """Mangle names such as `__x` as Python does in the body of a class."""
    for each in ast.walk(node):
        for field in ("id", "attr", "arg"):
            name = getattr(each, field, None)
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                setattr(each, field, f"_{owner.lstrip('_')}{name}")


def _parameter_count(code: CodeType) -> int:
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount + stars


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """Return the names of the parameters in the order of `co_varnames`."""
    args = node.args
    stars = [each for each in (args.vararg, args.kwarg) if each is not None]
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *stars]
    return tuple(each.arg for each in every)


def is_inlined(value: Any) -> bool:
    """Return whether calls to a function are inlined: replaced by the steps of the function's body.

    Functions of `LIBRARIES` and of the standard library are not inlined, except the helper
    functions of graphla's own algorithms.
    """
    if not isinstance(value, FunctionType):
        return False
    package, _, rest = (value.__module__ or "").partition(".")
    if package == "graphla":
        is_step = rest.startswith(("algorithms", "traversal.definition"))
        return is_step and not hasattr(value, "graph_options")
    return package not in LIBRARIES and package not in sys.stdlib_module_names


LIBRARIES = frozenset(("graphla", "semirings", "numpy", "scipy", "cupy", "numba", "networkx"))
"""Packages whose functions are assumed not to change while the program runs."""


def original(function: Any) -> Any:
    """Return the original of a function under `gl.jit`; return any other function unchanged."""
    return getattr(function, JITTED, function)
