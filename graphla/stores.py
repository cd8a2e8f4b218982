"""Stores: the objects that hold the entries of a matrix, a vector or a scalar.

A store holds the same entries in one or more storage forms, such as CSR or a bitmap. A form is made
when it is first needed. It never changes afterwards, except in `take_in_place`. To change a matrix
or a vector, we give it other forms. An object that refers to the old forms keeps seeing the old
entries.

On a GPU, one stream may make a form that another stream reads. Each store therefore has stamps (see
`graphla.backends.cuda.streams`), and every reader of a form waits for its stamp. So that no reader
misses a stamp, a writer stores the stamp before the form, and a reader reads the form before the
stamps.
"""

from __future__ import annotations

import sys
from _thread import RLock  # `threading.RLock` is a Python function that calls this class
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from graphla.backends import backend, streams
from graphla.formats import (
    BitmapVector,
    Counted,
    Csr,
    FullVector,
    MatrixMask,
    PendingVector,
    Remembering,
    SparseVector,
    VectorMask,
    bytes_of,
    is_iso,
    known,
    remember,
)
from graphla.plans import PlanReport, Plans
from semirings import monoid
from semirings.dtypes import BOOL

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphla.formats import AnyVector, Arena, DenseVector, Plan
    from semirings.dtypes import DataType

HUGE = 1 << 27
"""A vector with more indices than this is not made dense if fewer than 1/16 of its indices have an
entry."""

MOST_HOST_ENTRIES = 16
"""The maximum number of entries of a vector on a GPU that are only in the memory of the host."""

_MADE: Any = object()
"""The value of `VectorStore._make` when the form has been made."""

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
"""The attributes that a `VectorStore` may get when one of them is first read."""

_filling = RLock()


