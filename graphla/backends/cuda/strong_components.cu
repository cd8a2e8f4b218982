// Finds the strong components (sets of vertices that all reach each other) in one launch.
//
// First, two searches start from the pivot, a vertex with a great product of in-degree and out-degree:
// one along the edges and one against them. The vertices that both reach are the pivot's component
// (L. Fleischer, B. Hendrickson and A. Pınar, *On Identifying Strongly Connected Components in Parallel*,
// 2000). Each following turn handles the remaining vertices in two steps:
//   1. Trim: a vertex with no incoming edge, or no outgoing edge, within its class is a component by
//      itself, and its edges are removed (W. McLendon et al., *Finding Strongly Connected Components in
//      Distributed Graphs*, 2005).
//   2. Spread: every vertex learns two minimum numbers over its class: that of the vertices that reach it
//      (`ahead`) and that of the vertices that it reaches (`behind`). If both are equal, the vertex with
//      this number is in its component. The remaining vertices with the same pair (`ahead`, `behind`)
//      form a new class (S. Orzan, *On Distributed Verification and Verified Distribution*, 2004). The
//      numbers are a pseudorandom order, so that a chain of components takes about log n turns.
//
// A round walks the rows of a queue, edge by edge, and the warps share the edges evenly. Block 0 works
// alone in rounds of few edges, with its own barrier.
//
// Invariants, between two turns:
// - owners[v] is NOBODY if v is alive (has no component yet), otherwise a vertex of v's component, which
//   is the same for all vertices of the component;
// - keys[v] is v's class, or DONE if v is not alive. A component is a subset of one class.
// The counts of round r are in slot r % 3. In round r, blocks read the counts of round r - 1, add to
// those of round r, and reset those of round r + 1 to zero.
#include "persistent.cuh"

