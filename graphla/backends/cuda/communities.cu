// Which label is most around each vertex: for label propagation, and for Louvain's method.
//
// POPULAR: the label of the greatest sum of weights around v, of equal ones the least.
// GAINING: the community c with the greatest gain(c) = what links v to c, less factor times
// out(v)·into(c) + into(v)·out(c), which chance would link, all without v itself; v's own if no other
// gains more. All sums are of whole numbers or halves that are exact in any order.
//
// Rows are divided into classes by length:
// - One thread reads a row of at most FEWEST entries.
// - A warp reads a row of at most 32 entries, one entry per lane.
// - A warp reads a row of some hundreds of entries, and sums it by label in a table in shared memory.
// - A block reads a longer row, with a table in shared memory.
// - Many blocks share the row of a hub. Each block sums PART entries in shared memory and adds the sums
//   to the hub's table in device memory.
// A table has at least two slots per entry, so that probe sequences are short and always terminate.
// Race: whatever differs (from the older label, or from v's own community) stores the same 1 in
// `differs`.
#include "collectives.cuh"
#include "hashed_random.cuh"

namespace graphla {

enum Rule { POPULAR = 0, GAINING = 1 };
constexpr i32 NOBODY = -1;
constexpr double MARGIN = 1e-12;  // of louvain.py and of loops/communities.py
constexpr int FEWEST = 4;  // longest row, in entries, that one thread reads
constexpr int TABLE_BLOCK = 128, TABLE_SLOTS = 512;
constexpr int HUB_BLOCK = 256;
constexpr int PART = 1024, PART_BITS = 11;  // entries of a part; log2 of the slots of its table

constexpr int AT_ONCE = 4;  // loads in flight per lane while a row is summed in a table

template <bool COUNTS> struct SumOf { typedef double type; };
template <> struct SumOf<true> { typedef u32 type; };

/// A label, and what speaks for it.
template <class Score> struct Choice {
  Score score;
  i32 label;
  DEVICE void meet(Score other, i32 name) {
    if (name == NOBODY) return;
    if (label == NOBODY || other > score || (other == score && name < label)) {
      score = other;
      label = name;
    }
  }
  /// Every lane of the warp gets the best of all.
  DEVICE void meet_lanes() {
    for (int apart = WARP / 2; apart; apart /= 2) {
      const Score other = __shfl_xor_sync(ALL_LANES, score, apart);
      meet(other, __shfl_xor_sync(ALL_LANES, label, apart));
    }
  }
};

/// What is the same for all vertices. `next` holds older labels, and gets the new ones.
template <class Offset> struct State {
  const Offset *__restrict__ indptr;
  const i32 *__restrict__ indices;
  const double *__restrict__ values;
  const i32 *__restrict__ rows;
  i64 count;
  const i32 *__restrict__ labels;
  i32 *__restrict__ next;
  i32 *differs;
  const double *__restrict__ out, *__restrict__ into, *__restrict__ outs, *__restrict__ intos;
  double factor;
  double *inside;
};

/// One vertex, its row, and the choice for it.
template <class Offset, int KEPT, int RULE> struct Vertex {
  static constexpr bool COUNTS = KEPT == ISO;  // of weights that are all one
  typedef typename SumOf<COUNTS>::type Sum;
  typedef typename SumOf<COUNTS && RULE == POPULAR>::type Score;
  const State<Offset> &all;
  i32 v, own;
  i64 begin, end;
  double out, into;
  double stay;  // a move needs a gain above this; `expect` sets it, before that it is very low
  Choice<Score> best;

  DEVICE Vertex(const State<Offset> &state, i64 k) : all(state) {
    v = all.rows[k];
    own = all.labels[v];
    begin = i64(all.indptr[v]);
    end = i64(all.indptr[v + 1]);
    best.score = Score(0);
    best.label = NOBODY;
    if constexpr (RULE == GAINING) {
      out = all.out[v];
      into = all.into == all.out ? out : all.into[v];
      stay = -1e300;
    }
  }
  /// The label of entry p, NOBODY's if it does not count.
  DEVICE i32 label(i64 p) const {
    const i32 j = all.indices[p];
    return RULE == GAINING && j == v ? NOBODY : all.labels[j];
  }
  DEVICE Sum weight(i64 p) const {
    if constexpr (COUNTS) return 1;
    else return all.values[p];
  }
  /// What a sum weighs.
  DEVICE double weighed(Sum sum) const {
    if constexpr (COUNTS) return double(sum) * all.values[0];
    else return sum;
  }
  DEVICE double gain(i32 c, double linked) const {
    const double self = c == own ? 1.0 : 0.0;
    const double outs = all.outs[c] - self * out;
    const double intos = all.intos == all.outs ? outs : all.intos[c] - self * into;
    return linked - all.factor * (out * intos + into * outs);
  }
  /// Sets `stay` from `own_sum`, the weight that links v to its own community.
  DEVICE void expect(Sum own_sum) {
    if constexpr (RULE == GAINING) stay = gain(own, weighed(own_sum)) + MARGIN * (out + into);
  }
  /// Considers a label and its sum. A gain is at most the weight that links v to the community. If that
  /// weight is not above `stay`, the totals of the community are not read.
  DEVICE void meet(i32 name, Sum sum) {
    if constexpr (RULE == POPULAR) {
      best.meet(sum, name);
    } else if (name != NOBODY && name != own) {
      const double linked = weighed(sum);
      if (linked > stay) best.meet(gain(name, linked), name);
    }
  }
  /// One thread says what becomes of v; what links it to its own community.
  DEVICE double settle(Sum own_sum) const {
    const double linked = RULE == GAINING ? weighed(own_sum) : 0;
    i32 chosen = best.label == NOBODY ? own : best.label;
    if constexpr (RULE == GAINING) {
      if (!(best.score > gain(own, linked) + MARGIN * (out + into))) chosen = own;
    }
    if (chosen != (RULE == GAINING ? own : all.next[v])) store_relaxed(all.differs, 1);
    all.next[v] = chosen;
    return linked;
  }
};

/// A table of sums by label, open to all threads that call: shared memory, or the device's.
template <class Sum> struct Table {
  i32 *labels;
  Sum *sums;
  int bits;
  DEVICE void clear(int thread, int threads) {
    for (i64 s = thread; s < i64(1) << bits; s += threads) {
      store_relaxed(&labels[s], NOBODY);
      sums[s] = Sum(0);
    }
  }
  DEVICE void add(i32 label, Sum weight) {
    u32 slot;
    find(label, slot);
    atomicAdd(&sums[slot], weight);
  }
  /// Sets `slot` to the slot of the label. Returns whether this call took a free slot for it.
  DEVICE bool find(i32 label, u32 &slot) {
    slot = u32(label) * 0x9e3779b1u >> (32 - bits);
    for (;;) {
      i32 there = load_relaxed(&labels[slot]);
      if (there == NOBODY) {
        there = atomicCAS(&labels[slot], NOBODY, label);
        if (there == NOBODY) return true;
      }
      if (there == label) return false;
      slot = (slot + 1) & ((1u << bits) - 1);
    }
  }
};

/// The bits of a table for so many entries.
DEVICE int bits_for(i64 entries) {
  int bits = 6;
  while (i64(1) << bits < 2 * entries) ++bits;
  return bits;
}

/// Return the sum of a label, or 0 if the label is not in the table.
template <class Sum> DEVICE Sum sum_in(const Table<Sum> &table, i32 label) {
  u32 slot = u32(label) * 0x9e3779b1u >> (32 - table.bits);
  for (;;) {
    const i32 there = load_relaxed(&table.labels[slot]);
    if (there == label) return load_relaxed(&table.sums[slot]);
    if (there == NOBODY) return Sum(0);
    slot = (slot + 1) & ((1u << table.bits) - 1);
  }
}

/// The entries begin, begin + step, ... of a row, by warps: lanes of one label add at once.
template <class Row, class Sum>
DEVICE void tabulate(const Row &row, Table<Sum> &table, i64 first, i64 step) {
  for (i64 base = first; base < row.end; base += AT_ONCE * step) {
    i32 labels[AT_ONCE];
    Sum weights[AT_ONCE];
#pragma unroll
    for (int n = 0; n < AT_ONCE; ++n) {
      const i64 p = base + n * step + lane();
      labels[n] = p < row.end ? row.label(p) : NOBODY;
      weights[n] = p < row.end ? row.weight(p) : Sum(0);
    }
#pragma unroll
    for (int n = 0; n < AT_ONCE; ++n) {
      if (base + n * step >= row.end) break;
      const i32 label = labels[n];
      if constexpr (Row::COUNTS) {
        const u32 alike = __match_any_sync(ALL_LANES, label);
        if (label != NOBODY && lane() == __ffs(int(alike)) - 1) table.add(label, u32(__popc(alike)));
      } else {
        Sum weight = weights[n];
        if (__all_sync(ALL_LANES, label == shuffle(label, 0))) {
          for (int apart = WARP / 2; apart; apart /= 2) weight += shuffle_down(weight, apart);
          if (label != NOBODY && lane() == 0) table.add(label, weight);
        } else if (label != NOBODY) {
          table.add(label, weight);
        }
      }
    }
  }
}

#define STATE_PARAMETERS                                                                          \
  const Offset *indptr, const i32 *indices, const double *values, const i32 *rows, i64 count,     \
      const i32 *labels, i32 *next, i32 *differs, const double *out, const double *into,          \
      const double *outs, const double *intos, double factor, double *inside
#define STATE                                                                                     \
  { indptr, indices, values, rows, count, labels, next, differs, out, into, outs, intos, factor, inside }

/// Chooses for rows of at most FEWEST entries. One thread reads each row.
template <class Op, class Offset, int KEPT, int RULE> __global__ void choose_by_threads(STATE_PARAMETERS) {
  const State<Offset> state = STATE;
  typedef Vertex<Offset, KEPT, RULE> Row;
  typedef typename Row::Sum Sum;
  double linked = 0;
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    Row row(state, k);
    i32 label[FEWEST];
    Sum weight[FEWEST], own = 0;
#pragma unroll
    for (int e = 0; e < FEWEST; ++e) {
      const bool is_there = row.begin + e < row.end;
      label[e] = is_there ? row.label(row.begin + e) : NOBODY;
      weight[e] = is_there ? row.weight(row.begin + e) : Sum(0);
    }
#pragma unroll
    for (int e = 0; e < FEWEST; ++e) {
      Sum sum = 0;
#pragma unroll
      for (int other = 0; other < FEWEST; ++other) sum += label[other] == label[e] ? weight[other] : Sum(0);
      row.meet(label[e], sum);
      if (RULE == GAINING && label[e] == row.own) own = sum;
    }
    linked += row.settle(own);
  }
  if (RULE == GAINING) {
    __syncwarp();
    for (int apart = WARP / 2; apart; apart /= 2) linked += shuffle_down(linked, apart);
    if (lane() == 0 && linked != 0) atomicAdd(inside, linked);
  }
}

