// Matrix-vector products inside a persistent kernel: out(o) = (+) over k of A(o, k) (x) u(k), for
// the outputs o that a mask allows.
//
// All threads of all blocks call `push_product` or `pull_product`, with the same arguments. A
// product does not wait for other blocks when it starts or ends: a grid barrier must separate it
// from the writes of its operands, from the reads of its result, and from the next product that
// uses the same `Work`.
//
// A push reads the columns k for which u has an entry. A thread that finds a term of output o first
// tests the mask, and then claims o: it sets the byte out.present[o] by an atomic operation on the
// 32-bit word that contains the byte. A pull reads the rows o that the mask allows.
//
// A row or column with more than `chunk` entries is long. The host cuts the long ones into chunks
// once per matrix. The warps of the whole grid process the chunks. In a pull, the warp that
// finishes the last chunk of a row combines the folds of all its chunks, in order. So a pull gives
// the same bits in every run and for every grid size.
#ifndef GRAPHLA_PROGRAM_PRODUCTS
#define GRAPHLA_PROGRAM_PRODUCTS
#include "atomics.cuh"
#include "gathering.cuh"
#include "persistent.cuh"

namespace graphla {

/// The counts of a vector, in device memory.
struct Counts {
  u64 entries;  // number of entries
  u64 queued;   // length of the queue; the queue is valid if this equals `entries`
  u64 edges;    // sum of the degrees of the queued entries; see `WithQueue`
};

/// A vector in device memory. If position i is in no queue and has no entry, values[i] may be
/// anything.
template <class T> struct Vector {
  T *values;
  // One byte per position; the array is aligned to 4 bytes, and so is its length. Null if the
  // vector is an operand that has an entry at every position.
  bool *present;
  i32 *queue;  // the positions of the entries, in any order, if `counts` says so; may be null
  Counts *counts;
};

/// One form of a matrix, packed by `form` in program_products.py. The lines are the rows of the
/// matrix (then a pull gathers each output from its line) or the columns (then a push scatters each
/// entry of u along its line).
template <class Offset, class A> struct ProductForm {
  const Offset *indptr;  // lines + 1 offsets
  const i32 *indices;
  const A *values;           // one value per entry or one for all, see `Kept`; null if not read
  const i32 *chunk_lines;    // for each chunk: its line
  const i32 *chunk_numbers;  // for each chunk: its number among the chunks of its line
  i64 lines;
  i64 entries;
  i32 chunks;   // number of chunks of all long lines
  i32 longest;  // number of entries of a chunk, and of the longest line that is not cut

  DEVICE bool is_long(Offset length) const { return chunks && length > Offset(longest); }
};

/// Device memory that products use, allocated by `arrays` in program_products.py. Each array has
/// one element per chunk of the form that has the most chunks. The array `arrived` must be zero
/// before the first product; each product leaves it zero.
struct ProductArrays {
  u64 *sums;     // the fold of each chunk
  bool *has;     // whether the chunk has a term
  u32 *arrived;  // at the first chunk of each line: the number of finished chunks, and `SETTLED`
};

/// The flag in `arrived` that says that further chunks cannot change the result of the row.
constexpr u32 SETTLED = 1u << 31;

/// What the products of a kernel share.
struct Work {
  Grid &grid;
  ProductArrays arrays;
  u64 *scratch;  // shared memory: WARP + 1 elements
};

/// The last argument of a product that does not list its outputs in out.queue.
struct WithoutQueue {
  static constexpr bool IS_WANTED = false;
};

/// The last argument of a product that lists its outputs in out.queue. The sum of the degrees of
/// the outputs, counted in the array `indptr`, is added to out.counts->edges.
template <class Offset> struct WithQueue {
  static constexpr bool IS_WANTED = true;
  const Offset *indptr;
};

/// Returns whether out.values must contain the monoid's identity at every position when
/// `push_product` is called with IS_PRESET.
template <class Op> constexpr bool NEEDS_IDENTITY = Op::RACE != RACE_ANY;

/// Returns the number of this warp in the grid. Warps of one block have distant numbers, so that
/// even a little work is spread over all blocks.
DEVICE u32 spread_warp() { return u32(warp_in_block()) * gridDim.x + blockIdx.x; }
DEVICE u32 warps_in_grid() { return gridDim.x * (blockDim.x / WARP); }

/// The outputs that a thread has found.
struct Found {
  u32 entries = 0;
  u64 edges = 0;
};

/// Adds the sums of `found` over the block to the counts of the result. Every thread of the block
/// must call this.
template <class Queueing>
DEVICE void add_found(const Found &found, Queueing, Counts *counts, const Work &work) {
  block_add(&counts->entries, u64(found.entries), work.scratch);
  if constexpr (Queueing::IS_WANTED) block_add(&counts->edges, found.edges, work.scratch);
}

/// Counts output o if `is_new` is true and, if a queue is wanted, appends it. Every lane of the
/// warp must call this.
template <class Queueing, class Z>
DEVICE void append(bool is_new, i32 o, const Queueing &queueing, const Vector<Z> &out,
                   Found &found) {
  found.entries += is_new;
  if constexpr (Queueing::IS_WANTED) {
    const u32 all = __ballot_sync(ALL_LANES, is_new);
    if (!all) return;
    if (is_new) found.edges += u64(queueing.indptr[o + 1] - queueing.indptr[o]);
    u64 place = 0;
    if (lane() == 0) place = atomicAdd(&out.counts->queued, u64(__popc(all)));
    place = shuffle(place, 0);
    if (is_new) out.queue[place + u64(__popc(all & ((1u << lane()) - 1)))] = o;
  }
}

// --- push
// -----------------------------------------------------------------------------------------

/// Sets present[o]. Returns whether this thread has changed it.
DEVICE bool claim_output(bool *present, i32 o) {
  const u64 address = u64(&present[o]);
  const u32 bit = 1u << (8 * u32(address & 3));
  return !(atomicOr((u32 *)(address & ~u64(3)), bit) & bit);
}

/// What a push does with the terms. CLAIM: claim outputs and, depending on the monoid, set their
/// values to the first term or to the identity. FOLD: fold terms into the outputs that an earlier
/// pass has claimed. CLAIM_AND_FOLD: both at once; all values are the identity before.
enum PushPass { CLAIM = 0, FOLD = 1, CLAIM_AND_FOLD = 2 };

template <class Op, int KEPT_A, int KEPT_U, class Offset, class A, class U, class Allowed,
          class Queueing>
struct Push {
  typedef typename Op::Z Z;
  static constexpr int SLOTS = 4;  // number of entries that a lane reads at once
  const ProductForm<Offset, A> &a;
  const Vector<U> &u;
  const Vector<Z> &out;
  const Allowed &allowed;
  const Queueing &queueing;
  Found found;

