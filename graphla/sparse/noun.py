"""The base class of Matrix, Vector and Scalar, which implements `<<`, `[...] =` and `del`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from graphla.expression import (
    Axis,
    InputMasked,
    Operand,
    Replace,
    Updater,
    assign,
    nothing,
    update,
)
from graphla.sparse.mask import output_options

Self = TypeVar("Self", bound="Noun")
Default = TypeVar("Default")
"""The type of the value that `get` returns if there is no entry."""


class Noun(Operand):
    """The base class of Matrix, Vector and Scalar.

    Every change of an object replaces its storage.
    """

    __slots__ = ("_name", "_store")
    _store: Any
    _name: str | None

    @classmethod
    def _of(cls: type[Self], forms: Any, name: str | None = None) -> Self:
        """Return a new Matrix, Vector or Scalar with the given storage."""
        noun = object.__new__(cls)
        noun._store = forms
        noun._name = name
        return noun

    @classmethod
    def _of_each(cls: type[Self], stores: Iterable[Any]) -> list[Self]:
        """Return new objects with the given stores. This is faster than many calls of `_of`."""
        new, nouns = object.__new__, []
        for store in stores:
            noun = new(cls)
            noun._store, noun._name = store, None
            nouns.append(noun)
        return nouns

    @property
    def name(self) -> str:
        """The name, which is shown when the object is printed; "" if there is none."""
        return self._name or ""

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = name

    def __call__(
        self,
        *args: Any,
        mask: Any = None,
        accum: Any = None,
        replace: bool = False,
        input_mask: Any = None,
    ) -> Any:
        """C⟨mask, replace⟩ = accum(C, x), written as `C(mask, accum, replace) << x`.

        Return an object whose `<<` or `[I, J] =` writes with the given options.

        Args:
            *args: a mask, an accumulator and `replace`, in any order.
            mask: selects the elements that may be written: `M.S`, `M.V`, `~M.S`, `~M.V`, or a BOOL
                Vector or Matrix, which selects the elements where it is true.
            accum: the binary operator that combines an existing entry with its new value. By
                default the new value replaces the old one.
            replace: whether to delete the entries that the mask does not select.
            input_mask: in `C(input_mask=M) << A[I, J]`, a mask on A that selects the entries that
                may be read.

        Raises:
            TypeError: an option is given twice, a Scalar is given a mask, `replace` is given
                without a mask, or `mask` and `input_mask` are both given.
        """
        dtype = self._store.dtype
        if input_mask is None:
            return Updater(self, *output_options(args, mask, accum, replace, self.ndim, dtype))
        rest = tuple(each for each in args if not isinstance(each, Replace))
        mask, accum, _ = output_options(rest, mask, accum, False, self.ndim, dtype)
        if mask is not None:
            raise TypeError("mask and input_mask cannot both be given")
        return InputMasked(self, input_mask, accum, replace or len(rest) < len(args))

    def __lshift__(self, x: Any) -> None:
        """C = x.

        Assign the entries of `x`. A scalar is assigned to every position.

        Args:
            x: a Matrix, Vector, Scalar or expression of the same shape, an array, or a number.

        Raises:
            DimensionMismatch: `x` has a different shape.
            DeviceMismatch: `x` is on a different device.
        """
        update(self, x, None, None, False)

    update = __lshift__

    def __ilshift__(self: Self, x: Any) -> Self:
        self << x
        return self

    def __iadd__(self: Self, other: Any) -> Self:
        self << self + other  # pyright: ignore[reportOperatorIssue]
        return self

    def __isub__(self: Self, other: Any) -> Self:
        self << self - other  # pyright: ignore[reportOperatorIssue]
        return self

    def __imul__(self: Self, other: Any) -> Self:
        self << self * other  # pyright: ignore[reportOperatorIssue]
        return self

    def __itruediv__(self: Self, other: Any) -> Self:
        self << self / other  # pyright: ignore[reportOperatorIssue]
        return self

    def __ifloordiv__(self: Self, other: Any) -> Self:
        self << self // other  # pyright: ignore[reportOperatorIssue]
        return self

    def __imod__(self: Self, other: Any) -> Self:
        self << self % other  # pyright: ignore[reportOperatorIssue]
        return self

    def __ipow__(self: Self, other: Any) -> Self:
        self << self**other  # pyright: ignore[reportOperatorIssue]
        return self

    def __ixor__(self: Self, other: Any) -> Self:
        self << (self ^ other)  # pyright: ignore[reportOperatorIssue]
        return self

    def __iand__(self: Self, other: Any) -> Self:
        self << (self & other)  # pyright: ignore[reportOperatorIssue]
        return self

    def __ior__(self: Self, other: Any) -> Self:
        self << (self | other)  # pyright: ignore[reportOperatorIssue]
        return self

    def __imatmul__(self: Self, other: Any) -> Self:
        self << self @ other  # pyright: ignore[reportOperatorIssue]
        return self

    def _axes(self, key: Any) -> tuple[Axis, ...]:
        """Return the indices that a subscript selects in each dimension."""
        raise TypeError(f"a Scalar takes no index, but was given {key!r}; its value is s.value")

    def _read(self) -> Any:
        return self._store

    @property
    def nbytes(self) -> int:
        """The number of bytes that the entries take on their device, in all stored formats."""
        return self._store.nbytes

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes

    def __copy__(self: Self) -> Self:
        return self._of(self._store, self._name)

    def __deepcopy__(self: Self, memo: Any) -> Self:
        return self._of(self._store, self._name)


class Indexed(Noun):
    """The base class of Matrix and Vector, which support assignments such as `C[I, J] = x`."""

    __slots__ = ()

    def __setitem__(self, key: Any, x: Any) -> None:
        assign(self, self._axes(key), x, None, None, False)

    def __delitem__(self, key: Any) -> None:
        assign(self, self._axes(key), nothing, None, None, False)
