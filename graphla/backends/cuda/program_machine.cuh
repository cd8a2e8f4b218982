// The state of a launch that runs a compiled loop: the words that host and kernel exchange,
// barriers, sums over all blocks, faults, the trace, and where vectors and their counts are stored.
//
// Counts: each vector has a ring of COUNT_RING records of counts. One of them is the current
// record, and the next one is zero. A step that changes the number of entries makes the next record
// the current one, and clears the record that follows it. Invariant: a barrier separates two such
// steps on the same vector. So a late thread can still read the previous record.
#ifndef GRAPHLA_PROGRAM_MACHINE
#define GRAPHLA_PROGRAM_MACHINE
#include "program_work.cuh"

namespace graphla {

/// COUNT_WORDS: size of a record of counts, in 8-byte words. COUNT_RING: number of records per
/// vector. The records of a vector are aligned to their total size.
enum CountShape { COUNT_WORDS = 4, COUNT_RING = 4 };

/// The words of `Launch::control` that compiled loops use. W_FAULT: 0 if no thread has found a
/// fault in a vector; otherwise ~(turn << 32 | number). Here `turn` identifies the step that found
/// the first fault (see `Machine::turns`), and `number` is the number of this fault. When the
/// program ends, the other words are the fields of `BadIndices` for this fault and all threads.
enum ProgramWord { W_FAULT = 1, W_HIGHEST = 2, W_LOWEST = 3, W_MISSING = 4 };

/// How a kernel ended, in addition to the values of `Status`. LACKS_ROOM: the memory of a stack is
/// full.
enum ProgramStatus { LACKS_ROOM = 3 };

/// The indices of the first words of a program's state. STATE_RESUME: where the next launch
/// resumes, which is 0 at the start of the program. If a launch ended because a stack was full,
/// this word is the number of the append that failed, and STATE_NEEDED is the number of entries to
/// append. STATE_FAULT: the number of a fault, or 0. STATE_LINE: the line at which the fault
/// occurred. STATE_EXIT: the number of the exit at which the program ended. But after the fault
/// INDEX_OUT_OF_RANGE, STATE_NEEDED is the index, and STATE_EXIT is the size of the vector. And
/// after a fault in a vector, STATE_NEEDED is `highest` or `missing`, and STATE_EXIT is `lowest`
/// (see `BadIndices`). STATE_PRODUCTS: the number of products so far.
enum StateWord {
  STATE_RESUME = 0,
  STATE_FAULT = 1,
  STATE_LINE = 2,
  STATE_EXIT = 3,
  STATE_NEEDED = 4,
  STATE_PRODUCTS = 5,
  STATE_HEADER = 8
};

/// The state of a program at the start of a launch: WORDS words. It is passed as a kernel argument,
/// so that the kernel need not load it from global memory.
template <int WORDS> struct State {
  u64 words[WORDS];
  DEVICE State() {}  // structs with a constructor are exempt from the simulator's comparison of
                     // fields with the host
};

/// The memory that a launch uses in addition to vectors and matrices.
struct Frame {
  u64 *state;     // words in host memory, to which the kernel writes the state when it ends
  u64 *partials;  // per fold: two arrays with two words per block, used alternately
  u64 *flags;     // the presence flags of all vectors; cleared at the start of the program
  u64 *counts;    // the counts of all vectors; cleared at the start of the program
  u64 *zeros;     // the part of `ProductArrays` that is cleared at the start of each launch
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

/// Stores the value of a variable in a word of shared memory. All threads of the block store equal
/// values in the same order, so the word is correct after the next barrier. This takes less time
/// than a branch that lets only one thread store.
template <class T> DEVICE void store_word(u64 *word, T value) {
#ifdef GRAPHLA_SIMULATOR
  if (threadIdx.x > 0) return;  // a sanitizer would report the stores of equal values as data races
#endif
  *word = as_bits<u64>(value);
}

// --- control ------------------------------------------------------------------------------------

// A function that is not inlined must not have a parameter that refers to a `Machine`, `Launch` or
// `Frame`. Such a reference would force the compiler to keep the whole struct in memory instead of
// registers, so that all other code would have to load the fields.

/// Where data begin in the shared memory `scratch`, as indices of words. SCRATCH_STOP: the
/// `StopFlag`, used by thread 0 of the grid. SCRATCH_COUNTERS: the addresses of up to MOST_ADDED
/// counters. SCRATCH_SUMS: one value per counter and warp.
enum ScratchWord { SCRATCH_STOP = 0, SCRATCH_COUNTERS = 4, SCRATCH_SUMS = 8, MOST_ADDED = 4 };

/// Waits at a barrier for all threads of the grid. Returns true if the program must end: if any
/// thread passed true as `leaves`, or if the host has asked the kernel to stop. This function
/// changes only its own copy of the grid. So the caller must call `follow` on the original
/// afterwards.
CALL bool meet_grid(Grid grid, bool leaves, u64 *scratch) {
  if (thread_in_grid() == 0) leaves = leaves || ((StopFlag *)(scratch + SCRATCH_STOP))->is_up();
  return grid.meet(leaves);
}

/// For each of `count` counters: adds up the values that the warps of this block have stored for
/// it, and adds the sum to the counter. Every thread of the block must call this, after a barrier
/// of the block.
CALL void add_stored(u64 *scratch, u32 count) {
  const u32 warps = blockDim.x / WARP;
#pragma unroll 1
  for (u32 k = u32(warp_in_block()); k < count; k += warps) {
    const u64 *const sums = scratch + SCRATCH_SUMS + k * warps;
    const u64 sum = warp_sum(u32(lane()) < warps ? sums[lane()] : u64(0));
    if (lane() == 0 && sum) atomicAdd((u64 *)scratch[SCRATCH_COUNTERS + k], sum);
  }
}

/// Returns the sum of `found` over the lanes of the warp. A warp can add 32-bit numbers with a
/// single instruction. So the overload for 64-bit values splits each value into two parts, and adds
/// them separately.
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

/// `pairs` are pairs of a counter and a value. Adds the sum of each value over the threads of the
/// block to its counter. Every thread of the block must call this. There are at most MOST_ADDED
/// pairs; a value is an i32, or a u64 below 2^47.
template <class... Pairs> DEVICE void add_sums(u64 *scratch, Pairs... pairs) {
  __syncthreads();  // other threads may still be reading what the previous operation stored
  store_sums<0>(scratch, pairs...);
  __syncthreads();
  add_stored(scratch, sizeof...(pairs) / 2);
}

/// The part of a launch's state that a product needs.
struct ProductCall {
  Grid grid;
  const Frame *frame;
  ProductRoom *room;
  u32 pulls;  // number of pulls so far; if this product is a pull, it is included
};

/// The indices that caused a fault: `highest` is the highest index that is not negative, -lowest is
/// the lowest negative index, and `missing` is the number of missing indices. A field is 0 if there
/// are no such indices.
struct BadIndices {
  u64 highest = 0, lowest = 0, missing = 0;