  DEVICE typename Op::U value_of_u(i32 k) const {
    if constexpr (KEPT_U == UNREAD) return typename Op::U(0);
    else return convert<typename Op::U>(u.values[KEPT_U == ISO ? 0 : k]);
  }

  DEVICE bool has_entry(i32 k) const { return !u.present || u.present[k]; }

  /// Processes the edges of up to 32 lines, one per lane: `length` entries from `begin` on in the
  /// line k of each lane. The edges are divided evenly among the lanes. Every lane must call this.
  template <int PASS> DEVICE void read_lines(i32 k, Offset begin, u32 length) {
    const Values<typename Op::A, A, KEPT_A> a_values(a.values);
    const i32 *__restrict__ indices = a.indices;
    typename Op::U x = typename Op::U(0);
    if (length) x = value_of_u(k);
    const u32 through = warp_inclusive_sum(length), ahead = through - length;
    const u32 total = shuffle(through, WARP - 1);
    for (u32 first = 0; first < total; first += SLOTS * WARP) {
      i32 o[SLOTS], from[SLOTS];
      Offset place[SLOTS];
      u32 open = 0, is_new = 0;
#pragma unroll
      for (int i = 0; i < SLOTS; ++i) {
        const u32 mine = first + u32(i * WARP + lane());
        from[i] = 0;
#pragma unroll
        for (int step = WARP / 2; step; step /= 2) {
          if (shuffle(ahead, from[i] + step) <= mine) from[i] += step;
        }
        place[i] = shuffle(begin, from[i]) + Offset(mine - shuffle(ahead, from[i]));
        o[i] = -1;
        if (mine < total) o[i] = indices[place[i]], open |= 1u << i;
      }
#pragma unroll
      for (int i = 0; i < SLOTS; ++i) {
        if (!(open >> i & 1)) continue;
        bool is_open = true;
        if constexpr (PASS == FOLD || (PASS == CLAIM && !NEEDS_IDENTITY<Op>))
          is_open = load_relaxed(&out.present[o[i]]) == (PASS == FOLD);
        if constexpr (PASS != FOLD) is_open = is_open && allowed(o[i]);
        if (!is_open) open &= ~(1u << i);
      }
#pragma unroll
      for (int i = 0; i < SLOTS; ++i) {
        const auto its_x = shuffle(x, from[i]);
        const i32 its_k = shuffle(k, from[i]);
        if (!(open >> i & 1)) continue;
        const auto term = [&] { return Op::term(a_values[place[i]], its_x, o[i], its_k); };
        if constexpr (PASS != CLAIM) atomic_fold<Op>(&out.values[o[i]], term());
        if constexpr (PASS == FOLD) continue;
        if (load_relaxed(&out.present[o[i]]) || !claim_output(out.present, o[i])) continue;
        is_new |= 1u << i;
        if constexpr (PASS == CLAIM)
          out.values[o[i]] = NEEDS_IDENTITY<Op> ? Op::identity() : term();
      }
      if constexpr (PASS != FOLD) {
#pragma unroll
        for (int i = 0; i < SLOTS; ++i) append(is_new >> i & 1, o[i], queueing, out, found);
      }
    }
  }

