// Rows of C = A B of few terms: each made in a hash table of its own, in shared memory.
//
// A group of GROUP lanes takes one of the listed rows: for each entry (i, k) of A in order, its
// lanes take the entries of row k of B. Columns of one row of B differ, so each lane alone adds to
// the sum of its column, without atomics, and terms are added in the order of k: always the same.
// First the columns are counted, then, when C has room, found anew with their sums and sorted.
// A mask drops columns as they are counted and as they are written: those in its row (OUTSIDE).
// 2^BITS places hold all terms that a listed row may have, with a quarter to spare.
#include "mxm.cuh"

namespace graphla {

constexpr int FEW_WORDS = 4096;  // places of tables in a block

enum MaskKind { NO_MASK = 0, OUTSIDE = 1 };

/// Whether the mask lets column j of row i through.
template <int MASK, class OffsetM>
DEVICE bool lets_through(const OffsetM *__restrict__ m_indptr, const i32 *__restrict__ m_indices, i64 i, i32 j) {
  if constexpr (MASK == NO_MASK) return true;
  const i64 end = m_indptr[i + 1];
  const i64 place = lower_bound<i32, i64>(m_indices, m_indptr[i], end, j);
  return place == end || m_indices[place] != j;
}

constexpr auto whole = [](i64 &, i64 &) {};  // rows of B are taken whole

/// sizes[i] = the number of columns of row i of C that the mask lets through.
template <class Op, class OffsetA, class OffsetB, class OffsetM, int MASK, int BITS, int GROUP>
__global__ void count_few(const i32 *__restrict__ listed, i64 count, const OffsetA *__restrict__ a_indptr,
                          const i32 *__restrict__ a_indices, const OffsetB *__restrict__ b_indptr,
                          const i32 *__restrict__ b_indices, const OffsetM *__restrict__ m_indptr,
                          const i32 *__restrict__ m_indices, i64 *__restrict__ sizes) {
  SHARED(i32, tables, FEW_WORDS);
  const Group<GROUP> group;
  i32 *table = tables + ((threadIdx.x / GROUP) << BITS);
  for (i64 each = thread_in_grid() / GROUP; each < count; each += threads_in_grid() / GROUP) {
    const i64 i = listed[each];
    for (int slot = group.mine; slot < 1 << BITS; slot += GROUP) table[slot] = FREE;
    group.sync();
    int found = 0;
    each_term(group, a_indptr, a_indices, Nothing(), b_indptr, b_indices, Nothing(), i, whole,
              [&](i32, i32, i32 j, i32) {
                bool is_new;
                put_key(table, BITS, j, is_new);
                if (is_new && lets_through<MASK>(m_indptr, m_indices, i, j)) found++;
              });
    group.sync();
    for (int apart = GROUP / 2; apart > 0; apart /= 2) found += __shfl_xor_sync(group.lanes, found, apart);
    if (group.mine == 0) sizes[i] = found;
    group.sync();
  }
}

/// The places of a table moved to its front, those alone that are taken and let through; how many.
template <int BITS, int GROUP, bool HAS_VALUES, class Z, class Allows>
DEVICE int gather_taken(const Group<GROUP> &group, i32 *table, Z *sums, Allows allows) {
  int taken = 0;
  for (int slot = group.mine; slot < 1 << BITS; slot += GROUP) {
    const i32 j = table[slot];
    Z sum{};
    if (HAS_VALUES) sum = sums[slot];
    const bool stays = j != FREE && allows(j);
    const u32 staying = group.ballot(stays);  // all have read before one writes
    if (stays) {
      const int place = taken + __popc(staying & ((1u << group.mine) - 1));
      table[place] = j;
      if (HAS_VALUES) sums[place] = sum;
    }
    taken += __popc(staying);
    group.sync();
  }
  return taken;
}

/// The first `count` pairs in order of their keys, by a bitonic network over a power of two.
template <int GROUP, bool HAS_VALUES, class Z>
DEVICE void sort_pairs(const Group<GROUP> &group, i32 *keys, Z *sums, int count) {
  int size = 2;
  while (size < count) size *= 2;
  for (int place = count + group.mine; place < size; place += GROUP) keys[place] = 0x7fffffff;
  group.sync();
  for (int run = 2; run <= size; run *= 2) {
    for (int apart = run / 2; apart > 0; apart /= 2) {
      for (int t = group.mine; t < size / 2; t += GROUP) {
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
      group.sync();
    }
  }
}

/// Row i of C, its columns with their sums, in order, from indptr[i] on.
template <class Op, class OffsetA, class StoredX, int KEPT_X, class OffsetB, class StoredY, int KEPT_Y, class OffsetM,
          int MASK, class OffsetC, int BITS, int GROUP, bool HAS_VALUES>
__global__ void make_few(const i32 *__restrict__ listed, i64 count, const OffsetA *__restrict__ a_indptr,
                         const i32 *__restrict__ a_indices, const StoredX *x_values, const OffsetB *__restrict__ b_indptr,
                         const i32 *__restrict__ b_indices, const StoredY *y_values, const OffsetM *__restrict__ m_indptr,
                         const i32 *__restrict__ m_indices, const OffsetC *__restrict__ indptr, i32 *__restrict__ indices,
                         typename Op::Z *__restrict__ z) {
  typedef typename Op::Z Z;
  SHARED(i32, tables, FEW_WORDS);
  SHARED(Z, all_sums, HAS_VALUES ? FEW_WORDS : 1);
  const Values<typename Op::X, StoredX, KEPT_X> x(x_values);
  const Values<typename Op::Y, StoredY, KEPT_Y> y(y_values);
  const Group<GROUP> group;
  i32 *table = tables + ((threadIdx.x / GROUP) << BITS);
  Z *sums = all_sums + (HAS_VALUES ? (threadIdx.x / GROUP) << BITS : 0);
  for (i64 each = thread_in_grid() / GROUP; each < count; each += threads_in_grid() / GROUP) {
    const i64 i = listed[each];
    for (int slot = group.mine; slot < 1 << BITS; slot += GROUP) table[slot] = FREE;
    group.sync();
    bool is_new;
    if constexpr (HAS_VALUES) {
      each_term(group, a_indptr, a_indices, x, b_indptr, b_indices, y, i, whole,
                [&](i32 k, typename Op::X x, i32 j, typename Op::Y y) {
                  const int slot = put_key(table, BITS, j, is_new);
                  bool found = !is_new;
                  Z sum = found ? sums[slot] : Op::identity();
                  add_term<Op>(sum, found, x, y, i, k, j);
                  sums[slot] = sum;
                });
    } else {
      each_term(group, a_indptr, a_indices, Nothing(), b_indptr, b_indices, Nothing(), i, whole,
                [&](i32, i32, i32 j, i32) { put_key(table, BITS, j, is_new); });
    }
    group.sync();
    const int taken = gather_taken<BITS, GROUP, HAS_VALUES>(group, table, sums,
                                         [&](i32 j) { return lets_through<MASK>(m_indptr, m_indices, i, j); });
    const i64 first = indptr[i];
    if (taken <= 2 * WARP) {  // each finds its place by counting those before it
      for (int place = group.mine; place < taken; place += GROUP) {
        const i32 j = table[place];
        int before = 0;
        for (int other = 0; other < taken; other++) before += table[other] < j;
        indices[first + before] = j;
        if (HAS_VALUES) z[first + before] = sums[place];
      }
    } else {
      sort_pairs<GROUP, HAS_VALUES>(group, table, sums, taken);
      for (int place = group.mine; place < taken; place += GROUP) {
        indices[first + place] = table[place];
        if (HAS_VALUES) z[first + place] = sums[place];
      }
    }
    group.sync();
  }
}

}  // namespace graphla
