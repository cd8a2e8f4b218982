// The second half of a round of PageRank. In the first half, a matrix-vector product (spmv.cu)
// computes arrived(v), the rank that vertex v receives through its in-edges. This kernel then
// computes the new rank r'(v) of each vertex, and the rank that it passes to the next round:
//
//   r'(v) = arrived(v) + (1 - alpha)·jump(v) + fallen·fall(v)
//   carried(v) = share(v)·r'(v)
//
// jump(v) is the probability that a random jump ends at v, and fall(v) the probability that the
// walk continues at v after it has reached a dangling vertex (a vertex without out-edges). `fallen`
// is alpha times the sum of the ranks of all dangling vertices before the round. share(v) is alpha
// divided by the total weight of the out-edges of v, or 0 if v is dangling.
//
// In a grid of k threads, thread t processes the vertices t, t + k, t + 2k, and so on. Sums are
// added in a fixed order, so the ranks are bitwise equal in every run.
#include "collectives.cuh"

namespace graphla {

/// What a launch computes. IN_ROUND: the new ranks, and then the array `carried` and the sums for
/// the new ranks. AT_START: only `carried` and the sums, for the initial ranks.
enum Turn { AT_START = 0, IN_ROUND = 1 };

/// The parameters of the random walk. The strides of the arrays `jump` and `fall` are `jump_step`
/// and `fall_step`. A stride is 0 if the array has one value for all vertices, otherwise 1.
template <class T> struct Walk {
  i64 n;
  i64 rows;        // vertices with the numbers `rows` and higher have no in-edges
  const T *share;  // per vertex: alpha divided by the total weight of its out-edges
  const T *jump;   // per vertex: the probability that a random jump ends there
  i64 jump_step;
  const T *fall;  // per vertex: the probability that a walk goes there from a dangling vertex
  i64 fall_step;
  double alpha;
  T *rank, *carried;
};

/// The sums that one block computes over its vertices: the total change of the ranks, and the total
/// rank of the dangling vertices.
struct Sums {
  double change, dangling;
};

/// Computes the ranks of one round or, if TURN is AT_START, prepares the first round. Vertex v
/// receives the rank arrived[v] through its in-edges if present[v] is true, otherwise 0. The array
/// `sums_before` contains one `Sums` per block of the previous launch, which had `blocks` blocks.
/// Each block of this launch stores its own `Sums` in the array `sums`.
template <class Op, class T, int TURN>
__global__ void __launch_bounds__(PageRankTuning::block)
    settle_ranks(Walk<T> walk, const bool *__restrict__ present, const T *__restrict__ arrived,
                 const double *__restrict__ sums_before, i32 blocks, double *sums) {
  SHARED(double, scratch, WARP + 1);
  const T *__restrict__ share = walk.share, *__restrict__ jump = walk.jump,
                        *__restrict__ fall = walk.fall;
  const Sums *const before = (const Sums *)sums_before;
  double fallen = 0;
  if constexpr (TURN == IN_ROUND) {
    for (i32 k = i32(threadIdx.x); k < blocks; k += i32(blockDim.x)) fallen += before[k].dangling;
    fallen = walk.alpha * block_sum(fallen, scratch);
  }
  double change = 0, dangling = 0;
  for (i64 v = thread_in_grid(); v < walk.n; v += threads_in_grid()) {
    const T its_share = share[v];
    T now = walk.rank[v];
    if constexpr (TURN == IN_ROUND) {
      double sum = v < walk.rows && present[v] ? double(arrived[v]) : 0;
      sum += (1 - walk.alpha) * double(jump[v * walk.jump_step]) +
             fallen * double(fall[v * walk.fall_step]);
      const T next = T(sum);
      change += next < now ? double(now - next) : double(next - now);
      walk.rank[v] = now = next;
    }
    walk.carried[v] = its_share * now;
    if (its_share == T(0)) dangling += double(now);
  }
  change = block_sum(change, scratch);
  dangling = block_sum(dangling, scratch);
  if (threadIdx.x == 0) ((Sums *)sums)[blockIdx.x] = {change, dangling};
}

}  // namespace graphla
