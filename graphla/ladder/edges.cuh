// Edges in squares of the matrix, chunk by chunk: how the threads of a grid share them.
//
// Laid out by edges.py. Edge e of chunk c, for starts[c] <= e < starts[c + 1], lies in the square
// whose first column and row are the halves of corners[c]; one word holds its source and target,
// counted from there, in a half each. Corners ascend: squares of the same columns lie together.
#ifndef GRAPHLA_EDGES
#define GRAPHLA_EDGES
#include "device.cuh"

namespace graphla {

/// How warps read chunks of edges.
enum EdgeShape {
  LANE_BYTES = 32,   // of the words that a lane reads at once
  EDGE_BLOCK = 1024  // threads of a block at most: many share what the squares of their chunks read
};

/// Where the rows and columns of a chunk begin.
struct Square {
  i32 row, column;
  DEVICE Square() {}
  DEVICE explicit Square(u64 corner) : row(i32(u32(corner))), column(i32(corner >> 32)) {}
};

/// Counted from the square's row.
template <class Edge> DEVICE u32 source_of(Edge edge) { return u32(edge >> (4 * sizeof(Edge))); }

/// Counted from the square's column.
template <class Edge> DEVICE u32 target_of(Edge edge) {
  return u32(edge & ((Edge(1) << (4 * sizeof(Edge))) - 1));
}

/// The chunks of this block, for its warps in turn: a run that lies side by side, so that what they
/// read at a time is of few squares.
struct Run {
  i64 begin, end;
  DEVICE explicit Run(i64 chunks) {
    const i64 each = (chunks + gridDim.x - 1) / gridDim.x;
    begin = least(chunks, each * blockIdx.x), end = least(chunks, begin + each);
  }
};

}  // namespace graphla
#endif
