"""Find the large real graphs in ../shared/data, and insert random faults into file contents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import strategies as st

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LAGRAPH = DATA / "lagraph"
MALFORMED = LAGRAPH / "malformed"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not there")


def files(folder: Path, pattern: str) -> list[Path]:
    """Return the matching files, or a placeholder path so that the test is reported as skipped."""
    return sorted(folder.glob(pattern)) or [folder / "missing"]


def corrupted(good: str, data: st.DataObject) -> str:
    """Return the text with one random fault, such as a truncation or a changed character."""
    how = data.draw(st.sampled_from(["truncate", "flip", "insert", "delete", "swap", "twice"]))
    at = data.draw(st.integers(0, len(good) - 1))
    char = data.draw(st.sampled_from("0123456789 -+.%\nexnaif\t\r\0é*"))
    tokens = re.split(r"(\s+)", good)
    if how == "truncate":
        return good[:at]
    if how == "flip":
        return good[:at] + char + good[at + 1 :]
    if how == "insert":
        return good[:at] + char + good[at:]
    if how == "delete":
        return good[:at] + good[at + 1 :]
    one = 2 * data.draw(st.integers(0, len(tokens) // 2))
    other = 2 * data.draw(st.integers(0, len(tokens) // 2))
    if how == "swap":
        tokens[one], tokens[other] = tokens[other], tokens[one]
    else:
        tokens[one] = tokens[other]
    return "".join(tokens)
