// Conversions between formats of matrices and vectors.
//
// The key of position (i, j) is i << bits | j. So the keys of a matrix in row-major order are
// ascending, and unpacking a key needs no division. CuPy sorts the keys and computes running sums.
#include "choose.cuh"
#include "rows.cuh"

namespace graphla {

/// Sets keys[k] to the key of (rows[k], columns[k]). Sets *falls to 1 if any key is less than or
/// equal to the previous key.
template <class Op, class Row, class Column, class Key>
__global__ void pack_places(const Row *rows, const Column *columns, int bits, Key *keys, i64 count,
                            i64 *falls) {
  bool fell = false;
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    const Key key = Key(rows[k]) << bits | Key(columns[k]);
    keys[k] = key;
    if (k > 0) fell |= key <= (Key(rows[k - 1]) << bits | Key(columns[k - 1]));
  }
  if (fell) store_relaxed(falls, i64(1));
}

/// If entry k of the matrix is at position (i, j), sets keys[k] to the key of (j, i), the position
/// of the entry in the transpose.
template <class Op, class Offset, class Key>
__global__ void pack_transposed(const Offset *indptr, const i32 *indices, i64 nrows, int bits,
                                Key *keys, i64 count) {
  SHARED(i64, span, 2);
  const i64 tile = i64(blockDim.x) * STEPS;
  for (i64 begin = blockIdx.x * tile; begin < count; begin += gridDim.x * tile) {
    const i64 end = least(begin + tile, count);
    find_rows(indptr, nrows, begin, end, span);
    for (i64 k = begin + threadIdx.x; k < end; k += blockDim.x)
      keys[k] = Key(indices[k]) << bits | Key(row_among(indptr, span[0], span[1], k));
  }
}

/// Sets *falls to 1 if any key is less than or equal to the previous key.
template <class Op, class Key>
__global__ void look_for_falls(const Key *keys, i64 count, i64 *falls) {
  bool fell = false;
  for (i64 k = thread_in_grid() + 1; k < count; k += threads_in_grid())
    fell |= keys[k] <= keys[k - 1];
  if (fell) store_relaxed(falls, i64(1));
}

/// Counts, in each chunk, the keys that differ from the previous key.
template <class Op, class Key>
__global__ void count_first(const Key *keys, i64 count, i64 *counts) {
  count_chosen(count, counts, [=](i64 k) { return k == 0 || keys[k] != keys[k - 1]; });
}

/// Atomically adds `change` to *at, an integer of 32 or 64 bits.
template <class Offset> DEVICE void add_offset(Offset *at, i64 change) {
  if constexpr (sizeof(Offset) == 8) atomicAdd((u64 *)at, u64(change));
  else atomicAdd((u32 *)at, u32(change));
}

/// Records that the entries of row `row` begin at position p, and that the entries of `before`, the
/// preceding nonempty row, end there. For each row i, sizes[i + 1] accumulates end - begin: this
/// call subtracts p for `row` and adds p for `before`. After all calls, sizes[i + 1] is the number
/// of entries of row i, and the running sum of `sizes` is the array indptr.
template <class Offset> DEVICE void begin_row(Offset *sizes, i64 before, i64 row, i64 p) {
  if (before >= 0) add_offset(sizes + before + 1, p);
  add_offset(sizes + row + 1, -p);
}

/// Processes each run of equal keys in the sorted array `keys`. Writes the column of the key to
/// `indices`. If `starts` is not null, writes the position of the first key of the run to `starts`.
/// If `sizes` is not null, counts the runs in each row (see begin_row).
template <class Op, class Key, class Offset>
__global__ void unpack_runs(const Key *keys, i64 count, const i64 *ends, int bits, i64 runs,
                            i32 *indices, i64 *starts, Offset *sizes) {
  const Key low = (Key(1) << bits) - 1;
  each_chosen(count, ends, [=](i64 k) { return k == 0 || keys[k] != keys[k - 1]; },
              [=](i64 k, i64 p) {
    const Key key = keys[k];
    indices[p] = i32(key & low);
    if (starts != nullptr) starts[p] = k;
    if (sizes == nullptr) return;
    const i64 row = i64(key >> bits), before = k == 0 ? -1 : i64(keys[k - 1] >> bits);
    if (row != before) begin_row(sizes, before, row, p);
    if (p == runs - 1) add_offset(sizes + row + 1, runs);
  });
}

