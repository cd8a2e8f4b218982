// Core numbers, in one launch. At level k, the kernel removes the vertices with degree k, and the
// vertices whose degree falls to k as a result.
//
// left[v] is v's degree: the number of edges from v to vertices that are not removed yet. Once v is
// removed, left[v] is v's core number. A level begins with a pass that lists the remaining vertices
// and queues the rows of the vertices with degree k. Then each round reads the rows of the vertices
// that the previous round removed. The file edge_queue.cuh describes the rounds and the queue. Let
// b be the number of entries that precede a queued row in the round, and p the position of the
// row's first entry in the matrix. The low word of the row's queue item is b, and the high word is
// p - b. So entry e of the round is at position e + (p - b) in the matrix. Within a round, each
// warp also processes some of the vertices that it has removed itself, so that a chain of removals
// does not wait for barriers. The order of removals within a level does not matter.
//
// Invariant: left[v] >= k for every remaining vertex. It is violated only for a moment: a thread
// that lowers left[v] below k adds 1 again.
#include "edge_queue.cuh"

namespace graphla {

constexpr int AHEAD = 4;  // number of row entries that a lane reads at a time
constexpr int STEPS = 8;  // number of vertices that a lane loads at once in `pass`
constexpr i64 TILE = STEPS * WARP;
constexpr u32 OWN_ROWS = 16;     // capacity of a warp's own list, in rows
constexpr u32 OWN_LONGEST = 32;  // maximum number of entries in each row of a warp's own list
// Flag in a position: if it is set, the position is in b_indices (columns), otherwise in a_indices
// (rows).
constexpr u32 OF_COLUMNS = u32(1) << 31;

/// A warp's own list, in shared memory: rows of vertices that the warp has removed and processes
/// itself. The high word of an item is the position of the row's first entry; the low word is the
/// number of entries. All lanes have the same `count`.
struct Own {
  u64 *rows;
  u32 count;
};

/// Position and length of a vertex's row (a_...) and of its column (b_...). If columns are not
/// read, the length of the column is 0.
struct RowsOfVertex {
  u32 a_place = 0, a_entries = 0, b_place = 0, b_entries = 0;

  DEVICE u32 entries() const { return a_entries + b_entries; }
  DEVICE u32 count() const { return (a_entries != 0) + (b_entries != 0); }
};

/// The graph, the remaining degrees of its vertices, and the queue of vertices to remove.
template <class Offset> struct Peeling {
  i64 n;
  // The arrays a_indptr and a_indices hold the rows of the matrix, and the arrays b_indptr and
  // b_indices hold its columns. The pointers to the columns are null if columns are not read.
  const Offset *a_indptr, *b_indptr;
  const i32 *a_indices, *b_indices;
  i32 *left;      // the degree of each vertex, which becomes its core number
  i32 *lists;     // two lists of up to n remaining vertices, for even and for odd levels
  u64 *queue;     // items for rows and columns, ordered by round
  u32 own_edges;  // in each round, a warp stops reading its own list after about this many entries

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

  /// Each lane passes the row and the column of one vertex, or nothing. Queues them for all warps.
  /// The round's queue begins at position `begin`. The whole warp must call this.
  DEVICE void push(const RowsOfVertex &rows, u64 begin, u64 *queued) const {
    const u64 mine = u64(rows.count()) << 32 | rows.entries();
    if (!__any_sync(ALL_LANES, mine != 0)) return;
    const u64 first = claim_rows(queued, mine);
    u64 slot = begin + rows_in(first);
    const u32 ends = entries_in(first);
    if (rows.a_entries) queue[slot++] = u64(rows.a_place - ends) << 32 | ends;
    if (rows.b_entries)
      queue[slot] = u64(rows.b_place - (ends + rows.a_entries)) << 32 | (ends + rows.a_entries);
  }

  /// Each lane passes the row and the column of one vertex, or nothing. Adds them to the warp's own
  /// list if they are short and fit in the list; otherwise queues them for all warps. The round's
  /// queue begins at position `begin`. The whole warp must call this.
  DEVICE void keep_or_push(RowsOfVertex rows, Own &own, u64 begin, u64 *queued) const {
    const u32 mine = rows.entries() <= OWN_LONGEST ? rows.count() : 0,
              after = own.count + warp_inclusive_sum(mine);
    // `after` never decreases from lane to lane. So if the rows of one lane do not fit, neither do
    // the rows of later lanes.
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

  /// Visits the elements i to i + TILE - 1 of `from`, the list of remaining vertices. If `from` is
  /// null, all vertices remain, and the function visits the vertices i to i + TILE - 1. Queues the
  /// rows of the vertices with degree k, and lists the vertices with larger degrees in `to`.
  /// Returns the smallest degree of a vertex that this lane has listed. The whole warp must call
  /// this.
  DEVICE u32 pass(i64 i, i64 alive, const i32 *from, i32 *to, i32 k, u64 begin,
                  RoundCounts *found) const {
    i32 v[STEPS], degree[STEPS];
    u32 gone = 0, stays = 0, lowest = ~u32(0);
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      const i64 place = i + step * WARP + lane();
      v[step] = place >= alive ? -1 : from ? from[place] : i32(place);
    }
#pragma unroll
    for (int step = 0; step < STEPS; ++step)
      degree[step] = v[step] < 0 ? -1 : load_relaxed(&left[v[step]]);
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      if (degree[step] == k) gone |= 1u << step;
      if (degree[step] <= k) continue;
      stays |= 1u << step;
      lowest = least(lowest, u32(degree[step]));
    }
    const u32 total = warp_inclusive_sum(u32(__popc(stays)));
    u64 at = 0;
    if (lane() == WARP - 1 && total) at = atomicAdd(&found->alive, u64(total));
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

  /// Lowers the degree of v by 1, but not below k. Returns whether this call lowered the degree to
  /// k.
  DEVICE bool lower(i32 v, i32 k) const {
    const i32 degree = i32(atomicSub((u32 *)&left[v], 1u));
    if (degree <= k) atomicAdd((u32 *)&left[v], 1u);
    return degree == k + 1;
  }

  DEVICE i32 vertex_at(u32 place) const {
    return place & OF_COLUMNS ? b_indices[place & ~OF_COLUMNS] : a_indices[place];
  }

  /// Processes a share of the entries of the queued rows: lowers the degree of the vertex in each
  /// entry. The queue contains `rows` items of this round, from queue[begin] on. Then processes the
  /// warp's own list. The whole warp must call this.
  DEVICE void peel(u64 begin, u32 rows, Share share, i32 k, Own &own, u64 *queued) const {
    const u64 *const items = queue + begin, next = begin + rows;
    ItemFinder finder(items, rows, share.first);
    for (u32 base = share.first; base < share.last; base += AHEAD * WARP) {
      i32 v[AHEAD];
      u32 place[AHEAD];
#pragma unroll
      for (int step = 0; step < AHEAD; ++step) {
        const u32 found = finder.next(base + step * WARP), e = base + step * WARP + u32(lane());
        place[step] = e < share.last ? e + u32(items[found] >> 32) : 0;
      }
#pragma unroll
      for (int step = 0; step < AHEAD; ++step) {
        v[step] = base + step * WARP + u32(lane()) < share.last ? vertex_at(place[step]) : -1;
      }
      remove_edges(v, k, own, next, queued);
    }
    peel_own(k, own, next, queued);
  }

  /// Lowers the degree of each vertex v[step] that has not been removed; v[step] = -1 means no
  /// vertex. If the degree of a vertex falls to k, adds its rows to the warp's own list or to the
  /// queue. The whole warp must call this.
  DEVICE void remove_edges(const i32 (&v)[AHEAD], i32 k, Own &own, u64 next, u64 *queued) const {
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
      if (own_edges) keep_or_push(found, own, next, queued);
      else push(found, next, queued);
    }
  }

