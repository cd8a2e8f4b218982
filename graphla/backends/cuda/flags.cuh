// Flags of entries, and the number of set flags before each entry. A word holds 32 flags. For each
// word, there is a count of the flags that are set in this word and all words before it. Words and
// counts together take 3/8 of a byte per entry.
#ifndef GRAPHLA_FLAGS
#define GRAPHLA_FLAGS
#include "device.cuh"

namespace graphla {

struct Flagged {
  const u32 *__restrict__ bits;
  const i64 *__restrict__ ends;  // ends[w]: number of set flags in words 0..w

  DEVICE bool at(i64 k) const { return (bits[k / WARP] >> (k % WARP)) & 1; }
  /// Returns the number of flagged entries among 0..k - 1; k may equal the number of entries.
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
