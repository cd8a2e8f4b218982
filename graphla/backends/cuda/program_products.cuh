// Matrix-vector products inside a persistent kernel: out(o) = (+) over k of A(o, k) (x) u(k), for
// the outputs o that a mask allows.
//
// All threads of all blocks call `push_product` or `pull_product`, with the same arguments. A
// product does not wait for other blocks when it starts or ends: a grid barrier must separate it
// from the writes of its operands, from the reads of its result, and from the next product that
// uses the same `Work`.
//
// When a product starts, `out` must be clean: all its flags are false, and all its counts zero.
//
// A push reads the columns k for which u has an entry. A thread that finds a term of output o first
// tests the mask, and then claims o: it sets the byte out.present[o] by an atomic operation on the
// 32-bit word that contains the byte. A pull reads the rows o that the mask allows.
//
// A row or column with more than `longest` entries is long. The host cuts the long ones into chunks
// once per matrix, and the warps of the whole grid process the chunks. If a pull adds up all terms
// of a row, the warp that finishes the last chunk of the row combines the folds of all its chunks,
// in order. So a pull gives the same bits in every run and for every grid size, except for the
// monoid ANY.
//
// The operands change between products, so no code may read them by ld.global.nc: never copy the
// pointers of a `Vector` to a local pointer that is `__restrict__`. But a word that all threads
// read must be read through the cache of the multiprocessor (not by load_relaxed): thousands of
// warps that read one word from L2 take 2.5 us.
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
  u64 edges;  // sum of the degrees of all entries; less if the queue is not valid; see `WithQueue`
};

/// A vector in device memory. If position i has no entry, values[i] may be anything.
template <class T> struct Vector {
  T *values;
  // One byte per position; the array is aligned to 4 bytes, and so is its length. Null if the
  // vector is an operand that has an entry at every position.
  bool *present;
  i32 *queue;  // the positions of the entries, in any order, if `counts` says so; may be null
  Counts *counts;
};

/// One form of a matrix, packed by `push_form` or `pull_form` in program_products.py. The lines are
/// the rows of the matrix (then a pull gathers each output from its line) or the columns (then a
/// push scatters each entry of u along its line).
template <class Offset, class A> struct ProductForm {
  const Offset *indptr;  // lines + 1 offsets
  const i32 *indices;
  const A *values;           // one value per entry or one for all, see `Kept`; null if not read
  const i32 *chunk_lines;    // for each chunk: its line
  const i32 *chunk_numbers;  // for each chunk: its number among the chunks of its line
  const u32 *peeks;          // for each line: a good entry to test first, see `Peek`; may be null
  const u8 *used;            // for each column: 1 if it has an entry, otherwise 0; may be null
  const u16 *hubs;           // the tags of the hubs; null unless a pull is WITH_HUBS
  i64 lines;
  i64 entries;
  i64 filled;    // number of lines that are not empty
  i64 columns;   // number of columns; the length of `used` is the next multiple of 4
  i64 in_use;    // number of columns that have an entry; only if `used` is not null
  i32 chunks;    // number of chunks of all long lines
  i32 longest;   // number of entries of a chunk, and of the longest line that is not cut
  i32 group;     // about this many lines have 32 entries together; a power of two from 1 to 32
  i32 hub_bits;  // number of hubs == 1 << hub_bits

  DEVICE bool is_long(Offset length) const { return chunks && length > Offset(longest); }
};

/// An element of `peeks` is the column of an entry, and two flags: whether the line is long, and
/// whether it has only this entry. It is NO_PEEK if the line is empty.
enum Peek { PEEK_COLUMN = 0x3fffffff, PEEK_ONLY = 0x40000000 };
constexpr u32 PEEK_LONG = 0x80000000u, NO_PEEK = 0xffffffffu;

/// Device memory that products use, allocated by `arrays` in program_products.py. The first three
/// arrays have one element per chunk of the form that has the most chunks. The arrays `arrived` and
/// `turns` must be zero before the first product.
struct ProductArrays {
  u64 *sums;     // the fold of each chunk
  bool *has;     // whether the chunk has a term
  u32 *arrived;  // at the first chunk of each line: the number of finished chunks, and `SETTLED`
  // Two counters of shares of the rows, which pulls use in alternation. The highest bit is the flag
  // `GAP`.
  u32 *turns;
};

/// The flag in `turns` that says that a column has entries in the matrix, but u has no entry there.
constexpr u32 GAP = 1u << 31;

/// The flag in `arrived` that says that further chunks cannot change the result of the row.
constexpr u32 SETTLED = 1u << 31;

