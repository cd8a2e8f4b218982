// Closure (see closure.cu): how a warp reads edges and improves the values of the vertices at their
// ends, and how a step processes the lists of vertices.
#ifndef GRAPHLA_CLOSURE
#define GRAPHLA_CLOSURE
#include "closure_lists.cuh"

namespace graphla {

/// The initial vector x. It is either sparse, with `count` entries, or dense, with one element per
/// vertex.
template <class T> struct Starts {
  i64 count;
  const i32 *indices;   // null if there is one element per vertex
  const bool *present;  // null if all elements are present
  const T *values;      // one value per element; if `is_iso`, one value that all elements share
  bool is_iso;
};

/// The mask: only vertices v with flags[v] != complement may be written.
struct Mask {
  const bool *flags;
  bool complement;
};

/// The state of all vertices; closure_cells.cuh describes it.
struct State {
  void *cells;
  u32 *codes;
  void *before;  // used only by method ROUNDS: the keys of the listed vertices before the round
  i32 *parents;
};

template <class Op, class Offset, class A, int KEPT_A, int HOW, bool PARENTS, bool MASKED>
struct Closing {
  typedef typename Op::Z Z;
  typedef typename CellsOf<Op, Op::ORDER, sizeof(Z)>::type Cells;
  typedef typename Cells::Key Key;
  typedef typename Bits<sizeof(Offset)>::type Span;
  static constexpr int METHOD = HOW;
  static constexpr bool NAMES_PARENTS = PARENTS;

  Lists<Cells, Offset, HOW> lists;
  const i32 *__restrict__ indices;
  Values<typename Op::A, A, KEPT_A> a;
  const bool *__restrict__ flags;
  bool complement;
  Cells cells;
  Key *before;
  i32 *parents;
  const Limits &limits;
  u32 edges_read = 0;  // number of edges that this thread has read

  // --- values ----------------------------------------------------------------------------------

  /// Returns the key of the value with which vertex v takes part in this step. The row of v must be
  /// short. Unless the method is ROUNDS or the pass is TREE, the function also marks v as being in
  /// no list.
  DEVICE Key take(i32 v) const {
    if constexpr (HOW == ROUNDS) return before[v];
    if constexpr (PARENTS) {
      if (lists.pass == TREE) return cells.key_of(v);
    }
    return cells.pop(v);
  }
  /// Returns the key of the value with which vertex v takes part in this step. The row of v must be
  /// long. The vertex stays marked as listed.
  DEVICE Key key_in_step(i32 v) const {
    if constexpr (HOW == ROUNDS) return before[v];
    return cells.key_of(v);
  }
  /// Makes k the parent of vertex o if the term of the edge k -> o equals the value of o. `key` is
  /// the key of this term. Several edges into o may have such a term:
  /// - In pass TREE, the first k becomes the parent. Returns whether this call has set the parent.
  /// - In pass ORIGINS, the smallest k becomes the parent, but only if o improved in this round.
  ///   Returns false.
  DEVICE bool grows(i32 o, Key key, i32 k) const {
    if (!Cells::is_equal(key, cells.key_of(o))) return false;
    if (lists.pass == TREE)
      return load_relaxed(&parents[o]) == NO_PARENT &&
             atomicCAS(&parents[o], NO_PARENT, k) == NO_PARENT;
    if (cells.code_of(o) == lists.stamp()) atomicMin(&parents[o], k);
    return false;
  }

  // --- edges -----------------------------------------------------------------------------------

