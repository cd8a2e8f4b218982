"""The ladder: strategies for breadth-first search from the literature, for comparison.

The rungs lead from a queue on one thread to a whole traversal in one launch. Each rung is explained
in its own file. All rungs read the same graph and compute the same levels; which rung is fastest
depends on the graph. `graphla ladder GRAPH` times all rungs; docs/ladder.md explains the results.
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