class StackStore:
    """Holds the entries of the vectors of a list, see `VectorStore.items_of`.

    `stamps` are those of the work that made the arrays.
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
        """Return an item."""
        return self.ready().vector(self.size, item)


class VectorStore:
    """Holds the entries of a vector in one or two forms.

    If there is a full form, it is the only form. Otherwise there is a sparse form, a bitmap, or
    both. They contain the same entries.

    A vector on a GPU may have no form until one is first read: reading one of the attributes
    `_sparse`, `_bitmap` and `_full` for the first time makes a form, see `__getattr__`. Some other
    attributes also get their values later, because such stores must cost little. There are three
    kinds of them:
    - `of_entries`: a few entries are only in the memory of the host, in the dict `host_entries`. So
      `v = Vector(int, n); v[i] = x` launches no kernel. The dict is never modified. It is None in
      all other stores.
    - `of_maker`: a function makes the form, without any work on the device.
    - `items_of`: the store is item number `item` of the list `stack`, which may have thousands of
      items. So only the attributes `stack`, `item` and `stamps` have a value at first. In all other
      stores, `stack` is None.

    `stamps` are those of the work that made `storage`; by default, a stamp of all work issued so
    far. Entries that are only on the host have no stamps.
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
        # False after a write in place, which may make the number of entries in the bitmap outdated.
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
        """Return a store whose form `make` returns when a form is first read.

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
            """Make the form of a store that has none, and return the attribute.

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
            if self._make is _MADE:  # another thread has made the form
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
                return  # another thread has done it
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
            return self.at_hand.nvals
        return v.indices.size if type(v) is SparseVector else v.nvals

    @property
    def nbytes(self) -> int:
        """Memory of all forms, in bytes."""
        v, w, u = self._sparse, self._bitmap, self._full
        parts = [part for form in (v, w, u) if form is not None for part in (form.values,)]
        return bytes_of(*parts, v and v.indices, w and w.present)

    @property
    def known_nvals(self) -> int | None:
        """Number of entries, or None if the host would have to wait for the device."""
        entries = self.host_entries
        if entries is not None:
            return len(entries)
        v = self._sparse or self._full or (self._counted and self._bitmap) or self.at_hand
        if isinstance(v, BitmapVector):
            return known(v.count)
        return None if type(v) is PendingVector and not v.is_counted else v.nvals

    @property
    def at_hand(self) -> AnyVector:
        """An existing form of the vector.

        This is the full form if there is one, else the bitmap if there is one, else the sparse
        form.
        """
        if self._bitmap is not None and not self._counted:
            return self.bitmap()
        # If no form is found, the method `full` may be replacing the forms in another thread, so
        # try again.
        v = self._full or self._bitmap or self._sparse or self.at_hand
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
                v = backend(self.device).to_sparse(self.at_hand)
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
                v = backend(self.device).to_bitmap(self.at_hand)
                self._stamp()
            elif not self._counted:
                self._ready(v)
                v = BitmapVector(v.size, v.present, v.values, Counted(v.present.sum()))
                self._stamp()
            self._bitmap, self._counted = v, True
        return self._ready(v)

    def full(self) -> FullVector | None:
        """Return the full form, which has a value for each index, or None if an index has no entry.

        The host does not wait for a device that is still counting the entries. In this case, the
        result is also None.
        """
        if self._full is None and self.known_nvals == self.size:
            values = self.bitmap().values
            with self._lock:
                # The bitmap and the sparse form are no longer needed. Both can be made again from
                # the full form at little cost, without copying the values.
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
        """Return the form of the vector into which a write is to merge `entries` new entries.

        A merge into the sparse form rewrites all entries of the vector. Making the vector dense
        costs O(size) once. After that, each write in place (`take_in_place`) costs O(entries). As
        in the ski rental problem, we make the vector dense when the sparse merges so far have
        rewritten `size` / 4 entries. On a device where each merge has a fixed cost, this cost
        counts as additional entries. A huge vector with few entries stays sparse.
        """
        if not self.has_dense:
            self._merged += self.nvals + entries + backend(self.device).MERGE_PRICE
            if self._merged * 4 >= self.size and not self.stays_sparse:
                self.dense()
        return self.at_hand

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

        If another stream made the form, the store keeps a reference to it, even after the form has
        been replaced. Otherwise the memory could be reused before the current stream has read it.
        """
        if self.stamps and streams(self.device).wait_for(self.stamps):
            self._keep(form)
        return form

    def _keep(self, form: Any) -> None:
        with self._lock:
            if all(form is not each for each in self._abroad):
                self._abroad = (*self._abroad, form)

    def _stamp(self) -> None:
        """Add the stamp of a form that has just been made."""
        if self.stamps:
            self.stamps = streams(self.device).add_stamp(self.stamps)

    def owe_to(self, stamps: tuple[Any, ...]) -> None:
        """Add the stamps of another store, whose arrays this store may share.

        A reader of this store then waits for these stamps, too. On the CPU there are no stamps.
        """
        if stamps:
            self.stamps = streams(self.device).merge_stamps(self.stamps, stamps)

    def successor(self, storage: AnyVector) -> VectorStore:
        """Return a new store that holds the form `storage` and is to replace this store."""
        forms = VectorStore(self.device, self.dtype, storage)
        forms._merged = self._merged
        return forms


class MatrixStore:
    """Holds the entries of a matrix in CSR, in CSC, or in both.

    The store `T` of the transpose uses the same two forms: its CSR is the CSC of this store, and
    its CSC is the CSR of this store. If the matrix is known to be symmetric, CSR and CSC are the
    same object. If only its pattern is known to be symmetric, CSR and CSC share the arrays `indptr`
    and `indices` (see `find_symmetry`).
    """

    __slots__ = ("_flipped", "_pair", "device", "dtype", "ncols", "nrows", "nvals", "shape")

    def __init__(
        self, device: str, dtype: DataType, csr: Csr | None = None, csc: Csr | None = None
    ) -> None:
        self.device = device
        self.dtype = dtype
        self._pair = _Pair(device, csr, csc)
        self._pair.stamps = () if device == "cpu" else (streams(device).Stamp(),)
        self._flipped = False
        if csr is not None:
            self.nrows, self.ncols = csr.nrows, csr.ncols
        elif csc is not None:
            self.nrows, self.ncols = csc.ncols, csc.nrows
        self.shape = (self.nrows, self.ncols)
        self.nvals = (csr or csc).indices.size  # pyright: ignore[reportOptionalMemberAccess]

    @classmethod
    def empty(cls, device: str, dtype: DataType, nrows: int, ncols: int) -> MatrixStore:
        """Return a store without entries."""
        do = backend(device)
        indptr, indices = do.full(nrows + 1, 0, np.int32), do.full(0, 0, np.int32)
        return cls(device, dtype, Csr(nrows, ncols, indptr, indices, do.full(0, 0, dtype.np_type)))

    @property
    def csr(self) -> Csr:
        """The entries in CSR."""
        pair = self._pair
        form = pair.by_columns if self._flipped else pair.by_rows
        if form is None:
            form = pair.make(self._flipped)
        if pair.stamps and streams(self.device).wait_for(pair.stamps):
            pair.keep(form)
        return form

    @property
    def csc(self) -> Csr:
        """The entries in CSC, as a `Csr` object that holds the transpose in CSR."""
        pair = self._pair
        form = pair.by_rows if self._flipped else pair.by_columns
        if form is None:
            form = pair.make(not self._flipped)
        if pair.stamps and streams(self.device).wait_for(pair.stamps):
            pair.keep(form)
        return form

    @property
    def any_form(self) -> Csr:
        """CSR if it exists, else CSC. Callers must not read its arrays, which may be incomplete."""
        pair = self._pair
        first, other = pair.by_rows, pair.by_columns
        if self._flipped:
            first, other = other, first
        return first or other  # pyright: ignore[reportReturnType]

    def find_symmetry(self) -> bool:
        """Return whether the pattern equals its transpose, regardless of the values.

        The first call takes one pass over the entries, which ends early if the patterns differ;
        the result is cached. If the values are symmetric as well, CSR and CSC become one object,
        and the memory of the other copy is freed.
        """
        found = self._pair.has_symmetric_pattern
        return self._pair.find_symmetry() if found is None else found

    def patterns(self) -> tuple[Csr, Csr | None]:
        """Return CSR and CSC for a caller that does not read the values.

        If the pattern is known to be symmetric, both results are the same object. Otherwise the
        second result is None if CSC has not been made yet.
        """
        pair = self._pair
        if pair.has_symmetric_pattern:
            form: Any = pair.by_rows or pair.by_columns
            if pair.stamps and streams(self.device).wait_for(pair.stamps):
                pair.keep(form)
            return form, form
        return self.csr, self.csc if self.has_csc else None

    @property
    def stamps(self) -> tuple[Any, ...]:
        """The stamps of the forms. A stamp records when, and on which stream, a form was made."""
        return self._pair.stamps

    def owe_to(self, stamps: tuple[Any, ...]) -> None:
        """Add the stamps of another store, whose arrays this store may share.

        A reader of this store then waits for these stamps, too. On the CPU there are no stamps.
        """
        if stamps:
            self._pair.stamps = streams(self.device).merge_stamps(self._pair.stamps, stamps)

    @property
    def held(self) -> tuple[bool, bool]:
        """Whether `csr` exists, and whether `csc` exists."""
        pair = self._pair
        if self._flipped:
            return pair.by_columns is not None, pair.by_rows is not None
        return pair.by_rows is not None, pair.by_columns is not None

    @property
    def has_csr(self) -> bool:
        """Whether `csr` exists, so that reading it costs nothing."""
        return (self._pair.by_columns if self._flipped else self._pair.by_rows) is not None

    @property
    def has_csc(self) -> bool:
        """Whether `csc` exists, so that reading it costs nothing."""
        return (self._pair.by_rows if self._flipped else self._pair.by_columns) is not None

    @property
    def known_nvals(self) -> int:
        """Number of entries."""
        return self.nvals

    @property
    def nbytes(self) -> int:
        """Memory of both forms, in bytes."""
        forms = [form for form in (self._pair.by_rows, self._pair.by_columns) if form is not None]
        return bytes_of(*(part for f in forms for part in (f.indptr, f.indices, f.values)))

    @property
    def is_symmetric(self) -> bool:
        """Whether the matrix is known to equal its transpose; CSR and CSC are then one object."""
        return self._pair.by_rows is self._pair.by_columns

    def add_loss(self, amount: float) -> float:
        """Add `amount` to the cost of doing without CSR or without CSC, and return the total cost.

        `amount` is the extra cost of one operation that ran without the missing form. The unit is
        the cost of gathering one entry in a pull. When the total reaches the cost of making the
        missing form, the caller makes it.
        """
        self._pair.owed += amount
        return self._pair.owed

    @property
    def T(self) -> MatrixStore:
        """The transpose. Its CSR is this store's CSC and vice versa, also for forms made later."""
        forms = object.__new__(MatrixStore)
        forms.device, forms.dtype = self.device, self.dtype
        forms.nrows, forms.ncols, forms.shape = self.ncols, self.nrows, self.shape[::-1]
        forms.nvals = self.nvals
        forms._pair, forms._flipped = self._pair, not self._flipped
        return forms

    def extent(self, dtype: DataType) -> tuple[Any, Any]:
        """Return the minimum and the maximum value, cast to `dtype`; cached after the first call.

        Both are NaN if a value is NaN. The matrix must have an entry.
        """

        def find() -> tuple[Any, Any]:
            values, do = (self.csr if self.has_csr else self.csc).values, backend(self.device)
            return do.reduce(values, monoid.min[dtype]), do.reduce(values, monoid.max[dtype])

        return remember(self._pair, dtype, find)

    def fact(self, name: str, find: Callable[[], Any]) -> Any:
        """Return the property called `name` of the matrix.

        The first call computes it with the function `find`. Later calls return the same result.
        """
        return remember(self._pair, (name, self._flipped and not self.is_symmetric), find)

    # --- the traversal plan of a square matrix (see `graphla.plans`) ------------------------------

    def plan_now(self) -> Plan | None:
        """Return the plan for a traversal that is about to begin.

        The first plan is a light one. A full plan replaces it when earlier traversals have taken
        enough time to justify the cost of the full plan. A pull needs both CSR and CSC, but this
        method makes neither. If one of them is missing and the pattern is not symmetric, the result
        is None.
        """
        pair, way = self._pair, int(self._flipped)
        is_symmetric = self.find_symmetry()
        if not is_symmetric and (pair.by_rows is None or pair.by_columns is None):
            return None
        plans, plan = pair.plans, pair.plans.ways[way]
        if plan is None or not plans.is_settled:
            wants_full = plans.seconds[0] > 0 and plans.wants_full(self._plan_cost())
            if plan is None or wants_full:
                plan = pair.make_plan(way, wants_full)
        return self._wait_for_plan(plan)

    def make_full_plan(self) -> None:
        """Make CSR and CSC, if one of them is missing, and then a full plan.

        If there is too little memory for a full plan, make a light plan instead.
        """
        self.find_symmetry()
        self.csr, self.csc  # noqa: B018
        if not self._pair.plans.is_full:
            # Try again to make a full plan, because more memory may be free by now.
            self._pair.plans.is_settled = False
        self._pair.make_plan(int(self._flipped), True)

    @property
    def report(self) -> PlanReport | None:
        """The report on the plan of the matrix, or None if there is no plan yet."""
        plan = self._pair.plans.ways[self._flipped]
        return None if plan is None else self._pair.plans.report(plan, self._plan_cost())

    def record_traversal(self, seconds: float) -> None:
        """Add the duration of a traversal to the timings that decide when to make a full plan."""
        self._pair.plans.record_traversal(seconds)

    def _plan_cost(self) -> float:
        """Return the estimated cost of making a full plan, in seconds.

        The cost is infinity if the plan would be too large.
        """
        return backend(self.device).plan_cost(*self.patterns())  # pyright: ignore[reportArgumentType]

    def _wait_for_plan(self, plan: Plan) -> Plan:
        if self._pair.stamps:
            streams(self.device).wait_for(self._pair.stamps)
        return plan

    def mask(self, structural: bool, complement: bool) -> MatrixMask:
        """Return a mask that selects the positions with an entry.

        If `structural` is False, the mask selects only those positions whose entry is true
        (nonzero). If `complement` is True, the mask selects all other positions instead.
        """
        pattern = self.csr
        if not structural:
            values = pattern.values
            if not is_iso(values) or not bool(values[0]):
                do = backend(self.device)
                pattern = do.keep(pattern, do.cast(pattern, BOOL.np_type).values)
        return MatrixMask(pattern, complement)


