"""The Matrix: entries at some of the places (row, column)."""

from __future__ import annotations

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
from graphla.sparse import building, exporting, expressions, printing, sorting
from graphla.sparse.arithmetic import Collection
from graphla.sparse.indices import matrix_axes, position
from graphla.sparse.mask import Mask
from graphla.sparse.noun import Indexed
from graphla.sparse.vector import ReadableVector, Vector
from graphla.stores import MatrixStore
from semirings import binary, monoid, semiring
from semirings.dtypes import FP64, lookup_dtype
from semirings.exceptions import DimensionMismatch, IndexOutOfBound


class ReadableMatrix(Collection):
    """What can be asked of a Matrix, or of an expression that gives one."""

    __slots__ = ()
    ndim = 2

    @property
    def nrows(self) -> int:
        """Number of rows."""
        return self.shape[0]

    @property
    def ncols(self) -> int:
        """Number of columns."""
        return self.shape[1]

    @property
    def T(self) -> Any:
        """Aᵀ, which costs nothing: the same forms, swapped. `A.T.T is A` while A is unchanged."""
        forms = self._read()
        transposed = expressions.transpose(forms)
        transposed._origin = self, forms
        return transposed

    @property
    def S(self) -> Mask:
        """The mask of where there are entries."""
        return Mask(self, structure=True)

    @property
    def V(self) -> Mask:
        """The mask of where there are true entries."""
        return Mask(self, structure=False)

    def mxm(self, other: Any, op: Any = semiring.plus_times) -> Any:
        """C = A ⊕.⊗ B."""
        return expressions.product(self._read(), expressions.matrix(other, "mxm"), op)

    def mxv(self, other: Any, op: Any = semiring.plus_times) -> Any:
        """w = A ⊕.⊗ u, by pull where u is dense and by push where it is sparse."""
        return expressions.product(self._read(), expressions.vector(other, "mxv"), op)

    def kronecker(self, other: Any, op: Any = binary.times) -> Any:
        """C(i·m + k, j·n + l) = op(A(i, j), B(k, l)), where B is m x n."""
        return expressions.kronecker(self._read(), expressions.matrix(other, "kronecker"), op)

    def power(self, n: int, op: Any = semiring.plus_times) -> Any:
        """C = A ⊕.⊗ A ⊕.⊗ ... ⊕.⊗ A, n times; for n = 0, the identity of ⊗ on the diagonal."""
        return expressions.power(self._read(), n, op)

    def reduce_rowwise(self, op: Any = monoid.plus) -> Any:
        """w(i) = ⊕ over j of A(i, j), by a monoid or an aggregator.

        A sum of BOOL values is a logical or. To count the entries of each row, pass `agg.count`.
        """
        return expressions.reduce_rowwise(self._read(), op)

    def reduce_columnwise(self, op: Any = monoid.plus) -> Any:
        """w(j) = ⊕ over i of A(i, j), by a monoid or an aggregator.

        A sum of BOOL values is a logical or. To count the entries of each column, pass `agg.count`.
        """
        return expressions.reduce_columnwise(self._read(), op)

    def reduce_scalar(self, op: Any = monoid.plus, *, allow_empty: bool = True) -> Any:
        """s = ⊕ of all entries; of none an empty Scalar (or the identity, if not allow_empty)."""
        return expressions.reduce_scalar(self._read(), op, allow_empty)

    def sort(
        self,
        op: Any = binary.lt,
        order: str = "rowwise",
        *,
        values: bool = True,
        permutation: bool = True,
    ) -> tuple[Any, Any]:
        """C(i, k) = the k-th entry of row i in the order of op, and P(i, k) = its column in A.

        Of the shape of A, with the entries of each row at its front; C has its dtype, P is INT64.
        Columnwise, C(k, j) is the k-th entry of column j and P(k, j) its row. op, and what is
        refused, are as in `Vector.sort`; InvalidValue for another order. After GxB_Matrix_sort.

        >>> A = Matrix.from_coo([0, 0, 1], [0, 2, 1], [5, 4, 3], nrows=2, ncols=3)
        >>> C, P = A.sort()
        >>> C.to_dicts(), P.to_dicts()
        ({0: {0: 4, 1: 5}, 1: {0: 3}}, {0: {0: 2, 1: 0}, 1: {0: 1}})
        """
        c, p = sorting.of_matrix(self._read(), op, order)
        return Matrix._of(c) if values else None, Matrix._of(p) if permutation else None

    def argsort(self, op: Any = binary.lt, order: str = "rowwise") -> Any:
        """P(i, k) = the column of the k-th entry of row i in the order of op, as `sort` has it."""
        return self.sort(op, order, values=False)[1]

    def top_k(self, k: int, op: Any = binary.gt, order: str = "rowwise") -> tuple[Any, Any]:
        """(C, P): the first k of each row of `sort(op, order)`, the greatest first.

        Both are nrows x k; columnwise k x ncols. A row of fewer entries has all of them.
        InvalidValue for a k below 0.
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
    ) -> Any:
        """C(i + row_offset, j + column_offset) = A(i, j), where that is a place of C."""
        return expressions.reposition(self._read(), (row_offset, column_offset), (nrows, ncols))

    def diag(self, k: int = 0, dtype: Any = None, *, name: str | None = None) -> Any:
        """w(i) = A(i, i + k), or A(i - k, i) for a negative k: a Vector."""
        return expressions.diag(self._read(), k).new(dtype, name=name)

    def get(self, row: Any, col: Any, default: Any = None) -> Any:
        """A(row, col) as a Python number, or `default`."""
        i = position(expressions.integer(row, "row"), self.nrows, "row")
        j = position(expressions.integer(col, "col"), self.ncols, "col")
        value = perform("get", indexing.matrix_element.compute, self._read(), i, j).value
        return default if value is None else value.item()

    def __contains__(self, index: Any) -> bool:
        if type(index) is not tuple or len(index) != 2:
            raise TypeError(f"ask for a place as `(i, j) in A`, not as {index!r}")
        return self.get(*index) is not None

    def __getitem__(self, key: Any) -> Any:
        target = self if isinstance(self, Indexed) else None
        return expressions.extract(self._read(), self._axes(key), target)

    def _axes(self, key: Any) -> tuple[Any, Any]:
        return matrix_axes(key, *self.shape)

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
        """(rows, columns, values) as arrays of NumPy's, row by row; the indices are int64.

        With copy=False they are as they are held, on their device: not to be written into.
        """
        wanted = dtype, rows, columns, values, copy
        return perform("to_coo", exporting.matrix_coo, self._read(), *wanted)

    def to_csr(
        self, dtype: Any = None, *, sort: bool = True, copy: bool = True
    ) -> tuple[Any, Any, Any]:
        """(indptr, column indices, values) as arrays of NumPy's, by rows.

        With copy=False they are as they are held, on their device: not to be written into.
        """
        return perform("to_csr", exporting.to_compressed, self._read(), dtype, False, copy)

    def to_csc(
        self, dtype: Any = None, *, sort: bool = True, copy: bool = True
    ) -> tuple[Any, Any, Any]:
        """(indptr, row indices, values) as arrays of NumPy's, by columns.

        With copy=False they are as they are held, on their device: not to be written into.
        """
        return perform("to_csc", exporting.to_compressed, self._read(), dtype, True, copy)

    def to_dcsr(self, dtype: Any = None, *, sort: bool = True) -> tuple[Any, Any, Any, Any]:
        """(rows, indptr, column indices, values): as CSR, of the rows that have entries."""
        return perform("to_dcsr", exporting.doubly_compressed, self._read(), dtype, False)

    def to_dcsc(self, dtype: Any = None, *, sort: bool = True) -> tuple[Any, Any, Any, Any]:
        """(columns, indptr, row indices, values): as CSC, of the columns that have entries."""
        return perform("to_dcsc", exporting.doubly_compressed, self._read(), dtype, True)

    def to_dense(self, fill_value: Any = None, dtype: Any = None) -> np.ndarray:
        """A 2-d array, with `fill_value` where there is no entry."""
        return perform("to_dense", exporting.matrix_dense, self._read(), fill_value, dtype)

    def to_dict(self) -> dict[Any, Any]:
        """{(row, column): value}."""
        rows, columns, values = self.to_coo()
        places = zip(rows.tolist(), columns.tolist(), strict=True)
        return dict(zip(places, values.tolist(), strict=True))

    def to_dicts(self, order: str = "rowwise") -> dict[Any, dict[Any, Any]]:
        """{row: {column: value}}, or {column: {row: value}} columnwise."""
        return perform("to_dicts", exporting.dicts, self._read(), order)

    def to_edgelist(
        self, dtype: Any = None, *, values: bool = True, sort: bool = True
    ) -> tuple[Any, Any]:
        """(array of (row, column), values)."""
        rows, columns, found = self.to_coo(dtype, values=values)
        return np.column_stack([rows, columns]), found

    def to(self, device: str) -> Any:
        """The same entries on a device, as "cpu", "cuda" or "cuda:1"; no copy if they are there."""
        return building.to_device(self, device)

    def __repr__(self) -> str:
        return printing.text(self)

    def _repr_html_(self) -> str:
        return printing.html(self)


class Matrix(ReadableMatrix, Indexed):
    """Entries of one dtype at some of nrows x ncols places; an absent entry is not a zero.

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
        """A(rows[k], columns[k]) = values[k], or one value for all.

        Equal places are joined by dup_op. `symmetric` vouches that A equals its transpose, which
        then costs no memory. Without it, the first traversal checks this in one pass.
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
        """Row i has columns col_indices[indptr[i]:indptr[i + 1]].

        With copy=False arrays that fit are held as they are: do not write into them after that.
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
        """Column j has rows row_indices[indptr[j]:indptr[j + 1]].

        With copy=False arrays that fit are held as they are: do not write into them after that.
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
        """As `from_csr`, of the listed rows only."""
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
        """As `from_csc`, of the listed columns only."""
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
        """A(i, j) = x for each edge (i, j, x), or (i, j) with `values` apart (1.0 if not given)."""
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
        """A(i, j) = nested_dicts[i][j], or nested_dicts[j][i] columnwise."""
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
        """A(i, j) = value, at every place."""
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

        Without a `missing_value` every element becomes an entry, including zeros. For an adjacency
        matrix, pass `missing_value=0` or use `Graph.from_numpy`.
        """
        return cls._of(building.matrix_dense(values, missing_value, dtype), name)

    @property
    def shape(self) -> tuple[int, int]:
        """(nrows, ncols)."""
        forms = self._store
        return forms.nrows, forms.ncols

    @property
    def plan(self) -> PlanReport | None:
        """What is planned for traversals of this matrix: tier, bytes, seconds, and when it pays.

        None before the first traversal, or `optimize`; see docs/decisions/010-plans.md.
        """
        return self._store.report

    def optimize(self) -> Matrix:
        """Makes, now, the full plan for traversals of this square matrix and its transpose.

        On a GPU vertices are numbered anew, those of most edges first, in a copy of the pattern;
        answers stay in your numbering. It takes at most 1.5 times the memory of the pattern it
        is made of, and is dropped where memory gets short, or the entries change. Where it would
        not fit, or vertices have so few edges (7 or less in the mean) that it gains
        nothing, the plan stays light, as `A.plan` says. On the CPU, where it is of use to compiled
        loops, it is the neighbour of most edges of each vertex. Without this call it is made once
        traversals have taken as long as making it.
        """
        forms = self._store
        if forms.nrows != forms.ncols:
            raise DimensionMismatch(
                f"a plan is for a square matrix, but this one is {forms.nrows} x {forms.ncols}"
            )
        perform("optimize", MatrixStore.make_full_plan, forms)
        return self

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
        """A(rows[k], columns[k]) = values[k], in a Matrix that is empty or that `clear` empties."""
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
        """Another Matrix with the same entries (those the mask lets through), cast to `dtype`."""
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
        """Return a new Vector or Matrix of these forms."""
        return (Matrix if isinstance(forms, MatrixStore) else Vector)._of(forms)

    def clear(self) -> None:
        """Delete all entries."""
        forms = self._store
        self._store = empty_matrix(forms.device, forms.dtype, forms.nrows, forms.ncols)

    def resize(self, nrows: int, ncols: int) -> None:
        """Change the shape; entries beyond it are deleted."""
        shape = expressions.dimension(nrows, "nrows"), expressions.dimension(ncols, "ncols")
        self._store = run(indexing.reposition_matrix, (self._store, 0, 0, shape))

    def setdiag(self, values: Any, k: int = 0, *, mask: Any = None, accum: Any = None) -> None:
        """A(i, i + k) = values(i), or a scalar; the mask is a Vector, or a Matrix."""
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


class MatrixExpression(ReadableMatrix, Expression):
    """An expression that gives a Matrix."""

    __slots__ = ()
    noun = Matrix

    @property
    def T(self) -> Any:
        """Aᵀ, which costs nothing. The transpose of a transpose is the original matrix."""
        of, forms = getattr(self, "_origin", (None, None))
        return of if of is not None and of._read() is forms else super().T

    @property
    def shape(self) -> tuple[int, int]:
        """(nrows, ncols)."""
        return self._shape  # pyright: ignore[reportReturnType]
