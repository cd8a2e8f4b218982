"""Pull: w(o) = ⊕ over k of mult(A(o, k), u(k)), for the rows o that a mask allows.

Kernels: spmv.cu. A row is folded in an order that depends only on its length, not on the grid, so
the result is bitwise equal in every run.

The host waits only if the mask is a short list of elements of a huge vector. It then waits for the
number of entries of the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends import Side
from graphla.backends.cuda import matvec
from graphla.backends.cuda.hot_columns import hubs_of
from graphla.backends.cuda.launch import BLOCK, EACH, NULL, WARP, counter, counters, read, size
from graphla.backends.cuda.matvec import (
    Plan,
    allows_none,
    constant_of,
    few_blocks_for,
    longest_row,
    measured,
    nothing,
    plan_of,
    presence,
)
from graphla.backends.tuning import current
from graphla.compilers.cuda import load
from graphla.compilers.declarations import Struct, enumeration
from graphla.formats import (
    Array,
    BitmapVector,
    Counted,
    Csr,
    DenseVector,
    FullVector,
    SparseVector,
    VectorMask,
)
from semirings.structures import TypedSemiring


@dataclass(frozen=True)
class SpmvTuning:
    """Tuning parameters, most of which determine how rows are cut into chunks.

    The kernels in spmv.cu read the first five fields.
    """

    chunk: int = 1024
    """Number of entries in a chunk of a long row, if folds do not end early."""
    middle: int = 128
    """A row with at most this many entries is never queued.

    The warp that processes the row reads it. A longer row may be queued as one chunk.
    """
    wide_chunk: int = 2048
    """Number of entries in a chunk of a long row, if folds may end early."""
    strip: int = 128
    """If folds may end early, a warp first folds this many entries of a long row.

    Only the rest of the row is cut into chunks.
    """
    span: int = 4
    """Number of rows per lane whose flags a warp reads in one step."""
    many: int = 1 << 16
    """Rows of medium length are queued only if the matrix has at least this many entries.

    Queueing takes two more kernel launches.
    """
    whole: int = 4
    """If no fold can end early, the number of blocks is multiplied by this factor.

    More blocks balance the work better if the lengths of rows vary.
    """


TUNING = SpmvTuning()

Kind = enumeration("device.cuh", "MaskKind")
Ends = enumeration("gathering.cuh", "Ends")
Held = enumeration("gathering.cuh", "Held")
OPERANDS = Struct("gathering.cuh", "Operands")
WANTED, RESULT = Struct("spmv.cu", "Wanted"), Struct("spmv.cu", "Result")
QUEUE, CHUNKS = Struct("spmv.cu", "Queue"), Struct("spmv.cu", "Chunks")
NO_QUEUE = QUEUE(tickets=None, longs=None, settled=None, chunk_rows=None)


def pull(
    rows: Csr,
    u: DenseVector,
    semiring: TypedSemiring,
    side: Side,
    mask: VectorMask | None,
    *,
    hubs: bool = True,
) -> SparseVector | BitmapVector:
    """Return w(o) = ⊕ over k of mult(A(o, k), u(k)), for the outputs that the mask allows.

    `hubs` says whether the most frequently read values of u may be copied to shared memory.
    """
    plan = plan_of(semiring, side)
    n, measured.last = rows.nrows, None
    if not n or not rows.nvals or not u.size or (mask is not None and allows_none(mask)):
        return nothing(n, plan.dtype)
    constant = constant_of(plan, rows.values, u.values)
    ends = Ends.AT_LAST if not plan.is_any else Ends.AT_FIRST
    if constant is not None:
        ends = Ends.AT_PRESENCE
    a = read(rows.values, plan.reads_a and constant is None)
    v = read(u.values, plan.reads_u and constant is None)
    return _pull_rows(rows, u, plan, a, v, mask, ends, constant, hubs)


def _is_list(mask: VectorMask) -> bool:
    """Return whether kernels read the allowed rows from the mask's list instead of its flags.

    They read the list if the mask has no flags, or if the list is short.
    """
    if mask.indices is None or mask.complement:
        return False
    return mask.present is None or mask.indices.size * 4 < mask.size


def _pull_rows(
    rows: Csr,
    u: DenseVector,
    plan: Plan,
    a: Any,
    v: Any,
    mask: VectorMask | None,
    ends: int,
    constant: Array | None,
    keeps_hubs: bool,
) -> SparseVector | BitmapVector:
    """Fold the rows that the mask allows, or all rows if the mask is None.

    A single thread folds the first entries of each row. If the row has more entries, several
    threads of the same warp fold them, or they are cut into chunks that different warps fold.
    """
    tuning = current(TUNING)
    wants = _all_rows(rows.nrows) if mask is None else _Wanted(rows.nrows, mask)
    (at, a_type, a_kept), (ut, u_type, u_kept) = a, v
    length = wants.outputs if wants.by_place else rows.nrows
    make = xp.zeros if wants.kind == Kind.MASK_LIST and not wants.by_place else xp.empty
    w = xp.empty(length, plan.dtype) if constant is None else None
    present, count = make(length, bool), counter()
    result = RESULT(present=present, w=w, count=count)
    whole = ends == Ends.AT_LAST and not plan.may_stop
    is_full, hubs = isinstance(u, FullVector), None
    if is_full and keeps_hubs and whole and wants.kind == Kind.MASK_NONE and u_kept == EACH:
        hubs = hubs_of(rows, u.values)
    operands = OPERANDS(
        indices=rows.indices,
        a_values=at,
        u_present=None if isinstance(u, FullVector) else u.present,
        u_values=ut,
        hubs=None if hubs is None else hubs.tags,
        hub_bits=0 if hubs is None else hubs.bits,
    )
    held = Held.WITH_HUBS if hubs is not None else Held.IN_FULL if is_full else Held.IN_BITMAP
    types = (rows.indptr.dtype, a_type, a_kept, u_type, u_kept, held)
    block, shared = (BLOCK, 0) if hubs is None else (hubs.block, hubs.shared)
    times = tuning.whole if whole else 1

    def prepare(name: str, items: int, *arguments: Any) -> tuple[Any, int]:
        """Return the kernel, and the number of blocks to launch."""
        kernel = load("spmv.cu", name, plan.spec, *types, *arguments, constants=tuning)
        if hubs is None:
            return kernel, few_blocks_for(items, times)
        return kernel, kernel.resident(block, shared) * hubs.multiprocessors

    room = None
    chunk, long = tuning.chunk, tuning.chunk
    if hubs is None and rows.nvals >= tuning.many:
        long = tuning.middle
    if not whole:
        chunk, long = tuning.wide_chunk, tuning.strip + tuning.wide_chunk
    if rows.nvals > long and longest_row(rows) > long:
        # The kernel queues long rows. If no hubs are used and no fold can end early, the kernel may
        # also queue rows of medium length, so the queue needs space for them.
        shortest = tuning.middle if whole and hubs is None else long
        room = _Room(rows.nvals, chunk, shortest, plan.dtype.itemsize)
    next_rows = room.next_rows if room is not None else NULL if hubs is None else counter()
    items = -(-wants.outputs // tuning.span) if wants.kind == Kind.MASK_FLAGS else wants.outputs
    kernel, grid = prepare("pull_rows", items, wants.kind, ends)
    queue = NO_QUEUE if room is None else room.queue
    kernel(
        *(grid, block, rows.indptr, operands, next_rows, wants.packed, result, queue),
        shared=shared,
    )
    if room is not None:
        lanes = room.count * WARP
        kernel, grid = prepare("pull_chunks", lanes, ends)
        kernel(grid, block, operands, room.next_chunks, queue, room.chunks, shared=shared)
        load("spmv.cu", "join_chunks", plan.spec, ends, constants=tuning)(
            few_blocks_for(lanes, times), BLOCK, queue, room.chunks, size(chunk), result
        )
    values = xp.broadcast_to(constant, (length,)) if w is None else w
    if wants.by_place:
        found = xp.flatnonzero(present)
        values = xp.broadcast_to(constant, (found.size,)) if w is None else w[found]
        return SparseVector(rows.nrows, mask.indices[found], values, mask.is_sorted)  # pyright: ignore
    return BitmapVector(rows.nrows, present, values, Counted(count))


class _Wanted:
    """Describes which elements of the result a mask allows, as arguments for the kernels."""

    def __init__(self, n: int, mask: VectorMask | None) -> None:
        self.kind, self.outputs, self.by_place = Kind.MASK_NONE, n, False
        flags, listed = None, None
        if mask is not None and _is_list(mask):
            self.kind, listed = Kind.MASK_LIST, mask.indices
            self.outputs = mask.indices.size  # pyright: ignore[reportOptionalMemberAccess]
            self.by_place = n > current(matvec.TUNING).huge and self.outputs * 16 < n
        elif mask is not None:
            self.kind, flags = Kind.MASK_FLAGS, presence(mask)
        self.packed = WANTED(
            outputs=self.outputs,
            flags=flags,
            list=listed,
            complement=flags is not None and mask is not None and mask.complement,
            by_place=self.by_place,
        )


@lru_cache
def _all_rows(n: int) -> _Wanted:
    """Return the description of a result without a mask, which has all n elements.

    The description is computed once for each n and cached.
    """
    return _Wanted(n, None)


class _Room:
    """The memory for the queue of long rows and their chunks, and for the folds of chunks.

    All arrays are in a single allocation, because each further allocation would delay the first
    kernel.
    """

    def __init__(self, entries: int, chunk: int, shortest: int, itemsize: int) -> None:
        # All sizes are multiples of eight, so that all arrays are aligned. The numbers of queued
        # rows and of chunks are upper bounds: a queued row has more than `shortest` entries, and is
        # cut into chunks of `chunk` entries and one chunk for the rest.
        long = _eights(entries // shortest + 1)
        self.count = _eights(entries // chunk + entries // shortest + 1)
        sizes = (40 * long, 4 * long, 4 * self.count, itemsize * self.count, self.count)
        self._memory, self._zeros = xp.empty(sum(sizes), xp.uint8), counters(3)
        start, zeros = self._memory.data.ptr, self._zeros.data.ptr
        longs, settled, rows, sums, has = (
            start + before for before in accumulate((0, *sizes[:-1]))
        )
        self.queue = QUEUE(tickets=zeros, longs=longs, settled=settled, chunk_rows=rows)
        self.chunks = CHUNKS(has=has, sums=sums)
        self.next_rows, self.next_chunks = np.uint64(zeros + 8), np.uint64(zeros + 16)


def _eights(n: int) -> int:
    return (n + 7) & ~7
