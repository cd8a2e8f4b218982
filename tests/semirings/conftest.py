"""What tests of printed operators need: a C++ compiler."""

from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def gxx() -> None:
    """Skips where g++ is absent; in CI it must be there."""
    if shutil.which("g++") is None:
        assert "CI" not in os.environ, "g++ is needed in CI"
        pytest.skip("g++ is not installed, and operators printed as C++ are compiled by it")
