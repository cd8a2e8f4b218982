"""Print parts of CUDA kernels: C++ expressions, operators and lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from graphla.compilers import cuda_ops, nvrtc
from graphla.program import ir
from semirings.dtypes import BOOL, FP64, INT64, DataType
from semirings.printing import cuda_constant
from semirings.structures import TypedSemiring

LIBRARY = "program.cuh"

# --- names ---

KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register reinterpret_cast return short
signed sizeof static static_assert static_cast struct switch template this thread_local throw true
try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
i k j row room span given machine work scratch words slots state frame launch status bits old
resume needed exit_number allowed queueing pushes is_true is_wrong has value scalar all item count
degree place stopped failed leave unix linux
"""
RESERVED = frozenset(KEYWORDS.split())
"""Names that the kernel itself uses."""


@cache
def reserved_names() -> frozenset[str]:
    """Return the names that a variable of a kernel cannot have.

    They are keywords, names that the kernel itself uses, and the names of functions, types and
    constants in the library that the kernel includes.
    """
    names = r"\b([A-Za-z]\w*)\s*[(<{]|\b([A-Z]\w*)|(?:struct|enum|typedef.*?|constexpr \w+)\s+(\w+)"
    found = set(RESERVED)
    for text in nvrtc.included(f'#include "{LIBRARY}"').values():
        code = re.sub(r"//[^\n]*", "", text)
        found.update(name for each in re.findall(names, code) for name in each if name)
    return frozenset(found)


# --- lines and operators ---


class Lines:
    """Lines of C++ with their indentation."""

    def __init__(self, depth: int = 1) -> None:
        self.lines: list[str] = []
        self.depth = depth

    def __call__(self, text: str) -> None:
        self.lines.append("  " * self.depth + text if text else "")

    def begin(self, text: str) -> None:
        self(text)
        self.depth += 1

    def end(self, text: str = "}") -> None:
        self.depth -= 1
        self(text)

    def add(self, other: Iterable[str]) -> None:
        self.lines += other


class Operators:
    """The functions and structs that the printed kernel needs."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._names: dict[Any, str] = {}

    def function(self, op: Any) -> str:
        """Return the name of a C++ function that computes an operator."""
        return self._name(("function", op), "apply", lambda name: op.source_cuda(name))

    def monoid(self, monoid: Any) -> str:
        """Return the name of the struct of a monoid."""
        return self._struct(("monoid", monoid), lambda: cuda_ops.reduction(monoid))

    def product(self, product: ir.Product) -> str:
        """Return the name of the struct of a semiring."""
        ring: Any = product.semiring
        side: Any = product.side
        # plus_first(u @ A) and plus_second(A @ u) then have the same struct, and the same code.
        if side == "vxm" and ring.commutes_to is not None:
            flipped = ring.commutes_to
            ring, side = TypedSemiring(flipped.semiring, ring.monoid, flipped.binaryop), "mxv"
        key = ring.binaryop, ring.monoid, side
        return self._struct(key, lambda: cuda_ops.matrix_vector(ring, side))

    def mask(self, condition: str, fields: tuple[str, ...]) -> str:
        """Return the name of the struct of a mask, whose call operator tests a position.

        `condition` is the C++ expression of this test, and `fields` declares what it reads.
        """
        lines = [*(f"{field};" for field in fields)]
        lines.append(f"DEVICE bool operator()(i32 i) const {{ return {condition}; }}")
        body = "\n".join(lines)
        return self._name(("mask", body), "Mask", lambda name: f"struct {name} {{\n{body}\n}};\n")

    def _struct(self, key: Any, write: Callable[[], str]) -> str:
        return self._name(
            key, "Op", lambda name: write().replace("struct Op {", f"struct {name} {{", 1)
        )

    def _name(self, key: Any, prefix: str, write: Callable[[str], str]) -> str:
        if key not in self._names:
            self._names[key] = f"{prefix}_{len(self._names)}"
            self.texts.append(write(self._names[key]))
        return self._names[key]


# --- C++ expressions ----------------------------------------------------------------------------

C_TYPES = {BOOL: "bool", INT64: "i64", FP64: "double"}


def c_type(dtype: DataType) -> str:
    """Return the C++ type of a scalar."""
    return C_TYPES[dtype]


def zero(dtype: DataType) -> str:
    """Return a C++ expression for 0."""
    return f"(({dtype.c_type})0)"


def constant(value: Any) -> str:
    """Return a C++ expression for a Python number."""
    dtype = BOOL if isinstance(value, bool) else INT64 if isinstance(value, int) else FP64
    return f"({cuda_constant(dtype.np_type.type(value), dtype)})"


def convert(to: DataType, text: str, of: DataType | None = None) -> str:
    """Return a C++ expression for a value, converted from dtype `of` as `astype` does."""
    return text if to is of else f"convert<{to.c_type}>({text})"


def both(x: str, y: str) -> str:
    """Return the conjunction of two C++ expressions."""
    if "false" in (x, y):
        return "false"
    if x == "true" or x == y:
        return y
    return x if y == "true" else f"({x} && {y})"


def either(x: str, y: str) -> str:
    """Return the disjunction of two C++ expressions."""
    if "true" in (x, y):
        return "true"
    if x == "false" or x == y:
        return y
    return x if y == "false" else f"({x} || {y})"


def choose(condition: str, x: str, y: str) -> str:
    """Return a C++ expression for x if the condition is true, otherwise y."""
    return {"true": x, "false": y}.get(condition, f"({condition} ? {x} : {y})")


OPERATORS = {
    **{"and": "&", "or": "|", "xor": "^"},
    **{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="},
}
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*"}
TO_INT = {
    "int": "truncate_to_int",
    "round": "round_to_int",
    "math.floor": "floor_to_int",
    "math.ceil": "ceil_to_int",
}
PLAIN = {
    "math.isnan": "semirings::is_nan",
    "math.isinf": "semirings::is_inf",
    "math.isfinite": "semirings::is_finite",
    "math.fabs": "fabs",
    "math.copysign": "copysign",
    "math.atan2": "atan2",
    "math.hypot": "hypot",
    "min": "python_min",
    "max": "python_max",
}


def call(function: str, arguments: list[str], dtypes: list[DataType]) -> str:
    """Return the C++ expression for a scalar function."""
    given = ", ".join(arguments)
    is_float = FP64 in dtypes
    if function in OPERATORS:
        text = f" {OPERATORS[function]} ".join(arguments)
        is_logical = function in ("and", "or", "xor") and dtypes[0] is BOOL
        return f"bool({text})" if is_logical else f"({text})"
    if function in ARITHMETIC and is_float:
        return f"({f' {ARITHMETIC[function]} '.join(arguments)})"
    if function in TO_INT:
        is_int = dtypes[0] is not FP64
        return f"i64({given})" if is_int else f"{TO_INT[function]}({given}, machine.fault)"
    if function in PLAIN:
        return f"{PLAIN[function]}({given})"
    simple = {
        "not": f"(!{given})",
        "invert": f"(~{given})",
        "float": f"double({given})",
        "bool": f"bool({given})",
    }
    if function in simple:
        return simple[function]
    if function == "where":
        return "({} ? {} : {})".format(*arguments)
    if function == "neg" and is_float:
        return f"(-{given})"
    if function == "abs" and is_float:
        return f"fabs({given})"
    if function.startswith("math."):
        return f"math_{function[5:]}({given}, machine.fault)"
    return f"{function}_{'float' if is_float else 'int'}({given}, machine.fault)"
