// A sequential merge of two sorted runs, step by step, from where `merge_split` says it stands.
#ifndef GRAPHLA_MERGE_PATH
#define GRAPHLA_MERGE_PATH
#include "collectives.cuh"

namespace graphla {

/// visit(n, place, key) for the steps n = from..to - 1, of 0..COUNT - 1, of a merge of two runs of
/// one array that has come to keys[i] and keys[j]; they end at a_end and b_end, and to - from
/// entries are left at least. i and j come to where the merge then stands. Of two equals a's goes
/// first. The lanes of a warp take from either run: what they do is chosen by values, not by
/// branches.
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
