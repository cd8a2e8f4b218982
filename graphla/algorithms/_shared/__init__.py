"""Helpers that several algorithms share: argument checks, random numbers, loops, and counts."""
