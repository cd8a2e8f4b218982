// Trees of parents over the vertices, hooked onto one another without locks: union-find.
//
// parent[v] <= v lies in the component of v, and never grows: so there is no cycle, and the root of
// a tree is its least vertex. Loads are relaxed: a parent that is out of date is an ancestor still.
#ifndef GRAPHLA_COMPONENTS
#define GRAPHLA_COMPONENTS
#include "device.cuh"

namespace graphla {

/// The root of v's tree, as far as this thread sees; the way up is made shorter for the next.
DEVICE i32 root_of(i32 *parent, i32 v) {
  i32 before = v, at = load_relaxed(&parent[v]);
  for (i32 next; (next = load_relaxed(&parent[at])) < at; before = at, at = next) {
    if (before != at) store_relaxed(&parent[before], next);
  }
  return at;
}

/// u and v are joined: the greater root is hooked onto the less.
DEVICE void join(i32 *parent, i32 u, i32 v) {
  u = root_of(parent, u), v = root_of(parent, v);
  while (u != v) {
    const i32 high = greatest(u, v), low = least(u, v);
    const i32 seen = atomicCAS(&parent[high], high, low);
    if (seen == high) return;
    u = root_of(parent, seen), v = root_of(parent, low);
  }
}

}  // namespace graphla
#endif
