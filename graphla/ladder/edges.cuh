// Edges in squares of the matrix, chunk by chunk: how the threads of a grid share them.
//
// Laid out by edges.py. Edge e of chunk c, for starts[c] <= e < starts[c + 1], lies in the square
// whose first row and column are corners[c]; one word holds its source and target, counted from
// there, in a half each.
#ifndef GRAPHLA_EDGES
#define GRAPHLA_EDGES
#include "device.cuh"

namespace graphla {

/// Edges of a warp that are on their way at a time, for each lane.
constexpr int BATCH = 8;

/// Where the rows and columns of a chunk begin.
struct Square {
  i32 row, column;
  DEVICE explicit Square(u64 corner) : row(i32(corner >> 32)), column(i32(u32(corner))) {}
  template <class Edge> DEVICE i32 source(Edge edge) const {
    return row + i32(edge >> (4 * sizeof(Edge)));
  }
  template <class Edge> DEVICE i32 target(Edge edge) const {
    constexpr Edge half = (Edge(1) << (4 * sizeof(Edge))) - 1;
    return column + i32(edge & half);
  }
};

/// visit(chunk) by a warp for each: blocks take runs of chunks that lie side by side, so that what
/// the warps of one read at a time is of few squares.
template <class Visit> DEVICE void for_each_chunk(i64 chunks, Visit visit) {
  const i64 each = (chunks + gridDim.x - 1) / gridDim.x, begin = each * blockIdx.x;
  const i64 end = least(chunks, begin + each);
  for (i64 c = begin + warp_in_block(); c < end; c += blockDim.x / WARP) visit(c);
}

}  // namespace graphla
#endif
