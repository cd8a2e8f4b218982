"""What a device offers for communities and sets: whole loops where one product a round is too slow.

None says that the loop is not there, and that the algorithm's definition is to serve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from graphla.storage import Array, Csr


class Rounds(NamedTuple):
    """Rounds in which all move at once, of those who would gain about half, by chance."""

    streams: tuple[int, ...]  # for each round, of at most so many, of which words who moves rests
    patience: int  # rounds on end that raise the modularity by no more than `rise`: the last ones
    rise: float


class Groups(Protocol):
    """Communities, colours and mates. Matrices are symmetric in structure and in value."""

    def propagated(self, links: Csr, labels: Array, rounds: int) -> Array | None:
        """Labels, int32, after so many rounds: in each, every vertex takes the label of the
        greatest sum of weights among its neighbours, of equal ones the least."""
        ...

    def moved(
        self,
        links: Csr,
        out: Array,
        into: Array,
        factor: float,
        words: Array,
        rounds: Rounds,
    ) -> Array:
        """The community of each vertex, int32, after moves that raise the modularity.

        Each vertex begins in a community of its own. In community c, not counting v itself, vertex
        v gains links(v, c) - factor·(out(v)·into(c) + into(v)·out(c)). Either single vertices move
        one after another, first in the order of their words, until no move gains; or vertices move
        in rounds, and the best state is kept.
        """
        ...

    def coloured(self, a: Csr, numbers: Array) -> Array | None:
        """The least colour that no neighbour of a greater number has, int32."""
        ...

    def matched(self, a: Csr, words: Array) -> Array | None:
        """The mate of each vertex, int32, or -1: edges of greater value first, and of equal ones
        those of the greater number that the words of both ends give."""
        ...
