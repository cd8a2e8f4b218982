"""Evaluate expressions of the user's function with abstract values."""

from __future__ import annotations

import ast
import builtins
import copy
import operator
from collections.abc import Callable
from typing import Any, ClassVar

from graphla.program import ir, scalars
from graphla.program.emitting import AlwaysFaults, lists_of
from graphla.program.entering import Entry, classify
from graphla.program.notation import MASKS, VECTORS
from graphla.program.reasons import Reason, refuse
from graphla.program.values import (
    FALSE,
    KINDS,
    NONE,
    TRUE,
    ZERO,
    Array,
    Infix,
    Items,
    List,
    Maybe,
    Method,
    Number,
    OptionalNumber,
    PendingVector,
    Static,
    Target,
    Typed,
    Uncertain,
    VectorObject,
    View,
    constant,
    scalar_kind,
)
from semirings import unary
from semirings.dtypes import BOOL, FP64, INT64, DataType

SYMBOLS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


class Unknown(Exception):
    """Raised if the tracer needs the dtype of the vectors in a list, or has just found this dtype.

    Attributes:
        number: the number of the list.
        node: the expression that needs the dtype, or from which it was found.
        found: the dtype and the dimension, or None if they are still unknown.
    """

    def __init__(self, number: int, node: Any, found: Any = None):
        super().__init__()
        self.number = number
        self.node = node
        self.found = found


