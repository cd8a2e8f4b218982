// Definitions for the merge sort: how entries are distributed over tiles, and how one tile is
// sorted in shared memory.
//
// A tile holds at most TILE consecutive entries. Seam k is the boundary before tile k, and normally
// lies at entry k * STRIDE. For a vector, STRIDE equals TILE, and all entries form one row. For a
// matrix, STRIDE is smaller than TILE: a seam that would cut a row moves to the end of that row if
// this is at most TILE - STRIDE entries away. So a row with at most TILE - STRIDE entries is never
// cut, and a tile sorts many whole rows. The tiles of a row that is cut are merged in pairs, level
// by level. After L levels of merges, each group of 2^L consecutive tiles of the row forms one
// sorted run.
#ifndef GRAPHLA_SORT
#define GRAPHLA_SORT
#include "merge_path.cuh"
#include "rows.cuh"

namespace graphla {

/// A row: the entries `begin` to `end` - 1, which are in the tiles `first` to `last`.
template <int TILE, int STRIDE> struct Row {
  static_assert(2 * STRIDE >= TILE && STRIDE <= TILE, "a seam would move beyond the next");
  i64 begin, end, first, last;

  DEVICE Row(i64 begin, i64 end)
      : begin(begin), end(end), first(begin / STRIDE), last((end - 1) / STRIDE) {
    if (begin < last * STRIDE && end - last * STRIDE <= TILE - STRIDE) last--;
  }
  /// Returns whether seam k cuts this row in two.
  DEVICE bool is_cut_at(i64 k) const { return first < k && k <= last; }
  /// Returns the position of the row's first entry in tile k. If k <= `first`, returns `begin`; if
  /// k > `last`, returns `end`.
  DEVICE i64 part(i64 k) const { return k <= first ? begin : k <= last ? k * STRIDE : end; }
  /// Returns the number of levels of merges that the row needs.
  DEVICE int levels() const { return last > first ? 64 - __clzll(last - first) : 0; }
};

/// The seams of a matrix, which are the boundaries between its tiles. `indptr` contains the row
/// offsets. Entry k * STRIDE is at the normal position of seam k, and rows[k] is the row of this
/// entry. Both arrays are null for a vector.
template <int TILE, int STRIDE, class Offset> struct Seams {
  static constexpr bool HAS_ROWS = STRIDE < TILE;
  typedef graphla::Row<TILE, STRIDE> Row;
  const Offset *__restrict__ indptr;
  const i32 *__restrict__ rows;
  i64 count;

  DEVICE Row row(i64 k) const {
    if constexpr (!HAS_ROWS) return Row(0, count);
    else return Row(i64(indptr[rows[k]]), i64(indptr[rows[k] + 1]));
  }
  /// Returns the position of seam k, given the row at that seam.
  DEVICE i64 place(i64 k, const Row &row) const {
    if (k * STRIDE >= count) return count;
    return row.first < k && row.last < k ? row.end : k * STRIDE;
  }
};

/// The part of a merge that tile k computes. Two sorted runs of one row are merged: the entries
/// from `base` to `seam` - 1, and the entries from `seam` to `stop` - 1. Tile k computes the
/// entries from `from` to `to` - 1 of the merged run.
struct Merge {
  i64 base, seam, stop, from, to;
  template <class Row> DEVICE Merge(const Row &row, i64 k, int level) {
    const i64 of_row = k - row.first, pair = row.first + (of_row >> (level + 1) << (level + 1));
    base = row.part(pair);
    seam = row.part(pair + (i64(1) << level));
    stop = row.part(pair + (i64(2) << level));
    from = row.part(k);
    to = row.part(k + 1);
  }
};

/// Each merge of a row reads one of two buffers and writes the other, and the last merge writes
/// buffer 0. Returns which buffer (0 or 1) holds a row that needs `merges` further merges.
DEVICE int buffer_before(int merges) { return merges & 1; }

/// The part of a row in a tile, as positions in the tile.
struct Span {
  u16 begin, end;
};

/// Finds the rows in a tile of `size` entries that begins at entry `begin`. Each thread has ITEMS
/// consecutive positions of the tile. Returns a bit mask of these positions. The bit of a position
/// is set if a row begins at this position, or if the position is beyond the end of the tile. The
/// key at such a position must not be exchanged with the key before it. Stores in
/// spans[threadIdx.x] the span of the row that contains the thread's first position.
template <int ITEMS, class S>
DEVICE u32 find_spans(const S &seams, i64 k, i64 begin, int size, Span *spans) {
  const int mine = int(threadIdx.x) * ITEMS;
  u32 heads = 0;
#pragma unroll
  for (int n = 0; n < ITEMS; n++) heads |= u32(mine + n >= size) << n;
  Span span{0, u16(size)};
  if constexpr (S::HAS_ROWS) {
    if (mine < size) {
      const i64 last_row = seams.rows[k + 1], first = begin + mine;
      i64 row = row_among(seams.indptr, seams.rows[k], last_row, first);
      i64 end = i64(seams.indptr[row + 1]);
      span = Span{u16(greatest(i64(seams.indptr[row]) - begin, i64(0))),
                  u16(least(end - begin, i64(size)))};
      while (end - first < ITEMS && end - begin < size) {
        heads |= 1u << (end - first);
        row = i64(seams.indptr[row + 2]) > end ? row + 1
                                               : row_among(seams.indptr, row + 1, last_row, end);
        end = i64(seams.indptr[row + 1]);
      }
    }
  }
  spans[threadIdx.x] = span;
  return heads;
}

/// Sorts the keys of one thread with odd-even transposition, that is, by exchanging neighbors. A
/// key whose bit in `heads` is set is never exchanged with the key before it.
template <class Op, int ITEMS, class Key>
DEVICE void sort_held(Key (&key)[ITEMS], int (&at)[ITEMS], u32 heads) {
#pragma unroll 1
  for (int round = 0; round < ITEMS; round += 2) {
#pragma unroll
    for (int odd = 0; odd < 2; odd++) {
#pragma unroll
      for (int n = 1 + odd; n < ITEMS; n += 2) {
        if (heads >> n & 1 || !Op::before(key[n], key[n - 1])) continue;
        const Key low = key[n];
        key[n] = key[n - 1], key[n - 1] = low;
        const int low_at = at[n];
        at[n] = at[n - 1], at[n - 1] = low_at;
      }
    }
  }
}

/// A barrier for the 2 * width threads that merge two runs. If these threads do not fit in one
/// warp, all threads of the block wait.
DEVICE void sync_pairs(int width) {
  if (2 * width <= WARP) __syncwarp();
  else __syncthreads();
}

/// Each thread has merged a part of two runs. `start` and `i` are the positions in the left run at
/// which the part of this thread begins and ends. Returns true if the next thread's part does not
/// begin at `i`, which happens only if the comparison is not an order. If there is no next part
/// (`next` is false), returns false. starts[w] is the `start` of the first lane of warp w. A
/// barrier must separate the stores to `starts` from this call.
DEVICE bool leaves_path(int start, int i, bool next, const int *starts) {
  int next_start = shuffle_down(start, 1);
  if (lane() == WARP - 1 && next) next_start = starts[warp_in_block() + 1];
  return next && next_start != i;
}

}  // namespace graphla
#endif