  /// Processes the rows in `own`, and the rows of vertices whose degree falls to k as a result,
  /// until about `own_edges` entries have been read. Queues the remaining rows. The whole warp must
  /// call this.
  DEVICE void peel_own(i32 k, Own &own, u64 next, u64 *queued) const {
    for (u32 spent = 0; own.count && spent < own_edges;) {
      __syncwarp();  // wait until all lanes have written their rows
      const u64 row = u32(lane()) < own.count ? own.rows[lane()] : 0;
      __syncwarp();  // wait until all lanes have read their rows, before the list is overwritten
      own.count = 0;
      const u32 after = warp_inclusive_sum(u32(row)), before = after - u32(row),
                total = shuffle(after, WARP - 1);
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
        // Load the row bounds of v before `lower` finds out whether the degree of v falls to k. So
        // the load overlaps the atomic operation in `lower`.
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

/// Computes all core numbers. The first word of `launch.control` is the ticket counter of the grid
/// barriers. Three `RoundCounts` follow this word.
template <class Op, class Offset>
__global__ void __launch_bounds__(WIDEST_BLOCK, 1)
    peel_cores(Launch launch, Peeling<Offset> peeling, u32 alone_edges) {
  SHARED(u64, own_rows, WIDEST_BLOCK / WARP * OWN_ROWS);
  SHARED(u64, own, 2);
  // Consecutive warp numbers belong to different blocks, so that even a round with few entries uses
  // many blocks.
  const u32 warp = u32(warp_in_block()) * gridDim.x + blockIdx.x;
  Rounds rounds(launch, (RoundCounts *)(launch.control + 1), own, alone_edges, warp);
  Own own_part = {own_rows + warp_in_block() * OWN_ROWS, 0};
  u64 begin = 0;
  i64 alive = peeling.n;
  i32 k = 0;
  for (u32 level = 0; alive && !rounds.leaves; ++level) {
    RoundCounts *const counts = rounds.counts();
    const i32 *const from = peeling.lists + (level & 1) * peeling.n;
    i32 *const to = peeling.lists + (~level & 1) * peeling.n;
    u32 lowest = ~u32(0);
    for (i64 tile = warp; tile * TILE < alive; tile += rounds.warps) {
      const u32 found =
          peeling.pass(tile * TILE, alive, level ? from : nullptr, to, k, begin, counts);
      lowest = least(lowest, found);
    }
    lowest = warp_least(lowest);
    if (lane() == 0 && lowest != ~u32(0)) atomicMax(&counts->lowest, ~u64(lowest));
    const RoundCounts *const found = rounds.meet();
    alive = i64(load_relaxed(&found->alive));
    const i32 next = i32(~load_relaxed(&found->lowest));
    const u64 queued = load_relaxed(&found->queued);
    begin = rounds.run(queued, begin, [&](u64 at, u32 rows, Share share, u64 *counter) {
      peeling.peel(at, rows, share, k, own_part, counter);
    }, [](u64 at, u32 rows) { return at + rows; });
    if (alive) k = queued ? k + 1 : next;
  }
  rounds.finish(launch);
}

}  // namespace graphla
