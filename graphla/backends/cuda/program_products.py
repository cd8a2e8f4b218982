"""Prepare matrices and memory for the products inside a compiled loop (program_products.cuh).

The host waits once per matrix, for facts about its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import NULL
from graphla.backends.cuda.matvec import longest_row
from graphla.backends.tuning import current
from graphla.compilers.declarations import Packed, Struct
from graphla.formats import Array, Csr, remember

FORM = Struct("program_products.cuh", "ProductForm")
ARRAYS = Struct("program_products.cuh", "ProductArrays")


@dataclass(frozen=True)
class ProgramProductsTuning:
    """How lines of a matrix are cut into chunks."""

    chunk: int = 1024
    """Number of entries in a chunk of a long row or column.

    A row or column with more entries is long.
    """


TUNING = ProgramProductsTuning()


@dataclass(frozen=True, slots=True)
class _Chunks:
    """The chunks of the long lines of a matrix, line by line."""

    lines: Array  # the line of each chunk
    numbers: Array  # the number of each chunk among the chunks of its line

    @property
    def count(self) -> int:
        """The number of chunks."""
        return self.lines.size


def form(a: Csr, values: Any = NULL) -> Packed:
    """Pack one form of a matrix as `ProductForm`. `values` is the first result of `launch.read`.

    For a pull, `a` contains the rows of the matrix whose product with u is computed. For a push, it
    contains the columns, stored as the rows of a CSR.
    """
    chunks = _chunks_of(a)
    return FORM(
        indptr=a.indptr,
        indices=a.indices,
        values=values,
        chunk_lines=chunks.lines,
        chunk_numbers=chunks.numbers,
        lines=a.nrows,
        entries=a.nvals,
        chunks=chunks.count,
        longest=current(TUNING).chunk,
    )


def arrays(forms: list[Csr]) -> Packed:
    """Allocate memory for the products of one launch with any of the given forms."""
    room = max([_chunks_of(a).count for a in forms], default=0)
    return ARRAYS(
        sums=xp.empty(room, xp.uint64),
        has=xp.empty(room, bool),
        arrived=xp.zeros(room, xp.uint32),
    )


def _chunks_of(a: Csr) -> _Chunks:
    """Return the chunks of the long lines. They are computed once per matrix."""
    chunk = current(TUNING).chunk
    return remember(a, ("chunks", chunk), lambda: _cut(a, chunk))


def _cut(a: Csr, chunk: int) -> _Chunks:
    if longest_row(a) <= chunk:
        return _Chunks(xp.empty(0, xp.int32), xp.empty(0, xp.int32))
    lengths = xp.diff(a.indptr)
    lines = xp.flatnonzero(lengths > chunk)
    counts = (xp.asnumpy(lengths[lines]).astype(np.int64) + chunk - 1) // chunk
    firsts = np.cumsum(counts) - counts
    numbers = np.arange(int(counts.sum())) - np.repeat(firsts, counts)
    each = np.repeat(xp.asnumpy(lines), counts)
    return _Chunks(xp.asarray(each.astype(np.int32)), xp.asarray(numbers.astype(np.int32)))
