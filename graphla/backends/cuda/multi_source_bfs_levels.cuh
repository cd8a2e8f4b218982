// The levels of breadth-first searches from up to 64 start vertices. While the searches run, each
// level is stored as a code, and each bit of the codes is stored in a separate array, called a
// plane. At the end the planes are converted to numbers.
//
// Plane b has one word per vertex. Bit s of the word is bit b of the code of the vertex's level in
// search s. The code of a level is a Gray code combined with a constant by XOR, such that the code
// of level 3 is zero, and the codes of levels 2 and 4 have only one set bit. In a small-world graph
// most vertices have one of these levels, so storing a level seldom sets more than one bit.
#ifndef GRAPHLA_MANY_LEVELS
#define GRAPHLA_MANY_LEVELS
#include "multi_source_bfs.cuh"

namespace graphla {

constexpr u32 CENTER = 2;  // the Gray code of level 3

DEVICE u32 code_of(i32 level) { return u32(level ^ (level >> 1)) ^ CENTER; }

/// Returns the number of planes that are needed for the levels 0 to `level`.
DEVICE int planes_for(i32 level) { return greatest(2, 32 - __clz(level)); }

/// Returns whether `level` needs one plane more than the level before it. A plane is an array for
/// one bit of the codes of levels.
DEVICE bool opens_plane(i32 level) { return level >= 4 && (level & (level - 1)) == 0; }

/// Stores `level` in the planes as the level of vertex v in the searches whose bits are set in
/// `fresh`. These searches have just reached v.
DEVICE void note_level(const Words &words, u32 v, u64 seen, u64 fresh, i32 level) {
  const u32 code = code_of(level);
  const int used = planes_for(level);
  for (int b = 0; b < used; ++b) {
    u64 *word = &words.planes[b * words.stride + v];
    const u64 bits = code >> b & 1 ? fresh : 0;
    const bool is_new = !seen || (b == used - 1 && opens_plane(level));
    // No other thread writes this word. add_bits is used because it does not wait for the old
    // value.
    if (is_new) *word = bits;
    else if (bits) add_bits(word, bits);
  }
}

/// Sixteen bytes that one instruction stores.
struct alignas(16) Quad {
  u32 word[4];
};

/// Returns the levels of one vertex in consecutive searches, starting at search `first`. The result
/// holds 16 levels of one byte, or 4 levels of type int32.
template <class Level>
DEVICE Quad levels_from(const u64 *planes, i64 stride, i64 v, int used, u64 seen, int first) {
  Quad quad = {{0, 0, 0, 0}};
  // Multiplication by SPREAD copies bits 0..3 to the low bits of 4 bytes; ONES selects these bits.
  constexpr u32 SPREAD = 0x00204081, ONES = 0x01010101;
  u32 run = 0;
  for (int b = used - 1; b >= 0; --b) {
    run ^= u32(planes[b * stride + v] >> first) ^ (CENTER >> b & 1 ? ~0u : 0u);
    for (int q = 0; q < 4; ++q) {
      if constexpr (sizeof(Level) == 1) quad.word[q] |= ((run >> 4 * q & 15) * SPREAD & ONES) << b;
      else quad.word[q] |= (run >> q & 1) << b;
    }
  }
  const u32 missed = ~u32(seen >> first);
  for (int q = 0; q < 4; ++q) {
    if constexpr (sizeof(Level) == 1)
      quad.word[q] |= ((missed >> 4 * q & 15) * SPREAD & ONES) * 255;
    else if (missed >> q & 1) quad.word[q] = ~0u;
  }
  return quad;
}

constexpr int FEW_PLANES = 4;  // number of planes (bits of a code) for the levels 0 to 15

/// The levels of one vertex in all searches, as bit planes: word k holds bit k of every level.
struct Planes {
  u64 bits[FEW_PLANES];

  /// Loads the vertex's words of the first `used` planes. The other words become zero.
  DEVICE void load(const u64 *planes, i64 stride, int used) {
#pragma unroll
    for (int b = 0; b < FEW_PLANES; ++b) bits[b] = b < used ? planes[b * stride] : 0;
  }

  /// Converts codes to levels.
  DEVICE void decode() {
    static_assert(CENTER == 2, "the code of level 0 is in plane 1");
    bits[1] = ~bits[1];
#pragma unroll
    for (int b = FEW_PLANES - 1; b > 0; --b) bits[b - 1] ^= bits[b];
  }