  template <class Index> DEVICE void add(Index index) {
    if (is_signed<Index> && index < Index(0)) lowest = greatest(lowest, 0 - u64(i64(index)));
    else highest = greatest(highest, u64(index));
  }
};

/// The state of a launch that is not part of the program's state: barriers, faults and the trace.
struct Machine {
  const Launch &launch;
  const Frame &frame;
  Grid grid;
  u64 *scratch;         // shared memory, see `ScratchWord`
  u32 turns = 0;        // number of the current step among the steps that check vectors for faults
  u32 products = 0;     // number of products so far
  u32 pulls = 0;        // number of products so far that were computed by pulls
  u32 idle = 0;         // number of calls of `idles`, which is one per backward jump
  u32 fault = 0;        // 0, or the fault of a scalar function (a `ScalarFault`)
  u32 line = 0;         // the source line at which the fault occurred
  bool is_bad = false;  // whether this thread has found a fault in a vector since the last barrier
  u64 first_fault = 0;  // the key of the first fault that this thread has reported (see `reports`)
  BadIndices bad;       // the indices that caused this fault in this thread
  u32 postponed = 0;    // number of sums that `add_postponed` must add
  bool is_in_use = true;  // whether threads may still be reading the sums in `scratch`

  /// `votes` points to two words of dynamic shared memory.
  DEVICE Machine(const Launch &of, const Frame &memory, u64 *shared, u32 *votes)
      : launch(of), frame(memory), grid(of, votes), scratch(shared) {
    if (thread_in_grid() == 0) *(StopFlag *)(scratch + SCRATCH_STOP) = StopFlag(of);
  }

