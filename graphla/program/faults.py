"""Find out which instructions may end a program with a fault."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from graphla.program import ir
from graphla.program.patterns import gathers, nodes
from semirings.dtypes import BOOL, FP64, UINT64, DataType

LITTLE = 1 << 20
"""The addition of a constant up to this size is treated as if its result never exceeded 64 bits.

If a result exceeds 64 bits after all, the program ends with the right fault, but later statements
of the block may already have changed vectors and variables.
"""


def may_fault(x: ir.Instruction) -> bool:
    """Return whether an instruction may end the program."""
    if isinstance(x, (ir.Fault, ir.ReadElement, ir.Scatter, ir.SetElement, ir.DeleteElement)):
        return True
    if isinstance(x, (ir.Pop, ir.Peek)) or gathers(x) or has_misfit(x):
        return True
    if isinstance(x, ir.Reduce) and x.monoid.type is UINT64:
        return True
    return any(has_fault(each) and not _is_little_step(each) for each in nodes(x))


def has_fault(x: Any) -> bool:
    """Return whether this operation of a scalar expression may fault; its operands are not
    considered."""
    if isinstance(x, ir.Element):
        return x.array.dtype is UINT64
    if not isinstance(x, ir.Call):
        return False
    if x.dtype is FP64 and x.function in ("add", "sub", "mul", "neg", "abs"):
        return False
    is_math = x.function.startswith("math.") and x.function not in TOTAL
    return is_math or x.function in FAULTING


def has_misfit(x: Any) -> bool:
    """Return whether a scalar in x may not fit into the dtype to which it is converted."""
    return any(not fits(*each) for node in nodes(x) for each in _conversions(node))


def _conversions(x: Any) -> Iterator[tuple[ir.Scalar, DataType]]:
    """Yield the scalars that a node of an expression converts, each with the dtype to which it is
    converted."""
    if isinstance(x, ir.Full):
        yield x.value, x.dtype
    elif isinstance(x, (ir.ApplyIndex, ir.Select)):
        yield x.thunk, x.op.thunk_type
    elif isinstance(x, ir.ApplyLeft) and x.op.reads_x:
        yield x.scalar, x.op.type
    elif isinstance(x, ir.ApplyRight) and x.op.reads_y:
        yield x.scalar, x.op.type2
    elif isinstance(x, ir.UnionDefaults):
        if x.op.reads_x:
            yield x.left, x.op.type
        if x.op.reads_y:
            yield x.right, x.op.type2


def fits(x: ir.Scalar, dtype: DataType) -> bool:
    """Return whether a scalar certainly fits into a dtype."""
    if x.dtype in (BOOL, dtype) or dtype in (BOOL, FP64):
        return True
    if isinstance(x, ir.Constant) and dtype.is_integer:
        limits = np.iinfo(dtype.np_type)
        is_number = isinstance(x.value, int) or math.isfinite(x.value)
        return is_number and limits.min <= int(x.value) <= limits.max
    return x.dtype is not FP64 and dtype.is_float


def _is_little_step(x: ir.Call | ir.Element) -> bool:
    if not isinstance(x, ir.Call) or x.function not in ("add", "sub"):
        return False
    return any(isinstance(y, ir.Constant) and abs(y.value) <= LITTLE for y in x.arguments)


FAULTING = {
    *("add", "sub", "mul", "neg", "abs", "pow", "lshift", "rshift"),
    *("truediv", "floordiv", "mod", "int", "round"),
}
TOTAL = {
    *("math.isnan", "math.isinf", "math.isfinite", "math.fabs", "math.copysign"),
    *("math.atan", "math.atan2", "math.tanh", "math.hypot"),
}
"""Functions of the module math that raise no exception."""
