// Breadth-first search of a small graph by one cluster of blocks: the steps of a level.
//
// Every block has copies of all vertex maps in its own shared memory. So a block tests whether a
// vertex is new without a request to the L2 cache. Blocks synchronize at the barrier of the
// cluster.
//
// Invariants between two levels, in every block:
// - Bit v of `seen` is set if v is reached, and bit v of `front` is set if v's level is `level`.
// - All bits of `mine`, `after` and `inbox` are 0. During a level, the block sets the bits of the
//   vertices that it finds in `mine`.
// Word w of a map belongs to block w % SIZE, its owner. In memory, all words of one owner are
// adjacent (see `place_of`).
//
// Push: the vertices in each word of the frontier are divided among the blocks, and each block
// follows the edges of its share (see `share_of`). The edges of a hub are divided evenly among all
// blocks. A block sends the vertices that it finds to the inboxes of their owners. If there may be
// many such vertices, the owners instead fetch these vertices after a cluster barrier.
//
// Pull: each block looks for a reached neighbor of each unreached vertex that it owns.
//
// In both cases, the owner of a new vertex writes the results of the vertex and sets its bit in
// `after`, the next frontier, in all blocks. Each block also sends its counts to all blocks. Then
// the blocks wait at the cluster barrier.
#ifndef GRAPHLA_BFS_SMALL
#define GRAPHLA_BFS_SMALL
#include "bfs_results.cuh"
#include "cluster.cuh"

