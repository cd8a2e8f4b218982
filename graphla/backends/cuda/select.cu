// The kernels of `select` and `keep` flag entries of a vector or matrix, count the flags, and move
// the flagged entries to the result without changing their order.
//
// There are three launches. The first launch writes the flags as bits, and stores the number of set
// flags in each word (flags.cuh). The second launch replaces these numbers with their running sums,
// and the third launch moves the entries. Before the third launch the host waits for the number of
// set flags, in order to allocate the result. For a vector with few entries, one block does all
// three steps (`select_few`). In this case the host does not wait, and the result is allocated with
// space for all entries.
#include "flags.cuh"
#include "rows.cuh"

namespace graphla {

/// Packs an array of flags, one per entry, into the bits of 32-bit words. Also stores the number of
/// set flags in each word.
template <class Op, class Stored, int KEPT>
__global__ void flag_given(const Stored *flags, u32 *bits, i64 *counts, i64 words, i64 count) {
  const Values<bool, Stored, KEPT> flag(flags);
  const i64 stride = threads_in_grid(), limit = words * WARP;
  for (i64 k = thread_in_grid(); k < limit; k += stride)
    put_flags(bits, counts, words, k, k < count && flag[k]);
}

/// Flags the entries for which Op::call(x, i, j, thunk) is true.
template <class Op, class Stored, int KEPT, int WHERE, class Offset>
__global__ void flag_entries(const Offset *indptr, i64 nrows, const i32 *indices,
                             const Stored *x_values, typename Op::THUNK thunk, u32 *bits,
                             i64 *counts, i64 words, i64 count) {
  SHARED(i64, span, 2);
  const Values<typename Op::X, Stored, KEPT> x(x_values);
  each_entry<WHERE, Op::NEEDS_ROW>(indptr, nrows, indices, count, words * WARP, span,
                                   [&](i64 k, i64 i, i64 j) {
    put_flags(bits, counts, words, k, k < count && Op::call(x[k], i, j, thunk));
  });
}

/// Replaces each counts[w] with the running sum counts[0] + ... + counts[w]. If `narrow` is not
/// null, also stores the running sums in `narrow` as 32-bit integers. Returns the sum of all
/// counts. Only one block may call this.
DEVICE i64 add_up(i64 *counts, i64 words, i32 *narrow, i64 *scratch) {
  i64 before = 0;
  for (i64 begin = 0; begin < words; begin += blockDim.x) {
    const i64 w = begin + threadIdx.x;
    const i64 mine = w < words ? counts[w] : 0;
    i64 total;
    const i64 sum = before + mine + block_exclusive_sum(mine, scratch, total);
    if (w < words) counts[w] = sum;
    if (w < words && narrow) narrow[w] = i32(sum);
    before += total;
  }
  return before;
}

/// Replaces a small number of counts with their running sums. A single block computes them, because
/// CuPy's scan has too much overhead. Also stores the sum of all counts in *answer, unless `answer`
/// is null.
template <class Op> __global__ void scan_counts(i64 *counts, i64 words, i32 *narrow, i64 *answer) {
  SHARED(i64, scratch, WARP + 1);
  const i64 total = add_up(counts, words, narrow, scratch);
  if (answer && threadIdx.x == 0) *answer = total;
}

/// Moves the flagged entries to the result. The values are copied as objects of type `Word`, an
/// integer type of the same size.
template <class Word, bool HAS_VALUES>
DEVICE void move_entries(Flagged flagged, const i32 *__restrict__ indices,
                         const Word *__restrict__ values, i64 count, i32 *new_indices,
                         Word *new_values) {
  const i64 tile = i64(blockDim.x) * STEPS;
  for (i64 begin = blockIdx.x * tile; begin < count; begin += gridDim.x * tile) {
    // A thread issues all its loads before it uses any of them, to hide their latency.
    i64 place[STEPS];
    i32 index[STEPS];
    Word value[STEPS];
#pragma unroll
    for (int n = 0; n < STEPS; n++) {
      const i64 k = least(begin + n * blockDim.x + threadIdx.x, count - 1);
      place[n] = flagged.at(k) ? flagged.before(k) : -1;
      index[n] = indices[k];
      if constexpr (HAS_VALUES) value[n] = values[k];
    }
#pragma unroll
    for (int n = 0; n < STEPS; n++) {
      if (place[n] < 0 || begin + n * blockDim.x + threadIdx.x >= count) continue;
      new_indices[place[n]] = index[n];
      if constexpr (HAS_VALUES) new_values[place[n]] = value[n];
    }
  }
}

template <class Op, class Word, bool HAS_VALUES, class Offset, class NewOffset>
__global__ void move_flagged(const u32 *bits, const i64 *ends, const Offset *indptr, i64 nrows,
                             const i32 *__restrict__ indices, const Word *__restrict__ values,
                             i64 count, NewOffset *new_indptr, i32 *new_indices, Word *new_values) {
  const Flagged flagged{bits, ends};
  move_entries<Word, HAS_VALUES>(flagged, indices, values, count, new_indices, new_values);
  put_offsets(flagged, indptr, nrows, new_indptr);
}

enum FewShape { FEW_WORDS = 128 };  // maximum number of 32-bit flag words in `select_few`

/// Moves the entries of a vector for which Op::call(x, i, 0, thunk) is true to `new_indices` and
/// `new_values`. Stores their number in *answer. The grid must have a single block. The vector must
/// have fewer than FEW_WORDS * WARP entries, because the flags of n entries take n / WARP + 1
/// words.
template <class Op, class Stored, int KEPT, class Word, bool HAS_VALUES>
__global__ void select_few(const i32 *__restrict__ indices, const Stored *x_values,
                           typename Op::THUNK thunk, const Word *__restrict__ values, i64 count,
                           i32 *new_indices, Word *new_values, i64 *answer) {
  SHARED(u32, bits, FEW_WORDS);
  SHARED(i64, ends, FEW_WORDS);
  SHARED(i64, scratch, WARP + 1);
  const Values<typename Op::X, Stored, KEPT> x(x_values);
  const i64 words = count / WARP + 1;
  for (i64 begin = 0; begin < words * WARP; begin += blockDim.x) {
    const i64 k = begin + threadIdx.x;
    put_flags(bits, ends, words, k, k < count && Op::call(x[k], i64(indices[k]), i64(0), thunk));
  }
  __syncthreads();
  const i64 total = add_up(ends, words, nullptr, scratch);
  __syncthreads();
  move_entries<Word, HAS_VALUES>(Flagged{bits, ends}, indices, values, count, new_indices,
                                 new_values);
  if (threadIdx.x == 0) *answer = total;
}

}  // namespace graphla
