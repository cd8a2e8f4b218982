"""Find vertex orders for greedy coloring, and run greedy colorings whose order or colors depend on
the colors chosen so far.

The matrices are symmetric. Each heap is a binary heap of integers, with the smallest one first. An
element is q * n + r with 0 <= r < n, where n is the number of vertices: r stands for a vertex, and
q is its priority; the smallest q comes first. If the q of a vertex decreases, the loop inserts a
new element. The old element leaves the heap later; the loop then skips it, because the vertex is
already done. So a heap needs room for n elements plus one element for each entry of the matrix.

These loops also run as plain Python on lists (see `serial`).
"""

BATCH = 1023
STOPPED = -1


def insert(kept_heap, size, item):
    """Add an item to a heap of `size` items."""
    i = size
    while i and item < kept_heap[(i - 1) // 2]:
        kept_heap[i] = kept_heap[(i - 1) // 2]
        i = (i - 1) // 2
    kept_heap[i] = item


def remove_first(kept_heap, size):
    """Remove the first item of a heap of size + 1 items, and store it at position `size`."""
    first, item, i = kept_heap[0], kept_heap[size], 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and kept_heap[child + 1] < kept_heap[child]:
            child += 1
        if item <= kept_heap[child]:
            break
        kept_heap[i] = kept_heap[child]
        i = child
    kept_heap[i] = item
    kept_heap[size] = first


def smallest_last(a_indptr, a_indices, out_order, kept_degrees, kept_heap, kept_stop):
    """Fill `out_order` from its end: repeatedly remove a vertex of least remaining degree.

    Among several such vertices, the first one is removed. There are no self-loops. `kept_degrees`
    holds the degrees; the degree of a removed vertex becomes -1.
    """
    n = len(out_order)
    size, place = 0, n
    for v in range(n):
        insert(kept_heap, size, kept_degrees[v] * n + v)
        size += 1
    while place:
        size -= 1
        remove_first(kept_heap, size)
        if size & BATCH == 0 and kept_stop[0]:
            return STOPPED
        v = kept_heap[size] % n
        if kept_degrees[v] < 0:
            continue
        place -= 1
        out_order[place] = v
        kept_degrees[v] = -1
        for p in range(a_indptr[v], a_indptr[v + 1]):
            w = a_indices[p]
            if kept_degrees[w] >= 0:
                kept_degrees[w] -= 1
                insert(kept_heap, size, kept_degrees[w] * n + w)
                size += 1
    return 0


def independent_sets(
    a_indptr, a_indices, out_order, kept_states, kept_degrees, kept_heap, kept_stop
):
    """List the vertices of maximal independent sets.

    Each set is maximal in the graph without the earlier sets. A set is built by choosing a vertex
    of least degree and removing its neighbors from the graph, until the graph is empty. Among
    several vertices of least degree, the first one is chosen. `kept_states` is 0 at first. It
    becomes 1 for a vertex that is removed while the current set is built, and 2 for a vertex of a
    set. `out_order` receives the vertices of the sets.
    """
    n = len(out_order)
    count = 0
    while count < n:
        size = 0
        for v in range(n):
            if kept_states[v] == 1:
                kept_states[v] = 0
        for v in range(n):
            if kept_states[v] == 0:
                degree = 0
                for p in range(a_indptr[v], a_indptr[v + 1]):
                    w = a_indices[p]
                    if kept_states[w] == 0:
                        degree += 2 if w == v else 1  # a self-loop counts twice
                kept_degrees[v] = degree
                insert(kept_heap, size, degree * n + v)
                size += 1
        while size:
            size -= 1
            remove_first(kept_heap, size)
            if size & BATCH == 0 and kept_stop[0]:
                return STOPPED
            v = kept_heap[size] % n
            if kept_states[v] != 0:
                continue
            kept_states[v] = 2
            out_order[count] = v
            count += 1
            for p in range(a_indptr[v], a_indptr[v + 1]):
                w = a_indices[p]
                if kept_states[w] != 0:
                    continue
                kept_states[w] = 1
                for k in range(a_indptr[w], a_indptr[w + 1]):
                    x = a_indices[k]
                    if kept_states[x] == 0:
                        kept_degrees[x] -= 1
                        insert(kept_heap, size, kept_degrees[x] * n + x)
                        size += 1
    return 0


def saturation(
    a_indptr,
    a_indices,
    a_ranks,
    a_by_rank,
    out_colors,
    kept_seen,
    kept_counts,
    kept_marks,
    kept_heap,
    kept_stop,
):
    """Color the vertices in the order of saturation (D. Brelaz, 1979): repeatedly color a vertex
    whose neighbors have the largest number of distinct colors.

    Among several such vertices, the one of least rank is colored. Each vertex gets the smallest
    color that no neighbor has. `a_ranks` holds the ranks of the vertices, and `a_by_rank` lists the
    vertices by rank. `out_colors` is -1 at first. `kept_counts[v]` is the number of distinct colors
    of the neighbors of v; these colors are at the beginning of the row of v in `kept_seen`. To mark
    the colors of the neighbors of the next vertex, the loop sets their elements of `kept_marks` to
    the number of uncolored vertices. Counts and marks are 0 at first, and there are n + 1 marks.
    """
    n = len(out_colors)
    size, left = 0, n
    for v in range(n):
        insert(kept_heap, size, n * n + a_ranks[v])
        size += 1
    while left:
        size -= 1
        remove_first(kept_heap, size)
        if size & BATCH == 0 and kept_stop[0]:
            return STOPPED
        v = a_by_rank[kept_heap[size] % n]
        if out_colors[v] >= 0:
            continue
        for k in range(a_indptr[v], a_indptr[v] + kept_counts[v]):
            kept_marks[kept_seen[k]] = left
        color = 0
        while kept_marks[color] == left:
            color += 1
        out_colors[v] = color
        left -= 1
        for p in range(a_indptr[v], a_indptr[v + 1]):
            w = a_indices[p]
            if out_colors[w] >= 0:
                continue
            k, end = a_indptr[w], a_indptr[w] + kept_counts[w]
            while k < end and kept_seen[k] != color:
                k += 1
            if k == end:
                kept_seen[end] = color
                kept_counts[w] += 1
                insert(kept_heap, size, (n - kept_counts[w]) * n + a_ranks[w])
                size += 1
    return 0


def interchange(
    a_indptr, a_indices, a_order, out_colors, kept_marks, kept_visits, kept_chain, kept_stop
):
    """Color the vertices in the given order, and exchange two colors if that avoids a new one.

    A vertex gets the smallest color that no neighbor has. If this color is new, the loop looks for
    two colors c and d such that no path of vertices of these colors connects a neighbor of color c
    to a neighbor of color d. It then exchanges c and d on all such paths from neighbors of color c,
    and gives the vertex the color c (Syslo, Deo and Kowalik, 1983). The loop tries the pairs with
    c < d in lexicographic order.

    `out_colors` is -1 at first. `kept_marks[c]` is t + 1 if the t-th vertex has a neighbor of color
    c, and `kept_visits[v]` is k if the k-th search visited v; both are 0 at first. `kept_chain`
    lists the visited vertices.
    """
    most, searches = 0, 0
    for t in range(len(out_colors)):
        if t & BATCH == 0 and kept_stop[0]:
            return STOPPED
        v = a_order[t]
        begin, end = a_indptr[v], a_indptr[v + 1]
        for p in range(begin, end):
            if out_colors[a_indices[p]] >= 0:
                kept_marks[out_colors[a_indices[p]]] = t + 1
        color = 0
        while kept_marks[color] == t + 1:
            color += 1
        c, is_apart = 0, color <= most
        while not is_apart and c < most:
            d = c + 1
            while not is_apart and d <= most:
                if kept_stop[0]:
                    return STOPPED
                searches += 1
                size, i = 0, 0
                for p in range(begin, end):
                    w = a_indices[p]
                    if out_colors[w] == c and kept_visits[w] != searches:
                        kept_visits[w] = searches
                        kept_chain[size] = w
                        size += 1
                while i < size:
                    u = kept_chain[i]
                    i += 1
                    for p in range(a_indptr[u], a_indptr[u + 1]):
                        w = a_indices[p]
                        if out_colors[w] == c + d - out_colors[u] and kept_visits[w] != searches:
                            kept_visits[w] = searches
                            kept_chain[size] = w
                            size += 1
                is_apart = True
                for p in range(begin, end):
                    w = a_indices[p]
                    if out_colors[w] == d and kept_visits[w] == searches:
                        is_apart = False
                if is_apart:
                    for i in range(size):
                        u = kept_chain[i]
                        out_colors[u] = c + d - out_colors[u]
                    color = c
                d += 1
            c += 1
        out_colors[v] = color
        most = max(most, color)
    return 0
