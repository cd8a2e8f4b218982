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
// Races: next[] is read while others add bits to it: a bit that is missed is added again, which
// changes nothing; `touched` is only ever set to one.
#include "many_expand.cuh"
#include "many_levels.cuh"
#include "persistent.cuh"

namespace graphla {

constexpr int TALLY = 2 * SEARCHES + 1;

/// Where all searches would push, and along more than this part of all edges, all pull.
constexpr float BROAD = 0.4f;

/// After pushes along less than this part of them, what is fresh is queued as soon as it is known.
constexpr float SMALL = 1.0f / 64;

/// How a level goes: every search for itself, or all one way.
enum Towards { TOWARDS_AUTO = 0, TOWARDS_PUSH = 1, TOWARDS_PULL = 2 };

/// Faults beyond those of persistent.cuh.
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

/// What this warp has counted: a lane has searches `lane` and 32 + lane.
struct Counted {
  u32 vertices[2];
  float edges[2];
  float all;  // edges out of all vertices that are fresh for any search
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
  counted.all += sum;
  for (int half = 0; half < 2; ++half) {
    const u32 column = transposed(u32(fresh >> 32 * half));
    counted.vertices[half] += u32(__popc(column));
    counted.edges[half] += mean * float(__popc(column & ~big));
  }
  for (u32 rest = big; rest; rest &= rest - 1) {
    const int from = __ffs(int(rest)) - 1;
    const u64 bits = shuffle(fresh, from);
    const float edges = shuffle(degree, from);
    counted.all += edges;
    for (int half = 0; half < 2; ++half) {
      if (bits >> (lane() + WARP * half) & 1) counted.edges[half] += edges;
    }
  }
}

/// The bits that this level has brought: noted, counted, and merged into seen.
template <class Offset>
DEVICE void merge(const Graph<Offset> &graph, const Words &words, const Queues &queues, bool queues_all,
                  u64 wanted, i32 level, Counted &counted, i32 *held) {
  const u32 warp = u32(thread_in_grid() / WARP), warps = u32(threads_in_grid() / WARP);
  const u32 groups = u32((graph.vertices + WARP - 1) / WARP);
  const bool notes = planes_for(level) <= words.room, is_all = notes && opens_plane(level);
  Pushers pushers{held, 0};
  for (u32 first = warp; first < groups; first += warps * WARP) {
    const u32 mine = first + lane() * warps;
    const bool is_due = mine < groups && (is_all || words.touched[mine]);
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
        if (notes && (fresh || (is_all && now.seen))) note_level(words, v, now.seen, fresh, level);
      }
      const u32 complete = __ballot_sync(ALL_LANES, ((now.seen | fresh) & wanted) == wanted);
      const bool has_fresh = __any_sync(ALL_LANES, fresh != 0);
      if (lane() == 0) {
        if (opened & complete) words.open[group] = opened & ~complete;
        words.touched[group] = 0;
        words.had[group] = has_fresh;
      }
      if (!has_fresh) continue;
      count_fresh(fresh, float(now.entries), counted);
      if (queues_all) queue_vertex(graph, queues, v, fresh ? i64(now.entries) : 0, pushers);
    }
  }
  if (queues_all) pushers.flush(queues, pushers.count);
}

