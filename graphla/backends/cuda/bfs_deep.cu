// Breadth-first search of deep graphs with few edges. This is the kernel of bfs.cu, compiled so
// that a cluster of blocks, instead of block 0, processes small levels.
#include "cluster.cuh"
#define BFS_IN_CLUSTERS(size) CLUSTER(size)
#include "bfs.cu"
