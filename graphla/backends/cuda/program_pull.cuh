// Products that pull. A pull reads the rows o that the mask allows.
//
// If a pull folds all terms of a long row, different warps fold its chunks. The warp that finishes
// last combines the results of all chunks, in the order of the chunks. So the results of a pull are
// bitwise equal in every run and for every grid size, except for the monoid ANY.
#ifndef GRAPHLA_PROGRAM_PULL
#define GRAPHLA_PROGRAM_PULL
#include "gathering.cuh"
#include "program_work.cuh"

namespace graphla {

template <class Op, int KEPT_A, int KEPT_U, int HELD, class Offset, class A, class U, class Allowed,
          class Queueing>
struct Pull {
  typedef typename Op::Z Z;
  // Whether the result of a row is a single term.
  static constexpr bool IS_ONE_TERM = Op::IS_ANY || IS_FIRST<Op>;
  static constexpr int ENDS = IS_ONE_TERM ? AT_FIRST : AT_LAST;
  static constexpr int FEW = 8;    // number of entries of a row that a single lane reads
  static constexpr int PARTS = 4;  // maximum number of rows per lane that a warp takes at a time
  static constexpr int STORED = HELD == IN_BITMAP && !IS_SEARCH<Op> ? int(MAYBE_FULL) : HELD;
  // Number of entries that a lane loads at once.
  static constexpr int BATCH = IS_SEARCH<Op> ? 4 : 8;
  // Maximum number of entries of a row that a group of lanes reads.
  static constexpr int SOME = 8 * BATCH;
  typedef graphla::Rows<Op, Offset, A, KEPT_A, U, KEPT_U, STORED, ENDS, BATCH> Rows;
  // Whether the first few terms of a row often settle it. This is false for the minimum or maximum
  // of integers, whose terminal values are rare. In this case a group of lanes folds all terms of a
  // short row at once.
  static constexpr bool SETTLES_EARLY =
      Rows::MAY_SETTLE && (IS_ONE_TERM || (Op::RACE != RACE_MIN && Op::RACE != RACE_MAX));
  // Whether a single chunk may settle a row, so that the other chunks of the row need not be
  // folded.
  static constexpr bool CHUNKS_SETTLE = Rows::MAY_SETTLE && !IS_ONE_TERM;

  const ProductForm<Offset, A> &a;
  const Vector<Z> out;
  const Allowed &allowed;
  Work &work;
  Rows rows;
  Outputs<Queueing, Z> outputs;

  /// For each lane whose `is_row` is true, stores `fold` as the result of row o. Every lane must
  /// call this.
  DEVICE void store(bool is_row, i32 o, const Fold<Op> &fold) {
    if (is_row) {
      out.present[o] = fold.has;
      if (fold.has) out.values[o] = fold.sum;
    }
    outputs.add(is_row && fold.has, o);
  }

  // --- sums --------------------------------------------------------------------------------------

