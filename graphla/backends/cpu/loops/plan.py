"""Find, for each vertex, the neighbor with the most edges, which a pull tries first."""

import numpy as np

ONE = np.uint64(1)


def find_hubs(b_indptr, b_indices, out_firsts, start, stop):
    """Find, for the vertices start..stop, the neighbor with the most edges, or -1."""
    for v in range(np.uint64(start), np.uint64(stop)):
        hub, most = np.int32(-1), -1
        for p in range(np.uint64(b_indptr[v]), np.uint64(b_indptr[v + ONE])):
            k = np.uint64(b_indices[p])
            degree = np.int64(b_indptr[k + ONE]) - np.int64(b_indptr[k])
            if degree > most:
                hub, most = np.int32(k), degree
        out_firsts[v] = hub
