// Rows of C = A B of many terms, made tile by tile: 2^BITS columns at a time, dense in shared memory.
//
// A warp takes one tile of one listed row: its lanes find where the tile lies in 32 rows of B at a
// time, then take those pieces one after the other, in the order of k. Columns of a piece differ,
// so each lane alone adds to the sum of its column: no atomics, and the same order always. A bit
// map says which columns are there, and gives them in order.
// First the columns of each tile are counted, SPAN tiles at a time. A mask clears bits (OUTSIDE).
#include "mxm.cuh"

namespace graphla {

constexpr int TILE_WARPS = 4;
constexpr int SPAN = 8;   // tiles counted at a time
constexpr int AHEAD = 4;  // rows of B whose first columns are loaded before they are added

/// visit(k, x, j, y) for each term of row i with a column of begin..end - 1; after each
/// row of B the lanes wait for each other. x and y are values of the operands, or nothing of UNREAD
/// ones. The first columns of AHEAD rows of B are loaded at a time, so that their latencies overlap.
template <class OffsetA, class OffsetB, class X, class Y, class Visit>
DEVICE void each_term_between(const OffsetA *__restrict__ a_indptr, const i32 *__restrict__ a_indices, const X &x_values,
                              const OffsetB *__restrict__ b_indptr, const i32 *__restrict__ b_indices, const Y &y_values,
                              i64 i, i64 begin, i64 end, bool is_whole, Visit visit) {
  const i64 stop = a_indptr[i + 1];
  for (i64 first = a_indptr[i]; first < stop; first += WARP) {
    i32 k = 0;
    i64 from = 0, to = 0;
    auto x = x_values[0];
    if (first + lane() < stop) {
      k = a_indices[first + lane()];
      x = x_values[first + lane()];
      from = b_indptr[k];
      to = b_indptr[k + 1];
      if (!is_whole) {
        from = lower_bound<i32, i64>(b_indices, from, to, i32(begin));
        if (end <= 0x7fffffff) to = lower_bound<i32, i64>(b_indices, from, to, i32(end));
      }
    }
    u32 filled = __ballot_sync(ALL_LANES, from < to);
    while (filled) {
      int entry[AHEAD];
      i64 at[AHEAD], last[AHEAD];
      i32 j[AHEAD];
      decltype(y_values[0]) y[AHEAD];
#pragma unroll
      for (int d = 0; d < AHEAD; d++) {
        entry[d] = filled ? __ffs(int(filled)) - 1 : 0;
        at[d] = shuffle(from, entry[d]) + lane();
        last[d] = filled ? shuffle(to, entry[d]) : 0;
        filled &= filled - 1;
        j[d] = 0;
        y[d] = 0;
        if (at[d] < last[d]) {
          j[d] = b_indices[at[d]];
          y[d] = y_values[at[d]];
        }
      }
#pragma unroll
      for (int d = 0; d < AHEAD; d++) {
        const i32 its_k = shuffle(k, entry[d]);
        const auto its_x = shuffle(x, entry[d]);
        if (at[d] < last[d]) visit(its_k, its_x, j[d], y[d]);
        for (i64 in_b = at[d] + WARP; in_b < last[d]; in_b += WARP) visit(its_k, its_x, b_indices[in_b], y_values[in_b]);
        __syncwarp();
      }
    }
  }
}

/// Stands for values that nobody reads.
struct Nothing {
  DEVICE i32 operator[](i64) const { return 0; }
};

/// Clears the bits of begin..end - 1 that the mask lists in row i.
template <int MASK, class OffsetM>
DEVICE void clear_masked(const OffsetM *__restrict__ m_indptr, const i32 *__restrict__ m_indices, i64 i, i64 begin,
                         i64 end, u32 *bits) {
  if constexpr (MASK != 0) {
    const i64 stop = m_indptr[i + 1];
    for (i64 p = lower_bound<i32, i64>(m_indices, m_indptr[i], stop, i32(begin)) + lane(); p < stop; p += WARP) {
      const i64 column = m_indices[p] - begin;
      if (column >= end - begin) break;
      atomicAnd(bits + column / WARP, ~(1u << (column % WARP)));
    }
    __syncwarp();
  }
}

/// sizes[i] += the columns of row i, which must arrive as zero; of_tiles[row * tiles + tile] = those
/// of each tile.
template <class Op, class OffsetA, class OffsetB, class OffsetM, int MASK, int BITS>
__global__ void __launch_bounds__(TILE_WARPS *WARP, 6)
    count_tiles(const i32 *__restrict__ listed, i64 count, i64 tiles, i64 ncols, const OffsetA *__restrict__ a_indptr,
                const i32 *__restrict__ a_indices, const OffsetB *__restrict__ b_indptr,
                const i32 *__restrict__ b_indices, const OffsetM *__restrict__ m_indptr,
                const i32 *__restrict__ m_indices, i64 *__restrict__ sizes, i64 *__restrict__ of_tiles) {
  constexpr int WORDS = 1 << (BITS - 5);
  SHARED(u32, all_bits, TILE_WARPS *SPAN *WORDS);
  u32 *bits = all_bits + warp_in_block() * SPAN * WORDS;
  const i64 spans = (tiles + SPAN - 1) / SPAN;
  for (i64 unit = thread_in_grid() / WARP; unit < count * spans; unit += threads_in_grid() / WARP) {
    const i64 row = unit / spans, i = listed[row], first_tile = unit % spans * SPAN;
    const i64 begin = first_tile << BITS, end = least((first_tile + SPAN) << BITS, ncols);
    __syncwarp();
    for (int word = lane(); word < SPAN * WORDS; word += WARP) bits[word] = 0;
    __syncwarp();
    each_term_between(a_indptr, a_indices, Nothing(), b_indptr, b_indices, Nothing(), i, begin, end, spans == 1,
                      [&](i32, i32, i32 j, i32) {
                        const u32 column = u32(j - begin), bit = 1u << (column % WARP);
                        if (!(load_relaxed(bits + column / WARP) & bit)) atomicOr(bits + column / WARP, bit);
                      });
    clear_masked<MASK>(m_indptr, m_indices, i, begin, end, bits);
    i64 all = 0;
    for (int tile = 0; tile < SPAN && first_tile + tile < tiles; tile++) {
      i64 there = 0;
      for (int word = lane(); word < WORDS; word += WARP) there += __popc(bits[tile * WORDS + word]);
      there = shuffle(warp_inclusive_sum(there), WARP - 1);
      if (lane() == 0) of_tiles[row * tiles + first_tile + tile] = there;
      all += there;
    }
    if (lane() == 0 && all) atomicAdd((u64 *)sizes + i, u64(all));
  }
}

/// Row i of C from indptr[i] on; ends[row * tiles + tile] are the sums of `of_tiles` through each.
template <class Op, class OffsetA, class StoredX, int KEPT_X, class OffsetB, class StoredY, int KEPT_Y, class OffsetM,
          int MASK, class OffsetC, int BITS, bool HAS_VALUES>
__global__ void __launch_bounds__(TILE_WARPS *WARP, 6)
    make_tiles(const i32 *__restrict__ listed, i64 count, i64 tiles, i64 ncols, const OffsetA *__restrict__ a_indptr,
               const i32 *__restrict__ a_indices, const StoredX *x_values, const OffsetB *__restrict__ b_indptr,
               const i32 *__restrict__ b_indices, const StoredY *y_values, const OffsetM *__restrict__ m_indptr,
               const i32 *__restrict__ m_indices, const i64 *__restrict__ ends, const OffsetC *__restrict__ indptr,
               i32 *__restrict__ indices, typename Op::Z *__restrict__ z) {
  typedef typename Op::Z Z;
  constexpr int WORDS = 1 << (BITS - 5);
  SHARED(u32, all_bits, TILE_WARPS *WORDS);
  SHARED(Z, all_sums, HAS_VALUES ? TILE_WARPS << BITS : 1);
  u32 *bits = all_bits + warp_in_block() * WORDS;
  Z *sums = all_sums + (HAS_VALUES ? warp_in_block() << BITS : 0);
  const Values<typename Op::X, StoredX, KEPT_X> x(x_values);
  const Values<typename Op::Y, StoredY, KEPT_Y> y(y_values);
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
    if constexpr (HAS_VALUES) {
      each_term_between(a_indptr, a_indices, x, b_indptr, b_indices, y, i, begin, end, tiles == 1,
                        [&](i32 k, typename Op::X x, i32 j, typename Op::Y y) {
                          const u32 column = u32(j - begin);
                          bool found = mark(column);
                          if (Op::IS_ANY && found) return;
                          Z sum = sums[column];
                          add_term<Op>(sum, found, x, y, i, k, j);
                          sums[column] = sum;
                        });
    } else {
      each_term_between(a_indptr, a_indices, Nothing(), b_indptr, b_indices, Nothing(), i, begin, end, tiles == 1,
                        [&](i32, i32, i32 j, i32) { mark(u32(j - begin)); });
    }
    clear_masked<MASK>(m_indptr, m_indices, i, begin, end, bits);
    i64 place = i64(indptr[i]) + before - (row ? ends[row * tiles - 1] : 0);
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