namespace graphla {

constexpr u32 SMALL_LONG = 256;  // the whole block follows a row with at least this many entries
constexpr u32 SMALL_REST =
    64;  // in a pull, the whole block also reads the rest of a row that is at least this long
constexpr int SMALL_FAR = 512;  // capacity of the list of rows that the whole block reads

/// The sums that each block sends to all blocks at the end of a level.
struct SmallSums {
  /// Numbers of vertices found, of edges out of these vertices, and of edges into them.
  u32 found, out, into;
  u32 left;  // number of vertices that are neither reached nor forbidden; computed only for level 0
  u32 stops;
};
static_assert(sizeof(SmallSums) == SMALL_SUMS_BYTES, "the host counts on it");

/// How a block learns which vertices that it owns are new. SENT: other blocks have sent them.
/// FETCHED: the block reads them from the maps of all blocks. PULLED: the block has found them
/// itself, in a pull. STARTS: in level 0, the start vertices are new.
enum Found { SENT, FETCHED, PULLED, STARTS };

/// Parameters of a search of a small graph.
struct SmallLimits {
  i64 hubs;         // vertices 0..hubs - 1 are hubs: they have long rows
  i32 room;         // number of words of dynamic shared memory for lists, at least 128 per warp
  float push_cost;  // cost of following an edge in a push, relative to reading a neighbor in a pull
};

/// The static shared memory of a block. Most of it describes long rows, which all threads of the
/// block follow together.
struct SmallMemory {
  i32 *far;     // the vertices of long rows
  i32 *far_by;  // for each long row, the reached neighbor that a pull has found, or -1
  // For each long row: the index of its first unread entry. `read_far` then subtracts the number of
  // unread entries of all earlier long rows. So if the unread entries of all long rows are numbered
  // consecutively, entry number k, in row r, has the index far_begin[r] + k.
  u32 *far_begin;
  u32 *far_end;  // the lengths of long rows, which `read_far` replaces with their running sums
  // In a pull, each warp reads 32 rows at a time, and row k of them belongs to lane k. There is one
  // element per thread: the reached neighbor that was found in the thread's row, or -1.
  i32 *row_by;
  u32 *scratch;  // scratch memory for block scans: WARP + 1 words
  /// Five counts of this block for even levels, then five for odd levels (see SmallSums).
  u32 *totals;
  u32 *far_count, *listed;
};

template <class Offset, class Level, bool PARENTS, int SIZE, int THREADS> struct Small {
  static constexpr int WARPS = THREADS / WARP;
  static constexpr bool HAS_PARENTS = PARENTS;

  // These fields describe the graph and the results. They have the same meaning as in struct Search
  // (see bfs.cuh).
  u32 active;
  const Offset *out_ptr, *in_ptr;
  const i32 *out, *in, *first, *old;
  u32 several;
  bool is_directed;
  Level *levels;
  i32 *parents;

  // The arrays from `sums` to `list` are in dynamic shared memory, in this order. `sums` contains
  // the counts received from all blocks: SIZE elements for even levels, then SIZE for odd levels.
  SmallSums *sums;
  u32 *seen, *mine;
  u32 *front, *after;
  u32 *fixed;  // map of the vertices that this block owns and that must never be reached
  u32 *inbox;  // map of the new vertices that this block owns
  i32 *list;   // in a push, one list of vertices for the block; in a pull, one list for each warp
  u32 room, words;
  // In memory, the distance between the words of consecutive owners of a map: the number of words
  // that each block owns, rounded up to an odd number.
  u32 stride;
  u32 rank;
  u32 hub_words;  // number of words of a map in which all bits belong to hubs
  SmallMemory memory;

  DEVICE Small(const Graph<Offset> &graph, const Answer<Offset, Level> &answer,
               const SmallLimits &limits, unsigned char *bytes, const SmallMemory &shared)
      : active(u32(graph.active)), out_ptr(graph.out_indptr), in_ptr(graph.in_indptr),
        out(graph.out_indices), in(graph.in_indices), first(graph.first), old(graph.old),
        several(u32(graph.several)), is_directed(graph.in_indptr != graph.out_indptr),
        levels(answer.levels), parents(answer.parents), room(u32(limits.room)),
        words(u32((graph.n + WARP - 1) / WARP)), stride(((words + SIZE - 1) / SIZE) | 1),
        rank(blockIdx.x), hub_words(u32(limits.hubs) / WARP), memory(shared) {
    sums = (SmallSums *)bytes;
    seen = (u32 *)(sums + 2 * SIZE);
    mine = seen + all_words();
    front = mine + all_words();
    after = front + all_words();
    fixed = after + all_words();
    inbox = fixed + stride;
    list = (i32 *)(inbox + stride);
  }

  DEVICE u32 place_of(u32 word) const { return word % SIZE * stride + word / SIZE; }
  DEVICE u32 all_words() const { return SIZE * stride; }
  DEVICE bool has(const u32 *map, i32 v) const {
    return map[place_of(u32(v) / WARP)] >> (v & 31) & 1;
  }
  DEVICE i32 name_of(i32 v) const { return old ? old[v] : v; }

  /// Divides the words that the block owns among its warps. This warp gets the words `begin` to
  /// `end` - 1.
  DEVICE void own_words(u32 &begin, u32 &end) const {
    const u32 each = (stride + WARPS - 1) / WARPS;
    begin = least(u32(warp_in_block()) * each, stride), end = least(begin + each, stride);
  }

  /// Marks v as reached, with parent `by`.
  DEVICE void find(i32 v, i32 by) const {
    u32 *const word = &mine[place_of(u32(v) / WARP)];
    const u32 bit = 1u << (v & 31);
    if (load_relaxed(word) & bit || atomicOr(word, bit) & bit) return;
    if constexpr (PARENTS)
      // Other blocks may store a parent of v at the same time.
      store_relaxed(&parents[name_of(v)], name_of(by));
  }

  // --- rows -------------------------------------------------------------------------------------

  /// Reads the entries `begin` to `begin + length - 1` of one row per lane. The entries of all 32
  /// rows are divided evenly among the lanes. Calls visit(k, entry) for each entry of the row that
  /// lane k has passed.
  template <class Visit>
  DEVICE void run(const i32 *entries, u32 begin, u32 length, Visit visit) const {
    constexpr int K = 4;
    const u32 through = warp_inclusive_sum(length), ahead = through - length;
    const u32 total = shuffle(through, WARP - 1);
    begin -= ahead;
#pragma unroll 1
    for (u32 from = 0; from < total; from += K * WARP) {
      i32 u[K];
      int of[K];
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const u32 e = from + u32(k * WARP + lane());
        of[k] = 0;
#pragma unroll
        for (int step = WARP / 2; step; step /= 2) {
          const u32 there = shuffle(ahead, of[k] + step);
          if (there <= e) of[k] += step;
        }
        const u32 row = shuffle(begin, of[k]);
        u[k] = e < total ? entries[row + e] : -1;
      }
#pragma unroll
      for (int k = 0; k < K; ++k) visit(of[k], u[k]);
    }
  }

