// Element-wise operations on dense vectors (bitmap or full). If both operands have an entry at an
// index, the result has op(x, y) there. If only one operand has an entry, an intersection has no
// entry there. A union then contains this entry; if fill values are given, op combines the entry
// with the fill value of the other operand. Other kernels combine each entry of a sparse vector
// with the value of a dense vector at the same index. Each thread strides over indices or entries.
#include "rows.cuh"

namespace graphla {

enum How { INTERSECTION = 0, UNION = 1, FILLED_UNION = 2 };

/// Combines two dense vectors a and b. A_MAY is true if a may lack entries; then a false flag in
/// `a_present` marks a missing entry. B_MAY and `b_present` have the same meaning for b. If the
/// result may lack entries, the kernel stores the flags of the result in `present` and adds the
/// number of its entries to *counter, which must initially be zero.
template <class Op, class A, int KEPT_A, class B, int KEPT_B, bool A_MAY, bool B_MAY, int HOW>
__global__ void combine_dense(const bool *__restrict__ a_present, const A *a_values,
                              const bool *__restrict__ b_present, const B *b_values,
                              typename Op::X left, typename Op::Y right, i64 size, bool *present,
                              typename Op::Z *z, u64 *counter) {
  typedef typename Op::Z Z;
  SHARED(u64, scratch, WARP + 1);
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
    u64 total;
    block_exclusive_sum(found, scratch, total);
    if (threadIdx.x == 0 && total) atomicAdd(counter, total);
  }
}

/// Computes z[k] = x[k] (.) y[indices[k]]. If FLIPPED is true, the operands are exchanged. x is
/// sparse, and y has a value at every index.
template <class Op, class A, int KEPT_A, class B, int KEPT_B, bool FLIPPED>
__global__ void meet_dense(const i32 *__restrict__ indices, const A *a_values, const B *b_values,
                           typename Op::Z *z, i64 count) {
  const Values<A, A, KEPT_A> x(a_values);
  const Values<B, B, KEPT_B> y(b_values);
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) {
    const i64 i = indices[k];
    z[k] = FLIPPED ? Op::accumulate(y[i], x[k], i, 0) : Op::accumulate(x[k], y[i], i, 0);
  }
}

/// Computes flags[k] = present[indices[k]].
template <class Op>
__global__ void look_up(const i32 *__restrict__ indices, const bool *__restrict__ present,
                        bool *flags, i64 count) {
  for (i64 k = thread_in_grid(); k < count; k += threads_in_grid()) flags[k] = present[indices[k]];
}

}  // namespace graphla
