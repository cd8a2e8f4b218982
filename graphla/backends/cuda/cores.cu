// Core numbers, in one launch: at level k vertices of degree k go, and what falls to k with them.
//
// left[v] is the edges of v to vertices that are left, and, once it has gone, its core number. A round
// takes the rows of the vertices that have gone in the round before, edge by edge, cut evenly among
// all warps; or, at the head of a level, it looks for those of degree k among the vertices that are
// left, and lists the others anew. One block takes a round of few edges alone, with its own barrier.
// In a round, a warp also peels the vertices that it has removed itself, up to a number of edges, so that a
// chain of removals does not wait for barriers. The order of removals within a level does not matter.
//
// Invariants: left[v] >= k for every vertex that has not gone; it is less for a moment alone, while a
// thread takes back what it took too much. Counts of round r lie in slot r % 3: those of the round
// before are read while they grow, and those of the next are zeroed.
#include "persistent.cuh"

namespace graphla {

constexpr int AHEAD = 4;  // entries of a lane at a time, while rows are gone through
constexpr int STEPS = 8;  // vertices of a lane at a time, while a level looks for its own
constexpr i64 TILE = STEPS * WARP;
constexpr u32 OWN_ROWS = 16;      // number of rows that a warp can keep for itself
constexpr u32 OWN_LONGEST = 32;   // longest row, in entries, that a warp keeps
constexpr u32 OF_COLUMNS = u32(1) << 31;  // in a place: an entry of the columns

/// What a round finds, in control memory: three of them.
struct Found {
  u64 queued;  // rows, and below them their entries
  u64 kept;    // vertices left
  u64 lowest;  // ~0 less the least degree among them
  u64 begin;   // where the queue of one block's last round begins
};

/// Rows, in shared memory, of vertices that a warp has removed and peels itself. The high word of an
/// item is the place of the row's first entry; the low word is the number of entries. All lanes have the
/// same `count`.
struct Own {
  u64 *rows;
  u32 count;
};

/// The row and, if columns are read, the column of one vertex: place and number of entries of each.
struct RowsOfVertex {
  u32 a_place = 0, a_entries = 0, b_place = 0, b_entries = 0;

  DEVICE u32 entries() const { return a_entries + b_entries; }
  DEVICE u32 count() const { return (a_entries != 0) + (b_entries != 0); }
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

  DEVICE RowsOfVertex rows_of(bool goes, i32 v) const {
    RowsOfVertex rows;
    if (goes) {
      rows.a_place = u32(a_indptr[v]), rows.a_entries = u32(a_indptr[v + 1]) - rows.a_place;
      if (b_indptr) {
        rows.b_place = u32(b_indptr[v]), rows.b_entries = u32(b_indptr[v + 1]) - rows.b_place;
        rows.b_place |= OF_COLUMNS;
      }
    }
    return rows;
  }

  /// Queues the rows of each lane from `begin` on; the whole warp calls.
  DEVICE void push(const RowsOfVertex &rows, u64 begin, u64 *queued) const {
    const u64 mine = u64(rows.count()) << 32 | rows.entries();
    if (!__any_sync(ALL_LANES, mine != 0)) return;
    const u64 sum = warp_inclusive_sum(mine);
    u64 first = 0;
    if (lane() == WARP - 1) first = atomicAdd(queued, sum);
    first = shuffle(first, WARP - 1) + sum - mine;
    u64 slot = begin + (first >> 32);
    const u32 ends = u32(first);
    if (rows.a_entries) queue[slot++] = u64(rows.a_place - ends) << 32 | ends;
    if (rows.b_entries) queue[slot] = u64(rows.b_place - (ends + rows.a_entries)) << 32 | (ends + rows.a_entries);
  }

