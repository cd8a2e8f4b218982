// Betweenness by the algorithm of U. Brandes (2001). One launch computes the dependencies of the
// given sources on every vertex (or edge), and sums them over the sources.
//
// The search from each source makes two passes over the vertices that it reaches:
//   forward   sigma(w) = sum of sigma(v) over edges v -> w to the next level. This is the number of
//             shortest paths from the source to w.
//   backward  share(v) = 1 / sigma(v) + sum of share(w) over edges v -> w to the next level. The
//             dependency of the source on v is sigma(v) * share(v) - 1.
//
// If edges have lengths, the distances from the source are computed before the launch. An edge
// v -> w then lies on a shortest path if its length is distance(w) - distance(v). A vertex is added
// to the next level as soon as all edges into it that lie on shortest paths have been counted.
//
// A team of blocks processes one source at a time. A team is one block if there are many sources,
// and the whole grid if there is one source. When a vertex is reached, its row is queued in parts
// of at most PART edges, so the queue contains the levels in order. A warp takes up to 32 parts at
// once. Its lanes share the edges of these parts evenly, regardless of the rows that the edges
// belong to.
//
// The first block of a team processes small levels alone. These levels need no team barrier, and
// the block keeps the length of the queue in shared memory. The whole team takes over again at the
// first level with too many parts or edges. In the backward pass, each level is processed by the
// same blocks as in the forward pass: by the whole team, or by the first block alone.
//
// Race: several threads may see that the level of a vertex is unset. Each of these threads then
// tries a compare-and-swap, and the one that succeeds queues the vertex.
//
#include "collectives.cuh"
#include "persistent.cuh"

namespace graphla {

constexpr int TEAM_BLOCK = BetweennessTuning::block;
constexpr int PART = BetweennessTuning::part;  // maximum number of edges in a part
constexpr int TEAM_WORDS = BetweennessTuning::team_words;
constexpr int AHEAD = 4;  // number of loads of edges that each lane keeps in flight

/// Indices of the words through which the blocks of a team communicate. The words are in device
/// memory, and initially zero. After the first block has processed levels alone, it stores the
/// state of the search in the words TEAM_BEGIN to TEAM_LEVEL for the other blocks.
enum TeamWord {
  TEAM_TICKETS = 0,
  TEAM_SOURCE = 1,
  TEAM_QUEUED = 2,
  TEAM_BEGIN = 3,
  TEAM_END = 4,
  TEAM_DEPTH = 5,
  TEAM_LEVEL = 6
};

/// Flag bit that is set in the end of a level if the team's first block processed the level alone.
constexpr u64 IS_ALONE = u64(1) << 63;

/// Whether dependencies are summed for vertices only, or for edges as well.
enum Summed { OF_VERTICES = 0, OF_EDGES = 1 };

/// Prefetches the memory at p into the L2 cache.
DEVICE void fetch_ahead(const void *p) {
#ifndef GRAPHLA_SIMULATOR
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#endif
}

/// How the kernel tells which edges lie on shortest paths from the source. BY_LEVELS: the edges
/// that lead from one level to the next. BY_LENGTHS: the edges v -> w whose length is
/// distance(w) - distance(v).
enum Told { BY_LEVELS = 0, BY_LENGTHS = 1 };

/// The graph in CSR form. Vertices numbered `vertices` or higher have no edges.
template <class Offset> struct Network {
  i64 vertices;
  const Offset *ends;  // indptr
  const i32 *out;
  const double *lengths;  // one length per edge, or one for all edges if `stride` is 0
  i64 stride;
  /// Distances from the source; NaN for vertices that the source does not reach.
  const double *distances;
};

/// The sources, in the user's numbering.
struct Sources {
  i64 count;
  const i32 *sources;
  const i32 *renumbered;  // maps the user's vertex numbers to the graph's numbers, or null
};

/// The device memory of all teams. In each array, the sections of the teams follow one another.
struct Memory {
  u32 team_size;   // number of blocks per team
  i64 room;        // capacity of each queue, in parts
  u64 *words;      // TEAM_WORDS words for each team (see TeamWord), initially zero
  i32 *levels;     // for each team, the level of each vertex, initially -1
  double *sigmas;  // for each team, the number of shortest paths to each vertex, initially zero
  double *shares;  // for each team, share(v) of each vertex v, initially zero
  u64 *queues;
  u64 *level_ends;  // the ends of the levels in the queues: `vertices` + 2 elements for each team
};

/// The first block of a team starts to work alone at a level with at most `few_parts` parts. It
/// also processes the next level alone if that level (a) has at most `few_parts` parts, or (b) has
/// at most `alone_parts` parts and at most `alone_edges` edges. `few_parts` and `alone_parts` must
/// not exceed TEAM_BLOCK.
struct Limits {
  u32 few_parts, alone_parts, alone_edges;
};

/// The output arrays. The kernel adds to the values that these arrays contain.
struct Sums {
  double *totals;    // per vertex: the sum of the sources' dependencies on it
  double *of_edges;  // per entry of the matrix: the sum of the sources' dependencies on the edge
  /// Per vertex: the number of other vertices among the sources that reach it. May be null.
  i64 *reached;
  i64 *counts;  // per source: the number of vertices that it reaches
};

/// Indices of words in `control`. NEXT_SOURCE is the index of the next source to process.
/// IS_STOPPED is a flag that is set when the kernel has been asked to stop.
enum BrandesControl { NEXT_SOURCE = 1, IS_STOPPED = 2 };

/// The blocks that process a source together.
struct Team {
  u64 *word;
  u32 number, blocks, rank, due;

