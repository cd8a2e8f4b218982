// Computes plans: data about a square matrix that speed up traversals. A light plan contains the
// set of idle vertices (vertices without edges) and, for each vertex, a neighbor with a high degree
// that a traversal tests first. A full plan also contains the pattern in a new numbering, in which
// the vertices with the highest degrees come first.
//
// The class of a vertex is 32 minus the bit length of its degree. There are 32 classes; vertices
// without edges have NO_CLASS. Vertices are ordered by class, and within a class by the user's
// number. The entries of a row ascend in the user's numbering. After a stable partition of the row
// by class they ascend in the new numbering, so no sort is needed. To partition a row, a warp first
// counts the entries of each class; lane c holds the count of class c. Then it writes the entries,
// and lane c holds the position of the next entry of class c. In both steps each lane reads one
// entry at a time. Five ballots, one per bit of the class, tell lane c which lanes have an entry of
// class c.
//
// When the vertices of each class are counted, a warp processes CHUNK vertices at a time. When rows
// are partitioned, a warp processes one row at a time, the longest rows first. A very long row (see
// PlanTuning) is processed by a whole block, and each of its warps processes a part. No two threads
// write the same element.
#include "choose.cuh"

namespace graphla {

enum PlanShape { CLASSES = 32 };  // number of degree classes
constexpr int CLASS_BITS = 5;
constexpr u32 NO_CLASS = 32;

/// Returns the class of a vertex with this degree, which must be below 2^32. For degree 0 the
/// result is 32, which is NO_CLASS.
DEVICE u32 class_of(i64 degree) { return u32(__clz(int(u32(degree)))); }

/// Returns the degree of v: the number of entries in row v of `out` plus, if `into` is not null,
/// the number of entries in row v of `into`.
template <class Offset>
DEVICE i64 degree_of(const Offset *__restrict__ out, const Offset *__restrict__ into, i64 v) {
  const i64 degree = i64(out[v + 1]) - i64(out[v]);
  return into == nullptr ? degree : degree + i64(into[v + 1]) - i64(into[v]);
}

/// Given the class of one entry per lane, computes for each class which lanes hold an entry of this
/// class. A lane without an entry passes NO_CLASS. Every lane of the warp must call this.
struct Classes {
  u32 bits[CLASS_BITS], none;
  DEVICE explicit Classes(u32 mine) {
#pragma unroll
    for (int b = 0; b < CLASS_BITS; b++) bits[b] = __ballot_sync(ALL_LANES, mine >> b & 1);
    none = __ballot_sync(ALL_LANES, mine == NO_CLASS);
  }
  /// Returns a bit mask of the lanes whose entry has class c.
  DEVICE u32 lanes_of(u32 c) const {
    u32 lanes = ~none;
#pragma unroll
    for (int b = 0; b < CLASS_BITS; b++) lanes &= c >> b & 1 ? bits[b] : ~bits[b];
    return lanes;
  }
};

DEVICE u32 lanes_before() { return (1u << lane()) - 1; }

/// Computes the class of each vertex from its degree (see `degree_of`). The bitmap `idle` has one
/// bit per vertex: bit v % 32 of the word idle[v / 32]. The kernel sets this bit if vertex v has no
/// edge, or if v >= n.
template <class Op, class Offset>
__global__ void class_vertices(const Offset *__restrict__ out, const Offset *__restrict__ into,
                               i64 n, u8 *classes, u32 *idle) {
  for (i64 base = thread_in_grid() - lane(); base < n; base += threads_in_grid()) {
    const i64 v = base + lane();
    u32 c = NO_CLASS;
    if (v < n) {
      c = class_of(degree_of(out, into, v));
      classes[v] = u8(c);
    }
    const u32 word = __ballot_sync(ALL_LANES, c == NO_CLASS);
    if (lane() == 0) idle[base / WARP] = word;
  }
}

constexpr int CANDIDATES = 32, AT_ONCE = 4;

/// Computes first[v] = the neighbor with the highest degree among the first CANDIDATES entries of
/// row v, or -1 if the row is empty. Degrees are compared by class; among neighbors of the same
/// class, the first one is chosen. The kernel chooses v itself only if no other vertex is among
/// these entries. If `classes` is null, first[v] is the first entry.
template <class Op, class Offset>
__global__ void pick_neighbors(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                               const u8 *__restrict__ classes, i64 n, i32 *first) {
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    const i64 begin = i64(indptr[v]), end = least(i64(indptr[v + 1]), begin + CANDIDATES);
    i32 best = begin < end && classes == nullptr ? indices[begin] : -1;
    u32 best_class = NO_CLASS + 1;
    for (i64 k = classes == nullptr ? end : begin; k < end; k += AT_ONCE) {
      i32 u[AT_ONCE];
      u32 c[AT_ONCE];
#pragma unroll
      for (int j = 0; j < AT_ONCE; j++) u[j] = k + j < end ? indices[k + j] : -1;
#pragma unroll
      for (int j = 0; j < AT_ONCE; j++)
        c[j] = u[j] < 0 ? NO_CLASS + 1 : u[j] == v ? NO_CLASS : classes[u[j]];
#pragma unroll
      for (int j = 0; j < AT_ONCE; j++) {
        if (c[j] < best_class) best_class = c[j], best = u[j];
      }
    }
    first[v] = best;
  }
}

