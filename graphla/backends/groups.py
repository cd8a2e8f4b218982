"""What a device offers for communities and sets: whole loops where one product a round is too slow.

None says that the loop is not there, and that the algorithm's definition is to serve.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from graphla.formats import Array, Csr


class Rounds(NamedTuple):
    """The rules for rounds in which about half of the vertices that would gain move at once."""

    streams: tuple[int, ...]  # one hash seed per round; it decides which vertices may move
    patience: int  # the number of rounds in a row that raise the modularity too little
    rise: float  # the modularity must rise by more than this,
    share: float  # and by more than this share of its rise in all rounds so far


class Gains:
    """The modularity of the rounds of one level, times `total`, the sum of all weights.

    `patience` is the number of further rounds that may raise the modularity too little; the level
    ends at 0.
    """

    def __init__(self, rounds: Rounds, total: float) -> None:
        self._rounds, self._least = rounds, rounds.rise * total
        self._first = self._best = -inf
        self.patience = rounds.patience

    def is_best(self, quality: float) -> bool:
        """Record the quality at the head of a round; return whether it is the best so far."""
        if self._first == -inf:
            self._first = self._best = quality
            return True
        least = max(self._least, self._rounds.share * (self._best - self._first))
        has_risen = quality > self._best + least
        self.patience = self._rounds.patience if has_risen else self.patience - 1
        is_best = quality > self._best
        self._best = max(self._best, quality)
        return is_best


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
