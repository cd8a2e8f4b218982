"""Derive a predicate that detects overflow from the expression of an integer operator."""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import Any

from semirings.dtypes import BOOL, INT64, UINT64, DataType
from semirings.operators import BinaryOp, TypedBinaryOp
from semirings.primitives import Node, Primitive, limits
from semirings.trace import Symbol, as_symbol, where


@lru_cache(maxsize=4096)
def overflowing(op: TypedBinaryOp) -> TypedBinaryOp | None:
    """f(x, y) is true if an intermediate integer in op(x, y) does not fit its dtype.

    Return the predicate f as an operator, or None if op cannot overflow. f checks sums,
    differences, products, negations and casts between integers. If op chooses between two branches
    with `where`, f checks only the branch that is taken. Operations that wrap on purpose (shifts,
    powers, raw C++) are ignored.

    >>> from semirings import binary
    >>> overflows = overflowing(binary.plus["INT8"])
    >>> bool(overflows(100, 27)), bool(overflows(100, 28))
    (False, True)
    """
    found = _overflows(op.expression)
    if found is None:
        return None
    predicate = BinaryOp(f"{op.name}_overflows", lambda x, y: found, keeps=True, is_anonymous=True)
    return predicate[op.type, op.type2]


def _overflows(node: Node) -> Symbol | None:
    """Return the condition under which the expression `node` or a part of it overflows.

    The condition is an expression, or None if overflow is impossible. A branch of a `where` that is
    not taken does not count.
    """
    operation, parts = _name(node), node.arguments
    if not parts:
        return None
    if operation == "where":
        return _in_branch(node)
    found = [_overflows(part) for part in parts]
    if node.dtype.is_integer:
        found.append(_does_not_fit(operation, node))
    return _either(found)


def _name(node: Node) -> str:
    return node.operation.name if isinstance(node.operation, Primitive) else node.operation


def _either(found: list[Symbol | None]) -> Symbol | None:
    there = [each for each in found if each is not None]
    return reduce(lambda x, y: x | y, there) if there else None


def _in_branch(node: Node) -> Symbol | None:
    condition, *branches = node.arguments
    x, y = (_overflows(branch) for branch in branches)
    if x is None and y is None:
        return _overflows(condition)
    taken = where(Symbol(condition), _known(x), _known(y))
    return _either([_overflows(condition), taken])


def _known(found: Symbol | None) -> Any:
    return as_symbol(False) if found is None else found


def _does_not_fit(operation: str, node: Node) -> Symbol | None:
    """Return the condition under which the last step of the integer expression `node` overflows.

    `operation` is the name of this last step. The condition is an expression, or None if the step
    cannot overflow.
    """
    result, operands = Symbol(node), [Symbol(part) for part in node.arguments]
    x, y = operands[0], operands[-1]
    is_signed = node.dtype.kind == "i"
    if operation == "add":
        return ((x ^ result) & (y ^ result)) < 0 if is_signed else result < x
    if operation == "sub":
        return ((x ^ y) & (x ^ result)) < 0 if is_signed else x < y
    if operation == "mul":
        return _product_does_not_fit(x, y, result)
    if operation in ("neg", "abs"):
        if is_signed:
            return x == limits(node.dtype)[0]
        return None if operation == "abs" else x != 0
    if operation == "cast":
        return _cast_does_not_fit(x, node.dtype)
    return None


def _product_does_not_fit(x: Symbol, y: Symbol, result: Symbol) -> Symbol:
    dtype = x.dtype
    is_signed = dtype.kind == "i"
    if dtype.bits <= 32:
        wide = INT64 if is_signed else UINT64
        return x.astype(wide) * y.astype(wide) != result.astype(wide)
    wraps = (x != 0) & (result // x != y)
    return wraps | ((x == -1) & (y == limits(dtype)[0])) if is_signed else wraps


def _cast_does_not_fit(x: Symbol, dtype: DataType) -> Symbol | None:
    if x.dtype is BOOL or x.dtype.is_float:
        return None
    (least, most), (low, high) = limits(x.dtype), limits(dtype)
    below = x < low if least < low else None
    above = x > high if most > high else None
    return _either([below, above])
