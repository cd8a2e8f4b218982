"""Test that the first entries of a GPU vector stay in host memory until a storage form is read."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np
import pytest
from devices import has_card
from hypothesis import given
from hypothesis import strategies as st
from invariants import verify

import graphla as gl
from graphla import Matrix, Vector, binary, replace
from graphla.backends import backend
from graphla.compilers.cuda import Kernel
from graphla.semiring import plus_times
from graphla.stores import MOST_HOST_ENTRIES, take_in_place
from semirings.exceptions import IndexOutOfBound

N = 40


@pytest.fixture(autouse=True)
def on_cuda() -> Iterator[None]:
    with gl.config.set(device="cuda"):
        yield


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels that have been launched since the test began."""
    found: list[str] = []
    launch = Kernel.__call__

    def record(kernel: Kernel, *args: Any, **options: Any) -> None:
        found.append(kernel.what)
        launch(kernel, *args, **options)

    monkeypatch.setattr(Kernel, "__call__", record)
    return found


def test_entries_of_a_new_vector_are_written_and_read_without_a_kernel(launches: list[str]):
    v = Vector(int, N)
    assert (v.nvals, v.get(3), 3 in v) == (0, None, False)
    v[3] = v[5] = 7
    v[-1] = np.int8(9)
    v[3] = True
    v[8] = gl.Scalar.from_value(2)
    w = v.dup()
    del v[5], v[6]
    assert (v.nvals, v[3].value, v.get(5), v.get(39), v[8].value) == (3, 1, None, 9, 2)
    assert (w.nvals, w.get(5)) == (4, 7)
    w.clear()
    assert w.nvals == 0
    assert not launches
    assert v.to_dict() == {3: 1, 8: 2, 39: 9}


def test_the_device_form_of_host_entries_is_created_only_once(launches: list[str]):
    v = Vector(float, N)
    v[7] = 0.5
    w = v.dup()
    assert v.reduce().value == w.reduce().value == 0.5
    assert sum("put_entry" in what for what in launches) == 1
    assert v._store is w._store


def test_a_vector_with_too_many_entries_for_the_host_is_written_on_the_device():
    v, expected = Vector(int, N), {}
    for i in range(MOST_HOST_ENTRIES):
        v[2 * i % N] = expected[2 * i % N] = i
    assert v._store.host_entries == expected
    v[0] = expected[0] = -1  # overwrites an entry that exists
    assert v._store.host_entries == expected
    for i in range(MOST_HOST_ENTRIES, 2 * MOST_HOST_ENTRIES):
        v[2 * i % N] = expected[2 * i % N] = i
        v[2 * i % N + 1] = expected[2 * i % N + 1] = i
    assert v._store.host_entries is None
    verify(v)
    assert v.to_dict() == expected


def test_an_invalid_index_or_value_is_rejected_immediately_and_changes_nothing():
    v = Vector("INT8", N)
    v[3] = 5
    for key in (N, -N - 1):
        with pytest.raises(IndexOutOfBound, match="out of range"):
            v[key] = 1
    for value in (128, -129, 1e9):
        with pytest.raises(OverflowError, match="does not fit INT8"):
            v[4] = value
    with pytest.raises((OverflowError, ValueError)):
        v[4] = float("nan")
    with pytest.raises(TypeError):
        v[4] = "1"
    with pytest.raises(TypeError):
        v[True] = 1
    assert v.to_dict() == {3: 5}


def test_assignments_of_single_elements_appear_among_the_events_of_a_recorder():
    v = Vector(int, N)
    with gl.Recorder() as recorder:
        v[3] = 5
    assert [(event.operation, event.nvals_out) for event in recorder] == [("assign", 1)]


READERS = {
    "pickle": lambda v: pickle.loads(pickle.dumps(v)).to_dict(),
    "deepcopy": lambda v: copy.deepcopy(v).to_dict(),
    "to the CPU": lambda v: v.to("cpu").to_dict(),
    "print": lambda v: str(v).replace(", on cuda:0", "").replace("cuda:0", "cpu"),
    "wait": lambda v: v.wait().to_dict(),
    "cast": lambda v: v.dup("FP32").to_dict(),
    "equal": lambda v: v.isequal(v.dup("FP64")) and not v.isequal(v.select(">", 2).new()),
    "dense": lambda v: v.to_dense(0).tolist(),
    "extract": lambda v: v[[5, 3, 0]].new().to_dict(),
    "mask": lambda v: v.dup(mask=v.V).to_dict(),
    "outside": lambda v: v.dup(mask=~v.S).to_dict(),
    "product": lambda v: plus_times(v @ Matrix.from_dense(np.eye(N, dtype=int))).new().to_dict(),
    "diagonal": lambda v: v.diag().nvals,
    "resize": lambda v: (v.resize(4), v.to_dict()),
    "sort": lambda v: [each.to_dict() for each in v.sort()],
}


