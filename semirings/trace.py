"""Trace the Python function of an operator: calling it with symbols builds an expression.

    >>> from semirings import binary
    >>> smooth = binary.register_anonymous(lambda x, y: where(x > y, x, sqrt(x * y)), "smooth")
    >>> smooth(2.0, 8.0).item()
    4.0

Dtypes follow NumPy 2. Two symbols are promoted to a common dtype. A Python number (bool, int or
float) takes the dtype of the other operand if that dtype can hold numbers of this kind. On BOOL,
`+` is logical or, `*` is logical and, and `-` is exclusive or. If a function of this module is
called without a symbol, NumPy computes the result.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from itertools import count
from typing import Any

import numpy as np

from semirings.dtypes import (
    BOOL,
    FP64,
    INT8,
    INT32,
    INT64,
    DataType,
    float_of,
    lookup_dtype,
    unify,
)
from semirings.exceptions import DomainMismatch, InvalidValue, UdfParseError
from semirings.prelude import cuda_prelude, numba_prelude
from semirings.primitives import PRIMITIVES, Node, Primitive, limits
from semirings.printing import numpy_function

__all__ = [
    "Node",
    "Symbol",
    "absolute",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argument",
    "binom",
    "cast",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "cuda_prelude",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "floor_divide",
    "fmod",
    "frexp_exponent",
    "frexp_fraction",
    "hypot",
    "isfinite",
    "isinf",
    "isnan",
    "ldexp",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "numba_prelude",
    "raw",
    "remainder",
    "rint",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "truncate_divide",
    "where",
]


class Symbol:
    """A typed placeholder for a value. Operations on symbols build an expression."""

    __slots__ = ("node",)
    __array_priority__ = 1000

    def __init__(self, node: Node):
        self.node = node

    @property
    def dtype(self) -> DataType:
        """The dtype of the value; a traced function may branch on it."""
        return self.node.dtype

    def astype(self, dtype: Any) -> Symbol:
        """Return the value cast to another dtype; a float is truncated to an integer."""
        return cast(self, dtype)

    def __repr__(self) -> str:
        return f"Symbol({self.dtype})"

    def __add__(self, other: Any) -> Symbol:
        return _arithmetic("add", "or", self, other)

    def __radd__(self, other: Any) -> Symbol:
        return _arithmetic("add", "or", other, self)

    def __sub__(self, other: Any) -> Symbol:
        return _arithmetic("sub", "xor", self, other)

    def __rsub__(self, other: Any) -> Symbol:
        return _arithmetic("sub", "xor", other, self)

    def __mul__(self, other: Any) -> Symbol:
        return _arithmetic("mul", "and", self, other)

    def __rmul__(self, other: Any) -> Symbol:
        return _arithmetic("mul", "and", other, self)

    def __truediv__(self, other: Any) -> Symbol:
        return _divide(self, other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return _divide(other, self)

    def __floordiv__(self, other: Any) -> Symbol:
        return floor_divide(self, other)

    def __rfloordiv__(self, other: Any) -> Symbol:
        return floor_divide(other, self)

    def __mod__(self, other: Any) -> Symbol:
        return remainder(self, other)

    def __rmod__(self, other: Any) -> Symbol:
        return remainder(other, self)

    def __pow__(self, other: Any) -> Symbol:
        return _of_numbers("pow", self, other)

    def __rpow__(self, other: Any) -> Symbol:
        return _of_numbers("pow", other, self)

    def __neg__(self) -> Symbol:
        return self if self.dtype is BOOL else _apply("neg", (self,))

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return absolute(self)

    def __invert__(self) -> Symbol:
        if self.dtype.is_float:
            raise DomainMismatch(f"~x wants BOOL or an integer type, but x is {self.dtype}")
        return _apply("not" if self.dtype is BOOL else "bnot", (self,))

    def __and__(self, other: Any) -> Symbol:
        return _bits("band", "and", "&", self, other)

    def __rand__(self, other: Any) -> Symbol:
        return _bits("band", "and", "&", other, self)

    def __or__(self, other: Any) -> Symbol:
        return _bits("bor", "or", "|", self, other)

    def __ror__(self, other: Any) -> Symbol:
        return _bits("bor", "or", "|", other, self)

    def __xor__(self, other: Any) -> Symbol:
        return _bits("bxor", "xor", "^", self, other)

    def __rxor__(self, other: Any) -> Symbol:
        return _bits("bxor", "xor", "^", other, self)

    def __lshift__(self, other: Any) -> Symbol:
        return _bits("shl", None, "<<", self, other)

    def __rlshift__(self, other: Any) -> Symbol:
        return _bits("shl", None, "<<", other, self)

    def __rshift__(self, other: Any) -> Symbol:
        return _bits("shr", None, ">>", self, other)

    def __rrshift__(self, other: Any) -> Symbol:
        return _bits("shr", None, ">>", other, self)

    def __eq__(self, other: Any) -> Symbol:  # type: ignore[override]
        return _compare("eq", self, other)

    def __ne__(self, other: Any) -> Symbol:  # type: ignore[override]
        return _compare("ne", self, other)

    def __lt__(self, other: Any) -> Symbol:
        return _compare("lt", self, other)

    def __le__(self, other: Any) -> Symbol:
        return _compare("le", self, other)

    def __gt__(self, other: Any) -> Symbol:
        return _compare("gt", self, other)

    def __ge__(self, other: Any) -> Symbol:
        return _compare("ge", self, other)

    __hash__ = None  # type: ignore[assignment]

    def __floor__(self) -> Symbol:
        return floor(self)

    def __ceil__(self) -> Symbol:
        return ceil(self)

    def __trunc__(self) -> Symbol:
        return trunc(self)

    def __round__(self, digits: int | None = None) -> Symbol:
        if digits:
            raise UdfParseError(f"round(x, digits) has no traced form, but digits is {digits}")
        return rint(self)

    def __bool__(self) -> bool:
        raise UdfParseError(
            "an operator's function branches on a value that is not known while it is traced "
            "(if, and, or, not, min, max, or bool); "
            "use semirings.trace.where(condition, x, y) with &, |, ~, minimum, maximum instead"
        )

    def __int__(self) -> int:
        return self._refuse("int(x)", 'x.astype("INT64")')

    def __index__(self) -> int:
        return self._refuse("x as an index", "where(condition, x, y)")

    def __float__(self) -> float:
        return self._refuse(
            "float(x), or a function of the math module,",
            'x.astype("FP64"), or sqrt, exp, where, ... of semirings.trace,',
        )

    def __iter__(self) -> Any:
        return self._refuse("iteration over x", "where(condition, x, y)")

    def _refuse(self, what: str, instead: str) -> Any:
        raise UdfParseError(
            f"{what} needs a value that is not known while an operator is traced; "
            f"use {instead} instead"
        )

    def __apply_operator__(self, op: Any, *args: Any, **options: Any) -> Any:
        return op.trace(*args, **options)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        function = _UFUNCS.get(ufunc.__name__)
        if function is None or method != "__call__" or options:
            raise UdfParseError(f"numpy.{ufunc.__name__} has no traced form in semirings.trace")
        return function(*inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function is np.where and not options:
            return where(*args)
        raise UdfParseError(f"numpy.{function.__name__} has no traced form in semirings.trace")


def argument(name: str, dtype: DataType) -> Symbol:
    """Return the symbol for a parameter of the traced function."""
    return Symbol(Node("argument", (), dtype, name))


def trace(function: Callable[..., Any], parameters: dict[str, DataType]) -> Node:
    """Return the expression that a function builds when it is called with typed symbols."""
    result = function(*(argument(name, dtype) for name, dtype in parameters.items()))
    return as_symbol(result).node


def as_symbol(x: Any) -> Symbol:
    """Return a symbol unchanged; convert a number to a constant with the number's own dtype."""
    if isinstance(x, Symbol):
        return x
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x[()]
    if isinstance(x, np.generic):
        return _constant(x.item(), lookup_dtype(x.dtype))
    if isinstance(x, (bool, int, float)):
        return _constant(x, _weak_dtype(x))
    raise UdfParseError(
        f"an operator's function gives or uses a {type(x).__name__}, "
        "but it should be a number, or made of its arguments"
    )


