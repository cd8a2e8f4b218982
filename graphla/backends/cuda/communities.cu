// Chooses a label for every vertex in one round: either the most frequent label among its neighbors
// (label propagation), or the community with the greatest gain (Louvain's method).
//
// Rows are divided into classes by length:
// - One thread reads a row of at most `thread_entries` entries.
// - A warp reads a row of at most 32 entries, one entry per lane.
// - A warp reads a row of a few hundred entries, and sums the weights by label in a table in
//   shared memory.
// - A block reads a longer row, and uses a table in shared memory.
// - Many blocks share the row of a hub. Each block sums `part` entries in shared memory and adds
//   the sums to the hub's table in device memory.
//
// In a round of Louvain's method only about half of the vertices may move. For every other vertex
// the kernels only sum the weights of its edges to its own community, which needs no table. A round
// of label propagation has two halves, unless all vertices change at once. In each half, about half
// of the vertices may change, and the kernels do not read the rows of the other vertices. All terms
// of the sums are multiples of 1/2, which floating-point addition does not round. So the sums do
// not depend on the order. Race: all threads that find a changed label store the same value 1 in
// `differs`.
#include "communities.cuh"

namespace graphla {

/// Chooses a label for each vertex whose row has at most `thread_entries` entries. One thread reads
/// each row.
template <class Op, class Offset, int KEPT, int RULE>
__global__ void choose_by_threads(RowBatch<Offset> all, Step step) {
  constexpr int ROOM = Layout::thread_entries;
  typedef Vertex<Offset, KEPT, RULE> Row;
  typedef typename Row::Sum Sum;
  double linked = 0;
  for (i64 k = thread_in_grid(); k < all.count; k += threads_in_grid()) {
    Row row(all, step, k);
    i32 label[ROOM];
    Sum weight[ROOM], own = 0;
    row.load_labels(row.begin, 1, label);
#pragma unroll
    for (int e = 0; e < ROOM; ++e)
      weight[e] = row.begin + e < row.end ? row.weight(row.begin + e) : Sum(0);
#pragma unroll
    for (int e = 0; e < ROOM; ++e) {
      Sum sum = 0;
#pragma unroll
      for (int other = 0; other < ROOM; ++other)
        sum += label[other] == label[e] ? weight[other] : Sum(0);
      row.meet(label[e], sum);
      if (RULE == GAINING && label[e] == row.own) own = sum;
    }
    linked += row.settle(own);
  }
  add_inside<RULE>(step, linked);
}

/// Chooses a label for each vertex whose row has at most 32 entries. One warp reads each row.
template <class Op, class Offset, int KEPT, int RULE>
__global__ void choose_by_lanes(RowBatch<Offset> all, Step step) {
  typedef Vertex<Offset, KEPT, RULE> Row;
  typedef typename Row::Sum Sum;
  double linked = 0;
  for (i64 k = thread_in_grid() / WARP; k < all.count; k += threads_in_grid() / WARP) {
    Row row(all, step, k);
    const i64 p = row.begin + lane();
    i32 labels[1];
    row.load_labels(p, WARP, labels);
    const i32 label = labels[0];
    const Sum weight = p < row.end ? row.weight(p) : Sum(0);
    if (!row.may_move) {
      if (label == row.own) linked += row.weight_of(weight);
      if (lane() == 0) row.settle(Sum(0));
      continue;
    }
    Sum sum = 0;
    if constexpr (Row::COUNTS) {
      sum = u32(__popc(__match_any_sync(ALL_LANES, label)));
    } else {
      for (int each = 0; each < int(row.end - row.begin); ++each) {
        const Sum other = shuffle(weight, each);
        if (shuffle(label, each) == label) sum += other;
      }
    }
    Sum own = 0;
    if constexpr (RULE == GAINING) {
      const u32 ours = __ballot_sync(ALL_LANES, label == row.own);
      own = shuffle(sum, ours ? __ffs(int(ours)) - 1 : 0);
      if (!ours) own = 0;
      row.expect(own);
    }
    row.meet(label, sum);
    row.best.meet_lanes();
    if (lane() == 0) linked += row.settle(own);
  }
  add_inside<RULE>(step, linked);
}

/// Chooses a label for each vertex whose row has at most `table_entries` entries. One warp reads
/// each row, and has its own table.
template <class Op, class Offset, int KEPT, int RULE>
__global__ void __launch_bounds__(Layout::table_block)
    choose_by_tables(RowBatch<Offset> all, Step step) {
  constexpr int SLOTS = 2 * Layout::table_entries;
  typedef Vertex<Offset, KEPT, RULE> Row;
  typedef typename Row::Sum Sum;
  SHARED(Sum, sums, Layout::table_block / WARP * SLOTS);
  SHARED(i32, names, Layout::table_block / WARP * SLOTS);
  Table<Sum> table = {names + warp_in_block() * SLOTS, sums + warp_in_block() * SLOTS, 0};
  double linked = 0;
  for (i64 k = thread_in_grid() / WARP; k < all.count; k += threads_in_grid() / WARP) {
    Row row(all, step, k);
    if (!row.may_move) {
      // Unroll by 16 instead of 8: 16 loads in flight make this sum faster.
      linked += row.weight_of(row.template own_part<16>(row.begin, WARP));
      if (lane() == 0) row.settle(Sum(0));
      continue;
    }
    table.bits = bits_for(row.end - row.begin);
    table.clear(lane(), WARP);
    __syncwarp();
    tabulate(row, table, row.begin, WARP);
    __syncwarp();
    const Sum own = RULE == GAINING ? table.sum_of(row.own) : Sum(0);
    row.expect(own);
    for (int s = lane(); s < 1 << table.bits; s += WARP) row.meet(table.labels[s], table.sums[s]);
    row.best.meet_lanes();
    if (lane() == 0) linked += row.settle(own);
    __syncwarp();
  }
  add_inside<RULE>(step, linked);
}

/// Chooses a label for each vertex whose row has more than `table_entries` entries and is not the
/// row of a hub. One block reads each row, and has a table with `slots` slots in shared memory.
template <class Op, class Offset, int KEPT, int RULE>
__global__ void __launch_bounds__(Layout::long_block)
    choose_by_blocks(RowBatch<Offset> all, Step step, i64 slots) {
  typedef Vertex<Offset, KEPT, RULE> Row;
  typedef typename Row::Sum Sum;
  SHARED_BYTES(shared);
  SHARED(typename Row::Score, scores, Layout::long_block / WARP);
  SHARED(i32, best, Layout::long_block / WARP);
  Table<Sum> table = {(i32 *)(shared + slots * i64(sizeof(Sum))), (Sum *)shared, 0};
  const int threads = int(blockDim.x), thread = int(threadIdx.x);
  double linked = 0;
  for (i64 k = blockIdx.x; k < all.count; k += gridDim.x) {
    Row row(all, step, k);
    if (!row.may_move) {
      linked += row.weight_of(
          row.template own_part<AT_ONCE>(row.begin + warp_in_block() * WARP, threads));
      if (thread == 0) row.settle(Sum(0));
      continue;
    }
    table.bits = bits_for(row.end - row.begin);
    table.clear(thread, threads);
    __syncthreads();
    tabulate(row, table, row.begin + warp_in_block() * WARP, threads);
    __syncthreads();
    const Sum own = RULE == GAINING ? table.sum_of(row.own) : Sum(0);
    row.expect(own);
    for (i64 s = thread; s < i64(1) << table.bits; s += threads) {
      const i32 name = load_relaxed(&table.labels[s]);
      if (name != NOBODY) row.meet(name, load_relaxed(&table.sums[s]));
    }
    row.best.meet_threads(scores, best);
    if (thread == 0) linked += row.settle(own);
  }
  add_inside<RULE>(step, linked);
}

// --- hubs ----------------------------------------------------------------------------------------

/// The progress of the blocks that process the row of one hub. Both counts are zero before and
/// after a round.
struct Tally {
  u32 taken;  // number of occupied slots of the row's table
  u32 done;   // number of parts of the row that are finished
};

/// The rows of the hubs, divided into parts, and for each row a table in device memory, which maps
/// labels to sums of weights. All slots of the tables are free before sum_parts and after
/// choose_for_hubs.
struct Hubs {
  const i64 *first_parts;  // row r consists of the parts first_parts[r] to first_parts[r + 1] - 1
  const i64 *first_slots;  // the table of row r begins at first_slots[r]
  i32 *names;              // the tables of all rows, one after another: the label in each slot
  u64 *sums;               // the sum of weights for each label in `names`, as u32 or double
  i32 *slots;              // for each row r, from first_parts[r] * part on: its occupied slots
  Tally *tallies;          // the progress of each row
  i32 *best;               // the best label of each part
  u64 *scores;             // the score of each label in `best`
  u64 *own;  // for each row, the total weight of edges from its vertex to the vertex's
             // own community

