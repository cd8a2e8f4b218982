"""Copy matrices, vectors, scalars and arrays between devices.

If two formats of a matrix share an array, it is copied only once. If all elements of an array share
one stored element (an iso-valued array), only this element is copied.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from graphla import memory
from graphla.backends import backend, resolve_device, streams
from graphla.backends import default_device as default_device
from graphla.backends.values import repeat_value
from graphla.formats import Array, BitmapVector, is_iso
from graphla.operations.operation import DeviceScope
from graphla.stores import MatrixStore, ScalarStore, VectorStore
from semirings.dtypes import DataType


def move_store(forms: Any, device: str) -> Any:
    """Return storage on `device` with the same entries as the storage `forms`.

    If `forms` is already on this device, return `forms` itself.
    """
    device = resolve_device(device)
    if forms.device == device:
        return forms
    with DeviceScope("to", (forms,)):
        if isinstance(forms, ScalarStore):
            return ScalarStore(device, forms.dtype, forms.value)
        if isinstance(forms, VectorStore):
            v = _storage(forms.any_form, device)
            with DeviceScope("to", (), device):
                return VectorStore(device, forms.dtype, v)
        csr = _storage(forms.csr, device) if forms.has_csr else None
        csc = csr if forms.is_symmetric else None
        if csc is None and forms.has_csc:
            given = forms.csc
            # If the pattern is symmetric, CSR and CSC share their index arrays.
            if csr is not None and given.indices is forms.csr.indices:
                csc = replace(csr, values=send(given.values, device))
            else:
                csc = _storage(given, device)
        with DeviceScope("to", (), device):
            return MatrixStore(device, forms.dtype, csr, csc)


def empty_vector(device: str, dtype: DataType, size: int) -> VectorStore:
    """Return the storage of a vector without entries, on the given device."""
    return VectorStore.empty(device, dtype, size)


def empty_matrix(device: str, dtype: DataType, nrows: int, ncols: int) -> MatrixStore:
    """Return the storage of a matrix without entries, on the given device."""
    if device == "cpu":
        memory.require_offsets(nrows, "rows")
        return MatrixStore.empty(device, dtype, nrows, ncols)
    with DeviceScope("new", (), device):
        return MatrixStore.empty(device, dtype, nrows, ncols)


def send(array: Array, device: str) -> Array:
    """Copy an array from the host or the current GPU to `device`.

    If all elements of the array share one stored element (an iso-valued array), only this element
    is copied, and the result is iso-valued too.
    """
    one = array[:1] if is_iso(array) else array
    if device == "cpu":
        on_host = backend("cuda").to_host(one) if _is_on_card(one) else one
        return _repeat_like(on_host, array)
    with DeviceScope("to", (), device):
        return _repeat_like(streams(device).copy_to_current(one), array)


def on_host(array: Any) -> Any:
    """Convert a GPU array of any library to a NumPy array."""
    return backend("cuda").to_host(streams("cuda").adopt(array))


def on_device(array: Any, device: str) -> Any:
    """Return a copy of a GPU array on `device`, or the array itself if it is already there."""
    if device == "cpu":
        return on_host(array)
    return array if f"cuda:{array.device.id}" == device else send(array, device)


def _storage(storage: Any, device: str) -> Any:
    """Return the storage with its arrays copied to the device."""
    names = [each.name for each in fields(storage)]
    arrays = {
        name: send(getattr(storage, name), device)
        for name in names
        if name in ("indptr", "indices", "values", "present")
    }
    if isinstance(storage, BitmapVector):
        return replace(storage, **arrays, count=int(storage.count))
    return replace(storage, **arrays)


def _repeat_like(array: Array, like: Array) -> Array:
    if array.size == like.size:
        return array
    return repeat_value(array, like.size)


def _is_on_card(array: Array) -> bool:
    return hasattr(array, "__cuda_array_interface__")
