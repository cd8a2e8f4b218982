"""Kernels on a GPU, one family of operations to a file, beside the host code that launches them."""
