// Breadth-first search: the whole traversal in one launch.
//
// Each level takes one of three ways, and all blocks choose the same one from the same counts:
// ALONE, block 0 by itself, level after level, while levels are small; PUSH, the edges out of the
// frontier cut evenly over all warps; PULL, each vertex not yet reached looking for a neighbour
// that is. At the end results are put into the user's numbering.
#include "bfs_alone.cuh"
#include "bfs_pull.cuh"

namespace graphla {

enum Direction { EITHER = 0, PUSHES = 1, PULLS = 2 };        // what the caller asks for
enum Way { BY_PUSH = 0, BY_PULL = 1, BY_PUSH_ALONE = 2 };    // of a level, in a record
enum BfsStatus { TOO_DEEP = FAULT };                         // a level does not fit its type

/// What all blocks know between two levels.
struct Progress {
  u32 level;
  u32 is_queued;
  u32 has_idle;                   // among the starts are vertices without edges
  u32 first, last;                // the frontier in the queue: entries
  u32 units_first, units_last;    // and units
  u64 count, edges;               // of the frontier: vertices, edges out of them
  u64 reached;                    // vertices
  u64 left, into_left;            // vertices not yet reached, edges into them
  u64 records;
};

/// Takes from memory, in turn.
struct Carver {
  unsigned char *at;
  template <class T> DEVICE T *take(i64 count) {
    T *taken = (T *)at;
    at += (u64(count) * sizeof(T) + 255) / 256 * 256;
    return taken;
  }
};

/// Of all neighbours that are a level nearer each vertex takes the one of the least number, in the
/// user's numbering: by rows of edges into it the first of them, else by the edges out of each.
template <class Offset, class Level>
DEVICE void take_least_parents(i64 n, const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                               bool by_columns, const Level *levels, i32 *parents) {
  const i64 warps = i64(gridDim.x) * BFS_WARPS;
  for (i64 base = (i64(warp_in_block()) * gridDim.x + blockIdx.x) * WARP; base < n; base += warps * WARP) {
    const i64 v = base + lane();
    const Level mine = v < n ? levels[v] : Level(-1);
    const bool counts = mine != Level(-1) && (!by_columns || mine != Level(0));
    const Offset begin = counts ? indptr[v] : 0, end = counts ? indptr[v + 1] : 0;
    for (u32 some = __ballot_sync(ALL_LANES, begin < end); some; some &= some - 1) {
      const int which = __ffs(int(some)) - 1;
      const Offset last = shuffle(end, which);
      const Level level = Level(shuffle(i32(mine), which));
      bool is_found = false;
      for (Offset p = shuffle(begin, which) + lane(); p - lane() < last && !is_found; p += WARP) {
        const i32 u = p < last ? indices[p] : -1;
        if (by_columns) {
          const u32 nearer = __ballot_sync(ALL_LANES, u >= 0 && levels[u] == Level(level - 1));
          is_found = nearer != 0;
          if (is_found && lane() == __ffs(int(nearer)) - 1) parents[base + which] = u;
        } else if (u >= 0 && Level(level + 1) != Level(-1) && levels[u] == Level(level + 1)) {
          atomicMin(&parents[u], i32(base + which));
        }
      }
    }
  }
}

template <class Op, class Offset, class Level, bool PARENTS>
__global__ void __launch_bounds__(BFS_THREADS, 1)
search_breadth_first(u64 *control, u32 tickets, u64 *host, u32 launch, i64 patience,
    i64 n, i64 active, const Offset *__restrict__ out_ptr, const i32 *__restrict__ out,
    const Offset *__restrict__ in_ptr, const i32 *__restrict__ in,
    const i32 *__restrict__ first, const u32 *__restrict__ idle,
    const i32 *__restrict__ renumbered, const i32 *__restrict__ old,
    const i32 *__restrict__ starts, i32 start, i64 starts_count,
    const bool *__restrict__ flags, bool complement,
    Level *levels, i32 *parents, bool *present, unsigned char *memory,
    const Offset *__restrict__ least_ptr, const i32 *__restrict__ least_of, bool by_columns,
    i64 limit, i32 direction, i64 alone_edges, i64 grid_edges, i32 room, i32 shared_words, i32 unit,
    float push_cost, u64 *records, i64 records_room) {
  typedef Search<Offset, Level, PARENTS> S;
  SHARED_BYTES(bytes);
  SHARED(Progress, shared, 1);
  SHARED(AloneCounts, counts, 3);
  SHARED(u32, scratch, WARP + 1);
  SHARED(u32, found_words, BFS_WARPS * PULL_WORDS);
  SHARED(u64, block_sums, 5 * BFS_WARPS);
  SHARED(u32, stops, 1);

  Carver carver{memory};
  const i64 words = (n + WARP - 1) / WARP;
  u32 *maps[2] = {carver.take<u32>(words), carver.take<u32>(words)};
  u32 *masked = flags ? carver.take<u32>(words) : nullptr;
  S search;
  search.active = active;
  search.out_ptr = out_ptr, search.out = out, search.in_ptr = in_ptr, search.in = in;
  search.first = first, search.old = old;
  search.fixed = flags ? masked : idle;
  search.is_masked = flags != nullptr;
  search.is_directed = in_ptr != out_ptr;
  search.unit = unit;
  search.queue_begin = carver.take<typename S::Slot>(n);
  search.queue_slot = carver.take<u32>(n);
  search.queue_degree = S::PADDED ? carver.take<u32>(n) : nullptr;
  search.queue_vertex = PARENTS ? carver.take<i32>(n) : nullptr;
  search.levels = levels;
  search.parents = PARENTS && renumbered ? carver.take<i32>(n) : parents;
  search.bytes = renumbered && levels ? carver.take<u8>(n) : nullptr;
  search.deep = search.bytes && sizeof(Level) > 1 ? carver.take<i32>(n) : nullptr;
  search.control = control;

  Grid grid(control);
  grid.begin(tickets);
  StopFlag flag(host, patience);
  const bool is_one = blockIdx.x == 0 && threadIdx.x == 0;
  const Records trace{records, records_room};
  const bool is_in_shared = words <= shared_words;
  Alone<S> alone{search, maps[0], u32(room), (Offset *)bytes, nullptr, nullptr, counts, scratch, 0};
  alone.degree = (u32 *)(alone.begin + 2 * room);
  alone.vertex = PARENTS ? (i32 *)(alone.degree + 2 * room) : nullptr;
  u32 *shared_map = (u32 *)(bytes + Alone<S>::bytes_of(u32(room)));
  Sums sums;
  int now = 0;         // the map of reached vertices
  bool is_marked = false;  // bytes of vertices that are not reached say so
  bool is_stopped = false;

  // What must be known before the first level: nothing is reached, what is fixed.
  for (i64 word = thread_in_grid(); word < words; word += threads_in_grid()) maps[0][word] = maps[1][word] = 0;
  if (flags) {
    for (i64 word = i64(warp_in_block()) * gridDim.x + blockIdx.x; word < words; word += S::warps_in_grid()) {
      const i64 v = word * WARP + lane();
      const bool lets = v < active && flags[old ? old[v] : v] != complement;
      const u32 fixes = __ballot_sync(ALL_LANES, !lets);
      if (lane() == 0) masked[word] = fixes | (idle ? idle[word] : 0);
      if (in_ptr && v < active && !lets) sums.into += u64(in_ptr[v + 1] - in_ptr[v]);
    }
  }
  // Adds up what each thread has; by all threads, just before a barrier.
  const auto give_sums = [&] {
    const u64 each[5] = {sums.found, sums.out, sums.into, sums.left, sums.into_left};
    const int at[5] = {FOUND, OUT_OF_FOUND, INTO_FOUND, LEFT, INTO_LEFT};
    for (int k = 0; k < 5; ++k) {
      const u64 total = warp_sum(each[k]);
      if (lane() == 0) block_sums[k * BFS_WARPS + warp_in_block()] = total;
    }
    __syncthreads();
    if (warp_in_block() < 5) {
      const u64 total = warp_sum(block_sums[warp_in_block() * BFS_WARPS + lane()]);
      if (lane() == 0 && total) atomicAdd(&control[at[warp_in_block()]], total);
    }
    sums = Sums();
  };
  if (flags) give_sums();
  grid.meet();

  // The starts: level 0, whatever the mask says.
  u64 found = 0, out_of_found = 0, into_found = 0, left = 0, into_left = 0;
  for (i64 base = S::warp_in_grid() * WARP; base < starts_count; base += S::warps_in_grid() * WARP) {
    const i64 i = base + lane();
    i32 v[1] = {0}, name = 0;
    u32 won = 0;
    Offset begin[1] = {0};
    u32 degree[1] = {0};
    if (i < starts_count) {
      name = starts ? starts[i] : start;
      v[0] = renumbered ? renumbered[name] : name;
      won = S::sets(maps[0], v[0]);
    }
    if (won) {
      if (v[0] >= active) {  // without edges, and out of the reach of pulls
        S::sets(maps[1], v[0]);
        atomicAdd(&control[IDLE_STARTS], u64(1));
      }
      begin[0] = out_ptr[v[0]];
      degree[0] = u32(out_ptr[v[0] + 1] - begin[0]);
      search.settle(v[0], 0);
      if constexpr (PARENTS) search.parents[v[0]] = name;
      if (search.is_directed && in_ptr) sums.into += u64(in_ptr[v[0] + 1] - in_ptr[v[0]]);
    }
    search.template enqueue<1>(won, v, begin, degree);
  }
  // By one thread: what has been queued is the frontier; `lost` edges lead to no open vertex now.
  const auto read_queue = [&] {
    Progress &p = shared[0];
    const u64 all = load_relaxed(&control[QUEUED]);
    p.first = p.last, p.units_first = p.units_last;
    p.last = u32(all >> 32), p.units_last = u32(all);
    p.is_queued = 1;
  };
  const auto lose = [&](u64 edges) { shared[0].into_left -= least(shared[0].into_left, edges); };
  const auto read_pushed = [&] {
    Progress &p = shared[0];
    read_queue();
    p.count = p.last - p.first;
    p.edges = u64(search.slot_of(p.units_last) - search.slot_of(p.units_first));
    const u64 into = load_relaxed(&control[INTO_FOUND]);
    lose(into - into_found);
    if (!search.is_directed) lose(p.edges);
    into_found = into;
    p.reached += p.count, p.left -= least(p.left, p.count);
  };

  if (threadIdx.x == 0) {
    Progress &p = shared[0];
    p = Progress();
    p.is_queued = 1;
    p.left = u64(active);
    p.into_left = in_ptr ? u64(in_ptr[active]) : 0;
  }
  give_sums();
  grid.meet();
  if (threadIdx.x == 0) {
    read_pushed();
    shared[0].has_idle = load_relaxed(&control[IDLE_STARTS]) != 0;
  }
  __syncthreads();

  while (true) {
    const Progress p = shared[0];
    __syncthreads();
    if (!p.count || i64(p.level) >= limit || is_stopped) break;
    if (sizeof(Level) == 1 && levels && p.level > DEEP) break;
    const bool could_pull = in_ptr && direction != PUSHES;
    const bool is_small = p.count <= u64(room) && p.edges <= u64(alone_edges);
    const bool pulls = direction == PULLS ||
        (could_pull && !(is_small && p.is_queued) && float(p.edges) * push_cost > float(p.into_left));
    if (pulls) {
      if (is_one && records) trace.add(i64(p.records), BY_PULL, p.count, p.edges);
      const bool marks = search.bytes && !is_marked;
      const bool queues = direction != PULLS && p.left * 16 <= u64(active);
      const Pull<S> pull{search, maps[now], maps[now ^ 1], p.level + 1, marks, queues,
                         (i32 *)bytes + warp_in_block() * PULL_GROUP, found_words + warp_in_block() * PULL_WORDS};
      pull(sums);
      is_marked |= marks;
      now ^= 1;
      give_sums();
      is_stopped = grid.meet(is_one && flag.is_up());
      if (threadIdx.x == 0) {
        Progress &q = shared[0];
        const u64 in_all = q.into_left;
        const u64 now_found = load_relaxed(&control[FOUND]), now_out = load_relaxed(&control[OUT_OF_FOUND]);
        const u64 now_left = load_relaxed(&control[LEFT]), now_into_left = load_relaxed(&control[INTO_LEFT]);
        q.into_left = now_into_left - into_left, into_left = now_into_left;
        q.left = now_left - left, left = now_left;
        q.count = now_found - found, found = now_found;
        q.edges = search.is_directed ? now_out - out_of_found : in_all - q.into_left;
        out_of_found = now_out;
        if (queues) read_queue();
        q.is_queued = queues;
        q.reached += q.count;
        ++q.level, ++q.records;
      }
    } else if (!p.is_queued) {
      search.collect(maps[now ^ 1], maps[now]);
      is_stopped = grid.meet(is_one && flag.is_up());
      if (threadIdx.x == 0) read_queue();
    } else if (!is_small) {
      if (is_one && records) trace.add(i64(p.records), BY_PUSH, p.count, p.edges);
      search.push(maps[now], p.level + 1, p.first, p.last, p.units_first, p.units_last, sums);
      if (search.is_directed) give_sums();
      is_stopped = grid.meet(is_one && flag.is_up());
      if (threadIdx.x == 0) {
        read_pushed();
        ++shared[0].level, ++shared[0].records;
      }
    } else {
      if (blockIdx.x == 0) {
        // Level after level, until one is too large, or the last.
        if (is_in_shared) {
          for (i64 word = threadIdx.x; word < words; word += BFS_THREADS) shared_map[word] = load_relaxed(&maps[now][word]);
        }
        Alone<S> one = alone;
        one.map = is_in_shared ? shared_map : maps[now];
        one.place = p.last;
        one.take(p.first, p.last, p.units_last);
        if (threadIdx.x < 3) counts[threadIdx.x] = AloneCounts();
        if (threadIdx.x == 0) stops[0] = 0;
        u32 count = u32(p.count), level = p.level, long_rows = 1;
        u64 edges = p.edges, reached = 0, into = 0, turn = 0;
        __syncthreads();
        while (true) {
          const int side = int(turn & 1);
          AloneCounts *mine = &counts[turn % 3];
          if (threadIdx.x == 0) {
            if (records) trace.add(i64(p.records + turn), BY_PUSH_ALONE, count, edges);
            if (flag.is_up()) stops[0] = 1;
          }
          ++level, ++turn;
          if (long_rows) one.by_edges(level, side, count, mine);
          else one.by_rows(level, side, count, mine);
          __syncthreads();
          count = mine->count, edges = mine->edges, long_rows = mine->long_rows;
          reached += count, into += search.is_directed ? mine->into : edges;
          if (threadIdx.x == 0) counts[(turn + 1) % 3] = AloneCounts();
          is_stopped = stops[0];
          if (!count || count > u32(room) || edges > u64(grid_edges) || i64(level) >= limit || is_stopped) break;
          if (sizeof(Level) == 1 && levels && level > DEEP) break;
        }
        __syncthreads();
        const u32 units = one.give(int(turn & 1), count, p.units_last);
        if (is_in_shared) {
          for (i64 word = threadIdx.x; word < words; word += BFS_THREADS) maps[now][word] = shared_map[word];
        }
        if (threadIdx.x == 0) {
          control[QUEUED] = (u64(p.last + count) << 32) | units;
          control[ALONE_LEVEL] = level;
          control[ALONE_REACHED] = reached;
          control[ALONE_INTO] = into;
          control[ALONE_RECORDS] = turn;
        }
      }
      is_stopped = grid.meet(is_stopped);
      if (threadIdx.x == 0) {
        Progress &q = shared[0];
        read_queue();
        q.count = q.last - q.first;
        q.edges = u64(search.slot_of(q.units_last) - search.slot_of(q.units_first));
        q.level = u32(load_relaxed(&control[ALONE_LEVEL]));
        q.reached += load_relaxed(&control[ALONE_REACHED]);
        q.left -= least(q.left, load_relaxed(&control[ALONE_REACHED]));
        lose(load_relaxed(&control[ALONE_INTO]));
        q.records += load_relaxed(&control[ALONE_RECORDS]);
      }
    }
    __syncthreads();
  }

  const Progress end = shared[0];
  if (is_one && records) trace.add(i64(end.records), BY_PUSH, 0, 0);
  if (!is_stopped) {
    for (i64 base = S::warp_in_grid() * WARP; base < n; base += S::warps_in_grid() * WARP) {
      const i64 v = base + lane();
      if (v >= n) continue;
      const i32 id = renumbered ? renumbered[v] : i32(v);
      const bool is_idle = id >= active;
      bool is_reached = !is_idle || end.has_idle;
      u32 level = UNREACHED;
      if (is_reached && (is_idle || !is_marked)) is_reached = maps[now][id / WARP] >> (id & 31) & 1;
      if (is_reached && search.bytes) {
        level = search.bytes[id];
        is_reached = is_idle || !is_marked || level != UNREACHED;
        if (is_reached) levels[v] = Level(level < DEEP || !search.deep ? i32(level) : search.deep[id]);
      }
      if constexpr (PARENTS) {
        if (is_reached && renumbered) parents[v] = search.parents[id];
      }
      present[v] = is_reached;
      if (least_ptr && !is_reached) levels[v] = Level(-1);  // no level that any edge could ask for
    }
    if constexpr (PARENTS) {
      if (least_ptr) {
        grid.meet();
        take_least_parents(n, least_ptr, least_of, by_columns, levels, parents);
      }
    }
  }
  if (is_last_block(grid) && threadIdx.x == 0) {
    const bool is_over = sizeof(Level) == 1 && levels && end.count && end.level > DEEP;
    tell_host(host, launch, HOST_STATUS, is_stopped ? STOPPED : is_over ? u32(TOO_DEEP) : u32(FINISHED));
    tell_host(host, launch, HOST_RESULTS, end.count || !end.level ? end.level : end.level - 1);
    tell_host(host, launch, HOST_RESULTS + 1, u32(end.reached));
    tell_host(host, launch, HOST_RESULTS + 2, u32(least(i64(end.records) + 1, records_room)));
  }
}

}  // namespace graphla
