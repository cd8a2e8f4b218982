"""The ladder: every strategy that the literature has for breadth-first search, side by side.

From a queue on one thread, rung by rung, to the whole traversal in one launch. Each rung is told
in a file of its own, reads the same graph, and gives the same levels; which is fastest depends on
the graph (`graphla ladder GRAPH` times them all, docs/ladder.md tells why).
"""

from graphla.ladder.comparing import compare
from graphla.ladder.paths import Paths, sssp
from graphla.ladder.prepared import Prepared, bfs, prepare
from graphla.ladder.rows import Comparison, Row
from graphla.ladder.rung import Search
from graphla.ladder.strategies import STRATEGIES, Strategy

__all__ = [
    "STRATEGIES",
    "Comparison",
    "Paths",
    "Prepared",
    "Row",
    "Search",
    "Strategy",
    "bfs",
    "compare",
    "prepare",
    "sssp",
]
