// Edges in squares of the matrix, in chunks, and how the threads of a grid share the chunks.
//
// edges.py lays them out. Edge e of chunk c, where starts[c] <= e < starts[c + 1], is in the square
// whose first column and row are the halves of corners[c]. One word holds its source and target as
// offsets from that corner, half a word each. Corners ascend, so squares of a column are adjacent.
#ifndef GRAPHLA_EDGES
#define GRAPHLA_EDGES
#include "device.cuh"

namespace graphla {

/// How warps read chunks of edges.
enum EdgeShape {
  LANE_BYTES = 32,   // bytes of edge words that a lane reads at once
  EDGE_BLOCK = 1024  // maximum threads per block; large blocks share the levels of their squares
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

/// The chunks of this block, which its warps share: a contiguous run, so that reads at one time are
/// in few squares.
struct Run {
  i64 begin, end;
  DEVICE explicit Run(i64 chunks) {
    const i64 each = (chunks + gridDim.x - 1) / gridDim.x;
    begin = least(chunks, each * blockIdx.x), end = least(chunks, begin + each);
  }
};

}  // namespace graphla
#endif
