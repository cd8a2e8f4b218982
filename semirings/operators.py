"""Unary, binary, index-unary and select operators.

A unary operator is a function of one entry, and a binary operator a function of two entries. An
index-unary operator is a function of an entry, its position and a scalar. A select operator is an
index-unary operator with a Boolean result.

An untyped operator, such as `binary.plus`, has a name and a Python function. A typed operator, such
as `plus["INT64"]`, has an expression that can be printed as NumPy, Numba and CUDA C++ code. Typed
operators are created at first use and cached, so `op[dtype] is op[dtype]`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from semirings import printing
from semirings.dtypes import ALL, BOOL, FP64, INT64, DataType, lookup_dtype, unify
from semirings.exceptions import (
    DomainMismatch,
    GraphblasException,
    InvalidValue,
    UdfParseError,
)
from semirings.primitives import Node
from semirings.trace import Symbol, as_symbol, cast, trace

# The dtype of an operator's result. "same" means the dtype of the operands, and None means the
# dtype that the function returns.
Result = str | DataType | None


class Operator:
    """The base class of untyped operators. It handles names, typing, calls and pickling."""

    opclass: ClassVar[str]
    kind: ClassVar[str]
    is_positional: bool = False

    def __init__(self, name: str, *, is_anonymous: bool = False):
        self.name = name
        self.is_anonymous = is_anonymous
        self._cache: dict[Any, Any] = {}
        self._numbered: dict[tuple[int, int], Any] = {}

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._cache[key]
        except (KeyError, TypeError):
            return self._lookup(key)

    def typed_for(self, left: DataType, right: DataType) -> Any:
        """Return self[left, right], but faster, because no dtype is hashed."""
        key = left.number, right.number
        typed = self._numbered.get(key)
        if typed is None:
            typed = self._numbered[key] = self[left, right]
        return typed

    def __contains__(self, key: Any) -> bool:
        try:
            self[key]
        except UdfParseError:
            raise
        except (DomainMismatch, ValueError):
            return False
        return True

    @classmethod
    def register_new(cls, name: str, *args: Any, **options: Any) -> Any:
        """Call `register_new` of the module that holds this kind of operator."""
        return importlib.import_module(f"semirings.{cls.kind}").register_new(name, *args, **options)

    @classmethod
    def register_anonymous(cls, *args: Any, **options: Any) -> Any:
        """Call `register_anonymous` of the module that holds this kind of operator."""
        return importlib.import_module(f"semirings.{cls.kind}").register_anonymous(*args, **options)

    def _lookup(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        typed = self._typed(*(lookup_dtype(each) for each in keys))
        self._cache[key] = typed
        return typed

    def _typed(self, *dtypes: DataType) -> Any:
        raise NotImplementedError

    def _mismatch(self, *dtypes: DataType) -> DomainMismatch:
        names = ", ".join(dtype.name for dtype in dtypes)
        supported = ", ".join(dtype.name for dtype in self.types) or "nothing"
        return DomainMismatch(f"{self!r} is not defined on {names}; it is on {supported}")

    @cached_property
    def types(self) -> dict[DataType, DataType]:
        """A dictionary that maps each supported operand dtype to the dtype of the result."""
        return {dtype: self[dtype].return_type for dtype in self._domain if dtype in self}

    @property
    def _domain(self) -> tuple[DataType, ...]:
        return ALL

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Apply the operator to numbers, arrays, or graphla objects."""
        for each in (*args, *options.values()):
            apply = getattr(type(each), "__apply_operator__", None)
            if apply is not None:
                return apply(each, self, *args, **options)
        return self._evaluate(*args, **options)

    def _evaluate(self, *args: Any) -> Any:
        raise TypeError(f"{self!r} computes on operands of graphla, not on {_types(args)}")

    def trace(self, *args: Any) -> Symbol:
        """Apply the operator to symbols while another operator is traced."""
        raise UdfParseError(f"{self!r} cannot be a part of another operator's function")

    def __repr__(self) -> str:
        return f"{self.kind}.{self.name}"

    def __reduce__(self) -> Any:
        if self.is_anonymous:
            return _remake, (type(self), self._recipe())
        return named, (self.kind, self.name)

    def _recipe(self) -> dict[str, Any]:
        """Return the constructor arguments from which pickle rebuilds an anonymous operator."""
        return {"name": self.name, "is_anonymous": True}

    def checked(self) -> Any:
        """Return the operator, or raise an error if its function cannot be traced for any dtype."""
        if not any(dtype in self for dtype in (FP64, INT64, *self._domain)):
            self[self._domain[-1]]
        return self


