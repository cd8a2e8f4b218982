// Small levels of a breadth-first search by one block: no barrier of the grid, the queue in shared
// memory and, where it fits, the map of reached vertices, too.
//
// A level is a chain: the queue's vertex, the bounds of its row, the row, the map. Each link of it
// is one step for all vertices of the level together. One block is bound by how many instructions
// it can issue almost as soon as by latency, so rows are followed as far as they go and no further.
#ifndef GRAPHLA_BFS_ALONE
#define GRAPHLA_BFS_ALONE
#include "bfs.cuh"

namespace graphla {

constexpr int ALONE_EACH = 2;     // vertices of a level for each thread
constexpr int ALONE_ROOM = ALONE_EACH * BFS_THREADS;
constexpr int ALONE_SHORT = 12;   // a row that one thread follows by itself

/// What the threads of the block add up in a level; three of them, used in turn.
struct AloneCounts {
  u32 count, long_rows;  // of the level found; rows of the level at work
  u32 edges, into;       // of the level at work
};

/// What block 0 hands over after its levels.
struct AloneState {
  u32 count, level, side, turn;
  u32 stops;          // the turn after which to stop, once the host wishes it
  u64 reached, into;  // vertices found; edges into those of them that are not in the last queue
};

template <class S, bool IN_SHARED> struct Alone {
  typedef typename S::Offset Offset;
  const S &search;
  u32 *map;             // of reached vertices: in shared memory if IN_SHARED
  i32 *queue;           // shared: 2 x ALONE_ROOM vertices
  u32 *ends;            // shared: ALONE_ROOM, where rows end if edges are cut evenly
  Offset *begins;       // shared: ALONE_ROOM
  AloneCounts *counts;  // shared
  u32 *scratch;         // shared: WARP + 1
  u32 room;             // of a queue: ALONE_ROOM or less
  u32 place;            // behind the queue in global memory, where vertices without room go

  /// Bytes of shared memory beside the map.
  static constexpr u32 BYTES = ALONE_ROOM * u32(2 * sizeof(i32) + sizeof(u32) + sizeof(Offset));

  /// As Search::follow, into the block's own next queue.
  template <int K>
  DEVICE void follow(u32 level, i32 *next, u32 *count, u32 valid, const i32 (&v)[K], const i32 (&from)[K]) const {
    u32 won = 0;
    if (search.is_masked) {
#pragma unroll
      for (int k = 0; k < K; ++k) {
        if ((valid >> k & 1) && search.is_fixed(v[k])) valid &= ~(1u << k);
      }
    }
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if ((valid >> k & 1) && S::sets(map, v[k])) won |= 1u << k;
    }
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
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (won >> k & 1) {
        const u32 mine = at + u32(__popc(wins[k] & lanes_before()));
        if (mine < room) next[mine] = v[k];
        else search.queue_vertex[place + mine] = v[k];
        search.settle(v[k], level);
        if constexpr (S::HAS_PARENTS) search.parents[v[k]] = search.name_of(from[k]);
      }
      at += u32(__popc(wins[k]));
    }
  }

  /// Edges of the level cut evenly, for rows of any length.
  DEVICE void by_edges(u32 level, const i32 *queue, u32 count, i32 *next, u32 *found, const Offset (&begin)[ALONE_EACH],
                       const u32 (&degree)[ALONE_EACH]) const {
    constexpr int K = 4;
    u32 edges = 0;
#pragma unroll
    for (int r = 0; r < ALONE_EACH; ++r) {
      const u32 entry = u32(r) * BFS_THREADS + threadIdx.x;
      u32 total;
      const u32 before = block_exclusive_sum(degree[r], scratch, total);
      if (entry < count) {
        ends[entry] = edges + before + degree[r];
        begins[entry] = begin[r];
      }
      edges += total;
    }
    __syncthreads();
    for (u32 first = u32(warp_in_block()) * K * WARP; first < edges; first += BFS_THREADS * K) {
      i32 v[K], from[K];
      u32 valid = 0;
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const u32 edge = first + u32(k * WARP + lane());
        v[k] = from[k] = 0;
        if (edge >= edges) continue;
        const u32 entry = upper_bound<u32, u32>(ends, 0, count, edge);
        v[k] = search.out[begins[entry] + Offset(edge - (entry ? ends[entry - 1] : 0))];
        if constexpr (S::HAS_PARENTS) from[k] = queue[entry];
        valid |= 1u << k;
      }
      follow<K>(level, next, found, valid, v, from);
    }
  }

  /// The level in queue `side`, of `count` vertices, into the other queue: unless its edges are more
  /// than `most`. Whether it was walked; `long_rows` and edges are in `mine` either way.
  DEVICE bool walk(u32 level, u32 side, u32 count, AloneCounts *mine, u64 most) const {
    constexpr int K = 4;
    const i32 *now = queue + side * ALONE_ROOM;
    i32 *next = queue + (side ^ 1) * ALONE_ROOM;
    Offset begin[ALONE_EACH];
    u32 degree[ALONE_EACH];
    i32 vertex[ALONE_EACH];
    u32 edges = 0, long_rows = 0, into = 0;
#pragma unroll
    for (int r = 0; r < ALONE_EACH; ++r) {
      const u32 entry = u32(r) * BFS_THREADS + threadIdx.x;
      begin[r] = 0, degree[r] = 0, vertex[r] = 0;
      if (entry < count) {
        vertex[r] = now[entry];
        begin[r] = search.out_ptr[vertex[r]];
        degree[r] = u32(search.out_ptr[vertex[r] + 1] - begin[r]);
        if (search.is_directed && search.in_ptr) into += u32(least(u64(search.edges_into(vertex[r])), u64(1) << 20));
      }
    }
#pragma unroll
    for (int r = 0; r < ALONE_EACH; ++r) {
      edges += least(degree[r], 1u << 20);
      long_rows += degree[r] > ALONE_SHORT;
    }
    if (u32(warp_in_block() * WARP) < count) {
      edges = warp_sum(edges);
      long_rows = warp_sum(long_rows);
      if (search.is_directed) into = warp_sum(into);
      if (lane() == 0) {
        atomicAdd(&mine->edges, edges);
        if (long_rows) atomicAdd(&mine->long_rows, long_rows);
        if (into) atomicAdd(&mine->into, into);
      }
    }
    __syncthreads();
    if (mine->edges > most) return false;
    if (mine->long_rows) {
      by_edges(level, now, count, next, &mine->count, begin, degree);
      return true;
    }
#pragma unroll
    for (int r = 0; r < ALONE_EACH; ++r) {
      if (u32(r) * BFS_THREADS + u32(warp_in_block()) * WARP >= count) break;
      for (u32 done = 0; __any_sync(ALL_LANES, done < degree[r]); done += K) {
        i32 v[K], from[K];
        u32 valid = 0;
#pragma unroll
        for (int k = 0; k < K; ++k) {
          const bool is_edge = done + k < degree[r];
          v[k] = is_edge ? search.out[begin[r] + Offset(done + k)] : 0;
          from[k] = vertex[r];
          valid |= u32(is_edge) << k;
        }
        follow<K>(level, next, &mine->count, valid, v, from);
      }
    }
    return true;
  }

  /// Appends `count` vertices of queue `side` to the queue in global memory, from `units` on; the
  /// units at its end.
  DEVICE u32 give(u32 side, u32 count, u32 units, u64 *into) const {
    for (u32 first = 0; first < count; first += BFS_THREADS) {
      const u32 entry = first + threadIdx.x;
      i32 v = 0;
      Offset begin = 0;
      u32 degree = 0;
      if (entry < count) {
        v = entry < room ? queue[side * ALONE_ROOM + entry] : search.queue_vertex[place + entry];
        begin = search.out_ptr[v];
        degree = u32(search.out_ptr[v + 1] - begin);
        if (search.is_directed && search.in_ptr) atomicAdd(into, u64(search.edges_into(v)));
      }
      u32 total;
      const u32 slot = units + block_exclusive_sum(search.units(degree), scratch, total);
      if (entry < count) search.write_entry(place + entry, slot, v, begin, degree);
      units += total;
    }
    return units;
  }
};

