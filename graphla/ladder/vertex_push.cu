// Vertex push, or top-down: a thread for each vertex; those of the last level label their
// neighbours.
//
// Algebra  f<!p> = f A over the boolean semiring: a masked SpMV by rows of A with a dense frontier.
//          The frontier is not a list: a vertex is in it where its level says so.
// A level  reads n levels, and offsets, edges and neighbours' levels of the vertices in the
// frontier.
//          In all at least 4 n bytes a level, 4 and two offsets for a vertex reached, 8 for an edge
//          of it.
// Races    two threads may label one vertex at a time, both with the same depth: whichever store
//          comes last changes nothing, so that no atomic is needed (an idempotent store). A level
//          read from a cache may be what it was when the kernel began: then one more label is
//          stored.
// Wins     on few, broad levels of small degrees. Deep graphs pay n reads for each of their levels,
//          and one hub keeps a thread busy while 31 lanes beside it wait.
// Source   P. Harish, P. J. Narayanan, Accelerating Large Graph Algorithms on the GPU Using CUDA,
//          HiPC 2007; W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th
//          edition, 2022, section 15.3.
#include "tally.cuh"

namespace graphla {

/// Level `depth` from level depth - 1. *labels grows by how many were stored: as many as the level
/// has vertices or, where threads labelled one at a time, more.
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
