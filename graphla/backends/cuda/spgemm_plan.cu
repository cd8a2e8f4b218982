// Computes the cost of a matrix product. The kernels count the terms of each row of A B, and divide
// the rows into lists by their number of terms. For a masked product, they count the steps of both
// methods: dot products, and the product by rows of B. All counts are exact 64-bit numbers.
#include "persistent.cuh"
#include "spgemm.cuh"

namespace graphla {

/// The bins into which rows are divided by their number of terms. FEW_n: rows with at most n terms,
/// but more than the limit of the previous bin. BY_TILES and BY_SORTING: rows with more than 1,536
/// terms, which are computed by tiles or by sorting. Rows without terms are in no bin.
enum Bin {
  FEW_24 = 0,
  FEW_96 = 1,
  FEW_384 = 2,
  FEW_1536 = 3,
  BY_TILES = 4,
  BY_SORTING = 5,
  BINS = 6
};

/// The list of rows of each bin. `counts` and `tickets` must initially be zero.
struct Lists {
  i32 *rows;         // the rows of each bin; the list of a bin begins at bin * room
  u64 *counts;       // the number of rows of each bin, followed by the number of terms of each bin
  u64 *tickets;      // counts the blocks that have finished
  i64 *host_counts;  // host memory that receives the number of rows in each bin
  i64 room;          // capacity of each list, in rows
  i64 tiles;         // number of column tiles
  i64 most_sorted;   // maximum number of terms of a row that is computed by sorting

  /// Appends each of the rows `begin`, `begin` + `step`, `begin` + 2 * `step`, ... to the list of
  /// its bin. All lanes of a warp must call this together, with consecutive values of `begin`. A
  /// row with more than 1,536 terms is computed by tiles if it has too many terms to sort, or if
  /// the tiles need few searches compared with the number of terms. A tile needs one search per
  /// entry A(i, k) of the row: a search in row k of B.
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

  /// Returns whether this block is the last one to call the function. Each block must call the
  /// function once, when the block has finished.
  DEVICE bool are_complete() const {
    Grid grid(tickets);
    grid.begin(0);
    return is_last_block(grid);
  }

  /// Stores the number of rows of each bin in host memory. Only one block calls this.
  DEVICE void store_counts() const {
    __syncthreads();
    if (threadIdx.x < BINS) host_counts[threadIdx.x] = i64(load_relaxed(counts + threadIdx.x));
  }
};

/// Adds to terms[i] the number of terms A(i, k) B(k, j) of row i, counted over all k and j. This
/// number is an upper bound on the number of entries in row i of C. `terms` must initially be zero.
/// To save atomic additions, a warp first adds up the counts that belong to the same row. If LISTS
/// is true, the last block to finish also lists all rows. This is faster than another launch only
/// if there are few rows.
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
    lists.store_counts();
  }
}

/// Appends each row to the list of its bin. The number of terms of a row determines its bin.
template <class Op, class OffsetA>
__global__ void list_rows(const OffsetA *__restrict__ a_indptr, i64 nrows, const u64 *terms,
                          Lists lists) {
  lists.add(a_indptr, nrows, terms, thread_in_grid(), threads_in_grid());
  if (lists.are_complete()) lists.store_counts();
}

/// Adds to steps[0] the number of steps that all dot products take. The dot product for an entry
/// (i, j) of the pattern reads the shorter of two rows: row i of A and row j of Bt. Its number of
/// steps is the length of this row, rounded up to a multiple of 8, plus 8 steps of startup cost. If
/// either row is empty, there are no steps.
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

/// Adds to steps[0] the number of steps that the product by rows of B takes. An entry (i, k) of A
/// takes no steps if row i of the pattern or row k of B is empty. Otherwise its number of steps is
/// the length of row k of B, rounded up to a multiple of the warp size. In addition, row i of the
/// pattern is divided into chunks of `chunk` entries, and each chunk after the first adds WARP
/// steps.
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

/// Adds 1 to counts[k] for each entry in column k of a matrix. From the counts of A and those of
/// the transpose of B, `add_products` computes the number of terms of the product A B.
template <class Op>
__global__ void count_in_columns(const i32 *__restrict__ indices, i64 nvals,
                                 i32 *__restrict__ counts) {
  for (i64 entry = thread_in_grid(); entry < nvals; entry += threads_in_grid())
    atomicAdd(counts + indices[entry], 1);
}

/// Adds the sum of x[k] y[k] over all k to total[0].
template <class Op>
__global__ void add_products(const i32 *__restrict__ x, const i32 *__restrict__ y, i64 count,
                             u64 *__restrict__ total) {
  i64 mine = 0;
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) mine += i64(x[k]) * y[k];
  warp_add(total, mine);
}

/// Sets z[0] to the term mult(x[0], y[0]). The host launches this kernel if all terms have the same
/// value t and t (+) t = t, so that every sum is equal to t.
template <class Op, class StoredX, int KEPT_X, class StoredY, int KEPT_Y>
__global__ void one_term(const StoredX *x_values, const StoredY *y_values, typename Op::Z *z) {
  const Values<typename Op::X, StoredX, KEPT_X> x(x_values);
  const Values<typename Op::Y, StoredY, KEPT_Y> y(y_values);
  if (thread_in_grid() == 0) z[0] = Op::term(x[0], y[0], 0, 0, 0);
}

}  // namespace graphla
