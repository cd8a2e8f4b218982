"""What a device offers for communities and sets: whole loops where one product a round is too slow.

None says that the loop is not there, and that the algorithm's definition is to serve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from graphla.storage import Array, Csr


class Groups(Protocol):
    """Communities, colours and mates. Matrices are symmetric in structure and in value."""

    def propagated(self, links: Csr, labels: Array, rounds: int) -> Array | None:
        """Labels, int32, after so many rounds: in each, every vertex takes the label of the
        greatest sum of weights among its neighbours, of equal ones the least."""
        ...

    def moved(
        self, links: Csr, out: Array, into: Array, factor: float, words: Array
    ) -> Array | None:
        """The community of each vertex, int32, once no move of one raises the modularity.

        Everyone begins alone. A vertex gains links(v, c) - factor·(out(v)·into(c) + into(v)·out(c))
        in community c, without itself; they move one by one, first in the order of their words.
        """
        ...

    def wished(
        self,
        links: Csr,
        degrees: tuple[Array, Array],
        totals: list[Array],
        community: Array,
        factor: float,
    ) -> tuple[Array, Array] | None:
        """Where each vertex would gain most, int32, its own community if no other gains; and the
        sum of what links each one to its own."""
        ...

    def coloured(self, a: Csr, numbers: Array) -> Array | None:
        """The least colour that no neighbour of a greater number has, int32."""
        ...

    def matched(self, a: Csr, words: Array) -> Array | None:
        """The mate of each vertex, int32, or -1: edges of greater value first, and of equal ones
        those of the greater number that the words of both ends give."""
        ...