enum ProductShape {
  QUEUE_ROOM = 2048,  // maximum number of outputs of a product that one block queues
  LIST_ROOM = 6144    // number of rows that all warps of a block list
};

/// Shared memory for products: declare it by SHARED(ProductRoom, room, 1).
struct ProductRoom {
  u64 edges[WARP];
  u64 place;  // the position in the queue of the first buffered output
  u32 entries[WARP];
  u32 buffered;
  i32 buffer[QUEUE_ROOM];
  i32 lists[LIST_ROOM];

  /// Returns the number of rows that a warp may list.
  static DEVICE int list_room() { return LIST_ROOM / (int(blockDim.x) / WARP); }
  /// Returns the list of this warp.
  DEVICE i32 *list() { return lists + warp_in_block() * list_room(); }
};

/// What the products of a kernel share.
struct Work {
  Grid grid;  // a copy
  ProductArrays arrays;
  ProductRoom &room;
  u32 pulls;         // number of pulls so far, including this product
  u32 barriers = 0;  // number of barriers that products have gone through

  DEVICE Work(const Grid &barrier, const ProductArrays &memory, ProductRoom *shared, u32 count)
      : grid(barrier), arrays(memory), room(shared[0]), pulls(count) {}

  DEVICE void meet() {
    grid.meet();
    ++barriers;
  }
};

/// Prepares the shared memory for the first product. All threads of a block must call this, and a
/// barrier must follow.
DEVICE void prepare_room(ProductRoom *room) {
  if (threadIdx.x == 0) room->buffered = 0;
}

/// The last argument but one of a product that does not list its outputs in out.queue.
struct WithoutQueue {
  static constexpr bool IS_WANTED = false;
};

/// The last argument but one of a product that lists its outputs in out.queue. If there are so many
/// outputs that a block finds more than QUEUE_ROOM of them, some are not listed, and the queue is
/// not valid. The sum of the degrees of the outputs is added to out.counts->edges. The degrees are
/// those of the lines with the offsets `indptr`.
template <class Offset> struct WithQueue {
  static constexpr bool IS_WANTED = true;
  const Offset *indptr;
};

/// Returns whether out.values must contain the monoid's identity at every position when
/// `push_product` is called with IS_PRESET.
template <class Op> constexpr bool NEEDS_IDENTITY = Op::RACE != RACE_ANY;

/// The semiring Op if each entry of the vector has its index as its value, of type U.
template <class Op, class U> struct OfIndex : Op {
  typedef typename Op::Z Z;
  static constexpr bool READS_U = false;
  static DEVICE typename Op::U value(i64 k) { return convert<typename Op::U>(U(k)); }
  static DEVICE Z term(typename Op::A a, typename Op::U, i64 o, i64 k) {
    return Op::term(a, value(k), o, k);
  }
  static DEVICE Z fold(Z sum, typename Op::A a, typename Op::U, i64 o, i64 k) {
    return Op::fold(sum, a, value(k), o, k);
  }
};
/// The semiring Op if the first term of each row, in the order of the columns, is the result of the
/// row. For example, the monoid selects the smallest term, and the terms never decrease with the
/// column.
template <class Op> struct FirstTerm : Op {};
template <class Op> constexpr bool IS_FIRST = false;
template <class Op> constexpr bool IS_FIRST<FirstTerm<Op>> = true;

/// Whether a pull looks for one term that settles the row. Otherwise it adds up the terms, and
/// writes every flag of `out`, so that these need not be false before.
template <class Op>
constexpr bool IS_SEARCH = Op::RACE == RACE_ANY || Op::RACE == RACE_FLAG || IS_FIRST<Op>;

/// Returns the number of this warp in the grid. Warps of one block have distant numbers, so that
/// even a little work is spread over all blocks.
DEVICE u32 spread_warp() { return u32(warp_in_block()) * gridDim.x + blockIdx.x; }
DEVICE u32 warps_in_grid() { return gridDim.x * (blockDim.x / WARP); }

/// Returns how many of `count` items a warp takes at a time: a power of two from `fewest` to
/// `most`. If there are few items, more warps take part.
DEVICE u32 share_of(u32 count, u32 fewest, u32 most) {
  const u32 warps = warps_in_grid();
  u32 each = most;
  while (each > fewest && each / 2 * warps >= count) each /= 2;
  return each;
}

/// Sets present[o]. Returns whether this thread has changed it.
DEVICE bool claim_output(bool *present, i32 o) {
  const u32 bit = 1u << (8 * (o & 3));
  return !(atomicOr((u32 *)(present + (o & ~3)), bit) & bit);
}

// --- outputs -----------------------------------------------------------------------------------

