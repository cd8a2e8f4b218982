"""Run a whole loop of an algorithm on the device, if the device offers such a loop.

An algorithm defines its loop in terms of matrix and vector operations, and ends with

    return accelerated(Request(A, ...), partial(definition, A, ...))

A request converts its operands to the formats that the backend reads, calls one backend function,
and wraps the returned arrays in vectors and matrices. If the backend has no such function, the
definition runs instead.
"""

from graphla.operations.accelerate.centrality import Degrees, Dependencies, DependencySums, PageRank
from graphla.operations.accelerate.components import (
    Components,
    CoreNumbers,
    SpanningForest,
    StrongComponents,
    TriangleCount,
    Truss,
    TrussNumbers,
)
from graphla.operations.accelerate.flows import Augmentation
from graphla.operations.accelerate.forces import Forces
from graphla.operations.accelerate.groups import (
    Contraction,
    Gains,
    GreedyColoring,
    LabelPropagation,
    Matching,
    Mergers,
    MoveCommunities,
    RefineCommunities,
    Rounds,
    SettleLabels,
)
from graphla.operations.accelerate.request import accelerated
from graphla.operations.accelerate.searches import Search

__all__ = [
    "Augmentation",
    "Components",
    "Contraction",
    "CoreNumbers",
    "Degrees",
    "Dependencies",
    "DependencySums",
    "Forces",
    "Gains",
    "GreedyColoring",
    "LabelPropagation",
    "Matching",
    "Mergers",
    "MoveCommunities",
    "PageRank",
    "RefineCommunities",
    "Rounds",
    "Search",
    "SettleLabels",
    "SpanningForest",
    "StrongComponents",
    "TriangleCount",
    "Truss",
    "TrussNumbers",
    "accelerated",
]
