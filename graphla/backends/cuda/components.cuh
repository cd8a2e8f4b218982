// Trees of parents over the vertices, hooked onto one another without locks: union-find.
//
// parent[v] <= v lies in the component of v, and never grows: so there is no cycle, and the root of
// a tree is its least vertex. Loads are relaxed: a parent that is out of date is an ancestor still.
#ifndef GRAPHLA_COMPONENTS
#define GRAPHLA_COMPONENTS
#include "collectives.cuh"

namespace graphla {

/// The root of v's tree, as far as this thread sees; the way up is made shorter for the next.
DEVICE i32 root_of(i32 *parent, i32 v) {
  i32 before = v, at = load_relaxed(&parent[v]);
  for (i32 next; (next = load_relaxed(&parent[at])) < at; before = at, at = next) {
    if (before != at) store_relaxed(&parent[before], next);
  }
  return at;
}

/// A parent that v had at some time of this launch: the first-level cache answers, so that a root asked
/// for by everybody is no one place that everybody waits for.
DEVICE i32 old_parent_of(const i32 *parent, i32 v) {
#ifdef GRAPHLA_SIMULATOR
  return load_relaxed(&parent[v]);
#else
  return __ldca(&parent[v]);
#endif
}

/// An ancestor of v that was its root at some time of this launch.
DEVICE i32 old_root_of(i32 *parent, i32 v) {
  i32 before = v, at = old_parent_of(parent, v);
  for (i32 next; (next = old_parent_of(parent, at)) < at; before = at, at = next) {
    if (before != at) store_relaxed(&parent[before], next);
  }
  return at;
}

/// u and v are joined: the greater root is hooked onto the less, of the lanes that call and would hook
/// the same root by one.
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
