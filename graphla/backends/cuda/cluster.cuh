// A cluster: SIZE blocks side by side that see one another's shared memory and meet at a barrier of
// their own, three times as fast as one of the whole grid. Cards from compute capability 9.0 on.
//
// SIZE is a power of two, and the grid a multiple of it; the kernel declares it by CLUSTER(SIZE).
#ifndef GRAPHLA_CLUSTER
#define GRAPHLA_CLUSTER
#include "device.cuh"

#if !defined(GRAPHLA_SIMULATOR) && __CUDA_ARCH__ >= 900
#define CLUSTER(size) __cluster_dims__(size)
#else
#define CLUSTER(size)
#endif

namespace graphla {

/// Where `p`, in this block's dynamic shared memory, lies in that of block `rank` of the cluster.
template <int SIZE, class T> DEVICE T *in_block(T *p, u32 rank) {
#ifdef GRAPHLA_SIMULATOR
  return (T *)__cluster_map(p, rank, SIZE);
#elif __CUDA_ARCH__ >= 900
  u64 far;
  asm("mapa.u64 %0, %1, %2;" : "=l"(far) : "l"(p), "r"(rank));
  return (T *)far;
#else
  return p;  // such cards have no clusters
#endif
}

/// All threads of the cluster meet; what they have stored is seen by all.
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
