// Functions for all pull kernels, independent of how a kernel divides the rows among threads. They
// compute the terms of a segment of a row, and fold the terms in the order of the entries. They
// also copy selected values of u to shared memory.
#ifndef GRAPHLA_GATHERING
#define GRAPHLA_GATHERING
#include "collectives.cuh"

namespace graphla {

/// When the fold of a row ends. AT_LAST: after the last entry, or once the fold equals the monoid's
/// terminal value. AT_FIRST: after the first term, which is then the result. AT_PRESENCE: after the
/// first term, because only the presence of the result is needed, not its value.
enum Ends { AT_LAST = 0, AT_FIRST = 1, AT_PRESENCE = 2 };

/// How u is stored. IN_BITMAP: a presence flag and a value per index. IN_FULL: a value per index.
/// WITH_HUBS: like IN_FULL, but the values that are read most often (those of the hubs) are also in
/// shared memory. MAYBE_FULL: like IN_BITMAP if there are presence flags, otherwise like IN_FULL; a
/// value is loaded together with its flag. MAYBE_FULL requires AT_LAST.
enum Held { IN_BITMAP = 0, IN_FULL = 1, WITH_HUBS = 2, MAYBE_FULL = 3 };

/// Values of the vector u in shared memory. There are `slots` = 2^bits slots. Slot s holds
/// u[tags[s] * slots + s]. This index is within the bounds of u for every s.
template <class U> struct Hubs {
  const U *values = nullptr;
  const u16 *tags = nullptr;
  int bits = 0;  // slots == 1 << bits

  /// Fills the slots in `room` with values of u; `wanted` holds the tag of each slot. Every thread
  /// of the block must call this.
  DEVICE void gather(unsigned char *room, const u16 *__restrict__ wanted, const U *__restrict__ u,
                     int log_slots) {
    U *to = (U *)room;
    u16 *names = (u16 *)(to + (1 << log_slots));
    constexpr int AT_ONCE = 8;  // number of values that a thread loads at once
    const int slots = 1 << log_slots, step = int(blockDim.x);
#pragma unroll 1
    for (int first = int(threadIdx.x); first < slots; first += AT_ONCE * step) {
      u16 tag[AT_ONCE];
      U value[AT_ONCE];
#pragma unroll
      for (int i = 0; i < AT_ONCE; ++i)
        tag[i] = first + i * step < slots ? wanted[first + i * step] : u16(0);
#pragma unroll
      for (int i = 0; i < AT_ONCE; ++i) {
        if (first + i * step < slots) value[i] = u[i64(tag[i]) << log_slots | (first + i * step)];
      }
#pragma unroll
      for (int i = 0; i < AT_ONCE; ++i) {
        if (first + i * step < slots)
          names[first + i * step] = tag[i], to[first + i * step] = value[i];
      }
    }
    values = to, tags = names, bits = log_slots;
    __syncthreads();
  }
};

/// A partial fold: whether it has a term yet, and the fold of its terms so far.
template <class Op> struct Fold {
  typedef typename Op::Z Z;
  Z sum;
  bool has;
  DEVICE Fold() : sum(Op::identity()), has(false) {}
  DEVICE Fold(Z value, bool there) : sum(value), has(there) {}
  /// Appends a partial fold of later terms.
  DEVICE void append(const Fold &next) {
    if (next.has) sum = has ? Op::add(sum, next.sum) : next.sum;
    has = has || next.has;
  }
};

template <class Op> DEVICE Fold<Op> fold_down(const Fold<Op> &mine, int delta) {
  return Fold<Op>(shuffle_down(mine.sum, delta),
                  bool(__shfl_down_sync(ALL_LANES, int(mine.has), delta)));
}
template <class Op> DEVICE Fold<Op> fold_of(const Fold<Op> &mine, int from) {
  return Fold<Op>(shuffle(mine.sum, from), bool(__shfl_sync(ALL_LANES, int(mine.has), from)));
}

/// Folds the values of all lanes in lane order, and returns the result to every lane. Every lane
/// must call this.
template <class Op> DEVICE Fold<Op> warp_fold(Fold<Op> mine) {
  if constexpr (Op::IS_ANY) {
    for (int delta = 1; delta < WARP; delta *= 2) {
      const Fold<Op> after = fold_down(mine, delta);
      if (lane() % (2 * delta) == 0) mine.append(after);
    }
    return fold_of(mine, 0);
  } else {
    // In a lane without a term, `sum` is the monoid's identity, so every lane can be folded.
    for (int delta = 1; delta < WARP; delta *= 2) {
      const typename Op::Z after = shuffle_down(mine.sum, delta);
      if (lane() % (2 * delta) == 0) mine.sum = Op::add(mine.sum, after);
    }
    return Fold<Op>(shuffle(mine.sum, 0), __any_sync(ALL_LANES, mine.has));
  }
}

/// The arrays that a pull reads, except for indptr.
template <class A, class U> struct Operands {
  const i32 *indices;     // column of each entry of A
  const A *a_values;      // one value per entry, or one for all entries; see `Kept`
  const bool *u_present;  // presence flags; null unless IN_BITMAP or MAYBE_FULL
  const U *u_values;
  const u16 *hubs;  // tags of the hubs; null unless WITH_HUBS
  int hub_bits;     // slots == 1 << hub_bits
};

/// The rows of A and the vector u of a matrix-vector product. The member functions fold the terms
/// of a row or of a segment of a row.
///
/// BATCH is the number of entries that a lane loads at once.
template <class Op, class Offset, class A, int KEPT_A, class U, int KEPT_U, int HELD, int ENDS,
          int BATCH = 4>
struct Rows {
  static constexpr bool MAY_SETTLE = ENDS != AT_LAST || Op::HAS_TERMINAL;
  static constexpr bool HAS_HUBS = HELD == WITH_HUBS;
  const i32 *__restrict__ columns;
  const Values<typename Op::A, A, KEPT_A> a;
  const Values<typename Op::U, U, KEPT_U> u;
  const bool *__restrict__ u_present;
  Hubs<U> hubs;

