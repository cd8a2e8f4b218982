// Finds the strongly connected components (sets of vertices that all reach each other) in one
// launch.
//
// First, two searches start from the pivot, a vertex with a large product of in-degree and
// out-degree. One search follows the edges forward, and the other search follows them backward. The
// vertices that both searches reach are the pivot's component (L. Fleischer, B. Hendrickson and A.
// Pınar, *On Identifying Strongly Connected Components in Parallel*, 2000). Then the following two
// steps are repeated with the remaining vertices:
//   1. Trim: a vertex with no incoming edge, or no outgoing edge, within its class is a component
//      by itself, and its edges are removed (W. McLendon et al., *Finding Strongly Connected
//      Components in Distributed Graphs*, 2005).
//   2. Spread: every vertex v learns two numbers within its class. `ahead` is the minimum of the
//      numbers of all vertices that reach v, and `behind` is the minimum of the numbers of all
//      vertices that v reaches. If both are equal, v is in the component of the vertex with this
//      number. The remaining vertices with the same pair (`ahead`, `behind`) form a new class (S.
//      Orzan, *On Distributed Verification and Verified Distribution*, 2004). Vertices are numbered
//      in a pseudorandom order, so that a chain of components takes about log n repetitions.
//
// A round visits the edges of all queued rows; see edge_queue.cuh. The high word of an item is a
// vertex, with the flag OF_COLUMNS if the vertex's column is to be visited. The queue has two
// halves with 2n items each, one half for even rounds and one for odd rounds.
//
// Invariants between two repetitions:
// - owners[v] is NOBODY if v is alive (has no component yet), otherwise a vertex of v's component,
//   which is the same for all vertices of the component;
// - keys[v] is v's class, or DONE if v is not alive. A component is a subset of one class.
#include "edge_queue.cuh"