/// Counts the outputs that a thread has found and, if a queue is wanted, lists them.
template <class Queueing, class Z> struct Outputs {
  const Queueing queueing;
  const Vector<Z> out;
  ProductRoom &room;
  u32 entries = 0;
  u64 edges = 0;

  DEVICE Outputs(const Queueing &how, const Vector<Z> &to, ProductRoom &shared)
      : queueing(how), out(to), room(shared) {}

  /// Returns the degree of output o, or 0 if no queue is wanted.
  DEVICE u32 degree(i32 o) const {
    if constexpr (Queueing::IS_WANTED) return u32(queueing.indptr[o + 1] - queueing.indptr[o]);
    else return 0;
  }

  /// Appends the outputs o[i] for which bit i of `is_new` is set, as far as there is room. Every
  /// lane of the warp must call this. `entries` and `edges` are not changed.
  template <int K> DEVICE void append(u32 is_new, const i32 (&o)[K]) {
    if constexpr (Queueing::IS_WANTED) {
      if (!__any_sync(ALL_LANES, is_new)) return;
      u32 news[K], total = 0;
#pragma unroll
      for (int i = 0; i < K; ++i) {
        news[i] = __ballot_sync(ALL_LANES, is_new >> i & 1);
        total += u32(__popc(news[i]));
      }
      u32 at = 0;
      if (lane() == 0) at = atomicAdd(&room.buffered, total);
      at = shuffle(at, 0);
#pragma unroll
      for (int i = 0; i < K; ++i) {
        const u32 mine = at + u32(__popc(news[i] & ((1u << lane()) - 1)));
        if ((is_new >> i & 1) && mine < u32(QUEUE_ROOM)) room.buffer[mine] = o[i];
        at += u32(__popc(news[i]));
      }
    }
  }
  /// Counts and appends output o if `is_new` is true. Every lane of the warp must call this.
  DEVICE void add(bool is_new, i32 o) {
    if (is_new) ++entries, edges += degree(o);
    const i32 one[1] = {o};
    append(is_new, one);
  }

  /// Adds the counts to out.counts, and moves the buffered outputs to the queue. Every thread of
  /// the block must call this once, at the end of the product.
  DEVICE void finish() {
    const u32 some = warp_sum(entries);
    if (lane() == 0) room.entries[warp_in_block()] = some;
    if constexpr (Queueing::IS_WANTED) {
      // Add the halves apart, because a sum of 32-bit numbers is one instruction.
      const u64 low = warp_sum(u32(edges & 0xffff)), high = warp_sum(u32(edges >> 16));
      if (lane() == 0) room.edges[warp_in_block()] = low + (high << 16);
    }
    __syncthreads();
    u32 count = 0;
    if constexpr (Queueing::IS_WANTED) {
      count = least(room.buffered, u32(QUEUE_ROOM));
      if (threadIdx.x == 0 && count) room.place = atomicAdd(&out.counts->queued, u64(count));
    }
    if (warp_in_block() == int(blockDim.x) / WARP - 1) {
      const bool is_warp = lane() < int(blockDim.x) / WARP;
      const u32 total = warp_sum(is_warp ? room.entries[lane()] : 0u);
      if (lane() == 0 && total) atomicAdd(&out.counts->entries, u64(total));
      if constexpr (Queueing::IS_WANTED) {
        const u64 sum = total ? warp_sum(is_warp ? room.edges[lane()] : u64(0)) : 0;
        if (lane() == 0 && sum) atomicAdd(&out.counts->edges, sum);
      }
    }
    if constexpr (Queueing::IS_WANTED) {
      if (!count) return;
      __syncthreads();
      const u64 place = room.place;
      for (u32 i = threadIdx.x; i < count; i += blockDim.x) out.queue[place + i] = room.buffer[i];
      if (threadIdx.x == 0) room.buffered = 0;
    }
  }
};

// --- push --------------------------------------------------------------------------------------

/// What a push does with the terms. TAKE_FIRST: an output keeps the term that claims it. PRESET:
/// outputs are claimed, and terms folded, in one pass; all values are the identity before.
/// TWO_PASSES: a first pass claims outputs and sets their values to the identity, and a second one
/// folds the terms.
enum PushWay { TAKE_FIRST = 0, PRESET = 1, TWO_PASSES = 2 };

template <class Op, int KEPT_A, int KEPT_U, int WAY, class Offset, class A, class U, class Allowed,
          class Queueing>
struct Push {
  typedef typename Op::Z Z;
  static constexpr int SLOTS = 2;  // number of entries that a lane reads at once
  // Maximum number of entries of a line that one warp reads because the queue is short.
  static constexpr u32 EVEN = 1024;
  // Maximum number of queued lines whose edges are divided evenly among all warps.
  static constexpr u32 FEW_LINES = 4 * WARP;
  const ProductForm<Offset, A> &a;
  const Vector<U> u;
  const Vector<Z> out;
  const Allowed &allowed;
  Outputs<Queueing, Z> outputs;
  bool is_second = false;  // whether this is the second pass

