// Stable merge sort with an arbitrary comparison function. It sorts the entries of a vector, or the
// entries within each row of a matrix.
//
// 1. Tiles: each thread sorts its few keys; then runs of doubling length are merged in shared
//    memory. Each thread finds where its part of a merge begins (merge_path.cuh), and merges this
//    part.
// 2. Rows of several tiles: sorted tiles are merged in the same way, level by level, between two
//    buffers. A block writes one tile of the result from parts of two runs; two of its warps find
//    these parts.
// Each key is stored with its original position. In step 1 this is the position in the tile (16
// bits). In step 2 it is the position among all entries (type Place).
//
// The comparison may be any function, even one that is not an order. Memory accesses always stay in
// bounds: sizes rather than comparisons bound all loops, and searches stay inside their runs. Each
// thread reads as many entries as it writes. So the result of a merge is a permutation of its input
// if each thread's part ends where the next part begins. With a strict weak order, every part does
// so: there is exactly one merge path, and all searches find it. If a part ends elsewhere, the
// comparison contradicts itself. After a contradiction in step 1, the tile keeps its original
// order. After a contradiction in step 2, all entries keep their original order.
//
// N. Satish, M. Harris, M. Garland: Designing Efficient Sorting Algorithms for Manycore GPUs
// (2009); the merges are those of merge_path.cuh.
#include "sort.cuh"

