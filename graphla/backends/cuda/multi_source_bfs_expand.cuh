// Breadth-first search from up to 64 start vertices: the expansion of one level. Each vertex v has
// a word next[v] with one bit per search. The expansion sets the bits of the searches that reach v
// by the next level. If search s pulls into v, it tests bit s of seen[u] for the in-neighbors u of
// v. If search s pushes, it sets bit s of next[w] for all out-neighbors w of the vertices u for
// which bit s of fresh[u] is set. multi_source_bfs.cu describes these arrays.
//
// An expansion has two halves. In the first half, each warp takes groups of 32 vertices and pulls
// for them. It queues the rest of the work for the second half: the vertices from which a search
// pushes, and the parts of the rows with more than `longest` entries, for pushes and pulls. In the
// second half, after a barrier, all warps share the queued work.
#ifndef GRAPHLA_MANY_EXPAND
#define GRAPHLA_MANY_EXPAND
#include "multi_source_bfs.cuh"

namespace graphla {

/// The queues for the second half of an expansion. Both queues are empty when the expansion begins.
struct Queues {
  // Parts of long rows. Bit 63 is set if the entries of the part are pulled, and clear if they are
  // pushed. Bits 32 to 62 are the index of the part in the row. Bits 0 to 31 are the vertex.
  u64 *parts;
  i32 *rows;    // vertices that push along short rows
  u64 *counts;  // counts[0]: number of parts; counts[1]: number of rows
};

constexpr u64 PULLS = u64(1) << 63;

DEVICE void add_next(const Words &words, i32 v, u64 bits) {
  add_bits(&words.next[v], bits);
  store_relaxed(&words.touched[v / WARP], u8(1));
}

/// What a push does in addition to the atomic operation that adds the bits. CARE_NONE: nothing.
/// CARE_TEST: it first tests whether any bit is new; if none is, it skips the atomic operation.
/// CARE_MARK: the same test; after an atomic operation it also marks the group of the vertex in
/// `touched`. With scattered addresses, the test takes as long as the atomic operation, and so does
/// the mark. So CARE_NONE is used for a push along many edges, most of which lead to new vertices.
enum Care { CARE_NONE = 0, CARE_TEST = 1, CARE_MARK = 2 };

/// Pushes along one edge to vertex w, for the searches whose bits are set in `bits`.
DEVICE void push_to(const Words &words, i32 w, u64 bits, int care) {
  if (care && !(bits & ~load_relaxed(&words.next[w]))) return;
  add_bits(&words.next[w], bits);
  if (care == CARE_MARK) store_relaxed(&words.touched[w / WARP], u8(1));
}

/// Queues the row of this lane's vertex v, cut into `parts` parts. A lane without a row passes 0 as
/// `parts`. `kind` is PULLS, or 0 for a push. All lanes must call this.
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

/// The vertices that a warp is about to queue. The warp collects them in shared memory and queues
/// many at a time, so that few atomic operations are needed to reserve space in the queue.
struct Pushers {
  static constexpr int FULL = 64, ROOM = FULL + WARP;
  i32 *held;  // the warp's own array of ROOM vertices
  int count;

  /// Adds this lane's vertex v to the collected vertices if `wants` is true. If at least FULL
  /// vertices are now collected, queues FULL of them. All lanes must call this.
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

/// Pushes along entries begin..end - 1 of a long row, with one warp.
template <class Offset>
DEVICE void push_part(const Graph<Offset> &graph, const Words &words, i64 begin, i64 end, u64 bits,
                      int care) {
  constexpr int UNROLL = 8;
  for (i64 p = begin + lane(); p < end; p += UNROLL * WARP) {
    i32 w[UNROLL];
#pragma unroll
    for (int j = 0; j < UNROLL; ++j) w[j] = p + j * WARP < end ? graph.out[p + j * WARP] : -1;
#pragma unroll
    for (int j = 0; j < UNROLL; ++j) {
      if (w[j] >= 0) push_to(words, w[j], bits, care);
    }
  }
}

/// Pulls along entries begin..end - 1 of v's long row, with one warp, until every search that pulls
/// has reached v.
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
    found = warp_fold(found & missing, [](u64 a, u64 b) { return a | b; });
  }
  if (lane() == 0 && found) add_next(words, v, found);
}

/// Pushes along the rows of up to 32 vertices with short rows. Each lane passes one vertex, or -1
/// if it has none. The edges of all these rows are divided evenly among the lanes.
template <class Offset>
DEVICE void push_rows(const Graph<Offset> &graph, const Words &words, i64 v, u64 pushing,
                      int care) {
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
      if (w[j] >= 0) push_to(words, w[j], with[j], care);
    }
  }
}

/// Queues this lane's vertex if any search pushes from it; the queue depends on the length of its
/// row. All lanes must call this.
template <class Offset>
DEVICE void queue_vertex(const Graph<Offset> &graph, const Queues &queues, u32 v, i64 length,
                         Pushers &pushers) {
  const bool is_long = length > graph.longest;
  queue_parts(queues, v, is_long ? u32((length + graph.part - 1) / graph.part) : 0, 0);
  pushers.add(queues, i32(v), length && !is_long);
}

