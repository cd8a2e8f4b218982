// Sums over a grid: each block adds up what its threads have counted, and tells it by one atomic.
#ifndef GRAPHLA_TALLY
#define GRAPHLA_TALLY
#include "collectives.cuh"

namespace graphla {

/// *sum grows by the x of all threads of the block; all of them call.
DEVICE void add_in_block(u64 x, u64 *sum) {
  SHARED(u64, scratch, WARP + 1);
  u64 total;
  block_exclusive_sum(x, scratch, total);
  if (threadIdx.x == 0 && total) atomicAdd(sum, total);
}

}  // namespace graphla
#endif
