// Sweeps of compiled loops: all threads together visit the entries or all positions of vectors.
#ifndef GRAPHLA_PROGRAM_SWEEPS
#define GRAPHLA_PROGRAM_SWEEPS
#include "program_machine.cuh"

namespace graphla {

/// The positions that a sweep visits: the `count` elements of `list` or, if `list` is null, 0 to
/// count - 1. Positions are below 2^31, so the sum of a position and a few grid strides (numbers of
/// threads in the grid) does not overflow a u32.
struct Span {
  const i32 *list;
  u32 count;
  u32 shift;  // see `shifted_warp`

  DEVICE i32 at(u32 k) const { return list ? list[k] : i32(k); }
};

/// Returns a number that identifies a vector. Vectors whose counts are adjacent in memory have
/// consecutive numbers.
template <class T> DEVICE u32 number_of(const Vector<T> &v) {
  return u32(u64(v.counts) / RING_BYTES);
}

/// Returns the argument `shift` of `shifted_warp` for sweeps over the entries of v. Different
/// vectors have different shifts. So sweeps over short lists of different vectors mostly use
/// different warps, and can overlap.
template <class T> DEVICE u32 shift_of(const Vector<T> &v) { return 5 * number_of(v); }

/// Like `spread_warp`, but with the warps of a block shifted. Warp w gets the number that warp (w +
/// shift) mod W has in `spread_warp`. W is the number of warps in a block, a power of two.
DEVICE u32 shifted_warp(u32 shift) {
  return ((u32(warp_in_block()) + shift) & (blockDim.x / WARP - 1)) * gridDim.x + blockIdx.x;
}

/// If the queue of a vector of size n has at most n / SHORT_QUEUE entries, a sweep visits only
/// these entries; otherwise it visits all n positions.
constexpr i64 SHORT_QUEUE = 8;

DEVICE Span all_of(i64 n) { return {nullptr, u32(n), 0}; }

/// Returns the span of the entries of v if its queue is valid and short, otherwise the span of all
/// n positions. `counts` is a copy of *v.counts.
template <class T> DEVICE Span entries_or_all(const Vector<T> &v, const Counts &counts, i64 n) {
#ifdef GRAPHLA_ONE_CLUSTER
  // With at most one position per thread, visiting all positions takes no longer than reading the
  // counts and the queue.
  if (n <= i64(threads_in_grid())) return all_of(n);
#endif
  const i64 entries = i64(counts.entries);
  if (v.queue && counts.queued == counts.entries && entries * SHORT_QUEUE <= n)
    return {v.queue, u32(entries), shift_of(v)};
  return all_of(n);
}

template <class Offset> DEVICE u64 degree_of(const Offset *indptr, i32 i) {
  return u64(indptr[i + 1] - indptr[i]);
}

/// Calls visit(k) for each k from 0 to count - 1. A short range of k is spread over all
/// multiprocessors. `shift` is explained at `shifted_warp`. Returns whether this block called
/// `visit`.
template <class Visit> DEVICE bool spread(u32 count, u32 shift, Visit visit) {
  const u32 share = share_of(count, 1, WARP), step = warps_in_grid() * share;
#pragma unroll 1
  for (u32 base = shifted_warp(shift) * share; base < count; base += step) {
    if (u32(lane()) < share && base + u32(lane()) < count) visit(base + u32(lane()));
  }
  return blockIdx.x * share < count;
}

/// Deletes the entries at the positions of a span by clearing presence flags. Stores of 16 bytes
/// stay within the array, because its length is padded to a multiple of `ALIGNMENT` (program.py).
CALL void clear_flags(bool *present, Span span) {
  struct __align__(16) Wide {
    u64 words[2];
  };
  if (span.list) {
    spread(span.count, span.shift, [&](u32 k) { present[span.list[k]] = false; });
    return;
  }
  const u32 count = (span.count + 15) / 16;
#pragma unroll 1
  for (u32 k = u32(thread_in_grid()); k < count; k += u32(threads_in_grid()))
    ((Wide *)present)[k] = Wide{{0, 0}};
}

/// Returns how many positions of a span a warp visits at a time. A short list is divided among all
/// warps, so that the loads of all multiprocessors overlap.
DEVICE u32 share_of(const Span &span) { return span.list ? share_of(span.count, 1, WARP) : WARP; }

/// Returns whether this block has anything to add to the number of entries after a sweep. This is
/// true if the block visits any position of the span. It is also true for block 0, because its
/// thread 0 adds the result of `kept_count`.
DEVICE bool takes_part(const Span &span) {
  return blockIdx.x == 0 || blockIdx.x * share_of(span) < span.count;
}

/// Deletes the entries of a vector at the positions of a span, and sets their values to `identity`.
/// The positions are divided among threads as in a sweep. A thread loads the flags of AHEAD
/// positions before it stores anything, so that the loads overlap.
template <class T> DEVICE void reset_entries(const Vector<T> &v, Span span, T identity) {
  constexpr int AHEAD = 8;
  const u32 share = share_of(span), step = warps_in_grid() * share;
  if (u32(lane()) >= share) return;
#pragma unroll 1
  for (u32 base = shifted_warp(span.shift) * share; base < span.count; base += AHEAD * step) {
    const u32 mine = base + u32(lane());
    bool has[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      has[k] = mine + k * step < span.count;
      if (has[k] && !span.list) has[k] = v.present[mine + k * step];
    }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      if (!has[k]) continue;
      const i32 i = span.at(mine + k * step);
      v.values[i] = identity;
      v.present[i] = false;
    }
  }
}

