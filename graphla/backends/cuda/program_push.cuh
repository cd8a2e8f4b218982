// Products that push. A push reads the columns k for which u has an entry. A thread that finds a
// term of output o first tests whether the mask allows o, and then tries to claim o: it sets the
// byte out.present[o] with an atomic operation on the 32-bit word that contains the byte.
#ifndef GRAPHLA_PROGRAM_PUSH
#define GRAPHLA_PROGRAM_PUSH
#include "atomics.cuh"
#include "program_work.cuh"

namespace graphla {

/// What a push does with the terms. TAKE_FIRST: the value of an output is the term of the thread
/// that claims it. PRESET: a single pass claims outputs and folds terms; all values must be the
/// identity before the push. TWO_PASSES: the first pass claims outputs and sets their values to the
/// identity, and the second pass folds the terms.
enum PushWay { TAKE_FIRST = 0, PRESET = 1, TWO_PASSES = 2 };

template <class Op, int KEPT_A, int KEPT_U, int WAY, class Offset, class A, class U, class Allowed,
          class Queueing>
struct Push {
  typedef typename Op::Z Z;
  static constexpr int SLOTS = 2;  // number of entries that a lane reads at once
  // Maximum number of entries in a piece of a line, if lines are divided into pieces (see
  // `pieces_of`).
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

  /// Processes the edges (entries) of up to 32 lines. Each lane passes a line k and the part of it
  /// to read: `length` entries from position `begin` on. If `is_single` is true, all lanes pass the
  /// same part, which is read once. Otherwise the edges of all parts are numbered from 0, lane by
  /// lane, and the function processes only the edges with the numbers `skipped` to `end` - 1. These
  /// edges are divided evenly among the lanes. Every lane must call this.
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
      // Bit i of `open` is set if the edge in slot i has a term to process. Bit i of `fresh` is set
      // if the output of this edge must be claimed.
      u32 open = 0, fresh = 0;
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
        degrees[i] = outputs.degree(o[i]);
        if (claim_output(out.present, o[i])) is_new |= 1u << i;
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

  /// Processes all edges of the product. If the queue of u is valid and short, either a fixed
  /// number of warps shares each line (see `pieces_of`), or the edges of all lines are divided
  /// evenly among all warps. Otherwise the warps of the whole grid first process the chunks of
  /// those long lines k for which u has an entry; consecutive chunks belong to different warps.
  /// Then the warps process the other lines. They take the entries of u from the queue or, if it is
  /// not valid, each warp lists some entries of u before it processes them.
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
    // ONCE is the number of edges that a warp processes at once. If there are few lines, their
    // edges are divided evenly among all warps: each warp takes `share` edges, a multiple of ONCE.
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

  /// The queue has `count` lines with `edges` entries in total. Returns the number of pieces into
  /// which each line is divided; one warp processes each piece. Returns 0 if the lines must not be
  /// divided in this way, because there are too many lines or because one of them may be very long.
  DEVICE u32 pieces_of(u32 count, u64 edges) const {
    const u32 warps = warps_in_grid();
    if (!count || count > warps) return 0;
    // The mean length of a line is edges / count. A line of eight times this length has pieces of
    // 32 entries: 8 (edges / count) / 32 = edges / (4 count).
    const u32 pieces = u32(least(u64(warps / count), edges / (4 * count) + 1));
    // If no line is empty, the longest line has at most edges - count + 1 entries. This must not
    // exceed pieces · EVEN by more than 1.
    return a.chunks && edges > count + u64(pieces) * EVEN ? 0 : pieces;
  }

  /// Appends those positions from `first` to `end` - 1 at which u has an entry to the list of this
  /// warp. The range has at most 128 positions.
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

/// Computes out = A u for those outputs o for which allowed(o) is true, by scattering each entry of
/// u along a line of `a`. The lines are the columns of the matrix.
///
/// If IS_PRESET and NEEDS_IDENTITY<Op> are true, all elements of out.values must be the monoid's
/// identity at the start. If IS_PRESET is false, these elements may have any value. In this case
/// the product takes two passes with a barrier between them, unless the monoid is ANY. `known` is a
/// copy of *u.counts.
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

}  // namespace graphla
#endif
