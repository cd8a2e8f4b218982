"""The GPU: CuPy's arrays, sorts and scans, and our own kernels (`graphla/kernels/*.cu`)."""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.compaction import keep, select
from graphla.backends.cuda.launching import rows_of as row_of_entry
from graphla.backends.cuda.maps import apply, apply_bound, apply_index, cast
from graphla.backends.cuda.merging import combine, intersection, merge, union
from graphla.backends.cuda.reductions import reduce, reduce_rows
from graphla.storage import Array

__all__ = [
    "apply",
    "apply_bound",
    "apply_index",
    "asarray",
    "cast",
    "combine",
    "intersection",
    "keep",
    "merge",
    "reduce",
    "reduce_rows",
    "row_of_entry",
    "select",
    "to_host",
    "union",
    "xp",
]


def asarray(values: Any, dtype: Any = None) -> Array:
    """`values` as a CuPy array, copied only if it must be."""
    return xp.asarray(values, dtype)


def to_host(array: Array) -> np.ndarray:
    """The array as NumPy's: the host waits for it."""
    return xp.asnumpy(array)