  DEVICE typename Op::U value_of_u(i32 k) const {
    if constexpr (KEPT_U == UNREAD) return typename Op::U(0);
    else return convert<typename Op::U>(u.values[KEPT_U == ISO ? 0 : k]);
  }
  DEVICE bool has_entry(i32 k) const { return !u.present || u.present[k]; }

  /// Processes the edges of up to 32 lines, one per lane: `length` entries from `begin` on in the
  /// line k of each lane. The edges are divided evenly among the lanes. If `is_single` is true, all
  /// lanes have the same line. Otherwise only the edges from number `skipped` to `end` - 1 are
  /// processed. Every lane must call this.
  DEVICE void read_lines(i32 k, Offset begin, u32 length, bool is_single, u32 skipped, u32 end) {
    const Values<typename Op::A, A, KEPT_A> a_values(a.values);
    const i32 *__restrict__ indices = a.indices;
    typename Op::U x = typename Op::U(0);
    if (length) x = value_of_u(k);
    u32 ahead = 0, total = length;
    if (!is_single) {
      const u32 through = warp_inclusive_sum(length);
      ahead = through - length, total = least(shuffle(through, WARP - 1), end);
    }
#pragma unroll 1
    for (u32 first = skipped; first < total; first += SLOTS * WARP) {
      i32 o[SLOTS];
      int from[SLOTS];
      Offset place[SLOTS];
      u32 open = 0, fresh = 0;  // bits: whether a slot has a term to process, or an output to claim
#pragma unroll
      for (int i = 0; i < SLOTS; ++i) {
        const u32 mine = first + u32(i * WARP + lane());
        from[i] = lane();
        place[i] = begin + Offset(mine);
        if (!is_single) {
          from[i] = 0;
#pragma unroll
          for (int step = WARP / 2; step; step /= 2) {
            if (shuffle(ahead, from[i] + step) <= mine) from[i] += step;
          }
          place[i] = shuffle(begin, from[i]) + Offset(mine - shuffle(ahead, from[i]));
        }
        o[i] = 0;
        if (mine < total) o[i] = indices[place[i]], open |= 1u << i;
      }
#pragma unroll
      for (int i = 0; i < SLOTS; ++i) {
        if (!(open >> i & 1)) continue;
        const bool is_claimed = load_relaxed(&out.present[o[i]]);
        bool is_open = is_claimed;
        if (WAY != TWO_PASSES || !is_second) {
          is_open = allowed(o[i]);
          if (WAY != PRESET) is_open = is_open & !is_claimed;
          if (is_open && !is_claimed) fresh |= 1u << i;
        }
        if (!is_open) open &= ~(1u << i);
      }
      u32 is_new = 0, degrees[SLOTS];
#pragma unroll
      for (int i = 0; i < SLOTS; ++i) {
        degrees[i] = 0;
        if (!(fresh >> i & 1)) continue;
        if (claim_output(out.present, o[i])) is_new |= 1u << i;
        degrees[i] = outputs.degree(o[i]);
      }
#pragma unroll
      for (int i = 0; i < SLOTS; ++i) {
        typename Op::U its_x = x;
        if constexpr (KEPT_U != UNREAD) its_x = shuffle(x, from[i]);
        const i32 its_k = shuffle(k, from[i]);
        const bool is_mine = is_new >> i & 1;
        if (is_mine) ++outputs.entries, outputs.edges += degrees[i];
        if (WAY == TWO_PASSES && is_mine) out.values[o[i]] = Op::identity();
        bool needs_term = is_mine;
        if (WAY == PRESET) needs_term = open >> i & 1;
        if (WAY == TWO_PASSES) needs_term = is_second && (open >> i & 1);
        if (!needs_term) continue;
        const Z term = Op::term(a_values[place[i]], its_x, o[i], its_k);
        if constexpr (WAY == TAKE_FIRST) out.values[o[i]] = term;
        else atomic_fold<Op>(&out.values[o[i]], term);
      }
      if (WAY != TWO_PASSES || !is_second) outputs.append(is_new, o);
    }
  }

