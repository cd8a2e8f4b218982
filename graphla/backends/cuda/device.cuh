// Definitions that every kernel uses: types, stored values, loads, and thread numbers.
//
// This file includes neither CUDA nor C++ library headers. As a result, kernels compile ten times
// faster, and the simulator of the tests (GRAPHLA_SIMULATOR) can run the same source on the CPU.
#ifndef GRAPHLA_DEVICE
#define GRAPHLA_DEVICE
#include "prelude.cuh"

#ifndef GRAPHLA_SIMULATOR
// Kernels declare shared memory only with these macros. This lets the simulator put each array on
// the heap, where it detects stores beyond the ends of the array.
#define SHARED(type, name, count) __shared__ type name[count]
#define SHARED_BYTES(name) extern __shared__ __align__(16) unsigned char name[]
#define DEVICE __device__ __forceinline__
#else
#define DEVICE inline
#endif

// CALL: a function that is compiled once and called, so that a kernel with many calls compiles
// faster. If the parts of a program are compiled separately, each part has its own copy.
// LINKED: like CALL, but all parts share one copy (see `Loading` in compilers/cuda.py).
// ARGUMENT: marks a kernel parameter whose address the kernel takes. The compiler needs no local
// copy of the parameter, because it is constant for the grid.
#ifdef GRAPHLA_SIMULATOR
#define CALL inline
#define LINKED inline
#define ARGUMENT const
#else
#ifdef GRAPHLA_PART
#define CALL static __device__ __noinline__
#else
#define CALL __device__ __noinline__
#endif
#define LINKED __device__ __noinline__
#define ARGUMENT const __grid_constant__
#endif

namespace graphla {

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

enum WarpShape { WARP_LANES = 32 };
constexpr int WARP = WARP_LANES;

/// Numbers of threads per block: BLOCK_THREADS is the default, and WIDEST_BLOCK is the maximum.
enum BlockShape { BLOCK_THREADS = 256, WIDEST_BLOCK = 1024 };

constexpr u32 ALL_LANES = 0xffffffffu;

template <class A, class B> struct is_same {
  static constexpr bool value = false;
};
template <class A> struct is_same<A, A> {
  static constexpr bool value = true;
};

// --- values ---------------------------------------------------------------------------------

template <class T> struct is_float {
  static constexpr bool value = false;
};
template <> struct is_float<float> {
  static constexpr bool value = true;
};
template <> struct is_float<double> {
  static constexpr bool value = true;
};

/// Converts a value to another type, as the method `astype` of the library does. In a conversion
/// from a float to an integer type, a value outside the range of the type becomes the nearest
/// bound, and NaN becomes 0.
template <class To, class From> DEVICE To convert(From x) {
  if constexpr (is_same<To, bool>::value) {
    return x != From(0);
  } else if constexpr (is_float<From>::value && !is_float<To>::value) {
    constexpr bool is_signed = To(-1) < To(0);
    constexpr u64 most =
        is_signed ? (u64(1) << (8 * sizeof(To) - 1)) - 1 : ~u64(0) >> (64 - 8 * sizeof(To));
    constexpr To greatest = To(most), least = is_signed ? To(-i64(most) - 1) : To(0);
    return semirings::to_int<To>(double(x), least, greatest);
  } else {
    return To(x);
  }
}

/// Loads *p, with a hint to the caches that *p will not be read again soon and should not displace
/// other data.
template <class T> DEVICE T load_once(const T *p) {
#ifdef GRAPHLA_SIMULATOR
  return *p;
#else
  if constexpr (is_same<T, bool>::value) return __ldcs((const u8 *)p) != 0;
  else return __ldcs(p);
#endif
}

/// How the values of an operand are stored. UNREAD: the kernel does not read them. ISO: one value
/// for all entries. EACH: one value per entry.
enum Kept { UNREAD = 0, ISO = 1, EACH = 2 };

/// How a mask selects indices. MASK_NONE: it selects all indices. MASK_FLAGS: it has one flag per
/// index. MASK_LIST: it has a list of the selected indices.
enum MaskKind { MASK_NONE = 0, MASK_FLAGS = 1, MASK_LIST = 2 };

template <class To, class From, int KEPT> struct Values {
  const From *__restrict__ at;
  DEVICE explicit Values(const From *values) : at(values) {}
  DEVICE To operator[](i64 k) const {
    if constexpr (KEPT == UNREAD) return To(0);
    else if constexpr (KEPT == ISO) return convert<To>(at[0]);
    else return convert<To>(at[k]);
  }
  /// Like operator[], for values that the kernel reads only once: they should not stay in the
  /// caches.
  DEVICE To once(i64 k) const {
    if constexpr (KEPT == EACH) return convert<To>(load_once(&at[k]));
    else return (*this)[k];
  }
};

// --- matrices ---------------------------------------------------------------------------------

/// A CSR matrix, passed to kernels by value (see `csr` in launch.py). Row i consists of the entries
/// indptr[i] to indptr[i + 1] - 1. To make the compiler load through a pointer with ld.global.nc, a
/// kernel must copy the pointer to a local variable of type `const T *__restrict__`.
template <class Offset, class Stored = i8> struct Csr {
  const Offset *indptr;  // nrows + 1 offsets
  const i32 *indices;    // the column of each entry
  /// One value per entry, or one for all (see `Kept`); null if no value is read.
  const Stored *values;
  i64 nrows, ncols;

  DEVICE i64 begin(i64 row) const { return i64(indptr[row]); }
  DEVICE i64 end(i64 row) const { return i64(indptr[row + 1]); }
};

// --- loads and stores with intended data races ------------------------------------------------

#ifndef GRAPHLA_SIMULATOR
template <class T> DEVICE T load_relaxed(const T *p) { return *(const volatile T *)p; }
template <class T> DEVICE void store_relaxed(T *p, T value) { *(volatile T *)p = value; }
#else
using simulator::load_relaxed;
using simulator::store_relaxed;
#endif

/// Loads *p, possibly from the L1 cache of the multiprocessor. So the result may be any value that
/// *p had since the start of the kernel; use this function only where all of them are acceptable.
/// In contrast, load_relaxed bypasses the L1 cache.
template <class T> DEVICE T load_cached(const T *p) {
#ifndef GRAPHLA_SIMULATOR
  return *p;
#else
  return load_relaxed(p);
#endif
}

// --- threads ----------------------------------------------------------------------------------

DEVICE i64 thread_in_grid() { return i64(blockIdx.x) * blockDim.x + threadIdx.x; }
DEVICE i64 threads_in_grid() { return i64(gridDim.x) * blockDim.x; }
DEVICE int lane() { return int(threadIdx.x) & (WARP - 1); }
DEVICE int warp_in_block() { return int(threadIdx.x) / WARP; }

template <class T> DEVICE T least(T a, T b) { return b < a ? b : a; }
template <class T> DEVICE T greatest(T a, T b) { return a < b ? b : a; }

/// The unsigned integer type with BYTES bytes.
template <int BYTES> struct uint_of {
  typedef u64 type;
};
template <> struct uint_of<4> {
  typedef u32 type;
};
template <> struct uint_of<2> {
  typedef u16 type;
};
template <> struct uint_of<1> {
  typedef u8 type;
};

}  // namespace graphla
#endif
