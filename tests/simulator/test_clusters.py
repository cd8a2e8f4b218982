"""Tests of clusters: blocks that access one another's shared memory and share a barrier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from . import SimulatorFault, cupy, machine
from .kernels import kernel, run

SIZE, THREADS = 4, 40

ROUND = """
template <int> __global__ void hand_on(int *out) {
  SHARED_BYTES(bytes);
  int *const mine = (int *)bytes;
  const unsigned rank = blockIdx.x % SIZE, t = threadIdx.x;
  int value = int(blockIdx.x) * 1000 + int(t);
  for (int turn = 0; turn < 5; ++turn) {
    int *const half = mine + turn % 2 * THREADS;
    __cluster_map(half, (rank + 1) % SIZE, SIZE)[t] = value;
    BARRIER
    value = half[t];
  }
  out[blockIdx.x * THREADS + t] = value;
}
"""


def handed_on(barrier: str, seed: int = 0, blocks: int = 8, last: str = "") -> np.ndarray:
    """Let each block pass its values to the next block of its cluster, five times in a row. Return
    the final values of all blocks.
    """
    machine.seed = seed
    text = ROUND.replace("BARRIER", barrier).replace("  out[", f"  {last}\n  out[")
    text = text.replace("SIZE", str(SIZE)).replace("THREADS", str(THREADS))
    out = cupy.zeros(blocks * THREADS, np.int32)
    options = {"shared_mem": 8 * THREADS, "enable_cooperative_groups": True}
    run(kernel(text, "hand_on<0>"), blocks, THREADS, out, **options)
    return out.get().reshape(blocks, THREADS)


def wanted(blocks: int = 8) -> np.ndarray:
    whence = [b // SIZE * SIZE + (b - 5) % SIZE for b in range(blocks)]
    return np.array(whence)[:, None] * 1000 + np.arange(THREADS)


def fault_of(barrier: str, **options: Any) -> str:
    with pytest.raises(SimulatorFault) as caught:
        handed_on(barrier, **options)
    return str(caught.value)


@pytest.mark.parametrize("seed", range(6))
def test_a_value_stored_before_the_cluster_barrier_is_visible_after_it(seed):
    assert (handed_on("__cluster_sync(SIZE);", seed) == wanted()).all()


def test_a_block_barrier_does_not_synchronize_a_cluster():
    wrong = 0
    for seed in range(8):
        wrong += (
            handed_on("__syncthreads();", seed, last="__cluster_sync(SIZE);") != wanted()
        ).any()
    assert wrong == 8


def test_a_rank_outside_the_cluster_is_detected():
    text = fault_of("__cluster_map(mine, SIZE, SIZE)[t] = 1; __cluster_sync(SIZE);")
    assert "there is no block 4 in a cluster of 4 (test.cu:" in text


def test_mapping_memory_that_is_not_dynamic_shared_memory_is_detected():
    text = fault_of(
        "SHARED(int, other, 9); __cluster_map(&other[0], 1, SIZE); __cluster_sync(SIZE);"
    )
    assert "is not in the block's dynamic shared memory" in text


def test_access_to_shared_memory_of_an_ended_block_is_detected():
    text = fault_of(
        "__cluster_sync(SIZE); if (rank == 1) return;"
        " for (int k = 0; k < 40; ++k) __nanosleep(9); mine[t] = *__cluster_map(mine, 1, SIZE);"
    )
    assert "block 1 of the cluster has ended" in text


def test_a_block_that_misses_a_cluster_barrier_is_reported():
    text = fault_of(
        "if (blockIdx.x != 6) __cluster_sync(SIZE); while (blockIdx.x == 6) __nanosleep(9);"
    )
    assert "deadlock" in text
    assert "threads at the barrier of a cluster (test.cu:" in text


def test_threads_at_two_different_cluster_barriers_are_detected():
    text = fault_of("if (rank == 2) {\n __cluster_sync(SIZE);\n} else {\n __cluster_sync(SIZE);\n}")
    assert "divergent barrier" in text


def test_a_cluster_barrier_does_not_wait_for_ended_blocks():
    assert handed_on("__cluster_sync(SIZE); if (turn == 4 && rank == 3) return;").shape == (8, 40)


@pytest.mark.parametrize(
    ("barrier", "blocks", "words"),
    [
        ("__cluster_sync(SIZE);", 6, "a cluster of 4 blocks, in a grid of 6"),
        ("__cluster_sync(SIZE); __cluster_sync(2);", 8, "a cluster of 2 blocks, in a grid of 8"),
    ],
)
def test_a_grid_size_that_is_not_a_multiple_of_the_cluster_size_is_detected(barrier, blocks, words):
    assert words in fault_of(barrier, blocks=blocks)


def test_a_kernel_with_clusters_requires_a_cooperative_launch():
    text = ROUND.replace("BARRIER", "__cluster_sync(SIZE);")
    text = text.replace("SIZE", str(SIZE)).replace("THREADS", str(THREADS))
    machine.seed = 0
    with pytest.raises(SimulatorFault, match="a launch that is not cooperative"):
        out = cupy.zeros(16 * THREADS, np.int32)
        run(kernel(text, "hand_on<0>"), 16, THREADS, out, shared_mem=8 * THREADS)