  DEVICE Team(u64 *words, u32 size)
      : word(words + u64(blockIdx.x / size) * TEAM_WORDS), number(blockIdx.x / size), blocks(size),
        rank(blockIdx.x % size), due(0) {}

  /// Waits for all threads of the team. Afterwards, each thread sees what the other threads have
  /// stored.
  DEVICE void meet() {
    __syncthreads();
    if (blocks == 1) return;
    due += blocks;
    if (threadIdx.x == 0) {
      add_released(word, u64(1));
      for (int polls = 0; i32(u32(load_acquired(word)) - due) < 0; ++polls)
        __nanosleep(polls < EAGER ? 20 : 200);
    }
    __syncthreads();
  }
  /// A wait polls this many times at short intervals. After that the intervals become longer. Only
  /// waits for a block that works alone take longer than that.
  static constexpr int EAGER = 64;

  DEVICE u32 warp() const { return rank * (TEAM_BLOCK / WARP) + u32(warp_in_block()); }
  DEVICE u32 warps() const { return blocks * (TEAM_BLOCK / WARP); }
  DEVICE u64 thread() const { return u64(rank) * TEAM_BLOCK + threadIdx.x; }
  DEVICE u64 threads() const { return u64(blocks) * TEAM_BLOCK; }
};

/// The graph, and the team's data about the shortest paths from the current source.
template <class Offset> struct Paths {
  const Offset *ends;  // indptr
  const i32 *out;
  const double *lengths;  // one length per edge, or one for all edges if `stride` is 0
  i64 stride;
  /// Distances from the source; NaN for vertices that the source does not reach.
  const double *distances;
  /// The level of each vertex that has been reached. For any other vertex the element is -1 - k,
  /// where k is 0 if edges have no lengths. If edges have lengths, k counts the edges into the
  /// vertex that lie on shortest paths and have not been processed yet.
  i32 *levels;
  /// sigma(v) and share(v) of each vertex v, or zero if v has not been reached. The term 1 /
  /// sigma(v) is added to share(v) only when the backward pass finishes the level of v.
  double *sigma, *share;
  u64 *queue;     // part << 32 | vertex
  u32 *queued;    // number of parts in the queue
  u32 *edges;     // total degree of the vertices queued during a small level; in shared memory
  bool is_small;  // whether one block of a larger team processes this level alone
};

/// The part of a row that a lane has taken from the queue.
template <class Offset> struct Taken {
  u32 v;
  Offset begin;  // an edge's index in the graph minus its number in the batch
  u32 end;       // total number of edges in the parts of this lane and all earlier lanes
  bool is_there;
  double distance;
};

/// Returns whether an edge v -> w is the last edge of a shortest path to w. `distance` is the
/// distance of v.
template <class Offset>
DEVICE bool is_tight(const Paths<Offset> &paths, double distance, i32 w, Offset place) {
  const double there = paths.distances[w];
  return distance < there && distance + paths.lengths[i64(place) * paths.stride] == there;
}

/// Takes `count` parts of the queue, and returns part `first` + l to lane l. Lanes with
/// l >= `count` get an empty part. Every lane must call this.
template <int TOLD, class Offset>
DEVICE Taken<Offset> take(const Paths<Offset> &paths, u64 first, int count) {
  Taken<Offset> mine{0, 0, 0, lane() < count, 0};
  Offset begin = 0, end = 0;
  if (mine.is_there) {
    const u64 item = paths.queue[first + lane()];
    mine.v = u32(item);
    begin = paths.ends[mine.v] + Offset(item >> 32) * PART;
    end = least(paths.ends[mine.v + 1], Offset(begin + PART));
    if constexpr (TOLD == BY_LENGTHS) mine.distance = paths.distances[mine.v];
  }
  const u32 length = u32(end - begin);
  mine.end = warp_inclusive_sum(length);
  mine.begin = begin - Offset(mine.end - length);
  return mine;
}

/// Returns how many parts a warp takes at once: an even share of all parts, but at most 32.
DEVICE int batch_of(u64 parts, u32 warps) {
  const u64 each = (parts + warps - 1) / warps;
  return int(least(each, u64(WARP)));
}

/// Queues the vertices that this lane has reached for the first time: each w[k] for which bit k of
/// `is_new` is set. Every lane must call this.
template <int K, class Offset>
DEVICE void enqueue(const Paths<Offset> &paths, const i32 (&w)[K], u32 is_new) {
  // A vertex adds at most MOST to `edges`, so that the sum over a level fits in 32 bits. This is
  // exact enough, because MOST exceeds the limit with which the sum is compared.
  constexpr u32 MOST = 1u << 17;
  if (!__any_sync(ALL_LANES, is_new != 0)) return;
  u32 parts[K], mine = 0;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    parts[k] = 0;
    if (is_new >> k & 1) {
      const Offset length = paths.ends[w[k] + 1] - paths.ends[w[k]];
      parts[k] = u32(greatest((length + PART - 1) / PART, Offset(1)));
      if (paths.is_small) {
        atomicAdd(paths.edges, u32(least(length, Offset(MOST))));
        fetch_ahead(&paths.out[paths.ends[w[k]]]);
      }
    }
    mine += parts[k];
  }
  const u32 through = warp_inclusive_sum(mine);
  u32 first = 0;
  if (lane() == WARP - 1) first = atomicAdd(paths.queued, through);
  u64 *place = paths.queue + (shuffle(first, WARP - 1) + (through - mine));
#pragma unroll
  for (int k = 0; k < K; ++k) {
    for (u32 part = 0; part < parts[k]; ++part) *place++ = u64(part) << 32 | u32(w[k]);
  }
}

