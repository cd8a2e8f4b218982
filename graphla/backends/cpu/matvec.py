"""Estimates for the choice between pull and push: the costs of a product, and bounds on the lengths
of rows."""

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
    """Return the number of entries in the given rows of the matrix `a`."""
    indptr = a.indptr
    if rows.size <= 8:
        return sum(int(indptr[i + 1]) - int(indptr[i]) for i in rows.tolist())
    return int(np.add.reduce(indptr[rows + 1] - indptr[rows], dtype=np.int64))


def nonempty_rows(a: Csr) -> int:
    """Return an upper bound on the number of rows that have entries, namely the number of all rows.

    An exact count would cost as much as a product.
    """
    return a.nrows


def longest_row(a: Csr) -> int:
    """Return an upper bound on the number of entries in a row, namely the number of all entries.

    The CPU backend needs no better bound: at almost no cost, it can count the entries in the rows
    that a product reads.
    """
    return a.nvals
