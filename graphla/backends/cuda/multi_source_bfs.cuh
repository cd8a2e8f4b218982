// Breadth-first searches from up to 64 start vertices at the same time: the parameters of the
// kernel, which the host packs, and small device functions. Each vertex has words with one bit per
// search; bit s belongs to search s.
#ifndef GRAPHLA_MANY
#define GRAPHLA_MANY
#include "collectives.cuh"

namespace graphla {

constexpr int MANY_BLOCK = MultiSearchTuning::block;
constexpr int MANY_WARPS = MANY_BLOCK / WARP;
constexpr int SEARCHES = MultiSearchTuning::searches;
constexpr int UNROLL = 4;  // number of edges that a lane loads at the same time
static_assert(SEARCHES == 64, "one bit of a word per search");

/// How searches choose a direction. AUTO: each search chooses for itself. PUSH: all searches push.
/// PULL: all searches pull.
enum Towards { AUTO = 0, PUSH = 1, PULL = 2 };

/// The graph in CSR (`out`) and CSC (`into`). Only vertices with numbers below `vertices` have
/// edges.
template <class Offset> struct Graph {
  i64 vertices;
  const Offset *out_ends;  // indptr
  const i32 *out;
  const Offset *into_ends;  // null if no search pulls
  const i32 *into;
  const i32 *first;     // for each vertex v, the in-neighbor that a pull into v tests first; or
                        // null
  bool leads;           // whether, for all v, first[v] is the first entry of v's row in `into`
  const bool *allowed;  // the mask, or null
  i32 longest;          // maximum number of entries of a short row
  i32 part;             // number of entries in a part of a long row
};

/// The searches of a launch. Start vertices have the user's numbers.
struct Searches {
  const i32 *starts;
  // For each of the n vertices in the user's numbering, its number in the graph. Null if both
  // numberings are the same.
  const i32 *renumbered;
  i64 n;
  i32 count;
  i32 limit;    // the maximum level
  i32 towards;  // one of `Towards`
  float favor;  // a search pulls if f · favor > r, where f is the number of edges out of its
                // frontier, and r the number of edges out of its unreached vertices
};

/// The state of the vertices. A word has one bit per search; a group has 32 vertices.
struct Words {
  u64 *seen;   // per vertex: the searches that have reached it; n words, initially zero
  u64 *next;   // per vertex with edges: the searches that reach it next; initially zero
  u64 *fresh;  // per vertex with edges: the searches that reached it at this level
  // Per group: one bit per vertex, which is set if pulls must visit the vertex. This is true as
  // long as the vertex has in-edges, the mask allows it, and at least one search has not reached
  // it.
  u32 *open;
  u8 *touched;  // per group: whether a vertex of the group has new bits in `next`; initially 0
  // Per group: the searches that reached any of its vertices at this level. If had[g] is 0, the
  // words of `fresh` for group g may be from an earlier level, and must not be used.
  u64 *had;
  u64 *planes;  // the bits of the levels, see multi_source_bfs_levels.cuh
  i64 stride;   // number of words per plane
  i32 room;     // number of planes, or 0 if levels are not stored
};

/// The results of a launch. Row v of `levels` begins at element v * pitch and contains `width`
/// levels. A row takes 16 · 2^k bytes for some integer k.
template <class Level> struct Results {
  // The counts of vertices and edges of three levels, used round-robin; see struct Tally. They are
  // initially zero.
  u64 *tallies;
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
