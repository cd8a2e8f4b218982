// The write rule into a dense vector: C<mask, replace> = accum(C, T), and masks over vectors.
//
// C lies dense: `present` (null where every index has an entry) and `values`. T comes entry by
// entry (scatter_entries: work as large as T) or index by index (write_indices). No two threads
// write one index, so nothing races but the counts, which are sums of integers. What the host
// would have to wait for, the new number of entries, is left in `counter`.
#include "rows.cuh"

namespace graphla {

/// Whether index i is one that the mask says, before its complement is taken.
template <int MASK> DEVICE bool is_said(const bool *flags, const i32 *list, i64 listed, i32 i) {
  if constexpr (MASK == MASK_NONE) return true;
  if constexpr (MASK == MASK_FLAGS) return flags[i];
  const i64 k = lower_bound<i32, i64>(list, 0, listed, i);
  return k < listed && list[k] == i;
}

/// *counter += the sum of `mine` over the block, and once what was counted before: every thread
/// calls.
DEVICE void add_count(i64 *counter, i64 mine, const i64 *before, i64 known) {
  SHARED(i64, sums, WARP);
  for (int delta = WARP / 2; delta > 0; delta /= 2) mine += shuffle_down(mine, delta);
  if (lane() == 0) sums[warp_in_block()] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  i64 sum = 0;
  for (int warp = 0; warp < int(blockDim.x) / WARP; ++warp) sum += sums[warp];
  if (blockIdx.x == 0) sum += before != nullptr ? *before : known;
  if (sum != 0) atomicAdd((u64 *)counter, u64(sum));
}

/// The entries of a sparse T.
template <class T> struct Listed {
  const i32 *places;
  const T *values;
  i64 step;  // from one value to the next; 0 if all are equal
  i64 count;
};

/// C(i) = accum(C(i), T(i)) for the entries i of T that the mask lets through; C loses nothing.
template <class Op, class T, int MASK>
__global__ void scatter_entries(typename Op::Z *values, bool *present, Listed<T> given,
                                const bool *flags, const i32 *list, i64 listed, bool complement,
                                i64 *counter, const i64 *before, i64 known) {
  const i32 *__restrict__ places = given.places;
  const T *__restrict__ t_values = given.values;
  i64 added = 0;
  for (i64 k = thread_in_grid(); k < given.count; k += threads_in_grid()) {
    const i32 i = places[k];
    if (MASK != MASK_NONE && is_said<MASK>(flags, list, listed, i) == complement) continue;
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

/// The one entry of a sparse vector; by one thread.
template <class Op, class Stored>
__global__ void put_entry(i32 *indices, Stored *values, i32 i, Stored value) {
  if (thread_in_grid() != 0) return;
  indices[0] = i;
  values[0] = value;
}

/// C(i) = value, or nothing where it is not `there`; by one thread.
template <class Op, class Stored>
__global__ void put_element(Stored *values, bool *present, i64 i, Stored value, bool there,
                            i64 *counter, const i64 *before, i64 known) {
  if (thread_in_grid() != 0) return;
  if (there) values[i] = value;
  if (present == nullptr) return;
  *counter = (before != nullptr ? *before : known) - present[i] + there;
  present[i] = there;
}

// --- index by index: eight flags to a word ------------------------------------------------------

constexpr u64 EIGHT = 0x0101010101010101;

/// Flags i..i + 7 as the bytes of a word; null is all true. Beyond the end they are false.
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

/// A vector by index: `present` is null if it has an entry at every index.
template <class Stored> struct Dense {
  const Stored *values;
  i64 step;  // from one value to the next; 0 if all are equal
  const bool *present;
};

/// The whole rule. Where C is kept, `stays` says: everywhere (0), where the mask lets through (1),
/// or where it does not (2). `present` is null where no index can lack an entry.
///
/// A warp takes 256 indices at a time: flags eight to a lane, then values 32 at a time, if any of
/// them is to be written. In place (values = c_values) the others stay as they are.
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
    const u64 is = writes | (was & (stays == 0 ? EIGHT : stays == 1 ? inside : ~inside));
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

/// to[i] = from[i] and flags[i] != complement; null `from` is all. Counts what is left.
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

/// flags[list[k]] = true: a mask's list spread out.
template <class Op> __global__ void flag_listed(const i32 *list, i64 listed, bool *flags) {
  for (i64 k = thread_in_grid(); k < listed; k += threads_in_grid()) flags[list[k]] = true;
}

/// present[list[k]] = false, and the count of what is left.
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

/// allowed[k] = whether the mask lets index places[k] through.
template <class Op, int MASK>
__global__ void look_up_mask(const i32 *places, i64 count, const bool *flags, const i32 *list,
                             i64 listed, bool complement, bool *allowed) {
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid())
    allowed[k] = is_said<MASK>(flags, list, listed, places[k]) != complement;
}

/// allowed[k] = whether entry k of A is at a place of the pattern (!= complement): a search in its
/// row.
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
