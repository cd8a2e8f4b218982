// Direction-optimized: push while the frontier is small, pull while it is large.
//
// Algebra  With frontier f and reached vertices p: f<!p> = f A over the Boolean semiring, computed
//          by rows of A (a push), or by columns with early exit (a pull). A rule chooses between
//          the two at each level.
// A level  is one launch of vertex_push.cu or vertex_pull.cu. Before a level at which the direction
//          may change, the kernel in this file computes the counts that the rule compares.
// Rule     The search changes from push to pull if the frontier grows and the number of edges out
//          of it exceeds 1/ALPHA of the number of edges out of unreached vertices. A pull then
//          reads less, because it stops at the first hit. The search changes back to push if the
//          frontier shrinks, and contains fewer than 1/BETA of all vertices.
// Counts   are exact whenever the rule needs them. A push reports the number of labels stored,
//          which is an upper bound on the number of vertices in the level, because several threads
//          may label the same vertex. Multiplied by the largest degree, it bounds the number of
//          edges. While even this bound is too small for a pull, nothing is counted, so small
//          levels of deep graphs take one launch each. Otherwise a second launch, which reads n
//          levels, counts exactly.
// Push     could use a queue, as in the paper of Beamer et al. The length of the queue would be an
//          exact count. But with one thread per vertex, claiming queue entries costs more than the
//          sweeps that it saves, because a warp waits for the round trip of an atomic for each
//          vertex found. On ego-Twitter and kron-20 the whole search took two to three times as
//          long.
// Wins     on graphs with hubs and few levels, where most edges are never read. An undirected graph
//          uses one matrix for both directions; other graphs need CSR and CSC.
// Source   S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC
//          2012; W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th
//          edition, 2022, section 15.3.
#include "tally.cuh"

namespace graphla {

/// Counts the vertices of a level, the edges out of them, and the edges out of unreached vertices.
template <class Op, class Offset>
__global__ void count_level(const i32 *__restrict__ levels, const Offset *__restrict__ indptr,
                            i64 n, i32 level, u64 *counts) {
  u64 vertices = 0, edges = 0, unexplored = 0;
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    const i32 its = levels[v];
    if (its >= 0 && its != level) continue;
    const u64 degree = u64(indptr[v + 1] - indptr[v]);
    if (its == level) ++vertices, edges += degree;
    else unexplored += degree;
  }
  add_in_block(vertices, &counts[0]);
  add_in_block(edges, &counts[1]);
  add_in_block(unexplored, &counts[2]);
}

}  // namespace graphla
