// Edges stored in chunks, each within one square of the matrix, and how a grid divides the chunks.
//
// edges.py builds this layout. Chunk c consists of the edges starts[c] to starts[c + 1] - 1. The
// upper and lower half of corners[c] are the first column and the first row of its square. An edge
// is one word, whose halves are the offsets of its source and target from that row and column.
// Corners are ascending, so the squares of one column are adjacent.
#ifndef GRAPHLA_EDGES
#define GRAPHLA_EDGES
#include "device.cuh"

namespace graphla {

/// Constants for how warps read chunks of edges.
enum EdgeShape {
  LANE_BYTES = 32,   // number of bytes of edges that a lane reads at once
  EDGE_BLOCK = 1024  // maximum threads per block; large blocks reuse cached levels more often
};

/// The first row and column of a chunk's square.
struct Square {
  i32 row, column;
  DEVICE Square() {}
  DEVICE explicit Square(u64 corner) : row(i32(u32(corner))), column(i32(corner >> 32)) {}
};

/// Returns the source of an edge, as an offset from the square's first row.
template <class Edge> DEVICE u32 source_of(Edge edge) { return u32(edge >> (4 * sizeof(Edge))); }

/// Returns the target of an edge, as an offset from the square's first column.
template <class Edge> DEVICE u32 target_of(Edge edge) {
  return u32(edge & ((Edge(1) << (4 * sizeof(Edge))) - 1));
}

/// The chunks of this block, which its warps share. They are contiguous, so that at any time the
/// block reads from few squares.
struct Run {
  i64 begin, end;
  DEVICE explicit Run(i64 chunks) {
    const i64 each = (chunks + gridDim.x - 1) / gridDim.x;
    begin = least(chunks, each * blockIdx.x), end = least(chunks, begin + each);
  }
};

}  // namespace graphla
#endif