  /// Waits for all threads of the grid. Returns whether the program must end, because the host has
  /// asked for it or a thread has found a fault in a vector.
  DEVICE bool meet() {
    add_postponed();
    is_in_use = false;
    const bool ends = meet_grid(grid, is_bad, scratch);
    grid.follow();
    is_bad = false;
    return ends;
  }

  /// The program calls this at each backward jump. In every 1024th call all threads meet at a
  /// barrier, so that the host can stop even a loop that contains no barriers. Returns whether the
  /// program must end.
  DEVICE bool idles() { return (++idle & 1023) == 0 && meet(); }

  /// Reports that an index causes a fault. `number` is the fault's position in the program's list
  /// of faults. If several threads report faults before the next barrier, the host receives the
  /// fault of the earliest step (see `turns`).
  template <class Index> DEVICE void report(u32 number, Index index) {
    if (reports(number)) bad.add(index);
  }
  /// Like `report`, but reports that an index is missing.
  DEVICE void report_missing(u32 number) {
    if (reports(number)) ++bad.missing;
  }
  /// Records a fault. Returns false if this thread has already reported a fault that precedes it.
  DEVICE bool reports(u32 number) {
    const u64 key = ~((u64(turns) << 32) | number);
    is_bad = true;
    if (key < first_fault) return false;
    if (key > first_fault) bad = BadIndices();
    first_fault = key;
    atomicMax(&launch.control[W_FAULT], key);
    return true;
  }

  /// Adds sums over all threads to counters (see `add_sums`). Either all threads of a block call
  /// this, or none does; a block that has nothing to add may omit the call.
  template <class... Pairs> DEVICE void add(Pairs... pairs) {
    add_postponed();
    add_sums(scratch, pairs...);
    is_in_use = true;
  }

  /// Like `add`, but only stores the sum of each warp. The next product, `add` or barrier adds the
  /// sums to their counters. So the warps that have nothing to add can start with the next product
  /// while the other warps are still working.
  template <class... Pairs> DEVICE void postpone(Pairs... pairs) {
    add_postponed();
    if (is_in_use) __syncthreads();
    store_sums<0>(scratch, pairs...);
    postponed = sizeof...(pairs) / 2;
  }
  /// Adds the sums that `postpone` has stored. If all threads of the block have passed a barrier of
  /// the block since then, pass true as `is_stored`. Every thread of the block must call this
  /// before other functions use the sums in `scratch`, and before the kernel ends.
  DEVICE void add_postponed(bool is_stored = false) {
    if (!postponed) return;
    if (!is_stored) __syncthreads();
    add_stored(scratch, postponed);
    postponed = 0;
    is_in_use = true;
  }

  /// To be called before a function that uses the sums in `scratch`.
  DEVICE void begin_fold() {
    add_postponed();
    is_in_use = true;
  }

  /// Returns the `ProductCall` of the next product. After this product, call `follow` with the
  /// number of grid barriers that the product contained.
  DEVICE ProductCall product_call(ProductRoom *room) const { return {grid, &frame, room, pulls}; }
  DEVICE void follow(u32 barriers) {
    for (u32 k = 0; k < barriers; ++k) grid.follow();
    add_postponed(true);  // each product contains a barrier of the block
  }

