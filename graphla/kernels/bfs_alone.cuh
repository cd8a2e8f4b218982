// Small levels of a breadth-first search by one block: no barrier of the grid, the queue in shared
// memory and, where it fits, the map of reached vertices, too.
//
// A level is a chain: the queue's entry, the row, the map, the next row's bounds. Each link of it
// is one step for all vertices of the level together, and one barrier of the block ends it.
#ifndef GRAPHLA_BFS_ALONE
#define GRAPHLA_BFS_ALONE
#include "bfs.cuh"

namespace graphla {

constexpr int ALONE_SHORT = 8;  // a row that one thread follows by itself

/// What the threads of the block add up in a level; three of them, used in turn.
struct AloneCounts {
  u32 count, edges, long_rows, into;
};

template <class S> struct Alone {
  typedef typename S::Offset Offset;
  const S &search;
  u32 *map;         // of reached vertices, in shared or global memory
  u32 room;         // entries that shared memory holds in a queue
  Offset *begin;    // 2 x room: where rows begin
  u32 *degree;      // 2 x room; while a level is cut by edges, where its rows end
  i32 *vertex;      // 2 x room, of S::HAS_PARENTS
  AloneCounts *counts;
  u32 *scratch;     // WARP + 1
  u32 place;        // behind the queue in global memory, where entries without room go

  static constexpr u32 CAP = 1u << 16;  // a degree counts no further: the level is too large anyway

  /// Bytes of shared memory for queues of `room` entries.
  DEVICE static constexpr u32 bytes_of(u32 room) {
    return room * 2 * u32(sizeof(Offset) + 4 + (S::HAS_PARENTS ? 4 : 0));
  }

  /// As Search::follow, into the queue of the block's next level.
  template <int K>
  DEVICE void follow(u32 level, int next, AloneCounts *sums, u32 valid, const i32 (&v)[K],
                     const i32 (&from)[K]) const {
    u32 won = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if ((valid >> k & 1) && !search.is_fixed(v[k]) && !(load_relaxed(&map[u32(v[k]) / WARP]) >> (v[k] & 31) & 1)) {
        if (S::sets(map, v[k])) won |= 1u << k;
      }
    }
    u32 wins[K], total = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      wins[k] = __ballot_sync(ALL_LANES, won >> k & 1);
      total += u32(__popc(wins[k]));
    }
    if (!total) return;
    Offset first[K], end[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (won >> k & 1) {
        first[k] = search.out_ptr[v[k]];
        end[k] = search.out_ptr[v[k] + 1];
      }
    }
    u32 at = 0;
    if (lane() == 0) at = atomicAdd(&sums->count, total);
    at = shuffle(at, 0);
    u32 edges = 0, long_rows = 0, into = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (won >> k & 1) {
        const u32 mine = at + __popc(wins[k] & ((1u << lane()) - 1));
        const u32 entries = u32(end[k] - first[k]);
        edges += least(entries, CAP);
        long_rows += entries > ALONE_SHORT;
        if (mine < room) {
          begin[next * room + mine] = first[k];
          degree[next * room + mine] = entries;
          if constexpr (S::HAS_PARENTS) vertex[next * room + mine] = v[k];
        } else {
          search.queue_begin[place + mine] = typename S::Slot(first[k]);
          search.queue_slot[place + mine] = entries;
          if constexpr (S::HAS_PARENTS) search.queue_vertex[place + mine] = v[k];
        }
        search.settle(v[k], level);
        if constexpr (S::HAS_PARENTS) search.parents[v[k]] = search.name_of(from[k]);
        if (search.is_directed && search.in_ptr) {
          into += least(u32(search.in_ptr[v[k] + 1] - search.in_ptr[v[k]]), CAP);
        }
      }
      at += __popc(wins[k]);
    }
    edges = warp_sum(edges);
    long_rows = warp_sum(long_rows);
    if (search.is_directed) into = warp_sum(into);
    if (lane() == 0) {
      atomicAdd(&sums->edges, edges);
      if (long_rows) atomicAdd(&sums->long_rows, long_rows);
      if (into) atomicAdd(&sums->into, into);
    }
  }

  /// A level whose rows are all short: a thread follows a row.
  DEVICE void by_rows(u32 level, int now, u32 count, AloneCounts *sums) const {
    for (u32 first = warp_in_block() * WARP; first < count; first += BFS_THREADS) {
      const u32 entry = first + lane();
      i32 v[ALONE_SHORT], from[ALONE_SHORT];
      u32 valid = 0;
      const u32 entries = entry < count ? degree[now * room + entry] : 0;
      const Offset row = entry < count ? begin[now * room + entry] : 0;
#pragma unroll
      for (int k = 0; k < ALONE_SHORT; ++k) {
        const bool is_edge = u32(k) < entries;
        v[k] = is_edge ? search.out[row + k] : 0;
        from[k] = 0;
        if constexpr (S::HAS_PARENTS) from[k] = is_edge ? vertex[now * room + entry] : 0;
        valid |= u32(is_edge) << k;
      }
      follow<ALONE_SHORT>(level, now ^ 1, sums, valid, v, from);
    }
  }

  /// Any level: the edges are cut evenly. Turns `degree` into where rows end.
  DEVICE void by_edges(u32 level, int now, u32 count, AloneCounts *sums) const {
    constexpr int K = 4;
    u32 *ends = degree + now * room;
    u32 edges = 0;
    for (u32 first = 0; first < count; first += BFS_THREADS) {
      const u32 entry = first + threadIdx.x;
      const u32 entries = entry < count ? ends[entry] : 0;
      u32 total;
      const u32 before = block_exclusive_sum(entries, scratch, total);
      if (entry < count) ends[entry] = edges + before + entries;
      edges += total;
    }
    __syncthreads();
    for (u32 first = warp_in_block() * K * WARP; first < edges; first += BFS_THREADS * K) {
      i32 v[K], from[K];
      u32 valid = 0;
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const u32 edge = first + k * WARP + lane();
        v[k] = from[k] = 0;
        if (edge >= edges) continue;
        const u32 entry = upper_bound<u32, u32>(ends, 0, count, edge);
        const u32 ahead = entry ? ends[entry - 1] : 0;
        v[k] = search.out[begin[now * room + entry] + Offset(edge - ahead)];
        if constexpr (S::HAS_PARENTS) from[k] = vertex[now * room + entry];
        valid |= 1u << k;
      }
      follow<K>(level, now ^ 1, sums, valid, v, from);
    }
  }

  /// Takes the entries first..last - 1 of the queue in global memory, which end at `units_last`.
  DEVICE void take(u32 first, u32 last, u32 units_last) const {
    for (u32 entry = first + threadIdx.x; entry < last; entry += BFS_THREADS) {
      const u32 slot = load_relaxed(&search.queue_slot[entry]);
      const u32 next = entry + 1 < last ? load_relaxed(&search.queue_slot[entry + 1]) : units_last;
      begin[entry - first] = Offset(load_relaxed(&search.queue_begin[entry]) + search.slot_of(slot));
      degree[entry - first] = next - slot;
      if constexpr (S::PADDED) degree[entry - first] = load_relaxed(&search.queue_degree[entry]);
      if constexpr (S::HAS_PARENTS) vertex[entry - first] = load_relaxed(&search.queue_vertex[entry]);
    }
  }

  /// Appends the block's queue to the one in global memory, from `units` on; the units at its end.
  DEVICE u32 give(int now, u32 count, u32 units) const {
    for (u32 first = 0; first < count; first += BFS_THREADS) {
      const u32 entry = first + threadIdx.x;
      u32 entries = 0;
      typename S::Slot row = 0;
      if (entry < count) {
        if (entry < room) {
          entries = degree[now * room + entry];
          row = typename S::Slot(begin[now * room + entry]);
          if constexpr (S::HAS_PARENTS) search.queue_vertex[place + entry] = vertex[now * room + entry];
        } else {
          entries = search.queue_slot[place + entry];
          row = search.queue_begin[place + entry];
        }
      }
      u32 total;
      const u32 slot = units + block_exclusive_sum(search.units(entries), scratch, total);
      if (entry < count) {
        search.queue_slot[place + entry] = slot;
        search.queue_begin[place + entry] = row - search.slot_of(slot);
        if constexpr (S::PADDED) search.queue_degree[place + entry] = entries;
      }
      units += total;
    }
    return units;
  }
};

}  // namespace graphla
#endif
