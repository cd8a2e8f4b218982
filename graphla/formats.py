"""Immutable storage classes, which hold the arrays of the entries of a matrix or vector.

Invariants, for every array here:
- entries are unique;
- `indices` are int32. They are sorted: in a `Csr` within each row, and in a `SparseVector` unless
  its `is_sorted` is False;
- `values` has one element per entry. If all values are equal, it may be *iso-valued*: a read-only
  broadcast of one element with stride 0. Such an array takes the memory of one element, and code
  may treat it like any other array;
- an array that another object can access is never written to: see `graphla.stores.take_in_place`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, SupportsInt, TypeAlias, TypeVar, dataclass_transform

import numpy as np

T = TypeVar("T")
Array = Any  # numpy.ndarray or cupy.ndarray; this module works with both


@dataclass_transform(eq_default=False, frozen_default=True)
def quick_dataclass(cls: type[T]) -> type[T]:
    """Create a dataclass whose fields are frozen for type checkers. Objects compare by identity.

    At run time, nothing prevents an assignment to a field. With `dataclass(frozen=True)`, which
    prevents it, creating an object would take three times as long, and each statement creates
    several objects.
    """
    return dataclass(slots=True, eq=False, weakref_slot=True)(cls)


class Remembering:
    """A base class whose instances can cache values; see `remember`."""

    __slots__ = ("_known",)


@quick_dataclass
class Csr(Remembering):
    """A matrix in CSR: the columns of row i are `indices[indptr[i]:indptr[i + 1]]`.

    CSC is stored as the Csr of the transpose. `indptr` is int32 if nvals < 2^31,
    otherwise int64.
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
    """The pattern of a square matrix whose vertices are renumbered by decreasing degree class.

    The class of a vertex is the bit length of its degree. Within a class the vertices keep the
    user's order, so mapping results back to the user's numbers reads memory in a few ascending
    runs. Hubs come first, and idle vertices (those without edges) last. Rows are sorted, so each
    row begins with the neighbors that have the highest degrees.
    """

    new: Array  # int32[n]: new[v] is the new number of the user's vertex v
    old: Array  # int32[n]: the inverse of `new`: old[new[v]] == v
    out: Csr  # row v lists the out-neighbors of v; only the pattern matters, not the values
    into: Csr  # row v lists the in-neighbors of v; the same as `out` if the matrix is symmetric
    first: Array  # int32[active]: the first in-neighbor of each vertex, or -1
    active: int  # number of vertices with edges; their numbers are 0..active-1
    ends: tuple[
        int, ...
    ]  # for each degree class in order, the number of its last vertex plus 1; ends with `active`


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Plan(Remembering):
    """Precomputed data for traversals of a square matrix, stored next to its CSR and CSC forms.

    A plan depends only on the pattern of the matrix, not on any traversal.
    """

    idle: Array  # uint32[ceil(n/32)]: bit v%32 of word v//32 is set if v has no edge, or v >= n
    first: Array  # int32[n]: an in-neighbor of v, preferably with many edges; -1 if there is none
    # the pattern in a new numbering of the vertices; only full plans on a GPU have it
    relabeled: Relabeled | None
    nbytes: int  # memory of the plan on the device in bytes, without the matrix itself
    # Time in seconds to build the plan. A full plan is built from a plan that is not full; the time
    # for both is added up.
    seconds: float
    # Whether this is a full plan. On a GPU, only a full plan has `relabeled`. On the CPU, the array
    # `first` of a full plan holds the in-neighbors with the most edges.
    is_full: bool = False


@quick_dataclass
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


class Arena:
    """The entries of several vectors, one vector after another.

    Vector k has the entries from ends[k - 1] to ends[k] - 1, where ends[-1] stands for 0. The
    arrays may be longer than needed. `ends` is int64. `top` is the number of entries of the first
    `count` vectors.
    """

    __slots__ = ("_bounds", "count", "ends", "indices", "top", "values")

    def __init__(self, indices: Array, values: Array, ends: Array, count: int, top: int) -> None:
        self.indices, self.values, self.ends = indices, values, ends
        self.count, self.top = count, top
        self._bounds: list[int] | None = None

    def bounds(self) -> list[int]:
        """Return [0, *ends[:count]] as Python integers; the host waits for the device."""
        found = self._bounds
        if found is None:
            found = self._bounds = [0, *self.ends[: self.count].tolist()]
        return found

    def vector(self, size: int, item: int) -> SparseVector:
        """Return vector number `item`, of the given size."""
        begin, end = self.bounds()[item : item + 2]
        return SparseVector(size, self.indices[begin:end], self.values[begin:end], False)