class Evaluator(Entry):
    """Evaluates all expressions except calls."""

    evaluators: ClassVar[dict[type, Callable[[Any, Any], Any]]] = {}
    """The method that evaluates the nodes of each class."""

    def evaluate(self, node: ast.expr) -> Any:
        """Return the value of an expression, which is never `Uncertain`."""
        return self.settle(self.evaluate_any(node))

    def evaluate_any(self, node: ast.expr) -> Any:
        """Return the value of an expression, which may be `Uncertain`."""
        method = self.evaluators.get(type(node))
        if method is None:
            refuse(Reason.SYNTAX, node, name=f"`{ast.unparse(node)}`")
        return method(self, node)

    def evaluate_constant(self, node: ast.Constant) -> Any:
        if classify(node.value) == "number":
            return Number(constant(node.value))
        return Static(node.value)

    def evaluate_name(self, node: ast.Name) -> Any:
        if node.id in self.state.names:
            value = self.state.names[node.id]
            if not isinstance(value, Maybe):
                return value
            if value.bound is not True:
                self.fault(scalars.negation(value.bound), *self.unbound_error(node.id))
            return value.value
        if node.id in self.constants:
            return self.constants[node.id]
        if hasattr(builtins, node.id.partition("@")[0]) and node.id not in self.assigned:
            return Static(getattr(builtins, node.id.partition("@")[0]))
        self.fault(TRUE, *self.unbound_error(node.id))
        raise AlwaysFaults

    def unbound_error(self, name: str) -> tuple[str, str]:
        """Return the name and the message of the exception for a variable without a value."""
        plain = name.partition("@")[0]
        if name in self.loop.outside:
            return "NameError", f"name {plain!r} is not defined"
        text = f"cannot access local variable {plain!r} where it is not associated with a value"
        return "UnboundLocalError", text

    def evaluate_tuple(self, node: ast.Tuple) -> Items:
        return Items(tuple(self.evaluate(item) for item in node.elts))

    def evaluate_list(self, node: ast.List) -> Any:
        if node.elts:
            return Items(tuple(self.evaluate(item) for item in node.elts))
        return self.new_list()

    def evaluate_lambda(self, node: ast.Lambda) -> Static:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        own = {each.arg for each in every}
        found = {}
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id not in own:
                value = self.evaluate_name(ast.copy_location(ast.Name(part.id), node))
                found[part.id] = self.static(value, node)
        renamed = {name: f"free_{k}" for k, name in enumerate(sorted(found))}
        body = copy.deepcopy(node)
        for part in ast.walk(body):
            if isinstance(part, ast.Name):
                part.id = renamed.get(part.id, part.id)
        tree = ast.fix_missing_locations(ast.Expression(body))
        values = {renamed[name]: value for name, value in found.items()}
        return Static(eval(compile(tree, "<lambda>", "eval"), values))

    # --- attributes and items ---------------------------------------------------------------------

    def evaluate_attribute(self, node: ast.Attribute) -> Any:
        value, name = self.evaluate(node.value), node.attr
        if isinstance(value, Static):
            return self.static_attribute(value, name, node)
        if isinstance(value, VECTORS):
            if name in ("S", "V"):
                return self.mask_view(value, name == "S", node)
            if name == "nvals":
                return self.count(value, node)
            if name == "size":
                return Number(ir.Size(self.dims_of(value, node)[0], INT64))
            if name == "value" and isinstance(value, Infix) and value.dim is None:
                return self.unwrap(self.by_default(value, node))
        if isinstance(value, View):
            if name in ("nrows", "ncols"):
                return Number(ir.Size(value.dims[name == "ncols"], INT64))
            if name == "T":
                return View(value.matrix, not value.is_transposed)
            if name in ("S", "V"):
                refuse(Reason.OPERATION, node, name="a mask that is a matrix")
        if isinstance(value, (*VECTORS, View)):
            if name == "shape":
                dims = self.dims_of(value, node)
                return Items(tuple(Number(ir.Size(dim, INT64)) for dim in dims))
            if name == "ndim":
                return Number(constant(2 if isinstance(value, View) else 1))
        if name == "dtype" and isinstance(value, (*VECTORS, View, Typed)):
            return Static(self.dtype_of(value, node))
        if name == "device" and isinstance(value, (*VECTORS, View)):
            return Static(self.device)
        if isinstance(value, Typed) and not value.is_numpy:
            if name == "value":
                return self.unwrap(value)
            if name == "is_empty":
                return Number(scalars.negation(value.present))
        if isinstance(value, (*VECTORS, View, Typed, List, *MASKS, Target)):
            return Method(value, name)
        return refuse(Reason.OPERATION, node, name=f"`{ast.unparse(node)}`")

    def unwrap(self, value: Typed) -> Any:
        """Return the Python number of a Scalar, or None if the Scalar is empty."""
        if value.presence is True:
            return Number(value.scalar)
        return OptionalNumber(value.scalar, value.present)

    def static_attribute(self, value: Static, name: str, node: Any) -> Any:
        """Return an attribute of a known object."""
        with self.checks(node):
            try:
                found = getattr(value.value, name)
            except AttributeError as error:
                raise TypeError(str(error)) from None
        path = None if value.path is None else (*value.path, name)
        kind = classify(found)
        if kind == "number":
            if path is None or is_known_module(getattr(value.value, "__name__", "")):
                if path is None and not is_known_module(type(value.value).__module__):
                    refuse(Reason.PYTHON_OBJECT, node, kind="an attribute of this object")
                return Number(constant(found))
            return self.attribute_argument(path, KINDS[type(found)])
        if kind not in ("static", "array"):
            refuse(Reason.PYTHON_OBJECT, node, kind="an attribute of another object")
        return NONE if found is None else Static(found, path)

    def evaluate_subscript(self, node: ast.Subscript) -> Any:
        return self.item(self.evaluate(node.value), node)

    def item(self, value: Any, node: ast.Subscript) -> Any:
        """Return value[...]."""
        if isinstance(value, VECTORS):
            return self.item_of_vector(value, node)
        if isinstance(value, Target):
            return self.at(value, node.slice)
        if isinstance(value, View):
            refuse(Reason.OPERATION, node, name="a part of a matrix")
        index = self.evaluate(node.slice)
        if isinstance(value, Static):
            return self.item_of_static(value, self.static(index, node), node)
        if isinstance(value, Items):
            with self.checks(node):
                return value.values[self.static(index, node)]
        if isinstance(value, List | Array):
            if not isinstance(index, Number) or index.scalar.dtype is FP64:
                self.fails(node, "TypeError", "list indices must be integers or slices")
            position = scalars.convert(index.scalar, INT64)
            if isinstance(value, List):
                return self.peek(value, position, node)
            position, count = self.leaf(position), self.length(value)
            outside = scalars.either(
                scalars.call("ge", BOOL, position, count),
                scalars.call("lt", BOOL, position, scalars.call("neg", INT64, count)),
            )
            self.fault(outside, "IndexError", "list index out of range")
            if not (isinstance(position, ir.Constant) and position.value >= 0):
                below = scalars.call("lt", BOOL, position, ZERO)
                end = scalars.call("add", INT64, position, count)
                position = self.leaf(scalars.where(below, end, position))
            return self.array_item(value, position)
        return refuse(Reason.OPERATION, node, name=f"`{ast.unparse(node)}`")

    def item_of_static(self, value: Static, index: Any, node: ast.Subscript) -> Any:
        """Return an item of a known object."""
        items = self.content(value, node)
        is_operator = type(items).__module__.partition(".")[0] == "semirings"
        if not (isinstance(items, (tuple, list, dict, str, bytes)) or is_operator):
            refuse(Reason.PYTHON_OBJECT, node, kind="an item of this object")
        with self.checks(node):
            found = items[index]
        if classify(found) not in ("static", "number", "array"):
            refuse(Reason.PYTHON_OBJECT, node, kind=f"an item of a {type(items).__name__}")
        path = None
        if value.path is not None and isinstance(items, (tuple, list)):
            path = (*value.path, str(range(len(items))[index]))
        return self.known(found, path)

    def content(self, value: Static, node: Any) -> Any:
        """Return a known object. Its content becomes part of the program as constants."""
        found = value.value
        if isinstance(found, (tuple, list, dict, set)):
            if value.path is not None:
                self.fix(value.path)
            return found
        kind = type(found)
        is_plain = all(
            getattr(kind, name, None) in (None, getattr(object, name, None))
            for name in ("__eq__", "__bool__", "__len__")
        )
        if not (is_plain or is_known_module(kind.__module__)):
            refuse(Reason.PYTHON_OBJECT, node, kind=f"a {kind.__name__}")
        return found

    def item_of_vector(self, value: Any, node: ast.Subscript) -> Any:
        """Return x[i], x[q] or x[:]."""
        part = node.slice
        if isinstance(part, ast.Constant) and part.value is Ellipsis:
            return self.term(value, node)
        if isinstance(part, ast.Slice):
            if part.lower or part.upper or part.step:
                refuse(Reason.OPERATION, node, name="a slice of a vector")
            return self.term(value, node)
        index = self.evaluate(part)
        if isinstance(index, VECTORS):
            return self.gather(value, index, node)
        return self.element(value, index, node)

    def array_item(self, array: Array, index: ir.Scalar) -> Any:
        """Return an item of an array or a list of numbers."""
        of = array.array
        item = ir.Element(of, index, scalar_kind(of.dtype))
        return Typed(item, True, of.dtype, True) if array.is_numpy else Number(item)

    # --- operators --------------------------------------------------------------------------------

    def evaluate_unary(self, node: ast.UnaryOp) -> Any:
        value = self.evaluate_any(node.operand)
        if isinstance(node.op, ast.Not):
            return Number(scalars.negation(self.truth(value, node)))
        value = self.settle(value)
        if isinstance(value, MASKS):
            if isinstance(node.op, ast.Invert):
                return self.invert_mask(value)
            self.fails(node, "TypeError", "bad operand type for a mask")
        if isinstance(value, (*VECTORS, View)):
            self.refuse_matrix(node, value)
            if isinstance(node.op, ast.USub):
                return self.negate(value, node)
            if isinstance(node.op, ast.Invert):
                return self.invert(value, node)
            return self.apply(value, unary.identity, None, None, node)
        scalar = self.number(value, node)
        with self.checks(node):
            if isinstance(node.op, ast.USub):
                return Number(scalars.negative(scalar))
            if isinstance(node.op, ast.UAdd):
                return Number(scalars.convert(scalar, INT64) if scalar.dtype is BOOL else scalar)
            if scalar.dtype is FP64:
                raise TypeError("bad operand type for unary ~: 'float'")
            return Number(scalars.call("invert", INT64, scalars.convert(scalar, INT64)))

    def evaluate_binary(self, node: ast.BinOp) -> Any:
        symbol = SYMBOLS[type(node.op)]
        if symbol == "<<":
            left = self.target_of(node.left)
            if isinstance(left, Target):
                self.write(left, self.evaluate_any(node.right), node)
                return NONE
        else:
            left = self.evaluate_any(node.left)
        return self.binary(symbol, left, self.evaluate_any(node.right), node)

    def binary(self, symbol: str, left: Any, right: Any, node: Any) -> Any:
        """Return `left symbol right`."""
        if isinstance(left, Uncertain) or isinstance(right, Uncertain):
            if all(isinstance(x, Number | Uncertain) for x in (left, right)):
                with self.checks(node):
                    found = scalars.uncertain_arithmetic(self, symbol, left, right)
                if found is not None:
                    return found
            left, right = self.settle(left, right), self.settle(right, left)
        if isinstance(left, MASKS) or isinstance(right, MASKS):
            if symbol in ("&", "|"):
                return self.join_masks(symbol, left, right, node)
            self.fails(node, "TypeError", f"unsupported operand type(s) for {symbol}: 'Mask'")
        for x in (left, right):
            if isinstance(x, (*VECTORS, View)):
                if symbol in ("<<", ">>"):
                    self.fails(node, "TypeError", f"unsupported operand type(s) for {symbol}")
                return self.arithmetic(symbol, left, right, node)
        x, y = self.number(left, node), self.number(right, node)
        with self.checks(node):
            if symbol == "@":
                raise TypeError("unsupported operand type(s) for @: numbers")
            return Number(scalars.arithmetic(self, symbol, x, y))

    def evaluate_compare(self, node: ast.Compare) -> Any:
        (op,) = node.ops
        left, right = self.evaluate_any(node.left), self.evaluate_any(node.comparators[0])
        is_order = type(op) in SYMBOLS
        if is_order and all(isinstance(x, Number | Uncertain) for x in (left, right)):
            return Number(scalars.compare(self, SYMBOLS[type(op)], left.scalar, right.scalar))
        left, right = self.settle(left), self.settle(right)
        if isinstance(op, ast.Is | ast.IsNot):
            found = self.is_same(left, right, node)
            return Number(scalars.negation(found) if isinstance(op, ast.IsNot) else found)
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(right, VECTORS):
                refuse(Reason.OPERATION, node, name="`in`")
            found = self.element(right, left, node).present
            return Number(scalars.negation(found) if isinstance(op, ast.NotIn) else found)
        symbol = SYMBOLS[type(op)]
        if any(isinstance(x, (*VECTORS, View)) for x in (left, right)):
            return self.arithmetic(symbol, left, right, node)
        if any(isinstance(x, Static) for x in (left, right)):
            return self.compare_static(symbol, left, right, node)
        if symbol in ("==", "!=") and any(isinstance(x, OptionalNumber) for x in (left, right)):
            return self.compare_perhaps(symbol, left, right, node)
        x, y = self.number(left, node), self.number(right, node)
        with self.checks(node):
            return Number(scalars.compare(self, symbol, x, y))

    def compare_perhaps(self, symbol: str, left: Any, right: Any, node: Any) -> Number:
        """Return `left == right` or `left != right`, where each side may be None."""
        sides = [x.present if isinstance(x, OptionalNumber) else TRUE for x in (left, right)]
        values = [x.scalar for x in (left, right)]
        equal = scalars.both(scalars.both(*sides), scalars.compare(self, "==", *values))
        none = scalars.both(*(scalars.negation(x) for x in sides))
        found = scalars.either(equal, none)
        return Number(found if symbol == "==" else scalars.negation(found))

    def compare_static(self, symbol: str, left: Any, right: Any, node: Any) -> Number:
        """Return the comparison of two known objects, or of a number with a known object."""
        if isinstance(left, Static) and isinstance(right, Static):
            compare = getattr(operator, scalars.COMPARISONS[symbol])
            one, other = self.content(left, node), self.content(right, node)
            with self.checks(node):
                return Number(constant(bool(compare(one, other))))
        if symbol in ("==", "!="):
            other, known = (left, right) if isinstance(right, Static) else (right, left)
            if known.value is None and isinstance(other, OptionalNumber):
                present = other.present
                return Number(scalars.negation(present) if symbol == "==" else present)
            if isinstance(other, Number | VectorObject | List) and known.value is None:
                return Number(constant(symbol == "!="))
        return refuse(Reason.OPERATION, node, name="a comparison with this object")

    def is_same(self, left: Any, right: Any, node: Any) -> ir.Scalar:
        """Return `left is right`."""
        for one, other in ((left, right), (right, left)):
            if one == NONE:
                if isinstance(other, OptionalNumber):
                    return scalars.negation(other.present)
                return constant(other == NONE)
        if isinstance(left, Static) and isinstance(right, Static):
            if any(type(x.value) in (tuple, int) and x.path for x in (left, right)):
                refuse(Reason.OPERATION, node, name="`is` between tuples or large numbers")
            return constant(left.value is right.value)
        if isinstance(left, VectorObject) and isinstance(right, VectorObject):
            if left == right or not all(
                self.state.objects[each.number].is_shared for each in (left, right)
            ):
                return constant(left == right)
            refuse(Reason.OPERATION, node, name="`is` between vectors that lists contain")
        if isinstance(left, Number) and isinstance(right, Number):
            both = left.scalar.dtype, right.scalar.dtype
            if both == (BOOL, BOOL):
                return scalars.compare(self, "==", left.scalar, right.scalar)
            if BOOL in both:
                return FALSE
        return refuse(Reason.OPERATION, node, name="`is` between these values")

    def truth(self, value: Any, node: Any) -> ir.Scalar:
        """Return bool(value)."""
        if isinstance(value, Number | Uncertain):
            return scalars.truth(value.scalar)
        if isinstance(value, OptionalNumber | Typed):
            return scalars.both(value.present, scalars.truth(value.scalar))
        if isinstance(value, List | Array):
            return scalars.call("ne", BOOL, self.length(value), ZERO)
        if isinstance(value, Items):
            return constant(bool(value.values))
        if isinstance(value, Infix) and value.dim is None:
            return self.truth(self.by_default(value, node), node)
        if isinstance(value, Static):
            found = self.content(value, node)
            with self.checks(node):
                return constant(bool(found))
        if isinstance(value, (*VECTORS, View)):
            text = (
                f"a {self.kind(value)} is neither true nor false: use .nvals, .isequal(other) or "
                ".reduce"
            )
            self.fails(node, "TypeError", text)
        if isinstance(value, MASKS):
            text = "a mask is neither true nor false; ask the matrix for its `.nvals`"
            self.fails(node, "TypeError", text)
        return refuse(Reason.OPERATION, node, name="the truth value of this expression")

    def number(self, value: Any, node: Any) -> ir.Scalar:
        """Return the scalar of a Python number."""
        value = self.settle(value)
        if isinstance(value, Number):
            return value.scalar
        if isinstance(value, OptionalNumber):
            missing = scalars.negation(value.present)
            self.fault(missing, "TypeError", "unsupported operand type: 'NoneType'")
            return value.scalar
        if isinstance(value, Typed) and value.is_numpy:
            hint = "arithmetic of NumPy numbers; convert them by int(x) or float(x) first"
            refuse(Reason.OPERATION, node, name=hint)
        if isinstance(value, Typed) or (isinstance(value, Infix) and value.dim is None):
            hint = "arithmetic of Scalars; write `.value` or `.get(0)` after the reduction"
            refuse(Reason.OPERATION, node, name=hint)
        return refuse(
            Reason.PYTHON_OBJECT, node, kind=f"a {self.kind(value)} where a number is needed"
        )

    # --- the left side of `<<` --------------------------------------------------------------------

    def target_of(self, node: ast.expr) -> Any:
        """Return the left side of `<<` as a Target; if it is not a vector, return its value."""
        if isinstance(node, ast.Subscript):
            base = self.target_of(node.value)
            if isinstance(base, Target) and base.index is None:
                return self.at(base, node.slice)
            return self.item(base, node)
        value = self.evaluate(node)
        if isinstance(value, VectorObject):
            return Target(value, None, None, False)
        if isinstance(value, PendingVector | Infix) and not (
            isinstance(value, Infix) and value.dim is None
        ):
            text = "an expression cannot be assigned to; write `C << expression`"
            self.fails(node, "TypeError", text)
        return value

    def at(self, target: Target, node: ast.expr) -> Target:
        """Return `target[node]`. If the node selects the whole vector, the index is None."""
        if isinstance(node, ast.Slice) and not (node.lower or node.upper or node.step):
            return target
        if isinstance(node, ast.Constant) and node.value is Ellipsis:
            return target
        if isinstance(node, ast.Slice):
            refuse(Reason.OPERATION, node, name="a slice of a vector")
        index = self.evaluate(node)
        if isinstance(index, PendingVector | Infix):
            found = self.term(index, node)
            index = PendingVector(ir.Entry(self.materialize(found.term, found.dim)), found.dim)
        return Target(target.vector, target.mask, target.accum, target.replace, index)

    # --- lists of vectors -------------------------------------------------------------------------

    def length(self, value: Array | List) -> ir.Scalar:
        """Return len(value)."""
        if isinstance(value, Array):
            return ir.Size(value.array.dim, INT64)
        variable = self.temporary(INT64)
        self.emit(ir.Length(variable, self.stack(value), self.line))
        return variable

    def stack(self, value: List) -> ir.Stack:
        """Return the stack of a list. If the dtype is not known yet, FP64 is a placeholder."""
        dtype, dim = self.element_types[value.number] or (FP64, ir.Dim(0))
        return ir.Stack(value.number, self.list_names[value.number], dtype, dim)

    def new_list(self) -> List:
        """Return an empty list: a cleared, unused list with the same name, or else a new list."""
        used = lists_of(tuple(self.state.names.values()))
        name = (self.hint or "list").partition("@")[0]
        for number in range(self.input_stacks, len(self.list_names)):
            if self.list_names[number] == name and number not in used | self.pinned_lists:
                break
        else:
            number = len(self.element_types)
            self.element_types[number] = self.known_types.get(number)
            self.list_names.append(name)
            self.paths["stacks"].append(())
        self.pinned_lists.add(number)
        self.emit(ir.ClearStack(self.stack(List(number)), self.line))
        return List(number)

    def element_type(self, value: List, node: Any) -> tuple[DataType, ir.Dim]:
        """Return the dtype and the dimension of the vectors in a list."""
        found = self.element_types[value.number]
        if found is None:
            raise Unknown(value.number, node)
        return found

    def list_method(self, value: List, name: str, node: ast.Call) -> Any:
        """Return `value.name(...)` for a list of vectors."""
        if not node.keywords:
            if name == "pop" and not node.args:
                return self.pop(value, node)
            if name == "append" and len(node.args) == 1:
                self.append(value, node)
                return NONE
            if name == "clear" and not node.args:
                self.emit(ir.ClearStack(self.stack(value), self.line))
                return NONE
        return refuse(Reason.STACK, node.func)

    def append(self, value: List, node: ast.Call) -> None:
        """Execute value.append(x)."""
        (argument,) = node.args
        vector, is_copy = None, False
        if (
            isinstance(argument, ast.Call)
            and isinstance(argument.func, ast.Attribute)
            and argument.func.attr == "dup"
            and not argument.args
            and not argument.keywords
        ):
            vector = self.evaluate(argument.func.value)
            is_copy = isinstance(vector, VectorObject)
        if not isinstance(vector, VectorObject):
            vector = self.evaluate(argument)
            is_copy = False
        if not isinstance(vector, VectorObject):
            refuse(Reason.STACK, node, name="the list")
        slot = self.slot_of(vector)
        known = self.element_types[value.number]
        if known is None:
            raise Unknown(value.number, node, (slot.dtype, slot.dim))
        if known != (slot.dtype, slot.dim):
            refuse(Reason.STACK, node, name="the list")
        if not is_copy:
            self.refuse_aliases(vector, node)
            self.share(vector)
        self.emit(ir.Append(self.stack(value), slot, self.line))

    def refuse_aliases(self, vector: VectorObject, node: Any) -> None:
        """Reject an append of an object if a list may already contain the object, or if some name
        that refers to the object is never assigned in the loop."""
        names = {name for name, value in self.state.names.items() if value == vector}
        if self.state.objects[vector.number].is_shared or not names <= self.assigned:
            refuse(Reason.SHARED, node)

    def pop(self, value: List, node: Any) -> VectorObject:
        """Return value.pop()."""
        dtype, dim = self.element_type(value, node)
        slot = self.allocate(dtype, dim, self.hint)
        self.emit(ir.Pop(self.stack(value), slot, self.line))
        # The popped object may still be in another list, or may have been in a list before the
        # loop.
        is_shared = any(each.is_shared for each in self.state.objects.values())
        return self.add_object(slot, is_shared=is_shared or value.number in self.filled)

    def peek(self, value: List, index: ir.Scalar, node: Any) -> VectorObject:
        """Return value[index]."""
        dtype, dim = self.element_type(value, node)
        slot = self.allocate(dtype, dim, self.hint)
        self.emit(ir.Peek(self.stack(value), index, slot, self.line))
        return self.add_object(slot, is_shared=True)


def is_known_module(name: Any) -> bool:
    """Return whether a name is that of a module whose objects are assumed not to change."""
    return str(name).partition(".")[0] in ("math", "numpy", "graphla", "semirings", "builtins")
