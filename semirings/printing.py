"""Print an expression as a NumPy function, as Numba source and as CUDA C++ source."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from semirings.dtypes import BOOL, FP32, INT64, UINT64, DataType
from semirings.primitives import NUMPY_NAMES, Node, Primitive, limits

_POSITIONS = frozenset(("i", "j", "ix", "jx", "iy", "jy"))


def numpy_function(root: Node, parameters: tuple[str, ...], name: str) -> Callable[..., Any]:
    """Return a NumPy function that computes the expression and never warns.

    Each step is computed in the dtype that the expression gives it.
    """
    used = root.uses()
    direct = _ufunc(root, parameters)
    if direct is not None and _is_quiet(root):
        return direct
    names: dict[str, Any] = {**NUMPY_NAMES, "_spread": _spread, "_quietly": np.errstate}
    writer = _Writer("numpy", names)
    result = writer.write(root)
    lines = [
        f"{each} = np.asarray({each}, np.int64)"
        for each in parameters
        if each in _POSITIONS and each in used
    ]
    lines += writer.lines
    if used != set(parameters):
        result = f"_spread({result}, {', '.join(parameters)})"
    lines.append(f"return {result}")
    if not _is_quiet(root):
        lines = ['with _quietly(all="ignore"):'] + [f"    {line}" for line in lines]
    return _compile(name, parameters, lines, names)


def _compile(
    name: str, parameters: tuple[str, ...], lines: list[str], names: dict[str, Any]
) -> Callable[..., Any]:
    name = identifier(name)
    body = "\n".join(f"    {line}" for line in lines)
    exec(f"def {name}({', '.join(parameters)}):\n{body}\n", names)
    return names[name]


def numba_source(root: Node, parameters: dict[str, DataType], name: str) -> str | None:
    """Return the source code of a Python function that numba.njit can compile.

    Return None if the expression contains a primitive without a Numba template.
    """
    if _lacks_numba(root):
        return None
    used = root.uses()
    writer = _Writer("numba", {})
    result = writer.write(root)
    lines = [
        f"{each}_ = {_numba_cast(each, dtype)}"
        for each, dtype in parameters.items()
        if each in used
    ]
    lines += writer.lines
    lines.append(f"return {result}")
    body = "\n".join(f"    {line}" for line in lines)
    return f"def {name}({', '.join(parameters)}):\n{body}\n"


def _numba_cast(name: str, dtype: DataType) -> str:
    return f"({name} != 0)" if dtype is BOOL else f"np.{dtype.np_type.name}({name})"


def cuda_source(root: Node, parameters: dict[str, DataType], name: str) -> str:
    """Return a C++ function as source; `cuda_prelude` must precede it."""
    writer = _Writer("cuda", {})
    result = writer.write(root)
    lines = [*writer.lines, f"return {result};"]
    body = "\n".join(f"  {line}" for line in lines)
    used = root.uses()
    heads = (
        f"{dtype.c_type} {each}" if each in used else f"{dtype.c_type}"
        for each, dtype in parameters.items()
    )
    head = f"SEMIRINGS_FUNCTION {root.dtype.c_type} {name}({', '.join(heads)})"
    return f"{head} {{\n{body}\n}}\n"


def identifier(name: str) -> str:
    """Return a name that is valid for a function in Python and in C++."""
    name = re.sub(r"\W", "_", name)
    return name if name.isidentifier() else f"op_{name}"


def simple_ufunc(root: Node, parameters: tuple[str, ...]) -> np.ufunc | None:
    """Return the NumPy ufunc that computes this binary expression on one dtype, or None."""
    dtypes = {argument.dtype.name for argument in root.arguments}
    return _ufunc(root, parameters) if dtypes == {root.dtype.name} else None


def _ufunc(root: Node, parameters: tuple[str, ...]) -> np.ufunc | None:
    if not isinstance(root.operation, Primitive):
        return None
    if tuple(node.value for node in root.arguments if node.operation == "argument") != parameters:
        return None
    slots = ", ".join(f"{{{k}}}" for k in range(len(parameters)))
    text = root.operation.text("numpy", root.arguments[0].dtype)
    head, _, tail = text.partition("(")
    function = getattr(np, head.removeprefix("np."), None)
    return function if tail == f"{slots})" and isinstance(function, np.ufunc) else None


def _lacks_numba(node: Node) -> bool:
    if isinstance(node.operation, Primitive) and node.operation.numba is None:
        return True
    return any(_lacks_numba(argument) for argument in node.arguments)


def _is_quiet(node: Node) -> bool:
    """Return whether NumPy computes the expression without setting floating-point flags."""
    if not all(_is_quiet(argument) for argument in node.arguments):
        return False
    if isinstance(node.operation, Primitive):
        return node.arguments[0].dtype.kind in node.operation.is_quiet
    if node.operation == "cast":
        return not node.arguments[0].dtype.is_float
    return True


def _spread(result: Any, *operands: Any) -> Any:
    """Broadcast the result to the common shape of the operands.

    A constant is stored only once: the strides of the resulting array are 0.
    """
    own = getattr(result, "shape", None)
    if own is not None:
        for x in operands:
            if getattr(x, "shape", own) not in (own, ()):
                break
        else:
            return result
    shape = np.broadcast_shapes(*(np.shape(x) for x in operands if x is not None))
    return result if np.shape(result) == shape else np.broadcast_to(result, shape)


class _Writer:
    """Prints an expression as source code.

    `lines` receives one assignment for each subexpression that occurs several times.
    """

    def __init__(self, language: str, names: dict[str, Any]):
        self.language = language
        self.lines: list[str] = []
        self._names = names
        self._counts: dict[Node, int] = {}
        self._known: dict[Node, str] = {}

    def write(self, root: Node) -> str:
        self._count(root)
        return self._text(root)

    def _count(self, node: Node) -> None:
        self._counts[node] = self._counts.get(node, 0) + 1
        if self._counts[node] == 1:
            for argument in node.arguments:
                self._count(argument)

    def _text(self, node: Node) -> str:
        known = self._known.get(node)
        if known is not None:
            return known
        if node.operation == "argument":
            return f"{node.value}_" if self.language == "numba" else node.value
        if node.operation == "constant":
            return self._constant(node)
        arguments = [self._text(argument) for argument in node.arguments]
        text = (
            self._cast(node, arguments[0])
            if node.operation == "cast"
            else self._call(node, arguments)
        )
        if self._counts[node] == 1:
            return text
        name = f"t{len(self.lines)}"
        is_cuda = self.language == "cuda"
        self.lines.append(
            f"const {node.dtype.c_type} {name} = {text};" if is_cuda else f"{name} = {text}"
        )
        self._known[node] = name
        return name

    def _call(self, node: Node, arguments: list[str]) -> str:
        primitive = node.operation
        assert isinstance(primitive, Primitive)
        self._names.update(primitive.names)
        dtype = node.arguments[0].dtype
        if primitive.name == "where":
            dtype = node.dtype
        return primitive.text(self.language, dtype).format(
            *arguments,
            arguments=", ".join(arguments),
            name=primitive.name,
            R=self._type(node.dtype),
            **self._placeholders(dtype),
        )

    def _type(self, dtype: DataType) -> str:
        if self.language == "cuda":
            return dtype.c_type
        return f"np.{dtype.np_type.type.__name__.rstrip('_')}" if dtype is not BOOL else "np.bool_"

    def _placeholders(self, dtype: DataType) -> dict[str, str]:
        return _placeholders_of(self.language, dtype, self._type(dtype))

    def _constant(self, node: Node) -> str:
        if self.language == "numpy":
            name = f"k{len(self._names)}"
            self._names[name] = node.value
            return name
        write = cuda_constant if self.language == "cuda" else _numba_constant
        return write(node.value, node.dtype)

    def _cast(self, node: Node, text: str) -> str:
        source, target = node.arguments[0].dtype, node.dtype
        type_ = self._type(target)
        words = self._placeholders(target)
        is_to_integer = source.is_float and target.is_integer
        if self.language == "numpy":
            if is_to_integer:
                return f"_to_integer({text}, {type_})"
            return f"{text}.astype({type_})"
        if target is BOOL:
            return f"({text} != 0)"
        if self.language == "cuda":
            if is_to_integer:
                return f"semirings::to_int<{type_}>({text}, {words['MIN']}, {words['MAX']})"
            return f"({type_})({text})"
        if is_to_integer and target is UINT64:
            return f"_to_uint64(np.float64({text}))"
        if is_to_integer:
            return f"{type_}(_to_int(np.float64({text}), {words['MIN']}, {words['MAX']}))"
        return f"{type_}({text})"


@cache
def _placeholders_of(language: str, dtype: DataType, type_: str) -> dict[str, str]:
    """Return the text of each name that a template may use in addition to its arguments."""
    words = {"T": type_, "f": "f" if dtype is FP32 else "", "BITS": str(dtype.bits)}
    if dtype.is_integer:
        words["U"] = "unsigned long long" if dtype.bits == 64 else "unsigned int"
        least, greatest = limits(dtype)
        if language == "cuda":
            words["MIN"] = cuda_constant(least, dtype)
            words["MAX"] = cuda_constant(greatest, dtype)
        else:
            words["MIN"], words["MAX"] = str(least), str(greatest)
    return words


def _numba_constant(value: Any, dtype: DataType) -> str:
    if dtype is BOOL:
        return f"np.bool_({bool(value)})"
    if not dtype.is_float:
        return f"np.{dtype.np_type.name}({int(value)})"
    number = float(value)
    if math.isnan(number):
        return f"np.{dtype.np_type.name}(np.nan)"
    if math.isinf(number):
        return f"np.{dtype.np_type.name}({'-' if number < 0 else ''}np.inf)"
    return f"np.{dtype.np_type.name}({number!r})"


def cuda_constant(value: Any, dtype: DataType) -> str:
    """Return a value of a dtype as a C++ expression."""
    if dtype is BOOL:
        return "true" if value else "false"
    if not dtype.is_float:
        return f"({dtype.c_type})({_cuda_integer(int(value), dtype)})"
    number = float(value)
    if math.isnan(number):
        return f"({dtype.c_type})SEMIRINGS_NAN"
    if math.isinf(number):
        return f"({dtype.c_type})({'-' if number < 0 else ''}SEMIRINGS_INF)"
    return f"({number!r}{'f' if dtype is FP32 else ''})"


def _cuda_integer(value: int, dtype: DataType) -> str:
    if value == limits(INT64)[0]:
        return "-9223372036854775807LL - 1"
    suffix = "" if dtype.bits < 32 else "U" if dtype.kind == "u" else ""
    return f"{value}{suffix}{'LL' if dtype.bits == 64 else ''}"
