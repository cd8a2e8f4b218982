// Small levels of a breadth-first search, processed by a cluster of blocks. A cluster is used for
// deep graphs with few edges.
//
// Each block owns some words of the map of reached vertices, and keeps them in its shared memory. A
// block that follows an edge sends the end vertex of the edge to the block that owns that vertex.
// Only the owner tests whether the vertex is new, so no block waits for an answer from another
// block. In each level a block tests the vertices that it has received, reads the rows of the new
// vertices, and sends the neighbors in these rows to their owners. It also sends a message with
// counts (a Letter) to every block. Then the blocks wait at the barrier of the cluster. All blocks
// read the same counts, so they all decide in the same way whether to continue.
//
// If the row of a new vertex is short, one thread follows its edges. Longer rows wait in a list
// until the block has processed all received vertices. Then their edges are divided evenly among
// the threads of the block.
//
// A block has a buffer, called a box, for the vertices from each sender. A level fails if a box
// overflows, or if a block has more than CLUSTER_LONG long rows or more than CLUSTER_LONG_EDGES
// edges in long rows. The vertices of the failed level are queued, the vertices sent in this level
// are ignored, and the whole grid processes the level again.
#ifndef GRAPHLA_BFS_CLUSTER
#define GRAPHLA_BFS_CLUSTER
#include "bfs_alone.cuh"
#include "cluster.cuh"

namespace graphla {

constexpr u32 CLUSTER_SHORT = 16;  // maximum number of entries in a row that one thread follows
constexpr u32 CLUSTER_LONG = 512;  // maximum number of rows in a block's list of long rows
constexpr u32 CLUSTER_LONG_EDGES = 4096;  // maximum total number of edges in a block's long rows
enum LetterFlag { FAILS = 1, WISHES_TO_STOP = 2 };

/// A message from one block of the cluster to another, after each level.
struct __align__(16) Letter {
  u32 ends;   // number of vertices that the sender has sent to the receiver
  u32 edges;  // total number of edges that the sender followed
  u32 found;  // number of new vertices in this level that the sender owns
  u32 flags;
};

/// A summary of the levels that a cluster has processed.
struct Walked {
  u32 level, records, reached;
  /// The number of edges into the vertices of all processed levels except the first. In a directed
  /// graph, it is the number of edges out of these vertices instead.
  u64 into;
  bool fails, stops;
};

template <class S, int SIZE> struct Together {
  typedef typename S::Offset Offset;
  const S &search;
  // In shared memory: one bit per vertex that this block owns. The bit is set if the vertex is
  // reached or must never be reached.
  u32 *map;
  // In dynamic shared memory: the letters from all blocks, first for even levels, then for odd
  // levels.
  Letter *letters;
  // In dynamic shared memory: the boxes with the vertices received from each block. First come the
  // boxes for even levels, then the boxes for odd levels. If parents are computed, a second array
  // of boxes follows; it contains the vertex from which each received vertex was found.
  i32 *boxes;
  // In shared memory: the number of end vertices sent to each block, then the words FOUND_HERE,
  // FAILURE and LONG_ROWS.
  u32 *sent;
  i32 *long_list;  // in shared memory: at most CLUSTER_LONG vertices with long rows
  u32 *ends;       // in shared memory: inclusive prefix sums of the degrees of long rows
  u32 *scratch;    // in shared memory: WARP + 1 words for a block scan
  u32 room;        // number of vertices that fit in a box
  u32 rank;        // index of this block in the cluster

  /// Indices in `sent`. The first SIZE words count the end vertices sent to each block.
  enum { FOUND_HERE = SIZE, FAILURE = SIZE + 1, LONG_ROWS = SIZE + 2, SENT_WORDS = SIZE + 3 };
  /// The number of words of the pool that the letters occupy.
  static constexpr int LETTERS = 2 * SIZE * int(sizeof(Letter) / sizeof(u32));

  /// Every block owns one word in each group of SIZE consecutive words of the map: word r XOR s of
  /// the group (modulo SIZE) belongs to block r. Returns s for group `turn`. Different groups have
  /// different s, because otherwise one block might own all words of a row or column of a mesh.
  DEVICE static u32 shift_of(u32 turn) { return (turn * 0x9E3779B1u) >> 28; }
  DEVICE static u32 owner_of(u32 word) { return (word ^ shift_of(word / SIZE)) % SIZE; }
  DEVICE u32 word_of(u32 turn) const { return turn * SIZE + (rank ^ shift_of(turn)) % SIZE; }

  /// For each k with u[k] != -1, sends vertex u[k] to the block that owns it. If parents are
  /// computed, also sends the vertex `from`, which becomes the parent of u[k] if u[k] is new.
  template <int K> DEVICE void send(const i32 (&u)[K], i32 from, i32 *box) const {
    u32 owner[K], at[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
      owner[k] = owner_of(u32(u[k]) / WARP);
      at[k] = u[k] >= 0 ? atomicAdd(&sent[owner[k]], 1u) : room;
    }
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (at[k] >= room) continue;
      i32 *const far = in_block<SIZE>(box, owner[k]) + rank * room + at[k];
      far[0] = u[k];
      if constexpr (S::HAS_PARENTS) far[2 * SIZE * room] = from;
    }
  }

