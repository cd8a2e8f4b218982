// Closure: the state of each vertex, which consists of its value and a code for the list that
// contains the vertex.
//
// A vertex waits in at most one list, and its `Code` tells which list this is. There are three
// layouts. If (+) is min or max, the value is stored as a key; keys are unsigned integers, and a
// better value has a smaller key:
// - `Packed`: a 32-bit key and the code share one word, so that one atomic improves the value and
//   also changes the code;
// - `Wide`: key and code are two words.
// If (+) is any other operator, there are no keys:
// - `Loose`: the value itself and the code are stored in two words.
#ifndef GRAPHLA_CLOSURE_CELLS
#define GRAPHLA_CLOSURE_CELLS
#include "atomics.cuh"
#include "persistent.cuh"

namespace graphla {

/// The list in which a vertex waits. A code of FIRST_STAMP + s means that the vertex was pushed
/// into a near list in step s. While threads race to improve values, codes only increase, so a near
/// list takes precedence over the far list. LOST is not stored: functions return it if they have
/// not improved a value.
enum Code : u32 { ABSENT = 0, IDLE = 1, FAR = 2, FIRST_STAMP = 3, LOST = 0xffffffffu };

/// Claims a position in a list for each lane that passes `wants` = true, with one atomic, and
/// returns the lane's position. All lanes of the warp must call this.
template <class Counter> DEVICE Counter claim_by_warp(Counter *counter, bool wants) {
  const u32 wanting = __ballot_sync(ALL_LANES, wants);
  Counter first = 0;
  if (lane() == 0 && wanting) first = atomicAdd(counter, Counter(__popc(wanting)));
  return shuffle(first, 0) + Counter(__popc(wanting & ((1u << lane()) - 1)));
}

template <int BYTES> struct Bits {
  typedef u32 type;
};
template <> struct Bits<8> {
  typedef u64 type;
};

/// Keys of ordered values. ORDER is 1 if the smallest value is best, and -1 if the largest value is
/// best. In both orders, NaN is better than every other value and has key 0.
template <class Z, int ORDER> struct Keys {
  typedef typename Bits<sizeof(Z)>::type Key;
  static constexpr Key SIGN = Key(1) << (8 * sizeof(Key) - 1);

  static DEVICE Key of(Z z) {
    Key key;
    if constexpr (is_float<Z>::value) {
      if (z != z) return 0;
      memcpy(&key, &z, sizeof(Z));
      key = key & SIGN ? ~key : key | SIGN;
    } else if constexpr (is_signed<Z>) {
      key = Key(i64(z)) ^ SIGN;
    } else {
      key = Key(z);
    }
    return ORDER > 0 ? key : ~key;
  }
  static DEVICE Z value(Key key) {
    if (ORDER < 0) key = ~key;
    if constexpr (is_float<Z>::value) {
      key = key & SIGN ? key ^ SIGN : ~key;
      Z z;
      memcpy(&z, &key, sizeof(Z));
      return z;
    } else if constexpr (is_signed<Z>) {
      return Z(key ^ SIGN);
    } else {
      return Z(key);
    }
  }
  /// Returns the key of the worst value that is at most `delta` worse than the value with key
  /// `best`. The result is never smaller than `best`.
  static DEVICE Key within(Key best, double delta) {
    const Key limit = of(convert<Z>(double(value(best)) + ORDER * delta));
    return limit > best ? limit : best;
  }
};

/// Stores key and code in one word. A word with all bits set means that the vertex has no value.
template <class Op, int WHICH> struct Packed {
  typedef typename Op::Z Z;
  static constexpr int ORDER = WHICH;
  typedef Keys<Z, ORDER> Order;
  typedef u32 Key;
  typedef u64 Seen;
  static constexpr bool HAS_CODES = false;
  static constexpr u64 NOTHING = ~u64(0);
  u64 *cells;

  DEVICE Packed(void *values, u32 *) : cells((u64 *)values) {}
  static DEVICE Key key(Z z) { return Order::of(z); }
  static DEVICE Z value(Key key) { return Order::value(key); }
  static DEVICE u64 cell(Key key, u32 code) { return (u64(key) << 32) | code; }

  DEVICE void clear(i64 v) const { cells[v] = NOTHING; }
  DEVICE void put(i64 v, Key key, u32 code) const { cells[v] = cell(key, code); }
  DEVICE Seen load(i32 v) const { return load_relaxed(&cells[v]); }
  DEVICE bool improves(i32, Key key, Seen seen) const {
    return key < u32(seen >> 32) || seen == NOTHING;
  }
  /// Improves a value in two steps, `strike` and `settle`, so that a thread can have several atomic
  /// operations in flight. `strike` stores the key and the code if the key is an improvement, and
  /// returns the previous word of vertex v. The caller passes this word to `settle`, which returns
  /// the previous code of v if the key was an improvement, otherwise LOST.
  DEVICE Seen strike(i32 v, Key key, u32 code) const {
    return atomicMin(&cells[v], cell(key, code));
  }
  DEVICE u32 settle(i32 v, Key key, u32, Seen old) const {
    if (!improves(v, key, old)) return LOST;
    return old == NOTHING ? u32(ABSENT) : u32(old);
  }
  /// Clears the code of v, which removes v from its list, and returns the current key of v.
  DEVICE Key pop(i32 v) const { return u32(atomicAnd(&cells[v], ~u64(0xffffffffu)) >> 32); }
  DEVICE Key key_of(i64 v) const { return u32(load_relaxed(&cells[v]) >> 32); }
  DEVICE u32 code_of(i32 v) const { return u32(load_relaxed(&cells[v])); }
  static DEVICE bool is_equal(Key x, Key y) { return x == y; }
  DEVICE void mark(i32 v, Key key, u32 code) const { store_relaxed(&cells[v], cell(key, code)); }
  DEVICE bool is_present(i64 v) const { return load_relaxed(&cells[v]) != NOTHING; }
};

/// Sets codes[v] to `code` if vertex v does not have a value yet, and then returns ABSENT.
/// Otherwise changes nothing and returns LOST. This function is called for the worst possible
/// value, which improves only a vertex without a value.
DEVICE u32 appear(u32 *codes, i32 v, u32 code) {
  return atomicCAS(&codes[v], u32(ABSENT), code) == ABSENT ? u32(ABSENT) : u32(LOST);
}

/// Stores key and code in two words. A thread improves the key before it changes the code, and
/// clears the code before it reads the key.
template <class Op, int WHICH> struct Wide {
  typedef typename Op::Z Z;
  static constexpr int ORDER = WHICH;
  typedef Keys<Z, ORDER> Order;
  typedef u64 Key;
  typedef u64 Seen;
  static constexpr bool HAS_CODES = true;
  u64 *keys;
  u32 *codes;

  DEVICE Wide(void *values, u32 *codes) : keys((u64 *)values), codes(codes) {}
  static DEVICE Key key(Z z) { return Order::of(z); }
  static DEVICE Z value(Key key) { return Order::value(key); }

  DEVICE void clear(i64 v) const {
    keys[v] = ~u64(0);
    codes[v] = ABSENT;
  }
  DEVICE void put(i64 v, Key key, u32 code) const {
    keys[v] = key;
    codes[v] = code;
  }
  DEVICE Seen load(i32 v) const { return load_relaxed(&keys[v]); }
  DEVICE bool improves(i32 v, Key key, Seen seen) const {
    return key < seen || (key == ~u64(0) && load_relaxed(&codes[v]) == ABSENT);
  }
  DEVICE Seen strike(i32 v, Key key, u32) const { return atomicMin(&keys[v], key); }
  DEVICE u32 settle(i32 v, Key key, u32 code, Seen old) const {
    if (key == ~u64(0)) return appear(codes, v, code);
    if (old <= key) return LOST;
    __threadfence();
    return atomicMax(&codes[v], code);
  }
  DEVICE Key pop(i32 v) const {
    atomicExch(&codes[v], u32(IDLE));
    __threadfence();
    return load_relaxed(&keys[v]);
  }
  DEVICE Key key_of(i64 v) const { return load_relaxed(&keys[v]); }
  DEVICE u32 code_of(i32 v) const { return load_relaxed(&codes[v]); }
  static DEVICE bool is_equal(Key x, Key y) { return x == y; }
  DEVICE void mark(i32 v, Key, u32 code) const { store_relaxed(&codes[v], code); }
  DEVICE bool is_present(i64 v) const { return load_relaxed(&codes[v]) != ABSENT; }
};

/// Stores the values themselves, which are combined with the monoid's operator. Such values have no
/// order, so no vertex is deferred to the far list.
template <class Op> struct Loose {
  typedef typename Op::Z Z;
  static constexpr int ORDER = 0;
  typedef Z Key;
  typedef Z Seen;
  static constexpr bool HAS_CODES = true;
  Z *values;
  u32 *codes;

  DEVICE Loose(void *values, u32 *codes) : values((Z *)values), codes(codes) {}
  static DEVICE Key key(Z z) { return z; }
  static DEVICE Z value(Key key) { return key; }
  /// Returns whether two values are equal. All NaNs are treated as equal, and so are both zeros:
  /// if they counted as different, two such values could replace each other forever.
  static DEVICE bool is_equal(Z x, Z y) { return x == y || (x != x && y != y); }

  DEVICE void clear(i64 v) const {
    values[v] = Op::identity();
    codes[v] = ABSENT;
  }
  DEVICE void put(i64 v, Key key, u32 code) const {
    values[v] = key;
    codes[v] = code;
  }
  DEVICE Seen load(i32 v) const { return load_relaxed(&values[v]); }
  DEVICE bool improves(i32 v, Key key, Seen seen) const {
    if (!is_equal(Op::add(seen, key), seen)) return true;
    return is_equal(key, Op::identity()) && load_relaxed(&codes[v]) == ABSENT;
  }
  DEVICE Seen strike(i32, Key key, u32) const { return key; }
  DEVICE u32 settle(i32 v, Key key, u32 code, Seen) const {
    bool has_changed = false;
    atomic_replace(&values[v], [&](Z old) {
      const Z now = Op::add(old, key);
      has_changed = !is_equal(now, old);
      return has_changed ? now : old;
    });
    if (!has_changed) return is_equal(key, Op::identity()) ? appear(codes, v, code) : u32(LOST);
    __threadfence();
    return atomicMax(&codes[v], code);
  }
  DEVICE Key pop(i32 v) const {
    atomicExch(&codes[v], u32(IDLE));
    __threadfence();
    return load_relaxed(&values[v]);
  }
  DEVICE Key key_of(i64 v) const { return load_relaxed(&values[v]); }
  DEVICE u32 code_of(i32 v) const { return load_relaxed(&codes[v]); }
  DEVICE void mark(i32 v, Key, u32 code) const { store_relaxed(&codes[v], code); }
  DEVICE bool is_present(i64 v) const { return load_relaxed(&codes[v]) != ABSENT; }
};

template <class Op, int ORDER, int BYTES> struct CellsOf {
  typedef Packed<Op, ORDER> type;
};
template <class Op, int ORDER> struct CellsOf<Op, ORDER, 8> {
  typedef Wide<Op, ORDER> type;
};
template <class Op, int BYTES> struct CellsOf<Op, 0, BYTES> {
  typedef Loose<Op> type;
};
template <class Op> struct CellsOf<Op, 0, 8> {
  typedef Loose<Op> type;
};

}  // namespace graphla
#endif
