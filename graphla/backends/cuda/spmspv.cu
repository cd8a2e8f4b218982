// Push: w(o) = (+)_k A(o, k) (x) u(k), where k runs over the entries of u. The kernels read each
// column k of A for which u has an entry.
//
// The entries of these columns are called edges. They are numbered column by column, in the order
// of the entries of u. If the columns are short, a few threads read each column (`push_columns`).
// Otherwise the edges are divided into tiles of equal size, regardless of the columns, and each
// block reads one tile after another (`push_tiles`). The enum `Way` lists what a kernel may do with
// an edge. A bitmap has one bit per output. The thread that sets the bit of an output claims the
// output: it appends the output to the list of outputs. An atomic operation of the monoid combines
// the terms of an output.
#include "collectives.cuh"

namespace graphla {

enum Way {
  CLAIM = 0,           // list each output once; its value is the term of the edge that claims it
  CLAIM_ALONE = 1,     // list each output once; write no values, because all values are equal
  CLAIM_IDENTITY = 2,  // list each output once; its value becomes the identity, for a later FOLD
  FOLD = 3,            // fold the terms into the outputs that an earlier launch has claimed
  FOLD_DENSE = 4,      // claim and fold in one launch; every output already holds the identity
  EXPAND = 5,          // store the output and the term of each edge, in order; fold nothing
};

/// The frontier of a push: the entries of the vector u.
template <class U> struct Frontier {
  i64 entries;
  const i32 *indices;
  const U *values;
  const i64 *ends;  // ends[i]: number of edges of entries 0..i. In push_columns and
                    // push_alone, `ends` is null.
};

/// The outputs of a push, and the arrays that hold them.
template <class Op, int WAY, bool MASKED> struct Outputs {
  typedef typename Op::Z Z;
  i64 size;
  const bool *flags;  // the mask
  bool complement;
  u32 *claimed;   // one bit per output: set if a thread has claimed the output
  bool *present;  // presence flags of the result, which only FOLD_DENSE uses
  // The indices of the listed outputs. If WAY is EXPAND, the array instead holds one index per
  // edge: the output of the edge, or `size` if the mask forbids this output.
  i32 *indices;
  // The values: one per listed output (CLAIM), one per edge (EXPAND), or one per output of the
  // whole result (all other ways).
  Z *w;
  u64 *count;

  DEVICE bool is_claimed(i32 o) const { return load_relaxed(&claimed[o / WARP]) >> (o % WARP) & 1; }
  /// Returns whether an edge to output o may still change the result. Another thread may claim o
  /// after this test; `meet` then determines which thread was first.
  DEVICE bool is_open(i32 o) const {
    if constexpr (WAY == FOLD) return !MASKED || is_claimed(o);
    if constexpr (WAY == CLAIM || WAY == CLAIM_ALONE || WAY == CLAIM_IDENTITY) {
      if (is_claimed(o)) return false;
    }
    if constexpr (MASKED) return flags[o] != complement;
    return true;
  }
  DEVICE bool claims(i32 o) const {
    const u32 bit = 1u << (o % WARP);
    return !(atomicOr(&claimed[o / WARP], bit) & bit);
  }

  static constexpr bool LISTS = WAY == CLAIM || WAY == CLAIM_ALONE || WAY == CLAIM_IDENTITY;
  static constexpr bool COUNTS = LISTS || WAY == FOLD_DENSE;

  /// Processes an edge to output o, for which `is_open` has returned true. If WAY is FOLD or
  /// FOLD_DENSE, combines the term of the edge with the value of o. Returns whether this edge
  /// claims o. The result is false if another edge has already claimed o, or if edges do not claim
  /// outputs (see `Way`).
  template <class Term> DEVICE bool meet(i32 o, Term term) const {
    if constexpr (WAY == FOLD) atomic_fold<Op>(&w[o], term());
    if constexpr (!COUNTS) return false;
    bool is_first = false;
    if constexpr (WAY == FOLD_DENSE) {
      atomic_fold<Op>(&w[o], term());
      is_first = !is_claimed(o) && claims(o);
      if (is_first) present[o] = true;
    } else {
      is_first = claims(o);
    }
    return is_first;
  }
  /// Stores output o, which an edge has just claimed, at position `place` of the list of outputs.
  /// If WAY is CLAIM or CLAIM_IDENTITY, also initializes the value of the output.
  template <class Term> DEVICE void list(u64 place, i32 o, Term term) const {
    indices[place] = o;
    if constexpr (WAY == CLAIM) w[place] = term();
    if constexpr (WAY == CLAIM_IDENTITY) w[o] = Op::identity();
  }
};

/// Processes all edges of the frontier. Each column is read by a group of `threads` threads, where
/// `threads` is a power of two.
template <int KEPT_A, int KEPT_U, class Op, class Offset, class A, class U, bool MASKED, int WAY>
DEVICE void push_edges(const Frontier<U> &frontier, int threads, const Csr<Offset, A> &columns,
                       const Outputs<Op, WAY, MASKED> &outputs) {
  const Values<typename Op::A, A, KEPT_A> a(columns.values);
  const Values<typename Op::U, U, KEPT_U> u(frontier.values);
  const Offset *__restrict__ indptr = columns.indptr;
  const i32 *__restrict__ rows = columns.indices, *__restrict__ u_indices = frontier.indices;
  const i64 entries = frontier.entries;
  const int mine = int(threadIdx.x) & (threads - 1);
  const i64 step = threads_in_grid() / threads;
  for (i64 at = thread_in_grid() / threads; at < entries; at += step) {
    const i32 k = u_indices[at];
    const i64 end = i64(indptr[k + 1]);
    for (i64 p = i64(indptr[k]) + mine; p < end; p += threads) {
      const i32 o = rows[p];
      const auto term = [&] { return Op::term(a[p], u[at], o, k); };
      if (!outputs.is_open(o) || !outputs.meet(o, term)) continue;
      const u64 place = claim(outputs.count, true);
      if constexpr (Outputs<Op, WAY, MASKED>::LISTS) outputs.list(place, o, term);
    }
  }
}

template <class Op, class Offset, class A, int KEPT_A, class U, int KEPT_U, bool MASKED, int WAY>
__global__ void __launch_bounds__(BLOCK_THREADS)
    push_columns(Frontier<U> frontier, int threads, Csr<Offset, A> columns,
                 Outputs<Op, WAY, MASKED> outputs) {
  push_edges<KEPT_A, KEPT_U>(frontier, threads, columns, outputs);
}

/// Marks the outputs that the mask forbids as claimed, so that no edge can claim them. The mask is
/// given as the array `listed`, which holds the indices of `length` outputs. The mask allows
/// exactly these outputs or, if it is complemented, forbids exactly these. All bits of `claimed`
/// must initially be zero.
template <class Op, int WAY>
DEVICE void claim_masked(const Outputs<Op, WAY, false> &outputs, const i32 *__restrict__ listed,
                         i64 length) {
  if (!outputs.complement) {
    for (i64 word = threadIdx.x; word * WARP < outputs.size; word += blockDim.x)
      outputs.claimed[word] = ~u32(0);
    __syncthreads();
  }
  for (i64 k = threadIdx.x; k < length; k += blockDim.x)
    atomicXor(&outputs.claimed[listed[k] / WARP], 1u << (listed[k] % WARP));
  __syncthreads();
}

/// Like push_columns, but runs in a single block. The number of edges must be small, and the number
/// of outputs at most SpmspvTuning::alone_outputs. The block initializes the outputs, and stores
/// the number of claimed outputs in *count. The mask may be a list of `length` outputs instead of
/// flags; a negative `length` means that there is no list.
template <class Op, class Offset, class A, int KEPT_A, class U, int KEPT_U, bool MASKED, int WAY>
__global__ void __launch_bounds__(WIDEST_BLOCK)
    push_alone(Frontier<U> frontier, int threads, Csr<Offset, A> columns,
               Outputs<Op, WAY, MASKED> outputs, const i32 *__restrict__ listed, i64 length) {
  SHARED(u32, claimed, SpmspvTuning::alone_outputs / WARP);
  SHARED(u64, total, 1);
  for (i64 o = threadIdx.x; o < outputs.size; o += blockDim.x) {
    if (o % WARP == 0) claimed[o / WARP] = 0;
    if constexpr (WAY == FOLD_DENSE) {
      outputs.present[o] = false;
      outputs.w[o] = Op::identity();
    }
  }
  if (threadIdx.x == 0) total[0] = 0;
  __syncthreads();
  u64 *const count = outputs.count;
  outputs.claimed = claimed, outputs.count = total;
  if constexpr (!MASKED) {
    if (length >= 0) claim_masked(outputs, listed, length);
  }
  push_edges<KEPT_A, KEPT_U>(frontier, threads, columns, outputs);
  __syncthreads();
  if (threadIdx.x == 0) *count = total[0];
}

// --- push_tiles -------------------------------------------------------------------------------

constexpr int THREADS = BLOCK_THREADS;                     // number of threads of a block
constexpr int EACH_THREAD = SpmspvTuning::tile / THREADS;  // number of edges per thread in a tile
constexpr int TILE = SpmspvTuning::tile;

/// Arrays in shared memory that describe a tile. A tile is a range of edges with consecutive
/// numbers.
struct Tile {
  i64 *range;   // two elements: the first and the last entry of u whose edges are in the tile
  i32 *ends;    // per entry of u: where its edges end, relative to the start of the tile
  i64 *shifts;  // per entry of u: edge number n of the push is entry n + shift of A

