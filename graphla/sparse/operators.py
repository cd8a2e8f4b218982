"""Resolve an operator argument (a name, an operator or a function) to a typed operator."""

from __future__ import annotations

from typing import Any

from semirings import binary, indexunary, monoid, select, semiring, unary
from semirings.dtypes import INT64, DataType
from semirings.exceptions import DomainMismatch, InvalidValue
from semirings.operators import (
    BinaryOp,
    IndexUnaryOp,
    SelectOp,
    TypedBinaryOp,
    TypedIndexUnaryOp,
    TypedSelectOp,
    TypedUnaryOp,
    UnaryOp,
)
from semirings.structures import Monoid, Semiring, TypedMonoid, TypedSemiring


def semiring_of(op: Any, left: DataType, right: DataType) -> TypedSemiring:
    """Return the semiring `op` for operands of these dtypes.

    If the multiplication of the semiring is `pair`, whose result is always 1, its dtype is INT64.
    """
    kind = type(op)
    if kind is Semiring:
        return op[INT64] if op.binaryop is binary.pair else op.typed_for(left, right)
    if kind is TypedSemiring:
        return op
    if isinstance(op, str):
        return semiring_of(semiring.from_string(op), left, right)
    raise _refusal(op, "a semiring, such as semiring.plus_times or 'min_plus'")


def binary_of(op: Any, left: DataType, right: DataType) -> TypedBinaryOp:
    """Return the binary operator `op` for operands of these dtypes.

    If `op` is a monoid, return the operator of the monoid.
    """
    kind = type(op)
    if kind is BinaryOp:
        return op[INT64] if op is binary.pair else op.typed_for(left, right)
    if kind is TypedBinaryOp:
        return op
    if kind is Monoid:
        return op[left, right].binaryop
    if kind is TypedMonoid:
        return op.binaryop
    if isinstance(op, str):
        return binary_of(binary.from_string(op), left, right)
    if _is_function(op):
        named = {min: binary.min, max: binary.max}.get(op)
        return binary_of(named or binary.register_anonymous(op), left, right)
    raise _refusal(op, "a binary operator or monoid, such as binary.plus or 'min'")


def monoid_of(op: Any, dtype: DataType) -> TypedMonoid:
    """Return the monoid `op` for values of this dtype.

    If `op` is a binary operator, return the monoid that has this operator.
    """
    kind = type(op)
    if kind is Monoid:
        return op[dtype]
    if kind is TypedMonoid:
        return op
    if isinstance(op, str):
        return monoid_of(monoid.from_string(op), dtype)
    if op is min or op is max:
        return monoid_of(monoid.min if op is min else monoid.max, dtype)
    if kind in (BinaryOp, TypedBinaryOp):
        found = op.monoid if kind is BinaryOp else op.op.monoid
        if found is None:
            raise DomainMismatch(f"{op!r} is not the operator of a monoid, so it cannot reduce")
        return monoid_of(found if kind is BinaryOp else found[op.type], dtype)
    raise _refusal(op, "a monoid, such as monoid.plus or 'max'")


def unary_of(op: Any, dtype: DataType) -> TypedUnaryOp | TypedIndexUnaryOp | TypedSelectOp:
    """Return the operator `op` for one operand of this dtype.

    If `op` is a string, it is the name of a unary or an index-unary operator.
    """
    kind = type(op)
    if kind is UnaryOp:
        return op[dtype]
    if kind in (TypedUnaryOp, TypedIndexUnaryOp, TypedSelectOp):
        return op
    if isinstance(op, str):
        return unary_of(_from_strings(op, unary, indexunary, binary), dtype)
    if kind in (IndexUnaryOp, SelectOp):
        return index_of(op, dtype, None)  # pyright: ignore[reportReturnType]
    if _is_function(op):
        return unary_of(unary.abs if op is abs else unary.register_anonymous(op), dtype)
    hint = "" if kind not in (BinaryOp, TypedBinaryOp, Monoid) else " (or give `left=` or `right=`)"
    raise _refusal(op, f"a unary operator, such as unary.abs or 'sqrt'{hint}")


def index_of(op: Any, dtype: DataType, thunk: DataType | None) -> TypedIndexUnaryOp | TypedSelectOp:
    """Return the index-unary or select operator `op` for the given dtypes of values and thunk."""
    if isinstance(op, (TypedIndexUnaryOp, TypedSelectOp)):
        return op
    return op[dtype] if thunk is None else op[dtype, thunk]


def select_of(op: Any) -> Any:
    """Return the select operator `op`, which may be an index-unary operator."""
    if isinstance(op, str):
        return select.from_string(op)
    if isinstance(op, (SelectOp, TypedSelectOp, IndexUnaryOp, TypedIndexUnaryOp)):
        return op
    if isinstance(op, (BinaryOp, TypedBinaryOp)) and op.name in _comparisons:
        return select.from_string(f"value{op.name}")
    if _is_function(op):
        return select.register_anonymous(op)
    raise _refusal(op, "a select operator, such as select.tril or 'valuegt', or a mask")


_comparisons = ("eq", "ne", "lt", "le", "gt", "ge")


def bound_of(op: Any) -> Any:
    """Return the operator for a call `apply(op, right=s)`, where `op` may be a name.

    The operator may be binary, or index-unary; an index-unary operator takes s as its thunk.
    """
    return _from_strings(op, binary, indexunary) if isinstance(op, str) else op


def is_index_op(op: Any) -> bool:
    """Return whether `op` reads the position of an entry and takes a thunk."""
    return isinstance(op, (IndexUnaryOp, TypedIndexUnaryOp, SelectOp, TypedSelectOp))


def accumulator(op: Any, dtype: DataType) -> TypedBinaryOp:
    """Return the binary operator that combines an existing entry of the output with a new value.

    Both operands are cast to the dtype of the output, which is `dtype`. If `op` is a monoid, the
    attribute `monoid` of the result is this monoid.
    """
    if isinstance(op, (Monoid, TypedMonoid)):
        return (op[dtype, dtype] if isinstance(op, Monoid) else op).joining
    return op[dtype] if op is binary.pair else binary_of(op, dtype, dtype)


def _from_strings(name: str, *modules: Any) -> Any:
    for module in modules:
        try:
            return module.from_string(name)
        except InvalidValue:
            continue
    kinds = " or ".join(module.__name__.rpartition(".")[2] for module in modules)
    raise InvalidValue(f"{name!r} names no {kinds} operator")


def _is_function(op: Any) -> bool:
    return callable(op) and not hasattr(op, "types") and not hasattr(op, "return_type")


def _refusal(op: Any, expected: str) -> TypeError:
    hint = ""
    if isinstance(op, (Semiring, TypedSemiring)):
        hint = f"; {op!r} has .monoid and .binaryop"
    return TypeError(f"op must be {expected}, not {op!r}{hint}")
