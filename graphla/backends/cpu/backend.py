"""The CPU: the array code on NumPy, SciPy's counting sorts, and compiled loops where they pay."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np

from graphla import memory
from graphla.backends import Costs, Lengths, Reach
from graphla.backends.cpu import (
    assign,
    counting,
    ewise,
    multi_source_bfs,
    spgemm,
)
from graphla.backends.cpu import betweenness as brandes
from graphla.backends.cpu import bfs as searches
from graphla.backends.cpu import closure as closures
from graphla.backends.cpu import reduce as reductions
from graphla.backends.cpu import sort as sorts
from graphla.backends.cpu import spmv as loops
from graphla.backends.cpu import symmetry as symmetry_by_loop
from graphla.backends.cpu.arrays import (
    building,
    entries,
    folding,
    indices,
    layout,
    products,
    sorting,
    traversals,
    writing,
)
from graphla.backends.cpu.arrays import mxm as products_of_matrices
from graphla.backends.cpu.arrays import symmetry as symmetry_in_numpy
from graphla.backends.cpu.coloring import color as color
from graphla.backends.cpu.communities import move_communities as move_communities
from graphla.backends.cpu.communities import propagate_labels as propagate_labels
from graphla.backends.cpu.components import components as components
from graphla.backends.cpu.cores import cores as cores
from graphla.backends.cpu.forest import forest as forest
from graphla.backends.cpu.matching import match as match
from graphla.backends.cpu.pagerank import pagerank as pagerank
from graphla.backends.cpu.strong_components import strong_components as strong_components
from graphla.compilers.numba import installed
from graphla.formats import (
    AnyVector,
    Array,
    BitmapVector,
    Csr,
    DenseVector,
    FullVector,
    MatrixMask,
    Plan,
    SparseVector,
    VectorMask,
    is_iso,
)
from graphla.settings import config
from semirings.operators import TypedBinaryOp
from semirings.structures import TypedMonoid, TypedSemiring

if TYPE_CHECKING:
    from graphla.backends import Side
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

V = TypeVar("V", SparseVector, Csr)
TypedOp: TypeAlias = TypedBinaryOp | TypedMonoid | TypedSemiring

xp = np

MERGE_PRICE = 0
"""What merging sparse vectors costs, in entries, beside those rewritten."""
costs = Costs(
    push_entry=2.0,
    push_first=2.0,
    push_ordered=2.0,
    pull_row=1.0,
    stopping=0.6,
    transpose_entry=5.0,
)
"""Measured by benchmarks/direction.py."""
LARGE = 1 << 15
"""Entries from which importing and calling SciPy to sort them pays."""
SIMPLE = 8
"""What NumPy does well compiles from so many times `config.compile_threshold` entries."""
HUB_PRICE = 2e-9
"""Seconds that a full plan costs for each entry: 16 ms on R-MAT 18, where it halves a search."""
WIDE = 1 << 24
"""A size from which compiled loops, whose scratch grows with it, ask for entries in proportion."""


def _compiles(entries: int, op: TypedOp | None = None, size: int = 0) -> bool:
    """Whether a compiled loop serves an operation on operands of so many entries, or of a size."""
    wanted = config.compiled
    if wanted is False or (wanted == "auto" and max(entries, size) < config.compile_threshold):
        return False
    if wanted is True and not installed():
        raise ImportError("config.compiled is True, but Numba is not there: pip install numba")
    if size > WIDE and size > 16 * entries:
        return False
    return installed() and (op is None or _has_loop_form(op))


@lru_cache(maxsize=4096)
def _has_loop_form(op: TypedOp) -> bool:
    """Whether an operator can be printed for Numba; one of raw C++ has NumPy alone."""
    if isinstance(op, TypedBinaryOp):
        return op.source_numba("f") is not None
    if isinstance(op, TypedMonoid):
        return _has_loop_form(op.binaryop)
    return _has_loop_form(op.binaryop) and _has_loop_form(op.monoid)


def asarray(values: Any, dtype: Any = None) -> Array:
    """`values` as a NumPy array, copied only if it must be."""
    return np.asarray(values, dtype)


def to_host(array: Array) -> np.ndarray:
    """The array itself."""
    return array


def owns(array: Array) -> bool:
    """Whether the array's memory is its own, and may be written."""
    return array.flags.owndata and array.flags.writeable


