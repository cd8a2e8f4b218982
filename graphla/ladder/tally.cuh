// Sums over a grid: each block adds up the counts of its threads, and adds the sum to the total
// with one atomic.
#ifndef GRAPHLA_TALLY
#define GRAPHLA_TALLY
#include "collectives.cuh"

namespace graphla {

/// Adds the sum of x over all threads of the block to *sum. All threads of the block must call
/// this.
DEVICE void add_in_block(u64 x, u64 *sum) {
  SHARED(u64, scratch, WARP + 1);
  u64 total;
  block_exclusive_sum(x, scratch, total);
  if (threadIdx.x == 0 && total) atomicAdd(sum, total);
}

}  // namespace graphla
#endif
