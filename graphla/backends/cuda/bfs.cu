// Breadth-first search: the whole traversal in one launch.
//
// Each level takes one of three ways, and all blocks choose the same one from the same counts:
// ALONE, block 0 by itself or one cluster of blocks, level after level, while levels are small;
// PUSH, the edges out of the frontier cut evenly over all warps; PULL, each vertex not yet reached
// looking for a neighbour that is. At the end results are put into the user's numbering.
#include "bfs_alone.cuh"
#include "bfs_cluster.cuh"
#include "bfs_pull.cuh"
#include "bfs_results.cuh"

#ifndef BFS_IN_CLUSTERS
#define BFS_IN_CLUSTERS(size)
#endif

namespace graphla {

/// What all blocks know between two levels; each block has its own copy, in shared memory.
struct Progress {
  u32 level;
  u32 is_queued;
  u32 way;                       // of the next level
  u32 has_idle;                  // among the starts are vertices without edges
  u32 records;
  u32 is_exact;                  // `left` counts just those with edges that the mask lets through
  u32 must_push;                 // a level is half done: the rest is in the queue
  u32 first, last;               // the frontier in the queue: entries
  u32 units_first, units_last;   // and units
  u64 count, edges;              // of the frontier: vertices, edges out of them
  u64 reached;                   // vertices
  u64 left, into_left;           // vertices not yet reached, edges into them
  u64 all;                       // edges
  u64 open, hits;                // a sample of the vertices not yet reached: see Search::sample
  u64 base;                      // all that has been queued, as QUEUED tells
};

/// CLUSTER: the blocks that walk small levels together; 1: block 0 does it alone.
template <class Op, class Offset, class Level, bool PARENTS, int CLUSTER = 1>
__global__ void __launch_bounds__(BFS_THREADS, 1) BFS_IN_CLUSTERS(CLUSTER)
search_breadth_first(u64 *control, u32 tickets, u64 *host, u32 launch, i64 patience,
    i64 n, i64 active, i64 several, const Offset *__restrict__ out_ptr, const i32 *__restrict__ out,
    const Offset *__restrict__ in_ptr, const i32 *__restrict__ in,
    const i32 *__restrict__ first, const u32 *__restrict__ idle,
    const i32 *__restrict__ renumbered, const i32 *__restrict__ old,
    const i32 *__restrict__ starts, i32 start, i64 starts_count,
    const bool *__restrict__ flags, bool complement,
    Level *levels, i32 *parents, bool *present, u32 *map, u32 *other_map, u32 *masked,
    typename unsigned_of<Offset>::type *queue_begin, u32 *queue_slot, i32 *queue_vertex,
    u32 *queue_degree, i32 *spill, u8 *kept_levels, i32 *deep_levels, i32 *kept_parents,
    const Offset *__restrict__ least_ptr, const i32 *__restrict__ least_of, bool by_columns,
    i64 limit, i32 direction, i64 alone_edges, i64 grid_edges, i32 alone_room, i32 pool, i32 shared_words,
    i32 unit, float push_cost, u64 *records, i64 records_room) {
  typedef Search<Offset, Level, PARENTS> S;
  typedef typename S::Sums Sums;
  typedef typename S::Slot Slot;
  typedef Together<S, CLUSTER> Walk;
  SHARED_BYTES(bytes);
  SHARED(Progress, shared, 1);
  SHARED(AloneCounts, counts, 3);
  SHARED(AloneState, own, 1);
  SHARED(u32, scratch, WARP + 1);
  SHARED(Slot, totals, 5);
  SHARED(u64, seen, WARP);  // words of control
  SHARED(u64, place, 1);
  SHARED(i32, alone_long, ALONE_LONG);
  SHARED(u32, alone_ends, ALONE_LONG);
  SHARED(i32, far, PULL_FAR);
  SHARED(u32, sent, Walk::SENT_WORDS);
  static_assert(CLUSTER_LONG <= ALONE_LONG, "both kinds of long rows are listed in alone_long");
  SHARED(u32, few, 3);  // far rows, whether one is found, vertices buffered
  if constexpr (CLUSTER > 1) cluster_meet<CLUSTER>();  // all of it is there: see `in_block`

  // Shared memory: `pool` words for the lists of pulls and the buffer behind them, or for the
  // queues of one block; then the map of one block.
  const i64 words = (n + WARP - 1) / WARP;
  const int list_room = greatest(PULL_GROUP, pool * 3 / 4 / BFS_WARPS);
  S search;
  search.active = active;
  search.out_ptr = out_ptr, search.out = out, search.in_ptr = in_ptr, search.in = in;
  search.first = first, search.old = old;
  search.fixed = flags ? masked : idle;
  search.is_masked = flags != nullptr;
  search.is_directed = in_ptr != out_ptr;
  search.unit = unit;
  search.queue_begin = queue_begin, search.queue_slot = queue_slot;
  search.queue_degree = queue_degree, search.queue_vertex = queue_vertex;
  search.spill = spill, search.spill_room = u32(n);
  search.levels = levels, search.bytes = kept_levels, search.deep = deep_levels;
  search.parents = PARENTS && renumbered ? kept_parents : parents;
  search.control = control + BFS_SUMS, search.base = 0;
  search.buffer = (i32 *)bytes, search.buffer_room = u32(pool);
  search.buffered = &few[2];

  Grid grid(control);
  grid.begin(tickets);
  StopFlag flag(host, patience);
  const bool is_one = blockIdx.x == 0 && threadIdx.x == 0;
  const Records trace{records, records_room};
  bool is_marked = false;  // bytes of vertices that are not reached say so
  bool is_stopped = false;

  // Adds up what each thread has; by all threads of the block, before a barrier.
  const auto give_sums = [&](const Sums &sums) {
    const Slot found = warp_sum(Slot(sums.found)), left = warp_sum(Slot(sums.left)), into_left = warp_sum(sums.into_left);
    if (lane() == 0) {
      atomicAdd(&totals[0], found), atomicAdd(&totals[LEFT - FOUND], left), atomicAdd(&totals[INTO_LEFT - FOUND], into_left);
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
  };
  // After a barrier of the grid: the sums of the level, to thread 0 of each block. Other blocks may
  // add to those of the next level already. Those of the level after it nobody reads any more.
  u32 set = 0;
  const auto look = [&] {
    if (warp_in_block() == 0) {
      if (lane() < BFS_CONTROL) seen[lane()] = load_relaxed(&search.control[lane()]);
      __syncwarp();
    }
    set = set == 2 ? 0 : set + 1;
    search.control = control + BFS_SUMS + BFS_CONTROL * set;
    if (blockIdx.x == 0 && threadIdx.x < BFS_CONTROL) {
      control[BFS_SUMS + BFS_CONTROL * (set == 2 ? 0 : set + 1) + threadIdx.x] = 0;
    }
  };
  // By thread 0 of each block, after a barrier: what has been queued is the frontier.
  const auto read_queue = [&] {
    Progress &p = shared[0];
    const u64 all = p.base += seen[QUEUED];
    p.first = p.last, p.units_first = p.units_last;
    p.last = u32(all >> 32), p.units_last = u32(all);
    p.is_queued = 1;
  };
  const auto lose = [&](u64 edges) { shared[0].into_left -= least(shared[0].into_left, edges); };
  const auto read_sample = [&] {
    Progress &p = shared[0];
    p.open = seen[SAMPLED], p.hits = seen[SAMPLED_HITS];
  };
  const auto read_pushed = [&] {
    Progress &p = shared[0];
    read_queue();
    p.count = p.last - p.first;
    p.edges = u64(search.slot_of(p.units_last) - search.slot_of(p.units_first));
    if (search.is_directed || search.is_masked) lose(seen[INTO_FOUND]);
    if (!search.is_directed) lose(p.edges);
    p.reached += p.count, p.left -= least(p.left, p.count);
  };

  // The way of the next level.
  const auto decide = [&] {
    Progress &p = shared[0];
    const bool is_small = p.count <= u64(alone_room) && p.edges <= u64(alone_edges) &&
        p.edges <= ALONE_SHORT * p.count && !p.must_push;
    p.way = is_small ? BY_PUSH_ALONE : BY_PUSH;
    if (direction == PULLS) p.way = BY_PULL;
    if (direction == EITHER && in_ptr && !(is_small && p.is_queued) && !p.must_push) {
      // By push an edge of the frontier costs push_cost times as much as a look by pull.
      const float push = float(p.edges) * push_cost, left = float(p.left), most = float(p.into_left);
      if (push > left && push > looks_of_pull(left, most, 1 - most / float(p.all), float(p.open), float(p.hits))) {
        p.way = BY_PULL;
      }
    }
  };

  // Before the first level: nothing is reached, and what never will be is known.
  for (i64 word = thread_in_grid(); word < words; word += threads_in_grid()) map[word] = other_map[word] = 0;
  if (threadIdx.x == 0) {
    few[0] = few[2] = 0;
    for (int k = 0; k < 5; ++k) totals[k] = 0;
    shared[0] = Progress();
    shared[0].left = u64(active);
    shared[0].into_left = shared[0].all = in_ptr ? u64(in_ptr[active]) : 0;
  }
  if (flags) {
    __syncthreads();
    Sums sums{};
    for (i64 word = S::warp_in_grid(); word < words; word += S::warps_in_grid()) {
      const i64 v = word * WARP + lane();
      const bool lets = v < active && flags[old ? old[v] : v] != complement;
      const u32 fixes = __ballot_sync(ALL_LANES, !lets);
      if (lane() == 0) masked[word] = fixes | (idle ? idle[word] : 0);
      if (in_ptr && v < active && !lets) sums.into += search.edges_into(i32(v));
    }
    give_sums(sums);
  }
  // The starts: level 0, whatever the mask says. Their bits are set already.
  const auto begin_at = [&](i32 name, i32 v) {
    if (v >= active) {  // no edge touches it, and no pull copies its bit
      S::sets(other_map, v);
      atomicAdd(&search.control[IDLE_STARTS], u64(1));
    }
    search.settle(v, 0);
    if constexpr (PARENTS) search.parents[v] = name;
    // Edges into it are lost to pulls once: by the mask, as the frontier's, or here.
    const bool is_lost = flags && v < active && flags[name] == complement;
    if (in_ptr && is_lost && !search.is_directed) atomicAdd(&search.control[INTO_FOUND], u64(0) - u64(search.edges_into(v)));
    if (in_ptr && !is_lost && search.is_directed) atomicAdd(&search.control[INTO_FOUND], u64(search.edges_into(v)));
  };
  if (!starts && starts_count) {  // a lone one, by the thread that has cleared its word
    const i32 v = renumbered ? renumbered[start] : start;
    if (i64(v / WARP) % threads_in_grid() == thread_in_grid()) {
      map[v / WARP] = 1u << (v & 31);
      begin_at(start, v);
      const u32 degree = u32(out_ptr[v + 1] - out_ptr[v]);
      search.write_entry(0, 0, v, out_ptr[v], degree);
      search.control[QUEUED] = (u64(1) << 32) | search.units(degree);
    }
  }
  grid.meet();
  if (starts) {
    for (i64 base = S::warp_in_grid() * WARP; base < starts_count; base += S::warps_in_grid() * WARP) {
      const i64 i = base + lane();
      const i32 name = i < starts_count ? starts[i] : 0;
      const i32 v = renumbered ? renumbered[name] : name;
      const bool won = i < starts_count && S::sets(map, v);
      if (won) begin_at(name, v);
      search.enqueue(won, v);
    }
    grid.meet();
  }
  look();
  if (threadIdx.x == 0) {
    read_pushed();
    shared[0].has_idle = seen[IDLE_STARTS] != 0;
    decide();
  }
  __syncthreads();

  while (true) {
    const Progress &p = shared[0];
    search.base = p.base;
    if (!p.count || (p.is_exact && !p.left) || i64(p.level) >= limit || is_stopped) break;
    if (sizeof(Level) == 1 && levels && p.level > DEEP) break;
    if (p.way == BY_PULL) {
      if (is_one && records) trace.add(p.records, BY_PULL, p.count, p.edges);
      const bool marks = search.bytes && !is_marked;
      const bool queues = direction != PULLS && p.left * 32 <= u64(active);
      const Pull<S> pull{search, map, other_map, p.level + 1, marks, queues, queues && !marks ? WARP : PULL_WORDS,
                         u32(several), (i32 *)bytes + warp_in_block() * list_room, list_room, far, &few[0]};
      Sums sums{};
      search.buffer = (i32 *)bytes + list_room * BFS_WARPS;
      search.buffer_room = u32(pool - list_room * BFS_WARPS);
      pull(sums);
      is_marked |= marks;
      u32 *const swapped = map;
      map = other_map, other_map = swapped;
      if (queues) search.flush(scratch, place, sums);
      search.buffer = (i32 *)bytes, search.buffer_room = u32(pool);
      sums.into = 0;  // is what pushes find
      give_sums(sums);
      is_stopped = grid.meet(is_one && flag.is_up());
      look();
      if (threadIdx.x == 0) {
        Progress &q = shared[0];
        const u64 before = q.into_left;
        q.into_left = seen[INTO_LEFT];
        q.left = seen[LEFT], q.is_exact = 1;
        q.count = seen[FOUND];
        const u64 edges = seen[OUT_OF_FOUND];
        q.edges = search.is_directed ? edges : before - q.into_left;
        q.reached += q.count;
        q.open = q.left + q.count, q.hits = q.count;
        if (queues) read_queue();
        q.is_queued = queues;
        ++q.level, ++q.records;
      }
    } else if (!p.is_queued) {
      Sums sums{};
      search.collect(other_map, map);
      search.flush(scratch, place, sums);
      is_stopped = grid.meet(is_one && flag.is_up());
      look();
      if (threadIdx.x == 0) read_queue();
    } else if (p.way == BY_PUSH) {
      if (is_one && records) trace.add(p.records, BY_PUSH, p.count, p.edges);
      Sums sums{};
      const bool samples = direction == EITHER && in_ptr;
      search.push(map, p.level + 1, p.first, p.last, p.units_first, p.units_last);
      if (samples && warp_in_block() == 0) search.sample(map, p.level * gridDim.x + blockIdx.x);
      search.flush(scratch, place, sums);
      if (search.is_directed) give_sums(sums);
      is_stopped = grid.meet(is_one && flag.is_up());
      look();
      if (threadIdx.x == 0) {
        Progress &q = shared[0];
        read_pushed();
        q.must_push = 0;
        read_sample();
        ++q.level, ++q.records;
      }
    } else if constexpr (CLUSTER > 1) {
      if (blockIdx.x < CLUSTER) {
        const u32 room = least(u32(alone_room) / 4, u32(pool - Walk::LETTERS) / u32(2 * CLUSTER * (PARENTS ? 2 : 1)));
        const Walk walk{search, (u32 *)bytes + pool, (Letter *)bytes, (i32 *)bytes + Walk::LETTERS, sent,
                        alone_long, alone_ends, scratch, room, blockIdx.x};
        const Walked end = walk.walk(map, u32(words), p.first, p.last, p.level, u32(grid_edges), limit,
                                     sizeof(Level) == 1 && levels, flag, trace, p.records);
        is_stopped = end.stops;
        if (is_one) {
          search.control[ALONE_LEVEL] = end.level;
          search.control[ALONE_REACHED] = end.reached;
          search.control[ALONE_INTO] = end.into;
          search.control[ALONE_RECORDS] = end.records;
          search.control[ALONE_LONG_ROWS] = end.fails;
        }
      }
      is_stopped = grid.meet(is_stopped);
      look();
      if (threadIdx.x == 0) {
        Progress &q = shared[0];
        const u64 found = seen[ALONE_REACHED];
        const bool is_begun = seen[ALONE_LEVEL] != q.level;
        q.level = u32(seen[ALONE_LEVEL]);
        q.reached += found, q.left -= least(q.left, found);
        q.must_push = u32(seen[ALONE_LONG_ROWS]);
        lose(search.is_directed ? seen[INTO_FOUND] : seen[ALONE_INTO]);
        if (is_begun) {
          read_queue();
          q.count = q.last - q.first;
          q.edges = u64(search.slot_of(q.units_last) - search.slot_of(q.units_first));
          if (!search.is_directed) lose(q.edges);
        }
        q.records += u32(seen[ALONE_RECORDS]);
      }
    } else {
      if (blockIdx.x == 0) {
        const bool is_one_byte = sizeof(Level) == 1 && levels;
        i32 *const queue = (i32 *)bytes;
        const Alone<S, false> alone{search, map, queue, alone_long, alone_ends, counts, scratch, u32(alone_room), p.last};
        if (words <= shared_words) {
          const Alone<S, true> near{search, (u32 *)bytes + pool, queue, alone_long, alone_ends, counts, scratch,
                                    u32(alone_room), p.last};
          walk_alone(near, map, words, p.first, p.last, p.level, own, u32(grid_edges), limit, is_one_byte, flag, trace, p.records);
        } else {
          walk_alone(alone, map, words, p.first, p.last, p.level, own, u32(grid_edges), limit, is_one_byte, flag, trace, p.records);
        }
        const u32 count = own[0].count, long_rows = own[0].long_rows, side = own[0].turn & 1;
        u32 units = p.units_last, units_long;
        alone.give(own[0].level + (long_rows != 0), long_rows, queue + (side ? alone_room : 0), count, units_long, units, &own[0].into);
        __syncthreads();
        const u64 edges = search.slot_of(units - p.units_last);
        if (direction == EITHER && in_ptr && edges * 64 > p.left) search.sample(map, own[0].level * BFS_WARPS + u32(warp_in_block()));
        is_stopped = own[0].stops != 0;
        if (threadIdx.x == 0) {
          search.control[QUEUED] = (u64(long_rows + count) << 32) | (units - p.units_last);
          search.control[ALONE_LONG_ROWS] = long_rows;
          search.control[ALONE_LONG_UNITS] = units_long;
          search.control[ALONE_FRONTIER] = own[0].frontier;
          search.control[ALONE_EDGES] = own[0].edges;
          search.control[ALONE_LEVEL] = own[0].level;
          search.control[ALONE_REACHED] = own[0].reached;
          search.control[ALONE_INTO] = own[0].into;
          search.control[ALONE_RECORDS] = own[0].turn - (long_rows != 0);
        }
      }
      is_stopped = grid.meet(is_stopped);
      look();
      if (threadIdx.x == 0) {
        Progress &q = shared[0];
        const u32 long_rows = u32(seen[ALONE_LONG_ROWS]);
        const u64 found = seen[ALONE_REACHED];
        q.level = u32(seen[ALONE_LEVEL]);
        q.reached += found, q.left -= least(q.left, found);
        lose(seen[ALONE_INTO]);
        q.must_push = long_rows;
        if (long_rows) {  // they are the frontier; what they find joins what is found already
          q.base += seen[QUEUED];
          q.first = q.last, q.units_first = q.units_last;
          q.last += long_rows, q.units_last = u32(seen[ALONE_LONG_UNITS]);
          q.count = seen[ALONE_FRONTIER], q.edges = seen[ALONE_EDGES];
        } else {
          read_queue();
          q.count = q.last - q.first;
          q.edges = u64(search.slot_of(q.units_last) - search.slot_of(q.units_first));
          if (!search.is_directed) lose(q.edges);
        }
        read_sample();
        q.records += u32(seen[ALONE_RECORDS]);
      }
    }
    if (threadIdx.x == 0) decide();
    __syncthreads();
  }

  const Progress &end = shared[0];
  if (is_one && records) trace.add(end.records, BY_PUSH, 0, 0);
  if (!is_stopped) {
    if (renumbered) {
      const Results<S, Level> results{search, n, renumbered, map, is_marked, end.has_idle != 0, levels, parents, present};
      results.rename();
    } else {
      show_present(map, n, present);
    }
    if constexpr (PARENTS) {
      if (least_ptr) {
        grid.meet();
        take_least_parents(n, least_ptr, least_of, by_columns, levels, present, parents);
      }
    }
  }
  if (is_last_block(grid) && threadIdx.x == 0) {
    const bool is_over = sizeof(Level) == 1 && levels && end.count && end.level > DEEP;
    tell_host(host, launch, HOST_STATUS, is_stopped ? u32(STOPPED) : is_over ? u32(TOO_DEEP) : u32(FINISHED));
    tell_host(host, launch, HOST_RESULTS, end.count || !end.level ? end.level : end.level - 1);
    tell_host(host, launch, HOST_RESULTS + 1, u32(end.reached));
    tell_host(host, launch, HOST_RESULTS + 2, u32(least(i64(end.records) + 1, records_room)));
  }
}

}  // namespace graphla
