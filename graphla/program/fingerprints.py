"""Describe values by their content, so that descriptions from two processes can be compared.

The descriptions of `graphla.program.keys` may contain objects directly, because they are compared
within one process only. This module replaces each of these objects by its name or by its content:
an operator of graphla by its name, a function by its bytecode. An object that has neither a name
nor such content raises `NoContent`.
"""

from __future__ import annotations

import sys
from enum import Enum
from opcode import opmap
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from graphla.program.keys import Description, Same
from semirings.dtypes import DataType
from semirings.naming import user_operators
from semirings.operators import Operator, Typed, named


class NoContent(Exception):
    """Raised for a value that has no description that another process could compare."""


_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


def content_of(value: Any) -> Any:
    """Return the content of a value or of a description: plain values whose `repr` is the same in
    each process. Raise NoContent if the value has no content."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple:
        return tuple([content_of(each) for each in value])
    if kind is frozenset:
        return "frozenset", *sorted([content_of(each) for each in value], key=repr)
    if kind is Same:
        return "same", content_of(value.value)
    if kind is DataType:
        return "dtype", value.name
    if kind is CodeType:
        _check_names(value)
        return content_of_code(value)
    if kind is range:
        return "range", value.start, value.stop, value.step
    if isinstance(value, np.dtype):
        return "numpy dtype", value.str
    if isinstance(value, Operator):
        return _content_of_operator(value)
    if isinstance(value, Typed):
        return "typed", content_of(value.op), content_of(value._dtypes)
    if isinstance(value, ModuleType):
        return "module", _name_of_library(value.__name__, value)
    if isinstance(value, (FunctionType, BuiltinFunctionType, type, np.ufunc)):
        return "named", _qualified_name(value)
    return "global", _global_name(value)


def content_of_code(code: CodeType) -> tuple[Any, ...]:
    """Return those parts of a function's code on which a program depends. The name of the file is
    left out, and line numbers are relative to the function's first line."""
    first = code.co_firstlineno
    return (
        *("code", code.co_name, code.co_flags, code.co_code, code.co_exceptiontable),
        *(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        *(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
        content_of(code.co_consts),
        tuple([(end, line and line - first) for _, end, line in code.co_lines()]),
    )


def _content_of_operator(op: Operator) -> Any:
    """Return the name of a library operator, or the parts of a user-defined operator."""
    if is_of_library(op):
        return "operator", op.kind, op.name
    if op.is_anonymous or (op.kind, op.name) in user_operators:
        recipe = op._recipe()
        return op.kind, tuple(recipe), content_of(Description().of_read(recipe.values()))
    raise NoContent


def is_of_library(op: Operator) -> bool:
    """Return whether an operator is in a catalog of `semirings` in every process."""
    if op.is_anonymous or (op.kind, op.name) in user_operators:
        return False
    try:
        return named(op.kind, op.name) is op
    except AttributeError:
        return False


_LIBRARIES = frozenset(
    (
        *("graphla", "semirings", "numpy", "builtins", "math", "_operator", "operator"),
        *("itertools", "functools", "_functools", "numbers", "typing", "types"),
    )
)
"""Packages whose functions and attributes are the same in each process that uses the same versions,
and whose versions are part of the name of each cache entry. `os`, `sys` and `random` differ between
processes, so they are excluded."""


_OPEN = frozenset(
    (
        *("globals", "locals", "vars", "dir", "eval", "exec", "open", "input", "id", "hash"),
        *("__import__", "__dict__", "__globals__", "__builtins__"),
    )
)
"""Names with which a function may read values that its description does not contain."""

_IMPORT = opmap["IMPORT_NAME"]


def _check_names(code: CodeType) -> None:
    """Raise NoContent if a function may read values that its description does not contain."""
    if not _OPEN.isdisjoint(code.co_names) or _IMPORT in code.co_code[::2]:
        raise NoContent


_HEAP_TYPE = 1 << 9
"""CPython's type flag that marks classes that are not defined in C."""


def _name_of_library(name: str, module: ModuleType) -> str:
    if name.partition(".")[0] not in _LIBRARIES or sys.modules.get(name) is not module:
        raise NoContent
    return name


def _qualified_name(value: Any) -> tuple[str, str]:
    """Return the module and the name by which a function or a class can be found."""
    module = getattr(value, "__module__", None) or ("numpy" if type(value) is np.ufunc else "")
    name = getattr(value, "__qualname__", None) or value.__name__
    found: Any = sys.modules.get(module)
    if module.partition(".")[0] not in _LIBRARIES:
        raise NoContent
    if type(value) is type and not value.__flags__ & _HEAP_TYPE:
        # A built-in class may be missing from its module. For example, `builtins` does not contain
        # the class of built-in functions.
        return module, name
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not value:
        raise NoContent
    return module, name


def _global_name(value: Any) -> tuple[str, str]:
    """Return the module and the global name of an object, such as `replace`.

    The object must be defined in the same module as its class.
    """
    module = type(value).__module__
    if isinstance(value, Enum):
        return module, f"{_qualified_name(type(value))[1]}.{value.name}"
    if module.partition(".")[0] in ("graphla", "semirings"):
        for name, each in vars(sys.modules[module]).items():
            if each is value:
                return module, name
    raise NoContent
