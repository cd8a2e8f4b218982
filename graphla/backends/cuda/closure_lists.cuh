// Closure: the lists in which vertices wait, and how a warp appends vertices to them.
#ifndef GRAPHLA_CLOSURE_LISTS
#define GRAPHLA_CLOSURE_LISTS
#include "closure_cells.cuh"

namespace graphla {

constexpr int BLOCK = ClosureTuning::block;  // maximum number of threads in a block
constexpr int LIGHT = ClosureTuning::light;  // maximum number of edges in a short row
constexpr int HELD =
    ClosureTuning::held;        // maximum number of vertices that a block holds for its next round
constexpr int TEAM = 4;         // threads that walk a short row
constexpr int SHORT_SLOTS = 2;  // edges of short rows that a thread has in flight
constexpr int LONG_SLOTS = 4;   // edges of long rows that a thread has in flight
constexpr int COUNT_SHIFT =
    36;  // the count of long rows is stored in the bits above the count of their edges
constexpr u64 EDGES = (u64(1) << COUNT_SHIFT) - 1;

/// Selects which entries are multiplied, and when: see closure.cu. ROUNDS multiplies all entries
/// that improved, using the values at the beginning of the round.
enum How { IMPROVING = 0, NEAR_FAR = 1, ROUNDS = 2 };

/// What a thread does with an edge. It either improves a value with the edge's term, or records the
/// edge's source as a parent. The parent is set for a vertex that improved in this round, or that
/// no tree has reached yet.
enum Pass { IMPROVE = 0, ORIGINS = 1, TREE = 2 };

constexpr i32 NO_PARENT = 0x7fffffff;

/// Words of `control` that only this kernel uses. Each counter has one word for each of three
/// consecutive steps or turns.
enum Word {
  W_STEP = 16,  // written by block 0 after it worked alone: its step, turn, rounds and horizon
  W_NEAR = 20,
  W_LONG = 23,
  W_FAR = 26,
  W_BEST = 29,
  W_EDGES = 32,
  W_REACHED,
  W_OVERFLOWED,
  W_FULL,
  W_ORPHANS
};

/// Limits of a step: see ClosureTuning.
struct Limits {
  u32 alone_rows, alone_edges;  // block 0 works alone below these numbers of short rows, and of
                                // edges in long rows
  u32 fused_rows, fused_edges;  // the same limits for a fused step, summed over all blocks
  u32 fused_rounds;             // maximum number of rounds in a fused step
  u32 held;  // number of vertices that a block can hold for its next round; if 0, no step is fused
};

/// The lists that all blocks share, in device memory: near lists for each step, and far lists for
/// each turn. Each consists of two lists that are used alternately: one is read while the other is
/// filled.
template <class Span> struct Waiting {
  i64 n, room;  // capacity of a list of short or far rows, and of long rows
  i32 *near_list;
  i32 *long_list;
  Span *long_ends;  // the number of edges before each long row
  i32 *far_list;
};

/// The shared memory in which a block and a warp hold vertices.
template <class Key> struct Held {
  i32 *ids;     // two lists of HELD vertices, for the block
  u64 *rows;    // the rows of the vertices in `ids`: begin << 8 | number of edges
  u32 *counts;  // three counts, used round-robin; then three flags: whether a list of all blocks
                // was written
  u32 *gathered_ids;  // 2 * WARP vertices of the warp: vertex << 1 | is_new
  Key *gathered_keys;
};

/// The lists that all blocks share, those of this block, and those of this warp. There are three
/// sets of counters: one is read, one is filled, and one is cleared.
template <class Cells, class Offset, int HOW> struct Lists {
  typedef typename Cells::Key Key;
  typedef typename Bits<sizeof(Offset)>::type Span;  // a number of edges

  const Offset *__restrict__ indptr;
  const Waiting<Span> &waiting;
  u64 *control;
  Held<Key> held;
  u32 held_most;  // maximum number of entries that the block may hold

  u32 step = 0, turn = 0;
  Key horizon = Key(0);
  bool is_fused = false;
  int pass = IMPROVE;
  int round = 0;     // round of a fused step; -1 while the lists of all blocks are walked
  u32 gathered = 0;  // number of vertices that the warp has yet to list

  DEVICE u32 stamp() const { return FIRST_STAMP + step; }
  DEVICE u64 *near_count(u32 s) const { return &control[W_NEAR + s % 3]; }
  DEVICE u64 *long_count(u32 s) const { return &control[W_LONG + s % 3]; }
  DEVICE u64 *far_count(u32 t) const { return &control[W_FAR + t % 3]; }
  DEVICE u64 *far_best(u32 t) const { return &control[W_BEST + t % 3]; }

  DEVICE void find_row(i32 v, Offset &begin, u32 &degree) const {
    begin = indptr[v];
    degree = u32(indptr[v + 1] - begin);
  }
  /// Returns whether a vertex with this key waits for a later turn.
  DEVICE bool is_beyond(Key key) const {
    if constexpr (HOW == NEAR_FAR) return pass == IMPROVE && key > horizon;
    else return false;
  }

  /// Returns the code of a vertex that gets this key.
  DEVICE u32 code_for(Key key) const { return is_beyond(key) ? u32(FAR) : stamp(); }

  // --- by whole warps --------------------------------------------------------------------------

  /// Lists the vertices in the lanes' slots, which improved to these keys, with their rows. If a
  /// vertex is not beyond the horizon, it is listed for the next step. In a fused step, such a
  /// vertex is listed for the block's next round if its row is short. Any other vertex is added to
  /// the far list of turn t. `is_new` marks the vertices that are not listed there yet. For
  /// vertices with long rows, `is_unstamped` marks them instead.
  template <int N>
  DEVICE void push(const i32 (&o)[N], const Key (&key)[N], const Offset (&begin)[N],
                   const u32 (&degree)[N], u32 is_new, u32 is_unstamped, u32 t) {
    u32 is_short = 0, is_long = 0, is_far = 0;
    Span edges = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (is_beyond(key[i])) {
        is_far |= is_new & 1u << i;
      } else if (degree[i] > LIGHT) {
        is_long |= is_unstamped & 1u << i;
        if (is_long >> i & 1) edges += degree[i];
      } else if (degree[i] > 0) {
        is_short |= is_new & 1u << i;
      }
    }
    if (is_fused && __any_sync(ALL_LANES, is_short)) {
      const u32 sum = warp_inclusive_sum(u32(__popc(is_short)));
      u32 place = 0;
      if (lane() == WARP - 1) place = atomicAdd(&held.counts[(round + 1) % 3], sum);
      place = shuffle(place, WARP - 1) + sum - u32(__popc(is_short));
#pragma unroll
      for (int i = 0; i < N; ++i) {
        if (!(is_short >> i & 1)) continue;
        if (place < held_most) {
          const int at = ((round + 1) & 1) * HELD + int(place);
          held.ids[at] = o[i];
          held.rows[at] = u64(begin[i]) << 8 | degree[i];
          is_short &= ~(1u << i);
        }
        ++place;
      }
    }
    if (!__any_sync(ALL_LANES, is_short | is_long | is_far)) return;
    // Three lanes claim positions at the same time, each in one list.
    const u32 counts =
        u32(__popc(is_short)) | u32(__popc(is_long)) << 10 | u32(__popc(is_far)) << 20;
    const u32 sums = warp_inclusive_sum(counts), all = shuffle(sums, WARP - 1);
    const Span edges_sum = __any_sync(ALL_LANES, is_long) ? warp_inclusive_sum(edges) : Span(0);
    const Span edges_all = shuffle(edges_sum, WARP - 1);
    u64 place = 0;
    if (lane() < 3) {
      const u32 count = all >> (10 * lane()) & 1023;
      u64 *const counter = lane() == 0   ? near_count(step + 1)
                           : lane() == 1 ? long_count(step + 1)
                                         : far_count(t);
      const u64 more = lane() == 1 ? (u64(count) << COUNT_SHIFT) + edges_all : u64(count);
      if (count) place = atomicAdd(counter, more);
      if (count && lane() < 2) store_relaxed(&held.counts[3 + (round + 1) % 3], 1u);
    }
    const u32 before = sums - counts;
    i64 short_at = i64(shuffle(place, 0) + (before & 1023));
    const u64 long_place = shuffle(place, 1);
    i64 long_at = i64((long_place >> COUNT_SHIFT) + (before >> 10 & 1023));
    Span edges_at = Span(long_place & EDGES) + edges_sum - edges;
    i64 far_at = i64(shuffle(place, 2) + (before >> 20));
    const u32 next = (step + 1) & 1;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (is_short >> i & 1) store_relaxed(&waiting.near_list[next * waiting.n + short_at++], o[i]);
      if (is_long >> i & 1) {
        store_relaxed(&waiting.long_list[next * waiting.room + long_at], o[i]);
        store_relaxed(&waiting.long_ends[next * waiting.room + long_at++], edges_at);
        edges_at += degree[i];
      }
      if (is_far >> i & 1) put_far(far_at++, o[i], t);
    }
    if (__any_sync(ALL_LANES, is_far)) note_best(key, is_far, t);
  }
  /// Like `push`, for steps in which few edges improve a value. It gathers vertices until there are
  /// enough for a whole warp.
  template <int N>
  DEVICE void gather(const i32 (&o)[N], const Key (&key)[N], u32 is_new, u32 is_unstamped) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const bool wants = (is_new | is_unstamped) >> i & 1;
      const u32 all = __ballot_sync(ALL_LANES, wants);
      if (!all) continue;
      if (wants) {
        const u32 at = gathered + u32(__popc(all & ((1u << lane()) - 1)));
        held.gathered_ids[at] = u32(o[i]) << 1 | (is_new >> i & 1);
        held.gathered_keys[at] = key[i];
      }
      gathered += u32(__popc(all));
      if (gathered >= WARP) release();
    }
  }
  /// Lists as many gathered vertices as one warp can list at once.
  DEVICE void release() {
    __syncwarp();
    const u32 count = least(gathered, u32(WARP));
    const bool is_there = u32(lane()) < count;
    gathered -= count;
    i32 o[1] = {0};
    Key key[1] = {Key(0)};
    Offset begin[1] = {0};
    u32 degree[1] = {0}, is_new = 0;
    if (is_there) {
      const u32 id = held.gathered_ids[gathered + lane()];
      o[0] = i32(id >> 1);
      is_new = id & 1;
      key[0] = held.gathered_keys[gathered + lane()];
      if (!is_beyond(key[0])) find_row(o[0], begin[0], degree[0]);
    }
    __syncwarp();
    push(o, key, begin, degree, is_new, u32(is_there), turn);
  }
  DEVICE void put_far(i64 at, i32 v, u32 t) const {
    if (at < waiting.n) store_relaxed(&waiting.far_list[(t & 1) * waiting.n + at], v);
    else store_relaxed(&control[W_FULL], u64(1));
  }
  /// Updates the best key in the far list of turn t with these keys. Whole warps must call this.
  template <int N> DEVICE void note_best(const Key (&key)[N], u32 is_far, u32 t) const {
    if constexpr (Cells::ORDER != 0) {
      Key nearness = 0;  // complement of the smallest key
#pragma unroll
      for (int i = 0; i < N; ++i) {
        if (is_far >> i & 1) nearness = greatest(nearness, Key(~key[i]));
      }
      for (int d = WARP / 2; d > 0; d /= 2)
        nearness = greatest(nearness, shuffle_down(nearness, d));
      if (lane() == 0 && load_relaxed(far_best(t)) < nearness)
        atomicMax(far_best(t), u64(nearness));
    }
  }
  /// Adds start v to the far list of turn t, for each lane whose `wants` is true. Whole warps must
  /// call this.
  DEVICE void push_start(i32 v, Key key, bool wants, u32 t) const {
    const Key keys[1] = {key};
    const u64 place = claim_by_warp(far_count(t), wants);
    if (wants) put_far(i64(place), v, t);
    note_best(keys, u32(wants), t);
  }
  /// Moves the vertices that the block holds to the lists that all blocks share.
  DEVICE void give_back(u32 count) {
    for (u32 base = threadIdx.x - lane(); base < count; base += blockDim.x) {
      const u32 e = base + lane();
      const u64 place = claim_by_warp(near_count(step + 1), e < count);
      if (e >= count) continue;
      store_relaxed(&waiting.near_list[((step + 1) & 1) * waiting.n + i64(place)],
                    held.ids[(round & 1) * HELD + e]);
    }
  }
};

}  // namespace graphla
#endif
