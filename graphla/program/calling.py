"""Evaluate calls of functions and methods with abstract values, and iterate over abstract
values."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any, ClassVar

from graphla.backends import default_device
from graphla.expression import Operand
from graphla.program import ir, scalars
from graphla.program.entering import classify
from graphla.program.evaluating import Evaluator
from graphla.program.notation import MASKS, VECTORS
from graphla.program.reasons import Reason, refuse
from graphla.program.values import (
    KINDS_OF,
    NONE,
    ONE,
    TRUE,
    ZERO,
    Array,
    Infix,
    Items,
    Iterator,
    List,
    Method,
    Number,
    OptionalNumber,
    Range,
    Static,
    Target,
    Typed,
    Uncertain,
    VectorObject,
    View,
    constant,
)
from graphla.sparse import Vector
from graphla.sparse.vector import VectorExpression
from semirings import binary, monoid
from semirings.dtypes import BOOL, FP64, INT64, DataType
from semirings.semiring import plus_times

ITEMS = 64
"""The maximum number of items of a tuple over which a loop may iterate."""


class Caller(Evaluator):
    """Evaluates calls."""

    def evaluate_call(self, node: ast.Call) -> Any:
        if any(isinstance(arg, ast.Starred) for arg in node.args) or any(
            keyword.arg is None for keyword in node.keywords
        ):
            refuse(Reason.SYNTAX, node, name="a call with * or **")
        if isinstance(node.func, ast.Attribute):
            value = self.evaluate(node.func.value)
            if not isinstance(value, Static):
                return self.call_method(value, node.func.attr, node)
            function = self.static_attribute(value, node.func.attr, node.func)
        else:
            function = self.evaluate(node.func)
        if isinstance(function, Method):
            return self.call_method(function.value, function.name, node)
        hint, self.hint = self.hint, None
        args = [self.evaluate_any(arg) for arg in node.args]
        if not (isinstance(function, Static) and _takes_any_number(function.value)):
            args = [self.settle(arg, *args) for arg in args]
        options = {str(each.arg): self.evaluate(each.value) for each in node.keywords}
        self.hint = hint
        if isinstance(function, VectorObject):
            return self.target(function, args, options, node)
        if isinstance(function, Static):
            return self.call(function.value, args, options, node)
        return refuse(Reason.CALL, node.func)

    def call(self, function: Any, args: list[Any], options: dict[str, Any], node: Any) -> Any:
        """Return function(*args, **options), for a known function."""
        if hasattr(function, "opclass") and hasattr(function, "name"):
            every = [*args, *options.values()]
            if any(isinstance(x, (*VECTORS, View)) for x in every):
                return self.call_operator(function, args, options, node)
            return self.call_static(function, args, options, node)
        if _is_hashable(function) and function in _INPUT_OUTPUT:
            refuse(Reason.INPUT_OUTPUT, node.func)
        special = _CALLS.get(function) if _is_hashable(function) else None
        if special is not None:
            return special(self, args, options, node)
        if getattr(math, getattr(function, "__name__", ""), None) is function:
            if args and all(isinstance(x, Items) for x in args):
                return self.call_of_tuples(function, args, options, node)
            given = [x.scalar if isinstance(x, Uncertain) else self.number(x, node) for x in args]
            if function in (math.modf, math.frexp) and len(given) == 1 and not options:
                of = scalars.parts if function is math.modf else scalars.mantissa
                return Items(tuple(map(Number, of(self, *given))))
            if function is math.isclose and len(given) == 2:
                keys = {"rel_tol": constant(1e-9), "abs_tol": ZERO}
                keys |= {key: self.number(x, node) for key, x in options.items()}
                if len(keys) == 2:
                    return Number(scalars.is_close(self, *given, *keys.values()))
            if not options:
                with self.checks(node):
                    found = scalars.mathematical(self, function.__name__, given)
                if found is not None:
                    return Number(found)
            refuse(Reason.CALL, node.func)
        module = getattr(function, "__module__", None) or ""
        if module.partition(".")[0] in ("semirings", "graphla"):
            name = getattr(function, "__name__", "")
            is_select = name in ("value", "row", "column", "index") and len(args) == 1
            if is_select and isinstance(args[0], VECTORS):
                return self.select_by(args[0], name, node)
            return self.call_static(function, args, options, node)
        return refuse(Reason.CALL, node.func)

    def call_of_tuples(
        self, function: Any, args: list[Any], options: dict[str, Any], node: Any
    ) -> Any:
        """Return math.prod(x, start=...) or math.dist(x, y), for tuples of numbers."""
        if function is math.prod and len(args) == 1 and options.keys() <= {"start"}:
            found = options.get("start", Number(ONE))
            for each in args[0].values:
                found = self.binary("*", found, each, node)
            return found
        if function is math.dist and len(args) == 2 and not options:
            x, y = (each.values for each in args)
            if len(x) != len(y):
                text = "both points must have the same number of dimensions"
                self.fails(node, "ValueError", text)
            sides = [self.binary("-", *pair, node) for pair in zip(x, y, strict=True)]
            return Number(scalars.hypotenuse(self, *(self.number(each, node) for each in sides)))
        return refuse(Reason.CALL, node.func)

    def call_static(
        self, function: Any, args: list[Any], options: dict[str, Any], node: Any
    ) -> Any:
        """Call a function of the library during the trace. All arguments must be known objects."""
        for x in (*args, *options.values()):
            if not isinstance(x, Static) and not (
                isinstance(x, Number) and isinstance(x.scalar, ir.Constant)
            ):
                refuse(Reason.CALL, node.func)
        given = [self.static(x, node) for x in args]
        named = {name: self.static(x, node) for name, x in options.items()}
        with self.checks(node):
            found = function(*given, **named)
        if isinstance(found, Operand):
            refuse(Reason.CALL, node.func)
        return self.known(found)

    def call_method(self, value: Any, name: str, node: ast.Call) -> Any:
        """Return value.name(...)."""
        if isinstance(value, List):
            return self.list_method(value, name, node)
        hint, self.hint = self.hint, None
        args = [self.evaluate(arg) for arg in node.args]
        options = {str(each.arg): self.evaluate(each.value) for each in node.keywords}
        self.hint = hint
        if isinstance(value, VECTORS):
            if isinstance(value, Infix) and value.dim is None:
                value = self.by_default(value, node)
                return self.scalar_method(value, name, args, options, node)
            return self.vector_method(value, name, args, options, node)
        if isinstance(value, Target) and name == "update" and len(args) == 1 and not options:
            self.write(value, args[0], node)
            return NONE
        if isinstance(value, View):
            return self.matrix_method(value, name, args, options, node)
        if isinstance(value, MASKS) and name == "new":
            found = self.bind_arguments(
                ("dtype", "complement", "mask", "name"), args, options, node, keywords=1
            )
            dtype = self.optional_static(found["dtype"], node)
            complement = bool(self.optional_static(found["complement"], node))
            return self.new_of_mask(value, dtype, complement, found["mask"], node)
        if isinstance(value, Typed):
            return self.scalar_method(value, name, args, options, node)
        if isinstance(value, Number | OptionalNumber) and name == "is_integer" and not args:
            scalar = self.leaf(self.number(value, node))
            if scalar.dtype is not FP64:
                return Number(TRUE)
            finite = ir.Call("math.isfinite", (scalar,), BOOL)
            near = scalars.where(finite, scalar, constant(0.0))
            whole = ir.Call("float", (ir.Call("math.floor", (near,), INT64),), FP64)
            return Number(scalars.both(finite, ir.Call("eq", (scalar, whole), BOOL)))
        return refuse(Reason.CALL, node.func)

    def bind_arguments(
        self,
        names: tuple[str, ...],
        args: list[Any],
        options: dict[str, Any],
        node: Any,
        keywords: int | None = None,
    ) -> dict[str, Any]:
        """Return the arguments of a call by name. A missing argument and the argument None both
        become None.

        If `keywords` is given, at most this many arguments may be positional.
        """
        limit = len(names) if keywords is None else keywords
        if len(args) > limit:
            self.fails(node, "TypeError", f"{limit} positional arguments are allowed")
        found = dict(zip(names, args, strict=False))
        for name, value in options.items():
            if name not in names or name in found:
                self.fails(node, "TypeError", f"unexpected argument {name!r}")
            found[name] = value
        return {name: None if found.get(name) == NONE else found.get(name) for name in names}

    def optional_static(self, value: Any, node: Any) -> Any:
        """Return the Python object of an argument, or None if the argument is missing."""
        return None if value is None else self.static(value, node)

    # --- methods ----------------------------------------------------------------------------------

    def vector_method(
        self, value: Any, name: str, args: list[Any], options: dict[str, Any], node: ast.Call
    ) -> Any:
        """Return `value.name(...)` for a vector or a vector expression."""
        bind = self.bind_arguments
        if name == "new" and not isinstance(value, VectorObject):
            found = bind(("dtype", "mask", "input_mask", "name"), args, options, node, 1)
            if found["input_mask"] is not None:
                refuse(Reason.OPERATION, node, name="an input_mask")
            dtype = self.optional_static(found["dtype"], node)
            return self.new(value, dtype, found["mask"], node)
        if name == "dup":
            found = bind(("dtype", "clear", "mask", "name"), args, options, node, 1)
            dtype = self.optional_static(found["dtype"], node)
            if self.optional_static(found["clear"], node):
                wanted = self.dtype_of(value, node) if dtype is None else self.lookup(dtype, node)
                return self.new_vector(wanted, self.dims_of(value, node)[0])
            return self.new(value, dtype, found["mask"], node)
        if name in ("vxm", "inner"):
            found = bind(("other", "op"), args, options, node)
            wanted = View if name == "vxm" else VECTORS
            if not isinstance(found["other"], wanted):
                kind = "Matrix" if name == "vxm" else "Vector"
                text = f"{name} needs a {kind}, not a {self.kind(found['other'])}"
                self.fails(node, "TypeError", text)
            op = plus_times if found["op"] is None else self.static(found["op"], node)
            return self.product(value, found["other"], op, node)
        if name in ("ewise_add", "ewise_mult"):
            found = bind(("other", "op"), args, options, node)
            default = monoid.plus if name == "ewise_add" else binary.times
            op = default if found["op"] is None else self.static(found["op"], node)
            method = self.ewise_add if name == "ewise_add" else self.ewise_mult
            return method(value, found["other"], op, node)
        if name == "ewise_union":
            found = bind(("other", "op", "left_default", "right_default"), args, options, node)
            op = self.static(found["op"], node)
            sides = found["left_default"], found["right_default"]
            return self.ewise_union(value, found["other"], op, *sides, node)
        if name == "apply":
            found = bind(("op", "right", "left"), args, options, node, 2)
            op = self.static(found["op"], node)
            return self.apply(value, op, found["left"], found["right"], node)
        if name == "select":
            found = bind(("op", "thunk"), args, options, node)
            return self.select(value, found["op"], found["thunk"], node)
        if name == "reduce":
            found = bind(("op", "allow_empty"), args, options, node, 1)
            op = monoid.plus if found["op"] is None else self.static(found["op"], node)
            allowed = found["allow_empty"]
            is_allowed = True if allowed is None else bool(self.static(allowed, node))
            return self.reduce(value, op, is_allowed, node)
        if name == "isequal":
            found = bind(("other", "check_dtype"), args, options, node, 1)
            check = bool(self.optional_static(found["check_dtype"], node))
            return self.is_equal(value, found["other"], check, node)
        if name == "get":
            found = bind(("index", "default"), args, options, node)
            element = self.element(value, self.whole(found["index"]), node)
            return self.get(element, found["default"], node)
        if name == "wait":
            return value
        if isinstance(value, VectorObject) and name == "clear" and not args and not options:
            self.clear(value, node)
            return NONE
        if isinstance(value, VectorObject) and name == "update" and len(args) == 1 and not options:
            self.write(Target(value, None, None, False), args[0], node)
            return NONE
        if not hasattr(Vector if isinstance(value, VectorObject) else VectorExpression, name):
            text = f"a {self.kind(value)} has no attribute {name!r}"
            self.fails(node, "AttributeError", text)
        return refuse(Reason.OPERATION, node, name=f"`.{name}(...)` of a vector")

    def whole(self, value: Any) -> Any:
        """Return an index as `operator.index` does, which converts a bool to an int."""
        if isinstance(value, Number) and value.scalar.dtype is BOOL:
            return Number(scalars.convert(value.scalar, INT64))
        return value

    def get(self, value: Typed, default: Any, node: Any) -> Any:
        """Return the value of a Scalar, or a default if it is empty."""
        if value.presence is True:
            return Number(value.scalar)
        if default is None:
            return OptionalNumber(value.scalar, value.present)
        if not isinstance(default, Number):
            if self.decide(value.present):
                return Number(value.scalar)
            return default
        return scalars.value_or(self, value.present, value.scalar, default.scalar)

    def scalar_method(
        self, value: Typed, name: str, args: list[Any], options: dict[str, Any], node: ast.Call
    ) -> Any:
        """Return `value.name(...)` for a Scalar or a NumPy number."""
        if value.is_numpy:
            if name == "item" and not args:
                return Number(value.scalar)
            refuse(Reason.OPERATION, node, name=f"`.{name}(...)` of a NumPy number")
        if name == "get":
            found = self.bind_arguments(("default",), args, options, node)
            return self.get(value, found["default"], node)
        if name in ("new", "dup"):
            found = self.bind_arguments(
                ("dtype", "is_cscalar", "mask", "clear", "name"), args, options, node, 1
            )
            if any(found[each] is not None for each in ("dtype", "mask", "clear")):
                refuse(Reason.OPERATION, node, name=f"`.{name}` of a Scalar with these arguments")
            return value
        return refuse(Reason.OPERATION, node, name=f"`.{name}(...)` of a Scalar")

    def matrix_method(
        self, value: View, name: str, args: list[Any], options: dict[str, Any], node: ast.Call
    ) -> Any:
        """Return `value.name(...)` for a matrix."""
        if name == "mxv":
            found = self.bind_arguments(("other", "op"), args, options, node)
            if not isinstance(found["other"], VECTORS):
                text = f"mxv needs a Vector, not a {self.kind(found['other'])}"
                self.fails(node, "TypeError", text)
            op = plus_times if found["op"] is None else self.static(found["op"], node)
            return self.product(value, found["other"], op, node)
        if name in ("reduce_rowwise", "reduce_columnwise"):
            found = self.bind_arguments(("op",), args, options, node)
            op = monoid.plus if found["op"] is None else self.static(found["op"], node)
            return self.reduce_lines(value, op, name == "reduce_columnwise", node)
        if name == "wait":
            return value
        return refuse(Reason.MATRIX_RESULT, node)

    # --- built-in functions -----------------------------------------------------------------------

    def call_convert(self, dtype: DataType, args: list[Any], options: Any, node: Any) -> Number:
        """Return bool(x), int(x) or float(x)."""
        if options or len(args) != 1:
            refuse(Reason.CALL, node.func)
        (value,) = args
        if dtype is BOOL:
            return Number(self.truth(value, node))
        if isinstance(value, Static) and isinstance(value.value, str):
            with self.checks(node):
                return Number(constant(KINDS_OF[dtype](value.value)))
        if isinstance(value, Infix) and value.dim is None:
            value = self.by_default(value, node)
        if isinstance(value, Uncertain):
            scalar = value.scalar
        elif isinstance(value, Typed):
            self.require_value(value, node)
            scalar = value.scalar
        else:
            scalar = self.number(value, node)
        with self.checks(node):
            return Number(scalars.convert(scalar, dtype))

    def call_extreme(self, name: str, args: list[Any], options: Any, node: Any) -> Number:
        """Return min(...) or max(...)."""
        if options or not args:
            refuse(Reason.CALL, node.func)
        if len(args) == 1:
            if not isinstance(args[0], Items) or not args[0].values:
                refuse(Reason.CALL, node.func)
            args = list(args[0].values)
        found, *others = (self.number(x, node) for x in args)
        for other in others:
            found = scalars.extreme(self, name, found, other)
        return Number(found)

    def call_abs(self, args: list[Any], options: Any, node: Any) -> Any:
        """Return abs(x)."""
        (value,) = args
        if isinstance(value, VECTORS):
            return self.apply(value, abs, None, None, node)
        with self.checks(node):
            return Number(scalars.absolute(self.number(value, node)))

    def call_round(self, args: list[Any], options: Any, node: Any) -> Number:
        """Return round(x), or round(x, digits) for an int."""
        found = self.bind_arguments(("number", "ndigits"), args, options, node)
        scalar, digits = self.number(found["number"], node), found["ndigits"]
        if digits is not None and (scalar.dtype is FP64 or self.static(digits, node) < 0):
            refuse(Reason.OPERATION, node, name="`round` to a number of decimal digits")
        with self.checks(node):
            return Number(scalars.round_number(scalar))

    def call_len(self, args: list[Any], options: Any, node: Any) -> Number:
        """Return len(x)."""
        (value,) = args
        if isinstance(value, List | Array):
            return Number(self.length(value))
        if isinstance(value, Items):
            return Number(constant(len(value.values)))
        if isinstance(value, Static):
            with self.checks(node):
                found = len(value.value)
            if value.path is not None:
                self.fix((*value.path, "len()"))
            return Number(constant(found))
        return refuse(Reason.CALL, node.func)

    def call_range(self, args: list[Any], options: Any, node: Any) -> Range:
        """Return range(...)."""
        bounds = []
        for value in args:
            if isinstance(value, Typed) and value.dtype.is_integer:
                self.require_value(value, node)
                bounds.append(value.scalar)
                continue
            scalar = self.number(value, node)
            if scalar.dtype is FP64:
                text = "'float' object cannot be interpreted as an integer"
                self.fails(node, "TypeError", text)
            bounds.append(scalars.convert(scalar, INT64))
        if not 1 <= len(bounds) <= 3 or options:
            refuse(Reason.CALL, node.func)
        start, stop = (ZERO, bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else ONE
        if step == ZERO:
            self.fails(node, "ValueError", "range() arg 3 must not be zero")
        return Range(start, stop, step.value if isinstance(step, ir.Constant) else step)

    def call_pow(self, args: list[Any], options: Any, node: Any) -> Any:
        """Return pow(x, y)."""
        if len(args) != 2 or options:
            refuse(Reason.CALL, node.func)
        x, y = args
        return self.binary("**", x, y, node)

    def call_sum(self, args: list[Any], options: Any, node: Any) -> Any:
        """Return sum(x) or sum(x, start), for a tuple."""
        if not 1 <= len(args) <= 2 or options or not isinstance(args[0], Items):
            refuse(Reason.CALL, node.func)
        found = args[1] if len(args) == 2 else Number(ZERO)
        for each in args[0].values:
            found = self.binary("+", found, each, node)
        return found

    def call_divmod(self, args: list[Any], options: Any, node: Any) -> Items:
        """Return divmod(x, y)."""
        x, y = args
        return Items((self.binary("//", x, y, node), self.binary("%", x, y, node)))

    def call_reversed(self, args: list[Any], options: Any, node: Any) -> Iterator:
        """Return reversed(x)."""
        (value,) = args
        if isinstance(value, List | Array):
            last = scalars.call("sub", INT64, self.length(value), ONE)
            return Iterator(value, last, -1)
        if isinstance(value, Items):
            return Iterator(Items(value.values[::-1]))
        if isinstance(value, Range) and isinstance(value.step, int) and value.stop is not None:
            size, step = abs(value.step), constant(value.step)
            distance = scalars.call("sub", INT64, value.stop, value.start)
            if value.step < 0:
                distance = scalars.call("neg", INT64, distance)
            distance = scalars.call("sub", INT64, distance, ONE)
            turns = scalars.call("floordiv", INT64, distance, constant(size))
            last = scalars.call("mul", INT64, turns, step)
            last = scalars.call("add", INT64, value.start, last)
            stop = scalars.call("sub", INT64, value.start, step)
            # If the range is empty, `turns` is -1, so the reversed range begins and ends at `stop`.
            return Iterator(Range(self.leaf(last), self.leaf(stop), -value.step))
        return refuse(Reason.ITERABLE, node, kind="a reversed sequence of this kind")

    def call_enumerate(self, args: list[Any], options: Any, node: Any) -> Iterator:
        """Return enumerate(x)."""
        found = self.bind_arguments(("iterable", "start"), args, options, node)
        start = ZERO if found["start"] is None else self.number(found["start"], node)
        counter = Iterator(Range(start, None, 1))
        inner = self.iterator(found["iterable"], node)
        return Iterator(Items((counter, inner)), "zip")

    def call_zip(self, args: list[Any], options: Any, node: Any) -> Iterator:
        """Return zip(...)."""
        if options or not args:
            refuse(Reason.CALL, node.func)
        return Iterator(Items(tuple(self.iterator(x, node) for x in args)), "zip")

    def call_vector(self, args: list[Any], options: Any, node: Any) -> VectorObject:
        """Return Vector(dtype, size)."""
        found = self.bind_arguments(("dtype", "size", "name"), args, options, node, 2)
        dtype = (
            FP64 if found["dtype"] is None else self.lookup(self.static(found["dtype"], node), node)
        )
        size = found["size"] or Number(ZERO)
        return self.new_vector(dtype, self.size_of(size, node))

    def call_from_scalar(self, args: list[Any], options: Any, node: Any) -> VectorObject:
        """Return Vector.from_scalar(value, size)."""
        found = self.bind_arguments(("value", "size", "dtype", "name"), args, options, node)
        dim = self.size_of(found["size"], node)
        dtype = self.optional_static(found["dtype"], node)
        return self.from_scalar(found["value"], dim, dtype, node)

    def size_of(self, value: Any, node: Any) -> ir.Dim:
        """Return the dimension of a new vector, which must be on the device of the operands."""
        if self.device not in (None, default_device()):
            text = f"the operands are on {self.device} and on {default_device()}"
            self.fails(node, "DeviceMismatch", text)
        scalar = value.scalar if isinstance(value, Number) else None
        if isinstance(scalar, ir.Size):
            return scalar.dim
        if isinstance(scalar, ir.Constant) and scalar.value in self.sizes:
            dim = self.dim(scalar.value)
            self.fix(self.paths["dims"][dim.index])
            return dim
        if isinstance(scalar, ir.Var) and scalar in self.arguments and scalar in self.stable:
            with self.checks(node):
                return self.dim_of_argument(scalar)
        name = "a new vector whose size is not that of a vector or matrix of the loop"
        return refuse(Reason.OPERATION, node, name=name)

    def call_isinstance(self, args: list[Any], options: Any, node: Any) -> Number:
        """Return isinstance(x, kinds)."""
        value, kinds = args
        examples = {BOOL: True, INT64: 1, FP64: 1.0}
        if isinstance(value, Number):
            example: Any = examples[value.scalar.dtype]
            return Number(constant(isinstance(example, self.static(kinds, node))))
        if isinstance(value, VectorObject):
            kind = self.static(kinds, node)
            every = kind if isinstance(kind, tuple) else (kind,)
            return Number(constant(any(issubclass(Vector, each) for each in every)))
        if isinstance(value, Static):
            return Number(constant(isinstance(value.value, self.static(kinds, node))))
        return refuse(Reason.CALL, node.func)

    # --- iteration --------------------------------------------------------------------------------

    def iterator(self, value: Any, node: Any) -> Iterator:
        """Return iter(value)."""
        if isinstance(value, Iterator):
            return value
        if isinstance(value, Range):
            if not isinstance(value.step, int):
                zero = scalars.call("eq", BOOL, value.step, ZERO)
                self.fault(zero, "ValueError", "range() arg 3 must not be zero")
            return Iterator(value)
        if isinstance(value, Array | List):
            return Iterator(value, ZERO)
        if isinstance(value, Items):
            if len(value.values) > ITEMS:
                refuse(Reason.ITERABLE, node, kind=f"more than {ITEMS} items")
            return Iterator(value)
        if isinstance(value, Static) and isinstance(value.value, tuple | list):
            return self.iterator(self.sequence(value, node), node)
        return refuse(Reason.ITERABLE, node, kind=f"a {self.kind(value)}")

    def sequence(self, value: Static, node: Any) -> Items:
        """Return the items of a known list or tuple, as constants of the program."""
        if not all(classify(item) in ("static", "number") for item in value.value):
            refuse(Reason.ITERABLE, node, kind="a list or a tuple with objects of this kind")
        if value.path is not None:
            self.fix(value.path)
        return Items(tuple(self.known(item) for item in value.value))

    def has_next(self, iterator: Iterator) -> ir.Scalar:
        """Return whether there is another item."""
        source = iterator.source
        if isinstance(source, Range):
            if source.stop is None:
                return TRUE
            up = scalars.call("lt", BOOL, source.start, source.stop)
            down = scalars.call("gt", BOOL, source.start, source.stop)
            if isinstance(source.step, int):
                return up if source.step > 0 else down
            positive = scalars.call("gt", BOOL, source.step, ZERO)
            return scalars.where(positive, up, down)
        if isinstance(source, Items):
            if iterator.position == "zip":
                found: ir.Scalar = TRUE
                for each in source.values:
                    found = scalars.both(found, self.has_next(each))
                return found
            return constant(bool(source.values))
        if iterator.step < 0:
            return scalars.call("ge", BOOL, iterator.position, ZERO)
        return scalars.call("lt", BOOL, iterator.position, self.length(source))

    def next_of(self, iterator: Iterator, node: Any) -> tuple[Any, Iterator]:
        """Return the next item, and an iterator over the remaining items."""
        source = iterator.source
        if isinstance(source, Range):
            step = constant(source.step) if isinstance(source.step, int) else source.step
            following = scalars.call("add", INT64, source.start, step)
            rest = Range(following, source.stop, source.step)
            return Number(source.start), Iterator(rest)
        if isinstance(source, Items):
            if iterator.position == "zip":
                pairs = [self.next_of(each, node) for each in source.values]
                items = Items(tuple(item for item, _ in pairs))
                return items, Iterator(Items(tuple(rest for _, rest in pairs)), "zip")
            return source.values[0], Iterator(Items(source.values[1:]))
        position = iterator.position
        following = scalars.call("add", INT64, position, constant(iterator.step))
        rest = Iterator(source, following, iterator.step)
        if isinstance(source, Array):
            return self.array_item(source, position), rest
        return self.peek(source, position, node), rest

    evaluators: ClassVar[dict[type, Callable[[Any, Any], Any]]] = {
        ast.Constant: Evaluator.evaluate_constant,
        ast.Name: Evaluator.evaluate_name,
        ast.Tuple: Evaluator.evaluate_tuple,
        ast.List: Evaluator.evaluate_list,
        ast.Lambda: Evaluator.evaluate_lambda,
        ast.Attribute: Evaluator.evaluate_attribute,
        ast.Subscript: Evaluator.evaluate_subscript,
        ast.UnaryOp: Evaluator.evaluate_unary,
        ast.BinOp: Evaluator.evaluate_binary,
        ast.Compare: Evaluator.evaluate_compare,
        ast.Call: evaluate_call,
    }


def _takes_any_number(function: Any) -> bool:
    """Return whether a function has the same result for an int as for the equal float."""
    if function in (float, int, bool):
        return True
    name = getattr(function, "__name__", "")
    if getattr(math, name, None) is not function or name == "ldexp":
        return False
    return f"math.{name}" in ir.SCALAR_FUNCTIONS and f"math.{name}" not in ir.OF_INTS


def _is_hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


_CALLS: dict[Any, Callable[..., Any]] = {
    bool: lambda t, *rest: t.call_convert(BOOL, *rest),
    int: lambda t, *rest: t.call_convert(INT64, *rest),
    float: lambda t, *rest: t.call_convert(FP64, *rest),
    min: lambda t, *rest: t.call_extreme("min", *rest),
    max: lambda t, *rest: t.call_extreme("max", *rest),
    abs: Caller.call_abs,
    round: Caller.call_round,
    len: Caller.call_len,
    range: Caller.call_range,
    pow: Caller.call_pow,
    divmod: Caller.call_divmod,
    sum: Caller.call_sum,
    reversed: Caller.call_reversed,
    enumerate: Caller.call_enumerate,
    zip: Caller.call_zip,
    isinstance: Caller.call_isinstance,
    Vector: Caller.call_vector,
    Vector.from_scalar: Caller.call_from_scalar,
}
"""For each function, the method that evaluates calls to it."""

_INPUT_OUTPUT = {print, open, input}
