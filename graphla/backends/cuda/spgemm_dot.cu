// Masked products as dot products. For each entry (i, j) of a pattern, computes z = (+)_k mult(A(i,
// k), B(k, j)). This is the dot product of row i of A and column j of B. Bt is the transpose of B,
// so column j of B is row j of Bt.
//
// A warp processes tiles, which are ranges of entries of the pattern. For each row i in its tile,
// it builds a hash table of row i of A in shared memory. For each entry (i, j), it looks up the
// entries of row j of Bt in this table. There are two exceptions. If row j is much longer than row
// i, the warp instead searches row j for the entries of row i. If row i would fill more than half
// of the table, the warp builds no table, and searches row i itself. A group of eight lanes reads a
// short row, and the whole warp reads a long row.
//
// If the dot product of entry t has a term, present[t] becomes true, and the sum is written to
// z[t]. If HAS_VALUES is false, all sums are known to be equal, and z is not written. All elements
// of `present` must initially be false. Each lane first adds up its own terms, which depend only on
// the operands. Then the sums of the lanes are added up in a fixed order. So the order of additions
// is the same in every run.
#include "spgemm.cuh"

namespace graphla {

constexpr int DOT_WARPS = SpgemmMaskedTuning::warps;
constexpr int GROUP = 8;        // number of lanes that read a short row
constexpr i32 SHORT_LIST = 64;  // a row with at most this many entries is short
constexpr i32 SKEW = 4;         // row j is searched if it is more than SKEW times as long as row i

/// One operand of a product: A or Bt. Each row is a list of index-value pairs, where the index is
/// k.
template <class Offset, class In, class Stored, int KEPT> struct Side {
  const Offset *__restrict__ indptr;
  const i32 *__restrict__ indices;
  const Values<In, Stored, KEPT> values;
  DEVICE explicit Side(const Csr<Offset, Stored> &rows)
      : indptr(rows.indptr), indices(rows.indices), values(rows.values) {}
  DEVICE i64 begin(i64 row) const { return indptr[row]; }
  DEVICE i32 count(i64 row) const { return i32(indptr[row + 1] - indptr[row]); }
};

/// Row i of A, prepared for finding the entry with a given k. If `bits` is positive, there is a
/// hash table of the row with 2^bits slots. If `bits` is 0, the sorted row itself is searched.
struct Sought {
  const i32 *table;
  const u16 *places;  // for each slot of the table: the position of its key in the row
  i64 begin;
  i32 count;
  int bits;
};

/// Adds this lane's terms of a dot product to `sum`. The terms are divided among a group of `width`
/// lanes, and `mine` is the number of this lane in the group. If `searches` is true, the lane
/// searches row j for the column k of each entry of row i. Otherwise it searches row i, or the
/// table of row i, for the column k of each entry of row j.
template <bool HAS_PLACES, bool HAS_VALUES, class Op, class A, class B>
DEVICE void dot(const A &a, const B &b, const Sought &row, i64 i, i64 j, i64 b_begin, i32 b_count,
                bool searches, int mine, int width, typename Op::Z &sum, bool &found) {
  const i32 count = searches ? row.count : b_count;
  const i32 *__restrict__ list = searches ? a.indices + row.begin : b.indices + b_begin;
  for (i32 t = mine; t < count; t += width) {
    const i32 k = list[t];
    i64 in_a, in_b;
    if (searches) {
      in_a = row.begin + t;
      in_b = lower_bound<i32, i64>(b.indices, b_begin, b_begin + b_count, k);
      if (in_b == b_begin + b_count || b.indices[in_b] != k) continue;
    } else {
      in_b = b_begin + t;
      if (row.bits) {
        const int slot = find_key(row.table, row.bits, k);
        if (slot < 0) continue;
        in_a = row.begin + (HAS_PLACES ? row.places[slot] : 0);
      } else {
        in_a = lower_bound<i32, i64>(a.indices, row.begin, row.begin + row.count, k);
        if (in_a == row.begin + row.count || a.indices[in_a] != k) continue;
      }
    }
    add_term<Op>(sum, found, a.values[in_a], b.values[in_b], i, k, j);
    if (!HAS_VALUES || is_final<Op>(sum, found)) break;
  }
}

/// Builds the warp's hash table of row i of A, if the row fits. Every lane of the warp must call
/// this.
template <bool HAS_PLACES, int BITS, class A>
DEVICE Sought hash_row(const A &a, i64 i, i32 *table, u16 *places) {
  Sought row{table, places, a.begin(i), a.count(i), 0};
  if (row.count > (1 << (BITS - 1))) return row;
  row.bits = bits_for(i64(4) * row.count, 5, BITS);
  // Wait until all lanes have finished with the table of the previous row.
  __syncwarp();
  for (int slot = lane(); slot < (1 << row.bits); slot += WARP) table[slot] = FREE;
  __syncwarp();
  for (i32 t = lane(); t < row.count; t += WARP) {
    bool is_new;
    const int slot = put_key(table, row.bits, a.indices[row.begin + t], is_new);
    if (HAS_PLACES) places[slot] = u16(t);
  }
  __syncwarp();
  return row;
}

template <class Op, class OffsetA, class StoredX, int KEPT_X, class OffsetB, class StoredY,
          int KEPT_Y, class OffsetM, int BITS, bool HAS_VALUES>
__global__ void __launch_bounds__(DOT_WARPS *WARP, 6)
    dot_products(Csr<OffsetA, StoredX> left, Csr<OffsetB, StoredY> right, Csr<OffsetM> pattern,
                 i64 nvals, i64 tile, typename Op::Z *__restrict__ z, bool *__restrict__ present) {
  const OffsetM *__restrict__ indptr = pattern.indptr;
  const i32 *__restrict__ indices = pattern.indices;
  const i64 nrows = pattern.nrows;
  typedef typename Op::Z Z;
  constexpr bool HAS_PLACES = KEPT_X == EACH;
  SHARED(i32, tables, DOT_WARPS << BITS);
  SHARED(u16, all_places, HAS_PLACES ? DOT_WARPS << BITS : 1);
  i32 *table = tables + (warp_in_block() << BITS);
  u16 *places = all_places + (HAS_PLACES ? warp_in_block() << BITS : 0);
  const Side<OffsetA, typename Op::X, StoredX, KEPT_X> a(left);
  const Side<OffsetB, typename Op::Y, StoredY, KEPT_Y> b(right);

  for (i64 first = (thread_in_grid() / WARP) * tile; first < nvals;
       first += threads_in_grid() / WARP * tile) {
    const i64 end = least(first + tile, nvals);
    i64 i = segment_of(indptr, nrows, first);
    for (i64 p = first; p < end;) {
      i = row_from(indptr, nrows, i, p);
      const i64 stop = least(end, i64(indptr[i + 1]));
      const Sought row = hash_row<HAS_PLACES, BITS>(a, i, table, places);
      for (; p < stop && row.count; p += WARP) {
        const int here = int(least(i64(WARP), stop - p));
        i32 j = 0, b_count = 0;
        i64 b_begin = 0;
        if (lane() < here) {
          j = indices[p + lane()];
          b_begin = b.begin(j);
          b_count = b.count(j);
        }
        const bool searches = b_count / SKEW > row.count;
        const i32 listed = searches ? row.count : b_count;
        u32 long_ones = __ballot_sync(ALL_LANES, listed > SHORT_LIST);
        const u32 short_ones = __ballot_sync(ALL_LANES, listed > 0 && listed <= SHORT_LIST);
        // Lane `from`, which loaded an entry of the pattern, passes the data of this entry to the
        // lanes that compute its dot product.
        auto share = [&](int from, bool takes, int mine, int width) {
          const i32 its_j = shuffle(j, from), its_count = shuffle(b_count, from);
          const i64 its_begin = shuffle(b_begin, from);
          const bool its_search = __shfl_sync(ALL_LANES, int(searches), from) != 0;
          Z sum = Op::identity();
          bool found = false;
          if (takes)
            dot<HAS_PLACES, HAS_VALUES, Op>(a, b, row, i, its_j, its_begin, its_count, its_search,
                                            mine, width, sum, found);
          __syncwarp();
          if (!__any_sync(ALL_LANES, found)) return;
          add_lanes<Op>(sum, found, width);
          if (mine == 0 && found) {
            if (HAS_VALUES) z[p + from] = sum;
            present[p + from] = true;
          }
        };
        while (long_ones) {
          const int from = __ffs(int(long_ones)) - 1;
          long_ones &= long_ones - 1;
          share(from, true, lane(), WARP);
        }
        for (int from = lane() / GROUP, round = 0; round < GROUP; round++, from += WARP / GROUP) {
          const bool takes = (short_ones >> from & 1) != 0;
          if (__any_sync(ALL_LANES, takes)) share(from, takes, lane() % GROUP, GROUP);
        }
      }
      p = stop;
    }
  }
}

}  // namespace graphla
