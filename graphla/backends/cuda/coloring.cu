// Greedy coloring: each vertex gets the least color that no earlier neighbor has. The result is
// that of a loop over the vertices in a given order.
//
// Invariant: however the threads run, no vertex gets a color before all its earlier neighbors have
// theirs. A warp that takes a vertex therefore waits for those neighbors.
#include "hashed_random.cuh"
#include "flags.cuh"
#include "rows.cuh"

namespace graphla {

enum Color { FREE = -1 };            // the color of a vertex that has none yet
constexpr i32 NOBODY = -1;           // marks a free place for a neighbor
constexpr i32 COLORS = WARP * WARP;  // colors of one set: a word of 32 bits per lane
constexpr int HELD = ColoringTuning::held;

/// places_of[k] = places[column of entry k]. Sets the flag of entry k if that vertex comes before
/// the vertex of the entry's row in the order.
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

/// The neighbors of a vertex that one lane holds because they have no color yet.
struct Waiting {
  i32 held[HELD];

  DEVICE Waiting() {
#pragma unroll
    for (int k = 0; k < HELD; ++k) held[k] = NOBODY;
  }

  /// Reads entries p, p + 32, ... of the row into free places.
  DEVICE void fill(const i32 *indices, i64 &p, i64 end) {
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
      if (held[k] != NOBODY || p >= end) continue;
      held[k] = indices[p];
      p += WARP;
    }
  }

  /// Adds the colors that held neighbors have by now to the set of the colors from `base` on, and
  /// frees their places. Sets `some` to a neighbor that remains, and `latest` to the one with the
  /// greatest place. Returns whether a place is free.
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

/// Returns the neighbor whose color the warp waits for next, or NOBODY if none is held. While the
/// row has unread entries (`unread`: the lanes that have some), this is any held neighbor. When it
/// has a color, about half of the held neighbors can be expected to have one. Afterwards it is the
/// latest neighbor.
DEVICE i32 choose_awaited(i32 some, i32 latest, u32 unread) {
  if (unread) return shuffle(some, __ffs(int(unread)) - 1);
  return warp_greatest(latest);
}

/// Collects the colors of all neighbors in the row from `begin` to `end` - 1. The warp polls one
/// neighbor without a color, and reads the others again once that one has a color: if all lanes
/// polled all the time, thousands of waiting warps would take the bandwidth of the L2 cache from
/// the few that work.
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

/// Stores the least color from `base` on that is not in the set. Returns false if the set is full.
DEVICE bool store_least(i32 *color, i32 base, const u32 *set) {
  const u32 left = ~load_relaxed(&set[lane()]);
  const u32 some = __ballot_sync(ALL_LANES, left != 0);
  __syncwarp();
  if (some && lane() == __ffs(int(some)) - 1) {
    store_relaxed(color, base + lane() * WARP + __ffs(int(left)) - 1);
  }
  return some != 0;
}

/// colors[t] = the color of vertex order[t]: the least color that none of its neighbors with places
/// before t has. All are FREE at first. Row v of indptr and indices holds the places of these
/// neighbors only.
///
/// A warp takes the next vertices of the order when it has finished its previous ones. So every
/// vertex that another warp waits for is finished or in progress, and no deadlock is possible.
/// Race: a color is read again until it is set.
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