  /// For each lane whose `has` is true, sends the end vertices of all edges in row v, or adds v to
  /// `long_list` if the row is long.
  DEVICE void follow(bool has, i32 v, Offset p, Offset end, i32 *box) const {
    constexpr int K = 4;
    if (!has) return;
    if (end - p > Offset(CLUSTER_SHORT)) {
      const u32 at = atomicAdd(&sent[LONG_ROWS], 1u);
      if (at < CLUSTER_LONG) long_list[at] = v;
      return;
    }
#pragma unroll 1
    while (p < end) {
      i32 u[K];
#pragma unroll
      for (int k = 0; k < K; ++k) u[k] = k < end - p ? search.out[p + k] : -1;
      send<K>(u, v, box);
      p += least(end - p, Offset(K));
    }
  }

  /// Sends the end vertices of all edges in the listed long rows; `rows` is the number of these
  /// rows. All threads of the block must call this.
  DEVICE void follow_long(u32 rows, i32 *box) const {
    const u32 listed = least(rows, CLUSTER_LONG);
    u32 degree = 0, edges;
    if (threadIdx.x < listed) {
      const i32 v = long_list[threadIdx.x];
      degree =
          u32(least(search.out_ptr[v + 1] - search.out_ptr[v], Offset(CLUSTER_LONG_EDGES + 1)));
    }
    const u32 before = block_exclusive_sum(degree, scratch, edges);
    if (threadIdx.x < listed) ends[threadIdx.x] = before + degree;
    __syncthreads();
    if (rows > CLUSTER_LONG || edges > CLUSTER_LONG_EDGES) {
      if (threadIdx.x == 0) sent[FAILURE] = 1;
      return;
    }
#pragma unroll 1
    for (u32 edge = threadIdx.x; edge < edges; edge += BFS_THREADS) {
      const u32 row = upper_bound<u32, u32>(ends, 0, rows, edge);
      const i32 from = long_list[row];
      const i32 u[1] = {
          search.out[search.out_ptr[from] + Offset(edge - (row ? ends[row - 1] : 0))]};
      send<1>(u, from, box);
    }
  }

  /// Returns the index in the array of boxes at which received vertex number e is stored. The
  /// received vertices are numbered sender by sender: in lane k, `before` is the number of vertices
  /// that blocks 0, ..., k - 1 have sent to this block. The whole warp must call this.
  DEVICE u32 place_of(u32 before, u32 e) const {
    int of = 0;
#pragma unroll
    for (int step = SIZE / 2; step; step /= 2) {
      const u32 there = shuffle(before, of + step);
      if (there <= e) of += step;
    }
    return u32(of) * room + e - shuffle(before, of);
  }

  /// Tests which of the received vertices are new, and replaces all other vertices in the boxes
  /// with -1. Writes the results of the new vertices, whose level is `level`. If `follows` is true,
  /// also follows the edges of the new vertices. Otherwise appends the new vertices to the queue in
  /// global memory.
  DEVICE void take_new(u32 level, const Letter &letter, i32 *box, bool follows, i32 *next,
                       u64 &into) const {
    const u32 through = warp_inclusive_sum(letter.ends), before = through - letter.ends;
    const u32 count = shuffle(through, WARP - 1);
#pragma unroll 1
    for (u32 base = u32(warp_in_block()) * WARP; base < count; base += BFS_THREADS) {
      const bool has = base + u32(lane()) < count;
      i32 *const end_at = box + place_of(before, base + u32(lane()));
      const i32 v = has ? *end_at : 0;
      const u32 bit = 1u << (v & 31);
      const bool won = has && !(atomicOr(&map[u32(v) / WARP / SIZE], bit) & bit);
      const u32 wins = __ballot_sync(ALL_LANES, won);
      Offset begin = 0, end = 0;
      if (won) {
        begin = search.out_ptr[v], end = search.out_ptr[v + 1];
        search.settle(v, level);
        if constexpr (S::HAS_PARENTS) search.parents[v] = search.name_of(end_at[2 * SIZE * room]);
        if (search.is_directed && search.in_ptr) into += u64(search.edges_into(v));
      } else if (has) {
        *end_at = -1;
      }
      if (lane() == 0 && wins) atomicAdd(&sent[FOUND_HERE], u32(__popc(wins)));
      if (follows) follow(won, v, begin, end, next);
      else search.enqueue(won, v);
    }
  }

  /// Appends the vertices of a failed level to the queue in global memory. These are the vertices
  /// in the boxes that `take_new` has not replaced with -1.
  DEVICE void give_back(const Letter &letter, const i32 *box) const {
    const u32 through = warp_inclusive_sum(letter.ends), before = through - letter.ends;
    const u32 count = shuffle(through, WARP - 1);
#pragma unroll 1
    for (u32 base = u32(warp_in_block()) * WARP; base < count; base += BFS_THREADS) {
      const u32 e = base + u32(lane()), at = place_of(before, e);
      const i32 v = e < count ? box[at] : -1;
      search.enqueue(v >= 0, v);
    }
  }

