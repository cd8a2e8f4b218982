// Persistent kernels: one launch runs a whole traversal. Its blocks wait for each other at
// barriers. The host can stop the kernel, and the kernel reports to the host when it ends.
//
// The launch is cooperative: every block of the grid is resident, so a block may wait for all other
// blocks. The host passes a `Launch` as the first argument of each persistent kernel. When a block
// ends, it calls `is_last_block`, and the last block calls `tell_host`.
//
// Invariant: all blocks go through the same barriers, and all of them leave the kernel at the same
// barrier.
#ifndef GRAPHLA_PERSISTENT
#define GRAPHLA_PERSISTENT
#include "cluster.cuh"
#include "collectives.cuh"

namespace graphla {

/// The state of a launch that the host passes to the kernel.
struct Launch {
  // Words in device memory. control[0] is the ticket counter of the barrier `Grid`. The other words
  // are zero when the launch starts, and each kernel may use them for any purpose.
  u64 *control;
  u64 *host;     // words in host memory through which host and GPU communicate (see `Host`)
  i64 patience;  // clock ticks between two reads of the word HOST_STOP
  u32 tickets;   // value of the ticket counter control[0] when the launch starts
  u32 number;    // identifies the launch; it is part of each word that the kernel reports to the
                 // host
};

/// The indices of the words of `Launch::host`. The host writes the word HOST_STOP, and the GPU
/// writes all other words.
enum Host { HOST_STOP = 0, HOST_STATUS = 1, HOST_RESULTS = 2, HOST_WORDS = 16 };

/// Number of words of `Launch::control`.
enum ControlShape { CONTROL_WORDS = 64 };

/// The value of HOST_STATUS, which says how a traversal ended. A kernel may define further values,
/// starting at FAULT.
enum Status { FINISHED = 0, STOPPED = 1, FAULT = 2 };

/// Returns the time in nanoseconds, read from a clock that all blocks share.
DEVICE u64 nanoseconds() {
#ifdef GRAPHLA_SIMULATOR
  return u64(clock64());
#else
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#endif
}

#ifdef GRAPHLA_SIMULATOR
/// Loads *at with acquire semantics: after the load, the thread sees everything that other blocks
/// stored before they wrote the loaded value with `add_released`. The load also invalidates stale
/// lines in the L1 cache of this multiprocessor.
DEVICE u64 load_acquired(const u64 *at) {
  const u64 value = load_relaxed(at);
  __threadfence();
  return value;
}
/// Adds `value` to *at with release semantics: a thread that reads the sum with `load_acquired`
/// also sees everything that this block stored before the addition.
DEVICE void add_released(u64 *at, u64 value) {
  __threadfence();
  atomicAdd(at, value);
}
#else
DEVICE void add_released(u64 *at, u64 value) {
  asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}
DEVICE u64 load_acquired(const u64 *at) {
  u64 value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}
#endif

#ifndef GRAPHLA_ONE_CLUSTER
/// A barrier for all blocks, at which the blocks also vote on whether to leave the kernel.
///
/// At each barrier a block takes a ticket, and waits until all blocks have taken one. The upper
/// half of the 64-bit word `*word` counts tickets, and may wrap around. The lower half has two
/// 16-bit fields that count the votes to leave: barriers with even numbers use one field, and
/// barriers with odd numbers use the other field. A late block can still read the votes of its own
/// barrier, because other blocks are at most one barrier ahead, and vote in the other field there.
/// The fields are never reset, because all blocks leave after the first barrier with a vote.
struct Grid {
  u64 *word;
  // The value of the ticket counter at which the last barrier that this block entered is complete.
  // Before the first barrier, `due` is the value of the counter at the start of the launch.
  u32 due;
  u32 turn;

  DEVICE explicit Grid(u64 *control) : word(control), due(0), turn(0) {}
  DEVICE explicit Grid(const Launch &launch) : word(launch.control), due(launch.tickets), turn(0) {}
  DEVICE Grid(const Launch &launch, u32 *) : Grid(launch) {}

  /// Sets `due` to the value of the ticket counter at the start of the launch. All threads must
  /// call this before the first barrier.
  DEVICE void begin(u32 tickets) { due = tickets; }

  /// Waits for all threads of all blocks. Returns whether any of them voted to leave.
  DEVICE bool meet(bool leaves = false) {
    arrive(leaves);
    return wait();
  }

  /// Enters a barrier without waiting for the other blocks: makes the stores of this block visible
  /// to the other blocks, and counts this block's vote. `wait` must follow.
  DEVICE void arrive(bool leaves = false) {
    leaves = __syncthreads_or(leaves);
    due += gridDim.x;
    if (threadIdx.x == 0) add_released(word, (u64(1) << 32) | (leaves ? vote() : 0));
  }

