// Breadth-first search from up to 64 start vertices in one launch: bit s of each word belongs to
// search s (M. Then et al., "The More the Merrier", VLDB 2014).
//
// Each vertex v has three words. At level d, bit s of `seen[v]` is set if search s has reached v by
// level d. Bit s of `fresh[v]` is set if search s reached v at level d exactly. Bit s of `next[v]`,
// which contains all bits of seen[v], is set if search s will reach v by level d + 1. A level has
// two phases, with a barrier after each:
// - expand: next[v] |= seen[u] for searches that pull, where u runs over v's in-neighbors until all
//   searches have reached v; next[w] |= fresh[v] for searches that push, where w runs over v's
//   out-neighbors.
// - merge: fresh = next & ~seen, then seen = next. Stores the levels, and counts the vertices and
//   edges of each search.
//
// A pull may read `seen` instead of `fresh`: if a search had reached a neighbor of v before this
// level, it would already have reached v.
//
// Each search chooses its own direction at each level. A pull into a vertex ends once all pulling
// searches have reached the vertex. When most searches have reached the hubs, a pull for these
// searches usually ends at its first neighbor. A pull that also serves a search with a small
// frontier usually reads its row to the end. Therefore such a search pushes, which visits only a
// few edges.
//
// Threads read next[] while other threads add bits to it. These races are harmless: a thread that
// misses a bit adds it again, which changes nothing. `touched` is only ever set to one.
#include "multi_source_bfs_expand.cuh"
#include "multi_source_bfs_levels.cuh"
#include "persistent.cuh"

