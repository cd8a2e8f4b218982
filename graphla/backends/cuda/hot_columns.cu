// The columns that most entries of A lie in, as a sample of its entries says: what a product reads
// of a full u again and again, and keeps in shared memory (`Hubs` of gathering.cuh).
//
// Column c may stand in slot c mod slots alone, with the tag c / slots: of those that may, the one
// with most entries does, and of equal ones the last, whatever the grid. A slot nobody asks for has
// the tag 0, which is column s itself: so a tag always says some column.
#include "collectives.cuh"

namespace graphla {

/// counts[c] = how many of `samples` entries, one somewhere in each stretch of A, lie in column c.
template <class Op>
__global__ void sample_columns(const i32 *__restrict__ indices, i64 nvals, i64 samples,
                               u32 *counts) {
  const i64 stretch = nvals / samples;
  for (i64 i = thread_in_grid(); i < samples; i += threads_in_grid()) {
    const i64 offset = i64((u64(i) * 0x9e3779b97f4a7c15ull >> 32) % u64(stretch));
    atomicAdd(&counts[indices[i * stretch + offset]], 1u);
  }
}

/// best[s] = count and tag of the column that stands in slot s, of 1 << bits.
template <class Op>
__global__ void rank_columns(const u32 *__restrict__ counts, i64 ncols, int bits, u64 *best) {
  for (i64 c = thread_in_grid(); c < ncols; c += threads_in_grid()) {
    if (!counts[c]) continue;
    const u64 key = u64(counts[c]) << 32 | u64(c >> bits);
    u64 *slot = best + (c & ((i64(1) << bits) - 1));
    if (key > load_relaxed(slot)) atomicMax(slot, key);
  }
}

/// The tags of all slots, and how many of the samples their columns have.
template <class Op>
__global__ void name_hubs(const u64 *__restrict__ best, i64 slots, u16 *__restrict__ tags,
                          u64 *held) {
  u64 mine = 0;
  for (i64 s = thread_in_grid(); s < slots; s += threads_in_grid()) {
    tags[s] = u16(best[s]);
    mine += best[s] >> 32;
  }
  warp_add(held, mine);
}

}  // namespace graphla
