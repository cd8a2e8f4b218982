"""What a device offers for the parts of a graph: components, cores, forests.

`out` is a square matrix by rows, `into` the same by columns: one object where the matrix is known
to be symmetric. Values are read where that is said. A function gives None where the device knows
nothing better than the algebra (`definition` of the algorithm).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphla.formats import Array, Csr


class Components(Protocol):
    """The part of a backend that takes graphs apart."""

    def components(self, out: Csr, into: Csr | None) -> Array | None:
        """int64[n]: the least vertex that a path joins with each, whatever its edges' direction.

        `into` is None where that form is not there.
        """
        ...

    def strong_components(self, out: Csr, into: Callable[[], Csr]) -> Array | None:
        """Return, for each vertex, the least vertex of its strong component, as int64[n].

        `into` makes the matrix by columns. A backend that does not read the columns does not call
        it, so that they are not made.
        """
        ...

    def cores(self, out: Csr, into: Csr | None) -> Array | None:
        """Return the core number of each vertex as int64[n].

        It is the greatest k such that the vertex belongs to a set of vertices that each have at
        least k edges within the set. The edges of a vertex are the entries of its row and, unless
        `into` is None, also the entries of its column. There are no self-loops.
        """
        ...

    def least_forest(self, upper: Csr, greatest: bool) -> Array | None:
        """bool[nvals]: which entries of an upper triangle make the spanning forest of least (or
        greatest) weight; of equal weights the first in order of rows and columns. Reads values,
        none of which is NaN; none lies on the diagonal."""
        ...
