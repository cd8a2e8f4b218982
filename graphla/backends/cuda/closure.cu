// Closure: the least x for which x = x (+) x A, in one launch. The kernel multiplies the entries of
// x that have improved, until no entry improves any more. With ROUNDS it computes a given number of
// products instead.
//
// Entries that improved wait in lists. Each step multiplies the entries in the near list. Four
// threads read each short row (at most `LIGHT` edges), and the edges of long rows are divided
// evenly among all warps. With NEAR_FAR, an entry beyond the horizon waits in the far list. When
// the near list is empty, the horizon moves to `delta` beyond the best far entry, and the far list
// is split again (a turn). While the near list is short, a step is *fused*: each block iterates for
// some rounds, without a grid barrier, on the vertices with short rows that it has improved. When
// very few entries are near, block 0 works alone for several steps, again without grid barriers.
//
// Invariants:
// - A vertex waits in at most one near list, and its code says which. If the vertex improves while
//   it is being multiplied, it is listed again. For short rows, the code is cleared before the
//   value is read.
//   For long rows, which are only listed for the next step, the code holds the stamp of an earlier
//   step.
// - An entry in the far list that is not beyond the horizon is outdated: it has since been listed
//   as near.
// - No thread appends to a list that is read in the same step.
//
#include "closure.cuh"

