"""Requests to a backend to compute degrees, PageRank, or the dependencies of shortest paths."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from graphla.backends import backend, requests
from graphla.formats import Csr
from graphla.operations.accelerate.batches import batches
from graphla.operations.accelerate.request import full, lift
from graphla.operations.operation import perform
from graphla.settings import config
from graphla.stores import MatrixStore, VectorStore
from semirings.dtypes import FP64, INT64

COST = 4
"""The cost of computing the dependencies for one source, in units of a search from one source."""


@dataclass(frozen=True, slots=True)
class Degrees:
    """The degrees of all vertices: d(i) is the number of entries in row i of A or, if `of_columns`
    is set, in column i."""

    A: Any
    of_columns: bool = False

    def run(self) -> Any:
        """Return the degree of each vertex as a full Vector of FP64."""
        return lift(self.A, perform("degree", _count_entries, self.A._read(), self.of_columns))


@dataclass(frozen=True, slots=True)
class PageRank:
    """PageRank: r' = (r ∘ share)A + (1 - α)·jump + α·d·fall, iterated from r = `rank`.

    Here d is the total rank of the dangling vertices, which are those without out-edges. For each
    vertex, `share` holds α divided by the total weight of its out-edges, or 0 if the vertex is
    dangling. `jump` holds the probability that a random jump ends at the vertex, and `fall` the
    probability that a step from a dangling vertex ends there. The iteration ends after `rounds`
    rounds, or after the first round that changes the ranks by less than `least` in total.
    """

    A: Any
    share: Any
    rank: Any
    jump: Any
    fall: Any
    alpha: float
    is_weighted: bool
    least: float
    rounds: int

    def run(self) -> tuple[Any, float] | None:
        """Return the ranks, and the total change in the last round."""
        vectors = (self.share, self.rank, self.jump, self.fall)
        stores = (x._read() for x in (self.A, *vectors))
        found = perform("pagerank", self._iterate, *stores)
        return None if found is None else (lift(self.A, found[0]), found[1])

    def _iterate(self, a: MatrixStore, *vectors: VectorStore) -> tuple[Any, float] | None:
        into, begin = a.csc, perf_counter()
        request = requests.PageRank(
            into,
            *(x.dense().values for x in vectors),
            alpha=self.alpha,
            least=self.least,
            rounds=self.rounds,
            is_weighted=self.is_weighted,
            plan=None if a.device == "cpu" else a.plan_now(),
        )
        ranks = backend(a.device).pagerank(request)
        if ranks is None:
            return None
        a.record_traversal(perf_counter() - begin)
        return full(a.device, vectors[1].dtype, ranks.values), ranks.change


class DependencySums(NamedTuple):
    """The dependencies of vertices and edges, added up over all sources.

    The dependency of a source s on a vertex or edge x is the sum, over all vertices t, of the
    fraction of the shortest paths from s to t that contain x.
    """

    # A full Vector: the dependency of each vertex, added up over all sources. Paths that begin or
    # end at the vertex do not count.
    totals: Any
    # A Matrix with the pattern of A: the dependency of each edge. None if it is not requested.
    edges: Any
    # A full Vector: for each vertex, the number of other sources that reach it. None if it is not
    # requested.
    reached: Any
    counts: np.ndarray  # the number of vertices that each source reaches, including itself


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The request to add up the dependencies of vertices (and of edges, if `of_edges` is set) over
    all sources."""

    A: Any
    sources: np.ndarray
    is_weighted: bool = False
    of_edges: bool = False
    reach: bool = False

    def run(self) -> DependencySums | None:
        """Return the sums, or None if the device has no loop or kernel that computes dependencies.

        If `config.deterministic` is set, the result on a GPU is None, because the kernel uses
        atomic additions, whose order changes from run to run.
        """
        a = self.A._read()
        if config.deterministic and a.device != "cpu":
            return None
        found = perform("betweenness", self._add_up, a)
        if found is None:
            return None
        totals, edges, reached, counts = found
        return DependencySums(
            lift(self.A, totals), lift(self.A, edges), lift(self.A, reached), counts
        )

    def _add_up(self, a: MatrixStore) -> tuple[Any, ...] | None:
        do, csr = backend(a.device), a.csr
        total, counts = None, []
        for part in batches(self.A, self.sources.size, "betweenness", cost=COST):
            begin = perf_counter()
            request = requests.Dependencies(
                csr,
                do.asarray(self.sources[part], np.int32),
                is_weighted=self.is_weighted,
                of_edges=self.of_edges,
                reach=self.reach,
                plan=None if a.device == "cpu" else a.plan_now(),
            )
            found = do.dependencies(request)
            if found is None:
                return None
            a.record_traversal(perf_counter() - begin)
            counts.append(do.to_host(found.counts))
            total = found if total is None else _add(total, found)
        assert total is not None
        edges = None
        if total.edges is not None:
            values = Csr(a.nrows, a.ncols, csr.indptr, csr.indices, total.edges)
            edges = MatrixStore(a.device, FP64, values)
        totals, reached = full(a.device, FP64, total.totals), full(a.device, INT64, total.reached)
        return totals, edges, reached, np.concatenate(counts)


def _count_entries(a: MatrixStore, of_columns: bool) -> VectorStore | None:
    if of_columns and not a.has_csc:
        counts = np.bincount(a.csr.indices, minlength=a.ncols)
    else:
        counts = np.diff((a.csc if of_columns else a.csr).indptr)
    return full(a.device, FP64, counts.astype(np.float64))


def _add(
    total: requests.DependenciesResult, other: requests.DependenciesResult
) -> requests.DependenciesResult:
    """Add the dependencies of another batch to the arrays of `total`."""
    for name in ("totals", "edges", "reached"):
        array, term = getattr(total, name), getattr(other, name)
        if array is not None:
            array += term
    return total
