// Frontier queue: the frontier is a list, and each of its vertices has a thread. A thread that
// labels a vertex appends it to the next list.
//
// Algebra  With frontier f and reached vertices p: f<!p> = f A over the Boolean semiring: SpMSpV, a
//          matrix times a sparse vector, by rows of A. The queue stores the vector. Vertices are
//          claimed, so that each index occurs once.
// A level  reads the queue, and the offsets, edges and neighbors' levels of the vertices in it. It
//          writes a level and a queue entry for each vertex found. It does not access data of other
//          vertices. A search moves at least 12 bytes and two offsets for each reached vertex, and
//          8 bytes for each edge out of it.
// Races    Threads that find a vertex at the same time all try to claim its level by compare and
//          swap. One thread succeeds, and adds the vertex to the next queue. Reading the level
//          first would save atomics for vertices reached earlier, but a swap takes no longer than
//          the read: on an H200, such reads make a search 20 % slower on a web graph and 10 %
//          faster on a random graph, and make no difference on a social network.
// Limits   Each vertex is claimed at most once, so a queue with n entries never overflows.
// Wins     on deep graphs with narrow levels (roads, meshes), where a sweep over all n vertices
//          would read far more than the frontier. Broad levels cost more: all threads increment the
//          same counter, and its atomics are serialized. Vertices are listed in no particular
//          order, so their rows are scattered in memory.
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
      if (atomicCAS(&levels[w], -1, depth) >= 0) continue;  // w was already reached or claimed
      next[atomicAdd(next_count, u64(1))] = w;
    }
  }
}

}  // namespace graphla