  /// Tries to add a row to the list of rows that wait for `read_far`. Returns whether the list had
  /// room.
  DEVICE bool waits(i32 v, u32 begin, u32 length) const {
    const u32 at = atomicAdd(memory.far_count, 1u);
    if (at >= u32(SMALL_FAR)) return false;
    memory.far[at] = v, memory.far_begin[at] = begin, memory.far_end[at] = length,
    memory.far_by[at] = -1;
    return true;
  }

  /// Reads the long rows that `waits` has listed. Their entries are divided evenly among the
  /// threads of the block. Calls visit(row, entry) for each entry, where `row` is the index of the
  /// row in the list. After `visit` has stored a neighbor in memory.far_by[row], the rest of the
  /// row is skipped. Returns the number of rows in the list. All threads of the block must call
  /// this.
  template <class Visit> DEVICE u32 read_far(const i32 *entries, Visit visit) const {
    constexpr int K = 2;
    __syncthreads();
    const u32 rows = least(*memory.far_count, u32(SMALL_FAR));
    if (!rows) return 0;
    const u32 length = threadIdx.x < rows ? memory.far_end[threadIdx.x] : 0;
    u32 total;
    const u32 ahead = block_exclusive_sum(length, memory.scratch, total);
    if (threadIdx.x < rows)
      memory.far_end[threadIdx.x] = ahead + length, memory.far_begin[threadIdx.x] -= ahead;
    __syncthreads();
    if (threadIdx.x == 0) *memory.far_count = 0;
#pragma unroll 1
    for (u32 from = u32(warp_in_block()) * K * WARP; from < total; from += THREADS * K) {
      i32 u[K];
      u32 row[K];
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const u32 e = from + u32(k * WARP + lane());
        row[k] = e < total ? upper_bound<u32, u32>(memory.far_end, 0, rows, e) : 0;
        u[k] = e < total && load_relaxed(&memory.far_by[row[k]]) < 0
                   ? entries[memory.far_begin[row[k]] + e]
                   : -1;
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

  /// Returns a bit mask for word number `word` of the frontier. Its set bits are the vertices whose
  /// edges this block follows in a push. For hubs all bits are set, because each block follows a
  /// part of a hub's edges.
  DEVICE u32 share_of(u32 word) const {
    u32 each = 0;
#pragma unroll
    for (int bit = 0; bit < WARP; bit += SIZE) each |= 1u << bit;
    return word < hub_words ? ~0u : each << (rank + word) % SIZE;
  }

  /// Writes a list of the vertices for which this block follows edges. The vertices are taken from
  /// the words `begin` to `end` - 1 of the frontier. Returns the length of the list.
  DEVICE u32 list_share(u32 begin, u32 end) const {
#pragma unroll 1
    for (u32 base = begin + u32(warp_in_block()) * WARP; base < end; base += THREADS) {
      const u32 word = base + u32(lane());
      u32 bits = word < end ? front[place_of(word)] & share_of(word) : 0;
      const u32 count = u32(__popc(bits)), through = warp_inclusive_sum(count),
                total = shuffle(through, WARP - 1);
      if (!total) continue;
      u32 at = 0;
      if (lane() == 0) at = atomicAdd(memory.listed, total);
      at = shuffle(at, 0) + through - count;
      for (; bits; bits &= bits - 1, ++at) list[at] = i32(word * WARP) + __ffs(int(bits)) - 1;
    }
    __syncthreads();
    return *memory.listed;
  }
  /// Returns the end of a part of the frontier that begins at word `begin`. The part is so small
  /// that `list` has room for all vertices that list_share(begin, end) writes, even if every vertex
  /// is in the frontier.
  DEVICE u32 end_of_part(u32 begin) const {
    const u32 hubs = begin < hub_words ? hub_words - begin : 0;
    constexpr u32 EACH = WARP / SIZE;
    if (hubs * WARP + (words - begin - hubs) * EACH <= room) return words;
    return least(words, begin + room / (hubs ? WARP : EACH));
  }

  /// For each lane whose `has_one` is true, follows the edges of the lane's vertex v.
  DEVICE void follow(bool has_one, i32 v) const {
    u32 begin = 0, degree = 0;
    if (has_one) begin = u32(out_ptr[v]), degree = u32(out_ptr[v + 1]) - begin;
    if (u32(v) < hub_words * WARP) {
      const u32 skipped = degree * rank / SIZE;
      begin += skipped, degree = degree * (rank + 1) / SIZE - skipped;
    }
    if (degree >= SMALL_LONG && waits(v, begin, degree)) degree = 0;
    run(out, begin, degree, [&](int of, i32 u) {
      const i32 from = PARENTS ? shuffle(v, of) : 0;
      if (u >= 0 && !has(seen, u)) find(u, from);
    });
  }

  DEVICE void push() const {
    for (u32 begin = 0, end; begin < words; begin = end) {
      end = end_of_part(begin);
      const u32 count = list_share(begin, end);
#pragma unroll 1
      for (u32 base = 0; base + u32(warp_in_block()) < count; base += THREADS) {
        const u32 entry = base + u32(lane() * WARPS + warp_in_block());
        follow(entry < count, entry < count ? list[entry] : 0);
      }
      read_far(out, [&](u32 row, i32 u) {
        if (!has(seen, u)) find(u, memory.far[row]);
      });
      if (threadIdx.x == 0) *memory.listed = 0;
      if (end < words) __syncthreads();
    }
  }

  // --- pull -------------------------------------------------------------------------------------

  /// Looks for a reached neighbor of each vertex in the array `vertices`, the list of this warp.
  /// Each lane first reads 8 entries of a row, and 8 more if none of these is a reached neighbor.
  /// The entries that remain are read for 32 rows at a time, and divided evenly among the lanes.
  /// Rows with at least SMALL_REST remaining entries are listed for the whole block (see `waits`).
  DEVICE void read_rows(i32 *vertices, u32 count) const {
    constexpr u32 NEAR = 8;
    __syncwarp();
#pragma unroll 1
    for (u32 done = 0; done < 2 * NEAR; done += NEAR) {
      u32 longer = 0;
#pragma unroll 1
      for (u32 i = u32(lane()); i - u32(lane()) < count; i += WARP) {
        bool goes_on = false;
        i32 v = 0;
        if (i < count) {
          v = vertices[i];
          const u32 row = u32(in_ptr[v]), end = u32(in_ptr[v + 1]), p = start_of(row) + done;
          i32 u[NEAR], by = -1;
#pragma unroll
          for (u32 k = 0; k < NEAR; k += 4) {
            if (is_aligned() && p + k + 4 <= end) {
              load_four(in + p + k, u[k], u[k + 1], u[k + 2], u[k + 3]);
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
          else goes_on = p + NEAR < end;
        }
        const u32 some = __ballot_sync(ALL_LANES, goes_on);
        __syncwarp();  // all lanes must have read their vertices before any lane changes the list
        if (goes_on) vertices[longer + u32(__popc(some & lanes_before()))] = v;
        longer += u32(__popc(some));
        __syncwarp();
      }
      count = longer;
    }
    i32 *const by = memory.row_by + warp_in_block() * WARP;
#pragma unroll 1
    for (u32 i = u32(lane()); i - u32(lane()) < count; i += WARP) {
      const i32 v = i < count ? vertices[i] : 0;
      u32 begin = 0, length = 0;
      if (i < count)
        begin = start_of(u32(in_ptr[v])) + 2 * NEAR, length = u32(in_ptr[v + 1]) - begin;
      if (length >= SMALL_REST && waits(v, begin, length)) length = 0;
      by[lane()] = -1;
      __syncwarp();
      run(in, begin, length, [&](int of, i32 u) {
        if (u >= 0 && has(seen, u)) store_relaxed(&by[of], u);
      });
      __syncwarp();
      if (by[lane()] >= 0) find(v, by[lane()]);
      __syncwarp();
    }
  }
  /// Returns the index of the entry at which to start reading a row. If the array is aligned, the
  /// index is rounded down to a multiple of four, so that one load reads four entries.
  DEVICE u32 start_of(u32 row) const { return is_aligned() ? row & ~3u : row; }
  DEVICE bool is_aligned() const { return !((u64)in & 15); }

  DEVICE void pull() const {
    constexpr u32 K = 4;
    const u32 each = room / WARPS, open_words = (active + WARP - 1) / WARP;
    i32 *const vertices = list + u32(warp_in_block()) * each;
    u32 begin, end, count = 0;
    own_words(begin, end);
#pragma unroll 1
    for (;; begin += K) {
      if (begin >= end || count + K * WARP > each) {
        read_rows(vertices, count);
        count = 0;
      }
      if (begin >= end) break;
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
        if (misses) vertices[count + u32(__popc(missing & lanes_before()))] = i32(v);
        count += u32(__popc(missing));
      }
    }
    const u32 rows = read_far(in, [&](u32 row, i32 u) {
      if (has(seen, u)) store_relaxed(&memory.far_by[row], u);
    });
    if (threadIdx.x < rows && memory.far_by[threadIdx.x] >= 0)
      find(memory.far[threadIdx.x], memory.far_by[threadIdx.x]);
    __syncthreads();
  }

  // --- new vertices -----------------------------------------------------------------------------

  /// Sends the vertices in the map `mine`, which this block has found, to the inboxes of their
  /// owners. Sets `mine` to zero. Also sets `front` to zero: its vertices have been processed, and
  /// `take_after` will use its memory as the map `after` of the next level.
  DEVICE void send() const {
    for (u32 i = threadIdx.x; i < all_words(); i += THREADS) {
      front[i] = 0;
      const u32 bits = mine[i];
      if (!bits) continue;
      mine[i] = 0;
      atomicOr(in_block<SIZE>(&inbox[i % stride], i / stride), bits);
    }
  }

  /// Returns the new vertices in word `at` of this block's own words: a bit is set if any block has
  /// found the vertex.
  DEVICE u32 fetch(u32 at) const {
    u32 bits = 0;
#pragma unroll 8
    for (u32 block = 0; block < SIZE; ++block)
      bits |= in_block<SIZE>(mine, block)[rank * stride + at];
    return bits;
  }

  /// Sets the bits of the new vertices that this block owns in the maps `after` of all blocks.
  /// Writes the results of these vertices, and adds their counts to `sum`. `found` tells how this
  /// block learns which vertices are new.
  DEVICE void hand_out(Found found, u32 level, SmallSums &sum) const {
    for (u32 at = threadIdx.x; at < stride; at += THREADS) {
      u32 bits = inbox[at];
      if (found == FETCHED) bits = fetch(at);
      if (found == PULLED) bits = mine[rank * stride + at], mine[rank * stride + at] = 0;
      if (found == STARTS) sum.left += u32(__popc(~(bits | fixed[at])));
      else bits &= ~fixed[at];
      inbox[at] = bits;
      if (!bits) continue;
#pragma unroll 4
      for (u32 block = 0; block < SIZE; ++block)
        in_block<SIZE>(after, block)[rank * stride + at] = bits;
    }
    __syncthreads();
    settle(inbox, level, sum);
    __syncwarp();
    u32 begin, end;
    own_words(begin, end);
    for (u32 at = begin + u32(lane()); at < end; at += WARP) inbox[at] = 0;
  }

  /// Writes the results of the new vertices that this block owns, and adds their counts to `sum`.
  /// The level of these vertices is `level`. The array `own` contains the words that this block
  /// owns, in which the bits of the new vertices are set. All warps must call this.
  DEVICE void settle(const u32 *own, u32 level, SmallSums &sum) const {
    constexpr int K = 2;  // number of words processed at a time
    u32 begin, end;
    own_words(begin, end);
#pragma unroll 1
    for (; begin < end; begin += WARP) {
      const u32 mine = begin + u32(lane()) < end ? own[begin + u32(lane())] : 0;
      u32 some = __ballot_sync(ALL_LANES, mine != 0);
#pragma unroll 1
      while (some) {
        i32 v[K], name[K];
        u32 out_of[K], into[K];
#pragma unroll
        for (int k = 0; k < K; ++k) {
          const int which = some ? __ffs(int(some)) - 1 : 0;
          const bool is_one = some && shuffle(mine, which) >> lane() & 1;
          some &= some - 1;
          v[k] = is_one ? i32(((begin + u32(which)) * SIZE + rank) * WARP) + lane() : -1;
        }
#pragma unroll
        for (int k = 0; k < K; ++k) {
          name[k] = 0, out_of[k] = into[k] = 0;
          if (v[k] < 0) continue;
          name[k] = name_of(v[k]);
          out_of[k] = u32(out_ptr[v[k] + 1] - out_ptr[v[k]]);
          if (is_directed && in_ptr) into[k] = u32(in_ptr[v[k] + 1] - in_ptr[v[k]]);
        }
#pragma unroll
        for (int k = 0; k < K; ++k) {
          if (v[k] < 0) continue;
          if (levels) levels[name[k]] = Level(level);
          ++sum.found;
          sum.out += out_of[k], sum.into += into[k];
        }
      }
    }
  }

  /// Adds up the sums of all threads, sends the totals to all blocks, and waits at the cluster
  /// barrier.
  DEVICE void give(SmallSums sum, u32 parity) const {
    u32 *const mine = memory.totals + parity * 5;
    const u32 all[5] = {sum.found, sum.out, is_directed ? sum.into : sum.out + sum.into, sum.left,
                        sum.stops};
#pragma unroll
    for (int k = 0; k < 5; ++k) {
      const u32 total = warp_sum(all[k]);
      if (lane() == 0 && total) atomicAdd(&mine[k], total);
    }
    __syncthreads();
    if (threadIdx.x < SIZE) {
      *in_block<SIZE>(sums + parity * SIZE + rank, threadIdx.x) =
          SmallSums{mine[0], mine[1], mine[2], mine[3], mine[4]};
    }
    cluster_meet<SIZE>();
    // The block uses these words again two levels later, after another cluster barrier.
    if (threadIdx.x < 5) mine[threadIdx.x] = 0;
  }

  /// Returns the sums over all blocks, in every thread.
  DEVICE SmallSums receive(u32 parity) const {
    SmallSums sum{};
    if (lane() < SIZE) sum = sums[parity * SIZE + lane()];
    return {warp_sum(sum.found), warp_sum(sum.out), warp_sum(sum.into), warp_sum(sum.left),
            warp_sum(sum.stops)};
  }

  /// Makes `after` the frontier, and marks the vertices of `after` as reached. If `clears_mine` is
  /// true, also sets the map `mine` to zero.
  DEVICE void take_after(bool clears_mine) {
    for (u32 i = threadIdx.x; i < all_words(); i += THREADS) {
      seen[i] |= after[i];
      if (clears_mine) mine[i] = 0;
    }
    u32 *const swapped = front;
    front = after, after = swapped;
  }
  /// Sets the map `front` to zero. Its vertices have been processed, and `take_after` will use its
  /// memory as the map `after` of the next level.
  DEVICE void clear_front() const {
    for (u32 i = threadIdx.x; i < all_words(); i += THREADS) front[i] = 0;
  }

  // --- start and end of a search ----------------------------------------------------------------

  /// Sets the maps and the counts of this block to zero, at the start of a search.
  DEVICE void clear() const {
    for (u32 i = threadIdx.x; i < 4 * all_words() + 2 * stride; i += THREADS) seen[i] = 0;
    if (threadIdx.x < 12) memory.totals[threadIdx.x] = 0;
    cluster_meet<SIZE>();
  }

  /// Sets the bits of `fixed` for the vertices that the mask forbids and for the vertices without
  /// edges. Adds the number of edges into the vertices that the mask forbids to `sum.into`.
  DEVICE void forbid(const Graph<Offset> &graph, const Query &query, SmallSums &sum) const {
    const u32 *const idle = graph.idle;
    const bool *const flags = query.flags, complement = query.complement;
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

  /// Marks the start vertices that the block owns as reached, whether or not the mask allows them.
  DEVICE void begin(const Graph<Offset> &graph, const Query &query) const {
    for (i64 i = threadIdx.x; i < query.starts_count; i += THREADS) {
      const i32 name = query.starts ? query.starts[i] : query.start;
      const i32 v = graph.renumbered ? graph.renumbered[name] : name;
      if (u32(v) / WARP % SIZE != rank) continue;
      atomicOr(&inbox[u32(v) / WARP / SIZE], 1u << (v & 31));
      if constexpr (PARENTS) parents[name] = name;
    }
    __syncthreads();
  }

  /// Writes to the array `present`, for each of the n vertices in the user's numbering, whether the
  /// search has reached the vertex. `present` must be aligned to 4 bytes.
  DEVICE void show(i64 n, const i32 *renumbered, bool *present) const {
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

}  // namespace graphla
#endif