/// Follows the edges in parts begin..end - 1 of the queue. These parts belong to the vertices of
/// level `level`. Counts the shortest paths to the vertices of the next level, and queues each
/// vertex that is reached for the first time.
template <int TOLD, class Offset>
DEVICE void count_paths(const Paths<Offset> &paths, const Team &team, u64 begin, u64 end,
                        i32 level) {
  const int batch = batch_of(end - begin, team.warps());
  for (u64 first = begin + u64(team.warp()) * batch; first < end;
       first += u64(team.warps()) * batch) {
    const Taken<Offset> mine = take<TOLD>(paths, first, int(least(end - first, u64(batch))));
    const double sigma = mine.is_there ? paths.sigma[mine.v] : 0;
    const u32 edges = __shfl_sync(ALL_LANES, mine.end, WARP - 1);
    for (u32 base = 0; base < edges; base += AHEAD * WARP) {
      i32 w[AHEAD], at[AHEAD];
      double paths_here[AHEAD];
      for (int k = 0; k < AHEAD; ++k) {
        const u32 edge = base + u32(k * WARP + lane());
        const int row = row_of_edge(mine.end, least(edge, edges - 1));
        const Offset place = shuffle(mine.begin, row);
        paths_here[k] = shuffle(sigma, row);
        w[k] = edge < edges ? paths.out[place + Offset(edge)] : -1;
        if constexpr (TOLD == BY_LENGTHS) {
          const double distance = shuffle(mine.distance, row);
          if (w[k] >= 0 && !is_tight(paths, distance, w[k], place + Offset(edge))) w[k] = -1;
        }
      }
      if constexpr (TOLD == BY_LEVELS) {
        for (int k = 0; k < AHEAD; ++k) at[k] = w[k] >= 0 ? load_relaxed(&paths.levels[w[k]]) : 0;
      }
      u32 is_new = 0;
      for (int k = 0; k < AHEAD; ++k) {
        if constexpr (TOLD == BY_LENGTHS) {
          if (w[k] >= 0) at[k] = atomicAdd(&paths.levels[w[k]], 1);
        } else if (w[k] >= 0 && at[k] < 0) {
          at[k] = atomicCAS(&paths.levels[w[k]], -1, level + 1);
        }
      }
      for (int k = 0; k < AHEAD; ++k) {
        if (w[k] < 0) continue;
        if constexpr (TOLD == BY_LENGTHS) {
          if (at[k] == -2) {
            is_new |= 1u << k;
            store_relaxed(&paths.levels[w[k]], level + 1);
          }
          atomicAdd(&paths.sigma[w[k]], paths_here[k]);
        } else {
          if (at[k] < 0) is_new |= 1u << k;
          if (at[k] < 0 || at[k] == level + 1) atomicAdd(&paths.sigma[w[k]], paths_here[k]);
        }
      }
      enqueue<AHEAD>(paths, w, is_new);
    }
  }
}

