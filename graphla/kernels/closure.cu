// Closure: the least x = x (+) x A, by entries that improve until none does, in one launch.
//
// Entries that improved wait in lists, and each step multiplies those of the near list: short rows
// (`LIGHT`) are walked by four threads each, the edges of long ones are cut evenly among all warps.
// With NEAR_FAR an entry beyond the horizon waits in the far list; when nothing is near, the
// horizon moves to `delta` beyond the best far entry, and the far list is split again.
// While little is near, a step is *fused*: each block goes on by itself, for some rounds, with the
// short rows that it improved; and when there is very little, block 0 works alone, step after step.
//
// Invariants:
// - a vertex waits in one near list at most, as its code says; what improves it while it is being
//   multiplied lists it again: its code is cleared before its value is read (short rows), or holds
//   the stamp of an earlier step (long rows, which are listed for the next step alone);
// - an entry of the far list not beyond the horizon is stale: it was listed near since;
// - nobody pushes into the lists that are read in the same step.
#include "closure.cuh"

namespace graphla {

constexpr int LIGHT = 32;         // edges of a short row at most
constexpr int TEAM = 4;           // threads that walk a short row
constexpr int SHORT_SLOTS = 2;    // edges that a thread has in flight: of short rows,
constexpr int LONG_SLOTS = 4;     // and of long ones
constexpr int HELD = 1024;        // entries that a block holds for its next round
constexpr int COUNT_SHIFT = 36;   // of long rows: their number, above their edges
constexpr u64 EDGES = (u64(1) << COUNT_SHIFT) - 1;

/// What is multiplied, and when: see the head of this file; in ROUNDS, all that improved, from the
/// values that the round began with.
enum How { IMPROVING = 0, NEAR_FAR = 1, ROUNDS = 2 };

/// What becomes of an edge: its term improves a value; or the vertex that it is from is noted as
/// the parent of one that improved in this round, or of one that a tree has not reached yet.
enum Pass { IMPROVE = 0, ORIGINS = 1, TREE = 2 };

constexpr i32 NO_PARENT = 0x7fffffff;

/// The kernel's own words of `control`; of counters, one each for three steps or turns.
enum Word {
  W_STEP = 16, W_TURN, W_HORIZON, W_ROUNDS,  // of block 0, after it worked alone
  W_NEAR = 20, W_LONG = 23, W_FAR = 26, W_BEST = 29,
  W_EDGES = 32, W_REACHED, W_OVERFLOWED, W_FULL, W_ORPHANS
};

/// How a closure is worked on: numbers that the host chooses, so low in tests that all is crossed.
struct Tuning {
  u32 alone_rows, alone_edges;  // what block 0 works on alone: short rows, edges of long ones
  u32 fused_rows, fused_edges;  // of all blocks: up to which a step is fused, likewise
  u32 fused_rounds, held;       // rounds of a fused step; entries that a block holds
};

template <class Op, class Offset, class A, int KEPT_A, int HOW, bool PARENTS, bool MASKED>
struct Closing {
  typedef typename Op::Z Z;
  typedef typename CellsOf<Op, Op::ORDER, sizeof(Z)>::type Cells;
  typedef typename Cells::Key Key;
  typedef typename Bits<sizeof(Offset)>::type Span;  // a number of edges

  const Offset *__restrict__ indptr;
  const i32 *__restrict__ indices;
  Values<typename Op::A, A, KEPT_A> a;
  const bool *__restrict__ flags;
  bool complement;
  Cells cells;
  i64 n, room;     // of the lists: short and far ones, long ones
  i32 *near_list;  // two each, by turns
  i32 *long_list;
  Span *long_ends;  // edges before each entry
  i32 *far_list;
  Key *before;  // of ROUNDS: the keys that the round began with
  i32 *parents;
  u64 *control;
  i32 *held_ids;   // of the block: two lists of HELD
  u64 *held_rows;  // begin << 8 | edges
  u32 *held;       // three counts, by turns; and whether anything went to the lists of all blocks
  Tuning tuning;

  u32 step = 0, turn = 0;
  Key horizon = Key(0);
  bool is_fused = false;
  int pass = IMPROVE;
  int round = 0;
  u32 counted = 0;  // edges that this thread looked at

