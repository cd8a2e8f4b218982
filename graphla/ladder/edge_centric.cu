// Edge-centric: a thread for each edge; one out of the last level labels a target not yet reached.
//
// Algebra  f<!p> = f A over the boolean semiring: a masked SpMV of A as a list of edges (COO).
// A level  reads every edge (8 bytes), whatever the frontier is, and the level of each source and
//          target. At least (8 m + 4 n) bytes; as many times as there are launches.
// Races    two threads may label one vertex at a time, both with the same depth (an idempotent
//          store). A level read from a cache may be what it was when the kernel began: then a
//          vertex is labelled twice, and no vertex of the last level is missed.
// Wins     on few levels, whatever the degrees: every thread has one edge, so that no lane waits
// for
//          a hub, and edges are read side by side. Deep graphs pay all m edges for each level.
// Source   Y. Jia, V. Lu, J. Hoberock, M. Garland, J. C. Hart, Edge v. Node Parallelism for Graph
//          Centrality Metrics, GPU Computing Gems, Jade edition, 2011; W. Hwu, D. Kirk, I. El Hajj,
//          Programming Massively Parallel Processors, 4th edition, 2022, section 15.4.
#include "device.cuh"

namespace graphla {

/// Level `depth` from level depth - 1; *found becomes 1 where it has a vertex.
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
