// Closure: the lists in which vertices wait, and how a warp appends vertices to them.
#ifndef GRAPHLA_CLOSURE_LISTS
#define GRAPHLA_CLOSURE_LISTS
#include "closure_cells.cuh"

namespace graphla {

constexpr int BLOCK = ClosureTuning::block;  // maximum number of threads in a block
constexpr int LIGHT = ClosureTuning::light;  // maximum number of edges in a short row
// capacity, in vertices, of the list in shared memory with a block's vertices for its next round
constexpr int HELD = ClosureTuning::held;
constexpr int TEAM = 4;         // number of threads that read a short row
constexpr int SHORT_SLOTS = 2;  // number of edges that a thread loads at once from short rows
constexpr int LONG_SLOTS = 4;   // number of edges that a thread loads at once from long rows
// One 64-bit counter counts the long rows and their edges: the low COUNT_SHIFT bits are the number
// of edges, and the bits above them are the number of rows.
constexpr int COUNT_SHIFT = 36;
constexpr u64 EDGES = (u64(1) << COUNT_SHIFT) - 1;

/// Which entries x(k) a step multiplies by row k of A. IMPROVING: the entries that have improved.
/// NEAR_FAR: the improved entries that are not beyond the horizon (see closure.cu). ROUNDS: all
/// entries that have improved, with the values that they had at the start of the round.
enum How { IMPROVING = 0, NEAR_FAR = 1, ROUNDS = 2 };

/// The purpose of a pass over edges u -> v. IMPROVE: improve the value of v with the product of the
/// value of u and the value of the edge. ORIGINS: make u the parent of v if v improved in this
/// round. TREE: make u the parent of v if v has no parent yet.
enum Pass { IMPROVE = 0, ORIGINS = 1, TREE = 2 };

constexpr i32 NO_PARENT = 0x7fffffff;

/// Indices of the words in `control` that only this kernel uses. Each counter from W_NEAR to W_BEST
/// consists of three words: step s uses word s mod 3 of a counter of a near list, and turn t uses
/// word t mod 3 of a counter of the far list.
enum Word {
  // Four words that hold the step, the turn, the number of rounds and the horizon (see closure.cu).
  // Block 0 writes them when it stops working alone, and the other blocks continue from there.
  W_STEP = 16,
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

/// The limits that decide whether block 0 processes a step alone, or whether a step is fused. The
/// terms are defined in closure.cu, and the values in ClosureTuning.
struct Limits {
  // Block 0 works alone if there are at most this many short rows and this many edges in long rows.
  u32 alone_rows, alone_edges;
  // A step is fused if there are at most this many short rows and this many edges in long rows.
  u32 fused_rows, fused_edges;
  u32 fused_rounds;  // maximum number of rounds in a fused step
  u32 held;          // maximum number of vertices in a block's own list; 0 disables fused steps
};

/// The lists that all blocks share, in device memory. Each array contains two lists, which are used
/// alternately: one is read while the other is filled. Near lists alternate with each step, far
/// lists with each turn.
template <class Span> struct Waiting {
  // `n` is the capacity of a near list and of a far list, in vertices. `room` is the capacity of a
  // list of long rows, in rows.
  i64 n, room;
  i32 *near_list;
  i32 *long_list;
  Span *long_ends;  // for each listed long row: number of edges in all earlier rows of the list
  i32 *far_list;
};

/// The lists of vertices in shared memory: those of the block, and those of the calling warp.
template <class Key> struct Held {
  i32 *ids;   // the block's two lists, of HELD vertices each
  u64 *rows;  // the rows of the vertices in `ids`: begin << 8 | number of edges
  // counts[r % 3] is the length of the block's list for round r. counts[3 + r % 3] is a flag that
  // is set if the block has written to a shared list in the round before round r.
  u32 *counts;
  // The warp's own list of up to 2 * WARP vertices. Bit 0 of an element is the flag `is_new` (see
  // `push`), and the other bits are the vertex.
  u32 *gathered_ids;
  Key *gathered_keys;
};

/// The lists that all blocks share, the lists of this block, and the lists of this warp. There are
/// three sets of counters: at any time one set is read, another is incremented, and the third is
/// cleared.
template <class Cells, class Offset, int HOW> struct Lists {
  typedef typename Cells::Key Key;
  // unsigned type for numbers of edges, as wide as Offset
  typedef typename Bits<sizeof(Offset)>::type Span;

  const Offset *__restrict__ indptr;
  const Waiting<Span> &waiting;
  u64 *control;
  Held<Key> held;
  u32 held_most;  // maximum length of the block's own list

  u32 step = 0, turn = 0;
  Key horizon = Key(0);
  bool is_fused = false;
  int pass = IMPROVE;
  // index of the current round of a fused step; -1 while the shared lists are processed
  int round = 0;
  u32 gathered = 0;  // number of vertices in the warp's list

  DEVICE u32 stamp() const { return FIRST_STAMP + step; }
  DEVICE u64 *near_count(u32 s) const { return &control[W_NEAR + s % 3]; }
  DEVICE u64 *long_count(u32 s) const { return &control[W_LONG + s % 3]; }
  DEVICE u64 *far_count(u32 t) const { return &control[W_FAR + t % 3]; }
  DEVICE u64 *far_best(u32 t) const { return &control[W_BEST + t % 3]; }

  DEVICE void find_row(i32 v, Offset &begin, u32 &degree) const {
    begin = indptr[v];
    degree = u32(indptr[v + 1] - begin);
  }
  /// Returns whether this key is beyond the horizon. If so, a vertex with this key waits for a
  /// later turn (see closure.cu for these terms).
  DEVICE bool is_beyond(Key key) const {
    if constexpr (HOW == NEAR_FAR) return pass == IMPROVE && key > horizon;
    else return false;
  }

  /// Returns the code for a vertex whose new key is `key`. The code tells in which list the vertex
  /// waits: FAR means the far list, and the stamp of the current step means any other list.
  DEVICE u32 code_for(Key key) const { return is_beyond(key) ? u32(FAR) : stamp(); }

  // --- filling the lists (whole warps must call these functions) --------------------------------

  /// Adds the vertices o[i] to the lists in which they wait, after their values have improved.
  /// key[i] is the key of the new value; the row of o[i] starts at begin[i] and has degree[i]
  /// edges. A vertex beyond the horizon is added to the far list of turn t (see closure.cu for
  /// these terms). Any other vertex is added to a list of the next step. In a fused step, a vertex
  /// with a short row is added to the block's list for its next round instead. Vertices that are
  /// already listed are skipped: o[i] is added only if bit i of `is_new` is set or, in case of a
  /// long row within the horizon, if bit i of `is_unstamped` is set.
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
    // Lanes 0, 1 and 2 claim positions for the whole warp at the same time: lane 0 in the near
    // list, lane 1 in the list of long rows, and lane 2 in the far list.
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
  /// Is called instead of `push` in steps in which few edges improve a value. Collects the vertices
  /// in the warp's own list. When the list contains at least 32 vertices, calls `release`, which
  /// passes 32 vertices to `push`; the others stay in the list.
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
  /// Removes up to 32 vertices from the warp's own list and calls `push` with them.
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
  /// For each i whose bit in `is_far` is set, updates the best key of the far list of turn t with
  /// key[i]. Whole warps must call this.
  template <int N> DEVICE void note_best(const Key (&key)[N], u32 is_far, u32 t) const {
    if constexpr (Cells::ORDER != 0) {
      // The best key is the smallest one. The control word starts at 0 and is updated with
      // atomicMax, so it contains the complement of the best key.
      Key nearness = 0;
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
  /// Adds the start vertex v to the far list of turn t, for each lane whose `wants` is true. All
  /// lanes of a warp must call this together.
  DEVICE void push_start(i32 v, Key key, bool wants, u32 t) const {
    const Key keys[1] = {key};
    const u64 place = claim_by_warp(far_count(t), wants);
    if (wants) put_far(i64(place), v, t);
    note_best(keys, u32(wants), t);
  }
  /// Moves the vertices from the block's own list to the near list for the next step, which all
  /// blocks share.
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
