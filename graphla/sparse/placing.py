"""Where the arrays that a user gives lie, and how they come to the device of what is made of them.

Arrays on a card (CuPy's, or any with `__cuda_array_interface__` or DLPack) stay there, and so does
what is made of them; all else goes to where `graphla.config.device` says.

Waits: for the least and the greatest of indices that are given on a card.
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
    """Where what is made of these is to live, and they: those on a card as CuPy's arrays.

    Unless they may be `shared`, truth values are bytes 0 and 1 afterwards, whatever they were.
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
    """An array as kernels read it: element after element, or one element for all."""
    with array.device:
        if not (array.flags.c_contiguous or (array.ndim == 1 and is_iso(array))):
            array = array.copy("C")
        return array if shared else streams("cuda").truths(array)


def put(device: str, array: Any) -> Any:
    """An array on that device: itself, or a copy if it is of the host and the device is not."""
    return array if device == "cpu" or is_on_card(array) else send(array, device)


def put_whole(device: str, array: Any) -> Any:
    """The same with each element held, on a card: indices are read one by one."""
    return put(device, array.copy() if device != "cpu" and is_iso(array) else array)


def put_indices(device: str, places: Any) -> Any:
    """Indices that have been checked, on that device; signed, so that they mix with others."""
    if device != "cpu" and not is_on_card(places):
        return send(places.astype(np.int32), device)
    if device != "cpu" and is_iso(places):
        places = places.copy()
    return places.astype(np.int64) if places.dtype.kind == "u" else places


def could_hold(device: str, given: Any) -> bool:
    """Whether a noun on that device could hold this very array, as it is sent nowhere."""
    return device == "cpu" or is_on_card(given)


def extremes(array: Any) -> tuple[int, int]:
    """The least and the greatest of integers, 0 and -1 for none; a card is waited for once."""
    if not array.size:
        return 0, -1
    if isinstance(array, np.ndarray):
        return int(array.min()), int(array.max())
    least, most = np.stack((array.min(), array.max())).tolist()
    return least, most


def shares(given: Any, held: Any) -> bool:
    """Whether the user could write into what is held."""
    if isinstance(given, np.ndarray) and isinstance(held, np.ndarray):
        return np.may_share_memory(given, held)
    return is_on_card(given) and is_on_card(held) and streams("cuda").overlap(given, held)


def own(values: Any) -> Any:
    """A copy, of one value where all are one."""
    if not is_iso(values):
        return values.copy()
    return np.broadcast_to(values[:1].copy(), values.shape)
