"""Loaders that specialize, compile and cache the loops and kernels, which are source files."""
