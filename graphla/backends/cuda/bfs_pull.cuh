// The pull step of a breadth-first search: each unreached vertex looks for a reached neighbor.
//
// The pull tests whether a neighbor is in the map of all reached vertices, not only in the
// frontier. Both tests give the same result: if a neighbor had been reached in a level before the
// frontier, the vertex itself would already be reached. This requires that all earlier levels are
// complete, and that all start vertices have level 0. The pull reads one map and writes a second
// map, which also contains the vertices of the new level.
//
// A warp sweeps over words of the map. It first tests one neighbor of each vertex; these first
// neighbors are adjacent in memory. It lists the vertices whose first neighbor is not reached, and
// reads their rows 32 at a time. First each lane reads the beginning of one row, then all lanes
// share the entries that remain in these rows. After the sweep, the whole block reads the rest of
// the longest rows.
#ifndef GRAPHLA_BFS_PULL
#define GRAPHLA_BFS_PULL
#include "bfs.cuh"

namespace graphla {

constexpr int PULL_WORDS = 4;  // number of words of the bit map that a warp processes at a time
constexpr int PULL_GROUP = PULL_WORDS * WARP;  // number of vertices in PULL_WORDS words
constexpr int PULL_FAR = 256;  // maximum number of rows that the whole block reads together

template <class S> struct Pull {
  typedef typename S::Sums Sums;
  /// Position of an entry; unsigned, so that sums of positions do not overflow.
  typedef typename S::Slot Slot;
  const S &search;
  const u32 *before;
  u32 *after;
  u32 level;
  bool marks;   // whether to write UNREACHED as the level byte of vertices that stay unreached
  bool queues;  // whether to buffer the found vertices for the queue
  i32 chunk;    // number of words that a warp takes at a time from the bit map of reached vertices:
                // 4, or 32 if few vertices are unreached
  u32 several;  // vertices numbered `several` or higher have at most one neighbor
  i32 *list;    // in shared memory: vertices whose rows this warp must read
  int room;     // capacity of the list, at least PULL_GROUP
  i32 *far;     // shared: PULL_FAR
  u32 *far_count;  // shared

  static constexpr int NEAR = 8;  // number of entries of a row that a lane reads at a time
  static constexpr int LONG =
      128;  // the whole block reads a row if at least this many of its entries are unread

  DEVICE void settle(i32 v, i32 by, Sums &sums) const {
    search.settle(v, level);
    if constexpr (S::HAS_PARENTS) search.parents[v] = search.name_of(by);
    if (search.is_directed) sums.out += Slot(search.out_ptr[v + 1] - search.out_ptr[v]);
  }
  /// Marks v as reached, and makes `by` its parent. A single lane calls this.
  DEVICE void find(i32 v, i32 by, Sums &sums) const {
    atomicOr(&after[u32(v) / WARP], 1u << (v & 31));
    settle(v, by, sums);
    ++sums.found, --sums.left;
  }

  DEVICE bool is_aligned() const { return !((u64)search.in & 15); }
  /// Returns the index of the entry at which to start reading a row. In a relabeled graph this is
  /// the row's second entry, because the first one has been tested. If the array is aligned, the
  /// index is rounded down to a multiple of four, so that one load reads four entries.
  DEVICE Slot start_of(Slot begin) const {
    const Slot from = begin + (search.old ? 1 : 0);
    return is_aligned() ? from & ~Slot(3) : from;
  }

  /// Reads the rows of the `count` listed vertices. While there are enough rows for all lanes, each
  /// lane reads NEAR entries of a row, and puts the vertex back on the list if its row is not
  /// finished. When few rows are left, their remaining entries are divided evenly among the lanes.
  DEVICE void read_rows(int count, Sums &sums) const {
    u32 done = 0;
    __syncwarp();
    do {
      count = read_near(count, done, sums);
      done += NEAR;
    } while (count > WARP / 2);
    if (count) read_run(count, done, sums);
  }

  /// Reads up to NEAR entries of the row of each of the `count` listed vertices. `done` is the
  /// number of entries of each row that have already been read. Afterwards the list contains the
  /// vertices whose rows this warp must still finish. Returns the number of these vertices.
  DEVICE int read_near(int count, u32 done, Sums &sums) const {
    int longer = 0;
    for (int i = lane(); i - lane() < count; i += WARP) {
      bool goes_on = false, is_found = false;
      i32 v[1] = {0};
      if (i < count) {
        v[0] = list[i];
        const Slot begin = Slot(search.in_ptr[v[0]]), end = Slot(search.in_ptr[v[0] + 1]);
        const Slot p = start_of(begin) + done;
        i32 u[NEAR], by = -1;
#pragma unroll
        for (int k = 0; k < NEAR; k += 4) {
          if (is_aligned() && p + k + 4 <= end) {
            load_four(search.in + p + k, u[k], u[k + 1], u[k + 2], u[k + 3]);
          } else {
#pragma unroll
            for (int j = k; j < k + 4; ++j) u[j] = p + j < end ? search.in[p + j] : -1;
          }
        }
#pragma unroll
        for (int k = 0; k < 3; ++k) {
          if (p + k < begin) u[k] = -1;  // entry p + k belongs to the previous row
        }
        is_found = meets<0, NEAR / 2>(u, by) || meets<NEAR / 2, NEAR>(u, by);
        if (is_found) {
          find(v[0], by, sums);
        } else if (p + NEAR >= end) {
          sums.into_left += Slot(end - begin);
        } else {
          goes_on = true;
          if (end - p >= LONG && !done) {
            const u32 at = atomicAdd(far_count, 1u);
            if (at < PULL_FAR) far[at] = v[0], goes_on = false;
          }
        }
      }
      if (queues) search.template keep<1>(is_found, v);
      const u32 some = __ballot_sync(ALL_LANES, goes_on);
      __syncwarp();  // no lane may overwrite the list before all lanes have read it
      if (goes_on) list[longer + __popc(some & lanes_before())] = v[0];
      longer += __popc(some);
      __syncwarp();
    }
    return longer;
  }

  /// Returns whether one of the vertices u[FROM]..u[TO - 1] is reached, and stores this vertex in
  /// `by`. An element of -1 is skipped.
  template <int FROM, int TO, int K> DEVICE bool meets(const i32 (&u)[K], i32 &by) const {
    bool is_reached[TO - FROM];
#pragma unroll
    for (int k = FROM; k < TO; ++k) is_reached[k - FROM] = u[k] >= 0 && bit_of(before, u[k]);
    bool some = false;
#pragma unroll
    for (int k = TO - 1; k >= FROM; --k) {
      if (is_reached[k - FROM]) by = u[k], some = true;
    }
    return some;
  }

  /// Reads the rows of up to 32 listed vertices to their ends, or until a reached neighbor is
  /// found. `done` is the number of entries of each row that have already been read. Afterwards the
  /// list is empty.
  DEVICE void read_run(int count, u32 done, Sums &sums) const {
    constexpr int K = 4;
    const i32 v[1] = {lane() < count ? list[lane()] : 0};
    const Slot begin = lane() < count ? Slot(search.in_ptr[v[0]]) : 0;
    const Slot end = lane() < count ? Slot(search.in_ptr[v[0] + 1]) : 0;
    Slot p = lane() < count ? start_of(begin) + done : 0;
    __syncwarp();
    list[lane()] = -1;
    __syncwarp();
    while (true) {
      const u32 length = u32(least(Slot(end - p), Slot(1) << 20));
      const u32 through = warp_inclusive_sum(length), ahead = through - length;
      const u32 total = shuffle(through, WARP - 1);
      if (!total) break;
      i32 u[K];
      int of[K];
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const u32 mine = u32(k * WARP + lane());
        of[k] = 0;
#pragma unroll
        for (int step = WARP / 2; step; step /= 2) {
          const u32 there = shuffle(ahead, of[k] + step);
          if (there <= mine) of[k] += step;
        }
        const Slot from = shuffle(p, of[k]);
        const u32 skipped = shuffle(ahead, of[k]);
        u[k] = mine < total ? search.in[from + (mine - skipped)] : -1;
      }
#pragma unroll
      for (int k = 0; k < K; ++k) {
        // Store the reached neighbor in the row's element of the list. If several lanes have found
        // one for the same row, the element receives any of these neighbors.
        if (u[k] >= 0 && bit_of(before, u[k])) atomicExch(&list[of[k]], u[k]);
      }
      __syncwarp();
      const i32 by = load_relaxed(&list[lane()]);
      const bool is_found = length && by >= 0;
      if (is_found) {
        find(v[0], by, sums);
        p = end;
      } else if (length) {
        p += ahead < K * WARP ? least(length, u32(K * WARP) - ahead) : 0;
        if (p == end) sums.into_left += Slot(end - begin);
      }
      if (queues) search.template keep<1>(is_found, v);
    }
    __syncwarp();
  }