/// The argument `list` of a sweep that lists no entries.
struct NoList {
  DEVICE void operator()(u32, u32) const {}
};

/// Visits each position of a span with one thread. A thread visits AHEAD positions at a time: it
/// first calls `flags` for all of them, then `values`, then `gather`, and finally `run`. In this
/// order the loads of different positions overlap. `run` returns at most 32 / AHEAD bits, which the
/// sweep passes to `list` together with the index of the position in the span. All lanes of a warp
/// call `list` together; a lane without a position passes no bits. Two sweeps over the same span
/// give each position to the same thread.
template <class Row, int AHEAD, class Flags, class Values, class Gather, class Run, class List>
DEVICE void sweep(const Span &span, Flags flags, Values values, Gather gather, Run run, List list) {
  constexpr bool LISTS = !is_same<List, NoList>::value;
#ifdef GRAPHLA_SIMULATOR
  constexpr bool LOADS_ALL = false;  // a sanitizer would report some of the loads beyond the end as
                                     // races
#else
  constexpr bool LOADS_ALL = true;
#endif
  const u32 share = share_of(span), step = warps_in_grid() * share;
  const bool is_idle = u32(lane()) >= share;
#pragma unroll 1
  for (u32 base = shifted_warp(span.shift) * share; base < span.count; base += AHEAD * step) {
    const u32 mine = base + u32(lane());
    const auto is_there = [&](int k) { return !is_idle && mine + k * step < span.count; };
    Row rows[AHEAD];
    i32 at[AHEAD];
    // Instead of a position beyond the end of the span, load the last position again. This avoids
    // branches between the loads.
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) at[k] = span.at(least(mine + k * step, span.count - 1));
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (LOADS_ALL || is_there(k)) flags(at[k], rows[k]);
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (LOADS_ALL || is_there(k)) values(at[k], rows[k]);
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (LOADS_ALL || is_there(k)) gather(at[k], rows[k]);
    u32 bits = 0;
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      if (!is_there(k)) continue;
      const u32 found = run(at[k], rows[k]);
      if constexpr (LISTS) bits |= found << (k * (32 / AHEAD));
    }
    if constexpr (LISTS) {
      if (!__any_sync(ALL_LANES, bits)) continue;
#pragma unroll 1
      for (int k = 0; k < AHEAD; ++k)
        list(least(mine + k * step, span.count - 1), bits >> (k * (32 / AHEAD)));
    }
  }
}

/// Maximum number of entries that a warp lists in a sweep. If a warp finds more, the queue is not
/// valid.
constexpr u32 MOST_LISTED = 128;

/// Lists entries in the queue of a vector. `entries` is the number of entries that this warp has
/// found. `edges` is the sum of the degrees of the entries that this thread has listed.
struct Listed {
  u32 entries;
  u64 edges = 0;

  /// `old` is the vector's previous record of counts. If the vector had many entries, it will
  /// probably have many again, so this warp lists no entries. Other threads may be changing *old at
  /// the same time, so some warps may list their entries while others do not. In this case the
  /// queue is not valid.
  DEVICE Listed(const Counts *old, i64 n)
      : entries(i64(old->entries) * SHORT_QUEUE <= n ? 0 : MOST_LISTED + 1) {}

  /// Lists i if `is_new` is true. All lanes of the warp must call this.
  template <class T, class Degree>
  DEVICE void add(const Vector<T> &v, i32 i, bool is_new, Degree degree) {
    const u32 all = __ballot_sync(ALL_LANES, is_new);
    entries += u32(__popc(all));
    if (!all || entries > MOST_LISTED) return;
    // Issue these loads before atomicAdd, so that they overlap with it.
    if (is_new) edges += u64(degree(i));
    u64 place = 0;
    if (lane() == 0) place = atomicAdd(&v.counts->queued, u64(__popc(all)));
    place = shuffle(place, 0) + u64(__popc(all & ((1u << lane()) - 1)));
    if (is_new) v.queue[place] = i;
  }

  /// Like `add`, for element k of a span. If the span is a list, every position in the list must
  /// become an entry; the queue is then filled with a copy of the list.
  template <class T, class Degree>
  DEVICE void copy(const Vector<T> &v, const Span &span, u32 k, bool is_new, Degree degree) {
    if (!span.list) return add(v, i32(k), is_new, degree);
    if (is_new) v.queue[k] = span.list[k], edges += u64(degree(span.list[k]));
  }
  /// Sets the length of a queue that `copy` has filled from a list. All threads must call this
  /// after the sweep.
  template <class T> DEVICE void finish_copy(const Vector<T> &v, const Span &span) const {
    if (span.list && thread_in_grid() == 0) v.counts->queued = span.count;
  }
};

/// Stores a presence flag that other threads may be reading at the same time (see `load_cached`).
DEVICE void store_flag(bool *flag, bool value) {
#ifdef GRAPHLA_SIMULATOR
  store_relaxed(flag, value);
#else
  *flag = value;
#endif
}

}  // namespace graphla
#endif
