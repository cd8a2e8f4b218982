"""Compare each CUDA intrinsic that kernels use with a simple model in Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from . import cupy, machine
from .kernels import c_type, each_lane, kernel, run

DTYPES = [np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]
LANES = np.arange(32)
seeds = st.integers(0, 1000)
words = st.integers(0, 2**32 - 1)


def values_of(dtype: type, seed: int, count: int = 32) -> np.ndarray:
    bits = np.random.default_rng(seed).integers(0, 100, count)
    return bits.astype(dtype)


def lanes(mask: int) -> np.ndarray:
    return mask >> LANES & 1 == 1


# --- shuffles -----------------------------------------------------------------------------------


def shuffled_from(kind: str, lane: int, argument: int, width: int) -> int:
    """Return the lane that a shuffle reads, as the CUDA programming guide defines it."""
    begin = lane // width * width
    match kind:
        case "":
            return begin + argument % width
        case "_up":
            return lane - argument if lane - argument >= begin else lane
        case "_down":
            return lane + argument if lane + argument < begin + width else lane
        case _:
            source = lane ^ argument
            return source if source < begin + width else lane


@pytest.mark.parametrize("kind", ["", "_up", "_down", "_xor"])
@pytest.mark.parametrize("dtype", DTYPES)
@given(seed=seeds, argument=st.integers(0, 40), width=st.sampled_from([1, 2, 4, 8, 16, 32]))
def test_shuffles_read_the_lane_that_cuda_specifies(kind, dtype, seed, argument, width):
    machine.seed = seed
    if kind == "_xor":
        argument %= 32
    x = values_of(dtype, seed)
    given_ = [x, np.full(32, argument, np.int32), np.full(32, width, np.int32)]
    result = each_lane(f"out[t] = __shfl{kind}_sync(~0u, a, b, c);", given_, dtype)
    expected = [x[shuffled_from(kind, lane, argument, width)] for lane in range(32)]
    assert result.tolist() == expected


@given(mask=words.filter(bool), seed=seeds)
def test_a_masked_shuffle_reads_from_lanes_inside_its_mask(mask, seed):
    machine.seed = seed
    inside = LANES[lanes(mask)]
    source = np.random.default_rng(seed).choice(inside, 32).astype(np.int32)
    body = "if (c >> t & 1) out[t] = __shfl_sync(c, a, b);"
    x = values_of(np.int32, seed) + 1
    result = each_lane(body, [x, source, np.full(32, mask, np.uint32)], np.int32)
    assert result.tolist() == np.where(lanes(mask), x[source], 0).tolist()


# --- votes --------------------------------------------------------------------------------------


@given(mask=words, predicate=words, seed=seeds)
def test_votes_consider_only_the_lanes_of_their_mask(mask, predicate, seed):
    machine.seed = seed
    true = lanes(predicate).astype(np.int32) * 7  # any nonzero value counts as true
    both = [true, np.full(32, mask, np.uint32)]
    models = {
        "__ballot_sync": mask & predicate,
        "__any_sync": int(mask & predicate != 0),
        "__all_sync": int(mask & predicate == mask),
    }
    for name, expected in models.items():
        result = each_lane(f"if (b >> t & 1) out[t] = {name}(b, a);", both, np.uint32)
        assert result.tolist() == np.where(lanes(mask), expected, 0).tolist()


@given(seed=seeds, dtype=st.sampled_from([np.int32, np.uint32, np.int64, np.uint64]))
def test_the_cuda_function_match_any_sync_finds_the_lanes_with_equal_values(seed, dtype):
    machine.seed = seed
    x = values_of(dtype, seed) % 5
    result = each_lane("out[t] = __match_any_sync(~0u, a);", [x], np.uint32)
    expected = [sum(1 << j for j in range(32) if x[j] == x[k]) for k in range(32)]
    assert result.tolist() == expected


@given(mask=words, seed=seeds)
def test_the_sum_of_the_cuda_function_reduce_add_sync_wraps_around_on_overflow(mask, seed):
    machine.seed = seed
    x = np.random.default_rng(seed).integers(0, 2**32, 32, np.uint32)
    both = [x, np.full(32, mask, np.uint32)]
    result = each_lane("if (b >> t & 1) out[t] = __reduce_add_sync(b, a);", both, np.uint32)
    expected = int(x[lanes(mask)].sum(dtype=np.uint64)) % 2**32
    assert result.tolist() == np.where(lanes(mask), expected, 0).tolist()


@given(seed=seeds, predicate=words)
def test_lanes_that_are_active_together_get_the_same_activemask(seed, predicate):
    machine.seed = seed
    x = lanes(predicate).astype(np.int32)
    result = each_lane(
        "if (a) out[t] = __activemask(); else __syncwarp(~0u ^ b);",
        [x, np.full(32, predicate, np.uint32)],
        np.uint32,
    )
    for lane in LANES:
        mask = int(result[lane])
        assert (mask >> lane & 1) == x[lane]
        assert mask & ~predicate == 0
        assert all(result[j] == mask for j in LANES[lanes(mask)])


def test_activemask_may_return_masks_with_different_numbers_of_lanes():
    seen = set()
    for seed in range(20):
        machine.seed = seed
        x = np.zeros(32, np.int32)
        seen |= {int(each).bit_count() for each in each_lane("out[t] = __activemask();", [x], "u4")}
    assert 1 in seen
    assert max(seen) > 8


# --- barriers -----------------------------------------------------------------------------------


@given(seed=seeds, count=st.integers(1, 100), data=st.data())
def test_voting_barriers_combine_the_predicates_of_the_whole_block(seed, count, data):
    machine.seed = seed
    true = np.array(data.draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)), "i4")
    for name, expected in (("or", true.any()), ("and", true.all()), ("count", true.sum())):
        result = each_lane(f"out[t] = __syncthreads_{name}(a);", [true], np.int32)
        assert result.tolist() == [int(expected)] * count


@given(seed=seeds, count=st.integers(1, 70))
def test_a_value_stored_before_a_barrier_is_visible_after_it(seed, count):
    machine.seed = seed
    body = "SHARED(int, all, 70); all[t] = a; __syncthreads(); out[t] = all[blockDim.x - 1 - t];"
    x = np.arange(count, dtype=np.int32)
    assert each_lane(body, [x], np.int32).tolist() == x[::-1].tolist()


@given(seed=seeds)
def test_a_value_stored_before_syncwarp_is_visible_after_it(seed):
    machine.seed = seed
    body = "SHARED(int, all, 64); all[t] = a; __syncwarp(); out[t] = all[t ^ 31];"
    x = np.arange(64, dtype=np.int32)
    assert each_lane(body, [x], np.int32).tolist() == (x ^ 31).tolist()


def test_a_barrier_does_not_wait_for_threads_that_have_ended():
    body = (
        "if (t < 40) return; const int n = __syncthreads_count(1); out[t] = n + __any_sync(~0u, a);"
    )
    result = each_lane(body, [np.arange(64, dtype=np.int32)], np.int32)
    assert result.tolist() == [0] * 40 + [25] * 24


@given(seed=seeds, count=st.integers(1, 50))
def test_all_threads_of_a_block_share_its_dynamic_shared_memory(seed, count):
    machine.seed = seed
    body = "SHARED_BYTES(bytes); int *all = (int *)bytes; all[t] = a; __syncthreads(); "
    body += "out[t] = all[(t + 1) % blockDim.x];"
    x = np.arange(count, dtype=np.int32)
    result = each_lane(body, [x], np.int32, shared_mem=4 * count)
    assert result.tolist() == np.roll(x, -1).tolist()


GRID_BARRIER = """
template <int> __global__ void rounds(int *values, unsigned *tickets, int n) {
  for (unsigned round = 0; round < 3; round++) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int next = values[(i + 1) % n];
    for (int half = 0; half < 2; half++) {  // first all threads read, then all write
      __syncthreads();
      if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(tickets, 1u);
        const unsigned until = gridDim.x * (2 * round + half + 1);
        while (*(volatile unsigned *)tickets < until) __nanosleep(20);
      }
      __syncthreads();
      if (half == 0) values[i] = next;
    }
  }
}
"""


@pytest.mark.parametrize("seed", range(10))
def test_blocks_of_a_cooperative_launch_wait_for_each_other(seed):
    machine.seed = seed
    x, tickets = cupy.arange(6 * 40, dtype=np.int32), cupy.zeros(1, np.uint32)
    rounds = kernel(GRID_BARRIER, "rounds<0>")
    run(rounds, 6, 40, x, tickets, np.int32(x.size), enable_cooperative_groups=True)
    assert x.get().tolist() == np.roll(np.arange(240), -3).tolist()


# --- atomics ------------------------------------------------------------------------------------

ATOMICS = {
    "Add": (lambda old, x: old + x, [*DTYPES[:2], *DTYPES[3:]]),
    "Sub": (lambda old, x: old - x, DTYPES[:2]),
    "Min": (min, DTYPES[:4]),
    "Max": (max, DTYPES[:4]),
    "And": (lambda old, x: old & x, [*DTYPES[:2], np.uint64]),
    "Or": (lambda old, x: old | x, [*DTYPES[:2], np.uint64]),
    "Xor": (lambda old, x: old ^ x, [*DTYPES[:2], np.uint64]),
}


@pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for name, (_, dtypes) in ATOMICS.items() for dtype in dtypes]
)
@given(seed=seeds)
def test_atomics_combine_values_and_return_the_old_value(name, dtype, seed):
    machine.seed = seed
    step = ATOMICS[name][0]
    x = values_of(dtype, seed, 50)
    text = (
        "template <class T> __global__ void fold(const T *x, T *at, T *before) "
        f"{{ before[threadIdx.x] = atomic{name}(at, x[threadIdx.x]); }}"
    )
    start = dtype(50)
    at, before = cupy.full(1, start), cupy.zeros(50, dtype)
    run(kernel(text, f"fold<{c_type(np.dtype(dtype))}>"), 1, 50, cupy.asarray(x), at, before)
    with np.errstate(over="ignore"):
        expected = start
        for each in x:
            expected = dtype(step(expected, each))
        assert at.get()[0] == expected
        # The threads read all values of the sequence except the last, one value each.
        pairs = [(old, dtype(step(old, each))) for old, each in zip(before.get(), x, strict=True)]
    befores, afters = (sorted(each) for each in zip(*pairs, strict=True))
    assert sorted([*befores, expected]) == sorted([*afters, start])


@given(seed=seeds)
def test_atomic_exchange_returns_each_value_exactly_once(seed):
    machine.seed = seed
    text = (
        "template <class T> __global__ void exchange(T *at, T *before) "
        "{ before[threadIdx.x] = atomicExch(at, T(threadIdx.x + 1)); }"
    )
    types = {"int": "i4", "unsigned": "u4", "unsigned long long": "u8", "float": "f4"}
    for name, dtype in types.items():
        at, before = cupy.zeros(1, dtype), cupy.zeros(40, dtype)
        run(kernel(text, f"exchange<{name}>"), 1, 40, at, before)
        assert sorted([*before.get().tolist(), at.get()[0]]) == list(range(41))


@given(seed=seeds)
def test_compare_and_swap_succeeds_for_exactly_one_thread(seed):
    machine.seed = seed
    text = (
        "template <class T> __global__ void swap(T *at, T *before) "
        "{ before[threadIdx.x] = atomicCAS(at, T(0), T(threadIdx.x + 1)); }"
    )
    for name, dtype in {"int": "i4", "unsigned": "u4", "unsigned long long": "u8"}.items():
        at, before = cupy.zeros(1, dtype), cupy.zeros(40, dtype)
        run(kernel(text, f"swap<{name}>"), 1, 40, at, before)
        winner = int(at.get()[0])
        expected = [winner] * 40
        expected[winner - 1] = 0
        assert before.get().tolist() == expected


# --- numbers ------------------------------------------------------------------------------------


@given(seed=seeds)
def test_bit_intrinsics_count_and_find_bits(seed):
    random = np.random.default_rng(seed)
    x = random.integers(0, 2**64, 32, np.uint64) >> random.integers(0, 64, 32, np.uint64)
    x[0] = 0
    low = x.astype(np.uint32)
    models = {
        "__popc(a)": [int(v).bit_count() for v in low],
        "__popcll(b)": [int(v).bit_count() for v in x],
        "__clz(int(a))": [32 - int(v).bit_length() for v in low],
        "__clzll((long long)b)": [64 - int(v).bit_length() for v in x],
        "__ffs(int(a))": [(int(v) & -int(v)).bit_length() for v in low],
        "__ffsll((long long)b)": [(int(v) & -int(v)).bit_length() for v in x],
    }
    for call, expected in models.items():
        assert each_lane(f"out[t] = {call};", [low, x], np.int32).tolist() == expected


@given(seed=seeds)
def test_numbers_are_converted_to_bits_and_back(seed):
    bits = np.random.default_rng(seed).integers(0, 2**63, 32, np.int64)
    low = bits.astype(np.int32)
    for call, x, dtype in (
        ("__int_as_float(a)", low, np.float32),
        ("__longlong_as_double(a)", bits, np.float64),
    ):
        assert each_lane(f"out[t] = {call};", [x], dtype).tobytes() == x.tobytes()
    for call, y in (
        ("__float_as_int(a)", low.view(np.float32)),
        ("__double_as_longlong(a)", bits.view(np.float64)),
    ):
        x = low if y.dtype == np.float32 else bits
        assert each_lane(f"out[t] = {call};", [y], x.dtype).tolist() == x.tolist()


def test_a_fused_multiply_add_is_rounded_once():
    x = np.float64(1 + 2**-30)
    y = np.full(4, x)
    exact = 2**-29 + 2**-60  # the exact value of x * x - 1
    assert each_lane("out[t] = fma(a, a, -1.0);", [y], np.float64).tolist() == [exact] * 4
    z = np.full(4, np.float32(1 + 2**-12))
    exact = 2**-11 + 2**-24
    assert each_lane("out[t] = fmaf(a, a, -1.0f);", [z], np.float32).tolist() == [exact] * 4


def test_the_intrinsics_clock64_and_threadfence_and_ldg_are_supported():
    x = np.arange(4, dtype=np.int32)
    body = "const long long begin = clock64(); __threadfence(); __threadfence_block(); "
    body += "__threadfence_system(); out[t] = clock64() >= begin ? __ldg(as + t) : -1;"
    assert each_lane(body, [x], np.int32).tolist() == [0, 1, 2, 3]


PLACES = """
template <int> __global__ void places(int *seen) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  atomicAdd(seen + block * blockDim.x * blockDim.y * blockDim.z + thread, 1);
}
"""


@given(seed=seeds)
def test_every_thread_of_every_block_runs_exactly_once(seed):
    machine.seed = seed
    seen = cupy.zeros(2 * 3 * 4 * 5 * 2 * 3, np.int32)
    kernel(PLACES, "places<0>")((2, 3, 4), (5, 2, 3), (seen,))
    assert (seen.get() == 1).all()
