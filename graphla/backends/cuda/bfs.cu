// Breadth-first search: the whole traversal in one launch. The kernel computes the level of each
// vertex, its parent, and which vertices are reached. There may be one start vertex or several.
//
// The grid processes one level after another, with a barrier of all blocks between two levels.
// After each barrier all blocks read the same counts, so they make the same choice for the next
// level:
// - alone: block 0, or one cluster of blocks, processes one small level after another without the
//   other blocks, until a level is too large (`walk_alone`, `walk_in_cluster`);
// - push: the edges out of the frontier are divided evenly among all warps (`push_level`);
// - pull: each unreached vertex looks for a reached neighbor (`pull_level`).
//
// A pull leaves its frontier in the bit maps. If the next level is a push, `queue_frontier` first
// copies the frontier to the queue. At the end the results are written in the user's numbering.
// bfs.cuh describes the queue and the maps, and states the invariants.
#include "bfs_alone.cuh"
#include "bfs_cluster.cuh"
#include "bfs_pull.cuh"
#include "bfs_results.cuh"

#ifndef BFS_IN_CLUSTERS
#define BFS_IN_CLUSTERS(size)
#endif

namespace graphla {

/// The state between two levels. Each block has a copy in shared memory, which only thread 0 of the
/// block writes. All copies are equal.
struct Progress {
  u32 level;      // level of the frontier
  u32 is_queued;  // whether the frontier is in the queue
  u32 way;        // the value of `Way` that tells how to process the next level
  u32 has_idle;   // whether some start vertices are idle, that is, have no edges
  u32 records;    // number of levels recorded in the trace
  u32 is_exact;   // whether `left` counts only vertices that have edges and are allowed by the mask
  // Whether block 0 or the cluster left a level unfinished. If so, all blocks must finish the level
  // with a push: the queue contains the vertices of the frontier that are still to be processed.
  u32 must_push;
  u32 first, last;  // the frontier consists of entries first..last - 1 of the queue
  // The edges out of the frontier occupy the units units_first..units_last - 1 of the queue. (A
  // unit is one edge or 16 edges, see bfs.cuh.)
  u32 units_first, units_last;
  u64 count, edges;     // number of vertices in the frontier, and number of edges out of them
  u64 reached;          // number of vertices reached
  u64 left, into_left;  // number of vertices not yet reached, and number of edges into them
  u64 all;              // number of edges in the graph
  // The number of unreached vertices in the sample, and the number of these vertices whose first
  // neighbor has been reached (see Search::sample).
  u64 open, hits;
  /// The number of vertices queued so far, and the number of units of edges out of these vertices,
  /// packed in one word like control[QUEUED].
  u64 base;

