"""Labels: the user's names of the vertices 0 to n - 1, in the arguments and in the results.

A label is any hashable thing but None, a tuple or a number too; so whatever is a label counts as
one vertex, and only what is none is looked into for labels.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from typing import Any

import numpy as np

from graphla.expression import Operand
from semirings.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue

_AT: ContextVar[Labels | None] = ContextVar("labels", default=None)


@contextmanager
def naming_scope(labels: Labels) -> Iterator[None]:
    """Let messages name vertices by these labels."""
    token = _AT.set(None if labels.are_numbers else labels)
    try:
        yield
    finally:
        _AT.reset(token)


def vertex_name(vertices: Any) -> str:
    """Return a vertex, or a list of vertices, for a message: labels in a Graph, else numbers."""
    labels = _AT.get()
    if labels is None or not isinstance(vertices, (Integral, list)):
        return str(vertices)
    return repr(labels.of(vertices))


class Labels:
    """The label of each vertex, and the vertex of each label."""

    __slots__ = ("_numbers", "names")
    names: Sequence[Any]
    _numbers: Mapping[Any, int] | None

    def __init__(self, names: Iterable[Hashable] | None, n: int):
        self.names = range(n) if names is None else tuple(to_list(names))
        if len(self.names) != n:
            raise DimensionMismatch(f"labels has {len(self.names)} labels for {n} vertices")
        self._numbers = None
        if names is None:
            return
        numbers = number_labels(self.names)
        if len(numbers) < n:
            twice = next(x for k, x in enumerate(self.names) if numbers[x] != k)
            raise InvalidValue(f"labels has {twice!r} twice, but each vertex has its own")
        if None in numbers:
            raise InvalidValue("labels has None, which is no label")
        # the vertices themselves as labels are none
        if all(type(x) is int and x == k for k, x in enumerate(self.names)):
            self.names = range(n)
        else:
            self._numbers = numbers

    @property
    def are_numbers(self) -> bool:
        """Whether each vertex is its own label."""
        return self._numbers is None

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.names)

    def find(self, label: Any) -> int | None:
        """The vertex of this label; None of what is no label."""
        if self._numbers is None:
            known = isinstance(label, Integral) and 0 <= int(label) < len(self.names)
            return int(label) if known and not isinstance(label, bool) else None
        try:
            return self._numbers.get(label)
        except TypeError:  # it has no hash
            return None

    # --- arguments: labels become vertices --------------------------------------------------------

    def vertices(self, name: str, given: Any) -> Any:
        """The vertex of a label; of a list, a set or an array of labels, a list."""
        if given is None or isinstance(given, Operand):  # a Vector has vertices as its indices
            return given
        vertex = None if self.are_numbers else self.find(given)
        if vertex is not None:
            return vertex
        is_list = isinstance(given, Iterable) and not isinstance(given, str | bytes)
        if self.are_numbers:  # refused, where it is wrong, by the algorithm itself
            return list(given) if is_list and not hasattr(given, "__getitem__") else given
        if is_list:
            return [self.vertices(name, each) for each in given]
        return self.number(name, given)

    def pairs(self, name: str, given: Any) -> Any:
        """The pairs of vertices of pairs of labels."""
        if given is None or isinstance(given, Operand) or self.are_numbers:
            return given
        try:
            pairs = [tuple(pair) for pair in given]
        except TypeError:
            raise TypeError(f"{name} must be a list of pairs of vertices, not {given!r}") from None
        return [tuple(self.number(name, label) for label in pair) for pair in pairs]

    def number_keys(self, name: str, given: Any) -> Any:
        """A mapping from labels as one from vertices; what is no mapping, as it is."""
        if not isinstance(given, Mapping) or self.are_numbers:
            return given
        return {self.number(name, label): value for label, value in given.items()}

    def number(self, name: str, label: Any) -> int:
        """The vertex of this label, which is there."""
        vertex = self.find(label)
        if vertex is None:
            raise IndexOutOfBound(f"{name} has {label!r}, which is no label of the graph")
        return vertex

    # --- results: vertices become labels ----------------------------------------------------------

    def of(self, vertices: Any) -> Any:
        """The label of a vertex; of a list of vertices, or of such lists, a list."""
        if isinstance(vertices, list | tuple):
            return [self.of(vertex) for vertex in vertices]
        return self.names[vertices]

    def select(self, vertices: Any) -> Labels:
        """The labels of a list of vertices alone."""
        listed = np.asarray(vertices).ravel().tolist()
        chosen = object.__new__(Labels)
        chosen.names, chosen._numbers = [self.names[v] for v in listed], {}
        return chosen


def to_list(items: Iterable[Any]) -> list[Any]:
    """The items of anything; those of an array as Python's own, at once where it is on a card."""
    tolist = getattr(items, "tolist", None)
    return list(items) if tolist is None else tolist()


def number_labels(names: Sequence[Any]) -> dict[Any, int]:
    """Each label, with the place where it first comes."""
    numbers: dict[Any, int] = {}
    for k, label in enumerate(names):
        try:
            numbers.setdefault(label, k)
        except TypeError:
            raise TypeError(
                f"a label is {label!r} (a {type(label).__name__}), which is not hashable"
            ) from None
    return numbers