  /// Returns 16 bytes of levels of the vertex whose words lane `from` has loaded: its levels in
  /// consecutive searches, starting at search `first`. The levels are computed from the first USED
  /// planes. All lanes must call this.
  template <class Level, int USED> DEVICE Quad levels_of(int from, int first, u64 seen) const {
    Quad quad = {{0, 0, 0, 0}};
    constexpr u32 SPREAD = 0x00204081, ONES = 0x01010101;
#pragma unroll
    for (int b = 0; b < USED; ++b) {
      const u32 theirs = u32(shuffle(bits[b], from) >> first);
      for (int q = 0; q < 4; ++q) {
        if constexpr (sizeof(Level) == 1)
          quad.word[q] |= ((theirs >> 4 * q & 15) * SPREAD & ONES) << b;
        else quad.word[q] |= (theirs >> q & 1) << b;
      }
    }
    const u32 missed = ~u32(shuffle(seen, from) >> first);
    for (int q = 0; q < 4; ++q) {
      if constexpr (sizeof(Level) == 1)
        quad.word[q] |= ((missed >> 4 * q & 15) * SPREAD & ONES) * 255;
      else if (missed >> q & 1) quad.word[q] = ~0u;
    }
    return quad;
  }
};

/// Writes the levels to `results.levels`, with one row per vertex in the user's numbering. If there
/// are at most FEW_PLANES planes, each lane first loads and decodes the words of one vertex. Then
/// the lanes of a warp write the rows of their vertices together: each lane writes 16 bytes, and
/// adjacent lanes write adjacent bytes. If there are more planes, each thread decodes the 16 bytes
/// that it writes.
template <class Level>
DEVICE void write_levels(const Words &words, i64 vertices, const Searches &searches, i32 depth,
                         const Results<Level> &results) {
  constexpr int EACH = 16 / sizeof(Level);
  const u32 active = u32(vertices), n = u32(searches.n);
  const i32 *renumbered = searches.renumbered;
  Level *levels = results.levels;
  const i64 pitch = results.pitch;
  const int width = results.width;
  const int used = least(planes_for(depth), words.room);
  const int shift = __ffs(width / EACH) - 1, last = width / EACH - 1;
  const u32 begin = u32(thread_in_grid()), step = u32(threads_in_grid());
  const auto number = [&](u32 row) {
    return row >= n ? 0u : renumbered ? u32(renumbered[row]) : row;
  };
  if (used > FEW_PLANES) {
    for (i64 k = begin; k < i64(n) << shift; k += step) {
      const u32 row = u32(k >> shift), v = number(row);
      const int first = (int(k) & last) * EACH;
      const u64 seen = words.seen[v];
      const int planes = v < active && seen ? used : 0;
      const Quad quad = levels_from<Level>(words.planes, words.stride, v, planes, seen, first);
      *(Quad *)&levels[row * pitch + first] = quad;
    }
    return;
  }
  // If no search has reached a vertex, the planes contain undefined bits for this vertex. So none
  // of its words are loaded.
  const auto used_of = [&](u32 v, u64 seen) { return v < active && seen ? used : 0; };
  u32 v = number(begin), later = number(begin + step);
  u64 seen = words.seen[v], seen_later = words.seen[later];
  Planes planes;
  planes.load(words.planes + v, words.stride, used_of(v, seen));
  u32 third = number(begin + 2 * step);
  for (u32 base = begin - lane(); base < n; base += step) {
    // While the thread writes the levels of one vertex, it loads the words of the planes for its
    // next vertex. It also loads the word `seen` for the vertex after that one: `seen` must be
    // known before the planes are loaded, because it decides whether they are read.
    Planes ahead;
    ahead.load(words.planes + later, words.stride, used_of(later, seen_later));
    const u64 seen_third = words.seen[third];
    if (v < active) planes.decode();
    v = later, later = third, third = number(base + 3 * step + lane());
    for (int k = lane(); k < WARP << shift; k += WARP) {
      const int from = k >> shift, first = (k & last) * EACH;
      const Quad quad = used <= 3 ? planes.template levels_of<Level, 3>(from, first, seen)
                                  : planes.template levels_of<Level, FEW_PLANES>(from, first, seen);
      if (base + from < n) *(Quad *)&levels[(base + from) * pitch + first] = quad;
    }
    planes = ahead, seen = seen_later, seen_later = seen_third;
  }
}

}  // namespace graphla
#endif
