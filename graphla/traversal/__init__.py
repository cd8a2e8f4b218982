"""Whole traversals: `closure` runs all its rounds as one operation."""

from graphla.traversal.closure import closure

__all__ = ["closure"]