  /// Keeps the rows of each lane for the warp if they are short and there is room for them, or queues
  /// them from `begin` on; the whole warp calls.
  DEVICE void keep_or_push(RowsOfVertex rows, Own &own, u64 begin, u64 *queued) const {
    const u32 mine = rows.entries() <= OWN_LONGEST ? rows.count() : 0, after = own.count + warp_inclusive_sum(mine);
    // `after` does not decrease from lane to lane: if the rows of one lane do not fit, those of later
    // lanes do not fit either.
    const bool fits = mine && after <= OWN_ROWS;
    const u32 those = __ballot_sync(ALL_LANES, fits);
    if (fits) {
      u32 slot = after - mine;
      if (rows.a_entries) own.rows[slot++] = u64(rows.a_place) << 32 | rows.a_entries;
      if (rows.b_entries) own.rows[slot] = u64(rows.b_place) << 32 | rows.b_entries;
      rows = RowsOfVertex();
    }
    if (those) own.count = shuffle(after, WARP - 1 - __clz(int(those)));
    push(rows, begin, queued);
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
        push(rows_of(goes, !goes ? 0 : from ? from[place] : i32(place)), begin, &found->queued);
      }
    }
    return lowest;
  }

  /// Lowers the degree of v by 1, but not below k. Returns whether it has fallen to k now.
  DEVICE bool lower(i32 v, i32 k) const {
    const i32 degree = i32(atomicSub((u32 *)&left[v], 1u));
    if (degree <= k) atomicAdd((u32 *)&left[v], 1u);
    return degree == k + 1;
  }

  DEVICE i32 vertex_at(u32 place) const {
    return place & OF_COLUMNS ? b_indices[place & ~OF_COLUMNS] : a_indices[place];
  }

  /// Removes entries `from` to `to` - 1 of the `rows` queued rows from queue[begin] on: the vertex of each
  /// entry loses an edge. Then peels the rows of vertices that fall to k, for about `most` entries. One
  /// warp calls.
  DEVICE void peel(u64 begin, u32 rows, u32 from, u32 to, i32 k, Own &own, u32 most, u64 next, u64 *queued) const {
    const u64 *const items = queue + begin;
    u32 low = 0, high = rows;  // the row of entry `from` is the last that begins at it or before
    while (high - low > 1) {
      const u32 middle = low + (high - low) / 2;
      if (u32(items[middle]) <= from) low = middle;
      else high = middle;
    }
    for (u32 base = from; base < to; base += AHEAD * WARP) {
      i32 v[AHEAD];
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
        v[step] = base + step * WARP + u32(lane()) < to ? vertex_at(place[step]) : -1;
      }
      u32 stands = 0, goes = 0;
#pragma unroll
      for (int step = 0; step < AHEAD; ++step) {
        if (v[step] >= 0 && load_relaxed(&left[v[step]]) > k) stands |= 1u << step;
      }
#pragma unroll
      for (int step = 0; step < AHEAD; ++step) {
        if ((stands >> step & 1) && lower(v[step], k)) goes |= 1u << step;
      }
#pragma unroll
      for (int step = 0; step < AHEAD; ++step) {
        const bool falls = goes >> step & 1;
        if (!__any_sync(ALL_LANES, falls)) continue;
        const RowsOfVertex found = rows_of(falls, v[step]);
        if (most) keep_or_push(found, own, next, queued);
        else push(found, next, queued);
      }
    }
    peel_own(k, own, most, next, queued);
  }

  /// Peels the rows in `own`, and the rows of vertices that thereby fall to k, for about `most` entries.
  /// Queues the rows that remain. One warp calls.
  DEVICE void peel_own(i32 k, Own &own, u32 most, u64 next, u64 *queued) const {
    for (u32 spent = 0; own.count && spent < most;) {
      __syncwarp();  // all lanes have written their rows
      const u64 row = u32(lane()) < own.count ? own.rows[lane()] : 0;
      __syncwarp();  // all lanes have read theirs, so that the list can be overwritten
      own.count = 0;
      const u32 after = warp_inclusive_sum(u32(row)), before = after - u32(row), total = shuffle(after, WARP - 1);
      const u32 first = u32(row >> 32) - before;
      for (u32 base = 0; base < total; base += WARP) {
        const u32 e = base + u32(lane());
        int owner = 0;
        for (int half = WARP / 2; half; half /= 2) {
          if (shuffle(before, owner + half) <= e) owner += half;
        }
        const u32 place = e + shuffle(first, owner);
        const bool is_there = e < total;
        const i32 v = is_there ? vertex_at(place) : 0;
        // The row bounds of v are loaded before the atomic returns, whether or not v falls to k.
        RowsOfVertex found = rows_of(is_there, v);
        if (!is_there || !lower(v, k)) found = RowsOfVertex();
        if (__any_sync(ALL_LANES, found.count() != 0)) keep_or_push(found, own, next, queued);
      }
      spent += greatest(total, u32(WARP));
    }
    __syncwarp();
    RowsOfVertex rows;
    if (u32(lane()) < own.count) {
      const u64 row = own.rows[lane()];
      rows.a_place = u32(row >> 32), rows.a_entries = u32(row);
    }
    own.count = 0;
    push(rows, next, queued);
  }
};

/// left: degrees, which become core numbers. lists: room for 2n vertices. control: a word for the
/// tickets, then three `Found`.
template <class Op, class Offset>
__global__ void __launch_bounds__(1024, 1) peel_cores(
    u64 *control, u32 tickets, u64 *host, u32 launch, i64 patience,
    i64 n, const Offset *a_indptr, const i32 *a_indices, const Offset *b_indptr, const i32 *b_indices,
    i32 *left, i32 *lists, u64 *queue, u32 alone_edges, u32 own_edges) {
  SHARED(u64, own_rows, 1024 / WARP * OWN_ROWS);
  SHARED(u64, own, 2);
  Grid grid(control);
  grid.begin(tickets);
  StopFlag stop(host, patience);
  const Peeling<Offset> peeling = {a_indptr, b_indptr, a_indices, b_indices, left, queue};
  Found *const slots = (Found *)(control + 1);
  // Consecutive warp numbers belong to different blocks, so that even a round of few entries uses many
  // blocks.
  const i64 warps = threads_in_grid() / WARP, warp = i64(warp_in_block()) * gridDim.x + blockIdx.x;
  Own own_part = {own_rows + warp_in_block() * OWN_ROWS, 0};
  const u32 own_warps = blockDim.x / WARP;
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
      const bool is_alone = entries <= alone_edges;
      if (is_alone && blockIdx.x == 0) {
        u64 at = begin, now = queued;
        while (now && u32(now) <= alone_edges && !wishes) {
          if (threadIdx.x == 0) own[0] = 0, own[1] = stop.is_up();
          __syncthreads();
          wishes = own[1];
          const u32 share = (u32(now) + own_warps * WARP - 1) / (own_warps * WARP) * WARP;
          const u32 first = least(u32(threadIdx.x / WARP) * share, u32(now)), last = least(first + share, u32(now));
          if (first < last) peeling.peel(at, u32(now >> 32), first, last, k, own_part, own_edges, at + (now >> 32), &own[0]);
          __syncthreads();
          at += now >> 32;
          now = own[0];
          __syncthreads();
        }
        if (threadIdx.x == 0) store_relaxed(&found->queued, now), store_relaxed(&found->begin, at);
      } else if (!is_alone) {
        const u32 share = u32((entries + warps * WARP - 1) / (warps * WARP)) * WARP;
        const u64 first = u64(warp) * share;
        if (first < entries) {
          const u32 last = u32(least(first + share, u64(entries)));
          peeling.peel(begin, rows, u32(first), last, k, own_part, own_edges, begin + rows, &found->queued);
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
