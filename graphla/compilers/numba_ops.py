"""Generate the Python source of the operators that a loop calls.

The source defines functions with the names in `loops.placeholder_ops` for given operators and
dtypes. A `spec` is a tuple of one of the functions below and its arguments. The loader calls the
function to get the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from graphla.formats import Array
from semirings import unary
from semirings.dtypes import DataType
from semirings.operators import TypedBinaryOp, TypedSelectOp, TypedUnaryOp
from semirings.overflow import overflowing
from semirings.structures import TypedMonoid, TypedSemiring
from semirings.trace import numba_prelude

head = f"""\
import numpy as np
from numba import from_dtype, njit, types

from graphla.compilers.native import call_entry, compare_and_swap, exchange, fetch_add
from graphla.compilers.native import fetch_or, local_array, prefetch_element, wait_while
from graphla.compilers.native import wake, watch
from graphla.compilers.numba import compiled


def inlined(function):
    options = {{"no_cpython_wrapper": True, "no_cfunc_wrapper": True}}
    return njit(function, nogil=True, error_model="numpy", **options)


called = inlined  # in a file of loops, the decorator of a function that takes arrays


def merged(function):
    return njit(function, inline="always")  # a call that passes arrays would count references


{numba_prelude}
"""


def nothing() -> str:
    """Return an empty string: a loop that reads only patterns calls no operators."""
    return ""


def sharing(is_shared: bool) -> str:
    """Return the source of the constant that says whether several threads share the arrays."""
    return f"IS_SHARED = {is_shared}"


def counting(has_support: bool) -> str:
    """Return the source of the constant that says whether the loop counts triangles per edge."""
    return f"HAS_SUPPORT = {has_support}"


def ranging(ranges: int) -> str:
    """Return the source of the constant with the number of ranges that the loop processes at
    once."""
    return f"RANGES = {ranges}"


def search(least: bool, is_shared: bool = False) -> str:
    """Return the source of the constants of a breadth-first search.

    If `least` is True, the parent of each vertex must be the smallest of its possible parents. If
    `is_shared` is True, several threads run the loop on the same arrays.
    """
    return _join(f"LEAST = {least}", sharing(is_shared))


def matrix_vector(semiring: TypedSemiring, side: Literal["mxv", "vxm"], u_is_full: bool) -> str:
    """Return the source of `add` and `term` for a matrix-vector product.

    `term` multiplies a value of A by a value of u. For "mxv", the value of A is the left operand;
    for "vxm", it is the right operand.
    """
    op = semiring.binaryop
    if side == "mxv":
        call = "multiply(a, o, k, u, k, 0)" if op.is_positional else "multiply(a, u)"
    else:
        call = "multiply(u, 0, k, a, k, o)" if op.is_positional else "multiply(u, a)"
    return _join(
        f"U_FULL = {u_is_full}",
        _monoid(semiring.monoid),
        _operator(op, "multiply"),
        _returning("term(a, u, o, k)", call, op.return_type, semiring.monoid.type),
    )


def closure(semiring: TypedSemiring) -> str:
    """Return the source of `add`, `term` and `overflows` for a closure.

    `overflows` returns whether the product of two values overflows.
    """
    op = semiring.binaryop
    fits_not = overflowing(op)
    lost = "" if fits_not is None else _operator(fits_not, "lost")
    return _join(
        _operator(semiring.monoid.binaryop, "add"),
        _operator(op, "multiply"),
        _returning("term(a, u, o, k)", "multiply(u, a)", op.return_type, semiring.monoid.type),
        lost,
        _function(f"def overflows(a, u):\n    return {'lost(u, a)' if lost else 'False'}"),
    )


def near_far(semiring: TypedSemiring) -> str:
    """Return the source for a near-far closure, whose additive operator must be min or max.

    In addition to the functions of `closure`, it defines `beyond`, which returns the horizon for
    the best value and a delta, and `wider` and `narrower`, which change a delta. The horizon is the
    best value plus or minus delta. If the closure multiplies floats, delta is a fraction of the
    best value.
    """
    dtype = semiring.monoid.type
    is_min, name = semiring.monoid.name == "min", f"np.{dtype.np_type.name}"
    if dtype.kind == "b":
        beyond, wider, narrower = "best", "delta", "delta"
    elif dtype.kind == "f":
        sign, most = "+" if is_min else "-", 1e30
        beyond = f"{name}(best {sign} delta)"
        if is_relative(semiring):
            beyond, most = f"{name}(best * (1 {sign} delta))", 1e30 if is_min else MOST_RELATIVE
        wider, narrower = f"{name}(min(delta * 2, {name}({most})))", f"{name}(delta / 2)"
    else:
        limits = np.iinfo(dtype.np_type)
        low, high = f"{name}({limits.min})", f"{name}({limits.max})"
        beyond = (
            f"{high} if best > {high} - delta else {name}(best + delta)"
            if is_min
            else f"{low} if best < {low} + delta else {name}(best - delta)"
        )
        half = f"{name}({limits.max // 2})"
        wider = f"{high} if delta > {half} else {name}(delta * {name}(2) + {name}(1))"
        narrower = f"{name}(delta // {name}(2))"
    return _join(
        closure(semiring),
        _function(f"def beyond(best, delta):\n    return {beyond}"),
        _function(f"def wider(delta):\n    return {wider}"),
        _function(f"def narrower(delta):\n    return {narrower}"),
    )


def buckets(dtype: str, is_shared: bool, has_parents: bool) -> str:
    """Return the source of the operators for a min.plus closure by delta-stepping.

    `bucket` returns the number of the bucket of a value, which is at most the loop's constant FAR.
    If the values are integers, `width` is the logarithm to base 2 of the width of a bucket;
    otherwise it is the reciprocal of the width.
    """
    if dtype.startswith("int"):
        infinite = f"np.{dtype}({np.iinfo(dtype).max})"
        number = "min(np.int64(value - base) >> np.int64(width), FAR)"
    else:
        infinite = f"np.{dtype}(np.inf)"
        number = "np.int64(min((value - base) * width, np.float64(FAR)))"
    return _join(
        f"INFINITE = {infinite}",
        f"IS_SHARED = {is_shared}",
        f"HAS_PARENTS = {has_parents}",
        _function(f"def bucket(value, base, width):\n    return {number}"),
    )


MOST_RELATIVE = 31 / 32
"""The largest value of `delta` in a near-far closure over max.times on floats.

