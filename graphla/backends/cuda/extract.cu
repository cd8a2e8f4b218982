// Extract: C(p, q) = A(rows[p], columns[q]). Each thread computes single entries of the result, so
// the work is balanced however long the rows are.
//
// The rows are selected first: one kernel computes the offsets of the result, and another moves the
// entries. Then the columns are selected: an entry in column j is copied to every q with columns[q]
// = j. A binary search for j in the sorted list of selected columns finds these q.
#include "rows.cuh"

namespace graphla {

/// Sets sizes[p + 1] to the number of entries in row rows[p], and sizes[0] to 0.
template <class Op, class Offset>
__global__ void sizes_of_rows(const Offset *indptr, const i64 *rows, i64 count, i64 *sizes) {
  for (i64 p = thread_in_grid(); p < count; p += threads_in_grid()) {
    sizes[p + 1] = i64(indptr[rows[p] + 1]) - i64(indptr[rows[p]]);
    if (p == 0) sizes[0] = 0;
  }
}

/// Copies the entries of the selected rows. If entry k of the result is in row p, it is a copy of
/// entry indptr[rows[p]] + (k - new_indptr[p]) of A.
template <class Op, class Offset, class NewOffset, class Stored, bool EACH_VALUE>
__global__ void gather_rows(const Offset *indptr, const i32 *indices, const Stored *values,
                            const i64 *rows, i64 nrows, const NewOffset *new_indptr, i64 count,
                            i32 *new_indices, Stored *new_values) {
  SHARED(i64, span, 2);
  const i64 tile = i64(blockDim.x) * STEPS;
  for (i64 begin = blockIdx.x * tile; begin < count; begin += gridDim.x * tile) {
    const i64 end = least(begin + tile, count);
    find_rows(new_indptr, nrows, begin, end, span);
    for (i64 k = begin + threadIdx.x; k < end; k += blockDim.x) {
      const i64 p = row_among(new_indptr, span[0], span[1], k);
      const i64 from = i64(indptr[rows[p]]) + (k - i64(new_indptr[p]));
      new_indices[k] = indices[from];
      if constexpr (EACH_VALUE) new_values[k] = values[from];
    }
  }
}

/// Sets counts[k] to the number of times that the column of entry k occurs in `columns`.
template <class Op>
__global__ void count_matches(const i32 *indices, i64 count, const i64 *columns, i64 asked,
                              i64 *counts) {
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    const i64 column = indices[k], first = lower_bound<i64, i64>(columns, 0, asked, column);
    counts[k] = first < asked && columns[first] == column
                    ? upper_bound<i64, i64>(columns, first, asked, column) - first
                    : 0;
  }
}

/// Sets new_indptr[i] to the number of entries of the result before row i. An entry of A appears in
/// the result once for each time that its column is selected. ends[k] is the number of entries of
/// the result that come from entries 0 to k of A.
template <class Op, class Offset, class NewOffset>
__global__ void offsets_of_matches(const Offset *indptr, i64 nrows, const i64 *ends,
                                   NewOffset *new_indptr) {
  for (i64 i = thread_in_grid(); i <= nrows; i += threads_in_grid())
    new_indptr[i] = NewOffset(indptr[i] == 0 ? 0 : ends[indptr[i] - 1]);
}

/// Entry r of the result is a copy of some entry k of A. Writes the column of entry r to
/// new_indices[r], and k to sources[r]. An entry of A is copied once for each time that its column
/// is selected. ends[k] is the total number of copies of entries 0 to k. So k is the smallest
/// number for which ends[k] > r.
template <class Op>
__global__ void list_matches(const i32 *indices, i64 count, const i64 *columns, i64 asked,
                             const i64 *order, const i64 *ends, i64 total, i32 *new_indices,
                             i64 *sources) {
  for (i64 r = thread_in_grid(); r < total; r += threads_in_grid()) {
    const i64 k = upper_bound<i64, i64>(ends, 0, count, r);
    const i64 nth = r - (k == 0 ? 0 : ends[k - 1]);
    const i64 at = lower_bound<i64, i64>(columns, 0, asked, indices[k]) + nth;
    new_indices[r] = i32(order == nullptr ? at : order[at]);
    sources[r] = k;
  }
}

/// Finds the entries of w(p) = v(places[p]), where v is a sparse vector whose indices are sorted.
/// For each p, sets found[p] to true if v has an entry at index places[p], otherwise to false. Sets
/// sources[p] to the position of this entry in v, or to 0 if there is none.
template <class Op>
__global__ void find_entries(const i32 *indices, i64 count, const i64 *places, i64 asked,
                             bool *found, i64 *sources) {
  for (i64 p = thread_in_grid(); p < asked; p += threads_in_grid()) {
    const i32 place = i32(places[p]);
    const i64 k = lower_bound<i32, i64>(indices, 0, count, place);
    const bool is = k < count && indices[k] == place;
    found[p] = is;
    sources[p] = is ? k : 0;
  }
}

/// Searches a row of a matrix for column `key` or, if indptr is null, a vector for index `key`. If
/// entry k matches, sets *result = 2 k + 1. Otherwise sets *result = 2 k, where k is the position
/// at which an entry for `key` would be inserted.
template <class Op, class Offset>
__global__ void find_place(const Offset *indptr, i64 row, const i32 *indices, i64 count, i32 key,
                           i64 *result) {
  const i64 begin = indptr == nullptr ? 0 : i64(indptr[row]),
            end = indptr == nullptr ? count : i64(indptr[row + 1]);
  const i64 k = lower_bound<i32, i64>(indices, begin, end, key);
  *result = 2 * k + (k < end && indices[k] == key);
}

/// Looks up the entry in row `row` and column `key` of a matrix or, if `indptr` is null, the entry
/// at index `key` of a vector. If the entry exists, sets answer[0] to 1 and answer[1] to its value;
/// otherwise sets answer[0] to 0. `indices` is null for a dense vector, and `present` is null for
/// everything except a bitmap.
template <class Op, class Offset, class Word>
__global__ void read_element(const Offset *indptr, i64 row, const i32 *indices, i64 count, i32 key,
                             const bool *present, const Word *values, i64 step, u64 *answer) {
  i64 k = key;
  bool there = present == nullptr || present[key];
  if (indices) {
    const i64 begin = indptr ? i64(indptr[row]) : 0, end = indptr ? i64(indptr[row + 1]) : count;
    k = lower_bound<i32, i64>(indices, begin, end, key);
    there = k < end && indices[k] == key;
  }
  answer[0] = there;
  if (there) *reinterpret_cast<Word *>(answer + 1) = values[k * step];
}

}  // namespace graphla
