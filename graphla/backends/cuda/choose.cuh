// Compaction of n items in order: the first pass counts the chosen items, the second pass calls a
// function with each chosen item and its rank.
//
// A warp processes CHUNK consecutive items. It computes the ranks with warp ballots, so that blocks
// need no barrier. Between the two passes the host computes running sums of the counts per chunk.
#ifndef GRAPHLA_CHOOSE
#define GRAPHLA_CHOOSE
#include "collectives.cuh"

namespace graphla {

enum ChunkShape { CHUNK = 1024 };  // items per warp

/// Sets counts[c] to the number of chosen items in chunk c.
template <class Chosen> DEVICE void count_chosen(i64 items, i64 *counts, Chosen chosen) {
  const i64 warps = threads_in_grid() / WARP;
  for (i64 chunk = thread_in_grid() / WARP; chunk * CHUNK < items; chunk += warps) {
    const i64 begin = chunk * CHUNK, end = least(begin + CHUNK, items);
    i32 mine = 0;
    for (i64 k = begin + lane(); k < end; k += WARP) mine += chosen(k);
    for (int delta = WARP / 2; delta > 0; delta /= 2) mine += shuffle_down(mine, delta);
    if (lane() == 0) counts[chunk] = mine;
  }
}

/// Calls visit(k, rank) for each chosen k. ends[c] is the number of chosen items in chunks 0..c.
template <class Chosen, class Visit>
DEVICE void each_chosen(i64 items, const i64 *ends, Chosen chosen, Visit visit) {
  const i64 warps = threads_in_grid() / WARP;
  for (i64 chunk = thread_in_grid() / WARP; chunk * CHUNK < items; chunk += warps) {
    const i64 begin = chunk * CHUNK, end = least(begin + CHUNK, items);
    i64 rank = chunk == 0 ? 0 : ends[chunk - 1];
    for (i64 first = begin; first < end; first += WARP) {
      const i64 k = first + lane();
      const bool is = k < end && chosen(k);
      const u32 all = __ballot_sync(ALL_LANES, is);
      if (is) visit(k, rank + __popc(all & ((1u << lane()) - 1)));
      rank += __popc(all);
    }
  }
}

}  // namespace graphla
#endif