/// Queues all vertices whose distance is not NaN, so that `count_edges` visits their edges.
template <class Offset>
DEVICE void await_edges(const Paths<Offset> &paths, const Team &team, i64 vertices) {
  for (i64 first = i64(team.warp()) * WARP; first < vertices; first += i64(team.warps()) * WARP) {
    const i64 v = first + lane();
    const i32 reached[1] = {i32(v)};
    enqueue<1>(paths, reached, v < vertices && paths.distances[v] == paths.distances[v]);
  }
}

/// Counts, for each vertex, the edges into it that lie on shortest paths. The count is stored in
/// `levels`: each such edge lowers the element of its target vertex by 1 (see `Paths::levels`).
template <class Offset>
DEVICE void count_edges(const Paths<Offset> &paths, const Team &team, u64 end) {
  const int batch = batch_of(end, team.warps());
  for (u64 first = u64(team.warp()) * batch; first < end; first += u64(team.warps()) * batch) {
    const Taken<Offset> mine = take<BY_LENGTHS>(paths, first, int(least(end - first, u64(batch))));
    const u32 edges = __shfl_sync(ALL_LANES, mine.end, WARP - 1);
    for (u32 base = 0; base < edges; base += WARP) {
      const u32 edge = base + u32(lane());
      const int row = row_of_edge(mine.end, least(edge, edges - 1));
      const Offset place = shuffle(mine.begin, row) + Offset(edge);
      const double distance = shuffle(mine.distance, row);
      if (edge >= edges) continue;
      const i32 w = paths.out[place];
      if (is_tight(paths, distance, w, place)) atomicAdd(&paths.levels[w], -1);
    }
  }
}

/// Returns the sum of x over this lane and the earlier lanes that have the same row.
DEVICE double sum_in_row(double x, int row) {
  for (int delta = 1; delta < WARP; delta *= 2) {
    const double before = shuffle_up(x, delta);
    const int its_row = shuffle_up(row, delta);
    if (lane() >= delta && its_row == row) x += before;
  }
  return x;
}

