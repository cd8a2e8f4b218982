// Implements the part of CUDA C++ that our kernels use, for g++ on a CPU.
//
// The source of a kernel compiles against this header alone. Threads are fibers of one OS thread,
// which runtime.cpp runs in a random order. Fibers switch where threads of a GPU may wait for one
// another (barriers, warp collectives, __nanosleep), and sometimes at an atomic.
#ifndef GRAPHLA_SIMULATOR
#define GRAPHLA_SIMULATOR 1
// Undefine the macro that declares the special mathematical functions of C++17, such as
// std::riemann_zeta. No kernel uses these functions, and without them, the precompiled header is
// half as large.
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SIMULATOR_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define SIMULATOR_INLINE inline __attribute__((always_inline))

namespace simulator {

struct Index {
  unsigned x, y, z;
};

struct Thread {  // the thread and block indices that a kernel sees
  Index thread, block;
};

extern "C" {
extern Thread *simulator_current;
extern Index simulator_block_size, simulator_grid_size;
extern uint64_t simulator_random;  // decides at which atomics fibers switch
extern uint64_t simulator_idle;    // number of atomics since memory last changed

unsigned simulator_barrier(int kind, int predicate, const char *file, int line);
uint64_t simulator_collective(int kind, unsigned mask, uint64_t value, int argument, int width,
                              const char *file, int line);
unsigned simulator_activemask(const char *file, int line);
void simulator_sleep(const char *file, int line);
void simulator_cluster_sync(int size, const char *file, int line);
void *simulator_cluster_map(void *memory, unsigned rank, int size, const char *file, int line);
void simulator_change_over();
void *simulator_shared(const void *key, size_t bytes, size_t alignment, const char *name);
unsigned char *simulator_dynamic_shared();
void simulator_endless();
[[noreturn]] void simulator_misaligned(const volatile void *address, const char *file, int line);
}

enum Barrier { SYNCTHREADS, SYNCTHREADS_OR, SYNCTHREADS_AND, SYNCTHREADS_COUNT };
enum Collective {
  SYNCWARP, SHFL, SHFL_UP, SHFL_DOWN, SHFL_XOR, BALLOT, ANY, ALL, MATCH_ANY, REDUCE_ADD
};

template <class T> SIMULATOR_INLINE uint64_t to_bits(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "CUDA moves 4- and 8-byte values between lanes");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T> SIMULATOR_INLINE T from_bits(uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

// On average, other threads run before one atomic in 16, and after one atomic in 16.
#ifdef SIMULATOR_TSAN  // the sanitizer must not see the simulator's own variables
extern "C" void simulator_perhaps_change_over();
extern "C" void simulator_after_atomic(bool changed);
SIMULATOR_INLINE void perhaps_change_over() { simulator_perhaps_change_over(); }
SIMULATOR_INLINE void after_atomic(bool changed) { simulator_after_atomic(changed); }
#else
SIMULATOR_INLINE void perhaps_change_over() {
  simulator_random = simulator_random * 6364136223846793005ull + 1442695040888963407ull;
  if (simulator_random >> 60 == 0) simulator_change_over();
}
SIMULATOR_INLINE void after_atomic(bool changed) {
  if (changed) simulator_idle = 0;
  else if (++simulator_idle > 20000000) simulator_endless();
  perhaps_change_over();
}
#endif

#ifdef SIMULATOR_TSAN
// Here, atomics do not have relaxed order. With relaxed order, the thread sanitizer would ignore a
// __threadfence() before an atomic, and would report data races that do not exist.
constexpr int order = __ATOMIC_ACQ_REL;
constexpr int load_order = __ATOMIC_ACQUIRE;
constexpr int store_order = __ATOMIC_RELEASE;
#else
constexpr int order = __ATOMIC_RELAXED;
constexpr int load_order = __ATOMIC_RELAXED;
constexpr int store_order = __ATOMIC_RELAXED;
#endif

template <int size> struct Word;
template <> struct Word<4> { typedef uint32_t type; };
template <> struct Word<8> { typedef uint64_t type; };

// Atomically replaces *at with step(*at) and returns the old value.
template <class T, class Step>
SIMULATOR_INLINE T atomic(T *at, Step step, const char *file, int line) {
  typedef typename Word<sizeof(T)>::type W;
  if (reinterpret_cast<uintptr_t>(at) % sizeof(T)) simulator_misaligned(at, file, line);
  perhaps_change_over();
  W *word = reinterpret_cast<W *>(at);
  W seen = __atomic_load_n(word, load_order), wanted;
  do {
    wanted = W(to_bits<T>(step(from_bits<T>(seen))));
  } while (!__atomic_compare_exchange_n(word, &seen, wanted, false, order, load_order));
  after_atomic(wanted != seen);
  return from_bits<T>(seen);
}

// Loads and stores that race intentionally; they are atomic, so the thread sanitizer accepts them.
template <class T> SIMULATOR_INLINE T load_relaxed(const T *at) {
  T value;
  __atomic_load(at, &value, load_order);
  return value;
}
template <class T> SIMULATOR_INLINE void store_relaxed(T *at, T value) {
  __atomic_store(at, &value, store_order);
}

}  // namespace simulator

// --- the language --------------------------------------------------------------------------------

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __shared__ static_assert(false, "declare shared memory by SHARED or SHARED_BYTES");

#define threadIdx (simulator::simulator_current->thread)
#define blockIdx (simulator::simulator_current->block)
#define blockDim simulator::simulator_block_size
#define gridDim simulator::simulator_grid_size

// The shared arrays of a block are on the heap, so that stores outside an array can be detected. As
// in CUDA, all threads of a block share an array. Each instance of a template has its own array.
#define SHARED(type, name, ...)                                                                  \
  static char simulator_key_##name;                                                              \
  using simulator_type_##name = type[__VA_ARGS__];                                               \
  simulator_type_##name &name = *static_cast<simulator_type_##name *>(                           \
      simulator::simulator_shared(&simulator_key_##name, sizeof(simulator_type_##name),          \
                                  alignof(simulator_type_##name), #name))
#define SHARED_BYTES(name) unsigned char *const name = simulator::simulator_dynamic_shared()

// --- barriers and collectives --------------------------------------------------------------------

SIMULATOR_INLINE void __syncthreads(SIMULATOR_SITE) {
  simulator::simulator_barrier(simulator::SYNCTHREADS, 0, file, line);
}
SIMULATOR_INLINE int __syncthreads_or(int predicate, SIMULATOR_SITE) {
  return int(simulator::simulator_barrier(simulator::SYNCTHREADS_OR, predicate, file, line));
}
SIMULATOR_INLINE int __syncthreads_and(int predicate, SIMULATOR_SITE) {
  return int(simulator::simulator_barrier(simulator::SYNCTHREADS_AND, predicate, file, line));
}
SIMULATOR_INLINE int __syncthreads_count(int predicate, SIMULATOR_SITE) {
  return int(simulator::simulator_barrier(simulator::SYNCTHREADS_COUNT, predicate, file, line));
}
SIMULATOR_INLINE void __syncwarp(unsigned mask = ~0u, SIMULATOR_SITE) {
  simulator::simulator_collective(simulator::SYNCWARP, mask, 0, 0, 32, file, line);
}

// Cluster operations, which CUDA offers only through PTX: the barrier, and the address of dynamic
// shared memory in block `rank` of the cluster.
SIMULATOR_INLINE void __cluster_sync(int size, SIMULATOR_SITE) {
  simulator::simulator_cluster_sync(size, file, line);
}
template <class T> SIMULATOR_INLINE T *__cluster_map(T *memory, unsigned rank, int size, SIMULATOR_SITE) {
  return static_cast<T *>(simulator::simulator_cluster_map(memory, rank, size, file, line));
}

#define SIMULATOR_SHUFFLE(name, kind, argument_type)                                             \
  template <class T>                                                                             \
  SIMULATOR_INLINE T name(unsigned mask, T value, argument_type argument, int width = 32,        \
                          SIMULATOR_SITE) {                                                      \
    return simulator::from_bits<T>(simulator::simulator_collective(                              \
        simulator::kind, mask, simulator::to_bits(value), int(argument), width, file, line));    \
  }
SIMULATOR_SHUFFLE(__shfl_sync, SHFL, int)
SIMULATOR_SHUFFLE(__shfl_up_sync, SHFL_UP, unsigned)
SIMULATOR_SHUFFLE(__shfl_down_sync, SHFL_DOWN, unsigned)
SIMULATOR_SHUFFLE(__shfl_xor_sync, SHFL_XOR, int)
#undef SIMULATOR_SHUFFLE

SIMULATOR_INLINE unsigned __ballot_sync(unsigned mask, int predicate, SIMULATOR_SITE) {
  return unsigned(
      simulator::simulator_collective(simulator::BALLOT, mask, predicate != 0, 0, 32, file, line));
}
SIMULATOR_INLINE int __any_sync(unsigned mask, int predicate, SIMULATOR_SITE) {
  return int(
      simulator::simulator_collective(simulator::ANY, mask, predicate != 0, 0, 32, file, line));
}
SIMULATOR_INLINE int __all_sync(unsigned mask, int predicate, SIMULATOR_SITE) {
  return int(
      simulator::simulator_collective(simulator::ALL, mask, predicate != 0, 0, 32, file, line));
}
template <class T>
SIMULATOR_INLINE unsigned __match_any_sync(unsigned mask, T value, SIMULATOR_SITE) {
  return unsigned(simulator::simulator_collective(simulator::MATCH_ANY, mask,
                                                  simulator::to_bits(value), 0, 32, file, line));
}
SIMULATOR_INLINE unsigned __reduce_add_sync(unsigned mask, unsigned value, SIMULATOR_SITE) {
  return unsigned(
      simulator::simulator_collective(simulator::REDUCE_ADD, mask, value, 0, 32, file, line));
}
SIMULATOR_INLINE unsigned __activemask(SIMULATOR_SITE) {
  return simulator::simulator_activemask(file, line);
}

SIMULATOR_INLINE void __threadfence() { asm volatile("" ::: "memory"); }
SIMULATOR_INLINE void __threadfence_block() { asm volatile("" ::: "memory"); }
SIMULATOR_INLINE void __threadfence_system() { asm volatile("" ::: "memory"); }
SIMULATOR_INLINE void __nanosleep(unsigned, SIMULATOR_SITE) {
  simulator::simulator_sleep(file, line);
}

// --- bits and numbers ----------------------------------------------------------------------------

SIMULATOR_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIMULATOR_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMULATOR_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIMULATOR_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMULATOR_INLINE int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
SIMULATOR_INLINE int __clzll(long long x) {
  return x ? __builtin_clzll((unsigned long long)x) : 64;
}
template <class T> SIMULATOR_INLINE T __ldg(const T *at) { return *at; }
template <class T> SIMULATOR_INLINE T __ldcs(const T *at) { return *at; }
template <class T> SIMULATOR_INLINE T __ldcg(const T *at) { return *at; }
template <class T> SIMULATOR_INLINE void __stcs(T *at, T value) { *at = value; }
template <class T> SIMULATOR_INLINE void __stcg(T *at, T value) { *at = value; }
SIMULATOR_INLINE int __float_as_int(float x) { return int(simulator::to_bits(x)); }
SIMULATOR_INLINE float __int_as_float(int x) {
  return simulator::from_bits<float>(unsigned(x));
}
SIMULATOR_INLINE long long __double_as_longlong(double x) {
  return (long long)simulator::to_bits(x);
}
SIMULATOR_INLINE double __longlong_as_double(long long x) {
  return simulator::from_bits<double>((unsigned long long)x);
}
SIMULATOR_INLINE long long clock64() {
#if defined(__x86_64__)
  return (long long)__builtin_ia32_rdtsc();
#else
  static long long ticks = 0;
  return ++ticks;
#endif
}

// --- atomics of the types that CUDA supports -----------------------------------------------------

#define SIMULATOR_ATOMIC(name, T, expression)                                                    \
  SIMULATOR_INLINE T name(T *at, T value, SIMULATOR_SITE) {                                      \
    return simulator::atomic(at, [value](T old) -> T { return expression; }, file, line);        \
  }
#define SIMULATOR_ATOMICS_OF_INTEGERS(T)                                                         \
  SIMULATOR_ATOMIC(atomicExch, T, ((void)old, value))                                            \
  SIMULATOR_ATOMIC(atomicAnd, T, old &value)                                                     \
  SIMULATOR_ATOMIC(atomicOr, T, old | value)                                                     \
  SIMULATOR_ATOMIC(atomicXor, T, old ^ value)                                                    \
  SIMULATOR_ATOMIC(atomicAdd, T, (T)(uint64_t(old) + uint64_t(value))) \
  SIMULATOR_INLINE T atomicCAS(T *at, T compare, T value, SIMULATOR_SITE) {                      \
    return simulator::atomic(                                                                    \
        at, [compare, value](T old) -> T { return old == compare ? value : old; }, file, line);  \
  }
#define SIMULATOR_ATOMICS_OF_ORDER(T)                                                            \
  SIMULATOR_ATOMIC(atomicMin, T, value < old ? value : old)                                      \
  SIMULATOR_ATOMIC(atomicMax, T, old < value ? value : old)
SIMULATOR_ATOMICS_OF_INTEGERS(int)
SIMULATOR_ATOMICS_OF_INTEGERS(unsigned)
SIMULATOR_ATOMICS_OF_INTEGERS(unsigned long long)
SIMULATOR_ATOMICS_OF_ORDER(int)
SIMULATOR_ATOMICS_OF_ORDER(unsigned)
SIMULATOR_ATOMICS_OF_ORDER(unsigned long long)
SIMULATOR_ATOMICS_OF_ORDER(long long)
SIMULATOR_ATOMIC(atomicSub, int, int(unsigned(old) - unsigned(value)))
SIMULATOR_ATOMIC(atomicSub, unsigned, old - value)
SIMULATOR_ATOMIC(atomicAdd, float, old + value)
SIMULATOR_ATOMIC(atomicAdd, double, old + value)
SIMULATOR_ATOMIC(atomicExch, float, ((void)old, value))
#undef SIMULATOR_ATOMIC
#undef SIMULATOR_ATOMICS_OF_INTEGERS
#undef SIMULATOR_ATOMICS_OF_ORDER

// --- kernel parameters ---------------------------------------------------------------------------

namespace simulator {

struct Parameter {  // describes a parameter; the CuPy stand-in checks the argument
  int size;         // in bytes
  int pointee;      // size of the target in bytes; 0 if not a pointer, -1 for pointer to void
  int reads_only;   // 1 for a pointer to const
  int fields;       // number of fields of a struct, which follow it in the list of parameters
};

template <class T> constexpr int size_of = sizeof(T);
template <> constexpr int size_of<void> = -1;
template <> constexpr int size_of<const void> = -1;

template <class T> constexpr int is_const = 0;
template <class T> constexpr int is_const<const T> = 1;

struct Parameters {
  static constexpr int ROOM = 512;
  Parameter list[ROOM];
  int count = 0;
};

template <class T> int fields_of(Parameters *into);

template <class T> struct Note {
  static void to(Parameters *into) {
    const int at = into->count++;
    into->list[at] = {sizeof(T), 0, 0, 0};
    into->list[at].fields = fields_of<T>(into);
  }
};
template <class T> struct Note<T *> {
  static void to(Parameters *into) {
    into->list[into->count++] = {sizeof(T *), size_of<T>, is_const<T>, 0};
  }
};

/// Converts to any type to initialize a field of a struct, and records the type of the field.
struct Field {
  Parameters *into;
  template <class T> operator T() const {
    Note<T>::to(into);
    return T();
  }
};
template <size_t> constexpr Field any = {nullptr};

template <size_t... I> struct Places {};
template <size_t N, size_t... I> struct Make : Make<N - 1, N - 1, I...> {};
template <size_t... I> struct Make<0, I...> { typedef Places<I...> type; };

template <class T, size_t... I> auto holds(Places<I...>) -> decltype((void)T{any<I>...}, true) {
  return true;
}
template <class T> int holds(...);

/// Returns the number of fields of a struct without constructors.
template <class T, int N = 0> constexpr int count_fields() {
  typedef decltype(holds<T>(typename Make<N + 1>::type())) Holds;
  if constexpr (sizeof(Holds) == sizeof(bool)) return count_fields<T, N + 1>();
  else return N;
}
template <class T, size_t... I> void note_fields(Parameters *into, Places<I...>) {
  (void)T{(void(I), Field{into})...};
}
template <class T> int fields_of(Parameters *into) {
  if constexpr (__is_aggregate(T) && __is_class(T)) {
    constexpr int count = count_fields<T>();
    note_fields<T>(into, typename Make<count>::type());
    return count;
  } else {
    return 0;
  }
}

template <class F> struct Kernel;
template <class... P> struct Kernel<void (*)(P...)> {
  typedef void (*Pointer)(P...);
  static constexpr int count = sizeof...(P);
  static const Parameter *parameters() {
    static Parameters noted;
    if (!noted.count) (Note<P>::to(&noted), ...);
    return noted.list;
  }

  template <size_t... I> static void call(Pointer kernel, void **arguments, Places<I...>) {
    kernel(*static_cast<P *>(arguments[I])...);
  }
  static void call(Pointer kernel, void **arguments) {
    call(kernel, arguments, typename Make<sizeof...(P)>::type());
  }
};

template <class F> const Parameter *parameters_of(F) { return Kernel<F>::parameters(); }
template <class F> constexpr int count_of(F) { return Kernel<F>::count; }
template <class F> SIMULATOR_INLINE void call(F kernel, void **arguments) {
  Kernel<F>::call(kernel, arguments);
}

}  // namespace simulator

#define SIMULATOR_ENTRY(name, ...)                                                               \
  extern "C" {                                                                                   \
  void name(void **arguments) { simulator::call(&__VA_ARGS__, arguments); }                      \
  int name##_count() { return simulator::count_of(&__VA_ARGS__); }                               \
  const simulator::Parameter *name##_parameters() {                                              \
    return simulator::parameters_of(&__VA_ARGS__);                                               \
  }                                                                                              \
  }
#endif