  /// Folds all rows that the mask allows or, if ONLY_LONG is true, only the long ones. First the
  /// warps of the whole grid fold the chunks of the long rows; two consecutive chunks belong to
  /// different warps. Then the warps fold the other rows, and clear the flags of the outputs that
  /// the mask forbids. If there are long rows, the lengths of rows probably vary a lot. In this
  /// case each warp repeatedly takes the next group of rows that no warp has taken yet (a *turn*),
  /// and requests its next turn early. Otherwise the turns of a warp have a fixed stride.
  template <bool ONLY_LONG> DEVICE void fold_rows() {
    const u32 lines = u32(a.lines), each = share_of(lines, 1, 4 * WARP), warps = warps_in_grid();
    const bool is_taken = a.chunks && warps * each < lines;
    u32 chunk = spread_warp(), turn = spread_warp(), next = 0, part = 0;
    while (true) {
      const bool is_chunk = chunk < u32(a.chunks);
      bool is_row = false;
      i32 row = 0;
      Offset begin = 0, end = 0;
      u32 mine = 0, left = 0;
      Fold<Op> fold;
      if (is_chunk) {
        mine = chunk + u32(lane()) * warps;
        chunk += warps * WARP;
        if (mine < u32(a.chunks)) {
          row = a.chunk_lines[mine];
          is_row = allowed(row);
        }
        if (is_row) find_chunk(mine, row, begin, end);
        left = __ballot_sync(ALL_LANES, is_row);
      } else {
        if (ONLY_LONG || u64(turn) * each >= lines) break;
        if (part == 0) next = is_taken ? next_turn() : turn + warps;
        mine = part + u32(lane());
        row = i32(turn * each + mine);
        is_row = mine < each && u32(row) < lines;
        if (is_row && allowed(row)) begin = a.indptr[row], end = a.indptr[row + 1];
        if (a.is_long(end - begin)) is_row = false, end = begin;
        left = fold_short(fold, begin, end, row);
        part += WARP;
        if (part >= each) part = 0, turn = next;
      }
      for (; left; left &= left - 1) {
        const int owner = __ffs(int(left)) - 1;
        const Offset from = shuffle(begin, owner), to = shuffle(end, owner);
        const i32 its_row = shuffle(row, owner);
        const Fold<Op> more = rows.fold_by_warp(from, int(to - from), its_row);
        if (is_chunk) join_chunk(shuffle(mine, owner), its_row, more);
        else if (lane() == owner) fold.append(more);
      }
      if (!is_chunk) store(is_row, row, fold);
    }
  }

  /// Takes a turn that no warp has taken yet, and returns its number.
  DEVICE u32 next_turn() const {
    u32 taken = 0;
    if (lane() == 0) taken = atomicAdd(&work.arrays.turns[work.pulls & 1], 1u) & ~GAP;
    return warps_in_grid() + shuffle(taken, 0);
  }

  /// Finds the entries of a chunk, from `begin` to `end` - 1. If other chunks have already settled
  /// the row, returns an empty range.
  DEVICE void find_chunk(u32 chunk, i32 row, Offset &begin, Offset &end) const {
    const i32 number = a.chunk_numbers[chunk];
    begin = a.indptr[row] + Offset(number) * Offset(a.longest);
    end = begin + least(a.indptr[row + 1] - begin, Offset(a.longest));
    if constexpr (CHUNKS_SETTLE) {
      if (load_relaxed(&work.arrays.arrived[chunk - u32(number)]) & SETTLED) end = begin;
    }
  }

  /// Stores the fold of a chunk. If all other chunks of the row have been folded before, also
  /// computes and stores the result of the row. Every lane must call this.
  DEVICE void join_chunk(u32 chunk, i32 row, const Fold<Op> &fold) {
    const i64 length = i64(a.indptr[row + 1] - a.indptr[row]);
    const u32 head = chunk - u32(a.chunk_numbers[chunk]),
              count = u32((length + a.longest - 1) / a.longest);
    Z *const sums = (Z *)work.arrays.sums;
    bool *const has = work.arrays.has;
    u32 *const arrivals = &work.arrays.arrived[head];
    u32 arrived = 0;
    if (lane() == 0) {
      store_relaxed(&sums[chunk], fold.sum);
      store_relaxed(&has[chunk], fold.has);
      __threadfence();
      if (CHUNKS_SETTLE && rows.is_settled(fold)) atomicOr(arrivals, SETTLED);
      arrived = (atomicAdd(arrivals, 1u) & ~SETTLED) + 1;
      __threadfence();
    }
    if (shuffle(arrived, 0) < count) return;
    Fold<Op> whole;
#pragma unroll 1
    for (u32 first = head; first < head + count; first += WARP) {
      const u32 mine = first + u32(lane());
      Fold<Op> part;
      if (mine < head + count) part = Fold<Op>(load_relaxed(&sums[mine]), load_relaxed(&has[mine]));
      whole.append(warp_fold(part));
    }
    if (lane() == 0) store_relaxed(arrivals, 0u);
    store(lane() == 0, row, whole);
  }

