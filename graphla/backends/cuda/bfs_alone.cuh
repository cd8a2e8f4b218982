// Small levels of a breadth-first search by one block: no barrier of the grid, the queue in shared
// memory and, where it fits, the map of reached vertices, too.
//
// A level is a chain: the queue's vertex, the bounds of its row, the row, the map. What it costs
// besides is instructions, each fetched anew at every level: so the code of a level is short, and
// whatever is rare stands apart. A thread follows a row to its end; rows too long for that wait in a
// list, for the block together or, where they are many, for the grid.
#ifndef GRAPHLA_BFS_ALONE
#define GRAPHLA_BFS_ALONE
#include "bfs.cuh"

namespace graphla {

constexpr u32 ALONE_SHORT = 8;    // longest row, in entries, that one thread follows by itself
constexpr u32 ALONE_LONG = 512;   // longer rows of a level that the block can follow together,
constexpr u32 ALONE_LONG_EDGES = 2048;  // and their edges: with more the grid is quicker

/// What the threads of the block add up in a level; three of them, used in turn.
struct AloneCounts {
  u32 count;             // vertices found
  u32 edges, into;       // of the level at work
  u32 long_rows, long_edges;
};

/// What block 0 hands over after its levels.
struct AloneState {
  u32 count, level, turn;
  u32 stops;          // the turn after which to stop, once the host wishes it
  u32 long_rows;      // of the level that is not finished: they are for the grid
  u64 frontier, edges;  // of that level
  u64 reached, into;  // vertices found; edges into those of them that are not in the last queue
};

template <class S, bool IN_SHARED> struct Alone {
  typedef typename S::Offset Offset;
  const S &search;
  u32 *map;             // of reached vertices: in shared memory if IN_SHARED, with those never to be
  i32 *queue;           // shared: 2 x room vertices
  i32 *long_list;       // shared: ALONE_LONG vertices
  u32 *ends;            // shared: where their rows end, one after the other
  AloneCounts *counts;  // shared
  u32 *scratch;         // shared: WARP + 1
  u32 room;
  u32 place;            // behind the queue in global memory, where vertices without room go

  /// Keeps v[k] of each lane, where `won` says so, for the next level; the whole warp calls.
  template <int K> DEVICE void keep(u32 won, const i32 (&v)[K], i32 from, i32 *next, u32 *count) const {
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
  /// Of vertex i of a queue: in shared memory, or where there is no room in it.
  DEVICE i32 *place_of(i32 *queue, u32 i) const { return i < room ? queue + i : search.spill + i; }
  DEVICE i32 *place_of_long(u32 i) const {
    return i < ALONE_LONG ? long_list + i : search.spill + search.spill_room - 1 - i;
  }
  DEVICE bool wins(i32 v) const {
    if constexpr (!IN_SHARED) {
      if (search.is_fixed(v)) return false;
    }
    return S::sets(map, v);
  }

  /// The vertices of `now` are settled at `level`, and their edges followed, but for long rows.
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
      const u32 degree = u32(end - p), edges = warp_sum(counted(degree));
      if (lane() == 0) atomicAdd(&mine->edges, edges);
      if (search.is_directed) add_into(v, entry < count, mine);
      if (degree > ALONE_SHORT) {
        const u32 at = atomicAdd(&mine->long_rows, 1u);
        atomicAdd(&mine->long_edges, counted(degree));
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

  /// A degree as it is added up: of 64-bit offsets so many at most, so that the sum fits.
  DEVICE static u32 counted(u32 degree) { return S::PADDED ? least(degree, 1u << 18) : degree; }
  DEVICE void add_into(i32 v, bool has, AloneCounts *mine) const {
    if (has && search.in_ptr) atomicAdd(&mine->into, counted(u32(search.edges_into(v))));
  }

  /// The long rows of the level, by the block together.
  DEVICE void walk_long(u32 rows, i32 *next, AloneCounts *mine) const {
    const i32 v = threadIdx.x < rows ? long_list[threadIdx.x] : 0;
    const u32 degree = threadIdx.x < rows ? u32(search.out_ptr[v + 1] - search.out_ptr[v]) : 0;
    u32 edges;
    const u32 before = block_exclusive_sum(degree, scratch, edges);
    if (threadIdx.x < rows) ends[threadIdx.x] = before + degree;
    __syncthreads();
#pragma unroll 1
    for (u32 first = u32(warp_in_block()) * WARP; first < edges; first += BFS_THREADS) {
      const u32 edge = first + u32(lane());
      i32 u[1] = {-1}, from = 0;
      if (edge < edges) {
        const u32 row = upper_bound<u32, u32>(ends, 0, rows, edge);
        from = long_list[row];
        u[0] = search.out[search.out_ptr[from] + Offset(edge - (row ? ends[row - 1] : 0))];
      }
      keep<1>(u[0] >= 0 && wins(u[0]), u, from, next, &mine->count);
    }
    __syncthreads();
  }

  /// Appends the long rows that are left and the `count` vertices found, of level `level`, to the
  /// queue in global memory, from `units` on; the units at the ends of both.
  DEVICE void give(u32 level, u32 long_rows, i32 *found, u32 count, u32 &units_long, u32 &units, u64 *into) const {
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
};

/// By block 0: from the entries first..last - 1 of the queue in global memory, level after level,
/// until one is empty, too large, or the last. What it comes to is in `own`.
template <class S, bool IN_SHARED>
DEVICE void walk_alone(const Alone<S, IN_SHARED> &alone, u32 *global_map, i64 words, u32 first, u32 last,
                       u32 level, AloneState *own, u32 most, i64 limit, bool is_one_byte, StopFlag &flag,
                       const Records &trace, i64 records) {
  const S &search = alone.search;
  if constexpr (IN_SHARED) {
    for (i64 word = threadIdx.x; word < words; word += BFS_THREADS) {
      alone.map[word] = global_map[word] | (search.is_masked ? search.fixed[word] : 0);
    }
  }
  for (u32 entry = first + threadIdx.x; entry < last; entry += BFS_THREADS) {
    alone.queue[entry - first] = search.queue_vertex[entry];
  }
  if (threadIdx.x < 3) alone.counts[threadIdx.x] = AloneCounts();
  if (threadIdx.x == 0) own[0] = AloneState();
  u32 count = last - first, turn = 0, long_rows = 0, frontier = 0, reached = 0;
  u64 into = 0, began = 0;
  AloneCounts *mine = alone.counts;
  __syncthreads();
#pragma unroll 1
  while (true) {
    i32 *const now = alone.queue + (turn & 1 ? alone.room : 0), *const next = alone.queue + (turn & 1 ? 0 : alone.room);
    mine = &alone.counts[turn % 3];
    if (threadIdx.x == 0) {
      if (trace.room) began = nanoseconds();
      if (flag.is_up()) own[0].stops = turn + 1;  // others may still be at the turn before
    }
    alone.walk(level, now, count, next, mine);
    __syncthreads();
    frontier = count;
    if (turn) into += search.is_directed ? mine->into : mine->edges;
    long_rows = mine->long_rows;
    if (long_rows) {
      if (turn && (long_rows > ALONE_LONG || mine->long_edges > least(most, ALONE_LONG_EDGES))) {
        count = mine->count;
        ++turn;
        break;
      }
      alone.walk_long(long_rows, next, mine);
      long_rows = 0;
    }
    count = mine->count;
    reached += count;
    if (threadIdx.x == 0) {
      alone.counts[(turn + 2) % 3] = AloneCounts();
      if (trace.room) trace.add(records + turn, 2, frontier, mine->edges, began);
    }
    ++level, ++turn;
    if (!count || count > alone.room || mine->edges > most || i64(level) >= limit || own[0].stops == turn) break;
    if (is_one_byte && level > DEEP) break;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    own[0] = AloneState{count, level, turn, u32(own[0].stops == turn), long_rows, frontier, mine->edges, reached, into};
  }
  if constexpr (IN_SHARED) {
    for (i64 word = threadIdx.x; word < words; word += BFS_THREADS) {
      global_map[word] |= alone.map[word] & (search.is_masked ? ~search.fixed[word] : ~0u);
    }
  }
  __syncthreads();
}

}  // namespace graphla
#endif
