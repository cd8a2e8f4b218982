"""Where the real graphs lie that are too big to ship: ../shared/data, beside the project."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LAGRAPH = DATA / "lagraph"
MALFORMED = LAGRAPH / "malformed"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not there")


def files(folder: Path, pattern: str) -> list[Path]:
    """The files, or a stand-in that lets the test say why it is skipped."""
    return sorted(folder.glob(pattern)) or [folder / "missing"]
