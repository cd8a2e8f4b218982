// Computes those rows of C = A B that have few terms. Each row uses its own hash table in shared
// memory.
//
// A group of GROUP lanes computes one of the listed rows. For each entry (i, k) of A, in the order
// of k, the lanes read the entries of row k of B. The column indices within a row of B are
// distinct, so at most one lane at a time adds to a given sum, and no atomics are needed. Terms are
// always added in the order of k. If the template parameter MASK is OUTSIDE, the columns that the
// mask lists in a row are dropped.
//
// Let `room` be the largest number of columns that a listed row can have. If scratch memory has
// space for `room` entries per row, the rows are computed there, and moved to C when their sizes
// are known. Otherwise one launch counts the columns of each row, and a second launch writes the
// rows directly to their positions in C.
//
// A table has 2^BITS slots, and the terms of a listed row fill at most three quarters of them. Each
// table has GROUP words of padding, so that groups that run in lockstep access different memory
// banks.
#include "spgemm.cuh"

namespace graphla {

constexpr int FEW_PLACES = SpgemmTuning::places;  // total number of slots in the tables of a block
// If a table has at most 2^RANKED_BITS slots, the position of a column in its row of C is found by
// counting the columns with smaller indices. Larger tables are sorted.
constexpr int RANKED_BITS = 7;

template <int BITS, int GROUP> constexpr int apart = (1 << BITS) + GROUP;
template <int BITS, int GROUP> constexpr int few_words = (FEW_PLACES >> BITS) * apart<BITS, GROUP>;
template <int BITS, int GROUP> constexpr int apart_columns = (3 << (BITS - 2)) + GROUP;

/// Marks all slots of a table as free.
template <int BITS, int GROUP> DEVICE void clear_table(const Group<GROUP> &group, i32 *table) {
  u64 *pairs = (u64 *)table;  // each element covers two slots, so that one store clears both
  for (int pair = group.mine; pair < 1 << (BITS - 1); pair += GROUP) pairs[pair] = ~u64(0);
  __syncwarp();
}

/// Passed as `narrow` to `each_term` if the rows of B are read in full.
struct Whole {
  DEVICE void operator()(i64 &, i64 &) const {}
};

/// Sets sizes[i] to the number of entries of row i of C, for each listed row i.
template <class Op, class OffsetA, class OffsetB, class OffsetM, int MASK, int BITS, int GROUP>
__global__ void count_few(const i32 *__restrict__ listed, i64 count, Csr<OffsetA> a, Csr<OffsetB> b,
                          Csr<OffsetM> outside, i64 *__restrict__ sizes) {
  // ROWS is the number of rows that a warp computes at the same time.
  constexpr int WORDS = few_words<BITS, GROUP>, ROWS = WARP / GROUP;
  SHARED(u64, tables, WORDS / 2);
  const Group<GROUP> group;
  i32 *table = (i32 *)tables + (threadIdx.x / GROUP) * apart<BITS, GROUP>;
  for (i64 of_warp = thread_in_grid() / WARP * ROWS; of_warp < count;
       of_warp += threads_in_grid() / WARP * ROWS) {
    const i64 each = of_warp + group.base / GROUP;
    const bool is_there = each < count;
    const i64 i = is_there ? listed[each] : 0;
    clear_table<BITS>(group, table);
    int found = 0;
    each_term(group, a, Nothing(), b, Nothing(), i, is_there, Whole(), [&](i32, i32, i32 j, i32) {
      bool is_new;
      put_key(table, BITS, j, is_new);
      if (is_new && allows<MASK>(outside, i, j)) found++;
    });
    __syncwarp();
    found = warp_fold(found, [](int x, int y) { return x + y; }, GROUP);
    if (is_there && group.mine == 0) sizes[i] = found;
    __syncwarp();
  }
}

/// Moves the keys for which `may_stay` returns true, with their sums, to the front of the table.
/// Returns the number of these keys.
template <int BITS, bool HAS_VALUES, class Z, class MayStay>
DEVICE int gather_taken(i32 *table, Z *sums, MayStay may_stay) {
  int taken = 0;
  for (int slot = lane(); slot < 1 << BITS; slot += WARP) {
    const i32 j = table[slot];
    Z sum{};
    if (HAS_VALUES) sum = sums[slot];
    const bool stays = j != FREE && may_stay(j);
    const u32 staying = __ballot_sync(ALL_LANES, stays);
    __syncwarp();  // wait until all lanes have read, before any lane writes
    if (stays) {
      const int place = taken + __popc(staying & ((1u << lane()) - 1));
      table[place] = j;
      if (HAS_VALUES) sums[place] = sum;
    }
    taken += __popc(staying);
    __syncwarp();
  }
  return taken;
}

/// Sorts the first `count` pairs by their keys, with a bitonic sorting network. The size of the
/// network is a power of two.
template <bool HAS_VALUES, class Z> DEVICE void sort_pairs(i32 *keys, Z *sums, int count) {
  int size = 2;
  while (size < count) size *= 2;
  for (int place = count + lane(); place < size; place += WARP) keys[place] = 0x7fffffff;
  __syncwarp();
  for (int run = 2; run <= size; run *= 2) {
    for (int apart = run / 2; apart > 0; apart /= 2) {
      for (int t = lane(); t < size / 2; t += WARP) {
        const int low = (t / apart) * 2 * apart + t % apart, high = low + apart;
        const bool rises = (low & run) == 0;
        const i32 x = keys[low], y = keys[high];
        if ((y < x) == rises) {
          keys[low] = y;
          keys[high] = x;
          if (HAS_VALUES) {
            const Z sum = sums[low];
            sums[low] = sums[high];
            sums[high] = sum;
          }
        }
      }
      __syncwarp();
    }
  }
}

/// Writes the columns of one row of C to `indices`, in ascending order from position `first` on,
/// and their sums to the same positions of z. `taken` is the number of these columns.
template <int BITS, int GROUP, bool HAS_VALUES, class Z>
DEVICE void write_ranked(const Group<GROUP> &group, const i32 *table, const Z *sums,
                         const i32 *columns, int taken, i64 first, i32 *__restrict__ indices,
                         Z *__restrict__ z) {
  for (int place = group.mine; place < taken; place += GROUP) {
    const i32 j = columns[place];
    int before = 0;
#pragma unroll 4
    for (int other = 0; other < taken; other++) before += columns[other] < j;
    indices[first + before] = j;
    if constexpr (HAS_VALUES) z[first + before] = sums[find_key(table, BITS, j)];
  }
}

/// Computes the columns of each listed row i of C, in ascending order, and their sums. If `room` is
/// 0, writes them to C from position indptr[i] on. Otherwise writes them to scratch memory, which
/// has space for `room` entries per listed row, and sets sizes[i] to the number of columns.
template <class Op, class OffsetA, class StoredX, int KEPT_X, class OffsetB, class StoredY,
          int KEPT_Y, class OffsetM, int MASK, class OffsetC, int BITS, int GROUP, bool HAS_VALUES>
__global__ void make_few(const i32 *__restrict__ listed, i64 count, Csr<OffsetA, StoredX> a,
                         Csr<OffsetB, StoredY> b, Csr<OffsetM> outside, i64 room,
                         i64 *__restrict__ sizes, Made<OffsetC, typename Op::Z> c) {
  typedef typename Op::Z Z;
  constexpr bool IS_RANKED = BITS <= RANKED_BITS;
  static_assert(IS_RANKED || GROUP == WARP, "columns are sorted by whole warps");
  // ROWS is the number of rows that a warp computes at the same time.
  constexpr int WORDS = few_words<BITS, GROUP>, ROWS = WARP / GROUP;
  SHARED(u64, tables, WORDS / 2);
  SHARED(Z, all_sums, HAS_VALUES ? WORDS : 1);
  constexpr int COLUMNS = apart_columns<BITS, GROUP>;
  SHARED(i32, all_columns, IS_RANKED ? (FEW_PLACES >> BITS) * COLUMNS : 1);
  SHARED(i32, all_taken, FEW_PLACES >> BITS);
  const Values<typename Op::X, StoredX, KEPT_X> x(a.values);
  const Values<typename Op::Y, StoredY, KEPT_Y> y(b.values);
  i32 *__restrict__ indices = c.indices;
  Z *__restrict__ z = c.values;
  const Group<GROUP> group;
  const int number = int(threadIdx.x) / GROUP;
  i32 *table = (i32 *)tables + number * apart<BITS, GROUP>;
  Z *sums = all_sums + (HAS_VALUES ? number * apart<BITS, GROUP> : 0);
  i32 *columns = all_columns + (IS_RANKED ? number * COLUMNS : 0);
  for (i64 of_warp = thread_in_grid() / WARP * ROWS; of_warp < count;
       of_warp += threads_in_grid() / WARP * ROWS) {
    const i64 each = of_warp + group.base / GROUP;
    const bool is_there = each < count;
    const i64 i = is_there ? listed[each] : 0;
    if (IS_RANKED && group.mine == 0) all_taken[number] = 0;
    clear_table<BITS>(group, table);
    auto put = [&](i32 j, bool &is_new) {
      const int slot = put_key(table, BITS, j, is_new);
      if constexpr (IS_RANKED) {
        if (is_new && allows<MASK>(outside, i, j)) columns[atomicAdd(all_taken + number, 1)] = j;
      }
      return slot;
    };
    bool is_new;
    if constexpr (HAS_VALUES) {
      each_term(group, a, x, b, y, i, is_there, Whole(),
                [&](i32 k, typename Op::X x, i32 j, typename Op::Y y) {
        const int slot = put(j, is_new);
        bool found = !is_new;
        Z sum = found ? sums[slot] : Op::identity();
        add_term<Op>(sum, found, x, y, i, k, j);
        sums[slot] = sum;
      });
    } else {
      each_term(group, a, Nothing(), b, Nothing(), i, is_there, Whole(),
                [&](i32, i32, i32 j, i32) { put(j, is_new); });
    }
    __syncwarp();
    const i64 first = !is_there ? 0 : room ? each * room : i64(c.indptr[i]);
    int taken;
    if constexpr (IS_RANKED) {
      taken = all_taken[number];
      write_ranked<BITS, GROUP, HAS_VALUES>(group, table, sums, columns, taken, first, indices, z);
    } else {
      taken = gather_taken<BITS, HAS_VALUES>(table, sums,
                                             [&](i32 j) { return allows<MASK>(outside, i, j); });
      sort_pairs<HAS_VALUES>(table, sums, taken);
      for (int place = group.mine; place < taken; place += GROUP) {
        indices[first + place] = table[place];
        if (HAS_VALUES) z[first + place] = sums[place];
      }
    }
    if (room && is_there && group.mine == 0) sizes[i] = taken;
    __syncwarp();
  }
}

/// The lists of rows with few terms, one list per bin. The list of a bin begins at
/// lists[bin * room]. count_n is the number of rows in the bin of rows with at most n terms.
struct FewRows {
  const i32 *lists;
  i64 room;
  i64 count_24, count_96, count_384, count_1536;
};

enum MoveShape { MOVE_LANES = 8 };  // number of lanes that move one row to C

/// Moves the rows with few terms from scratch memory to C. There are four lists of such rows, one
/// for each maximum number of terms: 24, 96, 384 and 1536. Scratch memory contains the rows of the
/// first list, then the rows of the second list, and so on. For each row, it has space for the
/// maximum number of terms of the row's list.
template <class Op, class Word, class OffsetC, bool HAS_VALUES>
__global__ void move_few(FewRows rows, const i32 *__restrict__ made_indices,
                         const Word *__restrict__ made_z, Made<OffsetC, Word> c) {
  const i64 count_24 = rows.count_24, count_96 = rows.count_96, count_384 = rows.count_384;
  const OffsetC *__restrict__ indptr = c.indptr;
  i32 *__restrict__ indices = c.indices;
  Word *__restrict__ z = c.values;
  constexpr int GROUP = MOVE_LANES;
  const int mine = lane() % GROUP;
  const i64 count = count_24 + count_96 + count_384 + rows.count_1536;
  for (i64 each = thread_in_grid() / GROUP; each < count; each += threads_in_grid() / GROUP) {
    i64 nth = each, begin = 0, places = MOST_24;
    const i32 *listed = rows.lists;
    auto pass = [&](i64 passed) {  // skips the current list, which has `passed` rows
      nth -= passed;
      begin += passed * places;
      places *= 4;
      listed += rows.room;
    };
    if (nth >= count_24) {
      pass(count_24);
      if (nth >= count_96) {
        pass(count_96);
        if (nth >= count_384) pass(count_384);
      }
    }
    begin += nth * places;
    const i64 i = listed[nth], first = indptr[i], taken = i64(indptr[i + 1]) - first;
    for (i64 place = mine; place < taken; place += GROUP) {
      indices[first + place] = made_indices[begin + place];
      if (HAS_VALUES) z[first + place] = made_z[begin + place];
    }
  }
}

}  // namespace graphla
