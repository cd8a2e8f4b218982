// Breadth-first search of a small graph: the whole traversal by one cluster of blocks.
//
// Every block has all maps of the vertices in its own shared memory, so whether an end is new is
// known without a request to L2, and blocks meet at the barrier of a cluster. Invariants, between two
// levels, in every block:
// - bit v of `seen` is set where v is reached, and of `front` where v's level is `level`;
// - `mine`, what the block finds in the level at work, is 0.
// Words of maps are owned by the blocks in turn, and those of one owner lie together.
//
// A level by push: each block takes some bits of each word of the frontier and follows their rows;
// the cluster meets, and each owner joins what all blocks have found in its words. By pull: an owner's
// vertices that are not reached look for a neighbour that is. Either way the owner settles what is new
// and puts it into `after`, the next frontier, of all blocks, with its sums; the cluster meets.
#include "bfs_results.cuh"
#include "cluster.cuh"

namespace graphla {

constexpr u32 SMALL_LONG = 512;  // entries from which a row is followed by the block together
constexpr int SMALL_FAR = 512;   // rows that wait for that

/// From one block to all, with a level.
struct SmallSums {
  u32 found, out, into;  // vertices, and edges out of and into them
  u32 left;              // with the starts: vertices that are neither reached nor forbidden
  u32 stops;
};

template <class Offset, class Level, bool PARENTS, int SIZE> struct Small {
  // the graph, as in Search
  u32 active;
  const Offset *__restrict__ out_ptr;
  const i32 *__restrict__ out;
  const Offset *__restrict__ in_ptr;
  const i32 *__restrict__ in;
  const i32 *__restrict__ first;
  const i32 *__restrict__ old;
  u32 several;  // vertices from this one on have one neighbour at most
  bool is_directed;
  Level *levels;
  i32 *parents;

  // dynamic shared memory
  SmallSums *sums;  // of even and of odd levels, one from each block
  u32 *seen, *mine;
  u32 *fixed;       // of the block's own words: vertices never to be reached
  i32 *list;        // vertices: of the block, or in equal parts of its warps
  u32 room, words;
  u32 stride;       // words of one owner, an odd number
  u32 rank;

  // shared memory: rows for the whole block; their entries from begin on, their length, then end
  i32 *far, *far_by;
  u32 *far_begin, *far_end, *far_count, *scratch, *totals;

  DEVICE u32 place_of(u32 word) const { return word % SIZE * stride + word / SIZE; }
  DEVICE u32 all_words() const { return SIZE * stride; }
  DEVICE bool has(const u32 *map, i32 v) const { return map[place_of(u32(v) / WARP)] >> (v & 31) & 1; }
  DEVICE i32 name_of(i32 v) const { return old ? old[v] : v; }

  /// The words that a warp has of those that the block owns: begin..end - 1.
  DEVICE void own_words(u32 &begin, u32 &end) const {
    const u32 each = (stride + BFS_WARPS - 1) / BFS_WARPS;
    begin = least(u32(warp_in_block()) * each, stride), end = least(begin + each, stride);
  }

  /// v is found, from `by`.
  DEVICE void find(i32 v, i32 by) const {
    u32 *const word = &mine[place_of(u32(v) / WARP)];
    const u32 bit = 1u << (v & 31);
    if (load_relaxed(word) & bit || atomicOr(word, bit) & bit) return;
    if constexpr (PARENTS) parents[name_of(v)] = name_of(by);
  }

  // --- rows too long for one warp ---------------------------------------------------------------

  /// Whether there is room for a row to wait in.
  DEVICE bool waits(i32 v, u32 begin, u32 length) const {
    const u32 at = atomicAdd(far_count, 1u);
    if (at >= u32(SMALL_FAR)) return false;
    far[at] = v, far_begin[at] = begin, far_end[at] = length, far_by[at] = -1;
    return true;
  }

  /// The rows that wait, as one run: visit(row, entry) for each of a row that has nobody yet in
  /// far_by. All threads of the block call; how many rows there were.
  template <class Visit> DEVICE u32 read_far(const i32 *__restrict__ entries, Visit visit) const {
    constexpr int K = 4;
    __syncthreads();
    const u32 rows = least(*far_count, u32(SMALL_FAR));
    if (!rows) return 0;
    const u32 length = threadIdx.x < rows ? far_end[threadIdx.x] : 0;
    u32 total;
    const u32 ahead = block_exclusive_sum(length, scratch, total);
    if (threadIdx.x < rows) far_end[threadIdx.x] = ahead + length, far_begin[threadIdx.x] -= ahead;
    __syncthreads();
    if (threadIdx.x == 0) *far_count = 0;
#pragma unroll 1
    for (u32 from = u32(warp_in_block()) * K * WARP; from < total; from += BFS_THREADS * K) {
      i32 u[K];
      u32 row[K];
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const u32 e = from + u32(k * WARP + lane());
        row[k] = e < total ? upper_bound<u32, u32>(far_end, 0, rows, e) : 0;
        u[k] = e < total && load_relaxed(&far_by[row[k]]) < 0 ? entries[far_begin[row[k]] + e] : -1;
      }
#pragma unroll
      for (int k = 0; k < K; ++k) {
        if (u[k] >= 0) visit(row[k], u[k]);
      }
    }
    __syncthreads();
    return rows;
  }

