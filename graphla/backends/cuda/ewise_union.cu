// Union of two matrices or vectors with sorted entries: z(i, j) = a(i, j) (.) b(i, j) where both
// operands have an entry. Where only one operand has an entry, z(i, j) is that entry.
//
// The kernels use the merge path algorithm (merge_path.cuh). The items of the merge are the entries
// of a and of b; if two items have equal indices, a's item comes first. The merge is cut into tiles
// with equal numbers of items, however the items of a and b alternate, and however long the rows
// are. First, each block merges the indices of a tile in shared memory, a few items per thread. For
// each item it records two flags: whether the item is from a, and whether it is dropped. An item of
// b is dropped if an item of a has the same index. The running counts of these flags tell where
// item number d of the merge comes from, and where it goes:
//   p = number of a's items before d; if d is from a, it is entry p of a,
//   q = d - p; if d is from b, it is entry q of b,
//   position in the result = d - number of dropped items before d.
// So the second pass can process each item independently of all others. If item d is from a and
// item d + 1 is dropped, both operands have an entry at this index. The indices of a, and those of
// b, are sorted and unique.
#include "merge_path.cuh"
#include "rows.cuh"

namespace graphla {

constexpr int MERGE_THREADS = BLOCK_THREADS;
enum MergeShape {
  MERGE_TILE = 4096,  // number of items in a tile; a position in a tile fits in 16 bits
  MOVES = 2           // number of items that a thread loads before it writes their results
};
constexpr int ITEMS = MERGE_TILE / MERGE_THREADS;  // tile items per thread
constexpr int PARTS = 1024;                        // capacity of `kept`, in row starts of a tile
constexpr u32 NO_INDEX = ~0u;  // larger than every index; marks the end of a row

/// The result of the first pass over a merge: two flags per item, and counts of these flags. Word k
/// of `of_a`, `dropped` and `within` describes items 32 k to 32 k + 31. A bit of `of_a` is set if
/// the item is from a, and a bit of `dropped` is set if the item is dropped. A word of `within`
/// describes the items of the tile that precede item 32 k: its lower 16 bits are the number of
/// these items that are from a, and its upper 16 bits are the number of dropped ones. For each
/// tile, `starts` contains the number of a's items before the tile, and `ends` the number of
/// dropped items from the start of the merge to the end of the tile.
struct Notes {
  u32 *of_a;  // the start of three arrays with `words` words each: of_a, dropped, within
  i64 words;
  i64 *starts, *ends;

  DEVICE u32 *dropped() const { return of_a + words; }
  DEVICE u32 *within() const { return of_a + 2 * words; }

