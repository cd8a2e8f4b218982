"""Helpers of several algorithms: checks of arguments, random numbers, loops, and counts."""