def _constant(x: Any, dtype: DataType) -> Symbol:
    if dtype.is_integer:
        least, greatest = limits(dtype)
        if not least <= x <= greatest:
            raise InvalidValue(f"the constant {x} does not fit {dtype}, which it is used with")
    with np.errstate(all="ignore"):
        return Symbol(Node("constant", (), dtype, dtype.np_type.type(x)))


def _weak_dtype(x: Any) -> DataType:
    """Return the dtype of a Python number if no other operand determines this dtype."""
    if isinstance(x, bool):
        return BOOL
    return INT64 if isinstance(x, int) else FP64


def _is_weak(x: Any) -> bool:
    return isinstance(x, (bool, int, float)) and not isinstance(x, np.generic)


def _common(values: tuple[Any, ...]) -> tuple[Symbol, ...]:
    """Convert the values to symbols of a common dtype."""
    strong = [x if _is_weak(x) else as_symbol(x) for x in values]
    dtypes = [x.dtype for x in strong if isinstance(x, Symbol)]
    weak = [_weak_dtype(x) for x in strong if not isinstance(x, Symbol)]
    if not dtypes:
        return _common(tuple(as_symbol(x) for x in values))
    dtype = reduce(unify, dtypes)
    for other in weak:
        dtype = unify(dtype, other, is_right_scalar=True)
    return tuple(cast(x, dtype) if isinstance(x, Symbol) else _constant(x, dtype) for x in strong)