  /// Copies the values of u at the hubs to shared memory. Every thread of the block must call this.
  DEVICE explicit Rows(const Operands<A, U> &of)
      : columns(of.indices), a(of.a_values), u(of.u_values), u_present(of.u_present) {
    if constexpr (HAS_HUBS) {
      SHARED_BYTES(room);
      hubs.gather(room, of.hubs, of.u_values, of.hub_bits);
    }
  }

  /// Returns u(k).
  DEVICE typename Op::U value_of_u(i32 k) const {
    if constexpr (HELD == WITH_HUBS) {
      const u32 slot = u32(k) & ((1u << hubs.bits) - 1);
      U value = hubs.values[slot];
      if (hubs.tags[slot] != u32(k) >> hubs.bits) value = u.at[k];
      return convert<typename Op::U>(value);
    } else {
      return u[k];
    }
  }

  /// Returns whether a fold needs no more terms.
  static DEVICE bool is_settled(const Fold<Op> &fold) {
    if constexpr (ENDS != AT_LAST) return fold.has;
    else if constexpr (Op::HAS_TERMINAL) return fold.has && fold.sum == Op::terminal();
    else return false;
  }

  /// Folds the first `few` entries of a row with one thread. Adjacent threads read different rows,
  /// so their loads are far apart in memory and slow. Therefore the thread stops as soon as further
  /// terms cannot change the result (`is_settled`). But if the row has at most BATCH entries, the
  /// thread reads all of them without this test, which would take longer than the additional loads.
  DEVICE void fold_few(Fold<Op> &fold, Offset begin, int few, i64 row) const {
    int from = 0;
    if constexpr (MAY_SETTLE) {
      if (few > 0) fold_batch<1, BATCH>(fold, begin, 0, few <= BATCH ? few : 1, row);
      if (few > BATCH && !is_settled(fold)) fold_batch<1, BATCH - 1>(fold, begin, 1, few, row);
      from = BATCH;
    }
#pragma unroll 1
    for (; from < few && !is_settled(fold); from += BATCH)
      fold_batch<1, BATCH>(fold, begin, from, few, row);
  }