  /// Each lane passes a row. Folds the rows that are short. If SETTLES_EARLY is true, also folds
  /// the first few entries of each longer row. Advances `begin` to the first entry that has not
  /// been read. Returns a bit mask of the lanes whose rows are not complete; the whole warp must
  /// fold the rest of these rows. Every lane must call this.
  DEVICE u32 fold_short(Fold<Op> &fold, Offset &begin, Offset end, i32 row) const {
    int few = int(least(end - begin, Offset(FEW)));
    if (!SETTLES_EARLY && end - begin > Offset(FEW)) few = 0;
    rows.fold_few(fold, begin, few, row);
    begin += Offset(few);
    const u32 left = __ballot_sync(ALL_LANES, begin < end && !rows.is_settled(fold));
    if constexpr (SETTLES_EARLY) return left;
    const u32 shorter = left & __ballot_sync(ALL_LANES, end - begin <= Offset(SOME));
    rows.fold_by_groups(fold, shorter, begin, int(end - begin), row);
    return left & ~shorter;
  }

  // --- searches ----------------------------------------------------------------------------------

  /// For the monoid ANY: searches for a term in the chunks of those long rows that the mask allows
  /// and that have no result yet.
  DEVICE void search_chunks() {
    const u32 warps = warps_in_grid(), chunks = u32(a.chunks);
    for (u32 base = spread_warp(); base < chunks; base += warps * WARP) {
      const u32 mine = base + u32(lane()) * warps;
      const i32 line = mine < chunks ? a.chunk_lines[mine] : 0;
      const bool is_open = mine < chunks && allowed(line) && !load_relaxed(&out.present[line]);
      for (u32 active = __ballot_sync(ALL_LANES, is_open); active; active &= active - 1) {
        const int owner = __ffs(int(active)) - 1;
        const i32 row = shuffle(line, owner);
        if (shuffle(load_relaxed(&out.present[row]), 0)) continue;
        Offset begin, end;
        find_chunk(base + u32(owner) * warps, row, begin, end);
        const Fold<Op> fold = rows.fold_by_warp(begin, int(end - begin), row);
        const bool is_new = fold.has && lane() == 0 && claim_output(out.present, row);
        if (is_new) out.values[row] = fold.sum;
        outputs.add(is_new, row);
      }
    }
  }

  static constexpr int NEAR = 8;  // number of entries of a row that a lane reads at a time
  enum EntryKind { ABSENT = 0, OTHER = 1, SETTLES = 2 };

  /// Classifies the entry at position `place`, which is in column k. Returns ABSENT if u(k) is
  /// missing, so that the entry has no term; SETTLES if its term settles the row; and OTHER for any
  /// other term.
  DEVICE int classify(Offset place, i32 k, i32 row) const {
    if constexpr (HELD == IN_BITMAP) {
      if (!rows.u_present[k]) return ABSENT;
    }
    if constexpr (IS_ONE_TERM) return SETTLES;
    else return rows.term(place, k, row) == Op::terminal() ? SETTLES : OTHER;
  }

  /// Used if IS_ONE_TERM is true. Stores the term of the entry at position `place`, which is in
  /// column k, as the result of row o. Returns false if the row already had a result, which is
  /// possible only for a long row, because several warps read it.
  DEVICE bool settle(i32 o, Offset place, i32 k, bool is_long) const {
    const Z value = rows.term(place, k, o);
    if (is_long && !claim_output(out.present, o)) return false;
    if (!is_long) out.present[o] = true;
    out.values[o] = value;
    return true;
  }

  /// For a monoid with a terminal value: updates the result of row o. If `settles` is true, a term
  /// has settled the row, so the result is the terminal value. If only `has` is true, the row has
  /// terms, but none of them settles it. `may_have` is false if the row is known to have had no
  /// term before. Returns whether the row has now received its first term.
  DEVICE bool note(i32 o, bool settles, bool has, bool may_have) const {
    if (!settles && !has) return false;
    const bool had = may_have && load_relaxed(&out.present[o]);
    if (!had) store_relaxed(&out.present[o], true);
    if (settles) store_relaxed(&out.values[o], Op::terminal());
    else if (!had) store_relaxed(&out.values[o], Op::identity());
    return !had;
  }