  /// Processes the chunks of the long lines. Warps of the whole grid test the entries of u, and
  /// consecutive chunks are processed by different warps.
  template <int PASS> DEVICE void read_chunks() {
    const u32 warps = warps_in_grid(), chunks = u32(a.chunks);
    for (u32 base = spread_warp(); base < chunks; base += warps * WARP) {
      const u32 chunk = base + u32(lane()) * warps;
      i32 k = 0;
      bool is_active = chunk < chunks;
      if (is_active) k = a.chunk_lines[chunk], is_active = has_entry(k);
      Offset begin = 0;
      u32 length = 0;
      if (is_active) {
        begin = a.indptr[k] + Offset(a.chunk_numbers[chunk]) * Offset(a.longest);
        length = u32(least(a.indptr[k + 1] - begin, Offset(a.longest)));
      }
      read_lines<PASS>(k, begin, length);
    }
  }

  template <int PASS> DEVICE void run() {
    read_chunks<PASS>();
    const u64 entries = load_relaxed(&u.counts->entries);
    const bool is_listed = u.queue && load_relaxed(&u.counts->queued) == entries;
    const u32 count = is_listed ? u32(entries) : u32(a.lines), warps = warps_in_grid();
    // If there are few entries, a warp takes fewer than 32 of them, so that more warps take part.
    u32 each = WARP;
    while (is_listed && each > 1 && u64(each / 2) * warps >= count) each /= 2;
    for (u64 base = u64(spread_warp()) * each; base < count; base += u64(warps) * each) {
      const u64 at = base + u64(lane());
      bool is_active = u32(lane()) < each && at < count;
      i32 k = 0;
      if (is_active) {
        k = is_listed ? u.queue[at] : i32(at);
        is_active = is_listed || has_entry(k);
      }
      Offset begin = 0, length = 0;
      if (is_active) {
        begin = a.indptr[k];
        length = a.indptr[k + 1] - begin;
        if (a.is_long(length)) length = 0;
      }
      read_lines<PASS>(k, begin, u32(length));
    }
  }
};

/// Computes out = A u for the outputs o for which allowed(o) is true, by scattering the entries of
/// u along the lines of `a`, which are the columns of the matrix.
///
/// When this is called, all flags in out.present must be false, and all counts of `out` zero. If
/// IS_PRESET is true and NEEDS_IDENTITY<Op>, all out.values must be the monoid's identity. If
/// IS_PRESET is false, the values may be anything; the product then takes two passes with a barrier
/// between them, except for the monoid ANY.
template <class Op, int KEPT_A, int KEPT_U, bool IS_PRESET, class Offset, class A, class U,
          class Allowed, class Queueing>
DEVICE void push_product(const ProductForm<Offset, A> &a, const Vector<U> &u,
                         const Vector<typename Op::Z> &out, const Allowed &allowed,
                         const Queueing &queueing, Work &work) {
  Push<Op, KEPT_A, KEPT_U, Offset, A, U, Allowed, Queueing> push{a, u, out, allowed, queueing, {}};
  if constexpr (!NEEDS_IDENTITY<Op>) {
    push.template run<CLAIM>();
  } else if constexpr (IS_PRESET) {
    push.template run<CLAIM_AND_FOLD>();
  } else {
    push.template run<CLAIM>();
    work.grid.meet();
    push.template run<FOLD>();
  }
  add_found(push.found, queueing, out.counts, work);
}

// --- pull
// -----------------------------------------------------------------------------------------

template <class Op, int KEPT_A, int KEPT_U, int HELD, class Offset, class A, class U, class Allowed,
          class Queueing>
struct Pull {
  typedef typename Op::Z Z;
  static constexpr int ENDS = Op::IS_ANY ? AT_FIRST : AT_LAST;
  static constexpr int FEW = 8;    // number of entries that one thread reads
  static constexpr int SOME = 32;  // maximum length of a row that a group of lanes reads
  typedef graphla::Rows<Op, Offset, A, KEPT_A, U, KEPT_U, HELD, ENDS> Rows;

