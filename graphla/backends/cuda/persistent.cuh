// Persistent kernels: one launch runs a whole traversal. Its blocks wait for each other at
// barriers, the host can stop the kernel, and the kernel reports to the host when it ends.
//
// The launch is cooperative: every block of the grid is resident, so a block may wait for all
// others. The first parameter of each persistent kernel is a `Launch`. When a block ends, it calls
// `is_last_block`, and the last block calls `tell_host`.
//
// Invariant: all blocks execute the same barriers, and leave at the same one.
#ifndef GRAPHLA_PERSISTENT
#define GRAPHLA_PERSISTENT
#include "collectives.cuh"

namespace graphla {

/// The state of a launch that the host passes to the kernel.
struct Launch {
  u64 *control;  // device memory: control[0] counts tickets; the kernel uses the other words,
                 // initially zero
  u64 *host;     // host memory that the card reads and writes: see `Host`
  i64 patience;  // clock ticks between two reads of the host's stop word
  u32 tickets;   // value of control[0] at the start
  u32 number;    // number of the launch, stored in each word that the kernel reports to the host
};

/// The words of `Launch::host`. The host writes HOST_STOP, and the card writes all others.
enum Host { HOST_STOP = 0, HOST_STATUS = 1, HOST_RESULTS = 2, HOST_WORDS = 16 };

/// Number of words of `Launch::control`.
enum ControlShape { CONTROL_WORDS = 64 };

/// The value of HOST_STATUS, which says how a traversal ended. A kernel may define further values,
/// starting at FAULT.
enum Status { FINISHED = 0, STOPPED = 1, FAULT = 2 };

/// Returns the time on the card's clock in nanoseconds.
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
/// Loads *at with acquire semantics: afterwards the thread sees everything that was stored before
/// that value. The load also invalidates stale lines of this block's cache.
DEVICE u64 load_acquired(const u64 *at) {
  const u64 value = load_relaxed(at);
  __threadfence();
  return value;
}
/// Adds to *at with release semantics: a thread that sees the sum also sees everything that this
/// block stored before.
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

/// A barrier for all blocks, which also lets them vote to leave.
///
/// At each barrier a block takes a ticket, and waits until all blocks have taken one. The upper
/// half of one word counts tickets, and may wrap around. The lower half counts votes: in one field
/// at barriers with even numbers, in another at barriers with odd numbers. So a block that is late
/// can still read the votes of its own barrier: other blocks can be ahead by at most one barrier,
/// whose votes are in the other field.
struct Grid {
  u64 *word;
  u32 due;  // the value of the ticket counter at the end of the next barrier
  u32 turn;

  DEVICE explicit Grid(u64 *control) : word(control), due(0), turn(0) {}
  DEVICE explicit Grid(const Launch &launch) : word(launch.control), due(launch.tickets), turn(0) {}

  /// Sets the value of the ticket counter at the launch. All threads must call this before the
  /// first barrier.
  DEVICE void begin(u32 tickets) { due = tickets; }

  /// Waits for all threads of all blocks. Returns whether any of them votes to leave.
  DEVICE bool meet(bool leaves = false) {
    arrive(leaves);
    return wait();
  }

  /// Runs the first half of `meet`, which makes the stores of this block visible to other blocks.
  DEVICE void arrive(bool leaves = false) {
    leaves = __syncthreads_or(leaves);
    due += gridDim.x;
    if (threadIdx.x == 0) add_released(word, (u64(1) << 32) | (leaves ? vote() : 0));
  }

  /// Runs the second half of `meet`, which waits until the stores of the other blocks are visible.
  DEVICE bool wait() {
    bool leaves = false;
    if (threadIdx.x == 0) {
      u64 seen = load_acquired(word);
      for (int polls = 0; i32(u32(seen >> 32) - due) < 0; ++polls) {
        __nanosleep(polls < EAGER ? 0 : 500);  // a long wait means that one block works alone
        seen = load_acquired(word);
      }
      leaves = (seen & (vote() * 0xffffu)) != 0;
    }
    ++turn;
    return __syncthreads_or(leaves);
  }

  static constexpr int EAGER = 1024;
  DEVICE u64 vote() const { return turn & 1 ? u64(1) << 16 : u64(1); }
};

/// Polls the host's stop word, at most once per `patience` clock ticks. Only one thread uses it.
struct StopFlag {
  const u64 *host;
  i64 patience, due;

  DEVICE StopFlag(const u64 *words, i64 ticks)
      : host(words), patience(ticks), due(clock64() + ticks) {}
  DEVICE explicit StopFlag(const Launch &launch) : StopFlag(launch.host, launch.patience) {}

  /// Returns whether the host has asked the kernel to stop, according to the last poll. Once true,
  /// the result remains true.
  DEVICE bool is_up() {
    const i64 now = clock64();
    if (now < due) return false;
    const bool wishes = load_relaxed(&host[HOST_STOP]) != 0;
    if (!wishes) due = now + patience;
    return wishes;
  }
};

/// Records of the first `room` levels of a traced launch, with 4 words per level.
struct Records {
  u64 *at;
  i64 room;

  /// Adds a record when level `level` begins. One thread calls this.
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

/// Returns whether this block is the last to arrive. The last block sees everything that the others
/// stored before they arrived. Every thread of every block must call this once, after the last
/// barrier.
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

/// Writes word k of the launch's report to the host. One thread calls this. Each word contains the
/// number of the launch, so words may arrive in any order: the host waits for all of them.
DEVICE void tell_host(u64 *host, u32 launch, int k, u32 value) {
  store_relaxed(&host[k], (u64(launch) << 32) | value);
}
DEVICE void tell_host(const Launch &launch, int k, u32 value) {
  tell_host(launch.host, launch.number, k, value);
}

}  // namespace graphla
#endif
