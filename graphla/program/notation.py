"""Translate vector expressions such as `A @ u`, and masks, to terms (see `graphla.program.values`).

The functions of `graphla.sparse` choose the typed operators and the dtypes of results, and raise
the errors for wrong dtypes and shapes. This module calls them on stand-ins for the stored vectors,
and translates the expressions that they build. Its methods mirror `graphla.sparse.arithmetic` and
`graphla.sparse.mask`.
"""

from __future__ import annotations

from typing import Any

from graphla import operations as ops
from graphla.aggregators import TypedAggregator
from graphla.expression import describe
from graphla.operations.values import fit, limits
from graphla.program import ir, scalars
from graphla.program.emitting import Emitter
from graphla.program.reasons import Reason, refuse
from graphla.program.values import (
    FALSE,
    NONE,
    ZERO,
    Infix,
    Items,
    JoinedMask,
    MaskView,
    Number,
    OptionalNumber,
    PendingVector,
    ScalarOperand,
    Static,
    Typed,
    Uncertain,
    VectorObject,
    View,
    constant,
    scalar_kind,
)
from graphla.sparse import expressions
from semirings import binary, monoid, unary
from semirings.binary import eq, ge, gt, land, le, lor, lt, ne
from semirings.dtypes import BOOL, FP32, FP64, INT64, UINT64, DataType
from semirings.exceptions import DimensionMismatch
from semirings.semiring import plus_times

VECTORS = (VectorObject, PendingVector, Infix)
MASKS = (MaskView, JoinedMask)
NUMBERS = (Number, OptionalNumber, Typed)

_COMPARISONS = (eq, ne, lt, le, gt, ge)

UNIONS = {"+": monoid.plus, "^": monoid.lxor}
INTERSECTIONS = {
    "*": binary.times,
    "/": binary.truediv,
    "//": binary.floordiv,
    "%": binary.mod,
    "**": binary.pow,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "==": eq,
    "!=": ne,
}


class StoreStandIn:
    """A stand-in for the store of a vector or a matrix. The library builds expressions from it."""

    __slots__ = ("device", "dtype", "shape", "term")

    def __init__(self, dtype: DataType, shape: tuple[int, ...], term: Any):
        self.dtype = dtype
        self.shape = shape
        self.device = "cpu"
        self.term = term

    @property
    def size(self) -> int:
        """The number of elements of a vector."""
        return self.shape[0]

    @property
    def nrows(self) -> int:
        """The number of rows of a matrix."""
        return self.shape[0]

    @property
    def ncols(self) -> int:
        """The number of columns of a matrix."""
        return self.shape[1]


