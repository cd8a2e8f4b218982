// What the pushes and pulls of a persistent kernel share: shared memory, the division of work among
// warps, and the list of the outputs that a product finds.
#ifndef GRAPHLA_PROGRAM_WORK
#define GRAPHLA_PROGRAM_WORK
#include "persistent.cuh"
#include "program_operands.cuh"

namespace graphla {

enum ProductShape {
  QUEUE_ROOM = 2048,  // maximum number of outputs that one block queues per product
  LIST_ROOM = 6144    // maximum number of rows in the lists of all warps of a block together
};

/// Shared memory for products. A kernel declares it with SHARED(ProductRoom, room, 1).
struct ProductRoom {
  u64 edges[WARP];
  u64 place;  // the buffered outputs are moved to the queue from this position on
  u32 entries[WARP];
  u32 buffered;
  i32 buffer[QUEUE_ROOM];
  i32 lists[LIST_ROOM];

  /// Returns the maximum number of rows in the list of a warp.
  static DEVICE int list_room() { return LIST_ROOM / (int(blockDim.x) / WARP); }
  /// Returns the list of this warp.
  DEVICE i32 *list() { return lists + warp_in_block() * list_room(); }
};

/// The state that the products of a kernel share.
struct Work {
  Grid grid;  // a copy
  ProductArrays arrays;
  ProductRoom &room;
  u32 pulls;         // number of pulls so far, including this product
  u32 barriers = 0;  // number of grid barriers that the products have contained so far

  DEVICE Work(const Grid &barrier, const ProductArrays &memory, ProductRoom *shared, u32 count)
      : grid(barrier), arrays(memory), room(shared[0]), pulls(count) {}

  DEVICE void meet() {
    grid.meet();
    ++barriers;
  }
};

/// Prepares the shared memory for the first product. All threads of a block must call this, and a
/// barrier must follow.
DEVICE void prepare_room(ProductRoom *room) {
  if (threadIdx.x == 0) room->buffered = 0;
}

/// The argument `queueing` of a product that does not list its outputs in out.queue.
struct WithoutQueue {
  static constexpr bool IS_WANTED = false;
};

/// The argument `queueing` of a product that lists its outputs in out.queue. If a block finds more
/// than QUEUE_ROOM outputs, it lists only QUEUE_ROOM of them, and the queue is not valid. The
/// product also adds the sum of the degrees of its outputs to out.counts->edges. The degree of
/// output o is the length of line o in the form with the offsets `indptr`.
template <class Offset> struct WithQueue {
  static constexpr bool IS_WANTED = true;
  const Offset *indptr;
};

/// Returns a number for this warp that no other warp in the grid has. Consecutive numbers belong to
/// warps of different blocks, so that even a little work is spread over all blocks.
DEVICE u32 spread_warp() { return u32(warp_in_block()) * gridDim.x + blockIdx.x; }
DEVICE u32 warps_in_grid() { return gridDim.x * (blockDim.x / WARP); }

/// Returns how many of `count` items a warp takes at a time: a power of two from `fewest` to
/// `most`. The fewer items there are, the fewer a warp takes, so that more warps take part.
DEVICE u32 share_of(u32 count, u32 fewest, u32 most) {
  const u32 warps = warps_in_grid();
  u32 each = most;
  while (each > fewest && each / 2 * warps >= count) each /= 2;
  return each;
}

/// Sets present[o] to true. Returns whether it was false before, which is the case for only one of
/// the threads that claim o.
DEVICE bool claim_output(bool *present, i32 o) {
  const u32 bit = 1u << (8 * (o & 3));
  return !(atomicOr((u32 *)(present + (o & ~3)), bit) & bit);
}

// --- outputs -----------------------------------------------------------------------------------

/// Counts the outputs that this thread has found and, with `WithQueue`, lists them.
template <class Queueing, class Z> struct Outputs {
  const Queueing queueing;
  const Vector<Z> out;
  ProductRoom &room;
  u32 entries = 0;
  u64 edges = 0;

  DEVICE Outputs(const Queueing &how, const Vector<Z> &to, ProductRoom &shared)
      : queueing(how), out(to), room(shared) {}

  /// Returns the degree of output o, or 0 if outputs are not queued.
  DEVICE u32 degree(i32 o) const {
    if constexpr (Queueing::IS_WANTED) return u32(queueing.indptr[o + 1] - queueing.indptr[o]);
    else return 0;
  }

  /// If bit i of `is_new` is set, appends output o[i] to the block's buffer, unless the buffer is
  /// full. Does not change `entries` and `edges`. Every lane of the warp must call this.
  template <int K> DEVICE void append(u32 is_new, const i32 (&o)[K]) {
    if constexpr (Queueing::IS_WANTED) {
      if (!__any_sync(ALL_LANES, is_new)) return;
      u32 news[K], total = 0;
#pragma unroll
      for (int i = 0; i < K; ++i) {
        news[i] = __ballot_sync(ALL_LANES, is_new >> i & 1);
        total += u32(__popc(news[i]));
      }
      u32 at = 0;
      if (lane() == 0) at = atomicAdd(&room.buffered, total);
      at = shuffle(at, 0);
#pragma unroll
      for (int i = 0; i < K; ++i) {
        const u32 mine = at + u32(__popc(news[i] & ((1u << lane()) - 1)));
        if ((is_new >> i & 1) && mine < u32(QUEUE_ROOM)) room.buffer[mine] = o[i];
        at += u32(__popc(news[i]));
      }
    }
  }
  /// Counts and appends output o if `is_new` is true. Every lane of the warp must call this.
  DEVICE void add(bool is_new, i32 o) {
    if (is_new) ++entries, edges += degree(o);
    const i32 one[1] = {o};
    append(is_new, one);
  }

  /// Adds the counts of all threads of the block to out.counts, and moves the buffered outputs to
  /// the queue. Every thread of the block must call this once, at the end of the product.
  DEVICE void finish() {
    const u32 some = warp_sum(entries);
    if (lane() == 0) room.entries[warp_in_block()] = some;
    if constexpr (Queueing::IS_WANTED) {
      // Each value is split into two 32-bit parts, which are added separately, because a warp can
      // add 32-bit numbers with a single instruction.
      const u64 low = warp_sum(u32(edges & 0xffff)), high = warp_sum(u32(edges >> 16));
      if (lane() == 0) room.edges[warp_in_block()] = low + (high << 16);
    }
    __syncthreads();
    u32 count = 0;
    if constexpr (Queueing::IS_WANTED) {
      count = least(room.buffered, u32(QUEUE_ROOM));
      if (threadIdx.x == 0 && count) room.place = atomicAdd(&out.counts->queued, u64(count));
    }
    if (warp_in_block() == int(blockDim.x) / WARP - 1) {
      const bool is_warp = lane() < int(blockDim.x) / WARP;
      const u32 total = warp_sum(is_warp ? room.entries[lane()] : 0u);
      if (lane() == 0 && total) atomicAdd(&out.counts->entries, u64(total));
      if constexpr (Queueing::IS_WANTED) {
        const u64 sum = total ? warp_sum(is_warp ? room.edges[lane()] : u64(0)) : 0;
        if (lane() == 0 && sum) atomicAdd(&out.counts->edges, sum);
      }
    }
    if constexpr (Queueing::IS_WANTED) {
      if (!count) return;
      __syncthreads();
      const u64 place = room.place;
      for (u32 i = threadIdx.x; i < count; i += blockDim.x) out.queue[place + i] = room.buffer[i];
      if (threadIdx.x == 0) room.buffered = 0;
    }
  }
};

}  // namespace graphla
#endif
