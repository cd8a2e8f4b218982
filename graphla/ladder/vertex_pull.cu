// Vertex pull, or bottom-up: each unreached vertex has a thread, which searches the in-neighbors of
// the vertex until it finds one in the last level.
//
// Algebra  With frontier f and reached vertices p: f<!p> = A' f over the Boolean semiring: a masked
//          SpMV by columns of A (CSC), in which each dot product stops at its first true term,
//          because true is the terminal value of `or`.
// A level  reads the levels of all n vertices and, for each unreached vertex, its offsets, its
//          edges and its neighbors' levels. It reads edges up to the first neighbor in the last
//          level, or all edges if none of the neighbors is in that level. The number of bytes
//          depends on the position of this neighbor.
// Races    are harmless: each vertex is labeled only by its own thread. While this thread stores a
//          level, another thread may read it, possibly from a cache. The other thread then reads
//          "unreached" or `depth`, and neither of them is the last level, depth - 1.
// Wins     on the broad middle levels of graphs with hubs, where most vertices are unreached and
//          have a vertex of the frontier among their first in-neighbors. While the frontier is
//          small, nearly all edges are read at every level, most of them without a hit.
// Source   S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC
//          2012, section III; W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel
//          Processors, 4th edition, 2022, section 15.3.
#include "tally.cuh"

namespace graphla {

/// Computes level `depth` from level depth - 1, and adds the number of its vertices to the
/// counter *labels. The arrays `indptr` and `indices` describe the columns of A.
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
