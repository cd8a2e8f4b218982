// Collectives: values that the lanes of a warp, or the threads of a block, compute together.
//
// The first word of a function's name is its scope. All lanes of the warp (`warp_...`), or all
// threads of the block (`block_...`), must call it. All of them must pass the same arguments,
// except for the value to combine. The comment on each function states which threads get the
// result. Sums are added in a fixed order, so results are the same in each run. `scratch` is shared
// memory with one more element than the block has warps; WARP + 1 elements always suffice. The next
// collective may use the same `scratch` without a barrier; any other use needs a barrier before it.
#ifndef GRAPHLA_COLLECTIVES
#define GRAPHLA_COLLECTIVES
#include "device.cuh"

namespace graphla {

// --- warp shuffles for values of any size up to 8 bytes -----------------------------------------

template <class T> DEVICE T shuffle_down(T x, int delta, u32 lanes = ALL_LANES) {
  if constexpr (sizeof(T) < 4) return T(__shfl_down_sync(lanes, int(x), delta));
  else return __shfl_down_sync(lanes, x, delta);
}
template <class T> DEVICE T shuffle_up(T x, int delta, u32 lanes = ALL_LANES) {
  if constexpr (sizeof(T) < 4) return T(__shfl_up_sync(lanes, int(x), delta));
  else return __shfl_up_sync(lanes, x, delta);
}
template <class T> DEVICE T shuffle_xor(T x, int mask, u32 lanes = ALL_LANES) {
  if constexpr (sizeof(T) < 4) return T(__shfl_xor_sync(lanes, int(x), mask));
  else return __shfl_xor_sync(lanes, x, mask);
}
template <class T> DEVICE T shuffle(T x, int from, u32 lanes = ALL_LANES) {
  if constexpr (sizeof(T) < 4) return T(__shfl_sync(lanes, int(x), from));
  else return __shfl_sync(lanes, x, from);
}

// --- folds --------------------------------------------------------------------------------------

/// Combines the values x over each group of `width` lanes (a power of two) with a commutative
/// `add`. Every lane gets the result of its group.
template <class T, class Add> DEVICE T warp_fold(T x, Add add, int width = WARP) {
#pragma unroll
  for (int apart = WARP / 2; apart; apart /= 2)
    if (apart < width) x = add(x, shuffle_xor(x, apart));
  return x;
}

/// Returns the sum of x over all lanes of the warp. Every lane gets the result.
template <class T> DEVICE T warp_sum(T x) {
#if !defined(GRAPHLA_SIMULATOR) && __CUDA_ARCH__ >= 800
  if constexpr (is_same<T, u32>::value || is_same<T, i32>::value)
    return __reduce_add_sync(ALL_LANES, x);
#endif
  return warp_fold(x, [](T a, T b) { return T(a + b); });
}
/// Returns the minimum of x over all lanes of the warp. Every lane gets the result.
template <class T> DEVICE T warp_least(T x) {
  return warp_fold(x, [](T a, T b) { return least(a, b); });
}
/// Returns the maximum of x over all lanes of the warp. Every lane gets the result.
template <class T> DEVICE T warp_greatest(T x) {
  return warp_fold(x, [](T a, T b) { return greatest(a, b); });
}

/// Combines the values x over the block with a commutative `add`. All threads get the result.
template <class T, class Add> DEVICE T block_fold(T x, T *scratch, Add add) {
  x = warp_fold(x, add);
  __syncthreads();  // threads may still be reading the `scratch` of the previous collective
  if (lane() == 0) scratch[warp_in_block()] = x;
  __syncthreads();
  x = scratch[0];
  for (int warp = 1; warp < int(blockDim.x) / WARP; warp++) x = add(x, scratch[warp]);
  return x;
}

/// Returns the sum of x over all threads of the block. Every thread gets the result.
template <class T> DEVICE T block_sum(T x, T *scratch) {
  return block_fold(x, scratch, [](T a, T b) { return T(a + b); });
}

/// Adds the sum of x over the warp to a counter, with one atomic.
template <class T, class Counter> DEVICE void warp_add(Counter *counter, T x) {
  const T sum = warp_sum(x);
  if (lane() == 0 && sum != 0) atomicAdd((typename uint_of<sizeof(Counter)>::type *)counter, sum);
}

/// Adds the sum of x over the block to a counter, with one atomic.
template <class T, class Counter> DEVICE void block_add(Counter *counter, T x, T *scratch) {
  const T sum = block_sum(x, scratch);
  if (threadIdx.x == 0 && sum != 0)
    atomicAdd((typename uint_of<sizeof(Counter)>::type *)counter, sum);
}

// --- scans --------------------------------------------------------------------------------------

/// Returns the sum of x over this lane and the lanes before it.
template <class T> DEVICE T warp_inclusive_sum(T x) {
  for (int delta = 1; delta < WARP; delta *= 2) {
    const T before = shuffle_up(x, delta);
    if (lane() >= delta) x += before;
  }
  return x;
}

/// Returns the maximum of x over this lane and the lanes before it.
template <class T> DEVICE T warp_inclusive_greatest(T x) {
#pragma unroll
  for (int delta = 1; delta < WARP; delta *= 2) {
    const T before = shuffle_up(x, delta);
    if (lane() >= delta) x = greatest(x, before);
  }
  return x;
}

/// Returns the sum of x over the earlier threads of the block. `total` receives the sum over all
/// threads.
template <class T> DEVICE T block_exclusive_sum(T x, T *scratch, T &total) {
  const int warps = int(blockDim.x + WARP - 1) / WARP, warp = warp_in_block();
  const T sum = warp_inclusive_sum(x);
  __syncthreads();  // threads may still be reading the `scratch` of the previous collective
  if (lane() == WARP - 1) scratch[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    const T mine = lane() < warps ? scratch[lane()] : T(0);
    const T through = warp_inclusive_sum(mine);
    if (lane() < warps) scratch[lane()] = through - mine;
    if (lane() == WARP - 1) scratch[warps] = through;
  }
  __syncthreads();
  total = scratch[warps];
  return scratch[warp] + sum - x;
}

/// Claims a position in a list for each calling lane that passes `wants` = true, and returns the
/// lane's position. One atomic serves all calling lanes. Any subset of the lanes may call this.
template <class Counter> DEVICE Counter claim(Counter *counter, bool wants) {
  const u32 calling = __activemask();
  const u32 wanting = __ballot_sync(calling, wants);
  Counter first = 0;
  const int leader = __ffs(int(wanting)) - 1;
  if (wants && lane() == leader) first = atomicAdd(counter, Counter(__popc(wanting)));
  if (wanting) first = __shfl_sync(calling, first, leader);
  return first + Counter(__popc(wanting & ((1u << lane()) - 1)));
}

// --- binary searches ----------------------------------------------------------------------------

/// Returns the first index in begin..end - 1 for which `is_before(index)` is false, or `end` if
/// there is none. `is_before` must be monotonic: once it is false for an index, it is false for all
/// later indices. A single thread calls this.
template <class Place, class Before>
DEVICE Place partition_point(Place begin, Place end, Before is_before) {
  while (begin < end) {
    const Place middle = begin + (end - begin) / 2;
    if (is_before(middle)) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

/// Like `partition_point`, but computed by a whole warp; all lanes get the result. Each round tests
/// 32 indices at once. A search in a range of a million indices thus takes four rounds of loads; in
/// a single thread it would take twenty dependent loads.
template <class Place, class Before>
DEVICE Place warp_partition_point(Place begin, Place end, Before is_before) {
  while (begin < end) {
    const Place step = (end - begin + Place(WARP - 1)) / Place(WARP);
    const i64 place = i64(begin) + i64(lane() + 1) * i64(step) - 1;
    const u32 stops = __ballot_sync(ALL_LANES, place >= i64(end) || !is_before(Place(place)));
    if (!stops) return end;
    begin += Place(__ffs(int(stops)) - 1) * step;
    end = Place(least(i64(end), i64(begin) + i64(step) - 1));
  }
  return begin;
}

/// Returns the first index in begin..end - 1 whose key is not less than `key`, or `end` if there is
/// none.
template <class Key, class Place>
DEVICE Place lower_bound(const Key *keys, Place begin, Place end, Key key) {
  return partition_point(begin, end, [&](Place place) { return keys[place] < key; });
}
template <class Key, class Place>
DEVICE Place warp_lower_bound(const Key *__restrict__ keys, Place begin, Place end, Key key) {
  return warp_partition_point(begin, end, [&](Place place) { return keys[place] < key; });
}

/// Returns the first index in begin..end - 1 whose key is greater than `key`, or `end` if there is
/// none.
template <class Key, class Place>
DEVICE Place upper_bound(const Key *keys, Place begin, Place end, Key key) {
  return partition_point(begin, end, [&](Place place) { return !(key < keys[place]); });
}
template <class Key, class Place>
DEVICE Place warp_upper_bound(const Key *__restrict__ keys, Place begin, Place end, Key key) {
  return warp_partition_point(begin, end, [&](Place place) { return !(key < keys[place]); });
}

/// Returns the index of the segment of offsets[0..count] (an indptr) that contains entry k. It is
/// the last segment that begins at or before k.
template <class Offset> DEVICE i64 segment_of(const Offset *offsets, i64 count, i64 k) {
  return upper_bound<Offset, i64>(offsets, 0, count + 1, Offset(k)) - 1;
}
template <class Offset>
DEVICE i64 warp_segment_of(const Offset *__restrict__ offsets, i64 count, i64 k) {
  return warp_upper_bound<Offset, i64>(offsets, 0, count + 1, Offset(k)) - 1;
}

/// Returns the lane whose row contains edge number `edge`. Each lane has one row, and the edges in
/// the rows of all lanes are numbered consecutively. `end` is the end of this lane's row in this
/// numbering. Each lane may pass a different `edge`.
DEVICE int row_of_edge(u32 end, u32 edge) {
  int row = 0;
  for (int step = WARP / 2; step; step /= 2) {
    if (__shfl_sync(ALL_LANES, end, row + step - 1) <= edge) row += step;
  }
  return row;
}

// --- merge path ---------------------------------------------------------------------------------
// Merging two sorted runs a and b corresponds to a path through a grid. A step down takes an entry
// of a, and a step right takes an entry of b. All points that a path can reach after d steps lie on
// one diagonal of the grid. A binary search along this diagonal finds the point that the path goes
// through. So each thread or tile can find the start of its part of the merge by itself, and all
// parts have the same size. An entry of a comes before equal entries of b, so the merge is stable.
//
// O. Green, R. McColl, D. Bader: GPU Merge Path (2012); S. Odeh et al.: Merge Path (2012).

/// Returns how many of the first `diagonal` entries of the merged run come from run a. The other
/// entries come from run b. The function b_first(i, j) returns whether entry j of b comes before
/// entry i of a. The result is at least max(0, diagonal - b_count) and at most
/// min(a_count, diagonal), so it stays within both runs even if b_first is not a consistent order.
template <class Count, class First>
DEVICE Count merge_split(Count a_count, Count b_count, Count diagonal, First b_first) {
  const Count begin = diagonal > b_count ? diagonal - b_count : Count(0);
  return partition_point(begin, least(diagonal, a_count),
                         [&](Count i) { return !b_first(i, diagonal - 1 - i); });
}
template <class Count, class First>
DEVICE Count warp_merge_split(Count a_count, Count b_count, Count diagonal, First b_first) {
  const Count begin = diagonal > b_count ? diagonal - b_count : Count(0);
  return warp_partition_point(begin, least(diagonal, a_count),
                              [&](Count i) { return !b_first(i, diagonal - 1 - i); });
}

}  // namespace graphla
#endif
