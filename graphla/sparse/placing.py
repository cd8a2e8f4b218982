"""Choose the device for a new Matrix or Vector, and transfer the given arrays to it.

GPU arrays (CuPy arrays, and objects that support `__cuda_array_interface__` or DLPack) stay on
their GPU, and the result is on the same GPU. All other input goes to `graphla.config.device`.

The host waits for the minimum and maximum of indices that are on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends import default_device, streams
from graphla.expression import Operand
from graphla.formats import is_iso
from graphla.operations.moving import send
from graphla.operations.operation import refuse_mixed
from graphla.operations.values import is_on_card


def locate(*given: Any, shared: bool = False) -> tuple[str, list[Any]]:
    """Return the target device, and the inputs with GPU arrays converted to CuPy arrays.

    If `shared` is False, GPU arrays of BOOL values are normalized to the bytes 0 and 1.
    """
    there = [is_on_card(x) and not isinstance(x, Operand) for x in given]
    if not any(there):
        return default_device(), list(given)
    order = streams("cuda")
    pairs = zip(given, there, strict=True)
    arrays = [_in_a_row(order.adopt(x), shared) if on_card else x for x, on_card in pairs]
    cards = {f"cuda:{x.device.id}" for x in arrays if is_on_card(x)}
    if len(cards) > 1:
        one, other, *_ = sorted(cards)
        refuse_mixed(one, other, "the arrays")
    return cards.pop(), arrays


def _in_a_row(array: Any, shared: bool) -> Any:
    """Return an array that kernels can read: contiguous, or iso-valued with stride 0."""
    with array.device:
        if not (array.flags.c_contiguous or (array.ndim == 1 and is_iso(array))):
            array = array.copy("C")
        return array if shared else streams("cuda").truths(array)


def put(device: str, array: Any) -> Any:
    """Return the array on a device: the array itself, or a GPU copy of a host array."""
    return array if device == "cpu" or is_on_card(array) else send(array, device)


def put_whole(device: str, array: Any) -> Any:
    """Like `put`, but expand an iso-valued array of indices if the device is a GPU.

    An iso-valued array stores a single element, whereas a kernel reads each index from memory. So
    the array on the GPU stores every element.
    """
    return put(device, array.copy() if device != "cpu" and is_iso(array) else array)


def put_indices(device: str, places: Any) -> Any:
    """Return checked indices on a device, as signed integers like all other indices."""
    if device != "cpu" and not is_on_card(places):
        return send(places.astype(np.int32), device)
    if device != "cpu" and is_iso(places):
        places = places.copy()
    return places.astype(np.int64) if places.dtype.kind == "u" else places


def could_hold(device: str, given: Any) -> bool:
    """Return whether an object on `device` could share the array `given` without a transfer."""
    return device == "cpu" or is_on_card(given)


def extremes(array: Any) -> tuple[int, int]:
    """Return the minimum and maximum of integers, or 0 and -1 if there are none.

    The host waits once if the array is on a GPU.
    """
    if not array.size:
        return 0, -1
    if isinstance(array, np.ndarray):
        return int(array.min()), int(array.max())
    least, most = np.stack((array.min(), array.max())).tolist()
    return least, most


def shares(given: Any, held: Any) -> bool:
    """Return whether the stored array shares memory with the given array."""
    if isinstance(given, np.ndarray) and isinstance(held, np.ndarray):
        return np.may_share_memory(given, held)
    return is_on_card(given) and is_on_card(held) and streams("cuda").overlap(given, held)


def own(values: Any) -> Any:
    """Return a copy of an array of values. The copy of an iso-valued array is iso-valued too."""
    if not is_iso(values):
        return values.copy()
    return np.broadcast_to(values[:1].copy(), values.shape)
