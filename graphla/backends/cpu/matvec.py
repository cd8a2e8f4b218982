"""What choosing between pull and push asks: the costs of products, and the lengths of rows."""

from __future__ import annotations

import numpy as np

from graphla.backends import Costs
from graphla.formats import Array, Csr

costs = Costs(
    push_entry=2.0,
    push_first=2.0,
    push_ordered=2.0,
    pull_row=1.0,
    stopping=0.6,
    transpose_entry=5.0,
)
"""Measured by benchmarks/direction.py."""


def count_edges(a: Csr, rows: Array) -> int:
    """How many entries the given rows of a hold."""
    indptr = a.indptr
    if rows.size <= 8:
        return sum(int(indptr[i + 1]) - int(indptr[i]) for i in rows.tolist())
    return int(np.add.reduce(indptr[rows + 1] - indptr[rows], dtype=np.int64))


def nonempty_rows(a: Csr) -> int:
    """Any row may have entries: counting those that do would cost as much as a product."""
    return a.nrows


def longest_row(a: Csr) -> int:
    """A row may hold as many entries as there are: counting what u reaches costs nothing here."""
    return a.nvals
