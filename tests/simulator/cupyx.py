"""A look-alike of the little of cupyx that is used."""

from __future__ import annotations

from typing import Any

import numpy as np


def empty_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> np.ndarray:
    """Memory of the host."""
    return np.empty(shape, dtype, order)


def zeros_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> np.ndarray:
    """Memory of the host."""
    return np.zeros(shape, dtype, order)
