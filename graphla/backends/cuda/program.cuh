// The library of compiled loops: sweeps over vectors, folds, stacks, and the scalar functions of
// Python. `program/cuda_text.py` prints the kernels that include this file.
//
// One cooperative launch runs a whole loop. All threads run the same control flow, each with its
// own copy of the scalars, which are equal in all threads. A vector is a struct of pointers, so an
// exchange of two vectors moves pointers only.
//
// Counts: each vector has a ring of COUNT_RING records of counts. A step that changes the number of
// entries first moves on to the next record, which is zero, and clears the one after it. Invariant:
// a barrier separates two such steps for one vector. So a thread that is late can still read the
// previous record.
#ifndef GRAPHLA_PROGRAM
#define GRAPHLA_PROGRAM
#include "program_products.cuh"
#include "program_scalars.cuh"

namespace graphla {

/// Number of 8-byte words that a record of counts takes, and number of records per vector. The
/// records of a vector are aligned to their total size.
enum CountShape { COUNT_WORDS = 4, COUNT_RING = 4 };

/// The words of `Launch::control` that compiled loops use. W_FAULT: 0, or the complement of the
/// turn and the number of the first fault that threads have found in a vector.
enum ProgramWord { W_FAULT = 1 };

/// How a kernel ended, besides `Status`. LACKS_ROOM: the memory of a stack is full.
enum ProgramStatus { LACKS_ROOM = 3 };

/// The first words of the state of a program. STATE_RESUME: 0 at the start, else the number of the
/// append at which the kernel goes on, which is also the one that lacks room for STATE_NEEDED
/// entries. STATE_FAULT and STATE_LINE: the fault. STATE_EXIT: the number of the exit. After the
/// fault INDEX_OUT_OF_RANGE, STATE_NEEDED has the index, and STATE_EXIT the size of the vector.
/// STATE_PRODUCTS: the number of products so far.
enum StateWord {
  STATE_RESUME = 0,
  STATE_FAULT = 1,
  STATE_LINE = 2,
  STATE_EXIT = 3,
  STATE_NEEDED = 4,
  STATE_PRODUCTS = 5,
  STATE_HEADER = 8
};

/// The state of a program at the start of a launch: WORDS words. It is an argument of the kernel,
/// so that reading it takes no time.
template <int WORDS> struct State {
  u64 words[WORDS];
  DEVICE State() {}  // so the simulator does not compare the fields with those of the host
};

/// The memory of a launch, besides vectors and matrices.
struct Frame {
  u64 *state;     // in host memory: the kernel stores the state here when it ends
  u64 *partials;  // for each fold: two arrays of two words per block
  u64 *flags;     // the presence flags of all vectors; cleared when the program starts
  u64 *counts;    // the counts of all vectors; cleared when the program starts
  u64 *zeros;     // the memory of `ProductArrays` that is cleared at each launch
  u64 *sums;      // see `ProductArrays`
  bool *has;
  u64 *records;  // see `Records`
  i64 flag_words, count_words, zero_words, record_room;

