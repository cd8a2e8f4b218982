// The device library of compiled loops: products, sweeps over vectors, folds, stacks, and Python's
// functions on scalars. `program/cuda_text.py` generates the kernels, which include this file.
//
// One cooperative launch runs a whole loop. All threads follow the same control flow. Each thread
// has its own copy of the scalars, with the same values in all threads. A vector is a struct of
// pointers, so exchanging two vectors moves only pointers.
#ifndef GRAPHLA_PROGRAM
#define GRAPHLA_PROGRAM
#include "program_products.cuh"
#include "program_scalars.cuh"
#include "program_sweeps.cuh"

namespace graphla {

// --- products -----------------------------------------------------------------------------------

/// Computes a product with `push_product`. `u` and `out` identify the vectors (see `place_of`).
/// `form` and `call.frame` point to kernel parameters, which are constant and need not be copied.
/// Returns the number of grid barriers in the product.
template <class Op, int KEPT_A, int KEPT_U, bool IS_PRESET, class U, class Offset, class A,
          class Allowed, class Queueing>
DEVICE u32 push(const ProductForm<Offset, A> *form, const u64 *slots, u32 u, u32 out,
                const Allowed &allowed, const Queueing &queueing, const ProductCall &call) {
  Work work(call.grid, call.frame->arrays(), call.room, call.pulls);
  const ProductForm<Offset, A> a = *form;
  push_product<Op, KEPT_A, KEPT_U, IS_PRESET>(
      a, vector_at<U>(slots, u), vector_at<typename Op::Z>(slots, out), allowed, queueing, work);
  return work.barriers;
}
template <class Op, int KEPT_A, int KEPT_U, int HELD, class U, class Offset, class A, class Allowed,
          class Queueing>
DEVICE u32 pull(const ProductForm<Offset, A> *form, const u64 *slots, u32 u, u32 out,
                const Allowed &allowed, const Queueing &queueing, const ProductCall &call) {
  Work work(call.grid, call.frame->arrays(), call.room, call.pulls);
  const ProductForm<Offset, A> a = *form;
  pull_product<Op, KEPT_A, KEPT_U, HELD>(
      a, vector_at<U>(slots, u), vector_at<typename Op::Z>(slots, out), allowed, queueing, work);
  return work.barriers;
}
template <class Op, int KEPT_A, int KEPT_U, bool IS_PRESET, class U, class Offset, class A,
          class Allowed, class Queueing>
LINKED u32 called_push(const ProductForm<Offset, A> *form, const u64 *slots, u32 u, u32 out,
                       Allowed allowed, Queueing queueing, ProductCall call) {
  return push<Op, KEPT_A, KEPT_U, IS_PRESET, U>(form, slots, u, out, allowed, queueing, call);
}
template <class Op, int KEPT_A, int KEPT_U, int HELD, class U, class Offset, class A, class Allowed,
          class Queueing>
LINKED u32 called_pull(const ProductForm<Offset, A> *form, const u64 *slots, u32 u, u32 out,
                       Allowed allowed, Queueing queueing, ProductCall call) {
  return pull<Op, KEPT_A, KEPT_U, HELD, U>(form, slots, u, out, allowed, queueing, call);
}

// --- folds --------------------------------------------------------------------------------------

/// The monoid OR. When two vectors are compared, the terms say which pairs of elements differ, so
/// the fold is true if any pair differs.
struct Differs {
  typedef bool Z;
  static constexpr bool IS_ANY = false;
  static DEVICE Z identity() { return false; }
  static DEVICE Z add(Z x, Z y) { return x || y; }
};

/// Combines the partial folds of all threads of this block, and stores the result in the block's
/// two words of `partials`. Every thread must call this.
template <class Op> CALL void put_fold(u64 *partials, u64 *scratch, Fold<Op> fold) {
  const u32 warps = blockDim.x / WARP;
  u64 *const sums = scratch + SCRATCH_SUMS, *const has = sums + warps;
  fold = warp_fold(fold);
  __syncthreads();  // other threads may still be reading what the previous operation stored
  if (lane() == 0) {
    sums[warp_in_block()] = as_bits<u64>(fold.sum);
    has[warp_in_block()] = fold.has;
  }
  __syncthreads();
  if (threadIdx.x >= WARP) return;
  Fold<Op> mine;
  if (threadIdx.x < warps)
    mine = Fold<Op>(as_bits<typename Op::Z>(sums[threadIdx.x]), has[threadIdx.x] != 0);
  mine = warp_fold(mine);
  if (threadIdx.x == 0) {
    partials[2 * blockIdx.x] = as_bits<u64>(mine.sum);
    partials[2 * blockIdx.x + 1] = mine.has;
  }
}

/// Combines the folds of all blocks, in the order of the blocks. Every thread gets the result.
template <class Op> CALL Fold<Op> get_fold(const u64 *partials, u64 *scratch) {
  u64 *const shared = scratch + SCRATCH_SUMS;
  __syncthreads();  // other threads may still be reading what the previous operation stored
  if (threadIdx.x < WARP) {
    Fold<Op> all;
#pragma unroll 1
    for (u32 first = 0; first < gridDim.x; first += WARP) {
      Fold<Op> mine;
      const u32 block = first + threadIdx.x;
      if (block < gridDim.x) {
        mine = Fold<Op>(as_bits<typename Op::Z>(load_relaxed(&partials[2 * block])),
                        load_relaxed(&partials[2 * block + 1]) != 0);
      }
      all.append(warp_fold(mine));
    }
    if (threadIdx.x == 0) {
      shared[0] = as_bits<u64>(all.sum);
      shared[1] = all.has;
    }
  }
  __syncthreads();
  return Fold<Op>(as_bits<typename Op::Z>(shared[0]), shared[1] != 0);
}

// --- elements -----------------------------------------------------------------------------------

/// Sets v(i) = update(has, old), where `has` is true if v has an entry at i, and `old` is the value
/// of this entry, or 0. If the queue of v is valid and the entry is new, appends i to the queue and
/// adds degree(), the degree of i, to the counts.
template <class T, class Update, class Degree>
DEVICE void set_element(Vector<T> &v, u32 &place, i64 i, Update update, Degree degree) {
  const Counts *const old = renew(v, place);
  if (thread_in_grid() != 0) return;
  const bool has = v.present[i];
  v.values[i] = update(has, has ? v.values[i] : T(0));
  v.present[i] = true;
  Counts counts = {load_relaxed(&old->entries), load_relaxed(&old->queued),
                   load_relaxed(&old->edges)};
  if (!has) {
    if (v.queue && counts.queued == counts.entries) {
      v.queue[counts.queued++] = i32(i);
      counts.edges += degree();
    }
    ++counts.entries;
  }
  *v.counts = counts;
}

/// Deletes v(i).
template <class T> DEVICE void delete_element(Vector<T> &v, u32 &place, i64 i) {
  const Counts *const old = renew(v, place);
  if (thread_in_grid() != 0) return;
  const u64 entries = load_relaxed(&old->entries);
  Counts counts = {entries, load_relaxed(&old->queued), load_relaxed(&old->edges)};
  if (v.present[i]) counts = {entries - 1, 0, 0};
  v.present[i] = false;
  *v.counts = counts;
}

/// Appends the positions at which `present` is true to the array `queue`, and adds their number to
/// *queued.
CALL void list_flags(const bool *present, i32 *queue, u64 *queued, u32 n) {
#pragma unroll 1
  for (u32 base = u32(thread_in_grid() - lane()); base < n; base += u32(threads_in_grid())) {
    const u32 i = base + u32(lane());
    const bool has = i < n && present[i];
    const u32 all = __ballot_sync(ALL_LANES, has);
    u64 place = 0;
    if (lane() == 0 && all) place = atomicAdd(queued, u64(__popc(all)));
    place = shuffle(place, 0) + u64(__popc(all & ((1u << lane()) - 1)));
    if (has) queue[place] = i32(i);
  }
}

/// Lists all entries of v in its queue. The number of entries of v does not change.
template <class T> DEVICE void list_entries(Vector<T> &v, u32 &place, i64 n) {
  keep_count(v, renew(v, place));
  list_flags(v.present, v.queue, &v.counts->queued, u32(n));
}

// --- scatters -----------------------------------------------------------------------------------
// For each i with has(i), a scatter writes value(i) to out(place(i)). `out` is initially empty.

/// Returns whether `index` is a valid index of a vector of size n. As in Python, negative indices
/// count from the end.
template <class Index> DEVICE bool is_place(Index index, i64 n) {
  if constexpr (is_signed<Index>) return i64(index) >= -n && i64(index) < n;
  else return u64(index) < u64(n);
}
template <class Index> DEVICE i32 place_in(Index index, i64 n) {
  return is_signed<Index> && index < Index(0) ? i32(i64(index) + n) : i32(index);
}

/// Scatters to positions place(i) that must all be different; reports the fault `number` if a
/// position occurs twice. If `addressed` is not null, adds an entry to this vector at every
/// position place(i), even if has(i) is false.
template <class Place, class Has, class Value, class T>
DEVICE void scatter_once(Machine &machine, i64 n, Place place, Has has, Value value, Vector<T> &out,
                         Vector<bool> *addressed, u32 number) {
  i32 found = 0, all = 0;
#pragma unroll 1
  for (i64 i = thread_in_grid(); i < n; i += threads_in_grid()) {
    const i32 at = place(i);
    const bool has_entry = has(i);
    bool *const flags = addressed ? addressed->present : out.present;
    if (!claim_output(flags, at)) machine.report(number, at);
    ++all;
    if (!has_entry) continue;
    if (addressed) out.present[at] = true;
    out.values[at] = value(i);
    ++found;
  }
  if (addressed) machine.add(&out.counts->entries, found, &addressed->counts->entries, all);
  else machine.add(&out.counts->entries, found);
}

/// Prepares for `fold_positions`: creates an entry, with the monoid's identity as its value, at
/// each position to which a value will be added. Ends with a barrier. Returns whether the program
/// must end, as `Machine::meet` does.
template <class Op, class Place, class Has, class Value, class T>
DEVICE bool mark_positions(Machine &machine, i64 n, Place place, Has has, Value, Vector<T> &out) {
  i32 found = 0;
#pragma unroll 1
  for (i64 i = thread_in_grid(); i < n; i += threads_in_grid()) {
    const i32 at = place(i);
    if (!has(i) || load_relaxed(&out.present[at]) || !claim_output(out.present, at)) continue;
    out.values[at] = Op::identity();
    ++found;
  }
  machine.add(&out.counts->entries, found);
  return machine.meet();
}

/// Folds each value into the entry at its position. If IS_ORDERED is true, one thread folds all
/// values, in the order of i.
template <class Op, bool IS_ORDERED, class Place, class Has, class Value, class T>
DEVICE void fold_positions(Machine &, i64 n, Place place, Has has, Value value, Vector<T> &out) {
  if constexpr (IS_ORDERED) {
    if (thread_in_grid() != 0) return;
    for (i64 i = 0; i < n; ++i) {
      T *const at = &out.values[place(i)];
      if (has(i)) *at = Op::add(*at, value(i));
    }
  } else {
#pragma unroll 1
    for (i64 i = thread_in_grid(); i < n; i += threads_in_grid()) {
      if (has(i)) atomic_fold<Op>(&out.values[place(i)], value(i));
    }
  }
}

// --- start --------------------------------------------------------------------------------------

/// An input vector as the host stores it, described by five words. If `indices` is not null, the
/// vector is a list of `count` entries. Otherwise each position has a value, and `present`, unless
/// it is null, contains the presence flags. If the first word is IN_WORDS, the vector has at most
/// one entry, and the words contain this entry instead of addresses: the second word is the index,
/// and the third word the value.
template <class T> struct Input {
  const i32 *indices;
  const bool *present;
  const T *values;
  i64 step;  // stride of `values`: 0 if all entries have the first value, otherwise 1
  i64 count;
};

/// The value of the first word that describes an input (see `Input`) if the words themselves hold
/// its entry.
enum InputKind { IN_WORDS = 1 };

template <class T> DEVICE Input<T> input_at(const u64 *words) {
  if (words[0] == IN_WORDS)
    return {(const i32 *)&words[1], nullptr, (const T *)&words[2], 1, i64(words[4])};
  return {(const i32 *)words[0], (const bool *)words[1], (const T *)words[2], i64(words[3]),
          i64(words[4])};
}

CALL void clear_words(u64 *words, i64 count) {
#pragma unroll 1
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) words[k] = 0;
}