def transpose(a: Csr) -> Csr:
    """The same entries by columns."""
    memory.require_offsets(a.ncols, "columns", a.nvals)
    if a.nvals < LARGE or not counting.fits(a.nrows, a.ncols, a.nvals):
        return layout.transpose(np, a)
    return counting.transpose(a)


def build_matrix(
    nrows: int,
    ncols: int,
    rows: Array,
    columns: Array,
    values: Array,
    dup_op: TypedBinaryOp | None,
) -> Csr:
    """Entries in any order, equal places folded by dup_op from the left, or refused."""
    memory.require_offsets(nrows, "rows", values.size)
    if values.size < LARGE or not counting.fits(nrows, ncols, values.size):
        return building.build_matrix(np, nrows, ncols, rows, columns, values, dup_op)
    return counting.build_matrix(nrows, ncols, rows, columns, values, dup_op)


def to_sparse(v: AnyVector) -> SparseVector:
    """The entries alone, in order."""
    if isinstance(v, BitmapVector) and not is_iso(v.values) and _compiles(v.size):
        return assign.to_sparse(v)
    return layout.to_sparse(np, v)


# --- products -----------------------------------------------------------------------------------


def pull(
    rows: Csr, u: DenseVector, semiring: TypedSemiring, side: Side, mask: VectorMask | None
) -> SparseVector | BitmapVector:
    """w(o) = (+)_k mult(A(o, k), u(k)), over what the mask allows."""
    if _compiles(rows.nvals, semiring, size=rows.nrows):
        return loops.pull(rows, u, semiring, side, mask, config.threads)
    return products.pull(np, rows, u, semiring, side, mask)


def push(
    columns: Csr, u: SparseVector, semiring: TypedSemiring, side: Side, mask: VectorMask | None
) -> SparseVector | BitmapVector:
    """w(o) = (+)_k mult(A(o, k), u(k)), along the entries of u."""
    if _compiles(columns.nvals, semiring, size=columns.ncols):
        return loops.push(columns, u, semiring, side, mask, config.threads)
    return products.push(np, columns, u, semiring, side, mask)


def reached(a: Csr, rows: Array) -> int:
    """How many entries the given rows of a hold."""
    indptr = a.indptr
    if rows.size <= 8:
        return sum(int(indptr[i + 1]) - int(indptr[i]) for i in rows.tolist())
    return int((indptr[rows + 1] - indptr[rows]).sum())


def filled(a: Csr) -> int:
    """Any row may have entries: counting those that do would cost as much as a product."""
    return a.nrows


def longest(a: Csr) -> int:
    """A row may hold as many entries as there are: counting what u reaches costs nothing here."""
    return a.nvals


def mxm(
    a: Csr, b: Csr | None, semiring: TypedSemiring, mask: MatrixMask | None, bt: Csr | None
) -> Csr | None:
    """C⟨mask⟩ = A ⊕.⊗ B; None where B is not there by rows."""
    if b is None:
        return None
    if _compiles(a.nvals + b.nvals, semiring, size=b.ncols):
        return spgemm.mxm(a, b, semiring, mask, bt, config.threads)
    return products_of_matrices.mxm(np, a, b, semiring, mask, bt)


# --- entry by entry -----------------------------------------------------------------------------


