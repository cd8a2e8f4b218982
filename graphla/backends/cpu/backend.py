"""The CPU: the array code on NumPy, SciPy's counting sorts, and compiled loops where they pay."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.apply import apply, apply_bound, apply_index, cast
from graphla.backends.cpu.assign import one_entry, set_element, write_matrix, write_vector
from graphla.backends.cpu.betweenness import dependencies
from graphla.backends.cpu.bfs import bfs
from graphla.backends.cpu.build import build_matrix, build_vector
from graphla.backends.cpu.closure import closure
from graphla.backends.cpu.coloring import color
from graphla.backends.cpu.communities import move_communities, propagate_labels
from graphla.backends.cpu.components import components
from graphla.backends.cpu.convert import (
    MERGE_PRICE,
    arange,
    asarray,
    full,
    owns,
    sort,
    to_bitmap,
    to_host,
    to_sparse,
)
from graphla.backends.cpu.cores import cores
from graphla.backends.cpu.ewise import combine, intersection, union
from graphla.backends.cpu.extract import element, extract_matrix, extract_vector, find
from graphla.backends.cpu.forest import forest
from graphla.backends.cpu.kronecker import kronecker
from graphla.backends.cpu.layout import row_of_entry
from graphla.backends.cpu.matching import match
from graphla.backends.cpu.matvec import costs, filled, longest, reached
from graphla.backends.cpu.multi_source_bfs import multi_source_bfs
from graphla.backends.cpu.pagerank import pagerank
from graphla.backends.cpu.plan import plan, price_of_plan, transpose_plan
from graphla.backends.cpu.reduce import reduce, reduce_rows
from graphla.backends.cpu.select import keep, select
from graphla.backends.cpu.sort import ordered
from graphla.backends.cpu.spgemm import mxm
from graphla.backends.cpu.spmspv import push
from graphla.backends.cpu.spmv import pull
from graphla.backends.cpu.strong_components import strong_components
from graphla.backends.cpu.symmetry import find_symmetry
from graphla.backends.cpu.transpose import transpose

__all__ = [
    "MERGE_PRICE",
    "apply",
    "apply_bound",
    "apply_index",
    "arange",
    "asarray",
    "bfs",
    "build_matrix",
    "build_vector",
    "cast",
    "closure",
    "color",
    "combine",
    "components",
    "cores",
    "costs",
    "dependencies",
    "element",
    "extract_matrix",
    "extract_vector",
    "filled",
    "find",
    "find_symmetry",
    "forest",
    "full",
    "intersection",
    "keep",
    "kronecker",
    "longest",
    "match",
    "move_communities",
    "multi_source_bfs",
    "mxm",
    "one_entry",
    "ordered",
    "owns",
    "pagerank",
    "plan",
    "price_of_plan",
    "propagate_labels",
    "pull",
    "push",
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
    "transpose_plan",
    "union",
    "write_matrix",
    "write_vector",
    "xp",
]

xp = np  # until nothing asks for it