  template <class Row> DEVICE Table<typename Row::Sum> table(const Row &row, i64 r) const {
    return {names + first_slots[r], (typename Row::Sum *)sums + first_slots[r],
            bits_for(row.end - row.begin)};
  }
};

/// Adds the sums in the table of a part to the table of row r. Appends each slot that was free
/// before this addition to the row's list of occupied slots. All lanes of a warp must call this.
template <class Sum>
DEVICE void merge_part(const Table<Sum> &part, Table<Sum> &table, const Hubs &hubs, i64 r) {
  for (int s = int(threadIdx.x); s < 1 << part.bits; s += int(blockDim.x)) {
    const i32 name = part.labels[s];
    u32 slot = 0;
    const bool is_new = name != NOBODY && table.find(name, slot);
    __syncwarp();
    const u32 place = claim(&hubs.tallies[r].taken, is_new);
    if (is_new) hubs.slots[hubs.first_parts[r] * Layout::part + place] = i32(slot);
    if (name != NOBODY) atomicAdd(&table.sums[slot], part.sums[s]);
  }
}

/// Sums the weights of each part by label in shared memory, then adds the sums to the table of the
/// part's row. One block processes each part.
template <class Op, class Offset, int KEPT, int RULE>
__global__ void __launch_bounds__(Layout::hub_block)
    sum_parts(RowBatch<Offset> all, Step step, Hubs hubs) {
  constexpr int BITS = Layout::part_bits;
  static_assert(1 << BITS >= 2 * Layout::part, "a table has two slots per entry");
  typedef Vertex<Offset, KEPT, RULE> Row;
  typedef typename Row::Sum Sum;
  SHARED(Sum, part_sums, 1 << BITS);
  SHARED(i32, part_names, 1 << BITS);
  Table<Sum> part = {part_names, part_sums, BITS};
  for (i64 p = blockIdx.x; p < hubs.first_parts[all.count]; p += gridDim.x) {
    const i64 r = segment_of(hubs.first_parts, all.count, p);
    Row row(all, step, r);
    Table<Sum> table = hubs.table(row, r);
    row.begin += (p - hubs.first_parts[r]) * Layout::part;
    row.end = least(row.end, row.begin + Layout::part);
    const i64 first = row.begin + warp_in_block() * WARP;
    if (!row.may_move) {
      const Sum sum = warp_sum(row.template own_part<AT_ONCE>(first, Layout::hub_block));
      if (lane() == 0 && sum != Sum(0)) atomicAdd((Sum *)hubs.own + r, sum);
      continue;
    }
    part.clear(int(threadIdx.x), Layout::hub_block);
    __syncthreads();
    tabulate(row, part, first, Layout::hub_block);
    __syncthreads();
    merge_part(part, table, hubs, r);
    __syncthreads();
  }
}

/// Reads and clears some slots of the table of row r: elements `from` to `to` - 1 of the row's list
/// of occupied slots contain the indices of these slots. The label in each slot is a candidate for
/// the vertex of the row. Each thread keeps the best label of its slots in row.best.
template <class Row> DEVICE void meet_slots(Row &row, const Hubs &hubs, i64 r, u32 from, u32 to) {
  typedef typename Row::Sum Sum;
  const Table<Sum> table = hubs.table(row, r);
  const i32 *const slots = hubs.slots + hubs.first_parts[r] * Layout::part;
  for (u32 i = from + threadIdx.x; i < to; i += blockDim.x) {
    const i32 slot = slots[i], name = table.labels[slot];
    const Sum sum = table.sums[slot];
    row.meet(name, sum);
    if (name == row.own) store_relaxed((Sum *)hubs.own + r, sum);
    table.labels[slot] = NOBODY;
    table.sums[slot] = Sum(0);
  }
}

/// Returns whether this block is the last of the row's `parts` blocks to finish. Every thread must
/// call this.
DEVICE bool finish_part(Tally *tally, u32 parts) {
  bool is_last = false;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(&tally->done, 1u) + 1 == parts;
    __threadfence();
  }
  return __syncthreads_or(is_last);
}

