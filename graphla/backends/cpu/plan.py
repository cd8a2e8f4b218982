"""Build the plans of searches. A plan of a matrix stores the vertices without edges and, for every
other vertex, the neighbor that a pull reads first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from time import perf_counter

import numpy as np

from graphla.backends.cpu.dispatch import compiles
from graphla.backends.cpu.operands import row_parts, spread
from graphla.backends.cpu.spmv import first_of_rows
from graphla.backends.tuning import current
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.formats import Csr, Plan
from graphla.settings import config


@dataclass(frozen=True, slots=True)
class PlanTuning:
    """Parameters of plans, measured on two cores."""

    # Time to build a full plan, in seconds per entry of the matrix. For the graph R-MAT 18 this
    # gives 16 ms. A search with a full plan takes half the time of a search with a light plan.
    hub_price: float = 2e-9


TUNING = PlanTuning()


def plan(out: Csr, into: Csr, full: bool, before: Plan | None) -> Plan:
    """Return a light or a full plan of a matrix in CSR and CSC.

    A plan lists, for each vertex, the neighbor that a pull reads first. In a light plan, this is
    the first neighbor in the vertex's row. In a full plan, it is the neighbor that has the most
    edges: most searches reach this neighbor early, so a pull rarely has to read further neighbors.
    If the loops are not compiled, this function builds only light plans.
    """
    if not compiles(out.nvals, size=out.nrows):
        return _plan_numpy(out, into) if before is None else before
    return _plan_numba(out, into, full)


def plan_cost(out: Csr, into: Csr) -> float:
    """Return the estimated time to build a full plan, in seconds.

    The time is infinite if the loop is not compiled, because then only light plans are built.
    """
    return current(TUNING).hub_price * out.nvals if compiles(out.nvals, size=out.nrows) else inf


def transpose_plan(plan: Plan, out: Csr, into: Csr) -> Plan:
    """Return the plan of the transposed matrix, whose CSR is `out` and whose CSC is `into`."""
    if out is into:
        return plan
    if compiles(out.nvals, size=out.nrows):
        return _plan_numba(out, into, plan.is_full)
    return _plan_numpy(out, into)


def _plan_numpy(out: Csr, into: Csr) -> Plan:
    begin = perf_counter()
    nonempty = into.indptr[1:] > into.indptr[:-1]
    first = np.full(out.nrows, -1, np.int32)
    first[nonempty] = into.indices[into.indptr[:-1][nonempty]]
    return _plan_of(out, into, first, begin)


def _plan_numba(out: Csr, into: Csr, full: bool) -> Plan:
    begin, threads = perf_counter(), config.threads
    if full:
        first = np.empty(out.nrows, np.int32)
        arrays = (into.indptr, into.indices, first)
        loop = load("plan.find_hubs", (numba_ops.nothing,), arrays)
        spread(loop, arrays, (), row_parts(into.indptr, threads), threads)
    else:
        first = first_of_rows(into, threads)
    return replace(_plan_of(out, into, first, begin), is_full=full)


def _plan_of(out: Csr, into: Csr, first: np.ndarray, begin: float) -> Plan:
    """Return a plan in which first[v] is the neighbor of vertex v that a pull reads first.

    `begin` is the time at which the caller began to build the plan.
    """
    idle = first < 0
    if into is not out:
        idle &= out.indptr[1:] == out.indptr[:-1]
    bits = np.ones((idle.size + 31) // 32 * 32, bool)
    bits[: idle.size] = idle
    words = np.packbits(bits, bitorder="little").view(np.uint32)
    return Plan(words, first, None, words.nbytes + first.nbytes, perf_counter() - begin)
