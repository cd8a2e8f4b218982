// Greedy coloring: each vertex gets the smallest color that none of its earlier neighbors has, that
// is, its neighbors that come before it in the given order. The result is the same as that of a
// sequential loop over the vertices in this order.
//
// Invariant: regardless of how the threads are scheduled, no vertex gets a color before all of its
// earlier neighbors have one. The warp that colors a vertex therefore waits for these neighbors.
#include "hashed_random.cuh"
#include "flags.cuh"
#include "rows.cuh"

namespace graphla {

enum Color { FREE = -1 };            // marks a vertex that does not have a color yet
constexpr i32 NOBODY = -1;           // means that there is no neighbor
constexpr i32 COLORS = WARP * WARP;  // number of colors in a set: a 32-bit word per lane
constexpr int HELD = ColoringTuning::held;

/// Visits all entries of the matrix: let (i, j) be the position of entry k. Sets places_of[k] to
/// places[j], where places[v] is the position of vertex v in the order of the coloring. Sets flag k
/// in `bits` if vertex j comes before vertex i in this order.
template <class Op, class Offset>
__global__ void flag_earlier(const Offset *__restrict__ indptr, i64 nrows,
                             const i32 *__restrict__ indices, const i32 *__restrict__ places,
                             i32 *__restrict__ places_of, u32 *bits, i64 *counts, i64 words,
                             i64 count) {
  SHARED(i64, span, 2);
  each_entry<BY_ROWS, true>(indptr, nrows, indices, count, words * WARP, span,
                            [&](i64 k, i64 i, i64 j) {
    const i32 place = k < count ? places[j] : 0;
    if (k < count) places_of[k] = place;
    put_flags(bits, counts, words, k, k < count && place < places[i]);
  });
}

/// One lane's share of the neighbors of a vertex that do not have a color yet.
struct Waiting {
  i32 held[HELD];

  DEVICE Waiting() {
#pragma unroll
    for (int k = 0; k < HELD; ++k) held[k] = NOBODY;
  }

  /// Stores the neighbors indices[p], indices[p + 32], ... in the empty elements of `held`, as long
  /// as p < end. Sets p to the position of the lane's next neighbor.
  DEVICE void fill(const i32 *indices, i64 &p, i64 end) {
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
      if (held[k] != NOBODY || p >= end) continue;
      held[k] = indices[p];
      p += WARP;
    }
  }

  /// Removes the neighbors that now have a color from `held`, and adds their colors to `set`. The
  /// set represents COLORS colors from `base` on. Sets `some` to any neighbor that is still in
  /// `held`, and `latest` to the last such neighbor in the order. If no neighbor is left, both are
  /// NOBODY. Returns whether an element of `held` is empty.
  DEVICE bool collect(const i32 *colors, i32 base, u32 *set, i32 &some, i32 &latest) {
    i32 color[HELD];
    bool may_read = false;
    some = latest = NOBODY;
#pragma unroll
    for (int k = 0; k < HELD; ++k)
      color[k] = held[k] == NOBODY ? FREE : load_relaxed(&colors[held[k]]);
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
      if (color[k] != FREE) {
        const i32 bit = color[k] - base;
        if (bit >= 0 && bit < COLORS) atomicOr(&set[bit / WARP], 1u << (bit % WARP));
        held[k] = NOBODY;
      }
      may_read |= held[k] == NOBODY;
      if (held[k] != NOBODY) some = held[k];
      latest = greatest(latest, held[k]);
    }
    return may_read;
  }
};

/// Returns the neighbor whose color the warp waits for next, or NOBODY if no neighbor is held.
/// While the row has unread entries (in the lanes of `unread`), the result is an arbitrary held
/// neighbor. By the time that neighbor has a color, about half of the held neighbors are likely to
/// have colors, which makes room for unread entries. After the whole row has been read, the result
/// is the held neighbor that comes last in the order, because the warp needs all colors.
DEVICE i32 choose_awaited(i32 some, i32 latest, u32 unread) {
  if (unread) return shuffle(some, __ffs(int(unread)) - 1);
  return warp_greatest(latest);
}

/// Collects the colors of all neighbors in the row from `begin` to `end` - 1. While neighbors have
/// no color, one lane polls the color of one such neighbor. After that neighbor has got a color,
/// the warp reads the colors of all waiting neighbors again. If all lanes polled, thousands of
/// waiting warps would use up the bandwidth of the L2 cache, which the few working warps need.
DEVICE void collect_row(const i32 *indices, i64 begin, i64 end, const i32 *colors, i32 base,
                        u32 *set) {
  set[lane()] = 0;
  __syncwarp();
  Waiting waiting;
  i64 p = begin + lane();
  for (;;) {
    i32 some, latest;
    waiting.fill(indices, p, end);
    const bool may_read = waiting.collect(colors, base, set, some, latest);
    const u32 unread = __ballot_sync(ALL_LANES, p < end);
    if (__any_sync(ALL_LANES, may_read && p < end)) continue;
    const i32 awaited = choose_awaited(some, latest, unread);
    if (awaited == NOBODY) break;
    if (lane() == 0) {
      while (load_relaxed(&colors[awaited]) == FREE) __nanosleep(ColoringTuning::nap);
    }
    __syncwarp();
  }
  __syncwarp();
}

/// Stores the smallest color that is at least `base` and not in the set. Returns false if the set
/// is full.
DEVICE bool store_least(i32 *color, i32 base, const u32 *set) {
  const u32 left = ~load_relaxed(&set[lane()]);
  const u32 some = __ballot_sync(ALL_LANES, left != 0);
  __syncwarp();
  if (some && lane() == __ffs(int(some)) - 1) {
    store_relaxed(color, base + lane() * WARP + __ffs(int(left)) - 1);
  }
  return some != 0;
}

/// Sets colors[t] to the color of vertex order[t]: the smallest color that none of its neighbors
/// with a position before t has. Initially all colors are FREE. For v = order[t], row v of indptr
/// and indices contains the positions of these neighbors in `order`.
///
/// When a warp has finished its vertices, it takes the next ones in the order. So every vertex that
/// a warp waits for is finished or in progress, and no deadlock is possible. Race: a warp may read
/// the color of a neighbor before the color is set. The warp then reads the color repeatedly until
/// it is set.
template <class Op, class Offset>
__global__ void __launch_bounds__(ColoringTuning::block)
    color_in_order(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                   const i32 *__restrict__ order, i64 n, i32 *colors, u64 *taken) {
  constexpr i64 ALONE = ColoringTuning::alone, TOGETHER = ColoringTuning::together;
  SHARED(u32, sets, ColoringTuning::block);
  u32 *const set = sets + warp_in_block() * WARP;
  for (;;) {
    u64 next = 0;
    if (lane() == 0) next = atomicAdd(taken, u64(1));
    const i64 ticket = i64(shuffle(next, 0));
    const i64 first = ticket < ALONE ? ticket : ALONE + (ticket - ALONE) * TOGETHER;
    if (first >= n) return;
    const i64 last = least(n, first + (ticket < ALONE ? 1 : TOGETHER));
    for (i64 t = first; t < last; ++t) {
      const i32 v = order[t];
      for (i32 base = 0;; base += COLORS) {
        collect_row(indices, i64(indptr[v]), i64(indptr[v + 1]), colors, base, set);
        if (store_least(&colors[t], base, set)) break;
      }
      __syncwarp();
    }
  }
}

}  // namespace graphla