/// Chooses a label for each hub, based on the sums in the hub's table, and clears the table. The
/// slots of the table that are in use are divided into parts of `part` slots, and a block chooses
/// the best label of one part. The last block to finish for a hub picks the best of these labels.
template <class Op, class Offset, int KEPT, int RULE>
__global__ void __launch_bounds__(Layout::hub_block)
    choose_for_hubs(RowBatch<Offset> all, Step step, Hubs hubs) {
  typedef Vertex<Offset, KEPT, RULE> Row;
  typedef typename Row::Sum Sum;
  typedef typename Row::Score Score;
  SHARED(Score, warp_scores, Layout::hub_block / WARP);
  SHARED(i32, warp_best, Layout::hub_block / WARP);
  Score *const scores = (Score *)hubs.scores;
  double linked = 0;
  for (i64 p = blockIdx.x; p < hubs.first_parts[all.count]; p += gridDim.x) {
    const i64 r = segment_of(hubs.first_parts, all.count, p), first = hubs.first_parts[r];
    const u32 taken = hubs.tallies[r].taken, from = u32(p - first) * Layout::part;
    // The list of occupied slots is divided into `full` parts. One block finds the best label of
    // each part and stores it for the final choice.
    const u32 full = (taken + Layout::part - 1) / Layout::part;
    Row row(all, step, r);
    if (from < taken) {
      meet_slots(row, hubs, r, from, least(taken, from + Layout::part));
      row.best.meet_threads(warp_scores, warp_best);
      if (threadIdx.x == 0) {
        store_relaxed(&scores[p], row.best.score);
        store_relaxed(&hubs.best[p], row.best.label);
      }
    }
    if (!finish_part(&hubs.tallies[r], u32(hubs.first_parts[r + 1] - first))) continue;
    for (u32 i = threadIdx.x; i < full; i += Layout::hub_block) {
      row.best.meet(load_relaxed(&scores[first + i]), load_relaxed(&hubs.best[first + i]));
    }
    row.best.meet_threads(warp_scores, warp_best);
    if (threadIdx.x == 0) {
      linked += row.settle(load_relaxed((Sum *)hubs.own + r));
      store_relaxed((Sum *)hubs.own + r, Sum(0));
      hubs.tallies[r] = Tally{0, 0};
    }
  }
  add_inside<RULE>(step, linked);
}

/// Moves each vertex v with chosen[v] != community[v] to community chosen[v], and updates the
/// totals of its old and its new community.
template <class Op>
__global__ void move_vertices(const i32 *__restrict__ chosen, i64 n, const double *__restrict__ out,
                              const double *__restrict__ into, double *outs, double *intos,
                              i32 *community) {
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    const i32 from = community[v], to = chosen[v];
    if (from == to) continue;
    community[v] = to;
    atomicAdd(&outs[from], -out[v]);
    atomicAdd(&outs[to], out[v]);
    if (intos == outs) continue;
    atomicAdd(&intos[from], -into[v]);
    atomicAdd(&intos[to], into[v]);
  }
}

}  // namespace graphla
