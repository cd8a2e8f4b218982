// Masked products by rows of B: at each entry (i, j) of a pattern, z = (+)_k mult(A(i, k), B(k, j)),
// where row i of the pattern takes what it lists of the rows of B that row i of A names.
//
// A warp takes tiles of the pattern's entries, at most MOST_LISTED. The columns of one row in its
// tile are hashed in shared memory; each row k of B, cut to their range, is streamed past them in
// the order of k; then those that are much longer are searched for them. Columns of one row of B
// differ, so each lane alone adds to the sum of its column: no atomics, and the same order always.
// `present` must arrive filled with false; z is written where a term is, or not at all where all
// sums are known to be equal (HAS_VALUES is false).
#include "spgemm.cuh"

namespace graphla {

constexpr int ROWS_WARPS = 4;
constexpr int MOST_LISTED = 512;
constexpr int LISTED_BITS = 10;  // of the table that holds them
constexpr i32 LONGER = 16;       // times as long as the columns sought, and a row of B is searched

template <class Op, class OffsetA, class StoredX, int KEPT_X, class OffsetB, class StoredY, int KEPT_Y, class OffsetM,
          bool HAS_VALUES>
__global__ void __launch_bounds__(ROWS_WARPS *WARP, 5)
    masked_rows(const OffsetA *__restrict__ a_indptr, const i32 *__restrict__ a_indices, const StoredX *x_values,
                const OffsetB *__restrict__ b_indptr, const i32 *__restrict__ b_indices, const StoredY *y_values,
                const OffsetM *__restrict__ indptr, const i32 *__restrict__ indices,  // the pattern
                i64 nrows, i64 nvals, i64 tile, typename Op::Z *__restrict__ z, bool *__restrict__ present) {
  typedef typename Op::Z Z;
  SHARED(i32, tables, ROWS_WARPS << LISTED_BITS);
  SHARED(u16, all_places, ROWS_WARPS << LISTED_BITS);
  SHARED(Z, all_sums, HAS_VALUES ? ROWS_WARPS *MOST_LISTED : 1);
  SHARED(u32, all_found, ROWS_WARPS *MOST_LISTED / WARP);
  i32 *table = tables + (warp_in_block() << LISTED_BITS);
  u16 *places = all_places + (warp_in_block() << LISTED_BITS);
  Z *sums = all_sums + (HAS_VALUES ? warp_in_block() * MOST_LISTED : 0);
  u32 *found_bits = all_found + warp_in_block() * (MOST_LISTED / WARP);
  const Values<typename Op::X, StoredX, KEPT_X> x(x_values);
  const Values<typename Op::Y, StoredY, KEPT_Y> y(y_values);
  const Group<WARP> group;

  for (i64 first = (thread_in_grid() / WARP) * tile; first < nvals; first += threads_in_grid() / WARP * tile) {
    const i64 end = least(first + tile, nvals);
    i64 i = segment_of(indptr, nrows, first);
    for (i64 p = first; p < end;) {
      i = row_from(indptr, nrows, i, p);
      const i64 stop = least(end, i64(indptr[i + 1]));
      const i64 a_stop = a_indptr[i + 1];
      const int listed = int(stop - p), bits = bits_for(2 * listed, 5, LISTED_BITS);
      if (i64(a_indptr[i]) < a_stop) {
        __syncwarp();  // the row before is done with
        for (int slot = lane(); slot < (1 << bits); slot += WARP) table[slot] = FREE;
        for (int word = lane(); word * WARP < listed; word += WARP) found_bits[word] = 0;
        __syncwarp();
        for (int t = lane(); t < listed; t += WARP) {
          bool is_new;
          places[put_key(table, bits, indices[p + t], is_new)] = u16(t);
          if (HAS_VALUES) sums[t] = Op::identity();
        }
        __syncwarp();
      }
      const i32 least_j = indices[p], greatest_j = indices[stop - 1];
      auto mark = [&](int place) {
        const u32 bit = 1u << (place % WARP);
        const bool found = (load_relaxed(found_bits + place / WARP) & bit) != 0;
        if (!found) atomicOr(found_bits + place / WARP, bit);
        return found;
      };
      auto add = [&](int place, typename Op::X x, typename Op::Y y, i32 k, i32 j) {
        bool found = mark(place);
        if (Op::IS_ANY && found) return;
        Z sum = sums[place];
        add_term<Op>(sum, found, x, y, i, k, j);
        sums[place] = sum;
      };
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
        each_term(group, a_indptr, a_indices, x, b_indptr, b_indices, y, i, true, only_short,
                  [&](i32 k, typename Op::X x, i32 j, typename Op::Y y) {
                    const int slot = find_key(table, bits, j);
                    if (slot >= 0) add(places[slot], x, y, k, j);
                  });
      } else {
        each_term(group, a_indptr, a_indices, Nothing(), b_indptr, b_indices, Nothing(), i, true, only_short,
                  [&](i32, i32, i32 j, i32) {
                    const int slot = find_key(table, bits, j);
                    if (slot >= 0) mark(places[slot]);
                  });
      }
      const bool searches = __any_sync(ALL_LANES, has_long);
      for (i64 in_a = a_indptr[i]; searches && in_a < a_stop; in_a++) {
        const i32 k = a_indices[in_a];
        i64 from = b_indptr[k], to = b_indptr[k + 1];
        cut(from, to);
        if ((to - from) / LONGER <= listed) continue;
        for (int t = lane(); t < listed; t += WARP) {
          const i32 j = indices[p + t];
          const i64 in_b = lower_bound<i32, i64>(b_indices, from, to, j);
          if (in_b == to || b_indices[in_b] != j) continue;
          if constexpr (HAS_VALUES) add(t, x[in_a], y[in_b], k, j);
          else mark(t);
        }
        __syncwarp();
      }
      if (i64(a_indptr[i]) < a_stop) {
        for (int t = lane(); t < listed; t += WARP) {
          if (!(found_bits[t / WARP] >> (t % WARP) & 1)) continue;
          present[p + t] = true;
          if (HAS_VALUES) z[p + t] = sums[t];
        }
      }
      p = stop;
    }
  }
}

}  // namespace graphla
