// Intersection of sorted entries: z(i, j) = a(i, j) (.) b(i, j) where both operands have an entry.
//
// For each entry of the operand with fewer entries, the first kernel searches the other operand for
// an entry at the same position. In a matrix it searches the same row. In a vector each block
// searches only between the first and the last index of its own entries. One flag per entry records
// whether the search was successful. The position of an entry in the result is the number of set
// flags before the entry. So a second kernel can write each entry of the result independently of
// the others. All threads process equally many entries, however long the rows are. All indices are
// sorted and unique.
#include "flags.cuh"
#include "rows.cuh"

namespace graphla {

/// Writes, for each entry of a, a position in b and a flag. The position is that of the first entry
/// of b in the same row whose index is not smaller than the index of a's entry. The flag is true if
/// the two indices are equal.
template <class Op, int WHERE, class Offset>
__global__ void find_spots(const Offset *a_indptr, const i32 *a_indices, i64 a_count,
                           const Offset *b_indptr, const i32 *b_indices, i64 b_count, i64 nrows,
                           u32 *bits, i64 *counts, i64 words, Offset *spots) {
  SHARED(i64, span, 2);
  const i64 tile = i64(blockDim.x) * STEPS;
  for (i64 begin = blockIdx.x * tile; begin < words * WARP; begin += gridDim.x * tile) {
    const i64 end = least(begin + tile, a_count);
    const i32 *rows = nullptr;
    if (begin < end) {
      if constexpr (WHERE == BY_ROWS) {
        rows = spread_rows(a_indptr, nrows, begin, end, span);
      } else {
        __syncthreads();  // wait for threads that still read the previous contents of `span`
        const int warp = warp_in_block();
        if (warp < 2) {
          const i64 place =
              warp ? warp_upper_bound<i32, i64>(b_indices, 0, b_count, a_indices[end - 1])
                   : warp_lower_bound<i32, i64>(b_indices, 0, b_count, a_indices[begin]);
          if (lane() == 0) span[warp] = place;
        }
        __syncthreads();
      }
    }
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
      const i64 k = begin + i64(step) * blockDim.x + threadIdx.x;
      bool meets = false;
      if (k < a_count) {
        i64 from = span[0], to = span[1];
        if constexpr (WHERE == BY_ROWS) {
          const i64 i = from + rows[k - begin];
          from = i64(b_indptr[i]), to = i64(b_indptr[i + 1]);
        }
        const i32 index = a_indices[k];
        const i64 spot = lower_bound<i32, i64>(b_indices, from, to, index);
        meets = spot < to && b_indices[spot] == index;
        spots[k] = Offset(spot);
      }
      put_flags(bits, counts, words, k, meets);
    }
  }
}

/// Writes the entries of the intersection. `indices` contains the indices of a's entries, or of b's
/// entries if FLIPPED is true. The intersection consists of the entries whose flag is set; spots[k]
/// is the position of entry k in the other operand. `z` is null if the values are already known,
/// and `new_indices` is null if the pattern is already known.
template <class Op, class A, int KEPT_A, class B, int KEPT_B, bool FLIPPED, int WHERE, class Offset,
          class NewOffset>
__global__ void meet_entries(const Offset *indptr, const i32 *indices, i64 count, i64 nrows,
                             const A *a_values, const B *b_values, const Offset *spots,
                             const u32 *bits, const i64 *ends, NewOffset *new_indptr,
                             i32 *new_indices, typename Op::Z *z) {
  SHARED(i64, span, 2);
  const Values<A, A, KEPT_A> x(a_values);
  const Values<B, B, KEPT_B> y(b_values);
  const Flagged flagged{bits, ends};
  each_entry<WHERE, Op::NEEDS_ROW>(indptr, nrows, indices, count, count, span,
                                   [&](i64 k, i64 i, i64 j) {
    if (k >= count || !flagged.at(k)) return;
    const i64 place = flagged.before(k), spot = spots[k];
    if (new_indices) new_indices[place] = indices[k];
    if (z)
      z[place] =
          FLIPPED ? Op::accumulate(x[spot], y[k], i, j) : Op::accumulate(x[k], y[spot], i, j);
  });
  if (WHERE == BY_ROWS && new_indices) put_offsets(flagged, indptr, nrows, new_indptr);
}

/// Computes z[k] = op(x[k], y[k]) for entries at the same positions.
template <class Op, class A, int KEPT_A, class B, int KEPT_B, int WHERE, class Offset>
__global__ void pair_entries(const Offset *indptr, i64 nrows, const i32 *indices, const A *a_values,
                             const B *b_values, typename Op::Z *__restrict__ z, i64 count) {
  SHARED(i64, span, 2);
  const Values<A, A, KEPT_A> x(a_values);
  const Values<B, B, KEPT_B> y(b_values);
  each_entry<WHERE, Op::NEEDS_ROW>(indptr, nrows, indices, count, count, span,
                                   [&](i64 k, i64 i, i64 j) {
    if (k < count) z[k] = Op::accumulate(x[k], y[k], i, j);
  });
}

}  // namespace graphla
