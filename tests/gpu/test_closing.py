"""Check that each GPU method computes the same closures as repeated products."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from devices import has_cuda, use_cuda
from hypothesis import given
from hypothesis import strategies as st

if not has_cuda():
    pytest.skip("neither a card nor g++", allow_module_level=True)
use_cuda()

from storages import to_device, to_host  # noqa: E402

import graphla as gl  # noqa: E402
from graphla.backends import Closure, ClosureResult, backend  # noqa: E402
from graphla.backends.cuda import closure, persistent  # noqa: E402
from graphla.backends.cuda.closure import ClosureTuning  # noqa: E402
from graphla.backends.tuning import using  # noqa: E402
from graphla.formats import BitmapVector, Csr, FullVector, SparseVector, VectorMask  # noqa: E402
from semirings import semiring as catalog  # noqa: E402
from semirings import where  # noqa: E402
from semirings.overflow import overflowing  # noqa: E402

FOREVER = 2**31 - 1
SIZE = 90
"""Number of vertices. The closure kernel treats a row with this many edges as a long row."""

_least = gl.monoid.register_anonymous(
    gl.binary.register_anonymous(lambda x, y: where(x < y, x, y), "lesser"), np.inf
)
OWN = gl.semiring.register_anonymous(_least, gl.binary.plus, "lesser_plus")
"""A semiring whose monoid has no hardware support.

