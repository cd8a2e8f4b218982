"""What a device offers for the parts of a graph: components, cores, forests.

`out` is a square matrix by rows, `into` the same by columns: one object where the matrix is known
to be symmetric. Values are read where that is said. A function gives None where the device knows
nothing better than the algebra (`definition` of the algorithm).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphla.storage import Array, Csr


class Components(Protocol):
    """The part of a backend that takes graphs apart."""

    def components(self, out: Csr, into: Csr | None) -> Array | None:
        """int64[n]: the least vertex that a path joins with each, whatever its edges' direction.

        `into` is None where that form is not there.
        """
        ...

    def strong_components(self, out: Csr, into: Callable[[], Csr]) -> Array | None:
        """int64[n]: the least vertex that each reaches and is reached by. A backend that does not
        read the columns does not call `into`, so that they are not made."""
        ...

    def cores(self, out: Csr, into: Csr | None) -> Array | None:
        """int64[n]: the greatest k with a set of vertices, this one among them, that have each at
        least k edges within it: entries of its row and, unless `into` is None, of its column as
        well. There are no self-loops."""
        ...

    def least_forest(self, upper: Csr, greatest: bool) -> Array | None:
        """bool[nvals]: which entries of an upper triangle make the spanning forest of least (or
        greatest) weight; of equal weights the first in order of rows and columns. Reads values,
        none of which is NaN; none lies on the diagonal."""
        ...
