"""Closure: the whole search in one launch, as `graphla.algorithms.bfs` and `closure` run it.

Algebra  l = s ⊕ sA ⊕ sA² ⊕ ..., the least fixpoint, where s holds the source and l the levels. The
         loop over levels, which lower rungs run on the host, is inside the kernel.
A level  is a push from a list of vertices, or a pull into the vertices that a bitmap marks as
         unreached. One block, one cluster or all blocks run it, whichever is cheapest. It ends with
         a barrier instead of a launch.
Wins     on nearly all graphs on a GPU: on deep graphs because levels need no launches, and on
         broad graphs because it pulls with a plan (the matrix renumbered by degree).
Source   docs/concepts/closure.md; graphla/backends/cuda/bfs.cuh and the files that it includes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.ladder.rung import Rung, Search
from graphla.operations.accelerate.searches import search
from graphla.stores import MatrixStore


class Closure(Rung):
    """Breadth-first search as graphla itself runs it: the whole search is a single launch.

    The full plan is built in advance, so that all searches run under the same conditions.
    """

    def __init__(self, a: MatrixStore) -> None:
        super().__init__(a)
        a.make_full_plan()

    @property
    def held(self) -> int:
        """Size of the matrix (CSR and CSC), the plan, and the levels, in bytes."""
        forms = {id(form): form for form in (self.a.csr, self.a.csc)}.values()
        report = self.a.report
        plan = 0 if report is None else report.nbytes
        return plan + 4 * self.n + sum(x.indptr.nbytes + x.indices.nbytes for x in forms)

    def search(self, source: int) -> Search:
        """Return the levels of all vertices that are reachable from `source`."""
        starts: Any = np.array([source], np.int32)
        levels = np.dtype(np.int32)
        tree = search(self.a, starts, mask=None, limit=None, levels=levels, parents=None)
        return Search(tree.levels, tree.depth + 1, 1, present=tree.present)