/// Computes the class of each vertex from its degree (see `degree_of`). For each class (including
/// NO_CLASS) and each chunk of vertices, sets counts[class * chunks + chunk] to the number of
/// vertices of this class in the chunk.
template <class Op, class Offset>
__global__ void count_classes(const Offset *__restrict__ out, const Offset *__restrict__ into,
                              i64 n, i64 chunks, u8 *classes, i64 *counts) {
  const i64 warps = threads_in_grid() / WARP;
  for (i64 chunk = thread_in_grid() / WARP; chunk < chunks; chunk += warps) {
    const i64 begin = chunk * CHUNK, end = least(begin + CHUNK, n);
    i32 mine = 0;
    for (i64 base = begin; base < end; base += WARP) {
      const i64 v = base + lane();
      u32 c = NO_CLASS;
      if (v < end) {
        c = class_of(degree_of(out, into, v));
        classes[v] = u8(c);
      }
      mine += __popc(Classes(c).lanes_of(u32(lane())));
    }
    counts[i64(lane()) * chunks + chunk] = mine;
    const i32 active = shuffle(warp_inclusive_sum(mine), WARP - 1);
    if (lane() == 0) counts[i64(NO_CLASS) * chunks + chunk] = end - begin - active;
  }
}

/// Computes the new number of each vertex (`renamed`), the inverse permutation (`old`), and the
/// lengths of the rows in the new order. Element 0 of the lengths is 0, and element 1 + r is the
/// length of row r in the new order. `ends` holds the running sums of the counts that
/// `count_classes` computed.
template <class Op, class Offset>
__global__ void number_vertices(const Offset *__restrict__ out, const Offset *__restrict__ into,
                                const u8 *__restrict__ classes, i64 n, i64 chunks,
                                const i64 *__restrict__ ends, i32 *renamed, i32 *old,
                                Offset *out_sizes, Offset *into_sizes) {
  const i64 warps = threads_in_grid() / WARP;
  if (thread_in_grid() == 0) {
    out_sizes[0] = 0;
    if (into != nullptr) into_sizes[0] = 0;
  }
  for (i64 chunk = thread_in_grid() / WARP; chunk < chunks; chunk += warps) {
    const i64 begin = chunk * CHUNK, end = least(begin + CHUNK, n);
    const i64 at = i64(lane()) * chunks + chunk;
    i64 place = at ? ends[at - 1] : 0, idle_place = ends[i64(NO_CLASS) * chunks + chunk - 1];
    for (i64 base = begin; base < end; base += WARP) {
      const i64 v = base + lane();
      const u32 c = v < end ? classes[v] : NO_CLASS;
      const Classes all(c);
      const u32 alike = c == NO_CLASS ? all.none : all.lanes_of(c);
      const i64 from = shuffle(place, int(c) % CLASSES);
      if (v < end) {
        const i64 w = (c == NO_CLASS ? idle_place : from) + __popc(alike & lanes_before());
        renamed[v] = i32(w);
        old[w] = i32(v);
        out_sizes[w + 1] = out[v + 1] - out[v];
        if (into != nullptr) into_sizes[w + 1] = into[v + 1] - into[v];
      }
      place += __popc(all.lanes_of(u32(lane())));
      idle_place += __popc(all.none);
    }
  }
}

constexpr int TOGETHER = 4;  // number of entries that a lane loads at once

