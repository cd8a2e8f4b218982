"""Generate the C++ struct `graphla::Op`, a template argument of the kernels, from typed operators.

A `spec` is a tuple of one of these functions and its arguments. The loader calls the function to
get the text of the struct. `device.cuh` and `atomics.cuh` define the names that the struct uses.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from semirings.dtypes import DataType, lookup_dtype
from semirings.operators import (
    TypedBinaryOp,
    TypedIndexUnaryOp,
    TypedOperator,
    TypedUnaryOp,
)
from semirings.overflow import overflowing
from semirings.printing import cuda_constant, simple_ufunc
from semirings.structures import TypedMonoid, TypedSemiring

RACES = {
    np.add: "RACE_ADD",
    np.minimum: "RACE_MIN",
    np.maximum: "RACE_MAX",
    np.bitwise_or: "RACE_OR",
    np.bitwise_and: "RACE_AND",
    np.bitwise_xor: "RACE_XOR",
}
"""The name of the atomic function for the operator of each monoid that a hardware instruction can
apply atomically."""

ORDERS: dict[Any, int] = {np.minimum: 1, np.logical_and: 1, np.maximum: -1, np.logical_or: -1}
"""The order of each monoid whose operator selects one of its two operands: 1 if the operator
selects the smaller operand, -1 if it selects the larger one."""


def nothing() -> str:
    """Return the struct without operators, for a kernel that reads only patterns."""
    return _struct({}, [])


def matrix_vector(semiring: TypedSemiring, side: Literal["mxv", "vxm"]) -> str:
    """Return the struct for w = A ⊕.⊗ u ("mxv") or w = u ⊕.⊗ A ("vxm"), with types A and U for the
    entries of A and u.

    Besides the monoid it has two functions. `term(a, u, o, k)` returns the product of an entry `a`
    of A and an entry `u` of the vector; o is the index of the output and k the index of the entry
    `u`. `fold(sum, a, u, o, k)` returns sum ⊕ term(a, u, o, k).
    """
    op = semiring.binaryop
    a, u = ("x", "y") if side == "mxv" else ("y", "x")
    types = {"x": op.type, "y": op.type2}
    if op.is_positional:
        call = "multiply(a, o, k, u, k, 0)" if side == "mxv" else "multiply(u, 0, k, a, k, o)"
    else:
        call = "multiply(a, u)" if side == "mxv" else "multiply(u, a)"
    reads = {"x": op.reads_x, "y": op.reads_y}
    return _struct(
        {"multiply": op, "add_values": semiring.monoid.binaryop},
        [
            f"typedef {types[a].c_type} A;",
            f"typedef {types[u].c_type} U;",
            f"static constexpr bool READS_A = {_flag(reads[a])}, READS_U = {_flag(reads[u])};",
            *_monoid(semiring.monoid),
            _method("Z term(A a, U u, i64 o, i64 k)", f"convert<Z>({call})"),
            _method("Z fold(Z sum, A a, U u, i64 o, i64 k)", _fold(semiring, "a, u, o, k")),
        ],
    )


def closure(semiring: TypedSemiring, is_checked: bool) -> str:
    """Return the struct for closures, which repeatedly compute u ⊕.⊗ A.

    Besides the monoid and its order (ORDER, see `order_of`) it has two functions. `term(a, u)`
    returns the product of an entry `u` of the vector and an entry `a` of A. `overflows(a, u)`
    returns whether this product overflows its integer dtype; if `is_checked` is False, it always
    returns false.
    """
    op = semiring.binaryop
    misfit = overflowing(op) if is_checked else None
    operators: dict[str, TypedOperator] = {} if misfit is None else {"fits_not": misfit}
    return _struct(
        {"multiply": op, "add_values": semiring.monoid.binaryop, **operators},
        [
            f"typedef {op.type2.c_type} A;",
            f"typedef {op.type.c_type} U;",
            f"static constexpr bool READS_A = {_flag(op.reads_y)}, READS_U = {_flag(op.reads_x)};",
            *_monoid(semiring.monoid),
            f"static constexpr int ORDER = {order_of(semiring.monoid)};",
            _method("Z term(A a, U u)", "convert<Z>(multiply(u, a))"),
            _method("bool overflows(A a, U u)", "fits_not(u, a)" if operators else "false"),
        ],
    )


def matrix_matrix(semiring: TypedSemiring) -> str:
    """Return the struct for C = A ⊕.⊗ B, with types X and Y for the entries of A and B.

    Besides the monoid it has two functions. `term(x, y, i, k, j)` returns the product of x = A(i,
    k) and y = B(k, j). `fold(sum, x, y, i, k, j)` returns sum ⊕ term(x, y, i, k, j).
    """
    op = semiring.binaryop
    call = "multiply(x, i, k, y, k, j)" if op.is_positional else "multiply(x, y)"
    return _struct(
        {"multiply": op, "add_values": semiring.monoid.binaryop},
        [
            f"typedef {op.type.c_type} X;",
            f"typedef {op.type2.c_type} Y;",
            f"static constexpr bool READS_X = {_flag(op.reads_x)}, READS_Y = {_flag(op.reads_y)};",
            *_monoid(semiring.monoid),
            _method("Z term(X x, Y y, i64 i, i64 k, i64 j)", f"convert<Z>({call})"),
            _method(
                "Z fold(Z sum, X x, Y y, i64 i, i64 k, i64 j)", _fold(semiring, "x, y, i, k, j")
            ),
        ],
    )


def reduction(monoid: TypedMonoid) -> str:
    """Return the struct for reductions, which has only a monoid: the functions `add`, `identity`
    and `terminal` for values of type Z."""
    return _struct({"add_values": monoid.binaryop}, _monoid(monoid))


def entry_by_entry(op: TypedBinaryOp) -> str:
    """Return the struct for element-wise operations.

    Its function `call(x, y, i, j)` applies op to two entries x and y that are both at position (i,
    j).
    """
    call = "multiply(x, i, j, y, i, j)" if op.is_positional else "multiply(x, y)"
    return _struct(
        {"multiply": op},
        [
            f"typedef {op.type.c_type} X;",
            f"typedef {op.type2.c_type} Y;",
            f"typedef {op.return_type.c_type} Z;",
            f"static constexpr bool READS_X = {_flag(op.reads_x)}, READS_Y = {_flag(op.reads_y)};",
            _method("Z call(X x, Y y, i64 i, i64 j)", call),
        ],
    )


def kronecker(op: TypedBinaryOp) -> str:
    """Return the struct for Kronecker products.

    Its function `call(x, y, i, j, k, l)` applies op to an entry x at (i, j) and an entry y at (k,
    l).
    """
    call = "multiply(x, i, j, y, k, l)" if op.is_positional else "multiply(x, y)"
    return _struct(
        {"multiply": op},
        [
            f"typedef {op.type.c_type} X;",
            f"typedef {op.type2.c_type} Y;",
            f"typedef {op.return_type.c_type} Z;",
            f"static constexpr bool READS_X = {_flag(op.reads_x)}, READS_Y = {_flag(op.reads_y)};",
            _method("Z call(X x, Y y, i64 i, i64 j, i64 k, i64 l)", call),
        ],
    )


def comparison(op: TypedBinaryOp) -> str:
    """Return the struct for sorting. Its function `before(x, y)` returns whether op sorts x before
    y. NaN is sorted last."""
    if op.type.is_float:
        answer = "!semirings::is_nan(x) & (semirings::is_nan(y) | goes_before(x, y))"
    else:
        answer = "goes_before(x, y)"
    return _struct(
        {"goes_before": op},
        [f"typedef {op.type.c_type} X;", _method("bool before(X x, X y)", answer)],
    )


def mapping(op: TypedUnaryOp | TypedIndexUnaryOp) -> str:
    """Return the struct for a unary or index-unary operator. Its function `call(x, i, j, thunk)`
    applies the operator to an entry x at position (i, j)."""
    is_indexed = isinstance(op, TypedIndexUnaryOp)
    thunk = op.thunk_type.c_type if is_indexed else "bool"
    return _struct(
        {"multiply": op},
        [
            f"typedef {op.type.c_type} X;",
            f"typedef {thunk} THUNK;",
            f"typedef {op.return_type.c_type} Z;",
            f"static constexpr bool READS_X = {_flag(op.reads_x)};",
            f"static constexpr bool NEEDS_ROW = {_flag(_needs_row(op))};",
            _method(
                "Z call(X x, i64 i, i64 j, THUNK thunk)",
                f"multiply({', '.join(op.parameters)})",
            ),
        ],
    )


def bound_operator(op: TypedBinaryOp, side: Literal["left", "right"]) -> str:
    """Return the struct for a binary operator that has a scalar as one operand.

    Its function `call(x, i, j, thunk)` applies op to the scalar `thunk` and an entry x at position
    (i, j): it returns op(thunk, x) if `side` is "left", and op(x, thunk) if it is "right".
    """
    on_left = side == "left"
    entry, scalar = (op.type2, op.type) if on_left else (op.type, op.type2)
    reads = op.reads_y if on_left else op.reads_x
    x, y = ("thunk", "x") if on_left else ("x", "thunk")
    call = f"multiply({x}, i, j, {y}, i, j)" if op.is_positional else f"multiply({x}, {y})"
    return _struct(
        {"multiply": op},
        [
            f"typedef {entry.c_type} X;",
            f"typedef {scalar.c_type} THUNK;",
            f"typedef {op.return_type.c_type} Z;",
            f"static constexpr bool READS_X = {_flag(reads)};",
            f"static constexpr bool NEEDS_ROW = {_flag(_needs_row(op))};",
            _method("Z call(X x, i64 i, i64 j, THUNK thunk)", call),
        ],
    )


def accumulation(op: TypedBinaryOp | None, dtype: DataType | np.dtype[Any]) -> str:
    """Return the struct for accumulators.

    Its function `accumulate(c, t, i, j)` applies op to the entries c and t at position (i, j), and
    casts the result to the dtype of C. If op is None, it casts t.
    """
    z = lookup_dtype(dtype)
    x, y = (z, z) if op is None else (op.type, op.type2)
    if op is None:
        call = "convert<Z>(t)"
    else:
        first, second = "convert<X>(c)", "convert<Y>(t)"
        places = op.is_positional
        inner = f"{first}, i, j, {second}, i, j" if places else f"{first}, {second}"
        call = f"convert<Z>(multiply({inner}))"
    return _struct(
        {} if op is None else {"multiply": op},
        [
            f"typedef {x.c_type} X;",
            f"typedef {y.c_type} Y;",
            f"typedef {z.c_type} Z;",
            f"static constexpr bool ACCUMULATES = {_flag(op is not None)};",
            f"static constexpr bool NEEDS_ROW = {_flag(op is not None and _needs_row(op))};",
            "template <class C, class T>",
            _method("Z accumulate(C c, T t, i64 i, i64 j)", call),
        ],
    )


def describe(spec: tuple[Any, ...]) -> str:
    """Return a description of the operators in a spec and of their dtypes, for an error message."""
    types = [(x, getattr(x, "type", None)) for x in spec[1:]]
    operators = [f"{x.name}[{dtype.name}]" for x, dtype in types if isinstance(dtype, DataType)]
    return " and ".join(operators) or "patterns"


def order_of(monoid: TypedMonoid) -> int:
    """Return 1 if ⊕ selects the smaller of two values, -1 if it selects the larger, otherwise 0."""
    return ORDERS.get(monoid.ufunc, 0)


# --- parts --------------------------------------------------------------------------------------


def _monoid(monoid: TypedMonoid) -> list[str]:
    dtype = monoid.type
    identity = dtype.np_type.type(0) if monoid.is_any else monoid.identity
    has_terminal = monoid.terminal is not None and not monoid.is_any and not dtype.is_float
    terminal = monoid.terminal if has_terminal else identity
    # For floats, HAS_TERMINAL is false: a sum is rarely equal to the terminal value, and testing
    # for it at every entry costs more than it saves.
    return [
        f"typedef {dtype.c_type} Z;",
        f"static constexpr bool IS_ANY = {_flag(monoid.is_any)};",
        f"static constexpr bool IS_IDEMPOTENT = {_flag(monoid.is_idempotent)};",
        f"static constexpr bool HAS_TERMINAL = {_flag(has_terminal)};",
        f"static constexpr int RACE = {_race(monoid, has_terminal)};",
        _method("Z identity()", cuda_constant(identity, dtype)),
        _method("Z terminal()", cuda_constant(terminal, dtype)),
        _method("Z add(Z x, Z y)", "x" if monoid.is_any else "add_values(x, y)"),
    ]


def _race(monoid: TypedMonoid, has_terminal: bool) -> str:
    if monoid.is_any:
        return "RACE_ANY"
    if monoid.type.kind == "b" and has_terminal:
        return "RACE_FLAG"
    is_float_order = monoid.type.is_float and monoid.ufunc in (np.minimum, np.maximum)
    if monoid.ufunc is None or is_float_order or monoid.type.kind == "b":
        return "RACE_BY_CAS"
    return RACES.get(monoid.ufunc, "RACE_BY_CAS")


def _fold(semiring: TypedSemiring, arguments: str) -> str:
    """Return the C++ expression for sum ⊕ term(arguments). For plus_times of floats, this is a
    fused multiply-add, which rounds only once."""
    op, monoid = semiring.binaryop, semiring.monoid
    x, y, *_ = arguments.split(", ")
    one_type = op.type is op.type2 is op.return_type is monoid.type
    is_float_sum = one_type and monoid.type.is_float and monoid.ufunc is np.add
    if is_float_sum and _ufunc(op) is np.multiply:
        return f"{'fmaf' if monoid.type.bits == 32 else 'fma'}({x}, {y}, sum)"
    return f"add(sum, term({arguments}))"


def _needs_row(op: TypedOperator) -> bool:
    """Return whether the operator reads the row of its entry."""
    return not op.expression.uses().isdisjoint(("i", "ix", "iy"))


def _ufunc(op: TypedBinaryOp) -> Any:
    return None if op.is_positional else simple_ufunc(op.expression, ("x", "y"))


def _struct(operators: dict[str, TypedOperator], members: list[str]) -> str:
    functions = "".join(op.source_cuda(name) for name, op in operators.items())
    functions = functions.replace("SEMIRINGS_FUNCTION", "static SEMIRINGS_FUNCTION")
    body = "\n".join(members)
    return f"struct Op {{\n{functions}{body}\n}};\n"


def _method(head: str, result: str) -> str:
    return f"static DEVICE {head} {{ return {result}; }}"


def _flag(value: bool) -> str:
    return "true" if value else "false"
