// A level of a breadth-first search by pull: each vertex not yet reached looks for a neighbour that is.
//
// What is tested is the map of all reached vertices, not the frontier: a vertex with a neighbour
// that was reached before the last level would itself have been reached by now. (All levels are
// complete and all starts have level 0: else this would not hold.) The level is written into the
// other map.
//
// A warp sweeps words of the map. It peeks at the first neighbours, which lie side by side, and only
// lists the vertices that miss; lists are read 32 rows at a time, a lane a row, then a warp a row,
// and what is left of the longest rows by the whole block, when the sweep is over.
#ifndef GRAPHLA_BFS_PULL
#define GRAPHLA_BFS_PULL
#include "bfs.cuh"

namespace graphla {

constexpr int PULL_WORDS = 4;                  // of the map, that a warp has in hand at a time
constexpr int PULL_GROUP = PULL_WORDS * WARP;  // vertices
constexpr int PULL_FAR = 256;                  // rows that wait for the whole block

template <class S> struct Pull {
  typedef typename S::Sums Sums;
  typedef typename S::Slot Slot;  // places of entries: without sign, so that none overflows
  const S &search;
  const u32 *before;
  u32 *after;
  u32 level;
  bool marks;        // vertices that are not reached get the byte that says so
  bool queues;       // those that are found are kept for the queue
  i32 chunk;         // words of the map that a warp takes at a time: 4, or 32 where few are open
  u32 several;       // vertices from this one on have one neighbour at most
  i32 *list;         // shared: of this warp,
  int room;          // PULL_GROUP or more
  i32 *far;          // shared: PULL_FAR
  u32 *far_count;    // shared
  u32 *far_found;    // shared

  static constexpr int NEAR = 8;      // entries that a lane looks at by itself
  static constexpr int LONG = 2048;   // entries from which a row is the whole block's

  /// Whether one of the entries p, p + step ... of the row is reached, four at a time: which, in
  /// `by`. p ends behind those looked at.
  DEVICE bool looks(Slot &p, Slot end, u32 step, i32 &by) const {
    i32 u[4];
    bool is_reached[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) u[k] = p + u32(k) * step < end ? search.in[p + u32(k) * step] : -1;
#pragma unroll
    for (int k = 0; k < 4; ++k) is_reached[k] = u[k] >= 0 && bit_of(before, u[k]);
#pragma unroll
    for (int k = 3; k >= 0; --k) {
      if (is_reached[k]) by = u[k];
    }
    p += 4 * step;
    return is_reached[0] || is_reached[1] || is_reached[2] || is_reached[3];
  }

  DEVICE void settle(i32 v, i32 by, Sums &sums) const {
    search.settle(v, level);
    if constexpr (S::HAS_PARENTS) search.parents[v] = search.name_of(by);
    if (search.is_directed) sums.out += Slot(search.out_ptr[v + 1] - search.out_ptr[v]);
  }
  /// v is found, from `by`; by one lane.
  DEVICE void find(i32 v, i32 by, Sums &sums) const {
    atomicOr(&after[u32(v) / WARP], 1u << (v & 31));
    settle(v, by, sums);
    ++sums.found, --sums.left;
  }

  /// The rows of `count` vertices of the list.
  DEVICE void read_rows(int count, Sums &sums) const {
    const u32 skip = search.first ? 1 : 0;
    int longer = 0;
    __syncwarp();
    for (int i = lane(); i - lane() < count; i += WARP) {
      bool goes_on = false, is_found = false;
      i32 v[1] = {0};
      if (i < count) {
        v[0] = list[i];
        const Slot begin = Slot(search.in_ptr[v[0]]), end = Slot(search.in_ptr[v[0] + 1]);
        Slot p = begin + skip;
        i32 by = -1;
        while (p < end && p < begin + skip + NEAR && !is_found) is_found = looks(p, end, 1, by);
        if (is_found) {
          find(v[0], by, sums);
        } else if (p >= end) {
          sums.into_left += Slot(end - begin);
        } else {
          goes_on = true;
          if (end - p >= LONG) {
            const u32 at = atomicAdd(far_count, 1u);
            if (at < PULL_FAR) far[at] = v[0], goes_on = false;
          }
        }
      }
      if (queues) search.template keep<1>(is_found, v);
      const u32 some = __ballot_sync(ALL_LANES, goes_on);
      __syncwarp();  // the list has been read so far
      if (goes_on) list[longer + __popc(some & lanes_before())] = v[0];
      longer += __popc(some);
      __syncwarp();
    }
    for (int i = 0; i < longer; ++i) {
      const i32 v[1] = {list[i]};
      const Slot begin = Slot(search.in_ptr[v[0]]), end = Slot(search.in_ptr[v[0] + 1]);
      Slot p = begin + skip + NEAR + u32(lane());
      bool is_found = false;
      while (p - u32(lane()) < end && !is_found) {
        i32 by = -1;
        const u32 finders = __ballot_sync(ALL_LANES, looks(p, end, WARP, by));
        is_found = finders != 0;
        if (is_found && lane() == __ffs(int(finders)) - 1) find(v[0], by, sums);
      }
      if (!is_found && lane() == 0) sums.into_left += Slot(end - begin);
      if (queues) search.template keep<1>(is_found && lane() == 0, v);
    }
    __syncwarp();
  }

  /// What is left of the longest rows; all threads of the block call.
  DEVICE void read_far(Sums &sums) const {
    const u32 skip = (search.first ? 1 : 0) + NEAR;
    __syncthreads();
    const int count = int(least(*far_count, u32(PULL_FAR)));
    for (int i = 0; i < count; ++i) {
      const i32 v[1] = {far[i]};
      const Slot begin = Slot(search.in_ptr[v[0]]), end = Slot(search.in_ptr[v[0] + 1]);
      if (threadIdx.x == 0) *far_found = 0;
      __syncthreads();
      for (Slot p = begin + skip + threadIdx.x; p - u32(lane()) < end;) {
        i32 by = -1;
        const u32 finders = __ballot_sync(ALL_LANES, looks(p, end, BFS_THREADS, by));
        if (finders && lane() == __ffs(int(finders)) - 1 && !atomicExch(far_found, 1u)) {
          find(v[0], by, sums);
        }
        if (finders || load_relaxed(far_found)) break;
      }
      __syncthreads();
      const bool is_found = load_relaxed(far_found) != 0;
      if (!is_found && threadIdx.x == 0) sums.into_left += Slot(end - begin);
      if (queues && warp_in_block() == 0) search.template keep<1>(is_found && lane() == 0, v);
      __syncthreads();
    }
    if (threadIdx.x == 0) *far_count = 0;
  }

  /// Peeks for the vertices of words sub..sub + 3 of the chunk that starts at `base`, of which lane
  /// sub + k holds `closed` and takes `found`; lists those that miss.
  DEVICE void peek(u32 base, int sub, u32 closed, u32 &found, int &listed, Sums &sums) const {
    i32 u[PULL_WORDS];
#pragma unroll
    for (int k = 0; k < PULL_WORDS; ++k) {
      const u32 v = (base + sub + k) * WARP + lane();
      const bool is_open = !(shuffle(closed, sub + k) >> lane() & 1);
      u[k] = is_open ? (search.first ? search.first[v] : -2) : -3;
    }
    u32 hit = 0;
#pragma unroll
    for (int k = 0; k < PULL_WORDS; ++k) {
      if (u[k] >= 0 && bit_of(before, u[k])) hit |= 1u << k;
    }
#pragma unroll
    for (int k = 0; k < PULL_WORDS; ++k) {
      const u32 v = (base + sub + k) * WARP + lane();
      const bool is_hit = hit >> k & 1;
      const u32 hits = __ballot_sync(ALL_LANES, is_hit);
      if (lane() == sub + k) found = hits;
      const bool misses = !is_hit && (u[k] >= 0 || u[k] == -2);
      if (is_hit) settle(i32(v), u[k], sums);
      const u32 missing = __ballot_sync(ALL_LANES, misses && v < several);
      if (misses) {
        if (v < several) list[listed + __popc(missing & lanes_before())] = i32(v);
        else ++sums.into_left;
      }
      listed += __popc(missing);
    }
    if (!queues) return;
#pragma unroll 1
    for (int k = 0; k < PULL_WORDS; ++k) {
      const i32 v[1] = {i32((base + sub + k) * WARP + lane())};
      search.template keep<1>(shuffle(found, sub + k) >> lane() & 1, v);
    }
  }

  DEVICE void operator()(Sums &sums) const {
    const u32 words = u32((search.active + WARP - 1) / WARP), stride = u32(S::warps_in_grid() * chunk);
    int listed = 0, sub = chunk;
    u32 base = u32(S::warp_in_grid() * chunk) - stride;
    u32 reached = 0, closed = ~0u, found = 0, some = 0;
    bool owns = false;
    while (true) {
      if (sub >= chunk) {  // the next chunk of words, a lane a word
        base += stride;
        sub = 0;
        const u32 word = base + lane();
        owns = lane() < chunk && word < words;
        reached = owns ? before[word] : 0;
        closed = ~0u;
        if (owns) {
          closed = reached | (search.fixed ? search.fixed[word] : 0);
          const int inside = int(u32(search.active) - word * WARP);
          if (inside < WARP) closed |= ~0u << inside;
          after[word] = reached;
          sums.left += __popc(~closed);
        }
        some = __ballot_sync(ALL_LANES, closed != ~0u);
      }
      const bool is_over = base >= words;
      if (is_over || listed + PULL_GROUP > room) {
        read_rows(listed, sums);
        listed = 0;
      }
      if (is_over) break;
      if (marks || (some >> sub & ((1u << PULL_WORDS) - 1))) {
        found = 0;
        peek(base, sub, closed, found, listed, sums);
        if (marks) mark(base, sub, reached | found);
        if (owns && found) {  // before the rows of this chunk are read
          after[base + lane()] = reached | found;
          sums.found += __popc(found), sums.left -= __popc(found);
        }
      }
      sub += PULL_WORDS;
      __syncwarp();
    }
    read_far(sums);
  }

  /// The byte that says so, to vertices of words sub..sub + 3 of the chunk that are not reached.
  DEVICE void mark(u32 base, int sub, u32 reached) const {
#pragma unroll
    for (int k = 0; k < PULL_WORDS; ++k) {
      const u32 v = (base + sub + k) * WARP + lane();
      if (!(shuffle(reached, sub + k) >> lane() & 1) && v < u32(search.active)) search.bytes[v] = u8(UNREACHED);
    }
  }
};

}  // namespace graphla
#endif
