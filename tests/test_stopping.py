"""Test that no search, part or round of an algorithm starts after a stop request.

A compiled loop is called once for each search, part or round. The tests count these calls. During
one call, the test sends SIGINT, and waits until the main thread has received the signal.
benchmarks/interrupt.py measures how soon a call ends after a signal.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from signal import SIGINT
from threading import Event, Lock, current_thread, local, main_thread
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

import graphla as gl
from graphla.backends.cpu.betweenness import BetweennessTuning
from graphla.backends.cpu.bfs import BfsTuning
from graphla.backends.cpu.closure import ClosureTuning
from graphla.backends.cpu.communities import MovesTuning
from graphla.backends.cpu.cores import CoresTuning
from graphla.backends.cpu.loops import betweenness as of_betweenness
from graphla.backends.cpu.loops import bfs as of_bfs
from graphla.backends.cpu.loops import closure as of_closure
from graphla.backends.cpu.loops import closure_buckets as of_buckets
from graphla.backends.cpu.loops import coloring as of_coloring
from graphla.backends.cpu.loops import communities as of_communities
from graphla.backends.cpu.loops import components as of_components
from graphla.backends.cpu.loops import cores as of_cores
from graphla.backends.cpu.loops import flow as of_flow
from graphla.backends.cpu.loops import forces as of_forces
from graphla.backends.cpu.loops import forest as of_forest
from graphla.backends.cpu.loops import greedy_modularity as of_mergers
from graphla.backends.cpu.loops import matching as of_matching
from graphla.backends.cpu.loops import multi_source_bfs as of_many
from graphla.backends.cpu.loops import serial_astar as of_astar
from graphla.backends.cpu.loops import serial_blocks as of_blocks
from graphla.backends.cpu.loops import serial_order as of_order
from graphla.backends.cpu.loops import serial_search as of_search
from graphla.backends.cpu.loops import strong_components as of_strong_components
from graphla.backends.cpu.loops import triangles as of_triangles
from graphla.backends.cpu.loops import truss as of_truss
from graphla.backends.cpu.multi_source_bfs import MultiSearchTuning
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.cpu.plan import PlanTuning
from graphla.backends.cpu.spgemm import SpgemmTuning
from graphla.backends.tuning import using
from graphla.cli.catalogue import ALGORITHMS, Algorithm
from graphla.compilers import numba, numba_ops, threads

pthread_kill: Any = getattr(signal, "pthread_kill", None)
if pthread_kill is None:
    pytest.skip("needs signals for one thread", allow_module_level=True)
PATIENCE = 10.0  # maximum wait for another thread in seconds, long enough on a busy machine
THREADS = 2
SLACK = 2 * THREADS
"""The maximum number of calls in progress when the stop is requested: two per thread."""
STOPPED = {
    "betweenness.dependencies": of_betweenness.STOPPED,
    "betweenness.share_sources": of_betweenness.STOPPED,
    "bfs.search": int(of_bfs.STOPPED),
    "bfs.search_together": int(of_bfs.STOPPED),
    "closure_buckets.run": int(of_buckets.STOPPED),
    "closure_buckets.run_together": int(of_buckets.STOPPED),
    "closure.near_far": int(of_closure.STOPPED),
    "closure.rounds": int(of_closure.STOPPED),
    "communities.move": of_communities.MOVING,
    "communities.move_in_batches": -1,
    "communities.refine": of_communities.MOVING,
    "communities.settle": 0,
    "coloring.color": of_coloring.STOPPED,
    "components.find_components": of_components.STOPPED,
    "cores.peel": of_cores.STOPPED,
    "flow.augment": of_flow.STOPPED,
    "forces.repel": of_forces.STOPPED,
    "forest.grow": of_forest.STOPPED,
    "greedy_modularity.merge_best": of_mergers.STOPPED,
    "multi_source_bfs.search": of_many.STOPPED,
    "matching.match": of_matching.STOPPED,
    "serial_astar.search": of_astar.STOPPED,
    "serial_blocks.blocks": of_blocks.STOPPED,
    "serial_order.generations": of_order.STOPPED,
    "serial_order.longest": of_order.STOPPED,
    "serial_order.reduce": of_order.STOPPED,
    "strong_components.label": of_strong_components.STOPPED,
    "triangles.count": of_triangles.STOPPED,
    "triangles.orient": of_triangles.STOPPED,
    "truss.peel": of_truss.STOPPED,
}
"""The value that each loop returns if the stop flag is set."""


def wait_for_interrupt() -> None:
    """Sleep in the main thread until the signal arrives, unless it has already arrived."""
    for _ in range(int(PATIENCE / 0.01)):
        sleep(0.01)


LOOPS = {
    "average_path_length": {"multi_source_bfs.search"},
    "biconnected_components": {"serial_blocks.blocks"},
    "betweenness": {"betweenness.dependencies"},
    "closeness": {"multi_source_bfs.search"},
    "connected_components": {"components.find_components"},
    "core_numbers": {"cores.peel"},
    "greedy_color": {"coloring.color"},
    "asyn_lpa_communities": {"communities.settle"},
    "greedy_modularity_communities": {"greedy_modularity.merge_best"},
    "label_propagation_communities": {"communities.settle"},
    "leiden": {"communities.move", "communities.refine"},
    "label_propagation": {"communities.popular_in_block", "communities.publish_block"},
    "louvain": {"communities.move_in_batches", "communities.move", "communities.contract_rows"},
    "maximal_matching": {"matching.match"},
    "pagerank": {"pagerank.gather"},
    "spanning_forest": {"forest.grow"},
    "sssp": {"closure_buckets.run"},
    "strong_components": {"strong_components.label"},
    "triangle_count": {"triangles.count"},
    "truss_numbers": {"truss.peel"},
}
"""Loops that each algorithm must call. The tests check that `Interrupter` counts these calls."""


class Interrupter:
    """Count the calls of loops, and send an interrupt in call number `trigger`.

    That call and all later ones wait until their job has received the stop request.
    """

    def __init__(self) -> None:
        self._counting, self._here = Lock(), local()
        self.begin(None)

    def begin(self, trigger: int | None) -> None:
        self.trigger = trigger
        self.calls: list[str] = []
        self.ended: list[tuple[str, Any]] = []
        self.missed: list[str] = []

    def wrap(self, name: str, loop: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            with self._counting:
                at = len(self.calls)
                self.calls.append(name)
            if self.trigger is None or at < self.trigger:
                return loop(*arguments)
            if at == self.trigger:
                pthread_kill(main_thread().ident, SIGINT)
            if current_thread() is main_thread():
                wait_for_interrupt()
            deadline = monotonic() + PATIENCE
            while not self._must_stop() and not self.missed:
                if monotonic() > deadline:
                    self.missed.append(name)
                sleep(0.001)
            found = loop(*arguments)
            self.ended.append((name, found))
            return found

        return call

    def watch(self, may_start: Callable[[Any], bool]) -> Callable[[Any], bool]:
        """Wrap `_Job._may_start` so that it records the job of the current thread."""

        def watched(job: Any) -> bool:
            self._here.job = job
            return may_start(job)

        return watched

    def _must_stop(self) -> bool:
        job = self._here.job
        return job._error is not None or (job._stop is not None and bool(job._stop[0]))


@pytest.fixture
def interrupter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Interrupter]:
    """Split loops into many small parts, and count the calls."""
    pytest.importorskip("numba")
    observer = Interrupter()

    def load(name: str, *rest: Any) -> Any:
        return observer.wrap(name, numba.load(name, *rest))

    import_module("graphla.backends.cpu.backend")  # this also imports all modules of the backend
    for name, module in list(sys.modules.items()):
        if name.startswith("graphla.backends.cpu.") and hasattr(module, "load"):
            monkeypatch.setattr(module, "load", load)
    monkeypatch.setattr(threads, "LARGE", 0)
    monkeypatch.setattr(threads._Job, "_may_start", observer.watch(threads._Job._may_start))
    parts = (PartsTuning(parallel=0, grain=256), SpgemmTuning(room=64), BfsTuning(apart=0))
    shared = CoresTuning(alone=0), BetweennessTuning(alone=0)
    moves = MovesTuning(smallest=8, fewest=4, most=4, few=100)
    searches = (ClosureTuning(small=0), MultiSearchTuning(together=4, least=4))
    no_plan = PlanTuning(hub_price=np.inf)  # makes a full plan too expensive for any call
    # with `deterministic`, PageRank gives the same ranks in every run
    settings = gl.config.set(compiled=True, threads=THREADS, deterministic=True)
    with settings, using(*parts, *shared, *searches, moves, no_plan):
        yield observer


def graph(algorithm: Algorithm) -> gl.Matrix:
    """Return a connected graph whose weights are valid lengths and probabilities."""
    symmetric = algorithm.function not in ("strong_components", "negative_cycle")
    return gl.generators.uniform(64, 300, seed=1, symmetric=symmetric, weights=(0.5, 1.0))


def given(algorithm: Algorithm, A: gl.Matrix) -> dict[str, Any]:
    """Return a value for each parameter without a default."""
    values = {"source": 0, "target": A.nrows - 1, "k": 4, "sources": list(range(32)), "n": 0}
    values |= {"radius": 10, "alpha": 0.01}
    values["communities"] = gl.Vector.from_dense(np.arange(A.nrows) % 4)
    found = algorithm.fixed | algorithm.bench
    for name, parameter in algorithm.parameters.items():
        is_katz = algorithm.function == "katz" and name == "alpha"
        if (parameter.default is parameter.empty or is_katz) and name not in found:
            found[name] = values[name]
    return found


def same(one: Any, other: Any) -> bool:
    """Return whether two results are equal, up to rounding and the choice of parents or paths."""
    if isinstance(one, gl.algorithms.Traversal):  # any valid parents are correct, so compare levels
        assert one.levels is not None
        return one.levels.isequal(other.levels)
    if isinstance(one, gl.Matrix | gl.Vector):
        pairs = zip(one.to_coo(), other.to_coo(), strict=True)
        return one.nvals == other.nvals and all(np.allclose(*pair) for pair in pairs)
    if isinstance(one, tuple):
        return all(map(same, one, other))
    if isinstance(one, list):  # any shortest path is correct, so compare lengths
        return len(one) == len(other)
    return one is other is None or bool(np.allclose(one, other))


@pytest.mark.cpu
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda each: each.name)
def test_no_loop_starts_after_a_stop_request(
    algorithm: Algorithm, interrupter: Interrupter
) -> None:
    check(algorithm, interrupter)


@pytest.mark.cpu
@pytest.mark.parametrize("function", ["average_path_length", "bfs_levels", "closeness"])
def test_no_search_starts_after_a_stop_request_if_searches_run_one_after_another(
    function: str, interrupter: Interrupter
) -> None:
    with using(MultiSearchTuning(together=4, least=4, deep=0)):
        algorithm = next(each for each in ALGORITHMS if each.function == function)
        check(algorithm, interrupter, {"bfs.search"})


OTHERS: dict[str, tuple[Callable[[gl.Matrix], Any], set[str]]] = {
    "astar_path": (lambda A: gl.algorithms.astar_path(A, 0, 63), {"serial_astar.search"}),
    "dag_longest_path": (
        lambda A: gl.algorithms.dag_longest_path(gl.select.triu(A, 1)),
        {"serial_order.generations", "serial_order.longest"},
    ),
    "forceatlas2_layout": (
        lambda A: gl.algorithms.forceatlas2_layout(A, max_iter=3),
        {"forces.repel"},
    ),
    "maximum_flow": (lambda A: gl.algorithms.maximum_flow(A, 0, 63).value, {"flow.augment"}),
    "transitive_reduction": (
        lambda A: gl.algorithms.transitive_reduction(gl.select.triu(A, 1)),
        {"serial_order.generations", "serial_order.reduce"},
    ),
}
"""Functions without a command-line command, and the compiled loops that they must call."""


@pytest.mark.cpu
@pytest.mark.parametrize("function", OTHERS)
def test_no_loop_of_a_function_without_a_command_starts_after_a_stop_request(
    function: str, interrupter: Interrupter
) -> None:
    A = gl.generators.uniform(64, 300, seed=1, symmetric=True, weights=(0.5, 1.0))
    run, needed = OTHERS[function]
    check_run(lambda: run(A), A, interrupter, needed)


@pytest.mark.parametrize("name", ["astar", "nearest_first", "meet_nearest"])
def test_a_dijkstra_or_astar_search_ends_immediately_if_the_stop_flag_is_set(name: str) -> None:
    indptr, indices, values, n = [0, 1, 3, 5, 6], [1, 0, 2, 1, 3, 2], [1.0] * 6, 4
    lengths, keys, stop = [-1.0] * 2 * n, [0.0] * 40, [1]
    parents, heap, order = [-1] * 2 * n, [0] * 60, [0] * n
    rows = indptr, indices, values
    if name == "astar":
        estimates = [0.0] * n + [np.inf]
        found = of_astar.search(*rows, estimates, parents, lengths, keys, heap, stop, 0, 3, 20)
        assert found == of_astar.STOPPED
    elif name == "nearest_first":
        parents[0], lengths[0] = 0, 0.0
        cutoff = [np.inf]
        state = order, lengths, parents, keys, heap, stop
        assert of_search.nearest_first(*rows, cutoff, *state, 1, 3) == of_search.STOPPED
    else:
        state = lengths, parents, keys, heap, stop
        assert of_search.meet_nearest(*rows, *state, 0, 3, 0) == of_search.STOPPED


def check(algorithm: Algorithm, interrupter: Interrupter, needed: set[str] | None = None) -> None:
    """For each compiled loop, interrupt a run at the middle call of the loop, and run again.

    The algorithm must call the loops in `needed`, by default those in LOOPS.
    """
    A = graph(algorithm)
    options = given(algorithm, A)

    def run() -> Any:
        return algorithm.run(A, **options)

    check_run(run, A, interrupter, needed or LOOPS.get(algorithm.function, set()))


def check_run(
    run: Callable[[], Any], A: gl.Matrix, interrupter: Interrupter, needed: set[str]
) -> None:
    kept = A.dup()
    run()  # this run fills the caches of A, which the next runs use
    interrupter.begin(None)
    expected = run()
    calls = interrupter.calls
    assert needed <= {*calls}
    if not calls:
        pytest.skip("it calls no compiled loop")
    for loop in dict.fromkeys(calls):
        those = [k for k, name in enumerate(calls) if name == loop]
        trigger = those[len(those) // 2]
        interrupter.begin(trigger)
        with pytest.raises(KeyboardInterrupt):
            run()
        assert not interrupter.missed
        assert len(interrupter.calls) <= trigger + 1 + SLACK
        for name, status in interrupter.ended:
            assert name not in STOPPED or status == STOPPED[name]
    interrupter.begin(None)
    assert same(run(), expected)
    assert A.isequal(kept)


@pytest.mark.cpu
@pytest.mark.parametrize("loop", ["spgemm.saxpy", "spgemm.dot"])
def test_an_interrupt_ends_a_single_threaded_matrix_product_before_its_last_part(
    loop: str, interrupter: Interrupter
) -> None:
    A, C = gl.generators.uniform(64, 300, seed=1, symmetric=True), gl.Matrix("FP64", 64, 64)
    mask = gl.select.tril(A).new().S if loop == "spgemm.dot" else None

    def run() -> None:
        C(mask=mask) << gl.semiring.plus_times(A @ A.T)

    with gl.config.set(threads=1), using(SpgemmTuning(few_terms=0, room=64)):
        run()
        interrupter.begin(None)
        run()
        parts = interrupter.calls.count(loop)
        assert parts > 2
        interrupter.begin(interrupter.calls.index(loop))
        with pytest.raises(KeyboardInterrupt):
            run()
        assert interrupter.calls.count(loop) == 1


@pytest.mark.cpu
@pytest.mark.parametrize("name", ["sort.segments", "sort.pairs"])
def test_a_sort_writes_nothing_if_the_stop_flag_is_set(name: str) -> None:
    pytest.importorskip("numba")
    size, stop = 1000, np.ones(1, np.int64)
    bounds = np.array([0, size] if name == "sort.segments" else [0, size // 2, size], np.int32)
    values, places = np.arange(1, size + 1)[::-1].copy(), np.zeros(size, np.int32)
    arrays = [bounds, values, np.zeros(size, np.int64), places.copy()]
    if name == "sort.segments":
        arrays += [np.zeros(size, np.int64), places.copy()]
    else:
        arrays.insert(2, places)
    loop = numba.load(name, (numba_ops.comparison, gl.binary.lt["INT64"]), [*arrays, stop])
    loop(*arrays, stop, 0, 1)
    assert not any(array.any() for array in arrays[2:])


# --- threads ------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 4])
def test_no_part_starts_after_the_stop_flag_is_set(count: int) -> None:
    stop, begun = np.zeros(1, np.int64), []

    def part(k: int) -> None:
        begun.append(k)
        if k == 5:
            stop[0] = 1
        while k > 5 and not stop[0]:
            sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        threads.run(part, [(k,) for k in range(100)], count, stop)
    assert len(begun) <= 5 + 1 + count


@pytest.mark.parametrize("count", [1, 2, 4])
def test_an_interrupted_run_waits_for_the_parts_that_have_started(count: int) -> None:
    begun: list[int] = []
    ended: list[int] = []
    interrupted = Event()

    def part(k: int) -> None:
        begun.append(k)
        if k == count - 1:  # at this point every thread runs a part
            pthread_kill(main_thread().ident, SIGINT)
        if current_thread() is main_thread():
            wait_for_interrupt()
        assert interrupted.wait(PATIENCE)
        sleep(0.01)
        ended.append(k)

    def handle(*_: Any) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    before = signal.signal(SIGINT, handle)
    try:
        with pytest.raises(KeyboardInterrupt):
            threads.run(part, [(k,) for k in range(100)], count)
    finally:
        signal.signal(SIGINT, before)
    assert len(begun) < 100
    # at most one part was interrupted: that of the main thread
    assert len(ended) >= len(begun) - 1


def test_the_first_error_in_a_part_is_raised_and_no_other_part_starts() -> None:
    begun: list[int] = []

    def part(k: int) -> None:
        begun.append(k)
        raise ValueError(f"part {k}")

    with pytest.raises(ValueError, match="part 0"):
        threads.run(part, [(k,) for k in range(100)], 1)
    assert begun == [0]
    with pytest.raises(ValueError, match="part"):
        threads.run(part, [(k,) for k in range(100)], 4)
    assert len(begun) <= 1 + 4


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_part_that_fails_sets_the_stop_flag_for_the_parts_in_progress(
    error: type[BaseException],
) -> None:
    """One part waits for another part, and that part fails before it starts its loop."""
    stop, is_waiting = np.zeros(1, np.int64), Event()

    def part(k: int) -> bool:
        if k == 0:
            assert is_waiting.wait(PATIENCE)
            raise error
        is_waiting.set()
        for _ in range(int(PATIENCE / 0.001)):
            if stop[0]:
                break
            sleep(0.001)
        stops.append(bool(stop[0]))
        return True

    stops: list[bool] = []
    with pytest.raises(error):
        threads.run(part, [(0,), (1,)], 2, stop)
    assert stops == [True]


def test_a_call_that_was_abandoned_after_an_interrupt_still_runs_to_its_end() -> None:
    may_end, ended = Event(), Event()

    def call() -> None:
        pthread_kill(main_thread().ident, SIGINT)
        assert may_end.wait(10)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        threads.abandonable(call, threads.LARGE)
    assert not ended.is_set()
    may_end.set()
    assert ended.wait(10)
    assert threads.abandonable(lambda: 7, threads.LARGE) == 7
    with pytest.raises(ValueError, match="no"):
        threads.abandonable(lambda: int("no"), threads.LARGE)
