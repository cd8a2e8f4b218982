"""Searches that visit vertices in NetworkX's order.

The neighbors of v are a_indices[a_indptr[v]:a_indptr[v + 1]], in any order. These loops also run as
plain Python on lists (see `serial`).
"""

BATCH = 1023
STOPPED = -1


def breadth_first(
    a_indptr, a_indices, out_order, out_levels, out_parents, kept_stop, count, limit, target
):
    """Search level by level from the first `count` vertices in `out_order`.

    The levels of these sources are 0 and those of all other vertices -1. Each source is its own
    parent. `out_order` receives the vertices in the order of discovery. `limit` is the maximum
    level, and -1 sets no bound. The search ends when it discovers `target`, if that is not -1.
    Return the number of discovered vertices.
    """
    t = 0
    while t < count:
        if t & BATCH == 0 and kept_stop[0]:
            return STOPPED
        v = out_order[t]
        t += 1
        level = out_levels[v]
        if level == limit:
            break
        for p in range(a_indptr[v], a_indptr[v + 1]):
            w = a_indices[p]
            if out_levels[w] < 0:
                out_levels[w] = level + 1
                out_parents[w] = v
                out_order[count] = w
                count += 1
                if w == target:
                    return count
    return count


def depth_first(
    a_indptr,
    a_indices,
    a_roots,
    out_order,
    out_parents,
    out_finished,
    kept_next,
    kept_path,
    kept_stop,
    limit,
):
    """Search depth-first from each root that is not discovered yet.

    All parents are -1 at first. `out_order` receives the vertices in the order of discovery, and
    `out_finished` in the order in which the search leaves them. A root is its own parent. The
    search does not continue from vertices that are `limit` edges below their root. Return the
    number of discovered vertices.
    """
    count, finished, turns = 0, 0, 0
    for root in a_roots:
        if out_parents[root] >= 0:
            continue
        out_parents[root] = root
        out_order[count] = root
        count += 1
        kept_next[root] = a_indptr[root]
        kept_path[0] = root
        depth = 1
        while depth:
            if turns & BATCH == 0 and kept_stop[0]:
                return STOPPED
            turns += 1
            v = kept_path[depth - 1]
            p, end, child = kept_next[v], a_indptr[v + 1], -1
            if depth > limit:
                p = end
            while p < end:
                w = a_indices[p]
                p += 1
                if out_parents[w] < 0:
                    child = w
                    break
            kept_next[v] = p
            if child < 0:
                out_finished[finished] = v
                finished += 1
                depth -= 1
                continue
            out_parents[child] = v
            out_order[count] = child
            count += 1
            kept_next[child] = a_indptr[child]
            kept_path[depth] = child
            depth += 1
    return count


def find_cycle(
    a_indptr,
    a_indices,
    a_edges,
    a_roots,
    kept_colors,
    kept_next,
    kept_path,
    kept_entries,
    kept_stop,
):
    """Search depth-first from each root until an entry leads back to a vertex on the path.

    a_edges[p] is the number of the edge of entry p; the two entries of an undirected edge have the
    same number. The search does not go back along the edge by which it came. All colors are 0 at
    first. They become 1 on the path, and 2 when the search leaves a vertex. kept_entries[v] is the
    entry that led to v. Return the number of vertices on `kept_path`, whose last vertex has the
    entry `kept_next[0]` back to the path. Return 0 if there is no cycle.
    """
    turns = 0
    for root in a_roots:
        if kept_colors[root]:
            continue
        kept_colors[root] = 1
        kept_next[root] = a_indptr[root]
        kept_path[0] = root
        depth = 1
        while depth:
            if turns & BATCH == 0 and kept_stop[0]:
                return STOPPED
            turns += 1
            v = kept_path[depth - 1]
            came = a_edges[kept_entries[v]] if depth > 1 else -1
            p, end, child = kept_next[v], a_indptr[v + 1], -1
            while p < end:
                w = a_indices[p]
                if kept_colors[w] == 0:
                    child = w
                    kept_entries[w] = p
                elif kept_colors[w] == 1 and a_edges[p] != came:
                    kept_next[0] = p
                    return depth
                p += 1
                if child >= 0:
                    break
            kept_next[v] = p
            if child < 0:
                kept_colors[v] = 2
                depth -= 1
                continue
            kept_colors[child] = 1
            kept_next[child] = a_indptr[child]
            kept_path[depth] = child
            depth += 1
    return 0


def goes_before(kept_keys, kept_heap, i, j):
    """Return whether element i of the heap goes before element j."""
    if kept_keys[i] != kept_keys[j]:
        return kept_keys[i] < kept_keys[j]
    return kept_heap[2 * i] < kept_heap[2 * j]


def swap(kept_keys, kept_heap, i, j):
    """Swap two elements of the heap."""
    key, mark, item = kept_keys[i], kept_heap[2 * i], kept_heap[2 * i + 1]
    kept_keys[i] = kept_keys[j]
    kept_heap[2 * i], kept_heap[2 * i + 1] = kept_heap[2 * j], kept_heap[2 * j + 1]
    kept_keys[j], kept_heap[2 * j], kept_heap[2 * j + 1] = key, mark, item


def nearest_first(
    a_indptr,
    a_indices,
    a_values,
    a_cutoff,
    out_order,
    out_lengths,
    out_parents,
    kept_keys,
    kept_heap,
    kept_stop,
    count,
    target,
):
    """Run Dijkstra's algorithm from the first `count` vertices in `out_order`.

    `out_order` receives the vertices in the order of their lengths; equal lengths are ordered by
    the time when they were found. Each source is its own parent and has length 0. The parents of
    all other vertices are -1 at first. Lengths above `a_cutoff[0]` are ignored. The search ends
    when the length of `target` is final, if that is not -1. Return the number of final lengths.

    Element i of the heap consists of a length `kept_keys[i]`, a number `kept_heap[2 * i]` that
    increases with each insertion, and a vertex `kept_heap[2 * i + 1]`. The heap has room for each
    source and each entry.
    """
    size, mark, final = count, count, 0
    for t in range(count):
        kept_keys[t] = 0
        kept_heap[2 * t] = t
        kept_heap[2 * t + 1] = out_order[t]
    while size:
        if size & BATCH == 0 and kept_stop[0]:
            return STOPPED
        v, length = kept_heap[1], kept_keys[0]
        size -= 1
        swap(kept_keys, kept_heap, 0, size)
        i, j = 0, 1
        while j < size:
            if j + 1 < size and goes_before(kept_keys, kept_heap, j + 1, j):
                j += 1
            if not goes_before(kept_keys, kept_heap, j, i):
                break
            swap(kept_keys, kept_heap, i, j)
            i, j = j, 2 * j + 1
        if length > out_lengths[v]:  # a shorter length was found after this insertion
            continue
        out_order[final] = v
        final += 1
        if v == target:
            break
        for p in range(a_indptr[v], a_indptr[v + 1]):
            w = a_indices[p]
            reached = length + a_values[p]
            if reached > a_cutoff[0] or (out_parents[w] >= 0 and reached >= out_lengths[w]):
                continue
            out_lengths[w] = reached
            out_parents[w] = v
            i, size = size, size + 1
            kept_keys[i] = reached
            kept_heap[2 * i] = mark
            kept_heap[2 * i + 1] = w
            mark += 1
            while i and goes_before(kept_keys, kept_heap, i, (i - 1) // 2):
                swap(kept_keys, kept_heap, i, (i - 1) // 2)
                i = (i - 1) // 2
    return final