/// Processes one level in the backward pass: follows the edges in parts begin..end - 1 of the queue
/// again. For each edge on a shortest path, adds the share of its target to the share of its
/// source.
template <int TOLD, int SUMMED, class Offset>
DEVICE void sum_shares(const Paths<Offset> &paths, const Team &team, u64 begin, u64 end, i32 level,
                       const Sums &sums) {
  const int batch = batch_of(end - begin, team.warps());
  for (u64 first = begin + u64(team.warp()) * batch; first < end;
       first += u64(team.warps()) * batch) {
    const Taken<Offset> mine = take<TOLD>(paths, first, int(least(end - first, u64(batch))));
    double sigma = 0, sum = 0;
    if (SUMMED == OF_EDGES && mine.is_there) sigma = paths.sigma[mine.v];
    const u32 edges = __shfl_sync(ALL_LANES, mine.end, WARP - 1);
    const u32 before = shuffle_up(mine.end, 1), start = lane() ? before : 0;
    for (u32 base = 0; base < edges; base += AHEAD * WARP) {
      i32 w[AHEAD];
      int row[AHEAD];
      Offset place[AHEAD];
      double share[AHEAD];
      for (int k = 0; k < AHEAD; ++k) {
        const u32 edge = base + u32(k * WARP + lane());
        row[k] = row_of_edge(mine.end, least(edge, edges - 1));
        place[k] = shuffle(mine.begin, row[k]) + Offset(edge);
        w[k] = edge < edges ? paths.out[place[k]] : -1;
        if constexpr (TOLD == BY_LENGTHS) {
          const double distance = shuffle(mine.distance, row[k]);
          if (w[k] >= 0 && !is_tight(paths, distance, w[k], place[k])) w[k] = -1;
        }
      }
      for (int k = 0; k < AHEAD; ++k) {
        const bool is_on = w[k] >= 0 && (TOLD == BY_LENGTHS || paths.levels[w[k]] == level + 1);
        share[k] = is_on ? paths.share[w[k]] : 0;
      }
      for (int k = 0; k < AHEAD; ++k) {
        if constexpr (SUMMED == OF_EDGES) {
          const double its_sigma = shuffle(sigma, row[k]);
          if (share[k] > 0) atomicAdd(&sums.of_edges[place[k]], its_sigma * share[k]);
        }
        const u32 from = base + u32(k * WARP), to = from + WARP;
        const double through = sum_in_row(share[k], row[k]);
        // `last` is the smaller of two ends: the end of this lane's part, and the end of the range
        // of WARP edges that this iteration processes.
        const u32 last = least(mine.end, to);
        const double found = shuffle(through, last > from ? int(last - 1 - from) : 0);
        if (start < to && mine.end > from && mine.end > start) sum += found;
      }
    }
    if (mine.is_there && sum > 0) atomicAdd(&paths.share[mine.v], sum);
  }
}

/// Adds the dependency of the source on v to the totals, and sets share(v), which the predecessors
/// of v read. The sum over the edges out of v must be complete.
template <class Offset>
DEVICE void finish_vertex(const Paths<Offset> &paths, i32 v, double sigma, i32 source,
                          const Sums &sums) {
  const double sum = paths.share[v];
  paths.share[v] = 1 / sigma + sum;
  if (v == source) return;
  if (sum > 0) atomicAdd(&sums.totals[v], sigma * sum);
  if (sums.reached) atomicAdd((u64 *)&sums.reached[v], u64(1));
}

/// Calls `finish_vertex` for every vertex of a level. The sums of the level must be complete.
template <class Offset>
DEVICE void finish(const Paths<Offset> &paths, const Team &team, u64 begin, u64 end, i32 source,
                   const Sums &sums) {
  for (u64 k = begin + team.thread(); k < end; k += team.threads()) {
    const u64 item = paths.queue[k];
    if (item >> 32) continue;  // visit each vertex once, at its first part
    const i32 v = i32(u32(item));
    finish_vertex(paths, v, paths.sigma[v], source, sums);
  }
}

