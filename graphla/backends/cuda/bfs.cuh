// Breadth-first search in one launch: the parameters of the kernels, and the push step.
//
// Vertex numbers are those of the graph that the search traverses: the user's numbers, or the new
// numbers of a relabeled plan.
//
// Invariants between two levels:
// - Bit v of the map is set if v's level is at most `level`.
// - Each vertex of the frontier (a vertex whose level is `level`) is represented in one of two
//   ways: it is in the queue, once, or its bits in the two maps differ.
// - The queue is append-only. Each entry is a vertex, and the edges out of all queued vertices are
//   numbered in queue order; the number of an edge is its slot. One word contains the number of
//   entries and the number of slots, so one atomic claims the position of an entry and the slots of
//   its edges. Since each entry stores its first slot, a binary search divides the edges evenly.
// - Slots are counted in units of 2^unit edges, so that the count fits in 32 bits. Each row begins
//   at a new unit. A unit is one edge if there are fewer than 2^31 edges, otherwise 16 edges.
#ifndef GRAPHLA_BFS
#define GRAPHLA_BFS
#include "collectives.cuh"
#include "persistent.cuh"

namespace graphla {

/// Constants that the host also reads.
enum BfsShape {
  BFS_THREADS = 1024,  // threads per block
  // When block 0 works alone, a row with at most this many entries is read by one thread.
  ALONE_SHORT = 8,
  // If more rows of a level than this are longer than ALONE_SHORT, block 0 does not process the
  // level alone.
  ALONE_LONG = 512,
  SMALL_SUMS_BYTES = 20,  // sizeof(SmallSums)
};
constexpr int BFS_WARPS = BFS_THREADS / WARP;
constexpr u32 DEEP = 254;  // levels from 254 on do not fit in a byte and are stored in `deep`
constexpr u32 UNREACHED = 255;

enum Direction { EITHER = 0, PUSHES = 1, PULLS = 2 };      // whether all levels must push or pull
enum Way { BY_PUSH = 0, BY_PULL = 1, BY_PUSH_ALONE = 2 };  // how a level is processed
enum BfsStatus { TOO_DEEP = FAULT };  // the number of a level does not fit the type of the results

/// Index in `control` of the first set of a level's sums. Three sets of sums are used round-robin:
/// blocks add to the current set, may still read the previous set, and clear the next set.
constexpr int BFS_SUMS = 1;
enum BfsControl {
  // The high 32 bits are the number of vertices queued in this level. The low 32 bits are the
  // number of units of edges out of these vertices.
  QUEUED = 1,
  // A block adds up the five sums FOUND to INTO_LEFT in `totals` in shared memory, before it adds
  // them to `control`.
  FOUND = 2,         // number of vertices found by pulls
  OUT_OF_FOUND = 3,  // number of edges out of the vertices found by pulls, in a directed graph
  INTO_FOUND = 4,    // number of edges into the vertices found by pushes, in a directed graph
  LEFT = 5,          // number of vertices that are still unreached after a pull
  INTO_LEFT = 6,     // number of edges into the vertices that are still unreached after a pull
  IDLE_STARTS = 7,   // number of start vertices without edges
  SAMPLED = 8,       // number of unreached vertices that were sampled to choose the direction
  SAMPLED_HITS = 9,  // number of sampled vertices whose first neighbor was reached
  // After block 0 has worked alone, it stores its state in the words ALONE_LEVEL to ALONE_EDGES,
  // where all blocks read it.
  ALONE_LEVEL = 10,
  ALONE_REACHED = 11,
  ALONE_INTO = 12,
  ALONE_RECORDS = 13,
  ALONE_LONG_ROWS = 14,  // number of queued long rows of a level that block 0 did not finish
  /// Number of units of edges in the queue up to the end of the queued long rows.
  ALONE_LONG_UNITS = 15,
  ALONE_FRONTIER = 16,  // number of vertices in the frontier of the unfinished level
  ALONE_EDGES = 17,     // number of edges out of the frontier of the unfinished level
  BFS_CONTROL = 18
};
static_assert(BFS_SUMS + 3 * BFS_CONTROL <= CONTROL_WORDS, "three sets of sums fit in `control`");

/// The sums of one thread in a level, which are added to control[FOUND] and the words after it.
template <class Slot> struct SumsOf {
  i32 found, left;
  Slot out, into, into_left;
};

/// Returns an estimate of the number of neighbors that a pull reads. It reads one neighbor of each
/// unreached vertex, and further neighbors if the first one is not reached. There are `left`
/// unreached vertices, with `most` edges into them. `part` is the fraction of all edges that lead
/// to reached vertices. In a sample of `open` unreached vertices, `hits` have a reached first
/// neighbor. If hits / open is below `part`, the unreached vertices are mostly connected to each
/// other, so a pull would read most rows to their ends.
DEVICE float looks_of_pull(float left, float most, float part, float open, float hits) {
  float hit = open > 0 ? greatest(hits / open, 1e-4f) : greatest(part, 1e-4f);
  const float misses = 1 - hit, near = least(1.0f, hit / greatest(part, 1e-4f));
  hit *= near * near;
  return least(most, left + misses * least(most, left / hit));
}

/// Returns *p, or an earlier value of *p. A caller that acts on the value must confirm it with an
/// atomic.
DEVICE u32 load_stale(const u32 *p) {
#ifdef GRAPHLA_SIMULATOR
  return load_relaxed(p);
#else
  u32 value;
  asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(p));
  return value;
#endif
}

