"""Push: w(o) = ⊕ over k of mult(A(o, k), u(k)), scattered along the columns that u lists.

Kernels: spmspv.cu, matvec.cu. Terms are folded with atomics. If the order of the terms could change
the bits of the result and `config.deterministic` is set, the edges are sorted by output and folded
in order.

The host waits for the number of entries of a sparse result, unless one block pushes along all
edges. With `config.deterministic` it also waits for the number of edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cupy as xp
import numpy as np

from graphla import settings
from graphla.backends import Side
from graphla.backends.cuda import matvec
from graphla.backends.cuda.convert import to_bitmap
from graphla.backends.cuda.launch import (
    BLOCK,
    INT32_END,
    NOT_READ,
    NULL,
    WARP,
    WIDEST_BLOCK,
    PendingCount,
    blocks,
    counter,
    csr,
    number,
    read,
    size,
)
from graphla.backends.cuda.matvec import (
    Plan,
    allows_none,
    constant_of,
    edge_ends,
    few_blocks,
    longest_row,
    measured,
    nothing,
    plan_of,
    presence,
)
from graphla.backends.cuda.select import scan_and_count
from graphla.backends.cuda.spmv import pull
from graphla.backends.cuda.transpose import transpose
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import Struct, enumeration
from graphla.formats import (
    Array,
    BitmapVector,
    Counted,
    Csr,
    FullVector,
    PendingVector,
    SparseVector,
    VectorMask,
    is_iso,
)
from semirings import binary
from semirings.structures import Semiring, TypedMonoid, TypedSemiring


@dataclass(frozen=True)
class SpmspvTuning:
    """Limits for cutting edges into tiles, and for folding terms into a dense array."""

    tile: int = 2048
    """Number of edges in a tile. The kernels of spmspv.cu read this constant."""
    small: int = 1 << 12
    """If the matrix has at most this number of entries, its longest row is not looked up."""
    short: int = 64
    modest: int = 1 << 17
    """Limit up to which a few threads push along each column.

    No column may have more than `short` entries, and u may have at most `modest` edges in total.
    Tiles would need more launches. With more than `modest` edges tiles are faster: they update the
    counter of outputs once per tile, not once per output.
    """
    dense: int = 8
    """If there are at least size / dense terms, they are folded directly into a dense result."""
    alone_edges: int = 1 << 13
    """A single block pushes along up to this number of edges."""
    alone_outputs: int = 32 * 512
    """Maximum number of outputs of such a block. The kernels of spmspv.cu read this constant."""
    large: int = 1 << 20
    """Minimum size of an array that is freed after a small part of it has been copied."""


TUNING = SpmspvTuning()

NO_LIST = np.int64(-1)
"""The length that stands for a mask without a list of indices."""

Way = enumeration("spmspv.cu", "Way")
FRONTIER, OUTPUTS = Struct("spmspv.cu", "Frontier"), Struct("spmspv.cu", "Outputs")


def push(
    columns: Csr, u: SparseVector, semiring: TypedSemiring, side: Side, mask: VectorMask | None
) -> SparseVector | BitmapVector:
    """Return w(o) = ⊕ over k of mult(A(o, k), u(k)), along columns k at which u has an entry."""
    plan = plan_of(semiring, side)
    n = columns.ncols
    if not n or not columns.indices.size or not u.indices.size:
        return nothing(n, plan.dtype)
    if mask is not None and not mask.complement and allows_none(mask):
        return nothing(n, plan.dtype)
    constant = constant_of(plan, columns.values, u.values) if plan.may_be_constant else None
    edges = _Edges(columns, u, plan, mask, current(TUNING))
    if not edges.most:
        return nothing(n, plan.dtype)
    if constant is not None:
        return edges.list_outputs(Way.CLAIM_ALONE, xp.broadcast_to(constant, (edges.room,)))
    if not plan.is_exact and settings.current().deterministic:
        return _push_in_order(edges, semiring)
    if plan.is_any:
        return edges.list_outputs(Way.CLAIM, xp.ndarray(edges.room, plan.dtype))
    if edges.expected * edges.tuning.dense >= n:
        return _push_dense(edges, semiring.monoid)
    if n > current(matvec.TUNING).huge and edges.most * 16 < n:
        return _push_in_order(edges, semiring)
    whole, w = _cells(n, plan.dtype)
    indices, count = edges.claim(Way.CLAIM_IDENTITY, whole)
    edges.run(Way.FOLD, w=whole)
    values = xp.empty(count, plan.dtype)
    if count:
        kernel = load("matvec.cu", "look_up", NOTHING, plan.dtype)
        kernel(blocks(count), BLOCK, w, indices, size(count), values)
    return SparseVector(n, indices, values, False)


def _push_dense(edges: _Edges, monoid: TypedMonoid) -> BitmapVector:
    """Fold the terms into a dense array, which needs neither a list of outputs nor a wait."""
    n, count = edges.n, counter()
    whole, w = _cells(n, edges.plan.dtype)
    if edges.is_alone:
        present = xp.empty(n, bool)
    else:
        whole.fill(monoid.identity)
        present = xp.zeros(n, bool)
        edges.bits = xp.zeros(-(-n // WARP), xp.uint32)
    edges.run(Way.FOLD_DENSE, w=whole, present=present, count=count)
    return BitmapVector(n, present, w, Counted(count))


def _push_in_order(edges: _Edges, semiring: TypedSemiring) -> SparseVector | BitmapVector:
    """Sort the edges by output, and fold the terms of each output in the order of u's entries."""
    total = edges.in_order()
    if total >= INT32_END:  # too many terms for int32 positions
        rows, u = transpose(edges.columns), to_bitmap(edges.u)
        return pull(rows, u, semiring, edges.plan.spec[2], edges.mask)
    keys, terms = xp.empty(total, xp.int32), xp.empty(total, edges.plan.dtype)
    if not total:
        return nothing(edges.n, edges.plan.dtype)
    edges.run(Way.EXPAND, w=terms, indices=keys)
    order = xp.argsort(keys)
    keys = keys[order]
    grid, last = blocks(total), np.int32(edges.n)
    runs = xp.empty(total, xp.int64)
    load("matvec.cu", "run_heads", NOTHING)(grid, BLOCK, keys, size(total), last, runs)
    count = scan_and_count(runs)
    if not count:
        return nothing(edges.n, edges.plan.dtype)
    indptr, outputs = xp.empty(count + 1, xp.int32), xp.empty(count, xp.int32)
    load("matvec.cu", "run_rows", NOTHING)(
        grid, BLOCK, keys, runs, size(total), last, indptr, outputs
    )
    by_run = Csr(count, total, indptr, order.astype(xp.int32), terms)
    w = pull(by_run, FullVector(total, terms), _seconds(semiring.monoid), "mxv", None)
    return SparseVector(edges.n, outputs, w.values)


