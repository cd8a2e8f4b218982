// What the products inside a persistent kernel read and use: vectors, packed forms of matrices,
// device memory for intermediate results, and properties of semirings.
//
// Vectors change between products in the same kernel, so no code may read them with ld.global.nc:
// never copy the pointers of a `Vector` to a local pointer that is `__restrict__`. Ordinary loads
// are correct, because a grid barrier invalidates the L1 cache. Use them instead of load_relaxed
// for a word that all threads read: if thousands of warps read one word from the L2 cache, this
// takes 2.5 us.
#ifndef GRAPHLA_PROGRAM_OPERANDS
#define GRAPHLA_PROGRAM_OPERANDS
#include "atomics.cuh"

namespace graphla {

/// The counts of a vector, in device memory.
struct Counts {
  u64 entries;  // number of entries
  u64 queued;   // length of the queue; the queue is valid if its length equals `entries`
  u64 edges;    // sum of the degrees of the entries (see `WithQueue`); if the queue is not valid,
                // some degrees may be missing
};

/// A vector in device memory. If the vector has no entry at position i, values[i] is arbitrary.
template <class T> struct Vector {
  T *values;
  // One presence flag per position. The address of the array and its length are multiples of 4. May
  // be null if the vector is only read and has an entry at every position.
  bool *present;
  // The positions of the entries in any order, if the queue is valid (see `Counts`). May be null.
  i32 *queue;
  Counts *counts;
};

/// One form of a matrix, packed by `push_form` or `pull_form` in program_products.py. The *lines*
/// of a form are either the rows of the matrix or its columns. In the form for a pull, lines are
/// rows, and each output is gathered from one line. In the form for a push, lines are columns, and
/// each entry of u is scattered along one line.
template <class Offset, class A> struct ProductForm {
  const Offset *indptr;  // lines + 1 offsets
  const i32 *indices;
  const A *values;           // one value per entry or one for all (see `Kept`); null if not read
  const i32 *chunk_lines;    // for each chunk: the line that it is part of
  const i32 *chunk_numbers;  // for each chunk: its index among the chunks of its line
  const u32 *peeks;  // for each line: the entry that a pull tests first (see `Peek`); may be null
  const u8 *used;   // for each column of the matrix: 1 if it has an entry, otherwise 0; may be null
  const u16 *hubs;  // the tags of the hubs; null unless a pull is WITH_HUBS
  i64 lines;
  i64 entries;
  i64 filled;    // number of lines that are not empty
  i64 columns;   // number of columns; the length of `used` is the next multiple of 4
  i64 in_use;    // number of columns that have an entry; valid only if `used` is not null
  i32 chunks;    // number of chunks of all long lines
  i32 longest;   // number of entries of a chunk; longer lines are cut into chunks
  i32 group;     // number of lines that have about 32 entries in total, as a power of two from 1 to
                 // 32
  i32 hub_bits;  // log2 of the number of hubs

  DEVICE bool is_long(Offset length) const { return chunks && length > Offset(longest); }
};

/// The bits of an element of `peeks`, which describes one entry of a line. The bits in PEEK_COLUMN
/// are the column of this entry. The flag PEEK_ONLY is set if the line has no other entry, and the
/// flag PEEK_LONG is set if the line is long. For an empty line, the element is NO_PEEK.
enum Peek { PEEK_COLUMN = 0x3fffffff, PEEK_ONLY = 0x40000000 };
constexpr u32 PEEK_LONG = 0x80000000u, NO_PEEK = 0xffffffffu;

/// Device memory that pulls use, allocated by `arrays` in program_products.py. The first three
/// arrays have one element per chunk. All pull forms share them, so their length is the maximum
/// number of chunks of any pull form. The arrays `arrived` and `turns` must be zero before the
/// first product.
struct ProductArrays {
  u64 *sums;  // the fold of each chunk
  bool *has;  // whether the chunk has a term
  // The element of the first chunk of a line holds the number of chunks of this line that have been
  // folded. Its highest bit is the flag `SETTLED`.
  u32 *arrived;
  // Two counters, which pulls use alternately. They count the groups of rows that warps have taken
  // (see `next_turn`). The highest bit of a counter is the flag `GAP`.
  u32 *turns;
};

/// A flag in `turns`. It is set if the matrix has an entry in a column k for which u(k) is missing.
constexpr u32 GAP = 1u << 31;

/// A flag in `arrived`. It is set if the remaining chunks of a row cannot change its result.
constexpr u32 SETTLED = 1u << 31;

/// Whether out.values must contain the monoid's identity at every position when `push_product` is
/// called with IS_PRESET.
template <class Op> constexpr bool NEEDS_IDENTITY = Op::RACE != RACE_ANY;

/// The semiring Op for a vector with u(k) = k for every entry, converted to type U. Products
/// compute these values instead of loading them.
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
/// The semiring Op, if the operands guarantee that the first term of each row, in the order of the
/// columns, is the result of the row. This is true, for example, if the monoid is min and the terms
/// never decrease from one column to the next.
template <class Op> struct FirstTerm : Op {};
template <class Op> constexpr bool IS_FIRST = false;
template <class Op> constexpr bool IS_FIRST<FirstTerm<Op>> = true;

/// Whether a pull only searches each row for a term that settles it. (A term settles a row if no
/// other term can change the row's result.) If this is false, the pull folds all terms. It then
/// writes every flag of `out`, so the flags need not be false before the product.
template <class Op>
constexpr bool IS_SEARCH = Op::RACE == RACE_ANY || Op::RACE == RACE_FLAG || IS_FIRST<Op>;

}  // namespace graphla
#endif