def cast(x: Any, dtype: Any) -> Any:
    """Cast x to another dtype: integers wrap around; floats are truncated and clipped."""
    target = lookup_dtype(dtype)
    x = as_symbol(x)
    if x.dtype is target:
        return x
    node = x.node
    if node.operation == "constant" and not (node.dtype.is_float and not target.is_float):
        with np.errstate(all="ignore"):
            return Symbol(Node("constant", (), target, node.value.astype(target.np_type)))
    return Symbol(Node("cast", (node,), target))


def _apply(name: str, values: tuple[Symbol, ...], dtype: DataType | None = None) -> Symbol:
    nodes = tuple(x.node for x in values)
    return Symbol(Node(PRIMITIVES[name], nodes, dtype or values[0].dtype))


def _arithmetic(name: str, on_bool: str, *values: Any) -> Symbol:
    symbols = _common(values)
    return _apply(on_bool if symbols[0].dtype is BOOL else name, symbols)


def _divide(x: Any, y: Any) -> Symbol:
    symbols = _common((x, y))
    if not symbols[0].dtype.is_float:
        symbols = tuple(cast(symbol, FP64) for symbol in symbols)
    return _apply("truediv", symbols)


def _of_numbers(name: str, *values: Any) -> Symbol:
    """Apply an arithmetic primitive; BOOL operands are cast to INT8, as in NumPy."""
    symbols = _common(values)
    if symbols[0].dtype is BOOL:
        symbols = tuple(cast(symbol, INT8) for symbol in symbols)
    return _apply(name, symbols)


def _bits(name: str, on_bool: str | None, sign: str, *values: Any) -> Symbol:
    symbols = _common(values)
    dtype = symbols[0].dtype
    if dtype.is_float or (dtype is BOOL and on_bool is None):
        wanted = "an integer type" if on_bool is None else "BOOL or an integer type"
        raise DomainMismatch(f"x {sign} y wants {wanted}, but x and y are {dtype}")
    return _apply(on_bool if dtype is BOOL and on_bool else name, symbols)


_COMPARE = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _compare(name: str, x: Symbol, y: Any) -> Symbol:
    """Compare x with y; a Python integer is compared by value even if it does not fit x's dtype."""
    if isinstance(y, int) and _is_weak(y) and x.dtype.is_integer:
        least, greatest = limits(x.dtype)
        if not least <= y <= greatest:
            return _constant(_COMPARE[name](0, y), BOOL)
    return _apply(name, _common((x, y)), BOOL)


def _has_symbol(*values: Any) -> bool:
    return any(isinstance(x, Symbol) for x in values)


def _floating(name: str, ufunc: str) -> Callable[..., Any]:
    """Return a function that first casts its operands to floating point."""

    def function(*values: Any) -> Any:
        if not _has_symbol(*values):
            return getattr(np, ufunc)(*values)
        symbols = _common(values)
        dtype = float_of(symbols[0].dtype)
        return _apply(name, tuple(cast(x, dtype) for x in symbols))

    function.__name__ = function.__qualname__ = ufunc
    function.__doc__ = f"numpy.{ufunc}, on symbols and on arrays."
    return function


