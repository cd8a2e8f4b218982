// Folds: s = x[0] (+) x[1] (+) ... for an array x, and w(i) = A(i, j1) (+) A(i, j2) (+) ... over
// the entries of row i of a matrix A.
//
// The order of a fold depends only on the operands, never on the grid or on timing. So the result
// is bitwise equal in every run. To balance the work for short and long rows, the entries are cut
// into strips of STRIP entries, wherever rows begin and end, and one warp folds each strip. If a
// row spans several strips, close_rows combines the folds of its parts in order.
#include "rows.cuh"

namespace graphla {

enum FoldShape {
  STRIP = 512,      // number of entries that one warp folds
  FOLD_BLOCK = 256  // number of threads per block
};
// Number of values that a thread loads at the same time if a value has at least 4 bytes. Smaller
// values are loaded in larger groups.
constexpr int AHEAD = 4;
constexpr int LONG = 32;  // if a row has at least this many tails (see `close_rows`), a whole block
                          // combines them
// If a strip contains parts of several rows, a single lane folds each part that has at most this
// many entries.
constexpr int SHORT = 32;
constexpr int ROOM = STRIP + STRIP / WARP;  // elements of shared memory for one strip

/// Folds the values of the lanes of a warp. Only lane 0 gets the result.
template <class Op> DEVICE typename Op::Z warp_fold(typename Op::Z z) {
#pragma unroll
  for (int delta = WARP / 2; delta; delta /= 2) z = Op::add(z, shuffle_down(z, delta));
  return z;
}

/// Folds the values of the threads of a block; every thread gets the result. `scratch` is shared
/// memory for one value per warp.
template <class Op> DEVICE typename Op::Z block_fold(typename Op::Z z, typename Op::Z *scratch) {
  z = warp_fold<Op>(z);
  __syncthreads();  // wait until all threads have read the old contents of `scratch`
  if (lane() == 0) scratch[warp_in_block()] = z;
  __syncthreads();
  z = scratch[0];
  for (int warp = 1; warp < int(blockDim.x) / WARP; warp++) z = Op::add(z, scratch[warp]);
  return z;
}

/// Returns the fold of n copies of x, x (+) ... (+) x, in about log2(n) steps.
template <class Op> DEVICE typename Op::Z fold_copies(typename Op::Z x, i64 n) {
  typename Op::Z z = Op::identity();
  for (bool begun = false; n; n >>= 1) {
    if (n & 1) z = begun ? Op::add(z, x) : x, begun = true;
    if (n > 1) x = Op::add(x, x);
  }
  return z;
}

// --- all values -------------------------------------------------------------------------------

/// Sets parts[b] to the fold of the values b * part to (b + 1) * part - 1. If SOME is true, only
/// the values that are present are folded.
template <class Op, class Stored, bool SOME>
__global__ __launch_bounds__(FOLD_BLOCK) void fold_parts(const Stored *values,
                                                         const bool *__restrict__ present,
                                                         i64 count, i64 part,
                                                         typename Op::Z *parts) {
  typedef typename Op::Z Z;
  SHARED(Z, scratch, FOLD_BLOCK / WARP);
  const Values<Z, Stored, EACH> x(values);
  constexpr int MANY = sizeof(Stored) == 1 ? 4 * AHEAD : sizeof(Stored) == 2 ? 2 * AHEAD : AHEAD;
  const i64 begin = blockIdx.x * part, end = least(begin + part, count);
  Z sums[AHEAD];
  for (int n = 0; n < AHEAD; n++) sums[n] = Op::identity();
  i64 k = begin + threadIdx.x;
  for (; k + (MANY - 1) * FOLD_BLOCK < end; k += MANY * FOLD_BLOCK) {
    Z read[MANY];
#pragma unroll
    for (int n = 0; n < MANY; n++) {
      read[n] = x[k + n * FOLD_BLOCK];
      if constexpr (SOME) read[n] = present[k + n * FOLD_BLOCK] ? read[n] : Op::identity();
    }
#pragma unroll
    for (int n = 0; n < MANY; n++) sums[n % AHEAD] = Op::add(sums[n % AHEAD], read[n]);
  }
  for (; k < end; k += FOLD_BLOCK) {
    if (!SOME || present[k]) sums[0] = Op::add(sums[0], x[k]);
  }
  Z sum = sums[0];
#pragma unroll
  for (int n = 1; n < AHEAD; n++) sum = Op::add(sum, sums[n]);
  sum = block_fold<Op>(sum, scratch);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

/// Sets *z to the fold of `count` copies of *value. The grid must have a single thread.
template <class Op, class Stored>
__global__ void fold_repeated(const Stored *value, i64 count, typename Op::Z *z) {
  z[0] = fold_copies<Op>(convert<typename Op::Z>(value[0]), count);
}

// --- rows -------------------------------------------------------------------------------------

/// Stores in present[i] whether row i has entries, and adds the number of nonempty rows to
/// *counter, which is zero before the launch. Every thread of the block must call this. `scratch`
/// is shared memory for one number per warp and one more number.
template <class Offset>
DEVICE void note_rows(const Offset *__restrict__ indptr, i64 nrows, bool *present, u64 *counter,
                      u64 *scratch) {
  u64 found = 0, total;
  for (i64 i = thread_in_grid(); i < nrows; i += threads_in_grid()) {
    const bool there = indptr[i] < indptr[i + 1];
    present[i] = there;
    found += there;
  }
  block_exclusive_sum(found, scratch, total);
  if (threadIdx.x == 0 && total) atomicAdd(counter, total);
}

/// Sets present[i] to true if row i has entries, otherwise to false. This kernel reads no values;
/// it is used if the folds of all nonempty rows are known without them.
template <class Op, class Offset>
__global__ void note_occupied(const Offset *indptr, i64 nrows, bool *present, u64 *counter) {
  SHARED(u64, scratch, WARP + 1);
  note_rows(indptr, nrows, present, counter, scratch);
}

/// Computes folds[i] without reading all entries. If the monoid is `any`, folds[i] is the first
/// value of row i. Otherwise all entries of the matrix have the same value, and folds[i] is the
/// fold of n copies of this value, where n is the number of entries of row i.
template <class Op, class Stored, int KEPT, class Offset>
__global__ void fold_rows_at_once(const Offset *__restrict__ indptr, i64 nrows,
                                  const Stored *values, typename Op::Z *folds, bool *present,
                                  u64 *counter) {
  SHARED(u64, scratch, WARP + 1);
  const Values<typename Op::Z, Stored, KEPT> x(values);
  for (i64 i = thread_in_grid(); i < nrows; i += threads_in_grid()) {
    const i64 begin = indptr[i], end = indptr[i + 1];
    if (begin == end) continue;
    if constexpr (Op::IS_ANY) folds[i] = x[begin];
    else folds[i] = fold_copies<Op>(x[begin], end - begin);
  }
  note_rows(indptr, nrows, present, counter, scratch);
}

/// Folds the entries from `begin` to `end` - 1. Only lane 0 of the warp gets the result.
template <class Op, class X> DEVICE typename Op::Z fold_strip(X x, i64 begin, i64 end) {
  typename Op::Z sum = Op::identity();
  for (i64 at = begin + lane(); at < end; at += AHEAD * WARP) {
    typename Op::Z read[AHEAD];
#pragma unroll
    for (int n = 0; n < AHEAD; n++)
      read[n] = at + n * WARP < end ? x[at + n * WARP] : Op::identity();
#pragma unroll
    for (int n = 0; n < AHEAD; n++) sum = Op::add(sum, read[n]);
  }
  return warp_fold<Op>(sum);
}

/// Returns the last row of a strip that ends at `end`; every lane gets the result. `first` is the
/// strip's first row.
template <class Offset>
DEVICE i64 last_row_of_strip(const Offset *__restrict__ indptr, i64 nrows, i64 first, i64 end) {
  const i64 row = first + lane();
  const u32 ends = __ballot_sync(ALL_LANES, row >= nrows || i64(indptr[row + 1]) >= end);
  return ends ? first + __ffs(int(ends)) - 1 : warp_segment_of(indptr, nrows, end - 1);
}

/// Returns the position of value k of a strip in shared memory. One element is unused after every
/// 32 values. So if each lane reads a different row of 32 values, the lanes access different banks.
DEVICE int place_of(int k) { return k + k / WARP; }

/// A strip consists of the entries `begin` to `end` - 1, and contains parts of the rows `first` to
/// `last`. Folds each of these parts. A part with at most SHORT entries is folded by a single lane,
/// and a longer part by the whole warp. `held` is shared memory for ROOM values.
template <class Op, class X, class Offset>
DEVICE void fold_rows_of_strip(const Offset *__restrict__ indptr, X x, i64 begin, i64 end,
                               i64 first, i64 last, typename Op::Z *held, typename Op::Z *folds,
                               typename Op::Z *tail) {
  typedef typename Op::Z Z;
  constexpr int AT_ONCE = 2 * AHEAD;
  __syncwarp();  // wait until all lanes have read the values of the previous strip
#pragma unroll 1
  for (int at = lane(); at < STRIP; at += AT_ONCE * WARP) {
    Z read[AT_ONCE];
#pragma unroll
    for (int n = 0; n < AT_ONCE; n++)
      read[n] = begin + at + n * WARP < end ? x[begin + at + n * WARP] : Op::identity();
#pragma unroll
    for (int n = 0; n < AT_ONCE; n++) held[place_of(at + n * WARP)] = read[n];
  }
  __syncwarp();
  for (i64 base = first; base <= last; base += WARP) {
    const i64 row = base + lane();
    int from = 0, to = 0;
    bool goes_on = false;
    if (row <= last) {
      const i64 row_begin = indptr[row], row_end = indptr[row + 1];
      from = int(greatest(row_begin, begin) - begin), to = int(least(row_end, end) - begin);
      goes_on = row_end > end;
    }
    const bool is_wide = to - from > SHORT;
    Z sum = Op::identity();
    for (int k = from; k < to && !is_wide; k++) sum = Op::add(sum, held[place_of(k)]);
    for (u32 wide = __ballot_sync(ALL_LANES, is_wide); wide; wide &= wide - 1) {
      const int owner = __ffs(int(wide)) - 1, its_from = shuffle(from, owner),
                its_to = shuffle(to, owner);
      Z part = Op::identity();
      for (int k = its_from + lane(); k < its_to; k += WARP)
        part = Op::add(part, held[place_of(k)]);
      part = shuffle(warp_fold<Op>(part), 0);
      if (lane() == owner) sum = part;
    }
    if (from < to) {
      if (goes_on) *tail = sum;
      else folds[row] = sum;
    }
  }
}

/// Folds the entries of each strip separately for each row. The fold of row i's entries in the
/// strip in which row i ends is stored in folds[i]. If the last row of a strip continues in the
/// next strip, the fold of its entries in this strip is stored in tails[strip].
template <class Op, class Stored, class Offset>
__global__ void fold_strips(const Offset *__restrict__ indptr, i64 nrows, const Stored *values,
                            i64 count, typename Op::Z *folds, typename Op::Z *tails, bool *present,
                            u64 *counter) {
  typedef typename Op::Z Z;
  SHARED(u64, scratch, WARP + 1);
  SHARED(Z, room, FOLD_BLOCK / WARP * ROOM);
  const Values<Z, Stored, EACH> x(values);
  const i64 strips = (count + STRIP - 1) / STRIP, warps = threads_in_grid() / WARP;
  for (i64 strip = thread_in_grid() / WARP; strip < strips; strip += warps) {
    const i64 begin = strip * STRIP, end = least(begin + STRIP, count);
    i64 row_before = warp_segment_of(indptr, nrows, begin);
    const i64 last = last_row_of_strip(indptr, nrows, row_before, end);
    if (last == row_before) {
      const Z sum = fold_strip<Op>(x, begin, end);
      if (lane() == 0) {
        if (end == i64(indptr[last + 1])) folds[last] = sum;
        else tails[strip] = sum;
      }
      continue;
    }
    // If the strip spans at most STRIP rows, visit each row. Otherwise many of the rows are empty,
    // so visit each entry.
    if (last - row_before < STRIP) {
      Z *const held = room + warp_in_block() * ROOM;
      fold_rows_of_strip<Op>(indptr, x, begin, end, row_before, last, held, folds, &tails[strip]);
      continue;
    }
    Z sum_before = Op::identity();
    for (i64 at = begin; at < end; at += AHEAD * WARP) {
      Z read[AHEAD];
#pragma unroll
      for (int n = 0; n < AHEAD; n++) {
        const i64 k = at + n * WARP + lane();
        read[n] = k < end ? x[k] : Op::identity();
      }
#pragma unroll
      for (int n = 0; n < AHEAD; n++) {
        const i64 first = at + n * WARP, k = first + lane();
        if (first >= end) break;
        const i64 row = k < end ? row_among(indptr, row_before, last, k) : nrows;
        // Compute `head`, the first lane whose entry is in the same row as the entry of this lane.
        const i64 row_left = shuffle_up(row, 1);
        const u32 heads = __ballot_sync(ALL_LANES, lane() == 0 || row != row_left);
        const int head = WARP - 1 - __clz(int(heads & (~0u >> (WARP - 1 - lane()))));
        Z z = read[n];
#pragma unroll
        for (int delta = 1; delta < WARP; delta *= 2) {
          const Z left = shuffle_up(z, delta);
          if (lane() - delta >= head) z = Op::add(left, z);
        }
        if (head == 0 && row == row_before) z = Op::add(sum_before, z);
        if (k < end && k + 1 == i64(indptr[row + 1])) folds[row] = z;
        const int at_end = int(least(end - first, i64(WARP))) - 1;
        sum_before = shuffle(z, at_end);
        row_before = shuffle(row, at_end);
      }
    }
    if (lane() == 0) tails[strip] = sum_before;
  }
  note_rows(indptr, nrows, present, counter, scratch);
}

/// Completes each row i that spans several strips. On entry, folds[i] is the fold of the row's
/// entries in the last of these strips, and tails[strip] is the fold of its entries in each earlier
/// strip. The kernel combines these folds in order, and stores the result in folds[i]. The thread
/// for the last strip of a row does this, but if the row has LONG or more tails, the whole block
/// combines them.
template <class Op, class Offset>
__global__ __launch_bounds__(FOLD_BLOCK) void close_rows(const Offset *__restrict__ indptr,
                                                         i64 nrows,
                                                         const typename Op::Z *__restrict__ tails,
                                                         i64 count, typename Op::Z *folds) {
  typedef typename Op::Z Z;
  SHARED(Z, scratch, FOLD_BLOCK / WARP);
  SHARED(i64, long_rows, FOLD_BLOCK);
  SHARED(i64, long_strips, FOLD_BLOCK);
  SHARED(int, found, 1);
  const i64 strips = (count + STRIP - 1) / STRIP;
  for (i64 begin = i64(blockIdx.x) * FOLD_BLOCK; begin < strips;
       begin += i64(gridDim.x) * FOLD_BLOCK) {
    __syncthreads();  // wait until all threads have read the lists
    if (threadIdx.x == 0) found[0] = 0;
    __syncthreads();
    const i64 strip = begin + threadIdx.x, at = strip * STRIP;
    if (strip > 0 && strip < strips) {
      const i64 row = segment_of(indptr, nrows, at), row_begin = indptr[row],
                row_end = indptr[row + 1];
      if (row_begin < at && row_end <= at + STRIP) {
        const i64 from = row_begin / STRIP;
        if (strip - from >= LONG) {
          const int place = atomicAdd(found, 1);
          long_rows[place] = row;
          long_strips[place] = strip;
        } else {
          Z sum = tails[from];
          for (i64 n = from + 1; n < strip; n++) sum = Op::add(sum, tails[n]);
          folds[row] = Op::add(sum, folds[row]);
        }
      }
    }
    __syncthreads();
    for (int n = 0; n < found[0]; n++) {
      const i64 row = long_rows[n], from = i64(indptr[row]) / STRIP;
      Z sum = Op::identity();
      for (i64 k = from + threadIdx.x; k < long_strips[n]; k += FOLD_BLOCK)
        sum = Op::add(sum, tails[k]);
      sum = block_fold<Op>(sum, scratch);
      if (threadIdx.x == 0) folds[row] = Op::add(sum, folds[row]);
    }
  }
}

}  // namespace graphla
