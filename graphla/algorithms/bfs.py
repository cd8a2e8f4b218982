"""Breadth-first search: how many edges away each vertex is, and from which vertex it was reached.

As algebra it is a loop, in which each round multiplies the frontier by A under a mask that hides
what is reached already (`graphla.traversal.definition.search`, `examples/bfs_as_algebra.py`):

    p⟨f⟩ = f;  l⟨f⟩ = depth;  f⟨¬p, r⟩ = f any.secondi A,  until f is empty

It runs as one operation for all its levels, each by push or by pull, whichever reads less (Beamer,
Asanović and Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from graphla.algorithms import arguments
from graphla.formats import Array, BitmapVector
from graphla.operations.operation import Running
from graphla.sparse import Mask, Matrix, Vector
from graphla.sparse.mask import as_mask
from graphla.stores import MatrixForms, VectorForms
from graphla.traversal.searching import Parents, lower, search
from semirings.dtypes import INT32, UINT8, DataType, lookup_dtype
from semirings.exceptions import InvalidValue


class Traversal(NamedTuple):
    """What a BFS finds. A vertex that is not reached has no entry in either vector."""

    levels: Vector | None
    parents: Vector | None


@arguments.of_graph(vertices=("source",), gives=("parents",))
def bfs(
    A: Matrix,
    source: Any,
    *,
    levels: Any = "INT32",
    parents: bool | Literal["least"] = True,
    cutoff: int | None = None,
    mask: Mask | Vector | None = None,
) -> Any:
    """f⟨¬p, r⟩ = f any.secondi A, until f is empty: levels and parents of a breadth-first search.

    An edge i -> j is an entry A(i, j), whatever its value. `source` is a vertex, a list or array of
    vertices, or a Vector with an entry at each; a source has level 0 and is its own parent.

    - levels: their dtype: INT32, or UINT8, which is quicker to write and holds levels up to 254
      (OverflowError beyond); None for no levels;
    - parents: True for any of several possible parents, "least" for the least of them; False for
      none;
    - cutoff: ends the search that many edges away from the sources;
    - mask: vertices off it are neither reached nor passed (`mask=~forbidden.S`), but sources are.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import bfs
    >>> A = Matrix.from_coo([0, 0, 1, 2, 3], [1, 2, 3, 3, 0], 1, nrows=5, ncols=5)
    >>> levels, parents = bfs(A, 0)
    >>> levels.to_dict()
    {0: 0, 1: 1, 2: 1, 3: 2}
    >>> bfs(A, [1, 4], parents="least").parents.to_dict()
    {0: 3, 1: 1, 2: 0, 3: 1, 4: 4}
    """
    n, forms = A.nrows, A._forms
    starts, given = arguments.sources(source, A)
    cutoff = None if cutoff is None else arguments.count("cutoff", cutoff, least=0)
    dtype = _dtype_of_levels(levels)
    if parents is not True and parents is not False and parents != "least":
        raise InvalidValue(f'parents must be True, "least" or False, not {parents!r}')
    kept: Parents = None if parents is False else "least" if parents == "least" else "any"
    read, lowered = (forms, *given), None
    if mask is not None:
        mask = as_mask(mask)
        lowered = lower(mask, n, forms.device)
        read = (*read, mask.parent._read())
    with Running("bfs", read) as running:
        if not starts.size:
            return _nothing(forms, dtype, kept)
        reached, made = _Count(), []

        def make(depths: Array | None, before: Array | None, present: Array) -> None:
            def vector(values: Array | None, dtype: DataType) -> Any:
                if values is None:
                    return None
                found = BitmapVector(n, present, values, reached)
                return Vector._of(running.gives(VectorForms(forms.device, dtype, found)))

            made.append(Traversal(vector(depths, dtype or INT32), vector(before, INT32)))

        tree = search(
            forms,
            starts,
            mask=lowered,
            limit=cutoff,
            levels=None if dtype is None else dtype.np_type,
            parents=kept,
            meanwhile=make,
        )
        if not made:
            make(tree.levels, tree.parents, tree.present)
        reached.value = tree.reached
        return made[-1]


class _Count:
    """How many vertices are reached: told once the search is over."""

    __slots__ = ("value",)

    def __int__(self) -> int:
        return self.value


def _dtype_of_levels(levels: Any) -> DataType | None:
    if levels is None:
        return None
    if isinstance(levels, str) and levels == "INT32":
        return INT32
    try:
        dtype = lookup_dtype(levels)
    except (TypeError, ValueError):
        dtype = None
    if dtype not in (INT32, UINT8):
        raise InvalidValue(f"levels must be INT32, UINT8 or None, not {dtype or repr(levels)}")
    return dtype


def _nothing(a: MatrixForms, dtype: DataType | None, parents: Parents) -> Traversal:
    def empty(dtype: DataType) -> Vector:
        return Vector._of(VectorForms.empty(a.device, dtype, a.nrows))

    return Traversal(dtype and empty(dtype), empty(INT32) if parents else None)