class ScalarStore:
    """Holds the value of a scalar, or None if the scalar is empty."""

    __slots__ = ("device", "dtype", "value")
    shape = ()

    def __init__(self, device: str, dtype: DataType, value: Any = None) -> None:
        self.device = device
        self.dtype = dtype
        self.value = value  # always on the host, even if `device` is a GPU

    stamps: tuple[Any, ...] = ()

    @property
    def nvals(self) -> int:
        """Number of entries: 1 or 0."""
        return 0 if self.value is None else 1

    known_nvals = nvals

    @property
    def nbytes(self) -> int:
        """Number of bytes of the value."""
        return 0 if self.value is None else self.value.nbytes


class _Pair(Remembering):
    """The CSR and CSC forms that the stores of a matrix and of its transpose share."""

    __slots__ = (
        "abroad",
        "by_columns",
        "by_rows",
        "device",
        "has_symmetric_pattern",
        "lock",
        "owed",
        "plans",
        "stamps",
    )

    def __init__(self, device: str, by_rows: Csr | None, by_columns: Csr | None) -> None:
        if by_rows is None and by_columns is None:
            raise ValueError("a matrix needs its csr or its csc")
        self.by_rows = by_rows
        self.by_columns = by_columns
        self.device = device
        self.plans = Plans(device)
        self.owed = 0.0
        self.lock = RLock()
        self.stamps: tuple[Any, ...] = ()
        self.abroad: tuple[Csr, ...] = ()
        # None means unknown, until `find_symmetry` compares the matrix with its transpose.
        self.has_symmetric_pattern = True if _share_pattern(by_rows, by_columns) else None

    def keep(self, form: Any) -> None:
        """Keep a reference to a form that another stream made, for as long as the matrix exists.

        Without this reference, the form would be freed when it is replaced. The stream that made it
        could then reuse its memory before the current stream has read it.
        """
        with self.lock:
            if all(form is not each for each in self.abroad):
                self.abroad = (*self.abroad, form)

    def find_symmetry(self) -> bool:
        """Return whether the pattern equals its transpose. Only the first call compares them.

        If the values are equal as well, CSR and CSC become one object. If only the patterns are
        equal, CSR and CSC share the arrays `indptr` and `indices`.
        """
        with self.lock:
            if self.has_symmetric_pattern is not None:
                return self.has_symmetric_pattern
            form: Any = self.by_rows or self.by_columns
            other = self.by_columns if form is self.by_rows else None
            if form.nrows != form.ncols:
                self.has_symmetric_pattern = False
                return False
            if self.stamps:
                streams(self.device).wait_for(self.stamps)
            found = backend(self.device).find_symmetry(form)
            if found.of_values:
                self.by_rows = self.by_columns = form
            elif found.of_pattern and other is not None:
                self.by_columns = replace(other, indptr=form.indptr, indices=form.indices)
            self.has_symmetric_pattern = found.of_pattern
            return found.of_pattern

    def form(self, by_columns: bool) -> Csr | None:
        return self.by_columns if by_columns else self.by_rows

    def make(self, by_columns: bool) -> Csr:
        with self.lock:
            made = self.form(by_columns)
            if made is None:
                other = self.form(not by_columns)
                # The CPU has no streams, so `stamps` is empty there.
                if self.stamps:
                    streams(self.device).wait_for(self.stamps)
                made = backend(self.device).transpose(other)  # pyright: ignore[reportArgumentType]
                if self.has_symmetric_pattern:
                    made = replace(made, indptr=other.indptr, indices=other.indices)  # pyright: ignore[reportOptionalMemberAccess]
                if self.stamps:
                    self.stamps = streams(self.device).add_stamp(self.stamps)
                if by_columns:
                    self.by_columns = made
                else:
                    self.by_rows = made
        return made

    def make_plan(self, way: int, full: bool) -> Plan:
        """Return the traversal plan of the matrix if `way` is 0, or of its transpose if `way` is 1.

        The plan is full if `full` is True and there is enough memory. Both CSR and CSC must exist,
        unless the pattern is symmetric.
        """
        plans: Plans = self.plans
        forms: Any = (self.by_rows, self.by_columns)
        if self.has_symmetric_pattern:
            forms = (self.by_rows or self.by_columns,) * 2
        out, into = forms[way], forms[1 - way]
        with self.lock:
            plan, other = plans.ways[way], plans.ways[1 - way]
            lacks_full = full and not plans.is_settled
            if plan is not None and not lacks_full:
                return plan
            if self.stamps:
                streams(self.device).wait_for(self.stamps)
            do = backend(self.device)
            if lacks_full or other is None:
                plan = do.plan(out, into, lacks_full, plan)
            else:
                plan = do.transpose_plan(other, out, into)
            if self.stamps:
                self.stamps = streams(self.device).add_stamp(self.stamps)
            if lacks_full:
                # Drop the plan of the transpose. It will be made again from the new plan.
                plans.is_settled, plans.ways[1 - way] = True, None
            for each in {way, 1 - way} if out is into else {way}:
                plans.keep(plan, each)
        return plan


