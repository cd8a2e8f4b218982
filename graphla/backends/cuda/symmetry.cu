// Compares a square matrix with its transpose by a fingerprint, in one pass over its entries.
//
// Every entry (i, j) off the diagonal contributes a 128-bit hash of the unordered pair {i, j} and,
// if values are compared, of its value. Entries above the diagonal add the hash, and entries below
// the diagonal subtract it. The sum is zero if the matrix equals its transpose. If the matrix
// differs from its transpose, the sum is zero with probability 2^-128, provided that the hash
// behaves like a random function. Each process draws the key of the hash at random
// (docs/decisions/021-symmetry.md). Additions commute, so the order of the atomics does not matter.
//
// First, one warp of each block looks up the counterparts (j, i) of 32 entries (i, j) by binary
// search. If it finds an entry whose counterpart is missing or has another value, all blocks stop
// before their next tile.
#include "rows.cuh"

namespace graphla {

constexpr int ROUNDS = 10;

/// Applies Philox4x32-10 (J. Salmon et al., *Parallel Random Numbers: As Easy as 1, 2, 3*, 2011).
DEVICE void philox(u32 &a, u32 &b, u32 &c, u32 &d, u32 key, u32 other) {
#pragma unroll
  for (int round = 0; round < ROUNDS; round++) {
    const u64 first = u64(0xd2511f53u) * a, second = u64(0xcd9e8d57u) * c;
    a = u32(second >> 32) ^ b ^ key, b = u32(second);
    c = u32(first >> 32) ^ d ^ other, d = u32(first);
    key += 0x9e3779b9u, other += 0xbb67ae85u;
  }
}

/// Returns the position of row j's entry in column i, or -1 if there is none.
template <class Offset>
DEVICE i64 find_entry(const Offset *__restrict__ indptr, const i32 *__restrict__ indices, i64 j,
                      i64 i) {
  const i64 end = i64(indptr[j + 1]);
  const i64 place = lower_bound<i32, i64>(indices, i64(indptr[j]), end, i32(i));
  return place < end && indices[place] == i32(i) ? place : -1;
}

/// Returns the bits of a value, or the same bits for every NaN. A value is a NaN if (bits & mask) >
/// infinity.
template <class Word> DEVICE u64 canonical(Word bits, u64 mask, u64 infinity) {
  return (u64(bits) & mask) > infinity ? infinity + 1 : u64(bits);
}

/// Adds this block's part of the fingerprint to sums[0] and sums[1]. Sets sums[2] = 1 if it finds
/// an entry (i, j) without a counterpart (j, i), and sums[3] = 1 if it finds a counterpart with
/// another value. If one of these flags is set, the fingerprint is meaningless. `bits` holds the
/// bits of each value as an unsigned integer. `mask` and `infinity` identify NaNs as in
/// `canonical`; both are 0 for integers. The key has 192 bits: the word `key`, and the words
/// `low_pad` and `high_pad`, which are XORed with the input of the hash.
template <class Op, class Offset, class Word, int KEPT>
__global__ void compare_transposed(const Offset *__restrict__ indptr,
                                   const i32 *__restrict__ indices, const Word *__restrict__ bits,
                                   i64 nrows, i64 count, u64 mask, u64 infinity, u64 key,
                                   u64 low_pad, u64 high_pad, i64 *sums) {
  SHARED(i64, range, 2);
  SHARED(i64, span, 2);
  // One flag is for even tiles and one for odd tiles. A flag is overwritten two tiles later. The
  // barriers of the tile in between ensure that all threads have read it by then.
  SHARED(i32, stop, 2);
  const i64 tile = i64(blockDim.x) * STEPS, tiles = (count + tile - 1) / tile;
  const i64 from = tiles * blockIdx.x / gridDim.x * tile,
            to = least(tiles * (blockIdx.x + 1) / gridDim.x * tile, count);
  if (from >= to) return;
  find_rows(indptr, nrows, from, to, range);
  const i64 first = range[0], rows_here = range[1] - first + 1;
  if (warp_in_block() == 0) {
    const i64 k = from + (to - from) * lane() / WARP;
    const i64 i = row_among(indptr, first, range[1], k), j = indices[k];
    const i64 place = find_entry(indptr, indices, j, i);
    if (place < 0) {
      store_relaxed(sums + 2, i64(1));
    } else if constexpr (KEPT == EACH) {
      if (canonical(bits[k], mask, infinity) != canonical(bits[place], mask, infinity))
        store_relaxed(sums + 3, i64(1));
    }
  }
  u64 low = 0, high = 0;
  int turn = 0;
  for (i64 begin = from; begin < to; begin += tile, turn ^= 1) {
    if (threadIdx.x == 0) stop[turn] = i32(load_relaxed(sums + 2) | load_relaxed(sums + 3));
    const i64 end = least(begin + tile, to);
    const i32 *rows = spread_rows(indptr + first, rows_here, begin, end, span);
    if (stop[turn]) return;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
      const i64 k = begin + i64(step) * blockDim.x + threadIdx.x;
      if (k >= end) continue;
      const u32 i = u32(first + span[0]) + u32(rows[k - begin]), j = u32(load_once(&indices[k]));
      if (i == j) continue;
      u64 value = 0;
      if constexpr (KEPT == EACH) value = canonical(load_once(&bits[k]), mask, infinity);
      u32 a = least(i, j) ^ u32(low_pad), b = greatest(i, j) ^ u32(low_pad >> 32);
      u32 c = u32(value) ^ u32(high_pad), d = u32(value >> 32) ^ u32(high_pad >> 32);
      philox(a, b, c, d, u32(key), u32(key >> 32));
      const u64 x = u64(b) << 32 | a, y = u64(d) << 32 | c;
      low += i < j ? x : u64(0) - x;
      high += i < j ? y : u64(0) - y;
    }
  }
  low = warp_inclusive_sum(low), high = warp_inclusive_sum(high);
  if (lane() == WARP - 1) {
    atomicAdd((u64 *)sums, low);
    atomicAdd((u64 *)(sums + 1), high);
  }
}

}  // namespace graphla