  /// A batch of edges that are being loaded, one per slot: the vertices at which the edges end, and
  /// their weights. Bit i of `there` is set if slot i contains an edge.
  template <int SLOTS> struct Batch {
    i32 o[SLOTS];
    typename Op::A weight[SLOTS];
    u32 there;
  };
  template <int SLOTS>
  DEVICE void fetch(Batch<SLOTS> &batch, const Offset (&place)[SLOTS], u32 there) const {
    batch.there = there;
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      batch.o[i] = 0;
      if (!(there >> i & 1)) continue;
      batch.o[i] = indices[place[i]];
      batch.weight[i] = a[place[i]];
    }
  }
  /// Improves the values of the target vertices of a batch of edges, and lists the vertices that
  /// improved. For the edge in slot i, of(i) returns the source vertex, and from(i) returns the key
  /// of the source vertex. The function `of` is called only to set parents.
  template <bool IS_LONG, int SLOTS, class From, class Of>
  DEVICE void relax(const Batch<SLOTS> &batch, From from, Of of) {
    const i32(&o)[SLOTS] = batch.o;
    u32 there = batch.there;
    Key key[SLOTS];
    typename Cells::Seen seen[SLOTS];
    edges_read += u32(__popc(there));
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      if (!(there >> i & 1)) continue;
      if constexpr (MASKED) {
        if (flags[o[i]] == complement) {
          there &= ~(1u << i);
          continue;
        }
      }
      if (!lists.is_fused) seen[i] = cells.load(o[i]);
      const auto u = convert<typename Op::U>(Cells::value(from(i)));
      if (Op::overflows(batch.weight[i], u)) {
        store_relaxed(&lists.control[W_OVERFLOWED], u64(1));
        there &= ~(1u << i);
      }
      key[i] = Cells::key(Op::term(batch.weight[i], u));
    }
    Offset begin[SLOTS];
    u32 degree[SLOTS];
    // The code below first tests which values the atomic operations can improve. It then lists the
    // vertices that improved, unless they are already listed: for a vertex with a short row in any
    // list, and for a vertex with a long row in a list of this step.
    u32 is_better = 0, is_new = 0, is_unstamped = 0;
    if constexpr (PARENTS) {
      if (lists.pass != IMPROVE) {
#pragma unroll
        for (int i = 0; i < SLOTS; ++i) {
          if (there >> i & 1) is_new |= u32(grows(o[i], key[i], of(i))) << i;
        }
        is_unstamped = is_new;
        there = 0;
      }
    }
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      begin[i] = 0;
      degree[i] = 0;
      // A fused step can hide only one memory latency. Load the row bounds before the atomic
      // operation, so that the two latencies overlap.
      if (lists.is_fused && ((there | is_new) >> i & 1)) lists.find_row(o[i], begin[i], degree[i]);
      if (!(there >> i & 1)) continue;
      if (lists.is_fused || cells.improves(o[i], key[i], seen[i])) is_better |= 1u << i;
    }
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      if (is_better >> i & 1) seen[i] = cells.strike(o[i], key[i], lists.code_for(key[i]));
    }
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      if (!(is_better >> i & 1)) continue;
      const u32 was = cells.settle(o[i], key[i], lists.code_for(key[i]), seen[i]);
      if (was == LOST) continue;
      if constexpr (PARENTS && HOW == ROUNDS) store_relaxed(&parents[o[i]], NO_PARENT);
      const bool is_due = !lists.is_beyond(key[i]);
      is_new |= u32(HOW == ROUNDS ? was != lists.stamp() : is_due ? was <= FAR : was < FAR) << i;
      is_unstamped |= u32(is_due && was != lists.stamp()) << i;
    }
    if (!__any_sync(ALL_LANES, is_new | is_unstamped)) return;
    if (lists.is_fused && !IS_LONG)
      lists.push(o, key, begin, degree, is_new, is_unstamped, lists.turn);
    else lists.gather(o, key, is_new, is_unstamped);
  }
  /// Processes some of the short rows in a list of `count` rows. In iteration k, the calling warp
  /// takes the WARP / TEAM rows that begin at index first + k * stride. TEAM threads read each row.
  /// If `is_held` is true, the list is the block's own list in shared memory. Otherwise it is the
  /// near list, which all blocks share. Whole warps must call this.
  DEVICE void walk_short(bool is_held, u32 first, u32 count, u32 stride) {
    const int sub = lane() % TEAM;
    for (u32 base = first; base < count; base += stride) {
      const u32 e = base + lane() / TEAM;
      i32 v = 0;
      Offset begin = 0, end = 0;
      Key key = Key(0);
      if (e < count) {
        if (is_held) {
          const int at = (lists.round & 1) * HELD + int(e);
          const u64 row = lists.held.rows[at];
          v = lists.held.ids[at];
          begin = Offset(row >> 8);
          end = begin + Offset(row & 255);
        } else {
          v = load_relaxed(&lists.waiting.near_list[(lists.step & 1) * lists.waiting.n + i64(e)]);
          begin = lists.indptr[v];
          end = lists.indptr[v + 1];
        }
      }
      Batch<SHORT_SLOTS> batch;
      const auto fetch_at = [&](Offset p) {
        Offset place[SHORT_SLOTS];
        u32 there = 0;
#pragma unroll
        for (int i = 0; i < SHORT_SLOTS; ++i) {
          place[i] = p + i * TEAM;
          there |= u32(place[i] < end) << i;
        }
        fetch(batch, place, there);
      };
      Offset p = begin + sub;
      fetch_at(p);  // load the row's first edges before the key of v, so that both loads overlap
      if (e < count && sub == 0) key = take(v);
      key = shuffle(key, lane() & ~(TEAM - 1));
      while (true) {
        relax<false>(batch, [key](int) { return key; }, [v](int) { return v; });
        p += TEAM * SHORT_SLOTS;
        if (!__any_sync(ALL_LANES, p < end)) break;
        fetch_at(p);
      }
    }
    if (lists.gathered) lists.release();
  }

  /// Processes a part of the edges in long rows. These edges are divided evenly among `warps`
  /// warps; the calling warp, which has the index `warp`, processes its part.
  DEVICE void walk_long(u64 listed, u32 warp, u32 warps) {
    constexpr int TILE = WARP * LONG_SLOTS;
    constexpr int MOST = TILE / LIGHT + 2;  // maximum number of rows in a tile
    const Span edges = Span(listed & EDGES);
    const u32 count = u32(listed >> COUNT_SHIFT);
    const Span *ends = lists.waiting.long_ends + (lists.step & 1) * lists.waiting.room;
    const i32 *list = lists.waiting.long_list + (lists.step & 1) * lists.waiting.room;
    // Each warp takes consecutive tiles. So it needs only one binary search, for the row in which
    // its first tile begins.
    const Span part = (edges / TILE / warps + 1) * TILE;
    Span tile = warp * part;
    if (tile >= edges) return;
    const Span end = least(edges - tile, part) + tile;
    u32 first = last_at_or_before(ends, count, tile);
    Batch<LONG_SLOTS> batch;
    Key keys[LONG_SLOTS];
    i32 rows[LONG_SLOTS];
    /// Loads the edges of the next tile. For each edge, also finds the source vertex and the key of
    /// the source vertex.
    const auto seek = [&] {
      i32 start = TILE + 1;  // position in the tile where this lane's row begins
      Offset begin = 0;  // add this to a position in the tile to get the edge's index in the graph
      Key key = Key(0);
      i32 v = 0;
      if (lane() < MOST && first + lane() < count) {
        const Span from = load_relaxed(&ends[first + lane()]);
        if (lane()) start = i32(least(Span(from - tile), Span(TILE + 1)));
        v = load_relaxed(&list[first + lane()]);
        begin = Offset(Span(lists.indptr[v]) + tile - from);
        key = key_in_step(v);
      }
      first += u32(__popc(__ballot_sync(ALL_LANES, start <= TILE)));
      Offset place[LONG_SLOTS];
      u32 there = 0;
      i32 starts[MOST];
#pragma unroll
      for (int k = 1; k < MOST; ++k) starts[k] = shuffle(start, k);
#pragma unroll
      for (int i = 0; i < LONG_SLOTS; ++i) {
        const int edge = i * WARP + lane();
        int row = 0;
#pragma unroll
        for (int k = 1; k < MOST; ++k) row += starts[k] <= edge;
        place[i] = shuffle(begin, row) + Offset(edge);
        keys[i] = shuffle(key, row);
        rows[i] = PARENTS ? shuffle(v, row) : 0;
        there |= u32(Span(edge) < edges - tile) << i;
      }
      fetch(batch, place, there);
      tile += TILE;
    };
    while (tile < end) {
      seek();
      relax<true>(batch, [&keys](int i) { return keys[i]; }, [&rows](int i) { return rows[i]; });
    }
    if (lists.gathered) lists.release();
  }
  /// Returns the largest index i < `count` with keys[i] <= key. The keys ascend, and keys[0] <=
  /// key. All lanes must call this.
  DEVICE u32 last_at_or_before(const Span *keys, u32 count, Span key) const {
    return warp_partition_point(1u, count, [&](u32 at) { return load_relaxed(&keys[at]) <= key; }) -
           1;
  }

  // --- steps -----------------------------------------------------------------------------------

  /// Runs one step. First, the block processes its part of the shared lists, or all of these lists
  /// if it works alone; this is the first round. In a fused step, the block then runs more rounds,
  /// in which it processes its own list, until the list is empty or it has run `most` rounds. A
  /// block that works alone also stops if its own list is too long, if it has written to a shared
  /// list, or if is_unwanted() returns true. Returns the number of rounds.
  template <class Unwanted>
  DEVICE u32 take_step(u64 near_rows, u64 long_rows, bool is_alone, u32 most,
                       Unwanted is_unwanted) {
    const u32 blocks = is_alone ? 1 : gridDim.x, block = is_alone ? 0 : blockIdx.x;
    const u32 warps = blockDim.x / WARP, warp = u32(warp_in_block());
    const u32 near_now = u32(near_rows);
    constexpr u32 ROWS = WARP / TEAM;
    lists.round = -1;
    if (lists.is_fused) {
      if (threadIdx.x < 6) lists.held.counts[threadIdx.x] = 0;
      __syncthreads();
    }
    walk_long(long_rows, warp * blocks + block, warps * blocks);
    // In a fused step, each block processes a contiguous part of the near list.
    const u32 part = greatest((near_now + blocks - 1) / blocks, ROWS);
    u32 first = lists.is_fused ? block * part + warp * ROWS : (warp * blocks + block) * ROWS;
    u32 end = lists.is_fused ? least((block + 1) * part, near_now) : near_now;
    u32 stride = (lists.is_fused ? warps : warps * blocks) * ROWS;
    u32 rounds = 1;
    while (true) {
      walk_short(lists.round >= 0, first, end, stride);
      if (!lists.is_fused) break;
      ++lists.round;
      if (is_alone && threadIdx.x == 0 && is_unwanted())
        store_relaxed(&lists.held.counts[3 + lists.round % 3], 1u);
      __syncthreads();
      const u32 count = least(load_relaxed(&lists.held.counts[lists.round % 3]), lists.held_most);
      const u32 is_elsewhere = load_relaxed(&lists.held.counts[3 + lists.round % 3]);
      const bool is_much = count > limits.alone_rows || is_elsewhere;
      const bool is_over = rounds >= most || (is_alone && is_much);
      if (count == 0) break;
      if (threadIdx.x < 2)
        store_relaxed(&lists.held.counts[3 * threadIdx.x + (lists.round + 2) % 3], 0u);
      if (is_over) {
        lists.give_back(count);
        break;
      }
      first = warp * ROWS;
      end = count;
      stride = warps * ROWS;
      ++rounds;
    }
    return rounds;
  }
  /// Copies the keys of the listed vertices to the array `before`, at the start of a round.
  DEVICE void note_before(u64 near_rows, u64 long_rows, i64 thread, i64 threads) const {
    const u32 half = lists.step & 1;
    const i32 *shorts = lists.waiting.near_list + half * lists.waiting.n;
    const i32 *longs = lists.waiting.long_list + half * lists.waiting.room;
    const i64 count = i64(near_rows), rows = count + i64(long_rows >> COUNT_SHIFT);
    for (i64 e = thread; e < rows; e += threads) {
      const i32 v = load_relaxed(e < count ? &shorts[e] : &longs[e - count]);
      store_relaxed(&before[v], cells.key_of(v));
    }
  }
  /// Calls visit(v, key, is_there) for each entry of the initial vector x, where v is the index of
  /// the entry and `key` is the key of its value. All lanes of a warp call `visit` together. For a
  /// lane without an entry, `is_there` is false.
  template <class T, class Visit> DEVICE void each_start(const Starts<T> &x, Visit visit) {
    const i64 places = x.indices != nullptr ? x.count : lists.waiting.n;
    for (i64 base = thread_in_grid() - lane(); base < places; base += threads_in_grid()) {
      const i64 e = base + lane();
      const bool is_there = e < places && (x.present == nullptr || x.present[e]);
      i32 v = 0;
      Key key = Key(0);
      if (is_there) {
        v = x.indices != nullptr ? x.indices[e] : i32(e);
        key = Cells::key(convert<Z>(x.values[x.is_iso ? 0 : e]));
      }
      visit(v, key, is_there);
    }
  }
  /// Splits the far list. In pass IMPROVE of method NEAR_FAR, moves the entries within the new
  /// horizon to the near lists, and keeps the entries beyond it in the far list. Entries within the
  /// old horizon, `beyond`, are outdated and are dropped, unless `is_first` is set. In other passes
  /// and methods, moves all entries to the near lists.
  DEVICE void split(u64 count, Key beyond, bool is_first, i64 thread, i64 threads) {
    lists.is_fused = false;
    for (i64 base = thread - lane(); base < i64(count); base += threads) {
      const i64 e = base + lane();
      i32 v = 0;
      Key key = Key(0);
      bool is_due = false, is_near = false;
      if (e < i64(count)) {
        v = load_relaxed(&lists.waiting.far_list[(lists.turn & 1) * lists.waiting.n + e]);
        key = cells.key_of(v);
        is_due = is_near = true;
        if (HOW == NEAR_FAR && lists.pass == IMPROVE) {
          is_due = is_first || key > beyond;
          is_near = is_due && !lists.is_beyond(key);
        }
      }
      if (is_near) cells.mark(v, key, lists.stamp());
      const i32 o[1] = {v};
      const Key keys[1] = {key};
      Offset begin[1] = {0};
      u32 degree[1] = {0};
      if (is_near) lists.find_row(v, begin[0], degree[0]);
      lists.push(o, keys, begin, degree, u32(is_due), u32(is_near), lists.turn + 1);
    }
  }
  /// Adds the number of edges that each thread has read to the counter W_EDGES, which the trace of
  /// the traversal uses. Then resets the number of each thread to 0.
  DEVICE void add_edges_read() {
    warp_add(&lists.control[W_EDGES], edges_read);
    edges_read = 0;
  }
  /// Writes the value of each vertex, and a flag that says whether the vertex has a value. Counts
  /// the vertices that have a value. If such a vertex has no parent, it becomes its own parent.
  template <class T> DEVICE void write_out(T *values, bool *present) const {
    u32 reached = 0;
    for (i64 v = thread_in_grid(); v < lists.waiting.n; v += threads_in_grid()) {
      const bool is_there = cells.is_present(v);
      present[v] = is_there;
      values[v] = convert<T>(Cells::value(cells.key_of(v)));
      reached += is_there;
      if constexpr (PARENTS) {
        if (is_there && parents[v] == NO_PARENT) {
          store_relaxed(&lists.control[W_ORPHANS], u64(1));
          parents[v] = i32(v);
        }
      }
    }
    warp_add(&lists.control[W_REACHED], reached);
  }
};

}  // namespace graphla
#endif
