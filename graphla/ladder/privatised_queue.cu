// Privatized queue: each block has a queue in shared memory, which it copies into the global queue.
//
// Algebra  With frontier f and reached vertices p: f<!p> = f A over the Boolean semiring: SpMSpV by
//          rows of A, as in the frontier queue; the only difference is how the entries of the
//          result are gathered.
// A level  reads and writes the same data as a frontier queue, but updates the global counter once
//          per block, not once per vertex. A counter in shared memory gives each vertex its
//          position, and the block reserves a range of the global queue for all its vertices. The
//          copy into this range is coalesced.
// Races    as in the frontier queue: of all threads that find a vertex, one claims it by compare
//          and swap.
// Limits   A vertex that does not fit in the block's queue (ROOM entries) goes directly to the
//          global queue. That queue has n entries, and no vertex is claimed twice.
// Wins     on broad levels, where all threads of the GPU would wait for the single counter of the
//          frontier queue. On narrow levels, the time for the additional barriers cancels the gain.
// Source   L. Luo, M. Wong, W. Hwu, An Effective GPU Implementation of Breadth-First Search, DAC
//          2010; W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th
//          edition, 2022, section 15.6.
#include "device.cuh"

namespace graphla {

/// Lists and counts the vertices of level `depth`, given the list `frontier` of the vertices
/// of level depth - 1.
template <class Op, class Offset, int ROOM>
__global__ void privatised_queue(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                                 const i32 *__restrict__ frontier, i64 count, i32 depth,
                                 i32 *levels, i32 *next, u64 *next_count) {
  SHARED(i32, queue, ROOM);
  // The number of positions in the block's queue that threads have requested. Only the first ROOM
  // of these positions exist.
  SHARED(u32, asked, 1);
  SHARED(u64, first, 1);  // start of the block's range in the global queue
  if (threadIdx.x == 0) asked[0] = 0;
  __syncthreads();

  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    const i32 v = frontier[k];
    const Offset end = indptr[v + 1];
    for (Offset e = indptr[v]; e < end; ++e) {
      const i32 w = indices[e];
      if (atomicCAS(&levels[w], -1, depth) >= 0) continue;  // w was already reached or claimed
      const u32 place = atomicAdd(asked, 1u);
      if (place < ROOM) queue[place] = w;
      else next[atomicAdd(next_count, u64(1))] = w;
    }
  }

  __syncthreads();
  const u32 held = least(asked[0], u32(ROOM));
  if (threadIdx.x == 0) first[0] = atomicAdd(next_count, u64(held));
  __syncthreads();
  for (u32 k = threadIdx.x; k < held; k += blockDim.x) next[first[0] + k] = queue[k];
}

}  // namespace graphla