/// Rows of up to 32 entries, a warp each.
template <class Op, class Offset, int KEPT, int RULE> __global__ void choose_by_lanes(STATE_PARAMETERS) {
  const State<Offset> state = STATE;
  typedef Vertex<Offset, KEPT, RULE> Row;
  typedef typename Row::Sum Sum;
  double linked = 0;
  for (i64 k = thread_in_grid() / WARP; k < count; k += threads_in_grid() / WARP) {
    Row row(state, k);
    const i64 p = row.begin + lane();
    const bool is_there = p < row.end;
    const i32 label = is_there ? row.label(p) : NOBODY;
    Sum sum = 0;
    if constexpr (Row::COUNTS) {
      sum = u32(__popc(__match_any_sync(ALL_LANES, label)));
    } else {
      const Sum weight = is_there ? row.weight(p) : Sum(0);
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
  if (RULE == GAINING && lane() == 0 && linked != 0) atomicAdd(inside, linked);
}

/// Rows of up to half of TABLE_SLOTS entries, a warp each.
template <class Op, class Offset, int KEPT, int RULE>
__global__ void __launch_bounds__(TABLE_BLOCK) choose_by_tables(STATE_PARAMETERS) {
  const State<Offset> state = STATE;
  typedef Vertex<Offset, KEPT, RULE> Row;
  typedef typename Row::Sum Sum;
  SHARED(Sum, sums, TABLE_BLOCK / WARP * TABLE_SLOTS);
  SHARED(i32, names, TABLE_BLOCK / WARP * TABLE_SLOTS);
  Table<Sum> table = {names + warp_in_block() * TABLE_SLOTS, sums + warp_in_block() * TABLE_SLOTS, 0};
  double linked = 0;
  for (i64 k = thread_in_grid() / WARP; k < count; k += threads_in_grid() / WARP) {
    Row row(state, k);
    table.bits = bits_for(row.end - row.begin);
    table.clear(lane(), WARP);
    __syncwarp();
    tabulate(row, table, row.begin, WARP);
    __syncwarp();
    const Sum own = RULE == GAINING ? sum_in(table, row.own) : Sum(0);
    row.expect(own);
    for (int s = lane(); s < 1 << table.bits; s += WARP) row.meet(table.labels[s], table.sums[s]);
    row.best.meet_lanes();
    if (lane() == 0) linked += row.settle(own);
    __syncwarp();
  }
  if (RULE == GAINING && lane() == 0 && linked != 0) atomicAdd(inside, linked);
}

/// Chooses for longer rows. One block reads each row, with a table of `slots` slots in shared memory.
template <class Op, class Offset, int KEPT, int RULE>
__global__ void __launch_bounds__(256) choose_by_blocks(STATE_PARAMETERS, i64 slots) {
  const State<Offset> state = STATE;
  typedef Vertex<Offset, KEPT, RULE> Row;
  typedef typename Row::Sum Sum;
  SHARED_BYTES(shared);
  SHARED(typename Row::Score, scores, 8);
  SHARED(i32, best, 8);
  Table<Sum> table = {(i32 *)(shared + slots * i64(sizeof(Sum))), (Sum *)shared, 0};
  const int threads = int(blockDim.x), thread = int(threadIdx.x), warps = threads / WARP;
  double linked = 0;
  for (i64 k = blockIdx.x; k < count; k += gridDim.x) {
    Row row(state, k);
    table.bits = bits_for(row.end - row.begin);
    table.clear(thread, threads);
    __syncthreads();
    tabulate(row, table, row.begin + warp_in_block() * WARP, threads);
    __syncthreads();
    const Sum own = RULE == GAINING ? sum_in(table, row.own) : Sum(0);
    row.expect(own);
    for (i64 s = thread; s < i64(1) << table.bits; s += threads) {
      const i32 name = load_relaxed(&table.labels[s]);
      if (name == NOBODY) continue;
      row.meet(name, load_relaxed(&table.sums[s]));
    }
    row.best.meet_lanes();
    if (lane() == 0) {
      scores[warp_in_block()] = row.best.score;
      best[warp_in_block()] = row.best.label;
    }
    __syncthreads();
    if (thread == 0) {
      for (int w = 1; w < warps; ++w) row.best.meet(scores[w], best[w]);
      linked += row.settle(own);
    }
    __syncthreads();
  }
  if (RULE == GAINING && thread == 0 && linked != 0) atomicAdd(inside, linked);
}

/// Progress of one hub's row in a round. The rows of hubs are cut into parts: row r has the parts
/// first_parts[r], ..., first_parts[r + 1] - 1. The other arrays of HUB_PARAMETERS are:
///
/// names, all_sums: the tables of all rows. The table of row r begins at first_slots[r]. All its slots
///   are free before sum_parts and after choose_for_hubs.
/// slots: the list of the tallies[r].taken slots in use for row r, from first_parts[r] * PART on.
/// best, all_scores: the choice of each part and its score.
/// all_own: for row r, the weight that links its vertex to its own community.
struct Tally {
  u32 taken, done;  // slots in use, parts finished; both are zero before and after a round
};
#define HUB_PARAMETERS                                                                            \
  const i64 *__restrict__ first_parts, const i64 *__restrict__ first_slots, i32 *names, u64 *all_sums, \
      i32 *slots, Tally *tallies, i32 *best, u64 *all_scores, u64 *all_own

/// Sums each part by label in shared memory, then adds the sums to the table of its row. One block per part.
template <class Op, class Offset, int KEPT, int RULE>
__global__ void __launch_bounds__(HUB_BLOCK) sum_parts(STATE_PARAMETERS, HUB_PARAMETERS) {
  const State<Offset> state = STATE;
  typedef Vertex<Offset, KEPT, RULE> Row;
  typedef typename Row::Sum Sum;
  SHARED(Sum, part_sums, 1 << PART_BITS);
  SHARED(i32, part_names, 1 << PART_BITS);
  Table<Sum> part = {part_names, part_sums, PART_BITS};
  for (i64 p = blockIdx.x; p < first_parts[count]; p += gridDim.x) {
    const i64 r = segment_of(first_parts, count, p);
    Row row(state, r);
    Table<Sum> table = {names + first_slots[r], (Sum *)all_sums + first_slots[r], bits_for(row.end - row.begin)};
    row.begin += (p - first_parts[r]) * PART;
    row.end = least(row.end, row.begin + PART);
    part.clear(int(threadIdx.x), HUB_BLOCK);
    __syncthreads();
    tabulate(row, part, row.begin + warp_in_block() * WARP, HUB_BLOCK);
    __syncthreads();
    for (int s = int(threadIdx.x); s < 1 << PART_BITS; s += HUB_BLOCK) {
      const i32 name = part_names[s];
      u32 slot = 0;
      const bool is_new = name != NOBODY && table.find(name, slot);
      __syncwarp();
      const u32 place = claim(&tallies[r].taken, is_new);
      if (is_new) slots[first_parts[r] * PART + place] = i32(slot);
      if (name != NOBODY) atomicAdd(&table.sums[slot], part_sums[s]);
    }
    __syncthreads();
  }
}

/// Chooses a label for each hub from its table, and frees the slots. Each block reads PART slots. The last
/// block of a row to finish chooses among the choices of all blocks.
template <class Op, class Offset, int KEPT, int RULE>
__global__ void __launch_bounds__(HUB_BLOCK) choose_for_hubs(STATE_PARAMETERS, HUB_PARAMETERS) {
  const State<Offset> state = STATE;
  typedef Vertex<Offset, KEPT, RULE> Row;
  typedef typename Row::Sum Sum;
  typedef typename Row::Score Score;
  SHARED(Score, warp_scores, HUB_BLOCK / WARP);
  SHARED(i32, warp_best, HUB_BLOCK / WARP);
  SHARED(u32, is_last, 1);
  Score *const scores = (Score *)all_scores;
  double linked = 0;
  for (i64 p = blockIdx.x; p < first_parts[count]; p += gridDim.x) {
    const i64 r = segment_of(first_parts, count, p), first = first_parts[r];
    const u32 taken = tallies[r].taken, parts = u32(first_parts[r + 1] - first), full = (taken + PART - 1) / PART;
    Row row(state, r);
    Sum *const own = (Sum *)all_own + r;
    // Reduces the choices of all threads of the block to the best one, in thread 0.
    const auto meet_threads = [&] {
      row.best.meet_lanes();
      if (lane() == 0) warp_scores[warp_in_block()] = row.best.score, warp_best[warp_in_block()] = row.best.label;
      __syncthreads();
      if (threadIdx.x == 0) {
        for (int w = 1; w < HUB_BLOCK / WARP; ++w) row.best.meet(warp_scores[w], warp_best[w]);
      }
      __syncthreads();
    };
    if (u32(p - first) < full) {
      const u32 end = least(taken, u32(p - first + 1) * PART);
      for (u32 i = u32(p - first) * PART + threadIdx.x; i < end; i += HUB_BLOCK) {
        const i64 slot = first_slots[r] + slots[first * PART + i];
        Sum *const sums = (Sum *)all_sums;
        const i32 name = names[slot];
        const Sum sum = sums[slot];
        row.meet(name, sum);
        if (RULE == GAINING && name == row.own) store_relaxed(own, sum);
        names[slot] = NOBODY;
        sums[slot] = Sum(0);
      }
      meet_threads();
      if (threadIdx.x == 0) {
        store_relaxed(&scores[p], row.best.score);
        store_relaxed(&best[p], row.best.label);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      is_last[0] = atomicAdd(&tallies[r].done, 1u) + 1 == parts;
      __threadfence();
    }
    __syncthreads();
    if (is_last[0]) {
      for (u32 i = threadIdx.x; i < full; i += HUB_BLOCK) row.best.meet(load_relaxed(&scores[first + i]), load_relaxed(&best[first + i]));
      meet_threads();
      if (threadIdx.x == 0) {
        linked += row.settle(RULE == GAINING ? load_relaxed(own) : Sum(0));
        if (RULE == GAINING) store_relaxed(own, Sum(0));
        tallies[r] = Tally{0, 0};
      }
    }
    __syncthreads();
  }
  if (RULE == GAINING && threadIdx.x == 0 && linked != 0) atomicAdd(inside, linked);
}

/// Of those who wish to be elsewhere about half move, as chance has it; and the totals follow.
template <class Op>
__global__ void move_some(
    const i32 *__restrict__ wished, i64 n, u64 stream, const double *__restrict__ out,
    const double *__restrict__ into, double *outs, double *intos, i32 *community) {
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    const i32 from = community[v], to = wished[v];
    if (from == to || !(word_of(v, stream) >> 63)) continue;
    community[v] = to;
    atomicAdd(&outs[from], -out[v]);
    atomicAdd(&outs[to], out[v]);
    if (intos == outs) continue;
    atomicAdd(&intos[from], -into[v]);
    atomicAdd(&intos[to], into[v]);
  }
}

}  // namespace graphla
