"""Plant faults that a GPU hides; each must be reported with its kernel and its location."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from . import SimulatorFault, cupy, machine
from .kernels import each_lane, kernel, run

X = np.arange(64, dtype=np.int32)


def fault_of(body: str, seed: int = 0, inputs: list[np.ndarray] | None = None, **options) -> str:
    machine.seed = seed
    with pytest.raises(SimulatorFault) as caught:
        each_lane(body, inputs or [X], np.int32, **options)
    assert str(caught.value).startswith("each: ")
    return str(caught.value)


# --- barriers and collectives -------------------------------------------------------------------


def test_a_missing_barrier_gives_wrong_results():
    body = "SHARED(int, all, 64); all[t] = a; out[t] = all[t ^ 32];"
    wrong = 0
    for seed in range(8):
        machine.seed = seed
        wrong += (each_lane(body, [X], np.int32) != X ^ 32).any()
    assert wrong == 8  # in all 8 runs, reading an element too early gives a random value


def test_threads_at_two_different_barriers_are_detected():
    text = fault_of("if (t < 16) {\n __syncthreads();\n} else {\n __syncthreads();\n}")
    assert "divergent barrier" in text
    assert "test.cu:5" in text
    assert "test.cu:7" in text


def test_a_barrier_that_some_threads_never_reach_is_detected():
    text = fault_of(
        "if (t < 16) __syncthreads(); else while (*(volatile int *)as == 0) __nanosleep(9);"
    )
    assert "16 threads at __syncthreads (test.cu:4)" in text
    assert "48 threads at __nanosleep" in text


def test_a_deadlock_between_a_barrier_and_a_collective_is_detected():
    text = fault_of("if (t < 16) __syncthreads(); else { __syncwarp(); __syncthreads(); }")
    assert "no thread can go on" in text
    assert "__syncwarp with mask 0xffffffff" in text


def test_a_shuffle_from_a_lane_outside_the_mask_is_detected():
    text = fault_of("if (t < 8) out[t] = __shfl_sync(0xff, a, 9);")
    assert (
        "__shfl_sync with mask 0x000000ff (test.cu:4) reads from lane 9, which is not active"
        in text
    )


def test_a_shuffle_from_a_lane_that_has_ended_is_detected():
    text = fault_of("if (t == 5) return; out[t] = __shfl_sync(~0u, a, 5);")
    assert "reads from lane 5, which is not active" in text


def test_a_lane_that_passes_a_mask_without_itself_is_detected():
    text = fault_of("out[t] = __ballot_sync(0x7fffffff, a);", 3)
    assert "thread (31, 0, 0) is not in the mask of __ballot_sync" in text or "(63, 0, 0)" in text


def test_lanes_at_two_different_collectives_are_detected():
    text = fault_of("if (t % 2) out[t] = __any_sync(~0u, a); else out[t] = __all_sync(~0u, a);")
    assert "divergent collective" in text
    assert "__any_sync" in text
    assert "__all_sync" in text


def test_lanes_that_pass_different_masks_to_a_collective_are_detected():
    text = fault_of("out[t] = __ballot_sync(t % 32 ? 0xffffffffu : 0x0fffffffu, a);")
    assert "divergent collective" in text


def test_a_shuffle_with_an_invalid_width_is_detected():
    assert "the width is no power of two" in fault_of("out[t] = __shfl_sync(~0u, a, 0, 12);")


# --- endless waiting ---------------------------------------------------------------------------


def test_a_thread_that_spins_forever_is_detected():
    text = fault_of("while (*(volatile int *)as == 0) __nanosleep(10);")
    assert "deadlock: threads wait for what nobody does" in text
    assert "64 threads at __nanosleep or an atomic (test.cu:4)" in text


def test_blocks_that_wait_for_a_block_not_yet_started_are_detected():
    text = """
