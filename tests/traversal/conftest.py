"""Run traversals on the CPU (once with NumPy alone, once with compiled loops) or on CUDA."""

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
    """On the CPU, run each test module with NumPy alone and with compiled loops; on CUDA, once."""
    if request.param == "compiled":
        pytest.importorskip("numba")
    with gl.config.set(compiled=request.param == "compiled"):
        yield request.param