sqrt = _floating("sqrt", "sqrt")
cbrt = _floating("cbrt", "cbrt")
exp = _floating("exp", "exp")
exp2 = _floating("exp2", "exp2")
expm1 = _floating("expm1", "expm1")
log = _floating("log", "log")
log2 = _floating("log2", "log2")
log10 = _floating("log10", "log10")
log1p = _floating("log1p", "log1p")
sin = _floating("sin", "sin")
cos = _floating("cos", "cos")
tan = _floating("tan", "tan")
sinh = _floating("sinh", "sinh")
cosh = _floating("cosh", "cosh")
tanh = _floating("tanh", "tanh")
arcsin = _floating("asin", "arcsin")
arccos = _floating("acos", "arccos")
arctan = _floating("atan", "arctan")
arcsinh = _floating("asinh", "arcsinh")
arccosh = _floating("acosh", "arccosh")
arctanh = _floating("atanh", "arctanh")
floor = _floating("floor", "floor")
ceil = _floating("ceil", "ceil")
trunc = _floating("trunc", "trunc")
rint = _floating("rint", "rint")
hypot = _floating("hypot", "hypot")
arctan2 = _floating("atan2", "arctan2")
copysign = _floating("copysign", "copysign")
fmod = _floating("fmod", "fmod")


def _special(name: str) -> Callable[..., Any]:
    """Return the symbolic function of a floating-point primitive that has no NumPy ufunc."""

    def function(*values: Any) -> Any:
        if not _has_symbol(*values):
            return evaluate(function, values)
        symbols = _common(values)
        dtype = float_of(symbols[0].dtype)
        return _apply(name, tuple(cast(x, dtype) for x in symbols))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}, on symbols and on arrays."
    return function


erf = _special("erf")
erfc = _special("erfc")
lgamma = _special("lgamma")
tgamma = _special("tgamma")
frexp_fraction = _special("frexp_fraction")
frexp_exponent = _special("frexp_exponent")
ieee_remainder = _special("ieee_remainder")


