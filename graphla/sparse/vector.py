"""The class Vector: a sparse vector whose entries have one dtype."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from graphla.backends import default_device
from graphla.expression import Expression, assign
from graphla.operations import indexing
from graphla.operations.entrywise import cast
from graphla.operations.moving import empty_vector, move_store
from graphla.operations.operation import perform, run
from graphla.operations.values import fit
from graphla.settings import config, recorders
from graphla.sparse import building, exporting, expressions, printing, sorting
from graphla.sparse.arithmetic import Collection
from graphla.sparse.indices import position, vector_axis
from graphla.sparse.mask import Mask
from graphla.sparse.noun import Default, Indexed
from graphla.stores import MOST_HOST_ENTRIES
from semirings import binary, monoid, semiring
from semirings.dtypes import FP64, lookup_dtype

if TYPE_CHECKING:
    from graphla.sparse.matrix import Matrix, MatrixExpression
    from graphla.sparse.readable_matrix import ReadableMatrix
    from graphla.sparse.scalar import ReadableScalar, ScalarExpression

    _Index = int | np.integer | ReadableScalar
    _Indices: TypeAlias = "slice | EllipsisType | Iterable[Any] | ReadableVector"


class ReadableVector(Collection["VectorExpression", Any]):
    """The read-only operations that Vector and VectorExpression share."""

    __slots__ = ()
    ndim = 1

    @property
    def size(self) -> int:
        """The number of indices, with or without an entry."""
        return self.shape[0]

    @property
    def S(self) -> Mask:
        """The structural mask, which selects all indices with an entry, of any value."""
        return Mask(self, structure=True)

    @property
    def V(self) -> Mask:
        """The value mask, which selects the indices whose entry is true (nonzero)."""
        return Mask(self, structure=False)

    def vxm(self, other: ReadableMatrix, op: Any = semiring.plus_times) -> VectorExpression:
        """w = u ⊕.⊗ A.

        Return the product of this vector and a matrix over a semiring.

        If u is sparse, the product is computed by push: it reads each row i of A for which u has an
        entry at index i. The time is proportional to the number of entries in these rows. If u is
        dense, the product is computed by pull, along the columns of A. The time is at most
        proportional to the number of entries of A.

        Args:
            other: A, a Matrix with as many rows as u has indices.
            op: a semiring or its name, such as `semiring.min_plus` or "min_plus".

        Returns:
            A Vector expression of size A.ncols.

        Raises:
            TypeError: `other` is not a Matrix, or `op` is not a semiring.
            DimensionMismatch: the number of rows of A differs from the size of u.
            DomainMismatch: the semiring is not defined on these dtypes.
            DeviceMismatch: u and A are on different devices.

        Examples:
            >>> from graphla import Matrix, Vector
            >>> A = Matrix.from_coo([0, 1], [1, 2], [5, 7], nrows=3, ncols=3)
            >>> Vector.from_coo([0], [1], size=3).vxm(A).new().to_dict()
            {1: 5}
        """
        return expressions.product(self._read(), expressions.matrix(other, "vxm"), op)

    def inner(self, other: ReadableVector, op: Any = semiring.plus_times) -> ScalarExpression:
        """s = u ⊕.⊗ v.

        Return the inner product of two vectors over a semiring.

        Args:
            other: v, a Vector of the same size.
            op: a semiring or its name.

        Returns:
            A Scalar expression. The Scalar is empty if u and v have no entries at the same index.

        Raises:
            TypeError: `other` is not a Vector, or `op` is not a semiring.
            DimensionMismatch: the sizes differ.
            DomainMismatch: the semiring is not defined on these dtypes.
            DeviceMismatch: u and v are on different devices.

        Examples:
            >>> from graphla import Vector
            >>> Vector.from_dense([1, 2]).inner(Vector.from_dense([3, 4])).value
            11
        """
        return expressions.product(self._read(), expressions.vector(other, "inner"), op)

    def outer(self, other: ReadableVector, op: Any = binary.times) -> MatrixExpression:
        """C(i, j) = op(u(i), v(j)).

        Return the outer product of two vectors.

        Args:
            other: v, a Vector of any size.
            op: a binary operator or its name.

        Returns:
            A Matrix expression of shape (u.size, v.size) with u.nvals * v.nvals entries.

        Raises:
            TypeError: `other` is not a Vector, or `op` is not a binary operator.
            DomainMismatch: the operator is not defined on these dtypes.
            DeviceMismatch: u and v are on different devices.
        """
        return expressions.outer(self._read(), expressions.vector(other, "outer"), op)

    def reduce(self, op: Any = monoid.plus, *, allow_empty: bool = True) -> ScalarExpression:
        """s = ⊕ over i of v(i).

        Reduce all entries to a scalar with a monoid or an aggregator.

        A sum of BOOL values is a logical or. To count entries, use `nvals` or `agg.count`.

        Args:
            op: a monoid, an aggregator, or the name of one.
            allow_empty: determines the result if v has no entries: an empty Scalar if True, the
                identity of the monoid if False.

        Returns:
            A Scalar expression.

        Raises:
            TypeError: `op` is neither a monoid nor an aggregator.
            DomainMismatch: the monoid is not defined on this dtype.
            InvalidValue: `allow_empty` is False, but the aggregator has no identity.

        Examples:
            >>> from graphla import Vector, agg
            >>> v = Vector.from_coo([0, 3], [2, 5], size=5)
            >>> v.reduce().value, v.reduce("max").value, v.reduce(agg.mean).value
            (7, 5, 3.5)
        """
        return expressions.reduce_scalar(self._read(), op, allow_empty)

    def reposition(self, offset: int, *, size: int | None = None) -> VectorExpression:
        """w(i + offset) = v(i).

        Shift the entries by `offset`. Entries whose new index is negative or at least `size` are
        dropped.

        Args:
            offset: the offset by which to shift the entries; it may be negative.
            size: the size of the result; by default the size of v.

        Returns:
            A Vector expression.

        Raises:
            TypeError: `offset` or `size` is not an integer.
            InvalidValue: `size` is negative or not below 2^31.
        """
        return expressions.reposition(self._read(), (offset,), (size,))

    @overload
    def sort(
        self,
        op: Any = ...,
        *,
        values: Literal[True] = True,
        permutation: Literal[True] = True,
    ) -> tuple[Vector, Vector]: ...
    @overload
    def sort(
        self, op: Any = ..., *, values: bool = True, permutation: bool = True
    ) -> tuple[Vector | None, Vector | None]: ...
    def sort(
        self, op: Any = binary.lt, *, values: bool = True, permutation: bool = True
    ) -> tuple[Vector | None, Vector | None]:
        """w(k) is the k-th entry of v in the order of op, and p(k) is its index in v.

        Sort the entries by value.

        The sort is stable: equal entries keep their order. NaN is last. The sort takes O(nvals log
        nvals) comparisons. The function corresponds to GxB_Vector_sort in SuiteSparse.

        Args:
            op: op(x, y) is true if x comes before y. It should be a strict order: `binary.lt`,
                `binary.gt`, or a Python function of two values. If op(x, y) and op(y, x) are both
                true, x and y count as equal, so `binary.le` has the same effect as `binary.lt`.
            values: whether to return w, the sorted values.
            permutation: whether to return p, the indices of the sorted values in v.

        Returns:
            (w, p): Vectors as large as v, with entries at the indices 0 to nvals - 1. w has the
            dtype of v, and p has dtype INT64. A Vector that was not requested is None.

        Raises:
            DomainMismatch: `op` does not return BOOL, or does not compare two values of this dtype.
            InvalidValue: `op` is positional, such as `binary.firsti`.

        Examples:
            >>> from graphla import Vector
            >>> v = Vector.from_coo([0, 2, 3], [-3, 1, 2], size=4)
            >>> w, p = v.sort(lambda x, y: abs(x) < abs(y))
            >>> w.to_dict(), p.to_dict()
            ({0: 1, 1: 2, 2: -3}, {0: 2, 1: 3, 2: 0})
        """
        w, p = sorting.of_vector(self._read(), op)
        return Vector._of(w) if values else None, Vector._of(p) if permutation else None

    def argsort(self, op: Any = binary.lt) -> Vector:
        """p(k) is the index of the k-th entry of v in the order of op.

        Return the permutation that sorts the entries.

        Args:
            op: the order, as in `sort`.

        Returns:
            An INT64 Vector as large as v, with entries at the indices 0 to nvals - 1.

        Raises:
            DomainMismatch: `op` does not return BOOL, or does not compare two values of this dtype.
            InvalidValue: `op` is positional.
        """
        _, p = sorting.of_vector(self._read(), op)
        return Vector._of(p)

    def top_k(self, k: int, op: Any = binary.gt) -> tuple[Vector, Vector]:
        """w(j), for j < k, is the j-th entry of v in the order of op, and p(j) is its index in v.

        Return the first `k` entries in sorted order. By default these are the largest values.

        Args:
            k: the number of entries to return; if v has fewer entries, all entries are returned.
            op: the order, as in `sort`; `binary.lt` gives the smallest values.

        Returns:
            (w, p): Vectors of size `k`. w has the dtype of v, and p has dtype INT64.

        Raises:
            InvalidValue: `k` is negative, or `op` is positional.
            DomainMismatch: `op` does not return BOOL, or does not compare two values of this dtype.

        Examples:
            >>> from graphla import Vector
            >>> w, p = Vector.from_dense([4, 9, 7]).top_k(2)
            >>> w.to_dict(), p.to_dict()
            ({0: 9, 1: 7}, {0: 1, 1: 2})
        """
        w, p = sorting.of_vector(self._read(), op, expressions.integer(k, "k"))
        return Vector._of(w), Vector._of(p)

    def diag(self, k: int = 0, *, name: str | None = None) -> Matrix:
        """C(i, i + k) = v(i).

        Return a square Matrix with the entries of v on a diagonal.

        Args:
            k: the index of the diagonal. 0 is the main diagonal, and positive indices are above it.
            name: the name of the Matrix.

        Returns:
            A Matrix with v.size + |k| rows and columns.

        Raises:
            TypeError: `k` is not an integer.
            InvalidValue: the Matrix would have at least 2^31 rows.

        Examples:
            >>> from graphla import Vector
            >>> Vector.from_dense([5, 6]).diag(1).to_dict()
            {(0, 1): 5, (1, 2): 6}
        """
        return expressions.from_diag(self._read(), k).new(name=name)

    @overload
    def get(self, index: _Index) -> bool | int | float | None: ...
    @overload
    def get(self, index: _Index, default: Default) -> bool | int | float | Default: ...
    def get(self, index: _Index, default: Any = None) -> Any:
        """Return v(index) as a Python number.

        Args:
            index: the index; negative numbers count from the end.
            default: the value to return if the index has no entry.

        Returns:
            A bool, int or float, or `default`.

        Raises:
            TypeError: `index` is not an integer.
            IndexOutOfBound: the vector has no such index.

        Examples:
            >>> from graphla import Vector
            >>> v = Vector.from_coo([1], [2.5], size=3)
            >>> v.get(1), v.get(0), v.get(0, default=0)
            (2.5, None, 0)
        """
        i = position(expressions.integer(index, "index"), self.size, "index")
        value = perform("get", indexing.vector_element.compute, self._read(), i).value
        return default if value is None else value.item()

    def __contains__(self, index: Any) -> bool:
        return self.get(index) is not None

    @overload
    def __getitem__(self, key: _Index) -> ScalarExpression: ...
    @overload
    def __getitem__(self, key: _Indices) -> VectorExpression: ...
    def __getitem__(self, key: Any) -> Any:
        forms = self._read()
        axis = vector_axis(key, forms.size, forms.device)
        return expressions.extract(forms, (axis,), self if isinstance(self, Indexed) else None)

    def to_coo(
        self,
        dtype: Any = None,
        *,
        indices: bool = True,
        values: bool = True,
        sort: bool = True,
        copy: bool = True,
    ) -> tuple[Any, Any]:
        """Return the indices and the values of the entries as arrays.

        Args:
            dtype: the dtype of the values; by default the dtype of v.
            indices: whether to return the indices.
            values: whether to return the values.
            sort: whether to sort the entries by index. If False, entries that are stored unsorted
                are returned in their stored order.
            copy: if True, return new NumPy arrays, with int64 indices; if False, return the stored
                arrays on their device (NumPy or CuPy, int32 indices), which must not be modified.

        Returns:
            (indices, values), two arrays of length nvals. An array that was not requested is None.

        Examples:
            >>> from graphla import Vector
            >>> indices, values = Vector.from_coo([3, 1], [5, 7], size=4).to_coo()
            >>> indices.tolist(), values.tolist()
            ([1, 3], [7, 5])
        """
        wanted = dtype, indices, values, sort, copy
        return perform("to_coo", exporting.vector_coo, self._read(), *wanted)

    @overload
    def to_dense(
        self, fill_value: Any = ..., dtype: Any = ..., *, copy: Literal[True] = True
    ) -> np.ndarray: ...
    @overload
    def to_dense(self, fill_value: Any = ..., dtype: Any = ..., *, copy: bool) -> Any: ...
    def to_dense(self, fill_value: Any = None, dtype: Any = None, *, copy: bool = True) -> Any:
        """Return a dense array of the values.

        Args:
            fill_value: the value for indices without an entry. It may be omitted if every index has
                an entry.
            dtype: the dtype of the array; by default the common dtype of v and `fill_value`.
            copy: if True, return a new NumPy array; if False, return an array on the device of v.
                If every index has an entry, the result is the stored array. Do not modify it.

        Returns:
            An array of shape (size,).

        Raises:
            TypeError: an index has no entry, and `fill_value` is not given.

        Examples:
            >>> from graphla import Vector
            >>> Vector.from_coo([1], [7], size=3).to_dense(0).tolist()
            [0, 7, 0]
        """
        wanted = fill_value, dtype, copy
        return perform("to_dense", exporting.vector_dense, self._read(), *wanted)

    def __dlpack__(self, **options: Any) -> Any:
        """Return the values as a DLPack capsule; every index must have an entry."""
        return self.to_dense(copy=False).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack device: (1, 0) is the CPU, (2, k) is GPU k."""
        kind, _, number = self.device.partition(":")
        return (2, int(number)) if kind == "cuda" else (1, 0)

    def to_dict(self) -> dict[Any, Any]:
        """Return the entries as {index: value}, with Python numbers.

        Returns:
            A dict in the order of the indices.

        Examples:
            >>> from graphla import Vector
            >>> Vector.from_coo([3, 1], [5, 7], size=4).to_dict()
            {1: 7, 3: 5}
        """
        indices, values = self.to_coo()
        return dict(zip(indices.tolist(), values.tolist(), strict=True))

    def to(self, device: str) -> Vector:
        """Return a Vector with the same entries on another device.

        Args:
            device: "cpu", "cuda", or one GPU such as "cuda:1".

        Returns:
            A new Vector, which shares the arrays of v if they are already on the device.

        Raises:
            InvalidValue: `device` is not the name of a device.
            DeviceUnavailable: the machine has no such device, or CuPy is missing.
        """
        return building.to_device(self, device)

    def __repr__(self) -> str:
        return printing.text(self)

    def _repr_html_(self) -> str:
        return printing.html(self)


