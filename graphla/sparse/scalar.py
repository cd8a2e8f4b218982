"""The class Scalar: one value of a given dtype, or no value."""

from __future__ import annotations

from html import escape
from typing import Any, overload

import numpy as np

from graphla.backends import default_device
from graphla.expression import Expression, update
from graphla.operations.entrywise import cast
from graphla.operations.values import dtype_of, fit, is_scalar
from graphla.settings import config
from graphla.sparse.arithmetic import Arithmetic
from graphla.sparse.noun import Default, Noun
from graphla.stores import ScalarStore
from semirings.dtypes import FP64, lookup_dtype
from semirings.exceptions import EmptyObject


class ReadableScalar(Arithmetic["ScalarExpression", Any]):
    """The read-only operations that Scalar and ScalarExpression share."""

    __slots__ = ()
    ndim = 0

    @property
    def shape(self) -> tuple[()]:
        """The empty tuple, because a scalar has no dimensions."""
        return ()

    @property
    def value(self) -> Any:
        """The value as a Python bool, int or float; None if the Scalar is empty."""
        value = self._read().value
        return None if value is None else value.item()

    @property
    def is_empty(self) -> bool:
        """Whether the Scalar has no value."""
        return self._read().value is None

    @overload
    def get(self) -> bool | int | float | None: ...
    @overload
    def get(self, default: Default) -> bool | int | float | Default: ...
    def get(self, default: Any = None) -> Any:
        """Return the value as a Python number.

        Args:
            default: the value to return if the Scalar is empty.

        Returns:
            A bool, int or float, or `default`.
        """
        value = self._read().value
        return default if value is None else value.item()

    @property
    def is_cscalar(self) -> bool:
        """Always False; this property exists for compatibility with python-graphblas."""
        return False

    @property
    def is_grbscalar(self) -> bool:
        """The opposite of `is_cscalar`; it exists for compatibility with python-graphblas."""
        return not self.is_cscalar

    def __bool__(self) -> bool:
        return bool(self._read().value)

    def __int__(self) -> int:
        return int(self._present("int"))

    def __float__(self) -> float:
        return float(self._present("float"))

    def __complex__(self) -> complex:
        return complex(self._present("complex"))

    def __index__(self) -> int:
        value = self._present("index")
        if value.dtype.kind not in "iu":
            raise TypeError(f"an index must be an integer, but the Scalar is of {self.dtype}")
        return int(value)

    def __format__(self, spec: str) -> str:
        return format(self._present("format").item(), spec) if spec else str(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._present("array"), dtype)

    def _present(self, what: str) -> Any:
        value = self._read().value
        if value is None:
            raise EmptyObject(f"an empty Scalar has no {what}; ask for .get(default)")
        return value

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def _repr_html_(self) -> str:
        return f"<div>{escape(repr(self))}</div>"


