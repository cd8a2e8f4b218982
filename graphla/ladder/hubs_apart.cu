// Hubs apart: a queue of vertices, a thread each, and beside it a queue of pieces of hubs, a warp
// each.
//
// Algebra  f<!p> = f A over the boolean semiring: SpMSpV, with the rows of most entries cut into
// pieces
//          of one length.
// A level  reads the vertices and pieces in the queues, their offsets, their edges, and the
// neighbours'
//          levels; an atomic claims each vertex found, and another a place in a queue.
//          In all at least 12 bytes and four offsets for a vertex reached, 8 bytes for an edge of
//          it. No thread reads HUB edges or more in a row, nor a warp more than PIECE.
// Races    many edges may lead to one vertex: the one whose compare-and-swap finds it not reached
// puts
//          it into a queue, so that it is there once.
// Wins     where a few vertices have most of the edges (social and web graphs): with a thread for
// each
//          vertex, the level lasts as long as its largest hub. Where there are none, the degree of
//          each vertex is looked up for nothing.
// Source   Dynamic parallelism, where the thread that meets a hub launches a grid of its own for
// it:
//          W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th edition,
//          2022, chapter 21. That rows are sorted by length into those for a thread, a warp and a
//          block: D. Merrill, M. Garland, A. Grimshaw, Scalable GPU Graph Traversal, PPoPP 2012.
#include "device.cuh"

namespace graphla {

/// Where a level's vertices go: the hubs among them in pieces of PIECE edges, a vertex (upper half)
/// and which piece of its edges (lower half); the others as they are. counts: of `vertices`, of
/// `pieces`.
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

/// The queues of level 0.
template <class Op, class Offset, int HUB, int PIECE>
__global__ void hubs_begin(const Offset *__restrict__ indptr, i32 source, i32 *next,
                           u64 *next_pieces, u64 *counts) {
  if (thread_in_grid()) return;
  const Queues<HUB, PIECE> queues = {next, next_pieces, counts};
  queues.add(source, i64(indptr[source + 1] - indptr[source]));
}

/// The queues of level `depth`, from those of level depth - 1: so many vertices, and so many
/// pieces.
template <class Op, class Offset, int HUB, int PIECE>
__global__ void hubs_apart(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                           const i32 *__restrict__ vertices, i64 count,
                           const u64 *__restrict__ pieces, i64 piece_count, i32 depth, i32 *levels,
                           i32 *next, u64 *next_pieces, u64 *counts) {
  const Queues<HUB, PIECE> queues = {next, next_pieces, counts};
  const i64 by_warps = piece_count * WARP;  // threads: a warp for each piece
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
      if (load_cached(&levels[w]) >= 0) continue;           // reached
      if (atomicCAS(&levels[w], -1, depth) >= 0) continue;  // another thread's
      queues.add(w, i64(indptr[w + 1] - indptr[w]));
    }
  }
}

}  // namespace graphla
