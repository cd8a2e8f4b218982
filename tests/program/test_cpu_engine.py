"""The engine for the CPU gives the same results as plain Python and as the dictionary engine.

Most tests run the printed module as plain Python (`plain_numba`). A few tests compile the module.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from programs import Case, assume_outcome, cases

import graphla as gl
from graphla import Matrix, Vector, binary, memory, monoid, replace
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.cpu.program import ProgramTuning
from graphla.backends.tuning import using
from graphla.compilers import disk_cache
from graphla.exceptions import NotCompilable
from graphla.program import numba_text, running, tracing
from graphla.semiring import min_secondi, plus_first, plus_second
from semirings.trace import raw

plain_numba = pytest.importorskip("plain_numba", exc_type=ImportError)
cpu = pytest.importorskip("graphla.program.cpu")
pytestmark = pytest.mark.cpu

TINY = {"near": 0, "wide": 0, "wide_list": 0, "wide_product": 0, "grain": 1}
TINY |= {"listed": 0, "room": 1, "items": 1, "apart": 1}
TUNINGS = [
    ProgramTuning(),
    ProgramTuning(sparse=0, **TINY),
    ProgramTuning(sparse=1 << 20, **TINY),
]
"""The default tuning, followed by two other tunings. With the second tuning, each statement visits
lists of entries. With the third, each statement visits all indices, in several parts."""


def run_plainly(program: Any, arguments: Any) -> Any:
    return cpu.run(program, arguments, plain_numba.load)


class Plain:
    """An engine that runs the module generated for Numba in plain Python."""

    run = staticmethod(run_plainly)


@pytest.fixture(params=["lists", "parts"])
def engine(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run generated modules in plain Python, with two threads and limits that test all branches."""
    tuning = TUNINGS[1 if request.param == "lists" else 2]
    with (
        using(tuning, PartsTuning(parallel=0, parts=3, grain=2)),
        gl.config.set(device="cpu", threads=2),
        running.use(Plain()),
    ):
        yield


# --- programs -------------------------------------------------------------------------------------


def search(A: Matrix, source: int) -> Any:
    """Return the smallest possible parent and the level of each vertex that a search reaches."""
    n = A.nrows
    parent, frontier, level = Vector(int, n), Vector(int, n), Vector("INT16", n)
    parent[source] = frontier[source] = source
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        depth += 1
        frontier(~parent.S, replace) << min_secondi(frontier @ A)
        parent(frontier.S) << frontier
    return parent, level, depth


def pagerank(A: Matrix, share: Vector, alpha: float, rounds: int) -> Any:
    """Return the ranks after some rounds, and the last change."""
    n = A.nrows
    rank, old, carried = Vector(float, n), Vector(float, n), Vector(float, n)
    rank << 1.0 / n
    k, change = 0, 1.0
    while k < rounds and change > 1e-9:
        old << rank
        carried << rank * share
        rank << plus_second(A.T @ carried)
        rank << alpha * rank
        rank(binary.plus) << (1 - alpha) / n
        change = abs(rank - old).reduce(monoid.plus).value
        k += 1
    return rank, k


def dependencies(A: Matrix, source: int) -> Any:
    """Return the contribution of paths from one vertex to the betweenness of each vertex."""
    n = A.nrows
    paths, frontier, score, ahead = (
        Vector(float, n),
        Vector(float, n),
        Vector(float, n),
        Vector(float, n),
    )
    paths[source] = frontier[source] = 1.0
    levels = []
    while frontier.nvals:
        levels.append(frontier.dup())
        frontier(~paths.S, replace) << plus_first(frontier @ A)
        paths(binary.plus) << frontier
    score << 0.0
    while len(levels) > 1:
        level = levels.pop()
        ahead << (1.0 + score) / paths
        ahead(level.S, replace) << ahead
        ahead << plus_second(A @ ahead)
        before = levels[-1]
        ahead(before.S, replace) << ahead
        ahead << ahead * paths
        score(binary.plus) << ahead
    return score


