// Small levels of a breadth-first search, processed by one block without grid barriers. The queue
// is in shared memory, and so is the map of reached vertices if it fits.
//
// A level is a chain of dependent loads: a vertex from the queue, the bounds of its row, the row,
// and the map. Most of the other time is spent on instruction fetches, which occur again at every
// level. So the code of a level is short, and rare cases are in separate functions.
//
// One thread follows a short row to its end. Longer rows wait in a list. All threads of the block
// then follow these rows together. If there are too many long rows, the grid follows them instead.
#ifndef GRAPHLA_BFS_ALONE
#define GRAPHLA_BFS_ALONE
#include "bfs.cuh"

namespace graphla {

/// If the long rows of a level have more edges than this, the block leaves these rows to the whole
/// grid, because the grid follows this number of edges faster than one block.
constexpr u32 ALONE_LONG_EDGES = 2048;

/// The counts of a level, summed over the threads of the block. There are three sets of counts,
/// used round-robin.
struct AloneCounts {
  u32 count;  // vertices found
  /// Number of edges out of the vertices of the level; number of edges into these vertices.
  u32 edges, into;
  u32 long_rows, long_edges;
};

/// The state that block 0 passes to the grid after it has processed levels alone.
struct AloneState {
  u32 count, level, turn;
  u32 stops;            // set when the host asks the kernel to stop: the last iteration to run
  u32 long_rows;        // number of long rows that the grid must follow to finish the level
  u64 frontier, edges;  // number of vertices and edges in the unfinished level
  // `reached` is the number of vertices found. `into` is the number of edges into these vertices;
  // in an undirected graph, it does not include the edges into the vertices of the last queue.
  u64 reached, into;
};

/// The shared memory that block 0 needs in addition to the queue.
struct AloneMemory {
  AloneCounts *counts;  // 3
  AloneState *state;
  i32 *long_list;  // ALONE_LONG vertices
  u32 *ends;       // inclusive prefix sums of the lengths of long rows
};

/// The levels that one block or one cluster processes.
struct Span {
  /// The number of the first level to process, and its frontier: queue entries first..last - 1.
  u32 first, last, level;
  u32 most;          // stop after a level with more edges than this
  i64 limit;         // maximum level
  i64 records;       // number of levels recorded so far
  bool is_one_byte;  // if true, results store each level in one byte, and the largest level is DEEP
};

template <class S, bool IN_SHARED> struct Alone {
  typedef typename S::Offset Offset;
  const S &search;
  u32 *map;    // bit map of the reached vertices; with IN_SHARED, the bits of the vertices that the
               // mask forbids are also set
  i32 *queue;  // two queues in shared memory; each has room for `room` vertices
  AloneMemory memory;
  u32 *scratch;  // WARP + 1 words of shared memory
  u32 room;
  u32 place;  // the end of the queue in global memory, to which `give` appends vertices

  /// Adds vertices to the queue of the next level: if bit k of `won` is set, v[k] is added. The
  /// whole warp must call this.
  template <int K>
  DEVICE void keep(u32 won, const i32 (&v)[K], i32 from, i32 *next, u32 *count) const {
    u32 wins[K], total = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      wins[k] = __ballot_sync(ALL_LANES, won >> k & 1);
      total += u32(__popc(wins[k]));
    }
    if (!total) return;
    u32 at = 0;
    if (lane() == 0) at = atomicAdd(count, total);
    at = shuffle(at, 0);
    i32 *const to = at + total <= room ? next : nullptr;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (won >> k & 1) {
        const u32 mine = at + u32(__popc(wins[k] & lanes_before()));
        if (to) to[mine] = v[k];
        else *place_of(next, mine) = v[k];
        if constexpr (S::HAS_PARENTS) search.parents[v[k]] = search.name_of(from);
      }
      at += u32(__popc(wins[k]));
    }
  }
  /// Returns the address of vertex i of a queue: in shared memory if i < room, otherwise in global
  /// memory.
  DEVICE i32 *place_of(i32 *queue, u32 i) const { return i < room ? queue + i : search.spill + i; }
  DEVICE i32 *place_of_long(u32 i) const {
    return i < ALONE_LONG ? memory.long_list + i : search.spill + search.spill_room - 1 - i;
  }
  DEVICE bool wins(i32 v) const {
    if constexpr (!IN_SHARED) {
      if (search.is_fixed(v)) return false;
    }
    return S::sets(map, v);
  }

  /// Writes the results of the vertices in the array `now`, whose level is `level`. Follows the
  /// edges of those vertices that have short rows.
  DEVICE void walk(u32 level, const i32 *now, u32 count, i32 *next, AloneCounts *mine) const {
    constexpr int K = 4;
#pragma unroll 1
    for (u32 base = u32(warp_in_block()) * WARP; base < count; base += BFS_THREADS) {
      const u32 entry = base + u32(lane());
      i32 v = 0;
      Offset p = 0, end = 0;
      if (entry < count) {
        v = now[entry];
        p = search.out_ptr[v], end = search.out_ptr[v + 1];
        search.settle(v, level);
      }
      const u32 degree = u32(end - p), edges = warp_sum(bounded_degree(degree));
      if (lane() == 0) atomicAdd(&mine->edges, edges);
      if (search.is_directed) add_into(v, entry < count, mine);
      if (degree > ALONE_SHORT) {
        const u32 at = atomicAdd(&mine->long_rows, 1u);
        atomicAdd(&mine->long_edges, bounded_degree(degree));
        *place_of_long(at) = v;
        end = p;
      }
#pragma unroll 1
      while (__any_sync(ALL_LANES, p < end)) {
        i32 u[K];
#pragma unroll
        for (int k = 0; k < K; ++k) u[k] = p + k < end ? search.out[p + k] : -1;
        u32 won = 0;
#pragma unroll
        for (int k = 0; k < K; ++k) won |= u32(u[k] >= 0 && wins(u[k])) << k;
        keep<K>(won, u, v, next, &mine->count);
        p = least(end, p + K);
      }
    }
  }

  /// Returns the degree that a vertex adds to the sums of the level. If offsets have 64 bits, the
  /// degree is capped, so that the 32-bit sums cannot overflow.
  DEVICE static u32 bounded_degree(u32 degree) {
    return S::PADDED ? least(degree, 1u << 18) : degree;
  }
  DEVICE void add_into(i32 v, bool has, AloneCounts *mine) const {
    if (has && search.in_ptr) atomicAdd(&mine->into, bounded_degree(u32(search.edges_into(v))));
  }

  /// Follows the long rows of the level. Their edges are divided among all threads of the block.
  DEVICE void walk_long(u32 rows, i32 *next, AloneCounts *mine) const {
    const i32 v = threadIdx.x < rows ? memory.long_list[threadIdx.x] : 0;
    const u32 degree = threadIdx.x < rows ? u32(search.out_ptr[v + 1] - search.out_ptr[v]) : 0;
    u32 edges;
    const u32 before = block_exclusive_sum(degree, scratch, edges);
    if (threadIdx.x < rows) memory.ends[threadIdx.x] = before + degree;
    __syncthreads();
#pragma unroll 1
    for (u32 first = u32(warp_in_block()) * WARP; first < edges; first += BFS_THREADS) {
      const u32 edge = first + u32(lane());
      i32 u[1] = {-1}, from = 0;
      if (edge < edges) {
        const u32 row = upper_bound<u32, u32>(memory.ends, 0, rows, edge);
        from = memory.long_list[row];
        u[0] = search.out[search.out_ptr[from] + Offset(edge - (row ? memory.ends[row - 1] : 0))];
      }
      keep<1>(u[0] >= 0 && wins(u[0]), u, from, next, &mine->count);
    }
    __syncthreads();
  }

  /// Appends vertices to the queue in global memory: first the vertices whose long rows have not
  /// been followed yet, then the `count` vertices in `found`, which have level `level`. The queue
  /// counts edges in units (see BfsTuning::unit). The function increases `units`, the number of
  /// units in the queue. It sets `units_long` to the number of units up to the end of the long
  /// rows.
  DEVICE void give(u32 level, u32 long_rows, i32 *found, u32 count, u32 &units_long, u32 &units,
                   u64 *into) const {
    units_long = units;
#pragma unroll 1
    for (u32 first = 0; first < long_rows + count; first += BFS_THREADS) {
      const u32 i = first + threadIdx.x;
      const bool is_long = i < long_rows, is_there = i < long_rows + count;
      i32 v = 0;
      Offset begin = 0;
      u32 degree = 0;
      if (is_there) {
        v = is_long ? *place_of_long(i) : *place_of(found, i - long_rows);
        begin = search.out_ptr[v];
        degree = u32(search.out_ptr[v + 1] - begin);
        if (!is_long) {
          search.settle(v, level);
          if (search.is_directed && search.in_ptr) atomicAdd(into, u64(search.edges_into(v)));
        }
      }
      u32 total, total_long;
      const u32 slot = units + block_exclusive_sum(search.units(degree), scratch, total);
      block_exclusive_sum(is_long ? search.units(degree) : 0, scratch, total_long);
      if (is_there) search.write_entry(place + i, slot, v, begin, degree);
      units += total, units_long += total_long;
    }
  }

  /// Processes one level after another until one of these happens: the next frontier is empty or
  /// does not fit in the queue, a level has too many edges, the maximum level is reached, or the
  /// host asks the kernel to stop. The result is in `memory.state`. Only block 0 calls this.
  DEVICE void walk_levels(u32 *global_map, i64 words, const Span &span, StopFlag &flag,
                          const Records &trace) const {
    AloneState &own = *memory.state;
    take(global_map, words, span);
    u32 level = span.level, count = span.last - span.first, turn = 0, long_rows = 0, frontier = 0,
        reached = 0;
    u64 into = 0, began = 0;
    AloneCounts *mine = memory.counts;
#pragma unroll 1
    while (true) {
      i32 *const now = queue + (turn & 1 ? room : 0), *const next = queue + (turn & 1 ? 0 : room);
      mine = &memory.counts[turn % 3];
      if (threadIdx.x == 0) {
        if (trace.room) began = nanoseconds();
        // Let the loop end in the next iteration. It cannot end in this one, because slower threads
        // may still compare `stops` with the previous value of `turn`.
        if (flag.is_up()) own.stops = turn + 1;
      }
      walk(level, now, count, next, mine);
      __syncthreads();
      frontier = count;
      if (turn) into += search.is_directed ? mine->into : mine->edges;
      long_rows = mine->long_rows;
      if (long_rows) {
        if (turn &&
            (long_rows > ALONE_LONG || mine->long_edges > least(span.most, ALONE_LONG_EDGES))) {
          count = mine->count;
          ++turn;
          break;
        }
        walk_long(long_rows, next, mine);
        long_rows = 0;
      }
      count = mine->count;
      reached += count;
      if (threadIdx.x == 0) {
        memory.counts[(turn + 2) % 3] = AloneCounts();
        if (trace.room) trace.add(span.records + turn, BY_PUSH_ALONE, frontier, mine->edges, began);
      }
      ++level, ++turn;
      if (!count || count > room || mine->edges > span.most || i64(level) >= span.limit ||
          own.stops == turn)
        break;
      if (span.is_one_byte && level > DEEP) break;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      own = AloneState{count,       level,   turn, u32(own.stops == turn), long_rows, frontier,
                       mine->edges, reached, into};
    }
    if constexpr (IN_SHARED) {
      for (i64 word = threadIdx.x; word < words; word += BFS_THREADS) {
        global_map[word] |= map[word] & (search.is_masked ? ~search.fixed[word] : ~0u);
      }
    }
    __syncthreads();
  }

  /// Copies the map and the frontier to shared memory.
  DEVICE void take(const u32 *global_map, i64 words, const Span &span) const {
    if constexpr (IN_SHARED) {
      for (i64 word = threadIdx.x; word < words; word += BFS_THREADS) {
        map[word] = global_map[word] | (search.is_masked ? search.fixed[word] : 0);
      }
    }
    for (u32 entry = span.first + threadIdx.x; entry < span.last; entry += BFS_THREADS) {
      queue[entry - span.first] = search.queue_vertex[entry];
    }
    if (threadIdx.x < 3) memory.counts[threadIdx.x] = AloneCounts();
    if (threadIdx.x == 0) *memory.state = AloneState();
    __syncthreads();
  }
};

}  // namespace graphla
#endif
