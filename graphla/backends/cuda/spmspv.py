"""Push: w(o) = ⊕ over k of mult(A(o, k), u(k)), reading only columns k where u has an entry.

Kernels: spmspv.cu, matvec.cu. An *edge* is an entry of such a column, and an *output* is an index o
of the result. Atomic operations combine the terms of an output. If the order of the terms could
change the bits of the result and `config.deterministic` is set, the edges are instead sorted by
output, and the terms of each output are combined in the order of k.

The host waits for the number of entries of a sparse result, unless a single block processes all
edges. With `config.deterministic`, it also waits for the number of edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
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
    OutputBuffer,
    PendingCount,
    blocks,
    counter,
    csr,
    int32,
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
from graphla.compilers.declarations import Constant, Struct, enumeration
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
    """Limits that determine how a push divides its edges, and when its result is dense."""

    tile: int = 2048
    """Number of edges in a tile. The kernels of spmspv.cu read this constant."""
    small: int = 1 << 12
    """If the matrix has at most this number of entries, the length of its longest column is not
    looked up.

    The number of entries is then used as an upper bound on this length.
    """
    short: int = 64
    modest: int = 1 << 17
    """Limits up to which a few threads read each column, and the edges are not divided into tiles.

    No column of the matrix may have more than `short` entries, and the columns at which u has an
    entry may have at most `modest` entries (edges) in total. Below these limits, tiles would only
    add launches. With more edges, tiles are faster, because they update the counter of outputs once
    per tile, not once per output.
    """
    dense: int = 8
    """If a product is expected to have at least n / `dense` terms, they are combined in a dense
    array.

    n is the size of the result.
    """
    alone_edges: int = 1 << 13
    """Maximum number of edges that a single block processes alone."""
    alone_outputs: int = 32 * 512
    """Maximum size of the result if a single block processes all edges.

    The kernels of spmspv.cu read this constant.
    """
    large: int = 1 << 20
    """If only a small part of an array with at least this many elements is needed, the part is
    copied, so that the memory of the array can be freed.
    """


TUNING = SpmspvTuning()

NO_LIST = Constant(np.int64(-1))
"""The length that is passed to the kernel if the mask is not given as a list of indices."""

Way = enumeration("spmspv.cu", "Way")
FRONTIER, OUTPUTS = Struct("spmspv.cu", "Frontier"), Struct("spmspv.cu", "Outputs")


def push(
    columns: Csr, u: SparseVector, semiring: TypedSemiring, side: Side, mask: VectorMask | None
) -> SparseVector | BitmapVector:
    """Return w, where w(o) = ⊕ over k of mult(A(o, k), u(k)).

    Only the columns k of A at which u has an entry are read.
    """
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
        return edges.list_outputs(Way.CLAIM_ALONE, constant)
    if not plan.is_exact and settings.current().deterministic:
        return _push_in_order(edges, semiring)
    if plan.is_any:
        return edges.list_outputs(Way.CLAIM)
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
    """Combine the terms of the product in a dense array, and return it as a bitmap.

    In contrast to a sparse result, a dense result needs no list of outputs, and the host does not
    wait for their number.
    """
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
    """Return the semiring with the given monoid as ⊕, and `second` as ⊗.

    In a product A ⊕.⊗ u over this semiring, ⊗ returns the entry of u and ignores the value of A. So
    the product combines, for each row of A, the entries of u at the row's column indices.
    """
    return Semiring(f"{monoid.name}_second", monoid.monoid, binary.second)[monoid.type]


class _Edges:
    """The edges of a push: all entries of the columns at which u has an entry.

    The methods run the kernels that process these edges. The attribute `most` is an upper bound on
    the number of edges, and the attribute `room` an upper bound on the number of outputs.
    """

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
        """Sort the entries of u by index, and return the number of edges of this push."""
        if not self.u.is_sorted:
            order = self.u.indices.argsort()
            values = self.u.values
            values = values if values.strides[0] == 0 else values[order]
            self.u = SparseVector(self.u.size, self.u.indices[order], values)
        self.ends, self.is_alone = edge_ends(self.columns, self.u.indices), False
        return number(self.ends[-1])

    def list_outputs(self, way: int, constant: Array | None = None) -> SparseVector:
        """Return a sparse vector with an entry for each output of the edges, in any order.

        If `way` is CLAIM, the value of each entry is one of the terms of its output. Otherwise all
        values are constant[0].
        """
        if self.is_alone:
            buffer, count = OutputBuffer(self.room, self.plan.dtype), PendingCount()
            w = buffer.values if constant is None else None
            self.run(way, w=w, indices=buffer.indices, count=count.address)
            take = buffer if constant is None else partial(_repeat, buffer, constant)
            return PendingVector(self.n, is_sorted=False, count=count, take=take)
        w = xp.empty(self.room, self.plan.dtype) if constant is None else None
        indices, found = self.claim(way, w)
        if constant is None:
            values = _cut(w, found, self.tuning.large)
        else:
            values = xp.broadcast_to(constant, (found,))
        return SparseVector(self.n, indices, values, False)

    def claim(self, way: int, w: Any) -> tuple[Array, int]:
        """Return a list of the outputs of the edges, and the number of these outputs.

        Many blocks build the list together. Afterwards the attribute `bits` contains a bitmap of
        these outputs.
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
        matrix = csr(columns, a)  # created once per matrix and cached with it
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
            kernel(blocks(entries * threads), BLOCK, frontier, int32(threads), matrix, outputs)
            return
        listed, length = NULL, NO_LIST
        if mask is not None and not is_flagged:
            listed, length = mask.indices, size(mask.indices.size)  # pyright: ignore[reportOptionalMemberAccess]
        kernel = load("spmspv.cu", "push_alone", plan.spec, *types, constants=tuning)
        kernel(1, WIDEST_BLOCK, frontier, int32(threads), matrix, outputs, listed, length)


def _repeat(buffer: OutputBuffer, constant: Array, entries: int) -> tuple[Array, Array]:
    """Return the first `entries` indices in `buffer`, and the value `constant` for each of them."""
    return buffer(entries)[0], xp.broadcast_to(constant, (entries,))


def _cells(n: int, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Return an uninitialized array that supports atomic operations, and its first n elements.

    An atomic operation on an element of less than 4 bytes updates the whole 4-byte word that
    contains the element. So the array consists of whole words.
    """
    words = -(-n * dtype.itemsize // 4) * 4
    whole = xp.empty(words // dtype.itemsize, dtype)
    return whole, whole if whole.size == n else whole[:n]


def _cut(array: Array, count: int, large: int) -> Array:
    """Return the first `count` elements of the array.

    If they are a small part of a large array, return a copy, so that the array can be freed.
    """
    if count == array.size:
        return array
    is_few = array.size >= large and count * 8 < array.size and not is_iso(array)
    return array[:count].copy() if is_few else array[:count]
