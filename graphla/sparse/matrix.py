"""The class Matrix: a sparse matrix whose entries have one dtype."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

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
from graphla.sparse import building, exporting, expressions
from graphla.sparse.mask import Mask
from graphla.sparse.noun import Indexed
from graphla.sparse.readable_matrix import ReadableMatrix
from graphla.sparse.vector import ReadableVector, Vector
from graphla.stores import MatrixStore
from semirings.dtypes import FP64, lookup_dtype
from semirings.exceptions import DimensionMismatch, IndexOutOfBound


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
                duplicates raise an error, or are merged if `values` is one value.
            symmetric: True asserts that A equals its transpose, which then takes no memory; this is
                not checked. If False, the first traversal checks for symmetry in one pass.
            name: the name of the Matrix.

        Returns:
            A Matrix.

        Raises:
            TypeError: `rows` or `columns` holds something other than integers.
            IndexOutOfBound: a row or column is negative or too large.
            InvalidValue: the lengths differ, or a dimension is not given and there are no entries.
            DuplicateEntry: `values` is a list or array, there are duplicate positions, and `dup_op`
                is not given.
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
            symmetric: True asserts that A equals its transpose; this is not checked.
            copy: whether to copy the arrays. If False, an array whose dtype and device match is
                used without a copy; it must not be modified afterwards.
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
            copy: whether to copy the arrays. If False, an array whose dtype and device match is
                used without a copy; it must not be modified afterwards.
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

        Reading it issues a warning. It will be removed in the next release.
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