def _remake(cls: type, recipe: dict[str, Any]) -> Any:
    return cls(**recipe)


def named(kind: str, name: str) -> Any:
    """Return the operator of this kind with this name. Pickle calls this to load an operator."""
    found: Any = importlib.import_module(f"semirings.{kind}")
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _types(args: tuple[Any, ...]) -> str:
    return " and ".join(type(each).__name__ for each in args) or "nothing"


class Typed:
    """The base class of typed operators, monoids and semirings. It handles calls and pickling."""

    opclass: ClassVar[str]
    is_positional: bool = False
    return_type: DataType

    def __init__(self, op: Any, dtypes: tuple[DataType, ...]):
        self.op = op
        self.name: str = op.name
        self.type = dtypes[0]
        self._dtypes = dtypes

    @property
    def _key(self) -> Any:
        """The key, such as "INT64", for which `op[key]` returns this typed operator."""
        first, *others = self._dtypes
        if all(dtype is first for dtype in others):
            return first.name
        return tuple(dtype.name for dtype in self._dtypes)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Apply the operator to numbers, arrays, or graphla objects."""
        return Operator.__call__(self, *args, **options)  # type: ignore[arg-type]

    def _evaluate(self, *args: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        key = self._key
        return f"{self.op!r}[{key if isinstance(key, str) else ', '.join(key)}]"

    def __reduce__(self) -> Any:
        return _typed, (self.op, self._key)


def _typed(op: Any, key: Any) -> Any:
    return op[key]


class TypedOperator(Typed):
    """The base class of typed operators that are traced from a Python function."""

    def __init__(self, op: Any, dtypes: tuple[DataType, ...], result: Result):
        super().__init__(op, dtypes)
        self.is_positional: bool = op.is_positional
        self.ulps: int = op.ulps
        self.parameters = self._parameters(dtypes)
        try:
            node = trace(op.function, self.parameters)
        except (GraphblasException, RecursionError):
            raise
        except Exception as error:
            raise UdfParseError(
                f"the function of {op!r} fails while it is traced: {type(error).__name__}: {error}"
            ) from error
        if result is not None:
            node = cast(Symbol(node), dtypes[0] if result == "same" else result).node
        self.expression: Node = node
        self.return_type = node.dtype

    def _parameters(self, dtypes: tuple[DataType, ...]) -> dict[str, DataType]:
        raise NotImplementedError

    @cached_property
    def numpy(self) -> Callable[..., Any]:
        """A NumPy function that computes the operator on arrays, and never prints warnings."""
        return printing.numpy_function(self.expression, tuple(self.parameters), self.name)

    def source_numba(self, name: str) -> str | None:
        """Return the source of a Python function that computes the operator, for `numba.njit`.

        The text `numba_prelude` must precede the source.
        """
        return printing.numba_source(self.expression, self.parameters, name)

    def source_cuda(self, name: str) -> str:
        """Return the source of a C++ function that computes the operator.

        The text `trace.cuda_prelude` must precede the source.
        """
        return printing.cuda_source(self.expression, self.parameters, name)

    @cached_property
    def _uses(self) -> set[str]:
        return self.expression.uses()

    @cached_property
    def reads_x(self) -> bool:
        """Whether the result depends on the value x."""
        return "x" in self._uses

    @cached_property
    def reads_y(self) -> bool:
        """Whether the result depends on the value y."""
        return "y" in self._uses

    def _evaluate(self, *args: Any) -> Any:
        dtypes = self.parameters.values()
        if len(args) != len(self.parameters):
            names = ", ".join(self.parameters)
            raise TypeError(f"{self!r} takes {names}, but {len(args)} arguments were given")
        arrays = (as_array(x, dtype) for x, dtype in zip(args, dtypes, strict=True))
        result = self.numpy(*arrays)
        return result[()] if np.ndim(result) == 0 else result

    def trace(self, *args: Any) -> Symbol:
        """Apply the operator to symbols, which are cast to its dtypes."""
        dtypes = self.parameters.values()
        symbols = (cast(as_symbol(x), dtype) for x, dtype in zip(args, dtypes, strict=True))
        return cast(as_symbol(self.op.function(*symbols)), self.return_type)


def as_array(x: Any, dtype: DataType) -> Any:
    """Return x as an array of the dtype.

    Raise OverflowError if x is a Python integer that does not fit in the dtype.
    """
    if isinstance(x, np.ndarray):
        return x.astype(dtype.np_type, copy=False)
    if isinstance(x, float) and not isinstance(x, np.generic) and not dtype.is_float:
        return np.asarray(x).astype(dtype.np_type)
    return np.asarray(x, dtype.np_type)


def dtype_of(x: Any) -> tuple[DataType, bool]:
    """Return the dtype of a number or array, and whether it is a Python number (a weak dtype)."""
    is_weak = isinstance(x, (bool, int, float)) and not isinstance(x, np.generic)
    return lookup_dtype(type(x) if is_weak else np.asarray(x).dtype), is_weak


class FunctionOperator(Operator):
    """The base class of operators defined by a Python function, which is traced once per dtype."""

    _typed_class: type[TypedOperator]

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        domain: tuple[DataType, ...],
        result: Result,
        *,
        ulps: int,
        is_anonymous: bool,
    ):
        super().__init__(name, is_anonymous=is_anonymous)
        self.function = function
        self.ulps = ulps
        self._supported = domain
        self._result: Result = result

    @property
    def _domain(self) -> tuple[DataType, ...]:
        return self._supported

    @property
    def orig_func(self) -> Callable[..., Any]:
        """The Python function that defines the operator."""
        return self.function

    def _on(
        self,
        dtypes: tuple[DataType, ...],
        operands: tuple[DataType, ...],
        asked: tuple[DataType, ...],
    ) -> Any:
        """Return the operator typed with `dtypes`, which is created once and cached.

        Raise DomainMismatch if a dtype in `operands` is not supported. The error message names
        `asked`, the dtypes that the caller requested.
        """
        known = self._cache.get(dtypes)
        if known is None:
            if not all(dtype in self._supported for dtype in operands):
                raise self._mismatch(*asked)
            known = self._cache[dtypes] = self._typed_class(self, dtypes, self._result)
        return known

    def _recipe(self) -> dict[str, Any]:
        return super()._recipe() | {
            "function": self.function,
            "domain": self._supported,
            "result": self._result,
            "ulps": self.ulps,
        }


class TypedUnaryOp(TypedOperator):
    """z = f(x), or z = f(x, i, j) for a positional operator, on one dtype."""

    opclass = "UnaryOp"

    def _parameters(self, dtypes: tuple[DataType, ...]) -> dict[str, DataType]:
        if self.is_positional:
            return {"x": dtypes[0], "i": INT64, "j": INT64}
        return {"x": dtypes[0]}


class UnaryOp(FunctionOperator):
    """z = f(x), for each dtype on which f can be traced.

    `unary.register_new` and `unary.register_anonymous` create unary operators.

    Args:
        name: the name.
        function: the Python function f, which is traced for each dtype.
        domain: the dtypes on which the operator is defined.
        result: the dtype of the result; "same" means the dtype of the operands, and None means the
            dtype that f returns.
        ulps: the maximum error of a result, in units in the last place.
        is_positional: whether f also takes the position of x: f(x, i, j).
        is_anonymous: whether the operator is not registered in a module; pickle then stores its
            constructor arguments instead of its name.

    Examples:
        >>> from semirings import unary
        >>> unary.sqrt(9.0), unary.sqrt["INT8"].return_type
        (np.float64(3.0), FP32)
    """

    opclass = "UnaryOp"
    kind = "unary"
    _typed_class = TypedUnaryOp

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        domain: tuple[DataType, ...] = ALL,
        result: Result = None,
        *,
        ulps: int = 0,
        is_positional: bool = False,
        is_anonymous: bool = False,
    ):
        super().__init__(name, function, domain, result, ulps=ulps, is_anonymous=is_anonymous)
        self.is_positional = is_positional

    def _typed(self, *dtypes: DataType) -> TypedUnaryOp:
        (dtype,) = dtypes
        return self._on((dtype,), (dtype,), (dtype,))

    def _evaluate(self, *args: Any) -> Any:
        return self[dtype_of(args[0])[0]]._evaluate(*args)

    def trace(self, *args: Any) -> Symbol:
        """Apply the operator to symbols while another operator is traced."""
        return self[as_symbol(args[0]).dtype].trace(*args)

    def _recipe(self) -> dict[str, Any]:
        return super()._recipe() | {"is_positional": self.is_positional}


class TypedBinaryOp(TypedOperator):
    """z = f(x, y), or z = f(x, ix, jx, y, iy, jy) for a positional operator, on two dtypes."""

    opclass = "BinaryOp"
    _monoid: Any = None  # the monoid that created this copy; see `TypedMonoid.joining`

    def __init__(self, op: BinaryOp, dtypes: tuple[DataType, ...], result: Result):
        self.type2 = dtypes[1]
        super().__init__(op, dtypes, result)

    def _parameters(self, dtypes: tuple[DataType, ...]) -> dict[str, DataType]:
        x, y = dtypes
        if self.is_positional:
            return {"x": x, "ix": INT64, "jx": INT64, "y": y, "iy": INT64, "jy": INT64}
        return {"x": x, "y": y}

    @property
    def commutes_to(self) -> TypedBinaryOp | None:
        """The operator g with f(x, y) = g(y, x), or None."""
        flipped = self.op.commutes_to
        return None if flipped is None else flipped[self.type2, self.type]

    @property
    def is_commutative(self) -> bool:
        """Whether f(x, y) = f(y, x)."""
        return self.op.is_commutative

    @property
    def monoid(self) -> Any:
        """The typed monoid whose operator is this one, or None.

        `lor` on INT64 has none, because the monoid `lor` is defined on BOOL.
        """
        monoid = self.op.monoid
        if self._monoid is not None:
            return self._monoid
        if monoid is None or self.type not in monoid:
            return None
        typed = monoid[self.type]
        return typed if typed.binaryop is self else None


class BinaryOp(FunctionOperator):
    """z = f(x, y), for each dtype on which f can be traced.

    `binary.register_new` and `binary.register_anonymous` create binary operators.

    Args:
        name: the name.
        function: the Python function f, which is traced for each dtype.
        domain: the dtypes on which the operator is defined.
        result: the dtype of the result; "same" means the dtype of the operands, and None means the
            dtype that f returns.
        commutes_to: the name of the operator g with f(x, y) = g(y, x), or None.
        keeps: whether x and y keep their dtypes. By default, both operands are cast to a common
            dtype first.
        ulps: the maximum error of a result, in units in the last place.
        is_positional: whether f also takes the positions of x and y: f(x, ix, jx, y, iy, jy).
        is_anonymous: whether the operator is not registered in a module; pickle then stores its
            constructor arguments instead of its name.
        parameterized: a function that creates f from parameters, or None.
        parameters: the parameters from which f was created.

    Examples:
        >>> from semirings import binary
        >>> binary.plus(3, 4), binary.minus.commutes_to
        (np.int64(7), binary.rminus)
    """

    opclass = "BinaryOp"
    kind = "binary"
    _typed_class = TypedBinaryOp

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        domain: tuple[DataType, ...] = ALL,
        result: Result = None,
        *,
        commutes_to: str | None = None,
        keeps: bool = False,
        ulps: int = 0,
        is_positional: bool = False,
        is_anonymous: bool = False,
        parameterized: Callable[..., Callable[..., Any]] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ):
        super().__init__(name, function, domain, result, ulps=ulps, is_anonymous=is_anonymous)
        self.keeps = keeps
        self.is_positional = is_positional
        self.monoid: Any = None  # the monoid of the same name, which sets this attribute
        self._flipped = commutes_to
        self._parameterized = parameterized
        self._parameters = dict(parameters or {})

    @property
    def commutes_to(self) -> BinaryOp | None:
        """The operator g with f(x, y) = g(y, x), or None."""
        if self._flipped is None:
            return None
        return self if self._flipped == self.name else named("binary", self._flipped)

    @property
    def is_commutative(self) -> bool:
        """Whether f(x, y) = f(y, x)."""
        return self._flipped == self.name

    def _typed(self, *dtypes: DataType) -> TypedBinaryOp:
        x, y = dtypes if len(dtypes) == 2 else dtypes * 2
        if not self.keeps and x is not y:
            x = y = unify(x, y)
        return self._on((x, y), (x, y), dtypes)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Apply the operator to operands or, without operands, set the operator's parameters."""
        if self._parameterized is not None and not args:
            return self._with(**options)
        return super().__call__(*args, **options)

    def _with(self, **parameters: Any) -> BinaryOp:
        assert self._parameterized is not None
        recipe = self._recipe()
        recipe["function"] = self._parameterized(**parameters)
        recipe["parameters"] = parameters
        return BinaryOp(**recipe)

    def _evaluate(self, *args: Any) -> Any:
        if self.is_positional or len(args) != 2:
            return super()._evaluate(*args)
        (x, is_x_weak), (y, is_y_weak) = map(dtype_of, args)
        if not self.keeps:
            x = y = unify(x, y, is_left_scalar=is_x_weak, is_right_scalar=is_y_weak)
        return self[x, y]._evaluate(*args)

    def trace(self, *args: Any) -> Symbol:
        """Apply the operator to symbols."""
        if self.is_positional:
            return super().trace(*args)
        x, y = (as_symbol(each) for each in args)
        weak = [not isinstance(each, (Symbol, np.generic)) for each in args]
        x_type, y_type = x.dtype, y.dtype
        if not self.keeps:
            x_type = y_type = unify(x_type, y_type, is_left_scalar=weak[0], is_right_scalar=weak[1])
        return self[x_type, y_type].trace(x, y)

    def _recipe(self) -> dict[str, Any]:
        return super()._recipe() | {
            "commutes_to": self._flipped if self.is_commutative else None,
            "keeps": self.keeps,
            "is_positional": self.is_positional,
            "parameterized": self._parameterized,
            "parameters": self._parameters,
        }

    def __reduce__(self) -> Any:
        if self.is_anonymous and self._parameters and self._parameterized is not None:
            return _with_parameters, (named("binary", self.name), self._parameters)
        return super().__reduce__()