  DEVICE u32 stamp() const { return FIRST_STAMP + step; }
  DEVICE u64 *near_count(u32 s) const { return &control[W_NEAR + s % 3]; }
  DEVICE u64 *long_count(u32 s) const { return &control[W_LONG + s % 3]; }
  DEVICE u64 *far_count(u32 t) const { return &control[W_FAR + t % 3]; }
  DEVICE u64 *far_best(u32 t) const { return &control[W_BEST + t % 3]; }

  // --- pushing, by whole warps -----------------------------------------------------------------

  /// Lists vertices of the lanes' slots: those that `is_near` says for the next step (or in a fused
  /// one, if their rows are short, for the block's next round), and those that `is_far` says in
  /// the far list of turn t. Of near ones, `is_new` are not listed as short rows yet, and
  /// `is_unstamped` not as long ones.
  template <int N>
  DEVICE void push(const i32 (&o)[N], const Key (&key)[N], const Offset (&begin)[N],
                   const u32 (&degree)[N], u32 is_near, u32 is_far, u32 is_new, u32 is_unstamped, u32 t) {
    u32 is_short = 0, is_long = 0;
    Span edges = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (degree[i] > LIGHT) {
        is_long |= is_near & is_unstamped & 1u << i;
        if (is_long >> i & 1) edges += degree[i];
      } else if (degree[i] > 0) {
        is_short |= is_near & is_new & 1u << i;
      }
    }
    if (is_fused && __any_sync(ALL_LANES, is_short)) {
      const u32 sum = warp_inclusive_sum(u32(__popc(is_short)));
      u32 place = 0;
      if (lane() == WARP - 1) place = atomicAdd(&held[(round + 1) % 3], sum);
      place = shuffle(place, WARP - 1) + sum - u32(__popc(is_short));
#pragma unroll
      for (int i = 0; i < N; ++i) {
        if (!(is_short >> i & 1)) continue;
        if (place < tuning.held) {
          const int at = ((round + 1) & 1) * HELD + int(place);
          held_ids[at] = o[i];
          held_rows[at] = u64(begin[i]) << 8 | degree[i];
          is_short &= ~(1u << i);
        }
        ++place;
      }
    }
    if (!__any_sync(ALL_LANES, is_short | is_long | is_far)) return;
    // One atomic for each of the lists, by three lanes at a time.
    const u32 counts = u32(__popc(is_short)) | u32(__popc(is_long)) << 10 | u32(__popc(is_far)) << 20;
    const u32 sums = warp_inclusive_sum(counts), all = shuffle(sums, WARP - 1);
    const Span edges_sum = __any_sync(ALL_LANES, is_long) ? warp_inclusive_sum(edges) : Span(0);
    const Span edges_all = shuffle(edges_sum, WARP - 1);
    u64 place = 0;
    if (lane() < 3) {
      const u32 count = all >> (10 * lane()) & 1023;
      u64 *const counter = lane() == 0 ? near_count(step + 1) : lane() == 1 ? long_count(step + 1) : far_count(t);
      if (count) place = atomicAdd(counter, lane() == 1 ? (u64(count) << COUNT_SHIFT) + edges_all : u64(count));
      if (count && lane() < 2) store_relaxed(&held[3 + (round + 1) % 3], 1u);
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
      if (is_short >> i & 1) store_relaxed(&near_list[next * n + short_at++], o[i]);
      if (is_long >> i & 1) {
        store_relaxed(&long_list[next * room + long_at], o[i]);
        store_relaxed(&long_ends[next * room + long_at++], edges_at);
        edges_at += degree[i];
      }
      if (is_far >> i & 1) put_far(far_at++, o[i], t);
    }
    if (__any_sync(ALL_LANES, is_far)) note_best(key, is_far, t);
  }
  DEVICE void put_far(i64 at, i32 v, u32 t) const {
    if (at < n) store_relaxed(&far_list[(t & 1) * n + at], v);
    else store_relaxed(&control[W_FULL], u64(1));
  }
  /// The best of the keys in the far list of turn t is these, if one is better. By whole warps.
  template <int N> DEVICE void note_best(const Key (&key)[N], u32 is_far, u32 t) const {
    if constexpr (Op::ORDER != 0) {
      Key nearness = 0;  // the complement of the least key
#pragma unroll
      for (int i = 0; i < N; ++i) {
        if (is_far >> i & 1) nearness = greatest(nearness, Key(~key[i]));
      }
      for (int d = WARP / 2; d > 0; d /= 2) nearness = greatest(nearness, shuffle_down(nearness, d));
      if (lane() == 0 && load_stale(far_best(t)) < nearness) atomicMax(far_best(t), u64(nearness));
    }
  }
  /// Lists v in the far list of the first turn.
  DEVICE void push_start(i32 v, Key key, bool wants, u32 t) const {
    const Key keys[1] = {key};
    const u64 place = claim_by_warp(far_count(t), wants);
    if (wants) put_far(i64(place), v, t);
    note_best(keys, u32(wants), t);
  }

