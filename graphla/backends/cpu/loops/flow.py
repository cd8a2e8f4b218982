"""Maximum flow along shortest paths (Y. Dinitz, 1970).

A search from the source finds the level of each vertex in the residual network. Flow is then pushed
along paths that go up one level with each edge, until no such path is left. Each such phase
increases the level of the target, so there are fewer phases than vertices.
"""

import numpy as np

BATCH = 1023
FINISHED, STOPPED = range(2)


def find_levels(indptr, indices, residuals, out_levels, kept_queue, source, target):
    """Write the levels of a search that ends at the target; return whether it reaches the target.

    The level of a vertex that is not reached is -1.
    """
    out_levels[:] = -1
    out_levels[source] = 0
    kept_queue[0] = source
    first, last = 0, 1
    while first < last and out_levels[target] < 0:
        v = np.int64(kept_queue[first])
        first += 1
        for p in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            w = np.int64(indices[p])
            if residuals[p] > 0 and out_levels[w] < 0:
                out_levels[w] = out_levels[v] + 1
                kept_queue[last] = w
                last += 1
    return out_levels[target] >= 0


def push(reverse, out_residuals, path, depth):
    """Push as much flow as possible along a path; return the number of edges before the first
    saturated edge."""
    width = out_residuals[path[0]]
    for k in range(1, depth):
        width = min(width, out_residuals[path[k]])
    before = depth
    for k in range(depth):
        p = path[depth - 1 - k]
        out_residuals[p] -= width
        out_residuals[reverse[p]] += width
        if out_residuals[p] <= 0:
            before = depth - 1 - k
    return before


def augment(
    indptr,
    indices,
    reverse,
    out_residuals,
    kept_levels,
    kept_queue,
    kept_cursor,
    kept_path,
    kept_stop,
    source,
    target,
):
    """Push flow from the source to the target until the target cannot be reached.

    `reverse` holds the position of the opposite arc of each arc. `kept_path` holds the arcs of the
    current path, and `kept_cursor` holds, for each vertex, the next arc to try.
    """
    turns = 0
    while find_levels(indptr, indices, out_residuals, kept_levels, kept_queue, source, target):
        for u in range(kept_cursor.size):
            kept_cursor[u] = indptr[u]
        depth, v = 0, np.int64(source)
        while True:
            if turns & BATCH == 0 and kept_stop[0]:
                return STOPPED
            turns += 1
            if v == target:
                depth = push(reverse, out_residuals, kept_path, depth)
            else:
                p, end = np.int64(kept_cursor[v]), np.int64(indptr[v + 1])
                level = kept_levels[v] + 1
                while p < end and (out_residuals[p] <= 0 or kept_levels[indices[p]] != level):
                    p += 1
                kept_cursor[v] = p
                if p < end:
                    kept_path[depth] = p
                    depth += 1
                elif depth == 0:
                    break
                else:
                    # No path leads on from v, so the arc to v is not tried again.
                    depth -= 1
                    kept_levels[v] = -1
            v = np.int64(source)
            if depth > 0:
                v = np.int64(indices[kept_path[depth - 1]])
    return FINISHED
