// Breadth-first search of a small graph: one cluster of blocks runs the whole traversal. The bit
// maps of all vertices fit in the shared memory of each block, and a level needs no grid barrier.
//
// At each level, the kernel chooses push or pull from the counts of the level, finds the new
// vertices, and sends them to all blocks. At the end it writes the results in the user's numbering.
// bfs_small.cuh contains the steps of a level and states the invariants.
#include "bfs_small.cuh"

namespace graphla {

/// The state of a search and the loop over its levels. All blocks have the same values in these
/// fields, except that the maps in `search` differ.
template <class S, class Offset, class Level, int CLUSTER, int THREADS> struct SmallCourse {
  S search;
  const Graph<Offset> &graph;
  const Query &query;
  const Answer<Offset, Level> &answer;
  const Records &trace;
  StopFlag flag;
  float push_cost;
  u32 all;  // number of edges in the graph

  // The counts of the current level. At first they are the counts of this thread; at the end of the
  // level they are replaced with the sums over all threads of all blocks.
  SmallSums sum{};
  Found found = STARTS;  // how each block learns which vertices that it owns are new in this level
  u32 level = 0;
  u32 count = 0, edges = 0;  // number of vertices in the frontier, and number of edges out of them
  u32 reached = 0;
  // Number of vertices that are not reached yet, and number of edges into them.
  u32 left = 0, into_left;
  // If the previous level was a pull: the number of unreached vertices before the pull, and the
  // number of vertices that the pull found. `looks_of_pull` uses them as the result of a sample.
  u32 open = 0, hits = 0;

  DEVICE bool is_leader() const { return blockIdx.x == 0 && threadIdx.x == 0; }
  DEVICE bool is_one_byte() const { return sizeof(Level) == 1 && answer.levels; }

  DEVICE void run() {
    search.clear();
    search.forbid(graph, query, sum);
    search.begin(graph, query);
    into_left = all;
#pragma unroll 1
    while (true) {
      close_level();
      if (is_over()) break;
      const bool pulls = is_pull_cheaper();
      if (is_leader() && trace.at) trace.add(level, pulls ? BY_PULL : BY_PUSH, count, edges);
      ++level;
      sum = SmallSums{};
      sum.stops = is_leader() && flag.is_up();
      open_level(pulls);
    }
    if (is_leader() && trace.at) trace.add(level, BY_PUSH, 0, 0);
    if (!sum.stops) write_answer();
  }

  /// Makes the vertices found in level `level` the frontier of all blocks.
  DEVICE void close_level() {
    search.hand_out(found, level, sum);
    search.give(sum, level & 1);
    sum = search.receive(level & 1);
    search.take_after(found == FETCHED);
    open = found == PULLED ? left : 0, hits = sum.found;
    count = sum.found, edges = sum.out, reached += count;
    left = found == STARTS ? sum.left : left - least(left, count);
    into_left -= least(into_left, sum.into);
    __syncthreads();
  }

  DEVICE bool is_over() const {
    return !count || !left || i64(level) >= query.limit || sum.stops ||
           (is_one_byte() && level > DEEP);
  }

  DEVICE bool is_pull_cheaper() const {
    if (query.direction != EITHER || !graph.in_indptr) return query.direction == PULLS;
    const float push = float(edges) * push_cost, most = float(into_left);
    return push > float(left) &&
           push > looks_of_pull(float(left), most, 1 - most / float(all), float(open), float(hits));
  }

  /// Finds the vertices of the next level: by a pull if `pulls` is true, otherwise by a push.
  DEVICE void open_level(bool pulls) {
    found = pulls ? PULLED : edges < search.all_words() ? SENT : FETCHED;
    if (pulls) search.pull();
    else search.push();
    if (found == SENT) search.send();
    else search.clear_front();
    if (found != PULLED) cluster_meet<CLUSTER>();
  }

  DEVICE void write_answer() {
    search.show(graph.n, graph.renumbered, answer.present);
    if constexpr (S::HAS_PARENTS) {
      if (answer.least_ptr) {
        cluster_meet<CLUSTER>();
        take_least_parents(graph.n, answer);
      }
    }
  }

  DEVICE void report(const Launch &launch) const {
    if (!is_leader()) return;
    const bool is_too_deep = is_one_byte() && count && level > DEEP;
    tell_host(launch, HOST_STATUS,
              sum.stops     ? u32(STOPPED)
              : is_too_deep ? u32(TOO_DEEP)
                            : u32(FINISHED));
    tell_host(launch, HOST_RESULTS, count || !level ? level : level - 1);
    tell_host(launch, HOST_RESULTS + 1, reached);
    tell_host(launch, HOST_RESULTS + 2, u32(least(i64(level) + 1, trace.room)));
  }
};

/// The kernel for graphs with fewer than 2^31 edges whose rows have fewer than 2^28 entries.
template <class Op, class Offset, class Level, bool PARENTS, int CLUSTER, int THREADS>
__global__ void __launch_bounds__(THREADS, 1) CLUSTER(CLUSTER)
    search_small(Launch launch, Graph<Offset> graph, Query query, Answer<Offset, Level> answer,
                 SmallLimits limits, Records records) {
  typedef Small<Offset, Level, PARENTS, CLUSTER, THREADS> S;
  SHARED_BYTES(bytes);
  SHARED(i32, far, SMALL_FAR);
  SHARED(i32, far_by, SMALL_FAR);
  SHARED(i32, row_by, THREADS);
  SHARED(u32, far_begin, SMALL_FAR);
  SHARED(u32, far_end, SMALL_FAR);
  SHARED(u32, scratch, WARP + 1);
  SHARED(u32, totals, 12);
  const SmallMemory memory{far,     far_by, far_begin,   far_end,    row_by,
                           scratch, totals, &totals[10], &totals[11]};
  SmallCourse<S, Offset, Level, CLUSTER, THREADS> course{
      S(graph, answer, limits, bytes, memory),
      graph,
      query,
      answer,
      records,
      StopFlag(launch),
      limits.push_cost,
      graph.in_indptr ? u32(graph.in_indptr[graph.active]) : 0};
  course.run();
  course.report(launch);
}

}  // namespace graphla
