"""The stores of vectors, and of lists of vectors."""

from __future__ import annotations

from _thread import RLock  # `threading.RLock` is a Python function that calls this class
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from graphla.backends import backend, streams
from graphla.backends.values import count_true
from graphla.formats import (
    BitmapVector,
    Counted,
    FullVector,
    PendingVector,
    SparseVector,
    VectorMask,
    bytes_of,
    is_iso,
    known,
)
from semirings.dtypes import BOOL

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphla.formats import AnyVector, Arena, DenseVector
    from semirings.dtypes import DataType

HUGE = 1 << 27
"""A vector whose size exceeds this limit is not made dense if fewer than 1/16 of its indices have
an entry."""

MOST_HOST_ENTRIES = 16
"""The maximum number of entries of a vector on a GPU that are only in the memory of the host."""

_MADE: Any = object()
"""The value of `VectorStore._make` when the form has been built."""

_FILLED = frozenset(
    (
        "_abroad",
        "_counted",
        "_lock",
        "_make",
        "_merged",
        "device",
        "dtype",
        "host_entries",
        "shape",
        "size",
    )
)
"""The attributes of a `VectorStore` that may get their values when one of them is first read."""

_filling = RLock()


class StackStore:
    """Holds the entries of a list of vectors (see `VectorStore.items_of`).

    `stamps` are those of the work that created the arrays.
    """

    __slots__ = ("arena", "device", "dtype", "size", "stamps")

    def __init__(
        self, device: str, dtype: DataType, size: int, arena: Arena, stamps: tuple[Any, ...]
    ) -> None:
        self.device, self.dtype, self.size = device, dtype, size
        self.arena, self.stamps = arena, stamps

    def ready(self) -> Arena:
        """Make the current stream wait until the arrays are complete, and return them."""
        if self.stamps:
            streams(self.device).wait_for(self.stamps)
        return self.arena

    def vector(self, item: int) -> SparseVector:
        """Return the form of vector number `item`."""
        return self.ready().vector(self.size, item)