def evaluate(function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """Evaluate a symbolic function on numbers and arrays."""
    arrays = [np.asarray(x) for x in values]
    dtypes = [lookup_dtype(x.dtype) for x in arrays]
    parameters = {f"x{k}": dtype for k, dtype in enumerate(dtypes)}
    return numpy_function(trace(function, parameters), tuple(parameters), "evaluated")(*arrays)


def where(condition: Any, x: Any, y: Any) -> Any:
    """Return x where the condition holds, otherwise y; both x and y are computed."""
    if not _has_symbol(condition, x, y):
        return np.where(condition, x, y)
    test = cast(condition, BOOL)
    symbols = _common((x, y))
    return _apply("where", (test, *symbols), symbols[0].dtype)


def minimum(x: Any, y: Any) -> Any:
    """Return the smaller of x and y, or NaN if either is NaN; on BOOL, the logical and."""
    if not _has_symbol(x, y):
        return np.minimum(x, y)
    return _arithmetic("min", "and", x, y)


def maximum(x: Any, y: Any) -> Any:
    """Return the larger of x and y, or NaN if either is NaN; on BOOL, the logical or."""
    if not _has_symbol(x, y):
        return np.maximum(x, y)
    return _arithmetic("max", "or", x, y)


def absolute(x: Any) -> Any:
    """Return |x|; the minimum of a signed dtype is returned unchanged, because |x| overflows."""
    if not isinstance(x, Symbol):
        return np.abs(x)
    return _apply("abs", (x,)) if x.dtype.kind in "if" else x


def sign(x: Any) -> Any:
    """Return the sign of x (-1, 0 or 1) in the dtype of x; NaN stays NaN."""
    if not isinstance(x, Symbol):
        return np.sign(x)
    if x.dtype.kind in "bu":
        return cast(x != 0, x.dtype)
    signs = where(x > 0, _constant(1, x.dtype), where(x < 0, _constant(-1, x.dtype), 0))
    return where(isnan(x), x, signs) if x.dtype.is_float else signs


def floor_divide(x: Any, y: Any) -> Any:
    """Return x // y, rounded towards minus infinity; an integer divided by zero gives 0."""
    if not _has_symbol(x, y):
        return np.floor_divide(x, y)
    return _of_numbers("floordiv", x, y)


def remainder(x: Any, y: Any) -> Any:
    """Return x % y with the sign of y; an integer modulo zero gives 0."""
    if not _has_symbol(x, y):
        return np.remainder(x, y)
    return _of_numbers("mod", x, y)


def truncate_divide(x: Any, y: Any) -> Any:
    """Return x / y as in C, truncated for integers; an integer divided by 0 saturates."""
    if not _has_symbol(x, y):
        return evaluate(truncate_divide, (x, y))
    symbols = _common((x, y))
    return (
        _apply("truediv", symbols)
        if symbols[0].dtype.is_float
        else _of_numbers("truncdiv", *symbols)
    )


def ldexp(x: Any, exponent: Any) -> Any:
    """Return x times 2^exponent."""
    if not _has_symbol(x, exponent):
        return np.ldexp(x, exponent)
    x, exponent = as_symbol(x), as_symbol(exponent)
    if exponent.dtype.bits > 32 and exponent.dtype.is_integer:
        bound = 1 << 20
        exponent = minimum(exponent, bound)
        exponent = maximum(exponent, -bound) if exponent.dtype is INT64 else exponent
    dtype = float_of(x.dtype)
    return _apply("ldexp", (cast(x, dtype), cast(exponent, INT32)), dtype)


def binom(n: Any, k: Any) -> Any:
    """Return n choose k as INT64, or 0 if the result is undefined or overflows."""
    if not _has_symbol(n, k):
        return evaluate(binom, (n, k))
    return _apply("binom", (cast(n, INT64), cast(k, INT64)), INT64)


def _predicate(name: str, on_others: bool) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        if not isinstance(x, Symbol):
            return getattr(np, name)(x)
        return _apply(name, (x,), BOOL) if x.dtype.is_float else _constant(on_others, BOOL)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"numpy.{name}, on symbols and on arrays."
    return function


isnan = _predicate("isnan", False)
isinf = _predicate("isinf", False)
isfinite = _predicate("isfinite", True)


def logical_and(x: Any, y: Any) -> Any:
    """Return whether x and y are both nonzero."""
    return cast(x, BOOL) & cast(y, BOOL) if _has_symbol(x, y) else np.logical_and(x, y)


def logical_or(x: Any, y: Any) -> Any:
    """Return whether x or y is nonzero."""
    return cast(x, BOOL) | cast(y, BOOL) if _has_symbol(x, y) else np.logical_or(x, y)


def logical_xor(x: Any, y: Any) -> Any:
    """Return whether exactly one of x and y is nonzero."""
    return cast(x, BOOL) ^ cast(y, BOOL) if _has_symbol(x, y) else np.logical_xor(x, y)


def logical_not(x: Any) -> Any:
    """Return whether x is zero."""
    return ~cast(x, BOOL) if _has_symbol(x) else np.logical_not(x)


_raw_names = count()


def raw(
    cuda: str,
    numpy: Callable[..., Any],
    *,
    numba: str | None = None,
    dtype: Any = None,
    returns: Any = None,
) -> Callable[..., Any]:
    """Return a function defined by C++ and NumPy code, for operations that cannot be traced.

    In the C++ and Numba templates, `{0}`, `{1}`, ... stand for the arguments. All arguments are
    cast to `dtype`, by default to their common dtype. The result has this dtype, too, unless
    `returns` names another dtype. If there is no Numba template, NumPy computes the operators that
    call the function on the CPU.

        >>> from semirings import unary
        >>> step = raw("({0} > 0 ? {0} : 0.01 * {0})", lambda x: np.where(x > 0, x, 0.01 * x))
        >>> unary.register_anonymous(lambda x: step(x) + 1, "leaky")(-100.0)
        np.float64(0.0)
    """
    name = f"_raw{next(_raw_names)}"

    def twin(out: Any, *values: Any) -> Any:
        return np.asarray(numpy(*values)).astype(out, copy=False)

    template = "{name}({R}, {arguments})"
    primitive = Primitive(name, template, numba, cuda, is_quiet="", names=((name, twin),))

    def function(*values: Any) -> Any:
        if not _has_symbol(*values):
            return numpy(*values)
        symbols = _common(values)
        if dtype is not None:
            symbols = tuple(cast(x, dtype) for x in symbols)
        result = symbols[0].dtype if returns is None else lookup_dtype(returns)
        return Symbol(Node(primitive, tuple(x.node for x in symbols), result))

    function.__name__ = name
    return function


_UFUNCS: dict[str, Callable[..., Any]] = {
    **{name: globals()[name] for name in __all__ if hasattr(np, name) and name != "where"},
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "negative": operator.neg,
    "positive": operator.pos,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "invert": operator.invert,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
}
