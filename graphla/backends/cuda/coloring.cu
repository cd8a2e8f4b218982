// Colours taken in order, and mates of the dearest edges.
//
// Both are what a loop over one order of all vertices, or edges, comes to, however the threads run:
// nobody decides before all that come before it and touch it have.
#include "hashed_random.cuh"
#include "flags.cuh"
#include "rows.cuh"

namespace graphla {

constexpr i32 FREE = -1, NONE = -2;  // of loops/sets.py
constexpr int COLOUR_BLOCK = 256;
constexpr u64 ALONE = 1 << 16;  // the first vertices of the order, with the longest rows, go singly
constexpr int TOGETHER = 4;     // number of other vertices that a warp takes at a time
constexpr int HELD = 8;         // neighbors without a color that a lane can hold
constexpr int NAP = 20;         // nanoseconds between two reads of an awaited color
constexpr i32 NOBODY = -1;      // marks a free place for a neighbor

/// places_of[k] = places[column of entry k]. Sets the flag of entry k if that vertex comes before the
/// vertex of the entry's row in the order.
template <class Op, class Offset>
__global__ void flag_earlier(
    const Offset *__restrict__ indptr, i64 nrows, const i32 *__restrict__ indices, const i32 *__restrict__ places,
    i32 *__restrict__ places_of, u32 *bits, i64 *counts, i64 words, i64 count) {
  SHARED(i64, span, 2);
  each_entry<BY_ROWS, true>(indptr, nrows, indices, count, words * WARP, span, [&](i64 k, i64 i, i64 j) {
    const i32 place = k < count ? places[j] : 0;
    if (k < count) places_of[k] = place;
    put_flags(bits, counts, words, k, k < count && place < places[i]);
  });
}

/// colours[t] = the color of vertex order[t]: the least color that none of its neighbors with places
/// before t has. All are FREE at first. Row v of indptr and indices holds the places of these neighbors
/// only.
///
/// A warp takes the next vertices of the order when it has finished its previous ones. So every vertex
/// that another warp waits for is finished or in progress, and no deadlock is possible. A lane holds up
/// to HELD places without a color and reads on. Then the warp polls one of these places, and reads the
/// others again once that one has a color. If all lanes polled all the time, thousands of waiting warps
/// would take the bandwidth of the L2 cache from the few that work.
/// Race: a color is read again until it is set.
template <class Op, class Offset>
__global__ void __launch_bounds__(COLOUR_BLOCK) colour_in_order(
    const Offset *__restrict__ indptr, const i32 *__restrict__ indices, const i32 *__restrict__ order,
    i64 n, i32 *colours, u64 *taken) {
  SHARED(u32, sets, COLOUR_BLOCK);
  u32 *const set = sets + warp_in_block() * WARP;  // a bit for each of 1,024 colours
  for (;;) {
    u64 ticket = 0;
    if (lane() == 0) ticket = atomicAdd(taken, u64(1));
    ticket = shuffle(ticket, 0);
    const i64 first = i64(ticket < ALONE ? ticket : ALONE + (ticket - ALONE) * TOGETHER);
    if (first >= n) return;
    const i64 last = least(n, first + (ticket < ALONE ? 1 : TOGETHER));
    for (i64 t = first; t < last; ++t) {
      const i32 v = order[t];
      const i64 begin = i64(indptr[v]), end = i64(indptr[v + 1]);
      for (i32 base = 0;; base += WARP * WARP) {
        set[lane()] = 0;
        __syncwarp();
        i32 held[HELD];
#pragma unroll
        for (int k = 0; k < HELD; ++k) held[k] = NOBODY;
        i64 p = begin + lane();
        for (;;) {
          i32 colour[HELD], some = NOBODY, latest = NOBODY;
          bool may_read = false;
#pragma unroll
          for (int k = 0; k < HELD; ++k) {
            if (held[k] != NOBODY || p >= end) continue;
            held[k] = indices[p];
            p += WARP;
          }
#pragma unroll
          for (int k = 0; k < HELD; ++k) colour[k] = held[k] == NOBODY ? FREE : load_relaxed(&colours[held[k]]);
#pragma unroll
          for (int k = 0; k < HELD; ++k) {
            if (colour[k] != FREE) {
              const i32 bit = colour[k] - base;
              if (bit >= 0 && bit < WARP * WARP) atomicOr(&set[bit / WARP], 1u << (bit % WARP));
              held[k] = NOBODY;
            }
            may_read |= held[k] == NOBODY;
            if (held[k] != NOBODY) some = held[k];
            latest = greatest(latest, held[k]);
          }
          const u32 unread = __ballot_sync(ALL_LANES, p < end);
          if (__any_sync(ALL_LANES, may_read && p < end)) continue;
          // While entries of the row are unread, wait for any held place: about half of the held places
          // can be expected to have a color when that one has. Then wait for the latest place.
          i32 awaited = shuffle(some, unread ? __ffs(int(unread)) - 1 : 0);
          if (!unread) {
            for (int apart = WARP / 2; apart; apart /= 2) latest = greatest(latest, __shfl_xor_sync(ALL_LANES, latest, apart));
            awaited = latest;
          }
          if (awaited == NOBODY) break;
          if (lane() == 0) {
            while (load_relaxed(&colours[awaited]) == FREE) __nanosleep(NAP);
          }
          __syncwarp();
        }
        __syncwarp();
        const u32 left = ~load_relaxed(&set[lane()]);
        const u32 some = __ballot_sync(ALL_LANES, left != 0);
        __syncwarp();
        if (!some) continue;
        if (lane() == __ffs(int(some)) - 1) {
          store_relaxed(&colours[t], base + lane() * WARP + __ffs(int(left)) - 1);
        }
        break;
      }
      __syncwarp();
    }
  }
}

/// An edge to j, of a value and a number; of edges equal in both that to the lesser j is dearer.
template <class Value> struct Edge {
  Value value;
  u64 number;
  i32 j;
  DEVICE void meet(const Edge &other) {
    if (other.j == NONE) return;
    if (j == NONE || other.value > value ||
        (other.value == value &&
         (other.number > number || (other.number == number && other.j < j)))) {
      *this = other;
    }
  }
};

/// wanted[v] = the free neighbour on the dearest edge of v, NONE if none is free: for each of `count`
/// vertices of a list who wanted nobody yet, or somebody who is free no more. A warp for each, or a
/// block if IS_WIDE.
template <class Op, class Offset, class Stored, int KEPT, bool IS_WIDE>
__global__ void __launch_bounds__(COLOUR_BLOCK) want_dearest(
    const Offset *__restrict__ indptr, const i32 *__restrict__ indices, const Stored *values,
    const u64 *__restrict__ words, const i32 *__restrict__ list, i64 count, const i32 *mates,
    i32 *wanted) {
  const Values<Stored, Stored, KEPT> weight(values);
  SHARED(Edge<Stored>, found, COLOUR_BLOCK / WARP);
  const int threads = IS_WIDE ? int(blockDim.x) : WARP;
  const int thread = IS_WIDE ? int(threadIdx.x) : lane();
  const i64 groups = threads_in_grid() / threads;
  for (i64 k = thread_in_grid() / threads; k < count; k += groups) {
    const i32 v = list[k], before = wanted[v];
    if (before >= 0 && mates[before] == FREE) continue;  // alike for all threads of the group
    Edge<Stored> best = {Stored(0), 0, NONE};
    const u64 word = words[v];
    const i64 end = i64(indptr[v + 1]);
    for (i64 p = i64(indptr[v]) + thread; p < end; p += threads) {
      const i32 j = indices[p];
      if (j == v || mates[j] != FREE) continue;
      best.meet({weight[p], mix(word + words[j]), j});
    }
    for (int apart = WARP / 2; apart; apart /= 2) {
      Edge<Stored> other;
      other.value = shuffle_down(best.value, apart);
      other.number = shuffle_down(best.number, apart);
      other.j = shuffle_down(best.j, apart);
      best.meet(other);
    }
    if constexpr (IS_WIDE) {
      if (lane() == 0) found[warp_in_block()] = best;
      __syncthreads();
      if (thread == 0) {
        for (int w = 1; w < threads / WARP; ++w) best.meet(found[w]);
      }
    } else {
      __syncwarp();  // all have read who was wanted before
    }
    if (thread == 0) wanted[v] = best.j;
    if constexpr (IS_WIDE) __syncthreads();
  }
}

/// Two of a list who want each other are mates; who wants somebody in vain stays, in `rest`, or, if
/// the row is longer than `wide`, in `rest_wide`.
template <class Op, class Offset>
__global__ void pair_up(
    const Offset *__restrict__ indptr, const i32 *__restrict__ list, i64 count,
    const i32 *__restrict__ wanted, i64 wide, i32 *mates, i32 *rest, i32 *rest_wide, i32 *counts) {
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    const i32 v = list[k], u = wanted[v];
    const bool is_pair = u >= 0 && wanted[u] == v, stays = u >= 0 && !is_pair;
    if (is_pair) mates[v] = u;
    if (u < 0) mates[v] = NONE;
    const bool is_wide = i64(indptr[v + 1]) - i64(indptr[v]) > wide;
    const i32 narrow_place = claim(&counts[0], stays && !is_wide);
    const i32 wide_place = claim(&counts[1], stays && is_wide);
    if (stays && is_wide) rest_wide[wide_place] = v;
    else if (stays) rest[narrow_place] = v;
  }
}

}  // namespace graphla
