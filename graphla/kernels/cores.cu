// Core numbers, in one launch: at level k vertices of degree k go, and what falls to k with them.
//
// left[v] is the edges of v to vertices that are left, and, once it has gone, its core number. A round
// takes the rows of the vertices that have gone in the round before, edge by edge, cut evenly among
// all warps; or, at the head of a level, it looks for those of degree k among the vertices that are
// left, and lists the others anew. Rounds of few edges are one block's, by its own barrier.
//
// Invariants: left[v] >= k for every vertex that has not gone; it is less for a moment alone, while a
// thread takes back what it took too much. Counts of round r lie in slot r % 3: those of the round
// before are read while they grow, and those of the next are zeroed.
#include "persistent.cuh"

namespace graphla {

constexpr int AHEAD = 4;  // entries of a lane at a time, while rows are gone through
constexpr int STEPS = 8;  // vertices of a lane at a time, while a level looks for its own
constexpr i64 TILE = STEPS * WARP;
constexpr u32 ALONE_ROWS = 2048;  // rows of a round of one block in shared memory
constexpr u32 OF_COLUMNS = u32(1) << 31;  // in a place: an entry of the columns

/// What a round finds, in control memory: three of them.
struct Found {
  u64 queued;  // rows, and below them their entries
  u64 kept;    // vertices left
  u64 lowest;  // ~0 less the least degree among them
  u64 begin;   // where the queue of one block's last round begins
};

/// A graph, the rows that have gone, and the degrees.
///
/// The queue holds, for a row whose entries come after `ends` others of its round, the place of its
/// first entry less that number, above that number.
template <class Offset> struct Peeling {
  const Offset *a_indptr, *b_indptr;  // b: the columns, or null
  const i32 *a_indices, *b_indices;
  i32 *left;
  u64 *queue;

  /// Queues the rows of v for each lane where `goes`, from `begin` on; the whole warp calls.
  DEVICE void push(bool goes, i32 v, u64 begin, u64 *queued) const {
    if (!__any_sync(ALL_LANES, goes)) return;
    u32 a_place = 0, a_entries = 0, b_place = 0, b_entries = 0;
    if (goes) {
      a_place = u32(a_indptr[v]), a_entries = u32(a_indptr[v + 1]) - a_place;
      if (b_indptr) b_place = u32(b_indptr[v]), b_entries = u32(b_indptr[v + 1]) - b_place;
    }
    const u64 mine = u64((a_entries != 0) + (b_entries != 0)) << 32 | (a_entries + b_entries);
    const u64 sum = warp_inclusive_sum(mine);
    u64 first = 0;
    if (lane() == WARP - 1) first = atomicAdd(queued, sum);
    first = shuffle(first, WARP - 1) + sum - mine;
    u64 slot = begin + (first >> 32);
    const u32 ends = u32(first);
    if (a_entries) queue[slot++] = u64(a_place - ends) << 32 | ends;
    if (b_entries) queue[slot] = u64((b_place | OF_COLUMNS) - (ends + a_entries)) << 32 | (ends + a_entries);
  }

  /// Of the vertices i, ..., i + TILE - 1 that are left (of the list, if there is one), those of degree
  /// k are queued, and those of more listed; the least degree of a lane's. One warp.
  DEVICE u32 sort_out(i64 i, i64 alive, const i32 *from, i32 *to, i32 k, u64 begin, Found *found) const {
    i32 v[STEPS], degree[STEPS];
    u32 gone = 0, stays = 0, lowest = ~u32(0);
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      const i64 place = i + step * WARP + lane();
      v[step] = place >= alive ? -1 : from ? from[place] : i32(place);
    }
#pragma unroll
    for (int step = 0; step < STEPS; ++step) degree[step] = v[step] < 0 ? -1 : load_relaxed(&left[v[step]]);
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      if (degree[step] == k) gone |= 1u << step;
      if (degree[step] <= k) continue;
      stays |= 1u << step;
      lowest = least(lowest, u32(degree[step]));
    }
    const u32 total = warp_inclusive_sum(u32(__popc(stays)));
    u64 at = 0;
    if (lane() == WARP - 1 && total) at = atomicAdd(&found->kept, u64(total));
    at = shuffle(at, WARP - 1);
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      const u32 those = __ballot_sync(ALL_LANES, stays >> step & 1);
      if (stays >> step & 1) to[at + u64(__popc(those & ((1u << lane()) - 1)))] = v[step];
      at += u64(__popc(those));
    }
    if (k && __any_sync(ALL_LANES, gone != 0)) {
      for (int step = 0; step < STEPS; ++step) {
        const bool goes = gone >> step & 1;
        const i64 place = i + step * WARP + lane();
        push(goes, !goes ? 0 : from ? from[place] : i32(place), begin, &found->queued);
      }
    }
    return lowest;
  }

  /// Return the last of `rows` items that begins at entry `from` or before.
  DEVICE u32 row_of(const u64 *items, u32 rows, u32 from) const {
    u32 low = 0, high = rows;
    while (high - low > 1) {
      const u32 middle = low + (high - low) / 2;
      if (u32(items[middle]) <= from) low = middle;
      else high = middle;
    }
    return low;
  }

  /// Reads the next AHEAD * WARP entries from `base` on, up to `to`: their vertices, or -1. `low` is the
  /// row of entry `base`, and afterwards that of the entry behind the last. One warp.
  DEVICE void read_entries(const u64 *items, u32 rows, u32 base, u32 to, u32 &low, i32 *v) const {
    u32 place[AHEAD];
#pragma unroll
    for (int step = 0; step < AHEAD; ++step) {
      const u32 at = base + step * WARP, e = at + u32(lane()), after = low + 1 + u32(lane());
      const u32 starts = after < rows ? u32(items[after]) : ~u32(0);
      int before = 0;
      for (int half = WARP / 2; half; half /= 2) {
        if (shuffle(starts, before + half - 1) <= e) before += half;
      }
      place[step] = e < to ? e + u32(items[low + before] >> 32) : 0;
      low += u32(__popc(__ballot_sync(ALL_LANES, starts <= at + WARP)));
    }
#pragma unroll
    for (int step = 0; step < AHEAD; ++step) {
      const bool is_there = base + step * WARP + u32(lane()) < to;
      v[step] = !is_there ? -1 : place[step] & OF_COLUMNS ? b_indices[place[step] & ~OF_COLUMNS] : a_indices[place[step]];
    }
  }

  /// Entries `from` to `to` of the rows queue[begin], ... of which there are `rows`: their vertices
  /// lose an edge. One warp.
  DEVICE void peel(u64 begin, u32 rows, u32 from, u32 to, i32 k, u64 next, u64 *queued) const {
    const u64 *const items = queue + begin;
    u32 low = row_of(items, rows, from);
    for (u32 base = from; base < to; base += AHEAD * WARP) {
      i32 v[AHEAD];
      read_entries(items, rows, base, to, low, v);
      u32 stands = 0, goes = 0;
#pragma unroll
      for (int step = 0; step < AHEAD; ++step) {
        if (v[step] >= 0 && load_relaxed(&left[v[step]]) > k) stands |= 1u << step;
      }
#pragma unroll
      for (int step = 0; step < AHEAD; ++step) {
        if (!(stands >> step & 1)) continue;
        const i32 degree = i32(atomicSub((u32 *)&left[v[step]], 1u));
        if (degree == k + 1) goes |= 1u << step;
        if (degree <= k) atomicAdd((u32 *)&left[v[step]], 1u);
      }
#pragma unroll
      for (int step = 0; step < AHEAD; ++step) push(goes >> step & 1, v[step], next, queued);
    }
  }

  /// Like `peel`, but for one block: adds the rows of the vertices that fall to k to `found`, as the
  /// place of their first entry above their length. The first `room` of the rows go to shared memory
  /// and the others to the queue from `free` on. One warp.
  DEVICE void peel_alone(const u64 *items, u32 rows, u32 from, u32 to, i32 k, u64 *found, u32 room, u64 free,
                         u32 *count) const {
    u32 low = row_of(items, rows, from);
    for (u32 base = from; base < to; base += AHEAD * WARP) {
      i32 v[AHEAD], degree[AHEAD];
      read_entries(items, rows, base, to, low, v);
      // A round waits for each load in turn: no look at the degree comes before the atomic.
#pragma unroll
      for (int step = 0; step < AHEAD; ++step) degree[step] = v[step] < 0 ? -1 : i32(atomicSub((u32 *)&left[v[step]], 1u));
      u32 goes = 0;
#pragma unroll
      for (int step = 0; step < AHEAD; ++step) {
        if (v[step] < 0) continue;
        if (degree[step] == k + 1) goes |= 1u << step;
        if (degree[step] <= k) atomicAdd((u32 *)&left[v[step]], 1u);
      }
      if (!__any_sync(ALL_LANES, goes != 0)) continue;
      append_rows(a_indptr, 0, goes, v, found, room, free, count);
      if (b_indptr) append_rows(b_indptr, OF_COLUMNS, goes, v, found, room, free, count);
    }
  }

  /// Appends the rows of the vertices that go, unless they are empty. One warp.
  DEVICE void append_rows(const Offset *indptr, u32 flag, u32 goes, const i32 *v, u64 *found, u32 room, u64 free,
                          u32 *count) const {
    u32 begin[AHEAD], end[AHEAD], mine = 0;
#pragma unroll
    for (int step = 0; step < AHEAD; ++step) {
      begin[step] = end[step] = 0;
      if (goes >> step & 1) begin[step] = u32(indptr[v[step]]), end[step] = u32(indptr[v[step] + 1]);
    }
#pragma unroll
    for (int step = 0; step < AHEAD; ++step) mine += begin[step] != end[step];
    const u32 sum = warp_inclusive_sum(mine);
    u32 slot = 0;
    if (lane() == WARP - 1) slot = atomicAdd(count, sum);
    slot = shuffle(slot, WARP - 1) + sum - mine;
#pragma unroll
    for (int step = 0; step < AHEAD; ++step) {
      if (begin[step] == end[step]) continue;
      const u64 row = u64(begin[step] | flag) << 32 | (end[step] - begin[step]);
      if (slot < room) found[slot] = row;
      else queue[free + slot] = row;
      ++slot;
    }
  }
};

