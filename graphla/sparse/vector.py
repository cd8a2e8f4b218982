"""The Vector: entries at some of the indices 0 to size - 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from graphla.backends import default_device
from graphla.expression import Expression
from graphla.operations import indexing
from graphla.operations.entrywise import cast
from graphla.operations.moving import empty_vector, move_store
from graphla.operations.operation import perform, run
from graphla.settings import config
from graphla.sparse import building, exporting, expressions, printing, sorting
from graphla.sparse.arithmetic import Collection
from graphla.sparse.indices import position, vector_axis
from graphla.sparse.mask import Mask
from graphla.sparse.noun import Indexed
from semirings import binary, monoid, semiring
from semirings.dtypes import FP64, lookup_dtype


class ReadableVector(Collection):
    """What can be asked of a Vector, or of an expression that gives one."""

    __slots__ = ()
    ndim = 1

    @property
    def size(self) -> int:
        """Number of indices."""
        return self.shape[0]

    @property
    def S(self) -> Mask:
        """The mask of where there are entries."""
        return Mask(self, structure=True)

    @property
    def V(self) -> Mask:
        """The mask of where there are true entries."""
        return Mask(self, structure=False)

    def vxm(self, other: Any, op: Any = semiring.plus_times) -> Any:
        """w = u ⊕.⊗ A, by push where u is sparse and by pull where it is dense."""
        return expressions.product(self._read(), expressions.matrix(other, "vxm"), op)

    def inner(self, other: Any, op: Any = semiring.plus_times) -> Any:
        """s = u ⊕.⊗ v."""
        return expressions.product(self._read(), expressions.vector(other, "inner"), op)

    def outer(self, other: Any, op: Any = binary.times) -> Any:
        """C(i, j) = op(u(i), v(j))."""
        return expressions.outer(self._read(), expressions.vector(other, "outer"), op)

    def reduce(self, op: Any = monoid.plus, *, allow_empty: bool = True) -> Any:
        """s = ⊕ of all entries; of none an empty Scalar (or the identity, if not allow_empty)."""
        return expressions.reduce_scalar(self._read(), op, allow_empty)

    def reposition(self, offset: int, *, size: int | None = None) -> Any:
        """w(i + offset) = v(i), where that is an index of w."""
        return expressions.reposition(self._read(), (offset,), (size,))

    def sort(
        self, op: Any = binary.lt, *, values: bool = True, permutation: bool = True
    ) -> tuple[Any, Any]:
        """w(k) = the k-th entry of v in the order of op, and p(k) = its index in v.

        Of the size of v, with its entries at 0 to nvals - 1; w has its dtype, p is INT64. op(x, y)
        is true where x goes before y (a strict order: `binary.lt`, or a function of one's own);
        where neither goes before the other they keep their order, and NaN goes last. What is not
        wanted is None.

        DomainMismatch for an op that gives no BOOL, or compares values of another kind;
        InvalidValue for one of places, as `binary.firsti`. After GxB_Vector_sort.

        >>> v = Vector.from_coo([0, 2, 3], [-3, 1, 2], size=4)
        >>> w, p = v.sort(lambda x, y: abs(x) < abs(y))
        >>> w.to_dict(), p.to_dict()
        ({0: 1, 1: 2, 2: -3}, {0: 2, 1: 3, 2: 0})
        """
        w, p = sorting.of_vector(self._read(), op)
        return Vector._of(w) if values else None, Vector._of(p) if permutation else None

    def argsort(self, op: Any = binary.lt) -> Any:
        """p(k) = the index of the k-th entry of v in the order of op, as `sort` has it."""
        return self.sort(op, values=False)[1]

    def top_k(self, k: int, op: Any = binary.gt) -> tuple[Any, Any]:
        """(w, p): the first k of `sort(op)`, or all if they are fewer, the greatest first.

        Both of size k; by `binary.lt`, the least. InvalidValue for a k below 0.
        """
        w, p = sorting.of_vector(self._read(), op, expressions.integer(k, "k"))
        return Vector._of(w), Vector._of(p)

    def diag(self, k: int = 0, *, name: str | None = None) -> Any:
        """C(i, i + k) = v(i), a square Matrix."""
        return expressions.from_diag(self._read(), k).new(name=name)

    def get(self, index: Any, default: Any = None) -> Any:
        """v(index) as a Python number, or `default`."""
        i = position(expressions.integer(index, "index"), self.size, "index")
        value = perform("get", indexing.vector_element.compute, self._read(), i).value
        return default if value is None else value.item()

    def __contains__(self, index: Any) -> bool:
        return self.get(index) is not None

    def __getitem__(self, key: Any) -> Any:
        forms = self._read()
        return expressions.extract(
            forms, (vector_axis(key, forms.size),), self if isinstance(self, Indexed) else None
        )

    def to_coo(
        self,
        dtype: Any = None,
        *,
        indices: bool = True,
        values: bool = True,
        sort: bool = True,
        copy: bool = True,
    ) -> tuple[Any, Any]:
        """(indices, values) as arrays of NumPy's; the indices are int64.

        With copy=False they are as they are held, on their device: not to be written into.
        """
        wanted = dtype, indices, values, sort, copy
        return perform("to_coo", exporting.vector_coo, self._read(), *wanted)

    def to_dense(self, fill_value: Any = None, dtype: Any = None, *, copy: bool = True) -> Any:
        """An array of NumPy's, with `fill_value` where there is no entry.

        With copy=False it is on the vector's device and, where every index has an entry, the
        array that is held: not to be written into.
        """
        wanted = fill_value, dtype, copy
        return perform("to_dense", exporting.vector_dense, self._read(), *wanted)

    def __dlpack__(self, **options: Any) -> Any:
        """The values, to any library that reads DLPack, if every index has an entry."""
        return self.to_dense(copy=False).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device in DLPack's numbers."""
        kind, _, number = self.device.partition(":")
        return (2, int(number)) if kind == "cuda" else (1, 0)

    def to_dict(self) -> dict[Any, Any]:
        """{index: value}."""
        indices, values = self.to_coo()
        return dict(zip(indices.tolist(), values.tolist(), strict=True))

    def to(self, device: str) -> Any:
        """The same entries on a device, as "cpu", "cuda" or "cuda:1"; no copy if they are there."""
        return building.to_device(self, device)

    def __repr__(self) -> str:
        return printing.text(self)

    def _repr_html_(self) -> str:
        return printing.html(self)


class Vector(ReadableVector, Indexed):
    """Entries of one dtype at some of the indices 0 to size - 1; an absent entry is not a zero.

    >>> v = Vector.from_coo([0, 3], [1.5, 2.5], size=5)
    >>> v[3].value, v.nvals, 1 in v
    (2.5, 2, False)
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
        """v(indices[k]) = values[k], or one value for all; equal indices are joined by dup_op."""
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
        """v(i) = x for each pair (i, x)."""
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
        """v(i) = d[i]."""
        if size is None and not d:
            size = 0
        return cls.from_coo(list(d), list(d.values()), dtype, size=size, name=name)

    @classmethod
    def from_scalar(
        cls, value: Any, size: int, dtype: Any = None, *, name: str | None = None
    ) -> Vector:
        """v(i) = value, for every index i."""
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
        """v(i) = values[i], except where that is `missing_value`.

        With copy=False an array that fits is held as it is, on its device: do not write into it
        after that. It may be of NumPy, CuPy, or any library with DLPack.
        """
        return cls._of(building.vector_dense(values, missing_value, dtype, copy), name)

    @property
    def shape(self) -> tuple[int]:
        """(size,)."""
        return (self._store.size,)

    @property
    def size(self) -> int:
        """Number of indices."""
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
        """v(indices[k]) = values[k], in a Vector that is empty or that `clear` empties."""
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
        """Another Vector with the same entries (those the mask lets through), cast to `dtype`."""
        forms = self._store
        wanted = forms.dtype if dtype is None else lookup_dtype(dtype)
        if clear or mask is not None:
            vector = Vector._of(empty_vector(forms.device, wanted, forms.size), name)
            if not clear:
                vector(mask) << self
            return vector
        return Vector._of(perform("dup", cast, forms, wanted), name)

    def clear(self) -> None:
        """Delete all entries."""
        forms = self._store
        self._store = empty_vector(forms.device, forms.dtype, forms.size)

    def resize(self, size: int) -> None:
        """Change the size; entries beyond it are deleted."""
        size = expressions.dimension(size, "size")
        self._store = run(indexing.reposition_vector, (self._store, 0, size))

    def _axes(self, key: Any) -> tuple[Any]:
        return (vector_axis(key, self._store.size),)

    def __reduce__(self) -> Any:
        return building.restore_vector, (Vector, *exporting.vector_pieces(self._store), self._name)


class VectorExpression(ReadableVector, Expression):
    """An expression that gives a Vector."""

    __slots__ = ()
    noun = Vector

    @property
    def shape(self) -> tuple[int]:
        """(size,)."""
        return self._shape  # pyright: ignore[reportReturnType]
