// What searches from up to 64 starts at once share: bit s of a vertex's word belongs to search s.
#ifndef GRAPHLA_MANY
#define GRAPHLA_MANY
#include "collectives.cuh"

namespace graphla {

constexpr int MANY_BLOCK = 256;
constexpr int MANY_WARPS = MANY_BLOCK / WARP;
constexpr int SEARCHES = 64;
constexpr int UNROLL = 4;  // edges that a lane has in flight

template <class Offset> struct Graph {
  i64 vertices;             // those with edges, 0..vertices - 1
  const Offset *out_ends;   // indptr
  const i32 *out;
  const Offset *into_ends;  // null: nothing pulls
  const i32 *into;
  const i32 *first;         // an in-neighbour of each that is tried first, or null
  bool leads;               // whether that is the one that the row begins with
  const bool *allowed;      // the mask, or null
  i32 longest;              // a row of more entries is long
  i32 part;                 // entries of a task
};

/// What is known of the vertices.
struct Words {
  u64 *seen, *next, *fresh;
  u32 *open;    // by group: vertices that miss some search, may be reached, and have in-edges
  u8 *touched;  // by group: next has got bits
  u64 *had;     // by group: the searches that some vertex is fresh for; else fresh is of old
  u64 *planes;
  i64 stride;   // of planes
  int room;     // planes there are; 0: levels are not kept
};

/// What is loaded of a vertex ahead of its turn, side by side.
template <class Offset> struct Vertex {
  u64 seen, next;
  Offset begin, entries;
  i32 nearest;
};

/// *at |= bits, which nobody waits for.
DEVICE void add_bits(u64 *at, u64 bits) {
#ifdef GRAPHLA_SIMULATOR
  atomicOr(at, bits);
#else
  asm volatile("red.relaxed.gpu.global.or.b64 [%0], %1;" ::"l"(at), "l"(bits) : "memory");
#endif
}

template <class T> DEVICE T reduce_or(T x) {
  for (int delta = WARP / 2; delta; delta /= 2) x |= __shfl_xor_sync(ALL_LANES, x, delta);
  return x;
}

/// Rows and columns of a 32 x 32 matrix of bits exchanged: lane i gives row i and gets column i.
DEVICE u32 transposed(u32 x) {
  u32 keep = 0x0000ffffu;
  for (int j = WARP / 2; j; j /= 2) {
    const u32 other = __shfl_xor_sync(ALL_LANES, x, j);
    if (lane() & j) x = (x & ~keep) | ((other >> j) & keep);
    else x = (x & keep) | ((other & keep) << j);
    keep ^= keep << (j / 2);
  }
  return x;
}

/// The row that edge `edge` of a warp's rows lies in, where each lane's row ends at `end`.
DEVICE int row_of_edge(u32 end, u32 edge) {
  int row = 0;
  for (int step = WARP / 2; step; step /= 2) {
    if (__shfl_sync(ALL_LANES, end, row + step - 1) <= edge) row += step;
  }
  return row;
}

}  // namespace graphla
#endif
