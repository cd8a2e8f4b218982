"""Fold values with a monoid: either runs of adjacent values, or values with the same output index.

To fold values is to combine them into one value by the monoid's operator.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from graphla.backends.cpu.convert import to_sparse
from graphla.backends.cpu.layout import cast_values, sort_order
from graphla.backends.values import gather, repeat_value
from graphla.formats import Array, BitmapVector, SparseVector, is_iso
from semirings import binary
from semirings.operators import TypedBinaryOp
from semirings.structures import TypedMonoid

SCATTER = 16
"""Limit for choosing how to fold terms into a result with `size` possible indices.

If there are at least size / SCATTER terms, each is folded into its element of an array of length
`size`. If there are fewer, they are sorted by index instead.
"""
MANY = 4
"""Limit that replaces SCATTER if no values need to be combined, because sorting is then cheaper.

No values need to be combined if the monoid is `any`, or if all terms are equal and the monoid is
idempotent.
"""
_quiet = nullcontext()


def fold_runs(values: Array, starts: Array, monoid: TypedMonoid) -> Array:
    """Return the fold of each run of values; runs begin at `starts` and are not empty."""
    if monoid.is_any or values.size == starts.size or _needs_presence_alone(monoid, values):
        return cast_values(gather(values, starts), monoid.type.np_type)
    values = cast_values(values, monoid.type.np_type)
    if not starts.size:
        return values[:0]
    if monoid.ufunc is not None:
        with ignore_overflow(values):
            return monoid.ufunc.reduceat(values, starts, dtype=values.dtype)
    return halve(values, starts, monoid)


def fold_by_output(
    outputs: Array, values: Array, size: int, monoid: TypedMonoid
) -> SparseVector | BitmapVector:
    """w(o) = the fold of the values whose output is o. Outputs may come in any order."""
    dtype = monoid.type.np_type
    if values.dtype != dtype:
        values = cast_values(values, dtype)
    terms = outputs.size
    if terms < 2:
        return SparseVector(size, outputs, values)
    alone = values.strides[0] == 0 and (monoid.is_any or monoid.is_idempotent)
    if terms * (MANY if alone or monoid.is_any else SCATTER) >= size and scatters(monoid):
        present = np.zeros(size, bool)
        present[outputs] = True
        if alone:
            folded = repeat_value(values[:1], size)
        else:
            folded = np.full(size, 0 if monoid.is_any else monoid.identity, dtype)
            scatter(folded, outputs, values, monoid)
        return BitmapVector(size, present, folded, int(np.count_nonzero(present)))
    if alone:
        keys = np.sort(outputs)
        first = flag_run_starts(keys)
        keys = keys.compress(first)
        return SparseVector(size, keys, values[: keys.size])
    keys, order = sort_order(outputs, size)
    starts = flag_run_starts(keys).nonzero()[0]
    indices = keys[starts].astype(outputs.dtype)
    return SparseVector(size, indices, fold_runs(gather(values, order), starts, monoid))


def fold_parts(
    parts: list[tuple[Array, Array]], size: int, monoid: TypedMonoid
) -> SparseVector | BitmapVector:
    """Like `fold_by_output`, but the outputs and values come in several parts."""
    terms = sum(outputs.size for outputs, _ in parts)
    if terms * SCATTER < size or not scatters(monoid):
        folded = [to_sparse(fold_by_output(*part, size, monoid)) for part in parts]
        outputs = np.concatenate([part.indices for part in folded])
        return fold_by_output(
            outputs, np.concatenate([part.values for part in folded]), size, monoid
        )
    present = np.zeros(size, bool)
    folded = np.full(size, 0 if monoid.is_any else monoid.identity, monoid.type.np_type)
    for outputs, values in parts:
        present[outputs] = True
        scatter(folded, outputs, values, monoid)
    return BitmapVector(size, present, folded, int(present.sum()))


def scatter(folded: Array, outputs: Array, values: Array, monoid: TypedMonoid) -> None:
    """Fold each value into its output, in place. For the monoid `any`, store the last value."""
    if monoid.is_any:
        folded[outputs] = values
    elif _is_flag(monoid):
        folded[outputs.compress(values == monoid.terminal)] = monoid.terminal
    else:
        ufunc: Any = monoid.ufunc
        with ignore_overflow(values):
            ufunc.at(folded, outputs, values)


def scatters(monoid: TypedMonoid) -> bool:
    """Return whether `scatter` supports the monoid."""
    return monoid.is_any or _is_flag(monoid) or monoid.ufunc is not None


def fold_from_left(values: Array, starts: Array, op: TypedBinaryOp) -> Array:
    """Return op(op(x0, x1), x2)... of each run of values; runs begin at `starts`.

    Each round folds one more value of each run that has values left. The number of rounds is the
    length of the longest run, and the total work is linear in the input. If all values are equal
    and share one stored element x, and op(x, x) = x, the result also stores x only once.
    """
    ends = np.empty_like(starts)
    ends[:-1] = starts[1:]
    ends[-1] = values.size
    if op.op is binary.first:
        return gather(values, starts)
    if op.op is binary.second:
        return gather(values, ends - 1)
    if is_iso(values) and values.size > 1:
        value = values[:1]
        if fold_from_left(np.repeat(value, 2), np.zeros(1, np.int64), op) == value:
            return repeat_value(value, starts.size)
    monoid = op.monoid
    if monoid is not None and op.type.np_type == values.dtype:
        return fold_runs(values, starts, monoid)
    folded = values[starts]
    runs = (ends - starts > 1).nonzero()[0]
    step = 1
    while runs.size:
        x = cast_values(folded[runs], op.type.np_type)
        y = cast_values(values[starts[runs] + step], op.type2.np_type)
        folded[runs] = cast_values(op.numpy(x, y), values.dtype)
        step += 1
        runs = runs.compress(starts[runs] + step < ends[runs])
    return folded


def flag_run_starts(keys: Array) -> Array:
    """Return, for each key, whether a run of equal keys begins with it."""
    first = np.ones(keys.size, bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first


def _needs_presence_alone(monoid: TypedMonoid, values: Array) -> bool:
    return is_iso(values) and (monoid.is_any or monoid.is_idempotent)


def _is_flag(monoid: TypedMonoid) -> bool:
    """Return whether the monoid is lor or land: the Boolean monoids with a terminal value.

    A single terminal value among the values determines the result of a fold.
    """
    return monoid.type.np_type.kind == "b" and monoid.terminal is not None


def halve(values: Array, starts: Array, monoid: TypedMonoid) -> Array:
    """Fold pairs of adjacent values, until one value of each run is left.

    The operator must be associative, but need not be commutative.
    """
    while True:
        size = values.size
        counts = np.empty_like(starts)
        counts[:-1] = starts[1:] - starts[:-1]
        counts[-1] = size - starts[-1]
        if size == starts.size:
            return values
        place = np.arange(size, dtype=starts.dtype) - starts.repeat(counts)
        left = ((place & 1) == 0).nonzero()[0]
        has_right = place[left] + 1 < counts.repeat(counts)[left]
        folded = values[left]
        paired = left.compress(has_right)
        folded[has_right] = monoid.binaryop.numpy(values[paired], values[paired + 1])
        counts = (counts + 1) >> 1
        starts = counts.cumsum() - counts
        values = folded


def ignore_overflow(values: Array) -> AbstractContextManager[Any]:
    """Return a context manager that suppresses overflow warnings; integers never warn."""
    return np.errstate(all="ignore") if values.dtype.kind == "f" else _quiet
