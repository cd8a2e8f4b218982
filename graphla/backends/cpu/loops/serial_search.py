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

    Initially the levels of these sources are 0, and the levels of all other vertices are -1. Each
    source is its own parent. `out_order` receives the vertices in the order of discovery. `limit`
    is the maximum level, and -1 sets no bound. If `target` is not -1, the search ends when it
    discovers `target`. Return the number of discovered vertices.
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
    `out_finished` receives them in the order in which the search leaves them. A root is its own
    parent. The search does not continue from vertices that are `limit` edges below their root.
    Return the number of discovered vertices.
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

    Entry p of the matrix belongs to edge a_edges[p]; an undirected edge has two entries. The search
    does not return along the edge by which it reached a vertex. The color of each vertex is 0 at
    first, 1 while the vertex is on the path, and 2 after the search has left it. kept_entries[v] is
    the entry that led to v. Return the number of vertices on `kept_path`; the entry kept_next[0]
    leads from the last of these vertices back to the path. Return 0 if there is no cycle.
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


def insert(kept_keys, kept_heap, base, size, mark, v):
    """Insert vertex v into the heap of `size` elements that begins at `base`. The caller has stored
    the key of v in kept_keys[base + size]."""
    i = size
    kept_heap[2 * (base + i)] = mark
    kept_heap[2 * (base + i) + 1] = v
    while i:
        parent = (i - 1) // 2
        if not goes_before(kept_keys, kept_heap, base + i, base + parent):
            break
        swap(kept_keys, kept_heap, base + i, base + parent)
        i = parent


def remove_first(kept_keys, kept_heap, base, size):
    """Remove the first element of a heap of size + 1 elements, and store it at position `size` of
    the heap."""
    swap(kept_keys, kept_heap, base, base + size)
    i, j = 0, 1
    while j < size:
        if j + 1 < size and goes_before(kept_keys, kept_heap, base + j + 1, base + j):
            j += 1
        if not goes_before(kept_keys, kept_heap, base + j, base + i):
            break
        swap(kept_keys, kept_heap, base + i, base + j)
        i, j = j, 2 * j + 1


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

    `out_order` receives the vertices in order of distance. Vertices at equal distance are in the
    order in which the search found these distances. Each source is its own parent and has distance
    0. The parents of all other vertices are -1 at first. Paths longer than `a_cutoff[0]` are
    ignored. If `target` is not -1, the search ends when the distance of `target` is final. Return
    the number of final distances.

    Element i of the heap consists of a path length `kept_keys[i]`, a number `kept_heap[2 * i]` that
    increases with each insertion, and a vertex `kept_heap[2 * i + 1]`. The heap has room for one
    element per source and per matrix entry.
    """
    size, mark, final, turns = count, count, 0, 0
    for t in range(count):
        kept_keys[t] = 0
        kept_heap[2 * t] = t
        kept_heap[2 * t + 1] = out_order[t]
    while size:
        if turns & BATCH == 0 and kept_stop[0]:
            return STOPPED
        turns += 1
        v, length = kept_heap[1], kept_keys[0]
        size -= 1
        remove_first(kept_keys, kept_heap, 0, size)
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
            kept_keys[size] = reached
            insert(kept_keys, kept_heap, 0, size, mark, w)
            size += 1
            mark += 1
    return final


def meet(a_indptr, a_indices, out_parents, kept_queue, kept_stop, source, target, shift):
    """Search level by level from both ends. Each step searches the next level from the end whose
    last level has fewer vertices.

    `out_parents` has 2 n elements, where n is the number of vertices. All elements are -1 at first.
    The first n elements receive the parents in the search from `source`, and the other n elements
    those in the search from `target`. `source` and `target` are their own parents. The search from
    `target` reads row v + shift for vertex v. `shift` is 0 if the graph is undirected. Otherwise
    `shift` is n, and row n + v contains the predecessors of v. Return a vertex that both searches
    have found, or -2 if there is none.
    """
    n = len(out_parents) // 2
    kept_queue[0] = source
    kept_queue[n] = target
    out_parents[source] = source
    out_parents[n + target] = target
    if source == target:
        return source
    begin, end, other_begin, other_end = 0, 1, n, n + 1
    while begin < end and other_begin < other_end:
        if kept_stop[0]:
            return STOPPED
        is_forward = end - begin <= other_end - other_begin
        first, last, base = (begin, end, 0) if is_forward else (other_begin, other_end, n)
        size = last
        for t in range(first, last):
            v = kept_queue[t]
            row = v if is_forward else v + shift
            for p in range(a_indptr[row], a_indptr[row + 1]):
                w = a_indices[p]
                if out_parents[base + w] < 0:
                    out_parents[base + w] = v
                    kept_queue[size] = w
                    size += 1
                if out_parents[n - base + w] >= 0:
                    return w
        if is_forward:
            begin, end = last, size
        else:
            other_begin, other_end = last, size
    return -2


def meet_nearest(
    a_indptr,
    a_indices,
    a_values,
    out_lengths,
    out_parents,
    kept_keys,
    kept_heap,
    kept_stop,
    source,
    target,
    shift,
):
    """Run Dijkstra's algorithm alternately from both ends until both have settled the same vertex.

    The arguments are those of `meet`, and a_values[e] is the length of entry e. If p is the parent
    of a vertex x, out_parents[x] is p while the length of x is not final, and -2 - p afterwards.
    Each search has half of the heap. Return the vertex on a shortest path at which the searches
    meet, or -2 if there is no path.
    """
    n, half = len(out_parents) // 2, len(kept_keys) // 2
    mark, meeting, best, turns = 2, -2, out_lengths[0], 0
    size, other = 1, 1
    for base, start, end in ((0, 0, source), (n, half, target)):
        out_lengths[base + end] = 0
        out_parents[base + end] = end
        kept_keys[start] = 0
        kept_heap[2 * start] = 0 if base == 0 else 1
        kept_heap[2 * start + 1] = end
    base, start, back = 0, 0, 0
    while size and other:
        if turns & BATCH == 0 and kept_stop[0]:
            return STOPPED
        turns += 1
        v, length = kept_heap[2 * start + 1], kept_keys[start]
        size -= 1
        remove_first(kept_keys, kept_heap, start, size)
        if out_parents[base + v] >= 0:
            out_parents[base + v] = -2 - out_parents[base + v]
            if out_parents[n - base + v] < -1:
                return meeting
            for p in range(a_indptr[v + back], a_indptr[v + back + 1]):
                w = a_indices[p]
                reached = length + a_values[p]
                known = out_parents[base + w]
                if known < -1 or (known >= 0 and reached >= out_lengths[base + w]):
                    continue
                out_lengths[base + w] = reached
                out_parents[base + w] = v
                kept_keys[start + size] = reached
                insert(kept_keys, kept_heap, start, size, mark, w)
                size += 1
                mark += 1
                if out_parents[n - base + w] != -1:
                    whole = reached + out_lengths[n - base + w]
                    if meeting < 0 or whole < best:
                        best, meeting = whole, w
        size, other = other, size
        base, start, back = n - base, half - start, shift - back
    return -2