  /// Follows the edges in the long rows of a level. Then sends a message with counts (a Letter) to
  /// every block of the cluster. Returns the letter from block k in lane k. All threads of the
  /// block must call this.
  DEVICE Letter exchange(Letter *at, i32 *box, bool stops) const {
    __syncthreads();
    const u32 rows = sent[LONG_ROWS];
    if (rows) {
      follow_long(rows, box);
      __syncthreads();
    }
    if (warp_in_block() == 0) {
      const u32 ends = lane() < SIZE ? sent[lane()] : 0, edges = warp_sum(ends);
      const bool fails = __any_sync(ALL_LANES, ends > room) || sent[FAILURE];
      stops = __any_sync(ALL_LANES, stops);
      const u32 flags = (fails ? FAILS : 0) | (stops ? WISHES_TO_STOP : 0);
      if (lane() < SIZE) {
        *in_block<SIZE>(at + rank, u32(lane())) =
            Letter{least(ends, room), edges, sent[FOUND_HERE], flags};
      }
      __syncwarp();
      if (lane() < LONG_ROWS) sent[lane()] = 0;
      // If `rows` is 0, this word is already 0. Do not write it then, because other warps may still
      // be reading it.
      if (lane() == LONG_ROWS && rows) sent[LONG_ROWS] = 0;
    }
    cluster_meet<SIZE>();
    return lane() < SIZE ? at[lane()] : Letter{0, 0, 0, 0};
  }

  /// Processes one level after another. The first frontier consists of the entries span.first to
  /// span.last - 1 of the queue in global memory. Stops when the next frontier is empty, when a
  /// level fails or has too many edges, when the maximum level is reached, or when the host asks
  /// the kernel to stop. Before it returns, it appends the frontier that is still to be processed
  /// to the queue. All blocks of the cluster must call this.
  DEVICE Walked walk(u32 *global_map, u32 words, const Span &span, StopFlag &flag,
                     const Records &trace) const {
    const u32 first = span.first, last = span.last;
    for (u32 turn = threadIdx.x; turn * SIZE < words; turn += BFS_THREADS) {
      const u32 word = word_of(turn);
      if (word < words) map[turn] = global_map[word] | (search.is_masked ? search.fixed[word] : 0);
    }
    if (threadIdx.x < SENT_WORDS) sent[threadIdx.x] = 0;
    __syncthreads();
    const bool is_one = rank == 0 && threadIdx.x == 0;
    Walked end{span.level, 0, 0, 0, false, false};
    u64 into = 0, began = 0;
    Letter letter{0, 0, 0, 0};
    bool follows = true;
#pragma unroll 1
    for (u32 turn = 0;; ++turn) {
      const u32 parity = turn & 1;
      i32 *const next = boxes + parity * SIZE * room, *const now =
                                                          boxes + (parity ^ 1) * SIZE * room;
      const Letter before = letter;
      if (is_one && trace.room) began = nanoseconds();
      if (turn == 0) {
#pragma unroll 1
        for (u32 base = first + rank; base < last; base += SIZE * BFS_THREADS) {
          const u32 entry = base + threadIdx.x * SIZE;
          const bool has = entry < last;
          const i32 v = has ? search.queue_vertex[entry] : 0;
          follow(has, v, has ? search.out_ptr[v] : 0, has ? search.out_ptr[v + 1] : 0, next);
        }
      } else {
        take_new(end.level, before, now, follows, next, into);
      }
      letter = exchange(letters + parity * SIZE, next, is_one && flag.is_up());
      const u32 edges = warp_sum(letter.edges),
                found = turn ? warp_sum(letter.found) : last - first;
      end.stops |= __any_sync(ALL_LANES, letter.flags & WISHES_TO_STOP) != 0;
      if (turn) end.reached += found;
      if (!follows || !found) break;
      if (__any_sync(ALL_LANES, letter.flags & FAILS)) {
        end.fails = true;
        if (turn) give_back(before, now);
        break;
      }
      if (is_one && trace.room)
        trace.add(span.records + end.records, BY_PUSH_ALONE, found, edges, began);
      if (turn) end.into += edges;
      ++end.records, ++end.level;
      follows = edges <= span.most && i64(end.level) < span.limit && !end.stops &&
                !(span.is_one_byte && end.level > DEEP);
    }
    for (u32 turn = threadIdx.x; turn * SIZE < words; turn += BFS_THREADS) {
      const u32 word = word_of(turn);
      if (word < words)
        global_map[word] |= map[turn] & (search.is_masked ? ~search.fixed[word] : ~0u);
    }
    if (search.is_directed && search.in_ptr) {
      into = warp_sum(into);
      if (lane() == 0 && into) atomicAdd(&search.control[INTO_FOUND], into);
    }
    return end;
  }
};

}  // namespace graphla
#endif
