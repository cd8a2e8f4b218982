// Device code that all matrix products share: hash tables of columns in shared memory, sums of
// terms, and a loop over the terms of a row.
#ifndef GRAPHLA_MXM
#define GRAPHLA_MXM
#include "atomics.cuh"
#include "rows.cuh"

namespace graphla {

/// Rows with few terms are divided into bins. These are the maximum numbers of terms per row in
/// each bin; the maximum grows by a factor of 4 from bin to bin.
enum FewTerms { MOST_24 = 24, MOST_96 = 96, MOST_384 = 384, MOST_1536 = 1536 };

/// Which entries of the product are dropped. NO_MASK: none. OUTSIDE: the entries at the positions
/// that the mask lists.
enum Drop { NO_MASK = 0, OUTSIDE = 1 };

// --- hash tables ------------------------------------------------------------------------------
// FREE marks a free slot. A hash table has 2^bits slots, its keys are >= 0, and it uses linear
// probing. A search for a missing key ends only at a free slot, so every table that is searched
// must have a free slot.

constexpr i32 FREE = -1;

DEVICE u32 home_of(i32 key, int bits) { return (u32(key) * 0x9E3779B1u) >> (32 - bits); }

/// Returns the smallest `bits` from `least_bits` to `most_bits` for which a table of 2^bits slots
/// has at least `places` slots, or `most_bits` if there is none.
DEVICE int bits_for(i64 places, int least_bits, int most_bits) {
  int bits = least_bits;
  while (bits < most_bits && (i64(1) << bits) < places) bits++;
  return bits;
}

/// Returns the slot of the key in the table, or -1 if the key is missing.
DEVICE int find_key(const i32 *table, int bits, i32 key) {
  const u32 mask = (1u << bits) - 1;
  for (u32 slot = home_of(key, bits);; slot = (slot + 1) & mask) {
    const i32 there = table[slot];
    if (there == key) return int(slot);
    if (there == FREE) return -1;
  }
}

/// Inserts the key if it is missing, and returns its slot. `is_new` says whether this call inserted
/// it.
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

/// Adds a term to a sum. `found` says whether the sum already has a term. With the monoid `any`,
/// only the first term is stored, and later terms do not change the sum.
template <class Op>
DEVICE void add_term(typename Op::Z &sum, bool &found, typename Op::X x, typename Op::Y y, i64 i,
                     i64 k, i64 j) {
  if constexpr (Op::IS_ANY) {
    if (!found) sum = Op::term(x, y, i, k, j);
  } else {
    sum = Op::fold(sum, x, y, i, k, j);
  }
  found = true;
}

/// Returns whether no further term can change the sum. `found` says whether the sum already has a
/// term.
template <class Op> DEVICE bool is_final(typename Op::Z sum, bool found) {
  if constexpr (Op::IS_ANY) return found;
  else if constexpr (Op::HAS_TERMINAL) return found && sum == Op::terminal();
  else return false;
}

/// Adds up the sums of each group of `width` lanes, and stores the total in `sum` of every lane of
/// the group. A lane without a sum passes false as `found`. On return, `found` is true in all lanes
/// of a group if any of them had a sum. Every lane of the warp must call this.
template <class Op> DEVICE void add_lanes(typename Op::Z &sum, bool &found, int width) {
  for (int apart = width / 2; apart > 0; apart /= 2) {
    const typename Op::Z other = shuffle_xor(sum, apart);
    const bool has_other = __shfl_xor_sync(ALL_LANES, int(found), apart) != 0;
    if (found && has_other) sum = Op::add(sum, other);
    else if (has_other) sum = other;
    found = found || has_other;
  }
}

// --- rows -------------------------------------------------------------------------------------

/// The arrays of the result C, into which kernels write its rows. `indptr` is the position at which
/// each row begins; `indices` and `values` are the columns and values of the entries.
template <class Offset, class Z> struct Made {
  const Offset *indptr;
  i32 *indices;
  Z *values;
};

/// Returns whether C may have an entry in column j of row i: false only if the mask `outside` lists
/// this position.
template <int MASK, class Mask> DEVICE bool allows(const Mask &outside, i64 i, i32 j) {
  if constexpr (MASK == NO_MASK) return true;
  const i64 end = outside.end(i);
  const i64 place = lower_bound<i32, i64>(outside.indices, outside.begin(i), end, j);
  return place == end || outside.indices[place] != j;
}

/// Returns the row that contains entry k. This must be row `row` or a later row.
template <class Offset>
DEVICE i64 row_from(const Offset *__restrict__ indptr, i64 nrows, i64 row, i64 k) {
  if (i64(indptr[row + 1]) > k) return row;
  return upper_bound<Offset, i64>(indptr, row + 1, nrows + 1, Offset(k)) - 1;
}

// --- groups of lanes, and a loop over the terms of a row --------------------------------------

/// LANES lanes of a warp that work together. All lanes of the warp must call each function, so that
/// the groups work in lockstep and every warp operation has the constant mask ALL_LANES. With a
/// separate mask for each group, the hardware would run the groups one after the other.
template <int LANES> struct Group {
  static constexpr u32 ONES = LANES == WARP ? ALL_LANES : (1u << (LANES & 31)) - 1;
  int mine;  // index of this lane in its group
  int base;  // first lane of the group in the warp
  DEVICE Group() : mine(lane() % LANES), base(lane() / LANES * LANES) {}
  /// Returns the votes of the group's lanes: bit l is set if lane l of the group passes true.
  DEVICE u32 ballot(bool yes) const { return (__ballot_sync(ALL_LANES, yes) >> base) & ONES; }
  /// Returns the value of x in lane `from` of the group.
  template <class T> DEVICE T of(T x, int from) const { return shuffle(x, base + from); }
};

/// A placeholder that replaces an array of values if the values are not read.
struct Nothing {
  DEVICE i32 operator[](i64) const { return 0; }
};

/// Number of rows of B whose first entries are loaded together, to hide memory latency.
constexpr int AHEAD = 4;

/// Calls visit(k, x, j, y) for each term of row i of the product A B, where x is A(i, k) and y is
/// B(k, j). The terms are visited in the order of k. The lanes of a group compute row i together.
/// They read the rows k of B one after the other, one entry per lane, and synchronize after each
/// row. The function narrow(from, to) may restrict the range of entries that are read from a row of
/// B. All lanes of the warp must call this; `is_there` is false if the group has no row to compute.
template <int LANES, class A, class B, class X, class Y, class Narrow, class Visit>
DEVICE void each_term(const Group<LANES> &group, const A &a, const X &x_values, const B &b,
                      const Y &y_values, i64 i, bool is_there, Narrow narrow, Visit visit) {
  const auto *__restrict__ a_indptr = a.indptr;
  const auto *__restrict__ b_indptr = b.indptr;
  const i32 *__restrict__ a_indices = a.indices, *__restrict__ b_indices = b.indices;
  const i64 begin = is_there ? a_indptr[i] : 0;
  const i32 entries = is_there ? i32(a_indptr[i + 1] - begin) : 0;
  for (i32 first = 0; __any_sync(ALL_LANES, first < entries); first += LANES) {
    i32 k = 0;
    i64 from = 0, to = 0;
    auto x = x_values[0];
    if (first + group.mine < entries) {
      const i64 in_a = begin + first + group.mine;
      k = a_indices[in_a];
      x = x_values[in_a];
      from = b_indptr[k];
      to = b_indptr[k + 1];
      narrow(from, to);
    }
    const i32 size = i32(to - from);
    u32 filled = group.ballot(size > 0);
    while (__any_sync(ALL_LANES, filled != 0)) {
      int entry[AHEAD];
      i64 at[AHEAD];
      i32 left[AHEAD], j[AHEAD];
      decltype(y_values[0]) y[AHEAD];
#pragma unroll
      for (int d = 0; d < AHEAD; d++) {
        entry[d] = filled ? __ffs(int(filled)) - 1 : 0;
        at[d] = group.of(from, entry[d]) + group.mine;
        left[d] = group.of(size, entry[d]) - group.mine;
        if (!filled) left[d] = 0;
        filled &= filled - 1;
        j[d] = 0;
        y[d] = 0;
        if (left[d] > 0) {
          j[d] = b_indices[at[d]];
          y[d] = y_values[at[d]];
        }
      }
#pragma unroll
      for (int d = 0; d < AHEAD; d++) {
        const i32 its_k = group.of(k, entry[d]);
        const auto its_x = group.of(x, entry[d]);
        if (left[d] > 0) visit(its_k, its_x, j[d], y[d]);
        for (i32 step = LANES; step < left[d]; step += LANES)
          visit(its_k, its_x, b_indices[at[d] + step], y_values[at[d] + step]);
        __syncwarp();
      }
    }
  }
}

}  // namespace graphla
#endif