  /// Processes all edges. First the warps of the whole grid test the chunks of the long lines;
  /// consecutive chunks belong to different warps. Then they take entries of u from the queue. If
  /// there is no queue, each warp lists entries of u before it processes them. If the queue is
  /// short, the chunks are not tested: instead, one or several warps process each line, or the
  /// edges are divided evenly among all warps.
  DEVICE void run(i32 *list, const Counts &counts) {
    const u32 warps = warps_in_grid(), warp = spread_warp();
    const bool is_listed = u.queue && counts.queued == counts.entries;
    const bool is_direct = is_listed || !u.present;
    const u32 count = is_listed ? u32(counts.entries) : u32(a.lines);
    const u32 pieces = is_listed ? pieces_of(count, counts.edges) : 0;
    u32 each = share_of(count, is_direct ? u32(a.group) : 1, is_direct ? WARP : 4 * WARP);
    u32 chunk = warp, at = warp * each, piece = 0;
    if (pieces) {
      chunk = u32(a.chunks);
      piece = warp / count, at = warp - piece * count, each = 1;
      if (piece >= pieces) return;
    }
    // The edges of few lines are divided evenly among all warps: each takes `share` at a time.
    constexpr u32 ONCE = SLOTS * WARP;
    const bool is_divided = is_listed && !pieces && count <= FEW_LINES && a.entries < i64(1) << 30;
    const u32 share = (u32(counts.edges) / warps / ONCE + 1) * ONCE;
    u32 line = 0, part = warp * share;
    int listed = 0;
    while (true) {
      i32 k = 0;
      bool is_active = false;
      Offset begin = 0, length = 0;
      u32 skipped = 0, end = ~0u;
      if (is_divided) {
        if (line >= count) break;
        const u32 mine = line + u32(lane());
        if (mine < count) {
          k = u.queue[mine];
          begin = a.indptr[k];
          length = a.indptr[k + 1] - begin;
        }
        skipped = part, end = part + share;
        part += warps * share;
        if (part >= warp_sum(u32(length))) line += WARP, part = warp * share;
      } else if (chunk < u32(a.chunks)) {
        const u32 mine = chunk + u32(lane()) * warps;
        if (mine < u32(a.chunks)) {
          k = a.chunk_lines[mine];
          if (has_entry(k)) {
            begin = a.indptr[k] + Offset(a.chunk_numbers[mine]) * Offset(a.longest);
            length = least(a.indptr[k + 1] - begin, Offset(a.longest));
          }
        }
        chunk += warps * WARP;
      } else {
        if (is_direct) {
          if (at >= count) break;
          const u32 mine = pieces ? at : at + u32(lane());
          is_active = pieces || (u32(lane()) < each && mine < count);
          if (is_active) k = is_listed ? u.queue[mine] : i32(mine);
          at = pieces ? count : at + warps * each;
        } else {
          for (; listed < WARP && at < count; at += warps * each)
            list_entries(list, listed, at, least(at + each, count));
          if (!listed) break;
          const int some = least(listed, WARP);
          listed -= some;
          is_active = lane() < some;
          if (is_active) k = list[listed + lane()];
          __syncwarp();
        }
        if (is_active) {
          begin = a.indptr[k];
          length = a.indptr[k + 1] - begin;
          if (pieces) {
            const Offset part = (length / Offset(pieces) / WARP + 1) * WARP,
                         skipped = Offset(least(i64(length), i64(part) * piece));
            begin += skipped;
            length = least(length - skipped, part);
          } else if (a.is_long(length)) {
            length = 0;
          }
        }
      }
      read_lines(k, begin, u32(length), pieces, skipped, end);
    }
  }

  /// Returns the number of warps that share each line if there are `count` lines with `edges`
  /// entries together, or 0 if the lines must not be divided in this way because there are too many
  /// or one may be very long.
  DEVICE u32 pieces_of(u32 count, u64 edges) const {
    const u32 warps = warps_in_grid();
    if (!count || count > warps) return 0;
    // A line of eight times the mean length is shared by enough warps that each reads 32 entries.
    const u32 pieces = u32(least(u64(warps / count), edges / (4 * count) + 1));
    // If each line has an entry, none has more than edges - count + 1 entries.
    return a.chunks && edges > count + u64(pieces) * EVEN ? 0 : pieces;
  }

  /// Appends the positions from `first` to `end` - 1, at most 128, at which u has entries to the
  /// list of this warp.
  DEVICE void list_entries(i32 *list, int &listed, u32 first, u32 end) const {
    bool is_there[4];
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const u32 k = first + u32(part * WARP + lane());
      is_there[part] = k < end && u.present[k];
    }
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const u32 all = __ballot_sync(ALL_LANES, is_there[part]);
      if (is_there[part])
        list[listed + __popc(all & ((1u << lane()) - 1))] = i32(first) + part * WARP + lane();
      listed += __popc(all);
    }
    __syncwarp();
  }
};

