// What the products of matrices share: hash tables of columns in shared memory, sums of terms, and
// the row that a tile of entries begins in.
#ifndef GRAPHLA_MXM
#define GRAPHLA_MXM
#include "atomics.cuh"
#include "rows.cuh"

namespace graphla {

// --- hash tables ------------------------------------------------------------------------------
// 2^bits places for keys >= 0, free ones FREE, probed one after the other. Never full of other
// keys where one is sought that is not there, or a search would not end.

constexpr i32 FREE = -1;

DEVICE u32 home_of(i32 key, int bits) { return (u32(key) * 0x9E3779B1u) >> (32 - bits); }

/// The fewest bits, of least..most, with which a table has room for `places`.
DEVICE int bits_for(i64 places, int least_bits, int most_bits) {
  int bits = least_bits;
  while (bits < most_bits && (i64(1) << bits) < places) bits++;
  return bits;
}

/// Where the key is, or -1.
DEVICE int find_key(const i32 *table, int bits, i32 key) {
  const u32 mask = (1u << bits) - 1;
  for (u32 slot = home_of(key, bits);; slot = (slot + 1) & mask) {
    const i32 there = table[slot];
    if (there == key) return int(slot);
    if (there == FREE) return -1;
  }
}

/// Where the key is from now on; `is_new` says whether this call put it there.
DEVICE int put_key(i32 *table, int bits, i32 key, bool &is_new) {
  const u32 mask = (1u << bits) - 1;
  for (u32 slot = home_of(key, bits);; slot = (slot + 1) & mask) {
    i32 there = load_relaxed(table + slot);
    if (there == FREE) {
      there = atomicCAS(table + slot, FREE, key);
      if (there == FREE) {
        is_new = true;
        return int(slot);
      }
    }
    if (there == key) {
      is_new = false;
      return int(slot);
    }
  }
}

// --- sums -------------------------------------------------------------------------------------

/// Adds a term to a sum that is there or not yet; of `any`, the first stays.
template <class Op>
DEVICE void add_term(typename Op::Z &sum, bool &found, typename Op::X x, typename Op::Y y, i64 i, i64 k, i64 j) {
  if constexpr (Op::IS_ANY) {
    if (!found) sum = Op::term(x, y, i, k, j);
  } else {
    sum = Op::fold(sum, x, y, i, k, j);
  }
  found = true;
}

/// Whether more terms would not change a sum.
template <class Op> DEVICE bool is_final(typename Op::Z sum, bool found) {
  if constexpr (Op::IS_ANY) return found;
  else if constexpr (Op::HAS_TERMINAL) return found && sum == Op::terminal();
  else return false;
}

/// The sum over each group of `width` lanes, in the same order always; every lane of the warp
/// calls, and each has the result.
template <class Op> DEVICE void add_lanes(typename Op::Z &sum, bool &found, int width) {
  for (int apart = width / 2; apart > 0; apart /= 2) {
    const typename Op::Z other = shuffle(sum, lane() ^ apart);
    const bool has_other = __shfl_sync(ALL_LANES, int(found), lane() ^ apart) != 0;
    if (found && has_other) sum = Op::add(sum, other);
    else if (has_other) sum = other;
    found = found || has_other;
  }
}

// --- rows -------------------------------------------------------------------------------------

/// The row that holds entry k, known to be `row` or a later one.
template <class Offset> DEVICE i64 row_from(const Offset *__restrict__ indptr, i64 nrows, i64 row, i64 k) {
  if (i64(indptr[row + 1]) > k) return row;
  return upper_bound<Offset, i64>(indptr, row + 1, nrows + 1, Offset(k)) - 1;
}

}  // namespace graphla
#endif