  DEVICE ProductArrays arrays() const { return {sums, has, (u32 *)zeros + 2, (u32 *)zeros}; }
};

DEVICE Counts *following(const Counts *counts) {
  constexpr u64 STEP = 8 * COUNT_WORDS, ALL = STEP * COUNT_RING;
  const u64 address = u64(counts);
  return (Counts *)((address & ~(ALL - 1)) | ((address + STEP) & (ALL - 1)));
}

template <class To, class From> DEVICE To as_bits(From x) {
  To bits = To(0);
  memcpy(&bits, &x, sizeof(From) < sizeof(To) ? sizeof(From) : sizeof(To));
  return bits;
}

/// Stores a variable in a word of shared memory. All threads of the block store equal values in the
/// same order, so the word has the right value when all of them have arrived at a barrier. A branch
/// would take longer than the stores.
template <class T> DEVICE void store_word(u64 *word, T value) {
#ifdef GRAPHLA_SIMULATOR
  if (threadIdx.x > 0) return;  // a sanitizer would report equal stores as races
#endif
  *word = as_bits<u64>(value);
}

// --- control ------------------------------------------------------------------------------------

// Functions that are compiled as calls get no reference to `Machine`, `Launch` or `Frame`: a struct
// whose address is taken is kept in memory, and all other code would read it from there.

/// The words of the shared memory `scratch`. SCRATCH_STOP: the `StopFlag` of thread 0.
/// SCRATCH_COUNTERS: the addresses of counters. SCRATCH_SUMS: up to MOST_ADDED values per warp.
enum ScratchWord { SCRATCH_STOP = 0, SCRATCH_COUNTERS = 4, SCRATCH_SUMS = 8, MOST_ADDED = 4 };

/// Waits for all threads, and stops the program if the host asks for it. Returns whether the
/// program must end. The caller then calls `follow` on its own copy of the grid.
CALL bool meet_grid(Grid grid, bool leaves, u64 *scratch) {
  if (thread_in_grid() == 0) leaves = leaves || ((StopFlag *)(scratch + SCRATCH_STOP))->is_up();
  return grid.meet(leaves);
}

/// Adds up the values that the warps have stored for each of `count` counters, and adds each sum to
/// its counter. Every thread of the block must call this.
CALL void add_stored(u64 *scratch, u32 count) {
  const u32 warps = blockDim.x / WARP;
  __syncthreads();
#pragma unroll 1
  for (u32 k = u32(warp_in_block()); k < count; k += warps) {
    const u64 *const sums = scratch + SCRATCH_SUMS + k * warps;
    const u64 sum = warp_sum(u32(lane()) < warps ? sums[lane()] : u64(0));
    if (lane() == 0 && sum) atomicAdd((u64 *)scratch[SCRATCH_COUNTERS + k], sum);
  }
}

/// Returns the sum of `found` over the warp. Sums of 32-bit numbers take one instruction.
DEVICE u64 sum_of_warp(i32 found) { return u64(i64(warp_sum(found))); }
DEVICE u64 sum_of_warp(u64 found) {
  const u64 low = warp_sum(u32(found & 0xffff)), high = warp_sum(u32(found >> 16));
  return low + (high << 16);
}

template <int K, class Found, class... More>
DEVICE void store_sums(u64 *scratch, u64 *counter, Found found, More... more) {
  const u64 sum = sum_of_warp(found);
  if (lane() == 0) scratch[SCRATCH_SUMS + K * (blockDim.x / WARP) + warp_in_block()] = sum;
  if (threadIdx.x == 0) scratch[SCRATCH_COUNTERS + K] = u64(counter);
  if constexpr (sizeof...(more) > 0) store_sums<K + 1>(scratch, more...);
}

/// Adds the sum of each value over the block to the counter that precedes it in `pairs`. Every
/// thread of the block must call this. There are at most MOST_ADDED pairs; a value is an i32, or a
/// u64 below 2^47.
template <class... Pairs> DEVICE void add_sums(u64 *scratch, Pairs... pairs) {
  __syncthreads();  // threads may still be reading `scratch` in the previous collective
  store_sums<0>(scratch, pairs...);
  add_stored(scratch, sizeof...(pairs) / 2);
}

/// What a product needs of the state of a launch.
struct ProductCall {
  Grid grid;
  const Frame *frame;
  ProductRoom *room;
  u32 pulls;  // number of pulls so far, including this product
};

/// The state of a launch that is not part of the program: barriers, faults and the trace.
struct Machine {
  const Launch &launch;
  const Frame &frame;
  Grid grid;
  u64 *scratch;         // shared memory, see `ScratchWord`
  u32 turns = 0;        // number of checks of vectors so far
  u32 products = 0;     // number of products so far
  u32 pulls = 0;        // number of products so far that were pulled
  u32 idle = 0;         // number of jumps back so far
  u32 fault = 0;        // the fault of a scalar function: 0, or a `ScalarFault`
  u32 line = 0;         // the line at which the fault occurred
  bool is_bad = false;  // whether this thread has found a fault in a vector since the last barrier

  /// `votes` are two words of dynamic shared memory.
  DEVICE Machine(const Launch &of, const Frame &memory, u64 *shared, u32 *votes)
      : launch(of), frame(memory), grid(of, votes), scratch(shared) {
    if (thread_in_grid() == 0) *(StopFlag *)(scratch + SCRATCH_STOP) = StopFlag(of);
  }

  /// Waits for all threads. Returns whether the program must end: the host asks for it, or a thread
  /// has found a fault in a vector.
  DEVICE bool meet() {
    const bool ends = meet_grid(grid, is_bad, scratch);
    grid.follow();
    is_bad = false;
    return ends;
  }

