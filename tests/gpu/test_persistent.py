"""Blocks of one launch synchronize, stop together, notice a stop request and report results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cupy
import numpy as np
import pytest
from cupy.cuda.function import Module
from devices import has_card

import graphla as gl
from graphla.backends.cuda import persistent
from graphla.backends.cuda.persistent import PersistentTuning
from graphla.backends.tuning import using
from graphla.compilers import nvrtc
from graphla.compilers.cuda import Kernel
from semirings.exceptions import DeviceUnavailable

simulated = pytest.mark.skipif(has_card(), reason="shows on a simulated card alone")

PASS_ROUND = """
#include "persistent.cuh"
namespace graphla {
/// In each round, each block reads its neighbor's value of the previous round and adds one.
/// Block 1 votes to leave in round `last`; in round `stop` the card itself requests the stop.
template <class Op> __global__ void pass_round(u64 *control, u32 tickets, u64 *host, u32 launch,
                                               i64 patience, i32 *values, i32 last, i32 stop) {
  Grid grid(control);
  grid.begin(tickets);
  StopFlag flag(host, patience);
  i32 round = 0;
  bool is_stopped = false;
  while (true) {
    const i32 *before = values + (round & 1) * gridDim.x;
    i32 *after = values + (~round & 1) * gridDim.x;
    if (threadIdx.x == blockDim.x - 1) {
      after[blockIdx.x] = before[(blockIdx.x + 1) % gridDim.x] + 1;
      if (round == stop && blockIdx.x == 0) store_relaxed(&host[HOST_STOP], u64(1));
    }
    const bool asks = blockIdx.x == 0 && threadIdx.x == 0 && flag.is_up();
    if (asks) store_relaxed(&control[1], u64(1));
    ++round;
    if (grid.meet(asks || (blockIdx.x == 1 && threadIdx.x == 3 && round == last))) break;
  }
  is_stopped = load_relaxed(&control[1]) != 0;
  if (is_last_block(grid) && threadIdx.x == 0) {
    tell_host(host, launch, HOST_STATUS, is_stopped ? STOPPED : FINISHED);
    tell_host(host, launch, HOST_RESULTS, u32(round));
  }
}
/// The card requests a stop and looks for the request twice, with patience after the first look.
template <class Op> __global__ void ask_twice(u64 *control, u32 tickets, u64 *host, u32 launch,
                                              i64 patience) {
  StopFlag flag(host, 0);
  flag.patience = i64(1) << 60;
  store_relaxed(&host[HOST_STOP], u64(1));
  const bool first = flag.is_up(), second = flag.is_up();
  tell_host(host, launch, HOST_STATUS, STOPPED);
  tell_host(host, launch, HOST_RESULTS, first);
  tell_host(host, launch, HOST_RESULTS + 1, second);
}
}
"""


@pytest.fixture(autouse=True)
def on_cuda() -> Iterator[None]:
    with gl.config.set(device="cuda"):
        yield


IN_A_CLUSTER = """
namespace graphla {
template <class Op> __global__ void CLUSTER(4) pass_round_in_a_cluster(Launch launch, i32 *values,
                                                                       i32 last) {
  SHARED_BYTES(memory);
  Grid grid(launch, (u32 *)memory);
  i32 round = 0;
  do {
    const i32 *before = values + (round & 1) * gridDim.x;
    i32 *after = values + (~round & 1) * gridDim.x;
    if (threadIdx.x == blockDim.x - 1)
      after[blockIdx.x] = load_relaxed(&before[(blockIdx.x + 1) % gridDim.x]) + 1;
    ++round;
  } while (!grid.meet(blockIdx.x == 1 && threadIdx.x == 3 && round == last));
  if (is_last_block(grid) && threadIdx.x == 0) {
    tell_host(launch, HOST_STATUS, FINISHED);
    tell_host(launch, HOST_RESULTS, u32(round));
  }
}
}
"""


def made(name: str, before: str = "", after: str = "") -> Kernel:
    architecture = f"sm_{cupy.cuda.Device().compute_capability}"
    text = (
        before
        + '#include "atomics.cuh"\nnamespace graphla { struct Op {}; }\n'
        + (after or PASS_ROUND)
    )
    instance = f"graphla::{name}<graphla::Op>"
    code, symbol, _ = nvrtc.compile_program(text, instance, architecture, name)
    module = Module()
    module.load(code)
    return Kernel(module, module.get_function(symbol), name)


@pytest.fixture(scope="module")
def pass_round() -> Kernel:
    return made("pass_round")


def passed(kernel: Kernel, blocks: int, last: int, stop: int = -1) -> tuple[list[int], Any]:
    values = cupy.zeros(2 * blocks, cupy.int32)
    told = persistent.run(kernel, blocks, 64, values, np.int32(last), np.int32(stop), results=1)
    return told, values.get()


@pytest.mark.parametrize("blocks", [2, 7])
@pytest.mark.parametrize("tickets", [0, 2**32 - 1, 2**32 - 20])
def test_all_blocks_run_the_same_rounds_and_stop_together(
    pass_round: Kernel, blocks: int, tickets: int
):
    for last in (1, 2, 9, 10):
        with using(PersistentTuning(tickets=tickets, patience=1 << 40)):
            told, values = passed(pass_round, blocks, last)
        assert told == [persistent.FINISHED, last]
        assert (values[(last & 1) * blocks :][:blocks] == last).all()


@pytest.mark.parametrize("tickets", [0, 2**32 - 1])
def test_all_blocks_of_a_grid_that_is_one_cluster_stop_together(tickets: int):
    if not persistent.card().has_clusters:
        pytest.skip("this card has no clusters of blocks")
    head = '#define GRAPHLA_ONE_CLUSTER 4\n#include "persistent.cuh"\n'
    kernel = made("pass_round_in_a_cluster", head, IN_A_CLUSTER)
    for last in (1, 2, 9, 10):
        values = cupy.zeros(8, cupy.int32)
        with using(PersistentTuning(tickets=tickets)):
            told = persistent.run(
                *(kernel, 4, 64, values, np.int32(last)),
                results=1,
                shared=8,
                cluster=4,
                as_struct=True,
            )
        assert told == [persistent.FINISHED, last]
        assert (values.get()[(last & 1) * 4 :][:4] == last).all()


def test_blocks_notice_a_stop_request(pass_round: Kernel):
    for stop in (0, 3, 4):
        with using(PersistentTuning(patience=0)):
            told, values = passed(pass_round, 5, -1, stop)
        assert told[0] == persistent.STOPPED and stop < told[1] <= stop + 2
        assert (values[(told[1] & 1) * 5 :][:5] == told[1]).all()
    assert passed(pass_round, 5, 3)[0] == [persistent.FINISHED, 3]


def test_a_stop_request_remains_visible_after_a_thread_has_seen_the_request():
    """A thread that leaves a loop because of an interrupt must not begin the next loop."""
    told = persistent.run(made("ask_twice"), 1, 1, results=2)
    assert told == [persistent.STOPPED, 1, 1]


def test_each_of_many_successive_launches_returns_its_own_results(pass_round: Kernel):
    assert [
        passed(pass_round, 3, k % 5 + 1)[0][1] for k in range(2 * persistent.TUNING.launches + 3)
    ] == [k % 5 + 1 for k in range(2 * persistent.TUNING.launches + 3)]


def test_a_grid_has_as_many_blocks_as_the_gpu_can_run_at_once(pass_round: Kernel):
    multiprocessors = cupy.cuda.Device().attributes["MultiProcessorCount"]
    assert persistent.grid(pass_round, 64, each=1) == multiprocessors
    most = persistent.grid(pass_round, 1024)
    assert most % multiprocessors == 0
    assert passed(pass_round, persistent.grid(pass_round, 64, each=2), 3)[0][1] == 3


@simulated
def test_a_gpu_that_cannot_run_the_grid_is_rejected(
    pass_round: Kernel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Kernel, "resident", lambda kernel, block, shared: 0)
    with pytest.raises(DeviceUnavailable, match="holds none of its blocks"):
        persistent.grid(pass_round, 1024)
    none = replace(persistent.card(), is_cooperative=False)
    monkeypatch.setattr(persistent, "card", lambda: none)
    with pytest.raises(DeviceUnavailable, match="no such launch"):
        persistent.grid(pass_round, 1024)


@simulated
def test_an_interrupt_stops_the_kernel_and_is_raised(
    pass_round: Kernel, monkeypatch: pytest.MonkeyPatch
):
    def interrupted(*args: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(persistent, "_wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            passed(pass_round, 3, 4)
    here = cupy.cuda.runtime.getDevice(), cupy.cuda.get_current_stream().ptr
    assert persistent._kept.words[here].words[persistent.STOP] == 1
    assert passed(pass_round, 3, 4)[0] == [persistent.FINISHED, 4]


@simulated
def test_a_gpu_failure_ends_the_wait_for_the_kernel(
    pass_round: Kernel, monkeypatch: pytest.MonkeyPatch
):
    from simulator import machine

    failure = cupy.cuda.runtime.CUDARuntimeError(700)
    monkeypatch.setattr(persistent, "RESULTS", persistent.RESULTS + 1)  # never written
    monkeypatch.setattr(machine, "failure", failure)
    monkeypatch.setattr(machine, "fails_in", 1)
    try:
        quick = using(PersistentTuning(check=0.0))
        with quick, pytest.raises(cupy.cuda.runtime.CUDARuntimeError):
            passed(pass_round, 3, 4)
    finally:
        machine.failure, machine.fails_in = None, 0
    with pytest.raises(RuntimeError, match="told nothing"):
        passed(pass_round, 3, 4)
