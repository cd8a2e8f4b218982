"""Communities and the quality of partitions for NetworkX."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, ValuesView
from itertools import chain, pairwise
from typing import Any

import numpy as np
from networkx.algorithms.community.quality import NotAPartition

from graphla import algorithms
from graphla.algorithms._shared import validation
from graphla.algorithms.greedy_modularity_communities import follow, mergers
from graphla.algorithms.leiden import levels as leiden_levels
from graphla.algorithms.louvain import levels as louvain_levels
from graphla.graph import Graph
from graphla.networkx.graphs import (
    find_all,
    node_sets,
    nodes_of,
    pause_collection,
    with_weights,
    without_weights,
)
from graphla.settings import config
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid

Partition = list[set[Any]]

# --- Louvain and Leiden -------------------------------------------------------------------------


def louvain_communities(
    G: Graph,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 1e-7,
    max_level: int | None = None,
    seed: Any = None,
) -> Partition:
    """Implement `networkx.community.louvain_communities`."""
    _check_level(max_level)
    options = {"resolution": resolution, "threshold": threshold, "max_level": max_level}
    return _in_order(G, _levels(G, weight, seed, louvain_levels, options)[-1])


def louvain_partitions(
    G: Graph,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 1e-7,
    seed: Any = None,
) -> Iterator[Partition]:
    """Implement `networkx.community.louvain_partitions`."""
    options = {"resolution": resolution, "threshold": threshold}
    found = _levels(G, weight, seed, louvain_levels, options)
    return (_in_order(G, numbers) for numbers in found)


def leiden_communities(
    G: Graph,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
) -> Partition:
    """Implement `networkx.community.leiden_communities`."""
    _check_level(max_level)
    options = {"resolution": resolution, "max_level": max_level}
    return _in_order(G, _levels(G, weight, seed, leiden_levels, options)[-1])


def leiden_partitions(
    G: Graph, weight: str | None = "weight", resolution: float = 1, seed: Any = None
) -> Iterator[Partition]:
    """Implement `networkx.community.leiden_partitions`."""
    options = {"resolution": resolution}
    found = _levels(G, weight, seed, leiden_levels, options)
    return (_in_order(G, numbers) for numbers in found)


def _levels(
    G: Graph,
    weight: str | None,
    seed: Any,
    levels: Callable[..., Iterator[Vector]],
    options: dict[str, Any],
) -> list[np.ndarray]:
    """Return the number of the community of each node after each level.

    If there is no level, each node is a community.
    """
    A = with_weights(G, weight, parallel="sum").matrix
    _check_weights(A)
    if A.nvals and not A.reduce_scalar(monoid.plus).get(0):
        raise ZeroDivisionError("division by zero")
    with config.set(device=A.device):
        found = levels(A, True, seed=_draw(seed), directed=G.directed, **options)
        labels = [each.to_dense() for each in found]
    return labels or [np.arange(len(G))]


def _check_level(max_level: int | None) -> None:
    if max_level is not None and max_level <= 0:
        raise ValueError("max_level argument must be a positive integer or None")


# --- greedy mergers -----------------------------------------------------------------------------


def greedy_modularity_communities(
    G: Graph,
    weight: str | None = None,
    resolution: float = 1,
    cutoff: int = 1,
    best_n: int | None = None,
) -> list[Any]:
    """Implement `networkx.community.greedy_modularity_communities`."""
    A, n = with_weights(G, weight, parallel="sum").matrix.to("cpu"), len(G)
    if not A.nvals:
        return [{node} for node in G.labels]
    best_n = _check_counts(n, cutoff, best_n)
    if best_n == 1:
        return [set(G.labels)]
    _check_weights(A)
    if not A.reduce_scalar(monoid.plus).get(0):
        raise ZeroDivisionError("division by zero")
    order = _sorted_nodes(G)
    B = A if order is None else A[order, order].new()
    with config.set(device="cpu"):
        pairs = mergers(B, True, resolution, cutoff, best_n, directed=G.directed)
    labels = follow(pairs, n)
    if order is not None:
        numbers = np.empty(n, np.int64)
        numbers[order] = order[labels]
        labels = numbers
    found = sorted(map(frozenset, _in_order(G, labels)), key=len, reverse=True)
    while len(found) > best_n:  # no edges are left between communities
        found[:2] = [found[0] | found[1]]
    return found


def _check_counts(n: int, cutoff: int, best_n: int | None) -> int:
    """Check both arguments as NetworkX does. Return `best_n`, or n if it is None."""
    if cutoff < 1 or cutoff > n:
        raise ValueError(f"cutoff must be between 1 and {n}. Got {cutoff}.")
    if best_n is None:
        return n
    if best_n < 1 or best_n > n:
        raise ValueError(f"best_n must be between 1 and {n}. Got {best_n}.")
    if best_n < cutoff:
        raise ValueError(f"Must have best_n >= cutoff. Got {best_n} < {cutoff}")
    return best_n


def _sorted_nodes(G: Graph) -> np.ndarray | None:
    """Return the numbers of the nodes, sorted by node: NetworkX breaks ties in this order.

    Return None if node numbers are in this order already, or if the nodes cannot be compared.
    """
    if not G.has_names:
        return None
    try:
        return np.array(sorted(range(len(G)), key=G.labels.__getitem__), np.int64)
    except TypeError:
        return None


# --- label propagation --------------------------------------------------------------------------


def label_propagation_communities(G: Graph) -> ValuesView[set[Any]]:
    """Implement `networkx.community.label_propagation_communities`."""
    if G.is_multigraph():
        raise NotImplementedError("graphla does not count parallel edges in degrees")
    labels = algorithms.label_propagation_communities(without_weights(G).matrix)
    return dict(enumerate(node_sets(G, labels.to_dense()))).values()


def asyn_lpa_communities(
    G: Graph, weight: str | None = None, seed: Any = None
) -> Iterator[set[Any]]:
    """Implement `networkx.community.asyn_lpa_communities`."""
    A = (
        without_weights(G).matrix
        if weight is None
        else with_weights(G, weight, parallel="sum").matrix
    )
    return _propagate(G, A, weight is not None, seed)


def fast_label_propagation_communities(
    G: Graph, *, weight: str | None = None, seed: Any = None
) -> Iterator[set[Any]]:
    """Implement `networkx.community.fast_label_propagation_communities`."""
    A = with_weights(G, weight, parallel="sum").matrix
    if G.directed:
        A = binary.plus(A | A.T).new()
    return _propagate(G, A, True, seed)


def _propagate(G: Graph, A: Matrix, weight: bool, seed: Any) -> Iterator[set[Any]]:
    if weight:
        _check_weights(A)
    labels = algorithms.asyn_lpa_communities(A, weight, _draw(seed))
    return (part for part in node_sets(G, labels.to_dense()))


# --- quality ------------------------------------------------------------------------------------


def modularity(
    G: Graph,
    communities: Iterable[Any],
    weight: str | None = "weight",
    resolution: float = 1,
) -> float:
    """Implement `networkx.community.modularity`."""
    A = with_weights(
        G, weight, parallel="sum"
    ).matrix  # this must come first: it may raise an error
    listed = communities if isinstance(communities, list) else list(communities)
    labels = _labels(G, listed)
    if labels is None:
        graph: Any = G
        raise NotAPartition(graph, listed)
    if not A.nvals or not A.reduce_scalar(monoid.plus).get(0):
        raise ZeroDivisionError("division by zero")
    options = {"resolution": resolution, "directed": G.directed}
    return algorithms.modularity(A, Vector.from_dense(labels).to(A.device), True, **options)


def is_partition(G: Graph, communities: Iterable[Any]) -> bool:
    """Implement `networkx.community.is_partition`."""
    listed = communities if isinstance(communities, list) else list(communities)
    return _labels(G, listed) is not None


def partition_quality(G: Graph, partition: Any) -> tuple[float, float]:
    """Implement `networkx.community.partition_quality`."""
    labels = _partition_labels(G, partition)
    edges, inside = _count_edges(with_weights(G, None, parallel="sum").matrix, labels, G.directed)
    if G.is_multigraph():
        return inside / edges, -1.0
    if not edges or len(G) < 2:
        raise ZeroDivisionError("division by zero")
    A = without_weights(G).matrix
    vector = Vector.from_dense(labels).to(A.device)
    coverage, performance = algorithms.partition_quality(A, vector, directed=G.directed)
    return coverage, performance


def intra_community_edges(G: Graph, partition: Any) -> int:
    """Implement `networkx.community.quality.intra_community_edges`."""
    labels = _partition_labels(G, partition)
    return _count_edges(with_weights(G, None, parallel="sum").matrix, labels, G.directed)[1]


def inter_community_edges(G: Graph, partition: Any) -> int:
    """Implement `networkx.community.quality.inter_community_edges`."""
    if G.is_multigraph():
        raise NotImplementedError("graphla counts edges between communities in simple graphs only")
    A = with_weights(G, None).matrix
    edges, inside = _count_edges(A, _partition_labels(G, partition), G.directed)
    return edges - inside


def inter_community_non_edges(G: Graph, partition: Any) -> int:
    """Implement `networkx.community.quality.inter_community_non_edges`."""
    labels = _partition_labels(G, partition)
    edges, inside = _count_edges(with_weights(G, None).matrix, labels, G.directed)
    sizes = np.bincount(labels)
    apart = len(G) ** 2 - int((sizes * sizes).sum())  # ordered pairs in different communities
    return (apart if G.directed else apart // 2) - (edges - inside)


def _count_edges(A: Matrix, labels: np.ndarray, directed: bool) -> tuple[int, int]:
    """Count all edges, and those within communities. The values of A are numbers of edges."""
    rows, columns, counts = A.to_coo()
    inside = labels[rows] == labels[columns]
    if not directed:
        # A self-loop is stored once, any other edge twice.
        counts = counts.astype(np.int64) * np.where(rows == columns, 2, 1)
    total, within = int(counts.sum()), int(counts[inside].sum())
    return (total, within) if directed else (total // 2, within // 2)


# --- partitions ---------------------------------------------------------------------------------


def _labels(G: Graph, communities: list[Any]) -> np.ndarray | None:
    """Return the number of the community of each node, or None if this is not a partition."""
    labels, sizes = np.full(len(G), -1, np.int64), [len(each) for each in communities]
    if sum(sizes) != len(G):
        return None
    found = find_all(G, list(chain.from_iterable(communities)))
    if (found < 0).any():
        return None
    labels[found] = np.arange(len(sizes)).repeat(sizes)
    return None if (labels < 0).any() else labels


def _partition_labels(G: Graph, partition: Any) -> np.ndarray:
    labels = _labels(G, list(partition))
    if labels is None:
        raise NotImplementedError("graphla needs each node in exactly one community")
    return labels


@pause_collection()
def _in_order(G: Graph, numbers: np.ndarray) -> Partition:
    """Return the communities in ascending order of their numbers, as NetworkX orders them."""
    order = np.argsort(numbers, kind="stable")
    bounds = [0, *(np.diff(numbers[order]).nonzero()[0] + 1).tolist(), len(G)]
    nodes = nodes_of(G, order)
    return [set(nodes[i:j]) for i, j in pairwise(bounds)]


def _check_weights(A: Matrix) -> None:
    """Reject invalid weights before the seed is used."""
    validation.nonnegative(A)
    total = A.reduce_scalar(monoid.plus).get(0) if A.nvals else 0
    if not math.isfinite(float(total)):
        raise NotImplementedError(f"the sum of the weights is {total}")


def _draw(seed: Any) -> int:
    """Return a seed for graphla from the random generator that NetworkX passes."""
    return seed if isinstance(seed, int) else seed.randrange(1 << 31)
