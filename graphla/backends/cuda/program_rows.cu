// Kernels that prepare a matrix for the products of compiled loops (see program_products.py).
#include "device.cuh"

namespace graphla {

/// Appends the rows that have more than `longest` entries to `list`, in any order: list[2k] is the
/// index of a row, and list[2k + 1] its number of entries. Adds the number of these rows to *found.
template <class Op, class Offset>
__global__ void list_long_rows(const Offset *__restrict__ indptr, i64 nrows, i64 longest, i64 *list,
                               u64 *found) {
  for (i64 i = thread_in_grid(); i < nrows; i += threads_in_grid()) {
    const i64 length = i64(indptr[i + 1] - indptr[i]);
    if (length <= longest) continue;
    const u64 k = atomicAdd(found, u64(1));
    list[2 * k] = i;
    list[2 * k + 1] = length;
  }
}

/// Sets the flag `only` in peeks[i] if row i has exactly one entry, and the flag `is_long` if it
/// has more than `longest` entries.
template <class Op, class Offset>
__global__ void flag_peeks(const Offset *__restrict__ indptr, i64 nrows, i64 longest, u32 only,
                           u32 is_long, u32 *peeks) {
  for (i64 i = thread_in_grid(); i < nrows; i += threads_in_grid()) {
    const i64 length = i64(indptr[i + 1] - indptr[i]);
    if (length == 1) peeks[i] |= only;
    if (length > longest) peeks[i] |= is_long;
  }
}

}  // namespace graphla