class VectorStore:
    """Holds the entries of a vector in one or two forms.

    A store with a full form has no other form. Any other store has a sparse form, a bitmap, or
    both, with the same entries.

    On a GPU, a store may have no form at first. The first access to one of the attributes
    `_sparse`, `_bitmap` and `_full` then builds a form (see `__getattr__`). Some other attributes
    also get their values when they are first read, so that creating a store costs little. Three
    class methods create stores without a form:
    - `of_entries`: the dict `host_entries`, which is never modified, holds a few entries in the
      memory of the host. So `v = Vector(int, n); v[i] = x` launches no kernel. In all other stores,
      `host_entries` is None.
    - `of_maker`: a function returns the form, without any work on the device.
    - `items_of`: each store is one item of the list `stack`, at the index `item`. There may be
      thousands of items, so only `stack`, `item` and `stamps` are set at first. In all other
      stores, `stack` is None.

    The argument `stamps` contains the stamps of the work that created `storage`. The default is one
    stamp that covers all work issued so far. Entries that are only on the host have no stamps.
    """

    __slots__ = (
        "_abroad",
        "_bitmap",
        "_counted",
        "_full",
        "_lock",
        "_make",
        "_merged",
        "_sparse",
        "device",
        "dtype",
        "host_entries",
        "item",
        "shape",
        "size",
        "stack",
        "stamps",
    )

    def __init__(
        self,
        device: str,
        dtype: DataType,
        storage: AnyVector,
        stamps: tuple[Any, ...] | None = None,
    ) -> None:
        self.device = device
        self.dtype = dtype
        self.size = storage.size
        self.shape = (storage.size,)
        self._sparse = storage if isinstance(storage, SparseVector) else None
        self._bitmap = storage if isinstance(storage, BitmapVector) else None
        self._full = storage if isinstance(storage, FullVector) else None
        # False after a write in place: the entry count of the bitmap may then be outdated.
        self._counted = True
        # number of entries that sparse merges have rewritten since the vector was last dense
        self._merged = 0
        self._lock = RLock()
        if stamps is None:
            stamps = () if device == "cpu" else (streams(device).Stamp(),)
        self.stamps = stamps
        self._abroad: tuple[Any, ...] = ()
        self.host_entries: dict[int, Any] | None = None
        self.stack: StackStore | None = None

    @classmethod
    def of_entries(
        cls, device: str, dtype: DataType, size: int, entries: dict[int, Any]
    ) -> VectorStore:
        """Return a store of a few entries, which stay on the host until a form is first read.

        `device` is a GPU. The values are NumPy scalars of the dtype.
        """
        streams(device).require_device(device)
        store = object.__new__(cls)
        store.device, store.dtype, store.size, store.stamps = device, dtype, size, ()
        store.host_entries, store.stack, store._make = entries, None, None
        return store

    @classmethod
    def of_maker(
        cls,
        device: str,
        dtype: DataType,
        size: int,
        make: Callable[[], AnyVector],
        stamps: tuple[Any, ...],
    ) -> VectorStore:
        """Return a store that gets its form from `make()` when a form is first read.

        `stamps` are those of the form.
        """
        store = object.__new__(cls)
        store.device, store.dtype, store.size, store.stamps = device, dtype, size, stamps
        store.host_entries, store.stack, store._make = None, None, make
        return store

    @classmethod
    def items_of(cls, stack: StackStore, first: int, last: int) -> list[VectorStore]:
        """Return the stores of items first to last - 1 of a list of vectors."""
        new, stamps, stores = object.__new__, stack.stamps, []
        for item in range(first, last):
            store = new(cls)
            store.stack, store.item, store.stamps = stack, item, stamps
            stores.append(store)
        return stores

    if not TYPE_CHECKING:  # otherwise, a type checker would accept every name

        def __getattr__(self, name: str) -> Any:
            """Build the form of a store that has no form yet, and return the attribute.

            Python calls this if the attribute has no value.
            """
            if name in ("_sparse", "_bitmap", "_full"):
                self._make_form()
            elif name in _FILLED:
                self._fill()
            else:
                raise AttributeError(f"a VectorStore has no attribute {name!r}")
            return object.__getattribute__(self, name)

    def _make_form(self) -> None:
        with self._lock:
            if self._make is _MADE:  # another thread has built the form
                return
            order = streams(self.device)
            before = order.enter_device(self.device)
            try:
                v = self._upload() if self._make is None else self._make()
            finally:
                order.leave_device(before)
            self._sparse = v if isinstance(v, SparseVector) else None
            self._bitmap = v if isinstance(v, BitmapVector) else None
            self._full = v if isinstance(v, FullVector) else None
            self._make = _MADE

    def _fill(self) -> None:
        """Give a value to the attributes in `_FILLED`."""
        with _filling:
            with suppress(AttributeError):
                object.__getattribute__(self, "_lock")
                return  # another thread has filled them
            stack = self.stack
            if stack is not None:
                self.device, self.dtype, self.size = stack.device, stack.dtype, stack.size
                self.host_entries, self._make = None, partial(stack.vector, self.item)
            self.shape, self._counted, self._merged, self._abroad = (self.size,), True, 0, ()
            self._lock = RLock()

    def _upload(self) -> SparseVector:
        """Return the sparse form of entries that are only on the host."""
        entries: Any = self.host_entries
        order, do = streams(self.device), backend(self.device)
        if len(entries) == 1:
            ((i, value),) = entries.items()
            v = do.one_entry(self.size, i, value)
        else:
            places = sorted(entries)
            values = np.array([entries[i] for i in places], self.dtype.np_type)
            indices = do.asarray(np.array(places, np.int32))
            v = SparseVector(self.size, indices, do.asarray(values))
        self.stamps = order.add_stamp(self.stamps) if self.stamps else (order.Stamp(),)
        return v

    @classmethod
    def empty(cls, device: str, dtype: DataType, size: int) -> VectorStore:
        """Return a store without entries."""
        if device != "cpu":
            return cls.of_entries(device, dtype, size, {})
        do = backend(device)
        none = SparseVector(size, do.full(0, 0, np.int32), do.full(0, 0, dtype.np_type))
        return cls(device, dtype, none)

    @property
    def nvals(self) -> int:
        """Number of entries."""
        entries = self.host_entries
        if entries is not None:
            return len(entries)
        v = self._sparse
        if v is None:
            return self.any_form.nvals
        return v.indices.size if type(v) is SparseVector else v.nvals

    @property
    def nbytes(self) -> int:
        """Memory of all forms, in bytes."""
        v, w, u = self._sparse, self._bitmap, self._full
        parts = [part for form in (v, w, u) if form is not None for part in (form.values,)]
        return bytes_of(*parts, v and v.indices, w and w.present)

    @property
    def known_nvals(self) -> int | None:
        """Number of entries, or None if reading it would make the host wait for the device."""
        entries = self.host_entries
        if entries is not None:
            return len(entries)
        v = self._sparse or self._full or (self._counted and self._bitmap) or self.any_form
        if isinstance(v, BitmapVector):
            return known(v.count)
        return None if type(v) is PendingVector and not v.is_counted else v.nvals

    @property
    def any_form(self) -> AnyVector:
        """An existing form of the vector.

        If there are several forms, a bitmap is preferred to a sparse form.
        """
        if self._bitmap is not None and not self._counted:
            return self.bitmap()
        # Another thread may be replacing the forms in the method `full`. If no form is found for
        # this reason, try again.
        v = self._full or self._bitmap or self._sparse or self.any_form
        if self.stamps and streams(self.device).wait_for(self.stamps):
            self._keep(v)
        return v

    @property
    def has_dense(self) -> bool:
        """Whether a dense form exists, so that `dense` costs nothing."""
        return self._bitmap is not None or self._full is not None

    @property
    def has_sparse(self) -> bool:
        """Whether the sparse form exists, so that `sparse(sorted=False)` costs nothing."""
        return self._sparse is not None

    def sparse(self, sorted: bool = True) -> SparseVector:
        """Return the sparse form. If `sorted` is False, its indices may be in any order."""
        v = self._sparse
        if v is not None and (v.is_sorted or not sorted):
            if self.stamps and streams(self.device).wait_for(self.stamps):
                self._keep(v)
            return v
        v = self._full
        if v is not None:
            return backend(self.device).to_sparse(self._ready(v))
        with self._lock:
            v = self._sparse
            if v is None:
                v = backend(self.device).to_sparse(self.any_form)
            if sorted and not v.is_sorted:
                v = backend(self.device).sort(self._ready(v))
            if v is not self._sparse:
                self._stamp()
            self._sparse = v
        return self._ready(v)

    def bitmap(self) -> BitmapVector:
        """Return the bitmap form: a presence flag and a value for each index."""
        v = self._bitmap
        if v is not None and self._counted:
            if self.stamps and streams(self.device).wait_for(self.stamps):
                self._keep(v)
            return v
        v = self._full
        if v is not None:
            return backend(self.device).to_bitmap(self._ready(v))
        with self._lock:
            v = self._bitmap
            if v is None:
                v = backend(self.device).to_bitmap(self.any_form)
                self._stamp()
            elif not self._counted:
                self._ready(v)
                v = BitmapVector(v.size, v.present, v.values, Counted(count_true(v.present)))
                self._stamp()
            self._bitmap, self._counted = v, True
        return self._ready(v)

    def full(self) -> FullVector | None:
        """Return the full form if every index has an entry, otherwise None.

        The result is also None if the device is still counting the entries, because the host does
        not wait for the count.
        """
        if self._full is None and self.known_nvals == self.size:
            values = self.bitmap().values
            with self._lock:
                # The bitmap and the sparse form are no longer needed. Both can be rebuilt from the
                # full form at little cost, without copying the values.
                self._full = FullVector(values.size, values)
                self._bitmap = self._sparse = self.host_entries = None
        return self._full and self._ready(self._full)

    def dense(self) -> DenseVector:
        """Return the full form if all indices are known to have an entry, otherwise the bitmap."""
        v = self._bitmap
        if (v is None or not self._counted) and self._full is None:
            v = self.bitmap()
        count: Any = self.size if v is None else v.count
        if (type(count) is int or count.array is None) and int(count) == self.size:
            return self.full()  # pyright: ignore[reportReturnType]
        if self.stamps and streams(self.device).wait_for(self.stamps):
            self._keep(v)
        return v  # pyright: ignore[reportReturnType]

    @property
    def stays_sparse(self) -> bool:
        """Whether the vector is so large and sparse that making it dense would not pay off."""
        return not self.has_dense and self.size > HUGE and self.nvals * 16 < self.size

    def mask(self, structural: bool, complement: bool) -> VectorMask | None:
        """Return a mask that selects the indices with an entry.

        If `structural` is False, the mask selects only those indices whose entry is true (nonzero).
        If `complement` is True, the mask selects all other indices instead. None means that the
        mask selects every index.
        """
        has_dense = self._bitmap is not None or self._full is not None
        v = self.dense() if has_dense else self.sparse(sorted=False)
        if not structural and is_iso(v.values):
            if not bool(v.values[0]):
                return _mask_of_none(v, complement)
            structural = True
        if structural:
            if isinstance(v, FullVector):
                return _mask_of_none(v, False) if complement else None
            if isinstance(v, SparseVector):
                listed = v.indices
                return VectorMask(v.size, None, listed, complement, v.is_sorted, listed.size)
            w = self._sparse
            if w is None:
                return VectorMask(v.size, v.present, None, complement, True, v.count)
            listed = self._ready(w).indices
            return VectorMask(v.size, v.present, listed, complement, w.is_sorted, v.count)
        # Let the backend convert the values to BOOL, because CuPy would convert subnormal numbers
        # to False.
        true = backend(self.device).cast(v, BOOL.np_type).values
        if isinstance(v, SparseVector):
            indices = v.indices[true]
            return VectorMask(v.size, None, indices, complement, v.is_sorted, indices.size)
        if isinstance(v, BitmapVector):
            true = true & v.present
        return VectorMask(v.size, true, None, complement)

    def base_for_write(self, entries: int) -> AnyVector:
        """Return the form of the vector into which `entries` new entries will be written.

        A write to the sparse form rewrites all entries of the vector. Making the vector dense costs
        O(size) once. After that, each write in place (`take_in_place`) costs O(entries). As in the
        ski rental problem, the vector becomes dense when the sparse writes so far have rewritten
        `size` / 4 entries. If each sparse write has a fixed cost on the device, this cost counts as
        additional entries. A huge vector with few entries stays sparse.
        """
        if not self.has_dense:
            self._merged += self.nvals + entries + backend(self.device).MERGE_PRICE
            if self._merged * 4 >= self.size and not self.stays_sparse:
                self.dense()
        return self.any_form

    def with_entry(self, i: int, value: Any) -> VectorStore:
        """Return a new store like this one, with v(i) = value; None deletes the entry.

        `host_entries` must not be None. `value` is a NumPy scalar of the dtype.
        """
        entries = self.host_entries.copy()  # pyright: ignore[reportOptionalMemberAccess]
        if value is None:
            entries.pop(i, None)
        else:
            entries[i] = value
        return VectorStore.of_entries(self.device, self.dtype, self.size, entries)

    def _ready(self, form: Any) -> Any:
        """Make the current stream wait until the form is complete, and return the form.

        If another stream built the form, the store keeps a reference to the form even after another
        form has replaced it. Otherwise the other stream could reuse the memory too early, before
        the current stream has read the form.
        """
        if self.stamps and streams(self.device).wait_for(self.stamps):
            self._keep(form)
        return form

    def _keep(self, form: Any) -> None:
        with self._lock:
            if all(form is not each for each in self._abroad):
                self._abroad = (*self._abroad, form)

    def _stamp(self) -> None:
        """Add the stamp of a form that has just been built."""
        if self.stamps:
            self.stamps = streams(self.device).add_stamp(self.stamps)

    def owe_to(self, stamps: tuple[Any, ...]) -> None:
        """Add the stamps of another store, with which this store may share arrays.

        Readers of this store then also wait for the added stamps. On the CPU there are no stamps.
        """
        if stamps:
            self.stamps = streams(self.device).merge_stamps(self.stamps, stamps)

    def successor(self, storage: AnyVector) -> VectorStore:
        """Return a new store that holds the form `storage` and is to replace this store."""
        forms = VectorStore(self.device, self.dtype, storage)
        forms._merged = self._merged
        return forms


def _mask_of_none(v: AnyVector, complement: bool) -> VectorMask:
    none = v.values[:0].astype("int32")
    return VectorMask(v.size, None, none, complement, nvals=0)
