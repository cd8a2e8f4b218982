"""What the nouns share: they hold forms, and are written by `<<`, `[...] =` and `del`."""

from __future__ import annotations

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


class Noun(Operand):
    """A Matrix, Vector or Scalar: it changes by holding other forms."""

    __slots__ = ("_name", "_store")
    _store: Any
    _name: str | None

    @classmethod
    def _of(cls: type[Self], forms: Any, name: str | None = None) -> Self:
        """The noun of these forms."""
        noun = object.__new__(cls)
        noun._store = forms
        noun._name = name
        return noun

    @property
    def name(self) -> str:
        """Its name, if it was given one."""
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
        """`C(mask, accum, replace) << x`, in any order or by keyword: how the next `<<` writes.

        In `C(input_mask=M) << A[I, J]`, M is a mask of A, and selects the entries that are read.
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
        """C = x: the entries of x, or a scalar everywhere."""
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
        """What a subscript selects of each dimension."""
        raise TypeError(f"a Scalar takes no index, but was given {key!r}; its value is s.value")

    def _read(self) -> Any:
        return self._store

    @property
    def nbytes(self) -> int:
        """Number of bytes that all stored forms of the entries take on their device."""
        return self._store.nbytes

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes

    def __copy__(self: Self) -> Self:
        return self._of(self._store, self._name)

    def __deepcopy__(self: Self, memo: Any) -> Self:
        return self._of(self._store, self._name)


class Indexed(Noun):
    """A Matrix or a Vector: regions of it are written by `C[I, J] = x`."""

    __slots__ = ()

    def __setitem__(self, key: Any, x: Any) -> None:
        assign(self, self._axes(key), x, None, None, False)

    def __delitem__(self, key: Any) -> None:
        assign(self, self._axes(key), nothing, None, None, False)
