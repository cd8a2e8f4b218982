"""Extract rows and columns of a matrix.

Row k of the result is row rows[k] of the matrix, or row k if `has_rows` is 0. Column j of the
matrix becomes column places[j] of the result; places[j] is -1 if the result omits column j. Columns
keep their order. If `has_places` is 0, the result has all columns.
"""

from typing import Any, NamedTuple

import numpy as np

ONE = np.uint64(1)


class Rows(NamedTuple):
    """A matrix in CSR, and the parameters described in the module docstring."""

    indptr: Any
    indices: Any
    values: Any
    rows: Any
    places: Any
    has_values: Any
    has_rows: Any
    has_places: Any


def copy(a: Rows, out_indptr, out_indices, out_values, to, start, stop):
    """Write rows start..stop of the result from position `to` on, and their indptr.

    Return the position after the last entry. If `has_values` is 0, the values are not copied. Each
    step writes an entry, but the next step overwrites it unless the result has its column. This
    avoids a branch that the processor would mispredict.
    """
    to = np.uint64(to)
    for k in range(np.uint64(start), np.uint64(stop)):
        row = np.uint64(a.rows[k]) if a.has_rows else k
        out_indptr[k] = to
        for p in range(np.uint64(a.indptr[row]), np.uint64(a.indptr[row + ONE])):
            j = a.indices[p]
            if a.has_places:
                j = a.places[np.uint64(j)]
            out_indices[to] = j
            if a.has_values:
                out_values[to] = a.values[p]
            to += np.uint64(j >= 0)
    return to
