// Direction-optimized: push while the frontier is small, pull while it is large.
//
// Algebra  f<!p> = f A over the Boolean semiring, by rows of A, or by columns with early exit: one
//          product in two forms; a rule selects the form at each level.
// A level  is a launch of vertex_push.cu or of vertex_pull.cu. Before a level at which the
//          direction may change, the kernel of this file counts what the rule compares.
// Rule     The search changes from push to pull if the frontier grows, and the edges out of it
//          exceed 1/ALPHA of the edges out of unreached vertices. Then a pull reads less, because
//          it stops at its first hit. The search changes back to push if the frontier shrinks, and
//          has fewer than 1/BETA of all vertices.
// Counts   are exact when they decide. A push stores labels without checking which thread was
//          first, and reports their number: an upper bound on the vertices of the level, each with
//          at most the largest degree. While even this bound is too small for a pull, nothing is
//          counted, so small levels of deep graphs take one launch each. Otherwise one more launch
//          counts, and reads n levels.
// Push     could use a queue, as in the paper; claiming its entries would also count them. With a
//          thread per vertex the claims cost more than the sweeps that they save, because a warp
//          waits for the round trip of an atomic for each vertex found. On ego-Twitter and kron-20
//          the whole search took two to three times as long.
// Wins     on graphs with hubs and few levels, where most edges are never read. An undirected graph
//          has one form for both directions; other graphs need rows and columns.
// Source   S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC
//          2012; W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th
//          edition, 2022, section 15.3.
#include "tally.cuh"

namespace graphla {

/// Counts the vertices of a level, the edges out of them, and those out of unreached vertices.
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