class Vector(ReadableVector, Indexed):
    """A sparse vector, whose entries have one dtype and distinct indices from 0 to size - 1.

    An index without an entry does not mean the value 0. The size is below 2^31.

    Args:
        dtype: the dtype of the entries, such as "INT64", `int` or `np.float32`.
        size: the number of indices.
        name: a name to show when the vector is printed.

    Raises:
        ValueError: `dtype` is not one of the eleven dtypes.
        InvalidValue: `size` is negative or not below 2^31.

    Examples:
        >>> from graphla import Vector
        >>> v = Vector.from_coo([0, 3], [1.5, 2.5], size=5)
        >>> v[3].value, v.nvals, 1 in v
        (2.5, 2, False)
        >>> v[Vector.from_dense([3, 3, 1])].new().to_dict()
        {0: 2.5, 1: 2.5}
    """

    __slots__ = ()

    def __init__(self, dtype: Any = FP64, size: int = 0, *, name: str | None = None):
        size = expressions.dimension(size, "size")
        self._store = empty_vector(default_device(), lookup_dtype(dtype), size)
        self._name = name

    @classmethod
    def from_coo(
        cls,
        indices: Any,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        size: int | None = None,
        dup_op: Any = None,
        name: str | None = None,
    ) -> Vector:
        """v(indices[k]) = values[k].

        Build a Vector from indices and values.

        Takes O(n log n) time for n unsorted indices, and O(n) time if the indices are sorted.

        Args:
            indices: a list or array of integers from 0 to size - 1, in any order. An array on a GPU
                (CuPy, DLPack) produces a Vector on that GPU.
            values: a list or array of the same length, or one value for all indices.
            dtype: the dtype of the entries; by default the dtype of the values.
            size: the number of indices; by default one more than the largest index.
            dup_op: the binary operator that combines the values of duplicate indices. If omitted,
                duplicate indices are merged if `values` is one value, otherwise they raise an
                error.
            name: the name of the Vector.

        Returns:
            A Vector.

        Raises:
            TypeError: `indices` holds something other than integers.
            IndexOutOfBound: an index is negative or not below `size`.
            InvalidValue: the lengths differ, or `size` is not given and there are no indices.
            DuplicateEntry: `values` is a list or array, there are duplicate indices, and `dup_op`
                is not given.

        Examples:
            >>> from graphla import Vector
            >>> Vector.from_coo([2, 0, 2], [1, 5, 3], dup_op="plus").to_dict()
            {0: 5, 2: 4}
        """
        return cls._of(building.vector_coo(indices, values, dtype, size, dup_op), name)

    @classmethod
    def from_pairs(
        cls,
        pairs: Iterable[tuple[int, Any]],
        dtype: Any = None,
        *,
        size: int | None = None,
        dup_op: Any = None,
        name: str | None = None,
    ) -> Vector:
        """v(i) = x for each pair (i, x).

        Build a Vector from pairs of an index and a value.

        Args:
            pairs: the pairs (index, value).
            dtype: the dtype of the entries; by default the dtype of the values.
            size: the number of indices; by default one more than the largest index.
            dup_op: the operator that combines the values of duplicate indices.
            name: the name of the Vector.

        Returns:
            A Vector.

        Raises:
            InvalidValue: an item is not a pair, or `size` is not given and there are no pairs.
            IndexOutOfBound: an index is negative or not below `size`.
            DuplicateEntry: there are duplicate indices, and `dup_op` is not given.
        """
        indices, values = building.columns_of(pairs, 2)
        return cls.from_coo(indices, values, dtype, size=size, dup_op=dup_op, name=name)

    @classmethod
    def from_dict(
        cls,
        d: Mapping[int, Any],
        dtype: Any = None,
        *,
        size: int | None = None,
        name: str | None = None,
    ) -> Vector:
        """v(i) = d[i].

        Build a Vector from a mapping from indices to values.

        Args:
            d: the mapping {index: value}.
            dtype: the dtype of the entries; by default the dtype of the values.
            size: the number of indices; by default one more than the largest index, or 0.
            name: the name of the Vector.

        Returns:
            A Vector.

        Raises:
            TypeError: an index is not an integer.
            IndexOutOfBound: an index is negative or not below `size`.
        """
        if size is None and not d:
            size = 0
        return cls.from_coo(list(d), list(d.values()), dtype, size=size, name=name)

    @classmethod
    def from_scalar(
        cls, value: Any, size: int, dtype: Any = None, *, name: str | None = None
    ) -> Vector:
        """v(i) = value, for every index i.

        Build a Vector with the same value at every index; the value is stored only once.

        Args:
            value: a number or a Scalar.
            size: the number of indices.
            dtype: the dtype of the entries; by default the dtype of the value.
            name: the name of the Vector.

        Returns:
            A Vector with an entry at every index.

        Raises:
            TypeError: `value` is not a scalar.
            InvalidValue: `size` is negative or not below 2^31.
        """
        value, wanted = building.scalar_and_dtype(value, dtype)
        vector = cls(wanted, size, name=name)
        vector << value
        return vector

    @classmethod
    def from_dense(
        cls,
        values: Any,
        missing_value: Any = None,
        *,
        dtype: Any = None,
        copy: bool = True,
        name: str | None = None,
    ) -> Vector:
        """v(i) = values[i], unless values[i] is `missing_value`.

        Build a Vector from a dense array.

        Args:
            values: a list, or a one-dimensional array from NumPy, CuPy or any library with DLPack.
            missing_value: elements with this value become missing entries; NaN matches NaN. By
                default every element becomes an entry, including zeros.
            dtype: the dtype of the entries; by default the dtype of the array.
            copy: whether to copy the array. If False, the Vector shares the array if its dtype and
                device match and `missing_value` is None; do not modify the array afterwards.
            name: the name of the Vector.

        Returns:
            A Vector of size len(values), on the device of the array.

        Raises:
            InvalidValue: the array does not have one dimension.
            TypeError: `values` is a graphla object; copy it with `dup`.

        Examples:
            >>> from graphla import Vector
            >>> Vector.from_dense([0, 7, 0], missing_value=0).to_dict()
            {1: 7}
        """
        return cls._of(building.vector_dense(values, missing_value, dtype, copy), name)

    @property
    def shape(self) -> tuple[int]:
        """The tuple (size,)."""
        return (self._store.size,)

    @property
    def size(self) -> int:
        """The number of indices, with or without an entry."""
        return self._store.size

    def build(
        self,
        indices: Any,
        values: Any,
        *,
        dup_op: Any = None,
        clear: bool = False,
        size: int | None = None,
    ) -> None:
        """v(indices[k]) = values[k].

        Fill an empty Vector with entries; its dtype and device do not change.

        Args:
            indices: a list or array of integers.
            values: a list or array of the same length, or one value for all indices.
            dup_op: the operator that combines the values of duplicate indices.
            clear: whether to delete the existing entries first.
            size: the new size; by default it does not change.

        Raises:
            OutputNotEmpty: the Vector has entries, and `clear` is False.
            IndexOutOfBound: an index is negative or not below the size.
            DuplicateEntry: there are duplicate indices, and `dup_op` is not given.
        """
        building.refuse_entries(self, clear)
        size = self.size if size is None else size
        with config.set(device=self.device):
            built = building.vector_coo(indices, values, self.dtype, size, dup_op)
        self._store = move_store(built, self.device)

    def dup(
        self,
        dtype: Any = None,
        *,
        clear: bool = False,
        mask: Any = None,
        name: str | None = None,
    ) -> Vector:
        """w⟨mask⟩ = v.

        Return a new Vector with the same entries, or only with the entries that the mask selects.

        The copy shares the arrays of v until the copy or v changes. So copying takes O(1) time
        unless `dtype` or `mask` is given.

        Args:
            dtype: the dtype of the copy; by default the dtype of v.
            clear: whether to copy only the size and dtype, without entries.
            mask: a mask of the size of v; only the entries that it selects are copied.
            name: the name of the copy.

        Returns:
            A Vector of the same size on the same device.

        Raises:
            DimensionMismatch: the mask has a different size.
        """
        forms = self._store
        wanted = forms.dtype if dtype is None else lookup_dtype(dtype)
        if clear or mask is not None:
            vector = Vector._of(empty_vector(forms.device, wanted, forms.size), name)
            if not clear:
                vector(mask) << self
            return vector
        return Vector._of(perform("dup", cast, forms, wanted), name)

    def clear(self) -> None:
        """Delete all entries; the size and dtype do not change."""
        forms = self._store
        self._store = empty_vector(forms.device, forms.dtype, forms.size)

    def resize(self, size: int) -> None:
        """Change the size, and delete the entries at indices that no longer exist.

        Args:
            size: the new size.

        Raises:
            TypeError: `size` is not an integer.
            InvalidValue: `size` is negative or not below 2^31.
        """
        size = expressions.dimension(size, "size")
        self._store = run(indexing.reposition_vector, (self._store, 0, size))

    def _axes(self, key: Any) -> tuple[Any]:
        return (vector_axis(key, self._store.size, self._store.device),)

    def __setitem__(self, key: Any, x: Any) -> None:
        forms = self._store
        entries = forms.host_entries
        # As long as the entries are on the host, assigning a number needs no operation on the
        # device.
        if (
            entries is not None
            and type(key) is int
            and 0 <= key < forms.size
            and type(x) in (int, float, bool)
            and len(entries) < MOST_HOST_ENTRIES
            and not recorders()
        ):
            self._store = forms.with_entry(key, fit(x, forms.dtype))
            return
        del forms  # another reference to this storage would prevent a write in place
        assign(self, self._axes(key), x, None, None, False)

    def __reduce__(self) -> Any:
        return building.restore_vector, (Vector, *exporting.vector_pieces(self._store), self._name)


class VectorExpression(ReadableVector, Expression["Vector"]):
    """A Vector that has not been computed yet.

    It is computed when it is read or used as an operand. In a statement `w(mask) << expression` it
    is computed under the mask. `new()` stores the result in a new Vector.
    """

    __slots__ = ()
    noun = Vector

    @property
    def shape(self) -> tuple[int]:
        """The tuple (size,)."""
        return self._shape  # pyright: ignore[reportReturnType]