  /// A segment of a row starts at entry `begin` and has `length` entries, fewer than 2^31. This
  /// function folds up to COUNT of its entries: those at the offsets `from`, `from` + STEP, `from`
  /// + 2 * STEP, and so on from `begin`.
  template <int STEP, int COUNT>
  DEVICE void fold_batch(Fold<Op> &fold, Offset begin, int from, int length, i64 row) const {
    i32 k[COUNT];
    bool there[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      there[i] = from + i * STEP < length;
      const i32 *column = &columns[begin + Offset(from + i * STEP)];
      k[i] = !there[i] ? 0 : STEP == WARP ? load_once(column) : *column;
    }
    if constexpr (HELD == IN_BITMAP) {
#pragma unroll
      for (int i = 0; i < COUNT; ++i) there[i] = there[i] && u_present[k[i]];
    }
    if constexpr (ENDS == AT_LAST) {
      bool is_set[COUNT];
#pragma unroll
      for (int i = 0; i < COUNT; ++i) is_set[i] = there[i];
      if constexpr (HELD == MAYBE_FULL) {
        if (u_present) {
#pragma unroll
          for (int i = 0; i < COUNT; ++i)
            if (there[i]) is_set[i] = u_present[k[i]];
        }
      }
      typename Op::U x[COUNT];
      typename Op::A y[COUNT];
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        const i64 entry = i64(begin + Offset(from + i * STEP));
        if (there[i]) x[i] = value_of_u(k[i]), y[i] = STEP == WARP ? a.once(entry) : a[entry];
      }
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        if (is_set[i]) fold.sum = Op::fold(fold.sum, y[i], x[i], row, k[i]), fold.has = true;
      }
    } else {
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        if (there[i] && !fold.has) {
          fold.has = true;
          if constexpr (ENDS == AT_FIRST)
            fold.sum = term(begin + Offset(from + i * STEP), k[i], row);
        }
      }
    }
  }

  DEVICE typename Op::Z term(Offset entry, i32 k, i64 row) const {
    return Op::term(a[entry], u[k], row, k);
  }

  /// Folds one whole row for each lane whose bit in the mask `owners` is set. Each row has at most
  /// GROUP * BATCH entries. A group of GROUP lanes folds one row, so that the warp processes WARP /
  /// GROUP rows at the same time. Every lane must call this and passes its own row.
  DEVICE void fold_by_groups(Fold<Op> &fold, u32 owners, Offset begin, int length, i32 row) const {
    constexpr int GROUP = 8, ROWS = WARP / GROUP;
    while (owners) {
      int owner[ROWS], mine = 0;
      bool is_mine = false;
#pragma unroll
      for (int g = 0; g < ROWS; ++g) {
        owner[g] = __ffs(int(owners)) - 1;  // -1 if no rows are left
        owners &= owners - 1;
        if (g == lane() / GROUP) mine = owner[g] & (WARP - 1), is_mine = owner[g] >= 0;
      }
      const Offset its_begin = shuffle(begin, mine);
      const int its_length = shuffle(length, mine), its_row = shuffle(row, mine);
      Fold<Op> part;
      fold_batch<GROUP, BATCH>(part, its_begin, lane() % GROUP, is_mine ? its_length : 0, its_row);
      // In a lane without a term, `sum` is the monoid's identity, so every lane can be folded.
#pragma unroll
      for (int delta = 1; delta < GROUP; delta *= 2) {
        const typename Op::Z after = shuffle_down(part.sum, delta);
        if (lane() % (2 * delta) == 0) part.sum = Op::add(part.sum, after);
      }
      const u32 have = __ballot_sync(ALL_LANES, part.has);
#pragma unroll
      for (int g = 0; g < ROWS; ++g) {
        const typename Op::Z sum = shuffle(part.sum, g * GROUP);
        if (lane() == owner[g] && (have >> (g * GROUP) & ((1u << GROUP) - 1)))
          fold = Fold<Op>(sum, true);
      }
    }
  }

  /// Folds a segment of a row with a warp. Every lane must call this and gets the result. Unless
  /// ENDS is AT_LAST, only the first term is used.
  DEVICE Fold<Op> fold_by_warp(Offset begin, int length, i64 row) const {
    Fold<Op> mine;
#pragma unroll 1
    for (int from = 0; from < length; from += BATCH * WARP) {
      if constexpr (ENDS == AT_LAST) {
        fold_batch<WARP, BATCH>(mine, begin, from + lane(), length, row);
        if constexpr (Op::HAS_TERMINAL) {
          if (__any_sync(ALL_LANES, is_settled(mine))) break;
        }
      } else {
        const int first = first_hit(begin, from, length);
        if (first >= 0) {
          mine.has = true;
          const Offset entry = begin + Offset(first);
          if constexpr (ENDS == AT_FIRST) mine.sum = term(entry, columns[entry], row);
          return mine;
        }
      }
    }
    if constexpr (ENDS == AT_LAST) return warp_fold(mine);
    return mine;
  }

  /// Looks at BATCH * WARP entries of a segment, from position `from` on. Returns the position of
  /// the first of these entries, A(i, k), for which u(k) exists, or -1 if there is none.
  DEVICE int first_hit(Offset begin, int from, int length) const {
    if constexpr (HELD != IN_BITMAP) return from;
    i32 k[BATCH];
    bool there[BATCH];
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const int at = from + i * WARP + lane();
      there[i] = at < length;
      k[i] = there[i] ? columns[begin + Offset(at)] : 0;
    }
#pragma unroll
    for (int i = 0; i < BATCH; ++i) there[i] = there[i] && u_present[k[i]];
#pragma unroll
    for (int i = 0; i < BATCH; ++i) {
      const u32 hits = __ballot_sync(ALL_LANES, there[i]);
      if (hits) return from + i * WARP + __ffs(int(hits)) - 1;
    }
    return -1;
  }
};

}  // namespace graphla
#endif
