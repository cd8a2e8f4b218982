"""Convert the user's partition of the vertices into communities to a vector of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.membership import number_values
from graphla.graph.labels import vertex_name
from graphla.operations.operation import refuse_mixed
from graphla.sparse import Matrix, Vector, VectorExpression
from semirings.exceptions import DimensionMismatch, InvalidValue


def read_labels(communities: Any, A: Matrix) -> Vector:
    """Convert `communities` to a full Vector with one label per vertex of A.

    The labels are numbers from 0 to n - 1. Raise an error if a vertex is in no community, or in
    more than one.
    """
    n = A.nrows
    if isinstance(communities, Mapping):
        missing = next((v for v in range(n) if v not in communities), None)
        if missing is not None or len(communities) != n:
            raise InvalidValue(
                f"communities has {len(communities)} vertices"
                + ("" if missing is None else f" and not {missing}")
                + f", but should have a label for each of the {n}"
            )
        numbers: dict[Any, int] = {}
        listed = [numbers.setdefault(communities[v], len(numbers)) for v in range(n)]
        return Vector.from_dense(np.array(listed, np.int64))
    if isinstance(communities, (Vector, VectorExpression)):
        given = communities.new() if isinstance(communities, VectorExpression) else communities
        if given.size != n or given.nvals != n:
            raise DimensionMismatch(
                f"communities has {given.nvals} labels, but should have one for each of the "
                f"{n} vertices"
            )
        if given.device != A.device:
            refuse_mixed(A.device, given.device, "A and communities")
        return number_values(given)[0]
    labels, total, count = np.full(n, -1, np.int64), 0, 0
    if not isinstance(communities, Iterable):
        raise TypeError(f"communities must be labels or sets of vertices, not {communities!r}")
    for k, members in enumerate(communities):
        if not isinstance(members, Iterable):
            raise TypeError(f"communities has {members!r}, but should have sets of vertices")
        listed = validation.vertices("communities", list(members), n)
        labels[listed] = k
        total, count = total + listed.size, k + 1
    missing = np.flatnonzero(labels < 0)
    if total > n - missing.size:
        raise InvalidValue("communities has a vertex twice, but should have each once")
    if missing.size:
        v = int(missing[0])
        raise InvalidValue(f"communities lacks vertex {vertex_name(v)}, but should have each once")
    found = Vector.from_dense(labels)
    return found if count <= n else number_values(found)[0]
