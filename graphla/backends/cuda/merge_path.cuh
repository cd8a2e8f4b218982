// The sequential part of a parallel merge: each thread merges a part of two sorted runs, entry by
// entry. The part begins at the positions in both runs that `merge_split` returned.
#ifndef GRAPHLA_MERGE_PATH
#define GRAPHLA_MERGE_PATH
#include "collectives.cuh"

namespace graphla {

/// Merges the first entries of two sorted runs, a and b, of the array `keys`. Run a is keys[i] to
/// keys[a_end - 1], and run b is keys[j] to keys[b_end - 1]. An entry of a comes before an equal
/// entry of b. Calls visit(n, place, key) for each merged entry: n counts from `from` to `to` - 1,
/// `key` is the entry, and `place` is its index in `keys`. The two runs must have at least `to` -
/// `from` entries in total. On return, i and j are the positions where the merge would continue.
///
/// The loop is unrolled COUNT times, so `to` must be at most COUNT. The lanes of a warp may take
/// entries from different runs, so the loop selects values instead of branching.
template <int COUNT, class Key, class Before, class Visit>
DEVICE void merge_steps(const Key *keys, int &i, int a_end, int &j, int b_end, int from, int to,
                        Before before, Visit visit) {
  Key x{}, y{};
  if (i < a_end) x = keys[i];
  if (j < b_end) y = keys[j];
#pragma unroll
  for (int n = 0; n < COUNT; n++) {
    if (n < from || n >= to) continue;
    const bool takes_b = (j < b_end) & ((i >= a_end) | before(y, x));
    const int place = takes_b ? j : i, next = place + 1;
    visit(n, place, takes_b ? y : x);
    Key ahead{};
    if (next < (takes_b ? b_end : a_end)) ahead = keys[next];
    i = takes_b ? i : next, j = takes_b ? next : j;
    x = takes_b ? x : ahead, y = takes_b ? ahead : y;
  }
}

}  // namespace graphla
#endif
