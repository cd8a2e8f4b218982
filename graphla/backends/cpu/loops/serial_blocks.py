"""Biconnected components by depth-first search.

This loop also runs as plain Python on lists (see `serial`).
"""

BATCH = 1023
STOPPED = -1


def blocks(
    a_indptr,
    a_indices,
    out_order,
    out_blocks,
    out_heads,
    kept_low,
    kept_next,
    kept_path,
    kept_open,
    kept_stop,
):
    """Number the biconnected components, and return how many there are (Hopcroft and Tarjan, 1973).

    The matrix is symmetric. `out_order` receives the position of each vertex in the order of
    discovery, counted from 1. At first it is 0. The head of a component is the vertex of the
    component that is nearest to the root of the search tree. `out_blocks[v]` is the component of
    the edge from the parent of v to v, and -1 if v is a root. `out_heads[k]` is the head of
    component k.

    low(v) is the smallest order among v and the vertices that edges outside the search tree connect
    to v or to a descendant of v. `path` lists the vertices from the root to the current vertex, and
    `open` the vertices whose component is not complete. next(v) is the position of the next entry
    to read in the row of v.
    """
    n = len(out_order)
    count, discovered, turns = 0, 0, 0
    for root in range(n):
        if out_order[root]:
            continue
        discovered += 1
        out_order[root] = discovered
        out_blocks[root] = -1
        kept_low[root] = discovered
        kept_next[root] = a_indptr[root]
        kept_path[0] = root
        depth, size = 1, 0
        while depth:
            if turns & BATCH == 0 and kept_stop[0]:
                return STOPPED
            turns += 1
            v = kept_path[depth - 1]
            parent = kept_path[depth - 2] if depth > 1 else -1
            p, end, low, child = kept_next[v], a_indptr[v + 1], kept_low[v], -1
            while p < end:
                w = a_indices[p]
                p += 1
                if w != parent:
                    if out_order[w] == 0:
                        child = w
                        break
                    low = min(low, out_order[w])
            kept_next[v] = p
            kept_low[v] = low
            if child >= 0:
                discovered += 1
                out_order[child] = discovered
                kept_low[child] = discovered
                kept_next[child] = a_indptr[child]
                kept_path[depth] = child
                kept_open[size] = child
                depth += 1
                size += 1
                continue
            depth -= 1
            if depth == 0:
                continue
            kept_low[parent] = min(kept_low[parent], low)
            if low >= out_order[parent]:
                out_heads[count] = parent
                while True:
                    size -= 1
                    out_blocks[kept_open[size]] = count
                    if kept_open[size] == v:
                        break
                count += 1
    return count
