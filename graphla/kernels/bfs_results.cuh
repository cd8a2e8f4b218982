// What a breadth-first search found, in the user's numbering; and parents of the least number.
#ifndef GRAPHLA_BFS_RESULTS
#define GRAPHLA_BFS_RESULTS
#include "bfs.cuh"

namespace graphla {

/// Of a relabelled graph: levels, parents and presence, read at new numbers, written by the user's.
///
/// Numbers rise with the user's inside each class of degrees, so what neighbouring lanes read is a
/// few ascending streams.
template <class S, class Level> struct Results {
  const S &search;
  i64 n;
  const i32 *__restrict__ renumbered;
  const u32 *map;
  bool is_marked;  // bytes say what is not reached: the map need not be asked
  bool has_idle;
  Level *levels;
  i32 *parents;
  bool *present;

  DEVICE void rename() const {
    constexpr int K = 8;
    for (i64 base = S::warp_in_grid() * K * WARP; base < n; base += S::warps_in_grid() * K * WARP) {
      i32 id[K];
      u32 level[K];
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const i64 v = base + k * WARP + lane();
        id[k] = v < n ? load_once(&renumbered[v]) : -1;
      }
      u32 is_reached = 0;
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const bool is_idle = i64(id[k]) >= search.active;
        if (id[k] < 0 || (is_idle && !has_idle)) continue;
        if (is_marked && !is_idle) is_reached |= 1u << k;
        else is_reached |= (map[id[k] / WARP] >> (id[k] & 31) & 1) << k;
      }
#pragma unroll
      for (int k = 0; k < K; ++k) {
        level[k] = 0;
        if (search.bytes && (is_reached >> k & 1)) level[k] = search.bytes[id[k]];
      }
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const i64 v = base + k * WARP + lane();
        if (v >= n) continue;
        bool is_here = is_reached >> k & 1;
        if (is_marked && level[k] == UNREACHED && i64(id[k]) < search.active) is_here = false;
        if (is_here && search.bytes) {
          levels[v] = Level(level[k] < DEEP || !search.deep ? i32(level[k]) : search.deep[id[k]]);
        }
        if constexpr (S::HAS_PARENTS) {
          if (is_here) parents[v] = search.parents[id[k]];
        }
        present[v] = is_here;
      }
    }
  }
};

/// A flag for each bit of the map. `present` begins at a multiple of 4 bytes.
DEVICE void show_present(const u32 *map, i64 n, bool *present) {
  const i64 words = (n + WARP - 1) / WARP;
  const i64 warps = i64(gridDim.x) * BFS_WARPS;
  for (i64 base = (i64(warp_in_block()) * gridDim.x + blockIdx.x) * WARP; base < words; base += warps * WARP) {
    const i64 word = base + lane();
    const u32 mine = word < words ? map[word] : 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {  // four words make the 128 bytes that a warp stores at once
      const u32 four = shuffle(mine, k * 4 + lane() / 8) >> (lane() % 8 * 4) & 15;
      const i64 v = base * WARP + k * 128 + lane() * 4;
      if (v + 4 <= n) {
        ((u32 *)present)[v / 4] = (four * 0x00204081u) & 0x01010101u;
      } else {
        for (i64 i = v; i < n; ++i) present[i] = four >> (i - v) & 1;
      }
    }
  }
}

/// Of all neighbours that are a level nearer each vertex takes the one of the least number, in the
/// user's numbering: by rows of edges into it the first of them, else by the edges out of each.
template <class Offset, class Level>
DEVICE void take_least_parents(i64 n, const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                               bool by_columns, const Level *levels, const bool *present, i32 *parents) {
  const i64 warps = i64(gridDim.x) * BFS_WARPS;
  for (i64 base = (i64(warp_in_block()) * gridDim.x + blockIdx.x) * WARP; base < n; base += warps * WARP) {
    const i64 v = base + lane();
    const bool is_here = v < n && present[v];
    const i32 mine = is_here ? i32(levels[v]) : 0;
    const bool counts = is_here && (!by_columns || mine > 0);
    const Offset begin = counts ? indptr[v] : 0, end = counts ? indptr[v + 1] : 0;
    for (u32 some = __ballot_sync(ALL_LANES, begin < end); some; some &= some - 1) {
      const int which = __ffs(int(some)) - 1;
      const Offset last = shuffle(end, which);
      const i32 wanted = shuffle(mine, which) + (by_columns ? -1 : 1);
      bool is_found = false;
      for (Offset p = shuffle(begin, which) + lane(); p - lane() < last && !is_found; p += WARP) {
        const i32 u = p < last ? indices[p] : -1;
        const bool fits = u >= 0 && present[u] && i32(levels[u]) == wanted;
        if (by_columns) {
          const u32 nearer = __ballot_sync(ALL_LANES, fits);
          is_found = nearer != 0;
          if (is_found && lane() == __ffs(int(nearer)) - 1) parents[base + which] = u;
        } else if (fits) {
          atomicMin(&parents[u], i32(base + which));
        }
      }
    }
  }
}

}  // namespace graphla
#endif
