// Clusters: SIZE adjacent blocks that have their own barrier, and can access each other's shared
// memory. This barrier is three times as fast as a barrier of the whole grid. Clusters need a GPU
// with compute capability 9.0 or higher.
//
// SIZE is a power of two, and the grid size is a multiple of SIZE. A kernel declares its cluster
// size with CLUSTER(SIZE).
#ifndef GRAPHLA_CLUSTER
#define GRAPHLA_CLUSTER
#include "device.cuh"

#if !defined(GRAPHLA_SIMULATOR) && __CUDA_ARCH__ >= 900
#define CLUSTER(size) __cluster_dims__(size)
#else
#define CLUSTER(size)
#endif

namespace graphla {

/// Given the address `p` of a variable in the shared memory of this block, returns the address of
/// the same variable in block `rank` of the cluster.
template <int SIZE, class T> DEVICE T *in_block(T *p, u32 rank) {
#ifdef GRAPHLA_SIMULATOR
  return (T *)__cluster_map(p, rank, SIZE);
#elif __CUDA_ARCH__ >= 900
  u64 far;
  asm("mapa.u64 %0, %1, %2;" : "=l"(far) : "l"(p), "r"(rank));
  return (T *)far;
#else
  return p;  // never reached: clusters are launched only on GPUs that support them
#endif
}

/// Waits for all threads of the cluster. Afterwards, each thread sees what the other threads have
/// stored.
template <int SIZE> DEVICE void cluster_meet() {
#ifdef GRAPHLA_SIMULATOR
  __cluster_sync(SIZE);
#elif __CUDA_ARCH__ >= 900
  __syncwarp();
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
#endif
}

}  // namespace graphla
#endif
