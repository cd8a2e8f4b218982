"""Arrays of labeled edges, built from a list of tuples or from a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphla.graph.labels import number_labels, to_list
from graphla.operations.values import array_of
from semirings.exceptions import DomainMismatch, InvalidValue


@dataclass(frozen=True, slots=True)
class Edges:
    """Labeled edges: edge k leads from labels[sources[k]] to labels[targets[k]].

    The labels are in order of first appearance.
    """

    labels: list[Any]
    sources: np.ndarray
    targets: np.ndarray
    weights: np.ndarray | None

    def places(self, number: Callable[[Any], Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertex numbers of the edges' sources and of their targets, as two arrays.

        The function `number` maps a label to its vertex.
        """
        position = np.fromiter(map(number, self.labels), np.int32, len(self.labels))
        return position[self.sources], position[self.targets]


def from_tuples(edges: Iterable[Any]) -> Edges:
    """Convert tuples (u, v) or (u, v, weight), all of the same length, to edges."""
    edges = to_list(edges)
    width = len(edges[0]) if edges else 2
    for k, edge in enumerate(edges):
        if len(edge) != width or width not in (2, 3):
            alike = f" as edge 0 has {width} parts" if width in (2, 3) else ""
            raise InvalidValue(
                f"edge {k} is {edge!r}, but should be (u, v) or (u, v, weight){alike}"
            )
    labels = list(number_labels([end for edge in edges for end in edge[:2]]))
    number = dict(zip(labels, range(len(labels)), strict=True))
    i, j = (np.fromiter((number[edge[k]] for edge in edges), np.int32, len(edges)) for k in (0, 1))
    weights = array_of([edge[2] for edge in edges])[0] if width == 3 else None
    return Edges(labels, i, j, weights)


def from_table(table: Any, source: Any, target: Any, weight: Any) -> Edges:
    """Convert each row of a pandas DataFrame to an edge; `weight` is a column name or None."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("Graph.from_pandas needs pandas: pip install pandas") from None
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table must be a pandas.DataFrame, not a {type(table).__name__}")
    named = {"source": source, "target": target} | ({} if weight is None else {"weight": weight})
    for name, column in named.items():
        if column not in table.columns:
            known = ", ".join(repr(each) for each in table.columns)
            raise InvalidValue(f"{name} is {column!r}, but the columns of the table are {known}")
        if table.columns.to_list().count(column) > 1:
            raise InvalidValue(f"{name} is {column!r}, but the table has several such columns")
    ends = [table[source], table[target]]
    for column, values in zip((source, target), ends, strict=True):
        if (missing := values.isna().to_numpy()).any():
            raise InvalidValue(f"column {column!r} has no label in row {int(missing.argmax())}")
    # Without this cast, `concat` could convert integer labels to floats.
    if ends[0].dtype != ends[1].dtype:
        ends = [values.astype(object) for values in ends]
    codes, labels = pd.factorize(pd.concat(ends, ignore_index=True))
    # Number the labels in the order in which they first appear in the table. Within a row, the
    # source comes before the target.
    ends_in_order = codes.reshape(2, -1).T.ravel()
    _, first = np.unique(ends_in_order, return_index=True)
    order = first.argsort()
    rank = np.empty(order.size, np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    i, j = rank[codes].reshape(2, -1)
    names = labels.tolist()
    weights = None if weight is None else _numbers(weight, table[weight])
    return Edges([names[k] for k in order.tolist()], i, j, weights)


def _numbers(name: Any, column: Any) -> np.ndarray:
    values = column.to_numpy()
    if values.dtype.kind not in "biuf":
        raise DomainMismatch(f"weight is {name!r}, a column of {column.dtype}, not of numbers")
    return values
