"""A stand-in for the part of CuPy that graphla uses, based on NumPy arrays.

Access to any other part of CuPy raises an AttributeError.
"""

from __future__ import annotations

from typing import Any

from . import functions, special
from .arrays import install_methods, ndarray

__version__ = "14.2.0"

_everything: dict[str, Any] = {
    **functions.names,
    **functions.created,
    **functions.lifted,
    **functions.ufuncs,
    **special.SPECIAL,
    "ndarray": ndarray,
    "ufunc": functions.ufunc,
}
globals().update(_everything)
install_methods(_everything.__getitem__)

from . import cuda  # noqa: E402


def is_available() -> bool:
    """Return whether there is a GPU; in the simulator this is always true."""
    return cuda.is_available()


def get_default_memory_pool() -> Any:
    return cuda.memory.default_pool


def get_default_pinned_memory_pool() -> Any:
    return cuda.memory.default_pinned_pool


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"the simulator's cupy has no {name!r}: see tests/simulator/cupy/functions.py"
    )
