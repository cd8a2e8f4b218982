"""Check that operations on several streams wait for each other, even when memory is freed.

The simulated GPU reports a fault if memory is read before it is written, or freed while it is read.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cupy
import numpy as np
import pytest
from devices import has_card

import graphla as gl
from graphla.backends.cuda import streams as order
from graphla.backends.cuda.launch import CounterTuning
from graphla.backends.tuning import using

N = 30
SIMULATED = not has_card()
SEEDS = (*range(15), 124, 398)


def graph(seed: int) -> gl.Matrix:
    r = np.random.default_rng(seed)
    i, j, x = r.integers(0, N, (3, 4 * N))
    return gl.Matrix.from_coo(i, j, x % 8 + 1.0, nrows=N, ncols=N, dup_op="plus")


def statements(seed: int, steps: int, streams: list[cupy.cuda.Stream] | None) -> list[float]:
    """Run a random program and return its final values. Without `streams` it runs on the CPU."""
    rng = random.Random(seed)
    A = graph(seed)
    pool = [gl.Vector.from_dense(np.arange(float(N))), gl.Vector.from_coo([1, 5], [1.0, 2], size=N)]
    for _ in range(steps):
        k, turn = rng.randrange(14), rng.randrange(3)
        v, u = rng.choice(pool), rng.choice(pool)
        if streams:
            streams[turn].use()
        if k == 0:
            pool.append(gl.semiring.min_plus(A @ v).new())
        elif k == 1:
            pool.append(gl.semiring.max_plus(v @ A).new(mask=~u.S))
        elif k == 2:
            v(u.V, gl.replace) << gl.semiring.max_plus(v @ A)
        elif k == 3:
            v[turn] = 2.5
        elif k == 4:
            pool.append(gl.Vector.from_scalar(float(v.nvals), N))
        elif k == 5:
            pool.append((v + u).new())
        elif k == 6:
            pool.append(v.select(">", 2).new())
        elif k == 7:
            A = (A.apply(gl.unary.ainv), A.T, A.select("tril"))[turn].new()
        elif k == 8:
            v(accum=gl.binary.max) << u
        elif k == 9:
            v[1] = v.reduce(gl.monoid.max).new().get(0.0)
        elif k == 10:
            v = u = pool.pop() if len(pool) > 2 else v
        elif k == 11:
            pool.append(v.to("cpu").to(A.device))
        elif k == 12:
            pool.append(gl.Vector(float, N))
            pool[-1][turn] = 1.5
        else:
            pool += [A.reduce_rowwise(gl.monoid.max).new(), v.dup()]
        del v, u
    return [x for v in pool for x in v.to_dense(-1.0).tolist()]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_statements_on_three_streams_give_the_same_results_as_on_the_cpu(seed: int):
    # Each counter gets its own allocation (batch=1), as the simulator tracks whole allocations.
    with gl.config.set(device="cpu"):
        expected = statements(seed, 14, None)
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(3)]
    try:
        with gl.config.set(device="cuda"), using(CounterTuning(batch=1)):
            found = statements(seed, 14, streams)
    finally:
        cupy.cuda.Stream.null.use()
    np.testing.assert_allclose(found, expected)
    gc.collect()
    if not has_card():
        from simulator import machine

        machine.raise_faults()


def square(n: int = 40) -> gl.Matrix:
    i = np.arange(n)
    rows, columns = np.concatenate([i, i, i]), np.concatenate([(i + 1) % n, (i * 7) % n, i])
    values = np.arange(1.0, 3 * n + 1)
    return gl.Matrix.from_coo(rows, columns, values, nrows=n, ncols=n, dup_op="plus")


@pytest.fixture
def on_cuda() -> Iterator[None]:
    with gl.config.set(device="cuda"):
        yield


def loop(A: gl.Matrix, rounds: int) -> list[float]:
    """Run row and column products, in-place writes and masks in a loop."""
    v = gl.Vector.from_dense(np.ones(A.nrows))
    frontier = gl.Vector.from_coo([0, 3], [1.0, 1.0], size=A.nrows)
    for _ in range(rounds):
        v << gl.semiring.min_plus(A @ v)
        frontier(v.S, gl.replace) << gl.semiring.min_plus(frontier @ A)
        v(frontier.S, accum=gl.binary.plus) << frontier
        v[0] = 1.0
    return v.to_dense(0.0).tolist()


@pytest.mark.usefixtures("on_cuda")
def test_four_threads_on_four_streams_can_share_one_matrix():
    rounds = 3 if SIMULATED else 50
    expected = loop(square().to("cpu").to("cuda"), rounds)
    for _ in range(2 if SIMULATED else 20):
        A = square()

        def work(_: int, A: gl.Matrix = A) -> list[float]:
            with gl.config.set(device="cuda"), cupy.cuda.Stream(non_blocking=True) as stream:
                found = loop(A, rounds)
                stream.synchronize()
            return found

        with ThreadPoolExecutor(4) as pool:
            for found in pool.map(work, range(4)):
                assert found == expected


@pytest.mark.usefixtures("on_cuda")
def test_a_vector_created_on_one_stream_can_be_read_and_changed_on_others():
    one, two = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    with one:
        A = square()
        v = gl.Vector.from_dense(np.ones(40))
    with two:
        w = A.mxv(v).new()
        v(w.S) << w  # writes to new arrays, because stream `one` owns the old arrays
        del w
    with one:
        v[0] = 1.0
        u = (v + v).new()
    total = u.reduce().new().value
    del u, v
    with two:
        again = gl.Vector.from_dense(np.ones(40))
        assert again.reduce().new().value == 40
    rows = A.to("cpu").reduce_rowwise().new()
    assert total == 2 * (rows.reduce().new().value - rows[0].new().value + 1)


@pytest.mark.usefixtures("on_cuda")
def test_a_result_outlives_the_matrix_of_another_stream_whose_memory_it_shares():
    one, two = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    with one:
        A = square()
    with two:
        B = A.apply(gl.unary.ainv).new()  # B shares the index arrays of A
        del A
        total = B.reduce_scalar().new().value
        C = (B @ B).new()
        del B
    with one:
        square()
    assert total == -float(np.arange(1.0, 121).sum()) and C.nvals > 0


@pytest.mark.usefixtures("on_cuda")
def test_the_host_does_not_wait_when_two_streams_assign_the_same_new_scalar(
    monkeypatch: pytest.MonkeyPatch,
):
    def refuse(_: object) -> None:
        pytest.fail("the host waits")

    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    vectors = [gl.Vector(float, N) for _ in streams]
    with monkeypatch.context() as patch:
        patch.setattr(cupy.cuda.Stream, "synchronize", refuse)
        patch.setattr(cupy.cuda.Event, "synchronize", refuse)
        for stream, v in zip(streams, vectors, strict=True):
            with stream:
                v << 0.8125  # no other test assigns this value
                v += 1
    assert [v.to_dense().tolist() for v in vectors] == [[1.8125] * N] * 2


@pytest.mark.usefixtures("on_cuda")
def test_operations_on_a_single_stream_record_no_event():
    A = square()
    A.T.new()
    assert len(A._store.stamps) == 1 and A._store.stamps[0].event is None


@pytest.mark.usefixtures("on_cuda")
def test_a_second_stream_waits_for_vectors_of_the_first_one(monkeypatch):
    monkeypatch.setattr(order, "_only", None)  # as in a process that has not created a vector yet
    first, second = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    with first:
        u = gl.Vector.from_dense(np.arange(float(N)))
        assert order.foreign_stamps([u._store]) == []
    with second:
        assert order.foreign_stamps([u._store]) == list(u._store.stamps)
        w = (u + u).new()
    with first:
        assert order.foreign_stamps([w._store])
        assert order.foreign_stamps([u._store]) == []
    assert w.to_dense().tolist() == [2.0 * i for i in range(N)]


@pytest.mark.usefixtures("on_cuda")
def test_a_thread_waits_for_the_default_stream_of_another_thread(monkeypatch):
    monkeypatch.setattr(order, "_only", None)  # as in a process that has not created a vector yet
    stream: Any = cupy.cuda.Stream(ptds=True)
    if SIMULATED:
        stream.ptr = order.PER_THREAD
    with stream, ThreadPoolExecutor(1) as pool:
        u = gl.Vector.from_dense(np.arange(float(N)))

        def find() -> list[order.Stamp]:
            with stream:
                return order.foreign_stamps([u._store])

        assert order.foreign_stamps([u._store]) == []
        assert pool.submit(find).result() == list(u._store.stamps)
