"""A request for the forces between vertices in the plane or in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphla.backends import backend, requests
from graphla.operations.operation import perform
from graphla.stores import MatrixStore


@dataclass(frozen=True, slots=True)
class Forces:
    """The attraction of adjacent vertices, and the repulsion of all pairs of vertices.

    The arrays are on the CPU: `points` has the shape (n, dim), and `mass` and `size` have one
    element per vertex. `size` is None if vertices have no radius.
    """

    A: Any
    points: np.ndarray
    mass: np.ndarray
    size: np.ndarray | None
    scaling: float
    is_log: bool

    def run(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the attraction and the repulsion, or None if A is on a GPU."""
        return None if self.A.device != "cpu" else perform("forces", self._add, self.A._read())

    def _add(self, a: MatrixStore) -> tuple[np.ndarray, np.ndarray]:
        arrays = self.points, self.mass, self.size
        request = requests.Forces(a.csr, *arrays, self.scaling, self.is_log)
        return backend("cpu").forces(request)
