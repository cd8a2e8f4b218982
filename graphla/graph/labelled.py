"""Algorithm results for a Graph, labeled with its vertices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphla.graph.labels import Labels
from graphla.sparse import Matrix, Vector
from graphla.sparse.building import is_rowwise
from graphla.sparse.noun import Indexed


def labelled(
    found: Any, labels: Labels, gives: Sequence[str] = (), rows: Labels | None = None
) -> Any:
    """Attach vertex labels to the result of an algorithm.

    A result is a single object or a tuple. `gives` lists the objects whose values are vertices. An
    element of a tuple is given by its field name or its position (as a string); "" stands for the
    single object or the first element. Vertices are replaced by their labels if they are indices of
    a Vector or Matrix, elements of a list, or values of an object in `gives`. If the rows of a
    Matrix do not represent all vertices, `rows` holds their labels. If a Matrix does not have one
    column per vertex, its columns keep their numbers.
    """
    if isinstance(found, tuple):
        names = getattr(found, "_fields", map(str, range(len(found))))
        parts = [
            _part(part, labels, name in gives or (k == 0 and "" in gives), rows)
            for k, (name, part) in enumerate(zip(names, found, strict=True))
        ]
        return type(found)(*parts) if hasattr(found, "_fields") else tuple(parts)
    return _part(found, labels, "" in gives, rows)


def _part(part: Any, labels: Labels, of_vertices: bool, rows: Labels | None) -> Any:
    n, values = len(labels), labels if of_vertices else None
    rows = labels if rows is None else rows
    if isinstance(part, Vector) and part.size == n:
        return LabelledVector._labelled(part, values, (labels,))
    if isinstance(part, Matrix) and part.nrows == len(rows):
        columns = labels if part.ncols == n else Labels(None, part.ncols)
        return LabelledMatrix._labelled(part, values, (rows, columns))
    if isinstance(part, list):  # a list of the vertices of a path, or of the layers of a search
        return labels.of(part)
    if of_vertices and isinstance(part, int):
        return labels.of(part)
    return part


class _Labelled(Indexed):
    """A Vector or Matrix with labels for its indices, and for values that are vertices.

    Anything computed from it is a plain Vector or Matrix.
    """

    __slots__ = ()
    axis_labels: tuple[Labels, ...]
    value_labels: Labels | None

    @classmethod
    def _labelled(cls, noun: Any, values: Labels | None, axes: tuple[Labels, ...]) -> Any:
        labelled = cls._of(noun._store, noun._name)
        labelled.value_labels, labelled.axis_labels = values, axes
        return labelled

    def _named(self, values: Any) -> list[Any]:
        values = values.tolist()
        return values if self.value_labels is None else self.value_labels.of(values)

    def to(self, device: str) -> Any:
        """Return the same entries and labels on another device.

        Args:
            device: "cpu", "cuda", or one GPU such as "cuda:1".

        Returns:
            A LabelledVector or LabelledMatrix.

        Raises:
            InvalidValue: `device` is not the name of a device.
            DeviceUnavailable: the machine has no such device, or CuPy is missing.
        """
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
    """A Vector over the vertices of a Graph, whose `to_dict` uses the vertex labels.

    Results computed from it are plain Vectors.

    Examples:
        >>> from graphla import Graph
        >>> Graph.from_edges([("a", "b"), ("b", "c")]).degrees.to_dict()
        {'a': 1, 'b': 2, 'c': 1}
    """

    __slots__ = ("axis_labels", "value_labels")

    @property
    def labels(self) -> Sequence[Any]:
        """The label of each index."""
        return self.axis_labels[0].names

    def to_dict(self) -> dict[Any, Any]:
        """Return the entries as {label: value}; a value that is a vertex becomes its label.

        Returns:
            A dict in the order of the vertices.
        """
        indices, values = self.to_coo()
        return dict(zip(self.axis_labels[0].of(indices.tolist()), self._named(values), strict=True))


class LabelledMatrix(_Labelled, Matrix):
    """A Matrix over pairs of vertices of a Graph, whose dicts use the vertex labels.

    Results computed from it are plain Matrices.

    Examples:
        >>> from graphla import Graph
        >>> G = Graph.from_edges([("a", "b", 3)], directed=True)
        >>> G.labelled(G.matrix).to_dicts()
        {'a': {'b': 3}}
    """

    __slots__ = ("axis_labels", "value_labels")

    @property
    def labels(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """The label of each row, and of each column."""
        rows, columns = self.axis_labels
        return rows.names, columns.names

    def to_dict(self) -> dict[Any, Any]:
        """Return the entries as {(row label, column label): value}.

        Returns:
            A dict in row order; a value that is a vertex becomes its label.
        """
        rows, columns, values = self.to_coo()
        i, j = (
            labels.of(each.tolist())
            for labels, each in zip(self.axis_labels, (rows, columns), strict=True)
        )
        return dict(zip(zip(i, j, strict=True), self._named(values), strict=True))

    def to_dicts(self, order: str = "rowwise") -> dict[Any, dict[Any, Any]]:
        """Return the entries as nested dicts, {row label: {column label: value}}.

        Args:
            order: "rowwise", or "columnwise" for {column label: {row label: value}}.

        Returns:
            A dict with one item for each row (or column) that has entries.

        Raises:
            InvalidValue: `order` is neither "rowwise" nor "columnwise".
        """
        by_rows = is_rowwise(order)
        nested: dict[Any, dict[Any, Any]] = {}
        for (i, j), value in self.to_dict().items():
            outer, inner = (i, j) if by_rows else (j, i)
            nested.setdefault(outer, {})[inner] = value
        return nested


def _restored(cls: Any, restore: Any, plain: Any, values: Any, axes: Any) -> Any:
    (_, *pieces) = plain
    return cls._labelled(restore(cls, *pieces), values, axes)
