"""Requests for communities, colorings and matchings of a graph. All matrices are symmetric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.backends.requests import CommunityMoves, Gains, GreedyMergers, Rounds
from graphla.formats import Array, Csr
from graphla.operations import hashed_random
from graphla.operations.accelerate.request import full, lift
from graphla.operations.operation import perform
from graphla.stores import MatrixStore, VectorStore
from semirings.dtypes import INT32, INT64, DataType

__all__ = [
    "Contraction",
    "Gains",
    "GreedyColoring",
    "LabelPropagation",
    "Matching",
    "Mergers",
    "MoveCommunities",
    "RefineCommunities",
    "Rounds",
    "SettleLabels",
]


@dataclass(frozen=True, slots=True)
class LabelPropagation:
    """The labels after at most `rounds` rounds of label propagation.

    In each round a vertex takes the label that has the largest total weight among its neighbors.
    All vertices change at once if `stream_of` is None. Otherwise random bits decide which
    vertices change first, and stream_of(k) is the counter for the random bits of round k.
    """

    W: Any
    labels: Any
    rounds: int
    stream_of: Callable[[int], int] | None = None

    def run(self) -> Any:
        """Return the labels as a full Vector."""
        w, labels = self.W._read(), self.labels._read()
        return lift(
            self.W, perform("propagate", _propagate, w, labels, self.rounds, self.stream_of)
        )


@dataclass(frozen=True, slots=True)
class SettleLabels:
    """The labels after at most `rounds` rounds in which vertices change one after another.

    turns_of(k) returns the order of the vertices in round k, and a salt below 2^31 for each vertex.
    A vertex takes the label with the largest total weight in its row of W, and keeps its own label
    if that has the largest weight. If several other labels tie, the salt of the vertex decides. The
    reserved salt 2^15 selects the largest of these labels. Any other salt selects the label for
    which a hash of the label and the salt is largest.
    """

    W: Any
    labels: Any
    turns_of: Callable[[int], tuple[Array, Array]]
    rounds: int

    def run(self) -> Any:
        """Return the labels as a full Vector, or None if the device has no such loop."""
        w, labels = self.W._read(), self.labels._read()
        return lift(self.W, perform("settle", _settle, w, labels, self.turns_of, self.rounds))


@dataclass(frozen=True, slots=True)
class MoveCommunities:
    """The request for communities, which are found by moving vertices to raise the modularity.

    L is a matrix of edge weights, and L(v, c) is the sum of L(v, u) over the vertices u of
    community c. The vectors `out` and `into` hold the total weights of the edges out of and into
    each vertex; for a community they are summed over its vertices. The gain of vertex v in a
    community c (without v) is L(v, c) - factor·(out(v)·into(c) + into(v)·out(c)). The vertex moves
    only if its gain in another community exceeds its gain in its own community by more than
    margin·(out(v) + into(v)). Initially the communities are those of `start`; None makes each
    vertex its own community.
    """

    L: Any
    out: Any
    into: Any
    factor: float
    margin: float
    seed: int
    rounds: Rounds | None  # None on the CPU, which moves one vertex after another
    start: Any = None

    def run(self) -> Any:
        """Return the communities as a full Vector."""
        start = () if self.start is None else (self.start,)
        stores = (x._read() for x in (self.L, self.out, self.into, *start))
        return lift(self.L, perform("move", self._move, *stores))

    def _move(self, l: MatrixStore, *vectors: VectorStore) -> VectorStore | None:
        do = backend(l.device)
        return _widen(l.device, do.move_communities(_moves(self, l, *vectors)), INT32)


@dataclass(frozen=True, slots=True)
class RefineCommunities:
    """The request to divide each community of `start` into well-connected parts.

    Initially each vertex is its own part. A vertex that is still alone in its part joins another
    part of its community, if that raises the modularity. Parameters are as in `MoveCommunities`.
    """

    L: Any
    out: Any
    into: Any
    start: Any
    factor: float
    margin: float
    seed: int
    rounds = None

    def run(self) -> Any:
        """Return the part of each vertex as a full Vector, or None if there is no such loop."""
        stores = (x._read() for x in (self.L, self.out, self.into, self.start))
        return lift(self.L, perform("refine", self._refine, *stores))

    def _refine(self, l: MatrixStore, *vectors: VectorStore) -> VectorStore | None:
        do = backend(l.device)
        return _widen(l.device, do.refine_communities(_moves(self, l, *vectors)), INT32)


@dataclass(frozen=True, slots=True)
class Mergers:
    """The request for greedy mergers of communities, as `GreedyMergers` describes.

    D holds the gains of mergers. D and the vectors are on the CPU.
    """

    D: Any
    out: Any
    into: Any
    resolution: float
    fewest: int
    most: int

    def run(self) -> Any:
        """Return an array of pairs (u, v), or None if no compiled loop can be used."""
        stores = (x._read() for x in (self.D, self.out, self.into))
        return perform("merge", self._merge, *stores)

    def _merge(self, d: MatrixStore, out: VectorStore, into: VectorStore) -> Array | None:
        sums = out.dense().values, into.dense().values
        limits = self.resolution, self.fewest, self.most
        return backend("cpu").merge_greedily(GreedyMergers(d.csr, *sums, *limits))


@dataclass(frozen=True, slots=True)
class Contraction:
    """The request for the product SᵀLS, where L is a symmetric FP64 matrix and S(i, labels(i)) = 1.
    The product merges all vertices with the same label into one vertex. Labels are integers from 0
    to `count` - 1."""

    L: Any
    labels: Any
    count: int

    def run(self) -> Any:
        """Return SᵀLS. Its entry (a, b) is the sum of all L(i, j) where i has label a and j has
        label b."""
        l, labels = self.L._read(), self.labels._read()
        return lift(self.L, perform("contract", _contract, l, labels, self.count))


@dataclass(frozen=True, slots=True)
class GreedyColoring:
    """The request for a greedy coloring.

    The vector `numbers` holds distinct numbers, one per vertex. The color c(i) is the smallest
    color that differs from the colors of all neighbors of i with a larger number.
    """

    A: Any
    numbers: Any

    def run(self) -> Any:
        """Return the colors as a full Vector."""
        return lift(self.A, perform("color", _color, self.A._read(), self.numbers._read()))


@dataclass(frozen=True, slots=True)
class Matching:
    """The request for a maximal matching, which gives each matched vertex a mate.

    Edges are taken in order of decreasing weight; `seed` determines the order of edges of equal
    weight.
    """

    A: Any
    is_weighted: bool
    seed: int

    def run(self) -> Any:
        """Return the mates as a full Vector; a vertex without a mate has -1."""
        return lift(self.A, perform("match", _match, self.A._read(), self.is_weighted, self.seed))


def _propagate(
    w: MatrixStore, labels: VectorStore, rounds: int, stream_of: Callable[[int], int] | None
) -> VectorStore | None:
    start = labels.dense().values.astype(np.int32)
    found = backend(w.device).propagate_labels(w.csr, start, rounds, stream_of)
    return _widen(w.device, found, labels.dtype)


def _settle(
    w: MatrixStore, labels: VectorStore, turns_of: Callable[[int], tuple[Array, Array]], rounds: int
) -> VectorStore | None:
    do, start = backend(w.device), labels.dense().values.astype(np.int32)
    back = w.csr if w.is_symmetric else w.csc
    return _widen(w.device, do.settle_labels(w.csr, back, start, turns_of, rounds), labels.dtype)


def _moves(
    given: MoveCommunities | RefineCommunities,
    l: MatrixStore,
    out: VectorStore,
    into: VectorStore,
    start: VectorStore | None = None,
) -> CommunityMoves:
    csr = l.csr
    words = partial(hashed_random.words, l.nrows, given.seed, like=csr.indptr)
    first = None if start is None else start.dense().values.astype(np.int32)
    weights = out.dense().values, into.dense().values
    return CommunityMoves(csr, *weights, given.factor, given.margin, words, given.rounds, first)


def _contract(l: MatrixStore, labels: VectorStore, count: int) -> MatrixStore:
    found = backend(l.device).contract(l.csr, labels.dense().values, count)
    return MatrixStore(l.device, l.dtype, found)


def _color(a: MatrixStore, numbers: VectorStore) -> VectorStore | None:
    found = backend(a.device).color(a.csr, numbers.dense().values)
    return _widen(a.device, found, INT64)


def _match(a: MatrixStore, is_weighted: bool, seed: int) -> VectorStore | None:
    csr = a.csr
    if not is_weighted:
        ones = np.broadcast_to(np.ones_like(csr.indptr, np.int8, shape=1), csr.indices.shape)
        csr = Csr(a.nrows, a.ncols, csr.indptr, csr.indices, ones)
    words = hashed_random.words(a.nrows, seed, like=csr.indptr)
    return _widen(a.device, backend(a.device).match(csr, words), INT64)


def _widen(device: str, values: Array | None, dtype: DataType) -> VectorStore | None:
    """Return the storage of a full vector with these integers, cast to `dtype`. If `values` is
    None, return None."""
    return full(device, dtype, None if values is None else values.astype(dtype.np_type, copy=False))