namespace graphla {

/// If all searches prefer to push, but the vertices in their frontiers have more than this fraction
/// of all edges, all searches pull instead.
constexpr float BROAD = 0.8f;

/// If no search pulled at a level, and together the searches pushed along less than this fraction
/// of all edges, the next merge queues the newly reached vertices.
constexpr float SMALL = 1.0f / 64;

/// If the vertices in the frontiers have more than MOST · n edges, where n is the number of
/// vertices, and some searches push, then the next merge visits all groups of 32 vertices. Most of
/// these groups then contain a newly reached vertex.
constexpr float MOST = 0.5f;

/// The launch has too few planes for the levels; this status extends those of persistent.cuh.
enum ManyStatus { TOO_DEEP = FAULT };

template <class Offset>
DEVICE Vertex<Offset> load_merged(const Graph<Offset> &graph, const Words &words, u32 v) {
  Vertex<Offset> vertex{~u64(0), 0, 0, 0, 0};
  if (v < graph.vertices) {
    vertex.seen = words.seen[v];
    vertex.next = words.next[v];
    vertex.entries = graph.out_ends[v + 1] - graph.out_ends[v];
  }
  return vertex;
}

/// The counts of one warp. Lane i holds the counts of searches i and 32 + i.
struct WarpCounts {
  u32 vertices[2];
  float edges[2];
  float all;  // number of edges out of the vertices that at least one search has just reached
};

/// Adds the newly reached vertices of a group to the counts of the warp. The bits of `fresh` are
/// the searches that have just reached this lane's vertex, and `degree` is the number of edges out
/// of it. For vertices with more than MANY edges, adds the exact number of edges to the count of
/// each search. The number of edges of every other vertex of the group is replaced by the mean over
/// these other vertices, which takes less time.
DEVICE void count_fresh(u64 fresh, float degree, WarpCounts &warp_counts) {
  constexpr float MANY = 128;
  const bool is_big = fresh && degree > MANY;
  float sum = fresh && !is_big ? degree : 0, own = fresh && !is_big ? 1 : 0;
  for (int delta = WARP / 2; delta; delta /= 2) {
    sum += __shfl_xor_sync(ALL_LANES, sum, delta);
    own += __shfl_xor_sync(ALL_LANES, own, delta);
  }
  const float mean = own > 0 ? sum / own : 0;
  const u32 big = __ballot_sync(ALL_LANES, is_big);
  warp_counts.all += sum;
  for (int half = 0; half < 2; ++half) {
    const u32 column = transpose_bits(u32(fresh >> 32 * half));
    warp_counts.vertices[half] += u32(__popc(column));
    warp_counts.edges[half] += mean * float(__popc(column & ~big));
  }
  for (u32 rest = big; rest; rest &= rest - 1) {
    const int from = __ffs(int(rest)) - 1;
    const u64 bits = shuffle(fresh, from);
    const float edges = shuffle(degree, from);
    warp_counts.all += edges;
    for (int half = 0; half < 2; ++half) {
      if (bits >> (lane() + WARP * half) & 1) warp_counts.edges[half] += edges;
    }
  }
}

/// For each vertex, adds the searches that have just reached it to its word in `seen`, stores the
/// level, and counts the vertex as newly reached. Visits all groups of vertices if `is_all` is
/// true, otherwise only the groups that the expansion has marked in `touched`. If `queues_all` is
/// true, also queues the newly reached vertices for the next expansion.
template <class Offset>
DEVICE void merge(const Graph<Offset> &graph, const Words &words, const Queues &queues,
                  bool queues_all, bool is_all, u64 wanted, i32 level, WarpCounts &warp_counts,
                  i32 *held) {
  const u32 warp = u32(thread_in_grid() / WARP), warps = u32(threads_in_grid() / WARP);
  const u32 groups = u32((graph.vertices + WARP - 1) / WARP);
  const bool notes = planes_for(level) <= words.room, opens = notes && level == 4;
  Pushers pushers{held, 0};
  for (u32 first = warp; first < groups; first += warps * WARP) {
    const u32 mine = first + lane() * warps;
    const bool is_due = mine < groups && (is_all || opens || words.touched[mine]);
    if (mine < groups && !is_due && words.had[mine]) words.had[mine] = 0;
    const u32 open = is_due ? words.open[mine] : 0;
    u32 due = __ballot_sync(ALL_LANES, is_due);
    int at = __ffs(int(due)) - 1;
    Vertex<Offset> vertex;
    if (due) vertex = load_merged(graph, words, (first + at * warps) * WARP + lane());
    while (due) {
      due &= due - 1;
      const u32 group = first + at * warps, v = group * WARP + lane();
      const u32 opened = shuffle(open, at);
      const Vertex<Offset> now = vertex;
      at = __ffs(int(due)) - 1;
      if (due) vertex = load_merged(graph, words, (first + at * warps) * WARP + lane());
      u64 fresh = now.next & ~now.seen;
      if (fresh && level && graph.allowed && !graph.allowed[v]) fresh = 0;
      if (fresh) words.seen[v] = now.seen | fresh;
      if (v < graph.vertices) {
        words.fresh[v] = fresh;
        if (notes && (fresh || (opens && now.seen))) note_level(words, v, now.seen, fresh, level);
      }
      const u32 complete = __ballot_sync(ALL_LANES, ((now.seen | fresh) & wanted) == wanted);
      const u64 had = warp_fold(fresh, [](u64 a, u64 b) { return a | b; });
      if (lane() == 0) {
        if (opened & complete) words.open[group] = opened & ~complete;
        words.touched[group] = 0;
        words.had[group] = had;
      }
      if (!had) continue;
      count_fresh(fresh, float(now.entries), warp_counts);
      if (queues_all) queue_vertex(graph, queues, v, fresh ? i64(now.entries) : 0, pushers);
    }
  }
  if (queues_all) pushers.flush(queues, pushers.count);
}

/// This level needs one plane more than the previous level; clears this new plane. (A plane stores
/// one bit of the level of each vertex in each search.) Clears only the words of vertices that were
/// reached at earlier levels and not at this level, because `merge` has written the words of the
/// vertices reached at this level.
template <class Offset>
DEVICE void clear_plane(const Graph<Offset> &graph, const Words &words, i32 level) {
  if (planes_for(level) > words.room) return;
  u64 *plane = words.planes + (planes_for(level) - 1) * words.stride;
  for (u32 v = u32(thread_in_grid()); v < graph.vertices; v += u32(threads_in_grid())) {
    if (words.seen[v] && !(words.had[v / WARP] && words.fresh[v])) plane[v] = 0;
  }
}

/// Marks the start vertices, which are reached at level 0. Marks as open the vertices that a pull
/// may reach.
template <class Offset>
DEVICE void begin_searches(const Graph<Offset> &graph, const Words &words,
                           const Searches &searches) {
  for (i64 s = thread_in_grid(); s < searches.count; s += threads_in_grid()) {
    const i32 start = searches.starts[s],
              v = searches.renumbered ? searches.renumbered[start] : start;
    if (v < graph.vertices) add_next(words, v, u64(1) << s);
    else atomicOr(&words.seen[v], u64(1) << s);  // a vertex without edges has no word in `next`
  }
  const i64 groups = (graph.vertices + WARP - 1) / WARP, warps = threads_in_grid() / WARP;
  for (i64 group = thread_in_grid() / WARP; group < groups; group += warps) {
    const i64 v = group * WARP + lane();
    bool is_open =
        v < graph.vertices && graph.into_ends && graph.into_ends[v] < graph.into_ends[v + 1];
    if (is_open && graph.allowed) is_open = graph.allowed[v];
    const u32 bits = __ballot_sync(ALL_LANES, is_open);
    if (lane() == 0) {
      words.open[group] = bits;
      words.had[group] = 0;
    }
  }
}

/// The counts of one level. For each search, one word counts the vertices that the search has
/// reached at this level, and another word approximately counts the edges out of these vertices.
/// The last word counts the edges out of the vertices that any search has reached at this level.
struct Tally {
  u64 *words;
  static constexpr int SIZE = MultiSearchTuning::tally, ALL = 2 * SEARCHES;
  static_assert(SIZE == ALL + 1, "vertices and edges of each search, and one word more");

