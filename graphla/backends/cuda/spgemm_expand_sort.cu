// Computes those rows of C = A B that have many terms, if C has very many columns. Lists all terms,
// sorts them, and adds up each run of terms that belong to the same entry of C.
//
// A kernel writes the terms of the listed rows, row after row. The key of a term is
// row * 2^column_bits + column, where `row` is the position of the row in the list of rows. A
// stable sort brings equal keys together, ordered by the inner index k; a thread then adds the
// terms of one run of equal keys in that order. Terms that a mask drops (OUTSIDE) get the largest
// key, NOWHERE.
#include "spgemm.cuh"

namespace graphla {

constexpr i64 NOWHERE = 0x7fffffffffffffffll;

/// Writes the key and the value of each term of the listed rows. The terms of the row at position
/// `row` of the list begin at position starts[row] - starts[0]. Each block processes one row at a
/// time.
template <class Op, class OffsetA, class StoredX, int KEPT_X, class OffsetB, class StoredY,
          int KEPT_Y, class OffsetM, int MASK, bool HAS_VALUES>
__global__ void expand_rows(const i32 *__restrict__ listed, i64 count,
                            const i64 *__restrict__ starts, int column_bits,
                            Csr<OffsetA, StoredX> a, Csr<OffsetB, StoredY> b, Csr<OffsetM> outside,
                            i64 *__restrict__ keys, typename Op::Z *__restrict__ terms) {
  const OffsetA *__restrict__ a_indptr = a.indptr;
  const OffsetB *__restrict__ b_indptr = b.indptr;
  const i32 *__restrict__ a_indices = a.indices, *__restrict__ b_indices = b.indices;
  SHARED(i64, scratch, WARP + 1);
  SHARED(i64, places, WIDEST_BLOCK);
  const Values<typename Op::X, StoredX, KEPT_X> x(a.values);
  const Values<typename Op::Y, StoredY, KEPT_Y> y(b.values);
  for (i64 row = blockIdx.x; row < count; row += gridDim.x) {
    const i64 i = listed[row], stop = a_indptr[i + 1];
    i64 place = starts[row] - starts[0];
    for (i64 first = a_indptr[i]; first < stop; first += blockDim.x) {
      const i64 entry = first + threadIdx.x;
      i64 size = 0, total;
      if (entry < stop) {
        const i32 k = a_indices[entry];
        size = b_indptr[k + 1] - b_indptr[k];
      }
      const i64 before = block_exclusive_sum(size, scratch, total);
      places[threadIdx.x] = place + before;
      __syncthreads();
      const int here = int(least(i64(blockDim.x), stop - first));
      for (int e = warp_in_block(); e < here; e += int(blockDim.x) / WARP) {
        const i32 k = a_indices[first + e];
        const i64 begin = b_indptr[k], end = b_indptr[k + 1];
        for (i64 in_b = begin + lane(); in_b < end; in_b += WARP) {
          const i32 j = b_indices[in_b];
          const i64 at = places[e] + in_b - begin;
          keys[at] = allows<MASK>(outside, i, j) ? row << column_bits | j : NOWHERE;
          if constexpr (HAS_VALUES) terms[at] = Op::term(x[first + e], y[in_b], i, k, j);
        }
      }
      place += total;
      __syncthreads();
    }
  }
}

/// Sets is_first[t] to 1 if a run of equal keys begins at position t, otherwise to 0. Keys equal to
/// NOWHERE do not form a run.
template <class Op>
__global__ void find_runs(const i64 *__restrict__ keys, i64 count, i64 *__restrict__ is_first) {
  for (i64 t = thread_in_grid(); t < count; t += threads_in_grid())
    is_first[t] = keys[t] != NOWHERE && (t == 0 || keys[t] != keys[t - 1]);
}

/// A run is a range of equal keys. Writes the key of each run and the sum of its terms. The term
/// that belongs to keys[t] is terms[order[t]]. ends[t] is the number of runs that begin at
/// positions 0 to t. For each run, adds 1 to the size of its row of C.
template <class Op, bool HAS_VALUES>
__global__ void add_runs(const i64 *__restrict__ keys, const i64 *__restrict__ order,
                         const typename Op::Z *__restrict__ terms, i64 count,
                         const i64 *__restrict__ ends, const i32 *__restrict__ listed,
                         int column_bits, i64 *__restrict__ run_keys,
                         typename Op::Z *__restrict__ sums, i64 *__restrict__ sizes) {
  for (i64 t = thread_in_grid(); t < count; t += threads_in_grid()) {
    const i64 before = t ? ends[t - 1] : 0;
    if (ends[t] == before) continue;
    const i64 key = keys[t];
    run_keys[before] = key;
    atomicAdd((u64 *)sizes + listed[key >> column_bits], u64(1));
    if constexpr (HAS_VALUES) {
      typename Op::Z sum = terms[order[t]];
      if (!Op::IS_ANY)
        for (i64 next = t + 1; next < count && keys[next] == key; next++)
          sum = Op::add(sum, terms[order[next]]);
      sums[before] = sum;
    }
  }
}

/// Writes one entry of C for each run. The column of the entry is part of the run's key, and its
/// value is the run's sum.
template <class Op, class Z, class OffsetC, bool HAS_VALUES>
__global__ void place_runs(const i64 *__restrict__ keys, const Z *__restrict__ sums, i64 count,
                           const i32 *__restrict__ listed, int column_bits, Made<OffsetC, Z> c) {
  const OffsetC *__restrict__ indptr = c.indptr;
  i32 *__restrict__ indices = c.indices;
  Z *__restrict__ z = c.values;
  for (i64 t = thread_in_grid(); t < count; t += threads_in_grid()) {
    const i64 row = keys[t] >> column_bits;
    const i64 first = lower_bound<i64, i64>(keys, 0, t, row << column_bits);
    const i64 at = i64(indptr[listed[row]]) + t - first;
    indices[at] = i32(keys[t] & ((i64(1) << column_bits) - 1));
    if constexpr (HAS_VALUES) z[at] = sums[t];
  }
}

}  // namespace graphla
