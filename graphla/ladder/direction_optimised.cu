// Direction-optimised: push while the frontier is small, pull while it is large.
//
// Algebra  f<!p> = f A over the boolean semiring, by rows of A (SpMSpV) or by columns (masked SpMV with
//          early exit): one product in two spellings, and the switch between them.
// A level  by push costs what frontier_queue.cu says, by pull what vertex_pull.cu says; and either
//          counts the vertices that it finds and the edges out of them, by one atomic a block, from
//          which the host chooses the next direction.
// Rule     push to pull when the frontier grows, and more edges leave it than 1/ALPHA of those out of
//          vertices not reached: then pull, which stops at the first, reads less. Pull to push when it
//          shrinks, and has less than 1/BETA of all vertices: then n levels cost more than the list.
// Push     is by a queue, not vertex_push.cu: a vertex that two threads label there would be counted
//          twice, and the rule needs true counts; the claim that counts it once has made the queue for
//          free, and a level costs its frontier, as where the rule comes from. One launch lists the
//          last level when pull turns to push again.
// Races    as in these two files.
// Wins     on graphs with hubs, by far: most edges are never read. On deep ones it stays a queue.
// Source   S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012.
#include "vertex_pull.cu"

namespace graphla {

/// *sum grows by the x of all threads of the block, by one atomic; all of them call.
DEVICE void add_in_block(u64 x, u64 *sum) {
  SHARED(u64, scratch, WARP + 1);
  u64 total;
  block_exclusive_sum(x, scratch, total);
  if (threadIdx.x == 0 && total) atomicAdd(sum, total);
}

/// Level `depth` from the list of level depth - 1. counts: its vertices, and the edges out of them.
template <class Op, class Offset>
__global__ void push_and_count(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                               const i32 *__restrict__ frontier, i64 count, i32 depth, i32 *levels,
                               i32 *next, u64 *counts) {
  u64 edges = 0;
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    const i32 v = frontier[k];
    const Offset end = indptr[v + 1];
    for (Offset e = indptr[v]; e < end; ++e) {
      const i32 w = indices[e];
      if (atomicCAS(&levels[w], -1, depth) >= 0) continue;  // reached, or another's
      next[atomicAdd(&counts[0], u64(1))] = w;
      edges += u64(indptr[w + 1] - indptr[w]);
    }
  }
  add_in_block(edges, &counts[1]);
}

/// The same from the levels at depth - 1, by the columns of A; `out` are the offsets of its rows.
template <class Op, class Offset>
__global__ void pull_and_count(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                               const Offset *__restrict__ out, i64 n, i32 depth, i32 *levels,
                               u64 *counts) {
  u64 vertices = 0, edges = 0;
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    if (load_cached(&levels[v]) >= 0) continue;
    if (!has_neighbour_at(levels, depth - 1, indices, indptr[v], indptr[v + 1])) continue;
    store_relaxed(&levels[v], depth);
    ++vertices, edges += u64(out[v + 1] - out[v]);
  }
  add_in_block(vertices, &counts[0]);
  add_in_block(edges, &counts[1]);
}

/// The vertices of a level, in any order; *count, zero before, becomes how many.
template <class Op>
__global__ void list_level(const i32 *__restrict__ levels, i64 n, i32 level, i32 *__restrict__ list, u64 *count) {
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    const bool is_there = levels[v] == level;
    const u64 place = claim(count, is_there);
    if (is_there) list[place] = i32(v);
  }
}

}  // namespace graphla