def components(A: Matrix) -> Any:
    """Return the smallest vertex of each connected component (FastSV)."""
    n = A.nrows
    f, grand, low, before = Vector(int, n), Vector(int, n), Vector(int, n), Vector(int, n)
    f << 0
    f << gl.indexunary.rowindex(f)
    grand << f
    before << 0
    rounds = 0
    while not before.isequal(grand):
        before << grand
        low << gl.semiring.min_second(A @ grand)
        f(binary.min)[f] << low
        f(binary.min) << low
        f(binary.min) << grand
        grand << f[f]
        rounds += 1
    return f, rounds


def graph(n: int = 60, seed: int = 1) -> Matrix:
    with gl.config.set(device="cpu"):
        return gl.generators.uniform(n, 2 * n, seed=seed, symmetric=True)


def arguments(name: str) -> tuple[Any, ...]:
    A = graph()
    if name == "pagerank":
        degree = np.maximum(np.bincount(A.to_coo()[0], minlength=A.nrows), 1)
        return A, Vector.from_dense(1.0 / degree), 0.85, 12
    return (A,) if name == "components" else (A, 3)


PROGRAMS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (search, pagerank, dependencies, components)
}


def same(got: Any, expected: Any) -> bool:
    if isinstance(expected, tuple):
        return all(same(x, y) for x, y in zip(got, expected, strict=True))
    if not isinstance(expected, Vector):
        return type(got) is type(expected) and got == expected
    if expected.dtype.is_float:
        return got.isclose(expected, rel_tol=1e-12)
    return got.isequal(expected, check_dtype=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_algorithm_under_jit_gives_the_same_result_as_in_plain_python(engine: None, name: str):
    function = PROGRAMS[name]
    assert same(gl.jit(function)(*arguments(name)), function(*arguments(name)))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["search", "dependencies"])
def test_a_compiled_algorithm_gives_the_same_result_as_in_plain_python(name: str, threads: int):
    function = PROGRAMS[name]
    with gl.config.set(device="cpu", compiled=True, threads=threads):
        got = gl.jit(function)(*arguments(name))
        with using(TUNINGS[2]):
            assert same(gl.jit(function)(*arguments(name)), got)
    assert same(got, function(*arguments(name)))


# --- random programs ------------------------------------------------------------------------------


@pytest.mark.parametrize("tuning", TUNINGS)
@given(case=cases())
def test_the_printed_program_agrees_with_the_dictionary_engine(case: Case, tuning: ProgramTuning):
    with using(tuning), gl.config.set(threads=1):
        assume_outcome(case, run_plainly)


@pytest.mark.parametrize("tuning", TUNINGS[1:])
@given(case=cases())
def test_statements_divided_into_parts_agree_with_the_dictionary_engine(
    case: Case, tuning: ProgramTuning
):
    with using(tuning, PartsTuning(parallel=0, parts=3, grain=2)), gl.config.set(threads=2):
        assume_outcome(case, run_plainly)


@pytest.mark.parametrize("towards", ["push", "pull"])
@given(case=cases())
def test_products_in_a_forced_direction_agree_with_the_dictionary_engine(case: Case, towards: Any):
    with gl.direction(towards):
        assume_outcome(case, run_plainly)


# --- the printed module ---------------------------------------------------------------------------


def dot(x: Vector, y: Vector) -> float:
    return binary.times(x & y).reduce(monoid.plus).get(0)


def mix(u: Vector, v: Vector, rounds: int) -> Any:
    """Return two vectors after some rounds that use the same kinds of statements on both."""
    for _ in range(rounds):
        along, length = dot(u, v), dot(u, u)
        u << u - along * v
        v << v - length * u
    return u, v


def test_statements_that_differ_only_in_their_vectors_share_a_function():
    layouts: list[Any] = []

    class Watch:
        @staticmethod
        def run(program: Any, arguments: Any) -> Any:
            layouts.append(numba_text.print_program(program, []))
            return run_plainly(program, arguments)

    def vectors() -> tuple[Vector, Vector]:
        return Vector.from_dense([1.0, 2.0, 0.5]), Vector.from_coo([0, 2], [0.25, 1.0], size=3)

    with gl.config.set(device="cpu"), running.use(Watch()):
        got = gl.jit(mix)(*vectors(), 3)
    assert same(got, mix(*vectors(), 3))
    functions = layouts[0].source.rpartition("FUNCTIONS = ")[2].split(", ")
    assert len(functions) == 4  # the elementwise product, its fold, the update, and `run`