  // --- push -------------------------------------------------------------------------------------

  /// The bits of a word of the frontier that are this block's to follow.
  DEVICE u32 share_of(u32 word) const {
    u32 each = 0;
#pragma unroll
    for (int bit = 0; bit < WARP; bit += SIZE) each |= 1u << bit;
    return each << (rank + word) % SIZE;
  }

  /// Lists the block's share of the frontier, from its vertex number `begin` on, as far as there is
  /// room; of how many in all.
  DEVICE u32 list_share(const u32 *front, u32 begin) const {
    u32 count = 0, total;
    for (u32 word = threadIdx.x; word < words; word += BFS_THREADS) count += u32(__popc(front[place_of(word)] & share_of(word)));
    u32 at = block_exclusive_sum(count, scratch, total) - begin;
    if (count) {
      for (u32 word = threadIdx.x; word < words; word += BFS_THREADS) {
        for (u32 bits = front[place_of(word)] & share_of(word); bits; bits &= bits - 1, ++at) {
          if (at < room) list[at] = i32(word * WARP) + __ffs(int(bits)) - 1;
        }
      }
    }
    __syncthreads();
    return total;
  }

  /// Follows v of each lane, where it has one.
  DEVICE void follow(bool has_one, i32 v) const {
    constexpr int K = 4;
    u32 begin = 0, degree = 0;
    if (has_one) begin = u32(out_ptr[v]), degree = u32(out_ptr[v + 1]) - begin;
    if (degree >= SMALL_LONG && waits(v, begin, degree)) degree = 0;
    const u32 through = warp_inclusive_sum(degree), ahead = through - degree;
    const u32 total = shuffle(through, WARP - 1);
#pragma unroll 1
    for (u32 edge = 0; edge < total; edge += K * WARP) {
      i32 u[K], from[K];
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const u32 e = edge + u32(k * WARP + lane());
        int of = 0;
#pragma unroll
        for (int step = WARP / 2; step; step /= 2) {
          const u32 there = shuffle(ahead, of + step);
          if (there <= e) of += step;
        }
        const u32 row = shuffle(begin - ahead, of);
        from[k] = 0;
        if constexpr (PARENTS) from[k] = shuffle(v, of);
        u[k] = e < total ? out[row + e] : -1;
      }
#pragma unroll
      for (int k = 0; k < K; ++k) {
        if (u[k] >= 0 && !has(seen, u[k])) find(u[k], from[k]);
      }
    }
  }

  DEVICE void push(const u32 *front) const {
    u32 begin = 0, total;
    do {
      total = list_share(front, begin);
      const u32 count = least(total - begin, room);
#pragma unroll 1
      for (u32 base = 0; base + u32(warp_in_block()) < count; base += WARP * BFS_WARPS) {
        const u32 entry = base + u32(lane() * BFS_WARPS + warp_in_block());
        follow(entry < count, entry < count ? list[entry] : 0);
      }
      read_far(out, [&](u32 row, i32 u) {
        if (!has(seen, u)) find(u, far[row]);
      });
      begin += room;
    } while (begin < total);
  }

  // --- pull -------------------------------------------------------------------------------------

  /// Vertices of the warp's list that no neighbour looked at so far has settled: 8 entries of each
  /// row, and 8 more; rows that go on then wait for the block, as far as there is room.
  DEVICE void read_rows(i32 *listed, u32 count) const {
    constexpr u32 NEAR = 8;
    __syncwarp();
#pragma unroll 1
    for (u32 done = 0; count; done += NEAR) {
      u32 longer = 0;
#pragma unroll 1
      for (u32 i = u32(lane()); i - u32(lane()) < count; i += WARP) {
        bool goes_on = false;
        i32 v = 0;
        if (i < count) {
          v = listed[i];
          // From a multiple of four on, so that four entries are one load.
          const u32 row = u32(in_ptr[v]), end = u32(in_ptr[v + 1]);
          const u32 p = (is_aligned() ? row & ~3u : row) + done;
          i32 u[NEAR], by = -1;
#pragma unroll
          for (u32 k = 0; k < NEAR; k += 4) {
            if (is_aligned() && p + k + 4 <= end) {
              load_four(&in[p + k], u[k], u[k + 1], u[k + 2], u[k + 3]);
            } else {
#pragma unroll
              for (u32 j = k; j < k + 4; ++j) u[j] = p + j < end ? in[p + j] : -1;
            }
          }
#pragma unroll
          for (u32 k = 0; k < NEAR; ++k) {
            if (u[k] >= 0 && (k > 2 || p + k >= row) && has(seen, u[k])) by = u[k];
          }
          if (by >= 0) find(v, by);
          else goes_on = p + NEAR < end && !(done && waits(v, p + NEAR, end - (p + NEAR)));
        }
        const u32 some = __ballot_sync(ALL_LANES, goes_on);
        __syncwarp();  // the list has been read so far
        if (goes_on) listed[longer + u32(__popc(some & lanes_before()))] = v;
        longer += u32(__popc(some));
        __syncwarp();
      }
      count = longer;
    }
  }
  DEVICE bool is_aligned() const { return !((u64)in & 15); }

  DEVICE void pull() const {
    constexpr u32 K = 4;
    const u32 each = room / BFS_WARPS, open_words = (active + WARP - 1) / WARP;
    i32 *const listed = list + u32(warp_in_block()) * each;
    u32 begin, end, count = 0;
    own_words(begin, end);
#pragma unroll 1
    for (; begin < end; begin += K) {
      if (count + K * WARP > each) {
        read_rows(listed, count);
        count = 0;
      }
      i32 u[K];
#pragma unroll
      for (u32 k = 0; k < K; ++k) {
        const u32 at = begin + k, word = at * SIZE + rank;
        const bool is_there = at < end && word < open_words;
        const u32 closed = is_there ? seen[rank * stride + at] | fixed[at] : ~0u;
        u[k] = closed >> lane() & 1 ? -1 : first ? first[word * WARP + u32(lane())] : -2;
      }
#pragma unroll
      for (u32 k = 0; k < K; ++k) {
        const u32 v = ((begin + k) * SIZE + rank) * WARP + u32(lane());
        const bool is_hit = u[k] >= 0 && has(seen, u[k]);
        const u32 hits = __ballot_sync(ALL_LANES, is_hit);
        if (lane() == 0 && hits) mine[rank * stride + begin + k] |= hits;
        if constexpr (PARENTS) {
          if (is_hit) parents[name_of(i32(v))] = name_of(u[k]);
        }
        const bool misses = !is_hit && u[k] != -1 && v < several;
        const u32 missing = __ballot_sync(ALL_LANES, misses);
        if (misses) listed[count + u32(__popc(missing & lanes_before()))] = i32(v);
        count += u32(__popc(missing));
      }
    }
    read_rows(listed, count);
    const u32 rows = read_far(in, [&](u32 row, i32 u) {
      if (has(seen, u)) store_relaxed(&far_by[row], u);
    });
    if (threadIdx.x < rows && far_by[threadIdx.x] >= 0) find(far[threadIdx.x], far_by[threadIdx.x]);
    __syncthreads();
  }

  // --- what is new ------------------------------------------------------------------------------

  /// Vertices of a word that the block owns are of this level; by a warp.
  DEVICE void settle(u32 at, u32 bits, u32 level, SmallSums &sum) const {
    if (!(bits >> lane() & 1)) return;
    const i32 v = i32((at * SIZE + rank) * WARP) + lane();
    if (levels) levels[name_of(v)] = Level(level);
    ++sum.found;
    sum.out += u32(out_ptr[v + 1] - out_ptr[v]);
    if (is_directed && in_ptr) sum.into += u32(in_ptr[v + 1] - in_ptr[v]);
  }

  /// What has been found in the block's own words, by itself or (`joins`) by all blocks: to all.
  DEVICE void hand_out(bool joins, u32 *after, u32 level, SmallSums &sum) const {
    constexpr u32 K = 4, STEP = WARP / SIZE;  // a lane for each block, and so many words
    const u32 block = u32(lane()) % SIZE, which = u32(lane()) / SIZE;
    u32 *const from = in_block<SIZE>(mine, joins ? block : rank), *const to = in_block<SIZE>(after, block);
    u32 begin, end;
    own_words(begin, end);
#pragma unroll 1
    for (; begin < end; begin += K * STEP) {
      u32 bits[K];
#pragma unroll
      for (u32 k = 0; k < K; ++k) {
        const u32 at = begin + k * STEP + which;
        bits[k] = at < end ? from[rank * stride + at] : 0;
      }
#pragma unroll
      for (u32 k = 0; k < K; ++k) {
        const u32 at = begin + k * STEP + which;
#pragma unroll
        for (int apart = 1; apart < SIZE; apart *= 2) bits[k] |= __shfl_xor_sync(ALL_LANES, bits[k], apart);
        if (at < end) bits[k] &= ~fixed[at], to[rank * stride + at] = bits[k];
      }
#pragma unroll
      for (u32 k = 0; k < K; ++k) {
#pragma unroll 1
        for (u32 some = __ballot_sync(ALL_LANES, block == 0 && bits[k]); some; some &= some - 1) {
          const int from_lane = __ffs(int(some)) - 1;
          settle(begin + k * STEP + u32(from_lane) / SIZE, shuffle(bits[k], from_lane), level, sum);
        }
      }
    }
  }

  /// Adds up what each thread has, and gives it to all blocks; then the cluster meets.
  DEVICE void give(SmallSums sum, u32 parity) const {
    u32 all[5] = {sum.found, sum.out, is_directed ? sum.into : sum.out + sum.into, sum.left, sum.stops};
#pragma unroll
    for (int k = 0; k < 5; ++k) {
      all[k] = warp_sum(all[k]);
      if (lane() == 0 && all[k]) atomicAdd(&totals[k], all[k]);
    }
    __syncthreads();
    if (threadIdx.x < SIZE) {
      *in_block<SIZE>(sums + parity * SIZE + rank, threadIdx.x) = SmallSums{totals[0], totals[1], totals[2], totals[3], totals[4]};
    }
    __syncthreads();
    if (threadIdx.x < 5) totals[threadIdx.x] = 0;
    cluster_meet<SIZE>();
  }

  /// The sums of all blocks, to every thread.
  DEVICE SmallSums receive(u32 parity) const {
    SmallSums sum{};
    if (lane() < SIZE) sum = sums[parity * SIZE + lane()];
    return {warp_sum(sum.found), warp_sum(sum.out), warp_sum(sum.into), warp_sum(sum.left), warp_sum(sum.stops)};
  }

  // --- the beginning and the end ----------------------------------------------------------------

  /// Vertices that the mask hides, and those without edges; edges into the former are `sum.into`.
  DEVICE void forbid(const u32 *__restrict__ idle, const bool *__restrict__ flags, bool complement, SmallSums &sum) const {
    u32 at, end;
    own_words(at, end);
#pragma unroll 1
    for (; at < end; ++at) {
      const u32 word = at * SIZE + rank, v = word * WARP + u32(lane());
      const bool is_hidden = flags && v < active && flags[name_of(i32(v))] == complement;
      const u32 closed = __ballot_sync(ALL_LANES, v >= active || is_hidden);
      if (is_hidden && in_ptr) sum.into += u32(in_ptr[v + 1] - in_ptr[v]);
      if (lane() == 0) fixed[at] = closed | (idle && word < words ? idle[word] : 0);
    }
  }

  /// The starts: level 0, whatever the mask says.
  DEVICE void begin(const i32 *__restrict__ renumbered, const i32 *__restrict__ starts, i32 start, i64 count,
                    u32 *front, SmallSums &sum) const {
    for (i64 i = threadIdx.x; i < count; i += BFS_THREADS) {
      const i32 name = starts ? starts[i] : start, v = renumbered ? renumbered[name] : name;
      const u32 word = u32(v) / WARP, at = place_of(word);
      atomicOr(&front[at], 1u << (v & 31));
      atomicOr(&seen[at], 1u << (v & 31));
      if constexpr (PARENTS) {
        if (word % SIZE == rank) parents[name] = name;
      }
    }
    __syncthreads();
    u32 at, end;
    own_words(at, end);
#pragma unroll 1
    for (; at < end; ++at) {
      settle(at, front[rank * stride + at], 0, sum);
      if (lane() == 0) sum.left += u32(__popc(~(seen[rank * stride + at] | fixed[at])));
    }
  }

  /// Which of all n vertices are reached, in the user's numbering. `present` begins at a multiple of
  /// 4 bytes.
  DEVICE void show(i64 n, const i32 *__restrict__ renumbered, bool *present) const {
    for (i64 v = 4 * thread_in_grid(); v < n; v += 4 * threads_in_grid()) {
      u32 four = 0;
      if (!renumbered) {
        four = seen[place_of(u32(v) / WARP)] >> (v & 31) & 15;
      } else {
#pragma unroll
        for (int k = 0; k < 4; ++k) four |= u32(v + k < n && has(seen, renumbered[v + k])) << k;
      }
      if (v + 4 <= n) {
        ((u32 *)present)[v / 4] = (four * 0x00204081u) & 0x01010101u;
      } else {
        for (i64 k = v; k < n; ++k) present[k] = four >> (k - v) & 1;
      }
    }
  }
};

