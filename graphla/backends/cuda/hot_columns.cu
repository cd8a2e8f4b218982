// Finds the hubs, which are the columns of A with the most entries, from a sample of the entries.
// In a product of A and a full vector u, the elements of u at the hubs' indices are read most
// often. So the product keeps these elements in shared memory (`Hubs` of gathering.cuh).
//
// Only slot c mod slots can hold column c; the tag c / slots then identifies the column. Among the
// columns that a slot can hold, the slot gets the column with the most sampled entries or, in a
// tie, the last of these columns. So the result does not depend on the order of the threads. If
// none of these columns has a sampled entry, slot s gets the tag 0, which identifies column s. So
// every tag identifies an existing column.
#include "collectives.cuh"

namespace graphla {

/// Sets counts[c] to the number of sampled entries in column c. The entries of A are divided into
/// `samples` parts of equal length. From each part one entry is sampled; a hash function chooses
/// its position.
template <class Op>
__global__ void sample_columns(const i32 *__restrict__ indices, i64 nvals, i64 samples,
                               u32 *counts) {
  const i64 stretch = nvals / samples;
  for (i64 i = thread_in_grid(); i < samples; i += threads_in_grid()) {
    const i64 offset = i64((u64(i) * 0x9e3779b97f4a7c15ull >> 32) % u64(stretch));
    atomicAdd(&counts[indices[i * stretch + offset]], 1u);
  }
}

/// Computes best[s] for each of the 1 << bits slots. The upper half of best[s] is the number of
/// sampled entries in the column that gets slot s, and the lower half is the tag of this column.
template <class Op>
__global__ void rank_columns(const u32 *__restrict__ counts, i64 ncols, int bits, u64 *best) {
  for (i64 c = thread_in_grid(); c < ncols; c += threads_in_grid()) {
    if (!counts[c]) continue;
    const u64 key = u64(counts[c]) << 32 | u64(c >> bits);
    u64 *slot = best + (c & ((i64(1) << bits) - 1));
    if (key > load_relaxed(slot)) atomicMax(slot, key);
  }
}

/// Writes the tag of each slot. Adds to *held the number of sampled entries in the columns that
/// have a slot.
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