/// By block 0: from the entries first..last - 1 of the queue in global memory, level after level,
/// until one is empty, too large, or the last. What it comes to is in `own`.
template <class S, bool IN_SHARED>
DEVICE void walk_alone(const Alone<S, IN_SHARED> &alone, u32 *global_map, i64 words, u32 first, u32 last,
                       u32 level, AloneState *own, u64 most, i64 limit, bool is_one_byte, StopFlag &flag,
                       const Records &trace, i64 records) {
  const S &search = alone.search;
  if constexpr (IN_SHARED) {
    for (i64 word = threadIdx.x; word < words; word += BFS_THREADS) alone.map[word] = global_map[word];
  }
  for (u32 entry = first + threadIdx.x; entry < last; entry += BFS_THREADS) {
    alone.queue[entry - first] = search.queue_vertex[entry];
  }
  if (threadIdx.x < 3) alone.counts[threadIdx.x] = AloneCounts();
  if (threadIdx.x == 0) own[0] = AloneState();
  u32 count = last - first, turn = 0;
  u64 reached = 0, into = 0, began = 0;
  __syncthreads();
  while (true) {
    AloneCounts *mine = &alone.counts[turn % 3];
    if (threadIdx.x == 0) {
      if (trace.room) began = nanoseconds();
      if (flag.is_up()) own[0].stops = turn + 1;  // others may still be at the turn before
    }
    if (!alone.walk(level + 1, turn & 1, count, mine, turn ? most : ~u64(0))) break;
    __syncthreads();
    if (threadIdx.x == 0) {
      alone.counts[(turn + 2) % 3] = AloneCounts();
      if (trace.room) trace.add(records + turn, 2, count, mine->edges, began);
    }
    if (turn) into += search.is_directed ? mine->into : mine->edges;
    count = mine->count;
    reached += count;
    ++level, ++turn;
    if (!count || count > alone.room || i64(level) >= limit || own[0].stops == turn) break;
    if (is_one_byte && level > DEEP) break;
  }
  __syncthreads();
  if (threadIdx.x == 0) own[0] = AloneState{count, level, turn & 1, turn, own[0].stops, reached, into};
  if constexpr (IN_SHARED) {
    for (i64 word = threadIdx.x; word < words; word += BFS_THREADS) global_map[word] = alone.map[word];
  }
  __syncthreads();
}

}  // namespace graphla
#endif
