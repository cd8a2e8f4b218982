// Hubs apart: one queue holds vertices, which get a thread each; another holds pieces of hubs,
// which get a warp each.
//
// Algebra  f<!p> = f A over the Boolean semiring: SpMSpV, with the longest rows cut into pieces of
//          equal length.
// A level  reads the vertices and pieces in the queues, their offsets, edges, and neighbors'
//          levels. One atomic claims each vertex found, and another one its position in a queue. A
//          search moves at least 12 bytes and four offsets per reached vertex, and 8 bytes per edge
//          of it. No thread reads HUB or more edges of a row, and no warp more than PIECE.
// Races    Many edges may lead to one vertex. The thread whose compare-and-swap finds it unreached
//          queues it, so that it is queued once.
// Wins     where a few vertices have most of the edges (social and web graphs): with a thread per
//          vertex, a level would last as long as its largest hub. In a graph without hubs, reading
//          the degree of each vertex has no benefit.
// Source   Dynamic parallelism, where the thread that finds a hub launches a grid for it: W. Hwu,
//          D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th edition, 2022,
//          chapter 21. Rows sorted by length into those for a thread, a warp and a block: D.
//          Merrill, M. Garland, A. Grimshaw, Scalable GPU Graph Traversal, PPoPP 2012.
#include "device.cuh"

namespace graphla {

/// The queues of a level. A hub is queued as pieces of PIECE edges: the vertex in the upper half of
/// a word, the number of the piece in the lower half. Every other vertex is queued by its number.
/// counts[] holds the length of `vertices` and the length of `pieces`.
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

/// Fills the queues of level `depth` from those of level depth - 1, which hold `count` vertices and
/// `piece_count` pieces.
template <class Op, class Offset, int HUB, int PIECE>
__global__ void hubs_apart(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                           const i32 *__restrict__ vertices, i64 count,
                           const u64 *__restrict__ pieces, i64 piece_count, i32 depth, i32 *levels,
                           i32 *next, u64 *next_pieces, u64 *counts) {
  const Queues<HUB, PIECE> queues = {next, next_pieces, counts};
  const i64 by_warps = piece_count * WARP;  // number of threads that work on pieces, a warp each
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
      if (atomicCAS(&levels[w], -1, depth) >= 0) continue;  // claimed by another thread
      queues.add(w, i64(indptr[w + 1] - indptr[w]));
    }
  }
}

}  // namespace graphla
