// Breadth-first search of deep graphs of few edges: the kernel of bfs.cu, compiled so that a
// cluster of blocks, instead of block 0, walks small levels.
#include "cluster.cuh"
#define BFS_IN_CLUSTERS(size) CLUSTER(size)
#include "bfs.cu"
