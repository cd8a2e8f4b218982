// Pull: w(o) = (+) over k of A(o, k) (x) u(k), for the outputs o that the mask lets through.
//
// A thread takes one row and looks at a few entries; a row that is not settled by them is looked at
// by the whole warp; what is left of a long one is cut into chunks, which warps of the whole grid
// take (`pull_chunks`) and whose folds are then joined in order (`join_chunks`).
// How a row is cut depends on its length alone, so that the result is the same bits run by run,
// whatever the grid; a row that ends at its first term ends at the first in order.
#include "gathering.cuh"

namespace graphla {

constexpr int FEW = 8;             // entries that one thread looks at
constexpr int STRIP = 4 * WARP;    // entries a warp looks at before it calls a row long
constexpr int CHUNK = 2048;        // entries of a chunk; a long row has more than these left

/// What is left of a long row.
struct Long {
  i64 place;   // of its result
  i64 row;
  i64 begin, end;
  i64 chunks;  // the first of its chunks, which lie one after the other
};

/// How many long rows there are and how many chunks they have.
struct Tickets {
  u32 rows, chunks;
};

/// Cuts entries begin..end - 1 of a row into chunks; every lane of the warp calls.
DEVICE void queue_chunks(i64 place, i64 row, i64 begin, i64 end, Tickets *tickets, Long *longs,
                         i32 *settled, i32 *chunk_rows) {
  const i64 count = (end - begin + CHUNK - 1) / CHUNK;
  u32 slot = 0, first = 0;
  if (lane() == 0) {
    slot = atomicAdd(&tickets->rows, 1u);
    first = atomicAdd(&tickets->chunks, u32(count));
    longs[slot] = Long{place, row, begin, end, i64(first)};
    settled[slot] = 0x7fffffff;
  }
  slot = __shfl_sync(ALL_LANES, slot, 0);
  first = __shfl_sync(ALL_LANES, first, 0);
  for (i64 i = lane(); i < count; i += WARP) chunk_rows[first + i] = i32(slot);
}

/// Adds how many entries each thread found to `count`; every thread of the block calls.
DEVICE void add_count(u64 *count, u32 found) {
  SHARED(u32, scratch, WARP + 1);
  u32 total;
  block_exclusive_sum(found, scratch, total);
  if (threadIdx.x == 0 && total) atomicAdd(count, u64(total));
}

template <class Op, class Offset, class A, int KEPT_A, class U, int KEPT_U, bool U_FULL, int MASK, int ENDS>
__global__ void __launch_bounds__(256, ENDS == AT_LAST ? 4 : 6)
pull_rows(i64 outputs,              // rows of A, or length of the mask's list
          const Offset *__restrict__ indptr, const i32 *__restrict__ indices, const A *a_values,
          const bool *u_present, const U *u_values,
          const bool *__restrict__ flags, bool complement, const i32 *__restrict__ list,
          bool by_place,            // whether results lie as the list does, not by row
          bool *__restrict__ present, typename Op::Z *__restrict__ w, u64 *count,
          Tickets *tickets, Long *longs, i32 *settled, i32 *chunk_rows) {
  const Rows<Op, Offset, A, KEPT_A, U, KEPT_U, U_FULL, ENDS> rows(indices, a_values, u_values, u_present);
  u32 found = 0;
  for (i64 at = thread_in_grid() - lane(); at < outputs; at += threads_in_grid()) {
    const i64 mine = at + lane();
    const bool is_output = mine < outputs;
    i32 row = 0;
    Offset begin = 0, end = 0;
    if (is_output) {
      if constexpr (MASK == MASK_LIST) row = list[mine];
      else row = i32(mine);
      begin = indptr[row], end = indptr[row + 1];  // beside the flag, not after it
      if constexpr (MASK == MASK_FLAGS) {
        if (flags[row] == complement) end = begin;
      }
    }
    Fold<Op> fold;
    int few = int(least(end - begin, Offset(FEW)));
    if (!rows.MAY_SETTLE && end - begin > Offset(FEW)) few = 0;  // the warp reads such a row at once
    rows.fold_few(fold, begin, few, row);
    begin += Offset(few);
    const i64 place = by_place ? mine : i64(row);
    u32 left = __ballot_sync(ALL_LANES, begin < end && !rows.is_settled(fold));
    while (left) {
      const int owner = __ffs(int(left)) - 1;
      left &= left - 1;
      const Offset from = shuffle(begin, owner), to = shuffle(end, owner);
      const i32 its_row = __shfl_sync(ALL_LANES, row, owner);
      const bool is_long = to - from > Offset(STRIP + CHUNK);
      const int near = is_long ? STRIP : int(to - from);
      const Fold<Op> more = rows.fold_by_warp(from, near, its_row);
      if (lane() == owner) fold.append(more);
      if (is_long && !rows.is_settled(fold_of(fold, owner))) {
        queue_chunks(shuffle(place, owner), its_row, from + near, to, tickets, longs, settled, chunk_rows);
      }
    }
    if (is_output) {
      present[place] = fold.has;
      if constexpr (ENDS != AT_PRESENCE) {
        if (fold.has) w[place] = fold.sum;
      }
    }
    found += fold.has;
  }
  add_count(count, found);
}

/// The fold of each chunk, by a warp, unless an earlier chunk of its row has settled that.
template <class Op, class Offset, class A, int KEPT_A, class U, int KEPT_U, bool U_FULL, int ENDS>
__global__ void __launch_bounds__(256)
pull_chunks(const i32 *__restrict__ indices, const A *a_values, const bool *u_present, const U *u_values,
            const Tickets *tickets, const Long *__restrict__ longs, i32 *settled,
            const i32 *__restrict__ chunk_rows, bool *__restrict__ has, typename Op::Z *__restrict__ sums) {
  const Rows<Op, Offset, A, KEPT_A, U, KEPT_U, U_FULL, ENDS> rows(indices, a_values, u_values, u_present);
  const i64 chunks = tickets->chunks;
  for (i64 c = thread_in_grid() / WARP; c < chunks; c += threads_in_grid() / WARP) {
    const i32 slot = chunk_rows[c];
    const Long each = longs[slot];
    const i32 number = i32(c - each.chunks);
    Fold<Op> fold;
    const bool is_settled = __shfl_sync(ALL_LANES, load_relaxed(&settled[slot]), 0) < number;
    if (!is_settled) {
      const i64 begin = each.begin + i64(number) * CHUNK;
      fold = rows.fold_by_warp(Offset(begin), int(least(each.end - begin, i64(CHUNK))), each.row);
    }
    if (lane() == 0) {
      has[c] = fold.has;
      sums[c] = fold.sum;
      if (rows.is_settled(fold)) atomicMin(&settled[slot], number);
    }
  }
}

/// w(o) = what a long row's first entries gave, and the folds of its chunks in order; by a warp.
template <class Op, int ENDS>
__global__ void __launch_bounds__(256)
join_chunks(const Tickets *tickets, const Long *__restrict__ longs, const bool *__restrict__ has,
            const typename Op::Z *__restrict__ sums, bool *__restrict__ present,
            typename Op::Z *__restrict__ w, u64 *count) {
  const i64 number = tickets->rows;
  u32 found = 0;
  for (i64 slot = thread_in_grid() / WARP; slot < number; slot += threads_in_grid() / WARP) {
    const Long each = longs[slot];
    const i64 last = each.chunks + (each.end - each.begin + CHUNK - 1) / CHUNK;
    const bool had = present[each.place];
    Fold<Op> fold;
    if constexpr (ENDS != AT_PRESENCE) {
      if (had) fold = Fold<Op>(w[each.place], true);
    } else {
      fold.has = had;
    }
    for (i64 at = each.chunks; at < last; at += WARP) {
      const i64 c = at + lane();
      Fold<Op> mine;
      if (c < last && has[c]) mine = Fold<Op>(sums[c], true);
      fold.append(warp_fold(mine));
      if (ENDS != AT_LAST && fold.has) break;
    }
    __syncwarp();  // all have read what was there
    if (lane() == 0 && fold.has) {
      present[each.place] = true;
      if constexpr (ENDS != AT_PRESENCE) w[each.place] = fold.sum;
      found += !had;
    }
  }
  add_count(count, found);
}

/// z(0) = the term that all are, where neither operand differs from entry to entry.
template <class Op, class A, int KEPT_A, class U, int KEPT_U>
__global__ void constant_term(const A *a_values, const U *u_values, typename Op::Z *z) {
  const Values<typename Op::A, A, KEPT_A> a(a_values);
  const Values<typename Op::U, U, KEPT_U> u(u_values);
  if (thread_in_grid() == 0) z[0] = Op::term(a[0], u[0], 0, 0);
}

}  // namespace graphla
