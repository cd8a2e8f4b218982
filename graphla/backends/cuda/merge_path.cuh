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
/// is within both runs: at most a_count and diagonal, at least 0 and diagonal - b_count.
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

/// The same, for every lane: a warp calls together and asks 32 places at a time, where a thread by
/// itself waits for one load after the other (as warp_bound of rows.cuh).
template <class Count, class First>
DEVICE Count warp_merge_split(Count a_count, Count b_count, Count diagonal, First b_first) {
  Count begin = diagonal > b_count ? diagonal - b_count : Count(0), end = least(diagonal, a_count);
  while (end - begin > WARP) {
    const Count place = begin + Count(i64(lane() + 1) * i64(end - begin) / (WARP + 1));
    const u32 stops = __ballot_sync(ALL_LANES, b_first(place, diagonal - 1 - place));
    const int before = stops ? __ffs(int(stops)) - 1 : WARP;
    const Count left = shuffle(place, before ? before - 1 : 0), right = shuffle(place, before % WARP);
    if (before) begin = left + 1;
    if (before < WARP) end = right;
  }
  const Count place = begin + lane();
  const bool stops_here = place >= end || b_first(place, diagonal - 1 - place);
  const u32 stops = __ballot_sync(ALL_LANES, stops_here);
  return begin + Count(stops ? __ffs(int(stops)) - 1 : WARP);
}

/// visit(n, place, key) for the steps n = from..to - 1, of 0..COUNT - 1, of a merge of two runs of one
/// array that has come to keys[i] and keys[j]; they end at a_end and b_end, and to - from entries are
/// left at least. i and j come to where the merge then stands. Of two equals a's goes first.
/// The lanes of a warp take from either run: what they do is chosen by values, not by branches.
template <int COUNT, class Key, class Before, class Visit>
DEVICE void merge_steps(const Key *keys, int &i, int a_end, int &j, int b_end, int from, int to, Before before,
                        Visit visit) {
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
