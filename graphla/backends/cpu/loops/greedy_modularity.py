"""Repeatedly merge the two communities whose union raises the modularity the most.

This is the method of A. Clauset, M. Newman and C. Moore (2004). Each community has a row: its
neighboring communities in ascending order, with the gain of a merger with each of them. `best`
holds the position of the largest gain in each row, and -1 for an empty row. `tree` is a binary tree
over the rows; each node holds the row with the largest gain below it. Among equal gains, the first
one is chosen.
"""

from typing import Any, NamedTuple

STOPPED = -1


class Rows(NamedTuple):
    """The rows: row v is at starts[v] to starts[v] + counts[v] - 1, with room for rooms[v]
    entries."""

    starts: Any
    counts: Any
    rooms: Any
    columns: Any
    gains: Any
    spare_columns: Any
    spare_gains: Any
    best: Any
    tree: Any


def find_best(rows, v):
    """Find the largest gain of row v."""
    first, place = rows.starts[v], -1
    for p in range(first, first + rows.counts[v]):
        if place < 0 or rows.gains[p] > rows.gains[place]:
            place = p
    rows.best[v] = place


def is_better(rows, u, v):
    """Return whether the largest gain of row u comes before that of row v. A row number of -1
    stands for no row."""
    if v < 0 or rows.best[v] < 0:
        return u >= 0 and rows.best[u] >= 0
    if u < 0 or rows.best[u] < 0:
        return False
    x, y = rows.gains[rows.best[u]], rows.gains[rows.best[v]]
    return x > y or (x == y and u < v)


def climb(rows, v):
    """Update the nodes of the tree above row v."""
    tree = rows.tree
    k = (len(tree) // 2 + v) // 2
    while k:
        left, right = tree[2 * k], tree[2 * k + 1]
        tree[k] = right if is_better(rows, right, left) else left
        k //= 2


def find_place(rows, v, column):
    """Return the position of a column in row v, or the position where it would be inserted."""
    low, high = rows.starts[v], rows.starts[v] + rows.counts[v]
    while low < high:
        middle = (low + high) // 2
        if rows.columns[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low


def replace(rows, w, old, new, gain, has_old, has_new):
    """Remove the column `old` from row w if the row has it, and set the gain of the column `new`.

    Return whether the largest gain of the row changes.
    """
    columns, gains = rows.columns, rows.gains
    was_best = columns[rows.best[w]]
    most = gains[rows.best[w]]
    if has_new:
        gains[find_place(rows, w, new)] = gain
    if has_old:
        place = find_place(rows, w, old)
        last = rows.starts[w] + rows.counts[w] - 1
        if has_new:
            for p in range(place, last):
                columns[p] = columns[p + 1]
                gains[p] = gains[p + 1]
            rows.counts[w] -= 1
        else:
            # Move the entries between the columns `old` and `new` by one place.
            while place < last and columns[place + 1] < new:
                columns[place] = columns[place + 1]
                gains[place] = gains[place + 1]
                place += 1
            while place > rows.starts[w] and columns[place - 1] > new:
                columns[place] = columns[place - 1]
                gains[place] = gains[place - 1]
                place -= 1
            columns[place] = new
            gains[place] = gain
    if was_best in (old, new) and gain <= most:
        find_best(rows, w)
    elif gain > most or (gain == most and new < was_best):
        rows.best[w] = find_place(rows, w, new)
    else:
        rows.best[w] = find_place(rows, w, was_best)
    return gains[rows.best[w]] != most


def store(rows, v, count, end):
    """Copy the first `count` spare entries to row v. Return the position where the last row
    ends."""
    columns, gains = rows.columns, rows.gains
    if count > rows.rooms[v]:
        if end + count > len(columns):
            end = compact(rows, v)
        room = min(2 * count, len(columns) - end)
        rows.starts[v] = end
        rows.rooms[v] = room
        end += room
    first = rows.starts[v]
    for p in range(count):
        columns[first + p] = rows.spare_columns[p]
        gains[first + p] = rows.spare_gains[p]
    rows.counts[v] = count
    return end


def compact(rows, skipped):
    """Move all rows except row `skipped` to the front of the arrays. Return the position where the
    last one ends.

    The spare arrays begin with the new version of row `skipped`; the other rows are first copied
    behind it.
    """
    columns, gains, end = rows.columns, rows.gains, 0
    base = len(rows.spare_columns) - len(columns)
    for v in range(len(rows.starts)):
        count = rows.counts[v] if v != skipped else 0
        first = rows.starts[v]
        for p in range(count):
            rows.spare_columns[base + end + p] = columns[first + p]
            rows.spare_gains[base + end + p] = gains[first + p]
        if rows.best[v] >= 0:
            rows.best[v] += end - first
        rows.starts[v] = end
        rows.rooms[v] = count
        end += count
    for p in range(end):
        columns[p] = rows.spare_columns[base + p]
        gains[p] = rows.spare_gains[base + p]
    return end


def merge_best(
    kept_rows: Rows,
    kept_out,
    kept_into,
    out_from,
    out_into,
    rates,
    kept_stop,
    end,
    fewest,
    most,
):
    """Merge communities until `fewest` are left, and return the number of mergers.

    The rows end at `end`. If at most `most` communities are left, only mergers that do not lower
    the modularity take place. Merger k moves community out_from[k] into community out_into[k].
    `kept_out` and `kept_into` hold the fractions of the edges out of and into each community, and
    rates[0] is the resolution.
    """
    rows, resolution = kept_rows, rates[0]
    n, mergers = len(rows.starts), 0
    for v in range(n):
        find_best(rows, v)
    half = len(rows.tree) // 2
    for v in range(half):
        rows.tree[half + v] = v if v < n else -1
    for k in range(half - 1, 0, -1):
        left, right = rows.tree[2 * k], rows.tree[2 * k + 1]
        rows.tree[k] = right if is_better(rows, right, left) else left
    while n - mergers > fewest:
        if kept_stop[0]:  # tested at each merger, because merging long rows takes a long time
            return STOPPED
        u = rows.tree[1]
        if u < 0 or rows.best[u] < 0:
            break
        v = rows.columns[rows.best[u]]
        if rows.gains[rows.best[u]] < 0 and n - mergers <= most:
            break
        out_from[mergers] = u
        out_into[mergers] = v
        mergers += 1
        i, j = rows.starts[u], rows.starts[v]
        ends = i + rows.counts[u], j + rows.counts[v]
        count = 0
        while i < ends[0] or j < ends[1]:
            x = rows.columns[i] if i < ends[0] else n
            y = rows.columns[j] if j < ends[1] else n
            w = min(x, y)
            if w in (u, v):
                i += x == w
                j += y == w
                continue
            if x < y:
                share = kept_out[v] * kept_into[w] + kept_out[w] * kept_into[v]
                gain = rows.gains[i] - resolution * share
            elif y < x:
                share = kept_out[u] * kept_into[w] + kept_out[w] * kept_into[u]
                gain = rows.gains[j] - resolution * share
            else:
                gain = rows.gains[j] + rows.gains[i]
            i += x == w
            j += y == w
            rows.spare_columns[count] = w
            rows.spare_gains[count] = gain
            count += 1
            if replace(rows, w, u, v, gain, x == w, y == w):
                climb(rows, w)
        rows.counts[u] = 0
        rows.best[u] = -1
        end = store(rows, v, count, end)
        find_best(rows, v)
        climb(rows, u)
        climb(rows, v)
        kept_out[v] += kept_out[u]
        kept_into[v] += kept_into[u]
        kept_out[u] = 0
        kept_into[u] = 0
    return mergers
