// The search of bfs.cu for deep graphs of few edges: small levels are a cluster's.
#include "cluster.cuh"
#define BFS_IN_CLUSTERS(size) CLUSTER(size)
#include "bfs.cu"
