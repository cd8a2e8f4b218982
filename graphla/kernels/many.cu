// Breadth-first search from up to 64 starts at once: bit s of each word belongs to search s.
//
// At level d, `seen[v]` says which searches have reached v by then, `fresh[v]` which of them just
// now, and `next[v]`, never less than seen[v], who is to have reached it one level on. A level is
// two phases between barriers:
//   expand  next[v] |= seen[u], for searches that pull (u: v's in-neighbours, until nothing is
//           missing), and next[w] |= fresh[v], for those that push (w: v's out-neighbours);
//   merge   fresh = next & ~seen, seen = next; levels are noted, and each search's vertices and
//           edges counted.
// Pull may read seen in place of fresh, as a vertex that a neighbour of v was seen from before has
// been reached itself. Each search has a direction of its own, level by level: while most have
// reached the hubs, where a pull ends at its first neighbour, a few are still far away: they would
// keep every pull searching to the end of its row, and have few edges to push.
// (Bits of many searches in a word: Then et al., "The More the Merrier", VLDB 2014.)
//
// A warp takes a group of 32 vertices; rows of more than `part` entries are cut into tasks, which are
// listed once. Races: next[] is read while others add bits to it: a bit that is missed is added
// again, which changes nothing; `touched` is only ever set to one.
#include "many.cuh"
#include "persistent.cuh"

