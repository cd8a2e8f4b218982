// Two vectors that have a place for each index, bitmap or full: op where both have an entry, and in
// a union what one alone has, or op of that and its fill. A thread strides over indices.
#include "rows.cuh"

namespace graphla {

enum How { INTERSECTION = 0, UNION = 1, FILLED_UNION = 2 };

/// A_MAY / B_MAY: whether a or b may lack entries, those where its flag is false. `present` and
/// `counter`, which must arrive zero, tell where the result has entries, if it may lack some.
template <class Op, class A, int KEPT_A, class B, int KEPT_B, bool A_MAY, bool B_MAY, int HOW>
__global__ void combine_dense(const bool *__restrict__ a_present, const A *a_values,
                              const bool *__restrict__ b_present, const B *b_values,
                              typename Op::X left, typename Op::Y right, i64 size,
                              bool *present, typename Op::Z *z, u64 *counter) {
  typedef typename Op::Z Z;
  constexpr bool LACKS = HOW == INTERSECTION ? A_MAY || B_MAY : A_MAY && B_MAY;
  const Values<A, A, KEPT_A> x(a_values);
  const Values<B, B, KEPT_B> y(b_values);
  u64 found = 0;
  for (i64 k = thread_in_grid(); k < size; k += threads_in_grid()) {
    bool in_a = true, in_b = true;
    if constexpr (A_MAY) in_a = a_present[k];
    if constexpr (B_MAY) in_b = b_present[k];
    if (in_a && in_b) {
      z[k] = Op::accumulate(x[k], y[k], k, 0);
    } else if (HOW != INTERSECTION && in_a) {
      if constexpr (HOW == FILLED_UNION) z[k] = Op::accumulate(x[k], right, k, 0);
      else z[k] = convert<Z>(x[k]);
    } else if (HOW != INTERSECTION && in_b) {
      if constexpr (HOW == FILLED_UNION) z[k] = Op::accumulate(left, y[k], k, 0);
      else z[k] = convert<Z>(y[k]);
    }
    if constexpr (LACKS) {
      const bool there = HOW == INTERSECTION ? in_a && in_b : in_a || in_b;
      present[k] = there;
      found += there;
    }
  }
  if constexpr (LACKS) {
    for (int delta = WARP / 2; delta; delta /= 2) found += shuffle_down(found, delta);
    if (lane() == 0 && found) atomicAdd(counter, found);
  }
}

}  // namespace graphla
