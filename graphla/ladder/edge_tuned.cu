// Edge-centric, tuned: the same over edges that lie so that a level costs as few bytes as may be.
//
// Algebra  f<!p> = f A over the boolean semiring: a masked SpMV of A as blocked COO.
// Layout   a level is one byte, 255 where a vertex is not reached (a search beyond level 254 goes on
//          with levels of 32 bits). An undirected edge is stored once, and both of its ends are
//          tested; an edge from a vertex to itself is left out. Edges are sorted by blocks of
//          sources and blocks of targets, the squares of the matrix, so that the levels which the
//          edges of one square read fit a cache; inside a square both ends of an edge take 16 bits
//          each, which is one word. Where squares would be all but empty, or n is to be read whole,
//          an edge is one word of 64 bits instead, in the order of the rows.
// A level  a warp reads a chunk of 256 edges of a square, batch by batch: the edges first, then the
//          levels of their sources, then those of the targets that matter, so that many loads are on
//          their way. At least (4 m + n) bytes (8 m of words of 64 bits), of half of the m edges
//          where the graph is undirected; as many times as there are launches.
// Races    as in edge_centric.cu.
// Limits   none: more than 254 levels, or more than 2^16 vertices, take a wider word.
// Wins     where edge-centric does: on broad graphs of few levels.
// Source   the literature's tuned edge-centric BFS on R-MAT graphs, 3.6 GTEPS on a GTX Titan; for the
//          blocks, A. Buluc et al., Parallel Sparse Matrix-Vector and Matrix-Transpose-Vector
//          Multiplication Using Compressed Sparse Blocks, SPAA 2009.
#include "edges.cuh"

namespace graphla {

/// Level `depth` from level depth - 1; *found becomes 1 where it has a vertex.
template <class Op, class Level, class Edge, bool BOTH>
__global__ void __launch_bounds__(1024)
edge_tuned(const Edge *__restrict__ edges, const i64 *__restrict__ starts,
           const u64 *__restrict__ corners, i64 chunks, i32 depth, Level *levels, i64 *found) {
  constexpr Level UNREACHED = Level(-1);
  const Level before = Level(depth - 1), now = Level(depth);
  bool labels = false;
  for_each_chunk(chunks, [&](i64 chunk) {
    const Square square(corners[chunk]);
    const i64 end = starts[chunk + 1];
    for (i64 first = starts[chunk]; first < end; first += BATCH * WARP) {
      Level from[BATCH], to[BATCH];
      i32 source[BATCH], target[BATCH];
#pragma unroll
      for (int k = 0; k < BATCH; ++k) {
        const i64 e = least(first + k * WARP + lane(), end - 1);  // the last one again: no harm
        const Edge edge = load_once(&edges[e]);
        source[k] = square.source(edge);
        target[k] = square.target(edge);
      }
#pragma unroll
      for (int k = 0; k < BATCH; ++k) from[k] = load_cached(&levels[source[k]]);
#pragma unroll
      for (int k = 0; k < BATCH; ++k) {
        const bool matters = from[k] == before || (BOTH && from[k] == UNREACHED);
        to[k] = matters ? load_cached(&levels[target[k]]) : from[k];
      }
#pragma unroll
      for (int k = 0; k < BATCH; ++k) {
        const bool forth = from[k] == before && to[k] == UNREACHED;
        const bool back = BOTH && to[k] == before && from[k] == UNREACHED;
        if (forth || back) store_relaxed(&levels[forth ? target[k] : source[k]], now);
        labels |= forth || back;
      }
    }
  });
  if (__syncthreads_or(labels) && threadIdx.x == 0) store_relaxed(found, i64(1));
}

/// Levels of one byte as levels of 32 bits: 255 becomes -1.
template <class Op> __global__ void widen_levels(const u8 *__restrict__ narrow, i64 n, i32 *levels) {
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid())
    levels[v] = narrow[v] == 255 ? -1 : i32(narrow[v]);
}

}  // namespace graphla
