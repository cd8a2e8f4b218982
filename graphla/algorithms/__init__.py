"""Algorithms told as algebra: a loop of a few statements each, one file an algorithm."""

from graphla.algorithms.bfs import Traversal, bfs
from graphla.algorithms.closeness import closeness
from graphla.algorithms.components import connected_components
from graphla.algorithms.eccentricity import eccentricity
from graphla.algorithms.lengths import all_pairs_lengths, bfs_levels
from graphla.algorithms.minimax import minimax_path
from graphla.algorithms.pagerank import ConvergenceError, pagerank
from graphla.algorithms.reachable import reachable
from graphla.algorithms.reliable import most_reliable_path
from graphla.algorithms.sssp import sssp
from graphla.algorithms.triangles import triangle_count
from graphla.algorithms.widest import widest_path

__all__ = [
    "ConvergenceError",
    "Traversal",
    "all_pairs_lengths",
    "bfs",
    "bfs_levels",
    "closeness",
    "connected_components",
    "eccentricity",
    "minimax_path",
    "most_reliable_path",
    "pagerank",
    "reachable",
    "sssp",
    "triangle_count",
    "widest_path",
]
