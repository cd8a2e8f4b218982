"""Pull: w(o) = ⊕ over k of mult(A(o, k), u(k)), gathered along the rows that a mask leaves.

Kernels: spmv.cu. A row is folded in an order that its length decides, whatever the
grid: the result is the same bits run by run.
Waits: under a short list of outputs of a huge vector, for its entries.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends import Side
from graphla.backends.cuda.hot_columns import hubs_of
from graphla.backends.cuda.launch import BLOCK, EACH, NULL, counter, counters, read, size
from graphla.backends.cuda.matvec import (
    HUGE,
    Plan,
    constant_of,
    few_blocks_for,
    flags_of,
    lets_none,
    longest_row,
    measured,
    nothing,
    plan_of,
)
from graphla.compilers.cuda import load
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

CHUNK, MIDDLE = 1024, 128
"""Number of entries of a chunk, and length of the longest row that its own warp always reads, as in
spmv.cu."""
MANY = 1 << 16
"""Number of entries of a matrix from which two more launches pay off for rows of middle length."""
WIDE_CHUNK, STRIP = 2048, 128
"""For rows that may end early: entries of a chunk, and of the strip before the first chunk."""
WHOLE = 4
"""Times as many blocks read rows to their ends: the card then evens out rows long and short."""
SPAN = 4
"""Times as many rows as it has lanes does a warp look at the flags of, as in spmv.cu."""
MASK_NONE, MASK_FLAGS, MASK_LIST = 0, 1, 2  # as MaskKind in gathering.cuh
AT_LAST, AT_FIRST, AT_PRESENCE = 0, 1, 2  # as Ends in gathering.cuh
IN_BITMAP, IN_FULL, WITH_HUBS = 0, 1, 2  # as Held in gathering.cuh


def pull(
    rows: Csr,
    u: DenseVector,
    semiring: TypedSemiring,
    side: Side,
    mask: VectorMask | None,
    *,
    hubs: bool = True,
) -> SparseVector | BitmapVector:
    """w(o) = ⊕ over k of mult(A(o, k), u(k)), for the outputs that the mask lets through.

    `hubs`: whether the values read most often may be kept in shared memory, where that pays.
    """
    plan = plan_of(semiring, side)
    n, measured.last = rows.nrows, None
    if not n or not rows.nvals or not u.size or (mask is not None and lets_none(mask)):
        return nothing(n, plan.dtype)
    constant = constant_of(plan, rows.values, u.values)
    ends = AT_PRESENCE if constant is not None else AT_FIRST if plan.is_any else AT_LAST
    a = read(rows.values, plan.reads_a and constant is None)
    v = read(u.values, plan.reads_u and constant is None)
    return _pull_rows(rows, u, plan, a, v, mask, ends, constant, hubs)


def _is_list(mask: VectorMask) -> bool:
    """Whether rows come from the mask's list: unless its flags are there, and the list is long."""
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
    """Each output by a thread, then a warp, then in chunks; any mask, any end of a row."""
    n, outputs, kind = rows.nrows, rows.nrows, MASK_NONE
    flags, complement = NULL, False
    listed: Any = NULL
    if mask is not None:
        if _is_list(mask):
            kind, listed = MASK_LIST, mask.indices
            outputs = mask.indices.size  # pyright: ignore[reportOptionalMemberAccess]
        else:
            kind, flags, complement = MASK_FLAGS, flags_of(mask), mask.complement
    by_place = kind == MASK_LIST and n > HUGE and outputs * 16 < n
    length = outputs if by_place else n
    make = xp.zeros if kind == MASK_LIST and not by_place else xp.empty
    present, w, count = make(length, bool), NULL, counter()
    if constant is None:
        w = xp.empty(length, plan.dtype)
    whole = ends == AT_LAST and not plan.may_stop
    held, u_present, hubs = IN_BITMAP, NULL, None
    if isinstance(u, FullVector):
        held = IN_FULL
        if keeps_hubs and whole and kind == MASK_NONE and v[2] == EACH:
            hubs = hubs_of(rows, u.values)
    else:
        u_present = u.present
    block, shared, at_hand = BLOCK, 0, (NULL, np.int32(0))
    if hubs is not None:
        held, block, shared = WITH_HUBS, hubs.block, hubs.shared
    (at, a_type, a_kept), (ut, u_type, u_kept) = a, v
    types = (rows.indptr.dtype, a_type, a_kept, u_type, u_kept, held)
    times = WHOLE if whole else 1

    def launch(name: str, items: int, *arguments: Any) -> tuple[Any, int]:
        """The kernel, and as many blocks as it runs on."""
        kernel = load("spmv.cu", name, plan.spec, *types, *arguments)
        if hubs is None:
            return kernel, few_blocks_for(items, times)
        return kernel, kernel.resident(block, shared) * hubs.multiprocessors

    queue: tuple[Any, ...] = (NULL, NULL, NULL, NULL)
    chunks: tuple[Any, ...] = ()
    room = None
    next_rows, next_chunks = NULL, NULL
    chunk, long = CHUNK, MIDDLE if hubs is None and rows.nvals >= MANY else CHUNK
    if not whole:
        chunk, long = WIDE_CHUNK, STRIP + WIDE_CHUNK
    if rows.nvals > long and longest_row(rows) > long:
        # If there is a queue, the kernel puts rows of middle length into it too.
        shortest = MIDDLE if whole and hubs is None else long
        room = _Room(rows.nvals, chunk, shortest, plan.dtype.itemsize)
        queue, chunks = room.queue, room.chunks
        next_rows, next_chunks = room.next
    elif hubs is not None:
        next_rows = counter()
    if hubs is not None:
        at_hand = hubs.tags, np.int32(hubs.bits)
    items = -(-outputs // SPAN) if kind == MASK_FLAGS else outputs
    kernel, grid = launch("pull_rows", items, kind, ends)
    kernel(
        grid,
        block,
        size(outputs),
        rows.indptr,
        rows.indices,
        at,
        u_present,
        ut,
        *at_hand,
        next_rows,
        flags,
        np.bool_(complement),
        listed,
        np.bool_(by_place),
        present,
        w,
        count,
        *queue,
        shared=shared,
    )
    if room is not None:
        lanes = room.count * 32
        kernel, grid = launch("pull_chunks", lanes, ends)
        u_is = (u_present, ut, *at_hand, next_chunks)
        kernel(grid, block, rows.indices, at, *u_is, *queue, *chunks, shared=shared)
        load("spmv.cu", "join_chunks", plan.spec, ends)(
            few_blocks_for(lanes, times), BLOCK, *queue[:2], *chunks, size(chunk), present, w, count
        )
    if constant is not None:
        w = xp.broadcast_to(constant, (length,))
    if by_place:
        found = xp.flatnonzero(present)
        values = xp.broadcast_to(constant, (found.size,)) if constant is not None else w[found]  # pyright: ignore[reportIndexIssue]
        return SparseVector(n, listed[found], values, mask.is_sorted)  # pyright: ignore
    return BitmapVector(n, present, w, Counted(count))


class _Room:
    """Where long rows and their chunks are queued, and the folds of these lie: one allocation, as
    each would keep the first kernel waiting longer.
    """

    def __init__(self, entries: int, chunk: int, shortest: int, itemsize: int) -> None:
        # Multiples of eight keep all arrays aligned. A row here has more than `shortest` entries:
        # one chunk for every `chunk` entries, and one for the rest.
        long = _eights(entries // shortest + 1)
        self.count = _eights(entries // chunk + entries // shortest + 1)
        sizes = (40 * long, 4 * long, 4 * self.count, itemsize * self.count, self.count)
        self._memory, self._zeros = xp.empty(sum(sizes), xp.uint8), counters(3)
        start, zeros = self._memory.data.ptr, self._zeros.data.ptr
        longs, settled, rows, sums, has = (
            np.uint64(start + before) for before in accumulate((0, *sizes[:-1]))
        )
        self.queue = (np.uint64(zeros), longs, settled, rows)
        self.chunks = (has, sums)
        self.next = (np.uint64(zeros + 8), np.uint64(zeros + 16))


def _eights(n: int) -> int:
    return (n + 7) & ~7