  DEVICE void lose(u64 edges_into) { into_left -= least(into_left, edges_into); }
};

/// The shared memory of a block.
template <class Slot> struct BlockMemory {
  unsigned char *bytes;  // dynamic shared memory: lists and queues, followed by a bit map
  Progress *progress;
  AloneMemory alone;  // used by block 0 when it works alone, or by each block of a cluster
  u32 *sent;          // used by each block of a cluster: see `sent` in bfs_cluster.cuh
  u32 *scratch;       // WARP + 1 words for a block scan
  Slot *totals;       // the block's contribution to five sums of the level (FOUND to INTO_LEFT)
  u64 *seen;          // a copy of all BFS_CONTROL sums of the previous level, over all blocks
  u64 *place;         // position of the block's vertices in the queue
  i32 *far;           // in a pull: vertices whose long rows all threads of the block read together
  u32 *far_count, *buffered;
};

/// Runs one search from its first to its last level. Every block has an instance, and between two
/// levels all instances are in the same state.
template <class S, class Level, int CLUSTER> struct Course {
  typedef typename S::Offset Offset;
  typedef typename S::Slot Slot;
  typedef typename S::Sums Sums;
  typedef Together<S, CLUSTER> Walk;

  S search;
  const Graph<Offset> &graph;
  const Query &query;
  const Answer<Offset, Level> &answer;
  const State<Offset> &state;
  const Limits &limits;
  const Records &trace;
  const BlockMemory<Slot> &memory;
  Grid grid;
  StopFlag flag;
  u64 *sums_begin;  // three sets of sums over all blocks, at control[BFS_SUMS]
  u32 *map, *other_map;
  u32 set = 0;              // which of the three sets of sums is in use
  bool is_marked = false;   // whether the level byte of every unreached vertex is UNREACHED
  bool is_stopped = false;  // whether the host has asked the kernel to stop

  DEVICE bool is_leader() const { return blockIdx.x == 0 && threadIdx.x == 0; }
  DEVICE i64 words() const { return (graph.n + WARP - 1) / WARP; }
  DEVICE bool is_one_byte() const { return sizeof(Level) == 1 && answer.levels; }
  DEVICE Progress &progress() const { return memory.progress[0]; }
  DEVICE u64 seen(int k) const { return memory.seen[k]; }

  DEVICE void run() {
    clear();
    if (query.flags) hide_masked();
    begin();
    while (goes_on()) {
      const Progress &p = progress();
      search.base = p.base;
      if (p.way == BY_PULL) pull_level();
      else if (!p.is_queued) queue_frontier();
      else if (p.way == BY_PUSH) push_level();
      else if constexpr (CLUSTER > 1) walk_in_cluster();
      else walk_alone();
      if (threadIdx.x == 0) decide();
      __syncthreads();
    }
    finish();
  }

  DEVICE bool goes_on() const {
    const Progress &p = progress();
    if (!p.count || (p.is_exact && !p.left) || i64(p.level) >= query.limit || is_stopped)
      return false;
    return !(is_one_byte() && p.level > DEEP);
  }

  // --- the beginning ----------------------------------------------------------------------------

  /// Clears the maps and the counts.
  DEVICE void clear() {
    for (i64 word = thread_in_grid(); word < words(); word += threads_in_grid())
      map[word] = other_map[word] = 0;
    if (threadIdx.x == 0) {
      *memory.far_count = *memory.buffered = 0;
      for (int k = 0; k < 5; ++k) memory.totals[k] = 0;
      Progress &p = progress();
      p = Progress();
      p.left = u64(graph.active);
      p.into_left = p.all = graph.in_indptr ? u64(graph.in_indptr[graph.active]) : 0;
    }
  }

  /// Finds the vertices that the mask forbids. The search never reaches these vertices, and a pull
  /// does not read the edges into them.
  DEVICE void hide_masked() {
    __syncthreads();
    Sums sums{};
    for (i64 word = S::warp_in_grid(); word < words(); word += S::warps_in_grid()) {
      const i64 v = word * WARP + lane();
      const bool lets =
          v < graph.active && query.flags[graph.old ? graph.old[v] : v] != query.complement;
      const u32 fixes = __ballot_sync(ALL_LANES, !lets);
      if (lane() == 0) state.masked[word] = fixes | (graph.idle ? graph.idle[word] : 0);
      if (graph.in_indptr && v < graph.active && !lets) sums.into += search.edges_into(i32(v));
    }
    add_sums(sums);
  }

  /// Runs level 0: marks the start vertices as reached, whether or not the mask allows them.
  DEVICE void begin() {
    if (!query.starts && query.starts_count) begin_at_one();
    grid.meet();
    if (query.starts) {
      begin_at_all();
      grid.meet();
    }
    read_sums();
    if (threadIdx.x == 0) {
      count_pushed();
      progress().has_idle = seen(IDLE_STARTS) != 0;
      decide();
    }
    __syncthreads();
  }

  /// Marks the start vertex as reached, if there is only one start vertex. The thread that sets the
  /// vertex's bit is the thread that cleared this word of the map, so no barrier is needed.
  DEVICE void begin_at_one() {
    const i32 v = graph.renumbered ? graph.renumbered[query.start] : query.start;
    if (i64(v / WARP) % threads_in_grid() != thread_in_grid()) return;
    map[v / WARP] = 1u << (v & 31);
    begin_at(query.start, v);
    const u32 degree = u32(search.out_ptr[v + 1] - search.out_ptr[v]);
    search.write_entry(0, 0, v, search.out_ptr[v], degree);
    search.control[QUEUED] = (u64(1) << 32) | search.units(degree);
  }

  DEVICE void begin_at_all() {
    for (i64 base = S::warp_in_grid() * WARP; base < query.starts_count;
         base += S::warps_in_grid() * WARP) {
      const i64 i = base + lane();
      const i32 name = i < query.starts_count ? query.starts[i] : 0;
      const i32 v = graph.renumbered ? graph.renumbered[name] : name;
      const bool won = i < query.starts_count && S::sets(map, v);
      if (won) begin_at(name, v);
      search.enqueue(won, v);
    }
  }

  /// Makes v a start vertex of the search. `name` is the user's number of vertex v. The bit of v in
  /// the map is already set.
  DEVICE void begin_at(i32 name, i32 v) {
    // A pull does not copy the bits of vertices without edges, so set the bit in both maps.
    if (v >= graph.active) {
      S::sets(other_map, v);
      atomicAdd(&search.control[IDLE_STARTS], u64(1));
    }
    search.settle(v, 0);
    if constexpr (S::HAS_PARENTS) search.parents[v] = name;
    // The number of edges into v must be subtracted from `into_left` exactly once. `hide_masked`
    // subtracts it if the mask forbids v. `count_pushed` subtracts it if the graph is undirected.
    // If both functions subtract it, the code below adds it again once. If neither function does,
    // the code below subtracts it.
    const bool is_hidden = query.flags && v < graph.active && query.flags[name] == query.complement;
    if (graph.in_indptr && is_hidden && !search.is_directed) {
      atomicAdd(&search.control[INTO_FOUND], u64(0) - u64(search.edges_into(v)));
    }
    if (graph.in_indptr && !is_hidden && search.is_directed) {
      atomicAdd(&search.control[INTO_FOUND], u64(search.edges_into(v)));
    }
  }

  // --- the sums of a level -----------------------------------------------------------------------

  /// Adds `sums`, which each thread of the block has computed for itself, to the sums of the level.
  /// All threads of the block must call this, before a barrier of the grid.
  DEVICE void add_sums(const Sums &sums) {
    Slot *const totals = memory.totals;
    const Slot found = warp_sum(Slot(sums.found)), left = warp_sum(Slot(sums.left)),
               into_left = warp_sum(sums.into_left);
    if (lane() == 0) {
      atomicAdd(&totals[0], found), atomicAdd(&totals[LEFT - FOUND], left);
      atomicAdd(&totals[INTO_LEFT - FOUND], into_left);
    }
    if (search.is_directed || search.is_masked) {
      const Slot out_of = warp_sum(sums.out), into = warp_sum(sums.into);
      if (lane() == 0) atomicAdd(&totals[1], out_of), atomicAdd(&totals[2], into);
    }
    __syncthreads();
    if (threadIdx.x < 5) {
      const u64 total = u64(totals[threadIdx.x]);
      totals[threadIdx.x] = 0;
      if (total) atomicAdd(&search.control[FOUND + threadIdx.x], total);
    }
  }

  /// Waits for all blocks at the end of a step, then reads the sums over all blocks. If any thread
  /// passes `stops` = true, all blocks stop the search.
  DEVICE void meet(bool stops) {
    is_stopped = grid.meet(stops);
    read_sums();
  }

  /// Copies the sums of the finished level to `memory.seen`. Each block calls this after a barrier
  /// of the grid. Other blocks may already be adding to the sums of the next level. The third set
  /// belongs to the level before the finished one. No block reads this set any longer, so block 0
  /// clears it.
  DEVICE void read_sums() {
    if (warp_in_block() == 0) {
      if (lane() < BFS_CONTROL) memory.seen[lane()] = load_relaxed(&search.control[lane()]);
      __syncwarp();
    }
    set = set == 2 ? 0 : set + 1;
    search.control = sums_begin + BFS_CONTROL * set;
    if (blockIdx.x == 0 && threadIdx.x < BFS_CONTROL) {
      sums_begin[BFS_CONTROL * (set == 2 ? 0 : set + 1) + threadIdx.x] = 0;
    }
  }

  // --- updates of `Progress` by thread 0 of each block, after a barrier -------------------------

  /// Sets the frontier to the entries that were queued since the last call.
  DEVICE void take_queue() {
    Progress &p = progress();
    const u64 all = p.base += seen(QUEUED);
    p.first = p.last, p.units_first = p.units_last;
    p.last = u32(all >> 32), p.units_last = u32(all);
    p.is_queued = 1;
  }
  DEVICE void count_queue() {
    Progress &p = progress();
    p.count = p.last - p.first;
    p.edges = u64(search.slot_of(p.units_last) - search.slot_of(p.units_first));
  }
  /// Updates the counts after a push, which has queued the new frontier.
  DEVICE void count_pushed() {
    Progress &p = progress();
    take_queue();
    count_queue();
    if (search.is_directed || search.is_masked) p.lose(seen(INTO_FOUND));
    if (!search.is_directed) p.lose(p.edges);
    p.reached += p.count, p.left -= least(p.left, p.count);
  }
  DEVICE void take_sample() {
    progress().open = seen(SAMPLED), progress().hits = seen(SAMPLED_HITS);
  }

  /// Chooses how the next level is processed.
  DEVICE void decide() {
    Progress &p = progress();
    const bool is_small = p.count <= u64(limits.alone_room) && p.edges <= u64(limits.alone_edges) &&
                          p.edges <= ALONE_SHORT * p.count && !p.must_push;
    p.way = is_small ? BY_PUSH_ALONE : BY_PUSH;
    if (query.direction == PULLS) p.way = BY_PULL;
    if (query.direction == EITHER && graph.in_indptr && !(is_small && p.is_queued) &&
        !p.must_push) {
      // In a push, following one edge out of the frontier costs `push_cost` times as much as
      // reading one neighbor in a pull.
      const float push = float(p.edges) * limits.push_cost, left = float(p.left),
                  most = float(p.into_left);
      if (push > left &&
          push > looks_of_pull(left, most, 1 - most / float(p.all), float(p.open), float(p.hits))) {
        p.way = BY_PULL;
      }
    }
  }

  // --- functions for levels that all blocks process together ------------------------------------

  DEVICE void pull_level() {
    const Progress &p = progress();
    if (is_leader() && trace.at) trace.add(p.records, BY_PULL, p.count, p.edges);
    const int list_room = greatest(PULL_GROUP, limits.pool * 3 / 4 / BFS_WARPS);
    const bool marks = search.bytes && !is_marked;
    const bool queues = query.direction != PULLS && p.left * 32 <= u64(graph.active);
    i32 *const lists = (i32 *)memory.bytes;
    const Pull<S> pull{search,
                       map,
                       other_map,
                       p.level + 1,
                       marks,
                       queues,
                       queues && !marks ? WARP : PULL_WORDS,
                       u32(graph.several),
                       lists + warp_in_block() * list_room,
                       list_room,
                       memory.far,
                       memory.far_count};
    Sums sums{};
    search.buffer = lists + list_room * BFS_WARPS;
    search.buffer_room = u32(limits.pool - list_room * BFS_WARPS);
    pull(sums);
    is_marked |= marks;
    u32 *const swapped = map;
    map = other_map, other_map = swapped;
    if (queues) search.flush(memory.scratch, memory.place, sums);
    search.buffer = lists, search.buffer_room = u32(limits.pool);
    sums.into = 0;  // a pull must not add to INTO_FOUND, which counts only vertices found by pushes
    add_sums(sums);
    meet(is_leader() && flag.is_up());
    if (threadIdx.x == 0) count_pulled(queues);
  }
  DEVICE void count_pulled(bool queues) {
    Progress &p = progress();
    const u64 before = p.into_left;
    p.into_left = seen(INTO_LEFT);
    p.left = seen(LEFT), p.is_exact = 1;
    p.count = seen(FOUND);
    const u64 edges = seen(OUT_OF_FOUND);
    p.edges = search.is_directed ? edges : before - p.into_left;
    p.reached += p.count;
    p.open = p.left + p.count, p.hits = p.count;
    if (queues) take_queue();
    p.is_queued = queues;
    ++p.level, ++p.records;
  }

  /// Queues the frontier: the vertices whose bits differ between `map` and `other_map`.
  DEVICE void queue_frontier() {
    Sums sums{};
    search.collect(other_map, map);
    search.flush(memory.scratch, memory.place, sums);
    meet(is_leader() && flag.is_up());
    if (threadIdx.x == 0) take_queue();
  }

  DEVICE void push_level() {
    const Progress &p = progress();
    if (is_leader() && trace.at) trace.add(p.records, BY_PUSH, p.count, p.edges);
    Sums sums{};
    const bool samples = query.direction == EITHER && graph.in_indptr;
    search.push(map, p.level + 1, p.first, p.last, p.units_first, p.units_last);
    if (samples && warp_in_block() == 0) search.sample(map, p.level * gridDim.x + blockIdx.x);
    search.flush(memory.scratch, memory.place, sums);
    if (search.is_directed) add_sums(sums);
    meet(is_leader() && flag.is_up());
    if (threadIdx.x == 0) {
      count_pushed();
      take_sample();
      Progress &q = progress();
      q.must_push = 0;
      ++q.level, ++q.records;
    }
  }

  /// Returns the state with which one block or one cluster starts to process small levels.
  DEVICE Span small_levels() const {
    const Progress &p = progress();
    return {p.first,     p.last,    p.level,      u32(limits.grid_edges),
            query.limit, p.records, is_one_byte()};
  }

  // --- functions for small levels that one cluster processes ------------------------------------

  DEVICE void walk_in_cluster() {
    if (blockIdx.x < CLUSTER) {
      unsigned char *const bytes = memory.bytes;
      const u32 room =
          least(u32(limits.alone_room) / 4,
                u32(limits.pool - Walk::LETTERS) / u32(2 * CLUSTER * (S::HAS_PARENTS ? 2 : 1)));
      const Walk walk{search,
                      (u32 *)bytes + limits.pool,
                      (Letter *)bytes,
                      (i32 *)bytes + Walk::LETTERS,
                      memory.sent,
                      memory.alone.long_list,
                      memory.alone.ends,
                      memory.scratch,
                      room,
                      blockIdx.x};
      const Walked end = walk.walk(map, u32(words()), small_levels(), flag, trace);
      is_stopped = end.stops;
      if (is_leader()) {
        search.control[ALONE_LEVEL] = end.level;
        search.control[ALONE_REACHED] = end.reached;
        search.control[ALONE_INTO] = end.into;
        search.control[ALONE_RECORDS] = end.records;
        search.control[ALONE_LONG_ROWS] = end.fails;
      }
    }
    meet(is_stopped);
    if (threadIdx.x == 0) count_walked_in_cluster();
  }
  DEVICE void count_walked_in_cluster() {
    Progress &p = progress();
    const u64 found = seen(ALONE_REACHED);
    const bool is_begun = seen(ALONE_LEVEL) != p.level;
    p.level = u32(seen(ALONE_LEVEL));
    p.reached += found, p.left -= least(p.left, found);
    p.must_push = u32(seen(ALONE_LONG_ROWS));
    p.lose(search.is_directed ? seen(INTO_FOUND) : seen(ALONE_INTO));
    if (is_begun) {
      take_queue();
      count_queue();
      if (!search.is_directed) p.lose(p.edges);
    }
    p.records += u32(seen(ALONE_RECORDS));
  }

  // --- functions for small levels that block 0 processes ----------------------------------------

  DEVICE void walk_alone() {
    if (blockIdx.x == 0) {
      const u32 last = progress().last;
      const Alone<S, false> alone{
          search, map, (i32 *)memory.bytes, memory.alone, memory.scratch, u32(limits.alone_room),
          last};
      if (words() <= limits.shared_words) {
        const Alone<S, true> near{search,
                                  (u32 *)memory.bytes + limits.pool,
                                  (i32 *)memory.bytes,
                                  memory.alone,
                                  memory.scratch,
                                  u32(limits.alone_room),
                                  last};
        near.walk_levels(map, words(), small_levels(), flag, trace);
      } else {
        alone.walk_levels(map, words(), small_levels(), flag, trace);
      }
      hand_over(alone);
    }
    meet(is_stopped);
    if (threadIdx.x == 0) count_walked_alone();
  }
  /// Queues the vertices that block 0 has found alone, and stores the state of block 0 in `control`
  /// for the other blocks.
  DEVICE void hand_over(const Alone<S, false> &alone) {
    AloneState &own = *memory.alone.state;
    const u32 units_last = progress().units_last;
    const u32 count = own.count, long_rows = own.long_rows, side = own.turn & 1;
    u32 units = units_last, units_long;
    alone.give(own.level + (long_rows != 0), long_rows,
               alone.queue + (side ? limits.alone_room : 0), count, units_long, units, &own.into);
    __syncthreads();
    const u64 edges = search.slot_of(units - units_last);
    if (query.direction == EITHER && graph.in_indptr && edges * 64 > progress().left) {
      search.sample(map, own.level * BFS_WARPS + u32(warp_in_block()));
    }
    is_stopped = own.stops != 0;
    if (threadIdx.x != 0) return;
    search.control[QUEUED] = (u64(long_rows + count) << 32) | (units - units_last);
    search.control[ALONE_LONG_ROWS] = long_rows;
    search.control[ALONE_LONG_UNITS] = units_long;
    search.control[ALONE_FRONTIER] = own.frontier;
    search.control[ALONE_EDGES] = own.edges;
    search.control[ALONE_LEVEL] = own.level;
    search.control[ALONE_REACHED] = own.reached;
    search.control[ALONE_INTO] = own.into;
    search.control[ALONE_RECORDS] = own.turn - (long_rows != 0);
  }
  DEVICE void count_walked_alone() {
    Progress &p = progress();
    const u32 long_rows = u32(seen(ALONE_LONG_ROWS));
    const u64 found = seen(ALONE_REACHED);
    p.level = u32(seen(ALONE_LEVEL));
    p.reached += found, p.left -= least(p.left, found);
    p.lose(seen(ALONE_INTO));
    p.must_push = long_rows;
    if (long_rows) {
      // Block 0 has queued the vertices of the unfinished level that have long rows, followed by
      // the vertices that it found for the next level. The former become the frontier.
      p.base += seen(QUEUED);
      p.first = p.last, p.units_first = p.units_last;
      p.last += long_rows, p.units_last = u32(seen(ALONE_LONG_UNITS));
      p.count = seen(ALONE_FRONTIER), p.edges = seen(ALONE_EDGES);
    } else {
      take_queue();
      count_queue();
      if (!search.is_directed) p.lose(p.edges);
    }
    take_sample();
    p.records += u32(seen(ALONE_RECORDS));
  }

  // --- the end -----------------------------------------------------------------------------------

  DEVICE void finish() {
    const Progress &p = progress();
    if (is_leader() && trace.at) trace.add(p.records, BY_PUSH, 0, 0);
    if (!is_stopped) write_answer();
  }
  DEVICE void write_answer() {
    if (graph.renumbered) {
      const Results<S, Level> results{search,        graph.n,        graph.renumbered,
                                      map,           is_marked,      progress().has_idle != 0,
                                      answer.levels, answer.parents, answer.present};
      results.rename();
    } else {
      show_present(map, graph.n, answer.present);
    }
    if constexpr (S::HAS_PARENTS) {
      if (answer.least_ptr) {
        grid.meet();
        take_least_parents(graph.n, answer);
      }
    }
  }
  /// Reports the results to the host. Every block calls this; only the block that finishes last
  /// reports.
  DEVICE void report(const Launch &launch) {
    if (!is_last_block(grid) || threadIdx.x != 0) return;
    const Progress &p = progress();
    const bool is_over = is_one_byte() && p.count && p.level > DEEP;
    tell_host(launch, HOST_STATUS,
              is_stopped ? u32(STOPPED)
              : is_over  ? u32(TOO_DEEP)
                         : u32(FINISHED));
    tell_host(launch, HOST_RESULTS, p.count || !p.level ? p.level : p.level - 1);
    tell_host(launch, HOST_RESULTS + 1, u32(p.reached));
    tell_host(launch, HOST_RESULTS + 2, u32(least(i64(p.records) + 1, trace.room)));
  }
};

/// Runs a search. CLUSTER is the number of blocks that process small levels together. If CLUSTER is
/// 1, block 0 processes small levels alone.
template <class Op, class Offset, class Level, bool PARENTS, int CLUSTER = 1>
__global__ void __launch_bounds__(BFS_THREADS, 1) BFS_IN_CLUSTERS(CLUSTER)
    search_breadth_first(Launch launch, Graph<Offset> graph, Query query,
                         Answer<Offset, Level> answer, State<Offset> state, Limits limits,
                         Records records) {
  typedef Search<Offset, Level, PARENTS> S;
  typedef Course<S, Level, CLUSTER> C;
  static_assert(CLUSTER_LONG <= ALONE_LONG, "both kinds of long rows are listed in `long_list`");
  SHARED_BYTES(bytes);
  SHARED(Progress, progress, 1);
  SHARED(AloneCounts, counts, 3);
  SHARED(AloneState, alone, 1);
  SHARED(i32, long_list, ALONE_LONG);
  SHARED(u32, ends, ALONE_LONG);
  SHARED(u32, sent, C::Walk::SENT_WORDS);
  SHARED(u32, scratch, WARP + 1);
  SHARED(typename S::Slot, totals, 5);
  SHARED(u64, seen, WARP);
  SHARED(u64, place, 1);
  SHARED(i32, far, PULL_FAR);
  SHARED(u32, counters, 2);
  if constexpr (CLUSTER > 1)
    cluster_meet<CLUSTER>();  // after this, blocks may access each other's shared memory through
                              // `in_block`

  const BlockMemory<typename S::Slot> memory{
      bytes,        progress,    {counts, alone, long_list, ends},
      sent,         scratch,     totals,
      seen,         place,       far,
      &counters[0], &counters[1]};
  u64 *const sums = launch.control + BFS_SUMS;
  C course{S(graph, query, answer, state, limits, sums),
           graph,
           query,
           answer,
           state,
           limits,
           records,
           memory,
           Grid(launch),
           StopFlag(launch),
           sums,
           state.map,
           state.other_map};
  course.search.buffer = (i32 *)bytes, course.search.buffer_room = u32(limits.pool);
  course.search.buffered = memory.buffered;
  course.run();
  course.report(launch);
}

}  // namespace graphla
