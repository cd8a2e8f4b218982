"""The class Matrix: a sparse matrix whose entries have one dtype."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from graphla.backends import default_device
from graphla.expression import Expression
from graphla.operations import indexing
from graphla.operations.entrywise import cast
from graphla.operations.moving import empty_matrix, move_store
from graphla.operations.operation import perform, run
from graphla.operations.values import is_on_card
from graphla.plans import PlanReport
from graphla.settings import config
from graphla.sparse import building, exporting, expressions, printing, sorting
from graphla.sparse.arithmetic import Collection
from graphla.sparse.indices import matrix_axes, position
from graphla.sparse.mask import Mask
from graphla.sparse.noun import Default, Indexed
from graphla.sparse.vector import ReadableVector, Vector
from graphla.stores import MatrixStore
from semirings import binary, monoid, semiring
from semirings.dtypes import FP64, lookup_dtype
from semirings.exceptions import DimensionMismatch, IndexOutOfBound

if TYPE_CHECKING:
    from graphla.sparse.scalar import ScalarExpression
    from graphla.sparse.vector import VectorExpression, _Index, _Indices


class ReadableMatrix(Collection["MatrixExpression", "MatrixExpression"]):
    """The read-only operations that Matrix and MatrixExpression share."""

    __slots__ = ()
    ndim = 2

    @property
    def nrows(self) -> int:
        """The number of rows."""
        return self.shape[0]

    @property
    def ncols(self) -> int:
        """The number of columns."""
        return self.shape[1]

    @property
    def T(self) -> MatrixExpression:
        """The transpose Aᵀ, in O(1) time, because it shares the arrays of A.

        `A.T.T is A` holds until A changes.
        """
        forms = self._read()
        transposed = expressions.transpose(forms)
        transposed._origin = self, forms
        return transposed

    @property
    def S(self) -> Mask:
        """The structural mask, which selects all positions with an entry, whatever its value."""
        return Mask(self, structure=True)

    @property
    def V(self) -> Mask:
        """The value mask, which selects the positions whose entry is true (nonzero)."""
        return Mask(self, structure=False)

    def mxm(self, other: ReadableMatrix, op: Any = semiring.plus_times) -> MatrixExpression:
        """C = A ⊕.⊗ B.

        Return the product of two matrices over a semiring.

        Under a mask, as in `C(mask) << A.mxm(B)`, only the selected entries are computed. Without
        one, the time is proportional, up to a logarithmic factor, to the number of pairs A(i, k),
        B(k, j).

        Args:
            other: B, a Matrix with as many rows as A has columns.
            op: a semiring or its name, such as `semiring.min_plus` or "min_plus".

        Returns:
            A Matrix expression of shape (A.nrows, B.ncols).

        Raises:
            TypeError: `other` is not a Matrix, or `op` is not a semiring.
            DimensionMismatch: the number of rows of B differs from the number of columns of A.
            DomainMismatch: the semiring is not defined on these dtypes.
            DeviceMismatch: A and B are on different devices.

        Examples:
            >>> from graphla import Matrix
            >>> A = Matrix.from_coo([0, 1], [1, 2], [5, 7], nrows=3, ncols=3)
            >>> A.mxm(A, "min_plus").new().to_dict()
            {(0, 2): 12}
        """
        return expressions.product(self._read(), expressions.matrix(other, "mxm"), op)

    def mxv(self, other: ReadableVector, op: Any = semiring.plus_times) -> VectorExpression:
        """w = A ⊕.⊗ u.

        Return the product of this matrix and a vector over a semiring.

        The product is computed by pull (along the rows of A) if u is dense, and by push (along the
        columns of A) if u is sparse. Pull takes time at most proportional to the number of entries
        of A. Push takes time proportional to the number of entries in the columns where u has
        entries.

        Args:
            other: u, a Vector with as many indices as A has columns.
            op: a semiring or its name.

        Returns:
            A Vector expression of size A.nrows.

        Raises:
            TypeError: `other` is not a Vector, or `op` is not a semiring.
            DimensionMismatch: the size of u differs from the number of columns of A.
            DomainMismatch: the semiring is not defined on these dtypes.
            DeviceMismatch: A and u are on different devices.

        Examples:
            >>> from graphla import Matrix, Vector
            >>> A = Matrix.from_coo([0, 1], [1, 2], [5, 7], nrows=3, ncols=3)
            >>> A.mxv(Vector.from_coo([2], [1], size=3)).new().to_dict()
            {1: 7}
        """
        return expressions.product(self._read(), expressions.vector(other, "mxv"), op)

    def kronecker(self, other: ReadableMatrix, op: Any = binary.times) -> MatrixExpression:
        """C(i·m + k, j·n + l) = op(A(i, j), B(k, l)), where B is m x n.

        Return the Kronecker product of two matrices.

        Args:
            other: B, a Matrix of any shape.
            op: a binary operator or its name.

        Returns:
            A Matrix expression with A.nvals * B.nvals entries.

        Raises:
            TypeError: `other` is not a Matrix, or `op` is not a binary operator.
            InvalidValue: the product would have at least 2^31 rows or columns.
            DomainMismatch: the operator is not defined on these dtypes.
            DeviceMismatch: A and B are on different devices.
        """
        return expressions.kronecker(self._read(), expressions.matrix(other, "kronecker"), op)

    def power(self, n: int, op: Any = semiring.plus_times) -> MatrixExpression:
        """C = A ⊕.⊗ A ⊕.⊗ ... ⊕.⊗ A, with n factors.

        Return a power of a square matrix over a semiring.

        Args:
            n: the number of factors; for 0, the result has the identity of ⊗ on its diagonal.
            op: a semiring or its name.

        Returns:
            A Matrix expression with the shape of A.

        Raises:
            TypeError: `n` is not an integer, or `op` is not a semiring.
            InvalidValue: `n` is negative, or it is 0 and ⊗ has no identity.
            DimensionMismatch: A is not square.
            DomainMismatch: the semiring is not defined on this dtype.

        Examples:
            >>> from graphla import Matrix
            >>> Matrix.from_coo([0, 1], [1, 0], [2, 3]).power(2).new().to_dict()
            {(0, 0): 6, (1, 1): 6}
        """
        return expressions.power(self._read(), n, op)

    def reduce_rowwise(self, op: Any = monoid.plus) -> VectorExpression:
        """w(i) = ⊕ over j of A(i, j).

        Reduce each row to one value with a monoid or an aggregator.

        A sum of BOOL values is a logical or. To count the entries of each row, pass `agg.count`.

        Args:
            op: a monoid, an aggregator, or the name of one.

        Returns:
            A Vector expression of size A.nrows, without an entry for an empty row.

        Raises:
            TypeError: `op` is neither a monoid nor an aggregator.
            DomainMismatch: the monoid is not defined on this dtype.

        Examples:
            >>> from graphla import Matrix, agg
            >>> A = Matrix.from_coo([0, 0, 1], [0, 1, 1], [5, 7, 9])
            >>> A.reduce_rowwise().new().to_dict(), A.reduce_rowwise(agg.count).new().to_dict()
            ({0: 12, 1: 9}, {0: 2, 1: 1})
        """
        return expressions.reduce_rowwise(self._read(), op)

    def reduce_columnwise(self, op: Any = monoid.plus) -> VectorExpression:
        """w(j) = ⊕ over i of A(i, j).

        Reduce each column to one value with a monoid or an aggregator.

        A sum of BOOL values is a logical or. To count the entries of each column, pass `agg.count`.

        Args:
            op: a monoid, an aggregator, or the name of one.

        Returns:
            A Vector expression of size A.ncols, without an entry for an empty column.

        Raises:
            TypeError: `op` is neither a monoid nor an aggregator.
            DomainMismatch: the monoid is not defined on this dtype.

        Examples:
            >>> from graphla import Matrix
            >>> A = Matrix.from_coo([0, 0, 1], [0, 1, 1], [5, 7, 9])
            >>> A.reduce_columnwise("max").new().to_dict()
            {0: 5, 1: 9}
        """
        return expressions.reduce_columnwise(self._read(), op)

    def reduce_scalar(self, op: Any = monoid.plus, *, allow_empty: bool = True) -> ScalarExpression:
        """s = ⊕ over i, j of A(i, j).

        Reduce all entries to a scalar with a monoid or an aggregator.

        Args:
            op: a monoid, an aggregator, or the name of one.
            allow_empty: what to return for a matrix without entries: an empty Scalar if True, or
                the identity of `op` if False.

        Returns:
            A Scalar expression.

        Raises:
            TypeError: `op` is neither a monoid nor an aggregator.
            DomainMismatch: the monoid is not defined on this dtype.
            InvalidValue: `op` is an aggregator that returns an index; or `allow_empty` is False
                and `op` is an aggregator without an identity.

        Examples:
            >>> from graphla import Matrix
            >>> Matrix.from_coo([0, 1], [1, 0], [3, 4]).reduce_scalar().value
            7
        """
        return expressions.reduce_scalar(self._read(), op, allow_empty)

    @overload
    def sort(
        self,
        op: Any = ...,
        order: str = ...,
        *,
        values: Literal[True] = True,
        permutation: Literal[True] = True,
    ) -> tuple[Matrix, Matrix]: ...
    @overload
    def sort(
        self, op: Any = ..., order: str = ..., *, values: bool = True, permutation: bool = True
    ) -> tuple[Matrix | None, Matrix | None]: ...
    def sort(
        self,
        op: Any = binary.lt,
        order: str = "rowwise",
        *,
        values: bool = True,
        permutation: bool = True,
    ) -> tuple[Matrix | None, Matrix | None]:
        """C(i, k) is the k-th entry of row i in the order of op, and P(i, k) is its column in A.

        Sort the entries of each row (or column) by value.

        Columnwise, C(k, j) is the k-th entry of column j, and P(k, j) is its row. The sort is
        stable and puts NaN last. It takes O(nvals log nvals) comparisons. The function corresponds
        to GxB_Matrix_sort in SuiteSparse.

        Args:
            op: op(x, y) is true if x comes before y, as in `Vector.sort`.
            order: "rowwise" or "columnwise".
            values: whether to return the sorted values.
            permutation: whether to return the positions.

        Returns:
            (C, P): Matrices with the shape of A, in which the entries of each row are packed at its
            start. C has the dtype of A, and P has dtype INT64. A result that was not requested is
            None.

        Raises:
            DomainMismatch: `op` does not return BOOL, or does not compare two values of this dtype.
            InvalidValue: `op` is positional, or `order` is neither "rowwise" nor "columnwise".

        Examples:
            >>> from graphla import Matrix
            >>> A = Matrix.from_coo([0, 0, 1], [0, 2, 1], [5, 4, 3], nrows=2, ncols=3)
            >>> C, P = A.sort()
            >>> C.to_dicts(), P.to_dicts()
            ({0: {0: 4, 1: 5}, 1: {0: 3}}, {0: {0: 2, 1: 0}, 1: {0: 1}})
        """
        c, p = sorting.of_matrix(self._read(), op, order)
        return Matrix._of(c) if values else None, Matrix._of(p) if permutation else None

    def argsort(self, op: Any = binary.lt, order: str = "rowwise") -> Matrix:
        """P(i, k) is the column of the k-th entry of row i in the order of op.

        Return the permutations that sort the rows (or columns).

        Args:
            op: the order, as in `Vector.sort`.
            order: "rowwise" or "columnwise".

        Returns:
            An INT64 Matrix with the shape of A, in which the entries of each row are packed at its
            start.

        Raises:
            DomainMismatch: `op` does not return BOOL, or does not compare two values of this dtype.
            InvalidValue: `op` is positional, or `order` is neither "rowwise" nor "columnwise".
        """
        _, p = sorting.of_matrix(self._read(), op, order)
        return Matrix._of(p)

    def top_k(self, k: int, op: Any = binary.gt, order: str = "rowwise") -> tuple[Matrix, Matrix]:
        """C(i, j), for j < k, is the j-th entry of row i in the order of op; P(i, j) is its column.

        Return the first `k` entries of each row (or column) in sorted order: by default the largest
        values.

        Args:
            k: the number of entries per row; a row with fewer entries keeps all of them.
            op: the order, as in `Vector.sort`; `binary.lt` gives the smallest values.
            order: "rowwise" or "columnwise".

        Returns:
            (C, P): Matrices of shape (nrows, k), or (k, ncols) columnwise. C has the dtype of A,
            and P has dtype INT64.

        Raises:
            InvalidValue: `k` is negative, `op` is positional, or `order` is neither "rowwise" nor
                "columnwise".
            DomainMismatch: `op` does not return BOOL, or does not compare two values of this dtype.
        """
        c, p = sorting.of_matrix(self._read(), op, order, expressions.integer(k, "k"))
        return Matrix._of(c), Matrix._of(p)

    def reposition(
        self,
        row_offset: int,
        column_offset: int,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
    ) -> MatrixExpression:
        """C(i + row_offset, j + column_offset) = A(i, j).

        Shift the entries, and drop those whose new position is outside the result.

        Args:
            row_offset: the number of rows by which to shift the entries; it may be negative.
            column_offset: the number of columns by which to shift the entries; it may be negative.
            nrows: the number of rows of the result; by default that of A.
            ncols: the number of columns of the result; by default that of A.

        Returns:
            A Matrix expression.

        Raises:
            TypeError: an offset or a size is not an integer.
            InvalidValue: a size is negative or not below 2^31.
        """
        return expressions.reposition(self._read(), (row_offset, column_offset), (nrows, ncols))

    def diag(self, k: int = 0, dtype: Any = None, *, name: str | None = None) -> Vector:
        """w(i) = A(i, i + k), or A(i - k, i) if k is negative.

        Return the entries on a diagonal.

        Args:
            k: the diagonal: 0 is the main diagonal, and positive numbers are diagonals above it.
            dtype: the dtype of the Vector; by default that of A.
            name: the name of the Vector.

        Returns:
            A Vector whose size is the length of the diagonal, or 0 if A has no such diagonal.

        Raises:
            TypeError: `k` is not an integer.

        Examples:
            >>> from graphla import Matrix
            >>> Matrix.from_dense([[1, 2], [3, 4]]).diag().to_dict()
            {0: 1, 1: 4}
        """
        return expressions.diag(self._read(), k).new(dtype, name=name)

    @overload
    def get(self, row: _Index, col: _Index) -> bool | int | float | None: ...
    @overload
    def get(self, row: _Index, col: _Index, default: Default) -> bool | int | float | Default: ...
    def get(self, row: _Index, col: _Index, default: Any = None) -> Any:
        """Return A(row, col) as a Python number.

        Args:
            row: the row; negative numbers count from the end.
            col: the column; negative numbers count from the end.
            default: the value to return if there is no entry.

        Returns:
            A bool, int or float, or `default`.

        Raises:
            TypeError: `row` or `col` is not an integer.
            IndexOutOfBound: A does not have this row or column.
        """
        i = position(expressions.integer(row, "row"), self.nrows, "row")
        j = position(expressions.integer(col, "col"), self.ncols, "col")
        value = perform("get", indexing.matrix_element.compute, self._read(), i, j).value
        return default if value is None else value.item()

    def __contains__(self, index: Any) -> bool:
        if type(index) is not tuple or len(index) != 2:
            raise TypeError(f"ask for a place as `(i, j) in A`, not as {index!r}")
        return self.get(*index) is not None

    @overload
    def __getitem__(self, key: tuple[_Index, _Index]) -> ScalarExpression: ...
    @overload
    def __getitem__(self, key: tuple[_Index, _Indices]) -> VectorExpression: ...
    @overload
    def __getitem__(self, key: tuple[_Indices, _Index]) -> VectorExpression: ...
    @overload
    def __getitem__(self, key: tuple[_Indices, _Indices] | EllipsisType) -> MatrixExpression: ...
    def __getitem__(self, key: Any) -> Any:
        target = self if isinstance(self, Indexed) else None
        return expressions.extract(self._read(), self._axes(key), target)

    def _axes(self, key: Any) -> tuple[Any, Any]:
        nrows, ncols = self.shape
        return matrix_axes(key, nrows, ncols, self.device)

    def to_coo(
        self,
        dtype: Any = None,
        *,
        rows: bool = True,
        columns: bool = True,
        values: bool = True,
        sort: bool = True,
        copy: bool = True,
    ) -> tuple[Any, Any, Any]:
        """Return the rows, the columns and the values of the entries as arrays.

        Args:
            dtype: the dtype of the values; by default that of A.
            rows: whether to return the rows.
            columns: whether to return the columns.
            values: whether to return the values.
            sort: whether to sort the entries by row. If False, a matrix that is stored only by
                columns returns them in column order, which avoids a conversion.
            copy: True returns new NumPy arrays, with int64 indices. False returns the stored arrays
                on their device (NumPy or CuPy), which must not be modified.

        Returns:
            (rows, columns, values), of length nvals; a result that was not requested is None.

        Examples:
            >>> from graphla import Matrix
            >>> A = Matrix.from_coo([1, 0], [0, 2], [5, 7])
            >>> [part.tolist() for part in A.to_coo()]
            [[0, 1], [2, 0], [7, 5]]
        """
        wanted = dtype, rows, columns, values, sort, copy
        return perform("to_coo", exporting.matrix_coo, self._read(), *wanted)

    @overload
    def to_csr(
        self, dtype: Any = ..., *, sort: bool = True, copy: Literal[True] = True
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
    @overload
    def to_csr(
        self, dtype: Any = ..., *, sort: bool = True, copy: bool
    ) -> tuple[Any, Any, Any]: ...
    def to_csr(
        self, dtype: Any = None, *, sort: bool = True, copy: bool = True
    ) -> tuple[Any, Any, Any]:
        """Return the entries in compressed sparse row form.

        Args:
            dtype: the dtype of the values; by default that of A.
            sort: must be True: the indices in each row are always sorted.
            copy: True returns new NumPy arrays, with int64 indices. False returns the stored arrays
                on their device (NumPy or CuPy), which must not be modified.

        Returns:
            (indptr, column indices, values): row i has the entries indptr[i] to
            indptr[i + 1] - 1. The lengths are nrows + 1, nvals and nvals.

        Raises:
            InvalidValue: `sort` is False.
        """
        exporting.require_sorted("to_csr", sort)
        return perform("to_csr", exporting.to_compressed, self._read(), dtype, False, copy)

    @overload
    def to_csc(
        self, dtype: Any = ..., *, sort: bool = True, copy: Literal[True] = True
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
    @overload
    def to_csc(
        self, dtype: Any = ..., *, sort: bool = True, copy: bool
    ) -> tuple[Any, Any, Any]: ...
    def to_csc(
        self, dtype: Any = None, *, sort: bool = True, copy: bool = True
    ) -> tuple[Any, Any, Any]:
        """Return the entries in compressed sparse column form.

        Args:
            dtype: the dtype of the values; by default that of A.
            sort: must be True: the indices in each column are always sorted.
            copy: True returns new NumPy arrays, with int64 indices. False returns the stored arrays
                on their device (NumPy or CuPy), which must not be modified.

        Returns:
            (indptr, row indices, values): column i has the entries indptr[i] to
            indptr[i + 1] - 1. The lengths are ncols + 1, nvals and nvals.

        Raises:
            InvalidValue: `sort` is False.
        """
        exporting.require_sorted("to_csc", sort)
        return perform("to_csc", exporting.to_compressed, self._read(), dtype, True, copy)

    def to_dcsr(
        self, dtype: Any = None, *, sort: bool = True
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the entries in doubly compressed form, which lists only the nonempty rows.

        Args:
            dtype: the dtype of the values; by default that of A.
            sort: must be True: the indices in each row are always sorted.

        Returns:
            (rows, indptr, column indices, values) as new arrays: row rows[k] has the entries
            indptr[k] to indptr[k + 1] - 1.

        Raises:
            InvalidValue: `sort` is False.
        """
        exporting.require_sorted("to_dcsr", sort)
        return perform("to_dcsr", exporting.doubly_compressed, self._read(), dtype, False)

    def to_dcsc(
        self, dtype: Any = None, *, sort: bool = True
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the entries in doubly compressed form, which lists only the nonempty columns.

        Args:
            dtype: the dtype of the values; by default that of A.
            sort: must be True: the indices in each column are always sorted.

        Returns:
            (columns, indptr, row indices, values) as new arrays: column columns[k] has the entries
            indptr[k] to indptr[k + 1] - 1.

        Raises:
            InvalidValue: `sort` is False.
        """
        exporting.require_sorted("to_dcsc", sort)
        return perform("to_dcsc", exporting.doubly_compressed, self._read(), dtype, True)

    def to_dense(self, fill_value: Any = None, dtype: Any = None) -> np.ndarray:
        """Return a dense NumPy array of the values, with nrows * ncols elements.

        Args:
            fill_value: the value for positions without an entry. It may be omitted if every
                position has an entry.
            dtype: the dtype of the array; by default one that holds the entries and `fill_value`.

        Returns:
            A NumPy array of shape (nrows, ncols).

        Raises:
            TypeError: a position has no entry, and `fill_value` is not given.

        Examples:
            >>> from graphla import Matrix
            >>> Matrix.from_coo([0], [1], [7], nrows=2, ncols=2).to_dense(0).tolist()
            [[0, 7], [0, 0]]
        """
        return perform("to_dense", exporting.matrix_dense, self._read(), fill_value, dtype)

    def to_dict(self) -> dict[Any, Any]:
        """Return the entries as {(row, column): value}, with Python numbers.

        Returns:
            A dict in row order.
        """
        rows, columns, values = self.to_coo()
        places = zip(rows.tolist(), columns.tolist(), strict=True)
        return dict(zip(places, values.tolist(), strict=True))

    def to_dicts(self, order: str = "rowwise") -> dict[Any, dict[Any, Any]]:
        """Return the entries as {row: {column: value}}, or {column: {row: value}} columnwise.

        Args:
            order: "rowwise" or "columnwise".

        Returns:
            A dict with one item for each row (or column) that has entries.

        Raises:
            InvalidValue: `order` is neither "rowwise" nor "columnwise".
        """
        return perform("to_dicts", exporting.dicts, self._read(), order)

    def to_edgelist(
        self, dtype: Any = None, *, values: bool = True, sort: bool = True
    ) -> tuple[Any, Any]:
        """Return the positions and the values of the entries.

        Args:
            dtype: the dtype of the values; by default that of A.
            values: whether to return the values.
            sort: whether to sort the entries by row, as in `to_coo`.

        Returns:
            (edges, values): an INT64 array of shape (nvals, 2), and an array of length nvals, or
            None if `values` is False.

        Examples:
            >>> from graphla import Matrix
            >>> edges, values = Matrix.from_coo([1, 0], [0, 2], [5, 7]).to_edgelist()
            >>> edges.tolist(), values.tolist()
            ([[0, 2], [1, 0]], [7, 5])
        """
        rows, columns, found = self.to_coo(dtype, values=values, sort=sort)
        return np.column_stack([rows, columns]), found

    def to(self, device: str) -> Matrix:
        """Return a Matrix with the same entries on another device.

        Args:
            device: "cpu", "cuda", or one GPU such as "cuda:1".

        Returns:
            A new Matrix, which shares the arrays of A if they are already on the device.

        Raises:
            InvalidValue: `device` is not the name of a device.
            DeviceUnavailable: the machine has no such device, or CuPy is missing.
        """
        return building.to_device(self, device)

    def __repr__(self) -> str:
        return printing.text(self)

    def _repr_html_(self) -> str:
        return printing.html(self)


class Matrix(ReadableMatrix, Indexed):
    """A sparse matrix: entries of one dtype at some of the nrows x ncols positions.

    A missing entry is not a zero. Both dimensions are below 2^31. A Matrix takes O(nrows + nvals)
    memory.

    Args:
        dtype: the dtype of the entries, such as "INT64", `int` or `np.float32`.
        nrows: the number of rows.
        ncols: the number of columns.
        name: a name to show when the matrix is printed.

    Raises:
        ValueError: `dtype` is not one of the eleven dtypes.
        InvalidValue: a dimension is negative or not below 2^31.

    Examples:
        >>> from graphla import Matrix
        >>> A = Matrix.from_coo([0, 1], [1, 0], [3, 4])
        >>> A[0, 1].value, A.shape, A.nvals
        (3, (2, 2), 2)
    """

    __slots__ = ()

    def __init__(
        self, dtype: Any = FP64, nrows: int = 0, ncols: int = 0, *, name: str | None = None
    ):
        nrows = expressions.dimension(nrows, "nrows")
        ncols = expressions.dimension(ncols, "ncols")
        self._store = empty_matrix(default_device(), lookup_dtype(dtype), nrows, ncols)
        self._name = name

    @classmethod
    def from_coo(
        cls,
        rows: Any,
        columns: Any,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        dup_op: Any = None,
        symmetric: bool = False,
        name: str | None = None,
    ) -> Matrix:
        """A(rows[k], columns[k]) = values[k].

        Build a Matrix from rows, columns and values.

        Args:
            rows: a list or array of integers from 0 to nrows - 1, in any order. Arrays on a GPU
                (CuPy, DLPack) produce a Matrix on that GPU.
            columns: a list or array of integers from 0 to ncols - 1, of the same length.
            values: a list or array of the same length, or one value for all.
            dtype: the dtype of the entries; by default that of the values.
            nrows: the number of rows; by default one more than the largest row.
            ncols: the number of columns; by default one more than the largest column.
            dup_op: the binary operator that combines the values of duplicate positions. Without it,
                duplicates raise an error.
            symmetric: True asserts, unchecked, that A equals its transpose, so that the transpose
                takes no memory. If False, the first traversal checks for symmetry in one pass.
            name: the name of the Matrix.

        Returns:
            A Matrix.

        Raises:
            TypeError: `rows` or `columns` holds something other than integers.
            IndexOutOfBound: a row or column is negative or too large.
            InvalidValue: the lengths differ, or a dimension is missing and there are no entries.
            DuplicateEntry: there are duplicate positions, and `dup_op` is not given.
            DimensionMismatch: `symmetric` is True, but the matrix is not square.

        Examples:
            >>> from graphla import Matrix
            >>> Matrix.from_coo([0, 0, 1], [1, 1, 0], [5, 7, 9], dup_op="plus").to_dict()
            {(0, 1): 12, (1, 0): 9}
        """
        forms = building.matrix_coo(rows, columns, values, dtype, nrows, ncols, dup_op, symmetric)
        return cls._of(forms, name)

    @classmethod
    def from_csr(
        cls,
        indptr: Any,
        col_indices: Any,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        symmetric: bool = False,
        copy: bool = True,
        name: str | None = None,
    ) -> Matrix:
        """A(i, col_indices[k]) = values[k] for indptr[i] <= k < indptr[i + 1].

        Build a Matrix from compressed sparse rows.

        Args:
            indptr: an array of nrows + 1 ascending offsets, from 0 to the number of entries.
            col_indices: the column of each entry; the columns of a row need not be sorted.
            values: the value of each entry, or one value for all.
            dtype: the dtype of the entries; by default that of the values.
            nrows: the number of rows; by default len(indptr) - 1.
            ncols: the number of columns; by default one more than the largest column.
            symmetric: True asserts that A equals its transpose, which is not checked.
            copy: False uses an array without a copy if its dtype and device match; the array must
                not be modified afterwards.
            name: the name of the Matrix.

        Returns:
            A Matrix.

        Raises:
            InvalidValue: `indptr` does not ascend from 0 to the number of entries.
            DimensionMismatch: the length of `indptr` is not nrows + 1.
            IndexOutOfBound: a column is negative or too large.
            DuplicateEntry: a row has duplicate columns.
        """
        shape = (nrows, ncols)
        device, csr, dtype = building.from_compressed(
            indptr, col_indices, values, dtype, shape, "row", copy
        )
        return cls._of(MatrixStore(device, dtype, csr, csr if symmetric else None), name)

    @classmethod
    def from_csc(
        cls,
        indptr: Any,
        row_indices: Any,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        copy: bool = True,
        name: str | None = None,
    ) -> Matrix:
        """A(row_indices[k], j) = values[k], for indptr[j] <= k < indptr[j + 1].

        Build a Matrix from compressed sparse columns.

        Args:
            indptr: an array of ncols + 1 ascending offsets, from 0 to the number of entries.
            row_indices: the row of each entry; the rows of a column need not be sorted.
            values: the value of each entry, or one value for all.
            dtype: the dtype of the entries; by default that of the values.
            nrows: the number of rows; by default one more than the largest row.
            ncols: the number of columns; by default len(indptr) - 1.
            copy: False uses an array without a copy if its dtype and device match; the array must
                not be modified afterwards.
            name: the name of the Matrix.

        Returns:
            A Matrix.

        Raises:
            InvalidValue: `indptr` does not ascend from 0 to the number of entries.
            DimensionMismatch: the length of `indptr` is not ncols + 1.
            IndexOutOfBound: a row is negative or too large.
            DuplicateEntry: a column has duplicate rows.
        """
        shape = (ncols, nrows)
        device, csc, dtype = building.from_compressed(
            indptr, row_indices, values, dtype, shape, "column", copy
        )
        return cls._of(MatrixStore(device, dtype, None, csc), name)

    @classmethod
    def from_dcsr(
        cls,
        compressed_rows: Any,
        indptr: Any,
        col_indices: Any,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
    ) -> Matrix:
        """A(compressed_rows[r], col_indices[k]) = values[k], for indptr[r] <= k < indptr[r + 1].

        Build a Matrix from doubly compressed rows, which list only the nonempty rows.

        Args:
            compressed_rows: the rows that have entries.
            indptr: an array of len(compressed_rows) + 1 ascending offsets.
            col_indices: the column of each entry.
            values: the value of each entry, or one value for all.
            dtype: the dtype of the entries; by default that of the values.
            nrows: the number of rows; by default one more than the largest row.
            ncols: the number of columns; by default one more than the largest column.
            name: the name of the Matrix.

        Returns:
            A Matrix.

        Raises:
            DimensionMismatch: the length of `indptr` is not len(compressed_rows) + 1.
            InvalidValue: `indptr` does not ascend from 0.
            IndexOutOfBound: a row or column is negative or too large.
            DuplicateEntry: there are duplicate positions.
        """
        rows, count = building.expand_lines(compressed_rows, indptr, "compressed_rows")
        nrows, ncols = building.shape_of_lists(count, rows.size, nrows, ncols)
        return cls.from_coo(rows, col_indices, values, dtype, nrows=nrows, ncols=ncols, name=name)

    @classmethod
    def from_dcsc(
        cls,
        compressed_cols: Any,
        indptr: Any,
        row_indices: Any,
        values: Any = 1.0,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
    ) -> Matrix:
        """A(row_indices[k], compressed_cols[r]) = values[k], for indptr[r] <= k < indptr[r + 1].

        Build a Matrix from doubly compressed columns, which list only the nonempty columns.

        Args:
            compressed_cols: the columns that have entries.
            indptr: an array of len(compressed_cols) + 1 ascending offsets.
            row_indices: the row of each entry.
            values: the value of each entry, or one value for all.
            dtype: the dtype of the entries; by default that of the values.
            nrows: the number of rows; by default one more than the largest row.
            ncols: the number of columns; by default one more than the largest column.
            name: the name of the Matrix.

        Returns:
            A Matrix.

        Raises:
            DimensionMismatch: the length of `indptr` is not len(compressed_cols) + 1.
            InvalidValue: `indptr` does not ascend from 0.
            IndexOutOfBound: a row or column is negative or too large.
            DuplicateEntry: there are duplicate positions.
        """
        cols, count = building.expand_lines(compressed_cols, indptr, "compressed_cols")
        ncols, nrows = building.shape_of_lists(count, cols.size, ncols, nrows)
        return cls.from_coo(row_indices, cols, values, dtype, nrows=nrows, ncols=ncols, name=name)

    @classmethod
    def from_edgelist(
        cls,
        edgelist: Any,
        values: Any = None,
        dtype: Any = None,
        *,
        nrows: int | None = None,
        ncols: int | None = None,
        dup_op: Any = None,
        name: str | None = None,
    ) -> Matrix:
        """A(i, j) = x for each edge (i, j, x), or values[k] for the k-th edge (i, j).

        Build a Matrix from a list of edges.

        Args:
            edgelist: tuples (i, j) or (i, j, value), or an array with 2 or 3 columns.
            values: the values of the edges, if `edgelist` contains pairs (i, j): a list, an array,
                or one value for all; 1.0 by default.
            dtype: the dtype of the entries; by default that of the values.
            nrows: the number of rows; by default one more than the largest row.
            ncols: the number of columns; by default one more than the largest column.
            dup_op: the operator that combines the values of duplicate edges.
            name: the name of the Matrix.

        Returns:
            A Matrix.

        Raises:
            TypeError: `edgelist` is a mapping; or a vertex is not an integer; or the values are
                given twice, in `edgelist` and in `values`.
            InvalidValue: the edges differ in length, or their length is not 2 or 3.
            IndexOutOfBound: a row or column is negative or too large.
            DuplicateEntry: there are duplicate edges, and `dup_op` is not given.

        Examples:
            >>> from graphla import Matrix
            >>> Matrix.from_edgelist([(0, 1, 5), (1, 2, 7)]).to_dict()
            {(0, 1): 5, (1, 2): 7}
        """
        rows, columns, found = building.edges(edgelist, values)
        return cls.from_coo(
            rows, columns, found, dtype, nrows=nrows, ncols=ncols, dup_op=dup_op, name=name
        )

    @classmethod
    def from_dicts(
        cls,
        nested_dicts: Mapping[int, Mapping[int, Any]] | Sequence[Mapping[int, Any]],
        dtype: Any = None,
        *,
        order: str = "rowwise",
        nrows: int | None = None,
        ncols: int | None = None,
        name: str | None = None,
    ) -> Matrix:
        """A(i, j) = nested_dicts[i][j], or nested_dicts[j][i] columnwise.

        Build a Matrix from nested mappings.

        Args:
            nested_dicts: {row: {column: value}}, or a list of {column: value}, one per row.
                Columnwise, rows and columns are swapped.
            dtype: the dtype of the entries; by default that of the values.
            order: "rowwise" or "columnwise".
            nrows: the number of rows; by default one more than the largest row.
            ncols: the number of columns; by default one more than the largest column.
            name: the name of the Matrix.

        Returns:
            A Matrix.

        Raises:
            InvalidValue: `order` is neither "rowwise" nor "columnwise".
            IndexOutOfBound: a row or column is negative or too large.
        """
        nested = building.from_nested(nested_dicts, order, nrows, ncols)
        rows, columns, values, nrows, ncols = nested
        return cls.from_coo(rows, columns, values, dtype, nrows=nrows, ncols=ncols, name=name)

    @classmethod
    def from_scalar(
        cls,
        value: Any,
        nrows: int,
        ncols: int,
        dtype: Any = None,
        *,
        name: str | None = None,
    ) -> Matrix:
        """A(i, j) = value, at every position.

        Build a Matrix with an entry at every position. It stores nrows * ncols indices, but the
        value only once.

        Args:
            value: a number or a Scalar.
            nrows: the number of rows.
            ncols: the number of columns.
            dtype: the dtype of the entries; by default that of the value.
            name: the name of the Matrix.

        Returns:
            A Matrix.

        Raises:
            TypeError: `value` is not a scalar.
            InvalidValue: a dimension is negative or not below 2^31.
        """
        value, wanted = building.scalar_and_dtype(value, dtype)
        matrix = cls(wanted, nrows, ncols, name=name)
        matrix << value
        return matrix

    @classmethod
    def from_dense(
        cls,
        values: Any,
        missing_value: Any = None,
        *,
        dtype: Any = None,
        name: str | None = None,
    ) -> Matrix:
        """A(i, j) = values[i][j], except where that is `missing_value`.

        Build a Matrix from a dense array.

        Args:
            values: nested lists, or a two-dimensional array from NumPy, CuPy or any library with
                DLPack.
            missing_value: elements with this value become missing entries; NaN matches NaN. By
                default every element becomes an entry, including zeros. For an adjacency matrix,
                pass 0 or use `Graph.from_numpy`.
            dtype: the dtype of the entries; by default that of the array.
            name: the name of the Matrix.

        Returns:
            A Matrix with the shape of the array, on the device of the array.

        Raises:
            InvalidValue: the array does not have two dimensions.
            TypeError: `values` is a graphla object; copy it with `dup`.

        Examples:
            >>> from graphla import Matrix
            >>> Matrix.from_dense([[0, 5], [7, 0]], missing_value=0).to_dict()
            {(0, 1): 5, (1, 0): 7}
        """
        return cls._of(building.matrix_dense(values, missing_value, dtype), name)

    @property
    def shape(self) -> tuple[int, int]:
        """The tuple (nrows, ncols)."""
        forms = self._store
        return forms.nrows, forms.ncols

    @property
    def preparation(self) -> PlanReport | None:
        """A `PlanReport` that describes the data prepared for traversals of this matrix.

        It is None before the first traversal or `prepare`. See docs/decisions/010-plans.md.
        """
        return self._store.report

    def prepare(self) -> Matrix:
        """Build the full plan for traversals of this square matrix and its transpose now.

        A plan is data about the matrix that makes traversals faster. The first traversal builds a
        light plan, which takes little time and memory: it marks the vertices without edges and
        holds one neighbor per vertex. If `prepare` is not called, the full plan is built once
        traversals have taken as long as building it would take.

        On a GPU, the full plan is a copy of the pattern in which vertices are renumbered by
        descending degree; results keep your numbering. It takes at most 1.5 times the memory of
        the pattern, and is dropped when memory runs short or the entries change. If the full plan
        would not fit in memory, or if the mean degree is at most 7, the matrix keeps its light
        plan. (With such a mean degree, a full plan would not save time.)

        On the CPU, the full plan holds for each vertex its neighbor with the largest degree, which
        the compiled loops use. `preparation` reports which plan the matrix has.

        Returns:
            This Matrix.

        Raises:
            DimensionMismatch: the matrix is not square.

        Examples:
            >>> from graphla import generators
            >>> A = generators.kronecker(6).prepare()
            >>> A.preparation.tier in ("light", "full")
            True
        """
        forms = self._store
        if forms.nrows != forms.ncols:
            raise DimensionMismatch(
                f"a plan is for a square matrix, but this one is {forms.nrows} x {forms.ncols}"
            )
        perform("prepare", MatrixStore.make_full_plan, forms)
        return self

    @property
    def plan(self) -> PlanReport | None:
        """The old name of `preparation`.

        It issues a warning, and will be removed in the next release.
        """
        warnings.warn("A.plan is now A.preparation", FutureWarning, stacklevel=2)
        return self.preparation

    def optimize(self) -> Matrix:
        """Do the same as `prepare`; `optimize` is its old name.

        The old name issues a warning, and will be removed in the next release.

        Returns:
            This Matrix.

        Raises:
            DimensionMismatch: the matrix is not square.
        """
        warnings.warn("A.optimize() is now A.prepare()", FutureWarning, stacklevel=2)
        return self.prepare()

    def build(
        self,
        rows: Any,
        columns: Any,
        values: Any,
        *,
        dup_op: Any = None,
        clear: bool = False,
        nrows: int | None = None,
        ncols: int | None = None,
    ) -> None:
        """A(rows[k], columns[k]) = values[k].

        Fill an empty Matrix with entries; its dtype and device do not change.

        Args:
            rows: a list or array of integers.
            columns: a list or array of integers of the same length.
            values: a list or array of the same length, or one value for all.
            dup_op: the operator that combines the values of duplicate positions.
            clear: whether to delete the existing entries first.
            nrows: the new number of rows; by default it does not change.
            ncols: the new number of columns; by default it does not change.

        Raises:
            OutputNotEmpty: the Matrix has entries, and `clear` is False.
            IndexOutOfBound: a row or column is negative or too large.
            DuplicateEntry: there are duplicate positions, and `dup_op` is not given.
        """
        building.refuse_entries(self, clear)
        nrows = self.nrows if nrows is None else nrows
        ncols = self.ncols if ncols is None else ncols
        with config.set(device=self.device):
            built = building.matrix_coo(
                rows, columns, values, self.dtype, nrows, ncols, dup_op, False
            )
        self._store = move_store(built, self.device)

    def dup(
        self,
        dtype: Any = None,
        *,
        clear: bool = False,
        mask: Any = None,
        name: str | None = None,
    ) -> Matrix:
        """C⟨mask⟩ = A.

        Return a new Matrix with the same entries, or with those that the mask selects.

        The copy shares the arrays of A until either of them changes, so copying takes O(1) time
        unless `dtype` or `mask` is given.

        Args:
            dtype: the dtype of the copy; by default that of A.
            clear: whether to copy only the shape and dtype, without entries.
            mask: a mask of the shape of A; only the entries that it selects are copied.
            name: the name of the copy.

        Returns:
            A Matrix of the same shape on the same device.

        Raises:
            DimensionMismatch: the mask has a different shape.
        """
        forms = self._store
        wanted = forms.dtype if dtype is None else lookup_dtype(dtype)
        if clear or mask is not None:
            empty = empty_matrix(forms.device, wanted, forms.nrows, forms.ncols)
            matrix = Matrix._of(empty, name)
            if not clear:
                matrix(mask) << self
            return matrix
        return Matrix._of(perform("dup", cast, forms, wanted), name)

    def _lift(self, forms: Any) -> Matrix | Vector:
        """Return a new Vector or Matrix with the given storage."""
        return (Matrix if isinstance(forms, MatrixStore) else Vector)._of(forms)

    def clear(self) -> None:
        """Delete all entries; the shape and dtype do not change."""
        forms = self._store
        self._store = empty_matrix(forms.device, forms.dtype, forms.nrows, forms.ncols)

    def resize(self, nrows: int, ncols: int) -> None:
        """Change the shape, and delete the entries at positions that no longer exist.

        Args:
            nrows: the new number of rows.
            ncols: the new number of columns.

        Raises:
            TypeError: a size is not an integer.
            InvalidValue: a size is negative or not below 2^31.
        """
        shape = expressions.dimension(nrows, "nrows"), expressions.dimension(ncols, "ncols")
        self._store = run(indexing.reposition_matrix, (self._store, 0, 0, shape))

    def setdiag(self, values: Any, k: int = 0, *, mask: Any = None, accum: Any = None) -> None:
        """A(i, i + k)⟨mask⟩ = accum(A(i, i + k), values(i)).

        Write a diagonal.

        Args:
            values: a Vector, list or array with the length of the diagonal, or one scalar. Where a
                Vector has no entry, the entry of A is deleted, unless `accum` is given.
            k: the diagonal: 0 is the main diagonal, and positive numbers are diagonals above it.
            mask: which elements of the diagonal to write: a Vector mask with the length of the
                diagonal, or a Matrix mask with the shape of A.
            accum: the binary operator that combines an existing entry with its new value.

        Raises:
            IndexOutOfBound: A has no diagonal `k`.
            DimensionMismatch: the length of `values` differs from that of the diagonal.
        """
        k = expressions.integer(k, "k")
        nrows, ncols = self.shape
        if k and not -nrows < k < ncols:
            raise IndexOutOfBound(
                f"k is {k}, but the diagonals of a {nrows} x {ncols} matrix are "
                f"{min(0, 1 - nrows)} to {max(0, ncols - 1)}"
            )
        size = min(nrows - max(0, -k), ncols - max(0, k))
        diagonal = self.diag(k)
        if isinstance(values, (list, tuple, np.ndarray)) or is_on_card(values):
            with config.set(device=self.device):
                values = Vector.from_dense(values)
        if isinstance(values, ReadableVector) and values.size != size:
            raise DimensionMismatch(
                f"values has size {values.size}, but diagonal {k} of A has size {size}"
            )
        if isinstance(mask, Mask) and mask.ndim == 2:
            mask = mask._diagonal(k)
        if mask is None:
            diagonal(accum=accum) << values
        else:
            diagonal(mask, accum=accum) << values
        self._store = perform("setdiag", indexing.with_diagonal, self._store, k, diagonal._store)

    def __reduce__(self) -> Any:
        return building.restore_matrix, (Matrix, *exporting.matrix_pieces(self._store), self._name)


class MatrixExpression(ReadableMatrix, Expression["Matrix"]):
    """A Matrix that has not been computed yet.

    It is computed when it is read or used as an operand. In a statement `C(mask) << expression` it
    is computed under the mask. `new()` stores the result in a new Matrix.
    """

    __slots__ = ()
    noun = Matrix

    @property
    def T(self) -> Any:
        """The transpose, in O(1) time. The transpose of a transpose is the original Matrix."""
        of, forms = getattr(self, "_origin", (None, None))
        return of if of is not None and of._read() is forms else super().T

    @property
    def shape(self) -> tuple[int, int]:
        """The tuple (nrows, ncols)."""
        return self._shape  # pyright: ignore[reportReturnType]
