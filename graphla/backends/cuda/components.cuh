// Union-find without locks: each vertex points to a parent, and trees are hooked onto each other.
//
// parent[v] is a vertex in v's component; it is at most v and never increases. Therefore the
// parents contain no cycle, and the root of a tree is its smallest vertex. Relaxed loads suffice,
// because a parent that is out of date is still an ancestor.
#ifndef GRAPHLA_COMPONENTS
#define GRAPHLA_COMPONENTS
#include "collectives.cuh"

namespace graphla {

/// Returns the root of v's tree, as this thread currently sees it, and shortens the path to it.
DEVICE i32 root_of(i32 *parent, i32 v) {
  i32 before = v, at = load_relaxed(&parent[v]);
  for (i32 next; (next = load_relaxed(&parent[at])) < at; before = at, at = next) {
    if (before != at) store_relaxed(&parent[before], next);
  }
  return at;
}

/// Returns a parent that v had at some point during this launch. The load may hit the L1 cache.
/// This avoids contention for the parents of roots that many threads read.
DEVICE i32 old_parent_of(const i32 *parent, i32 v) {
#ifdef GRAPHLA_SIMULATOR
  return load_relaxed(&parent[v]);
#else
  return __ldca(&parent[v]);
#endif
}

/// Returns an ancestor of v that was v's root at some point during this launch.
DEVICE i32 old_root_of(i32 *parent, i32 v) {
  i32 before = v, at = old_parent_of(parent, v);
  for (i32 next; (next = old_parent_of(parent, at)) < at; before = at, at = next) {
    if (before != at) store_relaxed(&parent[before], next);
  }
  return at;
}

/// Joins the trees of u and v: hooks the larger root onto the smaller one. If several calling lanes
/// want to hook the same root, only one of them does so.
DEVICE void join(i32 *parent, i32 u, i32 v) {
  u = old_root_of(parent, u), v = old_root_of(parent, v);
  while (u != v) {
    const i32 high = greatest(u, v), low = least(u, v);
    const u32 same = __match_any_sync(__activemask(), high);
    i32 seen = high;
    if (lane() == __ffs(int(same)) - 1) {
      seen = atomicCAS(&parent[high], high, low);
      if (seen == high) return;
    }
    u = root_of(parent, seen), v = root_of(parent, low);
  }
}

}  // namespace graphla
#endif