/// Lets the first block of a larger team process a small level alone. First, each thread writes
/// the bounds of one part of the queue to shared memory. Then each thread takes one edge at a time.
/// Since no warp has to process many edges in sequence, chains of dependent memory accesses are
/// short.
template <class Offset> struct SmallLevel {
  // The vertex of each part. The arrays from `vertex` to `sigma` are in shared memory, with one
  // element per part.
  u32 *vertex;
  u32 *end;       // total number of edges in this part and all parts before it
  Offset *begin;  // an edge's index in the graph minus its number in the level
  double *sigma;  // number of shortest paths to the vertex of the part
  u32 *scratch;   // shared memory for a block scan, WARP + 1 words
  static constexpr u32 ROOM = TEAM_BLOCK;

  /// Stores the bounds of the parts first..first + count - 1 of the queue in shared memory. Returns
  /// the total number of their edges.
  DEVICE u32 list(const Paths<Offset> &paths, u64 first, u32 count) const {
    const u32 mine = threadIdx.x;
    Offset from = 0;
    u32 length = 0, edges;
    if (mine < count) {
      const u64 item = paths.queue[first + mine];
      const u32 v = u32(item);
      from = paths.ends[v] + Offset(item >> 32) * PART;
      length = u32(least(paths.ends[v + 1], Offset(from + PART)) - from);
      vertex[mine] = v;
      sigma[mine] = paths.sigma[v];
    }
    const u32 before = block_exclusive_sum(length, scratch, edges);
    if (mine < count) end[mine] = before + length, begin[mine] = from - Offset(before);
    __syncthreads();
    return edges;
  }

  DEVICE void count_paths(const Paths<Offset> &paths, u64 first, u32 count, i32 level) const {
    const u32 edges = list(paths, first, count);
    for (u32 base = u32(warp_in_block()) * WARP; base < edges; base += TEAM_BLOCK) {
      const u32 edge = base + u32(lane());
      i32 w[1] = {-1};
      bool is_new = false;
      if (edge < edges) {
        const u32 row = upper_bound<u32, u32>(end, 0, count, edge);
        w[0] = paths.out[begin[row] + Offset(edge)];
        fetch_ahead(&paths.ends[w[0]]);
        i32 at = load_relaxed(&paths.levels[w[0]]);
        if (at < 0) {
          at = atomicCAS(&paths.levels[w[0]], -1, level + 1);
          is_new = at < 0;
        }
        if (is_new || at == level + 1) atomicAdd(&paths.sigma[w[0]], sigma[row]);
      }
      enqueue<1>(paths, w, is_new);
    }
  }

  template <int SUMMED>
  DEVICE void sum_shares(const Paths<Offset> &paths, u64 first, u32 count, i32 level, bool is_last,
                         i32 source, const Sums &sums) const {
    const u32 mine = threadIdx.x;
    const bool is_first_part = mine < count && !(paths.queue[first + mine] >> 32);
    const u32 edges = list(paths, first, is_last ? 0 : count);
    for (u32 base = u32(warp_in_block()) * WARP; base < edges; base += TEAM_BLOCK) {
      const u32 edge = base + u32(lane());
      // A lane without an edge keeps `count`, which is not the index of any part.
      int row = int(count);
      double share = 0;
      if (edge < edges) {
        row = int(upper_bound<u32, u32>(end, 0, count, edge));
        const Offset place = begin[row] + Offset(edge);
        const i32 w = paths.out[place];
        const i32 at = paths.levels[w];
        const double its_share =
            paths.share[w];  // a load without a condition overlaps the load of `at`
        if (at == level + 1) share = its_share;
        if (SUMMED == OF_EDGES && share > 0) atomicAdd(&sums.of_edges[place], sigma[row] * share);
      }
      const double sum = sum_in_row(share, row);
      const int next = __shfl_down_sync(ALL_LANES, row, 1);
      if ((lane() == WARP - 1 || next != row) && sum > 0) atomicAdd(&paths.share[vertex[row]], sum);
    }
    __syncthreads();
    if (is_first_part) {
      const i32 v = i32(is_last ? u32(paths.queue[first + mine]) : vertex[mine]);
      finish_vertex(paths, v, is_last ? paths.sigma[v] : sigma[mine], source, sums);
    }
    __syncthreads();
  }
};

/// Resets the state of all vertices that the team reached, and adds their number to `count`.
template <class Offset>
DEVICE void forget(const Paths<Offset> &paths, const Team &team, u64 end, u64 *count) {
  u32 vertices = 0;
  for (u64 k = team.thread(); k < end; k += team.threads()) {
    const u64 item = paths.queue[k];
    if (item >> 32) continue;  // visit each vertex once, at its first part
    const i32 v = i32(u32(item));
    paths.levels[v] = -1;
    paths.sigma[v] = paths.share[v] = 0;
    ++vertices;
  }
  const u32 all = warp_inclusive_sum(vertices);
  if (lane() == WARP - 1 && all) atomicAdd(count, u64(all));
}

