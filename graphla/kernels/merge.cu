// Union and intersection of sorted entries: z(i, j) = a(i, j) (.) b(i, j).
//
// First each entry of a seeks its place among those of b (in its row, or in a vector among those
// that its tile can meet), and flags whether it meets an equal. From the flags counted, every place
// in the result is a closed formula, so that entries are moved independently of each other:
//   entry p of a, with spot q in b:  p + q - flags before p;
//   entry q of b that meets none, with spot p in a:  q + p - flags before p.
// Threads take entries evenly, however long the rows. All indices are sorted and unique.
#include "flags.cuh"
#include "rows.cuh"

namespace graphla {

template <class Offset> struct Pattern {
  const Offset *__restrict__ indptr;  // null in a vector
  const i32 *__restrict__ indices;
  i64 count;
};

/// visit(k, i, spot, meets) for k = 0..limit - 1 of a, as each_entry does: `spot` is the first entry of
/// b in row i whose index is not less, `meets` whether it is equal.
template <int WHERE, class Offset, class Visit>
DEVICE void each_spot(Pattern<Offset> a, Pattern<Offset> b, i64 nrows, i64 limit, i64 *span, Visit visit) {
  const i64 tile = i64(blockDim.x) * STEPS;
  for (i64 begin = blockIdx.x * tile; begin < limit; begin += gridDim.x * tile) {
    const i64 end = least(begin + tile, a.count);
    const i32 *rows = nullptr;
    if (begin < end) {
      if constexpr (WHERE == BY_ROWS) {
        rows = spread_rows(a.indptr, nrows, begin, end, span);
      } else {
        __syncthreads();  // whoever read span is done
        const int warp = warp_in_block();
        if (warp < 2) {
          const i64 place = warp ? warp_bound<false>(b.indices, 0, b.count, a.indices[end - 1])
                                 : warp_bound<true>(b.indices, 0, b.count, a.indices[begin]);
          if (lane() == 0) span[warp] = place;
        }
        __syncthreads();
      }
    }
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
      const i64 k = begin + i64(step) * blockDim.x + threadIdx.x;
      i64 i = 0, spot = 0;
      bool meets = false;
      if (k < a.count) {
        i64 from = span[0], to = span[1];
        if constexpr (WHERE == BY_ROWS) {
          i = from + rows[k - begin];
          from = i64(b.indptr[i]), to = i64(b.indptr[i + 1]);
        }
        const i32 index = a.indices[k];
        spot = lower_bound<i32, i64>(b.indices, from, to, index);
        meets = spot < to && b.indices[spot] == index;
      }
      visit(k, i, spot, meets);
    }
  }
}

/// For each entry of a: its spot in b, and a flag where it meets an equal.
template <class Op, int WHERE, class Offset>
__global__ void find_spots(const Offset *a_indptr, const i32 *a_indices, i64 a_count,
                           const Offset *b_indptr, const i32 *b_indices, i64 b_count, i64 nrows,
                           u32 *bits, i64 *counts, i64 words, Offset *spots) {
  SHARED(i64, span, 2);
  const Pattern<Offset> a{a_indptr, a_indices, a_count}, b{b_indptr, b_indices, b_count};
  each_spot<WHERE>(a, b, nrows, words * WARP, span, [&](i64 k, i64, i64 spot, bool meets) {
    if (k < a_count) spots[k] = Offset(spot);
    put_flags(bits, counts, words, k, meets);
  });
}

/// Which of the two has a fill that meets entries the other lacks.
enum Fill { NO_FILL = 0, FILL_RIGHT = 1, FILL_LEFT = 2 };

/// What becomes of a's entry x where b has none, and of b's entry y where a has none.
template <class Op, int FILL, class A>
DEVICE typename Op::Z alone_left(A x, typename Op::Y right, i64 i, i64 j) {
  if constexpr (FILL & FILL_RIGHT) return Op::accumulate(x, right, i, j);
  else return convert<typename Op::Z>(x);
}
template <class Op, int FILL, class B>
DEVICE typename Op::Z alone_right(typename Op::X left, B y, i64 i, i64 j) {
  if constexpr (FILL & FILL_LEFT) return Op::accumulate(left, y, i, j);
  else return convert<typename Op::Z>(y);
}

