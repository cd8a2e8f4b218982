"""Test when traversal plans are built, shared, reported and dropped, and when they pay off."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.backends import backend
from graphla.formats import Plan
from graphla.operations.operation import Operation, perform, run
from graphla.plans import SAVING, Plans, drop_full_plans
from semirings.exceptions import DimensionMismatch, OutOfMemory

pytestmark = pytest.mark.usefixtures("loops")
on_cuda = pytest.mark.skipif(gl.config.device == "cpu", reason="no memory of a device")


def matrix(n=60, entries=900, seed=0, symmetric=False) -> Any:
    """Return a matrix with enough edges per vertex for a full plan."""
    i, j = np.random.default_rng(seed).integers(0, n, (2, entries))
    if symmetric:
        i, j = np.concatenate([i, j]), np.concatenate([j, i])
    return gl.Matrix.from_coo(i, j, True, nrows=n, ncols=n, dup_op="first", symmetric=symmetric)


def host(A, array):
    return backend(A.device).to_host(array)


def has_full_plans():
    """Return whether the backend builds full plans.

    With NumPy, the cost of a full plan exceeds its benefit.
    """
    return gl.config.device != "cpu" or gl.config.compiled is True


def both_forms(A):
    return A._store.csr, A._store.csc


# --- building plans -------------------------------------------------------------------------------


def test_a_matrix_has_no_plan_before_its_first_traversal():
    A = matrix()
    assert A.preparation is None
    both_forms(A)
    assert A.preparation is None


def test_the_first_traversal_builds_a_light_plan_and_later_traversals_reuse_the_plan():
    A = matrix()
    both_forms(A)
    plan = A._store.plan_now()
    assert plan is not None and not plan.is_full
    assert A._store.plan_now() is plan
    found = A.preparation
    assert (found.tier, found.nbytes, found.seconds) == ("light", plan.nbytes, plan.seconds)
    assert "light plan" in repr(found)


def test_no_plan_is_built_while_a_format_is_missing():
    A = matrix()
    assert A._store.plan_now() is None
    assert not A._store.has_csc


def test_the_method_prepare_builds_the_missing_format_and_returns_the_matrix():
    A = matrix()
    assert A.prepare() is A
    assert A._store.has_csc
    assert A.preparation.tier == ("full" if has_full_plans() else "light")
    plan = A._store.plan_now()
    assert A.prepare()._store.plan_now() is plan


def test_using_the_old_names_of_prepare_and_preparation_issues_a_warning():
    A = matrix()
    with pytest.warns(FutureWarning, match=r"A\.optimize\(\) is now A\.prepare\(\)"):
        assert A.optimize() is A
    with pytest.warns(FutureWarning, match=r"A\.plan is now A\.preparation"):
        assert A.plan == A.preparation


def test_only_a_square_matrix_has_a_plan():
    with pytest.raises(DimensionMismatch, match="but this one is 2 x 3"):
        gl.Matrix("BOOL", 2, 3).prepare()


@pytest.mark.parametrize("n", [0, 1, 40])
def test_the_plan_of_an_empty_matrix_marks_all_vertices_as_isolated(n):
    A = gl.Matrix("INT8", n, n).prepare()
    bits = np.unpackbits(host(A, A._store.plan_now().idle).view("u1"))
    assert bits.all()


# --- sharing a plan -------------------------------------------------------------------------------


@pytest.mark.parametrize("full", [False, True])
@given(seed=st.integers(0, 1 << 16))
def test_a_transpose_shares_the_plan_with_its_directions_swapped(full, seed):
    A = matrix(seed=seed)
    out, into = both_forms(A)
    if full:
        A.prepare()
    ours, theirs = A._store.plan_now(), A._store.T.plan_now()
    assert A._store.T.plan_now() is theirs
    assert host(A, ours.idle).tolist() == host(A, theirs.idle).tolist()
    for plan, rows in ((ours, into), (theirs, out)):
        indptr, indices = host(A, rows.indptr), host(A, rows.indices)
        assert plan.is_full == (full and has_full_plans())
        for first, (begin, end) in zip(host(A, plan.first), pairwise(indptr), strict=True):
            assert first in (indices[begin:end].tolist() or [-1])
    if ours.relabeled is not None:
        assert theirs.relabeled.out is ours.relabeled.into
        assert theirs.relabeled.into is ours.relabeled.out
        assert theirs.relabeled.new is ours.relabeled.new


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_a_symmetric_matrix_and_its_transpose_share_one_plan(full, transposed):
    A = matrix(symmetric=True)
    forms = A._store.T if transposed else A._store
    if full:
        forms.make_full_plan()
    plan = forms.plan_now()
    assert forms.T.plan_now() is plan
    if plan.relabeled is not None:
        assert plan.relabeled.out is plan.relabeled.into


def test_changing_a_matrix_drops_its_plan_but_not_the_plan_of_its_duplicate():
    A = matrix().prepare()
    B = A.dup()
    tier = A.preparation.tier
    A[3, 4] = False
    assert A.preparation is None
    A << B
    assert B.preparation.tier == tier
    A.prepare()
    i, j, _ = A.to_coo()
    del A[i[0], j[0]]
    assert A.preparation is None


# --- recorded times -------------------------------------------------------------------------------


def spend(A, seconds, times=1):
    for _ in range(times):
        A._store.plan_now()
        A._store.record_traversal(seconds)


def test_a_full_plan_is_built_after_traversals_have_taken_as_long_as_its_construction(
    monkeypatch,
):
    A = matrix()
    both_forms(A)
    do = backend(A.device)
    monkeypatch.setattr(do, "plan_cost", lambda out, into: 1.0)
    asked = []
    make = do.plan
    monkeypatch.setattr(do, "plan", lambda *args: asked.append(args[2]) or make(*args))
    spend(A, 0.25)  # the first traversal is not counted, because it may include compilation
    spend(A, 0.25, 4)
    assert asked == [False]
    spend(A, 0.25, 3)
    assert asked == [False, True]
    assert (A.preparation.tier == "full") == has_full_plans()


def test_a_full_plan_with_infinite_cost_is_never_built(monkeypatch):
    A = matrix()
    both_forms(A)
    monkeypatch.setattr(backend(A.device), "plan_cost", lambda out, into: inf)
    spend(A, 1e9, 3)
    assert not A._store.plan_now().is_full


def test_traversals_of_the_transpose_count_toward_a_full_plan(monkeypatch):
    A = matrix()
    both_forms(A)
    monkeypatch.setattr(backend(A.device), "plan_cost", lambda out, into: 1.0)
    for forms in (A._store, A._store.T, A._store):
        forms.plan_now()
        forms.record_traversal(0.5)
    assert A._store.T.plan_now().is_full == has_full_plans()


def plan_of(seconds, full):
    return Plan(None, None, None, 10, seconds, is_full=full)


def spent(light=(), full=()):
    plans = Plans("cpu")
    for each in light:
        plans.record_traversal(each)
    plans.keep(plan_of(0.0, True), 0)
    for each in full:
        plans.record_traversal(each)
    return plans


def test_the_break_even_point_of_a_plan_is_computed_from_traversal_times():
    assert spent().report(plan_of(0.3, False), 0.9).break_even is None
    assert spent(light=[9.0]).report(plan_of(0.3, False), 0.9).break_even is None
    # Without traversals that used a full plan, the saving is estimated. The plan costs 0.9 s and is
    # assumed to save the fraction SAVING of the 10 ms that a traversal takes.
    estimated = spent(light=[9.0, 0.01, 0.01]).report(plan_of(0.3, False), 0.9)
    assert estimated.break_even == 0.9 / (SAVING * 0.01)
    # If all timed traversals used the full plan and took 7 ms, the estimate is the same as above.
    having = spent(full=[9.0, 0.007]).report(plan_of(0.9, True), 5.0)
    assert having.break_even == estimated.break_even
    # If traversals have been timed both with a light plan and with a full plan, the saving is the
    # difference of the times. The full plan costs 0.8 s, and reduces the time of a traversal from
    # 10 ms to 6 ms.
    measured = spent(light=[9.0, 0.01], full=[9.0, 0.006]).report(plan_of(0.8, True), 5.0)
    assert measured.break_even == 200
    assert "pays after 200 traversals" in repr(measured)
    slower = spent(light=[9.0, 0.01], full=[9.0, 0.02]).report(plan_of(0.8, True), 5.0)
    assert slower.break_even is None
    assert spent(light=[9.0, 0.01]).report(plan_of(0.3, False), inf).break_even is None


# --- tests of out-of-memory errors ----------------------------------------------------------------


@on_cuda
def test_dropping_a_full_plan_deletes_the_recorded_times_of_its_matrix(monkeypatch):
    A, B = matrix().prepare(), matrix(seed=1)
    both_forms(B)
    B._store.plan_now()
    monkeypatch.setattr(backend(A.device), "plan_cost", lambda out, into: 1.0)
    spend(A, 2.0, 3)
    assert drop_full_plans(A.device)
    assert not drop_full_plans(A.device)
    assert A._store.plan_now().relabeled is None
    assert A.preparation.break_even is None
    assert B.preparation.tier == "light"
    spend(A, 2.0, 2)
    assert A._store.plan_now().relabeled is not None


class Short:
    """Raise an out-of-memory error in the first `times` calls."""

    def __init__(self, device, times):
        self.left, self.asked, self.device = times, 0, device

    def __call__(self, *args):
        self.asked += 1
        if self.asked <= self.left:
            from cupy.cuda.memory import OutOfMemoryError  # pyright: ignore

            raise OutOfMemoryError(100, 200, 0)
        return args[0]


@on_cuda
@pytest.mark.parametrize("start", [perform, run])
def test_an_operation_that_runs_out_of_memory_is_retried_without_full_plans(start):
    A, B = matrix().prepare(), matrix(seed=1)
    short = Short(A.device, 1)
    args = ("try", short, B._store) if start is perform else (Operation("try", short), (B._store,))
    assert start(*args) is B._store
    assert short.asked == 2
    assert A.preparation is None
    assert A._store.plan_now().relabeled is None


@on_cuda
def test_computing_the_mask_of_a_select_is_retried_without_full_plans(monkeypatch):
    A, v = matrix().prepare(), gl.Vector.from_coo([0, 2], [True, True], size=3)
    short = Short(A.device, 1)
    lower = type(v._store).mask

    def mask(store, structural, complement):
        short(store)
        return lower(store, structural, complement)

    monkeypatch.setattr(type(v._store), "mask", mask)
    assert v.select(v.S).new().isequal(v)
    assert short.asked == 2
    assert A.preparation is None


@on_cuda
def test_computing_the_mask_of_an_assignment_is_retried_without_full_plans(monkeypatch):
    A, v = matrix().prepare(), gl.Vector.from_coo([0, 2], [True, True], size=3)
    short = Short(A.device, 1)
    lower = type(v._store).mask

    def mask(store, structural, complement):
        short(store)
        return lower(store, structural, complement)

    w = gl.Vector(bool, 3)
    monkeypatch.setattr(type(v._store), "mask", mask)
    w(v.S)[:] = True
    monkeypatch.undo()
    assert w.isequal(v)
    assert short.asked == 2
    assert A.preparation is None


@on_cuda
def test_an_operation_is_retried_at_most_once_and_only_if_full_plans_can_be_dropped():
    A = matrix().prepare()
    short = Short(A.device, 9)
    with pytest.raises(OutOfMemory, match="its operands are as they were"):
        perform("try", short, A._store)
    assert short.asked == 2
    with pytest.raises(OutOfMemory):
        perform("try", short, A._store)
    assert short.asked == 3


@on_cuda
def test_a_plan_is_freed_with_its_matrix():
    A = matrix().prepare()
    assert A.preparation.tier == "full"
    device = A.device
    del A
    assert not drop_full_plans(device)
