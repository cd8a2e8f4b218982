"""Whole loops that a device offers: the requests of algorithms, and `accelerated`, which runs them.

An algorithm writes its definition as statements on matrices and vectors, and says

    return accelerated(Request(A, ...), partial(definition, A, ...))

A request lowers its operands to the formats that the backend reads, calls one verb of the backend,
and wraps the arrays that come back in vectors and matrices.
"""

from graphla.operations.accelerate.centrality import Degrees, Dependencies, DependencySums, PageRank
from graphla.operations.accelerate.components import (
    Components,
    CoreNumbers,
    SpanningForest,
    StrongComponents,
)
from graphla.operations.accelerate.groups import (
    Contraction,
    Gains,
    GreedyColoring,
    LabelPropagation,
    Matching,
    MoveCommunities,
    Rounds,
)
from graphla.operations.accelerate.request import accelerated
from graphla.operations.accelerate.searches import Search

__all__ = [
    "Components",
    "Contraction",
    "CoreNumbers",
    "Degrees",
    "Dependencies",
    "DependencySums",
    "Gains",
    "GreedyColoring",
    "LabelPropagation",
    "Matching",
    "MoveCommunities",
    "PageRank",
    "Rounds",
    "Search",
    "SpanningForest",
    "StrongComponents",
    "accelerated",
]