namespace graphla {

/// Finds the rows at the seams (the boundaries of tiles, see sort.cuh). Sets rows[k] to the row of
/// the entry at seam k, for each k from 0 to `tiles`. Sets *levels to the maximum over all rows of
/// the number of levels of merges that the row needs.
template <class Op, class Offset, int TILE, int STRIDE>
__global__ void find_seams(const Offset *__restrict__ indptr, i64 nrows, i64 count, i64 tiles,
                           i32 *rows, i64 *levels) {
  for (i64 k = thread_in_grid(); k <= tiles; k += threads_in_grid()) {
    const i64 row = segment_of(indptr, nrows, least(k * STRIDE, count - 1));
    rows[k] = i32(row);
    const i64 most = Row<TILE, STRIDE>(i64(indptr[row]), i64(indptr[row + 1])).levels();
    if (most > load_relaxed(levels)) atomicMax(levels, most);
  }
}

/// Each thread loads ITEMS keys of the tile, from position `mine` on, sorts them in registers, and
/// writes them back.
template <class Op, int ITEMS>
DEVICE void sort_own(typename Op::X *keys, u16 *order, int size, int mine, u32 heads,
                     typename Op::X (&key)[ITEMS], int (&at)[ITEMS]) {
#pragma unroll
  for (int n = 0; n < ITEMS; n++) {
    at[n] = mine + n;
    key[n] = mine + n < size ? keys[mine + n] : typename Op::X();
  }
  sort_held<Op>(key, at, heads);
#pragma unroll
  for (int n = 0; n < ITEMS; n++) {
    // No barrier is needed before these stores, because other threads do not use the elements at
    // the positions `mine` to `mine` + ITEMS - 1 until the next barrier.
    if (mine + n >= size) continue;
    keys[mine + n] = key[n];
    order[mine + n] = u16(at[n]);
  }
}

/// Sorts one tile per block: sorts the entries of each row in the tile separately, and moves the
/// original positions together with the entries. Writes each row to the buffer that the first merge
/// of the row reads: `values_0` and `places_0`, or `values_1` and `places_1`. A row that lies in
/// this tile only needs no merge, and is written to `values_0` and `places_0`.
template <class Op, class Place, class Offset, int THREADS, int ITEMS, int STRIDE>
__global__ void __launch_bounds__(THREADS, 768 / THREADS)
    sort_tiles(const typename Op::X *__restrict__ values, i64 count,
               const Offset *__restrict__ indptr, const i32 *__restrict__ rows,
               typename Op::X *__restrict__ values_0, Place *__restrict__ places_0,
               typename Op::X *__restrict__ values_1, Place *__restrict__ places_1) {
  typedef typename Op::X Key;
  constexpr int TILE = THREADS * ITEMS;
  static_assert(
      (THREADS & (THREADS - 1)) == 0 && THREADS >= 2 * WARP && ITEMS <= 32 && TILE < 1 << 16,
      "runs double; heads are bits of a word; places in a tile are 16 bits");
  SHARED(Key, keys, TILE);
  SHARED(u16, order, TILE);
  SHARED(Span, spans, THREADS);
  SHARED(int, starts, THREADS / WARP);
  const Seams<TILE, STRIDE, Offset> seams{indptr, rows, count};
  const i64 k = blockIdx.x;
  const auto left = seams.row(k), right = seams.row(k + 1);
  const i64 begin = seams.place(k, left);
  const int size = int(seams.place(k + 1, right) - begin), mine = int(threadIdx.x) * ITEMS;

  for (int n = threadIdx.x; n < size; n += THREADS) keys[n] = values[begin + n];
  const u32 heads = find_spans<ITEMS>(seams, k, begin, size, spans);
  __syncthreads();
  Key key[ITEMS];
  int at[ITEMS];
  sort_own<Op>(keys, order, size, mine, heads, key, at);

  bool contradicts = false;
  for (int width = 1; width < THREADS; width *= 2) {
    sync_pairs(width);
    const int middle = (int(threadIdx.x) & -(2 * width)) + width, seam = middle * ITEMS;
    const int begin_a = greatest(int(spans[middle].begin), seam - width * ITEMS);
    const int end_b = least(int(spans[middle].end), seam + width * ITEMS);
    const int from = greatest(mine, begin_a), to = least(mine + ITEMS, end_b);
    const bool merges = begin_a < seam && seam < end_b && from < to;
    int start = 0, i = 0, j = 0;
    if (merges) {
      start = i =
          begin_a + merge_split(seam - begin_a, end_b - seam, from - begin_a, [&](int a, int b) {
        return Op::before(keys[seam + b], keys[begin_a + a]);
      });
      j = seam + from - i;
      merge_steps<ITEMS>(keys, i, seam, j, end_b, from - mine, to - mine, Op::before,
                         [&](int n, int place, Key x) {
        key[n] = x;
        at[n] = order[place];
      });
    }
    if (lane() == 0) starts[warp_in_block()] = start;
    sync_pairs(width);
    contradicts |= leaves_path(start, i, merges && to < end_b, starts);
    if (!merges) continue;
#pragma unroll
    for (int n = 0; n < ITEMS; n++) {
      if (mine + n < from || mine + n >= to) continue;
      keys[mine + n] = key[n];
      order[mine + n] = u16(at[n]);
    }
  }

  const bool as_it_came = __syncthreads_or(contradicts);
  const int left_buffer = left.is_cut_at(k) ? buffer_before(left.levels()) : 0;
  const int right_buffer = right.is_cut_at(k + 1) ? buffer_before(right.levels()) : 0;
  for (int n = threadIdx.x; n < size; n += THREADS) {
    const i64 place = begin + n;
    const int buffer = place < left.end && left_buffer || place >= right.begin && right_buffer;
    (buffer ? values_1 : values_0)[place] = as_it_came ? values[place] : keys[n];
    (buffer ? places_1 : places_0)[place] = Place(as_it_came ? place : begin + order[n]);
  }
}

/// Runs one level of merges: level number `level`, counted from 0. Rows that need fewer levels of
/// merges are skipped. Each block writes one tile of the result. At most two rows extend beyond the
/// tile: one across the left seam, and one across the right seam. Both may be the same row. The
/// block merges its part of each of these rows. At a seam, the two neighboring blocks find the same
/// point of the merge path, because they compare the same keys.
template <class Op, class Place, class Offset, int THREADS, int ITEMS, int STRIDE>
__global__ void __launch_bounds__(THREADS, 1536 / THREADS)
    merge_tiles(i64 count, const Offset *__restrict__ indptr, const i32 *__restrict__ rows,
                int level, typename Op::X *values_0, Place *places_0, typename Op::X *values_1,
                Place *places_1, i64 *contradicted) {
  typedef typename Op::X Key;
  constexpr int TILE = THREADS * ITEMS;
  SHARED(Key, keys, TILE);
  SHARED(u16, order, TILE);
  SHARED(int, starts, THREADS / WARP);
  SHARED(i64, splits, 2);
  const Seams<TILE, STRIDE, Offset> seams{indptr, rows, count};
  const i64 k = blockIdx.x;
  for (int side = 0; side < 2; side++) {
    const auto row = seams.row(k + side);
    if (!row.is_cut_at(k + side) || side && row.first < k || level >= row.levels()) continue;
    const bool is_odd = buffer_before(row.levels() - level);
    const Key *from_values = is_odd ? values_1 : values_0;
    const Place *from_places = is_odd ? places_1 : places_0;
    Key *to_values = is_odd ? values_0 : values_1;
    Place *to_places = is_odd ? places_0 : places_1;

    const Merge merge(row, k, level);
    // Wait until no thread uses the previous row's data in shared memory any longer.
    __syncthreads();
    const int warp = warp_in_block();
    if (warp < 2) {
      const i64 split =
          warp_merge_split(merge.seam - merge.base, merge.stop - merge.seam,
                           (warp ? merge.to : merge.from) - merge.base, [&](i64 i, i64 j) {
        return Op::before(from_values[merge.seam + j], from_values[merge.base + i]);
      });
      if (lane() == 0) splits[warp] = split;
    }
    __syncthreads();
    const i64 first = splits[0], last = splits[1];
    const int size = int(merge.to - merge.from), a_count = int(last - first),
              b_count = size - a_count;
    if (a_count < 0 || b_count < 0) {
      if (threadIdx.x == 0) store_relaxed(contradicted, i64(1));
      continue;
    }
    const i64 a = merge.base + first, b = merge.seam + (merge.from - merge.base - first) - a_count;
    for (int n = threadIdx.x; n < size; n += THREADS)
      keys[n] = from_values[(n < a_count ? a : b) + n];
    __syncthreads();
    const int mine = least(int(threadIdx.x) * ITEMS, size), limit = least(mine + ITEMS, size);
    const int start = merge_split(a_count, b_count, mine, [&](int i, int j) {
      return Op::before(keys[a_count + j], keys[i]);
    });
    int i = start, j = a_count + mine - start;
    merge_steps<ITEMS>(keys, i, a_count, j, size, 0, limit - mine, Op::before,
                       [&](int n, int place, Key) { order[mine + n] = u16(place); });
    if (lane() == 0) starts[warp_in_block()] = start;
    __syncthreads();
    if (leaves_path(start, i, limit < size, starts)) store_relaxed(contradicted, i64(1));
    for (int n = threadIdx.x; n < size; n += THREADS) {
      const int place = order[n];
      to_values[merge.from + n] = keys[place];
      to_places[merge.from + n] = from_places[(place < a_count ? a : b) + place];
    }
  }
}

/// If `*contradicted` is not 0, because a merge of tiles found that the comparison contradicts
/// itself, restores the original order of all entries.
template <class Op, class Place>
__global__ void leave_as_they_came(const i64 *__restrict__ contradicted,
                                   const typename Op::X *__restrict__ given, i64 count,
                                   typename Op::X *__restrict__ values,
                                   Place *__restrict__ places) {
  if (!*contradicted) return;
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid())
    values[k] = given[k], places[k] = Place(k);
}

}  // namespace graphla