/// Computes out = A u for the outputs o for which allowed(o) is true, by scattering the entries of
/// u along the lines of `a`, which are the columns of the matrix.
///
/// If IS_PRESET is true and NEEDS_IDENTITY<Op>, all out.values must be the monoid's identity when
/// this is called. If IS_PRESET is false, the values may be anything; the product then takes two
/// passes with a barrier between them, except for the monoid ANY. `known` has the value of
/// *u.counts.
template <class Op, int KEPT_A, int KEPT_U, bool IS_PRESET, class Offset, class A, class U,
          class Allowed, class Queueing>
DEVICE void push_product(const ProductForm<Offset, A> &a, const Vector<U> &u,
                         const Vector<typename Op::Z> &out, const Allowed &allowed,
                         const Queueing &queueing, Work &work, const Counts &known) {
  constexpr int WAY = !NEEDS_IDENTITY<Op> ? TAKE_FIRST : IS_PRESET ? PRESET : TWO_PASSES;
  i32 *const list = work.room.list();
  Push<Op, KEPT_A, KEPT_U, WAY, Offset, A, U, Allowed, Queueing> push{
      a, u, out, allowed, Outputs<Queueing, typename Op::Z>(queueing, out, work.room)};
#pragma unroll 1
  for (int pass = 0; pass < (WAY == TWO_PASSES ? 2 : 1); ++pass) {
    if (pass) work.meet();
    push.is_second = pass;
    push.run(list, known);
  }
  push.outputs.finish();
}
template <class Op, int KEPT_A, int KEPT_U, bool IS_PRESET, class Offset, class A, class U,
          class Allowed, class Queueing>
DEVICE void push_product(const ProductForm<Offset, A> &a, const Vector<U> &u,
                         const Vector<typename Op::Z> &out, const Allowed &allowed,
                         const Queueing &queueing, Work &work) {
  const Counts known = *u.counts;
  push_product<Op, KEPT_A, KEPT_U, IS_PRESET>(a, u, out, allowed, queueing, work, known);
}

// --- pull --------------------------------------------------------------------------------------

template <class Op, int KEPT_A, int KEPT_U, int HELD, class Offset, class A, class U, class Allowed,
          class Queueing>
struct Pull {
  typedef typename Op::Z Z;
  // Whether a single term is the result of a row.
  static constexpr bool IS_ONE_TERM = Op::IS_ANY || IS_FIRST<Op>;
  static constexpr int ENDS = IS_ONE_TERM ? AT_FIRST : AT_LAST;
  static constexpr int FEW = 8;    // number of entries that one thread reads
  static constexpr int PARTS = 4;  // a warp takes up to this many rows per lane at a time
  static constexpr int STORED = HELD == IN_BITMAP && !IS_SEARCH<Op> ? int(MAYBE_FULL) : HELD;
  static constexpr int BATCH =
      IS_SEARCH<Op> ? 4 : 8;              // number of entries that a lane loads at once
  static constexpr int SOME = 8 * BATCH;  // maximum length of a row that a group of lanes reads
  typedef graphla::Rows<Op, Offset, A, KEPT_A, U, KEPT_U, STORED, ENDS, BATCH> Rows;
  // Whether a few terms often settle a row. The terminal value of an integer minimum or maximum is
  // rare, so short rows are then folded by groups of lanes, which read whole rows.
  static constexpr bool SETTLES_EARLY =
      Rows::MAY_SETTLE && (IS_ONE_TERM || (Op::RACE != RACE_MIN && Op::RACE != RACE_MAX));
  // Whether a chunk of a row may settle the row without its other chunks.
  static constexpr bool CHUNKS_SETTLE = Rows::MAY_SETTLE && !IS_ONE_TERM;

  const ProductForm<Offset, A> &a;
  const Vector<Z> out;
  const Allowed &allowed;
  Work &work;
  Rows rows;
  Outputs<Queueing, Z> outputs;

  /// Stores the result of row o, for each lane whose `is_row` is true. Every lane must call this.
  DEVICE void store(bool is_row, i32 o, const Fold<Op> &fold) {
    if (is_row) {
      out.present[o] = fold.has;
      if (fold.has) out.values[o] = fold.sum;
    }
    outputs.add(is_row && fold.has, o);
  }

  // --- sums --------------------------------------------------------------------------------------

  /// Folds all rows that the mask allows, or only the long ones. First the warps of the whole grid
  /// fold the chunks of the long rows; consecutive chunks are folded by different warps. Then they
  /// fold the other rows, and mark the outputs that the mask forbids as missing. If there are long
  /// rows, the lengths of rows vary much. Then each warp repeatedly takes the next rows that no
  /// warp has taken yet. The number of its next turn is requested early.
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

