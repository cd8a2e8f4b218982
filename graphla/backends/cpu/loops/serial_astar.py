"""A* search: a search for a single target, guided by estimates of the remaining distance.

This loop also runs as plain Python on lists (see `serial`).
"""

BATCH = 1023
STOPPED = -2


def goes_before(kept_keys, kept_items, i, j):
    """Return whether element i of the heap goes before element j."""
    if kept_keys[2 * i] != kept_keys[2 * j]:
        return kept_keys[2 * i] < kept_keys[2 * j]
    return kept_items[3 * i] < kept_items[3 * j]


def swap(kept_keys, kept_items, i, j):
    """Swap two elements of the heap."""
    for k in range(2):
        key = kept_keys[2 * i + k]
        kept_keys[2 * i + k] = kept_keys[2 * j + k]
        kept_keys[2 * j + k] = key
    for k in range(3):
        item = kept_items[3 * i + k]
        kept_items[3 * i + k] = kept_items[3 * j + k]
        kept_items[3 * j + k] = item


def search(
    a_indptr,
    a_indices,
    a_values,
    a_estimates,
    out_parents,
    kept_lengths,
    kept_keys,
    kept_items,
    kept_stop,
    source,
    target,
    room,
):
    """Run A* from `source`, until the target leaves the heap (Hart, Nilsson and Raphael, 1968).

    a_estimates[v] estimates the distance from v to the target. The last element of `a_estimates` is
    the maximum length of a path. `out_parents` is -1 at first, and receives the parents; the source
    is its own parent. kept_lengths[v] is the length of the best known path to v, and -1 at first.
    The heap has `room` elements. Return 1 if the target was found, 0 if there is no path, and -1 if
    the heap is full.

    Each element of the heap stands for a path from the source to some vertex v. Element i consists
    of:
    - kept_keys[2 * i]: the length of the path plus the estimated distance from v to the target;
    - kept_keys[2 * i + 1]: the length of the path;
    - kept_items[3 * i]: the number of earlier insertions into the heap;
    - kept_items[3 * i + 1]: v;
    - kept_items[3 * i + 2]: the parent of v on the path.
    """
    most = a_estimates[len(a_estimates) - 1]
    kept_keys[0] = 0
    kept_keys[1] = 0
    kept_items[0] = 0
    kept_items[1] = source
    kept_items[2] = source
    kept_lengths[source] = 0
    size, mark, turns = 1, 1, 0
    while size:
        if turns & BATCH == 0 and kept_stop[0]:
            return STOPPED
        turns += 1
        length, v, parent = kept_keys[1], kept_items[1], kept_items[2]
        size -= 1
        swap(kept_keys, kept_items, 0, size)
        i, j = 0, 1
        while j < size:
            if j + 1 < size and goes_before(kept_keys, kept_items, j + 1, j):
                j += 1
            if not goes_before(kept_keys, kept_items, j, i):
                break
            swap(kept_keys, kept_items, i, j)
            i, j = j, 2 * j + 1
        if out_parents[v] >= 0 and length > kept_lengths[v]:
            continue
        out_parents[v] = parent
        if v == target:
            return 1
        for p in range(a_indptr[v], a_indptr[v + 1]):
            w = a_indices[p]
            reached = length + a_values[p]
            if kept_lengths[w] >= 0 and kept_lengths[w] <= reached:
                continue
            if reached + a_estimates[w] > most:
                continue
            if size == room:
                return -1
            kept_lengths[w] = reached
            i, size = size, size + 1
            kept_keys[2 * i] = reached + a_estimates[w]
            kept_keys[2 * i + 1] = reached
            kept_items[3 * i] = mark
            kept_items[3 * i + 1] = w
            kept_items[3 * i + 2] = v
            mark += 1
            while i and goes_before(kept_keys, kept_items, i, (i - 1) // 2):
                swap(kept_keys, kept_items, i, (i - 1) // 2)
                i = (i - 1) // 2
    return 0