class PendingVector(SparseVector):
    """A SparseVector for which a device is still computing the number of entries.

    When `indices` or `values` is first read, the host waits for the number of entries, and
    `take(number)` returns both arrays. The arrays `whole`, if given, are the indices and values
    that other vectors share and that contain the entries of this vector. If their size equals the
    number of entries, they are used instead.
    """

    __slots__ = ("_count", "_made", "_take", "_whole")

    def __init__(
        self,
        size: int,
        indices: Array = None,
        values: Array = None,
        is_sorted: bool = True,
        count: SupportsInt | None = None,
        take: Callable[[int], tuple[Array, Array]] | None = None,
        whole: tuple[Array, Array] | None = None,
    ) -> None:
        self.size, self.is_sorted = size, is_sorted  # pyright: ignore[reportAttributeAccessIssue]
        self._take, self._whole, self._count = take, whole, count
        # `dataclasses.replace` passes the arrays instead of `count` and `take`.
        self._made = (indices, values) if count is None else None

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
        count, take = self._count, self._take
        # If another thread has just created the arrays, `count` or `take` is None.
        if count is not None and take is not None:
            entries, whole = int(count), self._whole
            is_whole = whole is not None and entries == whole[0].size
            self._made = whole if is_whole else take(entries)
            self._count = self._take = None  # free the memory of the count and of unused arrays
        return self._made  # pyright: ignore[reportReturnType]


@quick_dataclass
class BitmapVector:
    """Index i has an entry if `present[i]`; otherwise `values[i]` is arbitrary."""

    size: int
    present: Array  # bool
    values: Array
    count: SupportsInt  # number of entries: an int, or a `Counted` that converts to one

    @property
    def nvals(self) -> int:
        """Number of entries; the host may have to wait for it."""
        return int(self.count)


@quick_dataclass
class FullVector:
    """A vector with an entry at every index."""

    size: int
    values: Array

    @property
    def nvals(self) -> int:
        """Number of entries."""
        return self.size


@quick_dataclass
class VectorMask:
    """Selects the indices at which a vector may be written.

    They are the listed indices or, if `complement` is set, all other indices. The list is given by
    `present` (bool[size]), by `indices` (int32, sorted unless `is_sorted` is False), or by both,
    which must agree. `nvals` is the number of listed indices, if known.
    """

    size: int
    present: Array | None
    indices: Array | None
    complement: bool
    is_sorted: bool = True
    nvals: SupportsInt | None = None


@quick_dataclass
class MatrixMask:
    """Selects the positions at which a matrix may be written.

    They are the positions of the entries of `pattern`, or all other positions if `complement` is
    True. The values of `pattern` are not read.
    """

    pattern: Csr
    complement: bool


AnyVector: TypeAlias = SparseVector | BitmapVector | FullVector
DenseVector: TypeAlias = BitmapVector | FullVector


class Counted:
    """A count that a device computes; the host reads it on first use and caches it."""

    __slots__ = ("_value", "array")

    def __init__(self, array: Array):
        self.array: Array | None = array  # the count on the device; None once the host has read it
        self._value: int | None = None

    def __int__(self) -> int:
        array = self.array  # read it once, because another thread may set it to None
        if array is not None:
            self._value = int(array)
            self.array = None
        return self._value  # pyright: ignore[reportReturnType]


def known(count: SupportsInt) -> int | None:
    """Return the count, or None if the host would have to wait for the device to compute it."""
    if isinstance(count, Counted) and count.array is not None:
        return None
    return int(count)


def remember(holder: Remembering, key: Any, make: Callable[[], T]) -> T:
    """Return the result of make(). The first call caches it on `holder`, a matrix or a plan.

    `key` contains the name of the value and every argument that it depends on. The value must not
    refer to the matrix or plan; such a reference cycle is freed only by Python's garbage collector.
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
    """Return the memory of the arrays in bytes.

    An array that occurs twice is counted once. A broadcast array counts as one element.
    """
    different = {id(a): a for a in arrays if a is not None and a.size}.values()
    return sum(a.itemsize if a.strides[0] == 0 else a.nbytes for a in different)


def is_iso(values: Array) -> bool:
    """Return whether all values are equal and stored as one element."""
    return values.size > 0 and values.strides[0] == 0


def nan_bits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return (mask, infinity): the bits b represent a NaN of this dtype if b & mask > infinity."""
    if dtype.kind != "f":
        return 0, 0
    mask = (1 << (8 * dtype.itemsize - 1)) - 1
    return mask, int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}"))
