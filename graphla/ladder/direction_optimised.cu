// Direction-optimised: push while the frontier is small, pull while it is large.
//
// Algebra  f<!p> = f A over the boolean semiring, by rows of A or by columns with early exit: one
//          product in two spellings, and the switch between them.
// A level  is a launch of vertex_push.cu or of vertex_pull.cu, as they are. Between them, where the
//          rule may ask for it, this file's kernel counts what the rule weighs.
// Rule     push to pull when the frontier grows, and more edges leave it than 1/ALPHA of those out
// of
//          vertices not reached: then pull, which stops at the first, reads less. Pull to push when
//          it shrinks, and has less than 1/BETA of all vertices.
// Counts   are exact where they decide. Push stores labels without asking who was first, and tells
//          how many: at least as many as the level has vertices, of at most as many edges each as
//          the vertex with most. While even that is not enough for pull, nothing is counted, so
//          that small levels of deep graphs cost one launch; else one more launch counts, and reads
//          n levels.
// Push     could be a queue, as where the rule comes from, whose claims count by the way. With a
// thread
//          for each vertex the claims cost more than the sweeps that they spare: an atomic's way
//          there and back for each vertex found, while the warp waits (two to three times the whole
//          search on ego-Twitter and kron-20).
// Wins     on graphs with hubs and few levels, where most edges are never read. An undirected graph
//          has one form for both directions; others need rows and columns.
// Source   S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC
// 2012;
//          W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th edition,
//          2022, section 15.3.
#include "tally.cuh"

namespace graphla {

/// counts: how many vertices a level has, the edges out of them, and those out of vertices not
/// reached.
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
