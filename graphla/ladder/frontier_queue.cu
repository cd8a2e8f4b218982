// Frontier queue: a thread per vertex of the frontier, which is a list; a thread that labels a
// vertex appends it to the next list.
//
// Algebra  f<!p> = f A over the Boolean semiring: SpMSpV, a matrix times a sparse vector, by rows
//          of A. The queue is the vector; the claim ensures that it contains each index once.
// A level  reads the queue, and the offsets, edges and neighbors' levels of its vertices; it writes
//          a level and a queue entry for each vertex found, and accesses no data of other vertices.
//          A search moves at least 12 bytes and two offsets per reached vertex, and 8 bytes per
//          edge of it.
// Races    Threads that find a vertex at the same time all claim its level by compare and swap. One
//          succeeds, and adds the vertex to the next queue. Reading the level first would save
//          atomics for vertices reached long before, but a swap takes no longer than the read: on
//          an H200 such reads make a search slower by a fifth on a web graph, faster by a tenth on
//          a random graph, and neither on a social network.
// Limits   A vertex is claimed once, so a queue of n entries never overflows.
// Wins     on deep graphs with narrow levels (roads, meshes), where a sweep over n would read far
//          more than the frontier. Broad levels cost more: every vertex found increments one
//          counter, one atomic after another, and vertices are listed in any order, so that their
//          rows are scattered.
// Source   L. Luo, M. Wong, W. Hwu, An Effective GPU Implementation of Breadth-First Search, DAC
//          2010; W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th
//          edition, 2022, section 15.5.
#include "device.cuh"

namespace graphla {

/// Lists and counts the vertices of level `depth`, from the list `frontier` of level depth - 1.
template <class Op, class Offset>
__global__ void frontier_queue(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                               const i32 *__restrict__ frontier, i64 count, i32 depth, i32 *levels,
                               i32 *next, u64 *next_count) {
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    const i32 v = frontier[k];
    const Offset end = indptr[v + 1];
    for (Offset e = indptr[v]; e < end; ++e) {
      const i32 w = indices[e];
      if (atomicCAS(&levels[w], -1, depth) >= 0) continue;  // reached before, or claimed by another
      next[atomicAdd(next_count, u64(1))] = w;
    }
  }
}

}  // namespace graphla
