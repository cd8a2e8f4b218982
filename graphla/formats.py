"""Frozen arrays: how the entries of a matrix or vector lie in memory, and nothing that acts on it.

Invariants, for every array here:
- entries are unique; `indices` are int32 and sorted (within each row for `Csr`; for `SparseVector`
  unless `is_sorted` is False);
- `values` has one element per entry. Where all are equal (*iso-valued*) it is a read-only
  broadcast of one element, of stride 0, so that it costs one element of memory and any code that
  does not know stays right;
- nobody writes into an array that another object can see: see `graphla.stores.take`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, SupportsInt, TypeAlias, TypeVar

import numpy as np

T = TypeVar("T")
Array = Any  # numpy.ndarray or cupy.ndarray: storage does not know which


class Remembering:
    """Has room for what is known about it: see `remember`."""

    __slots__ = ("_known",)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Csr(Remembering):
    """Rows of (column, value): entries of row i are `indices[indptr[i]:indptr[i + 1]]`.

    A matrix by columns (CSC) is the Csr of its transpose. `indptr` is int32 where nvals < 2^31,
    else int64.
    """

    nrows: int
    ncols: int
    indptr: Array
    indices: Array
    values: Array

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return self.indices.size


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Relabeled:
    """A square matrix's pattern in another numbering: vertices by falling class of degree.

    The class of a vertex is the bit length of its degree. Inside a class the order is the user's,
    so what is mapped back is read as a few ascending streams; hubs lie together at the front, idle
    vertices (without any edge) at the end. Rows ascend, so each begins with its greatest hubs.
    """

    new: Array  # int32[n]: the user's vertex v is new[v] here
    old: Array  # int32[n]: old[new[v]] == v
    out: Csr  # by rows; its values say nothing but that there are entries (iso)
    into: Csr  # by columns: in-neighbours; the same object where the matrix is symmetric
    first: Array  # int32[active]: first in-neighbour, -1 where there is none
    active: int  # vertices 0..active-1 have edges
    ends: tuple[int, ...]  # where each class of degree ends, falling; the last is `active`


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Plan(Remembering):
    """What traversals read beside the forms of a square matrix; made of its pattern alone.

    Nothing in it was computed from a traversal.
    """

    idle: Array  # uint32[ceil(n/32)]: bit v%32 of word v//32 where v has no edge; those past n set
    first: Array  # int32[n]: an in-neighbour of v, of many edges if may be; -1 where there is none
    relabeled: Relabeled | None  # of full plans on a GPU
    nbytes: int  # on the device, beside the matrix's own forms
    seconds: float  # that building it took, both tiers together
    is_full: bool = False  # the full tier; on the CPU that means the best `first` of each row


@dataclass(frozen=True, slots=True, eq=False)
class SparseVector:
    """Entries (index, value), sorted by index unless `is_sorted` is False."""

    size: int
    indices: Array
    values: Array
    is_sorted: bool = True

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return self.indices.size


class PendingVector(SparseVector):
    """A SparseVector whose number of entries a device still counts.

    `indices` and `values` have room for `room` entries until somebody reads one of them. Then the
    host learns the number, and they are cut. If all of the room is used, `whole` takes their place:
    arrays with the same entries that other vectors hold already.
    """

    __slots__ = ("_count", "_made", "_room", "_whole")

    def __init__(
        self,
        size: int,
        indices: Array,
        values: Array,
        is_sorted: bool = True,
        count: SupportsInt | None = None,
        whole: tuple[Array, Array] | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "size", size)
        put(self, "is_sorted", is_sorted)
        put(self, "_room", (indices, values))
        put(self, "_whole", whole)
        put(self, "_count", count)
        put(self, "_made", (indices, values) if count is None else None)

    @property
    def is_counted(self) -> bool:
        """Whether the host knows the number of entries."""
        return self._made is not None

    @property
    def nvals(self) -> int:
        """Number of entries; the host may have to wait for it."""
        made, count = self._made, self._count
        return self.indices.size if made is not None or count is None else int(count)

    @property
    def indices(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The index of each entry."""
        return (self._made or self._cut())[0]

    @property
    def values(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The value of each entry."""
        return (self._made or self._cut())[1]

    def _cut(self) -> tuple[Array, Array]:
        count = self._count
        if count is not None:  # else another thread has just counted
            indices, values = self._room
            entries = int(count)
            made = indices[:entries], values[:entries]
            if entries == indices.size:
                made = self._whole or self._room
            object.__setattr__(self, "_made", made)
            object.__setattr__(self, "_count", None)  # frees the memory that the device counts in
        return self._made


@dataclass(frozen=True, slots=True, eq=False)
class BitmapVector:
    """Entry i is there where `present[i]`; `values[i]` is arbitrary elsewhere."""

    size: int
    present: Array  # bool
    values: Array
    count: SupportsInt  # of entries: an int, or what becomes one when asked (see `Counted`)

    @property
    def nvals(self) -> int:
        """Number of entries; the host may have to wait for it."""
        return int(self.count)


@dataclass(frozen=True, slots=True, eq=False)
class FullVector:
    """An entry at every index."""

    size: int
    values: Array

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return self.size


@dataclass(frozen=True, slots=True, eq=False)
class VectorMask:
    """Where a vector may be written: at the listed indices, or everywhere else if `complement`.

    `present` (bool[size]) or `indices` (int32, sorted unless `is_sorted` is False), or both, say
    the same; at least one is there. `nvals`, where known, is how many indices they say.
    """

    size: int
    present: Array | None
    indices: Array | None
    complement: bool
    is_sorted: bool = True
    nvals: SupportsInt | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MatrixMask:
    """Where a matrix may be written: at the entries of `pattern` (values unread), or elsewhere."""

    pattern: Csr
    complement: bool


AnyVector: TypeAlias = SparseVector | BitmapVector | FullVector
DenseVector: TypeAlias = BitmapVector | FullVector


class Counted:
    """A count that a device has, or will have, computed: read when first asked for, and kept."""

    __slots__ = ("_value", "array")

    def __init__(self, array: Array):
        self.array: Array | None = array  # where the device has the count, while the host does not
        self._value: int | None = None

    def __int__(self) -> int:
        array = self.array  # read once: another thread may forget it meanwhile
        if array is not None:
            self._value = int(array)
            self.array = None
        return self._value  # pyright: ignore[reportReturnType]


def known(count: SupportsInt) -> int | None:
    """A count that the host has; None where it would have to wait for the device."""
    if isinstance(count, Counted) and count.array is not None:
        return None
    return int(count)


def remember(holder: Remembering, key: Any, make: Callable[[], T]) -> T:
    """Return make(): computed at the first call for this matrix or plan, and kept as long as it.

    `key` names what is known, and every argument that it depends on. The value must not refer to
    the holder, or neither is freed before Python collects cycles.
    """
    try:
        known = holder._known
    except AttributeError:
        known = {}
        object.__setattr__(holder, "_known", known)
    if key not in known:
        known[key] = make()
    return known[key]


def bytes_of(*arrays: Array | None) -> int:
    """Return the bytes of memory of the arrays.

    An array that is given twice counts once. A broadcast array counts as one element.
    """
    different = {id(a): a for a in arrays if a is not None and a.size}.values()
    return sum(a.itemsize if a.strides[0] == 0 else a.nbytes for a in different)


def is_iso(values: Array) -> bool:
    """Whether all values are one, held once."""
    return values.size > 0 and values.strides[0] == 0


def nan_bits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return (mask, infinity) such that bits b are a NaN of this dtype if b & mask > infinity."""
    if dtype.kind != "f":
        return 0, 0
    mask = (1 << (8 * dtype.itemsize - 1)) - 1
    return mask, int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}"))
