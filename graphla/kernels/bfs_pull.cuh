// A level of a breadth-first search by pull: each vertex not yet reached looks for a neighbour that is.
//
// What is tested is the map of all reached vertices, not the frontier: a vertex with a neighbour
// that was reached before the last level would itself have been reached by now. (All levels are
// complete, all starts have level 0: else this would not hold.) The level is written into the other
// map, word by word, by the one warp that owns the word.
#ifndef GRAPHLA_BFS_PULL
#define GRAPHLA_BFS_PULL
#include "bfs.cuh"

namespace graphla {

constexpr int PULL_WORDS = 4;                    // of the map, that a warp has in hand at a time
constexpr int PULL_GROUP = PULL_WORDS * WARP;    // vertices
constexpr int PULL_SHARED = BFS_WARPS * PULL_GROUP * 4;  // bytes: a list of vertices for each warp

template <class S> struct Pull {
  const S &search;
  const u32 *before;
  u32 *after;
  u32 level;
  bool marks;   // those that are not found get the byte that says so
  bool queues;  // those that are found are queued
  i32 *list;    // shared: of this warp, room for PULL_GROUP
  u32 *words;   // shared: of this warp, what it finds

  /// Whether one of the entries p, p + step ... below end of the row is reached; four at a time.
  /// Which, in `by`; p ends behind those looked at.
  template <class Place> DEVICE bool looks(Place &p, Place end, int step, i32 &by) const {
    i32 u[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) u[k] = p + k * step < end ? search.in[p + k * step] : -1;
    bool is_reached[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) is_reached[k] = u[k] >= 0 && bit_of(before, u[k]);
#pragma unroll
    for (int k = 3; k >= 0; --k) {
      if (is_reached[k]) by = u[k];
    }
    p += 4 * step;
    return is_reached[0] || is_reached[1] || is_reached[2] || is_reached[3];
  }

  /// v of this warp's group is found, from `by`; by one lane.
  DEVICE void find(i64 group, i32 v, i32 by) const {
    const int place = int(v - group * PULL_GROUP);
    atomicOr(&words[place / WARP], 1u << (place & 31));
    if constexpr (S::HAS_PARENTS) search.parents[v] = search.name_of(by);
  }

  /// The rows of `count` vertices of the list; those that are not found are added to `sums`.
  DEVICE void read_rows(i64 group, int count, Sums &sums) const {
    typedef typename S::Offset Offset;
    constexpr int NEAR = 8;  // entries that a lane looks at by itself
    const Offset skip = search.first ? 1 : 0;
    int far = 0;
    for (int i = lane(); i - lane() < count; i += WARP) {
      bool is_far = false;
      i32 v = 0;
      if (i < count) {
        v = list[i];
        const Offset begin = search.in_ptr[v], end = search.in_ptr[v + 1];
        Offset p = begin + skip;
        i32 by = -1;
        bool is_found = false;
        while (p < end && p < begin + skip + NEAR && !is_found) is_found = looks(p, end, 1, by);
        if (is_found) find(group, v, by);
        else if (p < end) is_far = true;
        else sums.into_left += u64(end - begin);
      }
      const u32 some = __ballot_sync(ALL_LANES, is_far);
      __syncwarp();  // the list has been read so far
      if (is_far) list[far + __popc(some & ((1u << lane()) - 1))] = v;
      far += __popc(some);
      __syncwarp();
    }
    for (int i = 0; i < far; ++i) {
      const i32 v = list[i];
      const Offset begin = search.in_ptr[v], end = search.in_ptr[v + 1];
      Offset p = begin + skip + NEAR + lane();
      bool is_found = false;
      while (p - lane() < end && !is_found) {
        i32 by = -1;
        const u32 finders = __ballot_sync(ALL_LANES, looks(p, end, WARP, by));
        is_found = finders != 0;
        if (is_found && lane() == __ffs(int(finders)) - 1) find(group, v, by);
      }
      if (!is_found && lane() == 0) sums.into_left += u64(end - begin);
    }
  }

  DEVICE void operator()(Sums &sums) const {
    typedef typename S::Offset Offset;
    const i64 groups = (search.active + PULL_GROUP - 1) / PULL_GROUP;
    const i64 all_words = (search.active + WARP - 1) / WARP;
    for (i64 group = S::warp_in_grid(); group < groups; group += S::warps_in_grid()) {
      const i64 word = group * PULL_WORDS + lane();
      const bool owns = lane() < PULL_WORDS && word < all_words;
      const u32 reached = owns ? before[word] : 0;
      u32 closed = ~0u;
      if (owns) {
        closed = reached | (search.fixed ? search.fixed[word] : 0);
        const i64 past = (word + 1) * WARP - search.active;
        if (past > 0) closed |= ~0u << (WARP - past);
      }
      if (!marks && __all_sync(ALL_LANES, closed == ~0u)) {
        if (owns) after[word] = reached;
        continue;
      }
      u32 open = 0;  // of this lane's vertices, one in each word
      i32 peek[PULL_WORDS];
#pragma unroll
      for (int k = 0; k < PULL_WORDS; ++k) {
        const i64 v = group * PULL_GROUP + k * WARP + lane();
        if (!(shuffle(closed, k) >> lane() & 1)) open |= 1u << k;
        peek[k] = open >> k & 1 ? (search.first ? search.first[v] : -2) : -1;
      }
      u32 hit = 0;
#pragma unroll
      for (int k = 0; k < PULL_WORDS; ++k) {
        if (peek[k] >= 0 && bit_of(before, peek[k])) hit |= 1u << k;
      }
      u32 found = 0;  // the word that this lane owns
      int listed = 0;
#pragma unroll
      for (int k = 0; k < PULL_WORDS; ++k) {
        const u32 hits = __ballot_sync(ALL_LANES, hit >> k & 1);
        if (lane() == k) found = hits;
        const bool misses = (open >> k & 1) && !(hit >> k & 1) && peek[k] != -1;
        const u32 missing = __ballot_sync(ALL_LANES, misses);
        const i32 v = i32(group * PULL_GROUP + k * WARP + lane());
        if (misses) list[listed + __popc(missing & ((1u << lane()) - 1))] = v;
        listed += __popc(missing);
        if constexpr (S::HAS_PARENTS) {
          if (hit >> k & 1) search.parents[v] = search.name_of(peek[k]);
        }
      }
      if (listed) {
        if (lane() < PULL_WORDS) words[lane()] = found;
        __syncwarp();
        read_rows(group, listed, sums);
        __syncwarp();
        if (lane() < PULL_WORDS) found = load_relaxed(&words[lane()]);
        __syncwarp();
      }
      if (owns) {
        after[word] = reached | found;
        sums.found += u32(__popc(found));
        sums.left += u32(__popc(~(closed | found)));
      }
#pragma unroll
      for (int k = 0; k < PULL_WORDS; ++k) {
        const i32 v[1] = {i32(group * PULL_GROUP + k * WARP + lane())};
        const bool is_found = shuffle(found, k) >> lane() & 1;
        const bool is_known = shuffle(reached, k) >> lane() & 1;
        if (is_found) search.settle(v[0], level);
        else if (marks && v[0] < search.active && !is_known) search.bytes[v[0]] = u8(UNREACHED);
        if (!queues && !search.is_directed) continue;
        Offset begin[1] = {0};
        u32 degree[1] = {0};
        if (is_found) {
          begin[0] = search.out_ptr[v[0]];
          degree[0] = u32(search.out_ptr[v[0] + 1] - begin[0]);
          sums.out += degree[0];
        }
        if (queues && __any_sync(ALL_LANES, is_found)) {
          search.template enqueue<1>(is_found, v, begin, degree);
        }
      }
    }
  }
};

}  // namespace graphla
#endif
