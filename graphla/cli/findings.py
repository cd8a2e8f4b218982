"""Convert the result of any algorithm to an `Answer`, which can be printed or written to a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphla.cli.answers import Answer, Top, number, plural, share
from graphla.graph import Graph, LabelledMatrix, LabelledVector
from graphla.sparse import Matrix, Vector


def answer(graph: Graph, found: Any, names: Sequence[str], rows: int) -> Answer:
    """Return the answer for a vector, matrix, number or vertex, or for a tuple of them.

    `names` are the names of the results, and `rows` is the number of largest values to show.
    """
    if isinstance(found, tuple):
        parts = [(name, part) for name, part in zip(names, found, strict=False) if part is not None]
        return _join([answer(graph, part, (name,), rows) for name, part in parts])
    name = names[0]
    if getattr(found, "ndim", 0) == 2 and not isinstance(found, Matrix):
        # If the result is a two-dimensional NumPy or CuPy array, it contains levels. The level -1
        # marks an unreached vertex.
        found = Matrix.from_dense(found, missing_value=-1)
    if isinstance(found, LabelledVector) and found.value_labels is not None:
        return partition(graph, found, name, rows)
    if isinstance(found, Vector):
        return (
            of_set(graph, found, name)
            if found.dtype == "BOOL"
            else values(graph, found, name, rows)
        )
    if isinstance(found, Matrix):
        return of_pairs(graph, found, name, rows)
    if isinstance(found, list):
        return _answer_list(graph, found, name)
    if found is None:
        return Answer(facts=[(name, "none")])
    text = ("yes" if found else "no") if isinstance(found, bool) else number(found)
    return Answer(facts=[(name, text)], total=(name, found))


def values(graph: Graph, found: Vector, name: str, rows: int) -> Answer:
    """Return the answer for a Vector that holds a number for each vertex."""
    _, numbers = found.to_coo()
    facts = [] if numbers.size == graph.nvertices else [("vertices", number(numbers.size))]
    if numbers.size:
        facts.append((name, spread(numbers)))
    return Answer(
        facts=facts,
        columns={name: found},
        top=extremes(f"greatest {name}", graph, name, found, rows),
    )


def of_set(graph: Graph, found: Vector, name: str) -> Answer:
    """Return the answer for a set of vertices.

    The set is given by a Boolean vector, which is true at the vertices of the set.
    """
    members = found.select("==", True).new()
    part = share(members.nvals, graph.nvertices)
    text = f"{number(members.nvals, 'vertex')} ({part} of all)"
    return Answer(facts=[(name, text)], columns={name: members})


def partition(graph: Graph, found: Vector, name: str, rows: int) -> Answer:
    """Return the answer for a partition: the number of parts, and the largest parts."""
    parts, sizes = np.unique(found.to_coo()[1], return_counts=True)
    order = np.lexsort((parts, -sizes))[:rows]
    facts = [(plural(name), number(parts.size))]
    if parts.size:
        part = share(int(sizes.max()), graph.nvertices)
        facts.append(("largest", f"{number(sizes.max(), 'vertex')} ({part} of all)"))
        facts.append(("alone", number(np.count_nonzero(sizes == 1), "vertex")))
    return Answer(
        facts=facts,
        columns={name: found},
        top=Top(
            f"largest {plural(name)}, each identified by one of its vertices",
            (name, "vertices"),
            [(str(graph.labels[int(parts[k])]), number(sizes[k])) for k in order],
        ),
    )


def of_pairs(graph: Graph, found: Matrix, name: str, rows: int) -> Answer:
    """Return the answer for a Matrix that holds a number for each edge or pair of vertices."""
    i, j, numbers = found.to_coo()
    rows_of, columns_of = graph.labels, graph.labels
    if isinstance(found, LabelledMatrix):
        rows_of, columns_of = found.labels
    facts = [("entries", number(numbers.size))]
    if numbers.size and found.dtype != "BOOL":
        facts.append((name, spread(numbers)))
    order = np.lexsort((-j, -i, numbers))[::-1][:rows]
    cells = [
        (str(rows_of[int(i[k])]), str(columns_of[int(j[k])]), number(numbers[k])) for k in order
    ]
    top = Top(f"greatest {name}", ("source", "target", name), cells)
    return Answer(facts=facts, pairs=(name, found), top=top)


def _answer_list(graph: Graph, found: list[Any], name: str) -> Answer:
    """Return the answer for a path (a list of vertices) or for layers of vertices."""
    if found and isinstance(found[0], list):
        depth = {label: k for k, layer in enumerate(found) for label in layer}
        placed = {graph.vertex(label): k for label, k in depth.items()}
        column = graph.labelled(Vector.from_dict(placed, "INT64", size=graph.nvertices))
        widths = ", ".join(number(len(layer)) for layer in found[:8]) + ", ..." * (len(found) > 8)
        return Answer(facts=[(plural(name), f"{len(found)}: {widths}")], columns={name: column})
    shown = found if len(found) <= 12 else [*found[:6], "...", *found[-5:]]
    return Answer(
        facts=[(name, " -> ".join(map(str, shown)) or "none")],
        listed=(name, found),
    )


def _join(answers: Sequence[Answer]) -> Answer:
    """Combine several answers into one.

    The result has the facts and the columns of all answers. Each of its other fields comes from the
    first answer in which the field is set.
    """
    return Answer(
        facts=[fact for each in answers for fact in each.facts],
        columns={name: column for each in answers for name, column in each.columns.items()},
        top=next((each.top for each in answers if each.top), None),
        total=next((each.total for each in answers if each.total), None),
        pairs=next((each.pairs for each in answers if each.pairs), None),
        listed=next((each.listed for each in answers if each.listed), None),
    )


def spread(numbers: np.ndarray) -> str:
    """Return the range and the mean of the numbers as text."""
    low, high = numbers.min(), numbers.max()
    if low == high:
        return f"all {number(low)}"
    mean = number(numbers.mean(dtype=float))
    return f"from {number(low)} to {number(high)}, {mean} on average"


def extremes(title: str, graph: Graph, name: str, vector: Vector, rows: int) -> Top:
    """Return a table of the vertices with the largest values, in descending order of value.

    The table has at most `rows` rows. Vertices with equal values are sorted by their numbers.
    """
    vertices, numbers = vector.to_coo()
    # Sort in ascending order and reverse the result. Negating the numbers instead is not possible,
    # because not every dtype has negative values.
    order = np.lexsort((-vertices, numbers))[::-1][:rows]
    cells = [(str(graph.labels[int(vertices[k])]), number(numbers[k])) for k in order]
    return Top(title, ("vertex", name), cells)