def test_vectors_may_have_the_names_that_the_printed_module_uses(engine: None):
    def climb(indices: Vector, statement: Vector, rest: Vector, w: Vector, n: int) -> Any:
        first = last = 0
        while first < n:
            indices << statement + rest
            statement(indices.S) << w
            rest(binary.plus) << indices
            first += 1
            last += 2
        return indices, statement, rest, w, first, last

    def vectors() -> list[Any]:
        return [*(Vector.from_dense([k, 2, 3]) for k in range(4)), 3]

    assert same(gl.jit(climb)(*vectors()), climb(*vectors()))


# --- the engine -----------------------------------------------------------------------------------


def test_the_events_of_a_recorder_contain_the_direction_of_each_product(engine: None):
    with gl.Recorder() as recorder, gl.direction("pull"):
        gl.jit(search)(graph(), 3)
    events = [event for event in recorder if event.operation.startswith("search")]
    assert {event.direction for event in events} == {"pull"}
    assert events[0].nvals_in == 1


def test_deterministic_sums_are_bitwise_equal_for_any_number_of_threads():
    ranks = []
    for threads in (1, 2):
        with (
            gl.config.set(device="cpu", threads=threads, deterministic=True),
            using(TUNINGS[2], PartsTuning(parallel=0, parts=3, grain=2)),
            running.use(Plain()),
        ):
            ranks.append(gl.jit(pagerank)(*arguments("pagerank"))[0].to_dense())
    assert ranks[0].tobytes() == ranks[1].tobytes()


def test_the_error_about_an_operator_without_a_numba_form_names_the_operator(engine: None):
    step = gl.unary.register_anonymous(
        raw("({0} > 0 ? {0} : 0)", lambda x: np.where(x > 0, x, 0)), "in_cuda"
    )

    def climb(u: Vector, rounds: int) -> Vector:
        for _ in range(rounds):
            u << step(u)
        return u

    with pytest.raises(NotCompilable, match="in_cuda"):
        gl.jit(climb)(Vector.from_dense([1.0, -1.0]), 2)


def test_a_program_does_not_change_its_operands(engine: None):
    A, share, *rest = arguments("pagerank")
    before = share.dup(), A.dup()
    gl.jit(pagerank)(A, share, *rest)
    assert share.isequal(before[0]) and A.isequal(before[1])


def test_an_interrupt_ends_a_program_and_leaves_the_operands_intact(engine: None):
    def climb(u: Vector, rounds: int) -> Vector:
        k = 0
        while k < rounds:
            u << u + 1
            k += 1
        return u

    u = Vector.from_dense([1, 2, 3])
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        gl.jit(climb)(u, 1 << 40)
    assert u.to_dense().tolist() == [1, 2, 3]


def test_vectors_that_do_not_fit_in_memory_are_rejected(engine: None, monkeypatch: Any):
    A = graph()
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available", lambda: 1000)
    with pytest.raises(NotCompilable, match="and 1,000 are available"):
        gl.jit(search)(A, 3)


def test_several_python_threads_run_programs_at_the_same_time():
    compiled, A = gl.jit(search), graph()
    expected = search(A, 3)

    def call(_: int) -> bool:
        with gl.config.set(device="cpu"), running.use(Plain()), using(TUNINGS[2]):
            return all(same(compiled(A, 3), expected) for _ in range(3))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(call, range(4)))


# --- the cache on disk ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["search", "pagerank", "dependencies"])
def test_a_program_loaded_from_disk_is_not_traced_and_its_source_is_not_generated_again(
    engine: None, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: Any) -> None:
        raise AssertionError("the front end ran")

    monkeypatch.setattr(disk_cache, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(running, "may_store", lambda: True)
    function = PROGRAMS[name]
    expected = gl.jit(function)(*arguments(name))
    for kind in ("", "layout", "program", "loop"):
        for path in tmp_path.glob(f"{kind}_*"):  # damage the entries of this kind
            path.write_bytes(path.read_bytes()[:-1])
        if kind:
            assert same(gl.jit(function)(*arguments(name)), expected)
        with monkeypatch.context() as patch:
            patch.setattr(tracing, "trace", fail)
            patch.setattr(numba_text, "print_program", fail)
            assert same(gl.jit(function)(*arguments(name)), expected)
