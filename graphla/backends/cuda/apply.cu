// Element-wise operations on one operand: casts, and `apply`.
//
// z[k] = Op::call(x[k], i, j, thunk), where x[k] is the value of entry k, (i, j) is its position,
// and the thunk is the scalar argument of the operator. Operators may ignore the position or the
// thunk. The kernels are grid-stride loops over the entries.
#include "rows.cuh"

namespace graphla {

/// Computes z[k] = map(x[k]) for all k. In each tile, a thread issues all its loads before its
/// stores, so that several loads are in flight at the same time.
template <class X, class Z, class Map>
DEVICE void map_tiles(X x, Z *__restrict__ z, i64 count, Map map) {
  const i64 tile = i64(blockDim.x) * STEPS;
  for (i64 begin = blockIdx.x * tile; begin < count; begin += gridDim.x * tile) {
    const i64 k = begin + threadIdx.x;
    if (begin + tile <= count) {
      decltype(x[k]) read[STEPS];
#pragma unroll
      for (int n = 0; n < STEPS; n++) read[n] = x[k + n * blockDim.x];
#pragma unroll
      for (int n = 0; n < STEPS; n++) z[k + n * blockDim.x] = map(read[n]);
    } else {
      for (i64 at = k; at < count; at += blockDim.x) z[at] = map(x[at]);
    }
  }
}

/// Computes z[k] = x[k] converted to type `To`.
template <class Op, class To, class From>
__global__ void cast_values(const From *values, To *z, i64 count) {
  const Values<From, From, EACH> x(values);
  map_tiles(x, z, count, [](From value) { return convert<To>(value); });
}

/// Computes z[k] = Op::call(x[k], 0, 0, thunk), for operators that ignore the position of an entry.
template <class Op, class Stored, int KEPT>
__global__ void map_values(const Stored *x_values, typename Op::THUNK thunk, typename Op::Z *z,
                           i64 count) {
  typedef typename Op::X X;
  const Values<X, Stored, KEPT> x(x_values);
  map_tiles(x, z, count, [thunk](X value) { return Op::call(value, 0, 0, thunk); });
}

/// Computes z[k] = Op::call(x[k], i, j, thunk), for operators that also use the position of an
/// entry.
template <class Op, class Stored, int KEPT, int WHERE, class Offset>
__global__ void map_entries(const Offset *indptr, i64 nrows, const i32 *indices,
                            const Stored *x_values, typename Op::THUNK thunk,
                            typename Op::Z *__restrict__ z, i64 count) {
  SHARED(i64, span, 2);
  const Values<typename Op::X, Stored, KEPT> x(x_values);
  each_entry<WHERE, Op::NEEDS_ROW>(indptr, nrows, indices, count, count, span,
                                   [&](i64 k, i64 i, i64 j) {
    if (k < count) z[k] = Op::call(x[k], i, j, thunk);
  });
}

}  // namespace graphla
