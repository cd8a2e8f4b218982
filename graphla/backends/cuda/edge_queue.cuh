// Rounds over a queue of rows in one launch. Warps share the entries of all queued rows evenly, and
// queue the rows of the next round. Consecutive rounds with few entries are run by block 0 alone,
// with block barriers instead of grid barriers between them.
//
// The high word of a queue item holds a row, in a format that each kernel defines. The low word
// holds the number of entries in the preceding rows of the round. The counter of a round also has
// two halves: the high half counts the queued rows, and the low half counts their entries. So one
// atomic addition reserves both the positions of new rows and the positions of their entries.
//
// The counts of round r are in slot r % 3. In round r, blocks read the counts of round r - 1, add
// to those of round r, and reset those of round r + 1 to zero.
#ifndef GRAPHLA_EDGE_QUEUE
#define GRAPHLA_EDGE_QUEUE
#include "persistent.cuh"

namespace graphla {

DEVICE u32 rows_in(u64 queued) { return u32(queued >> 32); }
DEVICE u32 entries_in(u64 queued) { return u32(queued); }

/// Adds the counts `mine` of all lanes to *queued. The high half of each count is a number of rows,
/// and the low half is the number of entries in these rows. Returns the value of *queued just
/// before this lane's count is added; counts are added in the order of the lanes. The whole warp
/// must call this.
DEVICE u64 claim_rows(u64 *queued, u64 mine) {
  const u64 sum = warp_inclusive_sum(mine);
  u64 first = 0;
  if (lane() == WARP - 1 && sum) first = atomicAdd(queued, sum);
  return shuffle(first, WARP - 1) + sum - mine;
}

/// Finds the queue item that contains each entry of a round. Entries are looked up in ascending
/// order.
struct ItemFinder {
  const u64 *items;
  u32 rows, low;  // `rows`: number of items; `low`: the first item that may contain the next entry

  /// Starts at entry `from`: sets `low` to the item that contains this entry.
  DEVICE ItemFinder(const u64 *queue, u32 count, u32 from) : items(queue), rows(count) {
    low = partition_point(u32(1), count, [&](u32 k) { return u32(queue[k]) <= from; }) - 1;
  }

  /// Returns the index of the item that contains entry `at` + lane. The whole warp must call this.
  /// From call to call, `at` must increase by 32.
  DEVICE u32 next(u32 at) {
    const u32 e = at + u32(lane()), after = low + 1 + u32(lane());
    const u32 starts = after < rows ? u32(items[after]) : ~u32(0);
    int before = 0;
    for (int half = WARP / 2; half; half /= 2) {
      if (shuffle(starts, before + half - 1) <= e) before += half;
    }
    const u32 found = low + before;
    low += u32(__popc(__ballot_sync(ALL_LANES, starts <= at + WARP)));
    return found;
  }
};

/// One warp's share of the entries of a round: the entries from `first` to `last` - 1.
struct Share {
  u32 first, last;

  DEVICE Share(u32 entries, u32 workers, u32 worker) {
    const u32 each = u32((u64(entries) + workers * WARP - 1) / (workers * WARP)) * WARP;
    const u64 begin = u64(worker) * each;
    first = u32(least(begin, u64(entries)));
    last = u32(least(begin + each, u64(entries)));
  }
};

/// The counts of a round, in control memory.
struct RoundCounts {
  u64 queued;  // high half: number of rows in the next round; low half: number of their entries
  u64 alive;   // number of vertices that have not been removed yet
  /// Bitwise complement of the smallest degree of a remaining vertex, so that atomicMax finds the
  /// minimum.
  u64 lowest;
  u64 at;  // the queue position that block 0 reached when it worked alone
};

/// Runs the rounds of one launch. `own` points to two words of shared memory, which block 0 uses
/// when it runs rounds alone: own[0] counts the rows and entries that it queues, and own[1] is the
/// stop flag.
struct Rounds {
  Grid grid;
  StopFlag stop;
  RoundCounts *slots;
  u64 *own;
  u32 alone_edges;  // maximum number of entries in a round that block 0 runs alone
  u32 warps, warp;  // number of warps in the grid; index of this warp
  u32 turn = 0;
  bool leaves = false, wishes = false;

  DEVICE Rounds(const Launch &launch, RoundCounts *counts, u64 *words, u32 alone, u32 which)
      : grid(launch), stop(launch), slots(counts), own(words), alone_edges(alone),
        warps(u32(threads_in_grid() / WARP)), warp(which) {}

  /// Returns the counters that blocks increase in this round.
  DEVICE RoundCounts *counts() const { return &slots[turn % 3]; }

  /// Ends a round with a barrier for all blocks. Returns the round's counts.
  DEVICE const RoundCounts *meet() {
    RoundCounts *const ended = counts();
    if (thread_in_grid() == 0) slots[(turn + 1) % 3] = RoundCounts{0, 0, 0, 0};
    leaves = grid.meet(wishes || (threadIdx.x == 0 && stop.is_up()));
    ++turn;
    return ended;
  }

  /// Runs rounds until a round queues no rows. walk(at, rows, share, counter) processes one share
  /// of a round. The round's `rows` items begin at position `at` of the queue; `counter` counts the
  /// rows and entries that are queued for the next round. after(at, rows) returns the position of
  /// the next round's first item. Returns the position after the items of the last round.
  template <class Walk, class After> DEVICE u64 run(u64 queued, u64 at, Walk walk, After after) {
    while (queued && !leaves) {
      const bool is_alone = entries_in(queued) <= alone_edges;
      RoundCounts *const found = counts();
      if (!is_alone || blockIdx.x == 0) {
        for (;;) {
          if (is_alone) start_alone();
          const Share share(entries_in(queued), is_alone ? blockDim.x / WARP : warps,
                            is_alone ? threadIdx.x / WARP : warp);
          if (share.first < share.last)
            walk(at, rows_in(queued), share, is_alone ? own : &found->queued);
          if (!is_alone) break;
          at = after(at, rows_in(queued));
          __syncthreads();
          queued = own[0];
          __syncthreads();
          if (!queued || entries_in(queued) > alone_edges || wishes) break;
        }
        if (is_alone && threadIdx.x == 0)
          store_relaxed(&found->queued, queued), store_relaxed(&found->at, at);
      }
      if (!is_alone) at = after(at, rows_in(queued));
      const RoundCounts *const ended = meet();
      queued = load_relaxed(&ended->queued);
      if (is_alone) at = load_relaxed(&ended->at);
    }
    return at;
  }

  /// Begins a round that block 0 runs alone.
  DEVICE void start_alone() {
    if (threadIdx.x == 0) own[0] = 0, own[1] = stop.is_up();
    __syncthreads();
    wishes = own[1];
  }

  /// Reports to the host that the launch has ended. Every thread must call this as its last action.
  DEVICE void finish(const Launch &launch) {
    if (is_last_block(grid) && threadIdx.x == 0) {
      tell_host(launch, HOST_RESULTS, turn);
      tell_host(launch, HOST_STATUS, leaves ? STOPPED : FINISHED);
    }
  }
};

}  // namespace graphla
#endif
