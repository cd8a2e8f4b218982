// Closure: the least x = x (+) x A, by entries that improve until none does, in one launch.
//
// Entries that improved wait in lists, and each step multiplies those of the near list: short rows
// (`LIGHT`) are walked by four threads each, the edges of long ones are cut evenly among all warps.
// With NEAR_FAR an entry beyond the horizon waits in the far list; when nothing is near, the
// horizon moves to `delta` beyond the best far entry, and the far list is split again.
// While little is near, a step is *fused*: each block goes on by itself, for some rounds, with the
// short rows that it improved; and when there is very little, block 0 works alone, step after step.
//
// Invariants:
// - a vertex waits in one near list at most, as its code says; what improves it while it is being
//   multiplied lists it again: its code is cleared before its value is read (short rows), or holds
//   the stamp of an earlier step (long rows, which are listed for the next step alone);
// - an entry of the far list not beyond the horizon is stale: it was listed near since;
// - nobody pushes into the lists that are read in the same step.
#include "closure.cuh"

namespace graphla {

template <class Op, class Offset, class A, int KEPT_A, class T, int HOW, bool PARENTS, bool MASKED>
__global__ void __launch_bounds__(MOST_THREADS, 1)
close_over(u64 *control, u32 tickets, u64 *host, u32 launch, i64 patience, i64 n,
           const Offset *__restrict__ indptr, const i32 *__restrict__ indices, const A *a_values,
           const bool *flags, bool complement, i64 starts, const i32 *start_indices,
           const bool *start_present, const T *start_values, bool is_iso, double delta,
           u32 turns, void *cells, u32 *codes, void *before, i64 room, i32 *near_list,
           i32 *long_list, typename Bits<sizeof(Offset)>::type *long_ends,
           i32 *far_list, u32 alone_rows, u32 alone_edges, u32 fused_rows, u32 fused_edges,
           u32 fused_rounds, u32 held_most, T *values, bool *present, i32 *parents, u64 *record,
           i64 records_room) {
  typedef Closing<Op, Offset, A, KEPT_A, HOW, PARENTS, MASKED> Work;
  typedef typename Work::Cells Cells;
  typedef typename Work::Key Key;
  SHARED(i32, held_ids, 2 * HELD);
  SHARED(u64, held_rows, 2 * HELD);
  SHARED(u32, held, 6);
  SHARED(u32, gathered_ids, 2 * MOST_THREADS);
  SHARED(Key, gathered_keys, 2 * MOST_THREADS);
  SHARED(u64, state, 8);
  SHARED(i64, leads, 2);  // of one thread: the clock at which it looks again; records
  const int mine = 2 * WARP * warp_in_block();
  Work work{{indptr, n, room, near_list, long_list, long_ends, far_list, control, held_ids, held_rows,
             held, held_most, gathered_ids + mine, gathered_keys + mine},
            indices, Values<typename Op::A, A, KEPT_A>(a_values), flags, complement,
            Cells(cells, codes), (Key *)before, parents,
            Tuning{alone_rows, alone_edges, fused_rows, fused_edges, fused_rounds}};
  auto &lists = work.lists;
  Grid grid(control);
  grid.begin(tickets);
  const Records records{record, records_room};
  const bool is_first_block = blockIdx.x == 0, is_leader = is_first_block && threadIdx.x == 0;

  if (threadIdx.x == 0) {
    leads[0] = clock64() + patience;
    leads[1] = 0;
  }
  /// Whether the host wishes to stop, as far as thread 0 has looked.
  const auto is_unwanted = [&] {
    StopFlag flag(host, patience);
    flag.due = leads[0];
    const bool is_up = flag.is_up();
    leads[0] = flag.due;
    return is_up;
  };
  // Every vertex without a value, then the starts, which all wait in the far list.
  if (start_present != nullptr || starts < n || PARENTS) {
    for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
      work.cells.clear(v);
      if constexpr (PARENTS) parents[v] = NO_PARENT;
    }
    grid.meet();
  }
  const Starts<T> x{starts, start_indices, start_present, start_values, is_iso};
  work.each_start(x, [&](i32 v, Key key, bool is_there) {
    if (is_there) work.cells.put(v, key, FAR);
    if (PARENTS && HOW == ROUNDS && is_there) parents[v] = v;
    lists.push_start(v, key, is_there, 0);
  });
  grid.meet();