  /// Returns the number of a turn that no warp has taken yet.
  DEVICE u32 next_turn() const {
    u32 taken = 0;
    if (lane() == 0) taken = atomicAdd(&work.arrays.turns[work.pulls & 1], 1u) & ~GAP;
    return warps_in_grid() + shuffle(taken, 0);
  }

  /// Finds the entries of a chunk. There are none to fold if the result of the row is settled.
  DEVICE void find_chunk(u32 chunk, i32 row, Offset &begin, Offset &end) const {
    const i32 number = a.chunk_numbers[chunk];
    begin = a.indptr[row] + Offset(number) * Offset(a.longest);
    end = begin + least(a.indptr[row + 1] - begin, Offset(a.longest));
    if constexpr (CHUNKS_SETTLE) {
      if (load_relaxed(&work.arrays.arrived[chunk - u32(number)]) & SETTLED) end = begin;
    }
  }

  /// Stores the fold of a chunk. If it is the last one of its row to be folded, stores the result
  /// of the row. Every lane must call this.
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

  /// Folds the rows that are short, one for each lane, and the first entries of the other rows if
  /// these may settle them. Advances `begin` to the first entry that has not been read. Returns the
  /// bits of the lanes whose rows the warp must still fold. Every lane must call this.
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

  /// For the monoid ANY: looks for a term in each chunk of the long rows that the mask allows and
  /// that have no result yet.
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

  static constexpr int NEAR = 8;  // number of entries of a row that a lane reads at once
  enum Look { ABSENT = 0, OTHER = 1, SETTLES = 2 };

  /// Returns what the entry at `place`, in column k, contributes to its row: nothing, a term, or a
  /// term that settles the row.
  DEVICE int look(Offset place, i32 k, i32 row) const {
    if constexpr (HELD == IN_BITMAP) {
      if (!rows.u_present[k]) return ABSENT;
    }
    if constexpr (IS_ONE_TERM) return SETTLES;
    else return rows.term(place, k, row) == Op::terminal() ? SETTLES : OTHER;
  }

  /// If a single term is the result of a row: stores the term of the entry at `place`, in column k,
  /// as the result of row o. If the row is long, another warp may have done this. Returns whether
  /// this thread is the first.
  DEVICE bool settle(i32 o, Offset place, i32 k, bool is_long) const {
    const Z value = rows.term(place, k, o);
    if (is_long && !claim_output(out.present, o)) return false;
    if (!is_long) out.present[o] = true;
    out.values[o] = value;
    return true;
  }

  /// For a monoid with a terminal value: stores that row o has a term, which settles it or not. If
  /// `may_have` is true, the row may have a term already. Returns whether it had none.
  DEVICE bool note(i32 o, bool settles, bool has, bool may_have) const {
    if (!settles && !has) return false;
    const bool had = may_have && load_relaxed(&out.present[o]);
    if (!had) store_relaxed(&out.present[o], true);
    if (settles) store_relaxed(&out.values[o], Op::terminal());
    else if (!had) store_relaxed(&out.values[o], Op::identity());
    return !had;
  }

  /// Whether a pull tests one entry of each row before it reads the row. Adjacent threads then read
  /// adjacent memory.
  static constexpr bool MAY_PEEK = Op::IS_ANY && KEPT_A != EACH && HELD == IN_BITMAP;

  /// Looks for a term in each row that is not long and that the mask allows. For the monoid ANY,
  /// also looks at one or a few entries of each long row.
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
      u32 open = 0;  // bits: whether the row must be listed
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

  /// Tests one entry of each row whose bit in `open` is set. Returns the bits of the rows that must
  /// be listed: those that have more entries, are not long, and are not settled. Every lane must
  /// call this.
  DEVICE u32 peek(const i32 (&row)[PARTS], u32 open) {
    u32 peeks[PARTS], hits = 0, is_new = 0;
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
      peeks[part] = open >> part & 1 ? a.peeks[row[part]] : NO_PEEK;
    }
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
      if (peeks[part] == NO_PEEK) continue;
      if (look(0, i32(peeks[part] & PEEK_COLUMN), row[part]) != ABSENT) hits |= 1u << part;
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

  /// Reads the `count` listed rows. While there are many, each lane reads a row. Rows that are not
  /// settled are listed again. When few are left, their entries are divided evenly among the lanes.
  DEVICE void read_listed(i32 *list, int count) {
    Offset done = 0;
    while (count > WARP / 2 || (count && done == 0)) {
      count = read_near(list, count, done);
      done += NEAR;
    }
    if (count) read_run(list, count, done);
  }

