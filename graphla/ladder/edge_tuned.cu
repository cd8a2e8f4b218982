// Edge-centric, tuned: the edge-centric search with a layout of the edges that minimizes the number
// of bytes read per level.
//
// Algebra  With frontier f and reached vertices p: f<!p> = f A over the Boolean semiring: a masked
//          SpMV of A as blocked COO.
// Layout   A level is one byte, 255 if the vertex is unreached. Beyond level 254 the search
//          continues with 32-bit levels. An undirected edge is stored once, and both of its ends
//          are tested; self-loops are left out. The matrix is divided into squares of 2^16 rows and
//          columns, and edges are sorted by square. The squares of one column are adjacent. Within
//          a square, each end of an edge takes 16 bits, so an edge takes one 32-bit word. If the
//          squares would be nearly empty, an edge is a 64-bit word instead, and edges are sorted by
//          row.
// A level  Each block of threads takes consecutive chunks of 256 edges (1 KB). Most of them are in
//          one column of squares, so that the 64 KB of levels that the block reads at random stay
//          in the cache of its multiprocessor. (Copying them to shared memory first was not faster,
//          and was slower with few edges.) To have many loads in flight, a warp reads a whole chunk
//          of edges before it reads the levels of their ends, and it reads the next chunk before it
//          tests this one. A launch reads at least (4 m + n) bytes (8 m instead of 4 m with 64-bit
//          words), where m is the number of stored edges.
// Races    as in edge_centric.cu.
// Limits   none: if there are more than 254 levels, or if squares do not pay off, wider words are
//          used.
// Wins     where edge-centric does: on broad graphs with few levels.
// Source   A thread per edge: Y. Jia et al., Edge v. Node Parallelism for Graph Centrality Metrics,
//          GPU Computing Gems, 2011. The blocks: A. Buluc et al., Parallel Sparse Matrix-Vector and
//          Matrix-Transpose-Vector Multiplication Using Compressed Sparse Blocks, SPAA 2009.
#include "edges.cuh"

namespace graphla {

/// Number of edges that a lane takes from a chunk. It loads all of them before it uses any.
template <class Edge> constexpr int BATCH = LANE_BYTES / sizeof(Edge);

/// Whether a warp loads the edges of its next chunk before it tests the current chunk. With 32-bit
/// levels, there are too few registers for this.
template <class Level> constexpr bool AHEAD = sizeof(Level) == 1;

/// Whether to read the level of each edge's target before it is known to be needed. This pays off
/// if both of the following hold. The edges are sorted by square, so that the levels are close
/// together in memory. Both ends of each edge are tested, so that most of the levels are needed.
template <class Edge, bool BOTH> constexpr bool NEAR = sizeof(Edge) == 4 && BOTH;

/// The parameters of one level.
template <class Level> struct Step {
  static constexpr Level UNREACHED = Level(-1);
  Level *levels;
  Level before, now;
};

/// The edges that one lane takes from a chunk.
template <class Edge> struct Batch {
  Edge edge[BATCH<Edge>];
  Square square;

  DEVICE void load(const Edge *__restrict__ edges, const i64 *__restrict__ starts,
                   const u64 *__restrict__ corners, i64 chunk) {
    const i64 begin = starts[chunk];
    const i32 count = i32(starts[chunk + 1] - begin);
    square = Square(corners[chunk]);
#pragma unroll
    // A lane beyond the last edge of the chunk reads that edge again.
    for (int k = 0; k < BATCH<Edge>; ++k)
      edge[k] = load_once(&edges[begin + least(k * WARP + lane(), count - 1)]);
  }

  /// Tests for each edge of the batch whether one end is in the frontier and the other end has not
  /// been reached. If so, writes the level of the other end. Returns whether any level was written.
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

/// Computes level `depth` from level depth - 1; sets *found to 1 if the level has a vertex.
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

/// Converts levels from one byte to 32 bits; 255 becomes -1.
template <class Op>
__global__ void widen_levels(const u8 *__restrict__ narrow, i64 n, i32 *levels) {
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid())
    levels[v] = narrow[v] == 255 ? -1 : i32(narrow[v]);
}

}  // namespace graphla
