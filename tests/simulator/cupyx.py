"""A stand-in for the part of cupyx that graphla uses."""

from __future__ import annotations

from typing import Any

import numpy as np


def empty_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> np.ndarray:
    """Return an array in ordinary host memory, which stands in for pinned memory."""
    return np.empty(shape, dtype, order)


def zeros_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> np.ndarray:
    """Return an array of zeros in ordinary host memory, which stands in for pinned memory."""
    return np.zeros(shape, dtype, order)