def _with_parameters(op: BinaryOp, parameters: dict[str, Any]) -> BinaryOp:
    return op(**parameters)


class TypedIndexUnaryOp(TypedOperator):
    """z = f(x, i, j, thunk), where x is an entry in row i and column j, and thunk is a scalar.

    For a vector, i is the index of the entry, and j is 0.
    """

    opclass = "IndexUnaryOp"

    def __init__(self, op: Any, dtypes: tuple[DataType, ...], result: Result):
        self.thunk_type = dtypes[1]
        super().__init__(op, dtypes, result)
        self.is_positional = not self._uses.isdisjoint(("i", "j"))

    def _parameters(self, dtypes: tuple[DataType, ...]) -> dict[str, DataType]:
        return {"x": dtypes[0], "i": INT64, "j": INT64, "thunk": dtypes[1]}

    @property
    def _key(self) -> Any:
        return (self.type.name, self.thunk_type.name)


class TypedSelectOp(TypedIndexUnaryOp):
    """f(x, i, j, thunk) of type BOOL: whether select keeps an entry."""

    opclass = "SelectOp"

    def __init__(self, op: Any, dtypes: tuple[DataType, ...], result: Result):
        super().__init__(op, dtypes, result)
        if self.return_type is not BOOL:
            raise InvalidValue(
                f"{op!r} returns {self.return_type} for entries of {dtypes[0]}, but a select "
                "operator must return BOOL, as x > thunk does"
            )


