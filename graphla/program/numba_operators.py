"""Print names, values and typed operators as Python that Numba compiles."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Iterable
from typing import Any

from graphla.backends.cpu.loops import program as words
from graphla.program.reasons import Reason, refuse
from semirings import printing, trace
from semirings.dtypes import BOOL, FP64, INT64, DataType

# --- names ----------------------------------------------------------------------------------------

_TAKEN = frozenset((*dir(words), *keyword.kwlist, *dir(builtins)))
_LOCAL = re.compile(
    r"^([a-z]\d*|(has|list|at|op|fold|loop|result|flags|size|is)_.*|.*_new|np|math|view|array|call|start|types"
    r"|njit|from_dtype|inlined|merged|compiled|intrinsic|run|status|statement|first|last|part|full"
    r"|(added|removed|grows|end|listed)\d*|found|totals?|reals|counts?|form|entries|indptr|indices|weights"
    r"|firsts|rest|begin|stop|length|size|left|spare|stack|items|allowed|kept|library|functions)$"
)
"""Matches names that have a meaning in the module. A user's name that matches gets an underscore
appended."""


class Names:
    """Makes unique Python names from the user's names."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def make(self, name: str) -> str:
        text = re.sub(r"\W", "_", name).lstrip("_") or "x"
        if text[0].isdigit():
            text = f"x{text}"
        if text in _TAKEN or _LOCAL.match(text):
            text += "_"
        base, number = text, 2
        while text.lower() in self.used:
            text, number = f"{base}_{number}", number + 1
        self.used.add(text.lower())
        return text


# --- values and lines -----------------------------------------------------------------------------


def numpy_name(dtype: DataType) -> str:
    """Return the name of a dtype in the generated module."""
    return "np.bool_" if dtype is BOOL else f"np.{dtype.np_type.name}"


def literal(value: Any, dtype: DataType) -> str:
    """Return a Numba expression for a constant of a dtype."""
    if dtype is BOOL:
        return str(bool(value))
    if dtype.is_float:
        number = float(value)
        text = "np.nan" if number != number else repr(number)
        if number in (float("inf"), float("-inf")):
            text = "np.inf" if number > 0 else "-np.inf"
        return text if dtype is FP64 else f"np.float32({text})"
    if dtype is INT64 and value == -(1 << 63):
        return "LEAST"
    return f"{numpy_name(dtype)}({int(value)})"


def indent(lines: Iterable[str]) -> list[str]:
    """Return the lines, each indented by four more spaces."""
    return [f"    {line}" for line in lines]


def both(p: str, q: str) -> str:
    """Return an expression for `p and q`."""
    if "False" in (p, q):
        return "False"
    if p == "True" or q == "True":
        return q if p == "True" else p
    return f"({p} and {q})"


def either(p: str, q: str) -> str:
    """Return an expression for `p or q`."""
    if "True" in (p, q):
        return "True"
    if p == "False" or q == "False":
        return q if p == "False" else p
    return f"({p} or {q})"


def guard(has: str, lines: list[str]) -> list[str]:
    """Return lines that run if the expression `has` is true."""
    if has == "True":
        return lines
    return [] if has == "False" else [f"if {has}:", *indent(lines)]


# --- operators ------------------------------------------------------------------------------------


class Operators:
    """Prints the operators of a program as functions of the module. Equal operators are printed
    only once."""

    def __init__(self) -> None:
        self.sources: list[str] = []
        self.names: dict[str, str] = {}

    def add(self, op: Any) -> str:
        """Return the name of the function of a typed operator."""
        return self._keep(op.name, op.source_numba)

    def cast(self, text: str, source: DataType, target: DataType) -> str:
        """Return an expression that casts the expression `text`."""
        if source is target:
            return text
        if target is BOOL:
            return f"({text} != 0)"
        if not (source.is_float and target.is_integer):
            return f"{numpy_name(target)}({text})"
        node = trace.trace(lambda x: trace.cast(x, target), {"x": source})

        def write(name: str) -> str | None:
            return printing.numba_source(node, {"x": source}, name)

        return f"{self._keep('cast', write)}({text})"

    def call(self, op: Any, *arguments: tuple[str, DataType | None]) -> str:
        """Return a call of a typed operator; the arguments are cast to its parameters."""
        wanted = op.parameters.values()
        pairs = zip(arguments, wanted, strict=True)
        texts = [x if d is None else self.cast(x, d, dtype) for (x, d), dtype in pairs]
        return f"{self.add(op)}({', '.join(texts)})"

    def binary(
        self, op: Any, x: tuple[str, DataType], y: tuple[str, DataType], i: str = "i"
    ) -> str:
        """Return op(x, y), for two entries of vectors at index i."""
        if not op.is_positional:
            return self.call(op, x, y)
        return self.call(op, x, (i, None), ("0", None), y, (i, None), ("0", None))

    def _keep(self, name: str, write: Callable[[str], str | None]) -> str:
        body = write("OPERATOR")
        if body is None:
            refuse(Reason.OPERATOR, None, name=name, device="Numba")
        known = self.names.get(body)
        if known is None:
            known = self.names[body] = f"op_{len(self.names)}_{printing.identifier(name)}"
            self.sources.append(f"@inlined\n{body.replace('OPERATOR', known, 1).strip()}\n")
        return known