  const ProductForm<Offset, A> &a;
  const Vector<Z> &out;
  const Allowed &allowed;
  const Queueing &queueing;
  const ProductArrays &arrays;
  Rows rows;
  Found found;

  /// Stores the result of row o, for each lane whose `is_row` is true. Every lane must call this.
  DEVICE void store(bool is_row, i32 o, const Fold<Op> &fold) {
    if (is_row) {
      out.present[o] = fold.has;
      if (fold.has) out.values[o] = fold.sum;
    }
    append(is_row && fold.has, o, queueing, out, found);
  }

  /// Folds all chunks of the long rows that the mask allows.
  DEVICE void read_chunks() {
    const u32 warps = warps_in_grid(), chunks = u32(a.chunks);
    for (u32 base = spread_warp(); base < chunks; base += warps * WARP) {
      const u32 mine = base + u32(lane()) * warps;
      const i32 line = mine < chunks ? a.chunk_lines[mine] : 0;
      u32 active = __ballot_sync(ALL_LANES, mine < chunks && allowed(line));
      for (; active; active &= active - 1) {
        const int owner = __ffs(int(active)) - 1;
        read_chunk(base + u32(owner) * warps, shuffle(line, owner));
      }
    }
  }

  DEVICE void read_chunk(u32 chunk, i32 row) {
    const i64 number = a.chunk_numbers[chunk], begin = i64(a.indptr[row]),
              end = i64(a.indptr[row + 1]), from = begin + number * a.longest;
    const u32 head = chunk - u32(number), count = u32((end - begin + a.longest - 1) / a.longest);
    Z *const sums = (Z *)arrays.sums;
    Fold<Op> fold;
    const u32 before = shuffle(load_relaxed(&arrays.arrived[head]), 0);
    if (!rows.MAY_SETTLE || !(before & SETTLED))
      fold = rows.fold_by_warp(Offset(from), int(least(end - from, i64(a.longest))), row);
    u32 arrived = 0;
    if (lane() == 0) {
      store_relaxed(&sums[chunk], fold.sum);
      store_relaxed(&arrays.has[chunk], fold.has);
      __threadfence();
      if (rows.is_settled(fold)) atomicOr(&arrays.arrived[head], SETTLED);
      arrived = (atomicAdd(&arrays.arrived[head], 1u) & ~SETTLED) + 1;
      __threadfence();
    }
    if (shuffle(arrived, 0) < count) return;
    Fold<Op> whole;
    for (u32 first = 0; first < count; first += WARP) {
      Fold<Op> part;
      if (first + lane() < count) {
        part = Fold<Op>(load_relaxed(&sums[head + first + lane()]),
                        load_relaxed(&arrays.has[head + first + lane()]));
      }
      whole.append(warp_fold(part));
    }
    if (lane() == 0) store_relaxed(&arrays.arrived[head], 0u);
    store(lane() == 0, row, whole);
  }