/// Loads what a pull needs to know about vertex v: which searches have reached it, and where its
/// row is. Each lane passes its own v. If the bit of a lane in `open` is clear, this lane loads
/// nothing; if the bit is set, v must have at least one in-edge.
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

/// Pulls for the 32 vertices of a group, one vertex per lane. Each lane first tries one in-neighbor
/// of its vertex, and then a few more. After that, the edges that remain in short rows are divided
/// evenly among the lanes, and the long rows are queued. `left` is shared memory of this warp with
/// two words per lane: one bit for each search that has not reached the lane's vertex yet.
template <class Offset>
DEVICE void pull_group(const Graph<Offset> &graph, const Words &words, const Queues &queues, u32 v,
                       const Vertex<Offset> &vertex, u64 pulling, bool is_alone, u32 *left) {
  constexpr int FEW = 6;
  const u64 seen = vertex.seen;
  const Offset entries = vertex.entries;
  Offset begin = vertex.begin;
  u64 found = 0;
  const u64 missing = pulling & ~seen;
  u32 length = 0;
  u32 parts = 0;
  if (missing) {
    found = words.seen[graph.first ? vertex.nearest : graph.into[begin]] & missing;
    // How many entries at the beginning of the row have already been tested: 1 if the neighbor
    // above was the first entry, otherwise 0.
    const u32 tried = !graph.first || graph.leads;
    length = u32(least(entries - Offset(tried), Offset(FEW)));
    if (found != missing && length) {
      i32 next[FEW];
#pragma unroll
      for (int j = 0; j < FEW; ++j)
        next[j] = graph.into[begin + Offset(tried) + least(j, int(length) - 1)];
#pragma unroll
      for (int j = 0; j < FEW; ++j) found |= words.seen[next[j]] & missing;
    }
    const bool is_long = entries > graph.longest;
    begin += Offset(tried + length);
    length = found == missing || is_long ? 0 : u32(entries) - tried - length;
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
    else add_bits(&words.next[v], found);
  }
  if (__any_sync(ALL_LANES, found != 0) && lane() == 0)
    store_relaxed(&words.touched[v / WARP], u8(1));
}

/// Runs the first half of an expansion: pulls for all groups, and queues the vertices that push.
template <class Offset>
DEVICE void expand_groups(const Graph<Offset> &graph, const Words &words, const Queues &queues,
                          u64 pushing, u64 pulling, u32 *left, i32 *held) {
  const u32 warp = u32(thread_in_grid() / WARP), warps = u32(threads_in_grid() / WARP);
  const u32 groups = u32((graph.vertices + WARP - 1) / WARP);
  Pushers pushers{held, 0};
  for (u32 first = warp; first < groups; first += warps * WARP) {
    const u32 mine = first + lane() * warps;
    const u32 open = mine < groups && pulling ? words.open[mine] : 0;
    const bool pushes = mine < groups && pushing && (words.had[mine] & pushing);
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

/// Runs the second half of an expansion: all warps share the queued work.
template <class Offset>
DEVICE void expand_queued(const Graph<Offset> &graph, const Words &words, const Queues &queues,
                          u64 pushing, u64 pulling, int care) {
  const i64 warp = thread_in_grid() / WARP, warps = threads_in_grid() / WARP;
  const i64 parts = i64(load_relaxed(&queues.counts[0])),
            rows = i64(load_relaxed(&queues.counts[1]));
  for (i64 q = warp; q < parts; q += warps) {
    const u64 item = queues.parts[q];
    const i32 v = i32(u32(item));
    const i64 skip = i64(item >> 32 & 0x7fffffffu) * graph.part;
    if (item & PULLS) {
      // All lanes must use the same value. The lanes' loads may return different values, because
      // other warps add bits in the meantime, so the value of lane 0 is used.
      const u64 missing = shuffle(pulling & ~load_relaxed(&words.next[v]), 0);
      if (!missing) continue;
      const i64 begin = i64(graph.into_ends[v]) + skip;
      pull_part(graph, words, v, begin, least(begin + graph.part, i64(graph.into_ends[v + 1])),
                missing);
    } else {
      const i64 begin = i64(graph.out_ends[v]) + skip;
      const i64 end = least(begin + graph.part, i64(graph.out_ends[v + 1]));
      push_part(graph, words, begin, end, words.fresh[v] & pushing, care);
    }
  }
  // If there are few rows, each warp takes fewer of them at a time, so that more warps have work.
  const i64 each = greatest(i64(1), least(rows / warps, i64(WARP)));
  for (i64 first = warp * each; first < rows; first += warps * each) {
    const i64 mine = first + lane();
    push_rows(graph, words, lane() < each && mine < rows ? queues.rows[mine] : -1, pushing, care);
  }
}

}  // namespace graphla
#endif