  u32 rounds = 0, ran = 0, turned = 0;
  bool is_first = true, is_alone = false, wants_stop = false, is_stopped = false;
  bool is_settled = false;
  while (true) {
    // What is there to do: the same in every block.
    const auto look = [&] {
      __syncthreads();
      if (threadIdx.x < 4) {
        const u32 at = threadIdx.x < 2 ? lists.step % 3 : lists.turn % 3;
        state[threadIdx.x] = load_relaxed(&control[W_NEAR + 3 * threadIdx.x + at]);
      }
      __syncthreads();
    };
    look();
    const auto is_turn = [&] { return state[0] == 0 && state[1] == 0; };
    const auto is_done = [&] { return is_turn() && state[2] == 0; };
    const auto is_little = [&] {
      if (is_turn()) return state[2] <= alone_rows;
      return state[0] <= alone_rows && (state[1] & EDGES) <= alone_edges;
    };
    const auto meet = [&](bool is_alone) {
      if (is_alone) __syncthreads();
      else grid.meet();
    };
    /// One step or turn, by this block alone or by all.
    const auto move = [&] {
      const u64 near_rows = state[0], long_rows = state[1], far_rows = state[2];
      const bool turns_now = is_turn();
      u32 taken = 1;
      if (is_leader) {
        records.add(leads[1]++, (turns_now ? 2 : 0) + (is_alone ? 1 : 0),
                    turns_now ? far_rows : near_rows + (long_rows >> COUNT_SHIFT),
                    load_relaxed(&control[W_EDGES]));
      }
      if (turns_now) {
        const Key before = lists.horizon;
        if constexpr (HOW == NEAR_FAR) {
          if (lists.pass == IMPROVE) lists.horizon = Cells::Order::within(Key(~state[3]), delta);
        }
        work.split(far_rows, before, is_first, is_alone ? threadIdx.x : thread_in_grid(),
                   is_alone ? blockDim.x : threads_in_grid());
        is_first = false;
        taken = 0;
      } else {
        if constexpr (HOW == ROUNDS) {
          work.note_before(near_rows, long_rows, is_alone ? threadIdx.x : thread_in_grid(),
                           is_alone ? blockDim.x : threads_in_grid());
          meet(is_alone);
        }
        lists.is_fused = HOW != ROUNDS && held_most > 0 && near_rows <= fused_rows &&
                        (long_rows & EDGES) <= fused_edges;
        const u32 left = lists.pass == IMPROVE ? turns - rounds : ~0u;
        taken = work.take_step(near_rows, long_rows, is_alone,
                               is_alone ? left : least(left, fused_rounds + 1), is_unwanted);
        if constexpr (PARENTS && HOW == ROUNDS) {
          meet(is_alone);
          lists.pass = ORIGINS;
          work.take_step(near_rows, long_rows, is_alone, 1, is_unwanted);
          lists.pass = IMPROVE;
        }
      }
      if (record != nullptr) {
        for (int d = WARP / 2; d > 0; d /= 2) work.counted += shuffle_down(work.counted, d);
        if (lane() == 0 && work.counted) atomicAdd(&control[W_EDGES], u64(work.counted));
        work.counted = 0;
      }
      rounds += is_alone ? taken : u32(!turns_now);
      if (is_leader) {
        store_relaxed(lists.near_count(lists.step + 2), u64(0));
        store_relaxed(lists.long_count(lists.step + 2), u64(0));
        if (turns_now) {
          store_relaxed(lists.far_count(lists.turn + 2), u64(0));
          store_relaxed(lists.far_best(lists.turn + 2), u64(0));
        }
      }
      ++lists.step;
      lists.turn += turns_now;
    };
    const bool is_out_of_turns = rounds >= turns && lists.pass == IMPROVE;
    const bool is_over = is_done() || is_out_of_turns || (is_alone && wants_stop);
    const bool is_few = !is_over && is_little();
    if (is_over && !is_alone) {
      if (lists.pass == IMPROVE) is_settled = is_done();
      if (!PARENTS || HOW == ROUNDS || !is_settled || lists.pass == TREE) break;
      // A tree of edges whose terms are what they lead to, grown from the starts that stayed.
      grid.meet();  // all have seen that the lists are empty
      lists.pass = TREE;
      work.each_start(x, [&](i32 v, Key key, bool is_there) {
        const bool is_root = is_there && Cells::is_equal(key, work.cells.key_of(v));
        if (is_root) parents[v] = v;
        lists.push_start(v, key, is_root, lists.turn);
      });
      turned = lists.turn;
      ran = rounds;
      grid.meet();
      continue;
    }
    if (is_few && !is_alone) {
      grid.meet();  // all have seen what block 0 is about to change
      is_alone = true;
    }
    if (is_alone && (!is_few || !is_first_block)) {
      if (is_leader) {
        store_relaxed(&control[W_STEP], u64(lists.step));
        store_relaxed(&control[W_TURN], u64(lists.turn));
        store_relaxed(&control[W_ROUNDS], u64(rounds));
        if constexpr (HOW == NEAR_FAR) store_relaxed(&control[W_HORIZON], u64(lists.horizon));
      }
      is_stopped = grid.meet(wants_stop);
      if (threadIdx.x < 4) state[4 + threadIdx.x] = load_relaxed(&control[W_STEP + threadIdx.x]);
      __syncthreads();
      lists.step = u32(state[4]);
      lists.turn = u32(state[5]);
      rounds = u32(state[7]);
      is_first = false;
      if constexpr (HOW == NEAR_FAR) lists.horizon = Key(state[6]);
      is_alone = false;
    } else {
      move();
      const bool wishes = is_leader && (is_unwanted() || load_relaxed(&control[W_FULL]));
      if (is_alone) wants_stop = __syncthreads_or(wishes);
      else is_stopped = grid.meet(wishes);
    }
    if (is_stopped) break;
  }
  if (lists.pass == IMPROVE) {
    turned = lists.turn;
    ran = rounds;
  }
  if (is_leader) records.add(leads[1], 0, 0, load_relaxed(&control[W_EDGES]));