namespace graphla {

/// The state of a closure. All blocks have the same copy, but while block 0 works alone, only its
/// copy is valid.
template <class Work> struct Course {
  typedef typename Work::Key Key;
  static constexpr int HOW = Work::METHOD;
  static constexpr bool PARENTS = Work::NAMES_PARENTS;

  Work &work;
  Grid &grid;
  const u64 *host;
  i64 patience;
  Records records;
  double delta;
  u32 turns;   // maximum number of rounds
  u64 *state;  // in shared memory: sizes of the lists (see `look`), then the state that block 0
               // reports
  i64 *leads;  // in shared memory, for thread 0 only: the clock time at which to read the host's
               // stop word next, and the number of records

  u32 rounds = 0;
  u32 rounds_told = 0,
      turns_told = 0;    // number of rounds and turns until no value improved any more
  bool is_first = true;  // whether this is the first turn
  bool is_alone = false, wants_stop = false, is_stopped = false, is_settled = false;

  DEVICE bool is_leader() const { return blockIdx.x == 0 && threadIdx.x == 0; }

  /// Returns whether the host has asked the kernel to stop. Thread 0 reads the host's word only
  /// from time to time.
  DEVICE bool is_unwanted() const {
    StopFlag flag(host, patience);
    flag.due = leads[0];
    const bool is_up = flag.is_up();
    leads[0] = flag.due;
    return is_up;
  }
  /// Reads the sizes of the near lists and of the far list, and the best key in the far list.
  DEVICE void look() {
    __syncthreads();
    if (threadIdx.x < 4) {
      const u32 at = threadIdx.x < 2 ? work.lists.step % 3 : work.lists.turn % 3;
      u64 held = load_relaxed(&work.lists.control[W_NEAR + 3 * threadIdx.x + at]);
      // An overflow of the far list may be noticed one step late. Until then the counter includes
      // entries that did not fit in the list.
      if (threadIdx.x == 2) held = least(held, u64(work.lists.waiting.n));
      state[threadIdx.x] = held;
    }
    __syncthreads();
  }
  DEVICE bool is_turn() const { return state[0] == 0 && state[1] == 0; }
  DEVICE bool is_done() const { return is_turn() && state[2] == 0; }
  /// Returns whether there is so little work that block 0 should do it alone.
  DEVICE bool is_little() const {
    const Limits &most = work.limits;
    if (is_turn()) return state[2] <= most.alone_rows;
    return state[0] <= most.alone_rows && (state[1] & EDGES) <= most.alone_edges;
  }
  DEVICE void meet() {
    if (is_alone) __syncthreads();
    else grid.meet();
  }
  DEVICE i64 thread() const { return is_alone ? threadIdx.x : thread_in_grid(); }
  DEVICE i64 threads() const { return is_alone ? blockDim.x : threads_in_grid(); }

  // --- one step or turn -------------------------------------------------------------------------

  /// Moves the horizon, and splits the far list.
  DEVICE void take_turn() {
    const Key before = work.lists.horizon;
    if constexpr (HOW == NEAR_FAR) {
      if (work.lists.pass == IMPROVE)
        work.lists.horizon = Work::Cells::Order::within(Key(~state[3]), delta);
    }
    work.split(state[2], before, is_first, thread(), threads());
    is_first = false;
  }
  /// Multiplies the near lists. Returns the number of rounds that this took.
  DEVICE u32 take_step() {
    auto &lists = work.lists;
    const Limits &most = work.limits;
    const u64 near_rows = state[0], long_rows = state[1];
    const auto asks = [this] { return is_unwanted(); };
    if constexpr (HOW == ROUNDS) {
      work.note_before(near_rows, long_rows, thread(), threads());
      meet();
    }
    const bool is_small = near_rows <= most.fused_rows && (long_rows & EDGES) <= most.fused_edges;
    lists.is_fused = HOW != ROUNDS && lists.held_most > 0 && is_small;
    const u32 left = lists.pass == IMPROVE ? turns - rounds : ~0u;
    const u32 here = is_alone ? left : least(left, most.fused_rounds + 1);
    const u32 taken = work.take_step(near_rows, long_rows, is_alone, here, asks);
    if constexpr (PARENTS && HOW == ROUNDS) {
      meet();
      lists.pass = ORIGINS;
      work.take_step(near_rows, long_rows, is_alone, 1, asks);
      lists.pass = IMPROVE;
    }
    return is_alone ? taken : 1;
  }
  /// Runs one step or one turn, either in all blocks or in block 0 alone.
  DEVICE void move() {
    auto &lists = work.lists;
    const bool turns_now = is_turn();
    if (is_leader()) {
      const u64 frontier = turns_now ? state[2] : state[0] + (state[1] >> COUNT_SHIFT);
      const u64 edges = load_relaxed(&lists.control[W_EDGES]);
      records.add(leads[1]++, (turns_now ? 2 : 0) + (is_alone ? 1 : 0), frontier, edges);
    }
    if (turns_now) take_turn();
    else rounds += take_step();
    if (records.at != nullptr) work.tell_edges();
    if (is_leader()) {  // reset the counters for the step after the next
      store_relaxed(lists.near_count(lists.step + 2), u64(0));
      store_relaxed(lists.long_count(lists.step + 2), u64(0));
      if (turns_now) {
        store_relaxed(lists.far_count(lists.turn + 2), u64(0));
        store_relaxed(lists.far_best(lists.turn + 2), u64(0));
      }
    }
    ++lists.step;
    lists.turn += turns_now;
    const bool wishes = is_leader() && (is_unwanted() || load_relaxed(&lists.control[W_FULL]));
    if (is_alone) wants_stop = __syncthreads_or(wishes);
    else is_stopped = grid.meet(wishes);
  }
  /// Ends the steps that block 0 runs alone, and passes its state to all blocks.
  DEVICE void rejoin() {
    auto &lists = work.lists;
    u64 *told = &lists.control[W_STEP];
    if (is_leader()) {
      store_relaxed(&told[0], u64(lists.step));
      store_relaxed(&told[1], u64(lists.turn));
      store_relaxed(&told[2], u64(rounds));
      if constexpr (HOW == NEAR_FAR) store_relaxed(&told[3], u64(lists.horizon));
    }
    is_stopped = grid.meet(wants_stop);
    if (threadIdx.x < 4) state[4 + threadIdx.x] = load_relaxed(&told[threadIdx.x]);
    __syncthreads();
    lists.step = u32(state[4]);
    lists.turn = u32(state[5]);
    rounds = u32(state[6]);
    if constexpr (HOW == NEAR_FAR) lists.horizon = Key(state[7]);
    is_first = false;
    is_alone = false;
  }

  // --- the main loop ----------------------------------------------------------------------------

  /// Clears the value of every vertex, sets the values of the starts, and puts the starts in the
  /// far list.
  template <class T> DEVICE void begin(const Starts<T> &x) {
    if (threadIdx.x == 0) {
      leads[0] = clock64() + patience;
      leads[1] = 0;
    }
    if (x.present != nullptr || x.count < work.lists.waiting.n || PARENTS) {
      for (i64 v = thread_in_grid(); v < work.lists.waiting.n; v += threads_in_grid()) {
        work.cells.clear(v);
        if constexpr (PARENTS) work.parents[v] = NO_PARENT;
      }
      grid.meet();
    }
    work.each_start(x, [this](i32 v, Key key, bool is_there) {
      if (is_there) work.cells.put(v, key, FAR);
      if (PARENTS && HOW == ROUNDS && is_there) work.parents[v] = v;
      work.lists.push_start(v, key, is_there, 0);
    });
    grid.meet();
  }
  /// Starts to build the tree of parents. Its roots are the starts whose values have not changed.
  /// It grows along edges whose terms equal the values of the vertices that they lead to.
  template <class T> DEVICE void plant(const Starts<T> &x) {
    grid.meet();  // wait until all blocks have seen that the lists are empty
    work.lists.pass = TREE;
    work.each_start(x, [this](i32 v, Key key, bool is_there) {
      const bool is_root = is_there && Work::Cells::is_equal(key, work.cells.key_of(v));
      if (is_root) work.parents[v] = v;
      work.lists.push_start(v, key, is_root, work.lists.turn);
    });
    grid.meet();
  }
  /// Runs until one of these happens: the lists are empty, the limit of rounds is reached, or the
  /// host asks the kernel to stop.
  template <class T> DEVICE void run(const Starts<T> &x) {
    while (!is_stopped) {
      look();
      const bool is_improving = work.lists.pass == IMPROVE;
      const bool is_out = is_improving && rounds >= turns;
      const bool is_over = is_done() || is_out || (is_alone && wants_stop);
      const bool is_few = !is_over && is_little();
      if (is_over && !is_alone) {
        if (is_improving) is_settled = is_done();
        if (!PARENTS || HOW == ROUNDS || !is_settled || !is_improving) break;
        note_count();
        plant(x);
        continue;
      }
      if (is_few && !is_alone) {
        grid.meet();  // wait until all blocks have read what block 0 is about to change
        is_alone = true;
      }
      if (is_alone && (!is_few || blockIdx.x != 0)) rejoin();
      else move();
    }
    if (work.lists.pass == IMPROVE) note_count();
    if (is_leader()) records.add(leads[1], 0, 0, load_relaxed(&work.lists.control[W_EDGES]));
  }
  DEVICE void note_count() {
    rounds_told = rounds;
    turns_told = work.lists.turn;
  }
};

/// Further parameters of a closure.
struct Plan {
  double delta;  // the width of a bucket
  u32 turns;     // maximum number of rounds
  Limits limits;
  Records records;
};

/// The results of a closure for each vertex.
template <class T> struct Results {
  T *values;
  bool *present;
};

/// Reports to the host how the closure ended.
template <class Work> DEVICE void report(const Course<Work> &course, const Launch &launch) {
  const u64 *control = launch.control;
  const auto word = [&](int w) { return u32(load_relaxed(&control[w])); };
  const u32 status = word(W_FULL) ? FAULT : course.is_stopped ? STOPPED : FINISHED;
  tell_host(launch, HOST_STATUS, status);
  tell_host(launch, HOST_RESULTS, word(W_REACHED));
  tell_host(launch, HOST_RESULTS + 1, course.rounds_told);
  tell_host(launch, HOST_RESULTS + 2, course.turns_told);
  tell_host(launch, HOST_RESULTS + 3, course.work.lists.step);
  tell_host(launch, HOST_RESULTS + 4, word(W_OVERFLOWED));
  tell_host(launch, HOST_RESULTS + 5, u32(course.is_settled));
  tell_host(launch, HOST_RESULTS + 6, word(W_ORPHANS));
}

template <class Op, class Offset, class A, int KEPT_A, class T, int HOW, bool PARENTS, bool MASKED>
__global__ void __launch_bounds__(BLOCK, 1)
    close_over(Launch launch, Csr<Offset, A> graph, Mask mask, Starts<T> x, State state,
               Waiting<typename Bits<sizeof(Offset)>::type> waiting, Plan plan,
               Results<T> results) {
  typedef Closing<Op, Offset, A, KEPT_A, HOW, PARENTS, MASKED> Work;
  typedef typename Work::Cells Cells;
  typedef typename Work::Key Key;
  SHARED(i32, held_ids, 2 * HELD);
  SHARED(u64, held_rows, 2 * HELD);
  SHARED(u32, held_counts, 6);
  SHARED(u32, gathered_ids, 2 * BLOCK);
  SHARED(Key, gathered_keys, 2 * BLOCK);
  SHARED(u64, totals, 8);
  SHARED(i64, leads, 2);
  const Offset *__restrict__ indptr = graph.indptr;
  const i32 *__restrict__ indices = graph.indices;
  const int mine = 2 * WARP * warp_in_block();
  const Held<Key> held{held_ids, held_rows, held_counts, gathered_ids + mine, gathered_keys + mine};
  Work work{{indptr, waiting, launch.control, held, plan.limits.held},
            indices,
            Values<typename Op::A, A, KEPT_A>(graph.values),
            mask.flags,
            mask.complement,
            Cells(state.cells, state.codes),
            (Key *)state.before,
            state.parents,
            plan.limits};
  Grid grid(launch);
  Course<Work> course{work,       grid,   launch.host, launch.patience, plan.records, plan.delta,
                      plan.turns, totals, leads};
  course.begin(x);
  course.run(x);
  work.write_out(results.values, results.present);
  if (is_last_block(grid) && threadIdx.x == 0) report(course, launch);
}

}  // namespace graphla
