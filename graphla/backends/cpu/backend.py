"""The CPU: NumPy, SciPy, and compiled loops where they pay."""

# ruff: noqa: F401, F811

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphla.backends import Lengths, Reach
from graphla.backends.cpu import betweenness as brandes
from graphla.backends.cpu import bfs as searches
from graphla.backends.cpu import closure as closures
from graphla.backends.cpu import multi_source_bfs
from graphla.backends.cpu import symmetry as symmetry_by_loop
from graphla.backends.cpu.apply import apply, apply_bound, apply_index, cast
from graphla.backends.cpu.arrays import symmetry as symmetry_in_numpy
from graphla.backends.cpu.arrays import traversals
from graphla.backends.cpu.assign import one_entry, set_element, write_matrix, write_vector
from graphla.backends.cpu.build import build_matrix, build_vector
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
from graphla.backends.cpu.dispatch import WIDE, TypedOp, compiles
from graphla.backends.cpu.ewise import combine, intersection, union
from graphla.backends.cpu.extract import element, extract_matrix, extract_vector, find
from graphla.backends.cpu.forest import forest
from graphla.backends.cpu.kronecker import kronecker
from graphla.backends.cpu.layout import row_of_entry
from graphla.backends.cpu.matching import match
from graphla.backends.cpu.matvec import costs, count_edges, longest_row, nonempty_rows
from graphla.backends.cpu.pagerank import pagerank
from graphla.backends.cpu.reduce import reduce, reduce_rows
from graphla.backends.cpu.select import keep, select
from graphla.backends.cpu.sort import sort_by
from graphla.backends.cpu.spgemm import mxm
from graphla.backends.cpu.spmspv import push
from graphla.backends.cpu.spmv import pull
from graphla.backends.cpu.strong_components import strong_components
from graphla.backends.cpu.transpose import transpose
from graphla.formats import (
    AnyVector,
    Array,
    Csr,
    Plan,
    VectorMask,
)
from graphla.settings import config
from semirings.structures import TypedSemiring

if TYPE_CHECKING:
    from graphla.backends.traversals import (
        Closed,
        Dependencies,
        Enough,
        How,
        Meanwhile,
        Symmetry,
        Towards,
        Tree,
    )


HUB_PRICE = 2e-9
"""Seconds that a full plan costs for each entry: 16 ms on R-MAT 18, where it halves a search."""

# --- whole traversals ---------------------------------------------------------------------------


def _searches(entries: int, size: int, *key: Any, op: TypedOp | None = None) -> bool:
    """Whether a compiled loop serves a traversal: one that is loaded serves small ones too."""
    if compiles(entries, op, size):
        return True
    return config.compiled == "auto" and size <= WIDE and searches.is_ready(*key)


def find_symmetry(a: Csr) -> Symmetry:
    """Return whether a square matrix has the pattern, and the values, of its transpose."""
    if compiles(a.nvals, size=a.nrows):
        return symmetry_by_loop.find_symmetry(a, config.threads)
    return symmetry_in_numpy.find_symmetry(a)


def bfs(
    out: Csr,
    into: Csr | None,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int,
    levels: Any,
    parents: Literal[None, "any", "least"],
    direction: Towards,
    plan: Plan | None,
    traced: bool,
    meanwhile: Meanwhile | None = None,
) -> Tree:
    """How many edges away from the nearest start each vertex is, and by which edge."""
    options: Any = {
        "mask": mask,
        "limit": limit,
        "levels": None if levels is None else np.dtype(levels),
        "parents": parents,
        "direction": direction,
        "traced": traced,
    }
    key = ("bfs", out.indptr.dtype, (into or out).indptr.dtype, options["levels"], parents)
    if _searches(out.nvals, out.nrows, *key):
        return searches.bfs(out, into, starts, plan=plan, threads=config.threads, **options)
    return traversals.bfs(out, into, starts, **options)


