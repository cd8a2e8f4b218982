"""The cases of the write rule C⟨mask, replace⟩ = accum(C, T). They are the same on every device.

Let Z be T or, if there is an accum, the union of C and T under accum. Where the mask allows
writing, C becomes Z. Elsewhere C keeps its entries or, with replace, loses them. So the result
consists of the entries of T that the mask allows, and of old entries of C. This module determines
which old entries of C may remain. The backend then removes the others and writes T.
"""

from __future__ import annotations

from typing import Literal

from graphla.formats import AnyVector, BitmapVector, SparseVector, VectorMask

Remains = Literal["NOWHERE", "ANYWHERE", "INSIDE", "OUTSIDE"]
"""Where old entries of C may remain after a write. INSIDE means only where the mask allows writing,
and OUTSIDE only where it does not."""

REMAINS: dict[tuple[bool, bool, bool], Remains] = {
    # Each key is the tuple (has mask, has accum, replace).
    (False, False, False): "NOWHERE",
    (False, False, True): "NOWHERE",
    (False, True, False): "ANYWHERE",
    (False, True, True): "ANYWHERE",
    (True, False, False): "OUTSIDE",
    (True, False, True): "NOWHERE",
    (True, True, False): "ANYWHERE",
    (True, True, True): "INSIDE",
}
"""Where old entries of C may remain after the write of T, for each combination of three flags.

The flags tell whether there is a mask, whether there is an accum, and whether `replace` is set.
Without accum, T replaces the entries that the mask allows; with accum, T is combined with them.
`replace` removes the entries that the mask does not allow.
"""


def is_structure_of(mask: VectorMask, t: AnyVector) -> bool:
    """Return whether the mask is known to allow exactly the indices at which t has entries.

    Without replace, such a mask has no effect: it allows every entry of t, and t overwrites every
    index that the mask allows. So the backend ignores the mask, and old entries may remain
    anywhere.
    """
    if mask.complement:
        return False
    if isinstance(t, SparseVector):
        return mask.indices is t.indices
    return isinstance(t, BitmapVector) and mask.present is t.present
