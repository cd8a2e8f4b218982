// The write rule for a dense vector, C<mask, replace> = accum(C, T), and kernels that look up
// indices in a mask.
//
// C is stored as `present` (null if every index has an entry) and `values`. If T is sparse,
// scatter_entries writes its entries one by one, so the work is proportional to the number of these
// entries. If T is dense, write_indices visits all indices. No two threads write the same index.
// All threads add to a shared count of entries; integer sums do not depend on the order. Each
// kernel stores the new number of entries in `counter`, so the host does not have to wait for it.
#include "rows.cuh"

namespace graphla {

/// Returns whether index i is in the mask, before the mask is complemented. The mask is given by
/// one flag per index, or by a sorted list of `listed` indices.
template <int MASK> DEVICE bool is_in_mask(const bool *flags, const i32 *list, i64 listed, i32 i) {
  if constexpr (MASK == MASK_NONE) return true;
  if constexpr (MASK == MASK_FLAGS) return flags[i];
  const i64 k = lower_bound<i32, i64>(list, 0, listed, i);
  return k < listed && list[k] == i;
}

/// Adds the sum of `mine` over all threads of the block to *counter. One thread of the grid also
/// adds the old total, so that *counter is the new total after the kernel. The old total is
/// *before, or `known` if `before` is null. Every thread of the block must call this.
DEVICE void add_count(i64 *counter, i64 mine, const i64 *before, i64 known) {
  SHARED(i64, scratch, WARP);
  if (thread_in_grid() == 0) mine += before != nullptr ? *before : known;
  block_add(counter, mine, scratch);
}

/// The indices and values of the entries of a sparse vector T.
template <class T> struct Listed {
  const i32 *places;
  const T *values;
  i64 step;  // stride between values; 0 if all values are equal
  i64 count;
};

/// Computes C(i) = accum(C(i), T(i)) for the entries i of T that the mask allows. No entry of C is
/// deleted.
template <class Op, class T, int MASK>
__global__ void scatter_entries(typename Op::Z *values, bool *present, Listed<T> given,
                                const bool *flags, const i32 *list, i64 listed, bool complement,
                                i64 *counter, const i64 *before, i64 known) {
  const i32 *__restrict__ places = given.places;
  const T *__restrict__ t_values = given.values;
  i64 added = 0;
  for (i64 k = thread_in_grid(); k < given.count; k += threads_in_grid()) {
    const i32 i = places[k];
    if (MASK != MASK_NONE && is_in_mask<MASK>(flags, list, listed, i) == complement) continue;
    const bool was = present == nullptr || present[i];
    const T t = t_values[k * given.step];
    values[i] =
        Op::ACCUMULATES && was ? Op::accumulate(values[i], t, i, 0) : convert<typename Op::Z>(t);
    if (!was) {
      present[i] = true;
      ++added;
    }
  }
  if (present != nullptr) add_count(counter, added, before, known);
}

/// Writes the index and the value of the only entry of a sparse vector. Only one thread of the grid
/// does any work.
template <class Op, class Stored>
__global__ void put_entry(i32 *indices, Stored *values, i32 i, Stored value) {
  if (thread_in_grid() != 0) return;
  indices[0] = i;
  values[0] = value;
}

/// Sets C(i) = value if `there` is true; otherwise deletes the entry C(i). Also stores the new
/// number of entries of C in *counter. Only one thread of the grid does any work.
template <class Op, class Stored>
__global__ void put_element(Stored *values, bool *present, i64 i, Stored value, bool there,
                            i64 *counter, const i64 *before, i64 known) {
  if (thread_in_grid() != 0) return;
  if (there) values[i] = value;
  if (present == nullptr) return;
  *counter = (before != nullptr ? *before : known) - present[i] + there;
  present[i] = there;
}

// --- writing a dense vector T; its presence flags are processed eight at a time ------------------

constexpr u64 EIGHT = 0x0101010101010101;

/// Returns flags i..i + 7 as the bytes of a word. If `flags` is null, all flags are true. Flags at
/// `size` and beyond are false.
DEVICE u64 load_flags(const bool *flags, i64 i, i64 size) {
  if (i + 8 <= size) {
    if (flags == nullptr) return EIGHT;
    if ((u64(flags) & 7) == 0) return *(const u64 *)(flags + i);
  }
  u64 word = 0;
  for (int b = 0; b < 8 && i + b < size; ++b)
    word |= u64(flags == nullptr || flags[i + b]) << (8 * b);
  return word;
}

DEVICE void store_flags(bool *flags, i64 i, i64 size, u64 word) {
  if (i + 8 <= size && (u64(flags) & 7) == 0) {
    *(u64 *)(flags + i) = word;
  } else {
    for (int b = 0; b < 8 && i + b < size; ++b) flags[i + b] = (word >> (8 * b)) & 1;
  }
}

/// A dense vector. `present` is null if it has an entry at every index.
template <class Stored> struct Dense {
  const Stored *values;
  i64 step;  // stride between values; 0 if all values are equal
  const bool *present;
};

/// Which old entries of C remain in the result: all of them (ANYWHERE), only those at indices that
/// the mask allows (INSIDE), or only those at indices that the mask forbids (OUTSIDE).
enum Stays { ANYWHERE = 0, INSIDE = 1, OUTSIDE = 2 };

/// Applies the write rule to every index. `stays` is a value of `Stays`: it says which old entries
/// of C are kept. `present` is null if the result has an entry at every index.
///
/// A warp processes 256 indices at a time. It first reads eight flags per lane. Then it processes
/// 32 values at a time, and skips a group of 32 if none of its values is written. If the result
/// overwrites C in place (values = c_values), old values of C are not stored again.
template <class Op, class C, class T>
__global__ void write_indices(Dense<C> c, Dense<T> t_in, const bool *flags, bool complement,
                              int stays, typename Op::Z *values, bool *present, i64 size,
                              i64 *counter) {
  const C *c_values = c.values;
  const T *t_values = t_in.values;
  const bool *c_present = c.present;
  const bool is_copy = (const void *)values != (const void *)c_values;
  const i64 first_tile = thread_in_grid() / WARP, tiles = (size + 8 * WARP - 1) / (8 * WARP);
  i64 counted = 0;
  for (i64 tile = first_tile; tile < tiles; tile += threads_in_grid() / WARP) {
    const i64 base = tile * 8 * WARP, mine = base + 8 * lane();
    const u64 inside =
        flags == nullptr ? EIGHT : load_flags(flags, mine, size) ^ (complement ? EIGHT : 0);
    const u64 was = load_flags(c_present, mine, size);
    const u64 writes = load_flags(t_in.present, mine, size) & inside;
    const u64 kept = stays == ANYWHERE ? EIGHT : stays == INSIDE ? inside : ~inside;
    const u64 is = writes | (was & kept);
    if (present != nullptr) {
      if (mine < size && (present != c_present || is != was)) store_flags(present, mine, size, is);
      counted += __popcll(is);
    }
    if (!__any_sync(ALL_LANES, is_copy || writes != 0)) continue;
    for (int part = 0; part < 8; ++part) {
      const int whose = 4 * part + lane() / 8, bit = 8 * (lane() % 8);
      const bool puts = shuffle(writes, whose) >> bit & 1, had = shuffle(was, whose) >> bit & 1;
      const i64 i = base + part * WARP + lane();
      if (puts) {
        const T t = t_values[i * t_in.step];
        values[i] = Op::ACCUMULATES && had ? Op::accumulate(c_values[i * c.step], t, i, 0)
                                           : convert<typename Op::Z>(t);
      } else if (is_copy && i < size) {
        values[i] = had ? convert<typename Op::Z>(c_values[i * c.step]) : typename Op::Z(0);
      }
    }
  }
  if (present != nullptr) add_count(counter, counted, nullptr, 0);
}

/// Sets to[i] = from[i] && (flags[i] != complement) for all i. Counts the true flags in `to`, and
/// stores their number in *counter. If `from` is null, all its flags count as true.
template <class Op>
__global__ void restrict_flags(const bool *from, const bool *flags, bool complement, bool *to,
                               i64 size, i64 *counter) {
  i64 counted = 0;
  for (i64 i = 8 * thread_in_grid(); i < size; i += 8 * threads_in_grid()) {
    const u64 is =
        load_flags(from, i, size) & (load_flags(flags, i, size) ^ (complement ? EIGHT : 0));
    store_flags(to, i, size, is);
    counted += __popcll(is);
  }
  add_count(counter, counted, nullptr, 0);
}

// --- masks --------------------------------------------------------------------------------------

/// Sets present[list[k]] = false for all k, and counts the remaining entries.
template <class Op>
__global__ void unflag_listed(const i32 *list, i64 listed, bool *present, i64 *counter,
                              const i64 *before, i64 known) {
  i64 removed = 0;
  for (i64 k = thread_in_grid(); k < listed; k += threads_in_grid()) {
    if (present[list[k]]) {
      present[list[k]] = false;
      ++removed;
    }
  }
  add_count(counter, -removed, before, known);
}

/// Sets allowed[k] to true if the mask allows index places[k], and to false otherwise.
template <class Op, int MASK>
__global__ void look_up_mask(const i32 *places, i64 count, const bool *flags, const i32 *list,
                             i64 listed, bool complement, bool *allowed) {
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid())
    allowed[k] = is_in_mask<MASK>(flags, list, listed, places[k]) != complement;
}

/// Sets allowed[k] to true if the mask's pattern has an entry at the position of entry k of A, and
/// to false otherwise. If `complement` is true, the result is negated. A thread finds the entry by
/// a binary search in the same row of the pattern.
template <class Op, class Offset, class MaskOffset>
__global__ void look_up_pattern(const Offset *indptr, const i32 *indices, i64 nrows, i64 count,
                                const MaskOffset *mask_indptr, const i32 *mask_indices,
                                bool complement, bool *allowed) {
  SHARED(i64, span, 2);
  const i64 tile = i64(blockDim.x) * STEPS;
  for (i64 begin = blockIdx.x * tile; begin < count; begin += gridDim.x * tile) {
    const i64 end = least(begin + tile, count);
    find_rows(indptr, nrows, begin, end, span);
    for (i64 k = begin + threadIdx.x; k < end; k += blockDim.x) {
      const i64 row = row_among(indptr, span[0], span[1], k);
      const MaskOffset last = mask_indptr[row + 1];
      const MaskOffset at =
          lower_bound<i32, MaskOffset>(mask_indices, mask_indptr[row], last, indices[k]);
      allowed[k] = (at < last && mask_indices[at] == indices[k]) != complement;
    }
  }
}

}  // namespace graphla
