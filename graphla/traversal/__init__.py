"""Whole traversals: `closure`, and its definition as a loop of masked products."""
