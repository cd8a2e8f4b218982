"""The store of a matrix, and the forms that it shares with the store of its transpose."""

from __future__ import annotations

from _thread import RLock  # `threading.RLock` is a Python function that calls this class
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphla.backends import backend, streams
from graphla.formats import Csr, MatrixMask, Remembering, bytes_of, is_iso, remember
from graphla.plans import PlanReport, Plans
from semirings import monoid
from semirings.dtypes import BOOL

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphla.formats import Plan
    from semirings.dtypes import DataType


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

        The first call compares the entries until it finds a difference, and caches the result. If
        the values are symmetric as well, CSR and CSC become one object, which frees the memory of
        the second copy.
        """
        found = self._pair.has_symmetric_pattern
        return self._pair.find_symmetry() if found is None else found

    def patterns(self) -> tuple[Csr, Csr | None]:
        """Return CSR and CSC for a caller that does not read the values.

        If the pattern is known to be symmetric, both results are the same object. Otherwise the
        second result is None if CSC has not been built yet.
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
        """The stamps of the forms. A stamp records when, and on which stream, a form was built."""
        return self._pair.stamps

    def owe_to(self, stamps: tuple[Any, ...]) -> None:
        """Add the stamps of another store, with which this store may share arrays.

        Readers of this store then also wait for the added stamps. On the CPU there are no stamps.
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
        """Add `amount` to the cost caused so far by a missing CSR or CSC, and return the sum.

        `amount` is the extra cost of one operation that ran without the missing form. The unit is
        the cost of gathering one entry in a pull. When the sum reaches the cost of building the
        missing form, the caller builds the form.
        """
        self._pair.owed += amount
        return self._pair.owed

    @property
    def T(self) -> MatrixStore:
        """The transpose. Its CSR is always this store's CSC, and its CSC is this store's CSR."""
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

        The first plan is a light plan. It is replaced by a full plan when earlier traversals have
        taken enough time to justify the cost of the full plan. A plan needs CSR and CSC, unless
        the pattern is symmetric. This method builds neither: if CSR or CSC is missing, the result
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
        """Build a full plan, after building CSR or CSC if one of them is missing.

        If there is too little memory for a full plan, build a light plan instead.
        """
        self.find_symmetry()
        self.csr, self.csc  # noqa: B018
        if not self._pair.plans.is_full:
            # Try again to build a full plan, because more memory may be free by now.
            self._pair.plans.is_settled = False
        self._pair.make_plan(int(self._flipped), True)

    @property
    def report(self) -> PlanReport | None:
        """The report on the plan of the matrix, or None if there is no plan yet."""
        plan = self._pair.plans.ways[self._flipped]
        return None if plan is None else self._pair.plans.report(plan, self._plan_cost())

    def record_traversal(self, seconds: float) -> None:
        """Add the duration of a traversal to the timings that decide when to build a full plan."""
        self._pair.plans.record_traversal(seconds)

    def _plan_cost(self) -> float:
        """Return the estimated cost of building a full plan, in seconds.

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
        """Keep a reference to a form that another stream built, for as long as the matrix exists.

        Without this reference, the form would be freed as soon as another form replaces it. Then
        the stream that built the form could reuse the memory before the current stream reads it.
        """
        with self.lock:
            if all(form is not each for each in self.abroad):
                self.abroad = (*self.abroad, form)

    def find_symmetry(self) -> bool:
        """Return whether the pattern equals its transpose; cached after the first call.

        If the matrix equals its transpose, CSR and CSC become one object. If only the patterns are
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
                # Drop the plan of the transpose, which is rebuilt from the new plan when it is
                # needed.
                plans.is_settled, plans.ways[1 - way] = True, None
            for each in {way, 1 - way} if out is into else {way}:
                plans.keep(plan, each)
        return plan


def _share_pattern(a: Csr | None, b: Csr | None) -> bool:
    if a is None or b is None:
        return False
    return a is b or (a.indptr is b.indptr and a.indices is b.indices)