Entries beyond the horizon, which is (1 - delta) * best value, are far. With a delta of 1, the
horizon would be 0, the worst value, and no entry would ever be far.
"""


def is_relative(semiring: TypedSemiring) -> bool:
    """Return whether a closure multiplies floats, so that delta is a fraction of the best value."""
    return semiring.binaryop.name == "times" and semiring.return_type.kind == "f"


def matrix_matrix(semiring: TypedSemiring) -> str:
    """Return `add` and `product`."""
    op = semiring.binaryop
    return _join(
        _monoid(semiring.monoid),
        _operator(op, "multiply"),
        _returning(
            "product(x, y, i, k, j)",
            "multiply(x, i, k, y, k, j)" if op.is_positional else "multiply(x, y)",
            op.return_type,
            semiring.monoid.type,
        ),
    )


def reduction(monoid: TypedMonoid) -> str:
    """Return the source of `add` (the monoid's operator) and of `lift` (a cast to its dtype)."""
    return _join(_monoid(monoid), _operator(unary.identity[monoid.type], "lift"))


def entry_by_entry(op: TypedBinaryOp, is_vector: bool, fills_left: bool, fills_right: bool) -> str:
    """Return the source of the three functions that compute a value of an element-wise union.

    `combine` computes it if both operands have an entry, `left_alone` if only the left operand has
    an entry, and `right_alone` if only the right operand has an entry. The last two combine the
    single value with a fill value if there is one; otherwise they cast the single value.
    """
    call = "multiply({0}, i, j, {1}, i, j)" if op.is_positional else "multiply({0}, {1})"
    left = call.format("x", "fill") if fills_right else "cast(x)"
    right = call.format("fill", "y") if fills_left else "cast(y)"
    return _join(
        f"IS_VECTOR = {is_vector}",
        _operator(op, "multiply"),
        _operator(unary.identity[op.return_type], "cast"),
        _function(f"def combine(x, y, i, j):\n    return {call.format('x', 'y')}"),
        _function(f"def left_alone(x, fill, i, j):\n    return {left}"),
        _function(f"def right_alone(y, fill, i, j):\n    return {right}"),
    )


def comparison(op: TypedBinaryOp) -> str:
    """Return the source of `before(x, y)`: whether x sorts before y. NaN sorts last."""
    call = "x == x and (y != y or precedes(x, y))" if op.type.kind == "f" else "precedes(x, y)"
    return _join(_operator(op, "precedes"), _function(f"def before(x, y):\n    return {call}"))


def selection(op: TypedSelectOp) -> str:
    """Return the source of `selects(x, i, j, thunk)`, which applies the operator."""
    return _operator(op, "selects")


def accumulation(op: TypedBinaryOp | None, dtype: DataType) -> str:
    """Return the source of `lift`, which casts a value to the dtype, and of `accumulate`.

    `accumulate` applies the operator to an old and a new value. If there is no operator, the source
    sets `accumulate` to None.
    """
    lift = _operator(unary.identity[dtype], "lift")
    if op is None:
        return _join("HAS_ACCUM = False", lift, "accumulate = None")
    call = "multiply(c, i, 0, t, i, 0)" if op.is_positional else "multiply(c, t)"
    return _join(
        "HAS_ACCUM = True",
        lift,
        _operator(op, "multiply"),
        _function(f"def accumulate(c, t, i):\n    return lift({call})"),
    )


def describe(spec: tuple, arrays: Sequence[Array]) -> str:
    """Return the operators in `spec` and the dtypes of the arrays, as text for an error message."""
    operators = [f"{x.name}[{x.type.name}]" for x in spec[1:] if hasattr(x, "name")]
    dtypes = ", ".join(str(array.dtype) for array in arrays)
    return f"{' and '.join(operators) or 'patterns'} on arrays of {dtypes}"


def _monoid(monoid: TypedMonoid) -> str:
    dtype = monoid.type
    identity = 0 if monoid.is_any else monoid.identity
    terminal = identity if monoid.terminal is None else monoid.terminal
    # For floats, no loop stops at the terminal value: a float is rarely equal to it, and a test at
    # each entry would make an SpMV a third slower.
    stops = monoid.terminal is not None and not monoid.is_any and dtype.kind != "f"
    return _join(
        f"IS_ANY = {monoid.is_any}",
        f"HAS_TERMINAL = {stops}",
        f"IDENTITY = {_constant(identity, dtype)}",
        f"TERMINAL = {_constant(terminal, dtype)}",
        _operator(monoid.binaryop, "add"),
    )


def _constant(value: Any, dtype: DataType) -> str:
    if dtype.name == "BOOL":
        return str(bool(value))
    text = f"float('{float(value)!r}')" if dtype.name.startswith("FP") else f"{int(value)}"
    return f"np.{dtype.np_type.name}({text})"


def _returning(head: str, call: str, dtype: DataType, wanted: DataType) -> str:
    """Return the source of a function that returns the value of the expression `call`.

    `head` is the name of the function, followed by its parameters.

    `dtype` is the dtype of that value. If it differs from `wanted`, the function casts the value.
    """
    if dtype == wanted:
        return _function(f"def {head}:\n    return {call}")
    return _join(
        _operator(unary.identity[wanted], "cast"),
        _function(f"def {head}:\n    return cast({call})"),
    )


def _operator(op: TypedBinaryOp | TypedUnaryOp | TypedSelectOp, name: str) -> str:
    source = op.source_numba(name)
    assert source is not None, "an operator without a Numba form is computed in NumPy"
    return _function(source)


def _function(source: str) -> str:
    return f"\n\n@inlined\n{source.strip()}\n"


def _join(*texts: str) -> str:
    return "\n".join(texts)
