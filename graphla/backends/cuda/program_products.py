"""Prepare matrices and memory for the products inside a compiled loop (program_products.cuh).

The host waits once per matrix, for statistics of its rows, such as the length of the longest row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.hot_columns import Hubs, hubs_of
from graphla.backends.cuda.launch import BLOCK, NULL, blocks, number, size
from graphla.backends.cuda.matvec import longest_row, nonempty_rows
from graphla.backends.cuda.plan import good_neighbors
from graphla.backends.tuning import current
from graphla.backends.values import count_true
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import Packed, Struct, enumeration
from graphla.formats import Array, Csr, remember

RESERVED = 36 << 10
"""Number of bytes of shared memory that a kernel with products uses in addition to the hubs. Most
of these bytes belong to `ProductRoom`."""

FORM = Struct("program_operands.cuh", "ProductForm")
PEEK_COLUMN, PEEK_ONLY = enumeration("program_operands.cuh", "Peek")
ARRAYS = Struct("program_operands.cuh", "ProductArrays")


@dataclass(frozen=True)
class ProgramProductsTuning:
    """The sizes of chunks, and the minimum size of matrices for a check. A row or column with more
    entries than fit in a chunk is called long, and is cut into chunks."""

    push_chunk: int = 256
    """Number of entries in a chunk of a long column, which a push reads."""
    pull_chunk: int = 1024
    """Number of entries in a chunk of a long row, which a pull reads."""
    check: int = 1 << 21
    """If a matrix has at least this many entries, a pull that folds all terms first checks whether
    u(k) exists for each nonempty column k.

    If all of these entries exist, the pull need not read the presence flags of u.
    """


TUNING = ProgramProductsTuning()


@dataclass(frozen=True, slots=True)
class _Chunks:
    """The chunks of the long lines (rows or columns) of a matrix, ordered by line."""

    lines: Array  # the line of each chunk
    numbers: Array  # the index of each chunk among the chunks of its line

    @property
    def count(self) -> int:
        """The number of chunks."""
        return self.lines.size


def push_form(a: Csr, values: Any = NULL) -> Packed:
    """Pack a matrix for pushes. `a` is the CSC of the matrix: a `Csr` object whose rows are the
    columns of the matrix.

    `values` is the first result of `launch.read`.
    """
    return _form(a, values, current(TUNING).push_chunk)


def pull_form(
    a: Csr, values: Any = NULL, *, hubs: Hubs | None = None, columns: Csr | None = None
) -> Packed:
    """Pack the rows of a matrix for pulls.

    `values` is the first result of `launch.read`. If all pulls that read this form have the
    template argument HELD = WITH_HUBS, pass the result of `hubs_for` as `hubs`. If the monoid is
    ANY, and the product does not read a separate value for each entry, pass the CSC of the matrix
    as `columns`; this makes the pull faster.
    """
    chunk = current(TUNING).pull_chunk
    peeks = None if columns is None else _peeks_of(a, columns, chunk)
    is_checked = hubs is None and columns is None and a.nvals >= current(TUNING).check
    used = _used_columns(a) if is_checked else None
    return _form(a, values, chunk, hubs=hubs, peeks=peeks, used=used)


def hubs_for(a: Csr, dtype: np.dtype[Any]) -> Hubs | None:
    """Return the hubs of a matrix for pulls from full vectors of the given dtype.

    Return None if hubs would save no time. A kernel that pulls WITH_HUBS needs `Hubs.shared` bytes
    of dynamic shared memory, and runs fastest with blocks of `Hubs.block` threads.
    """
    return hubs_of(a, xp.empty(0, dtype), RESERVED)


def arrays(rows: Sequence[Csr]) -> Packed:
    """Allocate `ProductArrays` for one launch. `rows` are the matrices of all pull forms."""
    room = number_of_chunks(rows)
    zeros = xp.zeros(room + 2, xp.uint32)
    return ARRAYS(
        sums=xp.empty(room, xp.uint64),
        has=xp.empty(room, bool),
        arrived=zeros[2:],
        turns=zeros,
    )


def number_of_chunks(rows: Sequence[Csr]) -> int:
    """Return the largest number of chunks of any matrix in `rows`."""
    chunk = current(TUNING).pull_chunk
    return max([_chunks_of(a, chunk).count for a in rows], default=0)


@dataclass(frozen=True, slots=True)
class _Used:
    """The columns of a matrix that have entries: a flag for each column, and their number."""

    flags: Array
    count: int


def _used_columns(a: Csr) -> _Used:
    """Return the columns that have entries, computed once per matrix and cached."""
    return remember(a, "used columns", lambda: _flag_columns(a))


def _flag_columns(a: Csr) -> _Used:
    flags = xp.zeros(-(-a.ncols // 4) * 4, bool)
    if a.nvals:
        kernel = load("matvec.cu", "flag_listed", NOTHING)
        kernel(blocks(a.nvals), BLOCK, a.indices, size(a.nvals), flags)
    return _Used(flags, number(count_true(flags)))


def _form(
    a: Csr,
    values: Any,
    chunk: int,
    *,
    hubs: Hubs | None = None,
    peeks: Array | None = None,
    used: _Used | None = None,
) -> Packed:
    chunks = _chunks_of(a, chunk)
    mean = a.nvals / max(a.nrows, 1)
    return FORM(
        indptr=a.indptr,
        indices=a.indices,
        values=values,
        chunk_lines=chunks.lines,
        chunk_numbers=chunks.numbers,
        peeks=peeks,
        used=None if used is None else used.flags,
        hubs=None if hubs is None else hubs.tags,
        lines=a.nrows,
        entries=a.nvals,
        filled=nonempty_rows(a),
        columns=a.ncols,
        in_use=0 if used is None else used.count,
        chunks=chunks.count,
        longest=chunk,
        group=next((group for group in (1, 2, 4, 8, 16) if group * mean >= 24), 32),
        hub_bits=0 if hubs is None else hubs.bits,
    )


def _chunks_of(a: Csr, chunk: int) -> _Chunks:
    """Return the chunks of the long lines, computed once per matrix and cached."""
    return remember(a, ("chunks", chunk), lambda: _cut(a, chunk))


def _cut(a: Csr, chunk: int) -> _Chunks:
    if longest_row(a) <= chunk:
        return _Chunks(xp.empty(0, xp.int32), xp.empty(0, xp.int32))
    rows, found = xp.empty(2 * (a.nvals // (chunk + 1)), np.int64), xp.zeros(1, np.uint64)
    kernel = load("program_rows.cu", "list_long_rows", NOTHING, a.indptr.dtype)
    kernel(blocks(a.nrows), BLOCK, a.indptr, size(a.nrows), size(chunk), rows, found)
    pairs = xp.asnumpy(rows[: 2 * number(found[0])]).reshape(-1, 2)
    lines, lengths = pairs[pairs[:, 0].argsort()].T
    counts = (lengths + chunk - 1) // chunk
    firsts = np.cumsum(counts) - counts
    numbers = np.arange(int(counts.sum())) - np.repeat(firsts, counts)
    each = np.repeat(lines, counts)
    return _Chunks(xp.asarray(each.astype(np.int32)), xp.asarray(numbers.astype(np.int32)))


def _peeks_of(a: Csr, columns: Csr, chunk: int) -> Array | None:
    """Return, for each row, the entry that a pull tests first, encoded as `Peek` in
    program_operands.cuh."""
    if a.ncols > PEEK_COLUMN:
        return None
    return remember(a, ("peeks", chunk), lambda: _choose_peeks(a, columns, chunk))


def _choose_peeks(a: Csr, columns: Csr, chunk: int) -> Array:
    peeks = good_neighbors(a, columns).view(np.uint32)
    # for an empty row, `good_neighbors` returns -1, and the kernel does not change this element
    if a.nrows:
        kernel = load("program_rows.cu", "flag_peeks", NOTHING, a.indptr.dtype)
        given = size(a.nrows), size(chunk), np.uint32(PEEK_ONLY), np.uint32(1 << 31)
        kernel(blocks(a.nrows), BLOCK, a.indptr, *given, peeks)
    return peeks
