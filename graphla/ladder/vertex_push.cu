// Vertex push, or top-down: one thread per vertex. Vertices of the last level label their
// neighbors.
//
// Algebra  With frontier f and reached vertices p: f<!p> = f A over the Boolean semiring: a masked
//          SpMV by rows of A with a dense frontier. The frontier is not stored as a list: the level
//          of a vertex shows whether it is in the frontier.
// A level  reads the levels of all n vertices, and the offsets, edges and neighbors' levels of the
//          vertices in the frontier. A search moves at least 4 n bytes per level, 4 bytes and two
//          offsets for each reached vertex, and 8 bytes for each edge out of it.
// Races    Two threads may label a vertex at the same time, both with the same depth. The order of
//          the stores does not matter, so no atomic is needed (an idempotent store). The level of a
//          vertex may be read from a cache, and may then be the level that the vertex had when the
//          kernel started. The only effect is that a vertex may be labeled again.
// Wins     on graphs with few, broad levels and small degrees. On deep graphs, each of the many
//          launches reads the levels of all n vertices. One hub keeps a thread busy while the 31
//          other lanes wait.
// Source   P. Harish, P. J. Narayanan, Accelerating Large Graph Algorithms on the GPU Using CUDA,
//          HiPC 2007; W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th
//          edition, 2022, section 15.3.
#include "tally.cuh"

namespace graphla {

/// Computes level `depth` from level depth - 1, and adds the number of stored labels to *labels.
/// This number exceeds the number of vertices of the level if several threads labeled the same
/// vertex.
template <class Op, class Offset>
__global__ void vertex_push(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                            i64 n, i32 depth, i32 *levels, u64 *labels) {
  u64 stored = 0;
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    if (load_cached(&levels[v]) != depth - 1) continue;
    const Offset end = indptr[v + 1];
    for (Offset e = indptr[v]; e < end; ++e) {
      const i32 w = indices[e];
      if (load_cached(&levels[w]) >= 0) continue;  // reached
      store_relaxed(&levels[w], depth);
      ++stored;
    }
  }
  add_in_block(stored, labels);
}

}  // namespace graphla