No kernel recognizes the monoid as a minimum or maximum under some order.
"""


class Kind(NamedTuple):
    """One variant of the kernel, and the ranges of the weights and start values to test it with."""

    name: str
    weights: tuple[int, int]
    starts: tuple[int, int]
    parents: bool = False
    masked: bool = False
    iso: bool = False
    offset: Any = np.int32


# Each kind requires compiling a separate program, so the list is short. Together the kinds cover
# every way to store the state of a vertex.
IMPROVING = [
    Kind("min_plus INT8", (0, 9), (0, 20), parents=True),
    Kind("min_plus INT64", (0, 9), (-9, -1), masked=True),
    Kind("max_second INT16", (0, 9), (0, 9), offset=np.int64),
    Kind("lor_land BOOL", (0, 1), (0, 1), parents=True, masked=True),
    Kind("land_lor BOOL", (0, 1), (0, 1), iso=True),
    Kind("bor_band UINT64", (0, 255), (0, 255)),
    Kind("lesser_plus FP32", (0, 9), (0, 20), parents=True, masked=True),
]
NEAR_FAR = [
    Kind("min_plus INT32", (0, 9), (0, 20)),
    Kind("min_plus INT64", (0, 9), (0, 20), parents=True, offset=np.int64),
    Kind("min_plus FP64", (0, 9), (-5, 20), masked=True),
    Kind("max_min UINT8", (0, 9), (0, 9), parents=True, masked=True),
    Kind("max_times FP32", (0, 1), (0, 1), iso=True),
]
ROUNDS = [
    Kind("min_plus UINT16", (0, 9), (0, 20), parents=True),
    Kind("min_max FP64", (0, 9), (0, 9), masked=True),
    Kind("min_first INT64", (0, 9), (0, 90), parents=True, masked=True),
    Kind("lesser_plus FP32", (0, 9), (0, 20), iso=True, offset=np.int64),
    Kind("bor_band UINT64", (0, 255), (0, 255)),
]
WITH_NAN = [NEAR_FAR[2]]


def typed(name: str) -> Any:
    which, dtype = name.split()
    return OWN[dtype] if which == "lesser_plus" else getattr(catalog, which)[dtype]


@pytest.fixture(autouse=True)
def on_cuda() -> Iterator[None]:
    with gl.config.set(device="cuda"):
        yield


@pytest.fixture(autouse=True)
def small_blocks() -> Iterator[None]:
    with using(ClosureTuning(block=64)):
        yield


class Case(NamedTuple):
    """The operands of a closure, on the host."""

    op: Any
    a: Csr
    x: Any
    allowed: np.ndarray | None

    @property
    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = np.repeat(np.arange(self.a.nrows), np.diff(self.a.indptr))
        return rows, self.a.indices, self.a.values.astype(self.op.type2.np_type)

    @property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        n, dtype = self.a.nrows, self.op.return_type.np_type
        values, present = np.zeros(n, dtype), np.zeros(n, bool)
        x = self.x
        if isinstance(x, SparseVector):
            values[x.indices], present[x.indices] = x.values, True
        else:
            values[:] = x.values
            present[:] = x.present if isinstance(x, BitmapVector) else True
        return values, present


@st.composite
def cases(draw: st.DrawFn, kinds: list[Kind], special: bool = False) -> tuple[Kind, Case]:
    kind = draw(st.sampled_from(kinds))
    op = typed(kind.name)
    numbers = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    n = draw(st.sampled_from((1, 2, 7, 40, SIZE)))
    density = draw(st.sampled_from((0.0, 0.01, 0.04)))
    there = numbers.random((n, n)) < density
    if draw(st.booleans()):
        there[numbers.integers(n)] = True  # adds a long row and a long column
        there[:, numbers.integers(n)] = True
    if draw(st.booleans()):
        there |= np.eye(n, k=1, dtype=bool)  # adds a path
    rows, columns = there.nonzero()
    indptr = rows.searchsorted(np.arange(n + 1)).astype(kind.offset)
    a_type, x_type = op.type2.np_type, op.return_type.np_type
    values = _numbers(numbers, kind.weights, rows.size, a_type, special)
    if kind.iso and rows.size:
        values = np.broadcast_to(values[:1].copy(), values.shape)
    a = Csr(n, n, indptr, columns.astype(np.int32), values)
    held = _numbers(numbers, kind.starts, n, x_type, special)
    form = draw(st.sampled_from(("one", "few", "bitmap", "full")))
    x: Any = FullVector(n, held)
    if form == "bitmap":
        present = numbers.random(n) < 0.2
        x = BitmapVector(n, present, held, int(present.sum()))
    elif form != "full":
        count = min(n, 1 if form == "one" else 5)
        indices = numbers.choice(n, count, replace=False).astype(np.int32)
        x = SparseVector(n, indices, held[indices], False)
    allowed = numbers.random(n) < 0.7 if kind.masked else None
    return kind, Case(op, a, x, allowed)


def _numbers(
    numbers: np.random.Generator, bounds: tuple[int, int], count: int, dtype: Any, special: bool
) -> np.ndarray:
    low, high = bounds
    if dtype.kind == "f" and high == 1:
        drawn = numbers.integers(0, 9, count) / 8
    else:
        drawn = numbers.integers(low, high + 1, count)
    drawn = drawn.astype(dtype)
    if special and dtype.kind == "f":
        odd = numbers.random(count) < 0.15
        drawn[odd] = numbers.choice([np.nan, np.inf, -0.0], int(odd.sum()))
    return drawn


thresholds = st.builds(
    partial(ClosureTuning, block=64),
    alone_rows=st.sampled_from((0, 3, 256)),
    alone_edges=st.sampled_from((0, 64, 4096)),
    fused_rows=st.sampled_from((0, 20, 1 << 16)),
    fused_edges=st.sampled_from((0, 100, 1 << 18)),
    fused_rounds=st.sampled_from((1, 2, 8)),
    held_most=st.sampled_from((1, 7, 1024)),
    spread=st.sampled_from((0.0, 8.0, 1000.0)),
)


def same(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x == y) | ((x != x) & (y != y))


def rounds_of(case: Case, limit: int) -> tuple[np.ndarray, np.ndarray, bool, bool]:
    """Compute the closure of a case by up to `limit` products of the vector and the matrix.

    Return the values, the presence flags, whether the values converged, and whether any term
    overflowed.
    """
    rows, columns, weights = case.edges
    values, present = case.start
    monoid, multiply = case.op.monoid, case.op.binaryop
    fits_not = overflowing(multiply)
    has_lost = False
    for _ in range(limit):
        old, was = values.copy(), present.copy()
        used = was[rows]
        if case.allowed is not None:
            used &= case.allowed[columns]
        k, v, w = rows[used], columns[used], weights[used]
        u = old[k].astype(case.op.type.np_type)
        with np.errstate(all="ignore"):
            terms = np.asarray(multiply.numpy(u, w)).astype(values.dtype)
        if fits_not is not None:
            fits = ~np.broadcast_to(np.asarray(fits_not.numpy(u, w)), terms.shape)
            has_lost |= not fits.all()
            v, terms = v[fits], terms[fits]
        for o, term in zip(v, terms, strict=True):
            values[o] = monoid.binaryop.numpy(values[o], term) if present[o] else term
            present[o] = True
        if (present == was).all() and same(values, old)[present].all():
            return values, present, True, has_lost
    return values, present, False, has_lost


def close(case: Case, how: Any, *, limit: int = FOREVER, **options: Any) -> ClosureResult:
    mask = None
    if case.allowed is not None:
        mask = VectorMask(case.a.nrows, ~case.allowed, None, True)
    request = Closure(
        to_device(case.a),
        to_device(case.x),
        case.op,
        how,
        mask=None if mask is None else to_device(mask),
        limit=limit,
        **{"turns": FOREVER, **options},
    )
    return backend("cuda").closure(request)


def check(case: Case, closed: ClosureResult, limit: int = 500) -> None:
    values, present, _, has_lost = rounds_of(case, limit)
    found = to_host(closed.values)
    np.testing.assert_array_equal(found.present, present)
    np.testing.assert_array_equal(found.values[present], values[present])
    assert found.values.dtype == values.dtype and found.count == present.sum()
    assert closed.settled and (closed.overflowed or not has_lost)
    if closed.parents is not None and limit == 500:
        check_parents(case, values, present, backend("cuda").to_host(closed.parents))


def check_parents(case: Case, values: np.ndarray, present: np.ndarray, parents: np.ndarray) -> None:
    """Check that each value follows from its parent, and that parents lead to a start vertex."""
    rows, columns, weights = case.edges
    weight = {(k, v): w for k, v, w in zip(rows, columns, weights, strict=True)}
    starts, is_start = case.start
    for v in present.nonzero()[0]:
        steps = 0
        while parents[v] != v:
            k = parents[v]
            u = case.op.type.np_type.type(values[k])
            term = case.op.binaryop.numpy(u, weight[k, v])
            assert present[k] and same(np.asarray(term).astype(values.dtype), values[v])
            v, steps = k, steps + 1
            assert steps <= present.size
        assert is_start[v] and same(starts[v], values[v])


@given(cases(IMPROVING), thresholds)
def test_a_closure_in_the_improving_mode_reaches_the_fixed_point(drawn: Any, chosen: Any):
    kind, case = drawn
    with using(chosen):
        check(case, close(case, "improving", parents=kind.parents))


@given(cases(NEAR_FAR), thresholds, st.sampled_from((None, 0.5, 3.0, 1e9)))
def test_a_closure_in_the_near_far_mode_reaches_the_same_fixed_point(
    drawn: Any, chosen: Any, delta: float | None
):
    kind, case = drawn
    with using(chosen):
        check(case, close(case, "near_far", parents=kind.parents, delta=delta))


@given(cases(ROUNDS), thresholds, st.sampled_from((0, 1, 2, 3, 10, FOREVER)))
def test_a_closure_limited_to_k_rounds_equals_k_products(drawn: Any, chosen: Any, limit: int):
    kind, case = drawn
    with using(chosen):
        check(case, close(case, "rounds", limit=limit, parents=kind.parents), min(limit, 500))


@given(cases(WITH_NAN, special=True), thresholds)
def test_nan_values_propagate_as_in_repeated_products(drawn: Any, chosen: Any):
    with using(chosen):
        check(drawn[1], close(drawn[1], "near_far", delta=2.0))


def path(n: int, weights: np.ndarray, name: str = "min_plus INT32") -> Case:
    indptr = np.minimum(np.arange(n + 1), n - 1).astype(np.int32)
    a = Csr(n, n, indptr, np.arange(1, n, dtype=np.int32), weights)
    op = typed(name)
    x = SparseVector(n, np.zeros(1, np.int32), np.zeros(1, op.return_type.np_type))
    return Case(op, a, x, None)


def test_one_block_alone_can_compute_the_closure_of_a_long_path():
    n = 3000
    case = path(n, np.ones(n - 1, np.int64), "min_plus INT64")
    closed = close(case, "near_far", delta=10, parents=True)
    assert backend("cuda").to_host(closed.values.values).tolist() == list(range(n))
    assert backend("cuda").to_host(closed.parents).tolist() == [0, *range(n - 1)]


def test_a_cycle_that_keeps_improving_is_reported_as_unsettled():
    indptr, indices = np.array([0, 1, 3, 4], np.int32), np.array([1, 0, 2, 2], np.int32)
    a = Csr(3, 3, indptr, indices, np.array([1, -2, 5, 0], np.int64))
    x = SparseVector(3, np.zeros(1, np.int32), np.zeros(1, np.int64))
    case = Case(typed("min_plus INT64"), a, x, None)
    assert not close(case, "improving", turns=50).settled
    closed = close(case, "improving", turns=50, parents=True)
    assert not closed.settled
    assert backend("cuda").to_host(closed.parents).tolist()[:2] == [1, 0]
    assert close(case, "rounds", limit=7, turns=50).settled


def test_a_value_that_overflowed_on_a_cycle_is_reported_as_unsettled():
    """In FP32, the value doubles until it overflows, in fewer rounds than there are vertices."""
    n = 600
    indptr = np.minimum(np.arange(n + 1), n - 1).astype(np.int32)
    indices = np.arange(1, n, dtype=np.int32)
    indices[0] = 0
    a = Csr(n, n, indptr, indices, np.full(n - 1, 2, np.float32))
    x = SparseVector(n, np.zeros(1, np.int32), np.ones(1, np.float32))
    case = Case(typed("max_times FP32"), a, x, None)
    closed = close(case, "improving", turns=1024)
    assert not closed.settled and closed.parents is not None
    assert np.isfinite(backend("cuda").to_host(closed.values.values)[0])
    x = SparseVector(n, np.zeros(1, np.int32), np.zeros(1, np.float32))
    assert close(case._replace(x=x), "improving", turns=1024).settled


def test_a_product_that_overflows_is_omitted_and_reported():
    for name, most in (("min_plus INT8", 127), ("min_plus INT64", 2**63 - 1)):
        dtype = typed(name).return_type.np_type
        closed = close(path(3, np.array([most, 1], dtype), name), "near_far")
        assert closed.overflowed
        assert backend("cuda").to_host(closed.values.present).tolist() == [True, True, False]
    assert not close(path(3, np.array([126, 1], np.int8), "min_plus INT8"), "near_far").overflowed


def test_path_lengths_are_computed_in_32_bits_if_all_of_them_fit(monkeypatch: pytest.MonkeyPatch):
    taken = []
    load = closure.load

    def watched(*key: Any, **constants: Any) -> Any:
        taken.append(key[2][1:])
        return load(*key, **constants)

    monkeypatch.setattr(closure, "load", watched)
    for far, name, checked in (
        (5, "INT32", False),
        (2**31, "INT64", False),
        (2**62, "INT64", False),
        (2**63 - 1, "INT64", True),
    ):
        closed = close(path(3, np.array([3, far], np.int64), "min_plus INT64"), "near_far")
        assert closed.values.values.dtype == np.int64
        ring, is_checked = taken.pop()
        assert (ring.type.name, is_checked) == (name, checked)


def test_the_edge_counts_in_the_trace_of_a_closure_add_up_to_all_edges():
    case = path(200, np.ones(199, np.int32))
    trace = close(case, "near_far", traced=True).trace
    assert sum(level.edges for level in trace) == 199
    assert {level.direction for level in trace} <= {
        "push",
        "push, block",
        "split",
        "split, block",
    }


@pytest.mark.parametrize("tickets", [2**32 - 1, 2**32 - 30])
def test_the_ticket_counter_of_a_closure_may_wrap_around(tickets: int):
    case = path(60, np.ones(59, np.int32))
    tuning = ClosureTuning(block=64, alone_rows=0, held_most=0)
    with using(tuning, persistent.PersistentTuning(tickets=tickets)):
        check(case, close(case, "near_far"))


def test_a_near_far_closure_falls_back_to_the_improving_mode_when_the_far_list_is_full(
    monkeypatch: pytest.MonkeyPatch,
):
    case = path(20, np.ones(19, np.int32))
    run, told = persistent.run, []

    def full_once(*args: Any, **options: Any) -> list[int]:
        told.append(run(*args, **options))
        return [persistent.FAULT, *told[0][1:]] if len(told) == 1 else told[-1]

    monkeypatch.setattr(persistent, "run", full_once)
    check(case, close(case, "near_far"))
    assert len(told) == 2