class Scalar(ReadableScalar, Noun):
    """A scalar of a given dtype, which holds one value or is empty.

    A new Scalar, such as `Scalar(int)`, is empty.

    Args:
        dtype: the dtype, such as "INT64", `int` or `np.float32`.
        is_cscalar: a flag of python-graphblas; it is stored but has no effect.
        name: the name.

    Raises:
        ValueError: `dtype` is not one of the eleven dtypes.

    Examples:
        >>> from graphla import Scalar
        >>> s = Scalar.from_value(3)
        >>> s + 1 == 4, int(s)
        (True, 3)
    """

    __slots__ = ("_is_cscalar",)

    def __init__(self, dtype: Any = FP64, *, is_cscalar: bool = False, name: str | None = None):
        self._store = ScalarStore(default_device(), lookup_dtype(dtype))
        self._name = name
        self._is_cscalar = bool(is_cscalar)

    @classmethod
    def from_value(
        cls, value: Any, dtype: Any = None, *, is_cscalar: bool = False, name: str | None = None
    ) -> Scalar:
        """Return a Scalar with the given value.

        Args:
            value: a number or a Scalar. If it is None and `dtype` is given, the result is an empty
                Scalar.
            dtype: the dtype of the result; by default the dtype of the value.
            is_cscalar: a flag of python-graphblas; it is stored but has no effect.
            name: the name.

        Returns:
            A Scalar.

        Raises:
            TypeError: `value` is not a number.
            OverflowError: `value` is an integer that `dtype` cannot hold.
        """
        if isinstance(value, ReadableScalar):
            return value.dup(dtype, is_cscalar=is_cscalar, name=name)  # pyright: ignore
        if value is None and dtype is not None:
            return cls(dtype, is_cscalar=is_cscalar, name=name)
        if not is_scalar(value):
            raise TypeError(f"value must be a number, not {type(value).__name__}")
        wanted = dtype_of(value) if dtype is None else lookup_dtype(dtype)
        return cls._made(
            ScalarStore(default_device(), wanted, fit(value, wanted)), is_cscalar, name
        )

    @classmethod
    def _made(cls, forms: ScalarStore, is_cscalar: Any, name: str | None) -> Scalar:
        scalar = cls._of(forms, name)
        scalar._is_cscalar = bool(is_cscalar)
        return scalar

    @property
    def is_cscalar(self) -> bool:
        """Whether the Scalar was created with `is_cscalar=True`."""
        return getattr(self, "_is_cscalar", False)

    @property
    def value(self) -> Any:
        """The value as a Python number, or None. Assign a number, or None to empty the Scalar."""
        value = self._store.value
        return None if value is None else value.item()

    @value.setter
    def value(self, value: Any) -> None:
        if value is None:
            self.clear()
        else:
            update(self, value, None, None, False)

    def dup(
        self,
        dtype: Any = None,
        *,
        clear: bool = False,
        is_cscalar: bool | None = None,
        name: str | None = None,
    ) -> Scalar:
        """Return a new Scalar with the same value.

        Args:
            dtype: the dtype to which the value is cast; by default the copy has the dtype of this
                Scalar.
            clear: whether to create an empty Scalar, without copying the value.
            is_cscalar: the flag of the copy; by default the flag of this Scalar.
            name: the name of the copy.

        Returns:
            A Scalar.
        """
        is_cscalar = self.is_cscalar if is_cscalar is None else is_cscalar
        forms = self._store
        if clear:
            wanted = forms.dtype if dtype is None else dtype
            return Scalar(wanted, is_cscalar=is_cscalar, name=name)
        forms = forms if dtype is None else cast(forms, lookup_dtype(dtype))
        return Scalar._made(forms, is_cscalar, name)

    def clear(self) -> None:
        """Delete the value; the dtype does not change."""
        self._store = ScalarStore(self._store.device, self._store.dtype)

    def __reduce__(self) -> Any:
        return _restore, (self._store.dtype.name, self.value, self._name)

    def __repr__(self) -> str:
        return f"Scalar({self.value!r}, dtype={self._store.dtype})"


class ScalarExpression(ReadableScalar, Expression["Scalar"]):
    """A Scalar that has not been computed yet; it is computed when its value is read."""

    __slots__ = ()
    noun = Scalar

    def new(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        dtype: Any = None,
        *,
        is_cscalar: bool | None = None,
        mask: Any = None,
        name: str | None = None,
    ) -> Scalar:
        """Compute the expression, and return the result as a new Scalar.

        Args:
            dtype: the dtype of the Scalar; by default the dtype of the expression.
            is_cscalar: a flag of python-graphblas; it is stored but has no effect.
            mask: must be None, because masks do not apply to Scalars.
            name: the name of the Scalar.

        Returns:
            A Scalar.

        Raises:
            TypeError: a mask is given.
        """
        scalar = super().new(dtype, mask=mask, name=name)
        scalar._is_cscalar = bool(is_cscalar)
        return scalar

    def dup(
        self,
        dtype: Any = None,
        *,
        clear: bool = False,
        is_cscalar: bool | None = None,
        mask: Any = None,
        name: str | None = None,
    ) -> Scalar:
        """Compute the expression into a new Scalar, like `new`.

        Args:
            dtype: the dtype of the Scalar; by default the dtype of the expression.
            clear: whether to create an empty Scalar, without computing the value.
            is_cscalar: a flag of python-graphblas; it is stored but has no effect.
            mask: must be None, because masks do not apply to Scalars.
            name: the name of the Scalar.

        Returns:
            A Scalar.
        """
        scalar = self.new(dtype, is_cscalar=is_cscalar, mask=mask, name=name)
        return scalar.dup(clear=clear, name=name)

    @property
    def shape(self) -> tuple[()]:
        """The empty tuple, because a scalar has no dimensions."""
        return ()

    def __repr__(self) -> str:
        return (
            self._described()
            if self._operation is None or not (self._is_computed or config.autocompute)
            else f"ScalarExpression({self.value!r}, dtype={self.dtype})"
        )


def _restore(dtype: str, value: Any, name: str | None) -> Scalar:
    scalar = Scalar(dtype, name=name)
    scalar.value = value
    return scalar