namespace graphla {

constexpr int AHEAD = 4;  // entries that a lane reads at a time when it walks rows
constexpr int STEPS = 4;  // vertices that a lane reads at a time in a pass
constexpr i64 TILE = STEPS * WARP;
constexpr u32 OF_COLUMNS = u32(1) << 31;  // flag in a queue item: walk the column of the vertex, not its row
constexpr i32 NOBODY = -1;
constexpr u64 DONE = ~u64(0);

/// The kinds of passes over the living vertices, and of the rounds after a pass. Passes follow each other
/// in this order, with RESOLVE after RENEW.
enum Pass { START = 0, RESOLVE = 1, SIFT = 2, RENEW = 3 };
enum Walk { SPREAD = 0, COUNT = 1, TRIM = 2 };

/// A bijection of the 32-bit numbers (the finalizer of MurmurHash3), and its inverse.
DEVICE u32 number_of(u32 v) {
  v = (v ^ (v >> 16)) * 0x85ebca6bu;
  v = (v ^ (v >> 13)) * 0xc2b2ae35u;
  return v ^ (v >> 16);
}
DEVICE u32 vertex_of(u32 number) {
  number = (number ^ (number >> 16)) * 0x7ed1b41du;
  number = (number ^ (number >> 13) ^ (number >> 26)) * 0xa5cb9243u;
  return number ^ (number >> 16);
}

/// The counts of a round, in control memory. There are three slots of them.
struct Found {
  u64 queued;  // high word: number of queued rows; low word: number of their entries
  u64 alive;   // number of living vertices
  u64 stamp;   // stamp of the next round, written after rounds of block 0 alone
};

/// A graph, the state of its vertices, and the queue.
///
/// The high word of a queue item is a vertex, with the flag OF_COLUMNS if its column is to be walked. The
/// low word is the number of entries of the round before those of this row. The queue has two sides of 2n
/// items each.
template <class Offset> struct Strong {
  i64 n;
  const Offset *a_indptr, *b_indptr;
  const i32 *a_indices, *b_indices;
  u64 *keys;
  u32 *ahead;   // n words `ahead`, then n words `behind`; during a trim in-degrees, then out-degrees
  u32 *stamps;  // the last round that queued each row (n words), then each column (n words)
  i32 *owners;
  u64 *queue;

  /// Return the index in `ahead` and `stamps` for a vertex: `behind` if `marked` has OF_COLUMNS.
  DEVICE i64 place_of(i32 v, u32 marked) const { return v + (marked & OF_COLUMNS ? n : 0); }

  DEVICE u64 *side(u32 k) const { return queue + i64(k & 1) * 2 * n; }

  /// Queues the row of vertex v[s] for each bit s set in `rows`, and its column for each bit s set in
  /// `columns`. The whole warp calls.
  template <int COUNT_OF>
  DEVICE void push(u32 rows, u32 columns, const i32 (&v)[COUNT_OF], u64 *to, u64 *queued) const {
    if (!__any_sync(ALL_LANES, (rows | columns) != 0)) return;
    u32 row_size[COUNT_OF], column_size[COUNT_OF];
    u64 mine = 0;
#pragma unroll
    for (int s = 0; s < COUNT_OF; ++s) {
      row_size[s] = rows >> s & 1 ? u32(a_indptr[v[s] + 1]) - u32(a_indptr[v[s]]) : 0;
      column_size[s] = columns >> s & 1 ? u32(b_indptr[v[s] + 1]) - u32(b_indptr[v[s]]) : 0;
      mine += u64((row_size[s] != 0) + (column_size[s] != 0)) << 32 | (row_size[s] + column_size[s]);
    }
    const u64 sum = warp_inclusive_sum(mine);
    u64 first = 0;
    if (lane() == WARP - 1 && sum) first = atomicAdd(queued, sum);
    first = shuffle(first, WARP - 1) + sum - mine;
    u64 *slot = to + (first >> 32);
    u32 before = u32(first);
#pragma unroll
    for (int s = 0; s < COUNT_OF; ++s) {
      if (row_size[s]) *slot++ = u64(v[s]) << 32 | before;
      before += row_size[s];
      if (column_size[s]) *slot++ = u64(u32(v[s]) | OF_COLUMNS) << 32 | before;
      before += column_size[s];
    }
  }

  /// Visits edges from u[s] to w[s] in a round; w[s] is NOBODY if the lane has no edge.
  DEVICE void visit(int walk, const u32 (&u)[AHEAD], const i32 (&w)[AHEAD], u64 *to, u64 *queued, u32 stamp) const {
    u32 rows = 0, columns = 0;
    if (walk == SPREAD) {
      u32 mine[AHEAD], theirs[AHEAD];
#pragma unroll
      for (int s = 0; s < AHEAD; ++s) {
        mine[s] = theirs[s] = 0;
        if (w[s] == NOBODY) continue;
        mine[s] = load_relaxed(&ahead[place_of(u[s] & ~OF_COLUMNS, u[s])]);
        theirs[s] = load_relaxed(&ahead[place_of(w[s], u[s])]);
      }
#pragma unroll
      for (int s = 0; s < AHEAD; ++s) {
        if (mine[s] >= theirs[s] || keys[u[s] & ~OF_COLUMNS] != keys[w[s]]) continue;
        const i64 place = place_of(w[s], u[s]);
        if (atomicMin(&ahead[place], mine[s]) <= mine[s]) continue;
        if (atomicExch(&stamps[place], stamp) == stamp) continue;
        (u[s] & OF_COLUMNS ? columns : rows) |= 1u << s;
      }
    } else if (walk == COUNT) {
#pragma unroll
      for (int s = 0; s < AHEAD; ++s) {
        const bool counts = w[s] != NOBODY && u32(w[s]) != u[s] && keys[u[s]] == keys[w[s]];
        const u32 same = __match_any_sync(ALL_LANES, u[s]), all = __ballot_sync(ALL_LANES, counts);
        if (counts) atomicAdd(&ahead[w[s]], 1u);
        if (lane() == __ffs(int(same)) - 1 && (same & all)) atomicAdd(&ahead[n + u[s]], u32(__popc(same & all)));
      }
      return;
    } else {
#pragma unroll
      for (int s = 0; s < AHEAD; ++s) {
        if (w[s] == NOBODY || load_relaxed(&owners[w[s]]) != NOBODY) continue;
        if (keys[u[s] & ~OF_COLUMNS] != keys[w[s]]) continue;
        if (atomicSub(&ahead[place_of(w[s], u[s])], 1u) != 1 || atomicCAS(&owners[w[s]], NOBODY, w[s]) != NOBODY) continue;
        rows |= 1u << s, columns |= 1u << s;
      }
    }
    push(rows, columns, w, to, queued);
  }

  /// Visits entries `from` to `to` - 1 of the rows of a round. One warp calls.
  DEVICE void walk(int how, const u64 *items, u32 rows, u32 from, u32 to, u64 *next, u64 *queued, u32 stamp) const {
    u32 low = 0, high = rows;  // the row of entry `from` is the last that begins at it or before
    while (high - low > 1) {
      const u32 middle = low + (high - low) / 2;
      if (u32(items[middle]) <= from) low = middle;
      else high = middle;
    }
    for (u32 base = from; base < to; base += AHEAD * WARP) {
      u64 item[AHEAD];
      u32 u[AHEAD];
      i32 w[AHEAD];
#pragma unroll
      for (int s = 0; s < AHEAD; ++s) {
        const u32 at = base + s * WARP, e = at + u32(lane()), after = low + 1 + u32(lane());
        const u32 starts = after < rows ? u32(items[after]) : ~u32(0);
        int before = 0;
        for (int half = WARP / 2; half; half /= 2) {
          if (shuffle(starts, before + half - 1) <= e) before += half;
        }
        item[s] = e < to ? items[low + before] : ~u64(0);
        low += u32(__popc(__ballot_sync(ALL_LANES, starts <= at + WARP)));
      }
#pragma unroll
      for (int s = 0; s < AHEAD; ++s) {
        const u32 e = base + s * WARP + u32(lane());
        u[s] = u32(item[s] >> 32);
        w[s] = NOBODY;
        if (e >= to) continue;
        const i64 v = u[s] & ~OF_COLUMNS, place = e - u32(item[s]);
        w[s] = u[s] & OF_COLUMNS ? b_indices[i64(b_indptr[v]) + place] : a_indices[i64(a_indptr[v]) + place];
      }
      visit(how, u, w, next, queued, stamp);
    }
  }

  /// Makes a pass over places i, ..., i + TILE - 1 of the list of living vertices (or of all vertices, if
  /// `from` is null). Lists the vertices that stay alive, and queues rows and columns. One warp calls.
  DEVICE void pass(int which, bool is_first, i32 pivot, i64 i, i64 alive, const i32 *from, i32 *to,
                   u64 *items, Found *found) const {
    i32 v[STEPS];
    u32 stays = 0, rows = 0, columns = 0;
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
      const i64 place = i + s * WARP + lane();
      v[s] = place >= alive ? NOBODY : from ? from[place] : i32(place);
    }
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
      if (v[s] == NOBODY) continue;
      const i32 x = v[s];
      const u32 bit = 1u << s;
      if (which == START) {
        keys[x] = 0;
        owners[x] = NOBODY;
        stamps[x] = stamps[n + x] = 0;
        ahead[x] = ahead[n + x] = x == pivot ? 0 : 1;
        stays |= bit;
        if (x == pivot) rows |= bit, columns |= bit;
      } else if (which == RESOLVE) {
        const u32 f = load_relaxed(&ahead[x]), b = load_relaxed(&ahead[n + x]);
        if (is_first ? (f | b) == 0 : f == b) {
          owners[x] = is_first ? pivot : i32(vertex_of(f));
          keys[x] = DONE;
        } else {
          keys[x] = u64(f) << 32 | b;
          ahead[x] = ahead[n + x] = 0;
          stays |= bit, rows |= bit;
        }
      } else if (which == SIFT) {
        stays |= bit;
        if (!load_relaxed(&ahead[x]) || !load_relaxed(&ahead[n + x])) {
          owners[x] = x;
          rows |= bit, columns |= bit;
        }
      } else if (load_relaxed(&owners[x]) != NOBODY) {
        keys[x] = DONE;
      } else {
        ahead[x] = ahead[n + x] = number_of(u32(x));
        stays |= bit, rows |= bit, columns |= bit;
      }
    }
    const u32 total = warp_inclusive_sum(u32(__popc(stays)));
    u64 at = 0;
    if (lane() == WARP - 1 && total) at = atomicAdd(&found->alive, u64(total));
    at = shuffle(at, WARP - 1);
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
      const u32 those = __ballot_sync(ALL_LANES, stays >> s & 1);
      if (stays >> s & 1) to[at + u64(__popc(those & ((1u << lane()) - 1)))] = v[s];
      at += u64(__popc(those));
    }
    push(rows, columns, v, items, &found->queued);
  }
};

