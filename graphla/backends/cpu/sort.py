"""Sort all values of an array, or the values of each segment separately.

Each sort is stable and puts NaN last. The functions use NumPy's sort for the comparisons `<` and
`>`, and a merge sort of this package for any other comparison.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from graphla.backends.cpu.dispatch import compiles
from graphla.backends.cpu.layout import index_dtype, sort_in_place, sort_order
from graphla.backends.cpu.operands import Parts, row_parts, threads_worth
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import abandonable, apart, run
from graphla.formats import Array
from graphla.settings import config
from semirings import binary
from semirings.operators import TypedBinaryOp


def sort_by(values: Array, indptr: Array | None, op: TypedBinaryOp) -> tuple[Array, Array]:
    """Return the values sorted by the comparison op, and the previous position of each value.

    If `indptr` is given, sort within each segment.
    """
    sign = _plain_order(op)
    if sign and indptr is None:
        return _sort_plainly(values, None, sign)
    if compiles(values.size, op):
        return _merge_sort_numba(values, indptr, op, config.threads)
    if sign:
        return _sort_plainly(values, indptr, sign)
    return _merge_sort_numpy(values, indptr, op)


@lru_cache(maxsize=4096)
def _plain_order(op: TypedBinaryOp) -> int:
    """Return 1 if op is equivalent to `x < y`, -1 if op is equivalent to `x > y`, otherwise 0."""
    for sign, plain in ((1, binary.lt), (-1, binary.gt)):
        if op.expression == plain[op.type].expression:
            return sign
    return 0


def _sort_plainly(values: Array, indptr: Array | None, sign: int) -> tuple[Array, Array]:
    """Return the sorted values, and the previous position of each value.

    Sign 1 means increasing order, and sign -1 decreasing order.
    """
    places = _stable_order(_keys(values, sign))
    if indptr is not None:
        rows = _segment_of_each(indptr)[places]
        places = places[sort_order(rows, indptr.size - 1)[1]]
    return values[places], places.astype(index_dtype(values.size))


def _keys(values: Array, sign: int) -> Array:
    """Return one integer per value. The integers increase with the values if sign is 1, and
    decrease with the values if sign is -1.

    NaN becomes the largest integer, and both zeros become the same integer.
    """
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    if values.dtype.kind != "f":
        return values if sign > 0 else ~values
    keys = (values + 0.0).view(f"i{values.itemsize}")
    greatest = np.iinfo(keys.dtype).max
    keys ^= (keys >> (8 * keys.itemsize - 1)) & greatest
    if sign < 0:
        np.invert(keys, out=keys)
    keys[np.isnan(values)] = greatest
    return keys


def _stable_order(keys: Array) -> Array:
    """Return the permutation that sorts integers; equal keys keep their order.

    Sorting 64-bit words is fastest. If a key and its position fit in one word, the function packs
    each key with its position into a word and sorts these words. Otherwise it first sorts the keys
    with a sort that is not stable, and replaces each key with its rank. Then it packs each rank
    with its position into a word and sorts these words, which restores the order of equal keys.
    """
    least, most = int(keys.min()), int(keys.max())
    if (most - least).bit_length() + keys.size.bit_length() < 64:
        above = (keys - keys.dtype.type(least)).view(f"u{keys.itemsize}")
        return sort_order(above, most - least)[1]
    order = abandonable(keys.argsort, keys.size)
    ordered = keys[order]
    rank = np.zeros(keys.size, np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], out=rank[1:])
    if rank[-1] == keys.size - 1:
        return order
    bits = keys.size.bit_length()
    rank <<= bits
    rank |= order
    sort_in_place(rank)
    rank &= (1 << bits) - 1
    return rank


def _merge_sort_numpy(
    values: Array, indptr: Array | None, op: TypedBinaryOp
) -> tuple[Array, Array]:
    """Return the values in the order of op, and the previous position of each value.

    This is a merge sort: it merges pairs of runs of 1, 2, 4, ... elements. For each element of the
    left run, a binary search finds how many elements of the right run come before it. This number
    determines the element's position in the merged run. The elements of the right run fill the
    remaining positions in order. So no two elements get the same position, even if op is not an
    order relation.
    """
    size = values.size
    places = np.arange(size)
    bounds = np.array([0, size]) if indptr is None else indptr.astype(np.int64)
    segment = _segment_of_each(bounds)
    begin, end = bounds[segment], bounds[segment + 1]
    longest = int((end - begin).max(initial=0))
    own = np.arange(size) - begin
    width = 1
    while width < longest:
        run = own // width
        right = begin + (run + 1) * width
        lefts = ((run % 2 == 0) & (right < end)).nonzero()[0]
        right = right[lefts]
        limit = np.minimum(right + width, end[lefts])
        before = _count_before(values, values[lefts], right, limit, width, op)
        # The target of an element is its position after the merge. The targets of a run must
        # ascend. If op is an order relation, they do, because the counts in `before` never decrease
        # along a run. The running maximum makes the targets ascend for any other op, too.
        targets = lefts + np.maximum.accumulate(right + before) - right
        is_left = np.zeros(size, bool)
        is_left[lefts] = True
        is_target = np.zeros(size, bool)
        is_target[targets] = True
        order = np.empty(size, np.int64)
        order[targets] = lefts
        order[~is_target] = (~is_left).nonzero()[0]
        values, places = values[order], places[order]
        width *= 2
    return values, places.astype(index_dtype(size))


def _count_before(
    values: Array, x: Array, right: Array, limit: Array, width: int, op: TypedBinaryOp
) -> Array:
    """Return, for each value in `x`, how many values of a sorted range come before it.

    The range of x[k] is values[right[k]] to values[limit[k] - 1]. No range has more than `width`
    values.
    """
    low, high = right.copy(), limit
    for _ in range(width.bit_length()):
        middle = (low + high) >> 1
        is_open = low < high
        goes = _before(values[np.where(is_open, middle, 0)], x, op)
        low = np.where(is_open & goes, middle + 1, low)
        high = np.where(is_open & ~goes, middle, high)
    return low - right


def _before(x: Array, y: Array, op: TypedBinaryOp) -> Any:
    """Return whether x precedes y; NaN follows all other values."""
    goes = op.numpy(x, y)
    return goes if x.dtype.kind != "f" else (x == x) & ((y != y) | goes)


def _segment_of_each(indptr: Array) -> Array:
    """Return the number of the segment that contains each value."""
    return np.arange(indptr.size - 1, dtype=np.int32).repeat(np.diff(indptr))


def _merge_sort_numba(
    values: Array, indptr: Array | None, op: TypedBinaryOp, threads: int
) -> tuple[Array, Array]:
    """Sort with compiled loops."""
    size = values.size
    bounds = _stretches(size, threads) if indptr is None else indptr
    dtype = index_dtype(size)
    found = np.empty_like(values), np.empty(size, dtype)
    spare = np.empty_like(values), np.empty(size, dtype)
    spec, stop = (numba_ops.comparison, op), np.zeros(1, np.int64)

    def spread(name: str, parts: Parts, *arrays: Array) -> None:
        loop = load(name, spec, (*arrays, stop))
        apart(
            lambda: run(lambda *part: loop(*arrays, stop, *part), parts, threads, stop),
            stop,
            threads,
            size,
        )

    spread("sort.segments", row_parts(bounds, threads), bounds, values, *found, *spare)
    while indptr is None and bounds.size > 2:
        pairs = [(s, s + 1) for s in range(bounds.size // 2)]
        spread("sort.pairs", pairs, bounds, *found, *spare)
        bounds, found, spare = bounds[::2].copy(), spare, found
    return found


def _stretches(size: int, threads: int) -> Array:
    """Return the positions at which the values are cut into parts for threads.

    The number of parts is a power of two.
    """
    count = 1 << (threads_worth(size, threads) - 1).bit_length()
    return np.array([size * k // count for k in range(count + 1)], index_dtype(size))
