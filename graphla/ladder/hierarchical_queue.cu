// Hierarchical queue: the queues of groups of lanes are merged into the block's queue, and the
// queues of all blocks are merged into the global queue.
//
// Algebra  With frontier f and reached vertices p: f<!p> = f A over the Boolean semiring: SpMSpV by
//          rows of A, as in the frontier queue; the only difference is how the entries of the
//          result are gathered.
// A level  reads and writes the same data as a privatized queue, but the threads of a block share
//          GROUPS counters instead of one. Adjacent lanes find vertices at the same time, so a
//          thread's group is its index modulo GROUPS, which spreads these lanes over all counters.
// Races    as in the frontier queue: of all threads that find a vertex, one claims it by compare
//          and swap.
// Limits   Each stage may overflow. A vertex that does not fit in its group's queue (ROOM entries)
//          goes directly to the block's queue. A vertex that does not fit in the block's queue
//          (BLOCK_ROOM entries) goes to the global queue. That queue has n entries, and no vertex
//          is claimed twice.
// Wins     where atomics in shared memory are slow, or where many lanes of a warp find vertices at
//          the same time. If the GPU combines the atomics of a warp in hardware, the hierarchy
//          saves less time, and its additional merge costs time.
// Source   L. Luo, M. Wong, W. Hwu, An Effective GPU Implementation of Breadth-First Search, DAC
//          2010, section 4 (warp, block and grid level queues).
#include "device.cuh"

namespace graphla {

/// Lists and counts the vertices of level `depth`, from the list `frontier` of level depth - 1.
template <class Op, class Offset, int GROUPS, int ROOM, int BLOCK_ROOM>
__global__ void hierarchical_queue(const Offset *__restrict__ indptr,
                                   const i32 *__restrict__ indices,
                                   const i32 *__restrict__ frontier, i64 count, i32 depth,
                                   i32 *levels, i32 *next, u64 *next_count) {
  SHARED(i32, groups, GROUPS * ROOM);
  SHARED(i32, queue, BLOCK_ROOM);
  // asked[g] is the number of vertices that were to be appended to the queue of group g, including
  // those that did not fit. asked[GROUPS] is the same number for the block's queue.
  SHARED(u32, asked, GROUPS + 1);
  SHARED(u64, first, 1);  // start of the block's range in the global queue
  const u32 group = threadIdx.x % GROUPS;
  for (u32 k = threadIdx.x; k <= GROUPS; k += blockDim.x) asked[k] = 0;
  __syncthreads();

  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    const i32 v = frontier[k];
    const Offset end = indptr[v + 1];
    for (Offset e = indptr[v]; e < end; ++e) {
      const i32 w = indices[e];
      if (atomicCAS(&levels[w], -1, depth) >= 0) continue;  // w already has a level
      const u32 place = atomicAdd(&asked[group], 1u);
      if (place < ROOM) {
        groups[group * ROOM + place] = w;
        continue;
      }
      const u32 further = atomicAdd(&asked[GROUPS], 1u);
      if (further < BLOCK_ROOM) queue[further] = w;
      else next[atomicAdd(next_count, u64(1))] = w;
    }
  }

  // Append the vertices in the queues of the groups to the block's queue. Vertices that do not fit
  // there go to the global queue.
  __syncthreads();
  u32 held = least(asked[GROUPS], u32(BLOCK_ROOM)), begin = 0, length = 0;
  for (u32 g = 0; g < GROUPS; ++g) {
    const u32 more = least(asked[g], u32(ROOM));
    if (g == group) begin = held, length = more;
    held += more;
  }
  if (threadIdx.x == 0) first[0] = atomicAdd(next_count, u64(held));
  __syncthreads();
  for (u32 k = threadIdx.x / GROUPS; k < length; k += blockDim.x / GROUPS) {
    const i32 w = groups[group * ROOM + k];
    if (begin + k < BLOCK_ROOM) queue[begin + k] = w;
    else next[first[0] + begin + k] = w;
  }
  __syncthreads();
  for (u32 k = threadIdx.x; k < least(held, u32(BLOCK_ROOM)); k += blockDim.x)
    next[first[0] + k] = queue[k];
}

}  // namespace graphla
