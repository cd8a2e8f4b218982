// One entry at a time: casts, and apply with or without a scalar and the place of the entry.
//
// z[k] = Op::call(x[k], i, j, thunk) where entry k lies at (i, j). A thread strides over entries.
#include "rows.cuh"

namespace graphla {

/// z[k] = x[k] as another type.
template <class Op, class To, class From>
__global__ void cast_values(const From *x, To *z, i64 count) {
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) z[k] = convert<To>(x[k]);
}

/// z[k] = Op::call(x[k], thunk): a function of the value alone.
template <class Op, class Stored, int KEPT>
__global__ void map_values(const Stored *x_values, typename Op::THUNK thunk, typename Op::Z *z, i64 count) {
  const Values<typename Op::X, Stored, KEPT> x(x_values);
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) z[k] = Op::call(x[k], 0, 0, thunk);
}

/// z[k] = Op::call(x[k], i, j, thunk): a function of the place too.
template <class Op, class Stored, int KEPT, int WHERE, class Offset>
__global__ void map_entries(const Offset *indptr, i64 nrows, const i32 *indices, const Stored *x_values,
                            typename Op::THUNK thunk, typename Op::Z *z, i64 count) {
  SHARED(i64, span, 2);
  const Values<typename Op::X, Stored, KEPT> x(x_values);
  each_entry<WHERE, Op::NEEDS_ROW>(indptr, nrows, indices, count, count, span, [&](i64 k, i64 i, i64 j) {
    if (k < count) z[k] = Op::call(x[k], i, j, thunk);
  });
}

}  // namespace graphla