  /// Waits for all threads from time to time, so that a loop without barriers can be stopped.
  DEVICE bool idles() { return (++idle & 1023) == 0 && meet(); }

  /// Reports a fault in a vector: entry `number` of the program's list of faults. If several
  /// threads report faults before the next barrier, the first check counts.
  DEVICE void report(u32 number) {
    is_bad = true;
    atomicMax(&launch.control[W_FAULT], ~((u64(turns) << 32) | number));
  }

  /// Adds sums over all blocks to counters, see `add_sums`. Every thread must call this.
  template <class... Pairs> DEVICE void add(Pairs... pairs) { add_sums(scratch, pairs...); }

  /// Returns what a product needs. If it goes through barriers, `follow` must be called.
  DEVICE ProductCall product_call(ProductRoom *room) const { return {grid, &frame, room, pulls}; }
  DEVICE void follow(u32 barriers) {
    for (u32 k = 0; k < barriers; ++k) grid.follow();
  }

  /// Adds a record of a product to the trace.
  template <class T> DEVICE void note(bool pushes, const Vector<T> &u, u64 entries) {
    if (frame.record_room && thread_in_grid() == 0) {
      const u64 edges = pushes ? u.counts->edges : entries;
      trace().add(i64(products), pushes ? 0 : 1, u.counts->entries, edges);
    }
    ++products;
    pulls += !pushes;
  }

  /// Returns why a barrier has ended the program: a fault in a vector, or the host asked for it.
  DEVICE u32 why() {
    const u64 found = load_relaxed(&launch.control[W_FAULT]);
    if (found) fault = u32(~found);
    return found ? u32(FAULT) : u32(STOPPED);
  }

  /// Ends the trace. Returns the number of products.
  DEVICE u64 finish() const {
    if (frame.record_room) trace().add(i64(products), 0, 0, 0);
    return products;
  }

  DEVICE Records trace() const { return {frame.records, frame.record_room}; }

  /// Returns the words of fold `number` for each block.
  DEVICE u64 *partials(int number, u32 turn) const {
    return frame.partials + (2 * i64(number) + (turn & 1)) * 2 * gridDim.x;
  }
};

// A u32 tells where a vector is stored: the index of its pointers in shared memory, times
// COUNT_RING, plus the number of its current record of counts. So a thread keeps one register per
// slot, and an exchange of slots exchanges these numbers.

enum VectorWord { VECTOR_WORDS = 5 };
constexpr u64 RECORD_BYTES = 8 * COUNT_WORDS, RING_BYTES = RECORD_BYTES * COUNT_RING;

/// Returns the place of vector number `index`.
DEVICE u32 place_of(const u64 *slots, u32 index) {
  const u64 counts = slots[VECTOR_WORDS * index + 3];
  return COUNT_RING * index + u32(counts / RECORD_BYTES % COUNT_RING);
}
template <class T> DEVICE Vector<T> vector_at(const u64 *slots, u32 place) {
  const u64 *const words = slots + place / COUNT_RING * VECTOR_WORDS;
  const u64 counts = (words[3] & ~(RING_BYTES - 1)) + place % COUNT_RING * RECORD_BYTES;
  return {(T *)words[0], (bool *)words[1], (i32 *)words[2], (Counts *)counts};
}

DEVICE const bool *flags_at(const u64 *slots, u32 place) {
  return vector_at<u8>(slots, place).present;
}

DEVICE u32 next_place(u32 place) {
  return (place & ~u32(COUNT_RING - 1)) | ((place + 1) & u32(COUNT_RING - 1));
}

/// Moves on to the next record of counts, which is zero. Returns the old record. All threads must
/// call this.
template <class T> DEVICE const Counts *renew(Vector<T> &v, u32 &place) {
  const Counts *old = v.counts;
  v.counts = following(old);
  place = next_place(place);
  if (thread_in_grid() == 0) {
    Counts *after = following(v.counts);
    after->entries = after->queued = after->edges = 0;
  }
  return old;
}

/// Starts the record of counts of v at the number of entries in an earlier record.
template <class T> DEVICE void keep_count(Vector<T> &v, const Counts *old) {
  if (thread_in_grid() == 0) atomicAdd(&v.counts->entries, load_relaxed(&old->entries));
}
/// Returns the number of entries in an earlier record in the first thread, and 0 in the others. A
/// sweep starts its count from this number. With `keep_count`, the first thread would wait before
/// it starts the sweep.
DEVICE i32 kept_count(const Counts *old) {
  return thread_in_grid() == 0 ? i32(load_relaxed(&old->entries)) : 0;
}
/// Like `keep_count`, for a sweep over the entries of v, which may delete some of them. The queue
/// stays valid if it is valid, and no entry is deleted.
template <class T> DEVICE void keep_queue(Vector<T> &v, const Counts *old) {
  if (thread_in_grid() != 0) return;
  const u64 entries = load_relaxed(&old->entries), queued = load_relaxed(&old->queued);
  atomicAdd(&v.counts->entries, entries);
  if (queued != entries) return;
  v.counts->queued = queued;
  v.counts->edges = load_relaxed(&old->edges);
}
template <class T> DEVICE void set_count(Vector<T> &v, i64 entries) {
  if (thread_in_grid() == 0) v.counts->entries = u64(entries);
}

// All threads read the counts, so they use the cache of the multiprocessor: 4,000 warps that read
// one word of the L2 cache take 2.5 us. A barrier invalidates the cache.
template <class T> DEVICE i64 entries_of(const Vector<T> &v) { return i64(v.counts->entries); }
template <class T> DEVICE bool is_listed(const Vector<T> &v) {
  return v.queue && v.counts->queued == v.counts->entries;
}

// --- products -----------------------------------------------------------------------------------

/// Computes a product by pushes, as `push_product` does. `u` and `out` are places. The form and the
/// frame are arguments of the kernel, which are constant, so a call passes their addresses. Returns
/// the number of barriers that the product has gone through.
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

// --- sweeps -------------------------------------------------------------------------------------

/// The positions that a sweep visits: list[0..count), or 0..count if `list` is null. Positions are
/// below 2^31, so sums of a position and a few steps of the whole grid fit in a u32.
struct Span {
  const i32 *list;
  u32 count;
  u32 shift;  // see `shifted_warp`

