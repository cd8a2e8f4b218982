// Runs a grid of threads as fibers of one OS thread, in a random order drawn from a seed.
//
// Blocks start in a random order. A cooperative launch runs all blocks at the same time. Any
// other launch runs only a few at a time. A fiber runs until it waits at a barrier, at a collective
// of its warp, in __nanosleep or, sometimes, at an atomic. If no fiber can continue, the runtime
// reports a fault with the reason.
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "simulator.h"
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

#if defined(__x86_64__) && !defined(SIMULATOR_UCONTEXT)
// Our own code switches between fibers, because swapcontext makes a system call and is 10 times
// slower.
#define SIMULATOR_SWITCH
#else
#include <ucontext.h>
#endif
#ifdef SIMULATOR_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SIMULATOR_TSAN
#include <sanitizer/tsan_interface.h>
#endif

using namespace simulator;

#ifndef SIMULATOR_VERSION
#define SIMULATOR_VERSION simulator_version
#endif

namespace {

// --- switching fibers ----------------------------------------------------------------------------

#if defined(SIMULATOR_ASAN) || defined(SIMULATOR_TSAN)
constexpr size_t stack_bytes = 256 << 10;  // large, because sanitizers need large stack frames
#else
constexpr size_t stack_bytes = 64 << 10;
#endif
constexpr size_t page = 4096;

struct Context {
#ifdef SIMULATOR_SWITCH
  void *stack_pointer = nullptr;
#else
  ucontext_t machine;
#endif
  void *fake_stack = nullptr;  // used by the address sanitizer
  void *fiber = nullptr;       // used by the thread sanitizer
  char *bottom = nullptr;
  size_t size = 0;
};

#ifdef SIMULATOR_SWITCH
extern "C" void simulator_switch(void **save, void *load);
asm(R"(
.text
.globl simulator_switch
.hidden simulator_switch
.type simulator_switch, @function
simulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size simulator_switch, .-simulator_switch
)");
#endif

void prepare(Context &context, char *bottom, void (*entry)()) {
  context.bottom = bottom;
  context.size = stack_bytes;
  context.fake_stack = nullptr;
#ifdef SIMULATOR_SWITCH
  // If all stacks began at the same offset of a page, they would compete for few cache lines.
  const size_t color = reinterpret_cast<size_t>(bottom) / (stack_bytes + page) * 7 % 48 * 64;
  void **top = reinterpret_cast<void **>(bottom + stack_bytes - color);
  // The return address of `entry`. It is not used, because `entry` never returns, but it keeps the
  // stack aligned.
  *--top = nullptr;
  *--top = reinterpret_cast<void *>(entry);
  for (int i = 0; i < 6; i++) *--top = nullptr;
  context.stack_pointer = top;
#else
  getcontext(&context.machine);
  context.machine.uc_stack.ss_sp = bottom;
  context.machine.uc_stack.ss_size = stack_bytes;
  context.machine.uc_link = nullptr;
  makecontext(&context.machine, entry, 0);
#endif
}

void change(Context &from, Context &to, bool leaves_for_good = false) {
#ifdef SIMULATOR_ASAN
  __sanitizer_start_switch_fiber(leaves_for_good ? nullptr : &from.fake_stack, to.bottom, to.size);
#endif
#ifdef SIMULATOR_TSAN
  __tsan_switch_to_fiber(to.fiber, __tsan_switch_to_fiber_no_sync);
#endif
  (void)leaves_for_good;
#ifdef SIMULATOR_SWITCH
  simulator_switch(&from.stack_pointer, to.stack_pointer);
#else
  swapcontext(&from.machine, &to.machine);
#endif
#ifdef SIMULATOR_ASAN
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

// --- launch state --------------------------------------------------------------------------------

enum State { NEW, READY, AT_BARRIER, AT_CLUSTER, AT_COLLECTIVE, AT_ACTIVEMASK, DONE };

struct Block;

struct Fiber : Thread {
  Context context;
  Block *home;
  unsigned index;  // linear index in the block; x varies fastest
  State state;
  int kind, argument, width;  // describe the barrier or the warp collective that the fiber waits at
  unsigned mask;
  uint64_t value, result;
  const char *file;
  int line;
};

struct SharedArray {
  const void *key;
  void *memory;
};

struct Warp {
  unsigned waiting = 0, done = 0;  // masks of lanes that wait at a collective or have ended
  bool alike = true;  // whether the lanes that wait are all waiting at the same collective
  int kind = 0;
  unsigned mask = 0;
};

struct Block {
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  std::vector<SharedArray> shared;
  void *dynamic = nullptr;
  size_t shared_bytes = 0;
  uint64_t number = 0;  // linear index of the block in the grid
  unsigned live = 0, at_barrier = 0, at_cluster = 0;
  unsigned phase = 0;
  // The thread sanitizer sees tokens[0] as the barrier in even phases, tokens[1] in odd phases.
  char tokens[2];
};

struct Launch {
  const char *kernel;
  unsigned grid[3], block[3];
  uint64_t dynamic_bytes, shared_limit;
  uint64_t seed;
  uint64_t resident;  // number of blocks that run at the same time
  void (*entry)(void **);
  void **arguments;
  double timeout;
};

struct Cluster {  // consecutive blocks with a common barrier
  unsigned phase = 0;
  char tokens[2];
};

Launch launch;
Context scheduler;
std::vector<char *> free_stacks;
std::vector<std::unique_ptr<Block>> blocks;
std::map<uint64_t, Block *> working;  // the blocks that are running, keyed by their `number`
std::vector<char> ended;              // whether each block has ended, indexed by number
std::vector<Cluster> clusters;
unsigned cluster_size;  // blocks per cluster; 0 until the kernel has declared it
std::vector<Fiber *> ready;
std::string message;
bool failed;
uint64_t sleeps;          // number of sleeps since something last changed
uint64_t unstarted;       // number of blocks not yet started
uint64_t schedule_state;  // state of the random number generator
int bias;
#ifdef SIMULATOR_TSAN
char start_token, end_token;
// Sanitizer fibers are slow to create, so each fiber and its stack are kept for later launches.
// Within a launch, each thread of the kernel gets its own fiber until `most_fibers` fibers exist.
std::vector<Context> kept, spare;
size_t made;
constexpr size_t most_fibers = 4000;  // the sanitizer supports 8,128 threads at the same time
#endif

/// While an instance exists, the thread sanitizer attributes the current work, such as allocations
/// of the simulator, to the scheduler and not to a thread of the kernel.
struct NotTheKernel {
#ifdef SIMULATOR_TSAN
  void *const before = __tsan_get_current_fiber();
  NotTheKernel() { __tsan_switch_to_fiber(scheduler.fiber, __tsan_switch_to_fiber_no_sync); }
  ~NotTheKernel() { __tsan_switch_to_fiber(before, __tsan_switch_to_fiber_no_sync); }
#else
  NotTheKernel() {}
#endif
};

Fiber *self() { return static_cast<Fiber *>(simulator_current); }

uint64_t draw() {  // xorshift64*
  schedule_state ^= schedule_state >> 12;
  schedule_state ^= schedule_state << 25;
  schedule_state ^= schedule_state >> 27;
  return schedule_state * 2685821657736338717ull;
}
unsigned below(uint64_t n) { return unsigned((draw() >> 32) * n >> 32); }

void something_changed() { sleeps = simulator_idle = 0; }

void append(std::string &text, const char *format, ...) {
  char line[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

const char *const barrier_names[] = {"__syncthreads", "__syncthreads_or", "__syncthreads_and",
                                     "__syncthreads_count"};
const char *const collective_names[] = {
    "__syncwarp",    "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync",
    "__ballot_sync", "__any_sync",  "__all_sync",     "__match_any_sync", "__reduce_add_sync"};

std::string name_of(const Fiber *f) {
  std::string text;
  append(text, "block (%u, %u, %u), thread (%u, %u, %u)", f->block.x, f->block.y, f->block.z,
         f->thread.x, f->thread.y, f->thread.z);
  return text;
}

/// Ends the launch with a fault. It does not return if a fiber calls it.
void fault(const std::string &what) {
  if (!failed) message = std::string(launch.kernel) + ": " + what;
  failed = true;
  if (Fiber *f = self()) {
    simulator_current = nullptr;
    change(f->context, scheduler, true);
    __builtin_unreachable();
  }
}

void park() {
  Fiber *f = self();
  change(f->context, scheduler);
}

void make_ready(Fiber *f) {
  f->state = READY;
  ready.push_back(f);
}

// --- waiting threads -----------------------------------------------------------------------------

std::string place_of(const Fiber *f) {
  std::string text;
  switch (f->state) {
    case AT_BARRIER: append(text, "%s", barrier_names[f->kind]); break;
    case AT_CLUSTER: text = "the barrier of a cluster"; break;
    case AT_COLLECTIVE:
      append(text, "%s with mask 0x%08x", collective_names[f->kind], f->mask);
      break;
    case AT_ACTIVEMASK: return "__activemask";
    default: return "nothing";
  }
  append(text, " (%s:%d)", f->file, f->line);
  return text;
}

/// Returns the source locations where threads wait, each with its number of threads.
std::string waiting() {
  std::map<std::string, std::pair<const Fiber *, unsigned>> places;
  for (auto &block : blocks)
    for (Fiber &f : block->fibers)
      if (f.state == AT_BARRIER || f.state == AT_CLUSTER || f.state == AT_COLLECTIVE ||
          f.state == READY) {
        std::string place;
        if (f.state == READY) append(place, "__nanosleep or an atomic (%s:%d)", f.file, f.line);
        else place = place_of(&f);
        auto &entry = places.try_emplace(place, &f, 0).first->second;
        entry.second++;
      }
  std::string text;
  for (auto &[place, who] : places) {
    append(text, "\n  %u thread%s at ", who.second, who.second == 1 ? "" : "s");
    text += place + ", one is " + name_of(who.first);
  }
  if (unstarted) append(text, "\n  %llu blocks have not started", (unsigned long long)unstarted);
  return text;
}

void release_barrier(Block &block) {
  Fiber *first = nullptr;
  unsigned count = 0;
  bool any = false, all = true;
  for (Fiber &f : block.fibers) {
    if (f.state != AT_BARRIER) continue;
    if (!first) first = &f;
    if (f.kind != first->kind || f.line != first->line || strcmp(f.file, first->file))
      return fault("divergent barrier: " + name_of(first) + " waits at " + place_of(first) +
                   ", " + name_of(&f) + " at " + place_of(&f));
    count += f.value != 0;
    any |= f.value != 0;
    all &= f.value != 0;
  }
  const unsigned result = !first                            ? 0
                          : first->kind == SYNCTHREADS_OR  ? any
                          : first->kind == SYNCTHREADS_AND ? all
                                                           : count;
  block.at_barrier = 0;
  block.phase++;
  something_changed();
  for (Fiber &f : block.fibers)
    if (f.state == AT_BARRIER) {
      f.result = result;
      make_ready(&f);
    }
}

/// Releases the blocks in the cluster of `member` if all their threads have reached the barrier.
void try_cluster(const Block &member) {
  const uint64_t first = member.number / cluster_size * cluster_size;
  const Fiber *one = nullptr;
  for (uint64_t k = first; k < first + cluster_size; k++) {
    if (ended[k]) continue;
    const auto found = working.find(k);
    if (found == working.end() || found->second->at_cluster != found->second->live) return;
  }
  for (uint64_t k = first; k < first + cluster_size; k++) {
    if (ended[k]) continue;
    for (Fiber &f : working[k]->fibers) {
      if (f.state != AT_CLUSTER) continue;
      if (!one) one = &f;
      if (f.line != one->line || strcmp(f.file, one->file))
        return fault("divergent barrier: " + name_of(one) + " waits at " + place_of(one) + ", " +
                     name_of(&f) + " at " + place_of(&f));
    }
  }
  clusters[first / cluster_size].phase++;
  something_changed();
  for (uint64_t k = first; k < first + cluster_size; k++) {
    if (ended[k]) continue;
    working[k]->at_cluster = 0;
    for (Fiber &f : working[k]->fibers)
      if (f.state == AT_CLUSTER) make_ready(&f);
  }
}

/// Returns the first thread of f's warp and sets `lanes` to the number of threads in the warp.
Fiber *warp_of(Fiber *f, unsigned &lanes) {
  auto &fibers = f->home->fibers;
  const unsigned first = f->index & ~31u;
  lanes = std::min<unsigned>(32, unsigned(fibers.size()) - first);
  return &fibers[first];
}

unsigned lane_of(const Fiber *f) { return f->index & 31; }

/// Returns the lane that a shuffle reads, by CUDA's rules for segments of `width` lanes.
unsigned source_of(const Fiber *f) {
  const unsigned lane = lane_of(f), width = unsigned(f->width), argument = unsigned(f->argument);
  const unsigned begin = lane & ~(width - 1), end = begin + width;
  switch (f->kind) {
    case SHFL: return begin | (argument & (width - 1));
    case SHFL_UP: return lane - begin >= argument ? lane - argument : lane;
    case SHFL_DOWN: return argument < end - lane ? lane + argument : lane;
    default: {
      const unsigned source = lane ^ argument;
      return source < end ? source : lane;
    }
  }
}

/// Releases the lanes in f's mask if all of them have ended or reached the collective.
void try_collective(Fiber *f) {
  Warp &group = f->home->warps[f->index / 32];
  if (f->mask & ~group.done & ~group.waiting) return;
  unsigned lanes;
  Fiber *warp = warp_of(f, lanes);
  unsigned here = 0, ballot = 0, sum = 0;
  for (unsigned k = 0; k < lanes; k++) {
    if (!(f->mask >> k & 1) || warp[k].state == DONE) continue;
    if (warp[k].state != AT_COLLECTIVE || warp[k].mask != f->mask) return;
    here |= 1u << k;
    ballot |= unsigned(warp[k].value != 0) << k;
    sum += unsigned(warp[k].value);
  }
  for (unsigned k = 0; k < lanes; k++) {
    if (!(here >> k & 1)) continue;
    Fiber &lane = warp[k];
    switch (lane.kind) {
      case BALLOT: lane.result = ballot; break;
      case ANY: lane.result = ballot != 0; break;
      case ALL: lane.result = ballot == here; break;
      case REDUCE_ADD: lane.result = sum; break;
      case MATCH_ANY: {
        unsigned same = 0;
        for (unsigned j = 0; j < lanes; j++)
          if (here >> j & 1) same |= unsigned(warp[j].value == lane.value) << j;
        lane.result = same;
        break;
      }
      case SYNCWARP: break;
      default: {
        const unsigned source = source_of(&lane);
        if (!(here >> source & 1)) {
          std::string text = name_of(&lane) + ": " + place_of(&lane);
          append(text, " reads from lane %u, which is not active", source);
          return fault(text);
        }
        lane.result = warp[source].value;
      }
    }
  }
  something_changed();
  group.waiting &= ~here;
  if (!group.waiting) group.alike = true;
  for (unsigned k = 0; k < lanes; k++)
    if (here >> k & 1) make_ready(&warp[k]);
}

void end_of_thread(Fiber *f) {
  Block &block = *f->home;
  f->state = DONE;
  something_changed();
  Warp &group = block.warps[f->index / 32];
  group.done |= 1u << lane_of(f);
  block.live--;
  if (block.live && block.at_barrier == block.live) release_barrier(block);
  if (!block.live) ended[block.number] = 1;
  if (cluster_size) try_cluster(block);
  if (!group.waiting) return;
  unsigned lanes;
  Fiber *warp = warp_of(f, lanes);
  for (unsigned k = 0; k < lanes; k++)
    if (warp[k].state == AT_COLLECTIVE && warp[k].mask >> lane_of(f) & 1) try_collective(&warp[k]);
}

/// The main function of every fiber. It never returns; the scheduler reuses its stack.
void fiber_main() {
#ifdef SIMULATOR_ASAN
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
#ifdef SIMULATOR_TSAN
  __tsan_acquire(&start_token);
#endif
  launch.entry(launch.arguments);
#ifdef SIMULATOR_TSAN
  __tsan_release(&end_token);
#endif
  Fiber *f = self();
  {
    const NotTheKernel guard;
    end_of_thread(f);
  }
  simulator_current = nullptr;
  change(f->context, scheduler, true);
}

/// Records the size of a kernel's clusters, which must always be the same.
void declare_cluster(const Fiber *f, int size) {
  const uint64_t total = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  std::string text;
  if (size < 1 || total % unsigned(size) || (cluster_size && cluster_size != unsigned(size)))
    append(text, ": a cluster of %d blocks, in a grid of %llu and clusters of %u", size,
           (unsigned long long)total, cluster_size);
  else if (launch.resident < total)
    text = ": clusters in a launch that is not cooperative";
  if (!text.empty()) fault(name_of(f) + text);
  if (cluster_size) return;
  cluster_size = unsigned(size);
  clusters.resize(total / cluster_size);
}

// --- memory --------------------------------------------------------------------------------------

char *take_stack() {
  if (free_stacks.empty()) {
    // Each call of mmap allocates this many stacks. Below each stack is an inaccessible page, so
    // that a stack overflow is detected.
    constexpr int many = 32;
    const size_t each = stack_bytes + page;
    char *memory = static_cast<char *>(mmap(nullptr, many * each, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (memory == MAP_FAILED) {
      fault("the host has no memory for stacks");
      return nullptr;
    }
    for (int i = many - 1; i >= 0; i--) {
      mprotect(memory + i * each, page, PROT_NONE);
      free_stacks.push_back(memory + i * each + page);
    }
  }
  char *stack = free_stacks.back();
  free_stacks.pop_back();
#ifdef SIMULATOR_ASAN
  __asan_unpoison_memory_region(stack, stack_bytes);
#endif
  return stack;
}

void give_back_stack(Fiber *f) {
#ifdef SIMULATOR_TSAN
  // The sanitizer's fiber still exists only if the launch ended with a fault.
  if (f->context.fiber) {
    __tsan_destroy_fiber(f->context.fiber);
    made--;
  }
  f->context.fiber = nullptr;
#endif
  if (f->context.bottom) free_stacks.push_back(f->context.bottom);
  f->context.bottom = nullptr;
}

/// Fills shared memory with random bytes, because it is uninitialized on a GPU.
void poison(void *memory, size_t bytes) {
  unsigned char *at = static_cast<unsigned char *>(memory);
  for (; bytes >= 8; bytes -= 8, at += 8) {
    const uint64_t noise = draw();
    memcpy(at, &noise, 8);
  }
  const uint64_t noise = draw();
  memcpy(at, &noise, bytes);
}

constexpr size_t fence = 64;
constexpr unsigned char fence_byte = 0xc5;

#ifdef SIMULATOR_TSAN
// Memory for shared arrays. No two blocks of a launch use the same memory. Otherwise the thread
// sanitizer would report a race, because blocks are not ordered.
std::vector<char *> arenas;
size_t arena_left;
#endif

void *take_shared(Block &block, size_t bytes, size_t alignment, const char *name) {
  block.shared_bytes += bytes;
  if (block.shared_bytes > launch.shared_limit) {
    std::string text;
    append(text, "%zu bytes of shared memory with %s; the limit is %zu", block.shared_bytes, name,
           size_t(launch.shared_limit));
    fault(text);
  }
  const size_t aligned = std::max<size_t>(alignment, 16);
  void *memory = nullptr;
#if defined(SIMULATOR_ASAN)
  const size_t words = (bytes + 3) & ~size_t(3);
  if (posix_memalign(&memory, aligned, std::max<size_t>(1, words))) return nullptr;
#elif defined(SIMULATOR_TSAN)
  const size_t whole = (bytes + 127) & ~size_t(127);
  (void)aligned;
  if (arenas.empty() || arena_left < whole) {
    arena_left = std::max<size_t>(whole, 1 << 20);
    arenas.push_back(static_cast<char *>(mmap(nullptr, arena_left, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
  }
  arena_left -= whole;
  memory = arenas.back() + arena_left;
#else
  char *whole = nullptr;
  const size_t front = std::max(fence, aligned);
  if (posix_memalign(reinterpret_cast<void **>(&whole), aligned, front + bytes + fence))
    return nullptr;
  memset(whole, fence_byte, front + bytes + fence);
  memory = whole + front;
#endif
  poison(memory, bytes);
  return memory;
}

bool is_intact(const unsigned char *fence_begin, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    if (fence_begin[i] != fence_byte) return false;
  return true;
}

struct SharedBlock {  // describes a shared array, to detect stores beyond its ends
  size_t bytes, alignment;
  const char *name;
};
std::map<const void *, SharedBlock> shared_sizes;

void free_shared(void *memory) {
  auto found = shared_sizes.find(memory);
  [[maybe_unused]] const SharedBlock what = found->second;
  shared_sizes.erase(found);
#if defined(SIMULATOR_ASAN)
  free(memory);
#elif !defined(SIMULATOR_TSAN)
  const size_t front = std::max<size_t>(fence, std::max<size_t>(what.alignment, 16));
  unsigned char *at = static_cast<unsigned char *>(memory);
  if (!failed && (!is_intact(at - fence, fence) || !is_intact(at + what.bytes, fence)))
    fault(std::string("a store out of bounds of the shared array ") + what.name);
  free(at - front);
#endif
}

// --- the schedule --------------------------------------------------------------------------------

void start_block(Block &block, Index place, uint64_t number) {
  const unsigned threads = launch.block[0] * launch.block[1] * launch.block[2];
  block.fibers.resize(threads);
  block.warps.assign((threads + 31) / 32, Warp());
  if (threads % 32) block.warps.back().done = ~0u << threads % 32;  // lanes without a thread
  block.live = threads;
  block.number = number;
  working[number] = &block;
  block.at_barrier = block.at_cluster = 0;
  block.phase = 0;
  block.shared_bytes = 0;
  block.dynamic = nullptr;
  unsigned index = 0;
  for (unsigned z = 0; z < launch.block[2]; z++)
    for (unsigned y = 0; y < launch.block[1]; y++)
      for (unsigned x = 0; x < launch.block[0]; x++, index++) {
        Fiber &f = block.fibers[index];
        f.thread = {x, y, z};
        f.block = place;
        f.home = &block;
        f.index = index;
        f.state = NEW;
        f.file = "";
        f.line = 0;
        ready.push_back(&f);
      }
  if (launch.dynamic_bytes) {
    block.dynamic = take_shared(block, launch.dynamic_bytes, 16, "the dynamic array");
    shared_sizes[block.dynamic] = {size_t(launch.dynamic_bytes), 16, "of dynamic size"};
  }
  something_changed();
}

void end_block(Block &block) {
  for (SharedArray &array : block.shared) free_shared(array.memory);
  block.shared.clear();
  if (block.dynamic) free_shared(block.dynamic);
  block.dynamic = nullptr;
  working.erase(block.number);
}

/// Returns a ready fiber. Some launches prefer low thread numbers, some high ones, some neither.
Fiber *choose() {
  const unsigned n = unsigned(ready.size());
  unsigned best = below(n);
  if (bias && (draw() & 3 << 20))
    for (int again = 0; again < 2; again++) {
      const unsigned other = below(n);
      const bool lower = ready[other]->index < ready[best]->index;
      if (lower == (bias < 0)) best = other;
    }
  Fiber *f = ready[best];
  ready[best] = ready.back();
  ready.pop_back();
  return f;
}

void resume(Fiber *f) {
  if (f->state == NEW) {
#ifdef SIMULATOR_TSAN
    if (spare.empty() && made >= most_fibers) spare.swap(kept);
    if (spare.empty()) {
      char *stack = take_stack();
      if (!stack) return;
      spare.emplace_back();
      spare.back().bottom = stack;
      spare.back().fiber = __tsan_create_fiber(0);
      made++;
    }
    f->context.fiber = spare.back().fiber;
    prepare(f->context, spare.back().bottom, fiber_main);
    spare.pop_back();
    // This makes all earlier work of the host and of the scheduler visible to the fiber.
    __tsan_release(&start_token);
#else
    char *stack = take_stack();
    if (!stack) return;
    prepare(f->context, stack, fiber_main);
#endif
    something_changed();
  }
  f->state = READY;
  simulator_current = f;
  change(scheduler, f->context);
  simulator_current = nullptr;
// Under the thread sanitizer, fibers keep their stacks until the launch ends.
#ifndef SIMULATOR_TSAN
  if (f->state == DONE) give_back_stack(f);
#endif
}

/// Completes __activemask for lanes at the same source line when no lane of a warp can continue.
bool answer_activemask() {
  bool any = false;
  for (auto &block : blocks)
    for (size_t first = 0; first < block->fibers.size(); first += 32) {
      const size_t end = std::min(first + 32, block->fibers.size());
      for (size_t k = first; k < end; k++) {
        Fiber &f = block->fibers[k];
        if (f.state != AT_ACTIVEMASK) continue;
        unsigned mask = 0;
        for (size_t j = k; j < end; j++) {
          const Fiber &other = block->fibers[j];
          if (other.state == AT_ACTIVEMASK && other.line == f.line && other.file == f.file &&
              (j == k || below(8)))
            mask |= 1u << (j - first);
        }
        for (size_t j = end; j-- > k;)
          if (mask >> (j - first) & 1) {
            block->fibers[j].result = mask;
            make_ready(&block->fibers[j]);
          }
        any = true;
      }
    }
  return any;
}

void run_grid() {
  const uint64_t total = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  std::vector<uint64_t> order(total);
  for (uint64_t i = 0; i < total; i++) order[i] = i;
  for (uint64_t i = total; i > 1; i--) std::swap(order[i - 1], order[below(i)]);
  unstarted = total;
  working.clear();
  ended.assign(total, 0);
  clusters.clear();
  cluster_size = 0;
  blocks.resize(std::min<uint64_t>(launch.resident, total));
  uint64_t unfinished = total;
  auto start_next = [&](Block &block) {
    const uint64_t k = order[--unstarted];
    const unsigned x = unsigned(k % launch.grid[0]), rest = unsigned(k / launch.grid[0]);
    start_block(block, {x, rest % launch.grid[1], rest / launch.grid[1]}, k);
  };
  for (auto &block : blocks) {
    if (!block) block = std::make_unique<Block>();
    start_next(*block);
  }
  while (unfinished && !failed) {
    if (ready.empty()) {
      if (answer_activemask()) continue;
      return fault("deadlock or divergent barrier: no thread can go on:" + waiting());
    }
    Fiber *f = choose();
    Block &block = *f->home;
    resume(f);
    if (failed) return;
    if (!block.live) {
#ifdef SIMULATOR_TSAN
      for (Fiber &each : block.fibers) {
        kept.push_back(each.context);
        each.context.fiber = each.context.bottom = nullptr;
      }
#endif
      end_block(block);
      unfinished--;
      if (unstarted) start_next(block);
    } else if (sleeps > 1000 + 256 * ready.size()) {
      return fault("deadlock: threads wait for what nobody does:" + waiting());
    }
  }
}

// --- signals -------------------------------------------------------------------------------------

pthread_t launching_thread;
[[maybe_unused]] struct sigaction old_segv, old_bus, old_fpe, old_alarm;

[[maybe_unused]] void on_signal(int number, siginfo_t *info, void *) {
  if (number == SIGALRM && !pthread_equal(pthread_self(), launching_thread)) {
    pthread_kill(launching_thread, SIGALRM);
    return;
  }
  Fiber *f = self();
  if (!f) {  // the signal did not occur in a kernel
    if (number == SIGALRM) {
      failed = true;
      message = std::string(launch.kernel) + ": took too long";
      return;
    }
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  std::string text = name_of(f);
  if (number == SIGALRM) text = "took too long; at work is " + text;
  else if (number == SIGFPE) text += ": an integer divided by zero, or the least by -1";
  else append(text, ": illegal address %p", info->si_addr);
  fault(text);
}

void catch_signals() {
  launching_thread = pthread_self();
#if !defined(SIMULATOR_ASAN) && !defined(SIMULATOR_TSAN)
  static char other_stack[64 << 10];
  stack_t stack = {};
  stack.ss_sp = other_stack;
  stack.ss_size = sizeof other_stack;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigaction(SIGSEGV, &action, &old_segv);
  sigaction(SIGBUS, &action, &old_bus);
  sigaction(SIGFPE, &action, &old_fpe);
  if (launch.timeout > 0) {
    sigaction(SIGALRM, &action, &old_alarm);
    itimerval timer = {};
    timer.it_value.tv_sec = time_t(launch.timeout);
    timer.it_value.tv_usec = suseconds_t((launch.timeout - double(time_t(launch.timeout))) * 1e6);
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
#endif
}

void leave_signals() {
#if !defined(SIMULATOR_ASAN) && !defined(SIMULATOR_TSAN)
  sigaction(SIGSEGV, &old_segv, nullptr);
  sigaction(SIGBUS, &old_bus, nullptr);
  sigaction(SIGFPE, &old_fpe, nullptr);
  if (launch.timeout > 0) {
    itimerval none = {};
    setitimer(ITIMER_REAL, &none, nullptr);
    sigaction(SIGALRM, &old_alarm, nullptr);
  }
#endif
}

// --- device memory -------------------------------------------------------------------------------

constexpr size_t device_alignment = 256;  // in bytes, as for memory from cudaMalloc
struct Allocation {
  size_t bytes;
};
std::map<unsigned char *, Allocation> allocations;

[[maybe_unused]] bool ends_are_whole(unsigned char *memory, size_t bytes, std::string &text) {
  const bool before = is_intact(memory - device_alignment, device_alignment);
  const bool after = is_intact(memory + bytes, device_alignment);
  if (before && after) return true;
  append(text, "a store out of bounds, just %s an array of %zu bytes", before ? "after" : "before",
         bytes);
  // Restore the fence bytes around the array, so that the fault is reported only once.
  memset(memory - device_alignment, fence_byte, device_alignment);
  memset(memory + bytes, fence_byte, device_alignment);
  return false;
}

std::string broken_ends() {
  std::string text;
#if !defined(SIMULATOR_ASAN)
  for (auto &[memory, allocation] : allocations)
    if (!ends_are_whole(memory, allocation.bytes, text)) break;
#endif
  return text;
}

int tell(const std::string &text, char *into, size_t size) {
  if (text.empty()) return 0;
  snprintf(into, size, "%s", text.c_str());
  return 1;
}

}  // namespace

// --- variables and functions that kernels use ----------------------------------------------------

namespace simulator {
extern "C" {

extern const char SIMULATOR_VERSION = 0;  // programs compiled for another version do not load

Thread *simulator_current;
Index simulator_block_size, simulator_grid_size;
uint64_t simulator_random, simulator_idle;

unsigned simulator_barrier(int kind, int predicate, const char *file, int line) {
  Fiber *f = self();
  Block &block = *f->home;
  f->kind = kind;
  f->value = predicate != 0;
  f->file = file;
  f->line = line;
  f->state = AT_BARRIER;
#ifdef SIMULATOR_TSAN
  char *token = &block.tokens[block.phase & 1];
  __tsan_release(token);
#endif
  if (++block.at_barrier == block.live) {
    const NotTheKernel guard;
    release_barrier(block);
  }
  park();
#ifdef SIMULATOR_TSAN
  __tsan_acquire(token);
#endif
  return unsigned(f->result);
}

void simulator_cluster_sync(int size, const char *file, int line) {
  Fiber *f = self();
  f->file = file;
  f->line = line;
  f->state = AT_CLUSTER;
  {
    const NotTheKernel guard;
    declare_cluster(f, size);
  }
  Block &block = *f->home;
#ifdef SIMULATOR_TSAN
  Cluster &cluster = clusters[block.number / cluster_size];
  char *token = &cluster.tokens[cluster.phase & 1];
  __tsan_release(token);
#endif
  block.at_cluster++;
  {
    const NotTheKernel guard;
    try_cluster(block);
  }
  park();
#ifdef SIMULATOR_TSAN
  __tsan_acquire(token);
#endif
}

void *simulator_cluster_map(void *memory, unsigned rank, int size, const char *file, int line) {
  Fiber *f = self();
  const NotTheKernel guard;
  declare_cluster(f, size);
  const Block &block = *f->home;
  const size_t at = size_t(static_cast<char *>(memory) - static_cast<char *>(block.dynamic));
  std::string text;
  if (rank >= unsigned(size))
    append(text, ": there is no block %u in a cluster of %d (%s:%d)", rank, size, file, line);
  else if (!block.dynamic || at >= launch.dynamic_bytes)
    append(text, ": %p is not in the block's dynamic shared memory (%s:%d)", memory, file, line);
  if (!text.empty()) fault(name_of(f) + text);
  const uint64_t number = block.number / cluster_size * cluster_size + rank;
  if (ended[number]) {
    append(text, ": block %u of the cluster has ended, and its shared memory with it (%s:%d)", rank,
           file, line);
    fault(name_of(f) + text);
  }
  return static_cast<char *>(working[number]->dynamic) + at;
}

uint64_t simulator_collective(int kind, unsigned mask, uint64_t value, int argument, int width,
                              const char *file, int line) {
  Fiber *f = self();
  f->kind = kind;
  f->mask = mask;
  f->value = value;
  f->argument = argument;
  f->width = width;
  f->file = file;
  f->line = line;
  f->state = AT_COLLECTIVE;
  const unsigned lane = lane_of(f);
  if (!(mask >> lane & 1)) fault(name_of(f) + " is not in the mask of " + place_of(f));
  if (width < 1 || width > 32 || width & (width - 1))
    fault(name_of(f) + ": the width is no power of two up to 32: " + place_of(f));
  Warp &group = f->home->warps[f->index / 32];
  if (!group.waiting) {
    group.kind = kind;
    group.mask = mask;
  }
  group.alike &= group.kind == kind && group.mask == mask;
  unsigned lanes;
  Fiber *warp = warp_of(f, lanes);
  for (unsigned k = 0; k < lanes && !group.alike; k++)
    if (mask >> k & 1 && warp[k].state == AT_COLLECTIVE && warp[k].mask >> lane & 1 &&
        (warp[k].mask != mask || warp[k].kind != kind))
      fault("divergent collective: " + name_of(f) + " is at " + place_of(f) + ", " +
            name_of(&warp[k]) + " at " + place_of(&warp[k]));
  group.waiting |= 1u << lane;
#ifdef SIMULATOR_TSAN
  // __syncwarp is the only collective that orders memory. One token per warp suffices; separate
  // tokens for even and odd phases would hardly find more races.
  if (kind == SYNCWARP) __tsan_release(&warp[0].context);
#endif
  {
    const NotTheKernel guard;
    try_collective(f);
  }
  park();
#ifdef SIMULATOR_TSAN
  if (kind == SYNCWARP) __tsan_acquire(&warp[0].context);
#endif
  return f->result;
}

unsigned simulator_activemask(const char *file, int line) {
  Fiber *f = self();
  if (below(4) == 0) return 1u << lane_of(f);  // a GPU, too, may return a mask of only this lane
  f->file = file;
  f->line = line;
  f->state = AT_ACTIVEMASK;
  park();
  return unsigned(f->result);
}

void simulator_sleep(const char *file, int line) {
  Fiber *f = self();
  f->file = file;
  f->line = line;
  sleeps++;
  simulator_change_over();
}

void simulator_change_over() {
  Fiber *f = self();
  {
    const NotTheKernel guard;
    make_ready(f);
  }
  park();
}

#ifdef SIMULATOR_TSAN
void simulator_perhaps_change_over() {
  if (draw() >> 60 == 0) simulator_change_over();
}
void simulator_after_atomic(bool changed) {
  if (changed) simulator_idle = 0;
  else if (++simulator_idle > 20000000) simulator_endless();
  simulator_perhaps_change_over();
}
#endif

void simulator_endless() {
  fault("deadlock: atomics without end that change nothing:" + waiting());
}

void simulator_misaligned(const volatile void *address, const char *file, int line) {
  std::string text = name_of(self());
  append(text, ": an atomic at the misaligned address %p (%s:%d)", address, file, line);
  fault(text);
  __builtin_unreachable();
}

void *simulator_shared(const void *key, size_t bytes, size_t alignment, const char *name) {
  Block &block = *self()->home;
  for (SharedArray &array : block.shared)
    if (array.key == key) return array.memory;
  const NotTheKernel guard;
  void *memory = take_shared(block, bytes, alignment, name);
  block.shared.push_back({key, memory});
  shared_sizes[memory] = {bytes, alignment, name};
  return memory;
}

unsigned char *simulator_dynamic_shared() {
  return static_cast<unsigned char *>(self()->home->dynamic);
}

// --- functions that Python calls -----------------------------------------------------------------

/// Runs a grid. Returns 0, or 1 with a description of the fault in `text`.
int simulator_launch(const Launch *what, char *text, size_t size) {
  launch = *what;
  simulator_grid_size = {launch.grid[0], launch.grid[1], launch.grid[2]};
  simulator_block_size = {launch.block[0], launch.block[1], launch.block[2]};
  schedule_state = launch.seed * 0x9e3779b97f4a7c15ull + 0x1234567;
  if (!schedule_state) schedule_state = 1;
  for (int i = 0; i < 4; i++) draw();
  simulator_random = draw();
  bias = int(below(3)) - 1;
  failed = false;
  message.clear();
  ready.clear();
  something_changed();
  simulator_current = nullptr;
#ifdef SIMULATOR_TSAN
  scheduler.fiber = __tsan_get_current_fiber();
#endif
#ifdef SIMULATOR_ASAN
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void *bottom;
  pthread_attr_getstack(&attributes, &bottom, &scheduler.size);
  pthread_attr_destroy(&attributes);
  scheduler.bottom = static_cast<char *>(bottom);
#endif
  catch_signals();
  run_grid();
  leave_signals();
  for (auto &block : blocks)
    if (block) {
      end_block(*block);
      for (Fiber &f : block->fibers) give_back_stack(&f);
      block->fibers.clear();
    }
#ifdef SIMULATOR_TSAN
  __tsan_acquire(&end_token);
  spare.insert(spare.end(), kept.begin(), kept.end());
  kept.clear();
#endif
  if (!failed) {
    const std::string broken = broken_ends();
    if (!broken.empty()) message = std::string(launch.kernel) + ": " + broken;
  }
  return tell(message, text, size);
}

/// Returns uninitialized device memory, or null if the host is out of memory.
void *simulator_allocate(size_t bytes, uint64_t noise) {
  // Round up, because atomics on small types use a whole word.
  const size_t whole = (bytes + 3) & ~size_t(3);
  unsigned char *memory = nullptr;
#if defined(SIMULATOR_ASAN)
  if (posix_memalign(reinterpret_cast<void **>(&memory), device_alignment, whole)) return nullptr;
#else
  const size_t all = (whole + 3 * device_alignment - 1) & ~(device_alignment - 1);
  if (posix_memalign(reinterpret_cast<void **>(&memory), device_alignment, all)) return nullptr;
  memset(memory, fence_byte, device_alignment);
  memset(memory + device_alignment + bytes, fence_byte, all - device_alignment - bytes);
  memory += device_alignment;
  allocations[memory] = {bytes};
#endif
  noise = noise * 2 + 1;
  for (size_t i = 0; i < bytes; i++) {
    if (i % 8 == 0) noise = noise * 6364136223846793005ull + 1442695040888963407ull;
    memory[i] = (unsigned char)(noise >> (8 * (i % 8)));
  }
  return memory;
}

/// Frees memory. Returns 0, or 1 with a description in `text` if adjacent bytes were overwritten.
int simulator_free(void *pointer, [[maybe_unused]] char *text, [[maybe_unused]] size_t size) {
#if defined(SIMULATOR_ASAN)
  free(pointer);
  return 0;
#else
  unsigned char *memory = static_cast<unsigned char *>(pointer);
  const size_t bytes = allocations[memory].bytes;
  std::string broken;
  ends_are_whole(memory, bytes, broken);
  allocations.erase(memory);
  free(memory - device_alignment);
  return tell(broken, text, size);
#endif
}
}
}  // namespace simulator
