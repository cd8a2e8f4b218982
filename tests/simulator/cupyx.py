"""A look-alike of the part of cupyx that graphla uses."""

from __future__ import annotations

from typing import Any

import numpy as np


def empty_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> np.ndarray:
    """Return an array in host memory."""
    return np.empty(shape, dtype, order)


def zeros_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> np.ndarray:
    """Return an array in host memory."""
    return np.zeros(shape, dtype, order)