@lru_cache(maxsize=4096)
def _seconds(monoid: TypedMonoid) -> TypedSemiring:
    """Return the semiring ⊕.second, whose product folds entries of u and ignores A's values."""
    return Semiring(f"{monoid.name}_second", monoid.monoid, binary.second)[monoid.type]


class _Edges:
    """The edges of a frontier: an upper bound on their number, and the kernels that push them."""

    def __init__(
        self,
        columns: Csr,
        u: SparseVector,
        plan: Plan,
        mask: VectorMask | None,
        tuning: SpmspvTuning,
    ) -> None:
        self.columns, self.u, self.plan, self.mask = columns, u, plan, mask
        self.n, self.tuning = columns.ncols, tuning
        nvals, entries = columns.indices.size, u.indices.size
        self.longest = longest_row(columns) if nvals > tuning.small else nvals
        self.most = min(entries * self.longest, nvals)
        self.expected = min(self.most, -(-entries * nvals // columns.nrows))
        self.room = min(self.most, self.n)
        self.flags = None if mask is None else mask.present
        self.bits: Any = None
        self.ends, total = None, 0
        if measured.last is not None:
            self.ends, total = measured.take(columns, u.indices)
        if self.ends is not None:
            self.most, self.expected, self.room = total, total, min(total, self.n)
        elif self.most > (tuning.modest if self.longest <= tuning.short else tuning.small):
            self.ends = edge_ends(columns, u.indices)
        self.is_alone = (
            self.ends is None and self.most <= tuning.alone_edges and self.n <= tuning.alone_outputs
        )

    def in_order(self) -> int:
        """Sort u's entries, and count their edges."""
        if not self.u.is_sorted:
            order = self.u.indices.argsort()
            values = self.u.values
            values = values if values.strides[0] == 0 else values[order]
            self.u = SparseVector(self.u.size, self.u.indices[order], values)
        self.ends, self.is_alone = edge_ends(self.columns, self.u.indices), False
        return number(self.ends[-1])

    def list_outputs(self, way: int, values: Array) -> SparseVector:
        """Return the outputs that the edges reach, each once and in any order, with `values`.

        `values` has space for the terms. If all outputs have the same value, it holds that value.
        """
        w = values if way == Way.CLAIM else None
        if self.is_alone:
            indices, count = xp.ndarray(self.room, np.int32), PendingCount()
            self.run(way, w=w, indices=indices, count=count.address)
            return PendingVector(self.n, indices, values, False, count)
        indices, found = self.claim(way, w)
        return SparseVector(self.n, indices, _cut(values, found, self.tuning.large), False)

    def claim(self, way: int, w: Any) -> tuple[Array, int]:
        """Return the outputs that the edges reach, and their number, using many blocks.

        Afterwards `bits` is the bit map of these outputs.
        """
        self.is_alone = False
        indices = xp.ndarray(self.room, np.int32)
        self.bits, count = xp.zeros(-(-self.n // WARP), xp.uint32), counter()
        self.run(way, w=w, indices=indices, count=count)
        found = number(count)
        return _cut(indices, found, self.tuning.large), found

    def run(
        self, way: int, *, w: Any, indices: Any = None, present: Any = None, count: Any = None
    ) -> None:
        columns, u, plan, mask = self.columns, self.u, self.plan, self.mask
        has_terms = way not in (Way.CLAIM_ALONE, Way.CLAIM_IDENTITY)
        a, v = NULL, None
        _, a_type, a_kept = _, u_type, u_kept = NOT_READ
        if plan.reads_a and has_terms:
            a, a_type, a_kept = read(columns.values)
        if plan.reads_u and has_terms:
            v, u_type, u_kept = read(u.values)
        if mask is not None and self.flags is None and not self.is_alone:
            self.flags = presence(mask)
        is_flagged = self.flags is not None
        types = (columns.indptr.dtype, a_type, a_kept, u_type, u_kept, is_flagged, way)
        entries = u.indices.size
        frontier = FRONTIER(entries=entries, indices=u.indices, values=v, ends=self.ends)
        matrix = csr(columns, a)  # packed once per matrix, and cached there
        outputs = OUTPUTS(
            size=self.n,
            flags=self.flags,
            complement=mask is not None and mask.complement,
            claimed=self.bits,
            present=present,
            indices=indices,
            w=w,
            count=count,
        )
        tuning = self.tuning
        if self.ends is not None:
            grid = few_blocks(-(-self.most // tuning.tile))
            kernel = load("spmspv.cu", "push_tiles", plan.spec, *types, constants=tuning)
            kernel(grid, BLOCK, frontier, matrix, outputs)
            return
        threads = min(WARP, 1 << max(0, self.longest // 2).bit_length())
        if not self.is_alone:
            kernel = load("spmspv.cu", "push_columns", plan.spec, *types, constants=tuning)
            kernel(blocks(entries * threads), BLOCK, frontier, np.int32(threads), matrix, outputs)
            return
        listed, length = NULL, NO_LIST
        if mask is not None and not is_flagged:
            listed, length = mask.indices, np.int64(mask.indices.size)  # pyright: ignore[reportOptionalMemberAccess]
        kernel = load("spmspv.cu", "push_alone", plan.spec, *types, constants=tuning)
        kernel(1, WIDEST_BLOCK, frontier, np.int32(threads), matrix, outputs, listed, length)


def _cells(n: int, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Return an array for atomics, padded to whole words, and a view of its first n elements.

    Atomics on elements with less than 4 bytes update the whole word of 4 bytes.
    """
    words = -(-n * dtype.itemsize // 4) * 4
    whole = xp.empty(words // dtype.itemsize, dtype)
    return whole, whole if whole.size == n else whole[:n]


def _cut(array: Array, count: int, large: int) -> Array:
    """Return the first `count` elements.

    If they are a small part of a large array, return a copy, so that the rest can be freed.
    """
    if count == array.size:
        return array
    is_few = array.size >= large and count * 8 < array.size and not is_iso(array)
    return array[:count].copy() if is_few else array[:count]
