"""The GPU: CuPy's arrays, sorts and scans, and our own kernels (`graphla/kernels/*.cu`)."""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.betweenness import dependencies
from graphla.backends.cuda.building import build_matrix, build_vector
from graphla.backends.cuda.closing import closure
from graphla.backends.cuda.communities import moved, propagated
from graphla.backends.cuda.compaction import keep, select
from graphla.backends.cuda.dense import combine
from graphla.backends.cuda.forest import least_forest
from graphla.backends.cuda.frontiers import costs, filled, longest, reached
from graphla.backends.cuda.gathering import extract_matrix, extract_vector, find
from graphla.backends.cuda.joining import components, strong_components
from graphla.backends.cuda.launching import rows_of as row_of_entry
from graphla.backends.cuda.layout import (
    MERGE_PRICE,
    owns,
    sort,
    to_bitmap,
    to_sparse,
)
from graphla.backends.cuda.many import levels_of_many, reach_of_many
from graphla.backends.cuda.maps import apply, apply_bound, apply_index, cast
from graphla.backends.cuda.merging import intersection, merge, union
from graphla.backends.cuda.mxm import kronecker, mxm
from graphla.backends.cuda.peeling import cores
from graphla.backends.cuda.planning import plan, price_of_plan, turned
from graphla.backends.cuda.pulling import pull
from graphla.backends.cuda.pushing import push
from graphla.backends.cuda.ranks import ranked
from graphla.backends.cuda.reductions import reduce, reduce_rows
from graphla.backends.cuda.searching import bfs
from graphla.backends.cuda.sets import coloured, matched
from graphla.backends.cuda.sorting import ordered
from graphla.backends.cuda.symmetry import find_symmetry
from graphla.backends.cuda.transposing import transpose
from graphla.backends.cuda.writing import one_entry, set_element, write_matrix, write_vector
from graphla.storage import Array

__all__ = [
    "MERGE_PRICE",
    "apply",
    "apply_bound",
    "apply_index",
    "asarray",
    "bfs",
    "build_matrix",
    "build_vector",
    "cast",
    "closure",
    "coloured",
    "combine",
    "components",
    "cores",
    "costs",
    "dependencies",
    "extract_matrix",
    "extract_vector",
    "filled",
    "find",
    "find_symmetry",
    "intersection",
    "keep",
    "kronecker",
    "least_forest",
    "levels_of_many",
    "longest",
    "matched",
    "merge",
    "moved",
    "mxm",
    "one_entry",
    "ordered",
    "owns",
    "plan",
    "price_of_plan",
    "propagated",
    "pull",
    "push",
    "ranked",
    "reach_of_many",
    "reached",
    "reduce",
    "reduce_rows",
    "row_of_entry",
    "select",
    "set_element",
    "sort",
    "strong_components",
    "to_bitmap",
    "to_host",
    "to_sparse",
    "transpose",
    "turned",
    "union",
    "write_matrix",
    "write_vector",
    "xp",
]


def asarray(values: Any, dtype: Any = None) -> Array:
    """`values` as a CuPy array, copied only if it must be."""
    return xp.asarray(values, dtype)


def to_host(array: Array) -> np.ndarray:
    """The array as NumPy's: the host waits for it."""
    return xp.asnumpy(array)
