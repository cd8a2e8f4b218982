"""The GPU backend. It uses its own kernels, and CuPy for sorts and scans."""

# ruff: noqa: F401

from __future__ import annotations

from graphla.backends.cuda.apply import apply, apply_bound, apply_index, cast
from graphla.backends.cuda.assign import one_entry, set_element, write_matrix, write_vector
from graphla.backends.cuda.betweenness import dependencies
from graphla.backends.cuda.bfs import bfs
from graphla.backends.cuda.build import build_matrix, build_vector
from graphla.backends.cuda.closure import closure, distances
from graphla.backends.cuda.coloring import color
from graphla.backends.cuda.communities import (
    contract,
    move_communities,
    propagate_labels,
    refine_communities,
    settle_labels,
)
from graphla.backends.cuda.components import components
from graphla.backends.cuda.convert import (
    MERGE_PRICE,
    arange,
    asarray,
    full,
    owns,
    repeat,
    sort,
    to_bitmap,
    to_host,
    to_sparse,
)
from graphla.backends.cuda.cores import cores
from graphla.backends.cuda.ewise import intersection, merge, union
from graphla.backends.cuda.ewise_dense import combine
from graphla.backends.cuda.extract import element, extract_matrix, extract_vector, find
from graphla.backends.cuda.forest import forest
from graphla.backends.cuda.kronecker import kronecker
from graphla.backends.cuda.launch import rows_of as row_of_entry
from graphla.backends.cuda.matching import match
from graphla.backends.cuda.matvec import costs, count_edges, longest_row, nonempty_rows
from graphla.backends.cuda.multi_source_bfs import multi_source_bfs
from graphla.backends.cuda.pagerank import pagerank
from graphla.backends.cuda.plan import plan, plan_cost, transpose_plan
from graphla.backends.cuda.reduce import reduce, reduce_rows
from graphla.backends.cuda.select import keep, select
from graphla.backends.cuda.sort import sort_by
from graphla.backends.cuda.spgemm import mxm
from graphla.backends.cuda.spmspv import push
from graphla.backends.cuda.spmv import pull
from graphla.backends.cuda.strong_components import strong_components
from graphla.backends.cuda.symmetry import find_symmetry
from graphla.backends.cuda.transpose import transpose
from graphla.backends.cuda.triangles import count_triangles
from graphla.backends.cuda.truss import trusses