  DEVICE i32 at(u32 k) const { return list ? list[k] : i32(k); }
};

/// Returns the number of a vector. Vectors whose counts are adjacent have consecutive numbers.
template <class T> DEVICE u32 number_of(const Vector<T> &v) {
  return u32(u64(v.counts) / RING_BYTES);
}

/// Returns the shift of the warps that visit the entries of v (see `shifted_warp`). Sweeps over
/// short lists of different vectors mostly begin at different warps, so that they overlap.
template <class T> DEVICE u32 shift_of(const Vector<T> &v) { return 5 * number_of(v); }

/// Like `spread_warp`, but warp w of a block gets the number of warp w + shift, modulo the number
/// of warps in a block, which is a power of two.
DEVICE u32 shifted_warp(u32 shift) {
  return ((u32(warp_in_block()) + shift) & (blockDim.x / WARP - 1)) * gridDim.x + blockIdx.x;
}

/// A sweep visits the entries in a queue if there are at most 1/SHORT as many as positions.
constexpr i64 SHORT_QUEUE = 8;

DEVICE Span all_of(i64 n) { return {nullptr, u32(n), 0}; }

/// Returns the entries of v if its queue lists them and is short, otherwise all positions. `counts`
/// has the value of *v.counts.
template <class T> DEVICE Span entries_or_all(const Vector<T> &v, const Counts &counts, i64 n) {
#ifdef GRAPHLA_ONE_CLUSTER
  // One position per thread takes no longer than reading the counts and the queue.
  if (n <= i64(threads_in_grid())) return all_of(n);
#endif
  const i64 entries = i64(counts.entries);
  if (v.queue && counts.queued == counts.entries && entries * SHORT_QUEUE <= n)
    return {v.queue, u32(entries), shift_of(v)};
  return all_of(n);
}

template <class Offset> DEVICE u64 degree_of(const Offset *indptr, i32 i) {
  return u64(indptr[i + 1] - indptr[i]);
}

/// Calls visit(k) for each k in 0..count-1. A short list is spread over all multiprocessors.
/// `shift` renumbers the warps (see `shifted_warp`). Returns whether this block took part.
template <class Visit> DEVICE bool spread(u32 count, u32 shift, Visit visit) {
  const u32 share = share_of(count, 1, WARP), step = warps_in_grid() * share;
#pragma unroll 1
  for (u32 base = shifted_warp(shift) * share; base < count; base += step) {
    if (u32(lane()) < share && base + u32(lane()) < count) visit(base + u32(lane()));
  }
  return blockIdx.x * share < count;
}

/// Deletes the entries of a vector at the positions of a span, given its presence flags. Words of
/// 16 bytes fit, because the flags are padded to a multiple of `ALIGNMENT` in program.py.
CALL void clear_flags(bool *present, Span span) {
  struct __align__(16) Wide {
    u64 words[2];
  };
  if (span.list) {
    spread(span.count, span.shift, [&](u32 k) { present[span.list[k]] = false; });
    return;
  }
  const u32 count = (span.count + 15) / 16;
#pragma unroll 1
  for (u32 k = u32(thread_in_grid()); k < count; k += u32(threads_in_grid()))
    ((Wide *)present)[k] = Wide{{0, 0}};
}

/// Returns how many positions a warp visits at a time. A short list is spread over all warps, so
/// that the loads of all multiprocessors overlap.
DEVICE u32 share_of(const Span &span) { return span.list ? share_of(span.count, 1, WARP) : WARP; }

/// Returns whether this block visits any position, or is the first one, which has the kept counts
/// (see `kept_count`).
DEVICE bool takes_part(const Span &span) {
  return blockIdx.x == 0 || blockIdx.x * share_of(span) < span.count;
}

/// Deletes the entries of a vector at the positions of a span, and sets their values to `identity`.
/// The positions are divided as in a sweep.
template <class T> DEVICE void reset_entries(const Vector<T> &v, Span span, T identity) {
  const u32 share = share_of(span), step = warps_in_grid() * share;
#pragma unroll 1
  for (u32 base = shifted_warp(span.shift) * share; base < span.count; base += step) {
    if (u32(lane()) >= share || base + u32(lane()) >= span.count) continue;
    const i32 i = span.at(base + u32(lane()));
    if (!span.list && !v.present[i]) continue;
    v.values[i] = identity;
    v.present[i] = false;
  }
}

/// The last argument of a sweep that lists no entries.
struct NoList {
  DEVICE void operator()(u32, u32) const {}
};

/// Visits each position of a span with one thread. A thread visits AHEAD positions at a time: it
/// first calls `flags` for all of them, then `values`, then `gather`, so that their loads overlap,
/// and then `run`. `run` returns at most 32 / AHEAD bits. They are passed to `list`, together with
/// the number of the position in the span. All lanes of a warp call `list` together; the bits of a
/// lane without a position are 0. Two sweeps over the same span divide the positions in the same
/// way.
template <class Row, int AHEAD, class Flags, class Values, class Gather, class Run, class List>
DEVICE void sweep(const Span &span, Flags flags, Values values, Gather gather, Run run, List list) {
  constexpr bool LISTS = !is_same<List, NoList>::value;
#ifdef GRAPHLA_SIMULATOR
  constexpr bool LOADS_ALL = false;  // a sanitizer would report the loads beyond the end as races
#else
  constexpr bool LOADS_ALL = true;
#endif
  const u32 share = share_of(span), step = warps_in_grid() * share;
  const bool is_idle = u32(lane()) >= share;
#pragma unroll 1
  for (u32 base = shifted_warp(span.shift) * share; base < span.count; base += AHEAD * step) {
    const u32 mine = base + u32(lane());
    const auto is_there = [&](int k) { return !is_idle && mine + k * step < span.count; };
    Row rows[AHEAD];
    i32 at[AHEAD];
    // Beyond the end, the loads repeat the last position, so that no branch separates them.
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) at[k] = span.at(least(mine + k * step, span.count - 1));
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (LOADS_ALL || is_there(k)) flags(at[k], rows[k]);
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (LOADS_ALL || is_there(k)) values(at[k], rows[k]);
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (LOADS_ALL || is_there(k)) gather(at[k], rows[k]);
    u32 bits = 0;
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      if (!is_there(k)) continue;
      const u32 found = run(at[k], rows[k]);
      if constexpr (LISTS) bits |= found << (k * (32 / AHEAD));
    }
    if constexpr (LISTS) {
      if (!__any_sync(ALL_LANES, bits)) continue;
#pragma unroll 1
      for (int k = 0; k < AHEAD; ++k)
        list(least(mine + k * step, span.count - 1), bits >> (k * (32 / AHEAD)));
    }
  }
}

