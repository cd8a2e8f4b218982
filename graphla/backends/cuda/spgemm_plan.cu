// The cost of a product: the number of terms of each row of A B, lists of the rows by this number,
// and the steps of a masked product as dots and by rows of B. All counts are exact, in 64 bits.
#include "persistent.cuh"
#include "spgemm.cuh"

namespace graphla {

/// The bins of rows, by their number of terms and by how they are computed.
enum Bin {
  FEW_24 = 0,
  FEW_96 = 1,
  FEW_384 = 2,
  FEW_1536 = 3,
  BY_TILES = 4,
  BY_SORTING = 5,
  BINS = 6
};

/// The lists of rows. `counts` and `tickets` are zero at first.
struct Lists {
  i32 *rows;        // the rows of each bin, from bin * room on
  u64 *counts;      // the number of rows of each bin, then the number of terms of each bin
  u64 *tickets;     // counts the blocks that are done
  i64 *told;        // host memory for the number of rows of each bin
  i64 room;         // places of each list
  i64 tiles;        // number of tiles that the columns are cut into
  i64 most_sorted;  // the most terms of a row that is computed by sorting

  /// Lists the rows begin, begin + step, ...; whole warps call, with consecutive rows. A row is
  /// computed by tiles if the search for each tile in each row of B costs little compared with its
  /// terms, or if it has too many terms to sort.
  template <class Offset>
  DEVICE void add(const Offset *__restrict__ indptr, i64 nrows, const u64 *terms, i64 begin,
                  i64 step) const {
    const i64 limit = (nrows + WARP - 1) / WARP * WARP;
    for (i64 i = begin; i < limit; i += step) {
      const i64 count = i < nrows ? i64(load_relaxed(terms + i)) : 0;
      int bin = -1;
      if (count > MOST_1536) {
        const i64 searches = tiles * i64(indptr[i + 1] - indptr[i]);
        bin = searches <= 4 * count || count > most_sorted ? BY_TILES : BY_SORTING;
      } else if (count) {
        bin = count <= MOST_24    ? FEW_24
              : count <= MOST_96  ? FEW_96
              : count <= MOST_384 ? FEW_384
                                  : FEW_1536;
      }
      for (int each = 0; each < BINS; each++) {
        if (!__any_sync(ALL_LANES, bin == each)) continue;
        const u64 place = claim(counts + each, bin == each);
        if (bin == each) rows[each * room + i64(place)] = i32(i);
        warp_add(counts + BINS + each, bin == each ? count : i64(0));
      }
    }
  }

  /// Returns whether all other blocks are done; each block calls once.
  DEVICE bool are_complete() const {
    Grid grid(tickets);
    grid.begin(0);
    return is_last_block(grid);
  }

