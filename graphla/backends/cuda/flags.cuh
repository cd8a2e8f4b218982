// Flags of entries, and the number of set flags before each entry. A word holds 32 flags. A second
// array contains, for each word, the number of set flags in this word and all previous words.
// Together the two arrays take 3/8 of a byte per entry.
#ifndef GRAPHLA_FLAGS
#define GRAPHLA_FLAGS
#include "device.cuh"

namespace graphla {

struct Flagged {
  const u32 *__restrict__ bits;
  const i64 *__restrict__ ends;  // ends[w]: number of set flags in words 0..w

  DEVICE bool at(i64 k) const { return (bits[k / WARP] >> (k % WARP)) & 1; }
  /// Returns the number of flagged entries among the entries 0 to k - 1. The argument k is at most
  /// the total number of entries.
  DEVICE i64 before(i64 k) const {
    const u32 word = bits[k / WARP], from_here = ~0u << (k % WARP);
    return ends[k / WARP] - __popc(word & from_here);
  }
};

/// Stores the flags of entries k to k + 31, one per lane, as one word of `bits`. Stores the number
/// of set flags in `counts`. An inclusive scan of `counts` then yields the array `ends` of
/// `Flagged`.
DEVICE void put_flags(u32 *bits, i64 *counts, i64 words, i64 k, bool flag) {
  const u32 word = __ballot_sync(ALL_LANES, flag);
  if (lane() == 0 && k / WARP < words) {
    bits[k / WARP] = word;
    counts[k / WARP] = __popc(word);
  }
}

/// Sets new_indptr[i] to the number of flagged entries before row i.
template <class Offset, class NewOffset>
DEVICE void put_offsets(Flagged flagged, const Offset *__restrict__ indptr, i64 nrows,
                        NewOffset *new_indptr) {
  for (i64 i = thread_in_grid(); i <= nrows; i += threads_in_grid())
    new_indptr[i] = NewOffset(flagged.before(i64(indptr[i])));
}

}  // namespace graphla
#endif