/// Maximum number of entries that a warp lists in a sweep. If it finds more, the queue is not
/// valid.
constexpr u32 MOST_LISTED = 128;

/// The entries that a warp has listed in the queue of a vector, and the sum of their degrees.
struct Listed {
  u32 entries;
  u64 edges = 0;

  /// If the vector had many entries before, it probably has many again, and none is listed. `old`
  /// may still change; if only some warps list their entries, the queue is not valid.
  DEVICE Listed(const Counts *old, i64 n)
      : entries(i64(old->entries) * SHORT_QUEUE <= n ? 0 : MOST_LISTED + 1) {}

  /// Lists i if `is_new` is true. All lanes of the warp must call this.
  template <class T, class Degree>
  DEVICE void add(const Vector<T> &v, i32 i, bool is_new, Degree degree) {
    const u32 all = __ballot_sync(ALL_LANES, is_new);
    entries += u32(__popc(all));
    if (!all || entries > MOST_LISTED) return;
    if (is_new) edges += u64(degree(i));  // before the addition, so that the loads overlap with it
    u64 place = 0;
    if (lane() == 0) place = atomicAdd(&v.counts->queued, u64(__popc(all)));
    place = shuffle(place, 0) + u64(__popc(all & ((1u << lane()) - 1)));
    if (is_new) v.queue[place] = i;
  }

