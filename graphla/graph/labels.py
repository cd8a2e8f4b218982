"""Labels: the user's names for the vertices 0 to n - 1, in arguments and in results.

A label is any hashable object except None, so tuples and numbers can be labels. An argument that is
itself a label stands for one vertex; any other argument must be a collection of labels.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from typing import Any

import numpy as np

from graphla.expression import Operand
from graphla.io.adjacency_dicts import are_range
from semirings.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue

_AT: ContextVar[Labels | None] = ContextVar("labels", default=None)


@contextmanager
def naming_scope(labels: Labels) -> Iterator[None]:
    """Use the given labels for vertices in error messages inside a `with` block."""
    token = _AT.set(None if labels.are_numbers else labels)
    try:
        yield
    finally:
        _AT.reset(token)


def vertex_name(vertices: Any) -> str:
    """Return the text that names vertices in a message: labels if known, otherwise numbers."""
    labels = _AT.get()
    if labels is None or not isinstance(vertices, (Integral, list)):
        return str(vertices)
    return repr(labels.of(vertices))


def as_labels(vertices: list[int]) -> list[Any]:
    """Return the labels of the vertices, for an attribute of an exception."""
    labels = _AT.get()
    return vertices if labels is None else labels.of(vertices)


class Labels:
    """The label of each vertex, and the vertex of each label.

    Args:
        names: the label of each vertex; None uses the vertex numbers.
        n: the number of vertices.

    Raises:
        DimensionMismatch: the number of labels differs from `n`.
        InvalidValue: two vertices have the same label, or a label is None.
        TypeError: a label is not hashable.
    """

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
        # If the labels are just the vertex numbers, a range replaces them to save memory.
        if are_range(self.names):
            self.names = range(n)
            return
        numbers = number_labels(self.names)
        if len(numbers) < n:
            twice = next(x for k, x in enumerate(self.names) if numbers[x] != k)
            raise InvalidValue(f"labels has {twice!r} twice, but each vertex has its own")
        if None in numbers:
            raise InvalidValue("labels has None, which is no label")
        self._numbers = numbers

    @classmethod
    def of_distinct(cls, names: Sequence[Any], numbers: Mapping[Any, int] | None) -> Labels:
        """Return the labels `names`, which are known to be valid.

        Args:
            names: the label of each vertex; `range(n)` if each vertex is its own label.
            numbers: the vertex of each label, or None if `names` is a range.

        Returns:
            A `Labels` object that holds both without a copy.
        """
        labels = object.__new__(cls)
        labels.names, labels._numbers = names, numbers
        return labels

    @property
    def are_numbers(self) -> bool:
        """Whether the label of each vertex is its number."""
        return self._numbers is None

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.names)

    def find(self, label: Any) -> int | None:
        """Return the vertex with this label.

        Args:
            label: any object.

        Returns:
            The number of the vertex, or None if `label` is not a label.
        """
        if self._numbers is None:
            known = isinstance(label, Integral) and 0 <= int(label) < len(self.names)
            return int(label) if known and not isinstance(label, bool) else None
        try:
            return self._numbers.get(label)
        except TypeError:  # the object is not hashable
            return None

    # --- methods that replace labels with vertices in arguments -----------------------------------

    def vertices(self, name: str, given: Any) -> Any:
        """Replace the labels in an argument with vertex numbers.

        Args:
            name: the parameter, for error messages.
            given: a label, or a list, set or array of labels.

        Returns:
            If `given` is a label, the vertex with this label. If it is a collection of labels, the
            list of their vertices. A Vector and None are returned unchanged.

        Raises:
            IndexOutOfBound: one of the labels belongs to no vertex.
        """
        # A Vector is already indexed by vertex numbers.
        if given is None or isinstance(given, Operand):
            return given
        vertex = None if self.are_numbers else self.find(given)
        if vertex is not None:
            return vertex
        is_list = isinstance(given, Iterable) and not isinstance(given, str | bytes)
        # Vertex numbers are not checked here: the algorithm checks them.
        if self.are_numbers:
            return list(given) if is_list and not hasattr(given, "__getitem__") else given
        if is_list:
            return [self.vertices(name, each) for each in given]
        return self.number(name, given)

    def pairs(self, name: str, given: Any) -> Any:
        """Replace the pairs of labels in an argument with pairs of vertex numbers.

        Args:
            name: the parameter, for error messages.
            given: an iterable of pairs of labels.

        Returns:
            A list of pairs of vertices. A Matrix and None are returned unchanged.

        Raises:
            TypeError: `given` is not a list of pairs.
            IndexOutOfBound: one of the labels belongs to no vertex.
        """
        if given is None or isinstance(given, Operand) or self.are_numbers:
            return given
        try:
            pairs = [tuple(pair) for pair in given]
        except TypeError:
            raise TypeError(f"{name} must be a list of pairs of vertices, not {given!r}") from None
        return [tuple(self.number(name, label) for label in pair) for pair in pairs]

    def number_keys(self, name: str, given: Any) -> Any:
        """Replace the keys of a mapping, which are labels, with vertex numbers.

        Args:
            name: the parameter, for error messages.
            given: a mapping from labels to values.

        Returns:
            A dict from vertices to values. If `given` is not a mapping, it is returned unchanged.

        Raises:
            IndexOutOfBound: one of the labels belongs to no vertex.
        """
        if not isinstance(given, Mapping) or self.are_numbers:
            return given
        return {self.number(name, label): value for label, value in given.items()}

    def number(self, name: str, label: Any) -> int:
        """Return the vertex with this label, which must exist.

        Args:
            name: the parameter, for error messages.
            label: the label.

        Returns:
            The number of the vertex.

        Raises:
            IndexOutOfBound: no vertex has this label.
        """
        vertex = self.find(label)
        if vertex is None:
            raise IndexOutOfBound(f"{name} has {label!r}, which is not a label of the graph")
        return vertex

    # --- methods that replace vertices with labels in results -------------------------------------

    def of(self, vertices: Any) -> Any:
        """Return the label of a vertex, or the labels of a list of vertices.

        Args:
            vertices: a vertex, a list of vertices, or a list of such lists.

        Returns:
            A label, or a list of labels that is nested like `vertices`.
        """
        if isinstance(vertices, list | tuple):
            return [self.of(vertex) for vertex in vertices]
        return self.names[vertices]

    def select(self, vertices: Any) -> Labels:
        """Return the labels of the given vertices, in the given order.

        Args:
            vertices: a list or array of vertices.

        Returns:
            A `Labels` object: position k holds the label of the vertex `vertices[k]`.
        """
        listed = np.asarray(vertices).ravel().tolist()
        chosen = object.__new__(Labels)
        chosen.names, chosen._numbers = [self.names[v] for v in listed], {}
        return chosen


def to_list(items: Iterable[Any]) -> list[Any]:
    """Return a list of Python objects; an array is converted by one call of `tolist`."""
    tolist = getattr(items, "tolist", None)
    return list(items) if tolist is None else tolist()


def number_labels(names: Sequence[Any]) -> dict[Any, int]:
    """Return a dict that maps each label to the position at which it occurs first."""
    try:
        numbers = dict(zip(names, range(len(names)), strict=True))
        if len(numbers) == len(names):
            return numbers
    except TypeError:
        pass  # the loop below finds the label that is not hashable
    numbers = {}
    for k, label in enumerate(names):
        try:
            numbers.setdefault(label, k)
        except TypeError:
            raise TypeError(
                f"a label is {label!r} (a {type(label).__name__}), which is not hashable"
            ) from None
    return numbers
