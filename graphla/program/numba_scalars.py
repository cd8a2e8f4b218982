"""Print scalar expressions as Python that Numba compiles. The results follow Python's rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphla.backends.cpu.loops import program as words
from graphla.backends.cpu.program import Layout
from graphla.operations import values
from graphla.program import ir
from graphla.program.numba_operators import literal, numpy_name
from semirings.dtypes import BOOL, FP32, FP64, INT64, UINT64, DataType

_INFIX = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "&",
    "or": "|",
    "xor": "^",
}
_CHECKED = ("add", "sub", "mul", "floordiv", "mod", "pow", "neg", "abs", "lshift", "rshift")
_FLOATS = {"add": "({} + {})", "sub": "({} - {})", "mul": "({} * {})", "neg": "(-{})"}
_PREDICATES = {
    "math.isnan": "({0} != {0})",
    "math.isinf": "(abs({0}) == np.inf)",
    "math.isfinite": "({0} - {0} == 0)",
    "math.fabs": "abs({0})",
    "math.copysign": "math.copysign({0}, {1})",
    "math.nextafter": "np.nextafter({0}, {1})",
    "math.ldexp": "math.ldexp({0}, np.int32({1}))",
}
_FUNCTIONS = {"math.cbrt": "np.cbrt", "math.fmod": "np.fmod", "math.remainder": "remainder"}
"""The functions of module math that have another name in code for Numba."""


class Scalars:
    """The part of the printer that prints scalars.

    A scalar variable is stored in `w` or, if it is a float, in `r`.
    """

    text: Layout
    variables: dict[str, str]  # maps each variable to the name of its place
    kinds: dict[str, DataType]  # maps each variable to its dtype
    segments: list[list[str]]
    constants: dict[str, str]  # constants of the module
    may_fail = False  # whether a scalar that may fault was printed
    temporaries_made = 0

    def say(self, *lines: str) -> None:
        """Append lines to the current segment."""
        self.segments[-1] += lines

    def check_fault(self, line: int) -> None:
        self.say("if w[FAULT] != 0:", f"    w[LINE] = {line}", "    break")

    def integer(self, text: str) -> str:
        """Return the name of an integer constant. If a literal were passed to functions instead,
        Numba would compile these functions again for each literal."""
        name = f"INT_{text.strip('()').replace('-', 'MINUS_')}"
        self.constants[name] = f"np.int64({text})"
        return name

    def dim(self, dim: ir.Dim) -> str:
        return f"w[{self.text.dims + dim.index}]"

    def store(self, variable: ir.Var) -> str:
        """Return the element of `w` or `r` that stores a variable."""
        is_float, _ = self.text.scalars[variable.name]
        return f"{'r' if is_float else 'w'}[{self.variables[variable.name]}]"

    def load(self, name: str) -> str:
        """Return an expression for the value of a variable."""
        is_float, _ = self.text.scalars[name]
        text = f"{'r' if is_float else 'w'}[{self.variables[name]}]"
        return f"({text} != 0)" if self.kinds[name] is BOOL else text

    def scalars(self, values: Iterable[ir.Scalar], line: int) -> list[str]:
        """Return expressions for scalars. If one of the scalars may fault, first print lines
        that evaluate all of them."""
        self.may_fail = False
        texts = [self.scalar(value) for value in values]
        if not self.may_fail:
            return texts
        news = [self.fresh() for _ in texts]
        self.say(*(f"{new} = {text}" for new, text in zip(news, texts, strict=True)))
        self.check_fault(line)
        return news

    def fresh(self) -> str:
        """Return the name of a new local variable."""
        self.temporaries_made += 1
        return f"t{self.temporaries_made}_new"

    def scalar(self, x: ir.Scalar) -> str:
        """Return an expression for a scalar."""
        if isinstance(x, ir.Constant):
            return "LEAST" if x.dtype is INT64 and x.value == -(1 << 63) else self.number(x.value)
        if isinstance(x, ir.Size):
            return self.dim(x.dim)
        if isinstance(x, ir.Var):
            return self.load(x.name)
        if isinstance(x, ir.Element):
            place = self.text.arrays[x.array.index]
            array = f"view(w[{place}], {self.dim(x.array.dim)}, {numpy_name(x.array.dtype)})"
            return self.python(f"{array}[{self.scalar(x.index)}]", x.array.dtype)
        return self.function(x.function, [self.scalar(y) for y in x.arguments], x)

    @staticmethod
    def number(value: Any) -> str:
        if isinstance(value, float):
            return f"({literal(value, FP64)})"
        return f"({value})" if value < 0 else str(value)

    def function(self, name: str, x: list[str], call: ir.Call) -> str:
        if name in _INFIX:
            return f"({x[0]} {_INFIX[name]} {x[1]})"
        if name == "not":
            return f"(not {x[0]})"
        if name == "where":
            return f"({x[1]} if {x[0]} else {x[2]})"
        if name == "invert":
            return f"(~{x[0]})"
        if name in ("min", "max"):
            return f"{'smaller' if name == 'min' else 'larger'}({x[0]}, {x[1]})"
        if name == "bool":
            return f"({x[0]} != 0)"
        if name == "float":
            return f"np.float64({x[0]})"
        if name in _PREDICATES:
            return _PREDICATES[name].format(*x)
        kind = call.arguments[0].dtype
        if name == "int" and not kind.is_float:
            return f"np.int64({x[0]})"
        if kind.is_float and name in _FLOATS:
            return _FLOATS[name].format(*x)
        if kind.is_float and name == "abs":
            return f"abs({x[0]})"
        self.may_fail = True
        x = [self.integer(each) if each.strip("(-)").isdigit() else each for each in x]
        if not kind.is_float:
            name = name.removeprefix("math.")
            return x[0] if name == "round" else f"{name}_int(w, {', '.join(x)})"
        whole = {"int": "trunc", "round": "rint", "math.floor": "floor", "math.ceil": "ceil"}
        if name in whole:
            number = {"int": "TO_INT"}.get(name, name.removeprefix("math.").upper())
            return f"to_int(w, r, {number}, {x[0]}, np.{whole[name]}({x[0]}))"
        if name == "pow":
            return f"checked(w, r, POW_FLOAT, {x[0]}, {x[1]}, math.pow({x[0]}, {x[1]}))"
        if name in ("truediv", "floordiv", "mod"):
            function = name if name == "truediv" else f"{name}_float"
            return f"{function}(w, r, {x[0]}, {x[1]})"
        second = x[1] if len(x) > 1 else "0.0"
        number = words.MATH + words.MATH_NAMES.index(name.removeprefix("math."))
        value = f"{_FUNCTIONS.get(name, name)}({', '.join(x)})"
        return f"checked(w, r, {self.integer(str(number))}, {x[0]}, {second}, {value})"

    def python(self, text: str, dtype: DataType) -> str:
        """Return an expression that converts an entry of a dtype to a Python number."""
        if dtype is BOOL:
            return f"({text} != 0)"
        if dtype is UINT64:
            self.may_fail = True
            return f"signed(w, {text})"
        return f"np.float64({text})" if dtype.is_float else f"np.int64({text})"

    def fit(self, x: ir.Scalar, dtype: DataType) -> str:
        """Return an expression for a scalar cast to a dtype. If it does not fit, the program
        faults."""
        if isinstance(x, ir.Constant):
            try:
                return literal(values.fit(x.value, dtype), dtype)
            except (OverflowError, ValueError):
                pass
        text, source = self.scalar(x), x.dtype
        if dtype is BOOL:
            return text if source is BOOL else f"({text} != 0)"
        if source is BOOL or source is dtype or (source is INT64 and dtype.is_float):
            return text if source is dtype else f"{numpy_name(dtype)}({text})"
        if dtype is FP64:
            return text
        self.may_fail = True
        if dtype is FP32:
            return f"np.float32(fit_fp32(w, r, {text}, np.int64({dtype.number})))"
        least, most = values.limits(dtype.np_type)
        if source is INT64:
            low, high = (literal(x, INT64) for x in (least, min(most, (1 << 63) - 1)))
            call = f"fit_int(w, np.int64({text}), {low}, {high}, np.int64({dtype.number}))"
            return f"{numpy_name(dtype)}({call})"
        call = (
            f"fit_float(w, r, {text}, {float(least)!r}, {float(most)!r}, np.int64({dtype.number}))"
        )
        return f"_to_uint64({call})" if dtype is UINT64 else f"{numpy_name(dtype)}({call})"