  /// Whether a pull may test one entry of each row before it reads the row. The array `peeks`
  /// describes these entries, so that adjacent threads read adjacent elements.
  static constexpr bool MAY_PEEK = Op::IS_ANY && KEPT_A != EACH && HELD == IN_BITMAP;

  /// Searches for a term in each row that the mask allows and that is not long. For the monoid ANY,
  /// also tests one or a few entries of each long row.
  DEVICE void search_rows() {
    i32 *const list = work.room.list();
    const u32 each = share_of(u32(a.lines), 1, WARP * PARTS), step = warps_in_grid();
    const int room = work.room.list_room();
    int listed = 0;
    for (u32 turn = spread_warp();; turn += step) {
      const bool is_over = u64(turn) * each >= u64(a.lines);
      if (is_over || listed + int(each) > room) {
        read_listed(list, listed);
        listed = 0;
      }
      if (is_over) break;
      i32 row[PARTS];
      u32 open = 0;  // bit i is set if row[i] must be added to the list
#pragma unroll
      for (int part = 0; part < PARTS; ++part) {
        const u32 mine = u32(part * WARP + lane());
        row[part] = i32(turn * each + mine);
        if (mine < each && u32(row[part]) < u32(a.lines) && allowed(row[part])) open |= 1u << part;
      }
      if constexpr (MAY_PEEK) {
        if (a.peeks) open = peek(row, open);
      }
#pragma unroll
      for (int part = 0; part < PARTS; ++part) {
        const bool is_listed = open >> part & 1;
        const u32 all = __ballot_sync(ALL_LANES, is_listed);
        if (is_listed) list[listed + __popc(all & ((1u << lane()) - 1))] = row[part];
        listed += __popc(all);
      }
      __syncwarp();
    }
  }