  /// Reads the remaining entries of the longest rows. These entries are divided evenly among the
  /// warps of the block. All threads of the block must call this. The lists of the warps are no
  /// longer needed. Their memory is reused for three arrays: the begins of the rows, their ends,
  /// and the reached neighbor that was found in each row.
  DEVICE void read_far(Sums &sums) const {
    constexpr int K = 4;
    __syncthreads();
    const int count = int(least(*far_count, u32(PULL_FAR)));
    if (!count) return;
    Slot *const ends = (Slot *)(list - warp_in_block() * room), *const begins = ends + PULL_FAR;
    i32 *const by = (i32 *)(begins + PULL_FAR);
    if (warp_in_block() == 0) {
      Slot total = 0;
      for (int i = lane(); i - lane() < count; i += WARP) {
        const i32 v = i < count ? far[i] : 0;
        const Slot begin = start_of(Slot(search.in_ptr[v])) + NEAR;
        const Slot length = i < count ? Slot(search.in_ptr[v + 1]) - begin : 0;
        const Slot through = warp_inclusive_sum(length);
        const Slot ahead = total + through - length;
        if (i < count) ends[i] = ahead + length, begins[i] = begin - ahead, by[i] = -1;
        total += shuffle(through, WARP - 1);
      }
    }
    __syncthreads();
    for (Slot first = Slot(warp_in_block() * K * WARP); first < ends[count - 1];
         first += BFS_THREADS * K) {
      i32 u[K];
      int row[K];
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const Slot mine = first + Slot(k * WARP + lane());
        row[k] = 0, u[k] = -1;
        if (mine >= ends[count - 1]) continue;
        row[k] = upper_bound<Slot, int>(ends, 0, count, mine);
        if (load_relaxed(&by[row[k]]) < 0) u[k] = search.in[begins[row[k]] + mine];
      }
#pragma unroll
      for (int k = 0; k < K; ++k) {
        if (u[k] >= 0 && bit_of(before, u[k])) atomicExch(&by[row[k]], u[k]);
      }
    }
    __syncthreads();
    if (threadIdx.x < PULL_FAR) {
      const int i = int(threadIdx.x);
      const i32 v[1] = {i < count ? far[i] : 0};
      const bool is_found = i < count && by[i] >= 0;
      if (is_found) find(v[0], by[i], sums);
      else if (i < count) sums.into_left += Slot(search.in_ptr[v[0] + 1] - search.in_ptr[v[0]]);
      if (queues) search.template keep<1>(is_found, v);
    }
    __syncthreads();
    if (threadIdx.x == 0) *far_count = 0;
  }

  /// Tests the first neighbors of the vertices in the words sub..sub + 3 of a chunk, and lists the
  /// vertices whose first neighbor is not reached. Word k of the chunk is word base + k * apart of
  /// the map, and belongs to lane k. The set bits of a lane's `closed` are the vertices of its word
  /// to skip. The function sets the bits of `found` for the vertices whose first neighbor is
  /// reached.
  DEVICE void peek(u32 base, u32 apart, int sub, u32 closed, u32 &found, int &listed,
                   Sums &sums) const {
    i32 u[PULL_WORDS];
#pragma unroll
    for (int k = 0; k < PULL_WORDS; ++k) {
      const u32 v = (base + u32(sub + k) * apart) * WARP + lane();
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
      const u32 v = (base + u32(sub + k) * apart) * WARP + lane();
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
      const i32 v[1] = {i32((base + u32(sub + k) * apart) * WARP + lane())};
      search.template keep<1>(shuffle(found, sub + k) >> lane() & 1, v);
    }
  }

  DEVICE void operator()(Sums &sums) const {
    const u32 words = u32((search.active + WARP - 1) / WARP),
              stride = u32(S::warps_in_grid() * chunk);
    // Vertices with many edges have adjacent numbers. If each warp has at most one chunk, compose
    // the chunk of words from distant parts of the bit map. Then no warp gets many such vertices.
    const u32 apart = words <= stride ? u32(S::warps_in_grid()) : 1;
    int listed = 0, sub = chunk;
    u32 base = u32(S::warp_in_grid()) * (apart == 1 ? u32(chunk) : 1) - stride;
    u32 reached = 0, closed = ~0u, found = 0, some = 0;
    bool owns = false;
    while (true) {
      if (sub >= chunk) {  // load the next chunk, one word per lane
        base += stride;
        sub = 0;
        const u32 word = base + u32(lane()) * apart;
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
        peek(base, apart, sub, closed, found, listed, sums);
        if (marks) mark(base, apart, sub, reached | found);
        // Store these words before the listed rows are read, because `find` then sets single bits
        // of the stored words.
        if (owns && found) {
          after[base + u32(lane()) * apart] = reached | found;
          sums.found += __popc(found), sums.left -= __popc(found);
        }
      }
      sub += PULL_WORDS;
      __syncwarp();
    }
    read_far(sums);
  }

  /// Writes UNREACHED for the unreached vertices in words sub..sub + 3 of the chunk.
  DEVICE void mark(u32 base, u32 apart, int sub, u32 reached) const {
#pragma unroll
    for (int k = 0; k < PULL_WORDS; ++k) {
      const u32 v = (base + u32(sub + k) * apart) * WARP + lane();
      if (!(shuffle(reached, sub + k) >> lane() & 1) && v < u32(search.active))
        search.bytes[v] = u8(UNREACHED);
    }
  }
};

}  // namespace graphla
#endif