  DEVICE bool is_of_a(i64 d) const { return (of_a[d / WARP] >> (d % WARP)) & 1; }
  DEVICE bool is_dropped(i64 d) const { return (dropped()[d / WARP] >> (d % WARP)) & 1; }
  /// Returns the number of a's items before d.
  DEVICE i64 a_before(i64 d) const {
    const u32 here = of_a[d / WARP] & ~(~0u << (d % WARP));
    return starts[d / MERGE_TILE] + (within()[d / WARP] & 0xffff) + __popc(here);
  }
  /// Returns the position of item d in the result; d may be the number of items.
  DEVICE i64 place(i64 d) const {
    const u32 here = dropped()[d / WARP] & ~(~0u << (d % WARP));
    const i64 tile = d / MERGE_TILE;
    return d - (tile ? ends[tile - 1] : 0) - (within()[d / WARP] >> 16) - __popc(here);
  }
};

/// A position in the merge, between two items: the row of the next item, and the numbers of entries
/// of a and of b that precede this item.
struct Cut {
  i64 row, a, b;
};

/// The two operands of a union. Both are matrices, or both are vectors. A vector counts as one row.
template <int WHERE, class Offset> struct Both {
  const Offset *a_indptr;
  const i32 *a_indices;
  i64 a_count;
  const Offset *b_indptr;
  const i32 *b_indices;
  i64 b_count, nrows;

  /// Returns the number of the first item of row i.
  DEVICE i64 begin(i64 i) const { return i64(a_indptr[i]) + i64(b_indptr[i]); }

  /// Returns the row of item d, which must be one of the rows `first` to `last`: the last row whose
  /// first item is at or before d.
  DEVICE i64 row_of(i64 first, i64 last, i64 d) const {
    const i64 others = last - first;
    return first + merge_split(others, others, others,
                               [&](i64 i, i64) { return begin(first + 1 + i) > d; });
  }

  /// Returns the cut before item d, or after the last item. The whole warp must call this.
  DEVICE Cut warp_cut(i64 d) const {
    i64 row = 0, a_begin = 0, a_end = a_count, b_begin = 0, b_end = b_count;
    if constexpr (WHERE == BY_ROWS) {
      row = warp_merge_split(nrows, nrows, nrows, [&](i64 i, i64) { return begin(i) > d; }) - 1;
      a_begin = i64(a_indptr[row]), a_end = i64(a_indptr[row + 1]);
      b_begin = i64(b_indptr[row]), b_end = i64(b_indptr[row + 1]);
    }
    const i64 within = d - a_begin - b_begin;
    const i64 i = warp_merge_split(a_end - a_begin, b_end - b_begin, within, [&](i64 i, i64 j) {
      return b_indices[b_begin + j] < a_indices[a_begin + i];
    });
    return Cut{row, a_begin + i, b_begin + within - i};
  }

  /// Writes the cuts before and after the tile that begins at item `begin`. Every thread of the
  /// block must call this.
  DEVICE void block_cuts(i64 begin, Cut *cuts) const {
    __syncthreads();  // wait for threads that still read the cuts of the previous tile
    const int warp = warp_in_block();
    if (warp < 2) {
      const Cut cut = warp_cut(warp ? least(begin + MERGE_TILE, a_count + b_count) : begin);
      if (lane() == 0) cuts[warp] = cut;
    }
    __syncthreads();
  }

  /// Loads the indices between two cuts into index(1), index(2), ...: first those of a, then those
  /// of b. Sets index(0) to the index of the entry of a before the cut `from`, or to NO_INDEX if
  /// that entry belongs to another row. Every thread of the block must call this.
  template <class Index> DEVICE void block_load(const Cut &from, const Cut &to, Index index) const {
    const i32 *__restrict__ of_a = a_indices + from.a, *__restrict__ of_b = b_indices + from.b;
    const int a_items = int(to.a - from.a), items = a_items + int(to.b - from.b);
    for (int n = threadIdx.x; n < items; n += blockDim.x)
      index(1 + n) = u32(n < a_items ? of_a[n] : of_b[n - a_items]);
    if (threadIdx.x != 0) return;
    const i64 row_begin = WHERE == BY_ROWS ? i64(a_indptr[from.row]) : 0;
    index(0) = from.a > row_begin ? u32(a_indices[from.a - 1]) : NO_INDEX;
  }

  /// Returns the distance from the cut `from` to the start of row i, as two 16-bit numbers: the
  /// lower half is the number of a's entries in between, and the upper half is the number of b's
  /// entries. A row that begins before `from` or after the cut `to` is treated as if it began at
  /// that cut.
  DEVICE u32 part(const Cut &from, const Cut &to, i64 i) const {
    const i64 a = least(greatest(i64(a_indptr[i]), from.a), to.a) - from.a;
    const i64 b = least(greatest(i64(b_indptr[i]), from.b), to.b) - from.b;
    return u32(a) | u32(b) << 16;
  }
};

/// Writes the words of a tile to `notes`: 32 flags from GROUP threads make up each word. Each
/// thread passes the flags of its ITEMS items: `mine` (the item is from a) and `equals` (the item
/// is dropped). `start` is the number of a's items in the tile before the thread's items. Returns
/// the number of dropped items in the tile. Every thread of the block must call this.
DEVICE int block_write(const Notes &notes, i64 begin, u32 mine, u32 equals, u32 start,
                       int *scratch) {
  int all = 0;
  const u32 before = u32(block_exclusive_sum(__popc(equals), scratch, all));
  constexpr int GROUP = WARP / ITEMS;  // number of threads whose items share a word of 32 flags
  const int shift = int(threadIdx.x) % GROUP * ITEMS;
  mine <<= shift, equals <<= shift;
#pragma unroll
  for (int delta = 1; delta < GROUP; delta *= 2) {
    mine |= __shfl_xor_sync(ALL_LANES, mine, delta);
    equals |= __shfl_xor_sync(ALL_LANES, equals, delta);
  }
  const i64 word = (begin + i64(threadIdx.x) * ITEMS) / WARP;
  if (shift == 0 && word < notes.words) {
    notes.of_a[word] = mine, notes.dropped()[word] = equals;
    notes.within()[word] = start | before << 16;
  }
  return all;
}

/// Merges the indices of both operands, and writes the result to `notes`. The host then replaces
/// the values of `notes.ends` with their running sums.
template <class Op, int WHERE, class Offset>
__global__ void __launch_bounds__(MERGE_THREADS, 7)
    walk_path(Both<WHERE, Offset> both, Notes notes) {
  constexpr int MOST = MERGE_TILE + 1;
  SHARED(Cut, cuts, 2);
  SHARED(u32, padded, MOST + MOST / WARP);
  SHARED(int, scratch, MERGE_THREADS / WARP + 1);
  // The array `padded` has three parts: the last index of `a` before the tile (or NO_INDEX, if that
  // index belongs to another row), the indices of `a` in the tile, and the indices of `b` in the
  // tile. The positions that adjacent threads read are about ITEMS elements apart. For vectors, one
  // unused element follows every 32 elements to avoid bank conflicts between these reads.
  const auto index = [&](int n) -> u32 & { return padded[WHERE == BY_ROWS ? n : n + n / WARP]; };
  SHARED(u32, kept, WHERE == BY_ROWS ? PARTS + 1 : 1);
  const i64 stride = i64(gridDim.x) * MERGE_TILE;
  for (i64 begin = i64(blockIdx.x) * MERGE_TILE; begin < notes.words * WARP; begin += stride) {
    both.block_cuts(begin, cuts);
    const Cut from = cuts[0], to = cuts[1];
    const int of_b = 1 + int(to.a - from.a), items = of_b - 1 + int(to.b - from.b);
    both.block_load(from, to, index);
    const i64 rows = WHERE == BY_ROWS ? to.row - from.row + 1 : 0;
    const bool keeps = rows <= PARTS;
    if (WHERE == BY_ROWS && keeps)
      for (int n = threadIdx.x; n <= rows; n += blockDim.x)
        kept[n] = both.part(from, to, from.row + n);
    const auto part = [&](int n) { return keeps ? kept[n] : both.part(from, to, from.row + n); };
    __syncthreads();
    const int first = least(int(threadIdx.x) * ITEMS, items);
    // Returns the number of the row that contains item d of the tile. Items and rows are numbered
    // from the start of the tile. The search starts at row n, so item d must not be in an earlier
    // row.
    const auto row_of = [&](int n, int d) {
      const int others = int(rows) - 1 - n;
      return n + merge_split(others, others, others, [&](int k, int) {
        const u32 begins = part(n + 1 + k);
        return int((begins & 0xffff) + (begins >> 16)) > d;
      });
    };
    int row = 0, a_begin = 0, a_end = of_b - 1, b_begin = 0, b_end = items - a_end;
    const auto enter = [&](int n) {
      const u32 begins = part(n), ends = part(n + 1);
      a_begin = begins & 0xffff, b_begin = begins >> 16, a_end = ends & 0xffff, b_end = ends >> 16;
    };
    if constexpr (WHERE == BY_ROWS) {
      row = row_of(0, first);
      enter(row);
    }
    int i = a_begin + merge_split(a_end - a_begin, b_end - b_begin, first - a_begin - b_begin,
                                  [&](int i, int j) {
      return index(of_b + b_begin + j) < index(1 + a_begin + i);
    });
    int j = first - i;
    const u32 start = u32(i);
    u32 last = i > a_begin || row == 0 ? index(i) : NO_INDEX;  // a's previous index
    u32 x = i < a_end ? index(1 + i) : NO_INDEX, y = j < b_end ? index(of_b + j) : NO_INDEX;
    u32 mine = 0, equals = 0;
#pragma unroll(WHERE == BY_ROWS ? 1 : ITEMS)
    for (int n = 0; n < ITEMS; n++) {
      if (first + n >= items) break;
      if (WHERE == BY_ROWS && i == a_end && j == b_end) {  // continue with the next nonempty row
        row++;
        enter(row);
        if (a_begin == a_end && b_begin == b_end) row = row_of(row, first + n), enter(row);
        last = NO_INDEX;
        x = i < a_end ? index(1 + i) : NO_INDEX, y = j < b_end ? index(of_b + j) : NO_INDEX;
      }
      if (x <= y) {
        mine |= 1u << n, last = x, i++;
        x = i < a_end ? index(1 + i) : NO_INDEX;
      } else {
        equals |= u32(y == last) << n, j++;
        y = j < b_end ? index(of_b + j) : NO_INDEX;
      }
    }
    const int all = block_write(notes, begin, mine, equals, start, scratch);
    if (threadIdx.x == 0) {
      notes.starts[begin / MERGE_TILE] = from.a;
      notes.ends[begin / MERGE_TILE] = all;
    }
  }
}

/// Which operand has a fill value. The fill value stands in for a missing entry of this operand
/// where the other operand has an entry.
enum Fill { NO_FILL = 0, FILL_RIGHT = 1, FILL_LEFT = 2 };

/// Returns the value of the union where only one operand has an entry: `alone_left` for an entry x
/// of a, and `alone_right` for an entry y of b.
template <class Op, int FILL, class A>
DEVICE typename Op::Z alone_left(A x, typename Op::Y right, i64 i, i64 j) {
  if constexpr (FILL & FILL_RIGHT) return Op::accumulate(x, right, i, j);
  else return convert<typename Op::Z>(x);
}
template <class Op, int FILL, class B>
DEVICE typename Op::Z alone_right(typename Op::X left, B y, i64 i, i64 j) {
  if constexpr (FILL & FILL_LEFT) return Op::accumulate(left, y, i, j);
  else return convert<typename Op::Z>(y);
}

/// Writes the union, using the positions that `walk_path` has recorded. `new_indices` is null if
/// the pattern is already known.
template <class Op, class A, int KEPT_A, class B, int KEPT_B, int FILL, int WHERE, class Offset,
          class NewOffset>
__global__ void merge_entries(Both<WHERE, Offset> both, Notes notes, const A *a_values,
                              const B *b_values, typename Op::X left, typename Op::Y right,
                              NewOffset *__restrict__ new_indptr, i32 *__restrict__ new_indices,
                              typename Op::Z *__restrict__ z) {
  const i32 *__restrict__ a_indices = both.a_indices, *__restrict__ b_indices = both.b_indices;
  const Values<A, A, KEPT_A> a(a_values);
  const Values<B, B, KEPT_B> b(b_values);
  const i64 nrows = both.nrows, total = both.a_count + both.b_count, tile = i64(blockDim.x) * MOVES;
  for (i64 begin = blockIdx.x * tile; begin < total; begin += gridDim.x * tile) {
    A x[MOVES];
    B y[MOVES];
    i32 index[MOVES];
    i64 place[MOVES];
    bool has_x[MOVES], has_y[MOVES];
#pragma unroll
    // This loop contains no stores, so all loads are issued before the first store.
    for (int step = 0; step < MOVES; step++) {
      const i64 d = begin + i64(step) * blockDim.x + threadIdx.x;
      x[step] = A(0), y[step] = B(0), index[step] = 0, place[step] = 0;
      has_x[step] = has_y[step] = false;
      if (d < total) {
        const i64 p = notes.a_before(d), q = d - p;
        place[step] = notes.place(d);
        has_x[step] = notes.is_of_a(d);
        has_y[step] = has_x[step] ? notes.is_dropped(d + 1) : !notes.is_dropped(d);
        if (has_x[step]) index[step] = a_indices[p], x[step] = a[p];
        else if (has_y[step]) index[step] = b_indices[q];
        if (has_y[step]) y[step] = b[q];
      }
    }
#pragma unroll
    for (int step = 0; step < MOVES; step++) {
      if (!has_x[step] && !has_y[step]) continue;
      i64 i = index[step], j = 0;
      if constexpr (WHERE == BY_ROWS) {
        i = 0, j = index[step];
        if constexpr (Op::NEEDS_ROW)
          i = both.row_of(0, nrows - 1, begin + i64(step) * blockDim.x + threadIdx.x);
      }
      if (new_indices) new_indices[place[step]] = index[step];
      z[place[step]] = !has_x[step]  ? alone_right<Op, FILL>(left, y[step], i, j)
                       : has_y[step] ? Op::accumulate(x[step], y[step], i, j)
                                     : alone_left<Op, FILL>(x[step], right, i, j);
    }
  }
  if (WHERE == BY_ROWS && new_indices) {
    for (i64 i = thread_in_grid(); i <= nrows; i += threads_in_grid()) {
      new_indptr[i] = NewOffset(notes.place(both.begin(i)));
    }
  }
}

/// Combines the entries of one operand with the fill value; the other operand is empty.
template <class Op, class Stored, int KEPT, int FILL, int WHERE, class Offset>
__global__ void fill_entries(const Offset *indptr, i64 nrows, const i32 *indices,
                             const Stored *values, typename Op::X left, typename Op::Y right,
                             typename Op::Z *z, i64 count) {
  SHARED(i64, span, 2);
  const Values<Stored, Stored, KEPT> v(values);
  each_entry<WHERE, Op::NEEDS_ROW>(indptr, nrows, indices, count, count, span,
                                   [&](i64 k, i64 i, i64 j) {
    if (k < count)
      z[k] =
          FILL == FILL_LEFT ? Op::accumulate(left, v[k], i, j) : Op::accumulate(v[k], right, i, j);
  });
}

}  // namespace graphla