/// The work of one team. The team takes one source after another. For each source it makes the
/// forward pass and then the backward pass.
template <class Offset, int TOLD, int SUMMED> struct Course {
  const Network<Offset> &network;
  const SmallLevel<Offset> &small;
  const Limits &limits;
  const Sums &sums;
  u32 team_size;
  Team &team;
  Paths<Offset> &paths;
  u32 *queued;  // number of parts in the team's queue
  /// Three words in shared memory, used while one block works alone. alone[0] is the number of
  /// parts in the queue. alone[1] and alone[2] are the total degree of the vertices queued during a
  /// level: alone[1] for even levels and alone[2] for odd levels.
  u32 *alone;
  u64 *stops;  // stops[k] and stops[k + 1] are the begin and the end of level k in the queue

  i32 source = 0;
  i32 depth = 0;           // number of levels processed so far
  u64 begin = 0, end = 0;  // the current level consists of parts begin..end - 1 of the queue

  /// Returns whether this is the first thread of the team.
  DEVICE bool leads() const { return team.rank == 0 && threadIdx.x == 0; }

  /// Takes the next source. Returns its index in the list of sources, or `count` if no source is
  /// left.
  DEVICE u64 next_turn(u64 *control, StopFlag &flag, i64 count) {
    if (leads()) {
      const bool stops_here = flag.is_up();
      if (stops_here) store_relaxed(&control[IS_STOPPED], u64(1));
      const u64 next = stops_here ? u64(count) : atomicAdd(&control[NEXT_SOURCE], u64(1));
      store_relaxed(&team.word[TEAM_SOURCE], next);
      store_relaxed(queued, 0u);
    }
    team.meet();
    return load_relaxed(&team.word[TEAM_SOURCE]);
  }

  /// Queues the source. If edges have lengths, first counts the edges on shortest paths into each
  /// vertex.
  DEVICE void start() {
    if constexpr (TOLD == BY_LENGTHS) {
      await_edges(paths, team, network.vertices);
      team.meet();
      count_edges(paths, team, load_relaxed(queued));
      team.meet();
      if (leads()) store_relaxed(queued, 0u);
      team.meet();
    }
    if (team.warp() == 0) {
      if (lane() == 0) {
        store_relaxed(&paths.levels[source], 0);
        paths.sigma[source] = 1;
        stops[0] = 0;
      }
      const i32 first[1] = {source};
      enqueue<1>(paths, first, lane() == 0);
    }
    team.meet();
    depth = 0;
    begin = 0;
    end = load_relaxed(queued);
  }

  // --- forward -----------------------------------------------------------------------------------

  /// Processes the current level in the forward pass: counts the shortest paths to the vertices of
  /// the next level. Returns true if there is a next level and the same blocks should process it.
  DEVICE bool take_level(bool is_alone) {
    if (leads()) stops[depth + 1] = end | (is_alone ? IS_ALONE : 0);
    u32 *const edges = &alone[1 + (depth & 1)];
    paths.edges = edges;
    if (TOLD == BY_LEVELS && paths.is_small)
      small.count_paths(paths, begin, u32(end - begin), depth);
    else count_paths<TOLD>(paths, team, begin, end, depth);
    team.meet();
    begin = end;
    end = load_relaxed(paths.queued);
    // Decide which blocks process the next level. If one block worked alone, `team` consists of
    // this block only. Its counters are in shared memory, because other blocks may still be reading
    // the counters in device memory.
    bool is_few = end - begin <= limits.few_parts;
    if (is_alone)
      is_few |= end - begin <= limits.alone_parts && load_relaxed(edges) <= limits.alone_edges;
    if (paths.is_small && threadIdx.x == 0) alone[2 - (depth & 1)] = 0;
    ++depth;
    team.meet();  // no thread may add to the counts before all threads have read them
    return begin < end && (team_size == 1 || is_few == is_alone);
  }

  DEVICE void split() {
    if (threadIdx.x == 0) alone[0] = u32(end), alone[1] = alone[2] = 0;
    team.blocks = 1, paths.queued = alone, paths.is_small = team_size > 1;
    __syncthreads();
  }

  /// Stores the state that the first block reached while it worked alone, so that the whole team
  /// can read it.
  DEVICE void rejoin() {
    team.blocks = team_size, paths.queued = queued, paths.is_small = false;
    if (leads()) {
      store_relaxed(queued, u32(end));
      store_relaxed(&team.word[TEAM_BEGIN], begin), store_relaxed(&team.word[TEAM_END], end);
      store_relaxed(&team.word[TEAM_DEPTH], u64(depth));
    }
    team.meet();
    begin = load_relaxed(&team.word[TEAM_BEGIN]), end = load_relaxed(&team.word[TEAM_END]);
    depth = i32(load_relaxed(&team.word[TEAM_DEPTH]));
  }

  DEVICE void count_all() {
    while (begin < end) {
      const bool is_alone = team_size == 1 || end - begin <= limits.few_parts;
      bool goes_on = true;
      if (is_alone) split();
      while (goes_on && (!is_alone || team.rank == 0)) goes_on = take_level(is_alone);
      if (is_alone) rejoin();
    }
  }

  // --- backward ----------------------------------------------------------------------------------

  /// Processes one level in the backward pass: computes the dependencies of the vertices of level
  /// `level`. The rows of these vertices are parts from..to - 1 of the queue.
  DEVICE void sum_level(i32 level, u64 from, u64 to) {
    const bool is_last = level == depth - 1;
    if (TOLD == BY_LEVELS && paths.is_small) {
      small.template sum_shares<SUMMED>(paths, from, u32(to - from), level, is_last, source, sums);
      return;
    }
    if (!is_last) {
      sum_shares<TOLD, SUMMED>(paths, team, from, to, level, sums);
      team.meet();
    }
    finish(paths, team, from, to, source, sums);
    team.meet();
  }

  DEVICE void sum_all() {
    i32 level = depth - 1;
    while (level >= 0) {
      u64 to = load_relaxed(&stops[level + 1]);
      const u64 is_alone = to & IS_ALONE;
      if (is_alone) team.blocks = 1, paths.is_small = team_size > 1;
      // The ends of levels are loaded one iteration early to hide the latency.
      u64 before = load_relaxed(&stops[level]);
      while (level >= 0 && (to & IS_ALONE) == is_alone && (!is_alone || team.rank == 0)) {
        const u64 earlier = level ? load_relaxed(&stops[level - 1]) : 0;
        sum_level(level, before & ~IS_ALONE, to & ~IS_ALONE);
        to = before, before = earlier;
        --level;
      }
      if (is_alone) {
        team.blocks = team_size, paths.is_small = false;
        if (leads()) store_relaxed(&team.word[TEAM_LEVEL], u64(i64(level)));
        team.meet();
        level = i32(i64(load_relaxed(&team.word[TEAM_LEVEL])));
      }
    }
  }
};

