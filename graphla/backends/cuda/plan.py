"""Plans: data about a matrix's pattern that speed up traversals. Kernels: plan.cu.

A full plan takes about 16 bytes per vertex and 4 bytes per entry for CSR, and the same for CSC.
While the plan is built, temporary arrays take another 1.3 bytes per vertex. Nothing is sorted.

The host waits once per plan, until the plan is complete. For a full plan, it also waits for the
position at which each degree class ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from time import perf_counter
from traceback import clear_frames
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.convert import CHUNK, add_up_sizes, chunks
from graphla.backends.cuda.launch import BLOCK, NULL, WARP, blocks, size, to_numbers
from graphla.backends.cuda.select import add_up
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import enumeration
from graphla.formats import Array, Csr, Plan, Relabeled

CLASSES = enumeration("plan.cu", "PlanShape").CLASSES


@dataclass(frozen=True)
class PlanTuning:
    """Costs and limits of plans, measured on an H200 (docs/decisions/010-plans.md)."""

    start: float = 1.8e-4  # fixed cost of a full plan, in seconds
    per_vertex: float = 6.5e-10  # cost of a full plan per vertex, in seconds
    per_entry: float = 1e-11  # cost of a full plan per entry, in seconds
    most: float = 1.5  # maximum size of a full plan, relative to the matrix without values
    long: int = 12  # if the degree of a vertex is at least 2 ** long, its row is called long
    wide_block: int = 1024  # threads per block of the kernel that processes one long row per block


TUNING = PlanTuning()


def plan(out: Csr, into: Csr, full: bool, before: Plan | None) -> Plan:
    """Return the plan of the matrix that has the CSR form `out` and the CSC form `into`.

    For a symmetric matrix, `out` and `into` must be the same object. `before` is None or an earlier
    plan of this matrix, which is reused. If a full plan would exceed its memory limit or the free
    memory of the device, a light plan is returned instead.
    """
    light = _look_at(out, into) if before is None else before
    if not full or light.is_full or plan_cost(out, into) == inf:
        return light
    try:
        return _relabel_vertices(light, out, into)
    except MemoryError as error:
        # free the device memory that the variables of these stack frames keep alive
        clear_frames(error.__traceback__)
        return light


def plan_cost(out: Csr, into: Csr) -> float:
    """Return the estimated seconds for building a full plan, or infinity if it would be too large.

    The limit is `PlanTuning.most` times the size of the matrix. As a plan needs memory per vertex,
    it exceeds this limit if vertices have at most 7 edges on average or, in a directed graph, at
    most 5 edges in each direction. Such graphs are meshes and road networks, where a full plan does
    not speed up traversals.
    """
    n, entries = out.nrows, out.nvals
    pattern, first, numbers = 4 * entries + out.indptr.dtype.itemsize * (n + 1), 4 * n, 8 * n
    forms = 1 if out is into else 2
    # Count the array `first` twice, because the transpose's plan needs another one.
    held = numbers + n // 8 + forms * (pattern + 2 * first)
    if not entries or held > current(TUNING).most * forms * pattern:
        return inf
    tuning = current(TUNING)
    return tuning.start + tuning.per_vertex * n + forms * tuning.per_entry * entries


def transpose_plan(plan: Plan, out: Csr, into: Csr) -> Plan:
    """Return the plan of the transpose of a matrix. `out` and `into` are the CSR and the CSC of the
    matrix, and `plan` is its plan.

    The result reuses all arrays of `plan` except `first`, which contains an in-neighbor of each
    vertex.
    """
    if out is into:
        return plan
    start = perf_counter()
    first, relabeled = _first(into, into.nrows, _classes(out, into)[0]), plan.relabeled
    if relabeled is not None:
        r = relabeled
        first_renamed = _first(r.out, r.active, NULL)
        relabeled = Relabeled(r.new, r.old, r.into, r.out, first_renamed, r.active, r.ends)
    seconds = plan.seconds + _elapsed_since(start)
    return Plan(plan.idle, first, relabeled, plan.nbytes, seconds, plan.is_full)


def _first(into: Csr, rows: int, classes: Any) -> Array:
    """Return an in-neighbor of each of the first `rows` vertices, or -1 if there is none.

    An in-neighbor with a high degree is chosen or, if `classes` is NULL, the first in-neighbor.
    """
    first = xp.empty(rows, np.int32)
    if rows:
        pick = load("plan.cu", "pick_neighbors", NOTHING, into.indptr.dtype)
        pick(blocks(rows), BLOCK, into.indptr, into.indices, classes, size(rows), first)
    return first


def good_neighbors(rows: Csr, columns: Csr) -> Array:
    """For each row of a matrix, return the column of one of its entries, or -1 if the row is empty.

    The function chooses among the first entries of the row, and prefers columns with many entries.
    `rows` and `columns` are the CSR and the CSC of the matrix.
    """
    return _first(rows, rows.nrows, _classes(columns, columns)[0])


def _classes(out: Csr, into: Csr) -> tuple[Array, Array]:
    """Return the degree class of each vertex, and a bitmap of the idle vertices (those without
    edges)."""
    n = out.nrows
    classes, idle = xp.empty(n, np.uint8), xp.empty(-(-n // WARP), np.uint32)
    if n:
        kernel = load("plan.cu", "class_vertices", NOTHING, out.indptr.dtype)
        other = NULL if out is into else into.indptr
        kernel(blocks(n), BLOCK, out.indptr, other, size(n), classes, idle)
    return classes, idle


def _look_at(out: Csr, into: Csr) -> Plan:
    """Compute the light plan: the set of idle vertices, and one in-neighbor of each vertex.

    This takes two passes over the vertices.
    """
    # compile the kernels first, because the measured time must not include it
    for name in ("class_vertices", "pick_neighbors"):
        load("plan.cu", name, NOTHING, out.indptr.dtype)
    start = perf_counter()
    classes, idle = _classes(out, into)
    first = _first(into, out.nrows, classes)
    return Plan(idle, first, None, idle.nbytes + first.nbytes, _elapsed_since(start))


def _relabel_vertices(light: Plan, out: Csr, into: Csr) -> Plan:
    """Return the full plan: number the vertices by degree class, and renumber the pattern
    accordingly.

    The vertices with the highest degrees get the smallest numbers.
    """
    kernels = _kernels(out.indptr.dtype)
    n, start = out.nrows, perf_counter()
    classes = xp.empty(n, np.uint8)
    parts = -(-n // CHUNK)
    counts = xp.empty((CLASSES + 1) * parts, np.int64)
    other = NULL if out is into else into.indptr
    where = out.indptr, other
    kernels["count_classes"](chunks(n), BLOCK, *where, size(n), size(parts), classes, counts)
    add_up(counts)
    new, old = xp.empty(n, np.int32), xp.empty(n, np.int32)
    rows = [xp.empty(n + 1, out.indptr.dtype) for _ in ((out,) if out is into else (out, into))]
    sizes = (rows[0], NULL if out is into else rows[1])
    numbers = size(n), size(parts), counts
    kernels["number_vertices"](chunks(n), BLOCK, *where, classes, *numbers, new, old, *sizes)
    ends = tuple(to_numbers(counts[parts - 1 :: parts][:CLASSES]))
    names = classes, new, old
    made = [
        _rename_form(kernels, each, names, indptr, ends)
        for each, indptr in zip((out, into), rows, strict=False)
    ]
    first = _first(made[-1], ends[-1], NULL)
    relabeled = Relabeled(new, old, made[0], made[-1], first, ends[-1], ends)
    seconds = light.seconds + _elapsed_since(start)
    held = (new, old, first, *(x for a in made for x in (a.indptr, a.indices)))
    return Plan(
        light.idle,
        light.first,
        relabeled,
        light.nbytes + sum(array.nbytes for array in held),
        seconds,
        is_full=True,
    )


def _rename_form(
    kernels: dict[str, Any], a: Csr, names: tuple[Array, ...], sizes: Array, ends: tuple[int, ...]
) -> Csr:
    """Return the pattern of `a` in the new numbering of the vertices, with sorted rows.

    On entry, the first element of the array `sizes` is 0, and the other elements are the lengths of
    the rows in the new numbering. This function replaces the lengths with their running sums, so
    that `sizes` becomes the indptr of the result.
    """
    add_up_sizes(sizes)
    indices = xp.empty(a.nvals, np.int32)
    tuning = current(TUNING)
    long, active = ends[CLASSES - 1 - tuning.long], ends[-1]
    operands = a.indptr, a.indices, *names, sizes
    if long:
        wide = tuning.wide_block
        kernel, grid = kernels["relabel_long_rows"], blocks(long * wide, wide)
        kernel(grid, wide, *operands, size(long), indices)
    if active > long:
        grid = blocks((active - long) * WARP)
        kernels["relabel_rows"](grid, BLOCK, *operands, size(long), size(active), indices)
    there = xp.broadcast_to(xp.ones(1, bool), (a.nvals,))
    return Csr(a.nrows, a.ncols, sizes, indices, there)


def _kernels(offset: Any) -> dict[str, Any]:
    names = ("count_classes", "number_vertices", "relabel_rows", "relabel_long_rows")
    return {name: load("plan.cu", name, NOTHING, offset) for name in names}


def _elapsed_since(start: float) -> float:
    """Return the seconds since `start`, after waiting for all launched work."""
    xp.cuda.get_current_stream().synchronize()
    return perf_counter() - start
