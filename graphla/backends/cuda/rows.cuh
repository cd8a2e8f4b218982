// Finds the row of each entry of a matrix. The entries are divided into tiles, and a block
// processes one tile at a time.
//
// A tile has STEPS entries for each thread of the block. Two searches in `indptr` find the row of
// the first entry and the row of the last entry of the tile. An array in shared memory has one
// element per entry of the tile. For each later row of the tile that has entries, a thread writes
// the row's number to the element of its first entry. A running maximum then copies the number to
// the elements of the row's other entries. To find the row of a single entry, `row_among` instead
// searches among the rows of the tile.
#ifndef GRAPHLA_ROWS
#define GRAPHLA_ROWS
#include "collectives.cuh"

namespace graphla {

enum TileShape { STEPS = 4 };                     // number of entries per thread in a tile
constexpr int TILE = int(BLOCK_THREADS) * STEPS;  // maximum number of entries of a tile

/// How entry k determines its position (i, j). DENSE: the position is (k, 0). LISTED: the position
/// is (indices[k], 0). BY_ROWS: i is the row of the matrix that contains entry k, and j is
/// indices[k].
enum Where { DENSE = 0, LISTED = 1, BY_ROWS = 2 };

/// Writes the row of entry `begin` to span[0], and the row of entry `end` - 1 to span[1]. Every
/// thread of the block must call this.
template <class Offset>
DEVICE void find_rows(const Offset *__restrict__ indptr, i64 nrows, i64 begin, i64 end, i64 *span) {
  __syncthreads();  // wait until all threads have read the old values of `span`
  const int warp = warp_in_block();
  if (warp < 2) {
    const i64 row = warp_segment_of(indptr, nrows, warp ? end - 1 : begin);
    if (lane() == 0) span[warp] = row;
  }
  __syncthreads();
}

/// Returns the row that contains entry k. This row must be one of the rows `first` to `last`.
template <class Offset>
DEVICE i64 row_among(const Offset *__restrict__ indptr, i64 first, i64 last, i64 k) {
  return upper_bound<Offset, i64>(indptr, first + 1, last + 1, Offset(k)) - 1;
}

/// Finds the rows of the entries from `begin` to `end` - 1, which must belong to one tile. Sets
/// span[0] to the row of entry `begin`. Returns an array in shared memory that contains, for each
/// entry, its row minus span[0]; the element for entry k has the index k - begin. A tile has at
/// most STEPS entries per thread, and begins at a multiple of STEPS * blockDim.x. Every thread of
/// the block must call this.
template <class Offset>
DEVICE const i32 *spread_rows(const Offset *__restrict__ indptr, i64 nrows, i64 begin, i64 end,
                              i64 *span) {
  SHARED(i32, rows, TILE);
  SHARED(i32, warps, WARP);
  find_rows(indptr, nrows, begin, end, span);
  const int mine = int(threadIdx.x) * STEPS;
#pragma unroll
  for (int n = 0; n < STEPS; n++) rows[mine + n] = 0;
  __syncthreads();
  const i64 first = span[0], last = span[1];
  if (first == last) return rows;
  for (i64 row = first + 1 + threadIdx.x; row <= last; row += blockDim.x) {
    const i64 from = i64(indptr[row]);
    if (from < i64(indptr[row + 1]))
      // Only one thread writes each element, because nonempty rows begin at different entries.
      rows[from - begin] = i32(row - first);
  }
  __syncthreads();
  i32 found[STEPS];
#pragma unroll
  for (int n = 0; n < STEPS; n++)
    found[n] = n ? greatest(found[n - 1], rows[mine + n]) : rows[mine];
  const i32 running = warp_inclusive_greatest(found[STEPS - 1]);
  if (lane() == WARP - 1) warps[warp_in_block()] = running;
  __syncthreads();
  i32 before = shuffle_up(running, 1);
  if (lane() == 0) before = 0;
  for (int warp = 0; warp < warp_in_block(); warp++) before = greatest(before, warps[warp]);
#pragma unroll
  for (int n = 0; n < STEPS; n++) rows[mine + n] = greatest(before, found[n]);
  __syncthreads();
  return rows;
}

/// Calls visit(k, i, j) for each k from 0 to `limit` - 1. A tile is always visited as a whole, so
/// `visit` is also called for larger k, up to the end of the last tile. If k < `count`, (i, j) is
/// the position of entry k; otherwise (i, j) is (0, 0). With BY_ROWS, i is 0 if NEEDS_ROW is false.
/// All lanes of a warp call `visit` together, and lane l visits only the k with k mod 32 = l.
/// `span` is shared memory for two numbers.
template <int WHERE, bool NEEDS_ROW, class Offset, class Visit>
DEVICE void each_entry(const Offset *__restrict__ indptr, i64 nrows,
                       const i32 *__restrict__ indices, i64 count, i64 limit, i64 *span,
                       Visit visit) {
  const i64 tile = i64(blockDim.x) * STEPS;
  for (i64 begin = blockIdx.x * tile; begin < limit; begin += gridDim.x * tile) {
    const i32 *rows = nullptr;
    if constexpr (WHERE == BY_ROWS && NEEDS_ROW) {
      if (begin < count) rows = spread_rows(indptr, nrows, begin, least(begin + tile, count), span);
    }
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
      const i64 k = begin + i64(step) * blockDim.x + threadIdx.x;
      i64 i = 0, j = 0;
      if (k < count) {
        if constexpr (WHERE == DENSE) i = k;
        if constexpr (WHERE == LISTED) i = indices[k];
        if constexpr (WHERE == BY_ROWS) j = indices[k];
        if constexpr (WHERE == BY_ROWS && NEEDS_ROW) i = span[0] + rows[k - begin];
      }
      visit(k, i, j);
    }
  }
}

}  // namespace graphla
#endif
