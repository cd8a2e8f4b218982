// One entry at a time: apply, with or without the place of the entry, and the flags of select.
#include "device.cuh"

namespace graphla {

/// z[k] = Op::call(x[k], thunk): a function of the value alone.
template <class Op, class Stored, int KEPT>
__global__ void map_values(const Stored *x_values, typename Op::THUNK thunk, typename Op::Z *z, i64 count) {
  const Values<typename Op::X, Stored, KEPT> x(x_values);
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) z[k] = Op::call(x[k], 0, 0, thunk);
}

/// z[k] = Op::call(x[k], i, j, thunk) where entry k lies at (i, j): rows[k], columns[k] in a matrix;
/// in a vector j is 0 and `columns` its indices.
template <class Op, class Stored, int KEPT, bool IS_MATRIX>
__global__ void map_entries(const i32 *rows, const i32 *columns, const Stored *x_values,
                            typename Op::THUNK thunk, typename Op::Z *z, i64 count) {
  const Values<typename Op::X, Stored, KEPT> x(x_values);
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    if constexpr (IS_MATRIX) z[k] = Op::call(x[k], rows[k], columns[k], thunk);
    else z[k] = Op::call(x[k], columns[k], 0, thunk);
  }
}

}  // namespace graphla