  /// Tells the host how many rows each bin has, by one block.
  DEVICE void tell() const {
    __syncthreads();
    if (threadIdx.x < BINS) told[threadIdx.x] = i64(load_relaxed(counts + threadIdx.x));
  }
};

/// terms[i] += the number of terms A(i, k) B(k, :) for all k, which bounds the size of row i of C.
/// `terms` must be zero at first. A warp adds up the entries that belong to one row. With LISTS,
/// the last block lists all rows; this is for few rows.
template <class Op, class OffsetA, class OffsetB, bool LISTS>
__global__ void count_terms(const OffsetA *__restrict__ a_indptr, i64 nrows,
                            const i32 *__restrict__ a_indices, i64 nvals,
                            const OffsetB *__restrict__ b_indptr, u64 *terms, Lists lists) {
  SHARED(i64, span, 2);
  const i64 limit = (nvals + WARP - 1) / WARP * WARP;
  each_entry<BY_ROWS, true>(a_indptr, nrows, a_indices, nvals, limit, span,
                            [&](i64 entry, i64 i, i64 k) {
    i64 count = 0;
    if (entry < nvals) count = b_indptr[k + 1] - b_indptr[k];
    else i = -1;
    const i64 sum = warp_inclusive_sum(count);
    const i64 next = shuffle_down(i, 1);
    const bool is_last = lane() == WARP - 1 || next != i;
    const u32 lasts = __ballot_sync(ALL_LANES, is_last);
    const u32 before = lasts & ((1u << lane()) - 1);
    const int last_of_row_before = before ? WARP - 1 - __clz(int(before)) : 0;
    const i64 sum_before = shuffle(sum, last_of_row_before);
    const i64 of_row = before ? sum - sum_before : sum;
    if (is_last && i >= 0 && of_row) atomicAdd(terms + i, u64(of_row));
  });
  if constexpr (LISTS) {
    if (!lists.are_complete()) return;
    lists.add(a_indptr, nrows, terms, threadIdx.x, blockDim.x);
    lists.tell();
  }
}

/// Lists the rows by their number of terms.
template <class Op, class OffsetA>
__global__ void list_rows(const OffsetA *__restrict__ a_indptr, i64 nrows, const u64 *terms,
                          Lists lists) {
  lists.add(a_indptr, nrows, terms, thread_in_grid(), threads_in_grid());
  if (lists.are_complete()) lists.tell();
}

/// steps[0] += the steps of lanes for dots: for each entry (i, j) of the pattern, the length of the
/// shorter of row i of A and row j of Bt, rounded up to a multiple of 8, plus 8 to begin.
template <class Op, class OffsetM, class OffsetA, class OffsetB>
__global__ void count_dot_steps(const OffsetM *__restrict__ indptr, i64 nrows,
                                const i32 *__restrict__ indices, i64 nvals,
                                const OffsetA *__restrict__ a_indptr,
                                const OffsetB *__restrict__ bt_indptr, u64 *__restrict__ steps) {
  SHARED(i64, span, 2);
  i64 mine = 0;
  each_entry<BY_ROWS, true>(indptr, nrows, indices, nvals, nvals, span,
                            [&](i64 entry, i64 i, i64 j) {
    if (entry >= nvals) return;
    const i64 in_a = a_indptr[i + 1] - a_indptr[i], in_b = bt_indptr[j + 1] - bt_indptr[j];
    if (in_a && in_b) mine += (least(in_a, in_b) + 15) / 8 * 8;
  });
  warp_add(steps, mine);
}

/// steps[0] += the steps of lanes by rows of B: for each entry (i, k) of A in a row where the
/// pattern has entries, the length of row k of B rounded up to whole warps, plus a warp for each
/// further chunk of the pattern's row.
template <class Op, class OffsetM, class OffsetA, class OffsetB>
__global__ void count_row_steps(const OffsetA *__restrict__ a_indptr, i64 nrows,
                                const i32 *__restrict__ a_indices, i64 nvals,
                                const OffsetB *__restrict__ b_indptr,
                                const OffsetM *__restrict__ indptr, i64 chunk,
                                u64 *__restrict__ steps) {
  SHARED(i64, span, 2);
  i64 mine = 0;
  each_entry<BY_ROWS, true>(a_indptr, nrows, a_indices, nvals, nvals, span,
                            [&](i64 entry, i64 i, i64 k) {
    if (entry >= nvals) return;
    const i64 listed = indptr[i + 1] - indptr[i], in_b = b_indptr[k + 1] - b_indptr[k];
    if (listed && in_b) mine += (in_b + WARP - 1) / WARP * WARP + WARP * ((listed - 1) / chunk);
  });
  warp_add(steps, mine);
}

/// counts[k] += 1 for each entry in column k. The counts of both operands give the number of terms.
template <class Op>
__global__ void count_in_columns(const i32 *__restrict__ indices, i64 nvals,
                                 i32 *__restrict__ counts) {
  for (i64 entry = thread_in_grid(); entry < nvals; entry += threads_in_grid())
    atomicAdd(counts + indices[entry], 1);
}

/// total[0] += the sum of x[k] y[k].
template <class Op>
__global__ void add_products(const i32 *__restrict__ x, const i32 *__restrict__ y, i64 count,
                             u64 *__restrict__ total) {
  i64 mine = 0;
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) mine += i64(x[k]) * y[k];
  warp_add(total, mine);
}

/// z[0] = the term of x[0] and y[0], if all terms are equal.
template <class Op, class StoredX, int KEPT_X, class StoredY, int KEPT_Y>
__global__ void one_term(const StoredX *x_values, const StoredY *y_values, typename Op::Z *z) {
  const Values<typename Op::X, StoredX, KEPT_X> x(x_values);
  const Values<typename Op::Y, StoredY, KEPT_Y> y(y_values);
  if (thread_in_grid() == 0) z[0] = Op::term(x[0], y[0], 0, 0, 0);
}

}  // namespace graphla