/// Rows of a round and what they are read for, in the shared memory of the block that works alone.
struct Alone {
  u64 *items, *found;  // for ALONE_ROWS each
  u32 *counts;         // rows found, of this round and of the next
  u32 *scratch;        // for a number of each warp, and one more
  u32 *stops;
};

/// Rounds of one block, until nothing is queued or it is more than `most` entries in `room` rows. The
/// first round takes queue[begin], ...; rows that are left are queued behind those. Returns whether
/// the host wishes to stop. Every thread of the block calls.
template <class Offset>
DEVICE bool peel_by_block(const Peeling<Offset> &peeling, const Alone &own, u64 begin, u64 queued, i32 k, u32 most,
                          u32 room, StopFlag &stop, Found *result) {
  u32 rows = u32(queued >> 32), entries = u32(queued);
  const u64 free = begin + rows;
  for (u32 i = threadIdx.x; i < rows; i += blockDim.x) own.items[i] = peeling.queue[begin + i];
  if (threadIdx.x == 0) own.counts[0] = 0;
  __syncthreads();
  bool wishes = false;
  for (int turn = 0;; turn ^= 1) {
    const u32 lanes = blockDim.x, share = (entries + lanes - 1) / lanes * WARP;
    const u32 first = least(u32(warp_in_block()) * share, entries), last = least(first + share, entries);
    if (first < last) peeling.peel_alone(own.items, rows, first, last, k, own.found, room, free, &own.counts[turn]);
    if (threadIdx.x == 0) own.counts[turn ^ 1] = 0, own.stops[0] = stop.is_up();
    __syncthreads();
    rows = own.counts[turn], entries = 0, wishes = own.stops[0] != 0;
    const bool fits = rows <= room;
    for (u32 base = 0; base < rows; base += blockDim.x) {
      const u32 slot = base + threadIdx.x;
      const u64 row = slot >= rows ? 0 : slot < room ? own.found[slot] : peeling.queue[free + slot];
      u32 total;
      const u32 ends = entries + block_exclusive_sum(u32(row), own.scratch, total);
      const u64 item = u64(u32(row >> 32) - ends) << 32 | ends;
      if (slot < rows) (fits ? own.items : peeling.queue + free)[slot] = item;
      entries += total;
    }
    __syncthreads();
    if (!rows || !fits || entries > most || wishes) break;
  }
  if (rows <= room) {
    for (u32 i = threadIdx.x; i < rows; i += blockDim.x) peeling.queue[free + i] = own.items[i];
  }
  if (threadIdx.x == 0) {
    store_relaxed(&result->queued, u64(rows) << 32 | entries);
    store_relaxed(&result->begin, free);
  }
  return wishes;
}