/// `room` words of shared memory for lists, 128 or more a warp; fewer than 2^31 edges.
template <class Op, class Offset, class Level, bool PARENTS, int CLUSTER>
__global__ void __launch_bounds__(BFS_THREADS, 1) CLUSTER(CLUSTER)
search_small(u64 *control, u32 tickets, u64 *host, u32 launch, i64 patience,
    i64 n, i64 active, i64 several, const Offset *__restrict__ out_ptr, const i32 *__restrict__ out,
    const Offset *__restrict__ in_ptr, const i32 *__restrict__ in,
    const i32 *__restrict__ first, const u32 *__restrict__ idle,
    const i32 *__restrict__ renumbered, const i32 *__restrict__ old,
    const i32 *__restrict__ starts, i32 start, i64 starts_count,
    const bool *__restrict__ flags, bool complement, Level *levels, i32 *parents, bool *present,
    const Offset *__restrict__ least_ptr, const i32 *__restrict__ least_of, bool by_columns,
    i64 limit, i32 direction, i32 room, float push_cost, u64 *records, i64 records_room) {
  SHARED_BYTES(bytes);
  SHARED(i32, far, SMALL_FAR);
  SHARED(i32, far_by, SMALL_FAR);
  SHARED(u32, far_begin, SMALL_FAR);
  SHARED(u32, far_end, SMALL_FAR);
  SHARED(u32, scratch, WARP + 1);
  SHARED(u32, totals, 6);
  typedef Small<Offset, Level, PARENTS, CLUSTER> S;
  const u32 words = u32((n + WARP - 1) / WARP), stride = ((words + CLUSTER - 1) / CLUSTER) | 1, all_words = CLUSTER * stride;
  SmallSums *const sums = (SmallSums *)bytes;
  u32 *const seen = (u32 *)(sums + 2 * CLUSTER), *const mine = seen + all_words;
  u32 *front = mine + all_words, *after = front + all_words;
  u32 *const fixed = mine + 3 * all_words;
  const S search{u32(active), out_ptr, out, in_ptr, in, first, old, u32(several), in_ptr != out_ptr, levels, parents,
                 sums, seen, mine, fixed, (i32 *)(fixed + stride), u32(room), words, stride, blockIdx.x,
                 far, far_by, far_begin, far_end, &totals[5], scratch, totals};
  StopFlag flag(host, patience);
  const Records trace{records, records_room};
  const bool is_one = blockIdx.x == 0 && threadIdx.x == 0;

  for (u32 i = threadIdx.x; i < 4 * all_words; i += BFS_THREADS) seen[i] = 0;
  if (threadIdx.x < 6) totals[threadIdx.x] = 0;
  cluster_meet<CLUSTER>();
  SmallSums sum{};
  search.forbid(idle, flags, complement, sum);
  search.begin(renumbered, starts, start, starts_count, front, sum);
  search.give(sum, 1);
  sum = search.receive(1);
  const u32 all = in_ptr ? u32(in_ptr[active]) : 0;
  u32 level = 0, count = sum.found, edges = sum.out, reached = count, left = sum.left;
  u32 into_left = all - least(all, sum.into), open = 0, hits = 0;

#pragma unroll 1
  while (count && left && i64(level) < limit && !sum.stops && !(sizeof(Level) == 1 && levels && level > DEEP)) {
    bool is_pull = direction == PULLS;
    if (direction == EITHER && in_ptr) {
      const float push = float(edges) * push_cost, most = float(into_left);
      is_pull = push > float(left) && push > looks_of_pull(float(left), most, 1 - most / float(all), float(open), float(hits));
    }
    if (is_one && records) trace.add(level, is_pull ? BY_PULL : BY_PUSH, count, edges);
    ++level;
    sum = SmallSums{};
    sum.stops = is_one && flag.is_up();
    if (is_pull) {
      search.pull();
    } else {
      search.push(front);
      cluster_meet<CLUSTER>();
    }
    search.hand_out(!is_pull, after, level, sum);
    search.give(sum, (level & 1) ^ 1);
    sum = search.receive((level & 1) ^ 1);
    for (u32 i = threadIdx.x; i < all_words; i += BFS_THREADS) seen[i] |= after[i], mine[i] = 0;
    u32 *const swapped = front;
    front = after, after = swapped;
    open = is_pull ? left : 0, hits = sum.found;
    count = sum.found, edges = sum.out, reached += count, left -= least(left, count);
    into_left -= least(into_left, sum.into);
    __syncthreads();
  }

  if (is_one && records) trace.add(level, BY_PUSH, 0, 0);
  if (!sum.stops) {
    search.show(n, renumbered, present);
    if constexpr (PARENTS) {
      if (least_ptr) {
        cluster_meet<CLUSTER>();
        take_least_parents(n, least_ptr, least_of, by_columns, levels, present, parents);
      }
    }
  }
  if (is_one) {
    const bool is_over = sizeof(Level) == 1 && levels && count && level > DEEP;
    tell_host(host, launch, HOST_STATUS, sum.stops ? u32(STOPPED) : is_over ? u32(TOO_DEEP) : u32(FINISHED));
    tell_host(host, launch, HOST_RESULTS, count || !level ? level : level - 1);
    tell_host(host, launch, HOST_RESULTS + 1, reached);
    tell_host(host, launch, HOST_RESULTS + 2, u32(least(i64(level) + 1, records_room)));
  }
}

}  // namespace graphla
