// What searches from up to 64 starts at once share: bit s of a vertex's word is search s.
//
// Levels are kept bit by bit, in *planes*: word v of plane b holds bit b of the code of v's level,
// for all searches. The code is a Gray code turned so that levels 2, 3 and 4, where most vertices
// of a small world lie, have one bit, none and one bit: a level then writes to few planes.
#ifndef GRAPHLA_MANY
#define GRAPHLA_MANY
#include "device.cuh"

namespace graphla {

constexpr u32 CENTRE = 2;  // the Gray code of level 3

DEVICE u32 code_of(i32 level) { return u32(level ^ (level >> 1)) ^ CENTRE; }

/// How many planes hold the levels up to `level`.
DEVICE int planes_for(i32 level) { return greatest(2, 32 - __clz(level)); }

/// Whether plane `b` is first written at `level`.
DEVICE bool opens_plane(i32 level) { return level >= 4 && (level & (level - 1)) == 0; }

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

/// Sixteen bytes, stored at once.
struct alignas(16) Quad {
  u32 word[4];
};

/// Levels of 16 (one byte each) or 4 (int32) searches from `first` on, of one vertex.
template <class Level>
DEVICE Quad levels_from(const u64 *planes, i64 stride, i64 v, int used, u64 seen, int first) {
  Quad quad = {{0, 0, 0, 0}};
  constexpr u32 SPREAD = 0x00204081, ONES = 0x01010101;  // bits 0..3 to the low bits of 4 bytes
  u32 run = 0;
  for (int b = used - 1; b >= 0; --b) {
    run ^= u32(planes[b * stride + v] >> first) ^ (CENTRE >> b & 1 ? ~0u : 0u);
    for (int q = 0; q < 4; ++q) {
      if constexpr (sizeof(Level) == 1) quad.word[q] |= ((run >> 4 * q & 15) * SPREAD & ONES) << b;
      else quad.word[q] |= (run >> q & 1) << b;
    }
  }
  const u32 missed = ~u32(seen >> first);
  for (int q = 0; q < 4; ++q) {
    if constexpr (sizeof(Level) == 1) quad.word[q] |= ((missed >> 4 * q & 15) * SPREAD & ONES) * 255;
    else if (missed >> q & 1) quad.word[q] = ~0u;
  }
  return quad;
}

constexpr int FEW_PLANES = 4;  // levels 0 to 15

/// The planes of a lane's vertex: bit b of its levels.
struct Planes {
  u64 bits[FEW_PLANES];

  /// The first `used` planes as they are kept, those beyond being zero.
  DEVICE void load(const u64 *planes, i64 stride, int used) {
#pragma unroll
    for (int b = 0; b < FEW_PLANES; ++b) bits[b] = b < used ? planes[b * stride] : 0;
  }

  /// From codes to levels.
  DEVICE void decode() {
    static_assert(CENTRE == 2, "the code of level 0 is in plane 1");
    bits[1] = ~bits[1];
#pragma unroll
    for (int b = FEW_PLANES - 1; b > 0; --b) bits[b - 1] ^= bits[b];
  }

  /// Levels, of USED bits, of some searches, from `first` on, of the vertex of lane `from`; all
  /// lanes call.
  template <class Level, int USED> DEVICE Quad levels_of(int from, int first, u64 seen) const {
    Quad quad = {{0, 0, 0, 0}};
    constexpr u32 SPREAD = 0x00204081, ONES = 0x01010101;
#pragma unroll
    for (int b = 0; b < USED; ++b) {
      const u32 theirs = u32(shuffle(bits[b], from) >> first);
      for (int q = 0; q < 4; ++q) {
        if constexpr (sizeof(Level) == 1) quad.word[q] |= ((theirs >> 4 * q & 15) * SPREAD & ONES) << b;
        else quad.word[q] |= (theirs >> q & 1) << b;
      }
    }
    const u32 missed = ~u32(shuffle(seen, from) >> first);
    for (int q = 0; q < 4; ++q) {
      if constexpr (sizeof(Level) == 1) quad.word[q] |= ((missed >> 4 * q & 15) * SPREAD & ONES) * 255;
      else if (missed >> q & 1) quad.word[q] = ~0u;
    }
    return quad;
  }
};

}  // namespace graphla
#endif
