"""Verify that unordered work on two streams is detected."""

from __future__ import annotations

import numpy as np
import pytest

from . import SimulatorFault, cupy, machine
from .cupy.cuda import Event, Stream
from .cupy.cuda.stream import host_waits_for_all
from .kernels import kernel, run

COPY = (
    "template <int> __global__ void copy(const int *x, int *y) { y[threadIdx.x] = x[threadIdx.x]; }"
)


@pytest.fixture(autouse=True)
def at_rest():
    yield
    host_waits_for_all()
    machine.faults.clear()


def two() -> tuple[Stream, Stream]:
    return Stream(non_blocking=True), Stream(non_blocking=True)


def test_a_read_must_wait_for_a_write_on_another_stream():
    first, second = two()
    with first:
        x = cupy.arange(4)
    with second, pytest.raises(SimulatorFault, match=r"stream race: work .* touches 32 bytes"):
        x + 1
    with second:
        second.wait_event(first.record())
        assert (x + 1).tolist() == [1, 2, 3, 4]


def test_an_event_recorded_before_a_write_does_not_order_that_write():
    first, second = two()
    early = first.record()
    with first:
        x = cupy.arange(4)
    second.wait_event(early)
    with second, pytest.raises(SimulatorFault, match="stream race"):
        x.get()


def test_a_write_must_wait_for_reads_on_another_stream():
    first, second = two()
    with first:
        x = cupy.arange(4)
    written = first.record()
    second.wait_event(written)
    with second:
        y = x + 1
    with first, pytest.raises(SimulatorFault, match=r"stream \d+ reads, and has not waited"):
        x[0] = 5
    with first:
        first.wait_event(second.record())
        x[0] = 5
    del y


def test_work_that_the_host_has_waited_for_is_ordered_before_later_work():
    first, second = two()
    with first:
        x = cupy.arange(4)
    first.synchronize()
    with second:
        assert (x * 2).tolist() == [0, 2, 4, 6]
    event = Event()
    with second:
        y = x * 2
    event.record(second)
    event.synchronize()
    with first:
        assert y.tolist() == [0, 2, 4, 6]


def test_the_null_stream_and_blocking_streams_wait_for_each_other():
    blocking = Stream()
    x = cupy.arange(4)
    with blocking:
        y = x + 1
    assert (y + 1).tolist() == [2, 3, 4, 5]


def test_kernels_that_use_the_same_memory_on_two_streams_must_be_ordered():
    copy = kernel(COPY, "copy<0>")
    first, second = two()
    x, y = cupy.arange(4, dtype=np.int32), cupy.zeros(4, np.int32)
    Stream.null.synchronize()
    with first:
        run(copy, 1, 4, x, y)
    run(
        copy, 1, 4, x, cupy.zeros(4, np.int32), stream=Stream.null
    )  # two streams may read at the same time
    with second, pytest.raises(SimulatorFault, match="kernel copy of stream"):
        run(copy, 1, 4, y, x)
    with second:
        second.wait_event(first.record())
        second.wait_event(Stream.null.record())
        run(copy, 1, 4, y, x)


def test_freeing_memory_that_another_stream_uses_is_detected():
    first, second = two()
    with first:
        x = cupy.arange(4)
        first.synchronize()
    with second:
        y = x + 1
    del x
    with pytest.raises(SimulatorFault, match="was freed while"):
        machine.raise_faults()
    del y
