// Breadth-first search from up to 64 starts: the kernel's parameters, which the host packs, and
// small device functions. Bit s of a vertex's word belongs to search s.
#ifndef GRAPHLA_MANY
#define GRAPHLA_MANY
#include "collectives.cuh"

namespace graphla {

constexpr int MANY_BLOCK = MultiSearchTuning::block;
constexpr int MANY_WARPS = MANY_BLOCK / WARP;
constexpr int SEARCHES = MultiSearchTuning::searches;
constexpr int UNROLL = 4;  // number of edges that a lane loads at the same time
static_assert(SEARCHES == 64, "one bit of a word per search");

/// How searches choose a direction. AUTO: each search chooses for itself. PUSH: all push. PULL: all
/// pull.
enum Towards { AUTO = 0, PUSH = 1, PULL = 2 };

/// The graph in CSR (`out`) and CSC (`into`). Only vertices with numbers below `vertices` have
/// edges.
template <class Offset> struct Graph {
  i64 vertices;
  const Offset *out_ends;  // indptr
  const i32 *out;
  const Offset *into_ends;  // null if no search pulls
  const i32 *into;
  const i32 *first;     // the in-neighbor that a pull tests first, for each vertex; or null
  bool leads;           // whether first[v] is the first entry of v's row
  const bool *allowed;  // the mask, or null
  i32 longest;          // maximum number of entries of a short row
  i32 part;             // number of entries in a part of a long row
};

/// The searches of a launch. Starts are in the user's numbering.
struct Searches {
  const i32 *starts;
  const i32 *renumbered;  // the graph's number for each of the user's n vertices, or null
  i64 n;
  i32 count;
  i32 limit;    // the maximum level
  i32 towards;  // one of `Towards`
  float favor;  // A search pulls if `favor` times the number of edges out of its frontier exceeds
                // the number of edges out of its unreached vertices.
};

/// The state of the vertices. A word has one bit per search; a group has 32 vertices.
struct Words {
  u64 *seen;  // n words, initially zero
  u64 *next;  // one word per vertex with edges, initially zero
  u64 *fresh;
  u32 *open;  // per group: a bit for each vertex that a pull may still reach. It has in-edges, the
              // mask allows it, and some search has not reached it.
  u8 *touched;  // per group: whether any word of `next` has new bits; initially zero
  u64 *had;  // per group: searches that reached one of its vertices at this level; if 0, `fresh` is
             // stale
  u64 *planes;  // the bits of the levels, see multi_source_bfs_levels.cuh
  i64 stride;   // number of words per plane
  i32 room;     // number of planes, or 0 if levels are not stored
};

/// The results of a launch. Row v of `levels` begins at v * pitch and has `width` levels. The size
/// of a row is 16 bytes times a power of two.
template <class Level> struct Results {
  u64 *tallies;   // the tallies of three levels, used round-robin, initially zero; see Tally
  i64 *totals;    // per search: number of vertices reached, sum of levels, maximum level
  Level *levels;  // null if levels are not wanted
  i64 pitch;
  i32 width;
};

/// The words and the row of a vertex. A thread loads them while it processes another vertex.
template <class Offset> struct Vertex {
  u64 seen, next;
  Offset begin, entries;
  i32 nearest;
};

/// Executes *at |= bits without waiting for the old value.
DEVICE void add_bits(u64 *at, u64 bits) {
#ifdef GRAPHLA_SIMULATOR
  atomicOr(at, bits);
#else
  asm volatile("red.relaxed.gpu.global.or.b64 [%0], %1;" ::"l"(at), "l"(bits) : "memory");
#endif
}

/// Transposes a 32 x 32 matrix of bits: lane i passes row i and gets column i.
DEVICE u32 transpose_bits(u32 x) {
  u32 keep = 0x0000ffffu;
  for (int j = WARP / 2; j; j /= 2) {
    const u32 other = __shfl_xor_sync(ALL_LANES, x, j);
    if (lane() & j) x = (x & ~keep) | ((other >> j) & keep);
    else x = (x & keep) | ((other & keep) << j);
    keep ^= keep << (j / 2);
  }
  return x;
}

}  // namespace graphla
#endif
