// Random numbers as a function of a counter. They equal the numbers from
// graphla/operations/hashed_random.py.
#ifndef GRAPHLA_HASHED_RANDOM
#define GRAPHLA_HASHED_RANDOM
#include "device.cuh"

namespace graphla {

/// Returns a 64-bit hash of x: the finalizer of the random number generator splitmix64.
DEVICE u64 mix(u64 x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Returns the random word of a vertex in the given stream.
DEVICE u64 word_of(i64 v, u64 stream) { return mix(u64(v) * 0x9e3779b97f4a7c15ull + stream); }

}  // namespace graphla
#endif