class Notation(Emitter):
    """Translates the notation's expressions and masks.

    Attributes:
        sizes: the size of each dimension at the call that is traced. Two dimensions have different
            sizes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def dim(self, size: int) -> ir.Dim:
        """Return the dimension of this size."""
        return ir.Dim(self.sizes.index(size))

    # --- operands ---------------------------------------------------------------------------------

    def term(self, x: Any, node: Any) -> PendingVector:
        """Return a vector as a term that refers to its current entries."""
        if isinstance(x, VectorObject):
            slot = self.slot_of(x)
            return PendingVector(ir.Entry(slot), slot.dim)
        if isinstance(x, Infix):
            return self.by_default(x, node)
        if isinstance(x, PendingVector):
            return x
        with self.checks(node):
            raise TypeError(f"a Vector is needed, not {self.kind(x)}")

    def operand(self, x: Any, node: Any) -> PendingVector:
        """Return a vector as a term that can be a part of another term, unlike a product."""
        found = self.term(x, node)
        if isinstance(found.term, ir.Product | ir.MatrixReduction):
            slot = self.materialize(found.term, found.dim)
            return PendingVector(ir.Entry(slot), slot.dim)
        return found

    def stand(self, x: Any, node: Any) -> StoreStandIn:
        """Return the stand-in for a vector or a matrix."""
        if isinstance(x, View):
            shape = tuple(self.sizes[dim.index] for dim in x.dims)
            return StoreStandIn(x.matrix.dtype, shape, x)
        found = self.operand(x, node)
        return StoreStandIn(found.term.dtype, (self.sizes[found.dim.index],), found.term)

    def slot(self, x: Any, node: Any) -> ir.Slot:
        """Return a slot that stores the current entries of a vector."""
        found = self.term(x, node)
        return self.materialize(found.term, found.dim)

    def dtype_of(self, x: Any, node: Any) -> DataType:
        """Return the dtype of a vector, a matrix or a Scalar."""
        if isinstance(x, View):
            return x.matrix.dtype
        return x.dtype if isinstance(x, Typed) else self.term(x, node).term.dtype

    def dims_of(self, x: Any, node: Any) -> tuple[ir.Dim, ...]:
        """Return the dimensions of a vector or a matrix."""
        if isinstance(x, View):
            return x.dims
        if isinstance(x, Infix) and x.dim is not None:
            return (x.dim,)
        return (self.term(x, node).dim,)

    def kind(self, x: Any) -> str:
        """Return the name of a value's class, for messages like those of the library."""
        if isinstance(x, VECTORS):
            return "Vector"
        if isinstance(x, View):
            return "Matrix"
        if isinstance(x, Number | OptionalNumber):
            return {BOOL: "bool", INT64: "int", FP64: "float"}[x.scalar.dtype]
        if isinstance(x, Typed):
            return "Scalar"
        if isinstance(x, Items):
            return "tuple"
        return type(x.value).__name__ if isinstance(x, Static) else type(x).__name__.lower()

    def example(self, x: Any, node: Any) -> Any:
        """Return the value of a scalar if it is known, otherwise an arbitrary number of its type.

        The library chooses typed operators by the type of a scalar, not by its value.
        """
        self.require_value(x, node)
        known = x.scalar.value if isinstance(x.scalar, ir.Constant) else 1
        if isinstance(x, Typed):
            return fit(known, x.dtype)
        return {BOOL: bool, INT64: int, FP64: float}[x.scalar.dtype](known)

    def require_value(self, x: Any, node: Any) -> None:
        """Emit the faults for a scalar operand that is None or an empty Scalar."""
        if isinstance(x, OptionalNumber):
            missing = scalars.negation(x.present)
            self.fault(missing, "TypeError", "a number is needed, not None")
        elif isinstance(x, Typed):
            missing = scalars.negation(x.present)
            text = "the operand is an empty Scalar, but it must hold a value"
            self.fault(missing, "EmptyObject", text)
        elif not isinstance(x, Number):
            with self.checks(node):
                raise TypeError(f"a scalar is needed, not {self.kind(x)}")

    def fit_scalar(self, x: Any, dtype: DataType, name: str, node: Any) -> ir.Scalar:
        """Convert a scalar operand for an operation that needs an entry of this dtype.

        The result has the Python type for the dtype (see `scalar_kind`). If the value does not fit
        the dtype, the fault is OverflowError.
        """
        scalar = x.scalar
        if isinstance(scalar, ir.Constant):
            with self.checks(node):
                return constant(fit(scalar.value, dtype, name).item())
        if dtype.is_integer and dtype is not INT64 and scalar.dtype is INT64:
            scalar = self.leaf(scalar)
            least, most = limits(dtype.np_type)
            outside = scalars.call("lt", BOOL, scalar, constant(least))
            if dtype is not UINT64:
                above = scalars.call("gt", BOOL, scalar, constant(most))
                outside = scalars.either(outside, above)
            self.refuse_misfit(outside, name, dtype)
        elif dtype.is_integer and scalar.dtype is FP64:
            scalar = self.leaf(scalar)
            least, most = limits(dtype.np_type)
            inside = scalars.both(
                scalars.call("gt", BOOL, scalar, constant(float(least - 1))),
                scalars.call("lt", BOOL, scalar, constant(float(most + 1))),
            )
            self.refuse_misfit(scalars.negation(inside), name, dtype)
            if dtype is UINT64:
                return scalar
        elif dtype is FP32 and scalar.dtype is FP64:
            scalar = self.leaf(scalar)
            size = scalars.call("abs", FP64, scalar)
            finite = scalars.call("lt", BOOL, size, constant(float("inf")))
            # Values below this limit round to at most the largest FP32 value.
            large = scalars.call("ge", BOOL, size, constant(2.0**128 - 2.0**103))
            self.refuse_misfit(scalars.both(finite, large), name, dtype)
        return scalars.convert(scalar, scalar_kind(dtype))

    def refuse_misfit(self, condition: ir.Scalar, name: str, dtype: DataType) -> None:
        """Emit the fault for a value that does not fit a dtype."""
        text = f"{name} does not fit {dtype}"
        if dtype.is_integer:
            least, most = limits(dtype.np_type)
            text += f" ({least} to {most})"
        self.fault(condition, "OverflowError", text)

    def settle(self, value: Any, *others: Any) -> Any:
        """Return a value. If it is uncertain, decide whether it is an int or a float.

        If one of `others` is an FP64 vector, the operation has the same result for an int and for a
        float. Then no decision is needed, and the value becomes a float.
        """
        if not isinstance(value, Uncertain):
            return value
        vectors = [x for x in others if isinstance(x, VectorObject | PendingVector)]
        if any(self.dtype_of(x, None) is FP64 for x in vectors) or self.decide(value.is_float):
            return Number(value.scalar)
        return Number(ir.Call("int", (value.scalar,), INT64))

    def static(self, x: Any, node: Any) -> Any:
        """Return the Python object of a value that is known before the program runs."""
        if isinstance(x, Static):
            return x.value
        if isinstance(x, Number) and isinstance(x.scalar, ir.Constant):
            return x.scalar.value
        return refuse(
            Reason.PYTHON_OBJECT, node, kind=f"a {self.kind(x)} where a constant object is needed"
        )

    # --- expressions ------------------------------------------------------------------------------

    def lower(self, made: Any, **given: Any) -> Any:
        """Return the term for an expression that the library has built on stand-ins.

        `given` contains the scalar operands: `scalar`, `thunk`, `left` or `right`.
        """
        operation, args, dtype = made._operation, made._args, made._dtype
        node = given.pop("node")
        dim = self.dim(made._shape[0])
        scalar = given.get("scalar")

        def side(name: str, value: Any, into: DataType) -> ir.Scalar:
            x = given.get(name)
            if x is None:
                return constant(value.item())
            return self.fit_scalar(x, into, name, node)

        x = args[0].term
        if operation is ops.apply:
            return PendingVector(ir.Apply(args[1], x, dtype), dim)
        if operation is ops.apply_left:
            op = args[1]
            value = self.fit_scalar(scalar, op.type, "left", node) if op.reads_x else ZERO
            return PendingVector(ir.ApplyLeft(op, value, x, dtype), dim, scalar)
        if operation is ops.apply_right:
            op = args[1]
            value = self.fit_scalar(scalar, op.type2, "right", node) if op.reads_y else ZERO
            return PendingVector(ir.ApplyRight(op, x, value, dtype), dim, scalar)
        if operation is ops.apply_index:
            thunk = side("thunk", args[2], args[1].thunk_type)
            return PendingVector(ir.ApplyIndex(args[1], x, thunk, dtype), dim)
        if operation is ops.select:
            thunk = side("thunk", args[2], args[1].thunk_type)
            return PendingVector(ir.Select(args[1], x, thunk, dtype), dim)
        y = args[1].term
        if operation is ops.ewise_add:
            return PendingVector(ir.Union(args[2], x, y, dtype), dim)
        if operation is ops.ewise_mult:
            return PendingVector(ir.Intersection(args[2], x, y, dtype), dim)
        if operation is ops.ewise_union:
            op = args[2]
            left = side("left", args[3], op.type) if op.reads_x else ZERO
            right = side("right", args[4], op.type2) if op.reads_y else ZERO
            term = ir.UnionDefaults(op, x, y, left, right, dtype)
            return PendingVector(term, dim)
        if operation in (ops.mxv, ops.vxm):
            return self.lower_product(args, dtype, dim)
        raise AssertionError(operation)

    def lower_product(self, args: Any, dtype: DataType, dim: Any) -> PendingVector:
        """Return the term for a product of a vector and a matrix."""
        side = "mxv" if isinstance(args[0].term, View) else "vxm"
        view, u = (args[0], args[1]) if side == "mxv" else (args[1], args[0])
        slot = self.materialize(u.term, self.dim(u.size))
        matrix, is_transposed = view.term.matrix, view.term.is_transposed
        return PendingVector(ir.Product(slot, matrix, is_transposed, args[2], side, dtype), dim)

    def refuse_matrix(self, node: Any, *values: Any) -> None:
        """Reject an operation whose result is a matrix."""
        if any(isinstance(x, View) for x in values):
            refuse(Reason.MATRIX_RESULT, node)

    def require_vectors(self, node: Any, name: str, *values: Any) -> None:
        """Reject operands that are not vectors, with the error of the library."""
        self.refuse_matrix(node, *values)
        for x in values:
            if not isinstance(x, VECTORS):
                with self.checks(node):
                    raise TypeError(f"{name} needs another Matrix or Vector, not {self.kind(x)}")

    def ewise_add(self, a: Any, b: Any, op: Any, node: Any) -> PendingVector:
        """C = op(A, B) on the union of the entries."""
        self.require_vectors(node, "ewise_add", a, b)
        one, other = self.stand(a, node), self.stand(b, node)
        with self.checks(node):
            made = expressions.ewise_add(one, other, op)
        return self.lower(made, node=node)

    def ewise_mult(self, a: Any, b: Any, op: Any, node: Any) -> PendingVector:
        """C = op(A, B) on the intersection of the entries."""
        self.require_vectors(node, "ewise_mult", a, b)
        one, other = self.stand(a, node), self.stand(b, node)
        with self.checks(node):
            made = expressions.ewise_mult(one, other, op)
        return self.lower(made, node=node)

    def ewise_union(
        self, a: Any, b: Any, op: Any, left: Any, right: Any, node: Any
    ) -> PendingVector:
        """C = op(A, B) on the union of the entries, with defaults for missing entries."""
        self.require_vectors(node, "ewise_union", a, b)
        one, other = self.stand(a, node), self.stand(b, node)
        numbers = self.example(left, node), self.example(right, node)
        with self.checks(node):
            made = expressions.ewise_union(one, other, op, *numbers)
        return self.lower(made, left=left, right=right, node=node)

    def apply(self, a: Any, op: Any, left: Any, right: Any, node: Any) -> PendingVector:
        """C = op(A), op(left, A) or op(A, right)."""
        self.require_vectors(node, "apply", a)
        left, right = (None if x == NONE else x for x in (left, right))
        store = self.stand(a, node)
        examples = [None if x is None else self.example(x, node) for x in (left, right)]
        with self.checks(node):
            made = expressions.apply(store, op, *examples)
        scalar = left if right is None else right
        if made._operation is ops.apply_index:
            return self.lower(made, node=node, **({} if scalar is None else {"thunk": scalar}))
        return self.lower(made, scalar=scalar, node=node)

    def apply_index(self, a: Any, op: Any, thunk: Any, node: Any) -> PendingVector:
        """C(i) = op(A(i), i, 0, thunk)."""
        self.require_vectors(node, "apply", a)
        store = self.stand(a, node)
        thunk = None if thunk == NONE else thunk
        example = None if thunk is None else self.example(thunk, node)
        with self.checks(node):
            made = expressions.apply_index(store, op, example)
        return self.lower(made, thunk=thunk, node=node)

    def select(self, a: Any, op: Any, thunk: Any, node: Any) -> PendingVector:
        """Select the entries of A by an operator, a comparison or a mask."""
        self.require_vectors(node, "select", a)
        thunk = None if thunk == NONE else thunk
        if isinstance(op, (*MASKS, *VECTORS)):
            if thunk is not None:
                with self.checks(node):
                    raise TypeError("select by a mask takes no thunk")
            source = self.operand(a, node)
            if isinstance(op, PendingVector) and self.comparison_of(op) is not None:
                compared = getattr(op.term, "x", None)
                if compared == source.term:
                    return self.select_by(op, "value", node)
            mask = self.lower_mask(self.as_mask(op, node), source.dim, node)
            return PendingVector(ir.Restrict(source.term, mask, source.term.dtype), source.dim)
        if not isinstance(op, Static):
            with self.checks(node):
                raise TypeError(f"op must be a select operator or a mask, not {self.kind(op)}")
        store = self.stand(a, node)
        example = None if thunk is None else self.example(thunk, node)
        with self.checks(node):
            made = expressions.select(store, op.value, example)
        return self.lower(made, thunk=thunk, node=node)

    def comparison_of(self, x: Any) -> Any:
        """Return the operator of a comparison with a scalar, such as `u > 3`, or None."""
        if not isinstance(x, PendingVector) or not isinstance(x.term, ir.ApplyLeft | ir.ApplyRight):
            return None
        op = x.term.op.op
        op = op.commutes_to if isinstance(x.term, ir.ApplyLeft) else op
        return op if op in _COMPARISONS else None

    def select_by(self, x: Any, what: str, node: Any) -> PendingVector:
        """Select entries by a comparison, as in `select.value(u > 3)` or `select.index(u < 5)`."""
        op = self.comparison_of(x)
        if op is None:
            text = (
                f"select.{what} takes a comparison of A with a scalar that is not yet computed, as "
                f"in select.{what}(A > 3)"
            )
            self.fails(node, "TypeError", text)
        a = PendingVector(x.term.x, x.dim)
        if what == "value":
            return self.select(a, Static(f"value{op.name}"), x.scalar, node)
        if op in (eq, ne):
            symbol = "==" if op is eq else "!="
            text = f"select.{what} takes <, <=, > or >=, not {symbol}"
            self.fails(node, "InvalidValue", text)
        if x.scalar.scalar.dtype is not INT64:
            self.fails(node, "TypeError", f"the {what} to compare with must be an integer")
        k = x.scalar.scalar
        if op in (lt, ge):
            k = scalars.call("sub", INT64, k, constant(1))
        side = "col" if what == "column" else "row"
        name = f"{side}{'le' if op in (lt, le) else 'gt'}"
        return self.select(a, Static(name), Number(k), node)

    def product(self, a: Any, b: Any, op: Any, node: Any) -> Any:
        """Return A ⊕.⊗ u, u ⊕.⊗ A, or the Scalar u ⊕.⊗ v."""
        views = isinstance(a, View), isinstance(b, View)
        if all(views):
            refuse(Reason.MATRIX_RESULT, node)
        one, other = self.stand(a, node), self.stand(b, node)
        with self.checks(node):
            made = expressions.product(one, other, op)
        if any(views):
            return self.lower(made, node=node)
        semiring = made._args[2]
        if semiring.is_positional:
            refuse(Reason.OPERATION, node, name=f"an inner product with {semiring!r}")
        return self.inner(one, other, semiring, node)

    def inner(self, one: StoreStandIn, other: StoreStandIn, semiring: Any, node: Any) -> Typed:
        """Return the Scalar u ⊕.⊗ v."""
        with self.checks(node):
            made = expressions.ewise_mult(one, other, semiring.binaryop)
        joined = self.lower(made, node=node).term
        if joined.dtype is not semiring.return_type:
            joined = ir.Cast(joined, semiring.return_type)
        return self.reduce_term(joined, semiring.monoid, True)

    def reduce(self, a: Any, op: Any, allow_empty: bool, node: Any) -> Typed:
        """Return the Scalar ⊕ over i of v(i)."""
        store = self.stand(a, node)
        with self.checks(node):
            made = expressions.reduce_scalar(store, op, allow_empty)
        typed = made._args[1]
        term = store.term
        if not isinstance(typed, TypedAggregator):
            return self.reduce_term(term, typed, allow_empty)
        name = typed.op.name
        if name == "count":
            slot = self.slot(a, node)
            count = self.temporary(INT64)
            self.emit(ir.Count(count, slot, self.line))
            present = True if not allow_empty else ir.Call("ne", (count, ZERO), BOOL)
            return Typed(count, present, INT64, False)
        if typed.op.monoid is None:
            refuse(Reason.OPERATION, node, name=f"the aggregator {name}")
        by = typed.op.monoid[typed.return_type]
        if term.dtype is not by.type:
            term = ir.Cast(term, by.type)
        return self.reduce_term(term, by, allow_empty)

    def reduce_term(self, term: ir.VectorExpression, by: Any, allow_empty: bool) -> Typed:
        """Emit a reduction, and return its result as a Scalar."""
        result = self.temporary(scalar_kind(by.return_type))
        present = self.temporary(BOOL) if allow_empty else None
        self.emit(ir.Reduce(result, present, by, term, self.line))
        return Typed(result, True if present is None else present, by.return_type, False)

    def reduce_lines(self, view: View, op: Any, by_columns: bool, node: Any) -> PendingVector:
        """w(i) = ⊕ over j of A(i, j), or w(j) = ⊕ over i of A(i, j) if `by_columns` is True."""
        store = self.stand(view, node)
        function = expressions.reduce_columnwise if by_columns else expressions.reduce_rowwise
        with self.checks(node):
            made = function(store, op)  # pyright: ignore[reportArgumentType]
        typed = made._args[1]
        if isinstance(typed, TypedAggregator):
            if typed.op.monoid is None:
                refuse(Reason.OPERATION, node, name=f"the aggregator {typed.op.name}")
            typed = typed.op.monoid[typed.return_type]
        is_transposed = view.is_transposed != by_columns
        term = ir.MatrixReduction(view.matrix, is_transposed, typed, made._dtype)
        return PendingVector(term, view.dims[by_columns])

    # --- infix operators --------------------------------------------------------------------------

    def infix_operand(self, x: Any, symbol: str, node: Any) -> Any:
        """Return an operand of `A @ B`, `u & v` or `u | v`.

        An infix expression with the same symbol is returned unchanged, because the operator that is
        applied later also applies to this operand.
        """
        if isinstance(x, View) or (isinstance(x, Infix) and x.symbol == symbol):
            return x
        return self.operand(x, node)

    def infix(self, symbol: str, a: Any, b: Any, node: Any) -> Any:
        """Return the expression `a symbol b`, to which an operator is applied later."""
        if isinstance(a, NUMBERS) or isinstance(b, NUMBERS):
            if symbol == "@":
                other = b if isinstance(a, (*VECTORS, View)) else a
                text = f"A @ B needs a Matrix or Vector on either side, not {self.kind(other)}"
                self.fails(node, "TypeError", text)
            self.refuse_matrix(node, a, b)
            left, right = (
                ScalarOperand(x) if isinstance(x, NUMBERS) else self.infix_operand(x, symbol, node)
                for x in (a, b)
            )
            (dim,) = self.dims_of(b if isinstance(a, NUMBERS) else a, node)
            return Infix(symbol, left, right, dim)
        for x in (a, b):
            if not isinstance(x, (*VECTORS, View)):
                text = f"A {symbol} B needs a Matrix or Vector on either side, not {self.kind(x)}"
                self.fails(node, "TypeError", text)
        a, b = self.infix_operand(a, symbol, node), self.infix_operand(b, symbol, node)
        one, other = (self.shape_of(x, node) for x in (a, b))
        with self.checks(node):
            if symbol == "@":
                shape = expressions._product_shape(one, other)
            else:
                shape = expressions._common_shape(one, other, symbol)
        if len(shape) == 2:
            refuse(Reason.MATRIX_RESULT, node)
        return Infix(symbol, a, b, self.dim(shape[0]) if shape else None)

    def shape_of(self, x: Any, node: Any) -> tuple[int, ...]:
        """Return the shape of a vector or a matrix."""
        if isinstance(x, Infix) and x.dim is None:
            return ()
        return tuple(self.sizes[dim.index] for dim in self.dims_of(x, node))

    def with_operator(self, x: Infix, op: Any, node: Any) -> Any:
        """Return op(A @ B), op(u & v) or op(u | v)."""
        a, b = (
            self.with_operator(side, op, node) if isinstance(side, Infix) else side
            for side in (x.left, x.right)
        )
        if isinstance(a, ScalarOperand):
            return self.apply(b, op, a.value, None, node)
        if isinstance(b, ScalarOperand):
            return self.apply(a, op, None, b.value, node)
        if x.symbol == "@":
            return self.product(a, b, op, node)
        if x.symbol == "&":
            return self.ewise_mult(a, b, op, node)
        return self.ewise_add(a, b, op, node)

    def union_with_operator(
        self, x: Infix, op: Any, left: Any, right: Any, node: Any
    ) -> PendingVector:
        """Return op(u | v, left_default=..., right_default=...)."""
        a, b = (
            self.union_with_operator(side, op, left, right, node)
            if isinstance(side, Infix)
            else side
            for side in (x.left, x.right)
        )
        if isinstance(a, ScalarOperand) or isinstance(b, ScalarOperand):
            text = f"{op.name}(A | scalar) applies {op.name} to the entries and has no defaults"
            self.fails(node, "TypeError", text)
        return self.ewise_union(a, b, op, left, right, node)

    def by_default(self, x: Infix, node: Any) -> Any:
        """Return the default result of `A @ B`, `u & v` or `u | v`, without an operator."""
        sides = (x.left, x.right)
        if any(isinstance(side, ScalarOperand) for side in sides):
            text = f"A {x.symbol} scalar needs an operator: write op(A {x.symbol} scalar)"
            self.fails(node, "TypeError", text)
        a, b = (self.by_default(side, node) if isinstance(side, Infix) else side for side in sides)
        if x.symbol == "@":
            return self.product(a, b, plus_times, node)
        left, right = a.term.dtype, b.term.dtype
        if left is BOOL and right is BOOL:
            if x.symbol == "&":
                return self.ewise_mult(a, b, land, node)
            return self.ewise_add(a, b, lor, node)
        name = "ewise_mult" if x.symbol == "&" else "ewise_add"
        text = (
            f"A {x.symbol} B without an operator is logical and needs BOOL, but the dtypes are "
            f"{left} and {right}; write op(A {x.symbol} B), as in binary.plus(A {x.symbol} B), for "
            f"{name}"
        )
        return self.fails(node, "TypeError", text)

    def arithmetic(self, symbol: str, a: Any, b: Any, node: Any) -> Any:
        """Return `a symbol b`, where at least one of them is a vector or a matrix."""
        if symbol in ("@", "&", "|"):
            return self.infix(symbol, a, b, node)
        self.refuse_matrix(node, a, b)
        if symbol == "^":
            for x in (a, b):
                dtype = x.scalar.dtype if isinstance(x, Number) else self.dtype_of(x, node)
                if dtype is not BOOL:
                    text = f"^ is logical and needs BOOL, but the dtype is {dtype}"
                    self.fails(node, "TypeError", text)
        if isinstance(a, VECTORS) and isinstance(b, VECTORS):
            if symbol == "-":
                false = Number(FALSE)
                return self.ewise_union(a, b, binary.minus, false, false, node)
            if symbol in UNIONS:
                return self.ewise_add(a, b, UNIONS[symbol], node)
            return self.ewise_mult(a, b, INTERSECTIONS[symbol], node)
        op = binary.minus if symbol == "-" else UNIONS.get(symbol) or INTERSECTIONS[symbol]
        return self.bind(a, b, op, node)

    def bind(self, a: Any, b: Any, op: Any, node: Any) -> PendingVector:
        """Return op(A, scalar) or op(scalar, A)."""
        other = b if isinstance(a, VECTORS) else a
        if not isinstance(other, NUMBERS):
            text = f"the other operand must be a Matrix, Vector or scalar, not {self.kind(other)}"
            self.fails(node, "TypeError", text)
        if isinstance(a, VECTORS):
            return self.apply(a, op, None, b, node)
        return self.apply(b, op, a, None, node)

    def negate(self, a: Any, node: Any) -> PendingVector:
        """Return -A."""
        return self.apply(a, unary.ainv, None, None, node)

    def invert(self, a: Any, node: Any) -> PendingVector:
        """Return ~A."""
        dtype = self.dtype_of(a, node)
        if dtype is not BOOL:
            text = (
                f"~ is logical and needs BOOL, but the dtype is {dtype}; for bits there is "
                "unary.bnot"
            )
            self.fails(node, "TypeError", text)
        return self.apply(a, unary.lnot, None, None, node)

    # --- calls of operators -----------------------------------------------------------------------

    def call_operator(self, op: Any, args: list[Any], options: dict[str, Any], node: Any) -> Any:
        """Return the expression `op(*args, **options)`."""
        kind = op.opclass
        x = args[0] if len(args) == 1 and not options else None
        if isinstance(x, Infix) and kind in ("Semiring", "BinaryOp", "Monoid"):
            return self.with_operator(x, op, node)
        if kind == "Semiring":
            self.fails(node, "TypeError", f"{op!r} is called on a product, as in {op.name}(A @ B)")
        if kind in ("BinaryOp", "Monoid"):
            return self.call_binary(op, args, options, node)
        if kind == "UnaryOp":
            if len(args) != 1 or options:
                text = f"{op!r} takes one operand, as in {op.name}(A)"
                self.fails(node, "TypeError", text)
            return self.apply(args[0], op, None, None, node)
        options = dict(options)
        thunk = options.pop("thunk", args[1] if len(args) == 2 else None)
        if not args or len(args) > 2 or options or not isinstance(args[0], (*VECTORS, View)):
            text = f"{op!r} is called as {op.name}(A) or {op.name}(A, thunk)"
            self.fails(node, "TypeError", text)
        if kind == "SelectOp":
            return self.select(args[0], Static(op), thunk, node)
        return self.apply_index(args[0], op, thunk, node)

    def call_binary(self, op: Any, args: list[Any], options: dict[str, Any], node: Any) -> Any:
        """Return op(u | v, left_default=x, right_default=y), op(u, x), op(x, u) or op(u, v)."""
        if len(args) == 1 and isinstance(args[0], Infix):
            if set(options) == {"left_default", "right_default"} and args[0].symbol == "|":
                left, right = options["left_default"], options["right_default"]
                return self.union_with_operator(args[0], op, left, right, node)
            text = (
                f"write {op.name}(A | B, left_default=x, right_default=y): both defaults, and a "
                "union"
            )
            self.fails(node, "TypeError", text)
        sides = [*args, *(options[name] for name in ("left", "right") if name in options)]
        if "left" in options and args:
            sides = [options["left"], args[0]]
        if len(sides) != 2 or set(options) - {"left", "right"}:
            text = (
                f"{op!r} is called as {op.name}(A & B), {op.name}(A | B), {op.name}(A, scalar) or "
                f"{op.name}(scalar, A)"
            )
            self.fails(node, "TypeError", text)
        a, b = sides
        self.refuse_matrix(node, a, b)
        if isinstance(a, VECTORS) and isinstance(b, VECTORS):
            text = (
                f"{op.name}(A, B) could mean two things: write {op.name}(A & B) where both have an "
                f"entry, or {op.name}(A | B) where either has"
            )
            self.fails(node, "TypeError", text)
        return self.bind(a, b, op, node)

    # --- masks ------------------------------------------------------------------------------------

    def mask_view(self, x: Any, structure: bool, node: Any) -> MaskView:
        """Return `x.S` or `x.V`."""
        self.refuse_matrix(node, x)
        parent = x if isinstance(x, VectorObject) else self.term(x, node)
        return MaskView(parent, structure, False)

    def as_mask(self, x: Any, node: Any) -> Any:
        """Return a mask. A BOOL vector becomes its value mask."""
        if isinstance(x, MASKS):
            return x
        if isinstance(x, View):
            text = "the mask of a Vector must be a Vector, not a Matrix"
            self.fails(node, "TypeError", text)
        if isinstance(x, VECTORS):
            dtype = self.dtype_of(x, node)
            if dtype is not BOOL:
                text = (
                    f"a mask was given as a Vector of {dtype}; say whether its structure (`.S`) or "
                    "its values (`.V`) should count"
                )
                self.fails(node, "TypeError", text)
            return self.mask_view(x, False, node)
        text = f"a mask must be like A.S, A.V, ~A.S or ~A.V, not {self.kind(x)}"
        return self.fails(node, "TypeError", text)

    def mask_dim(self, mask: Any) -> ir.Dim:
        """Return the dimension of a mask."""
        if isinstance(mask, JoinedMask):
            return mask.dim
        parent = mask.parent
        return parent.dim if isinstance(parent, PendingVector) else self.slot_of(parent).dim

    def lower_mask(self, mask: Any, dim: ir.Dim, node: Any) -> ir.Mask:
        """Translate a mask, which reads the current entries. Reject it if its dimension is not
        `dim`."""
        own = self.mask_dim(mask)
        if own != dim:
            with self.checks(node):
                raise DimensionMismatch(
                    f"the mask has {describe((self.sizes[own.index],))}, but it should have "
                    f"{describe((self.sizes[dim.index],))}"
                )
        if isinstance(mask, JoinedMask):
            return mask.mask
        slot = self.slot(mask.parent, node)
        found: ir.Mask = ir.MaskOf(slot, not mask.structure)
        return ir.NotMask(found) if mask.complement else found

    def join_masks(self, symbol: str, a: Any, b: Any, node: Any) -> JoinedMask:
        """Return `a & b` or `a | b`. At least one of the operands a and b is a mask."""
        a, b = self.as_mask(a, node), self.as_mask(b, node)
        dim = self.mask_dim(a)
        one = self.lower_mask(a, dim, node)
        other = self.lower_mask(b, dim, node)
        kind = ir.AndMask if symbol == "&" else ir.OrMask
        return JoinedMask(kind(one, other), dim)

    def invert_mask(self, mask: Any) -> Any:
        """Return `~mask`."""
        if isinstance(mask, MaskView):
            return MaskView(mask.parent, mask.structure, not mask.complement)
        inner = mask.mask
        inner = inner.mask if isinstance(inner, ir.NotMask) else ir.NotMask(inner)
        return JoinedMask(inner, mask.dim)
