// Small frontier: one block runs level after level by itself, while the frontier fits its queue.
//
// Algebra  f<!p> = f A over the boolean semiring until f is empty: the loop is inside the kernel.
// A level  reads what a frontier queue does, but the queue is in shared memory, and where a level
// ends
//          the block meets at a barrier (0.05 us): there is no launch, and nothing for the host to
//          read (some 20 us), until the frontier grows too large, or no vertex is left. In all at
//          least 4 bytes and two offsets for a vertex reached, 8 bytes for an edge of it.
// Handover the block leaves with a whole level: vertex k of it is in place k of the global queue,
// the
//          first ROOM copied from shared memory, those beyond ROOM put there as they were found.
//          The host goes on with the privatised queue's kernel, and comes back once a level fits
//          again.
// Races    as in the frontier queue: one thread of all that find a vertex gets it by compare and
// swap. Limits   the queue has n places, and no vertex is claimed twice. One launch runs at most
// `most`
//          levels: between launches the host hears Ctrl-C.
// Wins     on deep graphs with narrow levels, by what launches cost there. One multiprocessor of
// many
//          is at work: a level of more vertices than the block has threads would be faster by all.
// Source   L. Luo, M. Wong, W. Hwu, An Effective GPU Implementation of Breadth-First Search, DAC
// 2010,
//          section 4.3; W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th
//          edition, 2022, section 15.7.
#include "device.cuh"

namespace graphla {

/// Levels from `depth` on, of which `frontier` lists the one before: at most ROOM vertices. Puts
/// what the last level found into `next`; told[0] is how many vertices that is, told[1] how many
/// levels.
template <class Op, class Offset, int ROOM>
__global__ void small_frontier(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                               const i32 *__restrict__ frontier, i64 count, i32 depth, i32 most,
                               i32 *levels, i32 *next, i64 *told) {
  SHARED(i32, queues, 2 * ROOM);
  SHARED(u32, asked,
         3);  // places of this level; zero, for the next; as it was, for who still reads
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
        if (atomicCAS(&levels[w], -1, depth + level) >= 0) continue;  // reached, or another's
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