namespace graphla {

constexpr int MANY_BLOCK = 256;
constexpr int MANY_WARPS = MANY_BLOCK / WARP;
constexpr int SEARCHES = 64;
constexpr int UNROLL = 4;  // edges that a lane has in flight

/// How a level goes: every search for itself, or all one way.
enum Towards { TOWARDS_AUTO = 0, TOWARDS_PUSH = 1, TOWARDS_PULL = 2 };

/// Faults beyond those of persistent.cuh.
enum ManyStatus { TOO_DEEP = FAULT };

template <class Offset> struct Graph {
  i64 vertices;             // those with edges, 0..vertices - 1
  const Offset *out_ends;   // indptr
  const i32 *out;
  const Offset *into_ends;  // null: nothing pulls
  const i32 *into;
  const i32 *first;         // the first in-neighbour of each, or null
  const bool *allowed;      // the mask, or null
  i32 part;                 // a row of more entries is long, and a task has so many of them
};

/// What is known of the vertices, and the long rows.
struct Words {
  u64 *seen, *next, *fresh;
  u32 *open;    // by group: vertices that miss some search, may be reached, and have in-edges
  u8 *touched;  // by group: next has got bits
  u8 *had;      // by group: fresh is valid, and not all zero
  u64 *planes;
  i64 stride;   // of planes
  int room;     // planes there are; 0: levels are not kept
};

/// The long rows' tasks: (part, vertex) in a word.
struct Tasks {
  u64 *at;
  u64 count;
};

DEVICE void add_next(const Words &words, i32 v, u64 bits) {
  atomicOr(&words.next[v], bits);
  store_relaxed(&words.touched[v / WARP], u8(1));
}

/// Push of one edge's searches.
DEVICE void push_to(const Words &words, i32 w, u64 bits) {
  if (bits & ~load_relaxed(&words.next[w])) add_next(words, w, bits);
}

/// Lists the parts of this lane's row, if it is a long one; all lanes call.
template <class Offset>
DEVICE void list_long(const Offset *ends, i64 v, bool is_valid, i32 part, u64 *tasks, u64 *count) {
  const i64 length = is_valid ? i64(ends[v + 1]) - i64(ends[v]) : 0;
  for (u32 left = __ballot_sync(ALL_LANES, length > part); left; left &= left - 1) {
    const int from = __ffs(int(left)) - 1;
    const i64 parts = (shuffle(length, from) + part - 1) / part;
    const i64 row = shuffle(v, from);
    u64 place = 0;
    if (lane() == 0) place = atomicAdd(count, u64(parts));
    place = shuffle(place, 0);
    for (i64 k = lane(); k < parts; k += WARP) tasks[place + k] = u64(k) << 32 | u64(row);
  }
}

/// One part of a long row, pushed by a warp.
template <class Offset>
DEVICE void push_part(const Graph<Offset> &graph, const Words &words, u64 task, u64 pushing) {
  const i32 v = i32(u32(task));
  if (!words.had[v / WARP]) return;
  const u64 bits = words.fresh[v] & pushing;
  if (!bits) return;
  const i64 begin = i64(graph.out_ends[v]) + i64(task >> 32) * graph.part;
  const i64 end = least(begin + graph.part, i64(graph.out_ends[v + 1]));
  for (i64 p = begin + lane(); p < end; p += UNROLL * WARP) {
    i32 w[UNROLL];
#pragma unroll
    for (int j = 0; j < UNROLL; ++j) w[j] = p + j * WARP < end ? graph.out[p + j * WARP] : -1;
#pragma unroll
    for (int j = 0; j < UNROLL; ++j) {
      if (w[j] >= 0) push_to(words, w[j], bits);
    }
  }
}

/// One part of a long row, pulled by a warp: until nothing is missing.
template <class Offset>
DEVICE void pull_part(const Graph<Offset> &graph, const Words &words, u64 task, u64 pulling) {
  const i32 v = i32(u32(task));
  if (!(words.open[v / WARP] >> (v % WARP) & 1)) return;
  const u64 had = load_relaxed(&words.next[v]);
  const u64 missing = shuffle(pulling & ~had, 0);  // others may add to it: one word for all lanes
  if (!missing) return;
  const i64 begin = i64(graph.into_ends[v]) + i64(task >> 32) * graph.part;
  const i64 end = least(begin + graph.part, i64(graph.into_ends[v + 1]));
  u64 found = 0;
  for (i64 p = begin; p < end && found != missing; p += UNROLL * WARP) {
    i32 u[UNROLL];
#pragma unroll
    for (int j = 0; j < UNROLL; ++j) {
      const i64 at = p + j * WARP + lane();
      u[j] = at < end ? graph.into[at] : -1;
    }
#pragma unroll
    for (int j = 0; j < UNROLL; ++j) {
      if (u[j] >= 0) found |= words.seen[u[j]];
    }
    found = reduce_or(found & missing);
  }
  if (lane() == 0 && found) add_next(words, v, found);
}

/// The rows of a group, none of them long, pushed edge by edge.
template <class Offset>
DEVICE void push_group(const Graph<Offset> &graph, const Words &words, i64 v, u64 pushing) {
  const u64 bits = v < graph.vertices ? words.fresh[v] & pushing : 0;
  Offset begin = 0;
  u32 length = 0;
  if (bits) {
    begin = graph.out_ends[v];
    const Offset entries = graph.out_ends[v + 1] - begin;
    length = entries > graph.part ? 0 : u32(entries);
  }
  const u32 end = warp_inclusive_sum(length), total = shuffle(end, WARP - 1);
  const Offset shift = begin - Offset(end - length);
  for (u32 edge = 0; edge < total; edge += UNROLL * WARP) {
    i32 w[UNROLL];
    u64 with[UNROLL];
#pragma unroll
    for (int j = 0; j < UNROLL; ++j) {
      const u32 mine = edge + j * WARP + lane();
      const int row = row_of_edge(end, mine);
      const Offset at = shuffle(shift, row);
      with[j] = shuffle(bits, row);
      w[j] = mine < total ? graph.out[at + Offset(mine)] : -1;
    }
#pragma unroll
    for (int j = 0; j < UNROLL; ++j) {
      if (w[j] >= 0) push_to(words, w[j], with[j]);
    }
  }
}

/// The rows of a group pulled: each lane tries its first neighbour, then a few more; then the warp
/// takes all edges that are left, those of long rows apart, which are tasks.
/// `left` is this warp's shared words, two for each lane: what its row still misses.
template <class Offset>
DEVICE void pull_group(const Graph<Offset> &graph, const Words &words, i64 v, u32 open, u64 pulling,
                       bool is_alone, u32 *left) {
  constexpr int FEW = 3;
  const u64 seen = open >> lane() & 1 ? words.seen[v] : ~u64(0);
  const u64 missing = pulling & ~seen;
  u64 found = 0;
  Offset begin = 0;
  u32 length = 0;
  bool is_long = false;
  if (missing) {
    begin = graph.into_ends[v];
    const Offset entries = graph.into_ends[v + 1] - begin;
    const i32 u = graph.first ? graph.first[v] : graph.into[begin];
    found = words.seen[u] & missing;
    is_long = entries > graph.part;
    length = is_long ? 0 : u32(entries) - 1;
    begin += 1;
    if (found != missing && length) {
      i32 next[FEW];
#pragma unroll
      for (int j = 0; j < FEW; ++j) next[j] = graph.into[begin + least(j, int(length) - 1)];
#pragma unroll
      for (int j = 0; j < FEW; ++j) found |= words.seen[next[j]] & missing;
      begin += Offset(least(u32(FEW), length));
      length -= least(u32(FEW), length);
    }
    if (found == missing) length = 0;
  }
  const u32 end = warp_inclusive_sum(length), total = shuffle(end, WARP - 1);
  if (total) {
    const Offset shift = begin - Offset(end - length);
    const u64 rest = missing & ~found;
    left[lane()] = u32(rest);
    left[WARP + lane()] = u32(rest >> 32);
    __syncwarp();
    for (u32 edge = 0; edge < total; edge += UNROLL * WARP) {
      i32 u[UNROLL];
      int row[UNROLL];
      u64 wants[UNROLL];
#pragma unroll
      for (int j = 0; j < UNROLL; ++j) {
        const u32 mine = edge + j * WARP + lane();
        row[j] = row_of_edge(end, mine);
        const Offset at = shuffle(shift, row[j]);
        wants[j] = u64(load_relaxed(&left[row[j]])) | u64(load_relaxed(&left[WARP + row[j]])) << 32;
        u[j] = mine < total && wants[j] ? graph.into[at + Offset(mine)] : -1;
      }
#pragma unroll
      for (int j = 0; j < UNROLL; ++j) {
        const u64 got = u[j] < 0 ? 0 : words.seen[u[j]] & wants[j];
        if (u32(got)) atomicAnd(&left[row[j]], ~u32(got));
        if (u32(got >> 32)) atomicAnd(&left[WARP + row[j]], ~u32(got >> 32));
      }
      __syncwarp();
    }
    found = missing & ~(u64(left[lane()]) | u64(left[WARP + lane()]) << 32);
    __syncwarp();
  }
  if (found) {
    if (is_alone && !is_long) words.next[v] = seen | found;
    else atomicOr(&words.next[v], found);
  }
  if (__any_sync(ALL_LANES, found != 0) && lane() == 0) store_relaxed(&words.touched[v / WARP], u8(1));
}

/// next[] for the level after this one.
template <class Offset>
DEVICE void expand(const Graph<Offset> &graph, const Words &words, const Tasks &out, const Tasks &into,
                   u64 pushing, u64 pulling, u32 *left) {
  const i64 warp = thread_in_grid() / WARP, warps = threads_in_grid() / WARP;
  if (pushing) {
    for (u64 t = u64(warp); t < out.count; t += u64(warps)) push_part(graph, words, out.at[t], pushing);
  }
  if (pulling) {
    for (u64 t = u64(warp); t < into.count; t += u64(warps)) pull_part(graph, words, into.at[t], pulling);
  }
  const i64 groups = (graph.vertices + WARP - 1) / WARP;
  for (i64 first = warp; first < groups; first += warps * WARP) {
    const i64 mine = first + lane() * warps;
    const bool pushes = mine < groups && pushing && words.had[mine];
    const u32 open = mine < groups && pulling ? words.open[mine] : 0;
    const u32 push = __ballot_sync(ALL_LANES, pushes), pull = __ballot_sync(ALL_LANES, open != 0);
    for (u32 due = push | pull; due; due &= due - 1) {
      const int at = __ffs(int(due)) - 1;
      const i64 v = (first + at * warps) * WARP + lane();
      if (pull >> at & 1) pull_group(graph, words, v, shuffle(open, at), pulling, !pushing, left);
      if (push >> at & 1) push_group(graph, words, v, pushing);
    }
  }
}

/// The level in the planes of one vertex.
DEVICE void note_level(const Words &words, i64 v, u64 seen, u64 fresh, i64 level) {
  const u32 code = code_of(level);
  const int used = planes_for(level);
  for (int b = 0; b < used; ++b) {
    u64 *word = &words.planes[b * words.stride + v];
    const u64 bits = code >> b & 1 ? fresh : 0;
    const bool is_new = !seen || (b == used - 1 && opens_plane(level));
    if (is_new) *word = bits;
    else if (bits) *word |= bits;
  }
}

/// What this warp has counted: a lane has searches `lane` and 32 + lane.
struct Counted {
  u32 vertices[2];
  float edges[2];
};

/// Adds a group's fresh bits to what the warp has counted. Edges: exactly for vertices of many,
/// and by their mean for the others.
DEVICE void count_fresh(u64 fresh, float degree, Counted &counted) {
  constexpr float MANY = 128;
  const bool is_big = fresh && degree > MANY;
  float sum = fresh && !is_big ? degree : 0, own = fresh && !is_big ? 1 : 0;
  for (int delta = WARP / 2; delta; delta /= 2) {
    sum += __shfl_xor_sync(ALL_LANES, sum, delta);
    own += __shfl_xor_sync(ALL_LANES, own, delta);
  }
  const float mean = own > 0 ? sum / own : 0;
  const u32 big = __ballot_sync(ALL_LANES, is_big);
  for (int half = 0; half < 2; ++half) {
    const u32 column = transposed(u32(fresh >> 32 * half));
    counted.vertices[half] += u32(__popc(column));
    counted.edges[half] += mean * float(__popc(column & ~big));
  }
  for (u32 rest = big; rest; rest &= rest - 1) {
    const int from = __ffs(int(rest)) - 1;
    const u64 bits = shuffle(fresh, from);
    const float edges = shuffle(degree, from);
    for (int half = 0; half < 2; ++half) {
      if (bits >> (lane() + WARP * half) & 1) counted.edges[half] += edges;
    }
  }
}

/// The bits that this level has brought: noted, counted, and merged into seen.
template <class Offset>
DEVICE void merge(const Graph<Offset> &graph, const Words &words, u64 wanted, i64 level,
                  Counted &counted) {
  const i64 warp = thread_in_grid() / WARP, warps = threads_in_grid() / WARP;
  const i64 groups = (graph.vertices + WARP - 1) / WARP;
  const bool notes = planes_for(level) <= words.room, is_all = notes && opens_plane(level);
  for (i64 first = warp; first < groups; first += warps * WARP) {
    const i64 mine = first + lane() * warps;
    const bool is_due = mine < groups && (is_all || words.touched[mine] || words.had[mine]);
    for (u32 due = __ballot_sync(ALL_LANES, is_due); due; due &= due - 1) {
      const i64 group = first + (__ffs(int(due)) - 1) * warps, v = group * WARP + lane();
      const bool is_valid = v < graph.vertices;
      const u64 seen = is_valid ? words.seen[v] : ~u64(0);
      u64 fresh = is_valid ? words.next[v] & ~seen : 0;
      if (fresh && level && graph.allowed && !graph.allowed[v]) fresh = 0;
      if (fresh) words.seen[v] = seen | fresh;
      if (is_valid) words.fresh[v] = fresh;
      if (notes && (fresh || (is_all && is_valid && seen))) note_level(words, v, seen, fresh, level);
      const u32 complete = __ballot_sync(ALL_LANES, ((seen | fresh) & wanted) == wanted);
      const bool has_fresh = __any_sync(ALL_LANES, fresh != 0);
      if (lane() == 0) {
        words.open[group] &= ~complete;
        words.touched[group] = 0;
        words.had[group] = has_fresh;
      }
      if (!has_fresh) continue;
      float degree = 0;
      if (fresh) degree = float(graph.out_ends[v + 1] - graph.out_ends[v]);
      count_fresh(fresh, degree, counted);
    }
  }
}

/// Levels in the user's numbering, 16 bytes a thread: row v of `levels` begins at v * pitch.
template <class Level>
DEVICE void write_levels(const Words &words, i64 active, i64 n, const i32 *renumbered, i64 depth,
                         int width, Level *levels, i64 pitch) {
  constexpr int EACH = 16 / sizeof(Level);
  const int used = least(planes_for(depth), words.room), threads = width / EACH;
  for (i64 k = thread_in_grid(); k < n * threads; k += threads_in_grid()) {
    const i64 row = k / threads;
    const int first = int(k - row * threads) * EACH;
    const i64 v = renumbered ? renumbered[row] : row;
    const u64 seen = words.seen[v];
    Quad quad;
    if (v < active && seen) {
      quad = levels_from<Level>(words.planes, words.stride, v, used, seen, first);
    } else {  // alone in the graph, or not reached: at most a start
      quad = levels_from<Level>(words.planes, 0, 0, 0, seen, first);
    }
    *(Quad *)&levels[row * pitch + first] = quad;
  }
}

/// One launch: all levels of up to 64 searches.
///
/// `seen` (n words), `next` and `touched` arrive zero, and so does `tallies`: three sets, which
/// levels use by turns, of 64 counts of vertices and 64 of the edges out of them (about); `starts` are
/// in the graph's numbering, those from `vertices` on being alone. `tasks` has room for the parts
/// of both forms. `totals`: vertices reached, their levels' sum, and the greatest, of each search.
template <class Op, class Offset, class Level>
__global__ void __launch_bounds__(MANY_BLOCK, 3)
search_many(u64 *control, u32 tickets, u64 *host, u32 launch, i64 patience,
            i64 vertices, i64 n, i32 searches, i64 limit, i32 towards, float favour, i32 part,
            const Offset *out_ends, const i32 *out, const Offset *into_ends, const i32 *into,
            const i32 *first, const bool *allowed, const i32 *starts, const i32 *renumbered,
            u64 *seen, u64 *next, u64 *fresh, u32 *open, u8 *touched, u8 *had,
            u64 *planes, i32 room, u64 *tasks, i64 tasks_room, u64 *tallies, i64 *totals,
            Level *levels, i64 pitch, i32 width, u64 *records, i64 records_room) {
  SHARED(u32, left, 2 * MANY_BLOCK);
  SHARED(u32, block_vertices, SEARCHES);
  SHARED(float, block_edges, SEARCHES);
  SHARED(float, unreached, SEARCHES);  // edges out of what a search has yet to reach
  SHARED(i64, sums, 3 * SEARCHES);     // what becomes `totals`, in block 0
  SHARED(u32, votes, 6);               // searches that pull, that push, that are not done
  const Graph<Offset> graph{vertices, out_ends, out, into_ends, into, first, allowed, part};
  const Words words{seen, next, fresh, open, touched, had, planes, vertices, room};
  const bool is_symmetric = out_ends == into_ends;
  const u64 wanted = searches < SEARCHES ? (u64(1) << searches) - 1 : ~u64(0);
  const int me = int(threadIdx.x);
  const i64 groups = (vertices + WARP - 1) / WARP;
  Grid grid(control);
  grid.begin(tickets);
  StopFlag flag(host, patience);
  const Records trace{records, records_room};

  // Starts, groups that may be pulled to, and the tasks of long rows.
  const i64 warp = thread_in_grid() / WARP, warps = threads_in_grid() / WARP;
  for (i64 s = thread_in_grid(); s < searches; s += threads_in_grid()) {
    const i32 v = starts[s];
    if (v < vertices) add_next(words, v, u64(1) << s);
    else atomicOr(&seen[v], u64(1) << s);
  }
  for (i64 group = warp; group < groups; group += warps) {
    const i64 v = group * WARP + lane();
    const bool is_valid = v < vertices;
    bool is_open = is_valid && into_ends && into_ends[v] < into_ends[v + 1];
    if (is_open && allowed) is_open = allowed[v];
    const u32 bits = __ballot_sync(ALL_LANES, is_open);
    if (lane() == 0) {
      open[group] = bits;
      had[group] = 0;
    }
    list_long(out_ends, v, is_valid, part, tasks, &control[1]);
    if (into_ends && !is_symmetric) list_long(into_ends, v, is_valid, part, tasks + tasks_room, &control[2]);
  }
  if (me < SEARCHES) unreached[me] = float(out_ends[vertices]);
  for (int k = me; k < 3 * SEARCHES; k += MANY_BLOCK) sums[k] = 0;
  bool is_stopped = grid.meet();
  const Tasks out_tasks{tasks, load_relaxed(&control[1])};
  const Tasks into_tasks{is_symmetric ? tasks : tasks + tasks_room, load_relaxed(&control[is_symmetric ? 1 : 2])};

  u32 status = FINISHED;
  i64 level = 0, depth = 0;
  while (true) {
    u64 *tally = tallies + level % 3 * 2 * SEARCHES;
    if (me < SEARCHES) block_vertices[me] = 0, block_edges[me] = 0;
    __syncthreads();
    Counted counted = {{0, 0}, {0, 0}};
    merge(graph, words, wanted, level, counted);
    for (int half = 0; half < 2; ++half) {
      if (!counted.vertices[half]) continue;
      atomicAdd(&block_vertices[lane() + WARP * half], counted.vertices[half]);
      atomicAdd(&block_edges[lane() + WARP * half], counted.edges[half]);
    }
    __syncthreads();
    if (me < SEARCHES && block_vertices[me]) {
      atomicAdd(&tally[me], u64(block_vertices[me]));
      atomicAdd(&tally[SEARCHES + me], u64(block_edges[me]));
    }
    grid.meet();

    // Every block comes to the same decision.
    if (me < SEARCHES) {
      const u64 found = load_relaxed(&tally[me]);
      const float edges = float(load_relaxed(&tally[SEARCHES + me]));
      unreached[me] -= edges;
      const bool pulls = into_ends && (towards == TOWARDS_PULL || (towards == TOWARDS_AUTO && edges * favour > unreached[me]));
      const u32 pulling = __ballot_sync(ALL_LANES, pulls), going = __ballot_sync(ALL_LANES, found != 0);
      if (lane() == 0) votes[me / WARP] = pulling, votes[2 + me / WARP] = going;
      if (blockIdx.x == 0) {
        u64 *upcoming = tallies + (level + 1) % 3 * 2 * SEARCHES;
        upcoming[me] = upcoming[SEARCHES + me] = 0;
        sums[me] += i64(found);
        sums[SEARCHES + me] += i64(found) * level;
        if (found) sums[2 * SEARCHES + me] = level;
      }
    }
    __syncthreads();
    const u64 going = u64(votes[2]) | u64(votes[3]) << 32;
    const u64 pulling = (u64(votes[0]) | u64(votes[1]) << 32) & going;
    if (going) depth = level;
    if (room && going && planes_for(level) > room) {
      status = TOO_DEEP;
      break;
    }
    if (!going || level >= limit) break;
    if (records_room && blockIdx.x == 0 && me == 0) {
      u64 frontier = 0, edges = 0;
      for (int s = 0; s < searches; ++s) frontier += tally[s], edges += tally[SEARCHES + s];
      trace.add(2 * level, u64(__popcll(pulling)) << 32 | u64(__popcll(going)), frontier, edges);
    }
    expand(graph, words, out_tasks, into_tasks, going & ~pulling, pulling, left + 2 * WARP * warp_in_block());
    const bool asks = blockIdx.x == 0 && me == 0 && flag.is_up();
    is_stopped = grid.meet(asks);
    if (is_stopped) break;
    if (records_room && blockIdx.x == 0 && me == 0) trace.add(2 * level + 1, 0, 0, 0);
    ++level;
  }

  if (is_stopped) status = STOPPED;
  if (status == FINISHED && levels) write_levels(words, vertices, n, renumbered, depth, width, levels, pitch);
  if (records_room && blockIdx.x == 0 && me == 0) trace.add(2 * level, 0, 0, 0);
  if (blockIdx.x == 0 && me < searches) {
    totals[me] = starts[me] < vertices ? sums[me] : 1;
    totals[SEARCHES + me] = sums[SEARCHES + me];
    totals[2 * SEARCHES + me] = sums[2 * SEARCHES + me];
  }
  if (is_last_block(grid) && me == 0) {
    tell_host(host, launch, HOST_STATUS, status);
    tell_host(host, launch, HOST_RESULTS, u32(depth));
  }
}

}  // namespace graphla
