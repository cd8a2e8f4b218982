"""Closure: the whole search in one launch, as `graphla.algorithms.bfs` and `closure` run it.

Algebra  l = s ⊕ sA ⊕ sA² ⊕ ..., the least fixpoint: the loop of all rungs below is inside.
A level  pushes a list of vertices or pulls by rows under a bitmap, by one block, a cluster or all,
         whichever is cheapest; a level ends at a barrier of the card, not with a launch.
Wins     nearly everywhere on a card: no launch a level, so deep graphs; and pull with a plan (the
         matrix renumbered by degree), so broad ones.
Source   docs/concepts/closure.md; kernels/bfs.cuh and its neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.ladder.rung import Rung, Search
from graphla.operations.accelerate.searches import search
from graphla.stores import MatrixStore


class Closure(Rung):
    """With the full plan, so that searches do not differ by what those before have paid."""

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a)
        a.make_full_plan()

    @property
    def held(self) -> int:
        """Bytes of both forms, the plan, and the levels."""
        forms = {id(form): form for form in (self.a.csr, self.a.csc)}.values()
        report = self.a.report
        plan = 0 if report is None else report.nbytes
        return plan + 4 * self.n + sum(x.indptr.nbytes + x.indices.nbytes for x in forms)

    def search(self, source: int) -> Search:
        """The levels of all that edges lead to from `source`."""
        starts: Any = np.array([source], np.int32)
        levels = np.dtype(np.int32)
        tree = search(self.a, starts, mask=None, limit=None, levels=levels, parents=None)
        return Search(tree.levels, tree.depth + 1, 1, present=tree.present)