/// The union, by the spots and flags of find_spots. `new_indices` is null where the pattern is known;
/// `b_count` is 0 where every entry of b meets one of a.
template <class Op, class A, int KEPT_A, class B, int KEPT_B, int FILL, int WHERE, class Offset, class NewOffset>
__global__ void merge_entries(const Offset *a_indptr, const i32 *a_indices, const A *a_values, i64 a_count,
                              const Offset *b_indptr, const i32 *b_indices, const B *b_values, i64 b_count,
                              i64 nrows, const Offset *spots, const u32 *bits, const i64 *ends,
                              typename Op::X left, typename Op::Y right,
                              NewOffset *new_indptr, i32 *new_indices, typename Op::Z *__restrict__ z) {
  SHARED(i64, span, 2);
  const Pattern<Offset> a{a_indptr, a_indices, a_count}, b{b_indptr, b_indices, b_count};
  const Values<A, A, KEPT_A> x(a_values);
  const Values<B, B, KEPT_B> y(b_values);
  const Flagged flagged{bits, ends};
  each_entry<WHERE, Op::NEEDS_ROW>(a_indptr, nrows, a_indices, a_count, a_count, span, [&](i64 p, i64 i, i64 j) {
    if (p >= a_count) return;
    const i64 q = spots[p], place = p + q - flagged.before(p);
    if (new_indices) new_indices[place] = a_indices[p];
    z[place] = flagged.at(p) ? Op::accumulate(x[p], y[q], i, j) : alone_left<Op, FILL>(x[p], right, i, j);
  });
  each_spot<WHERE>(b, a, nrows, b_count, span, [&](i64 q, i64 i, i64 p, bool meets) {
    if (q >= b_count || meets) return;
    const i64 place = q + p - flagged.before(p), index = b_indices[q];
    if (new_indices) new_indices[place] = i32(index);
    z[place] = alone_right<Op, FILL>(left, y[q], WHERE == LISTED ? index : i, WHERE == LISTED ? 0 : index);
  });
  if (WHERE == BY_ROWS && new_indices) {
    for (i64 i = thread_in_grid(); i <= nrows; i += threads_in_grid()) {
      const i64 begin = i64(a_indptr[i]);
      new_indptr[i] = NewOffset(begin + i64(b_indptr[i]) - flagged.before(begin));
    }
  }
}

/// The intersection: the flagged entries of a, or of b where they are FLIPPED in find_spots. `z` is
/// null where the values are known, `new_indices` where the pattern is.
template <class Op, class A, int KEPT_A, class B, int KEPT_B, bool FLIPPED, int WHERE, class Offset, class NewOffset>
__global__ void meet_entries(const Offset *indptr, const i32 *indices, i64 count, i64 nrows,
                             const A *a_values, const B *b_values, const Offset *spots, const u32 *bits,
                             const i64 *ends, NewOffset *new_indptr, i32 *new_indices, typename Op::Z *z) {
  SHARED(i64, span, 2);
  const Values<A, A, KEPT_A> x(a_values);
  const Values<B, B, KEPT_B> y(b_values);
  const Flagged flagged{bits, ends};
  each_entry<WHERE, Op::NEEDS_ROW>(indptr, nrows, indices, count, count, span, [&](i64 k, i64 i, i64 j) {
    if (k >= count || !flagged.at(k)) return;
    const i64 place = flagged.before(k), spot = spots[k];
    if (new_indices) new_indices[place] = indices[k];
    if (z) z[place] = FLIPPED ? Op::accumulate(x[spot], y[k], i, j) : Op::accumulate(x[k], y[spot], i, j);
  });
  if (WHERE == BY_ROWS && new_indices) put_offsets(flagged, indptr, nrows, new_indptr);
}

/// z[k] = x[k] (.) y[k] of entries that lie at the same places.
template <class Op, class A, int KEPT_A, class B, int KEPT_B, int WHERE, class Offset>
__global__ void pair_entries(const Offset *indptr, i64 nrows, const i32 *indices, const A *a_values,
                             const B *b_values, typename Op::Z *__restrict__ z, i64 count) {
  SHARED(i64, span, 2);
  const Values<A, A, KEPT_A> x(a_values);
  const Values<B, B, KEPT_B> y(b_values);
  each_entry<WHERE, Op::NEEDS_ROW>(indptr, nrows, indices, count, count, span, [&](i64 k, i64 i, i64 j) {
    if (k < count) z[k] = Op::accumulate(x[k], y[k], i, j);
  });
}

/// Entries of one side, the other having none: op with its fill.
template <class Op, class Stored, int KEPT, int FILL, int WHERE, class Offset>
__global__ void fill_entries(const Offset *indptr, i64 nrows, const i32 *indices, const Stored *values,
                             typename Op::X left, typename Op::Y right, typename Op::Z *z, i64 count) {
  SHARED(i64, span, 2);
  const Values<Stored, Stored, KEPT> v(values);
  each_entry<WHERE, Op::NEEDS_ROW>(indptr, nrows, indices, count, count, span, [&](i64 k, i64 i, i64 j) {
    if (k < count) z[k] = FILL == FILL_LEFT ? Op::accumulate(left, v[k], i, j) : Op::accumulate(v[k], right, i, j);
  });
}

}  // namespace graphla