  // --- values ----------------------------------------------------------------------------------

  /// The key that v is multiplied by in this step; v, of a short row, leaves its list.
  DEVICE Key take(i32 v) const {
    if constexpr (HOW == ROUNDS) return before[v];
    if constexpr (PARENTS) {
      if (pass == TREE) return cells.key_of(v);
    }
    return cells.pop(v);
  }
  /// The same, of a long row.
  DEVICE Key key_in_step(i32 v) const {
    if constexpr (HOW == ROUNDS) return before[v];
    return cells.key_of(v);
  }
  /// Whether the tree reaches o by an edge from k, of a term of this key: then k is its parent.
  DEVICE bool grows(i32 o, Key key, i32 k) const {
    if (!Cells::is_equal(key, cells.key_of(o))) return false;
    if (pass == TREE)
      return load_relaxed(&parents[o]) == NO_PARENT && atomicCAS(&parents[o], NO_PARENT, k) == NO_PARENT;
    if (cells.code_of(o) == stamp()) atomicMin(&parents[o], k);
    return false;
  }

  // --- edges -----------------------------------------------------------------------------------

  /// Edges in flight: where they lead, their weights, and which of the lane's slots hold one.
  template <int SLOTS> struct Batch {
    i32 o[SLOTS];
    typename Op::A weight[SLOTS];
    u32 there;
  };
  template <int SLOTS>
  DEVICE void fetch(Batch<SLOTS> &batch, const Offset (&place)[SLOTS], u32 there) const {
    batch.there = there;
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      batch.o[i] = 0;
      if (!(there >> i & 1)) continue;
      batch.o[i] = indices[place[i]];
      batch.weight[i] = a[place[i]];
    }
  }
  /// The edges of a batch, from vertices of the keys `from`; for parents, from the vertices `of`.
  template <int SLOTS, class From, class Of>
  DEVICE void relax(const Batch<SLOTS> &batch, From from, Of of) {
    const i32 (&o)[SLOTS] = batch.o;
    u32 there = batch.there;
    Key key[SLOTS];
    typename Cells::Seen seen[SLOTS];
    counted += u32(__popc(there));
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      if (!(there >> i & 1)) continue;
      if constexpr (MASKED) {
        if (flags[o[i]] == complement) {
          there &= ~(1u << i);
          continue;
        }
      }
      if (!is_fused) seen[i] = cells.look(o[i]);
      const auto u = convert<typename Op::U>(Cells::value(from(i)));
      if (Op::overflows(batch.weight[i], u)) {
        store_relaxed(&control[W_OVERFLOWED], u64(1));
        there &= ~(1u << i);
      }
      key[i] = Cells::key(Op::term(batch.weight[i], u));
    }
    u32 is_near = 0, is_far = 0, is_new = 0, is_unstamped = 0;
    Offset begin[SLOTS];
    u32 degree[SLOTS];
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      begin[i] = 0;
      degree[i] = 0;
      // A fused step has time to wait for but one answer: rows are looked up beforehand.
      if (is_fused && (there >> i & 1)) find_row(o[i], begin[i], degree[i]);
    }
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) {
      if (!(there >> i & 1)) continue;
      if constexpr (PARENTS) {
        if (pass != IMPROVE) {
          const u32 bit = u32(grows(o[i], key[i], of(i))) << i;
          is_near |= bit;
          is_new |= bit;
          is_unstamped |= bit;
          continue;
        }
      }
      if (!is_fused && !cells.improves(o[i], key[i], seen[i])) continue;
      const bool near = HOW != NEAR_FAR || !is_beyond(key[i]);
      const u32 was = cells.settle(o[i], key[i], near ? stamp() : u32(FAR));
      if (was == LOST) continue;
      if constexpr (PARENTS && HOW == ROUNDS) store_relaxed(&parents[o[i]], NO_PARENT);
      is_near |= u32(near) << i;
      is_far |= u32(!near && was < FAR) << i;
      is_new |= u32(HOW == ROUNDS ? was != stamp() : was <= FAR) << i;
      is_unstamped |= u32(was != stamp()) << i;
    }
    if (!__any_sync(ALL_LANES, is_near | is_far)) return;
    if (!is_fused) {
#pragma unroll
      for (int i = 0; i < SLOTS; ++i) {
        if (is_near >> i & 1) find_row(o[i], begin[i], degree[i]);
      }
    }
    push(o, key, begin, degree, is_near, is_far, is_new, is_unstamped, turn);
  }
  DEVICE void find_row(i32 v, Offset &begin, u32 &degree) const {
    begin = indptr[v];
    degree = u32(indptr[v + 1] - begin);
  }
  /// Whether a key waits for a later turn.
  DEVICE bool is_beyond(Key key) const {
    if constexpr (HOW == NEAR_FAR) return key > horizon;
    else return false;
  }

  /// Short rows `first`, first + stride ... before `count`, TEAM threads each: of the list of all,
  /// or of those that the block holds. Whole warps call.
  DEVICE void walk_short(bool is_held, u32 first, u32 count, u32 stride) {
    const int sub = lane() % TEAM;
    for (u32 base = first; base < count; base += stride) {
      const u32 e = base + lane() / TEAM;
      i32 v = 0;
      Offset begin = 0, end = 0;
      Key key = Key(0);
      if (e < count) {
        if (is_held) {
          const int at = (round & 1) * HELD + int(e);
          const u64 row = held_rows[at];
          v = held_ids[at];
          begin = Offset(row >> 8);
          end = begin + Offset(row & 255);
        } else {
          v = load_relaxed(&near_list[(step & 1) * n + i64(e)]);
          begin = indptr[v];
          end = indptr[v + 1];
        }
      }
      Batch<SHORT_SLOTS> batch;
      const auto fetch_at = [&](Offset p) {
        Offset place[SHORT_SLOTS];
        u32 there = 0;
#pragma unroll
        for (int i = 0; i < SHORT_SLOTS; ++i) {
          place[i] = p + i * TEAM;
          there |= u32(place[i] < end) << i;
        }
        fetch(batch, place, there);
      };
      Offset p = begin + sub;
      fetch_at(p);  // on its way while the key is
      if (e < count && sub == 0) key = take(v);
      key = shuffle(key, lane() & ~(TEAM - 1));
      while (true) {
        relax(batch, [key](int) { return key; }, [v](int) { return v; });
        p += TEAM * SHORT_SLOTS;
        if (!__any_sync(ALL_LANES, p < end)) break;
        fetch_at(p);
      }
    }
  }

  /// The edges of long rows, as far as they fall to warp `warp` of `warps`.
  DEVICE void walk_long(u64 listed, u32 warp, u32 warps) {
    constexpr int TILE = WARP * LONG_SLOTS;
    constexpr int MOST = TILE / LIGHT + 2;  // rows that a tile may touch
    const Span edges = Span(listed & EDGES);
    const u32 count = u32(listed >> COUNT_SHIFT);
    const Span *ends = long_ends + (step & 1) * room;
    const i32 *list = long_list + (step & 1) * room;
    // Each warp takes tiles that follow one another, and so seeks a row but once.
    const Span part = (edges / TILE / warps + 1) * TILE;
    Span tile = warp * part;
    if (tile >= edges) return;
    const Span end = least(edges - tile, part) + tile;
    u32 first = last_at_or_before(ends, count, tile);
    Batch<LONG_SLOTS> batch;
    Key keys[LONG_SLOTS];
    i32 rows[LONG_SLOTS];
    /// The edges of a tile, with the keys and the names of the vertices that they are from.
    const auto seek = [&](Batch<LONG_SLOTS> &into, Key (&its_keys)[LONG_SLOTS], i32 (&its_rows)[LONG_SLOTS]) {
      i32 start = TILE + 1;  // of each row, in the tile
      Offset begin = 0;      // and of the tile, were it all of that row
      Key key = Key(0);
      i32 v = 0;
      if (lane() < MOST && first + lane() < count) {
        const Span from = load_relaxed(&ends[first + lane()]);
        if (lane()) start = i32(least(Span(from - tile), Span(TILE + 1)));
        v = load_relaxed(&list[first + lane()]);
        begin = Offset(Span(indptr[v]) + tile - from);
        key = key_in_step(v);
      }
      first += u32(__popc(__ballot_sync(ALL_LANES, start <= TILE)));
      Offset place[LONG_SLOTS];
      u32 there = 0;
#pragma unroll
      for (int i = 0; i < LONG_SLOTS; ++i) {
        const int edge = i * WARP + lane();
        int row = 0;
#pragma unroll
        for (int k = 1; k < MOST; ++k) row += shuffle(start, k) <= edge;
        place[i] = shuffle(begin, row) + Offset(edge);
        its_keys[i] = shuffle(key, row);
        its_rows[i] = PARENTS ? shuffle(v, row) : 0;
        there |= u32(Span(edge) < edges - tile) << i;
      }
      fetch(into, place, there);
      tile += TILE;
    };
    while (tile < end) {
      seek(batch, keys, rows);
      relax(batch, [&keys](int i) { return keys[i]; }, [&rows](int i) { return rows[i]; });
    }
  }
  /// The last of `count` ascending keys that is not above `key`; the first never is. By a warp.
  DEVICE u32 last_at_or_before(const Span *keys, u32 count, Span key) const {
    u32 begin = 0, end = count;  // the last is one of begin..end - 1
    while (end - begin > 1) {
      const u32 stride = (end - begin + WARP - 1) / WARP, at = begin + u32(lane()) * stride;
      const bool is_before = at < end && load_relaxed(&keys[at]) <= key;
      begin += (u32(__popc(__ballot_sync(ALL_LANES, is_before))) - 1) * stride;
      end = least(begin + stride, end);
    }
    return begin;
  }

  // --- steps -----------------------------------------------------------------------------------

  /// One step over the near lists, by this block's part of them: all if it is alone. In a fused
  /// step, then rounds over what the block holds, `most` at most; if it is alone, until something
  /// goes to the lists of all, or `is_unwanted`. How many rounds it were.
  template <class Unwanted>
  DEVICE u32 take_step(u64 near_rows, u64 long_rows, bool is_alone, u32 most, Unwanted is_unwanted) {
    const u32 blocks = is_alone ? 1 : gridDim.x, block = is_alone ? 0 : blockIdx.x;
    const u32 warps = blockDim.x / WARP, warp = u32(warp_in_block());
    const u32 near_now = u32(near_rows);
    constexpr u32 ROWS = WARP / TEAM;
    round = -1;
    if (is_fused) {
      if (threadIdx.x < 6) held[threadIdx.x] = 0;
      __syncthreads();
    }
    walk_long(long_rows, warp * blocks + block, warps * blocks);
    // In a fused step neighbours in the list stay in one block.
    const u32 part = greatest((near_now + blocks - 1) / blocks, ROWS);
    u32 first = is_fused ? block * part + warp * ROWS : (warp * blocks + block) * ROWS;
    u32 end = is_fused ? least((block + 1) * part, near_now) : near_now;
    u32 stride = (is_fused ? warps : warps * blocks) * ROWS;
    u32 rounds = 1;
    while (true) {
      walk_short(round >= 0, first, end, stride);
      if (!is_fused) break;
      ++round;
      if (is_alone && threadIdx.x == 0 && is_unwanted()) store_relaxed(&held[3 + round % 3], 1u);
      __syncthreads();
      const u32 count = least(load_relaxed(&held[round % 3]), tuning.held);
      const bool is_over = rounds >= most || (is_alone && load_relaxed(&held[3 + round % 3]));
      if (count == 0) break;
      if (threadIdx.x < 2) store_relaxed(&held[3 * threadIdx.x + (round + 2) % 3], 0u);
      if (is_over) {
        give_back(count);
        break;
      }
      first = warp * ROWS;
      end = count;
      stride = warps * ROWS;
      ++rounds;
    }
    return rounds;
  }
  /// Notes the keys that a round begins with, of what is listed.
  DEVICE void note_before(u64 near_rows, u64 long_rows, i64 thread, i64 threads) const {
    const i32 *shorts = near_list + (step & 1) * n, *longs = long_list + (step & 1) * room;
    const i64 count = i64(near_rows), rows = count + i64(long_rows >> COUNT_SHIFT);
    for (i64 e = thread; e < rows; e += threads) {
      const i32 v = load_relaxed(e < count ? &shorts[e] : &longs[e - count]);
      store_relaxed(&before[v], cells.key_of(v));
    }
  }
  /// What the block holds goes to the list of all.
  DEVICE void give_back(u32 count) {
    for (u32 base = threadIdx.x - lane(); base < count; base += blockDim.x) {
      const u32 e = base + lane();
      const u64 place = claim_by_warp(near_count(step + 1), e < count);
      if (e >= count) continue;
      store_relaxed(&near_list[((step + 1) & 1) * n + i64(place)], held_ids[(round & 1) * HELD + e]);
    }
  }
  /// Splits the far list anew: what is not beyond the new horizon becomes near.
  DEVICE void split(u64 count, Key beyond, bool is_first, i64 thread, i64 threads) {
    is_fused = false;
    for (i64 base = thread - lane(); base < i64(count); base += threads) {
      const i64 e = base + lane();
      i32 v = 0;
      Key key = Key(0);
      bool is_due = false, is_near = false;
      if (e < i64(count)) {
        v = load_relaxed(&far_list[(turn & 1) * n + e]);
        key = cells.key_of(v);
        is_due = is_near = true;
        if (HOW == NEAR_FAR && pass == IMPROVE) {
          is_due = is_first || key > beyond;
          is_near = is_due && !is_beyond(key);
        }
      }
      if (is_near) cells.mark(v, key, stamp());
      const i32 o[1] = {v};
      const Key keys[1] = {key};
      Offset begin[1] = {0};
      u32 degree[1] = {0};
      if (is_near) find_row(v, begin[0], degree[0]);
      push(o, keys, begin, degree, is_near, is_due && !is_near, is_near, is_near, turn + 1);
    }
  }
};