/// labels[v] = the least vertex of v's component. `lists` has room for 2n vertices, `queue` for 4n items.
/// `control` holds a word for the tickets, a word for the pivot, then three `Found`.
template <class Op, class Offset>
__global__ void __launch_bounds__(1024) find_strong(
    u64 *control, u32 tickets, u64 *host, u32 launch, i64 patience,
    i64 n, const Offset *a_indptr, const i32 *a_indices, const Offset *b_indptr, const i32 *b_indices,
    u64 *keys, u32 *ahead, u32 *stamps, i32 *owners, i32 *lists, u64 *queue, i64 *labels,
    u32 alone_edges) {
  SHARED(u64, own, 2);
  Grid grid(control);
  grid.begin(tickets);
  StopFlag stop(host, patience);
  const Strong<Offset> graph = {n, a_indptr, b_indptr, a_indices, b_indices, keys, ahead, stamps, owners, queue};
  Found *const slots = (Found *)(control + 2);
  const i64 warps = threads_in_grid() / WARP, warp = thread_in_grid() / WARP;
  // The pivot has the greatest product of degrees (to 7 digits). Ties go to the greatest pseudorandom
  // number rather than to the first vertex: in a mesh that is a corner, where a search takes most rounds.
  u64 best = 0;
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    const float product = float(a_indptr[v + 1] - a_indptr[v]) * float(b_indptr[v + 1] - b_indptr[v]);
    best = greatest(best, u64(u32(__float_as_int(product))) << 32 | number_of(u32(v)));
  }
  for (int delta = WARP / 2; delta; delta /= 2) best = greatest(best, shuffle_down(best, delta));
  if (lane() == 0 && best) atomicMax(&control[1], best);
  bool leaves = grid.meet(), wishes = false;
  const i32 pivot = i32(vertex_of(u32(load_relaxed(&control[1]))));
  i64 alive = n;
  u32 turn = 0, stamp = 1, passes = 0;
  for (int which = START; alive && !leaves; which = which == RENEW ? RESOLVE : which + 1) {
    Found *found = &slots[turn % 3];
    const i32 *const from = lists + (passes & 1) * n;
    i32 *const to = lists + (~passes & 1) * n;
    for (i64 tile = warp; tile * TILE < alive; tile += warps) {
      graph.pass(which, passes == 1, pivot, tile * TILE, alive, passes ? from : nullptr, to, graph.side(stamp), found);
    }
    if (thread_in_grid() == 0) slots[(turn + 1) % 3] = Found{0, 0, 0};
    leaves = grid.meet(threadIdx.x == 0 && stop.is_up());
    u64 queued = load_relaxed(&found->queued);
    alive = i64(load_relaxed(&found->alive));
    ++turn, ++passes;
    const int how = which == RESOLVE ? COUNT : which == SIFT ? TRIM : SPREAD;
    while (queued && !leaves) {
      found = &slots[turn % 3];
      const bool is_alone = u32(queued) <= alone_edges;
      if (!is_alone || blockIdx.x == 0) {
        const u32 workers = is_alone ? blockDim.x / WARP : u32(warps);
        const u32 worker = is_alone ? threadIdx.x / WARP : u32(warp);
        u64 *const counter = is_alone ? own : &found->queued;
        for (;;) {
          if (is_alone) {
            if (threadIdx.x == 0) own[0] = 0, own[1] = stop.is_up();
            __syncthreads();
            wishes = own[1];
          }
          const u32 rows = u32(queued >> 32), entries = u32(queued);
          const u32 share = u32((u64(entries) + workers * WARP - 1) / (workers * WARP)) * WARP;
          const u64 first = u64(worker) * share;
          if (first < entries) {
            const u32 last = u32(least(first + share, u64(entries)));
            graph.walk(how, graph.side(stamp), rows, u32(first), last, graph.side(stamp + 1), counter, stamp);
          }
          ++stamp;
          if (!is_alone) break;
          __syncthreads();
          queued = own[0];
          __syncthreads();
          if (!queued || u32(queued) > alone_edges || wishes) break;
        }
        if (is_alone && threadIdx.x == 0) store_relaxed(&found->queued, queued), store_relaxed(&found->stamp, u64(stamp));
      }
      if (thread_in_grid() == 0) slots[(turn + 1) % 3] = Found{0, 0, 0};
      leaves = grid.meet(wishes || (threadIdx.x == 0 && stop.is_up()));
      queued = load_relaxed(&found->queued);
      if (is_alone) stamp = u32(load_relaxed(&found->stamp));
      ++turn;
    }
  }
  // The label of a component is the least of the vertices with the same owner.
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) ahead[v] = ~u32(0);
  leaves = grid.meet(leaves);
  for (i64 tile = warp; tile * WARP < n && !leaves; tile += warps) {
    const i64 v = tile * WARP + lane();
    const i32 owner = v < n ? owners[v] : NOBODY;
    const u32 same = __match_any_sync(ALL_LANES, owner);
    if (v >= n || lane() != __ffs(int(same)) - 1) continue;
    if (load_relaxed(&ahead[owner]) > u32(v)) atomicMin(&ahead[owner], u32(v));
  }
  leaves = grid.meet(leaves);
  for (i64 v = thread_in_grid(); v < n && !leaves; v += threads_in_grid()) labels[v] = load_relaxed(&ahead[owners[v]]);
  if (is_last_block(grid) && threadIdx.x == 0) {
    tell_host(host, launch, HOST_RESULTS, turn);
    tell_host(host, launch, HOST_STATUS, leaves ? STOPPED : FINISHED);
  }
}

}  // namespace graphla
