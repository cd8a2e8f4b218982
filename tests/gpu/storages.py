"""Draw small storages on the host, copy them to the device and compare the results."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from hypothesis import strategies as st

from graphla.backends import backend
from graphla.formats import (
    AnyVector,
    BitmapVector,
    Csr,
    FullVector,
    SparseVector,
    VectorMask,
    is_iso,
)

Draw = Any

DTYPES = tuple(map(np.dtype, ("?", "i1", "i8", "f4")))
"""The dtypes of test values; only a few, because the simulator compiles a program for each.
"""


def values_of(count: int, dtype: np.dtype[Any], numbers: np.random.Generator) -> np.ndarray:
    """Return small integers, some of them 0; the integers and their sums fit in every dtype."""
    least = 0 if dtype.kind in "bu" else -3
    return numbers.integers(least, 4, count).astype(dtype)


@st.composite
def values(draw: Draw, count: int, dtypes: tuple[np.dtype[Any], ...] = DTYPES) -> np.ndarray:
    """Draw `count` values; sometimes they are all equal and stored as one value."""
    numbers = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    drawn = values_of(count, draw(st.sampled_from(dtypes)), numbers)
    return np.broadcast_to(drawn[:1].copy(), (count,)) if count and draw(st.booleans()) else drawn


@st.composite
def sparse_vectors(
    draw: Draw, size: int, dtypes: tuple[np.dtype[Any], ...] = DTYPES
) -> SparseVector:
    """Draw a sparse vector whose entries are sorted by index. It may have no entries, or an entry
    at every index."""
    indices = _some(draw, size)
    return SparseVector(size, indices.astype(np.int32), draw(values(indices.size, dtypes)))


@st.composite
def dense_vectors(draw: Draw, size: int, dtypes: tuple[np.dtype[Any], ...] = DTYPES) -> AnyVector:
    """Draw a bitmap vector or a full vector."""
    held = draw(values(size, dtypes))
    if draw(st.booleans()):
        return FullVector(size, held)
    present = np.zeros(size, bool)
    present[_some(draw, size)] = True
    return BitmapVector(size, present, held, int(present.sum()))


@st.composite
def matrices(draw: Draw, nrows: int, ncols: int, dtypes: tuple[np.dtype[Any], ...] = DTYPES) -> Csr:
    """Draw a matrix with empty, short and full rows and 32-bit or 64-bit offsets."""
    keys = _some(draw, nrows * ncols)
    offset = draw(st.sampled_from((np.int32, np.int64)))
    starts = np.arange(nrows + 1, dtype=np.int64) * ncols
    indptr = keys.searchsorted(starts).astype(offset)
    indices = (keys % max(ncols, 1)).astype(np.int32)
    return Csr(nrows, ncols, indptr, indices, draw(values(keys.size, dtypes)))


def _some(draw: Draw, size: int) -> np.ndarray:
    """Draw a random subset of the indices 0 to size - 1, in increasing order. It may be empty or
    complete."""
    numbers = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    density = draw(st.sampled_from((0.0, 0.1, 0.5, 1.0)))
    return (numbers.random(size) < density).nonzero()[0]


def to_device(storage: Any) -> Any:
    """Copy a storage to the device; arrays that are shared remain shared."""
    do, moved = backend("cuda"), {}

    def move(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return x
        if id(x) not in moved:
            iso = is_iso(x)
            array = do.asarray(x[:1].copy() if iso else x)
            moved[id(x)] = np.broadcast_to(array, x.shape) if iso else array
        return moved[id(x)]

    return type(storage)(*(move(getattr(storage, field.name)) for field in fields(storage)))


def to_host(storage: Any) -> Any:
    """Copy a storage to the host as NumPy arrays."""
    do = backend("cuda")

    def bring(x: Any) -> Any:
        return do.to_host(x) if hasattr(x, "__cuda_array_interface__") else x

    return type(storage)(*(bring(getattr(storage, field.name)) for field in fields(storage)))


def entries(storage: Any) -> tuple[Any, ...]:
    """Return the shape, the indices and the values of a host storage, in order of the indices."""
    if isinstance(storage, Csr):
        sizes = np.diff(storage.indptr)
        rows = np.repeat(np.arange(storage.nrows), sizes)
        return storage.nrows, storage.ncols, rows, storage.indices, storage.values
    if isinstance(storage, SparseVector):
        order = storage.indices.argsort(kind="stable")
        return storage.size, storage.indices[order], storage.values[order]
    if isinstance(storage, BitmapVector):
        assert storage.nvals == storage.present.sum()
        indices = storage.present.nonzero()[0]
        return storage.size, indices, storage.values[indices]
    return storage.size, np.arange(storage.size), storage.values


def assert_same(device: Any, host: Any) -> None:
    """Check that both storages have exactly the same entries and dtype, in any storage form."""
    mine, theirs = entries(to_host(device)), entries(host)
    assert len(mine) == len(theirs)
    for x, y in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(x, y)
    assert mine[-1].dtype == theirs[-1].dtype


def is_valid(a: Any) -> None:
    """Check what `graphla.formats` guarantees about the arrays of a host storage."""
    if isinstance(a, Csr):
        assert a.indptr.dtype == np.int32 and a.indices.dtype == np.int32
        assert a.indptr[0] == 0 and a.indptr[-1] == a.indices.size == a.values.size
        for i in range(a.nrows):
            assert (np.diff(a.indices[a.indptr[i] : a.indptr[i + 1]]) > 0).all()
    elif isinstance(a, SparseVector):
        assert a.indices.dtype == np.int32 and a.indices.size == a.values.size
        assert not a.is_sorted or (np.diff(a.indices) > 0).all()
    elif not isinstance(a, VectorMask):
        assert a.values.size == a.size
