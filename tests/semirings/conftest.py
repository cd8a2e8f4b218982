"""A fixture for tests of printed operators, which need a C++ compiler."""

from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def gxx() -> None:
    """If g++ is missing, fail the test in CI and skip it elsewhere."""
    if shutil.which("g++") is None:
        assert "CI" not in os.environ, "g++ is needed in CI"
        pytest.skip("g++ is not installed, but operators printed as C++ need it")