/// Runs the searches from all sources. If edges have lengths, there is a single source, and the
/// distances from it are given.
template <class Op, class Offset, int TOLD, int SUMMED>
__global__ void __launch_bounds__(TEAM_BLOCK, 2)
    brandes(Launch launch, Network<Offset> network, Sources sources, Memory memory, Limits limits,
            Sums sums) {
  typedef SmallLevel<Offset> Small;
  SHARED(u32, alone, 3);
  SHARED(u32, small_vertex, Small::ROOM);
  SHARED(u32, small_end, Small::ROOM);
  SHARED(Offset, small_begin, Small::ROOM);
  SHARED(double, small_sigma, Small::ROOM);
  SHARED(u32, scratch, WARP + 1);
  const Small small{small_vertex, small_end, small_begin, small_sigma, scratch};
  Grid grid(launch);
  Team team(memory.words, memory.team_size);
  const i64 vertices = network.vertices, mine = i64(team.number) * vertices;
  u32 *const queued = (u32 *)(team.word + TEAM_QUEUED);
  Paths<Offset> paths{network.ends,
                      network.out,
                      network.lengths,
                      network.stride,
                      network.distances,
                      memory.levels + mine,
                      memory.sigmas + mine,
                      memory.shares + mine,
                      memory.queues + i64(team.number) * memory.room,
                      queued,
                      nullptr,
                      false};
  u64 *stops = memory.level_ends + i64(team.number) * (vertices + 2);
  Course<Offset, TOLD, SUMMED> course{network, small, limits, sums,  memory.team_size,
                                      team,    paths, queued, alone, stops};
  StopFlag flag(launch);
  for (;;) {
    const u64 turn = course.next_turn(launch.control, flag, sources.count);
    if (turn >= u64(sources.count)) break;
    const i32 given = sources.sources[turn];
    course.source = sources.renumbered ? sources.renumbered[given] : given;
    if (course.source >= vertices) {  // a vertex without edges: it reaches only itself
      if (course.leads()) sums.counts[turn] = 1;
      team.meet();  // no thread may take the next source before all threads have read this one
      continue;
    }
    course.start();
    course.count_all();
    course.sum_all();
    forget(paths, team, course.end, (u64 *)&sums.counts[turn]);
    team.meet();
  }
  if (is_last_block(grid) && threadIdx.x == 0) {
    tell_host(launch, HOST_STATUS, load_relaxed(&launch.control[IS_STOPPED]) ? STOPPED : FINISHED);
  }
}

}  // namespace graphla