def union(a: V, b: V, op: TypedBinaryOp, left: Any = None, right: Any = None) -> V:
    """op(x, y) where both have an entry; x or y alone passes, or meets right or left if given."""
    if a.indices is not b.indices and _compiles((a.nvals + b.nvals) // SIMPLE, op):
        return ewise.union(a, b, op, left, right, config.threads)
    return entries.union(np, a, b, op, left, right)


def intersection(a: V, b: V, op: TypedBinaryOp) -> V:
    """op(x, y) where both have an entry."""
    if a.indices is not b.indices and _compiles((a.nvals + b.nvals) // SIMPLE, op):
        return ewise.intersection(a, b, op, config.threads)
    return entries.intersection(np, a, b, op)


def combine(
    v: AnyVector,
    w: AnyVector,
    op: TypedBinaryOp,
    how: str,
    left: Any = None,
    right: Any = None,
) -> AnyVector | None:
    """op of two full vectors; of others, or by place, None."""
    if op.is_positional or not isinstance(v, FullVector) or not isinstance(w, FullVector):
        return None
    return FullVector(v.size, entries.combine(np, v.values, w.values, op))


def ordered(values: Array, indptr: Array | None, op: TypedBinaryOp) -> tuple[Array, Array]:
    """The values in the order of op, of all or of each segment, and where each was."""
    sign = sorting.plain_order(op)
    if sign and indptr is None:
        return sorting.sort_plainly(values, None, sign)
    if _compiles(values.size, op):
        return sorts.merge_sort(values, indptr, op, config.threads)
    if sign:
        return sorting.sort_plainly(values, indptr, sign)
    return sorting.merge_sort(values, indptr, op)


def reduce_rows(a: Csr, monoid: TypedMonoid) -> SparseVector:
    """w(i) = the fold of row i; a row without entries has none."""
    if monoid.ufunc is None and _compiles(a.nvals, monoid):
        return reductions.reduce_rows(a, monoid, config.threads)
    return entries.reduce_rows(np, a, monoid)


def reduce(values: Array, monoid: TypedMonoid, present: Array | None = None) -> Any:
    """The fold of all values, or of those present, a scalar; the identity for none."""
    values = values if present is None else values[present]
    if monoid.ufunc is None and _compiles(values.size, monoid):
        return reductions.reduce(values, monoid, config.threads)
    return folding.reduce(np, values, monoid)


# --- the write rule -----------------------------------------------------------------------------


def write_vector(
    c: AnyVector,
    t: AnyVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    dtype: Any,
    *,
    in_place: bool = False,
) -> AnyVector:
    """w⟨mask, replace⟩ = accum(w, t), of numpy dtype `dtype`; in w's own arrays if `in_place`."""
    if c.nvals and not isinstance(c, FullVector) and _compiles(c.size, accum):
        new = assign.write(c, t, mask, accum, replace, dtype, in_place, config.threads)
        if new is not None:
            return new
    return writing.write_vector(np, c, t, mask, accum, replace, dtype, in_place=in_place)


sort = partial(layout.sort, np)
row_of_entry = partial(layout.row_of_entry, np)
to_bitmap = partial(layout.to_bitmap, np)
cast = layout.cast_storage
build_vector = partial(building.build_vector, np)
kronecker = partial(products_of_matrices.kronecker, np)
apply = partial(entries.apply, np)
apply_bound = partial(entries.apply_bound, np)
apply_index = partial(entries.apply_index, np)
select = partial(entries.select, np)
keep = partial(entries.keep, np)
find = indices.find
extract_vector = partial(indices.extract_vector, np)
extract_matrix = partial(indices.extract_matrix, np)
one_entry = writing.one_entry
set_element = writing.set_element
write_matrix = partial(writing.write_matrix, np)


# --- whole traversals ---------------------------------------------------------------------------


def _searches(entries: int, size: int, *key: Any, op: TypedOp | None = None) -> bool:
    """Whether a compiled loop serves a traversal: one that is loaded serves small ones too."""
    if _compiles(entries, op, size):
        return True
    return config.compiled == "auto" and size <= WIDE and searches.is_ready(*key)


def find_symmetry(a: Csr) -> Symmetry:
    """Return whether a square matrix has the pattern, and the values, of its transpose."""
    if _compiles(a.nvals, size=a.nrows):
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
    if _compiles(out.nvals, size=out.nrows):
        return _planned(out, into, full)
    return traversals.plan(out, into) if before is None else before


def price_of_plan(out: Csr, into: Csr) -> float:
    """What finding the neighbours of most edges costs; in NumPy there is to be no such plan."""
    return HUB_PRICE * out.nvals if _compiles(out.nvals, size=out.nrows) else inf


def turned(plan: Plan, out: Csr, into: Csr) -> Plan:
    """The plan of the transpose, whose forms these are."""
    if out is into:
        return plan
    if _compiles(out.nvals, size=out.nrows):
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
    if not _compiles(sources.size * out.nvals, size=out.nrows):
        return None
    options: Any = {"is_weighted": is_weighted, "of_edges": of_edges, "reach": reach}
    return brandes.dependencies(out, sources, threads=config.threads, **options)
