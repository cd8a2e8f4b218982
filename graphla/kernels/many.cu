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
// A warp takes a group of 32 vertices. What would keep it busy is queued: vertices that push, and
// rows of more than `longest` entries in parts; behind another barrier all warps share the queues.
// Races: next[] is read while others add bits to it: a bit that is missed is added again, which
// changes nothing; `touched` is only ever set to one.
#include "many.cuh"
#include "persistent.cuh"

namespace graphla {

constexpr int MANY_BLOCK = 256;
constexpr int MANY_WARPS = MANY_BLOCK / WARP;
constexpr int SEARCHES = 64;
constexpr int UNROLL = 4;  // edges that a lane has in flight

constexpr int TALLY = 2 * SEARCHES + 1;

/// Where all searches would push, and along more than this part of all edges, all pull.
constexpr float BROAD = 0.4f;

/// After pushes along less than this part of them, what is fresh is queued as soon as it is known.
constexpr float SMALL = 1.0f / 64;

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
  i32 longest;              // a row of more entries is long
  i32 part;                 // entries of a task
};

/// What is known of the vertices, and the long rows.
struct Words {
  u64 *seen, *next, *fresh;
  u32 *open;    // by group: vertices that miss some search, may be reached, and have in-edges
  u8 *touched;  // by group: next has got bits
  u8 *had;      // by group: fresh is of this level, and not all zero
  u64 *planes;
  i64 stride;   // of planes
  int room;     // planes there are; 0: levels are not kept
};

/// What is put off to the second half of an expansion. Both queues are empty when it begins.
struct Queues {
  u64 *parts;   // (pulls, part, vertex) in 1, 31 and 32 bits
  i32 *rows;    // vertices that push along short rows
  u64 *counts;  // of parts, of rows
};

constexpr u64 PULLS = u64(1) << 63;

DEVICE void add_next(const Words &words, i32 v, u64 bits) {
  atomicOr(&words.next[v], bits);
  store_relaxed(&words.touched[v / WARP], u8(1));
}

/// Push of one edge's searches.
DEVICE void push_to(const Words &words, i32 w, u64 bits) {
  if (bits & ~load_relaxed(&words.next[w])) add_next(words, w, bits);
}

/// Queues this lane's row in parts, if it has any; all lanes call.
DEVICE void queue_parts(const Queues &queues, u32 v, u32 parts, u64 kind) {
  u32 left = __ballot_sync(ALL_LANES, parts != 0);
  if (!left) return;
  const u32 end = warp_inclusive_sum(parts);
  u64 first = 0;
  if (lane() == WARP - 1) first = atomicAdd(&queues.counts[0], u64(end));
  first = shuffle(first, WARP - 1);
  for (; left; left &= left - 1) {
    const int from = __ffs(int(left)) - 1;
    const u32 row_parts = shuffle(parts, from), row = shuffle(v, from);
    const u64 place = first + (shuffle(end, from) - row_parts);
    for (u32 k = lane(); k < row_parts; k += WARP) {
      queues.parts[place + k] = kind | u64(k) << 32 | u64(row);
    }
  }
}

/// The vertices that a warp is about to queue: in shared memory, so that it asks for room seldom.
struct Pushers {
  static constexpr int FULL = 64, ROOM = FULL + WARP;
  i32 *held;  // ROOM of them, the warp's own
  int count;

  /// This lane's vertex, if it `wants`; all lanes call.
  DEVICE void add(const Queues &queues, i32 v, bool wants) {
    const u32 wanting = __ballot_sync(ALL_LANES, wants);
    if (wants) held[count + __popc(wanting & ((1u << lane()) - 1))] = v;
    count += __popc(wanting);
    __syncwarp();
    if (count < FULL) return;
    flush(queues, FULL);
    const i32 rest = held[FULL + lane()];
    __syncwarp();
    held[lane()] = rest;
    count -= FULL;
    __syncwarp();
  }
  DEVICE void flush(const Queues &queues, int some) {
    if (!some) return;
    u64 place = 0;
    if (lane() == 0) place = atomicAdd(&queues.counts[1], u64(some));
    place = shuffle(place, 0);
    for (int k = lane(); k < some; k += WARP) queues.rows[place + k] = held[k];
  }
};

