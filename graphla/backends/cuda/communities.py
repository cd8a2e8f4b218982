"""Label propagation, and the wishes of Louvain's method, on a card."""

from __future__ import annotations

from typing import Any


def propagated(*_: Any) -> None:
    """None: by the definition."""


def moved(*_: Any) -> None:
    """None: vertices do not move one by one on a card."""


def wished(*_: Any) -> None:
    """None: by the definition."""