  /// Tests one entry of each row whose bit in `open` is set. Returns `open` after clearing the bits
  /// of the rows that need not be listed: rows that are settled, rows that are long, and rows
  /// without further entries. Every lane must call this.
  DEVICE u32 peek(const i32 (&row)[PARTS], u32 open) {
    u32 peeks[PARTS], hits = 0, is_new = 0;
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
      peeks[part] = open >> part & 1 ? a.peeks[row[part]] : NO_PEEK;
    }
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
      if (peeks[part] == NO_PEEK) continue;
      if (classify(0, i32(peeks[part] & PEEK_COLUMN), row[part]) != ABSENT) hits |= 1u << part;
    }
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
      if (!(hits >> part & 1)) {
        if (peeks[part] & (PEEK_LONG | PEEK_ONLY)) open &= ~(1u << part);
        continue;
      }
      open &= ~(1u << part);
      const bool is_long = peeks[part] & PEEK_LONG;
      if (!settle(row[part], 0, i32(peeks[part] & PEEK_COLUMN), is_long)) continue;
      is_new |= 1u << part;
      ++outputs.entries, outputs.edges += outputs.degree(row[part]);
    }
    outputs.append(is_new, row);
    return open;
  }

  /// Reads the `count` listed rows. As long as many rows are left, each lane reads some entries of
  /// one row, and puts the row back on the list if it needs further entries. When few rows are
  /// left, their entries are divided evenly among the lanes.
  DEVICE void read_listed(i32 *list, int count) {
    Offset done = 0;
    while (count > WARP / 2 || (count && done == 0)) {
      count = read_near(list, count, done);
      done += NEAR;
    }
    if (count) read_run(list, count, done);
  }

  /// Reads the next NEAR entries of each of the `count` listed rows, after the `done` entries that
  /// have already been read. Puts the rows that need further entries back on the list, and returns
  /// their number.
  DEVICE int read_near(i32 *list, int count, Offset done) {
    const i32 *__restrict__ indices = a.indices;
    const bool is_alone = done == 0 && !(MAY_PEEK && a.peeks);
    int longer = 0;
    for (int i = lane(); i - lane() < count; i += WARP) {
      bool goes_on = false, is_new = false;
      i32 row = 0;
      if (i < count) {
        row = list[i];
        const Offset begin = a.indptr[row] + done, end = a.indptr[row + 1];
        const bool is_long = a.is_long(end - begin + done);
        i32 k[NEAR];
#pragma unroll
        for (int j = 0; j < NEAR; ++j) k[j] = begin + j < end ? indices[begin + j] : -1;
        // Test the first entry of a row before the others, because it often settles the row. But do
        // this only if no entry of the row has been tested before.
        int found[NEAR], hit = -1;
        bool has = false;
        found[0] = k[0] >= 0 ? classify(begin, k[0], row) : ABSENT;
        const bool is_enough = is_alone && found[0] == SETTLES;
#pragma unroll
        for (int j = 1; j < NEAR; ++j)
          found[j] = k[j] >= 0 && !is_enough ? classify(begin + j, k[j], row) : ABSENT;
#pragma unroll
        for (int j = NEAR - 1; j >= 0; --j) {
          if (found[j] == SETTLES) hit = j;
          has = has || found[j] != ABSENT;
        }
        goes_on = hit < 0 && begin + NEAR < end && !is_long;
        if constexpr (IS_ONE_TERM) {
          i32 by = k[0];
#pragma unroll
          for (int j = 1; j < NEAR; ++j) by = hit == j ? k[j] : by;
          const bool may_settle = hit >= 0 && (Op::IS_ANY || !is_long);
          is_new = may_settle && settle(row, begin + hit, by, is_long);
        } else is_new = !is_long && note(row, hit >= 0, has, done > 0);
      }
      outputs.add(is_new, row);
      const u32 some = __ballot_sync(ALL_LANES, goes_on);
      __syncwarp();  // no lane may overwrite the list before all lanes have read it
      if (goes_on) list[longer + __popc(some & ((1u << lane()) - 1))] = row;
      longer += __popc(some);
      __syncwarp();
    }
    return longer;
  }

  /// Reads up to 32 listed rows to the end, or until they are settled. The first `done` entries of
  /// each row have already been read.
  DEVICE void read_run(i32 *list, int count, Offset done) {
    const i32 *__restrict__ indices = a.indices;
    constexpr int SLOTS = 4;
    const i32 row = lane() < count ? list[lane()] : 0;
    Offset begin = lane() < count ? a.indptr[row] + done : 0;
    const Offset end = lane() < count ? a.indptr[row + 1] : 0;
    // One element per row. If IS_ONE_TERM is true, the element is ~n if the entry at position begin
    // + n has a term, and 0 if no such entry has been found. Otherwise the element is the bitwise
    // OR of the `EntryKind` values of the row's entries.
    u32 *const hits = (u32 *)list;
    while (true) {
      const u32 length = u32(end - begin), through = warp_inclusive_sum(length),
                ahead = through - length, total = shuffle(through, WARP - 1);
      __syncwarp();
      hits[lane()] = 0;
      __syncwarp();
      if (!total) break;
      i32 k[SLOTS];
      int of[SLOTS];
      u32 number[SLOTS];
#pragma unroll
      for (int i = 0; i < SLOTS; ++i) {
        const u32 mine = u32(i * WARP + lane());
        of[i] = 0;
#pragma unroll
        for (int step = WARP / 2; step; step /= 2) {
          if (shuffle(ahead, of[i] + step) <= mine) of[i] += step;
        }
        number[i] = mine - shuffle(ahead, of[i]);
        const Offset from = shuffle(begin, of[i]);
        k[i] = mine < total ? indices[from + Offset(number[i])] : -1;
      }
#pragma unroll
      for (int i = 0; i < SLOTS; ++i) {
        const Offset from = shuffle(begin, of[i]);
        const i32 its_row = shuffle(row, of[i]);
        const int found = k[i] < 0 ? ABSENT : classify(from + Offset(number[i]), k[i], its_row);
        if (found == ABSENT) continue;
        if constexpr (IS_FIRST<Op>) atomicMax(&hits[of[i]], ~number[i]);
        else if constexpr (Op::IS_ANY) atomicExch(&hits[of[i]], ~number[i]);
        else atomicOr(&hits[of[i]], u32(found));
      }
      __syncwarp();
      const u32 hit = load_relaxed(&hits[lane()]);
      bool is_new = false, is_settled = false;
      if (length) {
        if constexpr (IS_ONE_TERM) {
          is_settled = hit;
          if (hit) {
            const Offset place = begin + Offset(~hit);
            is_new = settle(row, place, indices[place], false);
          }
        } else {
          is_settled = hit & SETTLES;
          is_new = note(row, is_settled, hit, true);
        }
        if (is_settled) begin = end;
        else if (ahead < SLOTS * WARP) begin += Offset(least(length, u32(SLOTS * WARP) - ahead));
      }
      outputs.add(is_new, row);
    }
  }
};