/// Entries begin..end - 1 of a long row pushed by a warp.
template <class Offset>
DEVICE void push_part(const Graph<Offset> &graph, const Words &words, i64 begin, i64 end, u64 bits) {
  constexpr int UNROLL = 8;
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

/// Entries begin..end - 1 of v's long row pulled by a warp, until nothing is missing.
template <class Offset>
DEVICE void pull_part(const Graph<Offset> &graph, const Words &words, i32 v, i64 begin, i64 end,
                      u64 missing) {
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

/// The short rows of a warp's vertices (-1: none), pushed edge by edge.
template <class Offset>
DEVICE void push_rows(const Graph<Offset> &graph, const Words &words, i64 v, u64 pushing) {
  u64 bits = 0;
  Offset begin = 0;
  u32 length = 0;
  if (v >= 0) {
    bits = words.fresh[v] & pushing;
    begin = graph.out_ends[v];
    length = u32(graph.out_ends[v + 1] - begin);
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

/// This lane's vertex queued by the length of its row, if it has any that pushes; all lanes call.
template <class Offset>
DEVICE void queue_vertex(const Graph<Offset> &graph, const Queues &queues, u32 v, i64 length,
                         Pushers &pushers) {
  const bool is_long = length > graph.longest;
  queue_parts(queues, v, is_long ? u32((length + graph.part - 1) / graph.part) : 0, 0);
  pushers.add(queues, i32(v), length && !is_long);
}

/// What is loaded of a vertex ahead of its turn, side by side.
template <class Offset> struct Vertex {
  u64 seen, next;
  Offset begin, entries;
  i32 nearest;
};

/// A vertex that may be pulled to has an in-edge.
template <class Offset>
DEVICE Vertex<Offset> load_open(const Graph<Offset> &graph, const Words &words, u32 v, u32 open) {
  Vertex<Offset> vertex{~u64(0), 0, 0, 0, 0};
  if (open >> lane() & 1) {
    vertex.seen = words.seen[v];
    vertex.begin = graph.into_ends[v];
    vertex.entries = graph.into_ends[v + 1] - vertex.begin;
    if (graph.first) vertex.nearest = graph.first[v];
  }
  return vertex;
}

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

/// The rows of a group pulled: each lane tries its first neighbour, then a few more; then the warp
/// takes all edges that are left, those of long rows apart, which are queued.
/// `left` is this warp's shared words, two for each lane: what its row still misses.
template <class Offset>
DEVICE void pull_group(const Graph<Offset> &graph, const Words &words, const Queues &queues, u32 v,
                       const Vertex<Offset> &vertex, u64 pulling, bool is_alone, u32 *left) {
  constexpr int FEW = 3;
  const u64 seen = vertex.seen;
  const Offset entries = vertex.entries;
  Offset begin = vertex.begin;
  u64 found = 0;
  const u64 missing = pulling & ~seen;
  u32 length = 0;
  u32 parts = 0;
  if (missing) {
    found = words.seen[graph.first ? vertex.nearest : graph.into[begin]] & missing;
    length = u32(least(entries, Offset(FEW + 1))) - 1;
    if (found != missing && length) {
      i32 next[FEW];
#pragma unroll
      for (int j = 0; j < FEW; ++j) next[j] = graph.into[begin + 1 + least(j, int(length) - 1)];
#pragma unroll
      for (int j = 0; j < FEW; ++j) found |= words.seen[next[j]] & missing;
    }
    const bool is_long = entries > graph.longest;
    begin += Offset(1 + length);
    length = found == missing || is_long ? 0 : u32(entries) - 1 - length;
    if (found != missing && is_long) parts = u32((i64(entries) + graph.part - 1) / graph.part);
  }
  queue_parts(queues, v, parts, PULLS);
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
#pragma unroll
      for (int j = 0; j < UNROLL; ++j) {
        const u32 mine = edge + j * WARP + lane();
        row[j] = row_of_edge(end, mine);
        const Offset at = shuffle(shift, row[j]);
        const u32 wants = load_relaxed(&left[row[j]]) | load_relaxed(&left[WARP + row[j]]);
        u[j] = mine < total && wants ? graph.into[at + Offset(mine)] : -1;
      }
#pragma unroll
      for (int j = 0; j < UNROLL; ++j) {
        const u64 got = u[j] < 0 ? 0 : words.seen[u[j]] & pulling;
        if (u32(got) & load_relaxed(&left[row[j]])) atomicAnd(&left[row[j]], ~u32(got));
        if (u32(got >> 32) & load_relaxed(&left[WARP + row[j]])) {
          atomicAnd(&left[WARP + row[j]], ~u32(got >> 32));
        }
      }
      __syncwarp();
    }
    found = missing & ~(u64(left[lane()]) | u64(left[WARP + lane()]) << 32);
    __syncwarp();
  }
  if (found) {
    if (is_alone) words.next[v] = seen | found;
    else atomicOr(&words.next[v], found);
  }
  if (__any_sync(ALL_LANES, found != 0) && lane() == 0) store_relaxed(&words.touched[v / WARP], u8(1));
}

/// The first half of an expansion: all groups pull, and queue what pushes.
template <class Offset>
DEVICE void expand_groups(const Graph<Offset> &graph, const Words &words, const Queues &queues,
                          u64 pushing, u64 pulling, u32 *left, i32 *held) {
  const u32 warp = u32(thread_in_grid() / WARP), warps = u32(threads_in_grid() / WARP);
  const u32 groups = u32((graph.vertices + WARP - 1) / WARP);
  Pushers pushers{held, 0};
  for (u32 first = warp; first < groups; first += warps * WARP) {
    const u32 mine = first + lane() * warps;
    const u32 open = mine < groups && pulling ? words.open[mine] : 0;
    const bool pushes = mine < groups && pushing && words.had[mine];
    const auto vertex_of = [&](int at) { return (first + at * warps) * WARP + lane(); };
    u32 due = __ballot_sync(ALL_LANES, open != 0);
    int at = __ffs(int(due)) - 1;
    Vertex<Offset> vertex;
    if (due) vertex = load_open(graph, words, vertex_of(at), shuffle(open, at));
    while (due) {
      due &= due - 1;
      const int now = at;
      const Vertex<Offset> current = vertex;
      at = __ffs(int(due)) - 1;
      if (due) vertex = load_open(graph, words, vertex_of(at), shuffle(open, at));
      pull_group(graph, words, queues, vertex_of(now), current, pulling, !pushing, left);
    }
    for (due = __ballot_sync(ALL_LANES, pushes); due; due &= due - 1) {
      const u32 v = vertex_of(__ffs(int(due)) - 1);
      i64 length = 0;
      if (v < graph.vertices) {
        const bool is_fresh = (words.fresh[v] & pushing) != 0;
        length = i64(graph.out_ends[v + 1]) - i64(graph.out_ends[v]);
        if (!is_fresh) length = 0;
      }
      queue_vertex(graph, queues, v, length, pushers);
    }
  }
  pushers.flush(queues, pushers.count);
}

/// The second half: what is queued, dealt out to all warps.
template <class Offset>
DEVICE void expand_queued(const Graph<Offset> &graph, const Words &words, const Queues &queues,
                          u64 pushing, u64 pulling) {
  const i64 warp = thread_in_grid() / WARP, warps = threads_in_grid() / WARP;
  const i64 parts = i64(load_relaxed(&queues.counts[0])), rows = i64(load_relaxed(&queues.counts[1]));
  for (i64 q = warp; q < parts; q += warps) {
    const u64 item = queues.parts[q];
    const i32 v = i32(u32(item));
    const i64 skip = i64(item >> 32 & 0x7fffffffu) * graph.part;
    if (item & PULLS) {
      const u64 missing = shuffle(pulling & ~load_relaxed(&words.next[v]), 0);  // others may add
      if (!missing) continue;
      const i64 begin = i64(graph.into_ends[v]) + skip;
      pull_part(graph, words, v, begin, least(begin + graph.part, i64(graph.into_ends[v + 1])), missing);
    } else {
      const i64 begin = i64(graph.out_ends[v]) + skip;
      const i64 end = least(begin + graph.part, i64(graph.out_ends[v + 1]));
      push_part(graph, words, begin, end, words.fresh[v] & pushing);
    }
  }
  const i64 each = greatest(i64(1), least(rows / warps, i64(WARP)));  // few rows: few to a warp
  for (i64 first = warp * each; first < rows; first += warps * each) {
    const i64 mine = first + lane();
    push_rows(graph, words, lane() < each && mine < rows ? queues.rows[mine] : -1, pushing);
  }
}

/// The level in the planes of one vertex.
DEVICE void note_level(const Words &words, u32 v, u64 seen, u64 fresh, i32 level) {
  const u32 code = code_of(level);
  const int used = planes_for(level);
  for (int b = 0; b < used; ++b) {
    u64 *word = &words.planes[b * words.stride + v];
    const u64 bits = code >> b & 1 ? fresh : 0;
    const bool is_new = !seen || (b == used - 1 && opens_plane(level));
    if (is_new) *word = bits;
    else if (bits) atomicOr(word, bits);  // nobody else's, but nothing to wait for
  }
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

/// Levels in the user's numbering: row v of `levels` begins at v * pitch, and is `width` long, 16
/// bytes times a power of two.
///
/// A lane loads the words of one vertex, turns its code into levels bit by bit, and then writes 16
/// bytes of a row, with the lanes beside it.
template <class Level>
DEVICE void write_levels(const Words &words, u32 active, u32 n, const i32 *renumbered, i32 depth,
                         int width, Level *levels, i64 pitch) {
  constexpr int EACH = 16 / sizeof(Level);
  const int used = least(planes_for(depth), words.room);
  const int shift = __ffs(width / EACH) - 1, last = width / EACH - 1;
  const u32 begin = u32(thread_in_grid()), step = u32(threads_in_grid());
  const auto number = [&](u32 row) { return row >= n ? 0u : renumbered ? u32(renumbered[row]) : row; };
  if (used > FEW_PLANES) {
    for (i64 k = begin; k < i64(n) << shift; k += step) {
      const u32 row = u32(k >> shift), v = number(row);
      const int first = (int(k) & last) * EACH;
      const u64 seen = words.seen[v];
      const int planes = v < active && seen ? used : 0;
      const Quad quad = levels_from<Level>(words.planes, words.stride, v, planes, seen, first);
      *(Quad *)&levels[row * pitch + first] = quad;
    }
    return;
  }
  u32 v = number(begin), later = number(begin + step);
  u64 seen = words.seen[v];
  Planes planes;
  planes.load(words.planes + v, words.stride, v < active ? used : 0);
  for (u32 base = begin - lane(); base < n; base += step) {
    // The words of the next vertex come while this one's levels are written.
    Planes ahead;
    const u64 seen_ahead = words.seen[later];
    ahead.load(words.planes + later, words.stride, later < active ? used : 0);
    if (v < active) planes.decode();
    v = later, later = number(base + 2 * step + lane());
    for (int k = lane(); k < WARP << shift; k += WARP) {
      const int from = k >> shift, first = (k & last) * EACH;
      const Quad quad = used <= 3 ? planes.template levels_of<Level, 3>(from, first, seen)
                                  : planes.template levels_of<Level, FEW_PLANES>(from, first, seen);
      if (base + from < n) *(Quad *)&levels[(base + from) * pitch + first] = quad;
    }
    planes = ahead, seen = seen_ahead;
  }
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