template <class Op, class Offset, class A, int KEPT_A, class T, int HOW, bool PARENTS, bool MASKED>
__global__ void __launch_bounds__(768, 1)
close_over(u64 *control, u32 tickets, u64 *host, u32 launch, i64 patience, i64 n,
           const Offset *__restrict__ indptr, const i32 *__restrict__ indices, const A *a_values,
           const bool *flags, bool complement, i64 starts, const i32 *start_indices,
           const bool *start_present, const T *start_values, bool is_iso, double delta,
           u32 turns, void *cells, u32 *codes, void *before, i64 room, i32 *near_list,
           i32 *long_list, typename Bits<sizeof(Offset)>::type *long_ends,
           i32 *far_list, u32 alone_rows, u32 alone_edges, u32 fused_rows, u32 fused_edges, u32 fused_rounds, u32 held_most, T *values, bool *present,
           i32 *parents, u64 *record, i64 records_room) {
  typedef Closing<Op, Offset, A, KEPT_A, HOW, PARENTS, MASKED> Work;
  typedef typename Work::Cells Cells;
  typedef typename Work::Key Key;
  SHARED(i32, held_ids, 2 * HELD);
  SHARED(u64, held_rows, 2 * HELD);
  SHARED(u32, held, 6);
  SHARED(u64, state, 8);
  SHARED(i64, leads, 2);  // of one thread: the clock at which it looks again; records
  Work work{indptr, indices, Values<typename Op::A, A, KEPT_A>(a_values), flags, complement,
            Cells(cells, codes), n, room, near_list, long_list, long_ends, far_list, (Key *)before,
            parents, control, held_ids, held_rows, held,
            Tuning{alone_rows, alone_edges, fused_rows, fused_edges, fused_rounds, held_most}};
  Grid grid(control);
  grid.begin(tickets);
  const Records records{record, records_room};
  const bool is_first_block = blockIdx.x == 0, is_leader = is_first_block && threadIdx.x == 0;

  if (threadIdx.x == 0) {
    leads[0] = clock64() + patience;
    leads[1] = 0;
  }
  /// Whether the host wishes to stop, as far as thread 0 has looked.
  const auto is_unwanted = [&] {
    StopFlag flag(host, patience);
    flag.due = leads[0];
    const bool is_up = flag.is_up();
    leads[0] = flag.due;
    return is_up;
  };
  /// visit(v, key, is_there) for the starts, by whole warps.
  const auto each_start = [&](auto visit) {
    const i64 places = start_indices != nullptr ? starts : n;
    for (i64 base = thread_in_grid() - lane(); base < places; base += threads_in_grid()) {
      const i64 e = base + lane();
      const bool is_there = e < places && (start_present == nullptr || start_present[e]);
      i32 v = 0;
      Key key = Key(0);
      if (is_there) {
        v = start_indices != nullptr ? start_indices[e] : i32(e);
        key = Cells::key(convert<typename Op::Z>(start_values[is_iso ? 0 : e]));
      }
      visit(v, key, is_there);
    }
  };
  // Every vertex without a value, then the starts, which all wait in the far list.
  if (start_present != nullptr || starts < n || PARENTS) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
      work.cells.clear(v);
      if constexpr (PARENTS) parents[v] = NO_PARENT;
    }
    grid.meet();
  }
  each_start([&](i32 v, Key key, bool is_there) {
    if (is_there) work.cells.put(v, key, FAR);
    if (PARENTS && HOW == ROUNDS && is_there) parents[v] = v;
    work.push_start(v, key, is_there, 0);
  });
  grid.meet();

  u32 rounds = 0, ran = 0, turned = 0;
  bool is_first = true, is_alone = false, wants_stop = false, is_stopped = false;
  bool is_settled = false;
  while (true) {
    // What is there to do: the same in every block.
    const auto look = [&] {
      __syncthreads();
      if (threadIdx.x < 4) {
        const u32 at = threadIdx.x < 2 ? work.step % 3 : work.turn % 3;
        state[threadIdx.x] = load_relaxed(&control[W_NEAR + 3 * threadIdx.x + at]);
      }
      __syncthreads();
    };
    look();
    const auto is_turn = [&] { return state[0] == 0 && state[1] == 0; };
    const auto is_done = [&] { return is_turn() && state[2] == 0; };
    const auto is_little = [&] {
      if (is_turn()) return state[2] <= alone_rows;
      return state[0] <= alone_rows && (state[1] & EDGES) <= alone_edges;
    };
    const auto meet = [&](bool is_alone) {
      if (is_alone) __syncthreads();
      else grid.meet();
    };
    /// One step or turn, by this block alone or by all.
    const auto move = [&] {
      const u64 near_rows = state[0], long_rows = state[1], far_rows = state[2];
      const bool turns_now = is_turn();
      u32 taken = 1;
      if (is_leader) {
        records.add(leads[1]++, (turns_now ? 2 : 0) + (is_alone ? 1 : 0),
                    turns_now ? far_rows : near_rows + (long_rows >> COUNT_SHIFT),
                    load_relaxed(&control[W_EDGES]));
      }
      if (turns_now) {
        const Key before = work.horizon;
        if constexpr (HOW == NEAR_FAR) {
          if (work.pass == IMPROVE) work.horizon = Cells::Order::within(Key(~state[3]), delta);
        }
        work.split(far_rows, before, is_first, is_alone ? threadIdx.x : thread_in_grid(),
                   is_alone ? blockDim.x : threads_in_grid());
        is_first = false;
        taken = 0;
      } else {
        if constexpr (HOW == ROUNDS) {
          work.note_before(near_rows, long_rows, is_alone ? threadIdx.x : thread_in_grid(),
                           is_alone ? blockDim.x : threads_in_grid());
          meet(is_alone);
        }
        work.is_fused = HOW != ROUNDS && held_most > 0 && near_rows <= fused_rows &&
                        (long_rows & EDGES) <= fused_edges;
        const u32 left = work.pass == IMPROVE ? turns - rounds : ~0u;
        taken = work.take_step(near_rows, long_rows, is_alone,
                               is_alone ? left : least(left, fused_rounds + 1), is_unwanted);
        if constexpr (PARENTS && HOW == ROUNDS) {
          meet(is_alone);
          work.pass = ORIGINS;
          work.take_step(near_rows, long_rows, is_alone, 1, is_unwanted);
          work.pass = IMPROVE;
        }
      }
      if (record != nullptr) {
        for (int d = WARP / 2; d > 0; d /= 2) work.counted += shuffle_down(work.counted, d);
        if (lane() == 0 && work.counted) atomicAdd(&control[W_EDGES], u64(work.counted));
        work.counted = 0;
      }
      rounds += is_alone ? taken : u32(!turns_now);
      if (is_leader) {
        store_relaxed(work.near_count(work.step + 2), u64(0));
        store_relaxed(work.long_count(work.step + 2), u64(0));
        if (turns_now) {
          store_relaxed(work.far_count(work.turn + 2), u64(0));
          store_relaxed(work.far_best(work.turn + 2), u64(0));
        }
      }
      ++work.step;
      work.turn += turns_now;
    };
    const bool is_out_of_turns = rounds >= turns && work.pass == IMPROVE;
    const bool is_over = is_done() || is_out_of_turns || (is_alone && wants_stop);
    const bool is_few = !is_over && is_little();
    if (is_over && !is_alone) {
      if (work.pass == IMPROVE) is_settled = is_done();
      if (!PARENTS || HOW == ROUNDS || !is_settled || work.pass == TREE) break;
      // A tree of edges whose terms are what they lead to, grown from the starts that stayed.
      grid.meet();  // all have seen that the lists are empty
      work.pass = TREE;
      each_start([&](i32 v, Key key, bool is_there) {
        const bool is_root = is_there && Cells::is_equal(key, work.cells.key_of(v));
        if (is_root) parents[v] = v;
        work.push_start(v, key, is_root, work.turn);
      });
      turned = work.turn;
      ran = rounds;
      grid.meet();
      continue;
    }
    if (is_few && !is_alone) {
      grid.meet();  // all have seen what block 0 is about to change
      is_alone = true;
    }
    if (is_alone && (!is_few || !is_first_block)) {
      if (is_leader) {
        store_relaxed(&control[W_STEP], u64(work.step));
        store_relaxed(&control[W_TURN], u64(work.turn));
        store_relaxed(&control[W_ROUNDS], u64(rounds));
        if constexpr (HOW == NEAR_FAR) store_relaxed(&control[W_HORIZON], u64(work.horizon));
      }
      is_stopped = grid.meet(wants_stop);
      if (threadIdx.x < 4) state[4 + threadIdx.x] = load_relaxed(&control[W_STEP + threadIdx.x]);
      __syncthreads();
      work.step = u32(state[4]);
      work.turn = u32(state[5]);
      rounds = u32(state[7]);
      is_first = false;
      if constexpr (HOW == NEAR_FAR) work.horizon = Key(state[6]);
      is_alone = false;
    } else {
      move();
      const bool wishes = is_leader && (is_unwanted() || load_relaxed(&control[W_FULL]));
      if (is_alone) wants_stop = __syncthreads_or(wishes);
      else is_stopped = grid.meet(wishes);
    }
    if (is_stopped) break;
  }
  if (work.pass == IMPROVE) {
    turned = work.turn;
    ran = rounds;
  }
  if (is_leader) records.add(leads[1], 0, 0, load_relaxed(&control[W_EDGES]));

  u32 reached = 0;
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    const bool is_there = work.cells.is_present(v);
    present[v] = is_there;
    values[v] = convert<T>(Cells::value(work.cells.key_of(v)));
    reached += is_there;
    if constexpr (PARENTS) {
      if (is_there && parents[v] == NO_PARENT) {
        store_relaxed(&control[W_ORPHANS], u64(1));
        parents[v] = i32(v);
      }
    }
  }
  for (int d = WARP / 2; d > 0; d /= 2) reached += shuffle_down(reached, d);
  if (lane() == 0 && reached) atomicAdd(&control[W_REACHED], u64(reached));
  if (is_last_block(grid) && threadIdx.x == 0) {
    const bool is_full = load_relaxed(&control[W_FULL]) != 0;
    tell_host(host, launch, HOST_STATUS, is_full ? FAULT : is_stopped ? STOPPED : FINISHED);
    tell_host(host, launch, HOST_RESULTS, u32(load_relaxed(&control[W_REACHED])));
    tell_host(host, launch, HOST_RESULTS + 1, ran);
    tell_host(host, launch, HOST_RESULTS + 2, turned);
    tell_host(host, launch, HOST_RESULTS + 3, work.step);
    tell_host(host, launch, HOST_RESULTS + 4, u32(load_relaxed(&control[W_OVERFLOWED])));
    tell_host(host, launch, HOST_RESULTS + 5, u32(is_settled));
    tell_host(host, launch, HOST_RESULTS + 6, u32(load_relaxed(&control[W_ORPHANS])));
  }
}

}  // namespace graphla
