// Computes those rows of C = A B that have many terms. Each row is divided into tiles of 2^BITS
// columns. Shared memory holds one sum for every column of a tile.
//
// A warp computes one tile of one listed row. It takes 32 rows of B at a time. Each lane finds the
// entries of one of these rows that belong to the tile, and then the whole warp reads these entries
// row by row. The column indices within a row of B are distinct, so at most one lane at a time adds
// to a given sum. Thus no atomics are needed, and terms are always added in the same order. A
// bitmap records which columns have a sum, and the warp then writes these columns in ascending
// order. An earlier launch counts the columns of each tile; in each step a warp counts SPAN tiles.
// If the template parameter MASK is OUTSIDE, the kernels clear the bits of the columns at which the
// mask has an entry in the same row.
#include "spgemm.cuh"

namespace graphla {

constexpr int TILE_WARPS = SpgemmTuning::tile_warps;
constexpr int SPAN = SpgemmTuning::span;  // number of tiles that a warp counts per step

/// Shortens a range of entries of a sorted row of B, so that it contains only entries in the
/// columns `begin` to `end` - 1. The range consists of the entries `from` to `to` - 1.
DEVICE void cut(const i32 *__restrict__ b_indices, i64 begin, i64 end, i64 &from, i64 &to) {
  from = lower_bound<i32, i64>(b_indices, from, to, i32(begin));
  if (end <= 0x7fffffff) to = lower_bound<i32, i64>(b_indices, from, to, i32(end));
}

/// Clears the bits of those columns from `begin` to `end` - 1 that the mask lists in row i.
template <int MASK, class Mask>
DEVICE void clear_masked(const Mask &outside, i64 i, i64 begin, i64 end, u32 *bits) {
  if constexpr (MASK == OUTSIDE) {
    const i32 *__restrict__ m_indices = outside.indices;
    const i64 stop = outside.end(i);
    for (i64 p = lower_bound<i32, i64>(m_indices, outside.begin(i), stop, i32(begin)) + lane();
         p < stop; p += WARP) {
      const i64 column = m_indices[p] - begin;
      if (column >= end - begin) break;
      atomicAnd(bits + column / WARP, ~(1u << (column % WARP)));
    }
    __syncwarp();
  }
}

/// Counts the columns of each listed row i of C, and of each of its `tiles` tiles. The number of
/// columns of row i is added to sizes[i], which must initially be zero. If i is listed at position
/// `row`, of_tiles[row * tiles + tile] is set to the number of columns in the tile.
template <class Op, class OffsetA, class OffsetB, class OffsetM, int MASK, int BITS>
__global__ void __launch_bounds__(TILE_WARPS *WARP, 6)
    count_tiles(const i32 *__restrict__ listed, i64 count, i64 tiles, Csr<OffsetA> a,
                Csr<OffsetB> b, Csr<OffsetM> outside, i64 *__restrict__ sizes,
                i64 *__restrict__ of_tiles) {
  const i64 ncols = b.ncols;
  constexpr int WORDS = 1 << (BITS - 5);
  SHARED(u32, all_bits, TILE_WARPS * SPAN * WORDS);
  u32 *bits = all_bits + warp_in_block() * SPAN * WORDS;
  const i64 spans = (tiles + SPAN - 1) / SPAN;
  const Group<WARP> group;
  for (i64 unit = thread_in_grid() / WARP; unit < count * spans; unit += threads_in_grid() / WARP) {
    const i64 row = unit / spans, i = listed[row], first_tile = unit % spans * SPAN;
    const i64 begin = first_tile << BITS, end = least((first_tile + SPAN) << BITS, ncols);
    __syncwarp();
    for (int word = lane(); word < SPAN * WORDS; word += WARP) bits[word] = 0;
    __syncwarp();
    auto narrow = [&](i64 &from, i64 &to) {
      if (spans > 1) cut(b.indices, begin, end, from, to);
    };
    each_term(group, a, Nothing(), b, Nothing(), i, true, narrow, [&](i32, i32, i32 j, i32) {
      const u32 column = u32(j - begin), bit = 1u << (column % WARP);
      if (!(load_relaxed(bits + column / WARP) & bit)) atomicOr(bits + column / WARP, bit);
    });
    clear_masked<MASK>(outside, i, begin, end, bits);
    i64 all = 0;
    for (int tile = 0; tile < SPAN && first_tile + tile < tiles; tile++) {
      i64 there = 0;
      for (int word = lane(); word < WORDS; word += WARP)
        there += __popc(bits[tile * WORDS + word]);
      there = warp_sum(there);
      if (lane() == 0) of_tiles[row * tiles + first_tile + tile] = there;
      all += there;
    }
    if (lane() == 0 && all) atomicAdd((u64 *)sizes + i, u64(all));
  }
}

/// Writes each listed row i of C to its positions in C, which begin at indptr[i]. The array `ends`
/// contains the inclusive running sums of the array `of_tiles` that count_tiles has computed.
template <class Op, class OffsetA, class StoredX, int KEPT_X, class OffsetB, class StoredY,
          int KEPT_Y, class OffsetM, int MASK, class OffsetC, int BITS, bool HAS_VALUES>
__global__ void __launch_bounds__(TILE_WARPS *WARP, 6)
    make_tiles(const i32 *__restrict__ listed, i64 count, i64 tiles, Csr<OffsetA, StoredX> a,
               Csr<OffsetB, StoredY> b, Csr<OffsetM> outside, const i64 *__restrict__ ends,
               Made<OffsetC, typename Op::Z> c) {
  const i64 ncols = b.ncols;
  i32 *__restrict__ indices = c.indices;
  typename Op::Z *__restrict__ z = c.values;
  typedef typename Op::Z Z;
  constexpr int WORDS = 1 << (BITS - 5);
  SHARED(u32, all_bits, TILE_WARPS * WORDS);
  SHARED(Z, all_sums, HAS_VALUES ? TILE_WARPS << BITS : 1);
  u32 *bits = all_bits + warp_in_block() * WORDS;
  Z *sums = all_sums + (HAS_VALUES ? warp_in_block() << BITS : 0);
  const Values<typename Op::X, StoredX, KEPT_X> x(a.values);
  const Values<typename Op::Y, StoredY, KEPT_Y> y(b.values);
  const Group<WARP> group;
  for (i64 unit = thread_in_grid() / WARP; unit < count * tiles; unit += threads_in_grid() / WARP) {
    const i64 row = unit / tiles, i = listed[row], tile = unit % tiles;
    const i64 begin = tile << BITS, end = least((tile + 1) << BITS, ncols);
    const i64 before = unit ? ends[unit - 1] : 0;
    if (ends[unit] == before) continue;
    __syncwarp();
    for (int word = lane(); word < WORDS; word += WARP) bits[word] = 0;
    if (HAS_VALUES && !Op::IS_ANY)
      for (int column = lane(); column < 1 << BITS; column += WARP) sums[column] = Op::identity();
    __syncwarp();
    auto mark = [&](u32 column) {
      const u32 bit = 1u << (column % WARP);
      const bool found = (load_relaxed(bits + column / WARP) & bit) != 0;
      if (!found) atomicOr(bits + column / WARP, bit);
      return found;
    };
    auto narrow = [&](i64 &from, i64 &to) {
      if (tiles > 1) cut(b.indices, begin, end, from, to);
    };
    if constexpr (HAS_VALUES) {
      each_term(group, a, x, b, y, i, true, narrow,
                [&](i32 k, typename Op::X x, i32 j, typename Op::Y y) {
        const u32 column = u32(j - begin);
        bool found = mark(column);
        if (Op::IS_ANY && found) return;
        Z sum = sums[column];
        add_term<Op>(sum, found, x, y, i, k, j);
        sums[column] = sum;
      });
    } else {
      each_term(group, a, Nothing(), b, Nothing(), i, true, narrow,
                [&](i32, i32, i32 j, i32) { mark(u32(j - begin)); });
    }
    clear_masked<MASK>(outside, i, begin, end, bits);
    i64 place = i64(c.indptr[i]) + before - (row ? ends[row * tiles - 1] : 0);
    for (int word = 0; word < WORDS; word++) {
      const u32 there = bits[word];
      if (there >> lane() & 1) {
        const i64 at = place + __popc(there & ((1u << lane()) - 1));
        indices[at] = i32(begin + word * WARP + lane());
        if (HAS_VALUES) z[at] = sums[word * WARP + lane()];
      }
      place += __popc(there);
    }
  }
}

}  // namespace graphla