  /// Like `add`, for position `k` of a span. If the span is a list, all of its positions are new,
  /// so that the queue is a copy of the list.
  template <class T, class Degree>
  DEVICE void copy(const Vector<T> &v, const Span &span, u32 k, bool is_new, Degree degree) {
    if (!span.list) return add(v, i32(k), is_new, degree);
    if (is_new) v.queue[k] = span.list[k], edges += u64(degree(span.list[k]));
  }
  /// Sets the length of a copied queue. All threads must call this after the sweep.
  template <class T> DEVICE void finish_copy(const Vector<T> &v, const Span &span) const {
    if (span.list && thread_in_grid() == 0) v.counts->queued = span.count;
  }
};

/// Stores a flag that other threads may read at the same time (see `load_cached`).
DEVICE void store_flag(bool *flag, bool value) {
#ifdef GRAPHLA_SIMULATOR
  store_relaxed(flag, value);
#else
  *flag = value;
#endif
}

// --- folds --------------------------------------------------------------------------------------

/// The monoid of comparisons: whether any pair differs.
struct Differs {
  typedef bool Z;
  static constexpr bool IS_ANY = false;
  static DEVICE Z identity() { return false; }
  static DEVICE Z add(Z x, Z y) { return x || y; }
};

/// Stores the fold of the values of this block's threads in `partials`. Every thread must call
/// this.
template <class Op> CALL void put_fold(u64 *partials, u64 *scratch, Fold<Op> fold) {
  const u32 warps = blockDim.x / WARP;
  u64 *const sums = scratch + SCRATCH_SUMS, *const has = sums + warps;
  fold = warp_fold(fold);
  __syncthreads();  // threads may still be reading `scratch` in the previous collective
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

/// Returns the fold of all blocks' values, in the order of the blocks, to every thread.
template <class Op> CALL Fold<Op> get_fold(const u64 *partials, u64 *scratch) {
  u64 *const shared = scratch + SCRATCH_SUMS;
  __syncthreads();  // threads may still be reading `scratch` in the previous collective
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

/// Sets v(i) = update(has, old), where `has` is whether there is an entry, and `old` its value.
/// Appends i to the queue if the queue is valid; degree() is then the degree of i.
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

/// Appends the positions at which `present` is true to a queue.
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

/// Lists the entries of v in its queue. The number of entries does not change.
template <class T> DEVICE void list_entries(Vector<T> &v, u32 &place, i64 n) {
  keep_count(v, renew(v, place));
  list_flags(v.present, v.queue, &v.counts->queued, u32(n));
}

// --- scatters -----------------------------------------------------------------------------------
// For each i with has(i), value(i) is written to out(place(i)). `out` is empty at the start.

/// Returns whether `index` is in the range of the indices of a vector of size n. A negative index
/// counts from the end.
template <class Index> DEVICE bool is_place(Index index, i64 n) {
  if constexpr (is_signed<Index>) return i64(index) >= -n && i64(index) < n;
  else return u64(index) < u64(n);
}
template <class Index> DEVICE i32 place_in(Index index, i64 n) {
  return is_signed<Index> && index < Index(0) ? i32(i64(index) + n) : i32(index);
}

/// Scatters into different positions: if a position occurs twice, reports fault `number`. Each
/// position place(i) gets an entry in `addressed`, if that is not null.
template <class Place, class Has, class Value, class T>
DEVICE void scatter_once(Machine &machine, i64 n, Place place, Has has, Value value, Vector<T> &out,
                         Vector<bool> *addressed, u32 number) {
  i32 found = 0, all = 0;
#pragma unroll 1
  for (i64 i = thread_in_grid(); i < n; i += threads_in_grid()) {
    const i32 at = place(i);
    const bool has_entry = has(i);
    bool *const flags = addressed ? addressed->present : out.present;
    if (!claim_output(flags, at)) machine.report(number);
    ++all;
    if (!has_entry) continue;
    if (addressed) out.present[at] = true;
    out.values[at] = value(i);
    ++found;
  }
  if (addressed) machine.add(&out.counts->entries, found, &addressed->counts->entries, all);
  else machine.add(&out.counts->entries, found);
}

/// Marks the positions that `fold_positions` is about to fold into, and sets their values to the
/// identity. Ends with a barrier; returns whether the program must end.
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

/// Folds the values. If IS_ORDERED, one thread folds all of them, in order.
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

/// An input vector as the host stores it. If `indices` is not null, it is a list of `count`
/// entries. Otherwise each position has a value, and `present`, if not null, flags the entries.
/// If the word of `indices` is IN_WORDS, there is at most one entry, and the words hold it: the
/// word of `present` has its index, and the word of `values` its value.
template <class T> struct Input {
  const i32 *indices;
  const bool *present;
  const T *values;
  i64 step;  // 0 if all entries have the first value, otherwise 1
  i64 count;
};

/// A value of the word of `Input::indices` that is not an address.
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

/// Clears the memory that must be zero when a launch starts or, if `is_first`, when the program
/// starts. A barrier must follow.
DEVICE void clear_memory(const Frame &frame, bool is_first) {
  clear_words(frame.zeros, frame.zero_words);
  if (!is_first) return;
  clear_words(frame.flags, frame.flag_words);
  clear_words(frame.counts, frame.count_words);
}

/// Copies an input to a vector whose flags are all false, and counts its entries. The values are
/// copied as words of their size. `words` describe the input, and `place` is the place of the
/// vector. If the vector will be pushed, `indptr` has the offsets of the lines that the push reads;
/// the degrees of the listed entries are then added up.
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

/// A list of vectors. Item k has the entries from ends[k - 1] to ends[k] - 1 of two arrays, and
/// ends[-1] stands for 0. All threads have the same length, top, lowest and last.
template <class T> struct Stack {
  i32 *indices;
  T *values;
  i64 *ends;
  i64 room;    // number of entries that the arrays can hold
  i64 items;   // number of vectors that the array `ends` can hold
  i64 length;  // number of vectors
  i64 top;     // number of entries
  i64 lowest;  // the least `length` so far; the items before it are those of the start
  i64 last;    // where the last item begins; it is loaded in advance

  DEVICE bool lacks_room(i64 entries) const { return top + entries > room || length == items; }
  // All threads read these words, so they use the cache of the multiprocessor, as `entries_of`
  // does.
  DEVICE i64 begin_of(i64 item) const { return item > 0 ? ends[item - 1] : 0; }
  DEVICE i64 end_of(i64 item) const { return ends[item]; }

  DEVICE i64 entries_of_item(i64 item) const {
    return item == length - 1 ? top - last : end_of(item) - begin_of(item);
  }

  /// Appends a vector whose queue lists its entries.
  DEVICE void append(const Vector<T> &v) {
    const i64 count = entries_of(v);
    // This uses other warps than a sweep over v, which is often still running.
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

  /// Copies an item to an empty vector, and returns its number of entries. If COUNTS_EDGES is true,
  /// adds the sum of degree(i) over its entries i to the counts of v.
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

// --- the state in the words that host and kernel exchange ---------------------------------------

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
