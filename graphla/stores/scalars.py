"""The store of a scalar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semirings.dtypes import DataType


class ScalarStore:
    """Holds the value of a scalar, or None if the scalar is empty."""

    __slots__ = ("device", "dtype", "value")
    shape = ()

    def __init__(self, device: str, dtype: DataType, value: Any = None) -> None:
        self.device = device
        self.dtype = dtype
        self.value = value  # always on the host, even if `device` is a GPU

    stamps: tuple[Any, ...] = ()

    @property
    def nvals(self) -> int:
        """Number of entries: 1 or 0."""
        return 0 if self.value is None else 1

    known_nvals = nvals

    @property
    def nbytes(self) -> int:
        """Number of bytes of the value."""
        return 0 if self.value is None else self.value.nbytes
