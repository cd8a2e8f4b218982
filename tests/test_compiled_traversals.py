"""Test that compiled traversals agree with NumPy on any number of threads and can be stopped."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from threading import Thread, Timer
from time import sleep
from typing import Any

import numpy as np
import pytest
from effort import is_full
from scipy.sparse import csgraph, csr_array

import graphla as gl
from graphla.backends.cpu import backend as cpu
from graphla.backends.cpu.bfs import BfsTuning
from graphla.backends.cpu.closure import ClosureTuning, has_cycle
from graphla.backends.cpu.multi_source_bfs import MultiSearchTuning
from graphla.backends.requests import FOREVER, Closure, ClosureResult, MultiSearch, Search
from graphla.backends.tuning import using
from graphla.compilers import threads
from graphla.formats import Csr, Plan, SparseVector, VectorMask
from graphla.settings import config
from semirings import binary, monoid, semiring

pytest.importorskip("numba")
pytestmark = pytest.mark.cpu

SEEDS = range(12)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lower the thresholds so that small graphs use several parts and a second thread."""
    few = ClosureTuning(small=30, check=3), MultiSearchTuning(together=20)
    with using(BfsTuning(wide=20, apart=50, shared=40), *few):
        yield


# --- graphs -------------------------------------------------------------------------------------


def csr_of(n: int, rows: Any, columns: Any, values: Any, wide: bool = False) -> Csr:
    """Return a CSR matrix of the entries; of several entries at the same index, keep the last."""
    entries = dict(zip(zip(rows.tolist(), columns.tolist(), strict=True), values, strict=True))
    places = sorted(entries)
    counts = np.zeros(n + 1, np.int64 if wide else np.int32)
    for i, _ in places:
        counts[i + 1] += 1
    indices = np.array([j for _, j in places], np.int32)
    data = np.array([entries[place] for place in places], values.dtype)
    return Csr(n, n, np.cumsum(counts).astype(counts.dtype), indices, data)


def a_graph(rng: Any, dtype: Any = np.int64, low: int = 0) -> tuple[Csr, Csr]:
    """Return a random graph in CSR and CSC, with self-loops and isolated vertices."""
    n = int(rng.integers(1, 150))
    m = int(n * rng.choice([0, 0.5, 1.2, 4]))
    rows, columns = rng.integers(0, n, (2, m))
    wide = bool(rng.random() < 0.3)
    if rng.random() < 0.3:  # add a path through all vertices
        rows, columns = np.append(rows, np.arange(n - 1)), np.append(columns, np.arange(1, n))
    values = rng.integers(low, 20, rows.size).astype(dtype)
    if rng.random() < 0.4:
        rows, columns = np.append(rows, columns), np.append(columns, rows)
        values = np.append(values, values)
        a = csr_of(n, rows, columns, values, wide)
        return a, a
    return csr_of(n, rows, columns, values, wide), csr_of(n, columns, rows, values, wide)


def a_mask(rng: Any, n: int) -> VectorMask | None:
    if rng.random() < 0.5:
        return None
    present = rng.random(n) < 0.7
    complement = bool(rng.random() < 0.5)
    if rng.random() < 0.5:
        return VectorMask(n, present, None, complement)
    return VectorMask(n, None, np.flatnonzero(present).astype(np.int32), complement)


def some_vertices(rng: Any, n: int, most: int = 4) -> np.ndarray:
    return np.sort(rng.choice(n, int(rng.integers(1, min(n, most) + 1)), False)).astype(np.int32)


def compiled(call: Callable[[], Any]) -> list[Any]:
    """Return the results of the call with one thread and with three threads."""
    results = []
    for count in (1, 3):
        with config.set(compiled=True, threads=count):
            results.append(call())
    return results


def in_numpy(call: Callable[[], Any]) -> Any:
    with config.set(compiled=False):
        return call()


# --- tests of breadth-first search ---------------------------------------------------------------


def plans_of(out: Csr, into: Csr) -> list[Plan | None]:
    with config.set(compiled=True):
        return [None, cpu.plan(out, into, False, None), cpu.plan(out, into, True, None)]


