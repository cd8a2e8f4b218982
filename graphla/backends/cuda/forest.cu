// Finds a spanning forest by Borůvka's algorithm. Each round finds, for each tree, the smallest
// edge that leaves the tree. It hooks trees along these edges, and shortens the paths to the roots.
// Between rounds the host drops the edges inside a tree.
//
// The edges are the entries of an upper triangular matrix. An edge is represented by its row and by
// the position of its entry, which gives the column and the weight. Edges are ordered by weight,
// and edges of equal weight by position. So the order is strict. label[v] is the root of v's tree.
// best[r] is the smallest key of an edge that leaves the tree of root r, or ~0 if no edge leaves
// it.
#include "collectives.cuh"

namespace graphla {

/// Maps a value to an unsigned key. Keys have the same order as the values, or the reverse order if
/// `greatest` is true.
template <class T> DEVICE u64 key_of(T x, bool greatest) {
  constexpr int bits = 8 * sizeof(T);
  u64 key;
  if constexpr (is_float<T>::value) {
    x = x == T(0) ? T(0) : x;  // map -0 to 0
    u64 held = 0;
    memcpy(&held, &x, sizeof(T));
    const u64 top = u64(1) << (bits - 1);
    key = held & top ? ~held : held | top;
  } else {
    key = u64(x);
    if (T(-1) < T(0)) key ^= u64(1) << (bits - 1);
  }
  const u64 all = ~u64(0) >> (64 - bits);
  return (greatest ? ~key : key) & all;
}

/// Returns the key of the edge at the given position. If WIDE is true, this is the key of the
/// weight alone. Otherwise the upper half is the key of the weight, and the lower half is the
/// position.
template <bool WIDE, class T>
DEVICE u64 edge_key(const T *values, i64 step, i64 place, bool greatest) {
  const u64 key = key_of(values[place * step], greatest);
  if constexpr (WIDE) return key;
  else return key << 32 | u64(place);
}

/// Sets best[r] to the smallest key of the edges that leave the tree of root r.
template <class Op, class Offset, class T, bool WIDE>
__global__ void find_least(const i32 *__restrict__ rows, const Offset *__restrict__ places,
                           i64 edges, const i32 *__restrict__ indices, const T *__restrict__ values,
                           i64 step, bool greatest, const i32 *__restrict__ label, u64 *best) {
  for (i64 e = thread_in_grid(); e < edges; e += threads_in_grid()) {
    const i64 place = i64(places[e]);
    const i32 r = label[rows[e]], s = label[indices[place]];
    if (r == s) continue;
    const u64 key = edge_key<WIDE>(values, step, place, greatest);
    if (key < load_relaxed(&best[r])) atomicMin(&best[r], key);
    if (key < load_relaxed(&best[s])) atomicMin(&best[s], key);
  }
}

/// Among the edges with key best[r] that leave the tree of root r, finds the smallest position, and
/// stores it in first[r].
template <class Op, class Offset, class T>
__global__ void find_first(const i32 *__restrict__ rows, const Offset *__restrict__ places,
                           i64 edges, const i32 *__restrict__ indices, const T *__restrict__ values,
                           i64 step, bool greatest, const i32 *__restrict__ label,
                           const u64 *__restrict__ best, u64 *first) {
  for (i64 e = thread_in_grid(); e < edges; e += threads_in_grid()) {
    const u64 place = u64(places[e]);
    const i32 r = label[rows[e]], s = label[indices[place]];
    if (r == s) continue;
    const u64 key = edge_key<true>(values, step, i64(place), greatest);
    if (key == best[r] && place < load_relaxed(&first[r])) atomicMin(&first[r], place);
    if (key == best[s] && place < load_relaxed(&first[s])) atomicMin(&first[s], place);
  }
}

/// Each root r hooks onto the tree at the other end of its smallest edge, and flags the edge. If
/// two roots have the same smallest edge, the smaller root does not hook. The position of r's edge
/// is `first[r] & bits`. If keys are wide, first[r] is this position, and `bits` has all bits set.
/// Otherwise first[r] is a key whose lower half is the position, and `bits` selects this half.
template <class Op, class Offset>
__global__ void hook_trees(const Offset *__restrict__ indptr, i64 n,
                           const i32 *__restrict__ indices, const u64 *__restrict__ first, u64 bits,
                           const i32 *__restrict__ label, i32 *parent, bool *flags) {
  for (i64 r = thread_in_grid(); r < n; r += threads_in_grid()) {
    if (label[r] != i32(r) || first[r] == ~u64(0)) continue;
    const i64 place = i64(first[r] & bits);
    const i32 one = label[segment_of(indptr, n, place)],
              other = one == i32(r) ? label[indices[place]] : one;
    const bool is_mutual = first[other] != ~u64(0) && i64(first[other] & bits) == place;
    if (is_mutual && other > i32(r)) continue;
    parent[r] = other;
    flags[place] = true;
  }
}

/// Sets parent[v] to the root of v, for every vertex v.
template <class Op> __global__ void climb(i64 n, i32 *parent) {
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    i32 above = load_relaxed(&parent[v]);
    for (i32 next; (next = load_relaxed(&parent[above])) != above; above = next)
      store_relaxed(&parent[v], next);
  }
}

}  // namespace graphla
