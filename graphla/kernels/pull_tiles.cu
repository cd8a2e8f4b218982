// Pull over all rows to their ends: w(o) = (+) over k of A(o, k) (x) u(k).
//
// The rows' ends and the entries, merged in the order in which they lie, are cut into tiles of one
// size (D. Merrill and M. Garland, Merge-based parallel sparse matrix-vector multiplication, SC
// 2016), so that a row of a million entries, a million rows of one and a million of none are the
// same work. A block takes a tile: it makes the terms, many loads in flight, then each thread walks
// its share of the tile in order. A row that a tile ends with goes on in the next: what it has so
// far is its carry, and `join_tiles` folds carries in order. All cuts depend on A alone: the result
// is the same bits run by run.
#include "gathering.cuh"

namespace graphla {

constexpr int THREADS = 256;  // of a block
constexpr int SECTOR = 8;     // indices that memory moves at once

/// cuts[t] = how many rows end before tile t begins; it has passed t * tile - cuts[t] entries. A
/// warp searches, in 32 parts at a time.
template <class Op, class Offset>
__global__ void cut_tiles(const Offset *__restrict__ indptr, i64 nrows, i64 nvals, i64 tile, i64 tiles,
                          i64 *__restrict__ cuts) {
  for (i64 t = thread_in_grid() / WARP; t <= tiles; t += threads_in_grid() / WARP) {
    const i64 passed = least(t * tile, nrows + nvals);
    i64 low = greatest(passed - nvals, i64(0)), high = least(passed, nrows);
    while (low < high) {
      const i64 step = (high - low + WARP - 1) / WARP, last = low + (lane() + 1) * step - 1;
      const bool is_passed = last < high && i64(indptr[last + 1]) <= passed - last - 1;
      low += __popc(__ballot_sync(ALL_LANES, is_passed)) * step;
      high = least(high, low + step - 1);
    }
    if (lane() == 0) cuts[t] = low;
  }
}

/// The folds, in order, of the threads of the block before this one, back to the last that has
/// `ended` a row; and the same of the whole block. Every thread of the block calls.
template <class Op>
DEVICE Fold<Op> fold_before(Fold<Op> mine, bool ended, Fold<Op> &of_block) {
  constexpr int WARPS = THREADS / WARP;
  SHARED(typename Op::Z, sums, WARPS);
  SHARED(bool, has, WARPS);
  SHARED(bool, ends, WARPS);
  for (int delta = 1; delta < WARP; delta *= 2) {
    const Fold<Op> before = fold_up(mine, delta);
    const bool before_ended = __shfl_up_sync(ALL_LANES, int(ended), delta);
    if (lane() >= delta && !ended) {
      mine.prepend(before);
      ended = before_ended;
    }
  }
  if (lane() == WARP - 1) {
    sums[warp_in_block()] = mine.sum;
    has[warp_in_block()] = mine.has;
    ends[warp_in_block()] = ended;
  }
  Fold<Op> before = fold_up(mine, 1);
  bool before_ended = __shfl_up_sync(ALL_LANES, int(ended), 1);
  if (lane() == 0) before = Fold<Op>(), before_ended = false;
  __syncthreads();
  Fold<Op> of_warps;
  for (int w = 0; w < WARPS; ++w) {
    if (w == warp_in_block() && !before_ended) before.prepend(of_warps);
    if (ends[w]) of_warps = Fold<Op>();
    of_warps.append(Fold<Op>(sums[w], has[w]));
  }
  of_block = of_warps;
  return before;
}

template <class Op, class Offset, class A, int KEPT_A, class U, int KEPT_U, bool U_FULL, int EACH_THREAD>
__global__ void __launch_bounds__(THREADS, U_FULL ? 6 : 4)
pull_tiles(i64 nrows, i64 nvals, const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
           const A *a_values, const bool *__restrict__ u_present, const U *u_values,
           const i64 *__restrict__ cuts,
           bool *__restrict__ present, typename Op::Z *__restrict__ w, u64 *count,
           bool *__restrict__ carry_has, typename Op::Z *__restrict__ carries) {
  typedef typename Op::Z Z;
  constexpr int TILE = THREADS * EACH_THREAD;
  SHARED(Z, slots, TILE);              // terms of the tile's entries, then results of its rows
  SHARED(i32, row_ends, TILE + 1);     // within the tile
  SHARED(u32, there, TILE / WARP + 1); // a bit for each term, as they are loaded
  SHARED(bool, row_has, TILE);         // whether a row that ends here has a term
  const Values<typename Op::A, A, KEPT_A> a(a_values);
  const Values<typename Op::U, U, KEPT_U> u(u_values);

  const i64 tile = blockIdx.x, passed = tile * TILE;
  const i64 first_row = cuts[tile], last_row = cuts[tile + 1];
  const i64 first_entry = passed - first_row;
  const int rows = int(last_row - first_row);
  const int entries = int(least(passed + TILE, nrows + nvals) - last_row - first_entry);

  // A warp reads from a multiple of 32 bytes on, or it would touch a sector more each time: a few
  // entries are left over for the last step.
  constexpr int LOADS = EACH_THREAD + 1;
  const int shift = int(first_entry % SECTOR);
  const auto place = [&](int i) { return i * THREADS + int(threadIdx.x) - shift; };
  i32 k[LOADS];
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    k[i] = place(i) >= 0 && place(i) < entries ? load_once(&indices[first_entry + place(i)]) : -1;
  }
  for (int r = int(threadIdx.x); r < rows; r += THREADS) {
    row_ends[r] = i32(i64(indptr[first_row + r + 1]) - first_entry);
  }
  if (threadIdx.x == 0) row_ends[rows] = 0x7fffffff;
  if constexpr (!U_FULL) {
    bool has[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; ++i) has[i] = k[i] >= 0 && u_present[k[i]];
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
      const u32 bits = __ballot_sync(ALL_LANES, has[i]);
      const int word = i * (THREADS / WARP) + warp_in_block();
      if (lane() == 0 && word <= TILE / WARP) there[word] = bits;
      if (!has[i]) k[i] = -1;
    }
  }
  typename Op::U x[LOADS];
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    if (k[i] >= 0) x[i] = u[k[i]];
  }
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    if (k[i] >= 0) slots[place(i)] = Op::term(a.once(first_entry + place(i)), x[i], 0, k[i]);
  }
  __syncthreads();

  // This thread's share of the tile: where it begins, then step by step.
  const int all = rows + entries, begin = least(int(threadIdx.x) * EACH_THREAD, all);
  int low = greatest(begin - entries, 0), high = least(begin, rows);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (row_ends[middle] <= begin - middle - 1) low = middle + 1;
    else high = middle;
  }
  int row = low, entry = begin - low, first_ended = -1;
  Fold<Op> fold, first;
