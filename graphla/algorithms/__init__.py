"""Algorithms told as algebra: a loop of a few statements each, one file an algorithm."""

from graphla.algorithms.bfs import Traversal, bfs
from graphla.algorithms.components import connected_components
from graphla.algorithms.pagerank import ConvergenceError, pagerank
from graphla.algorithms.sssp import sssp
from graphla.algorithms.triangles import triangle_count

__all__ = [
    "ConvergenceError",
    "Traversal",
    "bfs",
    "connected_components",
    "pagerank",
    "sssp",
    "triangle_count",
]
