"""For matrix-vector products: collect the required properties of the semiring, the matrix and the
mask.

Kernels: matvec.cu. The host waits once per matrix, for the length of the longest row and the number
of nonempty rows. In `count_edges` it waits for the number of edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from threading import local
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends import Costs, Side
from graphla.backends.cuda.launch import (
    BLOCK,
    ISO,
    NULL,
    UNREAD,
    blocks,
    card,
    counter,
    read,
    size,
    to_numbers,
)
from graphla.backends.cuda.persistent import run
from graphla.backends.tuning import current
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import NOTHING, Kernel, load
from graphla.formats import Array, Csr, SparseVector, VectorMask, remember
from semirings.structures import TypedSemiring

costs = Costs(
    push_entry=2.4,
    push_first=1.2,
    push_ordered=10.0,
    pull_row=0.6,
    stopping=0.75,
    transpose_entry=12.0,
    push_start=10e6,
    pull_start=6e6,
    transpose_start=2e7,
    small=1 << 14,
)
"""Costs measured by benchmarks/direction_gpu.py. The unit is the time that a pull takes per entry
of the matrix, about 8 ps on an H200."""


@dataclass(frozen=True)
class MatvecTuning:
    """Sizes of the grids and arrays that products of a matrix and a vector use."""

    few_blocks: float = 16
    """Maximum number of blocks per multiprocessor in kernels whose blocks all add to the same
    counter.

    A multiprocessor can hold half of these blocks at the same time.
    """
    huge: int = 1 << 27
    """If a product has more outputs than this number, but computes only a few listed outputs, it
    uses no temporary arrays with an element for every output."""
    part: int = 1024
    """Number of rows in a part. One block counts the entries in the rows of a part."""
    parts: int = 1024
    """Maximum number of parts; if there are more rows, the parts are longer."""


TUNING = MatvecTuning()


@dataclass(frozen=True, slots=True)
class Plan:
    """The properties of a semiring that pull and push use."""

    spec: tuple[Any, ...]
    dtype: np.dtype[Any]
    reads_a: bool
    reads_u: bool
    is_positional: bool
    is_any: bool
    is_idempotent: bool
    may_stop: bool  # whether a fold may end before the end of a row
    is_exact: bool  # whether a fold returns the same bits for every order of the terms
    # whether all terms are equal, and their fold is the same value, if both operands are iso-valued
    may_be_constant: bool


@lru_cache(maxsize=4096)
def plan_of(semiring: TypedSemiring, side: Side) -> Plan:
    """Return the plan of a semiring."""
    op, monoid = semiring.binaryop, semiring.monoid
    a, u = (op.reads_x, op.reads_y) if side == "mxv" else (op.reads_y, op.reads_x)
    return Plan(
        (cuda_ops.matrix_vector, semiring, side),
        monoid.type.np_type,
        a,
        u,
        op.is_positional,
        monoid.is_any,
        monoid.is_idempotent or monoid.is_any,
        monoid.terminal is not None and not monoid.type.is_float,
        not monoid.is_any and not monoid.type.is_float,
        (monoid.is_idempotent or monoid.is_any) and not op.is_positional,
    )


def constant_of(plan: Plan, a: Array, u: Array) -> Array | None:
    """Return the common value of all terms x if they are equal and x ⊕ x = x, otherwise None."""
    if not plan.may_be_constant:
        return None
    (at, a_type, a_kept), (ut, u_type, u_kept) = read(a, plan.reads_a), read(u, plan.reads_u)
    if a_kept not in (UNREAD, ISO) or u_kept not in (UNREAD, ISO):
        return None
    z = xp.empty(1, plan.dtype)
    kernel = load("matvec.cu", "constant_term", plan.spec, a_type, a_kept, u_type, u_kept)
    kernel(1, 1, at, ut, z)
    return z


def nothing(n: int, dtype: np.dtype[Any]) -> SparseVector:
    """Return a vector of size n without entries."""
    return SparseVector(n, xp.empty(0, xp.int32), xp.empty(0, dtype))


def longest_row(a: Csr) -> int:
    """Return the number of entries of the longest row."""
    return remember(a, "row facts", lambda: _row_facts(a))[0]


def nonempty_rows(a: Csr) -> int:
    """Return the number of rows that have entries."""
    return remember(a, "row facts", lambda: _row_facts(a))[1]


def _row_facts(a: Csr) -> list[int]:
    """Return the number of entries in the longest row, and the number of nonempty rows."""
    facts = xp.zeros(2, xp.int64)
    if a.nrows:
        kernel = load("matvec.cu", "row_facts", NOTHING, a.indptr.dtype)
        kernel(few_blocks_for(a.nrows), BLOCK, a.indptr, size(a.nrows), facts)
    return to_numbers(facts)


@dataclass(frozen=True, slots=True)
class _Counted:
    """The running sums of the numbers of entries in some rows of a matrix.

    The list of rows is divided into parts of `length` rows, and each part has its own running sums.
    """

    a: Csr
    rows: Array
    # First the running sums within the parts, then, for each part, the sum of all parts before it.
    ends: Array
    length: int

    def join(self) -> Array:
        """Add to the sums of each part the total of all previous parts, and return the running sums
        over all rows."""
        count = self.rows.size
        if count > self.length:
            kernel = load("matvec.cu", "join_parts", NOTHING)
            grid = blocks(count - self.length)
            kernel(grid, BLOCK, size(count), size(self.length), self.ends)
        return self.ends[:count]


class Measured(local):
    """The result of this thread's last call of `count_edges`. A product with the same frontier
    reuses this result, so that the edges are not counted twice."""

    last: tuple[_Counted, int] | None = None

    def take(self, a: Csr, rows: Array) -> tuple[Array | None, int]:
        """Return the result of `edge_ends` for the given rows, and the number of their edges. If
        the last call of `count_edges` had other rows, return (None, 0)."""
        last, self.last = self.last, None
        if last is None or last[0].a is not a or last[0].rows is not rows:
            return None, 0
        return last[0].join(), last[1]


measured = Measured()


def count_edges(a: Csr, rows: Array) -> int:
    """Return the number of entries in the given rows. Counting takes one launch, and the host waits
    for the number."""
    if not rows.size:
        return 0
    kernel, grid, counted, args = _counting(a, rows)
    _, low, high = run(kernel, grid, BLOCK, *args, results=2, cooperative=False)
    total = high << 32 | low
    measured.last = counted, total
    return total


def edge_ends(a: Csr, rows: Array) -> Array:
    """Count the entries of each given row, and return the running sums of these counts."""
    kernel, grid, counted, args = _counting(a, rows)
    kernel(grid, BLOCK, counter(), np.uint32(0), NULL, np.uint32(0), np.int64(0), *args)
    return counted.join()


def _counting(a: Csr, rows: Array) -> tuple[Kernel, int, _Counted, tuple[Any, ...]]:
    """Return the kernel that counts entries, its grid, its result, and its arguments."""
    count = rows.size
    tuning = current(TUNING)
    parts = min(-(-count // tuning.part), tuning.parts)
    length = -(-count // parts)
    parts = -(-count // length)
    ends = xp.empty(count + parts, xp.int64)
    kernel = load("matvec.cu", "ends_of_parts", NOTHING, a.indptr.dtype)
    args = (a.indptr, rows, size(count), size(length), ends)
    return kernel, parts, _Counted(a, rows, ends, length), args


def few_blocks_for(items: int, times: int = 1) -> int:
    """Return a number of blocks for which one atomic addition per block costs almost nothing."""
    return few_blocks(blocks(items), times)


def few_blocks(wanted: int, times: int = 1) -> int:
    """Return min(`wanted`, m), where m is the number of blocks in a grid with `times` *
    `TUNING.few_blocks` blocks per multiprocessor."""
    return min(wanted, times * round(current(TUNING).few_blocks * card().multiprocessors))


def presence(mask: VectorMask) -> Array:
    """Return the flags of the mask, one per index. The complement of the mask is not applied."""
    if mask.present is not None:
        return mask.present
    flags = xp.zeros(mask.size, bool)
    listed: Any = mask.indices
    if listed.size:
        kernel = load("matvec.cu", "flag_listed", NOTHING)
        kernel(blocks(listed.size), BLOCK, listed, size(listed.size), flags)
    return flags


def allows_none(mask: VectorMask) -> bool:
    """Return whether the mask is known to allow no index."""
    return mask.indices is not None and not mask.complement and not mask.indices.size
