// What is left of a round of PageRank, once each vertex has what its in-edges carry: see loops/ranks.
//
//   r'(v) = arrived(v) + (1 - alpha) jump(v) + alpha fallen fall(v)
//   carried(v) = share(v) r'(v)
// where `fallen`, the ranks of dangling vertices (share 0) a round ago, is the sum of what the
// blocks found then. A thread takes every so many-th vertex; sums are joined in an order of their
// own, so that a round gives the same bits run by run.
#include "collectives.cuh"

namespace graphla {

constexpr int RANKS_BLOCK = 256;

/// How ranks are told: those of the start, or of a round.
enum Turn { AT_START = 0, IN_ROUND = 1 };

/// The sum of x over the block, in every thread; all of them call.
DEVICE double block_sum(double x, double *scratch) {
  for (int delta = WARP / 2; delta; delta /= 2) x += __shfl_xor_sync(ALL_LANES, x, delta);
  __syncthreads();
  if (lane() == 0) scratch[warp_in_block()] = x;
  __syncthreads();
  double total = 0;
  for (int warp = 0; warp < RANKS_BLOCK / WARP; ++warp) total += scratch[warp];
  return total;
}

/// Vertices from `rows` on have no in-edges. `jump` and `fall` have a value for each vertex, or one for all (a stride of 0). `before` and `sums`
/// are pairs of a block each: how much the ranks changed, and the ranks of dangling vertices.
template <class Op, class T, int TURN>
__global__ void __launch_bounds__(RANKS_BLOCK)
settle_ranks(i64 n, i64 rows, const bool *__restrict__ present, const T *__restrict__ arrived,
             const T *__restrict__ share, const T *__restrict__ jump, i64 jump_stride,
             const T *__restrict__ fall, i64 fall_stride, double alpha, const double *__restrict__ before,
             i32 blocks_before, T *rank, T *carried, double *sums) {
  SHARED(double, scratch, RANKS_BLOCK / WARP);
  double fallen = 0;
  if constexpr (TURN == IN_ROUND) {
    for (i32 k = i32(threadIdx.x); k < blocks_before; k += RANKS_BLOCK) fallen += before[2 * k + 1];
    fallen = alpha * block_sum(fallen, scratch);
  }
  double change = 0, dangling = 0;
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    const T its_share = share[v];
    T now = rank[v];
    if constexpr (TURN == IN_ROUND) {
      double sum = v < rows && present[v] ? double(arrived[v]) : 0;
      sum += (1 - alpha) * double(jump[v * jump_stride]) + fallen * double(fall[v * fall_stride]);
      const T next = T(sum);
      change += next < now ? double(now - next) : double(next - now);
      rank[v] = now = next;
    }
    carried[v] = its_share * now;
    if (its_share == T(0)) dangling += double(now);
  }
  change = block_sum(change, scratch);
  dangling = block_sum(dangling, scratch);
  if (threadIdx.x == 0) {
    sums[2 * blockIdx.x] = change;
    sums[2 * blockIdx.x + 1] = dangling;
  }
}

}  // namespace graphla