  u32 reached = 0;
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    const bool is_there = work.cells.is_present(v);
    present[v] = is_there;
    values[v] = convert<T>(Cells::value(work.cells.key_of(v)));
    reached += is_there;
    if constexpr (PARENTS) {
      if (is_there && parents[v] == NO_PARENT) {
        store_relaxed(&control[W_ORPHANS], u64(1));
        parents[v] = i32(v);
      }
    }
  }
  for (int d = WARP / 2; d > 0; d /= 2) reached += shuffle_down(reached, d);
  if (lane() == 0 && reached) atomicAdd(&control[W_REACHED], u64(reached));
  if (is_last_block(grid) && threadIdx.x == 0) {
    const bool is_full = load_relaxed(&control[W_FULL]) != 0;
    tell_host(host, launch, HOST_STATUS, is_full ? FAULT : is_stopped ? STOPPED : FINISHED);
    tell_host(host, launch, HOST_RESULTS, u32(load_relaxed(&control[W_REACHED])));
    tell_host(host, launch, HOST_RESULTS + 1, ran);
    tell_host(host, launch, HOST_RESULTS + 2, turned);
    tell_host(host, launch, HOST_RESULTS + 3, lists.step);
    tell_host(host, launch, HOST_RESULTS + 4, u32(load_relaxed(&control[W_OVERFLOWED])));
    tell_host(host, launch, HOST_RESULTS + 5, u32(is_settled));
    tell_host(host, launch, HOST_RESULTS + 6, u32(load_relaxed(&control[W_ORPHANS])));
  }
}

}  // namespace graphla