/// Returns the number of entries whose class equals lane(). The whole warp must call this.
DEVICE i64 count_entries(const i32 *__restrict__ indices, const u8 *__restrict__ classes, i64 begin,
                         i64 end) {
  i64 count = 0;
  for (i64 base = begin; base < end; base += WARP * TOGETHER) {
    u32 c[TOGETHER];
#pragma unroll
    for (int n = 0; n < TOGETHER; n++) {
      const i64 k = base + n * WARP + lane();
      c[n] = k < end ? classes[indices[k]] : NO_CLASS;
    }
#pragma unroll
    for (int n = 0; n < TOGETHER; n++) count += __popc(Classes(c[n]).lanes_of(u32(lane())));
  }
  return count;
}

/// Writes the new numbers of the entries begin..end-1 to `placed`, grouped by class. Lane c passes
/// as `place` the position in `placed` at which the entries of class c begin. The whole warp must
/// call this.
DEVICE void place_entries(const i32 *__restrict__ indices, const u8 *__restrict__ classes,
                          const i32 *__restrict__ renamed, i64 begin, i64 end, i64 place,
                          i32 *placed) {
  for (i64 base = begin; base < end; base += WARP * TOGETHER) {
    u32 c[TOGETHER];
    i32 w[TOGETHER];
#pragma unroll
    for (int n = 0; n < TOGETHER; n++) {
      const i64 k = base + n * WARP + lane();
      const i32 v = k < end ? indices[k] : -1;
      c[n] = v < 0 ? NO_CLASS : classes[v];
      w[n] = v < 0 ? 0 : renamed[v];
    }
#pragma unroll
    for (int n = 0; n < TOGETHER; n++) {
      const Classes all(c[n]);
      const i64 from = shuffle(place, int(c[n]) % CLASSES);
      if (c[n] != NO_CLASS) placed[from + __popc(all.lanes_of(c[n]) & lanes_before())] = w[n];
      place += __popc(all.lanes_of(u32(lane())));
    }
  }
}

/// Writes the short rows of the renumbered matrix, which are its rows `first` to `last` - 1. One
/// warp writes each row.
template <class Op, class Offset>
__global__ void relabel_rows(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                             const u8 *__restrict__ classes, const i32 *__restrict__ renamed,
                             const i32 *__restrict__ old, const Offset *__restrict__ starts,
                             i64 first, i64 last, i32 *placed) {
  const i64 warps = threads_in_grid() / WARP;
  for (i64 row = first + thread_in_grid() / WARP; row < last; row += warps) {
    const i64 begin = i64(indptr[old[row]]), start = i64(starts[row]),
              end = begin + i64(starts[row + 1]) - start;
    const i64 count = count_entries(indices, classes, begin, end);
    place_entries(indices, classes, renamed, begin, end, start + warp_inclusive_sum(count) - count,
                  placed);
  }
}

/// Writes the long rows of the renumbered matrix: the rows 0 to `last` - 1. One block writes each
/// row, and each warp of the block processes a part of the row.
template <class Op, class Offset>
__global__ void relabel_long_rows(const Offset *__restrict__ indptr,
                                  const i32 *__restrict__ indices, const u8 *__restrict__ classes,
                                  const i32 *__restrict__ renamed, const i32 *__restrict__ old,
                                  const Offset *__restrict__ starts, i64 last, i32 *placed) {
  SHARED(i64, counts, WARP * CLASSES);
  const int warps = int(blockDim.x) / WARP, warp = warp_in_block();
  for (i64 row = blockIdx.x; row < last; row += gridDim.x) {
    const i64 begin = i64(indptr[old[row]]), start = i64(starts[row]),
              length = i64(starts[row + 1]) - start;
    const i64 part = (length + blockDim.x - 1) / blockDim.x * WARP;
    const i64 from = begin + least(warp * part, length),
              to = begin + least((warp + 1) * part, length);
    __syncthreads();  // wait until all threads have read `counts`
    counts[warp * CLASSES + lane()] = count_entries(indices, classes, from, to);
    __syncthreads();
    i64 before = 0, all = 0;
    for (int other = 0; other < warps; other++) {
      if (other == warp) before = all;
      all += counts[other * CLASSES + lane()];
    }
    const i64 place = start + warp_inclusive_sum(all) - all + before;
    place_entries(indices, classes, renamed, from, to, place, placed);
  }
}

}  // namespace graphla