/// Loads p[0] to p[3]. The pointer p must be aligned to 16 bytes.
DEVICE void load_four(const i32 *p, i32 &a, i32 &b, i32 &c, i32 &d) {
#ifdef GRAPHLA_SIMULATOR
  a = p[0], b = p[1], c = p[2], d = p[3];
#else
  asm("ld.global.nc.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p));
#endif
}

DEVICE bool bit_of(const u32 *map, i32 v) {
  return load_stale(&map[u32(v) / WARP]) >> (v & 31) & 1;
}

DEVICE u32 lanes_before() { return (1u << lane()) - 1; }

template <class Offset> struct unsigned_of {
  typedef u32 type;
};
template <> struct unsigned_of<i64> {
  typedef u64 type;
};

// --- structs that the host passes to the kernels -------------------------------------------------

/// The graph that a search traverses, in its own numbering.
template <class Offset> struct Graph {
  i64 n;                     // vertices
  i64 active;                // only vertices 0..active - 1 have edges
  i64 several;               // only vertices 0..several - 1 may have more than one neighbor
  const Offset *out_indptr;  // the out-edges in CSR form
  const i32 *out_indices;
  const Offset *in_indptr;  // the in-edges in CSR form; null if the search must not pull
  const i32 *in_indices;
  const i32 *first;       // for each vertex, the in-neighbor that a pull reads first; may be null
  const u32 *idle;        // bit map of the vertices without edges, or null
  const i32 *renumbered;  // maps the user's vertex numbers to the graph's numbers; null if both are
                          // the same
  const i32 *old;  // maps the graph's vertex numbers to the user's; null if both are the same
};

/// What the caller requests. Vertices have the numbers that the user gave them.
struct Query {
  const i32 *starts;  // null if there is only one start vertex
  i64 starts_count;
  const bool *flags;  // flags of the mask, or null
  i64 limit;          // maximum level
  i32 start;          // the start vertex, if there is only one
  i32 direction;      // `Direction`
  bool complement;    // whether the mask is complemented
};

/// The arrays for the results, in the user's numbering.
template <class Offset, class Level> struct Answer {
  Level *levels;  // null if levels are not requested
  i32 *parents;   // null if parents are not requested
  bool *present;  // n
  // indptr and indices of the graph whose rows are searched for the parent with the smallest number
  // for each vertex. The pointers are null if the caller accepts any parent.
  const Offset *least_ptr;
  const i32 *least_of;
  bool by_columns;  // true if row v of this graph contains the edges into v; false if it contains
                    // the edges out of v
};

/// The device memory of a search. A pointer is null if the search does not need the array.
template <class Offset> struct State {
  typedef typename unsigned_of<Offset>::type Slot;
  u32 *map, *other_map;  // bit maps of the reached vertices; a pull reads one, writes the other and
                         // then exchanges the two
  u32 *masked;           // bit map of the vertices that must never be reached
  Slot *queue_begin;     // the queue; `Search` describes its four arrays
  u32 *queue_slot;
  i32 *queue_vertex;
  u32 *queue_degree;
  i32 *spill;  // n vertices
  /// In a relabeled graph: the level of each vertex, or DEEP if the level does not fit.
  u8 *bytes;
  i32 *deep;     // in a relabeled graph: the level of each vertex whose entry in `bytes` is DEEP
  i32 *parents;  // in a relabeled graph: the parent of each vertex
};

/// Parameters of a search, most of which decide how small levels are processed.
struct Limits {
  i64 alone_edges;   // maximum number of edges in a level that one block or cluster processes
  i64 grid_edges;    // after a level with more edges, a block or cluster stops working alone
  i32 alone_room;    // capacity of one block's queue, in vertices
  i32 pool;          // size of the lists and queues in dynamic shared memory, in words
  i32 shared_words;  // size of the bit map that follows the pool in shared memory, in words
  i32 unit;          // if offsets have 64 bits, the queue counts edges in units of 2^unit edges
  float push_cost;  // cost of following an edge in a push, relative to reading a neighbor in a pull
};

// --- a search ------------------------------------------------------------------------------------

template <class Offset_, class Level, bool PARENTS> struct Search {
  typedef Offset_ Offset;
  /// The index of an edge if the edges out of all queued vertices are numbered in queue order.
  typedef typename unsigned_of<Offset>::type Slot;
  typedef SumsOf<Slot> Sums;
  static constexpr bool PADDED = sizeof(Offset) == 8, HAS_PARENTS = PARENTS;

  // the graph
  i64 active;
  const Offset *out_ptr, *in_ptr;
  const i32 *out, *in, *first, *old;
  const u32 *fixed;  // bit map of vertices that the search leaves out; may be null
  bool is_masked;    // whether `fixed` contains vertices that a mask forbids
  bool is_directed;
  i32 unit;

  // the queue
  Slot *queue_begin;  // for each queue entry: index of an edge in the graph minus slot of the edge,
                      // which is the same number for all edges of the entry
  u32 *queue_slot;    // for each queue entry: the slot of its first edge, in units of 2^unit edges
  i32 *queue_vertex;
  u32 *queue_degree;  // for each queue entry: the degree of its vertex; used only if PADDED
  i32 *spill;         // vertices that do not fit in the queue of one block
  u32 spill_room;

  // results
  u8 *bytes;
  i32 *deep;
  Level *levels;
  i32 *parents;
  u64 *control;  // the set of BFS_CONTROL control words that contains the sums of this level
  u64 base;      // sum of control[QUEUED] over all levels before this one

  // in shared memory: vertices that the block has found but not yet queued
  i32 *buffer;
  u32 *buffered;
  u32 buffer_room;

  DEVICE Search(const Graph<Offset> &graph, const Query &query, const Answer<Offset, Level> &answer,
                const State<Offset> &state, const Limits &limits, u64 *sums)
      : active(graph.active), out_ptr(graph.out_indptr), in_ptr(graph.in_indptr),
        out(graph.out_indices), in(graph.in_indices), first(graph.first), old(graph.old),
        fixed(query.flags ? state.masked : graph.idle), is_masked(query.flags != nullptr),
        is_directed(graph.in_indptr != graph.out_indptr), unit(limits.unit),
        queue_begin(state.queue_begin), queue_slot(state.queue_slot),
        queue_vertex(state.queue_vertex), queue_degree(state.queue_degree), spill(state.spill),
        spill_room(u32(graph.n)), bytes(state.bytes), deep(state.deep), levels(answer.levels),
        parents(PARENTS && graph.renumbered ? state.parents : answer.parents), control(sums),
        base(0) {}

  DEVICE u32 units(u32 degree) const {
    if constexpr (PADDED) return u32((u64(degree) + (u64(1) << unit) - 1) >> unit);
    else return degree;
  }
  DEVICE Slot slot_of(u32 units) const {
    if constexpr (PADDED) return Slot(units) << unit;
    else return units;
  }

  DEVICE void settle(i32 v, u32 level) const {
    if (bytes) {
      bytes[v] = u8(level < DEEP ? level : DEEP);
      if (level >= DEEP && deep) deep[v] = i32(level);
    } else if (levels) {
      levels[v] = Level(level);
    }
  }
  DEVICE i32 name_of(i32 v) const { return old ? old[v] : v; }
  DEVICE bool is_fixed(i32 v) const { return is_masked && (fixed[u32(v) / WARP] >> (v & 31) & 1); }
  /// Sets the bit of v. Returns whether this thread changed the bit.
  DEVICE static bool sets(u32 *map, i32 v) {
    const u32 bit = 1u << (v & 31);
    return !(atomicOr(&map[u32(v) / WARP], bit) & bit);
  }
  DEVICE Slot edges_into(i32 v) const { return Slot(in_ptr[v + 1] - in_ptr[v]); }

  /// Returns the index of this warp. Warps of the same block have distant indices, so that even a
  /// small amount of work is spread over all blocks.
  DEVICE static i64 warp_in_grid() { return i64(warp_in_block()) * gridDim.x + blockIdx.x; }
  DEVICE static i64 warps_in_grid() { return i64(gridDim.x) * BFS_WARPS; }

  // --- the queue --------------------------------------------------------------------------------

  DEVICE void write_entry(u32 at, u32 slot, i32 v, Offset begin, u32 degree) const {
    queue_begin[at] = Slot(begin) - slot_of(slot);
    queue_slot[at] = slot;
    queue_vertex[at] = v;
    if constexpr (PADDED) queue_degree[at] = degree;
  }

  /// Queues the lane's vertex v if `has` is true. The whole warp must call this.
  DEVICE void enqueue(bool has, i32 v) const {
    const u32 all = __ballot_sync(ALL_LANES, has);
    if (!all) return;
    const Offset begin = has ? out_ptr[v] : 0;
    const u32 degree = has ? u32(out_ptr[v + 1] - begin) : 0;
    const u32 mine = units(degree), slots = warp_inclusive_sum(mine);
    u64 place = 0;
    if (lane() == WARP - 1)
      place = base + atomicAdd(&control[QUEUED], (u64(__popc(all)) << 32) | slots);
    place = shuffle(place, WARP - 1);
    if (has) {
      write_entry(u32(place >> 32) + u32(__popc(all & lanes_before())), u32(place) + slots - mine,
                  v, begin, degree);
    }
  }

  /// Appends v[k] to the block's buffer for each set bit k of `won`. Vertices that do not fit in
  /// the buffer are appended to the queue. The whole warp must call this.
  template <int K> DEVICE void keep(u32 won, const i32 (&v)[K]) const {
    u32 wins[K], total = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      wins[k] = __ballot_sync(ALL_LANES, won >> k & 1);
      total += u32(__popc(wins[k]));
    }
    if (!total) return;
    u32 at = 0;
    if (lane() == 0) at = atomicAdd(buffered, total);
    at = shuffle(at, 0);
    const bool spills = at + total > buffer_room;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const u32 mine = at + u32(__popc(wins[k] & lanes_before()));
      if ((won >> k & 1) && mine < buffer_room) buffer[mine] = v[k];
      if (spills) enqueue((won >> k & 1) && mine >= buffer_room, v[k]);
      at += u32(__popc(wins[k]));
    }
  }

  /// Moves the vertices in the block's buffer to the queue. Each round of the loop moves up to
  /// 4 * BFS_THREADS vertices with one atomic. All threads of the block must call this. `scratch`
  /// is shared memory for WARP + 1 words.
  DEVICE void flush(u32 *scratch, u64 *place, Sums &sums) const {
    __syncthreads();
    const u32 count = least(*buffered, buffer_room);
    constexpr u32 R = 4;  // number of vertices that a thread loads at once
#pragma unroll 1
    for (u32 round = 0; round < count; round += R * BFS_THREADS) {
      const u32 all = least(count - round, R * BFS_THREADS);
      i32 v[R];
      Offset begin[R], end[R];
      u32 mine = 0;
#pragma unroll
      for (u32 r = 0; r < R; ++r) {
        const u32 i = threadIdx.x * R + r;
        begin[r] = end[r] = 0;
        if (i < all) {
          v[r] = buffer[round + i];
          begin[r] = out_ptr[v[r]];
          end[r] = out_ptr[v[r] + 1];
          if (is_directed && in_ptr) sums.into += edges_into(v[r]);
        }
      }
#pragma unroll
      for (u32 r = 0; r < R; ++r) mine += units(u32(end[r] - begin[r]));
      u32 total;
      u32 slot = block_exclusive_sum(mine, scratch, total);
      if (threadIdx.x == 0) *place = base + atomicAdd(&control[QUEUED], (u64(all) << 32) | total);
      __syncthreads();
      slot += u32(*place);
#pragma unroll
      for (u32 r = 0; r < R; ++r) {
        const u32 i = threadIdx.x * R + r;
        if (i < all)
          write_entry(u32(*place >> 32) + i, slot, v[r], begin[r], u32(end[r] - begin[r]));
        slot += units(u32(end[r] - begin[r]));
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) *buffered = 0;
  }

  // --- a push in which all blocks take part -----------------------------------------------------

  /// Follows K edges per lane: for each set bit k of `valid`, the edge from[k] -> v[k]. Marks the
  /// unreached vertices as reached, and adds them to the block's buffer for the queue. The whole
  /// warp must call this.
  template <int K>
  DEVICE void follow(u32 *map, u32 level, u32 valid, const i32 (&v)[K],
                     const i32 (&from)[K]) const {
    u32 open = 0, won = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if ((valid >> k & 1) && !bit_of(map, v[k]) && !is_fixed(v[k])) open |= 1u << k;
    }
    if (!__any_sync(ALL_LANES, open != 0)) return;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      // Load the words of the map again, because other threads may have set the bits since the
      // first load. This is likely if many edges lead to few vertices, and saves most atomics then.
      const u32 now = open >> k & 1 ? load_relaxed(&map[u32(v[k]) / WARP]) : ~0u;
      if (!(now >> (v[k] & 31) & 1) && sets(map, v[k])) won |= 1u << k;
    }
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (!(won >> k & 1)) continue;
      settle(v[k], level);
      if constexpr (PARENTS) parents[v[k]] = name_of(from[k]);
    }
    keep<K>(won, v);
  }

  /// Follows the edges out of the vertices in the queue's entries first_entry..last_entry - 1.
  /// These edges occupy the units units_first..units_last - 1 of the queue.
  DEVICE void push(u32 *map, u32 level, u32 first_entry, u32 last_entry, u32 units_first,
                   u32 units_last) const {
    constexpr int K = 2;
    const u32 most = units_last - units_first;
    u32 share = (most - 1) / u32(warps_in_grid()) + 1;
    if (!PADDED) share = (share + WARP - 1) / WARP * WARP;
    const u64 ahead = u64(warp_in_grid()) * share;
    if (ahead >= most) return;
    const u32 begin_unit = units_first + u32(ahead);
    Slot edge = slot_of(begin_unit);
    const Slot end = slot_of(begin_unit + least(share, most - u32(ahead))),
               last = slot_of(units_last);
    u32 at = warp_partition_point(first_entry, last_entry, [&](u32 k) {
      return queue_slot[k] <= begin_unit;
    }) - 1;
    while (edge < end) {
      // Each lane loads an entry of the queue. This iteration processes the edges of the entries of
      // lanes 0 to 30. The first slot of the last lane's entry is only the end of lane 30's entry.
      const u32 entry = at + u32(lane());
      const bool is_there = entry < last_entry;
      const Slot slot = is_there ? slot_of(queue_slot[entry]) : last;
      const Slot begin = is_there ? queue_begin[entry] : 0;
      u32 degree = 0;
      if constexpr (PADDED) degree = is_there ? queue_degree[entry] : 0;
      i32 vertex = 0;
      if constexpr (PARENTS) vertex = is_there ? queue_vertex[entry] : 0;
      const Slot until = least(end, shuffle(slot, WARP - 1));
      at += WARP - 1;
      for (; edge < until; edge += K * WARP) {
        i32 v[K], from[K];
        u32 valid = 0;
#pragma unroll
        for (int k = 0; k < K; ++k) {
          const Slot mine = edge + Slot(k * WARP + lane());
          int of = 0;
#pragma unroll
          for (int step = WARP / 2; step; step /= 2) {
            const Slot there = shuffle(slot, of + step);
            if (there <= mine) of += step;
          }
          const Slot row = shuffle(begin, of);
          bool is_edge = mine < until;
          if constexpr (PADDED) is_edge &= mine - shuffle(slot, of) < shuffle(degree, of);
          from[k] = 0;
          if constexpr (PARENTS) from[k] = shuffle(vertex, of);
          v[k] = is_edge ? out[row + mine] : 0;
          valid |= u32(is_edge) << k;
        }
        follow<K>(map, level, valid, v, from);
      }
      edge = until < edge ? until : edge;
    }
  }

  /// Samples the first neighbors of the unreached vertices in one word of the map. A hash of
  /// `which` selects the word.
  DEVICE void sample(const u32 *map, u32 which) const {
    const i64 words = (active + WARP - 1) / WARP;
    const i64 word = i64((which * 2654435761u >> 4) % u32(words));
    const i64 v = word * WARP + lane();
    const u32 closed = load_stale(&map[word]) | (fixed ? fixed[word] : 0);
    const bool is_open = v < active && !(closed >> lane() & 1);
    i32 u = -1;
    if (is_open) u = first ? first[v] : in_ptr[v] < in_ptr[v + 1] ? in[in_ptr[v]] : -1;
    const u32 open = __ballot_sync(ALL_LANES, is_open);
    const u32 hits = __ballot_sync(ALL_LANES, u >= 0 && bit_of(map, u));
    if (lane() == 0 && open) {
      atomicAdd(&control[SAMPLED], u64(__popc(open)));
      if (hits) atomicAdd(&control[SAMPLED_HITS], u64(__popc(hits)));
    }
  }

  /// Queues the vertices whose bits differ between the two maps.
  DEVICE void collect(const u32 *before, const u32 *after) const {
    const i64 words = (active + WARP - 1) / WARP;
    for (i64 base = warp_in_grid() * WARP; base < words; base += warps_in_grid() * WARP) {
      const i64 word = base + lane();
      const u32 mine = word < words ? before[word] ^ after[word] : 0;
      for (u32 some = __ballot_sync(ALL_LANES, mine != 0); some; some &= some - 1) {
        const int which = __ffs(int(some)) - 1;
        const i32 v[1] = {i32((base + which) * WARP + lane())};
        keep<1>(shuffle(mine, which) >> lane() & 1, v);
      }
    }
  }
};

}  // namespace graphla
#endif
