// Merge path: where a merge of two sorted runs stands after so many entries of the result.
//
// Merging is a walk over a grid: a step down takes from a, a step right from b. After `diagonal` steps
// the walk stands somewhere on one diagonal, and a binary search along it says where, without
// walking: so every thread (or tile) begins its part of one merge by itself, all parts of one size.
// An entry of a comes before its equals in b: a merge by these splits is stable.
//
// O. Green, R. McColl, D. Bader: GPU Merge Path (2012); S. Odeh et al.: Merge Path (2012).
#ifndef GRAPHLA_MERGE_PATH
#define GRAPHLA_MERGE_PATH
#include "device.cuh"

namespace graphla {

/// How many of the first `diagonal` entries of the merge come from a; the rest come from b.
/// `b_first(i, j)` tells whether b's entry j goes before a's entry i. Whatever it tells, the answer
/// is within both runs: diagonal - b_count .. a_count, and 0 .. diagonal.
template <class Count, class First>
DEVICE Count merge_split(Count a_count, Count b_count, Count diagonal, First b_first) {
  Count begin = diagonal > b_count ? diagonal - b_count : Count(0), end = least(diagonal, a_count);
  while (begin < end) {
    const Count middle = begin + (end - begin) / 2;
    if (b_first(middle, diagonal - 1 - middle)) end = middle;
    else begin = middle + 1;
  }
  return begin;
}

}  // namespace graphla
#endif