/// Writes the column of each key to `indices`, and counts the keys in each row in `sizes` (see
/// begin_row). The keys are sorted and all different.
template <class Op, class Key, class Offset>
__global__ void unpack_keys(const Key *keys, i64 count, int bits, i32 *indices, Offset *sizes) {
  const Key low = (Key(1) << bits) - 1;
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    const Key key = keys[k];
    indices[k] = i32(key & low);
    const i64 row = i64(key >> bits), before = k == 0 ? -1 : i64(keys[k - 1] >> bits);
    if (row != before) begin_row(sizes, before, row, k);
    if (k == count - 1) add_offset(sizes + row + 1, count);
  }
}

/// Combines the values of each run of entries at equal positions with Op, from left to right. The
/// value of entry k is values[order[k]], or values[k] if `order` is null. If `step` is 0, the value
/// of every entry is values[0]. If Op is ASSOCIATIVE, a long run is divided among the lanes of a
/// warp: each lane combines one part, and then the results are combined in the order of the parts.
template <class Op, class Stored, bool ASSOCIATIVE>
__global__ void fold_runs(const Stored *values, i64 step, const i64 *order, const i64 *starts,
                          i64 runs, i64 count, typename Op::Z *folded) {
  typedef typename Op::Z Z;
  constexpr i64 LONG = 256;
  const auto value = [=](i64 k) { return Z(values[(order == nullptr ? k : order[k]) * step]); };
  const auto fold = [=](i64 begin, i64 end) {
    Z sum = value(begin);
    for (i64 k = begin + 1; k < end; ++k) sum = Op::accumulate(sum, value(k), 0, 0);
    return sum;
  };
  for (i64 first = thread_in_grid() - lane(); first < runs; first += threads_in_grid()) {
    const i64 run = first + lane();
    const i64 begin = run < runs ? starts[run] : 0, end = run + 1 < runs ? starts[run + 1] : count;
    const bool is_long = ASSOCIATIVE && run < runs && end - begin > LONG;
    if (run < runs && !is_long) folded[run] = fold(begin, end);
    for (u32 left = __ballot_sync(ALL_LANES, is_long); left; left &= left - 1) {
      const int whose = __ffs(int(left)) - 1;
      const i64 from = shuffle(begin, whose), to = shuffle(end, whose);
      const Z mine =
          fold(from + (to - from) * lane() / WARP, from + (to - from) * (lane() + 1) / WARP);
      Z sum = shuffle(mine, 0);
      for (int other = 1; other < WARP; ++other)
        sum = Op::accumulate(sum, shuffle(mine, other), 0, 0);
      if (lane() == whose) folded[run] = sum;
    }
  }
}

/// Sets counts[c] to the number of set flags in chunk c.
template <class Op> __global__ void count_flags(const bool *flags, i64 size, i64 *counts) {
  count_chosen(size, counts, [=](i64 i) { return flags[i]; });
}

/// Lists the entries of a bitmap: writes the index of each set flag to `indices` and, if EACH_VALUE
/// is true, its value to `listed`.
template <class Op, class Stored, bool EACH_VALUE>
__global__ void list_flags(const bool *flags, const Stored *values, i64 size, const i64 *ends,
                           i32 *indices, Stored *listed) {
  each_chosen(size, ends, [=](i64 i) { return flags[i]; }, [=](i64 i, i64 p) {
    indices[p] = i32(i);
    if constexpr (EACH_VALUE) listed[p] = values[i];
  });
}

/// Writes entries into a bitmap: sets present[indices[k]] = true and, if EACH_VALUE is true, stores
/// the value.
template <class Op, class Stored, bool EACH_VALUE>
__global__ void spread_entries(const i32 *indices, const Stored *values, i64 count, bool *present,
                               Stored *spread) {
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    const i32 i = indices[k];
    present[i] = true;
    if constexpr (EACH_VALUE) spread[i] = values[k];
  }
}

/// Adds to sizes[j + 1] the number of entries in column j.
template <class Op, class Offset>
__global__ void count_columns(const i32 *indices, i64 count, Offset *sizes) {
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid())
    add_offset(sizes + indices[k] + 1, 1);
}

/// Writes the entries of the transpose. Entry k of the transpose is entry order[k] of the matrix.
template <class Op, class Stored>
__global__ void move_entries(const i64 *order, const i32 *rows, const Stored *values, i64 count,
                             i32 *indices, Stored *moved) {
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    const i64 from = order[k];
    indices[k] = rows[from];
    moved[k] = values[from];
  }
}

}  // namespace graphla
