// Frontier queue: a thread for each vertex of the frontier, which is a list; who labels lists.
//
// Algebra  f<!p> = f A over the boolean semiring: SpMSpV, a matrix times a sparse vector, by rows
// of
//          A. The vector is the queue; that each index is in it once is what the claim sees to.
// A level  reads the queue, and offsets, edges and neighbours' levels of the vertices in it; writes
//          a level and a place in the queue for each vertex found. Nothing else of the n is
//          touched. In all at least 12 bytes and two offsets for a vertex reached, 8 bytes for an
//          edge of it.
// Races    threads that find one vertex at a time all ask for its level by compare and swap: one of
//          them gets it, and that one adds the vertex to the next queue. To look before asking
//          would spare atomics for vertices long reached, but a thread waits for a swap no longer
//          than for a look: on an H200 looks cost a fifth on a web graph, save a tenth on a random
//          one, and nothing on a social one.
// Limits   a vertex is claimed once, so that a queue of n places never overflows.
// Wins     on deep graphs with narrow levels (roads, meshes), where a sweep over n would read far
// more
//          than the frontier. Its cost on broad levels: every vertex found adds to one counter, one
//          atomic after another; and vertices come out in any order, so that their rows lie apart.
// Source   L. Luo, M. Wong, W. Hwu, An Effective GPU Implementation of Breadth-First Search, DAC
//          2010; W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th
//          edition, 2022, section 15.5.
#include "device.cuh"

namespace graphla {

/// Level `depth` from the list `frontier` of level depth - 1: its vertices, and how many.
template <class Op, class Offset>
__global__ void frontier_queue(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                               const i32 *__restrict__ frontier, i64 count, i32 depth, i32 *levels,
                               i32 *next, u64 *next_count) {
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    const i32 v = frontier[k];
    const Offset end = indptr[v + 1];
    for (Offset e = indptr[v]; e < end; ++e) {
      const i32 w = indices[e];
      if (atomicCAS(&levels[w], -1, depth) >= 0) continue;  // reached, or another's
      next[atomicAdd(next_count, u64(1))] = w;
    }
  }
}

}  // namespace graphla