def _share_pattern(a: Csr | None, b: Csr | None) -> bool:
    if a is None or b is None:
        return False
    return a is b or (a.indptr is b.indptr and a.indices is b.indices)


def _mask_of_none(v: AnyVector, complement: bool) -> VectorMask:
    none = v.values[:0].astype("int32")
    return VectorMask(v.size, None, none, complement, nvals=0)


class Owner(Protocol):
    """An object with a vector store in its attribute `_store`."""

    _store: VectorStore


def take_in_place(owner: Owner) -> BitmapVector | FullVector | None:
    """Return the dense storage of `owner` for writing in place, or None if it is shared.

    A vector may be written in place only if no other object refers to its store, its storage or its
    arrays, and each array owns its memory. CPython counts references, so this can be checked: a
    second vector (`dup`), an expression, a mask, an exported array or a view of it, an imported
    array that its owner still uses, and a local variable of another thread each add a reference.
    The expected counts are measured once, on a store without other references, because Python
    versions differ in how they count local variables. Where Python has no such counts (a build
    without the GIL, or another implementation), the result is always None. See
    docs/decisions/003-writing-in-place.md.

    The old store stays valid until the owner gets its new store: this function drops the sparse
    form of the old store and marks its entry count as unknown. So an interrupted write leaves a
    valid vector with some of the new values, like an interrupted NumPy assignment.
    """
    if not owner._store.has_dense or not _is_alone(owner) or _is_of_other_streams(owner):
        return None
    forms = owner._store
    forms.host_entries = forms.stack = None
    if forms._full is not None:
        return forms._full
    storage = forms._bitmap if forms._counted else forms.bitmap()
    forms._sparse, forms._counted = None, False
    return storage