  /// Folds the rows that are not long, and marks the outputs that the mask forbids as missing.
  DEVICE void read_rows() {
    const u64 step = u64(warps_in_grid()) * WARP;
    for (u64 base = u64(spread_warp()) * WARP; base < u64(a.lines); base += step) {
      const i32 row = i32(base) + lane();
      bool is_row = base + u64(lane()) < u64(a.lines);
      Offset begin = 0, end = 0;
      if (is_row && allowed(row)) begin = a.indptr[row], end = a.indptr[row + 1];
      if (a.is_long(end - begin)) is_row = false, end = begin;
      Fold<Op> fold;
      int few = int(least(end - begin, Offset(FEW)));
      if (!rows.MAY_SETTLE && end - begin > Offset(FEW)) few = 0;
      rows.fold_few(fold, begin, few, row);
      begin += Offset(few);
      u32 left = __ballot_sync(ALL_LANES, begin < end && !rows.is_settled(fold));
      if constexpr (!Rows::MAY_SETTLE) {
        const u32 shorter = left & __ballot_sync(ALL_LANES, end - begin <= Offset(SOME));
        rows.fold_by_groups(fold, shorter, begin, int(end - begin), row);
        left &= ~shorter;
      }
      for (; left; left &= left - 1) {
        const int owner = __ffs(int(left)) - 1;
        const Offset from = shuffle(begin, owner), to = shuffle(end, owner);
        const Fold<Op> more = rows.fold_by_warp(from, int(to - from), shuffle(row, owner));
        if (lane() == owner) fold.append(more);
      }
      store(is_row, row, fold);
    }
  }
};

/// Computes out = A u for the outputs o for which allowed(o) is true, by gathering each output from
/// its line of `a`, which are the rows of the matrix.
///
/// HELD is IN_FULL if u has an entry at every position (then u.present is not read), otherwise
/// IN_BITMAP. All flags in out.present are written. All counts of `out` must be zero when this is
/// called.
template <class Op, int KEPT_A, int KEPT_U, int HELD, class Offset, class A, class U, class Allowed,
          class Queueing>
DEVICE void pull_product(const ProductForm<Offset, A> &a, const Vector<U> &u,
                         const Vector<typename Op::Z> &out, const Allowed &allowed,
                         const Queueing &queueing, Work &work) {
  const Operands<A, U> operands{a.indices, a.values, u.present, u.values, nullptr, 0};
  typedef Pull<Op, KEPT_A, KEPT_U, HELD, Offset, A, U, Allowed, Queueing> Pulling;
  Pulling pull{a, out, allowed, queueing, work.arrays, typename Pulling::Rows(operands), {}};
  pull.read_chunks();
  pull.read_rows();
  add_found(pull.found, queueing, out.counts, work);
}

// --- the direction
// --------------------------------------------------------------------------------

/// Returns whether to push. `columns` is the form that the push would read, and `rows` the number
/// of outputs. `left` is an upper bound on the number of outputs that the mask allows. All threads
/// get the same result.
template <class Op, class Offset, class A, class U>
DEVICE bool should_push(const ProductForm<Offset, A> &columns, const Vector<U> &u, i64 rows,
                        i64 left) {
  constexpr bool STOPS = Op::IS_ANY || Op::RACE == RACE_FLAG;
  constexpr float PUSH_ENTRY = STOPS ? 1.2f : 2.4f, PULL_ROW = 0.3f, STOPPING = 0.75f;
  const u64 entries = load_relaxed(&u.counts->entries);
  const bool is_listed = u.queue && load_relaxed(&u.counts->queued) == entries;
  const float mean = float(columns.entries) / float(greatest(columns.lines, i64(1)));
  const float edges = is_listed ? float(load_relaxed(&u.counts->edges)) : float(entries) * mean;
  const float push = PUSH_ENTRY * edges + (is_listed ? 0.0f : PULL_ROW * float(columns.lines));
  const float whole = float(columns.entries) * float(left) / float(greatest(rows, i64(1)));
  float read = whole;
  if (STOPS) {
    const float looks = float(left) * float(columns.entries) / greatest(edges, 1.0f);
    read = STOPPING * least(whole, looks);
  }
  return push <= PULL_ROW * float(rows) + read;
}

}  // namespace graphla
#endif
