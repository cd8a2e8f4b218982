// Atomic updates *at = add(*at, value) for every monoid and type. Several threads may update the
// same element at once.
#ifndef GRAPHLA_ATOMICS
#define GRAPHLA_ATOMICS
#include "device.cuh"

namespace graphla {

/// How concurrent updates of one element are made safe. Op::RACE is the method for the operator Op.
enum Race {
  RACE_BY_CAS = 0,  // a compare-and-swap loop, which works for any operator
  RACE_ADD = 1,
  RACE_MIN = 2,
  RACE_MAX = 3,
  RACE_OR = 4,
  RACE_AND = 5,
  RACE_XOR = 6,
  RACE_FLAG = 7,  // for BOOL: plain stores suffice, because all threads store the terminal value
  RACE_ANY = 8,   // plain stores; any one of the stored values may remain
};

/// Atomically replaces *at with step(*at). T may have 8, 16, 32 or 64 bits; if it has fewer than 32
/// bits, the function atomically replaces the 32-bit word that contains *at.
template <class T, class Step> DEVICE void atomic_replace(T *at, Step step) {
  if constexpr (sizeof(T) == 8) {
    u64 *word = (u64 *)at;
    u64 seen = load_relaxed(word), tried;
    do {
      tried = seen;
      T value;
      memcpy(&value, &tried, 8);
      value = step(value);
      u64 wanted;
      memcpy(&wanted, &value, 8);
      if (wanted == tried) return;
      seen = atomicCAS(word, tried, wanted);
    } while (seen != tried);
  } else {
    const u64 address = (u64)at;
    u32 *word = (u32 *)(address & ~u64(3));
    const int shift = sizeof(T) == 4 ? 0 : 8 * int(address & 3);
    const u32 bits = sizeof(T) == 4 ? ~0u : ((1u << (8 * (sizeof(T) & 3))) - 1) << shift;
    u32 seen = load_relaxed(word), tried;
    do {
      tried = seen;
      const u32 cut = (tried & bits) >> shift;
      T value;
      memcpy(&value, &cut, sizeof(T));
      value = step(value);
      u32 put = 0;
      memcpy(&put, &value, sizeof(T));
      const u32 wanted = (tried & ~bits) | (put << shift);
      if (wanted == tried) return;
      seen = atomicCAS(word, tried, wanted);
    } while (seen != tried);
  }
}

template <class T> constexpr bool is_word = !is_float<T>::value && sizeof(T) == 4;
template <class T> constexpr bool is_long = !is_float<T>::value && sizeof(T) == 8;
template <class T> constexpr bool is_signed = T(-1) < T(0);

/// Atomically sets *at = add(*at, value). Any number of threads may call this at the same time.
template <class Op, class Z> DEVICE void atomic_fold(Z *at, Z value) {
  if constexpr (Op::RACE == RACE_ANY) {
    store_relaxed(at, value);
  } else if constexpr (Op::RACE == RACE_FLAG) {
    if (value == Op::terminal()) store_relaxed(at, value);
  } else if constexpr (Op::RACE == RACE_ADD && (is_word<Z> || is_float<Z>::value)) {
    if constexpr (is_word<Z>) atomicAdd((u32 *)at, u32(value));
    else atomicAdd(at, value);
  } else if constexpr (Op::RACE == RACE_ADD && is_long<Z>) {
    atomicAdd((u64 *)at, u64(value));
  } else if constexpr (Op::RACE == RACE_MIN && (is_word<Z> || is_long<Z>)) {
    if (value < load_relaxed(at)) atomicMin(at, value);
  } else if constexpr (Op::RACE == RACE_MAX && (is_word<Z> || is_long<Z>)) {
    if (load_relaxed(at) < value) atomicMax(at, value);
  } else if constexpr (Op::RACE == RACE_OR && is_word<Z>) {
    atomicOr((u32 *)at, u32(value));
  } else if constexpr (Op::RACE == RACE_OR && is_long<Z>) {
    atomicOr((u64 *)at, u64(value));
  } else if constexpr (Op::RACE == RACE_AND && is_word<Z>) {
    atomicAnd((u32 *)at, u32(value));
  } else if constexpr (Op::RACE == RACE_AND && is_long<Z>) {
    atomicAnd((u64 *)at, u64(value));
  } else if constexpr (Op::RACE == RACE_XOR && is_word<Z>) {
    atomicXor((u32 *)at, u32(value));
  } else if constexpr (Op::RACE == RACE_XOR && is_long<Z>) {
    atomicXor((u64 *)at, u64(value));
  } else {
    atomic_replace(at, [value](Z old) { return Op::add(old, value); });
  }
}

}  // namespace graphla
#endif
