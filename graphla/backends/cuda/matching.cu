// Finds a maximal matching in rounds. In each round, an edge joins the matching if it is the best
// remaining edge at both of its endpoints.
//
// The edges are totally ordered, so no two edges are equally good. The result is the matching that
// a loop over the edges from the best to the worst would find. It does not depend on the schedule
// of the threads.
#include "collectives.cuh"
#include "hashed_random.cuh"

namespace graphla {

/// Values of `mates` for a vertex without a mate. FREE: the vertex may still get a mate. NONE: it
/// stays without a mate.
enum Mate { FREE = -1, NONE = -2 };

/// An edge from a vertex to its neighbor j. The edge with the greater value is better. If two
/// values are equal, the edge with the greater random number is better. If the random numbers are
/// equal too, the edge with the smaller j is better.
template <class Value> struct Edge {
  Value value;
  u64 number;  // a random number, computed from the words of both endpoints of the edge
  i32 j;
  DEVICE void meet(const Edge &other) {
    if (other.j == NONE) return;
    if (j == NONE || other.value > value ||
        (other.value == value &&
         (other.number > number || (other.number == number && other.j < j)))) {
      *this = other;
    }
  }
  /// Replaces the edge of lane 0 with the best among the edges of all lanes of the warp.
  DEVICE void meet_lanes() {
    for (int apart = WARP / 2; apart; apart /= 2) {
      Edge other;
      other.value = shuffle_down(value, apart);
      other.number = shuffle_down(number, apart);
      other.j = shuffle_down(j, apart);
      meet(other);
    }
  }
};

/// For each vertex v in the array `list`, considers the edges from v to free neighbors. Sets
/// wanted[v] to the neighbor on the best of these edges, or to NONE if no neighbor is free. Does
/// not change wanted[v] if it already is a free vertex. Each row is read by one block if IS_WIDE is
/// true, otherwise by one warp.
template <class Op, class Offset, class Stored, int KEPT, bool IS_WIDE>
__global__ void __launch_bounds__(MatchingTuning::block)
    choose_mates(Csr<Offset, Stored> a, const u64 *__restrict__ words, const i32 *__restrict__ list,
                 i64 count, const i32 *mates, i32 *wanted) {
  const i32 *__restrict__ indices = a.indices;
  const Values<Stored, Stored, KEPT> weight(a.values);
  SHARED(Edge<Stored>, found, MatchingTuning::block / WARP);
  const int threads = IS_WIDE ? int(blockDim.x) : WARP;
  const int thread = IS_WIDE ? int(threadIdx.x) : lane();
  const i64 groups = threads_in_grid() / threads;
  for (i64 k = thread_in_grid() / threads; k < count; k += groups) {
    const i32 v = list[k], before = wanted[v];
    // All threads of a group (a warp or a block) read the same values here, so either all of them
    // skip the vertex or none does.
    if (before >= 0 && mates[before] == FREE) continue;
    Edge<Stored> best = {Stored(0), 0, NONE};
    const u64 word = words[v];
    const i64 end = a.end(v);
    for (i64 p = a.begin(v) + thread; p < end; p += threads) {
      const i32 j = indices[p];
      if (j == v || mates[j] != FREE) continue;
      best.meet({weight[p], mix(word + words[j]), j});
    }
    best.meet_lanes();
    if constexpr (IS_WIDE) {
      if (lane() == 0) found[warp_in_block()] = best;
      __syncthreads();
      if (thread == 0) {
        for (int w = 1; w < threads / WARP; ++w) best.meet(found[w]);
      }
    } else {
      __syncwarp();  // wait until all lanes have read wanted[v]
    }
    if (thread == 0) wanted[v] = best.j;
    if constexpr (IS_WIDE) __syncthreads();
  }
}

/// For each vertex v in the array `list`, wanted[v] is the neighbor that v wants as its mate, or
/// NONE. If two vertices want each other, each becomes the mate of the other. If v wants a neighbor
/// that does not want v, v is listed for the next round: in the array `rest_wide` if its row has
/// more than `wide` entries, otherwise in the array `rest`.
template <class Op, class Offset>
__global__ void pair_up(const Offset *__restrict__ indptr, const i32 *__restrict__ list, i64 count,
                        const i32 *__restrict__ wanted, i64 wide, i32 *mates, i32 *rest,
                        i32 *rest_wide, i32 *counts) {
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