  /// Waits until all blocks have called `arrive`, so that the stores of the other blocks are
  /// visible. Returns whether any block has voted to leave.
  DEVICE bool wait() {
    bool leaves = false;
    if (threadIdx.x == 0) {
      u64 seen = load_acquired(word);
      for (int polls = 0; i32(u32(seen >> 32) - due) < 0; ++polls) {
        // After EAGER polls, poll less often: the wait will probably be long, because one block
        // works alone while the others wait.
        __nanosleep(polls < EAGER ? 0 : 500);
        seen = load_acquired(word);
      }
      leaves = (seen & (vote() * 0xffffu)) != 0;
    }
    ++turn;
    return __syncthreads_or(leaves);
  }

  /// Must be called after a barrier at which the threads used a copy of this struct: makes the
  /// original equal to this copy.
  DEVICE void follow() {
    due += gridDim.x;
    ++turn;
  }

  static constexpr int EAGER = 1024;
  DEVICE u64 vote() const { return turn & 1 ? u64(1) << 16 : u64(1); }
};
#else
/// Replaces the struct above if the grid is one cluster of GRAPHLA_ONE_CLUSTER blocks. A barrier of
/// a cluster takes about a third of the time of a grid barrier.
///
/// A block votes to leave by setting a word in the shared memory of every block. Barriers use two
/// words alternately, so a late block can still read the votes of its own barrier.
struct Grid {
  static constexpr int SIZE = GRAPHLA_ONE_CLUSTER;
  u64 *word;
  u32 due;  // the ticket counter at the start of the launch; only `is_last_block` increments it
  u32 turn;
  u32 *votes;

  /// `memory` points to two words of dynamic shared memory. All threads must call this.
  DEVICE Grid(const Launch &launch, u32 *memory)
      : word(launch.control), due(launch.tickets), turn(0), votes(memory) {
    if (threadIdx.x < 2) store_relaxed(&votes[threadIdx.x], 0u);
    cluster_meet<SIZE>();
  }

  /// Waits for all threads of all blocks. Returns whether any of them voted to leave.
  DEVICE bool meet(bool leaves = false) {
    if (leaves) {
      for (u32 block = 0; block < u32(SIZE); ++block)
        store_relaxed(in_block<SIZE>(&votes[turn & 1], block), 1u);
    }
    cluster_meet<SIZE>();
    return load_relaxed(&votes[turn++ & 1]) != 0;
  }

  /// Must be called after a barrier at which the threads used a copy of this struct: makes the
  /// original equal to this copy.
  DEVICE void follow() { ++turn; }
};
#endif

/// Reads the word in host memory through which the host asks the kernel to stop. Reads it at most
/// once per `patience` clock ticks. Only one thread may use this struct.
struct StopFlag {
  const u64 *host;
  i64 patience, due;

  DEVICE StopFlag(const u64 *words, i64 ticks)
      : host(words), patience(ticks), due(clock64() + ticks) {}
  DEVICE explicit StopFlag(const Launch &launch) : StopFlag(launch.host, launch.patience) {}

  /// Returns whether the host has asked the kernel to stop. If fewer than `patience` clock ticks
  /// have passed since the last read of the stop word, returns false without reading it. After a
  /// call has returned true, all later calls return true.
  DEVICE bool is_up() {
    const i64 now = clock64();
    if (now < due) return false;
    const bool wishes = load_relaxed(&host[HOST_STOP]) != 0;
    if (!wishes) due = now + patience;
    return wishes;
  }
};

/// The trace of a traversal: for each of the first `room` levels, a record of 4 words (direction,
/// size of the frontier, number of edges, start time).
struct Records {
  u64 *at;
  i64 room;

  /// Adds a record of level `level`, which begins now. Only one thread calls this.
  DEVICE void add(i64 level, u64 direction, u64 frontier, u64 edges) const {
    add(level, direction, frontier, edges, nanoseconds());
  }
  /// Adds a record of a level that began earlier, at the time `began`.
  DEVICE void add(i64 level, u64 direction, u64 frontier, u64 edges, u64 began) const {
    if (level >= room) return;
    u64 *record = at + 4 * level;
    record[0] = direction;
    record[1] = frontier;
    record[2] = edges;
    record[3] = began;
  }
};

/// Returns whether this block is the last block to call this function. The last block sees
/// everything that the other blocks stored before their calls. Every thread of every block must
/// call this once, after the last barrier.
DEVICE bool is_last_block(const Grid &grid) {
  __syncthreads();
  bool is_last = false;
  if (threadIdx.x == 0) {
    __threadfence();
    const u64 before = atomicAdd(grid.word, u64(1) << 32);
    is_last = u32(before >> 32) + 1 == grid.due + gridDim.x;
    __threadfence();
  }
  return __syncthreads_or(is_last);
}

/// Writes `value` to word k of the report that the host reads. Only one thread calls this. The
/// words may arrive in any order. The high half of each word is the number of the launch. It tells
/// the host which words of this launch have arrived.
DEVICE void tell_host(u64 *host, u32 launch, int k, u32 value) {
  store_relaxed(&host[k], (u64(launch) << 32) | value);
}
DEVICE void tell_host(const Launch &launch, int k, u32 value) {
  tell_host(launch.host, launch.number, k, value);
}

}  // namespace graphla
#endif
