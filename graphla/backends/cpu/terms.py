"""Compute the terms mult(A(i, k), B(k, j)) of a product. If `mult` ignores an operand, the values
of this operand are not read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from graphla.backends.cpu.layout import cast_values
from graphla.backends.tuning import current
from graphla.backends.values import repeat_value
from graphla.formats import Array, is_iso
from semirings.operators import TypedBinaryOp
from semirings.structures import TypedSemiring

Lazy = Callable[[], Array]
_whole = [slice(None)]


@dataclass(frozen=True, slots=True)
class TermsTuning:
    """A parameter for dividing the terms of a product into steps."""

    # Approximate number of terms per step. The temporary arrays of a step then take 8 MB, which fit
    # in a cache.
    chunk: int = 1 << 18


TUNING = TermsTuning()


def multiply(
    semiring: TypedSemiring,
    size: int,
    x: tuple[Array, Lazy],
    y: tuple[Array, Lazy],
    i: Lazy,
    k: Lazy,
    j: Lazy,
) -> Array:
    """Return an array of `size` terms mult(x, y), in the dtype of the monoid.

    If all terms must be equal, the array stores only one value, which stands for all of them. The
    argument `x` is a pair: the array of all values of the first operand, and a function that
    returns an array with one of these values per term. `y` is the corresponding pair for the second
    operand. The functions `i`, `k` and `j` return the row, the inner index and the column of each
    term. A function is called only if the operator reads its result.
    """
    op = semiring.binaryop
    dtype = semiring.monoid.type.np_type
    if not op.is_positional:
        left, right = _values(op, x, "x"), _values(op, y, "y")
        return _of_size(cast_values(op.numpy(left, right), dtype), size)
    uses, zero = _uses(op), np.int64(0)
    inner = k().astype(np.int64) if "jx" in uses or "iy" in uses else zero
    result = op.numpy(
        _values(op, x, "x") if "x" in uses else op.type.np_type.type(0),
        i().astype(np.int64) if "ix" in uses else zero,
        inner,
        _values(op, y, "y") if "y" in uses else op.type2.np_type.type(0),
        inner,
        j().astype(np.int64) if "jy" in uses else np.int64(0),
    )
    if getattr(result, "dtype", None) != dtype:
        result = cast_values(result, dtype)
    return result if result.shape == (size,) else _of_size(result, size)


def combine(
    op: TypedBinaryOp,
    x: tuple[Array, Array],
    y: tuple[Array, Array],
    x_place: tuple[Array, Array],
    y_place: tuple[Array, Array],
) -> Array:
    """Return op(x[p], y[q]) for pairs of positions p and q.

    The argument `x` consists of an array and the positions p to read in it; `y` consists of an
    array and the positions q. If the operator reads rows or columns, `x_place` and `y_place` are
    pairs of arrays: the rows and the columns of the entries at the positions p and q.
    """
    size = x[1].size
    left = _values(op, (x[0], lambda: x[0][x[1]]), "x")
    right = _values(op, (y[0], lambda: y[0][y[1]]), "y")
    if not op.is_positional:
        return _of_size(op.numpy(left, right), size)
    (ix, jx), (iy, jy) = x_place, y_place
    wide = [place.astype(np.int64) for place in (ix, jx, iy, jy)]
    return _of_size(op.numpy(left, wide[0], wide[1], right, wide[2], wide[3]), size)


def constant_term(semiring: TypedSemiring, x: Array, y: Array) -> Any:
    """Return the common value of all terms, in the dtype of the monoid, or None if the terms may
    differ."""
    op = semiring.binaryop
    if op.is_positional:
        return None
    if (op.reads_x and not is_iso(x)) or (op.reads_y and not is_iso(y)):
        return None
    value = op.numpy(_values(op, (x, _never), "x"), _values(op, (y, _never), "y"))
    return cast_values(np.asarray(value).reshape(-1)[:1], semiring.monoid.type.np_type)


def _values(op: TypedBinaryOp, operand: tuple[Array, Lazy], name: str) -> Any:
    """Return the values that one operand of `op` has in the terms of a product.

    `name` says which operand: "x" or "y". The result is an array with one value per term, or an
    array with one value if all are equal. If the operator does not read the operand, the result is
    0.
    """
    values, of_terms = operand
    dtype = (op.type if name == "x" else op.type2).np_type
    if name not in _uses(op):
        return dtype.type(0)
    return cast_values(values[:1].copy() if is_iso(values) else of_terms(), dtype)


@lru_cache(maxsize=4096)
def _uses(op: TypedBinaryOp) -> frozenset[str]:
    """Return which of the arguments "x", "y", "ix", "jx", "iy" and "jy" the operator reads."""
    return frozenset(op.expression.uses())


def _of_size(values: Any, size: int) -> Array:
    if getattr(values, "size", 1) == size and values.ndim:
        return values
    return repeat_value(np.asarray(values).reshape(-1)[:1], size)


def _never() -> Array:
    raise RuntimeError("a value is read that should not be")


def multiply_side(
    semiring: TypedSemiring,
    side: str,
    size: int,
    a: Any,
    u: Any,
    k: Callable[[], Array],
    outputs: Callable[[], Array],
) -> Array:
    """Return the terms of the product of a matrix A and a vector u.

    If `side` is "mxv", the product is A u, and its terms are mult(A(o, k), u(k)). Otherwise the
    product is u A, and its terms are mult(u(k), A(k, o)). The functions `k` and `outputs` return
    the indices k and o of each term.
    """
    if side == "mxv":
        return multiply(semiring, size, a, u, outputs, k, _zero)
    return multiply(semiring, size, u, a, _zero, k, outputs)


def _zero() -> Any:
    return np.int64(0)


def chunk_size() -> int:
    """Return the approximate number of terms of a product that are computed in one step."""
    return current(TUNING).chunk


def chunks(counts: Array, limit: int | None = None) -> list[slice]:
    """Divide the rows of a product into slices, so that each slice has about `chunk_size` terms.

    The array `counts` holds the number of terms of each row. If one slice can hold all terms, there
    is only one slice. Otherwise, if `limit` is given, each slice has at most `limit` rows.
    """
    few = limit is None or counts.size <= limit
    if few and counts.size < 2:
        return _whole
    ends = counts.cumsum(dtype=np.int64)
    total, chunk = int(ends[-1]), chunk_size()
    if few and total <= chunk:
        return _whole
    cuts = {0, counts.size, *ends.searchsorted(np.arange(chunk, total, chunk)).tolist()}
    if limit is not None and total > chunk:
        cuts.update(range(0, counts.size, limit))
    ordered = sorted(cuts)
    return [slice(start, stop) for start, stop in pairwise(ordered)]


def concatenate(arrays: list[Array], dtype: Any) -> Array:
    """Concatenate the arrays."""
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.empty(0, dtype)


def concatenate_values(parts: list[Array], size: int) -> Array:
    """Concatenate arrays of terms of the same product; together they have `size` terms.

    If each array stores a single value that stands for all of its terms, the result also stores a
    single value. The values of the arrays are equal, because they belong to the same product.
    """
    filled = [part for part in parts if part.size] or parts[:1]
    if len(filled) > 1 and all(is_iso(part) for part in filled):
        return repeat_value(filled[0][:1], size)
    return filled[0] if len(filled) == 1 else np.concatenate(filled)
