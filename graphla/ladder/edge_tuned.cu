// Edge-centric, tuned: the same over edges that lie so that a level costs as few bytes as may be.
//
// Algebra  f<!p> = f A over the boolean semiring: a masked SpMV of A as blocked COO.
// Layout   a level is one byte, 255 where a vertex is not reached (a search beyond level 254 goes
// on
//          with levels of 32 bits). An undirected edge is stored once, and both of its ends are
//          tested; an edge from a vertex to itself is left out. Edges are sorted by blocks of
//          targets, then of sources: the squares of the matrix. Inside a square both ends of an
//          edge take 16 bits each, which is one word. Where squares would be all but empty, an edge
//          is one word of 64 bits instead, in the order of the rows.
// A level  a block of threads takes a run of chunks of 256 edges (1 KB), mostly of one column of
//          squares, so that the levels which it reads at random, 64 KB, stay in its
//          multiprocessor's cache. (To copy them to shared memory first was as fast, and slower
//          where there are few edges.) A warp reads a chunk at once, all its edges before the
//          levels of their ends (those of the sources lie side by side), and the edges of its next
//          chunk before it tests these: many loads are on their way at a time. At least (4 m + n)
//          bytes (8 m of words of 64 bits), of half of the m edges where the graph is undirected;
//          as many times as there are launches.
// Races    as in edge_centric.cu.
// Limits   none: more than 254 levels, or squares that do not pay, take a wider word.
// Wins     where edge-centric does: on broad graphs of few levels.
// Source   a thread an edge: Y. Jia et al., Edge v. Node Parallelism for Graph Centrality Metrics,
// GPU
//          Computing Gems, 2011; the blocks: A. Buluc et al., Parallel Sparse Matrix-Vector and
//          Matrix-Transpose-Vector Multiplication Using Compressed Sparse Blocks, SPAA 2009.
#include "edges.cuh"

namespace graphla {

/// Edges of a chunk for each lane: all are on their way at a time.
template <class Edge> constexpr int BATCH = LANE_BYTES / sizeof(Edge);

/// Whether the edges of a warp's next chunk are loaded before it tests these: wide levels leave too
/// few registers for it.
template <class Level> constexpr bool AHEAD = sizeof(Level) == 1;

/// Whether levels of targets are read before it is known that they matter: they are near in a
/// square, and of an edge whose ends are both tested they mostly do.
template <class Edge, bool BOTH> constexpr bool NEAR = sizeof(Edge) == 4 && BOTH;

/// What one level is about.
template <class Level> struct Step {
  static constexpr Level UNREACHED = Level(-1);
  Level *levels;
  Level before, now;
};

/// The edges of a chunk that a lane has at hand.
template <class Edge> struct Batch {
  Edge edge[BATCH<Edge>];
  Square square;

  DEVICE void load(const Edge *__restrict__ edges, const i64 *__restrict__ starts,
                   const u64 *__restrict__ corners, i64 chunk) {
    const i64 begin = starts[chunk];
    const i32 count = i32(starts[chunk + 1] - begin);
    square = Square(corners[chunk]);
#pragma unroll
    for (int k = 0; k < BATCH<Edge>; ++k)  // past the end the last one again, which does no harm
      edge[k] = load_once(&edges[begin + least(k * WARP + lane(), count - 1)]);
  }

  /// Whether they labelled a vertex.
  template <bool BOTH, class Level> DEVICE bool test(const Step<Level> &step) const {
    Level *const sources = step.levels + square.row, *const targets = step.levels + square.column;
    Level from[BATCH<Edge>], to[BATCH<Edge>];
    bool labels = false;
#pragma unroll
    for (int k = 0; k < BATCH<Edge>; ++k) from[k] = load_cached(&sources[source_of(edge[k])]);
#pragma unroll
    for (int k = 0; k < BATCH<Edge>; ++k) {
      const bool matters =
          NEAR<Edge, BOTH> || from[k] == step.before || (BOTH && from[k] == step.UNREACHED);
      to[k] = matters ? load_cached(&targets[target_of(edge[k])]) : from[k];
    }
#pragma unroll
    for (int k = 0; k < BATCH<Edge>; ++k) {
      const bool forth = from[k] == step.before && to[k] == step.UNREACHED;
      const bool back = BOTH && to[k] == step.before && from[k] == step.UNREACHED;
      if (!forth && !back) continue;
      store_relaxed(forth ? &targets[target_of(edge[k])] : &sources[source_of(edge[k])], step.now);
      labels = true;
    }
    return labels;
  }
};

/// Level `depth` from level depth - 1; *found becomes 1 where it has a vertex.
template <class Op, class Level, class Edge, bool BOTH>
__global__ void __launch_bounds__(EDGE_BLOCK)
    edge_tuned(const Edge *__restrict__ edges, const i64 *__restrict__ starts,
               const u64 *__restrict__ corners, i64 chunks, i32 depth, Level *levels, i64 *found) {
  const Step<Level> step{levels, Level(depth - 1), Level(depth)};
  const Run run(chunks);
  const i32 warps = i32(blockDim.x) / WARP;
  bool labels = false;
  Batch<Edge> batch, next;
  i64 c = run.begin + warp_in_block();
  if (AHEAD<Level> && c < run.end) next.load(edges, starts, corners, c);
  for (; c < run.end; c += warps) {
    if constexpr (AHEAD<Level>) {
      batch = next;
      if (c + warps < run.end) next.load(edges, starts, corners, c + warps);
    } else {
      batch.load(edges, starts, corners, c);
    }
    labels |= batch.template test<BOTH>(step);
  }
  if (__syncthreads_or(labels) && threadIdx.x == 0) store_relaxed(found, i64(1));
}

/// Levels of one byte as levels of 32 bits: 255 becomes -1.
template <class Op>
__global__ void widen_levels(const u8 *__restrict__ narrow, i64 n, i32 *levels) {
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid())
    levels[v] = narrow[v] == 255 ? -1 : i32(narrow[v]);
}

}  // namespace graphla
