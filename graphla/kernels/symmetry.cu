// Compares a square matrix with its transpose by a fingerprint, in one pass over its entries.
//
// Every entry (i, j) off the diagonal contributes a 128-bit hash of its unordered pair {i, j}: entries
// above the diagonal add it, entries below subtract it. The sum is zero if the pattern equals its
// transpose. Otherwise it is zero with probability 2^-128, as far as the hash, under a key that each
// process draws at random, is a random function (docs/decisions/021-symmetry.md). Additions commute,
// so the order of the atomics does not matter. If values are read, a second hash of pair and value
// gives a second sum in the same pass.
//
// Before that, the first warp of each block looks for the counterpart of 32 entries by binary search.
// An entry without a counterpart stops all blocks at their next tile.
#include "rows.cuh"

namespace graphla {

constexpr int ROUNDS = 10;
constexpr int EACH_LANE = 16;  // entries that a lane takes before the warp looks for its rows again

/// Philox4x32-10 (J. Salmon et al., *Parallel Random Numbers: As Easy as 1, 2, 3*, 2011).
DEVICE void philox(u32 &a, u32 &b, u32 &c, u32 &d, u32 key, u32 other) {
#pragma unroll
  for (int round = 0; round < ROUNDS; round++) {
    const u64 first = u64(0xd2511f53u) * a, second = u64(0xcd9e8d57u) * c;
    a = u32(second >> 32) ^ b ^ key, b = u32(second);
    c = u32(first >> 32) ^ d ^ other, d = u32(first);
    key += 0x9e3779b9u, other += 0xbb67ae85u;
  }
}

/// Adds the hash of (a, b, c, d), negated if asked, to 128 bits held as two sums of 64 bits.
DEVICE void add_hash(u64 sums[2], u32 a, u32 b, u32 c, u32 d, u64 key, bool is_negated) {
  philox(a, b, c, d, u32(key), u32(key >> 32));
  const u64 low = u64(b) << 32 | a, high = u64(d) << 32 | c;
  sums[0] += is_negated ? u64(0) - low : low;
  sums[1] += is_negated ? u64(0) - high : high;
}

/// Adds a thread's two sums to those of the grid. A warp calls together.
DEVICE void add_sums(const u64 mine[2], i64 *sums) {
#pragma unroll
  for (int word = 0; word < 2; word++) {
    const u64 sum = warp_inclusive_sum(mine[word]);
    if (lane() == WARP - 1) atomicAdd((u64 *)(sums + word), sum);
  }
}

/// Whether row j has an entry in column i.
template <class Offset>
DEVICE bool has_entry(const Offset *__restrict__ indptr, const i32 *__restrict__ indices, i64 j, i64 i) {
  const i64 end = i64(indptr[j + 1]);
  const i64 place = lower_bound<i32, i64>(indices, i64(indptr[j]), end, i32(i));
  return place < end && indices[place] == i32(i);
}

/// Adds the fingerprint of the pattern to sums[0..1], and that of pattern and values to sums[2..3];
/// sums[4] = 1 if an entry without counterpart is seen, and then the fingerprints mean nothing.
/// `bits` are the values as unsigned integers; those whose bits under `mask` exceed `infinity`, the
/// NaNs, count as one value (both numbers are 0 for integers). The key has 192 bits: `key`, and two
/// words that are added bit by bit to what is hashed.
template <class Op, class Offset, class Word, int KEPT>
__global__ void compare_transposed(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                                   const Word *__restrict__ bits, i64 nrows, i64 count, u64 mask, u64 infinity,
                                   u64 key, u64 low_pad, u64 high_pad, i64 *sums) {
  SHARED(i64, range, 2);
  const i64 part = i64(blockDim.x) * EACH_LANE, parts = (count + part - 1) / part;
  const i64 from = parts * blockIdx.x / gridDim.x * part, to = least(parts * (blockIdx.x + 1) / gridDim.x * part, count);
  if (from >= to) return;
  find_rows(indptr, nrows, from, to, range);
  i64 first = range[0];
  const i64 last = range[1];
  if (warp_in_block() == 0) {
    const i64 k = from + (to - from) * lane() / WARP;
    const i64 i = row_among(indptr, first, last, k), j = indices[k];
    if (!has_entry(indptr, indices, j, i)) store_relaxed(sums + 4, i64(1));
  }
  u64 pattern[2] = {0, 0}, values[2] = {0, 0};
  const i64 strip = i64(WARP) * EACH_LANE;
  for (i64 begin = from + warp_in_block() * strip; begin < to; begin += part) {
    const i64 stop = load_relaxed(sums + 4), end = least(begin + strip, to);
    first = warp_bound<false>(indptr, first + 1, last + 1, Offset(begin)) - 1;
    const i64 final_row = warp_bound<false>(indptr, first + 1, last + 1, Offset(end - 1)) - 1;
#pragma unroll 4
    for (int step = 0; step < EACH_LANE; step++) {
      const i64 k = begin + step * WARP + lane();
      if (k >= end) continue;
      const u32 j = u32(load_once(&indices[k])), i = u32(row_among(indptr, first, final_row, k));
      if (i == j) continue;
      const u32 a = least(i, j) ^ u32(low_pad), b = greatest(i, j) ^ u32(low_pad >> 32);
      const u32 c = u32(high_pad), d = u32(high_pad >> 32);
      add_hash(pattern, a, b, c, d, key, j < i);
      if constexpr (KEPT == EACH) {
        u64 value = u64(load_once(&bits[k]));
        if ((value & mask) > infinity) value = infinity + 1;
        // Below 2^31, a vertex leaves the top bit to tell the second hash from the first.
        add_hash(values, a, b ^ 0x80000000u, c ^ u32(value), d ^ u32(value >> 32), key, j < i);
      }
    }
    if (shuffle(stop, 0)) return;
  }
  add_sums(pattern, sums);
  if constexpr (KEPT == EACH) add_sums(values, sums + 2);
}

}  // namespace graphla