def closure(
    out: Csr,
    into: Csr | None,
    x: AnyVector,
    semiring: TypedSemiring,
    *,
    how: How,
    mask: VectorMask | None,
    limit: int,
    parents: bool,
    delta: float | None,
    turns: int,
    traced: bool,
    enough: Enough | None = None,
) -> Closed:
    """The least fixpoint of x = x ⊕ x.A, or what `limit` products come to."""
    options: Any = {
        "how": how,
        "mask": mask,
        "limit": limit,
        "parents": parents,
        "delta": delta,
        "turns": turns,
        "traced": traced,
    }
    key = ("closure", out.indptr.dtype, out.values.dtype, semiring, how == "near_far")
    if _searches(out.nvals, out.nrows, *key, op=semiring):
        options |= {"enough": enough, "threads": config.threads}
        return closures.closure(out, x, semiring, **options)
    return traversals.closure(out, x, semiring, **options)


def levels_of_many(
    out: Csr,
    into: Csr | None,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int,
    levels: Any,
    plan: Plan | None,
    traced: bool,
) -> Lengths:
    """Levels of one search from each of k starts."""
    options: Any = {"mask": mask, "limit": limit, "levels": np.dtype(levels)}
    key = ("many", out.indptr.dtype, (into or out).indptr.dtype, options["levels"])
    if _searches(starts.size * out.nvals, out.nrows, *key):
        options |= {"plan": plan, "threads": config.threads}
        found = multi_source_bfs.levels_of_many(out, into, starts, **options)
    else:
        found = traversals.levels_of_many(out, into, starts, **options)
    return Lengths(found, [])


def reach_of_many(
    out: Csr,
    into: Csr | None,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int,
    plan: Plan | None,
) -> Reach:
    """What the levels of one search from each start add up to: of some searches at a time."""
    key = ("many", out.indptr.dtype, (into or out).indptr.dtype, None)
    if _searches(starts.size * out.nvals, out.nrows, *key):
        options: Any = {"mask": mask, "limit": limit, "plan": plan, "threads": config.threads}
        return Reach(*multi_source_bfs.reach_of_many(out, into, starts, **options))
    found = np.zeros((3, starts.size), np.int64)
    for first in range(0, starts.size, 64):
        some = slice(first, first + 64)
        levels, _ = levels_of_many(
            out,
            into,
            starts[some],
            mask=mask,
            limit=limit,
            levels=np.int32,
            plan=plan,
            traced=False,
        )
        found[0, some] = np.count_nonzero(levels >= 0, axis=1)
        np.maximum(levels, 0, out=levels)
        found[1, some] = levels.sum(axis=1, dtype=np.int64)
        found[2, some] = levels.max(axis=1, initial=0)
    return Reach(*found)


def plan(out: Csr, into: Csr, full: bool, before: Plan | None) -> Plan:
    """Which vertices have no edge, and the first neighbour of each, or, in full, the best one."""
    if compiles(out.nvals, size=out.nrows):
        return _planned(out, into, full)
    return traversals.plan(out, into) if before is None else before


def price_of_plan(out: Csr, into: Csr) -> float:
    """What finding the neighbours of most edges costs; in NumPy there is to be no such plan."""
    return HUB_PRICE * out.nvals if compiles(out.nvals, size=out.nrows) else inf


def turned(plan: Plan, out: Csr, into: Csr) -> Plan:
    """The plan of the transpose, whose forms these are."""
    if out is into:
        return plan
    if compiles(out.nvals, size=out.nrows):
        return _planned(out, into, plan.is_full)
    return traversals.plan(out, into)


def _planned(out: Csr, into: Csr, full: bool) -> Plan:
    return replace(searches.plan(out, into, full, config.threads), is_full=full)


# --- centrality ---------------------------------------------------------------------------------


def dependencies(
    out: Csr,
    sources: Array,
    *,
    is_weighted: bool,
    of_edges: bool,
    reach: bool,
    plan: Plan | None,
) -> Dependencies | None:
    """What the shortest paths from some sources depend on; None where no loop is compiled."""
    if not compiles(sources.size * out.nvals, size=out.nrows):
        return None
    options: Any = {"is_weighted": is_weighted, "of_edges": of_edges, "reach": reach}
    return brandes.dependencies(out, sources, threads=config.threads, **options)
