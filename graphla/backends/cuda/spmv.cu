// Pull: w(o) = (+) over k of A(o, k) (x) u(k), for the outputs o that the mask allows.
//
// A row is settled when its remaining entries cannot change its result. Each thread reads the first
// few entries of one row. If these do not settle the row, a group of lanes or the whole warp reads
// the rest. A long row is cut into chunks: warps of the whole grid fold the chunks (`pull_chunks`),
// and `join_chunks` then combines the folds of each row's chunks in order. If a warp has many rows
// of medium length, it queues each of these rows as one chunk, which any warp of the grid may
// process. If the mask is given as flags, a warp first lists the rows that the mask allows.
//
// How a row is cut depends only on its length. A row of medium length is folded in the same order
// whether or not it is queued. If the result of a row is a single term (AT_FIRST), it is always
// the first term in the order of k. So the result is bitwise equal in every run and for every grid
// size.
#include "gathering.cuh"

namespace graphla {

constexpr int FEW = 8;    // number of entries of a row that a single thread reads
constexpr int SOME = 32;  // maximum number of entries of a row that a group of lanes reads
// If a warp has more than CROWD rows that are longer than SpmvTuning::middle, the warp queues them.
constexpr int CROWD = 4;

/// Number of entries in a chunk of a long row. If folds may end early (MAY_SETTLE), a row is long
/// if it has more than strip + wide_chunk entries. A warp folds the first `strip` entries of a long
/// row, and only the rest is cut into chunks. If folds do not end early, a row is long if it has
/// more than `chunk` entries, and the whole row is cut into chunks.
template <bool MAY_SETTLE>
constexpr int CHUNK_OF = MAY_SETTLE ? SpmvTuning::wide_chunk : SpmvTuning::chunk;

/// The part of a long row that is folded in chunks.
struct Long {
  i64 place;  // position of the row's result in the arrays of `Result`
  i64 row;
  i64 begin, end;
  i64 chunks;  // index of the row's first chunk; the indices of its other chunks follow
};

/// The number of queued rows, and the number of their chunks.
struct Tickets {
  u32 rows, chunks;
};

/// The queue in which long rows wait for `pull_chunks`. If `tickets` is null there is no queue,
/// because no row is long.
struct Queue {
  Tickets *tickets;
  Long *longs;
  i32 *settled;     // per long row: the first chunk that is known to settle the row
  i32 *chunk_rows;  // per chunk: the index in `longs` of the row to which it belongs
};

/// The folded value of each chunk, and whether the chunk has a term.
template <class Z> struct Chunks {
  bool *has;
  Z *sums;
};

/// The rows of A whose results are requested. The template parameter MASK, a MaskKind, says which
/// of the fields describe them.
struct Wanted {
  i64 outputs;        // length of `list` if there is one, otherwise number of rows of A
  const bool *flags;  // one flag per row
  const i32 *list;    // row numbers
  bool complement;    // whether the flags are complemented
  bool by_place;      // whether results are stored in the order of the list instead of by row
};

/// The arrays for the result: presence flags and values.
template <class Z> struct Result {
  bool *present;
  Z *w;        // values; null if all values are equal (AT_PRESENCE)
  u64 *count;  // receives the number of entries
};

/// For each lane whose `is_long` is true, queues the row of this lane. The row's entries from
/// `begin` to `end` - 1 are cut into chunks of CHUNK entries. Every lane of the warp must call
/// this.
template <int CHUNK>
DEVICE void queue_chunks(bool is_long, i64 place, i64 row, i64 begin, i64 end, const Queue &queue) {
  u32 owners = __ballot_sync(ALL_LANES, is_long);
  if (!owners) return;
  const u32 count = is_long ? u32((end - begin + CHUNK - 1) / CHUNK) : 0,
            sum = warp_inclusive_sum(count);
  u32 slot = 0, first = 0;
  if (lane() == WARP - 1) {
    slot = atomicAdd(&queue.tickets->rows, u32(__popc(owners)));
    first = atomicAdd(&queue.tickets->chunks, sum);
  }
  slot = shuffle(slot, WARP - 1) + u32(__popc(owners & ((1u << lane()) - 1)));
  first = shuffle(first, WARP - 1) + sum - count;
  if (is_long) {
    queue.longs[slot] = Long{place, row, begin, end, i64(first)};
    queue.settled[slot] = 0x7fffffff;
  }
  for (; owners; owners &= owners - 1) {
    const int owner = __ffs(int(owners)) - 1;
    const u32 its_slot = shuffle(slot, owner), its_first = shuffle(first, owner),
              its_count = shuffle(count, owner);
    for (u32 i = u32(lane()); i < its_count; i += WARP)
      queue.chunk_rows[its_first + i] = i32(its_slot);
  }
}

/// Determines which items a warp processes; `now` is the current item. If TAKEN is true, the warp
/// repeatedly takes the next item that no warp has taken yet. Otherwise the items of a warp are a
/// fixed stride apart. Every lane of the warp must call the constructor and `step`.
template <bool TAKEN> struct Turns {
  u64 *next;
  u32 now;

  DEVICE explicit Turns(u64 *counter) : next(counter), now(u32(thread_in_grid() / WARP)) {
    if constexpr (TAKEN) step();
  }
  DEVICE void step() {
    if constexpr (TAKEN) {
      if (lane() == 0) now = u32(atomicAdd(next, u64(1)));
      now = shuffle(now, 0);
    } else {
      now += u32(threads_in_grid() / WARP);
    }
  }
};

/// Adds to *count the number of entries that the threads of this block have found. Every thread of
/// the block must call this.
DEVICE void add_count(u64 *count, u32 found) {
  SHARED(u32, scratch, WARP + 1);
  block_add(count, found, scratch);
}

/// Examines the WARP * SPAN rows that begin with row `at`. Lists the rows that the flags of the
/// mask allow, and returns their number. The list `wanted` contains the row numbers minus `at`, in
/// ascending order. For each other row, clears the presence flag of its result. Every lane of the
/// warp must call this.
template <int SPAN>
DEVICE int list_wanted(u32 at, u32 outputs, const bool *__restrict__ flags, bool complement,
                       u8 *wanted, bool *__restrict__ present) {
  bool let[SPAN];
#pragma unroll
  for (int part = 0; part < SPAN; ++part) {
    const u32 row = at + u32(part * WARP + lane());
    let[part] = row < outputs && flags[row] != complement;
  }
  __syncwarp();  // wait until all lanes have read the old list
  int count = 0;
#pragma unroll
  for (int part = 0; part < SPAN; ++part) {
    const u32 row = at + u32(part * WARP + lane());
    const u32 others = __ballot_sync(ALL_LANES, let[part]);
    if (let[part]) wanted[count + __popc(others & ((1u << lane()) - 1))] = u8(part * WARP + lane());
    else if (row < outputs) present[row] = false;
    count += __popc(others);
  }
  __syncwarp();
  return count;
}

/// THREADS is the number of threads per block. BLOCKS is the number of blocks that a multiprocessor
/// must be able to hold: as many as the registers allow without spilling.
template <int HELD> constexpr int THREADS = int(HELD == WITH_HUBS ? WIDEST_BLOCK : BLOCK_THREADS);
template <class Offset, class A, class Z, int HELD, int MASK>
constexpr bool IS_SLIM =
    HELD == IN_FULL && MASK != MASK_LIST && sizeof(Offset) == 4 && sizeof(A) <= 4 && sizeof(Z) <= 4;
template <class Offset, class A, class Z, int HELD, int MASK, int ENDS>
constexpr int BLOCKS = HELD == WITH_HUBS                         ? 1
                       : ENDS != AT_LAST                         ? 6
                       : IS_SLIM<Offset, A, Z, HELD, MASK>       ? 5
                       : HELD == IN_BITMAP && MASK == MASK_FLAGS ? 3
                                                                 : 4;

/// For each lane whose bit in `left` is set, processes the row of this lane: groups of lanes fold
/// the short rows, and the long rows are queued. This function is used if folds do not end early.
/// Returns a bit mask of the lanes whose rows are neither short nor long; the warp must still fold
/// these rows.
template <class Rows, class Op, class Offset>
DEVICE u32 fold_short_queue_long(const Rows &rows, Fold<Op> &fold, u32 left, i32 place, i32 row,
                                 Offset begin, Offset end, const Queue &queue) {
  const u32 shorter = __ballot_sync(ALL_LANES, begin < end && end - begin <= Offset(SOME));
  rows.fold_by_groups(fold, shorter, begin, int(end - begin), row);
  left &= ~shorter;
  int longest = SpmvTuning::chunk;
  if constexpr (!Rows::HAS_HUBS) {
    const u32 crowd =
        __ballot_sync(ALL_LANES, (left >> lane() & 1) && end - begin > Offset(SpmvTuning::middle));
    if (queue.tickets && __popc(crowd) > CROWD) longest = SpmvTuning::middle;
  }
  const bool is_long = (left >> lane() & 1) && end - begin > Offset(longest);
  queue_chunks<SpmvTuning::chunk>(is_long, place, row, begin, end, queue);
  return left & ~__ballot_sync(ALL_LANES, is_long);
}

/// For each lane whose bit in `left` is set, folds the row of this lane. The whole warp folds each
/// of these rows together, one row after another. If a fold may end early, the warp folds only the
/// first SpmvTuning::strip entries of a long row, and queues the rest of the row if these entries
/// do not settle it.
template <class Rows, class Op, class Offset>
DEVICE void fold_by_warps(const Rows &rows, Fold<Op> &fold, u32 left, i32 place, i32 row,
                          Offset begin, Offset end, const Queue &queue) {
  constexpr int STRIP = SpmvTuning::strip, CHUNK = CHUNK_OF<Rows::MAY_SETTLE>;
  while (left) {
    const int owner = __ffs(int(left)) - 1;
    left &= left - 1;
    const Offset from = shuffle(begin, owner), to = shuffle(end, owner);
    const i32 its_row = __shfl_sync(ALL_LANES, row, owner);
    const bool is_long = Rows::MAY_SETTLE && to - from > Offset(STRIP + CHUNK);
    const int near = is_long ? STRIP : int(to - from);
    const Fold<Op> more = rows.fold_by_warp(from, near, its_row);
    if (lane() == owner) fold.append(more);
    if (is_long && !rows.is_settled(fold_of(fold, owner))) {
      queue_chunks<CHUNK>(lane() == owner, place, row, begin + near, end, queue);
    }
  }
}

template <class Op, class Offset, class A, int KEPT_A, class U, int KEPT_U, int HELD, int MASK,
          int ENDS>
__global__ void __launch_bounds__(THREADS<HELD>,
                                  BLOCKS<Offset, A, typename Op::Z, HELD, MASK, ENDS>)
    pull_rows(const Offset *__restrict__ indptr, Operands<A, U> of, u64 *next, Wanted wants,
              Result<typename Op::Z> result, Queue queue) {
  // Number of rows that each lane takes in one step of its warp.
  constexpr int SPAN = MASK == MASK_FLAGS ? SpmvTuning::span : HELD == WITH_HUBS ? 2 : 1;
  SHARED(u8, lists, MASK == MASK_FLAGS ? BLOCK_THREADS * SPAN : 1);
  u8 *const wanted = lists + (MASK == MASK_FLAGS ? warp_in_block() * WARP * SPAN : 0);
  const bool *__restrict__ flags = wants.flags;
  const i32 *__restrict__ list = wants.list;
  bool *__restrict__ present = result.present;
  typename Op::Z *__restrict__ w = result.w;
  const u32 outputs = u32(wants.outputs);  // always below 2^31
  const Rows<Op, Offset, A, KEPT_A, U, KEPT_U, HELD, ENDS> rows(of);
  u32 found = 0;
  for (Turns<HELD == WITH_HUBS> turn(next); turn.now * (WARP * SPAN) < outputs; turn.step()) {
    const u32 at = turn.now * (WARP * SPAN);
    int span = int(least(outputs - at, u32(WARP * SPAN)));
    if constexpr (MASK == MASK_FLAGS)
      span = list_wanted<SPAN>(at, outputs, flags, wants.complement, wanted, present);
    for (int part = 0; part == 0 || (SPAN > 1 && part < span); part += WARP) {
      const bool is_output = part + lane() < span;
      u32 mine = at + u32(part + lane());
      i32 row = 0;
      Offset begin = 0, end = 0;
      if (is_output) {
        if constexpr (MASK == MASK_FLAGS) mine = at + wanted[part + lane()];
        if constexpr (MASK == MASK_LIST) row = list[mine];
        else row = i32(mine);
        begin = indptr[row], end = indptr[row + 1];
      }
      Fold<Op> fold;
      int few = int(least(end - begin, Offset(FEW)));
      // If no fold can end early, a group of lanes or the warp reads all entries of a row with more
      // than FEW entries, so this thread reads none of them.
      if (!rows.MAY_SETTLE && end - begin > Offset(FEW)) few = 0;
      rows.fold_few(fold, begin, few, row);
      begin += Offset(few);
      const i32 place = wants.by_place ? i32(mine) : row;
      u32 left = __ballot_sync(ALL_LANES, begin < end && !rows.is_settled(fold));
      if constexpr (!rows.MAY_SETTLE)
        left = fold_short_queue_long(rows, fold, left, place, row, begin, end, queue);
      fold_by_warps(rows, fold, left, place, row, begin, end, queue);
      if (is_output) {
        present[place] = fold.has;
        if constexpr (ENDS != AT_PRESENCE) {
          if (fold.has) w[place] = fold.sum;
        }
      }
      found += fold.has;
    }
  }
  add_count(result.count, found);
}

/// Folds each chunk with one warp. A chunk is skipped if an earlier chunk of the same row is known
/// to determine the result of the row.
template <class Op, class Offset, class A, int KEPT_A, class U, int KEPT_U, int HELD, int ENDS>
__global__ void __launch_bounds__(THREADS<HELD>, HELD == WITH_HUBS ? 1 : 5)
    pull_chunks(Operands<A, U> of, u64 *next, Queue queue, Chunks<typename Op::Z> folds) {
  const Rows<Op, Offset, A, KEPT_A, U, KEPT_U, HELD, ENDS> rows(of);
  constexpr int CHUNK = CHUNK_OF<rows.MAY_SETTLE>;
  const Long *__restrict__ longs = queue.longs;
  const i32 *__restrict__ chunk_rows = queue.chunk_rows;
  bool *__restrict__ has = folds.has;
  typename Op::Z *__restrict__ sums = folds.sums;
  const i64 chunks = queue.tickets->chunks;
  for (Turns<HELD == WITH_HUBS> turn(next); turn.now < chunks; turn.step()) {
    const i64 c = turn.now;
    const i32 slot = chunk_rows[c];
    const Long each = longs[slot];
    const i32 number = i32(c - each.chunks);
    Fold<Op> fold;
    const bool is_settled = __shfl_sync(ALL_LANES, load_relaxed(&queue.settled[slot]), 0) < number;
    if (!is_settled) {
      const i64 begin = each.begin + i64(number) * CHUNK;
      fold = rows.fold_by_warp(Offset(begin), int(least(each.end - begin, i64(CHUNK))), each.row);
    }
    if (lane() == 0) {
      has[c] = fold.has;
      sums[c] = fold.sum;
      if (rows.is_settled(fold)) atomicMin(&queue.settled[slot], number);
    }
  }
}

/// Computes the result of each long row, with one warp per row. The result combines the fold of the
/// entries before the first chunk, if there is one, with the folds of the row's chunks, in order.
template <class Op, int ENDS>
__global__ void __launch_bounds__(BLOCK_THREADS)
    join_chunks(Queue queue, Chunks<typename Op::Z> folds, i64 chunk,
                Result<typename Op::Z> result) {
  constexpr int AT_ONCE = ENDS == AT_LAST ? 4 : 1;  // number of loads that each lane has in flight
  const Long *__restrict__ longs = queue.longs;
  const bool *__restrict__ has = folds.has;
  const typename Op::Z *__restrict__ sums = folds.sums;
  bool *__restrict__ present = result.present;
  typename Op::Z *__restrict__ w = result.w;
  const i64 number = queue.tickets->rows;
  u32 found = 0;
  for (i64 slot = thread_in_grid() / WARP; slot < number; slot += threads_in_grid() / WARP) {
    const Long each = longs[slot];
    const i64 last = each.chunks + (each.end - each.begin + chunk - 1) / chunk;
    const bool had = present[each.place];
    Fold<Op> fold;
    if constexpr (ENDS != AT_PRESENCE) {
      if (had) fold = Fold<Op>(w[each.place], true);
    } else {
      fold.has = had;
    }
    for (i64 at = each.chunks; at < last; at += AT_ONCE * WARP) {
      Fold<Op> mine[AT_ONCE];
#pragma unroll
      for (int n = 0; n < AT_ONCE; ++n) {
        const i64 c = at + n * WARP + lane();
        if (c < last) mine[n] = Fold<Op>(sums[c], has[c]);
      }
#pragma unroll
      for (int n = 0; n < AT_ONCE; ++n) {
        if (at + n * WARP >= last || (ENDS != AT_LAST && fold.has)) break;
        if (!mine[n].has) mine[n] = Fold<Op>();
        fold.append(warp_fold(mine[n]));
      }
      if (ENDS != AT_LAST && fold.has) break;
    }
    __syncwarp();  // wait until all lanes have read the result of the previous row
    if (lane() == 0 && fold.has) {
      present[each.place] = true;
      if constexpr (ENDS != AT_PRESENCE) w[each.place] = fold.sum;
      found += !had;
    }
  }
  add_count(result.count, found);
}

}  // namespace graphla
