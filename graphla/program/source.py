"""Find the source of a function: its syntax tree, and which names are local variables."""

from __future__ import annotations

import ast
import inspect
import sys
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from graphla.program.reasons import Reason, refuse

JITTED = "__graphla_jit__"
"""The attribute of a function under `gl.jit` that holds the original function."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a function.

    Attributes:
        name: the name of the function.
        node: the function's syntax tree, with the line numbers of the file.
        file: the name of the file.
        first: the number of the first line in the file, from 1.
        lines: the lines of the source, with those of the decorators.
        local: the names of the local variables and of the parameters.
        free: the names of the closure variables, in the order of the cells.
        shared: the local variables that functions inside this function read or assign.
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
    return _source_of(code, code.co_filename)


@lru_cache(maxsize=1024)
def _source_of(code: CodeType, file: str) -> Source:
    # Code objects of different files may be equal, so the file is part of the cache's key.
    if code.co_name == "<lambda>":
        refuse(Reason.NO_SOURCE, None, name="a lambda function")
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError, IndexError, SyntaxError):
        refuse(Reason.NO_SOURCE, None, name=code.co_qualname)
    node = _parse(lines, first, code)
    if node is None or _parameters(node) != code.co_varnames[: _parameter_count(code)]:
        refuse(Reason.NO_SOURCE, None, name=code.co_qualname)
    return Source(
        name=code.co_name,
        node=node,
        file=file,
        first=first,
        lines=tuple(line.rstrip("\n") for line in lines),
        local=frozenset(code.co_varnames) | frozenset(code.co_cellvars),
        free=code.co_freevars,
        shared=frozenset(code.co_cellvars),
        captured=any(name in code.co_names for name in ("locals", "vars", "eval", "exec", "dir")),
    )


def _parse(lines: list[str], first: int, code: CodeType) -> Any:
    """Return the syntax tree of the function, or None if the lines are not its definition."""
    name = code.co_name
    text = "".join(lines)
    is_indented = text[:1] in (" ", "\t")
    try:
        tree = ast.parse("if 1:\n" + text if is_indented else text)
    except SyntaxError:
        return None
    ast.increment_lineno(tree, first - (2 if is_indented else 1))
    body: Any = tree.body
    node = body[0].body[0] if is_indented else body[0] if body else None
    is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    if not is_function or node.name != name:
        return None
    if class_of(code):
        _mangle(node, class_of(code))
    return node


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
    """Return whether the steps of this function's body replace a call of it.

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
    """Return the function from which `gl.jit` made this function, or the function itself."""
    return getattr(function, JITTED, function)