template <int> __global__ void wait(unsigned *arrived) {
  atomicAdd(arrived, 1u);
  while (*(volatile unsigned *)arrived < gridDim.x) __nanosleep(10);
}
"""
    wait = kernel(text, "wait<0>")
    run(wait, 20, 1, cupy.zeros(1, np.uint32), enable_cooperative_groups=True)
    with pytest.raises(SimulatorFault, match=r"(?s)wait: deadlock.*blocks have not started"):
        run(wait, 20, 1, cupy.zeros(1, np.uint32))


def test_a_lock_that_is_never_released_is_detected():
    body = "SHARED(int, lock, 1); lock[0] = 1; while (atomicCAS(lock, 0, 1)) {}"
    assert "atomics without end" in fault_of(body)


def test_an_endless_loop_is_detected():
    before, machine.timeout = machine.timeout, 0.2
    try:
        text = fault_of("while (*(volatile const int *)as == 0) {}")
    finally:
        machine.timeout = before
    assert "took too long; at work is block (0, 0, 0), thread" in text


# --- memory -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("place", "where"), [("-1", "before"), ("64", "after"), ("70", "after")])
def test_an_out_of_bounds_store_is_detected(place, where):
    text = fault_of(f"if (t == 0) out[{place}] = 1;")
    assert f"a store out of bounds, just {where} an array of 256 bytes" in text


@pytest.mark.parametrize("place", ["-1", "10", "12"])
def test_an_out_of_bounds_store_to_shared_memory_is_detected(place):
    text = fault_of(f"SHARED(int, all, 10); if (t == 0) all[{place}] = 1;")
    assert "a store out of bounds of the shared array all" in text
    text = fault_of(f"SHARED_BYTES(all); if (t == 0) all[{place}] = 1;", shared_mem=10)
    assert "a store out of bounds of the shared array" in text


def test_an_out_of_bounds_store_by_the_host_is_detected_at_deallocation():
    x = cupy.zeros(4, np.uint8)
    (ctypes.c_ubyte * 1).from_address(x.data.ptr + 4)[0] = 1
    del x
    with pytest.raises(SimulatorFault, match="found when it was freed"):
        cupy.zeros(1)


def test_a_read_of_unallocated_memory_is_detected():
    text = fault_of("out[t] = *(int *)(8 + 0 * t);")
    assert "illegal address 0x8" in text


def test_a_stack_overflow_is_detected():
    program = """
__device__ __noinline__ int deeper(volatile int *at, int n) {
  volatile int frame[64];
  frame[n % 64] = n;
  return n < 0 ? 0 : deeper(frame, n + 1) + *at;
}
template <int> __global__ void each(int *out) { out[0] = deeper(out, 0); }
"""
    with pytest.raises(SimulatorFault, match=r"each: block .* illegal address"):
        run(
            kernel(program.replace("__noinline__", "__attribute__((noinline))"), "each<0>"),
            1,
            1,
            cupy.zeros(1, np.int32),
        )


def test_an_integer_division_by_zero_is_detected():
    assert "an integer divided by zero" in fault_of("out[t] = 5 / as[0];")


def test_a_misaligned_atomic_is_detected():
    text = fault_of("atomicAdd((int *)((char *)out + 2), 1);")
    assert "an atomic at the misaligned address" in text


def test_a_kernel_with_too_much_shared_memory_is_detected():
    assert "the limit is 49152" in fault_of("SHARED(double, all, 6145); all[t] = 0;")


def test_new_shared_memory_has_random_contents():
    body = "SHARED(int, all, 64); out[t] = all[t];"
    machine.seed = 1
    first = each_lane(body, [X], np.int32)
    assert len(set(first.tolist())) > 60
    assert len(set(cupy.empty(100, np.int64).get().tolist())) > 90


def test_the_simulator_can_run_kernels_after_a_fault():
    for _ in range(3):
        fault_of("if (t == 3) out[1000000000] = 1; __syncthreads();")
        assert each_lane("__syncthreads(); out[t] = a;", [X], np.int32).tolist() == X.tolist()


# --- schedules ----------------------------------------------------------------------------------

ORDER = """
template <int> __global__ void order(int *next, int *ranks, int number) {
  ranks[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(next, 1);
}
"""


def ranks(seed: int, number: int = 0) -> tuple[int, ...]:
    machine.reset(seed=seed)
    result = cupy.zeros(4 * 40, np.int32)
    run(kernel(ORDER, "order<0>"), 4, 40, cupy.zeros(1, np.int32), result, np.int32(number))
    return tuple(result.get().tolist())


def test_the_same_seed_gives_the_same_schedule():
    assert ranks(7) == ranks(7)


def test_different_seeds_give_different_schedules():
    assert len({ranks(seed) for seed in range(10)}) == 10


def test_different_arguments_give_different_schedules():
    first = ranks(1)
    assert ranks(1, number=5) != first
