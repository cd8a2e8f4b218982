"""Aggregators: reductions that a monoid alone cannot compute, such as a mean.

Each aggregator is implemented once, as a function of rows. Columns are reduced as the rows of the
transpose, a vector as a single row, and a whole matrix as a single row with all entries. A row
without entries has no result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log
from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.backends.values import as_contiguous, repeat_value
from graphla.expression import expression
from graphla.formats import Csr, FullVector, SparseVector
from graphla.operations.indexing import as_row
from graphla.operations.operation import Operation
from graphla.operations.reductions import values_of
from graphla.stores import MatrixStore, ScalarStore, VectorStore
from semirings import monoid
from semirings.dtypes import ALL, BOOL, FP64, INT64, DataType, lookup_dtype
from semirings.exceptions import InvalidValue
from semirings.structures import Monoid


class Rows:
    """The nonempty rows of a matrix, for each of which an aggregator computes one value.

    Args:
        device: the device of the entries.
        dtype: the dtype of the entries.
        csr: the matrix.
    """

    __slots__ = ("_do", "counts", "csr", "device", "dtype", "ends", "occupied", "starts")

    def __init__(self, device: str, dtype: DataType, csr: Csr):
        self.device = device
        self._do = backend(device)
        self.dtype = dtype
        self.occupied = np.flatnonzero(np.diff(csr.indptr))
        if self.occupied.size < csr.nrows:
            # Leave out the empty rows: the k-th result then belongs to row occupied[k].
            indptr = self._do.full(self.occupied.size + 1, csr.nvals, csr.indptr.dtype)
            indptr[:-1] = csr.indptr[self.occupied]
            csr = Csr(self.occupied.size, csr.ncols, indptr, csr.indices, csr.values)
        self.csr = csr
        self.starts, self.ends = csr.indptr[:-1], csr.indptr[1:]
        self.counts = (self.ends - self.starts).astype(np.int64)

    def values(self, dtype: DataType | None = None) -> Any:
        """Return the value of each entry.

        Args:
            dtype: the dtype to cast to; by default the dtype of the entries.

        Returns:
            An array with one value per entry.
        """
        # The backend casts, because CuPy's own casts and comparisons treat subnormals as zero.
        a = self.csr if dtype is None else self._do.cast(self.csr, dtype.np_type)
        return a.values

    def fold(self, op: Any, values: Any) -> Any:
        """Combine the values of each row with a monoid.

        Args:
            op: the monoid ⊕.
            values: one value per entry.

        Returns:
            An array with one value per row.
        """
        csr = self.csr
        given = Csr(csr.nrows, csr.ncols, csr.indptr, csr.indices, values)
        return self._do.reduce_rows(given, op[lookup_dtype(values.dtype)]).values

    def spread(self, results: Any) -> Any:
        """Broadcast the value of each row to all entries of the row.

        Args:
            results: one value per row.

        Returns:
            An array with one value per entry.
        """
        return results[self._do.row_of_entry(self.csr)]


class Aggregator:
    """w(i) = f(A(i, :)).

    Define a reduction of rows: `agg.mean(A, rowwise=True)`, or `A.reduce_rowwise(agg.mean)`.

    An Aggregator can be created from a monoid, or from several aggregators and a function that
    combines their results. This function is a unary or binary operator, or a Python function that
    takes one Vector per aggregator and an empty dict of options.

    Args:
        name: the name of the aggregator.
        compute: a function that takes `Rows` and returns f of each row. It also needs `result`.
        result: a function that maps the dtype of the entries to the dtype of the results of f.
        needs_place: whether f depends on the column indices of the entries.
        monoid: the monoid with which f combines the entries of a row.
        composite: the aggregators whose results `finalize` combines.
        finalize: the function that combines the results of `composite`.
        types: ignored; present for compatibility. In python-graphblas, the operators in `types`
            determine the dtype of the result; here `finalize` determines it.

    Raises:
        TypeError: neither `monoid`, nor `composite`, nor `compute` with `result` is given; or
            `composite` or `finalize` has the wrong type.

    Examples:
        >>> from graphla import Vector, agg, binary
        >>> span = agg.Aggregator("span", composite=[agg.max, agg.min], finalize=binary.minus)
        >>> span(Vector.from_dense([3, 9, 4])).value
        6
    """

    __slots__ = ("__weakref__", "_compute", "_result", "_typed", "monoid", "name", "needs_place")

    def __init__(
        self,
        name: str,
        compute: Callable[[Rows], Any] | None = None,
        result: Callable[[DataType], DataType] | None = None,
        *,
        needs_place: bool = False,
        monoid: Monoid | None = None,
        composite: Sequence[Aggregator] | None = None,
        finalize: Any = None,
        types: Any = None,
    ):
        if composite is not None:
            composite = _aggregators(composite)
            join = _join(finalize, len(composite))
            compute, result = _compose(composite, join), _type_of(composite, join)
            needs_place = any(each.needs_place for each in composite)
        elif compute is None and monoid is not None:
            compute, result = fold_by(monoid), lambda dtype: monoid[dtype].return_type
        if compute is None or result is None:
            raise TypeError("an Aggregator needs monoid, composite, or compute with result")
        self.name = name
        self.monoid = monoid
        self.needs_place = needs_place
        self._compute = compute
        self._result = result
        self._typed: dict[DataType, TypedAggregator] = {}

    @property
    def types(self) -> dict[DataType, DataType]:
        """A dict that maps each dtype of entries to the dtype of the result."""
        return {dtype: self._result(dtype) for dtype in ALL}

    def __getitem__(self, dtype: Any) -> TypedAggregator:
        dtype = lookup_dtype(dtype)
        typed = self._typed.get(dtype)
        if typed is None:
            typed = self._typed[dtype] = TypedAggregator(self, dtype)
        return typed

    def __contains__(self, dtype: Any) -> bool:
        return lookup_dtype(dtype) in ALL

    def __call__(self, x: Any, *, rowwise: bool = False, columnwise: bool = False) -> Any:
        """Reduce x to a scalar, or each row or column of a Matrix.

        Args:
            x: a Vector, a Matrix, or an expression.
            rowwise: whether to reduce each row of a Matrix.
            columnwise: whether to reduce each column of a Matrix.

        Returns:
            An expression that gives a Scalar, or a Vector if `rowwise` or `columnwise` is True.

        Raises:
            TypeError: x is neither a Matrix nor a Vector.
            InvalidValue: both flags are True, or one flag is True and x is a Vector.
        """
        return _reduce(self, x, rowwise, columnwise)

    def __repr__(self) -> str:
        return f"agg.{self.name}"


class TypedAggregator:
    """An aggregator for entries of one dtype, such as `agg.mean["FP64"]`.

    Args:
        op: the aggregator.
        dtype: the dtype of the entries.
    """

    __slots__ = ("op", "return_type", "type")

    def __init__(self, op: Aggregator, dtype: DataType):
        self.op = op
        self.type = dtype
        self.return_type = op._result(dtype)

    @property
    def name(self) -> str:
        """The name of the aggregator."""
        return self.op.name

    def __call__(self, x: Any, *, rowwise: bool = False, columnwise: bool = False) -> Any:
        """Reduce x to a scalar, or each row or column of a Matrix.

        Args:
            x: a Vector, a Matrix, or an expression.
            rowwise: whether to reduce each row of a Matrix.
            columnwise: whether to reduce each column of a Matrix.

        Returns:
            An expression that gives a Scalar, or a Vector if `rowwise` or `columnwise` is True.

        Raises:
            TypeError: x is neither a Matrix nor a Vector.
            InvalidValue: both flags are True, or one flag is True and x is a Vector.
        """
        return _reduce(self, x, rowwise, columnwise)

    def rows(self, a: MatrixStore) -> VectorStore:
        """w(i) = f(A(i, :)).

        Reduce each row of the matrix A.

        Args:
            a: the storage of A.

        Returns:
            The storage of w.
        """
        rows = Rows(a.device, self.type, backend(a.device).cast(a.csr, self.type.np_type))
        with np.errstate(all="ignore"):
            values = self.op._compute(rows).astype(self.return_type.np_type, copy=False)
        indices = rows.occupied.astype(np.int32)
        w = SparseVector(a.nrows, indices, as_contiguous(values))
        return VectorStore(a.device, self.return_type, w)

    def __repr__(self) -> str:
        return f"agg.{self.name}[{self.type}]"


def _reduce(op: Aggregator | TypedAggregator, x: Any, rowwise: bool, columnwise: bool) -> Any:
    if rowwise and columnwise:
        raise InvalidValue("rowwise and columnwise cannot both be True")
    ndim = getattr(x, "ndim", None)
    if ndim == 1 and hasattr(x, "reduce"):
        if rowwise or columnwise:
            raise InvalidValue("rowwise and columnwise are for a Matrix, not for a Vector")
        return x.reduce(op)
    if ndim == 2 and hasattr(x, "reduce_rowwise"):
        if rowwise:
            return x.reduce_rowwise(op)
        return x.reduce_columnwise(op) if columnwise else x.reduce_scalar(op)
    raise TypeError(f"{op!r} reduces a Matrix or a Vector, not {type(x).__name__}")


def _rowwise(a: MatrixStore, op: TypedAggregator) -> VectorStore:
    """w(i) = f(A(i, :))."""
    return op.rows(a)


def _columnwise(a: MatrixStore, op: TypedAggregator) -> VectorStore:
    """w(j) = f(A(:, j))."""
    return op.rows(a.T)


def _scalar(a: MatrixStore | VectorStore, op: TypedAggregator) -> ScalarStore:
    """Return the Scalar f(all entries of a), which is empty if a has no entries."""
    if isinstance(a, VectorStore):
        row = as_row(a)
    else:
        values = values_of(MatrixStore(a.device, a.dtype, a.csr))
        row = MatrixStore(a.device, a.dtype, _one_row(a.device, values))
    do, results = backend(a.device), op.rows(row).sparse().values
    value = do.to_host(results[:1])[0] if results.size else None
    return ScalarStore(a.device, op.return_type, value)


def _scalar_or_identity(
    a: MatrixStore | VectorStore, op: TypedAggregator, identity: Any
) -> ScalarStore:
    """Return the Scalar f(all entries of a), or the identity if a has no entries."""
    s = _scalar(a, op)
    return s if s.value is not None else ScalarStore(s.device, s.dtype, identity)


def _aggregators(composite: Any) -> tuple[Aggregator, ...]:
    parts = tuple(composite) if isinstance(composite, Iterable) else ()
    if not parts or not all(isinstance(each, Aggregator) for each in parts):
        raise TypeError(f"composite must be a list of aggregators, not {composite!r}")
    return parts


def _join(finalize: Any, count: int) -> Callable[..., Any]:
    """Return a function that maps `count` vectors to an expression that applies `finalize`."""
    kind = getattr(finalize, "opclass", None)
    if kind == "UnaryOp" and count == 1:
        return finalize
    if kind in ("BinaryOp", "Monoid") and count == 2:
        return lambda x, y: finalize(x & y)
    if kind is not None or not callable(finalize):
        raise TypeError(
            f"finalize must be an operator or a function of {count} vectors, not {finalize!r}"
        )
    return lambda *vectors: finalize(*vectors, {})


def _vector(device: str, dtype: DataType, values: Any) -> Any:
    """Return an expression whose result is the full vector with these values."""
    forms = VectorStore(device, dtype, FullVector(values.size, values))
    return expression(_given, (forms,), (values.size,), dtype)


def _compose(composite: tuple[Aggregator, ...], join: Callable[..., Any]) -> Callable[[Rows], Any]:
    """Return a function that computes all aggregators of `composite` and combines their results."""

    def compute(rows: Rows) -> Any:
        vectors = []
        for each in composite:
            dtype = each._result(rows.dtype)
            values = each._compute(rows).astype(dtype.np_type, copy=False)
            vectors.append(_vector(rows.device, dtype, as_contiguous(values)))
        found = join(*vectors).new()
        if found.nvals < rows.counts.size:
            raise InvalidValue("finalize must keep an entry for each row that has one")
        return found.to_dense(copy=False)

    return compute


def _type_of(
    composite: tuple[Aggregator, ...], join: Callable[..., Any]
) -> Callable[[DataType], DataType]:
    """Return a function that maps the dtype of the entries to the dtype of `join`'s result.

    The function calls `join` with empty vectors to find the result's dtype.
    """

    def result(dtype: DataType) -> DataType:
        types = [each._result(dtype) for each in composite]
        return join(*(_vector("cpu", t, np.empty(0, t.np_type)) for t in types)).dtype

    return result


def _one_row(device: str, values: Any) -> Csr:
    """Return a matrix with a single row that holds these values.

    All column indices are 0, so callers must not read them.
    """
    do, size = backend(device), values.size
    indptr = do.asarray([0, size], np.int32 if size < 1 << 31 else np.int64)
    return Csr(1, size, indptr, repeat_value(do.asarray([0], np.int32), size), values)


aggregate_rowwise = Operation("reduce_rowwise", _rowwise)
aggregate_columnwise = Operation("reduce_columnwise", _columnwise)
aggregate_scalar = Operation("reduce", _scalar)
aggregate_or_identity = Operation("reduce", _scalar_or_identity)
_given = Operation("given", lambda forms: forms)


# --- The functions below are in the order in which `graphla.agg` lists the aggregators. ---


def same_dtype(dtype: DataType) -> DataType:
    """Return the dtype of the entries."""
    return dtype


def sum_dtype(dtype: DataType) -> DataType:
    """Return the dtype of a sum: INT64 for BOOL, otherwise the dtype of the entries."""
    return INT64 if dtype.kind == "b" else dtype


def square_dtype(dtype: DataType) -> DataType:
    """Return the dtype of a sum of squares: INT64 for integers, otherwise FP64."""
    return FP64 if dtype.kind == "f" or dtype.name == "UINT64" else INT64


def average_dtype(dtype: DataType) -> DataType:
    """Return the dtype of an average: FP32 for FP32, otherwise FP64."""
    return dtype if dtype.kind == "f" else FP64


def total(rows: Rows) -> Any:
    """Σ x."""
    return rows.fold(monoid.plus, rows.values(sum_dtype(rows.dtype)))


def product(rows: Rows) -> Any:
    """Π x."""
    return rows.fold(monoid.times, rows.values(sum_dtype(rows.dtype)))


def fold_by(op: Any, dtype: DataType | None = None) -> Callable[[Rows], Any]:
    """Return a function that combines the values of each row with the monoid ⊕ (`op`).

    The values are first cast to `dtype`, if it is given.
    """
    return lambda rows: rows.fold(op, rows.values(dtype))


def count(rows: Rows) -> Any:
    """Return the number of entries."""
    return rows.counts


def count_nonzero(rows: Rows) -> Any:
    """Return the number of entries that are not zero."""
    return rows.fold(monoid.plus, rows.values(BOOL).astype(np.int64))


def count_zero(rows: Rows) -> Any:
    """Return the number of entries that are zero."""
    return rows.counts - count_nonzero(rows)


def sum_of_squares(rows: Rows) -> Any:
    """Σ x²."""
    values = rows.values(square_dtype(rows.dtype))
    return rows.fold(monoid.plus, values * values)


def sum_of_inverses(rows: Rows) -> Any:
    """Σ 1/x."""
    return rows.fold(monoid.plus, 1.0 / rows.values(FP64))


def sum_of_magnitudes(rows: Rows) -> Any:
    """Σ |x|."""
    return rows.fold(monoid.plus, abs(rows.values(sum_dtype(rows.dtype))))


def greatest_magnitude(rows: Rows) -> Any:
    """max |x|."""
    return rows.fold(monoid.max, abs(rows.values()))


def root_of_squares(rows: Rows) -> Any:
    """√Σ x²."""
    values = rows.values(FP64)
    return np.sqrt(rows.fold(monoid.plus, values * values))


def log_of_powers(base: float) -> Callable[[Rows], Any]:
    """log Σ bˣ = y + log Σ bˣ⁻ʸ for b = `base`, where y is the largest x, to avoid overflow."""

    def compute(rows: Rows) -> Any:
        values = rows.values(FP64)
        largest = rows.fold(monoid.max, values)
        shift = np.where(np.isfinite(largest), largest, 0.0)
        powers = np.power(base, values - rows.spread(shift))
        return np.log(rows.fold(monoid.plus, powers)) / log(base) + shift

    return compute


def mean(rows: Rows) -> Any:
    """Σ x / n."""
    return rows.fold(monoid.plus, rows.values(FP64)) / rows.counts


def variance(less: int) -> Callable[[Rows], Any]:
    """Σ (x - mean)² / (n - less), over the n entries x of the row.

    `less` is 0 for the variance of a population and 1 for that of a sample. The mean is computed in
    a first pass, to avoid cancellation.
    """

    def compute(rows: Rows) -> Any:
        apart = rows.values(FP64) - rows.spread(mean(rows))
        return rows.fold(monoid.plus, apart * apart) / (rows.counts - less)

    return compute


def deviation(less: int) -> Callable[[Rows], Any]:
    """Return the standard deviation: the square root of the variance."""
    of = variance(less)
    return lambda rows: np.sqrt(of(rows))


def geometric_mean(rows: Rows) -> Any:
    """(Π x)^(1/n), computed with logarithms; NaN if the product is negative."""
    values = rows.values(FP64)
    size = np.exp(rows.fold(monoid.plus, np.log(abs(values))) / rows.counts)
    negative = rows.fold(monoid.plus, (values < 0).astype(np.int64)) % 2 == 1
    return np.where(negative & (size > 0), np.nan, size)


def harmonic_mean(rows: Rows) -> Any:
    """n / Σ 1/x."""
    return rows.counts / sum_of_inverses(rows)


def root_mean_square(rows: Rows) -> Any:
    """√(Σ x² / n)."""
    values = rows.values(FP64)
    return np.sqrt(rows.fold(monoid.plus, values * values) / rows.counts)


def peak_to_peak(rows: Rows) -> Any:
    """max x - min x."""
    most, least = rows.fold(monoid.max, rows.values()), rows.fold(monoid.min, rows.values())
    return most ^ least if rows.dtype.kind == "b" else most - least


def ones(rows: Rows) -> Any:
    """Return 1 for each row."""
    return np.ones_like(rows.starts, rows.dtype.np_type)


def first(rows: Rows) -> Any:
    """Return the entry with the smallest index."""
    return rows.csr.values[rows.starts]


def last(rows: Rows) -> Any:
    """Return the entry with the largest index."""
    return rows.csr.values[rows.ends - 1]


def first_index(rows: Rows) -> Any:
    """Return the smallest index of an entry."""
    return rows.csr.indices[rows.starts]


def last_index(rows: Rows) -> Any:
    """Return the largest index of an entry."""
    return rows.csr.indices[rows.ends - 1]


def index_of(op: Any) -> Callable[[Rows], Any]:
    """Return a function that computes, for each row, the column index of its minimum or maximum.

    `op` is the monoid min or max. If several entries are equal to the minimum or maximum, the
    result is the smallest of their indices. If a value is NaN, the result is the index of the first
    NaN.
    """

    def compute(rows: Rows) -> Any:
        values = rows.values()
        kept = rows.spread(rows.fold(op, values))
        hit = (values == kept) | ((values != values) & (kept != kept))
        indices = np.where(hit, rows.csr.indices.astype(np.int64), np.iinfo(np.int64).max)
        return rows.fold(monoid.min, indices)

    return compute


def floats_of(dtype: DataType) -> DataType:
    """Return FP64 for every dtype."""
    return FP64


def whole(dtype: DataType) -> DataType:
    """Return INT64, the dtype of whole-number results, whatever the dtype of the entries is."""
    return INT64
