"""A request to push flow through a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphla.backends import backend
from graphla.formats import Csr
from graphla.operations.accelerate.request import lift
from graphla.operations.operation import perform
from graphla.stores import MatrixStore


@dataclass(frozen=True, slots=True)
class Augmentation:
    """A request to push flow from `source` to `target` until no path has capacity left.

    The residual R(i, j) is the capacity that is left from i to j. R is on the CPU, has no entry on
    its diagonal, and has the entry R(j, i) for each entry R(i, j).
    """

    R: Any
    source: int
    target: int

    def run(self) -> Any:
        """Return the residuals after the last push as a Matrix with the pattern of R."""
        return lift(self.R, perform("augment", self._augment, self.R._read()))

    def _augment(self, r: MatrixStore) -> MatrixStore | None:
        csr = r.csr
        residuals = backend("cpu").augment(csr, self.source, self.target)
        if residuals is None:
            return None
        after = Csr(csr.nrows, csr.ncols, csr.indptr, csr.indices, residuals)
        return MatrixStore(r.device, r.dtype, after)
