// Weak components by union-find. First the ends of some sampled edges are joined. Then the vertices
// that are not in the largest component of this sample are joined with all their neighbors (M.
// Sutton, T. Ben-Nun and A. Barak, *Optimizing Parallel Graph Connectivity Computation via Subgraph
// Sampling*, 2018).
//
// The kernels run in the order below, and report nothing to the host. If each edge is stored in the
// rows of both of its ends, the kernels skip the rows of the vertices in the sample's largest
// component: an edge between this component and another vertex is also found in the row of the
// other vertex. This condition holds for a symmetric matrix, and for the rows of a matrix together
// with those of its transpose. Otherwise no row is skipped.
#include "components.cuh"

namespace graphla {

/// Sets parent[v] to the smaller of v and its first neighbor.
template <class Op, class Offset>
__global__ void hook_first(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                           i64 n, i32 *parent) {
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    const Offset begin = indptr[v];
    parent[v] = begin < indptr[v + 1] ? least(i32(v), indices[begin]) : i32(v);
  }
}

/// Joins each of the vertices first..last - 1 with the second neighbor in its row. Also joins the
/// vertex with its first neighbor, unless `hook_first` has already done so.
template <class Op, class Offset>
__global__ void join_sampled(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                             i64 first, i64 last, i32 *parent) {
  for (i64 v = first + thread_in_grid(); v < last; v += threads_in_grid()) {
    const Offset begin = indptr[v], end = indptr[v + 1];
    for (Offset place = begin; place < end && place < begin + 2; ++place) {
      const i32 u = indices[place];
      if ((place > begin || u > i32(v)) &&
          old_parent_of(parent, u) != old_parent_of(parent, i32(v)))
        join(parent, i32(v), u);
    }
  }
}

/// Sets parent[v] to the root of v.
template <class Op> __global__ void shorten(i64 n, i32 *parent) {
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    const i32 above = old_parent_of(parent, i32(v));
    if (old_parent_of(parent, above) == above) continue;
    const i32 root = root_of(parent, above);
    if (root != above) store_relaxed(&parent[v], root);
  }
}

/// Finds the most frequent root among the sampled vertices. Stores the root in the low word of
/// `largest`, and its count in the high word. The grid must have a single block.
template <class Op>
__global__ void find_largest(i64 n, const i32 *__restrict__ parent, u64 *largest) {
  constexpr int SAMPLES = ComponentsTuning::samples;  // number of sampled vertices, one per thread
  SHARED(i32, roots, SAMPLES);
  const int k = int(threadIdx.x);
  roots[k] = parent[i64((u64(k + 1) * 0x9e3779b97f4a7c15ull >> 32) % u64(n))];
  __syncthreads();
  u32 same = 0;
  for (int i = 0; i < SAMPLES; ++i) same += roots[i] == roots[k];
  u64 best = u64(same) << 32 | u32(roots[k]);
  best = warp_greatest(best);
  if (lane() == 0) atomicMax(largest, best);
}

/// Returns whether v is now in the same component as the root that `find_largest` stored.
DEVICE bool is_inside(i32 *parent, i32 v, u64 largest) {
  if (!(largest >> 32)) return false;
  const i32 root = i32(u32(largest)), above = load_relaxed(&parent[v]);
  return above == root || root_of(parent, above) == root_of(parent, root);
}

/// Each lane of a warp has one row, and the entries of these rows are numbered consecutively.
/// Returns the lane whose row contains entry number e. `sum` is the number of entries in the rows
/// of this lane and all earlier lanes. The whole warp must call this.
template <class Count> DEVICE int lane_of(Count e, Count sum) {
  int before = 0;
  for (int step = WARP / 2; step; step /= 2) {
    if (shuffle(sum, before + step - 1) <= e) before += step;
  }
  return before;
}

/// Joins the vertices outside the largest component with all their neighbors. A warp reads 32 rows.
/// A row with more than `longest` entries is divided into parts, which are listed: each item
/// consists of the vertex and the index of the part.
template <class Op, class Offset>
__global__ void join_rest(const Offset *__restrict__ indptr, const i32 *__restrict__ indices, i64 n,
                          const u64 *largest, i32 longest, i32 part, i32 *parent, u64 *parts,
                          u64 *count) {
  const i64 warps = threads_in_grid() / WARP;
  const u64 whole = *largest;
  for (i64 group = thread_in_grid() / WARP; group * WARP < n; group += warps) {
    const i64 v = group * WARP + lane();
    Offset begin = 0;
    i64 entries = 0;
    if (v < n) {
      begin = indptr[v];
      entries = i64(indptr[v + 1] - begin);
      if (entries && is_inside(parent, i32(v), whole)) entries = 0;
    }
    if (entries > longest) {
      const u64 wanted = u64((entries + part - 1) / part), first = atomicAdd(count, wanted);
      for (u64 k = 0; k < wanted; ++k) parts[first + k] = u64(v) << 32 | k;
      entries = 0;
    }
    const i32 sum = warp_inclusive_sum(i32(entries)), total = shuffle(sum, WARP - 1);
    for (i32 base = 0; base < total; base += WARP) {
      const i32 e = base + lane();
      const int owner = least(lane_of(e, sum), WARP - 1);
      const Offset place = shuffle(begin, owner) + Offset(e - shuffle(sum - i32(entries), owner));
      if (e >= total) continue;
      const i32 u = i32(group * WARP + owner), w = indices[place];
      if (old_parent_of(parent, u) != old_parent_of(parent, w)) join(parent, u, w);
    }
    __syncwarp();
  }
}

/// Like `join_rest`, for the parts of long rows. One warp reads each part.
template <class Op, class Offset>
__global__ void join_parts(const Offset *__restrict__ indptr, const i32 *__restrict__ indices,
                           i32 part, const u64 *parts, const u64 *count, i32 *parent) {
  const i64 warps = threads_in_grid() / WARP, all = i64(*count);
  for (i64 k = thread_in_grid() / WARP; k < all; k += warps) {
    const i32 u = i32(parts[k] >> 32);
    const Offset begin = indptr[u] + Offset(u32(parts[k])) * part;
    const Offset end = least(indptr[u + 1], Offset(begin + part));
    for (Offset place = begin + lane(); place < end; place += WARP) {
      const i32 w = indices[place];
      if (old_parent_of(parent, u) != old_parent_of(parent, w)) join(parent, u, w);
    }
  }
}

/// Sets labels[v] to the root of v, which is the smallest vertex of its component.
template <class Op> __global__ void name_components(i64 n, i32 *parent, i64 *__restrict__ labels) {
  for (i64 v = thread_in_grid(); v < n; v += threads_in_grid()) {
    // Trees no longer change, so a root that was read earlier is still the root.
    labels[v] = old_root_of(parent, i32(v));
  }
}

}  // namespace graphla
