"""The read-only operations of a matrix, which Matrix and MatrixExpression share."""

from __future__ import annotations

from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from graphla.expression import classes
from graphla.operations import indexing
from graphla.operations.operation import perform
from graphla.sparse import building, exporting, expressions, printing, sorting
from graphla.sparse.arithmetic import Collection
from graphla.sparse.indices import matrix_axes, position
from graphla.sparse.mask import Mask
from graphla.sparse.noun import Default, Indexed
from graphla.sparse.vector import ReadableVector, Vector
from semirings import binary, monoid, semiring

if TYPE_CHECKING:
    from graphla.sparse.matrix import Matrix, MatrixExpression
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
        """The structural mask, which selects all positions with an entry, of any value."""
        return Mask(self, structure=True)

    @property
    def V(self) -> Mask:
        """The value mask, which selects the positions whose entry is true (nonzero)."""
        return Mask(self, structure=False)

    def mxm(self, other: ReadableMatrix, op: Any = semiring.plus_times) -> MatrixExpression:
        """C = A ⊕.⊗ B.

        Return the product of two matrices over a semiring.

        Under a mask, as in `C(mask) << A.mxm(B)`, only the selected entries are computed. Without
        one, the time is proportional, up to a logarithmic factor, to the number of pairs of entries
        A(i, k), B(k, j).

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
            (C, P): Matrices with the shape of A, in which the entries of each row (or column) are
            at its beginning, without gaps. C has the dtype of A, and P has dtype INT64. A result
            that was not requested is None.

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
        return _matrix(c) if values else None, _matrix(p) if permutation else None

    def argsort(self, op: Any = binary.lt, order: str = "rowwise") -> Matrix:
        """P(i, k) is the column of the k-th entry of row i in the order of op.

        Return the permutations that sort the rows (or columns).

        Args:
            op: the order, as in `Vector.sort`.
            order: "rowwise" or "columnwise".

        Returns:
            An INT64 Matrix with the shape of A, in which the entries of each row (or column) are at
            its beginning, without gaps.

        Raises:
            DomainMismatch: `op` does not return BOOL, or does not compare two values of this dtype.
            InvalidValue: `op` is positional, or `order` is neither "rowwise" nor "columnwise".
        """
        _, p = sorting.of_matrix(self._read(), op, order)
        return _matrix(p)

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
        return _matrix(c), _matrix(p)

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
            copy: if True, return new NumPy arrays, with int64 indices; if False, return the stored
                arrays on their device (NumPy or CuPy), which must not be modified.

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
            copy: if True, return new NumPy arrays, with int64 indices; if False, return the stored
                arrays on their device (NumPy or CuPy), which must not be modified.

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
            copy: if True, return new NumPy arrays, with int64 indices; if False, return the stored
                arrays on their device (NumPy or CuPy), which must not be modified.

        Returns:
            (indptr, row indices, values): column j has the entries indptr[j] to indptr[j + 1] - 1.
            The lengths are ncols + 1, nvals and nvals.

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


def _matrix(forms: Any) -> Matrix:
    """Return a new Matrix with the given storage."""
    return classes[2].noun._of(forms)
