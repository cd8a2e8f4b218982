// Vertex pull, or bottom-up: a thread for each vertex not yet reached; it looks through its
// in-neighbours until it finds one of the last level.
//
// Algebra  f<!p> = A' f over the boolean semiring: a masked SpMV by columns of A (CSC), where a row of
//          the product ends at its first true term, the terminal of `or`.
// A level  reads n levels, and of each vertex that is not reached its offsets, and edges with their
//          neighbours' levels: up to the first of the last level, or all of them where there is none.
//          How many bytes that is hangs on where in its row each vertex finds the first.
// Races    none that matter: a vertex is labelled by its own thread alone. One that reads a level as
//          it is stored, or from a cache, sees "not reached" or `depth`, and neither is depth - 1.
// Wins     on the broad middle levels of graphs with hubs, where most vertices have not been reached
//          and one of their first in-neighbours has. While the frontier is small nearly all edges are
//          read in vain, and at every level again.
// Source   S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012,
//          section III; W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th
//          edition, 2022, section 15.3.
#include "device.cuh"

namespace graphla {

/// Whether one of the in-neighbours has this level.
template <class Offset>
DEVICE bool has_neighbour_at(const i32 *levels, i32 level, const i32 *__restrict__ indices, Offset begin,
                             Offset end) {
  for (Offset e = begin; e < end; ++e) {
    if (load_cached(&levels[indices[e]]) == level) return true;
  }
  return false;
}

/// Level `depth` from level depth - 1; *found becomes 1 where it has a vertex. indptr and indices are
/// those of the columns.
template <class Op, class Offset>
__global__ void vertex_pull(const Offset *__restrict__ indptr, const i32 *__restrict__ indices, i64 n,
                            i32 depth, i32 *levels, i64 *found) {
  bool is_new = false;
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    if (load_cached(&levels[v]) >= 0) continue;  // reached
    if (!has_neighbour_at(levels, depth - 1, indices, indptr[v], indptr[v + 1])) continue;
    store_relaxed(&levels[v], depth);
    is_new = true;
  }
  if (__syncthreads_or(is_new) && threadIdx.x == 0) store_relaxed(found, i64(1));
}

}  // namespace graphla