template <class T> DEVICE void fill(T *values, T value, i64 n) {
#pragma unroll 1
  for (i64 k = thread_in_grid(); k < n; k += threads_in_grid()) values[k] = value;
}

/// Clears the memory that must be zero when a launch starts. In the first launch of a program,
/// `is_first` is true; then this function also clears the flags and the counts of all vectors. A
/// barrier must follow.
DEVICE void clear_memory(const Frame &frame, bool is_first) {
  clear_words(frame.zeros, frame.zero_words);
  if (!is_first) return;
  clear_words(frame.flags, frame.flag_words);
  clear_words(frame.counts, frame.count_words);
}

/// Copies an input to a vector whose flags are all false, and counts its entries. `Word` is an
/// unsigned integer type of the size of a value. `words` describes the input, and `place` is the
/// place of the vector. If `indptr` is not null, it contains the offsets of the matrix lines that
/// later pushes of this vector read. In this case, and if the input is a list, adds the degrees of
/// the entries to the counts of the vector.
template <class Word, class Offset>
CALL void copy_input(const u64 *words, const u64 *slots, u32 place, u32 n, const Offset *indptr,
                     u64 *scratch) {
  const Input<Word> from = input_at<Word>(words);
  const Vector<Word> v = vector_at<Word>(slots, place);
  const u32 step = u32(from.step), count = u32(from.count);
  if (from.indices) {
    u64 edges = 0;
    spread(count, shift_of(v), [&](u32 k) {
      const i32 i = from.indices[k];
      v.present[i] = true;
      v.values[i] = from.values[k * step];
      if (v.queue) v.queue[k] = i;
      if (indptr) edges += degree_of(indptr, i);
    });
    if (indptr) add_sums(scratch, &v.counts->edges, edges);
    if (thread_in_grid() == 0) {
      v.counts->entries = count;
      v.counts->queued = v.queue ? count : 0;
    }
    return;
  }
  i32 found = 0;
#pragma unroll 1
  for (u32 i = u32(thread_in_grid()); i < n; i += u32(threads_in_grid())) {
    const bool is_there = !from.present || from.present[i];
    v.present[i] = is_there;
    if (is_there) v.values[i] = from.values[i * step];
    found += is_there;
  }
  add_sums(scratch, &v.counts->entries, found);
}