@pytest.mark.parametrize("read", READERS.values(), ids=list(READERS))
@pytest.mark.parametrize("entries", [{}, {3: 1}, {5: 2, 3: 0, 7: 9}], ids=len)
def test_each_operation_that_reads_a_vector_sees_the_entries_that_are_only_on_the_host(
    read: Any, entries: dict[int, int]
):
    found = []
    for device in ("cuda", "cpu"):
        with gl.config.set(device=device):
            v = Vector(int, N)
            for i, x in entries.items():
                v[i] = x
            found.append(read(v))
            verify(v)
    assert found[0] == found[1]


KINDS = ("set", "numpy", "delete", "add", "accumulate", "copy", "read", "mask", "write", "clear")
DTYPES = ("BOOL", "INT8", "UINT64", "FP32", "FP64")
steps = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 5), st.integers(0, 100)), max_size=30
)


def run(dtype: str, steps: list[tuple[str, int, int]]) -> list[dict[int, Any]]:
    """Run statements on a new vector. Return the entries of the vector, its copies and a mask."""
    v = Vector(dtype, 6)
    kept, other = [v], Vector.from_coo([1, 4], [1, 0], dtype, size=6)
    for kind, i, x in steps:
        if kind == "set":
            v[i] = x
        elif kind == "numpy":
            v[i - 6] = np.float64(x) / 2
        elif kind == "delete":
            del v[i]
        elif kind == "add":
            v[i] = v[i].get(0) + 1
        elif kind == "accumulate":
            v(binary.max)[i] << x
        elif kind == "copy":
            kept.append(v.dup())
        elif kind == "read":
            assert len(v.to_dict()) == v.nvals
        elif kind == "mask":
            other(v.V if x % 2 else ~v.S, replace) << x % 2
        elif kind == "write":
            v(other.S) << x % 7
        else:
            v.clear()
    for each in (*kept, v, other):
        verify(each)
    return [each.to_dict() for each in (*kept, v, other)]


@pytest.mark.parametrize("dtype", DTYPES)
@given(steps=steps)
def test_random_statements_on_a_new_vector_give_the_same_entries_as_on_the_cpu(dtype, steps):
    with gl.config.set(device="cpu"):
        expected = run(dtype, steps)
    assert run(dtype, steps) == expected


def test_entries_assigned_on_one_stream_are_read_and_changed_on_others():
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(3)]
    for turn in range(6):
        one, two, three = (streams[(turn + k) % 3] for k in range(3))
        with one:
            v = Vector(float, N)
            v[3], v[5] = 1.5, 2.5
            w = v.dup()
        with two:
            u = (v + v).new()
            v[7] = 4.0
        with three:
            assert w.reduce().value == 4.0
            v += 1
            del w
        with one:
            assert v.to_dict() == {3: 2.5, 5: 3.5, 7: 5.0}
            assert u.to_dict() == {3: 3.0, 5: 5.0}
        del u, v
    gc.collect()
    if not has_card():
        from simulator import machine

        machine.raise_faults()


def test_threads_that_read_a_vector_at_the_same_time_create_its_device_form_only_once():
    v = Vector(int, N)
    v[3] = 5
    start, forms = threading.Barrier(4), []

    def read() -> None:
        with gl.config.set(device="cuda"):
            start.wait()
            forms.append(v._store.sparse())

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(forms) == 4 and all(form is v._store._sparse for form in forms)


def test_an_interrupted_write_in_place_leaves_a_consistent_vector():
    v = Vector(int, N)
    v[3] = 5
    v._store.dense()
    taken = take_in_place(v)
    assert taken is not None
    backend(v.device).set_element(taken, 4, np.int64(6))  # the result is not assigned to v
    verify(v)
    assert (v.nvals, v.get(4), v.to_dict()) == (2, 6, {3: 5, 4: 6})


def test_a_vector_of_size_one_becomes_full():
    v = Vector(int, 1)
    v[0] = 5
    assert v._store.full() is not None
    verify(v)
    v << v + 1
    assert v.to_dict() == {0: 6}