def _is_alone(owner: Owner) -> bool:
    counts = _references(owner)
    return counts == _references_when_alone(len(counts)) and _owns_arrays(owner)


def _is_of_other_streams(owner: Owner) -> bool:
    """Return whether a form of the vector was made on another stream.

    That stream may still be using the memory of the form.
    """
    device = owner._store.device
    return device != "cpu" and bool(streams(device).foreign_stamps((owner._store,)))


def _references(owner: Owner) -> tuple[int, ...]:
    """Return the reference counts of the owner's store, of its dense form, and of its arrays."""
    forms = owner._store
    storage = forms._full or forms._bitmap
    values = storage.values  # pyright: ignore[reportOptionalMemberAccess]
    if isinstance(storage, FullVector):
        return _count(forms), _count(storage), _count(values)
    present = storage.present  # pyright: ignore[reportOptionalMemberAccess]
    return _count(forms), _count(storage), _count(values), _count(present)


@cache
def _references_when_alone(kinds: int) -> tuple[int, ...]:
    """Return what `_references` returns for a vector to which no other object refers.

    `kinds` is the number of reference counts in the result: 3 for a full vector, 4 for a bitmap. If
    this Python interpreter has no exact reference counts, the result is empty.
    """
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return ()
    return _references(_Lone(_lone_full() if kinds == 3 else _lone_bitmap()))


class _Lone:
    def __init__(self, forms: VectorStore) -> None:
        self._store = forms


def _lone_full() -> VectorStore:
    return VectorStore("cpu", BOOL, FullVector(1, np.zeros(1, bool)))


def _lone_bitmap() -> VectorStore:
    return VectorStore("cpu", BOOL, BitmapVector(1, np.zeros(1, bool), np.zeros(1, bool), 0))


def _owns_arrays(owner: Owner) -> bool:
    """Return whether the dense arrays own memory that may be written."""
    forms = owner._store
    storage, owns = forms._full or forms._bitmap, backend(forms.device).owns
    if isinstance(storage, FullVector):
        return owns(storage.values)
    return owns(storage.values) and owns(storage.present)  # pyright: ignore[reportOptionalMemberAccess]


_count = getattr(sys, "getrefcount", lambda _: 0)
