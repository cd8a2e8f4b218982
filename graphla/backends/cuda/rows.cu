// The row of each entry of a CSR matrix: rows[k] = i where indptr[i] <= k < indptr[i + 1].
//
// Entries are divided evenly among the threads, regardless of the lengths of rows.
#include "rows.cuh"

namespace graphla {

template <class Op, class Offset>
__global__ void rows_of_entries(const Offset *indptr, i64 nrows, i32 *rows, i64 count) {
  SHARED(i64, span, 2);
  const i64 tile = i64(blockDim.x) * STEPS;
  for (i64 begin = blockIdx.x * tile; begin < count; begin += gridDim.x * tile) {
    const i64 end = least(begin + tile, count);
    const i32 *found = spread_rows(indptr, nrows, begin, end, span);
    for (i64 k = begin + threadIdx.x; k < end; k += blockDim.x)
      rows[k] = i32(span[0] + found[k - begin]);
  }
}

}  // namespace graphla
