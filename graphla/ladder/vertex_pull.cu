// Vertex pull, or bottom-up: a thread for each vertex not yet reached; it looks through its
// in-neighbours until it finds one of the last level.
//
// Algebra  f<!p> = A' f over the boolean semiring: a masked SpMV by columns of A (CSC), where a row
// of
//          the product ends at its first true term, the terminal of `or`.
// A level  reads n levels, and of each vertex that is not reached its offsets, and edges with their
//          neighbours' levels: up to the first of the last level, or all of them where there is
//          none. How many bytes that is hangs on where in its row each vertex finds the first.
// Races    none that matter: a vertex is labelled by its own thread alone. One that reads a level
// as
//          it is stored, or from a cache, sees "not reached" or `depth`, and neither is depth - 1.
// Wins     on the broad middle levels of graphs with hubs, where most vertices have not been
// reached
//          and one of their first in-neighbours has. While the frontier is small nearly all edges
//          are read in vain, and at every level again.
// Source   S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC
// 2012,
//          section III; W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th
//          edition, 2022, section 15.3.
#include "tally.cuh"

namespace graphla {

/// Level `depth` from level depth - 1; *labels grows by how many vertices it has. indptr and
/// indices are those of the columns.
template <class Op, class Offset>
__global__ void vertex_pull(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                            i64 n, i32 depth, i32 *levels, u64 *labels) {
  u64 stored = 0;
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    if (load_cached(&levels[v]) >= 0) continue;  // reached
    const Offset end = indptr[v + 1];
    for (Offset e = indptr[v]; e < end; ++e) {
      if (load_cached(&levels[indices[e]]) != depth - 1) continue;
      store_relaxed(&levels[v], depth);
      ++stored;
      break;
    }
  }
  add_in_block(stored, labels);
}

}  // namespace graphla
