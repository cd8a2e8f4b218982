"""Pull: w(o) = ⊕ over k of mult(A(o, k), u(k)), gathered along the rows that a mask leaves.

Kernels: pull.cu. A row is folded in an order that its length decides, whatever the
grid: the result is the same bits run by run.
Waits: under a short list of outputs of a huge vector, for its entries.
"""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends import Side
from graphla.backends.cuda.frontiers import (
    HUGE,
    Plan,
    constant_of,
    few_blocks_for,
    flags_of,
    lets_none,
    longest,
    measured,
    nothing,
    plan_of,
)
from graphla.backends.cuda.hubs import hubs_of
from graphla.backends.cuda.launching import BLOCK, EACH, NULL, counter, read, size
from graphla.kernels.cuda import load
from graphla.storage import (
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

CHUNK = 2048
LONGEST = 128 + CHUNK
"""A row of more entries may be cut into chunks, as in pull.cu: STRIP + CHUNK."""
WHOLE = 4
"""Times as many blocks read rows to their ends: the card then evens out rows long and short."""
SPAN = 4
"""Times as many rows as it has lanes does a warp look at the flags of, as in pull.cu."""
MASK_NONE, MASK_FLAGS, MASK_LIST = 0, 1, 2  # as MaskKind in gathering.cuh
AT_LAST, AT_FIRST, AT_PRESENCE = 0, 1, 2  # as Ends in gathering.cuh
IN_BITMAP, IN_FULL, WITH_HUBS = 0, 1, 2  # as Held in gathering.cuh


def pull(
    rows: Csr, u: DenseVector, semiring: TypedSemiring, side: Side, mask: VectorMask | None
) -> SparseVector | BitmapVector:
    """w(o) = ⊕ over k of mult(A(o, k), u(k)), for the outputs that the mask lets through."""
    plan = plan_of(semiring, side)
    n, measured.last = rows.nrows, None
    if not n or not rows.nvals or not u.size or (mask is not None and lets_none(mask)):
        return nothing(n, plan.dtype)
    constant = constant_of(plan, rows.values, u.values)
    ends = AT_PRESENCE if constant is not None else AT_FIRST if plan.is_any else AT_LAST
    a = read(rows.values, plan.reads_a and constant is None)
    v = read(u.values, plan.reads_u and constant is None)
    return _pull_rows(rows, u, plan, a, v, mask, ends, constant)


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
        if whole and kind != MASK_LIST and v[2] == EACH:
            hubs = hubs_of(rows, u.values)
    else:
        u_present = u.present
    block, shared, at_hand = BLOCK, 0, (NULL, np.int32(0), NULL)
    if hubs is not None:
        held, block, shared = WITH_HUBS, hubs.block, hubs.shared
    (at, a_type, a_kept), (ut, u_type, u_kept) = a, v
    types = (rows.indptr.dtype, a_type, a_kept, u_type, u_kept, held)
    times = WHOLE if whole else 1

    def launch(name: str, items: int, *arguments: Any) -> tuple[Any, int]:
        """The kernel, and as many blocks as it runs on."""
        kernel = load("pull.cu", name, plan.spec, *types, *arguments)
        if hubs is None:
            return kernel, few_blocks_for(items, times)
        return kernel, kernel.resident(block, shared) * hubs.multiprocessors

    long = _room_for_chunks(rows, plan) if rows.nvals > LONGEST else None
    queue = (NULL, NULL, NULL, NULL) if long is None else long[:4]
    if hubs is not None:
        at_hand = hubs.tags, np.int32(hubs.bits), counter()
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
    if long is not None:
        tickets, longs, _, chunk_rows, has, sums = long
        if hubs is not None:
            at_hand = hubs.tags, np.int32(hubs.bits), counter()
        kernel, grid = launch("pull_chunks", chunk_rows.size * 32, ends)
        ends_of = (*queue, has, sums)
        kernel(grid, block, rows.indices, at, u_present, ut, *at_hand, *ends_of, shared=shared)
        load("pull.cu", "join_chunks", plan.spec, ends)(
            few_blocks_for(chunk_rows.size * 32, times),
            BLOCK,
            *(tickets, longs, has, sums, present, w, count),
        )
    if constant is not None:
        w = xp.broadcast_to(constant, (length,))
    if by_place:
        found = xp.flatnonzero(present)
        values = xp.broadcast_to(constant, (found.size,)) if constant is not None else w[found]  # pyright: ignore[reportIndexIssue]
        return SparseVector(n, listed[found], values, mask.is_sorted)  # pyright: ignore
    return BitmapVector(n, present, w, Counted(count))


def _room_for_chunks(rows: Csr, plan: Plan) -> tuple[Array, ...] | None:
    """Where long rows and their chunks are queued; None if no row is long."""
    if longest(rows) <= LONGEST:
        return None
    long, chunks = rows.nvals // CHUNK + 1, rows.nvals // (CHUNK // 2) + 1
    return (
        counter(),
        xp.empty(40 * long, xp.uint8),
        xp.empty(long, xp.int32),
        xp.empty(chunks, xp.int32),
        xp.empty(chunks, bool),
        xp.empty(chunks, plan.dtype),
    )