  /// Counts a product and, if there is a trace, adds a record of the product to it.
  template <class T> DEVICE void note(bool pushes, const Vector<T> &u, u64 entries) {
    if (frame.record_room && thread_in_grid() == 0) {
      const u64 edges = pushes ? u.counts->edges : entries;
      trace().add(i64(products), pushes ? 0 : 1, u.counts->entries, edges);
    }
    ++products;
    pulls += !pushes;
  }

  /// To be called if the program ended at a barrier. Returns the reason: FAULT if a thread found a
  /// fault in a vector, STOPPED if the host stopped the kernel.
  DEVICE u32 why() {
    const u64 found = load_relaxed(&launch.control[W_FAULT]);
    if (!found) return STOPPED;
    fault = u32(~found);
    if (found == first_fault) {
      atomicMax(&launch.control[W_HIGHEST], bad.highest);
      atomicMax(&launch.control[W_LOWEST], bad.lowest);
      atomicAdd(&launch.control[W_MISSING], bad.missing);
    }
    return FAULT;
  }

  /// Describes a fault that a thread has reported in the state of the program. The last block calls
  /// this.
  DEVICE void describe_fault(u64 *state) const {
    const u64 *const control = launch.control;
    state[STATE_NEEDED] = load_relaxed(&control[W_HIGHEST]) + load_relaxed(&control[W_MISSING]);
    state[STATE_EXIT] = load_relaxed(&control[W_LOWEST]);
  }

  /// Ends the trace. Returns the number of products.
  DEVICE u64 finish() const {
    if (frame.record_room) trace().add(i64(products), 0, 0, 0);
    return products;
  }

  DEVICE Records trace() const { return {frame.records, frame.record_room}; }

  /// Returns the array of `Frame::partials` that fold `number` uses in turn `turn`: two words per
  /// block.
  DEVICE u64 *partials(int number, u32 turn) const {
    return frame.partials + (2 * i64(number) + (turn & 1)) * 2 * gridDim.x;
  }
};

// A vector is identified by its *place*: the u32 `index` · COUNT_RING + `record`. Here `index` is
// the index of the vector's pointers in shared memory, and `record` is the index of its current
// record of counts. So a thread needs only one register per vector, and to exchange two vectors, it
// exchanges their places.

enum VectorWord { VECTOR_WORDS = 5 };
constexpr u64 RECORD_BYTES = 8 * COUNT_WORDS, RING_BYTES = RECORD_BYTES * COUNT_RING;

/// Returns the place of the vector whose pointers have the index `index` in `slots`.
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

/// Makes the next record of counts, which is zero, the current record of v, and clears the record
/// after it. Returns the old record. All threads must call this.
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

/// Adds the number of entries in an earlier record to the current record of v.
template <class T> DEVICE void keep_count(Vector<T> &v, const Counts *old) {
  if (thread_in_grid() == 0) atomicAdd(&v.counts->entries, load_relaxed(&old->entries));
}
/// In the first thread of the grid, returns the number of entries that an earlier record contains.
/// In all other threads, returns 0. A sweep adds the entries that each thread finds to this number.
/// With `keep_count` instead, the first thread could not start the sweep before the load from the
/// record is complete.
DEVICE i32 kept_count(const Counts *old) {
  return thread_in_grid() == 0 ? i32(load_relaxed(&old->entries)) : 0;
}
/// Like `keep_count`, for a sweep over the entries of v that may delete some of them. If the queue
/// was valid before the sweep, it stays valid as long as the sweep deletes no entry.
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

// All threads read the counts. These are ordinary loads, which use the L1 cache, because reading
// one word from the L2 cache with 4,000 warps takes 2.5 us. A grid barrier invalidates the L1
// cache, so the counts are up to date.
template <class T> DEVICE i64 entries_of(const Vector<T> &v) { return i64(v.counts->entries); }
template <class T> DEVICE bool is_listed(const Vector<T> &v) {
  return v.queue && v.counts->queued == v.counts->entries;
}

}  // namespace graphla
#endif
