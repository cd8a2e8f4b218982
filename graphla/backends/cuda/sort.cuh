// What a merge sort stands on: how entries are dealt to tiles, and one tile sorted in shared
// memory.
//
// A tile holds TILE entries at most. Seam k between two tiles is meant to lie at entry k * STRIDE.
// Of a vector STRIDE is TILE, and all entries are one row. Of a matrix it is less: a seam inside a
// row moves to the end of that row if it is within TILE - STRIDE of it, so that no row of so few
// entries is ever cut, and rows that are in one tile are sorted there, many rows a tile. A row that
// is cut has its own merges, over its own tiles: 2^level tiles of it are one sorted run after
// `level` of them.
#ifndef GRAPHLA_SORT
#define GRAPHLA_SORT
#include "merge_path.cuh"
#include "rows.cuh"

namespace graphla {

/// A row: its entries begin..end - 1, which lie in the tiles first..last.
template <int TILE, int STRIDE> struct Row {
  static_assert(2 * STRIDE >= TILE && STRIDE <= TILE, "a seam would move beyond the next");
  i64 begin, end, first, last;

  DEVICE Row(i64 begin, i64 end)
      : begin(begin), end(end), first(begin / STRIDE), last((end - 1) / STRIDE) {
    if (begin < last * STRIDE && end - last * STRIDE <= TILE - STRIDE) last--;
  }
  /// Whether seam k cuts this row in two.
  DEVICE bool is_cut_at(i64 k) const { return first < k && k <= last; }
  /// Where its entries of tile k begin; its end, if k is beyond its last.
  DEVICE i64 part(i64 k) const { return k <= first ? begin : k <= last ? k * STRIDE : end; }
  /// How many merges it takes.
  DEVICE int levels() const { return last > first ? 64 - __clzll(last - first) : 0; }
};

/// Which row lies around each seam: `rows` of them, of the matrix `indptr`; of a vector both are
/// null.
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
  /// Where seam k lies, inside or before `row`, that around it.
  DEVICE i64 place(i64 k, const Row &row) const {
    if (k * STRIDE >= count) return count;
    return row.first < k && row.last < k ? row.end : k * STRIDE;
  }
};

/// What a merge of two runs of one row in tile k is made of: its entries from..to - 1, where the
/// runs base..seam - 1 and seam..stop - 1 meet.
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

/// Of two buffers that a row goes to and fro between, the one it is in with so many merges to go.
DEVICE int buffer_before(int merges) { return merges & 1; }

/// Part of a row in a tile, as places in it.
struct Span {
  u16 begin, end;
};

/// The rows in a tile of `size` entries from `begin` on. For each thread: of its ITEMS places,
/// which must not change with the place before (bits of what it returns), as another row begins
/// there, or no entry is there; and in spans[thread] the row at the first of them.
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

/// Sorts what one thread holds by exchanges of neighbours (odd-even transposition), none at a head.
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

/// A barrier of the 2 * width threads that merge two runs, at least.
DEVICE void sync_pairs(int width) {
  if (2 * width <= WARP) __syncwarp();
  else __syncthreads();
}

/// Whether the merge that this thread has left at i goes on elsewhere in the next, which does if
/// there is a `next`. `start` is where this thread began; starts[warp] where that warp's first lane
/// did, which a barrier must part from this call. Only a comparison that is no order takes two ways
/// through one merge.
DEVICE bool leaves_path(int start, int i, bool next, const int *starts) {
  int next_start = shuffle_down(start, 1);
  if (lane() == WARP - 1 && next) next_start = starts[warp_in_block() + 1];
  return next && next_start != i;
}

}  // namespace graphla
#endif