class IndexUnaryOp(FunctionOperator):
    """z = f(x, i, j, thunk), for each dtype on which f can be traced.

    `indexunary.register_new` and `indexunary.register_anonymous` create index-unary operators.

    Args:
        name: the name.
        function: the Python function f, which is traced for each dtype.
        domain: the dtypes on which the operator is defined.
        result: the dtype of the result; "same" means the dtype of the operands, and None means the
            dtype that f returns.
        thunk: the dtype of the thunk. If `thunk` is None, the second dtype in
            `op[x_dtype, thunk_dtype]` is used. `op[x_dtype]` then uses the dtype of x.
        ulps: the maximum error of a result, in units in the last place.
        is_anonymous: whether the operator is not registered in a module; pickle then stores its
            constructor arguments instead of its name.
    """

    opclass = "IndexUnaryOp"
    kind = "indexunary"
    _typed_class = TypedIndexUnaryOp
    is_positional = True

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        domain: tuple[DataType, ...] = ALL,
        result: Result = None,
        *,
        thunk: DataType | None = None,
        ulps: int = 0,
        is_anonymous: bool = False,
    ):
        super().__init__(name, function, domain, result, ulps=ulps, is_anonymous=is_anonymous)
        self._thunk = thunk

    def _typed(self, *dtypes: DataType) -> TypedIndexUnaryOp:
        x, thunk = dtypes if len(dtypes) == 2 else dtypes * 2
        return self._on((x, self._thunk or thunk), (x,), (x,))

    def _evaluate(self, *args: Any) -> Any:
        if len(args) != 4:
            raise TypeError(f"{self!r} takes x, i, j, thunk, but {len(args)} arguments were given")
        (x, _), (thunk, is_weak) = dtype_of(args[0]), dtype_of(args[3])
        return self[x, unify(thunk, x, is_left_scalar=is_weak)]._evaluate(*args)

    def trace(self, *args: Any) -> Symbol:
        """Apply the operator to symbols."""
        x, thunk = as_symbol(args[0]), as_symbol(args[3])
        return self[x.dtype, thunk.dtype].trace(x, args[1], args[2], thunk)

    def _recipe(self) -> dict[str, Any]:
        return super()._recipe() | {"thunk": self._thunk}


class SelectOp(IndexUnaryOp):
    """f(x, i, j, thunk) of type BOOL: whether select keeps an entry, for each supported dtype."""

    opclass = "SelectOp"
    kind = "select"
    _typed_class = TypedSelectOp

    @classmethod
    def of(cls, op: IndexUnaryOp) -> SelectOp:
        """Convert an index-unary operator that returns BOOL to a select operator."""
        recipe = op._recipe()
        recipe["is_anonymous"] = op.is_anonymous
        return cls(**recipe)
