// Breadth-first search from up to 64 starts: the parameters of the kernel, which the host packs,
// and small device functions. Bit s of a vertex's word belongs to search s.
#ifndef GRAPHLA_MANY
#define GRAPHLA_MANY
#include "collectives.cuh"

namespace graphla {

constexpr int MANY_BLOCK = MultiSearchTuning::block;
constexpr int MANY_WARPS = MANY_BLOCK / WARP;
constexpr int SEARCHES = MultiSearchTuning::searches;
constexpr int UNROLL = 4;  // edges that a lane has in flight
static_assert(SEARCHES == 64, "one bit of a word per search");

/// How searches choose a direction: each search chooses for itself, or all push, or all pull.
enum Towards { AUTO = 0, PUSH = 1, PULL = 2 };

/// The graph by rows (`out`) and by columns (`into`). Vertices with numbers of at least `vertices`
/// have no edges.
template <class Offset> struct Graph {
  i64 vertices;
  const Offset *out_ends;  // indptr
  const i32 *out;
  const Offset *into_ends;  // null if no search pulls
  const i32 *into;
  const i32 *first;     // the in-neighbor of each vertex that is tested first, or null
  bool leads;           // whether first[v] is also the first entry of v's row
  const bool *allowed;  // the mask, or null
  i32 longest;          // maximum number of entries of a short row
  i32 part;             // entries of one task of a long row
};

/// The searches of a launch. Starts are in the user's numbering.
struct Searches {
  const i32 *starts;
  const i32 *renumbered;  // the graph's number of each of the user's n vertices, or null
  i64 n;
  i32 count;
  i32 limit;    // the greatest level
  i32 towards;  // one of `Towards`
  float favor;  // a search pulls if the edges out of its frontier, times `favor`, exceed
                // the edges out of its unreached vertices
};

/// The state of the vertices: a word has one bit per search, a group has 32 vertices.
struct Words {
  u64 *seen;  // n words, zero at first
  u64 *next;  // one word per vertex with edges, zero at first
  u64 *fresh;
  u32 *open;  // per group: vertices with in-edges that may be reached, and that some search has not
              // reached
  u8 *touched;  // per group, zero at first: some word of `next` has new bits
  u64 *had;  // per group: searches that reached a vertex at this level; if 0, `fresh` is outdated
  u64 *planes;  // levels, see multi_source_bfs_levels.cuh
  i64 stride;   // of planes
  i32 room;     // number of planes; 0: levels are not kept
};

/// The results of a launch. Row v of `levels` begins at v * pitch and has `width` levels; its size
/// is 16 bytes times a power of two.
template <class Level> struct Results {
  u64 *tallies;   // the sums of three levels, used round-robin, zero at first; see Tally
  i64 *totals;    // per search: number of vertices reached, sum of levels, greatest level
  Level *levels;  // null if levels are not wanted
  i64 pitch;
  i32 width;
};

/// The words and the row of a vertex, loaded while another vertex is processed.
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
