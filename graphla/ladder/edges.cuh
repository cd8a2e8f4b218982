// A list of edges, divided into chunks. The edges of a chunk belong to the same square of the
// adjacency matrix.
//
// edges.py builds this layout. Chunk c consists of the edges starts[c] to starts[c + 1] - 1. The
// upper half of the word corners[c] is the first column of the chunk's square, and the lower half
// is the first row. An edge is one word: its upper half is its source, as an offset from the first
// row of the square, and its lower half is its target, as an offset from the first column. The
// words in `corners` are ascending, so the squares with the same first column are adjacent.
#ifndef GRAPHLA_EDGES
#define GRAPHLA_EDGES
#include "device.cuh"

namespace graphla {

/// Constants of the kernels that read chunks of edges.
enum EdgeShape {
  LANE_BYTES = 32,   // number of bytes of edges that a lane reads at once
  EDGE_BLOCK = 1024  // maximum number of threads per block; in large blocks, more threads share the
                     // cached levels
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

/// The chunks that this block processes: `begin` to `end` - 1. They are consecutive, so that at any
/// time all edges of the block come from only a few squares of the adjacency matrix.
struct Run {
  i64 begin, end;
  DEVICE explicit Run(i64 chunks) {
    const i64 each = (chunks + gridDim.x - 1) / gridDim.x;
    begin = least(chunks, each * blockIdx.x), end = least(chunks, begin + each);
  }
};

}  // namespace graphla
#endif
