// Kronecker products: C(i m + k, j n + l) = op(A(i, j), B(k, l)), where B is m by n.
//
// Row i m + k of C contains a copy of row k of B for each entry of row i of A. So its length is the
// product of the lengths of these two rows. Each thread computes one entry of C. A block computes a
// tile of consecutive entries, and first finds the rows that contain them. Each thread then
// searches only these rows of indptr for the row of its entry.
#include "rows.cuh"

namespace graphla {

/// Sets ends[1 + i m + k] to the number of entries in row i of A times the number of entries in row
/// k of B, where m is the number of rows of B. Sets ends[0] to 0.
template <class Op, class OffsetA, class OffsetB, class OffsetC>
__global__ void kronecker_sizes(const OffsetA *__restrict__ a_indptr,
                                const OffsetB *__restrict__ b_indptr, i64 m, i64 nrows,
                                OffsetC *__restrict__ ends) {
  for (i64 row = thread_in_grid(); row < nrows; row += threads_in_grid()) {
    const i64 i = row / m, k = row % m;
    ends[row + 1] =
        OffsetC(i64(a_indptr[i + 1] - a_indptr[i]) * i64(b_indptr[k + 1] - b_indptr[k]));
    if (row == 0) ends[0] = 0;
  }
}

template <class Op, class OffsetA, class StoredX, int KEPT_X, class OffsetB, class StoredY,
          int KEPT_Y, class OffsetC, bool HAS_VALUES>
__global__ void kronecker_entries(Csr<OffsetA, StoredX> a, Csr<OffsetB, StoredY> b,
                                  const OffsetC *__restrict__ indptr, i64 nrows, i64 nvals,
                                  i32 *__restrict__ indices, typename Op::Z *__restrict__ z) {
  SHARED(i64, span, 2);
  const OffsetA *__restrict__ a_indptr = a.indptr;
  const OffsetB *__restrict__ b_indptr = b.indptr;
  const i32 *__restrict__ a_indices = a.indices, *__restrict__ b_indices = b.indices;
  const Values<typename Op::X, StoredX, KEPT_X> x(a.values);
  const Values<typename Op::Y, StoredY, KEPT_Y> y(b.values);
  const i64 m = b.nrows, n = b.ncols;
  const i64 tile = i64(blockDim.x) * STEPS;
  for (i64 begin = blockIdx.x * tile; begin < nvals; begin += gridDim.x * tile) {
    const i64 end = least(begin + tile, nvals);
    find_rows(indptr, nrows, begin, end, span);
    for (i64 entry = begin + threadIdx.x; entry < end; entry += blockDim.x) {
      const i64 row = row_among(indptr, span[0], span[1], entry), i = row / m, k = row % m;
      const i64 nth = entry - i64(indptr[row]), width = b_indptr[k + 1] - b_indptr[k];
      const i64 in_a = i64(a_indptr[i]) + nth / width, in_b = i64(b_indptr[k]) + nth % width;
      const i64 j = a_indices[in_a], l = b_indices[in_b];
      indices[entry] = i32(j * n + l);
      if constexpr (HAS_VALUES) z[entry] = Op::call(x[in_a], y[in_b], i, j, k, l);
    }
  }
}

/// Computes z[0] = op(x[0], y[0]), the value of every entry of C.
template <class Op, class StoredX, int KEPT_X, class StoredY, int KEPT_Y>
__global__ void one_pair(const StoredX *x_values, const StoredY *y_values, typename Op::Z *z) {
  const Values<typename Op::X, StoredX, KEPT_X> x(x_values);
  const Values<typename Op::Y, StoredY, KEPT_Y> y(y_values);
  if (thread_in_grid() == 0) z[0] = Op::call(x[0], y[0], 0, 0, 0, 0);
}

}  // namespace graphla
