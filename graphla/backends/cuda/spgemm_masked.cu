// Masked products, computed from the rows of B. For each entry (i, j) of a pattern, z = (+)_k
// mult(A(i, k), B(k, j)). To compute row i, a warp reads row k of B for each entry A(i, k), and
// uses only the columns in which row i of the pattern has entries.
//
// A warp processes tiles of at most MOST_LISTED entries of the pattern. For each row in a tile, the
// warp lists the columns of the row's entries in the tile, and builds a hash table of them in
// shared memory. It then reads the rows of B in the order of k, each only from the first to the
// last listed column. If a row of B is much longer than the list, the warp skips this row at first.
// After it has read the other rows, it searches the skipped rows for the listed columns.
//
// The column indices within a row of B are distinct, so at most one lane at a time adds to the sum
// of a column. Therefore no atomics are needed, and terms are always added in the same order. All
// elements of `present` must initially be false. If an entry of the pattern has a term, the kernel
// sets its element of `present` to true and, unless all sums are known to be equal (HAS_VALUES is
// false), writes its sum to z.
#include "spgemm.cuh"

namespace graphla {

constexpr int ROWS_WARPS = SpgemmMaskedTuning::warps;
constexpr int MOST_LISTED = SpgemmMaskedTuning::rows_tile;
constexpr int LISTED_BITS = 10;  // log2 of the number of slots in the table of listed columns
/// A row of B is searched if it has more than LONGER times as many entries as the list of columns.
constexpr i32 LONGER = 16;
static_assert(2 * MOST_LISTED <= 1 << LISTED_BITS, "a table is at most half full");

/// A hash table of the listed columns, in the shared memory of one warp. For each column it holds
/// the position in the list, a flag that says whether the column has a term, and the sum.
template <class Op, bool HAS_VALUES> struct Sought {
  typedef typename Op::Z Z;
  i32 *table;
  u16 *places;  // for each slot of the table, the position of its column in the list
  Z *sums;
  u32 *found;  // one bit per position in the list: whether the column there has a term
  int count = 0, bits = 0;

  /// Builds the hash table of the listed columns. Every lane of the warp must call this.
  DEVICE void hash(const i32 *__restrict__ list, int listed) {
    count = listed, bits = bits_for(2 * listed, 5, LISTED_BITS);
    __syncwarp();  // wait until all lanes have finished the previous row
    for (int slot = lane(); slot < (1 << bits); slot += WARP) table[slot] = FREE;
    for (int word = lane(); word * WARP < listed; word += WARP) found[word] = 0;
    __syncwarp();
    for (int t = lane(); t < listed; t += WARP) {
      bool is_new;
      places[put_key(table, bits, list[t], is_new)] = u16(t);
      if (HAS_VALUES) sums[t] = Op::identity();
    }
    __syncwarp();
  }
  /// Records that the column at position `place` in the list of columns has a term. Returns whether
  /// this was already recorded.
  DEVICE bool mark(int place) const {
    const u32 bit = 1u << (place % WARP);
    const bool was = (load_relaxed(found + place / WARP) & bit) != 0;
    if (!was) atomicOr(found + place / WARP, bit);
    return was;
  }
  /// Adds the product of x and y to the sum of the column at position `place` in the list of
  /// columns.
  DEVICE void add(int place, typename Op::X x, typename Op::Y y, i64 i, i32 k, i32 j) const {
    bool has = mark(place);
    if (Op::IS_ANY && has) return;
    Z sum = sums[place];
    add_term<Op>(sum, has, x, y, i, k, j);
    sums[place] = sum;
  }
  DEVICE bool has(int place) const { return found[place / WARP] >> (place % WARP) & 1; }
};

/// Computes the sums of row i of the product at the listed columns, which are list[0] to
/// list[sought.count - 1] in ascending order. Every lane of the warp must call this.
template <bool HAS_VALUES, class Op, class A, class B, class X, class Y>
DEVICE void fold_row(const Sought<Op, HAS_VALUES> &sought, const A &a, const X &x, const B &b,
                     const Y &y, i64 i, const i32 *__restrict__ list) {
  const Group<WARP> group;
  const int listed = sought.count;
  const i32 *__restrict__ b_indices = b.indices;
  const i32 least_j = list[0], greatest_j = list[listed - 1];
  auto cut = [&](i64 &from, i64 &to) {
    if (to - from <= WARP) return;
    from = lower_bound<i32, i64>(b_indices, from, to, least_j);
    to = upper_bound<i32, i64>(b_indices, from, to, greatest_j);
  };
  bool has_long = false;
  auto only_short = [&](i64 &from, i64 &to) {
    cut(from, to);
    if ((to - from) / LONGER <= listed) return;
    has_long = true;
    to = from;
  };
  if constexpr (HAS_VALUES) {
    each_term(group, a, x, b, y, i, true, only_short,
              [&](i32 k, typename Op::X x, i32 j, typename Op::Y y) {
      const int slot = find_key(sought.table, sought.bits, j);
      if (slot >= 0) sought.add(sought.places[slot], x, y, i, k, j);
    });
  } else {
    each_term(group, a, Nothing(), b, Nothing(), i, true, only_short, [&](i32, i32, i32 j, i32) {
      const int slot = find_key(sought.table, sought.bits, j);
      if (slot >= 0) sought.mark(sought.places[slot]);
    });
  }
  if (!__any_sync(ALL_LANES, has_long)) return;
  const i64 stop = a.end(i);
  for (i64 in_a = a.begin(i); in_a < stop; in_a++) {
    const i32 k = a.indices[in_a];
    i64 from = b.begin(k), to = b.end(k);
    cut(from, to);
    if ((to - from) / LONGER <= listed) continue;
    for (int t = lane(); t < listed; t += WARP) {
      const i32 j = list[t];
      const i64 in_b = lower_bound<i32, i64>(b_indices, from, to, j);
      if (in_b == to || b_indices[in_b] != j) continue;
      if constexpr (HAS_VALUES) sought.add(t, x[in_a], y[in_b], i, k, j);
      else sought.mark(t);
    }
    __syncwarp();
  }
}

template <class Op, class OffsetA, class StoredX, int KEPT_X, class OffsetB, class StoredY,
          int KEPT_Y, class OffsetM, bool HAS_VALUES>
__global__ void __launch_bounds__(ROWS_WARPS *WARP, 5)
    masked_rows(Csr<OffsetA, StoredX> a, Csr<OffsetB, StoredY> b, Csr<OffsetM> pattern, i64 nvals,
                i64 tile, typename Op::Z *__restrict__ z, bool *__restrict__ present) {
  typedef typename Op::Z Z;
  SHARED(i32, tables, ROWS_WARPS << LISTED_BITS);
  SHARED(u16, all_places, ROWS_WARPS << LISTED_BITS);
  SHARED(Z, all_sums, HAS_VALUES ? ROWS_WARPS * MOST_LISTED : 1);
  SHARED(u32, all_found, ROWS_WARPS * MOST_LISTED / WARP);
  const int warp = warp_in_block();
  Sought<Op, HAS_VALUES> sought{tables + (warp << LISTED_BITS), all_places + (warp << LISTED_BITS),
                                all_sums + (HAS_VALUES ? warp * MOST_LISTED : 0),
                                all_found + warp * (MOST_LISTED / WARP)};
  const Values<typename Op::X, StoredX, KEPT_X> x(a.values);
  const Values<typename Op::Y, StoredY, KEPT_Y> y(b.values);
  const OffsetM *__restrict__ indptr = pattern.indptr;
  const i32 *__restrict__ indices = pattern.indices;
  for (i64 first = (thread_in_grid() / WARP) * tile; first < nvals;
       first += threads_in_grid() / WARP * tile) {
    const i64 end = least(first + tile, nvals);
    i64 i = segment_of(indptr, pattern.nrows, first);
    for (i64 p = first; p < end;) {
      i = row_from(indptr, pattern.nrows, i, p);
      const i64 stop = least(end, i64(indptr[i + 1]));
      if (a.begin(i) < a.end(i)) {
        sought.hash(indices + p, int(stop - p));
        fold_row<HAS_VALUES>(sought, a, x, b, y, i, indices + p);
        for (int t = lane(); t < sought.count; t += WARP) {
          if (!sought.has(t)) continue;
          present[p + t] = true;
          if (HAS_VALUES) z[p + t] = sought.sums[t];
        }
      }
      p = stop;
    }
  }
}

}  // namespace graphla