/// Returns whether u has an entry at each column of the matrix that has entries. A pull can then
/// read u without testing presence flags. If the form has no array `used`, returns true only if u
/// has no presence flags. All threads of all blocks must call this.
template <class Offset, class A, class U>
DEVICE bool fills_columns(const ProductForm<Offset, A> &a, const Vector<U> &u, Work &work) {
  if (!u.present) return true;
  if (!a.used || u.counts->entries < u64(a.in_use)) return false;
  u32 *const flag = &work.arrays.turns[work.pulls & 1];
  const u32 *const used = (const u32 *)a.used, *const present = (const u32 *)u.present;
  u32 gaps = 0;
  for (i64 i = thread_in_grid(); 4 * i < a.columns; i += threads_in_grid())
    gaps |= used[i] & ~present[i];
  if (gaps) atomicOr(flag, GAP);
  work.meet();
  // Other blocks may already be increasing the counter that shares the word with the flag. So one
  // thread reads the word, and all threads of the block use the value that it has read.
  if (threadIdx.x == 0) work.room.place = load_relaxed(flag);
  __syncthreads();
  return !(work.room.place & GAP);
}

/// Computes out = A u for those outputs o for which allowed(o) is true, by gathering each output
/// from a line of `a`. The lines are the rows of the matrix.
///
/// If u may lack entries, HELD must be IN_BITMAP. If u has an entry at every position, HELD may be
/// IN_FULL or, if the form has hubs, WITH_HUBS; the product then does not read u.present. With
/// hubs, each block copies the values of u at the hubs to its dynamic shared memory.
template <class Op, int KEPT_A, int KEPT_U, int HELD, class Offset, class A, class U, class Allowed,
          class Queueing>
DEVICE void pull_product(const ProductForm<Offset, A> &a, const Vector<U> &u,
                         const Vector<typename Op::Z> &out, const Allowed &allowed,
                         const Queueing &queueing, Work &work) {
  // Clear the counter that the next pull uses.
  if (thread_in_grid() == 0) store_relaxed(&work.arrays.turns[~work.pulls & 1], 0u);
  const bool *present = u.present;
  if constexpr (HELD == IN_BITMAP && !IS_SEARCH<Op>) {
    if (fills_columns(a, u, work)) present = nullptr;
  }
  const Operands<A, U> operands{a.indices, a.values, present, u.values, a.hubs, a.hub_bits};
  typedef Pull<Op, KEPT_A, KEPT_U, HELD, Offset, A, U, Allowed, Queueing> Pulling;
  Pulling pull{a,
               out,
               allowed,
               work,
               typename Pulling::Rows(operands),
               Outputs<Queueing, typename Op::Z>(queueing, out, work.room)};
  if constexpr (!IS_SEARCH<Op>) {
    pull.template fold_rows<false>();
  } else {
    pull.search_rows();
    if constexpr (Op::IS_ANY) pull.search_chunks();
    else pull.template fold_rows<true>();
  }
  pull.outputs.finish();
}

}  // namespace graphla
#endif