  /// Finds the range of entries of u whose columns contain the edges of the tile. These are the
  /// edges with the numbers `begin` to `end` - 1. Writes this range to `range`, and fills `ends`
  /// and `shifts` for the entries in the range. Returns false if the range is too long for `ends`
  /// and `shifts`. This happens only if the range includes entries of u whose columns are empty.
  /// Every thread of the block must call this.
  template <class Offset>
  DEVICE bool find(i64 begin, i64 end, i64 entries, const i32 *__restrict__ u_indices,
                   const i64 *__restrict__ u_ends, const Offset *__restrict__ indptr) const {
    __syncthreads();  // wait until all threads are done with the previous tile
    if (warp_in_block() < 2) {
      const i64 edge = warp_in_block() == 0 ? begin : end - 1;
      const i64 at = warp_upper_bound<i64, i64>(u_ends, 0, entries, edge);
      if (lane() == 0) range[warp_in_block()] = at;
    }
    __syncthreads();
    const i64 first = range[0], last = range[1];
    if (last - first >= TILE) return false;
    for (i64 at = first + threadIdx.x; at <= last; at += THREADS) {
      ends[at - first] = i32(least(u_ends[at] - begin, i64(TILE)));
      shifts[at - first] = i64(indptr[u_indices[at] + 1]) - u_ends[at];
    }
    __syncthreads();
    return true;
  }
};

/// Processes all edges of the frontier, divided into tiles. Each block reads one tile after
/// another.
template <class Op, class Offset, class A, int KEPT_A, class U, int KEPT_U, bool MASKED, int WAY>
__global__ void __launch_bounds__(THREADS, WAY >= FOLD ? 4 : 5)
    push_tiles(Frontier<U> frontier, Csr<Offset, A> columns, Outputs<Op, WAY, MASKED> outputs) {
  SHARED(i64, range, 2);
  SHARED(i32, tile_ends, TILE);
  SHARED(i64, shifts, TILE);
  SHARED(u32, scratch, WARP + 1);
  SHARED(u64, listed, 1);  // the list position of the first output that this tile claims
  const Tile tile{range, tile_ends, shifts};
  const Values<typename Op::A, A, KEPT_A> a(columns.values);
  const Values<typename Op::U, U, KEPT_U> u(frontier.values);
  const Offset *__restrict__ indptr = columns.indptr;
  const i32 *__restrict__ rows = columns.indices, *__restrict__ u_indices = frontier.indices;
  const i64 *__restrict__ ends = frontier.ends;
  const i64 edges = ends[frontier.entries - 1];
  u32 counted = 0;
  for (i64 begin = i64(blockIdx.x) * TILE; begin < edges; begin += i64(gridDim.x) * TILE) {
    const i64 end = least(begin + TILE, edges);
    const bool fits = tile.find(begin, end, frontier.entries, u_indices, ends, indptr);
    const i64 first = range[0], last = range[1];
    // Each thread reads EACH_THREAD edges, so that their loads overlap. Each edge belongs to the
    // column of an entry of u; `found` holds the index of this entry, relative to the tile's first
    // entry of u.
    int found[EACH_THREAD];
    i32 o[EACH_THREAD];
    u32 is_open = 0, is_first = 0;
    const auto edge = [&](int i) { return begin + i * THREADS + int(threadIdx.x); };
    const auto place_of = [&](int i) {
      if (fits) return edge(i) + shifts[found[i]];
      return edge(i) + i64(indptr[u_indices[first + found[i]] + 1]) - ends[first + found[i]];
    };
    const auto term = [&](int i) {
      const i64 at = first + found[i];
      return Op::term(a[place_of(i)], u[at], o[i], u_indices[at]);
    };
#pragma unroll
    for (int i = 0; i < EACH_THREAD; ++i) {
      if (edge(i) >= end) continue;
      if (fits) found[i] = upper_bound(tile_ends, 0, int(last - first), int(edge(i) - begin));
      else found[i] = int(upper_bound(ends, first, last, edge(i)) - first);
      o[i] = rows[place_of(i)];
    }
#pragma unroll
    for (int i = 0; i < EACH_THREAD; ++i) {
      if (edge(i) < end && outputs.is_open(o[i])) is_open |= 1u << i;
    }
#pragma unroll
    for (int i = 0; i < EACH_THREAD; ++i) {
      if constexpr (WAY == EXPAND) {
        if (edge(i) >= end) continue;
        outputs.indices[edge(i)] = is_open >> i & 1 ? o[i] : i32(outputs.size);
        outputs.w[edge(i)] = term(i);
      } else {
        if ((is_open >> i & 1) && outputs.meet(o[i], [&] { return term(i); })) is_first |= 1u << i;
      }
    }
    counted += u32(__popc(is_first));
    if constexpr (outputs.LISTS) {
      // The block reserves positions in the list of outputs with one atomic addition to
      // `outputs.count` per tile. One addition per claimed output would be much slower, because all
      // threads use the same counter.
      u32 total;
      u64 place = block_exclusive_sum(u32(__popc(is_first)), scratch, total);
      if (threadIdx.x == 0) listed[0] = total ? atomicAdd(outputs.count, u64(total)) : 0;
      __syncthreads();
      place += listed[0];
#pragma unroll
      for (int i = 0; i < EACH_THREAD; ++i) {
        if (is_first >> i & 1) outputs.list(place++, o[i], [&] { return term(i); });
      }
    }
  }
  if constexpr (WAY == FOLD_DENSE) block_add(outputs.count, counted, scratch);
}

}  // namespace graphla
