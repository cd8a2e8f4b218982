// What products ask about a frontier (the entries of u) and about A before they multiply, and the
// runs of equal outputs after edges were sorted by output.
#include "device.cuh"

namespace graphla {

/// sizes[i] = how many entries row rows[i] of A has.
template <class Op, class Offset>
__global__ void row_sizes(const Offset *__restrict__ indptr, const i32 *__restrict__ rows, i64 count,
                          i64 *__restrict__ sizes) {
  for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) {
    sizes[i] = i64(indptr[rows[i] + 1]) - i64(indptr[rows[i]]);
  }
}

/// facts[0] = how many entries the row of A with the most of them has; facts[1] = how many rows have
/// any.
template <class Op, class Offset>
__global__ void row_facts(const Offset *__restrict__ indptr, i64 nrows, u64 *facts) {
  u64 widest = 0, filled = 0;
  for (i64 i = thread_in_grid(); i < nrows; i += threads_in_grid()) {
    const u64 entries = u64(indptr[i + 1] - indptr[i]);
    widest = greatest(widest, entries);
    filled += entries > 0;
  }
  for (int delta = WARP / 2; delta; delta /= 2) {
    widest = greatest(widest, shuffle_down(widest, delta));
    filled += shuffle_down(filled, delta);
  }
  if (lane() == 0 && filled) {
    if (widest > load_relaxed(facts)) atomicMax(facts, widest);
    atomicAdd(facts + 1, filled);
  }
}

/// flags[indices[i]] = true.
template <class Op>
__global__ void flag_listed(const i32 *__restrict__ indices, i64 count, bool *__restrict__ flags) {
  for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) flags[indices[i]] = true;
}

/// values[i] = w[indices[i]].
template <class Op, class Z>
__global__ void look_up(const Z *__restrict__ w, const i32 *__restrict__ indices, i64 count, Z *__restrict__ values) {
  for (i64 i = thread_in_grid(); i < count; i += threads_in_grid()) values[i] = w[indices[i]];
}

/// is_first[e] = 1 where a run of equal keys begins; keys from `size` on are no outputs.
template <class Op>
__global__ void run_heads(const i32 *__restrict__ keys, i64 count, i32 size, i64 *__restrict__ is_first) {
  for (i64 e = thread_in_grid(); e < count; e += threads_in_grid()) {
    is_first[e] = keys[e] < size && (e == 0 || keys[e - 1] != keys[e]);
  }
}

/// The runs as rows: runs[e] counts the heads up to e; indptr[r] is where run r begins, outputs[r]
/// its key; the last offset is where the keys that are no outputs begin.
template <class Op>
__global__ void run_rows(const i32 *__restrict__ keys, const i64 *__restrict__ runs, i64 count, i32 size,
                         i32 *__restrict__ indptr, i32 *__restrict__ outputs) {
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
