// Kernels for products of a matrix A and a vector u. Some kernels compute numbers that the host
// needs before the product, such as the length of the longest row of A, and the total number of
// entries in the rows k of A for which u(k) exists. The other kernels process edges that are sorted
// by output, and find the runs of edges that have the same output.
#include "persistent.cuh"

namespace graphla {

constexpr int ROWS = 4;  // number of consecutive rows whose lengths a thread sums

/// Computes running sums of the lengths of the `count` listed rows. The list is divided into parts
/// of `length` rows, and each block sums one part. Sets ends[i] to the sum of the lengths of the
/// listed rows first..i, where `first` is the first row of the part that contains row i of the
/// list. Sets ends[count + p] to the number of entries in all parts before part p; `join_parts`
/// adds this number to the sums of part p. If `host` is not null, sends the total to the host as
/// two 32-bit halves, the lower half first.
template <class Op, class Offset>
__global__ void __launch_bounds__(BLOCK_THREADS)
    ends_of_parts(u64 *control, u32 tickets, u64 *host, u32 launch, i64 patience,
                  const Offset *__restrict__ indptr, const i32 *__restrict__ rows, i64 count,
                  i64 length, i64 *ends) {
  SHARED(i64, scratch, WARP + 1);
  i64 *const before = ends + count;
  const i64 first = i64(blockIdx.x) * length, last = least(first + length, count);
  i64 sum = 0;
  for (i64 begin = first; begin < last; begin += BLOCK_THREADS * ROWS) {
    const i64 mine = begin + i64(threadIdx.x) * ROWS;
    i64 sizes[ROWS], own = 0, total;
#pragma unroll
    for (int n = 0; n < ROWS; ++n) {
      sizes[n] = 0;
      if (mine + n < last) {
        const i32 row = rows[mine + n];
        sizes[n] = i64(indptr[row + 1]) - i64(indptr[row]);
      }
    }
#pragma unroll
    for (int n = 0; n < ROWS; ++n) own += sizes[n];
    i64 end = sum + block_exclusive_sum(own, scratch, total);
#pragma unroll
    for (int n = 0; n < ROWS; ++n) {
      end += sizes[n];
      if (mine + n < last) ends[mine + n] = end;
    }
    sum += total;
  }
  if (threadIdx.x == 0) store_relaxed(&before[blockIdx.x], sum);
  Grid grid(control);
  grid.begin(tickets);
  if (!is_last_block(grid)) return;
  i64 all = 0;
  for (i64 begin = 0; begin < gridDim.x; begin += BLOCK_THREADS) {
    const i64 part = begin + threadIdx.x;
    const i64 own = part < gridDim.x ? load_relaxed(&before[part]) : 0;
    i64 total;
    const i64 sums = all + block_exclusive_sum(own, scratch, total);
    if (part < gridDim.x) before[part] = sums;
    all += total;
  }
  if (threadIdx.x == 0 && host) {
    tell_host(host, launch, HOST_RESULTS, u32(all));
    tell_host(host, launch, HOST_RESULTS + 1, u32(u64(all) >> 32));
    tell_host(host, launch, HOST_STATUS, FINISHED);
  }
}

/// Turns the sums that `ends_of_parts` computed within each part into sums over the whole list:
/// adds to each ends[i] the number of entries in all parts before the part of i.
template <class Op> __global__ void join_parts(i64 count, i64 length, i64 *ends) {
  for (i64 i = length + thread_in_grid(); i < count; i += threads_in_grid())
    ends[i] += ends[count + i / length];
}

/// Sets facts[0] to the number of entries in the longest row of A, and facts[1] to the number of
/// nonempty rows.
template <class Op, class Offset>
__global__ void row_facts(const Offset *__restrict__ indptr, i64 nrows, u64 *facts) {
  u64 widest = 0, filled = 0;
  for (i64 i = thread_in_grid(); i < nrows; i += threads_in_grid()) {
    const u64 entries = u64(indptr[i + 1] - indptr[i]);
    widest = greatest(widest, entries);
    filled += entries > 0;
  }
  widest = warp_greatest(widest), filled = warp_sum(filled);
  if (lane() == 0 && filled) {
    if (widest > load_relaxed(facts)) atomicMax(facts, widest);
    atomicAdd(facts + 1, filled);
  }
}

/// Sets z[0] to the term a ⊗ u of the first value of A and the first value of u. If all values of A
/// are equal, and all values of u are equal, every term has this value.
template <class Op, class A, int KEPT_A, class U, int KEPT_U>
__global__ void constant_term(const A *a_values, const U *u_values, typename Op::Z *z) {
  const Values<typename Op::A, A, KEPT_A> a(a_values);
  const Values<typename Op::U, U, KEPT_U> u(u_values);
  if (thread_in_grid() == 0) z[0] = Op::term(a[0], u[0], 0, 0);
}

/// Sets flags[indices[i]] = true for all i.
template <class Op>
__global__ void flag_listed(const i32 *__restrict__ indices, i64 count, bool *__restrict__ flags) {
  for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) flags[indices[i]] = true;
}

/// Sets values[i] = w[indices[i]] for all i.
template <class Op, class Z>
__global__ void look_up(const Z *__restrict__ w, const i32 *__restrict__ indices, i64 count,
                        Z *__restrict__ values) {
  for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) values[i] = w[indices[i]];
}

/// Sets is_first[e] to 1 if a run of equal keys begins at position e, otherwise to 0. Ignores the
/// runs of keys that are >= `size`, because these keys do not denote outputs.
template <class Op>
__global__ void run_heads(const i32 *__restrict__ keys, i64 count, i32 size,
                          i64 *__restrict__ is_first) {
  for (i64 e = thread_in_grid(); e < count; e += threads_in_grid()) {
    is_first[e] = keys[e] < size && (e == 0 || keys[e - 1] != keys[e]);
  }
}

/// Turns each run of equal keys in a sorted array into one row of a CSR structure. runs[e] is the
/// number of runs that begin at or before position e. The kernel sets indptr[r] to the first
/// position of run r, and outputs[r] to the key of this run. Keys that are >= `size` do not denote
/// outputs; the last element of `indptr` is the position where they begin.
template <class Op>
__global__ void run_rows(const i32 *__restrict__ keys, const i64 *__restrict__ runs, i64 count,
                         i32 size, i32 *__restrict__ indptr, i32 *__restrict__ outputs) {
  for (i64 e = thread_in_grid(); e < count; e += threads_in_grid()) {
    if (keys[e] >= size) continue;
    const i64 run = runs[e] - 1;
    if (e == 0 || keys[e - 1] != keys[e]) {
      indptr[run] = i32(e);
      outputs[run] = keys[e];
    }
    if (e + 1 == count || keys[e + 1] >= size) indptr[run + 1] = i32(e + 1);
  }
}

}  // namespace graphla