  /// Reads NEAR entries of each of the `count` listed rows, after the first `done` entries. Returns
  /// the number of rows that are then listed, because they are not finished.
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
        // Test the first entry alone if it often settles the row.
        int found[NEAR], hit = -1;
        bool has = false;
        found[0] = k[0] >= 0 ? look(begin, k[0], row) : ABSENT;
        const bool is_enough = is_alone && found[0] == SETTLES;
#pragma unroll
        for (int j = 1; j < NEAR; ++j)
          found[j] = k[j] >= 0 && !is_enough ? look(begin + j, k[j], row) : ABSENT;
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

  /// Reads up to 32 listed rows, after the first `done` entries, to their ends or until they are
  /// settled.
  DEVICE void read_run(i32 *list, int count, Offset done) {
    const i32 *__restrict__ indices = a.indices;
    constexpr int SLOTS = 4;
    const i32 row = lane() < count ? list[lane()] : 0;
    Offset begin = lane() < count ? a.indptr[row] + done : 0;
    const Offset end = lane() < count ? a.indptr[row + 1] : 0;
    // If a single term is the result, the complement of the number of an entry; else `Look` bits.
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
        const int found = k[i] < 0 ? ABSENT : look(from + Offset(number[i]), k[i], its_row);
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

/// Returns whether u has an entry in each column of the matrix that has an entry. Such a vector can
/// be read like a full one. All threads of all blocks must call this. The result is exact if the
/// form has `used`; otherwise it is false unless u has no presence flags.
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
  // One thread of each block reads the flag, because other blocks already change the counter.
  if (threadIdx.x == 0) work.room.place = load_relaxed(flag);
  __syncthreads();
  return !(work.room.place & GAP);
}

/// Computes out = A u for the outputs o for which allowed(o) is true, by gathering each output from
/// its line of `a`, which are the rows of the matrix.
///
/// HELD is IN_BITMAP unless u has an entry at every position. Then it is IN_FULL or, if the form
/// has hubs, WITH_HUBS; u.present is not read. With hubs, the dynamic shared memory of the block
/// holds values of u.
template <class Op, int KEPT_A, int KEPT_U, int HELD, class Offset, class A, class U, class Allowed,
          class Queueing>
DEVICE void pull_product(const ProductForm<Offset, A> &a, const Vector<U> &u,
                         const Vector<typename Op::Z> &out, const Allowed &allowed,
                         const Queueing &queueing, Work &work) {
  // The next pull uses the other counter.
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

// --- the direction -----------------------------------------------------------------------------

/// Returns whether to push. `columns` is the form that the push would read, and `rows` the number
/// of outputs. `left` is an upper bound on the number of outputs that the mask allows. All threads
/// get the same result. `known` has the value of *u.counts. Costs are in units of the time in which
/// a pull reads one entry.
template <class Op, class Offset, class A, class U>
DEVICE bool should_push(const ProductForm<Offset, A> &columns, const Vector<U> &u, i64 rows,
                        i64 left, const Counts &known) {
  constexpr float PUSH_EDGE = IS_SEARCH<Op> && !IS_FIRST<Op> ? 2.0f : 2.4f, PUSH_ENTRY = 4.0f,
                  PULL_ROW = 0.6f, STOPPING = 0.75f;
  const u64 entries = known.entries;
  const bool is_listed = u.queue && known.queued == entries;
  const float lines = float(greatest(columns.lines, i64(1))), all = float(columns.entries);
  // If the queue is not valid, the degrees of some entries may not have been added.
  const float mean = float(entries) * all / lines, counted = float(known.edges);
  const float edges = is_listed ? counted : greatest(counted, mean);
  const float push = PUSH_EDGE * edges + PUSH_ENTRY * float(entries) +
                     (is_listed ? 0.0f : PULL_ROW * float(columns.lines));
  // About as large a share of the rows is empty as of the columns.
  const float filled = greatest(float(rows) * float(columns.filled) / lines, 1.0f);
  float read;
  if (IS_SEARCH<Op>) {
    // In a search, the mask forbids the outputs that are reached. An empty row is never reached.
    const float open = greatest(float(left) - (float(rows) - filled), 0.0f);
    read = STOPPING * least(all * open / filled, open * all / greatest(edges, 1.0f));
  } else {
    read = all * float(left) / float(greatest(rows, i64(1)));
  }
  return push <= PULL_ROW * float(rows) + read;
}
template <class Op, class Offset, class A, class U>
DEVICE bool should_push(const ProductForm<Offset, A> &columns, const Vector<U> &u, i64 rows,
                        i64 left) {
  const Counts known = *u.counts;
  return should_push<Op>(columns, u, rows, left, known);
}

}  // namespace graphla
#endif
