// Matrix-vector products inside a persistent kernel: out(o) = (+) over k of A(o, k) (x) u(k), for
// the outputs o that a mask allows. This file chooses the direction; program_push.cuh and
// program_pull.cuh compute the product.
//
// All threads of all blocks call `push_product` or `pull_product`, with the same arguments. A
// product does not wait for other blocks when it starts or ends. So the caller needs a grid barrier
// after writing the operands, before reading the result, and before the next product that uses the
// same `Work`.
//
// When a product starts, all flags of `out` must be false, and all its counts zero.
//
// A row or column with more than `longest` entries is long. Once per matrix, the host cuts the long
// rows or columns into chunks. The warps of the whole grid process the chunks.
#ifndef GRAPHLA_PROGRAM_PRODUCTS
#define GRAPHLA_PROGRAM_PRODUCTS
#include "program_pull.cuh"
#include "program_push.cuh"

namespace graphla {

/// Returns whether a push is expected to be faster than a pull. `columns` is the form that the push
/// would read, and `rows` the number of outputs. `left` is an upper bound on the number of outputs
/// that the mask allows. `known` is a copy of *u.counts. All threads get the same result. The unit
/// of all costs is the time that a pull takes to read one entry.
template <class Op, class Offset, class A, class U>
DEVICE bool should_push(const ProductForm<Offset, A> &columns, const Vector<U> &u, i64 rows,
                        i64 left, const Counts &known) {
  constexpr float PUSH_EDGE = IS_SEARCH<Op> && !IS_FIRST<Op> ? 2.0f : 2.4f, PUSH_ENTRY = 4.0f,
                  PULL_ROW = 0.6f, STOPPING = 0.75f;
  const u64 entries = known.entries;
  const bool is_listed = u.queue && known.queued == entries;
  const float lines = float(greatest(columns.lines, i64(1))), all = float(columns.entries);
  // If the queue is not valid, the sum `known.edges` may lack the degrees of some entries. It is
  // then only a lower bound on the number of edges, so the mean degree gives another estimate.
  const float mean = float(entries) * all / lines, counted = float(known.edges);
  const float edges = is_listed ? counted : greatest(counted, mean);
  const float push = PUSH_EDGE * edges + PUSH_ENTRY * float(entries) +
                     (is_listed ? 0.0f : PULL_ROW * float(columns.lines));
  // Estimate the number of nonempty rows: assume that the fraction of nonempty rows equals that of
  // nonempty columns.
  const float filled = greatest(float(rows) * float(columns.filled) / lines, 1.0f);
  float read;
  if (IS_SEARCH<Op>) {
    // `open` estimates the number of nonempty rows that the mask allows. In a search, the mask
    // usually forbids the outputs that have been reached, so it allows all empty rows, because
    // these are never reached. So subtract their number from `left`.
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
