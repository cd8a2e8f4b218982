"""A spanning forest of minimum weight by Borůvka's algorithm.

For each tree, a round selects the first edge that leaves the tree, and joins the trees at its ends.
The edges are the entries of an upper triangular matrix, in order of weight; among edges of equal
weight, the first entry comes first. This order is strict, so the selected edges form no cycle.

A word denotes an edge: the upper half is the row, and the lower half is the number of the entry
within the row. So words are in the order of the entries. `words` lists the edges that may still
leave a tree. Each thread writes a separate part of this list.
"""

from typing import Any, NamedTuple

import numpy as np

from graphla.backends.cpu.loops.components import join
from graphla.backends.cpu.loops.placeholder_ops import compare_and_swap

BATCH = np.uint64(1023)
ONE = np.uint64(1)
HALF = np.uint64(32)
LOWER = np.int64(0xFFFFFFFF)
STOPPED, NONE = -2, -1
SCAN_ROWS, SCAN_WORDS, SELECT, FLATTEN = range(4)
ALL, LIGHT, HEAVY = range(3)


class Rows(NamedTuple):
    """An upper triangular matrix in CSR."""

    indptr: Any
    indices: Any
    values: Any
    step: Any  # 0 if `values` holds a single value for all entries, otherwise 1


class Trees(NamedTuple):
    """The trees that have been built so far. Between rounds, the parent of each vertex is the root
    of its tree."""

    parents: Any
    best: Any  # for each root, the word of the first edge that leaves its tree, or NONE
    # For each root, the weight of best(root). While several threads run, it may be out of date: it
    # is then the weight of an edge that was best(root) earlier in this round. That edge does not
    # come before the present best(root).
    weights: Any
    # The weight that comes last among all weights, and the one that comes last among light weights.
    bounds: Any


def comes_before(w, x, greatest):
    """Return whether weight w comes before weight x."""
    return w > x if greatest else w < x


def place_of(indptr, word):
    """Return the position of an edge in the matrix."""
    return np.uint64(indptr[np.uint64(word) >> HALF]) + np.uint64(word & LOWER)


def may_replace(held, bound, word, w, greatest):
    """Return whether an edge may come before the best edge of a tree.

    The function takes only numbers: if it took arrays, even an inlined call would update reference
    counts for each edge, and a scan would take several times as long.
    """
    is_known = (held >= 0) & (bound == w) & (held < word)
    return not (comes_before(bound, w, greatest) | is_known)


def replace(indptr, values, step, best, weights, t, word, w, greatest):
    """Atomically make the edge the best edge of tree t, unless the present best edge comes before
    it."""
    held, is_stored = best[t], False
    while not is_stored:
        if held >= 0:
            x = values[place_of(indptr, held) * step]
            if comes_before(x, w, greatest) or (x == w and held < word):
                break
        is_stored = compare_and_swap(best, t, held, word)
        held = best[t]
    if is_stored:
        weights[t] = w


def scan_rows(a: Rows, trees: Trees, words, stop_flag, greatest, which, lists, start, stop):
    """Compare the edges in rows start..stop - 1 with the best edges of the trees at their ends.

    Return the number of edges that leave a tree. `which` is ALL, LIGHT or HEAVY. If `lists` is set,
    also list these edges in `words`.
    """
    indptr, indices, values = a.indptr, a.indices, a.values
    parents, best, weights, most = trees.parents, trees.best, trees.weights, trees.bounds[1]
    step = np.uint64(a.step)
    first = kept = np.uint64(indptr[np.uint64(start)])
    for i in range(np.uint64(start), np.uint64(stop)):
        if (i - np.uint64(start)) & BATCH == 0 and stop_flag[0]:
            return STOPPED
        u = parents[i]
        begin = np.uint64(indptr[i])
        for p in range(begin, np.uint64(indptr[i + ONE])):
            w = values[p * step]
            if which != ALL and comes_before(most, w, greatest) != (which == HEAVY):
                continue
            v = parents[np.uint64(indices[p])]
            if u == v:
                continue
            word = np.int64((i << HALF) | (p - begin))
            if lists:
                words[kept] = word
            kept += ONE
            for tree in (u, v):
                t = np.uint64(tree)
                if may_replace(best[t], weights[t], word, w, greatest):
                    replace(indptr, values, step, best, weights, t, word, w, greatest)
    return np.int64(kept - first)


def scan_words(a: Rows, trees: Trees, words, stop_flag, greatest, start, stop):
    """Compare the edges in words[start:stop] with the best edges of the trees at their ends.

    Return the number of edges that leave a tree. The other edges are removed from the list.
    """
    indptr, indices, values = a.indptr, a.indices, a.values
    parents, best, weights = trees.parents, trees.best, trees.weights
    step, kept = np.uint64(a.step), np.uint64(start)
    for e in range(np.uint64(start), np.uint64(stop)):
        if (e - np.uint64(start)) & BATCH == 0 and stop_flag[0]:
            return STOPPED
        word = words[e]
        p = np.uint64(indptr[np.uint64(word) >> HALF]) + np.uint64(word & LOWER)
        u = parents[np.uint64(word) >> HALF]
        v = parents[np.uint64(indices[p])]
        if u == v:
            continue
        words[kept] = word
        kept += ONE
        w = values[p * step]
        for tree in (u, v):
            t = np.uint64(tree)
            if may_replace(best[t], weights[t], word, w, greatest):
                replace(indptr, values, step, best, weights, t, word, w, greatest)
    return np.int64(kept) - start


def grow(
    a: Rows,
    kept_trees: Trees,
    kept_words,
    out_flags,
    stop_flag,
    greatest,
    action,
    which,
    lists,
    start,
    stop,
):
    """Run a step of a round on a part of the rows, of the words, or of the vertices.

    All parts of a step must be finished before the next step begins. SELECT sets the flags of the
    selected edges in `out_flags`, and FLATTEN prepares the trees for the next round.
    """
    if action == SCAN_ROWS:
        return scan_rows(a, kept_trees, kept_words, stop_flag, greatest, which, lists, start, stop)
    if action == SCAN_WORDS:
        return scan_words(a, kept_trees, kept_words, stop_flag, greatest, start, stop)
    indptr, indices, last = a.indptr, a.indices, kept_trees.bounds[0]
    parents, best, weights = kept_trees.parents, kept_trees.best, kept_trees.weights
    for v in range(np.uint64(start), np.uint64(stop)):
        if (v - np.uint64(start)) & BATCH == 0 and stop_flag[0]:
            return STOPPED
        if action == FLATTEN:
            root = parents[v]
            while parents[np.uint64(root)] != root:
                root = parents[np.uint64(root)]
            parents[v] = root
            best[v] = NONE
            weights[v] = last
        elif best[v] >= 0:
            p = place_of(indptr, best[v])
            out_flags[p] = True
            join(parents, np.int32(best[v] >> np.int64(HALF)), indices[p])
    return 0
