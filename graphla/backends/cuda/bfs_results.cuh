// Results of a breadth-first search. The kernel writes levels, parents and presence in the user's
// numbering, and chooses the smallest parents if the caller wants them.
#ifndef GRAPHLA_BFS_RESULTS
#define GRAPHLA_BFS_RESULTS
#include "bfs.cuh"

namespace graphla {

/// Stores a value that no thread will read soon. The store instruction asks the caches to evict
/// this value first, so that it does not displace other data.
template <class T> DEVICE void store_once(T *p, T value) {
#ifdef GRAPHLA_SIMULATOR
  *p = value;
#else
  if constexpr (is_same<T, bool>::value) __stcs((u8 *)p, u8(value));
  else __stcs(p, value);
#endif
}

/// Writes the results of a search in a relabeled graph. The arrays of the search are indexed by the
/// graph's own vertex numbers, and the results by the user's numbers. A warp processes consecutive
/// vertices of the user's numbering. Within each degree class, the vertices have the same order in
/// both numberings, so the warp reads only a few sequences of increasing addresses. For an
/// unreached vertex, only `present` is meaningful. The other results are arbitrary, but they are
/// stored as well, because the warp then fills whole cache lines.
template <class S, class Level> struct Results {
  const S &search;
  i64 n;
  const i32 *__restrict__ renumbered;
  const u32 *map;
  // Whether search.bytes holds UNREACHED for each unreached vertex with edges. If so, the levels of
  // vertices with edges are read from search.bytes alone, without the map of reached vertices.
  bool is_marked;
  bool has_idle;
  Level *levels;
  i32 *parents;
  bool *present;

  static constexpr int TOGETHER = 8;  // number of loads in flight per lane

  DEVICE void rename() const {
    // A warp processes up to 1,024 consecutive vertices at a time; in a small graph fewer, so that
    // all warps have work.
    const u32 lines = (u32(n) + WARP - 1) / WARP, share = lines / u32(S::warps_in_grid()) + 1;
    const i64 length = least(share, u32(4 * TOGETHER)) * WARP;
    for (i64 run = S::warp_in_grid() * length; run < n; run += S::warps_in_grid() * length) {
      const i64 end = least(run + length, n);
      for (i64 base = run; base < end; base += TOGETHER * WARP) rename_some(base, end);
    }
  }

  /// Returns the level of vertex `id` as one byte, or UNREACHED if the search has not reached the
  /// vertex. A vertex with the number search.active or a higher one has no edges, so the search
  /// reaches such a vertex only if it is a start vertex. An `id` of -1 means that the lane has no
  /// vertex; the result is then UNREACHED.
  DEVICE u32 level_of(i32 id) const {
    const bool is_idle = u32(id) >= u32(search.active);
    if (is_idle ? !has_idle || id < 0 : is_marked) return is_idle ? UNREACHED : search.bytes[id];
    if (!(map[id / WARP] >> (id & 31) & 1)) return UNREACHED;
    return search.bytes ? search.bytes[id] : 0;
  }

  DEVICE void rename_some(i64 base, i64 end) const {
    i32 id[TOGETHER];
    u32 level[TOGETHER];
#pragma unroll
    for (int k = 0; k < TOGETHER; ++k) {
      const i64 v = base + k * WARP + lane();
      id[k] = v < end ? load_once(&renumbered[v]) : -1;
    }
#pragma unroll
    for (int k = 0; k < TOGETHER; ++k) level[k] = level_of(id[k]);
    i32 parent[S::HAS_PARENTS ? TOGETHER : 1];
    if constexpr (S::HAS_PARENTS) {
#pragma unroll
      for (int k = 0; k < TOGETHER; ++k)
        parent[k] = level[k] != UNREACHED ? search.parents[id[k]] : 0;
    }
#pragma unroll
    for (int k = 0; k < TOGETHER; ++k) {
      const i64 v = base + k * WARP + lane();
      if (v >= end) continue;
      store_once(&present[v], level[k] != UNREACHED);
      if (levels) {
        const bool is_deep = level[k] == DEEP && search.deep;
        store_once(&levels[v], Level(is_deep ? search.deep[id[k]] : i32(level[k])));
      }
      if constexpr (S::HAS_PARENTS) store_once(&parents[v], parent[k]);
    }
  }
};

/// Expands the map to the array `present`: one flag per vertex. `present` must be aligned to 4
/// bytes.
DEVICE void show_present(const u32 *map, i64 n, bool *present) {
  const i64 words = (n + WARP - 1) / WARP;
  const i64 warps = i64(gridDim.x) * BFS_WARPS;
  for (i64 base = (i64(warp_in_block()) * gridDim.x + blockIdx.x) * WARP; base < words;
       base += warps * WARP) {
    const i64 word = base + lane();
    const u32 mine = word < words ? map[word] : 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      // Four bits of the map. Each lane expands four bits to four flags of one byte, so the warp
      // expands four words in each iteration.
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

/// Chooses the parent of each vertex. The candidates are the vertex's neighbors that are one level
/// closer to the start vertices. The candidate with the smallest number in the user's numbering
/// becomes the parent. If a row holds the edges into a vertex (`by_columns` is true), the parent is
/// the first candidate in the vertex's row. If a row holds the edges out of a vertex, each vertex
/// proposes itself as a parent to the neighbors in its row, and the smallest proposal wins.
template <class Offset, class Level>
DEVICE void take_least_parents(i64 n, const Answer<Offset, Level> &answer) {
  const Offset *__restrict__ indptr = answer.least_ptr;
  const i32 *__restrict__ indices = answer.least_of;
  const Level *const levels = answer.levels;
  const bool *const present = answer.present, by_columns = answer.by_columns;
  const i64 warps = threads_in_grid() / WARP;
  for (i64 base = (i64(warp_in_block()) * gridDim.x + blockIdx.x) * WARP; base < n;
       base += warps * WARP) {
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
          if (is_found && lane() == __ffs(int(nearer)) - 1) answer.parents[base + which] = u;
        } else if (fits) {
          atomicMin(&answer.parents[u], i32(base + which));
        }
      }
    }
  }
}

}  // namespace graphla
#endif
