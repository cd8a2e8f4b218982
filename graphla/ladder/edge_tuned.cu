// Edge-centric, tuned: the same over edges that lie so that a level costs as few bytes as may be.
//
// Algebra  f<!p> = f A over the boolean semiring: a masked SpMV of A as blocked COO.
// Layout   a level is one byte, 255 where a vertex is not reached (a search beyond level 254 goes on
//          with levels of 32 bits). An undirected edge is stored once, and both of its ends are
//          tested; an edge from a vertex to itself is left out. Edges are sorted by blocks of
//          targets, then of sources: the squares of the matrix. Inside a square both ends of an edge
//          take 16 bits each, which is one word. Where squares would be all but empty, an edge is
//          one word of 64 bits instead, in the order of the rows.
// A level  a block of threads takes a run of chunks of 256 edges; where the run is long (SHARES), it
//          copies the levels of the targets of its squares to shared memory, 64 KB that it reads at
//          random. A warp reads a chunk: the edges first, then the levels of their sources, which
//          lie side by side, then those of the targets, so that many loads are on their way. At
//          least (4 m + n) bytes (8 m of words of 64 bits), of half of the m edges where the graph
//          is undirected; as many times as there are launches.
// Races    as in edge_centric.cu; the copy is what a cache may be: a vertex that it has as not
//          reached is looked at once more before it is labelled.
// Limits   none: more than 254 levels, or squares that do not pay, take a wider word.
// Wins     where edge-centric does: on broad graphs of few levels.
// Source   the literature's tuned edge-centric BFS on R-MAT graphs, 3.6 GTEPS on a GTX Titan; for the
//          blocks, A. Buluc et al., Parallel Sparse Matrix-Vector and Matrix-Transpose-Vector
//          Multiplication Using Compressed Sparse Blocks, SPAA 2009.
#include "edges.cuh"

namespace graphla {

/// Edges of a lane that are on their way at a time.
template <class Edge> constexpr int BATCH = 32 / sizeof(Edge);

/// What one level is about.
template <class Level> struct Step {
  static constexpr Level UNREACHED = Level(-1);
  Level *levels;
  Level before, now;
};

/// Some edges of a square, by a warp; `levels_of` gives the levels of its targets. Whether a vertex
/// was labelled.
template <bool BOTH, bool SHARES, class Level, class Edge, class Targets>
DEVICE bool read_chunk(const Step<Level> &step, const Edge *__restrict__ edges, i32 count,
                       Square square, Targets levels_of) {
  constexpr int batch = BATCH<Edge>;
  Level *const sources = step.levels + square.row, *const targets = step.levels + square.column;
  bool labels = false;
  for (i32 first = 0; first < count; first += batch * WARP) {
    Edge edge[batch];
    Level from[batch], to[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k)  // past the end the last one again, which does no harm
      edge[k] = load_once(&edges[least(first + k * WARP + lane(), count - 1)]);
#pragma unroll
    for (int k = 0; k < batch; ++k) from[k] = load_cached(&sources[source_of(edge[k])]);
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const bool matters = from[k] == step.before || (BOTH && from[k] == step.UNREACHED);
      to[k] = matters ? levels_of(target_of(edge[k])) : from[k];
    }
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const bool forth = from[k] == step.before && to[k] == step.UNREACHED;
      const bool back = BOTH && to[k] == step.before && from[k] == step.UNREACHED;
      if (!forth && !back) continue;
      Level *const v = forth ? &targets[target_of(edge[k])] : &sources[source_of(edge[k])];
      if (SHARES && load_cached(v) != step.UNREACHED) continue;  // since the copy
      store_relaxed(v, step.now);
      labels = true;
    }
  }
  return labels;
}

/// Level `depth` from level depth - 1; *found becomes 1 where it has a vertex. A square has `width`
/// columns, a multiple of 8, or as many as are left; who SHARES has so many bytes of shared memory.
template <class Op, class Level, class Edge, bool BOTH, bool SHARES>
__global__ void __launch_bounds__(1024)
edge_tuned(const Edge *__restrict__ edges, const i64 *__restrict__ starts,
           const u64 *__restrict__ corners, i64 chunks, i64 n, i32 width, i32 depth, Level *levels,
           i64 *found) {
  static_assert(!SHARES || sizeof(Level) == 1, "copied byte by byte");
  SHARED_BYTES(shared);
  Level *const kept = (Level *)shared;
  const Step<Level> step{levels, Level(depth - 1), Level(depth)};
  Run run(chunks);
  bool labels = false;
  while (run.begin < run.end) {
    i64 end = run.end;
    if constexpr (SHARES) {
      const u64 column = corners[run.begin] >> 32;
      end = upper_bound(corners, run.begin, run.end, (column << 32) | 0xffffffff);
      const Level *near = levels + column;
      const i32 count = i32(least(i64(width), n - i64(column))), whole = count / 8 * 8;
      for (i32 i = 8 * i32(threadIdx.x); i < whole; i += 8 * i32(blockDim.x))
        *(u64 *)(kept + i) = load_cached((const u64 *)(near + i));
      for (i32 i = whole + i32(threadIdx.x); i < count; i += i32(blockDim.x))
        kept[i] = load_cached(&near[i]);
      __syncthreads();
    }
    by_warps(run.begin, end, [&](i64 c) {
      const Square square(corners[c]);
      const auto levels_of = [&](u32 target) {
        if constexpr (SHARES) return kept[target];
        else return load_cached(&levels[square.column + i64(target)]);
      };
      const i64 begin = starts[c];
      labels |= read_chunk<BOTH, SHARES>(step, edges + begin, i32(starts[c + 1] - begin),
                                           square, levels_of);
    });
    if constexpr (SHARES) __syncthreads();
    run.begin = end;
  }
  if (__syncthreads_or(labels) && threadIdx.x == 0) store_relaxed(found, i64(1));
}

/// Levels of one byte as levels of 32 bits: 255 becomes -1.
template <class Op> __global__ void widen_levels(const u8 *__restrict__ narrow, i64 n, i32 *levels) {
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid())
    levels[v] = narrow[v] == 255 ? -1 : i32(narrow[v]);
}

}  // namespace graphla
