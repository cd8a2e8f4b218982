"""Writing in place: the arrays of a vector that no other object can see."""

from __future__ import annotations

import sys
from functools import cache
from typing import Protocol

import numpy as np

from graphla.backends import backend, streams
from graphla.formats import BitmapVector, FullVector
from graphla.stores.vectors import VectorStore
from semirings.dtypes import BOOL


class Owner(Protocol):
    """An object with a vector store in its attribute `_store`."""

    _store: VectorStore


def take_in_place(owner: Owner) -> BitmapVector | FullVector | None:
    """Return the dense form of `owner` if it may be written in place, otherwise None.

    The form may be written in place only if no other object refers to the store, to the form or to
    its arrays, if each array owns its memory, and if no other stream built a form. The reference
    counts of CPython show whether another object refers to them. Each of the following adds a
    reference: a second vector (`dup`), an expression, a mask, an exported array or a view of it, an
    imported array that is still used elsewhere, and a local variable of another thread. Python
    versions count local variables differently, so the expected counts are measured once, on a store
    without other references. If Python has no exact counts (a build without the GIL, or another
    implementation), the result is always None. See docs/decisions/003-writing-in-place.md.

    The old store stays valid until the owner gets its new store, because this function drops the
    sparse form of the old store and marks the entry count as outdated. So an interrupted write
    leaves a valid vector with some of the new values, like an interrupted NumPy assignment.
    """
    if not owner._store.has_dense or not _is_alone(owner) or _is_of_other_streams(owner):
        return None
    forms = owner._store
    forms.host_entries = forms.stack = None
    if forms._full is not None:
        return forms._full
    storage = forms._bitmap if forms._counted else forms.bitmap()
    forms._sparse, forms._counted = None, False
    return storage


def _is_alone(owner: Owner) -> bool:
    counts = _references(owner)
    return counts == _references_when_alone(len(counts)) and _owns_arrays(owner)


def _is_of_other_streams(owner: Owner) -> bool:
    """Return whether a form of the vector was built on another stream.

    That stream may still be using the memory of the form.
    """
    device = owner._store.device
    return device != "cpu" and bool(streams(device).foreign_stamps((owner._store,)))


def _references(owner: Owner) -> tuple[int, ...]:
    """Return the reference counts of the store, of its dense form, and of the form's arrays."""
    forms = owner._store
    storage = forms._full or forms._bitmap
    values = storage.values  # pyright: ignore[reportOptionalMemberAccess]
    if isinstance(storage, FullVector):
        return _count(forms), _count(storage), _count(values)
    present = storage.present  # pyright: ignore[reportOptionalMemberAccess]
    return _count(forms), _count(storage), _count(values), _count(present)


@cache
def _references_when_alone(kinds: int) -> tuple[int, ...]:
    """Return what `_references` returns for a vector to which no other object refers.

    `kinds` is the number of reference counts in the result: 3 for a full vector, 4 for a bitmap. If
    this Python interpreter has no exact reference counts, the result is empty.
    """
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return ()
    return _references(_Lone(_lone_full() if kinds == 3 else _lone_bitmap()))


class _Lone:
    def __init__(self, forms: VectorStore) -> None:
        self._store = forms


def _lone_full() -> VectorStore:
    return VectorStore("cpu", BOOL, FullVector(1, np.zeros(1, bool)))


def _lone_bitmap() -> VectorStore:
    return VectorStore("cpu", BOOL, BitmapVector(1, np.zeros(1, bool), np.zeros(1, bool), 0))


def _owns_arrays(owner: Owner) -> bool:
    """Return whether the dense arrays own memory that may be written."""
    forms = owner._store
    storage, owns = forms._full or forms._bitmap, backend(forms.device).owns
    if isinstance(storage, FullVector):
        return owns(storage.values)
    return owns(storage.values) and owns(storage.present)  # pyright: ignore[reportOptionalMemberAccess]


_count = getattr(sys, "getrefcount", lambda _: 0)
