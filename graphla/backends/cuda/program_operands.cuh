// The operands of the products inside a persistent kernel: vectors, packed forms of matrices, the
// device memory that products use, and properties of semirings.
//
// The operands change between products, so no code may read them by ld.global.nc: never copy the
// pointers of a `Vector` to a local pointer that is `__restrict__`. But a word that all threads
// read must be read through the cache of the multiprocessor (not by load_relaxed): thousands of
// warps that read one word from L2 take 2.5 us.
#ifndef GRAPHLA_PROGRAM_OPERANDS
#define GRAPHLA_PROGRAM_OPERANDS
#include "atomics.cuh"

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
/// row. For example, the monoid selects the smallest term, and the terms rise with the column.
template <class Op> struct FirstTerm : Op {};
template <class Op> constexpr bool IS_FIRST = false;
template <class Op> constexpr bool IS_FIRST<FirstTerm<Op>> = true;

/// Whether a pull looks for one term that settles the row. Otherwise it adds up the terms, and
/// writes every flag of `out`, so that these need not be false before.
template <class Op>
constexpr bool IS_SEARCH = Op::RACE == RACE_ANY || Op::RACE == RACE_FLAG || IS_FIRST<Op>;

}  // namespace graphla
#endif
