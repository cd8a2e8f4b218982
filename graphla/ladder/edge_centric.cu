// Edge-centric: one thread per edge. If the edge's source is in the last level and its target is
// unreached, the thread labels the target.
//
// Algebra  With frontier f and reached vertices p: f<!p> = f A over the Boolean semiring: a masked
//          SpMV of A as a list of edges (COO).
// A level  reads every edge (8 bytes), regardless of the frontier, and the levels of each source
//          and target: at least (8 m + 4 n) bytes per launch.
// Races    Two threads may label a vertex at the same time, both with the same depth (an idempotent
//          store). The level of a vertex may be read from a cache, and may then be the level that
//          the vertex had when the kernel started. In that case a vertex may be labeled twice, but
//          no vertex of the last level is missed.
// Wins     on graphs with few levels, regardless of the degrees: every thread has one edge, so no
//          lane waits for a hub, and reads of edges are coalesced. On deep graphs it reads all m
//          edges at each of many levels.
// Source   Y. Jia, V. Lu, J. Hoberock, M. Garland, J. C. Hart, Edge v. Node Parallelism for Graph
//          Centrality Metrics, GPU Computing Gems, Jade edition, 2011; W. Hwu, D. Kirk, I. El Hajj,
//          Programming Massively Parallel Processors, 4th edition, 2022, section 15.4.
#include "device.cuh"

namespace graphla {

/// Computes level `depth` from level depth - 1; sets *found to 1 if the level has a vertex.
template <class Op>
__global__ void edge_centric(const i32 *__restrict__ sources, const i32 *__restrict__ targets,
                             i64 edges, i32 depth, i32 *levels, i64 *found) {
  bool labels = false;
  for (i64 e = thread_in_grid(); e < edges; e += threads_in_grid()) {
    if (load_cached(&levels[load_once(&sources[e])]) != depth - 1) continue;
    const i32 w = load_once(&targets[e]);
    if (load_cached(&levels[w]) >= 0) continue;  // reached
    store_relaxed(&levels[w], depth);
    labels = true;
  }
  if (__syncthreads_or(labels) && threadIdx.x == 0) store_relaxed(found, i64(1));
}

}  // namespace graphla
