// Small frontier: one block runs several levels by itself, as long as the frontier fits in its
// queue.
//
// Algebra  With frontier f and reached vertices p: f<!p> = f A over the Boolean semiring until f is
//          empty: the loop is inside the kernel.
// A level  reads the same data as a level of the frontier queue, but the queue is in shared memory.
//          A level ends at a barrier of the block (0.05 us). Until the frontier is empty or too
//          large, no level needs a launch or a read by the host (about 20 us). A search moves at
//          least 4 bytes and two offsets for each reached vertex, and 8 bytes for each edge out of
//          it.
// Handover The block stops only after a complete level. It then copies the first ROOM vertices of
//          this level from shared memory to the queue in device memory. The threads that found
//          further vertices have already written them to that queue. The host continues with the
//          privatized queue, and uses this kernel again when a level fits in shared memory.
// Races    as in the frontier queue: of all threads that find a vertex, one claims it by compare
//          and swap.
// Limits   The queue in device memory has n entries, and no vertex is claimed twice. One launch
//          runs up to `most` levels; the host handles Ctrl-C between launches.
// Wins     on deep graphs with narrow levels, where it saves the cost of launches. But only one of
//          many multiprocessors works. If a level has more vertices than the block has threads,
//          a kernel on all multiprocessors would be faster.
// Source   L. Luo, M. Wong, W. Hwu, An Effective GPU Implementation of Breadth-First Search, DAC
//          2010, section 4.3; W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel
//          Processors, 4th edition, 2022, section 15.7.
#include "device.cuh"

namespace graphla {

/// Computes the levels from `depth` on. `frontier` lists the vertices of level depth - 1, at most
/// ROOM of them. Computes at most `most` levels, and stops after a level that is empty or has more
/// than ROOM vertices. Writes the vertices of the last computed level to `next`. Sets told[0] to
/// the number of these vertices, and told[1] to the number of computed levels.
template <class Op, class Offset, int ROOM>
__global__ void small_frontier(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                               const i32 *__restrict__ frontier, i64 count, i32 depth, i32 most,
                               i32 *levels, i32 *next, i64 *told) {
  SHARED(i32, queues, 2 * ROOM);
  // Three counters of vertices, which the levels use round-robin. One counter counts the vertices
  // of the level that is being computed. Another is set to 0 for the next level. The third still
  // holds the number of vertices of the previous level, which slow threads may not have read yet.
  SHARED(u32, asked, 3);
  i32 *front = queues, *after = queues + ROOM;
  u32 size = u32(count);
  for (u32 k = threadIdx.x; k < size; k += blockDim.x) front[k] = frontier[k];
  if (threadIdx.x < 3) asked[threadIdx.x] = 0;
  __syncthreads();

  i32 level = 0;
  do {
    u32 *const places = &asked[level % 3];
    if (threadIdx.x == 0) asked[(level + 1) % 3] = 0;
    for (u32 k = threadIdx.x; k < size; k += blockDim.x) {
      const i32 v = front[k];
      const Offset end = indptr[v + 1];
      for (Offset e = indptr[v]; e < end; ++e) {
        const i32 w = indices[e];
        if (atomicCAS(&levels[w], -1, depth + level) >= 0)
          continue;  // another thread or an earlier level has reached w
        const u32 place = atomicAdd(places, 1u);
        if (place < ROOM) after[place] = w;
        else next[place] = w;
      }
    }
    __syncthreads();
    size = *places;
    i32 *const swapped = front;
    front = after, after = swapped;
    ++level;
  } while (size && size <= ROOM && level < most);

  for (u32 k = threadIdx.x; k < least(size, u32(ROOM)); k += blockDim.x) next[k] = front[k];
  if (threadIdx.x == 0) {
    told[0] = size;
    told[1] = level;
  }
}

}  // namespace graphla
