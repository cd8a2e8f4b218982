// Hubs have a queue of their own: there is one queue for vertices, with one thread per vertex, and
// another queue for pieces of the hubs' rows, with one warp per piece.
//
// Algebra  With frontier f and reached vertices p: f<!p> = f A over the Boolean semiring: SpMSpV,
//          with the longest rows cut into pieces of equal length.
// A level  reads the vertices and pieces in the queues, their offsets, edges, and neighbors'
//          levels. For each vertex found, one atomic claims the vertex, and another claims its
//          position in a queue. A search moves at least 12 bytes and four offsets for each reached
//          vertex, and 8 bytes for each of its out-edges. A thread reads fewer than HUB edges of a
//          row, and a warp at most PIECE edges.
// Races    Many edges may lead to one vertex. Only the thread whose compare-and-swap succeeds
//          queues this vertex.
// Wins     where a few vertices have most of the edges (social and web graphs). If there were only
//          one thread per vertex, a level would take as long as one thread needs for the largest
//          hub. In a graph without hubs, reading the degree of each vertex has no benefit.
// Source   Dynamic parallelism, where the thread that finds a hub launches a grid for it: W. Hwu,
//          D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th edition, 2022,
//          chapter 21. Rows assigned to a thread, a warp or a block, depending on their length: D.
//          Merrill, M. Garland, A. Grimshaw, Scalable GPU Graph Traversal, PPoPP 2012.
#include "device.cuh"

namespace graphla {

/// The queues of a level. A hub is queued as pieces of PIECE edges. A piece is a word with the
/// vertex in its upper half and the index of the piece in its lower half. For any other vertex, its
/// number is queued. counts[] holds the length of `vertices` and the length of `pieces`.
template <int HUB, int PIECE> struct Queues {
  i32 *vertices;
  u64 *pieces, *counts;

  DEVICE void add(i32 v, i64 degree) const {
    if (degree < HUB) {
      vertices[atomicAdd(&counts[0], u64(1))] = v;
    } else {
      const u64 cut = u64(degree + PIECE - 1) / PIECE, first = atomicAdd(&counts[1], cut);
      for (u64 k = 0; k < cut; ++k) pieces[first + k] = u64(v) << 32 | k;
    }
  }
};

/// Fills the queues of level 0.
template <class Op, class Offset, int HUB, int PIECE>
__global__ void hubs_begin(const Offset *__restrict__ indptr, i32 source, i32 *next,
                           u64 *next_pieces, u64 *counts) {
  if (thread_in_grid()) return;
  const Queues<HUB, PIECE> queues = {next, next_pieces, counts};
  queues.add(source, i64(indptr[source + 1] - indptr[source]));
}

/// Fills the queues of level `depth` from the queues of level depth - 1, which contain `count`
/// vertices and `piece_count` pieces.
template <class Op, class Offset, int HUB, int PIECE>
__global__ void hubs_apart(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                           const i32 *__restrict__ vertices, i64 count,
                           const u64 *__restrict__ pieces, i64 piece_count, i32 depth, i32 *levels,
                           i32 *next, u64 *next_pieces, u64 *counts) {
  const Queues<HUB, PIECE> queues = {next, next_pieces, counts};
  const i64 by_warps = piece_count * WARP;  // number of threads that process pieces
  for (i64 t = thread_in_grid(); t < by_warps + count; t += threads_in_grid()) {
    i64 e, end, step = 1;
    if (t < by_warps) {
      const i32 v = i32(pieces[t / WARP] >> 32);
      const i64 begin = i64(indptr[v]) + i64(u32(pieces[t / WARP])) * PIECE;
      e = begin + lane(), step = WARP;
      end = least<i64>(begin + PIECE, indptr[v + 1]);
    } else {
      const i32 v = vertices[t - by_warps];
      e = indptr[v], end = indptr[v + 1];
    }
    for (; e < end; e += step) {
      const i32 w = indices[e];
      if (load_cached(&levels[w]) >= 0) continue;           // reached before
      if (atomicCAS(&levels[w], -1, depth) >= 0) continue;  // another thread has claimed w
      queues.add(w, i64(indptr[w + 1] - indptr[w]));
    }
  }
}

}  // namespace graphla