  /// Adds the counts of the warps of a block, through shared memory. All threads of the block must
  /// call this.
  DEVICE void add(const WarpCounts &warp_counts, u32 *block_vertices, float *block_edges) const {
    const int me = int(threadIdx.x);
    if (me < SEARCHES) block_vertices[me] = 0;
    if (me <= SEARCHES) block_edges[me] = 0;
    __syncthreads();
    for (int half = 0; half < 2; ++half) {
      if (!warp_counts.vertices[half]) continue;
      atomicAdd(&block_vertices[lane() + WARP * half], warp_counts.vertices[half]);
      atomicAdd(&block_edges[lane() + WARP * half], warp_counts.edges[half]);
    }
    if (lane() == 0 && warp_counts.all > 0) atomicAdd(&block_edges[SEARCHES], warp_counts.all);
    __syncthreads();
    if (me < SEARCHES && block_vertices[me]) atomicAdd(&words[me], u64(block_vertices[me]));
    if (me <= SEARCHES && block_edges[me] > 0) {
      atomicAdd(&words[SEARCHES + me], u64(block_edges[me]));
    }
  }
  DEVICE u64 vertices(int search) const { return load_relaxed(&words[search]); }
  DEVICE float edges(int search) const { return float(load_relaxed(&words[SEARCHES + search])); }
  DEVICE float all() const { return float(load_relaxed(&words[ALL])); }
};

/// Two sets of searches, with one bit per search. `going`: the searches that have not finished.
/// `pulling`: the searches among them that pull at this level; the others push.
struct Plan {
  u64 going, pulling;
};

/// The shared memory of a block.
struct Shared {
  u32 *left;  // two words per lane: the searches that have not yet reached the lane's vertex
  i32 *held;  // the vertices that the warp is about to queue
  // For each search, the number of vertices that this block has counted for it at this level.
  u32 *block_vertices;
  // For each search, the number of edges out of the vertices that `block_vertices` counts. The last
  // element counts the edges out of the vertices that at least one search has just reached.
  float *block_edges;
  float *unreached;  // for each search, the number of edges out of the vertices not yet reached
  i64 *sums;         // only in block 0: the sums over all levels, which become Results::totals
  u32 *votes;        // 4
  i64 *due;          // block 0 does not read the host's stop word before this clock value
};

/// The state of a launch that runs all levels of up to 64 searches. The members from `level` to the
/// end change during the launch, and have the same values in all blocks.
template <class Offset> struct Course {
  const Graph<Offset> &graph;
  const Words &words;
  const Searches &searches;
  const Queues &queues;  // `queues.counts` is not used; see counts()
  const Shared &shared;
  u64 *control;
  u64 *tallies;
  StopFlag flag;
  const Records &records;
  Grid &grid;
  u64 wanted;  // a word in which bit s is set for each search s of the launch

  i32 level = 0;
  i32 depth = 0;
  bool is_small = true;  // whether merge_level queues the vertices that searches have just reached
  // Whether merge_level visits all groups of vertices. This is necessary after pushes that did not
  // mark the changed groups in `touched`.
  bool is_all = false;
  u32 status = FINISHED;

  DEVICE bool is_first() const { return blockIdx.x == 0; }

  /// Returns the counters of the queues. The first two words are the numbers of parts and rows that
  /// merge_level has queued; the next two are the numbers that expand_groups has queued. Even and
  /// odd levels use different counters, so that the counters of the next level can be cleared
  /// during this level.
  DEVICE u64 *counts() const { return control + 1 + (level & 1) * 4; }
  DEVICE Tally tally() const { return Tally{tallies + level % 3 * Tally::SIZE}; }

  DEVICE void begin() {
    const int me = int(threadIdx.x);
    if (me == 0) shared.due[0] = flag.due;
    begin_searches(graph, words, searches);
    if (me < SEARCHES) shared.unreached[me] = float(graph.out_ends[graph.vertices]);
    for (int k = me; k < 3 * SEARCHES; k += MANY_BLOCK) shared.sums[k] = 0;
    grid.meet();
  }

  /// Adds the bits that the last expansion has set in `next` to `seen`, and counts the vertices
  /// that each search has newly reached.
  DEVICE void merge_level() {
    if (is_first() && threadIdx.x < 4)
      store_relaxed(&control[1 + (~level & 1) * 4 + int(threadIdx.x)], u64(0));
    WarpCounts warp_counts = {{0, 0}, {0, 0}, 0};
    const Queues merged{queues.parts, queues.rows, counts()};
    merge(graph, words, merged, is_small, is_all, wanted, level, warp_counts, shared.held);
    tally().add(warp_counts, shared.block_vertices, shared.block_edges);
    grid.meet();
  }

  /// Chooses the direction of each search for the next level. All blocks choose the same
  /// directions.
  DEVICE Plan plan() const {
    const int me = int(threadIdx.x);
    const bool may_pull = graph.into_ends && searches.towards != PUSH;
    const bool is_free = may_pull && searches.towards == AUTO;
    if (me < SEARCHES) {
      const float edges = tally().edges(me);
      shared.unreached[me] -= edges;
      const bool pulls = may_pull && (!is_free || edges * searches.favor > shared.unreached[me]);
      const u32 pulling = __ballot_sync(ALL_LANES, pulls);
      const u32 going = __ballot_sync(ALL_LANES, tally().vertices(me) != 0);
      if (lane() == 0) {
        shared.votes[me / WARP] = pulling;
        shared.votes[2 + me / WARP] = going;
      }
    }
    __syncthreads();
    const u32 *votes = shared.votes;
    const u64 going = u64(votes[2]) | u64(votes[3]) << 32;
    const u64 pulling = (u64(votes[0]) | u64(votes[1]) << 32) & going;
    const bool is_broad = tally().all() > BROAD * float(graph.out_ends[graph.vertices]);
    return Plan{going, !pulling && is_free && is_broad ? going : pulling};
  }

  /// Adds the counts of this level to the totals of each search, and sets the counts of the next
  /// level to zero. If the launch is traced, also writes a record of this level.
  DEVICE void note_level(const Plan &plan) {
    const int me = int(threadIdx.x);
    if (is_first() && me < SEARCHES) {
      const i64 found = i64(tally().vertices(me));
      shared.sums[me] += found;
      shared.sums[SEARCHES + me] += found * level;
      if (found) shared.sums[2 * SEARCHES + me] = level;
    }
    if (is_first() && me < Tally::SIZE) tallies[(level + 1) % 3 * Tally::SIZE + me] = 0;
    if (plan.going) depth = level;
    if (!records.room || !is_first() || me != 0) return;
    u64 frontier = 0, edges = 0;
    for (int s = 0; s < searches.count; ++s)
      frontier += tally().words[s], edges += tally().words[SEARCHES + s];
    records.add(level, u64(__popcll(plan.pulling)) << 32 | u64(__popcll(plan.going)), frontier,
                edges);
  }

  /// Prepares the planes for this level. A plane stores one bit of the level of each vertex in each
  /// search. Sets the status to TOO_DEEP if the level needs more than the `words.room` planes that
  /// are allocated. If the level needs one plane more than the previous level, clears the new
  /// plane. At level 4 this is not necessary, because `merge` has already cleared the new plane.
  DEVICE void open_plane(const Plan &plan) {
    if (!words.room || !plan.going) return;
    if (planes_for(level) > words.room) status = TOO_DEEP;
    if (level <= 4 || !opens_plane(level)) return;
    clear_plane(graph, words, level);
    // A barrier must separate the clearing of a plane from its first read. At other levels,
    // `expand` contains this barrier. At the last level, nothing is expanded.
    if (level >= searches.limit) grid.meet();
  }

  /// Expands this level, which adds the bits of the next level to `next`. Returns whether the host
  /// asks the kernel to stop.
  DEVICE bool expand(const Plan &plan) {
    const u64 pushing = plan.going & ~plan.pulling;
    const bool is_queued = is_small && !plan.pulling;
    const Queues due{queues.parts, queues.rows, is_queued ? counts() : counts() + 2};
    if (!is_queued) {
      expand_groups(graph, words, due, pushing, plan.pulling, shared.left, shared.held);
      grid.meet();
    }
    const float edges = tally().all();
    is_all = pushing && edges > MOST * float(graph.vertices);
    expand_queued(graph, words, due, pushing, plan.pulling,
                  !is_all        ? CARE_MARK
                  : plan.pulling ? CARE_TEST
                                 : CARE_NONE);
    is_small = !plan.pulling && edges < SMALL * float(graph.out_ends[graph.vertices]);
    bool asks = false;
    if (is_first() && threadIdx.x == 0) {
      flag.due = shared.due[0];
      asks = flag.is_up();
      shared.due[0] = flag.due;
    }
    return grid.meet(asks);
  }

  DEVICE void run() {
    begin();
    for (;; ++level) {
      merge_level();
      const Plan next = plan();
      note_level(next);
      open_plane(next);
      if (status == TOO_DEEP || !next.going || level >= searches.limit) return;
      if (expand(next)) {
        status = STOPPED;
        return;
      }
    }
  }

  DEVICE void write_totals(i64 *totals) const {
    const int me = int(threadIdx.x);
    if (!is_first() || me >= searches.count) return;
    // A start vertex without edges is not in the tallies, so its search has counted no vertices.
    // But it has reached one vertex: its start.
    totals[me] = greatest(shared.sums[me], i64(1));
    totals[SEARCHES + me] = shared.sums[SEARCHES + me];
    totals[2 * SEARCHES + me] = shared.sums[2 * SEARCHES + me];
  }
};

/// Runs all levels of up to 64 searches in one launch. The arrays in `queues` have space for the
/// parts of all long rows and long columns, and for all vertices. The counters of the queues are
/// words of `launch.control`.
template <class Op, class Offset, class Level>
__global__ void __launch_bounds__(MANY_BLOCK, 3)
    search_many(Launch launch, Graph<Offset> graph, Words words, Searches searches, Queues queues,
                Results<Level> results, Records records) {
  SHARED(u32, left, 2 * MANY_BLOCK);
  SHARED(i32, held, Pushers::ROOM * MANY_WARPS);
  SHARED(u32, block_vertices, SEARCHES);
  SHARED(float, block_edges, SEARCHES + 1);
  SHARED(float, unreached, SEARCHES);
  SHARED(i64, sums, 3 * SEARCHES);
  SHARED(u32, votes, 4);
  SHARED(i64, due, 1);
  const int warp = warp_in_block();
  const Shared shared{left + 2 * WARP * warp,
                      held + Pushers::ROOM * warp,
                      block_vertices,
                      block_edges,
                      unreached,
                      sums,
                      votes,
                      due};
  Grid grid(launch);
  const u64 wanted = searches.count < SEARCHES ? (u64(1) << searches.count) - 1 : ~u64(0);
  Course<Offset> course{graph,   words,          searches,        queues,
                        shared,  launch.control, results.tallies, StopFlag(launch),
                        records, grid,           wanted};
  course.run();
  if (course.status == FINISHED && results.levels)
    write_levels(words, graph.vertices, searches, course.depth, results);
  course.write_totals(results.totals);
  if (is_last_block(grid) && threadIdx.x == 0) {
    tell_host(launch, HOST_STATUS, course.status);
    tell_host(launch, HOST_RESULTS, u32(course.depth));
  }
}

}  // namespace graphla