@pytest.mark.parametrize("direction", ["auto", "push", "pull"])
@pytest.mark.parametrize("parents", [None, "any", "least"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_compiled_search_agrees_with_numpy(seed: int, parents: Any, direction: Any) -> None:
    rng = np.random.default_rng(seed)
    out, into = a_graph(rng)
    starts = some_vertices(rng, out.nrows, most=int(rng.choice([3, 100])))
    for plan in plans_of(out, into):
        level_type = [None, np.int32, np.uint8][rng.integers(3)]
        if level_type is np.uint8 and out.indptr.dtype == np.int64 and not is_full():
            level_type = np.int32  # each pair of dtypes needs a separate compilation
        options: Any = {
            "mask": a_mask(rng, out.nrows),
            "limit": int(rng.choice([0, 1, 3, FOREVER])),
            "levels": None if level_type is None else np.dtype(level_type),
            "parents": parents,
            "direction": direction,
            "plan": plan,
            "traced": bool(rng.random() < 0.5),
        }
        columns = None if plan is None and rng.random() < 0.5 else into
        expected = in_numpy(lambda c=columns, o=options: cpu.bfs(Search(out, c, starts, **o)))
        for tree in compiled(lambda c=columns, o=options: cpu.bfs(Search(out, c, starts, **o))):
            same_tree(tree, expected, parents, out, starts)
            if options["traced"] and options["limit"]:
                assert not tree.trace or tree.trace[0].frontier == starts.size
                if columns is None:
                    assert all(level.direction == "push" for level in tree.trace)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("is_symmetric", [True, False])
def test_a_search_of_a_larger_graph_matches_scipy(is_symmetric: bool, threads: int) -> None:
    rng = np.random.default_rng(threads)
    n = 20_000
    rows, columns = rng.integers(0, n, (2, 3 * n))
    if is_symmetric:
        rows, columns = np.append(rows, columns), np.append(columns, rows)
    keys = np.unique(rows * n + columns)
    rows, columns = keys // n, keys % n
    graph = csr_array((np.ones(keys.size), (rows, columns)), shape=(n, n))
    expected = csgraph.dijkstra(graph, unweighted=True, indices=3)
    A = gl.Matrix.from_coo(rows, columns, True, nrows=n, ncols=n)
    with using(BfsTuning(wide=100, shared=1000)), config.set(compiled=True, threads=threads):
        levels, parents = gl.algorithms.bfs(A, 3)
    assert np.array_equal(levels.to_dense(dtype="FP64", fill_value=np.inf), expected)
    v, u = parents.to_coo()
    v, u = v[v != 3], u[v != 3]
    assert np.isin(u * n + v, keys).all()
    assert np.array_equal(expected[v], expected[u] + 1)


def same_tree(tree: Any, expected: Any, parents: Any, out: Csr, starts: np.ndarray) -> None:
    there = expected.present
    assert tree.present.dtype == bool and np.array_equal(tree.present, there)
    assert (tree.reached, tree.depth) == (expected.reached, expected.depth)
    assert (tree.levels is None) == (expected.levels is None)
    if tree.levels is not None:
        assert tree.levels.dtype == expected.levels.dtype
        assert np.array_equal(tree.levels[there], expected.levels[there])
    if parents == "least":
        assert np.array_equal(tree.parents[there], expected.parents[there])
    if parents == "any" and tree.levels is not None:
        for v in np.flatnonzero(there).tolist():
            u = int(tree.parents[v])
            if v in starts:
                assert u == v
            else:
                assert v in out.indices[out.indptr[u] : out.indptr[u + 1]]
                assert int(tree.levels[v]) == int(tree.levels[u]) + 1


def path(n: int) -> Csr:
    return csr_of(n, np.arange(n - 1), np.arange(1, n), np.ones(n - 1))


def test_levels_above_254_overflow_if_levels_are_stored_in_one_byte() -> None:
    options: Any = {"mask": None, "limit": FOREVER, "levels": np.dtype(np.uint8)}
    start = np.zeros(1, np.int32)

    def levels_of(n: int) -> Any:
        return cpu.bfs(Search(path(n), None, start, **options)).levels

    for setting in (True, False):
        with config.set(compiled=setting):
            assert levels_of(255).tolist() == list(range(255))
            with pytest.raises(OverflowError, match="at most 254"):
                levels_of(256)
            with pytest.raises(OverflowError, match="at most 254"):
                levels_of_many(path(256), None, start, np.uint8)


def test_a_plan_marks_isolated_vertices_and_stores_a_predecessor_of_each_vertex_that_has_one() -> (
    None
):
    for seed in SEEDS:
        out, into = a_graph(np.random.default_rng(seed))
        degrees = np.diff(into.indptr)
        idle = (np.diff(out.indptr) == 0) & (degrees == 0)
        with config.set(compiled=False):
            by_hand = cpu.plan(out, into, False, None)
        for plan in (by_hand, *plans_of(out, into)[1:]):
            assert plan is not None and plan.relabeled is None
            bits = np.unpackbits(plan.idle.view(np.uint8), bitorder="little").astype(bool)
            assert np.array_equal(bits[: out.nrows], idle) and bits[out.nrows :].all()
            assert np.array_equal(plan.first >= 0, degrees > 0)
            for v in np.flatnonzero(degrees):
                assert plan.first[v] in into.indices[into.indptr[v] : into.indptr[v + 1]]


# --- many searches ------------------------------------------------------------------------------


def levels_of_many(
    out: Csr, into: Csr | None, starts: Any, dtype: Any, mask: Any = None, limit: int = FOREVER
) -> np.ndarray:
    request = MultiSearch(out, into, starts, mask, limit, np.dtype(dtype))
    levels = cpu.multi_source_bfs(request).levels
    assert levels is not None
    return levels


@pytest.mark.parametrize("deep", [0, 1000])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_batch_of_searches_agrees_with_single_searches(seed: int, deep: int) -> None:
    rng = np.random.default_rng(seed)
    out, into = a_graph(rng)
    starts = rng.integers(0, out.nrows, int(rng.choice([1, 19, 20, 70]))).astype(np.int32)
    mask, limit = a_mask(rng, out.nrows), int(rng.choice([0, 1, 3, FOREVER]))
    columns = None if rng.random() < 0.3 else into
    dtype = [np.int32, np.uint8][rng.integers(2)]

    def levels() -> np.ndarray:
        return levels_of_many(out, columns, starts, dtype, mask, limit)

    def reach() -> np.ndarray:
        found = cpu.multi_source_bfs(MultiSearch(out, columns, starts, mask, limit, None))
        return np.array(found.reach)

    expected = in_numpy(levels)
    there = expected != np.array(-1).astype(dtype)
    sums = np.where(there, expected, 0).astype(np.int64)
    with using(MultiSearchTuning(together=20, deep=deep)):
        for table in compiled(levels):
            assert table.dtype == dtype and np.array_equal(table, expected)
        for found in (in_numpy(reach), *compiled(reach)):
            assert np.array_equal(found, [there.sum(1), sums.sum(1), sums.max(1)])


def test_a_batch_may_contain_one_search_per_bit_of_a_word() -> None:
    out, into = a_graph(np.random.default_rng(7))
    starts = (np.arange(130) % out.nrows).astype(np.int32)

    def levels() -> np.ndarray:
        return levels_of_many(out, into, starts, np.int32)

    with using(MultiSearchTuning(together=64, deep=1000)):
        expected = in_numpy(levels)
        for found in compiled(levels):
            assert np.array_equal(found, expected)


# --- closure ------------------------------------------------------------------------------------

twice = binary.register_anonymous(lambda x, y: x + y + y, "twice")
of_my_own = semiring.register_anonymous(monoid.min, twice)
NEAR_FAR = [
    ("min_plus", "INT64"),
    ("min_plus", "UINT8"),
    ("min_plus", "FP32"),
    ("min_max", "FP64"),
    ("max_min", "INT32"),
    ("max_min", "UINT64"),
    ("max_times", "FP64"),
]
OTHERS = [
    ("min_first", "INT64"),
    ("max_plus", "INT16"),
    ("lor_land", "BOOL"),
    ("land_lor", "BOOL"),
    (of_my_own, "INT64"),
]


def operands(name: Any, dtype: str, rng: Any) -> tuple[Any, Csr, SparseVector]:
    op = (semiring.from_string(name) if isinstance(name, str) else name)[dtype]
    kept = op.return_type.np_type
    out, _ = a_graph(rng, kept, low=1)
    if name != "min_plus" and not is_full():  # each offset type needs a separate compilation
        offsets = out.indptr.astype(np.int32)
        out = Csr(out.nrows, out.ncols, offsets, out.indices, out.values)
    if name == "max_times":
        out = Csr(out.nrows, out.ncols, out.indptr, out.indices, rng.random(out.nvals))
    elif name == "max_plus":
        values = -rng.integers(0, 9, out.nvals).astype(kept)
        out = Csr(out.nrows, out.ncols, out.indptr, out.indices, values)
    starts = some_vertices(rng, out.nrows)
    values = np.ones(starts.size) if name == "max_times" else rng.integers(0, 9, starts.size)
    return op, out, SparseVector(out.nrows, starts, values.astype(kept))


def closed(
    out: Csr, x: SparseVector, op: Any, how: Any, *, limit: int = FOREVER, **options: Any
) -> ClosureResult:
    options = {"mask": None, "turns": FOREVER, **options}
    return cpu.closure(Closure(out, x, op, how, limit=limit, **options))


def closed_alike(
    name: Any, dtype: str, how: Any, seed: int, limit: int = FOREVER, delta: Any = None
) -> None:
    rng = np.random.default_rng(seed)
    op, out, x = operands(name, dtype, rng)
    options: Any = {
        "mask": a_mask(rng, out.nrows),
        "limit": limit,
        "parents": True,
        "delta": delta,
        "traced": bool(rng.random() < 0.5),
    }
    expected = in_numpy(lambda: closed(out, x, op, how, **options))
    for found in compiled(lambda: closed(out, x, op, how, **options)):
        there = expected.values.present
        assert found.settled and found.overflowed == expected.overflowed
        assert np.array_equal(found.values.present, there)
        assert found.values.values.dtype == op.return_type.np_type
        assert np.array_equal(found.values.values[there], expected.values.values[there])
        assert found.values.nvals == np.count_nonzero(there)
        if how != "near_far":
            assert found.depth == expected.depth
        if options["traced"]:
            assert len(found.trace) == found.depth
        if limit == FOREVER:
            parents_lead_to_starts(found, out, op, x)


def parents_lead_to_starts(found: Any, out: Csr, op: Any, x: SparseVector) -> None:
    values, present = found.values.values, found.values.present
    for v in np.flatnonzero(present).tolist():
        u = int(found.parents[v])
        if u != v:
            begin, end = out.indptr[u], out.indptr[u + 1]
            p = begin + int(np.searchsorted(out.indices[begin:end], v))
            assert out.indices[p] == v
            product = op.binaryop.numpy(values[u : u + 1], out.values[p : p + 1])
            assert product.astype(values.dtype)[0] == values[v]
    up = found.parents
    for _ in range(out.nrows.bit_length()):
        up = np.where(present, up[np.where(present, up, 0)], 0)
    assert set(up[present].tolist()) <= set(x.indices.tolist())


@pytest.mark.parametrize("delta", [None, 0.75, 5.0, 1e300])
@pytest.mark.parametrize(("name", "dtype"), NEAR_FAR)
def test_a_near_far_closure_agrees_with_numpy(name: str, dtype: str, delta: Any) -> None:
    for seed in range(4):
        closed_alike(name, dtype, "near_far", seed, delta=delta)


@pytest.mark.parametrize("name", ["min_plus", "min_max", "max_min", "max_times"])
def test_a_near_far_closure_is_correct_when_entries_improve_many_times(name: str) -> None:
    """Use a ring, in which the search first finds long paths and then improves them many times."""
    rng = np.random.default_rng(3)
    n = 400
    rows = np.concatenate([np.arange(n), rng.integers(0, n, 2 * n)])
    columns = np.concatenate([(np.arange(n) + 1) % n, rng.integers(0, n, 2 * n)])
    a = csr_of(n, rows, columns, np.where(np.arange(rows.size) < n, 0.01, rng.random(rows.size)))
    op = semiring.from_string(name)["FP64"]
    x = SparseVector(n, np.zeros(1, np.int32), np.full(1, op.binaryop.op.monoid.identities["FP64"]))
    options: Any = {"parents": True, "traced": True}
    expected = in_numpy(lambda: closed(a, x, op, "improving", **options))
    turns = []
    for width in (1e-9, 8.0, 1e9):
        narrow: Any = {"edges_ahead": width, "least_ahead": 0.0, "relative": min(width, 0.9)}
        with using(ClosureTuning(small=30, check=3, **narrow)):
            for found in compiled(lambda: closed(a, x, op, "near_far", **options)):
                assert np.array_equal(found.values.values, expected.values.values)
                turns.append(found.depth)
    assert max(turns) > 2


@pytest.mark.parametrize("how", ["improving", "rounds"])
@pytest.mark.parametrize(("name", "dtype"), NEAR_FAR[:3] + OTHERS)
def test_a_closure_computed_in_rounds_agrees_with_numpy(name: Any, dtype: str, how: str) -> None:
    for seed in range(4):
        closed_alike(name, dtype, how, seed)


@pytest.mark.parametrize("limit", [0, 1, 2, 5])
def test_a_closure_limited_to_k_rounds_agrees_with_numpy(limit: int) -> None:
    for seed in SEEDS:
        closed_alike("min_plus", "INT64", "rounds", seed, limit=limit)


def test_a_nan_entry_is_not_improved_again() -> None:
    n = 3
    values = np.array([np.nan, 1.0, 1.0, 1.0])
    ring = csr_of(n, np.array([0, 1, 2, 2]), np.array([1, 2, 1, 0]), values)
    x = SparseVector(n, np.zeros(1, np.int32), np.zeros(1))
    for how in ("rounds", "near_far"):
        for setting in (True, False):
            with config.set(compiled=setting):
                found = closed(ring, x, semiring.min_plus["FP64"], how, turns=100)
            assert found.settled and np.isnan(found.values.values).all()


@pytest.mark.parametrize("setting", [True, False])
def test_a_cycle_that_keeps_improving_is_detected_from_the_parents(setting: bool) -> None:
    ring = csr_of(4, np.array([0, 1, 2, 3]), np.array([1, 2, 3, 1]), np.array([1, -2, 1, 0]))
    x = SparseVector(4, np.zeros(1, np.int32), np.zeros(1, np.int64))
    op = semiring.min_plus["INT64"]
    with config.set(compiled=setting):
        found = closed(ring, x, op, "improving")
        assert not found.settled and has_cycle(found.parents)
        stopped = closed(ring, x, op, "improving", turns=3)
        assert not stopped.settled and stopped.depth == 3


@pytest.mark.parametrize("setting", [True, False])
def test_a_product_that_overflows_is_omitted_and_reported(setting: bool) -> None:
    a = csr_of(3, np.array([0, 0]), np.array([1, 2]), np.array([100, 5], np.int8))
    x = SparseVector(3, np.zeros(1, np.int32), np.array([100], np.int8))
    for how in ("improving", "near_far"):
        with config.set(compiled=setting):
            found = closed(a, x, semiring.min_plus["INT8"], how)
        assert found.overflowed and found.values.present.tolist() == [True, False, True]
        assert found.values.values[2] == 105


# --- interrupts ---------------------------------------------------------------------------------


def interrupted(call: Callable[[], Any], after: float = 0.05) -> bool:
    timer = Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        call()
        timer.join()
        sleep(0.01)
    except KeyboardInterrupt:
        return True
    finally:
        timer.join()
    return False


def test_an_interrupt_is_raised_only_after_the_loop_has_stopped() -> None:
    stop, seen = np.zeros(1, np.int64), []

    def loop() -> None:
        while not stop[0]:
            sleep(0.001)
        seen.append(True)

    assert interrupted(lambda: threads.apart(loop, stop, 2))
    assert seen == [True]


def test_an_error_in_another_thread_is_raised_in_the_calling_thread() -> None:
    def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        threads.apart(fails, np.zeros(1, np.int64), 1)


def test_outside_the_main_thread_the_function_named_apart_calls_its_argument_directly() -> None:
    names: list[str] = []
    stop = np.zeros(1, np.int64)
    here = Thread(
        target=lambda: threads.apart(lambda: names.append("ran"), stop, 1), name="elsewhere"
    )
    here.start()
    here.join()
    assert names == ["ran"]


def test_a_search_gives_correct_results_after_an_interrupted_closure() -> None:
    A = gl.generators.kronecker(10, 16, seed=1)
    start = np.zeros(1, np.int32)
    out = A._store.csr

    def endless() -> None:
        weights = np.random.default_rng(1).random(out.nvals)
        a = Csr(out.nrows, out.ncols, out.indptr, out.indices, -weights)
        x = SparseVector(out.nrows, start, np.zeros(1))
        op = semiring.min_plus["FP64"]
        with config.set(compiled=True):
            closed(a, x, op, "near_far", delta=0.0)

    with config.set(compiled=True):
        expected = gl.algorithms.bfs(A, 0)
        assert interrupted(endless, after=1.0)
        again = gl.algorithms.bfs(A, 0)
    assert again.levels.isequal(expected.levels)