/// One launch: all levels of up to 64 searches.
///
/// `seen` (n words), `next` and `touched` arrive zero, and so does `tallies`: three sets, which
/// levels use by turns, of 64 counts of vertices and 65 of the edges out of them (about), the last
/// those of all searches together; `starts` are
/// in the graph's numbering, those from `vertices` on being alone. `parts` has room for
/// the parts of the long rows of both forms, `rows` for all vertices. `totals`: vertices reached, their levels' sum, and the greatest, of each search.
template <class Op, class Offset, class Level>
__global__ void __launch_bounds__(MANY_BLOCK, 4)
search_many(u64 *control, u32 tickets, u64 *host, u32 launch, i64 patience,
            i64 vertices, i64 n, i32 searches, i32 limit, i32 towards, float favour, i32 longest, i32 part,
            const Offset *out_ends, const i32 *out, const Offset *into_ends, const i32 *into,
            const i32 *first, const bool *allowed, const i32 *starts, const i32 *renumbered,
            u64 *seen, u64 *next, u64 *fresh, u32 *open, u8 *touched, u8 *had,
            u64 *planes, i32 room, u64 *parts, i32 *rows, u64 *tallies, i64 *totals,
            Level *levels, i64 pitch, i32 width, u64 *records, i64 records_room) {
  SHARED(u32, left, 2 * MANY_BLOCK);
  SHARED(i32, held, Pushers::ROOM * MANY_WARPS);
  SHARED(u32, block_vertices, SEARCHES);
  SHARED(float, block_edges, SEARCHES + 1);
  SHARED(float, unreached, SEARCHES);  // edges out of what a search has yet to reach
  SHARED(i64, sums, 3 * SEARCHES);     // what becomes `totals`, in block 0
  SHARED(u32, votes, 6);               // searches that pull, that push, that are not done
  const Graph<Offset> graph{vertices, out_ends, out, into_ends, into, first, allowed, longest, part};
  const Words words{seen, next, fresh, open, touched, had, planes, vertices, room};
  const u64 wanted = searches < SEARCHES ? (u64(1) << searches) - 1 : ~u64(0);
  const int me = int(threadIdx.x);
  const i64 groups = (vertices + WARP - 1) / WARP;
  Grid grid(control);
  grid.begin(tickets);
  StopFlag flag(host, patience);
  const Records trace{records, records_room};

  // Starts, and groups that may be pulled to.
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
  }
  if (me < SEARCHES) unreached[me] = float(out_ends[vertices]);
  for (int k = me; k < 3 * SEARCHES; k += MANY_BLOCK) sums[k] = 0;
  if (records_room && blockIdx.x == 0 && me == 0) trace.add(records_room - 2, 0, 0, 0);
  bool is_stopped = grid.meet();
  if (records_room && blockIdx.x == 0 && me == 0) trace.add(records_room - 1, 0, 0, 0);
  u32 status = FINISHED;
  i32 level = 0, depth = 0;
  bool is_small = true;  // whether what is fresh next may as well be queued as it is merged
  i32 *my_held = held + Pushers::ROOM * warp_in_block();
  while (true) {
    u64 *tally = tallies + level % 3 * TALLY;
    if (me < SEARCHES) block_vertices[me] = 0;
    if (me <= SEARCHES) block_edges[me] = 0;
    // Counters of what is queued, by this phase or by the next, used by turns with the level before.
    u64 *counts = control + 1 + (level & 1) * 4;
    if (blockIdx.x == 0 && me < 4) store_relaxed(&control[1 + (~level & 1) * 4 + me], u64(0));
    __syncthreads();
    Counted counted = {{0, 0}, {0, 0}, 0};
    merge(graph, words, Queues{parts, rows, counts}, is_small, wanted, level, counted, my_held);
    for (int half = 0; half < 2; ++half) {
      if (!counted.vertices[half]) continue;
      atomicAdd(&block_vertices[lane() + WARP * half], counted.vertices[half]);
      atomicAdd(&block_edges[lane() + WARP * half], counted.edges[half]);
    }
    if (lane() == 0 && counted.all > 0) atomicAdd(&block_edges[SEARCHES], counted.all);
    __syncthreads();
    if (me < SEARCHES && block_vertices[me]) atomicAdd(&tally[me], u64(block_vertices[me]));
    if (me <= SEARCHES && block_edges[me] > 0) atomicAdd(&tally[SEARCHES + me], u64(block_edges[me]));
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
        u64 *upcoming = tallies + (level + 1) % 3 * TALLY;
        upcoming[me] = upcoming[SEARCHES + me] = 0;
        if (me == 0) upcoming[2 * SEARCHES] = 0;
        sums[me] += i64(found);
        sums[SEARCHES + me] += i64(found) * level;
        if (found) sums[2 * SEARCHES + me] = level;
      }
    }
    __syncthreads();
    const u64 going = u64(votes[2]) | u64(votes[3]) << 32;
    u64 pulling = (u64(votes[0]) | u64(votes[1]) << 32) & going;
    const float all = float(load_relaxed(&tally[2 * SEARCHES])), edges = float(out_ends[vertices]);
    if (!pulling && all > BROAD * edges && into_ends && towards == TOWARDS_AUTO) pulling = going;
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
    const u64 pushing = going & ~pulling;
    const bool is_queued = is_small && !pulling;
    const Queues queues{parts, rows, is_queued ? counts : counts + 2};
    if (!is_queued) {
      expand_groups(graph, words, queues, pushing, pulling, left + 2 * WARP * warp_in_block(), my_held);
      grid.meet();
    }
    expand_queued(graph, words, queues, pushing, pulling);
    is_small = !pulling && all < SMALL * edges;
    const bool asks = blockIdx.x == 0 && me == 0 && flag.is_up();
    is_stopped = grid.meet(asks);
    if (is_stopped) break;
    if (records_room && blockIdx.x == 0 && me == 0) trace.add(2 * level + 1, 0, 0, 0);
    ++level;
  }

  if (is_stopped) status = STOPPED;
  if (status == FINISHED && levels) write_levels(words, u32(vertices), u32(n), renumbered, depth, width, levels, pitch);
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
