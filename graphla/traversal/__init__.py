"""Whole traversals: `closure`, one operation for all its rounds."""

from graphla.traversal.closure import closure

__all__ = ["closure"]