/// left: degrees, which become core numbers. lists: room for 2n vertices. control: a word for the
/// tickets, then three `Found`.
template <class Op, class Offset>
__global__ void __launch_bounds__(1024) peel_cores(
    u64 *control, u32 tickets, u64 *host, u32 launch, i64 patience,
    i64 n, const Offset *a_indptr, const i32 *a_indices, const Offset *b_indptr, const i32 *b_indices,
    i32 *left, i32 *lists, u64 *queue, u32 alone_edges, u32 alone_rows) {
  SHARED(u64, items, ALONE_ROWS);
  SHARED(u64, found_rows, ALONE_ROWS);
  SHARED(u32, counts, 2);
  SHARED(u32, scratch, WARP + 1);
  SHARED(u32, stops, 1);
  const Alone own = {items, found_rows, counts, scratch, stops};
  Grid grid(control);
  grid.begin(tickets);
  StopFlag stop(host, patience);
  const Peeling<Offset> peeling = {a_indptr, b_indptr, a_indices, b_indices, left, queue};
  Found *const slots = (Found *)(control + 1);
  const i64 warps = threads_in_grid() / WARP, warp = thread_in_grid() / WARP;
  u64 begin = 0, queued = 0;
  i64 alive = n;
  i32 k = 0;
  u32 turn = 0, levels = 0;
  bool leaves = false, wishes = false;
  while (alive && !leaves) {
    // A level begins.
    Found *found = &slots[turn % 3];
    const i32 *const from = lists + (levels & 1) * n;
    i32 *const to = lists + (~levels & 1) * n;
    u32 lowest = ~u32(0);
    for (i64 tile = warp; tile * TILE < alive; tile += warps) {
      lowest = least(lowest, peeling.sort_out(tile * TILE, alive, levels ? from : nullptr, to, k, begin, found));
    }
    for (int delta = WARP / 2; delta; delta /= 2) lowest = least(lowest, shuffle_down(lowest, delta));
    if (lane() == 0 && lowest != ~u32(0)) atomicMax(&found->lowest, ~u64(lowest));
    if (thread_in_grid() == 0) slots[(turn + 1) % 3] = Found{0, 0, 0, 0};
    leaves = grid.meet(threadIdx.x == 0 && stop.is_up());
    queued = load_relaxed(&found->queued);
    alive = i64(load_relaxed(&found->kept));
    const i32 next = i32(~load_relaxed(&found->lowest));
    ++turn, ++levels;
    const bool is_empty = queued == 0;
    // Rounds, until no vertex falls to k any more.
    while (queued && !leaves) {
      found = &slots[turn % 3];
      const u32 rows = u32(queued >> 32), entries = u32(queued);
      const bool is_alone = entries <= alone_edges && rows <= alone_rows;
      if (is_alone && blockIdx.x == 0) {
        wishes = peel_by_block(peeling, own, begin, queued, k, alone_edges, alone_rows, stop, found);
      } else if (!is_alone) {
        const u32 share = u32((entries + warps * WARP - 1) / (warps * WARP)) * WARP;
        const u64 first = u64(warp) * share;
        if (first < entries) {
          const u32 last = u32(least(first + share, u64(entries)));
          peeling.peel(begin, rows, u32(first), last, k, begin + rows, &found->queued);
        }
      }
      if (thread_in_grid() == 0) slots[(turn + 1) % 3] = Found{0, 0, 0, 0};
      leaves = grid.meet(wishes || (threadIdx.x == 0 && stop.is_up()));
      begin = is_alone ? load_relaxed(&found->begin) : begin + rows;
      queued = load_relaxed(&found->queued);
      ++turn;
    }
    if (alive) k = is_empty ? next : k + 1;
  }
  if (is_last_block(grid) && threadIdx.x == 0) {
    tell_host(host, launch, HOST_RESULTS, turn);
    tell_host(host, launch, HOST_STATUS, leaves ? STOPPED : FINISHED);
  }
}

}  // namespace graphla
