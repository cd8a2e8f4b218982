"""Whole traversals on NumPy alone, and compiled; or on CUDA."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from devices import DEVICE

import graphla as gl

sys.path.append(str(Path(__file__).parents[1] / "algorithms"))  # graphs, verifiers

ENGINES = ["cuda"] if DEVICE == "cuda" else ["numpy", "compiled"]


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs each module twice: by NumPy alone, and on the compiled loops however small the graph."""
    if request.param == "compiled":
        pytest.importorskip("numba")
    with gl.config.set(compiled=request.param == "compiled"):
        yield request.param
