"""Strong components by depth-first search."""

import numpy as np

BATCH = 1023
FINISHED, STOPPED = range(2)
CLOSED = 2**31 - 1


def label(
    a_indptr,
    a_indices,
    out_labels,
    kept_order,
    kept_low,
    kept_next,
    kept_path,
    kept_open,
    kept_stop,
):
    """Label each vertex with the smallest vertex of its strong component (R. Tarjan, *Depth-First
    Search and Linear Graph Algorithms*, 1972).

    order(v) is the position of v in the order of discovery, counted from 1. A vertex is open if it
    has been discovered but its component is not complete. The stack `open` holds the open vertices.
    low(v) is 0 until v is discovered, and CLOSED once the component of v is complete. In between,
    low(v) is the smallest order among the open vertices that v is known to reach. `path` lists the
    vertices on the path from the root of the search to the current vertex. next(v) is the position
    of the next entry to read in the row of v.
    """
    n = a_indptr.size - 1
    count, depth, size, turns = 0, 0, 0, 0
    for root in range(n):
        if kept_low[root]:
            continue
        found = np.int32(root)
        while True:
            if turns & BATCH == 0 and kept_stop[0]:
                return STOPPED
            turns += 1
            if found >= 0:  # discover v
                count += 1
                v = np.uint64(found)
                kept_order[v] = count
                kept_low[v] = count
                kept_next[v] = a_indptr[v]
                kept_path[depth] = found
                kept_open[size] = found
                depth += 1
                size += 1
            v = np.uint64(kept_path[depth - 1])
            low = kept_low[v]
            p, end = np.uint64(kept_next[v]), np.uint64(a_indptr[v + np.uint64(1)])
            found = np.int32(-1)
            while p < end:
                other = kept_low[np.uint64(a_indices[p])]
                if other == 0:
                    # Visit this neighbor first. When the search returns to v, it resumes at this
                    # entry of the row.
                    found = a_indices[p]
                    break
                low = min(low, other)
                p += np.uint64(1)
            kept_next[v] = p
            kept_low[v] = low
            if found >= 0:
                continue
            depth -= 1
            # If v reaches no open vertex that was discovered before v, the component of v is
            # complete. It consists of v and the vertices above v on the stack.
            if low == kept_order[v]:
                least, begin = np.int32(v), size
                while True:
                    begin -= 1
                    least = min(least, kept_open[begin])
                    if kept_open[begin] == np.int32(v):
                        break
                for t in range(begin, size):
                    out_labels[np.uint64(kept_open[t])] = least
                    kept_low[np.uint64(kept_open[t])] = CLOSED
                size = begin
            if depth == 0:
                break
    return FINISHED