// --- stacks -------------------------------------------------------------------------------------

/// A list of vectors, its items. The entries of item k are the elements from ends[k - 1] to ends[k]
/// - 1 of `indices` and `values`, where ends[-1] stands for 0. The fields `length`, `top`, `lowest`
/// and `last` are equal in all threads.
template <class T> struct Stack {
  i32 *indices;
  T *values;
  i64 *ends;
  i64 room;    // capacity of `indices` and `values`, in entries
  i64 items;   // capacity of `ends`, in vectors
  i64 length;  // current number of vectors
  i64 top;     // number of entries
  i64 lowest;  // the minimum of `length` so far; items with smaller indices have never been removed
  i64 last;    // position of the first entry of the last item, loaded in advance

  DEVICE bool lacks_room(i64 entries) const { return top + entries > room || length == items; }
  // All threads read these words. Ordinary loads, which use the L1 cache, are faster than reads of
  // one word by all warps from the L2 cache (see `entries_of`).
  DEVICE i64 begin_of(i64 item) const { return item > 0 ? ends[item - 1] : 0; }
  DEVICE i64 end_of(i64 item) const { return ends[item]; }

  DEVICE i64 entries_of_item(i64 item) const {
    return item == length - 1 ? top - last : end_of(item) - begin_of(item);
  }

  /// Appends a copy of v. The queue of v must list all of its entries.
  DEVICE void append(const Vector<T> &v) {
    const i64 count = entries_of(v);
    // A sweep over v is often still running, and starts with the warps that shift_of(v) selects.
    // With a different shift, other warps copy the entries.
    spread(u32(count), shift_of(v) + 8, [&](u32 k) {
      const i32 i = v.queue[k];
      indices[top + k] = i;
      values[top + k] = v.values[i];
    });
    last = top;
    top += count;
    if (thread_in_grid() == 0) store_relaxed(&ends[length], top);
    ++length;
  }

  /// Copies an item to the empty vector v, and returns the item's number of entries. If
  /// COUNTS_EDGES is true, adds the sum of degree(i) over the indices i of the entries to the
  /// counts of v.
  template <bool COUNTS_EDGES, class Degree>
  DEVICE i64 copy_item(Machine &machine, i64 item, const Vector<T> &v, Degree degree) const {
    const bool is_last = item == length - 1;
    const i64 begin = is_last ? last : begin_of(item);
    const i64 count = (is_last ? top : end_of(item)) - begin;
    u64 edges = 0;
    const bool takes_part = spread(u32(count), shift_of(v), [&](u32 k) {
      const i32 i = indices[begin + k];
      v.present[i] = true;
      v.values[i] = values[begin + k];
      v.queue[k] = i;
      if constexpr (COUNTS_EDGES) edges += u64(degree(i));
    });
    if (thread_in_grid() == 0) v.counts->entries = v.counts->queued = u64(count);
    if (COUNTS_EDGES && takes_part) machine.add(&v.counts->edges, edges);
    return count;
  }

  DEVICE void clear() { length = top = lowest = last = 0; }

  /// Removes the last item, which has `count` entries.
  DEVICE void drop(i64 count) {
    --length;
    top -= count;
    last = begin_of(length - 1);
    lowest = length < lowest ? length : lowest;
  }
};

// --- converting the state to words and back -----------------------------------------------------

template <class T> DEVICE void put_vector(const Vector<T> &v, u64 *words) {
  words[0] = u64(v.values);
  words[1] = u64(v.present);
  words[2] = u64(v.queue);
  words[3] = u64(v.counts);
  words[4] = load_relaxed(&v.counts->entries);
}
template <class T> DEVICE Stack<T> stack_at(const u64 *words) {
  return {(i32 *)words[0],
          (T *)words[1],
          (i64 *)words[2],
          i64(words[3]),
          i64(words[4]),
          i64(words[5]),
          i64(words[6]),
          i64(words[7]),
          words[5] > 1 ? load_relaxed(&((i64 *)words[2])[words[5] - 2]) : 0};
}
template <class T> DEVICE void put_stack(const Stack<T> &stack, u64 *words) {
  words[0] = u64(stack.indices);
  words[1] = u64(stack.values);
  words[2] = u64(stack.ends);
  words[3] = u64(stack.room);
  words[4] = u64(stack.items);
  words[5] = u64(stack.length);
  words[6] = u64(stack.top);
  words[7] = u64(stack.lowest);
}

}  // namespace graphla
#endif
