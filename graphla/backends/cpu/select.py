"""Select entries by an operator, by a mask or by flags."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from graphla.backends.cpu.apply import at_places, of_size
from graphla.backends.cpu.dispatch import SIMPLE, compiles
from graphla.backends.cpu.layout import compress, index_dtype, keys_of, offsets
from graphla.backends.cpu.masks import is_among
from graphla.backends.cpu.operands import WORDS, row_parts, spread, values_of
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import run
from graphla.formats import Array, Csr, MatrixMask, SparseVector, is_iso
from semirings.operators import TypedSelectOp

V = TypeVar("V", SparseVector, Csr)


def look_up_entries(mask: MatrixMask, a: Csr) -> Array:
    """Return, for each entry of a, whether the mask allows it."""
    pattern = mask.pattern
    if pattern.indices is a.indices and pattern.indptr is a.indptr:
        return np.full(a.nvals, not mask.complement)
    if not a.nvals or not pattern.nvals:
        return np.full(a.nvals, mask.complement)
    threads = compiles((a.nvals + pattern.nvals) // SIMPLE)
    if threads:
        inside = np.empty(a.nvals, np.bool_)
        arrays = (a.indptr, a.indices, pattern.indptr, pattern.indices, inside)
        loop = load("select.look_up", (numba_ops.nothing,), arrays)
        spread(loop, arrays, (), row_parts(a.indptr, threads), threads)
    else:
        inside = is_among(keys_of(pattern), keys_of(a))
    return np.logical_not(inside, out=inside) if mask.complement else inside


def select(a: V, op: TypedSelectOp, thunk: Any) -> V:
    """Return the entries for which op(x, i, j, thunk) is true."""
    if isinstance(a, Csr) and op.is_positional and (threads := compiles(a.nvals // SIMPLE, op)):
        return keep(a, _flag_numba(a, op, thunk, threads))
    return keep(a, of_size(at_places(a, op, thunk), a.nvals))


def _flag_numba(a: Csr, op: TypedSelectOp, thunk: Any, threads: int) -> Array:
    """Return op(x, i, j, thunk) for each entry, with a compiled loop."""
    values, step = values_of(a.values, op.reads_x, wanted=op.type)
    flags = np.empty(a.nvals, np.bool_)
    arrays = (a.indptr, a.indices, values, np.array([thunk], op.thunk_type.np_type), flags)
    loop = load("select.flag", (numba_ops.selection, op), arrays)
    spread(loop, arrays, (step,), row_parts(a.indptr, threads), threads)
    return flags


def keep(a: V, flags: Array) -> V:
    """Return the entries of `a` whose flag is true."""
    threads = compiles(flags.size // SIMPLE) if isinstance(a, Csr) else 0
    if isinstance(a, Csr) and threads and a.values.itemsize in WORDS:
        return _keep_numba(a, flags, threads)
    indices = a.indices.compress(flags)
    count = indices.size
    if count == flags.size:
        return a
    values = compress(a.values, flags, count)
    if isinstance(a, SparseVector):
        return SparseVector(a.size, indices, values, a.is_sorted)
    kept = offsets(flags)[a.indptr].astype(a.indptr.dtype, copy=False)
    return Csr(a.nrows, a.ncols, kept, indices, values)


def _keep_numba(a: Csr, flags: Array, threads: int) -> Csr:
    """Return the entries of a matrix whose flag is true, with a compiled loop."""
    flags, parts = np.ascontiguousarray(flags), row_parts(a.indptr, threads)
    counts = [np.count_nonzero(flags[a.indptr[i] : a.indptr[j]]) for i, j in parts]
    ends = np.array([0, *np.cumsum(counts)], np.int64)
    count = int(ends[-1])
    if count == flags.size:
        return a
    iso, word = is_iso(a.values), WORDS[a.values.itemsize]
    indptr = np.empty(a.nrows + 1, index_dtype(count))
    indptr[-1] = count
    indices = np.empty(count, np.int32)
    old, new = np.empty((2, 0), np.uint8)
    values = a.values[:count]
    if not iso:
        values = np.empty(count, a.values.dtype)
        old, new = np.ascontiguousarray(a.values).view(word), values.view(word)
    arrays = (a.indptr, a.indices, old, flags, indptr, indices, new, ends)
    loop = load("select.keep", (numba_ops.nothing,), arrays)
    run(
        lambda *part: loop(*arrays, int(not iso), *part),
        [(k, *part) for k, part in enumerate(parts)],
        threads,
    )
    return Csr(a.nrows, a.ncols, indptr, indices, values)