#pragma unroll
  for (int i = 0; i < EACH_THREAD; ++i) {
    if (begin + i >= all) break;
    if (row_ends[row] <= entry) {
      if (first_ended < 0) {
        first = fold, first_ended = row;
      } else {
        if (fold.has) slots[entries + row] = fold.sum;
        row_has[row] = fold.has;
      }
      fold = Fold<Op>();
      ++row;
    } else {
      bool has = true;
      if constexpr (!U_FULL) has = there[(entry + shift) / WARP] >> ((entry + shift) % WARP) & 1;
      fold.append(Fold<Op>(slots[entry], has));
      ++entry;
    }
  }
  Fold<Op> carry;
  const Fold<Op> before = fold_before<Op>(fold, first_ended >= 0, carry);
  if (first_ended >= 0) {
    first.prepend(before);
    if (first.has) slots[entries + first_ended] = first.sum;
    row_has[first_ended] = first.has;
  }
  if (threadIdx.x == 0) {
    carry_has[tile] = carry.has;
    carries[tile] = carry.sum;
  }
  __syncthreads();
  u32 found = 0;
  for (int r = int(threadIdx.x); r - int(threadIdx.x) < rows; r += THREADS) {
    const bool has = r < rows && row_has[r];
    if (r < rows) present[first_row + r] = has;
    if (has) w[first_row + r] = slots[entries + r];
    found += u32(__popc(__ballot_sync(ALL_LANES, has)));
  }
  if (lane() == 0 && found) atomicAdd(count, u64(found));
}

/// w(o) = the carries of the tiles that row o goes through, in order, and what its last tile gave.
template <class Op>
__global__ void __launch_bounds__(256)
join_tiles(i64 tiles, const i64 *__restrict__ cuts, const bool *__restrict__ carry_has,
           const typename Op::Z *__restrict__ carries, bool *__restrict__ present,
           typename Op::Z *__restrict__ w, u64 *count) {
  for (i64 at = thread_in_grid() - lane(); at < tiles; at += threads_in_grid()) {
    const i64 t = at + lane();
    // The last tile but one of a row that goes on from tile to tile.
    bool joins = t + 1 < tiles && cuts[t + 2] > cuts[t + 1];
    i64 from = t;
    if (joins && cuts[t] == cuts[t + 1]) {
      // Back to where the row began: the first tile to carry it.
      i64 low = 0, high = t;
      const i64 row = cuts[t + 1];
      while (low < high) {
        const i64 middle = (low + high) / 2;
        if (cuts[middle + 1] < row) low = middle + 1;
        else high = middle;
      }
      from = low;
    }
    if (joins && from == t && !carry_has[t]) joins = false;  // the row begins with its last tile
    u32 left = __ballot_sync(ALL_LANES, joins);
    while (left) {
      const int owner = __ffs(int(left)) - 1;
      left &= left - 1;
      const i64 begin = shuffle(from, owner), end = at + owner;
      const i64 row = cuts[end + 1];
      Fold<Op> fold;
      for (i64 c = begin; c <= end; c += WARP) {
        Fold<Op> mine;
        if (c + lane() <= end && carry_has[c + lane()]) mine = Fold<Op>(carries[c + lane()], true);
        fold.append(warp_fold(mine));
      }
      if (lane() == 0 && fold.has) {
        const bool had = present[row];
        if (had) fold.append(Fold<Op>(w[row], true));
        else atomicAdd(count, u64(1));
        present[row] = true;
        w[row] = fold.sum;
      }
    }
  }
}

}  // namespace graphla
