"""Colours and mates of vertices, on a card."""

from __future__ import annotations

from typing import Any


def coloured(*_: Any) -> None:
    """None: by the definition."""


def matched(*_: Any) -> None:
    """None: by the definition."""