namespace graphla {

constexpr int AHEAD = 4;  // number of entries that a lane reads per step of a walk
constexpr int STEPS = 4;  // number of vertices that a lane reads per step of a pass
constexpr i64 TILE = STEPS * WARP;
// A flag in a queue item: visit the column of the vertex instead of its row.
constexpr u32 OF_COLUMNS = u32(1) << 31;
constexpr i32 NOBODY = -1;
constexpr u64 DONE = ~u64(0);

/// The kinds of passes over the vertices that are alive. They run in this order; then the sequence
/// repeats, beginning with RESOLVE. After each pass, rounds over the queued edges run: COUNT rounds
/// after RESOLVE, TRIM rounds after SIFT, and SPREAD rounds after START and RENEW.
enum Pass { START = 0, RESOLVE = 1, SIFT = 2, RENEW = 3 };
enum Walk { SPREAD = 0, COUNT = 1, TRIM = 2 };

/// The function number_of is a bijection on the 32-bit numbers (the finalizer of MurmurHash3), and
/// the function vertex_of is its inverse.
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

/// The graph, the state of its vertices, and the queue.
template <class Offset> struct Strong {
  i64 n;
  // The matrix in CSR (a_indptr and a_indices) and in CSC (b_indptr and b_indices).
  const Offset *a_indptr, *b_indptr;
  const i32 *a_indices, *b_indices;
  u64 *keys;
  // Two halves with n words each. While SPREAD runs, the halves hold the numbers `ahead` and
  // `behind` of the vertices. While COUNT and TRIM run, they hold the in-degrees and the
  // out-degrees.
  u32 *ahead;
  // The first n words hold, for each row, the last round that queued it. The next n words hold the
  // same for each column.
  u32 *stamps;
  i32 *owners;
  // Two lists of up to n vertices that are alive: one for even passes, one for odd passes.
  i32 *lists;
  u64 *queue;   // two halves with 2n items each, one for even rounds and one for odd rounds
  i64 *labels;  // labels[v] becomes the smallest vertex of v's component

  /// Returns the index of the word for vertex v in the arrays `ahead` and `stamps`. The word is in
  /// the second half if the flag OF_COLUMNS is set in `marked`, and otherwise in the first half.
  DEVICE i64 place_of(i32 v, u32 marked) const { return v + (marked & OF_COLUMNS ? n : 0); }

  DEVICE u64 *side(u32 k) const { return queue + i64(k & 1) * 2 * n; }

  /// For each bit s that is set in `rows`, queues the row of vertex v[s]. For each bit s that is
  /// set in `columns`, queues the column of vertex v[s]. The whole warp must call this.
  template <int COUNT_OF>
  DEVICE void push(u32 rows, u32 columns, const i32 (&v)[COUNT_OF], u64 *to, u64 *queued) const {
    if (!__any_sync(ALL_LANES, (rows | columns) != 0)) return;
    u32 row_size[COUNT_OF], column_size[COUNT_OF];
    u64 mine = 0;
#pragma unroll
    for (int s = 0; s < COUNT_OF; ++s) {
      row_size[s] = rows >> s & 1 ? u32(a_indptr[v[s] + 1]) - u32(a_indptr[v[s]]) : 0;
      column_size[s] = columns >> s & 1 ? u32(b_indptr[v[s] + 1]) - u32(b_indptr[v[s]]) : 0;
      mine +=
          u64((row_size[s] != 0) + (column_size[s] != 0)) << 32 | (row_size[s] + column_size[s]);
    }
    const u64 first = claim_rows(queued, mine);
    u64 *slot = to + rows_in(first);
    u32 before = entries_in(first);
#pragma unroll
    for (int s = 0; s < COUNT_OF; ++s) {
      if (row_size[s]) *slot++ = u64(v[s]) << 32 | before;
      before += row_size[s];
      if (column_size[s]) *slot++ = u64(u32(v[s]) | OF_COLUMNS) << 32 | before;
      before += column_size[s];
    }
  }

  /// SPREAD: processes an edge between u[s] and w[s] within a class. If u[s] has the flag
  /// OF_COLUMNS, sets behind(w) to the minimum of behind(w) and behind(u); otherwise does the same
  /// with `ahead`. If this is the first change of this value of w[s] in a round, the column of w[s]
  /// (for `behind`) or its row (for `ahead`) must be queued, so the function sets bit s of
  /// `columns` or `rows`. w[s] is NOBODY if the lane has no edge.
  DEVICE void spread(const u32 (&u)[AHEAD], const i32 (&w)[AHEAD], u32 stamp, u32 &rows,
                     u32 &columns) const {
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
  }

  /// COUNT: for each edge from u[s] to w[s] within a class, increases the out-degree of u[s] and
  /// the in-degree of w[s]. w[s] is NOBODY if the lane has no edge.
  DEVICE void count(const u32 (&u)[AHEAD], const i32 (&w)[AHEAD]) const {
#pragma unroll
    for (int s = 0; s < AHEAD; ++s) {
      const bool counts = w[s] != NOBODY && u32(w[s]) != u[s] && keys[u[s]] == keys[w[s]];
      const u32 same = __match_any_sync(ALL_LANES, u[s]), all = __ballot_sync(ALL_LANES, counts);
      if (counts) atomicAdd(&ahead[w[s]], 1u);
      if (lane() == __ffs(int(same)) - 1 && (same & all))
        atomicAdd(&ahead[n + u[s]], u32(__popc(same & all)));
    }
  }

  /// TRIM: removes the edges of trimmed vertices. Returns a mask in which bit s is set if this call
  /// trims w[s].
  DEVICE u32 trim(const u32 (&u)[AHEAD], const i32 (&w)[AHEAD]) const {
    u32 trimmed = 0;
#pragma unroll
    for (int s = 0; s < AHEAD; ++s) {
      if (w[s] == NOBODY || load_relaxed(&owners[w[s]]) != NOBODY) continue;
      if (keys[u[s] & ~OF_COLUMNS] != keys[w[s]]) continue;
      if (atomicSub(&ahead[place_of(w[s], u[s])], 1u) != 1) continue;
      if (atomicCAS(&owners[w[s]], NOBODY, w[s]) == NOBODY) trimmed |= 1u << s;
    }
    return trimmed;
  }

  /// Visits `share`, this warp's part of the entries of a round. All lanes of one warp call this.
  DEVICE void walk(int how, u64 stamp, u32 rows, Share share, u64 *queued) const {
    const u64 *const items = side(u32(stamp));
    ItemFinder finder(items, rows, share.first);
    for (u32 base = share.first; base < share.last; base += AHEAD * WARP) {
      u64 item[AHEAD];
      u32 u[AHEAD];
      i32 w[AHEAD];
#pragma unroll
      for (int s = 0; s < AHEAD; ++s) {
        const u32 found = finder.next(base + s * WARP), e = base + s * WARP + u32(lane());
        item[s] = e < share.last ? items[found] : ~u64(0);
      }
#pragma unroll
      for (int s = 0; s < AHEAD; ++s) {
        const u32 e = base + s * WARP + u32(lane());
        u[s] = u32(item[s] >> 32);
        w[s] = NOBODY;
        if (e >= share.last) continue;
        const i64 v = u[s] & ~OF_COLUMNS, place = e - u32(item[s]);
        w[s] = u[s] & OF_COLUMNS ? b_indices[i64(b_indptr[v]) + place]
                                 : a_indices[i64(a_indptr[v]) + place];
      }
      u32 rows_of = 0, columns_of = 0;
      if (how == SPREAD) spread(u, w, u32(stamp), rows_of, columns_of);
      else if (how == COUNT) count(u, w);
      else rows_of = columns_of = trim(u, w);
      if (how != COUNT) push(rows_of, columns_of, w, side(u32(stamp) + 1), queued);
    }
  }

  /// Runs the pass `which` over a tile of the vertices that are alive. The tile consists of the
  /// elements i to i + TILE - 1 of the list `from` or, if `from` is null, of the vertices i to i +
  /// TILE - 1. Adds the vertices that stay alive to the list `to`, and queues the rows and columns
  /// that the next rounds visit. All lanes of one warp call this.
  DEVICE void pass(int which, bool is_first, i32 pivot, i64 i, i64 alive, const i32 *from, i32 *to,
                   u64 *items, RoundCounts *found) const {
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

/// Returns the vertex with the greatest product of in-degree and out-degree. The products are FP32
/// numbers, which hold about 7 digits. Among vertices with equal products, chooses the vertex with
/// the greatest pseudorandom number. The vertex with the smallest index would be a bad choice: in a
/// mesh it is often a corner, and a search from a corner takes the most rounds. `best` is a word of
/// control memory. All blocks must call this, because it contains a barrier.
template <class Offset>
DEVICE i32 choose_pivot(const Strong<Offset> &graph, u64 *best, Rounds &rounds) {
  const Offset *const a_indptr = graph.a_indptr, *const b_indptr = graph.b_indptr;
  u64 mine = 0;
  for (i64 v = thread_in_grid(); v < graph.n; v += threads_in_grid()) {
    const float product =
        float(a_indptr[v + 1] - a_indptr[v]) * float(b_indptr[v + 1] - b_indptr[v]);
    mine = greatest(mine, u64(u32(__float_as_int(product))) << 32 | number_of(u32(v)));
  }
  mine = warp_greatest(mine);
  if (lane() == 0 && mine) atomicMax(best, mine);
  rounds.leaves = rounds.grid.meet();
  return i32(vertex_of(u32(load_relaxed(best))));
}

/// Sets labels[v] to the smallest vertex in the component of v, that is, the smallest vertex whose
/// element of `owners` equals owners[v]. All blocks must call this, because it contains barriers.
template <class Offset> DEVICE void label_by_owner(const Strong<Offset> &graph, Rounds &rounds) {
  const i64 n = graph.n;
  u32 *const least_of = graph.ahead;
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) least_of[v] = ~u32(0);
  rounds.leaves = rounds.grid.meet(rounds.leaves);
  for (i64 tile = rounds.warp; tile * WARP < n && !rounds.leaves; tile += rounds.warps) {
    const i64 v = tile * WARP + lane();
    const i32 owner = v < n ? graph.owners[v] : NOBODY;
    const u32 same = __match_any_sync(ALL_LANES, owner);
    if (v >= n || lane() != __ffs(int(same)) - 1) continue;
    if (load_relaxed(&least_of[owner]) > u32(v)) atomicMin(&least_of[owner], u32(v));
  }
  rounds.leaves = rounds.grid.meet(rounds.leaves);
  for (i64 v = thread_in_grid(); v < n && !rounds.leaves; v += threads_in_grid()) {
    graph.labels[v] = load_relaxed(&least_of[graph.owners[v]]);
  }
}

/// Finds the strong components. The control memory holds one word for the tickets of the blocks,
/// one word for the choice of the pivot, and then three `RoundCounts`.
template <class Op, class Offset>
__global__ void __launch_bounds__(WIDEST_BLOCK)
    find_strong(Launch launch, Strong<Offset> graph, u32 alone_edges) {
  SHARED(u64, own, 2);
  Rounds rounds(launch, (RoundCounts *)(launch.control + 2), own, alone_edges,
                u32(thread_in_grid() / WARP));
  const i32 pivot = choose_pivot(graph, &launch.control[1], rounds);
  i64 alive = graph.n;
  u64 stamp = 1;
  u32 passes = 0;
  for (int which = START; alive && !rounds.leaves; which = which == RENEW ? RESOLVE : which + 1) {
    const i32 *const from = graph.lists + (passes & 1) * graph.n;
    i32 *const to = graph.lists + (~passes & 1) * graph.n;
    for (i64 tile = rounds.warp; tile * TILE < alive; tile += rounds.warps) {
      graph.pass(which, passes == 1, pivot, tile * TILE, alive, passes ? from : nullptr, to,
                 graph.side(u32(stamp)), rounds.counts());
    }
    const RoundCounts *const found = rounds.meet();
    alive = i64(load_relaxed(&found->alive));
    ++passes;
    const int how = which == RESOLVE ? COUNT : which == SIFT ? TRIM : SPREAD;
    stamp = rounds.run(load_relaxed(&found->queued), stamp,
                       [&](u64 at, u32 rows, Share share, u64 *counter) {
      graph.walk(how, at, rows, share, counter);
    }, [](u64 at, u32) { return at + 1; });
  }
  label_by_owner(graph, rounds);
  rounds.finish(launch);
}

}  // namespace graphla
