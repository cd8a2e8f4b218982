"""Label propagation, and the moves of Louvain's method: the host side of `loops/communities`."""

from __future__ import annotations

import numpy as np

from graphla.backends.cpu.operands import cut, threads_worth, values_of
from graphla.compilers import numba_ops
from graphla.compilers.numba import load
from graphla.compilers.threads import abandonable, apart, run
from graphla.formats import Array, Csr, is_iso


def propagated(links: Csr, labels: Array, rounds: int, threads: int) -> Array:
    """Labels after so many rounds."""
    n = links.nrows
    stop = np.zeros(1, np.int64)
    if is_iso(links.values):  # then it is enough to count
        values, step, sums = np.ones(1, np.int64), 0, np.int64
    else:
        (values, step), sums = values_of(links.values), np.float64
    longest = int(np.diff(links.indptr).max(initial=0))
    is_large = threads_worth(links.nvals + n, threads) > 1
    parts = cut(np.diff(links.indptr) + 1, threads) if is_large else [(0, n)]
    scratch = [(np.zeros(n, sums), np.empty(longest, np.int32)) for _ in parts]
    rows = (links.indptr, links.indices, values)
    loop = load(
        "communities.popular", (numba_ops.nothing,), (*rows, labels, labels, *scratch[0], stop)
    )

    def propagate() -> Array:
        now, other = labels.copy(), labels.copy()  # other has the labels of a round ago
        for k in range(rounds):
            calls = [
                (now, other, *own, stop, step, *part)
                for own, part in zip(scratch, parts, strict=True)
            ]
            differs = run(lambda *each: loop(*rows, *each), calls, threads, stop)
            if not any(each & 2 for each in differs):
                return other if (rounds - k) % 2 else now
            now, other = other, now
        return now

    return apart(propagate, stop, threads) if n else labels


def moved(links: Csr, out: Array, into: Array, factor: float, words: Array) -> Array:
    """The community of each vertex once none gains by moving."""
    n = links.nrows
    community = np.arange(n, dtype=np.int32)
    degrees, order = np.stack([out, into]), abandonable(words.argsort, n).astype(np.int32)
    totals = np.ascontiguousarray(degrees.T)
    values, step = values_of(links.values)
    longest = int(np.diff(links.indptr).max(initial=0))
    stop = np.zeros(1, np.int64)
    arrays = (
        *(links.indptr, links.indices, values, degrees, np.array([factor])),
        *(order, community, totals, np.zeros(n), np.empty(longest, np.int32)),
        *(np.empty(n, np.int32), np.empty(n, np.bool_), stop),
    )
    loop = load("communities.move", (numba_ops.nothing,), arrays)
    apart(lambda: loop(*arrays, step), stop, 1)
    return community
