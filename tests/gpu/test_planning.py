"""Plans on the device: relabeling by degree class is stable, and relabeled rows are sorted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cupy
import numpy as np
import pytest
from devices import fewer, has_card
from gpu.patterns import on_host, pattern, patterns, row_of_each_entry
from hypothesis import example, given
from hypothesis import strategies as st

from graphla.backends import backend
from graphla.backends.cuda import plan as planning
from graphla.backends.cuda.plan import PlanTuning
from graphla.backends.tuning import using
from graphla.formats import Csr, Plan
from graphla.stores import MatrixStore
from semirings.dtypes import BOOL

cuda = backend("cuda")


def degrees(out: Csr, into: Csr) -> np.ndarray:
    counts = np.diff(on_host(out.indptr)).astype(np.int64)
    return counts if out is into else counts + np.diff(on_host(into.indptr))


def full_plan(out: Csr, into: Csr, **settings: Any) -> Plan:
    """Build a full plan with a memory limit that is too high to matter."""
    with using(PlanTuning(most=1 << 20, **settings)):
        return cuda.plan(out, into, True, None)


def assert_light(plan: Plan, out: Csr, into: Csr) -> None:
    n = out.nrows
    is_idle = np.unpackbits(on_host(plan.idle).view(np.uint8), bitorder="little").astype(bool)
    assert is_idle[:n].tolist() == (degrees(out, into) == 0).tolist()
    assert is_idle[n:].all()
    assert is_idle.size - n < 32
    assert_good(on_host(plan.first), into, degrees(out, into))


def assert_good(first: np.ndarray, into: Csr, degree: np.ndarray) -> None:
    """Check the array `first`, which contains an in-neighbor of each vertex v, or -1.

    Only the first 32 in-neighbors of v are candidates. Degrees with equal bit lengths form a class,
    and first[v] must be the first candidate in the highest class. If v is its own in-neighbor, v
    counts as a candidate of degree 0. If there are no candidates, first[v] must be -1.
    """
    indptr, indices = on_host(into.indptr), on_host(into.indices)
    for v, found in enumerate(first.tolist()):
        near = indices[indptr[v] : indptr[v + 1]][:32].tolist()
        bits = {u: int(degree[u]).bit_length() if u != v else 0 for u in reversed(near)}
        assert found == (max(near, key=lambda u: bits[u]) if near else -1)
    assert first.size == into.nrows


def assert_first(first: np.ndarray, into: Csr, n: int) -> None:
    indptr, indices = on_host(into.indptr), on_host(into.indices)
    assert first.size == n
    for v in range(n):
        assert first[v] == (indices[indptr[v]] if indptr[v] < indptr[v + 1] else -1)


def assert_relabeled(plan: Plan, out: Csr, into: Csr) -> None:
    r, degree, n = plan.relabeled, degrees(out, into), out.nrows
    if not out.nvals:
        assert r is None
        return
    assert r is not None
    new, old = on_host(r.new), on_host(r.old)
    bits = np.array([int(d).bit_length() for d in degree])
    # sorting by descending degree class, stable within a class, leaves only one possible order
    assert old.tolist() == sorted(range(n), key=lambda v: (-bits[v], v))
    assert new[old].tolist() == list(range(n))
    assert r.active == (degree > 0).sum()
    assert list(r.ends) == [int((bits >= 32 - c).sum()) for c in range(32)]
    assert (r.out is r.into) == (out is into)
    for users, ours in ((out, r.out), (into, r.into)):
        rows, columns = row_of_each_entry(users), on_host(users.indices)
        got_rows, got = row_of_each_entry(ours), on_host(ours.indices)
        order = np.lexsort((new[columns], new[rows]))  # sort by new row and column
        assert ours.indptr.dtype == users.indptr.dtype
        assert got_rows.tolist() == new[rows][order].tolist()
        assert got.tolist() == new[columns][order].tolist()
        assert (ours.nrows, ours.ncols, ours.values.size) == (n, n, users.nvals)
    assert_first(on_host(r.first), r.into, r.active)


@given(patterns())
def test_a_plan_without_relabeling_marks_isolated_vertices_and_stores_predecessors(graph):
    out, into = graph
    plan = cuda.plan(out, into, False, None)
    assert plan.relabeled is None
    assert plan.nbytes == plan.idle.nbytes + plan.first.nbytes
    assert plan.seconds > 0
    assert_light(plan, *graph)


@fewer(4)
@given(patterns(), st.sampled_from((1, 3, 12)))
@example(pattern(5, np.empty((0, 2), int), False), 12)
def test_a_full_plan_also_relabels_by_degree_class(graph, long):
    plan = full_plan(*graph, long=long)
    assert_light(plan, *graph)
    assert_relabeled(plan, *graph)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("long", [4, 12])
def test_a_block_relabels_the_columns_of_a_row_that_is_too_long_for_one_pass(symmetric, long):
    n, numbers = 9000, np.random.default_rng(5)
    star = np.stack([np.full(n, 77), np.arange(n)], 1)
    some = pattern(n, np.concatenate([star, numbers.integers(0, n, (n, 2))]), symmetric)
    assert_relabeled(full_plan(*some, long=long), *some)


@given(patterns(), st.booleans())
def test_a_transposed_plan_shares_all_arrays_except_the_first_neighbors(graph, full):
    out, into = graph
    plan: Any = full_plan(out, into) if full else cuda.plan(out, into, False, None)
    turned: Any = cuda.transpose_plan(plan, into, out)
    assert turned.idle is plan.idle
    assert_light(turned, into, out)
    if full and out.nvals:
        assert_relabeled(turned, into, out)
        assert turned.relabeled.new is plan.relabeled.new
        assert turned.relabeled.out is plan.relabeled.into


@given(st.integers(1, 400), st.integers(0, 40), st.booleans())
def test_a_full_plan_is_built_only_within_its_memory_limit(n, mean, symmetric):
    numbers = np.random.default_rng(n)
    out, into = pattern(n, numbers.integers(0, n, (n * mean // (1 + symmetric), 2)), symmetric)
    plan = cuda.plan(out, into, True, None)
    forms = {id(a): a.indptr.nbytes + a.indices.nbytes for a in (out, into)}
    is_full = plan.relabeled is not None
    assert is_full == (cuda.plan_cost(out, into) < float("inf"))
    if is_full:
        other = cuda.transpose_plan(plan, into, out)
        own = {id(x): x.nbytes for p in (plan, other) for x in held(p)}
        assert sum(own.values()) <= 1.5 * sum(forms.values())
        assert plan.nbytes == sum({id(x): x.nbytes for x in held(plan)}.values())


def held(plan: Plan) -> list[Any]:
    """Return the arrays of a plan, except the arrays `values` of its matrices.

    Each array `values` stores only a single number.
    """
    r = plan.relabeled
    arrays = [plan.idle, plan.first]
    if r is not None:
        arrays += [r.new, r.old, r.first]
        arrays += [x for a in (r.out, r.into) for x in (a.indptr, a.indices)]
    return arrays


def test_a_full_plan_is_abandoned_if_memory_runs_out(monkeypatch):
    numbers = np.random.default_rng(2)
    some = pattern(300, numbers.integers(0, 300, (6000, 2)), True)
    light = cuda.plan(*some, False, None)

    def refuse(*args: Any) -> Any:
        raise cupy.cuda.memory.OutOfMemoryError(1, 2, 3)

    monkeypatch.setattr(planning, "_rename_form", refuse)
    assert cuda.plan(*some, True, light) is light


def test_other_streams_wait_for_the_stream_that_builds_a_plan():
    numbers = np.random.default_rng(3)
    some = pattern(200, numbers.integers(0, 200, (4000, 2)), False)
    forms: Any = MatrixStore("cuda:0", BOOL, *some)
    try:
        for full in (False, True, False):
            cupy.cuda.Stream(non_blocking=True).use()
            if full:
                forms.make_full_plan()
            for each in (forms, forms.T):
                assert_light(each.plan_now(), each.csr, each.csc)
        assert_relabeled(forms.plan_now(), *some)
    finally:
        cupy.cuda.Stream.null.use()
    if not has_card():
        from simulator import machine

        machine.raise_faults()


def test_threads_that_request_a_plan_at_the_same_time_share_the_plan():
    numbers = np.random.default_rng(4)
    forms: Any = MatrixStore(
        "cuda:0", BOOL, *pattern(200, numbers.integers(0, 200, (4000, 2)), False)
    )
    with ThreadPoolExecutor(4) as threads:
        plans = list(threads.map(lambda _: forms.plan_now(), range(8)))
        assert all(plan is plans[0] for plan in plans)
        list(threads.map(lambda _: forms.make_full_plan(), range(4)))
        plans = list(threads.map(lambda k: (forms.T if k % 2 else forms).plan_now(), range(8)))
    assert all(plan is plans[k % 2] for k, plan in enumerate(plans))
    assert plans[0].relabeled.new is plans[1].relabeled.new
