// Shortest paths from one source, edge by edge: each edge tests whether it improves its target.
//
// Algebra  d = d min (d min.+ A) until no distance decreases: Bellman-Ford, as an SpMV over blocked
//          COO.
// Layout   as in edge_tuned.cu, plus a weight per edge. A distance takes four or eight bytes,
//          whereas a level takes one byte. The largest value means "no distance".
// A round  reads every edge, its weight, and the distances of both ends: at least (8 m + 4 n) bytes
//          in 32 bits. A distance that decreases in a round may be read in the same round.
// Races    Distances are lowered with an atomic minimum. A distance read from a cache may be the
//          one at the start of the kernel, and thus too large. But the thread that lowered the
//          distance has requested another round. In the last round no distance is lowered, so all
//          distances read in it are current.
// Limits   Two errors are reported: a sum is less than the smallest value of the dtype, or all sums
//          for a vertex are greater than the largest value. Weights may be negative. With a
//          negative cycle the rounds would never end, so the host checks for such a cycle from time
//          to time.
// Wins     on broad graphs that need few rounds. On other graphs, graphla.algorithms.sssp, which
//          processes near vertices first, is faster.
// Source   L. R. Ford, Network flow theory, 1956; R. Bellman, On a routing problem, 1958.
#include "atomics.cuh"
#include "edges.cuh"

namespace graphla {

/// Indices of the flags in the array `told`, which a round sets. IMPROVED: a distance improved.
/// SANK: the sum of a distance and a weight was below the smallest value of the dtype. LOST: such a
/// sum was too large for the dtype, and the target had no distance yet.
enum { IMPROVED = 0, SANK = 1, LOST = 2 };

/// The distances, with the operations that depend on their dtype.
template <class Distance> struct Distances {
  Distance *at;
  i64 *told;

  DEVICE static Distance none() {
    if constexpr (is_same<Distance, float>::value) return __int_as_float(0x7f800000);
    else if constexpr (is_float<Distance>::value) return __longlong_as_double(0x7ffll << 52);
    else return Distance((u64(1) << (8 * sizeof(Distance) - 1)) - 1);
  }

  DEVICE void lower(i32 v, Distance d) const {
    if constexpr (is_float<Distance>::value)
      atomic_replace(&at[v], [d](Distance old) { return d < old ? d : old; });
    else atomicMin(&at[v], d);
  }

  /// Relaxes an edge with weight w into v from a vertex at distance d. Returns whether the distance
  /// of v decreased.
  DEVICE bool relax(Distance d, Distance w, i32 v) const {
    if (d == none()) return false;
    Distance sum;
    bool rose = false, sank = false;
    if constexpr (is_float<Distance>::value) {
      sum = d + w;
      rose = sum == none(), sank = sum == -none();
    } else {
      sum = Distance(u64(d) + u64(w));
      const bool wraps = ((d ^ sum) & (w ^ sum)) < 0;
      rose = (wraps && w > 0) || sum == none(), sank = wraps && w < 0;
    }
    if (sank) store_relaxed(&told[SANK], i64(1));
    const Distance to = load_cached(&at[v]);
    if (rose && to == none()) store_relaxed(&told[LOST], i64(1));
    if (rose || sank || !(sum < to)) return false;
    lower(v, sum);
    return true;
  }
};

/// Runs one round: each edge tests whether it improves the distance of its target. The array `told`
/// receives the flags IMPROVED, SANK and LOST.
template <class Op, class Distance, class Edge, bool BOTH>
__global__ void edge_paths(const Edge *__restrict__ edges, const i64 *__restrict__ starts,
                           const u64 *__restrict__ corners, const Distance *__restrict__ weights,
                           i64 chunks, Distance *distances, i64 *told) {
  const Distances<Distance> all{distances, told};
  bool improved = false;
  const Run run(chunks);
  for (i64 c = run.begin + warp_in_block(); c < run.end; c += blockDim.x / WARP) {
    const Square square(corners[c]);
    for (i64 e = starts[c] + lane(), end = starts[c + 1]; e < end; e += WARP) {
      const Edge edge = load_once(&edges[e]);
      const Distance w = load_once(&weights[e]);
      const i32 u = square.row + i32(source_of(edge)), v = square.column + i32(target_of(edge));
      improved |= all.relax(load_cached(&distances[u]), w, v);
      if (BOTH) improved |= all.relax(load_cached(&distances[v]), w, u);
    }
  }
  if (__syncthreads_or(improved) && threadIdx.x == 0) store_relaxed(&told[IMPROVED], i64(1));
}

}  // namespace graphla
