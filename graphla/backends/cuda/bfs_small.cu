// Breadth-first search of a small graph: the whole traversal by one cluster of blocks, each of which
// has all maps of the vertices in its shared memory.
#include "bfs_small.cuh"

namespace graphla {

/// `hubs` vertices at the front have long rows; `room` words of shared memory are for lists, 128 or
/// more a warp; fewer than 2^31 edges, and 2^28 a row.
template <class Op, class Offset, class Level, bool PARENTS, int CLUSTER, int THREADS>
__global__ void __launch_bounds__(THREADS, 1) CLUSTER(CLUSTER)
search_small(u64 *control, u32 tickets, u64 *host, u32 launch, i64 patience,
    i64 n, i64 active, i64 several, const Offset *__restrict__ out_ptr, const i32 *__restrict__ out,
    const Offset *__restrict__ in_ptr, const i32 *__restrict__ in,
    const i32 *__restrict__ first, const u32 *__restrict__ idle,
    const i32 *__restrict__ renumbered, const i32 *__restrict__ old,
    const i32 *__restrict__ starts, i32 start, i64 starts_count,
    const bool *__restrict__ flags, bool complement, Level *levels, i32 *parents, bool *present,
    const Offset *__restrict__ least_ptr, const i32 *__restrict__ least_of, bool by_columns,
    i64 limit, i32 direction, i64 hubs, i32 room, float push_cost, u64 *records, i64 records_room) {
  SHARED_BYTES(bytes);
  SHARED(i32, far, SMALL_FAR);
  SHARED(i32, far_by, SMALL_FAR);
  SHARED(i32, row_by, THREADS);
  SHARED(u32, far_begin, SMALL_FAR);
  SHARED(u32, far_end, SMALL_FAR);
  SHARED(u32, scratch, WARP + 1);
  SHARED(u32, totals, 12);  // of even and of odd levels; rows that wait; vertices listed
  typedef Small<Offset, Level, PARENTS, CLUSTER, THREADS> S;
  const u32 words = u32((n + WARP - 1) / WARP), stride = ((words + CLUSTER - 1) / CLUSTER) | 1, all_words = CLUSTER * stride;
  SmallSums *const sums = (SmallSums *)bytes;
  u32 *const seen = (u32 *)(sums + 2 * CLUSTER), *const mine = seen + all_words;
  u32 *front = mine + all_words, *after = front + all_words;
  u32 *const fixed = mine + 3 * all_words;
  const S search{u32(active), out_ptr, out, in_ptr, in, first, old, u32(several), in_ptr != out_ptr, levels, parents,
                 sums, seen, mine, fixed, fixed + stride, (i32 *)(fixed + 2 * stride), u32(room), words, stride, blockIdx.x,
                 u32(hubs) / WARP, far, far_by, row_by, far_begin, far_end, &totals[10], &totals[11], scratch, totals};
  StopFlag flag(host, patience);
  const Records trace{records, records_room};
  const bool is_one = blockIdx.x == 0 && threadIdx.x == 0;

  for (u32 i = threadIdx.x; i < 4 * all_words + 2 * stride; i += THREADS) seen[i] = 0;
  if (threadIdx.x < 12) totals[threadIdx.x] = 0;
  cluster_meet<CLUSTER>();
  SmallSums sum{};
  search.forbid(idle, flags, complement, sum);
  search.begin(renumbered, starts, start, starts_count);
  const u32 all = in_ptr ? u32(in_ptr[active]) : 0;
  u32 level = 0, count = 0, edges = 0, reached = 0, left = 0, into_left = all, open = 0, hits = 0;
  Found found = STARTS;

#pragma unroll 1
  while (true) {
    // What is found is of this level.
    search.hand_out(found, after, level, sum);
    search.give(sum, level & 1);
    sum = search.receive(level & 1);
    for (u32 i = threadIdx.x; i < all_words; i += THREADS) {
      seen[i] |= after[i];
      if (found == FETCHED) mine[i] = 0;
    }
    u32 *const swapped = front;
    front = after, after = swapped;
    open = found == PULLED ? left : 0, hits = sum.found;
    count = sum.found, edges = sum.out, reached += count;
    left = found == STARTS ? sum.left : left - least(left, count);
    into_left -= least(into_left, sum.into);
    __syncthreads();
    if (!count || !left || i64(level) >= limit || sum.stops || (sizeof(Level) == 1 && levels && level > DEEP)) break;

    bool is_pull = direction == PULLS;
    if (direction == EITHER && in_ptr) {
      const float push = float(edges) * push_cost, most = float(into_left);
      is_pull = push > float(left) && push > looks_of_pull(float(left), most, 1 - most / float(all), float(open), float(hits));
    }
    if (is_one && records) trace.add(level, is_pull ? BY_PULL : BY_PUSH, count, edges);
    ++level;
    sum = SmallSums{};
    sum.stops = is_one && flag.is_up();
    found = is_pull ? PULLED : edges < all_words ? SENT : FETCHED;
    if (is_pull) search.pull();
    else search.push(front);
    if (found == SENT) {
      search.send(front);
    } else {
      for (u32 i = threadIdx.x; i < all_words; i += THREADS) front[i] = 0;  // it becomes `after`
    }
    if (found != PULLED) cluster_meet<CLUSTER>();
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
