"""The CPU backend: NumPy, SciPy, and compiled loops where they are faster."""

# ruff: noqa: F401

from __future__ import annotations

from graphla.backends.cpu.apply import apply, apply_bound, apply_index, cast
from graphla.backends.cpu.assign import one_entry, set_element, write_matrix, write_vector
from graphla.backends.cpu.betweenness import dependencies
from graphla.backends.cpu.bfs import bfs
from graphla.backends.cpu.build import build_matrix, build_vector
from graphla.backends.cpu.closure import closure
from graphla.backends.cpu.closure_rows import distances
from graphla.backends.cpu.coloring import color
from graphla.backends.cpu.communities import (
    contract,
    move_communities,
    propagate_labels,
    refine_communities,
    settle_labels,
)
from graphla.backends.cpu.components import components
from graphla.backends.cpu.convert import (
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
from graphla.backends.cpu.cores import cores
from graphla.backends.cpu.ewise import combine, intersection, union
from graphla.backends.cpu.extract import element, extract_matrix, extract_vector, find
from graphla.backends.cpu.flow import augment
from graphla.backends.cpu.forces import forces
from graphla.backends.cpu.forest import forest
from graphla.backends.cpu.greedy_modularity import merge_greedily
from graphla.backends.cpu.kronecker import kronecker
from graphla.backends.cpu.layout import row_of_entry
from graphla.backends.cpu.matching import match
from graphla.backends.cpu.matvec import costs, count_edges, longest_row, nonempty_rows
from graphla.backends.cpu.multi_source_bfs import multi_source_bfs
from graphla.backends.cpu.pagerank import pagerank
from graphla.backends.cpu.plan import plan, plan_cost, transpose_plan
from graphla.backends.cpu.reduce import reduce, reduce_rows
from graphla.backends.cpu.select import keep, select
from graphla.backends.cpu.sort import sort_by
from graphla.backends.cpu.spgemm import mxm
from graphla.backends.cpu.spmspv import push
from graphla.backends.cpu.spmv import pull
from graphla.backends.cpu.strong_components import strong_components
from graphla.backends.cpu.symmetry import find_symmetry
from graphla.backends.cpu.transpose import transpose
from graphla.backends.cpu.triangles import count_triangles
from graphla.backends.cpu.truss import trusses
