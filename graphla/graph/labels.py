"""Labels: the user's names of the vertices 0 to n - 1, in the arguments and in the results.

A label is any hashable thing but None, a tuple or a number too; so whatever is a label counts as
one vertex, and only what is none is looked into for labels.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from graphla.expression import Operand
from graphla.sparse import Matrix, Vector
from graphla.sparse.building import is_rowwise
from graphla.sparse.noun import Indexed
from semirings.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue


class Labels:
    """The label of each vertex, and the vertex of each label."""

    __slots__ = ("_numbers", "names")
    names: Sequence[Any]
    _numbers: Mapping[Any, int] | None

    def __init__(self, names: Iterable[Hashable] | None, n: int):
        self.names = range(n) if names is None else tuple(names)
        if len(self.names) != n:
            raise DimensionMismatch(f"labels has {len(self.names)} labels for {n} vertices")
        self._numbers = None
        if names is None:
            return
        numbers = numbered(self.names)
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
        return [tuple(self.number(name, label) for label in pair) for pair in given]

    def keyed(self, name: str, given: Any) -> Any:
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

    def at(self, vertices: Any) -> Labels:
        """The labels of a list of vertices alone."""
        listed = np.asarray(vertices).ravel().tolist()
        chosen = object.__new__(Labels)
        chosen.names, chosen._numbers = [self.names[v] for v in listed], {}
        return chosen

    def result(self, found: Any, gives: Sequence[str] = (), rows: Labels | None = None) -> Any:
        """What an algorithm found, under these labels.

        `gives` says which parts of it have vertices as values: "" is the only or the first, other
        names are fields, or positions in a tuple. `rows`: what a row of a Matrix stands for.
        """
        if isinstance(found, tuple):
            names = getattr(found, "_fields", map(str, range(len(found))))
            parts = [
                self._part(part, name in gives or (k == 0 and "" in gives), rows)
                for k, (name, part) in enumerate(zip(names, found, strict=True))
            ]
            return type(found)(*parts) if hasattr(found, "_fields") else tuple(parts)
        return self._part(found, "" in gives, rows)

    def _part(self, part: Any, of_vertices: bool, rows: Labels | None) -> Any:
        n, values = len(self), self if of_vertices else None
        if isinstance(part, Vector) and part.size == n:
            return LabelledVector._labelled(part, values, (self,))
        if isinstance(part, Matrix) and part.shape == (len(rows or self), n):
            return LabelledMatrix._labelled(part, values, (rows or self, self))
        if isinstance(part, list):  # a path, or paths
            return self.of(part)
        if of_vertices and isinstance(part, int):
            return self.of(part)
        return part


class _Labelled(Indexed):
    """A Vector or Matrix with the labels of its axes, and of its values where these are vertices.

    What is computed from it is a plain Vector or Matrix.
    """

    __slots__ = ()
    axis_labels: tuple[Labels, ...]
    value_labels: Labels | None

    @classmethod
    def _labelled(cls, noun: Any, values: Labels | None, axes: tuple[Labels, ...]) -> Any:
        labelled = cls._of(noun._forms, noun._name)
        labelled.value_labels, labelled.axis_labels = values, axes
        return labelled

    def _named(self, values: Any) -> list[Any]:
        values = values.tolist()
        return values if self.value_labels is None else self.value_labels.of(values)

    def to(self, device: str) -> Any:
        """The same entries on a device, under the same labels."""
        return self._alike(super().to(device))  # pyright: ignore[reportAttributeAccessIssue]

    def _alike(self, noun: Any) -> Any:
        return self._labelled(noun, self.value_labels, self.axis_labels)

    def __copy__(self) -> Any:
        return self._alike(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return self._alike(self)

    def __reduce__(self) -> Any:
        restore, plain = super().__reduce__()  # pyright: ignore[reportAssignmentType]
        return _restored, (type(self), restore, plain, self.value_labels, self.axis_labels)


class LabelledVector(_Labelled, Vector):
    """A Vector with an entry per vertex of a Graph: `to_dict` is under the labels."""

    __slots__ = ("axis_labels", "value_labels")

    @property
    def labels(self) -> Sequence[Any]:
        """The label of each index."""
        return self.axis_labels[0].names

    def to_dict(self) -> dict[Any, Any]:
        """{label: value}; a value that is a vertex is its label."""
        indices, values = self.to_coo()
        return dict(zip(self.axis_labels[0].of(indices.tolist()), self._named(values), strict=True))


class LabelledMatrix(_Labelled, Matrix):
    """A Matrix with an entry per pair of vertices of a Graph: its dicts are under the labels."""

    __slots__ = ("axis_labels", "value_labels")

    @property
    def labels(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """The label of each row, and of each column."""
        rows, columns = self.axis_labels
        return rows.names, columns.names

    def to_dict(self) -> dict[Any, Any]:
        """{(row's label, column's label): value}; a value that is a vertex is its label."""
        rows, columns, values = self.to_coo()
        i, j = (
            labels.of(each.tolist())
            for labels, each in zip(self.axis_labels, (rows, columns), strict=True)
        )
        return dict(zip(zip(i, j, strict=True), self._named(values), strict=True))

    def to_dicts(self, order: str = "rowwise") -> dict[Any, dict[Any, Any]]:
        """{row's label: {column's label: value}}, or {column's: {row's: value}} columnwise."""
        by_rows = is_rowwise(order)
        nested: dict[Any, dict[Any, Any]] = {}
        for (i, j), value in self.to_dict().items():
            outer, inner = (i, j) if by_rows else (j, i)
            nested.setdefault(outer, {})[inner] = value
        return nested


def _restored(cls: Any, restore: Any, plain: Any, values: Any, axes: Any) -> Any:
    (_, *pieces) = plain
    return cls._labelled(restore(cls, *pieces), values, axes)


def numbered(names: Sequence[Any]) -> dict[Any, int]:
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
