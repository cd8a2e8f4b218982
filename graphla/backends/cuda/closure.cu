// Closure: the least x for which x = x (+) x A, in one launch. The kernel repeatedly multiplies the
// entries of x that have improved by A, until no entry improves any more. With method ROUNDS it
// computes at most a given number of products instead.
//
// Entries that have improved wait in lists. Each step multiplies the entries in the near list. Four
// threads read each short row, which has at most `LIGHT` edges. The edges of the long rows are
// divided evenly among all warps. With method NEAR_FAR there is also a limit for values, the
// horizon: an entry whose value is beyond the horizon waits in the far list. When the near list is
// empty, a *turn* takes place: the horizon moves to a value that is `delta` beyond the best entry
// of the far list, and the entries that are no longer beyond the horizon move to the near list.
//
// Grid barriers are slow, so short lists are processed without them. While the near list is short,
// a step is *fused*: each block runs several rounds by itself, on the vertices with short rows that
// it has improved. When the near list is very short, block 0 works alone for several steps.
//
// Each vertex has a code that tells which list it waits in (see closure_cells.cuh). When a vertex
// is put in a near list, its code is set to the stamp of the current step.
//
// Invariants:
// - A vertex is in at most one near list. If a vertex improves during the step that multiplies its
//   entry, it must be listed again. If its row is short, the step clears its code before it reads
//   the value, and a vertex with a cleared code is listed again. If its row is long, the code is
//   not cleared: the vertex is listed again if its code is the stamp of an earlier step.
// - An entry in the far list that is not beyond the horizon is outdated: the vertex has improved
//   since then, and was put in a near list.
// - No thread appends to a list that is read in the same step.
//
#include "closure.cuh"

namespace graphla {

/// The state of a closure. Each block has a copy, and all copies are equal. While block 0 works
/// alone, the copies of the other blocks are outdated.
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
  u32 turns;  // limit on the number of rounds
  // In shared memory: the four numbers that `read_sizes` reads, then the four numbers that block 0
  // passes to the other blocks in `rejoin`.
  u64 *state;
  // In shared memory, used by thread 0 only. leads[0] is the clock time at which thread 0 next
  // checks whether the host wants to stop. leads[1] is the number of trace records written so far.
  i64 *leads;

  u32 rounds = 0;
  // The numbers of rounds and of turns until the values stopped improving, for the host.
  u32 reported_rounds = 0, reported_turns = 0;
  bool is_first = true;  // whether this is the first turn
  bool is_alone = false, wants_stop = false, is_stopped = false, is_settled = false;

  DEVICE bool is_leader() const { return blockIdx.x == 0 && threadIdx.x == 0; }

  /// Returns whether the host has asked the kernel to stop. The request is a word in the host's
  /// memory, which thread 0 reads only at intervals of `patience` clock cycles.
  DEVICE bool is_unwanted() const {
    StopFlag flag(host, patience);
    flag.due = leads[0];
    const bool is_up = flag.is_up();
    leads[0] = flag.due;
    return is_up;
  }
  /// Reads the sizes of the near lists and of the far list, and the best key in the far list.
  DEVICE void read_sizes() {
    __syncthreads();
    if (threadIdx.x < 4) {
      const u32 at = threadIdx.x < 2 ? work.lists.step % 3 : work.lists.turn % 3;
      u64 held = load_relaxed(&work.lists.control[W_NEAR + 3 * threadIdx.x + at]);
      // If the far list overflows, its counter also counts the entries that did not fit. The kernel
      // may notice the overflow only one step later, so limit the size to the capacity of the list.
      if (threadIdx.x == 2) held = least(held, u64(work.lists.waiting.n));
      state[threadIdx.x] = held;
    }
    __syncthreads();
  }
  DEVICE bool is_turn() const { return state[0] == 0 && state[1] == 0; }
  DEVICE bool is_done() const { return is_turn() && state[2] == 0; }
  /// Returns whether the lists are so short that block 0 should process them alone.
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

  // --- a step and a turn ------------------------------------------------------------------------

  /// Runs one turn: moves the horizon, then moves to the near lists all entries of the far list
  /// that are no longer beyond the horizon.
  DEVICE void take_turn() {
    const Key before = work.lists.horizon;
    if constexpr (HOW == NEAR_FAR) {
      if (work.lists.pass == IMPROVE)
        work.lists.horizon = Work::Cells::Order::within(Key(~state[3]), delta);
    }
    work.split(state[2], before, is_first, thread(), threads());
    is_first = false;
  }

  /// Runs one step: multiplies the entries in the near lists by the matrix. Returns the number of
  /// rounds in the step, which exceeds 1 only if the step is fused.
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
  /// Runs one turn if the near lists are empty, and otherwise one step. Either all blocks call this
  /// together, or block 0 calls it alone.
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
    if (records.at != nullptr) work.add_edges_read();
    if (is_leader()) {
      // Reset the counters that step + 2 (and turn + 2) will use.
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
  /// Ends the phase in which block 0 works alone. Block 0 passes its state to all other blocks.
  DEVICE void rejoin() {
    auto &lists = work.lists;
    u64 *shared = &lists.control[W_STEP];
    if (is_leader()) {
      store_relaxed(&shared[0], u64(lists.step));
      store_relaxed(&shared[1], u64(lists.turn));
      store_relaxed(&shared[2], u64(rounds));
      if constexpr (HOW == NEAR_FAR) store_relaxed(&shared[3], u64(lists.horizon));
    }
    is_stopped = grid.meet(wants_stop);
    if (threadIdx.x < 4) state[4 + threadIdx.x] = load_relaxed(&shared[threadIdx.x]);
    __syncthreads();
    lists.step = u32(state[4]);
    lists.turn = u32(state[5]);
    rounds = u32(state[6]);
    if constexpr (HOW == NEAR_FAR) lists.horizon = Key(state[7]);
    is_first = false;
    is_alone = false;
  }

  // --- start and main loop ----------------------------------------------------------------------

  /// Sets all vertices to "no value". Then gives the start vertices their values, and puts the
  /// start vertices in the far list.
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
  /// Prepares the pass that builds the tree of parents. The roots of the tree are the start
  /// vertices that still have their initial value. The tree grows from the roots along edges: an
  /// edge u -> v can be in the tree if x(v) equals the product of x(u) and the edge's weight.
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
  /// Runs steps and turns until the lists are empty, the limit on the number of rounds is reached,
  /// or the host asks the kernel to stop.
  template <class T> DEVICE void run(const Starts<T> &x) {
    while (!is_stopped) {
      read_sizes();
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
    reported_rounds = rounds;
    reported_turns = work.lists.turn;
  }
};

/// Parameters of a closure that the host sets for each launch.
struct Plan {
  double delta;  // how far a turn moves the horizon beyond the best entry of the far list
  u32 turns;     // limit on the number of rounds
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
  tell_host(launch, HOST_RESULTS + 1, course.reported_rounds);
  tell_host(launch, HOST_RESULTS + 2, course.reported_turns);
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
